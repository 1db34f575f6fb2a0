//! Opens the native window.

use crate::app::{App, Start};

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
#[error("cannot open a window: {0}")]
pub struct WindowError(String);

/// Opens the window and returns when it is closed.
pub fn run(start: Start) -> Result<(), WindowError> {
    let options = eframe::NativeOptions {
        renderer: eframe::Renderer::Glow,
        viewport: egui::ViewportBuilder::default()
            .with_title("Tailscope")
            .with_app_id("tailscope")
            .with_inner_size([1280.0, 800.0])
            .with_min_inner_size([640.0, 400.0])
            .with_drag_and_drop(true),
        ..Default::default()
    };
    eframe::run_native(
        "tailscope",
        options,
        Box::new(move |cc| Ok(Box::new(App::new(&cc.egui_ctx, start)?))),
    )
    .map_err(|e| WindowError(e.to_string()))
}
