//! The value axis as plain data: round bounds around what a lane shows, and ticks in its unit.

use crate::base::units;
use crate::ui::lanes::ValueAxis;
use crate::ui::lanes::canvas::Scale;

/// Points between two ticks, at least.
const APART: f32 = 26.0;

/// Steps of longer durations, in seconds: half a minute to a week.
const CLOCK: [f64; 14] = [
    30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
    86_400.0, 604_800.0,
];

/// Bounds and ticks of a value axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// What the lane draws with.
    pub scale: Scale,
    /// Value and label of each tick, from the bottom.
    pub ticks: Vec<(f64, String)>,
}

/// The axis of a lane that is `height` points tall. `None` when there is nothing finite to show.
pub fn values(axis: &ValueAxis, is_log: bool, height: f32) -> Option<Values> {
    if !axis.min.is_finite() || !axis.max.is_finite() || axis.min > axis.max {
        return None;
    }
    let room = ((height / APART) as usize).clamp(1, 8);
    if is_log && axis.max > 0.0 {
        Some(log(axis, room))
    } else {
        Some(linear(axis, room))
    }
}

fn linear(axis: &ValueAxis, room: usize) -> Values {
    let (mut min, mut max) = (axis.min, axis.max);
    // From zero unless that would press everything into a corner.
    if min > 0.0 && min < 0.6 * max {
        min = 0.0;
    }
    if max < 0.0 && max > 0.6 * min {
        max = 0.0;
    }
    if max - min <= max.abs().max(min.abs()) * 1e-12 {
        let pad = if max == 0.0 { 1.0 } else { max.abs() * 0.1 };
        min = if min >= 0.0 { 0.0 } else { min - pad };
        max += pad;
    }
    let step = round_step((max - min) / room as f64, &axis.unit);
    let low = (min / step).floor();
    // Some air above, so that the highest point is not cut in half by the edge.
    let mut high = (max / step).ceil();
    if high * step - max < 0.02 * (max - min) {
        high += if room > 2 { 1.0 } else { 0.5 };
    }
    let scale = Scale {
        min: low * step,
        max: high * step,
        is_log: false,
    };
    let count = ((high - low).floor() as usize).min(32);
    let ticks = (0..=count)
        .map(|i| (low + i as f64) * step)
        .map(|v| (v, label(v, step, &axis.unit)))
        .collect();
    Values { scale, ticks }
}

fn log(axis: &ValueAxis, room: usize) -> Values {
    let is_binary = axis.unit == "bytes";
    let base: f64 = if is_binary { 2.0 } else { 10.0 };
    let max = axis.max;
    let min = if axis.min > 0.0 { axis.min } else { max / 1e3 };
    let low = min.log(base).floor();
    let mut high = max.log(base).ceil();
    if high <= low {
        high = low + 1.0;
    }
    let decades = high - low;
    let every = (decades / room as f64).ceil().max(1.0);
    let mut ticks: Vec<(f64, String)> = Vec::new();
    let mut at = low;
    while at <= high && ticks.len() < 32 {
        let value = base.powf(at);
        ticks.push((value, label(value, value, &axis.unit)));
        at += every;
    }
    if !is_binary && decades <= 2.0 && room as f64 >= decades * 3.0 {
        for decade in 0..decades as usize {
            for part in [2.0, 5.0] {
                let value = part * 10f64.powf(low + decade as f64);
                ticks.push((value, label(value, value, &axis.unit)));
            }
        }
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    Values {
        scale: Scale {
            min: base.powf(low),
            max: base.powf(high),
            is_log: true,
        },
        ticks,
    }
}

/// The smallest round step that is not below `least`: 1, 2 or 5 times a power of ten, or powers of two for bytes.
fn round_step(least: f64, unit: &str) -> f64 {
    if !(least.is_finite() && least > 0.0) {
        return 1.0;
    }
    if unit == "bytes" && least > 1.0 {
        return 2f64.powf(least.log2().ceil());
    }
    let second = match unit {
        "seconds" | "s" => 1.0,
        "milliseconds" | "ms" => 1e3,
        _ => f64::INFINITY,
    };
    if let Some(step) = CLOCK.iter().map(|s| s * second).find(|s| *s >= least)
        && least > 20.0 * second
    {
        return step;
    }
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * decade)
        .find(|step| *step >= least * 0.999_999)
        .unwrap_or(10.0 * decade)
}

