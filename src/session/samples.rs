//! Sample incidents: folders with a README beside the program, in the working folder or where the system keeps shared data. Nothing in
//! here knows the name of one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A sample incident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The title of its README.
    pub title: String,
    /// The first paragraph of its README.
    pub text: String,
    /// What to open.
    pub path: PathBuf,
}

/// The most of a README that is read.
const README_BYTES: u64 = 64 * 1024;

/// Every sample that is found: in `fixtures/` at or above the folder of the program or the working folder, and in
/// `tailscope/samples` of each of the system's data folders (`XDG_DATA_DIRS`).
pub fn samples(
    exe_folder: Option<&Path>,
    cwd: Option<&Path>,
    xdg_data_dirs: Option<&OsStr>,
) -> Vec<Sample> {
    let near = [exe_folder, cwd].into_iter().flatten();
    let mut roots: Vec<PathBuf> = near
        .flat_map(|folder| folder.ancestors().take(4))
        .map(|folder| folder.join("fixtures"))
        .collect();
    if let Some(dirs) = xdg_data_dirs {
        roots.extend(std::env::split_paths(dirs).map(|d| d.join("tailscope/samples")));
    }
    let mut found: Vec<Sample> = Vec::new();
    for root in roots {
        let Ok(entries) = std::fs::read_dir(&root) else {
            continue;
        };
        let mut folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
        folders.sort();
        found.extend(folders.iter().filter_map(|f| sample(f)));
    }
    found.sort_by(|a, b| (&a.title, &a.path).cmp(&(&b.title, &b.path)));
    found.dedup_by(|a, b| a.title == b.title);
    found
}

/// A folder with a README and an `input` folder.
fn sample(folder: &Path) -> Option<Sample> {
    let path = folder.join("input");
    if !path.is_dir() {
        return None;
    }
    let (bytes, _) = crate::base::fs::read_up_to(&folder.join("README.md"), README_BYTES).ok()?;
    let readme = String::from_utf8_lossy(&bytes);
    let mut lines = readme.lines();
    let title = lines.find_map(|l| l.strip_prefix("# "))?.trim().to_owned();
    let text: Vec<&str> = lines
        .map(str::trim)
        .skip_while(|l| l.is_empty() || l.starts_with('#'))
        .take_while(|l| !l.is_empty())
        .collect();
    Some(Sample {
        title,
        text: text.join(" "),
        path,
    })
}
