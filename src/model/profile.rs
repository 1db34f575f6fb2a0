//! Profiles and dumps: stacks with values, states and locks.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::input::InputIx;

/// One profile or dump of one process.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Where it came from.
    pub input: InputIx,
    /// When it was taken; `None` when nothing says.
    pub t: Option<Timestamp>,
    /// How `t` is known: `recorded` (in the file or its request), `file_name`, or empty.
    pub t_source: &'static str,
    /// What it counts: `goroutine`, `heap`, `allocs`, `block`, `mutex`, `cpu`, `threadcreate`, or its own name.
    pub kind: Arc<str>,
    /// The unit of the values: `count`, `bytes`, `nanoseconds`.
    pub unit: Arc<str>,
    /// The sum of all values (goroutines of a dump).
    pub total: f64,
    /// The process: instance, host or file stem, or empty.
    pub process: Arc<str>,
    /// Whether the states of single goroutines are known (debug=2).
    pub has_states: bool,
    /// Its stacks, largest first.
    pub groups: Vec<StackGroup>,
}

/// Stacks that are alike.
#[derive(Debug, Clone)]
pub struct StackGroup {
    /// Where it stands in the input (`line 12` of the first one).
    pub line: u64,
    /// How many, or how much.
    pub value: f64,
    /// What they wait for.
    pub class: WaitClass,
    /// The state as printed (`semacquire`, `chan receive`), or empty.
    pub state: Arc<str>,
    /// Longest wait that was printed, in seconds (a lower bound).
    pub wait_s: Option<f64>,
    /// Leaf first.
    pub frames: Frames,
    /// The lock that is waited for, when its address was printed.
    pub lock: Option<u64>,
    /// The object that this lock lies in, as an argument of the frame that takes it shows.
    pub lock_owner: Option<u64>,
    /// Owners of locks (or locks) that somebody waits for, among the non-stale pointer arguments of its frames: what it
    /// may hold. Of a group that waits for a lock only the frames outside the one that takes it count.
    pub pointers: Vec<u64>,
    /// The function that started the goroutine, or empty.
    pub created_by: Arc<str>,
    /// Profiler labels as JSON, or empty.
    pub labels: Arc<str>,
    /// The id of the first goroutine of the group, when printed.
    pub first_id: Option<u64>,
}

impl StackGroup {
    /// Function names, leaf first, joined by `;`.
    pub fn folded(&self) -> String {
        self.frames
            .iter()
            .map(|f| f.function.as_ref())
            .collect::<Vec<_>>()
            .join(";")
    }
}

/// The frames of one stack, leaf first. Many stacks of a profile share one table of frames, so that a frame of a stack takes
/// four bytes.
#[derive(Debug, Clone)]
pub struct Frames {
    table: Arc<FrameTable>,
    from: u32,
    len: u32,
}

/// Frames, and stacks as places in them.
#[derive(Debug, Default)]
pub struct FrameTable {
    /// Each frame once.
    frames: Vec<Frame>,
    /// The stacks, one after the other; empty where there is one, which is `frames` as they stand.
    ids: Vec<u32>,
}

impl FrameTable {
    /// Of `frames` and of stacks that are written one after the other as places in them. A place outside holds no frame.
    pub const fn new(frames: Vec<Frame>, ids: Vec<u32>) -> Self {
        Self { frames, ids }
    }
}

/// Says that a stack is all the frames of its table, as they stand.
const ALL: u32 = u32::MAX;

impl Frames {
    /// The stack at `from` of a table, `len` frames deep; what lies outside of the table is left out.
    pub fn of(table: &Arc<FrameTable>, from: u32, len: u32) -> Self {
        let end = table.ids.len().min(ALL as usize - 1) as u32;
        let from = from.min(end);
        Self {
            table: Arc::clone(table),
            from,
            len: len.min(end - from),
        }
    }

    /// For who looks at any stack.
    pub fn view(&self) -> StackView<'_> {
        let (from, len) = (self.from as usize, self.len as usize);
        let part = || self.table.ids.get(from..from + len).unwrap_or_default();
        StackView {
            frames: &self.table.frames,
            ids: (self.len != ALL).then(part),
        }
    }

    /// The leaf first.
    pub fn iter(&self) -> StackIter<'_> {
        self.view().iter()
    }

    /// How deep it is.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether it has no frames.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The leaf.
    pub fn first(&self) -> Option<&Frame> {
        self.iter().next()
    }

    /// Memory that it takes by itself, in bytes; a shared table counts for none of its stacks.
    pub fn bytes(&self) -> usize {
        if self.len == ALL {
            size_of_val(self.table.frames.as_slice())
        } else {
            self.len as usize * 4
        }
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl From<Vec<Frame>> for Frames {
    fn from(frames: Vec<Frame>) -> Self {
        Self {
            table: Arc::new(FrameTable::new(frames, Vec::new())),
            from: 0,
            len: ALL,
        }
    }
}

impl FromIterator<Frame> for Frames {
    fn from_iter<T: IntoIterator<Item = Frame>>(frames: T) -> Self {
        Self::from(frames.into_iter().collect::<Vec<_>>())
    }
}

impl<'a> IntoIterator for &'a Frames {
    type Item = &'a Frame;
    type IntoIter = StackIter<'a>;

    fn into_iter(self) -> StackIter<'a> {
        self.iter()
    }
}

