//! Moving in time and shaping lanes by command: what the keys of the groups Move and Lanes do.

use egui::Context;

use crate::app::App;
use crate::base::time::{TimeRange, Timestamp};
use crate::model::finding::{Finding, FindingKind};
use crate::session::view::{Drawer, LaneRow, Selection};
use crate::ui::commands::CommandId;
use crate::ui::lanes;
use crate::ui::request::{FocusEdit, LaneEdit, Request};
use crate::ui::timeline::navigate::{Bounds, NARROWEST_NANOS};
use crate::ui::timeline::seek::Seek;

/// How much of the time one press of zoom leaves.
const ZOOM: f64 = 0.65;
/// Which part of the width one press of pan moves.
const PAN: i64 = 5;
/// What moving says takes the place of what it said before.
const MOVES: &str = "moves";
/// Points that one press makes a lane taller or shorter.
const TALLER: i32 = 24;

impl App {
    /// Carries out a command of the groups Move and Lanes; `false` when it is of another.
    pub(super) fn move_command(&mut self, ctx: &Context, id: CommandId) -> bool {
        let Some(bounds) = self.incident.as_ref().map(Bounds::of) else {
            return false;
        };
        match id {
            CommandId::ZoomIn => self.zoom(ctx, &bounds, ZOOM),
            CommandId::ZoomOut => self.zoom(ctx, &bounds, 1.0 / ZOOM),
            CommandId::PanLeft => self.pan(ctx, &bounds, -1),
            CommandId::PanRight => self.pan(ctx, &bounds, 1),
            CommandId::SampleBack => self.seek(ctx, Seek::Step, false),
            CommandId::SampleForward => self.seek(ctx, Seek::Step, true),
            CommandId::NextOutlier => self.seek(ctx, Seek::Outlier, true),
            CommandId::PreviousOutlier => self.seek(ctx, Seek::Outlier, false),
            CommandId::GoStart => self.cursor_to(ctx, &bounds, bounds.recording.start),
            CommandId::GoEnd => self.cursor_to(ctx, &bounds, bounds.recording.end.plus_nanos(-1)),
            CommandId::NextGap => self.find(ctx, &bounds, true, is_gap),
            CommandId::PreviousGap => self.find(ctx, &bounds, false, is_gap),
            CommandId::NextFinding => self.find(ctx, &bounds, true, |f| !is_change(f)),
            CommandId::PreviousFinding => self.find(ctx, &bounds, false, |f| !is_change(f)),
            CommandId::NextChange => self.find(ctx, &bounds, true, is_change),
            CommandId::PreviousChange => self.find(ctx, &bounds, false, is_change),
            CommandId::EdgeStart | CommandId::EdgeEnd => self.edge(ctx, &bounds, id),
            CommandId::MeasureHere => self.measure_here(ctx),
            CommandId::ZoomMeasure => self.zoom_measure(ctx, &bounds),
            CommandId::ZoomAll => self.carry_out(ctx, Request::Range(bounds.recording)),
            CommandId::ZoomBack => {
                self.zooms.undo(&mut self.view.range);
            }
            CommandId::ZoomForward => {
                self.zooms.redo(&mut self.view.range);
            }
            CommandId::GoTime => self.panels.timeline.go_to_time(),
            _ => return self.lane_command(ctx, id),
        }
        ctx.request_repaint();
        true
    }

    fn lane_command(&mut self, ctx: &Context, id: CommandId) -> bool {
        let at = self.view.active_lane;
        let count = self.view.lanes.len();
        let row = self.view.lanes.get(at).cloned();
        let edit = match (id, row) {
            (CommandId::LaneUp, _) => Some(LaneEdit::Activate(at.saturating_sub(1))),
            (CommandId::LaneDown, _) => Some(LaneEdit::Activate((at + 1).min(count.max(1) - 1))),
            (CommandId::LaneAdd, _) => {
                self.panels.timeline.add_lane(false);
                None
            }
            (CommandId::LanesReset, _) => self.panels.timeline.opening().map(LaneEdit::All),
            (CommandId::LanesByEntity, _) => {
                let grouped = self.panels.timeline.grouped(&self.view.lanes);
                (grouped != self.view.lanes).then_some(LaneEdit::All(grouped))
            }
            (CommandId::LaneRemove, Some(_)) => Some(LaneEdit::Remove(at)),
            (CommandId::LaneMoveUp, Some(_)) => (at > 0).then(|| LaneEdit::Move {
                from: at,
                to: at - 1,
            }),
            (CommandId::LaneMoveDown, Some(_)) => (at + 1 < count).then_some(LaneEdit::Move {
                from: at,
                to: at + 1,
            }),
            (CommandId::LaneTaller, Some(row)) => self.taller(at, &row, TALLER),
            (CommandId::LaneShorter, Some(row)) => self.taller(at, &row, -TALLER),
            (CommandId::LaneCollapse, Some(row)) => Some(LaneEdit::Collapse(at, !row.is_collapsed)),
            (CommandId::LaneLog, Some(row)) => Some(LaneEdit::Log(at, !is_log(&row))),
            (CommandId::LaneTable, Some(row)) => {
                self.as_table(ctx, &row);
                None
            }
            (
                CommandId::LaneRemove
                | CommandId::LaneMoveUp
                | CommandId::LaneMoveDown
                | CommandId::LaneTaller
                | CommandId::LaneShorter
                | CommandId::LaneCollapse
                | CommandId::LaneLog
                | CommandId::LaneTable,
                None,
            ) => {
                self.say(ctx, "timeline-no-lane");
                None
            }
            _ => return false,
        };
        if let Some(edit) = edit {
            if matches!(edit, LaneEdit::Activate(_) | LaneEdit::Move { .. }) {
                self.panels.timeline.show_active();
            }
            self.carry_out(ctx, Request::Lanes(edit));
        }
        ctx.request_repaint();
        true
    }

