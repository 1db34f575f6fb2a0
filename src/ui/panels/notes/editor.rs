//! What is edited: an entry's title, or all of an own event. Nothing changes before it is saved, so that one change is one step of undo.

use egui::{Key, Modifiers, RichText, Ui};

use crate::base::time::{Timestamp, Zone};
use crate::session::notes::{Edit, OwnEvent};
use crate::session::timeline::Entry;
use crate::ui::frame::Frame;
use crate::ui::panels::notes::{Notes, Picked, when};
use crate::ui::request::{NoteEdit, Request};
use crate::ui::widgets::text::primary;

/// What a draft becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Becomes {
    /// A new own event.
    New,
    /// A change of this own event.
    Own(OwnEvent),
    /// An edit of the entry of that id, which says this by itself.
    Entry { id: String, first_title: String },
}

/// What is half-typed.
#[derive(Debug)]
pub(super) struct Draft {
    becomes: Becomes,
    day: Timestamp,
    until: Option<Timestamp>,
    title: String,
    text: String,
    start: String,
    end: String,
    /// The zone that `start` and `end` are written in; empty before the first frame.
    zone: String,
    problem: Option<&'static str>,
    is_dirty: bool,
    pub(super) must_focus: bool,
}

impl Draft {
    fn new(becomes: Becomes, day: Timestamp, until: Option<Timestamp>) -> Self {
        Self {
            becomes,
            day,
            until,
            title: String::new(),
            text: String::new(),
            start: String::new(),
            end: String::new(),
            zone: String::new(),
            problem: None,
            is_dirty: false,
            must_focus: false,
        }
    }

    /// A new event.
    pub(super) fn of_new(start: Timestamp, end: Option<Timestamp>) -> Self {
        Self {
            must_focus: true,
            ..Self::new(Becomes::New, start, end)
        }
    }

    pub(super) fn of_own(event: OwnEvent) -> Self {
        let (title, text) = (event.title.clone(), event.text.clone());
        let (start, end) = (event.start, event.end);
        Self {
            title,
            text,
            ..Self::new(Becomes::Own(event), start, end)
        }
    }

    pub(super) fn of_entry(entry: &Entry) -> Self {
        let first_title = entry.first_title.as_ref().unwrap_or(&entry.title).clone();
        let id = entry.id.clone();
        Self {
            title: entry.title.clone(),
            ..Self::new(Becomes::Entry { id, first_title }, entry.start, entry.end)
        }
    }

    /// Whether something was typed that is not saved.
    pub(super) const fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Writes the times in the zone of the axis; what was typed in another zone stays the same instant.
    fn follow_zone(&mut self, name: &str, zone: &Zone) {
        if self.zone == name {
            return;
        }
        let mut start = Some(self.day);
        let mut end = self.until;
        if !self.zone.is_empty() {
            let old = Zone::parse(&self.zone).unwrap_or_default();
            start = when::read(&self.start, &old, self.day);
            end = when::read(&self.end, &old, start.unwrap_or(self.day));
        }
        if let Some(start) = start {
            self.start = when::written(start, zone);
        }
        if let Some(end) = end {
            self.end = when::written_after(end, zone, start.unwrap_or(self.day));
        }
        name.clone_into(&mut self.zone);
    }

    /// The event that was typed, or what is wrong with it.
    fn event(&self, zone: &Zone) -> Result<OwnEvent, &'static str> {
        let title = self.title.trim().to_owned();
        if title.is_empty() {
            return Err("notes-wrong-title");
        }
        let start = when::read(&self.start, zone, self.day).ok_or("notes-wrong-start")?;
        let end = match self.end.trim() {
            "" => None,
            typed => Some(when::read(typed, zone, start).ok_or("notes-wrong-end")?),
        };
        if end.is_some_and(|end| end < start) {
            return Err("notes-wrong-order");
        }
        Ok(OwnEvent {
            start,
            end,
            title,
            text: self.text.trim().to_owned(),
        })
    }
}

