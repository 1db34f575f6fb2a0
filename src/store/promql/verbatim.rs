//! Queries whose answers were recorded: the server's own answer to the same words.

use crate::base::time::{NANOS_PER_MS, Timestamp};
use crate::base::units;
use crate::model::series::{Sampling, Series};
use crate::store::promql::evaluate::{Done, Line, Run, Value};
use crate::store::promql::shelf::{Hold, label_set};
use crate::store::promql::{Expr, Selector};

impl<'a> Run<'a> {
    /// Whether the recorded answers stand at every time that is asked for.
    pub(super) fn covers(&self, series: &[usize]) -> bool {
        let all: Vec<&Series> = series.iter().filter_map(|ix| self.series(*ix)).collect();
        let span = all
            .iter()
            .filter_map(|s| s.span())
            .reduce(|a, b| a.hull(&b));
        let (Some(span), Some(first)) = (span, all.first()) else {
            return false;
        };
        let nanos = |ms: i64| ms.saturating_mul(NANOS_PER_MS);
        let (start, last) = (
            nanos(self.when.start_ms),
            nanos(self.when.time_ms(self.when.steps().saturating_sub(1))),
        );
        if start < span.start.nanos() || last >= span.end.nanos() {
            return false;
        }
        match first.sampling {
            Sampling::Grid { step_nanos } if step_nanos > 0 => {
                (start - span.start.nanos()) % step_nanos == 0
                    && nanos(self.when.step_ms) % step_nanos == 0
            }
            _ => start == last,
        }
    }

    pub(super) fn verbatim(
        &mut self,
        query: &str,
        expr: &Expr,
        series: &[usize],
    ) -> Done<Value<'a>> {
        let keeps_name = matches!(expr, Expr::Selector(_));
        let now = Selector {
            matchers: Vec::new(),
            offset_ms: 0,
            fixed: None,
        };
        let mut lines: Vec<Line<'a>> = Vec::new();
        for ix in series {
            let Some(series) = self.series(*ix) else {
                continue;
            };
            let points = self.points(series, Hold::of(series.sampling), &now)?;
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
        // The same query may be recorded at two steps.
        lines.dedup_by(|a, b| a.labels == b.labels);
        Ok(Value::Vector(lines))
    }

    pub(super) fn note_of_recording(&mut self, series: &[usize]) {
        let all: Vec<&Series> = series.iter().filter_map(|ix| self.series(*ix)).collect();
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
