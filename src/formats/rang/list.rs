//! Lists in JSON, element by element, so that what is whole before a cut is kept: one array, an object that holds the list
//! under a name, or several such values one after another (`kubectl get --watch`).

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::base::reporter::Reporter;
use crate::base::text::decode;

/// What a text was.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// Lists in it, empty ones too.
    pub(super) lists: u64,
    /// The first thing that could not be read: its place and why.
    pub(super) first_error: Option<(String, String)>,
}

/// Hands every element to `take` with its place; an object without that list is an element itself. What is refused is
/// reported and passed over.
pub(super) fn walk(
    bytes: &[u8],
    member: &str,
    log: &mut Reporter,
    mut take: impl FnMut(String, Value) -> Result<(), String>,
) -> Walked {
    let (text, is_replaced) = decode(bytes);
    if is_replaced {
        log.note(
            "bad_encoding",
            "bytes that are neither UTF-8 nor UTF-16 were replaced",
            None,
        );
    }
    let mut walked = Walked::default();
    let mut rest = text.trim();
    let whole = rest.len();
    while !rest.is_empty() {
        let from = whole - rest.len();
        let root = if from == 0 {
            "$".to_owned()
        } else {
            format!("byte {from}: $")
        };
        let mut lists = 0;
        let mut one = |at: String, value: Result<Value, String>| {
            let Err(why) = value.and_then(|value| take(at.clone(), value)) else {
                return;
            };
            log.lost(
                "bad_row",
                format!("an event was passed over: {why}"),
                at.clone(),
            );
            walked.first_error.get_or_insert((at, why));
        };
        let next = top(rest, member, &root, &mut lists, &mut one);
        walked.lists += lists;
        rest = next
            .unwrap_or_default()
            .trim_start_matches(|c: char| c.is_whitespace() || c == ',');
    }
    walked
}

type Take<'a> = dyn FnMut(String, Result<Value, String>) + 'a;

/// One value of the text; what follows it, or nothing where it is broken.
fn top<'t>(
    text: &'t str,
    member: &str,
    root: &str,
    lists: &mut u64,
    take: &mut Take<'_>,
) -> Option<&'t str> {
    if let Some(inside) = text.strip_prefix('[') {
        *lists += 1;
        return elements(inside, root, take);
    }
    let Some(mut rest) = text.strip_prefix('{') else {
        take(root.to_owned(), Err("it is no JSON".to_owned()));
        return None;
    };
    let mut around = Map::new();
    let mut has_list = false;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if let Some(after) = rest.strip_prefix('}') {
            if !has_list {
                take(root.to_owned(), Ok(Value::Object(around)));
            }
            return Some(after);
        }
        let named = value::<String>(rest).and_then(|(key, after)| {
            let after = after.trim_start();
            let missing = || match after {
                "" => String::new(),
                _ => "it is no JSON (no `:` after a name)".to_owned(),
            };
            Ok((
                key,
                after.strip_prefix(':').ok_or_else(missing)?.trim_start(),
            ))
        });
        let (key, after) = match named {
            Ok(found) => found,
            Err(why) => {
                take(root.to_owned(), Err(or_cut(why)));
                return None;
            }
        };
        let at = format!("{root}.{key}");
        if key == member
            && let Some(inside) = after.strip_prefix('[')
        {
            *lists += 1;
            has_list = true;
            rest = elements(inside, &at, take)?;
            continue;
        }
        // Too deep to be kept is not too deep to be passed over.
        let found = value::<Value>(after).map(|(found, next)| (Some(found), next));
        let found = found.or_else(|_| value::<IgnoredAny>(after).map(|(_, next)| (None, next)));
        match found {
            Ok((found, next)) => {
                // What stands beside a list is not needed.
                if let Some(found) = found.filter(|_| !has_list) {
                    around.insert(key, found);
                }
                rest = next;
            }
            Err(why) => {
                take(at, Err(or_cut(why)));
                return None;
            }
        }
    }
}

