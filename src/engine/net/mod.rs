//! The network: runs the machines of `sources` over HTTP.
//!
//! One thread of its own holds a small `tokio` runtime; the caller waits. Each machine is asked for its next request while
//! its host has room ([`gate`]), each request is sent with its redirects and retries ([`send`]), and each answer is kept
//! before anybody is told of it ([`Keeper`]), so that what was reported is never lost. Nothing else in the program opens a
//! socket.

mod clients;
mod doctor;
mod drive;
mod failure;
mod gate;
mod interrupt;
mod masks;
#[cfg(test)]
mod profile_tests;
#[cfg(test)]
mod rang_tests;
mod secrets;
mod send;
#[cfg(feature = "aws")]
mod signing;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub(in crate::engine) mod unpack;

use std::time::Duration;

pub use interrupt::Interrupts;

use crate::base::reporter::Warning;
use crate::engine::cancel::Cancel;
use crate::model::exchange::Exchange;
use crate::sources::{Check, Checkup, Failure, Pull, SourceSettings, Verdict};

/// One source to pull from.
pub struct Job {
    /// What is known of it; its base address stands in `url`.
    pub settings: SourceSettings,
    /// Its machine.
    pub pull: Box<dyn Pull>,
}

/// Where exchanges go.
pub trait Keeper: Send {
    /// A good answer to the same question that is there already: it is not asked again.
    fn earlier(&mut self, key: &str) -> Option<Exchange>;
    /// Keeps one for good. Called before progress counts it.
    ///
    /// # Errors
    /// In words; they end the pull, since nothing more can be kept.
    fn keep(&mut self, exchange: &Exchange) -> Result<(), String>;
}

/// How far one source has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceProgress {
    /// Its name.
    pub name: String,
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that are known to be needed.
    pub expected: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Requests under way.
    pub in_flight: u32,
    /// Bytes a second, over the whole pull so far.
    pub rate_bytes_per_s: f64,
    /// How long it may still take, by the requests so far.
    pub left: Option<Duration>,
    /// Whether there is no more to come.
    pub is_done: bool,
}

/// Who looks on.
pub trait Watch: Send {
    /// Told at most ten times a second, and at the end.
    fn told(&mut self, progress: &[SourceProgress]);
    /// A source says something before it asks for the rest: how much that will be.
    fn announced(&mut self, _source: &str, _text: &str) {}
}

/// Nobody looks on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn told(&mut self, _: &[SourceProgress]) {}
}

/// How to use the network.
#[derive(Debug, Clone, Copy, Default)]
pub struct NetOptions {
    /// Whether it is not to be used at all.
    pub is_offline: bool,
}

/// How the pull of one source ended.
#[derive(Debug, Clone, Default)]
pub struct SourceEnd {
    /// Its name.
    pub name: String,
    /// What falls short, as the machine and the driver saw it.
    pub warnings: Vec<Warning>,
    /// The first failure, when nothing at all could be had.
    pub failure: Option<Failure>,
    /// Requests that were answered.
    pub answered: u64,
    /// Those of them that were answered well (2xx).
    pub good: u64,
    /// Bytes received.
    pub bytes: u64,
}

impl SourceEnd {
    /// Whether it said no to everything, or could not be reached.
    pub fn is_refused(&self) -> bool {
        self.failure.is_some() || self.good == 0 && self.answered > 0
    }
}

/// How a pull ended.
#[derive(Debug, Clone, Default)]
pub struct Pulled {
    /// Each source, in the order of the jobs.
    pub ends: Vec<SourceEnd>,
    /// Whether somebody stopped it.
    pub is_cancelled: bool,
}

/// Why a pull could not go on at all.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// The system gave no thread or no runtime.
    #[error("cannot start the network's thread: {0}")]
    Start(std::io::Error),
    /// An exchange could not be kept.
    #[error("{0}")]
    Keep(String),
}

/// Pulls every job to its end, or until `cancel`. Blocks; what arrives is handed to `keeper`.
///
/// # Errors
/// When nothing can be kept any more. What single sources could not give stands in [`Pulled`].
pub fn pull(
    jobs: Vec<Job>,
    options: NetOptions,
    keeper: &mut dyn Keeper,
    watch: &mut dyn Watch,
    cancel: &Cancel,
) -> Result<Pulled, NetError> {
    on_own_thread(drive::drive(jobs, options, keeper, watch, cancel))?
}

/// One source to look at.
pub type Look = (SourceSettings, Box<dyn Checkup>);

/// Looks at every source, for `doctor`.
///
/// # Errors
/// When the network's thread cannot be started.
pub fn examine(
    jobs: Vec<Look>,
    options: NetOptions,
    cancel: &Cancel,
) -> Result<Vec<Examined>, NetError> {
    on_own_thread(doctor::examine(jobs, options, cancel))
}

/// What was seen of one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Its name.
    pub source: String,
    /// Every check, in order.
    pub checks: Vec<(Check, Verdict)>,
}

fn on_own_thread<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, NetError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("tailscope-net".to_owned())
            .spawn_scoped(scope, || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_io()
                    .enable_time()
                    .thread_name("tailscope-net-file")
                    .build()?;
                let done = runtime.block_on(work);
                // A name that does not resolve may hold a thread for half a minute: nobody waits for it.
                runtime.shutdown_background();
                Ok(done)
            })
            .map_err(NetError::Start)?;
        match thread.join() {
            Ok(done) => done.map_err(NetError::Start),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
