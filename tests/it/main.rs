//! The integration tests, in one binary: linking Polars once is enough.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::string_slice,
    reason = "a test stops where something is not as it must be, and reads plain files"
)]

mod cli;
mod compliance;
mod fixtures;
mod floors;
mod hostile;
mod korean;
#[cfg(feature = "live")]
mod live;
#[cfg(feature = "aws")]
mod live_family;
#[cfg(feature = "live")]
mod live_pinpoint;
#[cfg(feature = "live")]
mod live_pprof;
#[cfg(feature = "live")]
mod live_read;
#[cfg(feature = "live")]
mod live_victoria;
#[cfg(feature = "aws")]
mod live_xray;
mod prom_cases;
#[cfg(feature = "live")]
mod rang;
#[cfg(feature = "live")]
mod secrets;
#[cfg(feature = "live")]
mod serve;
mod support;
#[cfg(feature = "gui")]
mod ui;
#[cfg(feature = "gui")]
mod ui_dump;
#[cfg(feature = "gui")]
mod ui_findings;
#[cfg(feature = "gui")]
mod ui_korean;
#[cfg(feature = "gui")]
mod ui_lanes;
#[cfg(feature = "gui")]
mod ui_load;
#[cfg(feature = "gui")]
mod ui_looks;
#[cfg(feature = "gui")]
mod ui_notes;
#[cfg(feature = "gui")]
mod ui_pictures;
#[cfg(feature = "gui")]
mod ui_table;
#[cfg(feature = "gui")]
mod ui_timeline;
#[cfg(feature = "gui")]
mod ui_trace;
#[cfg(feature = "gui")]
mod ui_walk;
#[cfg(feature = "gui")]
mod ui_window;
