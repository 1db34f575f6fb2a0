//! Opening inputs beside the window: read, join, analyse; each step is told as soon as it is done.
//!
//! One thread of its own waits, makes previews and tells; the reading and the analysis run in a pool that leaves one
//! processor to the window.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use crate::base::clock::Stopwatch;
use crate::engine::cancel::Cancel;
use crate::engine::meter::Meter;
pub use crate::engine::meter::{InputProgress, Progress};
use crate::engine::{EngineError, Wake};
use crate::model::input::{Counts, Input};
use crate::session::analysis::{Asked, Document};
use crate::session::incident::Incident;
use crate::session::intake::{Intake, Options, Reading};
use crate::session::state::{Known, Store};
use crate::session::workers;

/// Messages that may wait for the window. It takes them in before each frame; a few is much.
const WAITING: usize = 16;
/// How long the first lanes may keep a person waiting.
const FIRST_PREVIEW: Duration = Duration::from_millis(300);
/// How often the window is told how far the reading has come.
const TELL_EVERY: Duration = Duration::from_millis(50);
/// Rows that are copied for one preview. See [`Reading::so_far`].
const PREVIEW_BYTES: usize = 256 << 20;
/// Reasons that are told one by one when nothing useful was found.
const REASONS: usize = 200;

/// What to open, and how.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// Folders, files, archives, patterns.
    pub paths: Vec<PathBuf>,
    /// How to read.
    pub options: Options,
    /// The part of time that somebody asked for.
    pub asked: Asked,
    /// Whether the same is open already: nothing partial is shown in its place.
    pub is_reload: bool,
    /// Where what a person said of it at an earlier start is kept.
    pub store: Option<Store>,
}

/// What comes back.
#[derive(Debug)]
pub enum Message {
    /// How far it has come.
    Progress(Progress),
    /// Which incident it is, with what is kept of it. Comes just before its last rows.
    Known(Box<Known>),
    /// Rows to show; the report comes later.
    Rows(Incident),
    /// Everything, with the report.
    Done(Incident),
    /// Nothing useful was in it; why, one line for each input.
    Nothing(Vec<String>),
    /// The analysis failed; why. The rows that were shown stay.
    Failed(String),
    /// It was cancelled; what was shown stays.
    Cancelled,
}

/// What the window wants of a loader.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wishes {
    /// Read no more; show what is there.
    pub(crate) stop: Cancel,
    /// Do no more at all.
    pub(crate) abandon: Cancel,
}

impl Wishes {
    /// Whether the rest need not be read.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.is_cancelled() || self.abandon.is_cancelled()
    }
}

/// One opening in progress. Dropping it ends it, without waiting for its threads: they see it at the next input, block or
/// detector, and what they still give is dropped.
#[derive(Debug)]
pub struct Load {
    messages: Receiver<Message>,
    wishes: Wishes,
}

impl Drop for Load {
    fn drop(&mut self) {
        self.wishes.abandon.cancel();
    }
}

impl Load {
    /// Starts it on a thread of its own.
    pub fn start(opening: Opening, wake: Wake) -> Result<Self, EngineError> {
        let (send, messages) = sync_channel(WAITING);
        let wishes = Wishes::default();
        let loader = Loader {
            opening,
            wishes: wishes.clone(),
            send,
            wake,
        };
        let name = "tailscope-load".to_owned();
        std::thread::Builder::new()
            .name(name.clone())
            .spawn(move || loader.run())
            .map_err(|source| EngineError::Thread { name, source })?;
        Ok(Self { messages, wishes })
    }

    /// Stops the reading. What was read is shown and analysed; when that is not wanted either, drop it.
    pub fn cancel(&self) {
        self.wishes.stop.cancel();
    }

    /// The next message, when there is one.
    pub fn next(&self) -> Option<Message> {
        self.messages.try_recv().ok()
    }
}

/// Threads for reading and analysing: all but one, which the window needs to stay quick.
pub(super) fn threads() -> usize {
    let all = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    all.saturating_sub(1).max(1)
}

/// Generations of incidents never repeat while the program runs, so that no cache of one incident answers for another.
pub(super) fn next_generation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Whether there is anything to show. What was recognised and is empty, or was cut off before its first row, is not.
fn has_rows(intake: &Intake) -> bool {
    intake.parts.iter().any(|(input, batch)| {
        input.counts != Counts::default()
            || !(batch.edges.is_empty()
                && batch.targets.is_empty()
                && batch.metadata.is_empty()
                && batch.facts.is_empty())
    })
}

/// Why nothing came of an input; first whether it is merely something else.
fn reason(input: &Input) -> (bool, String) {
    let path = &input.path;
    let lost = input.warnings.iter().find(|w| w.lossy);
    let Some(warning) = lost.or_else(|| input.warnings.first()) else {
        let text = format!(
            "{path}: read as {}, and nothing is in it; ask for a longer time, or check the query",
            input.format
        );
        return (false, text);
    };
    let at = warning.at.as_ref().map(|at| format!(" at {at}"));
    let at = at.unwrap_or_default();
    (!warning.lossy, format!("{path}{at}: {}", warning.text))
}

