//! What other signals say about a gap: whether a new process answered after it, whether the old one worked on, what
//! `/targets` said, what Prometheus counted.

use std::collections::BTreeSet;

use crate::base::stats;
use crate::base::text;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::scrape_gap::timeline::{Target, clock};
use crate::model::entity::RelationKind;
use crate::model::input::Evidence;
use crate::model::prometheus::TargetStatus;
use crate::model::series::{MetricKind, Series};
use crate::store::Snapshot;

/// The metric that gives the start of a process (every official client library exports it).
pub(crate) const PROCESS_START: &str = "process_start_time_seconds";
/// Two start times closer than this are one: the metric is rounded differently by kernels and clients.
const SAME_START_S: f64 = 1.0;

/// A new process answered.
#[derive(Debug, Clone)]
pub(crate) struct Restart {
    /// What shows it, as a sentence.
    pub(crate) words: String,
    /// Where.
    pub(crate) evidence: Evidence,
}

/// The last value of a series at or before `t`, with its time.
pub(crate) fn before(series: &Series, t: i64) -> Option<(i64, f64)> {
    let until = series.t.partition_point(|x| *x <= t);
    let pairs = series.t.get(..until)?.iter().zip(series.v.get(..until)?);
    let (t, v) = pairs.rev().find(|(_, v)| v.is_finite())?;
    Some((*t, *v))
}

/// The first value of a series at or after `t`, with its time.
pub(crate) fn after(series: &Series, t: i64) -> Option<(i64, f64)> {
    let from = series.t.partition_point(|x| *x < t);
    let pairs = series.t.get(from..)?.iter().zip(series.v.get(from..)?);
    let (t, v) = pairs.into_iter().find(|(_, v)| v.is_finite())?;
    Some((*t, *v))
}

/// Whether a new process answered after `to` where another one did before `from`: by its start time, or by most of its
/// counters having gone down.
pub(crate) fn restart(
    snapshot: &Snapshot,
    series: &[&Series],
    from: i64,
    to: i64,
) -> Option<Restart> {
    let starts = series.iter().filter(|s| s.metric.as_ref() == PROCESS_START);
    let mut is_known = false;
    for start in starts {
        let (Some((_, old)), Some((t, new))) = (before(start, from), after(start, to)) else {
            continue;
        };
        is_known = true;
        if (new - old).abs() > SAME_START_S {
            let began = Timestamp::from_secs_f64(new)?;
            return Some(Restart {
                words: format!(
                    "A new process answered afterwards, started at {}.",
                    began.to_clock()
                ),
                evidence: snapshot.sample_evidence(start, t, format!("process start {began}")),
            });
        }
    }
    if is_known {
        return None;
    }
    let counters = series.iter().filter(|s| s.kind == MetricKind::Counter);
    let (mut total, mut down) = (0_u64, 0_u64);
    let mut witness = None;
    for counter in counters {
        if let (Some((_, old)), Some((t, new))) = (before(counter, from), after(counter, to)) {
            total += 1;
            if new < old {
                down += 1;
                witness.get_or_insert((*counter, t, old, new));
            }
        }
    }
    let (counter, t, old, new) = witness?;
    (down * 2 > total).then(|| Restart {
        words: format!(
            "{} of {} went down over the gap ({} from {} to {}), so a new process answered afterwards.",
            down,
            text::count(total, "counter", "counters"),
            counter.metric,
            units::number(old),
            units::number(new)
        ),
        evidence: snapshot.sample_evidence(counter, t, format!("{} → {}", units::number(old), units::number(new))),
    })
}

