//! What the recorded server said of itself: targets, rules, alerts, metadata, build, flags, configuration.
//!
//! Where a bundle holds the server's own answer, that is given; else what the store kept of it, as far as that goes.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::engine::serve::Served;
use crate::engine::serve::reply::{Fields, Refusal, success};
use crate::model::prometheus::TargetStatus;
use crate::model::series::MetricKind;

/// What this server says of itself when nothing was recorded: the version of Prometheus by whose rules it answers.
const RULES_OF: &str = "3.0.0";

const KNOWN: &[&str] = &[
    "alerts",
    "metadata",
    "rules",
    "status/buildinfo",
    "status/config",
    "status/flags",
    "status/runtimeinfo",
    "targets",
];

pub(super) fn is_known(endpoint: &str) -> bool {
    KNOWN.contains(&endpoint)
}

pub(super) fn answer(served: &Served, endpoint: &str, fields: &Fields) -> Result<Vec<u8>, Refusal> {
    let recorded = served.recorded.facts(endpoint);
    let mut warnings = Vec::new();
    let data = match endpoint {
        "metadata" => metadata(served, fields)?,
        "targets" => targets(served, &recorded, fields, &mut warnings),
        "rules" => rules(&recorded, fields, &mut warnings)?,
        "alerts" => {
            if recorded.is_empty() {
                warnings.push(
                    "the answer to /api/v1/alerts was not recorded: query ALERTS for what fired"
                        .to_owned(),
                );
            }
            json!({ "alerts": joined(&recorded, "alerts") })
        }
        _ => status(served, endpoint, &recorded, &mut warnings)?,
    };
    Ok(success(data.to_string().as_bytes(), &warnings, &[]))
}

/// The lists under `key` of several answers, one behind the other.
fn joined(recorded: &[Json], key: &str) -> Vec<Json> {
    recorded
        .iter()
        .filter_map(|data| data.get(key)?.as_array())
        .flatten()
        .cloned()
        .collect()
}

fn metadata(served: &Served, fields: &Fields) -> Result<Json, Refusal> {
    let wanted = fields.get("metric");
    let limit = match fields.get("limit") {
        "" => usize::MAX,
        text => {
            let n: i64 = text
                .parse()
                .ok()
                .ok_or_else(|| Refusal::bad("limit must be a number"))?;
            usize::try_from(n).unwrap_or(usize::MAX)
        }
    };
    let all: Map<String, Json> = served
        .document
        .snapshot
        .metadata
        .values()
        .filter(|m| wanted.is_empty() || m.family.as_ref() == wanted)
        .take(limit)
        .map(|m| {
            let kind = match m.kind {
                MetricKind::Unknown => "unknown",
                kind => kind.word(),
            };
            let one = json!([{
                "type": kind,
                "help": m.help.as_ref(),
                "unit": m.unit.as_ref(),
            }]);
            (m.family.to_string(), one)
        })
        .collect();
    Ok(Json::Object(all))
}

fn targets(
    served: &Served,
    recorded: &[Json],
    fields: &Fields,
    warnings: &mut Vec<String>,
) -> Json {
    let (mut active, dropped) = if recorded.is_empty() {
        (of_store(&served.document.snapshot.targets), Vec::new())
    } else {
        (
            joined(recorded, "activeTargets"),
            joined(recorded, "droppedTargets"),
        )
    };
    if active.is_empty() && recorded.is_empty() {
        warnings.push("the answer to /api/v1/targets was not recorded".to_owned());
    }
    let state = fields.get("state").to_ascii_lowercase();
    let pool = fields.get("scrapePool");
    active.retain(|t| pool.is_empty() || t.get("scrapePool").and_then(Json::as_str) == Some(pool));
    let wants = |kind: &str| matches!(state.as_str(), "" | "any") || state == kind;
    let pick = |is_wanted: bool, list: Vec<Json>| if is_wanted { list } else { Vec::new() };
    json!({
        "activeTargets": pick(wants("active"), active),
        "droppedTargets": pick(wants("dropped"), dropped),
        "droppedTargetCounts": {},
    })
}

