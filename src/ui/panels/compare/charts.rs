//! The first changes as small lines over the time since the start of each window: A dim, B bright.

use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rangef, Rect, Role, Sense, Shape, Stroke, Ui,
    WidgetInfo,
};

use crate::session::compare::points::{self, Column};
use crate::session::compare::{Change, Side, Subject, Verdict};
use crate::ui::frame::Frame;
use crate::ui::panels::compare::list::Brief;
use crate::ui::panels::compare::{Key, list};
use crate::ui::theme;
use crate::ui::words::Words;

/// Columns of a line: a chart is hardly wider, so that there are at most two vertices a pixel.
const COLUMNS: usize = 256;
/// Height of a chart with its title.
const HEIGHT: f32 = 88.0;
/// Width that a chart wants.
const WIDTH: f32 = 150.0;
/// Radius of a value that stands alone.
const DOT: f32 = 1.5;
/// Height of the line of numbers below a chart, with the air above it: nothing is drawn there.
const DIGITS: f32 = 15.0;
/// Half the width of a stroke.
const HALF: f32 = 0.7;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chart {
    subject: Subject,
    title: String,
    verdict: Verdict,
    /// Both values in words.
    values: String,
    a: Vec<Column>,
    b: Vec<Column>,
    min: f64,
    max: f64,
}

impl Chart {
    /// Of one change. Runs on a worker.
    pub(super) fn new(words: &Words, a: &Side<'_>, b: &Side<'_>, change: &Change) -> Self {
        let subject = &change.subject;
        let of_a = points::columns(a, subject, change.series_a, COLUMNS);
        let of_b = points::columns(b, subject, change.series_b, COLUMNS);
        let both = of_a.iter().chain(&of_b);
        let (mut min, mut max) = both.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), c| {
            (low.min(c.min), high.max(c.max))
        });
        // A line that starts at 0 shows how much it grew.
        if min > 0.0 && min < max * 0.5 {
            min = 0.0;
        }
        if max <= min {
            max = min + 1.0;
        }
        let (from, to, unit) = list::shown(change);
        Self {
            subject: subject.clone(),
            title: list::title_of(words, change),
            verdict: change.verdict,
            values: format!(
                "{} → {}",
                list::value(words, from, unit),
                list::value(words, to, unit)
            ),
            a: of_a,
            b: of_b,
            min,
            max,
        }
    }
}

/// Draws them; what was picked.
pub(super) fn show(
    ui: &mut Ui,
    frame: &Frame<'_>,
    charts: &[Chart],
    key: Key,
    brief: Brief<'_>,
    picked: Option<&Subject>,
) -> Option<Subject> {
    let mut chosen = None;
    egui::ScrollArea::vertical()
        .id_salt("compare-charts")
        .auto_shrink(false)
        .show(ui, |ui| {
            let width = ui.available_width() - 8.0;
            let across = (width / WIDTH).floor().max(1.0) as usize;
            let one = (width - theme::GAP * (across - 1) as f32) / across as f32;
            for line in charts.chunks(across) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = theme::GAP;
                    for chart in line {
                        let is_picked = picked == Some(&chart.subject);
                        if card(ui, frame, chart, (key, brief), one, is_picked) {
                            chosen = Some(chart.subject.clone());
                        }
                    }
                });
            }
        });
    chosen
}

