//! The detector against the recorded cases, and small ones by hand.

use super::*;
use crate::base::testing::shared_data;
use crate::base::time::Timestamp;
use crate::detect::change::Change;
use crate::detect::counter_reset::CounterReset;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;
use crate::model::finding::Severity;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::prometheus::TargetStatus;
use crate::model::series::{STALE_NAN_BITS, Sampling, Series};
use crate::store::Snapshot;

const SUBJECT: &[(&str, &str)] = &[("instance", "a:1"), ("job", "app")];
const CONTROL: &[(&str, &str)] = &[("instance", "b:1"), ("job", "app")];

fn secs(t: Timestamp) -> f64 {
    t.secs_f64()
}

/// One case of `prom-cases` against its truth: for every gap in it one finding with a right cause and right edges, and
/// nothing else. A fault that only some scrapes show (case 14) is found from the first failed scrape on, as the contract
/// says, so there the beginning lies inside the fault.
fn case_is_right(name: &str, case: &std::path::Path) -> Result<(), String> {
    let truth = crate::base::fs::read(&case.join("truth.json")).map_err(|e| e.to_string())?;
    let truth: serde_json::Value = serde_json::from_slice(&truth).map_err(|e| e.to_string())?;
    let snapshot = snapshot_of(&case.join("input"));
    let gaps = findings(&ScrapeGap, &snapshot);
    let (wanted, tolerance) = (
        truth["gaps"].as_array().unwrap(),
        truth["edge_tolerance_s"].as_f64().unwrap(),
    );
    let said: Vec<String> = gaps
        .iter()
        .map(|f| format!("{:?} {} {:?} {}", f.cause, f.start, f.end, f.title))
        .collect();
    if gaps.len() != wanted.len() {
        return Err(format!(
            "{name}: {} gaps, not {}: {said:#?}",
            gaps.len(),
            wanted.len()
        ));
    }
    for (gap, want) in gaps.iter().zip(wanted) {
        let causes: Vec<&str> = want["causes"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|c| c.as_str())
            .collect();
        let cause = gap.cause.as_deref().unwrap_or("");
        let (start, end) = (want["start"].as_f64().unwrap(), want["end"].as_f64());
        let begins = if gap.number("missed") < gap.number("expected") {
            (start..end.unwrap()).contains(&secs(gap.start))
                && (secs(gap.onset) - start).abs() <= tolerance
        } else {
            (secs(gap.start) - start).abs() <= tolerance
        };
        let ends = match (gap.end, end) {
            (None, None) => true,
            (Some(found), Some(end)) => (secs(found) - end).abs() <= tolerance,
            _ => false,
        };
        if !causes.contains(&cause) || !begins || !ends {
            return Err(format!("{name}: want {want}, got {said:#?}"));
        }
        let scope = want["scope"].as_str().unwrap();
        let subject = snapshot
            .raw("up")
            .find(|(_, s)| s.labels.get("role") == Some("subject"))
            .unwrap()
            .1;
        let id = format!("instance:{}", subject.labels.get("instance").unwrap());
        let own = gap.entities.iter().filter(|e| e.starts_with("instance:"));
        let is_right = if scope == "all" {
            own.count() >= 3
        } else {
            own.eq([&id])
        };
        let says = |part: &str| gap.detail.contains(part);
        let is_said = match scope {
            "subject path=/search" => says("path=\"/search\""),
            "subject app_*" => says("app_requests_total") && !says("process_start_time_seconds"),
            _ => true,
        };
        if !is_right || !is_said {
            return Err(format!(
                "{name}: scope {scope} is not {:?}: {}",
                gap.entities, gap.detail
            ));
        }
    }
    others_are_right(name, &snapshot, &truth["other"], tolerance)
}

fn others_are_right(
    name: &str,
    snapshot: &Snapshot,
    wanted: &serde_json::Value,
    tolerance: f64,
) -> Result<(), String> {
    let mut found = findings(&CounterReset, snapshot);
    found.extend(findings(&Change, snapshot));
    for want in wanted.as_array().unwrap() {
        let kind = want["kind"].as_str().unwrap();
        let start = want["start"].as_f64().unwrap();
        let is_there = found
            .iter()
            .any(|f| f.kind.word() == kind && (secs(f.start) - start).abs() <= tolerance);
        if !is_there && matches!(kind, "counter_reset" | "change") {
            return Err(format!("{name}: no {kind} at {start}: {found:#?}"));
        }
    }
    let is_interleaved = name.starts_with("27");
    if is_interleaved && found.iter().any(|f| f.kind == FindingKind::CounterReset) {
        return Err(format!("{name}: interleaved samples are no resets"));
    }
    Ok(())
}

