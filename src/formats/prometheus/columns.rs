//! The pairs of a matrix straight into columns: the hot path (`design.md` §6, P1).

use super::values::{canonical_ms, opening_ms, quoted_number};
use crate::base::time::NANOS_PER_MS;

/// Why [`read_pairs`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// The array is closed; the place is behind its `]`.
    Done,
    /// What stands at this place, where an element should begin, is not in the canonical form.
    Odd,
}

/// Reads `[time,"value"],[time,"value"]]` from `at`, where the first element begins, as long as it is written exactly
/// as Prometheus writes it. White space, other spellings of times and all else are left to the caller.
pub(super) fn read_pairs(
    bytes: &[u8],
    at: usize,
    times: &mut Vec<i64>,
    values: &mut Vec<f64>,
) -> (usize, Pace) {
    let mut rest = bytes.get(at..).unwrap_or(&[]);
    loop {
        let Some((millis, value, used)) = pair(rest) else {
            return (bytes.len() - rest.len(), Pace::Odd);
        };
        let Some((separator, after)) = rest.get(used..).and_then(<[u8]>::split_first) else {
            return (bytes.len() - rest.len(), Pace::Odd);
        };
        if !matches!(separator, b',' | b']') {
            return (bytes.len() - rest.len(), Pace::Odd);
        }
        times.push(millis * NANOS_PER_MS);
        values.push(value);
        rest = after;
        if *separator == b']' {
            return (bytes.len() - rest.len(), Pace::Done);
        }
    }
}

/// One `[time,"value"]`, in milliseconds, with its length.
#[inline]
fn pair(bytes: &[u8]) -> Option<(i64, f64, usize)> {
    let (millis, time_len) = match opening_ms(bytes) {
        Some(usual) => usual,
        None => opening_of_any_length(bytes)?,
    };
    let quoted = bytes.get(time_len..)?.strip_prefix(b"\"")?;
    let (value, value_len) = quoted_number(quoted)?;
    if !quoted.get(value_len..)?.starts_with(b"\"]") {
        return None;
    }
    Some((millis, value, time_len + 1 + value_len + 2))
}

/// `[0.5,` and other times that are not ten digits long.
fn opening_of_any_length(bytes: &[u8]) -> Option<(i64, usize)> {
    let time = bytes.strip_prefix(b"[")?;
    let (millis, len) = canonical_ms(time)?;
    (time.get(len) == Some(&b',')).then_some((millis, len + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<i64>, Vec<f64>, usize, Pace) {
        let (mut t, mut v) = (Vec::new(), Vec::new());
        let (at, pace) = read_pairs(text.as_bytes(), 0, &mut t, &mut v);
        (t, v, at, pace)
    }

    #[test]
    fn reads_what_prometheus_writes() {
        let (t, v, at, pace) = read(r#"[1.5,"1"],[2,"-Inf"],[3.25,"1e+21"]]}"#);
        assert_eq!(t, [1_500_000_000, 2_000_000_000, 3_250_000_000]);
        assert_eq!(v, [1.0, f64::NEG_INFINITY, 1e21]);
        assert_eq!((at, pace), (36, Pace::Done));
    }

    #[test]
    fn stops_before_what_is_odd() {
        for odd in [
            r#" [2,"2"]]"#,
            r#"[2, "2"]]"#,
            "[2,2]]",
            r#"[2,"2"#,
            r#"[2e0,"2"]]"#,
            r#"[1796045870869,"2"]]"#,
            "",
        ] {
            let (t, _, at, pace) = read(&format!(r#"[1,"1"],{odd}"#));
            assert_eq!((t.len(), at, pace), (1, 8, Pace::Odd), "{odd}");
        }
    }
}
