//! Connect histograms (classic buckets): how many connects were slow and when, though not on which rung.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::base::units;
use crate::detect::Context;
use crate::detect::connect_outliers::collect::Caller;
use crate::detect::ladders::FLOOR_MS;
use crate::model::entity::workload_of_pod;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::input::Evidence;
use crate::model::labels::Labels;
use crate::model::pack::Role;
use crate::model::series::Series;

/// Buckets hold all that lies between two bounds, so they cannot show a ladder: never surer than this.
const MOST_SURE: f64 = 0.5;
/// Fewer slow connects than this are the noise of any machine.
const FEWEST: f64 = 3.0;

/// So many samples are quoted.
const QUOTED: usize = 3;

/// A service that its histograms name, with what they count.
#[derive(Debug, Clone)]
pub(super) struct Buckets {
    pub(super) service: String,
    entities: Vec<String>,
    metric: String,
    bound_ms: f64,
    total: f64,
    slow: f64,
    /// Start of the first scrape pair with a slow connect, end of the last, end of the recording.
    first: i64,
    last: i64,
    recorded_to: i64,
    /// Where the first slow ones stand.
    pub(super) evidence: Vec<Evidence>,
}

impl Buckets {
    /// Slow connects and the bound that they lie above: `12 of 3,000 above 1 s`.
    pub(super) fn in_words(&self) -> String {
        format!(
            "{} counts {} of {} connects above {}",
            self.metric,
            units::number(self.slow),
            units::number(self.total),
            units::ms(self.bound_ms)
        )
    }

    pub(super) const fn has_slow(&self) -> bool {
        self.slow > 0.0
    }
}

/// One family of `_bucket` series: the bound in milliseconds, and the series.
type Family<'a> = Vec<(f64, &'a Series)>;

