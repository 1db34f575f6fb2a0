//! The smaller answers of X-Ray: statistics over time become series, what the service says of itself becomes facts, and
//! what has no table is kept as it came and named so (`protocols/xray.md` §1).

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::reporter::Reporter;
use crate::base::time::{TimeRange, Timestamp};
use crate::formats::{FormatError, Head, Hints, RequestHint};
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::prometheus::ServerFact;
use crate::model::series::{MetricKind, Sampling, Series, SeriesSource};

/// Seconds of one point when neither the request nor the points say it: what Grafana asks for.
const USUAL_PERIOD_S: f64 = 60.0;

/// Which of them it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// `GetTimeSeriesServiceStatistics`.
    Statistics,
    /// `GetTraceSegmentDestination`.
    Destination,
    /// `GetSamplingRules`.
    SamplingRules,
    /// `GetSamplingStatisticSummaries`.
    SamplingStatistics,
    /// Groups, insights, indexing rules, tokens: by the name of the call.
    Without(&'static str),
}

impl Other {
    /// By the keys of the beginning; `None` for traces, their lists and graphs, which are read elsewhere.
    pub(super) fn of(head: &Head<'_>) -> Option<Self> {
        const WITHOUT: &[(&str, &str)] = &[
            ("Groups[].GroupARN", "GetGroups"),
            ("InsightSummaries", "GetInsightSummaries"),
            ("InsightEvents", "GetInsightEvents"),
            ("Insight.InsightId", "GetInsight"),
            ("IndexingRules", "GetIndexingRules"),
            ("RetrievalToken", "StartTraceRetrieval"),
            ("Services[].Service.ReferenceId", "GetRetrievedTracesGraph"),
        ];
        let of_key = [
            ("TimeSeriesServiceStatistics", Self::Statistics),
            ("SamplingRuleRecords", Self::SamplingRules),
            ("SamplingStatisticSummaries", Self::SamplingStatistics),
        ];
        if let Some((_, other)) = of_key.iter().find(|(key, _)| head.has(key)) {
            return Some(*other);
        }
        if head.has("Destination") && head.has("Status") && is_destination(head) {
            return Some(Self::Destination);
        }
        WITHOUT
            .iter()
            .find(|(key, _)| head.has(key))
            .map(|(_, call)| Self::Without(call))
    }

    /// Reads one such answer.
    pub(super) fn read(
        self,
        text: &str,
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let body = match values.next() {
            Some(Ok(body)) => body,
            Some(Err(error)) => {
                return Err(FormatError::new(
                    "bad_json",
                    format!("line {}, column {}", error.line(), error.column()),
                    format!("the answer is no whole JSON: {error}"),
                    "one JSON object",
                    "ask for it again",
                ));
            }
            None => Value::Null,
        };
        match self {
            Self::Statistics => statistics(&body, hints.request, out, log),
            Self::Destination => {
                for (key, name) in [
                    ("Destination", "xray.destination"),
                    ("Status", "xray.destination.status"),
                ] {
                    if let Some(value) = body.get(key).and_then(Value::as_str) {
                        fact(out, name, value);
                    }
                }
            }
            Self::SamplingRules => rules(&body, out),
            Self::SamplingStatistics => ratios(&body, out),
            Self::Without(call) => log.note(
                "no_table",
                format!("this is an answer of {call}, for which there is no table; it is kept as it came"),
                None,
            ),
        }
        Ok(())
    }
}

/// Other programs have members of these names, too; here the values are words that X-Ray alone uses.
fn is_destination(head: &Head<'_>) -> bool {
    ["\"XRay\"", "\"CloudWatchLogs\""]
        .iter()
        .any(|word| head.text.contains(word))
}

fn fact(out: &mut Batch, name: &str, value: &str) {
    out.facts.push(ServerFact {
        input: InputIx::default(),
        name: Arc::from(name),
        value: Arc::from(value),
    });
}

