//! `tailscope check`: `analyze` for pipelines.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::Exit;
use crate::cli::args::{Inputs, Span};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::export::{self, Material, wrap};
use crate::model::finding::Severity;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub(super) struct Check {
    #[command(flatten)]
    inputs: Inputs,
    #[command(flatten)]
    span: Span,
    /// End with 1 when a finding is at least this severe
    #[arg(long, value_enum, value_name = "SEVERITY")]
    fail_on: FailOn,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FailOn {
    /// Anything at all
    Info,
    /// Noticeable
    Minor,
    /// Users or operators are affected
    Major,
    /// The service or its monitoring is failing
    Critical,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// One line for each finding at or above the threshold
    Text,
    /// The whole report
    Json,
}

pub(super) fn run(command: &Check, out: &mut Out) -> Result<Exit, CliError> {
    let threshold = match command.fail_on {
        FailOn::Info => Severity::Info,
        FailOn::Minor => Severity::Minor,
        FailOn::Major => Severity::Major,
        FailOn::Critical => Severity::Critical,
    };
    let document = command.inputs.open(&command.span, out)?;
    let report = command.inputs.reading.with_jobs(|| document.report(None))?;
    let failing: Vec<_> = report
        .findings
        .iter()
        .filter(|f| f.severity >= threshold)
        .collect();
    let bytes = match command.format {
        Form::Json => {
            let material = Material {
                report: &report,
                snapshot: &document.snapshot,
                notes: None,
            };
            export::Exporter::write(&export::json::Json, &material, &export::Options::default())
                .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?
        }
        Form::Text => {
            let width = out.look(command.output.as_deref()).width;
            let mut text = String::new();
            for finding in &failing {
                let line = format!(
                    "{} {} {}: {}",
                    finding.start,
                    finding.severity.word(),
                    finding.kind.word(),
                    finding.title
                );
                text.push_str(&wrap(&line, width, "", "  "));
            }
            let sum = format!(
                "{} of {} findings at or above {}\n",
                failing.len(),
                report.findings.len(),
                threshold.word()
            );
            text.push_str(&sum);
            text.into_bytes()
        }
    };
    out.result(command.output.as_deref(), &bytes)?;
    Ok(if !failing.is_empty() {
        Exit::Found
    } else if report.partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}
