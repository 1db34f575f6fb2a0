//! The steps of [`super::levels`].

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::{
    Border, CHI2_95, Levels, MIN_POINTS, MIN_SIDE, MIN_SIGMAS, Noise, Part, RUN_SIGMAS,
    autocorrelation, centre_and_mad,
};

/// How often, on average, each point may be looked at before splitting stops: 40 halvings cover 2^40 points, so only
/// series made of very many uneven steps reach it, and their largest steps are found first.
const WORK_PER_POINT: usize = 40;

/// Borders of each of the two searches that are kept for pruning, the best of them. Pruning costs a pass for each, so
/// this keeps the time linear; what is beyond it is counted in [`Levels::unexamined`].
const MAX_CUTS: usize = 256;

/// Points on either side of a border that must show the jump: enough that the median of normal noise strays by half a
/// deviation only (1.25 σ / √8).
const NEAR: usize = 8;

/// A part, its best split, and how good that is.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    statistic: f64,
    at: usize,
    range: Range<usize>,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.statistic
            .total_cmp(&other.statistic)
            .then_with(|| other.range.start.cmp(&self.range.start))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Borders found by binary segmentation on ranks, the best split first.
pub(super) fn by_ranks(v: &[f64], penalty: f64) -> (Vec<usize>, usize) {
    let mut open = BinaryHeap::new();
    let mut work = v.len() * WORK_PER_POINT;
    let mut cuts = Vec::new();
    let mut ranker = Ranker::default();
    let mut look = |range: Range<usize>, open: &mut BinaryHeap<Candidate>| {
        if range.len() >= 2 * MIN_SIDE && work >= range.len() {
            work -= range.len();
            let best = ranker.best_split(v.get(range.clone()).unwrap_or_default());
            open.extend(best.filter(|(_, statistic)| *statistic > penalty).map(
                |(at, statistic)| Candidate {
                    statistic,
                    at: range.start + at,
                    range,
                },
            ));
        }
    };
    look(0..v.len(), &mut open);
    while cuts.len() < MAX_CUTS
        && let Some(Candidate { at, range, .. }) = open.pop()
    {
        cuts.push(at);
        look(range.start..at, &mut open);
        look(at..range.end, &mut open);
    }
    cuts.sort_unstable();
    (cuts, open.len())
}

/// Buffers for ranking, used again for each part.
#[derive(Debug, Default)]
struct Ranker {
    keys: Vec<u64>,
    ranks: Vec<f64>,
    tied: Vec<(u64, u32)>,
}

impl Ranker {
    /// Mid-ranks of `v`, centred on 0, and the sum of their squares.
    fn rank(&mut self, v: &[f64]) -> f64 {
        self.ranks.clear();
        self.ranks.resize(v.len(), 0.0);
        let centre = (v.len() as f64 - 1.0) / 2.0;
        // Single words sort twice as fast as pairs: the upper bits of the key with the index in the lower ones. Values
        // that differ only below are put in order afterwards, so the ranks are exact.
        let low = usize::BITS - v.len().leading_zeros();
        let mask = (1u64 << low) - 1;
        self.keys.clear();
        self.keys.extend(
            v.iter()
                .enumerate()
                .map(|(i, x)| order_key(*x) & !mask | i as u64),
        );
        self.keys.sort_unstable();
        let mut total = 0.0;
        let mut from = 0;
        for near in self.keys.chunk_by(|a, b| a & !mask == b & !mask) {
            if let [key] = near {
                let rank = from as f64 - centre;
                if let Some(slot) = self.ranks.get_mut((key & mask) as usize) {
                    *slot = rank;
                }
                total += rank * rank;
                from += 1;
                continue;
            }
            self.tied.clear();
            self.tied.extend(near.iter().map(|key| {
                let at = (key & mask) as u32;
                (v.get(at as usize).map_or(0, |x| order_key(*x)), at)
            }));
            self.tied.sort_unstable();
            for same in self.tied.chunk_by(|a, b| a.0 == b.0) {
                let rank = from as f64 + (same.len() as f64 - 1.0) / 2.0 - centre;
                for (_, at) in same {
                    if let Some(slot) = self.ranks.get_mut(*at as usize) {
                        *slot = rank;
                    }
                }
                total += rank * rank * same.len() as f64;
                from += same.len();
            }
        }
        total
    }

