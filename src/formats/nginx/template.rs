//! A `log_format` string, compiled; and lines matched against it.
//!
//! A variable ends at the next literal. Lists over upstream attempts and `$time_local` have blanks of their own and end
//! by their grammar. Free text (a user agent under `escape=none`) may hold the literal that ends it: then the next
//! occurrence is tried, within a budget, so that a hostile line costs no more than a few scans.

use std::borrow::Cow;

use crate::formats::NamedLogFormat;
use crate::formats::nginx::field::{Field, Fields, Unit};
use crate::formats::nginx::times;
use crate::formats::upstream_lists;

/// How often one line may be tried again with a later end of a free text.
const RETRIES_PER_LINE: u32 = 64;
/// More variables than this is no log format (each costs a level of recursion at most).
const MAX_TOKENS: usize = 256;

/// How values are escaped in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// `\xHH`.
    Default,
    /// As in JSON strings.
    Json,
    /// Not at all.
    None,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Literal(String),
    Field {
        field: Field,
        unit: Unit,
        name: String,
    },
}

/// A compiled format.
#[derive(Debug, Clone)]
pub(super) struct Template {
    pub(super) name: String,
    pub(super) escape: Escape,
    tokens: Vec<Token>,
}

/// Where a line left its format, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mismatch {
    /// Byte in the line, from 0.
    pub(super) at: usize,
    pub(super) expected: String,
}

impl Template {
    /// Compiles; `None` for a string without variables or with too many.
    pub(super) fn compile(format: &NamedLogFormat) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut literal = String::new();
        let mut rest = format.format.as_str();
        while let Some(dollar) = rest.find('$') {
            let (before, from) = rest.split_at(dollar);
            literal.push_str(before);
            let after = from.get(1..).unwrap_or("");
            let (name, next) = match after.strip_prefix('{').and_then(|a| a.split_once('}')) {
                Some(braced) => braced,
                None => after.split_at(
                    after
                        .bytes()
                        .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                        .count(),
                ),
            };
            if name.is_empty() {
                literal.push('$');
            } else {
                if !literal.is_empty() {
                    tokens.push(Token::Literal(std::mem::take(&mut literal)));
                }
                let (field, unit) = Field::of_variable(name);
                let name = name.to_owned();
                tokens.push(Token::Field { field, unit, name });
            }
            rest = next;
        }
        literal.push_str(rest);
        let has_fields = tokens.iter().any(|t| matches!(t, Token::Field { .. }));
        if !literal.is_empty() {
            tokens.push(Token::Literal(literal));
        }
        name_bracketed_group(&mut tokens);
        (has_fields && tokens.len() <= MAX_TOKENS).then(|| Self {
            name: format.name.clone(),
            escape: match format.escape.as_str() {
                "json" => Escape::Json,
                "none" => Escape::None,
                _ => Escape::Default,
            },
            tokens,
        })
    }

    /// Whether it says when; without, its lines are no use.
    pub(super) fn has_time(&self) -> bool {
        self.tokens
            .iter()
            .any(|t| matches!(t, Token::Field { field, .. } if field.is_time()))
    }

    /// Takes `line` apart into `out`; gives what stands behind the format.
    pub(super) fn match_line<'a>(
        &self,
        line: &'a str,
        out: &mut Fields<'a>,
    ) -> Result<&'a str, Mismatch> {
        let mut search = Search {
            template: self,
            line,
            spans: Vec::with_capacity(self.tokens.len()),
            retries: RETRIES_PER_LINE,
            deepest: Mismatch {
                at: 0,
                expected: String::new(),
            },
        };
        let Some(end) = search.run(0, 0) else {
            return Err(search.deepest);
        };
        for (token, from, to) in search.spans {
            if let Some(Token::Field { field, unit, .. }) = self.tokens.get(token)
                && let Some(value) = line.get(from..to)
            {
                out.set(*field, Cow::Borrowed(value), *unit);
            }
        }
        Ok(line.get(end..).unwrap_or(""))
    }
}

/// ingress-nginx writes the upstream group in brackets. A format made after it may fill them from a variable of its own
/// name; then the first unknown variable that stands alone in brackets is the group.
fn name_bracketed_group(tokens: &mut [Token]) {
    let has = |field: Field| {
        tokens
            .iter()
            .any(|t| matches!(t, Token::Field { field: f, .. } if *f == field))
    };
    if has(Field::UpstreamName) || !has(Field::UpstreamAddr) {
        return;
    }
    let place = tokens.windows(3).position(|w| match w {
        [
            Token::Literal(before),
            Token::Field {
                field: Field::Other,
                ..
            },
            Token::Literal(after),
        ] => before.ends_with('[') && after.starts_with(']'),
        _ => false,
    });
    if let Some(Token::Field { field, .. }) = place.and_then(|at| tokens.get_mut(at + 1)) {
        *field = Field::UpstreamName;
    }
}

