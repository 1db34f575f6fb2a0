//! Everything that is known of the picked span: its times, its calls, its attributes as a table that can be searched and copied.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Sense, TextEdit, Ui, vec2};

use super::cells::{self, Fonts};
use super::laid::call_of;
use super::row::length;
use super::say::signed;
use super::state::Show;
use crate::base::units;
use crate::model::span::Span;
use crate::session::target::Target;
use crate::session::view::Drawer;
use crate::store::calls::Call;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::GAP;

/// Height of an attribute.
const LINE: f32 = 20.0;
/// Width of names.
const NAMES: f32 = 96.0;

/// What the panel remembers.
#[derive(Debug, Default)]
pub(super) struct Details {
    filter: String,
    /// Generation and span whose attributes are taken apart.
    of: Option<(u64, usize)>,
    attributes: Vec<(String, String)>,
}

impl Details {
    /// Draws it for a row.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        show: &Show<'_>,
        row: Option<usize>,
    ) {
        let words = frame.words;
        let Some(row) = row else {
            ui.add_space(GAP);
            ui.label(RichText::new(words.text("trace-details-none")).color(frame.tokens.text_dim));
            return;
        };
        let pair = show.laid.tree.span_at(row).zip(show.span(row));
        let Some((at, span)) = pair else {
            ui.add_space(GAP);
            ui.label(super::say::row_name(frame, show, row, false));
            ui.label(RichText::new(words.text("trace-missing-hint")).color(frame.tokens.text_dim));
            return;
        };
        self.read(show.incident.generation, at, span);
        title(ui, frame, at, span);
        ui.spacing_mut().interact_size.y = 17.0;
        ScrollArea::vertical()
            .id_salt(("details", at))
            .auto_shrink(false)
            .show(ui, |ui| {
                facts(ui, frame, show, row, span);
                calls(ui, frame, show, at);
                ui.add_space(GAP);
                self.attributes(ui, frame);
            });
    }

    /// Takes the attributes apart, once for each span.
    fn read(&mut self, generation: u64, at: usize, span: &Span) {
        if self.of == Some((generation, at)) {
            return;
        }
        self.of = Some((generation, at));
        self.attributes = attributes_of(&span.attributes);
    }

    fn attributes(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let words = frame.words;
        let tokens = frame.tokens;
        ui.horizontal(|ui| {
            ui.strong(words.text("trace-attributes"));
            ui.label(
                RichText::new(self.attributes.len().to_string())
                    .small()
                    .color(tokens.text_faint),
            );
            if !self.attributes.is_empty()
                && icons::button(ui, Icon::Copy, words.text("trace-copy-attributes")).clicked()
            {
                let all: Vec<String> = self
                    .attributes
                    .iter()
                    .map(|(k, v)| format!("{k}\t{v}"))
                    .collect();
                frame.ask(Request::Copy(all.join("\n")));
                frame.ask(Request::Tell(words.text("trace-copied").to_owned()));
            }
        });
        if self.attributes.is_empty() {
            ui.label(RichText::new(words.text("trace-attributes-none")).color(tokens.text_dim));
            return;
        }
        ui.add(
            TextEdit::singleline(&mut self.filter)
                .hint_text(words.text("trace-attributes-search"))
                .desired_width(f32::INFINITY),
        );
        let needle = self.filter.trim().to_lowercase();
        let shown: Vec<&(String, String)> = self
            .attributes
            .iter()
            .filter(|(k, v)| {
                needle.is_empty()
                    || k.to_lowercase().contains(&needle)
                    || v.to_lowercase().contains(&needle)
            })
            .collect();
        if shown.is_empty() {
            ui.label(RichText::new(words.text("trace-attributes-no-match")).color(tokens.text_dim));
        }
        for (key, value) in shown {
            line(ui, frame, key, value);
        }
    }
}

/// The members of a flat JSON object, in its order; what is no object is one attribute without a name.
fn attributes_of(text: &str) -> Vec<(String, String)> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(serde_json::Value::Object(members)) => members
            .into_iter()
            .map(|(key, value)| match value {
                serde_json::Value::String(text) => (key, text),
                other => (key, other.to_string()),
            })
            .collect(),
        _ if text.trim().is_empty() => Vec::new(),
        _ => vec![(String::new(), text.to_owned())],
    }
}

