//! The ranked list of causes and findings, and the explanation of the picked one.

use egui::Ui;

use crate::session::view::Selection;
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

    /// What stands after or before the picked one in the list.
    pub fn step(&self, picked: &Selection, is_forward: bool) -> Option<Selection> {
        let _ = (picked, is_forward);
        None
    }

    /// Opens the field for the reason of a dismissal.
    pub fn ask_reason(&mut self, id: &str) {
        let _ = id;
    }

    /// Opens the field for a note.
    pub fn write_note(&mut self, id: &str) {
        let _ = id;
    }
}
