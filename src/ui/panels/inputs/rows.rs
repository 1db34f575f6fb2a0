//! Rows of the table of inputs: their order, made on a worker, and how one is drawn.

use std::collections::BTreeSet;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Color32, CursorIcon, FontFamily, FontId, Rect, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    pos2, vec2,
};

use crate::base::reporter::Warning;
use crate::base::text::grouped;
use crate::base::time::Timestamp;
use crate::model::input::{Counts, Input};
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::theme::{self, GAP, ROW};
use crate::words::{Lang, Words, warnings};

/// Height of what an open warning has beside its text: where it is, and the air around.
const WARNING: f32 = 23.0;
/// Lines of a warning beyond which it ends in a tooltip: nothing that a program writes about an input should be as long.
const LINES: usize = 40;
/// Where the text of an open row begins, and what stays free at its right.
const INDENT: f32 = 40.0;
const MARGIN: f32 = 10.0;

/// Height of the line with hash and id in an open row.
const FOOT: f32 = 20.0;

/// What the rows depend on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Asked {
    pub(super) generation: u64,
    pub(super) filter: String,
    pub(super) only_warned: bool,
    pub(super) open: BTreeSet<usize>,
    /// What is filtered is what is read.
    pub(super) lang: Lang,
}

/// How an input fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    /// Data of it were lost.
    Lost,
    /// There is something to know.
    Noted,
    /// Read whole.
    Good,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    /// The place of the input.
    pub(super) input: usize,
    pub(super) fate: Fate,
    pub(super) is_open: bool,
}

/// The rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Rows {
    pub(super) all: Vec<Row>,
    /// Where each begins, and where the last ends.
    pub(super) tops: Vec<f32>,
    /// Inputs that lost data, and those with something to know; of all, whatever the filter.
    pub(super) lost: usize,
    pub(super) noted: usize,
    /// Rows of all tables that were read.
    pub(super) held: u64,
}

fn fate(input: &Input) -> Fate {
    if input.warnings.iter().any(|w| w.lossy) {
        Fate::Lost
    } else if input.warnings.is_empty() {
        Fate::Good
    } else {
        Fate::Noted
    }
}

fn held(counts: &Counts) -> u64 {
    counts.samples
        + counts.spans
        + counts.requests
        + counts.stacks
        + counts.events
        + counts.log_lines
}

impl Rows {
    /// Makes them: lost data first, then what is to be known, then the rest; each by path.
    pub(super) fn of(inputs: &[Input], asked: &Asked) -> Self {
        let words = Words::of(asked.lang);
        let needles: Vec<String> = asked
            .filter
            .to_lowercase()
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        let fits = |input: &Input| {
            let mut hay = format!("{} {}", input.path, input.format);
            for warning in &input.warnings {
                hay.push(' ');
                hay.push_str(&warning.code);
                hay.push(' ');
                hay.push_str(&warning.text);
                if words.lang() != Lang::En {
                    hay.push(' ');
                    hay.push_str(&warnings::code(words, &warning.code));
                    hay.push(' ');
                    hay.push_str(&warnings::text(words, warning));
                }
            }
            let hay = hay.to_lowercase();
            needles.iter().all(|needle| hay.contains(needle))
        };
        let mut out = Self {
            held: inputs.iter().map(|i| held(&i.counts)).sum(),
            lost: inputs.iter().filter(|i| fate(i) == Fate::Lost).count(),
            noted: inputs.iter().filter(|i| fate(i) == Fate::Noted).count(),
            ..Self::default()
        };
        out.all = inputs
            .iter()
            .enumerate()
            .filter(|(_, input)| !asked.only_warned || fate(input) != Fate::Good)
            .filter(|(_, input)| needles.is_empty() || fits(input))
            .map(|(ix, input)| Row {
                input: ix,
                fate: fate(input),
                is_open: asked.open.contains(&ix),
            })
            .collect();
        out.all.sort_by_key(|row| (row.fate, row.input));
        let mut top = 0.0;
        out.tops = std::iter::once(0.0)
            .chain(out.all.iter().map(|_| {
                top += ROW;
                top
            }))
            .collect();
        out
    }

