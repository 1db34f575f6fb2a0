//! Two windows, of one incident or of two, and what changed from one to the other, most important first. Pure.
//!
//! Everything that can be compared is a [`Subject`] with values on each side ([`gather`]); a difference is tested without
//! assuming how values are spread ([`rank_tests`]), all tests are corrected together, and what is left is ranked by how large and
//! how sure it is. Whether a change is for the worse is said only where the role of a metric says which way is bad.

mod gather;
pub mod points;
pub mod rank_tests;

use std::collections::BTreeMap;

use rayon::prelude::*;

use self::gather::{Held, Measured};
use crate::base::stats;
use crate::base::time::TimeRange;
use crate::model::pack::Role;
use crate::store::Snapshot;
use crate::store::histogram;

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

    /// Later over earlier; `None` from nothing.
    pub fn ratio(&self) -> Option<f64> {
        let (a, b) = self.shown();
        (a.abs() > 0.0).then(|| b / a).filter(|r| r.is_finite())
    }
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
        judge(change);
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

fn test(subject: &Subject, a: &Held, b: &Held) -> Result<Box<Change>, Box<Odd>> {
    let (in_a, in_b) = (summary(&a.measured), summary(&b.measured));
    let few = || {
        Box::new(Odd {
            subject: subject.clone(),
            unit: b.unit.clone(),
            a: in_a,
            b: in_b,
        })
    };
    if in_a.n < 2.0 || in_b.n < 2.0 || rank_tests::smallest_p(in_a.n, in_b.n) > SURE {
        return Err(few());
    }
    let found = match (&a.measured, &b.measured) {
        (Measured::Values(va), Measured::Values(vb)) => by_values(subject, a, b, va, vb),
        (Measured::Bins(ba), Measured::Bins(bb)) => by_bins(ba, bb).ok_or_else(few)?,
        (Measured::Share(ka, na), Measured::Share(kb, nb)) => {
            let p = rank_tests::hypergeometric(*na, *nb, *ka, *kb);
            let lead = *kb as f64 / *nb as f64 - *ka as f64 / *na as f64;
            // Cohen's h would hide small shares; a share of 0.6 % that was 0 is all of it.
            let most = (*kb as f64 / *nb as f64).max(*ka as f64 / *na as f64);
            Found {
                aspect: Aspect::Mean,
                effect: if most > 0.0 { lead / most } else { 0.0 },
                p,
            }
        }
        _ => return Err(few()),
    };
    Ok(Box::new(Change {
        subject: subject.clone(),
        unit: b.unit.clone(),
        role: b.role,
        series_a: a.series,
        series_b: b.series,
        a: in_a,
        b: in_b,
        is_derived: a.is_derived || b.is_derived,
        aspect: found.aspect,
        effect: found.effect,
        p: found.p,
        q: found.p,
        verdict: Verdict::Same,
        score: 0.0,
    }))
}

/// How the two sides differ by their values as a whole and, for single rows, by their largest ones; what tells more.
fn by_values(subject: &Subject, a: &Held, b: &Held, va: &[f64], vb: &[f64]) -> Found {
    let kind = subject.kind;
    let groups = rank_tests::groups(va, vb);
    let (calm_a, calm_b) = (rank_tests::inflation(va), rank_tests::inflation(vb));
    let inflation = if kind.is_of_rows() {
        1.0
    } else if a.is_derived || b.is_derived {
        // Each value of an evaluated series holds part of the one before.
        calm_a.max(calm_b)
    } else {
        // If nothing had changed, both sides would resemble their neighbours alike; the calmer one says how much.
        calm_a.min(calm_b)
    };
    let outcome = rank_tests::mann_whitney(&groups, inflation);
    // A rate that mostly is 0 has no median to show.
    let is_rare = kind == Kind::Rate && stats::median(va) == stats::median(vb);
    let level = Found {
        aspect: if is_rare { Aspect::Mean } else { Aspect::Level },
        effect: outcome.map_or(0.0, |o| o.delta),
        p: outcome.map_or(1.0, |o| o.p),
    };
    if !kind.is_of_rows() {
        return level;
    }
    let sorted = |v: &[f64]| {
        let mut v = v.to_vec();
        v.sort_by(f64::total_cmp);
        v
    };
    let (sa, sb) = (sorted(va), sorted(vb));
    let doublings_of = |q: f64| {
        let at = |s: &[f64]| stats::quantile_sorted(s, q).unwrap_or(0.0);
        doublings(at(&sa), at(&sb))
    };
    level.or_tail(
        rank_tests::tail(&sa, &sb),
        doublings_of(0.5),
        doublings_of(1.0),
    )
}

