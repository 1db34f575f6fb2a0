//! Work beside the window: named threads, jobs that can be cancelled, and messages back. Nothing in here knows who draws.
//!
//! [`pool`] runs short work (what a lane draws, the order of a table's rows); [`memo`] is how a frame asks for the result
//! without waiting; [`load`] opens inputs. [`net`] drives live sources, [`serve`] answers from an incident, [`replay`] runs one forward.

pub mod cancel;
pub mod load;
pub mod memo;
mod meter;
#[cfg(feature = "live")]
pub mod net;
pub mod pool;
pub mod replay;
#[cfg(feature = "live")]
pub mod serve;

/// Why the engine could not start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The system gave no thread.
    #[error("cannot start the thread {name}: {source}")]
    Thread {
        /// Its name.
        name: String,
        /// The system's own words.
        source: std::io::Error,
    },
}

/// Wakes whoever waits for results; the window asks for a frame.
pub type Wake = std::sync::Arc<dyn Fn() + Send + Sync>;
