use std::sync::Arc;

use super::*;
use crate::base::testing::shared_data;
use crate::base::time::Timestamp;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;
use crate::model::finding::Finding;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::request::{Attempt, Request};
use crate::model::series::{HistogramBucket, HistogramPoint, Sampling, Series};

const BOUNDS: [&str; 6] = ["0.1", "0.25", "0.5", "1", "2.5", "+Inf"];

/// Numbers in 0…1 that are the same in every run (MMIX by Knuth).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A classic histogram, scraped every 5 s with 50 observations each: `latency(scrape, random)` in seconds.
fn histogram(
    labels: &[(&str, &str)],
    scrapes: u32,
    mut latency: impl FnMut(u32, &mut Random) -> f64,
) -> Vec<Series> {
    let mut random = Random(7);
    let mut counts = [0.0; BOUNDS.len()];
    let mut sum = 0.0;
    let mut samples = vec![Vec::new(); BOUNDS.len() + 1];
    for scrape in 0..scrapes {
        let t = f64::from(scrape) * 5.0;
        for (column, value) in samples.iter_mut().zip(counts.iter().chain([&sum])) {
            column.push((t, *value));
        }
        for _ in 0..50 {
            let value = latency(scrape, &mut random);
            sum += value;
            for (count, le) in counts.iter_mut().zip(BOUNDS) {
                *count += f64::from(u8::from(value <= le.parse::<f64>().unwrap()));
            }
        }
    }
    let mut series: Vec<Series> = BOUNDS
        .iter()
        .zip(&samples)
        .map(|(le, samples)| {
            let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", *le)]).collect();
            raw("http_request_duration_seconds_bucket", &labels, samples)
        })
        .collect();
    let sums = samples.last().unwrap();
    series.push(raw("http_request_duration_seconds_sum", labels, sums));
    series
}

fn snapshot(series: Vec<Series>) -> Snapshot {
    snapshot_from(Batch {
        series,
        ..Batch::default()
    })
}

const SHOP: &[(&str, &str)] = &[("service", "shop"), ("instance", "a:1"), ("route", "/buy")];

fn usual(random: &mut Random) -> f64 {
    0.05 + 0.15 * random.next()
}

/// Slow for three in a hundred from scrape 40 to 60 of 100.
fn spiky(scrape: u32, random: &mut Random) -> f64 {
    if (40..60).contains(&scrape) && random.next() < 0.03 {
        2.0
    } else {
        usual(random)
    }
}

#[test]
fn a_steady_route_is_clear() {
    let all = snapshot(histogram(SHOP, 100, |_, random| usual(random)));
    assert_eq!(check(&LatencySpike, &all), Verdict::Clear);
}

#[test]
fn nothing_with_latencies_is_not_enough() {
    let Verdict::NotEnough(reason) = check(&LatencySpike, &snapshot(Vec::new())) else {
        panic!("a verdict without data");
    };
    assert!(reason.contains("no latencies"));
    let few = snapshot(histogram(SHOP, 1, |_, random| usual(random)));
    assert!(matches!(check(&LatencySpike, &few), Verdict::NotEnough(_)));
}

#[test]
fn a_tail_that_the_mean_hides_is_found_and_said() {
    let found = findings(&LatencySpike, &snapshot(histogram(SHOP, 100, spiky)));
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    assert_eq!(spike.number("quantile"), Some(0.99));
    // Scrape 40 is the first whose next pair can hold a slow one: 200 s to 205 s; the last ends at 300 s.
    assert!(
        (200.0..=215.0).contains(&spike.start.secs_f64()),
        "{}",
        spike.start
    );
    assert!((285.0..=300.0).contains(&spike.end.unwrap().secs_f64()));
    assert!(spike.number("baseline_ms").unwrap() < 250.0);
    assert!(spike.number("peak_ms").unwrap() > 1_000.0);
    assert!(spike.number("hidden_by_mean").unwrap() > 3.0);
    assert!(
        spike.title.starts_with("p99 of shop /buy rose"),
        "{}",
        spike.title
    );
    assert!(spike.detail.contains("mean"), "{}", spike.detail);
    assert!(spike.entities.contains(&"service:shop".to_owned()));
    assert!(!spike.evidence.is_empty());
}

#[test]
fn the_recording_need_not_begin_clean_and_may_end_in_the_spike() {
    let early = snapshot(histogram(SHOP, 100, |s, r| spiky(s + 40, r)));
    let found = findings(&LatencySpike, &early);
    assert_eq!(found.len(), 1);
    assert!(found[0].start.secs_f64() < 20.0);
    let late = snapshot(histogram(SHOP, 60, spiky));
    assert_eq!(findings(&LatencySpike, &late)[0].end, None);
}

