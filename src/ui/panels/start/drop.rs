//! Files that are dragged over the window: what dropping them will do is shown. Opening what is dropped is the app's.

use egui::{Align2, FontId, Id, LayerId, Order, Stroke, StrokeKind, Ui};

use crate::ui::frame::Frame;
use crate::ui::theme;

/// Draws the overlay while something is dragged over the window.
pub fn ui(ui: &Ui, frame: &Frame<'_>) {
    let hovered = ui.input(|i| i.raw.hovered_files.len());
    if hovered == 0 {
        return;
    }
    let tokens = frame.tokens;
    let painter = ui.layer_painter(LayerId::new(Order::Tooltip, Id::unique("drop")));
    let rect = ui.content_rect();
    painter.rect_filled(rect, 0.0, tokens.ground.gamma_multiply(0.86));
    painter.rect_stroke(
        rect.shrink(12.0),
        8.0,
        Stroke::new(2.0, tokens.accent),
        StrokeKind::Inside,
    );
    let text = frame.words.with("drop-open", &[("n", hovered.into())]);
    painter.text(
        rect.center(),
        Align2::CENTER_BOTTOM,
        text,
        FontId::proportional(theme::TITLE * 1.3),
        tokens.text,
    );
    let hint = if frame.incident.is_some() {
        "drop-replaces"
    } else {
        "drop-what"
    };
    painter.text(
        rect.center() + egui::vec2(0.0, theme::PAD),
        Align2::CENTER_TOP,
        frame.words.text(hint),
        FontId::proportional(theme::BODY),
        tokens.text_dim,
    );
}
