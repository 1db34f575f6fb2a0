//! How an answer of the HTTP API is recognised: by its keys, wherever they stand, never by its name.

use serde_json::Value;

use super::lists;
use crate::formats::{Head, Sniff};

/// What a body that is no JSON is, when it is one that servers around Prometheus send.
pub(super) fn text_body(head: &Head<'_>) -> Option<&'static str> {
    let text = head.text.trim_start();
    let start: String = text
        .chars()
        .take(200)
        .collect::<String>()
        .to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") {
        Some("an HTML page, as a login page or a proxy sends it, and no JSON")
    } else if start.starts_with("404 page not found")
        || start.starts_with("method not allowed")
        || start.contains("unsupported path requested")
        || start.starts_with("service unavailable")
    {
        Some("the text of an HTTP error, and no JSON")
    } else if start.starts_with("prometheus server is") || start.starts_with("victoriametrics is") {
        Some("a health check's answer, and no JSON")
    } else {
        None
    }
}

/// Whether it is an answer of the API.
pub(super) fn sniff(head: &Head<'_>) -> Sniff {
    let Some(json) = &head.json else {
        return text_body(head).map_or(Sniff::NOT_AT_ALL, |why| {
            Sniff::refused(60, format!("it is {why}"))
        });
    };
    let has = |path: &str| head.has(path);
    let is_stream = has("data.result[].stream") || has("result[].stream");
    if is_stream {
        return Sniff::refused(
            80,
            "it holds log streams, as Loki answers them, and no series",
        );
    }
    let points = ["value", "values", "histogram", "histograms"];
    let has_series = |prefix: &str| {
        has(&format!("{prefix}[].metric")) && points.iter().any(|p| has(&format!("{prefix}[].{p}")))
    };
    if json.opens_with == '[' {
        // `promtool query -o json`, and what scripts cut out of an answer.
        return if has_series("") {
            Sniff::Yes(90)
        } else {
            Sniff::NOT_AT_ALL
        };
    }
    if json.is_lines && !has("data") && has("metric") {
        return Sniff::NOT_AT_ALL;
    }
    let is_result = has_series("data.result") || has_series("result");
    if is_result || has("data.resultType") || (has("resultType") && has("result")) {
        return Sniff::Yes(97);
    }
    if has("status") && has("errorType") && has("error") {
        return Sniff::Yes(95);
    }
    let mut endpoints = [
        "data.activeTargets",
        "data.droppedTargets",
        "data.groups[].rules",
        "data.alerts[].activeAt",
        "data.result[].metric",
        "data[].seriesLabels",
        "data.headStats",
        "data.seriesCountByMetricName",
        "data.scrapePools",
        "data.activeAlertmanagers",
        "data.goVersion",
        "data.lastConfigTime",
        "data.yaml",
        "data.query.lookback-delta",
        "data.config.file",
        "data.web.listen-address",
    ]
    .iter();
    if endpoints.any(|path| has(path)) {
        return Sniff::Yes(95);
    }
    if has("api.query_warnings") && has("promql_functions") {
        return Sniff::refused(
            70,
            "it is the list of a server's features (/api/v1/features)",
        );
    }
    if !has("data") || !has("status") {
        let near = if has("data") || has("status") || has("result") {
            30
        } else {
            0
        };
        return Sniff::refused(
            near,
            "it has no `status` beside `data`, and no `resultType`",
        );
    }
    sniff_plain_data(head)
}

/// `status` and `data` alone: lists, maps and empty answers, which other programs write too.
fn sniff_plain_data(head: &Head<'_>) -> Sniff {
    let json_paths = || head.json.iter().flat_map(|json| json.paths.iter());
    if head.has("data[].__name__") || (head.has("data[].metric") && head.has("data[].type")) {
        return Sniff::Yes(95);
    }
    let is_metadata = json_paths()
        .filter_map(|path| path.strip_suffix("[].help"))
        .any(|family| family.starts_with("data.") && head.has(&format!("{family}[].type")));
    if is_metadata {
        return Sniff::Yes(95);
    }
    let compact: String = head
        .text
        .chars()
        .take(200)
        .filter(|c| !c.is_whitespace())
        .collect();
    let compact = compact.replace("\"isPartial\":false,", "");
    let Some(data) = compact.strip_prefix(r#"{"status":"success","data":"#) else {
        return Sniff::refused(40, "nothing that Prometheus answers stands in its `data`");
    };
    let is_walreplay = head.has("data.min") && head.has("data.max") && head.has("data.current");
    let is_empty_or_list = data.starts_with("[\"")
        || data.starts_with("[]}")
        || data.starts_with("{}}")
        || data.starts_with('"')
        || data.starts_with("{\"groups\":[]")
        || data.starts_with("{\"alerts\":[]");
    if is_empty_or_list || is_walreplay {
        return Sniff::Yes(70);
    }
    // Label sets of series that have no name.
    let is_label_sets = data.starts_with("[{\"")
        && serde_json::from_str::<Value>(&head.text)
            .ok()
            .and_then(|whole| whole.get("data").cloned())
            .is_some_and(|data| lists::are_label_sets(&data));
    if is_label_sets {
        return Sniff::Yes(60);
    }
    Sniff::refused(50, "nothing that Prometheus answers stands in its `data`")
}
