//! `tailscope export`: the incident timeline as a file.

use std::path::PathBuf;

use clap::Args;

use crate::base::clock::{Clock as _, SystemClock};
use crate::cli::Exit;
use crate::cli::args::{Inputs, Lang, Span};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::export::{self, Exporter, Material};

/// Arguments of `export`.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    span: Span,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
    /// Form: text, md, html, json, csv or parquet [default: by the ending of FILE]
    #[arg(long, value_parser = form)]
    format: Option<&'static dyn Exporter>,
    /// The table that csv (default: the timeline) or parquet (default: findings) shall hold
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Language of text, md and html; what programs read stays English
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    lang: Lang,
    /// Put the time of writing into the report
    #[arg(long)]
    stamp: bool,
}

fn form(text: &str) -> Result<&'static dyn Exporter, String> {
    export::by_id(text).ok_or_else(|| format!("expected one of {}", export::names()))
}

impl std::fmt::Debug for dyn Exporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

pub(super) fn run(command: &Export, out: &mut Out) -> Result<Exit, CliError> {
    let exporter = command
        .format
        .or_else(|| export::by_path(&command.output))
        .ok_or_else(|| {
            CliError::usage(format!(
                "the ending of {} is of no known form",
                command.output.display()
            ))
            .hint(format!("give --format: one of {}", export::names()))
        })?;
    let document = command.inputs.open(&command.span, out)?;
    let stamp = command.stamp.then(|| SystemClock.now());
    let report = command
        .inputs
        .reading
        .with_jobs(|| document.report(stamp))?;
    let material = Material {
        report: &report,
        snapshot: &document.snapshot,
        notes: None,
    };
    let mut look = out.look(Some(&command.output));
    look.table.clone_from(&command.table);
    look.lang = command.lang.into();
    let bytes = exporter
        .write(&material, &look)
        .map_err(|e| CliError::usage(e.to_string()))?;
    out.result(Some(&command.output), &bytes)?;
    Ok(if report.partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}
