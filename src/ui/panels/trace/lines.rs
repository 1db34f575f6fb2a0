//! One line of the list of traces: its columns, their order, its words.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{Rect, RichText, Ui, pos2, vec2};

use super::cells::{self, Fonts};
use crate::store::trace::TraceItem;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::theme::GAP;

/// Height of a line.
pub(super) const LINE: f32 = 21.0;
/// Least width of the entry's name.
const ENTRY: f32 = 120.0;

/// What the list is sorted by, which is also its columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Start,
    Entry,
    Duration,
    Gap,
    Connect,
    Spans,
    Errors,
}

impl Column {
    /// In order from the left.
    const ALL: [Self; 7] = [
        Self::Start,
        Self::Entry,
        Self::Duration,
        Self::Gap,
        Self::Connect,
        Self::Spans,
        Self::Errors,
    ];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Start => "trace-list-start",
            Self::Entry => "trace-list-entry",
            Self::Duration => "trace-list-duration",
            Self::Gap => "trace-list-gap",
            Self::Connect => "trace-list-connect",
            Self::Spans => "trace-list-spans",
            Self::Errors => "trace-list-errors",
        }
    }

    const fn width(self) -> f32 {
        match self {
            Self::Start => 92.0,
            Self::Entry => ENTRY,
            Self::Duration | Self::Gap | Self::Connect => 70.0,
            Self::Spans | Self::Errors => 52.0,
        }
    }

    /// The last of these is left out first when there is no room.
    const KEPT: [Self; 7] = [
        Self::Entry,
        Self::Duration,
        Self::Start,
        Self::Gap,
        Self::Spans,
        Self::Connect,
        Self::Errors,
    ];

    pub(super) const fn is_text(self) -> bool {
        matches!(self, Self::Start | Self::Entry)
    }
}

/// Everything that the order of the lines depends on.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OrderKey {
    pub(super) generation: u64,
    pub(super) filter: String,
    pub(super) sort: Column,
    pub(super) is_descending: bool,
    pub(super) lit: Option<Arc<BTreeSet<Arc<str>>>>,
}

/// The columns that fit into a width, from the left, each with its own.
pub(super) fn columns(width: f32) -> Vec<(Column, f32)> {
    let mut kept: Vec<Column> = Vec::new();
    let mut used = GAP;
    for column in Column::KEPT {
        if used + column.width() > width && kept.len() > 1 {
            break;
        }
        used += column.width();
        kept.push(column);
    }
    // Where not even two fit, the name gives way.
    let rest = (width - used).max(40.0 - ENTRY);
    Column::ALL
        .into_iter()
        .filter(|c| kept.contains(c))
        .map(|c| {
            (
                c,
                if c == Column::Entry {
                    ENTRY + rest
                } else {
                    c.width()
                },
            )
        })
        .collect()
}

pub(super) fn cut(rect: Rect, columns: &[(Column, f32)]) -> Vec<(Column, Rect)> {
    let mut left = rect.left() + GAP;
    columns
        .iter()
        .map(|(column, width)| {
            let cell = Rect::from_min_max(
                pos2(left, rect.top()),
                pos2(left + width - GAP, rect.bottom()),
            );
            left += width;
            (*column, cell)
        })
        .collect()
}

/// The lines that hold the text, in order.
pub(super) fn sorted(items: &[TraceItem], key: &OrderKey) -> Vec<u32> {
    let holds = |text: &str| text.to_lowercase().contains(&key.filter);
    let mut order: Vec<u32> = (0u32..)
        .zip(items)
        .filter(|(_, item)| {
            let is_lit = key.lit.as_ref().is_none_or(|lit| lit.contains(&item.id));
            is_lit
                && (key.filter.is_empty()
                    || holds(&item.service)
                    || holds(&item.operation)
                    || holds(&item.id))
        })
        .map(|(at, _)| at)
        .collect();
    let number = |item: &TraceItem| match key.sort {
        Column::Duration => item.duration_ms,
        Column::Gap => item.gap_ms,
        Column::Connect => item.connect_ms,
        Column::Spans => item.spans.map(|n| n as f64),
        Column::Errors => Some(item.errors as f64),
        Column::Start | Column::Entry => None,
    };
    order.sort_by(|a, b| {
        let (Some(x), Some(y)) = (items.get(*a as usize), items.get(*b as usize)) else {
            return a.cmp(b);
        };
        let by = match key.sort {
            // Items come by start.
            Column::Start => a.cmp(b),
            Column::Entry => (&x.service, &x.operation).cmp(&(&y.service, &y.operation)),
            // What has no number comes last, whichever way.
            _ => match (number(x), number(y)) {
                (Some(x), Some(y)) => x.total_cmp(&y),
                (None, None) => std::cmp::Ordering::Equal,
                (None, Some(_)) => return std::cmp::Ordering::Greater,
                (Some(_), None) => return std::cmp::Ordering::Less,
            },
        };
        let by = if key.is_descending { by.reverse() } else { by };
        by.then(a.cmp(b))
    });
    order
}