#[test]
fn every_recorded_case_gets_its_class() {
    let Some(root) = shared_data("prom-cases") else {
        return;
    };
    let mut cases: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .flatten()
        .map(|e| e.path())
        .collect();
    cases.sort();
    let wrong: Vec<String> = cases
        .iter()
        .filter(|c| c.join("truth.json").exists())
        .filter_map(|c| case_is_right(&c.file_name().unwrap().to_string_lossy(), c).err())
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn victoria_metrics_has_the_same_picture() {
    let Some(case) = shared_data("prom-cases/vm-01-multi/input") else {
        return;
    };
    let found = findings(&ScrapeGap, &snapshot_of(&case));
    let of = |port: &str| -> Vec<&str> {
        let id = format!("instance:127.0.0.1:{port}");
        let own = found
            .iter()
            .filter(|f| f.entities.contains(&id) && !f.values.contains_key("targets"));
        own.filter_map(|f| f.cause.as_deref()).collect()
    };
    assert_eq!(of("23101"), [""; 0], "the control has no gap of its own");
    assert_eq!(of("23102"), ["scrape_timeout"]);
    assert_eq!(of("23103"), ["target_restarted"]);
    assert_eq!(of("23104"), ["series_vanished"]);
    assert_eq!(of("23105"), ["target_removed"]);
    assert_eq!(of("23106"), ["http_error"]);
    assert_eq!(of("23107"), ["connection_refused"]);
    let all: Vec<_> = found
        .iter()
        .filter(|f| f.values.contains_key("targets"))
        .collect();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].cause.as_deref(), Some("prometheus_restarted"));
    // Killed at 1796046159.868, and the last 7 s were lost; started again at 1796046179.879.
    assert!(
        (secs(all[0].start) - 1_796_046_153.4).abs() < 1.5,
        "{}",
        all[0].start
    );
    assert!((secs(all[0].end.unwrap()) - 1_796_046_180.4).abs() < 1.5);
}

#[test]
fn the_lock_incident_has_two_gaps_of_one_target() {
    let Some(case) = shared_data("incidents/ingress-metrics-lock/input") else {
        return;
    };
    let found = findings(&ScrapeGap, &snapshot_of(&case));
    assert_eq!(found.len(), 2, "{found:#?}");
    let at = |text: &str| secs(Timestamp::parse_rfc3339(text).unwrap());
    let near = |t: Timestamp, text: &str| (secs(t) - at(text)).abs() < 0.01;
    for gap in &found {
        assert_eq!(gap.cause.as_deref(), Some("scrape_timeout"));
        assert!(gap.entities[0].ends_with("x2k4v"), "{:?}", gap.entities);
        assert!(gap.detail.contains("went on working"), "{}", gap.detail);
        assert!(
            gap.detail.contains("scrape itself timed out"),
            "{}",
            gap.detail
        );
    }
    assert_eq!(found[0].number("missed"), Some(5.0));
    assert!(near(found[0].start, "2026-11-30T14:30:26.727Z"));
    assert!(near(found[0].end.unwrap(), "2026-11-30T14:30:51.727Z"));
    assert_eq!(found[1].number("missed"), Some(45.0));
    assert!(near(found[1].start, "2026-11-30T14:30:56.727Z"));
    assert_eq!(found[1].end, None);
    assert!(found[1].detail.contains("context deadline exceeded"));
}

/// A target by hand: for each second its `up` (or none), with a duration for each.
fn target(labels: &[(&str, &str)], scrapes: &[(f64, f64, f64)]) -> Vec<Series> {
    let pick = |f: fn(&(f64, f64, f64)) -> f64| -> Vec<(f64, f64)> {
        scrapes.iter().map(|s| (s.0, f(s))).collect()
    };
    let durations: Vec<(f64, f64)> = scrapes
        .iter()
        .filter(|s| s.2.is_finite())
        .map(|s| (s.0, s.2))
        .collect();
    vec![
        raw("up", labels, &pick(|s| s.1)),
        raw("scrape_duration_seconds", labels, &durations),
        raw("scrape_timeout_seconds", labels, &pick(|_| 0.5)),
    ]
}

fn good(n: u32) -> Vec<(f64, f64, f64)> {
    (0..n).map(|i| (f64::from(i), 1.0, 0.01)).collect()
}

fn batch(series: Vec<Vec<Series>>) -> Snapshot {
    snapshot_from(Batch {
        series: series.into_iter().flatten().collect(),
        ..Batch::default()
    })
}

fn causes(found: &[Finding]) -> Vec<(&str, f64)> {
    let one = |f: &Finding| f.number("missed").unwrap();
    found
        .iter()
        .map(|f| (f.cause.as_deref().unwrap(), one(f)))
        .collect()
}

#[test]
fn regular_scrapes_are_clear() {
    let snapshot = batch(vec![target(SUBJECT, &good(40)), target(CONTROL, &good(40))]);
    assert_eq!(check(&ScrapeGap, &snapshot), Verdict::Clear);
}

