//! Go goroutine dumps and text profiles.

pub mod debug1;
pub mod debug2;
