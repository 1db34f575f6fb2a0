//! The test: has a tail quantile of a flow left its baseline for a time, and could that be chance?

use std::ops::Range;

use super::flow::Flow;
use crate::base::stats;
use crate::base::stats::log10_binomial_tail;
use crate::detect::quantiles::{log10_stretches, maximal_stretches, trim};
use crate::store::histogram::Estimate;

/// A spike is at least so many times its baseline: half again, the smallest rise that a graph shows clearly, and more
/// than what a sample of 100 lets a p99 wander by itself.
pub(super) const LEAST_RATIO: f64 = 1.5;
/// Chance of a false alarm over all that was tested in one analysis, as log10.
const LOG10_CHANCE: f64 = -3.0;
/// One-sided confidence that the quantile of the spike itself lies beyond the bound (1 − 0.01), as log10 of the rest.
const LOG10_DOUBT: f64 = -2.0;
/// A quantile is read in at most so many windows, so that each is steady on a long recording.
const MOST_WINDOWS: f64 = 200.0;
/// The first guess of the baseline uses at most so many.
const FIRST_WINDOWS: f64 = 24.0;

/// The tail quantiles in order of preference.
const QUANTILES: [f64; 3] = [0.99, 0.95, 0.90];

/// How many observations a window needs for a quantile: one must lie beyond it, 1 / (1 − q), so 100 for a p99.
pub(super) fn window_size(q: f64) -> f64 {
    (1.0 / (1.0 - q)).round()
}

/// The furthest quantile that `total` observations can carry: three windows of it.
pub(super) fn choose_quantile(total: f64) -> Option<f64> {
    QUANTILES
        .into_iter()
        .find(|q| total >= 3.0 * window_size(*q))
}

/// One spike in a flow.
#[derive(Debug, Clone)]
pub(super) struct Episode {
    /// Its slices.
    pub stretch: Range<usize>,
    /// The quantile that was tested.
    pub q: f64,
    /// Observations beyond this many milliseconds were counted.
    pub bound_ms: f64,
    /// Observations in it.
    pub n: f64,
    /// Of these beyond the bound.
    pub k: f64,
    /// Share beyond the bound outside of every spike.
    pub usual_share: f64,
    /// Observations outside of every spike.
    pub usual_n: f64,
    /// The quantile outside of every spike.
    pub baseline: Estimate,
    /// The quantile of all observations of the spike.
    pub peak: Estimate,
    /// The highest quantile of a single window in it.
    pub worst: Estimate,
    /// The mean outside of every spike.
    pub mean_baseline: Option<f64>,
    /// The mean of the spike.
    pub mean_peak: Option<f64>,
    /// log10 of the chance, corrected for how much was tested.
    pub log10_p: f64,
    /// Enough came after it to say that it ended.
    pub has_ended: bool,
    /// Enough came before it to say that it began in the recording.
    pub has_begun: bool,
}

/// What a scan says.
#[derive(Debug, Clone)]
pub(super) enum Scan {
    /// Too few observations, or the buckets do not reach beyond the baseline.
    NotEnough,
    /// Nothing.
    Quiet,
    /// These.
    Found(Vec<Episode>),
}

