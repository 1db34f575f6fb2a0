//! One row of the waterfall: its name, its numbers, its bar with its parts, the bracket of its gap.

use egui::{Color32, Painter, Rangef, Rect, Stroke, pos2, vec2};

use super::axis::Scale;
use super::bars::Bars;
use super::cells::{self, Fonts};
use super::laid::call_of;
use super::state::Show;
use super::waterfall::Columns;
use crate::model::span::Span;
use crate::store::trace::{Clocks, Row};
use crate::ui::icons::{self, Icon};
use crate::ui::theme::{GAP, Tokens};
use crate::ui::words::Words;

/// One level further in.
const INDENT: f32 = 12.0;
/// A deeper row stands no further in than this share of its column.
const DEEPEST: f32 = 0.45;
/// Place of the triangle that folds.
const HANDLE: f32 = 14.0;

/// Where and how one row is drawn.
pub(super) struct Drawing<'a> {
    pub(super) painter: &'a Painter,
    /// Clipped to the column of bars.
    pub(super) over: &'a Painter,
    pub(super) tokens: &'a Tokens,
    pub(super) fonts: &'a Fonts,
    pub(super) columns: &'a Columns,
    pub(super) scale: &'a Scale,
    pub(super) rect: Rect,
}

impl Drawing<'_> {
    /// The row's part of a column.
    fn cell(&self, column: Rect) -> Rect {
        Rect::from_x_y_ranges(column.x_range(), self.rect.y_range())
    }
}

/// Where the triangle stands that folds a row.
pub(super) fn handle(names: Rect, depth: u16) -> Rangef {
    let left = names.left() + 2.0 + indent(names, depth);
    Rangef::new(left, left + HANDLE)
}

fn indent(names: Rect, depth: u16) -> f32 {
    (f32::from(depth) * INDENT).min(names.width() * DEEPEST)
}

/// Draws a row; its bar goes into `bars`.
pub(super) fn draw(
    at: &Drawing<'_>,
    words: &Words,
    show: &Show<'_>,
    row: usize,
    is_folded: bool,
    bars: &mut Bars,
) {
    let Some(shown) = show.row(row) else {
        return;
    };
    name(at, words, show, row, is_folded);
    numbers(at, words, show, row);
    if let Some(text) = gap(at, words, show, row, bars) {
        let (cell, text, colour) = text;
        cells::centre(at.over, cell, &text, &at.fonts.small, colour);
    }
    bar(at, show, row, shown, bars);
}

/// Triangle, stripe of the service, mark of an error, service and operation.
fn name(at: &Drawing<'_>, words: &Words, show: &Show<'_>, row: usize, is_folded: bool) {
    let Some(shown) = show.row(row) else {
        return;
    };
    let tokens = at.tokens;
    let cell = at.cell(at.columns.names);
    let place = handle(at.columns.names, shown.depth);
    if shown.end as usize > row + 1 {
        let icon = if is_folded { Icon::Right } else { Icon::Down };
        let square =
            Rect::from_center_size(pos2(place.center(), cell.center().y), vec2(11.0, 11.0));
        icons::paint(at.painter, icon, square, Stroke::new(1.3, tokens.text_dim));
    }
    let mut left = place.max + 1.0;
    let stripe = Rect::from_min_max(
        pos2(left, cell.top() + 3.0),
        pos2(left + 3.0, cell.bottom() - 3.0),
    );
    let colour = show
        .laid
        .service(row)
        .map_or(tokens.text_faint, |s| tokens.series(s.colour));
    at.painter.rect_filled(stripe, 1.0, colour);
    left += 8.0;
    let right = cell.right() - 4.0;
    let text = |left: f32| {
        Rect::from_min_max(pos2(left, cell.top()), pos2(right.max(left), cell.bottom()))
    };
    let fonts = at.fonts;
    let Some(span) = show.span(row) else {
        let id = show.laid.tree.missing_id(row);
        let id = id.map_or_else(String::new, |id| id.to_string());
        let said = words.with("trace-missing-span", &[("id", id.as_str().into())]);
        cells::left(
            at.painter,
            text(left),
            &[(&said, &fonts.body, tokens.text_faint)],
        );
        return;
    };
    if span.status.is_error() {
        let square = Rect::from_center_size(pos2(left + 6.0, cell.center().y), vec2(12.0, 12.0));
        icons::paint(
            at.painter,
            Icon::Warning,
            square,
            Stroke::new(1.3, tokens.error),
        );
        left += 16.0;
    }
    let is_entry = span.is_segment
        || show
            .laid
            .tree
            .above(row)
            .next()
            .and_then(|above| show.span(above))
            .is_none_or(|above| above.service != span.service);
    let quiet = if span.is_inferred {
        tokens.text_faint
    } else {
        tokens.text_dim
    };
    if is_entry {
        let service = format!("{}  ", span.service);
        let strong = if span.is_inferred {
            tokens.text_dim
        } else {
            tokens.text
        };
        let operation = if span.operation == span.service {
            ""
        } else {
            span.operation.as_ref()
        };
        cells::left(
            at.painter,
            text(left),
            &[
                (&service, &fonts.body, strong),
                (operation, &fonts.small, quiet),
            ],
        );
    } else {
        cells::left(
            at.painter,
            text(left),
            &[(&span.operation, &fonts.small, quiet)],
        );
    }
}

