//! The rows of a call tree: arrays with a column index that differs from version to version (`pinpoint.md` §4).

use serde_json::Value;

use super::value::{elements, measured, of, plain, shared, text, time, whole};
use crate::base::time::Timestamp;
use std::sync::Arc;

/// What a row is (`methodType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A method of a program.
    Method,
    /// The entry of a request into an application.
    Entry,
    /// The beginning of asynchronous work.
    Async,
    /// A placeholder for what the collector did not get.
    Corrupted,
    /// An exception, annotation or parameter of the row above it.
    Note,
}

/// One row, by name of its columns. What is absent is empty.
#[derive(Debug, Clone)]
pub(super) struct Row<'a> {
    pub(super) id: i64,
    pub(super) parent: Option<i64>,
    pub(super) role: Role,
    pub(super) begin: Option<Timestamp>,
    pub(super) end: Option<Timestamp>,
    pub(super) elapsed_ms: Option<f64>,
    pub(super) application: &'a str,
    pub(super) agent: &'a str,
    pub(super) agent_name: &'a str,
    pub(super) title: &'a str,
    pub(super) arguments: &'a str,
    pub(super) class: &'a str,
    pub(super) api_type: &'a str,
    /// Code of `methodType`: 1 is an exception.
    pub(super) code: i64,
    pub(super) has_exception: bool,
    pub(super) chain: String,
    /// The place of the row: `$.callStack[3]`.
    pub(super) at: String,
}

/// Where each column stands. Never by number: from 3.1 on every one has moved.
struct Columns<'a>(&'a Value);

impl Columns<'_> {
    fn get<'r>(&self, row: &'r [Value], name: &str) -> &'r Value {
        of(self.0, name)
            .as_u64()
            .and_then(|at| row.get(usize::try_from(at).ok()?))
            .unwrap_or(&Value::Null)
    }
}

/// Every row that has an id. The second number counts rows that have none or are no arrays.
pub(super) fn rows(value: &Value) -> (Vec<Row<'_>>, u64) {
    let columns = Columns(of(value, "callStackIndex"));
    let mut rows = Vec::new();
    let mut lost = 0;
    for (ix, cells) in elements(of(value, "callStack")).iter().enumerate() {
        match row(&columns, elements(cells), ix) {
            Some(row) => rows.push(row),
            None => lost += 1,
        }
    }
    (rows, lost)
}

fn row<'a>(columns: &Columns<'_>, cells: &'a [Value], ix: usize) -> Option<Row<'a>> {
    let get = |name: &str| columns.get(cells, name);
    let word = |name: &str| text(get(name)).unwrap_or_default().trim();
    let code = whole(get("methodType")).unwrap_or(0);
    let is_method = get("isMethod").as_bool() == Some(true);
    let api_type = word("apiType");
    let role = match code {
        900 => Role::Corrupted,
        _ if !is_method => Role::Note,
        100 => Role::Entry,
        200 => Role::Async,
        _ if api_type == "ASYNC" => Role::Async,
        _ => Role::Method,
    };
    Some(Row {
        id: whole(get("id"))?,
        parent: whole(get("parentId")),
        role,
        begin: time(get("begin")),
        end: time(get("end")),
        elapsed_ms: measured(get("elapsedTime")),
        application: word("applicationName"),
        agent: word("agent"),
        agent_name: word("agentName"),
        title: word("title"),
        arguments: word("arguments"),
        class: word("simpleClassName"),
        api_type,
        code,
        has_exception: get("hasException").as_bool() == Some(true),
        chain: plain(get("exceptionChainId")),
        at: format!("$.callStack[{ix}]"),
    })
}

impl Row<'_> {
    /// Whether the row is an exception: by its code, by its columns (3.0 gives exception rows the code 0), never by its
    /// name alone.
    pub(super) fn is_exception(&self) -> bool {
        self.role == Role::Note && (self.code == 1 || self.has_exception)
    }

    /// How long it took: what is said, else from begin to end. The flag says that it was negative.
    pub(super) fn length_ms(&self) -> (Option<f64>, bool) {
        let between = self
            .begin
            .zip(self.end)
            .map(|(begin, end)| end.nanos_since(begin) as f64 / 1e6);
        match (self.elapsed_ms, between) {
            // The API rounds what is under a millisecond to 0; begin and end are whole milliseconds, too.
            (Some(ms), _) => (Some(ms), false),
            (None, Some(ms)) if ms >= 0.0 => (Some(ms), false),
            (None, Some(_)) => (Some(0.0), true),
            (None, None) => (None, false),
        }
    }

    /// `HikariDataSource.getConnection`: class and method without its parameters.
    pub(super) fn operation(&self) -> Arc<str> {
        let method = self
            .title
            .split('(')
            .next()
            .unwrap_or(self.title)
            .trim_end();
        let method = if method.is_empty() {
            self.title
        } else {
            method
        };
        if self.class.is_empty() {
            shared(method)
        } else {
            shared(&format!("{}.{method}", self.class))
        }
    }
}