    fn say(&mut self, ctx: &Context, key: &str) {
        let text = self.words.text(key).to_owned();
        self.tell_of(ctx, MOVES, text);
    }

    /// Shows another range; what follows at once, as with a held key, is the same step of the history.
    fn show_range(&mut self, ctx: &Context, range: TimeRange) {
        if range == self.view.range {
            return;
        }
        let now = ctx.input(|i| i.time);
        let request = if self.panels.timeline.is_new_step(now) {
            Request::Range(range)
        } else {
            Request::Glide(range)
        };
        self.carry_out(ctx, request);
    }

    fn zoom(&mut self, ctx: &Context, bounds: &Bounds, factor: f64) {
        let shown = self.view.range;
        let share = match self.view.cursor {
            Some(t) if shown.contains(t) => {
                t.nanos_since(shown.start) as f64 / shown.nanos().max(1) as f64
            }
            _ => 0.5,
        };
        self.show_range(ctx, bounds.zoom(shown, share, factor));
    }

    fn pan(&mut self, ctx: &Context, bounds: &Bounds, way: i64) {
        let by = (self.view.range.nanos() / PAN).max(1) * way;
        self.show_range(ctx, bounds.pan(self.view.range, by));
    }

    /// Sets the cursor, and shows it when it is out of sight: a step of the zoom history.
    fn cursor_to(&mut self, ctx: &Context, bounds: &Bounds, t: Timestamp) {
        self.view.cursor = Some(t);
        let range = bounds.reveal(self.view.range, t);
        if range != self.view.range {
            self.carry_out(ctx, Request::Range(range));
        }
    }

    /// Steps along the active lane. What was prepared may not reach far enough; then the timeline answers in a later frame.
    fn seek(&mut self, ctx: &Context, what: Seek, is_forward: bool) {
        let active = self.view.active_lane;
        let count = self.view.lanes.len();
        if count == 0 {
            return self.say(ctx, "timeline-no-lane");
        }
        // A lane of marks or bars knows no outliers: the next below that does takes its place.
        let knows = |at: &usize| {
            let kind = self.view.lanes.get(*at).map(|row| row.spec.kind.as_str());
            what == Seek::Step
                || kind
                    .and_then(lanes::by_id)
                    .is_some_and(|k| k.has_outliers())
        };
        let Some(at) = (0..count).map(|by| (active + by) % count).find(knows) else {
            return self.say(ctx, "timeline-outlier-no-lane");
        };
        if at != active {
            self.panels.timeline.show_active();
            self.carry_out(ctx, Request::Lanes(LaneEdit::Activate(at)));
        }
        let Some(row) = self.view.lanes.get(at) else {
            return;
        };
        let shown = self.view.range;
        let edge = if is_forward {
            shown.start.plus_nanos(-1)
        } else {
            shown.end
        };
        let from = self.view.cursor.unwrap_or(edge);
        self.panels
            .timeline
            .seek(row.spec.clone(), what, from, is_forward);
    }

    /// The next or last finding of some kind from the cursor, by start; of several with one start each in turn.
    fn find(&mut self, ctx: &Context, bounds: &Bounds, is_forward: bool, of: fn(&Finding) -> bool) {
        let Some(incident) = self.incident.clone() else {
            return;
        };
        let mut found: Vec<&Finding> = incident.findings().iter().filter(|f| of(f)).collect();
        found.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
        let before = Timestamp::MIN;
        let here = match self.view.cursor {
            Some(t) => t,
            None if is_forward => before,
            None => Timestamp::MAX,
        };
        let picked = self.view.selection.id();
        let current = found
            .iter()
            .position(|f| Some(f.id.as_str()) == picked && f.start == here);
        let next = match (current, is_forward) {
            (Some(at), true) => found.get(at + 1),
            (Some(at), false) => at.checked_sub(1).and_then(|at| found.get(at)),
            (None, true) => found.iter().find(|f| f.start > here),
            (None, false) => found.iter().rev().find(|f| f.start < here),
        };
        let Some(finding) = next else {
            return self.say(
                ctx,
                match (found.is_empty(), is_forward) {
                    (true, _) => "timeline-none-there",
                    (false, true) => "timeline-none-after",
                    (false, false) => "timeline-none-before",
                },
            );
        };
        let t = finding.start;
        self.carry_out(ctx, Request::Select(Selection::Finding(finding.id.clone())));
        self.cursor_to(ctx, bounds, t);
    }

