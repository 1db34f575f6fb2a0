//! Tests of two samples that hold for few values, for ties, and for changes of the tail alone.
//!
//! - Mann & Whitney, 1947, "On a test of whether one of two random variables is stochastically larger than the other"; ties
//!   as in Lehmann, 1975, *Nonparametrics*, §1.4; the exact distribution with ties by the shift algorithm of Streitberg &
//!   Röhmel, 1986, "Exact distributions for permutation and rank tests".
//! - Johnson, Verrill & Moore, 1987, "Two-sample rank tests for detecting changes that occur in a small proportion of the
//!   treated population": how many of the largest values belong to one side.
//! - Benjamini & Hochberg, 1995, "Controlling the false discovery rate".
//! - Cliff, 1993, "Dominance statistics": the share of pairs that rise less the share that fall.

use crate::base::stats::ln_factorial;

/// A value with how often each side has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// The value, or the place of its bucket.
    pub value: f64,
    /// How often A has it.
    pub a: f64,
    /// How often B has it.
    pub b: f64,
}

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// How likely such a difference, or a larger one, is by chance (two-sided).
    pub p: f64,
    /// Cliff's delta: 1 when every value of B is above every one of A, −1 when below, 0 when neither leads.
    pub delta: f64,
}

/// Two samples as groups of equal values, ascending. `NaN` is left out.
pub fn groups(a: &[f64], b: &[f64]) -> Vec<Group> {
    let of_a = a.iter().map(|v| (*v, 1.0, 0.0));
    let of_b = b.iter().map(|v| (*v, 0.0, 1.0));
    let mut all: Vec<(f64, f64, f64)> = of_a.chain(of_b).filter(|(v, ..)| !v.is_nan()).collect();
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let mut groups: Vec<Group> = Vec::new();
    for (value, a, b) in all {
        match groups.last_mut() {
            Some(last) if last.value.total_cmp(&value).is_eq() => {
                last.a += a;
                last.b += b;
            }
            _ => groups.push(Group { value, a, b }),
        }
    }
    groups
}

/// Values of both sides together up to which the exact distribution is counted out.
const EXACT: f64 = 120.0;
/// Values of the smaller side up to which it is.
const EXACT_SMALLER: f64 = 10.0;

/// The test of Mann and Whitney over grouped values; `None` when a side has nothing.
///
/// `inflation` is how much wider the null distribution is because
/// neighbouring values resemble each other (1 for independent ones).
pub fn mann_whitney(groups: &[Group], inflation: f64) -> Option<Outcome> {
    let (na, nb) = sizes(groups);
    if na <= 0.0 || nb <= 0.0 {
        return None;
    }
    let n = na + nb;
    let (mut below, mut u, mut ties) = (0.0, 0.0, 0.0);
    for group in groups {
        u += group.b * (below + group.a / 2.0);
        below += group.a;
        let t = group.a + group.b;
        ties += t * t * t - t;
    }
    let delta = (2.0 * u / (na * nb) - 1.0).clamp(-1.0, 1.0);
    if na.min(nb) <= EXACT_SMALLER && n <= EXACT && inflation <= 1.5 {
        let p = exact(groups, na, nb, u);
        return Some(Outcome { p, delta });
    }
    let variance = na * nb / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0))) * inflation.max(1.0);
    if variance <= 0.0 {
        return Some(Outcome { p: 1.0, delta });
    }
    let distance = ((u - na * nb / 2.0).abs() - 0.5).max(0.0);
    Some(Outcome {
        p: two_sided_normal(distance / variance.sqrt()),
        delta,
    })
}

fn sizes(groups: &[Group]) -> (f64, f64) {
    groups
        .iter()
        .fold((0.0, 0.0), |(a, b), g| (a + g.a, b + g.b))
}

