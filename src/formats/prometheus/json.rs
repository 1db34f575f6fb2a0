//! A tolerant JSON scanner that walks bytes once, needs no memory of its own, and knows where it stopped.
//!
//! It takes what Prometheus-like servers write beside JSON: bare `NaN` and `+Inf` (VictoriaMetrics 1.79). It never
//! recurses, so that hostile nesting cannot exhaust the stack.

use std::borrow::Cow;

use serde_json::Value;

/// How deep arrays and objects may nest. No answer needs more than ten levels; a `u128` remembers what each level is.
const MAX_DEPTH: u32 = 128;

/// Why a scan stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The bytes ended inside a value.
    Cut,
    /// Something else stood there.
    Bad {
        /// Where.
        at: usize,
        /// What was expected instead.
        expected: &'static str,
    },
}

/// A place in the bytes.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the first byte.
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Where it is.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Moves to a place that the fast path reached.
    pub(super) const fn jump(&mut self, at: usize) {
        self.at = at;
    }

    /// All the bytes.
    pub(super) const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether nothing is left but white space.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// The next byte that is not white space, left in place.
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !byte.is_ascii_whitespace() {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Takes `byte` if it comes next.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Takes `byte`, or says what was expected.
    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Stop> {
        match self.peek() {
            Some(next) if next == byte => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.bad(expected)),
            None => Err(Stop::Cut),
        }
    }

    /// An error at this place.
    pub(super) const fn bad(&self, expected: &'static str) -> Stop {
        Stop::Bad {
            at: self.at,
            expected,
        }
    }

    /// The bytes of a string between its quotes, escapes left as they are.
    fn raw_string(&mut self) -> Result<&'a [u8], Stop> {
        self.expect(b'"', "a string")?;
        let from = self.at;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            let Some(found) = memchr::memchr2(b'"', b'\\', rest) else {
                self.at = self.bytes.len();
                return Err(Stop::Cut);
            };
            if rest.get(found) == Some(&b'"') {
                let inside = self.bytes.get(from..self.at + found).unwrap_or(&[]);
                self.at += found + 1;
                return Ok(inside);
            }
            self.at = (self.at + found + 2).min(self.bytes.len());
        }
    }

    /// A string, its escapes resolved; bytes that are not UTF-8 become replacement characters.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        let raw = self.raw_string()?;
        if memchr::memchr(b'\\', raw).is_none() {
            return Ok(String::from_utf8_lossy(raw));
        }
        let text = String::from_utf8_lossy(raw);
        let quoted = format!("\"{text}\"");
        // An escape that JSON does not know is kept as it was written.
        Ok(serde_json::from_str::<String>(&quoted).map_or(text, Cow::Owned))
    }

    /// A number, `null`, `true`, a bare `NaN` or the like: everything up to white space or punctuation. A token that
    /// reaches the end of the bytes may have been cut, and counts as such.
    pub(super) fn token(&mut self) -> Result<&'a [u8], Stop> {
        self.peek();
        let from = self.at;
        while let Some(byte) = self.bytes.get(self.at) {
            if byte.is_ascii_whitespace()
                || matches!(byte, b',' | b']' | b'}' | b':' | b'"' | b'[' | b'{')
            {
                if self.at == from {
                    return Err(self.bad("a value"));
                }
                return Ok(self.bytes.get(from..self.at).unwrap_or(&[]));
            }
            self.at += 1;
        }
        Err(Stop::Cut)
    }

    /// A token or the inside of a string, as it is written.
    pub(super) fn scalar(&mut self) -> Result<&'a [u8], Stop> {
        if self.peek() == Some(b'"') {
            self.raw_string()
        } else {
            self.token()
        }
    }

    /// Passes over any value and gives its bytes.
    pub(super) fn skip(&mut self) -> Result<&'a [u8], Stop> {
        self.peek();
        let from = self.at;
        let mut depth = 0u32;
        // One bit a level, the innermost lowest: 1 for an object.
        let mut kinds = 0u128;
        loop {
            match self.peek().ok_or(Stop::Cut)? {
                open @ (b'{' | b'[') => {
                    if depth == MAX_DEPTH {
                        return Err(self.bad("at most 128 levels of nesting"));
                    }
                    depth += 1;
                    kinds = (kinds << 1) | u128::from(open == b'{');
                    self.at += 1;
                }
                close @ (b'}' | b']') => {
                    if depth == 0 || (kinds & 1 == 1) != (close == b'}') {
                        return Err(self.bad("a value or the bracket that fits"));
                    }
                    depth -= 1;
                    kinds >>= 1;
                    self.at += 1;
                }
                b'"' => {
                    self.raw_string()?;
                }
                b',' | b':' if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    self.token()?;
                }
            }
            if depth == 0 {
                return Ok(self.bytes.get(from..self.at).unwrap_or(&[]));
            }
        }
    }

    /// Any value as a tree. For the small answers only.
    pub(super) fn value(&mut self) -> Result<Value, Stop> {
        self.peek();
        let from = self.at;
        let raw = self.skip()?;
        let text = String::from_utf8_lossy(raw);
        serde_json::from_str(&text).map_err(|_error| Stop::Bad {
            at: from,
            expected: "well-formed JSON",
        })
    }

    /// Calls `each` with every key of an object; `each` takes the value.
    pub(super) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, &str) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.expect(b'{', "`{`")?;
        loop {
            match self.peek().ok_or(Stop::Cut)? {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => self.at += 1,
                b'"' => {
                    let key = self.string()?;
                    self.expect(b':', "`:`")?;
                    each(self, &key)?;
                }
                _ => return Err(self.bad("`,`, `}` or a key")),
            }
        }
    }

    /// Calls `each` with the index of every element of an array; `each` takes the element.
    pub(super) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self, usize) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.expect(b'[', "`[`")?;
        let mut index = 0;
        loop {
            match self.peek().ok_or(Stop::Cut)? {
                b']' => {
                    self.at += 1;
                    return Ok(());
                }
                b',' => self.at += 1,
                _ => {
                    each(self, index)?;
                    index += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_every_kind_of_value() {
        for text in [
            r#"{"a":[1,{"b":"}\""}],"c":NaN}"#,
            "[+Inf, -1e9 ,null]",
            r#""\\""#,
        ] {
            let padded = format!(" {text} ,");
            let mut cursor = Cursor::new(padded.as_bytes());
            assert_eq!(cursor.skip().unwrap(), text.as_bytes());
            assert_eq!(cursor.peek(), Some(b','));
        }
    }

    #[test]
    fn tells_cut_from_wrong() {
        assert_eq!(Cursor::new(b"[1,2").skip(), Err(Stop::Cut));
        assert_eq!(Cursor::new(b"\"abc\\").skip(), Err(Stop::Cut));
        assert!(matches!(
            Cursor::new(b"[1}").skip(),
            Err(Stop::Bad { at: 2, .. })
        ));
        let deep = "[".repeat(100_000);
        assert!(matches!(
            Cursor::new(deep.as_bytes()).skip(),
            Err(Stop::Bad { at: 128, .. })
        ));
    }

    #[test]
    fn resolves_escapes() {
        let mut cursor = Cursor::new(br#""a\"b\u00e9\n" "\x""#);
        assert_eq!(cursor.string().unwrap(), "a\"b\u{e9}\n");
        assert_eq!(cursor.string().unwrap(), "\\x");
    }
}
