//! All traces, one line each: sorted by any column, filtered by text, those of the picked finding marked.

use std::collections::BTreeSet;
use std::sync::Arc;

use egui::{
    EventFilter, Key, Modifiers, RichText, Role, ScrollArea, Sense, TextEdit, Ui, WidgetInfo, vec2,
};

use super::cells::{self, Fonts};
use super::lines::{Column, LINE, OrderKey, columns, cut, line, name, sorted, tooltip};
use crate::engine::memo::{Answer, Memo};
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::trace::{TraceItem, list};
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::GAP;

/// The list.
#[derive(Debug)]
pub(super) struct List {
    items: Memo<u64, Arc<Vec<TraceItem>>>,
    order: Memo<OrderKey, Arc<Vec<u32>>>,
    filter: String,
    sort: Column,
    is_descending: bool,
    is_lit_only: bool,
    /// Traces that the picked finding points at, and for what they were looked up.
    lit: Arc<BTreeSet<Arc<str>>>,
    lit_of: Option<(u64, usize, Option<String>)>,
    scroll: f32,
}

impl Default for List {
    fn default() -> Self {
        Self {
            items: Memo::default(),
            order: Memo::default(),
            filter: String::new(),
            sort: Column::Duration,
            is_descending: true,
            is_lit_only: false,
            lit: Arc::default(),
            lit_of: None,
            scroll: 0.0,
        }
    }
}

