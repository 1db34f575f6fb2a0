//! What stands around documents: answers, single traces, loose documents, lines of them.

use std::sync::Arc;

use super::document::{Documents, Outcome};
use super::json::{Fault, Json, Kind};
use super::{graph, summaries};
use crate::base::reporter::Reporter;
use crate::formats::FormatError;
use crate::model::batch::Batch;
use crate::model::span::{CallEdge, TraceSummary};

/// A header line of the daemon's protocol is shorter than this.
const LONGEST_HEADER: usize = 128;

/// What one top-level value turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Traces,
    Summaries,
    Services,
    /// One trace: an object with `Segments` (or `Spans`).
    Trace,
    /// A body of `PutTraceSegments`.
    Put,
    Document,
    /// `{Id, Document}`: an element of `Segments`.
    Segment,
    /// The line `{"format":"json","version":1}` before each datagram to the daemon.
    Header,
    Other,
}

/// Everything that one input gives.
pub(super) struct Reader<'o> {
    documents: Documents<'o>,
    summaries: &'o mut Vec<TraceSummary>,
    edges: &'o mut Vec<CallEdge>,
    log: &'o mut Reporter,
    /// Holds the text of the document at hand.
    unescaped: Vec<u8>,
    /// How many values were of X-Ray, also empty ones.
    recognised: u64,
    /// Whether it is an answer of a pull, which says by itself what is missing in the end.
    is_pulled: bool,
}

impl<'o> Reader<'o> {
    pub(super) fn new(out: &'o mut Batch, log: &'o mut Reporter) -> Self {
        Self {
            documents: Documents::new(&mut out.spans),
            summaries: &mut out.summaries,
            edges: &mut out.edges,
            log,
            unescaped: Vec::new(),
            recognised: 0,
            is_pulled: false,
        }
    }

    /// Whether it is an answer of a pull.
    pub(super) const fn of_pull(mut self, is_pulled: bool) -> Self {
        self.is_pulled = is_pulled;
        self
    }

    /// Reads a whole text.
    pub(super) fn text(mut self, text: &str) -> Result<(), FormatError> {
        if is_lines(text) {
            self.lines(text);
        } else {
            self.stream(text);
        }
        super::join::finish(&mut self.documents, self.log);
        let is_empty =
            self.documents.spans.is_empty() && self.summaries.is_empty() && self.edges.is_empty();
        if is_empty && (self.recognised == 0 || self.log.is_lossy()) {
            return Err(FormatError::new(
                "no_traces",
                None,
                "no segment, trace summary or service could be read",
                "an answer of BatchGetTraces, GetTraceSummaries, GetServiceGraph or GetTraceGraph, or segment documents",
                "see the warnings for the place of each value that was refused",
            ));
        }
        Ok(())
    }

    /// Values one after another, each over as many lines as it likes. After one that is not JSON, reading goes on at
    /// the next line that opens an object without indentation.
    fn stream(&mut self, text: &str) {
        let mut json = Json::new(text);
        let mut number = 0usize;
        while json.has_more() {
            let root = if number == 0 {
                "$".to_owned()
            } else {
                format!("value {}: $", number + 1)
            };
            number += 1;
            let Err(fault) = self.value(&mut json, &root) else {
                continue;
            };
            let rest = text.get(fault.at..).unwrap_or_default();
            let what = if rest.trim().is_empty() {
                "the text ends too early".to_owned()
            } else {
                format!("expected {}", fault.expected)
            };
            self.log.lost(
                "bad_json",
                format!("{what}; what was read before that place is kept"),
                format!("byte {} in {root}", fault.at),
            );
            match rest.find("\n{") {
                Some(next) => json.go_to(fault.at + next + 1),
                None => break,
            }
        }
    }

