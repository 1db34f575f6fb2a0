//! `tailscope` and `tailscope PATH…`: opens the window.

use std::path::PathBuf;

use crate::app::{Start, run};
use crate::cli::Exit;
use crate::cli::args::{Reading, Span};
use crate::cli::error::CliError;
use crate::engine::load::Opening;

/// Opens the window on `paths`, or the welcome page.
pub(super) fn open(paths: &[PathBuf], reading: &Reading, span: &Span) -> Result<Exit, CliError> {
    let start = Start {
        opening: Opening {
            paths: paths.to_vec(),
            options: reading.options()?,
            asked: span.asked(reading)?,
        },
        ..Start::default()
    };
    run::run(start).map(|()| Exit::Done).map_err(|e| {
        CliError::new(Exit::Lacks, e.to_string())
            .hint("the window needs a display and OpenGL; Mesa's software one will do: install libgl1-mesa-dri and libegl1")
            .hint("`tailscope analyze PATH…` prints the report without a window")
    })
}
