//! Help for the integration tests: the binary, the repository, the shared recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A path under the shared recordings, or `None`, with a word, where they are missing.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let given = std::env::var_os("TAILSCOPE_SHARED").map(PathBuf::from);
    let found = [given, Some(root().join("../shared/data"))]
        .into_iter()
        .flatten()
        .map(|r| r.join(path))
        .find(|p| p.exists());
    if found.is_none() {
        eprintln!("skipped: no shared recordings at {path}");
    }
    found
}

/// Runs the program and reads its JSON; fails with its own words when it did not do its work (exit 0 or 5).
pub(crate) fn run_json(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 5)),
        "{arguments:?} ended with {:?}:\n{}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{arguments:?}: no JSON: {e}"))
}
