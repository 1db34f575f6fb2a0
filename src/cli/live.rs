//! What `record`, `doctor` and `analyze --sources` share: the sources, and the pull.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::base::clock::{Clock as _, SystemClock};
use crate::base::fs;
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::cli::Exit;
use crate::cli::args::{Reading, Span};
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::engine::cancel::Cancel;
use crate::engine::net::{
    self, Interrupts, Job, Keeper, Look, NetOptions, Pulled, SourceProgress, Watch,
};
use crate::model::exchange::Exchange;
use crate::session::bundle::{Bundle, Ending, RecordedSource, Recording};
use crate::sources::config::{self, Beside, Loaded};
use crate::sources::{Kind, SettingsError, SourceSettings, by_id};

/// Which sources.
#[derive(Debug, Args)]
pub(super) struct Sources {
    /// sources.toml, Grafana's provisioning YAML, or a pasted link of Prometheus or Grafana Explore [default:
    /// ./tailscope.toml, then sources.toml in the configuration folder]
    #[arg(long, value_name = "FILE")]
    pub(super) sources: Option<String>,
}

/// The machine's own files and variables.
struct Machine;

impl Beside for Machine {
    fn file(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|e| e.to_string())
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl Sources {
    /// Reads them; what cannot be used is said.
    pub(super) fn load(&self, out: &mut Out) -> Result<Loaded, CliError> {
        let mut loaded = match &self.sources {
            Some(link) if config::is_link(link) => {
                config::read_link(link, SystemClock.now()).map_err(|e| of_settings(&e))?
            }
            given => {
                let path = match given {
                    Some(path) => PathBuf::from(path),
                    None => usual().ok_or_else(|| {
                        CliError::usage("no sources: neither ./tailscope.toml nor sources.toml in the configuration folder is there")
                            .hint("name a file with --sources; `tailscope schema sources` prints its form")
                    })?,
                };
                let bytes = fs::read(&path).map_err(|e| CliError::usage(e.to_string()))?;
                let name = path.file_name().map_or_else(
                    || path.display().to_string(),
                    |n| n.to_string_lossy().into_owned(),
                );
                let folder = path.parent().unwrap_or_else(|| Path::new(""));
                config::read(&name, &bytes, folder, &Machine).map_err(|e| of_settings(&e))?
            }
        };
        for settings in loaded.sources.values_mut() {
            settings.url = kind_of(settings)?.address(settings);
        }
        for line in &loaded.left_out {
            out.warning(line);
        }
        Ok(loaded)
    }
}

fn usual() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").map(|h| Path::new(&h).join(".config"));
    let config = std::env::var_os("XDG_CONFIG_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(home)
        .map(|folder| folder.join("tailscope/sources.toml"));
    std::iter::once(PathBuf::from("tailscope.toml"))
        .chain(config)
        .find(|path| path.is_file())
}

fn of_settings(error: &SettingsError) -> CliError {
    CliError::usage(error.to_string())
}

fn kind_of(settings: &SourceSettings) -> Result<&'static dyn Kind, CliError> {
    by_id(&settings.kind).ok_or_else(|| CliError::usage(format!("no kind `{}`", settings.kind)))
}

/// The window that is asked for: both ends, by the options or by a pasted link.
pub(super) fn window(
    loaded: &Loaded,
    span: &Span,
    reading: &Reading,
) -> Result<TimeRange, CliError> {
    let asked = span.asked(reading)?;
    let (from, to) = match loaded.window {
        Some((from, to)) => (asked.from.or(Some(from)), asked.to.or(Some(to))),
        None => (asked.from, asked.to),
    };
    let need = |name: &str, t: Option<Timestamp>| {
        t.ok_or_else(|| {
            CliError::usage(format!("{name} is missing: which time shall be pulled?"))
                .hint("for example --from now-2h --to now")
        })
    };
    let (from, to) = (need("--from", from)?, need("--to", to)?);
    // A pull is named by its window: whole milliseconds, as every server has them.
    let whole = |t: Timestamp| Timestamp::from_millis(t.millis()).unwrap_or(t);
    if from >= to {
        return Err(CliError::usage(format!(
            "--from must lie before --to: {from} is not before {to}"
        )));
    }
    Ok(TimeRange::new(whole(from), whole(to)))
}

