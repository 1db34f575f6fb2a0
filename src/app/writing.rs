//! Writing the incident timeline to a file, beside the window.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::app::App;
use crate::base::fs;
use crate::export::{self, Material, Options};
use crate::model::report::Report;
use crate::session::analysis::Document;
use crate::session::notes::Notes;
use crate::ui::panels::start::files::{Asked, Purpose};
use crate::ui::request::Export;
use crate::words::{Lang, warnings};

/// What became of the writing.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is written.
    Done(PathBuf),
    /// Something of that name stands there.
    Exists(Export),
    /// Nothing was written; why.
    Failed(String),
}

/// Where a worker puts the outcome down.
pub(super) type Slot = Arc<Mutex<Option<Outcome>>>;

impl App {
    pub(super) fn ask_where_to_export(&mut self, ctx: &egui::Context) {
        if self.incident.as_ref().is_some_and(|i| i.report.is_some()) {
            self.panels
                .files
                .choose(Purpose::Save, &self.settings.recent);
        } else {
            let text = self.words.text("notes-export-early").to_owned();
            self.tell(ctx, text);
        }
    }

    /// Writes the timeline on a worker.
    pub(super) fn export(&mut self, ctx: &egui::Context, wish: Export) {
        let Some((document, report)) = self
            .incident
            .as_ref()
            .and_then(|i| Some((Arc::clone(&i.document), Arc::clone(i.report.as_ref()?))))
        else {
            let text = self.words.text("notes-export-early").to_owned();
            return self.tell(ctx, text);
        };
        let notes = self.notes.clone();
        let lang = self.words.lang();
        let slot = Arc::clone(&self.written);
        let is_taken = self.pool.spawn(move || {
            let outcome = write(wish, &document, &report, &notes, lang);
            if let Ok(mut slot) = slot.lock() {
                *slot = Some(outcome);
            }
        });
        if !is_taken {
            let text = self.words.text("notes-export-busy").to_owned();
            self.panels.files.failed(text);
        }
    }

    /// Tells what became of the writing.
    pub(super) fn take_written(&mut self, ctx: &egui::Context) {
        let outcome = match self.written.try_lock() {
            Ok(mut slot) => slot.take(),
            Err(_) => return,
        };
        match outcome {
            None => {}
            Some(Outcome::Done(path)) => {
                self.panels.files.written(&path);
                let path = path.display().to_string();
                let text = self
                    .words
                    .with("notes-exported", &[("path", (&path).into())]);
                self.tell(ctx, text);
            }
            Some(Outcome::Exists(wish)) => self.panels.files.ask(Asked::Replace(wish)),
            Some(Outcome::Failed(why)) => {
                let why = warnings::why(self.words, &why);
                let text = self
                    .words
                    .with("notes-export-failed", &[("why", (&why).into())]);
                if self.panels.files.is_open() {
                    self.panels.files.failed(text);
                } else {
                    self.tell(ctx, text);
                }
            }
        }
    }
}

fn write(wish: Export, document: &Document, report: &Report, notes: &Notes, lang: Lang) -> Outcome {
    let Some(exporter) = export::by_id(&wish.form) else {
        return Outcome::Failed(format!(
            "no form {:?}; there are {}",
            wish.form,
            export::names()
        ));
    };
    if !wish.is_replacing && is_there(&wish.path) {
        return Outcome::Exists(wish);
    }
    let material = Material {
        report,
        snapshot: &document.snapshot,
        notes: Some(notes),
    };
    let written = exporter
        .write(
            &material,
            &Options {
                lang,
                ..Options::default()
            },
        )
        .map_err(|e| e.to_string())
        .and_then(|bytes| fs::write_atomic(&wish.path, &bytes).map_err(|e| e.to_string()));
    match written {
        Ok(()) => Outcome::Done(wish.path),
        Err(why) => Outcome::Failed(why),
    }
}

/// Whether writing would take something away; a device or a pipe is not replaced.
fn is_there(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file())
}
