//! Who probably holds a lock (`profiles.md` §6). The runtime does not say it; frames do, most of the time.

use std::collections::BTreeSet;

use super::place::Place;
use crate::formats::go_dump::{debug2::OWNER_REACH, wait};
use crate::model::profile::{Profile, StackGroup, WaitClass};

/// How the holder was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// One of its frames works on the very object that the waiters wait for.
    Object,
    /// One of its frames is a method of the same type.
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
    /// Locks that were passed on the way: the holder of the first one waits for the next, and so on.
    pub(super) chain: Vec<u64>,
    /// Whether the chain came back to a lock that it had passed.
    pub(super) is_cycle: bool,
}

/// Looks for the holder of the lock that most goroutines of a place wait for, and follows the chain of locks to its
/// end.
pub(super) fn likely<'a>(profile: &'a Profile, place: &Place<'a>) -> Option<Holder<'a>> {
    let Some((first, _)) = place.most_wanted() else {
        return by_type(profile, place, None).map(|group| Holder {
            group,
            by: By::Type,
            chain: Vec::new(),
            is_cycle: false,
        });
    };
    let mut passed = BTreeSet::from([first]);
    let mut chain = vec![first];
    let (mut group, by) = by_object(profile, first)
        .map(|g| (g, By::Object))
        .or_else(|| by_type(profile, place, Some(first)).map(|g| (g, By::Type)))
        .or_else(|| by_nearness(profile, first).map(|g| (g, By::Nearness)))?;
    let mut is_cycle = false;
    while let Some(next) = group.lock.filter(|_| group.class == WaitClass::Lock) {
        if !passed.insert(next) {
            is_cycle = true;
            break;
        }
        chain.push(next);
        match by_object(profile, next) {
            Some(holder) => group = holder,
            None => break,
        }
    }
    Some(Holder {
        group,
        by,
        chain,
        is_cycle,
    })
}

/// Groups that can hold `lock`: they neither wait for it nor hand it over.
fn candidates(profile: &Profile, lock: Option<u64>) -> impl Iterator<Item = &StackGroup> {
    profile.groups.iter().filter(move |g| {
        let waits_for_it = g.class == WaitClass::Lock && (g.lock.is_none() || g.lock == lock);
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

/// By the object that owns the lock: the nearest address before it that its waiters themselves work on, or the lock's
/// own address. Neighbours on the heap are less than 4 KB apart too, and must not be taken for it.
fn by_object(profile: &Profile, lock: u64) -> Option<&StackGroup> {
    let waiters = profile.groups.iter().filter(|g| g.lock == Some(lock));
    let owner = waiters
        .flat_map(|g| &g.pointers)
        .copied()
        .filter(|p| *p < lock && lock - p < OWNER_REACH)
        .max();
    candidates(profile, Some(lock))
        .filter(|g| g.pointers.iter().any(|p| *p == lock || Some(*p) == owner))
        .min_by_key(|g| rank(g))
}

/// By the type whose method takes the lock.
fn by_type<'a>(
    profile: &'a Profile,
    place: &Place<'_>,
    lock: Option<u64>,
) -> Option<&'a StackGroup> {
    let receiver = wait::receiver_of(place.site)?;
    candidates(profile, lock)
        .filter(|g| {
            g.frames
                .iter()
                .any(|f| wait::receiver_of(&f.function) == Some(receiver))
        })
        .min_by_key(|g| rank(g))
}

/// By any pointer to shortly before the lock.
fn by_nearness(profile: &Profile, lock: u64) -> Option<&StackGroup> {
    let distance = |g: &StackGroup| {
        let near = g.pointers.iter().filter(|p| **p <= lock);
        near.map(|p| lock - p).filter(|d| *d < OWNER_REACH).min()
    };
    candidates(profile, Some(lock))
        .filter_map(|g| Some((distance(g)?, g)))
        .min_by_key(|(distance, g)| (*distance, rank(g)))
        .map(|(_, g)| g)
}