/// Counts in how many of all ways to deal the values out the smaller side lies at least as far from the middle.
fn exact(groups: &[Group], na: f64, nb: f64, u_b: f64) -> f64 {
    let is_b_smaller = nb <= na;
    let small = na.min(nb) as usize;
    let u = if is_b_smaller { u_b } else { na * nb - u_b };
    // Twice the midrank of each value is a whole number.
    let mut ranks = Vec::new();
    let mut below = 0.0;
    for group in groups {
        let t = group.a + group.b;
        let twice = (2.0 * below + t + 1.0) as usize;
        ranks.extend(std::iter::repeat_n(twice, t as usize));
        below += t;
    }
    let most: usize = ranks.iter().rev().take(small).sum();
    let width = most + 1;
    // ways[k × width + s]: ways to choose k of the values so far with a sum of s.
    let mut ways = vec![0.0f64; (small + 1) * width];
    if let Some(first) = ways.first_mut() {
        *first = 1.0;
    }
    for rank in &ranks {
        for k in (1..=small).rev() {
            let (lower, upper) = ways.split_at_mut(k * width);
            let Some(from) = lower.get((k - 1) * width..) else {
                continue;
            };
            for (sum, count) in from.iter().enumerate() {
                if *count > 0.0
                    && let Some(to) = upper.get_mut(sum + rank)
                    && sum + rank < width
                {
                    *to += count;
                }
            }
        }
    }
    let chosen = ways.get(small * width..).unwrap_or_default();
    let total: f64 = chosen.iter().sum();
    let offset = (small * (small + 1)) as f64;
    let middle = na * nb / 2.0;
    let far = (u - middle).abs();
    let as_far: f64 = chosen
        .iter()
        .enumerate()
        .filter(|(sum, _)| ((*sum as f64 - offset) / 2.0 - middle).abs() >= far - 1e-9)
        .map(|(_, count)| count)
        .sum();
    if total > 0.0 {
        (as_far / total).min(1.0)
    } else {
        1.0
    }
}

/// The smallest `p` that sides of these sizes can reach: when that is too large, nothing can be said at all.
pub fn smallest_p(na: f64, nb: f64) -> f64 {
    let (na, nb) = (na.round().max(0.0) as u64, nb.round().max(0.0) as u64);
    let ln_ways = ln_factorial(na + nb) - ln_factorial(na) - ln_factorial(nb);
    (2.0 * (-ln_ways).exp()).min(1.0)
}

/// `P(|Z| ≥ z)` of the standard normal.
pub fn two_sided_normal(z: f64) -> f64 {
    erfc(z / std::f64::consts::SQRT_2).clamp(0.0, 1.0)
}

/// The complementary error function for x ≥ 0; relative error under 1.2e-7 (Press et al., *Numerical Recipes*, `erfcc`).
fn erfc(x: f64) -> f64 {
    const TERMS: [f64; 10] = [
        0.170_872_77,
        -0.822_152_23,
        1.488_515_87,
        -1.135_203_98,
        0.278_868_07,
        -0.186_288_06,
        0.096_784_18,
        0.374_091_96,
        1.000_023_68,
        -1.265_512_23,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    let sum = TERMS.iter().fold(0.0, |sum, term| sum * t + term);
    t * (-x * x + sum).exp()
}

/// What the tails say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail {
    /// How likely that is by chance, corrected for the bounds that were tried.
    pub p: f64,
    /// Values from here on are counted.
    pub bound: f64,
    /// How many of A lie there.
    pub a: usize,
    /// How many of B.
    pub b: usize,
    /// From −1 to 1: how far the share of B among them is from what chance gives.
    pub effect: f64,
}

/// Shares of all values whose largest are looked at, besides those beyond the widest step.
const TAILS: [f64; 2] = [0.01, 0.05];
/// The share of all values that a tail is, at most.
const TAIL: f64 = 0.05;
/// Values that make a tail, at least.
const TAIL_VALUES: usize = 4;

/// Whether the largest values belong to one side. Both ascending, without `NaN`.
///
/// The bounds are chosen by both sides together, without looking at which value is whose, so that they favour none: the
/// widest step among the largest values (a rung of retransmission stands far from the rest), and fixed shares.
pub fn tail(a: &[f64], b: &[f64]) -> Option<Tail> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(|x, y| y.total_cmp(x));
    let fixed = TAILS.map(|share| (all.len() as f64 * share).round() as usize);
    let mut tops: Vec<usize> = fixed.into_iter().chain(widest_step(&all)).collect();
    tops.sort_unstable();
    tops.dedup();
    let mut bounds: Vec<f64> = tops
        .iter()
        .filter(|top| **top >= TAIL_VALUES)
        .filter_map(|top| all.get(top - 1).copied())
        .collect();
    bounds.dedup_by(|x, y| x.total_cmp(y).is_eq());
    let above = |side: &[f64], bound: f64| side.len() - side.partition_point(|v| *v < bound);
    best_tail(
        a.len(),
        b.len(),
        bounds
            .iter()
            .map(|bound| (*bound, above(a, *bound), above(b, *bound))),
    )
}

