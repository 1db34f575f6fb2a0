//! Arguments that several commands take, and what they mean together.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;

use crate::base::clock::{Clock as _, SystemClock};
use crate::base::time::{Timestamp, Zone, parse_epoch, parse_time_or_now};
use crate::cli::Exit;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::formats::NamedLogFormat;
use crate::session::analysis::{Asked, Document};
use crate::session::intake::{self, Intake, Options};
use crate::session::with_jobs;

/// Options of every command.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(super) struct Common {
    /// Say nothing beside the result and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say more about what is read
    #[arg(short, long, global = true)]
    pub(super) verbose: bool,
    /// Never wait for somebody to type
    #[arg(long, global = true)]
    pub(super) no_input: bool,
    /// Refuse any use of the network
    #[arg(long, global = true)]
    pub(super) offline: bool,
}

/// What to read, and how.
#[derive(Debug, Args)]
pub(super) struct Inputs {
    /// Folders, files, archives, patterns; `-` reads standard input
    #[arg(value_name = "PATH", required = true)]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) reading: Reading,
}

/// How to read.
#[derive(Debug, Args)]
pub(super) struct Reading {
    /// Zone of wall times that carry none: an IANA name, `UTC`, `local` or `+09:00` [default: UTC]
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// A `log_format` of nginx for access logs; may be given more than once
    #[arg(long = "log-format", value_name = "NAME=FORMAT")]
    log_formats: Vec<String>,
    /// Worker threads; the result does not depend on it [default: one for each processor]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
}

/// Which part of time to look at.
#[derive(Debug, Args)]
pub(super) struct Span {
    /// Begin of the window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<String>,
    /// End of the window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<String>,
}

/// A language, as `--lang` takes it.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum Lang {
    /// English
    #[default]
    En,
    /// Korean
    Ko,
}

impl From<Lang> for crate::words::Lang {
    fn from(lang: Lang) -> Self {
        match lang {
            Lang::En => Self::En,
            Lang::Ko => Self::Ko,
        }
    }
}

impl Reading {
    fn zone(&self) -> Result<Zone, CliError> {
        self.tz.as_deref().map_or_else(
            || Ok(Zone::utc()),
            |name| Zone::parse(name).map_err(|e| CliError::usage(format!("--tz: {e}"))),
        )
    }

    /// How to read, for whoever reads later.
    pub(super) fn options(&self) -> Result<Options, CliError> {
        Ok(Options {
            zone: self.zone()?,
            log_formats: self
                .log_formats
                .iter()
                .map(|text| log_format(text))
                .collect::<Result<_, _>>()?,
            ..Options::default()
        })
    }

    /// Runs `work` with the threads that were asked for.
    pub(super) fn with_jobs<T: Send>(
        &self,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, CliError> {
        with_jobs(self.jobs.map_or(0, std::num::NonZeroUsize::get), work)
            .map_err(|e| CliError::usage(e.to_string()).hint("give a smaller --jobs"))
    }

    /// Reads `paths`, and says on standard error what was lost.
    pub(super) fn read(&self, paths: &[PathBuf], out: &mut Out) -> Result<Intake, CliError> {
        let options = self.options()?;
        let wants_stdin = paths.iter().any(|p| p.as_os_str() == "-");
        if wants_stdin && std::io::stdin().is_terminal() {
            return Err(
                CliError::usage("`-` reads standard input, which is a terminal")
                    .hint("pipe a recording in: `curl … | tailscope inspect -`"),
            );
        }
        let intake = self.with_jobs(|| intake::read(paths, &options, &mut std::io::stdin()))?;
        tell(&intake, out);
        Ok(intake)
    }
}

impl Inputs {
    /// Reads everything.
    pub(super) fn read(&self, out: &mut Out) -> Result<Intake, CliError> {
        self.reading.read(&self.paths, out)
    }

