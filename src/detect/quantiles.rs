//! Finding the stretches of time in which too many observations lie beyond a bound.
//!
//! `latency_spike` and `error_burst` share it. How likely a stretch is by chance is told by the tails in
//! [`crate::base::stats`].

use std::ops::Range;

/// All maximal stretches of positive score, in order, by the algorithm of Ruzzo and Tompa.
///
/// 1999, "A linear time algorithm for finding all maximal scoring subsequences". With the score `k − τ n` (of `n` observations `k` beyond a
/// bound) a stretch is one in which the share beyond it is above τ, as is that of each of its beginnings and ends; it
/// is not torn by a quiet moment that what follows outweighs. Linear in the number of scores.
pub fn maximal_stretches(scores: impl IntoIterator<Item = f64>) -> Vec<Range<usize>> {
    struct Candidate {
        range: Range<usize>,
        /// Sum of all scores before it.
        left: f64,
        /// Sum of all scores up to its end.
        right: f64,
        /// The nearest earlier candidate with a smaller `left`.
        link: Option<usize>,
    }
    let mut open: Vec<Candidate> = Vec::new();
    let mut total = 0.0;
    for (at, score) in scores.into_iter().enumerate() {
        let mut next = Candidate {
            range: at..at + 1,
            left: total,
            right: total + score,
            link: None,
        };
        total += score;
        if score.is_nan() || score <= 0.0 {
            continue;
        }
        loop {
            // Between a candidate and its link every `left` is at least its own, so links can be followed.
            let mut earlier = open.len().checked_sub(1);
            while let Some(candidate) = earlier.and_then(|e| open.get(e)) {
                if candidate.left < next.left {
                    break;
                }
                earlier = candidate.link;
            }
            match earlier.and_then(|e| open.get(e).map(|c| (e, c))) {
                Some((e, candidate)) if candidate.right < next.right => {
                    next.range.start = candidate.range.start;
                    next.left = candidate.left;
                    open.truncate(e);
                }
                found => {
                    next.link = found.map(|(e, _)| e);
                    open.push(next);
                    break;
                }
            }
        }
    }
    open.into_iter().map(|candidate| candidate.range).collect()
}

/// The part of a stretch that its own share tells best from the usual one.
///
/// That is the best scoring run under the log likelihood ratio `k ln(p1/p0) − n (p1 − p0)`. A stray hit shortly before or after a dense stretch does not belong to it.
pub fn trim(
    stretch: &Range<usize>,
    counts: impl Fn(usize) -> (f64, f64),
    usual_share: f64,
) -> Range<usize> {
    let (n, k) = stretch
        .clone()
        .map(&counts)
        .fold((0.0, 0.0), |(n, k), (more_n, more_k)| {
            (n + more_n, k + more_k)
        });
    let share = k / n;
    if !share.is_finite() || usual_share <= 0.0 || share <= usual_share {
        return stretch.clone();
    }
    let (gain, cost) = ((share / usual_share).ln(), share - usual_share);
    let (mut best, mut best_score) = (stretch.clone(), f64::NEG_INFINITY);
    let (mut from, mut score) = (stretch.start, 0.0);
    for at in stretch.clone() {
        let (n, k) = counts(at);
        score += k * gain - n * cost;
        if score > best_score {
            (best, best_score) = (from..at + 1, score);
        }
        if score <= 0.0 {
            (from, score) = (at + 1, 0.0);
        }
    }
    best
}

/// log10 of how many stretches begin and end with one of `hits` slices that hold something.
///
/// A scan for the most unusual one tests them all, so their number corrects its chance (Bonferroni).
pub fn log10_stretches(hits: f64) -> f64 {
    (hits * (hits + 1.0) / 2.0).max(1.0).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_as_in_the_paper() {
        // The example of Ruzzo and Tompa, §2: 4 −5 3 −3 1 2 −2 2 −2 1 5 → [4], [3], [1 2 −2 2 −2 1 5].
        let scores = [4.0, -5.0, 3.0, -3.0, 1.0, 2.0, -2.0, 2.0, -2.0, 1.0, 5.0];
        assert_eq!(maximal_stretches(scores), [0..1, 2..3, 4..11]);
        assert!(maximal_stretches([-1.0, 0.0]).is_empty());
    }

    #[test]
    fn a_stray_hit_is_trimmed_off() {
        let hits = [1.0, 0.0, 0.0, 0.0, 5.0, 0.0, 6.0, 4.0, 0.0];
        let counts = |at: usize| (10.0, hits[at]);
        assert_eq!(trim(&(0..9), counts, 0.01), 4..8);
        assert_eq!(trim(&(0..0), counts, 0.01), 0..0);
    }
}
