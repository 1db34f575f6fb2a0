//! The rows on screen: only those are laid out, however many there are.

use std::collections::BTreeSet;

use egui::{Align2, FontId, Key, Modifiers, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo};
use egui_table::{CellInfo, HeaderCellInfo, HeaderRow, TableDelegate, TableState};

use crate::ui::panels::table::cell::{self, Clock};
use crate::ui::panels::table::order::Sort;
use crate::ui::panels::table::sheet::{Look, Sheet, kind_word};
use crate::ui::theme::{self, Tokens};
use crate::ui::words::Words;

/// Height of a row in points. A multiple of four, so that the places of three million rows are exact in an `f32`.
pub(super) const HEIGHT: f32 = 20.0;
/// Height of the header.
const HEADER: f32 = 24.0;
/// Rows that can be scrolled through at once; more are turned by pages, because a scroll bar has no finer steps.
pub(super) const PAGE: usize = 1_000_000;
/// Space at both sides of a value.
const INSET: f32 = 7.0;

/// The rows that are shown, in order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows<'a> {
    /// All, as they come.
    All(usize),
    /// These.
    Some(&'a [u32]),
}

impl Rows<'_> {
    /// How many.
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::All(n) => *n,
            Self::Some(rows) => rows.len(),
        }
    }

    /// The row at a place.
    pub(super) fn get(&self, at: usize) -> Option<usize> {
        match self {
            Self::All(n) => (at < *n).then_some(at),
            Self::Some(rows) => rows.get(at).map(|row| *row as usize),
        }
    }

    /// The place of a row.
    pub(super) fn position(&self, row: usize) -> Option<usize> {
        match self {
            Self::All(n) => (row < *n).then_some(row),
            Self::Some(rows) => rows.iter().position(|have| *have as usize == row),
        }
    }
}

/// What a person did in the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// Sort by a column; again turns it round, and a third time takes it off.
    Sort(usize),
    /// Pick the row at a place, and its column.
    Pick(usize, usize),
    /// Go where the row at a place leads.
    Open(usize),
    /// Copy a value.
    CopyCell(usize, usize),
    /// Copy a row.
    CopyRow(usize),
    /// Show only rows with this value.
    Keep(usize, usize),
}

/// Everything that one frame of the grid needs.
pub(super) struct Grid<'a> {
    pub(super) sheet: &'a Sheet,
    pub(super) rows: Rows<'a>,
    /// Place of the first row of the page.
    pub(super) first: usize,
    pub(super) clock: Clock<'a>,
    pub(super) tokens: &'a Tokens,
    pub(super) words: &'a Words,
    pub(super) sort: Option<Sort>,
    /// The picked row of the table.
    pub(super) row: Option<usize>,
    /// The picked column.
    pub(super) column: usize,
    /// Rows that the timeline has picked.
    pub(super) lit: &'a BTreeSet<usize>,
    /// Whether rows lead anywhere.
    pub(super) has_links: bool,
    pub(super) has_focus: bool,
    /// Height of the pointer, while it is over the grid.
    pub(super) pointer_y: Option<f32>,
    pub(super) acts: Vec<Act>,
}

