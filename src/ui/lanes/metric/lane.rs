//! A prepared lane of lines: what it says.

use std::sync::{Arc, Mutex};

use super::curve::{Curve, Node};
use super::measure::{self, Measured};
use super::{draw, is_instant};
use crate::base::stats::{mad, median};
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::session::analysis::Document;
use crate::session::target::Target;
use crate::store::Snapshot;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::MeshCache;
use crate::ui::lanes::{Blank, Lane, Reading, Twin, ValueAxis, axis};
use crate::ui::words::Words;

/// One series of a lane.
#[derive(Debug)]
pub(super) struct Line {
    /// Index of the series.
    pub(super) series: usize,
    pub(super) curve: Arc<Curve>,
    pub(super) nodes: Vec<Node>,
    /// What tells it from the others.
    pub(super) name: String,
    pub(super) unit: String,
    /// Of an overlay with another unit: the range of its own that fills the lane, as smallest and largest.
    pub(super) own_range: Option<(f64, f64)>,
    /// Where samples are missing, in nanoseconds.
    pub(super) gaps: Vec<(i64, i64)>,
}

/// What is not drawn by itself.
#[derive(Debug)]
pub(super) struct Others {
    pub(super) count: usize,
    pub(super) looked_at: usize,
    pub(super) nodes: Vec<Node>,
}

/// Lines, ready to be drawn.
#[derive(Debug)]
pub(super) struct MetricLane {
    pub(super) document: Arc<Document>,
    pub(super) lines: Vec<Line>,
    pub(super) others: Option<Others>,
    pub(super) step_nanos: i64,
    /// Whether every value on the lane's own axis is a whole number.
    pub(super) is_whole: bool,
    pub(super) mesh: MeshCache,
    pub(super) measured: Mutex<Option<(TimeRange, Vec<Measured>)>>,
}

impl Line {
    /// Holes between samples, and the silence at the end when others go on.
    pub(super) fn find_gaps(&mut self, snapshot: &Snapshot, end: i64) {
        let Some(series) = snapshot.series.get(self.series) else {
            return;
        };
        if is_instant(series.sampling) {
            return;
        }
        let step = if self.curve.longest_nanos == i64::MAX {
            i64::MAX
        } else {
            (self.curve.longest_nanos as f64 / crate::store::histogram::GAP_INTERVALS) as i64
        };
        for pair in self.nodes.windows(2) {
            let [before, after] = pair else { continue };
            let apart = after.t.saturating_sub(before.t);
            if !after.is_joined && apart > self.curve.longest_nanos.max(1) {
                self.gaps.push((before.t.saturating_add(step), after.t));
            }
        }
        let last = series.t.last().copied().unwrap_or(end);
        let is_last_here = self
            .nodes
            .last()
            .is_some_and(|n| n.t >= last.saturating_sub(step));
        if is_last_here && end.saturating_sub(last) > self.curve.longest_nanos {
            self.gaps.push((last.saturating_add(step), end));
        }
        self.gaps.retain(|(from, to)| from < to);
    }

    /// Where a value stands on the axis of the lane.
    pub(super) fn placed(&self, value: f64, (min, max): (f64, f64)) -> f64 {
        match self.own_range {
            Some((own_min, own_max)) if own_max > own_min => {
                min + (value - own_min) / (own_max - own_min) * (max - min)
            }
            Some(_) => f64::midpoint(min, max),
            None => value,
        }
    }

    /// Smallest and largest of what is shown.
    fn extent(&self, shown: TimeRange) -> Option<(f64, f64)> {
        extent(&self.nodes, shown)
    }

    /// The sample that stands at an instant: the last one before it that still holds.
    fn sample_at(&self, document: &Document, t: Timestamp) -> Option<(Timestamp, f64)> {
        let series = document.snapshot.series.get(self.series)?;
        let at = series
            .t
            .partition_point(|s| *s <= t.nanos())
            .checked_sub(1)?;
        let when = *series.t.get(at)?;
        let value = *self.curve.values(series).get(at)?;
        let is_fresh = t.nanos().saturating_sub(when) <= self.curve.longest_nanos;
        (is_fresh && !value.is_nan()).then_some((Timestamp::from_nanos(when), value))
    }
}

/// Smallest and largest of the nodes inside.
fn extent(nodes: &[Node], shown: TimeRange) -> Option<(f64, f64)> {
    let from = nodes.partition_point(|n| n.t < shown.start.nanos());
    let to = nodes.partition_point(|n| n.t < shown.end.nanos());
    let mut all = (f64::INFINITY, f64::NEG_INFINITY);
    for node in nodes.get(from..to.max(from)).unwrap_or_default() {
        if node.lo < all.0 {
            all.0 = node.lo;
        }
        if node.hi > all.1 {
            all.1 = node.hi;
        }
    }
    (all.0 <= all.1).then_some(all)
}

