//! What stands above and below the rows: which trace it is, how it is shown, the search, the legend.

use std::sync::Arc;

use egui::{Align, Key, Layout, Modifiers, RichText, TextEdit, Ui, vec2};

use super::bars::Bars;
use super::cells;
use super::keys;
use super::row::length;
use super::say::signed;
use super::state::{Show, State};
use crate::store::trace::Clocks;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::GAP;

/// Width of the search field.
const SEARCH: f32 = 168.0;

/// First line: which trace, its numbers. `is_list_open` is whether the list of traces stands beside it.
pub(super) fn title(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    state: &mut State,
    show: &Show<'_>,
    is_list_open: &mut bool,
) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let (icon, key) = if *is_list_open {
            (Icon::Left, "trace-list-hide")
        } else {
            (Icon::Right, "trace-list-show")
        };
        if icons::button(ui, icon, words.text(key)).clicked() {
            *is_list_open = !*is_list_open;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if icons::button(ui, Icon::Close, words.text("trace-close")).clicked() {
                state.is_closed = true;
                frame.ask(Request::Focus(FocusEdit::Trace(None)));
            }
            let is_open = state.is_details_shown;
            if icons::toggle(ui, Icon::Info, words.text("trace-details"), is_open).clicked() {
                state.is_details_open = Some(!is_open);
            }
            search(ui, frame, state, show);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                facts(ui, frame, state, show);
            });
        });
    });
}

/// Entry, start, length, spans, errors, the largest gap.
fn facts(ui: &mut Ui, frame: &mut Frame<'_>, state: &mut State, show: &Show<'_>) {
    let words = frame.words;
    let tokens = frame.tokens;
    let laid = show.laid;
    let extent = laid.tree.extent(show.clocks);
    let first = show.span(0).or_else(|| show.span(1));
    let id = first.map(|s| Arc::clone(&s.trace_id)).unwrap_or_default();
    if icons::button(ui, Icon::Copy, words.text("trace-copy-id"))
        .on_hover_text(id.as_ref())
        .clicked()
    {
        frame.ask(Request::Copy(id.to_string()));
        frame.ask(Request::Tell(words.text("trace-copied").to_owned()));
    }
    let numbers = |text: String| RichText::new(text).monospace();
    ui.label(numbers(cells::clock(frame, laid.tree.origin)).color(tokens.text_dim));
    ui.label(numbers(length(frame.words, extent.end - extent.start)));
    let n = laid.tree.rows.len() - laid.tree.missing.len();
    ui.label(RichText::new(words.with("trace-spans", &[("n", n.into())])).color(tokens.text_dim));
    if laid.errors > 0 {
        let text = words.with("trace-errors", &[("n", laid.errors.into())]);
        ui.label(RichText::new(text).color(tokens.error));
    }
    if let Some((ms, row)) = laid.gap.filter(|(ms, _)| *ms >= 0.01) {
        let text = words.with(
            "trace-gap-of",
            &[("ms", frame.words.units().ms(ms).as_str().into())],
        );
        let hint = words.text("trace-gap-hint");
        let text = RichText::new(text).color(tokens.accent);
        if ui.link(text).on_hover_text(hint).clicked() {
            state.pick(frame, laid, row);
        }
    }
    if let Some(name) = first.map(super::say::title) {
        ui.add(egui::Label::new(RichText::new(name).color(tokens.text_dim)).truncate());
    }
}

/// The search field with `n of m`. Stands in a line that runs from the right.
fn search(ui: &mut Ui, frame: &Frame<'_>, state: &mut State, show: &Show<'_>) {
    let words = frame.words;
    let before = state.query.clone();
    let field = ui.add_sized(
        vec2(SEARCH, ui.spacing().interact_size.y),
        TextEdit::singleline(&mut state.query)
            .id(egui::Id::unique("trace-search"))
            .hint_text(words.text("trace-search"))
            .return_key(None),
    );
    if std::mem::take(&mut state.wants_search) {
        field.request_focus();
    }
    if field.has_focus() {
        // Shift first: a pattern without modifiers also takes the key with Shift.
        if ui.input_mut(|i| i.consume_key(Modifiers::SHIFT, Key::Enter)) {
            step(state, show, false);
        } else if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter)) {
            step(state, show, true);
        } else if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::ArrowDown)) {
            state.wants_rows = true;
        }
    }
    if field.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape)) {
        state.query.clear();
        state.wants_rows = true;
    }
    if before != state.query {
        state.reveal = None;
    }
    let has_query = !state.query.trim().is_empty();
    if has_query {
        if icons::button(ui, Icon::Down, words.text("trace-search-next")).clicked() {
            step(state, show, true);
        }
        if icons::button(ui, Icon::Up, words.text("trace-search-previous")).clicked() {
            step(state, show, false);
        }
        let at = state
            .row
            .and_then(|row| show.found.binary_search(&(row as u32)).ok())
            .map_or(0, |at| at + 1);
        let text = words.with(
            "trace-search-count",
            &[("at", at.into()), ("n", show.found.len().into())],
        );
        let colour = if show.found.is_empty() {
            frame.tokens.warning
        } else {
            frame.tokens.text_dim
        };
        ui.label(RichText::new(text).small().color(colour));
    }
}

fn step(state: &mut State, show: &Show<'_>, is_forward: bool) {
    if let Some(row) = state.next_found(show.found, is_forward) {
        state.show_row(show.laid, row);
    }
}

