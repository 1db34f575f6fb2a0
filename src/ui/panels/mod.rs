//! Panels beside and below the timeline, one file or folder each. A panel is a struct with what it remembers between frames (caches,
//! scroll places, half-typed text) and one `ui(&mut self, ui, frame)`.

pub mod compare;
pub mod dump;
pub mod findings;
pub mod inputs;
pub mod notes;
pub mod palette;
pub mod replay;
pub mod shell;
pub mod start;
pub mod table;
pub mod trace;
