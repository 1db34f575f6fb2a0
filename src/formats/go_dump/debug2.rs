//! Go stack dumps: `goroutine?debug=2`, panics, SIGQUIT (`profiles.md` §5), with the damage that logs do to them.
//!
//! One pass over the lines builds a tree of stacks ([`super::stacks`]) and one small record for each goroutine; the
//! groups are made of the records at the end, when the addresses of the locks are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::stacks::{Kind, Names, NodeIx, ROOT, Stack, Stacks};
use super::{bracket, labels, origin, wait};
use crate::base::reporter::Reporter;
use crate::base::text::{count, decode};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::{Profile, StackGroup, WaitClass};

/// Pointers below it are no objects: nothing is ever mapped in the first page.
const FIRST_POINTER: u64 = 4096;

/// A lock lies at most this far behind the address of the object that owns it (`profiles.md` §6: "lock address minus
/// < 4 KB").
pub const OWNER_REACH: u64 = 4096;

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

/// Where a header begins in a line: behind whatever a log put before it. Lines have no blanks at their ends.
fn header_start(line: &[u8]) -> Option<usize> {
    if !line.ends_with(b"]:") {
        return None;
    }
    let start = if line.starts_with(b"goroutine ") {
        0
    } else {
        memchr::memmem::find(line, b"goroutine ")?
    };
    let rest = line.get(start + b"goroutine ".len()..)?;
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let (before, _) = bracket(rest)?;
    (digits > 0 && before.get(digits) == Some(&b' ')).then_some(start)
}

/// What stands between the brackets of a header.
#[derive(Debug, Clone)]
struct State {
    /// Without `(scan)`, minutes and the rest.
    text: Arc<str>,
    minutes: u64,
    labels: Arc<str>,
}

/// One goroutine.
#[derive(Debug, Clone, Copy)]
struct Goroutine {
    id: u64,
    /// How many it stands for: 1, unless the dump was aggregated.
    count: u64,
    line: u64,
    state: usize,
    end: NodeIx,
    lock: u64,
    pointers_from: usize,
    pointers_to: usize,
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
            return false;
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
        if goroutine.lock == 0 && self.stacks.takes_lock(goroutine.end) {
            goroutine.lock = first_word(arguments).unwrap_or(0);
        }
        let pointers = Words::of(arguments).filter(|word| *word >= FIRST_POINTER);
        self.pointers.extend(pointers);
        goroutine.pointers_to = self.pointers.len();
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
        } else if let Some(name) = bare.strip_prefix(b"created by ") {
            let to = memchr::memmem::find(name, b" in goroutine ").unwrap_or(name.len());
            let name = name.get(..to).unwrap_or(name);
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
            groups: self.groups(),
        }
    }

    fn groups(&self) -> Vec<StackGroup> {
        let mut names = Names::default();
        let mut ends: BTreeMap<(NodeIx, &str), (Stack, WaitClass)> = BTreeMap::new();
        for goroutine in &self.goroutines {
            let state = self.state_text(goroutine);
            ends.entry((goroutine.end, state)).or_insert_with(|| {
                let stack = self.stacks.stack(goroutine.end, &mut names);
                let class = wait::class_of(&stack.frames, state);
                (stack, class)
            });
        }
        let lock_of = |g: &Goroutine| {
            let class = ends
                .get(&(g.end, self.state_text(g)))
                .map(|(_, class)| *class);
            if class == Some(WaitClass::Lock) {
                g.lock
            } else {
                0
            }
        };
        let mut locks: Vec<u64> = self
            .goroutines
            .iter()
            .map(lock_of)
            .filter(|l| *l != 0)
            .collect();
        locks.sort_unstable();
        locks.dedup();
        type Key<'k> = (NodeIx, &'k str, &'k str, u64, Vec<u64>);
        let mut index: BTreeMap<Key<'_>, usize> = BTreeMap::new();
        let mut groups: Vec<StackGroup> = Vec::new();
        for goroutine in &self.goroutines {
            let Some(state) = self.states.get(goroutine.state) else {
                continue;
            };
            let lock = lock_of(goroutine);
            let owners = self.owners(goroutine, &locks);
            let key = (
                goroutine.end,
                state.text.as_ref(),
                state.labels.as_ref(),
                lock,
                owners,
            );
            let wait_s = (state.minutes > 0).then(|| state.minutes as f64 * 60.0);
            match index.get(&key).and_then(|at| groups.get_mut(*at)) {
                Some(group) => {
                    group.value += goroutine.count as f64;
                    group.wait_s = longer(group.wait_s, wait_s);
                }
                None => {
                    let Some((stack, class)) = ends.get(&(goroutine.end, state.text.as_ref()))
                    else {
                        continue;
                    };
                    groups.push(StackGroup {
                        line: goroutine.line,
                        value: goroutine.count as f64,
                        class: *class,
                        state: Arc::clone(&state.text),
                        wait_s,
                        frames: stack.frames.clone(),
                        lock: (lock != 0).then_some(lock),
                        pointers: key.4.clone(),
                        created_by: Arc::clone(&stack.created_by),
                        labels: Arc::clone(&state.labels),
                        first_id: (goroutine.id != 0).then_some(goroutine.id),
                    });
                    index.insert(key, groups.len() - 1);
                }
            }
        }
        groups.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.line.cmp(&b.line)));
        groups
    }

    fn state_text(&self, goroutine: &Goroutine) -> &str {
        self.states
            .get(goroutine.state)
            .map_or("", |s| s.text.as_ref())
    }

    /// The pointers of a goroutine that may be the owner of a lock that somebody waits for. All others tell nothing,
    /// and would make each goroutine a group of its own.
    fn owners(&self, goroutine: &Goroutine, locks: &[u64]) -> Vec<u64> {
        let pointers = self
            .pointers
            .get(goroutine.pointers_from..goroutine.pointers_to)
            .unwrap_or_default();
        let mut owners: Vec<u64> = pointers
            .iter()
            .copied()
            .filter(|p| {
                let next = locks.partition_point(|lock| lock < p);
                locks.get(next).is_some_and(|lock| lock - p < OWNER_REACH)
            })
            .collect();
        owners.sort_unstable();
        owners.dedup();
        owners
    }
}

