//! The document: which inputs there are, and what was made of them.
//!
//! [`intake`] turns arguments into rows, [`analysis`] turns rows into a report; [`incident`] is both, as the window holds them,
//! with its [`view`], the [`notes`] that a person made and the [`settings`]; [`state`] keeps those between starts. [`samples`]
//! looks for incidents to try. Outside crates that only this floor may name: `zip`, `tar`, `zstd`, `flate2`,
//! `glob`.

pub mod analysis;
pub mod bundle;
pub mod compare;
pub mod evidence;
mod fit;
pub mod folder;
pub mod incident;
pub mod intake;
pub mod notes;
pub mod replay;
pub mod samples;
pub mod settings;
pub mod state;
pub mod target;
pub mod timeline;
pub mod undo;
pub mod view;

/// Why something could not be done at all.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The threads that were asked for could not be started.
    #[error("cannot start {jobs} worker threads: {source}")]
    Threads {
        /// How many were asked for.
        jobs: usize,
        /// The system's own words.
        source: rayon::ThreadPoolBuildError,
    },
}

/// Worker threads for reading and analysing; 0 means one for each processor. Results never depend on the number.
pub fn workers(jobs: usize) -> Result<rayon::ThreadPool, SessionError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(jobs)
        .thread_name(|at| format!("tailscope-worker-{at}"))
        .build()
        .map_err(|source| SessionError::Threads { jobs, source })
}

/// Runs `work` with `jobs` [`workers`].
pub fn with_jobs<T: Send>(jobs: usize, work: impl FnOnce() -> T + Send) -> Result<T, SessionError> {
    workers(jobs).map(|pool| pool.install(work))
}
