//! Text that fits: elided at the end or in the middle, and told whether anything was left out.

use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect, vec2};

use crate::ui::theme;

/// Small text.
pub(super) const fn small() -> FontId {
    FontId::new(theme::SMALL, egui::FontFamily::Proportional)
}

/// Small digits, all of one width.
pub(super) const fn digits() -> FontId {
    FontId::new(11.0, egui::FontFamily::Monospace)
}

/// Digits of value axes.
pub(super) const fn ticks() -> FontId {
    FontId::new(10.5, egui::FontFamily::Monospace)
}

/// Ordinary text.
pub(super) const fn body() -> FontId {
    FontId::new(theme::BODY, egui::FontFamily::Proportional)
}

/// One line, elided at its end.
pub(super) fn line(
    painter: &Painter,
    text: &str,
    font: FontId,
    colour: Color32,
    width: f32,
) -> Arc<Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(width.max(0.0));
    painter.layout_job(job)
}

/// One line, elided in its middle: names of metrics and hosts differ at both ends. The second value says whether it was.
pub(super) fn middle(
    painter: &Painter,
    text: &str,
    font: &FontId,
    colour: Color32,
    width: f32,
) -> (Arc<Galley>, bool) {
    let whole = painter.layout_no_wrap(text.to_owned(), font.clone(), colour);
    if whole.size().x <= width {
        return (whole, false);
    }
    let letters: Vec<char> = text.chars().collect();
    // By the mean width of a letter, then one letter less until it fits: a few rounds at most.
    let mean = whole.size().x / letters.len().max(1) as f32;
    let mut keep = ((width / mean) as usize)
        .min(letters.len())
        .saturating_sub(1);
    loop {
        let head = keep.div_ceil(2);
        let tail = keep - head;
        let short: String = letters
            .iter()
            .take(head)
            .chain(std::iter::once(&'…'))
            .chain(letters.iter().skip(letters.len() - tail))
            .collect();
        let galley = painter.layout_no_wrap(short, font.clone(), colour);
        if galley.size().x <= width || keep == 0 {
            return (galley, true);
        }
        keep -= 1;
    }
}

/// A title on at most `rows` lines, elided in its middle when that is not enough. The second value says whether it was.
pub(super) fn title(
    painter: &Painter,
    text: &str,
    colour: Color32,
    width: f32,
    rows: usize,
) -> (Arc<Galley>, bool) {
    let (one, is_cut) = middle(painter, text, &body(), colour, width);
    if !is_cut || rows < 2 {
        return (one, is_cut);
    }
    let wrap = |text: String| {
        let mut job = LayoutJob::simple_singleline(text, body(), colour);
        job.wrap = TextWrapping {
            max_width: width,
            max_rows: rows,
            break_anywhere: true,
            overflow_character: Some('…'),
        };
        painter.layout_job(job)
    };
    let wrapped = wrap(text.to_owned());
    if !wrapped.elided {
        return (wrapped, false);
    }
    // A line breaks between letters and so is never quite full.
    let room = (width - 8.0) * rows as f32;
    let (short, _) = middle(painter, text, &body(), colour, room);
    (wrap(short.text().to_owned()), true)
}

/// Draws text on a plate of the ground, so that it can be read over data.
pub(super) fn plate(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    galley: Arc<Galley>,
    ground: Color32,
) -> Rect {
    let rect = align.anchor_size(at, galley.size());
    painter.rect_filled(rect.expand2(vec2(3.0, 0.0)), 2, ground);
    painter.galley(rect.min, galley, Color32::PLACEHOLDER);
    rect
}
