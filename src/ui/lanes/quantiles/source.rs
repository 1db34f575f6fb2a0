//! What quantiles are made of: histograms of an entity, summaries, requests, traces.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::lane::Column;
use super::{grid, of_sorted};
use crate::base::time::{TimeRange, Timestamp};
use crate::engine::cancel::Cancel;
use crate::model::series::Series;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::Snapshot;
use crate::store::histogram::{self, Deltas, Family, quantile};
use crate::ui::lanes::Twin;
use crate::ui::lanes::cloud::{self, Group, Measure};

/// One thing that has quantiles.
#[derive(Debug)]
pub(in crate::ui::lanes) struct Source {
    /// As a lane's key writes it.
    pub(in crate::ui::lanes) key: String,
    /// As the gutter shows it.
    pub(in crate::ui::lanes) title: String,
    /// Whom it is about.
    pub(in crate::ui::lanes) entities: Vec<String>,
    pub(super) unit: String,
    what: What,
}

#[derive(Debug)]
enum What {
    /// Histograms that are added up.
    Histogram {
        families: Vec<Family>,
        native: Vec<usize>,
        deltas: OnceLock<Vec<Deltas>>,
    },
    /// Quantiles as the program itself exports them.
    Summary {
        p50: Option<usize>,
        p99: usize,
        sum: Option<usize>,
        count: Option<usize>,
    },
    /// Durations of requests or traces.
    Dots(Group),
}

/// Every source, requests first.
pub(super) fn all(snapshot: &Snapshot) -> Vec<Source> {
    let mut found = Vec::new();
    for (group, counts) in cloud::groups(snapshot) {
        if counts[0] > 0 {
            found.push(Source {
                key: group.key(),
                title: group.title(),
                entities: group.entities(),
                unit: "ms".to_owned(),
                what: What::Dots(group),
            });
        }
    }
    histograms(snapshot, &mut found);
    summaries(snapshot, &mut found);
    found
}

/// Whom a series is about in few words: its service, else what names it best.
fn owner(snapshot: &Snapshot, ix: usize) -> String {
    let ids = snapshot
        .series_entities
        .get(ix)
        .map_or(&[][..], Vec::as_slice);
    ids.iter()
        .find(|id| id.starts_with("service:"))
        .or_else(|| ids.first())
        .cloned()
        .unwrap_or_default()
}

fn histograms(snapshot: &Snapshot, found: &mut Vec<Source>) {
    let mut by_owner: BTreeMap<(String, String), (Vec<Family>, Vec<usize>)> = BTreeMap::new();
    for family in histogram::families(snapshot) {
        let Some(ix) = family.buckets.last().and_then(|(_, all)| all.first()) else {
            continue;
        };
        let key = (family.base.to_string(), owner(snapshot, *ix));
        by_owner.entry(key).or_default().0.push(family);
    }
    for (ix, series) in snapshot.series.iter().enumerate() {
        if !series.histograms.is_empty() && series.sampling.is_raw() {
            let key = (series.metric.to_string(), owner(snapshot, ix));
            by_owner.entry(key).or_default().1.push(ix);
        }
    }
    for ((base, owner), (families, native)) in by_owner {
        let first = families
            .first()
            .and_then(|f| f.buckets.first())
            .and_then(|(_, all)| all.first())
            .or_else(|| native.first());
        let Some(series) = first.and_then(|ix| snapshot.series.get(*ix)) else {
            continue;
        };
        let mut entities: Vec<String> = Vec::new();
        let all = families
            .iter()
            .flat_map(|f| f.buckets.iter().flat_map(|(_, all)| all))
            .chain(&native);
        for id in all
            .take(64)
            .filter_map(|ix| snapshot.series_entities.get(*ix))
            .flatten()
        {
            if !entities.contains(id) {
                entities.push(id.clone());
            }
        }
        found.push(Source {
            key: format!("histogram|{base}|{owner}"),
            title: title(&base, &owner),
            entities,
            unit: unit(series, &base),
            what: What::Histogram {
                families,
                native,
                deltas: OnceLock::new(),
            },
        });
    }
}

fn unit(series: &Series, base: &str) -> String {
    if series.unit.is_empty() && base.ends_with("_seconds") {
        "seconds".to_owned()
    } else {
        series.unit.to_string()
    }
}

fn title(base: &str, owner: &str) -> String {
    let name = owner.split_once(':').map_or(owner, |(_, name)| name);
    if name.is_empty() {
        base.to_owned()
    } else {
        format!("{name} {base}")
    }
}

