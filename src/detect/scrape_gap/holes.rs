//! Series that are missing while the scrapes of their target go on: rows 15 to 18 of `prometheus.md` §2.6.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::stats;
use crate::detect::scrape_gap::interval::GAP_FACTOR;
use crate::detect::scrape_gap::timeline::{Scrape, Target};
use crate::model::input::InputIx;
use crate::model::series::{MetricKind, Series, is_stale_marker};
use crate::store::Snapshot;

/// Good scrapes that a series must miss before it counts: one may be a label set that came and went.
const MIN_MISSED: usize = 2;
/// A series that never came back must have missed this many.
const MIN_MISSED_AT_END: usize = 3;
/// Of the series of a target this share must end for good to be worth a word; pods and label sets come and go.
const MIN_SHARE_AT_END: f64 = 0.2;
/// Samples beyond one for each scrape, as a share of the hole, that show that late samples were merged in (row 18).
const LATE_SHARE: f64 = 0.5;
/// How far back late samples are looked for, in lengths of the hole.
const LATE_REACH: i64 = 12;

/// Series of one target that are missing over the same scrapes.
#[derive(Debug)]
pub(crate) struct SeriesHole<'a> {
    /// The series, in order.
    pub(crate) series: Vec<&'a Series>,
    /// The first good scrape without them.
    pub(crate) start: i64,
    /// The first with them again.
    pub(crate) end: Option<i64>,
    /// The last good scrape with them.
    pub(crate) last_good: i64,
    /// The last good scrape without them.
    pub(crate) last_bad: i64,
    /// How many good scrapes missed them.
    pub(crate) missed: u64,
    /// The scrape interval.
    pub(crate) interval: i64,
    /// `scrape_samples_scraped` before and in the hole.
    pub(crate) scraped: Option<(f64, f64)>,
    /// `scrape_samples_post_metric_relabeling` before and in the hole.
    pub(crate) kept: Option<(f64, f64)>,
    /// Whether one of the series carries a staleness marker there.
    pub(crate) is_marked: bool,
    /// The share of the target's recorded series that are missing.
    pub(crate) share: f64,
    /// How many holes these are: more than one when nothing tells why series of the target come and go.
    pub(crate) count: usize,
}

impl SeriesHole<'_> {
    /// Whether nothing in the recording tells why, and most series of the target are there.
    fn is_undecided(&self) -> bool {
        self.scraped.is_none() && !self.is_marked && self.share < 0.5
    }
}

/// Holes of which nothing tells why become one: series that come and go are usual for exporters whose subjects do.
fn fold_undecided(mut holes: Vec<SeriesHole<'_>>) -> Vec<SeriesHole<'_>> {
    let (undecided, mut kept): (Vec<_>, Vec<_>) =
        holes.drain(..).partition(SeriesHole::is_undecided);
    let mut rest = undecided.into_iter();
    let Some(mut first) = rest.next() else {
        return kept;
    };
    for hole in rest {
        first.series.extend(hole.series);
        first.end = first.end.zip(hole.end).map(|(a, b)| a.max(b));
        first.missed += hole.missed;
        first.last_bad = first.last_bad.max(hole.last_bad);
        first.count += 1;
    }
    first
        .series
        .sort_by(|a, b| (&a.metric, &a.labels).cmp(&(&b.metric, &b.labels)));
    first.series.dedup_by(|a, b| std::ptr::eq(*a, *b));
    kept.push(first);
    kept
}

/// Series that end where others of the same metric begin: relabelling or a rollout.
#[derive(Debug)]
pub(crate) struct IdentityChange<'a> {
    /// The first scrape with the new ones.
    pub(crate) t: i64,
    /// Old and new series, paired by metric.
    pub(crate) pairs: Vec<(&'a Series, &'a Series)>,
}