/// Looks for spikes.
///
/// The baseline `b` is the quantile of everything outside of the spikes; it starts as the lower quartile of windows, so
/// no part of the recording has to be clean, and is refined until it stays. Counted are observations beyond
/// `1.5 × b` (with buckets: beyond the next bound above that). By definition a share of 1 − q of them beyond a bound
/// means that the quantile lies there. A spike is a maximal stretch whose share beyond the bound is above the middle of
/// the usual share and 1 − q, in which
/// 1. the quantile itself lies beyond the bound with 99 % confidence: `P(Binomial(n, 1 − q) ≥ k) ≤ 0.01`;
/// 2. as many are no chance at the usual share: `P(Binomial(n, usual) ≥ k) × tests ≤ 0.001`;
/// 3. the quantile is more than three scaled MADs above the median of the other windows.
///
/// In both tests `n` and `k` are divided by the dispersion of the other windows (quasi-likelihood, Wedderburn
/// 1974): slow requests come in clusters.
pub(super) fn scan(flow: &Flow, q: f64, groups: f64) -> Scan {
    let total = flow.total();
    let least = window_size(q);
    if total < 3.0 * least {
        return Scan::NotEnough;
    }
    let everything = 0..flow.len();
    let first = flow.windows(
        std::slice::from_ref(&everything),
        least.max(total / FIRST_WINDOWS),
    );
    let Some(mut baseline) = lower_quartile(flow, &first, q) else {
        return Scan::NotEnough;
    };
    let mut usual_share = 0.0;
    let mut known: Option<(f64, Vec<Range<usize>>)> = None;
    for _ in 0..6 {
        let Some(bound) = flow.bound_above(&baseline, LEAST_RATIO) else {
            return Scan::NotEnough;
        };
        let beyond = flow.beyond(bound);
        let limit = f64::midpoint(1.0 - q, usual_share);
        let stretches: Vec<Range<usize>> =
            maximal_stretches(beyond.iter().zip(&flow.n).map(|(k, n)| k - limit * n))
                .into_iter()
                .map(|r| {
                    let counts = |at: usize| {
                        let of = |all: &[f64]| all.get(at).copied().unwrap_or(0.0);
                        (of(&flow.n), of(&beyond))
                    };
                    trim(&r, counts, usual_share.max(0.5 / total))
                })
                .filter(|r| {
                    let (n, k) = (sum(&flow.n, r), sum(&beyond, r));
                    k >= 3.0 && log10_binomial_tail(n, k, 1.0 - q) <= LOG10_DOUBT
                })
                .collect();
        let outside = complement(&stretches, flow.len());
        let usual_n: f64 = outside.iter().map(|r| sum(&flow.n, r)).sum();
        if usual_n < least {
            return Scan::NotEnough;
        }
        let usual_k: f64 = outside.iter().map(|r| sum(&beyond, r)).sum();
        usual_share = (usual_k / usual_n).min(1.0 - q);
        let Some(next) = flow.quantile(&outside, q) else {
            return Scan::NotEnough;
        };
        // With nothing beyond the first, lowest bound there is nothing beyond a higher one.
        if known.is_none() && stretches.is_empty() {
            return Scan::Quiet;
        }
        let is_settled = known
            .as_ref()
            .is_some_and(|(at, seen)| at.total_cmp(&bound).is_eq() && *seen == stretches);
        known = Some((bound, stretches));
        if is_settled {
            break;
        }
        baseline = next;
    }
    match known {
        Some((bound, stretches)) if !stretches.is_empty() => {
            judge(flow, q, groups, bound, &stretches)
        }
        _ => Scan::Quiet,
    }
}

