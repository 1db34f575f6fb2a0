//! Snapshot and report → the columns of `contract.md` §4, exactly as [`crate::model::schema::TABLES`] lists them.
//!
//! No Polars in here: CSV needs none. [`super::sql`] makes frames of these columns.

use std::sync::Arc;

use serde::Serialize;

use crate::base::id::stable_id;
use crate::base::time::Timestamp;
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;
use crate::model::input::InputIx;
use crate::model::profile::Profile;
use crate::model::schema::{ColumnType, TABLES, Table};
use crate::model::series::{Series, is_stale_marker};
use crate::store::Snapshot;

/// The values of one column; `None` is null.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Text.
    Text(Vec<Option<Arc<str>>>),
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers.
    Float(Vec<Option<f64>>),
    /// Instants in nanoseconds since the epoch.
    Time(Vec<Option<i64>>),
}

impl Column {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(v) => v.len(),
            Self::Int(v) | Self::Time(v) => v.len(),
            Self::Float(v) => v.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds.
    pub const fn kind(&self) -> ColumnType {
        match self {
            Self::Text(_) => ColumnType::Text,
            Self::Int(_) => ColumnType::Int,
            Self::Float(_) => ColumnType::Float,
            Self::Time(_) => ColumnType::Time,
        }
    }

    /// One value as JSON, times as RFC 3339; `null` beyond the end and for what JSON cannot hold.
    pub fn json(&self, row: usize) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Self::Text(v) => v
                .get(row)
                .and_then(Option::as_deref)
                .map_or(Value::Null, Value::from),
            Self::Int(v) => v
                .get(row)
                .copied()
                .flatten()
                .map_or(Value::Null, Value::from),
            Self::Float(v) => v
                .get(row)
                .copied()
                .flatten()
                .map_or(Value::Null, Value::from),
            Self::Time(v) => v.get(row).copied().flatten().map_or(Value::Null, |t| {
                Timestamp::from_nanos(t).to_rfc3339().into()
            }),
        }
    }
}

/// What the tables are made from. Findings and hypotheses are given only where an analysis was run.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// All rows.
    pub snapshot: &'a Snapshot,
    /// Findings.
    pub findings: &'a [Finding],
    /// Hypotheses.
    pub hypotheses: &'a [Hypothesis],
}

/// The table of a name.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|t| t.name == name)
}

/// Whether a table can only be filled by an analysis.
pub fn needs_analysis(name: &str) -> bool {
    matches!(name, "findings" | "hypotheses")
}

/// The columns of a table, in order; `None` for a name that is no table's.
pub fn columns(source: &Source<'_>, name: &str) -> Option<Vec<Column>> {
    let snapshot = source.snapshot;
    Some(match name {
        "series" => series(snapshot),
        "samples" => samples(snapshot),
        "spans" => spans(snapshot),
        "requests" => requests(snapshot),
        "profiles" => profiles(snapshot),
        "stacks" => stacks(snapshot),
        "events" => events(snapshot),
        "findings" => findings(source.findings),
        "hypotheses" => hypotheses(source.hypotheses),
        other => empty(table(other)?),
    })
}

/// No rows: tables whose inputs this version does not read yet exist all the same.
fn empty(table: &Table) -> Vec<Column> {
    table
        .columns
        .iter()
        .map(|(_, kind)| match kind {
            ColumnType::Text => Column::Text(Vec::new()),
            ColumnType::Int => Column::Int(Vec::new()),
            ColumnType::Float => Column::Float(Vec::new()),
            ColumnType::Time => Column::Time(Vec::new()),
        })
        .collect()
}

fn text<T>(rows: &[T], value: impl Fn(&T) -> Arc<str>) -> Column {
    Column::Text(rows.iter().map(|row| Some(value(row))).collect())
}

/// Empty text is null: nothing was said.
fn said<T>(rows: &[T], value: impl Fn(&T) -> Arc<str>) -> Column {
    Column::Text(
        rows.iter()
            .map(|row| Some(value(row)).filter(|v| !v.is_empty()))
            .collect(),
    )
}

fn int<T>(rows: &[T], value: impl Fn(&T) -> Option<i64>) -> Column {
    Column::Int(rows.iter().map(value).collect())
}

fn float<T>(rows: &[T], value: impl Fn(&T) -> Option<f64>) -> Column {
    Column::Float(rows.iter().map(value).collect())
}

fn time<T>(rows: &[T], value: impl Fn(&T) -> Option<Timestamp>) -> Column {
    Column::Time(
        rows.iter()
            .map(|row| value(row).map(Timestamp::nanos))
            .collect(),
    )
}

fn json<T>(rows: &[T], value: impl Fn(&T) -> String) -> Column {
    Column::Text(rows.iter().map(|row| Some(value(row).into())).collect())
}

fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Paths of inputs, shared by their rows.
struct Paths(Vec<Arc<str>>);