/// What a test found.
#[derive(Debug, Clone, Copy)]
struct Found {
    aspect: Aspect,
    effect: f64,
    p: f64,
}

impl Found {
    /// The one of two answers that tells more. Two questions were asked of the same values, so each counts half.
    fn or_tail(self, tail: Option<rank_tests::Tail>, level_size: f64, tail_size: f64) -> Self {
        let twice = |p: f64| (2.0 * p).min(1.0);
        let level = Self {
            p: twice(self.p),
            ..self
        };
        let Some(tail) = tail else {
            return level;
        };
        let tail = Self {
            aspect: Aspect::Tail {
                bound: tail.bound,
                a: tail.a,
                b: tail.b,
            },
            effect: tail.effect,
            p: twice(tail.p),
        };
        let weight = |found: &Self, size: f64| size_of(found.effect, size) * sureness(found.p);
        if weight(&tail, tail_size) > weight(&level, level_size) {
            tail
        } else {
            level
        }
    }
}

fn by_bins(a: &gather::Bins, b: &gather::Bins) -> Option<Found> {
    if a.bounds != b.bounds {
        return None;
    }
    let groups: Vec<rank_tests::Group> = a
        .counts
        .iter()
        .zip(&b.counts)
        .enumerate()
        .map(|(at, (a, b))| rank_tests::Group {
            value: at as f64,
            a: *a,
            b: *b,
        })
        .collect();
    // Observations of one scrape come in bursts: they count like ten at most.
    let scrapes = (a.scrapes + b.scrapes).max(1) as f64;
    let total: f64 = groups.iter().map(|g| g.a + g.b).sum();
    let outcome = rank_tests::mann_whitney(&groups, (total / scrapes / 10.0).max(1.0))?;
    let level = Found {
        aspect: Aspect::Level,
        effect: outcome.delta,
        p: outcome.p,
    };
    let count = |v: &[f64]| v.iter().sum::<f64>().round() as usize;
    let (na, nb) = (count(&a.counts), count(&b.counts));
    let tails = (1..a.bounds.len()).filter_map(|at| {
        let bound = a.bounds.get(at)?.lower;
        Some((
            bound,
            count(a.counts.get(at..)?),
            count(b.counts.get(at..)?),
        ))
    });
    let tail = rank_tests::best_tail(na, nb, tails);
    let size = |q: f64| {
        let at = |bins: &gather::Bins| {
            histogram::quantile(&bins.bounds, &bins.counts, q, bins.interpolation)
                .map_or(0.0, |e| e.value)
        };
        doublings(at(a), at(b))
    };
    Some(level.or_tail(tail, size(0.5), size(1.0)))
}