fn numbers(at: &Drawing<'_>, words: &Words, show: &Show<'_>, row: usize) {
    let Some(shown) = show.row(row) else {
        return;
    };
    let tokens = at.tokens;
    let fonts = at.fonts;
    let cell = at.cell(at.columns.length);
    if shown.is_missing() {
        return;
    }
    if shown.is_open {
        cells::right(
            at.painter,
            cell,
            words.text("trace-open"),
            &fonts.small,
            tokens.warning,
        );
    } else {
        let text = length(words, shown.length);
        cells::right(at.painter, cell, &text, &fonts.mono, tokens.text);
    }
    if let Some(own) = at.columns.own {
        let text = length(words, shown.own);
        let colour = if shown.own * 10 >= shown.length {
            tokens.text_dim
        } else {
            tokens.text_faint
        };
        cells::right(at.painter, at.cell(own), &text, &fonts.mono, colour);
    }
}

/// A length of nanoseconds as people read it.
pub(super) fn length(words: &Words, nanos: i64) -> String {
    words.units().nanos(nanos as f64)
}

/// The bracket between the caller's and the callee's bar; gives the words that it carries.
fn gap(
    at: &Drawing<'_>,
    words: &Words,
    show: &Show<'_>,
    row: usize,
    bars: &mut Bars,
) -> Option<(Rect, String, Color32)> {
    let call = call_of(show.snapshot(), show.laid.tree.span_at(row)?)?;
    let gap_ms = call.gap_ms.filter(|ms| *ms > 0.0)?;
    if call.is_inferred || call.is_shared || !call.is_last {
        return None;
    }
    let callee = show.row(row)?.times(show.clocks);
    let caller = show.row(show.laid.tree.row_of(call.caller)?)?;
    let outer = caller.times(show.clocks);
    let cell = at.cell(at.columns.bars);
    let y = cell.center().y;
    // What neither side accounts for is most of the call: that is where the time went.
    let is_most = gap_ms * 2e6 >= caller.length as f64 && gap_ms >= 1.0;
    let colour = if is_most {
        at.tokens.warning
    } else {
        at.tokens.text_faint
    };
    let key = if call.is_startup {
        "trace-startup-of"
    } else {
        "trace-gap-of"
    };
    let text = words.with(key, &[("ms", words.units().ms(gap_ms).as_str().into())]);
    let (x0, x1) = (at.scale.x(outer.start), at.scale.x(outer.end));
    let (y0, y1) = (at.scale.x(callee.start), at.scale.x(callee.end));
    let is_inside = callee.start >= outer.start - 4_000_000 && callee.end <= outer.end + 4_000_000;
    let width = cells::width(at.over, &text, &at.fonts.small) + 8.0;
    // In the wider flank when it fits, else behind the call, else before it.
    let (left, right) = (at.scale.left.max(x0)..y0, y1..at.scale.right.min(x1));
    let wider = if left.end - left.start >= right.end - right.start {
        left
    } else {
        right
    };
    let behind = x1.max(y1) + 4.0;
    let before = x0.min(y0) - 4.0 - width;
    let is_within = is_inside && wider.end - wider.start >= width;
    let from = if is_within {
        Some(f32::midpoint(wider.start, wider.end) - width / 2.0)
    } else if behind + width <= at.scale.right {
        Some(behind)
    } else {
        Some(before).filter(|x| *x >= at.scale.left)
    };
    if is_inside {
        let hole = from.filter(|_| is_within).map(|x| (x, x + width));
        for (from, to) in [(x0, y0 - 1.0), (y1 + 1.0, x1)] {
            let hole = hole.filter(|(left, right)| *left >= from && *right <= to);
            if to - from > 1.0 {
                bars.bracket((from, to), hole, y, 4.0, colour);
            }
        }
    }
    let from = from?;
    let place = Rect::from_min_max(pos2(from, cell.top()), pos2(from + width, cell.bottom()));
    Some((place, text, colour))
}

