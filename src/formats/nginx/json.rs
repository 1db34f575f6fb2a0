//! nginx access logs in JSON lines: the keys are the user's own, so they are known by name.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::formats::nginx::field::{Field, Fields, Unit};
use crate::formats::nginx::lines;
use crate::formats::nginx::row::{self, Rows, UnitGuess};
use crate::formats::nginx::template::Escape;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// How many lines decide in which unit durations are.
const SAMPLE_LINES: u32 = 500;
/// Objects inside objects are looked into this deep (`{"upstream":{"connect_time":…}}`).
const MAX_DEPTH: usize = 3;
/// More different keys than this in one file are not remembered.
const MAX_KEYS: usize = 10_000;

/// nginx access log in JSON lines.
pub struct NginxJson;

impl Format for NginxJson {
    fn id(&self) -> &'static str {
        "nginx-json"
    }

    fn title(&self) -> &'static str {
        "nginx access log in JSON lines"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Some(json) = &head.json else {
            return Sniff::NOT_AT_ALL;
        };
        let fields: Vec<Field> = json
            .paths
            .iter()
            .map(|path| Field::of_name(path.trim_start_matches("[].")).0)
            .collect();
        let has = |field: Field| fields.contains(&field);
        let upstream = has(Field::UpstreamConnect)
            || has(Field::UpstreamResponse)
            || has(Field::UpstreamStatus)
            || has(Field::UpstreamAddr);
        let is_request = has(Field::Status) && (has(Field::Path) || has(Field::Request));
        let has_time = fields.iter().any(|f| f.is_time());
        if json.paths.contains("response_flags") && json.paths.contains("upstream_cluster") {
            return Sniff::refused(60, "it is Envoy's log, which this version does not read");
        }
        if !(is_request || upstream && has(Field::Duration)) {
            return Sniff::NOT_AT_ALL;
        }
        if json.opens_with == '[' {
            return Sniff::refused(60, "it is one JSON array; expected one object a line");
        }
        if !has_time {
            return Sniff::refused(
                60,
                "no key for the time in it, such as `msec` or `time_iso8601`",
            );
        }
        if upstream {
            Sniff::Yes(90)
        } else if has(Field::Duration) || json.paths.contains("body_bytes_sent") {
            Sniff::Yes(75)
        } else if has(Field::Client) {
            Sniff::Yes(55)
        } else {
            Sniff::refused(40, "no key of an access log in it, such as `request_time`")
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let bytes = lines::as_utf8(bytes);
        let mut keys = Keys::default();
        let is_in_millis = is_in_millis(&bytes, &mut keys);
        let mut rows = Rows::new(hints.name, hints.zone, is_in_millis);
        let before = out.requests.len();
        let mut first_error = None;
        lines::for_each(&bytes, log, |line, log| {
            let text = lines::without_cri_prefix(&line.text);
            let request = keys
                .fields_of(text)
                .and_then(|fields| rows.request(&fields, Escape::None, line.number));
            match request {
                Ok(request) => out.requests.push(request),
                Err(reason) => {
                    row::lost(log, line.place(), &reason, line.is_open);
                    first_error.get_or_insert_with(|| (line.place(), reason));
                }
            }
        });
        rows.report(log);
        if out.requests.len() > before {
            return Ok(());
        }
        let (at, what) = first_error.unwrap_or_else(|| (String::new(), "no line in it".to_owned()));
        Err(FormatError::new(
            "no_requests",
            Some(at).filter(|a| !a.is_empty()),
            what,
            "one JSON object a line, with a time",
            "give the format with --log-format NAME=FORMAT",
        ))
    }
}

fn is_in_millis(bytes: &[u8], keys: &mut Keys) -> bool {
    let head = bytes.get(..4 * lines::MAX_LINE_BYTES).unwrap_or(bytes);
    let mut guess = UnitGuess::default();
    let mut left = SAMPLE_LINES;
    lines::for_each(head, &mut Reporter::new(), |line, _| {
        if left > 0
            && let Ok(fields) = keys.fields_of(lines::without_cri_prefix(&line.text))
        {
            left -= 1;
            guess.see(&fields);
        }
    });
    guess.is_in_millis()
}

/// What each key of a file means, looked up once.
#[derive(Default)]
struct Keys {
    known: BTreeMap<String, (Field, Unit)>,
    /// The keys of the line before, in its order: the next line nearly always has the same.
    before: Vec<(String, (Field, Unit))>,
    /// Where in `before` the next key is expected.
    next: usize,
}

impl Keys {
    fn of(&mut self, key: &str) -> (Field, Unit) {
        let at = self.next;
        self.next += 1;
        if let Some((_, known)) = self.before.get(at).filter(|(k, _)| k == key) {
            return *known;
        }
        let found = self.look_up(key);
        if let Some(slot) = self.before.get_mut(at) {
            *slot = (key.to_owned(), found);
        } else if at < MAX_KEYS {
            self.before.push((key.to_owned(), found));
        }
        found
    }

