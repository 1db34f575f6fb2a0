//! Holes that all targets have at once: Prometheus itself, or what it stores into, was away.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::units;
use crate::detect::scrape_gap::evidence::{self, PROCESS_START};
use crate::detect::scrape_gap::interval::GAP_FACTOR;
use crate::detect::scrape_gap::origin::{Origin, exposed};
use crate::detect::scrape_gap::timeline::{Hole, Target};
use crate::model::input::{Evidence, InputIx};
use crate::model::series::Series;
use crate::store::Snapshot;

/// Labels that tell one Prometheus from another when several write to one store (external labels by custom: the
/// operator's, Thanos' and Mimir's HA labels).
const SERVER_LABELS: &[&str] = &[
    "prometheus",
    "prometheus_replica",
    "__replica__",
    "replica",
    "prometheus_group",
    "cluster",
];

/// A hole of all targets of one Prometheus.
#[derive(Debug)]
pub(crate) struct SharedHole {
    /// Index of each target and its hole.
    pub(crate) members: Vec<(usize, Hole)>,
    /// The last sample before it of the target that was scraped last.
    pub(crate) from: i64,
    /// The first sample after it of the target that was scraped first.
    pub(crate) to: i64,
    /// The first scrape that did not come.
    pub(crate) start: i64,
    /// The cause.
    pub(crate) cause: &'static str,
    /// How sure.
    pub(crate) confidence: f64,
    /// Why, as sentences.
    pub(crate) reasons: Vec<String>,
    /// Where.
    pub(crate) evidence: Vec<Evidence>,
    /// The entities of Prometheus itself, when it scrapes itself.
    pub(crate) own_entities: Vec<String>,
    /// The instance of Prometheus itself, when it scrapes itself.
    pub(crate) own_instance: Option<String>,
}