pub(super) fn cell_text(frame: &Frame<'_>, item: &TraceItem, column: Column) -> String {
    let ms = |ms: Option<f64>| ms.map_or_else(|| "–".to_owned(), |ms| frame.words.units().ms(ms));
    match column {
        Column::Start => cells::clock(frame, item.start),
        Column::Entry => item.service.to_string(),
        Column::Duration => ms(item.duration_ms),
        Column::Gap => ms(item.gap_ms),
        Column::Connect => ms(item.connect_ms),
        Column::Spans => item.spans.map_or_else(|| "–".to_owned(), |n| n.to_string()),
        Column::Errors if item.errors == 0 => String::new(),
        Column::Errors => item.errors.to_string(),
    }
}

pub(super) fn line(
    ui: &Ui,
    frame: &Frame<'_>,
    item: &TraceItem,
    rect: Rect,
    columns: &[(Column, f32)],
    (is_open, is_lit, is_hovered): (bool, bool, bool),
) {
    let tokens = frame.tokens;
    let fonts = Fonts::of(ui);
    let painter = ui.painter();
    if is_open {
        painter.rect_filled(rect, 3.0, tokens.selected);
    } else if is_hovered {
        painter.rect_filled(rect, 3.0, tokens.hover);
    }
    if is_lit {
        let mark = Rect::from_min_max(rect.min, pos2(rect.left() + 3.0, rect.bottom()))
            .shrink2(vec2(0.0, 3.0));
        painter.rect_filled(mark, 1.0, tokens.highlight);
    }
    let is_whole = item.spans.is_some();
    let (strong, quiet) = if is_whole {
        (tokens.text, tokens.text_dim)
    } else {
        (tokens.text_faint, tokens.text_faint)
    };
    for (column, cell) in cut(rect, columns) {
        let text = cell_text(frame, item, column);
        match column {
            Column::Entry => {
                let mut cell = cell;
                if item.errors > 0 {
                    let square = Rect::from_center_size(
                        pos2(cell.left() + 6.0, cell.center().y),
                        vec2(12.0, 12.0),
                    );
                    icons::paint(
                        painter,
                        Icon::Warning,
                        square,
                        egui::Stroke::new(1.3, tokens.error),
                    );
                    cell.min.x += 16.0;
                }
                let service = format!("{text}  ");
                cells::left(
                    painter,
                    cell,
                    &[
                        (&service, &fonts.body, strong),
                        (&item.operation, &fonts.small, quiet),
                    ],
                );
            }
            Column::Start => {
                cells::left(painter, cell, &[(&text, &fonts.mono, quiet)]);
            }
            Column::Errors => cells::right(painter, cell, &text, &fonts.mono, tokens.error),
            Column::Duration => cells::right(painter, cell, &text, &fonts.mono, strong),
            _ => cells::right(painter, cell, &text, &fonts.mono, quiet),
        }
    }
}

/// All cells of a line in words.
pub(super) fn name(frame: &Frame<'_>, item: &TraceItem) -> String {
    let mut parts = vec![format!("{} {}", item.service, item.operation)];
    for column in [
        Column::Start,
        Column::Duration,
        Column::Gap,
        Column::Connect,
        Column::Spans,
        Column::Errors,
    ] {
        let text = cell_text(frame, item, column);
        if !text.is_empty() && text != "–" {
            parts.push(format!("{} {text}", frame.words.text(column.word())));
        }
    }
    if item.spans.is_none() {
        parts.push(frame.words.text("trace-summary-only").to_owned());
    }
    parts.join(", ")
}

pub(super) fn tooltip(ui: &mut Ui, frame: &Frame<'_>, item: &TraceItem) {
    ui.label(RichText::new(item.service.as_ref()).strong());
    ui.label(RichText::new(item.operation.as_ref()).color(frame.tokens.text_dim));
    ui.label(RichText::new(item.id.as_ref()).monospace());
    if item.spans.is_none() {
        ui.label(
            RichText::new(frame.words.text("trace-summary-hint")).color(frame.tokens.text_dim),
        );
    }
}
