//! Where words go: results to standard output or a file, everything else to standard error.

use std::io::{ErrorKind, IsTerminal as _, Write};
use std::path::Path;

use crate::base::fs;
use crate::cli::Exit;
use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::export::Options;

/// Both streams, and how talkative to be.
pub(super) struct Out {
    common: Common,
    stdout: Box<dyn Write>,
    stderr: Box<dyn Write>,
    /// How standard output looks.
    look: Options,
}

/// Columns when nothing says how wide the terminal is.
const WIDTH: usize = 100;

impl Out {
    /// The streams of the process.
    pub(super) fn standard(common: Common) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|v| !v.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        let columns = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
        Self {
            common,
            stdout: Box::new(std::io::stdout()),
            stderr: Box::new(std::io::stderr()),
            look: Options {
                width: columns.filter(|_| is_terminal).unwrap_or(WIDTH),
                colour: is_terminal && !is_set("NO_COLOR") && !is_dumb,
                table: None,
                ..Options::default()
            },
        }
    }

    /// Whether nothing beside results and errors is to be said.
    #[cfg(feature = "live")]
    pub(super) const fn is_quiet(&self) -> bool {
        self.common.quiet
    }

    /// Whether the network is not to be used.
    #[cfg(feature = "live")]
    pub(super) const fn is_offline(&self) -> bool {
        self.common.offline
    }

    pub(super) fn is_verbose(&self) -> bool {
        self.common.verbose
    }

    /// Writes a result to `target`, whole or not at all; none and `-` are standard output, and a reader that has gone
    /// away (`| head`) is no failure.
    pub(super) fn result(&mut self, target: Option<&Path>, bytes: &[u8]) -> Result<(), CliError> {
        let failed = |text: String| CliError::new(Exit::Nothing, text);
        if let Some(path) = target.filter(|t| t.as_os_str() != "-") {
            return fs::write_atomic(path, bytes).map_err(|e| failed(e.to_string()));
        }
        let written = self.stdout.write_all(bytes);
        match written.and_then(|()| self.stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(failed(format!("cannot write to standard output: {error}")))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// How forms for people shall look on `target`.
    pub(super) fn look(&self, target: Option<&Path>) -> Options {
        if target.is_none_or(|t| t.as_os_str() == "-") {
            self.look.clone()
        } else {
            Options::default()
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
        if !self.common.quiet {
            self.say(&format!("warning: {text}"));
        }
    }

    /// Something that `-v` wants to know.
    pub(super) fn remark(&mut self, text: &str) {
        self.say(text);
    }

    fn say(&mut self, text: &str) {
        let clean: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        // Nobody is left to tell when standard error is closed.
        drop(writeln!(self.stderr, "{clean}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn out(kind: ErrorKind) -> Out {
        Out {
            common: Common::default(),
            stdout: Box::new(Failing(kind)),
            stderr: Box::new(Failing(ErrorKind::BrokenPipe)),
            look: Options::default(),
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_and_a_full_disk_is() {
        assert_eq!(out(ErrorKind::BrokenPipe).result(None, b"x"), Ok(()));
        let error = out(ErrorKind::StorageFull).result(None, b"x").unwrap_err();
        assert!(error.text.contains("standard output"));
        // Nobody to tell, and no panic.
        out(ErrorKind::BrokenPipe).error(&error);
    }
}
