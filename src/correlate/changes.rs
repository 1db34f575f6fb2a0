//! Changes and what each did to a symptom: trigger, relief, cure, or nothing.
//!
//! The share of bad trials is modelled as constant between some of the changes. Which of them are borders is found by
//! maximum likelihood with a price for each border (Bayesian information criterion: half the logarithm of the number of
//! bad trials; Schwarz, 1978), exactly, by dynamic programming over the changes (Jackson et al., 2005). A change that is
//! a border is a trigger where the share rises, a cure where it falls to nothing, a relief where it only falls; one that
//! is no border is coincident.

use crate::base::text::{count, join_and};
use crate::base::time::{NANOS_PER_SEC, TimeRange, Timestamp};
use crate::base::units;
use crate::correlate::symptom::Symptom;
use crate::model::finding::Finding;
use crate::model::hypothesis::{ChangeRole, Role};

/// A change as a candidate for a border.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    /// Its finding.
    pub(super) finding: &'a Finding,
    /// Its title.
    pub(super) title: &'a str,
    /// Steps in the entity graph from what it names to what the symptom is about; `None` when it names nobody.
    pub(super) distance: Option<usize>,
    /// Whether its words bear on the cause, by the signature's own list; `true` where there is no such list.
    pub(super) bears: bool,
}

impl Candidate<'_> {
    /// What a border at this change costs beyond the common price, in nats: the prior odds against it.
    fn price(&self) -> f64 {
        let far = self
            .distance
            .map_or(0.0, |d| STEP_PRICE * d.min(FARTHEST) as f64);
        far + if self.bears { 0.0 } else { WORDS_PRICE }
    }
}

/// What each step in the entity graph between a change and the symptom costs, in nats: two to one against it. A change of
/// the thing itself, or of the ground that everything stands on (it names nobody), costs nothing.
const STEP_PRICE: f64 = std::f64::consts::LN_2;

/// Steps from which on everything is equally far.
pub(super) const FARTHEST: usize = 3;

/// What it costs a change that its words do not bear on the cause, in nats: e to 1 against it.
const WORDS_PRICE: f64 = 1.0;

/// Changes that are further from the symptom than this, seen in its own length, are not named at all.
const REACH: f64 = 1.0;

/// A symptom seen less than this long after a change is taken to begin with it even when it shows a little earlier:
/// clocks differ, and events are written down by people.
pub(super) const CLOCK_SLACK_NANOS: i64 = 2 * NANOS_PER_SEC;

/// The role of every change near the symptom, in order of time.
pub(super) fn roles(
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
    near.sort_by(|a, b| (a.finding.start, a.title).cmp(&(b.finding.start, b.title)));
    let borders = best_borders(symptom, &near);
    let fit = Fit {
        symptom,
        start: window.start.min(symptom.first().unwrap_or(Timestamp::MAX)),
        end: window.end,
        near: &near,
        borders: &borders,
    };
    (0..near.len()).map(|ix| fit.role(ix)).collect()
}

/// The index into `near` of each change that is a border, in order.
///
/// Quadratic in the changes that the trials tell apart: of several with no trial between them only the one with the
/// lowest price, and of equals the first, can be a border.
fn best_borders(symptom: &Symptom, near: &[&Candidate<'_>]) -> Vec<usize> {
    let price = 0.5 * (symptom.bad().max(2) as f64).ln();
    // (index into `near`, bad and all trials before it)
    let mut edges: Vec<(usize, (u64, u64))> = Vec::new();
    for (ix, candidate) in near.iter().enumerate() {
        let counts = symptom.counts_before(edge(candidate));
        match edges.last_mut() {
            Some((known, at)) if *at == counts => {
                if near
                    .get(*known)
                    .is_some_and(|k| candidate.price() < k.price())
                {
                    *known = ix;
                }
            }
            _ => edges.push((ix, counts)),
        }
    }
    let total = symptom.counts_before(Timestamp::MAX);
    let prices: Vec<f64> = edges
        .iter()
        .map(|(ix, _)| price + near.get(*ix).map_or(0.0, |c| c.price()))
        .collect();
    // For each edge, and then the end: the best log-likelihood of everything before it, and the border before it.
    let mut best: Vec<(f64, Option<usize>)> = Vec::with_capacity(edges.len() + 1);
    for to in edges.iter().map(|(_, counts)| *counts).chain([total]) {
        let mut found = (log_likelihood(to), None);
        for (from, ((known, _), (_, at))) in best.iter().zip(&edges).enumerate() {
            let since = (to.0.saturating_sub(at.0), to.1.saturating_sub(at.1));
            let value = known + log_likelihood(since) - prices.get(from).copied().unwrap_or(0.0);
            if value > found.0 {
                found = (value, Some(from));
            }
        }
        best.push(found);
    }
    let mut borders = Vec::new();
    let mut at = best.last().and_then(|(_, from)| *from);
    while let Some(edge) = at {
        borders.extend(edges.get(edge).map(|(ix, _)| *ix));
        at = best.get(edge).and_then(|(_, from)| *from);
    }
    borders.reverse();
    borders
}

/// Maximum log-likelihood of `bad` of `all` independent trials.
fn log_likelihood((bad, all): (u64, u64)) -> f64 {
    if bad == 0 || bad == all {
        return 0.0;
    }
    let share = bad as f64 / all as f64;
    bad as f64 * share.ln() + (all - bad) as f64 * (1.0 - share).ln()
}

/// The changes near a symptom and which of them are borders of its share.
struct Fit<'a> {
    symptom: &'a Symptom,
    start: Timestamp,
    end: Timestamp,
    near: &'a [&'a Candidate<'a>],
    borders: &'a [usize],
}

