use std::sync::Arc;

use super::*;
use crate::detect::testing::{raw, snapshot_from};
use crate::model::batch::Batch;
use crate::model::event::Event;
use crate::model::input::Input;
use crate::model::labels::Labels;
use crate::model::prometheus::ServerFact;
use crate::model::request::Request;
use crate::model::series::{Exemplar, HistogramPoint};
use crate::model::span::{SpanId, SpanKind, SpanStatus};

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * 1_000_000_000)
}

fn span(id: u64, start: i64, duration_ms: Option<f64>) -> Span {
    Span {
        input: InputIx(0),
        trace_id: Arc::from("t"),
        span_id: SpanId(id),
        parent_id: None,
        service: Arc::from("cart"),
        operation: Arc::from("GET /"),
        kind: SpanKind::Server,
        is_segment: true,
        is_inferred: false,
        origin: Arc::from(""),
        start: at(start),
        duration_ms,
        connect_ms: None,
        queue_ms: None,
        peer: None,
        status: SpanStatus::Ok,
        http_status: None,
        error: Arc::from(""),
        attributes: Arc::from("{}"),
    }
}

fn summary(id: &str, start: i64, duration_ms: f64) -> TraceSummary {
    TraceSummary {
        input: InputIx(0),
        trace_id: Arc::from(id),
        start: at(start),
        response_ms: None,
        duration_ms: Some(duration_ms),
        status: SpanStatus::Ok,
        entry: Arc::from("cart"),
        services: Vec::new(),
        http_method: Arc::from(""),
        http_url: Arc::from(""),
        http_status: None,
        connect_ms: None,
        connect_service: None,
        is_partial: false,
    }
}

fn request(line: u64, end: i64) -> Request {
    Request {
        input: InputIx(0),
        line,
        t: at(end),
        t_resolution_nanos: 1_000_000,
        service: Arc::from("proxy"),
        instance: Arc::from(""),
        method: Arc::from("GET"),
        path: Arc::from("/"),
        status: Some(200),
        is_failed: None,
        duration_ms: Some(5_000.0),
        attempts: Vec::new(),
        upstream: Arc::from(""),
        bytes: None,
        client: Arc::from(""),
        request_id: Arc::from(""),
        trace_id: Arc::from(""),
    }
}

fn event(title: &str, start: i64, end: Option<i64>) -> Event {
    Event {
        input: InputIx(0),
        locator: Arc::from("line 1"),
        t: at(start),
        end: end.map(at),
        kind: Arc::from("deploy"),
        title: Arc::from(title),
        text: Arc::from(""),
        source: Arc::from(""),
        attributes: Arc::from("{}"),
    }
}

fn edge(caller: &str, end: Option<i64>) -> CallEdge {
    CallEdge {
        input: InputIx(0),
        caller: Arc::from(caller),
        callee: Arc::from("db"),
        start: end.map(|_| at(0)),
        end: end.map(at),
        total: 3,
        faults: 0,
        errors: 0,
        caller_histogram: Vec::new(),
        callee_histogram: Vec::new(),
    }
}

fn profile(process: &str, t: Option<i64>) -> Profile {
    Profile {
        input: InputIx(0),
        t: t.map(at),
        t_source: "name",
        kind: Arc::from("goroutine"),
        unit: Arc::from("count"),
        total: 7.0,
        process: Arc::from(process),
        has_states: false,
        groups: Vec::new(),
    }
}

fn target(url: &str, asked: Option<i64>) -> TargetStatus {
    TargetStatus {
        input: InputIx(0),
        locator: Arc::from("$"),
        at: asked.map(at),
        labels: Labels::default(),
        pool: Arc::from("node"),
        url: Arc::from(url),
        health: Arc::from("up"),
        last_error: Arc::from(""),
        last_scrape: None,
        last_duration_ms: None,
        interval_nanos: None,
        timeout_nanos: None,
    }
}

fn samples(from: i64, to: i64) -> Vec<(f64, f64)> {
    (from..=to).map(|t| (t as f64, t as f64)).collect()
}

fn titles(snapshot: &Snapshot) -> Vec<(&str, Option<Timestamp>)> {
    let events = snapshot.events.iter();
    events.map(|e| (e.title.as_ref(), e.end)).collect()
}

#[test]
fn samples_come_one_by_one_and_a_series_with_its_first() {
    let mut early = raw("up", &[("job", "a")], &samples(0, 100));
    early.exemplars = vec![
        Exemplar {
            t: at(10),
            value: 1.0,
            labels: Labels::default(),
        },
        Exemplar {
            t: at(90),
            value: 2.0,
            labels: Labels::default(),
        },
    ];
    let late = raw("late", &[("job", "secret")], &samples(60, 100));
    let mut native = raw("native", &[], &[]);
    native.histograms = [10, 80]
        .map(|t| HistogramPoint {
            t: at(t),
            count: 1.0,
            sum: 1.0,
            buckets: Vec::new(),
        })
        .to_vec();
    let empty = raw("empty", &[], &[]);
    let whole = snapshot_from(Batch {
        series: vec![early, late, native, empty],
        ..Batch::default()
    });
    let known = whole.until(at(50));
    let names: Vec<&str> = known.series.iter().map(|s| s.metric.as_ref()).collect();
    assert_eq!(names, ["empty", "native", "up"]);
    let up = known.raw("up").next().unwrap().1;
    assert_eq!(up.t.last(), Some(&at(50).nanos()));
    assert_eq!((up.t.len(), up.v.len()), (51, 51));
    assert_eq!(up.exemplars.len(), 1);
    assert_eq!(known.raw("native").next().unwrap().1.histograms.len(), 1);
    assert!(known.metric("late").is_empty());
    assert!(
        up.sources
            .iter()
            .all(|s| s.range.end <= at(50).plus_nanos(1))
    );
    assert!(known.extent.unwrap().end <= at(50).plus_nanos(1));
    // What is derived is derived of what is known.
    assert!(whole.graph.get("job:secret").is_some());
    assert!(known.graph.get("job:secret").is_none());
    assert_eq!(known.series_roles.len(), 3);
    assert_eq!(known.series_entities.len(), 3);
}

