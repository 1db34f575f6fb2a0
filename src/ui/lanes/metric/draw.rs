//! How lines are drawn: stretches of single samples as lines with soft edges, stretches of columns as strips from the smallest to the
//! largest value, lone samples as dots, missing ones as hatching.
//!
//! A strip has two vertices a pixel column, a line four a sample and at most half as many samples as columns, so no zoom costs more
//! than two vertices a pixel.

use egui::{Align2, Color32, FontId, Mesh, Pos2, Rect, pos2, vec2};

use super::curve::Node;
use super::lane::{Line, MetricLane, Others};
use crate::ui::lanes::canvas::{Canvas, Scale};
use crate::ui::lanes::mesh::{self, LINE};
use crate::ui::theme;

/// Width of a line that the picked finding points at.
const BRIGHT_LINE: f32 = 2.4;
/// What is left of lines beside those.
const DIM: f32 = 0.4;
/// A lane of this height has room for the names of its lines.
pub(super) const LEGEND_FROM: f32 = 52.0;
/// Height of their row, above the lines.
pub(super) const LEGEND: f32 = 16.0;
/// Longest name in it, in characters.
const LEGEND_NAME: usize = 34;
/// How near the pointer must be to a line, in points.
const NEAR: f32 = 10.0;

/// Draws the lane.
pub(super) fn paint(lane: &MetricLane, canvas: &Canvas<'_>) {
    let bright: Vec<bool> = lane
        .lines
        .iter()
        .map(|l| canvas.highlight.series.contains(&l.series))
        .collect();
    let extra = mesh::digest(bright.iter().map(|b| u64::from(*b)));
    lane.mesh
        .paint(canvas, extra, |mesh| build(lane, canvas, &bright, mesh));
    legend(lane, canvas, &bright);
}

/// From nanoseconds and values to points, without a division for each.
struct Place {
    left: f32,
    start: i64,
    per_nano: f64,
    bottom: f32,
    height: f64,
    scale: Scale,
    per_value: f64,
}

impl Place {
    fn of(canvas: &Canvas<'_>, scale: Scale) -> Self {
        Self {
            left: canvas.rect.left(),
            start: canvas.shown.start.nanos(),
            per_nano: f64::from(canvas.rect.width()) / canvas.shown.nanos().max(1) as f64,
            bottom: canvas.rect.bottom(),
            height: f64::from(canvas.rect.height()),
            scale,
            per_value: f64::from(canvas.rect.height())
                / (scale.max - scale.min).max(f64::MIN_POSITIVE),
        }
    }

    fn x(&self, t: i64) -> f32 {
        self.left + (t.saturating_sub(self.start) as f64 * self.per_nano) as f32
    }

    fn y(&self, value: f64) -> f32 {
        let up = if self.scale.is_log {
            self.scale.share(value) * self.height
        } else {
            ((value - self.scale.min) * self.per_value).clamp(-1e5, 1e5)
        };
        self.bottom - up as f32
    }
}

fn scale_of(lane: &MetricLane, canvas: &Canvas<'_>) -> Scale {
    use crate::ui::lanes::Lane as _;
    canvas.scale.unwrap_or_else(|| {
        let axis = lane.values(canvas.shown);
        Scale {
            min: axis.as_ref().map_or(0.0, |a| a.min),
            max: axis.as_ref().map_or(1.0, |a| a.max),
            is_log: false,
        }
    })
}

/// The nodes on screen and one more at each side.
fn shown<'a>(nodes: &'a [Node], canvas: &Canvas<'_>) -> &'a [Node] {
    let from = nodes
        .partition_point(|n| n.t < canvas.shown.start.nanos())
        .saturating_sub(1);
    let to = nodes.partition_point(|n| n.t < canvas.shown.end.nanos()) + 1;
    nodes.get(from..to.min(nodes.len())).unwrap_or_default()
}

