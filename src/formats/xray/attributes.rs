//! Attributes of a span as one flat JSON object in order of key, built without a tree in between.

use super::escape::{push_compact, push_string};
use super::json::{Fault, Json, Kind};

/// Objects nested deeper than this are kept whole under one key.
const FLAT_DEPTH: usize = 6;

/// Objects below longer keys than this are kept whole as well: each leaf repeats the keys above it.
const LONGEST_PREFIX: usize = 256;

/// Values nested deeper than this are left out: common JSON readers stop at 128 levels.
const KEPT_DEPTH: usize = 100;

/// Key and value of one attribute as places in [`Attributes::text`].
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: usize,
    value: usize,
    end: usize,
}

/// A stack of attributes: those of a span lie above those of the spans that hold it.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    text: String,
    entries: Vec<Entry>,
    out: String,
    /// How many values were left out because they were nested too deep.
    pub too_deep: u64,
}

/// Where the attributes of one span begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    text: usize,
    entries: usize,
}

impl Attributes {
    /// The attributes that follow belong to a new span.
    pub(super) const fn mark(&self) -> Mark {
        Mark {
            text: self.text.len(),
            entries: self.entries.len(),
        }
    }

    /// Adds a text.
    pub(super) fn add_text(&mut self, key: &str, value: &str) {
        self.add(key, |out| push_string(value, out));
    }

    /// Adds a value that [`Json::skip`] gave.
    pub(super) fn add_raw(&mut self, key: &str, raw: &str) {
        if raw.starts_with(['{', '[']) && depth(raw) > KEPT_DEPTH {
            self.too_deep += 1;
            return;
        }
        self.add(key, |out| push_compact(raw, out));
    }

    fn add(&mut self, key: &str, value: impl FnOnce(&mut String)) {
        let from = self.text.len();
        self.text.push_str(key);
        let at = self.text.len();
        value(&mut self.text);
        self.entries.push(Entry {
            key: from,
            value: at,
            end: self.text.len(),
        });
    }

    /// Adds the next value of `json`: an object as one attribute for each of its leaves, `prefix.key`, anything else as
    /// it is; `null` says nothing and is left out. Each leaf is shown to `see` with its own last key.
    pub(super) fn flatten(
        &mut self,
        json: &mut Json<'_>,
        prefix: &mut String,
        depth: usize,
        see: &mut dyn FnMut(&str, &str),
    ) -> Result<(), Fault> {
        match json.kind()? {
            Kind::Object if depth < FLAT_DEPTH && prefix.len() < LONGEST_PREFIX => {
                json.open_object()?;
                let mut first = true;
                while let Some(key) = json.key(&mut first)? {
                    let length = prefix.len();
                    prefix.push('.');
                    prefix.push_str(&key);
                    if matches!(json.kind()?, Kind::Object | Kind::Null) {
                        self.flatten(json, prefix, depth + 1, see)?;
                    } else {
                        let raw = json.skip()?;
                        see(&key, &raw);
                        self.add_raw(prefix, &raw);
                    }
                    prefix.truncate(length);
                }
                Ok(())
            }
            Kind::Null => json.pass(),
            _ => {
                let raw = json.skip()?;
                self.add_raw(prefix, &raw);
                Ok(())
            }
        }
    }

    /// The attributes since `mark` as a JSON object, and forgets them. Of two with one key the first is kept.
    pub(super) fn finish(&mut self, mark: Mark) -> &str {
        let text = self.text.as_str();
        let key_of = |e: &Entry| text.get(e.key..e.value).unwrap_or_default();
        self.out.clear();
        self.out.push('{');
        if let Some(own) = self.entries.get_mut(mark.entries..) {
            own.sort_by(|a, b| (key_of(a), a.key).cmp(&(key_of(b), b.key)));
            let mut last = None;
            for entry in own.iter() {
                let key = key_of(entry);
                if last == Some(key) {
                    continue;
                }
                if last.is_some() {
                    self.out.push(',');
                }
                last = Some(key);
                if key.bytes().all(|b| b >= b' ' && !matches!(b, b'"' | b'\\')) {
                    self.out.push('"');
                    self.out.push_str(key);
                    self.out.push('"');
                } else {
                    push_string(key, &mut self.out);
                }
                self.out.push(':');
                self.out
                    .push_str(text.get(entry.value..entry.end).unwrap_or_default());
            }
        }
        self.out.push('}');
        self.entries.truncate(mark.entries);
        self.text.truncate(mark.text);
        &self.out
    }

    /// Forgets everything since `mark` (a document that turned out to be broken).
    pub(super) fn forget(&mut self, mark: Mark) {
        self.entries.truncate(mark.entries);
        self.text.truncate(mark.text);
    }
}

/// How deep the brackets of a JSON value nest.
fn depth(raw: &str) -> usize {
    let (mut open, mut deepest, mut is_text, mut is_escaped) = (0usize, 0usize, false, false);
    for byte in raw.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => {
                open += 1;
                deepest = deepest.max(open);
            }
            b'}' | b']' if !is_text => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(text: &str) -> String {
        let mut attributes = Attributes::default();
        let mark = attributes.mark();
        attributes
            .flatten(&mut Json::new(text), &mut "m".to_owned(), 0, &mut |_, _| {})
            .unwrap();
        attributes.finish(mark).to_owned()
    }

    #[test]
    fn objects_become_dotted_keys_in_order() {
        assert_eq!(
            flat(r#"{"z": 1, "a": {"y": [1, 2], "b": "x"}, "n": null, "e": {}}"#),
            r#"{"m.a.b":"x","m.a.y":[1,2],"m.z":1}"#
        );
    }

    #[test]
    fn hostile_keys_and_depths_stay_json() {
        let deep = format!("{{\"a\\\"b\":{}1{}}}", "[".repeat(500), "]".repeat(500));
        assert_eq!(flat(&deep), "{}");
        let nested = format!("{}1{}", "{\"k\":".repeat(20), "}".repeat(20));
        let out = flat(&nested);
        serde_json::from_str::<serde_json::Value>(&out).unwrap();
        assert!(out.starts_with(r#"{"m.k.k.k.k.k.k":{"k":"#), "{out}");
        let out = flat(r#"{"a\"\n": "\u0001"}"#);
        serde_json::from_str::<serde_json::Value>(&out).unwrap();
    }

    #[test]
    fn a_long_key_is_not_repeated_for_each_leaf() {
        let leaves: Vec<String> = (0..1000).map(|n| format!("\"k{n}\":1")).collect();
        let out = flat(&format!(
            "{{\"{}\":{{{}}}}}",
            "x".repeat(1000),
            leaves.join(",")
        ));
        assert!(out.len() < 20_000, "{}", out.len());
    }

    #[test]
    fn spans_within_spans_keep_their_own() {
        let mut attributes = Attributes::default();
        let outer = attributes.mark();
        attributes.add_text("user", "u");
        let inner = attributes.mark();
        attributes.add_text("namespace", "remote");
        assert_eq!(attributes.finish(inner), r#"{"namespace":"remote"}"#);
        attributes.add_raw("traced", "true");
        assert_eq!(attributes.finish(outer), r#"{"traced":true,"user":"u"}"#);
    }
}
