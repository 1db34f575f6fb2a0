use proptest::prelude::*;

use super::*;
use crate::base::time::Timestamp;
use crate::model::series::{HistogramBucket, HistogramPoint, Sampling};
use crate::store::build::build;

/// A raw series; times in seconds.
fn raw(metric: &str, labels: &[(&str, &str)], samples: &[(f64, f64)]) -> Series {
    let mut series = Series::new(Arc::from(metric), Labels::of(labels), Sampling::Raw);
    series.t = samples.iter().map(|(t, _)| (t * 1e9) as i64).collect();
    series.v = samples.iter().map(|(_, v)| *v).collect();
    series
}

fn snapshot_from(series: Vec<Series>) -> Snapshot {
    let input = crate::model::input::Input {
        id: String::new(),
        path: String::new(),
        format: String::new(),
        sha256: String::new(),
        counts: Default::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    let batch = crate::model::batch::Batch {
        series,
        ..Default::default()
    };
    build(vec![(input, batch)])
}

fn bins(bounds: &[f64]) -> Vec<Bin> {
    let buckets: Vec<(f64, Vec<usize>)> = bounds.iter().map(|b| (*b, Vec::new())).collect();
    classic_bins(&buckets)
}

/// One histogram with bounds 0.1, 1 and +Inf; each row is a time and the three cumulative counts.
fn snapshot_of(rows: &[(f64, [f64; 3])]) -> Snapshot {
    let mut series = Vec::new();
    for (at, le) in ["0.1", "1", "+Inf"].iter().enumerate() {
        let samples: Vec<(f64, f64)> = rows.iter().map(|(t, v)| (*t, v[at])).collect();
        series.push(raw("x_seconds_bucket", &[("le", le)], &samples));
    }
    let sums: Vec<(f64, f64)> = rows.iter().map(|(t, v)| (*t, v[2] * 0.5)).collect();
    series.push(raw("x_seconds_sum", &[], &sums));
    snapshot_from(series)
}

#[test]
fn pairs_of_scrapes_give_what_fell_into_each_bucket() {
    let snapshot = snapshot_of(&[
        (0.0, [5.0, 7.0, 7.0]),
        (5.0, [9.0, 12.0, 13.0]),
        (10.0, [9.0, 12.0, 13.0]),
    ]);
    let families = families(&snapshot);
    assert_eq!(families.len(), 1);
    let deltas = families[0].deltas(&snapshot);
    assert_eq!(deltas.len(), 2);
    assert_eq!(deltas.row(0), [4.0, 1.0, 1.0]);
    assert_eq!(deltas.row(1), [0.0, 0.0, 0.0]);
    assert_eq!(deltas.sum, [3.0, 0.0]);
    assert_eq!(deltas.start[0], 0);
    assert_eq!(deltas.end[0], 5_000_000_000);
}

#[test]
fn resets_gaps_and_missing_buckets_give_no_value() {
    let snapshot = snapshot_of(&[
        (0.0, [5.0, 7.0, 7.0]),
        (5.0, [6.0, 8.0, 8.0]),
        (10.0, [1.0, 1.0, 1.0]),
        (15.0, [2.0, 2.0, 2.0]),
        (25.0, [4.0, 4.0, 4.0]),
        (30.0, [5.0, 5.0, 5.0]),
    ]);
    let deltas = families(&snapshot)[0].deltas(&snapshot);
    assert_eq!(deltas.end.len(), 3);
    assert_eq!((deltas.dropped.resets, deltas.dropped.gaps), (1, 1));

    // The bucket of 1 s is missing in one scrape: both pairs with it are gone, and none is made across it.
    let mut series = Vec::new();
    for (le, missing) in [("0.1", false), ("1", true), ("+Inf", false)] {
        let samples: Vec<(f64, f64)> = (0..8)
            .filter(|i| !(missing && *i == 4))
            .map(|i| (f64::from(i) * 5.0, f64::from(i) * 100.0))
            .collect();
        series.push(raw("x_seconds_bucket", &[("le", le)], &samples));
    }
    let snapshot = snapshot_from(series);
    let deltas = families(&snapshot)[0].deltas(&snapshot);
    assert_eq!(deltas.len(), 5);
    assert_eq!((deltas.dropped.incomplete, deltas.dropped.gaps), (1, 1));
}

#[test]
fn one_bound_in_two_spellings_is_one_bucket() {
    let mut series = Vec::new();
    for (le, from, to) in [("1", 0, 4), ("1.0", 4, 8), ("+Inf", 0, 8)] {
        let samples: Vec<(f64, f64)> = (from..to).map(|i| (f64::from(i), f64::from(i))).collect();
        series.push(raw("x_seconds_bucket", &[("le", le)], &samples));
    }
    let snapshot = snapshot_from(series);
    let families = families(&snapshot);
    assert_eq!(families[0].buckets.len(), 2);
    assert_eq!(families[0].deltas(&snapshot).len(), 7);
}

#[test]
fn without_an_infinite_bucket_nothing_is_known() {
    let samples = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)];
    let snapshot = snapshot_from(vec![raw("x_seconds_bucket", &[("le", "1")], &samples)]);
    assert!(families(&snapshot)[0].deltas(&snapshot).is_empty());
}

