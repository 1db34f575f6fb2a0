//! What each scraped target did, from `up` or from the presence of its samples.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::model::finding::{Finding, FindingKind};
use crate::model::series::Series;
use crate::session::incident::Incident;
use crate::store::Snapshot;
use crate::ui::lanes::metric::curve::Curve;
use crate::ui::lanes::{cache, select};

/// Targets without `up` that are looked at.
const MOST_SILENT: usize = 200;
/// Longest name, in characters.
const NAME: usize = 44;

/// What a target did for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// It answered.
    Up,
    /// It was asked and did not answer well; the cause, when a finding names one.
    Failed(Option<String>),
    /// There is no sample of it.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) state: State,
}

/// One target.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) series: usize,
    pub(super) stretches: Vec<Stretch>,
}

impl Row {
    /// For how long it did not answer.
    pub(super) fn lost_nanos(&self) -> i64 {
        let lost = self.stretches.iter().filter(|s| s.state != State::Up);
        lost.map(|s| s.end.saturating_sub(s.start)).sum()
    }

    pub(super) fn at(&self, t: i64) -> Option<&Stretch> {
        let at = self.stretches.partition_point(|s| s.end <= t);
        self.stretches.get(at).filter(|s| s.start <= t)
    }
}

/// Series that tell of a target, and whether it is `up`.
pub(super) fn targets(snapshot: &Snapshot, index: &select::Index) -> Vec<(usize, bool)> {
    let up = select::series(snapshot, index, "up");
    let mut found: Vec<(usize, bool)> = up.iter().map(|ix| (*ix, true)).collect();
    if !found.is_empty() {
        return found;
    }
    // Of a target without `up` the series with the most samples tells when it was there.
    let mut best: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (ix, series) in snapshot
        .series
        .iter()
        .enumerate()
        .filter(|(_, s)| s.sampling.is_raw())
    {
        let Some(instance) = series.labels.get("instance") else {
            continue;
        };
        let key = (series.labels.get("job").unwrap_or_default(), instance);
        let known = best.get(&key).and_then(|ix| snapshot.series.get(*ix));
        if known.is_none_or(|k| k.t.len() < series.t.len()) && best.len() < MOST_SILENT {
            best.insert(key, ix);
        }
    }
    found.extend(best.into_values().map(|ix| (ix, false)));
    found
}

pub(super) fn rows(incident: &Incident) -> Vec<Row> {
    let snapshot = incident.snapshot();
    let cache = cache::of(incident);
    let targets = targets(snapshot, cache.index(snapshot));
    let end = snapshot.extent.map_or(i64::MIN, |e| e.end.nanos());
    let gaps: Vec<&Finding> = incident
        .findings()
        .iter()
        .filter(|f| f.kind == FindingKind::ScrapeGap)
        .collect();
    let ids: Vec<usize> = targets.iter().map(|(ix, _)| *ix).collect();
    let short = select::names(snapshot, &ids);
    let mut rows: Vec<Row> = targets
        .iter()
        .zip(short)
        .filter_map(|((ix, is_up), short)| {
            let series = snapshot.series.get(*ix)?;
            let curve = cache.curve(snapshot, *ix)?;
            let own = snapshot
                .series_entities
                .get(*ix)
                .map_or(&[][..], Vec::as_slice);
            let gaps: Vec<&Finding> = gaps.iter().copied().filter(|f| is_about(f, own)).collect();
            Some(Row {
                name: name(series, short),
                series: *ix,
                stretches: stretches(series, &curve, *is_up, &gaps, end),
            })
        })
        .collect();
    rows.sort_by_key(|r| std::cmp::Reverse(r.lost_nanos()));
    rows
}

fn name(series: &Series, short: String) -> String {
    let job = series.labels.get("job");
    match (series.labels.get("instance"), job) {
        (Some(instance), Some(job)) => format!("{job} · {instance}"),
        (Some(instance), None) => instance.to_owned(),
        _ => short,
    }
}

/// A long name without its middle: what tells targets apart mostly stands at the end.
pub(super) fn middle(name: &str) -> String {
    let all = name.chars().count();
    if all <= NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(NAME / 2).collect();
    let tail: String = name.chars().skip(all - NAME / 2).collect();
    format!("{head}…{tail}")
}

/// Whether a gap is one of the target: it names the most specific entity, and of several jobs the right one.
fn is_about(gap: &Finding, own: &[String]) -> bool {
    let job = own.iter().find(|id| id.starts_with("job:"));
    own.first()
        .is_some_and(|first| gap.entities.contains(first))
        && job.is_none_or(|job| {
            gap.entities.contains(job) || !gap.entities.iter().any(|id| id.starts_with("job:"))
        })
}

/// What a target did, from its first sample on.
fn stretches(
    series: &Series,
    curve: &Curve,
    is_up: bool,
    gaps: &[&Finding],
    end: i64,
) -> Vec<Stretch> {
    let step = series.interval_nanos().unwrap_or(0).max(1);
    let mut found: Vec<Stretch> = Vec::new();
    let mut push = |start: i64, end: i64, state: State| match found.last_mut() {
        _ if start >= end => {}
        Some(last) if last.state == state && last.end >= start => last.end = end,
        _ => found.push(Stretch { start, end, state }),
    };
    let cause = |t: i64| {
        let t = Timestamp::from_nanos(t);
        let gap = gaps
            .iter()
            .find(|f| f.start <= t && f.end.is_none_or(|end| t < end));
        gap.and_then(|f| f.cause.clone())
    };
    for (at, (t, v)) in series.t.iter().zip(&series.v).enumerate() {
        let next = series.t.get(at + 1).copied();
        let is_marker = v.is_nan();
        let state = if is_marker {
            State::Missing
        } else if is_up && *v < 0.5 {
            State::Failed(cause(*t))
        } else {
            State::Up
        };
        let until = next.unwrap_or(end);
        if until.saturating_sub(*t) > curve.longest_nanos && !is_marker {
            let held = t.saturating_add(step);
            push(*t, held.min(until), state);
            push(held.min(until), until, State::Missing);
        } else {
            push(*t, until, state);
        }
    }
    found
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
