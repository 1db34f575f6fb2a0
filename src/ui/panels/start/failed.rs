//! Nothing useful was in what was opened: each input with why, and what to do.

use std::path::PathBuf;

use egui::{RichText, Ui};

use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::Request;
use crate::ui::theme;
use crate::ui::widgets::text::primary;
use crate::words::warnings;

/// Width of the page, in points.
const WIDTH: f32 = 720.0;
/// Lines wrap, so that they differ in height: only as many as a person reads are laid out.
const SHOWN: usize = 200;

/// Draws it; gives whether the person goes back to the start.
pub(super) fn ui(ui: &mut Ui, paths: &[PathBuf], why: &[String], frame: &mut Frame<'_>) -> bool {
    let width = WIDTH.min(ui.available_width() - 2.0 * theme::PAD);
    let side = ((ui.available_width() - width) / 2.0).max(0.0);
    let mut is_done = false;
    ui.add_space(ui.available_height() * 0.12);
    ui.horizontal_top(|ui| {
        ui.add_space(side);
        ui.vertical(|ui| {
            ui.set_width(width);
            is_done = page(ui, paths, why, frame);
        });
    });
    is_done
}

fn page(ui: &mut Ui, paths: &[PathBuf], why: &[String], frame: &mut Frame<'_>) -> bool {
    let tokens = frame.tokens;
    let words = frame.words;
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(egui::Vec2::splat(20.0), egui::Sense::hover());
        let stroke = egui::Stroke::new(1.6, tokens.warning);
        icons::paint(ui.painter(), Icon::Warning, rect, stroke);
        ui.heading(words.text("failed-title"));
    });
    for path in paths {
        let text = RichText::new(path.display().to_string()).monospace();
        ui.add(egui::Label::new(text.color(tokens.text_dim)).truncate());
    }
    ui.add_space(theme::PAD);
    egui::Frame::new()
        .fill(tokens.ground)
        .stroke(egui::Stroke::new(1.0, tokens.line))
        .corner_radius(4)
        .inner_margin(theme::PAD)
        .show(ui, |ui| reasons(ui, why, frame));
    ui.add_space(theme::PAD);
    ui.add(egui::Label::new(words.text("failed-what-to-do")).wrap());
    ui.add_space(theme::PAD);
    ui.horizontal(|ui| {
        if primary(ui, tokens, words.text("failed-open")).clicked() {
            frame.ask(Request::Command(CommandId::Open));
        }
        if ui.button(words.text("failed-again")).clicked() {
            frame.ask(Request::Open(paths.to_vec()));
        }
        if ui.button(words.text("failed-copy")).clicked() {
            frame.ask(Request::Copy(why.join("\n")));
        }
        ui.button(words.text("failed-back")).clicked()
    })
    .inner
}

fn reasons(ui: &mut Ui, why: &[String], frame: &Frame<'_>) {
    if why.is_empty() {
        ui.label(frame.words.text("failed-empty"));
        return;
    }
    let height = (ui.content_rect().height() * 0.4).max(120.0);
    egui::ScrollArea::vertical()
        .max_height(height)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            for line in why.iter().take(SHOWN) {
                let (path, text) = line.split_once(": ").unwrap_or(("", line));
                if !path.is_empty() {
                    let path = RichText::new(path).monospace().color(frame.tokens.text_dim);
                    ui.add(egui::Label::new(path).truncate());
                }
                let text = warnings::why(frame.words, text);
                ui.add(egui::Label::new(text).wrap());
                ui.add_space(theme::GAP);
            }
            if why.len() > SHOWN {
                let n = why.len() - SHOWN;
                ui.label(frame.words.with("failed-more", &[("n", n.into())]));
            }
        });
}
