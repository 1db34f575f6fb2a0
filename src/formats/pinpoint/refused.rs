//! Answers that are errors: five shapes, some of them with HTTP 200 (`pinpoint.md` §0.4).

use serde_json::Value;

use super::value::{of, text};
use crate::base::text::shorten;
use crate::formats::{FormatError, Head, Hints};

/// Whether the beginning of an answer is an error of Pinpoint's.
pub(super) fn is_one(head: &Head<'_>) -> bool {
    let all = |paths: &[&str]| paths.iter().all(|path| head.has(path));
    // 2.2 to 2.4: an object `exception`, with HTTP 200 (2.2) or 500.
    all(&["exception.message", "exception.request"])
        // 2.5 and 3.0.0: the attributes of Spring Boot.
        || all(&["timestamp", "status", "error", "exception", "path"])
        // 3.0.1 on: a problem detail of RFC 9457 with them, 3.1: with the request.
        || all(&["type", "title", "status", "instance"])
        || all(&["timestamp", "status", "error", "path"])
}

/// The words of the server, when the answer is an error.
pub(super) fn words(value: &Value) -> Option<String> {
    let exception = of(value, "exception");
    if exception.is_object() {
        let said = text(of(exception, "message")).unwrap_or("an exception without a message");
        return Some(said.to_owned());
    }
    let status = of(value, "status").as_u64().filter(|s| *s >= 400)?;
    let said = ["detail", "message", "title", "error"]
        .iter()
        .find_map(|key| text(of(value, key)))?;
    Some(format!("HTTP {status}: {said}"))
}

/// What to do about it.
fn advice(said: &str) -> &'static str {
    let said = said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if has(&["servicetype not found"]) {
        "name the application's service type, too (`serviceTypeCode` or `serviceTypeName`)"
    } else if has(&["limitday", "range", "period"]) {
        "ask for a shorter time: maps take two days, inspector charts of 3.0 fourteen"
    } else if has(&["http 401", "http 403", "access", "denied", "unauthorized"]) {
        "ask for the right to read this application"
    } else {
        "read the server's words, correct the request and fetch it again"
    }
}

/// The error of an input that holds nothing but a refusal.
pub(super) fn error(said: &str, hints: &Hints<'_>) -> FormatError {
    let http = hints
        .request
        .and_then(|r| r.http)
        .filter(|_| !said.starts_with("HTTP "))
        .map_or_else(String::new, |code| format!(" (HTTP {code})"));
    FormatError::new(
        "refused",
        None,
        format!(
            "Pinpoint answered with an error{http}: {}",
            shorten(said, 300)
        ),
        "an answer with data",
        advice(said),
    )
}
