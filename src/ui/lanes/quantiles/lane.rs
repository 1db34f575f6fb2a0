//! A prepared band of quantiles.

use std::sync::Arc;

use egui::{Mesh, Pos2, Rect, pos2};

use crate::base::stats::{mad, median};
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::session::analysis::Document;
use crate::session::target::Target;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, LINE, MeshCache};
use crate::ui::lanes::{Blank, Lane, Reading, Twin, ValueAxis, axis};
use crate::ui::words::Words;

/// Under so many observations nothing is drawn.
const FEWEST: f64 = 5.0;
/// Under so many a p99 is hardly more than the largest value, and drawn faint.
const FEW: f64 = 30.0;

/// The quantiles of one stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) start: i64,
    pub(super) end: i64,
    /// `NaN` where it is not known.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// `NaN` where it is not known.
    pub(super) mean: f64,
    /// How many observations; `None` where nothing says.
    pub(super) count: Option<f64>,
    /// Whether the p99 lies in the open bucket: at least so much.
    pub(super) is_ceiling: bool,
}

impl Column {
    fn middle(&self) -> i64 {
        self.start.midpoint(self.end)
    }

    fn is_few(&self) -> bool {
        self.count.is_some_and(|n| n < FEW)
    }

    fn is_drawn(&self) -> bool {
        self.count.is_none_or(|n| n >= FEWEST)
    }
}

/// A band, ready to be drawn.
#[derive(Debug)]
pub(super) struct QuantileLane {
    pub(super) document: Arc<Document>,
    pub(super) columns: Vec<Column>,
    pub(super) width: i64,
    pub(super) unit: String,
    pub(super) is_estimated: bool,
    pub(super) target: Option<Target>,
    pub(super) twin: Twin,
    pub(super) mesh: MeshCache,
}

impl QuantileLane {
    fn shown(&self, range: TimeRange) -> &[Column] {
        let from = self
            .columns
            .partition_point(|c| c.end < range.start.nanos());
        let to = self
            .columns
            .partition_point(|c| c.start < range.end.nanos());
        self.columns.get(from..to.max(from)).unwrap_or_default()
    }

    /// Stretches that touch, of columns that are drawn.
    fn runs<'a>(&'a self, canvas: &Canvas<'_>) -> impl Iterator<Item = &'a [Column]> {
        let from = self
            .columns
            .partition_point(|c| c.end < canvas.shown.start.nanos())
            .saturating_sub(1);
        let to = self
            .columns
            .partition_point(|c| c.start < canvas.shown.end.nanos())
            + 1;
        let shown = self
            .columns
            .get(from..to.min(self.columns.len()))
            .unwrap_or_default();
        shown
            .chunk_by(|a, b| a.end == b.start && a.is_drawn() && b.is_drawn())
            .filter(|run| run.first().is_some_and(Column::is_drawn))
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        let is_ours = canvas.highlight.entities.is_empty() || self.is_pointed_at(canvas);
        let strength = if is_ours { 1.0 } else { 0.75 };
        let ink = canvas.tokens.series(0).gamma_multiply(strength);
        let mean = canvas.tokens.series(1).gamma_multiply(strength);
        let place = |c: &Column, v: f64| pos2(canvas.x(c.middle()), canvas.y(v));
        for run in self.runs(canvas) {
            for part in by_confidence(run) {
                let faint = if part.first().is_some_and(Column::is_few) {
                    0.4
                } else {
                    1.0
                };
                let known = part.iter().all(|c| !c.p50.is_nan());
                let edge = |c: &Column| {
                    let low = if known { c.p50 } else { c.p99 };
                    let p = place(c, c.p99);
                    (p.x, p.y, canvas.y(low))
                };
                if let [one] = part {
                    lone(
                        canvas,
                        one,
                        known,
                        (ink.gamma_multiply(faint), feather),
                        mesh,
                    );
                }
                mesh::band(
                    mesh,
                    part.iter().map(edge),
                    ink.gamma_multiply(0.26 * faint),
                );
                let top: Vec<Pos2> = part.iter().map(|c| place(c, c.p99)).collect();
                mesh::line(mesh, &top, LINE, ink.gamma_multiply(faint), feather);
                if known {
                    let low: Vec<Pos2> = part.iter().map(|c| place(c, c.p50)).collect();
                    mesh::line(mesh, &low, 1.0, ink.gamma_multiply(0.8 * faint), feather);
                }
                for means in part.chunk_by(|a, b| !a.mean.is_nan() && !b.mean.is_nan()) {
                    let points: Vec<Pos2> = means.iter().map(|c| place(c, c.mean)).collect();
                    mesh::line(mesh, &points, LINE, mean.gamma_multiply(faint), feather);
                }
                for c in part.iter().filter(|c| c.is_ceiling) {
                    mesh::triangle(mesh, place(c, c.p99), 3.5, ink, feather);
                }
            }
        }
    }