fn build(lane: &MetricLane, canvas: &Canvas<'_>, bright: &[bool], mesh: &mut Mesh) {
    let pixel = 1.0 / canvas.painter.ctx().pixels_per_point();
    let place = Place::of(canvas, scale_of(lane, canvas));
    gaps(lane, canvas, &place, pixel, mesh);
    if let Some(others) = &lane.others {
        band_of_others(others, canvas, &place, mesh);
    }
    let is_any_bright = bright.iter().any(|b| *b);
    // Bright lines last, so that nothing lies over them.
    for is_bright in [false, true] {
        for (at, line) in lane.lines.iter().enumerate() {
            if bright.get(at).copied().unwrap_or(false) != is_bright {
                continue;
            }
            let mut pen = Pen {
                color: canvas.tokens.series(at),
                width: if is_bright { BRIGHT_LINE } else { LINE },
                pixel,
                columns_merged: merged(lane.step_nanos, &place, pixel),
                step: lane.step_nanos.max(1),
            };
            if is_any_bright && !is_bright {
                pen.color = pen.color.gamma_multiply(DIM);
            }
            draw_line(
                line,
                shown(&line.nodes, canvas),
                &place,
                &pen,
                canvas.rect,
                mesh,
            );
        }
    }
}

/// How many columns make one strip of at least a pixel.
fn merged(step: i64, place: &Place, pixel: f32) -> i64 {
    let wide = step as f64 * place.per_nano;
    let need = f64::from(pixel) * 0.99;
    if wide >= need {
        1
    } else {
        (need / wide.max(1e-9)).ceil().min(1e6) as i64
    }
}

struct Pen {
    color: Color32,
    width: f32,
    pixel: f32,
    columns_merged: i64,
    step: i64,
}

/// A place of a stretch, on screen.
#[derive(Clone, Copy)]
struct Spot {
    x: f32,
    top: f32,
    bottom: f32,
}

fn draw_line(line: &Line, nodes: &[Node], place: &Place, pen: &Pen, area: Rect, mesh: &mut Mesh) {
    let axis = (place.scale.min, place.scale.max);
    let y = |value: f64| place.y(line.placed(value, axis));
    let mut stretch: Vec<Spot> = Vec::with_capacity(nodes.len());
    let loose = if line.curve.is_held {
        Shape::Steps
    } else {
        Shape::Line
    };
    let mut shape = loose;
    let mut group = i64::MIN;
    let mut end_of_hold = None;
    for node in nodes {
        let x = place.x(node.t);
        if node.beyond != 0 {
            beyond(node.beyond, x, area, pen, mesh);
        }
        if !node.is_joined {
            flush(&mut stretch, shape, end_of_hold, pen, mesh);
            shape = loose;
            group = i64::MIN;
        }
        end_of_hold = None;
        if node.lo.is_nan() {
            continue;
        }
        let spot = Spot {
            x,
            top: y(node.hi),
            bottom: y(node.lo),
        };
        if !node.is_sample {
            shape = Shape::Strip;
        }
        let this = node
            .t
            .div_euclid(pen.step.saturating_mul(pen.columns_merged));
        match stretch.last_mut() {
            Some(last) if !node.is_sample && this == group => {
                last.top = last.top.min(spot.top);
                last.bottom = last.bottom.max(spot.bottom);
            }
            _ => stretch.push(spot),
        }
        group = if node.is_sample { i64::MIN } else { this };
        if line.curve.is_held
            && node.is_sample
            && line.curve.longest_nanos > 0
            && line.curve.longest_nanos < i64::MAX
        {
            let hold = line.curve.longest_nanos as f64 / crate::store::histogram::GAP_INTERVALS;
            end_of_hold = Some(place.x(node.t.saturating_add(hold as i64)));
        }
    }
    flush(&mut stretch, shape, end_of_hold, pen, mesh);
}

/// How a stretch hangs together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Single samples, joined straight.
    Line,
    /// Single samples, each held until the next.
    Steps,
    /// Columns of many samples.
    Strip,
}

