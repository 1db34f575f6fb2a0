//! `transactionTimelineInfo` (2.2) and `traceViewerData` (2.3.1 on): the same calls as bars (`pinpoint.md` §5). The call
//! tree says more; these are read where only they were kept.

use serde_json::{Map, Value};

use super::Reading;
use super::trace::span_id;
use super::value::{elements, list, measured, of, plain, shared, text, time, whole};
use crate::base::time::Timestamp;
use crate::model::input::InputIx;
use crate::model::span::{Span, SpanKind, SpanStatus};

struct Bar<'a> {
    id: Option<i64>,
    parent: Option<i64>,
    begin: Timestamp,
    ms: f64,
    service: &'a str,
    name: &'a str,
    api_type: &'a str,
    sql: &'a str,
    error: &'a str,
}

/// The bars of 2.2: lanes, asynchronous lanes, and calls of databases apart.
pub(super) fn lanes(reading: &mut Reading<'_, '_>, value: &Value) {
    let trace = text(of(value, "transactionId")).unwrap_or_default();
    let lanes = list(value, "callStack")
        .iter()
        .chain(list(value, "asyncCallStack"))
        .flat_map(|lane| elements(lane).iter())
        .chain(list(value, "databaseCalls"));
    let mut lost = 0u64;
    let mut bars: Vec<Bar<'_>> = Vec::new();
    for one in lanes {
        let (Some(begin), Some(end)) = (time(of(one, "begin")), time(of(one, "end"))) else {
            lost += 1;
            continue;
        };
        let id = whole(of(one, "id"));
        if bars.iter().any(|bar| bar.id == id && bar.begin == begin) {
            continue;
        }
        bars.push(Bar {
            id,
            parent: whole(of(one, "parentId")),
            begin,
            ms: (end.nanos_since(begin) as f64 / 1e6).max(0.0),
            service: text(of(one, "applicationName")).unwrap_or("unknown"),
            name: text(of(one, "methodName")).unwrap_or_default(),
            api_type: text(of(one, "apiType")).unwrap_or_default(),
            sql: "",
            error: "",
        });
    }
    put(reading, trace, bars);
    say_lost(reading, lost, "$.callStack");
}

/// The events of the trace viewer: microseconds; complete ones (`ph` X) are calls.
pub(super) fn viewer(reading: &mut Reading<'_, '_>, value: &Value) {
    let trace = reading.asked.trace().unwrap_or_default().to_owned();
    if trace.is_empty() {
        reading.log.note(
            "no_trace_id",
            "the answer names no transaction and its request is not known; its spans cannot be joined with others",
            "$.traceEvents".to_owned(),
        );
    }
    let mut lost = 0u64;
    let mut bars = Vec::new();
    for one in list(value, "traceEvents") {
        if of(one, "ph").as_str() != Some("X") {
            continue;
        }
        let begin = whole(of(one, "ts"))
            .and_then(|us| us.checked_mul(1000))
            .map(Timestamp::from_nanos);
        let (Some(begin), Some(us)) = (begin, measured(of(one, "dur"))) else {
            lost += 1;
            continue;
        };
        let args = of(one, "args");
        bars.push(Bar {
            id: whole(of(args, "id")),
            parent: whole(of(args, "parentId")).filter(|id| *id != 0),
            begin,
            ms: us / 1e3,
            service: text(of(args, "Application Name")).unwrap_or("unknown"),
            name: text(of(one, "name")).unwrap_or_default(),
            api_type: text(of(args, "API Type")).unwrap_or_default(),
            sql: text(of(args, "Query")).unwrap_or_default(),
            error: text(of(args, "Exception")).unwrap_or_default(),
        });
    }
    put(reading, &trace, bars);
    say_lost(reading, lost, "$.traceEvents");
}

/// 2.3.1 to 3.0: only where the bars are.
pub(super) fn link(reading: &mut Reading<'_, '_>, value: &Value) {
    let url = plain(of(value, "traceViewerDataURL"));
    reading.fact("timeline.url", &url);
    reading.log.note(
        "next_page",
        format!("it holds no bars, only where they are: {url}"),
        "$.traceViewerDataURL".to_owned(),
    );
}

fn say_lost(reading: &mut Reading<'_, '_>, lost: u64, at: &str) {
    if lost > 0 {
        reading.log.lost(
            "bad_row",
            format!("{lost} bars without a begin or an end are left out"),
            at.to_owned(),
        );
    }
}

fn put(reading: &mut Reading<'_, '_>, trace: &str, bars: Vec<Bar<'_>>) {
    let known: std::collections::BTreeSet<i64> = bars.iter().filter_map(|bar| bar.id).collect();
    for bar in bars {
        let parent = bar.parent.filter(|id| known.contains(id));
        let mut attributes = Map::new();
        for (name, value) in [("api_type", bar.api_type), ("db.statement", bar.sql)] {
            if !value.is_empty() {
                attributes.insert(name.to_owned(), Value::from(value));
            }
        }
        if !bar.sql.is_empty() {
            attributes.insert("redact".to_owned(), serde_json::json!(["db.statement"]));
        }
        let is_database = bar.api_type.contains('(') || !bar.sql.is_empty();
        reading.out.spans.push(Span {
            input: InputIx::default(),
            trace_id: shared(trace),
            span_id: span_id(trace, bar.id.unwrap_or_else(|| bar.begin.nanos())),
            parent_id: parent.map(|id| span_id(trace, id)),
            service: shared(bar.service),
            operation: shared(bar.name),
            kind: match (parent, is_database) {
                (None, _) => SpanKind::Server,
                (Some(_), true) => SpanKind::Client,
                (Some(_), false) => SpanKind::Internal,
            },
            is_segment: parent.is_none(),
            is_inferred: false,
            origin: shared(""),
            start: bar.begin,
            duration_ms: Some(bar.ms),
            connect_ms: None,
            queue_ms: None,
            peer: None,
            status: if bar.error.is_empty() {
                SpanStatus::Unset
            } else {
                SpanStatus::Fault
            },
            http_status: None,
            error: shared(bar.error),
            attributes: shared(&Value::Object(attributes).to_string()),
        });
    }
}
