//! Arguments → files, in a fixed order. Opens nothing but folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::base::reporter::Warning;
use crate::session::intake::limits::Limits;
use crate::session::intake::watch::Watch;

/// A file that was found, or what stands in its place.
#[derive(Debug)]
pub(super) struct Found {
    /// Path relative to its argument, with `/`.
    pub(super) path: String,
    /// Where it lies: absolute, with `/`; what sidecars are joined by.
    pub(super) location: String,
    /// Whether the argument named this very file.
    pub(super) is_named: bool,
    /// What it is.
    pub(super) what: What,
}

/// What was found.
#[derive(Debug)]
pub(super) enum What {
    /// A regular file.
    File(PathBuf),
    /// A pipe or device that an argument named: it can be read once.
    Stream(PathBuf),
    /// Standard input.
    Stdin,
    /// Nothing that can be read.
    Problem(Problem),
}

/// Why something was not read.
#[derive(Debug)]
pub(super) struct Problem {
    /// The word in `inputs[].format`.
    pub(super) format: &'static str,
    /// Why.
    pub(super) warning: Warning,
}

impl Problem {
    /// Data were lost, or may have been.
    pub(super) fn lost(code: &str, text: impl Into<String>) -> Self {
        Self::new(super::UNREADABLE, code, text.into(), true)
    }

    /// Nothing was lost.
    pub(super) fn note(code: &str, text: impl Into<String>) -> Self {
        Self::new(super::UNRECOGNISED, code, text.into(), false)
    }

    /// Nobody wanted it any more before its turn came, or before it was read whole.
    pub(super) fn not_read() -> Self {
        Self::new(
            super::NOT_READ,
            super::NOT_READ,
            "the reading was stopped before this was read: open it again to have it all".to_owned(),
            true,
        )
    }

    fn new(format: &'static str, code: &str, text: String, lossy: bool) -> Self {
        let warning = Warning {
            code: code.to_owned(),
            text,
            at: None,
            lossy,
        };
        Self { format, warning }
    }
}

/// The files of all arguments by path. The order of the arguments does not matter, and a file that two of them reach is
/// there once.
pub(super) fn files(arguments: &[PathBuf], limits: &Limits, watch: &dyn Watch) -> Vec<Found> {
    let mut walk = Walk {
        limits,
        watch,
        found: Vec::new(),
        too_many: false,
    };
    for argument in arguments {
        walk.argument(argument);
    }
    let mut found = walk.found;
    found.sort_by(|a, b| (&a.path, &a.location).cmp(&(&b.path, &b.location)));
    let named: BTreeMap<String, bool> = found.iter().fold(BTreeMap::new(), |mut all, f| {
        *all.entry(f.location.clone()).or_default() |= f.is_named;
        all
    });
    let mut seen = BTreeSet::new();
    found.retain(|f| seen.insert(f.location.clone()));
    for file in &mut found {
        file.is_named = named.get(&file.location).copied().unwrap_or(false);
    }
    found
}

struct Walk<'a> {
    limits: &'a Limits,
    watch: &'a dyn Watch,
    found: Vec<Found>,
    too_many: bool,
}

