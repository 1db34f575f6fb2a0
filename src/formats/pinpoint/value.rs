//! JSON of Pinpoint as it really comes: numbers as text, empty text for nothing, −1 for missing, answers cut short.

use std::sync::Arc;

use serde_json::Value;

use crate::base::time::Timestamp;

/// Nesting that is followed when a cut answer is mended; `serde_json` itself stops at 128.
const MAX_DEPTH: usize = 120;

/// What came of reading a text.
#[derive(Debug, PartialEq)]
pub(super) enum Parsed {
    /// All of it.
    Whole(Value),
    /// It was cut off (or damaged) at that byte; what came before, up to the last whole element.
    Cut(Value, usize),
    /// No JSON; where it failed, and why.
    Nothing(usize, String),
}

/// Reads a text. A bare `Infinity` or `NaN` (`pinpoint.md` §5, `barRatio`) is `null`.
pub(super) fn parse(text: &str) -> Parsed {
    let error = match serde_json::from_str(text) {
        Ok(value) => return Parsed::Whole(value),
        Err(error) => error,
    };
    let plain = without_infinity(text);
    if let Ok(value) = serde_json::from_str(&plain) {
        return Parsed::Whole(value);
    }
    let at = byte_of(text, error.line(), error.column());
    // Where more follows the place of the error, the text is damaged rather than cut: what stands before it counts.
    let sound = plain.get(..plain.len().min(at.max(1))).unwrap_or(&plain);
    for part in [plain.as_str(), sound] {
        if let Some(value) = mended(part).and_then(|m| serde_json::from_str(&m).ok()) {
            return Parsed::Cut(value, at);
        }
    }
    Parsed::Nothing(at, error.to_string())
}

fn byte_of(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (before + column).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn without_infinity(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_text = false;
    let mut is_escaped = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !is_text {
            let word = ["-Infinity", "Infinity", "NaN"]
                .into_iter()
                .find(|word| rest.starts_with(word));
            if let Some(word) = word {
                out.push_str("null");
                rest = rest.get(word.len()..).unwrap_or("");
                continue;
            }
        }
        if is_escaped {
            is_escaped = false;
        } else if c == '\\' {
            is_escaped = is_text;
        } else if c == '"' {
            is_text = !is_text;
        }
        out.push(c);
        rest = rest.get(c.len_utf8()..).unwrap_or("");
    }
    out
}

/// The text up to its last comma, with everything closed that is open there.
fn mended(text: &str) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    let mut best: Option<(usize, Vec<char>)> = None;
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, c) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
            continue;
        }
        match c {
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '{' | '[' => open.push(if c == '{' { '}' } else { ']' }),
            '}' | ']' if open.pop() != Some(c) || open.is_empty() => break,
            ',' if open.len() <= MAX_DEPTH => best = Some((at, open.clone())),
            _ => {}
        }
        if open.len() > MAX_DEPTH {
            break;
        }
    }
    let (at, open) = best?;
    let mut out = text.get(..at)?.to_owned();
    out.extend(open.iter().rev());
    Some(out)
}

/// A number: JSON number, numeric text with or without thousands commas; nothing for "", `null` and what is neither.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text
            .trim()
            .replace(',', "")
            .parse::<f64>()
            .ok()
            .filter(|n| n.is_finite()),
        _ => None,
    }
}

/// A whole number, exact beyond 2^53.
pub(super) fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().and_then(of_float)),
        Value::String(text) => text.trim().replace(',', "").parse().ok(),
        _ => None,
    }
}

fn of_float(n: f64) -> Option<i64> {
    (n.is_finite() && n.abs() < 9e18).then_some(n as i64)
}

/// A measured value: every negative one is missing (−1, and what a scale made of it, `pinpoint.md` §7).
pub(super) fn measured(value: &Value) -> Option<f64> {
    number(value).filter(|n| *n >= 0.0)
}

/// A count, never negative.
pub(super) fn count(value: &Value) -> Option<u64> {
    whole(value).and_then(|n| u64::try_from(n).ok())
}

/// A time in epoch milliseconds; −1 and 0 are none.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    whole(value)
        .filter(|ms| *ms > 0)
        .and_then(Timestamp::from_millis)
}

/// Text that is not blank.
pub(super) fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|t| !t.trim().is_empty())
}

/// Any plain value as text.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A member of an object; `null` when it is not there.
pub(super) fn of<'a>(value: &'a Value, key: &str) -> &'a Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// The elements of an array; none of what is no array.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    elements(of(value, key))
}

/// The elements of an array; none of what is no array.
pub(super) fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The members of an object, in the order of the text.
pub(super) fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

/// A shared copy of a text.
pub(super) fn shared(text: &str) -> Arc<str> {
    Arc::from(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_before_the_cut_is_kept() {
        let whole = r#"{"a":[[1,"x,]"],[2,"y"]],"b":{"c":3}}"#;
        for end in 1..whole.len() {
            let part = whole.get(..end).unwrap();
            match parse(part) {
                Parsed::Cut(value, at) => {
                    assert!(at <= part.len());
                    if end > 17 {
                        assert_eq!(value["a"][0], json!([1, "x,]"]), "{part}");
                    }
                }
                Parsed::Nothing(..) => assert!(end < 10, "{part}"),
                Parsed::Whole(_) => panic!("{part}"),
            }
        }
    }

    #[test]
    fn damage_in_the_middle_leaves_what_was_before() {
        let Parsed::Cut(value, at) = parse(r#"{"a":[1,2,3],"b":[1,%%,3],"c":4}"#) else {
            panic!();
        };
        assert_eq!(value, json!({"a": [1, 2, 3], "b": [1]}));
        assert_eq!(at, 21);
    }

    #[test]
    fn numbers_come_in_many_dresses() {
        assert_eq!(number(&json!("3,592")), Some(3592.0));
        assert_eq!(number(&json!("")), None);
        assert_eq!(number(&json!(null)), None);
        assert_eq!(
            whole(&json!(-6_102_030_405_060_708_090_i64)),
            Some(-6_102_030_405_060_708_090)
        );
        assert_eq!(
            whole(&json!("-6102030405060708090")),
            Some(-6_102_030_405_060_708_090)
        );
        assert_eq!(measured(&json!(-1.0)), None);
        assert_eq!(measured(&json!(-0.1)), None);
        assert_eq!(time(&json!(-1)), None);
        assert_eq!(
            parse(r#"{"barRatio":Infinity,"t":"Infinity","x":-Infinity}"#),
            Parsed::Whole(json!({"barRatio": null, "t": "Infinity", "x": null}))
        );
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in ".{0,200}") {
            parse(&text);
        }

        #[test]
        fn no_brackets_are_too_many(text in r#"[\[\]{},:"\\1a]{0,300}"#) {
            parse(&text);
        }
    }
}
