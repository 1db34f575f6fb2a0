//! What stands where no waterfall can: nothing picked, no traces, a trace of which only the id or a summary is known, reading.

use egui::{Layout, RichText, Ui, vec2};

use super::cells;
use crate::model::span::TraceSummary;
use crate::session::incident::Incident;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::{GAP, PAD};

/// Work is going on.
pub(super) fn waiting(ui: &mut Ui, frame: &Frame<'_>, key: &str) {
    ui.add_space(PAD);
    ui.label(RichText::new(frame.words.text(key)).color(frame.tokens.text_dim));
}

/// No trace at all was read.
pub(super) fn no_traces(ui: &mut Ui, frame: &Frame<'_>, incident: &Incident) {
    ui.add_space(PAD);
    if incident.is_complete {
        ui.strong(frame.words.text("trace-none"));
        ui.label(RichText::new(frame.words.text("trace-none-hint")).color(frame.tokens.text_dim));
    } else {
        ui.label(RichText::new(frame.words.text("trace-none-yet")).color(frame.tokens.text_dim));
    }
}

/// A trace without spans: what is known of it, what is missing, how to get it.
pub(super) fn absent(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    incident: &Incident,
    trace_id: &str,
    summary: Option<&TraceSummary>,
) {
    let words = frame.words;
    let tokens = frame.tokens;
    ui.with_layout(Layout::top_down(egui::Align::Min), |ui| {
        ui.horizontal(|ui| {
            ui.strong(words.text(if summary.is_some() {
                "trace-summary-only"
            } else {
                "trace-unknown"
            }));
            ui.label(RichText::new(trace_id).monospace().color(tokens.text_dim));
            if icons::button(ui, Icon::Copy, words.text("trace-copy-id")).clicked() {
                frame.ask(Request::Copy(trace_id.to_owned()));
                frame.ask(Request::Tell(words.text("trace-copied").to_owned()));
            }
            if icons::button(ui, Icon::Close, words.text("trace-close")).clicked() {
                frame.ask(Request::Focus(FocusEdit::Trace(None)));
            }
        });
        if !incident.is_complete {
            ui.label(RichText::new(words.text("trace-none-yet")).color(tokens.text_dim));
            return;
        }
        let key = if summary.is_some() {
            "trace-summary-hint"
        } else {
            "trace-unknown-hint"
        };
        ui.label(RichText::new(words.text(key)).color(tokens.text_dim));
        if let Some(summary) = summary {
            ui.add_space(GAP);
            known(ui, frame, summary);
        }
        ui.add_space(GAP);
        ui.label(RichText::new(words.text("trace-fetch")).color(tokens.text_dim));
        let command = format!("aws xray batch-get-traces --trace-ids {trace_id}");
        ui.horizontal(|ui| {
            ui.label(RichText::new(&command).monospace());
            if icons::button(ui, Icon::Copy, words.text("trace-copy-command")).clicked() {
                frame.ask(Request::Copy(command.clone()));
                frame.ask(Request::Tell(words.text("trace-copied").to_owned()));
            }
        });
    });
}

/// What the summary says.
fn known(ui: &mut Ui, frame: &Frame<'_>, summary: &TraceSummary) {
    let words = frame.words;
    let dim = frame.tokens.text_dim;
    let mut facts = vec![
        ("trace-list-start", cells::clock(frame, summary.start)),
        ("trace-list-entry", summary.entry.to_string()),
    ];
    if let Some(ms) = summary.duration_ms.or(summary.response_ms) {
        facts.push(("trace-list-duration", frame.words.units().ms(ms)));
    }
    if let Some(ms) = summary.connect_ms {
        let by = summary.connect_service.as_deref().unwrap_or_default();
        facts.push((
            "trace-connect",
            format!("{} {by}", frame.words.units().ms(ms))
                .trim()
                .to_owned(),
        ));
    }
    if let Some(status) = summary.http_status {
        facts.push(("trace-http", status.to_string()));
    }
    let request = format!("{} {}", summary.http_method, summary.http_url);
    if !request.trim().is_empty() {
        facts.push(("trace-request", request.trim().to_owned()));
    }
    if !summary.services.is_empty() {
        let services: Vec<&str> = summary.services.iter().map(AsRef::as_ref).collect();
        facts.push(("trace-services", services.join(", ")));
    }
    egui::Grid::new("known")
        .num_columns(2)
        .spacing(vec2(16.0, 3.0))
        .show(ui, |ui| {
            for (key, value) in facts {
                ui.label(RichText::new(words.text(key)).color(dim));
                ui.add(egui::Label::new(RichText::new(value).monospace()).truncate());
                ui.end_row();
            }
        });
    if summary.is_partial {
        ui.label(RichText::new(words.text("trace-partial")).color(frame.tokens.warning));
    }
}
