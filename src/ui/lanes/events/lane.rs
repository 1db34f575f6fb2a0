//! A prepared lane of events: where titles go, drawing, what lies under the pointer.

use std::sync::{Arc, Mutex};

use egui::{FontId, Mesh, Pos2, Rect, pos2, vec2};

use super::{Mark, What};
use crate::base::time::{TimeRange, Timestamp};
use crate::session::target::Target;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::marks::{self, Flag, Packing};
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Blank, Lane, Reading, Twin, axis, label};
use crate::ui::theme;
use crate::ui::words::Words;

/// Most rows of titles that a lane asks for; who makes it taller gets up to twice as many.
const MOST_ROWS: usize = 4;
/// Height of a row.
const PITCH: f32 = 15.0;
/// Longest title, in points.
const LONGEST: f32 = 340.0;
/// From a mark to its title.
const OFF: f32 = 8.0;
/// How near the pointer must be to a mark.
const NEAR: f32 = 7.0;
/// Width of a small window, in points: there a lane must have rows enough.
const NARROWEST: f64 = 640.0;
const PACKING: Packing = Packing {
    rows: MOST_ROWS,
    gap: OFF,
    least: 96.0,
};

/// Marks, ready to be drawn.
#[derive(Debug)]
pub(super) struct EventLane {
    marks: Vec<Mark>,
    /// How wide each title is, about.
    widths: Vec<f32>,
    /// Rows that the whole recording needs, so that a zoom changes no height.
    rows: usize,
    mesh: MeshCache,
    packed: Mutex<Option<Packed>>,
}

/// Where titles go at one zoom; a pan moves them and changes none.
#[derive(Debug, Clone)]
struct Packed {
    nanos_per_point: u64,
    packing: Packing,
    flags: Arc<[Flag]>,
}

impl EventLane {
    pub(super) fn new(marks: Vec<Mark>, window: TimeRange) -> Self {
        let width = |m: &Mark| label::width(&m.title, theme::SMALL).min(LONGEST);
        let widths: Vec<f32> = marks.iter().map(width).collect();
        let per_point = window.nanos().max(1) as f64 / NARROWEST;
        let packing = Packing {
            rows: MOST_ROWS,
            ..PACKING
        };
        let flags = pack(&marks, &widths, per_point, packing);
        let rows = flags.iter().map(|f| f.row + 1).max().unwrap_or(1);
        Self {
            marks,
            widths,
            rows: rows.max(2),
            mesh: MeshCache::default(),
            packed: Mutex::default(),
        }
    }

    /// Where titles go. Packed anew only when the zoom or the height changed.
    fn flags(&self, canvas: &Canvas<'_>) -> Arc<[Flag]> {
        let per_point = canvas.nanos_per_point();
        let rows = ((canvas.rect.height() - 8.0) / PITCH).max(1.0) as usize;
        let packing = Packing {
            rows: rows.min(MOST_ROWS * 2),
            ..PACKING
        };
        let make = || Packed {
            nanos_per_point: per_point.to_bits(),
            packing,
            flags: pack(&self.marks, &self.widths, per_point, packing).into(),
        };
        let Ok(mut kept) = self.packed.try_lock() else {
            return make().flags;
        };
        let is_known =
            |p: &&Packed| p.nanos_per_point == per_point.to_bits() && p.packing == packing;
        if let Some(known) = kept.as_ref().filter(is_known) {
            return Arc::clone(&known.flags);
        }
        let made = make();
        let flags = Arc::clone(&made.flags);
        *kept = Some(made);
        flags
    }

    /// The flags whose title or mark can be seen.
    fn seen<'a>(&self, flags: &'a [Flag], canvas: &Canvas<'_>) -> &'a [Flag] {
        let t = |f: &Flag| self.marks.get(f.at).map_or(0, |m| m.t);
        let reach = (canvas.nanos_per_point() * f64::from(LONGEST + 40.0)) as i64;
        let from =
            flags.partition_point(|f| t(f) < canvas.shown.start.nanos().saturating_sub(reach));
        let to = flags.partition_point(|f| t(f) < canvas.shown.end.nanos());
        flags.get(from..to.max(from)).unwrap_or_default()
    }

    fn shown(&self, canvas: &Canvas<'_>) -> std::ops::Range<usize> {
        // What began before and lasts is drawn too, so all earlier ones are looked at.
        let to = self
            .marks
            .partition_point(|m| m.t < canvas.shown.end.nanos());
        0..to
    }

