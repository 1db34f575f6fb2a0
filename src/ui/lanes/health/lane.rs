//! A prepared lane of scrape health: drawing and reading.

use egui::{Align2, FontId, Mesh, Pos2, Rangef, Rect, pos2, vec2};

use super::rows::{Row, State, Stretch, middle};
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::session::target::Target;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{Lane, Reading, Twin, axis};
use crate::ui::theme;
use crate::ui::words::Words;

/// Height of a row with its space.
pub(super) const PITCH: f32 = 15.0;
/// Height of a bar.
const BAR: f32 = 12.0;
/// Space above the first row.
pub(super) const TOP: f32 = 3.0;
/// Rows that are drawn; the rest is counted.
const MOST_ROWS: usize = 8;

/// Rows, ready to be drawn.
#[derive(Debug)]
pub(super) struct HealthLane {
    pub(super) rows: Vec<Row>,
    pub(super) mesh: MeshCache,
}

impl HealthLane {
    /// Rows that are drawn.
    fn drawn(&self) -> &[Row] {
        self.rows
            .get(..self.rows.len().min(MOST_ROWS))
            .unwrap_or_default()
    }

    fn rect(canvas: &Canvas<'_>, row: usize, s: &Stretch) -> Option<Rect> {
        let ends = (canvas.x(s.start), canvas.x(s.end));
        let x = seen(ends, canvas.rect.x_range(), s.state == State::Up)?;
        let top = canvas.rect.top() + TOP + PITCH * row as f32;
        Some(Rect::from_x_y_ranges(x, top..=top + BAR))
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        let tokens = canvas.tokens;
        for (at, row) in self.drawn().iter().enumerate() {
            // Failures last, so that they lie over what is well.
            for is_lost in [false, true] {
                for s in row
                    .stretches
                    .iter()
                    .filter(|s| (s.state != State::Up) == is_lost)
                {
                    let Some(rect) = Self::rect(canvas, at, s) else {
                        continue;
                    };
                    match &s.state {
                        State::Up => mesh::bar(mesh, rect, tokens.good.gamma_multiply(0.38)),
                        State::Failed(cause) => {
                            let (ink, step) = look(cause.as_deref(), canvas);
                            mesh::bar(mesh, rect, ink.gamma_multiply(0.55));
                            mesh::hatch(mesh, rect, step, ink, feather);
                        }
                        State::Missing => {
                            mesh::bar(mesh, rect, tokens.gap.gamma_multiply(0.25));
                            mesh::hatch(mesh, rect, 5.0, tokens.gap, feather);
                        }
                    }
                }
            }
        }
    }

    fn cause_words(state: &State, words: &Words) -> String {
        match state {
            State::Up => words.text("lane-health-up").to_owned(),
            State::Missing => words.text("lane-health-missing").to_owned(),
            State::Failed(None) => words.text("lane-health-failed").to_owned(),
            State::Failed(Some(cause)) => {
                let key = format!("lane-cause-{cause}");
                words.text(&key).to_owned()
            }
        }
    }

    fn texts(&self, canvas: &Canvas<'_>) {
        let font = FontId::proportional(theme::SMALL - 1.5);
        for (at, row) in self.drawn().iter().enumerate() {
            let y = canvas.rect.top() + TOP + PITCH * at as f32 + BAR / 2.0;
            let plate = |left: f32, text: String, is_dim: bool| -> f32 {
                let ink = if is_dim {
                    canvas.tokens.text_dim
                } else {
                    canvas.tokens.text
                };
                let galley = canvas.painter.layout_no_wrap(text, font.clone(), ink);
                let size = galley.size();
                let back = Rect::from_min_size(pos2(left, y - 6.0), vec2(size.x + 6.0, 12.0));
                canvas
                    .painter
                    .rect_filled(back, 2.0, canvas.tokens.ground.gamma_multiply(0.72));
                canvas
                    .painter
                    .galley(pos2(left + 3.0, y - size.y / 2.0), galley, ink);
                left + size.x + 8.0
            };
            let is_well = row.lost_nanos() == 0;
            let mut free = plate(canvas.rect.left() + 3.0, middle(&row.name), is_well);
            for s in row.stretches.iter().filter(|s| s.state != State::Up) {
                let Some(rect) = Self::rect(canvas, at, s) else {
                    continue;
                };
                let left = rect.left().max(free) + 4.0;
                if rect.right() - left > 70.0 {
                    free = plate(left, Self::cause_words(&s.state, canvas.words), false);
                }
            }
        }
        let rest = self.rows.len().saturating_sub(MOST_ROWS);
        if rest > 0 {
            let y = canvas.rect.top() + TOP + PITCH * MOST_ROWS as f32 + 5.0;
            let at = pos2(canvas.rect.left() + 6.0, y);
            let text = canvas.words.with("lane-health-more", &[("n", rest.into())]);
            canvas
                .painter
                .text(at, Align2::LEFT_CENTER, text, font, canvas.tokens.text_dim);
        }
    }