/// Gives every overlay with a unit of its own the range that it fills the lane with.
pub(super) fn fit_foreign(lines: &mut [Line]) {
    let mut ranges: std::collections::BTreeMap<String, (f64, f64)> = Default::default();
    for line in lines.iter().filter(|l| l.own_range.is_some()) {
        if let Some((lo, hi)) = extent(&line.nodes, TimeRange::ALL) {
            let range = ranges.entry(line.unit.clone()).or_insert((lo, hi));
            *range = (range.0.min(lo), range.1.max(hi));
        }
    }
    for line in lines.iter_mut().filter(|l| l.own_range.is_some()) {
        line.own_range = ranges.get(&line.unit).copied().or(Some((0.0, 0.0)));
    }
}

impl MetricLane {
    fn snapshot(&self) -> &Snapshot {
        &self.document.snapshot
    }

    /// Lines on the lane's own axis.
    fn own(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|l| l.own_range.is_none())
    }

    /// Why none of the lines has anything to draw anywhere.
    fn undrawable(&self) -> Option<Blank> {
        let known = || {
            let all = self.lines.iter();
            all.filter_map(|l| Some((self.snapshot().series.get(l.series)?, &*l.curve)))
        };
        if self.others.is_some() || known().any(|(s, c)| c.has_values(s)) {
            return None;
        }
        let has_numbers = |s: &crate::model::series::Series| s.v.iter().any(|v| v.is_finite());
        if !known().any(|(s, _)| has_numbers(s)) {
            return Some(Blank::NoValues);
        }
        let is_one = known().all(|(s, _)| s.finite().count() <= 1);
        Some(if is_one {
            Blank::OneSample
        } else {
            Blank::NoRate
        })
    }

    fn quoted(line: &Line, value: f64) -> String {
        axis::value(value, &line.unit)
    }

    fn readings(&self, t: Timestamp, gap: &str, own_scale: &str) -> Vec<Reading> {
        let all = self.lines.iter().enumerate().map(|(at, line)| {
            let sample = line.sample_at(&self.document, t);
            let mut value = sample.map_or_else(|| gap.to_owned(), |(_, v)| Self::quoted(line, v));
            if line.own_range.is_some() && !own_scale.is_empty() {
                value = format!("{value} ({own_scale})");
            }
            Reading {
                name: line.name.clone(),
                value,
                colour: Some(at),
                target: sample.map(|(when, _)| Target::Sample {
                    series: line.series,
                    t: Some(when),
                }),
            }
        });
        all.collect()
    }

    fn measured(&self, range: TimeRange) -> Vec<Measured> {
        let make = || {
            let snapshot = self.snapshot();
            let lines = self.lines.iter().take(measure::MOST);
            lines
                .filter_map(|l| measure::of(snapshot, l, range))
                .collect::<Vec<_>>()
        };
        match self.measured.try_lock() {
            Ok(mut kept) => match kept.as_ref() {
                Some((known, measured)) if *known == range => measured.clone(),
                _ => {
                    let made = make();
                    *kept = Some((range, made.clone()));
                    made
                }
            },
            Err(_) => make(),
        }
    }
}

impl Lane for MetricLane {
    fn note(&self) -> String {
        let step = units::secs(self.step_nanos as f64 / 1e9);
        format!("{} · {step}", self.lines.len())
    }

    fn note_in(&self, words: &Words) -> String {
        let mut parts = Vec::new();
        if self.lines.len() > 1 || self.others.is_some() {
            let n = self.lines.len();
            match &self.others {
                Some(others) => {
                    let all = n + others.count;
                    parts.push(words.with(
                        "lane-note-lines-of",
                        &[("n", n.into()), ("all", all.into())],
                    ));
                    if others.looked_at < others.count {
                        let n = others.looked_at;
                        parts.push(words.with("lane-note-others-cut", &[("n", n.into())]));
                    }
                }
                None => parts.push(words.with("lane-note-lines", &[("n", n.into())])),
            }
        }
        if self.lines.iter().any(|l| l.curve.is_rate()) {
            parts.push(words.text("lane-note-rate").to_owned());
            let resets: usize = self.lines.iter().map(|l| l.curve.resets).sum();
            if resets > 0 {
                parts.push(words.with("lane-note-resets", &[("n", resets.into())]));
            }
        }
        if self.lines.iter().any(|l| l.curve.is_held) {
            parts.push(words.text("lane-note-held").to_owned());
        }
        if self.lines.iter().any(|l| l.own_range.is_some()) {
            parts.push(words.text("lane-note-own-scale").to_owned());
        }
        let is_thinned = self
            .lines
            .iter()
            .any(|l| l.nodes.iter().any(|n| !n.is_sample));
        if is_thinned {
            let step = units::secs(self.step_nanos as f64 / 1e9);
            parts.push(words.with("lane-note-step", &[("step", (&step).into())]));
        }
        parts.join(" · ")
    }

