//! A small JSON reader that walks a text once, in place.
//!
//! Trace documents come by the ten thousand, with fields of wrong types and open-ended attributes. A walk over the
//! text costs one field when one field is wrong, keeps attributes as the slices that they are, has no recursion of its
//! own (so depth cannot end it), and says the byte where a text stops being JSON. `NaN` and `Infinity`, which Python
//! writes, are taken as values.

use std::borrow::Cow;

use super::escape::{escape, unescape};

/// Where and why a text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault {
    /// Byte in the text.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// What kind of value comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    String,
    Number,
    Bool,
    Null,
}

/// A walk over a text.
#[derive(Debug, Clone)]
pub(super) struct Json<'a> {
    text: &'a str,
    at: usize,
    /// Open brackets of the value being skipped: `true` for an object.
    open: Vec<bool>,
}

impl<'a> Json<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
        }
    }

    /// Where it stands.
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    /// Goes back (or on) to a place that [`Json::at`] gave.
    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Passes blanks; says whether anything follows.
    pub(super) fn has_more(&mut self) -> bool {
        self.blank();
        self.at < self.text.len()
    }

    fn blank(&mut self) {
        while self
            .byte()
            .is_some_and(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
        {
            self.at += 1;
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault {
            at: self.at,
            expected,
        })
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.byte() == Some(byte) {
            self.at += 1;
            Ok(())
        } else {
            self.fault(expected)
        }
    }

    /// The kind of the next value.
    pub(super) fn kind(&mut self) -> Result<Kind, Fault> {
        self.blank();
        match self.byte() {
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'"') => Ok(Kind::String),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'n') => Ok(Kind::Null),
            Some(b'-' | b'0'..=b'9' | b'N' | b'I') => Ok(Kind::Number),
            _ => self.fault("a JSON value"),
        }
    }

    /// Enters an object; [`Json::key`] walks it.
    pub(super) fn open_object(&mut self) -> Result<(), Fault> {
        self.blank();
        self.take(b'{', "an object")
    }

    /// The next key of the object, `None` at its end. `is_first` starts as `true` for each object.
    pub(super) fn key(&mut self, is_first: &mut bool) -> Result<Option<Cow<'a, str>>, Fault> {
        self.blank();
        match self.byte() {
            Some(b'}') => {
                self.at += 1;
                return Ok(None);
            }
            Some(b',') if !*is_first => {
                self.at += 1;
                self.blank();
            }
            _ if *is_first => {}
            _ => return self.fault("a comma or the end of the object"),
        }
        *is_first = false;
        let key = self.string()?;
        self.blank();
        self.take(b':', "a colon after the key")?;
        Ok(Some(key))
    }

    /// Enters an array; [`Json::element`] walks it.
    pub(super) fn open_array(&mut self) -> Result<(), Fault> {
        self.blank();
        self.take(b'[', "an array")
    }

    /// Whether another element follows. `is_first` starts as `true` for each array.
    pub(super) fn element(&mut self, is_first: &mut bool) -> Result<bool, Fault> {
        self.blank();
        match self.byte() {
            Some(b']') => {
                self.at += 1;
                return Ok(false);
            }
            Some(b',') if !*is_first => self.at += 1,
            _ if *is_first => {}
            _ => return self.fault("a comma or the end of the array"),
        }
        *is_first = false;
        Ok(true)
    }

    /// A string, its escapes resolved.
    pub(super) fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        let (raw, has_escape) = self.quoted()?;
        Ok(if has_escape {
            let mut out = String::with_capacity(raw.len());
            unescape(raw, &mut out);
            Cow::Owned(out)
        } else {
            Cow::Borrowed(raw)
        })
    }

    /// A string as it stands between its quotes, escapes unresolved.
    pub(super) fn raw_string(&mut self) -> Result<&'a str, Fault> {
        self.quoted().map(|(raw, _)| raw)
    }

    /// A string as it stands, and whether it holds an escape.
    fn quoted(&mut self) -> Result<(&'a str, bool), Fault> {
        self.blank();
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

    /// Appends a string to `out`, its escapes resolved: one pass over what may be a whole document.
    pub(super) fn string_into(&mut self, out: &mut String) -> Result<(), Fault> {
        self.blank();
        self.take(b'"', "a string")?;
        let text = self.text;
        let mut from = self.at;
        loop {
            let rest = text.as_bytes().get(self.at..).unwrap_or_default();
            let Some(step) = special(rest) else {
                self.at = text.len();
                return self.fault("the end of a string");
            };
            self.at += step;
            out.push_str(text.get(from..self.at).unwrap_or_default());
            if self.byte() == Some(b'"') {
                self.at += 1;
                return Ok(());
            }
            (from, self.at) = escape(text, self.at, out);
        }
    }

    /// A string, or `None` for a value of another kind, which is passed over.
    pub(super) fn text(&mut self) -> Result<Option<Cow<'a, str>>, Fault> {
        if self.kind()? == Kind::String {
            self.string().map(Some)
        } else {
            self.skip().map(|_| None)
        }
    }

    /// The digits of a number or of a string that holds one, or `None` for another value, which is passed over.
    pub(super) fn digits(&mut self) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.kind()? {
            Kind::Number => self.skip().map(|raw| Some(Cow::Borrowed(raw))),
            Kind::String => self.string().map(Some),
            _ => self.skip().map(|_| None),
        }
    }

    /// A number (also as a string), or `None` for another value, which is passed over.
    pub(super) fn number(&mut self) -> Result<Option<f64>, Fault> {
        Ok(self
            .digits()?
            .and_then(|d| d.trim().parse::<f64>().ok())
            .filter(|v| v.is_finite()))
    }

    /// A truth value (also as the strings `true` and `false`), or `None` for another value, which is passed over.
    pub(super) fn truth(&mut self) -> Result<Option<bool>, Fault> {
        let raw = self.skip()?;
        Ok(match raw.trim_matches('"') {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        })
    }

    /// Passes over a value of any kind and depth, checking that it is JSON, and gives its text.
    pub(super) fn skip(&mut self) -> Result<&'a str, Fault> {
        self.blank();
        let from = self.at;
        self.open.clear();
        loop {
            let is_open = match self.kind()? {
                Kind::Object => self.open_bracket(true)?,
                Kind::Array => self.open_bracket(false)?,
                Kind::String => self.raw_string().map(|_| false)?,
                Kind::Number => self.skip_number().map(|()| false)?,
                Kind::Bool | Kind::Null => self.skip_word().map(|()| false)?,
            };
            if is_open {
                continue;
            }
            if !self.close_brackets()? {
                return Ok(self.text.get(from..self.at).unwrap_or_default());
            }
        }
    }

    /// Enters an object or array; `false` when it was empty and is passed already.
    fn open_bracket(&mut self, is_object: bool) -> Result<bool, Fault> {
        self.at += 1;
        self.blank();
        if self.byte() == Some(if is_object { b'}' } else { b']' }) {
            self.at += 1;
            return Ok(false);
        }
        self.open.push(is_object);
        if is_object {
            self.skip_key()?;
        }
        Ok(true)
    }

    /// After a value: closes what ends here; `true` when another value follows, `false` when the outermost is done.
    fn close_brackets(&mut self) -> Result<bool, Fault> {
        while let Some(&is_object) = self.open.last() {
            self.blank();
            match self.byte() {
                Some(b',') => {
                    self.at += 1;
                    if is_object {
                        self.skip_key()?;
                    }
                    return Ok(true);
                }
                Some(b'}') if is_object => self.at += 1,
                Some(b']') if !is_object => self.at += 1,
                _ if is_object => return self.fault("a comma or the end of the object"),
                _ => return self.fault("a comma or the end of the array"),
            }
            self.open.pop();
        }
        Ok(false)
    }

    fn skip_key(&mut self) -> Result<(), Fault> {
        self.raw_string()?;
        self.blank();
        self.take(b':', "a colon after the key")
    }

    fn skip_number(&mut self) -> Result<(), Fault> {
        let from = self.at;
        while self
            .byte()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        let token = self.text.get(from..self.at).unwrap_or_default();
        if is_number(token) || is_not_finite(token) {
            Ok(())
        } else {
            self.at = from;
            self.fault("a number")
        }
    }

    fn skip_word(&mut self) -> Result<(), Fault> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        for word in ["true", "false", "null"] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(());
            }
        }
        self.fault("true, false or null")
    }
}

