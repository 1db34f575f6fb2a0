//! The stack of lanes in its scroll area: heights, culling, resizing, reordering; and what stands there when there is none.

use egui::{Align, CursorIcon, Rect, ScrollArea, Sense, Stroke, Ui, pos2, vec2};

use crate::session::view::{LaneRow, LaneSpec};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::lanes;
use crate::ui::request::{LaneEdit, Request};
use crate::ui::theme;
use crate::ui::timeline::catalog::Catalog;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{Timeline, VALUES};

/// Heights that a lane can be given, in points.
const HEIGHTS: std::ops::RangeInclusive<u16> = 34..=640;
/// Height of a lane that only shows its title.
const COLLAPSED: f32 = 26.0;
/// How much taller than its kind asks for a lane becomes at most.
const STRETCH: f32 = 2.8;
/// Height of a lane whose kind is not known to this version.
const UNKNOWN: u16 = 40;

/// One lane of one frame.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaneUi<'a> {
    pub(super) at: usize,
    pub(super) row: &'a LaneRow,
    pub(super) title: &'a str,
    pub(super) is_active: bool,
}

/// The nearest height that a lane can be given.
pub fn fit_height(points: i32) -> u16 {
    let least = i32::from(*HEIGHTS.start());
    let most = i32::from(*HEIGHTS.end());
    u16::try_from(points.clamp(least, most)).unwrap_or(*HEIGHTS.start())
}

/// The title of a lane; the word of its kind where there is only one of it.
pub(super) fn title(frame: &Frame<'_>, catalog: Option<&Catalog>, spec: &LaneSpec) -> String {
    let title = catalog.map_or(spec.key.as_str(), |c| c.title(spec));
    if title.is_empty() {
        let key = format!("lane-{}", spec.kind);
        return frame.words.text(&key).to_owned();
    }
    title.to_owned()
}

