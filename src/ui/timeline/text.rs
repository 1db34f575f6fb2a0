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
    let wide = |text: &str| {
        let galley = painter.layout_no_wrap(text.to_owned(), body(), colour);
        galley.size().x
    };
    let (head, tail) = halves(text, |t| wide(t) <= width);
    let (tail, is_tail_cut) = middle(painter, tail, &body(), colour, width);
    // Of the first line the beginning says most.
    let is_head_cut = wide(head) > width;
    let mut kept = head;
    while is_head_cut && !kept.is_empty() && wide(&format!("{kept}…")) > width {
        kept = kept
            .char_indices()
            .next_back()
            .map_or("", |(at, _)| kept.get(..at).unwrap_or_default());
    }
    let cut = if is_head_cut { "…" } else { "" };
    let both = format!("{kept}{cut}\n{}", tail.text());
    let galley = painter.layout_no_wrap(both, body(), colour);
    (galley, is_head_cut || is_tail_cut)
}

/// A name in two lines, broken where a word of it ends. The second line is as long as fits: names of metrics and hosts differ most
/// at their ends.
fn halves(text: &str, fits: impl Fn(&str) -> bool) -> (&str, &str) {
    let is_end = |c: char| matches!(c, ' ' | '_' | '-' | '.' | '/' | ':' | '{' | ',' | '·');
    let breaks: Vec<usize> = text
        .char_indices()
        .filter(|(at, c)| is_end(*c) && *at > 0)
        .map(|(at, c)| at + c.len_utf8())
        .collect();
    let split = |at: &usize| text.split_at_checked(*at);
    let mut parts = breaks
        .iter()
        .filter_map(split)
        .filter(|(_, tail)| !tail.is_empty());
    // The first line is filled as a reader expects it, as long as the rest fits too.
    let full = parts
        .clone()
        .rfind(|(head, tail)| fits(head.trim_end()) && fits(tail));
    let found = full.or_else(|| parts.find(|(_, tail)| fits(tail)));
    let (head, tail) = found.unwrap_or_else(|| {
        let middle = text.char_indices().nth(text.chars().count() / 2);
        text.split_at(middle.map_or(0, |(at, _)| at))
    });
    (head.trim_end(), tail)
}

/// Words on at most `rows` lines, the last one elided when that is not enough.
pub(super) fn lines(
    painter: &Painter,
    text: &str,
    font: &FontId,
    colour: Color32,
    width: f32,
    rows: usize,
) -> Vec<Arc<Galley>> {
    let mut rest = text;
    let mut lines = Vec::new();
    while !rest.is_empty() {
        let whole = line(painter, rest, font.clone(), colour, width);
        if !whole.elided || lines.len() + 1 >= rows {
            lines.push(whole);
            break;
        }
        let fits = |head: &str| {
            let galley = painter.layout_no_wrap(head.to_owned(), font.clone(), colour);
            galley.size().x <= width
        };
        let spaces = rest.char_indices().filter(|(_, c)| *c == ' ');
        let at = spaces
            .map(|(at, _)| at)
            .take_while(|at| rest.get(..*at).is_some_and(fits))
            .last();
        let Some((head, tail)) = at.and_then(|at| rest.split_at_checked(at)) else {
            lines.push(whole);
            break;
        };
        // What separates parts separates nothing at the end of a line.
        let head = head.trim_end_matches([' ', '·']);
        lines.push(line(painter, head, font.clone(), colour, width));
        rest = tail.trim_start();
    }
    lines
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_breaks_where_a_word_of_it_ends() {
        let fits = |t: &str| t.chars().count() <= 18;
        let told = |text| halves(text, fits);
        assert_eq!(
            told("smartgateway → prezipage"),
            ("smartgateway →", "prezipage")
        );
        assert_eq!(
            told("node_nf_conntrack_stat_insert_failed"),
            ("node_nf_conntrack_", "stat_insert_failed")
        );
        assert_eq!(
            told("namedprocess_namegroup_memory_bytes resident"),
            ("namedprocess_namegroup_memory_", "bytes resident")
        );
        assert_eq!(
            told("abcdefghijklmnopqrstuvwxyz"),
            ("abcdefghijklm", "nopqrstuvwxyz")
        );
        assert_eq!(told(""), ("", ""));
    }
}
