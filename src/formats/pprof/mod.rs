//! pprof profiles (`profile.proto`, gzip already removed): [`reader`] takes the bytes apart, this file makes one
//! [`Profile`] of the sample type that the profile shows by default.

pub mod reader;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::formats::go_dump::debug1::empty_contention;
use crate::formats::go_dump::{origin, wait};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::{Frame, Profile, StackGroup};
use reader::{Location, Raw, Sample};

/// A duration above it is a fault of the writer: Pyroscope's converter wrote 54 years (`profiles.md` §2).
const MAX_DURATION_NANOS: i64 = 86_400_000_000_000;

/// Deepest stack that is kept: Go stops at 1024 addresses, and inlining adds a few frames to each (`profiles.md` §2).
const MAX_STACK: usize = 8192;

/// Most frames of all samples together (each takes about 40 bytes). A location may hold any number of inlined calls, so
/// that a small hostile file could unfold without end.
const MAX_FRAMES: usize = 20_000_000;

/// pprof profile.
pub struct Pprof;

impl Format for Pprof {
    fn id(&self) -> &'static str {
        "pprof"
    }

    fn title(&self) -> &'static str {
        "pprof profile"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if let Some(name) = relative(head.bytes) {
            return Sniff::refused(80, name);
        }
        if head.is_text || head.bytes.is_empty() {
            return Sniff::NOT_AT_ALL;
        }
        if !head.is_whole {
            return if begins_like_one(head.bytes) {
                Sniff::Yes(70)
            } else {
                Sniff::NOT_AT_ALL
            };
        }
        match Raw::parse(head.bytes) {
            Ok(raw) => match raw.faults(1).first() {
                None => Sniff::Yes(90),
                Some(_) if raw.sample_types.is_empty() => Sniff::NOT_AT_ALL,
                Some(fault) => Sniff::refused(
                    50,
                    format!("at {} something does not resolve: {}", fault.at, fault.what),
                ),
            },
            Err(_) => Sniff::NOT_AT_ALL,
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let fail = |fault: &reader::Fault| {
            FormatError::new(
                "bad_pprof",
                Some(fault.at.clone()),
                fault.what.clone(),
                "a profile.proto message whose every index resolves",
                "fetch the profile again: a download that was cut looks like this",
            )
        };
        let raw = Raw::parse(bytes).map_err(|fault| fail(&fault))?;
        if raw.sample_types.is_empty() || raw.string(0) != Some("") {
            return Err(raw.faults(1).first().map_or_else(
                || {
                    fail(&reader::Fault {
                        at: "byte 0".to_owned(),
                        what: "no profile".to_owned(),
                    })
                },
                fail,
            ));
        }
        out.profiles.push(profile(&raw, hints, log));
        Ok(())
    }
}

/// What is no pprof but known by its first bytes.
fn relative(bytes: &[u8]) -> Option<&'static str> {
    let is_trace = bytes.starts_with(b"go 1.")
        && bytes.get(..16).is_some_and(|head| {
            head.ends_with(b"\0\0\0") || memchr::memmem::find(head, b" trace").is_some()
        });
    if is_trace {
        return Some("it is a Go execution trace, which is no profile");
    }
    let words = |from: usize| bytes.get(from..from + 8);
    let is_legacy = words(0) == Some(&[0; 8])
        && (words(8) == Some(&3u64.to_le_bytes()) || words(8) == Some(&3u64.to_be_bytes()));
    is_legacy.then_some(
        "it is a binary CPU profile of the old form; convert it with `go tool pprof -proto`",
    )
}

/// Whether the first part of a longer file is made of fields that a profile has, with their wire types.
fn begins_like_one(bytes: &[u8]) -> bool {
    let mut known = 0;
    for field in wire::Fields::new(bytes) {
        match field {
            Ok((1..=6 | 11, value)) if value.bytes().is_some() => known += 1,
            Ok((7..=10 | 12 | 14 | 15, value)) if value.number().is_some() => known += 1,
            Ok((13, _)) => {}
            // The last field is cut where the head ends.
            Err(_) => break,
            Ok(_) => return false,
        }
    }
    known >= 3
}

