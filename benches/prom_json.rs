//! P1 of the design: a Prometheus matrix into columns, against typed `serde_json` and a bare `memchr` scan.
//!
//! All three see the same bytes in one run. The peer is `serde_json` as a careful person would use it: borrowed
//! strings, no tree, straight into columns of `i64` and `f64`.

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use tailscope::base::reporter::Reporter;
use tailscope::base::time::Zone;
use tailscope::formats::prometheus::api::PrometheusApi;
use tailscope::formats::{Format as _, Hints, RequestHint};
use tailscope::model::batch::Batch;

/// Series of each shape; 1,440 points are a day of minutes.
const SERIES: usize = 90;
const POINTS: usize = 1_440;

/// A small generator with a fixed seed (xorshift64), so that every run has the same bytes.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A `query_range` answer with gauges of three decimals, counters, latencies of 16 and 17 digits, gaps (2 %) and
/// NaN (0.5 %).
fn matrix() -> String {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut series = Vec::new();
    for kind in ["gauge", "counter", "latency"] {
        for index in 0..SERIES {
            let mut counter = random.next() % 100_000;
            let mut values = Vec::new();
            for point in 0..POINTS {
                counter += random.next() % 60;
                if random.share() < 0.02 {
                    continue;
                }
                let value = match kind {
                    _ if random.share() < 0.005 => "NaN".to_owned(),
                    "gauge" => format!("{:.3}", random.share() * 100.0),
                    "counter" => counter.to_string(),
                    _ => format!("{}", random.share() * 0.25),
                };
                let secs = 1_796_045_870 + point * 60;
                values.push(format!("[{secs}.869,\"{value}\"]"));
            }
            series.push(format!(
                r#"{{"metric":{{"__name__":"app_{kind}","instance":"10.0.{}.{}:9100","job":"app","pod":"app-7d4b9c-{index}","path":"/api/v1/orders"}},"values":[{}]}}"#,
                index / 256,
                index % 256,
                values.join(",")
            ));
        }
    }
    format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#,
        series.join(",")
    )
}

#[derive(serde::Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(serde::Deserialize)]
struct Data<'a> {
    #[serde(borrow)]
    result: Vec<OneSeries<'a>>,
}

#[derive(serde::Deserialize)]
struct OneSeries<'a> {
    #[serde(borrow)]
    metric: std::collections::BTreeMap<Cow<'a, str>, Cow<'a, str>>,
    values: Columns,
}

struct Columns {
    t: Vec<i64>,
    v: Vec<f64>,
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Columns;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("pairs of time and value")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Columns, A::Error> {
                let mut columns = Columns {
                    t: Vec::new(),
                    v: Vec::new(),
                };
                while let Some((secs, text)) = seq.next_element::<(f64, &'de str)>()? {
                    columns.t.push((secs * 1e3).round() as i64 * 1_000_000);
                    columns
                        .v
                        .push(fast_float2::parse(text).map_err(serde::de::Error::custom)?);
                }
                Ok(columns)
            }
        }
        deserializer.deserialize_seq(Pairs)
    }
}

fn ours(bytes: &[u8]) -> Batch {
    let request = RequestHint {
        path: "/api/v1/query_range?query=app&step=60&start=1796045870.869&end=1796132270.869"
            .to_owned(),
        ..RequestHint::default()
    };
    let zone = Zone::utc();
    let hints = Hints {
        name: "range.json",
        request: Some(&request),
        zone: &zone,
        log_formats: &[],
    };
    let mut out = Batch::default();
    let mut log = Reporter::new();
    let outcome = PrometheusApi.read(bytes, &hints, &mut out, &mut log);
    assert!(
        outcome.is_ok() && log.is_empty(),
        "the bench's own matrix is whole"
    );
    out
}

fn typed(bytes: &[u8]) -> Vec<OneSeries<'_>> {
    serde_json::from_slice::<Envelope<'_>>(bytes).map_or_else(|_| Vec::new(), |e| e.data.result)
}

fn prom_json(c: &mut Criterion) {
    let text = matrix();
    let bytes = text.as_bytes();
    let (mine, peer) = (ours(bytes), typed(bytes));
    assert_eq!(mine.series.len(), peer.len());
    for (a, b) in mine.series.iter().zip(&peer) {
        assert_eq!(a.t, b.values.t);
        assert!(
            a.v.iter()
                .zip(&b.values.v)
                .all(|(x, y)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()))
        );
        assert_eq!(a.labels.len() + 1, b.metric.len());
    }
    let mut group = c.benchmark_group("prom_json");
    group.throughput(Throughput::Bytes(bytes.len() as u64));
    group.sample_size(20);
    group.bench_function("tailscope", |b| b.iter(|| ours(black_box(bytes))));
    group.bench_function("serde_json_typed", |b| b.iter(|| typed(black_box(bytes))));
    // Every quote is found and its place used, as a parser must; `count()` alone never leaves the vector registers.
    group.bench_function("memchr_scan", |b| {
        b.iter(|| memchr::memchr_iter(b'"', black_box(bytes)).fold(0, |sum, at| sum ^ at));
    });
    group.finish();
}

criterion_group!(benches, prom_json);
criterion_main!(benches);
