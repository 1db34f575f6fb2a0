//! Every command by group with its keys; typing narrows it.

use egui::{Key, Modifiers, Ui, Vec2};

use crate::ui::commands::{self, Command, Group};
use crate::ui::frame::Frame;
use crate::ui::panels::palette::fuzzy::{Name, Query};
use crate::ui::panels::palette::index::group_word;
use crate::ui::theme;
use crate::ui::widgets::caps;

/// The groups of each column, so that the columns are of like height.
const COLUMNS: [&[Group]; 3] = [
    &[Group::Move],
    &[Group::Lanes, Group::Findings, Group::Replay],
    &[Group::View, Group::File, Group::Edit, Group::Look],
];
/// Width of a column, in points.
const COLUMN: f32 = 290.0;

/// Draws it; gives whether it stays open.
pub(super) fn ui(ui: &Ui, query: &mut String, frame: &Frame<'_>) -> bool {
    let size = ui.content_rect().size();
    let modal = egui::Modal::new(egui::Id::unique("shortcuts"))
        .frame(egui::Frame::popup(ui.style()).inner_margin(theme::PAD + 2.0))
        .show(ui, |ui| {
            let is_closed = ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape));
            ui.set_width((3.0 * COLUMN + 2.0 * theme::PAD).min(size.x - 72.0));
            ui.horizontal(|ui| {
                ui.heading(frame.words.text("sheet-title"));
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let close = crate::ui::icons::button(
                        ui,
                        crate::ui::icons::Icon::Close,
                        frame.words.text("sheet-close"),
                    );
                    let field = ui.add(
                        egui::TextEdit::singleline(query)
                            .hint_text(frame.words.text("sheet-search"))
                            .desired_width(220.0),
                    );
                    ui.accesskit_node_builder(field.id, |node| {
                        node.set_label(frame.words.text("sheet-search"));
                    });
                    if ui.memory(|m| m.focused().is_none()) {
                        field.request_focus();
                    }
                    close.clicked()
                })
                .inner
            })
            .inner
                || {
                    ui.add_space(theme::GAP);
                    let wanted = Query::new(query);
                    let height = (size.y - 130.0).clamp(120.0, 720.0);
                    egui::ScrollArea::vertical()
                        .max_height(height)
                        .min_scrolled_height(height)
                        .auto_shrink(false)
                        .show(ui, |ui| columns(ui, &wanted, frame));
                    is_closed
                }
        });
    !(modal.inner || modal.backdrop_response.clicked())
}

fn columns(ui: &mut Ui, query: &Query, frame: &Frame<'_>) {
    let width = (ui.available_width() - 2.0 * theme::PAD) / 3.0;
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing = Vec2::new(theme::PAD, 1.0);
        for groups in COLUMNS {
            ui.allocate_ui(Vec2::new(width, 0.0), |ui| {
                ui.vertical(|ui| {
                    ui.set_width(width);
                    for group in groups {
                        one_group(ui, *group, query, frame);
                    }
                });
            });
        }
    });
}

fn one_group(ui: &mut Ui, group: Group, query: &Query, frame: &Frame<'_>) {
    let title = |c: &Command| frame.words.text(&format!("cmd-{}", c.name)).to_owned();
    let shown: Vec<(&Command, String)> = commands::ALL
        .iter()
        .filter(|c| c.group == group)
        .map(|c| (c, title(c)))
        .filter(|(c, title)| {
            let keys = c.shortcut.map(caps::text).unwrap_or_default();
            let text = format!("{title} {} {keys}", c.name.replace('-', " "));
            query.score(&Name::new(&text)).is_some()
        })
        .collect();
    if shown.is_empty() {
        return;
    }
    let heading = frame.words.text(group_word(group));
    ui.label(
        egui::RichText::new(heading)
            .small()
            .color(frame.tokens.text_faint),
    );
    for (command, title) in shown {
        line(ui, command, &title, frame);
    }
    ui.add_space(theme::PAD);
}

fn line(ui: &mut Ui, command: &Command, title: &str, frame: &Frame<'_>) {
    let size = Vec2::new(ui.available_width(), 22.0);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::hover());
    let keys = command.shortcut.map(caps::text);
    response.widget_info(|| {
        let label = match &keys {
            Some(keys) => format!("{title}: {keys}"),
            None => title.to_owned(),
        };
        egui::WidgetInfo::labeled(egui::Role::Label, true, label)
    });
    let right = egui::pos2(rect.right() - 2.0, rect.center().y);
    let used = command
        .shortcut
        .map_or(0.0, |s| caps::paint(ui, frame.tokens, right, s));
    let mut job = egui::text::LayoutJob::simple_singleline(
        title.to_owned(),
        egui::FontId::proportional(theme::BODY),
        frame.tokens.text,
    );
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width() - used - theme::PAD);
    let galley = ui.painter().layout_job(job);
    let is_cut = galley.elided;
    let pos = egui::pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(pos, galley, frame.tokens.text);
    if is_cut {
        response.on_hover_text(title);
    }
}