    /// The split of `v` with the largest `n ln(RSS0 / RSS1)`.
    fn best_split(&mut self, v: &[f64]) -> Option<(usize, f64)> {
        let total = self.rank(v);
        let n = v.len() as f64;
        let (mut best, mut best_between) = (None, 0.0);
        let mut prefix = 0.0;
        for (i, rank) in self.ranks.iter().enumerate() {
            let k = i + 1;
            prefix += rank;
            if k < MIN_SIDE || k + MIN_SIDE > v.len() {
                continue;
            }
            let k_f = k as f64;
            // Ranks are centred, so the sum behind the split is −prefix.
            let between = prefix * prefix * n / (k_f * (n - k_f));
            if between > best_between {
                best_between = between;
                best = Some(k);
            }
        }
        best.map(|k| (k, likelihood_ratio(n, total, best_between)))
    }
}

/// `n ln(RSS0 / RSS1)`; what is left in `RSS1` is at least what ranks of that many points cannot get below.
fn likelihood_ratio(n: f64, total: f64, between: f64) -> f64 {
    let left = (total - between)
        .max(total / (n * n))
        .max(f64::MIN_POSITIVE);
    n * (total.max(f64::MIN_POSITIVE) / left).ln()
}

/// A key that sorts like the number (IEEE 754 total order), the two zeros as one.
fn order_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | (1 << 63)
    }
}

/// The step of a quantised series: the median of the differences that are not zero, when at least a twentieth of all are
/// not; 0 for a series that hardly ever moves, whose rare moves are what is looked for.
pub(super) fn resolution(v: &[f64]) -> f64 {
    let mut moves: Vec<f64> = v
        .windows(2)
        .map(|w| (w[1] - w[0]).abs())
        .filter(|d| *d > 0.0 && d.is_finite())
        .collect();
    if moves.len() < 5 || moves.len() * 20 < v.len() {
        return 0.0;
    }
    super::middle(&mut moves) / 2.0
}

/// Level and noise of a range.
pub(super) fn part(v: &[f64], range: Range<usize>, resolution: f64, noise: Noise) -> Part {
    let mut values: Vec<f64> = v.get(range.clone()).unwrap_or_default().to_vec();
    let (level, sigma) = centre_and_mad(&mut values);
    Part {
        range,
        level,
        sigma: sigma.max(resolution).max(noise.floor(level)),
    }
}

/// Adds the borders of short excursions within the parts that `cuts` make, the longest first; says how many are left out,
/// and what the series is when there is no border at all.
pub(super) fn add_excursions(
    v: &[f64],
    cuts: &mut Vec<usize>,
    resolution: f64,
    noise: Noise,
) -> (usize, Option<Part>) {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut last = None;
    let mut borders = vec![0];
    borders.extend(cuts.iter().copied());
    borders.push(v.len());
    for range in borders.windows(2).map(|w| w[0]..w[1]) {
        if range.len() < MIN_POINTS {
            continue;
        }
        let whole = part(v, range.clone(), resolution, noise);
        let side = |x: f64| {
            let z = (x - whole.level) / whole.sigma;
            i8::from(z > RUN_SIGMAS) - i8::from(z < -RUN_SIGMAS)
        };
        let mut from = range.start;
        while from < range.end {
            let here = v.get(from).map_or(0, |x| side(*x));
            let run = v
                .get(from..range.end)
                .unwrap_or_default()
                .iter()
                .take_while(|x| side(**x) == here)
                .count()
                .max(1);
            if here != 0 && run >= MIN_SIDE {
                found.push(from..from + run);
            }
            from += run;
        }
        last = Some(whole);
    }
    found.sort_by_key(|run| (std::cmp::Reverse(run.len()), run.start));
    let left_out = found.len().saturating_sub(MAX_CUTS / 2);
    found.truncate(MAX_CUTS / 2);
    cuts.extend(found.iter().flat_map(|run| [run.start, run.end]));
    cuts.retain(|c| *c > 0 && *c < v.len());
    cuts.sort_unstable();
    cuts.dedup();
    (left_out, last.filter(|_| cuts.is_empty()))
}

/// The agreement of signs of neighbouring deviations from the level, and how many pairs there were.
fn agreement(v: &[f64], part: &Part) -> (f64, f64) {
    let values = v.get(part.range.clone()).unwrap_or_default();
    let sign = |x: f64| {
        let d = x - part.level;
        f64::from(i8::from(d > 0.0) - i8::from(d < 0.0))
    };
    let mut sums = (0.0, 0.0);
    for w in values.windows(2) {
        let both = sign(w[0]) * sign(w[1]);
        sums.0 += both;
        sums.1 += both.abs();
    }
    sums
}

fn rho_of(v: &[f64], parts: &[Part]) -> f64 {
    let (agree, pairs) = parts
        .iter()
        .map(|p| agreement(v, p))
        .fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
    let neighbours: usize = parts.iter().map(|p| p.range.len().saturating_sub(1)).sum();
    autocorrelation(agree, pairs, neighbours as f64)
}

