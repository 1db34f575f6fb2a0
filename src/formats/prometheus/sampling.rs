//! How the samples of a matrix came about, from the request or, without one, from the times.

use std::collections::BTreeSet;

use super::query::{Asked, FormKind, outermost};
use super::results::Found;
use crate::base::reporter::Reporter;
use crate::base::time::NANOS_PER_MS;
use crate::model::series::Sampling;

/// Below this share of the usual distance, the common divisor of all distances is jitter and no step.
const JITTER_DIVISOR: i64 = 20;

/// VictoriaMetrics' step when none is given (`prometheus.md` §1.5).
const DEFAULT_STEP_NANOS: i64 = 300_000_000_000;

/// The sampling of the series of one answer.
pub(super) fn sampling(
    found: &[Found],
    is_matrix: bool,
    asked: &Asked,
    log: &mut Reporter,
) -> Sampling {
    if !is_matrix {
        return Sampling::Instant;
    }
    if let Some(known) = by_request(found, asked) {
        return known;
    }
    if found
        .iter()
        .all(|f| f.t.is_empty() && f.histograms.is_empty())
    {
        return Sampling::Raw;
    }
    let (sampling, why) = by_times(found);
    let what = match sampling {
        Sampling::Raw => "stored samples (a range selector)".to_owned(),
        Sampling::Instant => "one evaluation".to_owned(),
        Sampling::Grid { step_nanos } => format!(
            "evaluations every {} (query_range), in which short gaps are invisible",
            crate::base::units::secs(step_nanos as f64 / 1e9)
        ),
    };
    log.note(
        "sampling_inferred",
        format!(
            "no request is known for this answer; taken as {what}, because {why}; a requests.json beside the file would say for sure"
        ),
        None,
    );
    sampling
}

fn by_request(found: &[Found], asked: &Asked) -> Option<Sampling> {
    match asked.endpoint.as_str() {
        "query_range" => Some(Sampling::Grid {
            step_nanos: asked
                .step_nanos
                .or_else(|| Times::of(found).step())
                .unwrap_or(DEFAULT_STEP_NANOS),
        }),
        "query" => match outermost(asked.query.as_deref()?).kind {
            FormKind::Range { .. } => Some(Sampling::Raw),
            FormKind::Subquery { step_nanos, .. } => step_nanos
                .or_else(|| Times::of(found).step())
                .map(|step_nanos| Sampling::Grid { step_nanos })
                .or(Some(Sampling::Instant)),
            // VictoriaMetrics gives a matrix for what Prometheus calls an error; then the times decide.
            FormKind::Instant => None,
        },
        _ => None,
    }
}

/// Decides by what only one of the two can look like. A wrong `Grid` hides what could be known about gaps, a wrong
/// `Raw` claims what cannot be known, so that doubt ends in `Grid`, unless the grid has holes: those are real in both.
///
/// 1. A series without a name: functions drop it, range selectors keep it → grid.
/// 2. Times that share no step (each target has its own phase, and scrapes are 1 to 10 ms late at times) → raw.
/// 3. All times are multiples of the step since the epoch, as Grafana asks and subqueries give; a scrape's phase is a
///    hash of its target, to the millisecond → grid.
/// 4. Several targets on one phase → grid.
/// 5. One target, without jitter, off the multiples: cannot be told. Holes → raw, none → grid.
fn by_times(found: &[Found]) -> (Sampling, &'static str) {
    let times = Times::of(found);
    let is_anonymous = found.iter().any(|f| f.name.is_none());
    let Some(step_nanos) = times.step() else {
        return if is_anonymous || (times.is_one_moment && times.targets > 1) {
            (
                Sampling::Instant,
                "every series has one sample, at the same time or without a metric name",
            )
        } else {
            (
                Sampling::Raw,
                "there is one sample for each series, each at its own time",
            )
        };
    };
    let grid = Sampling::Grid { step_nanos };
    if is_anonymous {
        (
            grid,
            "a series has no metric name, which only functions take away",
        )
    } else if !times.is_grid() {
        (
            Sampling::Raw,
            "the times share no step: every series has a phase or a jitter of its own",
        )
    } else if times.is_aligned {
        (grid, "all times are multiples of one step since the epoch")
    } else if times.targets > 1 {
        (grid, "several targets share one phase to the millisecond")
    } else if times.has_holes {
        (
            Sampling::Raw,
            "one target's times are regular with holes, which a query_range would fill for five minutes",
        )
    } else {
        (
            grid,
            "the times are regular to the millisecond and without holes (it may be stored samples too)",
        )
    }
}

/// What the times of all series look like together.
struct Times {
    /// Greatest common divisor of all distances within and between series, in nanoseconds; 0 when all are one moment.
    divisor: i64,
    /// Median distance of neighbours.
    median: Option<i64>,
    smallest: Option<i64>,
    has_holes: bool,
    is_aligned: bool,
    is_one_moment: bool,
    targets: usize,
}

impl Times {
    fn of(found: &[Found]) -> Self {
        let mut distances = Distances::default();
        for series in found {
            let histograms: Vec<i64> = series.histograms.iter().map(|h| h.t.nanos()).collect();
            distances.add(&series.t);
            distances.add(&histograms);
        }
        let Distances {
            divisor,
            mut deltas,
            origin,
            is_spread,
        } = distances;
        let middle = deltas.len() / 2;
        let median = if deltas.is_empty() {
            None
        } else {
            Some(*deltas.select_nth_unstable(middle).1)
        };
        let smallest = deltas.iter().min().copied();
        Self {
            divisor,
            median,
            smallest,
            has_holes: smallest.is_some_and(|s| deltas.iter().any(|d| *d > s)),
            is_aligned: divisor >= NANOS_PER_MS
                && origin.is_some_and(|first: i64| first.rem_euclid(divisor) == 0),
            is_one_moment: !is_spread,
            targets: targets(found),
        }
    }

    fn is_grid(&self) -> bool {
        self.divisor > 0
            && self
                .median
                .is_some_and(|median| self.divisor.saturating_mul(JITTER_DIVISOR) >= median)
    }

    /// The step, if it is a grid; what comes nearest to one otherwise.
    fn step(&self) -> Option<i64> {
        if self.is_grid() {
            Some(self.divisor)
        } else {
            self.median.or(self.smallest)
        }
    }
}

/// The distances of all series, gathered.
#[derive(Default)]
struct Distances {
    divisor: i64,
    deltas: Vec<i64>,
    origin: Option<i64>,
    is_spread: bool,
}

impl Distances {
    /// As many distances as this say what is usual.
    const MOST: usize = 1 << 20;

    fn add(&mut self, times: &[i64]) {
        let Some(first) = times.first().copied() else {
            return;
        };
        let origin = *self.origin.get_or_insert(first);
        self.divisor = gcd(self.divisor, first.saturating_sub(origin));
        self.is_spread |= first != origin || times.len() > 1;
        let mut previous = 0;
        for (a, b) in times.iter().zip(times.iter().skip(1)) {
            let delta = b.saturating_sub(*a);
            if delta != previous {
                self.divisor = gcd(self.divisor, delta);
                previous = delta;
            }
            if delta > 0 && self.deltas.len() < Self::MOST {
                self.deltas.push(delta);
            }
        }
    }
}

/// How many targets the series come from: distinct values of `job` and `instance`.
fn targets(found: &[Found]) -> usize {
    found
        .iter()
        .map(|f| (f.labels.get("job"), f.labels.get("instance")))
        .collect::<BTreeSet<_>>()
        .len()
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a.wrapping_rem(b));
    }
    a.saturating_abs()
}
