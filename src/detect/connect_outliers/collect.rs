//! Every connect that was recorded, once, by the service that made it.
//!
//! A request of an access log is the richest record; spans and trace summaries of a service that has them only add
//! evidence. Without requests spans count, and summaries of traces that have no span with a connect time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::stats::quantile_sorted;
use crate::base::time::TimeRange;
use crate::detect::ladders::FLOOR_MS;
use crate::store::Snapshot;

/// A failed connect that a proxy gave up after less than this was refused, not cut off by a time-out.
const CUT_OFF_FLOOR_MS: f64 = 50.0;
/// A connect is an outlier at this many times the usual one, where that is slow by itself: three times stays below the
/// first rung (1 s and the usual time) for every usual time below 500 ms.
const TIMES_USUAL: f64 = 3.0;
/// Two records of one connect differ by less than this: nginx rounds to milliseconds.
const SAME_MS: f64 = 1.5;

/// Where a connect was recorded: indices into the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Request { request: usize, attempt: usize },
    Span(usize),
    Summary(usize),
}

/// One connect.
#[derive(Debug, Clone)]
pub(super) struct Connect {
    /// When it began, in nanoseconds since the epoch.
    pub(super) start: i64,
    /// How long it took, or how long was waited for it in vain.
    pub(super) ms: f64,
    /// Whether the caller gave up at its own limit (504 without a header).
    pub(super) is_cut_off: bool,
    pub(super) instance: Arc<str>,
    pub(super) upstream: Arc<str>,
    pub(super) place: Place,
}

impl Connect {
    /// When it was ready, or given up.
    pub(super) fn end(&self) -> i64 {
        self.start.saturating_add((self.ms * 1e6).round() as i64)
    }
}

/// What kind of record a service's connects come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    Requests,
    Traces,
}

/// One connecting service.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) service: Arc<str>,
    pub(super) record: Record,
    /// The start of every connect, ascending.
    pub(super) starts: Vec<i64>,
    /// The usual connect: the median, and what nine of ten of the good ones stay below (for one round trip).
    pub(super) usual_ms: f64,
    pub(super) rtt_ms: f64,
    /// The connects that took far too long, by start.
    pub(super) outliers: Vec<Connect>,
    /// Slow connects of the same service in other records: evidence, not counted.
    pub(super) also: Vec<Connect>,
}

/// Every connecting service in `window`, by name.
pub(super) fn callers(snapshot: &Snapshot, window: TimeRange) -> Vec<Caller> {
    let requests = of_requests(snapshot, window);
    let traces = of_traces(snapshot, window);
    let mut callers: BTreeMap<Arc<str>, Caller> = requests
        .into_iter()
        .map(|(service, connects)| {
            let caller = caller(Arc::clone(&service), Record::Requests, connects);
            (service, caller)
        })
        .collect();
    for (service, connects) in traces {
        if let Some(known) = callers.get_mut(&service) {
            known.also = connects.into_iter().filter(|c| c.ms >= FLOOR_MS).collect();
        } else {
            let caller = caller(Arc::clone(&service), Record::Traces, connects);
            callers.insert(service, caller);
        }
    }
    callers.into_values().collect()
}

fn of_requests(snapshot: &Snapshot, window: TimeRange) -> BTreeMap<Arc<str>, Vec<Connect>> {
    let mut found: BTreeMap<Arc<str>, Vec<Connect>> = BTreeMap::new();
    for (request_ix, request) in snapshot.requests.iter().enumerate() {
        let mut start = request.start();
        for (attempt_ix, attempt) in request.attempts.iter().enumerate() {
            let began = start;
            start = start.plus_nanos((attempt.response_ms.unwrap_or(0.0) * 1e6) as i64);
            // The group's name in place of an address: no server was live, nothing was tried (`logs.md` §1.3).
            let is_group = attempt.connect_failed()
                && !attempt.addr.is_empty()
                && !attempt.addr.contains([':', '/']);
            let Some(ms) = attempt.connect_cost_ms().filter(|_| !is_group) else {
                continue;
            };
            if !window.contains(began) {
                continue;
            }
            let upstream = if request.upstream.is_empty() {
                &attempt.addr
            } else {
                &request.upstream
            };
            let connect = Connect {
                start: began.nanos(),
                ms,
                is_cut_off: attempt.connect_failed() && attempt.status == Some(504),
                instance: Arc::clone(&request.instance),
                upstream: Arc::clone(upstream),
                place: Place::Request {
                    request: request_ix,
                    attempt: attempt_ix,
                },
            };
            match found.get_mut(&request.service) {
                Some(connects) => connects.push(connect),
                None => {
                    found.insert(Arc::clone(&request.service), vec![connect]);
                }
            }
        }
    }
    found
}

