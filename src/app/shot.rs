//! Draws the real window without a display: the picture is what a person would see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use eframe::egui_wgpu::{WgpuSetup, wgpu};
use egui_kittest::wgpu::{WgpuTestRenderer, default_wgpu_setup};
use egui_kittest::{Harness, LazyRenderer};

use crate::app::{App, Start};
use crate::session::view::Drawer;
use crate::ui::request::Request;

/// What to draw.
#[derive(Debug, Clone)]
pub struct Shot {
    /// How the window starts.
    pub start: Start,
    /// Width and height in points.
    pub size: [f32; 2],
    /// Pixels for each point.
    pub pixels_per_point: f32,
    /// What lies open below the timeline.
    pub drawer: Option<Drawer>,
    /// The hypothesis or finding that is picked, by id; `first` is the best hypothesis.
    pub select: Option<String>,
}

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum ShotError {
    /// The machine lacks a driver.
    #[error("cannot draw: {0}")]
    Driver(String),
    /// Nothing has that id.
    #[error("no hypothesis and no finding has the id {0:?}")]
    Unknown(String),
    /// The picture could not be packed.
    #[error("cannot write the picture: {0}")]
    Png(#[from] image::ImageError),
}

/// Draws the window and gives a PNG file.
pub fn picture(shot: &Shot) -> Result<Vec<u8>, ShotError> {
    let mut harness = harness(shot);
    settle(&mut harness);
    let ctx = harness.ctx.clone();
    let app = harness.state_mut();
    if let Some(id) = &shot.select {
        let is_known = app.pick(&ctx, id);
        if !is_known {
            return Err(ShotError::Unknown(id.clone()));
        }
    }
    if shot.drawer.is_some() {
        app.ask(&ctx, Request::Drawer(shot.drawer));
    }
    settle(&mut harness);
    // The library panics where there is no driver at all.
    let picture = catch_unwind(AssertUnwindSafe(|| harness.render()))
        .unwrap_or_else(|_| Err("no Vulkan and no OpenGL driver answers".to_owned()))
        .map_err(ShotError::Driver)?;
    let mut png = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut png, image::ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// A harness around the real window. Hangul comes from the system's fonts.
pub fn harness(shot: &Shot) -> Harness<'static, App> {
    let start = shot.start.clone();
    Harness::builder()
        .with_size(shot.size)
        .with_pixels_per_point(shot.pixels_per_point)
        .with_max_steps(64)
        .with_render_cursor(false)
        .renderer(LazyRenderer::new(renderer))
        .allow_missing_glyphs()
        .with_context_setup(|ctx| {
            ctx.add_font_provider(std::sync::Arc::new(
                egui_system_font_provider::SystemFontProvider::new(),
            ));
        })
        .build_eframe(move |cc| match App::new(&cc.egui_ctx, start) {
            Ok(app) => app,
            Err(error) => panic!("{error}"),
        })
}

/// Vulkan (lavapipe will do), else OpenGL. OpenGL is not tried first, since its drivers write to standard error when there is no
/// display.
fn renderer() -> WgpuTestRenderer {
    let mut setup = default_wgpu_setup();
    if let WgpuSetup::CreateNew(create) = &mut setup {
        create.instance_descriptor.backends = wgpu::Backends::VULKAN;
    }
    catch_unwind(AssertUnwindSafe(|| WgpuTestRenderer::from_setup(setup)))
        .unwrap_or_else(|_| WgpuTestRenderer::new())
}

/// Runs frames until nothing is read or prepared any more.
pub fn settle(harness: &mut Harness<'static, App>) {
    // What is prepared may be what the next thing is prepared from: tree, then its order, then what is picked in it.
    let mut quiet = 0;
    while quiet < 6 {
        harness.step();
        if harness.state().is_settled() {
            quiet += 1;
        } else {
            quiet = 0;
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