/// Name, value, and a way to copy it; laid out only when it is on screen.
fn line(ui: &mut Ui, frame: &mut Frame<'_>, key: &str, value: &str) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), LINE), Sense::click());
    if !ui.is_rect_visible(rect) {
        return;
    }
    let tokens = frame.tokens;
    let hint = frame.words.text("trace-copy-value");
    response.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::Button, true, format!("{key}: {value}. {hint}"))
    });
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 3.0, tokens.hover);
    }
    let fonts = Fonts::of(ui);
    // The value gets what it needs up to the half, the name all the rest.
    let needs = cells::width(ui.painter(), value, &fonts.mono) + 8.0;
    let names = (rect.width() - needs).max(rect.width() * 0.5);
    let names = names.min(cells::width(ui.painter(), key, &fonts.small) + 10.0);
    let (left, right) = rect.split_left_right_at_x(rect.left() + names);
    cells::left(
        ui.painter(),
        left.shrink2(vec2(2.0, 0.0)),
        &[(key, &fonts.small, tokens.text_dim)],
    );
    cells::left(
        ui.painter(),
        right.shrink2(vec2(4.0, 0.0)),
        &[(value, &fonts.mono, tokens.text)],
    );
    let response = response.on_hover_ui(|ui| {
        ui.label(RichText::new(key).strong());
        ui.label(RichText::new(crate::base::text::shorten(value, 2_000)).monospace());
        ui.label(RichText::new(hint).small().color(tokens.text_faint));
    });
    if response.clicked() {
        frame.ask(Request::Copy(value.to_owned()));
        frame.ask(Request::Tell(frame.words.text("trace-copied").to_owned()));
    }
}

/// Service and operation, and where one can go from here.
fn title(ui: &mut Ui, frame: &mut Frame<'_>, at: usize, span: &Span) {
    let words = frame.words;
    let tokens = frame.tokens;
    ui.add_space(2.0);
    ui.add(Label::new(RichText::new(span.service.as_ref()).strong()).truncate());
    if span.operation != span.service {
        ui.add(
            Label::new(RichText::new(span.operation.as_ref()).color(tokens.text_dim)).truncate(),
        );
    }
    ui.horizontal_wrapped(|ui| {
        let timeline = ui.link(words.text("trace-to-timeline"));
        if timeline.clicked() {
            frame.ask(Request::Follow(Target::Span { span: at }));
            frame.ask(Request::DrawerFull(false));
        }
        let table = ui.link(words.text("trace-to-table"));
        if table
            .on_hover_text(words.text("trace-to-table-hint"))
            .clicked()
        {
            frame.ask(Request::Focus(FocusEdit::Table(
                "spans".to_owned(),
                span.operation.to_string(),
            )));
            frame.ask(Request::Drawer(Some(Drawer::Table)));
        }
    });
    ui.separator();
}

/// A name and a value in one line; a click copies the value.
fn fact(ui: &mut Ui, frame: &Frame<'_>, key: &str, value: &str, colour: Option<egui::Color32>) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(NAMES, 17.0), Sense::hover());
        let fonts = Fonts::of(ui);
        let name = frame.words.text(key);
        cells::left(
            ui.painter(),
            rect,
            &[(name, &fonts.small, frame.tokens.text_dim)],
        );
        let text = RichText::new(value)
            .monospace()
            .color(colour.unwrap_or(frame.tokens.text));
        ui.add(Label::new(text).truncate());
    });
}

fn facts(ui: &mut Ui, frame: &mut Frame<'_>, show: &Show<'_>, row: usize, span: &Span) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let tokens = frame.tokens;
    let Some(shown) = show.row(row) else {
        return;
    };
    if !span.error.is_empty() {
        ui.add(Label::new(RichText::new(span.error.as_ref()).color(tokens.error)).wrap());
        ui.add_space(2.0);
    }
    let offset = shown.times(show.clocks).start - show.laid.tree.extent(show.clocks).start;
    let start = format!(
        "{}  +{}",
        frame.zone.civil(span.start).clock_exact(),
        length(frame.words, offset)
    );
    fact(ui, frame, "trace-starts", &start, None);
    if shown.shift != 0 {
        fact(
            ui,
            frame,
            "trace-moved",
            &signed(frame.words, shown.shift),
            Some(tokens.warning),
        );
    }
    if shown.is_open {
        fact(
            ui,
            frame,
            "trace-col-duration",
            frame.words.text("trace-open"),
            Some(tokens.warning),
        );
    } else {
        fact(
            ui,
            frame,
            "trace-col-duration",
            &length(frame.words, shown.length),
            None,
        );
    }
    fact(
        ui,
        frame,
        "trace-col-own",
        &length(frame.words, shown.own),
        None,
    );
    let critical: i64 = show
        .laid
        .tree
        .critical(row, show.clocks)
        .iter()
        .map(|p| p.to - p.from)
        .sum();
    fact(
        ui,
        frame,
        "trace-critical",
        &length(frame.words, critical),
        None,
    );
    for (key, ms) in [
        ("trace-connect", span.connect_ms),
        ("trace-queue", span.queue_ms.map(units::widen)),
    ] {
        if let Some(ms) = ms {
            fact(ui, frame, key, &frame.words.units().ms(ms), None);
        }
    }
    let is_error = span.status.is_error();
    fact(
        ui,
        frame,
        "trace-status",
        span.status.word(),
        is_error.then_some(tokens.error),
    );
    if let Some(status) = span.http_status {
        fact(
            ui,
            frame,
            "trace-http",
            &status.to_string(),
            (status >= 400).then_some(tokens.error),
        );
    }
    if let Some(peer) = &span.peer {
        fact(ui, frame, "trace-peer", peer, None);
    }
    fact(ui, frame, "trace-kind", span.kind.word(), None);
    if !span.origin.is_empty() {
        fact(ui, frame, "trace-origin", &span.origin, None);
    }
    if span.is_inferred {
        fact(
            ui,
            frame,
            "trace-inferred",
            frame.words.text("trace-inferred-hint"),
            None,
        );
    }
    id(ui, frame, "trace-span-id", &span.span_id.to_string());
    if let Some(parent) = span.parent_id {
        id(ui, frame, "trace-parent-id", &parent.to_string());
    }
    id(ui, frame, "trace-trace-id", &Arc::clone(&span.trace_id));
    let path = show
        .snapshot()
        .inputs
        .get(span.input.0 as usize)
        .map(|i| i.path.as_str());
    if let Some(path) = path {
        fact(ui, frame, "trace-input", path, Some(tokens.text_dim));
    }
}

