//! New versions, read from the labels of info series.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::time::Timestamp;
use crate::detect::change::telemetry::Seen;
use crate::model::entity::workload_of_pod;
use crate::model::labels::Labels;
use crate::model::pack::Role;
use crate::model::series::Series;
use crate::store::Snapshot;

/// Labels whose values name what is running.
const VERSION_LABELS: &[&str] = &[
    "version",
    "app_version",
    "revision",
    "git_commit",
    "commit",
    "image",
    "image_spec",
    "tag",
    "build",
    "branch",
    "goversion",
];
/// Raw info series: value 1, and everything in the labels.
pub(super) fn infos(snapshot: &Snapshot) -> Vec<(usize, &Series)> {
    let is_info = |ix: usize, s: &Series| {
        let by_role = snapshot.series_roles.get(ix).copied().flatten() == Some(Role::BuildInfo);
        by_role || s.metric.ends_with("_build_info") || s.metric.ends_with("_info")
    };
    snapshot
        .series
        .iter()
        .enumerate()
        .filter(|(ix, s)| s.sampling.is_raw() && is_info(*ix, s))
        .filter(|(_, s)| VERSION_LABELS.iter().any(|l| s.labels.get(l).is_some()))
        .collect()
}

/// What an info series is about: its metric, job and workload, without what differs from one replica to the next.
fn info_subject(series: &Series) -> Vec<String> {
    let label = |name: &str| series.labels.get(name).unwrap_or("").to_owned();
    let workload = series.labels.get("pod").map_or_else(String::new, |pod| {
        workload_of_pod(pod).unwrap_or(pod).to_owned()
    });
    let mut subject = vec![series.metric.as_ref().to_owned()];
    subject.extend(
        [
            "job",
            "namespace",
            "service",
            "app",
            "deployment",
            "container",
        ]
        .map(label),
    );
    subject.push(workload);
    subject
}

fn version_of(labels: &Labels) -> Vec<(&str, &str)> {
    VERSION_LABELS
        .iter()
        .filter_map(|name| labels.get(name).map(|value| (*name, value)))
        .collect()
}

/// Versions that appeared while another one had been running.
pub(super) fn versions(snapshot: &Snapshot, infos: &[(usize, &Series)]) -> Vec<Seen> {
    let mut groups: BTreeMap<Vec<String>, Vec<(usize, &Series)>> = BTreeMap::new();
    for (ix, series) in infos {
        groups
            .entry(info_subject(series))
            .or_default()
            .push((*ix, series));
    }
    let mut found = Vec::new();
    for mut group in groups.into_values() {
        group.sort_by_key(|(_, s)| s.t.first().copied());
        let mut known: BTreeSet<Vec<(&str, &str)>> = BTreeSet::new();
        let mut current: Option<(Vec<(&str, &str)>, i64)> = None;
        for (ix, series) in group {
            let Some(first) = series.t.first().copied() else {
                continue;
            };
            let version = version_of(&series.labels);
            let interval = series.interval_nanos().unwrap_or(0);
            match &current {
                Some((old, began)) if !known.contains(&version) && first > began + 2 * interval => {
                    found.extend(version_change(snapshot, ix, series, old, &version));
                    current = Some((version.clone(), first));
                }
                None => current = Some((version.clone(), first)),
                Some(_) => {}
            }
            known.insert(version);
        }
    }
    found
}

fn version_change(
    snapshot: &Snapshot,
    ix: usize,
    series: &Series,
    old: &[(&str, &str)],
    new: &[(&str, &str)],
) -> Option<Seen> {
    let t = Timestamp::from_nanos(*series.t.first()?);
    let entities = snapshot
        .series_entities
        .get(ix)
        .cloned()
        .unwrap_or_default();
    let differences: Vec<String> = new
        .iter()
        .filter_map(|(name, value)| {
            let before = old
                .iter()
                .find(|(n, _)| n == name)
                .map_or("none", |(_, v)| *v);
            (before != *value).then(|| format!("{name} {before} → {value}"))
        })
        .collect();
    let labels = &series.labels;
    let name = [
        "service",
        "app",
        "deployment",
        "container",
        "job",
        "instance",
    ]
    .iter()
    .find_map(|l| labels.get(l))
    .unwrap_or_else(|| series.metric.as_ref());
    let first = differences.first()?;
    Some(Seen {
        t,
        end: None,
        what: format!("{name}: {first}"),
        detail: format!(
            "{} shows {} from {} on.",
            series.metric,
            differences.join(", "),
            t.to_clock()
        ),
        entities,
        evidence: vec![snapshot.sample_evidence(series, t.nanos(), differences.join(", "))],
        interval: series.interval_nanos().unwrap_or(0),
        confidence: 0.95,
    })
}
