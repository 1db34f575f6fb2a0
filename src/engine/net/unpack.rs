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
    let limit = limit.min(
        (body.len() as u64)
            .saturating_mul(MOST_RATIO)
            .max(RATIO_FROM),
    );
    let reader: Box<dyn std::io::Read + '_> = match encoding.map(str::trim) {
        // A remote-read answer is a snappy block in any case; its format unpacks it.
        None | Some("" | "identity" | "snappy") => {
            return if body.len() as u64 > limit {
                Err(Fault::TooLarge)
            } else {
                Ok(body.to_vec())
            };
        }
        Some("gzip" | "x-gzip") => Box::new(flate2::read::MultiGzDecoder::new(body)),
        Some("zstd") => match zstd::stream::read::Decoder::with_buffer(body) {
            Ok(decoder) => Box::new(decoder),
            Err(error) => return Err(Fault::Damaged(Vec::new(), error.to_string())),
        },
        Some(other) => return Err(Fault::Unknown(other.to_owned())),
    };
    let mut out = Vec::with_capacity(body.len().saturating_mul(4));
    match reader.take(limit + 1).read_to_end(&mut out) {
        Ok(_) if out.len() as u64 > limit => Err(Fault::TooLarge),
        Ok(_) => Ok(out),
        Err(error) => Err(Fault::Damaged(out, error.to_string())),
    }
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
