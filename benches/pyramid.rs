//! P3 of `design.md` §6: building a min–max pyramid over 10 M points and asking it for one screen, beside a bare
//! min–max scan of the same points in the same run.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tailscope::store::pyramid::{MinMax, Pyramid};

const POINTS: usize = if cfg!(debug_assertions) {
    100_000
} else {
    10_000_000
};
const PIXELS: usize = 1920;

fn points() -> Vec<f64> {
    // A walk by a linear congruential generator: no two leaves alike, the same on every machine.
    let mut state = 1u64;
    let mut level = 0.0;
    (0..POINTS)
        .map(|i| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            level += (state >> 40) as f64 / f64::from(1 << 24) - 0.5;
            if i % 100_003 == 0 { f64::NAN } else { level }
        })
        .collect()
}

fn bench(c: &mut Criterion) {
    let values = points();
    let pyramid = Pyramid::build(&values);
    let mut group = c.benchmark_group("pyramid");
    group
        .sample_size(20)
        .throughput(Throughput::Elements(POINTS as u64));
    group.bench_function("bare_scan", |b| b.iter(|| MinMax::scan(black_box(&values))));
    group.bench_function("build", |b| b.iter(|| Pyramid::build(black_box(&values))));
    group.finish();

    let mut group = c.benchmark_group("pyramid_query");
    group.throughput(Throughput::Elements(PIXELS as u64));
    for share in [1, 100] {
        let window = POINTS / 7..POINTS / 7 + POINTS * 6 / 7 / share;
        group.bench_with_input(BenchmarkId::new("window_1_in", share), &window, |b, w| {
            b.iter(|| pyramid.columns(black_box(&values), w.clone(), PIXELS));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
