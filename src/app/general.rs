//! Commands of the groups File, Edit, View and Look.

use crate::app::App;
use crate::base::time::{NANOS_PER_MS, NANOS_PER_SEC, Timestamp};
use crate::session::notes::Notes;
use crate::session::settings::{Lang, Theme};
use crate::session::view::{Drawer, Selection, View};
use crate::ui::commands::CommandId;
use crate::ui::panels::start::files::Purpose;
use crate::ui::request::{Request, Setting};

/// A step of [`CommandId::Bigger`].
const SCALE_STEP: f32 = 1.1;

impl App {
    /// Carries a command of these groups out.
    pub(super) fn general(&mut self, ctx: &egui::Context, id: CommandId) {
        match id {
            CommandId::Palette => self.panels.palette.toggle(),
            CommandId::Shortcuts => self.panels.palette.toggle_sheet(),
            CommandId::Open => self
                .panels
                .files
                .choose(Purpose::Open, &self.settings.recent),
            CommandId::Export => self.ask_where_to_export(ctx),
            CommandId::Reload => self.reload(ctx),
            CommandId::Close => self.close(),
            CommandId::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            CommandId::Undo => self.step_back(ctx, true),
            CommandId::Redo => self.step_back(ctx, false),
            CommandId::Escape => self.escape(),
            CommandId::AddEvent => self.add_event(),
            CommandId::DrawerFull => {
                self.view.is_drawer_full = !self.view.is_drawer_full && self.view.drawer.is_some();
            }
            _ => {
                if let Some(drawer) = drawer_of(id) {
                    self.view.drawer = Some(drawer);
                } else if let Some(setting) = self.next_look(id) {
                    self.carry_out(ctx, Request::Set(setting));
                }
            }
        }
    }

    /// Undoes one step, or does it again, and says which.
    fn step_back(&mut self, ctx: &egui::Context, is_undo: bool) {
        loop {
            let now = (self.view.clone(), self.notes.clone());
            let mut then = now.clone();
            let has_stepped = if is_undo {
                self.edits.undo(&mut then)
            } else {
                self.edits.redo(&mut then)
            };
            if !has_stepped {
                return;
            }
            let merged = merged(&now, then);
            // A step that changed nothing that is still there is no step for a person.
            if let Some(what) = changed(&now, &merged) {
                (self.view, self.notes) = merged;
                self.follow_selection();
                let what = self.words.text(what).to_owned();
                let key = if is_undo { "undo-done" } else { "redo-done" };
                let text = self.words.with(key, &[("what", (&what).into())]);
                self.tell(ctx, text);
                return;
            }
        }
    }

    /// Closes what lies open, or unpicks what is picked: one thing a press, the nearest first.
    fn escape(&mut self) {
        // What lies open on the timeline goes first.
        if self.panels.timeline.escape() {
            return;
        }
        let view = &mut self.view;
        if view.is_drawer_full {
            view.is_drawer_full = false;
        } else if view.drawer.is_some() {
            view.drawer = None;
        } else if view.measure.is_some() {
            view.measure = None;
        } else if !view.picked.is_empty() {
            view.picked.clear();
        } else if view.selection != Selection::Nothing {
            view.selection = Selection::Nothing;
            self.follow_selection();
        } else {
            view.cursor = None;
        }
    }

    /// Opens the notes with a new event at the cursor, else in the middle of what is shown.
    fn add_event(&mut self) {
        if self.incident.is_none() {
            return;
        }
        let range = self.view.range;
        // As fine as a person writes it.
        let rounded = |t: Timestamp, nanos: i64| {
            Timestamp::from_nanos(t.nanos().div_euclid(nanos).saturating_mul(nanos))
        };
        let middle = range.start.plus_nanos(range.nanos() / 2);
        let at = match self.view.cursor {
            Some(cursor) => rounded(cursor, NANOS_PER_MS),
            None => rounded(middle, NANOS_PER_SEC),
        };
        self.view.drawer = Some(Drawer::Notes);
        self.panels.notes.add(at, self.view.measure);
    }

