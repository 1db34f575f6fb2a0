//! The timeline: lanes on one time axis with one cursor.
//!
//! [`navigate`], [`axis`], [`values`] and [`wanted`] are arithmetic without a screen; [`stage`] says where time stands in a
//! frame; the others draw one part each. What is seen (range, cursor, lanes) lives in the view; what stands here is only how a
//! hand moves it: drags, glides, half-typed text, prepared lanes.

mod add;
pub mod axis;
mod blank;
mod boxed;
pub mod catalog;
mod describe;
mod go;
mod gutter;
mod lanes_ui;
mod minimap;
pub mod navigate;
mod readout;
mod ruler;
pub mod seek;
mod slots;
pub mod stage;
mod strip;
mod text;
pub mod values;
pub mod wanted;
mod zones;

use std::sync::Arc;

use egui::{Rangef, Rect, Ui, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::memo::Memo;
use crate::session::view::{LaneRow, LaneSpec};
use crate::ui::frame::Frame;
use crate::ui::lanes::Twin;
use crate::ui::request::{LaneEdit, Request};
use crate::ui::theme;
use crate::ui::timeline::catalog::{Catalog, Shared};
use crate::ui::timeline::navigate::Bounds;
use crate::ui::timeline::slots::Slots;
use crate::ui::timeline::stage::{Motion, Stage};

/// Room right of the time for the scroll bar.
const RIGHT: f32 = 9.0;
/// Width of the column of value labels between the gutter and the time.
const VALUES: f32 = 56.0;
/// Moves that follow each other within this time are one step of the zoom history, in seconds.
const SAME_STEP_S: f64 = 0.7;

pub use lanes_ui::fit_height;
use readout::{in_words, measured, merged};

/// What the timeline remembers between frames beside the view.
#[derive(Debug, Default)]
pub struct Timeline {
    catalog: Memo<u64, Shared>,
    opened: Option<Opened>,
    slots: Slots,
    motion: Motion,
    last_move_s: Option<f64>,
    minimap: minimap::Minimap,
    zones: zones::ZoneMenu,
    add: add::Add,
    go: go::Go,
    seeker: seek::Seeker,
    boxed: Option<boxed::Boxed>,
    /// The instant under the pointer, as the last frame found it, and as this one does.
    hovered: Option<Timestamp>,
    hover_next: Option<Timestamp>,
    /// The lane whose lower edge is pulled, and its height now.
    resized: Option<(usize, f32)>,
    /// The lane that is held by its grip.
    carried: Option<usize>,
    /// How much taller lanes are than their kinds ask for, where there is room.
    stretch: f32,
    is_active_wanted: bool,
    is_active_due: bool,
}

/// The lanes that the window chose by itself; a person's are never replaced.
#[derive(Debug)]
struct Opened {
    generation: u64,
    rows: Vec<LaneRow>,
}

impl Timeline {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let Some(incident) = frame.incident else {
            return;
        };
        let bounds = Bounds::of(incident);
        self.open_lanes(frame);
        self.slots.begin(frame);
        let all = ui.available_rect_before_wrap();
        let x = Rangef::new(
            (all.left() + theme::GUTTER + VALUES).min(all.right() - 40.0),
            all.right() - RIGHT,
        );
        let shown = bounds.fit(frame.view.range);
        let is_still = frame.settings.is_motion_reduced;
        let stage = Stage {
            bounds,
            drawn: self.motion.drawn(ui, shown, is_still),
            x,
            zero: stage::zero(incident, &bounds),
        };
        let catalog = self.offers().cloned();
        self.seeker
            .work(frame, &self.slots, &stage, catalog.as_deref());
        self.hovered = self.hover_next.take();
        let head = self.head(ui, frame, &stage, all);
        let body = Rect::from_min_max(pos2(all.left(), head), all.max);
        self.lanes(ui, frame, &stage, body);
        self.wheel(ui, frame, &stage, all, head);
        self.add_ui(ui, frame);
        self.go_ui(ui, frame, &stage);
        ui.allocate_rect(all, egui::Sense::hover());
    }

    /// The lanes that can be added, once they are known.
    fn offers(&self) -> Option<&Arc<Catalog>> {
        self.catalog.last()
    }

    /// Asks what lanes there are, and shows those that an incident opens with until a person chose others.
    fn open_lanes(&mut self, frame: &mut Frame<'_>) {
        let Some(incident) = frame.incident else {
            return;
        };
        let owned = incident.clone();
        let generation = incident.generation;
        let answer = self.catalog.want(frame.pool, &generation, move |cancel| {
            Ok(Arc::new(Catalog::new(owned, cancel)))
        });
        let crate::engine::memo::Answer::Ready(catalog) = answer else {
            return;
        };
        let is_ours = match &self.opened {
            Some(opened) => opened.rows == frame.view.lanes && opened.generation != generation,
            None => frame.view.lanes.is_empty(),
        };
        if !is_ours {
            return;
        }
        let rows = catalog.opening();
        self.opened = Some(Opened {
            generation,
            rows: rows.clone(),
        });
        if rows != frame.view.lanes {
            frame.ask(Request::Lanes(LaneEdit::Open(rows)));
        }
    }

    /// Forgets the incident that was open.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// The lanes that the incident opens with; `None` while they are not known.
    pub fn opening(&self) -> Option<Vec<LaneRow>> {
        self.offers().map(|c| c.opening())
    }

    /// The rows with those of one entity side by side.
    pub fn grouped(&self, rows: &[LaneRow]) -> Vec<LaneRow> {
        self.offers()
            .map_or_else(|| rows.to_vec(), |c| c.grouped(rows))
    }

    /// Opens the search for a lane to add, or for a series to overlay on the active lane.
    pub fn add_lane(&mut self, is_overlay: bool) {
        self.add.open(is_overlay);
    }

    /// Opens the field for a time.
    pub fn go_to_time(&mut self) {
        self.go.open();
    }

    /// Brings the active lane into sight.
    pub const fn show_active(&mut self) {
        self.is_active_wanted = true;
    }

    /// Steps along a lane; the answer comes with the next frames.
    pub fn seek(&mut self, spec: LaneSpec, what: seek::Seek, from: Timestamp, is_forward: bool) {
        self.seeker.wish(spec, what, from, is_forward);
    }

    /// The rows behind a lane.
    pub fn twin(&self, spec: &LaneSpec) -> Option<Twin> {
        self.slots.last(spec)?.twin()
    }

    /// Closes what lies open here; whether there was anything.
    pub fn escape(&mut self) -> bool {
        self.boxed.take().is_some() | self.add.close() | self.go.close()
    }

    /// Whether a move at `now_s` is a step of its own, and not the next turn of a wheel or the repeat of a held key.
    pub fn is_new_step(&mut self, now_s: f64) -> bool {
        let is_new = self
            .last_move_s
            .is_none_or(|last| now_s - last > SAME_STEP_S);
        self.last_move_s = Some(now_s);
        is_new
    }

    /// Shows another range as the hand moves it.
    fn glide(&mut self, ui: &Ui, frame: &mut Frame<'_>, range: TimeRange) {
        if range == frame.view.range {
            return;
        }
        let now = ui.input(|i| i.time);
        self.motion.is_direct = true;
        let request = if self.is_new_step(now) {
            Request::Range(range)
        } else {
            Request::Glide(range)
        };
        frame.ask(request);
    }

    /// Wheel and pinch. Over the lanes a plain wheel scrolls them; with Ctrl, and over the axis, it zooms around the pointer;
    /// sideways, and with Shift, it pans.
    fn wheel(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage, all: Rect, head: f32) {
        if !ui.rect_contains_pointer(all) {
            return;
        }
        let Some(pointer) = ui.input(|i| i.pointer.hover_pos()) else {
            return;
        };
        let (mut zoom, scroll) = ui.input(|i| (f64::from(i.zoom_delta()), i.smooth_scroll_delta()));
        if pointer.y < head && scroll.y != 0.0 {
            zoom *= (f64::from(scroll.y) / 200.0).exp();
        }
        let mut range = stage.bounds.fit(frame.view.range);
        if zoom.is_finite() && zoom > 0.0 && (zoom - 1.0).abs() > 1e-4 {
            range = stage.bounds.zoom(range, stage.share(pointer.x), 1.0 / zoom);
        }
        if scroll.x != 0.0 {
            let nanos = -f64::from(scroll.x) * stage.nanos_per_point();
            range = stage.bounds.pan(range, nanos as i64);
        }
        self.glide(ui, frame, range);
    }
}