    fn look_up(&mut self, key: &str) -> (Field, Unit) {
        if let Some(known) = self.known.get(key) {
            return *known;
        }
        let found = Field::of_name(key);
        if self.known.len() < MAX_KEYS {
            self.known.insert(key.to_owned(), found);
        }
        found
    }

    /// The values of one line; an error is the end of a sentence.
    fn fields_of<'a>(&mut self, line: &'a str) -> Result<Fields<'a>, String> {
        let Pairs(pairs) = serde_json::from_str(line).map_err(|error| {
            format!(
                "it is not one JSON object ({error}); got {:?}",
                shorten(line, 40)
            )
        })?;
        let mut fields = Fields::new();
        self.next = 0;
        self.take("", pairs, &mut fields, 0);
        Ok(fields)
    }

    fn take<'a>(
        &mut self,
        prefix: &str,
        pairs: Vec<(Cow<'a, str>, &'a str)>,
        out: &mut Fields<'a>,
        depth: usize,
    ) {
        for (key, raw) in pairs {
            let key = if prefix.is_empty() {
                key
            } else {
                Cow::Owned(format!("{prefix}.{key}"))
            };
            if raw.starts_with('{') {
                if depth < MAX_DEPTH
                    && let Ok(Pairs(inner)) = serde_json::from_str(raw)
                {
                    self.take(&key, inner, out, depth + 1);
                }
                continue;
            }
            let (field, unit) = self.of(&key);
            if field >= Field::OtherList || field == Field::AddrOrAgent {
                continue;
            }
            if let Some(value) = scalar(raw) {
                out.set(field, value, unit);
            }
        }
    }
}

/// A JSON scalar as text: a string without its quotes, a number as it was written, `null` as nothing.
fn scalar(raw: &str) -> Option<Cow<'_, str>> {
    if raw.starts_with('"') {
        let inner = raw.get(1..raw.len().checked_sub(1)?)?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        return serde_json::from_str::<String>(raw).ok().map(Cow::Owned);
    }
    match raw {
        "null" => Some(Cow::Borrowed("")),
        _ if raw.starts_with('[') => None,
        _ => Some(Cow::Borrowed(raw)),
    }
}

/// The members of one object, values as they were written.
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PairsVisitor).map(Pairs)
    }
}

struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = Vec<(Cow<'de, str>, &'de str)>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("one JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::with_capacity(24);
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            pairs.push((key, value.get()));
        }
        Ok(pairs)
    }
}

