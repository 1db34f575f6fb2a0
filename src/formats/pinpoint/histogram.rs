//! Response histograms: `getResponseTimeHistogramDataV2`, `histogram/statistics`, and the series inside maps, in their
//! three forms; Apdex (`pinpoint.md` §6).

use serde_json::Value;

use super::Reading;
use super::value::{elements, list, measured, members, number, of, plain, text, whole};

/// The names of the values of the load form, in its order.
const LOAD: &[&str] = &[
    "1s", "3s", "5s", "Slow", "Error", "Avg", "Max", "Sum", "Tot",
];

/// What a histogram is about.
pub(super) struct About<'a> {
    pub(super) application: &'a str,
    pub(super) agent: Option<&'a str>,
}

/// The answer about one node, with its agents.
pub(super) fn read(reading: &mut Reading<'_, '_>, value: &Value) {
    let application = reading.asked.application().unwrap_or("unknown").to_owned();
    let slots = list(value, "timestamp");
    let mut about = About {
        application: &application,
        agent: None,
    };
    let series_at = "$.timeSeriesHistogram";
    series(
        reading,
        of(value, "timeSeriesHistogram"),
        slots,
        &about,
        series_at,
    );
    apdex_slots(
        reading,
        of(value, "apdexSlot"),
        slots,
        &about,
        "$.apdexSlot",
    );
    for (agent, one) in members(of(value, "agentTimeSeriesHistogram")) {
        about.agent = Some(agent);
        let at = format!("$.agentTimeSeriesHistogram.{agent}");
        series(reading, one, slots, &about, &at);
    }
    for key in [
        "histogram",
        "responseStatistics",
        "agentHistogram",
        "agentResponseStatistics",
    ] {
        if let Some(said) = value.get(key) {
            reading.fact(&format!("{application}.{key}"), &plain(said));
        }
    }
    reading.asked_window();
}

/// The load form by itself.
pub(super) fn load_form(reading: &mut Reading<'_, '_>, value: &Value) {
    let application = reading.asked.application().unwrap_or("unknown").to_owned();
    let about = About {
        application: &application,
        agent: None,
    };
    series(reading, value, &[], &about, "$");
}

/// A series in any of its forms: `{key, [[ts, n]]}`, `{ts, [fast, …, total]}`, `{key, [n]}` over `slots`.
pub(super) fn series(
    reading: &mut Reading<'_, '_>,
    value: &Value,
    slots: &[Value],
    about: &About<'_>,
    at: &str,
) {
    let mut columns: Vec<(String, Vec<(i64, f64)>)> = Vec::new();
    let mut put = |key: &str, ms: Option<i64>, n: Option<f64>| {
        let (Some(ms), Some(n)) = (ms, n) else { return };
        match columns.iter_mut().find(|(known, _)| known == key) {
            Some((_, points)) => points.push((ms, n)),
            None => columns.push((key.to_owned(), vec![(ms, n)])),
        }
    };
    for one in elements(value) {
        let key = of(one, "key");
        let values = list(one, "values");
        match key.as_str() {
            None => {
                for (name, n) in LOAD.iter().zip(values) {
                    put(name, whole(key), measured(n));
                }
            }
            Some(key) => {
                for (ix, n) in values.iter().enumerate() {
                    match elements(n) {
                        [ms, n] => put(key, whole(ms), measured(n)),
                        _ => put(key, slots.get(ix).and_then(whole), measured(n)),
                    }
                }
            }
        }
    }
    let idle: Vec<i64> = columns
        .iter()
        .find(|(key, _)| key == "Tot")
        .map(|(_, points)| {
            points
                .iter()
                .filter(|(_, n)| *n <= 0.0)
                .map(|(t, _)| *t)
                .collect()
        })
        .unwrap_or_default();
    for (key, mut points) in columns {
        let (metric, unit, bucket) = match key.as_str() {
            "Avg" => (
                "pinpoint_slot_response_avg_milliseconds",
                "milliseconds",
                None,
            ),
            "Max" => (
                "pinpoint_slot_response_max_milliseconds",
                "milliseconds",
                None,
            ),
            "Sum" => (
                "pinpoint_slot_response_sum_milliseconds",
                "milliseconds",
                None,
            ),
            "Tot" => ("pinpoint_slot_requests", "requests", None),
            bucket => ("pinpoint_slot_responses", "requests", Some(bucket)),
        };
        if matches!(key.as_str(), "Avg" | "Max") {
            // A slot without requests has no mean: its 0 stands for nothing.
            points.retain(|(t, _)| !idle.contains(t));
        }
        let mut labels = vec![("application", about.application)];
        labels.extend(about.agent.map(|agent| ("agentId", agent)));
        labels.extend(bucket.map(|bucket| ("bucket", bucket)));
        reading.series(metric, unit, &labels, &points, at);
    }
}

