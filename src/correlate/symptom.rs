//! A symptom laid out in time: every chance that it had to show, and whether it did.
//!
//! Asking "was the share of bad ones different before and after this change" needs the good ones too. For connects
//! these are all connects of the service, for a scrape gap all scrapes of the target; for any other finding, whose
//! interval is all that is known, a regular grid over the window.

use std::collections::BTreeSet;

use crate::base::time::{TimeRange, Timestamp};
use crate::detect::Context;
use crate::model::finding::{Finding, FindingKind};
use crate::store::Snapshot;

/// Chances of a symptom to show, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Symptom {
    /// When, in nanoseconds.
    times: Vec<i64>,
    /// How many of the trials before each, and of all, were bad: one longer than `times`.
    bad_before: Vec<u64>,
    /// The first and the last bad one.
    extent: Option<(Timestamp, Timestamp)>,
    /// Whether the trials are real observations rather than a grid.
    pub(super) is_observed: bool,
    /// What one trial is, for words: ("connect", "connects").
    pub(super) noun: (&'static str, &'static str),
}

/// A connect from here on counts as an outlier when a symptom is laid out (`logs.md` §3.3: take connect times of half
/// a second or more).
pub(super) const SLOW_CONNECT_MS: f64 = 500.0;

/// At most this many missed scrapes are laid out for one silence: 41 hours at an interval of 15 s.
const MOST_MISSED: i64 = 10_000;

/// Points of the grid for findings without observations of their own.
const GRID_POINTS: i64 = 240;

/// Lays out the findings of one anchor group.
pub(super) fn of(context: &Context<'_>, anchors: &[&Finding]) -> Symptom {
    let observed = match anchors.first().map(|f| f.kind) {
        Some(FindingKind::ConnectOutliers) => connects(context.snapshot, anchors),
        Some(FindingKind::ScrapeGap) => scrapes(context, anchors),
        _ => None,
    };
    observed.unwrap_or_else(|| grid(context, anchors))
}

/// All connects of the services that the anchors name: those of requests, or failing them of spans.
fn connects(snapshot: &Snapshot, anchors: &[&Finding]) -> Option<Symptom> {
    let ours: BTreeSet<&str> = anchors
        .iter()
        .flat_map(|f| &f.entities)
        .filter_map(|id| id.strip_prefix("service:"))
        .collect();
    let mut trials: Vec<(i64, bool)> = snapshot
        .requests
        .iter()
        .filter(|r| ours.contains(r.service.as_ref()))
        .filter_map(|r| {
            let cost_ms = r.connect_ms()?;
            let first_ms = r
                .attempts
                .first()
                .and_then(|a| a.response_ms)
                .unwrap_or(0.0);
            // The connect began at the start of the request, which is what a change can influence.
            let began = r
                .start()
                .nanos()
                .min(r.t.plus_nanos((-first_ms * 1e6) as i64).nanos());
            Some((began, cost_ms >= SLOW_CONNECT_MS))
        })
        .collect();
    if trials.is_empty() {
        trials = snapshot
            .spans
            .iter()
            .filter(|s| ours.contains(s.service.as_ref()))
            .filter_map(|s| Some((s.start.nanos(), s.connect_ms? >= SLOW_CONNECT_MS)))
            .collect();
    }
    let is_any_bad = trials.iter().any(|(_, bad)| *bad);
    is_any_bad.then(|| Symptom::new(trials, true, ("connect", "connects")))
}

/// All scrapes of the targets that the anchors name, and those that did not come at all at the pace of the others.
fn scrapes(context: &Context<'_>, anchors: &[&Finding]) -> Option<Symptom> {
    let snapshot = context.snapshot;
    let is_open = anchors.iter().any(|f| f.end.is_none());
    let mut trials = Vec::new();
    for (ix, series) in snapshot.raw("up") {
        let own = snapshot
            .series_entities
            .get(ix)
            .map_or(&[][..], Vec::as_slice);
        if !anchors.iter().any(|f| is_target_of(own, f)) {
            continue;
        }
        let interval = series.interval_nanos().unwrap_or(i64::MAX).max(1);
        let mut last: Option<i64> = None;
        for (t, value) in series.t.iter().zip(&series.v) {
            if let Some(last) = last {
                trials.extend(missed_between(last, *t, interval));
            }
            trials.push((*t, *value == 0.0));
            last = Some(*t);
        }
        // A target that stays silent leaves nothing to count; what should have come until the end is bad.
        if let (true, Some(last)) = (is_open, last) {
            trials.extend(missed_between(last, context.window.end.nanos(), interval));
        }
    }
    let is_any_bad = trials.iter().any(|(_, bad)| *bad);
    is_any_bad.then(|| Symptom::new(trials, true, ("scrape", "scrapes")))
}

/// Whether a gap is one of the target whose `up` series is about `own`: it names the most specific of these, and of
/// several jobs that scrape one address the right one.
fn is_target_of(own: &[String], gap: &Finding) -> bool {
    let job = own.iter().find(|id| id.starts_with("job:"));
    own.first()
        .is_some_and(|first| gap.entities.contains(first))
        && job.is_none_or(|job| {
            gap.entities.contains(job) || !gap.entities.iter().any(|id| id.starts_with("job:"))
        })
}

