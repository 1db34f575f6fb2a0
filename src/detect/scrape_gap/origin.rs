//! Which series timelines are made of: stored or evaluated, each once, and by the target that exposed them.

use std::collections::BTreeMap;

use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series};
use crate::store::Snapshot;

/// Which series the timelines are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Stored samples.
    Raw,
    /// `query_range` answers of plain selectors, where there is nothing better.
    Grid,
}

impl Origin {
    pub(super) fn takes(self, series: &Series) -> bool {
        match (self, series.sampling) {
            (Self::Raw, sampling) => sampling.is_raw(),
            (Self::Grid, Sampling::Grid { .. }) => series
                .expr
                .as_deref()
                .is_none_or(|e| !e.contains(['(', '[', ' '])),
            (Self::Grid, _) => false,
        }
    }
}

/// The series of a metric, with their indices.
pub(super) fn of_metric<'a>(
    snapshot: &'a Snapshot,
    metric: &str,
    from: Origin,
) -> impl Iterator<Item = (usize, &'a Series)> {
    snapshot
        .metric(metric)
        .filter_map(|ix| snapshot.series.get(ix).map(|s| (ix, s)))
        .filter(move |(_, s)| from.takes(s))
}

/// Whether a metric is about scrapes or alerts rather than read from a target.
fn is_about_scrapes(metric: &str) -> bool {
    matches!(metric, "up" | "ALERTS" | "ALERTS_FOR_STATE")
        || metric.starts_with("scrape_")
        || metric.contains(':')
}

/// Labels that only some answers carry: remote read adds the external labels of the server, the query API does not
/// (`prometheus.md` §1.4), so a series may be there twice.
pub(crate) fn external_labels(snapshot: &Snapshot) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    let ups: Vec<&Series> = snapshot.raw("up").map(|(_, s)| s).collect();
    let mut by_instance: BTreeMap<_, Vec<&Series>> = BTreeMap::new();
    for up in ups {
        by_instance
            .entry((up.labels.get("job"), up.labels.get("instance")))
            .or_default()
            .push(up);
    }
    for group in by_instance.into_values().filter(|g| g.len() > 1) {
        for (large, small) in group
            .iter()
            .flat_map(|a| group.iter().map(move |b| (*a, *b)))
        {
            if large.labels.len() > small.labels.len()
                && is_subset(&small.labels, &large.labels)
                && share_samples(small, large)
            {
                let extra = large.labels.iter().map(|(name, _)| name);
                found.extend(extra.filter(|name| small.labels.get(name).is_none()));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether a raw series is there a second time without its external labels, over the same stretch.
pub(crate) fn is_copy(snapshot: &Snapshot, series: &Series, external: &[&str]) -> bool {
    if !external
        .iter()
        .any(|name| series.labels.get(name).is_some())
    {
        return false;
    }
    let labels = series.labels.without(external);
    let of_name = snapshot
        .series
        .get(snapshot.metric(&series.metric))
        .unwrap_or_default();
    let from = of_name.partition_point(|s| s.labels < labels);
    let rest = of_name.get(from..).unwrap_or_default().iter();
    let slack = 2 * series.interval_nanos().unwrap_or(0);
    rest.take_while(|s| s.labels == labels)
        .filter(|s| s.sampling.is_raw())
        .any(|s| {
            let ends = |s: &Series| s.t.first().copied().zip(s.t.last().copied());
            ends(s)
                .zip(ends(series))
                .is_some_and(|((first, last), (copy_first, copy_last))| {
                    first <= copy_first + slack && last >= copy_last - slack
                })
        })
}

/// Raw series that targets exposed, by job and instance.
pub(crate) fn exposed(snapshot: &Snapshot, from: Origin) -> BTreeMap<(&str, &str), Vec<&Series>> {
    let external = external_labels(snapshot);
    let mut found: BTreeMap<_, Vec<&Series>> = BTreeMap::new();
    for series in snapshot.series.iter().filter(|s| from.takes(s)) {
        if !is_about_scrapes(&series.metric)
            && !is_copy(snapshot, series, &external)
            && let Some(instance) = series.labels.get("instance")
        {
            let job = series.labels.get("job").unwrap_or("");
            found.entry((job, instance)).or_default().push(series);
        }
    }
    found
}

/// Whether every label of `small` stands in `large` with the same value.
pub(crate) fn is_subset(small: &Labels, large: &Labels) -> bool {
    small
        .iter()
        .all(|(name, value)| large.get(name) == Some(value))
}

pub(super) fn share_samples(a: &Series, b: &Series) -> bool {
    let (few, many) = if a.t.len() < b.t.len() {
        (a, b)
    } else {
        (b, a)
    };
    let shared = few.t.iter().filter(|t| many.t.binary_search(t).is_ok());
    shared.count() * 2 > few.t.len()
}