impl Paths {
    fn of(snapshot: &Snapshot) -> Self {
        Self(
            snapshot
                .inputs
                .iter()
                .map(|i| Arc::from(i.path.as_str()))
                .collect(),
        )
    }

    fn get(&self, ix: InputIx) -> Arc<str> {
        self.0
            .get(ix.0 as usize)
            .map_or_else(|| Arc::from(""), Arc::clone)
    }
}

/// Stable: metric, labels and sampling tell series apart, and for evaluated ones the expression.
fn series_id(series: &Series) -> String {
    let sampling = format!("{:?}", series.sampling);
    let expr = if series.sampling.is_raw() {
        ""
    } else {
        series.expr.as_deref().unwrap_or("")
    };
    stable_id("s", [series.selector().as_str(), &sampling, expr])
}

fn series(snapshot: &Snapshot) -> Vec<Column> {
    let rows = &snapshot.series;
    let paths = Paths::of(snapshot);
    vec![
        json(rows, series_id),
        Column::Text(
            rows.iter()
                .map(|s| s.sources.first().map(|source| paths.get(source.input)))
                .collect(),
        ),
        text(rows, |s| Arc::clone(&s.metric)),
        json(rows, |s| s.labels.to_json()),
        json(rows, |s| s.kind.word().to_owned()),
        text(rows, |s| Arc::clone(&s.unit)),
        float(rows, |s| s.interval_nanos().map(|n| n as f64 / 1e9)),
        int(rows, |s| Some(count(s.points() as u64))),
    ]
}

/// Staleness markers say that a series ended and are no values: they are not in this table. Nor are native histograms,
/// which have no single value.
fn samples(snapshot: &Snapshot) -> Vec<Column> {
    let total = snapshot.series.iter().map(|s| s.t.len()).sum();
    let mut ids = Vec::with_capacity(total);
    let mut times = Vec::with_capacity(total);
    let mut values = Vec::with_capacity(total);
    for series in &snapshot.series {
        let id: Arc<str> = series_id(series).into();
        for (t, value) in series.t.iter().zip(&series.v) {
            if !is_stale_marker(*value) {
                ids.push(Some(Arc::clone(&id)));
                times.push(Some(*t));
                values.push(Some(*value));
            }
        }
    }
    vec![
        Column::Text(ids),
        Column::Time(times),
        Column::Float(values),
    ]
}

fn spans(snapshot: &Snapshot) -> Vec<Column> {
    let rows = &snapshot.spans;
    let paths = Paths::of(snapshot);
    vec![
        text(rows, |s| paths.get(s.input)),
        text(rows, |s| Arc::clone(&s.trace_id)),
        json(rows, |s| s.span_id.to_string()),
        Column::Text(
            rows.iter()
                .map(|s| s.parent_id.map(|id| id.to_string().into()))
                .collect(),
        ),
        text(rows, |s| Arc::clone(&s.service)),
        text(rows, |s| Arc::clone(&s.operation)),
        json(rows, |s| s.kind.word().to_owned()),
        time(rows, |s| Some(s.start)),
        float(rows, |s| s.duration_ms),
        float(rows, |s| s.connect_ms),
        float(rows, |s| s.queue_ms.map(crate::base::units::widen)),
        Column::Text(rows.iter().map(|s| s.peer.clone()).collect()),
        json(rows, |s| s.status.word().to_owned()),
        int(rows, |s| s.http_status.map(i64::from)),
        said(rows, |s| Arc::clone(&s.error)),
        said(rows, |s| Arc::clone(&s.attributes)),
    ]
}

fn requests(snapshot: &Snapshot) -> Vec<Column> {
    let rows = &snapshot.requests;
    let paths = Paths::of(snapshot);
    vec![
        text(rows, |r| paths.get(r.input)),
        int(rows, |r| Some(count(r.line))),
        time(rows, |r| Some(r.t)),
        said(rows, |r| Arc::clone(&r.method)),
        text(rows, |r| Arc::clone(&r.path)),
        int(rows, |r| r.status.map(i64::from)),
        float(rows, |r| r.duration_ms),
        float(rows, |r| r.connect_ms()),
        float(rows, |r| r.header_ms()),
        float(rows, |r| r.response_ms()),
        said(rows, |r| Arc::clone(&r.upstream)),
        int(rows, |r| Some(count(r.attempts.len() as u64))),
        int(rows, |r| r.bytes.map(count)),
        said(rows, |r| Arc::clone(&r.client)),
    ]
}

fn profile_id(snapshot: &Snapshot, profile: &Profile, ix: usize) -> String {
    let t = profile.t.map(Timestamp::to_rfc3339).unwrap_or_default();
    let ix = ix.to_string();
    stable_id(
        "p",
        [snapshot.input_id(profile.input), &profile.kind, &t, &ix],
    )
}

