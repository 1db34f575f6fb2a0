//! `findings`: findings as spans on top, packed into rows, in the colour of their severity; those without an end fade to the right.
//!
//! Findings of one kind about one thing share a bar, with a tick where each begins. Changes and load runs have lanes of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Align2, Color32, FontId, Mesh, Pos2, Rect, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::cancel::Cancel;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::report::Report;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Lane, LaneKind, Offer, Query, Reading, Twin, axis, marks, plan};
use crate::ui::report_words::finding_title;
use crate::ui::theme;
use crate::ui::words::Words;

/// Height of a row with its space.
const PITCH: f32 = 16.0;
/// Height of a bar.
const BAR: f32 = 13.0;
/// Rows with titles; what is beyond lies in one thin row below.
const MOST_ROWS: usize = 7;
/// Space above the first row.
const TOP: f32 = 3.0;
/// Height of the thin row of those that have no row.
const REST: f32 = 12.0;
/// Columns of the query that a bar keeps free for its title.
const TITLE_COLUMNS: i64 = 170;
/// Points over which an open end fades.
const FADE: f32 = 40.0;
/// What is left of the others when something is picked.
const DIM: f32 = 0.35;

/// Findings as spans.
#[derive(Debug)]
pub struct Findings;

impl LaneKind for Findings {
    fn id(&self) -> &'static str {
        "findings"
    }

    fn height(&self) -> u16 {
        (PITCH * 3.0 + TOP * 2.0) as u16
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
        query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let bars = bars(incident.findings(), notes);
        let end = incident.document.window.end.nanos();
        let spans: Vec<(i64, i64)> = bars
            .iter()
            .map(|b| {
                let title = query.step_nanos.saturating_mul(TITLE_COLUMNS);
                let to = b.end.unwrap_or(end).max(b.start.saturating_add(title));
                (b.start, to)
            })
            .collect();
        let rows = marks::rows(&spans);
        Ok(Box::new(FindingLane {
            report: incident.report.clone(),
            is_complete: incident.report.is_some(),
            bars,
            rows,
            mesh: MeshCache::default(),
        }))
    }
}

/// The only lane of its kind.
pub(super) fn list() -> Vec<Offer> {
    vec![Offer {
        spec: LaneSpec {
            kind: "findings".to_owned(),
            key: "all".to_owned(),
            series: Vec::new(),
        },
        title: String::new(),
        entities: Vec::new(),
        opening_rank: None,
    }]
}

/// Whether a finding is drawn here.
fn is_ours(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Change | FindingKind::LoadRun)
}

/// Findings of one kind about one thing that overlap or follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Bar {
    /// Indices into the findings, by start.
    members: Vec<usize>,
    start: i64,
    /// `None` when it had not ended.
    end: Option<i64>,
    severity: Severity,
    is_dismissed: bool,
}

/// The bars, most severe first.
fn bars(findings: &[Finding], notes: &Notes) -> Vec<Bar> {
    let mut groups: BTreeMap<(FindingKind, &str, &str, bool), Vec<usize>> = BTreeMap::new();
    for (at, f) in findings.iter().enumerate().filter(|(_, f)| is_ours(f.kind)) {
        let about = f.entities.first().map_or(f.id.as_str(), String::as_str);
        let cause = f.cause.as_deref().unwrap_or_default();
        let is_dismissed = notes.dismissed.contains_key(&f.id);
        groups
            .entry((f.kind, about, cause, is_dismissed))
            .or_default()
            .push(at);
    }
    let mut bars = Vec::new();
    for ((.., is_dismissed), mut members) in groups {
        let start = |at: &usize| findings.get(*at).map(|f| f.start);
        members.sort_by_key(start);
        let mut current: Option<Bar> = None;
        for at in members {
            let Some(f) = findings.get(at) else { continue };
            match &mut current {
                Some(bar) if bar.end.is_none_or(|end| end >= f.start.nanos()) => {
                    bar.members.push(at);
                    bar.end = match (bar.end, f.end) {
                        (Some(a), Some(b)) => Some(a.max(b.nanos())),
                        _ => None,
                    };
                    bar.severity = bar.severity.max(f.severity);
                }
                _ => {
                    bars.extend(current.take());
                    current = Some(Bar {
                        members: vec![at],
                        start: f.start.nanos(),
                        end: f.end.map(Timestamp::nanos),
                        severity: f.severity,
                        is_dismissed,
                    });
                }
            }
        }
        bars.extend(current);
    }
    bars.sort_by_key(|b| (b.is_dismissed, std::cmp::Reverse(b.severity), b.start));
    bars
}

