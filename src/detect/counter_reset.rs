//! Counters that went down: a restart, or somebody who reset them.

use std::collections::BTreeMap;

use crate::base::text;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::scrape_gap::evidence::{PROCESS_START, after, before};
use crate::detect::scrape_gap::origin::{external_labels, is_copy};
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::series::{MetricKind, Series};
use crate::store::Snapshot;

/// So many decreases within [`INTERLEAVED_SPAN`] samples are two streams of values in one series (late samples, or two
/// writers), not resets (`prometheus.md` §2.6, row 18).
const INTERLEAVED: usize = 3;
/// Two streams alternate, so three decreases come within six samples; twice that allows for uneven mixing.
const INTERLEAVED_SPAN: usize = 12;
/// Counters of one process are read by one scrape; explicit timestamps may set them apart by less than this many
/// intervals.
const TOGETHER: f64 = 1.5;

/// Finds counters that went down.
pub struct CounterReset;

/// One decrease.
#[derive(Debug, Clone, Copy)]
struct Drop<'a> {
    series: &'a Series,
    from_t: i64,
    t: i64,
    old: f64,
    new: f64,
    interval: i64,
}

impl Detector for CounterReset {
    fn kind(&self) -> FindingKind {
        FindingKind::CounterReset
    }

    fn doc(&self) -> &'static str {
        "A raw cumulative series (counter, histogram bucket, sum or count, by metadata, pack or name) whose value went down \
         from one sample to the next: one finding for each process or target and time, `at_value` being the value that the \
         most telling counter had reached. With a new process_start_time_seconds it is called a restart. Three or more \
         decreases within twelve samples of one series are interleaved streams and are passed over, as are gauges. Not \
         enough without raw cumulative series."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let external = external_labels(snapshot);
        let mut any = false;
        let mut groups: BTreeMap<&str, Vec<Drop<'_>>> = BTreeMap::new();
        let mut totals: BTreeMap<&str, u64> = BTreeMap::new();
        for (ix, series) in snapshot.series.iter().enumerate() {
            if !series.sampling.is_raw()
                || !is_cumulative(series)
                || series.t.len() < 2
                || is_copy(snapshot, series, &external)
            {
                continue;
            }
            any = true;
            let entities = snapshot
                .series_entities
                .get(ix)
                .map(Vec::as_slice)
                .unwrap_or_default();
            let key = entities.first().map_or("", String::as_str);
            *totals.entry(key).or_default() += 1;
            let drops = drops(series);
            if !drops.is_empty() {
                groups.entry(key).or_default().extend(drops);
            }
        }
        if !any {
            return Verdict::NotEnough(
                "No raw cumulative series was given: evaluated rates hide resets; an instant query of a counter with a \
                 range selector would show them."
                    .to_owned(),
            );
        }
        let mut findings = Vec::new();
        for (key, mut drops) in groups {
            drops.sort_by_key(|d| d.t);
            let of = totals.get(key).copied().unwrap_or(0);
            for group in together(drops) {
                findings.extend(finding(snapshot, key, &group, of));
            }
        }
        findings.retain(|f| context.window.contains(f.start));
        Verdict::of(findings)
    }
}

/// Whether a series only grows by its nature.
fn is_cumulative(series: &Series) -> bool {
    if series.labels.get("quantile").is_some() {
        return false;
    }
    let is_part = ["_bucket", "_count", "_sum"]
        .iter()
        .any(|s| series.metric.ends_with(s));
    match series.kind {
        MetricKind::Counter => true,
        MetricKind::Histogram | MetricKind::Summary => is_part,
        MetricKind::Gauge | MetricKind::Unknown => false,
    }
}