/// How far the counters of a target got over a gap, as a share of what their rate before it would have given (the
/// median over counters that were moving). Near 1: the process worked on. Near 0: it stood still.
pub(crate) fn progress(series: &[&Series], from: i64, to: i64) -> Option<f64> {
    let shares: Vec<f64> = series
        .iter()
        .filter(|s| s.kind == MetricKind::Counter)
        .filter_map(|s| {
            let (last_t, last) = before(s, from)?;
            let (next_t, next) = after(s, to)?;
            let head = s.t.partition_point(|t| *t <= last_t).saturating_sub(21);
            let (first_t, first) = (*s.t.get(head)?, *s.v.get(head)?);
            let rate = (last - first) / (last_t - first_t) as f64;
            let share = (next - last) / (rate * (next_t - last_t) as f64);
            (rate > 0.0 && share.is_finite() && share >= 0.0).then_some(share)
        })
        .collect();
    stats::median(&shares)
}

/// What `/targets` said while the gap lasted: an answer whose last scrape began inside it.
pub(crate) fn status_within<'a>(
    target: &Target<'a>,
    start: i64,
    last_bad: i64,
    interval: i64,
) -> Option<&'a TargetStatus> {
    // The scrape's own stamp and the sample's differ by at most the 2 ms (or 1 % of the interval) of §2.3 and rounding.
    let slack = (interval / 20).max(5_000_000);
    target
        .statuses
        .iter()
        .copied()
        .filter(|s| !s.last_error.is_empty())
        .find(|s| {
            s.last_scrape
                .is_some_and(|t| t.nanos() >= start - slack && t.nanos() <= last_bad + slack)
        })
}

/// The cause that an error text of `/targets` names (the texts of Prometheus and `VictoriaMetrics`, `prometheus.md` §2.4
/// and `scrape/scrape.go`).
pub(crate) fn cause_of_error(error: &str) -> Option<&'static str> {
    const TEXTS: &[(&str, &[&str])] = &[
        (
            "limit_exceeded",
            &[
                "limit exceeded",
                "limit_exceeded",
                "label_limit",
                "label_name_length_limit",
                "label_value_length_limit",
                "target_limit",
                "sample_limit",
                "maxscrapesize",
                "exceeds",
            ],
        ),
        (
            "http_error",
            &["server returned http status", "unexpected status code"],
        ),
        ("connection_refused", &["connection refused"]),
        (
            "scrape_timeout",
            &[
                "context deadline exceeded",
                "i/o timeout",
                "client.timeout",
                ": timeout",
                "timed out",
            ],
        ),
        (
            "connection_failed",
            &[
                "connection reset",
                "unexpected eof",
                ": eof",
                "no such host",
                "no route to host",
                "network is unreachable",
                "host is down",
                "broken pipe",
                "server misbehaving",
                "tls:",
                "x509",
                "certificate",
                "server closed",
                "malformed http",
            ],
        ),
        (
            "bad_exposition",
            &[
                "is not a valid start token",
                "expected ",
                "content-type",
                "content type",
                "# eof",
                "invalid metric type",
                "invalid utf-8",
                "strconv.",
                "unexpected end of input",
                "parsing",
                "unsupported",
                "duplicate",
            ],
        ),
    ];
    let error = error.to_lowercase();
    if error == "eof" {
        return Some("connection_failed");
    }
    TEXTS
        .iter()
        .find(|(_, texts)| texts.iter().any(|t| error.contains(t)))
        .map(|(cause, _)| *cause)
}

/// How much a counter of Prometheus itself rose between `from` and `to`, over all its series. `None` when it was not
/// recorded there.
pub(crate) fn self_rise(snapshot: &Snapshot, metric: &str, from: i64, to: i64) -> Option<f64> {
    let mut total = None;
    for (_, series) in snapshot.raw(metric) {
        let lo = series.t.partition_point(|t| *t < from).saturating_sub(1);
        let hi = series.t.partition_point(|t| *t <= to);
        let values = series.v.get(lo..hi.max(lo)).unwrap_or_default();
        if values.len() >= 2 {
            let rise: f64 = values
                .windows(2)
                .map(|w| w[1] - w[0])
                .filter(|d| *d > 0.0)
                .sum();
            *total.get_or_insert(0.0) += rise;
        }
    }
    total
}

