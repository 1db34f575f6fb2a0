//! Two windows, of one incident or of two, and what changed from one to the other, most important first. Pure.
//!
//! Everything that can be compared is a [`Subject`] with values on each side ([`gather`]); a difference is tested without
//! assuming how values are spread ([`rank_tests`]), all tests are corrected together, and what is left is ranked by how large and
//! how sure it is. Whether a change is for the worse is said only where the role of a metric says which way is bad.

mod gather;
mod judge;
pub mod points;
pub mod rank_tests;

use std::collections::BTreeMap;

use rayon::prelude::*;

use self::gather::{Held, Measured};
use self::judge::{doublings, summary, test};
use crate::base::time::TimeRange;
use crate::model::pack::Role;
use crate::store::Snapshot;

/// The false discovery rate under which a change is taken for real.
pub const SURE: f64 = 0.05;

/// One side of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// Its rows.
    pub snapshot: &'a Snapshot,
    /// The part of time.
    pub window: TimeRange,
}

/// What kind of thing is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Values of a gauge.
    Gauge,
    /// How fast a counter grows, for each second.
    Rate,
    /// Observations in a histogram.
    Histogram,
    /// Lengths of requests, as the access log has them.
    RequestLatency,
    /// Times to connect, as the access log has them.
    RequestConnect,
    /// Share of requests that failed.
    RequestErrors,
    /// Requests for each second.
    RequestRate,
    /// Lengths of spans that serve a request.
    SpanLatency,
    /// Times to connect, as spans have them.
    SpanConnect,
    /// Share of spans that failed.
    SpanErrors,
    /// Time between a caller and its callee that neither accounts for.
    CallGap,
    /// Goroutines or threads of a dump.
    DumpTotal,
    /// Share of them that wait for a lock.
    LockShare,
}

impl Kind {
    /// Its word, for messages and for where its lane is.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Histogram => "histogram",
            Self::RequestLatency => "request-latency",
            Self::RequestConnect => "request-connect",
            Self::RequestErrors => "request-errors",
            Self::RequestRate => "request-rate",
            Self::SpanLatency => "span-latency",
            Self::SpanConnect => "span-connect",
            Self::SpanErrors => "span-errors",
            Self::CallGap => "call-gap",
            Self::DumpTotal => "dump-total",
            Self::LockShare => "lock-share",
        }
    }

    /// Whether rows of a log or of traces are compared one by one.
    pub const fn is_of_rows(self) -> bool {
        matches!(
            self,
            Self::RequestLatency
                | Self::RequestConnect
                | Self::SpanLatency
                | Self::SpanConnect
                | Self::CallGap
        )
    }
}

/// What is compared; names the same thing on both sides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// What kind of thing.
    pub kind: Kind,
    /// Which one: a selector, a service, a caller and its callee, a process.
    pub name: String,
}

/// Which way a change goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The way that is bad for it.
    Worse,
    /// The other way.
    Better,
    /// Another level; nothing says which is better.
    Changed,
    /// Nothing that chance could not have made.
    Same,
}

/// One side in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// How many values there are.
    pub n: f64,
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// 99 of 100 are not above it.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

/// What differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aspect {
    /// The values as a whole: their median is shown.
    Level,
    /// The mean (of shares and of rates that are mostly 0).
    Mean,
    /// The largest ones only: how many of each side reach this value.
    Tail {
        /// The value.
        bound: f64,
        /// How many of A.
        a: usize,
        /// How many of B.
        b: usize,
    },
}

/// One thing that both sides have.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What.
    pub subject: Subject,
    /// Its unit, as the store names it.
    pub unit: String,
    /// Its role.
    pub role: Option<Role>,
    /// Series on side A.
    pub series_a: Option<usize>,
    /// Series on side B.
    pub series_b: Option<usize>,
    /// A in numbers.
    pub a: Summary,
    /// B in numbers.
    pub b: Summary,
    /// Whether it was evaluated from other series.
    pub is_derived: bool,
    /// What differs most.
    pub aspect: Aspect,
    /// From −1 (all lower) to 1 (all higher).
    pub effect: f64,
    /// How likely by chance.
    pub p: f64,
    /// The same, corrected for all comparisons.
    pub q: f64,
    /// Which way.
    pub verdict: Verdict,
    /// What it is ranked by.
    pub score: f64,
}

