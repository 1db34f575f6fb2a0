//! Ladders of timers, and whether waiting times stand on one (`logs.md` §3, `signatures.md`): of connects, and of the gap
//! between a caller and its callee.

use std::collections::BTreeMap;

use crate::base::stats::log10_binomial_tail;

/// Connects shorter than this are never looked at (`logs.md` §3.3, step 1). The re-sending of a SYN that hit a `TIME_WAIT`
/// socket (8 to 17 ms, §3.1) stays below it.
pub(super) const FLOOR_MS: f64 = 500.0;
/// At or below this a ladder is believed: one in a thousand by chance. The measured cases lie at −88 and below, the slow
/// peer at −0.9 (`logs.md` §3.3).
pub(super) const BELIEVED_LOG10_P: f64 = -3.0;
/// nginx rounds to milliseconds, so a value may stand just below its rung (`logs.md` §3.2).
const ROUNDING_MS: f64 = 1.0;

/// SYN sent again with the time doubling: Linux before 6.5, or `tcp_syn_linear_timeouts=0`.
const CLASSIC_S: &[f64] = &[1.0, 3.0, 7.0, 15.0, 31.0, 63.0];
/// SYN sent again four times after one second each, then doubling: the default since Linux 6.5.
const LINEAR_S: &[f64] = &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 19.0, 35.0, 67.0];
/// A lost DNS answer: glibc asks again after 5 s (2.5 s with `single-request` variants).
const DNS_S: &[f64] = &[2.5, 5.0, 10.0, 15.0];

/// Kernel timers are rounded up, by about 4.5 % at most where it was measured (HZ=250), by an eighth at most anywhere
/// (`logs.md` §3.2).
const WIDTHS: [f64; 2] = [0.045, 0.125];
/// DNS waits in user space on a poll timer: 6 ms late at most after 5 s (`logs.md` §3.1, `dns-5s`).
const DNS_WIDTH: f64 = 0.002;

/// One ladder of timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ladder {
    Classic,
    Linear,
    Dns,
}

impl Ladder {
    /// What it is, for sentences; nothing for one that is no ladder of SYNs.
    pub(super) const fn syn_words(self) -> Option<&'static str> {
        match self {
            Self::Classic => Some("doubling from 1 s"),
            Self::Linear => Some("with the linear steps of Linux 6.5 and later"),
            Self::Dns => None,
        }
    }

    const fn rungs_s(self) -> &'static [f64] {
        match self {
            Self::Classic => CLASSIC_S,
            Self::Linear => LINEAR_S,
            Self::Dns => DNS_S,
        }
    }
}

/// A ladder with the width of its windows: `[q − 1 ms, q + width·q + RTT]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Windows {
    pub(super) ladder: Ladder,
    width: f64,
    rtt_ms: f64,
}

impl Windows {
    /// Every ladder and width that is tried. `rtt_ms` is what a good connect takes.
    pub(super) fn all(rtt_ms: f64) -> [Self; 5] {
        let of = |ladder, width| Self {
            ladder,
            width,
            rtt_ms,
        };
        [
            of(Ladder::Classic, WIDTHS[0]),
            of(Ladder::Classic, WIDTHS[1]),
            of(Ladder::Linear, WIDTHS[0]),
            of(Ladder::Linear, WIDTHS[1]),
            of(Ladder::Dns, DNS_WIDTH),
        ]
    }

    /// The widest windows of a lost SYN: what does not stand in them was not one.
    pub(super) const fn widest(rtt_ms: f64) -> Self {
        Self {
            ladder: Ladder::Linear,
            width: WIDTHS[1],
            rtt_ms,
        }
    }

    fn windows(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        self.ladder.rungs_s().iter().map(|s| {
            let rung = s * 1_000.0;
            let to = rung * (1.0 + self.width) + self.rtt_ms + ROUNDING_MS;
            (*s, rung - ROUNDING_MS, to)
        })
    }

    /// The rung that a waiting time stands on, in seconds.
    pub(super) fn rung_of(&self, ms: f64) -> Option<f64> {
        self.windows()
            .find(|(_, from, to)| (*from..=*to).contains(&ms))
            .map(|(rung, ..)| rung)
    }

