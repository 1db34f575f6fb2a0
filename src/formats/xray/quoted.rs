//! Strings of a JSON text, and texts that stand in strings of another.

use std::borrow::Cow;

use super::escape::{escape, unescape};
use super::json::{Fault, Json};

impl<'a> Json<'a> {
    /// A string, its escapes resolved.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        let (raw, has_escape) = self.quoted()?;
        if !has_escape {
            return Ok(Cow::Borrowed(raw));
        }
        let mut out = String::with_capacity(raw.len());
        unescape(raw, &mut out);
        if self.is_within {
            let once = std::mem::take(&mut out);
            unescape(&once, &mut out);
        }
        Ok(Cow::Owned(out))
    }

    /// A string as it stands between its quotes, escapes unresolved.
    pub(super) fn raw_string(&mut self) -> Result<&'a str, Fault> {
        self.quoted().map(|(raw, _)| raw)
    }

    /// A string as it stands, and whether it holds an escape.
    fn quoted(&mut self) -> Result<(&'a str, bool), Fault> {
        self.blank();
        if self.is_within {
            return self.quoted_within();
        }
        self.take(b'"', "a string")?;
        let from = self.at;
        let bytes = self.text.as_bytes();
        let mut has_escape = false;
        loop {
            let rest = bytes.get(self.at..).unwrap_or_default();
            let Some(step) = special(rest) else {
                self.at = self.text.len();
                return self.fault("the end of a string");
            };
            self.at += step;
            if self.byte() == Some(b'"') {
                let raw = self.text.get(from..self.at).unwrap_or_default();
                self.at += 1;
                return Ok((raw, has_escape));
            }
            has_escape = true;
            self.at += 2;
        }
    }

    /// A string, its escapes resolved, in a buffer that is used again: one pass over what may be a whole document. Such a one
    /// has an escape every few bytes, so eight bytes are copied at a time, and the next lie over what was too much.
    pub(super) fn string_in<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Cow<'b, str>, Fault> {
        self.blank();
        self.take(b'"', "a string")?;
        let bytes = self.text.as_bytes();
        let mut length = 0;
        loop {
            if buffer.len() < length + 16 {
                buffer.resize((length + 16).max(buffer.len() * 2), 0);
            }
            let rest = bytes.get(self.at..).unwrap_or_default();
            let room = buffer.get_mut(length..).unwrap_or_default();
            let step = if let Some((eight, to)) =
                rest.first_chunk::<8>().zip(room.first_chunk_mut::<8>())
            {
                *to = *eight;
                special_of(*eight)
            } else {
                // The last few bytes of the text.
                let Some(step) = rest.iter().position(|b| matches!(b, b'"' | b'\\')) else {
                    self.at = self.text.len();
                    return self.fault("the end of a string");
                };
                for (to, from) in room.iter_mut().zip(rest) {
                    *to = *from;
                }
                Some(step)
            };
            length += step.unwrap_or(8);
            self.at += step.unwrap_or(8);
            if step.is_none() {
                continue;
            }
            match (self.byte(), bytes.get(self.at + 1)) {
                (Some(b'"'), _) => break,
                (_, Some(escaped @ (b'"' | b'\\' | b'/'))) => {
                    if let Some(to) = buffer.get_mut(length) {
                        *to = *escaped;
                    }
                    length += 1;
                    self.at += 2;
                }
                _ => length = self.odd_escape(buffer, length),
            }
        }
        self.at += 1;
        // It was cut at quotes and backslashes only, so its characters are whole.
        let bytes = buffer.get(..length).unwrap_or_default();
        Ok(std::str::from_utf8(bytes)
            .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed))
    }

    /// Resolves an escape that stands for something other than its second byte; gives the length of what stands in the buffer.
    #[cold]
    fn odd_escape(&mut self, buffer: &mut Vec<u8>, length: usize) -> usize {
        let mut decoded = String::new();
        let (from, next) = escape(self.text, self.at, &mut decoded);
        buffer.truncate(length);
        buffer.extend_from_slice(decoded.as_bytes());
        buffer.extend_from_slice(self.text.as_bytes().get(from..next).unwrap_or_default());
        self.at = next;
        buffer.len()
    }

    /// Enters a string that holds a JSON text: its own walk, from behind the quote on. Where that text is written in an unusual
    /// way (an escape between its values, an escape of a character other than quote and backslash), the walk ends with a fault,
    /// and [`Json::string_in`] tells the text whole.
    pub(super) fn within(&self) -> Self {
        let mut within = Self::new(self.text);
        within.at = self.at + 1;
        within.is_within = true;
        within
    }

    /// Passes over the string that `within` walked in.
    pub(super) fn leave(&mut self, within: &Self) -> Result<(), Fault> {
        if within.byte() == Some(b'"') {
            self.at = within.at + 1;
            return Ok(());
        }
        // More follows than one value.
        self.pass()
    }

    /// As [`Json::quoted`], in a string of another text: quotes are `\"`, and what the inner text escapes has two or more
    /// backslashes.
    fn quoted_within(&mut self) -> Result<(&'a str, bool), Fault> {
        let bytes = self.text.as_bytes();
        let quote = |at: usize| bytes.get(at..at + 2) == Some(br#"\""#);
        if !quote(self.at) {
            return self.fault("a string");
        }
        self.at += 2;
        let from = self.at;
        let mut has_escape = false;
        loop {
            let Some(step) = special(bytes.get(self.at..).unwrap_or_default()) else {
                return self.fault("the end of a string");
            };
            self.at += step;
            if quote(self.at) {
                let raw = self.text.get(from..self.at).unwrap_or_default();
                self.at += 2;
                return Ok((raw, has_escape));
            }
            // `\\n` is an escape of the inner text; of `\\\"` and `\\\\` its second half is escaped, too.
            let escape = bytes.get(self.at..self.at + 4).unwrap_or_default();
            self.at += match escape {
                [b'\\', b'\\', b'\\', b'"' | b'\\'] => 4,
                [b'\\', b'\\', other, _] if !matches!(other, b'\\' | b'"') => 3,
                _ => return self.fault("a character that is not escaped"),
            };
            has_escape = true;
        }
    }
}

