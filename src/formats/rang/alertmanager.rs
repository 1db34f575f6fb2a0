//! Alertmanager: alerts, alert groups and silences of its API v2, and the body of its webhook.
//!
//! Shapes: `logs.md` §6 and `api/v2/openapi.yaml` of prometheus/alertmanager. The `endsAt` of an alert that fires is a promise
//! (last update + `resolve_timeout`), not an end; alerts that are over are not in the answer at all.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::base::time::{Timestamp, Zone};
use crate::formats::rang::{
    Parts, asked_for, attributes_of, entities_of_labels, event, labels_of, list, nothing_read, text,
};
use crate::formats::{Format, FormatError, Head, Hints, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::entity::EntityKeys;
use crate::model::event::Event;
use crate::model::labels::Labels;

/// Alerts and silences of Alertmanager.
pub struct Alertmanager;

impl Format for Alertmanager {
    fn id(&self) -> &'static str {
        "alertmanager"
    }

    fn title(&self) -> &'static str {
        "alerts or silences of Alertmanager"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        for root in ["[].", "alerts[].", "[].alerts[].", ""] {
            let has = |name: &str| head.has(&format!("{root}{name}"));
            let is_alert = has("labels") && has("startsAt");
            let is_silence = has("matchers") && has("startsAt") && has("endsAt");
            if is_alert || is_silence {
                let is_sure = has("endsAt") || has("fingerprint");
                return Sniff::Yes(if is_sure { 95 } else { 80 });
            }
        }
        if head.has("[].receiver") && head.has("[].alerts") {
            return Sniff::Yes(85);
        }
        Sniff::NOT_AT_ALL
    }

    fn answers(&self, request: &RequestHint) -> bool {
        let path = request.path.split('?').next().unwrap_or_default();
        [
            "/api/v2/alerts",
            "/api/v2/alerts/groups",
            "/api/v2/silences",
        ]
        .iter()
        .any(|end| path.ends_with(end))
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let mut reader = Reader {
            keys: EntityKeys::builtin(),
            zone: hints.zone,
            known: BTreeSet::new(),
            events: Vec::new(),
            planned: 0,
        };
        let walked = list::walk(bytes, "alerts", log, |at, value| reader.take(&at, &value));
        if reader.planned > 0 {
            log.note(
                "not_begun",
                format!(
                    "{} had not begun: left out",
                    count(reader.planned, "silence", "silences")
                ),
                None,
            );
        }
        if walked.lists == 0 && reader.events.is_empty() {
            return Err(nothing_read(
                walked.first_error,
                "alerts or silences of Alertmanager: objects with `labels` or `matchers`, and `startsAt`",
                "save what /api/v2/alerts or /api/v2/silences answers",
            ));
        }
        if reader.events.is_empty() && asked_for(hints, "/alerts") && walked.first_error.is_none() {
            log.note("no_events", "no alert was firing when it was asked", None);
        }
        out.events.extend(reader.events);
        Ok(())
    }
}

struct Reader<'h> {
    keys: EntityKeys,
    zone: &'h Zone,
    /// Alerts that are there already: groups name one for every receiver.
    known: BTreeSet<(Timestamp, Labels)>,
    events: Vec<Event>,
    planned: u64,
}

