//! Go profiles in text (`debug=1`): counts, heap and contention (`profiles.md` §4).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{labels, origin, wait};
use crate::base::reporter::Reporter;
use crate::base::text::{count, decode};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::{Frame, Frames, Profile, StackGroup, WaitClass};

/// Go profile in text (debug=1).
pub struct GoProfileText;

impl Format for GoProfileText {
    fn id(&self) -> &'static str {
        "go-profile-text"
    }

    fn title(&self) -> &'static str {
        "Go profile in text (debug=1)"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !head.is_text || head.json.is_some() {
            return Sniff::NOT_AT_ALL;
        }
        for line in head.lines().take(20) {
            if Shape::of(line).is_some() {
                return Sniff::Yes(95);
            }
            if line.starts_with("--- contentionz") || line.starts_with("--- threadz") {
                return Sniff::refused(80, "it is of C++ or Java, not of Go");
            }
        }
        Sniff::NOT_AT_ALL
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
        let profile = read_text(&text, hints, log)?;
        out.profiles.push(profile);
        Ok(())
    }
}

/// What kind of profile the first line announces.
#[derive(Debug, Clone, PartialEq)]
enum Shape {
    /// `<name> profile: total <n>`.
    Count { name: String, total: f64 },
    /// `heap profile: …`.
    Heap,
    /// `--- contention:` (block) or `--- mutex:`.
    Contention { name: &'static str },
}

impl Shape {
    fn of(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some((name, total)) = line.split_once(" profile: total ")
            && !name.is_empty()
            && !name.contains(char::is_whitespace)
        {
            return Some(Self::Count {
                name: name.to_owned(),
                total: total.trim().parse::<u64>().ok()? as f64,
            });
        }
        match line {
            "--- contention:" => Some(Self::Contention { name: "block" }),
            "--- mutex:" => Some(Self::Contention { name: "mutex" }),
            _ if line.starts_with("heap profile: ") && line.contains(" @ ") => Some(Self::Heap),
            _ => None,
        }
    }
}

/// A group of the text with the addresses that tell more than its frames.
struct Group {
    stack: StackGroup,
    frames: Vec<Frame>,
    addresses: Vec<u64>,
    /// The address in its first frame line, and so the count of runtime frames that are not shown.
    first_shown: Option<u64>,
}

fn read_text(text: &str, hints: &Hints<'_>, log: &mut Reporter) -> Result<Profile, FormatError> {
    let mut lines = text.lines().zip(1u64..);
    let Some(shape) = lines.by_ref().find_map(|(line, _)| Shape::of(line)) else {
        return Err(FormatError::new(
            "no_profile_header",
            None,
            "no first line of a Go profile",
            "`<name> profile: total <n>`, `heap profile: …`, `--- contention:` or `--- mutex:`",
            "save the whole answer of /debug/pprof/<name>?debug=1",
        ));
    };
    let wants_allocations = origin::is_called(hints, "allocs");
    let mut reader = Reader {
        shape,
        wants_allocations,
        cycles_per_second: None,
        names: BTreeMap::new(),
        groups: Vec::new(),
        lost_lines: 0,
        lost_at: 0,
    };
    for (line, number) in lines {
        reader.line(line.trim_end(), number);
    }
    Ok(reader.finish(hints, log))
}

struct Reader<'a> {
    shape: Shape,
    wants_allocations: bool,
    cycles_per_second: Option<f64>,
    names: BTreeMap<&'a str, Arc<str>>,
    groups: Vec<Group>,
    lost_lines: u64,
    lost_at: u64,
}

impl<'a> Reader<'a> {
    fn line(&mut self, line: &'a str, number: u64) {
        if line.is_empty() {
            return;
        }
        if let Some(rest) = line.strip_prefix('#') {
            self.comment(rest);
            return;
        }
        if let Some(n) = line.strip_prefix("cycles/second=") {
            self.cycles_per_second = n.trim().parse().ok().filter(|n: &f64| *n > 0.0);
            return;
        }
        if line.starts_with("sampling period=") {
            return;
        }
        if !self.group(line, number) {
            self.lost_lines += 1;
            self.lost_at = if self.lost_at == 0 {
                number
            } else {
                self.lost_at
            };
        }
    }

