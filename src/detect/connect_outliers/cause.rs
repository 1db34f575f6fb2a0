//! Outliers of one service → groups, one for each cause.

use std::collections::BTreeMap;

use crate::base::stats::{log10_binomial_tail, quantile};
use crate::detect::connect_outliers::collect::{Caller, Connect};
use crate::detect::ladders::{self, BELIEVED_LOG10_P, FLOOR_MS, Ladder, Windows};

/// Why connects took long, in the words of `contract.md` §3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    SynRetransmit,
    DnsTimeout,
    SlowPeer,
    ConnectTimeout,
    Unknown,
}

impl Cause {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::SynRetransmit => "syn_retransmit",
            Self::DnsTimeout => "dns_timeout",
            Self::SlowPeer => "slow_peer",
            Self::ConnectTimeout => "connect_timeout",
            Self::Unknown => "unknown",
        }
    }
}

/// Outliers of one service with one cause.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) cause: Cause,
    pub(super) members: Vec<Connect>,
    /// How many stand on each rung.
    pub(super) rungs: BTreeMap<String, u64>,
    /// `classic`, `linear` or `unknown`.
    pub(super) ladder: &'static str,
    /// By chance, where rungs were tested.
    pub(super) log10_p: Option<f64>,
    /// How many members the cause explains; the rest is told.
    pub(super) explained: u64,
    /// The limits at which a caller gave up, in milliseconds.
    pub(super) limits_ms: Vec<f64>,
    pub(super) confidence: f64,
}

/// Fewer outliers than this cannot show that they are broad.
const FEWEST_BROAD: usize = 5;
/// Fewer outliers than this, on no rung at all, are the noise of any machine.
const FEWEST_UNKNOWN: usize = 3;
/// If SYNs were lost, at least this share of the slow connects would stand on rungs (all did where it was measured:
/// `logs.md` §3.3).
const SHARE_ON_RUNGS: f64 = 0.9;
/// Values this close together pile at one limit: a timer of user space is late by milliseconds.
const PILE_SHARE: f64 = 0.03;
/// Of a cause's outliers this share may lie beside its rungs before they are a finding of their own.
const REST_SHARE: f64 = 0.25;
/// A cause that only cannot be told is half as sure as one that was shown.
const UNKNOWN_SURENESS: f64 = 0.5;

/// The groups of a service's outliers.
pub(super) fn groups(caller: &Caller) -> Vec<Group> {
    let (cut_off, mut others): (Vec<Connect>, Vec<Connect>) =
        caller.outliers.iter().cloned().partition(|c| c.is_cut_off);
    let mut found = Vec::new();
    if !cut_off.is_empty() {
        found.push(connect_timeout(cut_off));
    }
    // First what stands on the surest ladder, then, of what is left, on another one.
    while !others.is_empty() {
        let Some((group, rest)) = on_a_ladder(&others, caller.rtt_ms) else {
            break;
        };
        let is_new = found.iter().all(|g: &Group| g.cause != group.cause);
        if !is_new {
            break;
        }
        others = rest;
        found.push(group);
    }
    let ladder = found
        .iter_mut()
        .find(|g| matches!(g.cause, Cause::SynRetransmit | Cause::DnsTimeout));
    match ladder {
        // A few broad ones beside a ladder are told with it; many are a slow peer of their own.
        Some(group)
            if others.len() < FEWEST_BROAD
                || (others.len() as f64) < REST_SHARE * group.explained as f64 =>
        {
            group.members.append(&mut others);
            group.members.sort_by_key(|c| (c.start, c.place));
            group.confidence = sureness(group.explained, group.members.len() as u64, group.log10_p);
        }
        _ => found.extend(without_ladder(others, caller.rtt_ms)),
    }
    found
}

fn connect_timeout(members: Vec<Connect>) -> Group {
    let limits = limits_of(members.iter().map(|c| c.ms).collect());
    let piled: u64 = limits.iter().map(|(_, count)| count).sum();
    let total = members.len() as u64;
    Group {
        cause: Cause::ConnectTimeout,
        members,
        rungs: BTreeMap::new(),
        ladder: "unknown",
        log10_p: None,
        explained: total,
        limits_ms: limits.into_iter().map(|(limit, _)| limit).collect(),
        confidence: sureness(piled, total, None),
    }
}

/// Where values pile: the smallest of each cluster, and how many are in it. A single value is no pile, but at a proxy's
/// own 504 it is still the limit.
fn limits_of(mut values: Vec<f64>) -> Vec<(f64, u64)> {
    values.sort_by(f64::total_cmp);
    let mut limits: Vec<(f64, u64)> = Vec::new();
    for value in values {
        match limits.last_mut() {
            Some((limit, count)) if value <= *limit * (1.0 + PILE_SHARE) + 2.0 => *count += 1,
            _ => limits.push((value, 1)),
        }
    }
    limits.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.total_cmp(&b.0)));
    limits.truncate(5);
    limits
}