/// The scrapes that should have come between two times, as bad trials. A silence of more than [`MOST_MISSED`] scrapes is
/// thinned evenly: that changes no share by much and bounds what one absurd time stamp can cost.
fn missed_between(last: i64, next: i64, interval: i64) -> impl Iterator<Item = (i64, bool)> {
    let missed = ((next.saturating_sub(last) as f64 / interval as f64).round() as i64 - 1).max(0);
    let every = missed / MOST_MISSED + 1;
    (1..=missed / every).map(move |k| {
        let after = interval.saturating_mul(every).saturating_mul(k);
        (last.saturating_add(after), true)
    })
}

fn grid(context: &Context<'_>, anchors: &[&Finding]) -> Symptom {
    let window = context.window;
    let step = (window.nanos() / GRID_POINTS).max(1);
    let is_bad = |t: i64| {
        let t = Timestamp::from_nanos(t);
        anchors
            .iter()
            .any(|f| t >= f.onset.min(f.start) && f.end.is_none_or(|end| t < end))
    };
    let trials = (0..GRID_POINTS)
        .map(|k| window.start.nanos().saturating_add(step.saturating_mul(k)))
        .map(|t| (t, is_bad(t)))
        .collect();
    Symptom::new(trials, false, ("moment", "moments"))
}

impl Symptom {
    /// From trials in any order: when, in nanoseconds, and whether each was bad.
    pub(super) fn new(
        mut trials: Vec<(i64, bool)>,
        is_observed: bool,
        noun: (&'static str, &'static str),
    ) -> Self {
        trials.sort_unstable();
        let mut bad = 0;
        let mut bad_before = Vec::with_capacity(trials.len() + 1);
        bad_before.push(0);
        bad_before.extend(trials.iter().map(|(_, is_bad)| {
            bad += u64::from(*is_bad);
            bad
        }));
        let first = trials.iter().find(|(_, is_bad)| *is_bad);
        let last = trials.iter().rfind(|(_, is_bad)| *is_bad);
        let at = |trial: &(i64, bool)| Timestamp::from_nanos(trial.0);
        Self {
            extent: first.map(at).zip(last.map(at)),
            times: trials.into_iter().map(|(t, _)| t).collect(),
            bad_before,
            is_observed,
            noun,
        }
    }

    /// (bad, all) of the trials before an instant.
    pub(super) fn counts_before(&self, at: Timestamp) -> (u64, u64) {
        let all = self.times.partition_point(|t| *t < at.nanos());
        (self.bad_before.get(all).copied().unwrap_or(0), all as u64)
    }

    /// (bad, all) within a range.
    pub(super) fn counts(&self, range: TimeRange) -> (u64, u64) {
        let (bad_from, from) = self.counts_before(range.start);
        let (bad_to, to) = self.counts_before(range.end);
        (bad_to.saturating_sub(bad_from), to.saturating_sub(from))
    }

    /// How many trials were bad.
    pub(super) fn bad(&self) -> u64 {
        self.bad_before.last().copied().unwrap_or(0)
    }

    /// The time of the first trial.
    pub(super) fn first(&self) -> Option<Timestamp> {
        self.times.first().copied().map(Timestamp::from_nanos)
    }

    /// The times of the bad trials, in order.
    pub(super) fn bad_times(&self) -> impl Iterator<Item = Timestamp> {
        self.times
            .iter()
            .zip(self.bad_before.windows(2))
            .filter(|(_, around)| around.first() < around.last())
            .map(|(t, _)| Timestamp::from_nanos(*t))
    }

    /// From the first to the last bad one; `None` when there is none.
    pub(super) const fn extent(&self) -> Option<(Timestamp, Timestamp)> {
        self.extent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::NANOS_PER_SEC;

    #[test]
    fn counts_are_those_of_the_half_open_range() {
        let symptom = Symptom::new(vec![(30, true), (10, false), (20, true)], true, ("x", "xs"));
        let at = Timestamp::from_nanos;
        assert_eq!(symptom.counts(TimeRange::new(at(10), at(30))), (1, 2));
        assert_eq!(symptom.counts(TimeRange::ALL), (2, 3));
        assert_eq!(symptom.counts(TimeRange::new(at(31), at(90))), (0, 0));
        assert_eq!(symptom.extent(), Some((at(20), at(30))));
        assert_eq!(symptom.bad(), 2);
        assert_eq!(Symptom::default().counts(TimeRange::ALL), (0, 0));
        assert_eq!(Symptom::default().extent(), None);
    }

    #[test]
    fn of_two_jobs_at_one_address_the_named_one_is_the_target() {
        let own = |job: &str| vec!["instance:a:1".to_owned(), format!("job:{job}")];
        let mut gap = Finding::new(FindingKind::ScrapeGap, "x", Timestamp::MIN, None);
        gap.entities = own("web");
        assert!(is_target_of(&own("web"), &gap));
        assert!(!is_target_of(&own("blackbox"), &gap));
        gap.entities.truncate(1);
        assert!(is_target_of(&own("blackbox"), &gap));
        assert!(!is_target_of(&[], &gap));
    }

    #[test]
    fn a_silence_counts_as_the_scrapes_that_should_have_come() {
        let minute = 60 * NANOS_PER_SEC;
        let missed: Vec<i64> = missed_between(0, 4 * minute, minute)
            .map(|(t, _)| t / minute)
            .collect();
        assert_eq!(missed, [1, 2, 3]);
        assert_eq!(missed_between(0, minute, minute).count(), 0);
        assert_eq!(missed_between(5, 0, minute).count(), 0);
        let absurd = missed_between(i64::MIN, i64::MAX, 1).count();
        assert!(absurd <= 10_000, "{absurd}");
    }
}
