//! nginx access logs: text lines of any `log_format`, and JSON lines.
//!
//! A `log_format` string is compiled ([`template`]), lines are matched against it, and what the variables held
//! ([`field`]) becomes a request with its attempts upstream ([`row`], [`crate::formats::upstream_lists`]). The formats that are known without
//! being told are in [`presets`]; [`log_formats_of`] reads others out of an nginx configuration.

mod conf;
mod field;
mod identity;
pub mod json;
pub mod line;
mod lines;
mod presets;
mod row;
mod template;
mod times;

pub use conf::log_formats_of;
