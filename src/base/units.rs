//! Numbers as people read them: milliseconds, bytes, shares, rates.

use std::borrow::Cow;

/// The number that a narrow one was meant to be: 12.3, not 12.300000190734863.
pub fn widen(value: f32) -> f64 {
    value
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(value))
}

/// How a language writes units behind numbers: the names, each with the space before it where there is one.
///
/// Every duration that the program shows is written by one of these, so that there is one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Nanoseconds.
    pub ns: Cow<'static, str>,
    /// Microseconds.
    pub us: Cow<'static, str>,
    /// Milliseconds.
    pub ms: Cow<'static, str>,
    /// Seconds.
    pub s: Cow<'static, str>,
    /// Minutes.
    pub min: Cow<'static, str>,
    /// Hours.
    pub h: Cow<'static, str>,
    /// Days.
    pub d: Cow<'static, str>,
    /// What stands before `B`, `MiB`.
    pub gap: Cow<'static, str>,
    /// Per cent.
    pub percent: Cow<'static, str>,
    /// What is said of no number.
    pub unknown: Cow<'static, str>,
}

/// English, as the report is written.
pub const ENGLISH: Names = Names {
    ns: Cow::Borrowed(" ns"),
    us: Cow::Borrowed(" µs"),
    ms: Cow::Borrowed(" ms"),
    s: Cow::Borrowed(" s"),
    min: Cow::Borrowed(" min"),
    h: Cow::Borrowed(" h"),
    d: Cow::Borrowed(" d"),
    gap: Cow::Borrowed(" "),
    percent: Cow::Borrowed(" %"),
    unknown: Cow::Borrowed("unknown"),
};

impl Names {
    /// A duration given in milliseconds: `0.4 ms`, `12.8 ms`, `1.03 s`, `4 min 10 s`.
    pub fn ms(&self, value_ms: f64) -> String {
        let magnitude = value_ms.abs();
        if !value_ms.is_finite() {
            self.unknown.to_string()
        } else if magnitude < 10.0 {
            format!("{}{}", trim(value_ms, 2), self.ms)
        } else if magnitude < 1_000.0 {
            format!("{}{}", trim(value_ms, 1), self.ms)
        } else {
            self.secs(value_ms / 1_000.0)
        }
    }

    /// A duration given in seconds.
    pub fn secs(&self, value_s: f64) -> String {
        let magnitude = value_s.abs();
        if !value_s.is_finite() {
            self.unknown.to_string()
        } else if magnitude < 1.0 && magnitude > 0.0 {
            format!("{}{}", trim(value_s * 1_000.0, 1), self.ms)
        } else if magnitude < 10.0 {
            format!("{}{}", trim(value_s, 2), self.s)
        } else if magnitude < 120.0 {
            format!("{}{}", trim(value_s, 1), self.s)
        } else if magnitude < 7_200.0 {
            two(value_s.round() as i64, 60, &self.min, &self.s)
        } else if magnitude >= 259_200.0 {
            // From three days on.
            let hours = (value_s / 3_600.0).round() as i64;
            two(hours, 24, &self.d, &self.h)
        } else {
            let minutes = (value_s / 60.0).round() as i64;
            two(minutes, 60, &self.h, &self.min)
        }
    }

    /// A length that a person reads off a screen to its last digit: `2 min 10.25 s`, `348 ms`, `0 s`; without a sign.
    pub fn exact(&self, nanos: i64) -> String {
        const SECOND: u64 = 1_000_000_000;
        let mut rest = nanos.unsigned_abs();
        if rest > 0 && rest < SECOND {
            let (size, name) = match rest {
                1_000_000.. => (1e6, &self.ms),
                1_000.. => (1e3, &self.us),
                _ => (1.0, &self.ns),
            };
            return format!("{}{name}", trim(rest as f64 / size, 6));
        }
        let mut parts = Vec::new();
        for (name, size) in [
            (&self.d, 86_400 * SECOND),
            (&self.h, 3_600 * SECOND),
            (&self.min, 60 * SECOND),
        ] {
            if rest >= size {
                parts.push(format!("{}{name}", rest / size));
                rest %= size;
            }
        }
        if rest > 0 || parts.is_empty() {
            let fraction = format!("{:09}", rest % SECOND);
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            parts.push(format!("{}{point}{fraction}{}", rest / SECOND, self.s));
        }
        parts.join(" ")
    }

    /// A length of nanoseconds, however short: `0.4 µs`, `12 ns`.
    pub fn nanos(&self, nanos: f64) -> String {
        let magnitude = nanos.abs();
        if magnitude > 0.0 && magnitude < 1e3 {
            format!("{}{}", trim(nanos, 1), self.ns)
        } else if magnitude > 0.0 && magnitude < 1e4 {
            format!("{}{}", trim(nanos / 1e3, 1), self.us)
        } else {
            self.ms(nanos / 1e6)
        }
    }

    /// Bytes with binary prefixes: `983 MiB`.
    pub fn bytes(&self, value: f64) -> String {
        const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
        let mut value = value;
        let mut unit = 0;
        while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        let digits = usize::from(!(unit == 0 || value.abs() >= 100.0));
        let name = UNITS.get(unit).copied().unwrap_or_default();
        format!("{}{}{name}", trim(value, digits), self.gap)
    }