/// The most telling of some tails, each with its bound and how many of A and B reach it; corrected for their number.
pub fn best_tail(
    na: usize,
    nb: usize,
    tails: impl Iterator<Item = (f64, usize, usize)>,
) -> Option<Tail> {
    let n = (na + nb) as f64;
    let of_b = nb as f64 / n;
    let mut tried = 0.0;
    let mut best: Option<Tail> = None;
    for (bound, a, b) in tails {
        let top = (a + b) as f64;
        // Many equal values at the bound tell nothing of a tail.
        if a + b < TAIL_VALUES || top > n * 2.0 * TAIL {
            continue;
        }
        tried += 1.0;
        let lead = b as f64 / top - of_b;
        let found = Tail {
            p: hypergeometric(na, nb, a, b),
            bound,
            a,
            b,
            effect: lead / if lead > 0.0 { 1.0 - of_b } else { of_b },
        };
        if best.is_none_or(|known| found.p < known.p) {
            best = Some(found);
        }
    }
    best.map(|found| Tail {
        p: (found.p * tried).min(1.0),
        ..found
    })
}

/// How many values lie above the widest step among the largest (which come first).
fn widest_step(all: &[f64]) -> Option<usize> {
    let most = ((all.len() as f64 * TAIL) as usize).min(all.len().saturating_sub(1));
    let mut widest: Option<(f64, usize)> = None;
    for top in TAIL_VALUES..=most {
        let (Some(high), Some(low)) = (all.get(top - 1), all.get(top)) else {
            break;
        };
        let step = if *low > 0.0 {
            high / low
        } else if *high > 0.0 {
            f64::MAX
        } else {
            1.0
        };
        if step > 1.0 && widest.is_none_or(|(known, _)| step > known) {
            widest = Some((step, top));
        }
    }
    widest.map(|(_, top)| top)
}

/// Fisher's exact test: of `na` and `nb` things `ka` and `kb` are marked; two-sided by doubling the smaller tail.
pub fn hypergeometric(na: usize, nb: usize, ka: usize, kb: usize) -> f64 {
    let (na, nb, ka, kb) = (na as u64, nb as u64, ka as u64, kb as u64);
    let marked = ka + kb;
    let ln_choose = |n: u64, k: u64| ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k);
    let ln_all = ln_choose(na + nb, marked);
    let chance = |k: u64| (ln_choose(nb, k) + ln_choose(na, marked - k) - ln_all).exp();
    let (least, most) = (marked.saturating_sub(na), marked.min(nb));
    let is_high = kb as f64 >= marked as f64 * nb as f64 / (na + nb).max(1) as f64;
    let mut sum = 0.0;
    // Terms fall away from the middle, so the sum may end as soon as they no longer count.
    let mut k = kb;
    loop {
        let term = chance(k);
        sum += term;
        let is_end = if is_high { k >= most } else { k <= least };
        if is_end || term < sum * 1e-12 {
            break;
        }
        k = if is_high { k + 1 } else { k - 1 };
    }
    (2.0 * sum).min(1.0)
}

/// The false discovery rate at which each would just be taken for real, in the order of `p`.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    let at = |ix: usize| p.get(ix).copied().unwrap_or(1.0);
    order.sort_by(|a, b| at(*b).total_cmp(&at(*a)));
    let mut q = vec![1.0; p.len()];
    let mut smallest: f64 = 1.0;
    for (from_last, ix) in order.iter().enumerate() {
        let rank = (p.len() - from_last) as f64;
        smallest = smallest.min(at(*ix) * p.len() as f64 / rank);
        if let Some(q) = q.get_mut(*ix) {
            *q = smallest;
        }
    }
    q
}