impl Reader<'_> {
    fn take(&mut self, at: &str, value: &Value) -> Result<(), String> {
        if let Some(alerts) = value.get("alerts").and_then(Value::as_array) {
            let receiver = value.pointer("/receiver/name").and_then(Value::as_str);
            let mut first = Ok(());
            for (index, alert) in alerts.iter().enumerate() {
                let outcome = self.alert(format!("{at}.alerts[{index}]"), alert, receiver);
                first = first.and(outcome);
            }
            return first;
        }
        if value.get("matchers").is_some() {
            return self.silence(at.to_owned(), value);
        }
        self.alert(at.to_owned(), value, None)
    }

    fn alert(
        &mut self,
        locator: String,
        alert: &Value,
        receiver: Option<&str>,
    ) -> Result<(), String> {
        let Some(Value::Object(_)) = alert.get("labels") else {
            return Err("it is no alert: it has no `labels`".to_owned());
        };
        let t = self.time(alert, "startsAt")?;
        let labels = labels_of(alert.get("labels"));
        if !self.known.insert((t, labels.clone())) {
            return Ok(());
        }
        let name = labels.get("alertname").unwrap_or("alert");
        let annotation = |key: &str| {
            let text = alert.get("annotations").map_or("", |a| text(a, key));
            (!text.is_empty()).then(|| text.to_owned())
        };
        let summary = annotation("summary")
            .or_else(|| annotation("description"))
            .or_else(|| annotation("message"))
            .unwrap_or_default();
        let end = self.end_of_alert(alert);
        let state = state_of(alert, end.is_some());
        let mut attributes = Map::new();
        attributes.insert("state".to_owned(), Value::from(state));
        attributes.extend(attributes_of(
            alert,
            // `startsAt` as it was sent: it keeps the offset of whoever raised the alert.
            &[
                "startsAt",
                "updatedAt",
                "labels",
                "annotations",
                "fingerprint",
            ],
        ));
        if let Some(status) = alert.get("status") {
            attributes.extend(attributes_of(
                status,
                &["silencedBy", "inhibitedBy", "mutedBy"],
            ));
        }
        let receivers: Vec<&str> = alert
            .get("receivers")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|r| text(r, "name"))
            .chain(receiver)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        attributes.insert("receivers".to_owned(), Value::from(receivers));
        let parts = Parts {
            locator,
            end,
            kind: "alert",
            title: format!("{name} {state}"),
            // Alerts of one name that began together are told apart by their labels.
            text: format!("{summary} {}", labels.without(&["alertname"])),
            source: "alertmanager",
            entities: entities_of_labels(&self.keys, &labels),
            attributes,
        };
        self.events.push(event(t, parts));
        Ok(())
    }

    fn silence(&mut self, locator: String, silence: &Value) -> Result<(), String> {
        let t = self.time(silence, "startsAt")?;
        let state = silence
            .pointer("/status/state")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if state == "pending" {
            self.planned += 1;
            return Ok(());
        }
        let end = self.time(silence, "endsAt").ok();
        let matchers = silence.get("matchers").and_then(Value::as_array);
        let matchers: Vec<String> = matchers.into_iter().flatten().map(matcher).collect();
        let parts = Parts {
            locator,
            end: end.filter(|_| state == "expired"),
            kind: "silence",
            title: format!("Silence of {{{}}}", matchers.join(",")),
            text: text(silence, "comment").to_owned(),
            source: text(silence, "createdBy"),
            entities: Vec::new(),
            attributes: attributes_of(
                silence,
                &["id", "status", "startsAt", "endsAt", "updatedAt"],
            ),
        };
        self.events.push(event(t, parts));
        Ok(())
    }

    fn time(&self, value: &Value, name: &str) -> Result<Timestamp, String> {
        let text = text(value, name);
        let t = crate::base::time::parse_time(text, self.zone).ok();
        // The zero time of Go, year 1, is no time.
        t.filter(|t| t.nanos() > 0).ok_or_else(|| {
            format!(
                "its `{name}` cannot be read: {:?}; expected RFC 3339 after 1970",
                crate::base::text::shorten(text, 60)
            )
        })
    }

    /// When it ended, of one that did: the webhook says `resolved`, and the update that ended it came after its end. The
    /// clock of whoever asked says nothing: it may be another than the server's.
    fn end_of_alert(&self, alert: &Value) -> Option<Timestamp> {
        let end = self.time(alert, "endsAt").ok()?;
        let updated = self.time(alert, "updatedAt").ok();
        let is_over = text(alert, "status") == "resolved" || updated.is_some_and(|t| end <= t);
        is_over.then_some(end)
    }
}

/// In one word, what becomes of an alert: `firing`, `silenced`, `inhibited`, `muted`, `suppressed` or `resolved`.
fn state_of(alert: &Value, is_over: bool) -> &'static str {
    let state = alert.pointer("/status/state").and_then(Value::as_str);
    let has = |key: &str| {
        let list = alert.get("status").and_then(|s| s.get(key)?.as_array());
        list.is_some_and(|list| !list.is_empty())
    };
    match state {
        _ if is_over => "resolved",
        Some("suppressed") if has("silencedBy") => "silenced",
        Some("suppressed") if has("inhibitedBy") => "inhibited",
        Some("suppressed") if has("mutedBy") => "muted",
        Some("suppressed") => "suppressed",
        _ => "firing",
    }
}

/// `name=~"value"`.
fn matcher(value: &Value) -> String {
    let is = |key: &str| value.get(key).and_then(Value::as_bool);
    let operator = match (
        is("isEqual").unwrap_or(true),
        is("isRegex").unwrap_or(false),
    ) {
        (true, false) => "=",
        (true, true) => "=~",
        (false, false) => "!=",
        (false, true) => "!~",
    };
    format!(
        "{}{operator}{:?}",
        text(value, "name"),
        text(value, "value")
    )
}