/// What raw connect histograms say of each service, by name. A service whose name is that of a known caller is that
/// caller.
pub(super) fn callers(context: &Context<'_>, known: &[Caller]) -> Vec<Buckets> {
    let snapshot = context.snapshot;
    let mut families: BTreeMap<(String, Labels), (Vec<String>, Family<'_>)> = BTreeMap::new();
    for (ix, series) in snapshot.with_role(Role::ConnectDuration) {
        let Some(le) = series.labels.get("le").filter(|_| series.sampling.is_raw()) else {
            continue;
        };
        let Some(bound) = bound_ms(le, &series.unit) else {
            continue;
        };
        let key = (series.metric.to_string(), series.labels.without(&["le"]));
        let entities = snapshot
            .series_entities
            .get(ix)
            .cloned()
            .unwrap_or_default();
        let family = families.entry(key).or_insert((entities, Vec::new()));
        family.1.push((bound, series));
    }
    let mut found: BTreeMap<String, Buckets> = BTreeMap::new();
    for ((metric, _), (entities, mut family)) in families {
        family.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some(service) = service_of(&entities, known) else {
            continue;
        };
        let Some(buckets) = read(context, service, metric, entities, &family) else {
            continue;
        };
        match found.get_mut(&buckets.service) {
            Some(into) if into.metric == buckets.metric => add(into, buckets),
            // Two histograms of one service may count the same connects: the one with more is kept.
            Some(into) if into.total >= buckets.total => {}
            _ => {
                found.insert(buckets.service.clone(), buckets);
            }
        }
    }
    found.into_values().collect()
}

fn bound_ms(le: &str, unit: &str) -> Option<f64> {
    let bound: f64 = match le {
        "+Inf" | "Inf" => f64::INFINITY,
        number => number.parse().ok()?,
    };
    Some(match unit {
        "milliseconds" | "ms" => bound,
        _ => bound * 1_000.0,
    })
}

/// The service that entities name: itself, or through its pod, its job, its instance.
fn service_of(entities: &[String], known: &[Caller]) -> Option<String> {
    let named = |prefix: &str| entities.iter().find_map(|id| id.strip_prefix(prefix));
    let of_pod = named("pod:").and_then(workload_of_pod);
    let candidates = [named("service:"), of_pod, named("job:"), named("instance:")];
    let is_known = |name: &&str| known.iter().any(|c| *c.service == **name);
    candidates
        .into_iter()
        .flatten()
        .find(is_known)
        .or_else(|| candidates.into_iter().flatten().next())
        .map(str::to_owned)
}

fn add(into: &mut Buckets, mut more: Buckets) {
    into.total += more.total;
    into.slow += more.slow;
    if more.slow > 0.0 {
        into.first = into.first.min(more.first);
        into.last = into.last.max(more.last);
    }
    into.recorded_to = into.recorded_to.max(more.recorded_to);
    into.evidence.append(&mut more.evidence);
    into.evidence.truncate(QUOTED);
    for id in more.entities {
        if !into.entities.contains(&id) {
            into.entities.push(id);
        }
    }
}

/// Counts a family: increases between neighbouring samples of the slowest bound at or above the floor, and of all. A
/// decrease is a restart: what is counted since then is the increase.
fn read(
    context: &Context<'_>,
    service: String,
    metric: String,
    entities: Vec<String>,
    family: &Family<'_>,
) -> Option<Buckets> {
    let (_, all) = family.iter().find(|(bound, _)| bound.is_infinite())?;
    let (bound_ms, fast) = family
        .iter()
        .find(|(bound, _)| *bound >= FLOOR_MS && bound.is_finite())?;
    let mut buckets = Buckets {
        service,
        entities,
        metric,
        bound_ms: *bound_ms,
        total: 0.0,
        slow: 0.0,
        first: i64::MAX,
        last: i64::MIN,
        recorded_to: all.t.last().copied()?,
        evidence: Vec::new(),
    };
    let fast: BTreeMap<i64, f64> = fast.finite().collect();
    let mut previous: Option<(i64, f64, f64)> = None;
    for (t, count) in all.finite() {
        // A scrape that lacks a bucket says nothing.
        let Some(fast_count) = fast.get(&t).copied() else {
            continue;
        };
        if !context.window.contains(Timestamp::from_nanos(t)) {
            continue;
        }
        if let Some((from, count_before, fast_before)) = previous {
            let is_restart = count < count_before || fast_count < fast_before;
            let (count_before, fast_before) = if is_restart {
                (0.0, 0.0)
            } else {
                (count_before, fast_before)
            };
            let total = count - count_before;
            let slow = (total - (fast_count - fast_before)).max(0.0);
            buckets.total += total;
            buckets.slow += slow;
            if slow > 0.0 {
                buckets.first = buckets.first.min(from);
                buckets.last = buckets.last.max(t);
                if buckets.evidence.len() < QUOTED {
                    let quote = format!("{slow} connects above {}", units::ms(*bound_ms));
                    buckets
                        .evidence
                        .push(context.snapshot.sample_evidence(all, t, quote));
                }
            }
        }
        previous = Some((t, count, fast_count));
    }
    (buckets.total > 0.0).then_some(buckets)
}

/// The finding of a service of which only histograms are known.
pub(super) fn finding(context: &Context<'_>, buckets: &Buckets) -> Option<Finding> {
    if buckets.slow < FEWEST {
        return None;
    }
    let start = Timestamp::from_nanos(buckets.first);
    // Quiet for longer than slow connects were seen, at least one scrape: it is over.
    let quiet = buckets.recorded_to.saturating_sub(buckets.last);
    let is_over = quiet > 0 && quiet >= (buckets.last - buckets.first).min(300_000_000_000);
    let end = is_over.then(|| Timestamp::from_nanos(buckets.last.saturating_add(1)));
    let share = buckets.slow / buckets.total;
    let mut finding = Finding::new(FindingKind::ConnectOutliers, &buckets.service, start, end)
        .with("count", buckets.slow)
        .with("total", buckets.total)
        .with("share", units::round_to(share, 6))
        .with("rungs", serde_json::Map::new())
        .with("ladder", "unknown")
        .with("above_ms", buckets.bound_ms);
    finding.cause = Some("unknown".to_owned());
    finding.severity = super::finding::severity(buckets.slow as u64, share).min(Severity::Minor);
    finding.confidence = MOST_SURE * buckets.slow / (buckets.slow + 2.7);
    finding.title = format!(
        "{}: {} of {} connects took longer than {}",
        buckets.service,
        units::number(buckets.slow),
        units::number(buckets.total),
        units::ms(buckets.bound_ms)
    );
    finding.detail = format!(
        "{} between the scrapes around {start} and {}. Its buckets are too wide to show whether the times stand on the \
         ladder of a timer; an access log with $upstream_connect_time, or traces, would decide.",
        buckets.in_words(),
        Timestamp::from_nanos(buckets.last)
    );
    finding.entities.clone_from(&buckets.entities);
    let named = format!("service:{}", buckets.service);
    if context.snapshot.graph.contains(&named) && !finding.entities.contains(&named) {
        finding.entities.insert(0, named);
    }
    finding.evidence.clone_from(&buckets.evidence);
    Some(finding)
}
