//! Files that say something about the files beside them: requests, manifests, windows, log formats.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::base::reporter::Reporter;
use crate::base::text;
use crate::base::time::{Timestamp, Zone, parse_time};
use crate::formats::head::HEAD_BYTES;
use crate::formats::nginx::log_formats_of;
use crate::formats::{Head, NamedLogFormat, RequestHint};

/// What kind of sidecar a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `requests.json`: file → request.
    Requests,
    /// `NAME.request.json`: the request of `NAME`.
    OneRequest,
    /// A list of `{file, target, request, start, …}`.
    Manifest,
    /// `window.json`.
    Window,
    /// `runs.csv`.
    Runs,
    /// `steps.csv`.
    Steps,
    /// An nginx configuration with `log_format` in it.
    Nginx,
}

/// Guesses from name and beginning whether a file is a sidecar. [`Sidecars::take`] decides.
pub(super) fn kind_of(location: &str, head: &[u8]) -> Option<Kind> {
    let name = unpacked_name(file_name(location));
    match name {
        "requests.json" => return Some(Kind::Requests),
        "window.json" => return Some(Kind::Window),
        "runs.csv" => return Some(Kind::Runs),
        "steps.csv" => return Some(Kind::Steps),
        _ if name.ends_with(".request.json") => return Some(Kind::OneRequest),
        _ => {}
    }
    if head.trim_ascii_start().starts_with(b"[") {
        let head = Head::new(head);
        let is_manifest = head.has("[].file")
            && ["[].request", "[].path", "[].target", "[].start"]
                .iter()
                .any(|key| head.has(key));
        return is_manifest.then_some(Kind::Manifest);
    }
    let head = head.get(..HEAD_BYTES).unwrap_or(head);
    [&b"log_format"[..], b"log-format-upstream"]
        .iter()
        .any(|word| head.windows(word.len()).any(|at| at == *word))
        .then_some(Kind::Nginx)
}

/// The window that `window.json` gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowHint {
    /// Where it stands.
    pub path: String,
    /// Default of `--from`.
    pub start: Option<Timestamp>,
    /// Default of `--to`.
    pub end: Option<Timestamp>,
    /// When the incident began, as people say.
    pub incident_start: Option<Timestamp>,
    /// What to rank, as people say.
    pub target: Option<String>,
}

/// Everything that sidecars say.
#[derive(Debug, Default)]
pub(super) struct Sidecars {
    /// File locations in order, and by name in the folder above theirs.
    locations: BTreeSet<String>,
    requests: BTreeMap<String, (u8, RequestHint)>,
    log_formats: BTreeMap<String, Vec<NamedLogFormat>>,
    pub(super) windows: Vec<WindowHint>,
}