/// What is going to be recorded.
pub(super) fn recording(loaded: &Loaded, window: TimeRange) -> Recording {
    let sources = loaded
        .sources
        .values()
        .map(|s| RecordedSource {
            name: s.name.clone(),
            kind: s.kind.clone(),
            url: s.url.clone(),
            insecure_skip_verify: s.http.tls.insecure_skip_verify,
        })
        .collect();
    Recording::new(window.start, window.end, sources)
}

/// Plans every source, and checks all settings before the first request.
pub(super) fn jobs(loaded: &Loaded, window: TimeRange) -> Result<Vec<Job>, CliError> {
    loaded
        .sources
        .values()
        .map(|settings| {
            let pull = kind_of(settings)?
                .plan(settings, window)
                .map_err(|e| of_settings(&e))?;
            Ok(Job {
                settings: settings.clone(),
                pull,
            })
        })
        .collect()
}

/// Plans the look at every source.
pub(super) fn checkups(loaded: &Loaded) -> Result<Vec<Look>, CliError> {
    loaded
        .sources
        .values()
        .map(|settings| {
            let checkup = kind_of(settings)?
                .examine(settings)
                .map_err(|e| of_settings(&e))?;
            Ok((settings.clone(), checkup))
        })
        .collect()
}

/// Every file of the sources of the kind `file`: what the report calls it, and where it is.
pub(super) fn files(loaded: &Loaded) -> Result<Vec<(String, PathBuf)>, CliError> {
    let mut found = Vec::new();
    for settings in loaded.sources.values() {
        let paths = kind_of(settings)?
            .files(settings)
            .map_err(|e| of_settings(&e))?;
        for path in paths {
            let name = path
                .file_name()
                .map_or_else(|| "files".to_owned(), |n| n.to_string_lossy().into_owned());
            below(&path, &format!("{}/{name}", settings.name), &mut found)?;
        }
    }
    found.sort();
    Ok(found)
}

fn below(path: &Path, name: &str, found: &mut Vec<(String, PathBuf)>) -> Result<(), CliError> {
    let failed =
        |e: std::io::Error| CliError::usage(format!("cannot read: {e}: {}", path.display()));
    let meta = std::fs::metadata(path).map_err(failed)?;
    if !meta.is_dir() {
        found.push((name.to_owned(), path.to_owned()));
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let file = entry.file_name();
        let part = file.to_string_lossy();
        // Hidden files and links are left out, as everywhere.
        let is_link = entry.file_type().map_err(failed)?.is_symlink();
        if !part.starts_with('.') && !is_link {
            below(&entry.path(), &format!("{name}/{part}"), found)?;
        }
    }
    Ok(())
}

/// Pulls, shows how far it is, and says what fell short.
pub(super) fn pull(
    jobs: Vec<Job>,
    keeper: &mut dyn Keeper,
    out: &mut Out,
) -> Result<Pulled, CliError> {
    let cancel = Cancel::new();
    let interrupts = Interrupts::cancelling(cancel.clone());
    let options = NetOptions {
        is_offline: out.is_offline(),
    };
    let mut line = Line {
        is_shown: std::io::stderr().is_terminal() && !out.is_quiet(),
        is_quiet: out.is_quiet(),
        announced: Vec::new(),
        width: 0,
    };
    let pulled = net::pull(jobs, options, keeper, &mut line, &cancel)
        .map_err(|e| CliError::new(Exit::Nothing, e.to_string()));
    line.clear();
    drop(interrupts);
    let pulled = pulled?;
    for end in &pulled.ends {
        for warning in &end.warnings {
            let at = warning.at.as_ref().map(|at| format!(" at {at}"));
            let text = format!("{}{}: {}", end.name, at.unwrap_or_default(), warning.text);
            if warning.lossy {
                out.warning(&text);
            } else if out.is_verbose() && !line.announced.contains(&text) {
                out.remark(&text);
            }
        }
    }
    Ok(pulled)
}

/// The error when nothing at all could be had.
pub(super) fn refused(pulled: &Pulled) -> Option<CliError> {
    let failures: Vec<_> = pulled
        .ends
        .iter()
        .filter_map(|e| e.failure.as_ref())
        .collect();
    let asked = pulled
        .ends
        .iter()
        .any(|e| e.answered > 0 && !e.is_refused());
    let first = failures.first();
    if asked || (failures.is_empty() && !pulled.ends.iter().any(net::SourceEnd::is_refused)) {
        return None;
    }
    let mut error = CliError::new(Exit::Refused, "no source could be pulled from");
    if let Some(failure) = first {
        error = error.hint(failure.advice.clone());
    }
    Some(error.hint("`tailscope doctor` tries each source and says what is wrong with it"))
}

