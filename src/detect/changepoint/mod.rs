//! Where a series changes its level: robust, deterministic, near-linear, with an interval for every onset.
//!
//! 1. *Split.* Binary segmentation, best split first, on the ranks of each part. The statistic of a split is the
//!    likelihood ratio `n ln(RSS0 / RSS1)` of one mean of ranks against two (the rank form of Pettitt, 1979; for weak
//!    effects it is the square of the Mann–Whitney `z`, for a perfect separation it keeps growing with `n`). Ranks do
//!    not care for outliers or for the shape of the noise.
//! 2. *Excursions.* What is too short to be seen at full scale: within each part, runs of at least [`MIN_SIDE`] points
//!    further than [`RUN_SIGMAS`] robust deviations from the median, on one side, become parts of their own.
//! 3. *Prune.* The weakest change goes first, until each has a difference of medians of at least [`MIN_SIGMAS`] noise
//!    deviations and passes the penalty after the statistic has been divided by the inflation `(1 + ρ) / (1 − ρ)` of
//!    the variance of a mean of first-order autocorrelated noise (Bartlett, 1935). So a slow wave or a random walk does
//!    not fall to pieces.
//!
//! The penalty is `2 ln(n m / α)` for `n` points in each of `m` series: the chance that any split of any series passes
//! is at most about `α` (Bonferroni over the splits; the tail of χ² with one degree of freedom is below `exp(−x/2)`).
//! The interval of an onset is every split whose statistic is within 3.84 (the 95 % point of χ² with one degree of
//! freedom) of the best one.

pub mod excursions;
pub mod groups;
pub mod signals;
mod split;

use std::ops::Range;

use crate::base::stats;

/// Fewest points on a side of any change. Two can be chance at any noise, three rarely.
pub const MIN_SIDE: usize = 3;
/// Fewest points that can be split at all.
pub const MIN_POINTS: usize = 12;
/// How far the points of a short excursion must lie outside.
///
/// Three in a row at 4.5 scaled MADs have a chance of 4e-17 under normal noise, and of 4e-7 under Student's t with
/// three degrees of freedom, whose tail is as heavy as that of latencies.
pub const RUN_SIGMAS: f64 = 4.5;
/// The smallest difference of two levels that is called a change, in deviations of the noise around them: below two,
/// the two levels overlap by more than a third.
pub const MIN_SIGMAS: f64 = 2.0;
/// False alarms that are allowed over all series together.
pub const ALPHA: f64 = 0.05;
/// The 95 % point of χ² with one degree of freedom.
const CHI2_95: f64 = 3.841_458_820_694_124;
/// An autocorrelation above this cannot be told from a walk with the points that a window has.
const MAX_RHO: f64 = 0.95;

/// One change of level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Onset {
    /// Index of the first point at the new level.
    pub index: usize,
    /// Time of that point.
    pub at: i64,
    /// The change came after this time …
    pub from: i64,
    /// … and not after this one.
    pub to: i64,
    /// Median before, back to the change before it.
    pub before: f64,
    /// Median after, up to the next change.
    pub after: f64,
    /// The statistic of the split after all corrections, in units of the penalty: 1 is the threshold.
    pub score: f64,
}

/// A stretch of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The indices of its points.
    pub range: Range<usize>,
    /// Their median.
    pub level: f64,
    /// Their noise: the scaled MAD, not below what the series' resolution allows.
    pub sigma: f64,
}

/// How a series falls into levels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Levels {
    /// The parts, in order, without holes.
    pub parts: Vec<Part>,
    /// For each border between two parts: first and last index that the first point after it may have, and the score.
    pub borders: Vec<Border>,
    /// Candidates for borders that were not looked at, because the series has very many.
    pub unexamined: usize,
}

/// A border between two parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Border {
    /// Earliest plausible index of the first point after it.
    pub earliest: usize,
    /// Latest plausible index.
    pub latest: usize,
    /// As [`Onset::score`].
    pub score: f64,
}

/// What is known of the noise before looking.
#[derive(Debug, Clone, Copy)]
pub struct Noise {
    /// How many series are looked at together.
    pub series: usize,
    /// Events in the unit of the values: the deviation at a level `x` is at least `sqrt(x × this)` (Poisson); 0 for
    /// what is not counted.
    pub count_unit: f64,
}

impl Noise {
    /// For one series that counts nothing.
    pub const ALONE: Self = Self {
        series: 1,
        count_unit: 0.0,
    };

    /// The smallest deviation at a level.
    pub fn floor(&self, level: f64) -> f64 {
        let poisson = if self.count_unit > 0.0 {
            (level.abs().max(self.count_unit) * self.count_unit).sqrt()
        } else {
            0.0
        };
        // Never zero: what is written with nine significant digits differs in the tenth.
        poisson.max(level.abs() * 1e-9).max(f64::MIN_POSITIVE)
    }

    /// The penalty for a change in a series of `n` points.
    pub fn penalty(&self, n: usize) -> f64 {
        2.0 * (n.max(2) as f64 * self.series.max(1) as f64 / ALPHA).ln()
    }
}

