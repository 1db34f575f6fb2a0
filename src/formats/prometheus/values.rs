//! Numbers and times as Prometheus-like servers spell them.

use crate::base::time::{NANOS_PER_MS, Timestamp};

/// The largest whole number up to which every whole number is an `f64`.
const EXACT_F64: u64 = 1 << 53;

/// Powers of ten that an `f64` holds exactly. Dividing an exact mantissa by one of them rounds once, so that the
/// quotient is the nearest `f64` (Clinger 1990; the fast path of every correct float parser).
const POW10: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Seconds at 2200-01-01: later than any time that is meant, and earlier than milliseconds of any year from 1971.
const LATEST_SECS: i64 = 7_258_118_400;

/// Eight ASCII digits at once; `None` when one is not a digit.
fn eight_digits(chunk: [u8; 8]) -> Option<u64> {
    let x = u64::from_le_bytes(chunk);
    let is_digits = (x & 0xF0F0_F0F0_F0F0_F0F0)
        | ((x.wrapping_add(0x0606_0606_0606_0606) & 0xF0F0_F0F0_F0F0_F0F0) >> 4);
    if is_digits != 0x3333_3333_3333_3333 {
        return None;
    }
    let pairs = (x & 0x0F0F_0F0F_0F0F_0F0F).wrapping_mul(2561) >> 8;
    let fours = (pairs & 0x00FF_00FF_00FF_00FF).wrapping_mul(6_553_601) >> 16;
    Some((fours & 0x0000_FFFF_0000_FFFF).wrapping_mul(42_949_672_960_001) >> 32)
}

/// Digits at the beginning of `bytes` added to `mantissa`; how many there were. Stops at 19, which always fit.
#[inline]
fn digits(bytes: &[u8], mantissa: &mut u64, room: usize) -> usize {
    let mut at = 0;
    while at + 8 <= room
        && let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>())
        && let Some(eight) = eight_digits(*chunk)
    {
        *mantissa = *mantissa * 100_000_000 + eight;
        at += 8;
    }
    while at < room
        && let Some(digit) = bytes.get(at).map(|b| b.wrapping_sub(b'0'))
        && digit < 10
    {
        *mantissa = *mantissa * 10 + u64::from(digit);
        at += 1;
    }
    at
}

/// Plain seconds with at most three decimals (the form that Prometheus writes), in milliseconds, and how many bytes
/// they took. `None` for anything else, also for times that are not plainly seconds.
#[inline]
pub(super) fn canonical_ms(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut secs = 0u64;
    let whole = digits(bytes, &mut secs, 11);
    if whole == 0 || secs >= LATEST_SECS as u64 {
        return None;
    }
    let secs = secs.cast_signed();
    if bytes.get(whole) != Some(&b'.') {
        return Some((secs * 1_000, whole));
    }
    let mut millis = 0u64;
    let fraction = digits(bytes.get(whole + 1..)?, &mut millis, 4);
    let scale = match fraction {
        1 => 100,
        2 => 10,
        3 => 1,
        _ => return None,
    };
    Some((
        secs * 1_000 + millis.cast_signed() * scale,
        whole + 1 + fraction,
    ))
}

/// `[1796045870.869,` or `[1796045870,`, as every time since 2001 is written, in milliseconds with its length: one load
/// and two multiplications instead of a loop over the digits.
#[inline]
pub(super) fn opening_ms(bytes: &[u8]) -> Option<(i64, usize)> {
    let chunk = bytes.first_chunk::<16>()?;
    let [b'[', high @ .., _, _, _, _, _, _, _] = *chunk else {
        return None;
    };
    let [
        ..,
        tens,
        ones,
        point,
        tenths,
        hundredths,
        thousandths,
        comma,
    ] = *chunk;
    let high = eight_digits(high)?;
    let (fraction, len) = match (point, comma) {
        (b'.', b',') => ([tenths, hundredths, thousandths], 16),
        (b',', _) => ([b'0'; 3], 12),
        _ => return None,
    };
    let [tenths, hundredths, thousandths] = fraction;
    let low = eight_digits([
        b'0',
        b'0',
        b'0',
        tens,
        ones,
        tenths,
        hundredths,
        thousandths,
    ])?;
    let millis = (high * 100_000 + low).cast_signed();
    (millis < LATEST_SECS * 1_000).then_some((millis, len))
}