/// What was found in the series of a target.
#[derive(Debug, Default)]
pub(crate) struct SeriesFaults<'a> {
    /// Holes.
    pub(crate) holes: Vec<SeriesHole<'a>>,
    /// Identity changes of at least half of the series.
    pub(crate) identity: Vec<IdentityChange<'a>>,
}

/// A stretch of a series without a hole, in indices of good scrapes.
struct Stretch<'a> {
    series: &'a Series,
    /// The first good scrape of it.
    first: usize,
    /// The first good scrape after it.
    end: usize,
    /// Whether the next stretch in the list is of the same series.
    comes_back: bool,
    /// Whether the scrape after it was good, so that its end is the series' own.
    ends_itself: bool,
    /// Whether the scrape before it was good.
    begins_itself: bool,
    /// Whether late samples explain the hole after it.
    is_late: bool,
}

/// When the answers that hold a series end.
pub(crate) type Ends = BTreeMap<InputIx, i64>;

/// The last sample of each input's raw series.
pub(crate) fn input_ends(snapshot: &Snapshot) -> Ends {
    let mut ends = Ends::new();
    for series in snapshot.series.iter().filter(|s| s.sampling.is_raw()) {
        if let Some(last) = series.t.last() {
            for source in &series.sources {
                let end = ends.entry(source.input).or_insert(*last);
                *end = (*end).max(*last);
            }
        }
    }
    ends
}

/// Looks through the series of one target.
pub(crate) fn series_faults<'a>(target: &Target<'a>, ends: &Ends) -> SeriesFaults<'a> {
    let good: Vec<&Scrape> = target.scrapes.iter().filter(|s| s.is_up).collect();
    if good.len() < MIN_MISSED + 2 || target.series.is_empty() {
        return SeriesFaults::default();
    }
    let grid = Grid::of(target, &good);
    let stretches: Vec<Stretch<'_>> = target
        .series
        .iter()
        .flat_map(|s| grid.stretches(s))
        .collect();
    let (identity, renamed) = identity(&grid, &stretches);
    let mut holes = Vec::new();
    let mut drops = None;
    for (ix, stretch) in stretches.iter().enumerate() {
        let is_own = stretch.ends_itself && !stretch.is_late && !renamed.contains(&ix);
        let Some(start) = good.get(stretch.end).map(|s| s.t).filter(|_| is_own) else {
            continue;
        };
        let next = stretches
            .get(ix + 1)
            .filter(|_| stretch.comes_back)
            .map(|n| n.first);
        let until = next.unwrap_or_else(|| grid.recorded(stretch.series, ends));
        let missed = until.saturating_sub(stretch.end);
        let least = if next.is_some() {
            MIN_MISSED
        } else {
            MIN_MISSED_AT_END
        };
        if missed >= least {
            let drops = drops.get_or_insert_with(|| decreases(target));
            let at = |ix: usize| good.get(ix).map(|s| s.t);
            let last = stretch.end.checked_sub(1).and_then(at).unwrap_or(start);
            let back = next.and_then(at).unwrap_or(i64::MAX);
            if began_anew(drops, last, back, grid.interval(last)) {
                continue;
            }
            holes.push((stretch.end, next, missed, start, stretch.series));
        }
    }
    SeriesFaults {
        holes: fold_undecided(grid.group(holes, stretches.len())),
        identity,
    }
}

/// Decreases of the counters of a target: the last sample before and the first one after, in order.
fn decreases(target: &Target<'_>) -> Vec<(i64, i64)> {
    let mut found = Vec::new();
    for series in target
        .series
        .iter()
        .filter(|s| s.kind == MetricKind::Counter)
    {
        let mut last: Option<(i64, f64)> = None;
        for (t, v) in series.finite() {
            if let Some((from, old)) = last
                && v < old
            {
                found.push((from, t));
            }
            last = Some((t, v));
        }
    }
    found.sort_unstable();
    found
}

