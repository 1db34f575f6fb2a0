//! What stands in place of rows: loading, nothing there, nothing passes, something failed.

use egui::{RichText, Ui};

use crate::base::text::grouped;
use crate::ui::frame::Frame;
use crate::ui::theme;

/// Why there are no rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// They are being made.
    Loading,
    /// The analysis runs that makes them.
    Analysing,
    /// No input has such rows.
    Empty(&'static str),
    /// They could not be made.
    Failed(String),
    /// A query runs.
    #[cfg(feature = "sql")]
    Running,
    /// A query was given up.
    #[cfg(feature = "sql")]
    Stopped,
    /// A query failed: what is wrong, and what there is instead.
    #[cfg(feature = "sql")]
    Query(String, Vec<String>),
    /// A query gave no rows.
    #[cfg(feature = "sql")]
    NoRows,
}

/// Shows one of them in the middle.
pub(super) fn show(ui: &mut Ui, frame: &Frame<'_>, state: &State) {
    let words = frame.words;
    let (title, lines): (String, Vec<String>) = match state {
        State::Loading => (words.text("table-loading").to_owned(), Vec::new()),
        State::Analysing => (words.text("table-analysing").to_owned(), Vec::new()),
        State::Empty(table) => {
            let title = words.with("table-empty", &[("table", (*table).into())]);
            let why = format!("table-empty-{}", table.replace('_', "-"));
            (title, vec![words.text(&why).to_owned()])
        }
        State::Failed(why) => (words.text("table-failed").to_owned(), vec![why.clone()]),
        #[cfg(feature = "sql")]
        State::Running => (words.text("table-sql-running").to_owned(), Vec::new()),
        #[cfg(feature = "sql")]
        State::Stopped => (
            words.text("table-sql-stopped").to_owned(),
            vec![words.text("table-sql-stopped-why").to_owned()],
        ),
        #[cfg(feature = "sql")]
        State::Query(what, hints) => {
            let lines = std::iter::once(what.clone()).chain(hints.iter().cloned());
            (words.text("table-sql-failed").to_owned(), lines.collect())
        }
        #[cfg(feature = "sql")]
        State::NoRows => (words.text("table-sql-no-rows").to_owned(), Vec::new()),
    };
    let is_bad = match state {
        State::Failed(_) => true,
        #[cfg(feature = "sql")]
        State::Query(..) => true,
        _ => false,
    };
    middle(ui, |ui| {
        let colour = if is_bad {
            frame.tokens.error
        } else {
            frame.tokens.text
        };
        ui.label(RichText::new(title).size(theme::TITLE).color(colour));
        for line in &lines {
            ui.label(RichText::new(line).color(frame.tokens.text_dim));
        }
    });
}

/// Says that no row passes the filter; whether the person wants all again.
pub(super) fn nothing_passes(
    ui: &mut Ui,
    frame: &Frame<'_>,
    all: usize,
    is_shown_only: bool,
) -> bool {
    let mut wants_all = false;
    middle(ui, |ui| {
        let title = frame
            .words
            .with("table-none", &[("all", (&grouped(all as u64)).into())]);
        ui.label(RichText::new(title).size(theme::TITLE));
        if is_shown_only {
            let why = frame.words.text("table-none-shown");
            ui.label(RichText::new(why).color(frame.tokens.text_dim));
        }
        wants_all = ui.button(frame.words.text("table-clear")).clicked();
    });
    wants_all
}

fn middle(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    egui::ScrollArea::vertical()
        .id_salt("table-state")
        .auto_shrink(false)
        .show(ui, |ui| {
            let space = (ui.available_height() * 0.3).min(120.0);
            ui.add_space(space);
            ui.vertical_centered(|ui| {
                ui.set_max_width(680.0);
                add(ui);
            });
        });
}
