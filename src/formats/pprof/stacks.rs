//! From the samples of a profile to its stacks.
//!
//! Frames of locations are made once, in a table that all stacks share; a sample is read straight into places in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::reader::{Function, Index, Label, Location, Raw, Sample};
use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::formats::go_dump::wait;
use crate::model::profile::{Frame, FrameTable, Frames, StackGroup, WaitClass};

/// Deepest stack that is kept: Go stops at 1024 addresses, and inlining adds a few frames to each (`profiles.md` §2).
const MAX_STACK: usize = 8192;

/// Most frames of all samples together (each takes four bytes). A location may hold any number of inlined calls, so
/// that a small hostile file could unfold without end.
const MAX_FRAMES: usize = 50_000_000;

/// One sample, in few bytes: there may be many.
#[derive(Debug, Clone, Copy)]
struct Draft {
    value: f64,
    /// Counted from 0.
    sample: u32,
    from: u32,
    len: u32,
    labels: u32,
    class: WaitClass,
}

/// One group for each sample, the largest first.
pub(super) fn groups(raw: &Raw<'_>, shown: usize, log: &mut Reporter) -> Vec<StackGroup> {
    let mut reader = Reader::new(raw, shown);
    for (n, bytes) in raw.samples.iter().enumerate() {
        if let Err(what) = reader.sample(n, bytes) {
            reader.lost += 1;
            if reader.lost == 1 {
                let text = format!("a sample was left out: {what}");
                log.lost("bad_sample", text, Some(format!("sample {}", n + 1)));
            }
        }
    }
    if reader.lost > 1 {
        log.lost(
            "bad_sample",
            format!(
                "{} left out in all",
                count(reader.lost, "sample", "samples")
            ),
            None,
        );
    }
    if reader.is_cut {
        log.lost(
            "stack_too_deep",
            format!("frames beyond {MAX_STACK} of one stack or {MAX_FRAMES} in all were left out"),
            None,
        );
    }
    reader.finish()
}

/// What is known of a frame that stands first in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// It decides alone.
    Decides(WaitClass),
    /// The frames after it decide, too.
    Undecided,
}

struct Reader<'r, 'a> {
    raw: &'r Raw<'a>,
    shown: usize,
    locations: Index,
    /// Of each location: its first frame in the table, and how many.
    spans: Vec<(u32, u32)>,
    table: Vec<Frame>,
    leads: Vec<Lead>,
    ids: Vec<u32>,
    drafts: Vec<Draft>,
    labels: BTreeMap<Vec<Label>, u32>,
    texts: Vec<Arc<str>>,
    last_labels: (Vec<Label>, u32),
    sample: Sample,
    lost: u64,
    is_cut: bool,
}

impl<'r, 'a> Reader<'r, 'a> {
    fn new(raw: &'r Raw<'a>, shown: usize) -> Self {
        let (table, spans) = frames_of_locations(raw);
        Self {
            leads: table.iter().map(lead).collect(),
            locations: raw.location_index(),
            spans,
            table,
            ids: Vec::with_capacity(raw.samples.len().saturating_mul(16).min(MAX_FRAMES)),
            drafts: Vec::with_capacity(raw.samples.len()),
            labels: BTreeMap::new(),
            texts: vec![Arc::from("")],
            last_labels: (Vec::new(), 0),
            sample: Sample::default(),
            lost: 0,
            is_cut: false,
            raw,
            shown,
        }
    }