    /// One value a line; a bad line costs only itself.
    fn lines(&mut self, text: &str) {
        for (ix, line) in text.lines().enumerate() {
            let mut json = Json::new(line);
            let place = format!("line {}", ix + 1);
            while json.has_more() {
                if let Err(fault) = self.value(&mut json, &place) {
                    self.log.lost(
                        "bad_json",
                        format!(
                            "not JSON: expected {} at byte {} of the line; the line is left out",
                            fault.expected, fault.at
                        ),
                        place.clone(),
                    );
                    break;
                }
            }
        }
    }

    /// One top-level value (or an element of a top-level array).
    fn value(&mut self, json: &mut Json<'_>, root: &str) -> Result<(), Fault> {
        match json.kind()? {
            Kind::Array => {
                json.open_array()?;
                let (mut first, mut ix) = (true, 0usize);
                while json.element(&mut first)? {
                    match json.kind()? {
                        Kind::Object => self.object(json, &|| format!("{root}[{ix}]"))?,
                        Kind::String => self.document_text(json, &|| format!("{root}[{ix}]"))?,
                        _ => self.refuse(json, "an object", &|| format!("{root}[{ix}]"))?,
                    }
                    ix += 1;
                }
                Ok(())
            }
            Kind::Object => self.object(json, &|| root.to_owned()),
            _ => self.refuse(json, "an object or an array", &|| root.to_owned()),
        }
    }

    fn refuse(
        &mut self,
        json: &mut Json<'_>,
        expected: &str,
        place: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        if json.skip()? != "null" {
            self.log.lost(
                "unexpected_value",
                format!("expected {expected}; it is left out"),
                place(),
            );
        }
        Ok(())
    }

    fn object(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        match shape(json)? {
            Shape::Document => self.document(json, place),
            Shape::Trace => {
                self.recognised += 1;
                self.trace(json, place)
            }
            Shape::Segment => {
                self.recognised += 1;
                self.wrapped(json, place)
            }
            Shape::Header => json.pass(),
            Shape::Other => {
                json.pass()?;
                self.log.lost(
                    "unexpected_value",
                    "neither an answer of X-Ray nor a segment document; it is left out",
                    place(),
                );
                Ok(())
            }
            Shape::Traces | Shape::Summaries | Shape::Services | Shape::Put => {
                self.recognised += 1;
                self.answer(json, place)
            }
        }
    }

