//! What is kept between starts: settings with what was opened lately, and for each incident its view and notes.
//!
//! One folder, JSON files with the number of their schema, each written whole or not at all. Nothing in here may keep the
//! window from starting: what cannot be read, or was written by a newer version, is set aside under another name and told
//! of. The folder is given; the environment is read at the edge.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::fs;
use crate::base::id::stable_id;
use crate::base::time::Timestamp;
use crate::model::input::{Counts, Input};
use crate::session::notes::Notes;
use crate::session::settings::Settings;
use crate::session::view::View;
use crate::store::Snapshot;

/// The number of the files' shape. A change that an older version cannot read raises it.
const SCHEMA: u64 = 1;
/// What was opened lately, as many as the start page shows and a few more.
const RECENT: usize = 20;
/// Kept incidents that are searched for one whose inputs have changed.
const SEARCHED: usize = 200;
/// No file of ours is larger; what is, is something else.
const FILE_BYTES: u64 = 64 << 20;

/// Why a file of an earlier start was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Aside {
    /// It could not be read.
    Broken(PathBuf),
    /// A newer version wrote it.
    Newer(PathBuf),
    /// It could not be read, nor moved away; the system's own words.
    Stuck(PathBuf, String),
}

/// What an incident is known by: its inputs, wherever they lie.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// A hash of what its inputs hold.
    pub key: String,
    /// Where they lay when they were opened last.
    pub paths: Vec<PathBuf>,
    /// SHA-256 of each input that gave rows, in order, each once.
    pub inputs: Vec<String>,
}

impl Identity {
    /// Of these inputs, opened by these paths. Names and places do not count, so that a folder that was moved or renamed
    /// is known again; nor do inputs that gave no rows, so that a README may be edited.
    pub fn new(inputs: &[Input], paths: &[PathBuf]) -> Self {
        let mut hashes: Vec<String> = inputs
            .iter()
            .filter(|i| i.counts != Counts::default() && !i.sha256.is_empty())
            .map(|i| i.sha256.clone())
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        let key = stable_id("incident", hashes.iter().map(String::as_str));
        Self {
            key,
            paths: paths.iter().map(|p| absolute(p)).collect(),
            inputs: hashes,
        }
    }

    /// Whether it is the same place with other files in it, or the same files changed: one that grew, one that was added.
    fn is_akin(&self, other: &Self) -> bool {
        self.paths == other.paths
            && self
                .inputs
                .iter()
                .any(|i| other.inputs.binary_search(i).is_ok())
    }
}

/// How many rows of each kind a snapshot holds: indices into another shape mean nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shape {
    inputs: usize,
    series: usize,
    spans: usize,
    summaries: usize,
    requests: usize,
    profiles: usize,
    events: usize,
}

impl Shape {
    /// Of a snapshot.
    pub const fn of(snapshot: &Snapshot) -> Self {
        Self {
            inputs: snapshot.inputs.len(),
            series: snapshot.series.len(),
            spans: snapshot.spans.len(),
            summaries: snapshot.summaries.len(),
            requests: snapshot.requests.len(),
            profiles: snapshot.profiles.len(),
            events: snapshot.events.len(),
        }
    }
}

/// What is kept of one incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Which incident it is.
    pub identity: Identity,
    /// When it was written.
    pub at: Timestamp,
    /// Whether the window was closed after it, rather than ended by a crash.
    pub is_closed: bool,
    /// The version that wrote it; another may put rows in another order.
    pub version: String,
    /// What its indices point into.
    pub shape: Shape,
    /// What was shown; `None` when another version wrote it and it cannot be read.
    #[serde(default, deserialize_with = "lenient")]
    pub view: Option<View>,
    /// What was said.
    pub notes: Notes,
}

impl Saved {
    /// The view as it may be shown of `snapshot`.
    pub fn view_for(&self, snapshot: &Snapshot) -> Option<View> {
        let mut view = self.view.clone()?;
        if self.shape != Shape::of(snapshot) || self.version != env!("CARGO_PKG_VERSION") {
            view.forget_indices();
        }
        view.fit(snapshot);
        Some(view)
    }
}

/// A view of another version is dropped rather than the notes beside it.
fn lenient<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<View>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// Which incident is open, and what is kept of it.
#[derive(Debug, Clone)]
pub struct Known {
    /// Which.
    pub identity: Identity,
    /// What is kept of it.
    pub saved: Option<Saved>,
    /// What was set aside on the way.
    pub aside: Option<Aside>,
}

/// The folder. Cheap to clone; clones write in turn.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    /// The number of the newest state that was written, for all files: an older one that comes late is dropped.
    turn: Arc<Mutex<u64>>,
}

