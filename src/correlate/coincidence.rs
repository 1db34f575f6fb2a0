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
pub(super) fn circular_shift_p(a: &[f64], b: &[f64]) -> f64 {
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

/// How much begins after an instant, against how much would if the instant stood anywhere in the window.
///
/// What begins between `slack_s` before an instant and `lag_s` after it follows it, and counts the less the later it
/// comes: by e for each sixth of `lag_s`. The instant is moved around the window in a circle, once for all instants that
/// are asked about: they share the onsets, and so what chance gives.
#[derive(Debug, Clone)]
pub(super) struct Follows {
    /// (seconds since the window's start, weight), in order of time.
    onsets: Vec<(f64, f64)>,
    lag_s: f64,
    slack_s: f64,
    /// The weight that follows each of the even positions, ascending.
    by_chance: Vec<f64>,
}

impl Follows {
    const POSITIONS: usize = 1_000;

    /// `onsets` are (seconds since the window's start, weight); `window_s` is the length of the window.
    pub(super) fn of(mut onsets: Vec<(f64, f64)>, lag_s: f64, slack_s: f64, window_s: f64) -> Self {
        onsets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut follows = Self {
            onsets,
            lag_s,
            slack_s,
            by_chance: Vec::new(),
        };
        if window_s > 0.0 {
            let position = |k: usize| window_s * (k as f64 + 0.5) / Self::POSITIONS as f64;
            // What the end of the circle cuts off stands once more before its beginning.
            follows.by_chance = (0..Self::POSITIONS)
                .map(|k| {
                    let at_s = position(k);
                    let wraps = at_s + lag_s > window_s;
                    let wrapped = if wraps {
                        follows.weight_after(at_s - window_s)
                    } else {
                        0.0
                    };
                    follows.weight_after(at_s) + wrapped
                })
                .collect();
            follows.by_chance.sort_by(f64::total_cmp);
        }
        follows
    }

    /// The weight that follows an instant.
    fn weight_after(&self, at_s: f64) -> f64 {
        let first = self
            .onsets
            .partition_point(|(t, _)| *t < at_s - self.slack_s);
        self.onsets
            .iter()
            .skip(first)
            .take_while(|(t, _)| *t <= at_s + self.lag_s)
            .map(|(t, weight)| weight * (-6.0 * (t - at_s).max(0.0) / self.lag_s).exp())
            .sum()
    }

    /// The p-value that as much follows `at_s` as does.
    pub(super) fn p(&self, at_s: f64) -> f64 {
        let observed = self.weight_after(at_s);
        if observed <= 0.0 || self.by_chance.is_empty() {
            return 1.0;
        }
        let as_good_from = observed * (1.0 - 1e-12);
        let as_good = self.by_chance.len() - self.by_chance.partition_point(|w| *w < as_good_from);
        (as_good + 1) as f64 / (self.by_chance.len() + 1) as f64
    }
}

/// Bonferroni's correction: the chance that the best of `tests` independent tries is as good as `p`.
pub(super) fn corrected(p: f64, tests: usize) -> f64 {
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
        let alone = Follows::of(vec![(103.0, 1.0), (101.0, 2.0)], 10.0, 2.0, 1_000.0);
        assert!(alone.p(100.0) < 0.02);
        assert!(alone.p(300.0) >= 1.0, "nothing follows");
        let everywhere = (0..100).map(|k| (f64::from(k) * 10.0, 1.0)).collect();
        assert!(Follows::of(everywhere, 10.0, 2.0, 1_000.0).p(103.0) > 0.5);
        assert!(Follows::of(Vec::new(), 10.0, 2.0, 1_000.0).p(1.0) >= 1.0);
        assert!(Follows::of(vec![(0.0, 1.0)], 10.0, 2.0, 0.0).p(0.0) >= 1.0);
        assert!(corrected(0.4, 3) >= 1.0);
    }
}
