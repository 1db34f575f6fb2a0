//! The matchers of the settings, `namespace="shop",pod=~"web-.*"`, taken apart: remote read wants them one by one.

/// One matcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matcher {
    /// As protobuf counts them (`prometheus.md` §1.4): 0 `=`, 1 `!=`, 2 `=~`, 3 `!~`.
    pub(super) kind: u8,
    /// Name of the label.
    pub(super) name: String,
    /// The value or expression.
    pub(super) value: String,
}

/// Takes them apart. `None` for what this does not read (numbers as escapes in a string); then nobody may guess.
pub(super) fn parse(text: &str) -> Option<Vec<Matcher>> {
    let mut rest = text.trim();
    let mut all = Vec::new();
    while !rest.is_empty() {
        let (name, after) = if rest.starts_with(['"', '\'', '`']) {
            string(rest)?
        } else {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
            let (name, after) = rest.split_at(end);
            (name.to_owned(), after)
        };
        let after = after.trim_start();
        let (kind, after) = [("=~", 2), ("!~", 3), ("!=", 1), ("=", 0)]
            .iter()
            .find_map(|(sign, kind)| Some((*kind, after.strip_prefix(sign)?)))?;
        let (value, after) = string(after.trim_start())?;
        if name.is_empty() {
            return None;
        }
        all.push(Matcher { kind, name, value });
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.is_empty() => "",
            None => return None,
        };
    }
    Some(all)
}

/// A string by the rules of `PromQL`, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let mut chars = text.char_indices();
    let (_, quote) = chars
        .next()
        .filter(|(_, c)| matches!(c, '"' | '\'' | '`'))?;
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((value, text.get(at + c.len_utf8()..)?));
        }
        if c != '\\' || quote == '`' {
            value.push(c);
            continue;
        }
        value.push(match chars.next()?.1 {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            c @ ('\\' | '"' | '\'') => c,
            _ => return None,
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_taken_apart_as_promql_does() {
        let parts = parse(r#"namespace="shop", pod=~'web-\\d+',"a.b"!="x,y",c!~`\d`,"#).unwrap();
        let said: Vec<String> = parts
            .iter()
            .map(|m| format!("{}|{}|{}", m.kind, m.name, m.value))
            .collect();
        assert_eq!(
            said,
            ["0|namespace|shop", r"2|pod|web-\d+", "1|a.b|x,y", r"3|c|\d"]
        );
        for wrong in [
            "a",
            "a=",
            "a=b",
            "=\"x\"",
            "a=\"x",
            "a=\"x\" b=\"y\"",
            "a=\"\\x41\"",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