    /// A share as a whole percentage; with digits only where a whole one would say too little: below 10 %, and above 99 %
    /// where it is not quite all.
    pub fn share(&self, value: f64) -> String {
        let percent = value * 100.0;
        let magnitude = percent.abs();
        let digits = match magnitude {
            _ if !percent.is_finite() => return self.unknown.to_string(),
            m if m < 1.0 => 2,
            m if m < 10.0 => 1,
            m if m > 99.0 && m < 100.0 => 2,
            _ => 0,
        };
        let text = trim(percent, digits);
        // 99.999 % is not all, and 0.001 % is not nothing.
        let text = match text.as_str() {
            "100" if magnitude < 100.0 => "> 99.99".to_owned(),
            "-100" if magnitude < 100.0 => "< -99.99".to_owned(),
            "0" if percent > 0.0 => "< 0.01".to_owned(),
            "0" if percent < 0.0 => "> -0.01".to_owned(),
            _ => text,
        };
        format!("{text}{}", self.percent)
    }

    /// A share to a tenth of a per cent, as the report writes it: `88.1 %`, `0.41 %`.
    pub fn share_near(&self, value: f64) -> String {
        let percent = value * 100.0;
        let digits = if percent.abs() >= 10.0 { 1 } else { 2 };
        format!("{}{}", trim(percent, digits), self.percent)
    }

    /// A value in the unit that a metric says it has (`seconds`, `bytes`, `ratio`, `ms`, or anything else after the
    /// number).
    pub fn with_unit(&self, value: f64, unit: &str) -> String {
        match unit {
            "seconds" | "s" => self.secs(value),
            "milliseconds" | "ms" => self.ms(value),
            "bytes" => self.bytes(value),
            "ratio" => self.share(value),
            "" | "1" | "count" => number(value),
            other => format!("{} {other}", number(value)),
        }
    }
}

/// Two units, the small one left out where it is nought.
fn two(small: i64, size: i64, large_name: &str, small_name: &str) -> String {
    let (large, rest) = (small / size, small % size);
    if rest == 0 {
        format!("{large}{large_name}")
    } else {
        format!("{large}{large_name} {rest}{small_name}")
    }
}

/// A duration given in milliseconds, in English.
pub fn ms(value_ms: f64) -> String {
    ENGLISH.ms(value_ms)
}

/// A duration given in seconds, in English.
pub fn secs(value_s: f64) -> String {
    ENGLISH.secs(value_s)
}

/// Bytes with binary prefixes, in English.
pub fn bytes(value: f64) -> String {
    ENGLISH.bytes(value)
}

/// A share as the report writes it, with fixed digits: `88.0 %`, `0.41 %`.
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent.abs() >= 10.0 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.2} %")
    }
}

/// A plain number with four significant digits at most.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if !value.is_finite() {
        format!("{value}")
    } else if value.fract() == 0.0 && magnitude < 1e15 {
        let grouped = crate::base::text::grouped(magnitude as u64);
        if value < 0.0 {
            format!("-{grouped}")
        } else {
            grouped
        }
    } else if magnitude >= 1e15 {
        // Beyond what is read digit by digit, and near where not every whole number has a value of its own (2^53).
        format!("{value:.3e}")
    } else if magnitude >= 1_000.0 {
        number(value.round())
    } else if magnitude >= 100.0 {
        trim(value, 1)
    } else if magnitude >= 1.0 {
        trim(value, 2)
    } else if magnitude >= 1e-4 {
        trim(value, 4)
    } else {
        format!("{value:.2e}")
    }
}

/// A value in the unit that a metric says it has, as the report writes it.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ratio" => share(value),
        _ => ENGLISH.with_unit(value, unit),
    }
}

/// `value` rounded to `digits` and without trailing zeros. Used for report numbers too, so that they stay short.
fn trim(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// `value` rounded to `digits` decimals, for numbers that go into a report.
pub fn round_to(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_well() {
        assert_eq!(ms(12.84), "12.8 ms");
        assert_eq!(ms(1_008.9), "1.01 s");
        assert_eq!(secs(250.0), "4 min 10 s");
        assert_eq!(bytes(982_925_312.0), "937 MiB");
        assert_eq!(share(0.8805), "88.0 %");
        assert_eq!(number(4309.0), "4,309");
        assert_eq!(secs(30.0 * 86_400.0), "30 d");
        assert_eq!(secs(266.0 * 3_600.0), "11 d 2 h");
    }

    #[test]
    fn shares_are_whole_where_that_says_enough() {
        for (value, text) in [
            (1.0, "100 %"),
            (0.8805, "88 %"),
            (0.1, "10 %"),
            (0.0961, "9.6 %"),
            (0.0041, "0.41 %"),
            (0.995, "99.5 %"),
            (0.999_999, "> 99.99 %"),
            (0.000_001, "< 0.01 %"),
            (0.0, "0 %"),
            (2.5, "250 %"),
        ] {
            assert_eq!(ENGLISH.share(value), text);
        }
    }

    #[test]
    fn exact_lengths_lose_no_digit() {
        for (nanos, text) in [
            (0, "0 s"),
            (-85_246_000_000, "1 min 25.246 s"),
            (348_000_000, "348 ms"),
            (1_500, "1.5 µs"),
            (12, "12 ns"),
            (3_900_000_000_000, "1 h 5 min"),
            (86_400_000_000_001, "1 d 0.000000001 s"),
        ] {
            assert_eq!(ENGLISH.exact(nanos), text);
        }
    }

    #[test]
    fn numbers_of_any_size_end() {
        // Times in nanoseconds are such numbers.
        assert_eq!(number(1.796_048_818e18), "1.796e18");
        assert_eq!(number(-1e15), "-1.000e15");
        assert_eq!(number(999_999_999_999_999.0), "999,999,999,999,999");
        for exponent in -300..=300 {
            for mantissa in [-9.99, -1.0, 1.0, 1.5, 9.999_999] {
                let value = mantissa * 10f64.powi(exponent);
                assert!(!number(value).is_empty());
                assert!(!secs(value).is_empty() && !bytes(value).is_empty());
            }
        }
    }
}