    /// An answer of the service.
    fn answer(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            let kind = json.kind()?;
            match (key.as_ref(), kind) {
                ("Traces", Kind::Array) => self.traces(json, place)?,
                ("TraceSummaries", Kind::Array) => self.trace_summaries(json, place)?,
                ("Services", Kind::Array) => {
                    let (edges, dangling) = graph::services(json, &mut self.documents.names)?;
                    self.edges.extend(edges);
                    if dangling > 0 {
                        self.log.note(
                            "unknown_service",
                            format!("{dangling} calls name a service that is not in this graph; they are left out"),
                            format!("{}.Services", place()),
                        );
                    }
                }
                ("TraceSegmentDocuments", Kind::Array) => {
                    json.open_array()?;
                    let (mut first, mut ix) = (true, 0usize);
                    while json.element(&mut first)? {
                        self.document_text(json, &|| {
                            format!("{}.TraceSegmentDocuments[{ix}]", place())
                        })?;
                        ix += 1;
                    }
                }
                ("UnprocessedTraceIds", Kind::Array) => self.unprocessed(json, place)?,
                ("NextToken", Kind::String) => {
                    if !json.string()?.is_empty() && !self.is_pulled {
                        self.log.note(
                            "next_page",
                            "the answer names a next page (NextToken): without that page among the inputs the list is \
                             not complete",
                            format!("{}.NextToken", place()),
                        );
                    }
                }
                _ => {
                    json.pass()?;
                }
            }
        }
        Ok(())
    }

    fn unprocessed(
        &mut self,
        json: &mut Json<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        let (mut first, mut count, mut sample) = (true, 0u64, String::new());
        json.open_array()?;
        while json.element(&mut first)? {
            let id = json.text()?.unwrap_or_default();
            if count == 0 {
                sample = id.into_owned();
            }
            count += 1;
        }
        if count > 0 {
            let text = format!(
                "the service did not return {} that were asked for (expired, not indexed yet, or of another \
                 region), the first {sample}; ask for them again",
                crate::base::text::count(count, "trace", "traces")
            );
            let place = format!("{}.UnprocessedTraceIds", place());
            if self.is_pulled {
                self.log.note("unprocessed_traces", text, place);
            } else {
                self.log.lost("unprocessed_traces", text, place);
            }
        }
        Ok(())
    }

    fn traces(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        json.open_array()?;
        let (mut first, mut ix) = (true, 0usize);
        while json.element(&mut first)? {
            let at = || format!("{}.Traces[{ix}]", place());
            if json.kind()? == Kind::Object {
                self.trace(json, &at)?;
            } else {
                self.refuse(json, "a trace", &at)?;
            }
            ix += 1;
        }
        Ok(())
    }

    /// One trace with its segments.
    fn trace(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        let first_span = self.documents.spans.len();
        let mut id = None;
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            let kind = json.kind()?;
            match (key.as_ref(), kind) {
                ("Id", Kind::String) => id = Some(json.string()?),
                ("Segments" | "Spans", Kind::Array) => {
                    json.open_array()?;
                    let (mut first, mut ix) = (true, 0usize);
                    while json.element(&mut first)? {
                        self.segment(json, &|| format!("{}.{key}[{ix}]", place()))?;
                        ix += 1;
                    }
                }
                ("LimitExceeded", _) => {
                    if json.truth()? == Some(true) {
                        self.log.lost(
                            "limit_exceeded",
                            "the trace is larger than X-Ray keeps (100 to 500 kB); some of its segments are missing",
                            place(),
                        );
                    }
                }
                _ => {
                    json.pass()?;
                }
            }
        }
        if let Some(id) = id {
            let id = self.documents.names.get(&id);
            for span in self.documents.spans.iter_mut().skip(first_span) {
                if span.trace_id.is_empty() {
                    span.trace_id = Arc::clone(&id);
                }
            }
        }
        Ok(())
    }

    /// `{Id, Document}`, the document as a string or (as Grafana keeps it) an object; or the document itself.
    fn segment(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        if json.kind()? != Kind::Object {
            return self.refuse(json, "a segment", place);
        }
        if shape(json)? == Shape::Document {
            return self.document(json, place);
        }
        self.wrapped(json, place)
    }

    fn wrapped(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        let mut has_document = false;
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            if key != "Document" {
                json.pass()?;
                continue;
            }
            has_document = true;
            let at = || format!("{}.Document", place());
            match json.kind()? {
                Kind::Object => self.document(json, &at)?,
                Kind::String => self.document_text(json, &at)?,
                _ => self.refuse(json, "a document as a string or an object", &at)?,
            }
        }
        if !has_document {
            self.log.lost(
                "no_document",
                "a segment without a `Document`; it is left out",
                place(),
            );
        }
        Ok(())
    }

    /// A document inside a string. When it is not JSON, only it is lost.
    fn document_text(
        &mut self,
        json: &mut Json<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        if json.kind()? != Kind::String {
            return self.refuse(json, "a document as a string", place);
        }
        // Nearly every document can be read where it stands; of one that cannot, nothing is kept before it is told whole.
        let mut within = json.within();
        if !has_header(json) && self.document(&mut within, place).is_ok() {
            return json.leave(&within);
        }
        let mut unescaped = std::mem::take(&mut self.unescaped);
        let text = json.string_in(&mut unescaped)?;
        // A datagram to the daemon has a header line before the document.
        let head = text.as_bytes().get(..LONGEST_HEADER.min(text.len()));
        let body = memchr::memchr(b'\n', head.unwrap_or_default())
            .and_then(|end| text.split_at_checked(end))
            .filter(|(line, _)| is_header(line))
            .map_or(&*text, |(_, body)| body);
        if let Err(fault) = self.document(&mut Json::new(body), place) {
            let what = if fault.at >= body.len() {
                "is cut off"
            } else {
                "is not JSON"
            };
            self.log.lost(
                "bad_document",
                format!(
                    "the document {what} at its byte {}: expected {}; it is left out, the rest is kept",
                    fault.at, fault.expected
                ),
                place(),
            );
        }
        drop(text);
        self.unescaped = unescaped;
        Ok(())
    }

    fn document(&mut self, json: &mut Json<'_>, place: &dyn Fn() -> String) -> Result<(), Fault> {
        match self.documents.read(json, self.log, place)? {
            Outcome::Spans(_) => self.recognised += 1,
            Outcome::NotASegment(why) => {
                self.log
                    .lost("bad_document", format!("{why}; it is left out"), place());
            }
        }
        Ok(())
    }

    fn trace_summaries(
        &mut self,
        json: &mut Json<'_>,
        place: &dyn Fn() -> String,
    ) -> Result<(), Fault> {
        let (mut first, mut ix, mut partial) = (true, 0usize, 0u64);
        json.open_array()?;
        while json.element(&mut first)? {
            let at = || format!("{}.TraceSummaries[{ix}]", place());
            if json.kind()? == Kind::Object {
                match summaries::row(json, &mut self.documents.names)? {
                    Some(row) => {
                        partial += u64::from(row.is_partial);
                        self.summaries.push(row);
                    }
                    None => self.log.lost(
                        "bad_summary",
                        "a trace summary without an id or a time; it is left out",
                        at(),
                    ),
                }
            } else {
                self.refuse(json, "a trace summary", &at)?;
            }
            ix += 1;
        }
        if partial > 0 {
            self.log.note(
                "partial_traces",
                format!("{partial} of {ix} traces are partial: X-Ray had not received all their segments"),
                format!("{}.TraceSummaries", place()),
            );
        }
        Ok(())
    }
}

