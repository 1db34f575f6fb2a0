//! Which metrics are pulled, and how many of them the cap lets through.

use crate::base::text::grouped;
use crate::base::time::TimeRange;
use crate::model::pack::Packs;
use crate::sources::prometheus::plan::{self, Wanted};

/// What says whether scraping itself works (`prometheus.md` §2.2), the firing alerts, and Prometheus' own counters that
/// tell the causes of gaps apart (§2.5): pulled from every server.
const ALWAYS: &[&str] = &[
    "up",
    "scrape_*",
    "ALERTS",
    "process_start_time_seconds",
    "prometheus_target_interval_length_seconds",
    "prometheus_target_scrapes_*",
    "prometheus_target_scrape_pool_*",
    "prometheus_tsdb_out_of_order_samples_total",
    "prometheus_tsdb_too_old_samples_total",
    "prometheus_config_last_reload_*",
];
/// Refused metrics that are named.
const MOST_NAMED: usize = 5;

/// Which metrics are wanted.
pub(super) struct Wants<'a> {
    /// The query packs, unless they are switched off.
    pub(super) packs: Option<&'a Packs>,
    /// The person's own names, or beginnings that end in `*`.
    pub(super) own: &'a [String],
}

impl Wants<'_> {
    /// Whether the metric of that name is.
    pub(super) fn wants(&self, name: &str) -> bool {
        let of_packs = || {
            self.packs.is_some_and(|packs| {
                packs
                    .iter()
                    .flat_map(|pack| &pack.metric)
                    .any(|metric| matches(name, &metric.name))
            })
        };
        is_of_scraping(name) || self.own.iter().any(|pattern| matches(name, pattern)) || of_packs()
    }
}

/// Whether a metric tells of the scraping itself: it is pulled first, whatever is refused.
pub(super) fn is_of_scraping(name: &str) -> bool {
    ALWAYS.iter().any(|pattern| matches(name, pattern))
}

fn matches(name: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(name == pattern, |prefix| name.starts_with(prefix))
}

/// What a pull costs, by the counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cost {
    /// Metrics, series and samples of what is pulled.
    pub(super) metrics: usize,
    /// Series, each metric's at its most.
    pub(super) series: u64,
    /// Samples of one series.
    pub(super) points: f64,
    /// Samples together.
    pub(super) samples: f64,
}

impl Cost {
    /// `about 960,000 samples of 12 metrics: 2,000 series × 480 points`.
    pub(super) fn words(&self) -> String {
        format!(
            "about {} samples of {} metrics: {} series × {} points",
            thousands(self.samples),
            self.metrics,
            thousands(as_f64(self.series)),
            thousands(self.points),
        )
    }
}

/// Takes out of `wanted` what would go over `cap` samples. What is left costs so much, and what is refused is said.
pub(super) fn cap(
    wanted: &mut Vec<Wanted>,
    cap: u64,
    window: TimeRange,
    interval_s: f64,
) -> (Cost, Option<String>) {
    let points = plan::samples(1, window, interval_s);
    let cap_samples = as_f64(cap);
    let mut cost = Cost {
        metrics: 0,
        series: 0,
        points,
        samples: 0.0,
    };
    let mut refused = Vec::new();
    wanted.retain(|one| {
        let series = one.series.max(1);
        let own = points * as_f64(series);
        let fits = cost.samples + own <= cap_samples;
        if fits {
            cost.metrics += 1;
            cost.series += series;
            cost.samples += own;
        } else {
            refused.push((one.metric.clone(), series));
        }
        fits
    });
    let said = (!refused.is_empty()).then(|| refusal(&mut refused, &cost, cap_samples));
    (cost, said)
}

fn refusal(refused: &mut [(String, u64)], cost: &Cost, cap: f64) -> String {
    let series: u64 = refused.iter().map(|(_, series)| series).sum();
    let all = as_f64(series).mul_add(cost.points, cost.samples);
    // The costliest first: that is where narrowing helps.
    refused.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let named: Vec<String> = refused
        .iter()
        .take(MOST_NAMED)
        .map(|(name, series)| format!("{name} ({} series)", thousands(as_f64(*series))))
        .collect();
    let more = refused.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "{} metrics were refused: with them the pull would be about {} samples, over the cap of {}: {}{more}; ask for a shorter window, set `matchers` (`namespace=\"shop\"`) or fewer `metrics`, or raise `max_samples`",
        refused.len(),
        thousands(all),
        thousands(cap),
        named.join(", "),
    )
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
const fn as_f64(n: u64) -> f64 {
    n as f64
}

/// A whole number with commas.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, never below zero"
)]
fn thousands(n: f64) -> String {
    grouped(n.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;

    #[test]
    fn the_cost_is_series_times_points_and_what_is_over_the_cap_is_named() {
        let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
        let window = TimeRange::new(start, start.plus_nanos(7_185_000_000_000));
        let wanted = |metric: &str, series| Wanted {
            metric: metric.to_owned(),
            series,
        };
        let all = [
            wanted("up", 0),
            wanted("big", 40_000),
            wanted("small", 1_999),
        ];
        let mut kept = all.to_vec();
        let (cost, said) = cap(&mut kept, 1_000_000, window, 15.0);
        assert_eq!(
            cost.words(),
            "about 960,000 samples of 2 metrics: 2,000 series × 480 points"
        );
        let said = said.unwrap();
        assert!(
            said.starts_with("1 metrics were refused: with them the pull would be about 20,160,000 samples, over the cap of 1,000,000: big (40,000 series); "),
            "{said}"
        );
        let mut kept = all.to_vec();
        assert_eq!(cap(&mut kept, 21_000_000, window, 15.0).1, None);
        assert_eq!(kept.len(), 3);
    }
}
