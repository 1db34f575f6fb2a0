//! Running an incident again: while it runs, the rows and the report that everything else sees are those of its present.
//!
//! What was there before (view, notes, steps of undo) is put aside and comes back at the end; what the person says meanwhile is
//! kept with it. Nothing of the replay is saved.

use std::collections::BTreeMap;

use crate::app::{App, Panels};
use crate::base::time::{TimeRange, Timestamp};
use crate::engine::replay::Hindsight;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::replay::{self, Clock, Now, Story};
use crate::session::undo::History;
use crate::session::view::{Selection, View};
use crate::ui::commands::{self, CommandId};
use crate::ui::panels::replay::review::Review;
use crate::ui::request::ReplayEdit;

/// What replays tell takes the place of what they told before.
const REPLAY: &str = "replay";

/// A replay that goes on.
#[derive(Debug)]
pub(crate) struct Replay {
    clock: Clock,
    hindsight: Hindsight,
    /// Up to when what is shown was found out.
    as_of: Option<Timestamp>,
    /// Whether the present was moved by hand: what was asked before does not matter any more.
    must_hurry: bool,
    story: Story,
    before: Before,
}

/// What is put aside for as long.
#[derive(Debug)]
struct Before {
    view: View,
    notes: Notes,
    edits: History<(View, Notes)>,
    zooms: History<TimeRange>,
    first_range: Option<TimeRange>,
}

impl Replay {
    pub(super) const fn now(&self) -> Now {
        self.clock.now(self.as_of)
    }

    pub(super) const fn whole(&self) -> &Incident {
        self.hindsight.whole()
    }

    /// The view that is to be kept, and the notes with what was said in the replay.
    pub(super) fn kept(&self, said: &Notes) -> (View, Notes) {
        (self.before.view.clone(), merged(said, &self.before.notes))
    }
}

/// What was said in a replay, with what was said before.
fn merged(said: &Notes, before: &Notes) -> Notes {
    let mut notes = said.clone();
    notes.take_in(before.clone());
    notes
}

impl App {
    /// Where the replay stands, while one goes on.
    pub fn replay(&self) -> Option<Now> {
        self.replay.as_deref().map(Replay::now)
    }

    /// What is compared after a replay, while it is shown.
    pub const fn review(&self) -> Option<&Review> {
        self.review.as_ref()
    }

    /// Carries out a command of the group Replay.
    pub(super) fn replay_command(&mut self, ctx: &egui::Context, id: CommandId) {
        if id == CommandId::Replay {
            if self.replay.is_some() {
                self.end_replay();
            } else {
                self.start_replay(ctx);
            }
            return;
        }
        let Some(replay) = &mut self.replay else {
            self.tell_with_key(ctx, "replay-none", CommandId::Replay);
            return;
        };
        let clock = &mut replay.clock;
        match id {
            CommandId::ReplayPlay => clock.play(!clock.is_playing()),
            CommandId::ReplayForward => clock.step(true),
            CommandId::ReplayBack => clock.step(false),
            CommandId::ReplayNext => clock.jump(true),
            CommandId::ReplayPrevious => clock.jump(false),
            CommandId::ReplayFaster => clock.shift(true),
            CommandId::ReplaySlower => clock.shift(false),
            _ => return,
        }
        let is_speed = matches!(id, CommandId::ReplayFaster | CommandId::ReplaySlower);
        replay.must_hurry |= !is_speed;
        ctx.request_repaint();
    }

    /// Moves the present as the bar asks.
    pub(super) fn edit_replay(&mut self, ctx: &egui::Context, edit: ReplayEdit) {
        match (edit, &mut self.replay) {
            (ReplayEdit::CloseReview, _) => self.review = None,
            (ReplayEdit::Go(t), Some(replay)) => {
                replay.clock.go(t);
                replay.must_hurry = true;
            }
            (ReplayEdit::Speed(speed), Some(replay)) => replay.clock.set_speed(speed),
            (ReplayEdit::Go(_) | ReplayEdit::Speed(_), None) => {}
        }
        ctx.request_repaint();
    }

    fn start_replay(&mut self, ctx: &egui::Context) {
        let whole = self
            .incident
            .as_ref()
            .filter(|i| i.report.is_some() && self.load.is_none());
        let Some(whole) = whole.cloned() else {
            let text = self.words.text("replay-wait").to_owned();
            return self.tell_of(ctx, REPLAY, text);
        };
        let clock = Clock::new(&whole);
        let range = whole.document.recording;
        let hindsight = match Hindsight::new(whole) {
            Ok(hindsight) => hindsight,
            Err(error) => {
                let why = error.to_string();
                let text = self
                    .words
                    .with("replay-failed", &[("why", why.as_str().into())]);
                return self.tell_of(ctx, REPLAY, text);
            }
        };
        let view = View {
            range,
            ..View::default()
        };
        let before = Before {
            view: std::mem::replace(&mut self.view, view),
            notes: std::mem::take(&mut self.notes),
            edits: std::mem::take(&mut self.edits),
            zooms: std::mem::take(&mut self.zooms),
            first_range: self.first_range.take(),
        };
        self.incident = Some(hindsight.nothing());
        self.replay = Some(Box::new(Replay {
            clock,
            hindsight,
            as_of: None,
            must_hurry: true,
            story: Story::default(),
            before,
        }));
        // Nothing that was told, searched or prepared of the whole may be seen any more.
        self.review = None;
        self.messages.clear();
        self.forget_prepared();
        self.tell_with_key(ctx, "replay-started", CommandId::ReplayPlay);
    }

