//! What a person types to have fewer rows: words in any order, and `column:word`, `column>number` forms.
//!
//! ```text
//! gateway 502             both words, each in any column
//! "two words"             one piece of text
//! -health                 without it
//! service:gate            in that column
//! status=502 status!=200  exactly
//! duration_ms>=1000       numbers; with a unit for durations: connect_ms>1s
//! t>14:30:20              times, in the zone that is shown
//! pod:ingress             a name that is no column is a label or an attribute, where the table has some
//! ```

use regex::{Regex, RegexBuilder};

use crate::base::time::{Civil, Timestamp, Zone, parse_duration_nanos, parse_time};
use crate::model::schema::ColumnType;

/// What a filter may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// Its name.
    pub(super) name: String,
    /// What it holds.
    pub(super) kind: ColumnType,
    /// Whether it holds JSON objects, whose keys can be named too.
    pub(super) is_json: bool,
}

/// Why a filter was not understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// There is no such column, and no labels to look into.
    NoColumn(String),
    /// Nothing stands behind the sign.
    NoValue(String),
    /// A number was expected.
    NoNumber(String, String),
    /// A time was expected.
    NoTime(String, String),
    /// Text has no order here.
    NotOrdered(String),
    /// A quote was not closed.
    OpenQuote,
    /// Too long to be looked for.
    TooLong,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    /// The text is in it.
    Has,
    /// Equal.
    Is,
    /// Not equal.
    IsNot,
    /// Above.
    Above,
    /// Not below.
    AtLeast,
    /// Below.
    Below,
    /// Not above.
    AtMost,
}

const OPS: &[(&str, Op)] = &[
    (">=", Op::AtLeast),
    ("<=", Op::AtMost),
    ("!=", Op::IsNot),
    (">", Op::Above),
    ("<", Op::Below),
    ("=", Op::Is),
    (":", Op::Has),
];

impl Op {
    /// Whether `value` stands so to `bound`.
    pub(super) fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Has | Self::Is => value.total_cmp(&bound).is_eq(),
            Self::IsNot => value.total_cmp(&bound).is_ne(),
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }

    /// As [`Op::holds`] for whole numbers, which an `f64` would round.
    pub(super) const fn holds_exactly(self, value: i64, bound: i64) -> bool {
        match self {
            Self::Has | Self::Is => value == bound,
            Self::IsNot => value != bound,
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

/// A piece of text to look for, whatever its case.
#[derive(Debug, Clone)]
pub(super) struct Needle {
    pattern: Regex,
    /// As typed.
    pub(super) word: String,
    /// Whether a number could hold it.
    pub(super) may_be_number: bool,
    /// Whether a time could.
    pub(super) may_be_time: bool,
}

impl Needle {
    fn new(word: &str) -> Result<Self, Fault> {
        let pattern = insensitive(&regex::escape(word))?;
        let all = |extra: &str| {
            let mut chars = word.chars();
            !word.is_empty() && chars.all(|c| c.is_ascii_digit() || extra.contains(c))
        };
        Ok(Self {
            pattern,
            word: word.to_owned(),
            may_be_number: all(".,-e"),
            may_be_time: all(":.-T+Z") && word.contains(|c: char| c.is_ascii_digit()),
        })
    }

    /// Whether `text` holds it.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.pattern.is_match(text)
    }
}

fn insensitive(pattern: &str) -> Result<Regex, Fault> {
    // Its text is escaped: nothing but its length can be wrong with it.
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built.ok().ok_or(Fault::TooLong)
}

/// One thing that a row must fulfil.
#[derive(Debug, Clone)]
pub(super) enum Test {
    /// A word somewhere in the row.
    Anywhere(Needle),
    /// A word in one column.
    In(usize, Needle),
    /// One column is, or is not, exactly this text; empty is nothing at all.
    Text(usize, Op, String),
    /// A number column.
    Number(usize, Op, f64),
    /// A column of whole numbers against a whole number.
    Whole(usize, Op, i64),
    /// A time column, in nanoseconds.
    Time(usize, Op, i64),
    /// A key of the JSON in any of these columns.
    Key(Vec<usize>, Regex),
}

/// A filter that was understood.
#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    /// What a row must fulfil; `true` turns it round.
    pub(super) tests: Vec<(bool, Test)>,
}