impl Store {
    /// In that folder; it is made when something is written.
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            turn: Arc::default(),
        }
    }

    fn settings_file(&self) -> PathBuf {
        self.folder.join("settings.json")
    }

    fn incidents(&self) -> PathBuf {
        self.folder.join("incidents")
    }

    fn incident_file(&self, key: &str) -> PathBuf {
        self.incidents().join(format!("{key}.json"))
    }

    /// What was set at an earlier start.
    pub fn settings(&self) -> (Option<Settings>, Option<Aside>) {
        let (settings, aside) = read::<Settings>(&self.settings_file());
        (settings.map(Settings::in_bounds), aside)
    }

    /// Which incident these inputs are, and what is kept of it.
    pub fn known(&self, inputs: &[Input], paths: &[PathBuf]) -> Known {
        let identity = Identity::new(inputs, paths);
        let (saved, aside) = read::<Saved>(&self.incident_file(&identity.key));
        let saved = saved.or_else(|| self.akin(&identity));
        Known {
            identity,
            saved,
            aside,
        }
    }

    /// The newest kept incident that was opened by the same paths and shares an input.
    fn akin(&self, identity: &Identity) -> Option<Saved> {
        let mut files: Vec<(std::time::SystemTime, PathBuf)> = std::fs::read_dir(self.incidents())
            .ok()?
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "json"))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort();
        files
            .iter()
            .rev()
            .take(SEARCHED)
            .filter_map(|(_, path)| parse::<Saved>(&read_bytes(path).ok()??).ok())
            .find(|saved| identity.is_akin(&saved.identity))
    }

    /// Writes settings and, when there is one, an incident. `turn` counts up with each call: what comes late loses.
    pub fn save(
        &self,
        turn: u64,
        settings: &Settings,
        saved: Option<&Saved>,
    ) -> Result<(), fs::FsError> {
        // Held while writing, so that files are written one after the other. What it guards is one number.
        let mut last = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if turn <= *last {
            return Ok(());
        }
        *last = turn;
        let mut settings = settings.clone();
        // Another window may have opened something meanwhile.
        if let (Some(other), _) = read::<Settings>(&self.settings_file()) {
            for recent in other.recent {
                if !settings.recent.contains(&recent) {
                    settings.recent.push(recent);
                }
            }
            settings.recent.truncate(RECENT);
        }
        write(&self.settings_file(), &settings)?;
        saved.map_or(Ok(()), |saved| {
            write(&self.incident_file(&saved.identity.key), saved)
        })
    }
}

/// Puts what was opened on top of what was opened lately.
pub fn remember(recent: &mut Vec<Vec<PathBuf>>, paths: &[PathBuf]) {
    let paths: Vec<PathBuf> = paths
        .iter()
        .filter(|p| p.as_os_str() != "-")
        .map(|p| absolute(p))
        .collect();
    if paths.is_empty() {
        return;
    }
    recent.retain(|known| *known != paths);
    recent.insert(0, paths);
    recent.truncate(RECENT);
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The value in a file, if there is one; a file that cannot be used is moved away.
fn read<T: DeserializeOwned>(path: &Path) -> (Option<T>, Option<Aside>) {
    let Ok(bytes) = read_bytes(path) else {
        return (None, Some(set_aside(path, Unusable::Broken)));
    };
    let Some(bytes) = bytes else {
        return (None, None);
    };
    match parse(&bytes) {
        Ok(value) => (Some(value), None),
        Err(unusable) => (None, Some(set_aside(path, unusable))),
    }
}

/// The bytes of a file; `None` when there is none.
fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, ()> {
    match fs::read_up_to(path, FILE_BYTES) {
        Ok((bytes, false)) => Ok(Some(bytes)),
        Err(fs::FsError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Ok(None)
        }
        Ok((_, true)) | Err(_) => Err(()),
    }
}

/// Why a file is of no use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unusable {
    /// It is not what was written.
    Broken,
    /// A newer version wrote it.
    Newer,
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unusable> {
    let value: Value = serde_json::from_slice(bytes).or(Err(Unusable::Broken))?;
    let schema = value.get("schema").and_then(Value::as_u64).unwrap_or(0);
    if schema > SCHEMA {
        return Err(Unusable::Newer);
    }
    let body = value.get("state").cloned().ok_or(Unusable::Broken)?;
    serde_json::from_value(body).or(Err(Unusable::Broken))
}

fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), fs::FsError> {
    let failed = |source| fs::FsError::Write {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let envelope = serde_json::json!({ "schema": SCHEMA, "state": value });
    let mut bytes = serde_json::to_vec_pretty(&envelope).map_err(|e| failed(e.into()))?;
    bytes.push(b'\n');
    fs::write_atomic(path, &bytes)
}

/// Gives the file another name, so that nothing in it is lost and the next one can be written.
fn set_aside(path: &Path, unusable: Unusable) -> Aside {
    let word = match unusable {
        Unusable::Newer => "newer",
        Unusable::Broken => "broken",
    };
    let name = path
        .file_name()
        .map_or_else(Default::default, |n| n.to_string_lossy());
    let free = (1..1000)
        .map(|n| path.with_file_name(format!("{name}.{word}-{n}")))
        .find(|candidate| !candidate.exists());
    let moved = free.ok_or_else(|| std::io::Error::other("too many files were set aside"));
    match moved.and_then(|to| std::fs::rename(path, &to).map(|()| to)) {
        Ok(to) if unusable == Unusable::Newer => Aside::Newer(to),
        Ok(to) => Aside::Broken(to),
        Err(error) => Aside::Stuck(path.to_owned(), error.to_string()),
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