/// A tick in its unit, with the digits that its step needs.
fn label(value: f64, step: f64, unit: &str) -> String {
    // What is left of sums such as 0.1 + 0.2 is no digit.
    let value = if value.abs() < step * 1e-9 {
        0.0
    } else {
        value
    };
    match unit {
        _ if value == 0.0 => "0".to_owned(),
        "ratio" => percent(value, step),
        "seconds" | "s" => duration(value),
        "milliseconds" | "ms" => duration(value / 1e3),
        "bytes" => units::bytes(value),
        // A unit of the lane's own stands in its readings; beside each tick it would be noise.
        _ => short(value),
    }
}

fn percent(value: f64, step: f64) -> String {
    let digits = (-(step * 100.0).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.digits$} %", value * 100.0)
}

fn duration(secs: f64) -> String {
    let magnitude = secs.abs();
    if magnitude < 1e-6 {
        format!("{} ns", units::number(secs * 1e9))
    } else if magnitude < 1e-3 {
        format!("{} µs", units::number(round(secs * 1e6)))
    } else if magnitude < 1.0 {
        format!("{} ms", units::number(round(secs * 1e3)))
    } else if magnitude < 120.0 {
        format!("{} s", units::number(round(secs)))
    } else {
        units::secs(secs)
    }
}

/// 1,500,000 as `1.5 M`.
fn short(value: f64) -> String {
    // Four digits are read at a glance: thousands are shortened from ten thousand on.
    for (from, size, name) in [
        (1e12, 1e12, " T"),
        (1e9, 1e9, " G"),
        (1e6, 1e6, " M"),
        (1e4, 1e3, " k"),
    ] {
        if value.abs() >= from {
            return format!("{}{name}", units::number(round(value / size)));
        }
    }
    units::number(round(value))
}

/// Twelve digits: what is beyond comes from the arithmetic.
fn round(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(min: f64, max: f64, unit: &str) -> ValueAxis {
        ValueAxis {
            min,
            max,
            unit: unit.to_owned(),
        }
    }

    fn labels(min: f64, max: f64, unit: &str, is_log: bool) -> Vec<String> {
        let values = values(&axis(min, max, unit), is_log, 100.0).unwrap();
        values.ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_in_their_unit() {
        assert_eq!(
            labels(0.0, 4309.0, "", false),
            ["0", "2,000", "4,000", "6,000"]
        );
        assert_eq!(labels(0.0, 0.93, "ratio", false), ["0", "50 %", "100 %"]);
        assert_eq!(
            labels(0.0, 900.0 * 1024.0 * 1024.0, "bytes", false),
            ["0", "512 MiB", "1 GiB"]
        );
        assert_eq!(
            labels(0.0, 2.9, "seconds", false),
            ["0", "1 s", "2 s", "3 s"]
        );
        assert_eq!(labels(0.0, 1000.0, "s", false), ["0", "10 min", "20 min"]);
        assert_eq!(labels(0.0, 170.0, "ms", false), ["0", "100 ms", "200 ms"]);
        assert_eq!(
            labels(0.012, 3.1, "seconds", true),
            ["10 ms", "100 ms", "1 s", "10 s"]
        );
        assert_eq!(
            labels(12_000.0, 2_000_000.0, "", true),
            ["10 k", "100 k", "1 M", "10 M"]
        );
    }

    #[test]
    fn a_level_that_hardly_moves_fills_its_lane() {
        let values = values(&axis(980.0, 1000.0, ""), false, 100.0).unwrap();
        assert!(values.scale.min >= 960.0, "{values:?}");
        assert!(super::values(&axis(7.0, 7.0, ""), false, 100.0).is_some());
        assert!(super::values(&axis(f64::NAN, 7.0, ""), false, 100.0).is_none());
    }

    proptest! {
        #[test]
        fn every_value_lies_inside(a in -1e15f64..1e15, b in -1e15f64..1e15, exponent in -12i32..3, height in 10.0f32..900.0,
            unit in prop::sample::select(vec!["", "bytes", "seconds", "ms", "ratio", "items"]), is_log in any::<bool>()) {
            let (a, b) = (a * 10f64.powi(exponent), b * 10f64.powi(exponent));
            let axis = axis(a.min(b), a.max(b), unit);
            let found = values(&axis, is_log, height).unwrap();
            prop_assert!(found.scale.min < found.scale.max);
            prop_assert!(found.scale.max >= axis.max || found.scale.share(axis.max) <= 1.000_001);
            if !found.scale.is_log {
                prop_assert!(found.scale.min <= axis.min);
            }
            prop_assert!(found.ticks.len() <= 33);
            prop_assert!(found.ticks.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert!(found.ticks.iter().all(|(v, label)| v.is_finite() && !label.is_empty()));
        }
    }
}
