//! Who probably holds a lock (`profiles.md` §6). The runtime does not say it; frames do, most of the time.

use std::collections::{BTreeMap, BTreeSet};

use super::place::{Place, Places};
use crate::formats::go_dump::goroutines::OWNER_REACH;
use crate::formats::go_dump::wait;
use crate::model::profile::{Profile, StackGroup, WaitClass};

/// How many locks of a place are tried, the most wanted first.
const MAX_TRIED: usize = 8;

/// How many locks of a place are looked at by [`of_locks`].
const MAX_SHOWN: usize = 64;

/// How many holders that wait themselves are followed.
const MAX_CHAIN: usize = 64;

/// How the holder was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// One of its frames works on the very object that the waiters wait for.
    Object,
    /// One of its frames is a method of the type that takes the lock.
    Type,
    /// One of its frames has a pointer to less than 4 KB before the lock.
    Nearness,
}

/// The likely holder of a lock.
#[derive(Debug, Clone)]
pub(super) struct Holder<'a> {
    /// Its group (one goroutine, nearly always).
    pub(super) group: &'a StackGroup,
    /// How it was found.
    pub(super) by: By,
    /// The lock, then those passed on the way: the holder of the first one waits for the next, and so on.
    pub(super) chain: Vec<u64>,
    /// Whether the chain came back to a lock that it had passed.
    pub(super) is_cycle: bool,
}

/// Who probably holds a lock of a dump, for those who show the dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LikelyHolder {
    /// The lock.
    pub lock: u64,
    /// Its holder, as an index into the groups of the dump.
    pub group: usize,
    /// How it was found.
    pub by: By,
    /// The lock, then those passed on the way: the holder of the first one waits for the next, and so on.
    pub chain: Vec<u64>,
    /// Whether the chain came back to a lock that it had passed.
    pub is_cycle: bool,
}

/// The likely holders of the locks that goroutines of a dump wait for, by lock.
///
/// Where the frames of a holder show the lock, each lock has its own; else the one that [`LockContention`](super::LockContention) tells for the most wanted lock of the place.
pub fn of_locks(profile: &Profile) -> Vec<LikelyHolder> {
    let places = Places::of(profile);
    let mut found: BTreeMap<u64, LikelyHolder> = BTreeMap::new();
    for place in &places.all {
        let locks = place.most_wanted();
        let shown = locks
            .iter()
            .take(MAX_SHOWN)
            .filter_map(|(lock, _)| Some(follow(profile, *lock, by_object(profile, *lock)?)));
        for holder in shown.chain(likely(profile, place)) {
            let lock = holder.chain.first().copied();
            let group = profile
                .groups
                .iter()
                .position(|g| std::ptr::eq(g, holder.group));
            if let (Some(lock), Some(group)) = (lock, group) {
                found.entry(lock).or_insert(LikelyHolder {
                    lock,
                    group,
                    by: holder.by,
                    chain: holder.chain,
                    is_cycle: holder.is_cycle,
                });
            }
        }
    }
    found.into_values().collect()
}

/// Looks for the holder of one of the locks of a place, the most wanted first, and follows the chain of locks to its
/// end.
pub(super) fn likely<'a>(profile: &'a Profile, place: &Place<'a>) -> Option<Holder<'a>> {
    let locks = place.most_wanted();
    let tried = locks.iter().take(MAX_TRIED);
    let by_object = tried.clone().find_map(|(lock, _)| {
        let group = by_object(profile, *lock)?;
        Some(follow(profile, *lock, group))
    });
    by_object.or_else(|| {
        // Where the waiters show which object they wait for, a holder that shows another one, or none, is a guess.
        let (lock, _) = *locks.first()?;
        let shows_owner = place
            .groups
            .iter()
            .any(|g| g.lock == Some(lock) && g.lock_owner.is_some());
        if shows_owner {
            return None;
        }
        let (group, by) = by_type(profile, place, lock)
            .map(|group| (group, By::Type))
            .or_else(|| by_nearness(profile, lock).map(|group| (group, By::Nearness)))?;
        Some(Holder {
            by,
            ..follow(profile, lock, group)
        })
    })
}

/// From a holder that waits for a lock itself to the holder of that one, and on.
fn follow<'a>(profile: &'a Profile, lock: u64, first: &'a StackGroup) -> Holder<'a> {
    let mut passed = BTreeSet::from([lock]);
    let mut holder = Holder {
        group: first,
        by: By::Object,
        chain: vec![lock],
        is_cycle: false,
    };
    while let Some(next) = holder
        .group
        .lock
        .filter(|_| holder.group.class == WaitClass::Lock)
    {
        if !passed.insert(next) {
            holder.is_cycle = true;
            break;
        }
        let Some(group) = by_object(profile, next).filter(|_| holder.chain.len() < MAX_CHAIN)
        else {
            break;
        };
        holder.chain.push(next);
        holder.group = group;
    }
    holder
}

/// Groups that can hold `lock`: they neither wait for it nor hand it over.
fn candidates(profile: &Profile, lock: u64) -> impl Iterator<Item = &StackGroup> {
    profile.groups.iter().filter(move |g| {
        let waits_for_it = g.class == WaitClass::Lock && g.lock.is_none_or(|other| other == lock);
        !waits_for_it && g.class != WaitClass::LockHandoff && !wait::is_profiler(&g.frames)
    })
}

/// Running before runnable, before any wait, before a wait for another lock (`profiles.md` §6); then the oldest.
fn rank(group: &StackGroup) -> (u8, u64, u64) {
    let by_state = match (group.class, group.state.as_ref()) {
        (WaitClass::Lock, _) => 3,
        (_, "running") => 0,
        (WaitClass::Running, _) | (_, "runnable") => 1,
        _ => 2,
    };
    (by_state, group.first_id.unwrap_or(u64::MAX), group.line)
}

/// By the object that owns the lock, as the frames of its waiters show it, or by the lock's own address. Neighbours on
/// the heap are less than 4 KB apart too, and must not be taken for it.
fn by_object(profile: &Profile, lock: u64) -> Option<&StackGroup> {
    let waiters = profile.groups.iter().filter(|g| g.lock == Some(lock));
    let owner = waiters.filter_map(|g| g.lock_owner).max();
    candidates(profile, lock)
        .filter(|g| g.pointers.iter().any(|p| *p == lock || Some(*p) == owner))
        .min_by_key(|g| rank(g))
}

/// By the type whose method takes the lock.
fn by_type<'a>(profile: &'a Profile, place: &Place<'_>, lock: u64) -> Option<&'a StackGroup> {
    let receiver = wait::receiver_of(place.site)?;
    let is_of_it = |g: &&StackGroup| {
        g.frames
            .iter()
            .any(|f| wait::receiver_of(&f.function) == Some(receiver))
    };
    candidates(profile, lock)
        .filter(is_of_it)
        .min_by_key(|g| rank(g))
}

/// By any pointer to shortly before the lock.
fn by_nearness(profile: &Profile, lock: u64) -> Option<&StackGroup> {
    let distance = |g: &StackGroup| {
        let near = g.pointers.iter().filter(|p| **p <= lock);
        near.map(|p| lock - p).filter(|d| *d < OWNER_REACH).min()
    };
    candidates(profile, lock)
        .filter_map(|g| Some((distance(g)?, g)))
        .min_by_key(|(distance, g)| (*distance, rank(g)))
        .map(|(_, g)| g)
}
