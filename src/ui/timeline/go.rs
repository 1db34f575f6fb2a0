//! Going to a time that is typed.

use egui::{Key, Modal, Modifiers, TextEdit, Ui};

use crate::base::time::{Timestamp, Zone, parse_duration_nanos, parse_time, parse_time_or_now};
use crate::ui::frame::Frame;
use crate::ui::request::Request;
use crate::ui::timeline::Timeline;
use crate::ui::timeline::stage::Stage;

const DAY: i64 = 86_400_000_000_000;

/// What the field remembers while it is open.
#[derive(Debug, Default)]
pub(super) struct Go {
    is_open: bool,
    is_new: bool,
    is_wrong: bool,
    text: String,
}

impl Go {
    pub(super) fn open(&mut self) {
        *self = Self {
            is_open: true,
            is_new: true,
            ..Self::default()
        };
    }

    pub(super) const fn close(&mut self) -> bool {
        std::mem::replace(&mut self.is_open, false)
    }
}

impl Timeline {
    /// Draws the field when it is open.
    pub(super) fn go_ui(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage) {
        if !self.go.is_open {
            return;
        }
        let go = &mut self.go;
        let words = frame.words;
        let mut is_entered = false;
        let modal = Modal::new(egui::Id::unique("timeline-go")).show(ui.ctx(), |ui| {
            ui.set_width(360.0);
            ui.label(egui::RichText::new(words.text("timeline-go-title")).strong());
            is_entered = ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter));
            let field = ui.add(
                TextEdit::singleline(&mut go.text)
                    .hint_text(words.text("timeline-go-hint"))
                    .font(egui::TextStyle::Monospace)
                    .margin(egui::Margin::symmetric(8, 6))
                    .desired_width(f32::INFINITY),
            );
            if std::mem::take(&mut go.is_new) || !field.has_focus() {
                field.request_focus();
            }
            if field.changed() {
                go.is_wrong = false;
            }
            let (key, colour) = if go.is_wrong {
                ("timeline-go-wrong", frame.tokens.error)
            } else {
                ("timeline-go-help", frame.tokens.text_faint)
            };
            let zone = frame.zone.short_name(stage.drawn.start);
            let help = words.with(key, &[("zone", zone.as_str().into())]);
            ui.label(egui::RichText::new(help).small().color(colour));
        });
        if modal.should_close() {
            go.is_open = false;
        }
        if !is_entered || go.text.trim().is_empty() {
            return;
        }
        let near = frame.view.cursor.unwrap_or(stage.drawn.start);
        let end = stage.bounds.recording.end;
        let Some(t) = read(&go.text, frame.zone, near, stage.zero, end) else {
            go.is_wrong = true;
            return;
        };
        let area = stage.bounds.area();
        if t < area.start || t >= area.end {
            go.is_open = false;
            let text = words.text("timeline-go-outside").to_owned();
            return frame.ask(Request::Tell(text));
        }
        go.is_open = false;
        frame.ask(Request::Cursor(Some(t)));
        let range = stage.bounds.reveal(stage.bounds.fit(frame.view.range), t);
        if range != frame.view.range {
            frame.ask(Request::Range(range));
        }
    }
}

/// A time as people type it into the field: as on the command line; a clock alone, of the day that brings it nearest to what is
/// shown; or an offset (`+2m 10s`) from the start of the incident. `now` is the end of the recording.
fn read(
    text: &str,
    zone: &Zone,
    near: Timestamp,
    zero: Timestamp,
    end: Timestamp,
) -> Option<Timestamp> {
    let text = text.trim();
    for (sign, way) in [('+', 1), ('-', -1), ('−', -1)] {
        if let Some(rest) = text.strip_prefix(sign) {
            let length = parse_duration_nanos(&rest.replace(' ', ""))?;
            return Some(zero.plus_nanos(length.saturating_mul(way)));
        }
    }
    let is_clock = text.contains(':')
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, ':' | '.'));
    if is_clock {
        let (hour, rest) = text.split_once(':')?;
        let clock = format!("{hour:0>2}:{rest}");
        return [-1, 0, 1]
            .into_iter()
            .filter_map(|days: i64| {
                let day = zone.civil(near.plus_nanos(days * DAY)).date();
                parse_time(&format!("{day}T{clock}"), zone).ok()
            })
            .min_by_key(|t| t.nanos_since(near).unsigned_abs());
    }
    parse_time_or_now(text, zone, end).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).unwrap()
    }

    #[test]
    fn reads_what_people_type() {
        let near = at("2026-11-30T14:30:00Z");
        let zero = at("2026-11-30T14:29:10Z");
        let end = at("2026-11-30T15:00:00Z");
        let utc = |text: &str| read(text, &Zone::utc(), near, zero, end);
        assert_eq!(utc("14:29:10.5"), Some(at("2026-11-30T14:29:10.5Z")));
        assert_eq!(utc(" 9:05 "), Some(at("2026-11-30T09:05:00Z")));
        // Nearer on the next day.
        assert_eq!(utc("00:10"), Some(at("2026-12-01T00:10:00Z")));
        assert_eq!(utc("+2m 10s"), Some(at("2026-11-30T14:31:20Z")));
        assert_eq!(utc("-30s"), Some(at("2026-11-30T14:28:40Z")));
        assert_eq!(utc("2026-11-30 14:31"), Some(at("2026-11-30T14:31:00Z")));
        assert_eq!(
            utc("2026-11-30T23:31:00+09:00"),
            Some(at("2026-11-30T14:31:00Z"))
        );
        assert_eq!(utc("now-5m"), Some(at("2026-11-30T14:55:00Z")));
        assert_eq!(utc("soon"), None);
        assert_eq!(utc("25:99"), None);
        let seoul = Zone::parse("Asia/Seoul").unwrap();
        assert_eq!(
            read("23:29:10", &seoul, near, zero, end),
            Some(at("2026-11-30T14:29:10Z"))
        );
    }
}
