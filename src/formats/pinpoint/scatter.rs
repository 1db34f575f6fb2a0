//! `getScatterData`: every transaction as a dot (`pinpoint.md` §2). A dot becomes a request.

use std::sync::Arc;

use serde_json::Value;

use super::Reading;
use super::value::{elements, list, measured, members, of, plain, shared, time, whole};
use crate::base::time::{NANOS_PER_MS, Timestamp};
use crate::model::input::InputIx;
use crate::model::request::Request;

/// A request of Pinpoint, with nothing known but what is given.
pub(super) fn request(
    line: u64,
    accepted: Timestamp,
    elapsed_ms: Option<f64>,
    is_failed: bool,
) -> Request {
    let empty = shared("");
    Request {
        input: InputIx::default(),
        line,
        t: accepted,
        t_resolution_nanos: NANOS_PER_MS,
        service: Arc::clone(&empty),
        instance: Arc::clone(&empty),
        method: Arc::clone(&empty),
        path: Arc::clone(&empty),
        status: None,
        is_failed: Some(is_failed),
        duration_ms: elapsed_ms,
        attempts: Vec::new(),
        upstream: Arc::clone(&empty),
        bytes: None,
        client: Arc::clone(&empty),
        request_id: Arc::clone(&empty),
        trace_id: empty,
    }
}

/// One answer: a page of dots.
pub(super) fn page(
    reading: &mut Reading<'_, '_>,
    value: &Value,
    application: Option<&str>,
    at: &str,
) {
    let (Some(from), scatter) = (whole(of(value, "from")), of(value, "scatter")) else {
        reading.log.lost(
            "bad_field",
            "a scatter page without its `from`: its dots have no times; fetch it again",
            format!("{at}.from"),
        );
        return;
    };
    let metadata = of(scatter, "metadata");
    let mut lost = 0u64;
    for (ix, dot) in list(scatter, "dotList").iter().enumerate() {
        match request_of(dot, from, metadata, application, ix as u64 + 1) {
            Some(request) => reading.out.requests.push(request),
            None => lost += 1,
        }
    }
    if lost > 0 {
        reading.log.lost(
            "bad_row",
            format!(
                "{lost} dots are left out: expected `[x, y, metaId, seq, status, groupCount]` and an entry of their metaId in `metadata`"
            ),
            format!("{at}.scatter.dotList"),
        );
    }
    if of(value, "complete").as_bool() == Some(false) {
        let until = time(of(value, "resultFrom")).map_or_else(String::new, |t| t.to_rfc3339());
        reading.log.note(
            "next_page",
            format!("there are more dots before {until}: the page was full"),
            format!("{at}.complete"),
        );
    }
    reading.asked_range(of(value, "from"), of(value, "to"));
}

/// `application → page`, as a filtered map holds them.
pub(super) fn pages(reading: &mut Reading<'_, '_>, value: &Value, at: &str) {
    for (name, one) in members(value) {
        page(reading, one, Some(name), &format!("{at}.{name}"));
    }
}

fn request_of(
    dot: &Value,
    from: i64,
    metadata: &Value,
    application: Option<&str>,
    line: u64,
) -> Option<Request> {
    let [x, y, meta, seq, status, ..] = elements(dot) else {
        return None;
    };
    // An offset from `from`, never a chain of deltas.
    let accepted = Timestamp::from_millis(from.checked_add(whole(x)?)?)?;
    let mut request = request(line, accepted, measured(y), whole(status)? == 0);
    let meta = whole(meta)?;
    let (agent, trace) = if meta == -1 {
        (None, plain(seq))
    } else {
        let entry = elements(metadata.get(meta.to_string())?);
        let agent = entry.first()?.as_str()?;
        let owner = entry.get(1)?.as_str()?;
        let start = whole(entry.get(2)?)?;
        let trace = if start == 0 || owner.contains('^') {
            owner.to_owned()
        } else {
            format!("{owner}^{start}^{}", plain(seq))
        };
        (Some(agent), trace)
    };
    let agent = agent.unwrap_or_default();
    request.service = shared(application.unwrap_or(agent));
    request.instance = shared(agent);
    request.request_id = shared(&trace);
    request.trace_id = Arc::clone(&request.request_id);
    Some(request)
}