struct Search<'t, 'a> {
    template: &'t Template,
    line: &'a str,
    /// Token, from, to.
    spans: Vec<(usize, usize, usize)>,
    retries: u32,
    deepest: Mismatch,
}

impl Search<'_, '_> {
    /// Matches from a token on at a place; gives where the last one ended.
    fn run(&mut self, first: usize, start: usize) -> Option<usize> {
        let template = self.template;
        let mut at = start;
        for (index, token) in template.tokens.iter().enumerate().skip(first) {
            match token {
                Token::Literal(literal) => {
                    if !self.line.get(at..)?.starts_with(literal.as_str()) {
                        return self.fail(at, || format!("{literal:?}"));
                    }
                    at += literal.len();
                }
                Token::Field { field, name, .. } => {
                    let ending = template
                        .tokens
                        .get(index + 1..)?
                        .iter()
                        .find_map(|t| match t {
                            Token::Literal(l) => Some(l.as_str()),
                            Token::Field { .. } => None,
                        });
                    if let (true, Some(ending)) = (field.is_free_text(), ending) {
                        return self.free_text(index, at, ending, *field, name);
                    }
                    let end = self.end_of(*field, at, ending, name)?;
                    let value = self.line.get(at..end)?;
                    if !field.accepts(value) {
                        return self.fail(at, || format!("a value of ${name}"));
                    }
                    self.spans.push((index, at, end));
                    at = end;
                }
            }
        }
        Some(at)
    }

    /// A free text ends at the first occurrence of `ending` behind which the rest of the line fits.
    fn free_text(
        &mut self,
        index: usize,
        at: usize,
        ending: &str,
        field: Field,
        name: &str,
    ) -> Option<usize> {
        let mut from = at;
        loop {
            let Some(found) = self.line.get(from..).and_then(|rest| rest.find(ending)) else {
                return self.fail(from, || format!("{ending:?} behind ${name}"));
            };
            let end = from + found;
            let kept = self.spans.len();
            if field.accepts(self.line.get(at..end)?) {
                self.spans.push((index, at, end));
                if let Some(done) = self.run(index + 1, end) {
                    return Some(done);
                }
            }
            self.spans.truncate(kept);
            self.retries = self.retries.checked_sub(1)?;
            from = end + ending.chars().next().map_or(1, char::len_utf8);
        }
    }

    fn end_of(
        &mut self,
        field: Field,
        at: usize,
        ending: Option<&str>,
        name: &str,
    ) -> Option<usize> {
        let rest = self.line.get(at..)?;
        let is_blank_next = ending.is_none_or(|e| e.starts_with(' '));
        if field == Field::TimeLocal
            && let Some(length) = times::time_local_len(rest)
        {
            return Some(at + length);
        }
        if field.is_list() && is_blank_next {
            return Some(at + upstream_lists::list_len(rest));
        }
        match ending {
            Some(ending) => match rest.find(ending) {
                Some(found) => Some(at + found),
                None => self.fail(at, || format!("{ending:?} behind ${name}")),
            },
            None if field.is_free_text() => Some(self.line.len()),
            None => Some(at + rest.find(' ').unwrap_or(rest.len())),
        }
    }

    fn fail<T>(&mut self, at: usize, expected: impl FnOnce() -> String) -> Option<T> {
        if at >= self.deepest.at || self.deepest.expected.is_empty() {
            self.deepest = Mismatch {
                at,
                expected: expected(),
            };
        }
        None
    }
}

/// The `key=value` pairs in what stands behind a format: a value is quoted, or ends before the next ` key=`.
pub(super) fn key_values<'a>(tail: &'a str, out: &mut Fields<'a>) -> usize {
    let mut taken = 0;
    let mut rest = tail.trim();
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.rsplit(' ').next().unwrap_or(key);
        let (value, next) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_at(bare_value_len(after)),
        };
        let (field, unit) = Field::of_name(key);
        if field.accepts(value) {
            let looks_like_address = value.contains([':', '/']) && !value.contains(['(', ';']);
            let field = match field {
                Field::AddrOrAgent if looks_like_address || matches!(value, "" | "-") => {
                    Field::UpstreamAddr
                }
                other => other,
            };
            taken += usize::from(field < Field::OtherList);
            out.set(field, Cow::Borrowed(value), unit);
        }
        rest = next.trim_start();
    }
    taken
}

