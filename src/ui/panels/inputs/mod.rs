//! What was read, and what became of it: one row an input, those with lost data first; a row opens to all its warnings.

mod rows;

use std::collections::BTreeSet;

use egui::{Rect, ScrollArea, Sense, Stroke, TextEdit, Ui, Vec2, vec2};

use crate::base::text::grouped;
use crate::engine::memo::Memo;
use crate::session::target::Target;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::inputs::rows::{Asked, Columns, Rows, row_ui};
use crate::ui::theme::{self, GAP};

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Inputs {
    rows: Memo<Asked, Rows>,
    filter: String,
    only_warned: bool,
    /// Inputs whose warnings are open.
    open: BTreeSet<usize>,
    /// The input that it last scrolled to.
    scrolled_to: Option<usize>,
}

impl Inputs {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let Some(incident) = frame.incident else {
            return;
        };
        self.follow(frame);
        let asked = Asked {
            generation: incident.generation,
            filter: self.filter.clone(),
            only_warned: self.only_warned,
            open: self.open.clone(),
            lang: frame.words.lang(),
        };
        let (open, wanted) = (incident.clone(), asked.clone());
        self.rows.want(frame.pool, &asked, move |_| {
            Ok(Rows::of(&open.snapshot().inputs, &wanted))
        });
        self.tools(ui, frame);
        let Some(rows) = self.rows.last() else {
            return;
        };
        if rows.all.is_empty() {
            let text = if incident.snapshot().inputs.is_empty() {
                frame.words.text("inputs-none")
            } else {
                frame.words.text("inputs-nothing-fits")
            };
            ui.add_space(theme::PAD);
            ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
            return;
        }
        let columns = Columns::of(ui.available_width() - 12.0);
        columns.head(ui, frame);
        let picked = picked(frame);
        let mut toggled = None;
        let wants_scroll = picked.filter(|p| self.scrolled_to != Some(*p));
        let area = ScrollArea::vertical().id_salt("inputs").auto_shrink(false);
        area.show_viewport(ui, |ui, viewport| {
            let origin = ui.max_rect().min;
            let width = ui.available_width();
            let inputs = &incident.snapshot().inputs;
            let tops = rows.tops(inputs, |warning| {
                let text = crate::words::warnings::text(frame.words, warning);
                rows::warning_text(ui, frame, &text, width).size().y
            });
            ui.set_height(tops.last().copied().unwrap_or(0.0));
            let rect_of = |at: usize| {
                let top = tops.get(at).copied().unwrap_or(0.0);
                let bottom = tops.get(at + 1).copied().unwrap_or(top);
                Rect::from_min_size(origin + vec2(0.0, top), vec2(width, bottom - top))
            };
            if let Some(at) = wants_scroll.and_then(|p| rows.all.iter().position(|r| r.input == p))
            {
                ui.scroll_to_rect(rect_of(at), None);
            }
            for at in rows::between(&tops, viewport.min.y, viewport.max.y) {
                let Some(row) = rows.all.get(at) else {
                    continue;
                };
                let Some(input) = incident.snapshot().inputs.get(row.input) else {
                    continue;
                };
                let is_lit = picked == Some(row.input);
                if row_ui(ui, frame, (input, row), (rect_of(at), is_lit), columns) {
                    toggled = Some(row.input);
                }
            }
        });
        if wants_scroll.is_some() {
            self.scrolled_to = wants_scroll;
        }
        if let Some(input) = toggled
            && !self.open.remove(&input)
        {
            self.open.insert(input);
        }
    }

    /// A link to an input opens it, whatever the filter.
    fn follow(&mut self, frame: &Frame<'_>) {
        let Some(input) = picked(frame) else {
            self.scrolled_to = None;
            return;
        };
        if self.scrolled_to != Some(input) && !self.open.contains(&input) {
            self.filter.clear();
            self.only_warned = false;
            self.open.insert(input);
        }
    }

    fn tools(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let words = frame.words;
        let Some(incident) = frame.incident else {
            return;
        };
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
            let stroke = Stroke::new(1.3, frame.tokens.text_faint);
            icons::paint(ui.painter(), Icon::Search, rect.shrink(1.0), stroke);
            let hint = words.text("inputs-filter");
            ui.add(
                TextEdit::singleline(&mut self.filter)
                    .hint_text(hint)
                    .desired_width(200.0),
            );
            if !self.filter.is_empty()
                && icons::button(ui, Icon::Close, words.text("inputs-clear-filter")).clicked()
            {
                self.filter.clear();
            }
            ui.checkbox(&mut self.only_warned, words.text("inputs-only-problems"));
            ui.add_space(GAP);
            let summary = match frame.progress.filter(|p| !p.is_analysing && p.found > 0) {
                Some(progress) => {
                    let bytes = frame.words.units().bytes(progress.bytes as f64);
                    let args = [
                        ("read", progress.read.into()),
                        ("found", progress.found.into()),
                        ("bytes", bytes.as_str().into()),
                    ];
                    words.with("inputs-reading", &args)
                }
                None => self.rows.last().map_or_else(String::new, |rows| {
                    let held = grouped(rows.held);
                    let n = incident.snapshot().inputs.len();
                    let args = [("n", n.into()), ("rows", held.as_str().into())];
                    words.with("inputs-read", &args)
                }),
            };
            ui.label(
                egui::RichText::new(summary)
                    .size(theme::SMALL)
                    .color(frame.tokens.text_dim),
            );
            let Some(rows) = self.rows.last() else {
                return;
            };
            if rows.lost > 0 {
                let text = words.with("inputs-problems", &[("n", rows.lost.into())]);
                ui.label(
                    egui::RichText::new(text)
                        .size(theme::SMALL)
                        .color(frame.tokens.warning),
                );
            }
            if rows.noted > 0 {
                let text = words.with("inputs-notes", &[("n", rows.noted.into())]);
                ui.label(
                    egui::RichText::new(text)
                        .size(theme::SMALL)
                        .color(frame.tokens.text_dim),
                );
            }
        });
    }
}

/// The input that a link led to.
fn picked(frame: &Frame<'_>) -> Option<usize> {
    frame.view.picked.iter().find_map(|target| match target {
        Target::Input { input } => Some(*input),
        _ => None,
    })
}
