//! The ranked list of causes and findings, and the explanation of the picked one.
//!
//! [`listing`] decides on a worker which rows there are; [`list`] draws those that can be seen; [`head`] is what stands above;
//! [`explain`] and [`finding`] explain what is picked, and [`judge`] takes what a person says of it.

mod explain;
mod finding;
mod head;
mod judge;
mod list;
mod listing;
mod parts;

use std::sync::Arc;

use egui::{Margin, Panel, ScrollArea, Ui};

use crate::engine::memo::Memo;
use crate::model::report::Report;
use crate::session::settings::Lang;
use crate::session::view::Selection;
use crate::ui::frame::Frame;
use crate::ui::panels::findings::judge::Judge;
use crate::ui::panels::findings::list::{Content, List};
use crate::ui::panels::findings::listing::{Asked, Listing};
use crate::ui::report_words::Told;
use crate::ui::request::{Request, Setting};
use crate::ui::theme::PAD;
use crate::ui::words::Words;

/// The list keeps at least a few rows above the explanation, and that a few lines below it.
const LIST_LEAST: f32 = 180.0;
const EXPLANATION_LEAST: f32 = 120.0;

/// Its part of the panel's height, until somebody drags it.
const EXPLANATION_PART: f32 = 0.52;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Findings {
    told: Memo<(u64, Lang), Arc<Told>>,
    rows: Memo<Asked, Listing>,
    asked: Asked,
    list: List,
    judge: Judge,
    shows_original: bool,
    /// The report of a replay whose words and rows are there. It stays until those of the next one are: in between the list
    /// would blink.
    held: Option<(Arc<Report>, Arc<Told>)>,
    /// Height of the explanation when no pointer held its edge.
    height: Option<f32>,
}

