//! Key caps: a shortcut as it is printed on the keyboard.

use egui::{Align2, FontId, Key, KeyboardShortcut, Pos2, Rect, Stroke, StrokeKind, Ui, Vec2};

use crate::ui::theme::{self, Tokens};

/// The keys of a shortcut, as text.
pub fn names(shortcut: KeyboardShortcut) -> Vec<&'static str> {
    let mut names = Vec::new();
    let modifiers = shortcut.modifiers;
    if modifiers.command || modifiers.ctrl {
        names.push("Ctrl");
    }
    if modifiers.alt {
        names.push("Alt");
    }
    if modifiers.shift {
        names.push("Shift");
    }
    names.push(match shortcut.logical_key {
        Key::ArrowLeft => "\u{2190}",
        Key::ArrowRight => "\u{2192}",
        Key::ArrowUp => "\u{2191}",
        Key::ArrowDown => "\u{2193}",
        Key::Escape => "Esc",
        Key::Delete => "Del",
        Key::Plus => "+",
        Key::Minus => "-",
        Key::Questionmark => "?",
        Key::OpenBracket => "[",
        Key::CloseBracket => "]",
        key => key.name(),
    });
    names
}

/// As one word, for labels and tooltips: `Ctrl+K`.
pub fn text(shortcut: KeyboardShortcut) -> String {
    names(shortcut).join("+")
}

/// Draws the caps so that they end at `right`; gives how wide they are.
pub fn paint(ui: &Ui, tokens: &Tokens, right: Pos2, shortcut: KeyboardShortcut) -> f32 {
    let font = FontId::proportional(theme::SMALL);
    let mut x = right.x;
    for name in names(shortcut).into_iter().rev() {
        let galley = ui
            .painter()
            .layout_no_wrap(name.to_owned(), font.clone(), tokens.text_dim);
        let width = (galley.size().x + 10.0).max(18.0);
        let rect =
            Rect::from_center_size(Pos2::new(x - width / 2.0, right.y), Vec2::new(width, 18.0));
        ui.painter().rect(
            rect,
            3.0,
            tokens.panel,
            Stroke::new(1.0, tokens.line),
            StrokeKind::Inside,
        );
        ui.painter().galley(
            Align2::CENTER_CENTER
                .anchor_size(rect.center(), galley.size())
                .min,
            galley,
            tokens.text_dim,
        );
        x -= width + 3.0;
    }
    right.x - x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::commands;

    #[test]
    fn every_shortcut_has_short_names() {
        for command in commands::ALL {
            if let Some(shortcut) = command.shortcut {
                let text = text(shortcut);
                assert!(!text.is_empty() && text.chars().count() <= 14, "{text}");
            }
        }
    }
}