fn summaries(snapshot: &Snapshot, found: &mut Vec<Source>) {
    for metric in snapshot.metrics() {
        let mut by_labels: BTreeMap<_, Vec<(f64, usize)>> = BTreeMap::new();
        for (ix, series) in snapshot.raw(metric) {
            let q = series
                .labels
                .get("quantile")
                .and_then(|q| q.parse::<f64>().ok());
            if let Some(q) = q {
                let labels = series.labels.without(&["quantile"]);
                by_labels.entry(labels).or_default().push((q, ix));
            }
        }
        for (labels, quantiles) in by_labels {
            let near = |want: f64, within: f64| {
                quantiles
                    .iter()
                    .filter(|(q, _)| (q - want).abs() <= within)
                    .min_by(|a, b| (a.0 - want).abs().total_cmp(&(b.0 - want).abs()))
                    .map(|(_, ix)| *ix)
            };
            let Some(p99) = near(0.99, 0.005) else {
                continue;
            };
            let part = |end: &str| {
                let name = format!("{metric}{end}");
                snapshot
                    .raw(&name)
                    .find(|(_, s)| s.labels == labels)
                    .map(|(ix, _)| ix)
            };
            let Some(series) = snapshot.series.get(p99) else {
                continue;
            };
            found.push(Source {
                key: format!("summary|{metric}{labels}"),
                title: title(metric, &owner(snapshot, p99)),
                entities: snapshot
                    .series_entities
                    .get(p99)
                    .cloned()
                    .unwrap_or_default(),
                unit: unit(series, metric),
                what: What::Summary {
                    p50: near(0.5, 0.01),
                    p99,
                    sum: part("_sum"),
                    count: part("_count"),
                },
            });
        }
    }
}

impl Source {
    /// How far apart its scrapes are.
    pub(super) fn interval(&self, snapshot: &Snapshot) -> Option<i64> {
        let ix = self.series()?;
        snapshot.series.get(ix)?.interval_nanos()
    }

    fn series(&self) -> Option<usize> {
        match &self.what {
            What::Histogram {
                families, native, ..
            } => families
                .first()
                .and_then(|f| f.buckets.last())
                .and_then(|(_, all)| all.first())
                .or_else(|| native.first())
                .copied(),
            What::Summary { p99, .. } => Some(*p99),
            What::Dots(_) => None,
        }
    }

    /// Whether its quantiles are estimated inside buckets.
    pub(super) const fn is_estimated(&self) -> bool {
        matches!(self.what, What::Histogram { .. })
    }

    /// Where it leads to.
    pub(super) fn target(&self) -> Option<Target> {
        self.series()
            .map(|series| Target::Sample { series, t: None })
    }

    /// Its rows.
    pub(super) fn twin(&self, snapshot: &Snapshot) -> Twin {
        match &self.what {
            What::Dots(Group::Requests { .. }) => Twin {
                table: "requests",
                filter: String::new(),
            },
            What::Dots(Group::Traces { service }) => Twin {
                table: "spans",
                filter: service.to_string(),
            },
            _ => Twin {
                table: "series",
                filter: self
                    .series()
                    .and_then(|ix| snapshot.series.get(ix))
                    .map_or_else(String::new, |s| s.metric.to_string()),
            },
        }
    }

    /// The quantiles of each stretch that has observations.
    pub(super) fn columns(
        &self,
        incident: &Incident,
        range: TimeRange,
        width: i64,
        cancel: &Cancel,
    ) -> Result<Vec<Column>, String> {
        let snapshot = incident.snapshot();
        // What was never observed needs no column.
        let range = snapshot.extent.map_or(range, |e| range.intersection(&e));
        match &self.what {
            What::Histogram {
                families,
                native,
                deltas,
            } => {
                let deltas = deltas.get_or_init(|| {
                    let classic = families.iter().map(|f| f.deltas(snapshot));
                    let native = native
                        .iter()
                        .filter_map(|ix| snapshot.series.get(*ix))
                        .map(histogram::native_deltas);
                    classic.chain(native).filter(|d| !d.is_empty()).collect()
                });
                of_deltas(deltas, range, width, cancel)
            }
            What::Summary {
                p50,
                p99,
                sum,
                count,
            } => Ok(of_summary(
                snapshot,
                (*p50, *p99, *sum, *count),
                range,
                width,
            )),
            What::Dots(group) => {
                let cloud = cloud::of(incident, group, Measure::Duration);
                let mut columns = Vec::new();
                for (start, end) in grid(range, width) {
                    if cancel.is_cancelled() {
                        return Err("cancelled".to_owned());
                    }
                    let inside = cloud.within(TimeRange::new(
                        Timestamp::from_nanos(start),
                        Timestamp::from_nanos(end),
                    ));
                    let ms = cloud.ms.get(inside).unwrap_or_default();
                    let mut values: Vec<f64> = ms.iter().map(|v| f64::from(*v)).collect();
                    values.sort_by(f64::total_cmp);
                    columns.extend(of_sorted(start, end, &values));
                }
                Ok(columns)
            }
        }
    }
}

