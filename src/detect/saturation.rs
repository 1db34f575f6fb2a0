//! A bounded resource at its bound.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::changepoint::signals::is_shadow;
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::pack::Role;
use crate::model::series::Series;
use crate::store::Snapshot;

/// What is used, what bounds it, and what it is called.
const PAIRS: [(Role, Role, &str); 5] = [
    (Role::OpenFds, Role::MaxFds, "open file descriptors"),
    (
        Role::ConntrackEntries,
        Role::ConntrackLimit,
        "the conntrack table",
    ),
    (Role::PoolUsed, Role::PoolLimit, "the connection pool"),
    (Role::Connections, Role::ConnectionLimit, "connections"),
    (Role::Memory, Role::MemoryLimit, "memory"),
];
/// A share of the bound from which on the resource counts as used up: the next burst no longer fits. The same mark as
/// the fill level at which Kubernetes evicts (`nodefs.available<5%` beside `imagefs`) and node alerts page.
const FULL: f64 = 0.95;
/// Samples in a row that must be that full: one or two are a burst that fitted.
const MIN_SAMPLES: usize = 3;
/// Below this share a run ends.
const RELEASED: f64 = 0.90;
/// A limit this high is none (`unlimited` is written as 2^63 or 2^64 by many exporters, and rounded).
const UNLIMITED: f64 = 4e18;
/// Endings by which a ratio says that it measures how full something is.
const RATIO_NAMES: [&str; 8] = [
    "_utilization",
    "_utilization_ratio",
    "_utilization_percent",
    "_saturation",
    "_saturation_ratio",
    "_used_ratio",
    "_usage_ratio",
    "_used_percent",
];

/// A bounded resource at its bound.
pub struct Saturation;

impl Detector for Saturation {
    fn kind(&self) -> FindingKind {
        FindingKind::Saturation
    }

    fn doc(&self) -> &'static str {
        "Pairs of series whose roles are a use and its bound (file descriptors, conntrack entries, pools, connections, \
         memory) and whose labels agree, and gauges that name themselves a utilisation or saturation: at 95 % of the \
         bound or more for at least 3 samples in a row, until below 90 %. Bounds of zero and of 4e18 and more are none. \
         Not enough: no such pair and no such gauge."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let mut looked_at = 0;
        let mut found = Vec::new();
        for (used_role, limit_role, what) in PAIRS {
            let limits: Vec<(usize, &Series)> = snapshot.with_role(limit_role).collect();
            for (ix, used) in snapshot.with_role(used_role) {
                let Some(limit) = limit_of(snapshot, ix, used, &limits) else {
                    continue;
                };
                if is_shadow(snapshot, used) {
                    continue;
                }
                looked_at += 1;
                let points = against(context, used, limit);
                found.extend(
                    runs(&points)
                        .into_iter()
                        .map(|run| finding(snapshot, (ix, used, Some(limit)), what, &points, run)),
                );
            }
        }
        for (ix, series) in snapshot.series.iter().enumerate() {
            let Some(full) = full_scale(series).filter(|_| !is_shadow(snapshot, series)) else {
                continue;
            };
            looked_at += 1;
            let range = series.within(context.window);
            let points: Vec<Point> = series
                .t
                .iter()
                .zip(&series.v)
                .skip(range.start)
                .take(range.len())
                .filter(|(_, v)| v.is_finite())
                .map(|(t, v)| Point {
                    t: *t,
                    used: *v,
                    limit: full,
                })
                .collect();
            found.extend(runs(&points).into_iter().map(|run| {
                finding(
                    snapshot,
                    (ix, series, None),
                    series.metric.as_ref(),
                    &points,
                    run,
                )
            }));
        }
        if looked_at == 0 {
            return Verdict::NotEnough(
                "no resource with its bound (file descriptors, conntrack, pools, connections, memory) and no utilisation was given"
                    .to_owned(),
            );
        }
        Verdict::of(found)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    t: i64,
    used: f64,
    limit: f64,
}

