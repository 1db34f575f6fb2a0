//! `tailscope sql`: SQL over everything that was read.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::base::text::shorten;
use crate::cli::Exit;
use crate::cli::args::{Reading, Span, open};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::export::csv::{cell, push_row};
use crate::store::sql::{self, Answer, SqlError};
use crate::store::tables::{Source, needs_analysis};

/// Arguments of `sql`.
#[derive(Debug, Args)]
#[command(
    override_usage = "tailscope sql [OPTIONS] <PATH>... <QUERY>",
    after_help = "Tables: series, samples, spans, requests, profiles, stacks, events, log_lines, runs, findings, hypotheses.\nOnly the tables that the query names are built; findings and hypotheses run the analysis first.\nTimes are in UTC and are written without a zone: t >= '2026-11-30 14:30:00'\n\nExample:\n  tailscope sql incident/ \"SELECT kind, count(*) AS n FROM findings GROUP BY kind ORDER BY n DESC\""
)]
pub(super) struct Sql {
    /// Folders, files, archives, patterns or `-`; then the query, in the dialect of Polars
    #[arg(value_name = "PATH> <QUERY", required = true, num_args = 2..)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    span: Span,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "table")]
    format: Form,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For a terminal; long cells are shortened
    Table,
    /// Comma-separated values with a header
    Csv,
    /// A list of objects
    Json,
    /// A Parquet file
    Parquet,
}

/// Columns of a cell in a table; the other forms have cells whole.
const CELL_WIDTH: usize = 60;

pub(super) fn run(command: &Sql, out: &mut Out) -> Result<Exit, CliError> {
    let (query, paths) = command
        .inputs
        .split_last()
        .ok_or_else(|| CliError::usage("no query"))?;
    if query.exists() {
        return Err(CliError::usage(format!(
            "the last argument is a file, not a query: {}",
            query.display()
        ))
        .hint("tailscope sql PATH… \"SELECT … FROM …\""));
    }
    let query = query
        .to_str()
        .ok_or_else(|| CliError::usage("the query is not UTF-8"))?;
    let named = sql::named_tables(query).map_err(|e| wrong(&e))?;
    let document = open(&command.reading, paths, &command.span, out)?;
    let report = if named.iter().any(|t| needs_analysis(t)) {
        Some(command.reading.with_jobs(|| document.report(None))?)
    } else {
        None
    };
    let source = Source {
        snapshot: &document.snapshot,
        findings: report.as_ref().map_or(&[], |r| &r.findings),
        hypotheses: report.as_ref().map_or(&[], |r| &r.hypotheses),
    };
    let answer = sql::run(&source, query).map_err(|e| wrong(&e))?;
    let bytes = match command.format {
        Form::Table => table(&answer).into_bytes(),
        Form::Csv => csv(&answer).into_bytes(),
        Form::Json => json(&answer)?,
        Form::Parquet => answer.parquet().map_err(|e| wrong(&e))?,
    };
    out.result(command.output.as_deref(), &bytes)?;
    Ok(if document.is_partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}

fn wrong(error: &SqlError) -> CliError {
    error
        .hints
        .iter()
        .fold(CliError::usage(error.what.clone()), |e, hint| e.hint(hint))
}

fn csv(answer: &Answer) -> String {
    let mut out = String::new();
    push_row(&mut out, answer.columns().into_iter());
    for row in 0..answer.height() {
        push_row(&mut out, answer.row(row).iter().map(cell));
    }
    out
}

fn json(answer: &Answer) -> Result<Vec<u8>, CliError> {
    let columns = answer.columns();
    let rows: Vec<Value> = (0..answer.height())
        .map(|row| {
            let pairs = columns.iter().cloned().zip(answer.row(row));
            Value::Object(pairs.collect::<Map<String, Value>>())
        })
        .collect();
    let mut bytes = serde_json::to_vec_pretty(&rows)
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Aligned columns: numbers to the right, words to the left.
fn table(answer: &Answer) -> String {
    let columns = answer.columns();
    let rows: Vec<Vec<Value>> = (0..answer.height()).map(|row| answer.row(row)).collect();
    let shown: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|v| shorten(&cell(v), CELL_WIDTH)).collect())
        .collect();
    let width = |at: usize| {
        shown
            .iter()
            .filter_map(|row| row.get(at))
            .chain(columns.get(at))
            .map(|c| c.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = String::new();
    let header: Vec<String> = columns
        .iter()
        .zip(&widths)
        .map(|(name, width)| format!("{name:<width$}"))
        .collect();
    push_line(&mut out, &header);
    let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    push_line(&mut out, &rule);
    for (row, cells) in rows.iter().zip(&shown) {
        let line: Vec<String> = row
            .iter()
            .zip(cells)
            .zip(&widths)
            .map(|((value, cell), width)| {
                if value.is_number() {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
            .collect();
        push_line(&mut out, &line);
    }
    let rows = crate::base::text::count(answer.height() as u64, "row", "rows");
    out.push('(');
    out.push_str(&rows);
    out.push_str(")\n");
    out
}

fn push_line(out: &mut String, cells: &[String]) {
    out.push_str(cells.join("  ").trim_end());
    out.push('\n');
}
