//! Changes and what each did to a symptom: trigger, relief, cure, or nothing.
//!
//! The share of bad trials is modelled as constant between some of the changes. Which of them are borders is found by
//! maximum likelihood with a price for each border (Bayesian information criterion: half the logarithm of the number of
//! bad trials; Schwarz, 1978), exactly, by dynamic programming over the changes (Jackson et al., 2005). A change that is
//! a border is a trigger where the share rises, a cure where it falls to nothing, a relief where it only falls; one that
//! is no border is coincident.

use crate::base::text::count;
use crate::base::time::{NANOS_PER_SEC, TimeRange, Timestamp};
use crate::base::units;
use crate::correlate::symptom::Symptom;
use crate::model::finding::Finding;
use crate::model::hypothesis::{ChangeRole, Role};

/// A change as a candidate for a border.
#[derive(Debug, Clone)]
pub struct Candidate<'a> {
    /// Its finding.
    pub finding: &'a Finding,
    /// Its title.
    pub title: &'a str,
    /// Steps in the entity graph from what it names to what the symptom is about; `None` when it names nothing known.
    pub distance: Option<usize>,
    /// Whether its words bear on the cause, by the signature's own list; `true` where there is no such list.
    pub bears: bool,
}

impl Candidate<'_> {
    /// What a border at this change costs beyond the common price, in nats: the prior odds against it.
    fn price(&self) -> f64 {
        let far = self.distance.map_or(0.0, |d| STEP_PRICE * d.min(3) as f64);
        far + if self.bears { 0.0 } else { WORDS_PRICE }
    }
}

/// What each step in the entity graph between a change and the symptom costs, in nats: two to one against it. A change of
/// the thing itself, or of the ground that everything stands on (it names nobody), costs nothing.
const STEP_PRICE: f64 = std::f64::consts::LN_2;

/// What it costs a change that its words do not bear on the cause, in nats: e to 1 against it.
const WORDS_PRICE: f64 = 1.0;

/// Changes that are further from the symptom than this, seen in its own length, are not named at all.
const REACH: f64 = 1.0;

/// A symptom seen less than this long after a change is taken to begin with it even when it shows a little earlier:
/// clocks differ, and events are written down by people.
const CLOCK_SLACK_NANOS: i64 = 2 * NANOS_PER_SEC;

