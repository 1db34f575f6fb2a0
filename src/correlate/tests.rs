//! What wins, what must not, and what is said when nothing does.

use std::sync::Arc;

use super::*;
use crate::base::time::{NANOS_PER_SEC, TimeRange};
use crate::model::batch::Batch;
use crate::model::input::{Counts, Input, InputIx};
use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series, SeriesSource};
use crate::store::Snapshot;
use crate::store::build::build;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * NANOS_PER_SEC)
}

fn window() -> TimeRange {
    TimeRange::new(at(0), at(600))
}

fn series(metric: &str, labels: &[(&str, &str)], value: impl Fn(i64) -> f64) -> Series {
    let mut series = Series::new(Arc::from(metric), Labels::of(labels), Sampling::Raw);
    series.t = (0..120).map(|k| k * 5 * NANOS_PER_SEC).collect();
    series.v = (0..120).map(|k| value(k * 5)).collect();
    series.sources.push(SeriesSource {
        input: InputIx(0),
        locator: Arc::from("$"),
        range: TimeRange::ALL,
    });
    series
}

fn snapshot(series: Vec<Series>) -> Snapshot {
    let input = Input {
        id: "in".to_owned(),
        path: "x".to_owned(),
        format: "test".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    build(vec![(
        input,
        Batch {
            series,
            ..Batch::default()
        },
    )])
}

fn finding(kind: FindingKind, entity: &str, from: i64, to: Option<i64>) -> Finding {
    let mut finding = Finding::new(kind, entity, at(from), to.map(at));
    finding.entities.push(entity.to_owned());
    finding.severity = Severity::Major;
    finding.confidence = 0.9;
    finding.title = format!("{} of {entity}", kind.word());
    finding
}

fn gap(entity: &str, cause: &str, from: i64, to: Option<i64>) -> Finding {
    let mut gap = finding(FindingKind::ScrapeGap, entity, from, to);
    gap.cause = Some(cause.to_owned());
    gap
}

fn change(title: &str, secs: i64) -> Finding {
    let mut change = finding(FindingKind::Change, title, secs, None).with("what", title);
    change.severity = Severity::Info;
    change.entities.clear();
    change
}

fn up(instance: &str, down_from: i64) -> Series {
    series("up", &[("instance", instance), ("job", "web")], |t| {
        if t >= down_from { 0.0 } else { 1.0 }
    })
}

fn run(snapshot: &Snapshot, findings: &[Finding]) -> Vec<Hypothesis> {
    let context = Context {
        snapshot,
        window: window(),
    };
    let (_, not_enough) = crate::detect::run(&context);
    hypotheses(&context, findings, &not_enough)
}

#[test]
fn a_lock_in_the_metrics_library_explains_the_gap_and_the_leak() {
    let snapshot = snapshot(vec![up("a:1", 300)]);
    let lock = finding(FindingKind::LockContention, "instance:a:1", 400, Some(401))
        .with("site", "client/prometheus.(*summary).Observe")
        .with("waiting", 4213)
        .with("total", 4309)
        .with("share", 0.978);
    let leak = finding(FindingKind::Leak, "instance:a:1", 295, None).with("resource", "memory");
    let findings = [
        gap("instance:a:1", "scrape_timeout", 300, None),
        lock,
        leak,
        change("campaign", 296),
        change("deploy", 200),
    ];
    let found = run(&snapshot, &findings);
    assert_eq!(found[0].signature, "metrics-lock-starves-scrape");
    assert!(found[0].score > 0.8, "{}", found[0].score);
    assert_eq!(found[0].explains.len(), 3);
    let role = |title: &str| {
        found[0]
            .changes
            .iter()
            .find(|c| c.title == title)
            .map(|c| c.role)
    };
    assert_eq!(
        role("campaign"),
        Some(crate::model::hypothesis::Role::Trigger)
    );
    assert_eq!(
        role("deploy"),
        Some(crate::model::hypothesis::Role::Coincident)
    );
}

#[test]
fn without_the_dump_the_gap_has_no_likely_cause_and_the_dump_is_asked_for() {
    let snapshot = snapshot(vec![up("a:1", 300)]);
    let found = run(
        &snapshot,
        &[gap("instance:a:1", "scrape_timeout", 300, None)],
    );
    assert_eq!(found[0].signature, "metrics-endpoint-hangs");
    assert!(
        found[0].missing.iter().any(|m| m.contains("dump")),
        "{:?}",
        found[0].missing
    );
}

#[test]
fn a_lock_of_another_process_does_not_explain_it() {
    let snapshot = snapshot(vec![
        up("a:1", 300),
        series("up", &[("instance", "b:1"), ("job", "other")], |_| 1.0),
    ]);
    let lock = finding(FindingKind::LockContention, "instance:b:1", 400, Some(401))
        .with("site", "prometheus.(*summary).Observe");
    let found = run(
        &snapshot,
        &[gap("instance:a:1", "scrape_timeout", 300, None), lock],
    );
    assert!(
        found
            .iter()
            .all(|h| h.signature != "metrics-lock-starves-scrape")
    );
}

fn outliers() -> Finding {
    let mut outliers = finding(FindingKind::ConnectOutliers, "service:gw", 200, Some(400))
        .with("count", 27)
        .with("total", 6524)
        .with("share", 0.0041)
        .with("rungs", serde_json::json!({"1s": 23, "3s": 4}));
    outliers.cause = Some("syn_retransmit".to_owned());
    outliers
}

#[test]
fn counters_that_rise_in_step_are_support_and_absent_ones_are_missing() {
    let rising = |metric: &str| {
        series(metric, &[("instance", "node:9100")], |t| {
            ((t - 200).clamp(0, 200) / 10) as f64
        })
    };
    let with = run(
        &snapshot(vec![
            rising("node_nf_conntrack_stat_insert_failed"),
            rising("node_netstat_TcpExt_TCPSynRetrans"),
        ]),
        &[outliers()],
    );
    assert_eq!(with[0].signature, "syn-drop-connect-ladder");
    assert!(
        with[0]
            .support
            .iter()
            .any(|s| s.text.contains("insert_failed") && !s.evidence.is_empty())
    );
    assert!(
        with[0]
            .support
            .iter()
            .any(|s| s.text.contains("TCPSynRetrans"))
    );
    assert!(
        with[0].title.contains("insertion race"),
        "{}",
        with[0].title
    );
    let without = run(&snapshot(Vec::new()), &[outliers()]);
    assert!(
        without[0]
            .missing
            .iter()
            .any(|m| m.contains("insert_failed"))
    );
    assert!(
        without[0]
            .missing
            .iter()
            .any(|m| m.contains("TCPSynRetrans"))
    );
    assert!(with[0].score > without[0].score);
}

#[test]
fn a_counter_that_does_not_rise_speaks_against() {
    let flat = series(
        "node_nf_conntrack_stat_insert_failed",
        &[("instance", "node:9100")],
        |_| 7.0,
    );
    let found = run(&snapshot(vec![flat]), &[outliers()]);
    assert!(
        found[0]
            .against
            .iter()
            .any(|a| a.text.contains("insert_failed")),
        "{:?}",
        found[0].against
    );
}

#[test]
fn one_shift_among_many_is_not_blamed_on_a_change_near_it() {
    let findings: Vec<Finding> = (0..12)
        .map(|k| {
            finding(
                FindingKind::LevelShift,
                &format!("instance:i{k}:1"),
                20 + k * 47,
                None,
            )
        })
        .chain([change("harmless deploy", 110)])
        .collect();
    let found = run(&snapshot(Vec::new()), &findings);
    assert!(
        found.iter().all(|h| h.score < ENOUGH),
        "{:?}",
        found
            .iter()
            .map(|h| (&h.title, h.score))
            .collect::<Vec<_>>()
    );
}

#[test]
fn what_all_begins_with_a_change_is_its_doing() {
    let findings: Vec<Finding> = (0..6)
        .map(|k| {
            finding(
                FindingKind::LevelShift,
                &format!("instance:i{k}:1"),
                301 + k,
                None,
            )
        })
        .chain([change("flag switched on", 300)])
        .collect();
    let found = run(&snapshot(Vec::new()), &findings);
    assert_eq!(found[0].signature, "change-then-shift");
    assert!(found[0].score >= ENOUGH, "{}", found[0].score);
}

#[test]
fn nothing_found_means_nothing_blamed() {
    assert!(run(&snapshot(Vec::new()), &[change("deploy", 100)]).is_empty());
}

fn target_died(entity: &str) -> Vec<Finding> {
    let mut gone = gap(entity, "connection_refused", 300, Some(400));
    gone.entities.push("job:web".to_owned());
    let mut slow = gap("instance:b:1", "scrape_timeout", 305, Some(390));
    slow.entities.push("job:web".to_owned());
    vec![gone, slow]
}

#[test]
fn a_target_that_died_does_not_explain_another_of_its_job() {
    let snapshot = snapshot(vec![up("a:1", 300), up("b:1", 305)]);
    let findings = target_died("instance:a:1");
    let found = run(&snapshot, &findings);
    let died = found.iter().find(|h| h.signature == "target-died").unwrap();
    assert_eq!(died.explains, [findings[0].id.clone()], "{died:#?}");
}

#[test]
fn what_ended_before_a_cause_began_is_not_its_doing() {
    let snapshot = snapshot(vec![up("a:1", 300), up("b:1", 305)]);
    let mut findings = target_died("instance:a:1");
    findings.push(finding(FindingKind::Spike, "instance:a:1", 380, Some(405)));
    findings.push(gap("instance:p:1", "prometheus_restarted", 410, Some(440)));
    let found = run(&snapshot, &findings);
    let itself = found
        .iter()
        .find(|h| h.signature == "prometheus-itself")
        .unwrap();
    assert_eq!(itself.explains, [findings[3].id.clone()], "{itself:#?}");
    assert!(itself.against.is_empty(), "{itself:#?}");
}

#[test]
fn a_shift_of_what_names_nobody_is_not_claimed() {
    let snapshot = snapshot(vec![up("a:1", 300)]);
    let mut decoy = finding(FindingKind::LevelShift, "x", 301, None);
    decoy.entities.clear();
    let findings = [
        gap("instance:a:1", "connection_refused", 300, None),
        finding(FindingKind::LevelShift, "instance:a:1", 302, None),
        decoy,
    ];
    let found = run(&snapshot, &findings);
    assert_eq!(found[0].signature, "target-died");
    assert!(found[0].explains.contains(&findings[1].id));
    assert!(!found[0].explains.contains(&findings[2].id));
}

#[test]
fn the_doing_of_the_thing_itself_is_named_first() {
    let snapshot = snapshot(vec![up("a:1", 300), up("b:1", 900)]);
    let lock = finding(FindingKind::LockContention, "instance:a:1", 400, Some(401))
        .with("site", "prometheus.(*summary).Observe");
    let mut neighbour = finding(FindingKind::Leak, "instance:b:1", 296, None);
    neighbour.entities.push("job:web".to_owned());
    neighbour.confidence = 0.95;
    let mut own = finding(FindingKind::Leak, "instance:a:1", 297, None);
    own.confidence = 0.8;
    let findings = [
        gap("instance:a:1", "scrape_timeout", 300, None),
        lock,
        own,
        neighbour,
    ];
    let found = run(&snapshot, &findings);
    let support = &found[0].support[0];
    assert_eq!(support.finding.as_deref(), Some(findings[2].id.as_str()));
}

#[test]
fn another_instance_of_the_same_job_is_not_the_same_thing() {
    let snapshot = snapshot(vec![
        up("a:1", 300),
        series("up", &[("instance", "b:1"), ("job", "web")], |_| 1.0),
    ]);
    let mut gap = gap("instance:a:1", "scrape_timeout", 300, None);
    gap.entities.push("job:web".to_owned());
    let mut lock = finding(FindingKind::LockContention, "instance:b:1", 400, Some(401))
        .with("site", "prometheus.(*summary).Observe");
    lock.entities.push("job:web".to_owned());
    let found = run(&snapshot, &[gap, lock]);
    assert!(
        found
            .iter()
            .all(|h| h.signature != "metrics-lock-starves-scrape")
    );
}

#[test]
fn a_counter_that_nothing_can_be_compared_with_speaks_neither_for_nor_against() {
    let steady = series(
        "node_nf_conntrack_stat_insert_failed",
        &[("instance", "node:9100")],
        |t| (t / 10) as f64,
    );
    let mut always = outliers();
    (always.start, always.onset, always.end) = (at(0), at(0), None);
    let found = run(&snapshot(vec![steady]), &[always]);
    let names = |text: &str| text.contains("insert_failed");
    assert!(!found[0].against.iter().any(|a| names(&a.text)));
    assert!(!found[0].support.iter().any(|s| names(&s.text)));
    assert!(
        found[0]
            .missing
            .iter()
            .any(|m| names(m) && m.contains("without the trouble")),
        "{:?}",
        found[0].missing
    );
}

#[test]
fn one_burst_of_a_counter_is_one_event() {
    let burst = series(
        "node_nf_conntrack_stat_insert_failed",
        &[("instance", "node:9100")],
        |t| if t >= 300 { 1_000.0 } else { 0.0 },
    );
    let found = run(&snapshot(vec![burst]), &[outliers()]);
    assert!(
        !found[0]
            .support
            .iter()
            .any(|s| s.text.contains("insert_failed")),
        "{:?}",
        found[0].support
    );
}

#[test]
fn many_changes_and_findings_are_ranked_all_the_same() {
    let findings: Vec<Finding> = (0..1_500)
        .map(|k| change(&format!("deploy {k}"), k % 600))
        .chain((0..300).map(|k| {
            let entity = format!("instance:i{k}:1");
            finding(FindingKind::LevelShift, &entity, (k * 7) % 600, None)
        }))
        .collect();
    assert!(run(&snapshot(Vec::new()), &findings).len() <= AT_MOST);
}
