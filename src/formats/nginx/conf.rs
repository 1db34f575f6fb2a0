//! `log_format` directives of an nginx configuration, and `log-format-upstream` of an ingress-nginx `ConfigMap`.

use crate::formats::NamedLogFormat;

/// The most parts or words that one directive may have; a longer one is no directive.
const MAX_WORDS: usize = 256;

/// Every `log_format NAME [escape=…] '…' '…';` of an nginx configuration, in order; of an ingress-nginx `ConfigMap` its
/// `log-format-upstream`. Nothing for any other text.
pub fn log_formats_of(text: &str) -> Vec<NamedLogFormat> {
    let mut found = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for token in (Tokens { rest: text }) {
        match token {
            Token::Word(word) if words.len() < MAX_WORDS => words.push(word),
            Token::Word(_) => {}
            Token::Semicolon => {
                found.extend(directive(&words));
                words.clear();
            }
            Token::Brace => words.clear(),
        }
    }
    found.extend(config_map(text));
    found
}

fn directive(words: &[String]) -> Option<NamedLogFormat> {
    let [keyword, name, rest @ ..] = words else {
        return None;
    };
    if keyword != "log_format" {
        return None;
    }
    let escape = rest.first().and_then(|w| w.strip_prefix("escape="));
    let parts = rest.get(usize::from(escape.is_some())..)?;
    (!parts.is_empty()).then(|| NamedLogFormat {
        name: name.clone(),
        format: parts.concat(),
        escape: escape.unwrap_or("default").to_owned(),
    })
}

/// The keys of an ingress-nginx `ConfigMap` in YAML (`logs.md` §1.1): the format is one scalar on the key's line.
fn config_map(text: &str) -> Option<NamedLogFormat> {
    let value_of = |key: &str| {
        text.lines().find_map(|line| {
            let value = line.trim_start().strip_prefix(key)?.strip_prefix(':')?;
            Some(unquote_yaml(value.trim()))
        })
    };
    let format = value_of("log-format-upstream").filter(|f| f.contains('$'))?;
    let is_set = |key: &str| value_of(key).is_some_and(|v| v == "true");
    let escape = if is_set("log-format-escape-json") {
        "json"
    } else if is_set("log-format-escape-none") {
        "none"
    } else {
        "default"
    };
    Some(NamedLogFormat {
        name: "log-format-upstream".to_owned(),
        format,
        escape: escape.to_owned(),
    })
}

fn unquote_yaml(value: &str) -> String {
    if let Some(inner) = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\'')) {
        return inner.replace("''", "'");
    }
    match value.strip_prefix('"').and_then(|v| v.strip_suffix('"')) {
        Some(inner) => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        None => value.to_owned(),
    }
}

enum Token {
    Word(String),
    Semicolon,
    Brace,
}

/// The words of an nginx configuration, by the rules of `ngx_conf_read_token`.
struct Tokens<'a> {
    rest: &'a str,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            self.rest = self.rest.trim_start();
            let first = self.rest.chars().next()?;
            let after = self.rest.get(first.len_utf8()..)?;
            match first {
                '#' => {
                    self.rest = after
                        .find('\n')
                        .and_then(|at| after.get(at..))
                        .unwrap_or("");
                }
                ';' => {
                    self.rest = after;
                    return Some(Token::Semicolon);
                }
                '{' | '}' => {
                    self.rest = after;
                    return Some(Token::Brace);
                }
                '\'' | '"' => {
                    self.rest = after;
                    return Some(Token::Word(self.until(|c| c == first, true)));
                }
                _ => {
                    let ends = |c: char| c.is_whitespace() || matches!(c, ';' | '{');
                    return Some(Token::Word(self.until(ends, false)));
                }
            }
        }
    }
}

impl Tokens<'_> {
    /// The characters before the first that `ends` a word. A backslash keeps the next character from ending it; nginx
    /// drops the backslash before a quote or another backslash only. `${name}` may stand in a bare word.
    fn until(&mut self, ends: impl Fn(char) -> bool, is_end_taken: bool) -> String {
        let mut word = String::new();
        let mut chars = self.rest.char_indices().peekable();
        let mut previous = ' ';
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                let next = chars.next().map(|(_, next)| next);
                match next {
                    Some(quoted @ ('"' | '\'' | '\\')) => word.push(quoted),
                    Some('t') => word.push('\t'),
                    Some('n') => word.push('\n'),
                    Some('r') => word.push('\r'),
                    Some(other) => word.extend([c, other]),
                    None => word.push(c),
                }
                previous = ' ';
                continue;
            }
            if ends(c) && !(c == '{' && previous == '$') {
                let from = if is_end_taken { at + c.len_utf8() } else { at };
                self.rest = self.rest.get(from..).unwrap_or("");
                return word;
            }
            word.push(c);
            previous = c;
        }
        self.rest = "";
        word
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_every_way_of_writing_one() {
        let formats = log_formats_of(
            r#"http { # log_format no 'x';
              log_format  main  '$remote_addr - [$time_local] '
                                '"$request" it''s'
                                "a \"b\" ${status}";
              log_format js escape=json '{"t":"$time_iso8601"}'; log_format raw escape=none $remote_addr;
              access_log logs/a.log main;
            }"#,
        );
        let names: Vec<(&str, &str)> = formats
            .iter()
            .map(|f| (f.name.as_str(), f.escape.as_str()))
            .collect();
        assert_eq!(
            names,
            [("main", "default"), ("js", "json"), ("raw", "none")]
        );
        assert_eq!(
            formats[0].format,
            "$remote_addr - [$time_local] \"$request\" itsa \"b\" ${status}"
        );
        assert_eq!(formats[1].format, r#"{"t":"$time_iso8601"}"#);
    }

    #[test]
    fn reads_the_config_map_of_ingress_nginx() {
        let formats = log_formats_of(
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  log-format-escape-json: \"true\"\n  log-format-upstream: '{\"uct\": \"$upstream_connect_time\"}'\n",
        );
        assert_eq!(formats.len(), 1);
        assert_eq!(formats[0].escape, "json");
        assert_eq!(formats[0].format, r#"{"uct": "$upstream_connect_time"}"#);
    }

    #[test]
    fn other_texts_have_none() {
        assert_eq!(log_formats_of("time,kind,title\n1,2,3\n"), []);
        assert_eq!(log_formats_of("log_format 'unterminated"), []);
    }

    proptest! {
        #[test]
        fn never_panics(text in "(log_format|[ a'\"\\\\{};#$\n]){0,60}") {
            log_formats_of(&text);
        }
    }
}
