//! The pull: which profiles there are, then each of them once, goroutines several times, and what measures for a while.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::base::reporter::{Reporter, Warning};
use crate::base::text::{count, grouped, join_and};
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::pprof::answer::{self, Answer, Expected};
use crate::sources::pprof::index::{self, Listed};
use crate::sources::pprof::{CUMULATIVE, Checked, TAKEN_LATER_NANOS, USUAL_PROFILES};
use crate::sources::queue::Queue;
use crate::sources::{Outcome, Progress, Pull, Reply, Request, Step, Ticket};

/// Profiles of one program at most: a program may make them by itself.
const MOST_PROFILES: usize = 40;

/// What an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// Which profiles there are.
    Index,
    /// A profile of the moment.
    Snapshot(String),
    /// A dump of goroutines.
    Dump { round: u32, form: usize },
    /// The CPU.
    Cpu,
    /// A difference over some seconds.
    Delta(String),
}

/// One pull.
#[derive(Debug)]
pub(super) struct PprofPull {
    checked: Checked,
    window: TimeRange,
    queue: Queue<Purpose>,
    has_begun: bool,
    has_measured: bool,
    /// Names that are taken, without `goroutine`.
    names: Vec<String>,
    has_goroutines: bool,
    said: Said,
}

/// What must be said at the end.
#[derive(Debug, Default)]
struct Said {
    log: Reporter,
    /// What could not be had, by why; what nobody asked for by name comes last.
    missing: BTreeMap<(bool, String), BTreeSet<String>>,
    /// Dumps that stopped the program.
    stops: u32,
    is_time_told: bool,
    /// Whether anything but the index was had.
    has_any: bool,
}

impl PprofPull {
    pub(super) fn new(checked: Checked, window: TimeRange) -> Self {
        Self {
            checked,
            window,
            queue: Queue::default(),
            has_begun: false,
            has_measured: false,
            names: Vec::new(),
            has_goroutines: false,
            said: Said::default(),
        }
    }

    fn take_index(&mut self, outcome: &Outcome<'_>) {
        let page = match outcome {
            Outcome::Answered(reply) if reply.is_good() => index::read(&reply.body),
            Outcome::Answered(reply) if !matches!(reply.status, 401 | 403) => None,
            // Nobody else will be told anything either: one error says it better than ten.
            _ => {
                if let Answer::Refused { text, .. } = answer::read(outcome, Expected::Groups) {
                    self.said.log.lost("refused", text, None);
                }
                return;
            }
        };
        let found = page.unwrap_or_else(|| {
            let usual = |name: &&str| Listed {
                name: (*name).to_owned(),
                count: None,
            };
            USUAL_PROFILES.iter().map(usual).collect()
        });
        let mut names: Vec<String> = match &self.checked.profiles {
            Some(names) => names.clone(),
            None => found.into_iter().map(|l| l.name).collect(),
        };
        let mut known = BTreeSet::new();
        names.retain(|name| known.insert(name.clone()));
        if names.len() > MOST_PROFILES {
            let text = format!(
                "{} profiles were left out, since {MOST_PROFILES} are taken of a program: {}, …; name those that matter in `profiles`",
                names.len() - MOST_PROFILES,
                names.get(MOST_PROFILES).map_or("", String::as_str),
            );
            self.said.log.lost("limit_profiles", text, None);
            names.truncate(MOST_PROFILES);
        }
        self.has_goroutines = names.iter().any(|name| name == "goroutine");
        names.retain(|name| name != "goroutine");
        self.names = names;
        self.ask_snapshots();
    }

    /// Goroutines first: they are what changes most quickly.
    fn ask_snapshots(&mut self) {
        if self.has_goroutines {
            if !self.checked.stop_the_world {
                self.tell_no_consent();
            }
            self.ask_dump(0, 0);
        }
        for name in self.names.clone() {
            let query = if name == "heap" && self.checked.gc {
                "gc=1"
            } else {
                ""
            };
            let request = self.checked.request(&name, query);
            self.queue.ask(Purpose::Snapshot(name), request);
        }
        if !self.has_goroutines || self.checked.forms.is_empty() || self.checked.dumps == 0 {
            self.measure();
        }
    }

    /// What takes as long as it measures, between the first dump and the second.
    fn measure(&mut self) {
        if std::mem::replace(&mut self.has_measured, true) {
            return;
        }
        if self.checked.cpu_s > 0 {
            let mut request = self.checked.measure("profile", self.checked.cpu_s);
            // A second one is refused while the first still runs.
            request.is_repeatable = false;
            self.queue.ask(Purpose::Cpu, request);
        }
        if self.checked.delta_s > 0 {
            for name in self.names.clone() {
                if CUMULATIVE.contains(&name.as_str()) {
                    let request = self.checked.measure(&name, self.checked.delta_s);
                    self.queue.ask(Purpose::Delta(name), request);
                }
            }
        }
    }

    fn ask_dump(&mut self, round: u32, form: usize) {
        let Some(debug) = self.checked.forms.get(form).copied() else {
            if round == 0 {
                self.measure();
            }
            if !self.checked.forms.is_empty() && round + 1 < self.checked.dumps {
                self.ask_dump(round + 1, 0);
            }
            return;
        };
        if round >= self.checked.dumps {
            return;
        }
        let query = match debug {
            0 => String::new(),
            debug => format!("debug={debug}"),
        };
        let mut request: Request = self.checked.request("goroutine", &query);
        request.again = round;
        request.is_repeatable = debug != 2;
        request.delay = if round > 0 && form == 0 {
            self.checked.interval
        } else {
            Duration::ZERO
        };
        self.queue.ask(Purpose::Dump { round, form }, request);
    }

