//! `/api/v1/rules` and `/api/v1/alerts`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::json::{Cursor, Stop};
use super::query::Asked;
use super::status::fact;
use super::targets::past_time;
use crate::base::text::shorten;
use crate::model::batch::Batch;
use crate::model::event::Event;
use crate::model::input::InputIx;

/// Reads rule groups: their alerts as events, their failures as facts.
pub(super) fn read_groups(
    cursor: &mut Cursor<'_>,
    asked: &Asked,
    out: &mut Batch,
    notes: &mut Vec<(&'static str, String)>,
) -> Result<(), Stop> {
    cursor.array(|cursor, index| {
        let group = cursor.value()?;
        let rules = group.get("rules").and_then(Value::as_array);
        for (rule_index, rule) in rules.into_iter().flatten().enumerate() {
            let path = format!("$.data.groups[{index}].rules[{rule_index}]");
            read_rule(rule, &path, asked, out, notes);
        }
        Ok(())
    })
}

fn read_rule(
    rule: &Value,
    path: &str,
    asked: &Asked,
    out: &mut Batch,
    notes: &mut Vec<(&'static str, String)>,
) {
    let text = |key: &str| rule.get(key).and_then(Value::as_str).unwrap_or("");
    let name = text("name");
    if !name.is_empty() {
        fact(out, &format!("rule.{name}.query"), text("query"));
    }
    let error = text("lastError");
    if text("health") == "err" || !error.is_empty() {
        fact(out, &format!("rule.{name}.last_error"), error);
        let error = shorten(error, 300);
        // When that was stands with the exchange: two pulls of one window give one report.
        let text = if asked.over.is_some() {
            format!(
                "rule {name} failed when this was pulled, after the window; had it failed before, its series or alerts would be missing: {error}"
            )
        } else {
            format!("rule {name} fails, so that its series or alerts are missing: {error}")
        };
        notes.push(("rule_failing", text));
    }
    let alerts = rule.get("alerts").and_then(Value::as_array);
    for (index, alert) in alerts.into_iter().flatten().enumerate() {
        out.events
            .extend(event(alert, name, asked, format!("{path}.alerts[{index}]")));
    }
}

/// Reads the alerts that are active now.
pub(super) fn read_alerts(
    cursor: &mut Cursor<'_>,
    path: &str,
    asked: &Asked,
    out: &mut Batch,
) -> Result<(), Stop> {
    cursor.array(|cursor, index| {
        let alert = cursor.value()?;
        out.events
            .extend(event(&alert, "", asked, format!("{path}[{index}]")));
        Ok(())
    })
}

/// An alert as an event that began when it became active. The same alert of both answers gives the same row. Of a window
/// that was over when it was asked, only that it was active: whether it fired, and its value, are those of the moment of
/// asking (`ALERTS` has the history). What began later is not of the window.
fn event(alert: &Value, rule: &str, asked: &Asked, locator: String) -> Option<Event> {
    let text = |key: &str| alert.get(key).and_then(Value::as_str);
    let part = |map: &str, key: &str| {
        alert
            .get(map)
            .and_then(|m| m.get(key))
            .and_then(Value::as_str)
            .filter(|t| !t.is_empty())
    };
    let t = past_time(text("activeAt")?)?;
    if asked.over.is_some_and(|end| end <= t) {
        return None;
    }
    let name = part("labels", "alertname").unwrap_or(if rule.is_empty() { "alert" } else { rule });
    let state = match asked.over {
        Some(_) => "active",
        None => text("state").unwrap_or("firing"),
    };
    let what = part("annotations", "summary")
        .or_else(|| part("annotations", "description"))
        .or_else(|| part("annotations", "message"));
    let mut attributes = Map::new();
    for key in ["state", "value", "labels", "annotations"] {
        let of_moment = asked.over.is_some() && matches!(key, "state" | "value");
        if let Some(value) = alert.get(key) {
            let value = if of_moment { &Value::Null } else { value };
            attributes.insert(key.to_owned(), value.clone());
        }
    }
    Some(Event {
        input: InputIx::default(),
        locator: Arc::from(locator),
        t,
        end: None,
        kind: Arc::from("alert"),
        title: Arc::from(format!("{name} {state}")),
        text: Arc::from(what.unwrap_or("")),
        source: Arc::from("prometheus"),
        attributes: Arc::from(Value::Object(attributes).to_string()),
    })
}
