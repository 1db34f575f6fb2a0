//! A few named threads for short work. The queue is bounded: when it is full, the asker asks again in a later frame.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

use crate::engine::{EngineError, Wake};

/// Jobs that may wait. A window asks for a few dozen at once (one for each lane on screen).
const WAITING: usize = 256;

type Work = Box<dyn FnOnce() + Send>;

/// A handle to the threads; they end when the last handle is gone.
#[derive(Clone)]
pub struct Pool {
    queue: SyncSender<Work>,
    open: Arc<AtomicUsize>,
    wake: Wake,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool")
            .field("open", &self.open)
            .finish_non_exhaustive()
    }
}

impl Pool {
    /// Starts `threads` of them.
    pub fn new(threads: usize, wake: Wake) -> Result<Self, EngineError> {
        let (queue, waiting) = sync_channel::<Work>(WAITING);
        let waiting = Arc::new(Mutex::new(waiting));
        for at in 0..threads.max(1) {
            let name = format!("tailscope-lane-{at}");
            let waiting = Arc::clone(&waiting);
            std::thread::Builder::new()
                .name(name.clone())
                .spawn(move || work_off(&waiting))
                .map_err(|source| EngineError::Thread { name, source })?;
        }
        Ok(Self {
            queue,
            open: Arc::default(),
            wake,
        })
    }

    /// Hands `work` over; `false` when too much waits already. Its panic ends nothing else.
    pub fn spawn(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let open = Arc::clone(&self.open);
        let wake = Arc::clone(&self.wake);
        open.fetch_add(1, Ordering::AcqRel);
        let counted: Work = Box::new(move || {
            drop(catch_unwind(AssertUnwindSafe(work)));
            open.fetch_sub(1, Ordering::AcqRel);
            wake();
        });
        match self.queue.try_send(counted) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.open.fetch_sub(1, Ordering::AcqRel);
                false
            }
        }
    }

    /// Lets go of something that may be large, beside the window: to free a gigabyte takes longer than a frame. Nobody waits
    /// for it and nothing is drawn after it.
    pub fn discard(&self, value: impl Send + 'static) {
        let gone: Work =
            Box::new(move || drop(catch_unwind(AssertUnwindSafe(move || drop(value)))));
        // When too much waits, it goes here and now.
        drop(self.queue.try_send(gone));
    }

    /// How many jobs wait or run.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::Acquire)
    }
}

fn work_off(waiting: &Mutex<Receiver<Work>>) {
    loop {
        // The lock is held while waiting: the others wait for the lock instead, which is the same.
        let next = match waiting.lock() {
            Ok(waiting) => waiting.recv(),
            Err(_) => return,
        };
        match next {
            Ok(work) => work(),
            Err(_) => return,
        }
    }
}