/// The model's profile of the default sample type.
fn profile(raw: &Raw<'_>, hints: &Hints<'_>, log: &mut Reporter) -> Profile {
    let shown = raw.default_type();
    let shown_type = raw.sample_types.get(shown).copied().unwrap_or_default();
    let kind = kind_of(raw, hints);
    let origin = origin::of(hints);
    let (t, t_source) = if raw.time_nanos > 0 {
        (Some(Timestamp::from_nanos(raw.time_nanos)), "recorded")
    } else {
        (origin.t, origin.t_source)
    };
    let groups = groups(raw, shown, log);
    let total: f64 = groups.iter().map(|g| g.value).sum();
    let unit = raw.string(shown_type.unit).unwrap_or("");
    notes(raw, &kind, unit, total, log);
    Profile {
        input: Default::default(),
        t,
        t_source,
        kind: Arc::from(kind.as_str()),
        unit: Arc::from(unit),
        total,
        process: origin.process,
        has_states: false,
        groups,
    }
}

fn notes(raw: &Raw<'_>, kind: &str, unit: &str, total: f64, log: &mut Reporter) {
    if raw.duration_nanos > MAX_DURATION_NANOS || raw.duration_nanos < 0 {
        log.note(
            "absurd_duration",
            format!(
                "a duration of {} ns was ignored: profiles last less than a day",
                raw.duration_nanos
            ),
            None,
        );
    }
    let secs = raw.duration_nanos as f64 / 1e9;
    let is_sane = (1..=MAX_DURATION_NANOS).contains(&raw.duration_nanos);
    match kind {
        "mutex" | "block" | "contention" if raw.samples.is_empty() => {
            log.note("empty_profile", empty_contention(kind), None);
        }
        "cpu" if raw.samples.is_empty() => {
            log.note("empty_profile", "0 samples: the process was idle while it was profiled", None);
        }
        "cpu" if unit == "nanoseconds" && is_sane && total < 0.5 * raw.duration_nanos as f64 => log.note(
            "low_coverage",
            format!(
                "the samples cover {} of {} ({} of one core): the process was idle, or timer signals were lost; compare shares, not totals",
                units::secs(total / 1e9),
                units::secs(secs),
                units::share(total / raw.duration_nanos as f64)
            ),
            None,
        ),
        _ => {}
    }
}

/// `heap`, `allocs`, `cpu`, `mutex`…: Go's profiles by their sample types, all others by their own name.
fn kind_of(raw: &Raw<'_>, hints: &Hints<'_>) -> String {
    let name = |ix: usize| {
        raw.sample_types
            .get(ix)
            .and_then(|t| raw.string(t.name))
            .unwrap_or("")
    };
    let has = |wanted: &str| (0..raw.sample_types.len()).any(|ix| name(ix) == wanted);
    let shown = name(raw.default_type());
    if has("inuse_space") {
        return if shown.starts_with("alloc") {
            "allocs"
        } else {
            "heap"
        }
        .to_owned();
    }
    if has("contentions") || has("delay") {
        return contention_kind(raw, hints).to_owned();
    }
    match shown {
        "cpu" => "cpu".to_owned(),
        // Only `?seconds=` gives it a length: the difference of two dumps, which is no dump itself.
        "goroutine" if (1..=MAX_DURATION_NANOS).contains(&raw.duration_nanos) => {
            "goroutine-delta".to_owned()
        }
        "time" if raw.string(raw.period_type.name) == Some("wallclock") => "wall".to_owned(),
        other => other.to_owned(),
    }
}

/// Block and mutex profiles have the same sample types. The request or the file's name tells them; else the leaf: the
/// mutex profile blames the holder at Unlock, the block profile the waiter at Lock (`profiles.md` §6).
fn contention_kind(raw: &Raw<'_>, hints: &Hints<'_>) -> &'static str {
    let period = raw.string(raw.period_type.name).unwrap_or("");
    for kind in ["mutex", "block"] {
        if origin::is_called(hints, kind) || period == kind {
            return kind;
        }
    }
    let (locations, functions) = (raw.location_index(), raw.function_index());
    let leaf = raw.samples.first().and_then(|s| raw.ids_of(s).first());
    let location = leaf
        .and_then(|id| locations.at(*id))
        .and_then(|at| raw.locations.get(at));
    let function = location
        .and_then(|l| raw.lines_of(l).first())
        .and_then(|line| functions.at(line.function))
        .and_then(|at| raw.functions.get(at))
        .and_then(|f| raw.string(f.name));
    match function {
        Some(name) if name.ends_with("nlock") || name.contains("nlockSlow") => "mutex",
        Some(_) => "block",
        None => "contention",
    }
}