/// Another change that fits the times this nearly as well as a border is named beside it, in nats.
const CLOSE_NATS: f64 = 1.5;

impl Fit<'_> {
    fn edge(&self, ix: usize) -> Timestamp {
        edge(self.near[ix])
    }

    /// From the border before a change to the border after it.
    fn around(&self, ix: usize) -> TimeRange {
        let before = self.borders.iter().rev().find(|b| **b < ix);
        let after = self.borders.iter().find(|b| **b > ix);
        TimeRange::new(
            before.map_or(self.start, |b| self.edge(*b)),
            after.map_or(self.end, |b| self.edge(*b)),
        )
    }

    /// (bad, all) before and after an instant, within a range.
    fn split(&self, around: TimeRange, at: Timestamp) -> ((u64, u64), (u64, u64)) {
        let before = self.symptom.counts(TimeRange::new(around.start, at));
        (before, self.symptom.counts(TimeRange::new(at, around.end)))
    }

    fn role(&self, ix: usize) -> ChangeRole {
        let at = self.near[ix].finding.start;
        let around = self.around(ix);
        let (before, after) = self.split(around, self.edge(ix));
        let numbers = format!(
            "bad before: {}; after: {}",
            self.words(before),
            self.words(after)
        );
        let (role, why) = if !self.borders.contains(&ix) {
            let first = self.symptom.extent().map_or(at, |(first, _)| first);
            let why = if at < first {
                let early = units::secs(first.secs_since(at));
                format!("it came {early} before the onset, and the symptom did not begin with it")
            } else {
                format!("nothing says that the symptom changed with it; {numbers}")
            };
            (Role::Coincident, why)
        } else if share(after) > share(before) {
            (Role::Trigger, numbers)
        } else if after.0 == 0 {
            (Role::Cure, numbers)
        } else {
            (Role::Relief, format!("it eased and did not end; {numbers}"))
        };
        let doubt = if role == Role::Coincident {
            String::new()
        } else {
            self.doubt(ix, around)
        };
        ChangeRole {
            title: self.near[ix].title.to_owned(),
            at,
            role,
            why: why + &doubt,
        }
    }

    /// The other changes between the same borders that the times alone cannot tell from this one.
    fn doubt(&self, ix: usize, around: TimeRange) -> String {
        let fit_at = |k: usize| {
            let (before, after) = self.split(around, self.edge(k));
            log_likelihood(before) + log_likelihood(after)
        };
        let others: Vec<String> = (0..self.near.len())
            .filter(|k| *k != ix && !self.borders.contains(k))
            .filter(|k| self.near[*k].finding.start != self.near[ix].finding.start)
            .filter(|k| around.contains(self.edge(*k)) && fit_at(ix) - fit_at(*k) < CLOSE_NATS)
            .map(|k| format!("“{}”", self.near[k].title))
            .collect();
        if others.is_empty() || !self.symptom.is_observed {
            return String::new();
        }
        format!(
            "; by the times alone it could as well be {}, which has less to do with such a cause",
            join_and(&others)
        )
    }

    fn words(&self, (bad, all): (u64, u64)) -> String {
        match (self.symptom.is_observed, bad) {
            (true, _) => {
                let trials = count(all, self.symptom.noun.0, self.symptom.noun.1);
                format!("{bad} of {trials} ({})", units::share(share((bad, all))))
            }
            (false, 0) => "absent".to_owned(),
            (false, _) => "present".to_owned(),
        }
    }
}

/// Where a change cuts the trials: a little before it, for clocks that differ.
fn edge(candidate: &Candidate<'_>) -> Timestamp {
    candidate.finding.start.plus_nanos(-CLOCK_SLACK_NANOS)
}

fn share((bad, all): (u64, u64)) -> f64 {
    if all == 0 {
        0.0
    } else {
        bad as f64 / all as f64
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
        Symptom::new(trials, true, ("connect", "connects"))
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
    fn thousands_of_changes_cost_what_the_trials_tell_apart() {
        // A trial every 50 ms from 0 to 450 s: of 20,000 changes a tenth of a millisecond apart all but 41 are alike.
        let symptom = symptom(&[(0, 200, 0), (200, 450, 20)]);
        let changes: Vec<Finding> = (0..20_000i64)
            .map(|k| {
                let mut change = change(0, "x");
                change.start = Timestamp::from_nanos(200 * NANOS_PER_SEC + k * 100_000);
                change
            })
            .collect();
        let roles = roles_at(&symptom, &changes.iter().collect::<Vec<_>>());
        assert_eq!(roles.iter().filter(|r| **r == Role::Trigger).count(), 1);
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
