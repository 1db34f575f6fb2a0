//! `tailscope inspect`: what each input is.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::base::text::{count, grouped, shorten};
use crate::cli::Exit;
use crate::cli::args::Inputs;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::export::wrap;
use crate::model::input::{Counts, Input};
use crate::session::intake::{SIDECAR, UNRECOGNISED};

/// Arguments of `inspect`.
#[derive(Debug, Args)]
pub(super) struct Inspect {
    #[command(flatten)]
    inputs: Inputs,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A table
    Text,
    /// For programs: inputs as in the report, and their sums
    Json,
}

/// The answer for programs.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    schema: &'static str,
    partial: bool,
    totals: Counts,
    inputs: &'a [Input],
}

pub(super) fn run(command: &Inspect, out: &mut Out) -> Result<Exit, CliError> {
    let intake = command.inputs.read(out)?;
    let inputs: Vec<Input> = intake.parts.into_iter().map(|(input, _)| input).collect();
    let mut totals = Counts::default();
    for input in &inputs {
        totals.add(&input.counts);
    }
    let bytes = match command.format {
        Form::Json => {
            let answer = Answer {
                schema: "tailscope.inspect/1",
                partial: intake.is_partial,
                totals,
                inputs: &inputs,
            };
            let mut bytes = serde_json::to_vec_pretty(&answer)
                .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
            bytes.push(b'\n');
            bytes
        }
        Form::Text => {
            let width = out.look(command.output.as_deref()).width;
            table(&inputs, &totals, width).into_bytes()
        }
    };
    out.result(command.output.as_deref(), &bytes)?;
    let nothing_found = inputs.is_empty();
    Ok(match (intake.is_partial, intake.is_useful) {
        (true, false) => Exit::Nothing,
        (true, true) => Exit::Partial,
        (false, _) if nothing_found => Exit::Nothing,
        (false, _) => Exit::Done,
    })
}

fn table(inputs: &[Input], totals: &Counts, width: usize) -> String {
    let mut out = String::new();
    let format_width = longest(inputs.iter().map(|i| i.format.as_str()), 8, 20);
    let path_width = longest(inputs.iter().map(|i| i.path.as_str()), 8, 60);
    for input in inputs {
        let path = shorten(&input.path, 200);
        let facts = [range(input), counts(&input.counts)]
            .into_iter()
            .filter(|s| !s.is_empty())
            .collect::<Vec<_>>()
            .join("  ");
        let line = format!(
            "{path:<path_width$}  {format:<format_width$}  {facts}",
            format = input.format
        );
        out.push_str(line.trim_end());
        out.push('\n');
        for warning in &input.warnings {
            let mark = if warning.lossy { "! " } else { "- " };
            let at = warning.at.as_ref().map(|at| format!(" (at {at})"));
            let text = format!("{}{}", warning.text, at.unwrap_or_default());
            out.push_str(&wrap(&text, width, &format!("    {mark}"), "      "));
        }
    }
    let aside = inputs
        .iter()
        .filter(|i| matches!(i.format.as_str(), UNRECOGNISED | SIDECAR))
        .count();
    let read = inputs.len() - aside;
    let sum = counts(totals);
    let sum = if sum.is_empty() {
        "no rows".to_owned()
    } else {
        sum
    };
    let text = format!(
        "{}: {sum}; {}",
        count(read as u64, "input", "inputs"),
        count(aside as u64, "other file", "other files")
    );
    out.push_str(&wrap(&text, width, "", ""));
    out
}

fn longest<'a>(words: impl Iterator<Item = &'a str>, least: usize, most: usize) -> usize {
    words
        .map(|w| w.chars().count())
        .max()
        .unwrap_or(0)
        .clamp(least, most)
}

/// `2026-11-30 14:26:20 to 14:33:30`.
fn range(input: &Input) -> String {
    let (Some(start), Some(end)) = (input.start, input.end) else {
        return String::new();
    };
    let day = |t: crate::base::time::Timestamp| t.to_rfc3339().chars().take(10).collect::<String>();
    let clock = |t: crate::base::time::Timestamp| t.to_clock().chars().take(8).collect::<String>();
    if day(start) == day(end) {
        format!("{} {} to {}", day(start), clock(start), clock(end))
    } else {
        format!(
            "{} {} to {} {}",
            day(start),
            clock(start),
            day(end),
            clock(end)
        )
    }
}

/// Only what there is: `6 series, 512 samples`.
fn counts(counts: &Counts) -> String {
    let all = [
        (counts.series, "series"),
        (counts.samples, "samples"),
        (counts.spans, "spans"),
        (counts.traces, "traces"),
        (counts.requests, "requests"),
        (counts.profiles, "profiles"),
        (counts.stacks, "stacks"),
        (counts.events, "events"),
        (counts.log_lines, "log lines"),
    ];
    all.iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", grouped(*n)))
        .collect::<Vec<_>>()
        .join(", ")
}
