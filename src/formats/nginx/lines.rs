//! The lines of a log, whatever state it is in.

use std::borrow::Cow;

use crate::base::reporter::Reporter;

/// A longer line is reported and passed over: nginx itself stops far below (its buffers hold 32 KiB at most by default).
pub(super) const MAX_LINE_BYTES: usize = 1024 * 1024;

/// One line that is not blank.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// From 1.
    pub(super) number: u64,
    pub(super) text: Cow<'a, str>,
    /// Whether it is the last one and has no line end: the file may have been cut in it.
    pub(super) is_open: bool,
}

impl Line<'_> {
    /// `line 12`.
    pub(super) fn place(&self) -> String {
        format!("line {}", self.number)
    }
}

/// A whole file as bytes that are UTF-8 for the most part: UTF-16 with its mark is decoded, a UTF-8 mark dropped.
pub(super) fn as_utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let (text, _) = crate::base::text::decode(bytes);
        return Cow::Owned(text.into_owned().into_bytes());
    }
    Cow::Borrowed(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}

/// Calls `take` for every line that is neither blank nor too long. Bytes that are no UTF-8 are replaced, and said.
pub(super) fn for_each(
    bytes: &[u8],
    log: &mut Reporter,
    mut take: impl FnMut(&Line<'_>, &mut Reporter),
) {
    let mut number = 0;
    let mut rest = bytes;
    while !rest.is_empty() {
        number += 1;
        let (line, next, is_open) = match memchr::memchr(b'\n', rest) {
            Some(end) => (
                rest.get(..end).unwrap_or(rest),
                rest.get(end + 1..).unwrap_or(&[]),
                false,
            ),
            None => (rest, &[] as &[u8], true),
        };
        rest = next;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if line.len() > MAX_LINE_BYTES {
            let text = format!(
                "a line of {} bytes was passed over; expected at most 1 MiB; split the file if it is a log at all",
                line.len()
            );
            log.lost("line_too_long", text, format!("line {number}"));
            continue;
        }
        let text = match std::str::from_utf8(line) {
            Ok(text) => Cow::Borrowed(text),
            Err(error) => {
                let text = format!(
                    "bytes that are not UTF-8 were replaced (the first is byte {} of the line)",
                    error.valid_up_to() + 1
                );
                log.note("bad_encoding", text, format!("line {number}"));
                String::from_utf8_lossy(line)
            }
        };
        let line = Line {
            number,
            text,
            is_open,
        };
        take(&line, log);
    }
}

/// A container runtime's prefix (`2026-11-30T13:35:59.538Z stdout F `), taken off.
pub(super) fn without_cri_prefix(line: &str) -> &str {
    let mut parts = line.splitn(4, ' ');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(time), Some("stdout" | "stderr"), Some("F" | "P"), Some(rest))
            if time.contains('T') =>
        {
            rest
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_whole_and_says_what_is_not() {
        let mut bytes = b"one\r\n\n".to_vec();
        bytes.extend(vec![b'x'; MAX_LINE_BYTES + 1]);
        bytes.extend(b"\nb\xffd\nlast");
        let mut log = Reporter::new();
        let mut seen = Vec::new();
        for_each(&bytes, &mut log, |line, _| {
            seen.push((line.number, line.text.clone().into_owned(), line.is_open));
        });
        assert_eq!(
            seen,
            [
                (1, "one".to_owned(), false),
                (4, "b\u{fffd}d".to_owned(), false),
                (5, "last".to_owned(), true)
            ]
        );
        assert!(log.is_lossy());
        let codes: Vec<String> = log.into_warnings().into_iter().map(|w| w.code).collect();
        assert_eq!(codes, ["line_too_long", "bad_encoding"]);
    }

    #[test]
    fn a_container_runtime_is_looked_through() {
        assert_eq!(
            without_cri_prefix("2026-11-30T13:35:59.5Z stdout F 10.0.0.1 - -"),
            "10.0.0.1 - -"
        );
        assert_eq!(without_cri_prefix("10.0.0.1 - - [x]"), "10.0.0.1 - - [x]");
    }
}
