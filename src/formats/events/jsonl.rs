//! Change events in JSON: one object a line, or one array of objects.

use serde_json::Value;

use crate::base::reporter::Reporter;
use crate::base::text::{decode, shorten};
use crate::base::time::{Timestamp, Zone};
use crate::formats::events::columns::{END, KIND, SOURCE, TIME, TITLE, read_time};
use crate::formats::events::table::{self, Parts};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::event::Event;

/// Change events in JSON lines.
pub struct EventsJson;

impl Format for EventsJson {
    fn id(&self) -> &'static str {
        "events-json"
    }

    fn title(&self) -> &'static str {
        "change events in JSON lines"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Some(json) = &head.json else {
            return Sniff::NOT_AT_ALL;
        };
        let keys: Vec<String> = json
            .paths
            .iter()
            .map(|path| path.trim_start_matches("[].").to_ascii_lowercase())
            .filter(|path| !path.contains('.') && !path.contains('['))
            .collect();
        let has = |names: &[&str]| keys.iter().any(|key| names.contains(&key.as_str()));
        if !has(TITLE) || !has(TIME) {
            return if has(TIME) && keys.len() <= 8 {
                Sniff::refused(
                    20,
                    "no key of it is a title, summary, message, detail, description or text",
                )
            } else {
                Sniff::NOT_AT_ALL
            };
        }
        if has(&["metricvalues", "metricvaluegroups"]) {
            return Sniff::refused(
                40,
                "it is a chart of Pinpoint, which this version does not read",
            );
        }
        if keys.iter().any(|key| key.starts_with("__")) || has(&["log", "stream"]) {
            return Sniff::refused(40, "it is a log, not a list of what was changed");
        }
        if has(&["level", "severity", "lvl", "logger", "loglevel"]) && !has(&["title", "kind"]) {
            return Sniff::refused(40, "its keys are those of a program's log");
        }
        if has(&["status", "status_code"]) && has(&["uri", "path", "url", "request"]) {
            return Sniff::refused(40, "its keys are those of an access log");
        }
        if has(&["startsat"]) && has(&["labels"]) {
            return Sniff::refused(40, "it is an answer of Alertmanager");
        }
        Sniff::Yes(65)
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let (text, is_replaced) = decode(bytes);
        if is_replaced {
            log.note(
                "bad_encoding",
                "bytes that are neither UTF-8 nor UTF-16 were replaced",
                None,
            );
        }
        let before = out.events.len();
        let mut taken = None;
        let mut first_error = None;
        let mut take = |place: String, value: Result<Value, String>, log: &mut Reporter| {
            let event = value.and_then(|value| event_of(value, place.clone(), hints.zone));
            match event {
                Ok((event, keys)) => {
                    taken.get_or_insert(keys);
                    out.events.push(event);
                }
                Err(why) => {
                    log.lost(
                        "bad_row",
                        format!("an event was passed over: {why}"),
                        place.clone(),
                    );
                    first_error.get_or_insert((place, why));
                }
            }
        };
        if text.trim_start().starts_with('[') {
            elements(&text, |place, value| take(place, value, log));
        } else {
            for (line, text) in (1u64..).zip(text.lines()) {
                if !text.trim().is_empty() {
                    let value = serde_json::from_str(text.trim())
                        .map_err(|error| format!("it is not one JSON object ({error})"));
                    take(format!("line {line}"), value, log);
                }
            }
        }
        if let Some(keys) = taken {
            log.note("columns", keys, None);
        }
        if out.events.len() > before {
            return Ok(());
        }
        let (at, what) =
            first_error.unwrap_or_else(|| (String::new(), "no event in it".to_owned()));
        Err(FormatError::new(
            "no_events",
            Some(at).filter(|at| !at.is_empty()),
            what,
            "objects with a time and a title",
            "name them `time` and `title`",
        ))
    }
}