/// Adds up what fell into the buckets of every histogram in each stretch. Histograms with other buckets than the first are left out:
/// their counts cannot be added.
fn of_deltas(
    deltas: &[Deltas],
    range: TimeRange,
    width: i64,
    cancel: &Cancel,
) -> Result<Vec<Column>, String> {
    let Some(first) = deltas.first() else {
        return Ok(Vec::new());
    };
    let alike: Vec<&Deltas> = deltas.iter().filter(|d| d.bins == first.bins).collect();
    let mut columns = Vec::new();
    let mut counts = vec![0.0; first.bins.len()];
    for (start, end) in grid(range, width) {
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        counts.fill(0.0);
        let mut sum = 0.0;
        for d in &alike {
            let from = d.end.partition_point(|t| *t <= start);
            let to = d.end.partition_point(|t| *t <= end);
            for at in from..to.max(from) {
                for (into, n) in counts.iter_mut().zip(d.row(at)) {
                    *into += n;
                }
                sum += d.sum.get(at).copied().unwrap_or(f64::NAN);
            }
        }
        let total: f64 = counts.iter().sum();
        let q = |q: f64| quantile(&first.bins, &counts, q, first.interpolation);
        if let (Some(p50), Some(p99)) = (q(0.5), q(0.99)) {
            columns.push(Column {
                start,
                end,
                p50: p50.value,
                p99: p99.value,
                mean: sum / total,
                count: Some(total),
                is_ceiling: p99.is_ceiling,
            });
        }
    }
    Ok(columns)
}

/// The last of each stretch, as the program exported it; the mean from what its sum and count grew by.
fn of_summary(
    snapshot: &Snapshot,
    (p50, p99, sum, count): (Option<usize>, usize, Option<usize>, Option<usize>),
    range: TimeRange,
    width: i64,
) -> Vec<Column> {
    let last = |ix: Option<usize>, start: i64, end: i64| -> Option<f64> {
        let series = snapshot.series.get(ix?)?;
        let at = series.t.partition_point(|t| *t < end).checked_sub(1)?;
        let t = *series.t.get(at)?;
        let v = *series.v.get(at)?;
        (t >= start && v.is_finite()).then_some(v)
    };
    let grown = |ix: Option<usize>, start: i64, end: i64| -> Option<f64> {
        let now = last(ix, start, end)?;
        let before = last(ix, start.saturating_sub(width), start)?;
        (now >= before).then_some(now - before)
    };
    grid(range, width)
        .filter_map(|(start, end)| {
            let high = last(Some(p99), start, end)?;
            let n = grown(count, start, end);
            let mean = match (grown(sum, start, end), n) {
                (Some(sum), Some(n)) if n > 0.0 => sum / n,
                _ => f64::NAN,
            };
            Some(Column {
                start,
                end,
                p50: last(p50, start, end).unwrap_or(f64::NAN),
                p99: high,
                mean,
                count: n,
                is_ceiling: false,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::histogram::{Bin, Interpolation};

    fn deltas(rows: &[(i64, [f64; 3])]) -> Deltas {
        let bin = |lower, upper| Bin { lower, upper };
        Deltas {
            bins: vec![bin(0.0, 0.1), bin(0.1, 1.0), bin(1.0, f64::INFINITY)],
            interpolation: Interpolation::Linear,
            start: rows.iter().map(|(t, _)| t - 5).collect(),
            end: rows.iter().map(|(t, _)| *t).collect(),
            counts: rows.iter().flat_map(|(_, c)| *c).collect(),
            sum: rows
                .iter()
                .map(|(_, c)| c.iter().sum::<f64>() * 0.05)
                .collect(),
            dropped: Default::default(),
        }
    }

    #[test]
    fn histograms_of_one_owner_are_added_up_and_empty_stretches_left_out() {
        let range = TimeRange::new(Timestamp::from_nanos(0), Timestamp::from_nanos(59));
        let all = [
            deltas(&[(10, [99.0, 0.0, 0.0]), (50, [1.0, 0.0, 0.0])]),
            deltas(&[(10, [0.0, 0.0, 2.0])]),
        ];
        let columns = of_deltas(&all, range, 20, &Cancel::new()).unwrap();
        assert_eq!(columns.len(), 2, "nothing fell between 20 and 40");
        assert_eq!(columns[0].count, Some(101.0));
        assert!(columns[0].is_ceiling && (columns[0].p99 - 1.0).abs() < 1e-9);
        assert!((columns[0].mean - 0.05).abs() < 1e-9);
        assert!(!columns[1].is_ceiling);
    }
}
