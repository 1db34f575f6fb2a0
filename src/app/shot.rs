//! Draws the real window without a display: the picture is what a person would see.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use eframe::egui_wgpu::{WgpuSetup, wgpu};
use egui_kittest::wgpu::{WgpuTestRenderer, default_wgpu_setup};
use egui_kittest::{Harness, LazyRenderer};

use crate::app::{App, Start};
use crate::session::target::Target;
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
    /// Nothing useful was in the inputs; why, one line for each.
    #[error("nothing to draw: no input could be used")]
    Nothing(Vec<String>),
    /// The picture could not be packed.
    #[error("cannot write the picture: {0}")]
    Png(#[from] image::ImageError),
}

/// A picture of the window.
#[derive(Debug)]
pub struct Picture {
    /// A PNG file.
    pub png: Vec<u8>,
    /// Whether an input was lost or cut short, so that the picture lacks it.
    pub is_partial: bool,
}

/// Draws the window.
pub fn picture(shot: &Shot) -> Result<Picture, ShotError> {
    let mut harness = harness(shot);
    settle(&mut harness);
    let ctx = harness.ctx.clone();
    let app = harness.state_mut();
    if app.incident().is_none() && !shot.start.opening.paths.is_empty() {
        let why = app.panels.start.failure().unwrap_or_default();
        return Err(ShotError::Nothing(why.to_vec()));
    }
    if let Some(id) = &shot.select {
        let is_known = app.pick(&ctx, id);
        if !is_known {
            return Err(ShotError::Unknown(id.clone()));
        }
    }
    settle(&mut harness);
    let app = harness.state_mut();
    if let Some(drawer) = shot.drawer {
        app.open_drawer(&ctx, drawer);
    }
    settle(&mut harness);
    // The library panics where there is no driver at all.
    let picture = catch_unwind(AssertUnwindSafe(|| harness.render()))
        .unwrap_or_else(|_| Err("no Vulkan and no OpenGL driver answers".to_owned()))
        .map_err(ShotError::Driver)?;
    let mut png = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut png, image::ImageFormat::Png)?;
    let is_partial = harness
        .state()
        .incident()
        .is_some_and(|i| i.document.is_partial);
    Ok(Picture {
        png: png.into_inner(),
        is_partial,
    })
}

impl App {
    /// Opens the drawer at what the picked cause points at, as a click on its first link would.
    pub fn open_drawer(&mut self, ctx: &egui::Context, drawer: Drawer) {
        if let Some(place) = self.first_link(drawer) {
            self.ask(ctx, Request::Follow(place));
        }
        self.ask(ctx, Request::Drawer(Some(drawer)));
    }

    /// Where the first piece of evidence of the picked cause leads that the drawer can show; the worst and latest finding first.
    fn first_link(&self, drawer: Drawer) -> Option<Target> {
        let incident = self.incident.as_ref()?;
        let links = self.linked.links(Some(incident))?;
        let lit = &self.highlight.findings;
        let findings = incident.findings().iter();
        let mut findings: Vec<_> = findings.filter(|f| lit.contains(&f.id)).collect();
        findings.sort_by_key(|f| std::cmp::Reverse((f.severity, f.start)));
        let mut places = findings
            .into_iter()
            .flat_map(|f| links.finding(&f.id).iter().flatten());
        places.find(|t| leads_to(t, drawer)).cloned()
    }
}

const fn leads_to(target: &Target, drawer: Drawer) -> bool {
    match drawer {
        Drawer::Trace => matches!(target, Target::Span { .. }),
        Drawer::Dump => matches!(target, Target::Stack { .. }),
        Drawer::Table | Drawer::Compare | Drawer::Notes | Drawer::Inputs => false,
    }
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
