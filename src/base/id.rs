//! Stable ids: short hashes of content, so that the same inputs name the same things on every machine.

use sha2::{Digest as _, Sha256};

/// The first 12 hex digits of the SHA-256 of `parts`, each closed by a zero byte so that borders count.
pub fn stable_id<'a>(prefix: &str, parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    format!(
        "{prefix}-{}",
        hex(&hasher.finalize()).chars().take(12).collect::<String>()
    )
}

/// The SHA-256 of `bytes` in lower-case hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Lower-case base 16.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| [DIGITS[usize::from(b >> 4)], DIGITS[usize::from(b & 15)]])
        .map(char::from)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders_between_parts_count() {
        assert_ne!(stable_id("f", ["ab", "c"]), stable_id("f", ["a", "bc"]));
        assert_eq!(
            sha256_hex(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