    /// What a command of the group Look sets.
    fn next_look(&self, id: CommandId) -> Option<Setting> {
        let settings = &self.settings;
        Some(match id {
            CommandId::ThemeNext => Setting::Theme(next(&Theme::ALL, settings.theme)),
            CommandId::LangNext => Setting::Lang(next(&Lang::ALL, settings.lang)),
            CommandId::ZoneNext => {
                let mut zones = vec!["UTC".to_owned(), "local".to_owned()];
                zones.extend(settings.second_zone.clone());
                zones.dedup();
                let at = zones.iter().position(|z| *z == settings.zone);
                let next = at.map_or(0, |at| (at + 1) % zones.len());
                Setting::Zone(zones.swap_remove(next))
            }
            CommandId::Relative => Setting::Relative(!settings.is_relative),
            CommandId::ReducedMotion => Setting::ReducedMotion(!settings.is_motion_reduced),
            CommandId::Bigger => Setting::Scale(settings.scale * SCALE_STEP),
            CommandId::Smaller => Setting::Scale(settings.scale / SCALE_STEP),
            _ => return None,
        })
    }
}

fn next<T: Copy + PartialEq, const N: usize>(all: &[T; N], now: T) -> T {
    let at = all.iter().position(|t| *t == now).unwrap_or(0);
    all.get((at + 1) % N).copied().unwrap_or(now)
}

const fn drawer_of(id: CommandId) -> Option<Drawer> {
    Some(match id {
        CommandId::ShowTrace => Drawer::Trace,
        CommandId::ShowDump => Drawer::Dump,
        CommandId::ShowTable => Drawer::Table,
        CommandId::ShowCompare => Drawer::Compare,
        CommandId::ShowNotes => Drawer::Notes,
        CommandId::ShowInputs => Drawer::Inputs,
        _ => return None,
    })
}

/// What is shown after a step to `then`: a step of the notes leaves the view alone, a step of the view leaves the place in time
/// alone, which has a history of its own.
fn merged(now: &(View, Notes), then: (View, Notes)) -> (View, Notes) {
    let (view, notes) = then;
    if notes != now.1 {
        return (now.0.clone(), notes);
    }
    let view = View {
        range: now.0.range,
        cursor: now.0.cursor,
        measure: now.0.measure,
        drawer: now.0.drawer,
        is_drawer_full: now.0.is_drawer_full,
        focus: now.0.focus.clone(),
        picked: now.0.picked.clone(),
        selection: now.0.selection.clone(),
        ..view
    };
    (view, notes)
}

/// The word for what differs; `None` when nothing does.
fn changed(a: &(View, Notes), b: &(View, Notes)) -> Option<&'static str> {
    let ((view_a, a), (view_b, b)) = (a, b);
    Some(if a.events.len() < b.events.len() {
        "undo-event-back"
    } else if a.events != b.events {
        "undo-event"
    } else if a.edits != b.edits {
        "undo-entry"
    } else if a.summary != b.summary {
        "undo-summary"
    } else if a.pinned != b.pinned {
        "undo-pin"
    } else if a.dismissed != b.dismissed {
        "undo-dismiss"
    } else if a.verdicts != b.verdicts {
        "undo-verdict"
    } else if a.comments != b.comments {
        "undo-comment"
    } else if view_a.lanes != view_b.lanes {
        "undo-lanes"
    } else if view_a.active_lane != view_b.active_lane {
        "undo-view"
    } else {
        return None;
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::TimeRange;
    use crate::session::view::{LaneRow, LaneSpec};

    #[test]
    fn a_step_of_the_notes_leaves_the_view_and_a_step_of_the_view_leaves_the_time() {
        let before = (View::default(), Notes::default());
        let mut now = before.clone();
        now.1.summary = "it was the lock".to_owned();
        now.0.drawer = Some(Drawer::Notes);
        let undone = merged(&now, before.clone());
        assert_eq!(changed(&now, &undone), Some("undo-summary"));
        assert_eq!(undone.0.drawer, Some(Drawer::Notes));
        assert_eq!(undone.1, Notes::default());

        let mut now = before.clone();
        now.0.lanes.push(LaneRow::new(LaneSpec {
            kind: "metric".to_owned(),
            key: "up".to_owned(),
            series: Vec::new(),
        }));
        let at = Timestamp::from_nanos;
        now.0.range = TimeRange::new(at(5), at(9));
        let undone = merged(&now, before);
        assert_eq!(changed(&now, &undone), Some("undo-lanes"));
        assert_eq!(undone.0.range, now.0.range);
        assert!(undone.0.lanes.is_empty());
        assert_eq!(changed(&undone, &undone.clone()), None);
    }

    #[test]
    fn every_theme_and_language_comes_round() {
        let mut theme = Theme::Dark;
        for _ in Theme::ALL {
            theme = next(&Theme::ALL, theme);
        }
        assert_eq!(theme, Theme::Dark);
    }
}
