//! What the machine needs to know of an answer. The rows are read by `formats`, from the same bytes.

use serde_json::Value;

use crate::base::text::shorten;
use crate::sources::request::SKIMMED;
use crate::sources::{Outcome, Reply};

/// Words of a server that are repeated, at most.
const MOST_CHARS: usize = 300;

/// How an answer came out.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// `status: success`, with its warnings.
    Good {
        /// Everything.
        body: Value,
        /// `warnings`, and `partial response` of clusters.
        warnings: Vec<String>,
    },
    /// An endpoint that is not there (404, 405, and 400 as text by `VictoriaMetrics`).
    Absent,
    /// Too much for one question: fewer samples may do.
    TooMuch(String),
    /// Too long a time for one question: fewer metrics do not help.
    TooLong(String),
    /// Refused for good.
    Refused {
        /// HTTP status, 0 when there was no answer.
        status: u16,
        /// What was said.
        text: String,
    },
}

/// Reads the envelope (`prometheus.md` §1.1).
pub(super) fn read(outcome: &Outcome<'_>) -> Answer {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) => {
            return match failure.kind {
                crate::sources::FailureKind::TooLarge
                | crate::sources::FailureKind::TotalTimeout
                | crate::sources::FailureKind::FirstByteTimeout => {
                    Answer::TooMuch(failure.text.clone())
                }
                _ => Answer::Refused {
                    status: 0,
                    text: failure.text.clone(),
                },
            };
        }
    };
    if reply.is_good() {
        let Ok(body) = serde_json::from_slice::<Value>(&reply.body) else {
            return refused(reply, "an answer that is no JSON: a login page or a proxy?");
        };
        return Answer::Good {
            warnings: warnings(&body),
            body,
        };
    }
    if reply.is_cut {
        return refused(reply, "the answer broke off");
    }
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let field = |key: &str| {
        body.as_ref()
            .and_then(|b| b.get(key))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let error = field("error");
    // AWS and some proxies say `message`, Mimir's gateway says plain text.
    let plain = if body.is_none() {
        plain_words(reply)
    } else {
        String::new()
    };
    let text = [error, field("message"), field("Message"), plain.as_str()]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    // Whoever is asked too often has been waited for by the driver; here it is the size of the question.
    match reply.status {
        400 | 413 | 422 | 500 | 503 | 504 if is_too_long(text) => Answer::TooLong(text.to_owned()),
        400 | 413 | 422 | 500 | 503 | 504 if is_too_much(text, field("errorType")) => {
            Answer::TooMuch(text.to_owned())
        }
        404 | 405 => Answer::Absent,
        // VictoriaMetrics says so of a path that it does not know.
        400 if body.is_none() => Answer::Absent,
        _ => refused(reply, text),
    }
}

/// Text of a body that is no JSON; a page says nothing.
fn plain_words(reply: &Reply) -> String {
    let text = String::from_utf8_lossy(&reply.body);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.starts_with('<') {
        String::new()
    } else {
        shorten(&text, MOST_CHARS)
    }
}

fn refused(reply: &Reply, text: &str) -> Answer {
    // AWS names the kind of error in a header: `AccessDeniedException:http://…`.
    let kind = reply
        .header("x-amzn-errortype")
        .and_then(|value| value.split(':').next())
        .filter(|kind| !kind.is_empty())
        .map_or_else(String::new, |kind| format!(" {kind}"));
    let text = if text.is_empty() {
        format!("HTTP {}{kind}", reply.status)
    } else {
        format!("HTTP {}{kind}: {text}", reply.status)
    };
    Answer::Refused {
        status: reply.status,
        text,
    }
}

/// Words by which servers say that a question reached over too long a time: Mimir's `err-mimir-max-query-length` and
/// `err-mimir-max-total-query-length`, and Cortex' and Thanos' "the query time range exceeds the limit (query length: …)".
fn is_too_long(text: &str) -> bool {
    ["-query-length", "(query length:", "max query length"]
        .iter()
        .any(|word| text.contains(word))
}

/// Words by which servers say that a question was too large: Prometheus §1.1 and §1.2, Mimir's `err-mimir-max-*`, Cortex',
/// Thanos' limits of its stores, `VictoriaMetrics`' search limits.
fn is_too_much(text: &str, kind: &str) -> bool {
    const WORDS: &[&str] = &[
        "too many samples",
        "maximum resolution",
        "query timed out",
        "err-mimir-max-",
        "exceeds the limit",
        "exceeded the limit",
        "the query hit the",
        "exceeded sample limit",
        "exceeded samples limit",
        "exceeded series limit",
        "limit violated",
        "cannot select more than",
        "-search.max",
        "context deadline exceeded",
    ];
    kind == "timeout" || WORDS.iter().any(|word| text.contains(word))
}

fn warnings(body: &Value) -> Vec<String> {
    let mut all: Vec<String> = body
        .get("warnings")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|w| w.as_str().map(str::to_owned))
        .collect();
    if body.get("isPartial").and_then(Value::as_bool) == Some(true) {
        all.push("the cluster answered in part (isPartial)".to_owned());
    }
    all
}

/// Warnings of a long answer without reading its middle: the envelope puts them before or after `data`.
pub(super) fn warnings_at_the_ends(body: &[u8]) -> Vec<String> {
    let half = SKIMMED.min(body.len());
    let tail = body.get(body.len() - half..).unwrap_or(body);
    let mut all = Vec::new();
    for part in [body.get(..half).unwrap_or(body), tail] {
        let text = String::from_utf8_lossy(part);
        for key in ["\"warnings\":", "\"infos\":"] {
            let Some((_, rest)) = text.split_once(key) else {
                continue;
            };
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Vec<String>>();
            if let Some(Ok(found)) = values.next() {
                all.extend(found);
            }
        }
        if text.contains("\"isPartial\":true") {
            all.push("the cluster answered in part (isPartial)".to_owned());
        }
    }
    all
}

/// A warning that says that the answer is partial because the question was too large: Thanos' stores refuse by themselves
/// ("exceeded series limit: limit 10 violated (got 11)"), and with `partial_response` the querier goes on without them.
pub(super) fn limit_warning(warnings: &[String]) -> Option<&String> {
    warnings
        .iter()
        .find(|w| is_too_much(w, "") || (w.contains("limit") && w.contains("violated")))
}

/// The strings of `data`: label values.
pub(super) fn strings(body: &Value) -> Vec<String> {
    body.get("data")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}

/// Value by name of an instant vector of `count by (__name__) (…)`.
pub(super) fn counts(body: &Value) -> Vec<(String, u64)> {
    body.pointer("/data/result")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|one| {
            let name = one.pointer("/metric/__name__")?.as_str()?;
            let value: f64 = one.pointer("/value/1")?.as_str()?.parse().ok()?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count; what is no count becomes 0 or the largest"
            )]
            let count = value as u64;
            Some((name.to_owned(), count))
        })
        .collect()
}

/// The shortest scrape interval of the active targets, in seconds.
pub(super) fn shortest_interval_s(body: &Value) -> Option<f64> {
    body.pointer("/data/activeTargets")?
        .as_array()?
        .iter()
        .filter_map(|target| {
            let text = target.get("scrapeInterval")?.as_str()?;
            let nanos = crate::base::time::parse_duration_nanos(text)?;
            #[expect(clippy::cast_precision_loss, reason = "seconds")]
            (nanos > 0).then_some(nanos as f64 / 1e9)
        })
        .min_by(f64::total_cmp)
}