/// An id; a click copies it.
fn id(ui: &mut Ui, frame: &mut Frame<'_>, key: &str, value: &str) {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(NAMES, 17.0), Sense::hover());
        let fonts = Fonts::of(ui);
        cells::left(
            ui.painter(),
            rect,
            &[(frame.words.text(key), &fonts.small, frame.tokens.text_dim)],
        );
        let text = RichText::new(value)
            .monospace()
            .color(frame.tokens.text_dim);
        let label = ui.add(Label::new(text).truncate().sense(Sense::click()));
        if label
            .on_hover_text(frame.words.text("trace-copy-value"))
            .clicked()
        {
            frame.ask(Request::Copy(value.to_owned()));
            frame.ask(Request::Tell(frame.words.text("trace-copied").to_owned()));
        }
    });
}

/// The call that reached this span, or the calls that it made.
fn calls(ui: &mut Ui, frame: &Frame<'_>, show: &Show<'_>, at: usize) {
    let snapshot = show.snapshot();
    let range = show.laid.tree.first..show.laid.tree.first + show.laid.tree.rows.len();
    let made = crate::store::trace::calls_of(&snapshot.calls, &range)
        .iter()
        .filter(|call| call.caller == at)
        .take(12);
    let reached = call_of(snapshot, at);
    for call in reached.into_iter().chain(made) {
        call_ui(ui, frame, show, call, call.callee == at);
    }
}

/// One call: who, the gap with its two sides, and what must be known of it.
fn call_ui(ui: &mut Ui, frame: &Frame<'_>, show: &Show<'_>, call: &Call, is_callee: bool) {
    let words = frame.words;
    let tokens = frame.tokens;
    let other = if is_callee { call.caller } else { call.callee };
    let Some(span) = show.snapshot().spans.get(other) else {
        return;
    };
    ui.add_space(4.0);
    let key = if is_callee {
        "trace-called-by"
    } else {
        "trace-calls"
    };
    let who = words.with(key, &[("who", super::say::title(span).as_str().into())]);
    ui.add(Label::new(RichText::new(who).strong()).truncate());
    if let Some(gap) = call.gap_ms {
        fact(ui, frame, "trace-gap", &frame.words.units().ms(gap), None);
    }
    // By two clocks: with skew between them only the sum holds.
    if !call.is_skewed
        && let (Some(before), Some(after)) = (call.before_ms, call.after_ms)
    {
        fact(
            ui,
            frame,
            "trace-gap-before",
            &frame.words.units().ms(before),
            None,
        );
        fact(
            ui,
            frame,
            "trace-gap-after",
            &frame.words.units().ms(after),
            None,
        );
    }
    if call.attempts > 1 {
        fact(
            ui,
            frame,
            "trace-attempts",
            &call.attempts.to_string(),
            Some(tokens.warning),
        );
    }
    let notes = [
        (call.is_skewed, "trace-note-skewed"),
        (call.is_async, "trace-note-async"),
        (call.is_shared, "trace-note-shared"),
        (call.is_startup, "trace-note-startup"),
        (call.via_segment, "trace-note-segment"),
    ];
    for (is_so, key) in notes {
        if is_so {
            let text = RichText::new(words.text(key))
                .small()
                .color(tokens.text_dim);
            ui.add(Label::new(text).wrap());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::attributes_of;

    #[test]
    fn attributes_are_members_in_order() {
        let read = attributes_of(r#"{"b":"x","a":1,"c":{"d":[true]}}"#);
        let read: Vec<(&str, &str)> = read.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(read, [("b", "x"), ("a", "1"), ("c", r#"{"d":[true]}"#)]);
        assert_eq!(attributes_of("{}").len(), 0);
        assert_eq!(
            attributes_of("not json"),
            [(String::new(), "not json".to_owned())]
        );
    }
}
