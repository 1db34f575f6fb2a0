//! The trace's own time axis: what part of it is shown, and its ticks. Nanoseconds count from the start of the trace.

use std::ops::Range;

use egui::Rect;

use crate::base::units::Names;

/// The shortest time that fills the view, in nanoseconds.
const SHORTEST: f64 = 1_000.0;

/// What part of the trace is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Axis {
    /// From and to; `None` shows all.
    shown: Option<(f64, f64)>,
}

impl Axis {
    /// From and to.
    pub(super) fn window(self, all: &Range<i64>) -> (f64, f64) {
        self.shown.unwrap_or_else(|| {
            let (from, to) = (all.start as f64, all.end as f64);
            (from, to.max(from + SHORTEST))
        })
    }

    /// Whether all is shown.
    pub(super) const fn is_all(self) -> bool {
        self.shown.is_none()
    }

    /// Zooms by `factor` (below 1: in) around a share of the width.
    pub(super) fn zoom(&mut self, all: &Range<i64>, share: f64, factor: f64) {
        let (from, to) = self.window(all);
        let length = (to - from) * factor.clamp(0.01, 100.0);
        let start = from + (to - from) * share - length * share;
        self.set(all, start, start + length);
    }

    /// Moves by a share of the width; above 0: later.
    pub(super) fn pan(&mut self, all: &Range<i64>, share: f64) {
        let (from, to) = self.window(all);
        let step = (to - from) * share;
        let (least, most) = (all.start as f64 - from, all.end as f64 - to);
        let step = step.clamp(least.min(0.0), most.max(0.0));
        self.set(all, from + step, to + step);
    }

    /// Shows a range with a margin.
    pub(super) fn show(&mut self, all: &Range<i64>, range: &Range<i64>) {
        let margin = ((range.end - range.start) as f64 * 0.05).max(SHORTEST);
        self.set(all, range.start as f64 - margin, range.end as f64 + margin);
    }

    /// Shows all.
    pub(super) const fn reset(&mut self) {
        self.shown = None;
    }

    fn set(&mut self, all: &Range<i64>, from: f64, to: f64) {
        let (first, last) = (all.start as f64, all.end as f64);
        let middle = f64::midpoint(from, to);
        let (from, to) = if to - from < SHORTEST {
            (middle - SHORTEST / 2.0, middle + SHORTEST / 2.0)
        } else {
            (from, to)
        };
        let (from, to) = (from.max(first), to.min(last.max(first + SHORTEST)));
        self.shown = (from > first || to < last)
            .then_some((from, to))
            .filter(|(from, to)| to > from);
    }
}

/// Nanoseconds ↔ points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) left: f32,
    pub(super) right: f32,
    from: f64,
    per_nano: f64,
}

impl Scale {
    pub(super) fn new(rect: Rect, (from, to): (f64, f64)) -> Self {
        Self {
            left: rect.left(),
            right: rect.right(),
            from,
            per_nano: f64::from(rect.width().max(1.0)) / (to - from).max(1.0),
        }
    }

    /// Where a time stands; what lies outside stands a little outside.
    pub(super) fn x(&self, nanos: i64) -> f32 {
        let x = f64::from(self.left) + (nanos as f64 - self.from) * self.per_nano;
        x.clamp(f64::from(self.left) - 8.0, f64::from(self.right) + 8.0) as f32
    }

    /// The time at a place.
    pub(super) fn nanos(&self, x: f32) -> i64 {
        (self.from + f64::from(x - self.left) / self.per_nano) as i64
    }

    pub(super) fn is_outside(&self, x0: f32, x1: f32) -> bool {
        x1 < self.left || x0 > self.right
    }
}

/// Ticks at least `apart` points from each other: time and words.
pub(super) fn ticks(scale: &Scale, apart: f32, units: &Names) -> Vec<(i64, String)> {
    let least = f64::from(apart) / scale.per_nano;
    let power = 10f64.powf(least.max(1.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|n| n * power)
        .find(|s| *s >= least)
        .unwrap_or(10.0 * power);
    let to = scale.nanos(scale.right) as f64;
    let mut at = (scale.from / step).ceil();
    let mut ticks = Vec::new();
    while at * step <= to && ticks.len() < 200 {
        let nanos = (at * step).round() as i64;
        ticks.push((nanos, label(nanos, step, units)));
        at += 1.0;
    }
    ticks
}

/// A time on the axis with as many digits as its step needs.
fn label(nanos: i64, step: f64, units: &Names) -> String {
    let (unit, size) = match step {
        s if s >= 1e8 => (&units.s, 1e9),
        s if s >= 1e5 => (&units.ms, 1e6),
        s if s >= 1e2 => (&units.us, 1e3),
        _ => (&units.ns, 1.0),
    };
    if nanos == 0 {
        return "0".to_owned();
    }
    let digits = (size / step).log10().ceil().max(0.0) as usize;
    format!("{:.digits$}{unit}", nanos as f64 / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Range<i64> = 0..1_000_000_000;

    #[test]
    fn zooming_out_shows_all_again() {
        let mut axis = Axis::default();
        axis.zoom(&ALL, 0.5, 0.5);
        assert_eq!(axis.window(&ALL), (2.5e8, 7.5e8));
        axis.pan(&ALL, 10.0);
        assert_eq!(axis.window(&ALL), (5e8, 1e9));
        axis.zoom(&ALL, 0.0, 0.25);
        assert_eq!(axis.window(&ALL), (5e8, 6.25e8));
        axis.zoom(&ALL, 0.5, 100.0);
        assert!(axis.is_all());
        axis.show(&ALL, &(10..20));
        let (from, to) = axis.window(&ALL);
        assert!(from <= 10.0 && to >= 20.0 && to - from < 3_000.0);
        axis.show(&ALL, &ALL);
        assert!(axis.is_all());
    }

    #[test]
    fn an_empty_trace_has_an_axis() {
        let axis = Axis::default();
        let (from, to) = axis.window(&(0..0));
        assert!(to > from);
    }

    #[test]
    fn ticks_say_what_their_step_needs() {
        let rect = Rect::from_min_max(egui::pos2(100.0, 0.0), egui::pos2(600.0, 10.0));
        let texts = |to: f64| -> Vec<String> {
            ticks(
                &Scale::new(rect, (0.0, to)),
                90.0,
                &crate::base::units::ENGLISH,
            )
            .into_iter()
            .map(|t| t.1)
            .collect()
        };
        assert_eq!(texts(3.2e9), ["0", "1 s", "2 s", "3 s"]);
        assert_eq!(texts(2.1e9), ["0", "0.5 s", "1.0 s", "1.5 s", "2.0 s"]);
        assert_eq!(texts(1e7), ["0", "2 ms", "4 ms", "6 ms", "8 ms", "10 ms"]);
        assert_eq!(
            texts(1e3),
            ["0", "0.2 µs", "0.4 µs", "0.6 µs", "0.8 µs", "1.0 µs"]
        );
    }

    #[test]
    fn places_and_times_agree() {
        let rect = Rect::from_min_max(egui::pos2(100.0, 0.0), egui::pos2(600.0, 10.0));
        let scale = Scale::new(rect, (0.0, 1e9));
        assert_eq!(scale.nanos(scale.x(250_000_000)), 250_000_000);
        assert!(scale.x(i64::MAX).is_finite() && scale.is_outside(-50.0, 50.0));
    }
}
