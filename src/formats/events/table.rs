//! Delimited text → records, and a row's cells → an event.

use std::sync::Arc;

use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::model::event::Event;
use crate::model::input::InputIx;

/// One record: the line that it begins on, and its cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
    /// Whether a quote in it is never closed.
    pub(super) is_open: bool,
}

/// A record of more cells than this is no table.
const MAX_CELLS: usize = 1_000;
/// The longest title; the rest goes to the text.
const MAX_TITLE: usize = 300;

/// The delimiter of a table: of comma, semicolon and tab the one that splits most lines into as many cells as the first.
pub(super) fn delimiter_of(text: &str) -> Option<char> {
    [',', ';', '\t']
        .into_iter()
        .filter_map(|delimiter| {
            let widths: Vec<usize> = records(text, delimiter)
                .take(20)
                .map(|r| r.cells.len())
                .collect();
            let first = widths.first().copied().filter(|w| *w >= 2)?;
            let same = widths.iter().filter(|w| **w == first).count();
            (same * 5 >= widths.len() * 3).then_some((same, first, delimiter))
        })
        .max_by_key(|(same, width, _)| (*same, *width))
        .map(|(_, _, delimiter)| delimiter)
}

/// The records of a table by RFC 4180; blank lines and lines that begin with `#` are passed over.
pub(super) fn records(text: &str, delimiter: char) -> impl Iterator<Item = Record> {
    let mut chars = text.chars().peekable();
    let mut line = 1;
    std::iter::from_fn(move || {
        loop {
            chars.peek()?;
            let record = one(&mut chars, delimiter, &mut line);
            let is_blank = record.cells.iter().all(|c| c.trim().is_empty());
            let is_comment =
                record.cells.first().is_some_and(|c| c.starts_with('#')) && record.cells.len() == 1;
            if !is_blank && !is_comment {
                return Some(record);
            }
        }
    })
}

fn one(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    delimiter: char,
    line: &mut u64,
) -> Record {
    let mut record = Record {
        line: *line,
        cells: Vec::new(),
        is_open: false,
    };
    let mut cell = String::new();
    let mut is_quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' if is_quoted => {
                if chars.peek() == Some(&'"') {
                    chars.next();
                    cell.push('"');
                } else {
                    is_quoted = false;
                }
            }
            '"' if cell.trim().is_empty() => {
                cell.clear();
                is_quoted = true;
            }
            '\n' => {
                *line += 1;
                if !is_quoted {
                    break;
                }
                cell.push(c);
            }
            c if c == delimiter && !is_quoted && record.cells.len() < MAX_CELLS => {
                record.cells.push(std::mem::take(&mut cell));
            }
            '\r' if !is_quoted && matches!(chars.peek(), Some('\n') | None) => {}
            c => cell.push(c),
        }
    }
    record.cells.push(cell);
    record.is_open = is_quoted;
    record
}

/// What an event is made of.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) locator: String,
    pub(super) kind: &'a str,
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    pub(super) source: &'a str,
    pub(super) attributes: serde_json::Map<String, serde_json::Value>,
}

/// An event; without a kind it is a change, without a title its text or its kind is the title.
pub(super) fn event(t: Timestamp, end: Option<Timestamp>, parts: Parts<'_>) -> Event {
    let kind = match parts.kind.trim() {
        "" => "change",
        kind => kind,
    };
    let (title, text) = match (parts.title.trim(), parts.text.trim()) {
        ("", "") => (kind, ""),
        ("", text) => (text, ""),
        (title, text) => (title, text),
    };
    let attributes = if parts.attributes.is_empty() {
        String::new()
    } else {
        serde_json::Value::Object(parts.attributes).to_string()
    };
    let short = shorten(title, MAX_TITLE);
    let text = if short.ends_with('…') && text.is_empty() {
        title
    } else {
        text
    };
    Event {
        input: InputIx::default(),
        locator: Arc::from(parts.locator),
        t,
        end: end.filter(|end| *end > t),
        kind: Arc::from(kind),
        title: Arc::from(short),
        text: Arc::from(text),
        source: Arc::from(parts.source.trim()),
        attributes: Arc::from(attributes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(text: &str, delimiter: char) -> Vec<Vec<String>> {
        records(text, delimiter).map(|r| r.cells).collect()
    }

    #[test]
    fn quotes_hold_delimiters_and_line_ends() {
        assert_eq!(
            cells("a,\"b, \"\"c\"\"\nd\",e\r\n# note\n\nf,g,h", ','),
            [["a", "b, \"c\"\nd", "e"], ["f", "g", "h"]]
        );
        let lines: Vec<u64> = records("a,\"b\nc\"\nd,e\n", ',').map(|r| r.line).collect();
        assert_eq!(lines, [1, 3]);
        assert!(records("a,\"b", ',').next().unwrap().is_open);
    }

    #[test]
    fn finds_the_delimiter() {
        assert_eq!(delimiter_of("a;b, c;d\n1;2;3\n"), Some(';'));
        assert_eq!(delimiter_of("a\tb\n1\t2\n"), Some('\t'));
        assert_eq!(delimiter_of("one line of words\nanother\n"), None);
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(rows in proptest::collection::vec(proptest::collection::vec("[a-z\",;\n ]{1,8}x", 2..5), 1..5)) {
            let text: String = rows
                .iter()
                .map(|row| {
                    let cells: Vec<String> = row.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
                    cells.join(",") + "\n"
                })
                .collect();
            prop_assert_eq!(cells(&text, ','), rows);
        }
    }
}
