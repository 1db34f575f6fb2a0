//! The real window, without a display: what a person sees and touches.

use std::path::{Path, PathBuf};

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tailscope::app::shot::{self, Shot};
use tailscope::app::{App, Start};
use tailscope::engine::load::Opening;

/// The window on some inputs, 1280×800, read and at rest.
pub(crate) fn window(paths: &[&str]) -> Harness<'static, App> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<PathBuf> = paths.iter().map(|p| root.join(p)).collect();
    let shot = Shot {
        start: Start {
            opening: Opening {
                paths,
                ..Opening::default()
            },
            ..Start::default()
        },
        size: [1280.0, 800.0],
        pixels_per_point: 1.0,
        drawer: None,
        select: None,
    };
    let mut harness = shot::harness(&shot);
    shot::settle(&mut harness);
    harness
}

#[test]
fn an_incident_opens_with_its_report() {
    let harness = window(&["fixtures/ingress-metrics-lock/input"]);
    let incident = harness.state().incident().unwrap();
    assert_eq!(
        incident.hypotheses()[0].signature,
        "metrics-lock-starves-scrape"
    );
    harness.get_by_label_contains("58 inputs ·");
}
