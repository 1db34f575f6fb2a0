//! Whether slow gaps sit on the ladder of SYN retransmission (`signatures.md`, "Ladders of timers").

/// Cumulative waits in seconds of a doubling timer: Linux before 6.5, or `tcp_syn_linear_timeouts=0`.
const CLASSIC: &[f64] = &[1.0, 3.0, 7.0, 15.0, 31.0];
/// The same with four linear steps first, the default since Linux 6.5.
const LINEAR: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0];

/// Timers only round up, by at most an eighth (`signatures.md`).
const LATEST: f64 = 1.125;
/// Gaps from here on are candidates (`logs.md` §3.3, step 1).
const FROM_S: f64 = 0.5;
/// A clock of milliseconds at both ends of two spans.
const CLOCK_S: f64 = 0.002;
/// log10 of the chance at which as many gaps would fall on rungs if they lay anywhere. The recordings of `logs.md` §3.3
/// give −88 and less with a ladder and −0.9 without.
const LOG10_CHANCE: f64 = -2.0;

/// Gaps on a ladder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ladder {
    /// (seconds of the rung, gaps on it), rungs without gaps left out.
    pub rungs: Vec<(u64, u64)>,
    /// Whether the linear steps are needed to explain them.
    pub is_linear: bool,
}

/// The ladder that `gaps_ms` sit on, if they do: by the binomial test of `logs.md` §3.3. `typical_ms` is the gap of a
/// quick call, which holds one round trip.
pub(super) fn ladder(gaps_ms: &[f64], typical_ms: f64) -> Option<Ladder> {
    let slow: Vec<f64> = gaps_ms
        .iter()
        .map(|ms| ms / 1e3)
        .filter(|s| *s >= FROM_S)
        .collect();
    let round_trip = typical_ms.clamp(0.0, 100.0) / 1e3;
    let on = |steps: &[f64]| -> Vec<(u64, u64)> {
        steps
            .iter()
            .map(|step| {
                let count = slow
                    .iter()
                    .filter(|s| (step - CLOCK_S..=step * LATEST + round_trip).contains(*s))
                    .count();
                (*step as u64, count as u64)
            })
            .filter(|(_, count)| *count > 0)
            .collect()
    };
    let total = |rungs: &[(u64, u64)]| rungs.iter().map(|(_, n)| n).sum::<u64>();
    let (classic, linear) = (on(CLASSIC), on(LINEAR));
    let is_linear = total(&linear) > total(&classic);
    let (steps, rungs) = if is_linear {
        (LINEAR, linear)
    } else {
        (CLASSIC, classic)
    };
    let most = slow.iter().copied().fold(FROM_S, f64::max);
    let covered: f64 = steps
        .iter()
        .map(|step| ((step * LATEST + round_trip).min(most) - (step - CLOCK_S)).max(0.0))
        .sum();
    let chance = (covered / (most - FROM_S)).clamp(0.0, 1.0);
    let score =
        crate::base::stats::log10_binomial_tail(slow.len() as f64, total(&rungs) as f64, chance);
    (score <= LOG10_CHANCE).then_some(Ladder { rungs, is_linear })
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
        let found = ladder(&gaps, 0.6).unwrap();
        assert_eq!(
            (found.rungs, found.is_linear),
            (vec![(1, 5), (3, 1)], false)
        );
    }

    #[test]
    fn two_seconds_need_the_linear_ladder() {
        let found = ladder(&[1010.0, 1020.0, 2030.0, 2040.0], 1.0).unwrap();
        assert_eq!((found.rungs, found.is_linear), (vec![(1, 2), (2, 2)], true));
    }

    #[test]
    fn broad_gaps_and_a_single_one_are_none() {
        let broad: Vec<f64> = (0..40).map(|n| 500.0 + 90.0 * f64::from(n)).collect();
        assert_eq!(ladder(&broad, 1.0), None);
        assert_eq!(ladder(&[1009.0], 1.0), None);
        assert_eq!(ladder(&[900.0, 950.0, 1009.0], 1.0), None);
        assert_eq!(ladder(&[], 1.0), None);
    }
}