fn judge(flow: &Flow, q: f64, groups: f64, bound: f64, stretches: &[Range<usize>]) -> Scan {
    let beyond = flow.beyond(bound);
    let outside = complement(stretches, flow.len());
    let usual_n: f64 = outside.iter().map(|r| sum(&flow.n, r)).sum();
    let usual_k: f64 = outside.iter().map(|r| sum(&beyond, r)).sum();
    let Some(baseline) = flow.quantile(&outside, q) else {
        return Scan::NotEnough;
    };
    let size = window_size(q).max(flow.total() / MOST_WINDOWS);
    let windows = flow.windows(&outside, size);
    let values: Vec<f64> = windows
        .iter()
        .filter_map(|w| flow.quantile(std::slice::from_ref(w), q))
        .map(|e| e.value)
        .collect();
    let steady =
        stats::median(&values).unwrap_or(baseline.value) + 3.0 * stats::mad(&values).unwrap_or(0.0);
    // Half an observation is added, so that nothing seen outside is not taken for impossible (Jeffreys).
    let usual_share = (usual_k + 0.5) / (usual_n + 1.0);
    let spread = dispersion(flow, &beyond, &windows, usual_k / usual_n);
    let slow = beyond.iter().filter(|k| **k > 0.0).count() as f64;
    let tests = log10_stretches(slow) + groups.max(1.0).log10();
    let mut found = Vec::new();
    for stretch in stretches {
        let (n, k) = (sum(&flow.n, stretch), sum(&beyond, stretch));
        let log10_p = log10_binomial_tail(n / spread, k / spread, usual_share) + tests;
        let log10_doubt = log10_binomial_tail(n / spread, k / spread, 1.0 - q);
        let one = std::slice::from_ref(stretch);
        let Some(peak) = flow.quantile(one, q) else {
            continue;
        };
        let is_spike = log10_p <= LOG10_CHANCE
            && log10_doubt <= LOG10_DOUBT
            && peak.value > steady
            && peak.value >= baseline.value * LEAST_RATIO
            && lasts(flow, &beyond, stretch);
        if !is_spike {
            continue;
        }
        let worst = flow
            .windows(one, size)
            .iter()
            .filter_map(|w| flow.quantile(std::slice::from_ref(w), q))
            .max_by(|a, b| a.value.total_cmp(&b.value))
            .filter(|worst| worst.value > peak.value)
            .unwrap_or(peak);
        // Still unbroken by chance: P(no slow one among what came after) at the spike's own share.
        let quiet = |r: Range<usize>| sum(&flow.n, &r) * (-(k / n).min(0.999_999)).ln_1p();
        let is_told = |r: Range<usize>| quiet(r) < 0.05f64.ln();
        found.push(Episode {
            stretch: stretch.clone(),
            q,
            bound_ms: bound,
            n,
            k,
            usual_share: usual_k / usual_n,
            usual_n,
            baseline,
            peak,
            worst,
            mean_baseline: flow.mean(&outside),
            mean_peak: flow.mean(one),
            log10_p,
            has_ended: is_told(stretch.end..flow.len()),
            has_begun: is_told(0..stretch.start),
        });
    }
    if found.is_empty() {
        Scan::Quiet
    } else {
        Scan::Found(found)
    }
}

/// "For a time": slow requests in two scrape pairs (or one of half a minute), or begun over at least a second. One stall
/// that hits whatever is in flight is no spike of a quantile.
fn lasts(flow: &Flow, beyond: &[f64], stretch: &Range<usize>) -> bool {
    let slow: Vec<usize> = stretch
        .clone()
        .filter(|at| beyond.get(*at).is_some_and(|k| *k > 0.0))
        .collect();
    let (Some(first), Some(last)) = (slow.first(), slow.last()) else {
        return false;
    };
    let time = |times: &[i64], at: usize| times.get(at).copied().unwrap_or(0);
    if flow.is_exact() {
        time(&flow.start, *last) - time(&flow.start, *first) >= 1_000_000_000
    } else {
        time(&flow.end, *first) < time(&flow.end, *last)
            || time(&flow.end, *last) - time(&flow.start, *first) >= 30_000_000_000
    }
}

fn lower_quartile(flow: &Flow, windows: &[Range<usize>], q: f64) -> Option<Estimate> {
    let mut estimates: Vec<Estimate> = windows
        .iter()
        .filter_map(|w| flow.quantile(std::slice::from_ref(w), q))
        .collect();
    estimates.sort_by(|a, b| a.value.total_cmp(&b.value));
    estimates.get(estimates.len() / 4).copied()
}

/// Variance of the counts beyond the bound over what a binomial would have, at least 1.
fn dispersion(flow: &Flow, beyond: &[f64], windows: &[Range<usize>], share: f64) -> f64 {
    if windows.len() < 3 || share <= 0.0 || share >= 1.0 {
        return 1.0;
    }
    let chi: f64 = windows
        .iter()
        .map(|w| {
            let (n, k) = (sum(&flow.n, w), sum(beyond, w));
            (k - n * share).powi(2) / (n * share * (1.0 - share))
        })
        .sum();
    (chi / (windows.len() - 1) as f64).max(1.0)
}

fn sum(values: &[f64], range: &Range<usize>) -> f64 {
    values.get(range.clone()).unwrap_or_default().iter().sum()
}

/// What lies between some stretches that are in order.
pub(in crate::detect) fn complement(stretches: &[Range<usize>], len: usize) -> Vec<Range<usize>> {
    let mut outside = Vec::with_capacity(stretches.len() + 1);
    let mut from = 0;
    for stretch in stretches {
        if from < stretch.start {
            outside.push(from..stretch.start);
        }
        from = stretch.end;
    }
    if from < len {
        outside.push(from..len);
    }
    outside
}
