//! The gaps of all targets together: what is Prometheus' own, what is one target's, what only moved.

use std::collections::{BTreeMap, BTreeSet};

use crate::detect::scrape_gap::decide::{Decision, decide};
use crate::detect::scrape_gap::evidence::restart;
use crate::detect::scrape_gap::origin::Origin;
use crate::detect::scrape_gap::runs::{Class, Phase, phases};
use crate::detect::scrape_gap::shared::{SharedHole, shared_holes};
use crate::detect::scrape_gap::timeline::{Hole, Target, clock, targets};
use crate::store::Snapshot;

/// Gaps of at most this many scrapes, with at most [`BETWEEN_MAX`] good ones between, are one fault that comes and goes
/// when there are [`REPEATS_MIN`] of them (`prometheus.md` §2.6, row 6c; case 14 fails every second to fourth scrape).
const SHORT_MAX: u64 = 3;
const BETWEEN_MAX: usize = 5;
const REPEATS_MIN: usize = 3;
/// A target whose place another one of its job takes within so many intervals was replaced, not lost.
const REPLACED_WITHIN: i64 = 10;
/// At least so long: discovery is throttled to 5 s, and a pod takes its time to start.
const REPLACED_WITHIN_MIN_NANOS: i64 = 120_000_000_000;

/// A gap of one target, or several short ones that are one fault.
#[derive(Debug)]
pub(crate) struct Gap {
    /// The target's index.
    pub(crate) target: usize,
    /// Its parts in order of time; one, unless the fault comes and goes.
    pub(crate) phases: Vec<Phase>,
    /// What it comes from.
    pub(crate) decision: Decision,
}

/// Everything about the scrapes in a snapshot.
pub(crate) struct Analysis<'a> {
    /// The targets.
    pub(crate) targets: Vec<Target<'a>>,
    /// Holes that all targets share.
    pub(crate) shared: Vec<SharedHole>,
    /// Gaps of single targets.
    pub(crate) gaps: Vec<Gap>,
}

impl<'a> Analysis<'a> {
    /// Looks at every target.
    pub(crate) fn of(snapshot: &'a Snapshot, origin: Origin) -> Self {
        let targets = targets(snapshot, origin);
        let replaced = replacements(&targets);
        let mut holes: Vec<Vec<Hole>> = targets.iter().map(Target::holes).collect();
        for (old, _) in &replaced {
            if let Some(own) = holes.get_mut(*old) {
                own.retain(|h| h.to.is_some());
            }
        }
        let shared = shared_holes(snapshot, &targets, &holes);
        let theirs: BTreeSet<(usize, i64)> = shared
            .iter()
            .flat_map(|s| s.members.iter().map(|(ix, hole)| (*ix, hole.from)))
            .collect();
        let all: Vec<Vec<Phase>> = targets
            .iter()
            .zip(&holes)
            .enumerate()
            .map(|(ix, (target, holes))| {
                let is_shared = |h: &Hole| theirs.contains(&(ix, h.from));
                let is_restart = |before: usize, after: usize| {
                    let at = |ix: usize| target.scrapes.get(ix).map_or(0, |s| s.t);
                    restart(snapshot, &target.series, at(before), at(after)).is_some()
                };
                phases(target, holes, &is_shared, &is_restart)
            })
            .collect();
        let mut gaps = gaps(snapshot, &targets, &all);
        let mut shared = shared;
        for hole in &mut shared {
            fold_observers(snapshot, &targets, hole, &mut gaps);
        }
        Self {
            targets,
            shared,
            gaps,
        }
    }
}

