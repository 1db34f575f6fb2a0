//! Prometheus and what speaks like it: HTTP API answers, VictoriaMetrics export lines, remote read, text exposition.
//!
//! Facts about the formats come from `protocols/prometheus.md`; the sections are named where they are used.
//!
//! - `json` and `columns`: the tolerant scanner, and its fast path for `[time,"value"]` pairs.
//! - `api`: the envelope of an answer; `sniff` how it is recognised; `query` what was asked; `sampling` how samples came about.
//! - `results`: series; `targets`, `rules`, `lists` and `status`: everything else that the API answers.
//! - `export`, `remote_read`, `text`: formats of their own; `snappy`, `chunks`, `xor` and `wire` are below remote read.

pub mod api;
mod chunks;
mod columns;
pub mod export;
mod json;
mod lists;
mod query;
pub mod remote_read;
mod results;
mod rules;
mod sampling;
mod snappy;
mod sniff;
mod stamp;
mod status;
mod targets;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod text;
mod values;
mod wire;
mod xor;
