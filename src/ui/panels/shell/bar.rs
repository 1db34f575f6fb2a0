//! The bar on top: the menu, what is open and which time of it is shown, search, zone, look, export.

use egui::{Align, Button, Layout, RichText, Ui};

use crate::base::time::Timestamp;
use crate::session::settings::{Lang, Theme};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::shell::menu;
use crate::ui::request::{Request, Setting};
use crate::ui::theme;

/// Whether there is something to undo and to do again.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bar {
    /// A step back.
    pub can_undo: bool,
    /// A step forward.
    pub can_redo: bool,
}

impl Bar {
    /// Draws it.
    pub fn ui(self, ui: &mut Ui, frame: &mut Frame<'_>) {
        ui.horizontal_centered(|ui| {
            menu::ui(ui, frame);
            // What acts keeps its place at the right; what is read takes the rest and is shortened.
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                look(ui, frame);
                search(ui, frame);
                self.edits(ui, frame);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| what(ui, frame));
            });
        });
    }

    fn edits(self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let export = frame.words.text("bar-export");
        if icons::button(ui, Icon::Save, export).clicked() {
            frame.ask(Request::Command(CommandId::Export));
        }
        for (icon, word, id, can) in [
            (Icon::Redo, "bar-redo", CommandId::Redo, self.can_redo),
            (Icon::Undo, "bar-undo", CommandId::Undo, self.can_undo),
        ] {
            let label = frame.words.text(word);
            ui.add_enabled_ui(can, |ui| {
                if icons::button(ui, icon, label).clicked() {
                    frame.requests.push(Request::Command(id));
                }
            });
        }
    }
}

/// What is open, and which time of it is shown.
fn what(ui: &mut Ui, frame: &mut Frame<'_>) {
    let Some(incident) = frame.incident else {
        return;
    };
    if incident.document.is_partial || !incident.is_complete {
        // What was stopped stays a part, and nobody reads on.
        let is_reading = !incident.is_complete && frame.progress.is_some();
        let (icon_colour, word) = if is_reading {
            (frame.tokens.text_dim, "bar-reading")
        } else {
            (frame.tokens.warning, "bar-partial")
        };
        let text = RichText::new(frame.words.text(word)).color(icon_colour);
        let hint = frame.words.text("bar-partial-hint");
        if ui
            .add(Button::new(text).small())
            .on_hover_text(hint)
            .clicked()
        {
            frame.ask(Request::Drawer(Some(crate::session::view::Drawer::Inputs)));
        }
    }
    let name = frame.name.to_owned();
    let title = RichText::new(&name).strong().color(frame.tokens.text);
    ui.add(egui::Label::new(title).truncate())
        .on_hover_text(&name);
    let shown = range(frame);
    let text = RichText::new(&shown)
        .monospace()
        .color(frame.tokens.text_dim);
    ui.add(egui::Label::new(text).truncate())
        .on_hover_text(&shown);
}

/// The shown range in the zone of the axis, with its length.
fn range(frame: &Frame<'_>) -> String {
    let shown = frame.view.range;
    let clock = |t: Timestamp| frame.zone.civil(t).clock(0);
    let length = frame.words.units().secs(shown.secs());
    format!("{} – {}  {length}", clock(shown.start), clock(shown.end))
}

fn search(ui: &mut Ui, frame: &mut Frame<'_>) {
    let label = frame.words.text("bar-search");
    let shortcut = crate::ui::commands::command(CommandId::Palette)
        .and_then(|c| c.shortcut)
        .map(|s| ui.format_shortcut(&s))
        .unwrap_or_default();
    let button = Button::new(RichText::new(label).color(frame.tokens.text_dim))
        .shortcut_text(shortcut)
        .min_size(egui::vec2(190.0, theme::ROW));
    if ui.add(button).clicked() {
        frame.ask(Request::Command(CommandId::Palette));
    }
}

fn look(ui: &mut Ui, frame: &mut Frame<'_>) {
    let label = frame.words.text("bar-look");
    let button = icons::button(ui, Icon::Contrast, label);
    egui::Popup::menu(&button).show(|ui| {
        for theme in Theme::ALL {
            let word = match theme {
                Theme::Dark => "look-dark",
                Theme::Light => "look-light",
                Theme::Contrast => "look-contrast",
            };
            let is_on = frame.settings.theme == theme;
            if ui.selectable_label(is_on, frame.words.text(word)).clicked() {
                frame.ask(Request::Set(Setting::Theme(theme)));
            }
        }
        ui.separator();
        for lang in Lang::ALL {
            // Each language is named in itself, so that whoever is lost finds home.
            let word = match lang {
                Lang::En => "English",
                Lang::Ko => "한국어",
            };
            if ui
                .selectable_label(frame.settings.lang == lang, word)
                .clicked()
            {
                frame.ask(Request::Set(Setting::Lang(lang)));
            }
        }
        ui.separator();
        for (word, factor) in [("look-bigger", 1.1), ("look-smaller", 1.0 / 1.1)] {
            if ui.button(frame.words.text(word)).clicked() {
                let scale = frame.settings.scale * factor;
                frame.ask(Request::Set(Setting::Scale(scale)));
            }
        }
        let is_reduced = frame.settings.is_motion_reduced;
        if ui
            .selectable_label(is_reduced, frame.words.text("look-motion"))
            .clicked()
        {
            frame.ask(Request::Set(Setting::ReducedMotion(!is_reduced)));
        }
    });
}
