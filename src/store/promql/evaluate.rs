//! Expression → values, on a grid of times.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::time::NANOS_PER_MS;
use crate::base::units;
use crate::model::series::{HistogramPoint, Series};
use crate::store::Snapshot;
use crate::store::promql::aggregate::{self, aggregate};
use crate::store::promql::pick::{Walk, samples};
use crate::store::promql::rate::growth;
use crate::store::promql::shelf::Hold;
use crate::store::promql::{Expr, Fixed, Kind, Known, LabelSet, NAME, Selector, Shelf};

/// Samples that one query may touch or give; Prometheus has 50,000,000 (`--query.max-samples`), and more memory.
const MOST_SAMPLES: u64 = 10_000_000;

/// At which times: one, or several of a grid. All in milliseconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// The first.
    pub start_ms: i64,
    /// The last that may be.
    pub end_ms: i64,
    /// Between them; 0 for one time alone.
    pub step_ms: i64,
    /// How long a stored sample counts, when the query says so.
    pub lookback_nanos: Option<i64>,
}

impl Evaluation {
    /// At one time.
    pub const fn at(t_ms: i64) -> Self {
        Self {
            start_ms: t_ms,
            end_ms: t_ms,
            step_ms: 0,
            lookback_nanos: None,
        }
    }

    /// How many times there are.
    pub fn steps(&self) -> usize {
        if self.step_ms <= 0 {
            return 1;
        }
        usize::try_from((self.end_ms - self.start_ms) / self.step_ms).map_or(0, |n| n + 1)
    }

    /// The time of a step.
    pub fn time_ms(&self, step: usize) -> i64 {
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        self.start_ms
            .saturating_add(step.saturating_mul(self.step_ms))
    }
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Point<'a> {
    /// A number.
    Float(f64),
    /// A native histogram.
    Histogram(&'a HistogramPoint),
}

/// A series with its values at steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// Its labels.
    pub labels: LabelSet,
    /// Steps with a value, in order.
    pub points: Vec<(usize, Point<'a>)>,
}

/// A series with its stored samples.
#[derive(Debug, Clone, PartialEq)]
pub struct RawLine<'a> {
    /// Its labels.
    pub labels: LabelSet,
    /// Samples with their own times in milliseconds, in order.
    pub samples: Vec<(i64, Point<'a>)>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// A number for each step.
    Scalar(Vec<f64>),
    /// A text.
    Text(String),
    /// Series, in order of labels.
    Vector(Vec<Line<'a>>),
    /// Stored samples, in order of labels.
    Range(Vec<RawLine<'a>>),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// It is right, and not answered from a recording.
    #[error("{0}")]
    Unsupported(String),
    /// It is too much.
    #[error(
        "query processing would load too many samples into memory in query execution (the limit is {})",
        crate::base::text::grouped(MOST_SAMPLES)
    )]
    TooMuch,
}

/// Evaluates a query. What a reader of the answer must know of how far it can be trusted comes beside it.
///
/// # Errors
/// When the query is not answered from a recording, or is too much.
pub fn evaluate<'a>(
    shelf: &'a Shelf,
    snapshot: &'a Snapshot,
    query: &str,
    expr: &Expr,
    when: Evaluation,
) -> Result<(Value<'a>, Vec<String>), EvalError> {
    let mut run = Run {
        shelf,
        snapshot,
        when,
        left: MOST_SAMPLES,
        notes: BTreeSet::new(),
        held: BTreeSet::new(),
    };
    let value = run.top(query, expr)?;
    run.note_of_held();
    Ok((value, run.notes.into_iter().collect()))
}

pub(super) struct Run<'a> {
    shelf: &'a Shelf,
    snapshot: &'a Snapshot,
    pub(super) when: Evaluation,
    left: u64,
    pub(super) notes: BTreeSet<String>,
    /// Metrics that are shown by old samples.
    held: BTreeSet<Arc<str>>,
}

pub(super) type Done<T> = Result<T, EvalError>;

