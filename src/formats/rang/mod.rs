//! What changed and what rang, in the words of the systems that keep it: Alertmanager, Grafana, Kubernetes.
//!
//! Sources of facts: `logs.md` §6 of the protocol notes and the pages that each file names.

pub mod alertmanager;
pub mod grafana;
pub mod kubernetes;
mod list;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::formats::{FormatError, Hints};
use crate::model::entity::{EntityKeys, EntityType, entity_id};
use crate::model::event::{ENTITIES, Event};
use crate::model::input::InputIx;
use crate::model::labels::Labels;

/// The longest title; the rest is in the text.
const MAX_TITLE: usize = 300;

/// What an event is made of.
#[derive(Debug, Default)]
struct Parts<'a> {
    locator: String,
    end: Option<Timestamp>,
    kind: &'a str,
    title: String,
    text: String,
    source: &'a str,
    entities: Vec<String>,
    attributes: Map<String, Value>,
}

/// An event; one that ends where it begins has no end.
fn event(t: Timestamp, parts: Parts<'_>) -> Event {
    let mut attributes = parts.attributes;
    attributes.retain(|_, value| !is_nothing(value));
    if !parts.entities.is_empty() {
        attributes.insert(ENTITIES.to_owned(), Value::from(parts.entities));
    }
    Event {
        input: InputIx::default(),
        locator: Arc::from(parts.locator),
        t,
        end: parts.end.filter(|end| *end > t),
        kind: Arc::from(parts.kind),
        title: Arc::from(shorten(parts.title.trim(), MAX_TITLE)),
        text: Arc::from(parts.text.trim()),
        source: Arc::from(parts.source.trim()),
        attributes: Arc::from(Value::Object(attributes).to_string()),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Copies members that say something.
fn attributes_of(value: &Value, names: &[&str]) -> Map<String, Value> {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())))
        .collect()
}

/// A member that is text, or nothing.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Whom labels name, as ids. Endpoints and upstreams are left out: `endpoint="http"` is the name of a port.
fn entities_of_labels(keys: &EntityKeys, labels: &Labels) -> Vec<String> {
    keys.entities_of(labels, &[])
        .into_iter()
        .filter(|(kind, _)| !matches!(kind, EntityType::Endpoint | EntityType::Upstream))
        .map(|(kind, name)| entity_id(kind, &name))
        .collect()
}

/// Labels of a JSON object of strings.
fn labels_of(value: Option<&Value>) -> Labels {
    let pairs = value
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((Arc::from(name.as_str()), Arc::from(value.as_str()?))));
    Labels::new(pairs.collect())
}

/// Whether the request that the input answers was for this path.
fn asked_for(hints: &Hints<'_>, end: &str) -> bool {
    hints.request.is_some_and(|request| {
        let path = request.path.split('?').next().unwrap_or_default();
        path.ends_with(end)
    })
}

/// Nothing of a list could be read.
fn nothing_read(first: Option<(String, String)>, expected: &str, advice: &str) -> FormatError {
    let (at, what) = first.unwrap_or_else(|| (String::new(), "no event in it".to_owned()));
    FormatError::new(
        "no_events",
        Some(at).filter(|at| !at.is_empty()),
        what,
        expected,
        advice,
    )
}
