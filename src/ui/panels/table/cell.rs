//! Values as people read them: times in the zone of the window, numbers with units, labels without braces.

use std::fmt::Write as _;

use serde_json::Value;

use crate::base::text::{grouped, shorten};
use crate::base::time::{Timestamp, Zone};
use crate::store::tables::Column;
use crate::ui::panels::table::sheet::{Look, Sheet};
use crate::words::{Lang, Words};

/// Letters of a value that are laid out in a cell; a cell is never that wide.
const SHOWN: usize = 160;
/// Letters of a value that a tooltip holds.
const TOLD: usize = 1500;
/// JSON beyond this many bytes is shown as it is.
const READABLE_JSON: usize = 4096;

/// How instants are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock<'a> {
    zone: &'a Zone,
    origin: Option<Timestamp>,
    has_days: bool,
    words: &'a Words,
}

impl<'a> Clock<'a> {
    /// In a zone; or as seconds from an origin, when there is one.
    pub(super) fn new(zone: &'a Zone, origin: Option<Timestamp>, has_days: bool) -> Self {
        Self {
            zone,
            origin,
            has_days,
            words: Words::of(Lang::En),
        }
    }

    /// With the units of a language.
    #[must_use]
    pub(super) const fn in_words(mut self, words: &'a Words) -> Self {
        self.words = words;
        self
    }

    /// An instant, to the millisecond.
    pub(super) fn text(&self, nanos: i64) -> String {
        let t = Timestamp::from_nanos(nanos);
        if let Some(origin) = self.origin {
            return format!("{:+.3}{}", t.secs_since(origin), self.words.units().s);
        }
        let wall = self.zone.civil(t);
        let clock = format!(
            "{:02}:{:02}:{:02}.{:03}",
            wall.hour,
            wall.minute,
            wall.second,
            wall.subsec_nanos / 1_000_000
        );
        if self.has_days {
            format!("{:02}-{:02} {clock}", wall.month, wall.day)
        } else {
            clock
        }
    }
}

/// A value, ready to be painted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Cell {
    /// What it says; empty for nothing.
    pub(super) text: String,
    /// Its unit, of second rank.
    pub(super) unit: &'static str,
    /// Whether the cell holds less than the whole.
    pub(super) is_cut: bool,
}

/// One value of a sheet.
pub(super) fn cell(sheet: &Sheet, column: usize, row: usize, clock: &Clock<'_>) -> Cell {
    let Some(field) = sheet.fields.get(column) else {
        return Cell::default();
    };
    let plain = |text: String| Cell {
        text,
        ..Cell::default()
    };
    match &field.values {
        Column::Text(v) => {
            let Some(text) = v.get(row).and_then(Option::as_deref) else {
                return Cell::default();
            };
            let whole = if field.look == Look::Json {
                readable(text)
            } else {
                shorten(text, SHOWN)
            };
            Cell {
                is_cut: text.len() > SHOWN,
                text: shorten(&whole, SHOWN),
                unit: "",
            }
        }
        Column::Time(v) => match v.get(row).copied().flatten() {
            Some(t) => plain(clock.text(t)),
            None => Cell::default(),
        },
        Column::Int(v) => match v.get(row).copied().flatten() {
            Some(n) if field.look == Look::Bytes => plain(clock.words.units().bytes(n as f64)),
            Some(n) => plain(whole_number(&field.name, n)),
            None => Cell::default(),
        },
        Column::Float(v) => match v.get(row).copied().flatten() {
            Some(value) => float(clock.words, value, field.look, sheet.links.unit(row)),
            None => Cell::default(),
        },
    }
}

/// Numbers that name something (a line, a status) are not grouped.
fn whole_number(name: &str, n: i64) -> String {
    if name.contains("status") || name == "line" || name == "rank" {
        return n.to_string();
    }
    let sign = if n < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(n.unsigned_abs()))
}

fn float(words: &Words, value: f64, look: Look, unit: &str) -> Cell {
    match look {
        Look::Number(decimals, unit) if value.is_finite() => Cell {
            text: fixed(value, usize::from(decimals)),
            unit,
            is_cut: false,
        },
        _ => Cell {
            text: words.units().with_unit(value, unit),
            ..Cell::default()
        },
    }
}