impl Timeline {
    /// Draws the lanes that can be seen.
    pub(super) fn lanes(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, stage: &Stage, rect: Rect) {
        if frame.view.lanes.is_empty() {
            return self.empty(ui, frame, rect);
        }
        self.stretch = self.stretch_for(&frame.view.lanes, rect.height() - 2.0);
        let mut tops = Vec::with_capacity(frame.view.lanes.len() + 1);
        let mut total = 0.0;
        for (at, row) in frame.view.lanes.iter().enumerate() {
            tops.push(total);
            total += match self.resized {
                Some((resized, height)) if resized == at => height,
                _ => self.height(row),
            };
        }
        tops.push(total);
        let builder = egui::UiBuilder::new().id_salt("lanes").max_rect(rect);
        ui.scope_builder(builder, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ScrollArea::vertical()
                .id_salt("lanes")
                .auto_shrink(false)
                .show_viewport(ui, |ui, viewport| {
                    ui.set_height(total);
                    let top = ui.max_rect().top();
                    let place = |at: usize| {
                        let y = |at: usize| top + tops.get(at).copied().unwrap_or(total);
                        Rect::from_x_y_ranges(rect.x_range(), y(at)..=y(at + 1))
                    };
                    self.scroll(ui, frame, place);
                    for at in 0..frame.view.lanes.len() {
                        let row = place(at);
                        if row.bottom() > top + viewport.top()
                            && row.top() < top + viewport.bottom()
                        {
                            self.row(ui, frame, stage, at, row);
                        }
                    }
                    self.carry(ui, frame, top, &tops, rect);
                });
        });
    }

    /// Brings the active lane into sight after it was changed by a key.
    fn scroll(&mut self, ui: &Ui, frame: &Frame<'_>, place: impl Fn(usize) -> Rect) {
        if std::mem::take(&mut self.is_active_wanted) {
            // What was asked in this frame is carried out after it.
            ui.request_repaint();
            self.is_active_due = true;
        } else if std::mem::take(&mut self.is_active_due) {
            let rect = place(frame.view.active_lane);
            if !ui.clip_rect().contains_rect(rect) {
                ui.scroll_to_rect(rect, None);
            }
        }
    }

    /// Height of a lane in points.
    fn height(&self, row: &LaneRow) -> f32 {
        if row.is_collapsed {
            COLLAPSED
        } else {
            f32::from(self.height_of(row))
        }
    }

    /// Height of a lane that is not collapsed: what a person gave it, what it wants, or that of its kind, which grows where
    /// there is room.
    pub fn height_of(&self, row: &LaneRow) -> u16 {
        let (base, is_elastic) = self.base_height(row);
        let stretch = if is_elastic {
            self.stretch.max(1.0)
        } else {
            1.0
        };
        fit_height((f32::from(base) * stretch) as i32)
    }

    fn base_height(&self, row: &LaneRow) -> (u16, bool) {
        let wanted = || {
            self.slots
                .last(&row.spec)
                .and_then(|lane| lane.wanted_height())
        };
        if let Some(height) = row.height.or_else(wanted) {
            return (height, false);
        }
        let kind = lanes::by_id(&row.spec.kind);
        (kind.map_or(UNKNOWN, |kind| kind.height()), kind.is_some())
    }

    /// How much taller lanes may be than their kinds ask for, so that a large screen is not half empty.
    fn stretch_for(&self, rows: &[LaneRow], room: f32) -> f32 {
        let (mut fixed, mut elastic) = (0.0, 0.0);
        for row in rows {
            let (base, is_elastic) = self.base_height(row);
            match (row.is_collapsed, is_elastic) {
                (true, _) => fixed += COLLAPSED,
                (false, true) => elastic += f32::from(base),
                (false, false) => fixed += f32::from(base),
            }
        }
        if elastic > 0.0 {
            ((room - fixed) / elastic).clamp(1.0, STRETCH)
        } else {
            1.0
        }
    }

    fn row(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage, at: usize, rect: Rect) {
        let Some(row) = frame.view.lanes.get(at) else {
            return;
        };
        let catalog = self.offers().cloned();
        let title = title(frame, catalog.as_deref(), &row.spec);
        let lane = LaneUi {
            at,
            row,
            title: &title,
            is_active: frame.view.active_lane == at,
        };
        let gutter = rect.with_max_x(rect.left() + theme::GUTTER);
        let plot = Rect::from_x_y_ranges(stage.x, rect.y_range());
        ui.painter().rect_filled(gutter, 0, frame.tokens.panel);
        self.strip(ui, frame, stage, &lane, plot);
        self.gutter(ui, frame, &lane, gutter);
        ui.painter().hline(
            rect.x_range(),
            rect.bottom() - 0.5,
            Stroke::new(1.0, frame.tokens.line),
        );
        if !row.is_collapsed {
            self.edge(ui, frame, &lane, rect);
        }
    }

    /// The lower edge is pulled to make the lane taller.
    fn edge(&mut self, ui: &Ui, frame: &mut Frame<'_>, lane: &LaneUi<'_>, rect: Rect) {
        let grab = Rect::from_x_y_ranges(rect.x_range(), (rect.bottom() - 4.0)..=rect.bottom());
        let id = ui.scope_id().with(("edge", lane.at));
        let response = ui
            .interact(grab, id, Sense::DRAG)
            .on_hover_cursor(CursorIcon::ResizeVertical);
        if response.hovered() || response.dragged() {
            let stroke = Stroke::new(2.0, frame.tokens.accent);
            ui.painter()
                .hline(rect.x_range(), rect.bottom() - 1.0, stroke);
        }
        if response.dragged()
            && let Some(pos) = response.interact_pointer_pos()
        {
            let height = fit_height((pos.y - rect.top()).round() as i32);
            self.resized = Some((lane.at, f32::from(height)));
        }
        if response.drag_stopped()
            && let Some((_, height)) = self.resized.take()
        {
            frame.ask(Request::Lanes(LaneEdit::Height(lane.at, height as u16)));
        }
    }

    /// A lane that is held by its grip: a line shows where it will stand.
    fn carry(&mut self, ui: &Ui, frame: &mut Frame<'_>, top: f32, tops: &[f32], rect: Rect) {
        let Some(from) = self.carried else {
            return;
        };
        let Some(pos) = ui.input(|i| i.pointer.interact_pos()) else {
            return;
        };
        // The gap between lanes that is nearest to the pointer.
        let gap = tops
            .iter()
            .enumerate()
            .min_by(|(_, a), (_, b)| {
                let far = |y: f32| (top + y - pos.y).abs();
                far(**a).total_cmp(&far(**b))
            })
            .map_or(from, |(at, _)| at);
        let to = if gap > from { gap - 1 } else { gap };
        if ui.input(|i| i.pointer.any_down()) {
            let y = top + tops.get(gap).copied().unwrap_or(0.0);
            ui.painter()
                .hline(rect.x_range(), y, Stroke::new(2.0, frame.tokens.accent));
            return;
        }
        self.carried = None;
        if to != from && to < frame.view.lanes.len() {
            frame.ask(Request::Lanes(LaneEdit::Move { from, to }));
        }
    }

    /// No lane: it is said why, and how to get one.
    fn empty(&self, ui: &mut Ui, frame: &mut Frame<'_>, rect: Rect) {
        let is_looking = self.opened.is_none();
        let builder = egui::UiBuilder::new()
            .max_rect(rect.shrink(theme::PAD))
            .layout(egui::Layout::top_down(Align::Center));
        ui.scope_builder(builder, |ui| {
            ui.add_space((rect.height() * 0.36).max(0.0));
            let words = frame.words;
            let faint =
                |text: &str| egui::RichText::new(text.to_owned()).color(frame.tokens.text_dim);
            if frame.replay.is_some() {
                ui.label(faint(words.text("replay-nothing")));
                return;
            }
            if is_looking {
                ui.label(faint(words.text("timeline-loading")));
                return;
            }
            ui.label(egui::RichText::new(words.text("timeline-empty")).strong());
            ui.label(faint(words.text("timeline-empty-hint")));
            ui.add_space(theme::GAP);
            for (word, command) in [
                ("timeline-add", CommandId::LaneAdd),
                ("timeline-empty-reset", CommandId::LanesReset),
            ] {
                if ui.button(words.text(word)).clicked() {
                    frame.requests.push(Request::Command(command));
                }
            }
        });
        let middle = pos2(rect.left() + theme::GUTTER + VALUES, rect.center().y);
        if is_looking {
            // Where lanes will stand, so that nothing jumps in from nowhere.
            for at in 0..3 {
                let y = rect.top() + 30.0 + at as f32 * 60.0;
                let bar = Rect::from_min_size(
                    pos2(middle.x + 12.0, y),
                    vec2(rect.right() - middle.x - 32.0, 6.0),
                );
                ui.painter().rect_filled(bar, 3, frame.tokens.grid);
            }
        }
    }
}
