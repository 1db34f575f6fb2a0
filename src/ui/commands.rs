//! Everything that can be done without an argument: a name, words, a place in the palette and, mostly, a shortcut.
//!
//! To add one: a variant, a line in [`ALL`], two messages in `commands.ftl` (`cmd-NAME` and `cmd-NAME-hint`), an arm in
//! `app::commands`.

use egui::{Key, KeyboardShortcut, Modifiers};

macro_rules! commands {
    ($($variant:ident, $name:literal, $group:ident, $shortcut:expr, $doc:literal;)*) => {
        /// A command.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum CommandId {
            $(#[doc = $doc] $variant,)*
        }

        /// Every command, in order of the palette.
        pub const ALL: &[Command] = &[
            $(Command { id: CommandId::$variant, name: $name, group: Group::$group, shortcut: $shortcut },)*
        ];
    };
}

/// What belongs together in the palette and in the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Opening, closing, writing.
    File,
    /// Undo, redo.
    Edit,
    /// Moving in time.
    Move,
    /// Lanes.
    Lanes,
    /// Findings and hypotheses.
    Findings,
    /// What is shown.
    View,
    /// Look, language, zone.
    Look,
    /// Running the incident again.
    Replay,
}

/// One command.
#[derive(Debug, Clone, Copy)]
pub struct Command {
    /// Which.
    pub id: CommandId,
    /// Its name; `cmd-NAME` are its words.
    pub name: &'static str,
    /// Where it stands.
    pub group: Group,
    /// Its shortcut.
    pub shortcut: Option<KeyboardShortcut>,
}

