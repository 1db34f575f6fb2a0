//! The incident timeline as it will be exported, with what a person wrote: at the left the entries, at the right what is edited and how
//! the file will read.

mod editor;
mod list;
mod preview;
pub mod when;

use std::sync::Arc;

use egui::{Layout, Ui, Vec2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::memo::Memo;
use crate::model::finding::Severity;
use crate::session::notes::{Notes as Said, OwnEvent};
use crate::session::timeline::{self, Entry, Origin};
use crate::ui::frame::Frame;
use crate::ui::panels::notes::editor::Draft;
use crate::ui::panels::notes::preview::Preview;
use crate::ui::theme;
use crate::ui::widgets::rows::Rows;
use crate::words::Lang;
use crate::words::report::Told;

/// Names the entries: the document's place, its generation, how often the notes have changed.
type Which = (usize, u64, u64);

/// Which entry is picked.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Picked {
    /// By the id that its edits are kept by.
    Entry(String),
    /// What a person wrote: its place moves as others are written, so the words name it.
    Own(OwnEvent),
}

/// What it remembers between frames.
#[derive(Debug)]
pub struct Notes {
    seen: Said,
    changes: u64,
    entries: Memo<(Which, Lang), Arc<Vec<Entry>>>,
    preview: Memo<(Which, &'static str, usize, Lang), Preview>,
    rows: Rows,
    picked: Option<Picked>,
    draft: Option<Draft>,
    least: Severity,
    is_hidden_shown: bool,
    form: &'static str,
    summary: String,
    /// What is picked is brought into view once the entries hold it.
    must_show: bool,
}

impl Default for Notes {
    fn default() -> Self {
        Self {
            seen: Said::default(),
            changes: 0,
            entries: Memo::default(),
            preview: Memo::default(),
            rows: Rows::default(),
            picked: None,
            draft: None,
            least: Severity::Info,
            is_hidden_shown: true,
            form: "md",
            summary: String::new(),
            must_show: false,
        }
    }
}

impl Notes {
    /// Begins an event at that time; over the measured range, when there is one that holds it.
    pub fn add(&mut self, at: Timestamp, measure: Option<TimeRange>) {
        let range = measure.filter(|m| m.contains(at) && m.nanos() > 0);
        self.picked = None;
        self.draft = Some(Draft::of_new(
            range.map_or(at, |m| m.start),
            range.map(|m| m.end),
        ));
    }

    /// Opens what a person wrote for editing; what is half-typed of it stays.
    pub fn edit(&mut self, event: &OwnEvent) {
        let picked = Some(Picked::Own(event.clone()));
        let is_begun = self.picked == picked && self.draft.as_ref().is_some_and(Draft::is_dirty);
        if !is_begun {
            self.draft = Some(Draft::of_own(event.clone()));
        }
        self.picked = picked;
        self.must_show = true;
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let Some(incident) = frame.incident else {
            return;
        };
        let Some(report) = incident.report.clone() else {
            ui.add_space(theme::PAD);
            let text = frame.words.text("notes-analysing");
            ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
            return;
        };
        if self.seen != *frame.notes {
            self.seen = frame.notes.clone();
            self.changes += 1;
        }
        let which = (
            Arc::as_ptr(&incident.document) as usize,
            incident.generation,
            self.changes,
        );
        let document = Arc::clone(&incident.document);
        let notes = self.seen.clone();
        let words = frame.words;
        let entries = self
            .entries
            .want(frame.pool, &(which, words.lang()), move |_| {
                let mut all = timeline::entries(&report, &document.snapshot, Some(&notes));
                timeline::tell(&mut all, words, &Told::of(words, &report));
                Ok(Arc::new(all))
            })
            .value()
            .map(Arc::clone)
            .unwrap_or_default();
        let gap = theme::PAD;
        let size = ui.available_size();
        let right = ((size.x - gap) * 0.44).clamp(280.0, 900.0);
        let left = (size.x - gap - right).max(200.0);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(egui::Align::Min), |ui| {
            ui.spacing_mut().item_spacing.x = gap;
            column(ui, Vec2::new(left, size.y), |ui| {
                self.left(ui, &entries, frame);
            });
            column(ui, Vec2::new(right, size.y), |ui| {
                self.editor(ui, frame);
                self.preview(ui, which, frame);
            });
        });
    }

    fn left(&mut self, ui: &mut Ui, entries: &[Entry], frame: &mut Frame<'_>) {
        self.tools(ui, entries, frame);
        self.summary(ui, frame);
        self.list(ui, entries, frame);
    }

    /// The text on top of the export; kept when the field is left, so that undo takes back a thought and not a letter.
    fn summary(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let id = egui::Id::unique("notes-summary");
        let has_focus = ui.memory(|m| m.has_focus(id));
        let label = frame.words.text("notes-summary");
        let field = ui
            .add(
                egui::TextEdit::multiline(&mut self.summary)
                    .id(id)
                    .desired_rows(2)
                    .desired_width(f32::INFINITY)
                    .hint_text(label),
            )
            .on_hover_text(label);
        if field.lost_focus() && self.summary != frame.notes.summary {
            let text = self.summary.clone();
            frame.ask(crate::ui::request::Request::Note(
                crate::ui::request::NoteEdit::Summary(text),
            ));
        } else if !has_focus && !field.has_focus() && self.summary != frame.notes.summary {
            self.summary.clone_from(&frame.notes.summary);
        }
    }

    fn is_picked(&self, entry: &Entry, frame: &Frame<'_>) -> bool {
        match (&self.picked, &entry.origin) {
            (Some(Picked::Own(event)), Origin::Own(at)) => {
                frame.notes.events.get(*at) == Some(event)
            }
            (Some(Picked::Entry(id)), Origin::Report(_) | Origin::Event(_)) => *id == entry.id,
            _ => false,
        }
    }

    /// Picks an entry and opens it for editing.
    fn pick(&mut self, entry: &Entry, frame: &Frame<'_>) {
        if self.draft.as_ref().is_some_and(Draft::is_dirty) && self.is_picked(entry, frame) {
            return;
        }
        match &entry.origin {
            Origin::Own(at) => {
                if let Some(event) = frame.notes.events.get(*at) {
                    self.picked = Some(Picked::Own(event.clone()));
                    self.draft = Some(Draft::of_own(event.clone()));
                }
            }
            Origin::Report(_) | Origin::Event(_) => {
                self.picked = Some(Picked::Entry(entry.id.clone()));
                self.draft = Some(Draft::of_entry(entry));
            }
        }
    }
}

fn column(ui: &mut Ui, size: Vec2, contents: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(size, Layout::top_down(egui::Align::Min), |ui| {
        ui.set_min_size(size);
        ui.set_max_width(size.x);
        contents(ui);
    });
}
