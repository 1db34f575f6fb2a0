//! What can only be said when all documents of an input are read: the service of independent subsegments, causes that
//! stand elsewhere, and documents that came twice.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::Documents;
use crate::base::reporter::Reporter;
use crate::base::text;
use crate::base::unordered::UnorderedSet;
use crate::model::span::{Span, SpanId};

/// Joins and says what was lost.
pub(super) fn finish(documents: &mut Documents<'_>, log: &mut Reporter) {
    causes(documents);
    // Most inputs have neither, and need no index.
    if !documents.orphans.is_empty() || has_doubles(documents.spans) {
        let by_id = Index::new(documents.spans);
        orphans(documents, &by_id, log);
        doubles(documents.spans, &by_id, log);
    }
    let unnamed = documents
        .spans
        .iter()
        .filter(|s| s.trace_id.is_empty())
        .count() as u64;
    if unnamed > 0 {
        log.note(
            "no_trace_id",
            format!(
                "{} without a `trace_id`: their calls cannot be matched",
                text::count(unnamed, "span", "spans")
            ),
            None,
        );
    }
    documents.say(log);
}

/// Whether any id stands twice in a trace.
fn has_doubles(spans: &[Span]) -> bool {
    let mut seen = UnorderedSet::with_capacity(spans.len());
    !spans
        .iter()
        .all(|span| seen.insert((trace_key(span), span.span_id)))
}

/// Spans by trace and id. Traces are told apart by the address of their interned name, which only groups and never
/// orders anything that is seen.
struct Index(Vec<(usize, SpanId, usize)>);

impl Index {
    fn new(spans: &[Span]) -> Self {
        let mut keys: Vec<_> = spans
            .iter()
            .enumerate()
            .map(|(at, span)| (trace_key(span), span.span_id, at))
            .collect();
        keys.sort_unstable();
        Self(keys)
    }

    /// The first span with this id in a trace, in order of reading.
    fn find(&self, trace: usize, id: SpanId) -> Option<usize> {
        let from = self.0.partition_point(|(t, i, _)| (*t, *i) < (trace, id));
        self.0
            .get(from)
            .filter(|(t, i, _)| (*t, *i) == (trace, id))
            .map(|(.., at)| *at)
    }
}

fn trace_key(span: &Span) -> usize {
    Arc::as_ptr(&span.trace_id).cast::<u8>().addr()
}

/// Gives spans whose cause is an id the text of that exception, when it was recorded in the same trace.
fn causes(documents: &mut Documents<'_>) {
    if documents.causes.is_empty() {
        return;
    }
    let spans = &mut *documents.spans;
    let known: BTreeMap<(usize, &str), &Arc<str>> = documents
        .exceptions
        .iter()
        .filter_map(|(at, id, text)| Some(((trace_key(spans.get(*at)?), id.as_ref()), text)))
        .collect();
    let found: Vec<(usize, Arc<str>)> = documents
        .causes
        .iter()
        .filter_map(|(at, id)| {
            let text = known.get(&(trace_key(spans.get(*at)?), id.as_ref()))?;
            Some((*at, Arc::clone(text)))
        })
        .collect();
    for (at, text) in found {
        if let Some(span) = spans.get_mut(at).filter(|s| s.error.is_empty()) {
            span.error = text;
        }
    }
}

/// Independent subsegments belong to the service of the segment that holds their parent.
fn orphans(documents: &mut Documents<'_>, by_id: &Index, log: &mut Reporter) {
    let mut owner: BTreeMap<usize, usize> = BTreeMap::new();
    for range in &documents.orphans {
        owner.extend(range.clone().map(|at| (at, range.start)));
    }
    let mut lost = 0u64;
    for range in std::mem::take(&mut documents.orphans) {
        let service = home(documents.spans, by_id, &owner, range.start);
        match service {
            Some(service) => {
                for span in documents.spans.get_mut(range).into_iter().flatten() {
                    span.service = Arc::clone(&service);
                }
            }
            None => lost += 1,
        }
    }
    if lost > 0 {
        log.note(
            "no_parent_segment",
            format!(
                "{} whose segment is not in this input: the service that made the call is unknown",
                text::count(lost, "independent subsegment", "independent subsegments")
            ),
            None,
        );
    }
}

/// The service of the segment above, through at most 64 independent subsegments (a limit against circles).
fn home(
    spans: &[Span],
    by_id: &Index,
    owner: &BTreeMap<usize, usize>,
    orphan: usize,
) -> Option<Arc<str>> {
    let mut at = orphan;
    for _ in 0..64 {
        let span = spans.get(at)?;
        let above = by_id.find(trace_key(span), span.parent_id?)?;
        match owner.get(&above) {
            Some(root) if *root == at => return None,
            Some(root) => at = *root,
            None => return spans.get(above).map(|s| Arc::clone(&s.service)),
        }
    }
    None
}

/// A document may come twice: in progress and complete, or alone and inside its segment. The fuller one is kept.
fn doubles(spans: &mut Vec<Span>, by_id: &Index, log: &mut Reporter) {
    let mut drop = Vec::new();
    let mut conflicts = 0u64;
    for group in by_id.0.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut members = group
            .iter()
            .filter_map(|(.., at)| Some((*at, spans.get(*at)?)));
        let Some(mut kept) = members.next() else {
            continue;
        };
        for next in members {
            if !is_same(kept.1, next.1) {
                conflicts += 1;
            } else if fullness(next.1) > fullness(kept.1) {
                drop.push(kept.0);
                kept = next;
            } else {
                drop.push(next.0);
            }
        }
    }
    if conflicts > 0 {
        log.note(
            "duplicate_id",
            format!(
                "{} share an id with another span of their trace and differ from it; both are kept, and calls are \
                 matched with the first",
                text::count(conflicts, "span", "spans")
            ),
            None,
        );
    }
    if drop.is_empty() {
        return;
    }
    drop.sort_unstable();
    log.note(
        "twins",
        format!(
            "{} came twice (in progress and complete, or alone and inside the segment); the fuller record is kept",
            text::count(drop.len() as u64, "span", "spans")
        ),
        None,
    );
    let (mut at, mut next) = (0usize, 0usize);
    spans.retain(|_| {
        let is_dropped = drop.get(next) == Some(&at);
        next += usize::from(is_dropped);
        at += 1;
        !is_dropped
    });
}

fn is_same(a: &Span, b: &Span) -> bool {
    let same_end =
        a.duration_ms.is_none() || b.duration_ms.is_none() || a.duration_ms == b.duration_ms;
    a.start == b.start && same_end
}

fn fullness(span: &Span) -> (bool, bool, usize) {
    (
        span.duration_ms.is_some(),
        span.is_segment,
        span.attributes.len() + span.error.len(),
    )
}
