//! Snapshot → findings. One file per kind; pure, no clock, no randomness.
//!
//! A detector answers [`Verdict::Clear`], [`Verdict::Findings`] or [`Verdict::NotEnough`]. It says what it saw in
//! numbers, with complete sentences, and points to it. To add one, see `CONTRIBUTING.md`.

pub mod blocked_growth;
pub mod change;
pub mod changepoint;
pub mod connect_outliers;
pub mod counter_reset;
pub mod error_burst;
pub(crate) mod ladders;
pub mod latency_spike;
pub mod leak;
pub mod level_shift;
pub mod lock_contention;
pub mod quantiles;
pub mod saturation;
pub mod scrape_gap;
pub mod slow_call;
pub mod spike;
#[cfg(test)]
pub(crate) mod testing;
pub mod throughput_drop;

use rayon::prelude::*;

use crate::base::time::TimeRange;
use crate::model::finding::{Finding, FindingKind};
use crate::model::report::NotEnough;
use crate::store::Snapshot;

/// What a detector works on.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// Everything that was read.
    pub snapshot: &'a Snapshot,
    /// The window that the person asked for, or all there is.
    pub window: TimeRange,
}

/// What a detector says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It looked, and nothing was wrong.
    Clear,
    /// It found these.
    Findings(Vec<Finding>),
    /// It could not decide, because: "no `up` series was given".
    NotEnough(String),
}

impl Verdict {
    /// [`Verdict::Findings`], or [`Verdict::Clear`] for none.
    pub fn of(findings: Vec<Finding>) -> Self {
        if findings.is_empty() {
            Self::Clear
        } else {
            Self::Findings(findings)
        }
    }
}

/// One detector.
pub trait Detector: Sync {
    /// The kind of its findings.
    fn kind(&self) -> FindingKind;
    /// What it finds, from what, by which formula, and when it stays silent. One paragraph.
    fn doc(&self) -> &'static str;
    /// Looks.
    fn check(&self, context: &Context<'_>) -> Verdict;
}

/// Every detector, in documentation order.
pub const ALL: &[&dyn Detector] = &[
    &scrape_gap::ScrapeGap,
    &latency_spike::LatencySpike,
    &connect_outliers::ConnectOutliers,
    &slow_call::SlowCall,
    &lock_contention::LockContention,
    &blocked_growth::BlockedGrowth,
    &leak::Leak,
    &level_shift::LevelShift,
    &spike::Spike,
    &throughput_drop::ThroughputDrop,
    &error_burst::ErrorBurst,
    &saturation::Saturation,
    &counter_reset::CounterReset,
    &change::Change,
];

/// Runs every detector, in parallel, and puts the findings in order of time, kind and id.
pub fn run(context: &Context<'_>) -> (Vec<Finding>, Vec<NotEnough>) {
    in_order(
        ALL.par_iter()
            .map(|d| (d.kind(), d.check(context)))
            .collect(),
    )
}

/// The same for somebody who may lose interest: `goes_on` is asked before each detector. `None` when it says no.
pub fn run_while(
    context: &Context<'_>,
    goes_on: &(dyn Fn() -> bool + Sync),
) -> Option<(Vec<Finding>, Vec<NotEnough>)> {
    let verdicts = ALL
        .par_iter()
        .map(|d| goes_on().then(|| (d.kind(), d.check(context))))
        .collect::<Option<Vec<_>>>()?;
    Some(in_order(verdicts))
}

fn in_order(verdicts: Vec<(FindingKind, Verdict)>) -> (Vec<Finding>, Vec<NotEnough>) {
    let mut findings = Vec::new();
    let mut not_enough = Vec::new();
    for (kind, verdict) in verdicts {
        match verdict {
            Verdict::Clear => {}
            Verdict::Findings(found) => findings.extend(found),
            Verdict::NotEnough(reason) => not_enough.push(NotEnough {
                detector: kind.word().to_owned(),
                reason,
            }),
        }
    }
    findings.sort_by(|a, b| (a.start, a.kind, &a.id).cmp(&(b.start, b.kind, &b.id)));
    findings.dedup_by(|a, b| a.id == b.id);
    (findings, not_enough)
}