/// Findings, ready to be drawn.
#[derive(Debug)]
struct FindingLane {
    report: Option<Arc<Report>>,
    is_complete: bool,
    bars: Vec<Bar>,
    rows: Vec<usize>,
    mesh: MeshCache,
}

/// Where a bar is drawn.
struct Drawn {
    rect: Rect,
    /// Where an open end begins to fade.
    fade_from: Option<f32>,
    is_thin: bool,
}

impl FindingLane {
    fn findings(&self) -> &[Finding] {
        self.report.as_ref().map_or(&[], |r| &r.findings)
    }

    fn finding(&self, at: usize) -> Option<&Finding> {
        self.findings().get(at)
    }

    /// Bars without a row of their own.
    fn hidden(&self) -> usize {
        self.rows.iter().filter(|r| **r >= MOST_ROWS).count()
    }

    fn place(&self, at: usize, canvas: &Canvas<'_>) -> Option<Drawn> {
        let bar = self.bars.get(at)?;
        let row = *self.rows.get(at)?;
        let left = canvas.x(bar.start);
        let right = bar
            .end
            .map_or_else(|| canvas.rect.right() + 1.0, |end| canvas.x(end))
            .max(left + 4.0);
        if right < canvas.rect.left() || left > canvas.rect.right() {
            return None;
        }
        let is_thin = row >= MOST_ROWS;
        let top = canvas.rect.top() + TOP + PITCH * row.min(MOST_ROWS) as f32;
        let height = if is_thin { 5.0 } else { BAR };
        let left = left.max(canvas.rect.left() - 4.0);
        let right = right.min(canvas.rect.right() + 4.0);
        Some(Drawn {
            rect: Rect::from_min_max(pos2(left, top), pos2(right, top + height)),
            fade_from: bar
                .end
                .is_none()
                .then(|| (right - FADE).max(left + (right - left) * 0.5)),
            is_thin,
        })
    }

    /// How strongly a bar is drawn: all of it, or less when something else is picked.
    fn strength(&self, bar: &Bar, canvas: &Canvas<'_>) -> f32 {
        if bar.is_dismissed {
            DIM * 0.7
        } else if canvas.highlight.findings.is_empty() || self.is_bright(bar, canvas) {
            1.0
        } else {
            DIM
        }
    }

    fn is_bright(&self, bar: &Bar, canvas: &Canvas<'_>) -> bool {
        bar.members
            .iter()
            .filter_map(|at| self.finding(*at))
            .any(|f| canvas.highlight.findings.contains(&f.id))
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        for (at, bar) in self.bars.iter().enumerate() {
            let Some(drawn) = self.place(at, canvas) else {
                continue;
            };
            let strength = self.strength(bar, canvas);
            let ink = canvas
                .tokens
                .severity(bar.severity)
                .gamma_multiply(strength);
            let is_bright = self.is_bright(bar, canvas);
            let fill = ink.gamma_multiply(if is_bright { 0.5 } else { 0.3 });
            let r = drawn.rect;
            if drawn.is_thin {
                mesh::bar(mesh, r, ink.gamma_multiply(0.6));
                continue;
            }
            match drawn.fade_from {
                Some(x) => {
                    mesh::bar(mesh, r.with_max_x(x), fill);
                    mesh::fade(mesh, r.with_min_x(x), fill, Color32::TRANSPARENT);
                }
                None => mesh::bar(mesh, r, fill),
            }
            // The onset is an edge in full colour; each further finding of the bar has a notch.
            for member in &bar.members {
                if let Some(f) = self.finding(*member) {
                    let x = canvas.x(f.start.nanos());
                    let is_first = f.start.nanos() == bar.start;
                    let (wide, top) = if is_first {
                        (2.5, r.top())
                    } else {
                        (1.5, r.bottom() - 2.5)
                    };
                    let edge = Rect::from_min_max(pos2(x, top), pos2(x + wide, r.bottom()));
                    mesh::bar(mesh, edge, ink);
                }
            }
            if is_bright {
                let y = [r.top(), r.bottom()];
                for y in y {
                    let to = drawn.fade_from.unwrap_or_else(|| r.right());
                    let ends = [pos2(r.left(), y), pos2(to, y)];
                    mesh::line(mesh, &ends, 1.0, ink, feather);
                }
            }
        }
    }