impl List {
    /// Draws it; `open` is the trace that is open.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        open: Option<&str>,
    ) {
        self.find_lit(frame, incident);
        let generation = incident.generation;
        let for_worker = incident.clone();
        let items = self
            .items
            .want(frame.pool, &generation, move |cancel| {
                Ok(Arc::new(list(for_worker.snapshot(), &|| {
                    cancel.is_cancelled()
                })))
            })
            .value()
            .cloned();
        let Some(items) = items else {
            super::states::waiting(ui, frame, "trace-list-pending");
            return;
        };
        let order = self.order(frame, generation, &items);
        self.tools(ui, frame, items.len(), order.len());
        let columns = columns(ui.available_width());
        self.titles(ui, frame, &columns);
        if order.is_empty() {
            ui.add_space(GAP);
            ui.label(
                RichText::new(frame.words.text("trace-list-no-match")).color(frame.tokens.text_dim),
            );
            return;
        }
        self.lines(ui, frame, &items, &order, (&columns, open));
    }

    /// The traces of the spans and summaries that the picked finding points at.
    fn find_lit(&mut self, frame: &Frame<'_>, incident: &Incident) {
        let key = (
            incident.generation,
            frame.highlight.targets.len(),
            frame.view.selection.id().map(str::to_owned),
        );
        if self.lit_of.as_ref() == Some(&key) {
            return;
        }
        let snapshot = incident.snapshot();
        let ids = frame
            .highlight
            .targets
            .iter()
            .filter_map(|target| match target {
                Target::Span { span } => snapshot.spans.get(*span).map(|s| Arc::clone(&s.trace_id)),
                Target::Summary { summary } => snapshot
                    .summaries
                    .get(*summary)
                    .map(|s| Arc::clone(&s.trace_id)),
                _ => None,
            });
        self.lit = Arc::new(ids.collect());
        self.lit_of = Some(key);
    }

    fn order(
        &mut self,
        frame: &Frame<'_>,
        generation: u64,
        items: &Arc<Vec<TraceItem>>,
    ) -> Arc<Vec<u32>> {
        let is_lit_only = self.is_lit_only && !self.lit.is_empty();
        let key = OrderKey {
            generation,
            filter: self.filter.trim().to_lowercase(),
            sort: self.sort,
            is_descending: self.is_descending,
            lit: is_lit_only.then(|| Arc::clone(&self.lit)),
        };
        let (for_worker, items) = (key.clone(), Arc::clone(items));
        match self.order.want(frame.pool, &key, move |_| {
            Ok(Arc::new(sorted(&items, &for_worker)))
        }) {
            Answer::Ready(order) | Answer::Stale(order) => Arc::clone(order),
            Answer::Pending | Answer::Failed(_) => Arc::default(),
        }
    }

    /// Filter, how many, and only those of the picked finding.
    fn tools(&mut self, ui: &mut Ui, frame: &Frame<'_>, all: usize, shown: usize) {
        let words = frame.words;
        ui.horizontal(|ui| {
            let width = (ui.available_width() * 0.5).clamp(90.0, 240.0);
            ui.add(
                TextEdit::singleline(&mut self.filter)
                    .hint_text(words.text("trace-list-filter"))
                    .desired_width(width),
            );
            if !self.lit.is_empty() {
                let label = words.with("trace-list-lit", &[("n", self.lit.len().into())]);
                if icons::toggle(ui, Icon::Filter, &label, self.is_lit_only).clicked() {
                    self.is_lit_only = !self.is_lit_only;
                }
            }
            let text = if shown == all {
                words.with("trace-list-all", &[("n", all.into())])
            } else {
                words.with(
                    "trace-list-some",
                    &[("n", shown.into()), ("all", all.into())],
                )
            };
            ui.add(
                egui::Label::new(RichText::new(text).small().color(frame.tokens.text_dim))
                    .truncate(),
            );
        });
    }

    /// Titles; a click sorts, another turns the order round.
    fn titles(&mut self, ui: &mut Ui, frame: &Frame<'_>, columns: &[(Column, f32)]) {
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), Sense::hover());
        let fonts = Fonts::of(ui);
        let tokens = frame.tokens;
        for (column, cell) in cut(rect, columns) {
            let id = ui.make_persistent_id(("title", column.word()));
            let response = ui.interact(cell, id, Sense::click());
            let name = frame.words.text(column.word());
            let is_on = self.sort == column;
            let hint = frame
                .words
                .with("trace-list-sort", &[("column", name.into())]);
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_on, &hint));
            let mut colour = if is_on {
                tokens.text
            } else {
                tokens.text_faint
            };
            if response.hovered() || response.has_focus() {
                colour = tokens.accent;
            }
            let arrow = match (is_on, self.is_descending) {
                (false, _) => "",
                (true, true) => " ↓",
                (true, false) => " ↑",
            };
            let text = format!("{name}{arrow}");
            if column.is_text() {
                cells::left(ui.painter(), cell, &[(&text, &fonts.small, colour)]);
            } else {
                cells::right(ui.painter(), cell, &text, &fonts.small, colour);
            }
            if response.on_hover_text(hint).clicked() {
                if is_on {
                    self.is_descending = !self.is_descending;
                } else {
                    self.sort = column;
                    self.is_descending = !column.is_text();
                }
            }
        }
        ui.painter().hline(
            rect.x_range(),
            rect.bottom(),
            egui::Stroke::new(1.0, tokens.line),
        );
    }

    fn lines(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        items: &[TraceItem],
        order: &[u32],
        (columns, open): (&[(Column, f32)], Option<&str>),
    ) {
        let id = ui.make_persistent_id("lines");
        let rect = ui.available_rect_before_wrap();
        let whole = ui.interact(rect, id, Sense::click());
        whole.widget_info(|| {
            let n = order.len();
            WidgetInfo::labeled(
                Role::ListBox,
                true,
                frame.words.with("trace-list-all", &[("n", n.into())]),
            )
        });
        let place = open.and_then(|open| {
            order.iter().position(|at| {
                items
                    .get(*at as usize)
                    .is_some_and(|i| i.id.as_ref() == open)
            })
        });
        let moved = self.keys(ui, id, place, order.len());
        let mut chosen = moved;
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = ScrollArea::vertical().id_salt("traces").auto_shrink(false);
        if let Some(place) = moved {
            let top = place as f32 * LINE;
            if top < self.scroll {
                area = area.vertical_scroll_offset(top);
            } else if top + LINE > self.scroll + rect.height() {
                area = area.vertical_scroll_offset(top + LINE - rect.height());
            }
        }
        let output = area.show_rows(ui, LINE, order.len(), |ui, range| {
            for at in range {
                let item = order.get(at).and_then(|ix| items.get(*ix as usize));
                let Some(item) = item else {
                    continue;
                };
                let (rect, _) =
                    ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::hover());
                let response =
                    ui.interact(rect, id.with(("trace", item.id.as_ref())), Sense::CLICK);
                let is_open = open == Some(item.id.as_ref());
                line(
                    ui,
                    frame,
                    item,
                    rect,
                    columns,
                    (is_open, self.lit.contains(&item.id), response.hovered()),
                );
                response.widget_info(|| {
                    WidgetInfo::selected(Role::ListBoxOption, true, is_open, name(frame, item))
                });
                let response = response.on_hover_ui(|ui| tooltip(ui, frame, item));
                if response.clicked() {
                    chosen = Some(at);
                    ui.memory_mut(|m| m.request_focus(id));
                }
            }
        });
        self.scroll = output.state.clamped_offset().y;
        if whole.has_focus() {
            let stroke = egui::Stroke::new(1.5, frame.tokens.accent);
            ui.painter()
                .rect_stroke(rect, 2.0, stroke, egui::StrokeKind::Inside);
        }
        let item = chosen
            .and_then(|at| order.get(at))
            .and_then(|ix| items.get(*ix as usize));
        if let Some(item) = item.filter(|i| open != Some(i.id.as_ref())) {
            frame.ask(Request::Focus(FocusEdit::Trace(Some(item.id.to_string()))));
        }
    }

    /// Up and down open the line above and below.
    fn keys(&self, ui: &Ui, id: egui::Id, place: Option<usize>, n: usize) -> Option<usize> {
        ui.memory_mut(|m| {
            m.set_focus_lock_filter(
                id,
                EventFilter {
                    vertical_arrows: true,
                    ..EventFilter::default()
                },
            );
        });
        if !ui.memory(|m| m.has_focus(id)) {
            return None;
        }
        let pressed = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
        let last = n.saturating_sub(1);
        let page = 10;
        let seen = (self.scroll / LINE) as usize;
        if pressed(Key::ArrowDown) {
            Some(place.map_or(seen, |p| (p + 1).min(last)))
        } else if pressed(Key::ArrowUp) {
            Some(place.map_or(seen, |p| p.saturating_sub(1)))
        } else if pressed(Key::PageDown) {
            Some(place.map_or(seen, |p| (p + page).min(last)))
        } else if pressed(Key::PageUp) {
            Some(place.map_or(seen, |p| p.saturating_sub(page)))
        } else if pressed(Key::Home) {
            Some(0)
        } else if pressed(Key::End) {
            Some(last)
        } else if pressed(Key::Enter) && place.is_none() {
            Some(seen)
        } else {
            None
        }
    }
}
