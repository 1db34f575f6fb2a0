//! `quantiles`: the band from p50 to p99 with the mean, of histograms, summaries, requests and traces.
//!
//! Made for stretches of at least 15 s: a quantile of a handful of observations is no quantile, and is drawn faint or not at all.

mod lane;
mod source;

use std::sync::Arc;

use self::lane::{Column, QuantileLane};
pub(super) use self::source::Source;
use crate::base::time::NANOS_PER_SEC;
use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::ui::lanes::cache;
use crate::ui::lanes::mesh::MeshCache;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, empty, plan};

/// Shortest stretch that a quantile is made of.
const SHORTEST_NANOS: i64 = 15 * NANOS_PER_SEC;
/// Narrowest stretch on screen, in columns of the query.
const NARROWEST: i64 = 6;

/// Latency quantiles.
#[derive(Debug)]
pub struct Quantiles;

impl LaneKind for Quantiles {
    fn id(&self) -> &'static str {
        "quantiles"
    }

    fn height(&self) -> u16 {
        92
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident))
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let cache = cache::of(incident);
        let sources = cache.sources(|| source::all(incident.snapshot()));
        let Some(source) = sources.iter().find(|s| s.key == spec.key) else {
            return Ok(empty::lane(&spec.key));
        };
        let width = width(query.step_nanos, source.interval(incident.snapshot()));
        let columns = source.columns(incident, query.range, width, cancel)?;
        Ok(Box::new(QuantileLane {
            document: Arc::clone(&incident.document),
            columns,
            width,
            unit: source.unit.clone(),
            is_estimated: source.is_estimated(),
            target: source.target(),
            twin: source.twin(incident.snapshot()),
            mesh: MeshCache::default(),
        }))
    }
}

/// One lane for each source.
pub(super) fn list(incident: &Incident) -> Vec<Offer> {
    let cache = cache::of(incident);
    cache
        .sources(|| source::all(incident.snapshot()))
        .iter()
        .map(|s| Offer {
            spec: LaneSpec {
                kind: "quantiles".to_owned(),
                key: s.key.clone(),
                series: Vec::new(),
            },
            title: s.title.clone(),
            entities: s.entities.clone(),
            opening_rank: None,
        })
        .collect()
}

/// The stretch that one quantile is made of: 15 s doubled until it is wide enough on screen, and holds two scrapes.
fn width(step_nanos: i64, interval: Option<i64>) -> i64 {
    let need = step_nanos
        .saturating_mul(NARROWEST)
        .max(interval.unwrap_or(0).saturating_mul(2));
    let mut width = SHORTEST_NANOS;
    while width < need {
        width = width.saturating_mul(2);
    }
    width
}

/// Columns of equal time over a range, counted from the epoch.
fn grid(range: crate::base::time::TimeRange, width: i64) -> impl Iterator<Item = (i64, i64)> {
    let first = range.start.nanos().div_euclid(width);
    let last = range.end.nanos().div_euclid(width);
    // A range without bounds is never asked for; a broken one must not run for ever.
    (first..=last.min(first.saturating_add(100_000))).map(move |k| {
        (
            k.saturating_mul(width),
            k.saturating_add(1).saturating_mul(width),
        )
    })
}

/// Of sorted values: p50, p90, p99, mean and count.
fn of_sorted(start: i64, end: i64, sorted: &[f64]) -> Option<Column> {
    use crate::base::stats::quantile_sorted;
    let mean = sorted.iter().sum::<f64>() / sorted.len().max(1) as f64;
    Some(Column {
        start,
        end,
        p50: quantile_sorted(sorted, 0.5)?,
        p99: quantile_sorted(sorted, 0.99)?,
        mean,
        count: Some(sorted.len() as f64),
        is_ceiling: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::{TimeRange, Timestamp};

    #[test]
    fn a_stretch_is_15_s_at_least_and_wide_enough_to_see() {
        let sec = NANOS_PER_SEC;
        assert_eq!(width(1, None), 15 * sec);
        assert_eq!(width(10 * sec, None), 60 * sec);
        assert_eq!(width(1, Some(60 * sec)), 120 * sec);
    }

    #[test]
    fn columns_cover_the_range_and_are_counted_from_the_epoch() {
        let at = |s: i64| Timestamp::from_nanos(s);
        let columns: Vec<_> = grid(TimeRange::new(at(25), at(61)), 20).collect();
        assert_eq!(columns, [(20, 40), (40, 60), (60, 80)]);
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        assert!(of_sorted(0, 1, &[]).is_none());
        let column = of_sorted(0, 1, &[1.0, 2.0, 3.0]).unwrap();
        assert!((column.p50 - 2.0).abs() < 1e-9 && (column.mean - 2.0).abs() < 1e-9);
    }
}
