//! A signal moved to another level and stayed.

use rayon::prelude::*;

use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::changepoint::groups::{self, Move};
use crate::detect::changepoint::signals::{Points, Signals, Subject};
use crate::detect::changepoint::{self, MIN_POINTS};
use crate::detect::leak;
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// Fewest points on either side. Below, a level cannot be told from a burst; across a scrape gap, twice as many, since
/// what is beside a gap is often a start-up.
const MIN_STAY: usize = 5;
/// The smallest difference in deviations of the noise around it: at four, under 3 % of the points of either level lie
/// beyond the middle between them.
const MIN_SIGMAS: f64 = 4.0;
/// The smallest change in parts of the larger level. Under a fifth nobody acts on a resource or a rate.
const MIN_CHANGE: f64 = 0.2;
/// The same for latencies, where a longer path is news however short the way is.
const MIN_CHANGE_LATENCY: f64 = 0.005;
/// A distance of samples above this many intervals is a gap (`prometheus.md` §2: an interval and a half is one missed
/// scrape; two and a half are two).
const GAP_INTERVALS: f64 = 2.5;

/// A signal moved to another level and stayed.
pub struct LevelShift;

impl Detector for LevelShift {
    fn kind(&self) -> FindingKind {
        FindingKind::LevelShift
    }

    fn doc(&self) -> &'static str {
        "Gauges, and rates of counters for each pair of scrapes, are cut into levels by binary segmentation on ranks \
         (penalty 2 ln(n m / 0.05) for n points in m series, autocorrelation corrected). A border is a shift when the \
         signal stays for at least 5 points on both sides (10 across a gap), the medians differ by at least 4 \
         deviations of the noise and by a fifth of the larger level (0.5 % for latencies), and half of the difference \
         happens at the border, so that growth, waves and walks are none. Series of one entity that shift together are \
         one finding. Silent on counters' raw values, buckets, failures, clocks, series about scraping, leaks, and on \
         request rates that fall (`throughput_drop`); what comes back is a `spike`. Not enough: under 12 points in any \
         series."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let signals = Signals::of(context);
        let snapshot = context.snapshot;
        if signals.tests == 0 {
            return Verdict::NotEnough(format!(
                "no gauge or counter has {MIN_POINTS} samples in the window"
            ));
        }
        let moves: Vec<Move> = signals
            .indices()
            .into_par_iter()
            .flat_map_iter(|ix| moves(context, &signals, ix))
            .collect();
        let groups = groups::together(snapshot, moves);
        Verdict::of(
            groups
                .iter()
                .filter_map(|g| finding(snapshot, &signals, g))
                .collect(),
        )
    }
}

fn moves(context: &Context<'_>, signals: &Signals, ix: usize) -> Vec<Move> {
    let snapshot = context.snapshot;
    let (Some(shape), Some(subject)) = (signals.shape(snapshot, ix), signals.subject(ix)) else {
        return Vec::new();
    };
    let borders: Vec<usize> = match subject {
        // A latency that comes back is not taken by `spike`: both its borders are shifts when it stays long enough.
        Subject::Latency => (0..shape.levels.borders.len()).collect(),
        _ => shape.shifts.clone(),
    };
    if borders.is_empty() || leak::owns(context, ix) {
        return Vec::new();
    }
    let points = signals.points(snapshot, ix);
    borders
        .into_iter()
        .filter_map(|at| one_move(shape, &points, (ix, subject), at))
        .collect()
}