    fn values(&self, shown: TimeRange) -> Option<ValueAxis> {
        let mut all: Option<(f64, f64)> = None;
        let mut join = |extent: Option<(f64, f64)>| {
            if let Some((lo, hi)) = extent {
                let known = all.get_or_insert((lo, hi));
                *known = (known.0.min(lo), known.1.max(hi));
            }
        };
        for line in self.own() {
            join(line.extent(shown));
        }
        if let Some(others) = &self.others {
            join(extent(&others.nodes, shown));
        }
        let unit = self
            .own()
            .next()
            .map(|l| l.unit.clone())
            .unwrap_or_default();
        let (lo, hi) = all.unwrap_or((0.0, 1.0));
        let (min, max) = axis::padded(lo, hi);
        Some(ValueAxis {
            min,
            max,
            unit,
            is_whole: self.is_whole,
        })
    }

    fn head(&self, height: f32) -> f32 {
        let is_named = self.lines.len() > 1 && height >= draw::LEGEND_FROM;
        if is_named { draw::LEGEND } else { 0.0 }
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        let is_drawn = |nodes: &[Node]| {
            let (from, to) = (shown.start.nanos(), shown.end.nanos());
            let first = nodes.partition_point(|n| n.t < from);
            let inside = nodes.iter().skip(first).take_while(|n| n.t < to);
            let crosses = nodes.get(first).is_some_and(|n| n.is_joined);
            let is_told = |n: &Node| !n.lo.is_nan() || n.beyond != 0;
            crosses || inside.into_iter().any(is_told)
        };
        let others = self.others.iter().map(|o| o.nodes.as_slice());
        let all = self.lines.iter().map(|l| l.nodes.as_slice());
        // What was evaluated on a grid holds until the next step.
        let is_held =
            |l: &Line| l.curve.is_held && l.sample_at(&self.document, shown.start).is_some();
        if all.chain(others).any(is_drawn) || self.lines.iter().any(is_held) {
            return None;
        }
        self.undrawable().or_else(|| {
            let places = |is_forward: bool| {
                let from = if is_forward {
                    shown.end.plus_nanos(-1)
                } else {
                    shown.start
                };
                let found = self.lines.iter().filter_map(|l| {
                    let series = self.snapshot().series.get(l.series)?;
                    l.curve.next_drawn(series, from.nanos(), is_forward)
                });
                let found = if is_forward { found.min() } else { found.max() };
                found.map(Timestamp::from_nanos)
            };
            let (before, after) = (places(false), places(true));
            (before.is_some() || after.is_some()).then_some(Blank::Elsewhere { before, after })
        })
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        draw::paint(self, canvas);
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.readings(t, "-", "")
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        self.readings(
            t,
            words.text("lane-no-sample"),
            words.text("lane-own-scale"),
        )
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: egui::Pos2) -> Option<Target> {
        let at = draw::nearest(self, canvas, pos)?;
        let line = self.lines.get(at)?;
        let series = self.snapshot().series.get(line.series)?;
        let t = canvas.t(pos.x).nanos();
        let after = series.t.partition_point(|s| *s < t);
        let near = [after.checked_sub(1), Some(after)]
            .into_iter()
            .flatten()
            .filter_map(|ix| series.t.get(ix))
            .min_by_key(|s| s.abs_diff(t))?;
        Some(Target::Sample {
            series: line.series,
            t: Some(Timestamp::from_nanos(*near)),
        })
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let places = self.lines.iter().filter_map(|line| {
            let series = self.snapshot().series.get(line.series)?;
            axis::next_of(&series.t, from.nanos(), is_forward)
        });
        let next = if is_forward {
            places.min()
        } else {
            places.max()
        };
        next.map(Timestamp::from_nanos)
    }

    fn gap(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let starts = self
            .lines
            .iter()
            .flat_map(|l| &l.gaps)
            .map(|(start, _)| *start);
        axis::next_in(starts, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn outlier(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let far = self.lines.iter().flat_map(|line| {
            let values: Vec<f64> = line
                .nodes
                .iter()
                .map(|n| n.hi)
                .filter(|v| v.is_finite())
                .collect();
            let centre = median(&values).unwrap_or(0.0);
            let width = axis::OUTLIER_MADS * mad(&values).unwrap_or(f64::INFINITY);
            // Where more than half of the values are equal, whatever differs clearly is far.
            let width = width.max(centre.abs() * 1e-2).max(f64::MIN_POSITIVE);
            line.nodes
                .iter()
                .filter(move |n| (n.hi - centre).abs() > width || (n.lo - centre).abs() > width)
                .map(|n| n.t)
        });
        axis::next_in(far, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        let series = self.snapshot().series.get(self.lines.first()?.series)?;
        Some(Twin {
            table: "series",
            filter: series.metric.to_string(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        let names = measure::Names::plain();
        measure::rows(&self.measured(range), &names)
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        let names = measure::Names::of(words);
        measure::rows(&self.measured(range), &names)
    }
}