/// The bar with its parts, and its share of the critical path below it.
fn bar(at: &Drawing<'_>, show: &Show<'_>, row: usize, shown: &Row, bars: &mut Bars) {
    let times = shown.times(show.clocks);
    let (x0, x1) = (at.scale.x(times.start), at.scale.x(times.end));
    if at.scale.is_outside(x0, x1) {
        outside(at, x0 > at.scale.right);
        return;
    }
    let cell = at.cell(at.columns.bars);
    let rect = Rect::from_min_max(
        pos2(x0, cell.top() + 4.0),
        pos2(x1.max(x0 + 1.5), cell.bottom() - 6.0),
    );
    let tokens = at.tokens;
    let Some(span) = show.span(row) else {
        bars.dashes(
            rect.left(),
            rect.right(),
            rect.center().y,
            tokens.text_faint,
        );
        return;
    };
    let colour = show
        .laid
        .service(row)
        .map_or(tokens.others, |s| tokens.series(s.colour));
    if shown.is_open {
        bars.fading(rect, colour);
    } else if span.is_inferred {
        bars.rect(rect, colour.gamma_multiply(0.18));
        bars.outline(rect, colour);
    } else {
        bars.rect(rect, colour);
    }
    parts(tokens, span, shown, rect, bars);
    for piece in show.laid.tree.critical(row, show.clocks) {
        let (from, to) = (at.scale.x(piece.from), at.scale.x(piece.to));
        let line = Rect::from_min_max(
            pos2(from, rect.bottom() + 1.0),
            pos2(to.max(from + 1.0), rect.bottom() + 3.0),
        );
        bars.rect(line, tokens.text);
    }
    if span.status.is_error() {
        bars.outline(rect, tokens.error);
        let x = rect.right().clamp(at.scale.left, at.scale.right - 1.0);
        bars.diamond(pos2(x, rect.center().y), 5.0, tokens.error);
    }
    moved(at, shown, show.clocks, rect, bars);
}

/// Connecting and waiting, drawn into the bar: first the wait for a turn, then the connect.
pub(super) fn parts(tokens: &Tokens, span: &Span, shown: &Row, rect: Rect, bars: &mut Bars) {
    if shown.length <= 0 {
        return;
    }
    let width = rect.width() / (shown.length as f32 / 1e6);
    let part = |ms: Option<f64>| {
        ms.filter(|ms| *ms > 0.0)
            .map_or(0.0, |ms| ms as f32 * width)
    };
    let (queue, connect) = (part(span.queue_ms.map(f64::from)), part(span.connect_ms));
    let cut = |from: f32, to: f32| {
        Rect::from_min_max(
            pos2((rect.left() + from).min(rect.right()), rect.top()),
            pos2((rect.left() + to).min(rect.right()), rect.bottom()),
        )
    };
    let ink = tokens.ground.gamma_multiply(0.75);
    if queue > 1.0 {
        bars.upright(cut(0.0, queue), ink);
    }
    if connect > 1.0 {
        bars.slanted(cut(queue, queue + connect), ink);
    }
}

/// Where the bar would stand by the raw clock of its service.
fn moved(at: &Drawing<'_>, shown: &Row, clocks: Clocks, rect: Rect, bars: &mut Bars) {
    if clocks == Clocks::Raw || shown.shift == 0 {
        return;
    }
    let raw = shown.times(Clocks::Raw);
    let ghost = Rect::from_min_max(
        pos2(at.scale.x(raw.start), rect.top()),
        pos2(
            at.scale.x(raw.end).max(at.scale.x(raw.start) + 3.0),
            rect.bottom(),
        ),
    );
    if !at.scale.is_outside(ghost.left(), ghost.right()) {
        bars.outline(ghost, at.tokens.text_faint.gamma_multiply(0.7));
    }
}

/// A small triangle at the side where the bar is.
fn outside(at: &Drawing<'_>, is_right: bool) {
    let cell = at.cell(at.columns.bars);
    let (icon, x) = if is_right {
        (Icon::Right, cell.right() - GAP)
    } else {
        (Icon::Left, cell.left() + GAP)
    };
    let square = Rect::from_center_size(pos2(x, cell.center().y), vec2(9.0, 9.0));
    icons::paint(
        at.over,
        icon,
        square,
        Stroke::new(1.2, at.tokens.text_faint),
    );
}