/// A number followed by a quote, and how many bytes it took without the quote. `None` for anything else.
#[inline]
pub(super) fn quoted_number(bytes: &[u8]) -> Option<(f64, usize)> {
    // Sixteen digits and more seldom fit in the 53 bits of the exact path: do not try it first.
    if let Some(chunk) = bytes.get(10..).and_then(<[u8]>::first_chunk::<8>)
        && eight_digits(*chunk).is_some()
    {
        return slow_quoted(bytes);
    }
    let is_negative = bytes.first() == Some(&b'-');
    let from = usize::from(is_negative);
    let mut mantissa = 0u64;
    let whole = digits(bytes.get(from..)?, &mut mantissa, 19);
    let mut at = from + whole;
    let mut fraction = 0;
    if whole > 0 && bytes.get(at) == Some(&b'.') {
        fraction = digits(bytes.get(at + 1..)?, &mut mantissa, 19 - whole);
        at += 1 + fraction;
    }
    if whole > 0
        && bytes.get(at) == Some(&b'"')
        && mantissa <= EXACT_F64
        && let Some(scale) = POW10.get(fraction)
    {
        let value = mantissa as f64 / scale;
        return Some((if is_negative { -value } else { value }, at));
    }
    slow_quoted(bytes)
}

/// Long mantissas, exponents and the words for what is not a number.
fn slow_quoted(bytes: &[u8]) -> Option<(f64, usize)> {
    let special = match bytes.first()? {
        b'N' if bytes.starts_with(b"NaN\"") => Some((f64::NAN, 3)),
        b'+' if bytes.starts_with(b"+Inf\"") => Some((f64::INFINITY, 4)),
        b'-' if bytes.starts_with(b"-Inf\"") => Some((f64::NEG_INFINITY, 4)),
        _ => None,
    };
    if special.is_some() {
        return special;
    }
    let (value, used) = fast_float2::parse_partial::<f64, _>(bytes).ok()?;
    (bytes.get(used) == Some(&b'"')).then_some((value, used))
}

/// A number in any spelling: `1.5`, `1e+21`, `-0`, `NaN`, `+Inf`, `Infinity`, `.5`, in any case. `None` when it is not
/// a number.
pub(super) fn number(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    if let Ok(value) = fast_float2::parse::<f64, _>(text) {
        return Some(value);
    }
    let (is_negative, word) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    if word.eq_ignore_ascii_case(b"nan") {
        Some(f64::NAN)
    } else if word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity") {
        Some(if is_negative {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        })
    } else if is_negative {
        None
    } else {
        fast_float2::parse::<f64, _>(word).ok()
    }
}

/// What a number that stands for a time turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// Seconds, as it should be.
    Plain(i64),
    /// A larger unit of counting than was due, read by its size.
    OtherUnit(i64, &'static str),
    /// Nothing that fits.
    Unreadable,
}

/// Seconds since the epoch rounded to the millisecond, in nanoseconds. Numbers that would lie after the year 2200 are
/// read as milliseconds, microseconds or nanoseconds by their size, since no server has samples from then.
pub(super) fn moment(text: &[u8]) -> Moment {
    if let Some((millis, used)) = canonical_ms(text)
        && used == text.len()
    {
        return Moment::Plain(millis * NANOS_PER_MS);
    }
    let Some(secs) = number(text).filter(|x| x.is_finite()) else {
        return Moment::Unreadable;
    };
    moment_of(secs)
}

/// As [`moment`], of a number.
pub(super) fn moment_of(secs: f64) -> Moment {
    let latest = LATEST_SECS as f64;
    let (millis, unit) = if secs.abs() < latest {
        (secs * 1e3, "")
    } else if secs.abs() < latest * 1e3 {
        (secs, "milliseconds")
    } else if secs.abs() < latest * 1e6 {
        (secs / 1e3, "microseconds")
    } else if secs.abs() < latest * 1e9 {
        (secs / 1e6, "nanoseconds")
    } else {
        return Moment::Unreadable;
    };
    match Timestamp::from_millis(millis.round() as i64) {
        None => Moment::Unreadable,
        Some(t) if unit.is_empty() => Moment::Plain(t.nanos()),
        Some(t) => Moment::OtherUnit(t.nanos(), unit),
    }
}

