//! What people or machines changed: events that were given, and changes that telemetry shows by itself.

mod telemetry;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::BTreeSet;

use crate::base::text;
use crate::base::time::Timestamp;
use crate::detect::change::telemetry::Seen;
use crate::detect::{Context, Detector, Verdict};
use crate::model::entity::{EntityType, entity_id};
use crate::model::event::Event;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// A change that telemetry shows and an event that names the same thing are one when they are within this many scrape
/// intervals.
const SAME_WITHIN: i64 = 2;
/// Names shorter than this are too common in prose to name an entity.
const MIN_NAME: usize = 3;

/// Finds changes.
pub struct Change;

impl Detector for Change {
    fn kind(&self) -> FindingKind {
        FindingKind::Change
    }

    fn doc(&self) -> &'static str {
        "Every event that is a change, and changes that telemetry shows: another scrape interval, series or targets that \
         took the place of others, new values of build and image labels, replicas and generations of workloads, a new \
         process start without a gap, a reload of Prometheus' configuration. A change that telemetry shows within two \
         intervals of an event that names the same service is one finding with both as evidence. It says what was changed, \
         not what came of it. Not enough without events and without any such series."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let (mut seen, could_see) = telemetry::changes(snapshot);
        let events: Vec<&Event> = snapshot.events.iter().filter(|e| e.is_change()).collect();
        if events.is_empty() && !could_see {
            return Verdict::NotEnough(
                "No change events were given (a CSV or JSON lines file with a time and a title), and no series that would \
                 show a change (`up`, process_start_time_seconds, *_build_info)."
                    .to_owned(),
            );
        }
        let mut findings: Vec<Finding> = Vec::new();
        for event in events {
            let entities = entities_named(snapshot, event);
            let mut finding = of_event(snapshot, event, &entities);
            let names: BTreeSet<&str> = entities.iter().map(String::as_str).collect();
            seen.retain(|change| {
                let is_same = is_near(change, event.t) && concerns(snapshot, change, &names);
                if is_same {
                    finding.detail = format!(
                        "{} Telemetry shows it too: {}",
                        finding.detail, change.detail
                    );
                    finding.evidence.extend(change.evidence.iter().cloned());
                    let new = change
                        .entities
                        .iter()
                        .filter(|e| !names.contains(e.as_str()));
                    finding.entities.extend(new.cloned());
                }
                !is_same
            });
            finding.entities.dedup();
            findings.push(finding);
        }
        findings.extend(seen.into_iter().map(of_telemetry));
        let window = context.window;
        findings.retain(|f| {
            f.start < window.end
                && (f.start >= window.start || f.end.is_some_and(|e| e > window.start))
        });
        Verdict::of(findings)
    }
}

fn is_near(change: &Seen, t: Timestamp) -> bool {
    change.t.nanos_since(t).abs() <= SAME_WITHIN * change.interval
}

/// Whether a change is about one of the named entities or a direct neighbour of one.
fn concerns(snapshot: &Snapshot, change: &Seen, names: &BTreeSet<&str>) -> bool {
    change
        .entities
        .iter()
        .filter(|e| !e.starts_with("node:"))
        .any(|entity| {
            names
                .iter()
                .any(|name| name == entity || snapshot.graph.distance(name, entity, 1).is_some())
        })
}

fn of_event(snapshot: &Snapshot, event: &Event, entities: &[String]) -> Finding {
    let subject = format!("event:{}:{}", event.kind, event.title);
    let mut finding = Finding::new(FindingKind::Change, &subject, event.t, event.end)
        .with("what", event.title.as_ref());
    event.title.as_ref().clone_into(&mut finding.title);
    // An event whose kind is just `change` says no more than that.
    let kind = match event.kind.as_ref() {
        "" | "change" => String::new(),
        kind => format!(" of kind {kind}"),
    };
    let clock = event.t.to_clock();
    let mut detail = format!("A change{kind} at {clock}: {}.", event.title);
    if !event.text.is_empty() && event.text != event.title {
        let more = text::shorten(event.text.trim(), 300);
        let stop = if more.ends_with(['.', '!', '?', '…']) {
            ""
        } else {
            "."
        };
        detail = format!("{detail} {more}{stop}");
    }
    if !event.source.is_empty() {
        detail = format!("{detail} Said by {}.", event.source);
    }
    finding.detail = detail;
    finding.severity = Severity::Info;
    finding.confidence = 1.0;
    finding.entities = entities.to_vec();
    finding.evidence.push(snapshot.evidence(
        event.input,
        event.locator.as_ref(),
        format!("{} {}", event.t, event.title),
    ));
    finding
}

fn of_telemetry(change: Seen) -> Finding {
    let place = change.evidence.first().map_or("", |e| e.locator.as_str());
    let subject = format!("telemetry:{}:{place}", change.what);
    let mut finding = Finding::new(FindingKind::Change, &subject, change.t, change.end)
        .with("what", change.what.as_str());
    finding.title = change.what;
    finding.detail = change.detail;
    finding.severity = Severity::Info;
    finding.confidence = change.confidence;
    finding.entities = change.entities;
    finding.evidence = change.evidence;
    finding
}

/// Entities that an event names by their ids, then those whose name stands in it as a word of its own, the longest names
/// first.
fn entities_named(snapshot: &Snapshot, event: &Event) -> Vec<String> {
    let told = event.entities();
    // Who says by id whom it is about says with its title no more than that ("node" is the kind of what is named there).
    let prose = if told.is_empty() {
        let values = values_of(&event.attributes);
        format!("{} {} {values}", event.title, event.text)
    } else {
        event.text.to_string()
    };
    let mut found: Vec<(usize, String)> = snapshot
        .graph
        .names()
        .filter(|(_, kind, _)| !matches!(kind, EntityType::Endpoint | EntityType::Upstream))
        .filter(|(_, _, name)| name.len() >= MIN_NAME && stands_in(&prose, name))
        .map(|(id, _, name)| (name.len(), id.to_owned()))
        .collect();
    found.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut ids: Vec<String> = told
        .into_iter()
        .map(|(kind, name)| entity_id(kind, &name))
        .collect();
    for (_, id) in found {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// What stands in attributes, without their names: a job called `node` is not meant by `"node": "worker-2"`.
fn values_of(attributes: &str) -> String {
    fn walk(value: &serde_json::Value, into: &mut String) {
        match value {
            serde_json::Value::Array(all) => all.iter().for_each(|v| walk(v, into)),
            serde_json::Value::Object(all) => all.values().for_each(|v| walk(v, into)),
            serde_json::Value::String(text) => {
                into.push(' ');
                into.push_str(text);
            }
            serde_json::Value::Number(number) => {
                into.push(' ');
                into.push_str(&number.to_string());
            }
            serde_json::Value::Null | serde_json::Value::Bool(_) => {}
        }
    }
    let mut values = String::new();
    match serde_json::from_str(attributes) {
        Ok(value) => walk(&value, &mut values),
        Err(_) => attributes.clone_into(&mut values),
    }
    values
}

/// Whether `name` stands in `prose` and is not a part of a longer word.
fn stands_in(prose: &str, name: &str) -> bool {
    let is_word =
        |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    prose.match_indices(name).any(|(at, _)| {
        let before = prose.get(..at).and_then(|s| s.chars().next_back());
        let rest = prose.get(at + name.len()..).unwrap_or("");
        let mut after = rest.chars();
        let next = after.next();
        // A full stop after a name ends a sentence unless a word goes on behind it.
        let ends = if next == Some('.') {
            !is_word(after.next())
        } else {
            !is_word(next)
        };
        !is_word(before) && ends
    })
}