impl Sidecars {
    /// For leaves at these locations (sidecars among them).
    pub(super) fn new<'a>(locations: impl Iterator<Item = &'a str>) -> Self {
        Self {
            locations: locations.map(|l| unpacked_name(l).to_owned()).collect(),
            ..Self::default()
        }
    }

    /// The request that the file at `location` answers.
    pub(super) fn request(&self, location: &str) -> Option<&RequestHint> {
        self.requests
            .get(unpacked_name(location))
            .map(|(_, hint)| hint)
    }

    /// The log formats that hold for the file at `location`: of its own folder first, then of those above.
    pub(super) fn log_formats(&self, location: &str) -> Vec<NamedLogFormat> {
        let mut all: Vec<NamedLogFormat> = Vec::new();
        let mut folder = folder_of(location);
        loop {
            for format in self.log_formats.get(folder).into_iter().flatten() {
                if !all.contains(format) {
                    all.push(format.clone());
                }
            }
            if folder.is_empty() {
                return all;
            }
            folder = folder_of(folder);
        }
    }

    /// Takes a sidecar in. Says what it is for, or `None` when it is none after all.
    pub(super) fn take(
        &mut self,
        kind: Kind,
        path: &str,
        location: &str,
        bytes: &[u8],
        log: &mut Reporter,
    ) -> Option<()> {
        let (text, _) = text::decode(bytes);
        match kind {
            Kind::Runs | Kind::Steps => {
                let header = text.lines().next().unwrap_or("");
                let columns: Vec<&str> = header.split(',').map(str::trim).collect();
                let wanted = if kind == Kind::Runs { "run" } else { "step" };
                if !columns.contains(&wanted) || !columns.contains(&"start") {
                    return None;
                }
                let rows = text
                    .lines()
                    .skip(1)
                    .filter(|l| !l.trim().is_empty())
                    .count();
                let what = if kind == Kind::Runs {
                    "names load runs"
                } else {
                    "names the steps of an experiment"
                };
                let why =
                    format!("{what} ({rows} of them); this version does not compare runs yet");
                log.note("sidecar", why, None);
            }
            Kind::Nginx => {
                let formats = log_formats_of(&text);
                if formats.is_empty() {
                    return None;
                }
                let names: Vec<&str> = formats.iter().map(|f| f.name.as_str()).collect();
                let why = format!(
                    "an nginx configuration: gives {} to the logs of its folder",
                    text::count(formats.len() as u64, "log format", "log formats")
                        + " ("
                        + &text::join_and(&names)
                        + ")"
                );
                log.note("sidecar", why, None);
                let folder = folder_of(location).to_owned();
                self.log_formats.entry(folder).or_default().extend(formats);
            }
            Kind::Requests | Kind::OneRequest | Kind::Manifest | Kind::Window => {
                let value: Value = match serde_json::from_str(&text) {
                    Ok(value) => value,
                    Err(error) => {
                        let at = format!("line {} column {}", error.line(), error.column());
                        let why = format!(
                            "this sidecar is not whole JSON ({error}); what it says of other files is not known: mend it or take it away"
                        );
                        log.lost("bad_sidecar", why, Some(at));
                        return Some(());
                    }
                };
                match kind {
                    Kind::Requests => return self.mapping(location, &value, log),
                    Kind::OneRequest => return self.one(location, &value, log),
                    Kind::Manifest => return self.manifest(location, &value, log),
                    _ => return self.window(path, &value, log),
                }
            }
        }
        Some(())
    }

    fn mapping(&mut self, location: &str, value: &Value, log: &mut Reporter) -> Option<()> {
        let Some(map) = value.as_object() else {
            return self.manifest(location, value, log);
        };
        let is_one = |v: &Value| v.get("path").is_some() || v.get("method").is_some();
        if !map.values().all(Value::is_object) || !map.values().any(is_one) {
            return None;
        }
        let pairs: Vec<(&str, &Value)> = map.iter().map(|(k, v)| (k.as_str(), v)).collect();
        self.join_all(location, &pairs, log);
        Some(())
    }

    fn manifest(&mut self, location: &str, value: &Value, log: &mut Reporter) -> Option<()> {
        let pairs: Vec<(&str, &Value)> = value
            .as_array()?
            .iter()
            .filter_map(|v| Some((v.get("file")?.as_str()?, v)))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        self.join_all(location, &pairs, log);
        Some(())
    }

    fn join_all(&mut self, location: &str, pairs: &[(&str, &Value)], log: &mut Reporter) {
        let mut missing = Vec::new();
        for (name, value) in pairs {
            let hint = hint_of(value);
            let places = self.places(folder_of(location), name);
            if places.is_empty() {
                missing.push(*name);
            }
            for (distance, place) in places {
                let is_nearer = self
                    .requests
                    .get(&place)
                    .is_none_or(|(known, _)| distance < *known);
                if is_nearer {
                    self.requests.insert(place, (distance, hint.clone()));
                }
            }
        }
        let found = pairs.len() - missing.len();
        log.note(
            "sidecar",
            format!(
                "says which requests {} answer",
                text::count(found as u64, "file", "files")
            ),
            None,
        );
        if let Some(first) = missing.first() {
            let why = format!(
                "{} of {} files that it names are not here",
                missing.len(),
                pairs.len()
            );
            log.note("sidecar_names_nothing", why, Some((*first).to_owned()));
        }
    }

    /// Where a file named in a sidecar of `folder` may lie: beside it, in a folder of it, in the folder above.
    fn places(&self, folder: &str, name: &str) -> Vec<(u8, String)> {
        let name = unpacked_name(name.trim_start_matches("./"));
        let beside = format!("{folder}/{name}");
        if self.locations.contains(&beside) {
            return vec![(0, beside)];
        }
        let inside: Vec<(u8, String)> = self
            .locations
            .range(format!("{folder}/")..)
            .take_while(|l| l.starts_with(folder))
            .filter(|l| {
                l.strip_prefix(folder)
                    .and_then(|rest| rest.strip_prefix('/'))
                    .and_then(|rest| rest.split_once('/'))
                    .is_some_and(|(_, rest)| rest == name)
            })
            .map(|l| (1, l.clone()))
            .collect();
        if !inside.is_empty() {
            return inside;
        }
        let above = format!("{}/{name}", folder_of(folder));
        if self.locations.contains(&above) {
            return vec![(2, above)];
        }
        Vec::new()
    }

    fn one(&mut self, location: &str, value: &Value, log: &mut Reporter) -> Option<()> {
        value.get("path").or_else(|| value.get("method"))?;
        let of = unpacked_name(location).strip_suffix(".request.json")?;
        // `up.request.json` beside `up.json`, too.
        let of_json = format!("{of}.json");
        let place = if self.locations.contains(of) {
            Some(of.to_owned())
        } else {
            Some(of_json).filter(|l| self.locations.contains(l))
        };
        if let Some(place) = place {
            let why = format!("says which request {} answers", file_name(&place));
            log.note("sidecar", why, None);
            self.requests.insert(place, (0, hint_of(value)));
        } else {
            let why = "the file that it belongs to is not here";
            log.note("sidecar_names_nothing", why, Some(file_name(of).to_owned()));
        }
        Some(())
    }

    fn window(&mut self, path: &str, value: &Value, log: &mut Reporter) -> Option<()> {
        let map = value.as_object()?;
        let mut bad = Vec::new();
        let mut time = |key: &str| {
            let found = map.get(key).filter(|v| !v.is_null())?;
            let read = time_of(found);
            if read.is_none() {
                bad.push(key.to_owned());
            }
            read
        };
        let hint = WindowHint {
            path: path.to_owned(),
            start: time("start"),
            end: time("end"),
            incident_start: time("incident_start"),
            target: map.get("target").and_then(Value::as_str).map(str::to_owned),
        };
        for key in &bad {
            let why = "not a time: expected epoch seconds or RFC 3339";
            log.lost("bad_sidecar", why, Some(format!("$.{key}")));
        }
        if hint.start.is_none() && hint.end.is_none() && bad.is_empty() {
            return None;
        }
        log.note("sidecar", "gives the window of the analysis", None);
        self.windows.push(hint);
        Some(())
    }
}