/// Each target as it was last seen.
fn of_store(targets: &[TargetStatus]) -> Vec<Json> {
    // Rows come by the time of asking, so the last of each stays.
    let last: BTreeMap<(&str, &str), &TargetStatus> = targets
        .iter()
        .map(|t| ((t.pool.as_ref(), t.url.as_ref()), t))
        .collect();
    last.into_values()
        .map(|t| {
            let labels: Map<String, Json> = t
                .labels
                .iter()
                .map(|(k, v)| (k.to_owned(), Json::from(v)))
                .collect();
            let mut one = json!({
                "discoveredLabels": {},
                "labels": labels,
                "scrapePool": t.pool.as_ref(),
                "scrapeUrl": t.url.as_ref(),
                "globalUrl": t.url.as_ref(),
                "lastError": t.last_error.as_ref(),
                "health": t.health.as_ref(),
            });
            let mut add = |key: &str, value: Option<Json>| {
                if let (Some(value), Some(map)) = (value, one.as_object_mut()) {
                    map.insert(key.to_owned(), value);
                }
            };
            add("lastScrape", t.last_scrape.map(|at| at.to_rfc3339().into()));
            let secs = t.last_duration_ms.map(|ms| Json::from(ms / 1e3));
            add("lastScrapeDuration", secs);
            add("scrapeInterval", t.interval_nanos.map(span));
            add("scrapeTimeout", t.timeout_nanos.map(span));
            one
        })
        .collect()
}

/// A duration as Prometheus prints it, of whole seconds or milliseconds.
fn span(nanos: i64) -> Json {
    let ms = nanos / 1_000_000;
    Json::from(if ms % 1_000 == 0 {
        format!("{}s", ms / 1_000)
    } else {
        format!("{ms}ms")
    })
}

fn rules(recorded: &[Json], fields: &Fields, warnings: &mut Vec<String>) -> Result<Json, Refusal> {
    let wanted = match fields.get("type").to_ascii_lowercase().as_str() {
        "" => None,
        "alert" => Some("alerting"),
        "record" => Some("recording"),
        other => {
            return Err(Refusal::parameter(
                "type",
                format!("not supported value {other:?}"),
            ));
        }
    };
    if recorded.is_empty() {
        warnings.push("the answer to /api/v1/rules was not recorded".to_owned());
    }
    let mut groups = joined(recorded, "groups");
    for group in &mut groups {
        if let (Some(wanted), Some(rules)) =
            (wanted, group.get_mut("rules").and_then(Json::as_array_mut))
        {
            rules.retain(|r| r.get("type").and_then(Json::as_str) == Some(wanted));
        }
    }
    Ok(json!({ "groups": groups }))
}

fn status(
    served: &Served,
    endpoint: &str,
    recorded: &[Json],
    warnings: &mut Vec<String>,
) -> Result<Json, Refusal> {
    let what = endpoint.trim_start_matches("status/");
    let text = |data: &Json, key: &str| {
        data.get(key)
            .and_then(Json::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    if recorded.len() > 1 {
        warnings.push(format!(
            "{} servers were recorded; this is the {what} of the first",
            recorded.len()
        ));
    }
    let mut data = match recorded.first() {
        Some(data) => data.clone(),
        None => Json::Object(of_facts(served, what)),
    };
    if what == "buildinfo" {
        // Clients choose by it how they ask: another program's name would promise what only that program answers.
        let is_prometheus = text(&data, "application").is_empty()
            && !text(&data, "goVersion").is_empty()
            && !text(&data, "version").is_empty();
        if !is_prometheus {
            data = json!({
                "version": RULES_OF,
                "revision": format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
                "branch": "",
                "buildUser": "",
                "buildDate": "",
                "goVersion": "none",
            });
            warnings.push(format!(
                "no Prometheus was recorded that says its version: this recording is answered by the rules of {RULES_OF}"
            ));
        }
    }
    if data.as_object().is_some_and(Map::is_empty) {
        return Err(Refusal::not_found(format!(
            "the answer to /api/v1/{endpoint} was not recorded"
        )));
    }
    Ok(data)
}

/// What the store kept of such an answer.
fn of_facts(served: &Served, what: &str) -> Map<String, Json> {
    let prefix = format!("{what}.");
    let mut found = Map::new();
    for fact in &served.document.snapshot.facts {
        let Some(key) = fact.name.strip_prefix(prefix.as_str()) else {
            continue;
        };
        let is_text = matches!(what, "flags" | "buildinfo");
        if what == "config" && key != "yaml" || found.contains_key(key) {
            continue;
        }
        let value = fact.value.as_ref();
        let value = match (is_text, value, value.parse::<i64>()) {
            (false, "true" | "false", _) => Json::from(value == "true"),
            (false, _, Ok(n)) => Json::from(n),
            _ => Json::from(value),
        };
        found.insert(key.to_owned(), value);
    }
    found
}
