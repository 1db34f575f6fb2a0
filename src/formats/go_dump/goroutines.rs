//! From single goroutines to groups of equal ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stacks::{Names, NodeIx, Stack, Stacks};
use super::{labels, wait};
use crate::model::profile::{StackGroup, WaitClass};

/// A lock lies at most this far behind the address of the object that owns it (`profiles.md` §6: "lock address minus
/// < 4 KB").
pub(crate) const OWNER_REACH: u64 = 4096;

/// What stands between the brackets of a header.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Without `(scan)`, minutes and the rest.
    pub(super) text: Arc<str>,
    /// Whole minutes that it has waited, as printed.
    pub(super) minutes: u64,
    /// As JSON, or empty.
    pub(super) labels: Arc<str>,
}

impl State {
    /// `chan receive (nil chan), 2 minutes, locked to thread labels:{"k": "v"}`.
    pub(super) fn parse(inner: &[u8]) -> Self {
        let text = String::from_utf8_lossy(inner);
        let (text, label_text) = text.split_once(" labels:").unwrap_or((&text, ""));
        let mut parts = text.split(", ");
        let state = parts.next().unwrap_or("");
        let state = state.replace(" (scan)", "").replace(" (durable)", "");
        let minutes = parts
            .filter_map(|part| part.strip_suffix(" minutes"))
            .find_map(|n| n.parse().ok())
            .unwrap_or(0);
        Self {
            text: Arc::from(state.as_str()),
            minutes,
            labels: Arc::from(labels::to_json(label_text).unwrap_or_default().as_str()),
        }
    }
}

/// One goroutine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goroutine {
    /// As printed, or 0.
    pub(super) id: u64,
    /// How many it stands for: 1, unless the dump was aggregated.
    pub(super) count: u64,
    /// Line of its header.
    pub(super) line: u64,
    /// Index of its state.
    pub(super) state: usize,
    /// Where its stack ends.
    pub(super) end: NodeIx,
    /// The address of the lock that its innermost frames take, or 0.
    pub(super) lock: u64,
    /// Pointers (from, to) of the frame that takes the lock.
    pub(super) taker: Option<(usize, usize)>,
    /// Pointers of all frames, or, with a lock, of those outside the one that takes it.
    pub(super) pointers_from: usize,
    /// Behind the last of them.
    pub(super) pointers_to: usize,
}

/// What tells groups apart: stack and state, labels, lock, its owner, and what may be held.
type Key = (usize, usize, u64, Option<u64>, usize);

/// Equal goroutines together, the largest group first.
pub(super) fn groups(
    stacks: &Stacks<'_>,
    states: &[State],
    goroutines: &[Goroutine],
    pointers: &[u64],
) -> Vec<StackGroup> {
    let words = same_as(states, |s| s.text.as_ref());
    let label_sets = same_as(states, |s| s.labels.as_ref());
    let word_of = |g: &Goroutine| words.get(g.state).copied().unwrap_or(0);
    let (kinds, kind_of) = kinds(stacks, states, goroutines, word_of);
    let lock_of = |g: &Goroutine, kind: usize| {
        let waits = kinds
            .get(kind)
            .is_some_and(|(_, class)| *class == WaitClass::Lock);
        if waits { g.lock } else { 0 }
    };
    let mut locks: Vec<u64> = goroutines
        .iter()
        .zip(&kind_of)
        .map(|(g, kind)| lock_of(g, *kind))
        .filter(|lock| *lock != 0)
        .collect();
    locks.sort_unstable();
    locks.dedup();
    let range = |from: usize, to: usize| pointers.get(from..to).unwrap_or_default();
    let mut sets = Owners::of(&locks);
    let mut index: BTreeMap<Key, usize> = BTreeMap::new();
    let mut groups: Vec<StackGroup> = Vec::new();
    for (goroutine, kind) in goroutines.iter().zip(&kind_of) {
        let (Some(state), Some((stack, class))) = (states.get(goroutine.state), kinds.get(*kind))
        else {
            continue;
        };
        let lock = lock_of(goroutine, *kind);
        let taken_by = goroutine.taker.filter(|_| lock != 0);
        let owner = taken_by.and_then(|(from, to)| owner_of(lock, range(from, to)));
        // A goroutine with lock frames that waits for something else may hold what any of its frames shows.
        let from = match goroutine.taker {
            Some((from, _)) if lock == 0 => from,
            _ => goroutine.pointers_from,
        };
        let held = sets.index_of(range(from, goroutine.pointers_to));
        let label_set = label_sets.get(goroutine.state).copied().unwrap_or(0);
        let key = (*kind, label_set, lock, owner, held);
        let wait_s = Some(state.minutes as f64 * 60.0).filter(|s| *s > 0.0);
        if let Some(group) = index.get(&key).and_then(|at| groups.get_mut(*at)) {
            group.value += goroutine.count as f64;
            group.wait_s = longer(group.wait_s, wait_s);
            continue;
        }
        groups.push(StackGroup {
            line: goroutine.line,
            value: goroutine.count as f64,
            class: *class,
            state: Arc::clone(&state.text),
            wait_s,
            frames: stack.frames.clone(),
            lock: (lock != 0).then_some(lock),
            lock_owner: owner,
            pointers: sets.set(held).to_vec(),
            created_by: Arc::clone(&stack.created_by),
            labels: Arc::clone(&state.labels),
            first_id: (goroutine.id != 0).then_some(goroutine.id),
        });
        index.insert(key, groups.len() - 1);
    }
    groups.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.line.cmp(&b.line)));
    groups
}

