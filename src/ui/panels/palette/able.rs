//! Whether a command can do something now; the palette shows it dimmed with the reason instead of hiding it.

use crate::session::view::Selection;
use crate::ui::commands::{Command, CommandId, Group};
use crate::ui::frame::Frame;

/// Why a command is of no use now, as the key of a word; `None` when it is.
pub fn why_not(command: &Command, frame: &Frame<'_>) -> Option<&'static str> {
    match command.id {
        CommandId::Palette
        | CommandId::Open
        | CommandId::Quit
        | CommandId::Shortcuts
        | CommandId::ThemeNext
        | CommandId::LangNext
        | CommandId::ZoneNext
        | CommandId::Relative
        | CommandId::ReducedMotion
        | CommandId::Bigger
        | CommandId::Smaller => return None,
        _ => {}
    }
    let Some(incident) = frame.incident else {
        return Some("cmd-why-nothing-open");
    };
    let selection = &frame.view.selection;
    match command.id {
        CommandId::Export if incident.report.is_none() => Some("cmd-why-analysing"),
        CommandId::Undo if !frame.can_undo => Some("cmd-why-no-undo"),
        CommandId::Redo if !frame.can_redo => Some("cmd-why-no-redo"),
        CommandId::DrawerFull if frame.view.drawer.is_none() => Some("cmd-why-no-drawer"),
        CommandId::ZoomMeasure
            if frame.view.measure.is_none() && *selection == Selection::Nothing =>
        {
            Some("cmd-why-no-range")
        }
        CommandId::Confirm | CommandId::Refute => {
            let is_cause = matches!(selection, Selection::Hypothesis(_));
            (!is_cause).then_some("cmd-why-no-cause")
        }
        CommandId::Pin | CommandId::Dismiss | CommandId::Comment | CommandId::FollowFirst => {
            (*selection == Selection::Nothing).then_some("cmd-why-nothing-picked")
        }
        CommandId::Replay => match frame.replay {
            Some(_) => None,
            None if frame.progress.is_some() => Some("cmd-why-analysing"),
            None => incident.report.is_none().then_some("cmd-why-analysing"),
        },
        _ if command.group == Group::Replay && frame.replay.is_none() => Some("cmd-why-no-replay"),
        CommandId::LaneAdd | CommandId::LanesReset => None,
        _ if command.group == Group::Lanes && frame.view.lanes.is_empty() => {
            Some("cmd-why-no-lane")
        }
        _ => None,
    }
}
