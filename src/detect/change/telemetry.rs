//! Changes that telemetry shows by itself.

use std::collections::BTreeSet;

use crate::base::text;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::change::versions::{infos, versions};
use crate::detect::scrape_gap::analysis::replacements;
use crate::detect::scrape_gap::evidence::PROCESS_START;
use crate::detect::scrape_gap::holes::{IdentityChange, input_ends, series_faults};
use crate::detect::scrape_gap::interval::GAP_FACTOR;
use crate::detect::scrape_gap::origin::Origin;
use crate::detect::scrape_gap::timeline::{Target, targets};
use crate::model::entity::{EntityType, entity_id};
use crate::model::input::Evidence;
use crate::model::series::Series;
use crate::store::Snapshot;

/// When Prometheus last took a new configuration.
const RELOAD: &str = "prometheus_config_last_reload_success_timestamp_seconds";
/// New targets and intervals take effect up to 5 s after a reload (`prometheus.md` §2.3).
const DISCOVERY_NANOS: i64 = 5_000_000_000;
/// Numbers of workloads that only a person or a controller sets (kube-state-metrics), each with its word and the label
/// that names the workload.
const WORKLOADS: &[(&str, &str, &str)] = &[
    ("kube_deployment_spec_replicas", "replicas", "deployment"),
    ("kube_statefulset_replicas", "replicas", "statefulset"),
    (
        "kube_deployment_metadata_generation",
        "generation",
        "deployment",
    ),
    (
        "kube_statefulset_metadata_generation",
        "generation",
        "statefulset",
    ),
    (
        "kube_daemonset_metadata_generation",
        "generation",
        "daemonset",
    ),
    (
        "kube_horizontalpodautoscaler_spec_max_replicas",
        "maximum of replicas",
        "horizontalpodautoscaler",
    ),
];

/// One change.
#[derive(Debug)]
pub(super) struct Seen {
    /// The best single time.
    pub(super) t: Timestamp,
    /// When it was undone, if it was.
    pub(super) end: Option<Timestamp>,
    /// One line.
    pub(super) what: String,
    /// Whole sentences.
    pub(super) detail: String,
    /// Whom it concerns.
    pub(super) entities: Vec<String>,
    /// Where.
    pub(super) evidence: Vec<Evidence>,
    /// How often the series that show it were sampled, in nanoseconds.
    pub(super) interval: i64,
    /// How sure.
    pub(super) confidence: f64,
}

/// Every change, and whether any series was there that could have shown one.
pub(super) fn changes(snapshot: &Snapshot) -> (Vec<Seen>, bool) {
    let targets = targets(snapshot, Origin::Raw);
    let infos: Vec<(usize, &Series)> = infos(snapshot);
    let could_see =
        !targets.is_empty() || !infos.is_empty() || snapshot.raw(PROCESS_START).next().is_some();
    let mut found = intervals(snapshot, &targets);
    fold_reloads(&mut found, reloads(snapshot));
    found.extend(identities(snapshot, &targets));
    found.extend(replaced(snapshot, &targets));
    found.extend(versions(snapshot, &infos));
    found.extend(workloads(snapshot));
    found.extend(restarts(snapshot));
    found.sort_by(|a, b| (a.t, &a.what).cmp(&(b.t, &b.what)));
    (found, could_see)
}

/// A change of the scrape interval of one target.
struct IntervalChange<'t> {
    target: &'t Target<'t>,
    t: i64,
    end: Option<i64>,
    old: i64,
    new: i64,
}

fn interval_changes<'t>(target: &'t Target<'t>) -> Vec<IntervalChange<'t>> {
    let near = |a: i64, b: i64| (a - b).abs() as f64 <= 0.1 * a.max(b) as f64;
    let mut found: Vec<IntervalChange<'_>> = Vec::new();
    for pair in target.regimes.windows(2) {
        let (old, new) = (pair[0].interval_nanos, pair[1].interval_nanos);
        let Some(t) = target.scrapes.get(pair[1].from).map(|s| s.t) else {
            continue;
        };
        match found.last_mut() {
            Some(last) if last.end.is_none() && near(last.old, new) && near(last.new, old) => {
                last.end = Some(t);
            }
            _ => found.push(IntervalChange {
                target,
                t,
                end: None,
                old,
                new,
            }),
        }
    }
    found
}