/// The noise around a border: the root mean square of both sides' deviations.
pub(super) fn sigma_at(before: &Part, after: &Part) -> f64 {
    f64::midpoint(before.sigma.powi(2), after.sigma.powi(2)).sqrt()
}

/// The statistic of a border between two parts, after correction for autocorrelation; 0 when the levels are too close.
fn strength(ranker: &mut Ranker, v: &[f64], before: &Part, after: &Part, rho: f64) -> f64 {
    // An excursion that begins a point or two after a border leaves a part that is none.
    let is_short = before.range.len().min(after.range.len()) < MIN_SIDE;
    if is_short || (after.level - before.level).abs() < MIN_SIGMAS * sigma_at(before, after) {
        return 0.0;
    }
    if !is_abrupt(v, before, after) {
        return 0.0;
    }
    let values = v
        .get(before.range.start..after.range.end)
        .unwrap_or_default();
    let total = ranker.rank(values);
    let k = before.range.len();
    let prefix: f64 = ranker.ranks.iter().take(k).sum();
    let (n, k) = (values.len() as f64, k as f64);
    let between = prefix * prefix * n / (k * (n - k));
    // Short excursions lie far outside by the way they were found; ranks of a few points among many cannot say so. It
    // takes a side that is long enough for its deviation to be known.
    let sigmas = ((after.level - before.level) / sigma_at(before, after)).abs();
    let (short, long) = (
        before.range.len().min(after.range.len()),
        before.range.len().max(after.range.len()),
    );
    let by_size = if long >= MIN_POINTS {
        short as f64 * sigmas.min(30.0).powi(2) / 4.0
    } else {
        0.0
    };
    likelihood_ratio(n, total, between).max(by_size) * (1.0 - rho) / (1.0 + rho)
}

/// Whether at least half of the difference of two levels happens at their border: the medians of the [`NEAR`] points on
/// either side are compared. A ramp or a wave, cut into steps, has next to no jump there.
fn is_abrupt(v: &[f64], before: &Part, after: &Part) -> bool {
    let border = after.range.start;
    let median = |range: Range<usize>| {
        let mut near = v.get(range).unwrap_or_default().to_vec();
        centre_and_mad(&mut near).0
    };
    let low = border.saturating_sub(NEAR).max(before.range.start);
    let jump = median(border..(border + NEAR).min(after.range.end)) - median(low..border);
    let whole = after.level - before.level;
    jump * whole.signum() >= whole.abs() / 2.0
}

/// Takes borders away, the weakest first, until all pass.
pub(super) fn prune(
    v: &[f64],
    cuts: Vec<usize>,
    resolution: f64,
    noise: Noise,
    penalty: f64,
) -> Levels {
    let mut borders = vec![0];
    borders.extend(cuts);
    borders.push(v.len());
    let mut parts: Vec<Part> = borders
        .windows(2)
        .map(|w| part(v, w[0]..w[1], resolution, noise))
        .collect();
    let mut ranker = Ranker::default();
    let mut scores: Vec<f64> = Vec::new();
    let mut rho;
    loop {
        rho = rho_of(v, &parts);
        scores.clear();
        scores.extend(
            parts
                .windows(2)
                .map(|w| strength(&mut ranker, v, &w[0], &w[1], rho)),
        );
        if !remove_weak(
            v,
            &mut parts,
            &mut scores,
            &mut ranker,
            (resolution, noise, penalty, rho),
        ) {
            break;
        }
    }
    Levels {
        borders: scores
            .iter()
            .zip(parts.iter().skip(1))
            .map(|(score, after)| Border {
                earliest: after.range.start,
                latest: after.range.start,
                score: score / penalty,
            })
            .collect(),
        parts,
        unexamined: 0,
    }
}

/// One round of removals at a fixed autocorrelation; whether anything was removed.
fn remove_weak(
    v: &[f64],
    parts: &mut Vec<Part>,
    scores: &mut Vec<f64>,
    ranker: &mut Ranker,
    (resolution, noise, penalty, rho): (f64, Noise, f64, f64),
) -> bool {
    let mut removed = false;
    while let Some((at, score)) = scores
        .iter()
        .copied()
        .enumerate()
        .min_by(|a, b| a.1.total_cmp(&b.1))
    {
        if score > penalty || at + 1 >= parts.len() {
            break;
        }
        let after = parts.remove(at + 1);
        scores.remove(at);
        removed = true;
        let range = parts.get(at).map_or(0, |p| p.range.start)..after.range.end;
        if let Some(slot) = parts.get_mut(at) {
            *slot = part(v, range, resolution, noise);
        }
        for border in [at.checked_sub(1), Some(at)].into_iter().flatten() {
            if let (Some(before), Some(after), Some(slot)) = (
                parts.get(border),
                parts.get(border + 1),
                scores.get_mut(border),
            ) {
                *slot = strength(ranker, v, before, after, rho);
            }
        }
    }
    removed
}

