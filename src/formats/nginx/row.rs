//! What a line's fields hold → one request.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::base::time::{NANOS_PER_SEC, Zone};
use crate::formats::nginx::field::{Field, Fields, Unit};
use crate::formats::nginx::identity::{self, Identity};
use crate::formats::nginx::template::Escape;
use crate::formats::nginx::times;
use crate::formats::upstream_lists;
use crate::model::input::InputIx;
use crate::model::request::{Attempt, Request};

/// The first and the last second that a log of a real machine is believed to say: 1990 and 2100.
const BELIEVED: std::ops::Range<i64> = 631_152_000..4_102_444_800;
/// More attempts than this in one line is no list of upstreams.
const MAX_ATTEMPTS: usize = 1_000;

/// The parts that repeat, each held once.
#[derive(Debug)]
pub(super) struct Interner {
    known: BTreeSet<Arc<str>>,
    /// The last text of each slot, so that what repeats from line to line is not searched for.
    recent: Vec<Arc<str>>,
}

/// Slots of [`Interner::recent`]; a power of two. A line interns half a dozen texts, each of few values.
const RECENT: usize = 256;

impl Interner {
    pub(super) fn new() -> Self {
        Self {
            known: BTreeSet::new(),
            recent: vec![Arc::from(""); RECENT],
        }
    }

    pub(super) fn get(&mut self, text: &str) -> Arc<str> {
        // The ends of addresses and names tell them apart; FNV-1a over the last eight bytes and the length.
        let mixed = text
            .bytes()
            .rev()
            .take(8)
            .fold(0x811c_9dc5u32 ^ text.len() as u32, |hash, byte| {
                (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
            });
        let slot = (mixed ^ (mixed >> 16)) as usize % RECENT;
        if let Some(known) = self.recent.get(slot).filter(|known| known.as_ref() == text) {
            return Arc::clone(known);
        }
        let found = self.look_up(text);
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = Arc::clone(&found);
        }
        found
    }

    fn look_up(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.known.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.known.insert(Arc::clone(&new));
        new
    }
}

/// Whether nginx wrote this file's durations: it always writes three decimals (`logs.md` §1.2). A file in which no
/// duration has a decimal point and some are above zero was written in milliseconds by something else.
#[derive(Debug, Default)]
pub(super) struct UnitGuess {
    whole: u64,
    has_decimals: bool,
}

impl UnitGuess {
    pub(super) fn see(&mut self, fields: &Fields<'_>) {
        let durations = [
            Field::Duration,
            Field::UpstreamConnect,
            Field::UpstreamHeader,
            Field::UpstreamResponse,
        ];
        for field in durations {
            if fields.unit(field) == Unit::Usual
                && let Some(value) = fields.get(field)
            {
                self.has_decimals |= value.contains('.');
                self.whole += u64::from(value.bytes().any(|b| matches!(b, b'1'..=b'9')));
            }
        }
    }

    pub(super) const fn is_in_millis(&self) -> bool {
        self.whole > 0 && !self.has_decimals
    }
}

/// A reader of one way to say when.
type ReadTime = fn(&str, &Zone) -> Option<times::When>;

/// Makes requests of fields, and remembers what has to be said once for a file.
pub(super) struct Rows<'h> {
    zone: &'h Zone,
    file: Identity<'h>,
    strings: Interner,
    /// Milliseconds in one unit of an unnamed duration.
    millis_per_unit: f64,
    is_zone_assumed: bool,
    is_epoch_in_other_units: bool,
    uneven_lists: u64,
    without_connect: u64,
}

impl<'h> Rows<'h> {
    pub(super) fn new(name: &'h str, zone: &'h Zone, is_in_millis: bool) -> Self {
        Self {
            zone,
            file: identity::of_file(name),
            strings: Interner::new(),
            millis_per_unit: if is_in_millis { 1.0 } else { 1_000.0 },
            is_zone_assumed: false,
            is_epoch_in_other_units: false,
            uneven_lists: 0,
            without_connect: 0,
        }
    }

