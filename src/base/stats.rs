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

/// log10 of the upper tail `P(K >= k)` of a binomial with `n` trials and probability `p`.
pub fn log10_binomial_tail(n: u64, k: u64, p: f64) -> f64 {
    if k == 0 || p >= 1.0 {
        return 0.0;
    }
    if p <= 0.0 || k > n {
        return f64::NEG_INFINITY;
    }
    let ln_term = |i: u64| {
        ln_factorial(n) - ln_factorial(i) - ln_factorial(n - i)
            + i as f64 * p.ln()
            + (n - i) as f64 * (1.0 - p).ln()
    };
    let largest = (k..=n).map(ln_term).fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = (k..=n).map(|i| (ln_term(i) - largest).exp()).sum();
    ((largest + sum.ln()) / std::f64::consts::LN_10).min(0.0)
}

/// The least-squares slope of `y` over `x`, the Theil–Sen way for robustness is left to callers; `None` under two
/// distinct `x`.
pub fn slope(x: &[f64], y: &[f64]) -> Option<f64> {
    let (mean_x, mean_y) = (mean(x)?, mean(y)?);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        covariance += (x - mean_x) * (y - mean_y);
        variance += (x - mean_x).powi(2);
    }
    (variance > 0.0).then(|| covariance / variance)
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
    fn binomial_tail_matches_by_hand() {
        // P(K >= 2 | 3, 0.5) = 0.5
        assert!((log10_binomial_tail(3, 2, 0.5) - 0.5f64.log10()).abs() < 1e-9);
        // `logs.md` §3.3: slow-connect-control, 6 of 166 in windows that cover 5 to 13 %: no signature
        assert!(log10_binomial_tail(166, 6, 0.05) > -1.0);
        assert!(log10_binomial_tail(239, 239, 0.05) < -300.0);
    }
}