/// Puts each border where the absolute deviations from the two levels are least, and finds its interval.
pub(super) fn refine(v: &[f64], levels: &mut Levels, resolution: f64, noise: Noise) {
    for at in 0..levels.borders.len() {
        let (Some(before), Some(after)) = (levels.parts.get(at), levels.parts.get(at + 1)) else {
            continue;
        };
        let reach = before.range.start + 1..after.range.end;
        let (best, earliest, latest) = best_border(v, before, after, reach);
        let (start, end) = (before.range.start, after.range.end);
        let best = best.min(end.saturating_sub(MIN_SIDE)).max(start + MIN_SIDE);
        if best != after.range.start {
            let (a, b) = (
                part(v, start..best, resolution, noise),
                part(v, best..end, resolution, noise),
            );
            if let Some(slot) = levels.parts.get_mut(at) {
                *slot = a;
            }
            if let Some(slot) = levels.parts.get_mut(at + 1) {
                *slot = b;
            }
        }
        if let Some(border) = levels.borders.get_mut(at) {
            border.earliest = earliest.min(best).max(start + 1);
            border.latest = latest.max(best).min(end.saturating_sub(1));
        }
    }
}

/// The border with the least sum of absolute deviations (the likelihood of Laplace noise, robust as medians are), and
/// the first and last that are within [`CHI2_95`] of it.
fn best_border(
    v: &[f64],
    before: &Part,
    after: &Part,
    reach: Range<usize>,
) -> (usize, usize, usize) {
    let sigma = sigma_at(before, after);
    // Twice the negative log-likelihood of Laplace noise of deviation σ is 2√2 Σ|d|/σ; one point counts at most as much
    // as the distance of the levels or 10 σ, so that an outlier cannot carry a border away.
    let scale = 2.0 * std::f64::consts::SQRT_2 / sigma;
    let cap = 10.0 * sigma;
    let gain = |x: f64| {
        let (a, b) = ((x - before.level).abs(), (x - after.level).abs());
        (a - b).clamp(-cap, cap) * scale
    };
    // Cost of a border at k, less that of one at the start: all points before k pay `before` in place of `after`.
    let mut cost = 0.0;
    let costs: Vec<f64> = v
        .get(before.range.start..reach.end)
        .unwrap_or_default()
        .iter()
        .map(|x| {
            cost += gain(*x);
            cost
        })
        .collect();
    let mut best = after.range.start;
    let at = |k: usize| costs.get(k - before.range.start - 1).copied();
    let mut least = at(best).unwrap_or(f64::INFINITY);
    for k in reach.clone() {
        if let Some(cost) = at(k).filter(|c| *c < least) {
            (best, least) = (k, cost);
        }
    }
    let close = |k: &usize| at(*k).is_some_and(|c| c <= least + CHI2_95);
    let earliest = (reach.start..best).rev().take_while(close).last();
    let latest = (best + 1..reach.end).take_while(close).last();
    (best, earliest.unwrap_or(best), latest.unwrap_or(best))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What [`Ranker::rank`] must give, pair by pair.
    fn by_definition(v: &[f64]) -> Vec<f64> {
        let centre = (v.len() as f64 - 1.0) / 2.0;
        v.iter()
            .map(|x| {
                let key = order_key(*x);
                let below = v.iter().filter(|y| order_key(**y) < key).count() as f64;
                let same = v.iter().filter(|y| order_key(**y) == key).count() as f64;
                below + (same - 1.0) / 2.0 - centre
            })
            .collect()
    }

    #[test]
    fn values_that_differ_in_their_last_bits_have_ranks_of_their_own() {
        let v = [1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON, 1.0, -0.0, 0.0];
        let mut ranker = Ranker::default();
        let total = ranker.rank(&v);
        assert_eq!(ranker.ranks, [1.0, 2.5, -0.5, 1.0, -2.0, -2.0]);
        let squares: f64 = ranker.ranks.iter().map(|r| r * r).sum();
        assert!((total - squares).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_definition(v in prop::collection::vec(
            prop_oneof![any::<f64>(), (0u64..40).prop_map(|k| f64::from_bits(1.0f64.to_bits() + k)), -3.0f64..3.0], 0..80)) {
            let mut ranker = Ranker::default();
            ranker.rank(&v);
            prop_assert_eq!(ranker.ranks, by_definition(&v));
        }
    }
}
