//! Agents: lists of all versions, states, events, the status timeline, active threads (`pinpoint.md` §7, §8).

use serde_json::{Value, json};

use super::Reading;
use super::value::{elements, list, measured, members, of, plain, shared, text, time, whole};
use crate::base::time::Timestamp;
use crate::model::event::Event;
use crate::model::input::InputIx;

/// Events that are symptoms (closed by the server, unexpected shutdown, deadlock): never what somebody changed.
const ALARMS: &[i64] = &[10201, 10300, 10301, 10401];
/// A sign of life, each minute or so.
const PING: i64 = 10199;

/// Points by application, agent and metric.
type Counts<'a> = std::collections::BTreeMap<(String, String, &'a str), Vec<(i64, f64)>>;

/// One event.
struct Told<'a> {
    kind: &'a str,
    title: String,
    t: Timestamp,
    end: Option<Timestamp>,
    agent: &'a str,
    at: String,
}

fn tell(reading: &mut Reading<'_, '_>, told: &Told<'_>) {
    reading.out.events.push(Event {
        input: InputIx::default(),
        locator: shared(&told.at),
        t: told.t,
        end: told.end,
        kind: shared(told.kind),
        title: shared(&told.title),
        text: shared(""),
        source: shared("pinpoint"),
        attributes: shared(&json!({ "agentId": told.agent }).to_string()),
    });
}

/// Agents in any of their lists: flat, in groups, or as an object of groups (2.2).
pub(super) fn lists(reading: &mut Reading<'_, '_>, value: &Value) {
    for (ix, one) in elements(value).iter().enumerate() {
        if one.get("instancesList").is_some() {
            for (n, agent) in list(one, "instancesList").iter().enumerate() {
                self::agent(reading, agent, &format!("$[{ix}].instancesList[{n}]"));
            }
        } else {
            agent(reading, one, &format!("$[{ix}]"));
        }
    }
    for (group, agents) in members(value) {
        for (n, one) in elements(agents).iter().enumerate() {
            agent(reading, one, &format!("$.{group}[{n}]"));
        }
    }
    reading.asked_window();
}

fn agent(reading: &mut Reading<'_, '_>, one: &Value, at: &str) {
    let Some(id) = text(of(one, "agentId")) else {
        let why = "an agent without `agentId`; it is left out";
        reading.log.lost("bad_row", why, at.to_owned());
        return;
    };
    for key in [
        "applicationName",
        "hostName",
        "ip",
        "serviceType",
        "vmVersion",
        "agentVersion",
    ] {
        if let Some(said) = text(of(one, key)) {
            reading.fact(&format!("agent.{id}.{key}"), said);
        }
    }
    let started = time(of(one, "startTimestamp")).or_else(|| time(of(one, "agentStartTime")));
    if let Some(t) = started {
        reading.fact(&format!("agent.{id}.started"), &t.to_rfc3339());
        // Agents live for weeks; only a start within the window that was asked for belongs to the incident.
        if reading.asked.window().is_some_and(|w| w.contains(t)) {
            tell(
                reading,
                &Told {
                    kind: "restart",
                    title: format!("agent {id} started"),
                    t,
                    end: None,
                    agent: id,
                    at: at.to_owned(),
                },
            );
        }
    }
    let nested = of(one, "status");
    if nested.is_object() {
        status(reading, nested, at);
    } else if let Some(t) = time(of(one, "currentStateTimestamp")) {
        state(reading, id, of(one, "currentState"), t, at);
    }
}

/// `getAgentStatus`, and the `status` of a list.
pub(super) fn status(reading: &mut Reading<'_, '_>, value: &Value, at: &str) {
    let (Some(id), Some(t)) = (
        text(of(value, "agentId")),
        time(of(value, "eventTimestamp")),
    ) else {
        return;
    };
    state(reading, id, of(value, "state"), t, at);
}

fn state(reading: &mut Reading<'_, '_>, id: &str, value: &Value, t: Timestamp, at: &str) {
    let said = plain(of(value, "desc"));
    reading.fact(&format!("agent.{id}.state"), &said);
    let is_down = matches!(whole(of(value, "code")), Some(200 | 201 | 300));
    if is_down && reading.asked.window().is_none_or(|w| w.contains(t)) {
        tell(
            reading,
            &Told {
                kind: "alert",
                title: format!("agent {id}: {said}"),
                t,
                end: None,
                agent: id,
                at: at.to_owned(),
            },
        );
    }
}

