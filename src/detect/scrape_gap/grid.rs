//! Without raw `up` samples: what `query_range` answers still show, and what they cannot.

use std::collections::BTreeSet;

use crate::base::text;
use crate::base::time::{Timestamp, parse_duration_nanos};
use crate::base::units;
use crate::detect::scrape_gap::analysis::Analysis;
use crate::detect::scrape_gap::held::Held;
use crate::detect::scrape_gap::origin::Origin;
use crate::detect::scrape_gap::{gap_findings, within};
use crate::detect::{Context, Verdict};
use crate::model::finding::{Finding, FindingKind};
use crate::model::series::{Sampling, Series};
use crate::store::Snapshot;

/// How much less sure a gap is that only evaluated series show.
const GRID_CONFIDENCE: f64 = 0.7;

/// Looks at evaluated series only.
pub(crate) fn check(context: &Context<'_>) -> Verdict {
    let snapshot = context.snapshot;
    let steps: BTreeSet<i64> = snapshot
        .series
        .iter()
        .filter_map(|s| match s.sampling {
            Sampling::Grid { step_nanos } => Some(step_nanos),
            Sampling::Raw | Sampling::Instant => None,
        })
        .collect();
    let Some(step) = steps.first() else {
        return Verdict::NotEnough(without_up(snapshot));
    };
    let caveat = format!(
        "Only query_range answers were read (finest step {}): each point repeats the newest sample of up to five minutes \
         before it, so gaps without a staleness marker and gaps shorter than a step cannot be seen, and edges are known \
         to a step at best. Raw samples would show them: an instant query of up[1h], scrape_duration_seconds[1h] and \
         scrape_samples_scraped[1h], or remote read.",
        units::secs(*step as f64 / 1e9)
    );
    let analysis = Analysis::of(snapshot, Origin::Grid);
    let mut findings = gap_findings(context, &analysis, &Held::of(snapshot));
    for finding in &mut findings {
        finding.confidence = units::round_to(finding.confidence * GRID_CONFIDENCE, 3);
        finding.detail = format!(
            "{} Counts are of steps, not of scrapes. {caveat}",
            finding.detail
        );
    }
    findings.extend(artifacts(snapshot));
    let findings = within(findings, context.window);
    if findings.is_empty() {
        Verdict::NotEnough(caveat)
    } else {
        Verdict::Findings(findings)
    }
}

fn without_up(snapshot: &Snapshot) -> String {
    if snapshot.has_raw_series() {
        "No `up` series was given, so whether scrapes failed or did not come cannot be told; an instant query of up[1h], \
         scrape_duration_seconds[1h] and scrape_samples_scraped[1h] would show it."
            .to_owned()
    } else {
        "No series of Prometheus was given; an instant query of up[1h] and scrape_duration_seconds[1h] would show gaps."
            .to_owned()
    }
}

/// Holes that the query itself makes: a range shorter than two scrape intervals holds two samples only by the phase
/// (`prometheus.md` §2.1 and §3).
fn artifacts(snapshot: &Snapshot) -> Vec<Finding> {
    let Some(interval) = snapshot
        .targets
        .iter()
        .filter_map(|t| t.interval_nanos)
        .max()
    else {
        return Vec::new();
    };
    let mut found: Vec<Finding> = Vec::new();
    let mut seen = BTreeSet::new();
    for series in &snapshot.series {
        let (Sampling::Grid { step_nanos }, Some(expr)) = (series.sampling, series.expr.as_deref())
        else {
            continue;
        };
        let Some(range) = shortest_range(expr).filter(|r| *r < 2 * interval) else {
            continue;
        };
        let holes = holes(series, step_nanos);
        let Some((from, to)) = holes
            .first()
            .copied()
            .zip(holes.last().copied())
            .map(|(a, b)| (a.0, b.1))
        else {
            continue;
        };
        if !seen.insert(expr) {
            continue;
        }
        let missed: i64 = holes
            .iter()
            .map(|(from, to)| (to - from) / step_nanos - 1)
            .sum();
        let mut finding = Finding::new(
            FindingKind::ScrapeGap,
            &format!("query_artifact:{expr}"),
            Timestamp::from_nanos(from + step_nanos),
            Some(Timestamp::from_nanos(to)),
        )
        .with("missed", missed)
        .with("expected", (to - from) / step_nanos - 1)
        .with("interval_s", units::round_to(interval as f64 / 1e9, 3))
        .with("last_good", Timestamp::from_nanos(from).to_rfc3339())
        .with(
            "last_bad",
            Timestamp::from_nanos(to - step_nanos).to_rfc3339(),
        );
        finding.cause = Some("query_artifact".to_owned());
        finding.confidence = 0.7;
        finding.title = format!("The query makes holes: {}", text::shorten(expr, 80));
        finding.detail = format!(
            "{} of {} have no value. The query looks back {}, less than two scrape intervals of {}, and a rate needs two \
             samples: the holes come from the query, not from the data. A range of four intervals survives a lost scrape.",
            text::count(missed.unsigned_abs(), "step", "steps"),
            text::shorten(expr, 120),
            units::secs(range as f64 / 1e9),
            units::secs(interval as f64 / 1e9)
        );
        finding
            .evidence
            .push(snapshot.sample_evidence(series, from, "last value before a hole"));
        found.push(finding);
    }
    found
}

/// Neighbouring points that are more than one step apart.
fn holes(series: &Series, step: i64) -> Vec<(i64, i64)> {
    series
        .t
        .windows(2)
        .filter(|w| w[1] - w[0] > step + step / 2)
        .map(|w| (w[0], w[1]))
        .collect()
}

/// The shortest `[5s]` in an expression, in nanoseconds.
fn shortest_range(expr: &str) -> Option<i64> {
    expr.split('[')
        .skip(1)
        .filter_map(|rest| rest.split([']', ':']).next())
        .filter_map(parse_duration_nanos)
        .min()
}
