//! Values that `query_range` goes on showing after the last sample: held, not measured.
//!
//! A plain selector gives the newest sample of the last five minutes. Without a staleness marker a series that ended
//! stays flat (`prometheus.md` §2.1).

use std::collections::BTreeMap;

use crate::detect::scrape_gap::timeline::clock;
use crate::model::series::{Sampling, Series};
use crate::store::Snapshot;

/// Evaluated series with the raw series of the same name and labels.
pub(crate) struct Held<'a>(BTreeMap<&'a str, Vec<(&'a Series, &'a Series)>>);

impl<'a> Held<'a> {
    /// Pairs them, by instance.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        let mut pairs: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for grid in &snapshot.series {
            let is_grid = matches!(grid.sampling, Sampling::Grid { .. })
                && grid.expr.as_deref().is_none_or(|e| !e.contains(['(', '[']));
            let Some(instance) = grid.labels.get("instance").filter(|_| is_grid) else {
                continue;
            };
            let of_name = snapshot
                .series
                .get(snapshot.metric(&grid.metric))
                .unwrap_or_default();
            let from = of_name.partition_point(|s| s.labels < grid.labels);
            let raw = of_name.get(from..).unwrap_or_default().iter();
            if let Some(raw) = raw
                .take_while(|s| s.labels == grid.labels)
                .find(|s| s.sampling.is_raw())
            {
                pairs.entry(instance).or_default().push((grid, raw));
            }
        }
        Self(pairs)
    }

    /// A sentence about the series of `instance` (of all with `None`) that look alive between `start` and `end`.
    pub(crate) fn sentence(
        &self,
        instance: Option<&str>,
        start: i64,
        end: Option<i64>,
    ) -> Option<String> {
        let of_instance = |name: &str| instance.is_none_or(|wanted| wanted == name);
        let (mut held, mut until) = (Vec::new(), i64::MIN);
        for (grid, raw) in self
            .0
            .iter()
            .filter(|(name, _)| of_instance(name))
            .flat_map(|(_, p)| p)
        {
            if let Some(last) = held_until(grid, raw, start, end) {
                held.push(*grid);
                until = until.max(last);
            }
        }
        held.sort_by(|a, b| (&a.metric, &a.labels).cmp(&(&b.metric, &b.labels)));
        held.dedup_by(|a, b| a.metric == b.metric && a.labels == b.labels);
        let first = held.first()?;
        Some(format!(
            "Range queries still show {} up to {} ({}): those values are held by lookback, not measured.",
            crate::base::text::count(held.len() as u64, "series", "series"),
            clock(until),
            first.selector()
        ))
    }
}

/// The last step in the gap at which the evaluated series repeats the last raw value although no raw sample is there.
fn held_until(grid: &Series, raw: &Series, start: i64, end: Option<i64>) -> Option<i64> {
    let end = end.unwrap_or(i64::MAX);
    let from = raw.t.partition_point(|t| *t < start);
    let inside = raw.t.partition_point(|t| *t < end);
    let is_silent = raw.v.get(from..inside)?.iter().all(|v| v.is_nan());
    let last = raw.v.get(..from)?.iter().rev().find(|v| v.is_finite())?;
    let steps = grid.t.partition_point(|t| *t <= start)..grid.t.partition_point(|t| *t < end);
    let shown = grid.t.get(steps.clone())?.iter().zip(grid.v.get(steps)?);
    let held = shown
        .rev()
        .find(|(_, v)| v.to_bits() == last.to_bits())
        .map(|(t, _)| *t);
    held.filter(|_| is_silent)
}
