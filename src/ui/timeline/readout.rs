//! What the cursor reads, in words: for a screen reader, and what several parts draw of it.

use std::ops::Range;

use egui::{EventFilter, Response, Ui};

use crate::base::time::{TimeRange, Timestamp};
use crate::ui::commands::{self, CommandId, Group};
use crate::ui::frame::Frame;
use crate::ui::request::Request;
use crate::ui::timeline::slots::Said;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{Timeline, axis, gutter, lanes_ui};

/// Readings that are spoken; nobody listens to a hundred.
const SPOKEN: usize = 8;

impl Timeline {
    /// The time of the cursor and what the active lane reads there.
    pub(super) fn reading(&mut self, frame: &Frame<'_>, stage: &Stage) -> String {
        let clock = stage.clock(frame);
        let write = |t: Timestamp| axis::instant_text(t, clock, stage.nanos_per_point());
        let Some(part) = gutter::part(frame) else {
            let (from, to) = (write(stage.drawn.start), write(stage.drawn.end));
            return frame.words.with(
                "timeline-reads-range",
                &[("from", from.as_str().into()), ("to", to.as_str().into())],
            );
        };
        let when = match frame.view.measure.filter(|m| m.nanos() > 0) {
            Some(range) => {
                axis::length_near(range.nanos(), stage.nanos_per_point(), frame.words.units())
            }
            None => frame.view.cursor.map(write).unwrap_or_default(),
        };
        let Some(row) = frame.view.lanes.get(frame.view.active_lane) else {
            return when;
        };
        let title = lanes_ui::title(frame, self.offers().map(|c| &**c), &row.spec);
        let said = in_words(self.slots.say(&row.spec, part, frame.words));
        let said = if said.is_empty() {
            frame.words.text("timeline-reads-nothing")
        } else {
            &said
        };
        format!("{when}; {title}: {said}")
    }
}

/// Who has the focus on the axis moves with the keys of the timeline, and with those of a screen reader.
pub(super) fn steps(ui: &Ui, frame: &mut Frame<'_>, response: &Response) {
    use egui::accesskit::Action;
    for (action, command) in [
        (Action::Increment, CommandId::SampleForward),
        (Action::Decrement, CommandId::SampleBack),
    ] {
        if ui.input(|i| i.has_accesskit_action_request(response.id, action)) {
            frame.ask(Request::Command(command));
        }
    }
    if !response.has_focus() {
        return;
    }
    let filter = EventFilter {
        horizontal_arrows: true,
        vertical_arrows: true,
        ..EventFilter::default()
    };
    ui.memory_mut(|m| m.set_focus_lock_filter(response.id, filter));
    let arrows = commands::ALL.iter().filter(|c| c.group == Group::Move);
    for command in arrows {
        if let Some(shortcut) = command.shortcut.filter(|s| s.modifiers.is_none())
            && ui.input_mut(|i| i.consume_shortcut(&shortcut))
        {
            frame.ask(Request::Command(command.id));
        }
    }
}

/// Names and values in a row.
pub(super) fn in_words(said: &[Said]) -> String {
    let spoken: Vec<String> = said
        .iter()
        .take(SPOKEN)
        .map(|s| format!("{} {}", s.name, s.value).trim().to_owned())
        .collect();
    spoken.join(", ")
}

/// The range that is measured; while only one end is set, up to the pointer or else the cursor.
pub(super) fn measured(frame: &Frame<'_>, hovered: Option<Timestamp>) -> Option<TimeRange> {
    let range = frame.view.measure?;
    if range.nanos() > 0 {
        return Some(range);
    }
    let other = hovered.or(frame.view.cursor)?;
    Some(TimeRange::new(
        range.start.min(other),
        range.start.max(other),
    ))
}

/// Ranges without those that lie in others: washes on top of each other would look worse than they are.
pub(super) fn merged(ranges: &[Range<i64>]) -> Vec<Range<i64>> {
    let mut sorted: Vec<Range<i64>> = ranges.to_vec();
    sorted.sort_by_key(|r| (r.start, r.end));
    let mut merged: Vec<Range<i64>> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn washes_do_not_lie_on_each_other() {
        assert_eq!(merged(&[5..9, 1..3, 2..4, 9..10]), [1..4, 5..10]);
        assert!(merged(&[]).is_empty());
    }
}