fn rules(body: &Value, out: &mut Batch) {
    let records = body.get("SamplingRuleRecords").and_then(Value::as_array);
    for record in records.into_iter().flatten() {
        let rule = |key: &str| record.get("SamplingRule").and_then(|r| r.get(key));
        if let (Some(name), Some(rate)) = (
            rule("RuleName").and_then(Value::as_str),
            rule("FixedRate").and_then(Value::as_f64),
        ) {
            let reservoir = rule("ReservoirSize").and_then(Value::as_u64).unwrap_or(0);
            fact(
                out,
                &format!("xray.sampling_rule.{name}"),
                &format!("{reservoir} requests a second, of the others the share {rate}"),
            );
        }
    }
}

fn ratios(body: &Value, out: &mut Batch) {
    let all = body
        .get("SamplingStatisticSummaries")
        .and_then(Value::as_array);
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for one in all.into_iter().flatten() {
        let count = |key: &str| one.get(key).and_then(Value::as_u64).unwrap_or(0);
        if let Some(name) = one.get("RuleName").and_then(Value::as_str) {
            let known = counts.entry(name).or_default();
            known.0 = known.0.saturating_add(count("RequestCount"));
            known.1 = known.1.saturating_add(count("SampledCount"));
        }
    }
    for (name, (requests, sampled)) in counts {
        fact(
            out,
            &format!("xray.sampled.{name}"),
            &format!("{sampled} of {requests} requests"),
        );
    }
}

/// One point of the statistics.
#[derive(Debug, Default)]
struct Point {
    requests: Option<f64>,
    errors: Option<f64>,
    throttles: Option<f64>,
    faults: Option<f64>,
    total_s: Option<f64>,
    /// (seconds, count), ascending.
    histogram: Vec<(f64, f64)>,
}

impl Point {
    fn of(value: &Value) -> Self {
        let summary = ["EdgeSummaryStatistics", "ServiceSummaryStatistics"]
            .iter()
            .find_map(|key| value.get(key).filter(|v| v.is_object()));
        let number = |path: &str| {
            summary
                .and_then(|s| s.pointer(path))
                .and_then(Value::as_f64)
        };
        let entries = value.get("ResponseTimeHistogram").and_then(Value::as_array);
        let mut histogram: Vec<(f64, f64)> = entries
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let seconds = entry.get("Value")?.as_f64().filter(|s| *s >= 0.0)?;
                let count = entry.get("Count")?.as_f64().filter(|n| *n > 0.0)?;
                Some((seconds, count))
            })
            .collect();
        histogram.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            requests: number("/TotalCount"),
            errors: number("/ErrorStatistics/TotalCount"),
            throttles: number("/ErrorStatistics/ThrottleCount"),
            faults: number("/FaultStatistics/TotalCount"),
            total_s: number("/TotalResponseTime"),
            histogram,
        }
    }

    /// The nearest rank of the histogram.
    fn quantile(&self, share: f64) -> Option<f64> {
        let total: f64 = self.histogram.iter().map(|(_, count)| count).sum();
        let rank = (share * total).ceil();
        let mut seen = 0.0;
        self.histogram
            .iter()
            .find(|(_, count)| {
                seen += count;
                seen >= rank
            })
            .map(|(seconds, _)| *seconds)
    }
}

type Read = fn(&Point) -> Option<f64>;

/// Name, unit, and how it comes from a point. All are of the requests that were traced, so all say so.
const METRICS: &[(&str, &str, Read)] = &[
    ("xray_sampled_requests", "requests", |p| p.requests),
    ("xray_sampled_errors", "requests", |p| p.errors),
    ("xray_sampled_throttles", "requests", |p| p.throttles),
    ("xray_sampled_faults", "requests", |p| p.faults),
    ("xray_sampled_mean_seconds", "seconds", |p| {
        let count = p.requests.filter(|n| *n > 0.0)?;
        Some(p.total_s? / count)
    }),
    ("xray_sampled_p99_seconds", "seconds", |p| p.quantile(0.99)),
    ("xray_sampled_max_seconds", "seconds", |p| {
        p.histogram.last().map(|(seconds, _)| *seconds)
    }),
];

