//! Numbers as people read them: milliseconds, bytes, shares, rates.

/// The number that a narrow one was meant to be: 12.3, not 12.300000190734863.
pub fn widen(value: f32) -> f64 {
    value
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(value))
}

/// A duration given in milliseconds: `0.4 ms`, `12.8 ms`, `1.03 s`, `4 min 10 s`.
pub fn ms(value_ms: f64) -> String {
    let magnitude = value_ms.abs();
    if !value_ms.is_finite() {
        "unknown".to_owned()
    } else if magnitude < 10.0 {
        format!("{} ms", trim(value_ms, 2))
    } else if magnitude < 1_000.0 {
        format!("{} ms", trim(value_ms, 1))
    } else {
        secs(value_ms / 1_000.0)
    }
}

/// A duration given in seconds.
pub fn secs(value_s: f64) -> String {
    let magnitude = value_s.abs();
    if !value_s.is_finite() {
        "unknown".to_owned()
    } else if magnitude < 1.0 && magnitude > 0.0 {
        format!("{} ms", trim(value_s * 1_000.0, 1))
    } else if magnitude < 10.0 {
        format!("{} s", trim(value_s, 2))
    } else if magnitude < 120.0 {
        format!("{} s", trim(value_s, 1))
    } else if magnitude < 7_200.0 {
        let whole = value_s.round() as i64;
        if whole % 60 == 0 {
            format!("{} min", whole / 60)
        } else {
            format!("{} min {} s", whole / 60, whole % 60)
        }
    } else if magnitude >= 259_200.0 {
        // From three days on.
        let hours = (value_s / 3_600.0).round() as i64;
        if hours % 24 == 0 {
            format!("{} d", hours / 24)
        } else {
            format!("{} d {} h", hours / 24, hours % 24)
        }
    } else {
        let minutes = (value_s / 60.0).round() as i64;
        if minutes % 60 == 0 {
            format!("{} h", minutes / 60)
        } else {
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
    }
}

/// Bytes with binary prefixes: `983 MiB`.
pub fn bytes(value: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = value;
    let mut unit = 0;
    while value.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(!(unit == 0 || value.abs() >= 100.0));
    format!("{} {}", trim(value, digits), UNITS[unit])
}

/// A share as a percentage: `88.0 %`, `0.41 %`.
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

/// A value in the unit that a metric says it has (`seconds`, `bytes`, `ratio`, `ms`, or anything else after the
/// number).
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "seconds" | "s" => secs(value),
        "milliseconds" | "ms" => ms(value),
        "bytes" => bytes(value),
        "ratio" => share(value),
        "" | "1" | "count" => number(value),
        other => format!("{} {other}", number(value)),
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
