//! Segment documents: one span for each segment and subsegment (`protocols/xray.md` §2).
//!
//! A document is walked once. Spans are put down in the order in which they stand (a parent before its children), with
//! the holder of each remembered by index, because a segment's name, id and trace may follow its subsegments.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::attributes::{Attributes, Mark};
use super::draft::{Draft, blank, is_fragment, path, status};
use super::json::{Fault, Json, Kind};
use super::timing::{epoch_nanos, scaled};
use crate::base::reporter::Reporter;
use crate::base::time::Timestamp;
use crate::base::unordered::UnorderedSet;
use crate::model::span::{Span, SpanId, SpanKind};

/// Subsegments nested deeper than this are lost and said so. Real ones stay under 20; the limit guards the stack.
pub(super) const MAX_DEPTH: usize = 256;

/// The name of what has none, and of a service that is not in the input.
const UNKNOWN: &str = "unknown";

/// Keeps one copy of each text.
#[derive(Debug, Default)]
pub(super) struct Names(UnorderedSet<Arc<str>>);

impl Names {
    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Whether a document became spans.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It did: these.
    Spans(Range<usize>),
    /// It is JSON, and no segment, because: the end of a sentence.
    NotASegment(&'static str),
}

/// Turns documents into spans.
#[derive(Debug)]
pub(super) struct Documents<'o> {
    pub(super) spans: &'o mut Vec<Span>,
    pub(super) names: Names,
    empty: Arc<str>,
    pub(super) attributes: Attributes,
    pub(super) prefix: String,
    /// For each span of the document at hand: the index of the span that holds it.
    holders: Vec<Option<usize>>,
    /// Spans of independent subsegments, whose service is that of a segment elsewhere.
    pub(super) orphans: Vec<Range<usize>>,
    /// Exceptions by id, with the span in which they were recorded.
    pub(super) exceptions: Vec<(usize, Box<str>, Arc<str>)>,
    /// Spans whose cause is the id of an exception recorded elsewhere.
    pub(super) causes: Vec<(usize, Box<str>)>,
    lost_in_depth: u64,
    odd_units: u64,
    bad_fields: Vec<&'static str>,
}

impl<'o> Documents<'o> {
    pub(super) fn new(spans: &'o mut Vec<Span>) -> Self {
        let mut names = Names::default();
        Self {
            spans,
            empty: names.get(""),
            names,
            attributes: Attributes::default(),
            prefix: String::new(),
            holders: Vec::new(),
            orphans: Vec::new(),
            exceptions: Vec::new(),
            causes: Vec::new(),
            lost_in_depth: 0,
            odd_units: 0,
            bad_fields: Vec::new(),
        }
    }

    /// Reads one document. Of a document that is not JSON nothing is kept.
    pub(super) fn read(
        &mut self,
        json: &mut Json<'_>,
        log: &mut Reporter,
        place: &dyn Fn() -> String,
    ) -> Result<Outcome, Fault> {
        let first = self.spans.len();
        let mark = self.attributes.mark();
        self.holders.clear();
        self.bad_fields.clear();
        let counted = (self.lost_in_depth, self.odd_units, self.attributes.too_deep);
        let mut root = Draft::default();
        if let Err(fault) = self.entity(json, None, 0, &mut root) {
            self.forget(first, mark);
            (self.lost_in_depth, self.odd_units, self.attributes.too_deep) = counted;
            return Err(fault);
        }
        let outcome = self.settle(first, &root);
        if let Outcome::NotASegment(_) = outcome {
            self.forget(first, mark);
        } else {
            for field in std::mem::take(&mut self.bad_fields) {
                log.lost(
                    "bad_field",
                    format!("{field}; the field is left out, the rest of the segment is kept"),
                    place(),
                );
            }
        }
        Ok(outcome)
    }

