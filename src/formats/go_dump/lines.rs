//! The forms of single lines of a stack dump (`profiles.md` §5).

/// Where a header begins in a line: behind whatever a log put before it. Lines have no blanks at their ends.
pub(super) fn header_start(line: &[u8]) -> Option<usize> {
    if !line.ends_with(b"]:") {
        return None;
    }
    let start = if line.starts_with(b"goroutine ") {
        0
    } else {
        memchr::memmem::find(line, b"goroutine ")?
    };
    let rest = line.get(start + b"goroutine ".len()..)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (before, _) = bracket(rest)?;
    (digits > 0 && before.get(digits) == Some(&b' ')).then_some(start)
}

/// The text after the `[` of a header that is closed by the last `]:` of its line, and what stands before it.
/// Label values may hold `]` and `]:`, so the last one counts (`profiles.md` §5).
pub(super) fn bracket(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let open = memchr::memchr(b'[', line)?;
    let (before, rest) = line.split_at_checked(open)?;
    let inner = rest.strip_prefix(b"[")?.strip_suffix(b"]:")?;
    Some((before, inner))
}

/// A number at the start of a text.
pub(super) fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}

/// `function(arguments)`, split at the last `(`: names hold parentheses too.
pub(super) fn call_of(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = line.strip_suffix(b")")?;
    let open = memchr::memrchr(b'(', inner)?;
    let (name, arguments) = inner.split_at_checked(open)?;
    (!name.is_empty()).then_some((name, arguments.get(1..).unwrap_or_default()))
}

/// `file:line` of an indented line, without ` +0x…` and ` fp=… sp=… pc=…`.
pub(super) fn place_of(line: &[u8]) -> Option<&[u8]> {
    let mut place = line;
    while let Some(blank) = memchr::memrchr(b' ', place) {
        let word = place.get(blank + 1..)?;
        let is_extra = [&b"+0x"[..], b"fp=0x", b"sp=0x", b"pc=0x"]
            .iter()
            .any(|mark| word.starts_with(mark));
        if !is_extra {
            break;
        }
        place = place.get(..blank)?;
    }
    let colon = memchr::memrchr(b':', place)?;
    let digits = place.get(colon + 1..)?;
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(place)
}

/// The name in `created by NAME in goroutine 1`, as Go prints it from 1.21 on, or without the goroutine.
pub(super) fn creator_of(line: &[u8]) -> Option<&[u8]> {
    let name = line.strip_prefix(b"created by ")?;
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    let without_id = name.get(..name.len() - digits)?;
    Some(without_id.strip_suffix(b" in goroutine ").unwrap_or(name))
}

/// Whether a line outside a stack is surely of one: it names a source file or a creator.
pub(super) fn looks_like_frame(line: &[u8]) -> bool {
    let bare = line.trim_ascii_start();
    let has_place = place_of(bare)
        .and_then(|place| memchr::memrchr(b':', place).and_then(|colon| place.get(..colon)))
        .is_some_and(|file| file.ends_with(b".go") || file.ends_with(b".s"));
    has_place || memchr::memmem::find(bare, b"created by ").is_some()
}

/// The first argument when it is an address that is surely current: not marked `?`, not 0.
pub(super) fn first_word(arguments: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b',', arguments).unwrap_or(arguments.len());
    Words::of(arguments.get(..end)?).find(|word| *word != 0)
}

/// All words `0x…` of a list of arguments that no `?` follows.
pub(super) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// Of the text between the parentheses.
    pub(super) fn of(arguments: &'a [u8]) -> Self {
        Self(arguments)
    }
}

impl Iterator for Words<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            if *byte != b'x' {
                continue;
            }
            let mut value = 0u64;
            while let Some((byte, rest)) = self.0.split_first()
                && let Some(digit) = hex_digit(*byte)
            {
                value = value << 4 | digit;
                self.0 = rest;
            }
            if self.0.first() != Some(&b'?') {
                return Some(value);
            }
        }
    }
}

/// Go prints addresses in lower-case hex.
const fn hex_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some((byte - b'0') as u64),
        b'a'..=b'f' => Some((byte - b'a' + 10) as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_open_behind_any_prefix_and_close_at_the_last_bracket() {
        assert_eq!(header_start(b"goroutine 7 [select]:"), Some(0));
        assert_eq!(
            header_start(b"May 19 host p[1]: goroutine 7 gp=0x1 m=nil [IO wait, 2 minutes]:"),
            Some(18)
        );
        for line in [
            &b"goroutine x [select]:"[..],
            b"goroutine 7 [select]",
            b"goroutine 7:",
            b"goroutine 7[a]:",
            b"]:",
        ] {
            assert_eq!(header_start(line), None);
        }
        let (_, inner) = bracket(b"7 [select labels:{\"k\": \"]: x\"}]:").unwrap();
        assert_eq!(inner, b"select labels:{\"k\": \"]: x\"}");
    }

    #[test]
    fn calls_split_at_the_last_parenthesis() {
        let (name, arguments) = call_of(b"main.(*T).m({0x1, 0x2?}, 0x3)").unwrap();
        assert_eq!(
            (name, arguments),
            (&b"main.(*T).m"[..], &b"{0x1, 0x2?}, 0x3"[..])
        );
        assert_eq!(Words::of(arguments).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(first_word(b"0x90d6264"), Some(0x90d_6264));
        assert_eq!(first_word(b"0x0?, 0x7"), None);
        assert_eq!(call_of(b"(0x1)"), None);
    }

    #[test]
    fn places_end_before_offsets() {
        assert_eq!(
            place_of(b"C:/a b/c.go:12 +0x25 fp=0x1 sp=0x2 pc=0x3"),
            Some(&b"C:/a b/c.go:12"[..])
        );
        assert_eq!(
            place_of(b"<autogenerated>:1 fp=0x1"),
            Some(&b"<autogenerated>:1"[..])
        );
        assert_eq!(place_of(b"c.go"), None);
    }
}