impl Grid<'_> {
    /// Draws it into what is left of `ui`, scrolled to the place `scroll_to` when that is new.
    pub(super) fn show(&mut self, ui: &mut Ui, name: &str, scroll_to: Option<usize>, label: &str) {
        let area = ui.available_rect_before_wrap();
        let id = ui.scope_id().with("grid");
        let whole = ui.interact(area, id, Sense::click());
        self.has_focus = whole.has_focus();
        self.pointer_y = ui
            .input(|i| i.pointer.hover_pos())
            .filter(|_| ui.rect_contains_pointer(area))
            .map(|pos| pos.y);
        whole.widget_info(|| WidgetInfo::labeled(Role::Grid, ui.is_enabled(), label));
        ui.painter().rect_filled(area, 0, self.tokens.ground);
        let shown = self.rows.len().saturating_sub(self.first).min(PAGE);
        let mut table = egui_table::Table::new()
            .id_salt(("rows", name))
            .num_rows(shown as u64)
            .headers([HeaderRow::new(HEADER)])
            .num_sticky_cols(1)
            .columns(self.columns(area.width()));
        if let Some(at) = scroll_to.and_then(|at| at.checked_sub(self.first))
            && at < shown
        {
            table = table.scroll_to_row(at as u64, None);
        }
        // Widths come from the data; without a state egui_table would measure every cell first and jump.
        let state = table.get_id(ui);
        if TableState::load(ui, state).is_none() {
            TableState::default().store(ui, state);
        }
        table.show(ui, self);
        if self.acts.iter().any(|act| matches!(act, Act::Pick(..))) {
            whole.request_focus();
        }
        if self.has_focus {
            ui.painter().rect_stroke(
                area.shrink(0.5),
                0,
                Stroke::new(1.0, self.tokens.accent),
                egui::StrokeKind::Inside,
            );
            ui.memory_mut(|m| {
                m.set_focus_lock_filter(
                    id,
                    egui::EventFilter {
                        horizontal_arrows: true,
                        vertical_arrows: true,
                        ..Default::default()
                    },
                );
            });
            let page = ((area.height() - HEADER) / HEIGHT).floor().max(2.0) as usize - 1;
            self.keys(ui, page);
        }
    }

    fn columns(&self, width: f32) -> Vec<egui_table::Column> {
        let fields = &self.sheet.fields;
        let total: f32 = fields.iter().map(|f| f.width).sum();
        let rest = (width - total - 1.0).max(0.0);
        let last = fields.len().saturating_sub(1);
        fields
            .iter()
            .enumerate()
            .map(|(at, field)| {
                let more = if at == last && !field.look.is_right() {
                    rest
                } else {
                    0.0
                };
                egui_table::Column::new(field.width + more)
                    .range(36.0..=1200.0)
                    .id(egui::Id::unique(("column", &field.name)))
            })
            .collect()
    }

    /// Moves by keys, while the grid has the focus.
    fn keys(&mut self, ui: &Ui, page: usize) {
        let Some(last) = self.rows.len().checked_sub(1) else {
            return;
        };
        let here = self.row.and_then(|row| self.rows.position(row));
        let pressed = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
        let columns = self.sheet.fields.len().saturating_sub(1);
        let mut column = self.column.min(columns);
        let from = |step: fn(usize, usize) -> usize, by: usize| {
            here.map_or(0, |at| step(at, by)).min(last)
        };
        let mut to = None;
        if pressed(Key::ArrowDown) {
            to = Some(from(usize::saturating_add, 1));
        }
        if pressed(Key::ArrowUp) {
            to = Some(from(usize::saturating_sub, 1));
        }
        if pressed(Key::PageDown) {
            to = Some(from(usize::saturating_add, page));
        }
        if pressed(Key::PageUp) {
            to = Some(from(usize::saturating_sub, page));
        }
        if pressed(Key::Home) {
            to = Some(0);
        }
        if pressed(Key::End) {
            to = Some(last);
        }
        if pressed(Key::ArrowRight) {
            column = (column + 1).min(columns);
            to = to.or(here);
        }
        if pressed(Key::ArrowLeft) {
            column = column.saturating_sub(1);
            to = to.or(here);
        }
        if let Some(to) = to {
            self.acts.push(Act::Pick(to, column));
        }
        let Some(here) = here else {
            return;
        };
        if pressed(Key::Enter) {
            self.acts.push(Act::Open(here));
        }
        let is_copied = ui.input_mut(|i| {
            let before = i.events.len();
            i.events.retain(|event| !matches!(event, egui::Event::Copy));
            i.events.len() < before
        });
        if is_copied {
            self.acts.push(Act::CopyCell(here, column));
        }
    }

    fn font(look: Look) -> FontId {
        if look.is_mono() {
            FontId::monospace(12.0)
        } else {
            FontId::proportional(theme::BODY)
        }
    }

    fn paint_cell(&self, ui: &mut Ui, rect: Rect, column: usize, row: usize) -> String {
        let Some(field) = self.sheet.fields.get(column) else {
            return String::new();
        };
        let cell = cell::cell(self.sheet, column, row, &self.clock);
        let colour = match field.look {
            Look::Severity => crate::model::finding::Severity::from_word(&cell.text)
                .map_or(self.tokens.text, |s| self.tokens.severity(s)),
            Look::Code => self.tokens.text_dim,
            _ => self.tokens.text,
        };
        let inner = rect.shrink2(egui::vec2(INSET, 0.0));
        let unit_width = if cell.unit.is_empty() {
            0.0
        } else {
            let unit = ui.painter().layout_no_wrap(
                cell.unit.to_owned(),
                FontId::monospace(11.0),
                self.tokens.text_faint,
            );
            let width = unit.size().x + 4.0;
            let at = Pos2::new(
                inner.right() - unit.size().x,
                inner.center().y - unit.size().y / 2.0,
            );
            ui.painter().galley(at, unit, self.tokens.text_faint);
            width
        };
        let mut job = egui::text::LayoutJob::simple_singleline(
            cell.text.clone(),
            Self::font(field.look),
            colour,
        );
        job.wrap.max_rows = 1;
        job.wrap.break_anywhere = true;
        job.wrap.max_width = if ui.is_sizing_pass() {
            f32::INFINITY
        } else {
            (inner.width() - unit_width).max(8.0)
        };
        let galley = ui.fonts_mut(|f| f.layout_job(job));
        if ui.is_sizing_pass() {
            let wanted = galley.size().x + unit_width + 2.0 * INSET;
            ui.allocate_space(egui::vec2(wanted, 1.0));
        }
        let is_cut = galley.elided || cell.is_cut;
        let x = if field.look.is_right() {
            inner.right() - unit_width - galley.size().x
        } else {
            inner.left()
        };
        let at = Pos2::new(x, inner.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, colour);
        if is_cut {
            cell::whole(self.sheet, column, row, &self.clock)
        } else {
            String::new()
        }
    }

    fn cell(&mut self, ui: &mut Ui, at: usize, column: usize) {
        let Some(row) = self.rows.get(at) else {
            return;
        };
        let rect = ui.max_rect();
        let told = self.paint_cell(ui, rect, column, row);
        let id = ui.scope_id().with("cell");
        let mut response = ui.interact(rect, id, Sense::CLICK);
        response.widget_info(|| {
            let name = self.sheet.fields.get(column).map_or("", |f| &f.name);
            let cell = cell::cell(self.sheet, column, row, &self.clock);
            let text = format!("{name} {} {}", cell.text, cell.unit);
            let mut info = WidgetInfo::labeled(Role::Cell, ui.is_enabled(), text.trim_end());
            info.selected = Some(self.row == Some(row));
            info
        });
        let is_picked = self.row == Some(row) && self.column == column;
        if is_picked && self.has_focus {
            ui.painter().rect_stroke(
                rect.shrink(1.5),
                2,
                Stroke::new(1.0, self.tokens.accent),
                egui::StrokeKind::Inside,
            );
        }
        let is_time = self.sheet.fields.get(column).map(|f| f.look) == Some(Look::Time);
        if !told.is_empty() {
            response = response.on_hover_text(told);
        } else if is_time && response.hovered() {
            let whole = cell::whole(self.sheet, column, row, &self.clock);
            if !whole.is_empty() {
                response = response.on_hover_text(whole);
            }
        }
        if response.clicked() || response.secondary_clicked() {
            self.acts.push(Act::Pick(at, column));
        }
        if response.double_clicked() && self.has_links {
            self.acts.push(Act::Open(at));
        }
        let (words, has_links) = (self.words, self.has_links);
        let is_json = self.sheet.fields.get(column).map(|f| f.look) == Some(Look::Json);
        let acts = &mut self.acts;
        egui::Popup::context_menu(&response).show(|ui| {
            let mut entry = |key: &str, act: Act| {
                if ui.button(words.text(key)).clicked() {
                    acts.push(act);
                }
            };
            if has_links {
                entry("table-open", Act::Open(at));
            }
            if !is_json {
                entry("table-keep", Act::Keep(at, column));
            }
            entry("table-copy-cell", Act::CopyCell(at, column));
            entry("table-copy-row", Act::CopyRow(at));
        });
    }

    fn header(&mut self, ui: &mut Ui, column: usize) {
        let Some(field) = self.sheet.fields.get(column) else {
            return;
        };
        let rect = ui.max_rect();
        let id = ui.scope_id().with("header");
        let response = ui.interact(rect.shrink2(egui::vec2(3.0, 1.0)), id, Sense::click());
        let sort = self.sort.filter(|s| s.column == column);
        let state = match sort {
            None => "table-sort-none",
            Some(Sort {
                is_descending: false,
                ..
            }) => "table-sort-up",
            Some(_) => "table-sort-down",
        };
        let label = self
            .words
            .with(state, &[("column", field.name.as_str().into())]);
        response.widget_info(|| WidgetInfo::labeled(Role::ColumnHeader, ui.is_enabled(), &label));
        let fill = if response.hovered() {
            self.tokens.hover
        } else {
            self.tokens.panel
        };
        ui.painter().rect_filled(rect, 0, fill);
        if response.has_focus() {
            ui.painter().rect_stroke(
                rect.shrink(1.5),
                2,
                Stroke::new(1.5, self.tokens.accent),
                egui::StrokeKind::Inside,
            );
        }
        let colour = if sort.is_some() {
            self.tokens.text
        } else {
            self.tokens.text_dim
        };
        let inner = rect.shrink2(egui::vec2(INSET, 0.0));
        let arrow = match sort {
            Some(s) if s.is_descending => "▼",
            Some(_) => "▲",
            None => "",
        };
        let painter = ui.painter();
        let mut right = inner.right();
        if !arrow.is_empty() {
            let font = FontId::monospace(9.0);
            let drawn = painter.text(
                inner.right_center(),
                Align2::RIGHT_CENTER,
                arrow,
                font,
                self.tokens.accent,
            );
            right = drawn.left() - 3.0;
        }
        let mut job = egui::text::LayoutJob::simple_singleline(
            field.name.clone(),
            FontId::proportional(theme::SMALL),
            colour,
        );
        job.wrap.max_rows = 1;
        job.wrap.break_anywhere = true;
        job.wrap.max_width = (right - inner.left()).max(8.0);
        let galley = ui.fonts_mut(|f| f.layout_job(job));
        let x = if field.look.is_right() {
            right - galley.size().x
        } else {
            inner.left()
        };
        let at = Pos2::new(x, inner.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, colour);
        if ui.is_sizing_pass() {
            let letters = field.name.chars().count() as f32;
            ui.allocate_space(egui::vec2(letters * 7.0 + 2.0 * INSET + 12.0, 1.0));
        }
        let kind = kind_word(field.values.kind());
        let response = response.on_hover_text(format!("{} ({kind})\n{label}", field.name));
        if response.clicked() {
            self.acts.push(Act::Sort(column));
        }
    }
}

