//! What telemetry is made of: one file per noun. Plain data, no parsing, no statistics.

pub mod batch;
pub mod entity;
pub mod event;
pub mod exchange;
pub mod finding;
pub mod hypothesis;
pub mod input;
pub mod labels;
pub mod pack;
pub mod profile;
pub mod prometheus;
pub mod report;
pub mod request;
pub mod schema;
pub mod series;
pub mod span;
