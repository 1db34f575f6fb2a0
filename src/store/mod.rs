//! The incident's columns: what every input gave, joined, in order, immutable.
//!
//! A [`Snapshot`] is built once from batches ([`build::build`]) and only read afterwards; it is shared as an `Arc`.
//! Series are sorted by metric, labels and sampling, rows of other kinds by time, so that the same inputs give the same
//! snapshot in whatever order they were read. The only floor that may name `polars`.

mod alerts;
pub mod build;
pub mod calls;
mod family;
pub mod histogram;
pub mod memo;
pub mod promql;
pub mod pyramid;
mod requests;
#[cfg(feature = "sql")]
pub mod sql;
pub mod stacks;
pub mod tables;
pub mod trace;
mod until;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::base::time::TimeRange;
use crate::model::entity::EntityGraph;
use crate::model::event::Event;
use crate::model::input::{Evidence, Input, InputIx};
use crate::model::labels::Labels;
use crate::model::pack::{Packs, Role};
use crate::model::profile::Profile;
use crate::model::prometheus::{MetricMeta, ServerFact, TargetStatus};
use crate::model::request::Request;
use crate::model::series::Series;
use crate::model::span::{CallEdge, Span, TraceSummary};
use crate::store::calls::Call;

/// Everything that was read of one incident.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Counts up with every change; keys every cache.
    pub generation: u64,
    /// What was read, by path.
    pub inputs: Vec<Input>,
    /// Series by metric, labels and sampling.
    pub series: Vec<Series>,
    /// The entities of each series, the most specific first; as long as `series`.
    pub series_entities: Vec<Vec<String>>,
    /// The role of each series by the packs; as long as `series`.
    pub series_roles: Vec<Option<Role>>,
    /// Spans by trace and start.
    pub spans: Vec<Span>,
    /// Matched calls between spans of two services.
    pub calls: Vec<Call>,
    /// Trace summaries by start.
    pub summaries: Vec<TraceSummary>,
    /// Calls between services, as counts.
    pub edges: Vec<CallEdge>,
    /// Requests by time; each request once.
    pub requests: Vec<Request>,
    /// How many lines were a second record of a request that another line holds.
    pub duplicate_requests: u64,
    /// Profiles and dumps by process and time.
    pub profiles: Vec<Profile>,
    /// Events by time.
    pub events: Vec<Event>,
    /// Prometheus targets by time of asking.
    pub targets: Vec<TargetStatus>,
    /// Metric metadata by family.
    pub metadata: BTreeMap<Arc<str>, MetricMeta>,
    /// Facts about servers.
    pub facts: Vec<ServerFact>,
    /// What the metrics of known stacks mean.
    pub packs: Packs,
    /// Entities and how they hang together.
    pub graph: EntityGraph,
    /// From the first to the last time in any input; `None` when nothing has a time.
    pub extent: Option<TimeRange>,
    /// What detectors share.
    pub memo: memo::Memo,
    by_metric: BTreeMap<Arc<str>, Range<usize>>,
}

impl Snapshot {
    /// The indices of the series of a metric, in order of labels.
    pub fn metric(&self, name: &str) -> Range<usize> {
        self.by_metric.get(name).cloned().unwrap_or(0..0)
    }

    /// The raw series of a metric, with their indices.
    pub fn raw<'a>(&'a self, name: &str) -> impl Iterator<Item = (usize, &'a Series)> {
        self.metric(name)
            .map(|ix| (ix, &self.series[ix]))
            .filter(|(_, s)| s.sampling.is_raw())
    }

    /// The raw series of a metric with exactly these labels.
    pub fn raw_exact(&self, name: &str, labels: &Labels) -> Option<&Series> {
        self.raw(name).map(|(_, s)| s).find(|s| s.labels == *labels)
    }

    /// The names of all metrics, in order.
    pub fn metrics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_metric.keys()
    }

    /// The series that have a role, with their indices.
    pub fn with_role(&self, role: Role) -> impl Iterator<Item = (usize, &Series)> {
        self.series_roles
            .iter()
            .enumerate()
            .filter(move |(_, r)| **r == Some(role))
            .map(|(ix, _)| (ix, &self.series[ix]))
    }

    /// Whether any raw series was read: without, nothing true can be said about gaps.
    pub fn has_raw_series(&self) -> bool {
        self.series.iter().any(|s| s.sampling.is_raw())
    }

    /// The id of an input.
    pub fn input_id(&self, ix: InputIx) -> &str {
        self.inputs
            .get(ix.0 as usize)
            .map_or("", |input| input.id.as_str())
    }

    /// Evidence that points into an input.
    pub fn evidence(
        &self,
        ix: InputIx,
        locator: impl Into<String>,
        quote: impl AsRef<str>,
    ) -> Evidence {
        Evidence {
            input: self.input_id(ix).to_owned(),
            locator: locator.into(),
            quote: crate::base::text::shorten(quote.as_ref(), 160),
        }
    }

    /// Evidence that points to the sample of a series at `t_nanos`, in the input that holds it.
    pub fn sample_evidence(
        &self,
        series: &Series,
        t_nanos: i64,
        quote: impl AsRef<str>,
    ) -> Evidence {
        let t = crate::base::time::Timestamp::from_nanos(t_nanos);
        let source = series
            .sources
            .iter()
            .find(|s| s.range.contains(t))
            .or_else(|| series.sources.first());
        let (input, locator) = source.map_or_else(
            || (InputIx::default(), ""),
            |s| (s.input, s.locator.as_ref()),
        );
        self.evidence(
            input,
            format!("{locator} {} @ {t}", series.selector())
                .trim()
                .to_owned(),
            quote,
        )
    }
}
