//! What the machine needs to know of an answer: names, or why there are none.

use serde_json::Value;

use crate::base::text::shorten;
use crate::sources::{FailureKind, Outcome, Reply};

/// How an answer came out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// JSON.
    Good(Value),
    /// There is no such method or path: an older version, or another program.
    Absent(String),
    /// Refused, or nothing came.
    Refused {
        /// HTTP status; 0 when there was no answer.
        status: u16,
        /// What was said.
        text: String,
    },
}

/// Reads an answer. Errors of the Connect API are `{"code": …, "message": …}` (`profiles.md` §9).
pub(super) fn read(outcome: &Outcome<'_>) -> Answer {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) => {
            let is_slow = matches!(
                failure.kind,
                FailureKind::TotalTimeout | FailureKind::FirstByteTimeout
            );
            let text = if is_slow {
                format!("{}; a shorter window is less work for it", failure.text)
            } else {
                failure.text.clone()
            };
            return Answer::Refused { status: 0, text };
        }
    };
    if reply.is_cut {
        return refused(reply, "the answer broke off");
    }
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    if reply.is_good() {
        return match body {
            Some(body @ (Value::Object(_) | Value::Array(_))) => Answer::Good(body),
            // A single-page application answers every path with its page.
            _ => Answer::Absent(format!(
                "HTTP {}: an answer that is no JSON: a login page or a proxy?",
                reply.status
            )),
        };
    }
    let field = |key: &str| {
        body.as_ref()
            .and_then(|b| b.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let text = match (field("code"), field("message")) {
        ("", "") => plain(reply),
        ("", message) => message.to_owned(),
        (code, message) => format!("{code}: {message}"),
    };
    let is_missing = match reply.status {
        404 | 405 | 415 | 501 => true,
        _ => field("code") == "unimplemented",
    };
    match refused(reply, &text) {
        Answer::Refused { text, .. } if is_missing => Answer::Absent(text),
        other => other,
    }
}

fn plain(reply: &Reply) -> String {
    let body = reply.body.get(..2048).unwrap_or(&reply.body);
    let words = String::from_utf8_lossy(body);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.starts_with('<') {
        String::new()
    } else {
        shorten(&words, 200)
    }
}

fn refused(reply: &Reply, text: &str) -> Answer {
    let text = if text.is_empty() {
        format!("HTTP {}", reply.status)
    } else {
        format!("HTTP {}: {text}", reply.status)
    };
    Answer::Refused {
        status: reply.status,
        text,
    }
}

/// `names` of `LabelValues`, sorted; an empty list is left out of proto-JSON.
pub(super) fn names(body: &Value) -> Vec<String> {
    sorted(body.get("names").and_then(Value::as_array), |v| v.as_str())
}

/// `profileTypes[].ID` of `ProfileTypes`, sorted.
pub(super) fn types(body: &Value) -> Vec<String> {
    sorted(body.get("profileTypes").and_then(Value::as_array), |v| {
        v.get("ID").and_then(Value::as_str)
    })
}

fn sorted(list: Option<&Vec<Value>>, of: impl Fn(&Value) -> Option<&str>) -> Vec<String> {
    let mut all: Vec<String> = list
        .into_iter()
        .flatten()
        .filter_map(|v| of(v).map(str::to_owned))
        .filter(|name| !name.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}
