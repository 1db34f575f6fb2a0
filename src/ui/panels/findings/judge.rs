//! What a person says of the picked cause or finding: verdict, pin, dismissal with its reason, note.

use egui::{Key, Modifiers, TextEdit, Ui};

use crate::session::notes::Verdict;
use crate::ui::frame::Frame;
use crate::ui::icons::Icon;
use crate::ui::panels::findings::parts::{clock, icon_button};
use crate::ui::request::{NoteEdit, Request};
use crate::ui::theme;

/// What is being written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Reason,
    Note,
}

/// A field that is open, with its half-typed text.
#[derive(Debug)]
struct Field {
    id: String,
    what: What,
    text: String,
    is_new: bool,
}

/// The buttons and the field below them.
#[derive(Debug, Default)]
pub(super) struct Judge {
    field: Option<Field>,
}

impl Judge {
    /// Opens the field for the reason of a dismissal.
    pub(super) fn ask_reason(&mut self, id: &str) {
        self.open(id, What::Reason, String::new());
    }

    /// Opens the field for a note; what is written there already is put in when it is drawn.
    pub(super) fn write_note(&mut self, id: &str) {
        self.open(id, What::Note, String::new());
    }

    fn open(&mut self, id: &str, what: What, text: String) {
        self.field = Some(Field {
            id: id.to_owned(),
            what,
            text,
            is_new: true,
        });
    }

    /// Draws the buttons for what has that id.
    pub(super) fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, id: &str, is_hypothesis: bool) {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(4.0, 4.0);
            if is_hypothesis {
                verdicts(ui, frame, id);
            }
            self.marks(ui, frame, id);
        });
        self.said(ui, frame, id);
        self.field_ui(ui, frame, id);
    }

    fn marks(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, id: &str) {
        let words = frame.words;
        let is_pinned = frame.notes.pinned.contains(id);
        let text = if is_pinned {
            words.text("findings-unpin")
        } else {
            words.text("findings-pin")
        };
        let lit = is_pinned.then_some(frame.tokens.accent);
        if icon_button(ui, frame, Icon::Pin, text, words.text("cmd-pin"), lit).clicked() {
            frame.ask(Request::Note(NoteEdit::Pin(id.to_owned(), !is_pinned)));
        }
        if frame.notes.dismissed.contains_key(id) {
            let text = words.text("findings-restore");
            if icon_button(ui, frame, Icon::Undo, text, text, None).clicked() {
                frame.ask(Request::Note(NoteEdit::Dismiss(id.to_owned(), None)));
            }
        } else {
            let text = words.text("findings-dismiss");
            if icon_button(ui, frame, Icon::Hide, text, words.text("cmd-dismiss"), None).clicked() {
                self.ask_reason(id);
            }
        }
        let has_note = frame.notes.comments.contains_key(id);
        let text = words.text("findings-note");
        let hint = if has_note {
            words.text("findings-note-change")
        } else {
            words.text("findings-note-write")
        };
        if icon_button(ui, frame, Icon::Pen, text, hint, None).clicked() {
            self.write_note(id);
        }
    }

    /// The reason and the note that are kept.
    fn said(&self, ui: &mut Ui, frame: &Frame<'_>, id: &str) {
        if let Some(reason) = frame.notes.dismissed.get(id) {
            let text = if reason.is_empty() {
                frame.words.text("findings-dismissed").to_owned()
            } else {
                frame.words.with(
                    "findings-dismissed-because",
                    &[("reason", reason.as_str().into())],
                )
            };
            ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
        }
        let is_written = self
            .field
            .as_ref()
            .is_some_and(|f| f.id == id && f.what == What::Note);
        if let Some(note) = frame.notes.comments.get(id).filter(|_| !is_written) {
            let look = egui::Frame::new()
                .fill(frame.tokens.raised)
                .corner_radius(4.0)
                .inner_margin(6.0);
            look.show(ui, |ui| {
                ui.set_width(ui.available_width());
                ui.label(note);
            });
        }
    }

    fn field_ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, id: &str) {
        let Some(field) = self.field.as_mut().filter(|f| f.id == id) else {
            return;
        };
        let words = frame.words;
        let is_note = field.what == What::Note;
        if field.is_new
            && is_note
            && let Some(note) = frame.notes.comments.get(id)
        {
            field.text.clone_from(note);
        }
        let (name, hint) = if is_note {
            (
                words.text("findings-note"),
                words.text("findings-note-hint"),
            )
        } else {
            (
                words.text("findings-reason"),
                words.text("findings-reason-hint"),
            )
        };
        let label = ui.label(
            egui::RichText::new(name)
                .size(theme::SMALL)
                .color(frame.tokens.text_dim),
        );
        let edit = if is_note {
            // Enter ends a line there; the command key with it ends the note.
            TextEdit::multiline(&mut field.text).desired_rows(3)
        } else {
            TextEdit::singleline(&mut field.text)
        };
        let edit = edit.hint_text(hint).desired_width(f32::INFINITY);
        let response = ui.add(edit).labelled_by(label.id);
        if field.is_new {
            response.request_focus();
            response.scroll_to_me(None);
            field.is_new = false;
        }
        let is_here = response.has_focus() || response.lost_focus();
        let pressed = |modifiers, key| {
            ui.input(|i| i.modifiers.matches_exact(modifiers) && i.key_pressed(key))
        };
        let by_enter = is_here && pressed(Modifiers::COMMAND, Key::Enter)
            || !is_note && response.lost_focus() && pressed(Modifiers::NONE, Key::Enter);
        let by_escape = is_here && ui.input(|i| i.key_pressed(Key::Escape));
        let (mut saves, mut cancels) = (by_enter, by_escape);
        ui.horizontal(|ui| {
            let save = if is_note {
                words.text("findings-save")
            } else {
                words.text("findings-dismiss-short")
            };
            saves |= ui.button(save).clicked();
            cancels |= ui.button(words.text("findings-cancel")).clicked();
        });
        if cancels {
            self.field = None;
        } else if saves && let Some(field) = self.field.take() {
            let text = field.text.trim().to_owned();
            frame.ask(Request::Note(match field.what {
                What::Note => NoteEdit::Comment(field.id, text),
                What::Reason => NoteEdit::Dismiss(field.id, Some(text)),
            }));
        }
    }
}

