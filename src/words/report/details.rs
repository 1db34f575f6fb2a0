//! Details and values of findings.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::base::time::Timestamp;
use crate::base::units;
use crate::model::finding::{Finding, FindingKind};
use crate::words::Lang;
use crate::words::Words;
use crate::words::report::{cause, filled, name_of, word};

/// A few sentences on a finding, from its values; in English the report's own.
pub fn finding_detail(words: &Words, finding: &Finding) -> String {
    if words.lang() == Lang::En {
        return finding.detail.clone();
    }
    let args = arguments(words, finding);
    let mut sentences = Vec::new();
    for (suffix, needs) in parts(finding.kind) {
        let key = format!("findings-detail-{}{suffix}", finding.kind.word());
        if words.has(&key) && needs.iter().all(|name| args.contains_key(*name)) {
            sentences.push(filled(words, &key, &args));
        }
    }
    if sentences.is_empty() {
        // Where values are missing that the sentences need, the original says more than half a sentence would.
        return finding.detail.clone();
    }
    sentences.join(" ")
}

/// The sentences of a kind, each with the values that it needs.
const fn parts(kind: FindingKind) -> &'static [(&'static str, &'static [&'static str])] {
    match kind {
        FindingKind::ScrapeGap => &[
            ("", &["missed", "interval_s"]),
            ("-edges", &["last_good", "last_bad"]),
        ],
        FindingKind::LatencySpike => &[
            ("", &["quantile", "peak_ms", "baseline_ms", "ratio"]),
            ("-mean", &["mean_baseline_ms", "mean_peak_ms"]),
            (
                "-slow",
                &["slow_count", "observations", "bound_ms", "slow_share"],
            ),
        ],
        FindingKind::ConnectOutliers => &[
            ("", &["count", "total", "share"]),
            ("-rungs", &["rungs"]),
            ("-max", &["max_ms"]),
        ],
        FindingKind::LevelShift => &[("", &["metric", "before", "after", "ratio", "series"])],
        FindingKind::Spike => &[("", &["metric", "baseline", "peak", "series"])],
        FindingKind::Leak => &[("", &["metric", "slope_per_h", "start_value", "end_value"])],
        FindingKind::LockContention => &[
            ("", &["waiting", "total", "share", "site", "user_site"]),
            ("-locks", &["locks"]),
            ("-holder", &["likely_holder"]),
        ],
        FindingKind::BlockedGrowth => &[("", &["site", "from", "to"])],
        FindingKind::Deadlock => &[("", &["threads"])],
        FindingKind::Hotspot => &[("", &["site", "share"])],
        FindingKind::SlowCall => &[
            (
                "",
                &[
                    "count",
                    "calls",
                    "caller",
                    "callee",
                    "gap_ms_p50",
                    "gap_ms_max",
                ],
            ),
            ("-connect", &["explained_by_connect"]),
        ],
        FindingKind::ErrorBurst => &[("", &["count", "rate", "baseline_rate"])],
        FindingKind::Saturation => &[("", &["what", "used", "limit", "share"])],
        FindingKind::ThroughputDrop => &[("", &["before", "after", "ratio"])],
        FindingKind::LoadRun => &[("", &["tps_mean", "mean_ms", "errors", "vusers"])],
        FindingKind::RunRegression => &[("", &["tps_ratio", "mean_ratio", "p99_ratio", "p_value"])],
        FindingKind::LogBackpressure => &[("", &["suppressed", "unit"])],
        FindingKind::CounterReset => &[("", &["at_value"])],
        FindingKind::Change => &[("", &["what"])],
    }
}

/// Everything that the messages on a finding may name: its values in words, and `who`, `times`, `cause`, `t`.
pub(super) fn arguments(words: &Words, finding: &Finding) -> BTreeMap<String, String> {
    let mut args: BTreeMap<String, String> = finding
        .values
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, _)| (name.clone(), value(words, finding, name)))
        .collect();
    args.insert("who".to_owned(), who(finding));
    args.insert("t".to_owned(), finding.start.to_clock());
    let why = finding.cause.as_deref().unwrap_or("unknown");
    args.insert("cause".to_owned(), cause(words, why));
    if let (Some(missed), Some(expected)) = (finding.number("missed"), finding.number("expected")) {
        let key = if expected > missed {
            "findings-times-of"
        } else {
            "findings-times"
        };
        let times = filled(words, key, &args);
        args.insert("times".to_owned(), times);
    }
    args
}

