//! A prepared lane of dots: drawing one by one or as density, picking, reading.

mod shapes;

use std::sync::Arc;

use egui::{Color32, FontId, Mesh, Pos2, Rect, pos2, vec2};

use crate::base::stats::quantile;
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::session::analysis::Document;
use crate::session::target::Target;
use crate::ui::lanes::canvas::{Canvas, Scale};
use crate::ui::lanes::cloud::{Cloud, part};
use crate::ui::lanes::dots::shapes::{Cells, DNS_RUNG, Place, dashes, ring, rungs};
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Blank, Lane, Reading, Twin, ValueAxis, axis, marks};
use crate::ui::theme;
use crate::ui::words::Words;

/// Dots on screen that are drawn round; of more each is a small square.
const ROUND: usize = 2_500;
/// More dots on screen than this are drawn as density.
const SINGLE: usize = 12_000;
/// More errors on screen than this are drawn as density.
const SINGLE_ERRORS: usize = 2_500;
/// How far a name keeps from the middle of a dot.
const DOT_REACH: f32 = 7.0;
/// Radius of a dot.
const RADIUS: f32 = 1.7;
/// How near the pointer must be to a dot.
const NEAR: f32 = 8.0;
/// Most dots that a box gives.
const MOST_PICKED: usize = 10_000;
/// A connect from here on is an outlier (`logs.md` §3.3).
const SLOW_CONNECT_MS: f32 = 500.0;
/// What a cursor counts around itself, in nanoseconds.
const AROUND: i64 = 500_000_000;

/// What a lane of dots adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Nothing.
    Plain,
    /// Rungs of timers, with what stands on them larger.
    Rungs,
}

/// Dots, ready to be drawn.
#[derive(Debug)]
pub(super) struct DotLane {
    document: Arc<Document>,
    cloud: Arc<Cloud>,
    style: Style,
    is_requests: bool,
    axis: (f64, f64),
    rungs: Vec<f32>,
    /// Indices of the dots that are far from the rest, in order.
    far: Vec<u32>,
    mesh: MeshCache,
}

impl DotLane {
    pub(super) fn new(
        document: Arc<Document>,
        cloud: Arc<Cloud>,
        style: Style,
        is_requests: bool,
    ) -> Self {
        // The axis holds all dots, not only those on screen, so that nothing jumps while the time moves.
        let (lo, hi) = cloud.extent(0..cloud.len()).unwrap_or((1.0, 1_000.0));
        let rungs = match style {
            Style::Plain => Vec::new(),
            Style::Rungs => rungs(&cloud.ms),
        };
        let far_ms = match style {
            Style::Plain => cloud.outlier_ms,
            Style::Rungs => SLOW_CONNECT_MS.min(cloud.outlier_ms.max(100.0)),
        };
        let far = (0u32..)
            .zip(&cloud.ms)
            .filter(|(_, ms)| **ms >= far_ms)
            .map(|(at, _)| at)
            .collect();
        Self {
            document,
            cloud,
            style,
            is_requests,
            axis: axis::padded_log(lo, hi),
            rungs,
            far,
            mesh: MeshCache::default(),
        }
    }

    fn scale(&self, canvas: &Canvas<'_>) -> Scale {
        canvas.scale.unwrap_or(Scale {
            min: self.axis.0,
            max: self.axis.1,
            is_log: true,
        })
    }

    /// Indices of the dots that the picked finding points at.
    fn highlighted(&self, canvas: &Canvas<'_>) -> Vec<usize> {
        let snapshot = &self.document.snapshot;
        let mut found = Vec::new();
        for target in &canvas.highlight.targets {
            let Some(t) = target.time(snapshot) else {
                continue;
            };
            let from = self.cloud.t.partition_point(|s| *s < t.nanos());
            let same = self.cloud.t.iter().enumerate().skip(from);
            for (at, _) in same.take_while(|(_, s)| **s == t.nanos()) {
                if self.cloud.target(at).as_ref() == Some(target) {
                    found.push(at);
                }
            }
        }
        found
    }

