//! Go stack dumps: `goroutine?debug=2`, panics, SIGQUIT (`profiles.md` §5), with the damage that logs do to them.
//!
//! One pass over the lines builds a tree of stacks ([`super::stacks`]) and one small record for each goroutine; the
//! groups are made of the records at the end, when the addresses of the locks are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::goroutines::{self, Goroutine, State};
use super::lines::{
    Words, bracket, call_of, creator_of, first_word, header_start, leading_number,
    looks_like_frame, place_of,
};
use super::origin;
use super::stacks::{Kind, ROOT, Role, Stacks};
use crate::base::reporter::Reporter;
use crate::base::text::{count, decode};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::Profile;

/// Pointers below it are no objects: nothing is ever mapped in the first page.
const FIRST_POINTER: u64 = 4096;

/// Go stack dump (debug=2).
pub struct GoStackDump;

impl Format for GoStackDump {
    fn id(&self) -> &'static str {
        "go-stack-dump"
    }

    fn title(&self) -> &'static str {
        "Go stack dump (debug=2)"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !head.is_text || head.json.is_some() {
            return Sniff::NOT_AT_ALL;
        }
        match head
            .lines()
            .position(|line| header_start(line.trim_end().as_bytes()).is_some())
        {
            Some(line) if line < 20 => Sniff::Yes(90),
            // A log that holds a panic somewhere is first of all a log.
            Some(_) => Sniff::Yes(60),
            None if head.text.contains("goroutine ") => {
                Sniff::refused(30, "no line in it reads `goroutine N [state]:`")
            }
            None => Sniff::NOT_AT_ALL,
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let (text, was_replaced) = decode(bytes);
        if was_replaced {
            log.note(
                "bad_encoding",
                "some bytes are not UTF-8 and were replaced",
                None,
            );
        }
        let mut dump = Dump::new();
        dump.read(text.as_bytes());
        if dump.goroutines.is_empty() {
            return Err(FormatError::new(
                "no_goroutines",
                None,
                "no goroutine in it",
                "lines that read `goroutine N [state]:`",
                "save the answer of /debug/pprof/goroutine?debug=2, or the output of a panic",
            ));
        }
        dump.report(log);
        out.profiles.push(dump.into_profile(hints));
        Ok(())
    }
}

/// Where the reader stands in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first header.
    Before,
    /// In the frames of a goroutine.
    Frames,
    /// In the frames of its ancestors, which are not its own.
    Ancestors,
    /// After the blank line that closed it.
    Between,
}

struct Dump<'a> {
    stacks: Stacks<'a>,
    states: Vec<State>,
    state_ix: BTreeMap<&'a [u8], usize>,
    last_state: (&'a [u8], usize),
    goroutines: Vec<Goroutine>,
    pointers: Vec<u64>,
    place: Place,
    /// Bytes that a log put before each line.
    prefix: &'a [u8],
    /// Opened by a line of goleak; the header that may follow is the same goroutine.
    is_announced: bool,
    lost_lines: u64,
    lost_at: u64,
    before_lines: u64,
    other_lines: u64,
    is_cut: bool,
    has_elided: bool,
}

impl<'a> Dump<'a> {
    fn new() -> Self {
        Self {
            stacks: Stacks::new(),
            states: Vec::new(),
            state_ix: BTreeMap::new(),
            last_state: (b"", usize::MAX),
            goroutines: Vec::new(),
            pointers: Vec::new(),
            place: Place::Before,
            prefix: b"",
            is_announced: false,
            lost_lines: 0,
            lost_at: 0,
            before_lines: 0,
            other_lines: 0,
            is_cut: false,
            has_elided: false,
        }
    }

    fn read(&mut self, text: &'a [u8]) {
        let mut at = 0;
        let mut number = 0;
        for end in memchr::memchr_iter(b'\n', text) {
            number += 1;
            self.line(text.get(at..end).unwrap_or_default(), number);
            at = end + 1;
        }
        let last = text.get(at..).unwrap_or_default();
        if !last.is_empty() {
            let lost = self.lost_lines;
            self.line(last, number + 1);
            self.is_cut = self.lost_lines > lost;
        }
        // A function whose place never came was cut off.
        let end = self.goroutines.last().map_or(ROOT, |g| g.end);
        self.is_cut |= self.place == Place::Frames
            && matches!(self.stacks.kind(end), Some(Kind::Function | Kind::Creator));
    }

