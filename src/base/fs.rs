//! Files whose errors name the path, and outputs that appear whole or not at all.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What went wrong with a file, and with which one.
#[derive(Debug, thiserror::Error)]
pub enum FsError {
    /// It could not be read.
    #[error("cannot read: {source}: {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
    /// It could not be written.
    #[error("cannot write: {source}: {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's own words.
        source: std::io::Error,
    },
}

/// The whole of a file.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the function that names the path"
)]
pub fn read(path: &Path) -> Result<Vec<u8>, FsError> {
    std::fs::read(path).map_err(|source| FsError::Read {
        path: path.to_owned(),
        source,
    })
}

/// Writes `bytes` to a temporary name in the same folder, then renames it, so that no reader ever sees half a file.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    let wrap = |source| FsError::Write {
        path: path.to_owned(),
        source,
    };
    let folder = path
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or_else(|| Path::new("."));
    let name = path
        .file_name()
        .map_or_else(|| "output".into(), |n| n.to_string_lossy());
    let temporary = folder.join(format!(".{name}.{}.partial", std::process::id()));
    let written = std::fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| std::fs::rename(&temporary, path)) {
        drop(std::fs::remove_file(&temporary));
        return Err(wrap(error));
    }
    Ok(())
}