impl Change {
    /// The values that stand for the sides.
    pub const fn shown(&self) -> (f64, f64) {
        match self.aspect {
            Aspect::Level => (self.a.median, self.b.median),
            Aspect::Mean => (self.a.mean, self.b.mean),
            Aspect::Tail { .. } => (self.a.p99, self.b.p99),
        }
    }

    /// What a person is told of it: of a tail that quantiles do not reach, the largest values.
    pub fn told(&self) -> (f64, f64, Told) {
        match self.aspect {
            // The largest are of one size, and what changed is how many there are of them.
            Aspect::Tail { a, b, .. } if are_alike(self.a.max, self.b.max) => {
                let share = |hits: usize, n: f64| hits as f64 / n.max(1.0);
                (share(a, self.a.n), share(b, self.b.n), Told::Shares)
            }
            Aspect::Tail { .. } => (self.a.max, self.b.max, Told::Values),
            Aspect::Level | Aspect::Mean => {
                let (a, b) = self.shown();
                (a, b, Told::Values)
            }
        }
    }
}

/// In what a change is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Values of the thing, in its unit.
    Values,
    /// Shares of all its values: those that lie in the tail.
    Shares,
}

/// Values that differ by less than this part are the same to a person, however sure it is that they differ.
pub const LEAST_CHANGE: f64 = 0.02;

/// Whether nobody would call the two values different.
pub fn are_alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= LEAST_CHANGE * a.abs().max(b.abs())
}

/// Something that only one side has, or too little of to say anything.
#[derive(Debug, Clone, PartialEq)]
pub struct Odd {
    /// What.
    pub subject: Subject,
    /// Its unit.
    pub unit: String,
    /// A in numbers; no values, when it has none.
    pub a: Summary,
    /// B in numbers.
    pub b: Summary,
}

/// What two windows have in common and what not.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// What changed, most important first; what did not comes last.
    pub changes: Vec<Change>,
    /// What only A has.
    pub only_a: Vec<Odd>,
    /// What only B has.
    pub only_b: Vec<Odd>,
    /// What both have, too few of to tell a change from chance.
    pub too_few: Vec<Odd>,
    /// How many tests were made.
    pub tests: usize,
}

impl Comparison {
    /// Those that are taken for real.
    pub fn real(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|c| c.verdict != Verdict::Same)
    }
}

/// Compares both sides; `None` when `is_cancelled` says so.
pub fn compare(
    a: &Side<'_>,
    b: &Side<'_>,
    is_cancelled: &(dyn Fn() -> bool + Sync),
) -> Option<Comparison> {
    let mut held_a = gather::gather(a, is_cancelled)?;
    let held_b = gather::gather(b, is_cancelled)?;
    let mut held_b = rename(&held_a, held_b);
    join_dumps(&mut held_a, &mut held_b);
    let mut out = Comparison::default();
    let mut pairs: Vec<(Subject, Held, Held)> = Vec::new();
    let subjects: Vec<Subject> = held_a.keys().cloned().collect();
    for subject in subjects {
        if let (Some(a), Some(b)) = (held_a.get(&subject), held_b.get(&subject))
            && a.n() > 0.0
            && b.n() > 0.0
            && let (Some(a), Some(b)) = (held_a.remove(&subject), held_b.remove(&subject))
        {
            pairs.push((subject, a, b));
        }
    }
    out.only_a = odd(held_a, true);
    out.only_b = odd(held_b, false);
    let tested: Vec<Option<Result<Box<Change>, Box<Odd>>>> = pairs
        .par_iter()
        .map(|(subject, a, b)| (!is_cancelled()).then(|| test(subject, a, b)))
        .collect();
    for outcome in tested {
        match outcome? {
            Ok(change) => out.changes.push(*change),
            Err(few) => out.too_few.push(*few),
        }
    }
    let p: Vec<f64> = out.changes.iter().map(|c| c.p).collect();
    out.tests = p.len();
    for (change, q) in out
        .changes
        .iter_mut()
        .zip(rank_tests::benjamini_hochberg(&p))
    {
        change.q = q;
        judge::judge(change);
    }
    out.changes.sort_by(|x, y| {
        y.score
            .total_cmp(&x.score)
            .then_with(|| x.q.total_cmp(&y.q))
            .then_with(|| x.subject.cmp(&y.subject))
    });
    out.too_few.sort_by(|x, y| {
        let far = |o: &Odd| doublings(o.a.median, o.b.median).abs();
        far(y)
            .total_cmp(&far(x))
            .then_with(|| x.subject.cmp(&y.subject))
    });
    Some(out)
}