/// Whether a hole begins where counters of the target went down, at once or by its end: then the subject of the series
/// ended, was restarted or had its statistics reset (`counter_reset` says so), and nothing is missing.
fn began_anew(decreases: &[(i64, i64)], last: i64, until: i64, interval: i64) -> bool {
    let half = interval / 2;
    let from = decreases.partition_point(|(t, _)| *t < last - half);
    let rest = decreases.get(from..).unwrap_or_default().iter();
    rest.take_while(|(t, _)| *t <= last + half)
        .any(|(_, t)| *t <= until.saturating_add(half))
}

struct Grid<'t, 'a> {
    target: &'t Target<'a>,
    good: &'t [&'t Scrape],
    /// For each good scrape, whether the scrape before it (of any outcome) was good and came in time.
    follows: Vec<bool>,
}

type RawHole<'a> = (usize, Option<usize>, usize, i64, &'a Series);

impl<'t, 'a> Grid<'t, 'a> {
    fn of(target: &'t Target<'a>, good: &'t [&'t Scrape]) -> Self {
        let mut follows = Vec::with_capacity(good.len());
        for (ix, scrape) in target.scrapes.iter().enumerate() {
            if scrape.is_up {
                let before = ix.checked_sub(1).and_then(|i| target.scrapes.get(i));
                follows.push(before.is_some_and(|b| {
                    let interval = target.interval_after(ix.saturating_sub(1)) as f64;
                    b.is_up && (scrape.t - b.t) as f64 <= GAP_FACTOR * interval
                }));
            }
        }
        Self {
            target,
            good,
            follows,
        }
    }

    fn interval(&self, t: i64) -> i64 {
        let at = self.target.scrapes.partition_point(|s| s.t <= t);
        self.target.interval_after(at.saturating_sub(1)).max(1)
    }

    /// The index of the first good scrape later than half an interval after `t`.
    fn after(&self, t: i64) -> usize {
        let half = self.interval(t) / 2;
        self.good.partition_point(|s| s.t <= t.saturating_add(half))
    }

    /// The index of the good scrape that gave a sample at `t` (explicit timestamps may be off by a part of the
    /// interval).
    fn of_sample(&self, t: i64) -> usize {
        let half = self.interval(t) / 2;
        self.good.partition_point(|s| s.t < t.saturating_sub(half))
    }

    fn stretches(&self, series: &'a Series) -> Vec<Stretch<'a>> {
        let times = sample_times(series);
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Vec::new();
        };
        // No interval of the target is shorter than this, so no shorter distance can be a hole.
        let shortest = self.target.regimes.iter().map(|r| r.interval_nanos).min();
        let harmless = (GAP_FACTOR * shortest.unwrap_or(0).max(1) as f64) as i64;
        let mut found = Vec::new();
        let mut begin = *first;
        let mut push = |begin: i64, end: i64, to: Option<i64>| {
            let (first, after) = (self.of_sample(begin), self.after(end));
            found.push(Stretch {
                series,
                first,
                end: after,
                comes_back: to.is_some(),
                ends_itself: self.follows.get(after).copied().unwrap_or(false),
                begins_itself: first > 0 && self.follows.get(first).copied().unwrap_or(false),
                is_late: to.is_some_and(|to| self.is_late(&times, end, to)),
            });
        };
        for pair in times.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if to - from <= harmless {
                continue;
            }
            let is_long = (to - from) as f64 > GAP_FACTOR * self.interval(from) as f64;
            if is_long && self.of_sample(to).saturating_sub(self.after(from)) >= MIN_MISSED {
                push(begin, from, Some(to));
                begin = to;
            }
        }
        push(begin, *last, None);
        found
    }

    /// Whether a hole is only the shadow of samples that came late: before it there are more samples than scrapes.
    fn is_late(&self, times: &[i64], from: i64, to: i64) -> bool {
        let missed = self.of_sample(to).saturating_sub(self.after(from));
        let since = from.saturating_sub((to - from).saturating_mul(LATE_REACH));
        let since = times.first().map_or(since, |t| since.max(*t));
        let samples = times.partition_point(|t| *t <= from) - times.partition_point(|t| *t < since);
        let scrapes = self.after(from).saturating_sub(self.of_sample(since));
        samples.saturating_sub(scrapes) as f64 >= LATE_SHARE * missed as f64
    }

    /// How many good scrapes lie before the end of the answers that hold a series.
    fn recorded(&self, series: &Series, ends: &Ends) -> usize {
        let end = series
            .sources
            .iter()
            .filter_map(|s| ends.get(&s.input))
            .max();
        end.map_or(0, |end| self.good.partition_point(|s| s.t <= *end))
    }

    /// Holes over the same scrapes, give or take one, are one.
    fn group(&self, mut raw: Vec<RawHole<'a>>, all: usize) -> Vec<SeriesHole<'a>> {
        raw.sort_by_key(|(end, next, ..)| (*end, *next));
        let mut groups: Vec<Vec<RawHole<'a>>> = Vec::new();
        for hole in raw {
            let near = |a: usize, b: usize| a.abs_diff(b) <= 1;
            let same = groups.iter_mut().rev().take(8).find(|g| {
                g.first().is_some_and(|first| {
                    near(first.0, hole.0)
                        && match (first.1, hole.1) {
                            (Some(a), Some(b)) => near(a, b),
                            (None, None) => true,
                            _ => false,
                        }
                })
            });
            match same {
                Some(group) => group.push(hole),
                None => groups.push(vec![hole]),
            }
        }
        let distinct = self.target.series.len().min(all).max(1);
        groups
            .into_iter()
            .filter_map(|g| self.describe(&g, distinct))
            .collect()
    }

    fn describe(&self, group: &[RawHole<'a>], distinct: usize) -> Option<SeriesHole<'a>> {
        let &(first, next, missed, start, _) = group.first()?;
        let until = next.unwrap_or(first + missed);
        let inside = self.good.get(first..until)?;
        let before = self.good.get(first.saturating_sub(20)..first)?;
        let pair = |of: fn(&Scrape) -> Option<f64>| {
            let median = |scrapes: &[&Scrape]| {
                stats::median(&scrapes.iter().filter_map(|s| of(s)).collect::<Vec<_>>())
            };
            median(before).zip(median(inside))
        };
        let series: Vec<&Series> = group.iter().map(|(.., s)| *s).collect();
        let share = series.len() as f64 / distinct as f64;
        let scraped = pair(|s| s.samples);
        let last_good = before.last()?.t;
        let last_bad = inside.last()?.t;
        if next.is_none() {
            let has_dropped = scraped.is_none_or(|(b, a)| a < b);
            if !has_dropped || !(share >= MIN_SHARE_AT_END || self.ends_a_metric(&series)) {
                return None;
            }
        }
        Some(SeriesHole {
            start,
            end: next.and_then(|n| self.good.get(n)).map(|s| s.t),
            last_good,
            last_bad,
            missed: inside.len() as u64,
            interval: self.interval(last_good),
            scraped,
            kept: pair(|s| s.kept),
            is_marked: series.iter().any(|s| is_marked(s, last_good, last_bad)),
            share,
            count: 1,
            series,
        })
    }

    /// Whether all series of some metric are among these.
    fn ends_a_metric(&self, series: &[&Series]) -> bool {
        let count = |all: &[&'_ Series]| {
            let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
            for one in all {
                *counts.entry(Arc::clone(&one.metric)).or_default() += 1;
            }
            counts
        };
        let all = count(&self.target.series);
        count(series)
            .iter()
            .any(|(metric, n)| all.get(metric) == Some(n))
    }
}

/// Times of samples that are values.
///
/// `VictoriaMetrics` writes its markers as plain `NaN` (`prometheus.md` §1.5), so a `NaN` after a value and before a hole
/// or the end counts as one; any other is a value.
fn sample_times(series: &Series) -> Cow<'_, [i64]> {
    if series.histograms.is_empty() && !series.v.iter().any(|v| v.is_nan()) {
        return Cow::Borrowed(&series.t);
    }
    let mut times = Vec::with_capacity(series.t.len() + series.histograms.len());
    let usual = series.interval_nanos().unwrap_or(i64::MAX) as f64;
    for (ix, (t, v)) in series.t.iter().zip(&series.v).enumerate() {
        let is_marker = v.is_nan()
            && (is_stale_marker(*v) || {
                let follows_value = ix > 0 && series.v.get(ix - 1).is_some_and(|v| v.is_finite());
                let next = series.t.get(ix + 1);
                follows_value && next.is_none_or(|n| (n - t) as f64 > GAP_FACTOR * usual)
            });
        if !is_marker {
            times.push(*t);
        }
    }
    if !series.histograms.is_empty() {
        times.extend(series.histograms.iter().map(|h| h.t.nanos()));
        times.sort_unstable();
        times.dedup();
    }
    Cow::Owned(times)
}

fn is_marked(series: &Series, from: i64, to: i64) -> bool {
    let range = series.t.partition_point(|t| *t <= from)..series.t.partition_point(|t| *t <= to);
    series
        .v
        .get(range)
        .is_some_and(|values| values.iter().any(|v| v.is_nan()))
}

/// Identity changes, and the stretches whose end is one.
fn identity<'a>(
    grid: &Grid<'_, 'a>,
    stretches: &[Stretch<'a>],
) -> (Vec<IdentityChange<'a>>, BTreeSet<usize>) {
    let mut begins: BTreeMap<(usize, &str), Vec<&'a Series>> = BTreeMap::new();
    for stretch in stretches.iter().filter(|s| s.begins_itself) {
        let key = (stretch.first, stretch.series.metric.as_ref());
        begins.entry(key).or_default().push(stretch.series);
    }
    let mut renamed = BTreeSet::new();
    let mut pairs: BTreeMap<usize, Vec<(&'a Series, &'a Series)>> = BTreeMap::new();
    for (ix, stretch) in stretches.iter().enumerate().filter(|(_, s)| s.ends_itself) {
        let key = (stretch.end, stretch.series.metric.as_ref());
        let heirs = begins.get(&key).map(Vec::as_slice).unwrap_or_default();
        let heir = heirs
            .iter()
            // The pairing only serves the wording, so the best of some is good enough.
            .take(64)
            .filter(|heir| heir.labels != stretch.series.labels)
            .max_by_key(|heir| common_labels(stretch.series, heir));
        if let Some(heir) = heir {
            renamed.insert(ix);
            // What info series say by their labels is a version, not another identity.
            if !is_info(stretch.series) {
                let here = pairs.entry(stretch.end).or_default();
                here.push((stretch.series, heir));
            }
        }
    }
    let sorted = |of: fn(&Stretch<'a>) -> usize| {
        let all = stretches.iter().filter(|s| !is_info(s.series));
        let mut all: Vec<usize> = all.map(of).collect();
        all.sort_unstable();
        all
    };
    let (firsts, lasts) = (sorted(|s| s.first), sorted(|s| s.end));
    let changes = pairs
        .into_iter()
        .filter(|(at, pairs)| {
            let before = |all: &[usize]| all.partition_point(|ix| ix < at);
            let alive = before(&firsts).saturating_sub(before(&lasts));
            !pairs.is_empty() && pairs.len() * 2 >= alive
        })
        .filter_map(|(at, pairs)| {
            Some(IdentityChange {
                t: grid.good.get(at)?.t,
                pairs,
            })
        })
        .collect();
    (changes, renamed)
}

fn is_info(series: &Series) -> bool {
    series.metric.ends_with("_info")
}

fn common_labels(a: &Series, b: &Series) -> usize {
    a.labels
        .iter()
        .filter(|(k, v)| b.labels.get(k) == Some(v))
        .count()
}
