//! Titles of findings, from kind, values, cause and entities.

use std::collections::BTreeMap;

use crate::model::finding::{Finding, FindingKind};
use crate::words::Words;
use crate::words::report::details::arguments;
use crate::words::report::{filled, kind, phrases};

/// The title in the language of `words`. Some titles name what no value holds (a route, a unit): those are taken apart first.
pub(super) fn of(words: &Words, finding: &Finding) -> String {
    let is_in_words = matches!(
        finding.kind,
        FindingKind::LatencySpike
            | FindingKind::LevelShift
            | FindingKind::Spike
            | FindingKind::ErrorBurst
            | FindingKind::Saturation
            | FindingKind::CounterReset
            | FindingKind::ScrapeGap
            | FindingKind::Change
    );
    if is_in_words && let Some(title) = phrases::translate(words, &BTreeMap::new(), &finding.title)
    {
        return title;
    }
    let mut args = arguments(words, finding);
    let title = filled(words, &key(finding, &args), &args);
    // A value that is not there would stand as its name.
    if !title.contains("{$") {
        return title;
    }
    args.insert("kind".to_owned(), kind(words, finding.kind));
    filled(words, "findings-title-bare", &args)
}

fn key(finding: &Finding, args: &BTreeMap<String, String>) -> String {
    let cause = finding.cause.as_deref().unwrap_or("unknown");
    match finding.kind {
        FindingKind::ScrapeGap if cause == "unknown" && args.contains_key("targets") => {
            "findings-title-gap-all".to_owned()
        }
        FindingKind::ScrapeGap => known("gap", cause, GAPS),
        FindingKind::ConnectOutliers => known("connect", cause, CONNECTS),
        FindingKind::SlowCall if !args.contains_key("explained_by_connect") => {
            "findings-title-slow_call-map".to_owned()
        }
        kind => format!("findings-title-{}", kind.word()),
    }
}

fn known(area: &str, cause: &str, causes: &[&str]) -> String {
    let cause = if causes.contains(&cause) {
        cause
    } else {
        "unknown"
    };
    format!("findings-title-{area}-{cause}")
}

/// The causes of `scrape_gap` (`contract.md` §3).
pub(super) const GAPS: &[&str] = &[
    "scrape_timeout",
    "connection_refused",
    "connection_failed",
    "http_error",
    "scrape_failed",
    "bad_exposition",
    "limit_exceeded",
    "target_restarted",
    "series_vanished",
    "target_removed",
    "timestamps_rejected",
    "prometheus_restarted",
    "prometheus_stalled",
    "isolated_miss",
    "query_artifact",
    "unknown",
];

/// The causes of `connect_outliers`.
pub(super) const CONNECTS: &[&str] = &[
    "syn_retransmit",
    "dns_timeout",
    "slow_peer",
    "connect_timeout",
    "unknown",
];
