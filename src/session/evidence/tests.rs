use std::path::PathBuf;
use std::sync::Arc;

use super::*;
use crate::base::time::TimeRange;
use crate::model::event::Event;
use crate::model::input::{Counts, Input};
use crate::model::labels::Labels;
use crate::model::profile::{Profile, StackGroup, WaitClass};
use crate::model::prometheus::TargetStatus;
use crate::model::report::Report;
use crate::model::series::SeriesSource;
use crate::session::analysis::{Asked, Document};
use crate::session::intake::{self, Options};

fn incident(fixture: &str) -> Incident {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(fixture)
        .join("input");
    let intake = intake::read(&[path], &Options::default(), &mut std::io::empty());
    let document = Arc::new(Document::new(intake, Asked::default()));
    let report = Arc::new(document.report(None));
    Incident {
        document,
        report: Some(report),
        generation: 1,
        is_complete: true,
    }
}

/// Whether the place is the very thing that the words of the locator name.
fn is_the_thing(
    snapshot: &Snapshot,
    evidence: &Evidence,
    targets: &[Target],
) -> Result<(), String> {
    let locator = evidence.locator.as_str();
    let input_of = |ix: InputIx| snapshot.input_id(ix) == evidence.input;
    let first = targets.first().ok_or("nothing")?;
    match first {
        Target::Sample { series, t } => {
            let series = &snapshot.series[*series];
            let t = t.ok_or("no time in the target")?;
            if let Some(status) = snapshot
                .targets
                .iter()
                .find(|s| *s.locator == *locator && input_of(s.input))
            {
                // What a target said of itself is shown at its last scrape.
                let is_up = series.metric.as_ref() == "up"
                    && series.labels.get("instance") == status.labels.get("instance");
                let is_then = status.last_scrape.is_some_and(|at| t <= at);
                return (is_up && is_then)
                    .then_some(())
                    .ok_or_else(|| format!("{t}"));
            }
            let (what, at) = locator.rsplit_once(" @ ").ok_or("no time")?;
            let told = Timestamp::parse_rfc3339(at).ok_or("no time")?;
            let late = told.nanos_since(t);
            let is_then = (0..series.interval_nanos().unwrap_or(1)).contains(&late);
            if !what.ends_with(&series.selector()) || !is_then {
                return Err(format!("{} at {t}", series.selector()));
            }
            if !series.sources.iter().any(|s| input_of(s.input)) {
                return Err("another input".to_owned());
            }
            series
                .t
                .binary_search(&t.nanos())
                .map(|_| ())
                .map_err(|after| format!("no such sample, the next is {after}"))
        }
        Target::Span { .. } => {
            let ids: Vec<String> = targets
                .iter()
                .map(|target| match target {
                    Target::Span { span } => {
                        let span = &snapshot.spans[*span];
                        assert!(locator.contains(span.trace_id.as_ref()));
                        span.span_id.to_string()
                    }
                    other => format!("{other:?}"),
                })
                .collect();
            let named = locator.split(' ').skip(3).step_by(2);
            (ids.iter().map(String::as_str).eq(named))
                .then_some(())
                .ok_or_else(|| format!("{ids:?}"))
        }
        Target::Summary { summary } => {
            let id = &snapshot.summaries[*summary].trace_id;
            (locator == format!("trace {id}"))
                .then_some(())
                .ok_or_else(|| id.to_string())
        }
        Target::Request { request } => {
            let request = &snapshot.requests[*request];
            (input_of(request.input) && locator == format!("line {}", request.line))
                .then_some(())
                .ok_or_else(|| format!("line {}", request.line))
        }
        Target::Stack { profile, group } => {
            let profile = &snapshot.profiles[*profile];
            let line = group.map(|g| profile.groups[g].line);
            let is_it = match line {
                Some(line) => locator.ends_with(&format!(" {line}")),
                None => matches!(locator, "total" | "the whole file"),
            };
            (input_of(profile.input) && is_it)
                .then_some(())
                .ok_or_else(|| format!("{line:?}"))
        }
        Target::Event { event } => {
            let event = &snapshot.events[*event];
            (input_of(event.input) && locator == event.locator.as_ref())
                .then_some(())
                .ok_or_else(|| event.locator.to_string())
        }
        Target::Finding(_) | Target::Input { .. } | Target::Own { .. } => Err(format!("{first:?}")),
    }
}

fn every_evidence(report: &Report) -> Vec<&Evidence> {
    let findings = report.findings.iter().flat_map(|f| &f.evidence);
    let supports = report
        .hypotheses
        .iter()
        .flat_map(|h| &h.support)
        .flat_map(|s| &s.evidence);
    findings.chain(supports).collect()
}

#[test]
fn every_evidence_of_the_sample_incidents_leads_to_the_very_thing() {
    let mut kinds = std::collections::BTreeSet::new();
    for fixture in ["ingress-metrics-lock", "snat-connect-ladder"] {
        let incident = incident(fixture);
        let snapshot = incident.snapshot();
        let places = Places::of(snapshot);
        let report = incident.report.as_ref().unwrap();
        let all = every_evidence(report);
        assert!(all.len() > 20, "{fixture}: {}", all.len());
        for evidence in all {
            let targets = places.resolve(evidence);
            if let Err(got) = is_the_thing(snapshot, evidence, &targets) {
                panic!("{fixture}: {evidence:?} led to {got}");
            }
            let word = format!("{:?}", targets[0]);
            kinds.insert(word.split([' ', '(']).next().unwrap_or("").to_owned());
        }
        let links = Links::of(&incident);
        for hypothesis in &report.hypotheses {
            assert!(links.first(&incident, &hypothesis.id).is_some());
            for (at, change) in hypothesis.changes.iter().enumerate() {
                let link = links.change(&hypothesis.id, at).unwrap();
                assert!(matches!(link.target, Target::Event { .. }), "{link:?}");
                assert_eq!(incident.finding(&link.finding).unwrap().start, change.at);
            }
        }
    }
    let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
    assert_eq!(kinds, ["Event", "Request", "Sample", "Span", "Stack"]);
}