/// One request from its JSON, in any of the ways that recorders write it.
fn hint_of(value: &Value) -> RequestHint {
    let text = |keys: &[&str]| {
        keys.iter()
            .find_map(|k| value.get(k).and_then(Value::as_str))
            .map(str::to_owned)
    };
    let mut path = text(&["path", "request", "url"]).unwrap_or_default();
    if let Some(params) = value.get("params").and_then(Value::as_object) {
        for (name, param) in params {
            let all = match param {
                Value::Array(all) => all.iter().collect(),
                one => vec![one],
            };
            for one in all {
                path.push(if path.contains('?') { '&' } else { '?' });
                let one = one.as_str().map_or_else(|| one.to_string(), str::to_owned);
                path.push_str(&percent_encoded(name));
                path.push('=');
                path.push_str(&percent_encoded(&one));
            }
        }
    }
    let content_type = value
        .get("resp_headers")
        .and_then(Value::as_object)
        .and_then(|headers| {
            headers
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        })
        .and_then(|(_, v)| v.as_str())
        .map(str::to_owned);
    RequestHint {
        method: text(&["method"]).unwrap_or_else(|| "GET".to_owned()),
        path,
        body: value.get("body").filter(|b| !b.is_null()).cloned(),
        at: ["at", "start", "time"]
            .iter()
            .find_map(|k| value.get(k).and_then(time_of)),
        http: ["http", "status"]
            .iter()
            .find_map(|k| value.get(k).and_then(Value::as_u64))
            .and_then(|status| u16::try_from(status).ok()),
        ctype: text(&["ctype", "content_type"]).or(content_type),
        target: text(&["target", "instance"]),
        is_pulled: false,
        window: None,
    }
}

