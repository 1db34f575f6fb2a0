//! A symptom laid out in time: every chance that it had to show, and whether it did.
//!
//! Asking "was the share of bad ones different before and after this change" needs the good ones too. For connects
//! these are all connects of the service, for a scrape gap all scrapes of the target; for any other finding, whose
//! interval is all that is known, a regular grid over the window.

use crate::base::time::{TimeRange, Timestamp};
use crate::detect::Context;
use crate::model::finding::{Finding, FindingKind};
use crate::store::Snapshot;

/// Chances of a symptom to show, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symptom {
    /// When, in nanoseconds, and whether it showed.
    pub trials: Vec<(i64, bool)>,
    /// Whether the trials are real observations rather than a grid.
    pub is_observed: bool,
    /// What one trial is, for words: ("connect", "connects").
    pub noun: (&'static str, &'static str),
}

/// A connect from here on counts as an outlier when a symptom is laid out (`logs.md` §3.3: take connect times of half
/// a second or more).
pub const SLOW_CONNECT_MS: f64 = 500.0;

/// Points of the grid for findings without observations of their own.
const GRID_POINTS: i64 = 240;

/// Lays out the findings of one anchor group.
pub fn of(context: &Context<'_>, anchors: &[&Finding]) -> Symptom {
    let observed = match anchors.first().map(|f| f.kind) {
        Some(FindingKind::ConnectOutliers) => connects(context.snapshot, anchors),
        Some(FindingKind::ScrapeGap) => scrapes(context.snapshot, anchors),
        _ => None,
    };
    observed.unwrap_or_else(|| grid(context, anchors))
}

/// All connects of the services that the anchors name: those of requests, or failing them of spans.
fn connects(snapshot: &Snapshot, anchors: &[&Finding]) -> Option<Symptom> {
    let is_ours = |service: &str| {
        anchors.iter().flat_map(|f| &f.entities).any(|id| {
            id.strip_prefix("service:")
                .is_some_and(|name| name == service)
        })
    };
    let mut trials: Vec<(i64, bool)> = snapshot
        .requests
        .iter()
        .filter(|r| is_ours(&r.service))
        .filter_map(|r| {
            let cost_ms = r.connect_ms()?;
            let first_ms = r
                .attempts
                .first()
                .and_then(|a| a.response_ms)
                .unwrap_or(0.0);
            // The connect began at the start of the request, which is what a change can influence.
            let began = r.start().nanos().min(r.t.nanos() - (first_ms * 1e6) as i64);
            Some((began, cost_ms >= SLOW_CONNECT_MS))
        })
        .collect();
    if trials.is_empty() {
        let spans = snapshot.spans.iter().filter(|s| is_ours(&s.service));
        trials = spans
            .filter_map(|s| Some((s.start.nanos(), s.connect_ms? >= SLOW_CONNECT_MS)))
            .collect();
    }
    if !trials.iter().any(|(_, bad)| *bad) {
        return None;
    }
    trials.sort_unstable();
    Some(Symptom {
        trials,
        is_observed: true,
        noun: ("connect", "connects"),
    })
}

/// All scrapes of the targets that the anchors name, and those that did not come at all at the pace of the others.
fn scrapes(snapshot: &Snapshot, anchors: &[&Finding]) -> Option<Symptom> {
    let mut trials = Vec::new();
    for (ix, series) in snapshot.raw("up") {
        let is_ours = anchors.iter().any(|f| {
            f.entities.iter().any(|id| {
                snapshot.series_entities[ix]
                    .first()
                    .is_some_and(|first| first == id)
            })
        });
        if !is_ours {
            continue;
        }
        let interval = series.interval_nanos().unwrap_or(i64::MAX);
        let mut last: Option<i64> = None;
        for (t, value) in series.t.iter().zip(&series.v) {
            if let Some(last) = last {
                let missed = ((t - last) as f64 / interval as f64).round() as i64 - 1;
                trials.extend((1..=missed.clamp(0, 10_000)).map(|k| (last + k * interval, true)));
            }
            trials.push((*t, *value == 0.0));
            last = Some(*t);
        }
    }
    if !trials.iter().any(|(_, bad)| *bad) {
        return None;
    }
    trials.sort_unstable();
    Some(Symptom {
        trials,
        is_observed: true,
        noun: ("scrape", "scrapes"),
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
    Symptom {
        trials,
        is_observed: false,
        noun: ("moment", "moments"),
    }
}

impl Symptom {
    /// (bad, all) within a range.
    pub fn counts(&self, range: TimeRange) -> (u64, u64) {
        let from = self
            .trials
            .partition_point(|(t, _)| *t < range.start.nanos());
        let to = self
            .trials
            .partition_point(|(t, _)| *t < range.end.nanos())
            .max(from);
        let inside = &self.trials[from..to];
        (
            inside.iter().filter(|(_, bad)| *bad).count() as u64,
            inside.len() as u64,
        )
    }

    /// From the first to the last bad one; `None` when there is none.
    pub fn extent(&self) -> Option<(Timestamp, Timestamp)> {
        let first = self.trials.iter().find(|(_, bad)| *bad)?.0;
        let last = self.trials.iter().rev().find(|(_, bad)| *bad)?.0;
        Some((Timestamp::from_nanos(first), Timestamp::from_nanos(last)))
    }
}
