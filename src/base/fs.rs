//! Files whose errors name the path, and outputs that appear whole or not at all.

use std::io::{Read as _, Write as _};
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

/// Opens a file for reading.
pub fn open(path: &Path) -> Result<std::fs::File, FsError> {
    std::fs::File::open(path).map_err(|source| FsError::Read {
        path: path.to_owned(),
        source,
    })
}

/// At most `limit` bytes of a file, which may be a pipe or a device that never ends, and whether there are more.
pub fn read_up_to(path: &Path, limit: u64) -> Result<(Vec<u8>, bool), FsError> {
    let mut bytes = Vec::new();
    let file = open(path)?;
    if let Ok(meta) = file.metadata() {
        bytes.reserve_exact(usize::try_from(meta.len().min(limit)).unwrap_or(0) + 1);
    }
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| FsError::Read {
            path: path.to_owned(),
            source,
        })?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let is_more = bytes.len() > limit;
    bytes.truncate(limit);
    Ok((bytes, is_more))
}

/// Writes `bytes` to a temporary name in the same folder, then renames it, so that no reader ever sees half a file.
///
/// A link is followed; a device or a pipe (`/dev/null`, `/dev/fd/3`) is written to as it stands, never replaced.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    let named = path;
    let wrap = |source| FsError::Write {
        path: named.to_owned(),
        source,
    };
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = target.as_path();
    if let Ok(meta) = std::fs::metadata(path)
        && !meta.is_file()
        && !meta.is_dir()
    {
        return std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes))
            .map_err(wrap);
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_never_replaced() {
        use std::os::unix::fs::FileTypeExt as _;
        write_atomic(Path::new("/dev/null"), b"x").unwrap();
        let kind = std::fs::metadata("/dev/null").unwrap().file_type();
        assert!(kind.is_char_device());
    }

    #[test]
    fn an_output_appears_whole_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.json");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"two").unwrap();
        assert_eq!(read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let nowhere = folder.path().join("no/such/folder/out.json");
        let message = write_atomic(&nowhere, b"x").unwrap_err().to_string();
        assert!(message.contains("out.json"), "{message}");
    }

    #[test]
    fn reading_stops_at_the_limit() {
        assert_eq!(
            read_up_to(Path::new("/dev/zero"), 3).unwrap(),
            (vec![0, 0, 0], true)
        );
    }
}
