//! Requests and replies without a socket, and the JSON of Prometheus.

use serde_json::Value as Json;

use crate::base::percent::decode;
use crate::base::time::Timestamp;
use crate::model::series::HistogramPoint;
use crate::store::promql::{LabelSet, Point};

/// What a client asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// `GET`, `POST`, `HEAD`, ….
    pub method: String,
    /// Path with its query, as it came.
    pub target: String,
    /// What was sent.
    pub body: Vec<u8>,
    /// Its content type.
    pub content_type: Option<String>,
    /// Whether the client takes gzip.
    pub takes_gzip: bool,
}

impl Asked {
    /// The path, without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The query, as it came.
    pub(super) fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// Whether the body is a form.
    pub(super) fn is_form(&self) -> bool {
        self.content_type
            .as_deref()
            .is_some_and(|t| t.starts_with("application/x-www-form-urlencoded"))
    }

    /// Fields of form and query; those of the form come first (Go's `Request.Form`).
    pub(super) fn fields(&self) -> Fields {
        let mut all = Vec::new();
        if self.is_form() {
            all.extend(pairs(&String::from_utf8_lossy(&self.body)));
        }
        all.extend(pairs(self.query()));
        Fields(all)
    }
}

/// Names and values, in order.
pub(super) fn pairs(text: &str) -> Vec<(String, String)> {
    text.split('&')
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (decode(name), decode(value))
        })
        .collect()
}

/// The fields of a request.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// The first value of a field, empty when it is not there.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0
            .iter()
            .find(|(n, _)| n == name)
            .map_or("", |(_, value)| value.as_str())
    }

    /// All values of a field.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// What a client gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers beside length and date.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    pub(super) fn text(status: u16, text: &str) -> Self {
        Self::of(
            status,
            "text/plain; charset=utf-8",
            text.as_bytes().to_vec(),
        )
    }

    pub(super) fn json(status: u16, body: Vec<u8>) -> Self {
        Self::of(status, "application/json", body)
    }

    pub(super) fn of(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body,
        }
    }

    /// Of a method that this path has not.
    pub(super) fn not_allowed(allowed: &str) -> Self {
        let mut reply = Self::text(405, "Method Not Allowed\n");
        reply.headers.push(("allow".to_owned(), allowed.to_owned()));
        reply
    }

    pub(super) fn failed(error: &Refusal) -> Self {
        let body = serde_json::json!({
            "status": "error",
            "errorType": error.kind,
            "error": error.text,
        });
        Self::json(error.status, body.to_string().into_bytes())
    }
}

/// An error as Prometheus tells it (`prometheus.md` §1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

impl Refusal {
    pub(super) fn bad(text: impl Into<String>) -> Self {
        Self {
            status: 400,
            kind: "bad_data",
            text: text.into(),
        }
    }

    /// `invalid parameter "step": …`.
    pub(super) fn parameter(name: &str, why: impl std::fmt::Display) -> Self {
        Self::bad(format!("invalid parameter {name:?}: {why}"))
    }

    pub(super) fn execution(text: String) -> Self {
        Self {
            status: 422,
            kind: "execution",
            text,
        }
    }

    pub(super) fn not_found(text: impl Into<String>) -> Self {
        Self {
            status: 404,
            kind: "not_found",
            text: text.into(),
        }
    }
}

/// `{"status":"success","data":…}` with what must be said beside it.
pub(super) fn success(data: &[u8], warnings: &[String], infos: &[String]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() + 64);
    out.extend_from_slice(b"{\"status\":\"success\",\"data\":");
    out.extend_from_slice(data);
    for (key, words) in [("warnings", warnings), ("infos", infos)] {
        if !words.is_empty() {
            out.extend_from_slice(format!(",\"{key}\":").as_bytes());
            out.extend_from_slice(Json::from(words.to_vec()).to_string().as_bytes());
        }
    }
    out.push(b'}');
    out
}

/// Adds to a text.
pub(super) fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.push_str(&text.to_string());
}

/// A JSON text.
pub(super) fn quoted(out: &mut String, text: &str) {
    out.push_str(&Json::from(text).to_string());
}

/// Labels as an object.
pub(super) fn labels(out: &mut String, labels: &LabelSet) {
    out.push('{');
    for (i, (name, value)) in labels.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        quoted(out, name);
        out.push(':');
        quoted(out, value);
    }
    out.push('}');
}

/// Seconds: whole, or with three digits (`prometheus.md` §1.3).
pub(super) fn seconds(out: &mut String, ms: i64) {
    let sign = if ms < 0 { "-" } else { "" };
    let ms = ms.unsigned_abs();
    out.push_str(sign);
    out.push_str(&(ms / 1_000).to_string());
    if !ms.is_multiple_of(1_000) {
        add(out, format_args!(".{:03}", ms % 1_000));
    }
}

/// A number as vectors and matrices have it: with an exponent under 1e-6 and from 1e21 on.
pub(super) fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size.is_finite() && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        if let Some((digits, exponent)) = text.split_once('e') {
            let (sign, exponent) = exponent
                .strip_prefix('-')
                .map_or(('+', exponent), |rest| ('-', rest));
            return format!("{digits}e{sign}{exponent:0>2}");
        }
    }
    plain(value)
}

/// A number as scalars have it: never with an exponent.
pub(super) fn plain(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned()
    } else {
        value.to_string()
    }
}

/// `[1785542400,"1"]`, or with a histogram.
pub(super) fn point(out: &mut String, t_ms: i64, point: &Point<'_>) {
    out.push('[');
    seconds(out, t_ms);
    out.push(',');
    match point {
        Point::Float(value) => {
            out.push('"');
            out.push_str(&float(*value));
            out.push('"');
        }
        Point::Histogram(histogram) => self::histogram(out, histogram),
    }
    out.push(']');
}

fn histogram(out: &mut String, histogram: &HistogramPoint) {
    add(
        out,
        format_args!(
            "{{\"count\":\"{}\",\"sum\":\"{}\"",
            float(histogram.count),
            float(histogram.sum)
        ),
    );
    for (i, bucket) in histogram.buckets.iter().enumerate() {
        out.push_str(if i == 0 { ",\"buckets\":[" } else { "," });
        add(
            out,
            format_args!(
                "[{},\"{}\",\"{}\",\"{}\"]",
                bucket.rule,
                float(bucket.lower),
                float(bucket.upper),
                float(bucket.count)
            ),
        );
    }
    if !histogram.buckets.is_empty() {
        out.push(']');
    }
    out.push('}');
}

/// A time as the API takes it: seconds with a fraction, or RFC 3339; kept to milliseconds.
pub(super) fn time_ms(text: &str) -> Option<i64> {
    if let Ok(secs) = text.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "checked just before")]
        return (secs.abs() < 9.2e9).then(|| (secs * 1e3).round() as i64);
    }
    Timestamp::parse_rfc3339(text).map(Timestamp::millis)
}

/// A duration as the API takes it: seconds with a fraction, or `5s`; in milliseconds.
pub(super) fn duration_ms(text: &str) -> Option<i64> {
    if let Ok(secs) = text.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, reason = "checked just before")]
        return (secs.abs() < 9.2e9).then_some((secs * 1e3) as i64);
    }
    crate::base::time::parse_duration_nanos(text).map(|nanos| nanos / 1_000_000)
}
