//! What the window is made of: tokens of the look, icons, lanes, panels.
//!
//! It reads an [`crate::session::incident::Incident`] and what a person made of it, draws, and asks for changes by
//! [`request::Request`]; it changes nothing itself.
//!
//! Outside crates that only this floor (and `app`) may name: the egui family. Never Polars.

pub mod commands;
pub mod frame;
pub mod icons;
pub mod lanes;
pub mod panels;
pub mod request;
pub mod theme;
pub mod timeline;
pub mod widgets;

pub use crate::words;
pub use crate::words::report as report_words;
