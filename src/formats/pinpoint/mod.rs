//! Pinpoint 2.2 to 3.1: answers of its web API (`protocols/pinpoint.md`), told apart by what they hold.
//!
//! One file for each kind of answer; `value` reads JSON as it really comes, `asked` what the request adds, `tree` and
//! `part` serve the call trees of `trace`.

mod agents;
mod asked;
mod charts;
mod errors;
mod facts;
mod histogram;
mod map;
mod part;
mod refused;
mod rows;
mod scatter;
#[cfg(test)]
mod tests;
mod timeline;
mod trace;
mod tree;
mod value;

pub use trace::PERSONAL;

use std::sync::Arc;

use serde_json::Value;

use crate::base::reporter::Reporter;
use crate::base::text;
use crate::base::time::TimeRange;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::prometheus::ServerFact;
use crate::model::series::{MetricKind, Sampling, Series, SeriesSource};

/// Answers of Pinpoint.
pub struct Pinpoint;

/// One kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Refused,
    Trace,
    Lanes,
    TimelineLink,
    Viewer,
    Scatter,
    ScatterOfMany,
    FilteredMap,
    Rows,
    Map,
    Histogram,
    LoadForm,
    Chart2,
    ChartList2,
    Chart3,
    Errors,
    ErrorGroups,
    Applications,
    Agents,
    AgentStatus,
    AgentEvents,
    AgentTimeline,
    Threads,
    Apdex,
    Heatmap,
    Uris,
    Configuration,
    Clock,
    Empty,
}

/// Keys that tell an answer: all of a row must be there. The first that fits.
const SHAPES: &[(&[&str], Kind, u8)] = &[
    (&["callStack", "callStackIndex"], Kind::Trace, 97),
    (&["callStack", "barRatio"], Kind::Lanes, 97),
    (
        &["transactionId", "traceViewerDataURL"],
        Kind::TimelineLink,
        97,
    ),
    (&["traceEvents[].args.API Type"], Kind::Viewer, 95),
    (
        &["applicationMapData", "applicationScatterData"],
        Kind::FilteredMap,
        97,
    ),
    (&["scatter.dotList"], Kind::Scatter, 97),
    (&["applicationMapData"], Kind::Map, 97),
    (&["nodeDataArray", "linkDataArray"], Kind::Map, 90),
    (&["metadata[].collectorAcceptTime"], Kind::Rows, 97),
    (&["serverList", "histogram"], Kind::Histogram, 95),
    (
        &["agentHistogram", "timeSeriesHistogram"],
        Kind::Histogram,
        90,
    ),
    (
        &["histogram.Slow", "timeSeriesHistogram"],
        Kind::Histogram,
        90,
    ),
    (&["charts.schema", "charts.x"], Kind::Chart2, 95),
    (&["[].charts.schema", "[].charts.x"], Kind::ChartList2, 95),
    (&["timestamp", "metricValues"], Kind::Chart3, 90),
    (&["timestamp", "metricValueGroups"], Kind::Chart3, 90),
    (&["[].errorClassName", "[].transactionId"], Kind::Errors, 95),
    (&["[].groupFilterParams", "[].chart"], Kind::ErrorGroups, 95),
    (
        &["[].applicationName", "[].serviceType", "[].code"],
        Kind::Applications,
        90,
    ),
    (&["[].instancesList", "[].groupName"], Kind::Agents, 95),
    (&["[].agentId", "[].eventTypeCode"], Kind::AgentEvents, 95),
    (
        &["[].agentId", "[].applicationName", "[].startTimestamp"],
        Kind::Agents,
        95,
    ),
    (
        &["[].agentId", "[].applicationName", "[].agentStartTime"],
        Kind::Agents,
        95,
    ),
    (
        &["agentStatusTimeline", "agentEventTimeline"],
        Kind::AgentTimeline,
        97,
    ),
    (
        &["agentId", "eventTimestamp", "state.code"],
        Kind::AgentStatus,
        90,
    ),
    (&["command", "result.activeThreadCounts"], Kind::Threads, 95),
    (
        &["[].command", "[].result.activeThreadCounts"],
        Kind::Threads,
        95,
    ),
    (&["apdexScore", "apdexFormula"], Kind::Apdex, 90),
    (&["heatmapData", "summary"], Kind::Heatmap, 90),
    (&["[].uri", "[].apdex", "[].totalCount"], Kind::Uris, 90),
    (&["sendUsage", "version"], Kind::Configuration, 90),
    (&["showApplicationStat", "version"], Kind::Configuration, 85),
    (&["currentServerTime"], Kind::Clock, 85),
];