    fn build(&self, canvas: &Canvas<'_>, bright: &[usize], mesh: &mut Mesh) {
        let place = Place::of(canvas, self.scale(canvas));
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        let shown = self.cloud.within(canvas.shown);
        let tokens = canvas.tokens;
        for rung in &self.rungs {
            let y = place.y_ms(*rung);
            dashes(
                mesh,
                canvas.rect,
                y,
                tokens.text_faint.gamma_multiply(0.8),
                feather,
            );
        }
        let dim = if bright.is_empty() { 1.0 } else { 0.55 };
        let ink = tokens.series(0).gamma_multiply(dim);
        let errors = part(&self.cloud.errors, &shown);
        let goods = shown.len() - errors.len();
        if goods > SINGLE {
            let warm = tokens.text.gamma_multiply(dim);
            let mut cells = Cells::new(&place, canvas.rect);
            self.count(&place, shown.clone(), &mut cells);
            cells.draw(&place, (ink, warm), mesh);
        } else {
            for at in shown.clone().filter(|at| !self.is_error(*at)) {
                self.one(&place, at, goods <= ROUND, ink, feather, mesh);
            }
        }
        // What is far stays visible in any crowd.
        if self.style == Style::Rungs {
            let strength = if bright.is_empty() { 1.0 } else { 0.8 };
            let ink = tokens.series(1).gamma_multiply(strength);
            let far = part(&self.far, &shown).iter();
            let far = far.map(|at| *at as usize).filter(|at| !self.is_error(*at));
            for at in far.take(SINGLE_ERRORS) {
                mesh::diamond(mesh, self.pos(&place, at), 3.4, ink, feather);
            }
        }
        let strength = if bright.is_empty() { 1.0 } else { 0.75 };
        let ink = tokens.error.gamma_multiply(strength);
        if errors.len() > SINGLE_ERRORS {
            let mut cells = Cells::new(&place, canvas.rect);
            for at in errors {
                let at = *at as usize;
                let t = self.cloud.t.get(at).copied().unwrap_or(0);
                cells.add(t, self.y(&place, at));
            }
            cells.draw(&place, (ink, tokens.text), mesh);
        } else {
            for at in errors {
                mesh::cross(mesh, self.pos(&place, *at as usize), 2.4, ink, feather);
            }
        }
        for at in bright {
            ring(mesh, self.pos(&place, *at), tokens.highlight, feather);
        }
    }

    fn is_error(&self, at: usize) -> bool {
        self.cloud.is_error.get(at).copied().unwrap_or(false)
    }

    fn pos(&self, place: &Place, at: usize) -> Pos2 {
        let t = self.cloud.t.get(at).copied().unwrap_or(0);
        pos2(place.x(t), self.y(place, at))
    }

    fn y(&self, place: &Place, at: usize) -> f32 {
        if place.is_log {
            place.y_ln(self.cloud.ln.get(at).copied().unwrap_or(0.0))
        } else {
            place.y_ms(self.cloud.ms.get(at).copied().unwrap_or(0.0))
        }
    }

    fn one(
        &self,
        place: &Place,
        at: usize,
        is_round: bool,
        ink: Color32,
        feather: f32,
        mesh: &mut Mesh,
    ) {
        let pos = self.pos(place, at);
        if is_round {
            mesh::dot(mesh, pos, RADIUS, ink.gamma_multiply(0.85), feather);
        } else {
            let square = Rect::from_center_size(pos, vec2(2.0, 2.0));
            mesh::bar(mesh, square, ink.gamma_multiply(0.7));
        }
    }

    /// Counts the dots that did not fail.
    fn count(&self, place: &Place, shown: std::ops::Range<usize>, cells: &mut Cells) {
        let values = if place.is_log {
            &self.cloud.ln
        } else {
            &self.cloud.ms
        };
        let (Some(t), Some(v), Some(e)) = (
            self.cloud.t.get(shown.clone()),
            values.get(shown.clone()),
            self.cloud.is_error.get(shown),
        ) else {
            return;
        };
        // Dots are in order of time: the column is looked up once for all that stand in it.
        let mut from = 0;
        while let Some(first) = t.get(from) {
            let (end, counts) = cells.column(*first);
            let rest = t.get(from..).unwrap_or_default();
            let to = from + rest.partition_point(|t| *t < end).max(1);
            let inside = v.get(from..to).zip(e.get(from..to));
            counts.add_all(inside.unwrap_or_default(), place);
            from = to;
        }
    }

