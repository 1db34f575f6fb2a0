//! What stands above the rows: which table, the filter, how many rows are left.

use egui::{Align, Layout, RichText, Stroke, TextEdit, Ui};

use crate::base::text::grouped;
use crate::model::schema::TABLES;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::table::filter::Fault;
use crate::ui::panels::table::{Table, index_of};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::words::Words;

/// Width of the chooser.
const CHOOSER: f32 = 168.0;

impl Table {
    /// The line above the rows.
    pub(super) fn bar(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, table: &'static str) {
        ui.horizontal(|ui| {
            ui.set_height(crate::ui::theme::ROW + 4.0);
            self.chooser(ui, frame, table);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                #[cfg(feature = "sql")]
                self.sql.button(ui, frame);
                if icons::button(ui, Icon::Copy, frame.words.text("table-copy-csv")).clicked() {
                    self.copy_shown();
                }
                self.shown_button(ui, frame);
                self.picked_button(ui, frame);
                self.count(ui, frame);
                self.field(ui, frame);
            });
        });
    }

    fn chooser(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, table: &'static str) {
        let counts = self.counts(frame).to_vec();
        let label = frame.words.text("table-choose");
        let mut wanted = None;
        let response = egui::ComboBox::from_id_salt("table-choose")
            .width(CHOOSER)
            .height(360.0)
            .selected_text(table)
            .show_ui(ui, |ui| {
                for one in TABLES {
                    let n = count_of(&counts, one.name);
                    let text = n.map_or_else(String::new, |n| grouped(n as u64));
                    let mut name = RichText::new(one.name);
                    if n == Some(0) {
                        name = name.color(frame.tokens.text_faint);
                    }
                    let button = egui::Button::selectable(one.name == table, name)
                        .right_text(RichText::new(text).monospace());
                    let key = format!("table-doc-{}", one.name.replace('_', "-"));
                    let response = ui.add(button).on_hover_text(frame.words.text(&key));
                    if response.clicked() {
                        wanted = Some(one.name);
                    }
                }
            })
            .response
            .on_hover_text(label);
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::labeled(egui::Role::ComboBox, true, label);
            info.current_text_value = Some(table.to_owned());
            info
        });
        if let Some(name) = wanted {
            self.typed.clear();
            self.asked.clear();
            self.asked_name = Some(name.to_owned());
            self.page = 0;
            #[cfg(feature = "sql")]
            self.sql.leave();
            frame.ask(Request::Focus(FocusEdit::Table(
                name.to_owned(),
                String::new(),
            )));
        }
    }

    fn field(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let fault = self.parsed.as_ref().and_then(|p| p.filter.as_ref().err());
        let fault = fault.map(|fault| fault_text(fault, frame.words));
        let hint = frame.words.text("table-filter-hint");
        let mut text = self.typed.clone();
        if !text.is_empty()
            && icons::button(ui, Icon::Close, frame.words.text("table-clear")).clicked()
        {
            text.clear();
        }
        let width = ui.available_width();
        let response = ui
            .scope(|ui| {
                if fault.is_some() {
                    let edge = Stroke::new(1.0, frame.tokens.error);
                    let widgets = &mut ui.visuals_mut().widgets;
                    widgets.inactive.bg_stroke = edge;
                    widgets.hovered.bg_stroke = edge;
                    ui.visuals_mut().selection.stroke = edge;
                }
                ui.add(
                    TextEdit::singleline(&mut text)
                        .id_salt("table-filter")
                        .desired_width(width)
                        .hint_text(hint),
                )
            })
            .inner;
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::text_edit(
                true,
                self.typed.as_str(),
                text.as_str(),
                frame.words.text("table-filter"),
            );
            info.label = Some(frame.words.text("table-filter").to_owned());
            info
        });
        match fault {
            Some(fault) => {
                let fault = RichText::new(fault).color(frame.tokens.error);
                egui::Tooltip::always_open(
                    ui.ctx().clone(),
                    ui.layer_id(),
                    response.id.with("fault"),
                    egui::PopupAnchor::ParentRect(response.rect),
                )
                .show(|ui| ui.label(fault));
            }
            None => {
                response.on_hover_text(frame.words.text("table-filter-help"));
            }
        }
        if text != self.typed {
            self.type_filter(frame, text);
        }
    }

    fn count(&self, ui: &mut Ui, frame: &Frame<'_>) {
        let Some((shown, all)) = self.shown_of_all() else {
            return;
        };
        let text = if shown == all {
            frame
                .words
                .with("table-rows", &[("n", (&grouped(all as u64)).into())])
        } else {
            frame.words.with(
                "table-rows-of",
                &[
                    ("n", (&grouped(shown as u64)).into()),
                    ("all", (&grouped(all as u64)).into()),
                ],
            )
        };
        ui.label(RichText::new(text).color(frame.tokens.text_dim).small());
    }

    fn shown_button(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let sheet = self.shown_sheet();
        let has_time = sheet.is_none_or(|(_, sheet)| sheet.span.is_some());
        ui.add_enabled_ui(has_time, |ui| {
            let label = frame.words.text("table-shown-only");
            if icons::toggle(ui, Icon::Clock, label, self.is_shown_only && has_time).clicked() {
                self.is_shown_only = !self.is_shown_only;
            }
        });
    }

    fn picked_button(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let n = self.lit.as_ref().map_or(0, |l| l.rows.len());
        if n < 2 {
            return;
        }
        let text = frame
            .words
            .with("table-picked-only", &[("n", (&grouped(n as u64)).into())]);
        if ui.selectable_label(self.is_picked_only, text).clicked() {
            self.is_picked_only = !self.is_picked_only;
        }
    }
}

/// How many rows a table has, once that is counted.
pub(super) fn count_of(counts: &[usize], name: &str) -> Option<usize> {
    counts.get(index_of(name)?).copied()
}

/// What is wrong with a filter, in words.
fn fault_text(fault: &Fault, words: &Words) -> String {
    match fault {
        Fault::NoColumn(name) => words.with("table-fault-column", &[("name", name.into())]),
        Fault::NoValue(text) => words.with("table-fault-value", &[("text", text.into())]),
        Fault::NoNumber(column, got) => words.with(
            "table-fault-number",
            &[("column", column.into()), ("got", got.into())],
        ),
        Fault::NoTime(column, got) => words.with(
            "table-fault-time",
            &[("column", column.into()), ("got", got.into())],
        ),
        Fault::NotOrdered(column) => words.with("table-fault-order", &[("column", column.into())]),
        Fault::OpenQuote => words.text("table-fault-quote").to_owned(),
        Fault::TooLong => words.text("table-fault-long").to_owned(),
    }
}