fn secs(s: i64) -> Timestamp {
    Timestamp::from_nanos(s * 1_000_000_000)
}

fn input(id: &str) -> Input {
    Input {
        id: id.to_owned(),
        path: id.to_owned(),
        format: "x".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    }
}

fn series(metric: &str, place: &str, sampling: Sampling) -> Series {
    let labels = Labels::of(&[("instance", "a b:1"), ("job", "x")]);
    let mut series = Series::new(Arc::from(metric), labels, sampling);
    series.t = vec![secs(1).nanos(), secs(2).nanos()];
    series.v = vec![1.0, 0.0];
    series.sources.push(SeriesSource {
        input: InputIx(0),
        locator: Arc::from(place),
        range: TimeRange::ALL,
    });
    series
}

fn snapshot() -> Snapshot {
    let mut batch = crate::model::batch::Batch {
        series: vec![
            series("up", "$.data.result[0]", Sampling::Raw),
            series("up", "line 7", Sampling::Grid { step_nanos: 1 }),
            series(
                "sum by (job) (rate(x[5m]))",
                "$.data.result[0]",
                Sampling::Raw,
            ),
        ],
        targets: vec![TargetStatus {
            input: InputIx(0),
            locator: Arc::from("$.data.activeTargets[1]"),
            at: Some(secs(2)),
            labels: Labels::of(&[("instance", "a b:1"), ("job", "x")]),
            pool: Arc::from("x"),
            url: Arc::from(""),
            health: Arc::from("down"),
            last_error: Arc::from("context deadline exceeded"),
            last_scrape: None,
            last_duration_ms: None,
            interval_nanos: None,
            timeout_nanos: None,
        }],
        ..Default::default()
    };
    batch.events.push(Event {
        input: InputIx(0),
        locator: Arc::from("$[3]"),
        t: secs(1),
        end: None,
        kind: Arc::from("deploy"),
        title: Arc::from("v2"),
        text: Arc::from(""),
        source: Arc::from(""),
        attributes: Arc::from("{}"),
    });
    let mut dump = crate::model::batch::Batch::default();
    dump.profiles.push(Profile {
        input: InputIx(0),
        t: None,
        t_source: "",
        kind: Arc::from("goroutine"),
        unit: Arc::from("count"),
        total: 3.0,
        process: Arc::from("p"),
        has_states: false,
        groups: vec![StackGroup {
            line: 12,
            value: 3.0,
            class: WaitClass::Lock,
            state: Arc::from(""),
            wait_s: None,
            frames: Default::default(),
            lock: None,
            lock_owner: None,
            pointers: Vec::new(),
            created_by: Arc::from(""),
            labels: Arc::from(""),
            first_id: None,
        }],
    });
    crate::store::build::build(vec![(input("in-a"), batch), (input("in-b"), dump)])
}

#[test]
fn each_form_of_locator_is_known_and_the_rest_leads_to_its_input() {
    let snapshot = snapshot();
    let places = Places::of(&snapshot);
    let go = |input: &str, locator: &str| {
        let evidence = Evidence {
            input: input.to_owned(),
            locator: locator.to_owned(),
            quote: String::new(),
        };
        places.resolve(&evidence)
    };
    let found = |locator: &str| match go("in-a", locator).as_slice() {
        [Target::Sample { series, t }] => {
            let series = &snapshot.series[*series];
            (series.metric.to_string(), series.sampling, *t)
        }
        other => panic!("{locator}: {other:?}"),
    };
    let selector = "up{instance=\"a b:1\",job=\"x\"}";
    let t = secs(2);
    let raw = ("up".to_owned(), Sampling::Raw, Some(t));
    assert_eq!(found(&format!("$.data.result[0] {selector} @ {t}")), raw);
    assert_eq!(found(&format!("{selector} @ {t}")), raw);
    let grid = Sampling::Grid { step_nanos: 1 };
    assert_eq!(found(&format!("line 7 {selector} @ {t}")).1, grid);
    let sum = "sum by (job) (rate(x[5m])){instance=\"a b:1\",job=\"x\"}";
    assert_eq!(
        found(&format!("$.data.result[0] {sum} @ {t}")).0,
        "sum by (job) (rate(x[5m]))"
    );
    assert_eq!(found("$.data.activeTargets[1]"), raw);
    assert_eq!(go("in-a", "$[3]"), [Target::Event { event: 0 }]);
    let stack = |group| Target::Stack { profile: 0, group };
    assert_eq!(go("in-b", "line 12"), [stack(Some(0))]);
    assert_eq!(go("in-b", "sample 12"), [stack(Some(0))]);
    assert_eq!(go("in-b", "the whole file"), [stack(None)]);
    for odd in [
        "",
        "edge a → b",
        "line x",
        "trace",
        "trace t",
        "$.x @ y",
        "line 99",
        " @ ",
    ] {
        assert_eq!(go("in-a", odd), [Target::Input { input: 0 }], "{odd:?}");
    }
    assert_eq!(go("in-?", "line 1"), []);
}