/// Holes that every target of a Prometheus which could show it has at the same time.
pub(crate) fn shared_holes(
    snapshot: &Snapshot,
    targets: &[Target<'_>],
    holes: &[Vec<Hole>],
) -> Vec<SharedHole> {
    let mut servers: BTreeMap<Vec<&str>, Vec<usize>> = BTreeMap::new();
    for (ix, target) in targets.iter().enumerate() {
        let key = SERVER_LABELS
            .iter()
            .map(|l| target.labels.get(l).unwrap_or(""));
        servers.entry(key.collect()).or_default().push(ix);
    }
    let selves = selves(snapshot);
    let mut found = Vec::new();
    for members in servers.values() {
        for cluster in clusters(members, holes) {
            if is_shared(members, &cluster, targets, &selves) {
                found.push(explain(snapshot, targets, &selves, cluster));
            }
        }
    }
    found.sort_by_key(|s| s.start);
    found
}

/// Holes that overlap by at least half of the shorter one.
fn clusters(members: &[usize], holes: &[Vec<Hole>]) -> Vec<Vec<(usize, Hole)>> {
    let mut all: Vec<(usize, Hole, i64)> = members
        .iter()
        .flat_map(|ix| {
            let own = holes.get(*ix).map(Vec::as_slice).unwrap_or_default();
            own.iter().filter_map(|h| h.to.map(|to| (*ix, *h, to)))
        })
        .collect();
    all.sort_by_key(|(ix, hole, to)| (hole.from, *to, *ix));
    let mut found: Vec<Vec<(usize, Hole)>> = Vec::new();
    let (mut from, mut to) = (i64::MIN, i64::MIN);
    for (ix, hole, end) in all {
        let overlap = end.min(to).saturating_sub(hole.from.max(from));
        let shorter = (end - hole.from).min(to.saturating_sub(from));
        match found.last_mut() {
            Some(cluster) if overlap > 0 && overlap * 2 >= shorter => {
                cluster.push((ix, hole));
                (from, to) = (from.max(hole.from), to.min(end));
            }
            _ => {
                found.push(vec![(ix, hole)]);
                (from, to) = (hole.from, end);
            }
        }
    }
    found
}

/// Whether every target that was scraped before and after, and often enough to show the hole, has it.
///
/// When a Prometheus that scrapes itself has it too, targets of other answers may belong to another server that watched
/// on (case 08 holds such an observer), so only those of the same answers can speak against it.
fn is_shared(
    members: &[usize],
    cluster: &[(usize, Hole)],
    targets: &[Target<'_>],
    selves: &[Vec<&Series>],
) -> bool {
    let with: BTreeSet<usize> = cluster.iter().map(|(ix, _)| *ix).collect();
    if with.len() < 2 {
        return false;
    }
    let of_members = || with.iter().filter_map(|ix| targets.get(*ix));
    let has_self = of_members().any(|t| selves.iter().flatten().any(|s| is_of(t, s)));
    let inputs: BTreeSet<InputIx> = of_members().flat_map(inputs_of).collect();
    let may_speak =
        |target: &Target<'_>| !has_self || inputs_of(target).any(|i| inputs.contains(&i));
    let witnesses: Vec<usize> = members
        .iter()
        .copied()
        .filter(|ix| targets.get(*ix).is_some_and(may_speak))
        .collect();
    if with.len() * 2 < witnesses.len() {
        return false;
    }
    let from = cluster.iter().map(|(_, h)| h.from).max().unwrap_or(0);
    let to = cluster.iter().filter_map(|(_, h)| h.to).min().unwrap_or(0);
    let lacks_it = witnesses.iter().filter(|ix| !with.contains(ix));
    lacks_it.filter_map(|ix| targets.get(*ix)).all(|target| {
        let until = target.scrapes.partition_point(|s| s.t <= from);
        let interval = target.interval_after(until.saturating_sub(1));
        let is_coarse = GAP_FACTOR * interval as f64 >= (to - from) as f64;
        // A target that began after the hole, or ended before it, says nothing; one scraped inside it speaks against
        // a shared cause, unless its interval is too long to show the hole.
        let next = target.scrapes.get(until).filter(|_| until > 0);
        is_coarse || next.is_none_or(|s| s.t >= to)
    })
}

fn inputs_of<'t>(target: &'t Target<'_>) -> impl Iterator<Item = InputIx> + 't {
    target
        .ups
        .iter()
        .flat_map(|s| s.sources.iter().map(|source| source.input))
}

/// Whether a series came over the scrapes of a target, by job and instance.
fn is_of(target: &Target<'_>, series: &Series) -> bool {
    let same = |label| target.labels.get(label) == series.labels.get(label);
    same("job") && same("instance")
}

/// Raw series of each Prometheus (or `VictoriaMetrics`) that scrapes itself.
fn selves(snapshot: &Snapshot) -> Vec<Vec<&Series>> {
    exposed(snapshot, Origin::Raw)
        .into_values()
        .filter(|all| {
            all.iter().any(|s| {
                ["prometheus_target_", "prometheus_tsdb_", "vm_promscrape_"]
                    .iter()
                    .any(|prefix| s.metric.starts_with(prefix))
            })
        })
        .collect()
}

fn explain(
    snapshot: &Snapshot,
    targets: &[Target<'_>],
    selves: &[Vec<&Series>],
    cluster: Vec<(usize, Hole)>,
) -> SharedHole {
    let from = cluster.iter().map(|(_, h)| h.from).max().unwrap_or(0);
    let to = cluster
        .iter()
        .filter_map(|(_, h)| h.to)
        .min()
        .unwrap_or(from);
    let start = cluster
        .iter()
        .map(|(_, h)| h.from + h.interval)
        .min()
        .unwrap_or(from);
    let mut shared = SharedHole {
        from,
        to,
        start,
        cause: "unknown",
        confidence: 0.6,
        reasons: vec![format!(
            "No target has a sample between {} and {}, and no staleness marker either.",
            crate::detect::scrape_gap::timeline::clock(from),
            crate::detect::scrape_gap::timeline::clock(to)
        )],
        evidence: Vec::new(),
        own_entities: Vec::new(),
        own_instance: None,
        members: cluster,
    };
    by_own_start(snapshot, targets, selves, &mut shared);
    if shared.cause == "unknown" {
        by_server_facts(snapshot, &mut shared);
    }
    if shared.cause == "unknown" {
        by_series_added(targets, &mut shared);
    }
    shared
}

/// Rows 1 and 2: the start time of Prometheus' own process before and after.
fn by_own_start(
    snapshot: &Snapshot,
    targets: &[Target<'_>],
    selves: &[Vec<&Series>],
    shared: &mut SharedHole,
) {
    for own in selves {
        let Some(start) = own.iter().find(|s| s.metric.as_ref() == PROCESS_START) else {
            continue;
        };
        let longest = shared
            .members
            .iter()
            .map(|(_, h)| h.interval)
            .max()
            .unwrap_or(0);
        let old = evidence::before(start, shared.from);
        let new = evidence::after(start, shared.to.saturating_sub(longest / 2));
        let (Some((_, old)), Some((t, new))) = (old, new) else {
            continue;
        };
        if let Some(own) = targets.iter().find(|t| is_of(t, start)) {
            shared.own_entities = own.entities.to_vec();
            shared.own_instance = own.labels.get("instance").map(str::to_owned);
        }
        if (new - old).abs() > 1.0 {
            shared.cause = "prometheus_restarted";
            shared.confidence = 0.98;
            let at = crate::base::time::Timestamp::from_secs_f64(new)
                .map_or_else(String::new, |t| t.to_clock());
            shared.reasons.push(format!(
                "Prometheus' own process is a new one afterwards, started at {at}: it was restarted. The first scrapes \
                 come 5 to 6 s after a start, because discovery is throttled."
            ));
        } else {
            shared.cause = "prometheus_stalled";
            shared.confidence = 0.95;
            shared.reasons.push(
                "Prometheus' own process has the same start time before and after: it stood still (a paused machine, \
                 starved of CPU or I/O, or stopped by a signal)."
                    .to_owned(),
            );
        }
        shared.evidence.push(snapshot.sample_evidence(
            start,
            t,
            format!(
                "process start {} → {}",
                units::number(old),
                units::number(new)
            ),
        ));
        return;
    }
}

/// `runtimeinfo.startTime` inside the hole dates a restart as well.
fn by_server_facts(snapshot: &Snapshot, shared: &mut SharedHole) {
    let fact = snapshot.facts.iter().find(|f| {
        f.name.ends_with("startTime")
            && crate::base::time::Timestamp::parse_rfc3339(&f.value)
                .is_some_and(|t| t.nanos() > shared.from && t.nanos() < shared.to)
    });
    if let Some(fact) = fact {
        shared.cause = "prometheus_restarted";
        shared.confidence = 0.95;
        shared.reasons.push(format!(
            "The server itself says that it started at {}, inside the hole.",
            fact.value
        ));
        shared.evidence.push(snapshot.evidence(
            fact.input,
            fact.name.as_ref(),
            fact.value.as_ref(),
        ));
    }
}

/// Without any word of the server: whether the series were new to it afterwards.
fn by_series_added(targets: &[Target<'_>], shared: &mut SharedHole) {
    let added: Vec<f64> = shared
        .members
        .iter()
        .filter_map(|(ix, hole)| {
            let scrapes = &targets.get(*ix)?.scrapes;
            let was_up = scrapes.get(hole.before)?.is_up;
            let back = scrapes.get(hole.before + 1)?;
            back.added.filter(|_| was_up && back.is_up)
        })
        .collect();
    let decider = "process_start_time_seconds of Prometheus itself, or a second source (another replica, its log), would \
                   decide.";
    if !added.is_empty() && added.iter().all(|n| *n > 0.0) {
        shared.cause = "prometheus_restarted";
        shared.confidence = 0.85;
        shared.reasons.push(format!(
            "On the first scrape afterwards every series was new to it (scrape_series_added), as after a restart. {}",
            "Its own start time is not in the recording."
        ));
    } else if !added.is_empty() && added.iter().all(|n| *n == 0.0) {
        shared.cause = "prometheus_stalled";
        shared.confidence = 0.8;
        shared.reasons.push(
            "On the first scrape afterwards no series was new to it (scrape_series_added is 0), so the process that \
             scrapes is the same one and stood still. Its own start time is not in the recording."
                .to_owned(),
        );
    } else {
        shared.reasons.push(format!(
            "Whether the server, its storage or remote write was away cannot be told: {decider}"
        ));
    }
}
