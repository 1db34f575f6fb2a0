//! `tailscope schema`: the JSON Schema of the report.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::report::Report;

/// Arguments of `schema`.
#[derive(Debug, Args)]
pub(super) struct Schema {
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(command: &Schema, out: &mut Out) -> Result<Exit, CliError> {
    let mut bytes = serde_json::to_vec_pretty(&schemars::schema_for!(Report))
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()))?;
    bytes.push(b'\n');
    out.result(command.output.as_deref(), &bytes)?;
    Ok(Exit::Done)
}
