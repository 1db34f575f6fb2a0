//! A signal other than latency left its baseline for a time and came back.

use rayon::prelude::*;

use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::detect::changepoint::excursions::Excursion;
use crate::detect::changepoint::groups::{self, Move};
use crate::detect::changepoint::signals::{Signals, Subject};
use crate::detect::changepoint::{self, MIN_POINTS};
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// The smallest height in parts of the baseline. A signal that moves by less than half of itself and comes back needs
/// nobody.
const MIN_HEIGHT: f64 = 0.5;
/// The smallest height in deviations of the baseline's noise, for excursions that were found as levels.
const MIN_SIGMAS: f64 = 6.0;

/// A signal other than latency left its baseline for a time.
pub struct Spike;

impl Detector for Spike {
    fn kind(&self) -> FindingKind {
        FindingKind::Spike
    }

    fn doc(&self) -> &'static str {
        "Gauges other than latencies, and rates of counters, that leave their level and come back to it (within 2 \
         deviations or a quarter of the height) after at most as many points as they spent before or after. Excursions \
         of 3 points and more are found as levels (see `level_shift`), shorter ones lie beyond 2 sqrt(2 ln(n m / 0.05)) \
         robust deviations (two pairs of scrapes at least for a rate); a signal that does so more than 5 times in the window does it by habit, \
         and then only what is far above the rest is told. The height is at \
         least 6 deviations and half of the baseline. Series of one entity that move together are one finding. Silent \
         on latencies (`latency_spike`), failures (`error_burst`), falling request rates (`throughput_drop`). Not \
         enough: under 12 points in any series."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let signals = Signals::of(context);
        let snapshot = context.snapshot;
        let indices: Vec<usize> = signals
            .indices()
            .into_iter()
            .filter(|ix| {
                !matches!(
                    signals.subject(*ix),
                    Some(Subject::Latency | Subject::Quantile)
                )
            })
            .collect();
        if indices.is_empty() {
            return Verdict::NotEnough(format!(
                "no gauge (other than of latency) or counter has {MIN_POINTS} samples in the window"
            ));
        }
        let moves: Vec<Move> = indices
            .into_par_iter()
            .flat_map_iter(|ix| moves(snapshot, &signals, ix))
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

fn moves(snapshot: &Snapshot, signals: &Signals, ix: usize) -> Vec<Move> {
    let (Some(shape), Some(subject)) = (signals.shape(snapshot, ix), signals.subject(ix)) else {
        return Vec::new();
    };
    if shape.excursions.is_empty() {
        return Vec::new();
    }
    let points = signals.points(snapshot, ix);
    let one = |e: &Excursion| {
        let peak = *points.v.get(e.peak)?;
        let height = (peak - e.baseline).abs();
        let is_drop = subject == Subject::Requests && peak < e.baseline;
        // A burst within one pair of scrapes is no time, and says little of a rate.
        let is_burst = subject != Subject::Gauge && e.range.len() < 2;
        if is_drop
            || is_burst
            || height < MIN_SIGMAS * e.sigma
            || height < MIN_HEIGHT * e.baseline.abs()
        {
            return None;
        }
        let at = *points.t.get(e.range.start)?;
        let back = points.t.get(e.range.end).copied().unwrap_or(at);
        if subject != Subject::Gauge && falls_between(snapshot, ix, at, back, points.interval_nanos)
        {
            return None;
        }
        Some(Move {
            ix,
            subject,
            from: points.since.get(e.range.start).copied().unwrap_or(at),
            at,
            to: at,
            end: points.t.get(e.range.end).copied(),
            before: e.baseline,
            after: peak,
            score: e.score,
            points: e.range.len(),
            looked_at: shape.points,
            interval_nanos: points.interval_nanos,
        })
    };
    shape.excursions.iter().filter_map(one).collect()
}

/// Whether a counter goes back within two intervals of an excursion of its rate: then samples of two lives of it are
/// mixed (late samples, two processes behind one name), and the rates between them are none.
fn falls_between(snapshot: &Snapshot, ix: usize, from: i64, to: i64, interval_nanos: i64) -> bool {
    let Some(series) = snapshot.series.get(ix) else {
        return false;
    };
    let slack = interval_nanos.saturating_mul(2);
    let range = series.within(TimeRange::new(
        Timestamp::from_nanos(from.saturating_sub(slack)),
        Timestamp::from_nanos(to.saturating_add(slack)),
    ));
    let values = series.v.get(range).unwrap_or_default();
    values.windows(2).any(|w| w[1] < w[0])
}

fn finding(snapshot: &Snapshot, signals: &Signals, group: &[Move]) -> Option<Finding> {
    let lead = group.first()?;
    let series = snapshot.series.get(lead.ix)?;
    let (baseline, peak) = (
        groups::say(series, lead.subject, lead.before),
        groups::say(series, lead.subject, lead.after),
    );
    let start = Timestamp::from_nanos(lead.at);
    let end = lead.end.map(Timestamp::from_nanos);
    let mut finding = Finding::new(FindingKind::Spike, &series.selector(), start, end)
        .with("baseline", lead.before)
        .with("peak", lead.after)
        .with("metric", series.metric.as_ref())
        .with("series", group.len());
    let lasted = end.map_or(0.0, |end| end.secs_since(start));
    let is_high = lead.after > lead.before;
    let name = groups::short_name(snapshot, series);
    let what = match lead.subject {
        Subject::Gauge | Subject::Latency | Subject::Quantile => name,
        Subject::Rate | Subject::Requests => format!("rate of {name}"),
    };
    let verb = if is_high { "rose" } else { "fell" };
    // A single sample is a mark; what lasts for several and doubles is noticed.
    let factor = lead.ratio().map_or(f64::INFINITY, f64::abs);
    finding.severity = if lead.points >= 3 && !(0.5..=2.0).contains(&factor) {
        Severity::Minor
    } else {
        Severity::Info
    };
    finding.confidence = units::round_to(changepoint::confidence(lead.score, lead.points), 3);
    finding.title = format!(
        "{what} {verb} from {baseline} to {peak} for {}",
        units::secs(lasted)
    );
    finding.detail = format!(
        "{} left its baseline of {baseline} {} and was back after {} ({} samples); its extreme was {peak}. {} series were looked at.{}",
        series.selector(),
        groups::between(lead),
        units::secs(lasted),
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

    fn gauge(metric: &str, level: impl Fn(usize) -> f64, seed: u64) -> Series {
        let samples: Vec<(f64, f64)> = noise(200, seed)
            .iter()
            .enumerate()
            .map(|(i, e)| (15.0 * i as f64, level(i) + e))
            .collect();
        raw(metric, &[("instance", "a:1")], &samples)
    }

    fn snapshot(series: Vec<Series>) -> Snapshot {
        snapshot_from(Batch {
            series,
            ..Batch::default()
        })
    }

    fn bump(i: usize) -> f64 {
        if (100..112).contains(&i) { 90.0 } else { 30.0 }
    }

    #[test]
    fn an_excursion_has_its_baseline_peak_and_end() {
        let found = findings(
            &Spike,
            &snapshot(vec![
                gauge("queue_depth", bump, 1),
                gauge("waiting", bump, 2),
            ]),
        );
        assert_eq!(found.len(), 1, "{found:#?}");
        let spike = &found[0];
        assert!((spike.number("baseline").unwrap() - 30.0).abs() < 1.0);
        assert!((spike.number("peak").unwrap() - 92.0).abs() < 3.0);
        assert_eq!(spike.onset.nanos(), 1_500_000_000_000);
        assert_eq!(spike.end, Timestamp::from_millis(1_680_000));
        assert_eq!(spike.number("series"), Some(2.0));
    }

    #[test]
    fn noise_latency_and_habits_are_clear() {
        let series = vec![
            gauge("quiet", |_| 30.0, 3),
            gauge("request_latency_seconds", bump, 4),
            gauge("cron", |i| if i % 20 == 7 { 90.0 } else { 30.0 }, 5),
        ];
        assert_eq!(check(&Spike, &snapshot(series)), Verdict::Clear);
    }

    #[test]
    fn healthy_recordings_have_none_of_these() {
        use crate::detect::{leak::Leak, level_shift::LevelShift, saturation::Saturation};
        use crate::detect::{testing::snapshot_of, throughput_drop::ThroughputDrop};
        let Some(cases) = crate::base::testing::shared_data("prom-cases") else {
            return;
        };
        for case in std::fs::read_dir(cases).unwrap().map(|c| c.unwrap().path()) {
            let snapshot = snapshot_of(&case.join("input"));
            let detectors: [&dyn Detector; 5] =
                [&Leak, &LevelShift, &Spike, &Saturation, &ThroughputDrop];
            for finding in detectors.iter().flat_map(|d| findings(*d, &snapshot)) {
                let about_control = finding
                    .evidence
                    .iter()
                    .any(|e| e.locator.contains("role=\"control\""));
                let is_healthy = case.ends_with("01-healthy");
                assert!(
                    !about_control && !is_healthy,
                    "{}: {finding:#?}",
                    case.display()
                );
            }
        }
    }

    #[test]
    fn only_a_latency_is_not_enough() {
        let series = vec![gauge("rtt_ms", bump, 6)];
        assert!(matches!(
            check(&Spike, &snapshot(series)),
            Verdict::NotEnough(_)
        ));
    }
}
