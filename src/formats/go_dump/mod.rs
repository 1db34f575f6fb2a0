//! Go goroutine dumps and text profiles, and what the stacks of Go say.
//!
//! [`debug1`] reads the aggregated text of `net/http/pprof`, [`debug2`] full stack dumps, panics and SIGQUIT output.
//! [`wait`] says what a stack waits for and whose frames are in it, [`origin`] when and of whom a dump was taken. The
//! protobuf form is read in [`crate::formats::pprof`], with the same rules.

pub mod debug1;
pub mod debug2;
pub(crate) mod goroutines;
mod labels;
mod lines;
pub(crate) mod origin;
mod stacks;
#[cfg(test)]
pub(crate) mod tests;
pub mod wait;
