//! Commands on causes and findings: stepping through the list, verdicts, pins, dismissals, notes.

use crate::app::App;
use crate::session::notes::Verdict;
use crate::session::view::Selection;
use crate::ui::commands::CommandId;
use crate::ui::request::NoteEdit;

impl App {
    /// Carries out a command of the group `Findings`; whether it was one.
    pub(super) fn judge(&mut self, ctx: &egui::Context, id: CommandId) -> bool {
        match id {
            CommandId::SelectNext => self.step(true),
            CommandId::SelectPrevious => self.step(false),
            CommandId::Pin => self.with_picked(ctx, Self::pin_picked),
            CommandId::Dismiss => self.with_picked(ctx, Self::dismiss_picked),
            CommandId::Comment => self.with_picked(ctx, |app, id| {
                app.panels.findings.write_note(id);
            }),
            CommandId::Confirm => self.give_verdict(ctx, Verdict::Confirmed),
            CommandId::Refute => self.give_verdict(ctx, Verdict::Refuted),
            CommandId::FollowFirst => self.with_picked(ctx, Self::follow_first),
            _ => return false,
        }
        true
    }

    fn step(&mut self, is_forward: bool) {
        let next = self.panels.findings.step(&self.view.selection, is_forward);
        if let Some(next) = next {
            self.select(next);
        }
    }

    fn with_picked(&mut self, ctx: &egui::Context, act: impl FnOnce(&mut Self, &str)) {
        if let Some(id) = self.view.selection.id().map(str::to_owned) {
            act(self, &id);
        } else {
            let text = self.words.text("findings-pick-first").to_owned();
            self.tell(ctx, text);
        }
    }

    fn pin_picked(&mut self, id: &str) {
        let is_pinned = self.notes.pinned.contains(id);
        self.edit_notes(NoteEdit::Pin(id.to_owned(), !is_pinned));
    }

    /// Asks for the reason; what is dismissed already comes back.
    fn dismiss_picked(&mut self, id: &str) {
        if self.notes.dismissed.contains_key(id) {
            self.edit_notes(NoteEdit::Dismiss(id.to_owned(), None));
        } else {
            self.panels.findings.ask_reason(id);
        }
    }

    fn give_verdict(&mut self, ctx: &egui::Context, verdict: Verdict) {
        let Selection::Hypothesis(id) = self.view.selection.clone() else {
            let text = self.words.text("findings-pick-cause").to_owned();
            self.tell(ctx, text);
            return;
        };
        let is_given = self.notes.verdicts.get(&id) == Some(&verdict);
        self.edit_notes(NoteEdit::Judge(id, (!is_given).then_some(verdict)));
    }

    fn follow_first(&mut self, id: &str) {
        let incident = self.incident.as_ref();
        let first = incident.and_then(|incident| {
            let links = self.linked.links(Some(incident))?;
            links.first(incident, id)
        });
        if let Some(target) = first {
            self.follow(&target);
        }
    }
}
