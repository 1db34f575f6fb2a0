//! Whether two things happen together more often than chance would have it.
//!
//! The null hypothesis keeps each signal as it is, with its own rhythm and bursts, and only breaks their alignment: one
//! is shifted around the window in a circle (Harrison et al., "Point process statistics", 2013, circular-shift surrogates).
//! The p-value is the share of shifts that align at least as well. All shifts are tried, or a fixed even subset of them,
//! so that the answer is the same on every run.

/// At most this many shifts are tried.
const MAX_SHIFTS: usize = 2_000;

/// The p-value of the alignment of two signals binned alike (`a` and `b` as long as each other).
///
/// The statistic is the sum of products, with `b` also counted one bin late, since an effect is often recorded by the next
/// sample.
pub fn circular_shift_p(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    if n < 4 || a.iter().all(|v| *v == 0.0) || b.iter().all(|v| *v == 0.0) {
        return 1.0;
    }
    let aligned = |shift: usize| -> f64 {
        (0..n)
            .map(|i| a[i] * (b[(i + shift) % n] + 0.5 * b[(i + shift + 1) % n]))
            .sum()
    };
    let observed = aligned(0);
    let step = (n / MAX_SHIFTS).max(1);
    let mut tried = 0usize;
    let mut as_good = 0usize;
    for shift in (step..n).step_by(step) {
        tried += 1;
        as_good += usize::from(aligned(shift) >= observed * (1.0 - 1e-12));
    }
    (as_good + 1) as f64 / (tried + 1) as f64
}

/// The p-value that as much weight follows an instant as closely as does, were the instant anywhere in the window.
///
/// `onsets` are (seconds since the window's start, weight); `at_s` is the instant. What begins between `slack_s` before it
/// and `lag_s` after it follows it, and counts the less the later it comes: by e for each sixth of `lag_s`. `window_s` is
/// the length of the window, over which the instant is moved in a circle.
pub fn follows_p(onsets: &[(f64, f64)], at_s: f64, lag_s: f64, slack_s: f64, window_s: f64) -> f64 {
    const POSITIONS: usize = 1_000;
    if onsets.is_empty() || window_s <= 0.0 {
        return 1.0;
    }
    let counted = |weight: f64, since_slack: f64| {
        let late = (since_slack - slack_s).max(0.0);
        if since_slack <= lag_s + slack_s {
            weight * (-6.0 * late / lag_s).exp()
        } else {
            0.0
        }
    };
    let weight_at = |at: f64| -> f64 {
        onsets
            .iter()
            .map(|(onset, weight)| counted(*weight, (onset - (at - slack_s)).rem_euclid(window_s)))
            .sum()
    };
    let observed: f64 = onsets
        .iter()
        .filter(|(onset, _)| *onset >= at_s - slack_s)
        .map(|(onset, weight)| counted(*weight, onset - (at_s - slack_s)))
        .sum();
    if observed <= 0.0 {
        return 1.0;
    }
    let as_good = (0..POSITIONS)
        .filter(|k| {
            weight_at(window_s * (*k as f64 + 0.5) / POSITIONS as f64) >= observed * (1.0 - 1e-12)
        })
        .count();
    (as_good + 1) as f64 / (POSITIONS + 1) as f64
}

/// Bonferroni's correction: the chance that the best of `tests` independent tries is as good as `p`.
pub fn corrected(p: f64, tests: usize) -> f64 {
    (p * tests.max(1) as f64).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_bursts_are_told_from_shifted_ones() {
        let mut a = vec![0.0; 200];
        let mut b = vec![0.0; 200];
        for k in [13, 47, 81, 90, 133, 171] {
            a[k] = 1.0;
            b[k] = 2.0;
        }
        assert!(circular_shift_p(&a, &b) < 0.02);
        b.rotate_right(29);
        assert!(circular_shift_p(&a, &b) > 0.2);
        assert!(circular_shift_p(&a, &[0.0; 200]) >= 1.0);
    }

    #[test]
    fn what_follows_a_change_must_be_rare_elsewhere() {
        let alone = [(101.0, 2.0), (103.0, 1.0)];
        assert!(follows_p(&alone, 100.0, 10.0, 2.0, 1_000.0) < 0.02);
        let everywhere: Vec<(f64, f64)> = (0..100).map(|k| (f64::from(k) * 10.0, 1.0)).collect();
        assert!(follows_p(&everywhere, 103.0, 10.0, 2.0, 1_000.0) > 0.5);
        assert!(corrected(0.4, 3) >= 1.0);
    }
}
