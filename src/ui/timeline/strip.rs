//! One lane's place on the time axis: grid, data, what is picked and measured, and what the pointer does there.

use egui::{Align2, CursorIcon, PointerButton, Pos2, Rect, Response, Sense, Stroke, Ui, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::memo::Answer;
use crate::session::target::Target;
use crate::ui::frame::Frame;
use crate::ui::lanes::canvas::{Canvas, MeshSlot};
use crate::ui::lanes::{self, Lane};
use crate::ui::request::{LaneEdit, Request};
use crate::ui::timeline::boxed::Boxed;
use crate::ui::timeline::lanes_ui::LaneUi;
use crate::ui::timeline::slots::UNKNOWN_KIND;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::values::{self, Values};
use crate::ui::timeline::{Timeline, VALUES, blank, describe, gutter, text, wanted};

/// What there is of a lane in this frame.
enum State {
    Ready,
    Pending,
    Failed(String),
}

/// What the pointer met in this frame.
#[derive(Default)]
struct Met {
    hovered: Option<Target>,
    clicked: Option<Target>,
    inside: Vec<Target>,
    /// What the lane itself tells of the place.
    tip: Option<String>,
    /// Where the nearest data are, when a person wants to go there.
    going: Option<Timestamp>,
}

impl Timeline {
    pub(super) fn strip(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        lane: &LaneUi<'_>,
        rect: Rect,
    ) {
        let id = ui.scope_id().with(("lane", lane.at));
        let response = ui.interact(rect, id, Sense::click_and_drag());
        self.name(ui, frame, lane, &response);
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        under(&painter, frame, stage, rect);
        let mut met = Met::default();
        if !lane.row.is_collapsed {
            let state = self.want(ui, frame, stage, lane, rect);
            if let Some(drawn) = self.slots.drawn(&lane.row.spec) {
                met = self.draw(ui, frame, stage, lane, &painter, rect, &response, drawn);
            }
            match state {
                State::Ready => {}
                State::Pending => pending(&painter, frame, rect),
                State::Failed(why) => failed(ui, &painter, frame, rect, &why, id),
            }
        }
        if let Some(now) = frame.replay {
            not_yet(&painter, frame, stage, rect, now.at, lane.at == 0);
        }
        over(&painter, frame, stage, rect, self.hovered);
        if response.has_focus() {
            painter.rect_stroke(
                rect.shrink(1.0),
                2,
                Stroke::new(1.5, frame.tokens.accent),
                egui::StrokeKind::Inside,
            );
        }
        self.act(ui, frame, stage, lane, rect, &response, met);
        self.box_ui(ui, frame, stage, &lane.row.spec, rect);
        self.pan_by(ui, frame, stage, &response, &[PointerButton::Middle]);
    }

    /// What a screen reader says of it: title, kind, and what it reads.
    fn name(&mut self, ui: &Ui, frame: &Frame<'_>, lane: &LaneUi<'_>, response: &Response) {
        let kind = frame
            .words
            .text(&format!("lane-{}", lane.row.spec.kind))
            .to_owned();
        let label = frame.words.with(
            "timeline-lane-name",
            &[("lane", lane.title.into()), ("kind", kind.as_str().into())],
        );
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::Canvas, true, &label);
            info.selected = Some(lane.is_active);
            info
        });
        if let Some(part) = gutter::part(frame) {
            let said = self.slots.say(&lane.row.spec, part, frame.words);
            ui.accesskit_node_builder(response.id, |node| {
                node.set_value(super::in_words(said));
            });
        }
    }

    fn want(
        &mut self,
        ui: &Ui,
        frame: &Frame<'_>,
        stage: &Stage,
        lane: &LaneUi<'_>,
        rect: Rect,
    ) -> State {
        let pixels = rect.width() * ui.pixels_per_point();
        let query = wanted::query(stage.bounds.fit(frame.view.range), pixels);
        match self.slots.want(frame, &lane.row.spec, query) {
            Answer::Ready(_) | Answer::Stale(_) => State::Ready,
            Answer::Pending => State::Pending,
            Answer::Failed(why) => State::Failed(why.to_owned()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one lane of one frame")]
    fn draw(
        &self,
        ui: &Ui,
        frame: &Frame<'_>,
        stage: &Stage,
        lane: &LaneUi<'_>,
        painter: &egui::Painter,
        rect: Rect,
        response: &Response,
        (drawn, mesh): (&dyn Lane, &MeshSlot),
    ) -> Met {
        let spec = &lane.row.spec;
        let is_log = lane
            .row
            .is_log
            .unwrap_or_else(|| lanes::by_id(&spec.kind).is_some_and(|kind| kind.is_log(spec)));
        let plot = rect.with_min_y(rect.top() + drawn.head(rect.height()));
        let values = drawn
            .values(stage.drawn)
            .and_then(|axis| values::values(&axis, is_log, plot.height()))
            .map(|mut values| {
                for (_, label) in &mut values.ticks {
                    *label = frame.words.amounts(label);
                }
                values
            });
        let blank = drawn.blank(stage.drawn);
        // Where nothing is drawn there is nothing to measure either.
        let values = values.filter(|_| blank.is_none());
        let canvas = Canvas {
            painter,
            rect: plot,
            shown: stage.drawn,
            scale: values.as_ref().map(|v| v.scale),
            tokens: frame.tokens,
            words: frame.words,
            mesh,
            highlight: frame.highlight,
            pointer: response.hover_pos(),
            cursor: frame.view.cursor,
        };
        paint(&canvas, drawn, values.as_ref(), frame);
        if let Some(values) = &values {
            labels(ui, &canvas, values, frame);
        }
        let going = blank.and_then(|why| {
            let id = response.id.with("blank");
            blank::ui(ui, painter, frame, stage, rect, (why, id, lane.is_active))
        });
        let is_free = !response.dragged() && self.boxed.is_none();
        let tip = response
            .hover_pos()
            .filter(|_| is_free)
            .and_then(|pos| drawn.tip(&canvas, pos));
        let hovered = response
            .hover_pos()
            .filter(|_| is_free)
            .and_then(|pos| drawn.pick(&canvas, pos));
        let clicked = response
            .interact_pointer_pos()
            .filter(|_| response.clicked())
            .and_then(|pos| drawn.pick(&canvas, pos));
        let inside = self
            .boxed
            .as_ref()
            .filter(|b| b.spec == *spec && response.drag_stopped())
            .map(|b| drawn.pick_box(&canvas, b.rect(stage, rect)))
            .unwrap_or_default();
        Met {
            hovered,
            clicked,
            inside,
            tip,
            going,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one lane of one frame")]
    fn act(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        lane: &LaneUi<'_>,
        rect: Rect,
        response: &Response,
        met: Met,
    ) {
        if let Some(pos) = response.hover_pos() {
            self.hover_next = Some(stage.t(pos.x));
            ui.set_cursor_icon(if met.hovered.is_some() {
                CursorIcon::PointingHand
            } else {
                CursorIcon::Crosshair
            });
        }
        let described = || {
            let target = met.hovered.as_ref()?;
            describe::target(frame, target, stage.clock(frame), stage.nanos_per_point())
        };
        if let Some(words) = met.tip.clone().or_else(described) {
            response.clone().on_hover_text_at_pointer(words);
        }
        if let Some(t) = met.going {
            frame.ask(Request::Lanes(LaneEdit::Activate(lane.at)));
            frame.ask(Request::Cursor(Some(t)));
            let shown = stage.bounds.fit(frame.view.range);
            frame.ask(Request::Range(stage.bounds.reveal(shown, t)));
        }
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            frame.ask(Request::Lanes(LaneEdit::Activate(lane.at)));
            frame.ask(Request::Cursor(Some(stage.t(pos.x))));
            if let Some(target) = met.clicked {
                frame.ask(Request::Follow(target));
            }
        }
        self.drag(ui, frame, stage, lane, rect, response);
        if response.drag_stopped()
            && let Some(boxed) = self.boxed.as_mut().filter(|b| b.spec == lane.row.spec)
        {
            boxed.inside = Some(met.inside);
            ui.request_repaint();
        }
    }

    /// A box is drawn with the primary button; with Shift a range is measured.
    fn drag(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        lane: &LaneUi<'_>,
        rect: Rect,
        response: &Response,
    ) {
        if !response.dragged_by(PointerButton::Primary) {
            return;
        }
        let ends = ui.input(|i| Some((i.pointer.press_origin()?, i.pointer.interact_pos()?)));
        let Some((from, to)) = ends else {
            return;
        };
        if response.drag_started() {
            frame.ask(Request::Lanes(LaneEdit::Activate(lane.at)));
        }
        let range = between(stage, rect, from, to);
        if ui.input(|i| i.modifiers.shift) {
            self.boxed = None;
            return frame.ask(Request::Measure(Some(range)));
        }
        self.boxed = Some(Boxed::new(
            lane.row.spec.clone(),
            range,
            rect,
            (from.y, to.y),
        ));
    }
}

fn between(stage: &Stage, rect: Rect, from: Pos2, to: Pos2) -> TimeRange {
    let t = |pos: Pos2| stage.t(pos.x.clamp(rect.left(), rect.right()));
    TimeRange::new(t(from).min(t(to)), t(from).max(t(to)))
}

/// What lies behind the data: where the recording ends, and when the picked finding was.
fn under(painter: &egui::Painter, frame: &Frame<'_>, stage: &Stage, rect: Rect) {
    let tokens = frame.tokens;
    let recording = stage.bounds.recording;
    let (start, end) = (stage.x(recording.start), stage.x(recording.end));
    for x in [rect.left()..=start, end..=rect.right()] {
        if x.start() + 0.5 < *x.end() {
            painter.rect_filled(Rect::from_x_y_ranges(x, rect.y_range()), 0, tokens.panel);
        }
    }
    for range in super::merged(&frame.highlight.ranges) {
        let x = |nanos: i64| stage.x(Timestamp::from_nanos(nanos));
        let (from, to) = (x(range.start), x(range.end).max(x(range.start) + 1.0));
        painter.rect_filled(
            Rect::from_x_y_ranges(from..=to, rect.y_range()),
            0,
            tokens.wash,
        );
        let edge = Stroke::new(1.0, tokens.highlight.gamma_multiply(0.55));
        painter.vline(from, rect.y_range(), edge);
        painter.vline(to, rect.y_range(), edge);
    }
}

/// What has not happened yet in a replay. It is laid over the lane, whatever the lane still holds of later.
fn not_yet(
    painter: &egui::Painter,
    frame: &Frame<'_>,
    stage: &Stage,
    rect: Rect,
    now: Timestamp,
    is_first: bool,
) {
    let tokens = frame.tokens;
    let x = stage.x(now).max(rect.left());
    if x >= rect.right() {
        return;
    }
    let veil = rect.with_min_x(x);
    painter.rect_filled(veil, 0, tokens.panel);
    if stage.drawn.contains(now) {
        painter.vline(x, rect.y_range(), Stroke::new(1.5, tokens.accent));
    }
    if is_first {
        let words = frame.words.text("replay-not-yet");
        let room = veil.width() - 2.0 * crate::ui::theme::PAD;
        if room > 40.0 {
            let galley = text::line(painter, words, text::small(), tokens.text_faint, room);
            let at = pos2(x + crate::ui::theme::PAD, rect.top() + 6.0);
            painter.galley(at, galley, tokens.text_faint);
        }
    }
}

/// What lies before the data: the measured range, the pointer's instant and the cursor.
fn over(
    painter: &egui::Painter,
    frame: &Frame<'_>,
    stage: &Stage,
    rect: Rect,
    hovered: Option<Timestamp>,
) {
    let tokens = frame.tokens;
    if let Some(range) = super::measured(frame, hovered) {
        let (from, to) = (stage.x(range.start), stage.x(range.end));
        painter.rect_filled(
            Rect::from_x_y_ranges(from..=to, rect.y_range()),
            0,
            tokens.measure,
        );
        for x in [from, to] {
            painter.vline(x, rect.y_range(), Stroke::new(1.0, tokens.accent));
        }
    }
    if let Some(t) = hovered {
        let stroke = Stroke::new(1.0, tokens.cursor.gamma_multiply(0.28));
        painter.vline(stage.x(t), rect.y_range(), stroke);
    }
    if let Some(t) = frame.view.cursor {
        painter.vline(stage.x(t), rect.y_range(), Stroke::new(1.0, tokens.cursor));
    }
}

fn paint(canvas: &Canvas<'_>, lane: &dyn Lane, values: Option<&Values>, frame: &Frame<'_>) {
    let rect = canvas.rect;
    let tokens = frame.tokens;
    let ticks = values.map_or(&[][..], |v| &v.ticks);
    for (value, _) in ticks {
        let y = canvas.y(*value).round() + 0.5;
        canvas
            .painter
            .hline(rect.x_range(), y, Stroke::new(1.0, tokens.grid));
    }
    lane.paint(canvas);
}

/// The labels of the value axis, in their column left of the lane.
fn labels(ui: &Ui, canvas: &Canvas<'_>, values: &Values, frame: &Frame<'_>) {
    let rect = canvas.rect;
    let column = Rect::from_x_y_ranges((rect.left() - VALUES)..=rect.left(), rect.y_range());
    let painter = ui
        .painter()
        .with_clip_rect(column.intersect(ui.clip_rect()));
    let colour = frame.tokens.text_faint;
    let mut below = f32::INFINITY;
    for (value, label) in &values.ticks {
        let y = canvas.y(*value);
        if y < rect.top() - 1.0 || y > rect.bottom() + 1.0 {
            continue;
        }
        let galley = text::line(&painter, label, text::ticks(), colour, VALUES - 5.0);
        let half = galley.size().y / 2.0;
        // At the edges a label stands inside; where two would touch, the lower stays.
        let highest = rect.top() + half + 1.0;
        let y = y.clamp(highest, (rect.bottom() - half - 1.0).max(highest));
        if y + half + 2.0 > below {
            continue;
        }
        below = y - half;
        let at = pos2(rect.left() - 5.0 - galley.size().x, y - half);
        painter.galley(at, galley, colour);
    }
}

/// A faint bar where the lane will be.
fn pending(painter: &egui::Painter, frame: &Frame<'_>, rect: Rect) {
    let bar = Rect::from_center_size(rect.center(), egui::vec2(rect.width() - 24.0, 6.0));
    painter.rect_filled(bar, 3, frame.tokens.grid);
}

fn failed(
    ui: &Ui,
    painter: &egui::Painter,
    frame: &Frame<'_>,
    rect: Rect,
    why: &str,
    id: egui::Id,
) {
    let words = if why == UNKNOWN_KIND {
        frame.words.text("timeline-unknown-kind").to_owned()
    } else {
        let why = crate::words::warnings::why(frame.words, why);
        frame
            .words
            .with("timeline-failed", &[("why", (&why).into())])
    };
    let galley = text::line(
        painter,
        &words,
        text::small(),
        frame.tokens.error,
        rect.width() - 24.0,
    );
    let at = pos2(rect.left() + 12.0, rect.bottom() - galley.size().y - 4.0);
    let place = text::plate(painter, at, Align2::LEFT_TOP, galley, frame.tokens.ground);
    ui.interact(place, id.with("failed"), Sense::HOVER)
        .on_hover_text(words);
}