/// What a filter is read against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grammar<'a> {
    /// The columns.
    pub(super) columns: &'a [Known],
    /// The zone of times without one.
    pub(super) zone: &'a Zone,
    /// The day of times without one.
    pub(super) day: Option<Timestamp>,
}

impl Grammar<'_> {
    /// Reads what was typed.
    pub(super) fn parse(&self, text: &str) -> Result<Filter, Fault> {
        let mut tests = Vec::new();
        for token in tokens(text)? {
            tests.push((token.is_not, self.test(&token)?));
        }
        Ok(Filter { tests })
    }

    fn test(&self, token: &Token) -> Result<Test, Fault> {
        let Some((name, op)) = &token.head else {
            return Ok(Test::Anywhere(Needle::new(&token.text)?));
        };
        let Some(at) = self.columns.iter().position(|c| c.name == *name) else {
            return self.unknown(name, *op, token);
        };
        let kind = self.columns.get(at).map(|c| c.kind);
        if token.text.is_empty() && !token.is_quoted {
            return Err(Fault::NoValue(token.raw.clone()));
        }
        if token.text.is_empty() {
            return Ok(Test::Text(at, *op, String::new()));
        }
        match kind {
            Some(ColumnType::Text) | None => text_test(at, name, *op, &token.text),
            Some(ColumnType::Int) => number(name, &token.text).map(|n| {
                if n.fract() == 0.0 && n.abs() < 9e15 {
                    Test::Whole(at, *op, n as i64)
                } else {
                    Test::Number(at, *op, n)
                }
            }),
            Some(ColumnType::Float) => number(name, &token.text).map(|n| Test::Number(at, *op, n)),
            Some(ColumnType::Time) => self.time(at, name, *op, &token.text),
        }
    }

    /// A name that is no column: a label, or text with a colon in it.
    fn unknown(&self, name: &str, op: Op, token: &Token) -> Result<Test, Fault> {
        let json: Vec<usize> = (0..self.columns.len())
            .filter(|at| self.columns.get(*at).is_some_and(|c| c.is_json))
            .collect();
        let is_address = op == Op::Has
            && token
                .text
                .starts_with(|c: char| c == '/' || c.is_ascii_digit());
        if is_address && !token.is_quoted {
            return Ok(Test::Anywhere(Needle::new(&token.raw)?));
        }
        if json.is_empty() {
            return Err(Fault::NoColumn(name.to_owned()));
        }
        let (name, value) = (regex::escape(name), regex::escape(&token.text));
        match op {
            Op::Has => Ok(Test::Key(
                json,
                insensitive(&format!("\"{name}\":\"?[^\"]*{value}"))?,
            )),
            Op::Is => Ok(Test::Key(
                json,
                insensitive(&format!("\"{name}\":\"?{value}[\",}}]"))?,
            )),
            _ => Err(Fault::NoColumn(name)),
        }
    }

    fn time(&self, at: usize, name: &str, op: Op, text: &str) -> Result<Test, Fault> {
        let is_clock = text.contains(':') && !text.contains('-') && !text.contains('T');
        let found = if is_clock {
            self.clock(text)
        } else {
            parse_time(text, self.zone).ok()
        };
        let t = found.ok_or_else(|| Fault::NoTime(name.to_owned(), text.to_owned()))?;
        Ok(Test::Time(at, op, t.nanos()))
    }

    /// `14:30`, `14:30:20.5` on the day of the data.
    fn clock(&self, text: &str) -> Option<Timestamp> {
        let day = self.zone.civil(self.day?);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let mut parts = whole.split(':');
        let mut next = |default: Option<i8>| match parts.next() {
            Some(part) => part.parse::<i8>().ok(),
            None => default,
        };
        let (hour, minute, second) = (next(None)?, next(None)?, next(Some(0))?);
        let mut nanos: i32 = 0;
        for at in 0..9 {
            let digit = match fraction.as_bytes().get(at) {
                Some(byte) if byte.is_ascii_digit() => i32::from(byte - b'0'),
                Some(_) => return None,
                None => 0,
            };
            nanos = nanos * 10 + digit;
        }
        self.zone.instant(&Civil {
            hour,
            minute,
            second,
            subsec_nanos: nanos,
            ..day
        })
    }
}

