//! The line that says which windows are compared.

use egui::{Align, Layout, RichText, Ui};

use crate::base::time::TimeRange;
use crate::session::incident::Incident;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::compare::{Compare, presets};
use crate::ui::request::Request;

impl Compare {
    /// Draws it.
    pub(super) fn choose(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident) {
        ui.horizontal(|ui| {
            ui.set_height(crate::ui::theme::ROW + 4.0);
            let (a, b) = match frame.view.compare {
                Some((a, b)) => (Some(a), Some(b)),
                None => self.half,
            };
            let mut new = (a, b);
            new.0 = side(ui, frame, "A", a, None);
            new.1 = side(ui, frame, "B", b, self.other.window());
            if let (Some(a), Some(b)) = (a, b)
                && icons::button(ui, Icon::Redo, frame.words.text("compare-swap")).clicked()
                && self.other.incident().is_none()
            {
                new = (Some(b), Some(a));
            }
            if new != (a, b) {
                self.half = new;
                if let (Some(a), Some(b)) = new {
                    frame.ask(Request::Compare(Some((a, b))));
                }
            }
            presets_menu(ui, frame, incident);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                self.other.button(ui, frame);
                if frame.view.compare.is_some()
                    && icons::button(ui, Icon::Close, frame.words.text("compare-clear")).clicked()
                {
                    self.half = (None, None);
                    frame.ask(Request::Compare(None));
                }
            });
        });
    }
}

fn presets_menu(ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident) {
    let mut chosen = None;
    let button = ui.button(frame.words.text("compare-presets"));
    egui::Popup::menu(&button).show(|ui| {
        for preset in presets::all(frame, incident) {
            let entry = ui
                .button(frame.words.text(preset.word))
                .on_hover_text(presets::told(frame, preset.windows));
            if entry.clicked() {
                chosen = Some(preset.windows);
            }
        }
    });
    if let Some(windows) = chosen {
        frame.ask(Request::Compare(Some(windows)));
    }
}

/// One window with a menu of what it could be.
fn side(
    ui: &mut Ui,
    frame: &Frame<'_>,
    name: &str,
    now: Option<TimeRange>,
    whole: Option<TimeRange>,
) -> Option<TimeRange> {
    let text = now.map_or_else(
        || frame.words.text("compare-choose").to_owned(),
        |range| presets::text(frame, range),
    );
    let colour = if name == "A" {
        frame.tokens.text_dim
    } else {
        frame.tokens.accent
    };
    ui.label(RichText::new(name).strong().color(colour));
    let label = frame.words.with(
        "compare-side",
        &[("side", name.into()), ("range", (&text).into())],
    );
    let button = ui.button(RichText::new(&text).monospace().size(11.5));
    button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
    let mut chosen = now;
    egui::Popup::menu(&button).show(|ui| {
        let mut entry = |key: &str, range: Option<TimeRange>| {
            let Some(range) = range.filter(|r| r.nanos() > 0) else {
                return;
            };
            let text = presets::text(frame, range);
            let entry = ui.button(frame.words.text(key)).on_hover_text(text);
            if entry.clicked() {
                chosen = Some(range);
            }
        };
        entry("compare-use-measured", frame.view.measure);
        if whole.is_some() {
            entry("compare-use-other", whole);
        } else {
            entry("compare-use-shown", Some(frame.view.range));
            let whole = frame.incident.map(|i| i.document.window);
            entry("compare-use-whole", whole);
        }
        if frame.view.measure.is_none() {
            let hint = frame.words.text("compare-measure-hint");
            ui.label(RichText::new(hint).small().color(frame.tokens.text_faint));
        }
    });
    chosen
}
