//! The menu of time zones: searched by name, for the first axis or the second.

use egui::{Key, Modifiers, Popup, PopupCloseBehavior, Rect, ScrollArea, TextEdit, Ui};

use crate::base::time::Zone;
use crate::engine::memo::Memo;
use crate::ui::frame::Frame;
use crate::ui::request::{Request, Setting};
use crate::ui::theme;

/// What the menu remembers while it is open.
#[derive(Debug, Default)]
pub(super) struct ZoneMenu {
    names: Memo<u8, Vec<String>>,
    text: String,
    is_second: bool,
}

impl ZoneMenu {
    /// The button with the name of the zone, and its menu.
    pub(super) fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, rect: Rect, shown: &str) {
        let label = frame.words.text("timeline-zone");
        let text = egui::RichText::new(shown)
            .size(theme::SMALL)
            .color(frame.tokens.text_dim);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        let builder = egui::UiBuilder::new()
            .id_salt("zone")
            .max_rect(rect)
            .layout(layout);
        let button = egui::Button::new(text)
            .small()
            .truncate()
            .frame_when_inactive(false);
        let button = ui
            .scope_builder(builder, |ui| ui.add(button))
            .inner
            .on_hover_text(label);
        Popup::from_toggle_button_response(&button)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
            .width(280.0)
            .show(|ui| self.menu(ui, frame));
    }

    fn menu(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let words = frame.words;
        ui.horizontal(|ui| {
            for (is_second, word) in [
                (false, "timeline-zone-first"),
                (true, "timeline-zone-second"),
            ] {
                if ui
                    .selectable_label(self.is_second == is_second, words.text(word))
                    .clicked()
                {
                    self.is_second = is_second;
                }
            }
        });
        let search = words.text("timeline-zone-search");
        let field = ui.add(
            TextEdit::singleline(&mut self.text)
                .hint_text(search)
                .desired_width(f32::INFINITY),
        );
        if !field.has_focus() && ui.memory(|m| m.focused().is_none()) {
            field.request_focus();
        }
        let is_enter =
            field.lost_focus() && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter));
        let names = self
            .names
            .want(frame.pool, &0, |_| Ok(Zone::names()))
            .value()
            .map_or(&[][..], |v| v);
        let wanted = self.text.to_lowercase().replace(' ', "_");
        let mut found: Vec<Option<&str>> = Vec::new();
        if self.is_second && wanted.is_empty() {
            found.push(None);
        }
        found.extend(
            ["UTC", "local"]
                .into_iter()
                .chain(names.iter().map(String::as_str).filter(|n| *n != "UTC"))
                .filter(|n| n.to_lowercase().contains(&wanted))
                .map(Some),
        );
        let current = if self.is_second {
            frame.settings.second_zone.as_deref()
        } else {
            Some(frame.settings.zone.as_str())
        };
        let mut choice = found.first().copied().filter(|_| is_enter);
        ScrollArea::vertical()
            .max_height(220.0)
            .auto_shrink([false, true])
            .show_rows(ui, theme::ROW, found.len(), |ui, rows| {
                for name in found.get(rows).unwrap_or_default() {
                    let label = match name {
                        None => words.text("timeline-zone-none"),
                        Some("local") => words.text("timeline-zone-local"),
                        Some(name) => name,
                    };
                    if ui.selectable_label(current == *name, label).clicked() {
                        choice = Some(*name);
                    }
                }
            });
        if found.is_empty() {
            ui.label(words.text("timeline-zone-unknown"));
        }
        if let Some(name) = choice {
            let name = name.map(str::to_owned);
            let setting = match (self.is_second, name) {
                (true, name) => Setting::SecondZone(name),
                (false, Some(name)) => Setting::Zone(name),
                (false, None) => return,
            };
            if !self.is_second {
                frame.ask(Request::Set(Setting::Relative(false)));
            }
            frame.ask(Request::Set(setting));
            self.text.clear();
            ui.close();
        }
        ui.separator();
        let mut is_relative = frame.settings.is_relative;
        if ui
            .checkbox(&mut is_relative, words.text("timeline-zone-relative"))
            .changed()
        {
            frame.ask(Request::Set(Setting::Relative(is_relative)));
        }
    }
}