fn flush(
    stretch: &mut Vec<Spot>,
    shape: Shape,
    end_of_hold: Option<f32>,
    pen: &Pen,
    mesh: &mut Mesh,
) {
    let half = pen.width / 2.0;
    match stretch.as_slice() {
        [] => {}
        [one] if end_of_hold.is_none() => {
            let middle = f32::midpoint(one.top, one.bottom);
            if one.bottom - one.top < 2.0 {
                mesh::dot(
                    mesh,
                    pos2(one.x, middle),
                    pen.width * 1.1,
                    pen.color,
                    pen.pixel,
                );
            } else {
                let rect = Rect::from_min_max(
                    pos2(one.x - half, one.top - half),
                    pos2(one.x + half, one.bottom + half),
                );
                mesh::bar(mesh, rect, pen.color);
            }
        }
        spots if shape == Shape::Strip => {
            let edge = |s: &Spot| (s.x, s.top - half, s.bottom + half);
            mesh::band(mesh, spots.iter().map(edge), pen.color);
        }
        spots if shape == Shape::Steps => {
            let mut points: Vec<Pos2> = Vec::with_capacity(spots.len() * 2 + 1);
            for spot in spots {
                if let Some(last) = points.last().copied() {
                    points.push(pos2(spot.x, last.y));
                }
                points.push(pos2(spot.x, spot.top));
            }
            if let (Some(end), Some(last)) = (end_of_hold, points.last().copied()) {
                points.push(pos2(end, last.y));
            }
            mesh::line(mesh, &points, pen.width, pen.color, pen.pixel);
        }
        spots => {
            let points: Vec<Pos2> = spots.iter().map(|s| pos2(s.x, s.top)).collect();
            mesh::line(mesh, &points, pen.width, pen.color, pen.pixel);
        }
    }
    stretch.clear();
}

/// A mark at the edge for a value without a place.
fn beyond(direction: i8, x: f32, area: Rect, pen: &Pen, mesh: &mut Mesh) {
    let size = 4.0;
    if direction > 0 {
        mesh::triangle(mesh, pos2(x, area.top() + size), size, pen.color, pen.pixel);
    } else {
        mesh::diamond(
            mesh,
            pos2(x, area.bottom() - size),
            size,
            pen.color,
            pen.pixel,
        );
    }
}

fn band_of_others(others: &Others, canvas: &Canvas<'_>, place: &Place, mesh: &mut Mesh) {
    let color = canvas.tokens.others.gamma_multiply(0.35);
    for run in shown(&others.nodes, canvas).chunk_by(|_, next| next.is_joined) {
        let edge = |n: &Node| (place.x(n.t), place.y(n.hi) - 0.5, place.y(n.lo) + 0.5);
        mesh::band(mesh, run.iter().map(edge), color);
    }
}

/// Where every line lacks samples the lane is hatched; where one does, a thin strip in its colour says so at the bottom.
fn gaps(lane: &MetricLane, canvas: &Canvas<'_>, place: &Place, pixel: f32, mesh: &mut Mesh) {
    const STRIP: f32 = 4.0;
    let area = canvas.rect;
    let across = |(from, to): (i64, i64), top: f32, bottom: f32| {
        let left = place.x(from).clamp(area.left(), area.right());
        let right = place.x(to).clamp(area.left(), area.right());
        Rect::from_min_max(pos2(left, top), pos2(right.max(left), bottom))
    };
    let all = common(&lane.lines);
    for gap in &all {
        let rect = across(*gap, area.top(), area.bottom());
        mesh::hatch(
            mesh,
            rect,
            7.0,
            canvas.tokens.gap.gamma_multiply(0.75),
            pixel,
        );
    }
    let with_gaps = lane
        .lines
        .iter()
        .enumerate()
        .filter(|(_, l)| !l.gaps.is_empty());
    let is_told_already = lane.lines.len() == 1;
    if is_told_already {
        return;
    }
    for (row, (at, line)) in with_gaps.take(4).enumerate() {
        let bottom = area.bottom() - row as f32 * (STRIP + 1.0);
        for gap in &line.gaps {
            let rect = across(*gap, bottom - STRIP, bottom);
            let color = canvas.tokens.series(at);
            mesh::bar(mesh, rect, color.gamma_multiply(0.22));
            mesh::hatch(mesh, rect, 5.0, color.gamma_multiply(0.8), pixel);
        }
    }
}

/// What all lines lack at once.
fn common(lines: &[Line]) -> Vec<(i64, i64)> {
    let mut lines = lines.iter();
    let mut all = lines.next().map(|l| l.gaps.clone()).unwrap_or_default();
    for line in lines {
        let mut both = Vec::new();
        for (from, to) in &all {
            for (a, b) in &line.gaps {
                let (from, to) = ((*from).max(*a), (*to).min(*b));
                if from < to {
                    both.push((from, to));
                }
            }
        }
        all = both;
    }
    all
}

