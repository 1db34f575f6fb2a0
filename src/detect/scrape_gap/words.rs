//! Gaps as findings: titles, sentences, severity, evidence.

use crate::base::text;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::scrape_gap::analysis::Gap;
use crate::detect::scrape_gap::evidence::signs_of_life;
use crate::detect::scrape_gap::held::Held;
use crate::detect::scrape_gap::runs::Phase;
use crate::detect::scrape_gap::shared::SharedHole;
use crate::detect::scrape_gap::timeline::{Target, clock};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::store::Snapshot;

/// From so many missed scrapes, or this long, a gap is major: alerts with the usual `for: 5m` and every window of a few
/// scrapes are blind.
pub(super) const MAJOR_MISSED: u64 = 10;
/// The lookback of Prometheus (`prometheus.md` §1.2): longer gaps show in every graph.
const MAJOR_NANOS: i64 = 300_000_000_000;

pub(super) fn at(t: i64) -> Timestamp {
    Timestamp::from_nanos(t)
}

fn rfc(t: Option<i64>) -> serde_json::Value {
    t.map_or(serde_json::Value::Null, |t| at(t).to_rfc3339().into())
}

/// The values that every gap carries.
pub(super) struct Numbers {
    pub(super) missed: u64,
    pub(super) expected: u64,
    pub(super) interval: i64,
    pub(super) last_good: Option<i64>,
    pub(super) last_bad: Option<i64>,
}

pub(super) fn fill(
    mut finding: Finding,
    numbers: &Numbers,
    cause: &str,
    confidence: f64,
) -> Finding {
    finding.cause = Some(cause.to_owned());
    finding.confidence = units::round_to(confidence, 3);
    finding
        .with("missed", numbers.missed)
        .with("expected", numbers.expected)
        .with(
            "interval_s",
            units::round_to(numbers.interval as f64 / 1e9, 3),
        )
        .with("last_good", rfc(numbers.last_good))
        .with("last_bad", rfc(numbers.last_bad))
}

fn severity(cause: &str, missed: u64, nanos: i64, is_everything: bool) -> Severity {
    let is_long = missed >= MAJOR_MISSED || nanos >= MAJOR_NANOS;
    match cause {
        "isolated_miss" | "query_artifact" => Severity::Info,
        _ if is_long && is_everything => Severity::Critical,
        _ if is_long => Severity::Major,
        _ => Severity::Minor,
    }
}

/// The gap of one target.
pub(crate) fn target_gap(
    snapshot: &Snapshot,
    target: &Target<'_>,
    gap: &Gap,
    held: &Held<'_>,
    is_only: bool,
) -> Option<Finding> {
    let (first, last) = (gap.phases.first()?, gap.phases.last()?);
    let cause = gap.decision.cause;
    let missed: u64 = gap.phases.iter().map(Phase::missed).sum();
    let interval = first.interval;
    let until = last.end.unwrap_or(last.last_bad + interval);
    let is_repeated = gap.phases.len() > 1;
    let expected = if is_repeated {
        ((until - first.start) as f64 / interval as f64).round() as u64
    } else {
        missed
    };
    let last_good = first
        .before
        .and_then(|ix| target.scrapes.get(ix))
        .map(|s| s.t);
    let numbers = Numbers {
        missed,
        expected: expected.max(missed),
        interval,
        last_good,
        last_bad: Some(last.last_bad),
    };
    let name = target.name();
    let subject = format!("{}:{cause}", target.labels);
    let finding = Finding::new(
        FindingKind::ScrapeGap,
        &subject,
        at(first.start),
        last.end.map(at),
    );
    let mut finding = fill(finding, &numbers, cause, gap.decision.confidence);
    finding.title = title(cause, &name, &numbers);
    finding.severity = severity(cause, missed, until - first.start, is_only);
    finding.entities = target.entities.to_vec();
    let mut detail = vec![edges(&name, &numbers, first.start, last.end, is_repeated)];
    detail.extend(gap.decision.reasons.iter().cloned());
    if is_repeated {
        detail.extend(tightness(target, first.start, until));
        finding.onset = at(slowing(target, first.start).unwrap_or(first.start));
    }
    let instance = target.labels.get("instance");
    detail.extend(held.sentence(instance, first.start, last.end));
    if first.before.is_none() {
        detail.push(
            "It was never reached within the recording: a wrong address, port or path would look the same.".to_owned(),
        );
    }
    finding
        .evidence
        .extend(target.up_evidence(snapshot, first.start, "up 0"));
    if let Some(good) = last.end.filter(|_| last.is_last) {
        finding
            .evidence
            .extend(target.up_evidence(snapshot, good, "up 1 again"));
    }
    if finding.evidence.is_empty()
        && let Some(good) = last_good
    {
        finding
            .evidence
            .extend(target.up_evidence(snapshot, good, "up, last sample"));
    }
    finding
        .evidence
        .extend(gap.decision.evidence.iter().cloned());
    if cause == "scrape_timeout" {
        let (words, proofs) = signs_of_life(snapshot, target, first.start, until);
        detail.extend(words);
        finding.evidence.extend(proofs);
    }
    finding.detail = detail.join(" ");
    Some(finding)
}

