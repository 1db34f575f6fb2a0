//! The stacks of dumps, put together by what they have in common, over all dumps that can be compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::formats::go_dump::wait;
use crate::model::profile::{Profile, StackGroup, WaitClass};
use crate::store::Snapshot;
use crate::store::stacks::course;

/// What groups have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Grouping {
    /// The whole stack: function names, what it waits for, and who started it.
    #[default]
    Stack,
    /// The state as printed, or what it waits for.
    State,
    /// The lock that it waits for.
    Lock,
    /// The first frame of the program's own code, and what it waits for.
    User,
    /// The function that started it.
    Creator,
}

impl Grouping {
    /// Every one.
    pub const ALL: [Self; 5] = [
        Self::Stack,
        Self::State,
        Self::Lock,
        Self::User,
        Self::Creator,
    ];
}

/// What all groups of one row share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Stack(WaitClass, Vec<&'a str>, &'a str),
    Word(&'a str),
    Place(&'a str, WaitClass),
    Lock(Option<u64>),
}

/// Groups that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// How many (or how much) in each dump of [`Groups::dumps`].
    pub counts: Vec<f64>,
    /// What most of them wait for.
    pub class: WaitClass,
    /// The state of most of them as printed, or empty.
    pub state: Arc<str>,
    /// Whether some of them are in another state.
    pub is_mixed: bool,
    /// The longest wait that was printed in the dump that is open, in seconds (a lower bound).
    pub wait_s: Option<f64>,
    /// The leaf of the largest group.
    pub leaf: Arc<str>,
    /// Where it waits or works: the first frame outside the runtime, its lock library and plumbing.
    pub site: Arc<str>,
    /// The first frame of the program's own code.
    pub user: Arc<str>,
    /// Who started the largest group, or empty.
    pub created_by: Arc<str>,
    /// Lock addresses that were printed in the dump that is open, the most wanted first.
    pub locks: Vec<(u64, f64)>,
    /// The lock of this row, where rows are locks.
    pub lock: Option<u64>,
    /// Its groups in the dump that is open, the largest first; empty when it has none.
    pub members: Vec<usize>,
    /// The largest of its groups: the dump and the group in it; of the dump that is open where it has one.
    pub shown: (usize, usize),
}

/// The rows of a dump, with what became of them in the others.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Groups {
    /// The profiles that are compared, in order of time.
    pub dumps: Vec<usize>,
    /// Their totals.
    pub totals: Vec<f64>,
    /// Which of them is open.
    pub at: usize,
    /// Which it is compared with: the one that was picked, or else the one before it.
    pub other: Option<usize>,
    /// Whether that one was picked.
    pub is_picked: bool,
    /// The rows, the largest first.
    pub rows: Vec<Row>,
    /// Whether any lock address was printed in the dump that is open.
    pub has_locks: bool,
    /// The module of the program, when the dumps tell it.
    pub own: Option<String>,
}

impl Groups {
    /// How many are in the dump that is open.
    pub fn count(&self, row: &Row) -> f64 {
        row.counts.get(self.at).copied().unwrap_or(0.0)
    }

    /// Their share of that dump.
    pub fn share(&self, row: &Row) -> f64 {
        let total = self.totals.get(self.at).copied().unwrap_or(0.0);
        if total > 0.0 {
            self.count(row) / total
        } else {
            0.0
        }
    }

    /// What the picked dump has more than the open one, or the open one more than the one before it.
    pub fn change(&self, row: &Row) -> Option<f64> {
        let at = |n: usize| row.counts.get(n).copied().unwrap_or(0.0);
        let gain = at(self.other?) - at(self.at);
        Some(if self.is_picked { gain } else { -gain })
    }

    /// The row that holds this group of the open dump.
    pub fn row_of(&self, group: usize) -> Option<usize> {
        self.rows.iter().position(|r| r.members.contains(&group))
    }
}

fn key<'a>(group: &'a StackGroup, grouping: Grouping, own: Option<&str>) -> Key<'a> {
    match grouping {
        Grouping::Stack => Key::Stack(
            group.class,
            group.frames.iter().map(|f| f.function.as_ref()).collect(),
            group.created_by.as_ref(),
        ),
        Grouping::State => Key::Word(if group.state.is_empty() {
            group.class.word()
        } else {
            group.state.as_ref()
        }),
        Grouping::Lock => Key::Lock(group.lock),
        Grouping::User => {
            let user = wait::user_frame(&group.frames, own);
            Key::Place(user.map_or("", |f| f.function.as_ref()), group.class)
        }
        Grouping::Creator => Key::Word(group.created_by.as_ref()),
    }
}

/// One row while it is made.
struct Draft {
    counts: Vec<f64>,
    members: Vec<usize>,
    /// The largest group: whether it is of the open dump, its value, dump and place.
    best: Option<(bool, f64, usize, usize)>,
}