    /// One line without its newline.
    fn line(&mut self, line: &'a [u8], number: u64) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // The common line first: the next frame of a stack that was seen before.
        if self.place == Place::Frames && self.prefix.is_empty() && self.follow(line) {
            return;
        }
        let line = line.trim_ascii_end();
        if line.last() == Some(&b':') && self.header(line, number) {
            return;
        }
        let line = self.without_prefix(line);
        if line.is_empty() {
            if self.place != Place::Before {
                self.place = Place::Between;
            }
            return;
        }
        if self.place == Place::Frames && self.frame(line) {
            return;
        }
        let is_frame = looks_like_frame(line);
        match self.place {
            Place::Frames if line.starts_with(b"[originating from goroutine ") => {
                self.place = Place::Ancestors;
            }
            Place::Frames => self.lose(number),
            Place::Between if is_frame => self.lose(number),
            Place::Ancestors => {}
            Place::Before if is_frame => self.before_lines += 1,
            Place::Before | Place::Between => self.other_lines += 1,
        }
    }

    fn lose(&mut self, line: u64) {
        if self.lost_lines == 0 {
            self.lost_at = line;
        }
        self.lost_lines += 1;
    }

    fn without_prefix(&self, line: &'a [u8]) -> &'a [u8] {
        let Some((before, rest)) = line.split_at_checked(self.prefix.len()) else {
            // A blank line of a log is its prefix without the blank at the end.
            let is_bare = !self.prefix.is_empty() && line.len() + 1 == self.prefix.len();
            return if is_bare { b"" } else { line };
        };
        if before.last() == self.prefix.last() {
            rest
        } else {
            line
        }
    }

    /// A line of the frame that followed here the last time; `false` when it is anything else.
    fn follow(&mut self, line: &'a [u8]) -> bool {
        let Some(index) = self.goroutines.len().checked_sub(1) else {
            return false;
        };
        let Some(goroutine) = self.goroutines.get_mut(index) else {
            return false;
        };
        if let Some(indented) = line.strip_prefix(b"\t") {
            let Some((child, place)) = self.stacks.guess(goroutine.end, Kind::Place) else {
                return false;
            };
            let is_same = indented
                .strip_prefix(place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(b" "));
            if is_same {
                goroutine.end = child;
            }
            return is_same;
        }
        let Some((child, name)) = self.stacks.guess(goroutine.end, Kind::Function) else {
            let creator = self.stacks.guess(goroutine.end, Kind::Creator);
            let same = creator.filter(|(_, name)| creator_of(line) == Some(*name));
            goroutine.end = same.map_or(goroutine.end, |(child, _)| child);
            return same.is_some();
        };
        // The arguments open at the last parenthesis; a name never ends with a dot, so `x.` + `(*T).m(` is no match.
        let Some(arguments) = line
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix(b"("))
            .and_then(|rest| rest.strip_suffix(b")"))
        else {
            return false;
        };
        if name.ends_with(b".") || memchr::memchr(b'(', arguments).is_some() {
            return false;
        }
        goroutine.end = child;
        self.arguments(index, arguments);
        true
    }

    /// Takes the lock and the pointers out of the arguments of the function at the end of a goroutine's stack.
    fn arguments(&mut self, index: usize, arguments: &[u8]) {
        let Some(goroutine) = self.goroutines.get_mut(index) else {
            return;
        };
        let role = self.stacks.role(goroutine.end);
        if goroutine.lock == 0 && role == Role::TakesLock {
            goroutine.lock = first_word(arguments).unwrap_or(0);
        }
        let pointers = Words::of(arguments).filter(|word| *word >= FIRST_POINTER);
        let from = self.pointers.len();
        self.pointers.extend(pointers);
        goroutine.pointers_to = self.pointers.len();
        if role == Role::Other && goroutine.lock != 0 && goroutine.taker.is_none() {
            goroutine.taker = Some((from, self.pointers.len()));
            goroutine.pointers_from = self.pointers.len();
        }
    }

    /// `goroutine 7 [chan receive, 2 minutes]:`, `3 goroutines [select]:`, and what goleak says before its own.
    fn header(&mut self, line: &'a [u8], number: u64) -> bool {
        if let Some(start) = header_start(line) {
            let rest = line.get(start + b"goroutine ".len()..).unwrap_or_default();
            let Some((before, inner)) = bracket(rest) else {
                return false;
            };
            let id = leading_number(before).unwrap_or(0);
            let is_same = self.is_announced
                && self
                    .goroutines
                    .last()
                    .is_some_and(|g| g.id == id && g.end == ROOT);
            if is_same {
                self.goroutines.pop();
            }
            self.prefix = line.get(..start).unwrap_or_default();
            self.open(id, 1, inner, number);
            return true;
        }
        if let Some((before, inner)) = bracket(line)
            && let Some(numbers) = before.strip_suffix(b" goroutines ")
            && let Some(count) = leading_number(numbers)
        {
            self.open(0, count, inner, number);
            return true;
        }
        self.announced(line, number)
    }