    /// One request; an error is the end of a sentence: what is wrong, and what was expected.
    pub(super) fn request(
        &mut self,
        fields: &Fields<'_>,
        escape: Escape,
        line: u64,
    ) -> Result<Request, String> {
        let when = self.when(fields)?;
        let (method, path) = request_line(fields, escape);
        let pod = fields.get(Field::Pod);
        let machine = fields
            .get(Field::Hostname)
            .or_else(|| fields.get(Field::Host).and_then(identity::machine_of_host));
        let who = identity::of_fields(pod, fields.get(Field::Service), machine, &self.file);
        let service = self.strings.get(who.service);
        let instance = self.strings.get(who.instance);
        let attempts = self.attempts(fields);
        if !attempts.is_empty() && !fields.has(Field::UpstreamConnect) {
            self.without_connect += 1;
        }
        Ok(Request {
            input: InputIx::default(),
            line,
            t: when.t,
            t_resolution_nanos: when.resolution_nanos,
            is_failed: None,
            service,
            instance,
            method: self.strings.get(&method),
            path: Arc::from(path.as_ref()),
            status: fields.get(Field::Status).and_then(|s| s.parse().ok()),
            duration_ms: fields
                .get(Field::Duration)
                .and_then(|v| self.millis(v, fields.unit(Field::Duration))),
            attempts,
            upstream: self
                .strings
                .get(fields.get(Field::UpstreamName).unwrap_or("")),
            bytes: fields.get(Field::Bytes).and_then(|b| b.parse().ok()),
            client: self.strings.get(fields.get(Field::Client).unwrap_or("")),
            request_id: Arc::from(fields.get(Field::RequestId).unwrap_or("")),
            trace_id: Arc::from(trace_id(fields.get(Field::Trace).unwrap_or(""))),
        })
    }

    /// `$msec`, then `$time_iso8601`, then a key that only says "time", then `$time_local`.
    fn when(&mut self, fields: &Fields<'_>) -> Result<times::When, String> {
        let tries: [(Field, ReadTime); 4] = [
            (Field::Msec, |text, _| times::epoch(text)),
            (Field::TimeIso, times::iso),
            (Field::TimeAny, times::any),
            (Field::TimeLocal, times::time_local),
        ];
        let mut unreadable = None;
        for (field, read) in tries {
            let Some(text) = fields.get(field) else {
                continue;
            };
            if let Some(when) = read(text, self.zone) {
                return self.believed(when, text);
            }
            unreadable = unreadable.or(Some(text));
        }
        Err(match unreadable {
            Some(text) => format!(
                "its time cannot be read: {:?}; expected an epoch, RFC 3339 or dd/Mon/yyyy:HH:MM:SS ±hhmm",
                shorten(text, 60)
            ),
            None => "it has no time; expected $msec, $time_iso8601 or $time_local".to_owned(),
        })
    }

    fn believed(&mut self, when: times::When, text: &str) -> Result<times::When, String> {
        if !BELIEVED.contains(&when.t.nanos().div_euclid(NANOS_PER_SEC)) {
            return Err(format!(
                "its time {} is far off; expected one between 1990 and 2100: the clock of that machine was wrong, or the number is no time",
                when.t
            ));
        }
        self.is_zone_assumed |= when.is_zone_assumed;
        let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
        self.is_epoch_in_other_units |=
            whole.len() > 11 && whole.bytes().all(|b| b.is_ascii_digit());
        Ok(when)
    }

    fn millis(&self, text: &str, unit: Unit) -> Option<f64> {
        let value: f64 = fast_float2::parse(text).ok()?;
        let factor = match unit {
            Unit::Usual => self.millis_per_unit,
            Unit::Millis(factor) => factor,
        };
        // nginx measures in whole milliseconds; rounding to the microsecond takes the dust of the product away.
        let millis = (value * factor * 1e3).round() / 1e3;
        (millis.is_finite() && millis >= 0.0).then_some(millis)
    }

    fn attempts(&mut self, fields: &Fields<'_>) -> Vec<Attempt> {
        let list = |field: Field| -> Vec<(&str, bool)> {
            fields
                .get(field)
                .map(|text| upstream_lists::elements(text).take(MAX_ATTEMPTS).collect())
                .unwrap_or_default()
        };
        let addr = list(Field::UpstreamAddr);
        let status = list(Field::UpstreamStatus);
        let connect = list(Field::UpstreamConnect);
        let header = list(Field::UpstreamHeader);
        let response = list(Field::UpstreamResponse);
        let lists = [&addr, &status, &connect, &header, &response];
        let Some(longest) = lists.into_iter().max_by_key(|l| l.len()) else {
            return Vec::new();
        };
        self.uneven_lists += u64::from(
            lists
                .iter()
                .any(|l| l.len() > 1 && l.len() != longest.len()),
        );
        let is_connect_logged = fields.has(Field::UpstreamConnect);
        let mut attempts = Vec::with_capacity(longest.len());
        for (index, (_, is_new_group)) in longest.iter().enumerate() {
            let time = |list: &[(&str, bool)], field: Field| {
                self.millis(at(list, index), fields.unit(field))
            };
            let (connect_ms, header_ms, response_ms) = (
                time(&connect, Field::UpstreamConnect),
                time(&header, Field::UpstreamHeader),
                time(&response, Field::UpstreamResponse),
            );
            let addr = at(&addr, index);
            attempts.push(Attempt {
                addr: self.strings.get(if addr == "-" { "" } else { addr }),
                status: at(&status, index).parse().ok(),
                connect_ms,
                header_ms,
                response_ms,
                is_new_group: *is_new_group,
                is_connect_logged,
            });
        }
        attempts
    }