/// Puts the stacks of a profile together. `other` is the one that it is compared with; rows that only the other has are kept,
/// since what is gone matters as much as what came.
pub fn groups(
    snapshot: &Snapshot,
    open: usize,
    other: Option<usize>,
    grouping: Grouping,
    is_cancelled: &dyn Fn() -> bool,
) -> Groups {
    let mut dumps = course(snapshot, open);
    if let Some(other) = other.filter(|o| !dumps.contains(o) && *o < snapshot.profiles.len()) {
        dumps.push(other);
        dumps.sort_by_key(|ix| snapshot.profiles.get(*ix).map(|p| (p.t, p.input, *ix)));
    }
    let at = dumps.iter().position(|d| *d == open).unwrap_or(0);
    let is_picked = other.is_some();
    let other = match other {
        Some(picked) => dumps.iter().position(|d| *d == picked),
        None => at.checked_sub(1),
    };
    let profiles: Vec<&Profile> = dumps
        .iter()
        .filter_map(|d| snapshot.profiles.get(*d))
        .collect();
    let own = profiles.iter().find_map(|p| wait::own_module(p));
    let mut drafts: BTreeMap<Key<'_>, Draft> = BTreeMap::new();
    for (n, profile) in profiles.iter().enumerate() {
        for (ix, group) in profile.groups.iter().enumerate() {
            if ix % 1024 == 0 && is_cancelled() {
                return Groups::default();
            }
            let draft = drafts
                .entry(key(group, grouping, own.as_deref()))
                .or_insert_with(|| Draft {
                    counts: vec![0.0; profiles.len()],
                    members: Vec::new(),
                    best: None,
                });
            if let Some(count) = draft.counts.get_mut(n) {
                *count += group.value;
            }
            if n == at {
                draft.members.push(ix);
            }
            let is_better = draft.best.is_none_or(|(is_open, value, ..)| {
                (n == at, group.value) > (is_open, value) && (n == at || !is_open)
            });
            if is_better {
                draft.best = Some((n == at, group.value, n, ix));
            }
        }
    }
    let has = |counts: &[f64], n: usize| counts.get(n).is_some_and(|c| *c != 0.0);
    let mut rows: Vec<Row> = drafts
        .into_values()
        .filter(|d| has(&d.counts, at) || other.is_some_and(|o| has(&d.counts, o)))
        .filter_map(|draft| row(&profiles, &dumps, at, draft, own.as_deref()))
        .collect();
    let count = |r: &Row, n: usize| r.counts.get(n).copied().unwrap_or(0.0);
    rows.sort_by(|a, b| {
        count(b, at)
            .total_cmp(&count(a, at))
            .then_with(|| {
                let o = other.unwrap_or(at);
                count(b, o).total_cmp(&count(a, o))
            })
            .then_with(|| a.shown.cmp(&b.shown))
    });
    if grouping == Grouping::Lock {
        rows.sort_by_key(|r| r.lock.is_none());
    }
    let has_locks = profiles
        .get(at)
        .is_some_and(|p| p.groups.iter().any(|g| g.lock.is_some()));
    Groups {
        totals: profiles.iter().map(|p| p.total).collect(),
        dumps,
        at,
        other,
        is_picked,
        rows,
        has_locks,
        own,
    }
}

fn row(
    profiles: &[&Profile],
    dumps: &[usize],
    at: usize,
    draft: Draft,
    own: Option<&str>,
) -> Option<Row> {
    let (_, _, n, ix) = draft.best?;
    let best = profiles.get(n)?.groups.get(ix)?;
    let open = profiles.get(at)?;
    let members = draft.members.iter().filter_map(|m| open.groups.get(*m));
    let mut locks: BTreeMap<u64, f64> = BTreeMap::new();
    let mut wait_s: Option<f64> = None;
    let mut is_mixed = false;
    for group in members {
        is_mixed |= (group.class, &group.state) != (best.class, &best.state);
        if let Some(lock) = group.lock {
            *locks.entry(lock).or_default() += group.value;
        }
        wait_s = match (wait_s, group.wait_s) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
    }
    let mut locks: Vec<(u64, f64)> = locks.into_iter().collect();
    locks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let none: Arc<str> = Arc::from("");
    let name = |f: Option<&crate::model::profile::Frame>| {
        f.map_or_else(|| Arc::clone(&none), |f| Arc::clone(&f.function))
    };
    Some(Row {
        class: best.class,
        state: Arc::clone(&best.state),
        is_mixed,
        wait_s,
        leaf: name(best.frames.first()),
        site: name(wait::library_frame(&best.frames)),
        user: name(wait::user_frame(&best.frames, own)),
        created_by: Arc::clone(&best.created_by),
        locks,
        lock: best.lock,
        members: draft.members,
        shown: (dumps.get(n).copied()?, ix),
        counts: draft.counts,
    })
}
