//! Strings inside JSON: escapes resolved and written, and values copied in a form that every reader takes.

use super::json::{Json, is_not_finite};

/// Appends `raw` (what stands between the quotes of a string) with its escapes resolved. An escape that JSON does not
/// know is kept as it stands; half of a surrogate pair becomes U+FFFD.
pub(super) fn unescape(raw: &str, out: &mut String) {
    let bytes = raw.as_bytes();
    let (mut from, mut at) = (0, 0);
    while let Some(step) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(|b| *b == b'\\'))
    {
        at += step;
        out.push_str(raw.get(from..at).unwrap_or_default());
        (from, at) = escape(raw, at, out);
    }
    out.push_str(raw.get(from..).unwrap_or_default());
}

/// Resolves the escape whose backslash stands at `at`. Gives where the next piece of plain text begins, and from where
/// on to look for the next escape: an escaped quote or backslash is the first character of that piece, so that a
/// document in a string costs one copy for each escape.
pub(super) fn escape(raw: &str, at: usize, out: &mut String) -> (usize, usize) {
    let plain = match raw.as_bytes().get(at + 1) {
        Some(b'"' | b'\\' | b'/') => return (at + 1, at + 2),
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'u') => {
            let rest = raw.get(at + 2..).unwrap_or_default();
            let (decoded, left) = unicode(rest);
            out.push(decoded);
            let next = raw.len() - left.len();
            return (next, next);
        }
        // Unknown, or the end: kept with its backslash.
        _ => return (at, at + 1),
    };
    out.push(plain);
    (at + 2, at + 2)
}

/// The character of `XXXX` (or `XXXX\uXXXX`) at the beginning of `text`, and what is left.
fn unicode(text: &str) -> (char, &str) {
    let four = |s: &str| {
        s.get(..4)
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
    };
    let Some(first) = four(text) else {
        return (char::REPLACEMENT_CHARACTER, text);
    };
    let left = text.get(4..).unwrap_or_default();
    if !(0xd800..0xdc00).contains(&first) {
        let c = char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER);
        return (c, left);
    }
    let second = left.strip_prefix("\\u").and_then(four);
    match second.filter(|low| (0xdc00..0xe000).contains(low)) {
        Some(low) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00);
            let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            (c, left.get(6..).unwrap_or_default())
        }
        None => (char::REPLACEMENT_CHARACTER, left),
    }
}

/// Appends a string with its quotes, escaped as RFC 8259 §7 asks.
pub(super) fn push_string(text: &str, out: &mut String) {
    out.push('"');
    if text
        .bytes()
        .all(|b| b >= b' ' && !matches!(b, b'"' | b'\\'))
    {
        out.push_str(text);
        out.push('"');
        return;
    }
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if u32::from(c) < 0x20 => {
                let code = u32::from(c);
                out.push_str("\\u00");
                for digit in [code >> 4, code & 15] {
                    out.push(char::from_digit(digit, 16).unwrap_or('0'));
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a value that [`Json::skip`] gave, without blanks and with every string in plain form, so that any JSON
/// reader takes it; what JSON has no number for becomes `null`.
pub(super) fn push_compact(raw: &str, out: &mut String) {
    let is_plain = |b: &u8| *b > b' ' && !matches!(b, b'\\' | b'N' | b'I');
    if raw.bytes().all(|b| is_plain(&b)) {
        out.push_str(raw);
        return;
    }
    let mut at = 0;
    while let Some(&byte) = raw.as_bytes().get(at) {
        match byte {
            b'"' => {
                let mut walk = Json::new(raw);
                walk.go_to(at);
                let Ok(inner) = walk.raw_string() else { return };
                if inner.bytes().all(|b| b >= b' ' && b != b'\\') {
                    out.push('"');
                    out.push_str(inner);
                    out.push('"');
                } else {
                    let mut plain = String::with_capacity(inner.len());
                    unescape(inner, &mut plain);
                    push_string(&plain, out);
                }
                at = walk.at();
            }
            b' ' | b'\n' | b'\r' | b'\t' => at += 1,
            _ => {
                let rest = raw.get(at..).unwrap_or_default();
                let end = rest
                    .find([' ', '\n', '\r', '\t', '"', ',', ':', '{', '}', '[', ']'])
                    .unwrap_or(rest.len())
                    .max(1);
                let token = rest.get(..end).unwrap_or_default();
                out.push_str(if is_not_finite(token) { "null" } else { token });
                at += end;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn surrogates_and_unknown_escapes() {
        let mut out = String::new();
        unescape(r"\ud83d\ude00 \ud83d! \x \u12", &mut out);
        assert_eq!(out, "\u{1f600} \u{fffd}! \\x \u{fffd}12");
    }

    #[test]
    fn compact_text_is_json() {
        let mut out = String::new();
        push_compact("{ \"a\" : [ 1 , NaN, \"b  \\ud800\" ] }", &mut out);
        assert_eq!(out, "{\"a\":[1,null,\"b  \u{fffd}\"]}");
    }

    proptest! {
        #[test]
        fn compact_text_reads_back(values in prop::collection::vec(any::<String>(), 0..5), n in any::<i64>()) {
            let value = serde_json::json!({"s": values, "n": n, "o": {"x": [null, true, 1.5]}});
            let mut out = String::new();
            push_compact(&serde_json::to_string_pretty(&value).unwrap(), &mut out);
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&out).unwrap(), value);
        }
    }
}
