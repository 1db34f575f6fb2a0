//! Grafana's annotations: what `GET /api/annotations` answers.
//!
//! Shape: `logs.md` §6 and "Annotations HTTP API" of Grafana's documentation (`time` and `timeEnd` in milliseconds; of a point
//! both are the same). Changes of an alert's state stand among them, one for each change; they become one event from the state
//! that fires to the one that does not.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::base::time::Timestamp;
use crate::formats::rang::{
    Parts, attributes_of, entities_of_labels, event, list, nothing_read, text,
};
use crate::formats::{Format, FormatError, Head, Hints, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::entity::EntityKeys;
use crate::model::event::Event;
use crate::model::labels::Labels;

/// Annotations of Grafana.
pub struct GrafanaAnnotations;

impl Format for GrafanaAnnotations {
    fn id(&self) -> &'static str {
        "grafana-annotations"
    }

    fn title(&self) -> &'static str {
        "annotations of Grafana"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let has = |name: &str| head.has(&format!("[].{name}"));
        if !has("time") || !has("text") {
            return Sniff::NOT_AT_ALL;
        }
        if has("dashboardUID") || has("dashboardId") || has("alertId") || has("panelId") {
            Sniff::Yes(95)
        } else if has("timeEnd") && has("tags") && has("id") {
            Sniff::Yes(85)
        } else {
            Sniff::NOT_AT_ALL
        }
    }

    fn answers(&self, request: &RequestHint) -> bool {
        let path = request.path.split('?').next().unwrap_or_default();
        path.ends_with("/api/annotations")
    }

    fn read(
        &self,
        bytes: &[u8],
        _: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let keys = EntityKeys::builtin();
        let mut events = Vec::new();
        let mut turns = Vec::new();
        let walked = list::walk(bytes, "annotations", log, |at, value| {
            let one = Annotation::of(&value, at)?;
            if one.is_turn() {
                turns.push(one.turn(&value));
            } else {
                events.push(one.event(&value, &keys));
            }
            Ok(())
        });
        if walked.lists == 0 && events.is_empty() && turns.is_empty() {
            return Err(nothing_read(
                walked.first_error,
                "annotations of Grafana: objects with `time` in milliseconds and `text`",
                "save what /api/annotations answers",
            ));
        }
        out.events.extend(events);
        out.events.extend(rings(turns, &keys));
        Ok(())
    }
}

struct Annotation {
    locator: String,
    t: Timestamp,
    end: Option<Timestamp>,
    title: String,
    text: String,
    new_state: String,
    tags: Vec<String>,
}

impl Annotation {
    fn of(value: &Value, locator: String) -> Result<Self, String> {
        if !value.is_object() {
            return Err("it is not a JSON object".to_owned());
        }
        let time = |name: &str| {
            let ms = value.get(name).and_then(Value::as_i64);
            ms.filter(|ms| *ms > 0).and_then(Timestamp::from_millis)
        };
        let t = time("time").ok_or_else(|| {
            let found = value.get("time").map_or_else(String::new, Value::to_string);
            format!(
                "its `time` cannot be read: {:?}; expected milliseconds since 1970",
                shorten(&found, 60)
            )
        })?;
        let plain = plain(text(value, "text"));
        let mut lines = plain.lines().map(str::trim).filter(|l| !l.is_empty());
        let tags: Vec<String> = value
            .get("tags")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(|tag| tag.as_str().map(str::to_owned))
            .collect();
        let title = lines.next().map_or_else(
            || {
                if tags.is_empty() {
                    "annotation".to_owned()
                } else {
                    tags.join(", ")
                }
            },
            str::to_owned,
        );
        Ok(Self {
            locator,
            t,
            end: time("timeEnd"),
            title,
            text: lines.collect::<Vec<_>>().join("\n"),
            new_state: text(value, "newState").to_owned(),
            tags,
        })
    }

    /// Whether it is one change of an alert's state.
    fn is_turn(&self) -> bool {
        !self.new_state.is_empty()
    }

    fn event(self, value: &Value, keys: &EntityKeys) -> Event {
        let labels: Vec<(&str, &str)> = self
            .tags
            .iter()
            .filter_map(|tag| tag.split_once([':', '=']))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        let is_alert = value.get("alertId").and_then(Value::as_i64).unwrap_or(0) > 0;
        let kind = if is_alert {
            "alert"
        } else {
            kind_of(&self.tags)
        };
        let parts = Parts {
            locator: self.locator,
            end: self.end,
            kind,
            title: self.title,
            text: self.text,
            source: author(value),
            entities: entities_of_labels(keys, &Labels::of(&labels)),
            attributes: attributes_of(value, KEPT),
        };
        event(self.t, parts)
    }

    fn turn(self, value: &Value) -> Turn {
        let name = text(value, "alertName");
        // `High CPU {instance=a} - Alerting`: the same alert is told in the same words up to its state.
        let subject = match self.title.rsplit_once(" - ") {
            Some((subject, _)) if !subject.is_empty() => subject,
            _ if name.is_empty() => self.title.as_str(),
            _ => name,
        };
        let number = |key: &str| value.get(key).and_then(Value::as_i64).unwrap_or(0);
        Turn {
            alert: (number("alertId"), number("panelId"), subject.to_owned()),
            t: self.t,
            end: self.end.filter(|end| *end > self.t),
            fires: fires(&self.new_state),
            locator: self.locator,
            text: self.text,
            value: value.clone(),
        }
    }
}

