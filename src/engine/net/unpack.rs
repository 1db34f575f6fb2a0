//! Bodies, unpacked within limits.

use std::io::Read as _;

/// Unpacked bytes for each packed one; deflate reaches 1,032 at most, metrics 10 to 30.
const MOST_RATIO: u64 = 200;
/// Below so many bytes the ratio does not matter.
const RATIO_FROM: u64 = 64 << 20;

/// Why a body cannot be unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum Fault {
    /// More than the limit, or a decompression bomb.
    TooLarge,
    /// Damaged; what came before the damage.
    Damaged(Vec<u8>, String),
    /// Packed in a way that nobody asked for.
    Unknown(String),
}

/// Unpacks `body` by its `content-encoding`.
pub(in crate::engine) fn unpack(
    encoding: Option<&str>,
    body: &[u8],
    limit: u64,
) -> Result<Vec<u8>, Fault> {
    let limit = most(body, limit);
    let Some(reader) = reader(encoding, body)? else {
        return if body.len() as u64 > limit {
            Err(Fault::TooLarge)
        } else {
            Ok(body.to_vec())
        };
    };
    let mut out = Vec::with_capacity(body.len().saturating_mul(4));
    match reader.take(limit + 1).read_to_end(&mut out) {
        Ok(_) if out.len() as u64 > limit => Err(Fault::TooLarge),
        Ok(_) => Ok(out),
        Err(error) => Err(Fault::Damaged(out, error.to_string())),
    }
}

/// Unpacks all of it and gives the first and the last `end` bytes, or everything when it is no longer than both: what is
/// not needed is not held, and damage in the middle is still seen.
pub(in crate::engine) fn skim(
    encoding: Option<&str>,
    body: &[u8],
    limit: u64,
    end: usize,
) -> Result<Vec<u8>, Fault> {
    let limit = most(body, limit);
    let Some(reader) = reader(encoding, body)? else {
        if body.len() as u64 > limit {
            return Err(Fault::TooLarge);
        }
        let mut ends = Ends::new(end);
        ends.push(body);
        return Ok(ends.bytes);
    };
    let mut reader = reader.take(limit + 1);
    let mut ends = Ends::new(end);
    let mut buffer = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) if total > limit => return Err(Fault::TooLarge),
            Ok(0) => return Ok(ends.bytes),
            Ok(n) => {
                total += n as u64;
                ends.push(buffer.get(..n).unwrap_or(&buffer));
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Fault::Damaged(ends.bytes, error.to_string())),
        }
    }
}

/// The first and the last so many bytes of what goes by.
struct Ends {
    end: usize,
    bytes: Vec<u8>,
}

impl Ends {
    fn new(end: usize) -> Self {
        Self {
            end,
            bytes: Vec::new(),
        }
    }

    fn push(&mut self, part: &[u8]) {
        // What is left of the part once the beginning is full can only be in the end by its own last bytes.
        let room = self.end.saturating_sub(self.bytes.len()).min(part.len());
        let (first, rest) = part.split_at_checked(room).unwrap_or((part, &[]));
        self.bytes.extend_from_slice(first);
        let last = rest
            .get(rest.len().saturating_sub(self.end)..)
            .unwrap_or(rest);
        let over = (self.bytes.len() + last.len()).saturating_sub(2 * self.end);
        if over > 0 {
            let end = self.end;
            self.bytes
                .drain(end..end + over.min(self.bytes.len() - end));
        }
        self.bytes.extend_from_slice(last);
    }
}

fn most(body: &[u8], limit: u64) -> u64 {
    limit.min(
        (body.len() as u64)
            .saturating_mul(MOST_RATIO)
            .max(RATIO_FROM),
    )
}

/// `None` for what is not packed.
fn reader<'a>(
    encoding: Option<&str>,
    body: &'a [u8],
) -> Result<Option<Box<dyn std::io::Read + 'a>>, Fault> {
    Ok(Some(match encoding.map(str::trim) {
        // A remote-read answer is a snappy block in any case; its format unpacks it.
        None | Some("" | "identity" | "snappy") => return Ok(None),
        Some("gzip" | "x-gzip") => Box::new(flate2::read::MultiGzDecoder::new(body)),
        Some("zstd") => match zstd::stream::read::Decoder::with_buffer(body) {
            Ok(decoder) => Box::new(decoder),
            Err(error) => return Err(Fault::Damaged(Vec::new(), error.to_string())),
        },
        Some(other) => return Err(Fault::Unknown(other.to_owned())),
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn every_member_of_a_gzip_is_read_and_a_bomb_is_not() {
        let mut two = gzip(b"one ");
        two.extend(gzip(b"two"));
        assert_eq!(unpack(Some("gzip"), &two, 100).unwrap(), b"one two");
        assert_eq!(unpack(Some("gzip"), &two, 6), Err(Fault::TooLarge));
        let bomb = gzip(&vec![0; 80 << 20]);
        assert_eq!(unpack(Some("gzip"), &bomb, 1 << 30), Err(Fault::TooLarge));
    }

    #[test]
    fn skimming_gives_both_ends_and_sees_what_unpacking_sees() {
        let long: Vec<u8> = (0..400_000_u32).flat_map(u32::to_be_bytes).collect();
        for len in [0, 1, 9, 10, 11, 19, 20, 21, 70_000, long.len()] {
            let body = &long[..len];
            let wanted = if len <= 20 {
                body.to_vec()
            } else {
                [&body[..10], &body[len - 10..]].concat()
            };
            let packed = gzip(body);
            assert_eq!(skim(None, body, 1 << 30, 10).unwrap(), wanted, "{len}");
            assert_eq!(
                skim(Some("gzip"), &packed, 1 << 30, 10).unwrap(),
                wanted,
                "{len}"
            );
        }
        let packed = gzip(&long);
        assert_eq!(skim(Some("gzip"), &packed, 1000, 10), Err(Fault::TooLarge));
        assert_eq!(skim(None, &long, 1000, 10), Err(Fault::TooLarge));
        let Err(Fault::Damaged(before, _)) = skim(Some("gzip"), &packed[..9_000], 1 << 30, 10)
        else {
            panic!();
        };
        assert_eq!(before[..10], long[..10]);
    }

    #[test]
    fn damage_keeps_what_came_before_it() {
        let mut packed = gzip(&b"0123456789".repeat(1000));
        packed.truncate(packed.len() / 2);
        let Err(Fault::Damaged(before, _)) = unpack(Some("gzip"), &packed, 1 << 20) else {
            panic!();
        };
        assert!(before.len() < 10_000);
        assert!(matches!(
            unpack(Some("gzip"), b"plain", 100),
            Err(Fault::Damaged(..))
        ));
        assert_eq!(
            unpack(Some("br"), b"x", 9),
            Err(Fault::Unknown("br".to_owned()))
        );
    }
}