impl Point {
    fn share(&self) -> f64 {
        self.used / self.limit
    }
}

/// The scale of a gauge that names itself a utilisation: 1 or 100. A percentage is told by its name, or by values above
/// one (with a tenth to spare for several processors counted as one).
fn full_scale(series: &Series) -> Option<f64> {
    if !RATIO_NAMES.iter().any(|end| series.metric.ends_with(end)) {
        return None;
    }
    let is_percent = series.metric.ends_with("percent") || series.unit.as_ref() == "percent";
    let high = series.finite().any(|(_, v)| v > 1.1);
    Some(if is_percent || high { 100.0 } else { 1.0 })
}

/// The bound of a use: no label that both have may differ, and they share an entity; of several the one with most labels
/// in common.
fn limit_of<'a>(
    snapshot: &Snapshot,
    ix: usize,
    used: &Series,
    limits: &[(usize, &'a Series)],
) -> Option<&'a Series> {
    let entities = snapshot.series_entities.get(ix)?;
    limits
        .iter()
        .filter(|(_, limit)| limit.sampling == used.sampling)
        .filter(|(other, _)| {
            let others = snapshot.series_entities.get(*other);
            match (entities.first(), others.and_then(|o| o.first())) {
                (Some(a), Some(b)) => a == b,
                (None, None) => true,
                _ => false,
            }
        })
        .filter_map(|(_, limit)| {
            let mut common = 0;
            for (name, value) in limit.labels.iter() {
                match used.labels.get(name) {
                    Some(v) if v != value => return None,
                    Some(_) => common += 1,
                    None => {}
                }
            }
            Some((common, *limit))
        })
        .max_by_key(|(common, _)| *common)
        .map(|(_, limit)| limit)
}

/// The use at each of its samples beside the newest sample of the bound.
fn against(context: &Context<'_>, used: &Series, limit: &Series) -> Vec<Point> {
    let range = used.within(context.window);
    let mut at = 0;
    let mut points = Vec::with_capacity(range.len());
    for (t, used) in used
        .t
        .iter()
        .zip(&used.v)
        .skip(range.start)
        .take(range.len())
    {
        while limit.t.get(at + 1).is_some_and(|next| next <= t) {
            at += 1;
        }
        let Some(limit) = limit.v.get(at).copied() else {
            break;
        };
        if used.is_finite() && limit > 0.0 && limit < UNLIMITED {
            points.push(Point {
                t: *t,
                used: *used,
                limit,
            });
        }
    }
    points
}

/// Runs that are full, as index ranges.
fn runs(points: &[Point]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    let mut open: Option<(usize, usize, usize)> = None;
    for (i, point) in points.iter().enumerate() {
        let share = point.share();
        open = match open {
            None if share >= FULL => Some((i, i + 1, 1)),
            Some((from, _, full)) if share >= FULL => Some((from, i + 1, full + 1)),
            Some((from, to, full)) if share < RELEASED => {
                if full >= MIN_SAMPLES {
                    found.push(from..to);
                }
                None
            }
            other => other,
        };
    }
    if let Some((from, _, full)) = open
        && full >= MIN_SAMPLES
    {
        found.push(from..points.len());
    }
    found
}

