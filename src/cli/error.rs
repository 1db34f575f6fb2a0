//! One printed form of errors: `error: …`, then `hint: …` lines.

use crate::cli::Exit;

/// An error at the edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CliError {
    /// What the process ends with.
    pub(super) exit: Exit,
    /// What is wrong, with its place.
    pub(super) text: String,
    /// What to do.
    pub(super) hints: Vec<String>,
}

impl CliError {
    pub(super) fn new(exit: Exit, text: impl Into<String>) -> Self {
        Self {
            exit,
            text: text.into(),
            hints: Vec::new(),
        }
    }

    pub(super) fn usage(text: impl Into<String>) -> Self {
        Self::new(Exit::Usage, text)
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}