    /// Says what was assumed or odd, once for the file.
    pub(super) fn report(&self, log: &mut Reporter) {
        if self.millis_per_unit < 1_000.0 {
            log.note(
                "times_in_ms",
                "durations were read as milliseconds: nginx writes seconds with three decimals, and none here has any",
                None,
            );
        }
        if self.is_epoch_in_other_units {
            log.note(
                "epoch_unit",
                "epoch times were read as milliseconds or finer by their magnitude, where nginx writes seconds",
                None,
            );
        }
        if self.is_zone_assumed {
            log.note(
                "zone_assumed",
                "times without a zone were read in the zone given by --tz (UTC unless given)",
                None,
            );
        }
        if self.uneven_lists > 0 {
            let text = format!(
                "{} lines have $upstream_* lists of different lengths; elements were joined by position",
                self.uneven_lists
            );
            log.note("uneven_lists", text, None);
        }
        if self.without_connect > 0 {
            log.note(
                "no_connect_time",
                "the log has no connect time; add $upstream_connect_time and $upstream_header_time to its format to see slow connects",
                None,
            );
        }
    }
}

/// An element of a list; nothing where the list is shorter.
fn at<'f>(list: &[(&'f str, bool)], index: usize) -> &'f str {
    list.get(index).map_or("", |(text, _)| *text)
}

/// Method and path, from their own fields or from the request line.
fn request_line<'f>(fields: &'f Fields<'_>, escape: Escape) -> (Cow<'f, str>, Cow<'f, str>) {
    let method = fields.get(Field::Method).unwrap_or("");
    if let Some(path) = fields.get(Field::Path) {
        return (Cow::Borrowed(method), unescape(path, escape));
    }
    let Some(request) = fields.get(Field::Request) else {
        return (Cow::Borrowed(method), Cow::Borrowed(""));
    };
    let (first, rest) = request.split_once(' ').unwrap_or(("", request));
    let path = match rest.rsplit_once(' ') {
        Some((path, protocol)) if protocol.starts_with("HTTP/") => path,
        _ => rest,
    };
    let is_method =
        !first.is_empty() && first.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-');
    if is_method {
        (Cow::Borrowed(first), unescape(path, escape))
    } else {
        // What a port scanner or a TLS client on a plain port sends is no request line.
        (Cow::Borrowed(method), unescape(request, escape))
    }
}

/// The trace id in what a header held: of X-Ray (`Root=1-…;Parent=…`), of W3C (`00-id-span-01`), or bare.
fn trace_id(text: &str) -> &str {
    if text.is_empty() {
        return text;
    }
    if let Some(root) = text
        .split([';', ','])
        .find_map(|part| part.trim().strip_prefix("Root="))
    {
        return root;
    }
    let parts: Vec<&str> = text.split('-').collect();
    match parts.as_slice() {
        [version, id, span, _] if version.len() == 2 && id.len() == 32 && span.len() == 16 => id,
        _ => text,
    }
}

/// A value as it was before nginx escaped it.
pub(super) fn unescape(text: &str, escape: Escape) -> Cow<'_, str> {
    if escape == Escape::None || !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    if escape == Escape::Json {
        let quoted = format!("\"{text}\"");
        return serde_json::from_str::<String>(&quoted)
            .map_or_else(|_| Cow::Borrowed(text), Cow::Owned);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\\x") {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after
            .get(..2)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        if let Some(byte) = byte {
            bytes.push(byte);
            rest = after.get(2..).unwrap_or("");
        } else {
            bytes.extend_from_slice(b"\\x");
            rest = after;
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

/// Says that a row was lost.
pub(super) fn lost(log: &mut Reporter, place: String, reason: &str, is_open: bool) {
    if is_open {
        let text = format!(
            "the last line has no line end and was cut: {reason}; copy the file again if it matters"
        );
        log.lost("truncated", text, place);
    } else {
        log.lost(
            "bad_line",
            format!("a line was passed over: {reason}"),
            place,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_taken_back() {
        assert_eq!(
            unescape(r"/bad\x22quote\xC3\xA9", Escape::Default),
            "/bad\"quoteé"
        );
        assert_eq!(unescape(r"/a\xZZ", Escape::Default), r"/a\xZZ");
        assert_eq!(unescape(r#"/a\"b"#, Escape::Json), "/a\"b");
        assert_eq!(unescape(r"/a\x22", Escape::None), r"/a\x22");
    }

    #[test]
    fn trace_headers_of_each_kind() {
        assert_eq!(
            trace_id("Root=1-6b0d-abc;Parent=53;Sampled=1"),
            "1-6b0d-abc"
        );
        assert_eq!(
            trace_id("1-6b0d87b2-b3b3406c2f2b3f2c72775666"),
            "1-6b0d87b2-b3b3406c2f2b3f2c72775666"
        );
        assert_eq!(
            trace_id("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            "0af7651916cd43dd8448eb211c80319c"
        );
    }
}
