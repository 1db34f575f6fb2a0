//! The line at the bottom: what was read and what is read now, and the instant of the cursor.

use egui::{Align, Button, Layout, RichText, Ui};

use crate::base::text::grouped;
use crate::ui::frame::Frame;
use crate::ui::request::Request;

/// Numbers of the window itself, for debug builds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Status {
    /// Longest time of a frame so far, in milliseconds; `None` hides it.
    pub longest_frame_ms: Option<f64>,
}

/// Draws it.
pub fn ui(ui: &mut Ui, frame: &mut Frame<'_>, status: Status) {
    ui.horizontal_centered(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            right(ui, frame, status);
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                reading(ui, frame);
                counts(ui, frame);
            });
        });
    });
}

fn reading(ui: &mut Ui, frame: &mut Frame<'_>) {
    let Some(progress) = frame.progress else {
        return;
    };
    let text = if progress.is_analysing {
        frame.words.text("status-analysing").to_owned()
    } else {
        frame.words.with(
            "status-reading",
            &[
                ("read", progress.read.into()),
                ("found", progress.found.into()),
                (
                    "bytes",
                    frame
                        .words
                        .units()
                        .bytes(progress.bytes as f64)
                        .as_str()
                        .into(),
                ),
            ],
        )
    };
    ui.label(RichText::new(text).small().color(frame.tokens.accent));
    let cancel = RichText::new(frame.words.text("status-cancel")).small();
    if ui.add(Button::new(cancel).small()).clicked() {
        frame.ask(Request::CancelOpen);
    }
}

fn counts(ui: &mut Ui, frame: &Frame<'_>) {
    let Some(incident) = frame.incident else {
        return;
    };
    let snapshot = incident.snapshot();
    let samples: usize = snapshot.series.iter().map(|s| s.points()).sum();
    let mut parts = vec![
        frame
            .words
            .with("status-inputs", &[("n", snapshot.inputs.len().into())]),
    ];
    for (key, n) in [
        ("status-series", snapshot.series.len()),
        ("status-samples", samples),
        ("status-spans", snapshot.spans.len()),
        ("status-requests", snapshot.requests.len()),
        ("status-profiles", snapshot.profiles.len()),
    ] {
        if n > 0 {
            let n = grouped(n as u64);
            parts.push(frame.words.with(key, &[("n", n.as_str().into())]));
        }
    }
    let text = parts.join(" · ");
    let label = RichText::new(&text).small().color(frame.tokens.text_faint);
    ui.add(egui::Label::new(label).truncate())
        .on_hover_text(text);
}

fn right(ui: &mut Ui, frame: &Frame<'_>, status: Status) {
    let small = |text: String| RichText::new(text).small().monospace();
    if let Some(ms) = status.longest_frame_ms {
        ui.label(
            small(format!("{ms:.0}{}", frame.words.units().ms)).color(frame.tokens.text_faint),
        )
        .on_hover_text(frame.words.text("status-longest-frame"));
    }
    let clock = |t| frame.zone.civil(t).clock(3);
    let word = |key| {
        let text = RichText::new(frame.words.text(key)).small();
        text.color(frame.tokens.accent)
    };
    // From right to left: the words come after what stands behind them.
    if let Some(measure) = frame.view.measure {
        let (key, text) = if measure.nanos() > 0 {
            ("status-measured", frame.words.units().secs(measure.secs()))
        } else {
            ("status-measuring", clock(measure.start))
        };
        ui.label(small(text).color(frame.tokens.accent));
        ui.label(word(key));
        ui.add_space(crate::ui::theme::GAP);
    }
    if let Some(cursor) = frame.view.cursor {
        ui.label(small(clock(cursor)).color(frame.tokens.text));
    }
}
