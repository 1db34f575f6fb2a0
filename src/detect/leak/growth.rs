//! Whether one series grows and does not come back: the numbers behind a leak.

use crate::base::stats;
use crate::model::pack::Role;

/// Blocks of the lower envelope. A garbage-collected heap that is a sawtooth has flat minima; enough blocks for a
/// trend, few enough that every tooth of a usual heap falls into one.
const BLOCKS: usize = 48;
/// Fewest points in which a growth can be seen.
pub(super) const MIN_POINTS: usize = 12;
/// Fewest points of the growth itself.
const MIN_GROWING: usize = 4;
/// The growth in parts of where it started, at least: below, it is how a process lives.
const MIN_RELATIVE: f64 = 0.3;
/// The growth in deviations of the noise before it, at least.
const MIN_SIGMAS: f64 = 8.0;
/// Of the height that was reached, the part that is still there at the end.
const MIN_KEPT: f64 = 0.7;
/// The largest part of the growth that one step may have: above, it is a shift of level.
const MAX_STEP: f64 = 0.6;
/// The part of the growth that must fall into the last third of the window when there is no quiet time before it (a
/// straight line has a third): a process that warms up and then stays is no leak.
const MIN_LATE: f64 = 0.15;
/// The part of the points that must be quiet before the growth so that a plateau at its end counts as a leak.
const MIN_QUIET: f64 = 0.2;
/// The one-sided 99.9 % point of the normal distribution, for the trend test.
const TREND_Z: f64 = 3.09;

/// The least growth that is worth a word, by what grows: a process allocates 16 MiB, opens dozens of files and starts
/// dozens of goroutines within its usual life.
fn least(role: Role) -> f64 {
    match role {
        Role::Memory => 16.0 * 1024.0 * 1024.0,
        Role::Threads => 20.0,
        _ => 50.0,
    }
}

/// A growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Growth {
    /// Index of the last point before it.
    pub(super) last_quiet: usize,
    /// Index of its first point.
    pub(super) onset: usize,
    /// Median before it (the first value, when it grew from the start).
    pub(super) start_value: f64,
    /// The last value.
    pub(super) end_value: f64,
    /// Theil–Sen slope while it grew, per hour.
    pub(super) slope_per_h: f64,
    /// Kendall's τ of the envelope from the onset to where it stopped growing.
    pub(super) tau: f64,
    /// Points of the growth.
    pub(super) points: usize,
    /// Whether it grew from the first point on, so that the onset lies before the recording.
    pub(super) from_start: bool,
    /// Whether it stood still at the end.
    pub(super) is_plateau: bool,
}

/// The growth in a series of finite points, times in nanoseconds; `None` when there is none.
pub(super) fn growth(t: &[i64], v: &[f64], role: Role) -> Option<Growth> {
    let n = v.len();
    if n < MIN_POINTS {
        return None;
    }
    let envelope = envelope(v);
    let (start_value, sigma) = beginning(v)?;
    let end_value = *v.last()?;
    let lowest_end = envelope.last()?.1;
    let rise = lowest_end.max(end_value.min(lowest_end)) - start_value;
    let highest = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_large = rise >= least(role)
        && rise >= MIN_RELATIVE * start_value.abs()
        && rise >= MIN_SIGMAS * sigma
        && end_value - start_value >= MIN_KEPT * (highest - start_value);
    if !is_large {
        return None;
    }
    // Quiet is what stays within the noise, or within half a percent of the growth (the beginning may be
    // more even than the rest).
    let quiet_below = start_value + (4.0 * sigma).max(0.005 * rise);
    let onset = v
        .iter()
        .rposition(|x| *x <= quiet_below)
        .map_or(0, |i| i + 1);
    let points = n - onset;
    if points < MIN_GROWING || largest_step(v, onset, start_value) > MAX_STEP * rise {
        return None;
    }
    let quiet = onset as f64 / n as f64;
    let third = envelope
        .iter()
        .rev()
        .find(|(i, _)| *i <= n - n.div_ceil(3))
        .map_or(start_value, |e| e.1);
    let late = (lowest_end - third) / rise;
    let from_start = quiet < MIN_QUIET;
    if from_start && late < MIN_LATE {
        return None;
    }
    let top = start_value + 0.95 * (lowest_end - start_value);
    let growing: Vec<(f64, f64)> = envelope
        .iter()
        .filter(|(i, _)| *i + 1 >= onset)
        .map(|(i, x)| (t.get(*i).copied().unwrap_or(0) as f64 / 3.6e12, *x))
        .collect();
    let until = growing
        .iter()
        .position(|(_, x)| *x >= top)
        .unwrap_or(growing.len());
    let climb = growing
        .get(..(until + 1).min(growing.len()))
        .unwrap_or(&growing);
    let climb = if climb.len() < MIN_GROWING {
        &growing
    } else {
        climb
    };
    let (tau, z) = kendall(climb);
    if z < TREND_Z && !(climb.len() < 8 && tau > 0.99) {
        return None;
    }
    Some(Growth {
        last_quiet: onset.saturating_sub(1),
        onset: onset.min(n - 1),
        start_value,
        end_value,
        slope_per_h: theil_sen(climb)?,
        tau,
        points,
        from_start,
        is_plateau: stands_still(v, onset, start_value),
    })
}

