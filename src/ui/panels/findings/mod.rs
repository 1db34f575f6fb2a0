//! The ranked list of causes and findings, and the explanation of the picked one.

use egui::Ui;

use crate::ui::frame::Frame;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Findings {}

impl Findings {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let _ = frame;
        ui.take_available_space();
    }
}
