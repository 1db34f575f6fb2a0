//! The values of one thing over the time of a window, few enough to be drawn: smallest and largest of each column.

use crate::base::time::TimeRange;
use crate::model::profile::WaitClass;
use crate::session::compare::gather::{is_counter, is_dump, is_serving, request_service, values};
use crate::session::compare::{Kind, Side, Subject};
use crate::store::histogram;

/// One column of a line: where it is (from 0 at the start of the window to 1), its smallest and its largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Share of the window.
    pub x: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Whether values are missing between the column before and this one.
    pub is_after_gap: bool,
}

/// What is drawn of one thing on one side. `series` is its series there, when it is one.
pub fn columns(
    side: &Side<'_>,
    subject: &Subject,
    series: Option<usize>,
    columns: usize,
) -> Vec<Column> {
    decimate(&points(side, subject, series), side.window, columns)
}

fn points(side: &Side<'_>, subject: &Subject, series: Option<usize>) -> Vec<(i64, f64)> {
    let snapshot = side.snapshot;
    let mut found: Vec<(i64, f64)> = match subject.kind {
        Kind::Gauge | Kind::Rate => {
            let Some(series) = series.and_then(|ix| snapshot.series.get(ix)) else {
                return Vec::new();
            };
            return values(series, side.window, is_counter(snapshot, series));
        }
        Kind::Histogram => p99s(side, series),
        Kind::RequestLatency | Kind::RequestConnect | Kind::RequestErrors | Kind::RequestRate => {
            requests(side, subject)
        }
        Kind::SpanLatency | Kind::SpanConnect | Kind::SpanErrors => spans(side, subject),
        Kind::CallGap => snapshot
            .calls
            .iter()
            .filter(|call| call.has_network_gap())
            .filter_map(|call| {
                let caller = snapshot.spans.get(call.caller)?;
                let callee = snapshot.spans.get(call.callee)?;
                let name = format!("{} → {}", caller.service, callee.service);
                (name == subject.name).then_some((caller.start.nanos(), call.gap_ms?))
            })
            .collect(),
        Kind::DumpTotal | Kind::LockShare => dumps(side, subject),
    };
    let window = side.window;
    found.retain(|(t, v)| *t >= window.start.nanos() && *t < window.end.nanos() && v.is_finite());
    found.sort_by_key(|(t, _)| *t);
    found
}

fn p99s(side: &Side<'_>, series: Option<usize>) -> Vec<(i64, f64)> {
    let Some(series) = series.and_then(|ix| side.snapshot.series.get(ix)) else {
        return Vec::new();
    };
    let base = series.metric.strip_suffix("_bucket").unwrap_or("");
    let labels = series.labels.without(&["le"]);
    let families = histogram::families(side.snapshot);
    let Some(family) = families
        .iter()
        .find(|f| f.base.as_ref() == base && f.labels == labels)
    else {
        return Vec::new();
    };
    let deltas = family.deltas(side.snapshot);
    deltas
        .end
        .iter()
        .enumerate()
        .filter_map(|(at, t)| {
            let row = deltas.row(at);
            let p99 = histogram::quantile(&deltas.bins, row, 0.99, deltas.interpolation)?;
            Some((*t, p99.value))
        })
        .collect()
}

fn requests(side: &Side<'_>, subject: &Subject) -> Vec<(i64, f64)> {
    side.snapshot
        .requests
        .iter()
        .filter(|r| side.window.contains(r.t) && request_service(r) == subject.name)
        .filter_map(|r| {
            let value = match subject.kind {
                Kind::RequestConnect => r.connect_ms()?,
                Kind::RequestErrors => f64::from(r.failed() == Some(true)),
                _ => r.duration_ms?,
            };
            Some((r.t.nanos(), value))
        })
        .collect()
}