fn one_move(
    shape: &changepoint::excursions::Shape,
    points: &Points,
    (ix, subject): (usize, Subject),
    at: usize,
) -> Option<Move> {
    let border = shape.levels.borders.get(at)?;
    let (before, after) = (shape.levels.parts.get(at)?, shape.levels.parts.get(at + 1)?);
    let index = after.range.start;
    let t = *points.t.get(index)?;
    let gap = t.saturating_sub(*points.t.get(index.checked_sub(1)?)?) as f64
        > points.interval_nanos as f64 * GAP_INTERVALS;
    let stay = before.range.len().min(after.range.len());
    let change = (after.level - before.level).abs();
    let larger = before.level.abs().max(after.level.abs());
    let sigma = f64::midpoint(before.sigma.powi(2), after.sigma.powi(2)).sqrt();
    let least = if subject == Subject::Latency {
        MIN_CHANGE_LATENCY
    } else {
        MIN_CHANGE
    };
    // What only changes while nobody looked, and not before or after, is set when a process starts.
    let is_set_at_start = gap
        && [before, after].iter().all(|part| {
            let values = points.v.get(part.range.clone()).unwrap_or_default();
            values
                .iter()
                .all(|v| (v - part.level).abs() <= part.level.abs() * f64::EPSILON)
        });
    let is_drop = subject == Subject::Requests && after.level < before.level;
    let is_shift = stay >= if gap { 2 * MIN_STAY } else { MIN_STAY }
        && change >= MIN_SIGMAS * sigma
        && change >= least * larger
        && !is_drop
        && !is_set_at_start;
    is_shift.then(|| Move {
        ix,
        subject,
        from: points.since.get(border.earliest).copied().unwrap_or(t),
        at: t,
        to: points.t.get(border.latest).copied().unwrap_or(t),
        end: None,
        before: before.level,
        after: after.level,
        score: border.score,
        points: stay,
        looked_at: shape.points,
        interval_nanos: points.interval_nanos,
    })
}