#[test]
fn without_up_it_is_not_enough() {
    let snapshot = batch(vec![vec![raw(
        "queue",
        SUBJECT,
        &[(0.0, 1.0), (1.0, 1.0), (30.0, 1.0)],
    )]]);
    let Verdict::NotEnough(reason) = check(&ScrapeGap, &snapshot) else {
        panic!("no `up` was there");
    };
    assert!(reason.contains("No `up` series"), "{reason}");
    assert!(matches!(
        check(&ScrapeGap, &Snapshot::default()),
        Verdict::NotEnough(_)
    ));
}

#[test]
fn evaluated_series_only_say_what_cannot_be_known() {
    let mut up = raw(
        "up",
        SUBJECT,
        &good(40).iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(),
    );
    up.sampling = Sampling::Grid {
        step_nanos: 1_000_000_000,
    };
    let Verdict::NotEnough(reason) = check(&ScrapeGap, &batch(vec![vec![up.clone()]])) else {
        panic!("an evaluated series cannot be clear");
    };
    assert!(reason.contains("Only query_range answers"), "{reason}");
    for ix in 10..15 {
        up.v[ix] = 0.0;
    }
    let found = findings(&ScrapeGap, &batch(vec![vec![up]]));
    assert_eq!(causes(&found), [("unknown", 5.0)]);
    assert!(found[0].detail.contains("Only query_range answers"));
}

/// `contract.md` §3: time-outs followed by two or more fast failures are two gaps; one fast failure is none of its own.
#[test]
fn a_run_is_split_where_its_cause_changes() {
    let run = |slow: u32, fast: u32| {
        let mut scrapes = good(40);
        for ix in 10..10 + slow + fast {
            let duration = if ix < 10 + slow { 0.5 } else { 0.001 };
            scrapes[ix as usize] = (f64::from(ix), 0.0, duration);
        }
        findings(
            &ScrapeGap,
            &batch(vec![target(SUBJECT, &scrapes), target(CONTROL, &good(40))]),
        )
    };
    assert_eq!(causes(&run(5, 0)), [("scrape_timeout", 5.0)]);
    assert_eq!(causes(&run(5, 1)), [("scrape_timeout", 6.0)]);
    let two = run(5, 3);
    assert_eq!(
        causes(&two),
        [("scrape_timeout", 5.0), ("scrape_failed", 3.0)]
    );
    assert_eq!(two[0].end, Some(two[1].start));
    assert!(two[1].detail.contains("look the same in stored samples"));
}

#[test]
fn one_fast_failure_before_a_new_process_is_a_gap_of_its_own() {
    let mut scrapes = good(40);
    for (ix, scrape) in scrapes.iter_mut().enumerate().skip(10).take(6) {
        *scrape = (ix as f64, 0.0, if ix < 15 { 0.5 } else { 0.001 });
    }
    let starts: Vec<(f64, f64)> = (0..40)
        .filter(|i| !(10..16).contains(i))
        .map(|i| (f64::from(i), if i < 10 { 5.0 } else { 15.5 }))
        .collect();
    let mut subject = target(SUBJECT, &scrapes);
    subject.push(raw("process_start_time_seconds", SUBJECT, &starts));
    let found = findings(
        &ScrapeGap,
        &batch(vec![subject, target(CONTROL, &good(40))]),
    );
    assert_eq!(
        causes(&found),
        [("scrape_timeout", 5.0), ("target_restarted", 1.0)]
    );
}

/// The errors of /targets speak for the gap in which their scrape lies, and for no other.
#[test]
fn a_last_error_counts_only_within_its_gap() {
    let status = |at: f64| TargetStatus {
        input: InputIx(0),
        locator: "$.data.activeTargets[0]".into(),
        at: None,
        labels: Labels::of(SUBJECT),
        pool: "app".into(),
        url: "http://a:1/metrics".into(),
        health: "down".into(),
        last_error: "server returned HTTP status 503 Service Unavailable".into(),
        last_scrape: Timestamp::from_secs_f64(at),
        last_duration_ms: None,
        interval_nanos: None,
        timeout_nanos: None,
    };
    let mut scrapes = good(60);
    for ix in (10..14).chain(40..44) {
        scrapes[ix] = (ix as f64, 0.0, 0.001);
    }
    let snapshot = snapshot_from(Batch {
        series: target(SUBJECT, &scrapes),
        targets: vec![status(41.0)],
        ..Batch::default()
    });
    assert_eq!(
        causes(&findings(&ScrapeGap, &snapshot)),
        [("scrape_failed", 4.0), ("http_error", 4.0)]
    );
}

