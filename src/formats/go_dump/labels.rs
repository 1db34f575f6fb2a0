//! Profiler labels as Go prints them: `{"route":"/v1/\"q\"", "tenant":"acme"}`.

use serde_json::{Map, Value};

/// The labels as one JSON object; `None` when the text is not of that form.
pub(super) fn to_json(text: &str) -> Option<String> {
    let mut rest = text.trim().strip_prefix('{')?;
    let mut map = Map::new();
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        if rest.starts_with('}') {
            return Some(Value::Object(map).to_string());
        }
        let (key, after) = quoted(rest)?;
        let (value, after) = quoted(after.trim_start().strip_prefix(':')?.trim_start())?;
        map.insert(key, Value::from(value));
        rest = after;
    }
}

/// One string as `strconv.Quote` writes it, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut out = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, body.get(at + 1..)?)),
            '\\' => {
                let (_, escape) = chars.next()?;
                let digits = match escape {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    _ => 0,
                };
                if digits == 0 {
                    out.push(match escape {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'a' => '\u{7}',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'v' => '\u{b}',
                        other => other,
                    });
                    continue;
                }
                let mut code = 0u32;
                for _ in 0..digits {
                    code = code
                        .checked_mul(16)?
                        .checked_add(chars.next()?.1.to_digit(16)?)?;
                }
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            other => out.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_quotes_and_brackets_in_values() {
        assert_eq!(
            to_json(r#"{"route":"/v1/\"q\"", "tenant":"acme corp"}"#).as_deref(),
            Some(r#"{"route":"/v1/\"q\"","tenant":"acme corp"}"#)
        );
        assert_eq!(
            to_json(r#"{"a": "x]: y, z", "b": "\u00e9\x41"}"#).as_deref(),
            Some(r#"{"a":"x]: y, z","b":"éA"}"#)
        );
        assert_eq!(to_json(r#"{"a": "cut"#), None);
        assert_eq!(to_json("{}").as_deref(), Some("{}"));
    }
}