fn profiles(snapshot: &Snapshot) -> Vec<Column> {
    let rows: Vec<(usize, &Profile)> = snapshot.profiles.iter().enumerate().collect();
    let paths = Paths::of(snapshot);
    vec![
        json(&rows, |(ix, p)| profile_id(snapshot, p, *ix)),
        text(&rows, |(_, p)| paths.get(p.input)),
        time(&rows, |(_, p)| p.t),
        text(&rows, |(_, p)| Arc::clone(&p.kind)),
        text(&rows, |(_, p)| Arc::clone(&p.unit)),
        float(&rows, |(_, p)| Some(p.total)),
    ]
}

fn stacks(snapshot: &Snapshot) -> Vec<Column> {
    let mut rows = Vec::new();
    for (ix, profile) in snapshot.profiles.iter().enumerate() {
        let id: Arc<str> = profile_id(snapshot, profile, ix).into();
        for (at, group) in profile.groups.iter().enumerate() {
            rows.push((Arc::clone(&id), at, group));
        }
    }
    vec![
        text(&rows, |(id, ..)| Arc::clone(id)),
        json(&rows, |(id, at, _)| format!("{id}-{at}")),
        said(&rows, |(_, _, g)| Arc::clone(&g.state)),
        float(&rows, |(_, _, g)| Some(g.value)),
        float(&rows, |(_, _, g)| g.wait_s),
        json(&rows, |(_, _, g)| g.folded()),
    ]
}

fn events(snapshot: &Snapshot) -> Vec<Column> {
    let rows = &snapshot.events;
    let paths = Paths::of(snapshot);
    vec![
        text(rows, |e| paths.get(e.input)),
        time(rows, |e| Some(e.t)),
        time(rows, |e| e.end),
        text(rows, |e| Arc::clone(&e.kind)),
        text(rows, |e| Arc::clone(&e.title)),
        said(rows, |e| Arc::clone(&e.text)),
        said(rows, |e| Arc::clone(&e.source)),
        said(rows, |e| Arc::clone(&e.attributes)),
    ]
}

fn as_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn findings(rows: &[Finding]) -> Vec<Column> {
    vec![
        json(rows, |f| f.id.clone()),
        json(rows, |f| f.kind.word().to_owned()),
        time(rows, |f| Some(f.start)),
        time(rows, |f| f.end),
        time(rows, |f| Some(f.onset)),
        json(rows, |f| f.severity.word().to_owned()),
        float(rows, |f| Some(f.confidence)),
        json(rows, |f| f.title.clone()),
        json(rows, |f| f.detail.clone()),
        json(rows, |f| as_json(&f.entities)),
        json(rows, |f| as_json(&f.values)),
        Column::Text(
            rows.iter()
                .map(|f| f.cause.as_deref().map(Arc::from))
                .collect(),
        ),
        json(rows, |f| as_json(&f.evidence)),
    ]
}

fn hypotheses(rows: &[Hypothesis]) -> Vec<Column> {
    vec![
        json(rows, |h| h.id.clone()),
        int(rows, |h| Some(i64::from(h.rank))),
        json(rows, |h| h.signature.clone()),
        json(rows, |h| h.title.clone()),
        float(rows, |h| Some(h.score)),
        time(rows, |h| Some(h.onset)),
        json(rows, |h| as_json(&h.entities)),
        json(rows, |h| as_json(&h.explains)),
        json(rows, |h| as_json(&h.changes)),
        json(rows, |h| as_json(&h.against)),
        json(rows, |h| as_json(&h.missing)),
        json(rows, |h| as_json(&h.next_checks)),
        float(rows, |h| Some(h.coverage)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::labels::Labels;
    use crate::model::series::{STALE_NAN_BITS, Sampling};

    fn source(snapshot: &Snapshot) -> Source<'_> {
        Source {
            snapshot,
            findings: &[],
            hypotheses: &[],
        }
    }

    #[test]
    fn every_table_has_the_columns_of_the_contract() {
        let snapshot = Snapshot::default();
        for table in TABLES {
            let columns = columns(&source(&snapshot), table.name).unwrap();
            let kinds: Vec<ColumnType> = columns.iter().map(Column::kind).collect();
            let wanted: Vec<ColumnType> = table.columns.iter().map(|(_, kind)| *kind).collect();
            assert_eq!(kinds, wanted, "{}", table.name);
        }
        assert_eq!(columns(&source(&snapshot), "nothing"), None);
    }

    #[test]
    fn staleness_markers_are_no_samples() {
        let mut series = Series::new(Arc::from("up"), Labels::default(), Sampling::Raw);
        series.t = vec![1, 2];
        series.v = vec![1.0, f64::from_bits(STALE_NAN_BITS)];
        let snapshot = Snapshot {
            series: vec![series],
            ..Snapshot::default()
        };
        let columns = columns(&source(&snapshot), "samples").unwrap();
        assert_eq!(columns[2], Column::Float(vec![Some(1.0)]));
        assert_eq!(columns[1].json(0), "1970-01-01T00:00:00.000000001Z");
    }
}