fn title(cause: &str, name: &str, numbers: &Numbers) -> String {
    let scrapes = text::count(numbers.missed, "scrape", "scrapes");
    let of = if numbers.expected > numbers.missed {
        format!("{} of {scrapes}", text::grouped(numbers.missed)).replace(
            &scrapes,
            &text::count(numbers.expected, "scrape", "scrapes"),
        )
    } else {
        scrapes
    };
    match cause {
        "scrape_timeout" => format!("{of} of {name} timed out"),
        "connection_refused" => format!("{name} refused the connection for {of}"),
        "connection_failed" => format!("The connection to {name} failed for {of}"),
        "http_error" => format!("{name} answered {of} with an HTTP error"),
        "bad_exposition" => format!("{of} of {name} could not be parsed"),
        "limit_exceeded" => format!("{of} of {name} exceeded a limit"),
        "target_restarted" => format!("{name} was gone for {of} and came back as a new process"),
        "target_removed" => format!("{name} was no target for {of}"),
        "isolated_miss" => format!("{of} of {name} left no sample"),
        "scrape_failed" => format!("{of} of {name} failed at once"),
        _ => format!("{of} of {name} gave nothing"),
    }
}

/// Count and edges as one sentence.
fn edges(name: &str, n: &Numbers, start: i64, end: Option<i64>, is_repeated: bool) -> String {
    let count = if is_repeated {
        format!(
            "{} of {}",
            text::grouped(n.missed),
            text::count(n.expected, "scrape", "scrapes")
        )
    } else {
        text::count(n.missed, "scrape", "scrapes")
    };
    let began = n.last_good.map_or_else(
        || format!("from the first one at {} on", clock(start)),
        |good| {
            format!(
                "the last good one at {}, the first missed at {}",
                clock(good),
                clock(start)
            )
        },
    );
    let ended = end.map_or_else(
        || "and the recording ended before another good one".to_owned(),
        |end| format!("and it ended by {}", clock(end)),
    );
    format!(
        "{count} of {name} (every {}) failed or did not come: {began}, {ended}.",
        units::secs(n.interval as f64 / 1e9)
    )
}

/// Row 6c: good scrapes between the failed ones that nearly ran into the timeout.
fn tightness(target: &Target<'_>, start: i64, end: i64) -> Option<String> {
    let timeout = target.timeout_s?;
    let good: Vec<f64> = target
        .scrapes
        .iter()
        .filter(|s| s.is_up && s.t > start && s.t < end)
        .filter_map(|s| s.duration_s)
        .collect();
    let near = good.iter().filter(|d| **d > 0.6 * timeout).count();
    (near > 0).then(|| {
        format!(
            "{near} of the {} good scrapes in between took over 60 % of the timeout of {}: the target is too slow for \
             it, or the timeout too tight.",
            good.len(),
            units::secs(timeout)
        )
    })
}

