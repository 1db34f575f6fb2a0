//! All traces of a snapshot, one line each: those with spans, and those of which only a summary was read.

use std::sync::Arc;

use super::spans_of;
use crate::base::time::Timestamp;
use crate::model::span::Span;
use crate::store::Snapshot;
use crate::store::calls::Call;

/// One trace.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceItem {
    /// Its id.
    pub id: Arc<str>,
    /// When it began.
    pub start: Timestamp,
    /// The service where it entered.
    pub service: Arc<str>,
    /// What was asked of it.
    pub operation: Arc<str>,
    /// From the first start to the last end.
    pub duration_ms: Option<f64>,
    /// How many spans there are; `None` when only a summary was read.
    pub spans: Option<usize>,
    /// How many of them ended with an error; of a summary, whether its root did.
    pub errors: usize,
    /// The largest gap between a caller and its callee.
    pub gap_ms: Option<f64>,
    /// The largest connect.
    pub connect_ms: Option<f64>,
    /// Index of its summary in the snapshot.
    pub summary: Option<usize>,
}

/// Every trace, by start. Ends early, with what was found so far, when `is_cancelled` says so.
pub fn list(snapshot: &Snapshot, is_cancelled: &dyn Fn() -> bool) -> Vec<TraceItem> {
    let mut items = Vec::new();
    let mut calls = snapshot.calls.iter().peekable();
    let mut end = 0;
    for trace in snapshot.spans.chunk_by(|a, b| a.trace_id == b.trace_id) {
        if is_cancelled() {
            return items;
        }
        end += trace.len();
        let mut gap_ms = None;
        while let Some(call) = calls.next_if(|c| c.callee < end) {
            gap_ms = larger(gap_ms, shown_gap(call));
        }
        items.extend(item(trace, gap_ms));
    }
    let with_spans = items.len();
    for (at, summary) in snapshot.summaries.iter().enumerate() {
        let place = items
            .get(..with_spans)
            .and_then(|known| known.binary_search_by(|i| i.id.cmp(&summary.trace_id)).ok());
        if let Some(item) = place.and_then(|at| items.get_mut(at)) {
            item.summary = Some(at);
            continue;
        }
        let operation = [summary.http_method.as_ref(), path(&summary.http_url)]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        items.push(TraceItem {
            id: Arc::clone(&summary.trace_id),
            start: summary.start,
            service: Arc::clone(&summary.entry),
            operation: Arc::from(operation),
            duration_ms: summary.duration_ms.or(summary.response_ms),
            spans: None,
            errors: usize::from(summary.status.is_error()),
            gap_ms: None,
            connect_ms: summary.connect_ms,
            summary: Some(at),
        });
    }
    items.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
    items
}

/// The gap of a call, when it is time that neither side accounts for.
fn shown_gap(call: &Call) -> Option<f64> {
    call.gap_ms.filter(|_| call.has_network_gap())
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => a.or(b),
    }
}

/// The path of a URL.
fn path(url: &str) -> &str {
    let after = url.split_once("://").map_or(url, |(_, rest)| rest);
    if after.len() == url.len() {
        return url;
    }
    after
        .find('/')
        .and_then(|at| after.get(at..))
        .unwrap_or("/")
}

fn item(trace: &[Span], gap_ms: Option<f64>) -> Option<TraceItem> {
    // The entry is the earliest span without a recorded parent; without one, the earliest.
    let entry = trace
        .iter()
        .find(|s| s.parent_id.is_none())
        .or_else(|| trace.iter().find(|s| s.is_segment))
        .or_else(|| trace.first())?;
    let start = trace.iter().map(|s| s.start).min()?;
    let end = trace.iter().map(Span::end).max()?;
    Some(TraceItem {
        id: Arc::clone(&entry.trace_id),
        start,
        service: Arc::clone(&entry.service),
        operation: Arc::clone(&entry.operation),
        duration_ms: Some(end.nanos_since(start) as f64 / 1e6),
        spans: Some(trace.len()),
        errors: trace.iter().filter(|s| s.status.is_error()).count(),
        gap_ms,
        connect_ms: trace
            .iter()
            .fold(None, |known, s| larger(known, s.connect_ms)),
        summary: None,
    })
}

/// The summary of a trace without spans, when one was read.
pub fn summary_of(snapshot: &Snapshot, trace_id: &str) -> Option<usize> {
    if !spans_of(snapshot, trace_id).is_empty() {
        return None;
    }
    snapshot
        .summaries
        .iter()
        .position(|s| s.trace_id.as_ref() == trace_id)
}
