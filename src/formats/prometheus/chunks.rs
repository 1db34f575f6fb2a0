//! Streamed remote-read answers: frames of `ChunkedReadResponse`, with the chunks as the server stores them.
//!
//! A frame (`storage/remote/chunked.go` of Prometheus) is its length as a varint, the CRC-32C of its message in four bytes,
//! highest first, and the message: `chunked_series` = 1 (`labels` = 1, `chunks` = 2 (`min_time_ms` = 1, `max_time_ms` = 2,
//! `type` = 3, `data` = 4)), `query_index` = 2. Chunks are whole: what lies outside the range that was asked is left out here.

use super::query::Asked;
use super::remote_read::Reader;
use super::wire::{Field, Wire};
use super::xor;
use crate::base::time::Timestamp;

/// `Chunk.Encoding` of float samples; 2 and 3 hold native histograms.
const XOR: u64 = 1;

/// What was asked, in milliseconds since the epoch, both ends in it.
pub(super) struct Range {
    start_ms: i64,
    end_ms: i64,
}

impl Range {
    /// Everything, when it is not known.
    pub(super) fn of(asked: &Asked) -> Self {
        Self {
            start_ms: asked.start.map_or(i64::MIN, Timestamp::millis),
            end_ms: asked.end.map_or(i64::MAX, Timestamp::millis),
        }
    }
}

/// Reads every frame; whether all of them were whole.
pub(super) fn read(bytes: &[u8], range: &Range, reader: &mut Reader<'_>) -> bool {
    let mut is_whole = true;
    let mut number = 0;
    let are_framed = each_frame_or_stop(bytes, &mut |frame| {
        is_whole &= one(frame, number, range, reader);
        number += 1;
    });
    is_whole && are_framed
}

/// Hands the message of each good frame to `seen`.
pub(super) fn each_frame<'a>(bytes: &'a [u8], seen: &mut dyn FnMut(&'a [u8])) {
    each_frame_or_stop(bytes, seen);
}

/// Stops at the first frame that is cut or damaged; whether there was none.
fn each_frame_or_stop<'a>(bytes: &'a [u8], seen: &mut dyn FnMut(&'a [u8])) -> bool {
    let mut wire = Wire(bytes);
    while !wire.0.is_empty() {
        let frame = wire.varint().and_then(|len| {
            let len = usize::try_from(len).ok()?;
            let (sum, rest) = wire.0.split_first_chunk::<4>()?;
            let (message, rest) = rest.split_at_checked(len)?;
            wire.0 = rest;
            (crc32c(message) == u32::from_be_bytes(*sum)).then_some(message)
        });
        let Some(frame) = frame else {
            return false;
        };
        seen(frame);
    }
    true
}

/// One frame; whether everything in it could be read.
fn one(frame: &[u8], number: usize, range: &Range, reader: &mut Reader<'_>) -> bool {
    let mut wire = Wire(frame);
    let mut is_whole = true;
    let mut at = 0;
    while !wire.0.is_empty() {
        let Some((field, value, true)) = wire.field() else {
            return false;
        };
        if let (1, Field::Bytes(message)) = (field, value) {
            is_whole &= series(
                message,
                format!("frame {number} series {at}"),
                range,
                reader,
            );
            at += 1;
        }
    }
    is_whole
}

fn series(message: &[u8], locator: String, range: &Range, reader: &mut Reader<'_>) -> bool {
    let mut wire = Wire(message);
    let mut labels = Vec::new();
    let (mut times, mut values) = (Vec::new(), Vec::new());
    let mut is_whole = true;
    while !wire.0.is_empty() {
        match wire.field() {
            Some((1, Field::Bytes(label), true)) => labels.push(label),
            Some((2, Field::Bytes(chunk), true)) => match chunk_of(chunk) {
                Some((XOR, data)) => {
                    is_whole &= xor::samples(data, |ms, v| {
                        let is_asked = range.start_ms <= ms && ms <= range.end_ms;
                        if let (true, Some(t)) = (is_asked, Timestamp::from_millis(ms)) {
                            times.push(t.nanos());
                            values.push(v);
                        }
                    });
                }
                Some(_) => reader.histograms += 1,
                None => is_whole = false,
            },
            Some((_, _, true)) => {}
            _ => {
                is_whole = false;
                break;
            }
        }
    }
    // Chunks of late samples overlap those of the samples in order.
    if !times.is_sorted_by(|a, b| a < b) {
        let mut pairs: Vec<(i64, f64)> = times.into_iter().zip(values).collect();
        pairs.sort_by_key(|(t, _)| *t);
        pairs.dedup_by_key(|(t, _)| *t);
        (times, values) = pairs.into_iter().unzip();
    }
    if !times.is_empty() {
        reader.push(&labels, times, values, locator);
    }
    is_whole
}

