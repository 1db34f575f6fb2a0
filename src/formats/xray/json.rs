//! A small JSON reader that walks a text once, in place.
//!
//! Trace documents come by the ten thousand, with fields of wrong types and open-ended attributes. A walk over the
//! text costs one field when one field is wrong, keeps attributes as the slices that they are, has no recursion of its
//! own (so depth cannot end it), and says the byte where a text stops being JSON. `NaN` and `Infinity`, which Python
//! writes, are taken as values.

use std::borrow::Cow;

use super::escape::unescape;

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
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// Whether the text stands in a string of another one, so that its quotes are escaped.
    pub(super) is_within: bool,
    /// Open brackets of the value being skipped: `true` for an object.
    open: Vec<bool>,
}

impl<'a> Json<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            is_within: false,
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

    /// Up to `most` bytes of what comes next.
    pub(super) fn ahead(&self, most: usize) -> &'a [u8] {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        rest.get(..most).unwrap_or(rest)
    }

    /// Passes blanks; says whether anything follows.
    pub(super) fn has_more(&mut self) -> bool {
        self.blank();
        self.at < self.text.len()
    }

    pub(super) fn blank(&mut self) {
        while self
            .byte()
            .is_some_and(|b| matches!(b, b' ' | b'\n' | b'\r' | b'\t'))
        {
            self.at += 1;
        }
    }

    pub(super) fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn fault<T>(&self, expected: &'static str) -> Result<T, Fault> {
        Err(Fault {
            at: self.at,
            expected,
        })
    }

    pub(super) fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
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
            Some(b'"') if !self.is_within => Ok(Kind::String),
            Some(b'\\') if self.is_within => Ok(Kind::String),
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

    /// A string, or `None` for a value of another kind, which is passed over.
    pub(super) fn text(&mut self) -> Result<Option<Cow<'a, str>>, Fault> {
        if self.kind()? == Kind::String {
            self.string().map(Some)
        } else {
            self.pass().map(|()| None)
        }
    }

    /// The digits of a number or of a string that holds one, or `None` for another value, which is passed over.
    pub(super) fn digits(&mut self) -> Result<Option<Cow<'a, str>>, Fault> {
        match self.kind()? {
            Kind::Number => self.raw_number().map(|raw| Some(Cow::Borrowed(raw))),
            Kind::String => self.string().map(Some),
            _ => self.pass().map(|()| None),
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
    pub(super) fn skip(&mut self) -> Result<Cow<'a, str>, Fault> {
        self.blank();
        let from = self.at;
        self.pass()?;
        let raw = self.text.get(from..self.at).unwrap_or_default();
        if self.is_within && raw.contains('\\') {
            let mut out = String::with_capacity(raw.len());
            unescape(raw, &mut out);
            return Ok(Cow::Owned(out));
        }
        Ok(Cow::Borrowed(raw))
    }

    /// Passes over a value of any kind and depth, checking that it is JSON.
    pub(super) fn pass(&mut self) -> Result<(), Fault> {
        // Nearly every value that is passed over is no more than one word.
        match self.kind()? {
            Kind::Object | Kind::Array => self.open.clear(),
            kind => return self.skip_one(kind),
        }
        loop {
            let is_open = match self.kind()? {
                Kind::Object => self.open_bracket(true)?,
                Kind::Array => self.open_bracket(false)?,
                kind => self.skip_one(kind).map(|()| false)?,
            };
            if !is_open && !self.close_brackets()? {
                return Ok(());
            }
        }
    }

    /// Passes over a value that holds no other.
    fn skip_one(&mut self, kind: Kind) -> Result<(), Fault> {
        match kind {
            Kind::String => self.raw_string().map(|_| ()),
            Kind::Number => self.raw_number().map(|_| ()),
            _ => self.skip_word(),
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

    /// A number as it stands.
    fn raw_number(&mut self) -> Result<&'a str, Fault> {
        let from = self.at;
        if let Some(plain) = self.plain_number() {
            return Ok(plain);
        }
        while self
            .byte()
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'))
        {
            self.at += 1;
        }
        let token = self.text.get(from..self.at).unwrap_or_default();
        if is_number(token) || is_not_finite(token) {
            Ok(token)
        } else {
            self.at = from;
            self.fault("a number")
        }
    }

    /// A number without sign or exponent that fits 18 digits, as its digits and how many of them stand behind the point. Of
    /// anything else nothing is passed.
    pub(super) fn decimal(&mut self) -> Option<(i64, usize)> {
        let bytes = self.text.as_bytes().get(self.at..)?;
        let (mut digits, mut point) = (0i64, None);
        let mut length = 0;
        while let Some(byte) = bytes.get(length) {
            match byte {
                // Beyond 18 digits the sum may be wrong, and is not used.
                b'0'..=b'9' => {
                    digits = digits.wrapping_mul(10).wrapping_add(i64::from(byte - b'0'));
                }
                b'.' if point.is_none() => point = Some(length),
                b'.' | b'-' | b'+' | b'a'..=b'z' | b'A'..=b'Z' => return None,
                _ => break,
            }
            length += 1;
        }
        let whole = point.unwrap_or(length);
        let fraction = point.map_or(0, |point| length - point - 1);
        let is_number = whole > 0
            && (whole == 1 || bytes.first() != Some(&b'0'))
            && (point.is_none() || fraction > 0);
        if !is_number || whole + fraction > 18 {
            return None;
        }
        self.at += length;
        Some((digits, fraction))
    }

    /// Digits, perhaps with a point and more digits: what nearly all numbers are. Of anything else nothing is passed.
    fn plain_number(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes().get(self.at..)?;
        let digits = |from: usize| {
            bytes
                .get(from..)
                .unwrap_or_default()
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let mut length = digits(0);
        if length == 0 || (length > 1 && bytes.first() == Some(&b'0')) {
            return None;
        }
        if bytes.get(length) == Some(&b'.') {
            let fraction = digits(length + 1);
            if fraction == 0 {
                return None;
            }
            length += 1 + fraction;
        }
        let is_longer = bytes
            .get(length)
            .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'+' | b'.'));
        if is_longer {
            return None;
        }
        let plain = self.text.get(self.at..self.at + length)?;
        self.at += length;
        Some(plain)
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
        fn agrees_with_another_reader(text in "[\\[\\]{}\",:0-9eE.+ a\\\\untrfls-]{0,40}") {
            let mut json = Json::new(&text);
            let ours = json.skip().is_ok() && !json.has_more();
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert!(ours, "{text}");
            }
        }
    }
}
