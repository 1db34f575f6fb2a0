//! What stands above the lanes: the minimap, a second time axis when one is wanted, and the time axis.

use egui::{Align2, CursorIcon, PointerButton, Rect, Sense, Stroke, Ui, pos2};

use crate::base::time::Zone;
use crate::ui::frame::Frame;
use crate::ui::request::Request;
use crate::ui::timeline::axis::{self, Clock};
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{Timeline, text};

const MINIMAP: f32 = 30.0;
const AXIS: f32 = 22.0;
/// Width of a digit of the labels, in points.
const LETTER: f32 = 6.7;

impl Timeline {
    /// Draws what stands above the lanes; where it ends.
    pub(super) fn head(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        all: Rect,
    ) -> f32 {
        let mut y = all.top();
        let mut row = |height: f32| {
            let rect = Rect::from_min_max(pos2(all.left(), y), pos2(all.right(), y + height));
            y += height;
            rect
        };
        let minimap = row(MINIMAP);
        let second = frame.second_zone.map(|zone| (zone, row(AXIS - 4.0)));
        let first = row(AXIS);
        ui.painter().rect_filled(
            Rect::from_min_max(all.min, first.max),
            0,
            frame.tokens.panel,
        );
        let _ = minimap;
        if let Some((zone, rect)) = second {
            draw(ui, frame, stage, rect, Clock::Wall(zone));
            name(ui, frame, stage, rect, zone);
        }
        draw(ui, frame, stage, first, stage.clock(frame));
        name(ui, frame, stage, first, frame.zone);
        ui.painter().hline(
            all.x_range(),
            first.bottom() - 0.5,
            Stroke::new(1.0, frame.tokens.line),
        );
        self.hold(ui, frame, stage, first);
        first.bottom()
    }

    /// The axis is held and pulled.
    fn hold(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage, rect: Rect) {
        let rect = Rect::from_x_y_ranges(stage.x, rect.y_range());
        let id = ui.scope_id().with("axis");
        let response = ui
            .interact(rect, id, Sense::click_and_drag())
            .on_hover_cursor(CursorIcon::Grab);
        let label = frame.words.text("timeline-axis");
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, label));
        self.pan_by(
            ui,
            frame,
            stage,
            &response,
            &[PointerButton::Primary, PointerButton::Middle],
        );
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            frame.ask(Request::Cursor(Some(stage.t(pos.x))));
        }
    }

    /// Pans while one of the buttons pulls.
    pub(super) fn pan_by(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        response: &egui::Response,
        buttons: &[PointerButton],
    ) {
        if !buttons.iter().any(|b| response.dragged_by(*b)) {
            return;
        }
        ui.set_cursor_icon(CursorIcon::Grabbing);
        let nanos = -f64::from(response.drag_delta().x) * stage.nanos_per_point();
        let range = stage.bounds.pan(frame.view.range, nanos as i64);
        self.glide(ui, frame, range);
    }
}

/// Ticks and labels.
fn draw(ui: &Ui, frame: &Frame<'_>, stage: &Stage, rect: Rect, clock: Clock<'_>) {
    let tokens = frame.tokens;
    let strip = Rect::from_x_y_ranges(stage.x, rect.y_range());
    let painter = ui
        .painter()
        .with_clip_rect(strip.expand2(egui::vec2(4.0, 0.0)));
    for tick in axis::ticks(stage.drawn, clock, stage.x.span(), LETTER) {
        let x = stage.x(tick.t);
        let colour = if tick.is_major {
            tokens.text
        } else {
            tokens.text_dim
        };
        let galley = painter.layout_no_wrap(tick.label, text::digits(), colour);
        let half = galley.size().x / 2.0;
        painter.vline(
            x,
            (rect.bottom() - 4.0)..=rect.bottom(),
            Stroke::new(1.0, tokens.text_faint),
        );
        // A label that the edge would cut is left to the date in the gutter.
        if x - half >= strip.left() && x + half <= strip.right() + 2.0 {
            let at = pos2(x - half, rect.center().y - galley.size().y / 2.0 - 1.0);
            painter.galley(at, galley, colour);
        }
    }
}

/// The zone and the date of the left edge, at the left.
fn name(ui: &Ui, frame: &Frame<'_>, stage: &Stage, rect: Rect, zone: &Zone) {
    let tokens = frame.tokens;
    let painter = ui.painter();
    let t = stage.drawn.start;
    let date = zone.civil(t).date();
    painter.text(
        pos2(stage.x.min - 8.0, rect.center().y - 1.0),
        Align2::RIGHT_CENTER,
        date,
        text::digits(),
        tokens.text,
    );
    let galley = text::line(
        painter,
        &zone.short_name(t),
        text::small(),
        tokens.text_faint,
        92.0,
    );
    painter.galley(
        pos2(
            rect.left() + 10.0,
            rect.center().y - 1.0 - galley.size().y / 2.0,
        ),
        galley,
        tokens.text_faint,
    );
}