/// The place of the first quote or backslash among eight bytes.
fn special_of(eight: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    // The lowest set top bit stands at the first byte of `word` that is zero.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let word = u64::from_le_bytes(eight);
    let hit = zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c));
    (hit != 0).then(|| (hit.trailing_zeros() / 8) as usize)
}

/// The place of the first quote or backslash. Most strings are short: eight bytes at a time beat a vector search, which pays off for
/// documents in a string.
fn special(bytes: &[u8]) -> Option<usize> {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        if let Some(step) = special_of(*eight) {
            return Some(at * 8 + step);
        }
        if at == 7 {
            let from = (at + 1) * 8;
            let step = memchr::memchr2(b'"', b'\\', bytes.get(from..)?)?;
            return Some(from + step);
        }
    }
    let step = rest.iter().position(|b| matches!(b, b'"' | b'\\'))?;
    Some(eights.len() * 8 + step)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_string_reads_as_it_was_written(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            // What stood in the buffer before does not matter.
            let mut buffer = vec![b'"'; text.len() / 2];
            prop_assert_eq!(Json::new(&written).string_in(&mut buffer).unwrap(), text.as_str());
            prop_assert_eq!(Json::new(&written).string().unwrap(), text);
        }

        #[test]
        fn both_ways_of_reading_a_string_agree(raw in "[a\\\\\"u0d8/nbé]{0,24}") {
            let quoted = format!("\"{raw}\"");
            let mut buffer = Vec::new();
            let (mut first, mut second) = (Json::new(&quoted), Json::new(&quoted));
            prop_assert_eq!(first.string_in(&mut buffer), second.string());
            prop_assert_eq!(first.at(), second.at());
        }
    }

    proptest! {
        #[test]
        fn quotes_and_backslashes_are_found(text in "[ab\"\\\\é]{0,8}[a-cé]{0,90}[ab\"\\\\]{0,4}") {
            let bytes = text.as_bytes();
            let plain = bytes.iter().position(|b| matches!(b, b'"' | b'\\'));
            prop_assert_eq!(special(bytes), plain);
        }

        #[test]
        fn a_text_in_a_string_walks_as_it_does_alone(
            keys in prop::collection::vec("[a-z\"\\\\é\n]{0,9}", 0..6), n in any::<i32>()
        ) {
            let inner = serde_json::json!({"k": keys, "n": n, "o": {"x": [null, true, 1.5, "\u{1}"]}}).to_string();
            let outer = format!("{} ,", serde_json::to_string(&inner).unwrap());
            let (mut alone, mut within) = (Json::new(&inner), Json::new(&outer).within());
            prop_assert_eq!(within.skip(), alone.skip());
            prop_assert_eq!(within.byte(), Some(b'"'));
            let (mut alone, mut within) = (Json::new(&inner), Json::new(&outer).within());
            alone.open_object().unwrap();
            within.open_object().unwrap();
            let (mut first, mut second) = (true, true);
            while let Some(key) = alone.key(&mut first).unwrap() {
                prop_assert_eq!(within.key(&mut second).unwrap(), Some(key.clone()));
                if key != "k" {
                    prop_assert_eq!(within.skip(), alone.skip());
                    continue;
                }
                alone.open_array().unwrap();
                within.open_array().unwrap();
                let (mut a, mut b) = (true, true);
                while alone.element(&mut a).unwrap() {
                    prop_assert!(within.element(&mut b).unwrap());
                    prop_assert_eq!(within.string(), alone.string());
                }
                prop_assert!(!within.element(&mut b).unwrap());
            }
        }

        #[test]
        fn a_walk_in_a_string_never_panics(text in "[\\[\\]{}\":, \\\\a1né]{0,40}") {
            let outer = format!("\"{text}");
            let mut within = Json::new(&outer).within();
            while within.pass().is_ok() {}
        }
    }
}
