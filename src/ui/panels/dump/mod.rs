//! Dumps and profiles: stacks grouped, flame graph, functions, growth and difference between two.

mod bar;
mod detail;
mod empty;
mod flame;
mod format;
mod groups;
mod list;
mod paint;
mod picture;
mod sandwich;
mod shape;

use egui::{Rect, Ui, UiBuilder, vec2};

use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::stacks::groups::Grouping;
use crate::store::stacks::tree::Scale;
use crate::store::stacks::{Likeness, is_of_threads, likeness};
use crate::ui::frame::Frame;
use crate::ui::theme::GAP;

/// Width of the list of profiles, in points; a part of what there is where that is little.
const LIST: f32 = 222.0;

/// What is shown of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// Stacks of a dump, put together.
    #[default]
    Groups,
    /// The flame graph.
    Flame,
    /// Functions, who calls them and whom they call.
    Functions,
}

/// What is open: one profile, or one against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    /// Counts up with every change of the incident.
    generation: u64,
    /// The profile.
    a: usize,
    /// What it is compared with.
    b: Option<usize>,
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Dump {
    list: list::List,
    groups: groups::GroupsView,
    detail: detail::Detail,
    picture: picture::PictureView,
    flame: flame::FlameView,
    sandwich: sandwich::SandwichView,
    mode: Mode,
    grouping: Grouping,
    scale: Scale,
    /// Text that rows of groups must hold.
    filter: String,
    /// Text that is looked for in functions.
    search: String,
}

impl Dump {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let Some(incident) = frame.incident else {
            ui.take_available_space();
            return;
        };
        if incident.snapshot().profiles.is_empty() {
            empty::no_profiles(ui, frame);
            return;
        }
        let open = Self::open(incident, frame);
        let all = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(all);
        let wide = LIST.min(all.width() * 0.3);
        let (left, rest) = all.split_left_right_at_x(all.left() + wide);
        let rest = rest.with_min_x(rest.left() + 2.0 * GAP);
        let line = egui::Stroke::new(1.0, frame.tokens.line);
        ui.painter().vline(left.right() + GAP, all.y_range(), line);
        part(ui, "list", left, |ui| {
            self.list.ui(ui, frame, incident, open);
        });
        part(ui, "content", rest, |ui| {
            self.content(ui, frame, incident, open);
        });
    }

    /// What to show: what was picked, or what the picked finding points at, or the dump that tells most.
    fn open(incident: &Incident, frame: &Frame<'_>) -> Open {
        let profiles = &incident.snapshot().profiles;
        let focus = &frame.view.focus;
        let pointed = || {
            frame.highlight.targets.iter().filter_map(|t| match t {
                Target::Stack { profile, .. } => Some(*profile),
                _ => None,
            })
        };
        let rank = |ix: &usize| {
            profiles.get(*ix).map_or((false, false, 0.0), |p| {
                (is_of_threads(p), p.has_states, p.total)
            })
        };
        let order = |a: &usize, b: &usize| {
            let (a, b) = (rank(a), rank(b));
            (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
        };
        let a = focus
            .profile
            .filter(|ix| *ix < profiles.len())
            .or_else(|| pointed().filter(|ix| *ix < profiles.len()).max_by(order))
            .or_else(|| (0..profiles.len()).max_by(order))
            .unwrap_or(0);
        let b = focus.compare_profile.filter(|b| {
            let pair = profiles.get(a).zip(profiles.get(*b));
            *b != a
                && pair.is_some_and(|(a, b)| likeness(incident.snapshot(), a, b) != Likeness::No)
        });
        Open {
            generation: incident.generation,
            a,
            b,
        }
    }

    fn content(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident, open: Open) {
        let Some(profile) = incident.snapshot().profiles.get(open.a) else {
            return;
        };
        let can_group = is_of_threads(profile);
        // Groups come back with the next dump.
        let mode = match self.mode {
            Mode::Groups if !can_group => Mode::Flame,
            mode => mode,
        };
        bar::title(ui, frame, incident, open);
        let mode = bar::tools(ui, frame, self, open, (mode, can_group));
        if profile.groups.is_empty() && open.b.is_none() {
            empty::empty_profile(ui, frame, incident, profile);
            return;
        }
        match mode {
            Mode::Groups => self.grouped(ui, frame, incident, open),
            Mode::Flame => {
                if let Some(picture) = self.picture.want(ui, frame, incident, open) {
                    self.flame.ui(ui, frame, &picture, self.scale, &self.search);
                }
            }
            Mode::Functions => {
                if let Some(picture) = self.picture.want(ui, frame, incident, open) {
                    let found = self
                        .sandwich
                        .ui(ui, frame, &picture, self.scale, &self.search);
                    if let Some(name) = found {
                        self.search = name;
                        self.mode = Mode::Flame;
                    }
                }
            }
        }
    }

    fn grouped(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident, open: Open) {
        let Some(sheet) = self
            .groups
            .want(ui, frame, incident, open, self.grouping, &self.filter)
        else {
            return;
        };
        let all = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(all);
        let wide = (all.width() * 0.42).clamp(240.0, 680.0);
        let (left, right) = all.split_left_right_at_x(all.right() - wide);
        let line = egui::Stroke::new(1.0, frame.tokens.line);
        ui.painter().vline(left.right() + GAP, all.y_range(), line);
        let right = right.with_min_x(right.left() + 2.0 * GAP);
        part(ui, "groups", left, |ui| {
            self.groups.ui(ui, frame, incident, &sheet);
        });
        let picked = self.groups.picked(frame, &sheet);
        part(ui, "detail", right, |ui| {
            self.detail.ui(ui, frame, incident, &sheet, picked);
        });
    }
}

/// A part of the panel with a place of its own.
fn part(ui: &mut Ui, name: &str, rect: Rect, draw: impl FnOnce(&mut Ui)) {
    let rect = Rect::from_min_size(rect.min, rect.size().max(vec2(1.0, 1.0)));
    ui.scope_builder(UiBuilder::new().id_salt(name).max_rect(rect), |ui| {
        ui.set_clip_rect(rect.intersect(ui.clip_rect()));
        draw(ui);
    });
}
