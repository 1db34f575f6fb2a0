//! The tables of `contract.md` §4: names and columns, in order. `sql`, bundles and the Parquet export all follow this.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Text.
    Text,
    /// A whole number.
    Int,
    /// A number; durations are milliseconds in `*_ms`.
    Float,
    /// An instant, `Datetime(ns, UTC)`.
    Time,
}

/// One table.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// Its name in SQL.
    pub name: &'static str,
    /// One line of what a row is.
    pub doc: &'static str,
    /// Its columns, in order.
    pub columns: &'static [(&'static str, ColumnType)],
}

use ColumnType::{Float, Int, Text, Time};

/// Every table, in documentation order.
pub const TABLES: &[Table] = &[
    Table {
        name: "series",
        doc: "one time series",
        columns: &[
            ("series_id", Text),
            ("input", Text),
            ("metric", Text),
            ("labels", Text),
            ("kind", Text),
            ("unit", Text),
            ("interval_s", Float),
            ("samples", Int),
        ],
    },
    Table {
        name: "samples",
        doc: "one sample of a series",
        columns: &[("series_id", Text), ("t", Time), ("value", Float)],
    },
    Table {
        name: "spans",
        doc: "one span of a trace",
        columns: &[
            ("input", Text),
            ("trace_id", Text),
            ("span_id", Text),
            ("parent_id", Text),
            ("service", Text),
            ("operation", Text),
            ("kind", Text),
            ("start", Time),
            ("duration_ms", Float),
            ("connect_ms", Float),
            ("queue_ms", Float),
            ("peer", Text),
            ("status", Text),
            ("http_status", Int),
            ("error", Text),
            ("attributes", Text),
        ],
    },
    Table {
        name: "requests",
        doc: "one line of an access log",
        columns: &[
            ("input", Text),
            ("line", Int),
            ("t", Time),
            ("method", Text),
            ("path", Text),
            ("status", Int),
            ("duration_ms", Float),
            ("connect_ms", Float),
            ("header_ms", Float),
            ("response_ms", Float),
            ("upstream", Text),
            ("attempts", Int),
            ("bytes", Int),
            ("client", Text),
        ],
    },
    Table {
        name: "profiles",
        doc: "one profile or dump",
        columns: &[
            ("profile_id", Text),
            ("input", Text),
            ("t", Time),
            ("kind", Text),
            ("unit", Text),
            ("total", Float),
        ],
    },
    Table {
        name: "stacks",
        doc: "stacks of a profile that are alike",
        columns: &[
            ("profile_id", Text),
            ("stack_id", Text),
            ("state", Text),
            ("value", Float),
            ("wait_s", Float),
            ("frames", Text),
        ],
    },
    Table {
        name: "events",
        doc: "something that happened or was done",
        columns: &[
            ("input", Text),
            ("t", Time),
            ("end", Time),
            ("kind", Text),
            ("title", Text),
            ("text", Text),
            ("source", Text),
            ("attributes", Text),
        ],
    },
    Table {
        name: "log_lines",
        doc: "one line of a log",
        columns: &[
            ("input", Text),
            ("line", Int),
            ("t", Time),
            ("unit", Text),
            ("severity", Text),
            ("text", Text),
        ],
    },
    Table {
        name: "runs",
        doc: "one load test",
        columns: &[
            ("input", Text),
            ("run", Text),
            ("start", Time),
            ("end", Time),
            ("vusers", Float),
            ("tps_mean", Float),
            ("mean_ms", Float),
            ("p99_ms", Float),
            ("errors", Int),
            ("total", Int),
        ],
    },
    Table {
        name: "findings",
        doc: "one finding",
        columns: &[
            ("id", Text),
            ("kind", Text),
            ("start", Time),
            ("end", Time),
            ("onset", Time),
            ("severity", Text),
            ("confidence", Float),
            ("title", Text),
            ("detail", Text),
            ("entities", Text),
            ("values", Text),
            ("cause", Text),
            ("evidence", Text),
        ],
    },
    Table {
        name: "hypotheses",
        doc: "one possible cause",
        columns: &[
            ("id", Text),
            ("rank", Int),
            ("signature", Text),
            ("title", Text),
            ("score", Float),
            ("onset", Time),
            ("entities", Text),
            ("explains", Text),
            ("changes", Text),
            ("against", Text),
            ("missing", Text),
            ("next_checks", Text),
            ("coverage", Float),
        ],
    },
];