fn on_a_ladder(outliers: &[Connect], rtt_ms: f64) -> Option<(Group, Vec<Connect>)> {
    let values: Vec<f64> = outliers.iter().map(|c| c.ms).collect();
    let (windows, log10_p) = ladders::best(&values, rtt_ms);
    if log10_p > BELIEVED_LOG10_P {
        return None;
    }
    let (members, rest): (Vec<Connect>, Vec<Connect>) = outliers
        .iter()
        .cloned()
        .partition(|c| windows.rung_of(c.ms).is_some());
    let rungs = windows.count(members.iter().map(|c| c.ms));
    // With one rung only, the two SYN ladders are the same.
    let ladder = match windows.ladder {
        Ladder::Dns => "unknown",
        _ if rungs.len() < 2 => "unknown",
        Ladder::Classic => "classic",
        Ladder::Linear => "linear",
    };
    let explained = members.len() as u64;
    let group = Group {
        cause: match windows.ladder {
            Ladder::Dns => Cause::DnsTimeout,
            Ladder::Classic | Ladder::Linear => Cause::SynRetransmit,
        },
        members,
        rungs,
        ladder,
        log10_p: Some(log10_p),
        explained,
        limits_ms: Vec::new(),
        confidence: sureness(explained, explained, Some(log10_p)),
    };
    Some((group, rest))
}

/// Slow and on no ladder: a slow peer when enough of them show it, else nobody knows.
fn without_ladder(members: Vec<Connect>, rtt_ms: f64) -> Option<Group> {
    let values: Vec<f64> = members.iter().map(|c| c.ms).collect();
    let total = values.len() as u64;
    let widest = Windows::widest(rtt_ms);
    let on_rungs = values
        .iter()
        .filter(|v| widest.rung_of(**v).is_some())
        .count() as u64;
    if members.is_empty() || (members.len() < FEWEST_UNKNOWN && on_rungs == 0) {
        return None;
    }
    let log10_p = ladders::best(&values, rtt_ms).1;
    let off_rungs = total - on_rungs;
    // As many or more beside the rungs, if nine of ten stood on them: the mirror of the rung test.
    let is_off_ladder =
        log10_binomial_tail(total as f64, off_rungs as f64, 1.0 - SHARE_ON_RUNGS) < -2.0;
    let is_broad = match (quantile(&values, 0.1), quantile(&values, 0.9)) {
        (Some(low), Some(high)) => high - low > PILE_SHARE * low.max(FLOOR_MS),
        _ => false,
    };
    let is_slow_peer = members.len() >= FEWEST_BROAD && is_off_ladder && is_broad;
    let rungs = if is_slow_peer {
        BTreeMap::new()
    } else {
        widest.count(values.iter().copied())
    };
    let limits_ms = if is_broad || members.len() < FEWEST_BROAD {
        Vec::new()
    } else {
        limits_of(values)
            .into_iter()
            .map(|(l, _)| l)
            .take(1)
            .collect()
    };
    let confidence = if is_slow_peer {
        sureness(off_rungs, total, None)
    } else {
        UNKNOWN_SURENESS * sureness(total, total, None)
    };
    Some(Group {
        cause: if is_slow_peer {
            Cause::SlowPeer
        } else {
            Cause::Unknown
        },
        members,
        rungs,
        ladder: "unknown",
        log10_p: Some(log10_p),
        explained: if is_slow_peer { total } else { 0 },
        limits_ms,
        confidence,
    })
}

/// The lower end of Wilson's 90 % interval for the share that the cause explains (Wilson, 1927, z = 1.645), times one
/// less the probability of the ladder by chance. 27 of 27 give 0.91, 3 of 3 give 0.53, 1 of 1 gives 0.27: few samples
/// make it fall by themselves.
fn sureness(explained: u64, total: u64, log10_p: Option<f64>) -> f64 {
    const Z: f64 = 1.645;
    if total == 0 {
        return 0.0;
    }
    let n = total as f64;
    let share = explained as f64 / n;
    let centre = share + Z * Z / (2.0 * n);
    let spread = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let low = ((centre - spread) / (1.0 + Z * Z / n)).clamp(0.0, 1.0);
    low * (1.0 - 10f64.powf(log10_p.unwrap_or(f64::NEG_INFINITY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sureness_falls_with_few_samples() {
        let of = |n| sureness(n, n, None);
        assert!((of(27) - 0.909).abs() < 0.001);
        assert!((of(3) - 0.526).abs() < 0.001);
        assert!(of(1) < 0.3);
        assert!(sureness(13, 27, None) < 0.5);
    }

    #[test]
    fn limits_are_where_values_pile() {
        let limits = limits_of(vec![1_001.0, 1_000.0, 1_001.0, 5_003.0, 5_004.0]);
        assert_eq!(limits, [(1_000.0, 3), (5_003.0, 2)]);
    }
}