/// Encoding and data of a `Chunk`.
fn chunk_of(message: &[u8]) -> Option<(u64, &[u8])> {
    let mut wire = Wire(message);
    let (mut kind, mut data) = (0, &[][..]);
    while !wire.0.is_empty() {
        match wire.field()? {
            (3, Field::Varint(number), _) => kind = number,
            (4, Field::Bytes(bytes), true) => data = bytes,
            (_, _, true) => {}
            _ => return None,
        }
    }
    Some((kind, data))
}

/// Whether a `Chunk` holds native histograms.
pub(super) fn is_of_histograms(chunk: &[u8]) -> bool {
    chunk_of(chunk).is_some_and(|(kind, _)| kind > XOR)
}

/// CRC-32C (Castagnoli, RFC 3720 §B.4), bit by bit reflected: polynomial 0x82f63b78.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLES: [[u32; 256]; 4] = tables();
    let mut crc = u32::MAX;
    let (fours, rest) = bytes.as_chunks::<4>();
    let of =
        |table: &[u32; 256], byte: u32| table.get((byte & 0xff) as usize).copied().unwrap_or(0);
    let [first, second, third, fourth] = &TABLES;
    for four in fours {
        let word = crc ^ u32::from_le_bytes(*four);
        crc = of(fourth, word)
            ^ of(third, word >> 8)
            ^ of(second, word >> 16)
            ^ of(first, word >> 24);
    }
    for byte in rest {
        crc = crc >> 8 ^ of(first, crc ^ u32::from(*byte));
    }
    !crc
}