/// The elements of an array, one by one, so that a cut file gives what is whole.
fn elements(text: &str, mut take: impl FnMut(String, Result<Value, String>)) {
    let mut rest = text.trim_start().strip_prefix('[').unwrap_or("");
    for index in 0u64.. {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() || rest.starts_with(']') {
            if rest.is_empty() {
                take(
                    format!("$[{index}]"),
                    Err("the array ends without `]`: the file was cut".to_owned()),
                );
            }
            return;
        }
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                let end = stream.byte_offset();
                take(format!("$[{index}]"), Ok(value));
                rest = rest.get(end..).unwrap_or("");
            }
            other => {
                let error = match other {
                    Some(Err(error)) => error.to_string(),
                    _ => "nothing there".to_owned(),
                };
                take(
                    format!("$[{index}]"),
                    Err(format!("it is no JSON ({error}); what follows it is lost")),
                );
                return;
            }
        }
    }
}

/// One event, and which keys were taken.
fn event_of(value: Value, locator: String, zone: &Zone) -> Result<(Event, String), String> {
    let Value::Object(mut map) = value else {
        return Err("it is not a JSON object".to_owned());
    };
    let (time_key, time) = first(&mut map, TIME, zone, true)
        .ok_or_else(|| format!("it has no time; expected one of {}", TIME.join(", ")))?;
    let t = read_time(&time, zone).ok_or_else(|| {
        format!(
            "its time cannot be read: {:?}; expected RFC 3339 with an offset, an epoch number, or a wall time between 1990 and 2100",
            shorten(&time, 60)
        )
    })?;
    let end = first(&mut map, END, zone, true);
    let title = first(&mut map, TITLE, zone, false);
    let text = first(&mut map, TITLE, zone, false);
    let kind = first(&mut map, KIND, zone, false);
    let source = first(&mut map, SOURCE, zone, false);
    let Some((title_key, title)) = title else {
        return Err(format!(
            "it has no title; expected one of {}",
            TITLE.join(", ")
        ));
    };
    let mut keys = vec![format!("`{time_key}` for the time")];
    for (taken, what) in [(&end, "the end"), (&kind, "the kind")] {
        if let Some((key, _)) = taken {
            keys.push(format!("`{key}` for {what}"));
        }
    }
    keys.push(format!("`{title_key}` for the title"));
    let value = |taken: &Option<(String, String)>| {
        taken.as_ref().map_or_else(String::new, |(_, v)| v.clone())
    };
    let (kind, text, source) = (value(&kind), value(&text), value(&source));
    let end: Option<Timestamp> = end.and_then(|(_, end)| read_time(&end, zone));
    map.retain(|_, v| !v.is_null());
    let parts = Parts {
        locator,
        kind: &kind,
        title: &title,
        text: &text,
        source: &source,
        attributes: map,
    };
    let words = format!("took {}", crate::base::text::join_and(&keys));
    Ok((table::event(t, end, parts), words))
}

