//! Holes of series as findings.

use std::collections::BTreeMap;

use crate::base::text;
use crate::base::units;
use crate::detect::scrape_gap::held::Held;
use crate::detect::scrape_gap::holes::SeriesHole;
use crate::detect::scrape_gap::rejected;
use crate::detect::scrape_gap::timeline::{Target, clock};
use crate::detect::scrape_gap::words::{MAJOR_MISSED, Numbers, at, fill};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::series::Series;
use crate::store::Snapshot;

/// Series that are missing while their target answers: one finding, or one for each reason of a rejection.
pub(crate) fn series_gap(
    snapshot: &Snapshot,
    target: &Target<'_>,
    hole: &SeriesHole<'_>,
    held: &Held<'_>,
) -> Vec<Finding> {
    let (cause, confidence, reason) = series_cause(hole);
    let name = target.name();
    let good: Vec<i64> = target
        .scrapes
        .iter()
        .filter(|s| s.is_up && s.t >= hole.start && s.t <= hole.last_bad)
        .map(|s| s.t)
        .collect();
    let until = hole.end.unwrap_or(hole.last_bad + hole.interval);
    let parts = if cause == "timestamps_rejected" {
        rejected::parts(snapshot, hole.start, until, &good)
    } else {
        vec![rejected::Part {
            start: hole.start,
            reason: None,
        }]
    };
    let mut found = Vec::new();
    for (ix, part) in parts.iter().enumerate() {
        let next = parts.get(ix + 1).map(|p| p.start);
        let within = good
            .iter()
            .filter(|t| **t >= part.start && next.is_none_or(|n| **t < n));
        let numbers = Numbers {
            missed: if parts.len() == 1 {
                hole.missed
            } else {
                within.clone().count() as u64
            },
            expected: within.clone().count() as u64,
            interval: hole.interval,
            last_good: Some(hole.last_good),
            last_bad: within.max().copied(),
        };
        let end = next.or(hole.end);
        let first = hole
            .series
            .first()
            .map_or_else(String::new, |s| s.selector());
        let subject = format!("{}:{cause}:{first}:{end:?}", target.labels);
        let finding = Finding::new(
            FindingKind::ScrapeGap,
            &subject,
            at(part.start),
            end.map(at),
        );
        let sure = if part.reason.is_some() {
            0.97
        } else {
            confidence
        };
        let mut finding = fill(finding, &numbers, cause, sure).with("series", hole.series.len());
        let scrapes = text::count(numbers.missed, "scrape", "scrapes");
        let count = text::count(hole.series.len() as u64, "series", "series");
        finding.title = match cause {
            "series_vanished" => {
                format!("{count} of {name} vanished for {scrapes} while it answered")
            }
            "timestamps_rejected" => {
                format!("Samples of {count} of {name} were rejected for {scrapes}")
            }
            _ if hole.count > 1 => format!("{count} of {name} come and go while it answers"),
            _ => format!("{count} of {name} have no samples for {scrapes} while it answered"),
        };
        finding.severity = if numbers.missed >= MAJOR_MISSED && hole.share >= 0.5 {
            Severity::Major
        } else if hole.count > 1 {
            Severity::Info
        } else {
            Severity::Minor
        };
        let mut detail = vec![
            format!(
                "{} of {name} {} no sample for {scrapes} ({}), although every one of them succeeded: the first at {}, {}.",
                count,
                if hole.series.len() == 1 {
                    "has"
                } else {
                    "have"
                },
                metrics(&hole.series, target),
                clock(part.start),
                end.map_or_else(
                    || "and they did not come back".to_owned(),
                    |end| format!("ended by {}", clock(end))
                )
            ),
            reason.clone(),
        ];
        match part.reason {
            Some((counter, meaning)) => {
                detail.push(format!("{counter} rose meanwhile: {meaning}."));
            }
            None if cause == "timestamps_rejected" => detail.push(
                "Prometheus' own counters of duplicate, out-of-order and out-of-bounds samples would say which way."
                    .to_owned(),
            ),
            None => {}
        }
        if hole.count > 1 {
            detail.push(format!(
                "These are {} holes; exporters whose subjects come and go look like this.",
                hole.count
            ));
            finding.confidence = 0.3;
        }
        detail.extend(held.sentence(target.labels.get("instance"), part.start, end));
        finding.detail = detail.join(" ");
        finding.entities = series_entities(snapshot, target, &hole.series);
        series_evidence(snapshot, target, hole, &mut finding);
        found.push(finding);
    }
    found
}

