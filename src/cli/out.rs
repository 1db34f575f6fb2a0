//! Where words go: results to standard output or a file, everything else to standard error.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use crate::base::fs;
use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::export::Options;

/// Both streams, and how talkative to be.
#[derive(Debug)]
pub(super) struct Out {
    common: Common,
}

/// Columns when nothing says how wide the terminal is.
const WIDTH: usize = 100;

impl Out {
    pub(super) fn standard(common: Common) -> Self {
        Self { common }
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.common.verbose
    }

    pub(super) fn is_quiet(&self) -> bool {
        self.common.quiet
    }

    /// Writes a result to `target`, whole or not at all; none and `-` are standard output, and a reader that has gone
    /// away (`| head`) is no failure.
    pub(super) fn result(&mut self, target: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
        let failed = |text: String| CliError::new(Exit::Nothing, text);
        match target.filter(|t| t.as_os_str() != "-") {
            Some(path) => fs::write_atomic(path, bytes).map_err(|e| failed(e.to_string())),
            None => {
                let mut stdout = std::io::stdout().lock();
                match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
                    Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                        Err(failed(format!("cannot write to standard output: {error}")))
                    }
                    Ok(()) | Err(_) => Ok(()),
                }
            }
        }
    }

    /// How forms for people shall look on `target`.
    pub(super) fn look(&self, target: Option<&Path>) -> Options {
        let is_terminal =
            target.is_none_or(|t| t.as_os_str() == "-") && std::io::stdout().is_terminal();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        Options {
            width: columns.filter(|_| is_terminal).unwrap_or(WIDTH),
            colour: is_terminal && !is_set("NO_COLOR") && !is_dumb,
            table: None,
        }
    }

    /// An error, and what to do about it.
    pub(super) fn error(&mut self, error: &CliError) {
        self.say(&format!("error: {}", error.text));
        for hint in &error.hints {
            self.say(&format!("hint: {hint}"));
        }
    }

    /// Something that was lost.
    pub(super) fn warning(&mut self, text: &str) {
        if !self.is_quiet() {
            self.say(&format!("warning: {text}"));
        }
    }

    /// Something that `-v` wants to know.
    pub(super) fn remark(&mut self, text: &str) {
        if !self.is_quiet() {
            self.say(text);
        }
    }

    #[expect(
        clippy::unused_self,
        clippy::needless_pass_by_ref_mut,
        reason = "it writes, and whoever holds no `Out` must not"
    )]
    fn say(&mut self, text: &str) {
        let clean: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        // Nobody is left to tell when standard error is closed.
        drop(writeln!(std::io::stderr().lock(), "{clean}"));
    }
}
