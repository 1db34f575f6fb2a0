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
    /// Whether its words bear on the cause, by the signature's own list; `None` where there is no such list.
    pub(super) bears: Option<bool>,
    /// Whether it is about something else: a thing that nothing here hangs on, or the roll-out of a thing that the
    /// recordings do not know.
    pub(super) is_elsewhere: bool,
}

impl Candidate<'_> {
    /// What a border at this change costs beyond the common price, in nats: the prior odds against it.
    fn price(&self) -> f64 {
        let steps = match self.distance {
            _ if self.is_elsewhere => FARTHEST,
            Some(steps) => steps.min(FARTHEST),
            None => GROUND_STEPS,
        };
        let words = if self.bears == Some(false) {
            WORDS_PRICE
        } else {
            0.0
        };
        STEP_PRICE * steps as f64 + words
    }

    /// Whether more than its time can tie it to the symptom. What is about something else, in words that do not bear on
    /// the cause, is named so that nobody blames it, and is never a border.
    fn is_tied(&self) -> bool {
        !(self.is_elsewhere && self.bears == Some(false))
    }
}

/// What each step in the entity graph between a change and the symptom costs, in nats: two to one against it. A change of
/// the thing itself costs nothing.
const STEP_PRICE: f64 = std::f64::consts::LN_2;

/// A change that names nobody may be of the ground that everything stands on: one step, so that of two changes that fit
/// alike the one that names the thing itself is taken.
const GROUND_STEPS: usize = 1;

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
    for (ix, candidate) in near.iter().enumerate().filter(|(_, c)| c.is_tied()) {
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
        let lasts = !self.symptom.is_observed && before.0 > 0 && after.0 > 0;
        let (role, why) = if !self.near[ix].is_tied() {
            let why = "only its time is near: it is about something that nothing here hangs on, and its words do not bear on such a cause";
            (Role::Coincident, why.to_owned())
        } else if lasts {
            // Of a symptom that is known by its interval alone no change in strength can be seen.
            let why = "the symptom was there before it and after it";
            (Role::Coincident, why.to_owned())
        } else if !self.borders.contains(&ix) {
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
        let others: Vec<usize> = (0..self.near.len())
            .filter(|k| *k != ix && !self.borders.contains(k) && self.near[*k].is_tied())
            .filter(|k| self.near[*k].finding.start != self.near[ix].finding.start)
            .filter(|k| around.contains(self.edge(*k)) && fit_at(ix) - fit_at(*k) < CLOSE_NATS)
            .collect();
        let mut doubt = String::new();
        if self.near[ix].is_elsewhere {
            doubt.push_str(
                "; only its time ties it to this: it is about something that nothing here hangs on",
            );
        }
        if others.is_empty() || !self.symptom.is_observed {
            return doubt;
        }
        let price = self.near[ix].price();
        let less = if others.iter().all(|k| self.near[*k].price() > price) {
            let verb = if others.len() == 1 { "has" } else { "have" };
            format!(", which {verb} less to do with such a cause")
        } else {
            String::new()
        };
        let titles: Vec<String> = others
            .iter()
            .map(|k| format!("“{}”", self.near[*k].title))
            .collect();
        let titles = join_and(&titles);
        doubt + &format!("; by the times alone it could as well be {titles}{less}")
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
                bears: None,
                is_elsewhere: false,
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

    fn role_of(
        symptom: &Symptom,
        change: &Finding,
        is_elsewhere: bool,
        bears: Option<bool>,
    ) -> ChangeRole {
        let window = TimeRange::new(
            Timestamp::from_nanos(0),
            Timestamp::from_nanos(450 * NANOS_PER_SEC),
        );
        let candidate = Candidate {
            finding: change,
            title: "x",
            distance: None,
            bears,
            is_elsewhere,
        };
        roles(symptom, window, &[candidate]).remove(0)
    }

    #[test]
    fn a_change_of_something_else_is_not_blamed_for_its_time() {
        let symptom = symptom(&[(0, 80, 0), (80, 450, 160)]);
        let change = change(79, "coffee machine");
        let role = role_of(&symptom, &change, true, Some(false));
        assert_eq!(role.role, Role::Coincident, "{}", role.why);
        // Where no list of words is known it may be the trigger, and the doubt is said.
        let role = role_of(&symptom, &change, true, None);
        assert_eq!(role.role, Role::Trigger);
        assert!(role.why.contains("only its time ties it"), "{}", role.why);
        let role = role_of(&symptom, &change, false, Some(false));
        assert_eq!(role.role, Role::Trigger);
        assert!(!role.why.contains("only its time"), "{}", role.why);
    }

    #[test]
    fn of_a_symptom_known_by_its_interval_nothing_in_its_midst_is_a_trigger() {
        let mut symptom = symptom(&[(0, 80, 0), (80, 200, 1), (200, 210, 0), (210, 450, 1)]);
        symptom.is_observed = false;
        let role = role_of(&symptom, &change(205, "x"), false, None);
        assert_eq!(role.role, Role::Coincident, "{}", role.why);
        let role = role_of(&symptom, &change(79, "x"), false, None);
        assert_eq!(role.role, Role::Trigger, "{}", role.why);
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
