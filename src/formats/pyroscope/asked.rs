//! What a flame graph is of, as its question says: type, service and time.

use serde_json::Value;

use crate::base::percent::decode;
use crate::base::time::Timestamp;
use crate::formats::RequestHint;

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// `name:type:unit:period_type:period_unit`, at its colons.
    pub(super) kind: Vec<String>,
    /// The service that the selector names.
    pub(super) service: Option<String>,
    /// From when.
    pub(super) start: Option<Timestamp>,
}

impl Asked {
    /// Of the body of the Connect API, or of the query of the render API.
    pub(super) fn of(request: Option<&RequestHint>) -> Self {
        let Some(request) = request else {
            return Self::default();
        };
        if let Some(Value::Object(body)) = &request.body {
            let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
            // 64 bits are strings in proto-JSON, and numbers where somebody wrote them by hand.
            let start = body.get("start").and_then(|v| match v {
                Value::String(text) => text.parse().ok(),
                other => other.as_i64(),
            });
            return Self {
                kind: parts(text("profileTypeID")),
                service: service(text("labelSelector")),
                start: start.and_then(Timestamp::from_millis),
            };
        }
        let query = request.path.split_once('?').map_or("", |(_, query)| query);
        let mut asked = Self::default();
        for field in query.split('&') {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let value = decode(value);
            match name {
                "query" => {
                    let (kind, selector) = value.split_once('{').unwrap_or((&value, ""));
                    asked.kind = parts(kind);
                    asked.service = service(selector);
                }
                "from" => asked.start = instant(&value),
                _ => {}
            }
        }
        asked
    }
}

fn parts(kind: &str) -> Vec<String> {
    if kind.is_empty() {
        return Vec::new();
    }
    kind.trim().split(':').map(str::to_owned).collect()
}

/// The value of `service_name="…"` (or `service="…"`), where it is one.
fn service(selector: &str) -> Option<String> {
    let (_, rest) = selector
        .split_once("service_name=\"")
        .or_else(|| selector.split_once("service=\""))?;
    let mut value = String::new();
    let mut letters = rest.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(value).filter(|v| !v.is_empty()),
            '\\' => value.extend(letters.next()),
            letter => value.push(letter),
        }
    }
    None
}

/// Unix time by its number of digits: seconds, milliseconds, microseconds or nanoseconds (`profiles.md` §9).
fn instant(text: &str) -> Option<Timestamp> {
    let number: i64 = text.parse().ok()?;
    let nanos = match text.len() {
        9..=10 => number.checked_mul(1_000_000_000)?,
        12..=13 => number.checked_mul(1_000_000)?,
        15..=16 => number.checked_mul(1_000)?,
        18..=19 => number,
        _ => return None,
    };
    Some(Timestamp::from_nanos(nanos))
}
