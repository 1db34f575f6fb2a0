//! Opens the native window.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::app::{App, Start};

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
#[error("no window: {0}")]
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
    // The window library panics when the display takes the window away. What a person did is saved as it is done, so nothing is
    // lost but the window.
    let ran = catch_unwind(AssertUnwindSafe(|| {
        eframe::run_native(
            "tailscope",
            options,
            Box::new(move |cc| Ok(Box::new(App::new(&cc.egui_ctx, start)?))),
        )
    }));
    match ran {
        Ok(ended) => ended.map_err(|e| WindowError(plain(&e.to_string()))),
        Err(_) => Err(WindowError(
            "the display took it away; view and notes are kept, and the next start offers them"
                .to_owned(),
        )),
    }
}

/// The words of an error without the source line that the window library puts before them.
fn plain(text: &str) -> String {
    let after = text
        .split_once("os error at ")
        .and_then(|(_, rest)| rest.split_once(": "));
    after
        .map_or(text, |(_, words)| words)
        .trim_end_matches('.')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_no_file_of_a_library() {
        let text = "winit EventLoopError: os error at /r/winit/linux/mod.rs:765: neither WAYLAND_DISPLAY nor DISPLAY is set.";
        assert_eq!(plain(text), "neither WAYLAND_DISPLAY nor DISPLAY is set");
        assert_eq!(plain("no OpenGL"), "no OpenGL");
    }
}