/// Last line: how it is shown, and what the marks mean.
pub(super) fn foot(ui: &mut Ui, frame: &Frame<'_>, state: &mut State, show: &Show<'_>) {
    let words = frame.words;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        for (is_flame, key) in [(false, "trace-waterfall"), (true, "trace-flame")] {
            let is_on = state.is_flame == is_flame;
            let text = RichText::new(words.text(key)).small();
            if ui
                .selectable_label(is_on, text)
                .on_hover_text(words.text("trace-view-hint"))
                .clicked()
            {
                state.is_flame = is_flame;
            }
        }
        ui.separator();
        let is_folded = state.folds > 0;
        let key = if is_folded {
            "trace-unfold-all"
        } else {
            "trace-fold-all"
        };
        let fold = egui::Button::new(RichText::new(words.text(key)).small()).frame(false);
        let can_fold = !state.is_flame && show.laid.is_deep;
        if ui
            .add_enabled(can_fold, fold)
            .on_hover_text(words.text("trace-fold-hint"))
            .clicked()
        {
            state.fold_all(show.laid, !is_folded);
        }
        let all =
            egui::Button::new(RichText::new(words.text("trace-zoom-all")).small()).frame(false);
        if ui
            .add_enabled(!state.axis.is_all(), all)
            .on_hover_text(words.text("trace-zoom-hint"))
            .clicked()
        {
            state.axis.reset();
        }
        clocks(ui, frame, state, show);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            legend(ui, frame, show, state.is_flame);
        });
    });
}

/// Which clocks, and what was moved by how much.
fn clocks(ui: &mut Ui, frame: &Frame<'_>, state: &mut State, show: &Show<'_>) {
    let skews = &show.laid.tree.skews;
    if skews.is_empty() {
        return;
    }
    let words = frame.words;
    ui.separator();
    let tellings: Vec<String> = skews
        .iter()
        .map(|skew| {
            let (least, most) = skew.moves;
            let by = if least == most {
                signed(frame.words, least)
            } else {
                format!(
                    "{} … {}",
                    signed(frame.words, least),
                    signed(frame.words, most)
                )
            };
            let arguments = [
                ("service", skew.service.as_ref().into()),
                ("by", by.as_str().into()),
                ("n", skew.count.into()),
                ("of", skew.of.into()),
            ];
            words.with("trace-clocks-moved", &arguments)
        })
        .collect();
    let hint = format!(
        "{}\n\n{}",
        tellings.join("\n"),
        words.text("trace-clocks-hint")
    );
    for (clocks, key) in [
        (Clocks::Raw, "trace-clocks-raw"),
        (Clocks::Corrected, "trace-clocks-corrected"),
    ] {
        let text = RichText::new(words.text(key)).small();
        if ui
            .selectable_label(show.clocks == clocks, text)
            .on_hover_text(&hint)
            .clicked()
            && show.clocks != clocks
        {
            state.clocks = Some(keys::other(show.clocks));
        }
    }
    let told = RichText::new(tellings.join(" · "))
        .small()
        .color(frame.tokens.warning);
    let room = (ui.available_width() - 260.0).clamp(60.0, 320.0);
    ui.scope(|ui| {
        ui.set_max_width(room);
        ui.add(egui::Label::new(told).truncate())
            .on_hover_text(&hint);
    });
}

/// A mark of the legend.
#[derive(Debug, Clone, Copy)]
enum Mark {
    Critical,
    Gap,
    Connect,
    Queue,
    Open,
    Inferred,
}

/// Only marks that occur in the trace. Runs from the right.
fn legend(ui: &mut Ui, frame: &Frame<'_>, show: &Show<'_>, is_flame: bool) {
    let laid = show.laid;
    let marks = [
        (laid.has_inferred, Mark::Inferred, "trace-inferred"),
        (laid.has_open, Mark::Open, "trace-open"),
        (laid.parts[1], Mark::Queue, "trace-queue"),
        (laid.parts[0], Mark::Connect, "trace-connect"),
        (
            laid.gap.is_some() && !is_flame,
            Mark::Gap,
            "trace-gap-legend",
        ),
        (true, Mark::Critical, "trace-critical"),
    ];
    for (is_there, mark, key) in marks {
        if !is_there || ui.available_width() < 90.0 {
            continue;
        }
        let tokens = frame.tokens;
        let text = RichText::new(frame.words.text(key))
            .small()
            .color(tokens.text_dim);
        let label = ui.label(text);
        if matches!(mark, Mark::Critical) {
            label.on_hover_text(frame.words.text("trace-critical-hint"));
        }
        let (rect, _) = ui.allocate_exact_size(vec2(20.0, 10.0), egui::Sense::hover());
        let mut bars = Bars::default();
        let bar = rect.shrink2(vec2(0.0, 0.5));
        let colour = tokens.text_dim;
        match mark {
            Mark::Critical => bars.rect(bar.shrink2(vec2(0.0, 3.5)), tokens.text),
            Mark::Gap => bars.bracket((bar.left(), bar.right()), None, bar.center().y, 4.0, colour),
            Mark::Connect => {
                bars.rect(bar, colour);
                bars.slanted(bar, tokens.ground.gamma_multiply(0.75));
            }
            Mark::Queue => {
                bars.rect(bar, colour);
                bars.upright(bar, tokens.ground.gamma_multiply(0.75));
            }
            Mark::Open => bars.fading(bar, colour),
            Mark::Inferred => bars.outline(bar, colour),
        }
        ui.painter().add(bars.into_mesh());
        ui.add_space(4.0);
    }
}