struct Loader {
    opening: Opening,
    wishes: Wishes,
    send: SyncSender<Message>,
    wake: Wake,
}

impl Loader {
    fn run(self) {
        // The thread must not end without a last word: the window would wait for ever.
        let last = catch_unwind(AssertUnwindSafe(|| self.load())).unwrap_or_else(|_| {
            Message::Failed(
                "internal error while opening this; it is a defect of Tailscope, please report it"
                    .to_owned(),
            )
        });
        self.tell(last);
    }

    /// Waits while the channel is full: what is told is never lost, and the window never waits. Fails only when nobody
    /// listens any more.
    fn tell(&self, message: Message) {
        self.send.send(message).ok();
        (self.wake)();
    }

    fn load(&self) -> Message {
        let pool = match workers(threads()) {
            Ok(pool) => pool,
            Err(error) => return Message::Nothing(vec![error.to_string()]),
        };
        let meter = Arc::new(Meter::new(self.wishes.clone()));
        let intake = self.read(&pool, &meter);
        let is_cut = intake.is_cut;
        if self.wishes.abandon.is_cancelled()
            || (is_cut && (!has_rows(&intake) || self.opening.is_reload))
        {
            return Message::Cancelled;
        }
        if !has_rows(&intake) {
            return Message::Nothing(self.reasons(&intake));
        }
        self.tell(Message::Progress(meter.analysing()));
        let rows = self.incident(intake, !is_cut);
        if let Some(store) = &self.opening.store {
            let known = store.known(&rows.snapshot().inputs, &self.opening.paths);
            self.tell(Message::Known(Box::new(known)));
        }
        self.tell(Message::Rows(rows.clone()));
        let goes_on = || !self.wishes.abandon.is_cancelled();
        let report = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| rows.document.report_while(None, &goes_on))
        }));
        match report {
            Ok(Some(report)) => Message::Done(Incident {
                report: Some(Arc::new(report)),
                generation: next_generation(),
                ..rows
            }),
            Ok(None) => Message::Cancelled,
            Err(_) => Message::Failed(
                "internal error while looking for causes; it is a defect of Tailscope, please report it with these inputs"
                    .to_owned(),
            ),
        }
    }

    /// Reads, telling how far it has come, and shows what is there at growing distances.
    fn read(&self, pool: &rayon::ThreadPool, meter: &Arc<Meter>) -> Intake {
        let mut reading = Reading::start(
            self.opening.paths.clone(),
            self.opening.options.clone(),
            pool,
            Arc::<Meter>::clone(meter),
        );
        let clock = Stopwatch::start();
        let mut told = clock.elapsed();
        let mut next_preview = FIRST_PREVIEW;
        while reading.wait(TELL_EVERY) && !self.wishes.is_stopped() {
            let now = clock.elapsed();
            if now.saturating_sub(told) >= TELL_EVERY
                && let Some(progress) = meter.news()
                && self.send.try_send(Message::Progress(progress)).is_ok()
            {
                told = now;
                (self.wake)();
            }
            if now < next_preview || self.opening.is_reload {
                continue;
            }
            if let Some(intake) = reading.so_far(PREVIEW_BYTES).filter(has_rows) {
                let preview = self.incident(intake, false);
                self.tell(Message::Rows(preview));
            }
            // The next comes after as long again as all took so far, and after four times what this one cost: previews
            // never take more than a fifth of the time, and there are few of them however long the reading takes.
            let after = clock.elapsed();
            next_preview = after + after.max(after.saturating_sub(now) * 4);
        }
        reading.finish()
    }

    fn incident(&self, intake: Intake, is_complete: bool) -> Incident {
        Incident {
            document: Arc::new(Document::new(intake, self.opening.asked)),
            report: None,
            generation: next_generation(),
            is_complete,
        }
    }

    /// Why nothing useful was found: a line for each input, what was lost before what is merely something else.
    fn reasons(&self, intake: &Intake) -> Vec<String> {
        if intake.parts.is_empty() {
            let nothing = |path: &PathBuf| {
                format!(
                    "{}: no file in it that could be read (hidden files are left out); choose the folder that holds the recordings",
                    path.display()
                )
            };
            return self.opening.paths.iter().map(nothing).collect();
        }
        let mut lines: Vec<(bool, String)> = intake
            .parts
            .iter()
            .map(|(input, _)| reason(input))
            .collect();
        lines.sort();
        let more = lines.len().saturating_sub(REASONS);
        lines.truncate(REASONS);
        let mut lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        if more > 0 {
            lines.push(format!(
                "{more} more inputs that could not be used: `tailscope inspect PATH` lists them all"
            ));
        }
        lines
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