/// Epoch seconds (or finer, by magnitude) or text.
fn time_of(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(number) => parse_time(&number.to_string(), &Zone::utc()).ok(),
        Value::String(text) => parse_time(text, &Zone::utc()).ok(),
        _ => None,
    }
}

fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for nibble in [byte >> 4, byte & 15] {
                out.extend(char::from_digit(u32::from(nibble), 16).map(|c| c.to_ascii_uppercase()));
            }
        }
    }
    out
}

/// The last part of a location.
pub(super) fn file_name(location: &str) -> &str {
    location.rsplit(['/', '!']).next().unwrap_or(location)
}

/// A name without the ending of its compression.
pub(super) fn unpacked_name(name: &str) -> &str {
    [".gz", ".zst", ".zstd"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name)
}

/// The folder of a location, without the last `/`; members of an archive lie below it.
fn folder_of(location: &str) -> &str {
    location.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sidecars(locations: &[&str]) -> Sidecars {
        Sidecars::new(locations.iter().copied())
    }

    #[test]
    fn a_mapping_finds_files_beside_it_and_in_a_folder_of_it() {
        let mut s = sidecars(&[
            "/r/up.json",
            "/r/responses/down.json.gz",
            "/r/requests.json",
        ]);
        let mut log = Reporter::new();
        let text =
            br#"{"up.json":{"method":"GET","path":"/api/v1/query?query=up","at":1796045935.732},
            "down.json":{"method":"GET","path":"/api/v1/query","params":{"query":"a b"}},
            "gone.json":{"path":"/x"}}"#;
        s.take(
            Kind::Requests,
            "requests.json",
            "/r/requests.json",
            text,
            &mut log,
        )
        .unwrap();
        let up = s.request("/r/up.json").unwrap();
        assert_eq!(up.path, "/api/v1/query?query=up");
        assert_eq!(up.at.unwrap().nanos(), 1_796_045_935_732_000_000);
        assert_eq!(
            s.request("/r/responses/down.json.gz").unwrap().path,
            "/api/v1/query?query=a%20b"
        );
        assert!(!log.is_lossy());
        assert!(
            log.into_warnings()
                .iter()
                .any(|w| w.code == "sidecar_names_nothing")
        );
    }

    #[test]
    fn a_manifest_names_files_from_the_folder_above() {
        let mut s = sidecars(&["/r/profiles/a.txt", "/r/profiles/meta.json"]);
        let text = br#"[{"file":"profiles/a.txt","target":"gw:10254","request":"/debug/pprof/goroutine?debug=2","start":"2026-11-30T14:29:10.866Z"}]"#;
        assert_eq!(kind_of("/r/profiles/meta.json", text), Some(Kind::Manifest));
        s.take(
            Kind::Manifest,
            "",
            "/r/profiles/meta.json",
            text,
            &mut Reporter::new(),
        )
        .unwrap();
        let hint = s.request("/r/profiles/a.txt").unwrap();
        assert_eq!(hint.target.as_deref(), Some("gw:10254"));
        assert_eq!(hint.at.unwrap().to_rfc3339(), "2026-11-30T14:29:10.866Z");
    }

    #[test]
    fn a_window_says_what_is_wrong_with_it() {
        let mut s = sidecars(&[]);
        let mut log = Reporter::new();
        s.take(
            Kind::Window,
            "w",
            "/w",
            br#"{"start":1397088240,"end":"soon"}"#,
            &mut log,
        )
        .unwrap();
        assert!(log.is_lossy());
        assert_eq!(s.windows[0].start.unwrap().millis(), 1_397_088_240_000);
        let cut = s.take(Kind::Window, "w", "/w", b"{\"start\":", &mut log);
        assert_eq!(cut, Some(()));
    }

    #[test]
    fn log_formats_reach_down_and_not_sideways() {
        let mut s = sidecars(&[]);
        let format = NamedLogFormat {
            name: "x".into(),
            format: "$status".into(),
            escape: "default".into(),
        };
        s.log_formats.insert("/r/a".into(), vec![format.clone()]);
        assert_eq!(s.log_formats("/r/a/b/access.log"), [format]);
        assert!(s.log_formats("/r/access.log").is_empty());
    }
}
