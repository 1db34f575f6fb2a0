//! The stack of lanes in its scroll area: heights, culling, what is in reach.

use egui::{Rect, ScrollArea, Stroke, Ui, pos2, vec2};

use crate::session::view::LaneRow;
use crate::ui::frame::Frame;
use crate::ui::lanes;
use crate::ui::theme;
use crate::ui::timeline::Timeline;
use crate::ui::timeline::stage::Stage;

/// Heights that a lane can be given, in points.
pub(super) const HEIGHTS: std::ops::RangeInclusive<u16> = 34..=640;
/// Height of a lane that only shows its title.
pub(super) const COLLAPSED: f32 = 26.0;
/// Height of a lane whose kind is not known to this version.
const UNKNOWN: u16 = 40;

impl Timeline {
    /// Draws the lanes that can be seen.
    pub(super) fn lanes(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, stage: &Stage, rect: Rect) {
        let heights: Vec<f32> = frame
            .view
            .lanes
            .iter()
            .map(|row| self.height(row))
            .collect();
        let total: f32 = heights.iter().sum();
        let builder = egui::UiBuilder::new().id_salt("lanes").max_rect(rect);
        ui.scope_builder(builder, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            ScrollArea::vertical()
                .id_salt("lanes")
                .auto_shrink(false)
                .show_viewport(ui, |ui, viewport| {
                    ui.set_height(total.max(viewport.height() - 1.0));
                    let top = ui.max_rect().top();
                    let mut y = 0.0;
                    for (at, height) in heights.iter().enumerate() {
                        let is_seen = y + height > viewport.top() && y < viewport.bottom();
                        let row = Rect::from_min_size(
                            pos2(rect.left(), top + y),
                            vec2(rect.width(), *height),
                        );
                        if is_seen {
                            self.row(ui, frame, stage, at, row);
                        }
                        y += height;
                    }
                });
        });
    }

    /// Height of a lane in points.
    pub(super) fn height(&self, row: &LaneRow) -> f32 {
        if row.is_collapsed {
            return COLLAPSED;
        }
        let wanted = row
            .height
            .or_else(|| {
                self.slots
                    .last(&row.spec)
                    .and_then(|lane| lane.wanted_height())
            })
            .unwrap_or_else(|| lanes::by_id(&row.spec.kind).map_or(UNKNOWN, |kind| kind.height()));
        f32::from(wanted.clamp(*HEIGHTS.start(), *HEIGHTS.end()))
    }

    fn row(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, stage: &Stage, at: usize, rect: Rect) {
        let Some(row) = frame.view.lanes.get(at) else {
            return;
        };
        let is_active = frame.view.active_lane == at;
        let gutter = Rect::from_min_max(rect.min, pos2(rect.left() + theme::GUTTER, rect.bottom()));
        let plot = Rect::from_x_y_ranges(stage.x, rect.y_range());
        ui.painter().rect_filled(gutter, 0, frame.tokens.panel);
        self.strip(ui, frame, stage, at, row, plot);
        self.gutter(ui, frame, stage, at, row, gutter, is_active);
        ui.painter().hline(
            rect.x_range(),
            rect.bottom() - 0.5,
            Stroke::new(1.0, frame.tokens.line),
        );
    }
}
