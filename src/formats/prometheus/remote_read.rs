//! Prometheus remote-read answers: one snappy block that holds a protobuf `ReadResponse`, or a stream of frames with the
//! chunks as they are stored (`chunks`).
//!
//! The only answers of Prometheus that have staleness markers in them (`prometheus.md` §1.4, with the field numbers). The
//! wire format is read by hand, so that of a cut answer every whole sample is kept.

use std::sync::Arc;

use super::chunks;
use super::query::Asked;
use super::results::{Words, source, stem};
use super::snappy::unpack;
use super::wire::{Field, Wire};
use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::base::time::Timestamp;
use crate::formats::{Format, FormatError, Head, Hints, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series};

/// Prometheus remote-read answer.
pub struct RemoteRead;

impl RemoteRead {
    /// Whether an answer to this request may have no bytes: a stream of frames without any series.
    pub fn may_be_empty(request: &RequestHint) -> bool {
        let path = request.path.split('?').next().unwrap_or_default();
        path.ends_with("/api/v1/read")
    }
}

impl Format for RemoteRead {
    fn id(&self) -> &'static str {
        "prometheus-remote-read"
    }

    fn title(&self) -> &'static str {
        "Prometheus remote-read answer"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let start = unpack(head.bytes, 512).map_or_else(Vec::new, |(start, _)| start);
        if looks_like_answer(&start) {
            Sniff::Yes(97)
        } else if start == b"\x0a\x00" && head.is_whole {
            // An answer to one query without any series.
            Sniff::Yes(60)
        } else if is_chunked(head.bytes) {
            Sniff::Yes(96)
        } else {
            Sniff::NOT_AT_ALL
        }
    }

    /// A stream without any series has no bytes at all.
    fn answers(&self, request: &RequestHint) -> bool {
        Self::may_be_empty(request)
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let asked = Asked::of(hints);
        out.asked = out.asked.or_else(|| asked.window());
        if bytes.is_empty() && hints.request.is_some_and(|r| self.answers(r)) {
            return Ok(());
        }
        let unpacked = unpack(bytes, usize::MAX);
        let is_answer = unpacked
            .as_ref()
            .is_some_and(|(message, _)| looks_like_answer(message));
        let mut reader = Reader {
            words: Words::default(),
            fallback: stem(hints.name),
            external: &asked.external_labels,
            histograms: 0,
            out,
        };
        let is_whole = if !is_answer && is_chunked(bytes) {
            let range = chunks::Range::of(&asked);
            chunks::read(bytes, &range, &mut reader)
        } else {
            let Some((message, is_whole)) = unpacked else {
                return Err(not_remote_read());
            };
            reader.response(&message).is_some() && is_whole
        };
        let histograms = reader.histograms;
        if !is_whole && reader.out.series.is_empty() {
            return Err(not_remote_read());
        }
        if !is_whole {
            log.lost(
                "truncated",
                "the answer is cut short or damaged; every whole sample before that was kept; fetch it again for the rest",
                Some(format!("byte {}", bytes.len())),
            );
        }
        if histograms > 0 {
            let left = count(
                histograms,
                "native histogram or chunk of them was",
                "native histograms or chunks of them were",
            );
            // A pull of ours asks for them by range selectors, and says itself when they could not be had.
            if hints.request.is_some_and(|r| r.is_pulled) {
                let text =
                    format!("{left} left out here: the pull asks for them by range selectors");
                log.note("native_histograms", text, None);
            } else {
                let text = format!(
                    "{left} left out: in remote-read answers they are not read; ask the query API for them, with a range selector"
                );
                log.lost("native_histograms", text, None);
            }
        }
        Ok(())
    }
}

/// What a puller must know of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Glance {
    /// Whether it holds any series.
    pub has_series: bool,
    /// Names of the metrics whose native histograms are not read of it, in order: they are asked for by another way. Of
    /// samples those too that have none at all: Prometheus 2.42 answers so for native histograms (`prometheus.md` §1.4).
    pub histograms: Vec<String>,
}