/// Every change of level in one series. `t` rises and is as long as `v`; points that are not finite are passed over.
pub fn onsets(t: &[i64], v: &[f64]) -> Vec<Onset> {
    onsets_among(t, v, Noise::ALONE)
}

/// As [`onsets`], with what is known of the noise and of how many series are looked at.
pub fn onsets_among(t: &[i64], v: &[f64], noise: Noise) -> Vec<Onset> {
    let (t, v): (Vec<i64>, Vec<f64>) = t
        .iter()
        .copied()
        .zip(v.iter().copied())
        .filter(|(_, v)| v.is_finite())
        .unzip();
    let levels = levels(&v, noise);
    levels
        .borders
        .iter()
        .zip(levels.parts.windows(2))
        .filter_map(|(border, parts)| {
            let [before, after] = parts else { return None };
            let index = after.range.start;
            Some(Onset {
                index,
                at: *t.get(index)?,
                from: *t.get(border.earliest.saturating_sub(1))?,
                to: *t.get(border.latest)?,
                before: before.level,
                after: after.level,
                score: border.score,
            })
        })
        .collect()
}

/// Cuts finite values into levels.
pub fn levels(v: &[f64], noise: Noise) -> Levels {
    let whole = 0..v.len();
    let is_constant = v
        .first()
        .is_none_or(|first| v.iter().all(|x| (x - first).abs() < f64::MIN_POSITIVE));
    if v.len() < MIN_POINTS || is_constant {
        return Levels {
            parts: vec![split::part(v, whole, 0.0, noise)],
            ..Levels::default()
        };
    }
    let penalty = noise.penalty(v.len());
    let resolution = split::resolution(v);
    let (mut cuts, left) = split::by_ranks(v, penalty);
    let (left_out, undivided) = split::add_excursions(v, &mut cuts, resolution, noise);
    if let Some(whole) = undivided {
        // Nothing to prune, nothing to refine.
        return Levels {
            parts: vec![whole],
            unexamined: left + left_out,
            ..Levels::default()
        };
    }
    let mut levels = split::prune(v, cuts, resolution, noise, penalty);
    levels.unexamined = left + left_out;
    split::refine(v, &mut levels, resolution, noise);
    levels
}

/// Rates of a counter between neighbouring samples: `(time of the earlier, time of the later, rate per second)`.
///
/// A value that is not finite, a fall (a reset), a distance of more than 2.5 intervals (missed scrapes) and one of less
/// than half an interval (late samples between others) give none.
pub fn rates(t: &[i64], v: &[f64]) -> Vec<(i64, i64, f64)> {
    let Some(interval) = stats::median_step(t) else {
        return Vec::new();
    };
    let (shortest, longest) = (interval / 2, interval.saturating_mul(5) / 2);
    t.windows(2)
        .zip(v.windows(2))
        .filter_map(|(t, v)| {
            let (step, grown) = (t[1].saturating_sub(t[0]), v[1] - v[0]);
            (step > 0 && step >= shortest && step <= longest && grown.is_finite() && grown >= 0.0)
                .then(|| (t[0], t[1], grown / (step as f64 / 1e9)))
        })
        .collect()
}

/// The first-order autocorrelation of noise, from the signs of deviations (robust against outliers): the correlation
/// of signs `s` of two normal variables correlated by `ρ` is `2/π asin ρ` (Sheppard, 1899). `signed` of `pairs`
/// neighbours deviate both.
fn autocorrelation(agreement: f64, signed: f64, pairs: f64) -> f64 {
    if signed < 4.0 {
        return 0.0;
    }
    let estimate = (std::f64::consts::FRAC_PI_2 * agreement / signed).sin();
    // One standard error (1/√n, Bartlett) on the safe side: a dozen points of a walk look like two levels.
    (estimate + 1.0 / pairs.sqrt()).clamp(0.0, MAX_RHO)
}

