//! `tailscope record`: live sources → a bundle.

use std::path::PathBuf;

use clap::Args;

use crate::base::fs;
use crate::cli::Exit;
use crate::cli::args::{Reading, Span};
use crate::cli::error::CliError;
use crate::cli::live::{self, Sources};
use crate::cli::out::Out;
use crate::engine::net::Keeper;
use crate::model::exchange::Exchange;
use crate::session::bundle::{Recorder, part_of};

/// Arguments of `record`.
#[derive(Debug, Args)]
pub(super) struct Record {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    span: Span,
    #[command(flatten)]
    reading: Reading,
    /// The bundle; what arrives is kept in FILE.part until it is whole, and the same command goes on with that
    #[arg(short, long, value_name = "FILE", required = true)]
    output: PathBuf,
}

struct ToFile(Recorder);

impl Keeper for ToFile {
    fn earlier(&mut self, key: &str) -> Option<Exchange> {
        self.0.earlier(key).cloned()
    }

    fn keep(&mut self, exchange: &Exchange) -> Result<(), String> {
        self.0.keep(exchange).map_err(|e| e.to_string())
    }
}

pub(super) fn run(command: &Record, out: &mut Out) -> Result<Exit, CliError> {
    let loaded = command.sources.load(out)?;
    let window = live::window(&loaded, &command.span, &command.reading)?;
    let jobs = live::jobs(&loaded, window)?;
    let files = live::files(&loaded)?;
    let failed = |e: crate::session::bundle::BundleError| CliError::usage(e.to_string());
    let recorder =
        Recorder::begin(&command.output, live::recording(&loaded, window)).map_err(failed)?;
    if recorder.earlier_count() > 0 {
        out.remark(&format!(
            "goes on with {}: {} answers are there",
            part_of(&command.output).display(),
            recorder.earlier_count()
        ));
    }
    let is_new = recorder.earlier_count() == 0;
    let mut keeper = ToFile(recorder);
    for (name, path) in &files {
        let bytes = fs::read(path).map_err(|e| CliError::usage(e.to_string()))?;
        keeper.0.add(name, &bytes).map_err(failed)?;
    }
    let pulled = live::pull(jobs, &mut keeper, out)?;
    if pulled.is_cancelled {
        let text = format!(
            "stopped: what arrived is kept in {}; run the same command to go on",
            part_of(&command.output).display()
        );
        out.warning(&text);
        return Ok(Exit::Partial);
    }
    if files.is_empty()
        && let Some(error) = live::refused(&pulled)
    {
        if is_new {
            drop(keeper);
            drop(std::fs::remove_file(part_of(&command.output)));
        }
        return Err(error);
    }
    keeper.0.finish(live::endings(&pulled)).map_err(failed)?;
    let (answers, bytes) = pulled
        .ends
        .iter()
        .fold((0, 0), |(n, b), e| (n + e.answered, b + e.bytes));
    #[expect(clippy::cast_precision_loss, reason = "bytes to look at")]
    let size = crate::base::units::with_unit(bytes as f64, "bytes");
    out.remark(&format!(
        "{}: {answers} answers, {size} received",
        command.output.display()
    ));
    let is_lossy = pulled
        .ends
        .iter()
        .any(|e| e.warnings.iter().any(|w| w.lossy));
    Ok(if is_lossy { Exit::Partial } else { Exit::Done })
}