    /// Where each row begins once the open ones have room for all of their warnings, of which `measure` says how tall a text is.
    pub(super) fn tops(&self, inputs: &[Input], measure: impl Fn(&Warning) -> f32) -> Vec<f32> {
        let mut more = 0.0;
        let opened = |row: &Row| -> f32 {
            let warnings = inputs.get(row.input).map_or(&[][..], |i| &i.warnings);
            let texts = warnings.iter().map(|w| measure(w) + WARNING);
            texts.sum::<f32>() + FOOT
        };
        let mut tops = Vec::with_capacity(self.tops.len());
        tops.extend(self.tops.first());
        for (row, bottom) in self.all.iter().zip(self.tops.iter().skip(1)) {
            if row.is_open {
                more += opened(row);
            }
            tops.push(bottom + more);
        }
        tops
    }
}

/// The rows between two heights.
pub(super) fn between(tops: &[f32], top: f32, bottom: f32) -> std::ops::Range<usize> {
    let from = tops.partition_point(|t| *t <= top).saturating_sub(1);
    let to = tops.partition_point(|t| *t < bottom);
    from..to.min(tops.len().saturating_sub(1)).max(from)
}

/// The text of a warning, whole, in the room of a row that is `width` points wide.
pub(super) fn warning_text(
    ui: &Ui,
    frame: &Frame<'_>,
    text: &str,
    width: f32,
) -> std::sync::Arc<egui::Galley> {
    let look = (body(), frame.tokens.text);
    galley(ui, text, look, width - INDENT - MARGIN, LINES)
}

/// Where the columns stand, from the left edge of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    path: (f32, f32),
    format: (f32, f32),
    held: (f32, f32),
    span: (f32, f32),
    warnings: (f32, f32),
}

impl Columns {
    /// For a width.
    pub(super) fn of(width: f32) -> Self {
        let left = 40.0;
        let warnings = 76.0;
        let span = (width * 0.2).clamp(130.0, 210.0);
        let room = (width - left - warnings - span - 4.0 * GAP).max(200.0);
        let widths = [room * 0.44, room * 0.2, room * 0.36];
        let format = left + widths[0] + GAP;
        let held = format + widths[1] + GAP;
        let times = held + widths[2] + GAP;
        Self {
            path: (left, widths[0]),
            format: (format, widths[1]),
            held: (held, widths[2]),
            span: (times, span),
            warnings: (times + span + GAP, warnings),
        }
    }

    /// Draws the names of the columns.
    pub(super) fn head(&self, ui: &mut Ui, frame: &Frame<'_>) {
        let words = frame.words;
        let size = vec2(ui.available_width(), 20.0);
        let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
        for ((left, width), text) in [
            (self.path, words.text("inputs-path")),
            (self.format, words.text("inputs-format")),
            (self.held, words.text("inputs-held")),
            (self.span, words.text("inputs-span")),
        ] {
            cell(
                ui,
                text,
                (small(), frame.tokens.text_faint),
                rect,
                (left, width),
            );
        }
        let (left, width) = self.warnings;
        let text = words.text("inputs-warnings");
        right(
            ui,
            text,
            (small(), frame.tokens.text_faint),
            rect,
            left + width,
        );
        let line = Stroke::new(1.0, frame.tokens.line);
        ui.painter().hline(rect.x_range(), rect.bottom(), line);
    }
}

const fn small() -> FontId {
    FontId::new(theme::SMALL, FontFamily::Proportional)
}

const fn digits() -> FontId {
    FontId::new(11.0, FontFamily::Monospace)
}

const fn body() -> FontId {
    FontId::new(theme::BODY, FontFamily::Proportional)
}

fn galley(
    ui: &Ui,
    text: &str,
    (font, colour): (FontId, Color32),
    width: f32,
    rows: usize,
) -> std::sync::Arc<egui::Galley> {
    let mut job = LayoutJob::simple(text.to_owned(), font, colour, width.max(8.0));
    job.wrap = TextWrapping {
        max_width: width.max(8.0),
        max_rows: rows,
        break_anywhere: rows == 1,
        overflow_character: Some('…'),
    };
    ui.painter().layout_job(job)
}

