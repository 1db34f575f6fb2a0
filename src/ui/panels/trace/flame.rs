//! The same trace as a flame: time to the right, calls downwards. What runs at the same time as its neighbour gets a lane below.

use egui::{Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::axis::Scale;
use super::bars::Bars;
use super::cells::{self, Fonts};
use super::say;
use super::state::{Show, State};
use super::waterfall::{HEAD, move_axis, ruler};
use super::{keys, row};
use crate::engine::cancel::Cancel;
use crate::store::trace::{Clocks, NONE, Tree};
use crate::ui::frame::Frame;
use crate::ui::theme::GAP;

/// Height of a lane.
const LANE: f32 = 19.0;
/// A span looks this many lanes below its parent for a free place.
const TRIES: usize = 128;
/// Bars narrower than this are drawn together.
const NARROW: f32 = 1.0;
/// Bars narrower than this have no words.
const WORDS: f32 = 28.0;

/// Which row lies in which lane.
#[derive(Debug, Default)]
pub struct Lanes {
    /// For each lane its rows, in order of start.
    lanes: Vec<Vec<u32>>,
    /// The lane of each row.
    lane_of: Vec<u32>,
}

impl Lanes {
    /// Gives each row a lane below its parent's.
    pub fn new(tree: &Tree, clocks: Clocks, cancel: &Cancel) -> Result<Self, String> {
        let rows = &tree.rows;
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        let start = |at: u32| rows.get(at as usize).map(|r| r.times(clocks).start);
        order.sort_by_key(|at| (start(*at), *at));
        let mut lane_of = vec![NONE; rows.len()];
        let mut lanes: Vec<Vec<u32>> = Vec::new();
        let mut ends: Vec<i64> = Vec::new();
        for (n, at) in order.into_iter().enumerate() {
            if n % 4096 == 0 && cancel.is_cancelled() {
                return Err("cancelled".to_owned());
            }
            let Some(row) = rows.get(at as usize) else {
                continue;
            };
            let times = row.times(clocks);
            // A child that seems to begin before its parent lies where its depth says.
            let least = match lane_of.get(row.parent as usize) {
                Some(&lane) if lane != NONE => lane as usize + 1,
                _ => row.depth as usize,
            };
            let lane = (least..least + TRIES)
                .find(|lane| ends.get(*lane).is_none_or(|end| *end <= times.start))
                .unwrap_or(least + TRIES);
            if lanes.len() <= lane {
                lanes.resize_with(lane + 1, Vec::new);
                ends.resize(lane + 1, i64::MIN);
            }
            if let (Some(rows), Some(end), Some(slot)) = (
                lanes.get_mut(lane),
                ends.get_mut(lane),
                lane_of.get_mut(at as usize),
            ) {
                rows.push(at);
                *end = (*end).max(times.end);
                *slot = lane as u32;
            }
        }
        Ok(Self { lanes, lane_of })
    }

    /// The row at a lane and a time.
    fn at(&self, show: &Show<'_>, lane: usize, nanos: i64, slack: i64) -> Option<usize> {
        let rows = self.lanes.get(lane)?;
        let times = |row: &u32| show.row(*row as usize).map(|r| r.times(show.clocks));
        let after = rows.partition_point(|r| times(r).is_some_and(|t| t.start <= nanos + slack));
        let row = *rows.get(after.checked_sub(1)?)?;
        let hit = times(&row)?;
        (nanos - slack <= hit.end).then_some(row as usize)
    }
}

/// Draws it.
pub(super) fn ui(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    lanes: &Lanes,
) {
    let rect = ui.available_rect_before_wrap();
    let id = ui.make_persistent_id("flame");
    let place = rect.shrink2(vec2(GAP, 0.0));
    let whole = ui.interact(rect, id, Sense::click_and_drag());
    let picked = state.row.map(|row| say::row_name(frame, show, row, false));
    whole.widget_info(|| {
        let name = picked.clone().unwrap_or_default();
        let text = frame
            .words
            .with("trace-flame-name", &[("picked", name.as_str().into())]);
        WidgetInfo::labeled(Role::Canvas, true, text)
    });
    keys::take(ui, id, frame, state, show, 10);
    move_axis(ui, state, show, &whole, place);
    let all = show.laid.tree.extent(show.clocks);
    let scale = Scale::new(place, state.axis.window(&all));
    let fonts = Fonts::of(ui);
    let head = Rect::from_min_size(place.min, vec2(place.width(), HEAD));
    ruler(
        ui.painter(),
        frame.tokens,
        head,
        place.bottom(),
        &scale,
        &fonts,
        frame.words.units(),
    );
    let body = Rect::from_min_max(pos2(rect.left(), rect.top() + HEAD), rect.max);
    let height = lanes.lanes.len() as f32 * LANE;
    ui.scope_builder(egui::UiBuilder::new().max_rect(body), |ui| {
        let mut area = egui::ScrollArea::vertical()
            .id_salt("lanes")
            .scroll_source(egui::scroll_area::ScrollSource::SCROLL_BAR)
            .auto_shrink(false);
        if let Some(row) = state.reveal.take() {
            let top = lanes
                .lane_of
                .get(row)
                .map_or(0.0, |lane| *lane as f32 * LANE);
            if top < state.scroll || top + LANE > state.scroll + body.height() {
                area = area.vertical_scroll_offset((top - body.height() / 2.0).max(0.0));
            }
        }
        let output = area.show_viewport(ui, |ui, viewport| {
            ui.set_height(height.max(viewport.height()));
            let top = ui.max_rect().top();
            draw(ui, frame, state, show, lanes, &scale, top, viewport);
            hover(ui, frame, state, show, lanes, &scale, top, &whole);
        });
        state.scroll = output.state.clamped_offset().y;
    });
    if ui.memory(|m| m.has_focus(id)) {
        let stroke = Stroke::new(1.5, frame.tokens.accent);
        ui.painter()
            .rect_stroke(rect, 2.0, stroke, egui::StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(rect);
}

/// All bars of the lanes on screen as one mesh, then their words.
#[expect(
    clippy::too_many_arguments,
    reason = "one frame of one view, split from `ui`"
)]
fn draw(
    ui: &Ui,
    frame: &Frame<'_>,
    state: &State,
    show: &Show<'_>,
    lanes: &Lanes,
    scale: &Scale,
    top: f32,
    viewport: Rect,
) {
    let clip = ui.clip_rect().intersect(Rect::from_x_y_ranges(
        scale.left..=scale.right,
        ui.clip_rect().y_range(),
    ));
    let painter = ui.painter().with_clip_rect(clip);
    let place = painter.add(Shape::Noop);
    let fonts = Fonts::of(ui);
    let mut bars = Bars::default();
    let first = (viewport.top() / LANE).floor().max(0.0) as usize;
    let last = (viewport.bottom() / LANE).ceil() as usize;
    for (lane, rows) in lanes.lanes.iter().enumerate().take(last).skip(first) {
        let y = top + lane as f32 * LANE;
        let strip = Strip {
            frame,
            state,
            show,
            scale,
            painter: &painter,
            fonts: &fonts,
            y,
        };
        strip.draw(rows, &mut bars);
    }
    painter.set(place, bars.into_mesh());
}

/// One lane.
struct Strip<'a, 'f> {
    frame: &'a Frame<'f>,
    state: &'a State,
    show: &'a Show<'a>,
    scale: &'a Scale,
    painter: &'a egui::Painter,
    fonts: &'a Fonts,
    y: f32,
}

impl Strip<'_, '_> {
    /// From the first bar that reaches into view; what is narrower than a point is drawn with its neighbours, and the next that can be
    /// told apart is looked up, so that the work grows with the points of the screen and not with the spans.
    fn draw(&self, rows: &[u32], bars: &mut Bars) {
        let times = |row: &u32| {
            self.show
                .row(*row as usize)
                .map(|r| r.times(self.show.clocks))
        };
        let from = self.scale.nanos(self.scale.left);
        let mut at = rows.partition_point(|r| times(r).is_some_and(|t| t.end < from));
        while let Some(row) = rows.get(at) {
            let Some(span) = times(row) else {
                break;
            };
            let (x0, x1) = (self.scale.x(span.start), self.scale.x(span.end));
            if x0 > self.scale.right {
                break;
            }
            if x1 - x0 >= NARROW {
                self.bar(*row as usize, x0, x1, bars);
                at += 1;
                continue;
            }
            let until = self.scale.nanos(x0 + NARROW);
            let rest = rows.get(at + 1..).unwrap_or_default();
            let skipped = rest.partition_point(|r| times(r).is_some_and(|t| t.end <= until));
            let colour = self.colour(*row as usize);
            let rect = Rect::from_min_max(
                pos2(x0, self.y + 1.0),
                pos2(x0 + NARROW, self.y + LANE - 1.0),
            );
            bars.rect(rect, colour);
            at += 1 + skipped;
        }
    }

    fn colour(&self, row: usize) -> egui::Color32 {
        let tokens = self.frame.tokens;
        self.show
            .laid
            .service(row)
            .map_or(tokens.others, |s| tokens.series(s.colour))
    }

    fn bar(&self, at: usize, x0: f32, x1: f32, bars: &mut Bars) {
        let tokens = self.frame.tokens;
        let Some(shown) = self.show.row(at) else {
            return;
        };
        let rect = Rect::from_min_max(
            pos2(x0, self.y + 1.0),
            pos2((x1 - 0.5).max(x0 + 0.5), self.y + LANE - 1.0),
        );
        let Some(span) = self.show.span(at) else {
            bars.outline(rect, tokens.text_faint);
            return;
        };
        let colour = self.colour(at);
        let is_dimmed = !self.state.query.trim().is_empty()
            && self.show.found.binary_search(&(at as u32)).is_err();
        let fill = if is_dimmed {
            colour.gamma_multiply(0.35)
        } else {
            colour
        };
        if shown.is_open {
            bars.fading(rect, fill);
        } else if span.is_inferred {
            bars.rect(rect, fill.gamma_multiply(0.18));
            bars.outline(rect, fill);
        } else {
            bars.rect(rect, fill);
        }
        row::parts(tokens, span, shown, rect, bars);
        for piece in self.show.laid.tree.critical(at, self.show.clocks) {
            let (from, to) = (self.scale.x(piece.from), self.scale.x(piece.to));
            if to - from >= 0.5 {
                bars.rect(
                    Rect::from_min_max(pos2(from, rect.bottom() - 2.0), pos2(to, rect.bottom())),
                    tokens.text,
                );
            }
        }
        if span.status.is_error() {
            bars.outline(rect, tokens.error);
            bars.diamond(
                pos2(
                    rect.right().min(self.scale.right - 1.0) - 5.0,
                    rect.center().y,
                ),
                4.0,
                tokens.error,
            );
        }
        if self.state.row == Some(at) {
            bars.outline(rect.expand(1.0), tokens.highlight);
            bars.outline(rect, tokens.highlight);
        }
        let words = rect.intersect(Rect::from_x_y_ranges(
            self.scale.left..=self.scale.right,
            rect.y_range(),
        ));
        if words.width() >= WORDS {
            let is_hollow = span.is_inferred || shown.is_open || is_dimmed;
            let ink = if is_hollow {
                tokens.text
            } else {
                tokens.ground
            };
            let name = if span.is_segment {
                &span.service
            } else {
                &span.operation
            };
            let cell = words.shrink2(vec2(4.0, 0.0));
            // Words over a hatch need a ground of their own.
            let has_parts = span.connect_ms.is_some_and(|ms| ms > 0.0)
                || span.queue_ms.is_some_and(|ms| ms > 0.0);
            if has_parts && !is_hollow {
                let width = cells::width(self.painter, name, &self.fonts.small).min(cell.width());
                bars.rect(
                    Rect::from_min_max(cell.min, pos2(cell.left() + width, cell.bottom() - 2.0)),
                    colour,
                );
            }
            cells::left(self.painter, cell, &[(name, &self.fonts.small, ink)]);
        }
    }
}

/// Under the pointer: tooltip, pick, zoom.
#[expect(
    clippy::too_many_arguments,
    reason = "one frame of one view, split from `ui`"
)]
fn hover(
    ui: &Ui,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    lanes: &Lanes,
    scale: &Scale,
    top: f32,
    whole: &egui::Response,
) {
    let Some(pointer) = whole.hover_pos().filter(|p| ui.clip_rect().contains(*p)) else {
        return;
    };
    let lane = ((pointer.y - top) / LANE).floor();
    let slack = scale.nanos(pointer.x + 1.5) - scale.nanos(pointer.x);
    let hit = (lane >= 0.0)
        .then(|| lanes.at(show, lane as usize, scale.nanos(pointer.x), slack))
        .flatten();
    let Some(row) = hit else {
        return;
    };
    whole
        .clone()
        .on_hover_ui_at_pointer(|ui| say::tooltip(ui, frame, show, row));
    if whole.double_clicked() {
        if let Some(shown) = show.row(row) {
            let all = show.laid.tree.extent(show.clocks);
            state.axis.show(&all, &shown.times(show.clocks));
        }
    } else if whole.clicked() {
        state.pick(frame, show.laid, row);
        state.reveal = None;
        whole.request_focus();
    }
}