impl Notes {
    /// Draws the draft, when there is one.
    pub(super) fn editor(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let Some(mut draft) = self.draft.take() else {
            return;
        };
        draft.follow_zone(&frame.settings.zone, frame.zone);
        let is_own = !matches!(draft.becomes, Becomes::Entry { .. });
        let title = fields(ui, &mut draft, is_own, frame);
        let is_saved_by_key = title.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let is_saved_at_once = ui.input_mut(|i| i.consume_key(Modifiers::COMMAND, Key::Enter));
        let pressed = buttons(ui, &draft, is_own, frame);
        ui.separator();
        match pressed {
            Some(Pressed::Cancel) => {
                self.picked = None;
                return;
            }
            Some(Pressed::Delete) => {
                if let Becomes::Own(event) = &draft.becomes
                    && let Some(at) = frame.notes.events.iter().position(|e| e == event)
                {
                    frame.ask(Request::Note(NoteEdit::RemoveEvent(at)));
                }
                self.picked = None;
                return;
            }
            Some(Pressed::Restore) => {
                if let Becomes::Entry { id, first_title } = &draft.becomes {
                    draft.title.clone_from(first_title);
                    frame.ask(Request::Note(NoteEdit::Entry(id.clone(), None)));
                }
                draft.is_dirty = false;
            }
            Some(Pressed::Save) => self.save(&mut draft, frame),
            None if is_saved_by_key || is_saved_at_once => self.save(&mut draft, frame),
            None => {}
        }
        self.draft = Some(draft);
    }

    fn save(&mut self, draft: &mut Draft, frame: &mut Frame<'_>) {
        if let Becomes::Entry { id, first_title } = &draft.becomes {
            let title = draft.title.trim();
            let mut edit: Edit = frame.notes.edits.get(id).cloned().unwrap_or_default();
            // An empty title gives the entry its own words back.
            let is_own_words = title.is_empty() || title == first_title;
            edit.title = (!is_own_words).then(|| title.to_owned());
            let edit = Some(edit).filter(|e| *e != Edit::default());
            if frame.notes.edits.get(id) != edit.as_ref() {
                frame.ask(Request::Note(NoteEdit::Entry(id.clone(), edit)));
            }
            if title.is_empty() {
                draft.title.clone_from(first_title);
            }
            draft.is_dirty = false;
            return;
        }
        let event = match draft.event(frame.zone) {
            Ok(event) => event,
            Err(problem) => {
                draft.problem = Some(problem);
                draft.must_focus = problem == "notes-wrong-title";
                return;
            }
        };
        let place = match &draft.becomes {
            Becomes::Own(old) => frame.notes.events.iter().position(|e| e == old),
            Becomes::New | Becomes::Entry { .. } => None,
        };
        match place {
            Some(at) if frame.notes.events.get(at) == Some(&event) => {}
            Some(at) => frame.ask(Request::Note(NoteEdit::ChangeEvent(at, event.clone()))),
            None => frame.ask(Request::Note(NoteEdit::AddEvent(event.clone()))),
        }
        self.picked = Some(Picked::Own(event.clone()));
        self.must_show = true;
        *draft = Draft::of_own(event);
    }
}

/// Draws the fields; gives the response of the title.
fn fields(ui: &mut Ui, draft: &mut Draft, is_own: bool, frame: &Frame<'_>) -> egui::Response {
    let words = frame.words;
    let label = if is_own {
        words.text("notes-title-own")
    } else {
        words.text("notes-title")
    };
    let title = ui
        .add(
            egui::TextEdit::singleline(&mut draft.title)
                .id(egui::Id::unique("notes-title"))
                .hint_text(label)
                .desired_width(f32::INFINITY),
        )
        .on_hover_text(label);
    if std::mem::take(&mut draft.must_focus) {
        title.request_focus();
    }
    let mut is_changed = title.changed();
    if is_own {
        ui.horizontal(|ui| {
            for (text, key, width) in [
                (&mut draft.start, "notes-start", 178.0),
                (&mut draft.end, "notes-end", 112.0),
            ] {
                let field = egui::TextEdit::singleline(text)
                    .font(egui::TextStyle::Monospace)
                    .hint_text(words.text(key))
                    .desired_width(width);
                is_changed |= ui.add(field).on_hover_text(words.text(key)).changed();
            }
            let zone = frame.zone.short_name(draft.day);
            let zone = RichText::new(zone).small().color(frame.tokens.text_faint);
            ui.add(egui::Label::new(zone).truncate());
        });
        let label = words.text("notes-text");
        let field = egui::TextEdit::multiline(&mut draft.text)
            .desired_rows(2)
            .desired_width(f32::INFINITY)
            .hint_text(label);
        is_changed |= ui.add(field).on_hover_text(label).changed();
    }
    if is_changed {
        draft.is_dirty = true;
        draft.problem = None;
    }
    title
}