const fn key(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn alt(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::ALT, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

commands! {
    Palette, "palette", File, Some(ctrl(Key::K)), "Open the palette.";
    Open, "open", File, Some(ctrl(Key::O)), "Choose what to open.";
    Reload, "reload", File, Some(ctrl(Key::R)), "Read the inputs again.";
    Close, "close", File, Some(ctrl(Key::W)), "Close the incident and show the start page.";
    Export, "export", File, Some(ctrl(Key::E)), "Write the incident timeline.";
    Quit, "quit", File, Some(ctrl(Key::Q)), "End the program.";
    Undo, "undo", Edit, Some(ctrl(Key::Z)), "Undo the last change of the view or the notes.";
    Redo, "redo", Edit, Some(ctrl_shift(Key::Z)), "Do it again.";
    ZoomIn, "zoom-in", Move, Some(key(Key::W)), "Zoom in around the cursor.";
    ZoomOut, "zoom-out", Move, Some(key(Key::S)), "Zoom out.";
    PanLeft, "pan-left", Move, Some(key(Key::A)), "Go to earlier times.";
    PanRight, "pan-right", Move, Some(key(Key::D)), "Go to later times.";
    SampleBack, "sample-back", Move, Some(key(Key::ArrowLeft)), "Cursor to the sample before.";
    SampleForward, "sample-forward", Move, Some(key(Key::ArrowRight)), "Cursor to the next sample.";
    LaneUp, "lane-up", Move, Some(key(Key::ArrowUp)), "Keys act on the lane above.";
    LaneDown, "lane-down", Move, Some(key(Key::ArrowDown)), "Keys act on the lane below.";
    GoStart, "go-start", Move, Some(key(Key::Home)), "Cursor to the begin of the recording.";
    GoEnd, "go-end", Move, Some(key(Key::End)), "Cursor to its end.";
    NextGap, "next-gap", Move, Some(key(Key::G)), "Next gap.";
    PreviousGap, "previous-gap", Move, Some(shift(Key::G)), "Gap before.";
    NextOutlier, "next-outlier", Move, Some(key(Key::O)), "Next outlier of the lane.";
    PreviousOutlier, "previous-outlier", Move, Some(shift(Key::O)), "Outlier before.";
    NextFinding, "next-finding", Move, Some(key(Key::F)), "Next finding.";
    PreviousFinding, "previous-finding", Move, Some(shift(Key::F)), "Finding before.";
    NextChange, "next-change", Move, Some(key(Key::H)), "Next change.";
    PreviousChange, "previous-change", Move, Some(shift(Key::H)), "Change before.";
    EdgeStart, "edge-start", Move, Some(key(Key::OpenBracket)), "Window begins at the cursor.";
    EdgeEnd, "edge-end", Move, Some(key(Key::CloseBracket)), "Window ends at the cursor.";
    MeasureHere, "measure-here", Move, Some(key(Key::M)), "Measure from or to the cursor.";
    ZoomMeasure, "zoom-measure", Move, Some(key(Key::Z)), "Zoom to the measured range or the picked finding.";
    ZoomAll, "zoom-all", Move, Some(key(Key::Num0)), "Show all.";
    ZoomBack, "zoom-back", Move, Some(alt(Key::ArrowLeft)), "Back in the zoom history.";
    ZoomForward, "zoom-forward", Move, Some(alt(Key::ArrowRight)), "Forward in the zoom history.";
    GoTime, "go-time", Move, Some(ctrl(Key::G)), "Go to a time that is typed.";
    LaneAdd, "lane-add", Lanes, Some(key(Key::L)), "Search for a series or a lane and add it.";
    LaneRemove, "lane-remove", Lanes, Some(key(Key::Delete)), "Take the active lane away.";
    LaneMoveUp, "lane-move-up", Lanes, Some(alt(Key::ArrowUp)), "Move the active lane up.";
    LaneMoveDown, "lane-move-down", Lanes, Some(alt(Key::ArrowDown)), "Move the active lane down.";
    LaneTaller, "lane-taller", Lanes, Some(key(Key::Plus)), "Make the active lane taller.";
    LaneShorter, "lane-shorter", Lanes, Some(key(Key::Minus)), "Make it shorter.";
    LaneCollapse, "lane-collapse", Lanes, Some(key(Key::C)), "Show only the title of the active lane, or all.";
    LaneLog, "lane-log", Lanes, Some(key(Key::Y)), "Logarithmic or linear values.";
    LaneTable, "lane-table", Lanes, Some(key(Key::T)), "The active lane as a table.";
    LanesReset, "lanes-reset", Lanes, None, "The lanes that the incident opens with.";
    LanesByEntity, "lanes-by-entity", Lanes, None, "Put lanes of one entity together.";
    SelectNext, "select-next", Findings, Some(key(Key::J)), "Next cause or finding in the list.";
    SelectPrevious, "select-previous", Findings, Some(key(Key::K)), "The one before.";
    Pin, "pin", Findings, Some(key(Key::P)), "Keep the picked one on top, or not.";
    Dismiss, "dismiss", Findings, Some(key(Key::X)), "Dismiss the picked one with a reason.";
    Comment, "comment", Findings, Some(key(Key::N)), "Write a note on the picked one.";
    Confirm, "confirm", Findings, None, "Say that the picked cause was it.";
    Refute, "refute", Findings, None, "Say that it was not.";
    FollowFirst, "follow-first", Findings, Some(key(Key::Enter)), "Follow the first link of the picked one.";
    ShowTrace, "show-trace", View, Some(key(Key::Num1)), "Traces below the timeline.";
    ShowDump, "show-dump", View, Some(key(Key::Num2)), "Dumps and profiles.";
    ShowTable, "show-table", View, Some(key(Key::Num3)), "Tables and SQL.";
    ShowCompare, "show-compare", View, Some(key(Key::Num4)), "Compare two windows or inputs.";
    ShowNotes, "show-notes", View, Some(key(Key::Num5)), "The incident timeline and notes.";
    ShowInputs, "show-inputs", View, Some(key(Key::Num6)), "What was read.";
    DrawerFull, "drawer-full", View, Some(key(Key::Num7)), "Give it the whole height, or not.";
    Escape, "escape", View, Some(key(Key::Escape)), "Close what lies open, or unpick.";
    AddEvent, "add-event", View, Some(key(Key::E)), "Put an event at the cursor.";
    ThemeNext, "theme-next", Look, None, "Next theme.";
    LangNext, "lang-next", Look, None, "Next language.";
    ZoneNext, "zone-next", Look, None, "UTC, local, or the named zone.";
    Relative, "relative", Look, Some(key(Key::R)), "Absolute or relative time.";
    ReducedMotion, "reduced-motion", Look, None, "Less motion, or not.";
    Bigger, "bigger", Look, Some(ctrl(Key::Plus)), "Bigger text.";
    Smaller, "smaller", Look, Some(ctrl(Key::Minus)), "Smaller text.";
    Replay, "replay", Replay, Some(shift(Key::R)), "Run the incident again from its begin, or end that and show all.";
    ReplayPlay, "replay-play", Replay, Some(key(Key::Space)), "Run the replay, or stop it.";
    ReplayForward, "replay-forward", Replay, Some(key(Key::Period)), "One scrape on in the replay.";
    ReplayBack, "replay-back", Replay, Some(key(Key::Comma)), "One scrape back.";
    ReplayNext, "replay-next", Replay, Some(alt(Key::Period)), "To the next instant at which something happened.";
    ReplayPrevious, "replay-previous", Replay, Some(alt(Key::Comma)), "To the one before.";
    ReplayFaster, "replay-faster", Replay, Some(alt(Key::Plus)), "Faster.";
    ReplaySlower, "replay-slower", Replay, Some(alt(Key::Minus)), "Slower.";
    Shortcuts, "shortcuts", Look, Some(key(Key::Questionmark)), "Show all shortcuts.";
}

/// The command of that id.
pub fn command(id: CommandId) -> Option<&'static Command> {
    ALL.iter().find(|c| c.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::session::settings::Lang;
    use crate::ui::words::Words;

    #[test]
    fn every_command_has_words_and_no_shortcut_stands_twice() {
        let mut names = BTreeSet::new();
        let mut shortcuts = BTreeSet::new();
        for lang in Lang::ALL {
            let words = Words::new(lang);
            for command in ALL {
                assert!(
                    words.has(&format!("cmd-{}", command.name)),
                    "{}",
                    command.name
                );
            }
        }
        for command in ALL {
            assert!(names.insert(command.name), "{}", command.name);
            if let Some(shortcut) = command.shortcut {
                assert!(
                    shortcuts.insert(format!("{shortcut:?}")),
                    "{}",
                    command.name
                );
            }
        }
    }
}