    /// `<count> @ 0x… 0x…`, `<n>: <bytes> [<n>: <bytes>] @ …`, `<cycles> <count> @ …`.
    fn group(&mut self, line: &'a str, number: u64) -> bool {
        let Some((numbers, addresses)) = line.split_once('@') else {
            return false;
        };
        let Some(value) = self.value(numbers.trim()) else {
            return false;
        };
        let none = self.name("");
        self.groups.push(Group {
            stack: StackGroup {
                line: number,
                value,
                class: WaitClass::Other,
                state: Arc::clone(&none),
                wait_s: None,
                frames: Frames::default(),
                lock: None,
                lock_owner: None,
                pointers: Vec::new(),
                created_by: Arc::clone(&none),
                labels: none,
                first_id: None,
            },
            frames: Vec::new(),
            addresses: addresses.split_whitespace().filter_map(address).collect(),
            first_shown: None,
        });
        true
    }

    fn value(&self, numbers: &str) -> Option<f64> {
        let integer = |text: &str| text.trim().parse::<i64>().ok().map(|n| n as f64);
        match self.shape {
            Shape::Count { .. } => integer(numbers),
            Shape::Heap => {
                let (in_use, allocated) = numbers.split_once('[')?;
                let pair = if self.wants_allocations {
                    allocated.trim_end().strip_suffix(']')?
                } else {
                    in_use
                };
                integer(pair.split_once(':')?.1)
            }
            Shape::Contention { .. } => integer(numbers.split_whitespace().next()?),
        }
    }