fn statistics(body: &Value, request: Option<&RequestHint>, out: &mut Batch, log: &mut Reporter) {
    let all = body
        .get("TimeSeriesServiceStatistics")
        .and_then(Value::as_array);
    let mut points: BTreeMap<Timestamp, Point> = BTreeMap::new();
    for (ix, value) in all.into_iter().flatten().enumerate() {
        match value.get("Timestamp").and_then(time) {
            Some(at) => {
                points.insert(at, Point::of(value));
            }
            None => log.lost(
                "bad_point",
                "a point of the statistics without a time; it is left out",
                format!("$.TimeSeriesServiceStatistics[{ix}]"),
            ),
        }
    }
    let asked = Asked::of(request);
    out.asked = asked.range;
    if points.is_empty() {
        return;
    }
    if request.is_none() {
        log.note(
            "unknown_selector",
            "which call or service these statistics are of stands in the request, which is not known: name it in requests.json",
            None,
        );
    }
    let step_nanos = asked.step_nanos.unwrap_or_else(|| step(&points));
    for (name, unit, read) in METRICS {
        let mut series = Series::new(
            Arc::from(*name),
            asked.labels.clone(),
            Sampling::Grid { step_nanos },
        );
        series.kind = MetricKind::Gauge;
        series.unit = Arc::from(*unit);
        for (at, point) in &points {
            if let Some(value) = read(point) {
                series.t.push(at.nanos());
                series.v.push(value);
            }
        }
        let Some(range) = series.span() else { continue };
        series.sources.push(SeriesSource {
            input: InputIx::default(),
            locator: Arc::from("$.TimeSeriesServiceStatistics"),
            range,
        });
        out.series.push(series);
    }
}

/// Epoch seconds, or RFC 3339 as the AWS command line writes it.
fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => Timestamp::from_secs_f64(number.as_f64()?),
        Value::String(text) => Timestamp::parse_rfc3339(text),
        _ => None,
    }
}

/// The shortest distance of two points.
fn step(points: &BTreeMap<Timestamp, Point>) -> i64 {
    points
        .keys()
        .zip(points.keys().skip(1))
        .map(|(a, b)| b.nanos_since(*a))
        .min()
        .unwrap_or((USUAL_PERIOD_S * 1e9) as i64)
}

/// What the request says of its answer.
#[derive(Debug, Default)]
struct Asked {
    labels: Labels,
    range: Option<TimeRange>,
    step_nanos: Option<i64>,
}

impl Asked {
    fn of(request: Option<&RequestHint>) -> Self {
        let Some(body) = request.and_then(|r| r.body.as_ref()) else {
            return Self::default();
        };
        let mut labels: Vec<(&str, &str)> = Vec::new();
        let text = |key: &str| body.get(key).and_then(Value::as_str);
        let selector = text("EntitySelectorExpression").unwrap_or_default();
        match names(selector) {
            Some(names) => labels.extend(names),
            None if !selector.is_empty() => labels.push(("selector", selector)),
            None => {}
        }
        if let Some(group) = text("GroupName").or_else(|| text("GroupARN")) {
            labels.push(("group", group));
        }
        let range = body
            .get("StartTime")
            .and_then(time)
            .zip(body.get("EndTime").and_then(time))
            .filter(|(start, end)| start < end);
        let period_s = body.get("Period").and_then(Value::as_f64);
        Self {
            labels: Labels::of(&labels),
            range: range.map(|(start, end)| TimeRange::new(start, end)),
            step_nanos: period_s
                .filter(|s| *s >= 1.0 && *s <= 1e6)
                .map(|s| (s * 1e9) as i64),
        }
    }
}

/// The names in `edge("a","b")` and `service("a")`, as labels; `None` for any other selector.
fn names(selector: &str) -> Option<Vec<(&'static str, &str)>> {
    let within = |name: &str| selector.trim().strip_prefix(name)?.strip_suffix(')');
    let plain = |text: &'_ str| !text.contains('"');
    if let Some(inside) = within("edge(") {
        let (caller, callee) = inside.split_once(',')?;
        let caller = caller.trim().strip_prefix('"')?.strip_suffix('"')?;
        let callee = callee.trim().strip_prefix('"')?.strip_suffix('"')?;
        return (plain(caller) && plain(callee))
            .then(|| vec![("service", caller), ("peer.service", callee)]);
    }
    let name = within("service(")?.trim();
    let name = name.strip_prefix('"')?.strip_suffix('"')?;
    plain(name).then(|| vec![("service", name)])
}
