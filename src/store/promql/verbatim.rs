//! Queries whose answers were recorded: the server's own answer to the same words.

use std::collections::BTreeMap;

use crate::base::time::{NANOS_PER_MS, Timestamp};
use crate::base::units;
use crate::model::series::{Sampling, Series};
use crate::store::promql::evaluate::{Done, Line, Run, Value};
use crate::store::promql::pick::Walk;
use crate::store::promql::shelf::{Hold, label_set};
use crate::store::promql::{Expr, Selector};

impl<'a> Run<'a> {
    /// The recordings of one query by how it was evaluated: the finest grid first.
    pub(super) fn by_sampling(&self, all: &[usize]) -> Vec<Vec<&'a Series>> {
        let mut groups: BTreeMap<Sampling, Vec<&Series>> = BTreeMap::new();
        for series in all.iter().filter_map(|ix| self.series(*ix)) {
            groups.entry(series.sampling).or_default().push(series);
        }
        groups.into_values().collect()
    }

    /// Whether the recorded answers stand at every time that is asked for: at the first and the last of them, and at a step
    /// that theirs divides.
    pub(super) fn covers(&self, group: &[&Series]) -> bool {
        let last_step = self.when.steps().saturating_sub(1);
        let has = |ms: i64| {
            let t = ms.saturating_mul(NANOS_PER_MS);
            group.iter().any(|s| {
                s.t.binary_search(&t).is_ok() || s.histograms.iter().any(|h| h.t.nanos() == t)
            })
        };
        let fits = match group.first().map(|s| s.sampling) {
            Some(Sampling::Grid { step_nanos }) if step_nanos > 0 => {
                self.when.step_ms.saturating_mul(NANOS_PER_MS) % step_nanos == 0
            }
            _ => last_step == 0,
        };
        fits && has(self.when.start_ms) && has(self.when.time_ms(last_step))
    }

    pub(super) fn verbatim(
        &mut self,
        query: &str,
        expr: &Expr,
        group: &[&'a Series],
    ) -> Done<Value<'a>> {
        let keeps_name = matches!(expr, Expr::Selector(_));
        let now = Selector {
            matchers: Vec::new(),
            offset_ms: 0,
            fixed: None,
        };
        let mut lines: Vec<Line<'a>> = Vec::new();
        let notes = self.notes.clone();
        for series in group {
            let walk = Walk::new(series, Hold::of(series.sampling));
            let points = self.points(vec![walk], &now)?;
            // A series without a name is called after its query.
            let name = if series.metric.trim() == query.trim() && !keeps_name {
                ""
            } else {
                series.metric.as_ref()
            };
            if !points.is_empty() {
                lines.push(Line {
                    labels: label_set(name, series),
                    points,
                });
            }
        }
        lines.sort_by(|a, b| a.labels.cmp(&b.labels));
        // That they are evaluations goes without saying here.
        self.notes = notes;
        Ok(Value::Vector(lines))
    }

    pub(super) fn note_of_recording(&mut self, all: &[&Series]) {
        let span = all
            .iter()
            .filter_map(|s| s.span())
            .reduce(|a, b| a.hull(&b));
        let (Some(span), Some(first)) = (span, all.first()) else {
            return;
        };
        let last = Timestamp::from_nanos(span.end.nanos() - 1);
        let text = match Hold::of(first.sampling) {
            Hold::Step(nanos) => format!(
                "this is the server's recorded answer to the same query, each {} from {} to {last}; between its steps the last value is given, and outside nothing",
                units::secs(nanos as f64 / 1e9),
                span.start
            ),
            _ => format!(
                "this is the server's recorded answer to the same query, evaluated at {} alone; at other times nothing is given",
                span.start
            ),
        };
        self.notes.insert(text);
    }
}
