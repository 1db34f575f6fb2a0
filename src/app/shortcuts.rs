//! Keys → commands. Runs before the panels draw, so that a key does one thing only.

use egui::{Event, InputState, Key, KeyboardShortcut, Modifiers};

use crate::app::App;
use crate::ui::commands::{self, Command, CommandId, Group};
use crate::ui::request::Request;

/// Who else may want a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    /// Nobody.
    Nothing,
    /// A button or a list: keys that press and move are its own.
    Widget,
    /// A text field: all keys that write are its own.
    Text,
}

impl App {
    /// Takes the keys of commands out of the input and asks for what they stand for.
    pub(super) fn shortcuts(&self, ctx: &egui::Context, requests: &mut Vec<Request>) {
        let was_typing = self.was_typing;
        let is_modal = self.panels.is_modal()
            || ctx.memory(|m| m.top_modal_layer().is_some())
            || egui::Popup::is_any_open(ctx);
        if is_modal {
            return;
        }
        // Escape has taken the focus away before this runs; it must not close more than the field.
        let focus = if ctx.text_edit_focused() || was_typing {
            Focus::Text
        } else if ctx.memory(|m| m.focused().is_some()) {
            Focus::Widget
        } else {
            Focus::Nothing
        };
        let asked = ctx.input_mut(|input| take(input, focus));
        requests.extend(asked.into_iter().map(Request::Command));
    }
}

/// Removes every key press that is a command from the input, and gives the commands in order.
fn take(input: &mut InputState, focus: Focus) -> Vec<CommandId> {
    let mut asked = Vec::new();
    let mut is_text_taken = false;
    input.events.retain(|event| {
        let Event::Key {
            key,
            pressed: true,
            repeat,
            modifiers,
            ..
        } = event
        else {
            return true;
        };
        let Some(command) = commands::ALL
            .iter()
            .find(|c| c.shortcut.is_some_and(|s| fits(s, *key, *modifiers)))
        else {
            return true;
        };
        if !is_free(command, focus) {
            return true;
        }
        is_text_taken |= !modifiers.command && !modifiers.alt;
        if !repeat || repeats(command) {
            asked.push(command.id);
        }
        false
    });
    if is_text_taken {
        // What the key would write must not land in a field that the command opens.
        input.events.retain(|e| !matches!(e, Event::Text(_)));
    }
    asked
}

/// Whether a press is this shortcut. Signs that need Shift on some keyboards (`?`, `+`) are taken with and without.
fn fits(shortcut: KeyboardShortcut, key: Key, modifiers: Modifiers) -> bool {
    let wanted = shortcut.modifiers;
    let is_key =
        shortcut.logical_key == key || (shortcut.logical_key == Key::Plus && key == Key::Equals);
    let is_sign = matches!(
        shortcut.logical_key,
        Key::Questionmark | Key::Plus | Key::Minus | Key::OpenBracket | Key::CloseBracket
    );
    is_key
        && (wanted.command || wanted.ctrl) == (modifiers.command || modifiers.ctrl)
        && wanted.alt == modifiers.alt
        && (is_sign || wanted.shift == modifiers.shift)
}

/// Whether the key is not somebody else's now.
fn is_free(command: &Command, focus: Focus) -> bool {
    let Some(shortcut) = command.shortcut else {
        return false;
    };
    let has_modifier = shortcut.modifiers.command || shortcut.modifiers.ctrl;
    match focus {
        Focus::Nothing => true,
        Focus::Widget => {
            has_modifier
                || shortcut.modifiers.alt
                || !matches!(
                    shortcut.logical_key,
                    Key::Enter
                        | Key::Space
                        | Key::Tab
                        | Key::ArrowUp
                        | Key::ArrowDown
                        | Key::ArrowLeft
                        | Key::ArrowRight
                        | Key::Home
                        | Key::End
                        | Key::Delete
                        // egui takes the focus away at Escape, unless the widget said that it has a use for it.
                        | Key::Escape
                )
        }
        // Undo is the field's own while somebody writes in it; closing the incident by a habit of shells would be a shock.
        Focus::Text => {
            has_modifier
                && !matches!(
                    command.id,
                    CommandId::Undo | CommandId::Redo | CommandId::Close
                )
        }
    }
}

/// Whether a key that is held goes on.
const fn repeats(command: &Command) -> bool {
    matches!(command.group, Group::Move | Group::Edit)
        || matches!(
            command.id,
            CommandId::SelectNext
                | CommandId::SelectPrevious
                | CommandId::LaneTaller
                | CommandId::LaneShorter
                | CommandId::Bigger
                | CommandId::Smaller
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: Key, modifiers: Modifiers) -> Event {
        Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        }
    }

    fn taken(events: Vec<Event>, focus: Focus) -> (Vec<CommandId>, usize) {
        let mut input = InputState::default();
        input.events = events;
        let asked = take(&mut input, focus);
        (asked, input.events.len())
    }

    #[test]
    fn modifiers_tell_commands_of_one_key_apart() {
        for (modifiers, want) in [
            (Modifiers::NONE, CommandId::NextGap),
            (Modifiers::SHIFT, CommandId::PreviousGap),
            (Modifiers::COMMAND, CommandId::GoTime),
        ] {
            let (asked, left) = taken(vec![press(Key::G, modifiers)], Focus::Nothing);
            assert_eq!(asked, [want]);
            assert_eq!(left, 0);
        }
        let redo = Modifiers::COMMAND | Modifiers::SHIFT;
        assert_eq!(
            taken(vec![press(Key::Z, redo)], Focus::Nothing).0,
            [CommandId::Redo]
        );
        let question = vec![press(Key::Questionmark, Modifiers::SHIFT)];
        assert_eq!(taken(question, Focus::Nothing).0, [CommandId::Shortcuts]);
    }

    #[test]
    fn who_writes_keeps_the_keys() {
        let typed = || vec![press(Key::E, Modifiers::NONE), Event::Text("e".to_owned())];
        assert_eq!(taken(typed(), Focus::Text), (vec![], 2));
        assert_eq!(
            taken(typed(), Focus::Nothing),
            (vec![CommandId::AddEvent], 0)
        );
        let undo = vec![press(Key::Z, Modifiers::COMMAND)];
        assert!(taken(undo, Focus::Text).0.is_empty());
        let palette = vec![press(Key::K, Modifiers::COMMAND)];
        assert_eq!(taken(palette, Focus::Text).0, [CommandId::Palette]);
    }

    #[test]
    fn a_focused_button_keeps_the_keys_that_press_and_move() {
        let enter = vec![press(Key::Enter, Modifiers::NONE)];
        assert!(taken(enter.clone(), Focus::Widget).0.is_empty());
        assert_eq!(taken(enter, Focus::Nothing).0, [CommandId::FollowFirst]);
        let zoom = vec![press(Key::W, Modifiers::NONE)];
        assert_eq!(taken(zoom, Focus::Widget).0, [CommandId::ZoomIn]);
    }

    #[test]
    fn every_shortcut_is_found_by_its_own_keys() {
        for command in commands::ALL {
            if let Some(shortcut) = command.shortcut {
                let event = press(shortcut.logical_key, shortcut.modifiers);
                assert_eq!(
                    taken(vec![event], Focus::Nothing).0,
                    [command.id],
                    "{}",
                    command.name
                );
            }
        }
    }
}
