//! `events`: changes, deploys, alerts and own notes as marks with titles. Labels never overlap; what does not fit becomes a count.

use egui::{Align2, FontId, Mesh, Pos2, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::cancel::Cancel;
use crate::model::finding::FindingKind;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::findings::elided;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, Reading, Twin, axis, marks, plan};
use crate::ui::theme;
use crate::ui::words::Words;

/// Rows of labels.
const ROWS: usize = 2;
/// Height of a row.
const PITCH: f32 = 15.0;
/// Longest label, in points.
const LONGEST: f32 = 220.0;
/// Shortest label that says anything.
const SHORTEST: f32 = 60.0;
/// Marks nearer than this are one clump.
const NEAR: f32 = 7.0;
/// An event that a finding tells too is drawn once: both are within this time.
const SAME_NANOS: i64 = 2_000_000_000;

/// Events as marks.
#[derive(Debug)]
pub struct Events;

impl LaneKind for Events {
    fn id(&self) -> &'static str {
        "events"
    }

    fn height(&self) -> u16 {
        (PITCH * ROWS as f32 + 10.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list())
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        self.prepare_noted(spec, incident, &Notes::default(), query, cancel)
    }

    fn reads_notes(&self) -> bool {
        true
    }

    fn prepare_noted(
        &self,
        _spec: &LaneSpec,
        incident: &Incident,
        notes: &Notes,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        Ok(Box::new(EventLane {
            marks: marks_of(incident, notes),
            mesh: MeshCache::default(),
        }))
    }
}

/// The only lane of its kind; own events are written onto it, so it is there without any event.
pub(super) fn list() -> Vec<Offer> {
    vec![Offer {
        spec: LaneSpec {
            kind: "events".to_owned(),
            key: "all".to_owned(),
            series: Vec::new(),
        },
        title: String::new(),
        entities: Vec::new(),
        opening_rank: None,
    }]
}

/// What a mark tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// People or machines changed something.
    Change,
    /// Something rang.
    Alert,
    /// Somebody wrote it down elsewhere.
    Note,
    /// The person at the window wrote it.
    Own,
}

#[derive(Debug, Clone, PartialEq)]
struct Mark {
    t: i64,
    end: Option<i64>,
    what: What,
    title: String,
    target: Option<Target>,
}

/// Events, changes that telemetry tells and own events, by time.
fn marks_of(incident: &Incident, notes: &Notes) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (at, event) in incident.snapshot().events.iter().enumerate() {
        marks.push(Mark {
            t: event.t.nanos(),
            end: event.end.map(Timestamp::nanos),
            what: match event.kind.as_ref() {
                "alert" => What::Alert,
                _ if event.is_change() => What::Change,
                _ => What::Note,
            },
            title: event.title.to_string(),
            target: Some(Target::Event { event: at }),
        });
    }
    let events = marks.len();
    for finding in incident.findings() {
        let t = finding.start.nanos();
        let is_known = |m: &Mark| (m.t - t).abs() <= SAME_NANOS && m.title == finding.title;
        if finding.kind == FindingKind::Change && !marks.iter().take(events).any(is_known) {
            marks.push(Mark {
                t,
                end: None,
                what: What::Change,
                title: finding.title.clone(),
                target: Some(Target::Finding(finding.id.clone())),
            });
        }
    }
    for (event, own) in notes.events.iter().enumerate() {
        marks.push(Mark {
            t: own.start.nanos(),
            end: own.end.map(Timestamp::nanos),
            what: What::Own,
            title: own.title.clone(),
            target: Some(Target::Own { event }),
        });
    }
    marks.sort_by_key(|m| m.t);
    marks
}

/// Marks, ready to be drawn.
#[derive(Debug)]
struct EventLane {
    marks: Vec<Mark>,
    mesh: MeshCache,
}

/// A label that has its place.
struct Label {
    /// Index of the first mark of its clump.
    at: usize,
    /// How many marks it stands for.
    count: usize,
    row: usize,
    room: f32,
}

