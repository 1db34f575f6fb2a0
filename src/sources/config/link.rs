//! A link pasted from Prometheus (`/graph?g0.expr=…`, `/query?g0.expr=…`) or Grafana Explore (`/explore?panes=…`,
//! `?left=…`): a source, its queries, and the window that it shows.

use serde_json::{Map, Value, json};

use crate::base::percent::{decode, encode};
use crate::base::time::{Timestamp, Zone, parse_duration_nanos, parse_time_or_now};
use crate::sources::config::Loaded;
use crate::sources::config::toml_file::base_address;
use crate::sources::settings::{SettingsError, SourceSettings};

/// How far a graph of Prometheus goes back when its link does not say (its own default).
const USUAL_RANGE_NANOS: i64 = 3_600_000_000_000;

pub(super) fn read(link: &str, now: Timestamp) -> Result<Loaded, SettingsError> {
    let (address, query) = link.split_once('?').unwrap_or((link, ""));
    let query = query.split('#').next().unwrap_or_default();
    let fields: Vec<(String, String)> = query
        .split('&')
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect();
    let base = |end: &str| {
        address
            .rfind(end)
            .map(|at| address.get(..at).unwrap_or(address))
    };
    let found = if let Some(base) = base("/explore") {
        grafana(base, &fields, now)
    } else if let Some(base) = base("/graph").or_else(|| base("/query")) {
        prometheus(base, &fields, now)
    } else {
        None
    };
    let error = |what: &str| SettingsError {
        place: "the link".to_owned(),
        what: what.to_owned(),
        expected:
            "a link of Prometheus (`…/graph?g0.expr=…`) or of Grafana Explore (`…/explore?…`)"
                .to_owned(),
    };
    let found = found.ok_or_else(|| error("no query that could be found in it"))?;
    let url = base_address(&found.base).map_err(|(what, _)| error(&what))?;
    let mut own = Map::new();
    own.insert("queries".to_owned(), json!(found.queries));
    let settings = SourceSettings {
        name: "link".to_owned(),
        kind: "prometheus".to_owned(),
        url: Some(url),
        own,
        ..SourceSettings::default()
    };
    Ok(Loaded {
        sources: [("link".to_owned(), settings)].into(),
        window: Some(found.window),
        left_out: found.left_out,
    })
}

struct Found {
    base: String,
    queries: Vec<String>,
    window: (Timestamp, Timestamp),
    left_out: Vec<String>,
}

fn prometheus(base: &str, fields: &[(String, String)], now: Timestamp) -> Option<Found> {
    let mut queries = Vec::new();
    let (mut end, mut range) = (now, USUAL_RANGE_NANOS);
    for (name, value) in fields {
        match name.split_once('.').map(|(_, key)| key) {
            Some("expr") if !value.trim().is_empty() => queries.push(value.clone()),
            Some("range_input") => range = parse_duration_nanos(value).unwrap_or(range),
            // `2026-08-01 12:00` or `2026-08-01 12:00:00`, in UTC.
            Some("end_input" | "moment_input") if !value.is_empty() => {
                end = parse_time_or_now(value, &Zone::utc(), now).unwrap_or(end);
            }
            _ => {}
        }
    }
    queries.dedup();
    (!queries.is_empty()).then(|| Found {
        base: base.to_owned(),
        queries,
        window: (end.plus_nanos(-range), end),
        left_out: Vec::new(),
    })
}

fn grafana(base: &str, fields: &[(String, String)], now: Timestamp) -> Option<Found> {
    let field = |key: &str| {
        fields
            .iter()
            .find(|(name, _)| name == key)
            .and_then(|(_, value)| serde_json::from_str::<Value>(value).ok())
    };
    // `panes` is a map of panes (schema 1); `left` is one pane.
    let pane = match field("panes") {
        Some(Value::Object(panes)) => panes.into_iter().next()?.1,
        _ => field("left")?,
    };
    let queries: Vec<&Value> = pane.get("queries")?.as_array()?.iter().collect();
    let uid = queries
        .iter()
        .find_map(|q| q.pointer("/datasource/uid"))
        .or_else(|| pane.get("datasource"))
        .and_then(Value::as_str)?;
    let mut left_out = Vec::new();
    let mut exprs = Vec::new();
    for query in &queries {
        match query.get("expr").and_then(Value::as_str) {
            Some(expr) if !expr.trim().is_empty() => exprs.push(expr.to_owned()),
            _ => left_out.push("a query of the link that has no PromQL".to_owned()),
        }
    }
    let edge = |key: &str, usual: Timestamp| {
        pane.pointer(&format!("/range/{key}"))
            .and_then(Value::as_str)
            .and_then(|text| parse_time_or_now(text, &Zone::utc(), now).ok())
            .unwrap_or(usual)
    };
    let end = edge("to", now);
    let start = edge("from", end.plus_nanos(-USUAL_RANGE_NANOS));
    (!exprs.is_empty()).then(|| Found {
        // Grafana hands queries on under its own address (its HTTP API, "Data source proxy calls").
        base: format!("{base}/api/datasources/proxy/uid/{}", encode(uid)),
        queries: exprs,
        window: (start, end),
        left_out,
    })
}