#[test]
fn a_slow_route_and_a_new_route_are_no_spikes() {
    let export: &[(&str, &str)] = &[
        ("service", "shop"),
        ("instance", "a:1"),
        ("route", "/export"),
    ];
    let mut series = histogram(SHOP, 100, |_, random| usual(random));
    // The export needs a second or two whenever it is asked for, and is asked for from the middle on.
    for mut late in histogram(export, 60, |_, random| 0.9 + random.next()) {
        late.t.iter_mut().for_each(|t| *t += 200_000_000_000);
        series.push(late);
    }
    assert_eq!(check(&LatencySpike, &snapshot(series)), Verdict::Clear);
}

#[test]
fn a_missing_bucket_makes_no_phantom() {
    let mut series = histogram(SHOP, 100, |_, random| usual(random));
    // Half of the exposition is lost in scrapes 40 to 60: the buckets up to 0.25 s.
    for bucket in series.iter_mut().take(2) {
        let kept: Vec<(i64, f64)> = bucket.finite().collect();
        let kept = kept
            .into_iter()
            .enumerate()
            .filter(|(i, _)| !(40..60).contains(i));
        (bucket.t, bucket.v) = kept.map(|(_, sample)| sample).unzip();
    }
    assert_eq!(check(&LatencySpike, &snapshot(series)), Verdict::Clear);
}

#[test]
fn a_restart_makes_no_spike() {
    let mut series = histogram(SHOP, 100, |_, random| usual(random));
    for one in &mut series {
        let lost = one.v[50];
        one.v.iter_mut().skip(50).for_each(|v| *v -= lost);
    }
    assert_eq!(check(&LatencySpike, &snapshot(series)), Verdict::Clear);
}

#[test]
fn only_the_slow_instance_is_named() {
    let other: &[(&str, &str)] = &[("service", "shop"), ("instance", "b:1"), ("route", "/buy")];
    let mut series = histogram(SHOP, 100, spiky);
    series.extend(histogram(other, 100, |_, random| usual(random)));
    let found = findings(&LatencySpike, &snapshot(series));
    assert_eq!(found.len(), 1);
    assert!(found[0].title.contains("at a:1"), "{}", found[0].title);
    assert!(!found[0].entities.contains(&"instance:b:1".to_owned()));
}

fn request(at_s: f64, ms: f64, path: &str) -> Request {
    Request {
        input: InputIx(0),
        line: (at_s * 10.0) as u64 + 1,
        t: Timestamp::from_secs_f64(at_s + ms / 1e3).unwrap(),
        t_resolution_nanos: 1_000_000,
        is_failed: None,
        service: Arc::from("gateway"),
        instance: Arc::from("gateway-0"),
        method: Arc::from("GET"),
        path: Arc::from(path),
        status: Some(200),
        duration_ms: Some(ms),
        attempts: Vec::<Attempt>::new(),
        upstream: Arc::from("default-shop-8080"),
        bytes: None,
        client: Arc::from(""),
        request_id: Arc::from(""),
        trace_id: Arc::from(""),
    }
}

#[test]
fn a_log_and_a_histogram_of_one_service_are_one_finding_about_the_callee() {
    let mut random = Random(3);
    let requests = (0..5_000).map(|i| {
        let t = f64::from(i) * 0.1;
        let path = format!("/shop/buy?item={i}");
        request(t, spiky((t / 5.0) as u32, &mut random) * 1e3, &path)
    });
    let batch = Batch {
        series: histogram(SHOP, 100, spiky),
        requests: requests.collect(),
        ..Batch::default()
    };
    let found = findings(&LatencySpike, &snapshot_from(batch));
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    assert!(
        spike.title.contains("shop /shop/buy, as seen at gateway"),
        "{}",
        spike.title
    );
    assert_eq!(spike.entities[0], "service:shop");
    assert!(
        spike
            .detail
            .contains("http_request_duration_seconds shows it too")
    );
    assert!(spike.evidence[0].quote.contains("took 2 s"));
    // Single requests have exact edges.
    assert!((200.0..210.0).contains(&spike.start.secs_f64()));
}

