//! SQL over the tables, in the dialect of Polars. Only the tables that a query names are built.

use std::panic::{AssertUnwindSafe, catch_unwind};

use polars::prelude::*;
use polars::sql::{SQLContext, extract_table_identifiers};
use serde_json::Value;

use crate::base::time::Timestamp;
use crate::model::schema::{ColumnType, TABLES, Table};
use crate::store::tables::{self, Column as Values, Source};

/// Why a query has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct SqlError {
    /// What is wrong.
    pub what: String,
    /// What there is instead: tables, or the columns of the tables that the query names.
    pub hints: Vec<String>,
}

/// The answer to a query.
#[derive(Debug, Clone)]
pub struct Answer {
    frame: DataFrame,
}

/// The tables that a query names, in order of first mention. An error for what is no SQL.
pub fn named_tables(query: &str) -> Result<Vec<String>, SqlError> {
    guarded(|| extract_table_identifiers(query, false, true)).map_err(|what| SqlError {
        what: format!("not a query: {what}"),
        hints: vec![format!("the tables are {}", table_names())],
    })
}

/// Runs one query.
pub fn run(source: &Source<'_>, query: &str) -> Result<Answer, SqlError> {
    let named = named_tables(query)?;
    let known: Vec<&Table> = TABLES
        .iter()
        .filter(|t| named.iter().any(|n| n == t.name))
        .collect();
    let outcome = guarded(|| {
        let mut context = SQLContext::new();
        for table in TABLES {
            let is_named = known.iter().any(|t| t.name == table.name);
            // Unnamed ones stand empty, for SHOW TABLES and for messages.
            let frame = if is_named {
                frame(source, table)?
            } else {
                empty_frame(table)?
            };
            context.register(table.name, frame.lazy());
        }
        context.execute(query)?.collect()
    });
    outcome
        .map(|frame| Answer { frame })
        .map_err(|what| with_hints(what, &known))
}

/// Polars answers some wrong queries with a panic; here it becomes an error like any other.
fn guarded<T>(work: impl FnOnce() -> PolarsResult<T>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            let words = error.to_string();
            // Polars adds its plan of execution after a blank line.
            let first = words.split("\n\n").next().unwrap_or(&words);
            Err(first.trim().replace('\n', " "))
        }
        Err(_) => Err("Polars gave up on this query".to_owned()),
    }
}

fn with_hints(what: String, known: &[&Table]) -> SqlError {
    let mut hints: Vec<String> = known
        .iter()
        .map(|t| {
            let names: Vec<&str> = t.columns.iter().map(|(name, _)| *name).collect();
            format!("{} has {}", t.name, names.join(", "))
        })
        .collect();
    if what.contains("datetime") || what.contains("Datetime") {
        hints.push(
            "times are in UTC; write them without a zone: t >= '2026-11-30 14:30:00'".to_owned(),
        );
    }
    if hints.is_empty() || what.contains("was not found") {
        hints.push(format!("the tables are {}", table_names()));
    }
    SqlError { what, hints }
}

fn table_names() -> String {
    let names: Vec<&str> = TABLES.iter().map(|t| t.name).collect();
    names.join(", ")
}

/// A table as a frame with exactly the columns and types of [`TABLES`].
fn frame(source: &Source<'_>, table: &Table) -> PolarsResult<DataFrame> {
    let columns = tables::columns(source, table.name).unwrap_or_default();
    let columns = table
        .columns
        .iter()
        .zip(columns)
        .map(|((name, _), values)| column(name, values))
        .collect::<PolarsResult<Vec<Column>>>()?;
    DataFrame::new_infer_height(columns)
}

fn empty_frame(table: &Table) -> PolarsResult<DataFrame> {
    let columns = table
        .columns
        .iter()
        .map(|(name, kind)| Series::new_empty((*name).into(), &data_type(*kind)).into_column())
        .collect();
    DataFrame::new(0, columns)
}

fn data_type(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Text => DataType::String,
        ColumnType::Int => DataType::Int64,
        ColumnType::Float => DataType::Float64,
        ColumnType::Time => DataType::Datetime(TimeUnit::Nanoseconds, Some(TimeZone::UTC)),
    }
}

fn column(name: &str, values: Values) -> PolarsResult<Column> {
    let series = match values {
        Values::Text(v) => {
            StringChunked::from_iter_options(name.into(), v.iter().map(Option::as_deref))
                .into_series()
        }
        Values::Int(v) => Series::new(name.into(), v),
        Values::Float(v) => Series::new(name.into(), v),
        Values::Time(v) => Series::new(name.into(), v).cast(&data_type(ColumnType::Time))?,
    };
    Ok(series.into_column())
}

