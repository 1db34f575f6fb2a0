//! What was asked: the request beside an answer, and the outermost form of its PromQL.

use serde_json::Value;

use crate::base::percent;
use crate::base::time::{self, NANOS_PER_SEC, TimeRange, Timestamp};
use crate::formats::{Hints, RequestHint};

/// The request of an answer, as far as it is known.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Last parts of the path: `query`, `query_range`, `label/job/values`; empty when there is no request.
    pub endpoint: String,
    /// The query, decoded.
    pub query: Option<String>,
    /// Start of the window.
    pub start: Option<Timestamp>,
    /// End of the window.
    pub end: Option<Timestamp>,
    /// Evaluation time: `time`, else when it was sent.
    pub time: Option<Timestamp>,
    /// Step.
    pub step_nanos: Option<i64>,
    /// When it was sent.
    pub at: Option<Timestamp>,
    /// Whether the answer came as a stream of JSON, which only VictoriaMetrics does for raw samples (`prometheus.md`
    /// §1.5); every NaN in it is a staleness marker.
    pub is_victoria_raw: bool,
    /// The end of the window of the pull that asked, when it was asked after that: what holds now need not have held then.
    pub over: Option<Timestamp>,
    /// Labels that the server adds to every series of a remote-read answer, and the query API does not.
    pub external_labels: Vec<(String, String)>,
}

impl Asked {
    /// From what is known beside the input.
    pub(super) fn of(hints: &Hints<'_>) -> Self {
        hints.request.map(Self::of_request).unwrap_or_default()
    }

    fn of_request(request: &RequestHint) -> Self {
        let (path, query) = request
            .path
            .split_once('?')
            .unwrap_or((request.path.as_str(), ""));
        let mut asked = Self {
            endpoint: endpoint(path),
            at: request.at,
            over: request
                .window
                .map(|window| window.end)
                .filter(|end| request.at.is_some_and(|at| *end <= at)),
            is_victoria_raw: request
                .ctype
                .as_deref()
                .is_some_and(|c| c.starts_with("application/stream+json")),
            ..Self::default()
        };
        for (name, value) in parameters(query) {
            asked.take(&name, &value);
        }
        match &request.body {
            Some(Value::String(form)) if !form.trim_start().starts_with('{') => {
                for (name, value) in parameters(form) {
                    asked.take(&name, &value);
                }
            }
            Some(Value::Object(form)) => {
                for (name, value) in form {
                    match value {
                        Value::String(text) => asked.take(name, text),
                        Value::Number(number) => asked.take(name, &number.to_string()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        asked.time = asked.time.or(asked.at);
        asked
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "query" => self.query = Some(value.to_owned()),
            "start" => self.start = instant(value),
            "end" => self.end = instant(value),
            "external_label" => {
                let pair = value.split_once('=');
                self.external_labels
                    .extend(pair.map(|(n, v)| (n.to_owned(), v.to_owned())));
            }
            "time" => self.time = instant(value),
            "step" => self.step_nanos = span_nanos(value).filter(|step| *step > 0),
            _ => {}
        }
    }

    /// The window that was asked for; `None` for an evaluation at one instant.
    pub(super) fn window(&self) -> Option<TimeRange> {
        if matches!(self.endpoint.as_str(), "query") {
            let form = outermost(self.query.as_deref()?);
            let range_nanos = match form.kind {
                FormKind::Instant => return None,
                FormKind::Range { range_nanos } | FormKind::Subquery { range_nanos, .. } => {
                    range_nanos
                }
            };
            let end = match form.at {
                Some(AtModifier::Time(t)) => t,
                Some(AtModifier::Edge) | None => self.time?,
            }
            .plus_nanos(form.offset_nanos.saturating_neg());
            return Some(TimeRange::new(
                end.plus_nanos(range_nanos.saturating_neg()),
                end,
            ));
        }
        Some(TimeRange::new(self.start?, self.end?))
    }
}

/// The part of a path that says what was asked, without host, prefix and version.
fn endpoint(path: &str) -> String {
    let path = path.trim_end_matches('/');
    path.rfind("/api/v1/").map_or_else(
        || path.rsplit('/').next().unwrap_or(path).to_owned(),
        |at| path.get(at + 8..).unwrap_or("").to_owned(),
    )
}

/// Names and values of a query string or a form. Recordings often hold it as a person reads it, so an `&` that no
/// `name=` follows belongs to the value, and `+` and `%` mean themselves where the text cannot be encoded.
fn parameters(text: &str) -> Vec<(String, String)> {
    let is_encoded = !text.bytes().any(|b| {
        matches!(
            b,
            b' ' | b'"' | b'{' | b'}' | b'<' | b'>' | b'\\' | b'^' | b'|'
        )
    });
    let mut found: Vec<(String, String)> = Vec::new();
    for part in text.split('&') {
        let named = part.split_once('=').filter(|(name, _)| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'[' | b']' | b'%'))
        });
        match (named, found.last_mut()) {
            (Some((name, value)), _) => found.push((decode(name, true), decode(value, is_encoded))),
            (None, Some((_, value))) => {
                value.push('&');
                value.push_str(&decode(part, is_encoded));
            }
            (None, None) => {}
        }
    }
    found
}

/// Percent-decoding; as it is when the text is not encoded.
fn decode(text: &str, is_encoded: bool) -> String {
    if is_encoded {
        percent::decode(text)
    } else {
        text.to_owned()
    }
}

/// RFC 3339 or seconds since the epoch.
fn instant(text: &str) -> Option<Timestamp> {
    time::parse_epoch(text)
        .or_else(|| Timestamp::parse_rfc3339(text))
        .or_else(|| text.parse().ok().and_then(Timestamp::from_secs_f64))
}

/// Seconds or a duration.
fn span_nanos(text: &str) -> Option<i64> {
    let secs = text.trim().parse::<f64>().ok();
    match secs {
        Some(secs) if secs.is_finite() && secs.abs() < 9e9 => {
            Some((secs * NANOS_PER_SEC as f64).round() as i64)
        }
        Some(_) => None,
        None => time::parse_duration_nanos(text),
    }
}

/// The outermost form of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    /// What it gives.
    pub kind: FormKind,
    /// `offset`, when the outermost selector or subquery has one.
    pub offset_nanos: i64,
    /// `@`, likewise.
    pub at: Option<AtModifier>,
}

