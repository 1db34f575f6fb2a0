//! A prepared lane of findings: drawing, what lies under the pointer, what it says.

use std::sync::Arc;

use egui::{Align2, Color32, FontId, Mesh, Pos2, Rect, pos2};

use super::bars::Bar;
use crate::base::time::{TimeRange, Timestamp};
use crate::model::finding::Finding;
use crate::model::report::Report;
use crate::session::target::Target;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Blank, Lane, Reading, Twin, axis, label, marks};
use crate::ui::report_words::finding_title;
use crate::ui::theme;
use crate::ui::words::Words;

/// Height of a row with its space.
pub(super) const PITCH: f32 = 16.0;
/// Height of a bar.
const BAR: f32 = 13.0;
/// Rows with titles; what is beyond lies in one thin row below.
const MOST_ROWS: usize = 7;
/// Space above the first row.
pub(super) const TOP: f32 = 3.0;
/// Height of the thin row of those that have no row.
const REST: f32 = 12.0;
/// Columns of the query that a bar keeps free for its title.
const TITLE_COLUMNS: i64 = 200;
/// Points over which an open end fades.
const FADE: f32 = 40.0;
/// What is left of the others when something is picked.
const DIM: f32 = 0.35;

/// Findings, ready to be drawn.
#[derive(Debug)]
pub(super) struct FindingLane {
    report: Option<Arc<Report>>,
    is_complete: bool,
    bars: Vec<Bar>,
    rows: Vec<usize>,
    /// Where the next bar of the same row begins.
    next: Vec<Option<i64>>,
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
    /// Packs the bars into rows, each with room for its title at that many nanoseconds a column.
    pub(super) fn new(
        report: Option<Arc<Report>>,
        bars: Vec<Bar>,
        end: i64,
        step_nanos: i64,
    ) -> Self {
        let title = step_nanos.saturating_mul(TITLE_COLUMNS);
        let span = |b: &Bar| {
            let to = b.end.unwrap_or(end).max(b.start.saturating_add(title));
            (b.start, to)
        };
        let spans: Vec<(i64, i64)> = bars.iter().map(span).collect();
        let rows = marks::rows(&spans);
        Self {
            is_complete: report.is_some(),
            report,
            next: marks::next_in_row(&spans, &rows),
            bars,
            rows,
            mesh: MeshCache::default(),
        }
    }

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
            label::elided(
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
        let right = canvas.rect.right();
        let next = self.next.get(at).copied().flatten();
        next.map_or(right, |t| canvas.x(t).min(right))
    }

    /// The titles of what has no row of its own.
    fn hidden_titles<'a>(&'a self, words: &'a Words) -> impl Iterator<Item = String> + 'a {
        let rest = self.bars.iter().zip(&self.rows);
        rest.filter(|(_, row)| **row >= MOST_ROWS)
            .filter_map(|(bar, _)| self.title(bar, words))
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
        let mut latest_first = bar.members.iter().rev().filter_map(|at| self.finding(*at));
        latest_first
            .find(|f| f.start <= t)
            .or_else(|| bar.members.iter().find_map(|at| self.finding(*at)))
    }
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

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        let (from, to) = (shown.start.nanos(), shown.end.nanos());
        let is_here = |b: &Bar| b.start < to && b.end.is_none_or(|end| end > from);
        if self.bars.iter().any(is_here) {
            return None;
        }
        Blank::around(self, shown)
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
            label::nothing(canvas, canvas.words.text(key));
        }
    }

    /// All that a bar stands for, and all that has no row of its own.
    fn tip(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<String> {
        let rest = canvas.rect.top() + TOP + PITCH * MOST_ROWS as f32 - 1.5;
        if pos.y >= rest && self.hidden() > 0 {
            return Some(label::list(self.hidden_titles(canvas.words), canvas.words));
        }
        let bar = self.under(canvas, pos).filter(|b| b.members.len() > 1)?;
        let members = bar.members.iter().filter_map(|at| self.finding(*at));
        let titles = members.map(|f| finding_title(canvas.words, f));
        Some(label::list(titles, canvas.words))
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
        label::count(n, "count")
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        label::renamed(self.measure(range), words.text("lane-measure-count"))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
