//! The waterfall: one row a span, its name at the left, its bar on the trace's own axis. Only rows on screen are laid out.

use std::ops::Range;

use egui::{
    Painter, Pos2, Rect, Role, ScrollArea, Sense, Shape, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::axis::{Scale, ticks};
use super::bars::Bars;
use super::cells::{self, Fonts};
use super::state::{Show, State};
use super::{keys, row, say};
use crate::base::units::Names;
use crate::ui::frame::Frame;
use crate::ui::theme::{GAP, Tokens};

/// Height of a row.
pub(super) const ROW_HEIGHT: f32 = 20.0;
/// Height of the titles and ticks.
pub(super) const HEAD: f32 = 20.0;
/// Width of a number.
const NUMBER: f32 = 68.0;
/// Below this width the own time is left out.
const NARROW: f32 = 520.0;

/// Where the columns stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) names: Rect,
    pub(super) length: Rect,
    pub(super) own: Option<Rect>,
    pub(super) bars: Rect,
}

impl Columns {
    fn of(rect: Rect, names: Option<f32>) -> Self {
        let has_own = rect.width() >= NARROW;
        let numbers = if has_own { 2.0 * NUMBER } else { NUMBER };
        let share = names.unwrap_or(0.36).clamp(0.12, 0.7);
        let most = (rect.width() - numbers - 120.0).max(80.0);
        let width = (rect.width() * share).clamp(80.0, most.min(520.0));
        let cut = |from: f32, to: f32| {
            Rect::from_min_max(
                pos2(rect.left() + from, rect.top()),
                pos2((rect.left() + to).max(rect.left() + from), rect.bottom()),
            )
        };
        Self {
            names: cut(0.0, width),
            length: cut(width, width + NUMBER),
            own: has_own.then(|| cut(width + NUMBER, width + 2.0 * NUMBER)),
            bars: cut(width + numbers + GAP, rect.width() - GAP),
        }
    }
}

/// Draws it.
pub(super) fn ui(ui: &mut Ui, frame: &mut Frame<'_>, state: &mut State, show: &Show<'_>) {
    let rect = ui.available_rect_before_wrap();
    let id = ui.make_persistent_id("waterfall");
    let columns = Columns::of(rect, state.names);
    let page = ((rect.height() - HEAD) / ROW_HEIGHT).floor().max(1.0) as usize;
    let whole = ui.interact(rect, id, Sense::click_and_drag());
    whole.widget_info(|| {
        let n = show.rows.len();
        WidgetInfo::labeled(
            Role::Tree,
            true,
            frame.words.with("trace-rows", &[("n", n.into())]),
        )
    });
    keys::take(ui, id, frame, state, show, page);
    move_axis(ui, state, show, &whole, columns.bars);
    let all = show.laid.tree.extent(show.clocks);
    let scale = Scale::new(columns.bars, state.axis.window(&all));
    head(ui, frame, &columns, &scale);
    drag_names(ui, state, rect, &columns);
    let body = Rect::from_min_max(pos2(rect.left(), rect.top() + HEAD), rect.max);
    ui.scope_builder(egui::UiBuilder::new().max_rect(body), |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        body_ui(ui, frame, state, show, &columns, &scale, id);
    });
    if ui.memory(|m| m.has_focus(id)) {
        ui.painter().rect_stroke(
            rect,
            2.0,
            Stroke::new(1.5, frame.tokens.accent),
            egui::StrokeKind::Inside,
        );
    }
    ui.advance_cursor_after_rect(rect);
}