/// What an expression gives at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormKind {
    /// One value a series (or a scalar or string).
    Instant,
    /// Stored samples of a range: `up[5m]`.
    Range {
        /// How long.
        range_nanos: i64,
    },
    /// Evaluations on a grid of multiples of the step: `rate(x[1m])[5m:30s]`.
    Subquery {
        /// How long.
        range_nanos: i64,
        /// The step; `None` for the server's default.
        step_nanos: Option<i64>,
    },
}

/// Where `@` fixes an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtModifier {
    /// At this time.
    Time(Timestamp),
    /// `start()` or `end()`, which are the evaluation time of an instant query.
    Edge,
}

/// Looks at the outermost form of an expression without parsing all of it.
pub(super) fn outermost(query: &str) -> Form {
    let instant = Form {
        kind: FormKind::Instant,
        offset_nanos: 0,
        at: None,
    };
    let mut text = query.trim();
    // Each turn takes two bytes off, and each looks at the text once: stop long before that gets slow.
    for _ in 0..32 {
        match brackets(text) {
            Some(Brackets::AroundAll) => {
                let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
                text = inner.trim();
            }
            Some(Brackets::Last { open, close }) => {
                let inside = text.get(open + 1..close).unwrap_or("");
                let after = text.get(close + 1..).unwrap_or("");
                return form(inside, after).unwrap_or(instant);
            }
            None => return instant,
        }
    }
    instant
}

enum Brackets {
    /// One pair of parentheses around everything.
    AroundAll,
    /// The last pair of square brackets that stands in no other.
    Last { open: usize, close: usize },
}

fn brackets(text: &str) -> Option<Brackets> {
    let mut depth = 0usize;
    let mut open = 0;
    let mut last = None;
    let mut closes_first = None;
    let mut quote = None;
    let mut is_comment = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if is_comment {
            is_comment = byte != b'\n';
            continue;
        }
        if let Some(mark) = quote {
            if is_escaped {
                is_escaped = false;
            } else if byte == b'\\' && mark != b'`' {
                is_escaped = true;
            } else if byte == mark {
                quote = None;
            }
            continue;
        }
        match byte {
            b'"' | b'\'' | b'`' => quote = Some(byte),
            b'#' => is_comment = true,
            b'(' | b'{' | b'[' => {
                if depth == 0 {
                    open = at;
                }
                depth += 1;
            }
            b')' | b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    closes_first = closes_first.or(Some(at));
                    if byte == b']' {
                        last = Some((open, at));
                    }
                }
            }
            _ => {}
        }
    }
    if text.starts_with('(') && closes_first == Some(text.len() - 1) {
        return Some(Brackets::AroundAll);
    }
    last.map(|(open, close)| Brackets::Last { open, close })
}

