//! `transactionmetadata`, `heatmap/drag`, `transaction/metadata`: rows of chosen transactions (`pinpoint.md` §3).

use std::sync::Arc;

use serde_json::Value;

use super::Reading;
use super::scatter::request;
use super::value::{list, measured, of, shared, text, time, whole};

/// Reads the rows. They are requests with the time of their dot, so that a row and its dot are one to the store; the
/// row brings the path and the client.
pub(super) fn read(reading: &mut Reading<'_, '_>, value: &Value) {
    let mut lost = 0u64;
    let mut ahead = 0u64;
    for (ix, row) in list(value, "metadata").iter().enumerate() {
        let (Some(accepted), Some(trace)) = (
            time(of(row, "collectorAcceptTime")),
            text(of(row, "traceId")),
        ) else {
            lost += 1;
            continue;
        };
        let elapsed = measured(of(row, "elapsed"));
        let is_failed = whole(of(row, "exception")).is_some_and(|code| code != 0);
        let mut one = request(ix as u64 + 1, accepted, elapsed, is_failed);
        let agent = text(of(row, "agentId")).unwrap_or_default();
        one.service = shared(reading.asked.application().unwrap_or(agent));
        one.instance = shared(agent);
        one.path = shared(text(of(row, "application")).unwrap_or_default());
        one.client = shared(text(of(row, "remoteAddr")).unwrap_or_default());
        one.request_id = shared(trace);
        one.trace_id = Arc::clone(&one.request_id);
        if let Some(start) = time(of(row, "startTime")) {
            let end = start.plus_nanos((elapsed.unwrap_or(0.0) * 1e6) as i64);
            ahead += u64::from(end > accepted);
        }
        reading.out.requests.push(one);
    }
    if lost > 0 {
        reading.log.lost(
            "bad_row",
            format!("{lost} rows are left out: expected `traceId` and `collectorAcceptTime`"),
            "$.metadata".to_owned(),
        );
    }
    if ahead > 0 {
        reading.log.note(
            "clock_ahead",
            format!(
                "{ahead} transactions ended, by their agents' clocks, after the collector had them: those clocks are ahead"
            ),
            "$.metadata".to_owned(),
        );
    }
    if of(value, "complete").as_bool() == Some(false) {
        reading.log.note(
            "next_page",
            "there are more rows: the page was full",
            "$.complete".to_owned(),
        );
    }
    reading.asked_window();
}