fn of_traces(snapshot: &Snapshot, window: TimeRange) -> BTreeMap<Arc<str>, Vec<Connect>> {
    let logged = logged_traces(snapshot);
    let is_logged = |trace: &str, ms: f64| {
        logged
            .get(trace)
            .is_some_and(|known| known.iter().any(|k| (k - ms).abs() < SAME_MS))
    };
    let mut found: BTreeMap<Arc<str>, Vec<Connect>> = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let named: BTreeSet<&str> = snapshot
        .requests
        .iter()
        .map(|r| r.service.as_ref())
        .collect();
    let mut add = |service: &Arc<str>, trace: &str, connect: Connect| {
        let is_counted = !named.contains(service.as_ref()) && is_logged(trace, connect.ms);
        if window.contains(crate::base::time::Timestamp::from_nanos(connect.start)) && !is_counted {
            found.entry(Arc::clone(service)).or_default().push(connect);
        }
    };
    for (ix, span) in snapshot.spans.iter().enumerate() {
        let Some(ms) = span.connect_ms else { continue };
        seen.insert((span.trace_id.as_ref(), span.service.as_ref()));
        let connect = Connect {
            start: span.start.nanos(),
            ms,
            is_cut_off: false,
            instance: Arc::from(""),
            upstream: span.peer.clone().unwrap_or_else(|| Arc::from("")),
            place: Place::Span(ix),
        };
        add(&span.service, &span.trace_id, connect);
    }
    for (ix, summary) in snapshot.summaries.iter().enumerate() {
        let Some(ms) = summary.connect_ms else {
            continue;
        };
        let service = summary.connect_service.as_ref().unwrap_or(&summary.entry);
        if seen.contains(&(summary.trace_id.as_ref(), service.as_ref())) {
            continue;
        }
        let connect = Connect {
            start: summary.start.nanos(),
            ms,
            is_cut_off: false,
            instance: Arc::from(""),
            upstream: Arc::from(""),
            place: Place::Summary(ix),
        };
        add(service, &summary.trace_id, connect);
    }
    found
}

/// The connect times that access logs recorded of each trace: a span of a service under another name (a log whose file
/// names nobody) that says the same is the same connect.
fn logged_traces(snapshot: &Snapshot) -> BTreeMap<&str, Vec<f64>> {
    let mut logged: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for request in snapshot.requests.iter().filter(|r| !r.trace_id.is_empty()) {
        if let Some(ms) = request.connect_ms() {
            logged.entry(&request.trace_id).or_default().push(ms);
        }
    }
    logged
}

fn caller(service: Arc<str>, record: Record, mut connects: Vec<Connect>) -> Caller {
    connects.sort_by_key(|c| (c.start, c.place));
    let mut good: Vec<f64> = connects
        .iter()
        .filter(|c| !c.is_cut_off)
        .map(|c| c.ms)
        .collect();
    good.sort_by(f64::total_cmp);
    let usual_ms = quantile_sorted(&good, 0.5).unwrap_or(0.0);
    let threshold = FLOOR_MS.max(TIMES_USUAL * usual_ms);
    good.truncate(good.partition_point(|ms| *ms < threshold));
    let rtt_ms = quantile_sorted(&good, 0.9).unwrap_or(0.0);
    let starts = connects.iter().map(|c| c.start).collect();
    connects.retain(|c| c.ms >= threshold || (c.is_cut_off && c.ms >= CUT_OFF_FLOOR_MS));
    Caller {
        service,
        record,
        starts,
        usual_ms,
        rtt_ms,
        outliers: connects,
        also: Vec::new(),
    }
}
