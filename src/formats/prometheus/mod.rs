//! Prometheus and what speaks like it.

pub mod api;
pub mod export;
pub mod remote_read;
pub mod text;
