//! `tailscope` and `tailscope PATH…`: opens the window.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::app::{Start, run};
use crate::cli::Exit;
use crate::cli::args::{Reading, Span};
use crate::cli::error::CliError;
use crate::engine::load::Opening;
use crate::session::samples;

/// Opens the window on `paths`, or the welcome page.
pub(super) fn open(paths: &[PathBuf], reading: &Reading, span: &Span) -> Result<Exit, CliError> {
    let start = Start {
        opening: Opening {
            paths: paths.to_vec(),
            options: reading.options()?,
            asked: span.asked(reading)?,
            ..Opening::default()
        },
        state_folder: state_folder(),
        sample_places: sample_places(),
        frame_log: std::env::var_os("TAILSCOPE_FRAME_LOG").map(PathBuf::from),
        ..Start::default()
    };
    run::run(start).map(|()| Exit::Done).map_err(|e| {
        CliError::new(Exit::Lacks, e.to_string())
            .hint("the window needs a display and OpenGL; Mesa's software one will do: install libgl1-mesa-dri and libegl1")
            .hint("`tailscope analyze PATH…` prints the report without a window")
    })
}

/// Where sample incidents may lie: beside the program, in the current folder, among the system's data.
pub(super) fn sample_places() -> Vec<PathBuf> {
    samples::places(
        std::env::current_exe().ok().as_deref(),
        std::env::current_dir().ok().as_deref(),
        std::env::var_os("XDG_DATA_DIRS").as_deref(),
    )
}

/// Where state lives between starts: `$XDG_STATE_HOME/tailscope`, else `~/.local/state/tailscope` (contract.md §5).
fn state_folder() -> Option<PathBuf> {
    state_folder_of(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))
}

/// The standard says that a path that is not absolute is to be ignored.
fn state_folder_of(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let state = state.map(PathBuf::from).filter(|p| p.is_absolute());
    let home = home.map(PathBuf::from).filter(|p| p.is_absolute());
    state
        .or_else(|| home.map(|home| home.join(".local/state")))
        .map(|folder| folder.join("tailscope"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_lives_where_the_standard_says() {
        let of = |state: &str, home: &str| state_folder_of(Some(state.into()), Some(home.into()));
        assert_eq!(of("/s", "/h"), Some("/s/tailscope".into()));
        assert_eq!(of("", "/h"), Some("/h/.local/state/tailscope".into()));
        assert_eq!(
            of("relative", "/h"),
            Some("/h/.local/state/tailscope".into())
        );
        assert_eq!(state_folder_of(None, None), None);
    }
}