#[test]
fn a_span_comes_when_it_ended_and_one_that_never_ended_with_its_begin() {
    let whole = snapshot_from(Batch {
        spans: vec![
            span(1, 10, Some(5_000.0)),
            span(2, 10, Some(60_000.0)),
            span(3, 40, None),
            span(4, 60, None),
        ],
        summaries: vec![
            summary("a", 10, 5_000.0),
            summary("b", 10, 90_000.0),
            summary("c", 60, 1.0),
        ],
        ..Batch::default()
    });
    let known = whole.until(at(50));
    let ids: Vec<u64> = known.spans.iter().map(|s| s.span_id.0).collect();
    assert_eq!(ids, [1, 3]);
    let ids: Vec<&str> = known
        .summaries
        .iter()
        .map(|s| s.trace_id.as_ref())
        .collect();
    assert_eq!(ids, ["a"]);
    let ids: Vec<u64> = whole
        .until(at(70))
        .spans
        .iter()
        .map(|s| s.span_id.0)
        .collect();
    assert_eq!(ids, [1, 2, 3, 4]);
}

#[test]
fn a_request_comes_when_its_line_was_written() {
    let whole = snapshot_from(Batch {
        requests: vec![request(1, 50), request(2, 51)],
        ..Batch::default()
    });
    let lines: Vec<u64> = whole
        .until(at(50))
        .requests
        .iter()
        .map(|r| r.line)
        .collect();
    assert_eq!(lines, [1]);
}

#[test]
fn an_event_comes_with_its_begin_and_has_an_end_only_later() {
    let whole = snapshot_from(Batch {
        events: vec![
            event("over", 10, Some(20)),
            event("open", 30, Some(70)),
            event("later", 60, None),
        ],
        ..Batch::default()
    });
    let known = whole.until(at(50));
    assert_eq!(titles(&known), [("over", Some(at(20))), ("open", None)]);
    let known = whole.until(at(70));
    assert_eq!(known.events.len(), 3);
    assert_eq!(known.events[1].end, Some(at(70)));
}

#[test]
fn what_does_not_say_when_it_was_taken_comes_with_the_end() {
    let whole = snapshot_from(Batch {
        series: vec![raw("up", &[], &samples(0, 100))],
        edges: vec![edge("a", Some(40)), edge("b", Some(90)), edge("c", None)],
        profiles: vec![
            profile("p", Some(40)),
            profile("q", Some(90)),
            profile("r", None),
        ],
        targets: vec![
            target("a", Some(40)),
            target("b", Some(90)),
            target("c", None),
        ],
        ..Batch::default()
    });
    let known = whole.until(at(50));
    assert_eq!(known.edges.len(), 1);
    assert_eq!(&*known.profiles[0].process, "p");
    assert_eq!(known.profiles.len(), 1);
    assert_eq!(known.targets.len(), 1);
    let all = whole.until(at(100));
    assert_eq!(
        (all.edges.len(), all.profiles.len(), all.targets.len()),
        (3, 3, 3)
    );
}

#[test]
fn an_input_that_has_not_begun_is_not_named_and_rows_keep_theirs() {
    let input = |path: &str, start, end| Input {
        id: path.to_owned(),
        path: path.to_owned(),
        format: "test".to_owned(),
        sha256: String::new(),
        counts: Counts {
            events: 2,
            ..Counts::default()
        },
        start: Some(at(start)),
        end: Some(at(end)),
        warnings: Vec::new(),
    };
    let events = |titles: [(&str, i64); 2]| Batch {
        events: titles.map(|(title, t)| event(title, t, None)).to_vec(),
        facts: vec![ServerFact {
            input: InputIx(0),
            name: Arc::from("version"),
            value: Arc::from(titles[0].0),
        }],
        ..Batch::default()
    };
    let whole = build::build(vec![
        (input("a-later", 60, 90), events([("x", 60), ("y", 90)])),
        (input("b-early", 10, 80), events([("v", 10), ("w", 80)])),
    ]);
    let known = whole.until(at(50));
    let paths: Vec<&str> = known.inputs.iter().map(|i| i.path.as_str()).collect();
    assert_eq!(paths, ["b-early"]);
    assert_eq!(known.inputs[0].counts.events, 1);
    assert_eq!(known.inputs[0].end, Some(at(50)));
    assert_eq!(titles(&known), [("v", None)]);
    assert_eq!(known.input_id(known.events[0].input), "b-early");
    let facts: Vec<&str> = known.facts.iter().map(|f| f.value.as_ref()).collect();
    assert_eq!(facts, ["v"]);
    assert_eq!(known.input_id(known.facts[0].input), "b-early");
}

#[test]
fn before_the_begin_there_is_nothing() {
    let whole = snapshot_from(Batch {
        series: vec![raw("up", &[], &samples(10, 20))],
        spans: vec![span(1, 10, Some(1.0))],
        ..Batch::default()
    });
    let known = whole.until(at(9));
    assert!(known.series.is_empty() && known.spans.is_empty() && known.extent.is_none());
}
