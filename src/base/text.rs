//! Words: shortening, quoting, counting.

use std::borrow::Cow;

/// At most `max` characters of `text`, with `…` in place of what was cut; control characters become spaces.
pub fn shorten(text: &str, max: usize) -> String {
    let mut out: String = text
        .chars()
        .take(max)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(max).is_some() {
        out.pop();
        out.push('…');
    }
    out
}

/// Columns that a text takes where letters are equally wide: Hangul and what is as wide takes two (UAX #11, W and F).
pub fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| match c {
            '\u{1100}'..='\u{115f}'
            | '\u{2e80}'..='\u{a4cf}'
            | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}'
            | '\u{fe30}'..='\u{fe6f}'
            | '\u{ff00}'..='\u{ff60}'
            | '\u{ffe0}'..='\u{ffe6}'
            | '\u{1f300}'..='\u{1faff}' => 2,
            _ => 1,
        })
        .sum()
}

/// `1 scrape`, `5 scrapes`.
pub fn count(n: u64, singular: &str, plural: &str) -> String {
    if n == 1 {
        format!("1 {singular}")
    } else {
        format!("{} {plural}", grouped(n))
    }
}

/// `12345` as `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `a`, `a and b`, `a, b and c`.
pub fn join_and<S: AsRef<str>>(parts: &[S]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", init.join(", "), last.as_ref())
        }
    }
}

/// Bytes as text: UTF-8 as it is, with a byte order mark removed, UTF-16 decoded by its mark, anything else with its
/// bad bytes replaced. The flag says whether something had to be replaced.
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let (text, _, replaced) = encoding_rs::UTF_8.decode(bytes);
    (text, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(count(1, "scrape", "scrapes"), "1 scrape");
        assert_eq!(join_and(&["a", "b", "c"]), "a, b and c");
        assert_eq!(shorten("abcdef", 4), "abc…");
        assert_eq!(columns("2분 39초"), 8);
    }

    #[test]
    fn decodes_by_the_mark() {
        assert_eq!(decode(b"\xff\xfea\0b\0").0, "ab");
        assert_eq!(decode(b"\xef\xbb\xbfab").0, "ab");
        assert!(decode(b"a\xffb").1);
    }
}