/// A table as the bytes of a Parquet file.
pub fn table_parquet(source: &Source<'_>, table: &Table) -> Result<Vec<u8>, SqlError> {
    guarded(|| frame(source, table).and_then(|mut f| to_parquet(&mut f))).map_err(|what| SqlError {
        what,
        hints: Vec::new(),
    })
}

fn to_parquet(frame: &mut DataFrame) -> PolarsResult<Vec<u8>> {
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes).finish(frame)?;
    Ok(bytes)
}

impl Answer {
    /// The names of the columns, in order.
    pub fn columns(&self) -> Vec<String> {
        self.frame
            .columns()
            .iter()
            .map(|c| c.name().to_string())
            .collect()
    }

    /// How many rows there are.
    pub fn height(&self) -> usize {
        self.frame.height()
    }

    /// One row, times as RFC 3339.
    pub fn row(&self, row: usize) -> Vec<Value> {
        self.frame
            .columns()
            .iter()
            .map(|c| c.get(row).map_or(Value::Null, |v| to_json(&v)))
            .collect()
    }

    /// The columns with their names, as those of the tables are; what they cannot hold becomes text.
    pub fn values(&self) -> Vec<(String, Values)> {
        self.frame
            .columns()
            .iter()
            .map(|c| (c.name().to_string(), typed(c)))
            .collect()
    }

    /// As the bytes of a Parquet file.
    pub fn parquet(&self) -> Result<Vec<u8>, SqlError> {
        let mut frame = self.frame.clone();
        guarded(|| to_parquet(&mut frame)).map_err(|what| SqlError {
            what,
            hints: Vec::new(),
        })
    }
}

fn typed(column: &Column) -> Values {
    let found = match column.dtype() {
        kind if kind.is_integer() => column
            .cast(&DataType::Int64)
            .and_then(|c| Ok(Values::Int(c.i64()?.iter().collect()))),
        kind if kind.is_float() => column
            .cast(&DataType::Float64)
            .and_then(|c| Ok(Values::Float(c.f64()?.iter().collect()))),
        DataType::Datetime(unit, _) => {
            let scale = match unit {
                TimeUnit::Nanoseconds => 1,
                TimeUnit::Microseconds => 1_000,
                TimeUnit::Milliseconds => 1_000_000,
            };
            column.cast(&DataType::Int64).and_then(|c| {
                let nanos = c.i64()?.iter();
                let nanos = nanos.map(|t| t.map(|t: i64| t.saturating_mul(scale)));
                Ok(Values::Time(nanos.collect()))
            })
        }
        _ => Ok(Values::Text(
            (0..column.len()).map(|row| as_text(column, row)).collect(),
        )),
    };
    found.unwrap_or_else(|_| Values::Text(vec![None; column.len()]))
}

fn as_text(column: &Column, row: usize) -> Option<Arc<str>> {
    match to_json(&column.get(row).ok()?) {
        Value::Null => None,
        Value::String(text) => Some(text.into()),
        other => Some(other.to_string().into()),
    }
}

fn to_json(value: &AnyValue<'_>) -> Value {
    match value {
        AnyValue::Null => Value::Null,
        AnyValue::Boolean(v) => (*v).into(),
        AnyValue::String(v) => (*v).into(),
        AnyValue::StringOwned(v) => v.as_str().into(),
        AnyValue::UInt8(v) => (*v).into(),
        AnyValue::UInt16(v) => (*v).into(),
        AnyValue::UInt32(v) => (*v).into(),
        AnyValue::UInt64(v) => (*v).into(),
        AnyValue::Int8(v) => (*v).into(),
        AnyValue::Int16(v) => (*v).into(),
        AnyValue::Int32(v) => (*v).into(),
        AnyValue::Int64(v) => (*v).into(),
        AnyValue::Float32(v) => (*v).into(),
        AnyValue::Float64(v) => (*v).into(),
        AnyValue::Datetime(t, unit, zone) => time(*t, *unit, zone.is_some()),
        AnyValue::DatetimeOwned(t, unit, zone) => time(*t, *unit, zone.is_some()),
        AnyValue::List(series) => list(series),
        other => other.to_string().into(),
    }
}

fn list(series: &Series) -> Value {
    Value::Array(series.iter().map(|v| to_json(&v)).collect())
}

