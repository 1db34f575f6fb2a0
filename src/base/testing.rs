//! Help for unit tests: finding the shared recordings.

use std::path::{Path, PathBuf};

/// A path under the shared recordings, or `None` (with a word on stderr) where that folder is missing: then the test
/// has nothing to do. Looked for at `$TAILSCOPE_SHARED`, then beside the checkout.
pub(crate) fn shared_data(path: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let roots = [
        std::env::var_os("TAILSCOPE_SHARED").map(PathBuf::from),
        Some(beside),
    ];
    let found = roots
        .into_iter()
        .flatten()
        .map(|root| root.join(path))
        .find(|p| p.exists());
    if found.is_none() {
        eprintln!("skipped: no shared recordings at {path}");
    }
    found
}
