//! The timeline: lanes on one time axis with one cursor.

use egui::Ui;

use crate::ui::frame::Frame;

/// What the timeline remembers between frames beside the view.
#[derive(Debug, Default)]
pub struct Timeline {}

impl Timeline {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let _ = frame;
        ui.take_available_space();
    }
}
