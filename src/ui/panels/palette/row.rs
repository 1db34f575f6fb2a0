//! One row of the palette: the name with the letters that fit, what it is, and its keys or why it cannot be used.

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{Align2, FontId, Pos2, Rect, Response, Ui};

use crate::ui::frame::Frame;
use crate::ui::panels::palette::index::{Hit, Item, Kind};
use crate::ui::panels::palette::{able, command_of};
use crate::ui::theme;
use crate::ui::widgets::caps;

/// Why it cannot be used now, in words.
pub(super) fn why_not<'a>(item: &Item, frame: &'a Frame<'_>) -> Option<&'a str> {
    let key = able::why_not(command_of(&item.act)?, frame)?;
    Some(frame.words.text(key))
}

/// Draws it.
pub(super) fn ui(
    ui: &Ui,
    rect: Rect,
    response: &Response,
    hit: &Hit,
    frame: &Frame<'_>,
    is_active: bool,
) {
    let tokens = frame.tokens;
    let item = &hit.item;
    let shortcut = command_of(&item.act).and_then(|c| c.shortcut);
    let reason = why_not(item, frame);
    let kind = frame.words.text(item.kind.word());
    response.widget_info(|| {
        let mut parts = vec![item.title.clone(), kind.to_owned()];
        parts.extend(shortcut.map(caps::text));
        parts.extend(reason.map(str::to_owned));
        egui::WidgetInfo::selected(
            egui::Role::ListBoxOption,
            reason.is_none(),
            is_active,
            parts.join(", "),
        )
    });
    if is_active {
        ui.painter().rect_filled(rect, 4.0, tokens.selected);
    }
    let middle = rect.center().y;
    let mut right = rect.right() - theme::GAP;
    if let Some(shortcut) = shortcut {
        right -= caps::paint(ui, tokens, Pos2::new(right, middle), shortcut) + theme::GAP;
    }
    // What it is stands in a column of its own; a command says its group, everything else its kind.
    let small = FontId::proportional(theme::SMALL);
    let (label, colour) = match (reason, item.kind) {
        (Some(reason), _) => (reason.to_owned(), tokens.text_dim),
        (None, Kind::Command) => (item.detail.clone(), tokens.text_faint),
        (None, _) if item.detail.is_empty() => (kind.to_owned(), tokens.text_faint),
        (None, _) => (format!("{kind} · {}", item.detail), tokens.text_faint),
    };
    let room = (right - rect.left()) * 0.42;
    let label = cut(ui, &label, &small, colour, room);
    let x = right - label.size().x;
    ui.painter().galley(
        Align2::LEFT_CENTER
            .anchor_size(Pos2::new(x, middle), label.size())
            .min,
        label,
        colour,
    );
    let room = x - rect.left() - 3.0 * theme::GAP;
    let title = title(ui, hit, frame, reason.is_some(), room);
    let is_cut = title.elided;
    ui.painter().galley(
        Align2::LEFT_CENTER
            .anchor_size(Pos2::new(rect.left() + theme::GAP, middle), title.size())
            .min,
        title,
        tokens.text,
    );
    if is_cut || item.detail.len() > 40 {
        response
            .clone()
            .on_hover_text(format!("{}\n{}", item.title, item.detail));
    }
}

fn cut(
    ui: &Ui,
    text: &str,
    font: &FontId,
    colour: egui::Color32,
    room: f32,
) -> std::sync::Arc<egui::Galley> {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font.clone(), colour);
    job.wrap = TextWrapping::truncate_at_width(room.max(0.0));
    ui.painter().layout_job(job)
}

fn title(
    ui: &Ui,
    hit: &Hit,
    frame: &Frame<'_>,
    is_dim: bool,
    room: f32,
) -> std::sync::Arc<egui::Galley> {
    let tokens = frame.tokens;
    let font = FontId::proportional(theme::BODY);
    let plain = if is_dim {
        tokens.text_faint
    } else {
        tokens.text
    };
    let mut job = LayoutJob {
        wrap: TextWrapping::truncate_at_width(room.max(0.0)),
        break_on_newline: false,
        ..LayoutJob::default()
    };
    let mut places = hit.places.iter().copied().peekable();
    let mut run = String::new();
    let mut is_run_lit = false;
    for (at, letter) in hit.item.title.chars().enumerate() {
        let is_lit = places.next_if_eq(&at).is_some();
        if is_lit != is_run_lit && !run.is_empty() {
            let colour = if is_run_lit { tokens.accent } else { plain };
            job.append(&run, 0.0, TextFormat::simple(font.clone(), colour));
            run.clear();
        }
        is_run_lit = is_lit;
        run.push(letter);
    }
    let colour = if is_run_lit { tokens.accent } else { plain };
    job.append(&run, 0.0, TextFormat::simple(font, colour));
    ui.painter().layout_job(job)
}
