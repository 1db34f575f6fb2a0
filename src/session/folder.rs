//! What stands in a folder, for the dialogs that open and save, and how a half-typed path is completed.

use std::path::{Path, PathBuf};

use crate::base::fs::FsError;

/// More entries than this are counted and left out: nobody scrolls through them, and typing narrows.
pub const MOST: usize = 4000;

/// One file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its name, for people.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// How large a file is.
    pub bytes: Option<u64>,
}

/// What stands in a folder: folders first, each by name without regard to case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// The folder.
    pub folder: PathBuf,
    /// What is in it.
    pub items: Vec<Item>,
    /// How many more there are.
    pub left_out: usize,
}

/// Reads a folder. Hidden entries are left out unless they are asked for.
pub fn list(folder: &Path, is_hidden_shown: bool) -> Result<Listing, FsError> {
    let wrap = |source| FsError::Read {
        path: folder.to_owned(),
        source,
    };
    let mut items = Vec::new();
    let mut left_out = 0;
    for entry in std::fs::read_dir(folder).map_err(wrap)? {
        // An entry that vanishes while the folder is read is no failure.
        let Ok(entry) = entry else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') && !is_hidden_shown {
            continue;
        }
        if items.len() == MOST {
            left_out += 1;
            continue;
        }
        let path = entry.path();
        // Follows links, so that a link to a folder can be entered; one that leads nowhere is shown as a file.
        let meta = std::fs::metadata(&path).ok();
        let is_folder = meta.as_ref().is_some_and(std::fs::Metadata::is_dir);
        items.push(Item {
            name,
            path,
            is_folder,
            bytes: meta.filter(std::fs::Metadata::is_file).map(|m| m.len()),
        });
    }
    items.sort_by_cached_key(|i| (!i.is_folder, i.name.to_lowercase(), i.name.clone()));
    Ok(Listing {
        folder: folder.to_owned(),
        items,
        left_out,
    })
}

/// Where a dialog begins when nothing was opened before: the working folder, else the home folder.
pub fn first() -> PathBuf {
    std::env::current_dir()
        .ok()
        .filter(|p| p.parent().is_some())
        .or_else(home)
        .unwrap_or_else(|| PathBuf::from("/"))
}

/// The home folder.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
}

/// What was typed, as a path: `~` is the home folder, the rest is taken from `folder`.
pub fn resolve(folder: &Path, typed: &str, home: Option<&Path>) -> PathBuf {
    let typed = typed.trim();
    let at_home = match (typed.strip_prefix('~'), home) {
        (Some(""), Some(home)) => Some(home.to_owned()),
        (Some(rest), Some(home)) if rest.starts_with('/') => {
            Some(home.join(rest.trim_start_matches('/')))
        }
        _ => None,
    };
    let path = at_home.unwrap_or_else(|| folder.join(typed));
    plain(&path)
}

/// A path without `.` and `..`, as text: links are not looked at, since what a person typed is what is meant.
fn plain(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The folder that typed text speaks of, and the begin of the name in it.
pub fn split(folder: &Path, typed: &str, home: Option<&Path>) -> (PathBuf, String) {
    match typed.rsplit_once('/') {
        Some(("", name)) => (PathBuf::from("/"), name.to_owned()),
        Some((before, name)) => (resolve(folder, before, home), name.to_owned()),
        None if typed.trim() == "~" => (resolve(folder, typed, home), String::new()),
        None => (folder.to_owned(), typed.to_owned()),
    }
}

/// What the text becomes with Tab: as much as all names that begin like it share; a single folder gets its slash.
/// `None` when nothing begins like it or nothing would change.
pub fn complete(typed: &str, items: &[Item]) -> Option<String> {
    let (before, begun) = match typed.rfind('/') {
        Some(at) => typed.split_at_checked(at + 1)?,
        None => ("", typed),
    };
    let exact: Vec<&Item> = items.iter().filter(|i| i.name.starts_with(begun)).collect();
    // Only where nothing begins exactly so may the case differ.
    let begins: Vec<&Item> = if exact.is_empty() {
        let lower = begun.to_lowercase();
        items
            .iter()
            .filter(|i| i.name.to_lowercase().starts_with(&lower))
            .collect()
    } else {
        exact
    };
    let first = begins.first()?;
    let mut shared: Vec<char> = first.name.chars().collect();
    for item in &begins {
        let same = shared
            .iter()
            .zip(item.name.chars())
            .take_while(|(a, b)| **a == *b)
            .count();
        shared.truncate(same);
    }
    let mut name: String = shared.into_iter().collect();
    if name.chars().count() < begun.chars().count() {
        return None;
    }
    if begins.len() == 1 && first.is_folder {
        name.push('/');
    }
    let done = format!("{before}{name}");
    (done != typed).then_some(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, is_folder: bool) -> Item {
        Item {
            name: name.to_owned(),
            path: PathBuf::from("/x").join(name),
            is_folder,
            bytes: (!is_folder).then_some(1),
        }
    }

    #[test]
    fn tab_adds_what_all_share_and_closes_a_single_folder() {
        let items = [
            item("input", true),
            item("incident-1", true),
            item("incident-2", true),
            item("README.md", false),
        ];
        assert_eq!(complete("/x/i", &items), Some("/x/in".to_owned()));
        assert_eq!(complete("inc", &items), Some("incident-".to_owned()));
        assert_eq!(complete("/x/inp", &items), Some("/x/input/".to_owned()));
        assert_eq!(complete("rea", &items), Some("README.md".to_owned()));
        assert_eq!(complete("README.md", &items), None);
        assert_eq!(complete("zzz", &items), None);
        assert_eq!(complete("", &[]), None);
    }

    #[test]
    fn typed_paths_are_taken_from_the_folder_or_from_home() {
        let home = Path::new("/home/kim");
        let at = |typed| resolve(Path::new("/data"), typed, Some(home));
        assert_eq!(at("a/b"), Path::new("/data/a/b"));
        assert_eq!(at("/a"), Path::new("/a"));
        assert_eq!(at("~/a"), Path::new("/home/kim/a"));
        assert_eq!(at("../b/./c"), Path::new("/b/c"));
        assert_eq!(
            split(Path::new("/data"), "/et", Some(home)),
            (PathBuf::from("/"), "et".to_owned())
        );
        assert_eq!(
            split(Path::new("/data"), "a/b", Some(home)),
            (PathBuf::from("/data/a"), "b".to_owned())
        );
    }

    #[test]
    fn a_folder_lists_folders_first_and_hides_what_begins_with_a_dot() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b", "A"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        for name in ["z.txt", ".hidden"] {
            crate::base::fs::write_atomic(&folder.path().join(name), b"123").unwrap();
        }
        let listing = list(folder.path(), false).unwrap();
        let names: Vec<&str> = listing.items.iter().map(|i| i.name.as_str()).collect();
        assert_eq!(names, ["A", "b", "z.txt"]);
        assert_eq!(listing.items[2].bytes, Some(3));
        assert_eq!(list(folder.path(), true).unwrap().items.len(), 4);
        let error = list(&folder.path().join("no"), false).unwrap_err();
        assert!(error.to_string().contains("no"));
    }
}
