//! The requests, as the API wants them.

use crate::sources::Request;
use crate::sources::prometheus::flavor::Flavor;
use crate::sources::prometheus::plan::Raw;
use crate::sources::request::query;

/// `{__name__=~"a|b",namespace="shop"}`.
pub(super) fn selector(names: &[String], matchers: Option<&str>) -> String {
    let mut selector = if let [one] = names {
        format!("{{__name__={}", quoted(one))
    } else {
        format!("{{__name__=~{}", quoted(&any_of(names)))
    };
    if let Some(matchers) = matchers {
        selector.push(',');
        selector.push_str(matchers);
    }
    selector.push('}');
    selector
}

/// `a|b`, so that each name means itself.
pub(super) fn any_of(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| regex_escaped(n)).collect();
    names.join("|")
}

/// A form with what every query to this program carries.
pub(super) fn form(flavor: Flavor, path: &str, fields: &[(&str, String)]) -> Request {
    let extra = flavor.query_fields().iter().copied();
    let fields: Vec<(&str, &str)> = fields
        .iter()
        .map(|(n, v)| (*n, v.as_str()))
        .chain(extra)
        .collect();
    Request::form(path, &fields)
}

/// Raw samples of `[from_ms, to_ms)` by a range selector. That holds both its ends in Prometheus 2 and only the later one in
/// Prometheus 3 (`prometheus.md` §1.2), so the range is asked one millisecond wider to the left: the sample that may come
/// twice is one sample to the store. By POST: names of metrics can be more than an address holds.
pub(super) fn range(flavor: Flavor, raw: &Raw, selector: &str) -> Request {
    let range = format!("{selector}[{}ms]", raw.to_ms - raw.from_ms);
    let fields = [("query", range), ("time", secs(raw.to_ms - 1))];
    form(flavor, "/api/v1/query", &fields)
}

/// The same by the export of `VictoriaMetrics`.
pub(super) fn export(raw: &Raw, selector: String) -> Request {
    let fields = [
        ("match[]", selector),
        ("start", secs(raw.from_ms)),
        ("end", secs(raw.to_ms - 1)),
    ];
    Request::get(path("/api/v1/export", &fields))
}

/// Seconds with milliseconds, as the API takes them.
pub(super) fn secs(ms: i64) -> String {
    let text = format!("{}.{:03}", ms.div_euclid(1000), ms.rem_euclid(1000));
    text.strip_suffix(".000").unwrap_or(&text).to_owned()
}

/// A path with its query.
pub(super) fn path(path: &str, fields: &[(&str, String)]) -> String {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
    format!("{path}?{}", query(&fields))
}

/// A string of `PromQL` (Go's rules).
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// RE2 without meaning.
fn regex_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