/// The role of every change near the symptom, in order of time.
pub fn roles(
    symptom: &Symptom,
    window: TimeRange,
    candidates: &[Candidate<'_>],
) -> Vec<ChangeRole> {
    let Some((first, last)) = symptom.extent() else {
        return Vec::new();
    };
    let length = last.nanos_since(first).max(60 * NANOS_PER_SEC) as f64;
    let mut near: Vec<&Candidate<'_>> = candidates
        .iter()
        .filter(|c| {
            let t = c.finding.start;
            t >= first.plus_nanos(-(length * REACH).max(600e9) as i64)
                && t <= last.plus_nanos((length * REACH) as i64)
        })
        .collect();
    near.sort_by_key(|c| (c.finding.start, c.title.to_owned()));
    let borders = best_borders(symptom, window, &near);
    near.iter()
        .enumerate()
        .map(|(ix, candidate)| role_of(symptom, window, &near, &borders, ix, candidate))
        .collect()
}

/// The index into `near` of each change that is a border, in order.
fn best_borders(symptom: &Symptom, window: TimeRange, near: &[&Candidate<'_>]) -> Vec<usize> {
    let bad_total = symptom.trials.iter().filter(|(_, bad)| *bad).count();
    let price = 0.5 * (bad_total.max(2) as f64).ln();
    // best[k]: the best log-likelihood of everything before border k with k as a border; near.len() is the end.
    let mut best: Vec<(f64, Option<usize>)> = Vec::with_capacity(near.len() + 1);
    let edge = |k: usize| {
        near.get(k).map_or(window.end, |c| {
            c.finding.start.plus_nanos(-CLOCK_SLACK_NANOS)
        })
    };
    let segment = |from: Option<usize>, to: usize| {
        let start = from.map_or_else(|| window.start.min(first_trial(symptom)), edge);
        log_likelihood(symptom.counts(TimeRange::new(start, edge(to).max(start))))
    };
    for k in 0..=near.len() {
        let mut found = (segment(None, k), None);
        for (j, known) in best.iter().enumerate().take(k) {
            let value = known.0 + segment(Some(j), k) - price - near[j].price();
            if value > found.0 {
                found = (value, Some(j));
            }
        }
        best.push(found);
    }
    let mut borders = Vec::new();
    let mut at = best.last().and_then(|(_, from)| *from);
    while let Some(k) = at {
        borders.push(k);
        at = best[k].1;
    }
    borders.reverse();
    borders
}

fn first_trial(symptom: &Symptom) -> Timestamp {
    symptom
        .trials
        .first()
        .map_or(Timestamp::MAX, |(t, _)| Timestamp::from_nanos(*t))
}

/// Maximum log-likelihood of `bad` of `all` independent trials.
fn log_likelihood((bad, all): (u64, u64)) -> f64 {
    if bad == 0 || bad == all {
        return 0.0;
    }
    let share = bad as f64 / all as f64;
    bad as f64 * share.ln() + (all - bad) as f64 * (1.0 - share).ln()
}

fn role_of(
    symptom: &Symptom,
    window: TimeRange,
    near: &[&Candidate<'_>],
    borders: &[usize],
    ix: usize,
    candidate: &Candidate<'_>,
) -> ChangeRole {
    let at = candidate.finding.start;
    let edge = |k: Option<&usize>, otherwise: Timestamp| {
        k.and_then(|k| near.get(*k)).map_or(otherwise, |c| {
            c.finding.start.plus_nanos(-CLOCK_SLACK_NANOS)
        })
    };
    let own = at.plus_nanos(-CLOCK_SLACK_NANOS);
    let start = window.start.min(first_trial(symptom));
    let before = symptom.counts(TimeRange::new(
        edge(borders.iter().rev().find(|b| **b < ix), start),
        own,
    ));
    let after = symptom.counts(TimeRange::new(
        own,
        edge(borders.iter().find(|b| **b > ix), window.end),
    ));
    let words = |(bad, all): (u64, u64)| {
        if symptom.is_observed {
            let share = if all == 0 {
                0.0
            } else {
                bad as f64 / all as f64
            };
            format!(
                "{bad} of {} ({})",
                count(all, symptom.noun.0, symptom.noun.1),
                units::share(share)
            )
        } else if bad == 0 {
            "absent".to_owned()
        } else {
            "present".to_owned()
        }
    };
    let share = |(bad, all): (u64, u64)| {
        if all == 0 {
            0.0
        } else {
            bad as f64 / all as f64
        }
    };
    let (role, why) = if !borders.contains(&ix) {
        let first = symptom.extent().map_or(at, |(first, _)| first);
        let tail = if at < first {
            format!(
                "it came {} before the onset, and the symptom did not begin with it",
                units::secs(first.secs_since(at))
            )
        } else {
            format!(
                "the symptom did not change with it: {} before, {} after",
                words(before),
                words(after)
            )
        };
        (Role::Coincident, tail)
    } else if share(after) > share(before) {
        (
            Role::Trigger,
            format!("bad before: {}; after: {}", words(before), words(after)),
        )
    } else if after.0 == 0 {
        (
            Role::Cure,
            format!("bad before: {}; after: {}", words(before), words(after)),
        )
    } else {
        (
            Role::Relief,
            format!(
                "it eased and did not end: bad before {}, after {}",
                words(before),
                words(after)
            ),
        )
    };
    ChangeRole {
        title: candidate.title.to_owned(),
        at,
        role,
        why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::FindingKind;

    fn change(at_s: i64, title: &str) -> Finding {
        Finding::new(
            FindingKind::Change,
            title,
            Timestamp::from_nanos(at_s * NANOS_PER_SEC),
            None,
        )
    }

    /// Twenty trials a second for 450 s; the share of bad ones is given for each stretch as one in `n`.
    fn symptom(stretches: &[(i64, i64, usize)]) -> Symptom {
        let mut trials = Vec::new();
        for (from, to, one_in) in stretches {
            for (k, ms) in (from * 1000..to * 1000).step_by(50).enumerate() {
                trials.push((ms * 1_000_000, *one_in > 0 && k % one_in == one_in / 2));
            }
        }
        Symptom {
            trials,
            is_observed: true,
            noun: ("connect", "connects"),
        }
    }

    fn roles_at(symptom: &Symptom, changes: &[&Finding]) -> Vec<Role> {
        let candidates: Vec<Candidate<'_>> = changes
            .iter()
            .map(|f| Candidate {
                finding: f,
                title: "x",
                distance: None,
                bears: true,
            })
            .collect();
        let window = TimeRange::new(
            Timestamp::from_nanos(0),
            Timestamp::from_nanos(450 * NANOS_PER_SEC),
        );
        roles(symptom, window, &candidates)
            .into_iter()
            .map(|r| r.role)
            .collect()
    }

    #[test]
    fn trigger_relief_and_cure_are_told_from_bystanders() {
        let symptom = symptom(&[(0, 80, 0), (80, 240, 160), (240, 360, 500), (360, 450, 0)]);
        let changes = [
            change(50, "decoy"),
            change(80, "move"),
            change(190, "decoy 2"),
            change(240, "scale"),
            change(360, "fix"),
        ];
        let found = roles_at(&symptom, &changes.iter().collect::<Vec<_>>());
        assert_eq!(
            found,
            [
                Role::Coincident,
                Role::Trigger,
                Role::Coincident,
                Role::Relief,
                Role::Cure
            ]
        );
    }

    #[test]
    fn a_symptom_that_never_changes_has_no_trigger() {
        let symptom = symptom(&[(0, 450, 100)]);
        let changes = [change(100, "a"), change(300, "b")];
        assert_eq!(
            roles_at(&symptom, &changes.iter().collect::<Vec<_>>()),
            [Role::Coincident, Role::Coincident]
        );
    }
}
