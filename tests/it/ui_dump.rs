//! Dumps and profiles in the real window.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tailscope::app::{App, shot};
use tailscope::session::target::Target;
use tailscope::session::view::Drawer;
use tailscope::ui::request::{FocusEdit, Request};

use crate::ui::window;

const LOCK: &str = "fixtures/ingress-metrics-lock/input";

fn ask(harness: &mut Harness<'static, App>, request: Request) {
    let ctx = harness.ctx.clone();
    harness.state_mut().ask(&ctx, request);
    shot::settle(harness);
}

/// The profile of the file whose name holds this.
fn profile(harness: &Harness<'static, App>, name: &str) -> usize {
    let snapshot = harness.state().incident().unwrap().snapshot();
    let is_it = |ix: usize| snapshot.inputs[ix].path.contains(name);
    (0..snapshot.profiles.len())
        .find(|p| is_it(snapshot.profiles[*p].input.0 as usize))
        .unwrap()
}

/// The window with the drawer open on a profile.
fn on(name: &str) -> Harness<'static, App> {
    let mut harness = window(&[LOCK]);
    ask(&mut harness, Request::Drawer(Some(Drawer::Dump)));
    let open = profile(&harness, name);
    ask(&mut harness, Request::Focus(FocusEdit::Profile(Some(open))));
    harness
}

/// For the eye of whoever works on it: writes the picture where the environment asks for it.
fn look(harness: &mut Harness<'static, App>, name: &str) {
    if let Some(folder) = std::env::var_os("TAILSCOPE_LOOK") {
        let picture = harness.render().unwrap();
        let path = std::path::Path::new(&folder).join(name);
        picture.save(path).unwrap();
    }
}

#[test]
fn modes() {
    let mut harness = on("during-1.20261130T143136Z.goroutine.debug1");
    look(&mut harness, "d1.png");
    harness.get_by_label("Flame graph").click();
    shot::settle(&mut harness);
    look(&mut harness, "d2.png");
    harness.get_by_label("Functions").click();
    shot::settle(&mut harness);
    look(&mut harness, "d3.png");
    let b = profile(&harness, "during-2.20261130T143332Z.goroutine.debug1");
    ask(&mut harness, Request::Focus(FocusEdit::CompareProfile(Some(b))));
    look(&mut harness, "d4.png");
    harness.get_by_label("Flame graph").click();
    shot::settle(&mut harness);
    look(&mut harness, "d5.png");
    harness.get_by_label("Groups").click();
    shot::settle(&mut harness);
    look(&mut harness, "d6.png");
}
