//! Counters that rise with a symptom: the quiet witnesses that decide between look-alikes.

use crate::base::stats::log10_binomial_tail;
use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::correlate::coincidence::circular_shift_p;
use crate::correlate::symptom::Symptom;
use crate::detect::Context;
use crate::model::input::Evidence;
use crate::model::pack::Role;
use crate::model::series::Series;

/// What the counters of a role say.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Rise {
    /// Nobody recorded one.
    Absent,
    /// Recorded, and it does not rise with the symptom.
    Flat {
        /// How much it grew over the whole window.
        total: f64,
        /// The metric.
        metric: String,
    },
    /// It grew while the symptom lasted, and the symptom fills so much of the window that this says nothing.
    Unclear {
        /// How much it grew over the whole window.
        total: f64,
        /// The metric.
        metric: String,
    },
    /// It rises with the symptom.
    Rises {
        /// How much it grew while the symptom lasted.
        inside: f64,
        /// How much over the whole window.
        total: f64,
        /// The chance that this is a coincidence.
        p: f64,
        /// The metric.
        metric: String,
        /// The series that grew most, with where.
        evidence: Vec<Evidence>,
    },
}

/// The chance under which a rise counts.
const P_LIMIT: f64 = 0.01;

/// Bins for the fine comparison of a counter's increments with the symptom. The best p-value that a circular shift can
/// give is one in as many, doubled for the two tests: it must lie under [`P_LIMIT`]. With 240 an hour has bins of 15 s, the
/// usual scrape interval.
const BINS: usize = 240;

/// Looks at all counters of a role.
pub(super) fn rises(context: &Context<'_>, role: Role, symptom: &Symptom) -> Rise {
    let Some((first, last)) = symptom.extent() else {
        return Rise::Absent;
    };
    let mut increments: Vec<(i64, f64)> = Vec::new();
    let mut grown: Vec<(f64, &Series)> = Vec::new();
    let mut metric = String::new();
    let mut interval_nanos = 0;
    for (_, series) in context
        .snapshot
        .with_role(role)
        .filter(|(_, s)| s.sampling.is_raw())
    {
        if metric.is_empty() {
            series.metric.as_ref().clone_into(&mut metric);
        }
        interval_nanos = interval_nanos.max(series.interval_nanos().unwrap_or(0));
        let own = increments_of(series);
        grown.push((own.iter().map(|(_, by)| by).sum(), series));
        increments.extend(own);
    }
    if grown.is_empty() {
        return Rise::Absent;
    }
    increments.retain(|(t, _)| context.window.contains(Timestamp::from_nanos(*t)));
    let total: f64 = increments.iter().map(|(_, by)| by).sum();
    let lasting = TimeRange::new(first, last.plus_nanos(interval_nanos.saturating_add(1)));
    let inside: f64 = increments
        .iter()
        .filter(|(t, _)| lasting.contains(Timestamp::from_nanos(*t)))
        .map(|(_, by)| by)
        .sum();
    let share_of_time = (lasting.intersection(&context.window).nanos() as f64
        / context.window.nanos() as f64)
        .min(1.0);
    // A burst of a thousand at once is one event, not a thousand: the effective number of increments is
    // (Σx)² / Σx² (Kish, "Survey Sampling", 1965, §8.2).
    let squares: f64 = increments.iter().map(|(_, by)| by * by).sum();
    let events = if squares > 0.0 {
        total * total / squares
    } else {
        0.0
    };
    let chance = |events_inside: f64| {
        2.0 * 10f64.powf(log10_binomial_tail(events, events_inside, share_of_time))
    };
    let p_inside = chance(events * inside / total.max(f64::MIN_POSITIVE));
    let p_fine = 2.0 * fine_p(context.window, symptom, &increments);
    let p = p_inside.min(p_fine).min(1.0);
    if inside < 1.0 {
        return Rise::Flat { total, metric };
    }
    if p > P_LIMIT {
        return if chance(events) > P_LIMIT {
            Rise::Unclear { total, metric }
        } else {
            Rise::Flat { total, metric }
        };
    }
    grown.sort_by(|a, b| {
        b.0.total_cmp(&a.0)
            .then_with(|| a.1.labels.cmp(&b.1.labels))
    });
    let evidence = grown
        .iter()
        .filter(|(by, _)| *by > 0.0)
        .take(2)
        .map(|(by, series)| {
            let at = increments_of(series)
                .iter()
                .find(|(_, by)| *by > 0.0)
                .map_or_else(|| first.nanos(), |(t, _)| *t);
            context.snapshot.sample_evidence(
                series,
                at,
                format!("grew by {} in the window", units::number(*by)),
            )
        })
        .collect();
    Rise::Rises {
        inside,
        total,
        p,
        metric,
        evidence,
    }
}

/// Growth from sample to sample with the time of the later one; after a reset the new value is the growth.
fn increments_of(series: &Series) -> Vec<(i64, f64)> {
    let samples: Vec<(i64, f64)> = series.finite().collect();
    samples
        .windows(2)
        .filter_map(|w| {
            let by = if w[1].1 >= w[0].1 {
                w[1].1 - w[0].1
            } else {
                w[1].1
            };
            (by > 0.0).then_some((w[1].0, by))
        })
        .collect()
}

/// The p-value by the circular shift of the increments against the bad trials, bin by bin.
fn fine_p(window: TimeRange, symptom: &Symptom, increments: &[(i64, f64)]) -> f64 {
    let bin = |t: i64| {
        let at = t.saturating_sub(window.start.nanos()) as f64 / window.nanos().max(1) as f64;
        ((at * BINS as f64) as usize).min(BINS - 1)
    };
    let mut bad = vec![0.0; BINS];
    symptom.bad_times().for_each(|t| bad[bin(t.nanos())] += 1.0);
    let mut grown = vec![0.0; BINS];
    for (t, by) in increments {
        grown[bin(*t)] += by;
    }
    circular_shift_p(&bad, &grown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_in_step_pass_the_limit_and_others_do_not() {
        let window = TimeRange::new(Timestamp::from_nanos(0), Timestamp::from_nanos(24_000));
        let bursts = [300, 3_700, 9_100, 14_900, 22_300];
        let trials = |t: i64| (t, bursts.contains(&t));
        let symptom = Symptom::new(
            (0..240).map(|k| trials(k * 100)).collect(),
            true,
            ("x", "xs"),
        );
        let grown = |late: i64| -> Vec<(i64, f64)> {
            bursts.iter().map(|t| ((t + late) % 24_000, 1.0)).collect()
        };
        assert!(2.0 * fine_p(window, &symptom, &grown(0)) <= P_LIMIT);
        assert!(2.0 * fine_p(window, &symptom, &grown(1_000)) > P_LIMIT);
    }
}
