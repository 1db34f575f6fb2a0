//! Change events.

pub mod csv;
pub mod jsonl;