impl EventLane {
    fn shown(&self, canvas: &Canvas<'_>) -> std::ops::Range<usize> {
        // What began before and lasts is drawn too, so all earlier ones are looked at.
        let to = self
            .marks
            .partition_point(|m| m.t < canvas.shown.end.nanos());
        0..to
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

    /// `labels` say in which row a mark has its head: its line begins there, so that it crosses no label above.
    fn build(&self, canvas: &Canvas<'_>, labels: &[Label], mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        let area = canvas.rect;
        let shown = self.shown(canvas).end;
        for (at, mark) in self.marks.iter().enumerate().take(shown) {
            let x = canvas.x(mark.t);
            let ink = Self::color(mark.what, canvas);
            if let Some(end) = mark.end {
                let to = canvas.x(end).max(x + 1.0);
                if to >= area.left() {
                    let bar = egui::Rect::from_min_max(
                        pos2(x.max(area.left()), area.bottom() - 5.0),
                        pos2(to.min(area.right()), area.bottom() - 1.0),
                    );
                    mesh::bar(mesh, bar, ink.gamma_multiply(0.5));
                }
            }
            if !(area.left() - 8.0..=area.right() + 8.0).contains(&x) {
                continue;
            }
            let is_bright = Self::is_bright(mark, canvas);
            let before = labels.partition_point(|l| l.at <= at);
            let label = before.checked_sub(1).and_then(|l| labels.get(l));
            let row = label.filter(|l| at < l.at + l.count).map_or(0, |l| l.row);
            let head = pos2(x, label_y(canvas, row));
            // Nor a label below, of a mark further left.
            let is_crossing = labels.iter().any(|l| {
                let from = self.marks.get(l.at).map_or(0.0, |m| canvas.x(m.t));
                l.row > row && (from..=from + 9.0 + l.room).contains(&x)
            });
            let foot = if is_crossing {
                label_y(canvas, row) + PITCH / 2.0
            } else {
                area.bottom()
            };
            let ends = [head, pos2(x, foot)];
            let width = if is_bright { 2.0 } else { 1.0 };
            mesh::line(
                mesh,
                &ends,
                width,
                ink.gamma_multiply(if is_bright { 1.0 } else { 0.55 }),
                feather,
            );
            match mark.what {
                What::Change => mesh::diamond(mesh, head, 4.5, ink, feather),
                What::Alert => mesh::triangle(mesh, head, 4.8, ink, feather),
                What::Note => mesh::dot(mesh, head, 3.2, ink, feather),
                What::Own => {
                    let flag = egui::Rect::from_center_size(head, egui::vec2(7.0, 7.0));
                    mesh::bar(mesh, flag, ink);
                }
            }
        }
    }

    /// Which labels are written where, from the left; a label may use the room up to the next mark that would want its row.
    fn labels(&self, canvas: &Canvas<'_>) -> Vec<Label> {
        let area = canvas.rect;
        let shown: Vec<usize> = self
            .shown(canvas)
            .filter(|at| {
                self.marks
                    .get(*at)
                    .is_some_and(|m| m.t >= canvas.shown.start.nanos())
            })
            .collect();
        let x_of = |at: usize| self.marks.get(at).map_or(0.0, |m| canvas.x(m.t));
        let xs: Vec<f32> = shown.iter().map(|at| x_of(*at)).collect();
        let clumps = marks::clumps(&xs, NEAR);
        let mut placed: Vec<Label> = Vec::new();
        let mut free_from = [f32::NEG_INFINITY; ROWS];
        for (k, (first, count)) in clumps.iter().enumerate() {
            let Some(at) = shown.get(*first).copied() else {
                continue;
            };
            let x = x_of(at);
            // The upper row first: then the eye reads along one line.
            let Some(row) = (0..ROWS).find(|r| free_from.get(*r).is_some_and(|f| *f <= x)) else {
                if let Some(last) = placed.last_mut() {
                    last.count += count;
                }
                continue;
            };
            let title = self.marks.get(at).map_or("", |m| m.title.as_str());
            let width = text_width(canvas, title).min(LONGEST);
            // Room up to the next mark that would want this row, when the other row is taken by then.
            let next = clumps
                .get(k + ROWS)
                .and_then(|(n, _)| xs.get(*n))
                .copied()
                .unwrap_or_else(|| area.right() + LONGEST);
            let room = width
                .min((next - x - 24.0).max(SHORTEST))
                .min(area.right() - x - 8.0);
            if let Some(slot) = free_from.get_mut(row) {
                *slot = x + 9.0 + room + 14.0;
            }
            placed.push(Label {
                at,
                count: *count,
                row,
                room,
            });
        }
        placed
    }

    fn nearest(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Mark> {
        let label = self.labels(canvas).into_iter().find(|l| {
            let y = label_y(canvas, l.row);
            let x = self.marks.get(l.at).map_or(0.0, |m| canvas.x(m.t));
            (y - pos.y).abs() <= PITCH / 2.0 && (x..=x + 9.0 + l.room).contains(&pos.x)
        });
        let far = |m: &&Mark| (canvas.x(m.t) - pos.x).abs();
        let near = self
            .marks
            .iter()
            .filter(|m| far(m) <= NEAR)
            .min_by(|a, b| far(a).total_cmp(&far(b)));
        near.or_else(|| label.and_then(|l| self.marks.get(l.at)))
    }
}

fn label_y(canvas: &Canvas<'_>, row: usize) -> f32 {
    canvas.rect.top() + 7.0 + PITCH * row as f32
}

fn font() -> FontId {
    FontId::proportional(theme::SMALL)
}

fn text_width(canvas: &Canvas<'_>, text: &str) -> f32 {
    let galley = canvas
        .painter
        .layout_no_wrap(text.to_owned(), font(), canvas.tokens.text);
    galley.size().x + 2.0
}

impl Lane for EventLane {
    fn note(&self) -> String {
        self.marks.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let n = self.marks.len();
        words.with("lane-note-events", &[("n", n.into())])
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let bright = self
            .marks
            .iter()
            .map(|m| u64::from(Self::is_bright(m, canvas)));
        let labels = self.labels(canvas);
        self.mesh.paint(canvas, mesh::digest(bright), |mesh| {
            self.build(canvas, &labels, mesh);
        });
        for label in labels {
            let Some(mark) = self.marks.get(label.at) else {
                continue;
            };
            let x = canvas.x(mark.t) + 8.0;
            let y = label_y(canvas, label.row);
            let is_bright = Self::is_bright(mark, canvas);
            let ink = if is_bright {
                canvas.tokens.highlight
            } else {
                canvas.tokens.text_dim
            };
            let mut room = label.room;
            if label.count > 1 {
                let text = format!("+{}", label.count - 1);
                let faint = canvas.tokens.text_faint;
                let galley = canvas.painter.layout_no_wrap(text, font(), faint);
                room = (room - galley.size().x - 4.0).max(0.0);
                let used = text_width(canvas, &mark.title).min(room);
                let at = pos2(x + used + 3.0, y - galley.size().y / 2.0);
                canvas.painter.galley(at, galley, faint);
            }
            if room >= 12.0 {
                elided(canvas, pos2(x, y), &mark.title, room, font(), ink);
            }
        }
        if self.marks.is_empty() {
            let at = canvas.rect.left_center() + egui::vec2(theme::PAD, 0.0);
            let text = canvas.words.text("lane-no-events");
            canvas.painter.text(
                at,
                Align2::LEFT_CENTER,
                text,
                font(),
                canvas.tokens.text_faint,
            );
        }
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
        self.nearest(canvas, pos)?.target.clone()
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: egui::Rect) -> Vec<Target> {
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
        vec![("count".to_owned(), n.to_string())]
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        let name = words.text("lane-measure-count");
        let rows = self.measure(range).into_iter();
        rows.map(|(_, value)| (name.to_owned(), value)).collect()
    }
}
