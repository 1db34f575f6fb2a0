//! Where the goroutines of one dump wait for locks.

use std::collections::BTreeMap;

use crate::formats::go_dump::wait;
use crate::model::profile::{Profile, StackGroup, WaitClass};
use crate::store::Snapshot;
pub(in crate::detect) use crate::store::stacks::{encoding, process_key};

/// Fewer waiters in all are no contention worth a word (`profiles.md` §6).
pub(in crate::detect) const MIN_WAITING: f64 = 20.0;
/// Nor is a smaller part of all goroutines (`profiles.md` §6).
const MIN_SHARE: f64 = 0.1;
/// A wait for a lock this long is told however few wait (`profiles.md` §6).
const LONG_WAIT_S: f64 = 60.0;

/// One place of the program: the frames of its own code that lead to a lock.
#[derive(Debug, Clone)]
pub(in crate::detect) struct Place<'a> {
    /// The frame that takes the lock, of most waiters.
    pub(in crate::detect) site: &'a str,
    /// The first frame of the program's own code.
    pub(in crate::detect) user_site: &'a str,
    /// Goroutines that wait.
    pub(in crate::detect) waiting: f64,
    /// Goroutines that hand the lock over.
    pub(in crate::detect) handoff: f64,
    /// Waiters by site.
    pub(in crate::detect) sites: BTreeMap<&'a str, f64>,
    /// Waiters by lock address, where it was printed.
    pub(in crate::detect) locks: BTreeMap<u64, f64>,
    /// The longest wait that was printed.
    pub(in crate::detect) longest_wait_s: Option<f64>,
    /// The waiting groups, the largest first.
    pub(in crate::detect) groups: Vec<&'a StackGroup>,
}

impl Place<'_> {
    /// The locks with their waiters, the most wanted first; of equals the lowest address.
    pub(super) fn most_wanted(&self) -> Vec<(u64, f64)> {
        let mut locks: Vec<(u64, f64)> = self.locks.iter().map(|(lock, n)| (*lock, *n)).collect();
        locks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        locks
    }
}

/// Every place with waiters, the largest first. The groups of one user frame are one place (`profiles.md` §6).
fn all(profile: &Profile) -> Vec<Place<'_>> {
    let own = wait::own_module(profile);
    let mut places: BTreeMap<&str, Place<'_>> = BTreeMap::new();
    let mut handoffs: BTreeMap<&str, f64> = BTreeMap::new();
    for group in &profile.groups {
        let is_wait = group.class == WaitClass::Lock;
        if !(is_wait || group.class == WaitClass::LockHandoff) || wait::is_profiler(&group.frames) {
            continue;
        }
        let Some(user) = wait::user_frame(&group.frames, own.as_deref()) else {
            continue;
        };
        let user_site = user.function.as_ref();
        if !is_wait {
            *handoffs.entry(user_site).or_default() += group.value;
            continue;
        }
        let site = wait::library_frame(&group.frames).map_or(user_site, |f| f.function.as_ref());
        let place = places.entry(user_site).or_insert_with(|| Place {
            site,
            user_site,
            waiting: 0.0,
            handoff: 0.0,
            sites: BTreeMap::new(),
            locks: BTreeMap::new(),
            longest_wait_s: None,
            groups: Vec::new(),
        });
        place.waiting += group.value;
        *place.sites.entry(site).or_default() += group.value;
        if let Some(lock) = group.lock {
            *place.locks.entry(lock).or_default() += group.value;
        }
        if let Some(wait_s) = group.wait_s {
            place.longest_wait_s = Some(place.longest_wait_s.map_or(wait_s, |w| w.max(wait_s)));
        }
        place.groups.push(group);
    }
    let mut places: Vec<Place<'_>> = places.into_values().collect();
    for place in &mut places {
        place.handoff = handoffs.get(place.user_site).copied().unwrap_or(0.0);
        let most = place
            .sites
            .iter()
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        place.site = most.map_or(place.site, |(site, _)| site);
    }
    places.sort_by(|a, b| {
        b.waiting
            .total_cmp(&a.waiting)
            .then(a.user_site.cmp(b.user_site))
    });
    places
}

/// At most this many places of one dump are told; the first says how many more there are. A process that stands still
/// has waits everywhere, and the largest lead to the others.
const MAX_TOLD: usize = 12;

/// The places of a dump, and which of them are told.
#[derive(Debug)]
pub(in crate::detect) struct Places<'a> {
    /// Every place with waiters, the largest first.
    pub(in crate::detect) all: Vec<Place<'a>>,
    /// Indices of those that are told.
    pub(in crate::detect) told: Vec<usize>,
    /// How many more would be told if there were not so many.
    pub(in crate::detect) more: usize,
}

impl<'a> Places<'a> {
    /// Told are, when the lock waits of the dump are many (20 and a tenth of all goroutines), the places with a tenth of
    /// them; and every place where somebody has waited for a minute.
    pub(in crate::detect) fn of(profile: &'a Profile) -> Self {
        let all = all(profile);
        let waiting: f64 = all.iter().map(|p| p.waiting).sum();
        let are_many = waiting >= MIN_WAITING && waiting >= MIN_SHARE * profile.total;
        let is_told = |place: &Place<'_>| {
            (are_many && place.waiting >= MIN_SHARE * waiting)
                || place.longest_wait_s.is_some_and(|s| s >= LONG_WAIT_S)
        };
        let mut told: Vec<usize> = (0..)
            .zip(&all)
            .filter(|(_, p)| is_told(p))
            .map(|(n, _)| n)
            .collect();
        let more = told.len().saturating_sub(MAX_TOLD);
        told.truncate(MAX_TOLD);
        Self { all, told, more }
    }

    /// The places that are told.
    pub(in crate::detect) fn told(&self) -> impl Iterator<Item = &Place<'a>> {
        self.told.iter().filter_map(|n| self.all.get(*n))
    }

    /// The place of a user frame.
    pub(in crate::detect) fn at(&self, user_site: &str) -> Option<&Place<'a>> {
        self.all.iter().find(|p| p.user_site == user_site)
    }
}

/// Whether a profile is a dump of goroutines.
pub(in crate::detect) fn is_dump(profile: &Profile) -> bool {
    profile.kind.as_ref() == "goroutine"
}

/// Where a group stands in its input.
pub(in crate::detect) fn locator(
    snapshot: &Snapshot,
    profile: &Profile,
    group: &StackGroup,
) -> String {
    let what = if encoding(snapshot, profile) == "pprof" {
        "sample"
    } else {
        "line"
    };
    format!("{what} {}", group.line)
}

/// A function without the folders of its package, for titles: `prometheus.(*summary).Observe`.
pub(in crate::detect) fn short(function: &str) -> &str {
    let plain = function.split_once('[').map_or(function, |(name, _)| name);
    let from = plain.rfind('/').map_or(0, |at| at + 1);
    function.get(from..).unwrap_or(function)
}