    /// `Goroutine 34 in state chan receive, with main.f on top of the stack:` (goleak).
    fn announced(&mut self, line: &'a [u8], number: u64) -> bool {
        const WORD: &[u8] = b"Goroutine ";
        if !line.ends_with(b" on top of the stack:") {
            return false;
        }
        let Some(start) = memchr::memmem::find(line, WORD) else {
            return false;
        };
        let rest = line.get(start + WORD.len()..).unwrap_or_default();
        let Some(id) = leading_number(rest) else {
            return false;
        };
        let state = memchr::memmem::find(rest, b" in state ")
            .and_then(|at| rest.get(at + b" in state ".len()..))
            .unwrap_or_default();
        let end = memchr::memmem::find(state, b", with ").unwrap_or(state.len());
        self.open(id, 1, state.get(..end).unwrap_or_default(), number);
        self.is_announced = true;
        true
    }

    fn open(&mut self, id: u64, count: u64, inner: &'a [u8], line: u64) {
        let state = self.state(inner);
        let at = self.pointers.len();
        self.goroutines.push(Goroutine {
            id,
            count,
            line,
            state,
            end: ROOT,
            lock: 0,
            taker: None,
            pointers_from: at,
            pointers_to: at,
        });
        self.place = Place::Frames;
        self.is_announced = false;
    }

    fn state(&mut self, inner: &'a [u8]) -> usize {
        let (known, ix) = self.last_state;
        if known == inner && ix != usize::MAX {
            return ix;
        }
        let next = self.states.len();
        let ix = *self.state_ix.entry(inner).or_insert(next);
        if ix == next {
            self.states.push(State::parse(inner));
        }
        self.last_state = (inner, ix);
        ix
    }

    /// One line inside a stack, by its own form; `false` when it has none.
    fn frame(&mut self, line: &'a [u8]) -> bool {
        let Some(index) = self.goroutines.len().checked_sub(1) else {
            return false;
        };
        let Some(end) = self.goroutines.get(index).map(|g| g.end) else {
            return false;
        };
        let bare = line.trim_ascii_start();
        let awaits_place = matches!(self.stacks.kind(end), Some(Kind::Function | Kind::Creator));
        let next = if bare.starts_with(b"goroutine running on other thread; stack unavailable") {
            end
        } else if bare.starts_with(b"...") && bare.ends_with(b"frames elided...") {
            self.has_elided = true;
            self.stacks.child(end, Kind::Elided, b"")
        } else if let Some(name) = creator_of(bare) {
            self.stacks.child(end, Kind::Creator, name)
        } else if awaits_place && let Some(place) = place_of(bare) {
            self.stacks.child(end, Kind::Place, place)
        } else if let Some((name, arguments)) = call_of(bare) {
            let node = self.stacks.child(end, Kind::Function, name);
            if let Some(goroutine) = self.goroutines.get_mut(index) {
                goroutine.end = node;
            }
            self.arguments(index, arguments);
            node
        } else {
            return false;
        };
        if let Some(goroutine) = self.goroutines.get_mut(index) {
            goroutine.end = next;
        }
        true
    }

    fn report(&self, log: &mut Reporter) {
        if self.before_lines > 0 {
            log.lost(
                "partial_stack",
                format!(
                    "the dump begins in the middle of a stack: {} before the first `goroutine N [state]:` skipped",
                    count(self.before_lines, "line", "lines")
                ),
                Some("line 1".to_owned()),
            );
        }
        if self.lost_lines > 0 {
            log.lost(
                "bad_stack_line",
                format!(
                    "{} inside stacks could not be read; expected `function(arguments)` and `file:line` in turn",
                    count(self.lost_lines, "line", "lines")
                ),
                Some(format!("line {}", self.lost_at)),
            );
        }
        if self.is_cut {
            log.lost(
                "truncated",
                "the dump ends in the middle of a stack: Go itself stops at 64 MB (about 75,000 goroutines), and logs cut earlier",
                self.goroutines.last().map(|g| format!("line {}", g.line)),
            );
        }
        if self.has_elided {
            log.note(
                "frames_elided",
                "some stacks are deeper than Go prints: frames in their middle or at their root are missing",
                None,
            );
        }
        if self.other_lines > 0 {
            log.note(
                "other_lines",
                format!(
                    "{} outside the stacks passed over",
                    count(self.other_lines, "line", "lines")
                ),
                None,
            );
        }
    }

    fn into_profile(self, hints: &Hints<'_>) -> Profile {
        let origin = origin::of(hints);
        let total: f64 = self.goroutines.iter().map(|g| g.count as f64).sum();
        Profile {
            input: Default::default(),
            t: origin.t,
            t_source: origin.t_source,
            kind: Arc::from("goroutine"),
            unit: Arc::from("count"),
            total,
            process: origin.process,
            has_states: true,
            groups: goroutines::groups(
                &self.stacks,
                &self.states,
                &self.goroutines,
                &self.pointers,
            ),
        }
    }
}