/// How each pull ended, as a bundle keeps it.
pub(super) fn endings(pulled: &Pulled) -> Vec<Ending> {
    let mut endings: Vec<Ending> = pulled
        .ends
        .iter()
        .map(|end| Ending {
            source: end.name.clone(),
            warnings: end.warnings.iter().cloned().map(Into::into).collect(),
        })
        .collect();
    endings.sort_by(|a, b| a.source.cmp(&b.source));
    endings
}

/// Keeps in memory, for who wants the report and no file.
#[derive(Debug, Default)]
pub(super) struct Memory(pub(super) Vec<Exchange>);

impl Keeper for Memory {
    fn earlier(&mut self, _: &str) -> Option<Exchange> {
        None
    }

    fn keep(&mut self, exchange: &Exchange) -> Result<(), String> {
        self.0.push(exchange.clone());
        Ok(())
    }
}

/// Pulls everything, and gives what a bundle of it would give.
pub(super) fn bundle(
    sources: &Sources,
    span: &Span,
    reading: &Reading,
    out: &mut Out,
) -> Result<Bundle, CliError> {
    let loaded = sources.load(out)?;
    let window = window(&loaded, span, reading)?;
    let mut inputs = Vec::new();
    for (name, path) in files(&loaded)? {
        let bytes = fs::read(&path).map_err(|e| CliError::usage(e.to_string()))?;
        inputs.push((name, bytes));
    }
    let mut memory = Memory::default();
    let pulled = pull(jobs(&loaded, window)?, &mut memory, out)?;
    if inputs.is_empty()
        && let Some(error) = refused(&pulled)
    {
        return Err(error);
    }
    let mut exchanges = memory.0;
    exchanges.sort_by_cached_key(Exchange::name);
    Ok(Bundle {
        recording: recording(&loaded, window),
        endings: endings(&pulled),
        exchanges,
        inputs,
        notes: None,
        is_finished: true,
        damage: Vec::new(),
    })
}

/// One line on the terminal, written over again and again.
struct Line {
    is_shown: bool,
    is_quiet: bool,
    announced: Vec<String>,
    width: usize,
}

impl Line {
    fn clear(&mut self) {
        if self.is_shown && self.width > 0 {
            let text = format!("\r{:width$}\r", "", width = self.width);
            drop(std::io::stderr().write_all(text.as_bytes()));
            self.width = 0;
        }
    }
}

impl Watch for Line {
    fn told(&mut self, progress: &[SourceProgress]) {
        if !self.is_shown {
            return;
        }
        let text = progress
            .iter()
            .filter(|p| !p.is_done)
            .map(said)
            .collect::<Vec<_>>()
            .join("   ");
        let text: String = text.chars().take(110).collect();
        let width = text.chars().count();
        let text = format!("\r{text:old$}", old = self.width);
        // A terminal that has gone away is no failure of the pull.
        drop(std::io::stderr().write_all(text.as_bytes()));
        self.width = width;
    }

    fn announced(&mut self, source: &str, text: &str) {
        if !self.is_quiet {
            self.clear();
            // Names of metrics come from a server, which may not steer a terminal.
            let text = format!("{source}: {text}").replace(char::is_control, " ");
            drop(writeln!(std::io::stderr(), "{text}"));
            self.announced.push(text);
        }
    }
}

/// `prod 12 of 40 requests, 3.2 MiB, 1.1 MiB/s, 8 s left`.
fn said(progress: &SourceProgress) -> String {
    #[expect(clippy::cast_precision_loss, reason = "bytes to look at")]
    let bytes = progress.bytes as f64;
    let left = progress
        .left
        .map(|left| format!(", {} left", units::secs(left.as_secs_f64().ceil())));
    format!(
        "{} {} of {} requests, {}, {}/s{}",
        progress.name,
        progress.answered,
        progress.expected,
        units::with_unit(bytes, "bytes"),
        units::with_unit(progress.rate_bytes_per_s, "bytes"),
        left.unwrap_or_default(),
    )
}