/// The elements of an array behind its `[`; what follows its `]`, or nothing where it is broken.
fn elements<'t>(text: &'t str, root: &str, take: &mut Take<'_>) -> Option<&'t str> {
    let mut rest = text;
    for index in 0u64.. {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if let Some(after) = rest.strip_prefix(']') {
            return Some(after);
        }
        let at = format!("{root}[{index}]");
        match value::<Value>(rest) {
            Ok((found, next)) => {
                take(at, Ok(found));
                rest = next;
            }
            Err(why) => {
                take(at, Err(or_cut(why)));
                return None;
            }
        }
    }
    None
}

/// The value that the text begins with, and what follows it. An error without words is the end of the text.
fn value<T: serde::de::DeserializeOwned>(text: &str) -> Result<(T, &str), String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<T>();
    match stream.next() {
        Some(Ok(found)) => Ok((found, text.get(stream.byte_offset()..).unwrap_or_default())),
        Some(Err(error)) if !error.is_eof() => {
            Err(format!("it is no JSON ({error}); what follows it is lost"))
        }
        _ => Err(String::new()),
    }
}

fn or_cut(why: String) -> String {
    if why.is_empty() {
        "the list ends in the middle: the file was cut, or the answer broke off".to_owned()
    } else {
        why
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> (Vec<(String, Value)>, Walked) {
        let mut found = Vec::new();
        let mut log = Reporter::new();
        let walked = walk(text.as_bytes(), "items", &mut log, |at, value| {
            found.push((at, value));
            Ok(())
        });
        assert_eq!(walked.first_error.is_some(), log.is_lossy());
        (found, walked)
    }

    #[test]
    fn every_shape_gives_its_elements() {
        let (found, walked) = all(r#"{"kind":"List","items":[{"a":1},2],"metadata":{"b":3}}"#);
        assert_eq!(walked.lists, 1);
        assert_eq!(found[1], ("$.items[1]".to_owned(), Value::from(2)));
        assert_eq!(all("[1,2]").0.len(), 2);
        assert_eq!(all("[]").1.lists, 1);
        let (found, walked) = all("{\"a\":1}\n{\"b\":{\"items\":[]}}\n");
        assert_eq!(walked.lists, 0);
        assert_eq!(found[0].0, "$");
        assert_eq!(found[1].0, "byte 8: $");
    }

    #[test]
    fn what_is_whole_before_a_cut_is_kept() {
        for (text, at) in [
            (r#"{"items":[{"a":1},{"b":"#, "$.items[1]"),
            (r#"{"items":[{"a":1},"#, "$.items[1]"),
            (r#"[{"a":1},{"b""#, "$[1]"),
            (r#"{"items":[{"a":1}],"meta"#, "$"),
        ] {
            let (found, walked) = all(text);
            assert_eq!(found.len(), 1, "{text}");
            let (place, why) = walked.first_error.unwrap();
            assert_eq!(place, at, "{text}");
            assert!(why.contains("cut"), "{why}");
        }
        let deep = format!(
            "{{\"x\":{}1{},\"items\":[1]}}",
            "[".repeat(300),
            "]".repeat(300)
        );
        assert_eq!(all(&deep).0.len(), 1);
        assert!(all("nothing").1.first_error.is_some());
    }

    proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]{}\":,a-z0-9.\n -]{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _found = all(&text);
            let mut log = Reporter::new();
            walk(&bytes, "items", &mut log, |_, _| Ok(()));
        }

        #[test]
        fn a_list_cut_anywhere_gives_what_is_whole(cut in 0usize..60) {
            let text = r#"{"kind":"List","items":[{"a":1},{"b":"é"},{"c":[1,2]}],"z":1}"#;
            if let Some(part) = text.get(..cut) {
                let whole = part.matches("},{").count();
                prop_assert!(all(part).0.len() >= whole);
            }
        }
    }
}
