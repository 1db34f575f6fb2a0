//! `metric`: lines of a metric. Gaps are gaps, held values are steps, counters are rates.
//!
//! A lane that takes a whole metric draws its most telling series (those that findings point at, then those that move most) and the
//! rest as one band; a lane whose series were named one by one draws up to a hundred.

pub(crate) mod curve;
mod draw;
mod lane;
mod measure;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::curve::{Curve, Node};
use self::lane::{Line, MetricLane, Others};
use crate::engine::cancel::Cancel;
use crate::model::series::{MetricKind, Sampling};
use crate::session::incident::Incident;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::cache::{self, Cache};
use crate::ui::lanes::mesh::MeshCache;
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, empty, plan, select};

/// Lines drawn of a whole metric.
const MOST_LINES: usize = 15;
/// Lines drawn of series that were named one by one.
const MOST_NAMED: usize = 100;
/// Series that the band of the others is made of; more would take longer than a person waits.
const MOST_OTHERS: usize = 2_000;
/// Columns of that band.
const OTHERS_COLUMNS: i64 = 256;

/// Lines of a metric.
#[derive(Debug)]
pub struct Metric;

/// The lane of one series or of all series of a metric.
pub fn spec(selector: &str) -> LaneSpec {
    LaneSpec {
        kind: "metric".to_owned(),
        key: selector.to_owned(),
        series: vec![selector.to_owned()],
    }
}

impl LaneKind for Metric {
    fn id(&self) -> &'static str {
        "metric"
    }

    fn height(&self) -> u16 {
        84
    }

    fn has_outliers(&self) -> bool {
        true
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        let mut offers = list(incident.snapshot());
        // A finding may point at fewer series than a metric has: such a narrower lane is offered beside it.
        for spec in plan::of(incident).specs() {
            if spec.kind == self.id() && !offers.iter().any(|o| o.spec == *spec) {
                offers.push(offer(incident.snapshot(), spec.clone()));
            }
        }
        plan::ranked(incident, offers)
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let cache = cache::of(incident);
        let taken = Taken::of(spec, incident, &cache, query, cancel)?;
        if taken.drawn.is_empty() {
            return Ok(empty::lane(spec.series.join(", ")));
        }
        let lines = taken.lines(incident.snapshot(), query, cancel)?;
        let others = taken.others(incident.snapshot(), query, cancel)?;
        let own = lines.iter().filter(|l| l.own_range.is_none());
        let is_whole = own.flat_map(|l| &l.nodes).all(|n| !is_broken(n));
        Ok(Box::new(MetricLane {
            document: Arc::clone(&incident.document),
            lines,
            others,
            step_nanos: query.step_nanos,
            is_whole,
            mesh: MeshCache::default(),
            measured: Default::default(),
        }))
    }
}

/// One lane for each metric. Buckets of histograms are left to the quantiles.
pub(super) fn list(snapshot: &Snapshot) -> Vec<Offer> {
    snapshot
        .metrics()
        .filter(|metric| !metric.is_empty() && !metric.ends_with("_bucket"))
        .filter(|metric| {
            let first = snapshot.metric(metric).start;
            snapshot.series.get(first).is_some_and(|s| !s.t.is_empty())
        })
        .map(|metric| offer(snapshot, spec(metric)))
        .collect()
}

fn offer(snapshot: &Snapshot, spec: LaneSpec) -> Offer {
    let metric = spec.key.split('{').next().unwrap_or_default();
    let known = snapshot.metric(&spec.key);
    let range = if known.is_empty() {
        snapshot.metric(metric)
    } else {
        known
    };
    let entities: BTreeSet<&String> = range
        .take(256)
        .filter_map(|ix| snapshot.series_entities.get(ix))
        .flatten()
        .collect();
    Offer {
        title: title(&spec.key),
        entities: entities.into_iter().take(32).cloned().collect(),
        spec,
        opening_rank: None,
    }
}

/// The metric and the values of its labels: `process_memory_bytes resident`.
fn title(selector: &str) -> String {
    let Some((metric, labels)) = selector.strip_suffix('}').and_then(|s| s.split_once('{')) else {
        return selector.to_owned();
    };
    let values: Vec<&str> = labels
        .split("\",")
        .filter_map(|pair| pair.split_once("=\""))
        .map(|(_, value)| value.trim_end_matches('"'))
        .collect();
    if metric.is_empty() || values.is_empty() || metric.contains('(') {
        return selector.to_owned();
    }
    format!("{metric} {}", values.join(" "))
}

/// The series of a lane, in order of what they tell.
struct Taken {
    /// Index of the series, its curve, and whether it is an overlay with a unit of its own.
    drawn: Vec<(usize, Arc<Curve>, bool)>,
    rest: Vec<Arc<Curve>>,
    rest_series: Vec<usize>,
}