/// Looks at an answer without reading its samples.
pub fn glance(answer: &[u8]) -> Glance {
    let mut has_series = false;
    let mut names = std::collections::BTreeSet::new();
    let unpacked = unpack(answer, usize::MAX).filter(|(message, _)| looks_like_answer(message));
    match unpacked {
        Some((message, _)) => each(&message, 1, &mut |result| {
            each(result, 1, &mut |series| {
                has_series = true;
                let (mut has_samples, mut has_histograms) = (false, false);
                each(series, 2, &mut |_| has_samples = true);
                each(series, 4, &mut |_| has_histograms = true);
                if has_histograms || !has_samples {
                    names.extend(name_of(series));
                }
            });
        }),
        None => chunks::each_frame(answer, &mut |frame| {
            each(frame, 1, &mut |series| {
                has_series = true;
                let mut has_histograms = false;
                each(series, 2, &mut |chunk| {
                    has_histograms |= chunks::is_of_histograms(chunk);
                });
                if has_histograms {
                    names.extend(name_of(series));
                }
            });
        }),
    }
    Glance {
        has_series,
        histograms: names.into_iter().collect(),
    }
}

/// Each whole field of that number that holds bytes.
fn each<'a>(message: &'a [u8], number: u64, seen: &mut dyn FnMut(&'a [u8])) {
    let mut wire = Wire(message);
    while let Some((found, field, true)) = wire.field() {
        if let (true, Field::Bytes(bytes)) = (found == number, field) {
            seen(bytes);
        }
    }
}

fn name_of(series: &[u8]) -> Option<String> {
    let mut name = None;
    each(series, 1, &mut |label| {
        let (key, value) = label_of(label);
        if key == b"__name__" {
            name = Some(String::from_utf8_lossy(value).into_owned());
        }
    });
    name
}

