//! One condition on a label.

use regex::{Regex, RegexBuilder};

/// How a value is compared.
#[derive(Debug, Clone)]
pub enum Match {
    /// `=`
    Equal(String),
    /// `!=`
    NotEqual(String),
    /// `=~`, the whole value.
    Like(Regex),
    /// `!~`, the whole value.
    NotLike(Regex),
}

/// A label and what its value must be. A label that is not there counts as empty.
#[derive(Debug, Clone)]
pub struct Matcher {
    /// The label.
    pub name: String,
    /// Its value.
    pub value: Match,
}

/// Bytes that a compiled expression may take; a thousand names joined by `|` take a tenth of it.
const REGEX_BYTES: usize = 16 << 20;

/// An expression that must match a value as a whole, with `.` for line ends too (Prometheus' `FastRegexMatcher`).
pub(super) fn anchored(pattern: &str) -> Result<Regex, String> {
    // Alone first: `a)(b` must not become right by the brackets around it.
    let build = |text: &str| {
        RegexBuilder::new(text)
            .size_limit(REGEX_BYTES)
            .dot_matches_new_line(true)
            .build()
            .map_err(|e| {
                let text = e.to_string();
                let last = text.lines().last().unwrap_or_default();
                last.trim_start_matches("error: ").to_owned()
            })
    };
    build(pattern)?;
    build(&format!("^(?:{pattern})$"))
}

impl Matcher {
    /// Whether a value is as it must be.
    pub fn holds(&self, value: &str) -> bool {
        match &self.value {
            Match::Equal(text) => value == text,
            Match::NotEqual(text) => value != text,
            Match::Like(regex) => regex.is_match(value),
            Match::NotLike(regex) => !regex.is_match(value),
        }
    }
}
