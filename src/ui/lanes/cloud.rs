//! Dots over time: requests or traces by how long something of them took. Sorted by time, made once for each group.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::stats::{mad, median};
use crate::base::time::{TimeRange, Timestamp};
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::Snapshot;
use crate::store::build::service_of_upstream;
use crate::ui::lanes::{axis, cache};

/// What a dot stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    Request(u32),
    Span(u32),
    Summary(u32),
}

/// Dots, sorted by time.
#[derive(Debug, Default)]
pub(super) struct Cloud {
    /// When, in nanoseconds.
    pub(super) t: Vec<i64>,
    /// How long, in milliseconds.
    pub(super) ms: Vec<f32>,
    /// The natural logarithm of that, of nought that of half the smallest above it.
    pub(super) ln: Vec<f32>,
    /// Whether it failed.
    pub(super) is_error: Vec<bool>,
    /// Indices of those that failed, in order.
    pub(super) errors: Vec<u32>,
    rows: Vec<Row>,
    /// Rows without that time.
    pub(super) without: usize,
    /// From here on a dot is far from the rest, in milliseconds.
    pub(super) outlier_ms: f32,
}

/// What is measured of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Measure {
    /// How long it took.
    Duration,
    /// How long connecting took.
    Connect,
}

/// Which rows make a cloud.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    /// Requests of a service's log, to one of its upstreams or to all.
    Requests {
        service: Arc<str>,
        upstream: Option<Arc<str>>,
    },
    /// Traces and segments of a service.
    Traces { service: Arc<str> },
}

impl Group {
    /// As a lane's key writes it.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Requests { service, upstream } => match upstream {
                Some(upstream) => format!("requests|{service}|{upstream}"),
                None => format!("requests|{service}"),
            },
            Self::Traces { service } => format!("traces|{service}"),
        }
    }

    /// From a lane's key.
    pub(super) fn parse(key: &str) -> Option<Self> {
        let mut parts = key.splitn(3, '|');
        match (parts.next()?, parts.next()?, parts.next()) {
            ("requests", service, upstream) => Some(Self::Requests {
                service: Arc::from(service),
                upstream: upstream.map(Arc::from),
            }),
            ("traces", service, None) => Some(Self::Traces {
                service: Arc::from(service),
            }),
            _ => None,
        }
    }

    /// As the gutter shows it.
    pub(super) fn title(&self) -> String {
        match self {
            Self::Requests { service, upstream } => {
                let from = if service.is_empty() {
                    "-"
                } else {
                    service.as_ref()
                };
                match upstream {
                    Some(upstream) => format!("{from} → {upstream}"),
                    None => from.to_owned(),
                }
            }
            Self::Traces { service } => service.to_string(),
        }
    }

    /// Whom it is about, the most specific first.
    pub(super) fn entities(&self) -> Vec<String> {
        let names: Vec<&Arc<str>> = match self {
            Self::Requests { service, upstream } => {
                upstream.iter().chain(std::iter::once(service)).collect()
            }
            Self::Traces { service } => vec![service],
        };
        names
            .into_iter()
            .filter(|n| !n.is_empty())
            .map(|n| format!("service:{n}"))
            .collect()
    }
}

