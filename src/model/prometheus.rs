//! What a Prometheus says of itself beside its samples: targets, metadata, facts.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::series::MetricKind;

/// One target at the moment of asking (`/api/v1/targets`). Only the last scrape is in it, no history.
#[derive(Debug, Clone)]
pub struct TargetStatus {
    /// Where it came from.
    pub input: InputIx,
    /// The place in it.
    pub locator: Arc<str>,
    /// When it was asked, when known.
    pub at: Option<Timestamp>,
    /// Its labels (`job`, `instance`, …).
    pub labels: Labels,
    /// The scrape pool.
    pub pool: Arc<str>,
    /// Where it is scraped.
    pub url: Arc<str>,
    /// `up`, `down` or `unknown`.
    pub health: Arc<str>,
    /// The last scrape's error, or empty.
    pub last_error: Arc<str>,
    /// When the last scrape began.
    pub last_scrape: Option<Timestamp>,
    /// How long it took.
    pub last_duration_ms: Option<f64>,
    /// Scrape interval, when given.
    pub interval_nanos: Option<i64>,
    /// Scrape timeout, when given.
    pub timeout_nanos: Option<i64>,
}

/// Metadata of one metric family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricMeta {
    /// Family name, without `_bucket`, `_sum`, `_count`.
    pub family: Arc<str>,
    /// Its type.
    pub kind: MetricKind,
    /// Its help.
    pub help: Arc<str>,
    /// Its unit, or empty.
    pub unit: Arc<str>,
}

/// One fact about the server (`buildinfo.version`, `runtimeinfo.startTime`, `flags.query.lookback-delta`, …).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFact {
    /// Where it came from.
    pub input: InputIx,
    /// Dotted name.
    pub name: Arc<str>,
    /// Its value.
    pub value: Arc<str>,
}