fn card(
    ui: &mut Ui,
    frame: &Frame<'_>,
    chart: &Chart,
    (key, brief): (Key, Brief<'_>),
    width: f32,
    is_picked: bool,
) -> bool {
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, HEIGHT), Sense::click());
    let numbers = &chart.values;
    let label = frame.words.with(
        "compare-chart",
        &[("what", (&chart.title).into()), ("values", numbers.into())],
    );
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_picked, &label));
    if !ui.is_rect_visible(rect) {
        return response.clicked();
    }
    let tokens = frame.tokens;
    let edge = if response.has_focus() || is_picked {
        Stroke::new(1.5, tokens.accent)
    } else if response.hovered() {
        Stroke::new(1.0, tokens.text_faint)
    } else {
        Stroke::new(1.0, tokens.line)
    };
    let painter = ui.painter_at(rect);
    painter.rect(rect, 4, tokens.ground, edge, egui::StrokeKind::Inside);
    let inner = rect.shrink2(egui::vec2(7.0, 5.0));
    let galley = brief.galley(
        &painter,
        &chart.title,
        theme::SMALL,
        inner.width(),
        tokens.text_dim,
    );
    painter.galley(inner.left_top(), galley, tokens.text_dim);
    let digits = FontId::monospace(10.0);
    let bright = match chart.verdict {
        Verdict::Worse => tokens.error,
        Verdict::Better => tokens.good,
        _ => tokens.accent,
    };
    let plot = Rect::from_min_max(
        Pos2::new(inner.left() + DOT, inner.top() + 18.0),
        Pos2::new(inner.right() - DOT, inner.bottom() - DIGITS - DOT),
    );
    painter.hline(
        inner.x_range(),
        plot.bottom(),
        Stroke::new(1.0, tokens.grid),
    );
    let longest = key.a.nanos().max(key.b.nanos()).max(1) as f64;
    for (columns, range, colour) in [
        (&chart.a, key.a, tokens.text_faint),
        (&chart.b, key.b, bright),
    ] {
        let share = range.nanos() as f64 / longest;
        paint_line(&painter, columns, chart, plot, share, colour);
    }
    let drawn = painter.text(
        inner.left_bottom(),
        Align2::LEFT_BOTTOM,
        numbers,
        digits.clone(),
        tokens.text_dim,
    );
    let length = format!("+{}", frame.words.units().secs((longest / 1e9).round()));
    let length = painter.layout_no_wrap(length, digits, tokens.text_faint);
    let at = inner.right_bottom() - length.size();
    if at.x > drawn.right() + theme::GAP {
        painter.galley(at, length, tokens.text_faint);
    }
    response.on_hover_text(label).clicked()
}

/// A line where each column has one value, strokes where it has several; broken where values are missing.
fn paint_line(
    painter: &Painter,
    columns: &[Column],
    chart: &Chart,
    plot: Rect,
    share: f64,
    colour: Color32,
) {
    let y = |value: f64| {
        let part = (value - chart.min) / (chart.max - chart.min);
        plot.bottom() - (part.clamp(0.0, 1.0) * f64::from(plot.height())) as f32
    };
    let x = |column: &Column| plot.left() + (column.x * share * f64::from(plot.width())) as f32;
    if chart.subject.kind.is_of_rows() {
        // Requests and spans come when they come: what lies between two of them is no line.
        return columns
            .iter()
            .for_each(|c| paint_range(painter, x(c), y(c.max), y(c.min), colour));
    }
    for run in columns.chunk_by(|_, next| !next.is_after_gap) {
        let is_thin = run
            .iter()
            .all(|c| c.max - c.min <= f64::EPSILON * c.max.abs());
        match run {
            // One value between gaps has no line: it is a dot.
            [one] => {
                painter.circle_filled(Pos2::new(x(one), y(one.max)), DOT, colour);
            }
            _ if is_thin => {
                let points = run.iter().map(|c| Pos2::new(x(c), y(c.max))).collect();
                painter.add(Shape::line(points, Stroke::new(1.4, colour)));
            }
            _ => run
                .iter()
                .for_each(|c| paint_range(painter, x(c), y(c.max), y(c.min), colour)),
        }
    }
}

/// All values of one column: a stroke from the largest to the smallest, never shorter than it is wide.
fn paint_range(painter: &Painter, x: f32, top: f32, bottom: f32, colour: Color32) {
    painter.vline(
        x,
        Rangef::new(top - HALF, bottom + HALF),
        Stroke::new(2.0 * HALF, colour),
    );
}