#[cfg(test)]
impl std::ops::Index<usize> for Frames {
    type Output = Frame;

    fn index(&self, at: usize) -> &Frame {
        self.iter().nth(at).unwrap()
    }
}

/// A stack to look at, wherever it is kept; leaf first.
#[derive(Debug, Clone, Copy)]
pub struct StackView<'a> {
    frames: &'a [Frame],
    ids: Option<&'a [u32]>,
}

/// Its frames one by one.
#[derive(Debug, Clone)]
pub enum StackIter<'a> {
    /// As they stand.
    Own(std::slice::Iter<'a, Frame>),
    /// By their places in a table.
    Shared(&'a [Frame], std::slice::Iter<'a, u32>),
}

impl<'a> StackView<'a> {
    /// The leaf first.
    pub fn iter(self) -> StackIter<'a> {
        match self.ids {
            Some(ids) => StackIter::Shared(self.frames, ids.iter()),
            None => StackIter::Own(self.frames.iter()),
        }
    }

    /// How deep it is.
    pub fn len(self) -> usize {
        match self.ids {
            Some(ids) => ids.len(),
            None => self.frames.len(),
        }
    }

    /// Whether it has no frames.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The leaf.
    pub fn first(self) -> Option<&'a Frame> {
        self.iter().next()
    }
}

impl<'a> Iterator for StackIter<'a> {
    type Item = &'a Frame;

    fn next(&mut self) -> Option<&'a Frame> {
        match self {
            Self::Own(frames) => frames.next(),
            Self::Shared(frames, ids) => ids.find_map(|id| frames.get(*id as usize)),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Own(frames) => frames.size_hint(),
            Self::Shared(_, ids) => (0, Some(ids.len())),
        }
    }
}

impl<'a> DoubleEndedIterator for StackIter<'a> {
    fn next_back(&mut self) -> Option<&'a Frame> {
        match self {
            Self::Own(frames) => frames.next_back(),
            Self::Shared(frames, ids) => ids.by_ref().rev().find_map(|id| frames.get(*id as usize)),
        }
    }
}

impl<'a> From<&'a Frames> for StackView<'a> {
    fn from(frames: &'a Frames) -> Self {
        frames.view()
    }
}

impl<'a> From<&'a Vec<Frame>> for StackView<'a> {
    fn from(frames: &'a Vec<Frame>) -> Self {
        Self { frames, ids: None }
    }
}

impl<'a> From<&'a [Frame]> for StackView<'a> {
    fn from(frames: &'a [Frame]) -> Self {
        Self { frames, ids: None }
    }
}

/// A table, and a stack as places in it.
impl<'a> From<(&'a [Frame], &'a [u32])> for StackView<'a> {
    fn from((frames, ids): (&'a [Frame], &'a [u32])) -> Self {
        Self {
            frames,
            ids: Some(ids),
        }
    }
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// Function with its package path.
    pub function: Arc<str>,
    /// Source file, or empty.
    pub file: Arc<str>,
    /// Line, or 0.
    pub line: u32,
}

/// What a goroutine or thread waits for (`profiles.md` §6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum WaitClass {
    /// A mutex or read-write mutex.
    Lock,
    /// Handing a mutex over: part of the same convoy, though runnable.
    LockHandoff,
    /// A wait group.
    WaitGroup,
    /// A condition variable.
    Condition,
    /// A channel operation.
    Channel,
    /// A select.
    Select,
    /// A network or file event.
    Io,
    /// A system call.
    Syscall,
    /// A timer.
    Sleep,
    /// A bounded pool of resources (database connections).
    Pool,
    /// Nothing: it runs or could run.
    Running,
    /// Not known.
    #[default]
    Other,
}

impl WaitClass {
    /// Lower-case word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::LockHandoff => "lock hand-off",
            Self::WaitGroup => "wait group",
            Self::Condition => "condition",
            Self::Channel => "channel",
            Self::Select => "select",
            Self::Io => "io",
            Self::Syscall => "syscall",
            Self::Sleep => "sleep",
            Self::Pool => "pool",
            Self::Running => "running",
            Self::Other => "other",
        }
    }
}
