//! One line of text exposition or OpenMetrics.

use std::borrow::Cow;

use crate::formats::prometheus::values::number;

/// A line.
#[derive(Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// Nothing that says anything.
    Comment,
    /// `# EOF`.
    End,
    /// `# HELP name text`.
    Help {
        /// The family.
        name: Cow<'a, str>,
        /// Its help, escapes resolved.
        text: Cow<'a, str>,
    },
    /// `# TYPE name word`.
    Type {
        /// The family.
        name: Cow<'a, str>,
        /// Its type.
        word: &'a str,
    },
    /// `# UNIT name unit`.
    Unit {
        /// The family.
        name: Cow<'a, str>,
        /// Its unit.
        unit: &'a str,
    },
    /// A sample.
    Sample(Sample<'a>),
}

/// Labels as a line has them.
pub(super) type RawLabels<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// A sample.
#[derive(Debug, PartialEq)]
pub(super) struct Sample<'a> {
    /// Metric name.
    pub name: Cow<'a, str>,
    /// Labels without the name.
    pub labels: RawLabels<'a>,
    /// Value.
    pub value: f64,
    /// Time as it is written.
    pub time: Option<f64>,
    /// OpenMetrics exemplar.
    pub exemplar: Option<RawExemplar<'a>>,
}

/// ` # {labels} value [time]`.
#[derive(Debug, PartialEq)]
pub(super) struct RawExemplar<'a> {
    /// Labels.
    pub labels: RawLabels<'a>,
    /// Value.
    pub value: f64,
    /// Time in seconds.
    pub time: Option<f64>,
}

/// Reads a line; the error says what was expected.
pub(super) fn parse(line: &str) -> Result<Line<'_>, &'static str> {
    let text = line.trim();
    if text.is_empty() {
        return Ok(Line::Comment);
    }
    text.strip_prefix('#').map_or_else(
        || sample(text).map(Line::Sample),
        |comment| Ok(described(comment)),
    )
}

/// `HELP`, `TYPE`, `UNIT`, `EOF`; any other comment says nothing.
fn described(comment: &str) -> Line<'_> {
    let Some(text) = comment.strip_prefix([' ', '\t']) else {
        return Line::Comment;
    };
    let text = text.trim();
    if text == "EOF" {
        return Line::End;
    }
    let Some((word, rest)) = text.split_once([' ', '\t']) else {
        return Line::Comment;
    };
    let mut scan = Scan(rest.trim_start());
    let name = if scan.0.starts_with('"') {
        scan.quoted()
    } else {
        scan.name().map(Cow::Borrowed)
    };
    let Some(name) = name else {
        return Line::Comment;
    };
    let rest = scan.0.trim_start();
    match word {
        "HELP" => Line::Help {
            name,
            text: unescape(rest),
        },
        "TYPE" if TYPES.contains(&rest) => Line::Type { name, word: rest },
        "UNIT" => Line::Unit { name, unit: rest },
        _ => Line::Comment,
    }
}

const TYPES: [&str; 10] = [
    "counter",
    "gauge",
    "histogram",
    "summary",
    "untyped",
    "unknown",
    "info",
    "stateset",
    "gaugehistogram",
    "native_histogram",
];

fn sample(text: &str) -> Result<Sample<'_>, &'static str> {
    let mut scan = Scan(text);
    let mut name = scan.name().map(Cow::Borrowed);
    let mut labels = Vec::new();
    scan.blank();
    if scan.0.starts_with('{') {
        let (inside_name, found) = scan.labels()?;
        name = name.or(inside_name);
        labels = found;
        if let Some(at) = labels.iter().position(|(key, _)| key == "__name__") {
            let (_, value) = labels.swap_remove(at);
            name = name.or(Some(value));
        }
    }
    let name = name.filter(|n| !n.is_empty()).ok_or("a metric name")?;
    let value = scan
        .number()
        .ok_or("a number behind the name and its labels")?;
    scan.blank();
    let time = if scan.0.is_empty() || scan.0.starts_with('#') {
        None
    } else {
        Some(scan.number().ok_or("a timestamp or the end of the line")?)
    };
    scan.blank();
    let exemplar = match scan.0.strip_prefix('#') {
        None if scan.0.is_empty() => None,
        None => return Err("the end of the line"),
        Some(rest) => Some(exemplar(rest)?),
    };
    Ok(Sample {
        name,
        labels,
        value,
        time,
        exemplar,
    })
}

fn exemplar(text: &str) -> Result<RawExemplar<'_>, &'static str> {
    let mut scan = Scan(text);
    scan.blank();
    if !scan.0.starts_with('{') {
        return Err("the labels of an exemplar");
    }
    let (_, labels) = scan.labels()?;
    let value = scan.number().ok_or("the value of an exemplar")?;
    scan.blank();
    let time = if scan.0.is_empty() || scan.0.starts_with('#') {
        None
    } else {
        Some(scan.number().ok_or("the time of an exemplar")?)
    };
    Ok(RawExemplar {
        labels,
        value,
        time,
    })
}

struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn blank(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn eat(&mut self, mark: char) -> bool {
        self.blank();
        self.0.strip_prefix(mark).is_some_and(|rest| {
            self.0 = rest;
            true
        })
    }

    /// A metric or label name; with a colon, as recording rules have it.
    fn name(&mut self) -> Option<&'a str> {
        let first_is_right = self
            .0
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':'));
        if !first_is_right {
            return None;
        }
        let len = self
            .0
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':')))
            .unwrap_or(self.0.len());
        let (name, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(name)
    }

    /// A quoted text with `\\`, `\"` and `\n` resolved.
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        let inside = self.0.strip_prefix('"')?;
        let mut is_escaped = false;
        for (at, byte) in inside.bytes().enumerate() {
            if is_escaped {
                is_escaped = false;
            } else if byte == b'\\' {
                is_escaped = true;
            } else if byte == b'"' {
                self.0 = inside.get(at + 1..)?;
                return Some(unescape(inside.get(..at)?));
            }
        }
        None
    }

    /// `{name="value",…}`; a quoted text without a value is the metric's name (UTF-8 names of Prometheus 3).
    fn labels(&mut self) -> Result<(Option<Cow<'a, str>>, RawLabels<'a>), &'static str> {
        self.eat('{');
        let mut name = None;
        let mut labels = Vec::new();
        loop {
            if self.eat('}') {
                return Ok((name, labels));
            }
            self.blank();
            let is_quoted = self.0.starts_with('"');
            let key = if is_quoted {
                self.quoted().ok_or("a closing `\"`")?
            } else {
                Cow::Borrowed(self.name().ok_or("a label name or `}`")?)
            };
            if self.eat('=') {
                self.blank();
                if !self.0.starts_with('"') {
                    return Err("`\"` and the label's value");
                }
                labels.push((key, self.quoted().ok_or("a closing `\"`")?));
            } else if is_quoted && name.is_none() {
                name = Some(key);
            } else {
                return Err("`=` behind a label name");
            }
            self.blank();
            if !self.eat(',') && !self.0.starts_with('}') {
                return Err("`,` or `}` behind a label");
            }
        }
    }

    fn number(&mut self) -> Option<f64> {
        self.blank();
        let len = self.0.find([' ', '\t']).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at_checked(len)?;
        let value = number(word.as_bytes())?;
        self.0 = rest;
        Some(value)
    }
}

/// `\\`, `\"` and `\n`; any other escape stays as it is.
fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some(escaped @ ('\\' | '"')) => out.push(escaped),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}
