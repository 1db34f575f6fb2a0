//! Reading beside whoever waits for it: small inputs first, what is there so far at any time, and an end at once when
//! nobody wants the rest.
//!
//! The work runs in a pool that is handed in; whoever holds the [`Reading`] only waits, looks and takes. Readers of single
//! inputs are one call each and cannot be interrupted: when the reading is stopped, they are left to themselves and what
//! they give is dropped.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::batch::Batch;
use crate::session::intake::parse::{Part, of_problem, panic_words, read_leaf};
use crate::session::intake::sidecar::Sidecars;
use crate::session::intake::unpack::Leaf;
use crate::session::intake::walk::Problem;
use crate::session::intake::watch::Watch;
use crate::session::intake::{Gathered, Intake, Options, WindowHint, finish, gather};

/// One reading in progress. Dropping it leaves the rest unread; it never waits.
pub struct Reading {
    shared: Arc<Shared>,
    watch: Arc<dyn Watch>,
    /// What was taken over, in order of coming.
    parts: Vec<Part>,
    /// How many of `parts` the last look at what is there held.
    shown: usize,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Read, and not taken over yet.
    done: Vec<Part>,
    /// What waits, the smallest first.
    waiting: VecDeque<Leaf>,
    /// What is read now, by turn: its path and whether it was named.
    running: BTreeMap<usize, (String, bool)>,
    windows: Vec<WindowHint>,
    turns: usize,
    is_gathered: bool,
}

impl State {
    fn is_over(&self) -> bool {
        self.is_gathered && self.waiting.is_empty() && self.running.is_empty()
    }
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading")
            .field("parts", &self.parts.len())
            .finish_non_exhaustive()
    }
}

impl Reading {
    /// Starts to read `arguments` in `pool`; `-` is standard input.
    pub fn start(
        arguments: Vec<PathBuf>,
        options: Options,
        pool: &rayon::ThreadPool,
        watch: Arc<dyn Watch>,
    ) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let (here, looks_on) = (Arc::clone(&shared), Arc::clone(&watch));
        let threads = pool.current_num_threads();
        pool.spawn(move || here.begin(&arguments, options, &looks_on, threads));
        Self {
            shared,
            watch,
            parts: Vec::new(),
            shown: 0,
        }
    }

    /// Waits until something was read, at most so long. Whether there is more to come.
    pub fn wait(&mut self, patience: Duration) -> bool {
        let state = self.shared.lock();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, patience, |s| s.done.is_empty() && !s.is_over());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        self.parts.append(&mut state.done);
        !state.is_over()
    }

    /// What was read so far, when that is more than the last time. Rows are copied, of the inputs that came first, until
    /// their copies take `limit` bytes: that bounds both the memory and the time of a look.
    pub fn so_far(&mut self, limit: usize) -> Option<Intake> {
        let mut bytes = 0usize;
        let fitting = self
            .parts
            .iter()
            .take_while(|part| {
                bytes = bytes.saturating_add(bytes_of(&part.batch));
                bytes <= limit
            })
            .count();
        if fitting <= self.shown {
            return None;
        }
        self.shown = fitting;
        let parts = self.parts.get(..fitting)?.to_vec();
        let windows = self.shared.lock().windows.clone();
        Some(finish(parts, &windows))
    }

    /// All that was read. What was not is listed, and the whole is partial then.
    pub fn finish(mut self) -> Intake {
        let mut state = self.shared.lock();
        self.parts.append(&mut state.done);
        let waiting = std::mem::take(&mut state.waiting);
        let unread = waiting
            .into_iter()
            .map(|leaf| (leaf.path, leaf.is_named))
            .chain(std::mem::take(&mut state.running).into_values());
        let mut parts = std::mem::take(&mut self.parts);
        parts
            .extend(unread.map(|(path, is_named)| of_problem(path, Problem::not_read(), is_named)));
        let (windows, is_gathered) = (state.windows.clone(), state.is_gathered);
        drop(state);
        let mut intake = finish(parts, &windows);
        intake.is_partial |= !is_gathered;
        intake.is_cut |= !is_gathered;
        intake
    }

    /// Whether nobody wants the rest.
    pub fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}