/// Text in a column; whether it was cut.
fn cell(
    ui: &Ui,
    text: &str,
    look: (FontId, Color32),
    row: Rect,
    (left, width): (f32, f32),
) -> bool {
    let colour = look.1;
    let galley = galley(ui, text, look, width, 1);
    let is_cut = galley.elided;
    let at = pos2(
        row.left() + left,
        row.top() + (ROW.min(row.height()) - galley.size().y) / 2.0,
    );
    ui.painter().galley(at, galley, colour);
    is_cut
}

fn right(ui: &Ui, text: &str, look: (FontId, Color32), row: Rect, edge: f32) {
    let colour = look.1;
    let galley = galley(ui, text, look, 100.0, 1);
    let y = row.top() + (ROW.min(row.height()) - galley.size().y) / 2.0;
    let at = pos2(row.left() + edge - galley.size().x, y);
    ui.painter().galley(at, galley, colour);
}

/// What an input held, in words.
fn counts(frame: &Frame<'_>, counts: &Counts) -> String {
    let all = [
        ("series", counts.series),
        ("samples", counts.samples),
        ("traces", counts.traces),
        ("spans", counts.spans),
        ("requests", counts.requests),
        ("profiles", counts.profiles),
        ("stacks", counts.stacks),
        ("events", counts.events),
        ("log_lines", counts.log_lines),
    ];
    let said: Vec<String> = all
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(name, n)| {
            let n = grouped(n);
            frame
                .words
                .with(&format!("inputs-count-{name}"), &[("n", n.as_str().into())])
        })
        .collect();
    if said.is_empty() {
        frame.words.text("inputs-count-nothing").to_owned()
    } else {
        said.join(", ")
    }
}

fn span(frame: &Frame<'_>, start: Option<Timestamp>, end: Option<Timestamp>) -> (String, String) {
    let (Some(start), Some(end)) = (start, end) else {
        let none = frame.words.text("inputs-no-time").to_owned();
        return (none.clone(), none);
    };
    let (a, b) = (frame.zone.civil(start), frame.zone.civil(end));
    let day = |date: String| date.chars().skip(5).collect::<String>();
    let short = if a.date() == b.date() {
        format!("{} - {}", a.clock(0), b.clock(0))
    } else {
        format!(
            "{} {} - {} {}",
            day(a.date()),
            a.clock(0),
            day(b.date()),
            b.clock(0)
        )
    };
    let long = format!(
        "{} {} - {} {} {}",
        a.date(),
        a.clock_exact(),
        b.date(),
        b.clock_exact(),
        frame.zone.short_name(end)
    );
    (short, long)
}

/// Draws a row; whether it is to be opened or closed.
pub(super) fn row_ui(
    ui: &Ui,
    frame: &Frame<'_>,
    (input, row): (&Input, &Row),
    (rect, is_lit): (Rect, bool),
    columns: Columns,
) -> bool {
    let (tokens, words) = (frame.tokens, frame.words);
    let head = Rect::from_min_size(rect.min, vec2(rect.width(), ROW));
    let response = ui.interact(
        head,
        ui.scope_id().with(("input", row.input)),
        Sense::click(),
    );
    let (state, icon, colour) = match row.fate {
        Fate::Lost => (
            words.text("inputs-state-lost"),
            Icon::Warning,
            tokens.warning,
        ),
        Fate::Noted => (words.text("inputs-state-note"), Icon::Info, tokens.text_dim),
        Fate::Good => (
            words.text("inputs-state-good"),
            Icon::Check,
            tokens.text_faint,
        ),
    };
    response.widget_info(|| {
        let args = [
            ("path", input.path.as_str().into()),
            ("format", input.format.as_str().into()),
            ("state", state.into()),
        ];
        WidgetInfo::selected(
            Role::Button,
            true,
            row.is_open,
            words.with("inputs-row", &args),
        )
    });
    if is_lit {
        ui.painter().rect_filled(rect, 3.0, tokens.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(head, 3.0, tokens.hover);
    }
    if response.has_focus() {
        let ring = Stroke::new(1.5, tokens.accent);
        ui.painter()
            .rect_stroke(head.shrink(0.75), 3.0, ring, StrokeKind::Inside);
        if response.gained_focus() {
            ui.scroll_to_rect(rect, None);
        }
    }
    let arrow = if row.is_open { Icon::Down } else { Icon::Right };
    let place = |x: f32, side: f32| {
        Rect::from_center_size(
            pos2(rect.left() + x, head.center().y),
            egui::Vec2::splat(side),
        )
    };
    icons::paint(
        ui.painter(),
        arrow,
        place(8.0, 10.0),
        Stroke::new(1.2, tokens.text_faint),
    );
    icons::paint(
        ui.painter(),
        icon,
        place(26.0, 13.0),
        Stroke::new(1.3, colour),
    );
    let path_is_cut = cell(ui, &input.path, (body(), tokens.text), head, columns.path);
    cell(
        ui,
        &input.format,
        (small(), tokens.text_dim),
        head,
        columns.format,
    );
    let holds = counts(frame, &input.counts);
    cell(ui, &holds, (small(), tokens.text_dim), head, columns.held);
    let (short, long) = span(frame, input.start, input.end);
    cell(ui, &short, (digits(), tokens.text_dim), head, columns.span);
    let n = input.warnings.len();
    if n > 0 {
        let (left, width) = columns.warnings;
        right(ui, &n.to_string(), (digits(), colour), head, left + width);
    }
    if row.is_open {
        opened(ui, frame, input, rect);
    }
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        ui.set_max_width(460.0);
        if path_is_cut {
            ui.label(&input.path);
        }
        ui.label(&holds);
        ui.label(egui::RichText::new(&long).small());
        let hint = if row.is_open {
            words.text("inputs-collapse")
        } else {
            words.text("inputs-expand")
        };
        ui.label(egui::RichText::new(hint).small().color(tokens.text_faint));
    });
    clicked
}

