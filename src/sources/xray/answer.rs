//! What the machine needs to know of an answer. The rows are read by `formats`, from the same bytes.

use serde::Deserialize;
use serde_json::Value;

use crate::sources::{FailureKind, Outcome, Reply};

/// How an answer came out (`xray.md` §1, Errors).
#[derive(Debug)]
pub(super) enum Answer {
    /// It did.
    Good(Value),
    /// Too often. The driver has waited already where the status was 429.
    Throttled(String),
    /// Too much for one question: a shorter window may do.
    TooMuch(String),
    /// It does not know us, or not any more: nothing else will be told either.
    Unknown(String),
    /// It knows us and says no to this call.
    Denied(String),
    /// The question was wrong in its eyes.
    Invalid(String),
    /// A call that is not there (emulators, old proxies).
    Absent,
    /// No answer, and no hint that a smaller question would have one.
    Unreached(String),
    /// Anything else.
    Refused(String),
}

/// Errors of credentials, wherever AWS speaks of them.
const UNKNOWN: &[&str] = &[
    "ExpiredToken",
    "ExpiredTokenException",
    "RequestExpired",
    "UnrecognizedClientException",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
    "AuthFailure",
    "InvalidSignatureException",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "IncompleteSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
];
/// Both are throttling (`xray.md` §1), and what the front end may say as well.
const THROTTLED: &[&str] = &[
    "ThrottledException",
    "ThrottlingException",
    "Throttling",
    "TooManyRequestsException",
    "RequestLimitExceeded",
];

/// Reads it.
pub(super) fn read(outcome: &Outcome<'_>) -> Answer {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) => {
            let text = failure.text.clone();
            return match failure.kind {
                FailureKind::TooLarge
                | FailureKind::TotalTimeout
                | FailureKind::FirstByteTimeout => Answer::TooMuch(text),
                FailureKind::Broken => Answer::Refused(text),
                FailureKind::Credentials => Answer::Unknown(text),
                _ => Answer::Unreached(text),
            };
        }
    };
    if reply.is_cut {
        return Answer::Refused("the answer broke off".to_owned());
    }
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    if reply.is_good() {
        return match body {
            Some(body) if body.is_object() => Answer::Good(body),
            Some(_) => Answer::Refused("an answer that is no JSON object".to_owned()),
            None => {
                Answer::Refused("an answer that is no JSON: a login page or a proxy?".to_owned())
            }
        };
    }
    let code = code(reply, body.as_ref());
    let text = text(reply, &code, body.as_ref());
    let is = |codes: &[&str]| codes.contains(&code.as_str());
    if is(THROTTLED) || reply.status == 429 {
        Answer::Throttled(text)
    } else if is(UNKNOWN) || reply.status == 401 {
        Answer::Unknown(text)
    } else if reply.status == 403 {
        Answer::Denied(text)
    } else if reply.status == 404 && code != "ResourceNotFoundException" {
        Answer::Absent
    } else if matches!(reply.status, 502..=504)
        || matches!(reply.status, 400 | 413) && is_too_much(&text)
    {
        Answer::TooMuch(text)
    } else if reply.status == 400 {
        Answer::Invalid(text)
    } else {
        Answer::Refused(text)
    }
}

/// The name of the error: header `x-amzn-errortype` (before a `:`) or `__type` in the body (after a `#`).
fn code(reply: &Reply, body: Option<&Value>) -> String {
    let field = |key: &str| body.and_then(|b| b.get(key)).and_then(Value::as_str);
    let whole = reply
        .header("x-amzn-errortype")
        .or_else(|| field("__type"))
        .or_else(|| field("code"))
        .map(str::to_owned)
        .or_else(|| element(reply, "Code"))
        .unwrap_or_default();
    let after = whole.rsplit('#').next().unwrap_or(&whole);
    after.split(':').next().unwrap_or(after).trim().to_owned()
}

fn text(reply: &Reply, code: &str, body: Option<&Value>) -> String {
    let message = ["message", "Message"]
        .iter()
        .find_map(|key| body?.get(key)?.as_str())
        .map(str::to_owned)
        .or_else(|| element(reply, "Message"))
        .unwrap_or_default();
    let mut text = format!("HTTP {}", reply.status);
    if !code.is_empty() {
        text.push(' ');
        text.push_str(code);
    }
    if !message.is_empty() {
        text.push_str(": ");
        text.push_str(&crate::base::text::shorten(&message, 300));
    }
    text
}

/// The text of an element of XML: what stands before the service, and emulators, say no in it.
fn element(reply: &Reply, name: &str) -> Option<String> {
    let text = std::str::from_utf8(&reply.body).ok()?;
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside.trim().to_owned())
}

/// `Time range cannot be longer than 6 hours` and the like (`xray.md` §1).
fn is_too_much(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    [
        "time range",
        "timerange",
        "too large",
        "longer than",
        "exceed",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// The token of the next page.
pub(super) fn next_token(body: &Value) -> Option<&str> {
    body.get("NextToken")
        .and_then(Value::as_str)
        .filter(|token| !token.is_empty())
}

/// One row of the list of traces, as far as choosing needs it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// The trace.
    pub(super) id: String,
    /// Whether something in it failed.
    pub(super) is_bad: bool,
    /// How long it took, in seconds.
    pub(super) took_s: f64,
}

/// The rows that have an id.
pub(super) fn rows(body: &Value) -> Vec<Row> {
    let rows = body.get("TraceSummaries").and_then(Value::as_array);
    rows.into_iter()
        .flatten()
        .filter_map(|row| {
            let is = |key: &str| row.get(key).and_then(Value::as_bool) == Some(true);
            let number = |key: &str| row.get(key).and_then(Value::as_f64);
            Some(Row {
                id: row.get("Id")?.as_str()?.to_owned(),
                is_bad: is("HasFault") || is("HasError") || is("HasThrottle"),
                took_s: number("Duration")
                    .or_else(|| number("ResponseTime"))
                    .unwrap_or(0.0),
            })
        })
        .collect()
}

/// What came back of a batch: everything else of it is skipped over.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub(super) struct Batch {
    /// The traces that came.
    traces: Option<Vec<Trace>>,
    /// Those that did not.
    unprocessed_trace_ids: Option<Vec<Value>>,
    /// `COMPLETE`, `RUNNING`, … of a retrieval.
    pub(super) retrieval_status: Option<String>,
    /// The next page of a retrieval.
    next_token: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Trace {
    id: Option<String>,
}

impl Batch {
    /// Reads it; `None` when it is not of that form.
    pub(super) fn of(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok()
    }

    /// Ids of the traces that came.
    pub(super) fn came(&self) -> impl Iterator<Item = &str> {
        let traces = self.traces.iter().flatten();
        traces.filter_map(|t| t.id.as_deref())
    }

    /// Ids that were not processed.
    pub(super) fn unprocessed(&self) -> Vec<String> {
        let ids = self.unprocessed_trace_ids.iter().flatten();
        ids.filter_map(|id| id.as_str().map(str::to_owned))
            .collect()
    }

    /// The token of the next page.
    pub(super) fn next(&self) -> Option<&str> {
        self.next_token.as_deref().filter(|t| !t.is_empty())
    }
}
