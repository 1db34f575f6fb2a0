//! What every other floor stands on: time, ids, numbers, words, files, and the reporter of partial failures.
//!
//! Nothing in here knows what telemetry is. Outside crates that only this floor may name: `jiff`.

pub mod clock;
pub mod fs;
pub mod id;
pub mod percent;
pub mod reporter;
pub mod secret;
pub mod stats;
#[cfg(test)]
pub(crate) mod testing;
pub mod text;
pub mod time;
pub mod units;
pub mod unordered;
