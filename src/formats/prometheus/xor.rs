//! XOR chunks, as Prometheus stores and streams float samples.
//!
//! Form (`tsdb/chunkenc/xor.go` and `docs/format/chunks.md` of Prometheus): two bytes with the number of samples, then bits.
//! First sample: time as a zigzag varint, value in 64 bits. Second: time since the first as a varint. Later ones: the change of that
//! distance, in 0, 14, 17, 20 or 64 bits by a prefix. Of a value, its bits that differ from the one
//! before are written (their XOR), without the zeros at both ends. Nothing is rounded: a staleness marker keeps its bits.

/// Hands each whole sample (milliseconds since the epoch, value) of a chunk to `seen`, in order. Whether all that the chunk
/// promises were there.
pub(super) fn samples(chunk: &[u8], mut seen: impl FnMut(i64, f64)) -> bool {
    let Some((head, rest)) = chunk.split_first_chunk::<2>() else {
        return false;
    };
    let mut state = State {
        bits: Bits { bytes: rest, at: 0 },
        t: 0,
        distance: 0,
        value: 0,
        leading: 0,
        trailing: 0,
    };
    for number in 0..u16::from_be_bytes(*head) {
        if state.next(number).is_none() {
            return false;
        }
        seen(state.t, f64::from_bits(state.value));
    }
    true
}

struct State<'a> {
    bits: Bits<'a>,
    t: i64,
    distance: i64,
    value: u64,
    leading: u8,
    trailing: u8,
}

impl State<'_> {
    fn next(&mut self, number: u16) -> Option<()> {
        match number {
            0 => {
                let zigzag = self.bits.varint()?;
                self.t = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
                self.value = self.bits.take(64)?;
                return Some(());
            }
            1 => self.distance = self.bits.varint()?.cast_signed(),
            _ => {
                let change = self.change()?;
                self.distance = self.distance.wrapping_add(change);
            }
        }
        self.t = self.t.wrapping_add(self.distance);
        self.change_value()
    }

    /// The change of the distance between two samples.
    fn change(&mut self) -> Option<i64> {
        let mut ones = 0;
        while ones < 4 && self.bits.take(1)? == 1 {
            ones += 1;
        }
        let width = match ones {
            0 => return Some(0),
            1 => 14,
            2 => 17,
            3 => 20,
            _ => return self.bits.take(64).map(u64::cast_signed),
        };
        let bits = self.bits.take(width)?.cast_signed();
        // The range is -(2^(width-1) - 1) to 2^(width-1): what is above is negative.
        let half = 1_i64 << (width - 1);
        Some(if bits > half { bits - 2 * half } else { bits })
    }

    fn change_value(&mut self) -> Option<()> {
        if self.bits.take(1)? == 0 {
            return Some(());
        }
        if self.bits.take(1)? == 1 {
            self.leading = u8::try_from(self.bits.take(5)?).ok()?;
            // 64 significant bits do not fit into 6 and are written as 0.
            let significant = match u8::try_from(self.bits.take(6)?).ok()? {
                0 => 64,
                n => n,
            };
            self.trailing = 64_u8.checked_sub(self.leading)?.checked_sub(significant)?;
        }
        let significant = 64 - self.leading - self.trailing;
        self.value ^= self.bits.take(significant)? << self.trailing;
        Some(())
    }
}