fn summary(measured: &Measured) -> Summary {
    match measured {
        Measured::Values(values) => {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            let quantile = |q| stats::quantile_sorted(&sorted, q).unwrap_or(f64::NAN);
            Summary {
                n: sorted.len() as f64,
                mean: stats::mean(&sorted).unwrap_or(f64::NAN),
                median: quantile(0.5),
                p99: quantile(0.99),
                max: quantile(1.0),
            }
        }
        Measured::Bins(bins) => {
            let n: f64 = bins.counts.iter().sum();
            let quantile = |q| {
                histogram::quantile(&bins.bounds, &bins.counts, q, bins.interpolation)
                    .map_or(f64::NAN, |e| e.value)
            };
            Summary {
                n,
                mean: bins.sum / n,
                median: quantile(0.5),
                p99: quantile(0.99),
                max: quantile(1.0),
            }
        }
        Measured::Share(hits, n) => {
            let share = *hits as f64 / (*n).max(1) as f64;
            Summary {
                n: *n as f64,
                mean: share,
                median: share,
                p99: share,
                max: share,
            }
        }
    }
}

/// How often one value has to be doubled to be the other; at most five times.
fn doublings(a: f64, b: f64) -> f64 {
    const MOST: f64 = 5.0;
    let (low, high) = (a.abs().min(b.abs()), a.abs().max(b.abs()));
    if high <= 0.0 || !high.is_finite() {
        return 0.0;
    }
    if a.signum() * b.signum() < 0.0 || low <= 0.0 {
        return MOST;
    }
    (high / low).log2().min(MOST)
}

/// Which way is bad: 1 up, −1 down, 0 nobody knows.
fn bad_way(change: &Change) -> i8 {
    use Role as R;
    match change.subject.kind {
        Kind::RequestLatency
        | Kind::RequestConnect
        | Kind::RequestErrors
        | Kind::SpanLatency
        | Kind::SpanConnect
        | Kind::SpanErrors
        | Kind::CallGap
        | Kind::DumpTotal
        | Kind::LockShare => return 1,
        Kind::RequestRate => return 0,
        Kind::Gauge | Kind::Rate | Kind::Histogram => {}
    }
    match change.role {
        Some(
            R::Memory
            | R::OpenFds
            | R::Goroutines
            | R::Threads
            | R::Connections
            | R::PoolUsed
            | R::ErrorCount
            | R::SynRetransmits
            | R::ConntrackInsertFailed
            | R::ConntrackDrop
            | R::ConntrackEntries
            | R::ListenDrops
            | R::TcpRetransmits
            | R::Queue
            | R::Lock
            | R::LogSuppressed,
        ) => 1,
        // Their counts and sums only say that there was traffic.
        Some(R::RequestDuration | R::ConnectDuration) if change.subject.kind != Kind::Rate => 1,
        _ if change.subject.name.starts_with("up{") || change.subject.name == "up" => -1,
        _ => 0,
    }
}

/// How sure and how large it is, and which way it goes.
fn judge(change: &mut Change) {
    let (a, b) = match change.aspect {
        // Of a tail that few values make the quantile says nothing: the largest do.
        Aspect::Tail { .. } => (change.a.max, change.b.max),
        _ => change.shown(),
    };
    if change.q > SURE || change.effect == 0.0 {
        change.verdict = Verdict::Same;
        change.score = 0.0;
        return;
    }
    let bad = bad_way(change);
    let way = if change.effect > 0.0 { 1 } else { -1 };
    change.verdict = match bad {
        0 => Verdict::Changed,
        bad if bad == way => Verdict::Worse,
        _ => Verdict::Better,
    };
    let mut weight = if bad == 0 { 1.0 } else { BAD };
    if change.is_derived {
        // What it was evaluated from mostly stands in the list as well.
        weight *= 0.5;
    }
    change.score = size_of(change.effect, doublings(a, b)) * sureness(change.q) * weight;
}

/// How much more a change counts of which is known which way is bad.
const BAD: f64 = 3.0;

/// Beyond one in ten thousand nothing is surer.
fn sureness(p: f64) -> f64 {
    (-p.max(1e-300).log10() / 4.0).clamp(0.0, 1.0)
}

/// How large a change is: for which share of pairs it holds, times how often the value doubled.
fn size_of(effect: f64, doublings: f64) -> f64 {
    effect.abs() * (0.05 + doublings)
}

#[cfg(test)]
mod tests;
