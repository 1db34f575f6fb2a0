//! Every change of state: what panels and shortcuts ask for is carried out here and nowhere else.

use crate::app::{App, Told};
use crate::engine::load::Opening;
use crate::session::notes::Verdict;
use crate::session::settings::Settings;
use crate::session::view::LaneRow;
use crate::ui::commands::{self, CommandId, Group};
use crate::ui::request::{FocusEdit, LaneEdit, NoteEdit, Request, Setting};
use crate::words::warnings;

/// How long the person is told something, in seconds.
const TOLD_S: f64 = 6.0;

impl App {
    /// Carries one wish out.
    pub(super) fn carry_out(&mut self, ctx: &egui::Context, request: Request) {
        match request {
            Request::Command(id) => self.command(ctx, id),
            Request::Open(paths) => self.open_paths(ctx, paths),
            Request::CancelOpen => self.cancel_open(),
            Request::Select(selection) => self.select(selection),
            Request::Follow(target) => self.follow(&target),
            Request::Pick(targets) => self.view.picked = targets,
            Request::PickBox(targets) => self.pick_box(ctx, targets),
            Request::Range(range) => {
                self.zooms.keep(&self.view.range);
                self.view.range = range;
            }
            Request::Glide(range) => self.view.range = range,
            Request::Cursor(cursor) => self.view.cursor = cursor,
            Request::Measure(range) => self.view.measure = range,
            Request::Lanes(edit) => self.edit_lanes(edit),
            Request::Drawer(drawer) => {
                self.view.drawer = drawer;
                self.view.is_drawer_full &= drawer.is_some();
            }
            Request::DrawerFull(is_full) => self.view.is_drawer_full = is_full,
            Request::Focus(edit) => self.edit_focus(edit),
            Request::Compare(windows) => {
                self.keep();
                self.view.compare = windows;
            }
            Request::Note(edit) => self.edit_notes(edit),
            Request::Set(setting) => {
                self.set(setting);
                self.follow_settings(ctx);
            }
            Request::Export(wish) => self.export(ctx, wish),
            Request::Replay(edit) => self.edit_replay(ctx, edit),
            Request::Copy(text) => ctx.copy_text(text),
            Request::Tell(text) => self.tell(ctx, text),
            Request::TellOf(topic, text) => self.tell_of(ctx, topic, text),
        }
    }

    /// Tells the person something for a few seconds.
    pub(super) fn tell(&mut self, ctx: &egui::Context, text: String) {
        self.tell_of(ctx, "", text);
    }

    /// The same, in place of what was told of that topic before; the empty topic is all that has none.
    pub(super) fn tell_of(&mut self, ctx: &egui::Context, topic: &'static str, text: String) {
        let until = ctx.input(|i| i.time) + TOLD_S;
        self.messages
            .retain(|told| topic.is_empty() || told.topic != topic);
        self.messages.push(Told { topic, text, until });
        // A card stands where its size of the frame before puts it: one more frame, then quiet until it goes.
        ctx.request_repaint();
        ctx.request_repaint_after_secs(TOLD_S as f32);
    }

    /// Stops the reading and shows what is there; once that is done, leaves the rest of the work, too.
    fn cancel_open(&mut self) {
        let is_reading = self.progress.as_ref().is_some_and(|p| !p.is_analysing);
        match &self.load {
            Some(load) if is_reading => load.cancel(),
            _ => self.end_load(),
        }
    }

    /// Reads the same inputs again; what is shown stays until they are there, and view and notes after that.
    pub(super) fn reload(&mut self, ctx: &egui::Context) {
        if self.opening.paths.is_empty() {
            return;
        }
        self.put_back();
        let opening = Opening {
            is_reload: self.incident.is_some(),
            ..self.opening.clone()
        };
        if let Err(error) = self.open(opening) {
            self.tell(ctx, warnings::why(self.words, &error.to_string()));
        }
    }

    pub(super) fn open_paths(&mut self, ctx: &egui::Context, paths: Vec<std::path::PathBuf>) {
        self.close();
        let opening = Opening {
            paths,
            options: self.opening.options.clone(),
            ..Opening::default()
        };
        if let Err(error) = self.open(opening) {
            self.tell(ctx, warnings::why(self.words, &error.to_string()));
        }
    }

    pub(super) fn close(&mut self) {
        self.put_back();
        self.review = None;
        self.save_and_forget();
        self.end_load();
        let old = self.incident.take();
        self.retire(old);
        self.first_range = None;
        self.edits.clear();
        self.zooms.clear();
        self.view = crate::session::view::View::default();
        self.notes = crate::session::notes::Notes::default();
        self.panels.timeline.reset();
        self.follow_selection();
    }

    fn keep(&mut self) {
        self.edits.keep(&(self.view.clone(), self.notes.clone()));
    }