/// Four bytes at a time ("slicing by four").
#[expect(clippy::indexing_slicing, reason = "evaluated while compiling")]
const fn tables() -> [[u32; 256]; 4] {
    let mut tables = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 4 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::formats::RequestHint;
    use crate::formats::Sniff;
    use crate::formats::prometheus::remote_read::{RemoteRead, glance};
    use crate::formats::prometheus::testing::{read as read_format, sniffed};
    use crate::formats::prometheus::xor::tests::chunk;
    use crate::model::series::{STALE_NAN_BITS, is_stale_marker};

    const START_MS: i64 = 1_796_045_870_869;

    fn put(to: &mut Vec<u8>, field: u8, content: &[u8]) {
        to.push(field << 3 | 2);
        varint(to, content.len() as u64);
        to.extend(content);
    }

    fn varint(to: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            to.push(value as u8 | 0x80);
            value >>= 7;
        }
        to.push(value as u8);
    }

    fn frame(series: &[(&str, u8, Vec<u8>)]) -> Vec<u8> {
        let mut message = Vec::new();
        for (name, kind, data) in series {
            let (mut label, mut piece, mut one) = (Vec::new(), Vec::new(), Vec::new());
            put(&mut label, 1, b"__name__");
            put(&mut label, 2, name.as_bytes());
            put(&mut one, 1, &label);
            piece.extend([0x18, *kind]);
            put(&mut piece, 4, data);
            put(&mut one, 2, &piece);
            put(&mut message, 1, &one);
        }
        let mut frame = Vec::new();
        varint(&mut frame, message.len() as u64);
        frame.extend(crc32c(&message).to_be_bytes());
        frame.extend(message);
        frame
    }

    fn samples(count: i64) -> Vec<(i64, f64)> {
        let value = |i: i64| match i {
            3 => f64::from_bits(STALE_NAN_BITS),
            _ => i as f64 / 3.0,
        };
        (0..count)
            .map(|i| (START_MS + i * 1_000, value(i)))
            .collect()
    }

    fn answer() -> Vec<u8> {
        let up = chunk(&samples(100));
        let first = frame(&[("up", 1, up.clone()), ("nh", 2, vec![0, 1, 0])]);
        [first, frame(&[("down", 1, up)])].concat()
    }

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // RFC 3720 §B.4: 32 bytes of zeros, of ones, and counting up.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        let up: Vec<u8> = (0..32).collect();
        assert_eq!(crc32c(&up), 0x46dd_794e);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn chunks_give_their_samples_and_markers() {
        let bytes = answer();
        assert!(matches!(sniffed(&RemoteRead, &bytes), Sniff::Yes(96)));
        let (batch, warnings) = read_format(&RemoteRead, &bytes, None).unwrap();
        let names: Vec<_> = batch.series.iter().map(|s| &*s.metric).collect();
        assert_eq!(names, ["up", "down"]);
        let up = &batch.series[0];
        assert_eq!(up.t.len(), 100);
        assert_eq!(up.t[1], (START_MS + 1_000) * 1_000_000);
        assert!(is_stale_marker(up.v[3]));
        assert_eq!(up.v[10].to_bits(), (10.0_f64 / 3.0).to_bits());
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].lossy && warnings[0].code == "native_histograms");
        assert_eq!(glance(&bytes).histograms, ["nh"]);
    }

    #[test]
    fn what_was_not_asked_for_is_left_out_of_a_chunk() {
        let body = format!(
            "start={}.869&end={}.869",
            START_MS / 1_000 + 10,
            START_MS / 1_000 + 19
        );
        let request = RequestHint {
            path: "/api/v1/read".to_owned(),
            body: Some(serde_json::Value::String(body)),
            is_pulled: true,
            ..RequestHint::default()
        };
        let (batch, warnings) = read_format(&RemoteRead, answer(), Some(&request)).unwrap();
        assert_eq!(batch.series[0].t.len(), 10);
        assert_eq!(batch.series[0].t[0], (START_MS + 10_000) * 1_000_000);
        assert!(!warnings[0].lossy, "a pull asks for the rest by itself");
    }

    #[test]
    fn late_samples_take_their_place() {
        let all = samples(20);
        let (late, rest): (Vec<_>, Vec<_>) = all.iter().partition(|(t, _)| t % 3 == 0);
        let mut twice = frame(&[("up", 1, chunk(&rest))]);
        // Two chunks of one series: the frame is made by hand, since the helper writes one.
        let mut one = Vec::new();
        let mut label = Vec::new();
        put(&mut label, 1, b"__name__");
        put(&mut label, 2, b"late");
        put(&mut one, 1, &label);
        for part in [&rest, &late] {
            let mut piece = vec![0x18, 1];
            put(&mut piece, 4, &chunk(part));
            put(&mut one, 2, &piece);
        }
        let mut message = Vec::new();
        put(&mut message, 1, &one);
        varint(&mut twice, message.len() as u64);
        twice.extend(crc32c(&message).to_be_bytes());
        twice.extend(message);
        let (batch, _) = read_format(&RemoteRead, &twice, None).unwrap();
        assert_eq!(batch.series[1].t.len(), 20);
        assert!(batch.series[1].t.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_frame_that_is_damaged_or_cut_ends_it_with_a_word() {
        let whole = answer();
        let first = frame(&[("up", 1, chunk(&samples(100))), ("nh", 2, vec![0, 1, 0])]);
        for keep in first.len() + 1..whole.len() {
            let (batch, warnings) = read_format(&RemoteRead, &whole[..keep], None).unwrap();
            assert_eq!(batch.series.len(), 1, "{keep}");
            assert!(warnings[0].lossy && warnings[0].code == "truncated");
        }
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        let (batch, warnings) = read_format(&RemoteRead, &flipped, None).unwrap();
        assert_eq!(
            (batch.series.len(), warnings[0].code.as_str()),
            (1, "truncated")
        );
        flipped[20] ^= 1;
        assert!(read_format(&RemoteRead, &flipped, None).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..400),
            at in 0..400_usize,
            byte in any::<u8>(),
        ) {
            drop(read_format(&RemoteRead, &bytes, None));
            drop(glance(&bytes));
            // Also with a sum that is right, so that the message is looked at.
            let mut framed = Vec::new();
            varint(&mut framed, bytes.len() as u64);
            framed.extend(crc32c(&bytes).to_be_bytes());
            framed.extend(&bytes);
            drop(glance(&framed));
            let mut changed = answer();
            if let Some(old) = changed.get_mut(at) {
                *old = byte;
            }
            drop(read_format(&RemoteRead, &changed, None));
        }
    }
}