/// `1,008.940`
fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = whole
        .parse::<u64>()
        .map_or_else(|_| whole.to_owned(), grouped);
    let sign = if value < 0.0 { "-" } else { "" };
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// A value without quotes.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// JSON objects as `name=value · name=value`, lists as `a, b`; anything else as it is.
pub(super) fn readable(text: &str) -> String {
    if text.len() > READABLE_JSON {
        return text.to_owned();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(map)) => {
            let pairs: Vec<String> = map
                .iter()
                .map(|(name, value)| format!("{name}={}", word(value)))
                .collect();
            pairs.join(" · ")
        }
        Ok(Value::Array(list)) => {
            let words: Vec<String> = list.iter().map(word).collect();
            words.join(", ")
        }
        _ => text.to_owned(),
    }
}

/// The whole of a value, for a tooltip.
pub(super) fn whole(sheet: &Sheet, column: usize, row: usize, clock: &Clock<'_>) -> String {
    let Some(field) = sheet.fields.get(column) else {
        return String::new();
    };
    match &field.values {
        Column::Text(v) => {
            let text = v.get(row).and_then(Option::as_deref).unwrap_or("");
            let lines = match field.look {
                Look::Json => readable(text).replace(" · ", "\n"),
                Look::Code => text.replace(';', "\n"),
                _ => text.to_owned(),
            };
            let more = lines.chars().count().saturating_sub(TOLD);
            let mut told: String = lines.chars().take(TOLD).collect();
            if more > 0 {
                write!(told, " … +{}", grouped(more as u64)).ok();
            }
            told
        }
        Column::Time(v) => match v.get(row).copied().flatten() {
            Some(t) => format!(
                "{}\n{}",
                clock.text(t),
                Timestamp::from_nanos(t).to_rfc3339()
            ),
            None => String::new(),
        },
        _ => raw(sheet, column, row),
    }
}

/// A value as it goes into a file or onto the clipboard: exact, times as RFC 3339.
pub(super) fn raw(sheet: &Sheet, column: usize, row: usize) -> String {
    match sheet.fields.get(column).map(|f| f.values.json(row)) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
    }
}

/// Rows as CSV (RFC 4180) with a header, at most `limit` of them.
pub(super) fn csv(sheet: &Sheet, rows: &[u32], limit: usize) -> String {
    let mut out = String::new();
    let names = sheet.fields.iter().map(|f| quoted(&f.name));
    out.push_str(&names.collect::<Vec<_>>().join(","));
    out.push_str("\r\n");
    for row in rows.iter().take(limit) {
        let cells =
            (0..sheet.fields.len()).map(|column| quoted(&raw(sheet, column, *row as usize)));
        out.push_str(&cells.collect::<Vec<_>>().join(","));
        out.push_str("\r\n");
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn sheet() -> Sheet {
        Sheet::new(vec![
            (
                "labels".to_owned(),
                Column::Text(vec![Some(Arc::from(r#"{"job":"a","pod":"b, c"}"#)), None]),
            ),
            (
                "duration_ms".to_owned(),
                Column::Float(vec![Some(1008.94), Some(-0.5)]),
            ),
            (
                "t".to_owned(),
                Column::Time(vec![Some(1_500_000_000), None]),
            ),
            ("bytes".to_owned(), Column::Int(vec![Some(2048), None])),
        ])
    }

    #[test]
    fn values_read_well() {
        let sheet = sheet();
        let zone = Zone::parse("+09:00").unwrap();
        let clock = Clock::new(&zone, None, false);
        let text = |column, row| cell(&sheet, column, row, &clock).text;
        assert_eq!(text(0, 0), "job=a · pod=b, c");
        assert_eq!(text(1, 0), "1,008.94");
        assert_eq!(text(1, 1), "-0.50");
        assert_eq!(text(2, 0), "09:00:01.500");
        assert_eq!(text(2, 1), "");
        assert_eq!(text(3, 0), "2 KiB");
        let origin = Clock::new(&zone, Some(Timestamp::from_nanos(1_000_000_000)), false);
        assert_eq!(cell(&sheet, 2, 0, &origin).text, "+0.500 s");
    }

    #[test]
    fn csv_is_exact_and_quoted() {
        assert_eq!(
            csv(&sheet(), &[1, 0], 10),
            "labels,duration_ms,t,bytes\r\n,-0.5,,\r\n\
             \"{\"\"job\"\":\"\"a\"\",\"\"pod\"\":\"\"b, c\"\"}\",1008.94,1970-01-01T00:00:01.5Z,2048\r\n"
        );
        assert_eq!(csv(&sheet(), &[1, 0], 1).lines().count(), 2);
    }
}
