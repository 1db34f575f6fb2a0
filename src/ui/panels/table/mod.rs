//! Rows of any table, sorted and filtered, and SQL.

use egui::Ui;

use crate::ui::frame::Frame;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Table {}

impl Table {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let _ = frame;
        ui.take_available_space();
    }
}
