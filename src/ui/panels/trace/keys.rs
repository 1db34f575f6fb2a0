//! Keys of the rows and of the flame, while they have the keyboard.

use egui::{EventFilter, Id, Key, Modifiers, Ui};

use super::state::{Show, State};
use crate::store::trace::Clocks;
use crate::ui::frame::Frame;

/// One step of zoom, and of panning as a share of what is shown.
const ZOOM: f64 = 0.7;
const PAN: f64 = 0.15;

/// Takes the keys when `id` has the keyboard.
pub(super) fn take(
    ui: &Ui,
    id: Id,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    page: usize,
) {
    if std::mem::take(&mut state.wants_rows) {
        ui.memory_mut(|m| m.request_focus(id));
    }
    ui.memory_mut(|m| {
        m.set_focus_lock_filter(
            id,
            EventFilter {
                horizontal_arrows: true,
                vertical_arrows: true,
                ..EventFilter::default()
            },
        );
    });
    if !ui.memory(|m| m.has_focus(id)) {
        return;
    }
    moves(ui, frame, state, show, page);
    views(ui, state, show);
}

fn pressed(ui: &Ui, key: Key) -> bool {
    ui.input_mut(|i| i.consume_key(Modifiers::NONE, key))
}

fn moves(ui: &Ui, frame: &mut Frame<'_>, state: &mut State, show: &Show<'_>, page: usize) {
    let last = show.rows.len().saturating_sub(1);
    let place = state.row.and_then(|row| nearest(show, row));
    let to = if pressed(ui, Key::ArrowDown) {
        Some(place.map_or(0, |p| (p + 1).min(last)))
    } else if pressed(ui, Key::ArrowUp) {
        Some(place.map_or(0, |p| p.saturating_sub(1)))
    } else if pressed(ui, Key::PageDown) {
        Some(place.map_or(0, |p| (p + page).min(last)))
    } else if pressed(ui, Key::PageUp) {
        Some(place.map_or(0, |p| p.saturating_sub(page)))
    } else if pressed(ui, Key::Home) {
        Some(0)
    } else if pressed(ui, Key::End) {
        Some(last)
    } else {
        None
    };
    if let Some(row) = to.and_then(|place| show.rows.get(place)) {
        state.pick(frame, show.laid, *row as usize);
    }
    let Some(row) = state.row else {
        return;
    };
    let has_children = show.row(row).is_some_and(|r| r.end as usize > row + 1);
    if pressed(ui, Key::ArrowRight) && has_children {
        if state.is_folded(row) {
            state.fold(row, false);
        } else {
            state.pick(frame, show.laid, row + 1);
        }
    }
    if pressed(ui, Key::ArrowLeft) {
        if has_children && !state.is_folded(row) {
            state.fold(row, true);
        } else if let Some(above) = show.laid.tree.above(row).next() {
            state.pick(frame, show.laid, above);
        }
    }
}

/// Place of a row, or of the nearest row above it that is not hidden.
fn nearest(show: &Show<'_>, row: usize) -> Option<usize> {
    show.place(row)
        .or_else(|| show.laid.tree.above(row).find_map(|r| show.place(r)))
}

fn views(ui: &Ui, state: &mut State, show: &Show<'_>) {
    let all = show.laid.tree.extent(show.clocks);
    let share = middle(state, show);
    if pressed(ui, Key::W) {
        state.axis.zoom(&all, share, ZOOM);
    }
    if pressed(ui, Key::S) {
        state.axis.zoom(&all, share, 1.0 / ZOOM);
    }
    if pressed(ui, Key::A) {
        state.axis.pan(&all, -PAN);
    }
    if pressed(ui, Key::D) {
        state.axis.pan(&all, PAN);
    }
    if pressed(ui, Key::Num0) {
        state.axis.reset();
    }
    if pressed(ui, Key::Z)
        && let Some(row) = state.row.and_then(|row| show.row(row))
    {
        state.axis.show(&all, &row.times(show.clocks));
    }
    if pressed(ui, Key::Enter) {
        state.is_details_open = Some(!state.is_details_shown);
    }
    if pressed(ui, Key::V) {
        state.is_flame = !state.is_flame;
        state.wants_rows = true;
    }
    if pressed(ui, Key::C) && !show.laid.tree.skews.is_empty() {
        state.clocks = Some(other(show.clocks));
    }
    if pressed(ui, Key::Slash) {
        state.wants_search = true;
    }
    // Shift first: a pattern without modifiers also takes the key with Shift.
    let is_back = ui.input_mut(|i| i.consume_key(Modifiers::SHIFT, Key::N));
    if (is_back || pressed(ui, Key::N))
        && let Some(row) = state.next_found(show.found, !is_back)
    {
        state.show_row(show.laid, row);
    }
}

/// The other clocks.
pub(super) const fn other(clocks: Clocks) -> Clocks {
    match clocks {
        Clocks::Raw => Clocks::Corrected,
        Clocks::Corrected => Clocks::Raw,
    }
}

/// Zooming by key keeps the picked span where it is.
fn middle(state: &State, show: &Show<'_>) -> f64 {
    let (from, to) = state.axis.window(&show.laid.tree.extent(show.clocks));
    state
        .row
        .and_then(|row| show.row(row))
        .map(|row| row.times(show.clocks))
        .map(|t| (f64::midpoint(t.start as f64, t.end as f64) - from) / (to - from))
        .filter(|share| (0.0..=1.0).contains(share))
        .unwrap_or(0.5)
}