fn text_test(at: usize, name: &str, op: Op, text: &str) -> Result<Test, Fault> {
    match op {
        Op::Has => Ok(Test::In(at, Needle::new(text)?)),
        Op::Is | Op::IsNot => Ok(Test::Text(at, op, text.to_owned())),
        _ => Err(Fault::NotOrdered(name.to_owned())),
    }
}

/// A number; for columns of milliseconds and seconds also with a unit.
fn number(column: &str, text: &str) -> Result<f64, Fault> {
    let plain = text.replace(',', "");
    if let Ok(number) = plain.parse::<f64>()
        && number.is_finite()
    {
        return Ok(number);
    }
    let nanos = parse_duration_nanos(text).map(|n| n as f64);
    let scale = if column.ends_with("_ms") {
        Some(1e6)
    } else if column.ends_with("_s") {
        Some(1e9)
    } else {
        None
    };
    nanos
        .zip(scale)
        .map(|(nanos, scale)| nanos / scale)
        .ok_or_else(|| Fault::NoNumber(column.to_owned(), text.to_owned()))
}

/// One piece of what was typed.
#[derive(Debug, Default)]
struct Token {
    is_not: bool,
    head: Option<(String, Op)>,
    text: String,
    raw: String,
    is_quoted: bool,
}

fn tokens(text: &str) -> Result<Vec<Token>, Fault> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (token, after) = token(rest)?;
        if token.head.is_some() || !token.text.is_empty() {
            found.push(token);
        }
        rest = after.trim_start();
    }
    Ok(found)
}

fn token(text: &str) -> Result<(Token, &str), Fault> {
    let mut token = Token::default();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('-')
        && after.starts_with(|c: char| !c.is_whitespace())
    {
        token.is_not = true;
        rest = after;
    }
    let (head, mut rest) = head(rest);
    token.head = head;
    if let Some(quoted) = rest.strip_prefix('"') {
        let (inside, after) = quoted.split_once('"').ok_or(Fault::OpenQuote)?;
        inside.clone_into(&mut token.text);
        token.is_quoted = true;
        rest = after;
    } else {
        let end = word_end(rest);
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        word.clone_into(&mut token.text);
        rest = after;
    }
    let used = text.len().saturating_sub(rest.len());
    text.get(..used).unwrap_or(text).clone_into(&mut token.raw);
    Ok((token, rest))
}

/// `name` and sign in front, when there are both.
fn head(text: &str) -> (Option<(String, Op)>, &str) {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
        .unwrap_or(text.len());
    let (name, after) = text.split_at_checked(end).unwrap_or((text, ""));
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return (None, text);
    }
    for (sign, op) in OPS {
        if let Some(rest) = after.strip_prefix(sign) {
            return (Some((name.to_owned(), *op)), rest);
        }
    }
    (None, text)
}

