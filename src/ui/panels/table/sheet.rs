//! What the grid shows: the columns of one table, or of the answer to a query, with how each is written and how wide it begins.

use std::sync::Arc;

use crate::base::time::{TimeRange, Timestamp};
use crate::model::schema::ColumnType;
use crate::session::incident::Incident;
use crate::store::tables::{self, Column, Source};
use crate::ui::panels::table::filter::Known;
use crate::ui::panels::table::links::Links;

/// How the values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// As it is.
    Text,
    /// An object in JSON, as `name=value`.
    Json,
    /// Ids and hashes: letters of one width.
    Code,
    /// One of the severities, in its colour.
    Severity,
    /// A whole number.
    Int,
    /// A count of bytes.
    Bytes,
    /// A number with that many decimals, and a unit.
    Number(u8, &'static str),
    /// A number of any size.
    AnyNumber,
    /// An instant.
    Time,
}

impl Look {
    /// Whether it stands at the right.
    pub(super) const fn is_right(self) -> bool {
        matches!(
            self,
            Self::Int | Self::Bytes | Self::Number(..) | Self::AnyNumber
        )
    }

    /// Whether its letters are of one width.
    pub(super) const fn is_mono(self) -> bool {
        self.is_right() || matches!(self, Self::Time | Self::Code)
    }
}

/// One column.
#[derive(Debug)]
pub(super) struct Field {
    /// Its name, as SQL and filters write it.
    pub(super) name: String,
    /// Its values.
    pub(super) values: Column,
    /// How they are written.
    pub(super) look: Look,
    /// Its width at first, in points.
    pub(super) width: f32,
}

/// A table in memory.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    /// Its columns.
    pub(super) fields: Vec<Field>,
    /// Text that belongs to the rows and has no column of its own: the selector of a series.
    pub(super) hidden: Option<Column>,
    /// How many rows it has.
    pub(super) rows: usize,
    /// Where its rows lead.
    pub(super) links: Links,
    /// The columns of begin and end, when rows have a time.
    pub(super) span: Option<(usize, Option<usize>)>,
    /// The length of a row in milliseconds, when it has no end of its own.
    pub(super) length: Option<usize>,
    /// Whether its times lie on more than one day.
    pub(super) has_days: bool,
}

impl Sheet {
    /// One table of the incident. Runs on a worker.
    pub(super) fn of(incident: &Incident, table: &'static str) -> Self {
        let source = Source {
            snapshot: incident.snapshot(),
            findings: incident.findings(),
            hypotheses: incident.hypotheses(),
        };
        let columns = tables::columns(&source, table).unwrap_or_default();
        let names = tables::table(table).map_or(&[][..], |t| t.columns);
        let links = Links::of(incident, table);
        let mut named: Vec<(String, Column)> = names
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .zip(columns)
            .collect();
        if let Some(words) = links.words(named.first().map_or(0, |(_, c)| c.len())) {
            named.insert(0, (links.word_name().to_owned(), words));
        }
        // The first column stays while the others scroll: what a row is, or when. Ids and origins say little and come last.
        named.sort_by_key(|(name, _)| match name.as_str() {
            "t" | "start" => 0,
            name if name == links.word_name() => 0,
            "onset" if table == "hypotheses" => 0,
            "input" | "line" => 3,
            "id" => 2,
            name if name.ends_with("_id") => 2,
            _ => 1,
        });
        let mut sheet = Self::new(named);
        sheet.hidden = links.selectors();
        sheet.links = links;
        sheet
    }

    /// From columns with their names.
    pub(super) fn new(columns: Vec<(String, Column)>) -> Self {
        let rows = columns.first().map_or(0, |(_, values)| values.len());
        let fields: Vec<Field> = columns
            .into_iter()
            .map(|(name, values)| {
                let look = look(&name, &values);
                let width = width(&name, &values, look);
                Field {
                    name,
                    values,
                    look,
                    width,
                }
            })
            .collect();
        let time = |names: &[&str]| {
            names.iter().find_map(|name| {
                fields
                    .iter()
                    .position(|f| f.name == *name && f.look == Look::Time)
            })
        };
        let span = time(&["t", "start", "onset"]).map(|start| (start, time(&["end"])));
        let length = fields
            .iter()
            .position(|f| f.name == "duration_ms")
            .filter(|_| time(&["start"]).is_some());
        let has_days = fields.iter().any(|f| is_long(&f.values));
        Self {
            fields,
            rows,
            span,
            length,
            has_days,
            ..Self::default()
        }
    }

    /// What a filter may name.
    pub(super) fn known(&self) -> Vec<Known> {
        self.fields
            .iter()
            .map(|f| Known {
                name: f.name.clone(),
                kind: f.values.kind(),
                is_json: f.look == Look::Json,
            })
            .collect()
    }

    /// The time of a row, from begin to end.
    pub(super) fn range(&self, row: usize) -> Option<TimeRange> {
        let (start, end) = self.span?;
        let at = |column: usize| match &self.fields.get(column)?.values {
            Column::Time(v) => v.get(row).copied().flatten().map(Timestamp::from_nanos),
            _ => None,
        };
        let start = at(start)?;
        let length = || match &self.fields.get(self.length?)?.values {
            Column::Float(v) => v.get(row).copied().flatten(),
            _ => None,
        };
        let end = end
            .and_then(at)
            .unwrap_or_else(|| start.plus_nanos(length().map_or(0, |ms| (ms * 1e6) as i64)));
        Some(TimeRange::new(start, end))
    }

