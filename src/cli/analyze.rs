//! `tailscope analyze`: the whole way from recordings to a ranked cause.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::base::clock::{Clock as _, SystemClock};
use crate::cli::Exit;
use crate::cli::args::{self, Lang, Reading, Span};
use crate::cli::error::CliError;
#[cfg(feature = "live")]
use crate::cli::live::{self, Sources};
use crate::cli::out::Out;
use crate::export::{self, Material};
use crate::session::analysis::Document;

/// Arguments of `analyze`.
#[derive(Debug, Args)]
pub(super) struct Analyze {
    /// Folders, files, archives, bundles, patterns; `-` reads standard input
    #[cfg_attr(
        feature = "live",
        arg(value_name = "PATH", required_unless_present = "sources")
    )]
    #[cfg_attr(not(feature = "live"), arg(value_name = "PATH", required = true))]
    paths: Vec<PathBuf>,
    #[cfg(feature = "live")]
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    span: Span,
    /// Form of the report [default: that of the output's name, else text]
    #[arg(long, value_enum)]
    format: Option<Form>,
    /// Write to this file, whole or not at all; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of text and md; JSON stays English
    #[arg(long, value_name = "NAME", value_enum, default_value_t)]
    lang: Lang,
    /// Put the time of writing into the report
    #[arg(long)]
    stamp: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// For a terminal, read in one minute
    Text,
    /// For programs: see `tailscope schema`
    Json,
    /// A first timeline for the post-mortem
    Md,
}

impl Form {
    const fn id(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Md => "md",
        }
    }
}

/// From files, or straight from live sources.
fn document(command: &Analyze, out: &mut Out) -> Result<Document, CliError> {
    #[cfg(feature = "live")]
    if command.sources.sources.is_some() {
        if !command.paths.is_empty() {
            return Err(CliError::usage("files and --sources together")
                .hint("name the files in the sources, as a source of the kind `file`"));
        }
        let bundle = live::bundle(&command.sources, &command.span, &command.reading, out)?;
        return args::open_pulled(&command.reading, bundle, out);
    }
    args::open(&command.reading, &command.paths, &command.span, out)
}

pub(super) fn run(command: &Analyze, out: &mut Out) -> Result<Exit, CliError> {
    let by_name = command.output.as_deref().and_then(export::by_path);
    let exporter = match command.format {
        Some(form) => export::by_id(form.id()),
        None => by_name.or_else(|| export::by_id("text")),
    }
    .ok_or_else(|| CliError::usage("no such format"))?;
    let document = document(command, out)?;
    let stamp = command.stamp.then(|| SystemClock.now());
    let report = command.reading.with_jobs(|| document.report(stamp))?;
    let material = Material {
        report: &report,
        snapshot: &document.snapshot,
        notes: None,
    };
    let mut look = out.look(command.output.as_deref());
    look.lang = command.lang.into();
    let bytes = exporter
        .write(&material, &look)
        .map_err(|e| CliError::usage(e.to_string()))?;
    out.result(command.output.as_deref(), &bytes)?;
    Ok(if report.partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}