    /// Reads everything and joins it; an error when nothing useful was left.
    pub(super) fn open(&self, span: &Span, out: &mut Out) -> Result<Document, CliError> {
        open(&self.reading, &self.paths, span, out)
    }
}

/// Reads what was just pulled and joins it; an error when nothing useful was left.
#[cfg(feature = "live")]
pub(super) fn open_pulled(
    reading: &Reading,
    bundle: crate::session::bundle::Bundle,
    out: &mut Out,
) -> Result<Document, CliError> {
    let options = reading.options()?;
    let intake = reading.with_jobs(|| intake::read_recording(bundle, &options))?;
    tell(&intake, out);
    if !intake.is_useful {
        return Err(nothing_useful(&intake));
    }
    // The window that was asked for stands in the recording.
    Ok(Document::new(intake, Asked::default()))
}

/// Reads `paths` and joins them; an error when nothing useful was left.
pub(super) fn open(
    reading: &Reading,
    paths: &[PathBuf],
    span: &Span,
    out: &mut Out,
) -> Result<Document, CliError> {
    let asked = span.asked(reading)?;
    let intake = reading.read(paths, out)?;
    if !intake.is_useful {
        return Err(nothing_useful(&intake));
    }
    Ok(Document::new(intake, asked))
}

fn nothing_useful(intake: &Intake) -> CliError {
    let text = match intake.parts.len() {
        0 => "nothing to read: no file was found".to_owned(),
        1 => "the input could not be used".to_owned(),
        n => format!("none of the {n} inputs could be used"),
    };
    let mut error = CliError::new(Exit::Nothing, text);
    let why = intake
        .parts
        .iter()
        .filter(|(input, _)| input.format != intake::SIDECAR)
        .filter_map(|(input, _)| Some((input, input.warnings.first()?)))
        .find(|(_, w)| !w.lossy);
    if let Some((input, warning)) = why {
        error = error.hint(format!("{}: {}", input.path, warning.text));
    }
    error.hint("`tailscope inspect PATH…` says what each input is taken for")
}

/// What was lost, one line each; with `-v` what became of every input.
fn tell(intake: &Intake, out: &mut Out) {
    for (input, _) in &intake.parts {
        if out.is_verbose() {
            out.remark(&format!("{}: {}", input.path, input.format));
        }
        for warning in &input.warnings {
            let at = warning.at.as_ref().map(|at| format!(" at {at}"));
            let line = format!("{}{}: {}", input.path, at.unwrap_or_default(), warning.text);
            if warning.lossy {
                out.warning(&line);
            } else if out.is_verbose() {
                out.remark(&line);
            }
        }
    }
}

impl Span {
    pub(super) fn asked(&self, reading: &Reading) -> Result<Asked, CliError> {
        let zone = reading.zone()?;
        let time = |name: &str, text: &Option<String>| {
            let Some(text) = text else {
                return Ok(None);
            };
            let has_zone = parse_epoch(text).is_some()
                || Timestamp::parse_rfc3339(text).is_some()
                || text.trim().starts_with("now");
            let t = parse_time_or_now(text, &zone, SystemClock.now())
                .map_err(|e| CliError::usage(format!("--{name}: {e}")))?;
            if !has_zone && reading.tz.is_none() {
                return Err(CliError::usage(format!(
                    "--{name}: a wall time without a zone: {text:?}"
                ))
                .hint("add --tz, for example --tz UTC or --tz Asia/Seoul"));
            }
            Ok(Some(t))
        };
        let asked = Asked {
            from: time("from", &self.from)?,
            to: time("to", &self.to)?,
        };
        if let (Some(from), Some(to)) = (asked.from, asked.to)
            && from >= to
        {
            return Err(CliError::usage(format!(
                "--from must lie before --to: {from} is not before {to}"
            )));
        }
        Ok(asked)
    }
}

/// `NAME=FORMAT`, or `NAME=escape=json FORMAT` as nginx writes it.
fn log_format(text: &str) -> Result<NamedLogFormat, CliError> {
    let wrong = || {
        CliError::usage(format!("--log-format: expected NAME=FORMAT; got {text:?}")).hint(
            "for example --log-format 'main=$remote_addr [$time_local] \"$request\" $status $request_time'",
        )
    };
    let (name, format) = text.split_once('=').ok_or_else(wrong)?;
    let (escape, format) = match format.strip_prefix("escape=") {
        Some(rest) => rest.split_once(' ').ok_or_else(wrong)?,
        None => ("default", format),
    };
    if name.is_empty() || !format.contains('$') {
        return Err(wrong());
    }
    Ok(NamedLogFormat {
        name: name.trim().to_owned(),
        format: format.trim().to_owned(),
        escape: escape.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_formats_are_named() {
        let plain = log_format("main=$remote_addr $status").unwrap();
        assert_eq!(
            (
                plain.name.as_str(),
                plain.format.as_str(),
                plain.escape.as_str()
            ),
            ("main", "$remote_addr $status", "default")
        );
        assert_eq!(
            log_format("j=escape=json {\"a\":$b}").unwrap().escape,
            "json"
        );
        for bad in ["main", "=x", "main=no variables"] {
            assert_eq!(log_format(bad).unwrap_err().exit, Exit::Usage);
        }
    }
}