    /// Lines from each mark down to the time, so far as they cross no title, and the marks themselves.
    fn build(&self, canvas: &Canvas<'_>, flags: &[Flag], mesh: &mut Mesh) {
        self.lasting(canvas, mesh);
        for flag in flags {
            if let Some(mark) = self.marks.get(flag.at) {
                pole(mark, flag.row, flag.is_crossing, canvas, mesh);
            }
            // Who has no row has no head either, which would lie on a title: only its foot.
            for mark in flag.hidden.iter().filter_map(|at| self.marks.get(*at)) {
                foot(mark, canvas, mesh);
            }
        }
    }

    /// What lasts has a bar at the bottom.
    fn lasting(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let area = canvas.rect;
        for mark in self.marks.iter().take(self.shown(canvas).end) {
            let Some(end) = mark.end else { continue };
            let x = canvas.x(mark.t);
            let to = canvas.x(end).max(x + 1.0);
            if to >= area.left() {
                let bar = Rect::from_min_max(
                    pos2(x.max(area.left()), area.bottom() - 5.0),
                    pos2(to.min(area.right()), area.bottom() - 1.0),
                );
                mesh::bar(mesh, bar, color(mark.what, canvas).gamma_multiply(0.5));
            }
        }
    }

    /// Where a title is written: right of its mark, or left of it where the edge would cut it.
    fn title_place(&self, flag: &Flag, free_from: f32, canvas: &Canvas<'_>) -> Option<Rect> {
        let mark = self.marks.get(flag.at)?;
        let x = canvas.x(mark.t);
        let y = label_y(canvas, flag.row);
        let area = canvas.rect;
        let wanted = self
            .widths
            .get(flag.at)
            .copied()
            .unwrap_or(0.0)
            .min(flag.room);
        let right = area.right() - 4.0 - (x + OFF);
        let left = x - OFF - free_from;
        let is_left = right < wanted && x <= area.right() && left.min(wanted) > right * 1.2;
        let (from, to) = if is_left {
            (x - OFF - wanted.min(left), x - OFF)
        } else {
            // What reaches in from the left edge begins there.
            let from = (x + OFF).max(area.left() + 4.0);
            (from, (x + OFF + flag.room).min(area.right() - 4.0))
        };
        let is_seen = to - from >= 12.0 && (is_left || x >= area.left() - 4.0);
        let rect = Rect::from_min_max(pos2(from, y - PITCH / 2.0), pos2(to, y + PITCH / 2.0));
        is_seen.then_some(rect)
    }