/// Names of the lines in their colours, as many as have room.
fn legend(lane: &MetricLane, canvas: &Canvas<'_>, bright: &[bool]) {
    // What is drawn on begins below.
    let whole = canvas.rect.height() + LEGEND;
    if lane.lines.len() < 2 || whole < LEGEND_FROM {
        return;
    }
    let font = FontId::proportional(theme::SMALL - 1.0);
    let is_any_bright = bright.iter().any(|b| *b);
    let mut x = canvas.rect.left() + theme::GAP;
    let y = canvas.rect.top() - LEGEND + 9.0;
    let limit = canvas.rect.left() + canvas.rect.width() * 0.94;
    // Bright ones first: they are what is looked for.
    let mut order: Vec<usize> = (0..lane.lines.len()).collect();
    order.sort_by_key(|at| !bright.get(*at).copied().unwrap_or(false));
    for (place, at) in order.iter().enumerate() {
        let Some(line) = lane.lines.get(*at) else {
            continue;
        };
        let is_bright = bright.get(*at).copied().unwrap_or(false);
        let name = crate::base::text::shorten(&line.name, LEGEND_NAME);
        let ink = if is_any_bright && !is_bright {
            canvas.tokens.text_faint
        } else {
            canvas.tokens.text_dim
        };
        let galley = canvas.painter.layout_no_wrap(name, font.clone(), ink);
        let left = lane.lines.len() - place;
        let wide = 14.0 + galley.size().x;
        if x + wide > limit && place > 0 {
            let text = format!("+{left}");
            let ink = canvas.tokens.text_faint;
            canvas
                .painter
                .text(pos2(x, y), Align2::LEFT_CENTER, text, font, ink);
            break;
        }
        let swatch = Rect::from_min_size(pos2(x, y - 1.0), vec2(9.0, 2.5));
        canvas
            .painter
            .rect_filled(swatch, 1.0, canvas.tokens.series(*at));
        canvas
            .painter
            .galley(pos2(x + 13.0, y - galley.size().y / 2.0), galley, ink);
        x += wide + 10.0;
    }
}

/// The line under the pointer.
pub(super) fn nearest(lane: &MetricLane, canvas: &Canvas<'_>, pos: Pos2) -> Option<usize> {
    let place = Place::of(canvas, scale_of(lane, canvas));
    let axis = (place.scale.min, place.scale.max);
    let reach = (canvas.nanos_per_point() * f64::from(NEAR)) as i64;
    let t = canvas.t(pos.x).nanos();
    let mut best: Option<(f32, usize)> = None;
    for (at, line) in lane.lines.iter().enumerate() {
        let from = line
            .nodes
            .partition_point(|n| n.t < t.saturating_sub(reach));
        let to = line
            .nodes
            .partition_point(|n| n.t <= t.saturating_add(reach));
        // Between two samples that are far apart on screen the line itself is what is pointed at.
        let around = from.saturating_sub(1)..(to + 1).min(line.nodes.len());
        let nodes = line.nodes.get(around).unwrap_or_default();
        let y = |value: f64| place.y(line.placed(value, axis));
        for (k, node) in nodes.iter().enumerate() {
            let before = k.checked_sub(1).and_then(|b| nodes.get(b));
            let here = pos2(place.x(node.t), f32::midpoint(y(node.hi), y(node.lo)));
            let far = match before {
                Some(b) if node.is_joined && node.is_sample => {
                    to_segment(pos, pos2(place.x(b.t), y(b.hi)), here)
                }
                _ => {
                    let dy = (y(node.hi) - pos.y).max(pos.y - y(node.lo)).max(0.0);
                    vec2(place.x(node.t) - pos.x, dy).length()
                }
            };
            if far <= NEAR && best.is_none_or(|(known, _)| far < known) {
                best = Some((far, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

fn to_segment(p: Pos2, a: Pos2, b: Pos2) -> f32 {
    let along = b - a;
    let length = along.length_sq();
    let share = if length > 0.0 {
        ((p - a).dot(along) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (a + along * share).distance(p)
}