fn time(t: i64, unit: TimeUnit, has_zone: bool) -> Value {
    let nanos = match unit {
        TimeUnit::Nanoseconds => t,
        TimeUnit::Microseconds => t.saturating_mul(1_000),
        TimeUnit::Milliseconds => t.saturating_mul(1_000_000),
    };
    let text = Timestamp::from_nanos(nanos).to_rfc3339();
    if has_zone {
        text.into()
    } else {
        text.trim_end_matches('Z').into()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::labels::Labels;
    use crate::model::series::{Sampling, Series as Metric};
    use crate::store::Snapshot;

    fn snapshot() -> Snapshot {
        let mut series = Metric::new(Arc::from("up"), Labels::of(&[("job", "a")]), Sampling::Raw);
        series.t = vec![1_000_000_000, 2_000_000_000, 3_500_000_000];
        series.v = vec![1.0, 0.0, f64::NAN];
        Snapshot {
            series: vec![series],
            ..Snapshot::default()
        }
    }

    fn ask(query: &str) -> Result<Answer, SqlError> {
        let snapshot = snapshot();
        let source = Source {
            snapshot: &snapshot,
            findings: &[],
            hypotheses: &[],
        };
        run(&source, query)
    }

    #[test]
    fn an_answer_is_columns_again() {
        let answer = ask("SELECT t, value, series_id, 1 AS one FROM samples").unwrap();
        let values = answer.values();
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["t", "value", "series_id", "one"]);
        let kinds: Vec<ColumnType> = values.iter().map(|(_, v)| v.kind()).collect();
        assert_eq!(
            kinds,
            [
                ColumnType::Time,
                ColumnType::Float,
                ColumnType::Text,
                ColumnType::Int
            ]
        );
        assert_eq!(values[0].1.json(2), "1970-01-01T00:00:03.5Z");
    }

    #[test]
    fn every_frame_has_the_columns_and_types_of_the_contract() {
        let snapshot = snapshot();
        let source = Source {
            snapshot: &snapshot,
            findings: &[],
            hypotheses: &[],
        };
        for table in TABLES {
            let full = frame(&source, table).unwrap();
            let wanted: Vec<(String, DataType)> = table
                .columns
                .iter()
                .map(|(name, kind)| ((*name).to_owned(), data_type(*kind)))
                .collect();
            for frame in [full, empty_frame(table).unwrap()] {
                let got: Vec<(String, DataType)> = frame
                    .columns()
                    .iter()
                    .map(|c| (c.name().to_string(), c.dtype().clone()))
                    .collect();
                assert_eq!(got, wanted, "{}", table.name);
            }
        }
    }

    #[test]
    fn answers_joins_filters_and_times() {
        let answer = ask(
            "SELECT s.metric, x.t, x.value FROM samples x JOIN series s ON s.series_id = x.series_id \
             WHERE x.t >= '1970-01-01 00:00:02' ORDER BY x.t",
        )
        .unwrap();
        assert_eq!(answer.columns(), ["metric", "t", "value"]);
        assert_eq!(answer.height(), 2);
        assert_eq!(answer.row(0)[1], "1970-01-01T00:00:02Z");
        assert_eq!(answer.row(1)[2], Value::Null);
    }

    #[test]
    fn empty_tables_are_there() {
        let answer = ask("SELECT count(*) AS n FROM log_lines").unwrap();
        assert_eq!(answer.row(0), [Value::from(0)]);
        assert!(ask("SHOW TABLES").unwrap().height() >= TABLES.len());
    }

    #[test]
    fn wrong_names_list_the_right_ones() {
        let table = ask("SELECT * FROM sample").unwrap_err();
        assert!(
            table.hints.iter().any(|h| h.contains("samples")),
            "{table:?}"
        );
        let column = ask("SELECT valu FROM samples").unwrap_err();
        assert!(
            column
                .hints
                .iter()
                .any(|h| h.contains("series_id, t, value")),
            "{column:?}"
        );
        assert!(!column.what.contains('\n'));
        let zone = ask("SELECT t FROM samples WHERE t >= '2026-11-30T14:30:00Z'").unwrap_err();
        assert!(
            zone.hints.iter().any(|h| h.contains("without a zone")),
            "{zone:?}"
        );
        let syntax = ask("SELEKT 1").unwrap_err();
        assert!(!syntax.hints.is_empty());
    }

    #[test]
    fn parquet_reads_back() {
        let bytes = ask("SELECT * FROM samples").unwrap().parquet().unwrap();
        let frame = ParquetReader::new(std::io::Cursor::new(bytes))
            .finish()
            .unwrap();
        assert_eq!(frame.height(), 3);
        assert_eq!(frame.columns()[1].dtype(), &data_type(ColumnType::Time));
    }
}