fn series_cause(hole: &SeriesHole<'_>) -> (&'static str, f64, String) {
    let number = units::number;
    match (hole.scraped, hole.kept) {
        (Some((before, inside)), _) if inside == 0.0 && before > 0.0 => (
            "series_vanished",
            0.97,
            "The target answered with an empty page: 200, `up` is 1, and not one sample in it.".to_owned(),
        ),
        (Some((before, inside)), _) if inside < before => (
            "series_vanished",
            0.95,
            format!(
                "The target gave {} samples a scrape instead of {}: it did not expose them.",
                number(inside),
                number(before)
            ),
        ),
        (Some(_), Some((before, inside))) if inside < before => (
            "series_vanished",
            0.93,
            format!(
                "The target exposed as many samples as before, but metric relabelling kept {} instead of {}.",
                number(inside),
                number(before)
            ),
        ),
        (Some((before, _)), _) if !hole.is_marked => (
            "timestamps_rejected",
            0.85,
            format!(
                "The target gave its usual {} samples a scrape, and the series ended without a staleness marker: it \
                 sends explicit timestamps, and those were rejected.",
                number(before)
            ),
        ),
        (Some(_), _) => (
            "series_vanished",
            0.6,
            "The number of samples a scrape stayed the same, but the series ended with a staleness marker: others took \
             their place."
                .to_owned(),
        ),
        (None, _) if hole.is_marked => (
            "series_vanished",
            0.85,
            "They ended with a staleness marker: the target did not expose them.".to_owned(),
        ),
        (None, _) => (
            "unknown",
            0.5,
            "Whether the target did not expose them or Prometheus rejected them is not in the recording; \
             scrape_samples_scraped or staleness markers (remote read) would decide."
                .to_owned(),
        ),
    }
}

/// Which metrics, how many of each, and the labels that all of them have.
fn metrics(series: &[&Series], target: &Target<'_>) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for one in series {
        *counts.entry(one.metric.as_ref()).or_default() += 1;
    }
    let total = counts.len();
    let mut named: Vec<String> = counts
        .iter()
        .take(6)
        .map(|(metric, n)| format!("{n} of {metric}"))
        .collect();
    if total > 6 {
        named.push(format!("{} more metrics", total - 6));
    }
    let shared: Vec<String> = common(series, target)
        .into_iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    let common = if shared.is_empty() {
        String::new()
    } else {
        format!(", all with {}", shared.join(", "))
    };
    format!("{}{common}", text::join_and(&named))
}

/// Labels that all the series share and that are not the target's own.
fn common<'a>(series: &[&'a Series], target: &Target<'_>) -> Vec<(&'a str, &'a str)> {
    let Some((first, rest)) = series.split_first() else {
        return Vec::new();
    };
    first
        .labels
        .iter()
        .filter(|(name, value)| {
            target.labels.get(name).is_none()
                && rest.iter().all(|s| s.labels.get(name) == Some(value))
        })
        .collect()
}

fn series_entities(snapshot: &Snapshot, target: &Target<'_>, series: &[&Series]) -> Vec<String> {
    let keys = crate::model::entity::EntityKeys::builtin();
    let pairs = common(series, target);
    let labels = crate::model::labels::Labels::of(&pairs);
    let mut ids: Vec<String> = keys
        .entities_of(&labels, &[])
        .into_iter()
        .map(|(kind, name)| crate::model::entity::entity_id(kind, &name))
        .filter(|id| snapshot.graph.contains(id))
        .collect();
    for id in target.entities {
        if !ids.contains(id) {
            ids.push(id.clone());
        }
    }
    ids
}

fn series_evidence(
    snapshot: &Snapshot,
    target: &Target<'_>,
    hole: &SeriesHole<'_>,
    finding: &mut Finding,
) {
    for series in hole.series.iter().take(3) {
        let until = series.t.partition_point(|t| *t < hole.start);
        if let Some(last) = until.checked_sub(1).and_then(|ix| series.t.get(ix)) {
            finding
                .evidence
                .push(snapshot.sample_evidence(series, *last, "last sample before"));
        }
    }
    if let (Some(scraped), Some((before, inside))) = (target.scraped, hole.scraped) {
        let quote = format!(
            "samples scraped {} → {}",
            units::number(before),
            units::number(inside)
        );
        finding
            .evidence
            .push(snapshot.sample_evidence(scraped, hole.start, quote));
    }
}
