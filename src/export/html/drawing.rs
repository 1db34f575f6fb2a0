//! The timeline as a drawing: each entry a bar or a mark, put into rows so that none covers another.

use std::fmt::Write as _;

use crate::base::time::Timestamp;
use crate::export::html::escaped;
use crate::export::view::View;
use crate::session::timeline::{Entry, Origin};

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 12.0;
const ROW: f64 = 14.0;
const TOP: f64 = 26.0;
/// Rows that are drawn; what does not fit into them is counted.
const ROWS: usize = 24;
/// The least width of what is drawn.
const LEAST: f64 = 5.0;

/// Adds the drawing; nothing when nothing has a time.
pub(super) fn svg(out: &mut String, view: &View<'_>) {
    let Some((from, to)) = ends(view) else {
        return;
    };
    let span = to.nanos_since(from).max(1) as f64;
    let x = |t: Timestamp| {
        let share = (t.nanos_since(from) as f64 / span).clamp(0.0, 1.0);
        MARGIN + share * (WIDTH - 2.0 * MARGIN)
    };
    let mut ends_at: Vec<f64> = Vec::new();
    let mut drawn: Vec<(f64, f64, usize, &Entry)> = Vec::new();
    let mut left_out = 0;
    for entry in &view.timeline {
        let left = x(entry.start);
        // What had not ended goes on to the end; an own event without an end is an instant.
        let end = match (entry.end, &entry.origin) {
            (Some(end), _) => end,
            (None, Origin::Report(_)) if !entry.is_change => to,
            (None, _) => entry.start,
        };
        let right = x(end).max(left + LEAST);
        let row = ends_at.iter().position(|e| *e + 2.0 <= left);
        let row = row.unwrap_or(ends_at.len());
        if row == ROWS {
            left_out += 1;
            continue;
        }
        match ends_at.get_mut(row) {
            Some(end) => *end = right,
            None => ends_at.push(right),
        }
        drawn.push((left, right, row, entry));
    }
    let height = TOP + ends_at.len() as f64 * ROW + MARGIN;
    let label = escaped(view.say("export-drawing"));
    writeln!(
        out,
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">"
    )
    .ok();
    axis(out, from, to, height);
    for (left, right, row, entry) in drawn {
        let y = TOP + row as f64 * ROW;
        writeln!(out, "<g class=\"{}\"><title>{} {}</title><rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" rx=\"2\"/></g>",
            entry.weight(),
            escaped(&entry.start.to_clock()),
            escaped(&entry.title),
            right - left,
            ROW - 4.0).ok();
    }
    out.push_str("</svg>\n");
    if left_out > 0 {
        let text = escaped(&view.count("export-drawing-more", left_out));
        writeln!(out, "<p class=\"facts\">{text}</p>").ok();
    }
}

fn axis(out: &mut String, from: Timestamp, to: Timestamp, height: f64) {
    for n in 0..=4 {
        let share = f64::from(n) / 4.0;
        let t = from.plus_nanos((to.nanos_since(from) as f64 * share) as i64);
        let x = MARGIN + share * (WIDTH - 2.0 * MARGIN);
        let anchor = match n {
            0 => "start",
            4 => "end",
            _ => "middle",
        };
        let clock: String = t.to_clock().chars().take(8).collect();
        writeln!(out, "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"18\" y2=\"{height:.1}\"/><text x=\"{x:.1}\" y=\"13\" text-anchor=\"{anchor}\">{}</text>",
            escaped(&clock)).ok();
    }
}

/// The window, widened to what is told; what lies far beside it does not squeeze it.
fn ends(view: &View<'_>) -> Option<(Timestamp, Timestamp)> {
    let window = view.report.window;
    if let (Some(start), Some(end)) = (window.start, window.end) {
        return Some((start, end));
    }
    let start = view.timeline.iter().map(|e| e.start).min()?;
    let ends = view.timeline.iter().map(|e| e.end.unwrap_or(e.start));
    Some((start, ends.max()?))
}