fn spans(side: &Side<'_>, subject: &Subject) -> Vec<(i64, f64)> {
    if let Some(entry) = subject.name.strip_suffix(" (traces)") {
        let summaries = side.snapshot.summaries.iter();
        return summaries
            .filter(|s| s.entry.as_ref() == entry)
            .filter_map(|s| {
                let value = match subject.kind {
                    Kind::SpanConnect => s.connect_ms?,
                    Kind::SpanErrors => f64::from(s.status.is_error()),
                    _ => s.response_ms.or(s.duration_ms)?,
                };
                Some((s.start.nanos(), value))
            })
            .collect();
    }
    side.snapshot
        .spans
        .iter()
        .filter(|s| s.service.as_ref() == subject.name)
        .filter_map(|s| {
            let value = match subject.kind {
                Kind::SpanConnect => s.connect_ms?,
                _ if !is_serving(s) => return None,
                Kind::SpanErrors => f64::from(s.status.is_error()),
                _ => s.duration_ms?,
            };
            Some((s.start.nanos(), value))
        })
        .collect()
}

fn dumps(side: &Side<'_>, subject: &Subject) -> Vec<(i64, f64)> {
    side.snapshot
        .profiles
        .iter()
        .filter(|p| {
            let names = subject.name.split(" → ").flat_map(|part| part.split(", "));
            let own = [p.process.as_ref(), p.kind.as_ref()];
            is_dump(p) && names.into_iter().any(|name| own.contains(&name))
        })
        .filter_map(|p| {
            let t = p.t?.nanos();
            if subject.kind == Kind::DumpTotal {
                return Some((t, p.total));
            }
            let waiting = p
                .groups
                .iter()
                .filter(|g| matches!(g.class, WaitClass::Lock | WaitClass::LockHandoff));
            (p.total > 0.0).then(|| (t, waiting.map(|g| g.value).sum::<f64>() / p.total))
        })
        .collect()
}

/// At most two values for each of `columns` columns. Points further apart than three times their usual distance have a gap
/// between them: no line is drawn across missing data.
fn decimate(points: &[(i64, f64)], window: TimeRange, columns: usize) -> Vec<Column> {
    let times: Vec<i64> = points.iter().map(|(t, _)| *t).collect();
    let longest = crate::base::stats::median_step(&times)
        .map_or(i64::MAX, |step| step.saturating_mul(3).max(1));
    let width = window.nanos().max(1) as f64;
    let mut out: Vec<Column> = Vec::with_capacity(columns.min(points.len()));
    let mut last: Option<(i64, usize)> = None;
    for (t, v) in points {
        let share = t.saturating_sub(window.start.nanos()) as f64 / width;
        let at = ((share * columns as f64) as usize).min(columns.saturating_sub(1));
        match last {
            Some((_, known)) if known == at => {
                if let Some(column) = out.last_mut() {
                    column.min = column.min.min(*v);
                    column.max = column.max.max(*v);
                }
            }
            _ => out.push(Column {
                x: share,
                min: *v,
                max: *v,
                is_after_gap: last.is_some_and(|(before, _)| t.saturating_sub(before) > longest),
            }),
        }
        last = Some((*t, at));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;

    #[test]
    fn columns_hold_the_extremes_and_know_gaps() {
        let at = |s: i64| s * 1_000_000_000;
        let window = TimeRange::new(Timestamp::from_nanos(0), Timestamp::from_nanos(at(100)));
        let mut points: Vec<(i64, f64)> = (0..40).map(|s| (at(s), s as f64)).collect();
        points.extend((80..100).map(|s| (at(s), -(s as f64))));
        let columns = decimate(&points, window, 10);
        assert_eq!(columns.len(), 6);
        assert_eq!((columns[1].min, columns[1].max), (10.0, 19.0));
        assert_eq!((columns[5].min, columns[5].max), (-99.0, -90.0));
        let gaps: Vec<bool> = columns.iter().map(|c| c.is_after_gap).collect();
        assert_eq!(gaps, [false, false, false, false, true, false]);
    }
}