/// What an answer is, by its beginning, and how sure that is.
fn kind_of(head: &Head<'_>) -> Option<(Kind, u8)> {
    let json = head.json.as_ref()?;
    if refused::is_one(head) {
        return Some((Kind::Refused, 85));
    }
    let fits = |paths: &&[&str]| paths.iter().all(|path| head.has(path));
    if let Some((_, kind, sure)) = SHAPES.iter().find(|(paths, ..)| fits(paths)) {
        return Some((*kind, *sure));
    }
    let has_end = |end: &str| json.paths.iter().any(|path| path.ends_with(end));
    if json.opens_with == '{' {
        // Names of applications or groups are keys here.
        if has_end(".scatter.dotList") || (has_end(".scatter.metadata") && has_end(".resultFrom")) {
            return Some((Kind::ScatterOfMany, 90));
        }
        if has_end("[].agentId") && has_end("[].startTimestamp") && has_end("[].hostName") {
            return Some((Kind::Agents, 90));
        }
        let only_metadata = head.has("metadata")
            && json
                .paths
                .iter()
                .all(|p| matches!(p.as_str(), "metadata" | "complete" | "resultFrom"));
        if only_metadata && head.is_whole {
            return Some((Kind::Rows, 50));
        }
    } else if is_load_form(head) {
        return Some((Kind::LoadForm, 70));
    }
    None
}

/// `[{"key": TIME, "values": [nine numbers]}]`.
fn is_load_form(head: &Head<'_>) -> bool {
    let Some(json) = &head.json else { return false };
    let keys: Vec<&str> = json.paths.iter().map(String::as_str).collect();
    if keys != ["[].key", "[].values"] {
        return false;
    }
    let squeezed: String = head
        .text
        .chars()
        .filter(|c| !c.is_whitespace())
        .take(300)
        .collect();
    squeezed
        .split_once("\"key\":")
        .is_some_and(|(_, rest)| rest.starts_with(|c: char| c.is_ascii_digit()))
        && squeezed
            .split_once("\"values\":[")
            .and_then(|(_, rest)| rest.split_once(']'))
            .is_some_and(|(values, _)| values.split(',').count() == 9)
}

/// The words of the server, when a whole answer is one of its errors: what a source must know before it asks on.
pub fn refusal(value: &Value) -> Option<String> {
    refused::words(value)
}

/// Whether an input that no format knows is an empty answer to a request of Pinpoint: content without a mark of its own.
pub fn is_empty_answer(head: &Head<'_>, hints: &Hints<'_>) -> bool {
    head.is_whole && head.text.trim() == "[]" && asked::Asked::is_of_pinpoint(hints)
}

impl Format for Pinpoint {
    fn id(&self) -> &'static str {
        "pinpoint"
    }

    fn title(&self) -> &'static str {
        "Pinpoint"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if let Some((_, sure)) = kind_of(head) {
            return Sniff::Yes(sure);
        }
        let is_of_the_window = head.has("data[].x") && head.has("data[].y") && head.has("from");
        if is_of_the_window {
            return Sniff::refused(
                60,
                "these are the points of its own chart, no answer of its API; fetch getScatterData",
            );
        }
        Sniff::NOT_AT_ALL
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let (text, is_replaced) = text::decode(bytes);
        if is_replaced {
            log.lost(
                "bad_utf8",
                "some bytes are no UTF-8 and were replaced; JSON is always UTF-8",
                None,
            );
        }
        let value = match value::parse(&text) {
            value::Parsed::Whole(value) => value,
            value::Parsed::Cut(value, at) => {
                log.lost(
                    "truncated",
                    "the answer is cut off or damaged here; what came before was read, fetch it again for the rest",
                    format!("byte {at}"),
                );
                value
            }
            value::Parsed::Nothing(at, why) => {
                return Err(FormatError::new(
                    "not_json",
                    format!("byte {at}"),
                    why,
                    "an answer of Pinpoint as JSON",
                    "fetch it again; a login page or a proxy may have answered",
                ));
            }
        };
        let kind = kind_of(&Head::new(bytes)).map_or(Kind::Empty, |(kind, _)| kind);
        if let Some(said) = refused::words(&value).filter(|_| kind == Kind::Refused) {
            return Err(refused::error(&said, hints));
        }
        Reading {
            asked: asked::Asked::of(hints),
            out,
            log,
        }
        .take(kind, &value);
        Ok(())
    }
}