/// The first scrape of a run up to the gap that took ten times as long as usual: there the fault began.
fn slowing(target: &Target<'_>, start: i64) -> Option<i64> {
    let until = target.scrapes.partition_point(|s| s.t < start);
    let usual = target
        .scrapes
        .get(..until)?
        .iter()
        .filter_map(|s| s.duration_s);
    let usual = crate::base::stats::median(&usual.collect::<Vec<_>>())?;
    let slow = |d: Option<f64>| d.is_some_and(|d| d > 10.0 * usual);
    let run = target
        .scrapes
        .get(..until)?
        .iter()
        .rev()
        .take_while(|s| slow(s.duration_s));
    run.last().map(|s| s.t)
}

/// A hole of all targets.
pub(crate) fn shared_gap(
    snapshot: &Snapshot,
    targets: &[Target<'_>],
    shared: &SharedHole,
    held: &Held<'_>,
) -> Finding {
    let each = shared
        .members
        .iter()
        .map(|(_, h)| h.missing)
        .max()
        .unwrap_or(0);
    let numbers = Numbers {
        missed: shared.members.iter().map(|(_, h)| h.missing).sum(),
        expected: shared.members.iter().map(|(_, h)| h.missing).sum(),
        interval: shared
            .members
            .iter()
            .map(|(_, h)| h.interval)
            .min()
            .unwrap_or(0),
        last_good: Some(shared.from),
        last_bad: shared
            .members
            .iter()
            .map(|(_, h)| h.last_missed())
            .max()
            .map(|t| t.min(shared.to)),
    };
    let first = shared.members.first().and_then(|(ix, _)| targets.get(*ix));
    let first = first.map_or_else(String::new, |t| t.labels.to_string());
    let subject = format!("all:{}:{first}", shared.cause);
    let finding = Finding::new(
        FindingKind::ScrapeGap,
        &subject,
        at(shared.start),
        Some(at(shared.to)),
    );
    let mut finding = fill(finding, &numbers, shared.cause, shared.confidence)
        .with("targets", shared.members.len());
    let span = units::secs((shared.to - shared.from) as f64 / 1e9);
    let what = match shared.cause {
        "prometheus_restarted" => "Prometheus was restarted",
        "prometheus_stalled" => "Prometheus stood still",
        _ => "Nothing was stored",
    };
    let count = text::count(shared.members.len() as u64, "target", "targets");
    finding.title = format!("{what}: no sample of any target for {span}");
    let mut detail = vec![format!(
        "All {count} miss up to {} each at the same time: the last sample before is at {}, the first one after at {}.",
        text::count(each, "scrape", "scrapes"),
        clock(shared.from),
        clock(shared.to)
    )];
    detail.extend(shared.reasons.iter().cloned());
    detail.extend(held.sentence(None, shared.start, Some(shared.to)));
    finding.detail = detail.join(" ");
    finding.severity = severity(shared.cause, each, shared.to - shared.from, true);
    finding.entities.clone_from(&shared.own_entities);
    for (ix, _) in &shared.members {
        for entity in targets.get(*ix).map(|t| t.entities).unwrap_or_default() {
            if !finding.entities.contains(entity) {
                finding.entities.push(entity.clone());
            }
        }
    }
    let edge = |ix: usize, t: i64, quote: &str| targets.get(ix)?.up_evidence(snapshot, t, quote);
    if let Some((ix, hole)) = shared.members.iter().find(|(_, h)| h.from == shared.from) {
        finding
            .evidence
            .extend(edge(*ix, hole.from, "last sample before"));
    }
    if let Some((ix, _)) = shared.members.iter().find(|(_, h)| h.to == Some(shared.to)) {
        finding
            .evidence
            .extend(edge(*ix, shared.to, "first sample after"));
    }
    finding.evidence.extend(shared.evidence.iter().cloned());
    finding
}