    fn is_pointed_at(&self, canvas: &Canvas<'_>) -> bool {
        match &self.target {
            Some(Target::Sample { series, .. }) => canvas.highlight.series.contains(series),
            _ => true,
        }
    }

    fn at(&self, t: Timestamp) -> Option<&Column> {
        let at = self.columns.partition_point(|c| c.end <= t.nanos());
        self.columns
            .get(at)
            .filter(|c| c.start <= t.nanos() && c.is_drawn())
    }

    fn readings(&self, t: Timestamp, words: [&str; 2]) -> Vec<Reading> {
        let Some(c) = self.at(t) else {
            return Vec::new();
        };
        let value = |v: f64| axis::value(v, &self.unit);
        let p99 = if c.is_ceiling {
            format!("≥ {}", value(c.p99))
        } else {
            value(c.p99)
        };
        let mut rows = vec![("p99".to_owned(), p99, Some(0))];
        if !c.p50.is_nan() {
            rows.push(("p50".to_owned(), value(c.p50), Some(0)));
        }
        if !c.mean.is_nan() {
            rows.push((words[0].to_owned(), value(c.mean), Some(1)));
        }
        if let Some(n) = c.count {
            rows.push((words[1].to_owned(), units::number(n.round()), None));
        }
        rows.into_iter()
            .map(|(name, value, colour)| Reading {
                name,
                value,
                colour,
                target: self.target.clone(),
            })
            .collect()
    }

    fn rows(&self, range: TimeRange, words: [&str; 3]) -> Vec<(String, String)> {
        let inside: Vec<&Column> = self
            .shown(range)
            .iter()
            .filter(|c| c.is_drawn() && range.contains(Timestamp::from_nanos(c.middle())))
            .collect();
        let value = |v: f64| axis::value(v, &self.unit);
        let worst = inside
            .iter()
            .map(|c| c.p99)
            .fold(f64::NEG_INFINITY, f64::max);
        if inside.is_empty() {
            return Vec::new();
        }
        let p99s: Vec<f64> = inside.iter().map(|c| c.p99).collect();
        let mut rows = vec![
            (format!("p99 {}", words[0]), value(worst)),
            (
                format!("p99 {}", words[1]),
                value(median(&p99s).unwrap_or(0.0)),
            ),
        ];
        // A mean of means is none; weighted by what they are means of, it is.
        let weighed = inside.iter().filter(|c| !c.mean.is_nan());
        let (n, sum) = weighed.fold((0.0, 0.0), |(n, sum), c| {
            let weight = c.count.unwrap_or(1.0);
            (n + weight, sum + c.mean * weight)
        });
        if n > 0.0 {
            rows.push((words[2].to_owned(), value(sum / n)));
        }
        rows
    }
}

/// Parts of a run that are equally sure; each begins where the one before ends, so that the line is whole.
fn by_confidence(run: &[Column]) -> Vec<&[Column]> {
    let mut parts = Vec::new();
    let mut from = 0;
    for at in 1..=run.len() {
        let is_end = at == run.len();
        let turns =
            !is_end && run.get(at).map(Column::is_few) != run.get(at - 1).map(Column::is_few);
        if is_end || turns {
            // The faint side draws the joint.
            let start = if from > 0 && run.get(from).is_some_and(Column::is_few) {
                from - 1
            } else {
                from
            };
            let is_next_sure = turns && run.get(at - 1).is_some_and(Column::is_few);
            let end = if is_next_sure { at + 1 } else { at };
            parts.extend(run.get(start..end.min(run.len())));
            from = at;
        }
    }
    parts
}

/// A stretch without neighbours: a short bar instead of nothing.
fn lone(
    canvas: &Canvas<'_>,
    c: &Column,
    has_low: bool,
    (ink, feather): (egui::Color32, f32),
    mesh: &mut Mesh,
) {
    let (left, right) = (canvas.x(c.start), canvas.x(c.end));
    let top = canvas.y(c.p99);
    let low = canvas.y(if has_low { c.p50 } else { c.p99 });
    let rect = Rect::from_min_max(pos2(left, top), pos2(right, low));
    mesh::bar(mesh, rect, ink.gamma_multiply(0.26));
    mesh::line(
        mesh,
        &[pos2(left, top), pos2(right, top)],
        LINE,
        ink,
        feather,
    );
}