/// 3.1: one score for each slot; −1 is no data.
pub(super) fn apdex_slots(
    reading: &mut Reading<'_, '_>,
    value: &Value,
    slots: &[Value],
    about: &About<'_>,
    at: &str,
) {
    let points: Vec<(i64, f64)> = slots
        .iter()
        .zip(elements(value))
        .filter_map(|(ms, score)| Some((whole(ms)?, measured(score)?)))
        .collect();
    let labels = [("application", about.application)];
    if !points.is_empty() {
        reading.series("pinpoint_apdex", "ratio", &labels, &points, at);
    }
}

/// Score and formula, with the thresholds that the counts were made with: satisfied up to 1 s, tolerating up to 3 s. A
/// score of nothing is no score.
pub(super) fn apdex(reading: &mut Reading<'_, '_>, prefix: &str, value: &Value) {
    let value = value
        .get("apdex")
        .filter(|a| a.is_object())
        .unwrap_or(value);
    let formula = of(value, "apdexFormula");
    let (Some(score), Some(total)) = (
        number(of(value, "apdexScore")),
        whole(of(formula, "totalSamples")),
    ) else {
        return;
    };
    let said = if total == 0 {
        "no data".to_owned()
    } else {
        score.to_string()
    };
    reading.fact(&format!("{prefix}.apdex.score"), &said);
    for key in ["satisfiedCount", "toleratingCount", "totalSamples"] {
        reading.fact(&format!("{prefix}.apdex.{key}"), &plain(of(formula, key)));
    }
    let is_cache = value
        .get("histogram")
        .is_some_and(|h| h.get("100ms").is_some());
    let (satisfied, tolerated) = if is_cache {
        ("100", "300")
    } else {
        ("1000", "3000")
    };
    reading.fact(&format!("{prefix}.apdex.satisfied_up_to_ms"), satisfied);
    reading.fact(&format!("{prefix}.apdex.tolerated_up_to_ms"), tolerated);
}

/// `getApdexScore`.
pub(super) fn apdex_answer(reading: &mut Reading<'_, '_>, value: &Value) {
    let prefix = reading
        .asked
        .application()
        .unwrap_or("application")
        .to_owned();
    apdex(reading, &prefix, value);
}

/// `heatmap/applicationData` of 3.1: requests by slot and duration; and `heatmap/get`, as totals.
pub(super) fn heatmap(reading: &mut Reading<'_, '_>, value: &Value) {
    let application = reading.asked.application().unwrap_or("unknown").to_owned();
    let mut cells: std::collections::BTreeMap<(i64, &str), Vec<(i64, f64)>> =
        std::collections::BTreeMap::new();
    for column in list(value, "heatmapData") {
        let Some(ms) = whole(of(column, "timestamp")) else {
            continue;
        };
        for cell in list(column, "cellDataList") {
            let Some(elapsed) = whole(of(cell, "elapsedTime")) else {
                continue;
            };
            for (result, key) in [("success", "successCount"), ("failure", "failCount")] {
                if let Some(n) = measured(of(cell, key)) {
                    cells.entry((elapsed, result)).or_default().push((ms, n));
                }
            }
        }
    }
    for ((elapsed, result), points) in cells {
        let up_to = elapsed.to_string();
        let labels = [
            ("application", application.as_str()),
            ("up_to_ms", up_to.as_str()),
            ("result", result),
        ];
        reading.series(
            "pinpoint_heatmap_requests",
            "requests",
            &labels,
            &points,
            "$.heatmapData",
        );
    }
    for (name, said) in members(of(value, "summary")) {
        reading.fact(&format!("{application}.heatmap.{name}"), &plain(said));
    }
}

/// URI statistics as a list.
pub(super) fn uris(reading: &mut Reading<'_, '_>, value: &Value) {
    for row in elements(value) {
        let Some(uri) = text(of(row, "uri")) else {
            continue;
        };
        for key in [
            "totalCount",
            "failureCount",
            "maxTimeMs",
            "avgTimeMs",
            "apdex",
        ] {
            reading.fact(&format!("uri.{uri}.{key}"), &plain(of(row, key)));
        }
    }
    reading.asked_window();
}