impl TableDelegate for Grid<'_> {
    fn header_cell_ui(&mut self, ui: &mut Ui, cell: &HeaderCellInfo) {
        self.header(ui, cell.col_range.start);
    }

    fn row_ui(&mut self, ui: &mut Ui, row_nr: u64) {
        let rect = ui.max_rect();
        let row = self.rows.get(self.first + row_nr as usize);
        let is_picked = row.is_some() && row == self.row;
        let is_lit = row.is_some_and(|row| self.lit.contains(&row));
        let fill = if is_picked {
            self.tokens.selected
        } else if self.pointer_y.is_some_and(|y| rect.y_range().contains(y)) {
            self.tokens.hover
        } else {
            // Rows of the sticky part lie over those that scroll under them.
            self.tokens.ground
        };
        ui.painter().rect_filled(rect, 0, fill);
        if is_lit {
            ui.painter().rect_filled(rect, 0, self.tokens.wash);
            let bar = Rect::from_min_size(rect.min, egui::vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 0, self.tokens.highlight);
        }
        ui.painter().hline(
            rect.x_range(),
            rect.bottom() - 0.5,
            Stroke::new(1.0, self.tokens.grid),
        );
    }

    fn cell_ui(&mut self, ui: &mut Ui, cell: &CellInfo) {
        self.cell(ui, self.first + cell.row_nr as usize, cell.col_nr);
    }

    fn default_row_height(&self) -> f32 {
        HEIGHT
    }
}
