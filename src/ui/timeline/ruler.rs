//! What stands above the lanes: the minimap with a few buttons, a second time axis when one is wanted, and the time axis.

use egui::{Align2, CursorIcon, PointerButton, Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::base::time::{Timestamp, Zone};
use crate::ui::commands::{self, CommandId};
use crate::ui::frame::Frame;
use crate::ui::icons::Icon;
use crate::ui::request::Request;
use crate::ui::theme;
use crate::ui::timeline::axis::{self, Clock};
use crate::ui::timeline::gutter::small_button;
use crate::ui::timeline::readout::steps;
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
        tools(ui, frame, minimap);
        self.minimap(ui, frame, stage, minimap);
        if let Some((zone, rect)) = second {
            second_axis(ui, frame, stage, rect, zone);
        }
        let cursor = frame.view.cursor.filter(|t| stage.drawn.contains(*t));
        let tagged = [cursor, self.hovered];
        draw(ui, frame, stage, first, stage.clock(frame), tagged);
        self.zone(ui, frame, stage, first);
        ui.painter().hline(
            all.x_range(),
            first.bottom() - 0.5,
            Stroke::new(1.0, frame.tokens.line),
        );
        self.hold(ui, frame, stage, first);
        self.marks(ui, frame, stage, first);
        first.bottom()
    }

    /// The zone, which opens its menu, and the date of the left edge.
    fn zone(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, stage: &Stage, rect: Rect) {
        let is_relative = frame.settings.is_relative;
        let shown = if is_relative {
            let zero = frame.zone.civil(stage.zero).clock_exact();
            let zero = zero.as_str().into();
            frame
                .words
                .with("timeline-relative-zero", &[("zero", zero)])
        } else {
            date(ui, frame, stage, rect, frame.zone);
            frame.zone.short_name(stage.drawn.start)
        };
        let width = if is_relative {
            theme::GUTTER - 12.0
        } else {
            108.0
        };
        let place = Rect::from_min_size(rect.min + vec2(4.0, 1.0), vec2(width, AXIS - 4.0));
        self.zones.ui(ui, frame, place, &shown);
    }

    /// The axis is held and pulled, has the focus for keys, and says what the cursor reads.
    fn hold(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage, rect: Rect) {
        let rect = Rect::from_x_y_ranges(stage.x, rect.y_range());
        let id = ui.scope_id().with("axis");
        let response = ui
            .interact(rect, id, Sense::click_and_drag())
            .on_hover_cursor(CursorIcon::Grab);
        let label = frame.words.text("timeline-axis");
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, label));
        let value = self.reading(frame, stage);
        ui.accesskit_node_builder(response.id, |node| {
            node.set_value(value);
            node.set_live(egui::accesskit::Live::Polite);
            node.add_action(egui::accesskit::Action::Increment);
            node.add_action(egui::accesskit::Action::Decrement);
        });
        steps(ui, frame, &response);
        if response.has_focus() {
            let stroke = Stroke::new(1.5, frame.tokens.accent);
            ui.painter()
                .rect_stroke(rect.shrink(1.0), 2, stroke, egui::StrokeKind::Inside);
        }
        let buttons = [PointerButton::Primary, PointerButton::Middle];
        self.pan_by(ui, frame, stage, &response, &buttons);
        if let Some(pos) = response.hover_pos() {
            self.hover_next = Some(stage.t(pos.x));
        }
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            frame.ask(Request::Cursor(Some(stage.t(pos.x))));
        }
    }

    /// The cursor's time, the pointer's time and the measured length stand on the axis.
    fn marks(&self, ui: &Ui, frame: &Frame<'_>, stage: &Stage, rect: Rect) {
        let tokens = frame.tokens;
        let strip = Rect::from_x_y_ranges(stage.x, rect.y_range());
        let painter = ui.painter().with_clip_rect(strip);
        let tag = |x: f32, text: String, ink, fill| {
            let galley = painter.layout_no_wrap(text, text::digits(), ink);
            let half = galley.size().x / 2.0 + 4.0;
            let x = x.clamp(
                strip.left() + half,
                (strip.right() - half).max(strip.left() + half),
            );
            let at = pos2(x, strip.center().y - 1.0);
            let plate = Align2::CENTER_CENTER
                .anchor_size(at, galley.size())
                .expand2(vec2(4.0, 1.5));
            painter.rect_filled(plate, 3, fill);
            painter.galley(plate.min + vec2(4.0, 1.5), galley, ink);
        };
        let clock = stage.clock(frame);
        let write = |t| axis::instant_text(t, clock, stage.nanos_per_point());
        if let Some(t) = self.hovered {
            tag(stage.x(t), write(t), tokens.text_dim, tokens.raised);
        }
        if let Some(range) = super::measured(frame, self.hovered) {
            let (from, to) = (stage.x(range.start), stage.x(range.end));
            let band = Rect::from_x_y_ranges(from..=to, rect.y_range());
            painter.rect_filled(band, 0, tokens.measure);
            let length =
                axis::length_near(range.nanos(), stage.nanos_per_point(), frame.words.units());
            tag(
                f32::midpoint(from, to),
                length,
                tokens.on_accent,
                tokens.accent,
            );
        }
        if let Some(t) = frame.view.cursor.filter(|t| stage.drawn.contains(*t)) {
            painter.vline(stage.x(t), rect.y_range(), Stroke::new(1.0, tokens.cursor));
            if frame.view.measure.is_none_or(|m| m.nanos() == 0) {
                tag(stage.x(t), write(t), tokens.ground, tokens.cursor);
            }
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

/// Add a lane, go back and forth in the zoom history, show all.
fn tools(ui: &mut Ui, frame: &mut Frame<'_>, row: Rect) {
    let place = Rect::from_min_max(
        row.min + vec2(6.0, 3.0),
        pos2(row.left() + theme::GUTTER - 4.0, row.bottom() - 3.0),
    );
    let builder = egui::UiBuilder::new()
        .id_salt("tools")
        .max_rect(place)
        .layout(egui::Layout::left_to_right(egui::Align::Center));
    ui.scope_builder(builder, |ui| {
        let add = frame.words.text("timeline-add");
        let text = egui::RichText::new(add).size(theme::SMALL);
        let hint = label_of(ui, frame, CommandId::LaneAdd);
        let button = ui.add(egui::Button::new(text).small()).on_hover_text(hint);
        if button.clicked() {
            frame.ask(Request::Command(CommandId::LaneAdd));
        }
    });
    for (at, (icon, command)) in [
        (Icon::Left, CommandId::ZoomBack),
        (Icon::Right, CommandId::ZoomForward),
        (Icon::Expand, CommandId::ZoomAll),
    ]
    .into_iter()
    .enumerate()
    {
        let x = place.right() - 64.0 + at as f32 * 22.0;
        let rect = Rect::from_center_size(pos2(x + 10.0, place.center().y), vec2(20.0, 20.0));
        let id = ui.scope_id().with(("tool", at));
        let label = label_of(ui, frame, command);
        if small_button(ui, frame, id, rect, icon, &label).clicked() {
            frame.ask(Request::Command(command));
        }
    }
}

/// Ticks and labels; none under the times that are tagged.
fn draw(
    ui: &Ui,
    frame: &Frame<'_>,
    stage: &Stage,
    rect: Rect,
    clock: Clock<'_>,
    tagged: [Option<Timestamp>; 2],
) {
    let covered = tagged.map(|t| {
        let t = t?;
        let letters = axis::instant_text(t, clock, stage.nanos_per_point()).len();
        Some((stage.x(t), (letters as f32 * LETTER) / 2.0 + 8.0))
    });
    let tokens = frame.tokens;
    let strip = Rect::from_x_y_ranges(stage.x, rect.y_range());
    let painter = ui.painter().with_clip_rect(strip.expand2(vec2(4.0, 0.0)));
    for tick in axis::ticks(stage.drawn, clock, stage.x.span(), LETTER) {
        let x = stage.x(tick.t);
        let colour = if tick.is_major {
            tokens.text
        } else {
            tokens.text_dim
        };
        let galley = painter.layout_no_wrap(tick.label, text::digits(), colour);
        let half = galley.size().x / 2.0;
        let mark = (rect.bottom() - 4.0)..=rect.bottom();
        painter.vline(x, mark, Stroke::new(1.0, tokens.text_faint));
        let touches = |(middle, reach): (f32, f32)| (x - middle).abs() < reach + half;
        if covered.into_iter().flatten().any(touches) {
            continue;
        }
        // A label that the edge would cut is left to the date in the gutter.
        if x - half >= strip.left() && x + half <= strip.right() + 2.0 {
            let at = pos2(x - half, rect.center().y - galley.size().y / 2.0 - 1.0);
            painter.galley(at, galley, colour);
        }
    }
}

fn second_axis(ui: &Ui, frame: &Frame<'_>, stage: &Stage, rect: Rect, zone: &Zone) {
    draw(ui, frame, stage, rect, Clock::Wall(zone), [None; 2]);
    date(ui, frame, stage, rect, zone);
    let name = zone.short_name(stage.drawn.start);
    let faint = frame.tokens.text_faint;
    let galley = text::line(ui.painter(), &name, text::small(), faint, 104.0);
    let at = pos2(
        rect.left() + 12.0,
        rect.center().y - 1.0 - galley.size().y / 2.0,
    );
    ui.painter().galley(at, galley, faint);
}

/// The date of the left edge, right of the zone.
fn date(ui: &Ui, frame: &Frame<'_>, stage: &Stage, rect: Rect, zone: &Zone) {
    ui.painter().text(
        pos2(stage.x.min - 6.0, rect.center().y - 1.0),
        Align2::RIGHT_CENTER,
        zone.civil(stage.drawn.start).date(),
        text::digits(),
        frame.tokens.text,
    );
}

/// What a command does, with its key.
fn label_of(ui: &Ui, frame: &Frame<'_>, id: CommandId) -> String {
    let Some(command) = commands::command(id) else {
        return String::new();
    };
    let words = frame
        .words
        .text(&format!("cmd-{}", command.name))
        .to_owned();
    match command.shortcut {
        Some(key) => format!("{words}  {}", ui.format_shortcut(&key)),
        None => words,
    }
}
