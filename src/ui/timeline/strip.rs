//! One lane's place on the time axis: grid, data, cursor, and what the pointer does there.

use egui::{Align2, PointerButton, Rect, Sense, Stroke, Ui, pos2};

use crate::engine::memo::Answer;
use crate::session::view::LaneRow;
use crate::ui::frame::Frame;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::{self, Lane};
use crate::ui::request::{LaneEdit, Request};
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::values::{self, Values};
use crate::ui::timeline::{Timeline, text, wanted};

/// What there is of a lane in this frame.
enum State {
    Ready,
    Pending,
    Failed(String),
}

impl Timeline {
    pub(super) fn strip(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        at: usize,
        row: &LaneRow,
        rect: Rect,
    ) {
        let id = ui.scope_id().with(("lane", at));
        let response = ui.interact(rect, id, Sense::click_and_drag());
        let title = self
            .offers()
            .map_or(row.spec.key.as_str(), |c| c.title(&row.spec));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, title));
        let mut picked = None;
        if !row.is_collapsed {
            let pixels = rect.width() * ui.pixels_per_point();
            let query = wanted::query(stage.bounds.fit(frame.view.range), pixels);
            let state = match self.slots.want(frame, &row.spec, query) {
                Answer::Ready(_) | Answer::Stale(_) => State::Ready,
                Answer::Pending => State::Pending,
                Answer::Failed(why) => State::Failed(why.to_owned()),
            };
            let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
            let is_log = row
                .is_log
                .or_else(|| lanes::by_id(&row.spec.kind).map(|kind| kind.is_log(&row.spec)));
            if let Some(lane) = self.slots.last(&row.spec) {
                let values = lane
                    .values(stage.drawn)
                    .and_then(|axis| values::values(&axis, is_log == Some(true), rect.height()));
                let canvas = Canvas {
                    painter: &painter,
                    rect,
                    shown: stage.drawn,
                    scale: values.as_ref().map(|v| v.scale),
                    tokens: frame.tokens,
                    words: frame.words,
                    highlight: frame.highlight,
                    pointer: response.hover_pos(),
                    cursor: frame.view.cursor,
                };
                paint(&canvas, lane, values.as_ref(), frame);
                if response.clicked()
                    && let Some(pos) = response.interact_pointer_pos()
                {
                    picked = lane.pick(&canvas, pos);
                }
            }
            match state {
                State::Ready => {}
                State::Pending => pending(&painter, frame, rect),
                State::Failed(why) => failed(&painter, frame, rect, &why),
            }
        }
        if let Some(t) = frame.view.cursor {
            let x = stage.x(t);
            ui.painter()
                .with_clip_rect(rect.intersect(ui.clip_rect()))
                .vline(x, rect.y_range(), Stroke::new(1.0, frame.tokens.cursor));
        }
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            frame.ask(Request::Lanes(LaneEdit::Activate(at)));
            frame.ask(Request::Cursor(Some(stage.t(pos.x))));
            if let Some(target) = picked {
                frame.ask(Request::Follow(target));
            }
        }
        self.pan_by(ui, frame, stage, &response, &[PointerButton::Middle]);
    }
}

fn paint(canvas: &Canvas<'_>, lane: &dyn Lane, values: Option<&Values>, frame: &Frame<'_>) {
    let rect = canvas.rect;
    let tokens = frame.tokens;
    if let Some(values) = values {
        for (value, _) in &values.ticks {
            let y = canvas.y(*value).round() + 0.5;
            canvas
                .painter
                .hline(rect.x_range(), y, Stroke::new(1.0, tokens.grid));
        }
    }
    lane.paint(canvas);
    let Some(values) = values else {
        return;
    };
    let mut below = f32::INFINITY;
    for (value, label) in &values.ticks {
        let galley =
            canvas
                .painter
                .layout_no_wrap(label.clone(), text::digits(), tokens.text_faint);
        let half = galley.size().y / 2.0;
        let y = canvas.y(*value);
        // At the edges a label stands inside; where two would touch, the lower stays.
        if y < rect.top() - 1.0 || y > rect.bottom() + 1.0 {
            continue;
        }
        let y = y.clamp(rect.top() + half + 1.0, rect.bottom() - half - 1.0);
        if y + half + 2.0 > below {
            continue;
        }
        below = y - half;
        let at = pos2(rect.left() + 5.0, y);
        text::plate(
            canvas.painter,
            at,
            Align2::LEFT_CENTER,
            galley,
            tokens.ground.gamma_multiply(0.8),
        );
    }
}

/// A faint bar where the lane will be.
fn pending(painter: &egui::Painter, frame: &Frame<'_>, rect: Rect) {
    let bar = Rect::from_center_size(rect.center(), egui::vec2(rect.width() * 0.94, 6.0));
    painter.rect_filled(bar, 3, frame.tokens.grid);
}

fn failed(painter: &egui::Painter, frame: &Frame<'_>, rect: Rect, why: &str) {
    let words = frame.words.with("timeline-failed", &[("why", why.into())]);
    let galley = text::line(
        painter,
        &words,
        text::small(),
        frame.tokens.error,
        rect.width() - 24.0,
    );
    let at = pos2(rect.left() + 12.0, rect.bottom() - galley.size().y - 4.0);
    text::plate(painter, at, Align2::LEFT_TOP, galley, frame.tokens.ground);
}