#[test]
fn a_single_scrape_without_a_sample_is_an_isolated_miss() {
    let mut scrapes = good(40);
    scrapes.remove(20);
    let found = findings(
        &ScrapeGap,
        &batch(vec![target(SUBJECT, &scrapes), target(CONTROL, &good(40))]),
    );
    assert_eq!(causes(&found), [("isolated_miss", 1.0)]);
    assert_eq!(found[0].severity, Severity::Info);
    assert_eq!(found[0].start, Timestamp::from_nanos(20_000_000_000));
    assert_eq!(found[0].text("last_good"), Some("1970-01-01T00:00:19Z"));
}

#[test]
fn a_marker_on_up_means_that_the_target_was_removed() {
    let mut scrapes = good(40);
    scrapes.drain(20..30);
    let mut subject = target(SUBJECT, &scrapes);
    let marker = raw("up", SUBJECT, &[(20.0, f64::from_bits(STALE_NAN_BITS))]);
    subject.push(marker);
    let found = findings(
        &ScrapeGap,
        &batch(vec![subject, target(CONTROL, &good(40))]),
    );
    assert_eq!(causes(&found), [("target_removed", 10.0)]);
    assert!(found[0].confidence > 0.95);
}

#[test]
fn a_hole_of_all_targets_is_one_finding_and_no_guess() {
    let mut scrapes = good(60);
    scrapes.drain(20..40);
    let found = findings(
        &ScrapeGap,
        &batch(vec![target(SUBJECT, &scrapes), target(CONTROL, &scrapes)]),
    );
    assert_eq!(causes(&found), [("unknown", 40.0)]);
    assert_eq!(found[0].severity, Severity::Critical);
    assert!(
        found[0].detail.contains("would decide"),
        "{}",
        found[0].detail
    );
}

#[test]
fn never_reachable_is_said() {
    let scrapes: Vec<_> = (0..40).map(|i| (f64::from(i), 0.0, 0.5)).collect();
    let found = findings(
        &ScrapeGap,
        &batch(vec![target(SUBJECT, &scrapes), target(CONTROL, &good(40))]),
    );
    assert_eq!(causes(&found), [("scrape_timeout", 40.0)]);
    assert_eq!(found[0].values["last_good"], serde_json::Value::Null);
    assert_eq!(found[0].end, None);
    assert!(
        found[0]
            .detail
            .contains("never reached within the recording")
    );
}

#[test]
fn without_a_duration_a_failure_stays_unknown() {
    let mut scrapes = good(40);
    for (ix, scrape) in scrapes.iter_mut().enumerate().skip(10).take(5) {
        *scrape = (ix as f64, 0.0, f64::NAN);
    }
    let found = findings(&ScrapeGap, &batch(vec![target(SUBJECT, &scrapes)]));
    assert_eq!(causes(&found), [("unknown", 5.0)]);
    assert!(
        found[0]
            .detail
            .contains("scrape_duration_seconds would tell")
    );
}

#[test]
fn a_pod_that_another_one_replaces_is_a_change_and_no_gap() {
    let later: Vec<_> = (0..40).map(|i| (31.0 + f64::from(i), 1.0, 0.01)).collect();
    let heir = [("instance", "c:1"), ("job", "app")];
    let snapshot = batch(vec![
        target(SUBJECT, &good(30)),
        target(CONTROL, &good(71)),
        target(&heir, &later),
    ]);
    assert_eq!(check(&ScrapeGap, &snapshot), Verdict::Clear);
    let changes = findings(&Change, &snapshot);
    assert_eq!(changes.len(), 1, "{changes:#?}");
    assert_eq!(
        changes[0].text("what"),
        Some("app: a:1 was replaced by c:1")
    );
}

#[test]
fn a_series_that_came_back_lower_was_not_missing() {
    let labels = |path| [("instance", "a:1"), ("job", "app"), ("path", path)];
    let count = |skip: bool, lower: f64| -> Vec<(f64, f64)> {
        let all = (0..60).map(|i| {
            (
                f64::from(i),
                f64::from(i) + 100.0 - if i >= 40 { lower } else { 0.0 },
            )
        });
        all.filter(|(t, _)| !skip || !(20.0..40.0).contains(t))
            .collect()
    };
    let with = |lower: f64| {
        let mut subject = target(SUBJECT, &good(60));
        subject.push(raw("hits_total", &labels("/a"), &count(true, lower)));
        subject.push(raw("hits_total", &labels("/b"), &count(false, 0.0)));
        subject.push(raw(
            "scrape_samples_scraped",
            SUBJECT,
            &(0..60)
                .map(|i| (f64::from(i), if (20..40).contains(&i) { 1.0 } else { 2.0 }))
                .collect::<Vec<_>>(),
        ));
        findings(&ScrapeGap, &batch(vec![subject]))
    };
    assert_eq!(causes(&with(0.0)), [("series_vanished", 20.0)]);
    assert!(with(0.0)[0].detail.contains("path=\"/a\""));
    assert_eq!(causes(&with(130.0)), []);
}