/// Every decrease of a series that is not one of interleaved streams.
fn drops(series: &Series) -> Vec<Drop<'_>> {
    let mut found: Vec<(usize, Drop<'_>)> = Vec::new();
    let mut last: Option<(i64, f64)> = None;
    for (position, (t, v)) in series.finite().enumerate() {
        if let Some((from_t, old)) = last
            && v < old
        {
            let interval = 0;
            found.push((
                position,
                Drop {
                    series,
                    from_t,
                    t,
                    old,
                    new: v,
                    interval,
                },
            ));
        }
        last = Some((t, v));
    }
    if found.is_empty() {
        return Vec::new();
    }
    let interval = series.interval_nanos().unwrap_or(0);
    let positions: Vec<usize> = found.iter().map(|(p, _)| *p).collect();
    found
        .into_iter()
        .filter(|(at, _)| {
            let from = positions.partition_point(|p| p + INTERLEAVED_SPAN <= *at);
            let to = positions.partition_point(|p| *p < at + INTERLEAVED_SPAN);
            to - from < INTERLEAVED
        })
        .map(|(_, drop)| Drop { interval, ..drop })
        .collect()
}

/// Splits drops, in order of time, where they are more than one scrape apart. A drop over a hole belongs to the earlier
/// one that lies in the hole.
fn together<'a>(drops: Vec<Drop<'a>>) -> Vec<Vec<Drop<'a>>> {
    let mut groups: Vec<Vec<Drop<'a>>> = Vec::new();
    for drop in drops {
        // Only the newest few: a drop over a hole follows what lies in it, and the search stays linear.
        let known = groups.iter_mut().rev().take(16).find(|group| {
            group
                .first()
                .zip(group.last())
                .is_some_and(|(first, last)| {
                    let near = TOGETHER * drop.interval.max(last.interval) as f64;
                    (drop.t - last.t) as f64 <= near || (drop.from_t < first.t && first.t <= drop.t)
                })
        });
        match known {
            Some(group) => group.push(drop),
            None => groups.push(vec![drop]),
        }
    }
    groups
}

/// How telling a counter is: one that people count by (`_total`) before parts of histograms, then how much it lost.
fn weight(drop: &Drop<'_>) -> (bool, f64) {
    (drop.series.metric.ends_with("_total"), drop.old - drop.new)
}