#[test]
fn native_histograms_and_summaries_are_read() {
    let bounds = [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
    let mut random = Random(11);
    let mut native = Series::new(
        Arc::from("rpc_request_duration_seconds"),
        Labels::of(&[("service", "pay"), ("instance", "p:1")]),
        Sampling::Raw,
    );
    let mut counts = [0.0; 6];
    for scrape in 0..100 {
        let buckets = bounds
            .windows(2)
            .zip(counts)
            .map(|(b, count)| HistogramBucket {
                rule: 0,
                lower: b[0],
                upper: b[1],
                count,
            });
        native.histograms.push(HistogramPoint {
            t: Timestamp::from_nanos(i64::from(scrape) * 5_000_000_000),
            count: counts.iter().sum(),
            sum: 0.0,
            buckets: buckets.collect(),
        });
        for _ in 0..50 {
            let value = spiky(scrape, &mut random).max(0.07);
            counts[bounds.partition_point(|b| *b < value) - 1] += 1.0;
        }
    }
    let labels = [
        ("service", "mail"),
        ("instance", "m:1"),
        ("quantile", "0.99"),
    ];
    let values: Vec<(f64, f64)> = (0..100)
        .map(|i| {
            (
                f64::from(i) * 5.0,
                if (40..60).contains(&i) { 0.9 } else { 0.2 },
            )
        })
        .collect();
    let summary = raw("send_latency_seconds", &labels, &values);
    let found = findings(&LatencySpike, &snapshot(vec![native, summary]));
    let about: Vec<&str> = found.iter().map(|f| f.title.as_str()).collect();
    assert_eq!(found.len(), 2, "{about:?}");
    assert!(about.iter().any(|t| t.contains("p99 of pay rose")));
    assert!(about.iter().any(|t| t.contains("p99 of mail rose 4.5×")));
}

#[test]
fn an_evaluated_quantile_counts_only_without_its_buckets() {
    let mut grid = Series::new(
        Arc::from(""),
        Labels::of(&[("service", "shop")]),
        Sampling::Grid {
            step_nanos: 5_000_000_000,
        },
    );
    grid.expr = Some(Arc::from(
        "histogram_quantile(0.99, sum by (le, service) (rate(http_request_duration_seconds_bucket[30s])))",
    ));
    grid.t = (0..100).map(|i| i * 5_000_000_000).collect();
    grid.v = (0..100)
        .map(|i| if (40..60).contains(&i) { 2.0 } else { 0.2 })
        .collect();
    let found = findings(&LatencySpike, &snapshot(vec![grid.clone()]));
    assert_eq!(found.len(), 1);
    // The first high point covers the 30 s before it.
    assert_eq!(found[0].start.nanos(), 170_000_000_000);
    assert!(found[0].confidence < 0.7);
    let mut series = histogram(SHOP, 100, |_, random| usual(random));
    series.push(grid);
    assert_eq!(check(&LatencySpike, &snapshot(series)), Verdict::Clear);
}

fn recorded(path: &str) -> Option<Vec<Finding>> {
    Some(findings(&LatencySpike, &snapshot_of(&shared_data(path)?)))
}

#[test]
fn recorded_spike_of_case_22() {
    let Some(found) = recorded("prom-cases/22-p99-spike/input") else {
        return;
    };
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    // truth.json, `other`, within its edge tolerance of 1.5 s.
    assert!((spike.start.secs_f64() - 1_796_046_359.164).abs() < 1.5);
    assert!((spike.end.unwrap().secs_f64() - 1_796_046_384.173).abs() < 1.5);
    assert_eq!(
        spike.entities,
        ["instance:127.0.0.1:21221", "endpoint:/checkout", "job:app"]
    );
    assert!(spike.number("peak_ms").unwrap() > 3_000.0);
    // prometheus.md §3: the mean moved from 46 ms.
    assert!((spike.number("mean_baseline_ms").unwrap() - 46.0).abs() < 2.0);
}

#[test]
fn no_other_recorded_case_has_a_spike() {
    let Some(cases) = shared_data("prom-cases") else {
        return;
    };
    for case in std::fs::read_dir(cases).unwrap().flatten() {
        let name = case.file_name().to_string_lossy().into_owned();
        let input = case.path().join("input");
        if input.is_dir() && name != "22-p99-spike" {
            assert_eq!(
                check(&LatencySpike, &snapshot_of(&input)),
                Verdict::Clear,
                "{name}"
            );
        }
    }
    if let Some(found) = recorded("incidents/ingress-metrics-lock/input") {
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn recorded_connect_ladder() {
    let Some(found) = recorded("incidents/snat-connect-ladder/input") else {
        return;
    };
    assert_eq!(found.len(), 1, "{found:#?}");
    let spike = &found[0];
    let time = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
    // truth.json: the fault and its eased part.
    assert!(
        spike.start >= time("2026-11-30T14:28:18.892Z"),
        "{}",
        spike.start
    );
    assert!(spike.start < time("2026-11-30T14:28:30Z"));
    assert!(spike.end.unwrap() <= time("2026-11-30T14:32:58.424Z"));
    assert!(spike.title.contains("prezipage"), "{}", spike.title);
    assert!(
        spike.title.contains("as seen at smartgateway"),
        "{}",
        spike.title
    );
    assert_eq!(spike.entities[0], "service:prezipage");
    assert!(
        !spike
            .entities
            .contains(&"service:presentationservice".to_owned())
    );
    assert_eq!(spike.number("quantile"), Some(0.99));
    // Pages: p99 363 → 1,254 ms, mean 194 → 230 ms in the fault proper, less where it had eased.
    assert!((spike.number("baseline_ms").unwrap() - 363.0).abs() < 30.0);
    assert!((spike.number("peak_ms").unwrap() - 1_254.0).abs() < 60.0);
    assert!((spike.number("mean_baseline_ms").unwrap() - 194.0).abs() < 4.0);
    assert!((spike.number("mean_peak_ms").unwrap() - 228.0).abs() < 8.0);
    assert!(
        spike
            .detail
            .contains("a graph of the mean would not have shown it")
    );
}