/// Every group with how many rows it has for each measure.
pub(super) fn groups(snapshot: &Snapshot) -> BTreeMap<Group, [usize; 2]> {
    let mut requests: BTreeMap<(Arc<str>, Arc<str>), [usize; 2]> = BTreeMap::new();
    // Neighbours are mostly of one group, so the names are compared only when they change.
    for run in snapshot.requests.chunk_by(|a, b| {
        Arc::ptr_eq(&a.service, &b.service) && Arc::ptr_eq(&a.upstream, &b.upstream)
    }) {
        let Some(first) = run.first() else { continue };
        let key = (Arc::clone(&first.service), Arc::clone(&first.upstream));
        let counts = requests.entry(key).or_default();
        counts[0] += run.iter().filter(|r| r.duration_ms.is_some()).count();
        counts[1] += run.iter().filter(|r| r.connect_ms().is_some()).count();
    }
    let mut found: BTreeMap<Group, [usize; 2]> = BTreeMap::new();
    let mut upstreams: BTreeMap<Arc<str>, BTreeMap<Arc<str>, [usize; 2]>> = BTreeMap::new();
    for ((service, upstream), counts) in requests {
        let of = upstreams.entry(service).or_default();
        let name = service_of_upstream(&upstream).unwrap_or_default();
        let known = of.entry(Arc::from(name)).or_default();
        known[0] += counts[0];
        known[1] += counts[1];
    }
    for (service, of) in upstreams {
        let mut all = [0, 0];
        for (upstream, counts) in &of {
            all[0] += counts[0];
            all[1] += counts[1];
            if of.len() > 1 && !upstream.is_empty() {
                let upstream = Some(Arc::clone(upstream));
                let service = Arc::clone(&service);
                found.insert(Group::Requests { service, upstream }, *counts);
            }
        }
        found.insert(
            Group::Requests {
                service,
                upstream: None,
            },
            all,
        );
    }
    let mut count = |service: &Arc<str>, has: [bool; 2]| {
        let service = Arc::clone(service);
        let counts = found.entry(Group::Traces { service }).or_default();
        counts[0] += usize::from(has[0]);
        counts[1] += usize::from(has[1]);
    };
    for span in &snapshot.spans {
        let is_whole = is_whole(snapshot, span);
        if is_whole || span.connect_ms.is_some() {
            count(
                &span.service,
                [
                    is_whole && span.duration_ms.is_some(),
                    span.connect_ms.is_some(),
                ],
            );
        }
    }
    for summary in &snapshot.summaries {
        count(
            &summary.entry,
            [summary.response_ms.or(summary.duration_ms).is_some(), false],
        );
        if let (Some(_), Some(service)) = (summary.connect_ms, &summary.connect_service) {
            count(service, [false, true]);
        }
    }
    found.retain(|_, counts| counts.iter().any(|n| *n > 0));
    found
}

/// Whether a span stands for the whole work of its service: a segment, a root, or the serving of a request.
fn is_whole(_snapshot: &Snapshot, span: &crate::model::span::Span) -> bool {
    use crate::model::span::SpanKind;
    !span.is_inferred
        && (span.is_segment
            || span.parent_id.is_none()
            || matches!(span.kind, SpanKind::Server | SpanKind::Consumer))
}

/// The dots of a group.
pub(super) fn of(incident: &Incident, group: &Group, measure: Measure) -> Arc<Cloud> {
    let key = format!("{measure:?} {}", group.key());
    cache::of(incident).cloud(&key, || Cloud::make(incident.snapshot(), group, measure))
}

impl Cloud {
    fn make(snapshot: &Snapshot, group: &Group, measure: Measure) -> Self {
        let mut dots: Vec<(i64, f32, bool, Row)> = Vec::new();
        let mut without = 0;
        let mut add = |t: Timestamp, ms: Option<f64>, is_error: bool, row: Row| match ms {
            Some(ms) if ms.is_finite() && ms >= 0.0 => {
                dots.push((t.nanos(), ms as f32, is_error, row));
            }
            _ => without += 1,
        };
        match group {
            Group::Requests { service, upstream } => {
                for (at, r) in snapshot.requests.iter().enumerate() {
                    let is_ours = *r.service == **service
                        && upstream
                            .as_ref()
                            .is_none_or(|u| service_of_upstream(&r.upstream) == Some(u.as_ref()));
                    if is_ours {
                        let ms = match measure {
                            Measure::Duration => r.duration_ms,
                            Measure::Connect => r.connect_ms(),
                        };
                        let is_error = r.failed() == Some(true);
                        add(r.t, ms, is_error, Row::Request(short(at)));
                    }
                }
            }
            Group::Traces { service } => traces(snapshot, service, measure, &mut add),
        }
        dots.sort_by_key(|d| d.0);
        let smallest = dots
            .iter()
            .map(|d| d.1)
            .filter(|ms| *ms > 0.0)
            .fold(f32::INFINITY, f32::min);
        let floor = if smallest.is_finite() {
            smallest / 2.0
        } else {
            0.5
        };
        let ms: Vec<f64> = dots.iter().map(|d| f64::from(d.1)).collect();
        Self {
            outlier_ms: outlier_from(&ms) as f32,
            ln: dots.iter().map(|d| d.1.max(floor).ln()).collect(),
            t: dots.iter().map(|d| d.0).collect(),
            ms: dots.iter().map(|d| d.1).collect(),
            errors: (0u32..)
                .zip(&dots)
                .filter(|(_, d)| d.2)
                .map(|(at, _)| at)
                .collect(),
            is_error: dots.iter().map(|d| d.2).collect(),
            rows: dots.iter().map(|d| d.3).collect(),
            without,
        }
    }

