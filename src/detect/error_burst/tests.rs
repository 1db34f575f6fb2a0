use std::sync::Arc;

use super::*;
use crate::base::testing::shared_data;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::request::Request;
use crate::model::series::Series;

/// Counters of 100 requests a scrape, every 5 s; `failures(scrape)` of them fail. The counter of failures appears with
/// the first one, as those of client libraries do.
fn counters(instance: &str, scrapes: u32, failures: impl Fn(u32) -> f64) -> Vec<Series> {
    let (mut good, mut bad) = (vec![(0.0, 0.0)], Vec::new());
    let (mut total_good, mut total_bad) = (0.0, 0.0);
    for scrape in 1..scrapes {
        let t = f64::from(scrape) * 5.0;
        total_bad += failures(scrape);
        total_good += 100.0 - failures(scrape);
        good.push((t, total_good));
        if total_bad > 0.0 {
            bad.push((t, total_bad));
        }
    }
    let labels = |code| [("service", "shop"), ("instance", instance), ("code", code)];
    vec![
        raw("http_requests_total", &labels("200"), &good),
        raw("http_requests_total", &labels("503"), &bad),
    ]
}

fn snapshot(series: Vec<Series>) -> Snapshot {
    snapshot_from(Batch {
        series,
        ..Batch::default()
    })
}

#[test]
fn a_constant_share_of_failures_is_clear() {
    let constant = snapshot(counters("a:1", 100, |s| f64::from(s % 3)));
    assert_eq!(check(&ErrorBurst, &constant), Verdict::Clear);
    let none = snapshot(counters("a:1", 100, |_| 0.0));
    assert_eq!(check(&ErrorBurst, &none), Verdict::Clear);
}

#[test]
fn without_counts_of_failures_nothing_is_known() {
    assert!(matches!(
        check(&ErrorBurst, &snapshot(Vec::new())),
        Verdict::NotEnough(_)
    ));
    let no_status = raw(
        "http_requests_total",
        &[],
        &[(0.0, 0.0), (5.0, 100.0), (10.0, 200.0)],
    );
    assert!(matches!(
        check(&ErrorBurst, &snapshot(vec![no_status])),
        Verdict::NotEnough(_)
    ));
}

#[test]
fn a_burst_is_counted_from_its_first_failure() {
    let burst = |s: u32| if (40..50).contains(&s) { 20.0 } else { 0.0 };
    let found = findings(&ErrorBurst, &snapshot(counters("a:1", 100, burst)));
    assert_eq!(found.len(), 1, "{found:#?}");
    let burst = &found[0];
    assert_eq!(burst.number("count"), Some(200.0));
    assert_eq!(burst.number("share"), Some(0.2));
    assert_eq!(burst.number("rate"), Some(4.0));
    assert_eq!(burst.number("baseline_rate"), Some(0.0));
    assert_eq!(burst.start.nanos(), 195_000_000_000);
    assert_eq!(burst.end.map(Timestamp::nanos), Some(245_000_000_000));
    assert!(burst.entities.contains(&"service:shop".to_owned()));
    assert!(burst.detail.contains("503"), "{}", burst.detail);
}

#[test]
fn a_burst_above_a_background_is_found_and_one_that_lasts_is_open() {
    let late = |s: u32| if s >= 80 { 15.0 } else { f64::from(s % 2) };
    let found = findings(&ErrorBurst, &snapshot(counters("a:1", 100, late)));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].end, None);
    assert!((found[0].number("baseline_share").unwrap() - 0.005).abs() < 0.001);
}

#[test]
fn a_restart_is_no_burst() {
    let mut series = counters("a:1", 100, |s| f64::from(s % 3));
    for one in &mut series {
        let lost = one.v[50];
        one.v.iter_mut().skip(50).for_each(|v| *v -= lost);
    }
    assert_eq!(check(&ErrorBurst, &snapshot(series)), Verdict::Clear);
}

#[test]
fn failing_requests_of_a_log_are_told_by_their_upstream() {
    let requests = (0..2_000u32).map(|i| Request {
        input: InputIx(0),
        line: u64::from(i) + 1,
        t: Timestamp::from_nanos(i64::from(i) * 100_000_000),
        t_resolution_nanos: 1_000_000,
        is_failed: None,
        service: Arc::from("gateway"),
        instance: Arc::from("gateway-0"),
        method: Arc::from("GET"),
        path: Arc::from("/buy?x=1"),
        status: Some(if (1_000..1_100).contains(&i) && i % 2 == 0 {
            502
        } else {
            200
        }),
        duration_ms: None,
        attempts: Vec::new(),
        upstream: Arc::from("shop"),
        bytes: None,
        client: Arc::from(""),
        request_id: Arc::from(""),
        trace_id: Arc::from(""),
    });
    let batch = Batch {
        requests: requests.collect(),
        ..Batch::default()
    };
    let found = findings(&ErrorBurst, &snapshot_from(batch));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].number("count"), Some(50.0));
    assert!(
        found[0].title.contains("shop, as seen at gateway"),
        "{}",
        found[0].title
    );
    assert!(
        found[0].detail.contains("50 × 502 /buy"),
        "{}",
        found[0].detail
    );
    assert_eq!(found[0].evidence[0].locator, "line 1001");
}

#[test]
fn failures_alone_are_held_against_time() {
    let samples: Vec<(f64, f64)> = (0..100)
        .scan(0.0, |total, i| {
            *total += if (60..70).contains(&i) {
                9.0
            } else {
                f64::from(u8::from(i % 10 == 4))
            };
            Some((f64::from(i) * 5.0, *total))
        })
        .collect();
    let series = raw("send_failures_total", &[("service", "mail")], &samples);
    let found = findings(&ErrorBurst, &snapshot(vec![series]));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].number("count"), Some(90.0));
    assert!(found[0].detail.contains("Only failures were counted"));
    assert_eq!(found[0].number("share"), None);
}

#[test]
fn recordings_with_a_constant_share_have_no_burst() {
    for folder in ["prom-cases", "incidents"] {
        let Some(cases) = shared_data(folder) else {
            return;
        };
        for case in std::fs::read_dir(cases).unwrap().flatten() {
            let name = case.file_name().to_string_lossy().into_owned();
            if folder == "prom-cases" || name == "ingress-metrics-lock" {
                let snapshot = snapshot_of(&case.path().join("input"));
                assert_eq!(check(&ErrorBurst, &snapshot), Verdict::Clear, "{name}");
            }
        }
    }
}