impl Lane for QuantileLane {
    fn note(&self) -> String {
        format!("p50 … p99 · {}", units::secs(self.width as f64 / 1e9))
    }

    fn note_in(&self, words: &Words) -> String {
        let width = units::secs(self.width as f64 / 1e9);
        let mut parts = vec![words.with("lane-note-quantiles", &[("width", (&width).into())])];
        if self.is_estimated {
            parts.push(words.text("lane-note-estimated").to_owned());
        }
        if self.columns.iter().any(Column::is_few) {
            parts.push(words.text("lane-note-few").to_owned());
        }
        parts.join(" · ")
    }

    fn values(&self, shown: TimeRange) -> Option<ValueAxis> {
        let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
        for c in self.shown(shown).iter().filter(|c| c.is_drawn()) {
            for v in [c.p50, c.p99, c.mean] {
                lo = lo.min(v);
                hi = hi.max(v);
            }
        }
        let (min, max) = if lo <= hi {
            axis::padded(lo.min(hi * 0.2), hi)
        } else {
            (0.0, 1.0)
        };
        Some(ValueAxis {
            min,
            max,
            unit: self.unit.clone(),
            is_whole: false,
        })
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        if self.shown(shown).iter().any(Column::is_drawn) {
            return None;
        }
        Blank::around(self, shown)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let extra = u64::from(self.is_pointed_at(canvas))
            + 2 * u64::from(canvas.highlight.entities.is_empty());
        self.mesh
            .paint(canvas, extra, |mesh| self.build(canvas, mesh));
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.readings(t, ["mean", "count"])
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        self.readings(
            t,
            [
                words.text("lane-measure-mean"),
                words.text("lane-measure-count"),
            ],
        )
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let c = self.at(canvas.t(pos.x))?;
        let low = if c.p50.is_nan() { c.p99 } else { c.p50 };
        let inside = canvas.y(c.p99) - 6.0..=canvas.y(low) + 6.0;
        let series = match self.target.as_ref()? {
            Target::Sample { series, .. } => *series,
            other => return Some(other.clone()),
        };
        let known = self.document.snapshot.series.get(series)?;
        let near = axis::next_of(&known.t, c.middle(), false);
        inside.contains(&pos.y).then_some(Target::Sample {
            series,
            t: near.map(Timestamp::from_nanos),
        })
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let places = self
            .columns
            .iter()
            .filter(|c| c.is_drawn())
            .map(Column::middle);
        axis::next_in(places, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn gap(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let holes = self.columns.windows(2).filter_map(|w| match w {
            [a, b] if a.end < b.start => Some(a.end),
            _ => None,
        });
        axis::next_in(holes, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn outlier(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let values: Vec<f64> = self
            .columns
            .iter()
            .filter(|c| c.is_drawn())
            .map(|c| c.p99)
            .collect();
        let centre = median(&values)?;
        let width = (axis::OUTLIER_MADS * mad(&values)?).max(centre * 0.05);
        let far = self
            .columns
            .iter()
            .filter(|c| c.is_drawn() && (c.p99 - centre).abs() > width)
            .map(Column::middle);
        axis::next_in(far, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(self.twin.clone())
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        self.rows(range, ["max", "median", "mean"])
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        let names = [
            "lane-measure-max",
            "lane-measure-median",
            "lane-measure-mean",
        ];
        self.rows(range, names.map(|name| words.text(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(start: i64, count: f64) -> Column {
        Column {
            start,
            end: start + 10,
            p50: 1.0,
            p99: 2.0,
            mean: 1.2,
            count: Some(count),
            is_ceiling: false,
        }
    }

    #[test]
    fn parts_of_one_confidence_meet_and_cover_the_run() {
        let run: Vec<Column> = (0..)
            .zip([100.0, 100.0, 6.0, 7.0, 100.0])
            .map(|(k, n)| column(k * 10, n))
            .collect();
        let parts = by_confidence(&run);
        let spans: Vec<(i64, i64)> = parts
            .iter()
            .map(|p| (p[0].start, p[p.len() - 1].start))
            .collect();
        assert_eq!(spans, [(0, 10), (10, 40), (40, 40)]);
    }
}