/// One group for each sample, the largest first.
fn groups(raw: &Raw<'_>, shown: usize, log: &mut Reporter) -> Vec<StackGroup> {
    let locations = raw.location_index();
    let frames = frames_of_locations(raw);
    let none: Arc<str> = Arc::from("");
    let mut labels: BTreeMap<String, Arc<str>> = BTreeMap::new();
    let mut groups = Vec::with_capacity(raw.samples.len());
    let mut lost = 0u64;
    let mut left = MAX_FRAMES;
    let mut is_cut = false;
    for (n, sample) in raw.samples.iter().enumerate() {
        if let Err(what) = raw.check_sample(sample, &locations) {
            lost += 1;
            if lost == 1 {
                log.lost(
                    "bad_sample",
                    format!("a sample was left out: {what}"),
                    Some(format!("sample {}", n + 1)),
                );
            }
            continue;
        }
        let all = raw
            .ids_of(sample)
            .iter()
            .filter_map(|id| frames.get(locations.at(*id)?))
            .flatten();
        let room = MAX_STACK.min(left);
        let mut stack: Vec<Frame> = all.take(room.saturating_add(1)).cloned().collect();
        is_cut |= stack.len() > room;
        stack.truncate(room);
        left -= stack.len();
        let json = labels_json(raw, sample);
        let label = labels
            .entry(json)
            .or_insert_with_key(|json| Arc::from(json.as_str()));
        groups.push(StackGroup {
            line: n as u64 + 1,
            value: raw.values_of(sample).get(shown).map_or(0.0, |v| *v as f64),
            class: wait::class_of(&stack, ""),
            state: Arc::clone(&none),
            wait_s: None,
            frames: stack,
            lock: None,
            lock_owner: None,
            pointers: Vec::new(),
            created_by: Arc::clone(&none),
            labels: Arc::clone(label),
            first_id: None,
        });
    }
    if lost > 1 {
        log.lost(
            "bad_sample",
            format!("{} left out in all", count(lost, "sample", "samples")),
            None,
        );
    }
    if is_cut {
        log.lost(
            "stack_too_deep",
            format!("frames beyond {MAX_STACK} of one stack or {MAX_FRAMES} in all were left out"),
            None,
        );
    }
    groups.sort_by(|a: &StackGroup, b| b.value.total_cmp(&a.value).then(a.line.cmp(&b.line)));
    groups
}

/// The frames of each location, the innermost call first. One without lines is not symbolised and shows its binary and
/// address; the flag `has_functions` is not to be trusted (`profiles.md` §2).
fn frames_of_locations(raw: &Raw<'_>) -> Vec<Vec<Frame>> {
    let (functions, mappings) = (raw.function_index(), raw.mapping_index());
    let names: Vec<Arc<str>> = raw.strings.iter().map(|s| Arc::from(s.as_ref())).collect();
    let none: Arc<str> = Arc::from("");
    let unsymbolised = |location: &Location| {
        let file = mappings
            .at(location.mapping)
            .and_then(|at| raw.mappings.get(at))
            .and_then(|m| raw.string(m.file))
            .filter(|f| !f.is_empty())
            .unwrap_or("unknown");
        Frame {
            function: Arc::from(format!("{file}+{:#x}", location.address).as_str()),
            file: Arc::clone(&none),
            line: 0,
        }
    };
    raw.locations
        .iter()
        .map(|location| {
            let lines = raw.lines_of(location);
            if lines.is_empty() {
                return vec![unsymbolised(location)];
            }
            lines
                .iter()
                .map(|line| {
                    let function = functions
                        .at(line.function)
                        .and_then(|at| raw.functions.get(at));
                    let name = |pick: fn(&reader::Function) -> usize| {
                        let name = function.and_then(|f| names.get(pick(f)));
                        name.map_or_else(|| Arc::clone(&none), Arc::clone)
                    };
                    let plain = name(|f| f.name);
                    Frame {
                        function: if plain.is_empty() {
                            name(|f| f.system_name)
                        } else {
                            plain
                        },
                        file: name(|f| f.file),
                        line: u32::try_from(line.line).unwrap_or(0),
                    }
                })
                .collect()
        })
        .collect()
}

/// Labels as one JSON object; a key that stands twice has a list.
fn labels_json(raw: &Raw<'_>, sample: &Sample) -> String {
    let labels = raw.labels_of(sample);
    if labels.is_empty() {
        return String::new();
    }
    let mut map: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for label in labels {
        let value = if label.text == 0 {
            Json::from(label.number)
        } else {
            Json::from(raw.string(label.text).unwrap_or(""))
        };
        map.entry(raw.string(label.key).unwrap_or(""))
            .or_default()
            .push(value);
    }
    let object: serde_json::Map<String, Json> = map
        .into_iter()
        .map(|(key, mut values)| {
            let value = match values.len() {
                1 => values.swap_remove(0),
                _ => Json::from(values),
            };
            (key.to_owned(), value)
        })
        .collect();
    Json::Object(object).to_string()
}