/// The end of a word: a space outside the braces of a selector.
fn word_end(text: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if c.is_whitespace() && (depth == 0 || !text.contains('}')) => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn columns() -> Vec<Known> {
        [
            ("service", ColumnType::Text, false),
            ("status", ColumnType::Int, false),
            ("duration_ms", ColumnType::Float, false),
            ("t", ColumnType::Time, false),
            ("labels", ColumnType::Text, true),
        ]
        .into_iter()
        .map(|(name, kind, is_json)| Known {
            name: name.to_owned(),
            kind,
            is_json,
        })
        .collect()
    }

    fn parse(text: &str) -> Result<Filter, Fault> {
        let columns = columns();
        Grammar {
            columns: &columns,
            zone: &Zone::utc(),
            day: Timestamp::parse_rfc3339("2026-11-30T12:00:00Z"),
        }
        .parse(text)
    }

    #[test]
    fn words_and_columns_are_told_apart() {
        let filter = parse("gateway -health \"two words\" service:gate status=502").unwrap();
        let kinds: Vec<(bool, &str)> = filter
            .tests
            .iter()
            .map(|(is_not, test)| {
                let kind = match test {
                    Test::Anywhere(n) | Test::In(0, n) => n.word.as_str(),
                    Test::Whole(1, Op::Is, 502) => "502",
                    other => panic!("{other:?}"),
                };
                (*is_not, kind)
            })
            .collect();
        assert_eq!(
            kinds,
            [
                (false, "gateway"),
                (true, "health"),
                (false, "two words"),
                (false, "gate"),
                (false, "502")
            ]
        );
    }

    #[test]
    fn durations_and_times_have_units_and_a_day() {
        let filter = parse("duration_ms>1s t>=14:30:20.5").unwrap();
        assert!(
            matches!(filter.tests[0].1, Test::Number(2, Op::Above, ms) if (ms - 1000.0).abs() < 1e-9)
        );
        let want = Timestamp::parse_rfc3339("2026-11-30T14:30:20.5Z").unwrap();
        assert!(
            matches!(filter.tests[1].1, Test::Time(3, Op::AtLeast, t) if t == want.nanos()),
            "{filter:?}"
        );
    }

    #[test]
    fn a_fault_names_what_was_expected() {
        let fault = |text| parse(text).unwrap_err();
        assert_eq!(
            fault("duration_ms>fast"),
            Fault::NoNumber("duration_ms".to_owned(), "fast".to_owned())
        );
        assert_eq!(
            fault("t>yesterday"),
            Fault::NoTime("t".to_owned(), "yesterday".to_owned())
        );
        assert_eq!(fault("service>a"), Fault::NotOrdered("service".to_owned()));
        assert_eq!(fault("status="), Fault::NoValue("status=".to_owned()));
        assert_eq!(fault("\"open"), Fault::OpenQuote);
        assert_eq!(fault("pod>3"), Fault::NoColumn("pod".to_owned()));
    }

    #[test]
    fn addresses_selectors_and_labels_are_no_columns() {
        let word = |text| match &parse(text).unwrap().tests[..] {
            [(false, Test::Anywhere(n))] => n.word.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(word("http://a/b"), "http://a/b");
        assert_eq!(word("localhost:8080"), "localhost:8080");
        assert_eq!(word("up{job=\"a b\"}"), "up{job=\"a b\"}");
        let filter = parse("pod:gate pod=gateway-1").unwrap();
        let label = r#"{"job":"x","pod":"gateway-12"}"#;
        let hits: Vec<bool> = filter
            .tests
            .iter()
            .map(|(_, test)| match test {
                Test::Key(at, regex) => at == &[4] && regex.is_match(label),
                _ => panic!(),
            })
            .collect();
        assert_eq!(hits, [true, false]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,40}") {
            drop(parse(&text));
        }

        #[test]
        fn no_text_of_signs_panics(text in "[-a-z_\":{}<>=!. 0-9T]{0,40}") {
            drop(parse(&text));
        }

        #[test]
        fn plain_words_are_each_looked_for(words in prop::collection::vec("[a-z]{1,8}", 0..5)) {
            let filter = parse(&words.join("  ")).unwrap();
            let got: Vec<&str> = filter.tests.iter().map(|(_, t)| match t {
                Test::Anywhere(n) => n.word.as_str(),
                _ => "",
            }).collect();
            prop_assert_eq!(got, words);
        }
    }
}