/// Of two inputs, the one series of a metric in A and the one in B are the same, whatever their instances are called.
fn rename(a: &BTreeMap<Subject, Held>, b: BTreeMap<Subject, Held>) -> BTreeMap<Subject, Held> {
    let stem = |subject: &Subject| {
        let name = subject.name.split('{').next().unwrap_or("").to_owned();
        (subject.kind, name)
    };
    let lone = |map: &BTreeMap<Subject, Held>| {
        let mut found: BTreeMap<(Kind, String), Option<Subject>> = BTreeMap::new();
        for subject in map.keys().filter(|s| s.name.contains('{')) {
            found
                .entry(stem(subject))
                .and_modify(|known| *known = None)
                .or_insert_with(|| Some(subject.clone()));
        }
        found
    };
    let (in_a, in_b) = (lone(a), lone(&b));
    b.into_iter()
        .map(|(subject, held)| {
            let key = stem(&subject);
            let is_lone = in_b.get(&key).is_some_and(Option::is_some);
            match in_a.get(&key) {
                Some(Some(other)) if is_lone && !a.contains_key(&subject) => (other.clone(), held),
                _ => (subject, held),
            }
        })
        .collect()
}

/// Dumps are often named after the moment at which they were taken (`before`, `during-1`): what has no partner by its name
/// is compared together.
fn join_dumps(a: &mut BTreeMap<Subject, Held>, b: &mut BTreeMap<Subject, Held>) {
    for kind in [Kind::DumpTotal, Kind::LockShare] {
        let lone = |own: &BTreeMap<Subject, Held>, other: &BTreeMap<Subject, Held>| {
            own.keys()
                .filter(|s| s.kind == kind && !s.name.contains(':') && !other.contains_key(*s))
                .cloned()
                .collect::<Vec<Subject>>()
        };
        let (in_a, in_b) = (lone(a, b), lone(b, a));
        if in_a.is_empty() || in_b.is_empty() {
            continue;
        }
        let names = |all: &[Subject]| {
            let names: Vec<&str> = all.iter().map(|s| s.name.as_str()).collect();
            names.join(", ")
        };
        let name = format!("{} → {}", names(&in_a), names(&in_b));
        for (side, lone) in [(&mut *a, in_a), (&mut *b, in_b)] {
            let mut values = Vec::new();
            let mut unit = String::new();
            for subject in lone {
                if let Some(held) = side.remove(&subject) {
                    unit = held.unit;
                    if let Measured::Values(more) = held.measured {
                        values.extend(more);
                    }
                }
            }
            let name = name.clone();
            let held = Held::new(Measured::Values(values), &unit);
            side.insert(Subject { kind, name }, held);
        }
    }
}

fn odd(held: BTreeMap<Subject, Held>, is_a: bool) -> Vec<Odd> {
    held.into_iter()
        .filter(|(_, held)| held.n() > 0.0)
        .map(|(subject, held)| {
            let summary = summary(&held.measured);
            let none = Summary::default();
            let (a, b) = if is_a {
                (summary, none)
            } else {
                (none, summary)
            };
            Odd {
                subject,
                unit: held.unit,
                a,
                b,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