/// `getAgentEvents`.
pub(super) fn events(reading: &mut Reading<'_, '_>, value: &Value) {
    for (ix, one) in elements(value).iter().enumerate() {
        let at = format!("$[{ix}]");
        let (Some(id), Some(t)) = (text(of(one, "agentId")), time(of(one, "eventTimestamp")))
        else {
            let why = "an event without `agentId` or `eventTimestamp`; it is left out";
            reading.log.lost("bad_row", why, at);
            continue;
        };
        let code = whole(of(one, "eventTypeCode")).unwrap_or(0);
        if code != PING {
            event(reading, id, code, &plain(of(one, "eventTypeDesc")), t, &at);
        }
    }
    reading.asked_window();
}

fn event(reading: &mut Reading<'_, '_>, id: &str, code: i64, said: &str, t: Timestamp, at: &str) {
    let kind = match code {
        code if ALARMS.contains(&code) => "alert",
        10100 | 10200 => "restart",
        _ => "note",
    };
    let told = Told {
        kind,
        title: format!("{id}: {said}"),
        t,
        end: None,
        agent: id,
        at: at.to_owned(),
    };
    tell(reading, &told);
}

/// `getAgentStatusTimeline`: from when to when an agent was what; what is not running is an event with an end.
pub(super) fn timeline(reading: &mut Reading<'_, '_>, value: &Value) {
    let id = reading.asked.agent().unwrap_or("agent").to_owned();
    let segments = list(of(value, "agentStatusTimeline"), "timelineSegments");
    for (ix, one) in segments.iter().enumerate() {
        let at = format!("$.agentStatusTimeline.timelineSegments[{ix}]");
        let (Some(t), Some(end)) = (
            time(of(one, "startTimestamp")),
            time(of(one, "endTimestamp")),
        ) else {
            reading
                .log
                .lost("bad_row", "a segment without its times; it is left out", at);
            continue;
        };
        let said = plain(of(one, "value"));
        let span = format!("{} to {}", t.to_rfc3339(), end.to_rfc3339());
        reading.fact(
            &format!("agent.{id}.timeline[{ix}]"),
            &format!("{said} {span}"),
        );
        if said != "RUNNING" {
            let told = Told {
                kind: "alert",
                title: format!("agent {id}: {said}"),
                t,
                end: Some(end),
                agent: &id,
                at,
            };
            tell(reading, &told);
        }
    }
    let segments = list(of(value, "agentEventTimeline"), "timelineSegments");
    for (ix, one) in segments.iter().enumerate() {
        let Some(t) = time(of(one, "startTimestamp")) else {
            continue;
        };
        for kind in list(of(one, "value"), "typeCounts") {
            let code = whole(of(kind, "code")).unwrap_or(0);
            let n = whole(of(kind, "count")).unwrap_or(1);
            let said = plain(of(kind, "desc"));
            let said = if n > 1 {
                format!("{said} ({n} times)")
            } else {
                said
            };
            if code != PING {
                let at = format!("$.agentEventTimeline.timelineSegments[{ix}]");
                event(reading, &id, code, &said, t, &at);
            }
        }
    }
    reading.asked_window();
}

/// Frames of the active thread count, one or a list of them.
pub(super) fn active_threads(reading: &mut Reading<'_, '_>, value: &Value) {
    let one = std::slice::from_ref(value);
    let frames = value.as_array().map_or(one, Vec::as_slice);
    let mut all = Counts::new();
    for (ix, frame) in frames.iter().enumerate() {
        let result = of(frame, "result");
        let Some(ms) = whole(of(result, "timeStamp")) else {
            continue;
        };
        let application = plain(of(result, "applicationName"));
        for (agent, counts) in members(of(result, "activeThreadCounts")) {
            let status = list(counts, "status");
            if whole(of(counts, "code")) != Some(0) || status.is_empty() {
                reading.log.note(
                    "partial_answer",
                    format!(
                        "agent {agent} did not say its threads: {}",
                        plain(of(counts, "message"))
                    ),
                    format!("$[{ix}].result.activeThreadCounts.{agent}"),
                );
                continue;
            }
            for (metric, n) in [
                "pinpoint_active_requests_fast",
                "pinpoint_active_requests_normal",
                "pinpoint_active_requests_slow",
                "pinpoint_active_requests_very_slow",
            ]
            .into_iter()
            .zip(status)
            {
                if let Some(n) = measured(n) {
                    let key = (application.clone(), agent.to_owned(), metric);
                    all.entry(key).or_default().push((ms, n));
                }
            }
        }
    }
    for ((application, agent, metric), points) in all {
        let labels = [
            ("application", application.as_str()),
            ("agentId", agent.as_str()),
        ];
        reading.series(
            metric,
            "requests",
            &labels,
            &points,
            "$.result.activeThreadCounts",
        );
    }
}