    pub(super) fn edit_lanes(&mut self, edit: LaneEdit) {
        if !matches!(edit, LaneEdit::Activate(_) | LaneEdit::Open(_)) {
            self.keep();
        }
        let lanes = &mut self.view.lanes;
        match edit {
            LaneEdit::Add(spec, at) => {
                let at = at.unwrap_or(lanes.len()).min(lanes.len());
                lanes.insert(at, LaneRow::new(spec));
                self.view.active_lane = at;
            }
            LaneEdit::Remove(at) => {
                if at < lanes.len() {
                    lanes.remove(at);
                }
            }
            LaneEdit::Move { from, to } => {
                if from < lanes.len() && to < lanes.len() {
                    let lane = lanes.remove(from);
                    lanes.insert(to, lane);
                    self.view.active_lane = to;
                }
            }
            LaneEdit::Height(at, height) => {
                if let Some(lane) = lanes.get_mut(at) {
                    lane.height = Some(height);
                }
            }
            LaneEdit::Collapse(at, is_collapsed) => {
                if let Some(lane) = lanes.get_mut(at) {
                    lane.is_collapsed = is_collapsed;
                }
            }
            LaneEdit::Log(at, is_log) => {
                if let Some(lane) = lanes.get_mut(at) {
                    lane.is_log = Some(is_log);
                }
            }
            LaneEdit::Overlay(at, selector) => {
                if let Some(lane) = lanes.get_mut(at) {
                    lane.spec.series.push(selector);
                }
            }
            LaneEdit::Activate(at) => self.view.active_lane = at,
            LaneEdit::All(all) | LaneEdit::Open(all) => *lanes = all,
        }
        let last = self.view.lanes.len().saturating_sub(1);
        self.view.active_lane = self.view.active_lane.min(last);
    }

    fn edit_focus(&mut self, edit: FocusEdit) {
        let focus = &mut self.view.focus;
        match edit {
            FocusEdit::Trace(trace) => {
                focus.trace = trace;
                focus.span = None;
            }
            FocusEdit::Span(span) => focus.span = span,
            FocusEdit::Profile(profile) => {
                focus.profile = profile;
                focus.stack = None;
                focus.compare_profile = focus.compare_profile.filter(|b| Some(*b) != profile);
            }
            FocusEdit::CompareProfile(profile) => focus.compare_profile = profile,
            FocusEdit::Stack(stack) => focus.stack = stack,
            FocusEdit::Table(table, filter) => {
                focus.table = Some(table);
                focus.table_filter = filter;
                focus.table_row = None;
            }
            FocusEdit::Row(row) => focus.table_row = row,
        }
    }

    pub(super) fn edit_notes(&mut self, edit: NoteEdit) {
        self.keep();
        let notes = &mut self.notes;
        match edit {
            NoteEdit::Pin(id, true) => {
                notes.pinned.insert(id);
            }
            NoteEdit::Pin(id, false) => {
                notes.pinned.remove(&id);
            }
            NoteEdit::Dismiss(id, Some(reason)) => {
                // Who dismisses a cause takes back that it was the cause; a refuted one stays refuted.
                if notes.verdicts.get(&id) == Some(&Verdict::Confirmed) {
                    notes.verdicts.remove(&id);
                }
                notes.dismissed.insert(id, reason);
            }
            NoteEdit::Dismiss(id, None) => {
                notes.dismissed.remove(&id);
            }
            NoteEdit::Comment(id, text) if text.trim().is_empty() => {
                notes.comments.remove(&id);
            }
            NoteEdit::Comment(id, text) => {
                notes.comments.insert(id, text);
            }
            NoteEdit::Judge(id, Some(verdict)) => {
                if verdict == Verdict::Confirmed {
                    notes.dismissed.remove(&id);
                }
                notes.verdicts.insert(id, verdict);
            }
            NoteEdit::Judge(id, None) => {
                notes.verdicts.remove(&id);
            }
            NoteEdit::AddEvent(event) => {
                notes.events.push(event);
                notes.events.sort();
            }
            NoteEdit::ChangeEvent(at, event) => {
                if let Some(old) = notes.events.get_mut(at) {
                    *old = event;
                    notes.events.sort();
                }
            }
            NoteEdit::RemoveEvent(at) => {
                if at < notes.events.len() {
                    notes.events.remove(at);
                }
            }
            NoteEdit::Entry(id, Some(edit)) => {
                notes.edits.insert(id, edit);
            }
            NoteEdit::Entry(id, None) => {
                notes.edits.remove(&id);
            }
            NoteEdit::Summary(text) => notes.summary = text,
        }
    }

    fn set(&mut self, setting: Setting) {
        let settings: &mut Settings = &mut self.settings;
        match setting {
            Setting::Theme(theme) => settings.theme = theme,
            Setting::Lang(lang) => settings.lang = lang,
            Setting::Zone(zone) => settings.zone = zone,
            Setting::SecondZone(zone) => settings.second_zone = zone,
            Setting::Relative(is_relative) => settings.is_relative = is_relative,
            Setting::ReducedMotion(is_reduced) => settings.is_motion_reduced = is_reduced,
            Setting::Scale(scale) => settings.scale = scale.clamp(0.6, 3.0),
            Setting::SideWidth(width) => settings.side_width = width,
            Setting::DrawerHeight(height) => settings.drawer_height = height,
            Setting::Forget(paths) => settings.recent.retain(|r| *r != paths),
            Setting::ExplainHeight(height) => settings.explain_height = height,
            Setting::Sql(query) => {
                settings.sql_history.retain(|q| *q != query);
                settings.sql_history.insert(0, query);
                settings.sql_history.truncate(100);
            }
        }
    }

    /// Each group has a file of its own.
    fn command(&mut self, ctx: &egui::Context, id: CommandId) {
        let Some(command) = commands::command(id) else {
            return;
        };
        match command.group {
            Group::File | Group::Edit | Group::View | Group::Look => self.general(ctx, id),
            Group::Move | Group::Lanes => {
                self.move_command(ctx, id);
            }
            Group::Findings => {
                self.judge(ctx, id);
            }
            Group::Replay => self.replay_command(ctx, id),
        }
    }
}
