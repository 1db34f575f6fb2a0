//! The statistics that several detectors share. All deterministic; `NaN` is never passed in (callers filter).

/// The median of `values` (the mean of the middle two for an even count); `None` for none.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The `q`-quantile of unsorted `values` by linear interpolation between order statistics (type 7 of Hyndman & Fan,
/// 1996, the default of R and `NumPy`); `None` for none.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile_sorted(&sorted, q)
}

/// As [`quantile`] for values that are sorted already.
pub fn quantile_sorted(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = q.clamp(0.0, 1.0) * last as f64;
    let low = rank.floor() as usize;
    let high = rank.ceil() as usize;
    let fraction = rank - rank.floor();
    Some(sorted[low] + (sorted[high] - sorted[low]) * fraction)
}

/// The arithmetic mean; `None` for none.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The median absolute deviation from the median, scaled by 1.4826 so that it estimates the standard deviation of a
/// normal distribution (Rousseeuw & Croux, 1993); `None` for none.
pub fn mad(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations).map(|m| m * 1.4826)
}

/// Natural logarithm of n! by Stirling's series (Abramowitz & Stegun 6.1.41); exact to 1e-10 from n = 0 on.
pub fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|k| (k as f64).ln()).sum();
    }
    let x = n as f64 + 1.0;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0 / (12.0 * x)
        - 1.0 / (360.0 * x.powi(3))
}

/// log10 of the upper tail `P(K ≥ k)` of a binomial with `n` trials and probability `p`; 0 when `k` is not above the mean.
///
/// `n` and `k` are rounded: they may be weighted counts. The first term is exact, the rest follow by the ratio of
/// neighbours, which falls above the mean, so that a counter of 10¹² costs no more than one of ten.
pub fn log10_binomial_tail(n: f64, k: f64, p: f64) -> f64 {
    let (n, k) = (n.round().max(0.0), k.round());
    if k <= n * p || p >= 1.0 {
        return 0.0;
    }
    if p <= 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    let first = ln_factorial(n as u64) - ln_factorial(k as u64) - ln_factorial((n - k) as u64)
        + k * p.ln()
        + (n - k) * (-p).ln_1p();
    let odds = p / (1.0 - p);
    log10_sum(first, k, |i| (n - i) / (i + 1.0) * odds)
}

/// log10 of `P(K ≥ k)` of a Poisson with that mean; 0 when `k` is not above it.
pub fn log10_poisson_tail(k: f64, mean: f64) -> f64 {
    let k = k.round();
    if k <= mean {
        return 0.0;
    }
    if mean <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let first = k * mean.ln() - mean - ln_factorial(k as u64);
    log10_sum(first, k, |i| mean / (i + 1.0))
}

/// log10 of a sum whose first term is `exp(ln_first)` and whose terms fall by `ratio(i)` from term `i` on.
fn log10_sum(ln_first: f64, from: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (mut term, mut sum, mut i) = (1.0, 1.0, from);
    // Above the mean the ratio is under 1 and falls; near it some thousand terms count, and more never do.
    for _ in 0..100_000 {
        term *= ratio(i);
        i += 1.0;
        sum += term;
        if term < sum * 1e-12 {
            break;
        }
    }
    ((ln_first + f64::ln(sum)) / std::f64::consts::LN_10).min(0.0)
}

/// The median distance of neighbours in `t`; `None` under two values.
///
/// Scrapes mostly keep their step to the nanosecond, so a step that more than half of the pairs have is looked for
/// first: it is the median, whatever the others are.
pub fn median_step(t: &[i64]) -> Option<i64> {
    let steps = || t.windows(2).map(|w| w[1].saturating_sub(w[0]));
    let first = steps().next()?;
    let pairs = t.len() - 1;
    if steps().filter(|step| *step == first).count() * 2 > pairs {
        return Some(first);
    }
    let mut all: Vec<i64> = steps().collect();
    Some(*all.select_nth_unstable(pairs / 2).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_series_is_the_median_of_its_steps() {
        assert_eq!(median_step(&[5]), None);
        assert_eq!(median_step(&[0, 15, 30, 90, 105]), Some(15));
        assert_eq!(median_step(&[0, 1, 3, 6, 10]), Some(3));
        assert_eq!(median_step(&[0, 9, 10, 11, 12]), Some(1));
        assert_eq!(median_step(&[i64::MIN, i64::MAX]), Some(i64::MAX));
    }

    #[test]
    fn order_statistics() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.5), Some(2.5));
        assert_eq!(median(&[]), None);
        assert!((mad(&[1.0, 2.0, 3.0, 4.0, 100.0]).unwrap() - 1.4826).abs() < 1e-12);
    }

    #[test]
    fn tails_match_the_exact_sums() {
        let exact = |n: u64, k: u64, p: f64| {
            let term = |i: u64| {
                let ways = ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i);
                (ways + i as f64 * p.ln() + (n - i) as f64 * (1.0 - p).ln()).exp()
            };
            (k..=n).map(term).sum::<f64>().log10()
        };
        for (n, k, p) in [
            (100, 5, 0.01),
            (889, 22, 0.01),
            (3, 2, 0.5),
            (239, 100, 0.2),
        ] {
            let tail = log10_binomial_tail(n as f64, k as f64, p);
            assert!((tail - exact(n, k, p)).abs() < 1e-6, "{n} {k} {p}");
        }
        // P(K ≥ 3), mean 1: 1 − e⁻¹ (1 + 1 + 1/2) = 0.0803
        assert!((log10_poisson_tail(3.0, 1.0) - 0.080_301_f64.log10()).abs() < 1e-4);
        // `logs.md` §3.3: slow-connect-control, 6 of 166 in windows that cover 5 to 13 %: no signature
        assert!(log10_binomial_tail(166.0, 6.0, 0.05) > -1.0);
        assert!(log10_binomial_tail(239.0, 239.0, 0.05) < -300.0);
    }

    #[test]
    fn a_counter_of_any_size_has_a_tail_at_once() {
        assert!(log10_binomial_tail(1e15, 6e14, 0.5) < -1e6);
        assert!(log10_binomial_tail(1e9, 2e7, 0.01).is_finite());
        assert_eq!(
            log10_binomial_tail(10.0, 5.0, 0.5).total_cmp(&0.0),
            std::cmp::Ordering::Equal
        );
    }
}