    fn forget(&mut self, first: usize, mark: Mark) {
        self.spans.truncate(first);
        self.attributes.forget(mark);
        // Those of a document stand at the end.
        while self.exceptions.pop_if(|(at, ..)| *at >= first).is_some() {}
        while self.causes.pop_if(|(at, _)| *at >= first).is_some() {}
    }

    /// Says what was lost over all documents.
    pub(super) fn say(&self, log: &mut Reporter) {
        if self.lost_in_depth > 0 {
            let text = format!(
                "{} subsegments nested deeper than {MAX_DEPTH} levels were left out",
                self.lost_in_depth
            );
            log.lost("too_deep", text, None);
        }
        if self.attributes.too_deep > 0 {
            let text = format!(
                "{} attributes nested too deep for common JSON readers were left out",
                self.attributes.too_deep
            );
            log.lost("attribute_too_deep", text, None);
        }
        if self.odd_units > 0 {
            let text = format!(
                "{} times are too large for epoch seconds and were read as milliseconds, microseconds or nanoseconds, \
                 by their size; X-Ray asks for seconds",
                self.odd_units
            );
            log.note("time_unit", text, None);
        }
    }

    /// One segment or subsegment with all that it holds; `draft` is blank and wide, so it is filled where it stands.
    fn entity<'a>(
        &mut self,
        json: &mut Json<'a>,
        holder: Option<usize>,
        depth: usize,
        draft: &mut Draft<'a>,
    ) -> Result<(), Fault> {
        let slot = self.spans.len();
        self.spans.push(blank(&self.empty));
        self.holders.push(holder);
        let mark = self.attributes.mark();
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            if key == "subsegments" && json.kind()? == Kind::Array {
                self.subsegments(json, slot, depth)?;
            } else {
                self.field(&key, json, slot, draft)?;
            }
        }
        self.put(slot, draft, mark);
        Ok(())
    }

    fn subsegments(&mut self, json: &mut Json<'_>, slot: usize, depth: usize) -> Result<(), Fault> {
        json.open_array()?;
        let mut first = true;
        while json.element(&mut first)? {
            if json.kind()? != Kind::Object {
                if json.skip()? != "null" {
                    self.bad_fields.push("a subsegment is no object");
                }
            } else if depth + 1 >= MAX_DEPTH {
                json.pass()?;
                self.lost_in_depth += 1;
            } else {
                self.entity(json, Some(slot), depth + 1, &mut Draft::default())?;
            }
        }
        Ok(())
    }

    fn field<'a>(
        &mut self,
        key: &str,
        json: &mut Json<'a>,
        slot: usize,
        draft: &mut Draft<'a>,
    ) -> Result<(), Fault> {
        match key {
            "id" => draft.id = self.id(json, "`id` is no text")?,
            "parent_id" => draft.parent_id = self.id(json, "`parent_id` is no text")?,
            "trace_id" => draft.trace_id = json.text()?.filter(|t| !t.is_empty()),
            "name" => draft.name = json.text()?.filter(|n| !n.is_empty()),
            "start_time" => {
                draft.start = self.time(json, "`start_time` is no epoch time before 2262")?;
            }
            "end_time" => draft.end = self.time(json, "`end_time` is no epoch time before 2262")?,
            "inferred" => draft.is_inferred = json.truth()? == Some(true),
            "type" => draft.is_subsegment = json.text()?.is_some_and(|t| t == "subsegment"),
            "error" => draft.is_error = json.truth()? == Some(true),
            "fault" => draft.is_fault = json.truth()? == Some(true),
            "throttle" => draft.is_throttle = json.truth()? == Some(true),
            "traced" => draft.is_traced |= json.truth()? == Some(true),
            "namespace" => {
                draft.namespace = json.text()?;
                if let Some(namespace) = &draft.namespace {
                    self.attributes.add_text("namespace", namespace);
                }
            }
            "origin" => draft.origin = json.text()?,
            "http" => self.http(json, draft)?,
            "cause" => self.cause(json, slot, draft)?,
            "annotations" => self.open_attributes("annotations", json, Some(draft))?,
            "metadata" => self.open_attributes("metadata", json, Some(draft))?,
            "sql" => {
                draft.has_sql = true;
                self.open_attributes("sql", json, None)?;
            }
            "aws" | "service" | "user" | "resource_arn" | "links" | "precursor_ids" => {
                self.open_attributes(key, json, None)?;
            }
            "startTimeUnixNano" => {
                draft.is_other_format = true;
                json.pass()?;
            }
            _ => {
                json.pass()?;
            }
        }
        Ok(())
    }

    fn id(&mut self, json: &mut Json<'_>, bad: &'static str) -> Result<Option<SpanId>, Fault> {
        let is_null = json.kind()? == Kind::Null;
        let text = json.text()?;
        if text.is_none() && !is_null {
            self.bad_fields.push(bad);
        }
        Ok(text.filter(|t| !t.is_empty()).map(|t| SpanId::parse(&t)))
    }

    fn time(&mut self, json: &mut Json<'_>, bad: &'static str) -> Result<Option<i64>, Fault> {
        let is_null = match json.kind()? {
            Kind::Number => {
                let from = json.at();
                if let Some((digits, places)) = json.decimal() {
                    if let Some(nanos) = scaled(digits, places) {
                        return Ok(Some(nanos));
                    }
                    json.go_to(from);
                }
                false
            }
            kind => kind == Kind::Null,
        };
        let time = json.digits()?.and_then(|digits| epoch_nanos(&digits));
        if time.is_none() && !is_null {
            self.bad_fields.push(bad);
        }
        self.odd_units += u64::from(time.is_some_and(|(_, is_odd)| is_odd));
        Ok(time.map(|(nanos, _)| nanos))
    }

    /// The span of a draft, less what only its document knows.
    fn put(&mut self, slot: usize, draft: &Draft<'_>, mark: Mark) {
        if draft.is_traced {
            self.attributes.add_raw("traced", "true");
        }
        if let Some(method) = &draft.method {
            self.attributes.add_text("http.method", method);
        }
        if let Some(id) = &draft.cause_id {
            self.attributes.add_text("cause", id);
            self.causes.push((slot, id.as_ref().into()));
        }
        let name = draft.name.as_deref().unwrap_or(UNKNOWN);
        let kind = self.kind(slot, draft);
        let peer = draft
            .timing
            .peer()
            .or_else(|| (kind == SpanKind::Client).then_some(name))
            .map(|peer| self.names.get(peer));
        let operation = match (draft.method.as_deref(), draft.url.as_deref().map(path)) {
            (None, None) => self.names.get(name),
            (Some(method), None) => self.names.get(method),
            (None, Some(path)) => self.names.get(path),
            (Some(method), Some(path)) => {
                self.prefix.clear();
                self.prefix.push_str(method);
                self.prefix.push(' ');
                self.prefix.push_str(path);
                self.names.get(&self.prefix)
            }
        };
        let duration_ms = draft.start.zip(draft.end).and_then(|(start, end)| {
            let nanos = end.saturating_sub(start);
            if nanos < 0 {
                self.bad_fields.push("`end_time` lies before `start_time`");
            }
            (nanos >= 0).then_some(nanos as f64 / 1e6)
        });
        let attributes = self.attributes.finish(mark);
        // Short ones (`{"namespace":"remote"}`) repeat; long ones hardly ever do.
        let attributes = if attributes.len() <= 64 {
            self.names.get(attributes)
        } else {
            Arc::from(attributes)
        };
        let origin = self.names.get(draft.origin.as_deref().unwrap_or(""));
        let Some(span) = self.spans.get_mut(slot) else {
            return;
        };
        span.span_id = draft.id.unwrap_or_else(|| {
            // Ids must differ within a trace: made from what tells this one apart.
            SpanId::parse(&format!("{name} {:?} {slot}", draft.start))
        });
        span.parent_id = draft.parent_id;
        span.operation = operation;
        span.kind = kind;
        span.is_inferred = draft.is_inferred;
        span.origin = origin;
        span.start = Timestamp::from_nanos(draft.start.or(draft.end).unwrap_or(i64::MIN));
        span.duration_ms = duration_ms;
        span.connect_ms = draft.timing.connect_ms();
        span.queue_ms = draft.timing.queue_ms().map(|ms| ms as f32);
        span.peer = peer;
        span.status = status(draft, duration_ms.is_some());
        span.http_status = draft.http_status;
        if let Some(text) = &draft.error_text {
            span.error = Arc::clone(text);
        }
        span.attributes = attributes;
    }

    /// Segments serve; subsegments call when they say so (`aws` and `remote` are the documented namespaces), else they
    /// are work inside.
    fn kind(&self, slot: usize, draft: &Draft<'_>) -> SpanKind {
        let is_root = slot + self.holders.len() == self.spans.len();
        let is_call = matches!(draft.namespace.as_deref(), Some("aws" | "remote"))
            || draft.is_traced
            || draft.has_sql
            || draft.has_request;
        if is_root && !is_fragment(draft) {
            SpanKind::Server
        } else if is_call {
            SpanKind::Client
        } else {
            SpanKind::Internal
        }
    }

    /// Gives the spans of a document what its outermost one said.
    fn settle(&mut self, first: usize, root: &Draft<'_>) -> Outcome {
        if root.is_other_format {
            return Outcome::NotASegment(
                "it is an OpenTelemetry span; ask for the trace format XRAY",
            );
        }
        if root.start.or(root.end).is_none() {
            return Outcome::NotASegment("it has no `start_time` that can be read");
        }
        if root.name.is_none() && root.id.is_none() {
            return Outcome::NotASegment("it has neither `name` nor `id`");
        }
        let is_fragment = is_fragment(root);
        let service = self.names.get(if is_fragment {
            UNKNOWN
        } else {
            root.name.as_deref().unwrap_or(UNKNOWN)
        });
        let trace_id = self.names.get(root.trace_id.as_deref().unwrap_or(""));
        let range = first..self.spans.len();
        for (at, holder) in range.clone().zip(&self.holders) {
            let above = holder
                .and_then(|h| self.spans.get(h))
                .map(|h| (h.span_id, h.start));
            let Some(span) = self.spans.get_mut(at) else {
                break;
            };
            span.service = Arc::clone(&service);
            span.trace_id = Arc::clone(&trace_id);
            match above {
                None => span.is_segment = !is_fragment,
                Some((id, start)) => {
                    span.parent_id = Some(id);
                    if span.start.nanos() == i64::MIN {
                        span.start = start;
                    }
                }
            }
        }
        self.connects(&range);
        if is_fragment {
            self.orphans.push(range.clone());
        }
        Outcome::Spans(range)
    }

    /// The Go SDK records `connect` below a call, or below an `attempt` of it; a call may have several.
    fn connects(&mut self, range: &Range<usize>) {
        let holder_of = |at: usize| {
            at.checked_sub(range.start)
                .and_then(|ix| self.holders.get(ix).copied().flatten())
        };
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        for at in range.clone() {
            let Some(span) = self
                .spans
                .get(at)
                .filter(|s| s.operation.as_ref() == "connect")
            else {
                continue;
            };
            let Some(mut call) = holder_of(at) else {
                continue;
            };
            if self
                .spans
                .get(call)
                .is_some_and(|s| s.operation.as_ref() == "attempt")
            {
                call = holder_of(call).unwrap_or(call);
            }
            let is_call = self
                .spans
                .get(call)
                .is_some_and(|s| s.kind == SpanKind::Client && s.connect_ms.is_none());
            if let Some(ms) = span.duration_ms.filter(|_| is_call) {
                *found.entry(call).or_default() += ms;
            }
        }
        for (call, ms) in found {
            if let Some(span) = self.spans.get_mut(call) {
                span.connect_ms = Some(ms);
            }
        }
    }
}