/// Members that are worth keeping; not the mail address and picture of whoever wrote it.
const KEPT: &[&str] = &[
    "id",
    "alertId",
    "alertName",
    "dashboardUID",
    "dashboardId",
    "panelId",
    "prevState",
    "newState",
    "tags",
    "data",
];

fn author(value: &Value) -> &str {
    match text(value, "login") {
        "" => "grafana",
        login => login,
    }
}

/// The kind that a tag names; without one it is a change.
fn kind_of(tags: &[String]) -> &'static str {
    const KINDS: &[(&[&str], &str)] = &[
        (
            &[
                "deploy",
                "deployment",
                "deployed",
                "release",
                "rollout",
                "rollback",
            ],
            "deploy",
        ),
        (&["scale", "scaling", "autoscaling"], "scale"),
        (&["config", "configuration"], "config"),
        (&["restart", "reboot"], "restart"),
        (&["load-test", "loadtest", "traffic"], "traffic"),
        (&["incident", "outage", "postmortem"], "incident-note"),
        (&["note", "comment"], "note"),
    ];
    KINDS
        .iter()
        .find(|(words, _)| {
            tags.iter()
                .any(|tag| words.contains(&tag.to_lowercase().as_str()))
        })
        .map_or("change", |(_, kind)| kind)
}

/// One change of an alert's state.
struct Turn {
    /// Alert, panel and the words for it.
    alert: (i64, i64, String),
    t: Timestamp,
    end: Option<Timestamp>,
    fires: bool,
    locator: String,
    text: String,
    value: Value,
}

/// States in which an alert rings, of legacy alerting (`alerting`, `no_data`) and of unified alerting (`Alerting`, `NoData`,
/// `Error`).
fn fires(state: &str) -> bool {
    let state = state.to_lowercase();
    ["alerting", "firing", "error", "no_data", "nodata"]
        .iter()
        .any(|word| state.starts_with(word))
}

/// From each turn that fires to the next of the same alert that does not. A turn to peace whose beginning is not in the
/// answer is an event of its own.
fn rings(turns: Vec<Turn>, keys: &EntityKeys) -> Vec<Event> {
    let mut by_alert: BTreeMap<(i64, i64, String), Vec<Turn>> = BTreeMap::new();
    for turn in turns {
        by_alert.entry(turn.alert.clone()).or_default().push(turn);
    }
    let mut events = Vec::new();
    for ((_, _, subject), mut turns) in by_alert {
        let (name, labels) = named(&subject);
        let entities = entities_of_labels(keys, &Labels::of(&labels));
        turns.sort_by_key(|turn| (turn.t, turn.fires));
        let mut ringing: Option<Turn> = None;
        let mut push = |turn: Turn, end: Option<Timestamp>| {
            let state = text(&turn.value, "newState").to_owned();
            let parts = Parts {
                locator: turn.locator,
                end: turn.end.or(end),
                kind: "alert",
                title: format!("{name} {state}"),
                // Alerts of one name that turned together are told apart by their labels.
                text: format!(
                    "{} {}",
                    subject.get(name.len()..).unwrap_or_default(),
                    turn.text
                ),
                source: "grafana",
                entities: entities.clone(),
                attributes: attributes_of(&turn.value, KEPT),
            };
            events.push(event(turn.t, parts));
        };
        for turn in turns {
            match (ringing.take(), turn.fires) {
                // From `Alerting` to `NoData` it goes on ringing.
                (Some(first), true) => ringing = Some(first),
                (None, true) => ringing = Some(turn),
                (Some(first), false) => push(first, Some(turn.t)),
                (None, false) => {
                    let before = text(&turn.value, "prevState");
                    if fires(before) {
                        push(turn, None);
                    }
                }
            }
        }
        if let Some(first) = ringing {
            push(first, None);
        }
    }
    events
}

/// `p99 high {service=checkout, pod=a}` → its name and its labels. Values are told as they are, without quotes.
fn named(subject: &str) -> (&str, Vec<(&str, &str)>) {
    let parts = || {
        let (name, labels) = subject.strip_suffix('}')?.split_once(" {")?;
        let labels = labels.split(", ").filter_map(|l| l.split_once('='));
        (!name.is_empty()).then(|| (name, labels.collect()))
    };
    parts().unwrap_or((subject, Vec::new()))
}

/// Text without its HTML: tags are gone, those that end a line end one, and the five entities of XML are read.
fn plain(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        out.push_str(before);
        let name: String = tag
            .chars()
            .skip(1)
            .skip_while(|c| *c == '/')
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        if let Some(end) = tag.find('>').filter(|_| !name.is_empty()) {
            let breaks = ["br", "p", "div", "li", "tr"];
            if breaks.contains(&name.to_lowercase().as_str()) {
                out.push('\n');
            }
            rest = tag.get(end + 1..).unwrap_or_default();
        } else {
            out.push('<');
            rest = tag.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    for (entity, text) in [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        out = out.replace(entity, text);
    }
    out
}