/// How far a bare value reaches: to the blank before the next `key=`.
fn bare_value_len(text: &str) -> usize {
    let Some(equals) = text.find('=') else {
        return text.trim_end().len();
    };
    let before = text.get(..equals).unwrap_or(text);
    before.rfind(' ').unwrap_or(equals)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template(format: &str, escape: &str) -> Template {
        Template::compile(&NamedLogFormat {
            name: "test".to_owned(),
            format: format.to_owned(),
            escape: escape.to_owned(),
        })
        .unwrap()
    }

    #[test]
    fn a_variable_ends_at_the_next_literal() {
        let template = template(
            "$remote_addr|${request_time}ms [$time_local] $status",
            "default",
        );
        let mut fields = Fields::new();
        let rest = template
            .match_line(
                "10.0.0.1|0.023ms [30/Nov/2026:13:35:59 +0000] 200 more",
                &mut fields,
            )
            .unwrap();
        assert_eq!(rest, " more");
        assert_eq!(fields.get(Field::Client), Some("10.0.0.1"));
        assert_eq!(fields.get(Field::Duration), Some("0.023"));
        assert_eq!(fields.get(Field::Status), Some("200"));
    }

    #[test]
    fn lists_and_times_keep_their_blanks() {
        let template = template(
            "$time_local $upstream_addr $upstream_connect_time $status",
            "default",
        );
        let mut fields = Fields::new();
        template
            .match_line(
                "30/Nov/2026:13:35:59 +0000 10.0.0.1:80, 10.0.0.2:80 : unix:/a -, 0.000 : 0.001 200",
                &mut fields,
            )
            .unwrap();
        assert_eq!(
            fields.get(Field::UpstreamAddr),
            Some("10.0.0.1:80, 10.0.0.2:80 : unix:/a")
        );
        assert_eq!(fields.get(Field::UpstreamConnect), Some("-, 0.000 : 0.001"));
    }

    #[test]
    fn a_raw_quote_in_a_user_agent_does_not_break_the_line() {
        let template = template(
            "\"$request\" \"$http_user_agent\" $status $request_time",
            "none",
        );
        let mut fields = Fields::new();
        template
            .match_line("\"GET / HTTP/1.1\" \"a \" b\" 12\" 200 0.001", &mut fields)
            .unwrap();
        assert_eq!(fields.get(Field::Status), Some("200"));
        assert_eq!(fields.get(Field::Duration), Some("0.001"));
    }

    #[test]
    fn a_mismatch_says_where_and_what() {
        let template = template("$remote_addr [$time_local] $status", "default");
        let error = template
            .match_line("10.0.0.1 [yesterday] 200", &mut Fields::new())
            .unwrap_err();
        assert_eq!(error.at, 10);
        assert_eq!(error.expected, "a value of $time_local");
    }

    #[test]
    fn pairs_behind_a_format_may_hold_lists() {
        let mut fields = Fields::new();
        let taken = key_values(
            " uct=-, 0.000 uht=-, 0.005 ua=\"10.0.0.1:9, 10.0.0.2:80\" x=1",
            &mut fields,
        );
        assert_eq!(taken, 3);
        assert_eq!(fields.get(Field::UpstreamConnect), Some("-, 0.000"));
        assert_eq!(fields.get(Field::UpstreamHeader), Some("-, 0.005"));
        assert_eq!(
            fields.get(Field::UpstreamAddr),
            Some("10.0.0.1:9, 10.0.0.2:80")
        );
    }

    proptest! {
        #[test]
        fn never_panics(
            format in "(\\$[a-z_]{1,12}|\\$\\{status\\}|[\\[\\]\" \\-|é]){0,20}",
            escape in "(default|json|none)",
            line in "[0-9a-z\\-:,/\" =\\[\\]é]{0,80}",
        ) {
            let format = NamedLogFormat { name: String::new(), format, escape };
            if let Some(template) = Template::compile(&format) {
                let mut fields = Fields::new();
                if let Ok(rest) = template.match_line(&line, &mut fields) {
                    key_values(rest, &mut fields);
                }
            }
        }

        #[test]
        fn what_a_format_writes_it_reads(
            client in "[0-9]{1,3}\\.[0-9]{1,3}",
            path in "/[a-z0-9?=&]{0,20}",
            status in 100u16..600,
            millis in 0u32..100_000,
        ) {
            let template = template("$remote_addr \"$request_method $request_uri\" $status $request_time", "default");
            let line = format!("{client} \"GET {path}\" {status} {}.{:03}", millis / 1000, millis % 1000);
            let mut fields = Fields::new();
            prop_assert_eq!(template.match_line(&line, &mut fields).unwrap(), "");
            prop_assert_eq!(fields.get(Field::Client), Some(client.as_str()));
            prop_assert_eq!(fields.get(Field::Path), Some(path.as_str()));
            let status = status.to_string();
            prop_assert_eq!(fields.get(Field::Status), Some(status.as_str()));
        }
    }
}