    fn tell_no_consent(&mut self) {
        let text = "goroutine dumps with states, waiting times and lock addresses (debug=2) were not taken: they stop the whole program while they are written; `stop_the_world = true` in this source's settings is the yes to that";
        if self.checked.is_refused_dump {
            self.said.log.lost("no_consent", text, None);
        } else {
            self.said.log.note("no_consent", text, None);
        }
    }

    fn expected(&self, purpose: &Purpose) -> Expected {
        match purpose {
            Purpose::Dump { form, .. } => match self.checked.forms.get(*form) {
                Some(2) => Expected::Goroutines,
                Some(1) => Expected::Groups,
                _ => Expected::Protobuf,
            },
            _ => Expected::Protobuf,
        }
    }

    fn take(&mut self, purpose: &Purpose, expected: Expected, answer: Answer) {
        let (name, is_asked) = match purpose {
            Purpose::Index => return,
            Purpose::Snapshot(name) => (name.clone(), self.checked.profiles.is_some()),
            Purpose::Dump { form, .. } => {
                let debug = self.checked.forms.get(*form).copied().unwrap_or(0);
                (format!("goroutine (debug={debug})"), true)
            }
            Purpose::Cpu => ("the CPU profile".to_owned(), self.checked.is_cpu_asked),
            Purpose::Delta(name) => (format!("the difference of {name}"), true),
        };
        let why = match answer {
            Answer::Good { is_cut_by_go } => {
                self.said.has_any = true;
                if expected == Expected::Goroutines {
                    self.said.stops += 1;
                }
                if is_cut_by_go {
                    let text = "Go ends a dump at 64 MiB, in the middle of a goroutine: the rest is missing, and shares are of those that were written; the protobuf form has all";
                    self.said.log.lost("dump_cut", text, None);
                }
                return;
            }
            Answer::Unknown => ("the program has no such profile".to_owned(), is_asked),
            Answer::Absent(text) => (
                format!(
                    "{text}: there is no pprof under `{}`; check `url` and `path`",
                    self.checked.path
                ),
                true,
            ),
            Answer::Else(text) => (format!("{text}; check `url` and `path`"), true),
            Answer::Refused { status: 0, text } => (text, true),
            Answer::Refused { text, .. } => {
                let advice = answer::advice(&text);
                (format!("{text}; {advice}"), is_asked)
            }
        };
        let (why, is_asked) = why;
        self.said
            .missing
            .entry((!is_asked, why))
            .or_default()
            .insert(name);
    }

    /// What is taken now tells nothing of a window that is over.
    fn look_at_the_clock(&mut self, reply: &Reply) {
        if self.said.is_time_told {
            return;
        }
        let Some(now) = reply.header("date").and_then(Timestamp::parse_http_date) else {
            return;
        };
        self.said.is_time_told = true;
        let last = self.window.end.plus_nanos(TAKEN_LATER_NANOS);
        // `Date` has whole seconds.
        let is_over = now > last;
        let is_to_come = now.plus_nanos(1_000_000_000) < self.window.start;
        if is_over || is_to_come {
            let text = format!(
                "profiles are of the moment at which they are taken ({now} by its clock), which lies outside the window {} to {}: findings leave them out; ask for a window up to now",
                self.window.start, self.window.end
            );
            self.said.log.note("outside_window", text, None);
        }
    }
}

impl Pull for PprofPull {
    fn next(&mut self) -> Step {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.queue.ask(Purpose::Index, self.checked.index());
        }
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        if let Outcome::Answered(reply) = outcome {
            self.look_at_the_clock(reply);
        }
        if purpose == Purpose::Index {
            self.take_index(outcome);
            return;
        }
        let expected = self.expected(&purpose);
        let answer = answer::read(outcome, expected);
        let is_good = matches!(answer, Answer::Good { .. });
        self.take(&purpose, expected, answer);
        if let Purpose::Dump { round, form } = purpose {
            // A form that is refused once is not asked for again, nor is anybody kept waiting for it.
            if is_good {
                self.ask_dump(round, form + 1);
            } else {
                self.checked.forms.remove(form);
                self.ask_dump(round, form);
            }
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let said = std::mem::take(&mut self.said);
        let mut log = said.log;
        for ((is_extra, why), names) in said.missing {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let text = format!("{} could not be had: {why}", join_and(&names));
            if !is_extra || !said.has_any {
                log.lost("profile_missing", text, None);
            } else {
                log.note("profile_missing", text, None);
            }
        }
        if said.stops > 0 {
            let text = format!(
                "{} of every goroutine stopped the program while {} written (`stop_the_world`): gaps and slow answers of that moment may be ours",
                count(u64::from(said.stops), "dump", "dumps"),
                if said.stops == 1 {
                    "it was"
                } else {
                    "they were"
                },
            );
            log.note("world_stopped", text, None);
        }
        log.into_warnings()
    }
}

/// `4,309 goroutines`, as the index page counts them.
pub(super) fn goroutines(found: &[Listed]) -> Option<(u64, String)> {
    let n = found.iter().find(|l| l.name == "goroutine")?.count?;
    Some((n, format!("{} goroutines", grouped(n))))
}