/// The form of `[inside] after`; `None` when more than modifiers follows.
fn form(inside: &str, after: &str) -> Option<Form> {
    let kind = match inside.split_once(':') {
        None => FormKind::Range {
            range_nanos: span_nanos(inside)?,
        },
        Some((range, step)) => FormKind::Subquery {
            range_nanos: span_nanos(range)?,
            step_nanos: span_nanos(step).filter(|step| *step > 0),
        },
    };
    let mut form = Form {
        kind,
        offset_nanos: 0,
        at: None,
    };
    let mut rest = after.trim();
    while !rest.is_empty() && !rest.starts_with('#') {
        if let Some(tail) = rest.strip_prefix("offset") {
            let tail = tail.trim_start();
            let (sign, tail) = tail.strip_prefix('-').map_or((1, tail), |t| (-1, t));
            let word_len = tail
                .find(|c: char| c.is_whitespace() || c == '@')
                .unwrap_or(tail.len());
            let (word, next) = tail.trim_start().split_at_checked(word_len)?;
            form.offset_nanos = sign * span_nanos(word)?;
            rest = next.trim_start();
        } else {
            let tail = rest.strip_prefix('@')?.trim_start();
            let (at, next) = if let Some(next) = tail
                .strip_prefix("start()")
                .or_else(|| tail.strip_prefix("end()"))
            {
                (AtModifier::Edge, next)
            } else {
                let word_len = tail.find(char::is_whitespace).unwrap_or(tail.len());
                let (word, next) = tail.split_at_checked(word_len)?;
                (AtModifier::Time(instant(word)?), next)
            };
            form.at = Some(at);
            rest = next.trim_start();
        }
    }
    Some(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: i64 = NANOS_PER_SEC;

    fn kind(query: &str) -> FormKind {
        outermost(query).kind
    }

    #[test]
    fn sees_range_selectors_and_subqueries_only_outermost() {
        assert_eq!(
            kind("up[5m]"),
            FormKind::Range {
                range_nanos: 300 * S
            }
        );
        assert_eq!(
            kind(r#" ( up{a="]",b=~'x[0-9]+'}[72s] ) "#),
            FormKind::Range {
                range_nanos: 72 * S
            }
        );
        assert_eq!(
            kind("rate(x[1m])[20s:5s]"),
            FormKind::Subquery {
                range_nanos: 20 * S,
                step_nanos: Some(5 * S)
            }
        );
        assert_eq!(
            kind("up[5m:]"),
            FormKind::Subquery {
                range_nanos: 300 * S,
                step_nanos: None
            }
        );
        for instant in [
            "up",
            "rate(up[5m])",
            "up[5m] + 1",
            r#"up{a="[5m]"}"#,
            "(a[5m]) + (b[5m])",
            "",
            "((((",
            "]",
        ] {
            assert_eq!(kind(instant), FormKind::Instant, "{instant}");
        }
    }

    #[test]
    fn modifiers_move_the_window() {
        let form = outermost("up[5m] offset -1m @ 1796045988.5 # why");
        assert_eq!(form.offset_nanos, -60 * S);
        assert_eq!(
            form.at,
            Some(AtModifier::Time(Timestamp::from_nanos(
                1_796_045_988_500_000_000
            )))
        );
        let asked = Asked::of_request(&RequestHint {
            path: "/prometheus/api/v1/query?query=up%5B10s%5D%20offset%2030s&time=1000".to_owned(),
            ..RequestHint::default()
        });
        assert_eq!(
            asked.window().unwrap(),
            TimeRange::new(
                Timestamp::from_nanos(960 * S),
                Timestamp::from_nanos(970 * S)
            )
        );
    }

    #[test]
    fn reads_encoded_and_plain_requests_and_forms() {
        let plain = parameters(r#"query={__name__=~".+&x"}[72s]&time=1"#);
        assert_eq!(plain[0].1, r#"{__name__=~".+&x"}[72s]"#);
        assert_eq!(plain[1], ("time".to_owned(), "1".to_owned()));
        let encoded = parameters("query=sum+by%28x%29%28up%29&match%5B%5D=a%3");
        assert_eq!(encoded[0].1, "sum by(x)(up)");
        assert_eq!(encoded[1], ("match[]".to_owned(), "a%3".to_owned()));
        let form = Asked::of_request(&RequestHint {
            method: "POST".to_owned(),
            path: "/api/v1/query_range".to_owned(),
            body: Some(Value::from("query=up&start=10&end=20&step=2.5")),
            ..RequestHint::default()
        });
        assert_eq!(form.endpoint, "query_range");
        assert_eq!(form.step_nanos, Some(2_500_000_000));
        assert_eq!(form.query.as_deref(), Some("up"));
        assert_eq!(form.window().unwrap().nanos(), 10 * S);
    }
}
