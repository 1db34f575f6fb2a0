//! Calls between services: spans of a caller matched with spans of its callee, and the time that neither accounts for.
//!
//! The rules are those of `protocols/xray.md` §2, "Edge matching and the connect/network gap": a callee is a segment
//! (or a server span) with a parent; its parent, the caller's record of the call, is a subsegment, or a whole segment
//! when a proxy writes nothing else. The gap is the length of the call less the length of the callee: each length
//! comes from one clock, so a skew between the clocks does not touch it.

use std::sync::Arc;

use crate::model::span::{Span, SpanKind};
use crate::store::family::Families;

/// A matched call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call {
    /// Index of the caller's span in the snapshot: the record of the call, or the caller's whole segment.
    pub caller: usize,
    /// Index of the callee's span.
    pub callee: usize,
    /// Length of the call less the length of the callee; negative when the callee went on after the call had ended.
    /// `None` while either is in progress.
    pub gap_ms: Option<f64>,
    /// From the start of the call to the start of the callee, by two clocks.
    pub before_ms: Option<f64>,
    /// From the end of the callee to the end of the call, by two clocks.
    pub after_ms: Option<f64>,
    /// Whether the caller's span is its whole segment: then the gap also holds the reading and writing of its own
    /// client, and queueing.
    pub via_segment: bool,
    /// How many callees the call reached, or how often its SDK says that it tried; 1 for a plain call.
    pub attempts: u32,
    /// Whether this is the last of those attempts: only its gap counts.
    pub is_last: bool,
    /// Whether the caller's span covers other recorded work as well, so that the gap says nothing about this callee.
    pub is_shared: bool,
    /// Whether the callee was made up from the caller's record: its gap is 0 by making.
    pub is_inferred: bool,
    /// Whether the callee was not waited for: a queue, a topic, an asynchronous invocation, or a negative gap.
    pub is_async: bool,
    /// Whether the gap is the start-up of a Lambda function.
    pub is_startup: bool,
    /// Whether the clocks of both differ so much that the callee seems to begin before the call or to end after it.
    /// Only [`Call::gap_ms`] holds then.
    pub is_skewed: bool,
}

impl Call {
    /// Whether the gap is time between caller and callee that neither accounts for.
    ///
    /// A skewed call counts: its gap is made of two lengths, each from one clock.
    pub const fn has_network_gap(&self) -> bool {
        self.gap_ms.is_some()
            && self.is_last
            && !self.is_shared
            && !self.is_inferred
            && !self.is_async
            && !self.is_startup
    }
}

/// Matches calls. `spans` are those of a snapshot, sorted by trace; calls come in order of their callees. Time grows
/// with n log n of the largest trace.
pub fn match_calls(spans: &[Span]) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut families = Families::default();
    let mut from = 0;
    for trace in spans.chunk_by(|a, b| same_text(&a.trace_id, &b.trace_id)) {
        if trace.first().is_some_and(|s| !s.trace_id.is_empty()) {
            families.read(trace, |_, _| {});
            families.gather();
            calls_of(trace, from, &families, &mut calls);
        }
        from += trace.len();
    }
    calls
}

