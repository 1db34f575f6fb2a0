//! What left its level and came back, and what moved and stayed.

use std::ops::Range;

use super::{Levels, MIN_SIDE, MIN_SIGMAS, Noise};

/// A signal that leaves its baseline this often in one window does so by habit (a cron job, a cycle), and none of it
/// is news: the threshold is raised until fewer are left.
const HABIT: usize = 5;
/// Steps of raising the threshold, each by √2: eight make it 16 times as high.
const RAISES: i32 = 8;
/// Above that, an excursion of a signal that bursts by habit is news only when it is this many times as high as every
/// burst that is none. Of heights with a tail as heavy as `P(X > x) = x^-2` the highest is so in one series of sixteen.
const APART: f64 = 4.0;
/// How near the old level counts as back, in parts of the excursion's height.
const BACK: f64 = 0.25;

/// An excursion from a baseline and back.
#[derive(Debug, Clone, PartialEq)]
pub struct Excursion {
    /// Its points.
    pub range: Range<usize>,
    /// The level before it.
    pub baseline: f64,
    /// The index of its extreme point.
    pub peak: usize,
    /// Noise of the baseline.
    pub sigma: f64,
    /// Height in units of what chance would give.
    pub score: f64,
}

/// The shape of one series.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// Points that were looked at.
    pub points: usize,
    /// Its levels.
    pub levels: Levels,
    /// The borders (indices into `levels.borders`) behind which the signal stayed.
    pub shifts: Vec<usize>,
    /// Excursions, in order.
    pub excursions: Vec<Excursion>,
}

/// Sorts the borders of `levels` into shifts and excursions, and adds the excursions that are shorter than a level.
pub fn shape(v: &[f64], levels: Levels, noise: Noise) -> Shape {
    let mut shape = Shape {
        points: v.len(),
        ..Shape::default()
    };
    let mut at = 1;
    while at < levels.parts.len() {
        if let Some((end, excursion)) = returning(v, &levels, at) {
            shape.excursions.push(excursion);
            at = end;
        } else {
            shape.shifts.push(at - 1);
        }
        at += 1;
    }
    keep_news(v, &mut shape.excursions);
    keep_new_levels(&levels, &mut shape.shifts);
    shape.excursions.extend(brief(v, &levels, noise));
    shape.excursions.sort_by_key(|e| e.range.start);
    shape.levels = levels;
    shape
}

/// Of excursions that have become a habit only those twice as high as the usual one are news.
fn keep_news(v: &[f64], excursions: &mut Vec<Excursion>) {
    if excursions.len() <= HABIT {
        return;
    }
    let height = |e: &Excursion| v.get(e.peak).map_or(0.0, |x| (x - e.baseline).abs());
    let heights: Vec<f64> = excursions.iter().map(height).collect();
    let usual = crate::base::stats::median(&heights).unwrap_or(0.0);
    excursions.retain(|e| height(e) > 2.0 * usual);
    if excursions.len() > HABIT {
        excursions.clear();
    }
}

/// A signal that goes up and down more than [`HABIT`] times is a cycle: then only a level outside everything before it,
/// by a quarter of that, is a shift.
fn keep_new_levels(levels: &Levels, shifts: &mut Vec<usize>) {
    let level = |at: usize| levels.parts.get(at).map_or(0.0, |p| p.level);
    let is_up = |border: usize| level(border + 1) > level(border);
    let turns = (1..levels.borders.len())
        .filter(|border| is_up(border - 1) != is_up(*border))
        .count();
    if turns <= HABIT {
        return;
    }
    let (mut low, mut high) = (level(0), level(0));
    let mut seen = 0;
    shifts.retain(|border| {
        for part in seen..=*border {
            (low, high) = (low.min(level(part)), high.max(level(part)));
        }
        seen = *border;
        let (after, margin) = (level(border + 1), BACK * (high - low));
        *border > 0 && (after > high + margin || after < low - margin) && high > low
    });
}

/// The part at which the signal is back at the level before part `at`, when that happens, and no later than a level
/// takes to be called one: the excursion is not longer than the longer of its neighbours.
fn returning(v: &[f64], levels: &Levels, at: usize) -> Option<(usize, Excursion)> {
    let base = levels.parts.get(at - 1)?;
    let mut points = 0;
    for end in at + 1..levels.parts.len() {
        points += levels.parts.get(end - 1)?.range.len();
        let next = levels.parts.get(end)?;
        let range = levels.parts.get(at)?.range.start..next.range.start;
        let peak = farthest(v, range.clone(), base.level)?;
        let height = (v.get(peak)? - base.level).abs();
        if points > base.range.len().max(next.range.len()) {
            return None;
        }
        let typical = (levels.parts.get(at)?.level - base.level).abs();
        if (next.level - base.level).abs()
            <= (MIN_SIGMAS * base.sigma).max(BACK * typical.min(height))
        {
            let score = levels.borders.get(at - 1)?.score;
            return Some((
                end,
                Excursion {
                    range,
                    baseline: base.level,
                    peak,
                    sigma: base.sigma,
                    score,
                },
            ));
        }
    }
    None
}

fn farthest(v: &[f64], range: Range<usize>, from: f64) -> Option<usize> {
    range.max_by(|a, b| {
        let distance = |i: &usize| v.get(*i).map_or(0.0, |x| (x - from).abs());
        distance(a).total_cmp(&distance(b)).then(b.cmp(a))
    })
}