    /// The names of the rungs, each where no dot stands, as far to the right as can be; a short name where there is less room, and
    /// none where there is no room at all.
    fn rung_labels(&self, canvas: &Canvas<'_>) {
        let place = Place::of(canvas, self.scale(canvas));
        let font = FontId::monospace(theme::SMALL - 1.5);
        let far = part(&self.far, &self.cloud.within(canvas.shown));
        let dots: Vec<Pos2> = far
            .iter()
            .map(|at| self.pos(&place, *at as usize))
            .collect();
        let mut plates: Vec<Rect> = Vec::new();
        for rung in &self.rungs {
            let y = place.y_ms(*rung);
            let is_dns = (*rung - DNS_RUNG).abs() < 1.0;
            let key = if is_dns {
                "lane-rung-dns"
            } else {
                "lane-rung-syn"
            };
            let time = canvas.words.units().ms(f64::from(*rung));
            let long = canvas.words.with(key, &[("time", (&time).into())]);
            let ink = canvas.tokens.text_dim;
            for text in [long, time] {
                let galley = canvas.painter.layout_no_wrap(text, font.clone(), ink);
                let size = galley.size() + vec2(8.0, -2.0);
                let Some(plate) = rung_place(canvas.rect, y, size, &dots, &plates) else {
                    continue;
                };
                let corner = plate.center() - galley.size() / 2.0;
                plates.push(plate);
                canvas.painter.rect_filled(plate, 2.0, canvas.tokens.ground);
                canvas.painter.galley(corner, galley, ink);
                break;
            }
        }
    }

    fn values_of(&self, range: TimeRange) -> Vec<f64> {
        let inside = self.cloud.within(range);
        let ms = self.cloud.ms.get(inside).unwrap_or_default();
        // Of very many every so many are enough for quantiles; the largest is looked for among all.
        let stride = ms.len() / 200_000 + 1;
        ms.iter().step_by(stride).map(|v| f64::from(*v)).collect()
    }

    fn rows(&self, range: TimeRange, names: &[&str; 5]) -> Vec<(String, String)> {
        let inside = self.cloud.within(range);
        let values = self.values_of(range);
        if values.is_empty() {
            return vec![(names[0].to_owned(), "0".to_owned())];
        }
        let errors = part(&self.cloud.errors, &inside).len();
        let all = self.cloud.ms.get(inside.clone()).unwrap_or_default();
        let max = all.iter().copied().fold(0.0f32, f32::max);
        let mut rows = vec![
            (names[0].to_owned(), units::number(inside.len() as f64)),
            (names[1].to_owned(), units::number(errors as f64)),
        ];
        for (name, q) in [("p50", 0.5), ("p99", 0.99)] {
            rows.push((
                name.to_owned(),
                units::ms(quantile(&values, q).unwrap_or(0.0)),
            ));
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        rows.push((names[2].to_owned(), units::ms(mean)));
        rows.push((names[3].to_owned(), units::ms(f64::from(max))));
        if self.style == Style::Rungs {
            let slow = part(&self.far, &inside).len();
            rows.push((names[4].to_owned(), units::number(slow as f64)));
        }
        rows
    }

    /// What a cursor finds around itself: how many, and the slowest of them.
    fn around(&self, t: Timestamp) -> Option<(usize, usize)> {
        let range = TimeRange::new(t.plus_nanos(-AROUND), t.plus_nanos(AROUND));
        let inside = self.cloud.within(range);
        let count = inside.len();
        let value = |at: &usize| self.cloud.ms.get(*at).copied().unwrap_or(0.0);
        let slowest = inside.max_by(|a, b| value(a).total_cmp(&value(b)))?;
        Some((count, slowest))
    }

    fn reading(&self, t: Timestamp, name: impl Fn(usize) -> String) -> Vec<Reading> {
        let Some((count, slowest)) = self.around(t) else {
            return Vec::new();
        };
        let ms = self.cloud.ms.get(slowest).copied().unwrap_or(0.0);
        vec![Reading {
            name: name(count),
            value: units::ms(f64::from(ms)),
            colour: Some(0),
            target: self.cloud.target(slowest),
        }]
    }
}

/// Where the name of a rung lies on neither dots nor the names of others.
fn rung_place(
    area: Rect,
    y: f32,
    size: egui::Vec2,
    dots: &[Pos2],
    plates: &[Rect],
) -> Option<Rect> {
    let half = size / 2.0;
    // Names stay inside the lane, a little off their rung where it runs along the edge.
    let y = y.clamp(
        area.top() + half.y,
        (area.bottom() - half.y).max(area.top() + half.y),
    );
    let near = dots.iter().filter(|p| (p.y - y).abs() < half.y + DOT_REACH);
    let mut taken: Vec<f32> = near
        .flat_map(|p| [p.x - DOT_REACH, p.x + DOT_REACH])
        .collect();
    for plate in plates
        .iter()
        .filter(|p| (p.center().y - y).abs() < p.height() / 2.0 + half.y)
    {
        let steps = 0..=(plate.width() / half.x.max(1.0)) as usize + 1;
        let x = |k: usize| (plate.left() + k as f32 * half.x).min(plate.right());
        taken.extend(steps.map(x));
        taken.push(plate.right());
    }
    taken.sort_by(f32::total_cmp);
    let left = marks::free_place(&taken, size.x, area.left() + 4.0, area.right() - 4.0)?;
    Some(Rect::from_min_size(pos2(left, y - half.y), size))
}

impl Lane for DotLane {
    fn note(&self) -> String {
        units::number(self.cloud.len() as f64)
    }