impl<'a> Run<'a> {
    /// The server's own answer where it stands at the very times asked for, else ours, else the server's at the times it has.
    fn top(&mut self, query: &str, expr: &Expr) -> Done<Value<'a>> {
        // A number is not kept as one, and the samples of a subquery say nothing of when it was evaluated.
        let is_vector = expr.kind() == Kind::Vector;
        let recorded = self.shelf.recorded(query).filter(|_| is_vector);
        let groups = recorded
            .map(|all| self.by_sampling(all))
            .unwrap_or_default();
        if let Some(group) = groups.iter().find(|group| self.covers(group)) {
            return self.verbatim(query, expr, group);
        }
        match (self.value(expr), groups.first()) {
            (Err(EvalError::Unsupported(_)), Some(finest)) => {
                self.note_of_recording(finest);
                self.verbatim(query, expr, finest)
            }
            (done, _) => done,
        }
    }

    fn spend(&mut self, samples: usize) -> Done<()> {
        self.left = self
            .left
            .checked_sub(samples as u64)
            .ok_or(EvalError::TooMuch)?;
        Ok(())
    }

    fn value(&mut self, expr: &Expr) -> Done<Value<'a>> {
        match expr {
            _ if expr.kind() == Kind::Scalar => self.scalar(expr).map(Value::Scalar),
            Expr::Text(text) => Ok(Value::Text(text.clone())),
            Expr::Selector(selector) => self.selector(selector).map(Value::Vector),
            Expr::Range { selector, range_ms } => self.range(selector, *range_ms).map(Value::Range),
            Expr::Aggregate {
                op,
                grouping,
                inner,
                ..
            } if aggregate::ANSWERED.contains(op) => {
                let lines = match self.value(inner)? {
                    Value::Vector(lines) => lines,
                    _ => Vec::new(),
                };
                aggregate(op, grouping, lines)
                    .map(Value::Vector)
                    .ok_or_else(|| self.unsupported(&format!("`{op}` of native histograms")))
            }
            Expr::Call {
                function,
                arguments,
                ..
            } => self.call(function, arguments),
            Expr::Aggregate { op, .. } => Err(self.unsupported(&format!("`{op}`"))),
            Expr::Binary { op, .. } => {
                Err(self.unsupported(&format!("`{op}` between series and anything else")))
            }
            Expr::Negative(_) => Err(self.unsupported("`-` before series")),
            Expr::Subquery { .. } => Err(self.unsupported("a subquery (`[5m:30s]`)")),
            Expr::Number(_) => self.scalar(expr).map(Value::Scalar),
        }
    }

    fn unsupported(&self, what: &str) -> EvalError {
        let mut text = format!(
            "{what} is not answered from a recording. Answered are: selectors (`up{{job=\"x\"}}`; `up[5m]` in instant queries; `offset`, `@`), {} over them with `by` or `without`, `rate`, `increase` and `count_over_time` of a range, `vector` and arithmetic of numbers",
            aggregate::ANSWERED.join(", ")
        );
        let queries: Vec<String> = self
            .shelf
            .recorded_queries()
            .map(|q| format!("`{}`", crate::base::text::shorten(q, 120)))
            .collect();
        if queries.is_empty() {
            text.push_str("; no query was recorded with its answer");
        } else {
            text.push_str("; and, word for word, the recorded queries: ");
            text.push_str(
                &queries
                    .iter()
                    .take(10)
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", "),
            );
            if queries.len() > 10 {
                text.push_str(" and others");
            }
        }
        EvalError::Unsupported(text)
    }

    fn scalar(&mut self, expr: &Expr) -> Done<Vec<f64>> {
        let steps = self.when.steps();
        self.spend(steps)?;
        Ok(match expr {
            Expr::Number(n) => vec![*n; steps],
            Expr::Negative(inner) => self.scalar(inner)?.into_iter().map(|v| -v).collect(),
            Expr::Call { function, .. } if *function == "time" => (0..steps)
                .map(|step| self.when.time_ms(step) as f64 / 1e3)
                .collect(),
            Expr::Call { function, .. } if *function == "pi" => vec![std::f64::consts::PI; steps],
            Expr::Binary { op, left, right } => {
                let apply: fn(f64, f64) -> f64 = match *op {
                    "+" => |a, b| a + b,
                    "-" => |a, b| a - b,
                    "*" => |a, b| a * b,
                    "/" => |a, b| a / b,
                    "%" => |a, b| a % b,
                    "^" => f64::powf,
                    "atan2" => f64::atan2,
                    "==" => |a, b| f64::from(is_same(a, b)),
                    "!=" => |a, b| f64::from(!is_same(a, b)),
                    "<" => |a, b| f64::from(a < b),
                    "<=" => |a, b| f64::from(a <= b),
                    ">" => |a, b| f64::from(a > b),
                    ">=" => |a, b| f64::from(a >= b),
                    _ => return Err(self.unsupported(&format!("`{op}`"))),
                };
                let left = self.scalar(left)?;
                let right = self.scalar(right)?;
                left.into_iter()
                    .zip(right)
                    .map(|(a, b)| apply(a, b))
                    .collect()
            }
            Expr::Call { function, .. } => {
                return Err(self.unsupported(&format!("`{function}`")));
            }
            _ => return Err(self.unsupported("a number made of series")),
        })
    }

    fn call(&mut self, function: &str, arguments: &[Expr]) -> Done<Value<'a>> {
        match (function, arguments) {
            ("vector", [inner]) => {
                let values = self.scalar(inner)?;
                let points = values.into_iter().map(Point::Float).enumerate().collect();
                Ok(Value::Vector(vec![Line {
                    labels: LabelSet::new(),
                    points,
                }]))
            }
            ("rate" | "increase" | "count_over_time", [Expr::Range { selector, range_ms }]) => self
                .over_range(function, selector, *range_ms)
                .map(Value::Vector),
            _ => Err(self.unsupported(&format!("`{function}`"))),
        }
    }

    /// The time that a selector looks at, in nanoseconds.
    fn looks_at(&self, selector: &Selector, step: usize) -> i64 {
        let t_ms = match selector.fixed {
            Some(Fixed::At(ms)) => ms,
            Some(Fixed::Start) => self.when.start_ms,
            Some(Fixed::End) => self.when.end_ms,
            None => self.when.time_ms(step),
        };
        t_ms.saturating_sub(selector.offset_ms)
            .saturating_mul(NANOS_PER_MS)
    }

    pub(super) fn series(&self, ix: usize) -> Option<&'a Series> {
        self.snapshot.series.get(ix)
    }

    fn selector(&mut self, selector: &Selector) -> Done<Vec<Line<'a>>> {
        let mut lines = Vec::new();
        for known in self.shelf.select(&selector.matchers) {
            let walks = known
                .recordings()
                .filter_map(|(ix, hold)| Some(Walk::new(self.series(ix)?, hold)))
                .collect();
            let points = self.points(walks, selector)?;
            if !points.is_empty() {
                lines.push(Line {
                    labels: known.labels.clone(),
                    points,
                });
            }
        }
        Ok(lines)
    }

    /// What counts at each step: the newest of all recordings of a series, of equals that of the first.
    pub(super) fn points(
        &mut self,
        mut walks: Vec<Walk<'a>>,
        selector: &Selector,
    ) -> Done<Vec<(usize, Point<'a>)>> {
        let steps = self.when.steps();
        self.spend(steps / 8 + 1)?;
        let rules = self.shelf.rules;
        let lookback = self.when.lookback_nanos.unwrap_or(rules.lookback_nanos);
        let mut points = Vec::new();
        let mut oldest = 0;
        let mut used = BTreeSet::new();
        for step in 0..steps {
            let t = self.looks_at(selector, step);
            let stored = rules.first_in(t, lookback);
            let mut best: Option<(i64, Option<Point<'a>>, usize)> = None;
            for (nth, walk) in walks.iter_mut().enumerate() {
                if let Some((at, point)) = walk.at(t, stored)
                    && best.is_none_or(|(known, ..)| at > known)
                {
                    best = Some((at, point, nth));
                }
            }
            if let Some((at, Some(point), nth)) = best {
                points.push((step, point));
                used.insert(nth);
                if nth == 0 {
                    oldest = oldest.max(t.saturating_sub(at));
                }
            }
        }
        self.spend(points.len())?;
        for walk in used.into_iter().filter_map(|nth| walks.get(nth)) {
            self.note_of_hold(walk, oldest);
        }
        Ok(points)
    }

    /// Stored samples; what is known only as evaluated has none.
    fn range(&mut self, selector: &Selector, range_ms: i64) -> Done<Vec<RawLine<'a>>> {
        let end = self.looks_at(selector, 0);
        let first = self
            .shelf
            .rules
            .first_in(end, range_ms.saturating_mul(NANOS_PER_MS));
        let mut lines = Vec::new();
        for known in self.stored(selector)? {
            let Some(series) = self.series(known.series) else {
                continue;
            };
            let samples = samples(series, first, end);
            self.spend(samples.len())?;
            if !samples.is_empty() {
                lines.push(RawLine {
                    labels: known.labels.clone(),
                    samples,
                });
            }
        }
        Ok(lines)
    }

    fn stored(&mut self, selector: &Selector) -> Done<Vec<&'a Known>> {
        let (stored, evaluated): (Vec<&Known>, Vec<&Known>) = self
            .shelf
            .select(&selector.matchers)
            .partition(|k| k.hold == Hold::Lookback);
        if let Some(first) = evaluated.first() {
            let text = format!(
                "of {} series such as {} only evaluations are recorded (query_range or one instant), and not the samples that a range needs",
                evaluated.len(),
                first.label(NAME)
            );
            if stored.is_empty() {
                return Err(EvalError::Unsupported(text));
            }
            self.notes.insert(format!("{text}: they are left out"));
        }
        Ok(stored)
    }

    fn over_range(
        &mut self,
        function: &str,
        selector: &Selector,
        range_ms: i64,
    ) -> Done<Vec<Line<'a>>> {
        let mut lines: Vec<Line<'a>> = Vec::new();
        for known in self.stored(selector)? {
            let Some(series) = self.series(known.series) else {
                continue;
            };
            let mut points = Vec::new();
            for step in 0..self.when.steps() {
                let end = self.looks_at(selector, step);
                let first = self
                    .shelf
                    .rules
                    .first_in(end, range_ms.saturating_mul(NANOS_PER_MS));
                let found = samples(series, first, end);
                self.spend(found.len() / 8 + 1)?;
                let edges = (end / NANOS_PER_MS - range_ms, end / NANOS_PER_MS);
                if let Some(value) = self.of_samples(function, &found, edges)? {
                    points.push((step, Point::Float(value)));
                }
            }
            self.spend(points.len())?;
            if !points.is_empty() {
                let mut labels = known.labels.clone();
                labels.retain(|(name, _)| name.as_ref() != NAME);
                lines.push(Line { labels, points });
            }
        }
        lines.sort_by(|a, b| a.labels.cmp(&b.labels));
        if let Some(pair) = lines
            .windows(2)
            .find(|w| matches!(w, [a, b] if a.labels == b.labels))
        {
            let labels = pair.first().map(|l| &l.labels);
            return Err(EvalError::Unsupported(format!(
                "vector cannot contain metrics with the same labelset: without their names several series are {labels:?}"
            )));
        }
        Ok(lines)
    }

    fn of_samples(
        &self,
        function: &str,
        found: &[(i64, Point<'a>)],
        edges: (i64, i64),
    ) -> Done<Option<f64>> {
        if function == "count_over_time" {
            return Ok((!found.is_empty()).then_some(found.len() as f64));
        }
        let mut floats = Vec::with_capacity(found.len());
        for (t, point) in found {
            match point {
                Point::Float(v) => floats.push((*t, *v)),
                Point::Histogram(_) => {
                    return Err(self.unsupported(&format!("`{function}` of native histograms")));
                }
            }
        }
        let grown = growth(&floats, edges, self.shelf.rules);
        // A rate is growth over the length of the range.
        let secs = (edges.1 - edges.0) as f64 / 1e3;
        Ok(grown.map(|grown| {
            if function == "rate" {
                grown / secs
            } else {
                grown
            }
        }))
    }

    fn note_of_hold(&mut self, walk: &Walk<'_>, oldest_nanos: i64) {
        let name = &walk.series().metric;
        let how = match walk.hold() {
            Hold::Lookback => {
                // Range selectors give no staleness markers (`prometheus.md` §2.1), so nobody can know.
                let usual = walk.series().interval_nanos().unwrap_or(i64::MAX / 2);
                if oldest_nanos > usual.saturating_mul(2) {
                    self.held.insert(Arc::clone(name));
                }
                return;
            }
            Hold::Step(nanos) => format!(
                "each {} (query_range): a value is given until the next step",
                units::secs(nanos as f64 / 1e9)
            ),
            Hold::Never => "once: it is given at that very time".to_owned(),
        };
        self.notes.insert(format!(
            "where the samples of {name} are not recorded, what is given was evaluated by the server {how}"
        ));
    }

    fn note_of_held(&mut self) {
        let Some(first) = self.held.first() else {
            return;
        };
        self.notes.insert(format!(
            "{} is given by samples that are older than twice the distance between them{}: unless the recording holds staleness markers, nobody can know whether the server still showed it",
            first,
            match self.held.len() {
                1 => String::new(),
                n => format!(", as are {} other metrics", n - 1),
            }
        ));
    }
}

#[expect(clippy::float_cmp, reason = "the very comparison that PromQL makes")]
fn is_same(a: f64, b: f64) -> bool {
    a == b
}
