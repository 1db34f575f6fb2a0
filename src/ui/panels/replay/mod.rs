//! The bar of a replay: play, steps, speed, the present on a track, and the end; and what is compared when it has ended.

pub mod review;

use egui::{Align, Button, CursorIcon, Layout, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

use crate::base::time::Timestamp;
use crate::session::replay::{Now, SPEEDS};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{ReplayEdit, Request};
use crate::ui::theme;

/// Height of the bar, in points.
pub const HEIGHT: f32 = 34.0;
/// The track is never narrower.
const LEAST_TRACK: f32 = 80.0;
/// Room for the present and what has passed, right of the track.
const TIMES: f32 = 232.0;

/// Draws it.
pub fn ui(ui: &mut Ui, frame: &mut Frame<'_>, now: Now) {
    ui.horizontal_centered(|ui| {
        buttons(ui, frame, now);
        speed(ui, frame, now);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let end = Button::new(frame.words.text("replay-end"));
            if ui.add(end).clicked() {
                frame.ask(Request::Command(CommandId::Replay));
            }
            as_of(ui, frame, now);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let room = ui.available_width();
                track(ui, frame, now, (room - TIMES).max(LEAST_TRACK));
                times(ui, frame, now);
            });
        });
    });
}

fn buttons(ui: &mut Ui, frame: &mut Frame<'_>, now: Now) {
    let play = if now.is_playing {
        (Icon::Pause, "replay-pause", CommandId::ReplayPlay)
    } else {
        (Icon::Play, "replay-play", CommandId::ReplayPlay)
    };
    for (icon, word, id) in [
        play,
        (Icon::Previous, "replay-previous", CommandId::ReplayPrevious),
        (Icon::Left, "replay-back", CommandId::ReplayBack),
        (Icon::Right, "replay-forward", CommandId::ReplayForward),
        (Icon::Next, "replay-next", CommandId::ReplayNext),
    ] {
        if icons::button(ui, icon, frame.words.text(word)).clicked() {
            frame.ask(Request::Command(id));
        }
    }
}

fn times_words(frame: &Frame<'_>, speed: u32) -> String {
    frame
        .words
        .with("replay-times", &[("n", (speed as usize).into())])
}

fn speed(ui: &mut Ui, frame: &mut Frame<'_>, now: Now) {
    let shown = times_words(frame, now.speed);
    let name = frame.words.text("replay-speed");
    let button = ui
        .add(Button::new(&shown).min_size(vec2(52.0, 0.0)))
        .on_hover_text(name);
    ui.accesskit_node_builder(button.id, |node| node.set_label(format!("{name} {shown}")));
    egui::Popup::menu(&button).show(|ui| {
        for speed in SPEEDS {
            let words = times_words(frame, speed);
            if ui.selectable_label(speed == now.speed, words).clicked() {
                frame.ask(Request::Replay(ReplayEdit::Speed(speed)));
            }
        }
    });
}

/// Up to when the findings that are shown were found out, where that is not the present itself.
fn as_of(ui: &mut Ui, frame: &Frame<'_>, now: Now) {
    let text = match now.as_of {
        Some(t) => {
            let time = clock(frame, t);
            frame
                .words
                .with("replay-as-of", &[("time", time.as_str().into())])
        }
        None => frame.words.text("replay-finding-out").to_owned(),
    };
    let text = RichText::new(text).small().color(frame.tokens.text_dim);
    ui.label(text)
        .on_hover_text(frame.words.text("replay-as-of-hint"));
}

fn times(ui: &mut Ui, frame: &Frame<'_>, now: Now) {
    let present = RichText::new(clock(frame, now.at)).monospace().strong();
    ui.label(present.color(frame.tokens.accent));
    let text = elapsed(frame, now.at.secs_since(now.range.start), now.range.secs());
    let text = RichText::new(text).small().color(frame.tokens.text_dim);
    ui.add(egui::Label::new(text).truncate());
}

/// `12 min of 1 h`.
fn elapsed(frame: &Frame<'_>, passed_s: f64, all_s: f64) -> String {
    let units = frame.words.units();
    let (passed, all) = (units.secs(passed_s.round()), units.secs(all_s.round()));
    frame.words.with(
        "replay-elapsed",
        &[
            ("passed", passed.as_str().into()),
            ("all", all.as_str().into()),
        ],
    )
}

/// A time in the zone of the axis.
fn clock(frame: &Frame<'_>, t: Timestamp) -> String {
    frame.zone.civil(t).clock(0)
}

/// The time of the incident as a track; a press or a drag goes there.
fn track(ui: &mut Ui, frame: &mut Frame<'_>, now: Now, width: f32) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, theme::ROW), Sense::click_and_drag());
    let label = frame.words.text("replay-scrub");
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Slider, true, label));
    let spoken = clock(frame, now.at);
    ui.accesskit_node_builder(response.id, |node| node.set_value(spoken));
    let line = Rect::from_center_size(rect.center(), vec2(width - 12.0, 4.0));
    let share = now.at.nanos_since(now.range.start) as f64 / now.range.nanos().max(1) as f64;
    let x = line.left() + share.clamp(0.0, 1.0) as f32 * line.width();
    let tokens = frame.tokens;
    let painter = ui.painter();
    painter.rect_filled(line, 2, tokens.line);
    painter.rect_filled(line.with_max_x(x), 2, tokens.accent);
    painter.circle_filled(pos2(x, line.center().y), 6.0, tokens.accent);
    if response.hovered() || response.dragged() || response.has_focus() {
        ui.set_cursor_icon(CursorIcon::ResizeHorizontal);
        let ring = Stroke::new(1.5, tokens.text);
        painter.circle_stroke(pos2(x, line.center().y), 7.5, ring);
    }
    let is_pressed = response.dragged() || response.clicked();
    if is_pressed && let Some(pos) = response.interact_pointer_pos() {
        let share = f64::from((pos.x - line.left()) / line.width().max(1.0)).clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "within the recording")]
        let nanos = (share * now.range.nanos() as f64) as i64;
        let to = now.range.start.plus_nanos(nanos);
        if to != now.at {
            frame.ask(Request::Replay(ReplayEdit::Go(to)));
        }
    }
}