/// How much wider the sum of `values` spreads because each resembles the one before.
///
/// `(1 + r) / (1 − r)` with their first
/// autocorrelation (Bayley & Hammersley, 1946, "The effective number of independent observations in an autocorrelated time
/// series").
pub fn inflation(values: &[f64]) -> f64 {
    let Some(mean) = crate::base::stats::mean(values) else {
        return 1.0;
    };
    let spread: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if values.len() < 4 || spread <= 0.0 {
        return 1.0;
    }
    let products: f64 = values
        .windows(2)
        .map(|pair| match pair {
            [a, b] => (a - mean) * (b - mean),
            _ => 0.0,
        })
        .sum();
    let r = (products / spread).clamp(0.0, 0.98);
    ((1.0 + r) / (1.0 - r))
        .min(values.len() as f64 / 3.0)
        .max(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() < within, "{got} is not {want}");
    }

    #[test]
    fn mann_whitney_gives_the_known_values() {
        // R: wilcox.test(c(1.1,2.2,3.3,4.4), c(5.5,6.6,7.7,8.8)) → p = 0.02857 = 2/70.
        let apart = groups(&[1.1, 2.2, 3.3, 4.4], &[5.5, 6.6, 7.7, 8.8]);
        let outcome = mann_whitney(&apart, 1.0).unwrap();
        near(outcome.p, 2.0 / 70.0, 1e-12);
        near(outcome.delta, 1.0, 1e-12);
        // Hollander & Wolfe, 1973, p. 69 (R's own example of wilcox.test): W = 35, two-sided p = 0.2544.
        let x = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let y = [1.15, 0.88, 0.90, 0.74, 1.21];
        let outcome = mann_whitney(&groups(&y, &x), 1.0).unwrap();
        near(outcome.p, 0.2544, 5e-5);
        near(outcome.delta, 2.0 * 35.0 / 50.0 - 1.0, 1e-12);
    }

    #[test]
    fn the_approximation_comes_near_the_exact_value() {
        let a: Vec<f64> = (0..40).map(f64::from).collect();
        let b: Vec<f64> = (0..40).map(|v| f64::from(v) + 7.5).collect();
        // Taken as an approximation, and widened by nothing.
        let outcome = mann_whitney(&groups(&a, &b), 1.0).unwrap();
        // scipy.stats.mannwhitneyu(a, b, method="asymptotic"): U = 528, p = 0.00890.
        near(outcome.p, 0.008_9, 2e-4);
        let wider = mann_whitney(&groups(&a, &b), 4.0).unwrap();
        assert!(wider.p > outcome.p * 10.0);
    }

    #[test]
    fn too_few_can_reach_nothing() {
        near(smallest_p(2.0, 2.0), 1.0 / 3.0, 1e-9);
        near(smallest_p(50.0, 2.0), 2.0 / 1326.0, 1e-9);
        assert!(smallest_p(0.0, 9.0) > 0.99);
    }

    #[test]
    fn a_tail_that_a_mean_hides_is_found() {
        let mut a: Vec<f64> = (0..1800).map(|v| f64::from(v % 100) / 100.0).collect();
        let mut b: Vec<f64> = (0..3700).map(|v| f64::from(v % 100) / 100.0).collect();
        for slow in b.iter_mut().step_by(170) {
            *slow = 1000.0;
        }
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        let level = mann_whitney(&groups(&a, &b), 1.0).unwrap();
        assert!(level.p > 0.05, "{level:?}");
        let tail = tail(&a, &b).unwrap();
        assert!(tail.p < 0.01 && tail.effect > 0.5, "{tail:?}");
        assert!(tail.a == 0 || tail.bound < 1000.0);
        let same = super::tail(&a, &a).unwrap();
        assert!(same.p > 0.5, "{same:?}");
    }

    #[test]
    fn fisher_gives_the_known_value() {
        // The lady tasting tea: 3 of 4 right, one-sided 17/70.
        near(hypergeometric(4, 4, 1, 3), 34.0 / 70.0, 1e-9);
    }

    #[test]
    fn many_tests_are_corrected() {
        // Benjamini & Hochberg, 1995, §3.2: with 15 tests and q = 0.05 the first four are taken for real.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let q = benjamini_hochberg(&p);
        assert_eq!(q.iter().filter(|q| **q <= 0.05).count(), 4);
        near(q[0], 0.0015, 1e-9);
    }

    #[test]
    fn what_resembles_its_neighbour_counts_less() {
        let slow: Vec<f64> = (0..200).map(|v| (f64::from(v) / 20.0).sin()).collect();
        let fast: Vec<f64> = (0..200).map(|v| f64::from(v * 7919 % 101)).collect();
        assert!(inflation(&slow) > 10.0);
        assert!(inflation(&fast) < 1.5);
    }

    proptest! {
        #[test]
        fn sides_can_be_swapped(
            a in prop::collection::vec(0u8..20, 1..30), b in prop::collection::vec(0u8..20, 1..30),
        ) {
            let a: Vec<f64> = a.into_iter().map(f64::from).collect();
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let there = mann_whitney(&groups(&a, &b), 1.0).unwrap();
            let back = mann_whitney(&groups(&b, &a), 1.0).unwrap();
            prop_assert!((there.p - back.p).abs() < 1e-9, "{there:?} {back:?}");
            prop_assert!((there.delta + back.delta).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&there.p));
        }
    }
}