/// A key, borrowed where it holds no escape.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Cow::Borrowed(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Cow::Owned(text.to_owned()))
            }
        }
        deserializer.deserialize_str(KeyVisitor).map(Key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time::{NANOS_PER_MS, Zone};
    use crate::model::request::Request;

    fn read(text: &[u8], name: &str) -> (Result<Vec<Request>, FormatError>, Reporter) {
        let zone = Zone::utc();
        let hints = Hints {
            name,
            request: None,
            zone: &zone,
            log_formats: &[],
        };
        let (mut out, mut log) = (Batch::default(), Reporter::new());
        let result = NginxJson.read(text, &hints, &mut out, &mut log);
        (result.map(|()| out.requests), log)
    }

    const LINE: &str = r#"{"time":"2026-11-30T14:26:58+00:00","msec":1796048818.521,"pod":"smartgateway-6d5c9f7b8-hx2wq","remote_addr":"10.60.1.2","method":"GET","uri":"/presentationservice/item?ms=20.9","status":200,"bytes":83,"request_time":0.023,"upstream":"presentationservice","upstream_addr":"10.70.0.22:8080","upstream_status":"200","upstream_connect_time":"0.001","upstream_header_time":"0.023","upstream_response_time":"0.023","request_id":"f95c74df9ec9ea6ffe8c059a05a1003a","trace":"1-6b0d87b2-b3b3406c2f2b3f2c72775666"}"#;

    #[test]
    fn the_usual_keys() {
        assert_eq!(NginxJson.sniff(&Head::new(LINE.as_bytes())), Sniff::Yes(90));
        let requests = read(LINE.as_bytes(), "a.json").0.unwrap();
        let request = &requests[0];
        assert_eq!(request.t.millis(), 1_796_048_818_521);
        assert_eq!(request.t_resolution_nanos, NANOS_PER_MS);
        assert_eq!(request.service.as_ref(), "smartgateway");
        assert_eq!(request.instance.as_ref(), "smartgateway-6d5c9f7b8-hx2wq");
        assert_eq!(request.upstream.as_ref(), "presentationservice");
        assert_eq!(request.attempts[0].connect_ms, Some(1.0));
        assert_eq!(request.duration_ms, Some(23.0));
        assert_eq!(request.bytes, Some(83));
        assert_eq!(
            request.trace_id.as_ref(),
            "1-6b0d87b2-b3b3406c2f2b3f2c72775666"
        );
    }

    #[test]
    fn names_units_and_nesting() {
        let requests = read(
            br#"{"@timestamp":"2026-11-30T14:26:58.521Z","http":{"request_id":"a"},"status":502,"request":"GET /x HTTP/1.1","nginx":{"upstream_connect_ms":12.5},"request_time_us":13000,"host":"edge1"}"#,
            "a.json",
        )
        .0
        .unwrap();
        let request = &requests[0];
        assert_eq!(request.attempts[0].connect_ms, Some(12.5));
        assert_eq!(request.duration_ms, Some(13.0));
        assert_eq!(request.path.as_ref(), "/x");
        assert_eq!(request.request_id.as_ref(), "a");
        assert_eq!(request.instance.as_ref(), "edge1");
    }

    #[test]
    fn whole_numbers_are_milliseconds() {
        let (requests, log) = read(
            br#"{"ts":1796048818521,"status":200,"uri":"/","request_time":23,"upstream_connect_time":"1"}"#,
            "a.json",
        );
        let requests = requests.unwrap();
        assert_eq!(requests[0].duration_ms, Some(23.0));
        assert_eq!(requests[0].attempts[0].connect_ms, Some(1.0));
        let codes: Vec<String> = log.into_warnings().into_iter().map(|w| w.code).collect();
        assert_eq!(codes, ["times_in_ms", "epoch_unit"]);
    }

    #[test]
    fn bad_lines_are_named() {
        let text = format!(
            "{LINE}\nnot json\n{}\n{}",
            LINE.replace("\"msec\":1796048818.521,", "\"msec\":12,"),
            LINE.get(..90).unwrap()
        );
        let (requests, log) = read(text.as_bytes(), "a.json");
        assert_eq!(requests.unwrap().len(), 1);
        let warnings = log.into_warnings();
        assert_eq!(warnings[0].at.as_deref(), Some("line 2"));
        assert!(warnings[1].text.contains("far off"), "{}", warnings[1].text);
        assert_eq!(warnings[2].code, "truncated");
    }

    #[test]
    fn other_json_is_refused() {
        for text in [
            r#"{"status":"success","data":{"resultType":"matrix","result":[]}}"#,
            r#"{"time":"2026-11-30T14:26:58Z","kind":"deploy","title":"x"}"#,
            r#"{"trace_id":"1-a-b","id":"c","name":"edge","start_time":1.5,"end_time":2.5,"http":{"request":{"method":"GET","url":"/"},"response":{"status":200}}}"#,
        ] {
            assert!(
                !matches!(NginxJson.sniff(&Head::new(text.as_bytes())), Sniff::Yes(_)),
                "{text}"
            );
        }
        let envoy = r#"{"start_time":"x","response_flags":"-","upstream_cluster":"c","path":"/","response_code":200,"duration":3}"#;
        assert!(matches!(
            NginxJson.sniff(&Head::new(envoy.as_bytes())),
            Sniff::No { near: 60, .. }
        ));
    }

    #[test]
    fn every_shape_of_nginx_multivalue() {
        let Some(path) = crate::base::testing::shared_data("logs/nginx-multivalue/access.json.log")
        else {
            return;
        };
        let bytes = crate::base::fs::read(&path).unwrap();
        let (requests, log) = read(&bytes, "access.json.log");
        assert!(!log.is_lossy());
        let requests = requests.unwrap();
        assert_eq!(requests.len(), 48);
        let failed = |path: &str| -> Vec<usize> {
            requests
                .iter()
                .filter(|r| r.path.as_ref() == path)
                .map(|r| r.attempts.iter().filter(|a| a.connect_failed()).count())
                .collect()
        };
        assert_eq!(failed("/ok"), [0, 0, 0]);
        assert_eq!(failed("/refused"), [1, 1, 1]);
        assert_eq!(failed("/blackhole"), [1, 1, 1]);
        assert_eq!(failed("/dead"), [2, 2, 2]);
        // In the second round the next server was not live: that element is the group's name.
        assert_eq!(failed("/readtimeout"), [0, 1, 0]);
        assert_eq!(
            failed("/f503"),
            [1, 1, 1],
            "no live server: its group's name"
        );
        assert_eq!(failed("/abort"), [0, 0, 0], "the client left");
        assert_eq!(failed("/lateconnect"), [1, 1, 1]);
        let groups: Vec<bool> = requests
            .iter()
            .find(|r| r.path.as_ref() == "/accel")
            .unwrap()
            .attempts
            .iter()
            .map(|a| a.is_new_group)
            .collect();
        assert_eq!(groups, [false, true]);
        let late = requests
            .iter()
            .find(|r| r.path.as_ref() == "/lateconnect")
            .unwrap();
        assert_eq!(late.connect_ms(), Some(5_003.0));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[{}\\[\\]\":,a-z0-9.\\\\é\n-]{0,120}") {
            let _outcome = read(text.as_bytes(), "a.json");
        }

        #[test]
        fn never_panics_when_cut(cut in 0usize..600) {
            let _outcome = read(LINE.as_bytes().get(..cut).unwrap_or(LINE.as_bytes()), "a.json");
        }
    }
}
