//! The value axis as plain data: round bounds around what a lane shows, and ticks in its unit.

mod label;

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
    let mut step = round_step((max - min) / room as f64, &axis.unit);
    if axis.is_whole {
        step = step.max(1.0);
    }
    // The ends stand on quarters of a step: near the data, and still while those move a little.
    let quarter = step / 4.0;
    let mut low = (min / quarter).floor() / 4.0;
    let mut high = (max / quarter).ceil() / 4.0;
    // Some air above, so that the highest point is not cut in half by the edge.
    if high * step - max < 0.02 * (max - min) {
        high += 0.25;
    }
    // Two ticks at least: one alone says nothing of the scale.
    if high.floor() - low.ceil() < 1.0 {
        low = low.floor();
        high = high.max(low + 1.0);
    }
    let scale = Scale {
        min: low * step,
        max: high * step,
        is_log: false,
    };
    let first = low.ceil();
    let count = ((high - first).floor() as usize).min(32);
    let at: Vec<f64> = (0..=count).map(|i| (first + i as f64) * step).collect();
    let labels = label::linear(&at, step, &axis.unit);
    Values {
        scale,
        ticks: at.into_iter().zip(labels).collect(),
    }
}

fn log(axis: &ValueAxis, room: usize) -> Values {
    let is_binary = axis.unit == "bytes";
    let base: f64 = if is_binary { 2.0 } else { 10.0 };
    let max = axis.max;
    let min = if axis.min > 0.0 { axis.min } else { max / 1e3 };
    let mut low = min.log(base).floor();
    if is_binary && max >= 1.0 {
        // There is no part of a byte.
        low = low.max(0.0);
    }
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
        ticks.push((value, label::log(value, &axis.unit)));
        at += every;
    }
    if !is_binary && decades <= 2.0 && room as f64 >= decades * 3.0 {
        for decade in 0..decades as usize {
            for part in [2.0, 5.0] {
                let value = part * 10f64.powf(low + decade as f64);
                ticks.push((value, label::log(value, &axis.unit)));
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
    if unit == "bytes" {
        // There is no part of a byte.
        return 2f64.powf(least.log2().ceil().max(0.0));
    }
    if unit == "bytes/s" && least > 1.0 {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(min: f64, max: f64, unit: &str) -> ValueAxis {
        ValueAxis {
            min,
            max,
            unit: unit.to_owned(),
            is_whole: false,
        }
    }

    fn labels(min: f64, max: f64, unit: &str, is_log: bool) -> Vec<String> {
        let values = values(&axis(min, max, unit), is_log, 100.0).unwrap();
        values.ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_in_their_unit() {
        assert_eq!(labels(0.0, 4309.0, "", false), ["0", "2,000", "4,000"]);
        assert_eq!(labels(0.0, 0.93, "ratio", false), ["0", "50 %", "100 %"]);
        assert_eq!(
            labels(0.0, 900.0 * 1024.0 * 1024.0, "bytes", false),
            ["0", "512 MiB", "1 GiB"]
        );
        assert_eq!(
            labels(0.0, 2.9, "seconds", false),
            ["0", "1 s", "2 s", "3 s"]
        );
        assert_eq!(labels(0.0, 1000.0, "s", false), ["0", "10 min"]);
        assert_eq!(labels(0.0, 170.0, "ms", false), ["0", "100 ms"]);
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
    fn no_label_is_told_twice() {
        assert_eq!(labels(0.0, 1.5, "bytes", false), ["0", "1 B"]);
        assert_eq!(labels(0.0, 0.2, "bytes", false), ["0", "1 B"]);
        let gib = 1024.0 * 1024.0 * 1024.0;
        let near = labels(gib, gib + 90.0 * 1024.0 * 1024.0, "bytes", false);
        assert_eq!(near, ["1 GiB", "+32 MiB", "+64 MiB", "+96 MiB"]);
        let many = labels(12_345_678.0, 12_345_681.0, "", false);
        assert_eq!(many[1..], ["+1", "+2", "+3"], "{many:?}");
        assert!(many[0].starts_with("≈12.3"), "{many:?}");
        assert_eq!(labels(1000.0, 1010.0, "s", false)[0], "1,000 s");
        assert_eq!(labels(0.0, 260.0, "s", false), ["0", "2 min", "4 min"]);
        assert_eq!(
            labels(0.0, 5400.0, "s", false),
            ["0", "30 min", "1 h", "1.5 h"]
        );
        assert_eq!(labels(0.0, 3e-7, "", false), ["0", "1e-7", "2e-7", "3e-7"]);
        assert_eq!(labels(0.995, 0.9991, "ratio", false)[0], "99.6 %");
    }

    #[test]
    fn what_is_counted_has_no_halves() {
        let mut few = axis(0.0, 2.0, "");
        assert_eq!(values(&few, false, 200.0).unwrap().ticks[1].1, "0.5");
        few.is_whole = true;
        let found = values(&few, false, 200.0).unwrap();
        let labels: Vec<&str> = found.ticks.iter().map(|(_, l)| l.as_str()).collect();
        assert_eq!(labels, ["0", "1", "2"]);
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
            unit in prop::sample::select(vec!["", "bytes", "bytes/s", "seconds", "ms", "ratio", "items"]), is_log in any::<bool>()) {
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
            prop_assert!(found.ticks.windows(2).all(|w| w[0].1 != w[1].1), "{:?}", found.ticks);
        }
    }
}
