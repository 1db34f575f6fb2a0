//! What lies in a folder, for whoever chooses what to open. Reads one folder, and no file.

use std::path::{Path, PathBuf};

/// Entries of one folder that are listed; nobody scrolls through more.
const ENTRIES: usize = 10_000;

/// One folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Where.
    pub folder: PathBuf,
    /// Folders first, then files, each by name.
    pub entries: Vec<Entry>,
    /// How many more there are.
    pub more: usize,
    /// Why it, or some of it, could not be listed.
    pub error: Option<String>,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is a folder, or a link to one.
    pub is_dir: bool,
    /// Its length; 0 for folders and for what cannot be looked at.
    pub bytes: u64,
}

/// Lists a folder. Hidden entries are left out, as they are when the folder is opened.
pub fn list(folder: &Path) -> Listing {
    let mut listing = Listing {
        folder: folder.to_owned(),
        ..Listing::default()
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            listing.error = Some(format!("cannot list this folder: {error}"));
            return listing;
        }
    };
    let mut failed = 0usize;
    for entry in entries {
        let Ok(entry) = entry else {
            failed += 1;
            continue;
        };
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        let meta = std::fs::metadata(&path).ok();
        let is_dir = meta.as_ref().is_some_and(std::fs::Metadata::is_dir);
        listing.entries.push(Entry {
            bytes: meta.filter(|_| !is_dir).map_or(0, |m| m.len()),
            name,
            path,
            is_dir,
        });
    }
    listing
        .entries
        .sort_by(|a, b| (!a.is_dir, &a.name).cmp(&(!b.is_dir, &b.name)));
    listing.more = listing.entries.len().saturating_sub(ENTRIES);
    listing.entries.truncate(ENTRIES);
    if failed > 0 {
        listing.error = Some(format!("{failed} entries could not be looked at"));
    }
    listing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_first_and_hidden_entries_not_at_all() {
        let f = tempfile::tempdir().unwrap();
        std::fs::create_dir(f.path().join("z")).unwrap();
        crate::base::fs::write_atomic(&f.path().join("a.log"), b"12345").unwrap();
        crate::base::fs::write_atomic(&f.path().join(".hidden"), b"1").unwrap();
        let listing = list(f.path());
        let seen: Vec<(&str, bool, u64)> = listing
            .entries
            .iter()
            .map(|e| (e.name.as_str(), e.is_dir, e.bytes))
            .collect();
        assert_eq!(seen, [("z", true, 0), ("a.log", false, 5)]);
        assert_eq!(listing.error, None);
    }

    #[test]
    fn what_is_no_folder_says_why() {
        let listing = list(Path::new("/no/such/folder"));
        assert!(listing.entries.is_empty());
        assert!(listing.error.unwrap().contains("cannot list"));
    }
}