    /// Titles inside the bars, or beside them where the row is free for it.
    fn titles(&self, canvas: &Canvas<'_>) {
        let font = FontId::proportional(theme::SMALL - 0.5);
        for (at, bar) in self.bars.iter().enumerate() {
            let Some(drawn) = self.place(at, canvas).filter(|d| !d.is_thin) else {
                continue;
            };
            let Some(title) = self.title(bar, canvas.words) else {
                continue;
            };
            let free_to = self.free_to(at, canvas);
            let from = drawn.rect.left().max(canvas.rect.left()) + 6.0;
            let room = free_to - from - 4.0;
            if room < 24.0 {
                continue;
            }
            let ink = if self.strength(bar, canvas) < 1.0 {
                canvas.tokens.text_faint
            } else {
                canvas.tokens.text
            };
            elided(
                canvas,
                pos2(from, drawn.rect.center().y),
                &title,
                room,
                font.clone(),
                ink,
            );
        }
        let hidden = self.hidden();
        if hidden > 0 {
            let y = canvas.rect.top() + TOP + PITCH * MOST_ROWS as f32 + 1.0;
            let text = format!("+{hidden}");
            let at = pos2(canvas.rect.right() - 4.0, y + 3.0);
            canvas
                .painter
                .text(at, Align2::RIGHT_CENTER, text, font, canvas.tokens.text_dim);
        }
    }

    /// Where the next bar of the same row begins.
    fn free_to(&self, at: usize, canvas: &Canvas<'_>) -> f32 {
        let row = self.rows.get(at);
        let start = self.bars.get(at).map_or(0, |b| b.start);
        self.bars
            .iter()
            .zip(&self.rows)
            .filter(|(b, r)| Some(*r) == row && b.start > start)
            .map(|(b, _)| canvas.x(b.start))
            .fold(canvas.rect.right(), f32::min)
    }

    fn title(&self, bar: &Bar, words: &Words) -> Option<String> {
        let first = self.finding(*bar.members.first()?)?;
        // Of several the worst speaks for all, of equals the last, which is the furthest developed.
        let worst = bar
            .members
            .iter()
            .filter_map(|at| self.finding(*at))
            .max_by_key(|f| (f.severity, f.start))
            .unwrap_or(first);
        let title = finding_title(words, worst);
        Some(match bar.members.len() {
            1 => title,
            n => format!("{n}×  {title}"),
        })
    }

    fn under(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Bar> {
        (0..self.bars.len())
            .filter_map(|at| Some((at, self.place(at, canvas)?)))
            .filter(|(at, drawn)| {
                let mut reach = drawn.rect.expand2(egui::vec2(3.0, 1.5));
                if !drawn.is_thin {
                    // The title beside a short bar belongs to it.
                    let title = drawn.rect.left() + 160.0;
                    reach.max.x = reach.max.x.max(title.min(self.free_to(*at, canvas)));
                }
                reach.contains(pos)
            })
            .min_by(|a, b| a.1.rect.width().total_cmp(&b.1.rect.width()))
            .and_then(|(at, _)| self.bars.get(at))
    }

    /// The finding of a bar that is meant at a time: the last one that has begun.
    fn member(&self, bar: &Bar, t: Timestamp) -> Option<&Finding> {
        let begun = bar.members.iter().rev().filter_map(|at| self.finding(*at));
        begun
            .clone()
            .find(|f| f.start <= t)
            .or_else(|| begun.last())
    }
}

/// Text that is cut with an ellipsis where it would leave its room.
pub(super) fn elided(
    canvas: &Canvas<'_>,
    left: Pos2,
    text: &str,
    room: f32,
    font: FontId,
    ink: Color32,
) {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, ink);
    job.wrap = egui::text::TextWrapping::truncate_at_width(room);
    let galley = canvas.painter.layout_job(job);
    let at = pos2(left.x, left.y - galley.size().y / 2.0);
    canvas.painter.galley(at, galley, ink);
}