/// Whether the text has one complete value on each line: the first line that is no header is one by itself, and
/// another line follows.
fn is_lines(text: &str) -> bool {
    let mut rest = text;
    loop {
        let Some((line, after)) = rest.split_once('\n') else {
            return false;
        };
        if after.trim_start().is_empty() {
            return false;
        }
        rest = after;
        if line.trim().is_empty() || is_header(line) {
            continue;
        }
        let mut json = Json::new(line);
        return json.pass().is_ok() && !json.has_more();
    }
}

/// Whether the string that comes next may begin with a header line: it holds an escaped line break early on.
fn has_header(json: &Json<'_>) -> bool {
    let head = json.ahead(2 * LONGEST_HEADER);
    memchr::memchr_iter(b'n', head).any(|at| at > 0 && head.get(at - 1) == Some(&b'\\'))
}

fn is_header(line: &str) -> bool {
    line.len() < LONGEST_HEADER && shape(&mut Json::new(line)).is_ok_and(|s| s == Shape::Header)
}

/// What the next object is, told by its keys; the walk is put back to its beginning.
fn shape(json: &mut Json<'_>) -> Result<Shape, Fault> {
    if json.kind()? != Kind::Object {
        return Ok(Shape::Other);
    }
    let from = json.at();
    let mut found = Shape::Other;
    let (mut has_format, mut others) = (false, 0usize);
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        let told = match key.as_ref() {
            "Traces" => Some(Shape::Traces),
            "TraceSummaries" => Some(Shape::Summaries),
            "Services" => Some(Shape::Services),
            "Segments" | "Spans" => Some(Shape::Trace),
            "Document" => Some(Shape::Segment),
            "TraceSegmentDocuments" => Some(Shape::Put),
            "trace_id" | "start_time" | "end_time" | "subsegments" | "startTimeUnixNano" => {
                Some(Shape::Document)
            }
            _ => None,
        };
        if let Some(told) = told {
            found = told;
            break;
        }
        has_format |= key == "format";
        others += usize::from(!matches!(key.as_ref(), "format" | "version"));
        json.pass()?;
    }
    json.go_to(from);
    if found == Shape::Other && has_format && others == 0 {
        found = Shape::Header;
    }
    Ok(found)
}