/// For each state the first one with the same text of some kind.
fn same_as<'s>(states: &'s [State], text: impl Fn(&'s State) -> &'s str) -> Vec<usize> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let of = |(n, state)| *first.entry(text(state)).or_insert(n);
    states.iter().enumerate().map(of).collect()
}

/// Every stack with its wait, once for each state that it stands in; and which of them each goroutine is.
fn kinds(
    stacks: &Stacks<'_>,
    states: &[State],
    goroutines: &[Goroutine],
    word_of: impl Fn(&Goroutine) -> usize,
) -> (Vec<(Stack, WaitClass)>, Vec<usize>) {
    let mut names = Names::default();
    let mut known: BTreeMap<(NodeIx, usize), usize> = BTreeMap::new();
    let mut kinds: Vec<(Stack, WaitClass)> = Vec::new();
    let kind_of = goroutines
        .iter()
        .map(|g| {
            let next = kinds.len();
            let kind = *known.entry((g.end, word_of(g))).or_insert(next);
            if kind == next {
                let stack = stacks.stack(g.end, &mut names);
                let state = states.get(g.state).map_or("", |s| s.text.as_ref());
                let class = wait::class_of(&stack.frames, state);
                kinds.push((stack, class));
            }
            kind
        })
        .collect();
    (kinds, kind_of)
}

/// The object that a lock lies in: the nearest pointer at or before it among the arguments of the frame that takes it.
fn owner_of(lock: u64, arguments: &[u64]) -> Option<u64> {
    let before = arguments
        .iter()
        .copied()
        .filter(|p| *p <= lock && lock - p < OWNER_REACH);
    before.max()
}

/// Sets of pointers that may be owners of a lock that somebody waits for. All other pointers tell nothing, and would
/// make each goroutine a group of its own.
struct Owners<'l> {
    locks: &'l [u64],
    index: BTreeMap<Vec<u64>, usize>,
    sets: Vec<Vec<u64>>,
    scratch: Vec<u64>,
}

impl<'l> Owners<'l> {
    /// Of these locks, in order of their addresses.
    fn of(locks: &'l [u64]) -> Self {
        Self {
            locks,
            index: BTreeMap::from([(Vec::new(), 0)]),
            sets: vec![Vec::new()],
            scratch: Vec::new(),
        }
    }

    fn index_of(&mut self, pointers: &[u64]) -> usize {
        let locks = self.locks;
        let (Some(lowest), Some(highest)) = (locks.first(), locks.last()) else {
            return 0;
        };
        let may_own = |p: &u64| {
            if *p > *highest || p.saturating_add(OWNER_REACH) <= *lowest {
                return false;
            }
            let next = locks.partition_point(|lock| lock < p);
            locks.get(next).is_some_and(|lock| lock - p < OWNER_REACH)
        };
        self.scratch.clear();
        self.scratch
            .extend(pointers.iter().copied().filter(may_own));
        self.scratch.sort_unstable();
        self.scratch.dedup();
        if let Some(known) = self.index.get(self.scratch.as_slice()) {
            return *known;
        }
        let next = self.sets.len();
        self.index.insert(self.scratch.clone(), next);
        self.sets.push(self.scratch.clone());
        next
    }

    fn set(&self, index: usize) -> &[u64] {
        self.sets.get(index).map_or(&[], Vec::as_slice)
    }
}

fn longer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
