//! pprof profiles (`profile.proto`, gzip already removed): [`reader`] takes the bytes apart, this file makes one
//! [`Profile`] of the sample type that the profile shows by default.

pub mod reader;
mod stacks;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;

use crate::base::reporter::Reporter;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::formats::go_dump::debug1::empty_contention;
use crate::formats::go_dump::origin;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::Profile;
use reader::{Raw, Sample};

/// A duration above it is a fault of the writer: Pyroscope's converter wrote 54 years (`profiles.md` §2).
const MAX_DURATION_NANOS: i64 = 86_400_000_000_000;

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
    let groups = stacks::groups(raw, shown, log);
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
    let mut first = Sample::default();
    let is_read = raw.samples.first().and_then(|bytes| first.read(bytes));
    let location = is_read
        .and_then(|()| locations.at(*first.locations.first()?))
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
