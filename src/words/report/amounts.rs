//! Numbers with units in a text, with the units of another language.

use crate::base::units::Names;

/// The text with the names of units changed behind its numbers: `p99 1.03 s, 12 ms/h` is `p99 1.03초, 12ms/시간`.
pub(in crate::words) fn amounts(units: &Names, text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        out.push_str(word);
        let unit = words
            .peek()
            .filter(|_| is_number(word))
            .and_then(|next| unit(units, next));
        if let Some(unit) = unit {
            out.push_str(&unit);
            words.next();
        }
        if words.peek().is_some() {
            out.push(' ');
        }
    }
    out
}

/// A whole text that is a number with its units, and nothing else: `4 min 10 s`, `88.0 %`.
pub(super) fn quantity(units: &Names, text: &str) -> Option<String> {
    let mut rest = text.split(' ');
    let mut parts = Vec::new();
    while let Some(number) = rest.next() {
        let unit = unit(units, rest.next()?)?;
        if !is_number(number) {
            return None;
        }
        let whole = number
            .strip_suffix(".00")
            .or_else(|| number.strip_suffix(".0"));
        let number = match whole {
            Some(whole) if unit == units.percent => whole,
            _ => number,
        };
        parts.push(format!("{number}{unit}"));
    }
    Some(parts.join(" "))
}

fn is_number(word: &str) -> bool {
    let signs = ['-', '+', '~', '±', '≥', '≤', '<', '>', '(', '×'];
    let digits = word.trim_start_matches(signs);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits
            .chars()
            .all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
}

/// The name of a unit with what stands behind it: `s`, `ms,`, `s/s`.
fn unit(units: &Names, word: &str) -> Option<String> {
    let end = word
        .find(|c: char| !c.is_alphabetic() && c != '%')
        .unwrap_or(word.len());
    let (name, tail) = word.split_at_checked(end)?;
    let name = match name {
        "ns" => units.ns.as_ref(),
        "µs" => units.us.as_ref(),
        "ms" => units.ms.as_ref(),
        "s" => units.s.as_ref(),
        "min" => units.min.as_ref(),
        "h" => units.h.as_ref(),
        "d" => units.d.as_ref(),
        "%" => units.percent.as_ref(),
        "B" | "KiB" | "MiB" | "GiB" | "TiB" | "PiB" => {
            return Some(format!("{}{word}", units.gap));
        }
        _ => return None,
    };
    // What it is per is a unit too.
    let tail = match tail {
        "/s" => format!("/{}", units.s.trim_start()),
        "/h" => format!("/{}", units.h.trim_start()),
        other => other.to_owned(),
    };
    Some(format!("{name}{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::{Lang, Words};

    #[test]
    fn units_change_behind_numbers_only() {
        let units = Words::of(Lang::Ko).units();
        for (text, wanted) in [
            ("p99 1.03 s, 4 min 10 s", "p99 1.03초, 4분 10초"),
            ("p50 … p99 · 5 s", "p50 … p99 · 5초"),
            ("≥ 12 ms/h", "≥ 12ms/시간"),
            ("88.1 % d", "88.1% d"),
            ("3 s/s", "3초/초"),
            ("s min 5 items", "s min 5 items"),
        ] {
            assert_eq!(amounts(units, text), wanted);
        }
        assert_eq!(quantity(units, "88.0 %").as_deref(), Some("88%"));
        assert_eq!(quantity(units, "0.00 %").as_deref(), Some("0%"));
        assert_eq!(quantity(units, "5 of 3"), None);
    }
}