/// Whom a finding is about, in one name: of scrapes the instance, else what comes first.
fn who(finding: &Finding) -> String {
    let ids = || finding.entities.iter();
    let instance = ids().find(|id| id.starts_with("instance:"));
    let first = match finding.kind {
        FindingKind::ScrapeGap => instance.or_else(|| ids().next()),
        _ => ids().next(),
    };
    match first {
        Some(id) => name_of(id).to_owned(),
        None => finding
            .text("metric")
            .or_else(|| finding.text("what"))
            .unwrap_or("Prometheus")
            .to_owned(),
    }
}

/// The name of a value.
pub fn value_name(words: &Words, name: &str) -> String {
    word(words, "value", name)
}

/// A value of a finding with its unit, as its name says it.
pub fn value(words: &Words, finding: &Finding, name: &str) -> String {
    let Some(value) = finding.values.get(name) else {
        return String::new();
    };
    match value {
        Value::Null => word(words, "cause", "unknown"),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number
            .as_f64()
            .map_or_else(|| number.to_string(), |n| in_unit(words, finding, name, n)),
        Value::String(text) => text_value(words, name, text),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            })
            .collect::<Vec<_>>()
            .join(", "),
        Value::Object(map) => map
            .iter()
            .filter(|(_, count)| count.as_f64().is_some_and(|c| c > 0.0))
            .map(|(rung, count)| {
                let count = units::number(count.as_f64().unwrap_or(0.0));
                format!("{}: {count}", rung_name(words, rung))
            })
            .collect::<Vec<_>>()
            .join(", "),
    }
}

fn in_unit(words: &Words, finding: &Finding, name: &str, number: f64) -> String {
    let unit = finding.text("unit").unwrap_or("");
    if name == "quantile" {
        return format!("p{}", units::number(number * 100.0));
    }
    if name.ends_with("_ms") || name.contains("_ms_") {
        return words.units().ms(number);
    }
    if name.ends_with("_s") {
        return words.units().secs(number);
    }
    if name.ends_with("_bytes") {
        return words.units().bytes(number);
    }
    if name == "share"
        || name.ends_with("_share")
        || name.starts_with("slow_share")
        || name == "baseline_share"
    {
        return words.units().share_near(number);
    }
    if matches!(
        name,
        "start_value" | "end_value" | "slope_per_h" | "used" | "limit"
    ) {
        return words.units().with_unit(number, unit);
    }
    if name == "likely_holder" {
        // An id, not a quantity.
        return format!("{number:.0}");
    }
    units::number(number)
}

fn text_value(words: &Words, name: &str, text: &str) -> String {
    if name == "resource" {
        return word(words, "resource", &text.replace(' ', "_"));
    }
    // Times of values are written as the report writes them; the clock says enough beside a date that is known.
    if matches!(name, "last_good" | "last_bad" | "last_outlier")
        && let Some(t) = Timestamp::parse_rfc3339(text)
    {
        return t.to_clock();
    }
    if name == "site" || name == "user_site" {
        return short(text).to_owned();
    }
    text.to_owned()
}

/// A rung of a ladder of timers, `3s`, in the words of the language.
fn rung_name(words: &Words, rung: &str) -> String {
    let secs = rung.strip_suffix('s').and_then(|n| n.parse().ok());
    match (secs, words.lang()) {
        (Some(secs), Lang::Ko) => words.units().secs(secs),
        _ => rung.to_owned(),
    }
}

/// A function without the folders of its package.
pub(super) fn short(function: &str) -> &str {
    let plain = function.split_once('[').map_or(function, |(name, _)| name);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    function.get(from..).unwrap_or(function)
}