enum Pressed {
    Save,
    Cancel,
    Delete,
    Restore,
}

fn buttons(ui: &mut Ui, draft: &Draft, is_own: bool, frame: &Frame<'_>) -> Option<Pressed> {
    let words = frame.words;
    let tokens = frame.tokens;
    let mut pressed = None;
    ui.horizontal(|ui| {
        let key = match draft.becomes {
            Becomes::New => "notes-save-new",
            Becomes::Own(_) | Becomes::Entry { .. } => "notes-save",
        };
        if primary(ui, tokens, words.text(key)).clicked() {
            pressed = Some(Pressed::Save);
        }
        if ui.button(words.text("notes-cancel")).clicked() {
            pressed = Some(Pressed::Cancel);
        }
        match &draft.becomes {
            Becomes::Own(_) => {
                if ui.button(words.text("notes-delete")).clicked() {
                    pressed = Some(Pressed::Delete);
                }
            }
            Becomes::Entry { id, .. } if frame.notes.edits.contains_key(id) => {
                if ui.button(words.text("notes-own-words")).clicked() {
                    pressed = Some(Pressed::Restore);
                }
            }
            Becomes::Entry { .. } | Becomes::New => {}
        }
        let (text, colour) = match (draft.problem, &draft.becomes) {
            (Some(problem), _) => (words.text(problem).to_owned(), tokens.error),
            (None, Becomes::Entry { first_title, .. }) if *first_title != draft.title => (
                words.with("notes-first", &[("title", first_title.into())]),
                tokens.text_faint,
            ),
            (None, _) if draft.is_dirty && is_own => {
                (words.text("notes-unsaved").to_owned(), tokens.text_faint)
            }
            _ => return,
        };
        ui.add(egui::Label::new(RichText::new(text).small().color(colour)).truncate());
    });
    pressed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(title: &str, start: &str, end: &str) -> Draft {
        Draft {
            title: title.to_owned(),
            start: start.to_owned(),
            end: end.to_owned(),
            ..Draft::of_new(Timestamp::from_nanos(0), None)
        }
    }

    #[test]
    fn what_is_wrong_is_said_and_the_rest_becomes_an_event() {
        let utc = Zone::utc();
        let wrong = |d: Draft| d.event(&utc).unwrap_err();
        assert_eq!(wrong(draft(" ", "00:01", "")), "notes-wrong-title");
        assert_eq!(wrong(draft("x", "soon", "")), "notes-wrong-start");
        assert_eq!(wrong(draft("x", "00:01", "never")), "notes-wrong-end");
        assert_eq!(wrong(draft("x", "00:02", "00:01")), "notes-wrong-order");
        let event = draft(" called ", "00:01", "00:02").event(&utc).unwrap();
        assert_eq!(event.title, "called");
        assert_eq!(event.start, Timestamp::from_nanos(60_000_000_000));
        assert_eq!(event.end, Some(Timestamp::from_nanos(120_000_000_000)));
    }

    #[test]
    fn another_zone_keeps_the_instant() {
        let mut draft = Draft::of_new(Timestamp::from_nanos(0), None);
        draft.follow_zone("UTC", &Zone::utc());
        assert_eq!(draft.start, "1970-01-01 00:00:00");
        let seoul = Zone::parse("Asia/Seoul").unwrap();
        draft.follow_zone("Asia/Seoul", &seoul);
        assert_eq!(draft.start, "1970-01-01 09:00:00");
        assert_eq!(draft.end, "");
    }
}