    /// Every title with its place, from the left.
    fn titles<'a>(&self, flags: &'a [Flag], canvas: &Canvas<'_>) -> Vec<(&'a Flag, Rect)> {
        let mut free_from = [canvas.rect.left(); MOST_ROWS * 2 + 1];
        let mut titles = Vec::with_capacity(flags.len());
        for flag in flags {
            let free = free_from.get(flag.row).copied().unwrap_or(0.0);
            if let Some(rect) = self.title_place(flag, free, canvas) {
                titles.push((flag, rect));
                let used = self.widths.get(flag.at).copied().unwrap_or(0.0);
                if let Some(slot) = free_from.get_mut(flag.row) {
                    *slot = (rect.left() + used).min(rect.right()) + OFF;
                }
            }
            // A line down is in the way of titles below that would be written left of their marks.
            let pole = self.marks.get(flag.at).map_or(0.0, |m| canvas.x(m.t)) + OFF;
            let from = flag.row + usize::from(flag.is_crossing) * free_from.len();
            for slot in free_from.iter_mut().skip(from) {
                *slot = slot.max(pole);
            }
        }
        titles
    }

    fn write(&self, flag: &Flag, rect: Rect, canvas: &Canvas<'_>) {
        let Some(mark) = self.marks.get(flag.at) else {
            return;
        };
        let ink = if is_bright(mark, canvas) {
            canvas.tokens.highlight
        } else {
            canvas.tokens.text_dim
        };
        let mut room = rect.width();
        if !flag.hidden.is_empty() {
            let text = format!("+{}", flag.hidden.len());
            let faint = canvas.tokens.text;
            let galley = canvas.painter.layout_no_wrap(text, font(), faint);
            room = (room - galley.size().x - 8.0).max(0.0);
            let used = self.widths.get(flag.at).copied().unwrap_or(0.0).min(room);
            let at = pos2(
                rect.left() + used + 5.0,
                rect.center().y - galley.size().y / 2.0,
            );
            let plate = Rect::from_min_size(at, galley.size()).expand2(vec2(3.0, -1.0));
            canvas.painter.rect_filled(plate, 3.0, canvas.tokens.raised);
            canvas.painter.galley(at, galley, faint);
        }
        if room >= 12.0 {
            label::elided(canvas, rect.left_center(), &mark.title, room, font(), ink);
        }
    }

    /// The flag whose mark or title is pointed at, and the mark itself when it is one.
    fn under(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<(Flag, Option<usize>)> {
        let flags = self.flags(canvas);
        let flags = self.seen(&flags, canvas);
        let far = |at: usize| {
            self.marks
                .get(at)
                .map_or(f32::INFINITY, |m| (canvas.x(m.t) - pos.x).abs())
        };
        let marks = flags.iter().flat_map(|f| {
            let all = f.hidden.iter().chain([&f.at]);
            all.map(move |at| (f, *at))
        });
        let is_in_row = |f: &Flag| (label_y(canvas, f.row) - pos.y).abs() <= PITCH / 2.0;
        let nearest = marks.filter(|(_, at)| far(*at) <= NEAR).min_by(|a, b| {
            let order = |(f, at): &(&Flag, usize)| (!is_in_row(f), far(*at));
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let title = || {
            let titles = self.titles(flags, canvas).into_iter();
            titles
                .filter(|(_, rect)| rect.contains(pos))
                .map(|(flag, _)| (flag.clone(), None))
                .next_back()
        };
        match nearest {
            Some((flag, at)) if is_in_row(flag) => Some((flag.clone(), Some(at))),
            Some((flag, at)) => title().or_else(|| Some((flag.clone(), Some(at)))),
            None => title(),
        }
    }
}

/// A mark at its row, and the line from there down.
fn pole(mark: &Mark, row: usize, is_short: bool, canvas: &Canvas<'_>, mesh: &mut Mesh) {
    let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
    let area = canvas.rect;
    let x = canvas.x(mark.t);
    if !(area.left() - 8.0..=area.right() + 8.0).contains(&x) {
        return;
    }
    let is_bright = is_bright(mark, canvas);
    let ink = color(mark.what, canvas);
    let head = pos2(x, label_y(canvas, row));
    let width = if is_bright { 2.0 } else { 1.0 };
    let faint = ink.gamma_multiply(if is_bright { 1.0 } else { 0.55 });
    if is_short {
        let stub = pos2(x, head.y + PITCH / 2.0);
        mesh::line(mesh, &[head, stub], width, faint, feather);
        foot(mark, canvas, mesh);
    } else {
        mesh::line(mesh, &[head, pos2(x, area.bottom())], width, faint, feather);
    }
    match mark.what {
        What::Change => mesh::diamond(mesh, head, 4.5, ink, feather),
        What::Alert => mesh::triangle(mesh, head, 4.8, ink, feather),
        What::Note => mesh::dot(mesh, head, 3.2, ink, feather),
        What::Own => {
            let flag = Rect::from_center_size(head, vec2(7.0, 7.0));
            mesh::bar(mesh, flag, ink);
        }
    }
}

/// Where on the time axis a mark stands, when its line does not reach down.
fn foot(mark: &Mark, canvas: &Canvas<'_>, mesh: &mut Mesh) {
    let x = canvas.x(mark.t);
    if canvas.rect.x_range().contains(x) {
        let bottom = canvas.rect.bottom();
        let tick = Rect::from_min_max(pos2(x - 0.5, bottom - 5.0), pos2(x + 0.5, bottom));
        mesh::bar(mesh, tick, color(mark.what, canvas));
    }
}

fn color(what: What, canvas: &Canvas<'_>) -> egui::Color32 {
    match what {
        What::Change => canvas.tokens.accent,
        What::Alert => canvas.tokens.warning,
        What::Note => canvas.tokens.text_dim,
        What::Own => canvas.tokens.series(2),
    }
}

fn is_bright(mark: &Mark, canvas: &Canvas<'_>) -> bool {
    match &mark.target {
        Some(Target::Finding(id)) => canvas.highlight.findings.contains(id),
        Some(target) => canvas.highlight.targets.contains(target),
        None => false,
    }
}

fn pack(marks: &[Mark], widths: &[f32], nanos_per_point: f64, packing: Packing) -> Vec<Flag> {
    let zero = marks.first().map_or(0, |m| m.t);
    let x = |m: &Mark| m.t.saturating_sub(zero) as f64 / nanos_per_point.max(f64::MIN_POSITIVE);
    let wanted: Vec<(f64, f32)> = marks.iter().map(x).zip(widths.iter().copied()).collect();
    marks::flags(&wanted, packing)
}

/// Height of a lane with so many rows.
pub(super) const fn height(rows: usize) -> u16 {
    (PITCH * rows as f32 + 10.0) as u16
}

fn label_y(canvas: &Canvas<'_>, row: usize) -> f32 {
    canvas.rect.top() + 7.0 + PITCH * row as f32
}

fn font() -> FontId {
    FontId::proportional(theme::SMALL)
}

impl Lane for EventLane {
    fn note(&self) -> String {
        self.marks.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let n = self.marks.len();
        words.with("lane-note-events", &[("n", n.into())])
    }

    fn wanted_height(&self) -> Option<u16> {
        Some(height(self.rows))
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        let (from, to) = (shown.start.nanos(), shown.end.nanos());
        let is_here = |m: &Mark| m.t < to && (m.t >= from || m.end.is_some_and(|end| end > from));
        if self.marks.iter().any(is_here) {
            return None;
        }
        Blank::around(self, shown)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let flags = self.flags(canvas);
        let flags = self.seen(&flags, canvas);
        let bright = self.marks.iter().map(|m| u64::from(is_bright(m, canvas)));
        self.mesh.paint(canvas, mesh::digest(bright), |mesh| {
            self.build(canvas, flags, mesh);
        });
        for (flag, rect) in self.titles(flags, canvas) {
            self.write(flag, rect, canvas);
        }
        if self.marks.is_empty() {
            label::nothing(canvas, canvas.words.text("lane-no-events"));
        }
    }

    /// A crowd with all its titles; a mark of one's own, which leads nowhere else.
    fn tip(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<String> {
        let (flag, at) = self.under(canvas, pos)?;
        let own = self.marks.get(at.unwrap_or(flag.at))?;
        if flag.hidden.is_empty() {
            return own.target.is_none().then(|| own.title.clone());
        }
        let all = [flag.at].into_iter().chain(flag.hidden.iter().copied());
        let titles = all.filter_map(|at| Some(self.marks.get(at)?.title.clone()));
        Some(label::list(titles, canvas.words))
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        let reading = |m: &Mark, is_now: bool| Reading {
            name: if is_now { "now" } else { "before" }.to_owned(),
            value: m.title.clone(),
            colour: None,
            target: m.target.clone(),
        };
        let lasting = self
            .marks
            .iter()
            .filter(|m| m.t <= t.nanos() && m.end.is_some_and(|end| t.nanos() < end));
        let mut readings: Vec<Reading> = lasting.map(|m| reading(m, true)).collect();
        let before = self.marks.partition_point(|m| m.t <= t.nanos());
        if let Some(last) = before.checked_sub(1).and_then(|at| self.marks.get(at))
            && last.end.is_none()
        {
            readings.push(reading(last, false));
        }
        readings
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        let mut readings = self.read(t);
        for reading in &mut readings {
            let key = if reading.name == "now" {
                "lane-event-now"
            } else {
                "lane-event-before"
            };
            words.text(key).clone_into(&mut reading.name);
        }
        readings
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let (flag, at) = self.under(canvas, pos)?;
        self.marks.get(at.unwrap_or(flag.at))?.target.clone()
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: Rect) -> Vec<Target> {
        self.marks
            .iter()
            .filter(|m| area.x_range().contains(canvas.x(m.t)))
            // A box picks what was read, to be listed; what a person wrote is no part of that.
            .filter(|m| m.what != What::Own)
            .filter_map(|m| m.target.clone())
            .collect()
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let places = self.marks.iter().map(|m| m.t);
        axis::next_in(places, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(Twin {
            table: "events",
            filter: String::new(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        let inside = |m: &&Mark| range.contains(Timestamp::from_nanos(m.t));
        let n = self.marks.iter().filter(inside).count();
        label::count(n, "count")
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        label::renamed(self.measure(range), words.text("lane-measure-count"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(times: &[i64]) -> Vec<Mark> {
        let mark = |t: &i64| Mark {
            t: *t * 1_000_000_000,
            end: None,
            what: What::Change,
            title: "a deploy of the gateway to the third cluster".to_owned(),
            target: None,
        };
        times.iter().map(mark).collect()
    }

    fn lane(times: &[i64]) -> EventLane {
        let at = |s: i64| Timestamp::from_nanos(s * 1_000_000_000);
        EventLane::new(marks(times), TimeRange::new(at(0), at(640)))
    }

    #[test]
    fn a_crowd_gets_rows_and_a_few_do_not() {
        assert_eq!(lane(&[]).rows, 2);
        assert_eq!(lane(&[10, 20, 30]).rows, 3);
        assert_eq!(lane(&(0..400).collect::<Vec<_>>()).rows, MOST_ROWS);
        assert!(lane(&[10, 20, 30, 40]).wanted_height() > lane(&[10]).wanted_height());
    }

    #[test]
    fn outside_of_all_events_the_way_to_the_next_is_known() {
        let at = |s: i64| Timestamp::from_nanos(s * 1_000_000_000);
        let lane = lane(&[100, 400]);
        let shown = |from: i64, to: i64| TimeRange::new(at(from), at(to));
        assert_eq!(lane.blank(shown(50, 150)), None);
        let between = Blank::Elsewhere {
            before: Some(at(100)),
            after: Some(at(400)),
        };
        assert_eq!(lane.blank(shown(150, 400)), Some(between));
    }
}
