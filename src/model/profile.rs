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
    pub frames: Vec<Frame>,
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
