//! A snapshot as it was at an instant: what a replay of the incident shows while it runs.
//!
//! A row is there once it could have been read: a sample at its time, a request when its line was written, a span when it ended
//! (one that the recording never saw end, from its begin), a trace's summary and a count of calls when what they sum up was over,
//! an event from its begin, with an end only once that had come. Profiles, targets and counts of calls that do not say when they
//! were taken were taken during the incident, nobody knows when: they come with the end of the recording. What inputs say of
//! themselves (metadata, facts about servers) is known from the start of the input.
//!
//! The words of an event are as they were recorded, even where whoever wrote them knew its end.

use std::sync::Arc;

use crate::base::time::{TimeRange, Timestamp};
use crate::model::input::{Counts, InputIx};
use crate::model::profile::Profile;
use crate::model::prometheus::TargetStatus;
use crate::model::series::Series;
use crate::model::span::{CallEdge, Span, TraceSummary};
use crate::store::{Snapshot, build};

impl Snapshot {
    /// What was known at `t`: nothing in it is later, and at the end of the recording it is the whole again. Copies what it
    /// keeps; what is derived (calls, entities) is derived anew from that.
    #[must_use]
    pub fn until(&self, t: Timestamp) -> Self {
        let cut = Cut::new(self, t);
        let mut known = Self {
            generation: self.generation,
            packs: self.packs.clone(),
            metadata: self.metadata.clone(),
            inputs: Vec::new(),
            series: self.series.iter().filter_map(|s| cut.series(s)).collect(),
            spans: kept(&self.spans, |s| cut.has_span(s)),
            summaries: kept(&self.summaries, |s| cut.has_summary(s)),
            edges: kept(&self.edges, |e| cut.has_edge(e)),
            requests: kept(&self.requests, |r| r.t <= t),
            // How many of them were a second record is known of the whole only.
            duplicate_requests: if cut.is_whole {
                self.duplicate_requests
            } else {
                0
            },
            profiles: kept(&self.profiles, |p| cut.has_profile(p)),
            events: kept(&self.events, |e| e.t <= t),
            targets: kept(&self.targets, |a| cut.has_target(a)),
            facts: kept(&self.facts, |f| cut.has_input(f.input)),
            extent: self
                .extent
                .filter(|e| e.start <= t)
                .map(|e| TimeRange::new(e.start, e.end.min(t.plus_nanos(1)))),
            ..Self::default()
        };
        for event in &mut known.events {
            event.end = event.end.filter(|end| *end <= t);
        }
        cut.inputs(self, &mut known);
        build::derive(&mut known);
        known
    }
}

fn kept<T: Clone>(rows: &[T], is_known: impl Fn(&T) -> bool) -> Vec<T> {
    rows.iter().filter(|row| is_known(row)).cloned().collect()
}

/// What is known at an instant.
struct Cut {
    t: Timestamp,
    /// Whether nothing was recorded later.
    is_whole: bool,
    /// The place of each input among those that are there by then.
    inputs: Vec<Option<InputIx>>,
}

impl Cut {
    fn new(whole: &Snapshot, t: Timestamp) -> Self {
        let mut next = 0;
        let inputs = whole
            .inputs
            .iter()
            .map(|input| {
                input.start.is_none_or(|start| start <= t).then(|| {
                    next += 1;
                    InputIx(next - 1)
                })
            })
            .collect();
        Self {
            t,
            is_whole: whole.extent.is_none_or(|e| e.end <= t.plus_nanos(1)),
            inputs,
        }
    }

    fn has_input(&self, ix: InputIx) -> bool {
        self.place(ix).is_some()
    }

    fn place(&self, ix: InputIx) -> Option<InputIx> {
        self.inputs.get(ix.0 as usize).copied().flatten()
    }

    /// The samples so far; `None` when none of its samples had come. A series that never had one stays.
    fn series(&self, whole: &Series) -> Option<Series> {
        let t = self.t;
        let samples = whole.t.partition_point(|at| *at <= t.nanos());
        let histograms = whole.histograms.partition_point(|h| h.t <= t);
        let is_new = samples == 0 && histograms == 0 && whole.points() > 0;
        if is_new {
            return None;
        }
        Some(Series {
            metric: Arc::clone(&whole.metric),
            labels: whole.labels.clone(),
            kind: whole.kind,
            unit: Arc::clone(&whole.unit),
            sampling: whole.sampling,
            expr: whole.expr.clone(),
            t: whole.t.get(..samples)?.to_vec(),
            v: whole.v.get(..samples.min(whole.v.len()))?.to_vec(),
            histograms: whole.histograms.get(..histograms)?.to_vec(),
            exemplars: kept(&whole.exemplars, |e| e.t <= t),
            sources: whole
                .sources
                .iter()
                .filter(|s| self.has_input(s.input) && (s.range.start <= t || self.is_whole))
                .map(|s| {
                    let mut source = s.clone();
                    source.range.end = source.range.end.min(t.plus_nanos(1));
                    source
                })
                .collect(),
        })
    }

