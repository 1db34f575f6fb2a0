//! AWS X-Ray: answers of its API and segment documents (`protocols/xray.md`).
//!
//! `read` finds what stands where, `document` makes spans of segments by way of a `draft` and its `parts`, `summaries` and `graph` read
//! lists and service graphs, `other` the smaller answers,
//! `join` puts together what came in pieces; `json`, `quoted`, `escape`, `attributes` and `timing` serve them.

mod attributes;
mod document;
mod draft;
mod escape;
mod graph;
mod join;
mod json;
mod other;
#[cfg(test)]
mod other_tests;
mod parts;
mod quoted;
mod read;
mod summaries;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod timing;

use crate::base::reporter::Reporter;
use crate::base::text;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// AWS X-Ray.
pub struct XRay;

impl Format for XRay {
    fn id(&self) -> &'static str {
        "xray"
    }

    fn title(&self) -> &'static str {
        "AWS X-Ray"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let any = |paths: &[&str]| paths.iter().any(|path| head.has(path));
        let all = |paths: &[&str]| paths.iter().all(|path| head.has(path));
        if any(&[
            "Traces[].Segments",
            "Traces[].Spans",
            "Traces[].Id",
            "UnprocessedTraceIds",
            "TraceSummaries",
            "TraceSegmentDocuments",
            "Services[].ReferenceId",
            "Services[].Edges",
            "Segments[].Document",
            "[].Segments[].Document",
        ]) {
            return Sniff::Yes(95);
        }
        if all(&["trace_id", "start_time"]) || all(&["[].trace_id", "[].start_time"]) {
            return Sniff::Yes(95);
        }
        if all(&["id", "name", "start_time"]) || all(&["[].id", "[].name", "[].start_time"]) {
            return Sniff::Yes(70);
        }
        if any(&["Traces", "Services"])
            && (head.has("NextToken") || head.has("StartTime") || head.is_whole)
        {
            return Sniff::Yes(60);
        }
        if head.text.starts_with(r#"{"format":"#) && all(&["format", "version"]) {
            return Sniff::Yes(60);
        }
        if other::Other::of(head).is_some() {
            return Sniff::Yes(90);
        }
        foreign(head).map_or(Sniff::NOT_AT_ALL, |why| Sniff::refused(70, why))
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let (text, is_replaced) = text::decode(bytes);
        if is_replaced {
            log.lost(
                "bad_utf8",
                "some bytes are no UTF-8 and were replaced; JSON is always UTF-8",
                None,
            );
        }
        if let Some(other) = other::Other::of(&Head::new(bytes)) {
            return other.read(&text, hints, out, log);
        }
        let is_pulled = hints.request.is_some_and(|request| request.is_pulled);
        read::Reader::new(out, log).of_pull(is_pulled).text(&text)
    }
}

/// Shapes that look like traces and are not read here (`xray.md` §4).
fn foreign(head: &Head<'_>) -> Option<&'static str> {
    let any = |paths: &[&str]| paths.iter().any(|path| head.has(path));
    let any_of_both = |keys: &[&str]| {
        keys.iter()
            .any(|k| head.has(k) || head.has(&format!("[].{k}")))
    };
    if any_of_both(&["resourceSpans", "batches"])
        || any(&[
            "trace.resourceSpans",
            "trace.batches",
            "result.resourceSpans",
            "result.batches",
        ])
    {
        Some(
            "these are OpenTelemetry traces (OTLP JSON, Tempo or Jaeger v3), which are not read yet",
        )
    } else if any(&[
        "data[].traceID",
        "data.traceID",
        "data.spans",
        "data[].processes",
    ]) || (any_of_both(&["traceID"]) && any_of_both(&["spans", "process", "spanID"]))
    {
        Some("these are Jaeger traces, which are not read yet")
    } else if any(&["[].traceId", "[][].traceId"]) {
        Some("these are Zipkin traces, which are not read yet")
    } else if any(&[
        "traces[].rootServiceName",
        "summaries[].rootServiceName",
        "summaries[].traceId",
    ]) {
        Some("this is a list of traces of Tempo or Jaeger, which is not read yet")
    } else {
        None
    }
}
