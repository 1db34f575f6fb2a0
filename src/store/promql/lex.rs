//! Text → tokens, each with its place.

use crate::base::time::parse_duration_nanos;
use crate::store::promql::ParseError;

/// One token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A name or a word.
    Word(String),
    /// A number.
    Number(f64),
    /// A duration, in milliseconds.
    Duration(i64),
    /// A text, its escapes undone.
    Text(String),
    /// A sign.
    Sign(&'static str),
}

/// Signs, the longer ones first.
const SIGNS: &[&str] = &[
    "==", "!=", "=~", "!~", "<=", ">=", "(", ")", "{", "}", "[", "]", ",", "+", "-", "*", "/", "%",
    "^", "<", ">", "=", "@", ":",
];

/// Cuts a query into tokens with their places in bytes.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut in_brackets = false;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        let error = |why: String| ParseError::at(text, at, why);
        if c.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if c == '#' {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        }
        let (token, length) = if matches!(c, '"' | '\'' | '`') {
            let (value, length) = quoted(rest, c).map_err(error)?;
            (Token::Text(value), length)
        } else if c.is_ascii_digit()
            || c == '.' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)
        {
            number(rest).map_err(error)?
        } else if is_first(c) || (c == ':' && !in_brackets) {
            let length = rest
                .find(|c: char| !(is_first(c) || c.is_ascii_digit() || c == ':'))
                .unwrap_or(rest.len());
            let word = rest.get(..length).unwrap_or_default();
            (Token::Word(word.to_owned()), length)
        } else {
            let sign = SIGNS
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .ok_or_else(|| error(format!("unexpected character: '{c}'")))?;
            match *sign {
                "[" => in_brackets = true,
                "]" => in_brackets = false,
                _ => {}
            }
            (Token::Sign(sign), sign.len())
        };
        found.push((at, token));
        at += length;
    }
    Ok(found)
}

const fn is_first(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// A number or a duration, and its length.
fn number(rest: &str) -> Result<(Token, usize), String> {
    let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
    let mut length = 0;
    let mut last = ' ';
    for c in rest.chars() {
        let is_sign_of_exponent = matches!(c, '+' | '-') && matches!(last, 'e' | 'E') && !is_hex;
        if !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || is_sign_of_exponent) {
            break;
        }
        length += c.len_utf8();
        last = c;
    }
    let word = rest.get(..length).unwrap_or_default();
    let wrong = || format!("bad number or duration syntax: {word:?}");
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        let value = u64::from_str_radix(digits, 16).ok().ok_or_else(wrong)?;
        #[expect(
            clippy::cast_precision_loss,
            reason = "every number of PromQL is a float"
        )]
        return Ok((Token::Number(value as f64), length));
    }
    if let Ok(value) = word.parse::<f64>() {
        return Ok((Token::Number(value), length));
    }
    let nanos = duration(word).ok_or_else(wrong)?;
    Ok((Token::Duration(nanos / 1_000_000), length))
}

/// A duration of `PromQL`: whole numbers with `ms`, `s`, `m`, `h`, `d`, `w`, `y` (`common/model/time.go`).
pub(super) fn duration(word: &str) -> Option<i64> {
    if word.contains('.') || word.contains("us") || word.contains("ns") {
        return None;
    }
    match word.find('y') {
        // A year of 365 days, as Prometheus has it.
        Some(at) => {
            let years: i64 = word.get(..at)?.parse().ok()?;
            let rest = word.get(at + 1..)?;
            let rest_nanos = if rest.is_empty() {
                0
            } else {
                parse_duration_nanos(rest)?
            };
            years
                .checked_mul(365 * 86_400 * 1_000_000_000)?
                .checked_add(rest_nanos)
        }
        None => parse_duration_nanos(word),
    }
}

/// A quoted text by the rules of Go, and its length with the quotes.
fn quoted(rest: &str, mark: char) -> Result<(String, usize), String> {
    let unterminated = || "unterminated quoted string".to_owned();
    let inside = rest.get(1..).unwrap_or_default();
    if mark == '`' {
        let end = inside
            .find('`')
            .ok_or_else(|| "unterminated raw string".to_owned())?;
        return Ok((inside.get(..end).unwrap_or_default().to_owned(), end + 2));
    }
    let mut bytes = Vec::new();
    let mut chars = inside.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == mark {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            return Ok((text, at + 2));
        }
        if c == '\n' {
            return Err(unterminated());
        }
        if c != '\\' {
            let mut buffer = [0; 4];
            bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
            continue;
        }
        let (_, escaped) = chars.next().ok_or_else(unterminated)?;
        let mut digits = |first: Option<char>, n: usize, radix: u32| -> Option<u32> {
            let mut value = match first {
                Some(c) => c.to_digit(radix)?,
                None => 0,
            };
            for _ in 0..n {
                value = value
                    .checked_mul(radix)?
                    .checked_add(chars.next()?.1.to_digit(radix)?)?;
            }
            Some(value)
        };
        let unknown = || "unknown escape sequence".to_owned();
        let simple = match escaped {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '\\' => b'\\',
            c if c == mark => mark as u8,
            'x' => u8::try_from(digits(None, 2, 16).ok_or_else(unknown)?).unwrap_or(b'?'),
            '0'..='7' => {
                let value = digits(Some(escaped), 2, 8).ok_or_else(unknown)?;
                u8::try_from(value).ok().ok_or_else(unknown)?
            }
            'u' | 'U' => {
                let n = if escaped == 'u' { 4 } else { 8 };
                let c = digits(None, n, 16)
                    .and_then(char::from_u32)
                    .ok_or_else(unknown)?;
                let mut buffer = [0; 4];
                bytes.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
                continue;
            }
            _ => return Err(unknown()),
        };
        bytes.push(simple);
    }
    Err(unterminated())
}