impl Findings {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        ui.spacing_mut().item_spacing.y = 2.0;
        let report = frame.incident.and_then(|i| i.report.clone());
        let Some(report) = report else {
            without_report(ui, frame);
            return;
        };
        self.want(frame, &report);
        let told = self.told.last().cloned();
        let told = told.filter(|t| t.findings.len() == report.findings.len());
        let shown = if frame.replay.is_some() {
            self.hold(&report, told)
        } else {
            told.map(|told| (report, told))
        };
        let Some((report, told)) = shown else {
            waiting(ui, frame);
            return;
        };
        self.explanation(ui, frame, (&report, &told));
        let said = head::sentence(frame, &report, &told);
        head::headline_ui(ui, frame, &said, None);
        head::partial(ui, frame, &report);
        if report.findings.is_empty()
            && report.hypotheses.is_empty()
            && report.not_enough.is_empty()
        {
            let (text, hint) = (
                frame.words.text("findings-none"),
                frame.words.text("findings-none-hint"),
            );
            head::empty(ui, frame, text, hint);
            return;
        }
        head::tools(ui, frame, &mut self.asked, self.rows.last());
        let Some(listing) = self.rows.last() else {
            return;
        };
        if listing.rows.is_empty() {
            head::empty(ui, frame, frame.words.text("findings-nothing-fits"), "");
            return;
        }
        let content = Content {
            report: &report,
            told: &told,
            listing,
            shows_undecided: self.asked.shows_undecided,
        };
        if self.list.ui(ui, frame, content) {
            self.asked.shows_undecided = !self.asked.shows_undecided;
        }
    }

    /// The last report whose words and rows are all there.
    fn hold(
        &mut self,
        report: &Arc<Report>,
        told: Option<Arc<Told>>,
    ) -> Option<(Arc<Report>, Arc<Told>)> {
        let key = (self.asked.generation, self.asked.lang);
        let is_told = self.told.last_with_key().is_some_and(|(k, _)| *k == key);
        let has_rows = self
            .rows
            .last_with_key()
            .is_some_and(|(asked, _)| (asked.generation, asked.lang) == key);
        if let Some(told) = told.filter(|_| is_told && has_rows) {
            self.held = Some((Arc::clone(report), told));
        }
        self.held.clone()
    }

    /// Asks for the words and the rows.
    fn want(&mut self, frame: &Frame<'_>, report: &Arc<Report>) {
        let generation = frame.incident.map_or(0, |i| i.generation);
        let lang = frame.words.lang();
        let of = Arc::clone(report);
        self.told.want(frame.pool, &(generation, lang), move |_| {
            Ok(Arc::new(Told::of(Words::of(lang), &of)))
        });
        self.asked.generation = generation;
        self.asked.lang = lang;
        let told = self.told.last_with_key();
        let Some((_, told)) = told.filter(|(key, _)| **key == (generation, lang)) else {
            return;
        };
        let asked = std::mem::take(&mut self.asked).with_notes(frame.notes);
        let (of, told, wanted) = (Arc::clone(report), Arc::clone(told), asked.clone());
        self.rows.want(frame.pool, &asked, move |_| {
            Ok(Listing::of(Words::of(wanted.lang), &of, &told, &wanted))
        });
        self.asked = asked;
    }

    fn explanation(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        (report, told): (&Report, &Told),
    ) {
        let picked = match &frame.view.selection {
            Selection::Nothing => return,
            Selection::Hypothesis(id) => report.hypotheses.iter().position(|h| h.id == *id),
            Selection::Finding(id) => told.place(id),
        };
        let tokens = frame.tokens;
        let most = (ui.available_height() - LIST_LEAST).max(EXPLANATION_LEAST);
        let look = egui::Frame::new().fill(tokens.panel).inner_margin(Margin {
            left: PAD as i8,
            right: 4,
            top: 8,
            bottom: 0,
        });
        // Where nobody dragged it, it takes its part of the window.
        let known = match frame.settings.explain_height {
            height if height > 0.0 => height,
            _ => ui.available_height() * EXPLANATION_PART,
        };
        let shown = Panel::bottom("explanation")
            .resizable(true)
            .default_size(known)
            .size_range(EXPLANATION_LEAST..=most)
            .frame(look)
            .show(ui, |ui| {
                let salt = frame.view.selection.id().map(str::to_owned);
                ScrollArea::vertical()
                    .id_salt(salt)
                    .auto_shrink(false)
                    .show(ui, |ui| {
                        ui.set_width(ui.available_width() - 6.0);
                        ui.spacing_mut().item_spacing.y = 2.0;
                        let Some(ix) = picked else {
                            ui.label(frame.words.text("findings-gone"));
                            return;
                        };
                        if matches!(frame.view.selection, Selection::Hypothesis(_)) {
                            explain::hypothesis(ui, frame, (report, told), &mut self.judge, ix);
                        } else {
                            let kept = (&mut self.judge, &mut self.shows_original);
                            finding::finding(ui, frame, (report, told), kept, ix);
                        }
                    });
            });
        let height = shown.response.rect.height();
        let before = *self.height.get_or_insert(height);
        if ui.input(|i| !i.pointer.any_down()) {
            self.height = Some(height);
            if (height - before).abs() > 1.0 && ui.input(|i| i.pointer.any_released()) {
                frame.ask(Request::Set(Setting::ExplainHeight(height)));
            }
        }
    }

    /// What stands after or before the picked one in the list.
    pub fn step(&self, picked: &Selection, is_forward: bool) -> Option<Selection> {
        self.rows
            .last()?
            .step(picked, if is_forward { 1 } else { -1 })
    }

    /// Opens the field for the reason of a dismissal.
    pub fn ask_reason(&mut self, id: &str) {
        self.judge.ask_reason(id);
    }

    /// Opens the field for a note.
    pub fn write_note(&mut self, id: &str) {
        self.judge.write_note(id);
    }
}

/// While the analysis runs, or where it was stopped.
fn without_report(ui: &mut Ui, frame: &Frame<'_>) {
    let words = frame.words;
    if frame.replay.is_some() {
        return waiting(ui, frame);
    }
    let Some(progress) = frame.progress else {
        head::headline_ui(ui, frame, words.text("findings-cancelled"), None);
        head::empty(ui, frame, words.text("findings-cancelled-hint"), "");
        return;
    };
    head::headline_ui(ui, frame, words.text("findings-analysing"), None);
    let text = if progress.is_analysing || progress.found == 0 {
        words.text("findings-analysing").to_owned()
    } else {
        let args = [
            ("read", progress.read.into()),
            ("found", progress.found.into()),
        ];
        words.with("findings-reading", &args)
    };
    head::skeleton(ui, frame, &text, words.text("findings-analysing-hint"));
}

/// For the few frames until the words are there.
fn waiting(ui: &mut Ui, frame: &Frame<'_>) {
    let words = frame.words;
    head::headline_ui(ui, frame, words.text("findings-analysing"), None);
    head::skeleton(
        ui,
        frame,
        words.text("findings-analysing"),
        words.text("findings-analysing-hint"),
    );
}