/// Takes the first of the named members that is a scalar with something in it. Of times those that read as one come
/// first.
fn first(
    map: &mut serde_json::Map<String, Value>,
    names: &[&str],
    zone: &Zone,
    is_time: bool,
) -> Option<(String, String)> {
    let scalar = |value: &Value| match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) if is_time => Some(number.to_string()),
        _ => None,
    };
    let found: Vec<(String, String)> = names
        .iter()
        .filter_map(|name| {
            map.iter()
                .find(|(key, _)| key.to_ascii_lowercase() == *name)
                .and_then(|(key, value)| Some((key.clone(), scalar(value)?)))
        })
        .collect();
    let best = found
        .iter()
        .find(|(_, value)| !is_time || read_time(value, zone).is_some())
        .or_else(|| found.first())
        .cloned()?;
    map.shift_remove(&best.0);
    Some(best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Result<Vec<Event>, FormatError>, Reporter) {
        let zone = Zone::utc();
        let hints = Hints {
            name: "events.jsonl",
            request: None,
            zone: &zone,
            log_formats: &[],
        };
        let (mut out, mut log) = (Batch::default(), Reporter::new());
        let result = EventsJson.read(text.as_bytes(), &hints, &mut out, &mut log);
        (result.map(|()| out.events), log)
    }

    fn sniff(text: &str) -> Sniff {
        EventsJson.sniff(&Head::new(text.as_bytes()))
    }

    #[test]
    fn lines_and_arrays() {
        let line = r#"{"ts":1796048898.892,"type":"deploy","summary":"web 1.4 rolled out","description":"twice","by":"ann","pods":2}"#;
        assert_eq!(sniff(line), Sniff::Yes(65));
        let (events, log) = read(line);
        let event = &events.unwrap()[0];
        assert_eq!(event.t.to_rfc3339(), "2026-11-30T14:28:18.892Z");
        assert_eq!(event.kind.as_ref(), "deploy");
        assert_eq!(event.title.as_ref(), "web 1.4 rolled out");
        assert_eq!(event.text.as_ref(), "twice");
        assert_eq!(event.source.as_ref(), "ann");
        assert_eq!(event.attributes.as_ref(), r#"{"pods":2}"#);
        assert_eq!(
            log.into_warnings()[0].text,
            "took `ts` for the time, `type` for the kind and `summary` for the title"
        );
        let grafana = r#"[{"id":1,"time":1796048898892,"timeEnd":1796048998892,"text":"node drained","tags":["ops"]}]"#;
        assert_eq!(sniff(grafana), Sniff::Yes(65));
        let event = &read(grafana).0.unwrap()[0];
        assert_eq!(event.title.as_ref(), "node drained");
        assert_eq!(event.end.unwrap().nanos_since(event.t), 100_000_000_000);
        assert_eq!(event.locator.as_ref(), "$[0]");
    }

    #[test]
    fn what_is_whole_is_kept() {
        let (events, log) =
            read(r#"[{"time":"2026-11-30T14:28:18Z","title":"a"},{"time":"2026-11-30T14:2"#);
        assert_eq!(events.unwrap().len(), 1);
        assert!(log.is_lossy());
        let (events, log) = read(
            "{\"time\":\"2026-11-30T14:28:18Z\",\"title\":\"a\"}\n{\"time\":\"soon\",\"title\":\"b\"}\nnot JSON\n",
        );
        assert_eq!(events.unwrap().len(), 1);
        let places: Vec<Option<String>> = log
            .into_warnings()
            .into_iter()
            .filter(|w| w.lossy)
            .map(|w| w.at)
            .collect();
        assert_eq!(
            places,
            [Some("line 2".to_owned()), Some("line 3".to_owned())]
        );
        let deep = format!(
            "{{\"time\":1796048898,\"title\":\"a\",\"x\":{}",
            "[".repeat(100_000)
        );
        assert!(read(&deep).0.is_err());
    }

    #[test]
    fn logs_and_answers_are_not_swallowed() {
        for text in [
            r#"{"__REALTIME_TIMESTAMP":"1","MESSAGE":"x","time":"2026-11-30T14:28:18Z"}"#,
            r#"{"time":"2026-11-30T14:28:18Z","level":"info","message":"started"}"#,
            r#"{"time":"2026-11-30T14:28:18Z","status":200,"uri":"/","message":"-"}"#,
            r#"[{"startsAt":"2026-11-30T14:28:18Z","labels":{},"annotations":{"summary":"x"}}]"#,
            r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#,
            r#"{"title":"heap","timestamp":[1796050280000],"metricValues":[{"fieldName":"used"}]}"#,
            "{\n \"title\": \"errors\",\n \"timestamp\": [\n  1767225600000\n ],\n \"metricValueGroups\": []\n}",
            r#"{"log":"10.0.0.1 - -","stream":"stdout","time":"2026-11-30T14:28:18Z"}"#,
        ] {
            assert!(!matches!(sniff(text), Sniff::Yes(_)), "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]{}\":,a-z0-9.\n -]{0,200}") {
            let _verdict = sniff(&text);
            let _outcome = read(&text);
        }
    }
}