/// Minima of blocks, each with the index of its last point.
fn envelope(v: &[f64]) -> Vec<(usize, f64)> {
    let size = v.len().div_ceil(BLOCKS).max(1);
    v.chunks(size)
        .enumerate()
        .map(|(b, block)| {
            let least = block.iter().copied().fold(f64::INFINITY, f64::min);
            (b * size + block.len() - 1, least)
        })
        .collect()
}

/// Level and noise at the beginning: the median of the first tenth (five points at least), and the scaled MAD of the
/// differences of all neighbours, which a growth hardly touches (the difference of two has √2 of the deviation of one).
fn beginning(v: &[f64]) -> Option<(f64, f64)> {
    let first = v.get(..(v.len() / 10).max(5).min(v.len()))?;
    let moves: Vec<f64> = first.windows(2).map(|w| w[1] - w[0]).collect();
    let level = stats::median(first)?;
    let sigma = (stats::mad(&moves)? / std::f64::consts::SQRT_2).max(stats::mad(first)?);
    Some((level, sigma.max(level.abs() * 1e-9)))
}

/// Whether the last fifth of the growth's points added less than a twentieth of it (a straight line adds a fifth).
fn stands_still(v: &[f64], onset: usize, start_value: f64) -> bool {
    let after = v.get(onset..).unwrap_or_default();
    let (early, late) = after.split_at(after.len() * 4 / 5);
    let tail = early.len().saturating_sub(late.len());
    let (Some(before), Some(end)) = (
        stats::median(early.get(tail..).unwrap_or_default()),
        stats::median(late),
    ) else {
        return false;
    };
    end - before < 0.05 * (end - start_value)
}

fn largest_step(v: &[f64], onset: usize, start_value: f64) -> f64 {
    let mut before = start_value;
    let mut largest: f64 = 0.0;
    for x in v.iter().skip(onset) {
        largest = largest.max(x - before);
        before = before.max(*x);
    }
    largest
}

/// Kendall's τ of the values over time and the normal score of the Mann–Kendall test (Mann, 1945; Kendall, 1975),
/// without the small correction for ties.
fn kendall(points: &[(f64, f64)]) -> (f64, f64) {
    let n = points.len() as f64;
    let mut s = 0.0;
    for (i, a) in points.iter().enumerate() {
        for b in points.iter().skip(i + 1) {
            s += f64::from(i8::from(b.1 > a.1) - i8::from(b.1 < a.1));
        }
    }
    let pairs = n * (n - 1.0) / 2.0;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0;
    if pairs <= 0.0 {
        return (0.0, 0.0);
    }
    (s / pairs, (s - 1.0).max(0.0) / variance.sqrt())
}

/// The median of the slopes of all pairs (Theil, 1950; Sen, 1968).
fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        for b in points.iter().skip(i + 1).filter(|b| b.0 > a.0) {
            slopes.push((b.1 - a.1) / (b.0 - a.0));
        }
    }
    stats::median(&slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::changepoint::tests::noise;

    fn of(level: impl Fn(f64) -> f64, role: Role) -> Option<Growth> {
        let v: Vec<f64> = noise(200, 8)
            .iter()
            .enumerate()
            .map(|(i, e)| level(i as f64) + e)
            .collect();
        let t: Vec<i64> = (0..200).map(|i| i * 15_000_000_000).collect();
        growth(&t, &v, role)
    }

    #[test]
    fn a_line_from_a_quiet_time() {
        let g = of(|i| 100.0 + (i - 80.0).max(0.0) * 10.0, Role::OpenFds).unwrap();
        assert!((80..=84).contains(&g.onset), "{g:?}");
        assert!((g.slope_per_h - 2_400.0).abs() < 60.0, "{g:?}");
        assert!(!g.from_start && !g.is_plateau && g.tau > 0.95);
    }

    #[test]
    fn a_plateau_after_a_quiet_time_is_a_leak_a_warm_up_is_none() {
        let plateau = |i: f64| 100.0 + (i - 80.0).clamp(0.0, 50.0) * 10.0;
        assert!(of(plateau, Role::OpenFds).unwrap().is_plateau);
        assert_eq!(of(|i| 100.0 + i.min(40.0) * 10.0, Role::OpenFds), None);
    }

    #[test]
    fn sawtooth_step_return_and_noise_are_none() {
        assert_eq!(of(|i| 100.0 + (i % 20.0) * 50.0, Role::OpenFds), None);
        assert_eq!(
            of(|i| if i < 100.0 { 100.0 } else { 900.0 }, Role::OpenFds),
            None
        );
        assert_eq!(
            of(
                |i| 100.0 + (100.0 - (i - 100.0).abs()) * 10.0,
                Role::OpenFds
            ),
            None
        );
        assert_eq!(of(|_| 100.0, Role::OpenFds), None);
        assert_eq!(of(|i| 1e6 + i * 1e3, Role::Memory), None);
    }

    #[test]
    fn a_rising_sawtooth_is_a_leak() {
        let g = of(|i| 100.0 + i * 10.0 + (i % 9.0) * 30.0, Role::Goroutines).unwrap();
        assert!((g.slope_per_h - 2_400.0).abs() < 200.0, "{g:?}");
    }
}
