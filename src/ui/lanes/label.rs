//! Text on lanes: cut with an ellipsis where its room ends, measured without a screen, and what stands where there is nothing.

use egui::{Align2, Color32, FontId, Pos2, pos2, vec2};

use crate::ui::lanes::canvas::Canvas;
use crate::ui::theme;
use crate::ui::words::Words;

/// Text that is cut with an ellipsis where it would leave its room.
pub(super) fn elided(
    canvas: &Canvas<'_>,
    left: Pos2,
    text: &str,
    room: f32,
    font: FontId,
    ink: Color32,
) {
    let mut job = egui::text::LayoutJob::simple_singleline(text.to_owned(), font, ink);
    job.wrap = egui::text::TextWrapping::truncate_at_width(room);
    let galley = canvas.painter.layout_job(job);
    let at = pos2(left.x, left.y - galley.size().y / 2.0);
    canvas.painter.galley(at, galley, ink);
}

/// About how wide a text is in points, rather too much than too little. A worker has no fonts, and thousands of labels would cost a
/// frame too much.
pub(super) fn width(text: &str, size: f32) -> f32 {
    let ems = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ':' | ';' | '(' | ')' | ' ' | '|' | '-' => {
            0.36
        }
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.9,
        'A'..='Z' => 0.68,
        c if c.is_ascii() => 0.57,
        c if c < '\u{1100}' => 0.62,
        _ => 1.0,
    };
    text.chars().map(ems).sum::<f32>() * size
}

/// Says that there is nothing.
pub(super) fn nothing(canvas: &Canvas<'_>, text: &str) {
    let at = canvas.rect.left_center() + vec2(theme::PAD, 0.0);
    let font = FontId::proportional(theme::SMALL);
    let ink = canvas.tokens.text_faint;
    canvas
        .painter
        .text(at, Align2::LEFT_CENTER, text, font, ink);
}

/// Titles below each other for a tooltip; of very many the first, and how many more there are.
pub(super) fn list(titles: impl Iterator<Item = String>, words: &Words) -> String {
    const MOST: usize = 12;
    let mut lines: Vec<String> = titles.collect();
    if lines.len() > MOST {
        let rest = lines.len() - MOST;
        lines.truncate(MOST);
        lines.push(words.with("timeline-more", &[("n", rest.into())]));
    }
    lines.join("\n")
}

/// The one row that a lane of marks measures: how many there are.
pub(super) fn count(n: usize, name: &str) -> Vec<(String, String)> {
    vec![(name.to_owned(), n.to_string())]
}

/// The same rows under a name in words.
pub(super) fn renamed(rows: Vec<(String, String)>, name: &str) -> Vec<(String, String)> {
    let named = |(_, value)| (name.to_owned(), value);
    rows.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_width_grows_with_what_is_written() {
        assert!(width("iii", 10.0) < width("nnn", 10.0));
        assert!(width("nnn", 10.0) < width("발견됨", 10.0));
        assert!((width("nn", 20.0) - 2.0 * width("nn", 10.0)).abs() < 1e-3);
    }
}
