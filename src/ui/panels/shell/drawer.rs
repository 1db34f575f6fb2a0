//! The head of the drawer: its tabs, whole height, close.

use egui::{Align, Layout, Ui};

use crate::session::view::Drawer;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::Request;

/// Words of a drawer's tab.
pub(super) const fn word(drawer: Drawer) -> &'static str {
    match drawer {
        Drawer::Trace => "drawer-trace",
        Drawer::Dump => "drawer-dump",
        Drawer::Table => "drawer-table",
        Drawer::Compare => "drawer-compare",
        Drawer::Notes => "drawer-notes",
        Drawer::Inputs => "drawer-inputs",
    }
}

/// Draws it.
pub fn head(ui: &mut Ui, frame: &mut Frame<'_>) {
    ui.horizontal(|ui| {
        for drawer in Drawer::ALL {
            let is_on = frame.view.drawer == Some(drawer);
            let label = frame.words.text(word(drawer));
            if ui.selectable_label(is_on, label).clicked() && !is_on {
                frame.ask(Request::Drawer(Some(drawer)));
            }
        }
        if frame.view.drawer.is_none() {
            return;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icons::button(ui, Icon::Close, frame.words.text("drawer-close")).clicked() {
                frame.ask(Request::Drawer(None));
            }
            let is_full = frame.view.is_drawer_full;
            let (icon, key) = if is_full {
                (Icon::Shrink, "drawer-shrink")
            } else {
                (Icon::Expand, "drawer-expand")
            };
            if icons::button(ui, icon, frame.words.text(key)).clicked() {
                frame.ask(Request::DrawerFull(!is_full));
            }
        });
    });
    if frame.view.drawer.is_some() {
        ui.separator();
    }
}