impl Lane for FindingLane {
    fn note(&self) -> String {
        let shown: usize = self.bars.iter().map(|b| b.members.len()).sum();
        shown.to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        if !self.is_complete {
            return words.text("lane-note-analysing").to_owned();
        }
        let n: usize = self.bars.iter().map(|b| b.members.len()).sum();
        words.with("lane-note-findings", &[("n", n.into())])
    }

    fn wanted_height(&self) -> Option<u16> {
        let rows = self.rows.iter().map(|r| r + 1).max().unwrap_or(1);
        let rest = if rows > MOST_ROWS { REST } else { 0.0 };
        Some((PITCH * rows.min(MOST_ROWS) as f32 + TOP * 2.0 + rest) as u16)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let bright = canvas
            .highlight
            .findings
            .iter()
            .map(|id| mesh::digest_text(id));
        self.mesh.paint(canvas, mesh::digest(bright), |mesh| {
            self.build(canvas, mesh);
        });
        self.titles(canvas);
        if self.bars.is_empty() {
            let key = if self.is_complete {
                "lane-no-findings"
            } else {
                "lane-note-analysing"
            };
            let at = canvas.rect.left_center() + egui::vec2(theme::PAD, 0.0);
            let font = FontId::proportional(theme::SMALL);
            let text = canvas.words.text(key);
            canvas.painter.text(
                at,
                Align2::LEFT_CENTER,
                text,
                font,
                canvas.tokens.text_faint,
            );
        }
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.bars
            .iter()
            .filter(|b| b.start <= t.nanos() && b.end.is_none_or(|end| t.nanos() < end))
            .filter_map(|b| {
                let f = self.member(b, t)?;
                Some(Reading {
                    name: f.severity.word().to_owned(),
                    value: f.title.clone(),
                    colour: None,
                    target: Some(Target::Finding(f.id.clone())),
                })
            })
            .collect()
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        let mut readings = self.read(t);
        for reading in &mut readings {
            if let Some(Target::Finding(id)) = &reading.target
                && let Some(f) = self.findings().iter().find(|f| f.id == *id)
            {
                reading.value = finding_title(words, f);
            }
            let key = format!("lane-severity-{}", reading.name);
            words.text(&key).clone_into(&mut reading.name);
        }
        readings
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let bar = self.under(canvas, pos)?;
        let f = self.member(bar, canvas.t(pos.x + 2.0))?;
        Some(Target::Finding(f.id.clone()))
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: Rect) -> Vec<Target> {
        (0..self.bars.len())
            .filter(|at| {
                self.place(*at, canvas)
                    .is_some_and(|d| d.rect.intersects(area))
            })
            .filter_map(|at| self.bars.get(at))
            .flat_map(|b| &b.members)
            .filter_map(|at| self.finding(*at))
            .map(|f| Target::Finding(f.id.clone()))
            .collect()
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let starts = self.bars.iter().flat_map(|b| &b.members);
        let starts = starts
            .filter_map(|at| self.finding(*at))
            .map(|f| f.start.nanos());
        axis::next_in(starts, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(Twin {
            table: "findings",
            filter: String::new(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        let touched = |b: &&Bar| {
            b.start < range.end.nanos() && b.end.is_none_or(|end| end > range.start.nanos())
        };
        let n: usize = self
            .bars
            .iter()
            .filter(touched)
            .map(|b| b.members.len())
            .sum();
        vec![("count".to_owned(), n.to_string())]
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        let name = words.text("lane-measure-count");
        let rows = self.measure(range).into_iter();
        rows.map(|(_, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests;