fn same_text(a: &Arc<str>, b: &Arc<str>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// The calls of one trace, whose first span stands at `from` in the snapshot.
fn calls_of(spans: &[Span], from: usize, families: &Families, out: &mut Vec<Call>) {
    let first = out.len();
    let mut children: Vec<(usize, &Span)> = Vec::new();
    for (caller, record) in spans.iter().enumerate() {
        children.clear();
        let below = families.children(caller).iter();
        children.extend(below.filter_map(|ix| Some((*ix as usize, spans.get(*ix as usize)?))));
        if children.is_empty() {
            continue;
        }
        // In a snapshot they stand so.
        children.sort_by_key(|(_, s)| (s.start, s.span_id));
        let new = out.len();
        family_calls(caller, record, &children, out);
        for call in out.iter_mut().skip(new) {
            call.caller += from;
            call.callee += from;
        }
    }
    if let Some(new) = out.get_mut(first..) {
        new.sort_by_key(|call| (call.callee, call.caller));
    }
}

/// The calls of one record to all callees below it, which come in order of their start.
fn family_calls(caller: usize, record: &Span, children: &[(usize, &Span)], out: &mut Vec<Call>) {
    let is_callee =
        |s: &Span| s.is_segment || matches!(s.kind, SpanKind::Server | SpanKind::Consumer);
    let real: Vec<&(usize, &Span)> = children
        .iter()
        .filter(|(_, s)| is_callee(s) && !s.is_inferred)
        .collect();
    let via_segment = record.is_segment || record.kind == SpanKind::Server;
    let is_one_service = real.windows(2).all(|pair| {
        pair.iter()
            .all(|(_, s)| pair.first().is_some_and(|(_, f)| s.service == f.service))
    });
    // A proxy's segment holds one call. One that records other work, or whose callees succeed one after another, is a
    // program that made several.
    let is_retried = real.iter().rev().skip(1).all(|(_, s)| s.status.is_error());
    let has_own_work = children.iter().any(|(_, s)| !is_callee(s));
    let is_shared = !is_one_service || (via_segment && (has_own_work || !is_retried));
    let last = real.last().map(|(ix, _)| *ix);
    let attempts = u32::try_from(real.len())
        .unwrap_or(u32::MAX)
        .max(sdk_attempts(&record.attributes))
        .max(1);
    for (ix, callee) in children.iter().filter(|(_, s)| is_callee(s)) {
        let mut call = measure(record, callee);
        call.caller = caller;
        call.callee = *ix;
        call.via_segment = via_segment;
        call.attempts = if callee.is_inferred { 1 } else { attempts };
        call.is_last = callee.is_inferred || last == Some(*ix);
        call.is_shared = is_shared && !callee.is_inferred;
        out.push(call);
    }
}

/// Gap and tags of one call.
fn measure(record: &Span, callee: &Span) -> Call {
    let lengths = record.duration_ms.zip(callee.duration_ms);
    let gap_ms = lengths.map(|(call, callee)| round_nanos(call - callee));
    let before_ms = lengths.map(|_| callee.start.nanos_since(record.start) as f64 / 1e6);
    let after_ms = gap_ms
        .zip(before_ms)
        .map(|(gap, before)| round_nanos(gap - before));
    // A clock that counts milliseconds may be off by one at each end of a span (nginx writes its cached clock:
    // in `snat-connect-ladder` gaps reach −1.18 ms); less than that is neither skew nor an asynchronous callee.
    let tolerance = -clock_tolerance_ms(record, callee);
    let is_below = |ms: Option<f64>| ms.is_some_and(|ms| ms < tolerance);
    let is_lambda = record.origin.as_ref() == "AWS::Lambda";
    let is_queue = [record, callee].iter().any(|s| {
        matches!(
            s.origin.as_ref(),
            "AWS::SQS" | "AWS::SNS" | "AWS::SQS::Queue" | "AWS::SNS::Topic"
        )
    });
    // The two parts of an asynchronous Lambda invocation (`xray.md` §2, step 4).
    let is_dwell =
        record.operation.as_ref() == "Dwell Time" || record.operation.starts_with("Attempt #");
    let is_message =
        matches!(record.kind, SpanKind::Producer) || matches!(callee.kind, SpanKind::Consumer);
    Call {
        caller: 0,
        callee: 0,
        gap_ms,
        before_ms,
        after_ms,
        via_segment: false,
        attempts: 1,
        is_last: true,
        is_shared: false,
        is_inferred: callee.is_inferred,
        is_async: is_below(gap_ms) || ((is_queue || is_dwell || is_message) && !callee.is_inferred),
        is_startup: is_lambda && callee.origin.as_ref() == "AWS::Lambda::Function",
        is_skewed: is_below(before_ms) || is_below(after_ms),
    }
}

/// How far the times of two spans may be off from each other without their clocks being wrong.
pub fn clock_tolerance_ms(a: &Span, b: &Span) -> f64 {
    2.0 * (resolution_ms(a) + resolution_ms(b))
}

/// The step of the clock that a span's times were taken with: a millisecond when both are whole ones, else a
/// microsecond.
fn resolution_ms(span: &Span) -> f64 {
    let is_whole =
        span.start.nanos() % 1_000_000 == 0 && span.duration_ms.is_none_or(|ms| ms.fract() == 0.0);
    if is_whole { 1.0 } else { 0.001 }
}

/// Differences of lengths that are whole nanoseconds are whole nanoseconds.
fn round_nanos(ms: f64) -> f64 {
    (ms * 1e6).round() / 1e6
}

/// One more than `aws.retries` among the attributes, when the SDK gave it; else 0.
fn sdk_attempts(attributes: &str) -> u32 {
    const KEY: &str = "\"aws.retries\":";
    let Some(at) = memchr::memmem::find(attributes.as_bytes(), KEY.as_bytes()) else {
        return 0;
    };
    let digits = attributes.get(at + KEY.len()..).unwrap_or_default();
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits
        .get(..end)
        .and_then(|d| d.parse::<u32>().ok())
        .map_or(0, |n| n.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time::Timestamp;
    use crate::formats::xray::testing::spans_of;
    use crate::model::span::SpanId;

    const EDGE: &str = r#"{"id":"aaaaaaaaaaaaaaaa","name":"edge","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","start_time":1796046000.0,"end_time":1796046001.35,"subsegments":[{"id":"bbbbbbbbbbbbbbbb","name":"checkout","namespace":"remote","start_time":1796046000.3,"end_time":1796046001.345}]}"#;

    /// A segment; its times count from the start of [`EDGE`].
    fn callee(id: &str, parent: &str, name: &str, start: f64, end: f64, more: &str) -> String {
        let (start, end) = (1_796_046_000.0 + start, 1_796_046_000.0 + end);
        format!(
            r#"{{"id":"{id}","name":"{name}","parent_id":"{parent}","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","start_time":{start:.6},"end_time":{end:.6}{more}}}"#
        )
    }

    fn calls(documents: &[String]) -> (Vec<Span>, Vec<Call>) {
        let spans = spans_of(&documents.join("\n"));
        let calls = match_calls(&spans);
        (spans, calls)
    }

    #[test]
    fn the_gap_lies_between_call_and_callee() {
        // the minimal set of `xray.md` §2
        let (spans, calls) = calls(&[
            EDGE.to_owned(),
            callee(
                "cccccccccccccccc",
                "bbbbbbbbbbbbbbbb",
                "checkout",
                1.33,
                1.34,
                "",
            ),
        ]);
        assert_eq!(calls.len(), 1);
        let call = calls[0];
        assert_eq!(spans[call.caller].service.as_ref(), "edge");
        assert_eq!(spans[call.callee].service.as_ref(), "checkout");
        assert_eq!(
            (call.gap_ms, call.before_ms, call.after_ms),
            (Some(1035.0), Some(1030.0), Some(5.0))
        );
        assert!(!call.via_segment && call.has_network_gap() && !call.is_skewed);
    }

    #[test]
    fn a_segment_as_caller_is_labelled() {
        let (_, calls) = calls(&[
            callee(
                "aaaaaaaaaaaaaaaa",
                "9999999999999999",
                "edge",
                0.0,
                1.024,
                "",
            ),
            callee(
                "cccccccccccccccc",
                "aaaaaaaaaaaaaaaa",
                "checkout",
                1.01,
                1.02,
                "",
            ),
        ]);
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].gap_ms, Some(1014.0));
        assert!(calls[0].via_segment && calls[0].has_network_gap());
    }

    #[test]
    fn a_segment_that_calls_several_says_nothing_about_one() {
        let segment = callee("aaaaaaaaaaaaaaaa", "9999999999999999", "app", 0.0, 1.0, "");
        let one = callee("cccccccccccccccc", "aaaaaaaaaaaaaaaa", "a", 0.1, 0.2, "");
        let two = callee("dddddddddddddddd", "aaaaaaaaaaaaaaaa", "b", 0.4, 0.5, "");
        let (_, calls) = calls(&[segment, one, two]);
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|c| c.is_shared && !c.has_network_gap()));
    }

    #[test]
    fn of_several_attempts_the_last_counts() {
        let (_, calls) = calls(&[
            EDGE.to_owned(),
            callee(
                "cccccccccccccccc",
                "bbbbbbbbbbbbbbbb",
                "checkout",
                0.4,
                0.5,
                r#","fault":true"#,
            ),
            callee(
                "dddddddddddddddd",
                "bbbbbbbbbbbbbbbb",
                "checkout",
                1.0,
                1.3,
                "",
            ),
        ]);
        assert_eq!(calls.len(), 2);
        assert!(calls.iter().all(|c| c.attempts == 2 && !c.is_shared));
        assert_eq!(
            calls.iter().map(|c| c.is_last).collect::<Vec<_>>(),
            [false, true]
        );
        assert_eq!(calls[1].gap_ms, Some(745.0));
    }

    #[test]
    fn skew_and_asynchronous_callees_are_marked_and_not_clamped() {
        let (_, skewed) = calls(&[
            EDGE.to_owned(),
            callee(
                "cccccccccccccccc",
                "bbbbbbbbbbbbbbbb",
                "checkout",
                0.2345,
                1.2345,
                "",
            ),
        ]);
        assert_eq!(
            (skewed[0].gap_ms, skewed[0].before_ms),
            (Some(45.0), Some(-65.5))
        );
        assert!(skewed[0].is_skewed && skewed[0].has_network_gap());
        let (_, late) = calls(&[
            EDGE.to_owned(),
            callee(
                "cccccccccccccccc",
                "bbbbbbbbbbbbbbbb",
                "checkout",
                1.0,
                9.0,
                "",
            ),
        ]);
        assert_eq!(late[0].gap_ms, Some(-6955.0));
        assert!(late[0].is_async && !late[0].has_network_gap());
    }

    #[test]
    fn what_is_no_network_is_tagged() {
        let lambda = |id: &str, parent: &str, origin: &str, more: &str| {
            callee(
                id,
                parent,
                "f",
                0.5,
                1.0,
                &format!(r#","origin":"{origin}"{more}"#),
            )
        };
        let (_, calls) = calls(&[
            EDGE.to_owned(),
            lambda("cccccccccccccccc", "bbbbbbbbbbbbbbbb", "AWS::Lambda", ""),
            lambda(
                "dddddddddddddddd",
                "cccccccccccccccc",
                "AWS::Lambda::Function",
                "",
            ),
            lambda(
                "eeeeeeeeeeeeeeee",
                "bbbbbbbbbbbbbbbb",
                "AWS::SNS",
                r#","inferred":true"#,
            ),
        ]);
        assert_eq!(calls.len(), 3);
        assert_eq!(calls.iter().filter(|c| c.is_startup).count(), 1);
        assert_eq!(
            calls
                .iter()
                .filter(|c| c.is_inferred && !c.is_async)
                .count(),
            1
        );
        assert_eq!(calls.iter().filter(|c| c.has_network_gap()).count(), 1);
    }

    #[test]
    fn a_span_that_is_its_own_parent_is_no_call() {
        let (_, calls) = calls(&[callee(
            "aaaaaaaaaaaaaaaa",
            "aaaaaaaaaaaaaaaa",
            "edge",
            1.0,
            2.0,
            "",
        )]);
        assert!(calls.is_empty());
    }

    #[test]
    fn retries_of_the_sdk_count_as_attempts() {
        assert_eq!(sdk_attempts(r#"{"aws.operation":"x","aws.retries":2}"#), 3);
        assert_eq!(sdk_attempts(r#"{"aws.retries":null}"#), 0);
        assert_eq!(sdk_attempts("{}"), 0);
    }

    fn key(spans: &[Span], call: &Call) -> (SpanId, SpanId, Option<i64>, bool, bool, u32) {
        let nanos = call.gap_ms.map(|g| (g * 1e6) as i64);
        (
            spans[call.caller].span_id,
            spans[call.callee].span_id,
            nanos,
            call.is_last,
            call.is_shared,
            call.attempts,
        )
    }

    proptest! {
        /// Any parents, any order: the same calls.
        #[test]
        fn order_does_not_matter(
            rows in prop::collection::vec((0u8..12, 0u8..12, 0i64..50, 0i64..50, any::<bool>()), 1..30),
            seed in any::<u64>(),
        ) {
            let template = spans_of(EDGE).remove(0);
            let mut spans: Vec<Span> = rows
                .iter()
                .enumerate()
                .map(|(ix, (_, parent, start, length, is_segment))| Span {
                    span_id: SpanId(ix as u64),
                    parent_id: Some(SpanId(u64::from(*parent))),
                    start: Timestamp::from_nanos(start * 1_000_000),
                    duration_ms: Some(*length as f64),
                    is_segment: *is_segment,
                    kind: if *is_segment { SpanKind::Server } else { SpanKind::Client },
                    ..template.clone()
                })
                .collect();
            let sorted = |mut spans: Vec<Span>| {
                spans.sort_by_key(|s| (s.start, s.span_id));
                let calls = match_calls(&spans);
                let mut keys: Vec<_> = calls.iter().map(|c| key(&spans, c)).collect();
                keys.sort();
                keys
            };
            let straight = sorted(spans.clone());
            let n = spans.len();
            for at in 0..n {
                spans.swap(at, (seed.rotate_left(at as u32) % n as u64) as usize);
            }
            let mut keys: Vec<_> = match_calls(&spans).iter().map(|c| key(&spans, c)).collect();
            keys.sort();
            prop_assert_eq!(&keys, &straight);
            prop_assert_eq!(sorted(spans), straight);
        }
    }
}
