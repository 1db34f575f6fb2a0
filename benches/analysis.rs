//! P7 of design.md §6: all detectors and correlation on 10,000 series × 1,440 points and 100,000 spans.
//!
//! One thread, so that the time is CPU time. Floor 5 s, aim 1 s. A snapshot remembers what its detectors share
//! (`Snapshot::memo`), so every iteration of the first bench gets a copy of its own, which starts with nothing; making
//! it is not timed. The benches of single detectors come after it and share one snapshot: whoever needs the shapes of
//! series (`level_shift`, `spike`) finds them ready, and `shapes` says what they cost.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use tailscope::base::time::{TimeRange, Timestamp};
use tailscope::correlate;
use tailscope::detect::{self, Context, Detector as _};
use tailscope::model::batch::Batch;
use tailscope::model::input::{Counts, Input, InputIx};
use tailscope::model::labels::Labels;
use tailscope::model::series::{Sampling, Series, SeriesSource};
use tailscope::model::span::{Span, SpanId, SpanKind, SpanStatus};
use tailscope::store::Snapshot;
use tailscope::store::build::{build, window};

const START_NANOS: i64 = 1_796_040_000_000_000_000;
const STEP_NANOS: i64 = 15_000_000_000;
const INSTANCES: usize = 200;
const POINTS: usize = 1_440;
const TRACES: usize = 20_000;

/// A small deterministic generator (`SplitMix64`), uniform in 0…1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn series(metric: &str, labels: &[(&str, &str)], mut value: impl FnMut(usize) -> f64) -> Series {
    let mut series = Series::new(Arc::from(metric), Labels::of(labels), Sampling::Raw);
    series.t = (0..POINTS.cast_signed() as i64)
        .map(|k| START_NANOS + k * STEP_NANOS)
        .collect();
    series.v = (0..POINTS).map(&mut value).collect();
    series.sources.push(SeriesSource {
        input: InputIx(0),
        locator: Arc::from("$"),
        range: TimeRange::ALL,
    });
    series
}

/// 50 series of each of 200 instances: target health, counters, gauges with noise, steps and drifts, one histogram.
fn metrics(noise: &mut Noise) -> Vec<Series> {
    let mut all = Vec::new();
    for instance in 0..INSTANCES {
        let name = format!("10.0.{}.{}:9100", instance / 250, instance % 250);
        let base = [("instance", name.as_str()), ("job", "bench")];
        all.push(series("up", &base, |_| 1.0));
        all.push(series("scrape_duration_seconds", &base, |_| {
            0.02 + 0.01 * noise.next()
        }));
        all.push(series("process_resident_memory_bytes", &base, |k| {
            2e8 + (instance % 40) as f64 * k as f64 + 1e6 * noise.next()
        }));
        for gauge in 0..16 {
            let metric = format!("bench_gauge_{gauge}");
            let step_at = if (instance + gauge) % 37 == 0 {
                900
            } else {
                usize::MAX
            };
            all.push(series(&metric, &base, |k| {
                100.0 + 5.0 * noise.next() + if k >= step_at { 60.0 } else { 0.0 }
            }));
        }
        for counter in 0..18 {
            let metric = format!("bench_events_{counter}_total");
            let mut total = 0.0;
            all.push(series(&metric, &base, |_| {
                total += (20.0 * noise.next()).floor();
                total
            }));
        }
        let bounds = [
            "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "+Inf",
        ];
        for (ix, le) in bounds.iter().enumerate() {
            let mut total = 0.0;
            let labels = [("instance", name.as_str()), ("job", "bench"), ("le", *le)];
            all.push(series(
                "http_request_duration_seconds_bucket",
                &labels,
                |_| {
                    total += 30.0 * (ix + 1) as f64;
                    total
                },
            ));
        }
        let mut count = 0.0;
        all.push(series("http_request_duration_seconds_count", &base, |_| {
            count += 330.0;
            count
        }));
        let mut sum = 0.0;
        all.push(series("http_request_duration_seconds_sum", &base, |_| {
            sum += 330.0 * 0.08 * (0.9 + 0.2 * noise.next());
            sum
        }));
    }
    all
}

/// Traces of five spans: a gateway, its call, and a service below it with one of its own.
fn spans(noise: &mut Noise) -> Vec<Span> {
    let empty: Arc<str> = Arc::from("");
    let names: Vec<Arc<str>> = ["gateway", "shop", "stock", "db"].map(Arc::from).to_vec();
    let mut all = Vec::with_capacity(TRACES * 5);
    for trace in 0..TRACES {
        let trace_id: Arc<str> = Arc::from(format!("1-6b0d7cb0-{trace:024x}").as_str());
        let start = START_NANOS + (trace.cast_signed() as i64) * 1_000_000_000;
        for k in 0..5u64 {
            let id = (trace as u64) * 5 + k + 1;
            let is_call = k % 2 == 1;
            all.push(Span {
                input: InputIx(0),
                trace_id: Arc::clone(&trace_id),
                span_id: SpanId(id),
                parent_id: (k > 0).then(|| SpanId(id - 1)),
                service: Arc::clone(&names[(k / 2) as usize]),
                operation: Arc::clone(if is_call {
                    &names[(k / 2 + 1) as usize]
                } else {
                    &empty
                }),
                kind: if is_call {
                    SpanKind::Client
                } else {
                    SpanKind::Server
                },
                is_segment: !is_call,
                is_inferred: false,
                origin: Arc::clone(&empty),
                start: Timestamp::from_nanos(start + k.cast_signed() * 1_000_000),
                duration_ms: Some(100.0 - 15.0 * k as f64 + 5.0 * noise.next()),
                connect_ms: None,
                queue_ms: None,
                peer: None,
                status: SpanStatus::Ok,
                http_status: Some(200),
                error: Arc::clone(&empty),
                attributes: Arc::clone(&empty),
            });
        }
    }
    all
}

fn incident() -> Snapshot {
    let mut noise = Noise(7);
    let batch = Batch {
        series: metrics(&mut noise),
        spans: spans(&mut noise),
        ..Batch::default()
    };
    let input = Input {
        id: "in-bench".to_owned(),
        path: "bench".to_owned(),
        format: "bench".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    build(vec![(input, batch)])
}

fn analysis(c: &mut Criterion) {
    let snapshot = incident();
    let context = Context {
        snapshot: &snapshot,
        window: window(&snapshot, None, None),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let Ok(pool) = pool else { return };
    let mut group = c.benchmark_group("P7");
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(200));
    group.measurement_time(Duration::from_secs(2));
    group.bench_function("all detectors and correlation, one thread", |b| {
        b.iter_batched_ref(
            || snapshot.clone(),
            |fresh| {
                let context = Context {
                    snapshot: fresh,
                    window: context.window,
                };
                pool.install(|| {
                    let (findings, not_enough) = detect::run(&context);
                    correlate::hypotheses(&context, &findings, &not_enough).len()
                })
            },
            BatchSize::PerIteration,
        );
    });
    group.bench_function("shapes", |b| {
        b.iter_batched_ref(
            || snapshot.clone(),
            |fresh| {
                let context = Context {
                    snapshot: fresh,
                    window: context.window,
                };
                pool.install(|| detect::level_shift::LevelShift.check(&context))
            },
            BatchSize::PerIteration,
        );
    });
    for detector in detect::ALL {
        group.bench_function(detector.kind().word(), |b| {
            b.iter(|| pool.install(|| detector.check(&context)));
        });
    }
    group.finish();
}

criterion_group!(benches, analysis);
criterion_main!(benches);
