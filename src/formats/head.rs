//! The beginning of an input, looked at once for all formats.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// How much of an input is looked at to recognise it.
pub const HEAD_BYTES: usize = 64 * 1024;

/// The first bytes of an input in the shapes that formats ask for.
#[derive(Debug)]
pub struct Head<'a> {
    /// The first [`HEAD_BYTES`] bytes.
    pub bytes: &'a [u8],
    /// The same as text; a byte order mark is honoured and removed.
    pub text: Cow<'a, str>,
    /// Whether these are all the bytes there are.
    pub is_whole: bool,
    /// Whether they look like text.
    pub is_text: bool,
    /// The shape of the JSON that they begin with, if they do.
    pub json: Option<JsonShape>,
}

impl<'a> Head<'a> {
    /// Looks at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        let is_whole = bytes.len() <= HEAD_BYTES;
        let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
        let (text, _) = crate::base::text::decode(head);
        let controls = text
            .chars()
            .take(4096)
            .filter(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
            .count();
        let replaced = text.chars().take(4096).filter(|c| *c == '\u{fffd}').count();
        let is_text =
            !text.is_empty() && (controls + replaced) * 20 <= text.chars().take(4096).count();
        let json = is_text.then(|| JsonShape::of(&text)).flatten();
        Self {
            bytes: head,
            text,
            is_whole,
            is_text,
            json,
        }
    }

    /// The first lines that are not blank, whole ones only.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        let complete = if self.is_whole {
            self.text.len()
        } else {
            self.text.rfind('\n').unwrap_or(self.text.len())
        };
        self.text
            .get(..complete)
            .unwrap_or("")
            .lines()
            .filter(|line| !line.trim().is_empty())
    }

    /// Whether the JSON holds a key at this path (`data.result[].metric`, `[].traceId`, `Traces`).
    pub fn has(&self, path: &str) -> bool {
        self.json
            .as_ref()
            .is_some_and(|json| json.paths.contains(path))
    }
}

/// What a JSON text begins like: its outermost kind and the paths of its first keys.
#[derive(Debug, Clone, Default)]
pub struct JsonShape {
    /// `{` or `[`.
    pub opens_with: char,
    /// Whether a second value follows the first one (JSON lines).
    pub is_lines: bool,
    /// Paths of keys down to four levels; `[]` stands for any element. In JSON lines the paths of all values that were
    /// seen.
    pub paths: BTreeSet<String>,
}

impl JsonShape {
    /// Scans what may be a cut-off text; never fails, only stops.
    fn of(text: &str) -> Option<Self> {
        let opens_with = text
            .trim_start()
            .chars()
            .next()
            .filter(|c| matches!(c, '{' | '['))?;
        let mut shape = Self {
            opens_with,
            ..Self::default()
        };
        let mut scan = Scan {
            bytes: text.as_bytes(),
            at: 0,
        };
        let mut values = 0;
        while scan.value("", 0, &mut shape.paths).is_some() {
            values += 1;
            scan.blank();
            // VictoriaMetrics and some SDKs put a comma or nothing between the values of a stream.
            if scan.at >= scan.bytes.len() || values >= 64 {
                break;
            }
        }
        scan.blank();
        shape.is_lines =
            opens_with == '{' && (values > 1 || (values == 1 && scan.at < scan.bytes.len()));
        Some(shape)
    }
}

const MAX_DEPTH: usize = 4;

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn blank(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// One value; `None` at the end of the text or where it is not JSON.
    fn value(&mut self, path: &str, depth: usize, paths: &mut BTreeSet<String>) -> Option<()> {
        self.blank();
        match self.bytes.get(self.at)? {
            b'{' if depth < MAX_DEPTH => self.object(path, depth, paths),
            b'[' if depth < MAX_DEPTH => self.array(path, depth, paths),
            b'{' | b'[' => self.skip_nested(),
            b'"' => self.string().map(|_| ()),
            _ => {
                let from = self.at;
                while self
                    .bytes
                    .get(self.at)
                    .is_some_and(|b| !matches!(b, b',' | b'}' | b']') && !b.is_ascii_whitespace())
                {
                    self.at += 1;
                }
                (self.at > from).then_some(())
            }
        }
    }

    fn object(&mut self, path: &str, depth: usize, paths: &mut BTreeSet<String>) -> Option<()> {
        self.at += 1;
        loop {
            self.blank();
            match self.bytes.get(self.at)? {
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                b'"' => {
                    let key = self.string()?;
                    let key_path = if path.is_empty() {
                        key
                    } else {
                        format!("{path}.{key}")
                    };
                    self.blank();
                    if self.bytes.get(self.at)? != &b':' {
                        return None;
                    }
                    self.at += 1;
                    paths.insert(key_path.clone());
                    self.value(&key_path, depth + 1, paths)?;
                }
                _ => return None,
            }
        }
    }

    fn array(&mut self, path: &str, depth: usize, paths: &mut BTreeSet<String>) -> Option<()> {
        self.at += 1;
        let element = format!("{path}[]");
        loop {
            self.blank();
            match self.bytes.get(self.at)? {
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                b',' => self.at += 1,
                _ => self.value(&element, depth + 1, paths)?,
            }
        }
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Some(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self) -> Option<String> {
        let from = self.at + 1;
        let mut at = from;
        loop {
            match self.bytes.get(at)? {
                b'\\' => at += 2,
                b'"' => break,
                _ => at += 1,
            }
        }
        self.at = at + 1;
        Some(String::from_utf8_lossy(self.bytes.get(from..at)?).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_keys_even_when_the_text_is_cut() {
        let head = Head::new(br#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1,"#);
        assert!(head.has("data.resultType"));
        assert!(head.has("data.result[].metric"));
        assert!(!head.has("Traces"));
    }

    #[test]
    fn tells_lines_from_one_value() {
        assert!(Head::new(b"{\"a\":1}\n{\"b\":2}\n").json.unwrap().is_lines);
        assert!(!Head::new(b"{\"a\":1}\n").json.unwrap().is_lines);
        assert!(Head::new(b"\x00\x01\x02").json.is_none());
    }
}