fn finding(snapshot: &Snapshot, signals: &Signals, group: &[Move]) -> Option<Finding> {
    let lead = group.first()?;
    let series = snapshot.series.get(lead.ix)?;
    let (before, after) = (
        groups::say(series, lead.subject, lead.before),
        groups::say(series, lead.subject, lead.after),
    );
    let ratio = lead.ratio();
    let mut finding = Finding::new(
        FindingKind::LevelShift,
        &series.selector(),
        Timestamp::from_nanos(lead.at),
        None,
    )
    .with("before", lead.before)
    .with("after", lead.after)
    .with("ratio", ratio.map(|r| units::round_to(r, 4)))
    .with("metric", series.metric.as_ref())
    .with("series", group.len());
    let verb = if lead.after > lead.before {
        "rose"
    } else {
        "fell"
    };
    let name = groups::short_name(snapshot, series);
    let what = match lead.subject {
        Subject::Gauge | Subject::Latency | Subject::Quantile => name,
        Subject::Rate | Subject::Requests => format!("rate of {name}"),
    };
    // A factor of two is noticed; whether it hurts is for other findings to say.
    let factor = ratio.map_or(f64::INFINITY, f64::abs);
    finding.severity = if (0.5..=2.0).contains(&factor) {
        Severity::Info
    } else {
        Severity::Minor
    };
    finding.confidence = units::round_to(changepoint::confidence(lead.score, lead.points), 3);
    finding.title = format!("{what} {verb} from {before} to {after} and stayed");
    let unexamined = signals
        .shape(snapshot, lead.ix)
        .map_or(0, |s| s.levels.unexamined);
    let more = if unexamined > 0 {
        format!(" The series has very many steps; {unexamined} weaker ones were not looked at.")
    } else {
        String::new()
    };
    finding.detail = format!(
        "The {} {} {verb} from a median of {before} to {after} {}. It stayed there for at least {} samples, after at least as many before. {} \
         series were looked at.{}{more}",
        if matches!(
            lead.subject,
            Subject::Gauge | Subject::Latency | Subject::Quantile
        ) {
            "signal"
        } else {
            "rate of"
        },
        series.selector(),
        groups::between(lead),
        lead.points,
        signals.tests,
        groups::others(snapshot, group),
    );
    groups::fill(snapshot, group, &mut finding);
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::changepoint::tests::noise;
    use crate::detect::testing::{check, findings, raw, snapshot_from};
    use crate::model::batch::Batch;
    use crate::model::series::Series;

    fn gauge(metric: &str, instance: &str, level: impl Fn(usize) -> f64, seed: u64) -> Series {
        let samples: Vec<(f64, f64)> = noise(120, seed)
            .iter()
            .enumerate()
            .map(|(i, e)| (1_000.0 + 15.0 * i as f64, level(i) + e))
            .collect();
        raw(metric, &[("instance", instance)], &samples)
    }

    fn snapshot(series: Vec<Series>) -> Snapshot {
        snapshot_from(Batch {
            series,
            ..Batch::default()
        })
    }

    fn step(i: usize) -> f64 {
        if i < 60 { 40.0 } else { 90.0 }
    }

    #[test]
    fn series_of_one_entity_that_shift_together_are_one_finding() {
        let mut series: Vec<Series> = (0..50)
            .map(|i| gauge(&format!("buffers_{i}"), "a:1", step, i))
            .collect();
        series.push(gauge("buffers_0", "b:1", |_| 40.0, 99));
        series.push(gauge("buffers_0", "c:1", step, 98));
        let found = findings(&LevelShift, &snapshot(series));
        assert_eq!(found.len(), 2, "{found:#?}");
        assert_eq!(found[0].entities, ["instance:a:1"]);
        assert_eq!(found[0].number("series"), Some(50.0));
        assert!((found[0].number("before").unwrap() - 40.0).abs() < 1.0);
        assert!((found[0].number("ratio").unwrap() - 2.25).abs() < 0.1);
        assert_eq!(found[0].onset.nanos(), 1_900_000_000_000);
        assert!(found[0].confidence > 0.7);
    }

    #[test]
    fn the_title_tells_series_of_one_metric_apart() {
        let series = vec![
            gauge("load", "a:1", step, 1),
            gauge("load", "b:1", |_| 40.0, 2),
            gauge("alone", "c:1", step, 3),
        ];
        let found = findings(&LevelShift, &snapshot(series));
        let named = |start: &str| found.iter().any(|f| f.title.starts_with(start));
        assert!(named("load (instance a:1) rose from "), "{found:#?}");
        assert!(named("alone rose from "), "{found:#?}");
    }

    #[test]
    fn noise_growth_and_what_comes_back_are_clear() {
        let back = |i: usize| if (50..70).contains(&i) { 90.0 } else { 40.0 };
        let series = vec![
            gauge("quiet", "a:1", |_| 40.0, 1),
            gauge("grows", "a:1", |i| 40.0 + 2.0 * i as f64, 2),
            gauge("returns", "a:1", back, 3),
            gauge("scrape_samples_scraped", "a:1", step, 4),
            gauge("up", "a:1", step, 5),
        ];
        assert_eq!(check(&LevelShift, &snapshot(series)), Verdict::Clear);
    }

    #[test]
    fn a_counter_shifts_by_its_rate() {
        let mut total = 0.0;
        let samples: Vec<(f64, f64)> = (0..120)
            .map(|i| {
                total += if i < 60 { 150.0 } else { 600.0 } + f64::from(i % 7);
                (15.0 * f64::from(i), total)
            })
            .collect();
        let found = findings(
            &LevelShift,
            &snapshot(vec![raw("jobs_total", &[("instance", "a")], &samples)]),
        );
        assert_eq!(found.len(), 1);
        assert!((found[0].number("before").unwrap() - 10.2).abs() < 0.3);
        assert!((found[0].number("after").unwrap() - 40.2).abs() < 0.3);
    }

    #[test]
    fn too_few_samples_are_not_enough() {
        let few = raw("x", &[], &[(0.0, 1.0), (1.0, 2.0)]);
        assert!(matches!(
            check(&LevelShift, &snapshot(vec![few])),
            Verdict::NotEnough(_)
        ));
    }
}