/// Median and scaled MAD of values, in place.
fn centre_and_mad(values: &mut [f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let centre = middle(values);
    for x in values.iter_mut() {
        *x = (*x - centre).abs();
    }
    (centre, middle(values) * 1.4826)
}

/// The median by selection, in linear time; the order of `values` is lost.
fn middle(values: &mut [f64]) -> f64 {
    let n = values.len();
    let (below, at, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    let at = *at;
    if n % 2 == 1 {
        at
    } else {
        let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        f64::midpoint(low, at)
    }
}

/// How sure a border is, from its score and the points on its shorter side.
///
/// A threshold that is just met by a handful of points is even odds, three times the threshold over a dozen points is
/// four to one.
pub fn confidence(score: f64, points: usize) -> f64 {
    let by_score = 1.0 - 0.5f64.powf(score.max(0.0));
    let by_points = points as f64 / (points as f64 + 1.0);
    stats::median(&[0.05, by_score * by_points, 0.99]).unwrap_or(0.5)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Noise of mean 0 and deviation 1, the same on every machine.
    pub(crate) fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        };
        (0..n)
            .map(|_| (0..12).map(|_| next()).sum::<f64>() - 6.0)
            .collect()
    }

    fn steps(parts: &[(usize, f64)], seed: u64) -> Vec<f64> {
        let n = parts.iter().map(|p| p.0).sum();
        let level = parts
            .iter()
            .flat_map(|(n, level)| std::iter::repeat_n(*level, *n));
        noise(n, seed)
            .into_iter()
            .zip(level)
            .map(|(e, l)| e + l)
            .collect()
    }

    fn indices(v: &[f64]) -> Vec<usize> {
        let t: Vec<i64> = v
            .iter()
            .enumerate()
            .map(|(i, _)| i64::try_from(i).unwrap())
            .collect();
        onsets(&t, v).iter().map(|o| o.index).collect()
    }

    #[test]
    fn finds_a_step_with_its_interval() {
        let v = steps(&[(60, 100.0), (60, 106.0)], 7);
        let t: Vec<i64> = (0..120).map(|i| i * 10).collect();
        let found = onsets(&t, &v);
        assert_eq!(found.len(), 1, "{found:?}");
        let onset = found[0];
        assert!((590..=610).contains(&onset.at), "{onset:?}");
        assert!(
            onset.from < onset.at && onset.at <= onset.to && onset.to - onset.from < 60,
            "{onset:?}"
        );
        assert!((onset.before - 100.0).abs() < 0.5 && (onset.after - 106.0).abs() < 0.5);
    }

    #[test]
    fn finds_steps_up_down_and_a_short_excursion() {
        let v = steps(
            &[(300, 0.0), (200, 5.0), (300, -4.0), (6, 9.0), (194, -4.0)],
            3,
        );
        let found = indices(&v);
        for want in [300usize, 500, 800, 806] {
            assert!(
                found.iter().any(|f| f.abs_diff(want) <= 2),
                "{want}: {found:?}"
            );
        }
        assert_eq!(found.len(), 4, "{found:?}");
    }

    #[test]
    fn a_short_window_is_enough_when_the_levels_are_apart() {
        assert_eq!(indices(&steps(&[(12, 0.0), (6, 50.0)], 1)), [12]);
        assert_eq!(indices(&[1.0, 1.0, 1.0, 9.0, 9.0]), Vec::<usize>::new());
    }

    #[test]
    fn stays_silent_on_noise_waves_walks_constants_and_two_values() {
        for seed in 0..200 {
            assert!(indices(&noise(240, seed)).is_empty(), "noise {seed}");
        }
        let wave: Vec<f64> = noise(1440, 5)
            .iter()
            .enumerate()
            .map(|(i, e)| (i as f64 / 160.0).sin() * 3.0 + e * 0.5)
            .collect();
        assert!(indices(&wave).is_empty(), "{:?}", indices(&wave));
        let walk: Vec<f64> = noise(1000, 9)
            .iter()
            .scan(0.0, |x, e| {
                *x += e;
                Some(*x)
            })
            .collect();
        assert!(indices(&walk).len() <= 2, "{:?}", indices(&walk));
        assert!(indices(&[4.0; 100]).is_empty());
        let flapping: Vec<f64> = noise(300, 2)
            .iter()
            .map(|e| f64::from(u8::from(*e > 0.3)))
            .collect();
        assert!(indices(&flapping).is_empty());
    }

    #[test]
    fn outliers_and_quantised_values_are_no_levels() {
        let mut v = noise(500, 11);
        for i in (10..500).step_by(37) {
            v[i] = 1e6;
        }
        assert!(indices(&v).is_empty(), "{:?}", indices(&v));
        let quantised: Vec<f64> = noise(500, 12).iter().map(|e| (e * 0.7).round()).collect();
        assert!(indices(&quantised).is_empty(), "{:?}", indices(&quantised));
    }

    #[test]
    fn rates_pass_over_resets_gaps_and_nan() {
        let t: Vec<i64> = [0, 1, 2, 3, 4, 9, 10]
            .iter()
            .map(|s| s * 1_000_000_000)
            .collect();
        let v = [0.0, 5.0, 2.0, f64::NAN, 10.0, 20.0, 23.0];
        let rates: Vec<f64> = rates(&t, &v).iter().map(|r| r.2).collect();
        assert_eq!(rates, [5.0, 3.0]);
    }

    proptest! {
        #[test]
        fn shift_and_scale_change_nothing(seed in 0u64..1000, scale in 0.001f64..1000.0, shift in -100f64..100.0) {
            let v = steps(&[(40, 0.0), (40, 8.0)], seed);
            let moved: Vec<f64> = v.iter().map(|x| x * scale + shift).collect();
            prop_assert_eq!(indices(&v), indices(&moved));
        }

        #[test]
        fn never_panics_on_uneven_steps(parts in prop::collection::vec((1usize..9, -3i32..4), 1..60)) {
            let parts: Vec<(usize, f64)> = parts.iter().map(|(n, l)| (*n, f64::from(*l) * 50.0)).collect();
            let v = steps(&parts, 5);
            let found = indices(&v);
            prop_assert!(found.windows(2).all(|w| w[0] + MIN_SIDE <= w[1]), "{:?}", found);
        }

        #[test]
        fn never_panics(v in prop::collection::vec(any::<f64>(), 0..300)) {
            indices(&v);
        }
    }
}
