//! What the person is told: a small card at the lower right, gone after a few seconds.

use egui::{Align2, Ui};

use crate::ui::frame::Frame;
use crate::ui::theme;

/// Draws what is to be told, newest last.
pub fn ui(ui: &Ui, frame: &Frame<'_>, texts: &[&str]) {
    if texts.is_empty() {
        return;
    }
    let offset = egui::vec2(-theme::PAD, -theme::STATUS - theme::PAD);
    egui::Area::new(egui::Id::unique("told"))
        .anchor(Align2::RIGHT_BOTTOM, offset)
        .order(egui::Order::Tooltip)
        .interactable(false)
        .show(ui, |ui| {
            for text in texts.iter().rev().take(3).rev() {
                egui::Frame::window(ui.style())
                    .stroke(egui::Stroke::new(1.0, frame.tokens.accent))
                    .show(ui, |ui| {
                        ui.set_max_width(420.0);
                        ui.label(*text);
                    });
            }
        });
}