/// Excursions of fewer points than a level needs: beyond `sqrt(2 ln(n m / α))` deviations (the expected reach of normal
/// noise over all points of all series), doubled because the noise of telemetry has heavier tails, and not a habit.
fn brief(v: &[f64], levels: &Levels, noise: Noise) -> Vec<Excursion> {
    let reach = 2.0 * noise.penalty(v.len()).sqrt();
    let mut found = Vec::new();
    for raise in 0..RAISES {
        let threshold = reach * std::f64::consts::SQRT_2.powi(raise);
        found = levels
            .parts
            .iter()
            .filter(|p| p.range.len() >= super::MIN_POINTS)
            .flat_map(|p| runs(v, p, threshold, reach))
            .collect();
        if found.len() <= HABIT {
            return found;
        }
    }
    keep_apart(v, &mut found);
    found
}

/// Of bursts by habit, the few that stand [`APART`] from the rest in their absolute height.
fn keep_apart(v: &[f64], found: &mut Vec<Excursion>) {
    let height = |e: &Excursion| v.get(e.peak).map_or(0.0, |x| (x - e.baseline).abs());
    let mut heights: Vec<f64> = found.iter().map(height).collect();
    heights.sort_by(|a, b| b.total_cmp(a));
    let least = heights
        .windows(2)
        .take(HABIT)
        .filter(|pair| pair[0] >= APART * pair[1])
        .map(|pair| pair[0])
        .next_back();
    match least {
        Some(least) => found.retain(|e| height(e) >= least),
        None => found.clear(),
    }
}

/// Runs of points beyond the threshold in one part; points with at most [`MIN_SIDE`] between them belong together.
fn runs(v: &[f64], part: &super::Part, threshold: f64, reach: f64) -> Vec<Excursion> {
    let mut found: Vec<Excursion> = Vec::new();
    let limit = threshold * part.sigma;
    for at in part.range.clone() {
        let distance = v.get(at).map_or(0.0, |x| (x - part.level).abs());
        if distance <= limit {
            continue;
        }
        let score = distance / part.sigma / reach;
        match found.last_mut() {
            Some(last) if at - last.range.end <= MIN_SIDE => {
                last.range.end = at + 1;
                if score > last.score {
                    (last.peak, last.score) = (at, score);
                }
            }
            _ => found.push(Excursion {
                range: at..at + 1,
                baseline: part.level,
                peak: at,
                sigma: part.sigma,
                score,
            }),
        }
    }
    // Back means back: what runs into the end of the part has not been seen to return.
    found.retain(|e| e.range.end < part.range.end && e.range.start > part.range.start);
    found
}

#[cfg(test)]
mod tests {
    use super::super::{levels, tests::noise};
    use super::*;

    fn of(v: &[f64]) -> Shape {
        shape(v, levels(v, Noise::ALONE), Noise::ALONE)
    }

    #[test]
    fn an_excursion_that_returns_is_one_thing() {
        let mut v = noise(200, 4);
        v.iter_mut().skip(90).take(20).for_each(|x| *x += 40.0);
        let shape = of(&v);
        assert!(shape.shifts.is_empty(), "{shape:?}");
        assert_eq!(shape.excursions.len(), 1);
        assert_eq!(shape.excursions[0].range, 90..110);
    }

    #[test]
    fn a_single_point_counts_when_it_is_far_and_no_habit() {
        let mut v = noise(400, 5);
        v[100] += 40.0;
        assert_eq!(of(&v).excursions.len(), 1);
        for at in (20..400).step_by(30) {
            v[at] = 40.0;
        }
        assert!(of(&v).excursions.is_empty());
    }

    #[test]
    fn what_towers_over_a_habit_of_bursts_is_news() {
        let mut v = noise(400, 5);
        for at in (20..400).step_by(30) {
            v[at] = 4_000.0 + at as f64;
        }
        assert!(of(&v).excursions.is_empty());
        v[207] = 60_000.0;
        let found = of(&v).excursions;
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].peak, 207);
    }

    #[test]
    fn a_cycle_is_a_habit_and_only_a_new_level_is_news() {
        let mut v = noise(1600, 8);
        let daily = |i: usize| {
            if (i / 50).is_multiple_of(2) {
                20.0
            } else {
                60.0
            }
        };
        v.iter_mut().enumerate().for_each(|(i, x)| *x += daily(i));
        let cycle = of(&v);
        assert!(
            cycle.shifts.is_empty() && cycle.excursions.is_empty(),
            "{cycle:?}"
        );
        v.iter_mut().skip(1200).for_each(|x| *x += 200.0);
        let moved = of(&v);
        let starts: Vec<usize> = moved
            .shifts
            .iter()
            .map(|b| moved.levels.parts[b + 1].range.start)
            .collect();
        assert_eq!(starts.first(), Some(&1200), "{starts:?}");
    }

    #[test]
    fn what_does_not_return_is_a_shift() {
        let mut v = noise(200, 6);
        v.iter_mut().skip(150).for_each(|x| *x += 9.0);
        let shape = of(&v);
        assert!(shape.excursions.is_empty());
        assert_eq!(shape.shifts, [0]);
    }
}
