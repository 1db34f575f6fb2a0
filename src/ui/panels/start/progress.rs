//! How the reading goes, before the first rows are there. Every line keeps its place as the numbers grow.

use egui::{RichText, Ui, Vec2};

use crate::base::text::grouped;
use crate::engine::load::Progress;
use crate::ui::frame::Frame;
use crate::ui::request::Request;
use crate::ui::theme;

/// How many of the inputs that are read now are named.
const NAMED: usize = 6;
/// Width of the card, in points.
const WIDTH: f32 = 520.0;

/// Draws it.
pub(super) fn ui(ui: &mut Ui, progress: &Progress, frame: &mut Frame<'_>) {
    let width = WIDTH.min(ui.available_width() - 2.0 * theme::PAD);
    let top = ui.available_height() * 0.26;
    ui.vertical_centered(|ui| {
        ui.add_space(top);
        ui.allocate_ui(Vec2::new(width, 0.0), |ui| {
            ui.set_width(width);
            ui.with_layout(egui::Layout::top_down(egui::Align::Min), |ui| {
                card(ui, progress, frame);
            });
        });
    });
}

fn card(ui: &mut Ui, progress: &Progress, frame: &mut Frame<'_>) {
    let tokens = frame.tokens;
    let words = frame.words;
    let title = if progress.is_analysing {
        words.text("progress-analysing").to_owned()
    } else {
        words.with("progress-title", &[("name", frame.name.into())])
    };
    ui.add(egui::Label::new(RichText::new(title).heading()).truncate());
    ui.add_space(theme::GAP);
    bar(ui, progress, frame);
    ui.add_space(theme::GAP);
    let (read, found) = (
        grouped(progress.read as u64),
        grouped(progress.found as u64),
    );
    let bytes = frame.words.units().bytes(progress.bytes as f64);
    let text = words.with(
        "progress-counts",
        &[
            ("read", (&read).into()),
            ("found", (&found).into()),
            ("bytes", (&bytes).into()),
        ],
    );
    ui.label(RichText::new(text).monospace().color(tokens.text_dim));
    ui.add_space(theme::GAP);
    for at in 0..NAMED {
        let path = progress.current.get(at).map_or("", String::as_str);
        let text = RichText::new(path).small().color(tokens.text_faint);
        ui.add_sized(
            Vec2::new(ui.available_width(), 17.0),
            egui::Label::new(text).truncate().halign(egui::Align::Min),
        );
    }
    ui.add_space(theme::PAD);
    if ui.button(words.text("progress-cancel")).clicked() {
        frame.ask(Request::CancelOpen);
    }
}

/// How much of what was found is read; the track alone while nothing is known yet.
fn bar(ui: &mut Ui, progress: &Progress, frame: &Frame<'_>) {
    let (rect, response) =
        ui.allocate_exact_size(Vec2::new(ui.available_width(), 6.0), egui::Sense::hover());
    let share = if progress.found == 0 {
        0.0
    } else {
        (progress.read as f32 / progress.found as f32).clamp(0.0, 1.0)
    };
    response.widget_info(|| {
        let label = frame.words.text("progress-bar");
        let mut info = egui::WidgetInfo::labeled(egui::Role::ProgressIndicator, true, label);
        info.value = Some(f64::from(share));
        info
    });
    ui.painter().rect_filled(rect, 3.0, frame.tokens.raised);
    let mut done = rect;
    done.set_width(rect.width() * share);
    ui.painter().rect_filled(done, 3.0, frame.tokens.accent);
}