impl State {
    /// `chan receive (nil chan), 2 minutes, locked to thread labels:{"k": "v"}`.
    fn parse(inner: &[u8]) -> Self {
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

/// A number at the start of a text.
fn leading_number(text: &[u8]) -> Option<u64> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    std::str::from_utf8(text.get(..digits)?).ok()?.parse().ok()
}

/// `function(arguments)`, split at the last `(`: names hold parentheses too.
fn call_of(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let inner = line.strip_suffix(b")")?;
    let open = memchr::memrchr(b'(', inner)?;
    let (name, arguments) = inner.split_at_checked(open)?;
    (!name.is_empty()).then_some((name, arguments.get(1..).unwrap_or_default()))
}

/// `file:line` of an indented line, without ` +0x…` and ` fp=…`.
fn place_of(line: &[u8]) -> Option<&[u8]> {
    let cut = [&b" +0x"[..], b" fp="]
        .iter()
        .filter_map(|mark| memchr::memmem::find(line, mark))
        .min()
        .unwrap_or(line.len());
    let place = line.get(..cut)?;
    let colon = memchr::memrchr(b':', place)?;
    let digits = place.get(colon + 1..)?;
    (!digits.is_empty() && digits.iter().all(u8::is_ascii_digit)).then_some(place)
}

fn looks_like_frame(line: &[u8]) -> bool {
    let bare = line.trim_ascii_start();
    let has_place = place_of(bare)
        .and_then(|place| memchr::memrchr(b':', place).and_then(|colon| place.get(..colon)))
        .is_some_and(|file| file.ends_with(b".go") || file.ends_with(b".s"));
    has_place || memchr::memmem::find(bare, b"created by ").is_some()
}

/// The first argument when it is an address that is surely current: not marked `?`, not 0.
fn first_word(arguments: &[u8]) -> Option<u64> {
    let end = memchr::memchr(b',', arguments).unwrap_or(arguments.len());
    Words::of(arguments.get(..end)?).find(|word| *word != 0)
}

fn longer(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

/// All words `0x…` of a list of arguments that no `?` follows.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn of(arguments: &'a [u8]) -> Self {
        Self(arguments)
    }
}

impl Iterator for Words<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            if *byte != b'x' {
                continue;
            }
            let mut value = 0u64;
            while let Some((byte, rest)) = self.0.split_first()
                && let Some(digit) = hex_digit(*byte)
            {
                value = value << 4 | digit;
                self.0 = rest;
            }
            if self.0.first() != Some(&b'?') {
                return Some(value);
            }
        }
    }
}

/// Go prints addresses in lower-case hex.
const fn hex_digit(byte: u8) -> Option<u64> {
    match byte {
        b'0'..=b'9' => Some((byte - b'0') as u64),
        b'a'..=b'f' => Some((byte - b'a' + 10) as u64),
        _ => None,
    }
}
