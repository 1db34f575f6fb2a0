//! nginx access logs.

pub mod json;
pub mod line;
