//! `transactionInfo` and `transaction/trace`: one distributed call tree, into spans (`pinpoint.md` §4).
//!
//! Every timed row is a span; the entry of a request into an application is its segment. Rows of a connection being made
//! below a call belong to the call ([`Span::connect_ms`]); waits for a pool or a lock are the [`Span::queue_ms`] of their
//! own rows and, added up, of the segment. Exceptions become [`Span::error`], annotations attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Reading;
use super::part::{self, Part};
use super::tree::{Role, Row, rows};
use super::value::{of, shared, text};
use crate::model::input::InputIx;
use crate::model::span::{Span, SpanId, SpanKind, SpanStatus};

/// Attributes that may hold personal data. They are named again in the attribute `redact` of each span that has some, for
/// whoever takes them out.
pub const PERSONAL: &[&str] = &[
    "db.statement",
    "db.bind_values",
    "http.param",
    "http.cookie",
    "client.address",
    "return_data",
    "arguments",
];

/// Annotation rows whose attribute has a name of its own; the others become `annotation.TITLE`.
const ANNOTATIONS: &[(&str, &str)] = &[
    ("SQL", "db.statement"),
    ("SQL-BindValue", "db.bind_values"),
    ("http.param", "http.param"),
    ("http.cookie", "http.cookie"),
    ("http.url", "http.url"),
    ("http.io", "http.io"),
    ("REMOTE_ADDRESS", "client.address"),
    ("ENDPOINT", "pinpoint.endpoint"),
    ("RETURN_DATA", "return_data"),
];

/// A span being made.
struct Draft<'a> {
    row: Row<'a>,
    part: Part,
    parent: Option<usize>,
    /// The entry that it belongs to.
    segment: usize,
    is_segment: bool,
    is_async: bool,
    has_remote: bool,
    connect_ms: Option<f64>,
    queue_ms: f64,
    http_status: Option<u16>,
    errors: Vec<String>,
    timed_out_connecting: bool,
    attributes: Map<String, Value>,
}

/// Reads one answer.
pub(super) fn read(reading: &mut Reading<'_, '_>, value: &Value) {
    let trace = text(of(value, "transactionId"))
        .or_else(|| reading.asked.trace())
        .unwrap_or_default()
        .to_owned();
    if trace.is_empty() {
        reading.log.note(
            "no_trace_id",
            "the answer names no transaction; its spans cannot be joined with others",
            "$.transactionId".to_owned(),
        );
    }
    say_state(reading, value);
    let (rows, lost) = rows(value);
    if lost > 0 {
        reading.log.lost(
            "bad_row",
            format!("{lost} rows of the call tree have no `id` and are left out"),
            "$.callStack".to_owned(),
        );
    }
    let mut drafts = drafts(reading, &rows);
    attach(reading, &rows, &mut drafts);
    fold_connects(&mut drafts);
    if drafts.is_empty() {
        reading.log.lost(
            "no_traces",
            "no row of the call tree has a time: Pinpoint did not know this transaction (not sampled, lost or expired)",
            "$.callStack".to_owned(),
        );
    }
    let trace = shared(&trace);
    let ids: Vec<(SpanId, Option<SpanId>)> = drafts
        .iter()
        .map(|d| {
            let parent = d.parent.and_then(|at| drafts.get(at));
            (
                span_id(&trace, d.row.id),
                parent.map(|p| span_id(&trace, p.row.id)),
            )
        })
        .collect();
    for (draft, (id, parent)) in drafts.into_iter().zip(ids) {
        reading.out.spans.push(span(draft, &trace, id, parent));
    }
}

/// The id of a row's span: rows are numbered within their answer alone, and the same tree numbers them the same.
pub(super) fn span_id(trace: &str, row: i64) -> SpanId {
    SpanId::parse(&format!("{trace}#{row}"))
}

fn say_state(reading: &mut Reading<'_, '_>, value: &Value) {
    let at = || "$.completeState".to_owned();
    match text(of(value, "completeState")).unwrap_or("Complete") {
        "Complete" | "Init" => {}
        "Progress" => reading.log.note(
            "partial_traces",
            "the transaction was still arriving at the collector; fetch it again for the rest",
            at(),
        ),
        "Overflow" => reading.log.lost(
            "limit_exceeded",
            "the transaction has more spans than the server reads (web.callstack.selectSpans.limit, 10,000); the rest is missing",
            at(),
        ),
        state => reading.log.lost(
            "partial_traces",
            format!("the server calls the state of the transaction `{state}`; parts of it may be missing"),
            at(),
        ),
    }
}