#[test]
fn quantiles_carry_their_bucket_as_error_bar() {
    let bins = bins(&[0.1, 0.25, 1.0, f64::INFINITY]);
    // prometheus.md §3: linear inside one bucket.
    let estimate = quantile(&bins, &[50.0, 50.0, 0.0, 0.0], 0.99, Interpolation::Linear).unwrap();
    assert!((estimate.value - 0.247).abs() < 1e-9);
    assert_eq!((estimate.lower, estimate.upper), (0.1, 0.25));
    let ceiling = quantile(&bins, &[50.0, 0.0, 0.0, 50.0], 0.99, Interpolation::Linear).unwrap();
    assert!(ceiling.is_ceiling);
    assert_eq!((ceiling.value, ceiling.upper), (1.0, f64::INFINITY));
    assert!(quantile(&bins, &[0.0; 4], 0.99, Interpolation::Linear).is_none());
}

#[test]
fn native_histograms_interpolate_exponentially() {
    let point = |t: i64, counts: [f64; 2]| HistogramPoint {
        t: Timestamp::from_nanos(t * 1_000_000_000),
        count: counts.iter().sum(),
        sum: counts.iter().sum(),
        buckets: vec![
            HistogramBucket {
                rule: 0,
                lower: 1.0,
                upper: 2.0,
                count: counts[0],
            },
            HistogramBucket {
                rule: 0,
                lower: 2.0,
                upper: 4.0,
                count: counts[1],
            },
        ],
    };
    let mut series = Series::new(Arc::from("x_seconds"), Labels::default(), Sampling::Raw);
    series.histograms = vec![
        point(0, [1.0, 0.0]),
        point(1, [11.0, 10.0]),
        point(2, [1.0, 1.0]),
        point(3, [1.0, 2.0]),
    ];
    let deltas = native_deltas(&series);
    assert_eq!(deltas.interpolation, Interpolation::Exponential);
    assert_eq!((deltas.len(), deltas.dropped.resets), (2, 1));
    let estimate = quantile(&deltas.bins, deltas.row(0), 0.75, deltas.interpolation).unwrap();
    assert!((estimate.value - 2.0 * 2f64.sqrt()).abs() < 1e-9);
    series.histograms[1].buckets[0].upper = 1.5;
    assert_eq!(native_deltas(&series).interpolation, Interpolation::Linear);
}

proptest! {
    #[test]
    fn a_quantile_lies_between_its_bounds(
        counts in prop::collection::vec(0u32..50, 5),
        q in 0.0f64..1.0,
    ) {
        let bins = bins(&[0.1, 0.25, 1.0, 5.0, f64::INFINITY]);
        let counts: Vec<f64> = counts.into_iter().map(f64::from).collect();
        if let Some(e) = quantile(&bins, &counts, q, Interpolation::Linear) {
            prop_assert!(e.lower <= e.value && e.value <= e.upper);
        }
    }
}
