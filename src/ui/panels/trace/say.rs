//! What a row says in words: its name for screen readers, its tooltip.

use egui::{RichText, Ui};

use super::laid::call_of;
use super::row::length;
use super::state::Show;
use crate::base::units;
use crate::model::span::Span;
use crate::ui::frame::Frame;
use crate::words::Words;

/// Everything that a row shows, in one line.
pub(super) fn row_name(frame: &Frame<'_>, show: &Show<'_>, row: usize, is_folded: bool) -> String {
    let words = frame.words;
    let Some(shown) = show.row(row) else {
        return String::new();
    };
    let Some(span) = show.span(row) else {
        let id = show.laid.tree.missing_id(row);
        let id = id.map_or_else(String::new, |id| id.to_string());
        return words.with("trace-missing-span", &[("id", id.as_str().into())]);
    };
    let mut parts = vec![title(span)];
    if span.status.is_error() {
        parts.push(words.text("trace-error").to_owned());
    }
    if shown.is_open {
        parts.push(words.text("trace-open").to_owned());
    } else {
        parts.push(length(words, shown.length));
    }
    parts.push(format!(
        "{} {}",
        words.text("trace-col-own"),
        length(words, shown.own)
    ));
    parts.extend(
        lengths(frame, show, row, span)
            .into_iter()
            .map(|(name, value)| format!("{name} {value}")),
    );
    if span.is_inferred {
        parts.push(words.text("trace-inferred").to_owned());
    }
    if is_folded {
        parts.push(words.text("trace-folded").to_owned());
    }
    parts.join(", ")
}

/// `service operation`.
pub(super) fn title(span: &Span) -> String {
    if span.service == span.operation {
        span.service.to_string()
    } else {
        format!("{} {}", span.service, span.operation)
    }
}

/// Gap, connect and queue of a row: name and value.
fn lengths(frame: &Frame<'_>, show: &Show<'_>, row: usize, span: &Span) -> Vec<(String, String)> {
    let gap = show
        .laid
        .tree
        .span_at(row)
        .and_then(|span| call_of(show.snapshot(), span))
        .filter(|call| !call.is_inferred && !call.is_shared)
        .and_then(|call| call.gap_ms);
    [
        ("trace-gap", gap),
        ("trace-connect", span.connect_ms),
        ("trace-queue", span.queue_ms.map(units::widen)),
    ]
    .into_iter()
    .filter_map(|(key, ms)| {
        Some((
            frame.words.text(key).to_owned(),
            frame.words.units().ms(ms?),
        ))
    })
    .collect()
}

/// The tooltip of a row.
pub(super) fn tooltip(ui: &mut Ui, frame: &Frame<'_>, show: &Show<'_>, row: usize) {
    let tokens = frame.tokens;
    let words = frame.words;
    let Some(shown) = show.row(row) else {
        return;
    };
    let Some(span) = show.span(row) else {
        ui.label(row_name(frame, show, row, false));
        ui.label(RichText::new(words.text("trace-missing-hint")).color(tokens.text_dim));
        return;
    };
    ui.label(RichText::new(span.service.as_ref()).strong());
    if span.operation != span.service {
        ui.label(RichText::new(span.operation.as_ref()).color(tokens.text_dim));
    }
    if !span.error.is_empty() {
        ui.label(RichText::new(crate::base::text::shorten(&span.error, 200)).color(tokens.error));
    }
    let start = shown.times(show.clocks).start - show.laid.tree.extent(show.clocks).start;
    let mut lines = vec![
        (
            words.text("trace-starts").to_owned(),
            format!("+{}", length(words, start)),
        ),
        (
            words.text("trace-col-duration").to_owned(),
            if shown.is_open {
                words.text("trace-open").to_owned()
            } else {
                length(words, shown.length)
            },
        ),
        (
            words.text("trace-col-own").to_owned(),
            length(words, shown.own),
        ),
    ];
    lines.extend(lengths(frame, show, row, span));
    let critical: i64 = show
        .laid
        .tree
        .critical(row, show.clocks)
        .iter()
        .map(|p| p.to - p.from)
        .sum();
    if critical > 0 {
        lines.push((
            words.text("trace-critical").to_owned(),
            length(words, critical),
        ));
    }
    if shown.shift != 0 {
        lines.push((
            words.text("trace-moved").to_owned(),
            signed(words, shown.shift),
        ));
    }
    egui::Grid::new("row")
        .num_columns(2)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for (name, value) in lines {
                ui.label(RichText::new(name).color(tokens.text_dim));
                ui.label(RichText::new(value).monospace());
                ui.end_row();
            }
        });
}

/// A move in time with its sign.
pub(super) fn signed(words: &Words, nanos: i64) -> String {
    let sign = if nanos < 0 { "−" } else { "+" };
    format!("{sign}{}", length(words, nanos.saturating_abs()))
}