/// Milliseconds since the epoch, in nanoseconds, with the same care: numbers too small to be milliseconds of any year
/// from 1973 are seconds, and those after the year 2200 finer units.
pub(super) fn moment_of_millis(millis: f64) -> Moment {
    let smallest = 1e11;
    if millis.abs() >= LATEST_SECS as f64 * 1e3 {
        return moment_of(millis);
    }
    let (millis, unit) = if millis != 0.0 && millis.abs() < smallest {
        (millis * 1e3, "seconds")
    } else {
        (millis, "")
    };
    match Timestamp::from_millis(millis.round() as i64) {
        None => Moment::Unreadable,
        Some(t) if unit.is_empty() => Moment::Plain(t.nanos()),
        Some(t) => Moment::OtherUnit(t.nanos(), unit),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_every_spelling() {
        for (text, want) in [
            ("1", 1.0),
            ("0.30000000000000004", 0.300_000_000_000_000_04),
            ("1e+21", 1e21),
            ("1e-07", 1e-7),
            ("+Inf", f64::INFINITY),
            ("-Inf", f64::NEG_INFINITY),
            ("Infinity", f64::INFINITY),
            ("-infinity", f64::NEG_INFINITY),
            ("100000000000000000000", 1e20),
        ] {
            assert_eq!(number(text.as_bytes()), Some(want), "{text}");
            assert_eq!(
                quoted_number(format!("{text}\"]").as_bytes()).map(|(v, _)| v),
                Some(want),
                "{text}"
            );
        }
        assert!(number(b"NaN").unwrap().is_nan());
        assert!(quoted_number(b"NaN\"").unwrap().0.is_nan());
        let minus = quoted_number(b"-0\"").unwrap().0;
        assert!(minus == 0.0 && minus.is_sign_negative());
        for text in ["", "-", "abc", "1x", "--1", "1 2"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn times_keep_their_millisecond() {
        for (text, want_ms) in [
            ("1796045870.869", 1_796_045_870_869),
            ("1796045991.24", 1_796_045_991_240),
            ("1796045988", 1_796_045_988_000),
            ("1435781430.7810001", 1_435_781_430_781),
            ("1.5e3", 1_500_000),
            ("-1", -1_000),
            ("0", 0),
        ] {
            assert_eq!(
                moment(text.as_bytes()),
                Moment::Plain(want_ms * NANOS_PER_MS),
                "{text}"
            );
        }
    }

    #[test]
    fn times_in_another_unit_are_recognised() {
        let want = 1_796_045_870_869 * NANOS_PER_MS;
        for (text, unit) in [
            ("1796045870869", "milliseconds"),
            ("1796045870869000", "microseconds"),
            ("1796045870869000000", "nanoseconds"),
        ] {
            assert_eq!(
                moment(text.as_bytes()),
                Moment::OtherUnit(want, unit),
                "{text}"
            );
        }
        assert_eq!(moment(b"1e300"), Moment::Unreadable);
        assert_eq!(moment(b"soon"), Moment::Unreadable);
    }

    proptest! {
        #[test]
        fn any_float_survives_printing(value in any::<f64>()) {
            let text = format!("{value}");
            let back = number(text.as_bytes()).unwrap();
            prop_assert!(back.to_bits() == value.to_bits() || (back.is_nan() && value.is_nan()));
            let quoted = format!("{text}\"");
            if !value.is_nan() && value.is_finite() {
                prop_assert_eq!(quoted_number(quoted.as_bytes()), Some((value, text.len())));
            }
        }

        #[test]
        fn exact_decimals_agree_with_the_standard_library(mantissa in 0u64..u64::MAX, scale in 0usize..19) {
            let digits = format!("{mantissa:020}");
            let (whole, fraction) = digits.split_at(20 - scale);
            let text = if scale == 0 { mantissa.to_string() } else { format!("{}.{fraction}", whole.trim_start_matches('0').parse::<u64>().unwrap_or(0)) };
            let want: f64 = text.parse().unwrap();
            prop_assert_eq!(quoted_number(format!("{text}\"").as_bytes()), Some((want, text.len())));
        }

        #[test]
        fn any_millisecond_survives(millis in 0i64..7_258_118_399_999) {
            let text = format!("{}.{:03}", millis / 1000, millis % 1000);
            prop_assert_eq!(canonical_ms(text.as_bytes()), Some((millis, text.len())));
            let opening = format!("[{text},\"1\"]");
            let is_ten_digits = text.len() == 14;
            prop_assert_eq!(opening_ms(opening.as_bytes()), is_ten_digits.then_some((millis, 16)));
            let whole = format!("[{},\"1\"]]", millis / 1000);
            let want = is_ten_digits.then_some((millis / 1000 * 1000, 12));
            prop_assert_eq!(opening_ms(whole.as_bytes()), want);
        }
    }
}