/// Wheel and drag over the bars; a wheel alone scrolls the rows, except over the ticks.
pub(super) fn move_axis(
    ui: &Ui,
    state: &mut State,
    show: &Show<'_>,
    whole: &egui::Response,
    bars: Rect,
) {
    let all = show.laid.tree.extent(show.clocks);
    if whole.dragged()
        && whole
            .interact_pointer_pos()
            .is_some_and(|p| bars.contains(p))
    {
        let share = -f64::from(whole.drag_delta().x) / f64::from(bars.width().max(1.0));
        state.axis.pan(&all, share);
    }
    let Some(pointer) = ui
        .input(|i| i.pointer.hover_pos())
        .filter(|p| bars.contains(*p) && ui.rect_contains_pointer(whole.rect))
    else {
        return;
    };
    let share = f64::from(pointer.x - bars.left()) / f64::from(bars.width().max(1.0));
    let (zoom, scroll) = ui.input(|i| (i.zoom_delta(), i.smooth_scroll_delta()));
    if (zoom - 1.0).abs() > 1e-3 {
        state.axis.zoom(&all, share, 1.0 / f64::from(zoom));
    }
    let is_wheel_zoom = state.is_flame || pointer.y < bars.top() + HEAD;
    if scroll.y.abs() > 0.0 && is_wheel_zoom {
        state
            .axis
            .zoom(&all, share, (-f64::from(scroll.y) / 200.0).exp());
    }
    if scroll.x.abs() > 0.0 {
        let share = -f64::from(scroll.x) / f64::from(bars.width().max(1.0));
        state.axis.pan(&all, share);
    }
}

/// Titles of the columns, and the ticks.
fn head(ui: &Ui, frame: &Frame<'_>, columns: &Columns, scale: &Scale) {
    let fonts = Fonts::of(ui);
    let painter = ui.painter();
    let colour = frame.tokens.text_faint;
    let line = |rect: Rect| Rect::from_min_size(rect.min, vec2(rect.width(), HEAD));
    let words = frame.words;
    let small = &fonts.small;
    cells::left(
        painter,
        line(columns.names).with_min_x(columns.names.left() + GAP),
        &[(words.text("trace-col-span"), small, colour)],
    );
    cells::right(
        painter,
        line(columns.length),
        words.text("trace-col-duration"),
        small,
        colour,
    );
    if let Some(own) = columns.own {
        cells::right(
            painter,
            line(own),
            words.text("trace-col-own"),
            small,
            colour,
        );
    }
    ruler(
        painter,
        frame.tokens,
        line(columns.bars),
        columns.bars.bottom(),
        scale,
        &fonts,
        frame.words.units(),
    );
    painter.hline(
        columns.names.left()..=columns.bars.right() + GAP,
        columns.names.top() + HEAD,
        Stroke::new(1.0, frame.tokens.line),
    );
}

/// Ticks with their words, and their lines down through the rows.
pub(super) fn ruler(
    painter: &Painter,
    tokens: &Tokens,
    rect: Rect,
    bottom: f32,
    scale: &Scale,
    fonts: &Fonts,
    units: &Names,
) {
    for (nanos, text) in ticks(scale, 66.0, units) {
        let x = scale.x(nanos);
        painter.vline(x, rect.bottom()..=bottom, Stroke::new(1.0, tokens.grid));
        painter.vline(
            x,
            rect.bottom() - 4.0..=rect.bottom(),
            Stroke::new(1.0, tokens.line),
        );
        // Next to its tick, so that the first and the last are whole.
        let width = cells::width(painter, &text, &fonts.small);
        if x + 4.0 + width <= rect.right() + 2.0 {
            let cell = Rect::from_min_max(
                pos2(x + 4.0, rect.top()),
                pos2(x + 6.0 + width, rect.bottom()),
            );
            cells::left(painter, cell, &[(&text, &fonts.small, tokens.text_faint)]);
        }
    }
}

/// The border between names and numbers can be dragged.
fn drag_names(ui: &Ui, state: &mut State, rect: Rect, columns: &Columns) {
    let x = columns.length.left();
    let handle = Rect::from_min_max(pos2(x - 3.0, rect.top()), pos2(x + 3.0, rect.top() + HEAD));
    let response = ui
        .interact(handle, ui.make_persistent_id("names"), Sense::DRAG)
        .on_hover_cursor(egui::CursorIcon::ResizeHorizontal);
    if response.dragged()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        state.names = Some(((pointer.x - rect.left()) / rect.width().max(1.0)).clamp(0.12, 0.7));
    }
}