/// Changes of the interval, those of several targets at one time together.
fn intervals(snapshot: &Snapshot, targets: &[Target<'_>]) -> Vec<Seen> {
    let mut all: Vec<IntervalChange<'_>> = targets.iter().flat_map(interval_changes).collect();
    all.sort_by_key(|c| c.t);
    let mut groups: Vec<Vec<IntervalChange<'_>>> = Vec::new();
    for change in all {
        let same = groups.iter_mut().rev().take(16).find(|group| {
            group.first().is_some_and(|first| {
                let is_level = |a: i64, b: i64| (a - b).abs() as f64 <= 0.1 * a.max(b) as f64;
                change.t - first.t <= 2 * first.old.max(first.new)
                    && is_level(first.old, change.old)
                    && is_level(first.new, change.new)
                    && first.end.is_some() == change.end.is_some()
            })
        });
        match same {
            Some(group) => group.push(change),
            None => groups.push(vec![change]),
        }
    }
    groups
        .iter()
        .filter_map(|group| interval_change(snapshot, group))
        .collect()
}

fn interval_change(snapshot: &Snapshot, group: &[IntervalChange<'_>]) -> Option<Seen> {
    let first = group.first()?;
    let secs = |nanos: i64| units::secs((nanos as f64 / 1e7).round() / 100.0);
    let (old, new) = (secs(first.old), secs(first.new));
    let t = group.iter().map(|c| c.t).max()?;
    let end = group.iter().filter_map(|c| c.end).max();
    let count = text::count(group.len() as u64, "target", "targets");
    let back = end.map_or_else(String::new, |end| {
        format!(", and back at {}", Timestamp::from_nanos(end).to_clock())
    });
    let mut entities: Vec<String> = Vec::new();
    for change in group {
        for entity in change.target.entities {
            if !entities.contains(entity) {
                entities.push(entity.clone());
            }
        }
    }
    Some(Seen {
        t: Timestamp::from_nanos(t),
        end: end.map(Timestamp::from_nanos),
        what: format!("Scrape interval of {count} changed from {old} to {new}"),
        detail: format!(
            "The samples of `up` of {count} came every {old} and from {} on every {new}{back}. No sample is missing: the \
             configuration was changed.",
            Timestamp::from_nanos(t).to_clock()
        ),
        entities,
        evidence: group
            .iter()
            .take(3)
            .filter_map(|c| {
                c.target
                    .up_evidence(snapshot, c.t, "the interval changes here")
            })
            .collect(),
        interval: first.old.max(first.new),
        confidence: 0.95,
    })
}

/// Reloads of the configuration, by the timestamp that Prometheus gives.
fn reloads(snapshot: &Snapshot) -> Vec<Seen> {
    steps_of(snapshot, RELOAD)
        .filter_map(|step| {
            let t = Timestamp::from_secs_f64(step.new)?;
            Some(Seen {
                t,
                end: None,
                what: "Prometheus took a new configuration".to_owned(),
                detail: format!("{RELOAD} moved to {t}: the configuration was reloaded."),
                entities: step.entities.to_vec(),
                evidence: vec![snapshot.sample_evidence(
                    step.series,
                    step.t,
                    format!("reloaded {t}"),
                )],
                interval: step.interval,
                confidence: 0.95,
            })
        })
        .collect()
}

/// A reload that goes with a change of the interval, or with its end, is its proof and its best time: the scrapes follow
/// up to 5 s later (`prometheus.md` §2.3).
fn fold_reloads(found: &mut Vec<Seen>, reloads: Vec<Seen>) {
    for reload in reloads {
        let is_near = |t: Timestamp, interval: i64| {
            let after = t.nanos_since(reload.t);
            (0..=DISCOVERY_NANOS + 2 * interval.max(reload.interval)).contains(&after)
        };
        let begun = found.iter_mut().find(|c| is_near(c.t, c.interval));
        if let Some(change) = begun {
            change.t = reload.t;
            prove(change, reload);
            continue;
        }
        let ended = found
            .iter_mut()
            .find(|c| c.end.is_some_and(|end| is_near(end, c.interval)));
        if let Some(change) = ended {
            change.end = Some(reload.t);
            prove(change, reload);
            continue;
        }
        found.push(reload);
    }
}

fn prove(change: &mut Seen, reload: Seen) {
    change.detail = format!("{} {}", change.detail, reload.detail);
    change.evidence.extend(reload.evidence);
}

/// A gauge that stepped to another value between two samples in a row.
struct Step<'a> {
    series: &'a Series,
    entities: &'a [String],
    t: i64,
    old: f64,
    new: f64,
    interval: i64,
}

/// Steps of a metric's raw series, those over a gap left out: what happened in a gap is the gap's own story.
fn steps_of<'a>(snapshot: &'a Snapshot, metric: &str) -> impl Iterator<Item = Step<'a>> {
    snapshot.raw(metric).flat_map(|(ix, series)| {
        let interval = series.interval_nanos().unwrap_or(i64::MAX / 4);
        let entities = snapshot
            .series_entities
            .get(ix)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let times = series.t.windows(2);
        let values = series.v.windows(2);
        times.zip(values).filter_map(move |(t, v)| {
            let is_near = (t[1] - t[0]) as f64 <= GAP_FACTOR * interval as f64;
            let differs = v[0].is_finite()
                && v[1].is_finite()
                && (v[1] - v[0]).abs() > f64::EPSILON * v[0].abs();
            (is_near && differs).then_some(Step {
                series,
                entities,
                t: t[1],
                old: v[0],
                new: v[1],
                interval,
            })
        })
    })
}

