//! Quantiles that came ready-made: summaries, and `histogram_quantile` answers on a grid. They are single numbers over a
//! look-back of their own, so they can be compared in time, and neither added nor averaged (`prometheus.md` §3).

use std::ops::Range;

use super::scan::{LEAST_RATIO, complement};
use crate::base::stats;
use crate::base::time::parse_duration_nanos;
use crate::detect::quantiles::maximal_stretches;
use crate::model::series::{Sampling, Series};
use crate::store::Snapshot;

/// So many values a judgement needs, half of them outside of the spike.
const LEAST_VALUES: usize = 20;
/// So many values above the bound make a spike.
const LEAST_HIGH: usize = 3;
/// Beyond the median by so many scaled MADs: neighbouring values share observations, so no exact test is possible, and
/// the bar is higher than for counted observations.
const MADS: f64 = 6.0;

/// A spike in a ready-made quantile.
#[derive(Debug, Clone)]
pub(super) struct GaugeSpike {
    /// First and last time above the bound, in nanoseconds.
    pub first: i64,
    pub last: i64,
    pub baseline_ms: f64,
    pub peak_ms: f64,
    /// When the peak was.
    pub peak_at: i64,
    /// Values above the bound.
    pub high: usize,
    /// Values outside.
    pub usual: usize,
    pub has_ended: bool,
}

/// Stretches in which most values lie above the bound (1.5 × the median of the rest, and beyond it by six scaled MADs).
/// `None` when there are too few values.
pub(super) fn scan(series: &Series, to_ms: f64) -> Option<Vec<GaugeSpike>> {
    let (times, values): (Vec<i64>, Vec<f64>) =
        series.finite().map(|(t, v)| (t, v * to_ms)).unzip();
    if values.len() < LEAST_VALUES {
        return None;
    }
    let mut baseline = stats::quantile(&values, 0.25)?;
    let mut noise = 0.0;
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut bound = f64::INFINITY;
    for _ in 0..6 {
        let next_bound = (baseline * LEAST_RATIO).max(baseline + MADS * noise);
        if next_bound.total_cmp(&bound).is_eq() {
            break;
        }
        bound = next_bound;
        stretches = maximal_stretches(values.iter().map(|v| if *v > bound { 1.0 } else { -1.0 }));
        stretches.retain(|r| high(&values, r, bound) >= LEAST_HIGH);
        let outside: Vec<f64> = complement(&stretches, values.len())
            .into_iter()
            .filter_map(|r| values.get(r))
            .flatten()
            .copied()
            .collect();
        if outside.len() < LEAST_VALUES / 2 {
            return None;
        }
        baseline = stats::median(&outside)?;
        noise = stats::mad(&outside)?;
    }
    let usual = values.len() - stretches.iter().map(|r| r.len()).sum::<usize>();
    let spikes = stretches.into_iter().filter_map(|r| {
        let inside = values.get(r.clone())?;
        let at = (0..inside.len()).max_by(|a, b| inside[*a].total_cmp(&inside[*b]))?;
        Some(GaugeSpike {
            first: *times.get(r.start)?,
            last: *times.get(r.end.checked_sub(1)?)?,
            baseline_ms: baseline,
            peak_ms: *inside.get(at)?,
            peak_at: *times.get(r.start + at)?,
            high: high(&values, &r, bound),
            usual,
            has_ended: values.len() - r.end >= 2,
        })
    });
    Some(spikes.collect())
}

fn high(values: &[f64], range: &Range<usize>, bound: f64) -> usize {
    values
        .get(range.clone())
        .unwrap_or_default()
        .iter()
        .filter(|v| **v > bound)
        .count()
}

/// Answers of `histogram_quantile(q, …)` with q from 0.9 on whose buckets were not read themselves: index, quantile,
/// milliseconds in its unit, look-back in nanoseconds.
pub(super) fn evaluated(snapshot: &Snapshot) -> Vec<(usize, f64, f64, i64)> {
    let mut found = Vec::new();
    for (ix, series) in snapshot.series.iter().enumerate() {
        let (Sampling::Grid { .. }, Some(expr)) = (series.sampling, series.expr.as_deref()) else {
            continue;
        };
        let Some((_, inner)) = expr.split_once("histogram_quantile(") else {
            continue;
        };
        let q = inner
            .split(',')
            .next()
            .and_then(|q| q.trim().parse::<f64>().ok());
        let Some(q) = q.filter(|q| (0.9..1.0).contains(q)) else {
            continue;
        };
        let Some(metric) = metric_in(inner) else {
            continue;
        };
        if snapshot.raw(metric).next().is_some() {
            continue;
        }
        let base = metric.strip_suffix("_bucket").unwrap_or(metric);
        let to_ms = if base.ends_with("_seconds") {
            1e3
        } else if base.ends_with("_milliseconds") || base.ends_with("_ms") {
            1.0
        } else {
            continue;
        };
        found.push((ix, q, to_ms, look_back(inner).unwrap_or(0)));
    }
    found
}

/// The name before the first `[` or `{` of an expression's innermost selector.
fn metric_in(expr: &str) -> Option<&str> {
    let end = expr.find(['[', '{'])?;
    let before = expr.get(..end)?.trim_end();
    let start = before
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
        .map_or(0, |at| at + 1);
    before.get(start..).filter(|name| !name.is_empty())
}

/// The window of the first range selector: `[30s]`.
fn look_back(expr: &str) -> Option<i64> {
    let (_, rest) = expr.split_once('[')?;
    parse_duration_nanos(rest.split([']', ':']).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metric_and_the_window_are_read_from_the_expression() {
        let inner = "0.99, sum by (le, service) (rate(http_server_request_duration_seconds_bucket{job=\"a\"}[30s])))";
        assert_eq!(
            metric_in(inner),
            Some("http_server_request_duration_seconds_bucket")
        );
        assert_eq!(look_back(inner), Some(30_000_000_000));
    }
}
