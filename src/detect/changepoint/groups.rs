//! Series of one entity that move together are one finding.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::base::{text, units};
use crate::model::finding::Finding;
use crate::model::series::Series;
use crate::store::Snapshot;

use super::signals::{Subject, owner};

/// How many of a group are quoted by name; the rest is counted.
const QUOTED: usize = 5;

/// One series at one moment: a shift or an excursion.
#[derive(Debug, Clone)]
pub struct Move {
    /// The series.
    pub ix: usize,
    /// As what it was looked at.
    pub subject: Subject,
    /// It began after this time …
    pub from: i64,
    /// … most likely by this one …
    pub at: i64,
    /// … and no later than this one.
    pub to: i64,
    /// The first time back, when it came back.
    pub end: Option<i64>,
    /// The level before.
    pub before: f64,
    /// The level after, or the extreme.
    pub after: f64,
    /// The strength in units of the threshold.
    pub score: f64,
    /// Points on its shorter side.
    pub points: usize,
    /// Points that were looked at in all.
    pub looked_at: usize,
    /// Distance of samples.
    pub interval_nanos: i64,
}

impl Move {
    /// Later over earlier; `None` from zero.
    pub fn ratio(&self) -> Option<f64> {
        (self.before.abs() > f64::MIN_POSITIVE).then(|| self.after / self.before)
    }

    /// How much it tells: the size of the move on a scale of factors (at most a thousandfold), times its strength (at
    /// most five times the threshold); what a pack knows the meaning of counts twice.
    fn telling(&self, snapshot: &Snapshot) -> f64 {
        let known = snapshot
            .series_roles
            .get(self.ix)
            .copied()
            .flatten()
            .is_some();
        let (low, high) = (
            self.before.abs().min(self.after.abs()),
            self.before.abs().max(self.after.abs()),
        );
        let size = (high / low.max(high * 1e-3).max(f64::MIN_POSITIVE)).ln();
        size * self.score.min(5.0) * if known { 2.0 } else { 1.0 }
    }
}

/// Moves of one entity that begin together: their intervals, widened by one scrape interval, overlap with that of the
/// first. The most telling one leads.
pub fn together(snapshot: &Snapshot, moves: Vec<Move>) -> Vec<Vec<Move>> {
    let mut by_owner: BTreeMap<String, Vec<Move>> = BTreeMap::new();
    for one in moves {
        by_owner
            .entry(owner(snapshot, one.ix))
            .or_default()
            .push(one);
    }
    let mut groups: Vec<Vec<Move>> = Vec::new();
    for (_, mut moves) in by_owner {
        moves.sort_by_key(|m| (m.at, m.ix));
        let mut open: Vec<Vec<Move>> = Vec::new();
        for one in moves {
            let near = open.last().and_then(|g| g.first()).is_some_and(|first| {
                let slack = first.interval_nanos.max(one.interval_nanos);
                one.from.saturating_sub(slack) <= first.to
                    && one.at.saturating_sub(first.at) <= 4 * slack.max(1)
            });
            match open.last_mut() {
                Some(group) if near => group.push(one),
                _ => open.push(vec![one]),
            }
        }
        groups.append(&mut open);
    }
    for group in &mut groups {
        group.sort_by(|a, b| {
            b.telling(snapshot)
                .total_cmp(&a.telling(snapshot))
                .then(a.ix.cmp(&b.ix))
        });
    }
    groups
}

/// A level or rate in the unit of its series.
pub fn say(series: &Series, subject: Subject, value: f64) -> String {
    match (subject, series.unit.as_ref()) {
        (Subject::Gauge | Subject::Latency | Subject::Quantile, unit) => {
            units::with_unit(value, unit)
        }
        (_, "bytes") => format!("{}/s", units::bytes(value)),
        // A counter of seconds rises by seconds for each second: processors in use.
        (_, "seconds") => format!("{} s/s", units::number(value)),
        _ => format!("{}/s", units::number(value)),
    }
}

/// Labels that are told of in a title.
const TOLD: usize = 3;

/// A series in few words: its metric, and the labels that tell it from the other series of that metric.
///
/// `node_cpu_seconds_total (mode user)`; a timeline in which ten rows have one name cannot be read.
pub fn short_name(snapshot: &Snapshot, series: &Series) -> String {
    let of_metric = || {
        snapshot
            .metric(&series.metric)
            .filter_map(|ix| snapshot.series.get(ix))
    };
    let told: Vec<String> = series
        .labels
        .iter()
        .filter(|(name, value)| of_metric().any(|s| s.labels.get(name) != Some(*value)))
        .take(TOLD)
        .map(|(name, value)| format!("{name} {}", text::shorten(value, 48)))
        .collect();
    if told.is_empty() {
        series.metric.to_string()
    } else {
        format!("{} ({})", series.metric, told.join(", "))
    }
}

/// A sentence on the rest of a group, or nothing when there is none.
pub fn others(snapshot: &Snapshot, group: &[Move]) -> String {
    let rest = group.get(1..).unwrap_or_default();
    if rest.is_empty() {
        return String::new();
    }
    let quoted: Vec<String> = rest
        .iter()
        .take(QUOTED)
        .filter_map(|m| {
            let series = snapshot.series.get(m.ix)?;
            let (before, after) = (
                say(series, m.subject, m.before),
                say(series, m.subject, m.after),
            );
            Some(format!("{} ({before} to {after})", series.selector()))
        })
        .collect();
    let count = text::count(rest.len() as u64, "other series", "other series");
    let more = rest.len().saturating_sub(QUOTED);
    let tail = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        " With it moved {count} of the same entity: {}{tail}.",
        quoted.join(", ")
    )
}

/// Onset, entities and evidence of a group, from its leading move.
pub fn fill(snapshot: &Snapshot, group: &[Move], finding: &mut Finding) {
    let Some(lead) = group.first() else { return };
    finding.onset = Timestamp::from_nanos(lead.at);
    finding.entities = snapshot
        .series_entities
        .get(lead.ix)
        .cloned()
        .unwrap_or_default();
    for one in group.iter().take(QUOTED + 1) {
        let Some(series) = snapshot.series.get(one.ix) else {
            continue;
        };
        let (before, after) = (
            say(series, one.subject, one.before),
            say(series, one.subject, one.after),
        );
        let quote = format!("{before} before, {after} from here on");
        finding
            .evidence
            .push(snapshot.sample_evidence(series, one.at, quote));
    }
}

/// `between 14:30:21 and 14:30:26`: where the onset lies.
pub fn between(lead: &Move) -> String {
    let clock = |nanos| Timestamp::from_nanos(nanos).to_clock();
    format!(
        "between {} and {}",
        clock(lead.from),
        clock(lead.to.max(lead.at))
    )
}
