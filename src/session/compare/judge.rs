//! One thing on both sides → what differs, how sure that is, and which way it goes.

use crate::base::stats;
use crate::model::pack::Role;
use crate::session::compare::gather::{self, Held, Measured};
use crate::session::compare::{
    Aspect, Change, Kind, Odd, SURE, Subject, Summary, Verdict, are_alike, rank_tests,
};
use crate::store::histogram;

pub(super) fn test(subject: &Subject, a: &Held, b: &Held) -> Result<Box<Change>, Box<Odd>> {
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
    let effect = outcome.map_or(0.0, |o| o.delta);
    let is_rare = is_rare || is_told_by_mean(effect, va, vb);
    let level = Found {
        aspect: if is_rare { Aspect::Mean } else { Aspect::Level },
        effect,
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

/// Where the medians are alike, the means tell what changed, if they go the same way as the values do.
fn is_told_by_mean(effect: f64, va: &[f64], vb: &[f64]) -> bool {
    let pair = |of: fn(&[f64]) -> Option<f64>| Some((of(va)?, of(vb)?));
    let Some((median_a, median_b)) = pair(stats::median) else {
        return false;
    };
    let Some((mean_a, mean_b)) = pair(stats::mean) else {
        return false;
    };
    are_alike(median_a, median_b) && !are_alike(mean_a, mean_b) && (mean_b - mean_a) * effect > 0.0
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

pub(super) fn summary(measured: &Measured) -> Summary {
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
pub(super) fn doublings(a: f64, b: f64) -> f64 {
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
pub(super) fn judge(change: &mut Change) {
    let (a, b, _) = change.told();
    if change.q > SURE || change.effect == 0.0 || are_alike(a, b) {
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