fn finding(snapshot: &Snapshot, key: &str, drops: &[Drop<'_>], of: u64) -> Option<Finding> {
    let told = drops.iter().max_by(|a, b| {
        let (a_weight, b_weight) = (weight(a), weight(b));
        (a_weight.0.cmp(&b_weight.0))
            .then(a_weight.1.total_cmp(&b_weight.1))
            .then_with(|| b.series.labels.cmp(&a.series.labels))
    })?;
    let first = drops.first()?;
    let start = Timestamp::from_nanos(first.t);
    let subject = if key.is_empty() {
        told.series.selector()
    } else {
        key.to_owned()
    };
    let entities = snapshot
        .metric(&told.series.metric)
        .find(|ix| {
            snapshot
                .series
                .get(*ix)
                .is_some_and(|s| std::ptr::eq(s, told.series))
        })
        .and_then(|ix| snapshot.series_entities.get(ix));
    let renewed = renewed(snapshot, key, first);
    let mut finding = Finding::new(FindingKind::CounterReset, &subject, start, None)
        .with("at_value", units::round_to(told.old, 6))
        .with("counters", drops.len());
    // Endpoints and the like of one counter say nothing about the whole process.
    finding.entities = entities
        .map(|all| {
            all.iter()
                .filter(|e| !e.starts_with("endpoint:") && !e.starts_with("upstream:"))
                .cloned()
                .collect()
        })
        .unwrap_or_default();
    let name = key
        .split_once(':')
        .map_or(subject.as_str(), |(_, name)| name);
    finding.title = match &renewed {
        Some(_) => format!("Counters of {name} began anew with a new process"),
        None => format!("Counters of {name} went down"),
    };
    finding.detail = format!(
        "{} of {} went down between {} and {}: {} from {} to {}.",
        text::grouped(drops.len() as u64),
        text::count(of, "counter", "counters"),
        Timestamp::from_nanos(first.from_t).to_clock(),
        start.to_clock(),
        told.series.selector(),
        units::number(told.old),
        units::number(told.new)
    );
    finding.evidence.push(snapshot.sample_evidence(
        told.series,
        told.t,
        format!("{} → {}", units::number(told.old), units::number(told.new)),
    ));
    if let Some((series, t, value)) = renewed {
        let began = Timestamp::from_secs_f64(value).map_or_else(String::new, Timestamp::to_rfc3339);
        finding.detail = format!(
            "{} The process is a new one, started at {began}: a restart. What was counted between the last scrape and it \
             is lost.",
            finding.detail
        );
        finding.evidence.push(snapshot.sample_evidence(
            series,
            t,
            format!("process start {began}"),
        ));
    } else {
        finding.detail = format!(
            "{} Whether a new process began is not shown by a start time; rates over this moment are too low.",
            finding.detail
        );
    }
    let is_most = drops.len() as u64 * 2 > of;
    (finding.severity, finding.confidence) = match (renewed.is_some(), is_most) {
        (true, _) => (Severity::Minor, 0.97),
        (false, true) => (Severity::Minor, 0.85),
        (false, false) => (Severity::Info, 0.6),
    };
    Some(finding)
}

/// The start time of the process, when it is another one after the drop.
fn renewed<'a>(
    snapshot: &'a Snapshot,
    key: &str,
    drop: &Drop<'_>,
) -> Option<(&'a Series, i64, f64)> {
    let starts = [
        PROCESS_START,
        "namedprocess_namegroup_oldest_start_time_seconds",
    ];
    starts
        .iter()
        .flat_map(|m| snapshot.raw(m))
        .find_map(|(ix, series)| {
            let entity = snapshot.series_entities.get(ix)?.first()?;
            let (_, old) = before(series, drop.from_t)?;
            let (t, new) = after(series, drop.t)?;
            (entity == key && (new - old).abs() > 1.0).then_some((series, t, new))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::testing::{check, findings, raw, snapshot_from};
    use crate::model::batch::Batch;

    const APP: &[(&str, &str)] = &[("instance", "a:1"), ("job", "app")];

    fn batch(series: Vec<Series>) -> Snapshot {
        snapshot_from(Batch {
            series,
            ..Batch::default()
        })
    }

    fn ramp(from: f64, n: u32, start: f64) -> Vec<(f64, f64)> {
        (0..n)
            .map(|i| (start + f64::from(i), from + 10.0 * f64::from(i)))
            .collect()
    }

    #[test]
    fn a_growing_counter_is_clear() {
        let snapshot = batch(vec![raw("http_requests_total", APP, &ramp(5.0, 30, 0.0))]);
        assert_eq!(check(&CounterReset, &snapshot), Verdict::Clear);
    }

    #[test]
    fn a_gauge_alone_is_not_enough() {
        let snapshot = batch(vec![raw(
            "queue_depth",
            APP,
            &[(0.0, 5.0), (1.0, 2.0), (2.0, 9.0)],
        )]);
        assert!(matches!(
            check(&CounterReset, &snapshot),
            Verdict::NotEnough(_)
        ));
    }

    #[test]
    fn all_counters_of_a_restart_are_one_finding() {
        let reset = |scale: f64| {
            let mut samples = ramp(0.0, 20, 0.0);
            samples.extend(ramp(0.0, 20, 20.0));
            for (_, v) in &mut samples {
                *v *= scale;
            }
            samples
        };
        let start = |t: f64| (t, if t < 20.0 { 1_000.0 } else { 1_019.5 });
        let starts: Vec<(f64, f64)> = (0..40).map(|i| start(f64::from(i))).collect();
        let snapshot = batch(vec![
            raw("http_requests_total", APP, &reset(1.0)),
            raw("http_errors_total", APP, &reset(0.5)),
            raw("process_start_time_seconds", APP, &starts),
        ]);
        let found = findings(&CounterReset, &snapshot);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].number("at_value"), Some(190.0));
        assert_eq!(found[0].number("counters"), Some(2.0));
        assert_eq!(found[0].start, Timestamp::from_nanos(20_000_000_000));
        assert!(found[0].detail.contains("a restart"), "{}", found[0].detail);
    }

    #[test]
    fn interleaved_streams_are_no_resets() {
        let samples: Vec<(f64, f64)> = (0..30)
            .map(|i| {
                (
                    f64::from(i) / 2.0,
                    if i % 2 == 0 { 1_000.0 } else { 500.0 } + f64::from(i),
                )
            })
            .collect();
        let snapshot = batch(vec![raw("http_requests_total", APP, &samples)]);
        assert_eq!(check(&CounterReset, &snapshot), Verdict::Clear);
    }
}