    fn note_in(&self, words: &Words) -> String {
        let n = self.cloud.len();
        let key = match (self.is_requests, self.style) {
            (true, Style::Plain) => "lane-note-requests",
            (false, Style::Plain) => "lane-note-traces",
            (_, Style::Rungs) => "lane-note-connects",
        };
        let number = units::number(n as f64);
        let mut parts = vec![words.with(key, &[("n", (&number).into())])];
        let errors = self.cloud.errors.len();
        if errors > 0 {
            let number = units::number(errors as f64);
            parts.push(words.with("lane-note-errors", &[("n", (&number).into())]));
        }
        if self.cloud.without > 0 && self.style == Style::Plain {
            let number = units::number(self.cloud.without as f64);
            parts.push(words.with("lane-note-without", &[("n", (&number).into())]));
        }
        parts.join(" · ")
    }

    fn values(&self, _shown: TimeRange) -> Option<ValueAxis> {
        Some(ValueAxis {
            min: self.axis.0,
            max: self.axis.1,
            unit: "ms".to_owned(),
            is_whole: false,
        })
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        if !self.cloud.within(shown).is_empty() {
            return None;
        }
        Blank::around(self, shown)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        if self.blank(canvas.shown).is_some() {
            // Rungs without an axis and without dots say nothing.
            return;
        }
        let bright = self.highlighted(canvas);
        let extra = mesh::digest(bright.iter().map(|at| *at as u64));
        self.mesh
            .paint(canvas, extra, |mesh| self.build(canvas, &bright, mesh));
        self.rung_labels(canvas);
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.reading(t, |n| units::number(n as f64))
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        self.reading(t, |n| words.with("lane-slowest-of", &[("n", n.into())]))
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let place = Place::of(canvas, self.scale(canvas));
        let range = TimeRange::new(canvas.t(pos.x - NEAR), canvas.t(pos.x + NEAR).plus_nanos(1));
        let far = |at: &usize| self.pos(&place, *at).distance_sq(pos);
        let nearest = self
            .cloud
            .within(range)
            .min_by(|a, b| far(a).total_cmp(&far(b)))?;
        if far(&nearest) <= NEAR * NEAR {
            self.cloud.target(nearest)
        } else {
            None
        }
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: Rect) -> Vec<Target> {
        let place = Place::of(canvas, self.scale(canvas));
        let range = TimeRange::new(canvas.t(area.left()), canvas.t(area.right()).plus_nanos(1));
        self.cloud
            .within(range)
            .filter(|at| area.y_range().contains(self.y(&place, *at)))
            .filter_map(|at| self.cloud.target(at))
            .take(MOST_PICKED)
            .collect()
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        axis::next_of(&self.cloud.t, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn outlier(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let far = self.far.iter();
        let places = far.filter_map(|at| self.cloud.t.get(*at as usize).copied());
        axis::next_in(places, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        let table = if self.is_requests {
            "requests"
        } else {
            "spans"
        };
        Some(Twin {
            table,
            filter: String::new(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        self.rows(range, &["count", "errors", "mean", "max", "outliers"])
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        let names = [
            words.text("lane-measure-count"),
            words.text("lane-measure-errors"),
            words.text("lane-measure-mean"),
            words.text("lane-measure-max"),
            words.text("lane-measure-outliers"),
        ];
        self.rows(range, &names)
    }
}

#[cfg(test)]
mod tests;
