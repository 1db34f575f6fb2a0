//! Text in cells: one line, cut with an ellipsis, at the left or the right.

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align, Color32, FontId, Painter, Rect, TextStyle, Ui, pos2};

use crate::base::time::Timestamp;
use crate::ui::frame::Frame;

/// The fonts of a table.
#[derive(Debug, Clone)]
pub(super) struct Fonts {
    pub(super) body: FontId,
    pub(super) small: FontId,
    pub(super) mono: FontId,
}

impl Fonts {
    pub(super) fn of(ui: &Ui) -> Self {
        let font = |style: TextStyle| style.resolve(ui.style());
        Self {
            body: font(TextStyle::Body),
            small: font(TextStyle::Small),
            mono: font(TextStyle::Monospace),
        }
    }
}

/// Draws pieces of text one after another into a cell; gives the width that they took.
pub(super) fn left(painter: &Painter, rect: Rect, pieces: &[(&str, &FontId, Color32)]) -> f32 {
    put(painter, rect, pieces, Align::LEFT)
}

/// Draws a text at the right end of a cell.
pub(super) fn right(painter: &Painter, rect: Rect, text: &str, font: &FontId, colour: Color32) {
    put(painter, rect, &[(text, font, colour)], Align::RIGHT);
}

/// Draws a text in the middle of a cell.
pub(super) fn centre(painter: &Painter, rect: Rect, text: &str, font: &FontId, colour: Color32) {
    put(painter, rect, &[(text, font, colour)], Align::Center);
}

fn put(painter: &Painter, rect: Rect, pieces: &[(&str, &FontId, Color32)], align: Align) -> f32 {
    if rect.width() < 6.0 {
        return 0.0;
    }
    let mut job = LayoutJob {
        wrap: TextWrapping::truncate_at_width(rect.width()),
        break_on_newline: false,
        ..LayoutJob::default()
    };
    for (text, font, colour) in pieces {
        let format = TextFormat {
            font_id: (*font).clone(),
            color: *colour,
            valign: Align::Center,
            ..TextFormat::default()
        };
        job.append(text, 0.0, format);
    }
    let galley = painter.layout_job(job);
    let size = galley.size();
    let x = match align {
        Align::Min => rect.left(),
        Align::Center => rect.center().x - size.x / 2.0,
        Align::Max => rect.right() - size.x,
    };
    let at = pos2(x.max(rect.left()), rect.center().y - size.y / 2.0);
    painter.galley(at, galley, Color32::PLACEHOLDER);
    size.x
}

/// Width of a text in one line.
pub(super) fn width(painter: &Painter, text: &str, font: &FontId) -> f32 {
    painter
        .layout_no_wrap(text.to_owned(), font.clone(), Color32::PLACEHOLDER)
        .size()
        .x
}

/// What the clock of the axis' zone shows at an instant.
pub(super) fn clock(frame: &Frame<'_>, t: Timestamp) -> String {
    frame.zone.civil(t).clock(3)
}
