//! The welcome page: open, drop, recent and sample incidents.

use egui::Ui;

use crate::ui::frame::Frame;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Start {
    failed: Option<(Vec<std::path::PathBuf>, Vec<String>)>,
}

impl Start {
    /// Says that nothing useful was in what was opened.
    pub fn failed(&mut self, paths: &[std::path::PathBuf], why: Vec<String>) {
        self.failed = Some((paths.to_vec(), why));
    }

    /// Why nothing useful was in what was opened last, one line for each input.
    pub fn failure(&self) -> Option<&[String]> {
        self.failed.as_ref().map(|(_, why)| why.as_slice())
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let _ = frame;
        ui.take_available_space();
    }
}