    fn under(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Row> {
        let row = ((pos.y - canvas.rect.top() - TOP) / PITCH).floor();
        if row < 0.0 {
            return None;
        }
        self.drawn().get(row as usize)
    }

    fn readings(&self, t: Timestamp, say: impl Fn(&State) -> String) -> Vec<Reading> {
        self.rows
            .iter()
            .take(MOST_ROWS)
            .filter_map(|row| {
                let s = row.at(t.nanos())?;
                Some(Reading {
                    name: row.name.clone(),
                    value: say(&s.state),
                    colour: None,
                    target: Some(Target::Sample {
                        series: row.series,
                        t: Some(t),
                    }),
                })
            })
            .collect()
    }

    fn edges(&self) -> impl Iterator<Item = i64> {
        self.rows
            .iter()
            .flat_map(|r| &r.stretches)
            .flat_map(|s| [s.start, s.end])
    }

    fn rows_of(&self, range: TimeRange, name_lost: &str) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for row in &self.rows {
            let lost: i64 = row
                .stretches
                .iter()
                .filter(|s| s.state != State::Up)
                .map(|s| {
                    s.end
                        .min(range.end.nanos())
                        .saturating_sub(s.start.max(range.start.nanos()))
                        .max(0)
                })
                .sum();
            if lost > 0 && rows.len() < MOST_ROWS {
                let time = units::secs(lost as f64 / 1e9);
                rows.push((row.name.clone(), format!("{name_lost} {time}")));
            }
        }
        rows
    }
}

/// The part of a stretch that can be seen. A single failed scrape stays visible at any zoom.
fn seen((from, to): (f32, f32), area: Rangef, is_up: bool) -> Option<Rangef> {
    let to = if is_up { to } else { to.max(from + 1.5) };
    let (left, right) = (from.max(area.min), to.min(area.max));
    (right > left).then(|| Rangef::new(left, right))
}

/// Colour and closeness of the hatching of a cause: time-outs, refusals and everything else look different in either.
fn look(cause: Option<&str>, canvas: &Canvas<'_>) -> (egui::Color32, f32) {
    match cause {
        Some("scrape_timeout") => (canvas.tokens.error, 6.0),
        Some(
            "connection_refused" | "connection_failed" | "target_restarted" | "target_removed",
        ) => (canvas.tokens.warning, 4.0),
        _ => (canvas.tokens.error, 4.0),
    }
}

impl Lane for HealthLane {
    fn note(&self) -> String {
        self.rows.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let all = self.rows.len();
        let n = self.rows.iter().filter(|r| r.lost_nanos() > 0).count();
        words.with("lane-note-health", &[("n", n.into()), ("all", all.into())])
    }

    fn wanted_height(&self) -> Option<u16> {
        let rest = if self.rows.len() > MOST_ROWS {
            PITCH
        } else {
            0.0
        };
        Some((PITCH * self.drawn().len() as f32 + TOP * 2.0 + rest) as u16)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        self.mesh.paint(canvas, 0, |mesh| self.build(canvas, mesh));
        self.texts(canvas);
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.readings(t, |state| match state {
            State::Up => "up".to_owned(),
            State::Failed(cause) => cause.clone().unwrap_or_else(|| "failed".to_owned()),
            State::Missing => "-".to_owned(),
        })
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        self.readings(t, |state| Self::cause_words(state, words))
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let row = self.under(canvas, pos)?;
        let t = canvas.t(pos.x);
        row.at(t.nanos())?;
        Some(Target::Sample {
            series: row.series,
            t: Some(t),
        })
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        axis::next_in(self.edges(), from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn gap(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let lost = self.rows.iter().flat_map(|r| &r.stretches);
        let lost = lost.filter(|s| s.state != State::Up).map(|s| s.start);
        axis::next_in(lost, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(Twin {
            table: "series",
            filter: "up".to_owned(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        self.rows_of(range, "lost")
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        self.rows_of(range, words.text("lane-measure-lost"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_before_the_window_is_not_drawn_at_its_edge() {
        let area = Rangef::new(100.0, 200.0);
        assert!(seen((20.0, 60.0), area, false).is_none());
        assert!(seen((20.0, 60.0), area, true).is_none());
        assert!(seen((250.0, 250.1), area, false).is_none());
        let one = seen((150.0, 150.1), area, false).unwrap();
        assert!(one.span() > 1.0, "a single failure is seen");
        assert_eq!(seen((50.0, 400.0), area, true), Some(area));
    }
}