    /// How many dots there are.
    pub(super) fn len(&self) -> usize {
        self.t.len()
    }

    /// Those inside a range.
    pub(super) fn within(&self, range: TimeRange) -> std::ops::Range<usize> {
        let from = self.t.partition_point(|t| *t < range.start.nanos());
        let to = self.t.partition_point(|t| *t < range.end.nanos());
        from..to.max(from)
    }

    /// Where a dot leads to.
    pub(super) fn target(&self, at: usize) -> Option<Target> {
        Some(match *self.rows.get(at)? {
            Row::Request(ix) => Target::Request {
                request: ix as usize,
            },
            Row::Span(ix) => Target::Span { span: ix as usize },
            Row::Summary(ix) => Target::Summary {
                summary: ix as usize,
            },
        })
    }

    /// Smallest (above 0) and largest of a range, as the axis shows them, in milliseconds.
    pub(super) fn extent(&self, range: std::ops::Range<usize>) -> Option<(f64, f64)> {
        let inside = self.ln.get(range)?;
        let (lo, hi) = inside
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), v| {
                (lo.min(*v), hi.max(*v))
            });
        (lo <= hi).then(|| (f64::from(lo).exp(), f64::from(hi).exp()))
    }
}

/// Median plus five scaled median absolute deviations; half the median again at least, so that an even crowd has no outliers.
fn outlier_from(ms: &[f64]) -> f64 {
    let centre = median(ms).unwrap_or(0.0);
    let spread = mad(ms).unwrap_or(0.0);
    centre + (axis::OUTLIER_MADS * spread).max(centre * 0.5).max(1.0)
}

/// The part of sorted indices that lies inside a range of dots.
pub(super) fn part<'a>(indices: &'a [u32], inside: &std::ops::Range<usize>) -> &'a [u32] {
    let from = indices.partition_point(|at| (*at as usize) < inside.start);
    let to = indices.partition_point(|at| (*at as usize) < inside.end);
    indices.get(from..to.max(from)).unwrap_or_default()
}

fn traces(
    snapshot: &Snapshot,
    service: &Arc<str>,
    measure: Measure,
    add: &mut impl FnMut(Timestamp, Option<f64>, bool, Row),
) {
    // A trace that came whole is not drawn a second time for its line in a list.
    let mut whole: std::collections::BTreeSet<&str> = Default::default();
    for (at, span) in snapshot.spans.iter().enumerate() {
        if span.service != *service {
            continue;
        }
        match measure {
            Measure::Duration if is_whole(snapshot, span) => {
                add(
                    span.start,
                    span.duration_ms,
                    span.status.is_error(),
                    Row::Span(short(at)),
                );
                whole.insert(&span.trace_id);
            }
            Measure::Connect if span.connect_ms.is_some() => {
                add(
                    span.start,
                    span.connect_ms,
                    span.status.is_error(),
                    Row::Span(short(at)),
                );
                whole.insert(&span.trace_id);
            }
            _ => {}
        }
    }
    for (at, summary) in snapshot.summaries.iter().enumerate() {
        let ms = match measure {
            Measure::Duration if summary.entry == *service => {
                summary.response_ms.or(summary.duration_ms)
            }
            Measure::Connect if summary.connect_service.as_ref() == Some(service) => {
                summary.connect_ms
            }
            _ => continue,
        };
        if !whole.contains(summary.trace_id.as_ref()) {
            add(
                summary.start,
                ms,
                summary.status.is_error(),
                Row::Summary(short(at)),
            );
        }
    }
}

fn short(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_reads_back() {
        let both = Group::Requests {
            service: Arc::from("a"),
            upstream: Some(Arc::from("b|c")),
        };
        let alone = Group::Requests {
            service: Arc::from("a"),
            upstream: None,
        };
        let traces = Group::Traces {
            service: Arc::from("x y"),
        };
        for group in [both, alone, traces] {
            assert_eq!(Group::parse(&group.key()), Some(group));
        }
        assert_eq!(Group::parse("other|x"), None);
    }
}
