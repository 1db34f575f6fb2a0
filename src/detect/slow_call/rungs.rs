//! Whether slow gaps stand on the ladder of SYN retransmission ([`crate::detect::ladders`]).

use crate::detect::ladders::{self, BELIEVED_LOG10_P, FLOOR_MS};

/// Of a typical gap at most this much is taken for one round trip.
const MOST_ROUND_TRIP_MS: f64 = 100.0;

/// Gaps on a ladder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steps {
    /// The ladder in words: "doubling from 1 s".
    pub kind: &'static str,
    /// (seconds of the rung, gaps on it), rungs without gaps left out.
    pub rungs: Vec<(u64, u64)>,
}

/// The ladder that `gaps_ms` stand on, if they do, by the same test as connects. `typical_ms` is the gap of a quick call,
/// which holds one round trip.
pub(super) fn steps(gaps_ms: &[f64], typical_ms: f64) -> Option<Steps> {
    let slow: Vec<f64> = gaps_ms
        .iter()
        .copied()
        .filter(|ms| *ms >= FLOOR_MS)
        .collect();
    let (windows, log10_p) = ladders::best(&slow, typical_ms.clamp(0.0, MOST_ROUND_TRIP_MS));
    let kind = windows.ladder.syn_words()?;
    let mut rungs: Vec<(u64, u64)> = Vec::new();
    let mut on: Vec<u64> = slow
        .iter()
        .filter_map(|ms| windows.rung_of(*ms))
        .map(|s| s as u64)
        .collect();
    on.sort_unstable();
    for seconds in on {
        match rungs.last_mut() {
            Some((known, count)) if *known == seconds => *count += 1,
            _ => rungs.push((seconds, 1)),
        }
    }
    (log10_p <= BELIEVED_LOG10_P).then_some(Steps { kind, rungs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_just_above_one_and_three_seconds_are_a_ladder() {
        // the six slow gaps of `snat-connect-ladder`
        let gaps = [
            1008.886, 1024.759, 1024.958, 1029.625, 1035.783, 3032.614, 16.9, 0.6,
        ];
        let found = steps(&gaps, 0.6).unwrap();
        assert_eq!(found.rungs, [(1, 5), (3, 1)]);
        assert!(found.kind.starts_with("doubling"));
    }

    #[test]
    fn two_seconds_need_the_linear_ladder() {
        let found = steps(&[1010.0, 1020.0, 2030.0, 2040.0], 1.0).unwrap();
        assert_eq!(found.rungs, [(1, 2), (2, 2)]);
        assert!(found.kind.contains("linear"));
    }

    #[test]
    fn broad_gaps_and_a_single_one_are_none() {
        let broad: Vec<f64> = (0..40).map(|n| 500.0 + 90.0 * f64::from(n)).collect();
        assert_eq!(steps(&broad, 1.0), None);
        assert_eq!(steps(&[1009.0], 1.0), None);
        assert_eq!(steps(&[900.0, 950.0, 1009.0], 1.0), None);
        assert_eq!(steps(&[], 1.0), None);
    }
}