/// The timed rows, each with its parent and its segment.
fn drafts<'a>(reading: &mut Reading<'_, '_>, rows: &[Row<'a>]) -> Vec<Draft<'a>> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut by_id: BTreeMap<i64, usize> = BTreeMap::new();
    for row in rows {
        match row.role {
            Role::Note => continue,
            Role::Corrupted => {
                reading.log.note(
                    "partial_traces",
                    format!("a part of the transaction is missing: {}", row.arguments),
                    row.at.clone(),
                );
                continue;
            }
            Role::Method | Role::Entry | Role::Async => {}
        }
        if row.begin.is_none() {
            let is_unknown = row.application.is_empty() && row.agent.is_empty();
            if !is_unknown {
                let why = "a timed row without its begin; it is left out";
                reading.log.lost("bad_row", why, row.at.clone());
            }
            continue;
        }
        let parent = row.parent.and_then(|id| by_id.get(&id).copied());
        if row.parent.is_some() && parent.is_none() {
            reading.log.note(
                "no_parent_segment",
                "the row that called this one is not in the answer; it stands as a root",
                row.at.clone(),
            );
        }
        let at = drafts.len();
        let (is_segment, segment, is_async) = match parent.and_then(|p| drafts.get(p)) {
            None => (true, at, false),
            Some(above) => {
                let is_other = (row.application, row.agent)
                    != (above.row.application, above.row.agent)
                    && !row.application.is_empty();
                let is_segment = row.role == Role::Entry || is_other;
                let segment = if is_segment { at } else { above.segment };
                (is_segment, segment, above.is_async)
            }
        };
        if is_segment && let Some(above) = parent.and_then(|p| drafts.get_mut(p)) {
            above.has_remote = true;
        }
        by_id.insert(row.id, at);
        drafts.push(Draft {
            part: if is_segment { Part::Own } else { part::of(row) },
            row: row.clone(),
            parent,
            segment,
            is_segment,
            is_async: is_async || row.role == Role::Async,
            has_remote: false,
            connect_ms: None,
            queue_ms: 0.0,
            http_status: None,
            errors: Vec::new(),
            timed_out_connecting: false,
            attributes: Map::new(),
        });
    }
    drafts
}

/// Puts exceptions and annotations onto the rows that they belong to.
fn attach(reading: &mut Reading<'_, '_>, rows: &[Row<'_>], drafts: &mut [Draft<'_>]) {
    let by_id: BTreeMap<i64, usize> = drafts
        .iter()
        .enumerate()
        .map(|(at, draft)| (draft.row.id, at))
        .collect();
    let mut alone = 0u64;
    for row in rows.iter().filter(|row| row.role == Role::Note) {
        let owner = row.parent.and_then(|id| by_id.get(&id));
        let Some(draft) = owner.and_then(|at| drafts.get_mut(*at)) else {
            alone += 1;
            continue;
        };
        if row.is_exception() {
            let said = if row.arguments.is_empty() {
                row.title.to_owned()
            } else {
                format!("{}: {}", row.title, row.arguments)
            };
            draft.timed_out_connecting |= is_connect_timeout(&said);
            draft.errors.push(said);
            if !row.chain.is_empty() {
                let chain = Value::from(row.chain.as_str());
                draft.attributes.insert("exception.chain".to_owned(), chain);
            }
        } else if row.title == "http.status.code" {
            draft.http_status = row
                .arguments
                .parse()
                .ok()
                .filter(|code| (100..1000).contains(code));
        } else if !row.title.is_empty() {
            let known = ANNOTATIONS.iter().find(|(title, _)| *title == row.title);
            let name = known.map_or_else(
                || format!("annotation.{}", row.title),
                |(_, name)| (*name).to_owned(),
            );
            draft.attributes.insert(name, Value::from(row.arguments));
        }
    }
    if alone > 0 {
        reading.log.note(
            "no_parent_segment",
            format!("{alone} annotations belong to rows that are not in the answer"),
            "$.callStack".to_owned(),
        );
    }
}

/// Whether an exception says that a connection could not be made in time.
fn is_connect_timeout(said: &str) -> bool {
    let said = said.to_ascii_lowercase();
    said.contains("connecttimeout")
        || said.contains("connect timed out")
        || said.contains("connection timed out")
}