    /// The first time in it, for filters that name only a clock.
    pub(super) fn day(&self) -> Option<Timestamp> {
        let (start, _) = self.span?;
        match &self.fields.get(start)?.values {
            Column::Time(v) => v
                .iter()
                .flatten()
                .next()
                .copied()
                .map(Timestamp::from_nanos),
            _ => None,
        }
    }
}

/// How many rows each table has, in order of `TABLES`. Runs on a worker.
pub(super) fn counts(incident: &Incident) -> Vec<usize> {
    let snapshot = incident.snapshot();
    crate::model::schema::TABLES
        .iter()
        .map(|table| match table.name {
            "series" => snapshot.series.len(),
            "samples" => {
                let values = snapshot.series.iter().flat_map(|s| &s.v);
                values
                    .filter(|v| !crate::model::series::is_stale_marker(**v))
                    .count()
            }
            "spans" => snapshot.spans.len(),
            "requests" => snapshot.requests.len(),
            "profiles" => snapshot.profiles.len(),
            "stacks" => snapshot.profiles.iter().map(|p| p.groups.len()).sum(),
            "events" => snapshot.events.len(),
            "findings" => incident.findings().len(),
            "hypotheses" => incident.hypotheses().len(),
            _ => 0,
        })
        .collect()
}

/// Rows that are looked at to learn how a column is written: some of the whole length.
const SAMPLE: usize = 400;

fn some_rows(rows: usize) -> impl Iterator<Item = usize> {
    (0..rows).step_by((rows / SAMPLE).max(1))
}

fn look(name: &str, values: &Column) -> Look {
    match values {
        Column::Time(_) => Look::Time,
        Column::Int(_) if name == "bytes" => Look::Bytes,
        Column::Int(_) => Look::Int,
        Column::Text(v) => {
            let is_json = some_rows(v.len())
                .filter_map(|row| v.get(row)?.as_deref())
                .take(8)
                .any(|text| text.starts_with('{') || text.starts_with('['));
            match name {
                "severity" => Look::Severity,
                _ if is_json => Look::Json,
                "id" | "frames" => Look::Code,
                _ if name.ends_with("_id") => Look::Code,
                _ => Look::Text,
            }
        }
        Column::Float(v) => float_look(name, v),
    }
}

fn float_look(name: &str, values: &[Option<f64>]) -> Look {
    let unit = if name.ends_with("_ms") {
        "ms"
    } else if name.ends_with("_s") {
        "s"
    } else {
        ""
    };
    let seen: Vec<f64> = some_rows(values.len())
        .filter_map(|row| *values.get(row)?)
        .filter(|v| v.is_finite())
        .collect();
    let largest = seen.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    if unit.is_empty() && (name == "value" || largest >= 1e9) {
        return Look::AnyNumber;
    }
    let fits = |decimals: u8| {
        let scale = 10f64.powi(i32::from(decimals));
        seen.iter()
            .all(|v| ((v * scale).round() / scale - v).abs() <= 1e-9 * v.abs().max(1.0))
    };
    let decimals = (0..3).find(|d| fits(*d)).unwrap_or(3);
    Look::Number(decimals, unit)
}

/// Points for each letter: of the fixed font at 12 pt, and about what Ubuntu takes at 13 pt.
const LETTER: f32 = 7.25;

fn width(name: &str, values: &Column, look: Look) -> f32 {
    let letters = match look {
        Look::Time => 12,
        Look::AnyNumber | Look::Bytes => 11,
        Look::Severity => 8,
        Look::Int | Look::Number(..) => some_rows(values.len())
            .map(|row| number_letters(values, row, look))
            .max()
            .unwrap_or(0),
        Look::Text | Look::Json | Look::Code => some_rows(values.len())
            .map(|row| text_letters(values, row))
            .max()
            .unwrap_or(0)
            .min(if look == Look::Text { 40 } else { 32 }),
    };
    let header = name.chars().count() + 3;
    (letters.max(header).max(5) as f32 * LETTER + 18.0).ceil()
}

fn text_letters(values: &Column, row: usize) -> usize {
    match values {
        Column::Text(v) => v
            .get(row)
            .and_then(Option::as_deref)
            .map_or(0, |text| text.chars().take(48).count()),
        _ => 0,
    }
}

fn number_letters(values: &Column, row: usize, look: Look) -> usize {
    let whole = match values {
        Column::Int(v) => v.get(row).copied().flatten().map(|n| n.unsigned_abs()),
        Column::Float(v) => v.get(row).copied().flatten().map(|n| n.abs() as u64),
        _ => None,
    };
    let digits = whole.map_or(1, |n| crate::base::text::grouped(n).len() + 1);
    match look {
        Look::Number(0, unit) => digits + unit.len() + 1,
        Look::Number(decimals, unit) => digits + usize::from(decimals) + unit.len() + 2,
        _ => digits,
    }
}

/// Whether times lie a day or more apart.
fn is_long(values: &Column) -> bool {
    let Column::Time(v) = values else {
        return false;
    };
    let (mut low, mut high) = (i64::MAX, i64::MIN);
    for t in v.iter().flatten() {
        low = low.min(*t);
        high = high.max(*t);
    }
    high.saturating_sub(low) >= 86_400 * 1_000_000_000 && high > low
}

/// Text for each row, by a function of its number.
pub(super) fn text_column(rows: usize, value: impl Fn(usize) -> Option<Arc<str>>) -> Column {
    Column::Text((0..rows).map(value).collect())
}

/// What a column holds, for people.
pub(super) const fn kind_word(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Text => "text",
        ColumnType::Int => "int",
        ColumnType::Float => "float",
        ColumnType::Time => "time",
    }
}