/// The warnings of an open row.
fn opened(ui: &Ui, frame: &Frame<'_>, input: &Input, rect: Rect) {
    let (tokens, words) = (frame.tokens, frame.words);
    let left = rect.left() + INDENT;
    let room = rect.right() - left - MARGIN;
    let mut top = rect.top() + ROW;
    for (at, warning) in input.warnings.iter().enumerate() {
        let sentence = warnings::text(words, warning);
        let text = warning_text(ui, frame, &sentence, rect.width());
        let height = text.size().y + WARNING;
        let area = Rect::from_min_size(pos2(left, top), vec2(room, height));
        let (state, colour) = if warning.lossy {
            (words.text("inputs-lossy"), tokens.warning)
        } else {
            (words.text("inputs-note"), tokens.text_faint)
        };
        let place = warning.at.as_ref().map_or_else(String::new, |place| {
            format!(
                " · {}",
                words.with(
                    "inputs-at",
                    &[("place", (&warnings::place(words, place)).into())]
                )
            )
        });
        let code = warnings::code(words, &warning.code);
        let first = format!("{code} · {state}{place}");
        let said = galley(ui, &first, (small(), colour), room, 1);
        let id = ui.scope_id().with(("warning", &input.id, at));
        let response = ui.interact(area, id, Sense::hover());
        let label = format!("{code}: {sentence}");
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
        let is_cut = text.elided || said.elided;
        let below = top + 3.0 + text.size().y;
        ui.painter()
            .galley(pos2(left, top + 2.0), text, tokens.text);
        ui.painter().galley(pos2(left, below), said, colour);
        let is_translated = sentence != warning.text;
        if is_cut || is_translated {
            response.on_hover_ui(|ui| {
                ui.set_max_width(460.0);
                ui.label(&sentence);
                ui.label(egui::RichText::new(&first).small());
                if is_translated {
                    // What the reader said, to be searched for and passed on.
                    let original = format!("{}: {}", warning.code, warning.text);
                    let original = egui::RichText::new(original).small();
                    ui.label(original.color(tokens.text_faint));
                }
            });
        }
        top += height;
    }
    let start = if input.warnings.is_empty() {
        format!("{} · ", words.text("inputs-no-warnings"))
    } else {
        String::new()
    };
    let foot = format!(
        "{start}{} {} · {} {}",
        words.text("inputs-id"),
        input.id,
        words.text("inputs-sha"),
        input.sha256
    );
    let foot = galley(ui, &foot, (small(), tokens.text_faint), room, 1);
    ui.painter()
        .galley(pos2(left, top + 2.0), foot, tokens.text_faint);
}

#[cfg(test)]
mod tests;