    /// Before each frame: moves the present, and shows what was known when it is found out.
    pub(super) fn work_replay(&mut self, ctx: &egui::Context) {
        let Some(replay) = &mut self.replay else {
            return;
        };
        let is_still = self.settings.is_motion_reduced;
        replay.clock.tick(ctx.input(|i| i.time), is_still);
        match replay.clock.next_frame_s(is_still) {
            // What a screen shows anyway comes with the next frame.
            Some(s) if s < 0.02 => ctx.request_repaint(),
            Some(s) => ctx.request_repaint_after_secs(s as f32),
            None => {}
        }
        let is_over = replay.clock.is_over();
        let due = replay.clock.due();
        let known = if replay.as_of == Some(due) {
            None
        } else if is_over {
            // Everything is known: that is the whole, with its own report.
            Some((due, replay.whole().clone()))
        } else {
            let must_hurry = std::mem::take(&mut replay.must_hurry) || !replay.clock.is_playing();
            replay.hindsight.want(&self.pool, due, must_hurry)
        };
        if let Some((t, incident)) = known.filter(|(t, _)| replay.as_of != Some(*t)) {
            self.show_known(t, incident);
            ctx.request_repaint();
        }
    }

    /// Shows what was known at `t` in place of what is shown.
    fn show_known(&mut self, t: Timestamp, incident: Incident) {
        let Some(old) = self.incident.replace(incident) else {
            return;
        };
        self.carry(&old);
        if let (Some(replay), Some(new)) = (&mut self.replay, &self.incident) {
            let heirs = replay::heirs(&old, new);
            replay.story.tell(t, new, &heirs);
            replay.as_of = Some(t);
            self.take_over(&heirs);
        }
        self.retire(Some(old));
        self.drop_lost_selection();
        self.follow_selection();
    }

    /// What was picked and said of one id is of its heir now.
    fn take_over(&mut self, heirs: &BTreeMap<String, String>) {
        if heirs.is_empty() {
            return;
        }
        if let Selection::Hypothesis(id) | Selection::Finding(id) = &mut self.view.selection
            && let Some(heir) = heirs.get(id)
        {
            id.clone_from(heir);
        }
        replay::rename(&mut self.notes, heirs);
        self.edits.adjust(|(_, notes)| replay::rename(notes, heirs));
    }

    /// Shows all again, with what the person said, and compares.
    fn end_replay(&mut self) {
        let now = self.replay();
        // What was said of a cause as it was known is said of the same cause of the whole.
        if let Some(whole) = self.replay.as_ref().map(|r| r.whole().clone()) {
            let end = whole.document.recording.end;
            let as_of = now.and_then(|n| n.as_of);
            if as_of != Some(end)
                && let Some(shown) = &self.incident
            {
                let heirs = replay::heirs(shown, &whole);
                if let Some(replay) = &mut self.replay {
                    replay
                        .story
                        .tell(Timestamp::MAX, &nothing_new(&whole), &heirs);
                }
                self.take_over(&heirs);
            }
        }
        let verdicts = self.notes.verdicts.clone();
        let story = self.put_back();
        if let (Some(now), Some(story)) = (now, story) {
            self.review = Some(Review {
                now,
                story,
                verdicts,
            });
        }
    }

    /// Ends a replay without a word, since something else is opened or read: everything is as it was before it, with what the
    /// person said.
    pub(super) fn put_back(&mut self) -> Option<Story> {
        let replay = *self.replay.take()?;
        let Before {
            view,
            notes,
            mut edits,
            zooms,
            first_range,
        } = replay.before;
        let said = std::mem::take(&mut self.notes);
        self.notes = merged(&said, &notes);
        // A step back of before must not take away what was said since.
        edits.adjust(|(_, notes)| *notes = merged(&said, notes));
        let picked = std::mem::replace(&mut self.view, view).selection;
        let whole = replay.hindsight.into_whole();
        let is_there = picked
            .id()
            .is_some_and(|id| whole.finding(id).is_some() || whole.hypothesis(id).is_some());
        if is_there {
            self.view.selection = picked;
        }
        self.edits = edits;
        self.zooms = zooms;
        self.first_range = first_range;
        let old = self.incident.replace(whole);
        self.retire(old);
        self.forget_prepared();
        Some(replay.story)
    }

    /// Lanes, lists and views that were prepared of other rows.
    fn forget_prepared(&mut self) {
        let old = std::mem::take(&mut self.panels);
        self.panels = Panels {
            start: old.start,
            files: old.files,
            ..Panels::default()
        };
        self.follow_selection();
    }

    fn tell_with_key(&mut self, ctx: &egui::Context, word: &'static str, id: CommandId) {
        let key = commands::command(id)
            .and_then(|c| c.shortcut)
            .map(|s| ctx.format_shortcut(&s))
            .unwrap_or_default();
        let text = self.words.with(word, &[("key", key.as_str().into())]);
        self.tell_of(ctx, REPLAY, text);
    }
}

/// An incident in which nothing is found, so that only heirs are told of.
fn nothing_new(whole: &Incident) -> Incident {
    Incident {
        report: None,
        ..whole.clone()
    }
}
