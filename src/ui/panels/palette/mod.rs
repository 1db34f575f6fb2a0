//! The palette: every command, lane, finding and entity by name (Ctrl+K).

use egui::Ui;

use crate::ui::frame::Frame;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Palette {}

impl Palette {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let _ = frame;
        ui.take_available_space();
    }
}