/// New processes that answered without a scrape having failed.
fn restarts(snapshot: &Snapshot) -> Vec<Seen> {
    [PROCESS_START, "namedprocess_namegroup_oldest_start_time_seconds"]
        .into_iter()
        .flat_map(|metric| steps_of(snapshot, metric))
        // The metric is rounded differently by kernels and clients.
        .filter(|step| step.new - step.old > 1.0)
        .filter_map(|step| {
            let began = Timestamp::from_secs_f64(step.new)?;
            let name = step
                .entities
                .first()
                .and_then(|e| e.split_once(':'))
                .map_or_else(|| step.series.selector(), |(_, name)| name.to_owned());
            Some(Seen {
                t: began,
                end: None,
                what: format!("{name} was restarted"),
                detail: format!("The process of {name} is a new one, started at {began}; no scrape was missed over it."),
                entities: step.entities.to_vec(),
                evidence: vec![snapshot.sample_evidence(step.series, step.t, format!("process start {began}"))],
                interval: step.interval,
                confidence: 0.95,
            })
        })
        .collect()
}

/// Replicas and generations of workloads.
fn workloads(snapshot: &Snapshot) -> Vec<Seen> {
    let mut found = Vec::new();
    for (metric, word, label) in WORKLOADS {
        for step in steps_of(snapshot, metric) {
            let name = step.series.labels.get(label).unwrap_or("a workload");
            let what = format!(
                "{name}: {word} {} → {}",
                units::number(step.old),
                units::number(step.new)
            );
            let t = Timestamp::from_nanos(step.t);
            let mut entities = vec![entity_id(EntityType::Service, name)];
            entities.retain(|id| snapshot.graph.contains(id));
            found.push(Seen {
                t,
                end: None,
                detail: format!(
                    "{metric} of {name} went from {} to {} by {}.",
                    step.old,
                    step.new,
                    t.to_clock()
                ),
                what,
                entities,
                evidence: vec![snapshot.sample_evidence(
                    step.series,
                    step.t,
                    format!("{} → {}", step.old, step.new),
                )],
                interval: step.interval,
                confidence: 0.95,
            });
        }
    }
    found
}

/// Series of a target that took the place of others at one scrape.
fn identities(snapshot: &Snapshot, targets: &[Target<'_>]) -> Vec<Seen> {
    let ends = input_ends(snapshot);
    let mut found = Vec::new();
    for target in targets {
        for change in series_faults(target, &ends).identity {
            found.extend(identity(snapshot, target, &change));
        }
    }
    found
}

fn identity(snapshot: &Snapshot, target: &Target<'_>, change: &IdentityChange<'_>) -> Option<Seen> {
    let (old, new) = *change.pairs.first()?;
    let names: BTreeSet<&str> = old
        .labels
        .iter()
        .chain(new.labels.iter())
        .map(|(k, _)| k)
        .collect();
    let differences: Vec<String> = names
        .into_iter()
        .filter(|name| old.labels.get(name) != new.labels.get(name))
        .map(|name| {
            let value = |s: &Series| s.labels.get(name).unwrap_or("none").to_owned();
            format!("{name} {} → {}", value(old), value(new))
        })
        .collect();
    let t = Timestamp::from_nanos(change.t);
    let name = target.name();
    let at = target.scrapes.partition_point(|s| s.t < change.t);
    Some(Seen {
        t,
        end: None,
        what: format!(
            "Series of {name} changed their labels: {}",
            differences.join(", ")
        ),
        detail: format!(
            "At {} {} of {name} ended and others of the same metrics began with the same scrape ({}): a rollout or \
             relabelling, not a gap.",
            t.to_clock(),
            text::count(change.pairs.len() as u64, "series", "series"),
            differences.join(", ")
        ),
        entities: target.entities.to_vec(),
        evidence: vec![snapshot.sample_evidence(
            new,
            change.t,
            format!("first sample, after {}", old.selector()),
        )],
        interval: target.interval_after(at.saturating_sub(1)),
        confidence: 0.9,
    })
}

/// Targets that took the place of others of their job.
fn replaced(snapshot: &Snapshot, targets: &[Target<'_>]) -> Vec<Seen> {
    replacements(targets)
        .into_iter()
        .filter_map(|(old, new)| {
            let (old, new) = (targets.get(old)?, targets.get(new)?);
            let (last, first) = (old.scrapes.last()?.t, new.scrapes.first()?.t);
            let t = Timestamp::from_nanos(first);
            let mut entities = new.entities.to_vec();
            entities.extend(old.entities.iter().filter(|e| !new.entities.contains(e)).cloned());
            let quotes = [(new, first, "first sample"), (old, last, "last sample")];
            Some(Seen {
                t,
                end: None,
                what: format!("{}: {} was replaced by {}", old.job(), old.name(), new.name()),
                detail: format!(
                    "Target {} was scraped for the last time at {}, and {} of the same job for the first time at {}: a \
                     rollout or a move, not a gap.",
                    old.name(),
                    Timestamp::from_nanos(last).to_clock(),
                    new.name(),
                    t.to_clock()
                ),
                entities,
                evidence: quotes.iter().filter_map(|(target, t, quote)| target.up_evidence(snapshot, *t, quote)).collect(),
                interval: new.interval_after(0).max(old.interval_after(0)),
                confidence: 0.9,
            })
        })
        .collect()
}
