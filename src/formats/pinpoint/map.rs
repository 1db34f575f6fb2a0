//! Server maps of 2.2 to 3.1 and filtered maps: who called whom, how often, with errors (`pinpoint.md` §6).

use serde_json::Value;

use super::Reading;
use super::histogram::{self, About};
use super::value::{count, list, of, plain, shared, text, time};
use crate::model::input::InputIx;
use crate::model::span::CallEdge;

/// The caller that Pinpoint calls USER, under the name that X-Ray's maps give it, so that both are one.
const CLIENT: &str = "client";

/// Reads a map, under `applicationMapData` or bare.
pub(super) fn read(reading: &mut Reading<'_, '_>, value: &Value) {
    let map = value
        .get("applicationMapData")
        .filter(|m| m.is_object())
        .unwrap_or(value);
    let range = of(map, "range");
    let (start, end) = (time(of(range, "from")), time(of(range, "to")));
    reading.asked_range(of(range, "from"), of(range, "to"));
    let slots = list(map, "timestamp");
    for (ix, node) in list(map, "nodeDataArray").iter().enumerate() {
        self::node(
            reading,
            node,
            slots,
            &format!("$.applicationMapData.nodeDataArray[{ix}]"),
        );
    }
    let mut lost = 0u64;
    for link in list(map, "linkDataArray") {
        let (Some(caller), Some(callee)) = (name(of(link, "from")), name(of(link, "to"))) else {
            lost += 1;
            continue;
        };
        let failed = count(of(link, "errorCount"))
            .or_else(|| count(of(of(link, "histogram"), "Error")))
            .unwrap_or(0);
        reading.out.edges.push(CallEdge {
            input: InputIx::default(),
            caller: shared(&caller),
            callee: shared(&callee),
            start,
            end,
            total: count(of(link, "totalCount")).unwrap_or(0),
            faults: failed,
            errors: 0,
            // Five buckets, up to seconds wide, cannot show a gap between caller and callee: they stay series and facts.
            caller_histogram: Vec::new(),
            callee_histogram: Vec::new(),
        });
        facts(reading, &format!("link.{caller}~{callee}"), link);
    }
    if lost > 0 {
        reading.log.lost(
            "bad_row",
            format!("{lost} links without `from` or `to` are left out"),
            "$.applicationMapData.linkDataArray".to_owned(),
        );
    }
}

fn node(reading: &mut Reading<'_, '_>, node: &Value, slots: &[Value], at: &str) {
    let Some(name) = name(of(node, "key")) else {
        let why = "a node without a `key`; it is left out";
        reading.log.lost("bad_row", why, at.to_owned());
        return;
    };
    facts(reading, &format!("node.{name}"), node);
    let about = About {
        application: &name,
        agent: None,
    };
    histogram::series(reading, of(node, "timeSeriesHistogram"), slots, &about, at);
    histogram::apdex_slots(reading, of(node, "apdexSlot"), slots, &about, at);
}

fn facts(reading: &mut Reading<'_, '_>, prefix: &str, value: &Value) {
    for key in [
        "totalCount",
        "errorCount",
        "histogram",
        "responseStatistics",
        "serviceType",
    ] {
        if let Some(said) = value.get(key) {
            reading.fact(&format!("{prefix}.{key}"), &plain(said));
        }
    }
    histogram::apdex(reading, prefix, value);
    if of(value, "isAuthorized").as_bool() == Some(false) {
        reading.log.note(
            "not_authorized",
            format!("{prefix}: the server hides its numbers from us; ask for the right to read the application"),
            None,
        );
    }
}

/// The application in a node's key: `name^TYPE`, cut at the last `^`, since names of virtual nodes hold anything.
fn name(key: &Value) -> Option<String> {
    let key = text(key)?;
    let (name, kind) = key.rsplit_once('^').unwrap_or((key, ""));
    Some(if kind == "USER" { CLIENT } else { name }.to_owned())
}
