//! The window in Korean: no panel says an English sentence beside what it quotes from inputs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tailscope::app::Start;
use tailscope::app::shot::{self, Shot};
use tailscope::engine::load::Opening;
use tailscope::session::settings::{Lang, Settings};
use tailscope::session::view::Drawer;

use crate::korean::{english, of_inputs, sample};

/// Everything that a screen reader can say of the window with that drawer open.
fn said(path: PathBuf, drawer: Option<Drawer>, select: Option<&str>) -> Vec<String> {
    let mut window = shot::harness(&Shot {
        start: Start {
            opening: Opening {
                paths: vec![path],
                ..Opening::default()
            },
            settings: Settings {
                lang: Lang::Ko,
                ..Settings::default()
            },
            ..Start::default()
        },
        size: [1280.0, 1000.0],
        pixels_per_point: 1.0,
        drawer,
        select: select.map(str::to_owned),
    });
    shot::settle(&mut window);
    if drawer == Some(Drawer::Inputs) {
        // Every input that has something to say is opened.
        let warned: Vec<String> = window
            .query_all_by_role(Role::Button)
            .filter_map(|n| n.accesskit_node().label())
            .filter(|label| label.contains("유실") || label.contains("참고 사항"))
            .collect();
        for label in warned {
            if let Some(node) = window.query_all_by_label(&label).next() {
                node.click();
            }
            shot::settle(&mut window);
        }
    }
    let nodes = window.query_all_by(|_| true);
    let mut said = BTreeSet::new();
    for node in nodes {
        let node = node.accesskit_node();
        said.extend(node.label());
        said.extend(node.value());
        said.extend(node.description());
    }
    said.into_iter().collect()
}

/// A duration or share in the English way.
fn has_english_units(text: &str) -> bool {
    let unit = regex::Regex::new(r"\d (ms|s|min|h|d|%|MiB|KiB|B)(\s|[,.;)]|$)").unwrap();
    unit.is_match(text)
}

const DRAWERS: [Option<Drawer>; 7] = [
    None,
    Some(Drawer::Trace),
    Some(Drawer::Dump),
    Some(Drawer::Table),
    Some(Drawer::Compare),
    Some(Drawer::Notes),
    Some(Drawer::Inputs),
];

#[test]
fn no_panel_speaks_english_in_a_korean_window() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut faults = Vec::new();
    for fixture in ["ingress-metrics-lock", "snat-connect-ladder"] {
        let quoted = of_inputs(&sample(fixture));
        let quoted: Vec<&str> = quoted.iter().map(String::as_str).collect();
        let path = root.join("fixtures").join(fixture).join("input");
        for drawer in DRAWERS {
            for text in said(path.clone(), drawer, Some("first")) {
                // The preview shows paths, queries and events as they are; the test of exports looks at it by itself.
                let is_preview = drawer == Some(Drawer::Notes) && text.starts_with(['-', '|', '#']);
                if !is_preview && (!english(&text, &quoted).is_empty() || has_english_units(&text))
                {
                    faults.push(format!("{fixture} {drawer:?}: {text}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_broken_folder_is_listed_in_korean() {
    let folder = tempfile::tempdir().unwrap();
    crate::korean::break_into(folder.path());
    for drawer in [Drawer::Inputs, Drawer::Notes] {
        for text in said(folder.path().to_owned(), Some(drawer), None) {
            assert_eq!(english(&text, &[]), Vec::<String>::new(), "{text}");
        }
    }
}

#[test]
fn a_folder_of_nothing_useful_is_refused_in_korean() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("empty.txt"), b"").unwrap();
    std::fs::write(folder.path().join("page.html"), b"<!doctype html><p>502").unwrap();
    std::fs::write(folder.path().join("bad.zip"), b"PK\x03\x04 nothing").unwrap();
    let all = said(folder.path().to_owned(), None, None);
    for text in &all {
        assert_eq!(english(text, &[]), Vec::<String>::new(), "{text}");
    }
    assert!(
        all.iter().any(|t| t.contains("내용이 없습니다")),
        "{all:#?}"
    );
}
