//! What a format makes of bytes: rows of every kind, before the store joins them.

use crate::base::time::{TimeRange, Timestamp};
use crate::model::event::Event;
use crate::model::input::{Counts, InputIx};
use crate::model::profile::Profile;
use crate::model::prometheus::{MetricMeta, ServerFact, TargetStatus};
use crate::model::request::Request;
use crate::model::series::Series;
use crate::model::span::{CallEdge, Span, TraceSummary};

/// Rows of one input.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// Time series.
    pub series: Vec<Series>,
    /// Spans.
    pub spans: Vec<Span>,
    /// Trace summaries.
    pub summaries: Vec<TraceSummary>,
    /// Calls between services.
    pub edges: Vec<CallEdge>,
    /// Requests.
    pub requests: Vec<Request>,
    /// Profiles and dumps.
    pub profiles: Vec<Profile>,
    /// Events.
    pub events: Vec<Event>,
    /// Prometheus targets.
    pub targets: Vec<TargetStatus>,
    /// Metric metadata.
    pub metadata: Vec<MetricMeta>,
    /// Facts about servers.
    pub facts: Vec<ServerFact>,
    /// The range that the input was asked for, wider than its data when nothing came at its edges.
    pub asked: Option<TimeRange>,
}

impl Batch {
    /// Says where every row came from.
    pub fn set_input(&mut self, input: InputIx) {
        for series in &mut self.series {
            for source in &mut series.sources {
                source.input = input;
            }
        }
        self.spans.iter_mut().for_each(|row| row.input = input);
        self.summaries.iter_mut().for_each(|row| row.input = input);
        self.edges.iter_mut().for_each(|row| row.input = input);
        self.requests.iter_mut().for_each(|row| row.input = input);
        self.profiles.iter_mut().for_each(|row| row.input = input);
        self.events.iter_mut().for_each(|row| row.input = input);
        self.targets.iter_mut().for_each(|row| row.input = input);
        self.facts.iter_mut().for_each(|row| row.input = input);
    }

    /// How much there is of each kind. Traces are the distinct ids of spans, or the summaries.
    pub fn counts(&self) -> Counts {
        let mut trace_ids: Vec<&str> = self.spans.iter().map(|s| s.trace_id.as_ref()).collect();
        trace_ids.extend(self.summaries.iter().map(|s| s.trace_id.as_ref()));
        trace_ids.sort_unstable();
        trace_ids.dedup();
        let stacks: f64 = self.profiles.iter().map(Profile::stack_count).sum();
        Counts {
            series: self.series.len() as u64,
            samples: self.series.iter().map(|s| s.points() as u64).sum(),
            spans: self.spans.len() as u64,
            traces: trace_ids.len() as u64,
            requests: self.requests.len() as u64,
            profiles: self.profiles.len() as u64,
            stacks: stacks as u64,
            events: self.events.len() as u64,
            log_lines: 0,
        }
    }

    /// From the first time in it to just after the last; `None` when nothing in it has a time.
    pub fn extent(&self) -> Option<TimeRange> {
        let mut all: Option<TimeRange> = None;
        let mut take = |start: Timestamp, end: Timestamp| {
            let range = TimeRange { start, end };
            all = Some(all.map_or(range, |known| known.hull(&range)));
        };
        self.series
            .iter()
            .filter_map(Series::span)
            .for_each(|r| take(r.start, r.end.plus_nanos(-1)));
        self.spans.iter().for_each(|s| take(s.start, s.end()));
        for s in &self.summaries {
            take(
                s.start,
                s.start
                    .plus_nanos((s.duration_ms.unwrap_or(0.0) * 1e6) as i64),
            );
        }
        self.requests.iter().for_each(|r| take(r.start(), r.t));
        self.profiles
            .iter()
            .filter_map(|p| p.t)
            .for_each(|t| take(t, t));
        self.events
            .iter()
            .for_each(|e| take(e.t, e.end.unwrap_or(e.t)));
        all
    }

    /// Whether there is nothing in it at all.
    pub fn is_empty(&self) -> bool {
        self.counts() == Counts::default()
            && self.edges.is_empty()
            && self.targets.is_empty()
            && self.metadata.is_empty()
            && self.facts.is_empty()
    }
}

impl Profile {
    /// Goroutines or threads of a dump; samples (distinct stacks) of any other profile.
    pub fn stack_count(&self) -> f64 {
        if matches!(self.kind.as_ref(), "goroutine" | "threadcreate" | "thread") {
            self.total
        } else {
            self.groups.len() as f64
        }
    }
}