    /// log10 of the probability that as many of `values` stand on rungs by chance: the tail of a binomial, whose `p` is
    /// the share of [0.5 s, the largest value] that the windows cover (`logs.md` §3.3). The window that the largest value
    /// stands in counts whole, so that a narrow cluster does not make itself look rarer.
    pub(super) fn log10_p(&self, values: &[f64]) -> f64 {
        let largest = values.iter().copied().fold(FLOOR_MS, f64::max);
        let end = self
            .windows()
            .find(|(_, from, to)| (*from..=*to).contains(&largest))
            .map_or(largest, |(_, _, to)| to);
        if end <= FLOOR_MS {
            return 0.0;
        }
        let mut covered_to = FLOOR_MS;
        let mut covered = 0.0;
        for (_, from, to) in self.windows() {
            let (from, to) = (from.max(covered_to), to.min(end));
            if to > from {
                covered += to - from;
                covered_to = to;
            }
        }
        let share = (covered / (end - FLOOR_MS)).clamp(0.0, 1.0);
        let hits = values
            .iter()
            .filter(|v| self.rung_of(**v).is_some())
            .count();
        log10_binomial_tail(values.len() as f64, hits as f64, share)
    }

    /// How many values stand on each rung: `1s` → 23.
    pub(super) fn count(&self, values: impl Iterator<Item = f64>) -> BTreeMap<String, u64> {
        let mut rungs = BTreeMap::new();
        for rung in values.filter_map(|v| self.rung_of(v)) {
            *rungs.entry(format!("{rung}s")).or_insert(0) += 1;
        }
        rungs
    }
}

/// The ladder that `values` stand on best, with log10 of its probability by chance, corrected for the number of ladders
/// tried (Bonferroni). Of equals the first, which is the simpler one.
pub(super) fn best(values: &[f64], rtt_ms: f64) -> (Windows, f64) {
    let tried = Windows::all(rtt_ms);
    let penalty = (tried.len() as f64).log10();
    let mut best = (tried[0], f64::INFINITY);
    for windows in tried {
        // A lost SYN is sent again after one second first: values on later rungs alone are some other timer (a route
        // that is not found fails after 3 s, for one).
        let is_syn = windows.ladder != Ladder::Dns;
        let has_first = values.iter().any(|v| windows.rung_of(*v) == Some(1.0));
        if is_syn && !has_first {
            continue;
        }
        let log10_p = windows.log10_p(values);
        if log10_p < best.1 - 1e-9 {
            best = (windows, log10_p);
        }
    }
    let log10_p = if best.1.is_finite() { best.1 } else { 0.0 };
    (best.0, (log10_p + penalty).min(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classic_ladder() {
        let values = [1_001.0, 1_036.0, 1_020.0, 3_017.0, 3_041.0, 7_117.0];
        let (windows, log10_p) = best(&values, 1.0);
        assert_eq!(windows.ladder, Ladder::Classic);
        assert!(log10_p < -5.0, "{log10_p}");
        let rungs = windows.count(values.into_iter());
        assert_eq!(
            rungs.into_iter().collect::<Vec<_>>(),
            [
                ("1s".to_owned(), 3),
                ("3s".to_owned(), 2),
                ("7s".to_owned(), 1)
            ]
        );
    }

    #[test]
    fn the_linear_ladder_and_dns() {
        let linear = [
            1_010.0, 1_030.0, 1_001.0, 2_046.0, 2_057.0, 3_062.0, 4_100.0,
        ];
        assert_eq!(best(&linear, 1.0).0.ladder, Ladder::Linear);
        let dns = [5_000.2, 5_006.0, 5_003.0, 10_005.7];
        let (windows, log10_p) = best(&dns, 1.0);
        assert_eq!(windows.ladder, Ladder::Dns);
        assert!(log10_p < -6.0, "{log10_p}");
    }

    #[test]
    fn other_clocks_are_wider() {
        // HZ=1000 makes the first step up to 64 ms late, HZ=100 up to 80 ms (`logs.md` §3.2).
        let values = [
            1_050.0, 1_060.0, 1_064.0, 1_079.0, 1_072.0, 1_055.0, 1_061.0,
        ];
        let (windows, log10_p) = best(&values, 1.0);
        assert!(log10_p < BELIEVED_LOG10_P, "{log10_p}");
        assert_eq!(windows.rung_of(1_079.0), Some(1.0));
    }

    #[test]
    fn a_later_rung_alone_is_another_timer() {
        assert!(best(&[3_060.0, 3_061.0, 3_062.0, 3_063.0, 3_070.0], 1.0).1 > BELIEVED_LOG10_P);
    }

    #[test]
    fn broad_values_and_values_below_a_rung_stand_on_none() {
        let broad: Vec<f64> = (0..166).map(|n| 500.0 + f64::from(n) * 12.6).collect();
        assert!(best(&broad, 1.0).1 > -1.5);
        let below = [990.0, 992.0, 995.0, 998.0];
        assert!(best(&below, 1.0).1 > BELIEVED_LOG10_P);
        assert_eq!(Windows::widest(1.0).rung_of(999.0), Some(1.0), "rounding");
    }
}
