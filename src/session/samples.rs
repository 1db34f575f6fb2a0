//! Incidents that came with the program, to try it on: folders with a README.
//!
//! Nothing in here knows any of them by name. Where they may lie is for the caller to say; [`places`] makes the usual list
//! from what the environment says.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::base::fs;
use crate::base::text::shorten;

/// How much of a README is looked at.
const README_BYTES: u64 = 16 * 1024;
/// Folders of one place that are looked into.
const FOLDERS: usize = 1000;
/// The folder of an incident that holds its recordings, when it holds other things besides.
const INPUT: &str = "input";

/// One incident to try.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sample {
    /// Its title: the heading of its README, else the name of its folder.
    pub title: String,
    /// The first sentence of its README, or empty.
    pub about: String,
    /// What to open.
    pub path: PathBuf,
}

/// Where sample incidents may lie.
///
/// In `fixtures` beside the program and in the current folder, and in `tailscope/samples` in each data folder of the system
/// (`$XDG_DATA_DIRS`, and what the standard gives when that is not set).
pub fn places(
    program: Option<&Path>,
    current: Option<&Path>,
    data_dirs: Option<&OsStr>,
) -> Vec<PathBuf> {
    let usual = OsStr::new("/usr/local/share:/usr/share");
    let data_dirs = data_dirs.filter(|dirs| !dirs.is_empty()).unwrap_or(usual);
    let beside = program.and_then(Path::parent);
    let mut places: Vec<PathBuf> = [current, beside]
        .into_iter()
        .flatten()
        .map(|folder| folder.join("fixtures"))
        .collect();
    places.extend(std::env::split_paths(data_dirs).map(|dir| dir.join("tailscope/samples")));
    places
}

/// The incidents in these places, by title, each once; places that are not there give none.
pub fn find(places: &[PathBuf]) -> Vec<Sample> {
    let mut seen = std::collections::BTreeSet::new();
    let mut found: Vec<Sample> = places
        .iter()
        .filter(|place| std::fs::canonicalize(place).is_ok_and(|real| seen.insert(real)))
        .flat_map(|place| in_place(place))
        .collect();
    found.sort();
    found.dedup_by(|a, b| a.path == b.path);
    found
}

/// Where one incident of a place keeps its recordings in a folder of their own, all do: what lies beside them is something else.
fn in_place(place: &Path) -> Vec<Sample> {
    let Ok(entries) = std::fs::read_dir(place) else {
        return Vec::new();
    };
    let folders: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .take(FOLDERS)
        .collect();
    let is_apart = folders.iter().any(|folder| folder.join(INPUT).is_dir());
    folders
        .iter()
        .filter(|folder| !is_apart || folder.join(INPUT).is_dir())
        .filter_map(|folder| sample(folder))
        .collect()
}

fn sample(folder: &Path) -> Option<Sample> {
    let (bytes, _) = fs::read_up_to(&folder.join("README.md"), README_BYTES).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let name = folder.file_name()?.to_string_lossy();
    let mut lines = text.lines().map(str::trim);
    let title = lines
        .find_map(|line| line.strip_prefix("# "))
        .map_or_else(|| name.to_string(), |title| title.trim().to_owned());
    let paragraph: Vec<&str> = lines
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with(['#', '|', '`']))
        .collect();
    let input = folder.join(INPUT);
    Some(Sample {
        title: shorten(&title, 120),
        about: shorten(first_sentence(&paragraph.join(" ")), 240),
        path: if input.is_dir() {
            input
        } else {
            folder.to_owned()
        },
    })
}

/// Up to the first full stop that ends a sentence: one before a blank and a capital letter, or at the end.
fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
    for end in ends {
        let rest = text.get(end..).unwrap_or("");
        let after = rest.trim_start();
        let is_end = rest.len() != after.len() && !after.starts_with(char::is_lowercase);
        if after.is_empty() || is_end {
            return text.get(..end).unwrap_or(text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write_atomic(path, text.as_bytes()).unwrap();
    }

    #[test]
    fn a_folder_with_a_readme_is_an_incident_and_its_input_is_opened() {
        let f = tempfile::tempdir().unwrap();
        let at = |p: &str| f.path().join(p);
        put(
            &at("one/README.md"),
            "# A slow night\n\nAt 2 a.m. it was slow. Nobody knew why.\nMore.\n\nEven more.\n",
        );
        put(&at("one/input/a.json"), "{}");
        put(&at("beside/README.md"), "# Not an incident\n");
        put(&at("no-readme/input/a.json"), "{}");
        let found = find(&[f.path().to_owned(), f.path().to_owned(), at("nowhere")]);
        assert_eq!(
            found,
            [Sample {
                title: "A slow night".to_owned(),
                about: "At 2 a.m. it was slow.".to_owned(),
                path: at("one/input"),
            }]
        );
    }

    #[test]
    fn where_none_has_an_input_folder_each_is_opened_itself() {
        let f = tempfile::tempdir().unwrap();
        put(
            &f.path().join("two/README.md"),
            "no heading, and no sentence",
        );
        let found = find(&[f.path().to_owned()]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].title, "two");
        assert_eq!(found[0].path, f.path().join("two"));
    }

    #[test]
    fn places_are_those_of_the_standard() {
        let places = places(
            Some(Path::new("/opt/t/tailscope")),
            Some(Path::new("/home/me")),
            Some(OsStr::new("/a:/b")),
        );
        let expected = [
            "/home/me/fixtures",
            "/opt/t/fixtures",
            "/a/tailscope/samples",
            "/b/tailscope/samples",
        ];
        assert_eq!(places, expected.map(PathBuf::from));
        assert!(
            super::places(None, None, None)
                .contains(&PathBuf::from("/usr/share/tailscope/samples"))
        );
    }
}
