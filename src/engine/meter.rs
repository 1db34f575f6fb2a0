//! How far a reading has come, counted from many threads and looked at a few times a second.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::load::Wishes;
use crate::model::input::Input;
use crate::session::intake::{ARCHIVE, UNREADABLE, UNRECOGNISED, Watch};

/// Inputs that were read last, which are told of one by one.
const LATEST: usize = 12;

/// How far the reading has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Inputs that were found so far.
    pub found: usize,
    /// Inputs that were read.
    pub read: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// Bytes of all inputs that were found so far, as they lie on disk.
    pub found_bytes: u64,
    /// What is read now, by path.
    pub current: Vec<String>,
    /// What is read now and what was read last, the newest first; bounded, however many inputs there are.
    pub latest: Vec<InputProgress>,
    /// Whether everything is read, and only the analysis runs.
    pub is_analysing: bool,
}

/// How far one input has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputProgress {
    /// Its path.
    pub path: String,
    /// Its bytes that were read.
    pub bytes: u64,
    /// All its bytes; 0 when nobody knows.
    pub of_bytes: u64,
    /// What it was read as, once it is; `archive` while its members are looked for; `None` while it is read.
    pub format: Option<String>,
    /// Rows of all kinds in it.
    pub rows: u64,
    /// Whether nothing of it could be used.
    pub is_useless: bool,
}

/// Counts.
#[derive(Debug)]
pub(crate) struct Meter {
    wishes: Wishes,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: Progress,
    running: Vec<InputProgress>,
    finished: VecDeque<InputProgress>,
    has_news: bool,
}

impl State {
    fn progress(&self) -> Progress {
        let newest = self.running.iter().rev().chain(self.finished.iter());
        // What comes out of an archive is counted when it is read, not twice.
        let inputs = self.running.iter().filter(|r| r.format.is_none());
        let coming: u64 = inputs.map(|r| r.bytes).sum();
        Progress {
            bytes: self.progress.bytes + coming,
            current: self.running.iter().map(|r| r.path.clone()).collect(),
            latest: newest.take(LATEST).cloned().collect(),
            ..self.progress.clone()
        }
    }
}

impl Meter {
    pub(crate) fn new(wishes: Wishes) -> Self {
        Self {
            wishes,
            state: Mutex::default(),
        }
    }

    /// How far it has come, when that is further than the last time.
    pub(crate) fn news(&self) -> Option<Progress> {
        let mut state = self.lock();
        std::mem::take(&mut state.has_news).then(|| state.progress())
    }

    /// How far it has come when the reading is over.
    pub(crate) fn analysing(&self) -> Progress {
        Progress {
            is_analysing: true,
            current: Vec::new(),
            ..self.lock().progress()
        }
    }

    /// Plain counts, which a panic elsewhere does not spoil.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> MutexGuard<'_, State> {
        let mut state = self.lock();
        state.has_news = true;
        state
    }

    fn begin(&self, path: &str, bytes: u64, format: Option<&str>) {
        self.change().running.push(InputProgress {
            path: path.to_owned(),
            of_bytes: bytes,
            format: format.map(str::to_owned),
            ..InputProgress::default()
        });
    }
}

impl Watch for Meter {
    fn found(&self, _path: &str, bytes: u64) {
        let mut state = self.change();
        state.progress.found += 1;
        state.progress.found_bytes += bytes;
    }

    fn opened(&self, archive: &str, bytes: u64) {
        self.begin(archive, bytes, Some(ARCHIVE));
    }

    fn started(&self, path: &str, bytes: u64) {
        self.begin(path, bytes, None);
    }

    fn advanced(&self, path: &str, bytes: u64) {
        let mut state = self.change();
        if let Some(input) = state.running.iter_mut().find(|r| r.path == path) {
            input.bytes += bytes;
        }
    }

    fn finished(&self, path: &str, input: Option<&Input>) {
        let mut state = self.change();
        let at = state.running.iter().position(|r| r.path == path);
        let started = at.map(|at| state.running.remove(at));
        let Some(input) = input else {
            return;
        };
        let started = started.unwrap_or_else(|| InputProgress {
            path: path.to_owned(),
            ..InputProgress::default()
        });
        let counts = &input.counts;
        let rows = counts.samples + counts.spans + counts.traces + counts.requests;
        state.progress.read += 1;
        state.progress.bytes += started.bytes;
        state.finished.push_front(InputProgress {
            rows: rows + counts.stacks + counts.events,
            format: Some(input.format.clone()),
            is_useless: matches!(input.format.as_str(), UNREADABLE | UNRECOGNISED),
            ..started
        });
        state.finished.truncate(LATEST);
    }

    fn is_cancelled(&self) -> bool {
        self.wishes.is_stopped()
    }
}
