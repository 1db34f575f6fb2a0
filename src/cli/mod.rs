//! The command line: one file per subcommand. Data go to standard output, everything else to standard error.
//!
//! To add a command: a file here with its arguments and a `run`, a variant in [`Command`], one line in [`dispatch`].
//! Outside crates that only this floor may name: `clap` and its companions.

mod analyze;
mod args;
mod check;
mod completions;
#[cfg(feature = "live")]
mod doctor;
mod error;
mod export;
mod inspect;
#[cfg(feature = "live")]
mod live;
mod man;
mod out;
#[cfg(feature = "live")]
mod record;
mod schema;
#[cfg(feature = "gui")]
mod screenshot;
#[cfg(feature = "live")]
mod serve;
#[cfg(feature = "sql")]
mod sql;
#[cfg(feature = "gui")]
mod window;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::cli::out::Out;

/// What the process says when it ends: the table of `contract.md` §2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// `check`: something at or above the threshold.
    Found = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A source could not be reached or refused us.
    Refused = 3,
    /// An input is unreadable or unsafe, and nothing useful was left.
    Nothing = 4,
    /// Done, but in part.
    Partial = 5,
    /// The machine lacks something.
    Lacks = 6,
}

const AFTER_HELP: &str = "\
Exit codes:
  0  done
  1  `check`: something at or above the threshold
  2  the command line is wrong
  3  a source could not be reached or refused us, and nothing was had from any
  4  an input is unreadable or unsafe, and nothing useful was left
  5  done, but in part: an input that was recognised failed or was cut short, or a file named on the command line could
     not be used; the report says which
  6  the machine lacks something: a display, a driver; named with its package

Times are RFC 3339 with an offset, an epoch in s, ms, µs or ns, `now-2h`, or a wall time with --tz.
Nothing is sent anywhere but to the sources that you name; files are read without a network.";

/// An incident workbench: what is missing and why, what is unusual, and which cause explains it, on what evidence.
#[derive(Debug, Parser)]
#[command(
    name = "tailscope",
    version,
    args_conflicts_with_subcommands = true,
    after_long_help = AFTER_HELP,
    max_term_width = 120
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Inputs to open in the window
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    reading: args::Reading,
    #[command(flatten)]
    span: args::Span,
    #[command(flatten)]
    common: Common,
}

/// What can be done.
#[derive(Debug, Subcommand)]
enum Command {
    /// Read recordings and rank what may have caused the incident
    Analyze(analyze::Analyze),
    /// Say what each input is: format, counts, time range, warnings
    Inspect(inspect::Inspect),
    /// Run SQL over everything that was read
    #[cfg(feature = "sql")]
    Sql(sql::Sql),
    /// Pull an incident's window from live sources into one file
    #[cfg(feature = "live")]
    Record(record::Record),
    /// Try each live source and say what is wrong with it, and what to do
    #[cfg(feature = "live")]
    Doctor(doctor::Doctor),
    /// Answer as a read-only Prometheus API, from a recording
    #[cfg(feature = "live")]
    Serve(serve::Serve),
    /// Write the incident timeline to a file
    Export(export::Export),
    /// Analyze for pipelines: the exit status says whether something is wrong
    Check(check::Check),
    /// Draw the window into a PNG file, without a display
    #[cfg(feature = "gui")]
    Screenshot(screenshot::Screenshot),
    /// Print the JSON Schema of the report or of sources.toml
    Schema(schema::Schema),
    /// Print a completion script for a shell
    Completions(completions::Completions),
    /// Print the manual page
    Man(man::Man),
}

/// The whole command line, for completions, the manual page and tests.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs what the process was called with.
pub fn main() -> ExitCode {
    quiet_panics();
    let exit = catch_unwind(AssertUnwindSafe(|| run(std::env::args_os())));
    let exit = exit.unwrap_or_else(|_| {
        let mut out = Out::standard(Common::default());
        out.error(&internal_error());
        Exit::Nothing
    });
    ExitCode::from(exit as u8)
}