    /// `# labels: {…}`, `# 0x<pc> <function>+0x<offset> <file>:<line>` with tabs, or a line of `runtime.MemStats`.
    fn comment(&mut self, rest: &'a str) {
        let rest = rest.trim_start();
        if let Some(text) = rest.strip_prefix("labels: ") {
            let json = labels::to_json(text).unwrap_or_default();
            if let Some(group) = self.groups.last_mut() {
                group.stack.labels = Arc::from(json.as_str());
            }
            return;
        }
        let (pc_text, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let Some(pc) = address(pc_text) else { return };
        let frame = self.frame(pc_text, rest.trim());
        let Some(group) = self.groups.last_mut() else {
            return;
        };
        group.first_shown.get_or_insert(pc);
        if pc != 0 {
            group.frames.push(frame);
        }
    }

    fn frame(&mut self, pc: &'a str, rest: &'a str) -> Frame {
        let separator = if rest.contains('\t') { '\t' } else { ' ' };
        let (function, place) = rest.split_once(separator).unwrap_or((rest, ""));
        let function = function
            .rsplit_once("+0x")
            .map_or(function, |(name, _)| name)
            .trim();
        let place = place.trim();
        let (file, line) = match place.rsplit_once(':') {
            Some((file, line)) => line.parse().map_or((place, 0), |line| (file, line)),
            None => (place, 0),
        };
        Frame {
            function: self.name(if function.is_empty() { pc } else { function }),
            file: self.name(file),
            line,
        }
    }

    fn name(&mut self, text: &'a str) -> Arc<str> {
        Arc::clone(self.names.entry(text).or_insert_with(|| Arc::from(text)))
    }

    fn finish(mut self, hints: &Hints<'_>, log: &mut Reporter) -> Profile {
        if self.lost_lines > 0 {
            log.lost(
                "bad_profile_line",
                format!(
                    "{} could not be read; expected `<count> @ 0x…`, `# 0x… function file:line` or a blank line",
                    count(self.lost_lines, "line", "lines")
                ),
                Some(format!("line {}", self.lost_at)),
            );
        }
        self.name_addresses();
        classify(&mut self.groups);
        let (kind, unit, scale) = match &self.shape {
            Shape::Count { name, .. } => (name.as_str(), "count", 1.0),
            Shape::Heap if self.wants_allocations => ("allocs", "bytes", 1.0),
            Shape::Heap => ("heap", "bytes", 1.0),
            Shape::Contention { name } => match self.cycles_per_second {
                Some(cycles) => (*name, "nanoseconds", 1e9 / cycles),
                None => (*name, "cycles", 1.0),
            },
        };
        let mut groups: Vec<StackGroup> = self
            .groups
            .into_iter()
            .map(|group| StackGroup {
                frames: Frames::from(group.frames),
                ..group.stack
            })
            .collect();
        for group in &mut groups {
            group.value *= scale;
        }
        let mut total: f64 = groups.iter().map(|g| g.value).sum();
        match &self.shape {
            Shape::Count { total: declared, .. } if (declared - total).abs() > 0.5 => {
                log.lost(
                    "truncated",
                    format!("the first line says {declared} in all, the groups hold {total}: groups are missing"),
                    Some("line 1".to_owned()),
                );
                total = declared.max(total);
            }
            Shape::Contention { name } if groups.is_empty() => {
                log.note("empty_profile", empty_contention(name), None);
            }
            Shape::Heap => log.note(
                "heap_text_unscaled",
                "a heap profile in text holds the sampled allocations only; the protobuf form scales them up",
                None,
            ),
            Shape::Count { .. } | Shape::Contention { .. } => {}
        }
        groups.sort_by(|a, b| b.value.total_cmp(&a.value).then(a.line.cmp(&b.line)));
        let origin = origin::of(hints);
        Profile {
            input: Default::default(),
            t: origin.t,
            t_source: origin.t_source,
            kind: Arc::from(kind),
            unit: Arc::from(unit),
            total,
            process: origin.process,
            has_states: false,
            groups,
        }
    }

    /// A text without any frame line has only addresses: they are shown instead of nothing. Where others have names,
    /// a group without any holds runtime frames only, which the text leaves out.
    fn name_addresses(&mut self) {
        if self.groups.iter().any(|g| !g.frames.is_empty()) {
            return;
        }
        let none = self.name("");
        for group in &mut self.groups {
            let frames = group.addresses.iter().map(|address| Frame {
                function: Arc::from(format!("{address:#x}").as_str()),
                file: Arc::clone(&none),
                line: 0,
            });
            group.frames = frames.collect();
        }
    }
}

/// Why an empty profile of this kind says nothing (`profiles.md` §6).
pub(crate) fn empty_contention(kind: &str) -> String {
    let function = if kind == "mutex" {
        "SetMutexProfileFraction"
    } else {
        "SetBlockProfileRate"
    };
    format!(
        "0 samples: the {kind} profile is probably not enabled (the program must call runtime.{function}); this does not say that nothing waited"
    )
}

fn address(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Waits by the frames; then channels and selects, whose frames the text leaves out.
///
/// The address list still holds them. `runtime.gopark` is the leaf of every goroutine that waits, so the groups whose
/// wait is known give its address; between it and the first shown frame stand `chanrecv` and `chanrecv1` for a channel,
/// `selectgo` or `block` alone for a select (true of all groups of `profiles/go-wait-zoo`).
fn classify(groups: &mut [Group]) {
    let mut parked = BTreeSet::new();
    for group in groups.iter_mut() {
        group.stack.class = wait::class_of(&group.frames, "");
        let is_parked = matches!(
            group.stack.class,
            WaitClass::Lock
                | WaitClass::WaitGroup
                | WaitClass::Condition
                | WaitClass::Io
                | WaitClass::Sleep
        );
        if let (true, Some(leaf)) = (is_parked, group.addresses.first()) {
            parked.insert(*leaf);
        }
    }
    for group in groups.iter_mut() {
        let is_parked = group
            .addresses
            .first()
            .is_some_and(|leaf| parked.contains(leaf));
        let shown = group.first_shown.and_then(|pc| pc.checked_add(1));
        let hidden = group.addresses.iter().position(|a| Some(*a) == shown);
        if group.stack.class == WaitClass::Other && is_parked {
            group.stack.class = match hidden {
                Some(2) => WaitClass::Select,
                Some(3) => WaitClass::Channel,
                // A longer way down: the collector made it wait while it allocated.
                _ => WaitClass::Other,
            };
        }
    }
}
