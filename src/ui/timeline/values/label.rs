//! What stands beside the ticks of a value axis: as short as they can be told apart, and never the same twice.

use crate::base::units;

/// Letters that the column of labels holds.
pub(super) const MOST_LETTERS: usize = 8;
/// A label may be off by this share of a step.
const EXACT: f64 = 0.05;

/// The labels of linear ticks. Where the values are too long to be told apart, the lowest stands for all and the others say how much
/// they lie above it.
pub(super) fn linear(values: &[f64], step: f64, unit: &str) -> Vec<String> {
    let plain: Vec<String> = values.iter().map(|v| one(*v, step, unit)).collect();
    let is_short = |l: &String| l.chars().count() <= MOST_LETTERS;
    let is_distinct = plain.windows(2).all(|w| w.first() != w.last());
    let Some(base) = values
        .first()
        .filter(|_| !is_distinct || !plain.iter().all(is_short))
    else {
        return plain;
    };
    let over = |v: &f64| format!("+{}", one(v - base, step, unit));
    std::iter::once(coarse(*base, unit))
        .chain(values.iter().skip(1).map(over))
        .collect()
}

/// The label of a tick of a logarithmic axis.
pub(super) fn log(value: f64, unit: &str) -> String {
    one(value, value.abs(), unit)
}

/// A value in its unit, with the digits that its step needs.
fn one(value: f64, step: f64, unit: &str) -> String {
    // What is left of sums such as 0.1 + 0.2 is no digit.
    if value.abs() < step * 1e-9 || value == 0.0 {
        return "0".to_owned();
    }
    match unit {
        "ratio" => format!("{} %", digits(value * 100.0, step * 100.0)),
        "seconds" | "s" => duration(value, step),
        "milliseconds" | "ms" => duration(value / 1e3, step / 1e3),
        "bytes" | "bytes/s" => bytes(value, step),
        // A unit of the lane's own stands in its readings; beside each tick it would be noise.
        _ => number(value, step),
    }
}

/// As much of a value as fits; `≈` when that is not all of it.
fn coarse(value: f64, unit: &str) -> String {
    let magnitude = 10f64.powf(value.abs().max(f64::MIN_POSITIVE).log10().floor());
    (0..6)
        .rev()
        .map(|digits| {
            let step = magnitude / 10f64.powi(digits);
            let text = one(value, step, unit);
            if text == one(value, step * 1e-6, unit) {
                text
            } else {
                format!("≈{text}")
            }
        })
        .find(|text| text.chars().count() <= MOST_LETTERS)
        .unwrap_or_else(|| format!("{value:.0e}"))
}

/// As few decimals as tell the value from its neighbours.
fn digits(value: f64, step: f64) -> String {
    for decimals in 0..=9 {
        let text = format!("{value:.decimals$}");
        let is_near = text
            .parse::<f64>()
            .is_ok_and(|shown| (shown - value).abs() <= step.abs() * EXACT);
        if is_near {
            return if decimals == 0 && value.abs() < 1e15 {
                units::number(value.round())
            } else {
                text
            };
        }
    }
    format!("{value:.2e}")
}

fn duration(secs: f64, step: f64) -> String {
    const LONG: [(f64, &str); 3] = [(86_400.0, "d"), (3_600.0, "h"), (60.0, "min")];
    let magnitude = secs.abs();
    if magnitude >= 120.0 {
        let halves = |size: f64| (step / size * 2.0 - (step / size * 2.0).round()).abs() < 1e-6;
        let unit = LONG
            .iter()
            .find(|(size, _)| magnitude >= *size && step * 2.0 >= *size && halves(*size));
        return match unit {
            Some((size, name)) => format!("{} {name}", digits(secs / size, step / size)),
            None => format!("{} s", digits(secs, step)),
        };
    }
    let (size, name) = match magnitude {
        m if m < 0.999e-6 => (1e-9, "ns"),
        m if m < 0.999e-3 => (1e-6, "µs"),
        m if m < 0.999 => (1e-3, "ms"),
        _ => (1.0, "s"),
    };
    format!("{} {name}", digits(secs / size, step / size))
}

fn bytes(value: f64, step: f64) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut size = 1.0;
    let mut unit = 0;
    while value.abs() / size >= 1024.0 && unit + 1 < UNITS.len() {
        size *= 1024.0;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or("B");
    format!("{} {name}", digits(value / size, step / size))
}

/// 1,500,000 as `1.5 M`; in full where that is shorter.
fn number(value: f64, step: f64) -> String {
    // Four digits are read at a glance: thousands are shortened from ten thousand on.
    const SIZES: [(f64, f64, &str); 5] = [
        (1e15, 1e15, " P"),
        (1e12, 1e12, " T"),
        (1e9, 1e9, " G"),
        (1e6, 1e6, " M"),
        (1e4, 1e3, " k"),
    ];
    let plain = digits(value, step);
    let known = SIZES.iter().find(|(from, ..)| value.abs() >= *from);
    let Some((_, size, name)) = known.filter(|_| value.abs() < 1e18) else {
        return match plain.chars().count() {
            ..=MOST_LETTERS => plain,
            _ => power(value, step),
        };
    };
    let short = format!("{}{name}", digits(value / size, step / size));
    if short.chars().count() > MOST_LETTERS && plain.chars().count() <= MOST_LETTERS {
        plain
    } else {
        short
    }
}

/// What is very large or very small, as `2e-7`.
fn power(value: f64, step: f64) -> String {
    let near = |text: &String| {
        text.parse::<f64>()
            .is_ok_and(|shown| (shown - value).abs() <= step.abs() * EXACT)
    };
    (0..=9)
        .map(|decimals| format!("{value:.decimals$e}"))
        .find(near)
        .unwrap_or_else(|| format!("{value:.9e}"))
}