/// A gap of Prometheus' own instance as another Prometheus saw it is the same event, and proof of it.
fn fold_observers(
    snapshot: &Snapshot,
    targets: &[Target<'_>],
    shared: &mut SharedHole,
    gaps: &mut Vec<Gap>,
) {
    let Some(own) = shared.own_instance.clone() else {
        return;
    };
    gaps.retain(|gap| {
        let (Some(target), Some(first), Some(last)) = (
            targets.get(gap.target),
            gap.phases.first(),
            gap.phases.last(),
        ) else {
            return true;
        };
        let is_observed = target.labels.get("instance") == Some(own.as_str())
            && first.start < shared.to
            && last.end.is_none_or(|end| end > shared.from);
        if is_observed {
            let missed: u64 = gap.phases.iter().map(Phase::missed).sum();
            shared.reasons.push(format!(
                "Another Prometheus (its job {}) saw it fail {} from {} to {} ({}).",
                target.job(),
                crate::base::text::count(missed, "scrape", "scrapes"),
                clock(first.start),
                clock(last.last_bad),
                gap.decision.cause
            ));
            shared.evidence.extend(target.up_evidence(
                snapshot,
                first.start,
                "up 0, seen from outside",
            ));
        }
        !is_observed
    });
}

fn gaps(snapshot: &Snapshot, targets: &[Target<'_>], all: &[Vec<Phase>]) -> Vec<Gap> {
    let mut jobs: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (ix, target) in targets.iter().enumerate() {
        jobs.entry(target.job()).or_default().push(ix);
    }
    let mut found = Vec::new();
    for (ix, (target, phases)) in targets.iter().zip(all).enumerate() {
        let peers = jobs
            .get(target.job())
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut own = Vec::new();
        for phase in phases {
            let company = if phase.class == Class::Missing {
                (0, targets.len().saturating_sub(1))
            } else {
                let alike = |peer: &&usize| all.get(**peer).is_some_and(|p| has_alike(p, phase));
                (peers.iter().filter(alike).count(), peers.len())
            };
            own.push(Gap {
                target: ix,
                phases: vec![phase.clone()],
                decision: decide(snapshot, target, phase, company),
            });
        }
        found.extend(join_repeated(own));
    }
    found
}

/// Whether one of a target's phases, in order of time, is of the same class and begins within three halves of an
/// interval of `phase`.
fn has_alike(phases: &[Phase], phase: &Phase) -> bool {
    let near = phase.interval * 3 / 2;
    let from = phases.partition_point(|p| p.start < phase.start - near);
    let rest = phases.get(from..).unwrap_or_default().iter();
    rest.take_while(|p| p.start <= phase.start + near)
        .any(|p| p.class == phase.class)
}

/// Short gaps of one cause that come again and again are one.
fn join_repeated(gaps: Vec<Gap>) -> Vec<Gap> {
    let is_short = |gap: &Gap| gap.phases.iter().map(Phase::missed).sum::<u64>() <= SHORT_MAX;
    let follows = |a: &Gap, b: &Gap| {
        let (Some(a_last), Some(b_first)) = (a.phases.last(), b.phases.first()) else {
            return false;
        };
        let between = a_last
            .after
            .zip(b_first.before)
            .map_or(usize::MAX, |(from, to)| (to + 1).saturating_sub(from));
        a.decision.cause == b.decision.cause
            && is_short(a)
            && is_short(b)
            && (1..=BETWEEN_MAX).contains(&between)
    };
    let mut groups: Vec<Vec<Gap>> = Vec::new();
    for gap in gaps {
        match groups.last_mut() {
            Some(group) if group.last().is_some_and(|last| follows(last, &gap)) => group.push(gap),
            _ => groups.push(vec![gap]),
        }
    }
    groups
        .into_iter()
        .flat_map(|group| {
            if group.len() < REPEATS_MIN {
                return group;
            }
            let mut group = group.into_iter();
            let Some(mut first) = group.next() else {
                return Vec::new();
            };
            for gap in group {
                first.phases.extend(gap.phases);
                let known = &mut first.decision;
                known.confidence = known.confidence.min(gap.decision.confidence);
                if gap.decision.evidence.len() > known.evidence.len() {
                    known.evidence = gap.decision.evidence;
                    known.reasons = gap.decision.reasons;
                }
            }
            vec![first]
        })
        .collect()
}

/// Targets that end while another one of the same job begins, each with its heir.
pub(crate) fn replacements(targets: &[Target<'_>]) -> Vec<(usize, usize)> {
    let mut heirs: BTreeSet<usize> = BTreeSet::new();
    let mut found = Vec::new();
    for (old_ix, old) in targets.iter().enumerate() {
        let Some(last) = old.scrapes.last() else {
            continue;
        };
        let interval = old.interval_after(old.scrapes.len() - 1);
        if old.recorded_until - last.t <= 2 * interval {
            continue;
        }
        let within = (REPLACED_WITHIN * interval).max(REPLACED_WITHIN_MIN_NANOS);
        let heir = targets
            .iter()
            .enumerate()
            .filter(|(ix, new)| *ix != old_ix && new.job() == old.job() && !heirs.contains(ix))
            .filter_map(|(ix, new)| {
                let first = new.scrapes.first()?.t;
                let is_new = first - new.recorded_from > 2 * interval;
                let distance = (first - last.t).abs();
                (is_new && distance <= within).then_some((distance, ix))
            })
            .min();
        if let Some((_, heir)) = heir {
            heirs.insert(heir);
            found.push((old_ix, heir));
        }
    }
    found
}
