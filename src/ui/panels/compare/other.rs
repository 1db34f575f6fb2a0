//! A second input to compare with, read beside the first.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Key, RichText, TextEdit, Ui};

use crate::base::time::TimeRange;
use crate::engine::load::{Load, Message, Opening};
use crate::session::incident::Incident;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};

/// What it remembers between frames.
#[derive(Debug, Default)]
pub(super) struct Other {
    is_open: bool,
    path: String,
    load: Option<Load>,
    incident: Option<Incident>,
    /// Counts up with every input that was read: keys caches.
    runs: u64,
    found: usize,
    read: usize,
    fault: Option<String>,
}

impl Other {
    /// The second incident, once it is there.
    pub(super) const fn incident(&self) -> Option<&Incident> {
        self.incident.as_ref()
    }

    /// Its window.
    pub(super) fn window(&self) -> Option<TimeRange> {
        self.incident.as_ref().map(|i| i.document.window)
    }

    /// Which input it is; 0 without one.
    pub(super) const fn run(&self) -> u64 {
        if self.incident.is_some() {
            self.runs
        } else {
            0
        }
    }

    /// Takes in what was read; the window of an input that has just come.
    pub(super) fn poll(&mut self) -> Option<TimeRange> {
        let mut window = None;
        while let Some(message) = self.load.as_ref().and_then(Load::next) {
            match message {
                Message::Rows(incident) | Message::Done(incident) => {
                    if incident.is_complete {
                        // Only its rows are compared: nobody waits for its report.
                        self.load = None;
                        self.runs += 1;
                        window = Some(incident.document.window);
                        self.incident = Some(incident);
                    }
                }
                Message::Nothing(why) => {
                    self.load = None;
                    self.fault = Some(why.join("\n"));
                }
                Message::Failed(why) => {
                    self.load = None;
                    self.fault = Some(why);
                }
                Message::Known(_) => {}
                Message::Cancelled => self.load = None,
                Message::Progress(progress) => {
                    self.found = progress.found;
                    self.read = progress.read;
                }
            }
        }
        window
    }

    /// The button that opens the line for its path.
    pub(super) fn button(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let text = frame.words.text("compare-other");
        if ui
            .selectable_label(self.is_open, text)
            .on_hover_text(frame.words.text("compare-other-hint"))
            .clicked()
        {
            self.is_open = !self.is_open;
        }
    }

    /// The line for its path.
    pub(super) fn ui(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        if !self.is_open {
            return;
        }
        ui.horizontal(|ui| {
            let label = ui.label(frame.words.text("compare-other-path"));
            let width = (ui.available_width() - 180.0).max(120.0);
            let field = ui
                .add(TextEdit::singleline(&mut self.path).desired_width(width))
                .labelled_by(label.id);
            let is_entered = field.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
            if self.load.is_some() {
                let n = [("read", self.read.into()), ("found", self.found.into())];
                ui.label(frame.words.with("compare-other-reading", &n));
                if ui
                    .button(frame.words.text("compare-other-cancel"))
                    .clicked()
                {
                    self.load = None;
                }
            } else {
                let has_path = !self.path.trim().is_empty();
                let open = egui::Button::new(frame.words.text("compare-other-open"));
                if ui.add_enabled(has_path, open).clicked() || (is_entered && has_path) {
                    self.open(ui);
                }
                if self.incident.is_some()
                    && icons::button(ui, Icon::Close, frame.words.text("compare-other-close"))
                        .clicked()
                {
                    self.incident = None;
                }
            }
        });
        if let Some(fault) = &self.fault {
            ui.label(RichText::new(fault).color(frame.tokens.error));
        }
    }

    fn open(&mut self, ui: &Ui) {
        let ctx = ui.ctx().clone();
        let opening = Opening {
            paths: vec![PathBuf::from(self.path.trim())],
            ..Opening::default()
        };
        self.fault = None;
        (self.found, self.read) = (0, 0);
        match Load::start(opening, Arc::new(move || ctx.request_repaint())) {
            Ok(load) => self.load = Some(load),
            Err(error) => self.fault = Some(error.to_string()),
        }
    }
}