fn finding(
    snapshot: &Snapshot,
    (ix, series, limit): (usize, &Series, Option<&Series>),
    what: &str,
    points: &[Point],
    run: std::ops::Range<usize>,
) -> Finding {
    let inside = points.get(run.clone()).unwrap_or_default();
    let start = inside.first().map_or(0, |p| p.t);
    let end = points.get(run.end).map(|p| Timestamp::from_nanos(p.t));
    let peak = inside
        .iter()
        .copied()
        .reduce(|a, b| if b.share() > a.share() { b } else { a })
        .unwrap_or(Point {
            t: start,
            used: 0.0,
            limit: 1.0,
        });
    let start = Timestamp::from_nanos(start);
    let mut finding = Finding::new(FindingKind::Saturation, &series.selector(), start, end)
        .with("used", peak.used)
        .with("limit", peak.limit)
        .with("share", units::round_to(peak.share(), 4))
        .with("samples", inside.len())
        .with("metric", series.metric.as_ref());
    finding.severity = if peak.share() >= 1.0 {
        Severity::Critical
    } else {
        Severity::Major
    };
    // Three samples are the least; each more makes an accident of the moment less likely.
    finding.confidence =
        units::round_to(inside.len() as f64 / (inside.len() as f64 + 1.0), 3).min(0.98);
    finding.entities = snapshot
        .series_entities
        .get(ix)
        .cloned()
        .unwrap_or_default();
    let say = |v: f64| units::with_unit(v, &series.unit);
    let whose: BTreeMap<&str, &str> = series.labels.iter().collect();
    let whose = whose
        .get("instance")
        .map_or_else(String::new, |i| format!(" of {i}"));
    finding.title = format!(
        "{what}{whose} reached {} of {}",
        say(peak.used),
        say(peak.limit)
    );
    let until = end.map_or_else(
        || "to the end of the recording".to_owned(),
        |end| format!("until {}", end.to_clock()),
    );
    finding.detail = format!(
        "{} was at 95 % or more of its bound of {} from {} {until}, in {} samples; at most {} ({}).",
        series.selector(),
        say(peak.limit),
        start.to_clock(),
        inside.len(),
        say(peak.used),
        units::share(peak.share()),
    );
    finding.evidence = vec![snapshot.sample_evidence(series, peak.t, say(peak.used))];
    finding
        .evidence
        .extend(limit.map(|l| snapshot.sample_evidence(l, peak.t, say(peak.limit))));
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testing::{check, findings, raw, snapshot_from};
    use crate::model::batch::Batch;

    fn series(metric: &str, instance: &str, level: impl Fn(i32) -> f64) -> Series {
        let samples: Vec<(f64, f64)> = (0..40).map(|i| (15.0 * f64::from(i), level(i))).collect();
        raw(metric, &[("instance", instance)], &samples)
    }

    fn snapshot(series: Vec<Series>) -> Snapshot {
        snapshot_from(Batch {
            series,
            ..Batch::default()
        })
    }

    fn filling(i: i32) -> f64 {
        (100.0 + f64::from(i) * 50.0).min(1_024.0)
    }

    #[test]
    fn a_full_table_of_descriptors() {
        let found = findings(
            &Saturation,
            &snapshot(vec![
                series("process_open_fds", "a:1", filling),
                series("process_open_fds", "b:1", filling),
                series("process_max_fds", "a:1", |_| 1_024.0),
                series("process_max_fds", "b:1", |_| 1_048_576.0),
            ]),
        );
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].number("used"), Some(1_024.0));
        assert_eq!(found[0].number("limit"), Some(1_024.0));
        assert_eq!(found[0].onset.nanos(), 270_000_000_000);
        assert_eq!(found[0].end, None);
        assert_eq!(found[0].evidence.len(), 2);
    }

    #[test]
    fn a_utilisation_names_itself_and_a_brief_peak_is_clear() {
        let busy = |i: i32| if (10..20).contains(&i) { 99.0 } else { 30.0 };
        let found = findings(
            &Saturation,
            &snapshot(vec![series("cpu_utilization", "a", busy)]),
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].number("limit"), Some(100.0));
        assert_eq!(found[0].end, Timestamp::from_millis(300_000));
        let brief = |i: i32| if (10..12).contains(&i) { 0.99 } else { 0.3 };
        let quiet = snapshot(vec![series("pool_utilization_ratio", "a", brief)]);
        assert_eq!(check(&Saturation, &quiet), Verdict::Clear);
    }

    #[test]
    fn a_use_without_its_bound_is_not_enough() {
        let only = snapshot(vec![series("process_open_fds", "a:1", filling)]);
        assert!(matches!(check(&Saturation, &only), Verdict::NotEnough(_)));
    }
}
