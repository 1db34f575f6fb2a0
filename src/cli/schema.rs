//! `tailscope schema`: the JSON Schema of the report, and of `sources.toml`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::report::Report;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Of what
    #[arg(value_enum, default_value_t)]
    what: What,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum What {
    /// The report of `analyze --format json`
    #[default]
    Report,
    /// `sources.toml`
    Sources,
}

pub(super) fn run(command: &Schema, out: &mut Out) -> Result<Exit, CliError> {
    let schema = match command.what {
        What::Report => schemars::schema_for!(Report).to_value(),
        What::Sources => crate::sources::config::schema(),
    };
    let mut bytes = serde_json::to_vec_pretty(&schema)
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
    bytes.push(b'\n');
    out.result(command.output.as_deref(), &bytes)?;
    Ok(Exit::Done)
}