/// Where the rows must stand so that `row` is seen; `None` when it is seen.
fn wanted_scroll(state: &mut State, show: &Show<'_>, height: f32) -> Option<f32> {
    let row = state.reveal?;
    let place = show.place(row)?;
    state.reveal = None;
    let top = place as f32 * ROW_HEIGHT;
    let is_above = top < state.scroll;
    let is_below = top + ROW_HEIGHT > state.scroll + height;
    let is_near = (top - state.scroll).abs() < 2.0 * height;
    match (is_above, is_below, is_near) {
        (false, false, _) => None,
        (true, _, true) => Some(top),
        (_, true, true) => Some(top + ROW_HEIGHT - height),
        _ => Some((top - height / 2.0).max(0.0)),
    }
}

fn body_ui(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    columns: &Columns,
    scale: &Scale,
    id: egui::Id,
) {
    let height = ui.available_height();
    let mut area = ScrollArea::vertical().id_salt("rows").auto_shrink(false);
    if let Some(offset) = wanted_scroll(state, show, height) {
        area = area.vertical_scroll_offset(offset.max(0.0));
    }
    let output = area.show_rows(ui, ROW_HEIGHT, show.rows.len(), |ui, range| {
        rows(ui, frame, state, show, columns, scale, (id, range));
    });
    state.scroll = output.state.clamped_offset().y;
    state.height = output.inner_rect.height();
}

/// The rows on screen: grounds, then all bars as one mesh, then words.
fn rows(
    ui: &Ui,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    columns: &Columns,
    scale: &Scale,
    (id, range): (egui::Id, Range<usize>),
) {
    let fonts = Fonts::of(ui);
    let top = ui.max_rect().top();
    let grounds = ui.painter().add(Shape::Noop);
    let clip = columns
        .bars
        .expand2(vec2(4.0, 0.0))
        .intersect(ui.clip_rect());
    let over = ui.painter().with_clip_rect(clip);
    let place = over.add(Shape::Noop);
    let mut ground = Bars::default();
    let mut bars = Bars::default();
    let mut clicked = None;
    for (line, row) in (0..).zip(show.rows.get(range).unwrap_or_default()) {
        let row = *row as usize;
        let y = top + line as f32 * ROW_HEIGHT;
        let rect = Rect::from_min_max(
            pos2(columns.names.left(), y),
            pos2(columns.bars.right() + GAP, y + ROW_HEIGHT),
        );
        let response = ui.interact(rect, id.with(("row", row)), Sense::CLICK);
        let is_picked = state.row == Some(row);
        response.widget_info(|| {
            let name = say::row_name(frame, show, row, state.is_folded(row));
            WidgetInfo::selected(Role::TreeItem, true, is_picked, name)
        });
        let is_found = show.found.binary_search(&(row as u32)).is_ok();
        let tokens = frame.tokens;
        if is_found {
            ground.rect(rect, tokens.wash);
        }
        if is_picked {
            ground.rect(rect, tokens.selected);
        } else if response.hovered() {
            ground.rect(rect, tokens.hover);
        }
        let drawing = row::Drawing {
            painter: ui.painter(),
            over: &over,
            tokens,
            fonts: &fonts,
            columns,
            scale,
            rect,
        };
        row::draw(
            &drawing,
            frame.words,
            show,
            row,
            state.is_folded(row),
            &mut bars,
        );
        let response = response.on_hover_ui(|ui| say::tooltip(ui, frame, show, row));
        if response.clicked() || response.double_clicked() {
            clicked = Some((
                row,
                response.interact_pointer_pos(),
                response.double_clicked(),
            ));
        }
    }
    ui.painter().set(grounds, ground.into_mesh());
    over.set(place, bars.into_mesh());
    if let Some((row, pointer, is_double)) = clicked {
        click(frame, state, show, columns, (row, pointer, is_double));
        ui.memory_mut(|m| m.request_focus(id));
    }
}

fn click(
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    columns: &Columns,
    (row, pointer, is_double): (usize, Option<Pos2>, bool),
) {
    let Some(shown) = show.row(row) else {
        return;
    };
    let has_children = shown.end as usize > row + 1;
    let handle = row::handle(columns.names, shown.depth);
    if has_children && pointer.is_some_and(|p| handle.contains(p.x)) {
        let is_folded = state.is_folded(row);
        state.fold(row, !is_folded);
        return;
    }
    state.pick(frame, show.laid, row);
    if is_double {
        let all = show.laid.tree.extent(show.clocks);
        state.axis.show(&all, &shown.times(show.clocks));
    }
}