fn run(arguments: impl Iterator<Item = OsString>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe under `--help | head` is no failure.
            drop(error.print());
            return if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
        }
    };
    let mut out = Out::standard(cli.common);
    let done = match cli.command {
        Some(command) => dispatch(command, &mut out),
        None => window(&cli.paths, &cli.reading, &cli.span),
    };
    match done {
        Ok(exit) => exit,
        Err(error) => {
            out.error(&error);
            error.exit
        }
    }
}

fn dispatch(command: Command, out: &mut Out) -> Result<Exit, CliError> {
    match command {
        Command::Analyze(command) => analyze::run(&command, out),
        Command::Inspect(command) => inspect::run(&command, out),
        #[cfg(feature = "sql")]
        Command::Sql(command) => sql::run(&command, out),
        #[cfg(feature = "live")]
        Command::Record(command) => record::run(&command, out),
        #[cfg(feature = "live")]
        Command::Doctor(command) => doctor::run(&command, out),
        #[cfg(feature = "live")]
        Command::Serve(command) => serve::run(&command, out),
        Command::Export(command) => export::run(&command, out),
        Command::Check(command) => check::run(&command, out),
        #[cfg(feature = "gui")]
        Command::Screenshot(command) => screenshot::run(&command, out),
        Command::Schema(command) => schema::run(&command, out),
        Command::Completions(command) => completions::run(&command, out),
        Command::Man(command) => man::run(&command, out),
    }
}

/// `tailscope PATH…` opens the window. A word that is no file is more likely a mistyped command.
fn window(paths: &[PathBuf], reading: &args::Reading, span: &args::Span) -> Result<Exit, CliError> {
    if let Some(first) = paths.first().filter(|p| !p.exists()) {
        let typed = first.to_string_lossy();
        let close = Cli::command()
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .find(|name| is_typo(&typed, name));
        if let Some(name) = close {
            return Err(
                CliError::usage(format!("no command and no file is called {typed}"))
                    .hint(format!("did you mean `tailscope {name}`?")),
            );
        }
    }
    #[cfg(feature = "gui")]
    return window::open(paths, reading, span);
    #[cfg(not(feature = "gui"))]
    {
        let _ = (reading, span);
        Err(CliError::usage("this build has no window")
            .hint("build with the default features, or use `tailscope analyze PATH…`")
            .hint("`tailscope --help` lists all commands"))
    }
}

/// Whether at most two letters differ (Levenshtein).
fn is_typo(typed: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    if typed.chars().count().abs_diff(name.len()) > 2 {
        return false;
    }
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (i, a) in typed.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (b, above) in name.iter().zip(row.iter().skip(1)) {
            let cost = (diagonal + usize::from(a != *b))
                .min(above + 1)
                .min(left + 1);
            diagonal = *above;
            left = cost;
            next.push(cost);
        }
        row = next;
    }
    row.last().is_some_and(|distance| *distance <= 2)
}

/// Where the last panic happened; shown as one line in place of a backtrace.
static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        if let Ok(mut last) = LAST_PANIC.lock() {
            *last = Some(info.to_string().replace('\n', " "));
        }
    }));
}

fn internal_error() -> CliError {
    let place = LAST_PANIC
        .lock()
        .ok()
        .and_then(|mut last| last.take())
        .unwrap_or_default();
    CliError::new(Exit::Nothing, format!("internal error: {place}"))
        .hint("this is a defect of Tailscope; please report it with the inputs that show it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn typos_are_near_and_other_words_are_not() {
        assert!(is_typo("analyse", "analyze"));
        assert!(is_typo("inspct", "inspect"));
        assert!(!is_typo("fixtures", "analyze"));
        assert!(!is_typo("", "man"));
    }

    #[test]
    fn every_command_says_what_it_does() {
        for command in Cli::command().get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                let help = argument.get_help();
                assert!(
                    help.is_some(),
                    "{} {}",
                    command.get_name(),
                    argument.get_id()
                );
            }
        }
    }
}