fn verdicts(ui: &mut Ui, frame: &mut Frame<'_>, id: &str) {
    let words = frame.words;
    let given = frame.notes.verdicts.get(id).copied();
    let choices = [
        (
            Verdict::Confirmed,
            Icon::Check,
            (
                words.text("findings-confirm"),
                words.text("findings-confirmed"),
            ),
            words.text("findings-confirm-hint"),
            frame.tokens.good,
        ),
        (
            Verdict::Refuted,
            Icon::Close,
            (
                words.text("findings-refute"),
                words.text("findings-refuted"),
            ),
            words.text("findings-refute-hint"),
            frame.tokens.error,
        ),
    ];
    for (verdict, icon, (ask, said), hint, colour) in choices {
        let is_given = given == Some(verdict);
        let (text, hint) = if is_given {
            (said, words.text("findings-undo-verdict"))
        } else {
            (ask, hint)
        };
        if icon_button(ui, frame, icon, text, hint, is_given.then_some(colour)).clicked() {
            let wanted = (!is_given).then_some(verdict);
            frame.ask(Request::Note(NoteEdit::Judge(id.to_owned(), wanted)));
        }
    }
}

/// A clock for those who say since when.
pub(super) fn since(frame: &Frame<'_>, t: crate::base::time::Timestamp) -> String {
    let t = clock(frame, t);
    frame
        .words
        .with("findings-onset", &[("t", t.as_str().into())])
}