/// `Label`: name and value.
fn label_of(message: &[u8]) -> (&[u8], &[u8]) {
    let mut wire = Wire(message);
    let (mut key, mut value) = (&[][..], &[][..]);
    while let Some((number, field, true)) = wire.field() {
        match (number, field) {
            (1, Field::Bytes(bytes)) => key = bytes,
            (2, Field::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    (key, value)
}

fn not_remote_read() -> FormatError {
    FormatError::new(
        "not_snappy",
        Some("byte 0".to_owned()),
        "neither a snappy block that holds a ReadResponse nor frames of ChunkedReadResponse",
        "the raw body of a remote-read answer",
        "save the body as it came, without decoding or re-encoding it",
    )
}

/// Whether a message begins like a `ReadResponse` whose first series has labels: field 1 three times over, each inside
/// the one before, and then a name.
fn looks_like_answer(message: &[u8]) -> bool {
    let mut wire = Wire(message);
    let mut outer = u64::MAX;
    for _ in 0..4 {
        let (Some(0x0a), Some(len)) = (wire.byte(), wire.varint()) else {
            return false;
        };
        if len > outer || len == 0 {
            return false;
        }
        outer = len;
    }
    let name = wire.0.get(..outer as usize).unwrap_or(wire.0);
    std::str::from_utf8(name).is_ok_and(|name| !name.chars().any(char::is_control))
}

/// Whether bytes begin like a frame of `application/x-streamed-protobuf`: its length, four bytes of checksum, and a
/// `ChunkedReadResponse` whose first series has labels.
fn is_chunked(bytes: &[u8]) -> bool {
    let mut wire = Wire(bytes);
    let Some(len) = wire.varint().filter(|len| *len > 8) else {
        return false;
    };
    let Some(message) = wire.0.get(4..) else {
        return false;
    };
    let mut wire = Wire(message);
    let mut outer = len;
    for _ in 0..3 {
        let (Some(0x0a), Some(inner)) = (wire.byte(), wire.varint()) else {
            return false;
        };
        if inner >= outer || inner == 0 {
            return false;
        }
        outer = inner;
    }
    let name = wire.0.get(..outer as usize);
    name.is_some_and(|name| name.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_'))
}

/// Collects series.
pub(super) struct Reader<'a> {
    words: Words,
    fallback: &'a str,
    /// Labels that the server adds to every series, and the query API does not.
    external: &'a [(String, String)],
    /// Native histograms, or chunks of them, that were left out.
    pub(super) histograms: u64,
    out: &'a mut Batch,
}

impl Reader<'_> {
    /// `ReadResponse`; `None` when it is cut or damaged, after what was whole has been kept.
    fn response(&mut self, message: &[u8]) -> Option<()> {
        let mut wire = Wire(message);
        let mut result_index = 0;
        while !wire.0.is_empty() {
            let (number, field, is_whole) = wire.field()?;
            if let (1, Field::Bytes(result)) = (number, field) {
                let mut inner = Wire(result);
                let mut index = 0;
                while !inner.0.is_empty() {
                    let (number, field, is_whole) = inner.field()?;
                    if let (1, Field::Bytes(series)) = (number, field) {
                        self.series(series, format!("result {result_index} series {index}"))?;
                        index += 1;
                    }
                    is_whole.then_some(())?;
                }
                result_index += 1;
            }
            is_whole.then_some(())?;
        }
        Some(())
    }

    /// `TimeSeries`.
    fn series(&mut self, message: &[u8], locator: String) -> Option<()> {
        let mut wire = Wire(message);
        let mut labels = Vec::new();
        let (mut times, mut values) = (Vec::new(), Vec::new());
        let mut is_read = Some(());
        while !wire.0.is_empty() {
            let Some((number, field, true)) = wire.field() else {
                is_read = None;
                break;
            };
            match (number, field) {
                (1, Field::Bytes(label)) => labels.push(label),
                (2, Field::Bytes(bytes)) => {
                    if let Some((t, v)) = sample(bytes) {
                        times.push(t);
                        values.push(v);
                    }
                }
                (4, Field::Bytes(_)) => self.histograms += 1,
                _ => {}
            }
        }
        self.push(&labels, times, values, locator);
        is_read
    }

    /// Keeps a series, whose labels are messages; without labels it is none.
    pub(super) fn push(
        &mut self,
        labels: &[&[u8]],
        times: Vec<i64>,
        values: Vec<f64>,
        locator: String,
    ) {
        let mut name = None;
        let mut pairs = Vec::new();
        for (key, value) in labels.iter().map(|message| label_of(message)) {
            let key = self.words.of(&String::from_utf8_lossy(key));
            let value = self.words.of(&String::from_utf8_lossy(value));
            let is_added = |(n, v): &(String, String)| n.as_str() == &*key && v.as_str() == &*value;
            if key.as_ref() == "__name__" {
                name = Some(value);
            } else if !self.external.iter().any(is_added) {
                pairs.push((key, value));
            }
        }
        if name.is_none() && pairs.is_empty() {
            return;
        }
        let name = name.unwrap_or_else(|| Arc::from(self.fallback));
        let mut series = Series::new(name, Labels::new(pairs), Sampling::Raw);
        series.t = times;
        series.v = values;
        series.sources = vec![source(&series, Arc::from(locator))];
        self.out.series.push(series);
    }
}

/// `Sample`: fields that are zero are left out on the wire.
fn sample(message: &[u8]) -> Option<(i64, f64)> {
    let mut wire = Wire(message);
    let (mut value, mut millis) = (0.0, 0i64);
    while !wire.0.is_empty() {
        match wire.field()? {
            (1, Field::Fixed64(bits), _) => value = f64::from_bits(bits),
            (2, Field::Varint(number), _) => millis = number.cast_signed(),
            _ => {}
        }
    }
    Some((Timestamp::from_millis(millis)?.nanos(), value))
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values must come back bit by bit")]
mod tests {
    use super::*;
    use crate::formats::prometheus::testing::{read, sniffed};
    use crate::model::series::is_stale_marker;

    fn bytes_field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut len = content.len();
        while len >= 0x80 {
            out.push(len as u8 | 0x80);
            len >>= 7;
        }
        out.push(len as u8);
        out.extend(content);
        out
    }

    fn answer(samples: usize) -> Vec<u8> {
        let mut series = Vec::new();
        for (key, value) in [("__name__", "up"), ("job", "app")] {
            let label = [
                bytes_field(1, key.as_bytes()),
                bytes_field(2, value.as_bytes()),
            ]
            .concat();
            series.extend(bytes_field(1, &label));
        }
        for i in 0..samples {
            let bits = if i == 3 {
                crate::model::series::STALE_NAN_BITS
            } else {
                (i as f64).to_bits()
            };
            let mut sample = vec![0x09];
            sample.extend(bits.to_le_bytes());
            sample.push(0x10);
            let mut t = 1_796_045_870_869u64 + i as u64 * 1_000;
            while t >= 0x80 {
                sample.push(t as u8 | 0x80);
                t >>= 7;
            }
            sample.push(t as u8);
            series.extend(bytes_field(2, &sample));
        }
        let message = bytes_field(1, &bytes_field(1, &series));
        snap::raw::Encoder::new().compress_vec(&message).unwrap()
    }

    #[test]
    fn reads_samples_and_markers() {
        let block = answer(100);
        assert!(matches!(sniffed(&RemoteRead, &block), Sniff::Yes(97)));
        let (batch, warnings) = read(&RemoteRead, &block, None).unwrap();
        assert!(warnings.is_empty());
        let series = &batch.series[0];
        assert_eq!(series.selector(), "up{job=\"app\"}");
        assert_eq!(series.t.len(), 100);
        assert_eq!(series.t[1], 1_796_045_871_869_000_000);
        assert!(is_stale_marker(series.v[3]));
        assert_eq!(series.v[99], 99.0);
    }

    #[test]
    fn keeps_the_whole_samples_of_a_cut_block() {
        let block = answer(100);
        for keep in 60..block.len() {
            let (batch, warnings) = read(&RemoteRead, &block[..keep], None).unwrap();
            assert!(warnings[0].lossy, "{keep}");
            let series = &batch.series[0];
            assert!(series.t.len() < 100);
            assert!(series.t.iter().is_sorted());
        }
    }

    #[test]
    fn labels_that_the_server_adds_are_taken_off() {
        let request = RequestHint {
            method: "POST".to_owned(),
            path: "/api/v1/read".to_owned(),
            body: Some(serde_json::Value::String(
                "match%5B%5D=up&start=1&end=2&external_label=job%3Dapp&external_label=a%3Db"
                    .to_owned(),
            )),
            ..RequestHint::default()
        };
        let (batch, _) = read(&RemoteRead, answer(2), Some(&request)).unwrap();
        assert_eq!(batch.series[0].selector(), "up");
        assert!(batch.asked.is_some());
        let (batch, warnings) = read(&RemoteRead, b"", Some(&request)).unwrap();
        assert!(batch.series.is_empty() && warnings.is_empty());
    }

    #[test]
    fn a_series_without_samples_is_asked_for_by_another_way() {
        let of = |has_series, names: &[&str]| Glance {
            has_series,
            histograms: names.iter().map(|n| (*n).to_owned()).collect(),
        };
        assert_eq!(glance(&answer(3)), of(true, &[]));
        assert_eq!(glance(&answer(0)), of(true, &["up"]));
        assert_eq!(glance(b"<html>"), of(false, &[]));
        assert_eq!(glance(b""), of(false, &[]));
    }

    #[test]
    fn a_header_that_lies_costs_no_memory() {
        assert!(read(&RemoteRead, b"\xff\xff\xff\xff\x0f\x00a", None).is_err());
        assert!(read(&RemoteRead, b"", None).is_err());
        assert!(matches!(sniffed(&RemoteRead, "hello"), Sniff::No { .. }));
    }
}