    fn edge(&mut self, ctx: &Context, bounds: &Bounds, id: CommandId) {
        let Some(t) = self.view.cursor else {
            return self.say(ctx, "timeline-no-cursor");
        };
        let shown = self.view.range;
        let range = if id == CommandId::EdgeStart {
            TimeRange::new(t, shown.end)
        } else {
            TimeRange::new(shown.start, t)
        };
        if range.nanos() < NARROWEST_NANOS {
            return self.say(ctx, "timeline-edge-inverted");
        }
        self.carry_out(ctx, Request::Range(bounds.fit(range)));
    }

    /// The box if there is one; else the first press sets one end, the second the other, the third begins anew.
    fn measure_here(&mut self, ctx: &Context) {
        if let Some(range) = self.panels.timeline.take_box() {
            self.view.measure = Some(range);
            return;
        }
        let Some(t) = self.view.cursor else {
            // Numbers of what one looks at are a better begin than a word of what to do first.
            self.view.measure = Some(self.view.range);
            return self.say(ctx, "timeline-measure-shown");
        };
        if let Some(open) = self.view.measure
            && open.nanos() == 0
            && open.start != t
        {
            self.view.measure = Some(TimeRange::new(open.start.min(t), open.start.max(t)));
            return;
        }
        self.view.measure = Some(TimeRange::new(t, t));
        let clock = self.zone.civil(t).clock(3);
        let args = [("t", clock.as_str().into())];
        let text = self.words.with("timeline-measure-from", &args);
        self.tell_of(ctx, MOVES, text);
    }

    fn zoom_measure(&mut self, ctx: &Context, bounds: &Bounds) {
        if let Some(range) = self.panels.timeline.take_box() {
            return self.carry_out(ctx, Request::Range(bounds.fit(range)));
        }
        let measured = self.view.measure.filter(|m| m.nanos() > 0);
        let Some(range) = measured.or_else(|| self.picked_range(bounds)) else {
            return self.say(ctx, "timeline-nothing-to-zoom");
        };
        self.carry_out(ctx, Request::Range(bounds.frame(range)));
    }

    /// When the picked finding was, or all findings that the picked hypothesis explains.
    fn picked_range(&self, bounds: &Bounds) -> Option<TimeRange> {
        let incident = self.incident.as_ref()?;
        let of = |f: &Finding| {
            let end = f.end.unwrap_or(bounds.recording.end);
            TimeRange::new(f.start.min(f.onset), end.max(f.start.plus_nanos(1)))
        };
        match &self.view.selection {
            Selection::Nothing => None,
            Selection::Finding(id) => incident.finding(id).map(of),
            Selection::Hypothesis(id) => {
                let explained = &incident.hypothesis(id)?.explains;
                let ranges = explained
                    .iter()
                    .filter_map(|id| incident.finding(id))
                    .map(of);
                ranges.reduce(|a, b| a.hull(&b))
            }
        }
    }

    fn taller(&self, at: usize, row: &LaneRow, by: i32) -> Option<LaneEdit> {
        let now = self.panels.timeline.height_of(row);
        let next = crate::ui::timeline::fit_height(i32::from(now) + by);
        (next != now).then_some(LaneEdit::Height(at, next))
    }

    fn as_table(&mut self, ctx: &Context, row: &LaneRow) {
        match self.panels.timeline.twin(&row.spec) {
            Some(twin) => {
                let edit = FocusEdit::Table(twin.table.to_owned(), twin.filter);
                self.carry_out(ctx, Request::Focus(edit));
                self.carry_out(ctx, Request::Drawer(Some(Drawer::Table)));
            }
            None => self.say(ctx, "timeline-no-table"),
        }
    }
}

fn is_change(finding: &Finding) -> bool {
    finding.kind == FindingKind::Change
}

fn is_gap(finding: &Finding) -> bool {
    finding.kind == FindingKind::ScrapeGap
}

fn is_log(row: &LaneRow) -> bool {
    row.is_log
        .unwrap_or_else(|| lanes::by_id(&row.spec.kind).is_some_and(|kind| kind.is_log(&row.spec)))
}
