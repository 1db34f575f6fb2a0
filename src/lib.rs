//! Tailscope: an incident workbench for the person on call.
//!
//! The floors, from the ground up; a module uses only those above it in this list (`tests/it/floors.rs` enforces it,
//! `ARCHITECTURE.md` explains it).

pub mod base;
pub mod model;

pub mod formats;

pub mod sources;

pub mod store;

pub mod detect;

pub mod correlate;

pub mod session;

pub mod export;

pub mod engine;

#[cfg(feature = "gui")]
pub mod ui;

#[cfg(feature = "gui")]
pub mod app;

pub mod cli;