/// Bits, the highest of each byte first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// The next 1 to 64.
    fn take(&mut self, count: u8) -> Option<u64> {
        let (byte, skip) = (self.at / 8, self.at % 8);
        let rest = self.bytes.get(byte..)?;
        if self.at + usize::from(count) > self.bytes.len() * 8 {
            return None;
        }
        self.at += usize::from(count);
        // Up to nine bytes hold them.
        let mut window = [0; 16];
        for (to, from) in window.iter_mut().zip(rest) {
            *to = *from;
        }
        let all = u128::from_be_bytes(window) << skip;
        u64::try_from(all >> (128 - u32::from(count))).ok()
    }

    /// A number of seven bits a byte, the lowest first (Go's `binary.ReadUvarint`).
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(8)?;
            value |= (byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Writes a chunk, by the form alone.
    pub(in crate::formats::prometheus) fn chunk(samples: &[(i64, f64)]) -> Vec<u8> {
        let mut out = Writer::default();
        let (mut t0, mut distance, mut v0) = (0_i64, 0_i64, 0_u64);
        let mut kept: Option<(u32, u32)> = None;
        for (number, (t, v)) in samples.iter().enumerate() {
            let v = v.to_bits();
            match number {
                0 => {
                    out.varint(((t << 1) ^ (t >> 63)).cast_unsigned());
                    out.put(v, 64);
                }
                1 => out.varint(t.wrapping_sub(t0).cast_unsigned()),
                _ => out.change(t.wrapping_sub(t0).wrapping_sub(distance)),
            }
            if number > 0 {
                distance = t.wrapping_sub(t0);
                out.value(v ^ v0, &mut kept);
            }
            (t0, v0) = (*t, v);
        }
        let mut chunk = (samples.len() as u16).to_be_bytes().to_vec();
        chunk.extend(out.bytes);
        chunk
    }

    #[derive(Default)]
    struct Writer {
        bytes: Vec<u8>,
        used: usize,
    }

    impl Writer {
        fn put(&mut self, value: u64, count: u32) {
            for bit in (0..count).rev() {
                if self.used.is_multiple_of(8) {
                    self.bytes.push(0);
                }
                let last = self.bytes.last_mut().unwrap();
                *last |= ((value >> bit & 1) as u8) << (7 - self.used % 8);
                self.used += 1;
            }
        }

        fn varint(&mut self, mut value: u64) {
            while value >= 0x80 {
                self.put(value & 0x7f | 0x80, 8);
                value >>= 7;
            }
            self.put(value, 8);
        }

        fn change(&mut self, change: i64) {
            let fits = |n: u32| {
                let half = 1_i64 << (n - 1);
                -(half - 1) <= change && change <= half
            };
            let (prefix, len, width) = match change {
                0 => (0, 1, 0),
                _ if fits(14) => (0b10, 2, 14),
                _ if fits(17) => (0b110, 3, 17),
                _ if fits(20) => (0b1110, 4, 20),
                _ => (0b1111, 4, 64),
            };
            self.put(prefix, len);
            self.put(change.cast_unsigned(), width);
        }

        fn value(&mut self, xor: u64, kept: &mut Option<(u32, u32)>) {
            if xor == 0 {
                return self.put(0, 1);
            }
            self.put(1, 1);
            let (leading, trailing) = (xor.leading_zeros().min(31), xor.trailing_zeros());
            match *kept {
                Some((l, t)) if leading >= l && trailing >= t => {
                    self.put(0, 1);
                    self.put(xor >> t, 64 - l - t);
                }
                _ => {
                    *kept = Some((leading, trailing));
                    let significant = 64 - leading - trailing;
                    self.put(1, 1);
                    self.put(u64::from(leading), 5);
                    self.put(u64::from(significant & 63), 6);
                    self.put(xor >> trailing, significant);
                }
            }
        }
    }

    fn read(chunk: &[u8]) -> (Vec<(i64, u64)>, bool) {
        let mut all = Vec::new();
        let is_whole = samples(chunk, |t, v| all.push((t, v.to_bits())));
        (all, is_whole)
    }

    proptest! {
        #[test]
        fn every_sample_comes_back_bit_by_bit(
            start in any::<i32>(),
            steps in prop::collection::vec((prop_oneof![Just(15_000_i64), 0..40_000_i64, any::<i32>().prop_map(i64::from)], any::<u64>()), 0..200),
        ) {
            let mut t = i64::from(start);
            let samples: Vec<(i64, f64)> = steps
                .iter()
                .map(|(step, bits)| {
                    t += step;
                    (t, f64::from_bits(*bits))
                })
                .collect();
            let bits: Vec<(i64, u64)> = samples.iter().map(|(t, v)| (*t, v.to_bits())).collect();
            prop_assert_eq!(read(&chunk(&samples)), (bits, true));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let (all, _) = read(&bytes);
            prop_assert!(all.len() <= bytes.len() * 8);
        }
    }

    #[test]
    fn a_cut_chunk_gives_what_is_whole() {
        let samples: Vec<(i64, f64)> = (0..100).map(|i| (i * 15_000, (i as f64).sin())).collect();
        let whole = chunk(&samples);
        for keep in 0..whole.len() {
            let (all, is_whole) = read(&whole[..keep]);
            assert!(!is_whole && all.len() < 100);
            let wanted = samples.iter().map(|(t, v)| (*t, v.to_bits()));
            assert!(all.iter().copied().eq(wanted.take(all.len())));
        }
    }
}