    fn has_span(&self, span: &Span) -> bool {
        span.start <= self.t && span.end() <= self.t
    }

    fn has_summary(&self, summary: &TraceSummary) -> bool {
        let lasted_ms = summary.duration_ms.or(summary.response_ms).unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, reason = "saturates")]
        let end = summary.start.plus_nanos((lasted_ms * 1e6).round() as i64);
        summary.start <= self.t && end <= self.t
    }

    fn has_edge(&self, edge: &CallEdge) -> bool {
        match edge.end.or(edge.start) {
            Some(end) => end <= self.t || self.is_whole,
            None => self.is_whole,
        }
    }

    fn has_profile(&self, profile: &Profile) -> bool {
        profile.t.map_or(self.is_whole, |at| at <= self.t)
    }

    fn has_target(&self, target: &TargetStatus) -> bool {
        let known = target.at.max(target.last_scrape);
        known.map_or(self.is_whole, |at| at <= self.t || self.is_whole)
    }

    /// The inputs that had begun, each with what had come of it; every row says its input's new place.
    fn inputs(&self, whole: &Snapshot, known: &mut Snapshot) {
        known.inputs = whole
            .inputs
            .iter()
            .enumerate()
            .filter(|(ix, _)| self.has_input(InputIx(*ix as u32)))
            .map(|(ix, input)| {
                let mut input = input.clone();
                if input.end.is_some_and(|end| end > self.t) {
                    input.end = Some(self.t);
                    input.counts = counts(known, InputIx(ix as u32));
                } else if input.start.is_none() && !self.is_whole {
                    input.counts = counts(known, InputIx(ix as u32));
                }
                input
            })
            .collect();
        // A row of an input that has begun; those of others are not known yet.
        let place = |ix: &mut InputIx| *ix = self.place(*ix).unwrap_or_default();
        for source in known.series.iter_mut().flat_map(|s| &mut s.sources) {
            place(&mut source.input);
        }
        known.spans.iter_mut().for_each(|r| place(&mut r.input));
        known.summaries.iter_mut().for_each(|r| place(&mut r.input));
        known.edges.iter_mut().for_each(|r| place(&mut r.input));
        known.requests.iter_mut().for_each(|r| place(&mut r.input));
        known.profiles.iter_mut().for_each(|r| place(&mut r.input));
        known.events.iter_mut().for_each(|r| place(&mut r.input));
        known.targets.iter_mut().for_each(|r| place(&mut r.input));
        known.facts.iter_mut().for_each(|r| place(&mut r.input));
    }
}

/// What is known of one input, counted in rows after they were joined. Their inputs are still those of the whole.
fn counts(known: &Snapshot, ix: InputIx) -> Counts {
    let of_input = || {
        known
            .series
            .iter()
            .flat_map(|s| s.sources.iter().map(move |source| (s, source)))
            .filter(|(_, source)| source.input == ix)
    };
    let mut traces: Vec<&str> = known
        .spans
        .iter()
        .filter(|s| s.input == ix)
        .map(|s| s.trace_id.as_ref())
        .collect();
    let spans = traces.len() as u64;
    let summaries = known.summaries.iter().filter(|s| s.input == ix);
    traces.extend(summaries.map(|s| s.trace_id.as_ref()));
    traces.sort_unstable();
    traces.dedup();
    let profiles = || known.profiles.iter().filter(|p| p.input == ix);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of stacks"
    )]
    let stacks = profiles().map(Profile::stack_count).sum::<f64>() as u64;
    Counts {
        series: of_input().count() as u64,
        samples: of_input()
            .map(|(s, source)| s.within(source.range).len() as u64)
            .sum(),
        spans,
        traces: traces.len() as u64,
        requests: known.requests.iter().filter(|r| r.input == ix).count() as u64,
        profiles: profiles().count() as u64,
        stacks,
        events: known.events.iter().filter(|e| e.input == ix).count() as u64,
        log_lines: 0,
    }
}

#[cfg(test)]
mod tests;