impl Walk<'_> {
    fn argument(&mut self, argument: &Path) {
        if argument.as_os_str() == "-" {
            self.push("-".to_owned(), "-".to_owned(), true, What::Stdin);
            return;
        }
        match std::fs::metadata(argument) {
            Ok(meta) if meta.is_dir() => self.folder(argument),
            Ok(meta) => {
                let name = argument
                    .file_name()
                    .map_or_else(|| slashed(argument), |n| n.to_string_lossy().into_owned());
                let what = if meta.is_file() {
                    What::File(argument.to_owned())
                } else {
                    What::Stream(argument.to_owned())
                };
                self.push(name, location(argument), true, what);
            }
            Err(error) => {
                let text = argument.to_string_lossy();
                if text.contains(['*', '?', '[']) && error.kind() == std::io::ErrorKind::NotFound {
                    self.glob(&text);
                } else {
                    let why = format!("cannot read: {error}");
                    self.problem(argument, true, Problem::lost("unreadable", why));
                }
            }
        }
    }

    /// Matches are named relative to the folder before the first wild card.
    fn glob(&mut self, pattern: &str) {
        let as_named = Path::new(pattern);
        let paths = match glob::glob(pattern) {
            Ok(paths) => paths,
            Err(error) => {
                let why = format!("not a pattern of file names: {error}");
                return self.problem(as_named, true, Problem::lost("bad_pattern", why));
            }
        };
        let base: PathBuf = as_named
            .components()
            .take_while(|c| !c.as_os_str().to_string_lossy().contains(['*', '?', '[']))
            .collect();
        let before = self.found.len();
        // An entry that cannot be looked at is an unreadable folder on the way, not a match.
        for path in paths.flatten() {
            let relative = slashed(path.strip_prefix(&base).unwrap_or(&path));
            match std::fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => self.below(&path, &relative),
                Ok(meta) if meta.is_file() => {
                    self.push(relative, location(&path), true, What::File(path));
                }
                Ok(_) | Err(_) => {}
            }
        }
        if self.found.len() == before {
            let why = "no file matches this pattern";
            self.problem(as_named, true, Problem::lost("no_match", why));
        }
    }

    fn folder(&mut self, root: &Path) {
        self.below(root, "");
    }

    /// Everything below a folder; `prefix` is its name in paths.
    fn below(&mut self, root: &Path, prefix: &str) {
        let mut visited = BTreeSet::new();
        if let Ok(real) = std::fs::canonicalize(root) {
            visited.insert(real);
        }
        let mut open = vec![(root.to_owned(), prefix.to_owned(), 0usize)];
        while let Some((folder, prefix, depth)) = open.pop() {
            let is_root = depth == 0;
            let mut names: Vec<_> = match std::fs::read_dir(&folder) {
                Ok(entries) => entries.flatten().map(|e| e.file_name()).collect(),
                Err(error) => {
                    let why = format!("cannot list this folder: {error}");
                    let path = if prefix.is_empty() {
                        slashed(&folder)
                    } else {
                        prefix
                    };
                    let what = What::Problem(Problem::lost("unreadable", why));
                    self.push(path, location(&folder), is_root, what);
                    continue;
                }
            };
            names.sort();
            for name in names {
                let shown = name.to_string_lossy().into_owned();
                if is_skipped(&shown) {
                    continue;
                }
                let path = folder.join(&name);
                let relative = if prefix.is_empty() {
                    shown
                } else {
                    format!("{prefix}/{shown}")
                };
                if let Some(next) = self.entry(path, relative, &mut visited) {
                    if depth >= self.limits.folder_depth {
                        let why = format!(
                            "more than {} folders deep: not read",
                            self.limits.folder_depth
                        );
                        let what = What::Problem(Problem::lost("too_deep", why));
                        self.push(next.1, location(&next.0), false, what);
                    } else {
                        open.push((next.0, next.1, depth + 1));
                    }
                }
                if self.too_many {
                    return;
                }
                if self.watch.is_cancelled() {
                    let what = What::Problem(Problem::not_read());
                    return self.push(slashed(&folder), location(&folder), is_root, what);
                }
            }
        }
    }

    /// Takes a file; gives back a folder to go into.
    fn entry(
        &mut self,
        path: PathBuf,
        relative: String,
        visited: &mut BTreeSet<PathBuf>,
    ) -> Option<(PathBuf, String)> {
        let place = location(&path);
        let what = match std::fs::metadata(&path) {
            Ok(meta) if meta.is_dir() => {
                let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if visited.insert(real) {
                    return Some((path, relative));
                }
                What::Problem(Problem::note(
                    "symlink_loop",
                    "a link to a folder that is read already: not followed",
                ))
            }
            Ok(meta) if meta.is_file() => What::File(path),
            Ok(_) => What::Problem(Problem::note(
                "not_a_file",
                "a pipe, socket or device: name it on the command line to read it",
            )),
            Err(error) => {
                What::Problem(Problem::lost("unreadable", format!("cannot read: {error}")))
            }
        };
        self.push(relative, place, false, what);
        None
    }

    fn problem(&mut self, path: &Path, is_named: bool, problem: Problem) {
        self.push(
            slashed(path),
            location(path),
            is_named,
            What::Problem(problem),
        );
    }

    fn push(&mut self, path: String, location: String, is_named: bool, what: What) {
        if self.too_many {
            return;
        }
        if self.found.len() >= self.limits.files {
            self.too_many = true;
            let why = format!(
                "more than {} files: this one and the rest were not read; name fewer",
                self.limits.files
            );
            self.found.push(Found {
                path,
                location,
                is_named,
                what: What::Problem(Problem::lost("too_many_files", why)),
            });
            return;
        }
        self.found.push(Found {
            path,
            location,
            is_named,
            what,
        });
    }
}

/// Hidden files, and what version control and archivers keep for themselves.
pub(super) fn is_skipped(name: &str) -> bool {
    name.starts_with('.') || matches!(name, "CVS" | "__MACOSX" | "Thumbs.db" | "desktop.ini")
}

fn slashed(path: &Path) -> String {
    let parts: Vec<String> = path
        .components()
        .filter(|c| !matches!(c, Component::CurDir))
        .map(|c| match c {
            Component::RootDir => String::new(),
            other => other.as_os_str().to_string_lossy().into_owned(),
        })
        .collect();
    parts.join("/")
}

fn location(path: &Path) -> String {
    slashed(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}