/// The place of the first quote or backslash. Most strings are short: eight bytes at a time beat a vector search, which pays off for
/// documents in a string.
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const TOPS: u64 = u64::from_le_bytes([0x80; 8]);
    // The lowest set top bit stands at the first byte of `word` that is zero.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let (eights, rest) = bytes.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        let hit = zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c));
        if hit != 0 {
            return Some(at * 8 + (hit.trailing_zeros() / 8) as usize);
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

/// What Python and JavaScript write for numbers that JSON has no words for.
pub(super) fn is_not_finite(token: &str) -> bool {
    matches!(token, "NaN" | "Infinity" | "-Infinity")
}

/// The number grammar of RFC 8259 §6.
fn is_number(token: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let body = token.strip_prefix('-').unwrap_or(token);
    let (mantissa, exponent) = body
        .split_once(['e', 'E'])
        .map_or((body, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa
        .split_once('.')
        .map_or((mantissa, None), |(w, f)| (w, Some(f)));
    digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn walks_an_object() {
        let mut json = Json::new(r#" {"a": 1, "b" : "x\n", "c": [true, {"d": null}]} "#);
        json.open_object().unwrap();
        let mut first = true;
        assert_eq!(json.key(&mut first).unwrap().unwrap(), "a");
        assert_eq!(json.number().unwrap(), Some(1.0));
        assert_eq!(json.key(&mut first).unwrap().unwrap(), "b");
        assert_eq!(json.text().unwrap().unwrap(), "x\n");
        assert_eq!(json.key(&mut first).unwrap().unwrap(), "c");
        assert_eq!(json.skip().unwrap(), r#"[true, {"d": null}]"#);
        assert_eq!(json.key(&mut first).unwrap(), None);
        assert!(!json.has_more());
    }

    #[test]
    fn names_the_byte_where_it_stops_being_json() {
        let fault = Json::new(r#"{"a":[1,2}"#).skip().unwrap_err();
        assert_eq!(
            (fault.at, fault.expected),
            (9, "a comma or the end of the array")
        );
        assert_eq!(
            Json::new(r#"{"a":"b"#).skip().unwrap_err().expected,
            "the end of a string"
        );
        for bad in [
            "01",
            "1.",
            "-",
            "1e",
            "+1",
            "tru",
            "{,}",
            "[1 2]",
            r#"{"a" 1}"#,
            "",
        ] {
            assert!(Json::new(bad).skip().is_err(), "{bad}");
        }
    }

    #[test]
    fn depth_does_not_end_it() {
        let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(Json::new(&deep).skip().unwrap().len(), 2_000_000);
    }

    proptest! {
        #[test]
        fn a_string_reads_as_it_was_written(text in any::<String>()) {
            let written = serde_json::to_string(&text).unwrap();
            let mut out = String::new();
            Json::new(&written).string_into(&mut out).unwrap();
            prop_assert_eq!(&out, &text);
            prop_assert_eq!(Json::new(&written).string().unwrap(), text);
        }

        #[test]
        fn both_ways_of_reading_a_string_agree(raw in "[a\\\\\"u0d8/nbé]{0,24}") {
            let quoted = format!("\"{raw}\"");
            let mut out = String::new();
            let one = Json::new(&quoted).string_into(&mut out);
            let two = Json::new(&quoted).string();
            prop_assert_eq!(one.is_ok(), two.is_ok());
            if let Ok(text) = two {
                prop_assert_eq!(out, text);
            }
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
        fn agrees_with_another_reader(text in "[\\[\\]{}\",:0-9eE.+ a\\\\untrfls-]{0,40}") {
            let mut json = Json::new(&text);
            let ours = json.skip().is_ok() && !json.has_more();
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert!(ours, "{text}");
            }
        }
    }
}
