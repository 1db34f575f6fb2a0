use std::sync::Arc;

use super::*;
use crate::detect::changepoint::tests::noise;
use crate::detect::testing::{check, findings, raw, snapshot_from};
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::request::Request;
use crate::model::series::Series;

/// A counter that grows by `rate(i)` each second, scraped every five; scrapes for which `keep` is false are missing.
fn counter(path: &str, rate: impl Fn(usize) -> f64, keep: impl Fn(usize) -> bool) -> Series {
    let mut total = 0.0;
    let samples: Vec<(f64, f64)> = noise(120, 21)
        .iter()
        .enumerate()
        .map(|(i, e)| {
            total += (rate(i) * 5.0 + e * 5.0).round().max(0.0);
            (5.0 * i as f64, total)
        })
        .enumerate()
        .filter(|(i, _)| keep(*i))
        .map(|(_, s)| s)
        .collect();
    raw(
        "http_requests_total",
        &[("instance", "a:1"), ("code", path)],
        &samples,
    )
}

fn snapshot(series: Vec<Series>) -> Snapshot {
    snapshot_from(Batch {
        series,
        ..Batch::default()
    })
}

fn half(i: usize) -> f64 {
    if (60..90).contains(&i) { 40.0 } else { 100.0 }
}

#[test]
fn a_fall_of_the_sum_is_one_drop_with_its_end() {
    let all = |_| true;
    let found = findings(
        &ThroughputDrop,
        &snapshot(vec![counter("200", half, all), counter("204", half, all)]),
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    let drop = &found[0];
    assert!((drop.number("before").unwrap() - 200.0).abs() < 5.0);
    assert!((drop.number("after").unwrap() - 80.0).abs() < 5.0);
    assert!((drop.number("ratio").unwrap() - 0.4).abs() < 0.05);
    assert!((drop.onset.secs_f64() - 295.0).abs() <= 5.0);
    assert!((drop.end.unwrap().secs_f64() - 445.0).abs() <= 5.0);
}

#[test]
fn a_gap_a_vanished_series_and_a_rise_are_clear() {
    let steady = |_| 100.0;
    let gap = snapshot(vec![counter("200", steady, |i| !(60..90).contains(&i))]);
    assert_eq!(check(&ThroughputDrop, &gap), Verdict::Clear);
    let ends = snapshot(vec![
        counter("200", steady, |_| true),
        counter("204", steady, |i| !(60..64).contains(&i)),
    ]);
    assert_eq!(check(&ThroughputDrop, &ends), Verdict::Clear);
    let rise = snapshot(vec![counter(
        "200",
        |i| if i < 60 { 50.0 } else { 100.0 },
        |_| true,
    )]);
    assert_eq!(check(&ThroughputDrop, &rise), Verdict::Clear);
}

#[test]
fn nothing_that_counts_requests_is_not_enough() {
    assert!(matches!(
        check(
            &ThroughputDrop,
            &snapshot(vec![raw("x", &[], &[(0.0, 1.0)])])
        ),
        Verdict::NotEnough(_)
    ));
}

fn request(t_ms: i64) -> Request {
    let empty = || Arc::from("");
    Request {
        input: InputIx(0),
        line: 1,
        t: Timestamp::from_millis(t_ms).unwrap(),
        t_resolution_nanos: 1_000_000,
        is_failed: None,
        service: Arc::from("web"),
        instance: empty(),
        method: empty(),
        path: empty(),
        status: Some(200),
        duration_ms: None,
        attempts: Vec::new(),
        upstream: empty(),
        bytes: None,
        client: empty(),
        request_id: empty(),
        trace_id: empty(),
    }
}

#[test]
fn an_access_log_falls_by_service() {
    // 20 requests a second for 5 minutes, then 6, both with some unevenness.
    let mut requests = Vec::new();
    let mut t = 0;
    let mut step = 0;
    while t < 600_000 {
        t += if t < 300_000 { 45 } else { 160 } + (step * 7) % 11;
        step += 1;
        requests.push(request(t));
    }
    let found = findings(
        &ThroughputDrop,
        &snapshot_from(Batch {
            requests,
            ..Batch::default()
        }),
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].entities, ["service:web"]);
    assert!((found[0].onset.secs_f64() - 300.0).abs() <= 4.0);
    assert_eq!(found[0].end, None);
}