impl Taken {
    fn of(
        spec: &LaneSpec,
        incident: &Incident,
        cache: &Cache,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Self, String> {
        let snapshot = incident.snapshot();
        let index = cache.index(snapshot);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut seen = BTreeSet::new();
        for selector in &spec.series {
            let mut group = select::series(snapshot, index, selector);
            group.retain(|ix| seen.insert(*ix));
            groups.push(group);
        }
        let pointed: BTreeSet<usize> = incident
            .findings()
            .iter()
            .flat_map(|f| select::of_finding(index, f))
            .collect();
        let most = if spec.series.len() > 1 {
            MOST_NAMED
        } else {
            MOST_LINES
        };
        let mut taken = Self {
            drawn: Vec::new(),
            rest: Vec::new(),
            rest_series: Vec::new(),
        };
        let mut base_unit: Option<String> = None;
        for group in groups {
            let mut ranked: Vec<(bool, f64, usize, Arc<Curve>)> = Vec::with_capacity(group.len());
            for ix in group {
                if cancel.is_cancelled() {
                    return Err("cancelled".to_owned());
                }
                if let Some(curve) = cache.curve(snapshot, ix) {
                    let size = movement(snapshot, ix, &curve, query);
                    ranked.push((pointed.contains(&ix), size, ix, curve));
                }
            }
            let room = most.saturating_sub(taken.drawn.len());
            if ranked.len() > room {
                ranked.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
                for (_, _, ix, curve) in ranked.split_off(room) {
                    taken.rest_series.push(ix);
                    taken.rest.push(curve);
                }
                ranked.sort_by_key(|r| r.2);
            }
            for (_, _, ix, curve) in ranked {
                let unit = unit_of(snapshot, ix, &curve);
                let base = base_unit.get_or_insert_with(|| unit.clone());
                let is_foreign = *base != unit;
                taken.drawn.push((ix, curve, is_foreign));
            }
        }
        Ok(taken)
    }

    fn lines(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Vec<Line>, String> {
        let ids: Vec<usize> = self.drawn.iter().map(|(ix, ..)| *ix).collect();
        let mut names = select::names(snapshot, &ids);
        names.resize(ids.len(), String::new());
        let mut lines = Vec::with_capacity(ids.len());
        for ((ix, curve, is_foreign), name) in self.drawn.iter().zip(names) {
            if cancel.is_cancelled() {
                return Err("cancelled".to_owned());
            }
            let Some(series) = snapshot.series.get(*ix) else {
                continue;
            };
            let range = (query.range.start.nanos(), query.range.end.nanos());
            lines.push(Line {
                series: *ix,
                nodes: curve.nodes(series, range, query.step_nanos),
                curve: Arc::clone(curve),
                name,
                unit: unit_of(snapshot, *ix, curve),
                own_range: is_foreign.then_some((0.0, 1.0)),
                gaps: Vec::new(),
            });
        }
        let end = snapshot.extent.map_or(i64::MIN, |e| e.end.nanos());
        for line in &mut lines {
            line.find_gaps(snapshot, end);
        }
        lane::fit_foreign(&mut lines);
        Ok(lines)
    }

    /// Everything that is not drawn by itself, as one band.
    fn others(
        &self,
        snapshot: &Snapshot,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Option<Others>, String> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let range = (query.range.start.nanos(), query.range.end.nanos());
        let span = range.1.saturating_sub(range.0);
        let step = (span / OTHERS_COLUMNS).max(query.step_nanos).max(1);
        let mut columns = vec![(f64::INFINITY, f64::NEG_INFINITY); OTHERS_COLUMNS as usize + 2];
        for (ix, curve) in self.rest_series.iter().zip(&self.rest).take(MOST_OTHERS) {
            if cancel.is_cancelled() {
                return Err("cancelled".to_owned());
            }
            let Some(series) = snapshot.series.get(*ix) else {
                continue;
            };
            for node in curve.nodes(series, range, step) {
                let at = node.t.saturating_sub(range.0).max(0) / step;
                if let Some((lo, hi)) = usize::try_from(at).ok().and_then(|at| columns.get_mut(at))
                    && !node.lo.is_nan()
                {
                    *lo = lo.min(node.lo);
                    *hi = hi.max(node.hi);
                }
            }
        }
        let mut nodes: Vec<Node> = Vec::new();
        let mut was_there = false;
        for (at, (lo, hi)) in (0i64..).zip(columns) {
            let is_there = lo <= hi;
            if is_there {
                nodes.push(Node {
                    t: range.0 + step * at + step / 2,
                    lo,
                    hi,
                    is_joined: was_there,
                    beyond: 0,
                    is_sample: false,
                });
            }
            was_there = is_there;
        }
        Ok(Some(Others {
            count: self.rest.len(),
            looked_at: self.rest.len().min(MOST_OTHERS),
            nodes,
        }))
    }
}

/// How much a series moves in what is looked at: what tells most is drawn first.
fn movement(snapshot: &Snapshot, ix: usize, curve: &Curve, query: &Query) -> f64 {
    let Some(series) = snapshot.series.get(ix) else {
        return 0.0;
    };
    let range = curve.range(series, series.within(query.range));
    if range.is_empty() {
        return -1.0;
    }
    // A series that stands still far up matters less than one that moves, and more than one that stands still at nought.
    (range.max - range.min) + range.max.abs() * 1e-3
}

/// The unit that is drawn: of a rate it is that of the counter per second.
fn unit_of(snapshot: &Snapshot, ix: usize, curve: &Curve) -> String {
    let Some(series) = snapshot.series.get(ix) else {
        return String::new();
    };
    let unit = series.unit.as_ref();
    if !curve.is_rate() {
        return unit.to_owned();
    }
    let is_number = series.metric.ends_with("_count") || series.metric.ends_with("_bucket");
    match unit {
        _ if is_number => "/s".to_owned(),
        // Seconds of work in each second are a share.
        "seconds" if series.kind == MetricKind::Counter => "s/s".to_owned(),
        "" | "1" | "count" => "/s".to_owned(),
        other => format!("{other}/s"),
    }
}

/// Whether a node holds a value that is no whole number.
fn is_broken(node: &Node) -> bool {
    [node.lo, node.hi]
        .iter()
        .any(|v| v.is_finite() && v.fract() != 0.0)
}

/// How a lane's samples came about, for its note.
fn is_instant(sampling: Sampling) -> bool {
    matches!(sampling, Sampling::Instant)
}
