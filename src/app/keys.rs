//! Keys → commands. Who types keeps the keys that type; who works a menu or a button keeps those that work it.

use egui::{Context, Key, KeyboardShortcut, Modifiers};

use crate::ui::commands::{ALL, CommandId};

/// The commands whose keys were pressed, which nobody else gets any more.
pub(super) fn pressed(ctx: &Context) -> Vec<CommandId> {
    let is_typing = ctx.text_edit_focused();
    let is_on_widget = ctx.memory(|m| m.focused().is_some());
    let is_covered = egui::Popup::is_any_open(ctx) || ctx.memory(|m| m.top_modal_layer().is_some());
    let is_free = |shortcut: KeyboardShortcut| {
        if is_typing || is_covered {
            is_safe_beside_text(shortcut)
        } else {
            !(is_on_widget && works_a_widget(shortcut))
        }
    };
    // Those with more modifiers first: egui ignores a Shift too many.
    let mut all: Vec<(CommandId, KeyboardShortcut)> = ALL
        .iter()
        .filter_map(|c| Some((c.id, c.shortcut?)))
        .filter(|(_, shortcut)| is_free(*shortcut))
        .collect();
    all.sort_by_key(|(_, s)| std::cmp::Reverse(weight(s.modifiers)));
    ctx.input_mut(|input| {
        all.into_iter()
            .filter(|(_, shortcut)| input.consume_shortcut(shortcut))
            .map(|(id, _)| id)
            .collect()
    })
}

fn weight(modifiers: Modifiers) -> u8 {
    u8::from(modifiers.command) + u8::from(modifiers.shift) + u8::from(modifiers.alt)
}

/// With Ctrl, and nothing that a text field does with Ctrl.
fn is_safe_beside_text(shortcut: KeyboardShortcut) -> bool {
    shortcut.modifiers.command
        && !shortcut.conflicts_with_text_editing()
        && !matches!(
            shortcut.logical_key,
            Key::A | Key::C | Key::V | Key::X | Key::Y | Key::Z | Key::W | Key::H
        )
}

/// What presses a button or goes from one widget to the next.
fn works_a_widget(shortcut: KeyboardShortcut) -> bool {
    shortcut.modifiers.is_none()
        && matches!(
            shortcut.logical_key,
            Key::Enter
                | Key::Space
                | Key::ArrowUp
                | Key::ArrowDown
                | Key::ArrowLeft
                | Key::ArrowRight
        )
}