/// One answer being read.
struct Reading<'o, 'l> {
    asked: asked::Asked,
    out: &'o mut Batch,
    log: &'l mut Reporter,
}

impl Reading<'_, '_> {
    fn take(&mut self, kind: Kind, value: &Value) {
        match kind {
            Kind::Trace => {
                trace::read(self, value);
                if value.pointer("/applicationMapData/nodeDataArray").is_some() {
                    map::read(self, value);
                }
            }
            Kind::Lanes => timeline::lanes(self, value),
            Kind::TimelineLink => timeline::link(self, value),
            Kind::Viewer => timeline::viewer(self, value),
            Kind::Scatter => {
                let application = self.asked.application().map(str::to_owned);
                scatter::page(self, value, application.as_deref(), "$");
            }
            Kind::ScatterOfMany => scatter::pages(self, value, "$"),
            Kind::FilteredMap => {
                map::read(self, value);
                let pages = value::of(value, "applicationScatterData");
                scatter::pages(self, pages, "$.applicationScatterData");
            }
            Kind::Rows => rows::read(self, value),
            Kind::Map => map::read(self, value),
            Kind::Histogram => histogram::read(self, value),
            Kind::LoadForm => histogram::load_form(self, value),
            Kind::Chart2 => charts::of_2x(self, value, "$"),
            Kind::ChartList2 => {
                for (ix, one) in value::elements(value).iter().enumerate() {
                    charts::of_2x(self, one, &format!("$[{ix}]"));
                }
            }
            Kind::Chart3 => charts::of_3x(self, value, "$"),
            Kind::Errors => errors::rows(self, value),
            Kind::ErrorGroups => errors::groups(self, value),
            Kind::Applications => facts::applications(self, value),
            Kind::Agents => agents::lists(self, value),
            Kind::AgentStatus => agents::status(self, value, "$"),
            Kind::AgentEvents => agents::events(self, value),
            Kind::AgentTimeline => agents::timeline(self, value),
            Kind::Threads => agents::active_threads(self, value),
            Kind::Apdex => histogram::apdex_answer(self, value),
            Kind::Heatmap => histogram::heatmap(self, value),
            Kind::Uris => histogram::uris(self, value),
            Kind::Configuration => facts::configuration(self, value),
            Kind::Clock => facts::clock(self, value),
            // A refusal without words holds nothing; an empty list is an answer.
            Kind::Refused | Kind::Empty => {}
        }
    }

    fn fact(&mut self, name: &str, said: &str) {
        self.out.facts.push(ServerFact {
            input: InputIx::default(),
            name: Arc::from(format!("pinpoint.{name}")),
            value: Arc::from(said),
        });
    }

    /// A series of gauges by epoch milliseconds; the labels of the request stand beside `labels`, which win.
    fn series(
        &mut self,
        metric: &str,
        unit: &str,
        labels: &[(&str, &str)],
        points: &[(i64, f64)],
        at: &str,
    ) {
        let mut all = self.asked.labels();
        all.extend(
            labels
                .iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (Arc::from(*name), Arc::from(*value))),
        );
        let mut series = Series::new(Arc::from(metric), Labels::new(all), Sampling::Raw);
        series.kind = MetricKind::Gauge;
        series.unit = Arc::from(unit);
        let mut points: Vec<(i64, f64)> = points
            .iter()
            .filter_map(|(ms, v)| Some((ms.checked_mul(1_000_000)?, *v)))
            .collect();
        points.sort_by_key(|(t, _)| *t);
        points.dedup_by_key(|(t, _)| *t);
        (series.t, series.v) = points.into_iter().unzip();
        let range = series.span();
        let Some(range) = range else { return };
        series.sources.push(SeriesSource {
            input: InputIx::default(),
            locator: Arc::from(at),
            range,
        });
        self.out.series.push(series);
    }

    /// The range that an answer says it was asked for.
    fn asked_range(&mut self, from: &Value, to: &Value) {
        if let (Some(start), Some(end)) = (value::time(from), value::time(to)) {
            self.widen(TimeRange::new(start, end));
        }
    }

    /// The range that the request names.
    fn asked_window(&mut self) {
        if let Some(window) = self.asked.window() {
            self.widen(window);
        }
    }

    fn widen(&mut self, range: TimeRange) {
        let known = self.out.asked;
        self.out.asked = Some(known.map_or(range, |known| known.hull(&range)));
    }
}
