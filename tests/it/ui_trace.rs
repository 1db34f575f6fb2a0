//! The trace view in the real window: from a finding's evidence to the very span, by mouse and by keyboard.

use egui_kittest::kittest::Queryable as _;
use tailscope::app::App;
use tailscope::app::shot::settle;
use tailscope::session::target::Target;
use tailscope::session::view::Drawer;
use tailscope::ui::request::{FocusEdit, Request};

use crate::ui::window;

type Window = egui_kittest::Harness<'static, App>;

const SNAT: &str = "fixtures/snat-connect-ladder/input";
/// `fixtures/snat-connect-ladder/README.md`: the first and the second SYN lost, gap 3032.614 ms.
const LADDER: &str = "1-6b0d8832-44ec0712a449ffefd10ffc9f";

fn ask(window: &mut Window, request: Request) {
    let ctx = window.ctx.clone();
    window.state_mut().ask(&ctx, request);
    settle(window);
}

#[test]
fn pictures() {
    let mut w = window(&[SNAT]);
    let span = w.state().incident().unwrap().snapshot().spans.iter().position(|s| s.trace_id.as_ref() == LADDER).unwrap();
    ask(&mut w, Request::Drawer(Some(Drawer::Trace)));
    w.render().unwrap().save("/tmp/tr_list.png").unwrap();
    ask(&mut w, Request::Follow(Target::Span { span }));
    w.render().unwrap().save("/tmp/tr_open.png").unwrap();
    ask(&mut w, Request::DrawerFull(true));
    w.get_by_label_contains("Attributes of the picked").click();
    settle(&mut w);
    w.render().unwrap().save("/tmp/tr_full.png").unwrap();
    w.get_by_label("Flame").click();
    settle(&mut w);
    w.render().unwrap().save("/tmp/tr_flame.png").unwrap();
}