/// Gives connects and waits to the spans that they are parts of.
fn fold_connects(drafts: &mut [Draft<'_>]) {
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else {
            continue;
        };
        let Some(ms) = draft.row.length_ms().0 else {
            continue;
        };
        let (part, parent, segment) = (draft.part, draft.parent, draft.segment);
        let never_connected = draft.timed_out_connecting && !draft.has_remote;
        if part.is_wait() {
            for owner in [at, segment] {
                if let Some(owner) = drafts.get_mut(owner) {
                    owner.queue_ms += ms;
                }
            }
        } else if part == Part::Connect {
            // Below a call it is a part of the call; alone it is the call.
            let owner = parent
                .filter(|p| {
                    drafts
                        .get(*p)
                        .is_some_and(|d| d.part.kind() == SpanKind::Client)
                })
                .unwrap_or(at);
            if let Some(owner) = drafts.get_mut(owner) {
                owner.connect_ms = Some(owner.connect_ms.unwrap_or(0.0) + ms);
            }
        } else if part == Part::Call
            && never_connected
            && let Some(draft) = drafts.get_mut(at)
            && draft.connect_ms.is_none()
        {
            // It gave up connecting: all of it was connecting.
            draft.connect_ms = Some(ms);
        }
    }
    // How far the clock of a remote span is from its caller's: the call must hold it (`pinpoint.md` §4, rule 6).
    for at in 0..drafts.len() {
        let offset = drafts.get(at).and_then(|child| {
            let parent = drafts.get(child.parent.filter(|_| child.is_segment)?)?;
            if child.is_async {
                return None;
            }
            let (inner, outer) = (child.row.length_ms().0?, parent.row.length_ms().0?);
            let early = child.row.begin?.nanos_since(parent.row.begin?) as f64 / 1e6;
            let is_outside = early < 0.0 || early + inner > outer;
            is_outside.then_some(early - (outer - inner) / 2.0)
        });
        if let (Some(offset), Some(child)) = (offset, drafts.get_mut(at)) {
            child
                .attributes
                .insert("clock_offset_ms".to_owned(), json!(offset));
        }
    }
}

fn span(mut draft: Draft<'_>, trace: &Arc<str>, id: SpanId, parent: Option<SpanId>) -> Span {
    let row = &draft.row;
    let (duration_ms, was_negative) = row.length_ms();
    let is_queue = |api: &str| {
        ["KAFKA", "RABBITMQ", "ACTIVEMQ", "ROCKETMQ", "PULSAR", "JMS"]
            .iter()
            .any(|q| api.contains(q))
    };
    let kind = if draft.is_segment && is_queue(row.api_type) {
        SpanKind::Consumer
    } else if draft.is_segment {
        SpanKind::Server
    } else if draft.has_remote && draft.part == Part::Own && !draft.is_async {
        SpanKind::Client
    } else {
        draft.part.kind()
    };
    let operation = if draft.is_segment && !row.arguments.is_empty() {
        shared(row.arguments)
    } else {
        row.operation()
    };
    let status = match draft.http_status {
        Some(500..) => SpanStatus::Fault,
        _ if !draft.errors.is_empty() => SpanStatus::Fault,
        Some(429) => SpanStatus::Throttle,
        Some(400..) => SpanStatus::Error,
        Some(_) => SpanStatus::Ok,
        None => SpanStatus::Unset,
    };
    let peer = part::peer(row, draft.part).map(|peer| shared(&peer));
    let mut put = |name: &str, value: &str| {
        if !value.is_empty() {
            draft.attributes.insert(name.to_owned(), Value::from(value));
        }
    };
    put("agentId", row.agent);
    put("agentName", row.agent_name);
    put("method", row.title);
    put("class", row.class);
    put("api_type", row.api_type);
    if !draft.is_segment {
        put("arguments", row.arguments);
    }
    put("part", draft.part.word());
    if draft.is_async {
        draft
            .attributes
            .insert("async".to_owned(), Value::from(true));
    }
    if was_negative {
        draft
            .attributes
            .insert("negative_duration".to_owned(), Value::from(true));
    }
    let personal: Vec<&str> = PERSONAL
        .iter()
        .copied()
        .filter(|name| draft.attributes.contains_key(*name))
        .collect();
    if !personal.is_empty() {
        draft
            .attributes
            .insert("redact".to_owned(), json!(personal));
    }
    Span {
        input: InputIx::default(),
        trace_id: Arc::clone(trace),
        span_id: id,
        parent_id: parent,
        service: shared(if row.application.is_empty() {
            "unknown"
        } else {
            row.application
        }),
        operation,
        kind,
        is_segment: draft.is_segment,
        is_inferred: false,
        origin: shared(if draft.is_segment { row.api_type } else { "" }),
        start: row
            .begin
            .unwrap_or(crate::base::time::Timestamp::from_nanos(0)),
        duration_ms,
        connect_ms: draft.connect_ms,
        queue_ms: (draft.queue_ms > 0.0 || draft.part.is_wait()).then_some(draft.queue_ms as f32),
        peer,
        status,
        http_status: draft.http_status,
        error: shared(&draft.errors.join("; ")),
        attributes: shared(&Value::Object(draft.attributes).to_string()),
    }
}
