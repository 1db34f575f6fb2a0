//! The menu: every command by group, with its shortcut.

use egui::{Button, Ui};

use crate::ui::commands::{ALL, Group};
use crate::ui::frame::Frame;
use crate::ui::request::Request;

const GROUPS: [(Group, &str); 8] = [
    (Group::File, "menu-file"),
    (Group::Edit, "menu-edit"),
    (Group::Move, "menu-move"),
    (Group::Lanes, "menu-lanes"),
    (Group::Findings, "menu-findings"),
    (Group::Replay, "menu-replay"),
    (Group::View, "menu-view"),
    (Group::Look, "menu-look"),
];

pub(super) fn ui(ui: &mut Ui, frame: &mut Frame<'_>) {
    let label = frame.words.text("menu");
    ui.menu_button(label, |ui| {
        for (group, word) in GROUPS {
            ui.menu_button(frame.words.text(word), |ui| {
                for command in ALL.iter().filter(|c| c.group == group) {
                    let key = format!("cmd-{}", command.name);
                    let mut button = Button::new(frame.words.text(&key).to_owned());
                    if let Some(shortcut) = &command.shortcut {
                        button = button.shortcut_text(ui.format_shortcut(shortcut));
                    }
                    if ui.add(button).clicked() {
                        frame.ask(Request::Command(command.id));
                    }
                }
            });
        }
    });
}