impl Shared {
    /// The state is plain data that is whole between any two statements, so a panic elsewhere does not spoil it.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds what there is, and lets the threads of the pool read it.
    fn begin(
        self: Arc<Self>,
        arguments: &[PathBuf],
        options: Options,
        watch: &Arc<dyn Watch>,
        threads: usize,
    ) {
        let found = catch_unwind(AssertUnwindSafe(|| {
            gather(arguments, &options, &mut std::io::stdin(), &**watch)
        }));
        let Gathered {
            parts,
            mut leaves,
            sidecars,
        } = found.unwrap_or_else(|payload| Gathered {
            parts: arguments
                .iter()
                .map(|path| internal(path.to_string_lossy().into_owned(), payload.as_ref()))
                .collect(),
            leaves: Vec::new(),
            sidecars: Sidecars::default(),
        });
        // Small ones first: most kinds of lanes are there after a moment, and only the large ones are waited for.
        leaves.sort_by_key(|leaf| leaf.length);
        {
            let mut state = self.lock();
            state.done.extend(parts);
            state.windows.clone_from(&sidecars.windows);
            state.waiting = leaves.into();
            state.is_gathered = true;
        }
        self.changed.notify_all();
        let help = Arc::new((sidecars, options));
        for _ in 0..threads {
            let (here, help, watch) = (Arc::clone(&self), Arc::clone(&help), Arc::clone(watch));
            rayon::spawn(move || here.read_all(&help.0, &help.1, &*watch));
        }
    }

    /// Reads one after the other until nothing waits or nobody wants it.
    fn read_all(&self, sidecars: &Sidecars, options: &Options, watch: &dyn Watch) {
        while !watch.is_cancelled() {
            let (turn, leaf) = {
                let mut state = self.lock();
                let Some(leaf) = state.waiting.pop_front() else {
                    return;
                };
                let turn = state.turns;
                state.turns += 1;
                let running = (leaf.path.clone(), leaf.is_named);
                state.running.insert(turn, running);
                (turn, leaf)
            };
            let path = leaf.path.clone();
            let part = catch_unwind(AssertUnwindSafe(|| {
                read_leaf(leaf, sidecars, options, watch)
            }))
            .unwrap_or_else(|payload| internal(path, payload.as_ref()));
            let mut state = self.lock();
            // Nobody waits for it any more when its turn was taken away.
            if state.running.remove(&turn).is_some() {
                state.done.push(part);
            }
            drop(state);
            self.changed.notify_all();
        }
    }
}

fn internal(path: String, payload: &(dyn std::any::Any + Send)) -> Part {
    let why = format!(
        "internal error: {}; this is a defect of Tailscope, please report it",
        panic_words(payload)
    );
    of_problem(path, Problem::lost("internal_error", why), false)
}

/// About how much memory a copy of these rows takes. Texts are shared, not copied.
fn bytes_of(batch: &Batch) -> usize {
    fn rows<T>(rows: &[T]) -> usize {
        size_of_val(rows)
    }
    let series: usize = batch
        .series
        .iter()
        .map(|s| {
            let buckets: usize = s.histograms.iter().map(|h| rows(&h.buckets)).sum();
            rows(&s.t) + rows(&s.v) + rows(&s.histograms) + buckets + rows(&s.exemplars)
        })
        .sum();
    let attempts: usize = batch.requests.iter().map(|r| rows(&r.attempts)).sum();
    let stacks: usize = batch
        .profiles
        .iter()
        .flat_map(|p| &p.groups)
        .map(|g| size_of_val(g) + g.frames.bytes() + rows(&g.pointers))
        .sum();
    series
        + attempts
        + stacks
        + rows(&batch.series)
        + rows(&batch.spans)
        + rows(&batch.summaries)
        + rows(&batch.edges)
        + rows(&batch.requests)
        + rows(&batch.profiles)
        + rows(&batch.events)
        + rows(&batch.targets)
        + rows(&batch.metadata)
        + rows(&batch.facts)
}

#[cfg(test)]
#[path = "reading_tests.rs"]
mod tests;