/// Signs from outside the target's own metrics that its process was alive between `start` and `end`: dumps that it gave,
/// and process groups of its workload that a process exporter saw working.
pub(crate) fn signs_of_life(
    snapshot: &Snapshot,
    target: &Target<'_>,
    start: i64,
    end: i64,
) -> (Vec<String>, Vec<Evidence>) {
    let (mut words, mut evidence) = (Vec::new(), Vec::new());
    let instance = target.labels.get("instance").unwrap_or("");
    let dumps: Vec<_> = snapshot
        .profiles
        .iter()
        .filter(|p| !instance.is_empty() && p.process.as_ref() == instance)
        .filter_map(|p| p.t.map(|t| (p, t)))
        .filter(|(_, t)| (start..end).contains(&t.nanos()))
        .collect();
    if let Some((profile, t)) = dumps.first() {
        words.push(format!(
            "The process was alive: it gave {} meanwhile (the first at {}).",
            text::count(dumps.len() as u64, "profile or dump", "profiles and dumps"),
            t.to_clock()
        ));
        evidence.push(snapshot.evidence(
            profile.input,
            "the whole file",
            format!("{} profile of {instance} at {t}", profile.kind),
        ));
    }
    if let Some((sentence, proof)) = working_group(snapshot, target, start, end) {
        words.push(sentence);
        evidence.push(proof);
    }
    (words, evidence)
}

/// Services that the target is, or is a part of: names of one thing are followed, then one step up. Never by way of a
/// node or a job, which others share.
fn services_of(snapshot: &Snapshot, target: &Target<'_>) -> BTreeSet<String> {
    let is_own = |id: &str| !id.starts_with("job:") && !id.starts_with("node:");
    let mut known: BTreeSet<&str> = target
        .entities
        .iter()
        .map(String::as_str)
        .filter(|id| is_own(id))
        .collect();
    for wanted in [RelationKind::SameAs, RelationKind::PartOf] {
        let mut next = known.clone();
        for id in &known {
            for (other, kind, is_outgoing) in snapshot.graph.neighbours(id) {
                let leads_on = is_outgoing || kind == RelationKind::SameAs;
                if kind == wanted && leads_on && is_own(other) {
                    next.insert(other);
                }
            }
        }
        known = next;
    }
    let services = known.into_iter().filter(|id| id.starts_with("service:"));
    services.map(str::to_owned).collect()
}

/// A process group of the target's service that used CPU during the gap.
fn working_group(
    snapshot: &Snapshot,
    target: &Target<'_>,
    start: i64,
    end: i64,
) -> Option<(String, Evidence)> {
    let services = services_of(snapshot, target);
    let processes: BTreeSet<&str> = services
        .iter()
        .flat_map(|service| snapshot.graph.neighbours(service))
        .filter(|(_, kind, is_outgoing)| *kind == RelationKind::PartOf && !is_outgoing)
        .map(|(id, ..)| id)
        .filter(|id| id.starts_with("process:"))
        .collect();
    let mut best: Option<(f64, &Series, &str)> = None;
    for (ix, series) in snapshot.raw("namedprocess_namegroup_cpu_seconds_total") {
        let process = snapshot.series_entities.get(ix).and_then(|e| e.first());
        let Some((process, group)) = process.zip(series.labels.get("groupname")) else {
            continue;
        };
        let used = after(series, start)
            .zip(before(series, end))
            .map(|(a, b)| b.1 - a.1)
            .filter(|used| processes.contains(process.as_str()) && *used > 0.0);
        if let Some(used) = used
            && best.is_none_or(|(known, ..)| used > known)
        {
            best = Some((used, series, group));
        }
    }
    let (used, series, group) = best?;
    let (t, value) = before(series, end)?;
    Some((
        format!(
            "Its process group {group} went on working: it used {} of CPU between {} and {}.",
            units::secs(used),
            clock(start),
            clock(t)
        ),
        snapshot.sample_evidence(series, t, format!("CPU {}", units::secs(value))),
    ))
}