    fn sample(&mut self, n: usize, bytes: &[u8]) -> Result<(), &'static str> {
        self.sample.read(bytes).ok_or("it cannot be read")?;
        if self.sample.values.len() != self.raw.sample_types.len() {
            return Err("it has not one value for each sample type");
        }
        let labels = self.labels()?;
        let from = self.ids.len();
        let room = MAX_STACK.min(MAX_FRAMES - from.min(MAX_FRAMES));
        for id in &self.sample.locations {
            let span = self.locations.at(*id).and_then(|at| self.spans.get(at));
            let Some((first, len)) = span else {
                self.ids.truncate(from);
                return Err("a location that does not exist");
            };
            if *len == 1 {
                self.ids.push(*first);
            } else {
                let left = (room + 1).saturating_sub(self.ids.len() - from);
                let len = (*len as usize).min(left) as u32;
                self.ids.extend(*first..*first + len);
            }
        }
        if self.ids.len() - from > room {
            self.ids.truncate(from + room);
            self.is_cut = true;
        }
        let value = self.sample.values.get(self.shown);
        self.drafts.push(Draft {
            value: value.map_or(0.0, |v| *v as f64),
            sample: u32::try_from(n).unwrap_or(u32::MAX),
            from: from as u32,
            len: (self.ids.len() - from) as u32,
            labels,
            class: self.class(from),
        });
        Ok(())
    }

    /// What the stack from there on waits for.
    fn class(&self, from: usize) -> WaitClass {
        let ids = self.ids.get(from..).unwrap_or_default();
        let lead = ids.first().and_then(|id| self.leads.get(*id as usize));
        match lead {
            Some(Lead::Decides(class)) => *class,
            Some(Lead::Undecided) => wait::class_of((self.table.as_slice(), ids), ""),
            None => WaitClass::Other,
        }
    }

    /// The number of the text of the sample's labels. Samples that follow one another often have the same.
    fn labels(&mut self) -> Result<u32, &'static str> {
        let labels = &self.sample.labels;
        if labels.is_empty() {
            return Ok(0);
        }
        if *labels == self.last_labels.0 {
            return Ok(self.last_labels.1);
        }
        let number = if let Some(known) = self.labels.get(labels.as_slice()) {
            *known
        } else {
            self.raw.check_labels(labels)?;
            let number = self.texts.len() as u32;
            self.texts
                .push(Arc::from(labels_json(self.raw, labels).as_str()));
            self.labels.insert(labels.clone(), number);
            number
        };
        self.last_labels.0.clone_from(labels);
        self.last_labels.1 = number;
        Ok(number)
    }

    fn finish(mut self) -> Vec<StackGroup> {
        self.drafts
            .sort_unstable_by(|a, b| b.value.total_cmp(&a.value).then(a.sample.cmp(&b.sample)));
        self.ids.shrink_to_fit();
        let table = Arc::new(FrameTable::new(self.table, self.ids));
        let none: Arc<str> = Arc::from("");
        let group = |draft: &Draft| StackGroup {
            line: u64::from(draft.sample) + 1,
            value: draft.value,
            class: draft.class,
            state: Arc::clone(&none),
            wait_s: None,
            frames: Frames::of(&table, draft.from, draft.len),
            lock: None,
            lock_owner: None,
            pointers: Vec::new(),
            created_by: Arc::clone(&none),
            labels: Arc::clone(self.texts.get(draft.labels as usize).unwrap_or(&none)),
            first_id: None,
        };
        self.drafts.iter().map(group).collect()
    }
}

/// A frame outside of the runtime and of `sync` decides by itself: no frame after it is looked at.
fn lead(frame: &Frame) -> Lead {
    let name = frame.function.as_ref();
    if wait::is_runtime(name) || name.starts_with("sync.") || name.starts_with("internal/sync.") {
        Lead::Undecided
    } else {
        Lead::Decides(wait::class_of(std::slice::from_ref(frame), ""))
    }
}

/// The frames of all locations, the innermost call of each first, and where those of each are. One without lines is not
/// symbolised and shows its binary and address; the flag `has_functions` is not to be trusted (`profiles.md` §2).
fn frames_of_locations(raw: &Raw<'_>) -> (Vec<Frame>, Vec<(u32, u32)>) {
    let (functions, mappings) = (raw.function_index(), raw.mapping_index());
    let names: Vec<Arc<str>> = raw.strings.iter().map(|s| Arc::from(s.as_ref())).collect();
    let none: Arc<str> = Arc::from("");
    let unsymbolised = |location: &Location| {
        let file = mappings
            .at(location.mapping)
            .and_then(|at| raw.mappings.get(at))
            .and_then(|m| raw.string(m.file))
            .filter(|f| !f.is_empty())
            .unwrap_or("unknown");
        Frame {
            function: Arc::from(format!("{file}+{:#x}", location.address).as_str()),
            file: Arc::clone(&none),
            line: 0,
        }
    };
    let mut table = Vec::with_capacity(raw.lines.len());
    let mut spans = Vec::with_capacity(raw.locations.len());
    for location in &raw.locations {
        let from = table.len() as u32;
        let lines = raw.lines_of(location);
        if lines.is_empty() {
            table.push(unsymbolised(location));
        }
        for line in lines {
            let function = functions
                .at(line.function)
                .and_then(|at| raw.functions.get(at));
            let name = |pick: fn(&Function) -> usize| {
                let name = function.and_then(|f| names.get(pick(f)));
                name.map_or_else(|| Arc::clone(&none), Arc::clone)
            };
            let plain = name(|f| f.name);
            table.push(Frame {
                function: if plain.is_empty() {
                    name(|f| f.system_name)
                } else {
                    plain
                },
                file: name(|f| f.file),
                line: u32::try_from(line.line).unwrap_or(0),
            });
        }
        spans.push((from, table.len() as u32 - from));
    }
    (table, spans)
}

/// Labels as one JSON object: texts, numbers, and numbers with their unit as a text (`12 milliseconds`). A key that stands
/// twice has a list.
fn labels_json(raw: &Raw<'_>, labels: &[Label]) -> String {
    let mut map: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for label in labels {
        let unit = raw.string(label.unit).unwrap_or("");
        let value = if label.text != 0 {
            Json::from(raw.string(label.text).unwrap_or(""))
        } else if unit.is_empty() {
            Json::from(label.number)
        } else {
            Json::from(format!("{} {unit}", label.number))
        };
        map.entry(raw.string(label.key).unwrap_or(""))
            .or_default()
            .push(value);
    }
    let object: serde_json::Map<String, Json> = map
        .into_iter()
        .map(|(key, mut values)| {
            let value = match values.len() {
                1 => values.swap_remove(0),
                _ => Json::from(values),
            };
            (key.to_owned(), value)
        })
        .collect();
    Json::Object(object).to_string()
}
