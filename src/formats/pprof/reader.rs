//! `profile.proto` as it stands in the bytes: every message, every index checked, nothing summed up yet
//! (`profiles.md` §2). What the model needs is made of it in [`super`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::wire::{Fields, Value};

/// A fault in a profile: where, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// `sample 3`, `byte 120`.
    pub at: String,
    /// What was wrong there.
    pub what: String,
}

/// A type and its unit: `inuse_space`, `bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValueType {
    /// Index of the type's name.
    pub name: usize,
    /// Index of the unit's name.
    pub unit: usize,
}

/// One sample, taken apart. One of these is used for all samples of a profile, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    /// Ids of its locations, leaf first.
    pub locations: Vec<u64>,
    /// One for each sample type.
    pub values: Vec<i64>,
    /// Its labels.
    pub labels: Vec<Label>,
}

impl Sample {
    /// Takes the bytes of a sample apart; `None` when they cannot be read.
    pub fn read(&mut self, bytes: &[u8]) -> Option<()> {
        self.locations.clear();
        self.values.clear();
        self.labels.clear();
        for field in Fields::new(bytes) {
            match field.ok()? {
                (1, value) => value.numbers(|id| self.locations.push(id))?,
                (2, value) => value.numbers(|n| self.values.push(n.cast_signed()))?,
                (3, value) => self.labels.push(label(value.bytes()?)?),
                _ => {}
            }
        }
        Some(())
    }
}

/// A label: a text, or a number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Label {
    /// Index of the key.
    pub key: usize,
    /// Index of the text, 0 when it is a number.
    pub text: usize,
    /// The number.
    pub number: i64,
    /// Index of the number's unit, 0 when not said.
    pub unit: usize,
}

/// A place in the code, with the calls that were inlined there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Location {
    /// Its id.
    pub id: u64,
    /// Id of its mapping, 0 for none.
    pub mapping: u64,
    /// Its address.
    pub address: u64,
    /// First of its lines in [`Raw::lines`], the innermost call.
    pub lines_from: usize,
    /// Behind the last of its lines.
    pub lines_to: usize,
}

/// A line of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Line {
    /// Id of the function.
    pub function: u64,
    /// Line number.
    pub line: i64,
}

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Function {
    /// Its id.
    pub id: u64,
    /// Index of its name.
    pub name: usize,
    /// Index of its name in the binary.
    pub system_name: usize,
    /// Index of its file.
    pub file: usize,
}

/// A mapped binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mapping {
    /// Its id.
    pub id: u64,
    /// Index of its file's name.
    pub file: usize,
}

/// A whole profile.
#[derive(Debug, Clone, Default)]
pub struct Raw<'a> {
    /// What the values of each sample are.
    pub sample_types: Vec<ValueType>,
    /// All samples, as they stand: their locations mostly come behind them in the file.
    pub samples: Vec<&'a [u8]>,
    /// Binaries.
    pub mappings: Vec<Mapping>,
    /// Places.
    pub locations: Vec<Location>,
    /// Lines of all places.
    pub lines: Vec<Line>,
    /// Functions.
    pub functions: Vec<Function>,
    /// All names.
    pub strings: Vec<Cow<'a, str>>,
    /// Start of a CPU profile, end of a Go delta, moment of a snapshot; 0 when not said.
    pub time_nanos: i64,
    /// Its length, 0 when not said.
    pub duration_nanos: i64,
    /// What its period is.
    pub period_type: ValueType,
    /// Values between two samples.
    pub period: i64,
    /// Index of the name of the default sample type, 0 when not said.
    pub default_sample_type: usize,
}

impl<'a> Raw<'a> {
    /// Reads the messages. Indices are checked by [`Raw::faults`] and wherever they are used.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut raw = Self::default();
        for field in Fields::new(bytes) {
            let (number, value) = field.map_err(|e| Fault {
                at: format!("byte {}", e.at),
                what: e.what.to_owned(),
            })?;
            raw.field(number, value).ok_or_else(|| Fault {
                at: format!("field {number}, after {} samples", raw.samples.len()),
                what: "a message that cannot be read".to_owned(),
            })?;
        }
        Ok(raw)
    }

    fn field(&mut self, number: u64, value: Value<'a>) -> Option<()> {
        match number {
            1 => self.sample_types.push(value_type(value)?),
            2 => self.samples.push(value.bytes()?),
            3 => self.mappings.push(mapping(value.bytes()?)?),
            4 => self.location(value.bytes()?)?,
            5 => self.functions.push(function(value.bytes()?)?),
            6 => self.strings.push(String::from_utf8_lossy(value.bytes()?)),
            9 => self.time_nanos = value.number()?.cast_signed(),
            10 => self.duration_nanos = value.number()?.cast_signed(),
            11 => self.period_type = value_type(value)?,
            12 => self.period = value.number()?.cast_signed(),
            14 => self.default_sample_type = index(value)?,
            _ => {}
        }
        Some(())
    }

    fn location(&mut self, bytes: &[u8]) -> Option<()> {
        let mut location = Location {
            lines_from: self.lines.len(),
            ..Location::default()
        };
        for field in Fields::new(bytes) {
            match field.ok()? {
                (1, value) => location.id = value.number()?,
                (2, value) => location.mapping = value.number()?,
                (3, value) => location.address = value.number()?,
                (4, value) => self.lines.push(line(value.bytes()?)?),
                _ => {}
            }
        }
        location.lines_to = self.lines.len();
        self.locations.push(location);
        Some(())
    }

    /// A name by its index.
    pub fn string(&self, index: usize) -> Option<&str> {
        self.strings.get(index).map(AsRef::as_ref)
    }

    /// Everything that does not resolve, up to `limit` of them: a profile is only one without any.
    pub fn faults(&self, limit: usize) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut say = |at: String, what: &str| {
            if faults.len() < limit {
                faults.push(Fault {
                    at,
                    what: what.to_owned(),
                });
            }
        };
        if self.sample_types.is_empty() {
            say("sample_type".to_owned(), "there is none");
        }
        if self.string(0) != Some("") {
            say("string_table".to_owned(), "its first entry is not empty");
        }
        let is_name = |index: usize| index < self.strings.len();
        let (functions, mappings) = (self.function_index(), self.mapping_index());
        let locations = self.location_index();
        for (n, t) in self
            .sample_types
            .iter()
            .chain([&self.period_type])
            .enumerate()
        {
            if !(is_name(t.name) && is_name(t.unit)) {
                say(
                    format!("sample_type {n}"),
                    "its name is not in the string table",
                );
            }
        }
        if !is_name(self.default_sample_type) {
            say(
                "default_sample_type".to_owned(),
                "it is not in the string table",
            );
        }
        for f in &self.functions {
            if f.id == 0 || ![f.name, f.system_name, f.file].into_iter().all(is_name) {
                say(
                    format!("function {}", f.id),
                    "an id of 0 or a name that is not in the string table",
                );
            }
        }
        for m in &self.mappings {
            if m.id == 0 || !is_name(m.file) {
                say(
                    format!("mapping {}", m.id),
                    "an id of 0 or a name that is not in the string table",
                );
            }
        }
        for l in &self.locations {
            let lines = self.lines_of(l);
            if l.id == 0
                || (l.mapping != 0 && mappings.at(l.mapping).is_none())
                || lines
                    .iter()
                    .any(|line| functions.at(line.function).is_none())
            {
                say(
                    format!("location {}", l.id),
                    "an id of 0, or a mapping or function that does not exist",
                );
            }
        }
        let mut sample = Sample::default();
        for (n, bytes) in self.samples.iter().enumerate() {
            let read = sample.read(bytes).ok_or("it cannot be read");
            if let Err(what) = read.and_then(|()| self.check_sample(&sample, &locations)) {
                say(format!("sample {}", n + 1), what);
            }
        }
        faults
    }

    /// What is wrong with a sample.
    pub fn check_sample(&self, sample: &Sample, locations: &Index) -> Result<(), &'static str> {
        if sample.values.len() != self.sample_types.len() {
            return Err("it has not one value for each sample type");
        }
        if sample
            .locations
            .iter()
            .any(|id| locations.at(*id).is_none())
        {
            return Err("a location that does not exist");
        }
        self.check_labels(&sample.labels)
    }

    /// What is wrong with labels.
    pub fn check_labels(&self, labels: &[Label]) -> Result<(), &'static str> {
        let is_name = |index: usize| index < self.strings.len();
        if labels
            .iter()
            .any(|l| !is_name(l.key) || !is_name(l.text) || !is_name(l.unit))
        {
            return Err("a label that is not in the string table");
        }
        Ok(())
    }

    /// Lines of a location, the innermost call first.
    pub fn lines_of(&self, location: &Location) -> &[Line] {
        self.lines
            .get(location.lines_from..location.lines_to)
            .unwrap_or_default()
    }

    /// Where each location stands.
    pub fn location_index(&self) -> Index {
        Index::new(self.locations.iter().map(|l| l.id))
    }

    /// Where each function stands.
    pub fn function_index(&self) -> Index {
        Index::new(self.functions.iter().map(|f| f.id))
    }

    /// Where each mapping stands.
    pub fn mapping_index(&self) -> Index {
        Index::new(self.mappings.iter().map(|m| m.id))
    }

    /// The sample type that is shown: the named default, else the last one.
    pub fn default_type(&self) -> usize {
        let named = self
            .sample_types
            .iter()
            .position(|t| self.default_sample_type != 0 && t.name == self.default_sample_type);
        named.unwrap_or_else(|| self.sample_types.len().saturating_sub(1))
    }

    /// The sum of a sample type over all samples that have it.
    pub fn total(&self, sample_type: usize) -> i128 {
        let mut sample = Sample::default();
        self.samples
            .iter()
            .filter_map(|bytes| {
                sample.read(bytes)?;
                sample.values.get(sample_type).map(|v| i128::from(*v))
            })
            .sum()
    }
}

/// Ids → positions. Ids may be anything; most writers count them up from 1, and then nothing is stored.
#[derive(Debug, Clone)]
pub enum Index {
    /// Ids 1 to this number, in order.
    Dense(usize),
    /// Any ids.
    Sparse(BTreeMap<u64, usize>),
}

impl Index {
    fn new(ids: impl ExactSizeIterator<Item = u64> + Clone) -> Self {
        let count = ids.len();
        let is_dense = ids.clone().zip(1u64..).all(|(id, n)| id == n);
        if is_dense {
            Self::Dense(count)
        } else {
            Self::Sparse(ids.zip(0..).collect())
        }
    }

    /// The position of an id.
    pub fn at(&self, id: u64) -> Option<usize> {
        match self {
            Self::Dense(count) => {
                let at = usize::try_from(id.checked_sub(1)?).ok()?;
                (at < *count).then_some(at)
            }
            Self::Sparse(map) => map.get(&id).copied(),
        }
    }
}

fn index(value: Value<'_>) -> Option<usize> {
    usize::try_from(value.number()?).ok()
}

fn value_type(value: Value<'_>) -> Option<ValueType> {
    let mut found = ValueType::default();
    for field in Fields::new(value.bytes()?) {
        match field.ok()? {
            (1, value) => found.name = index(value)?,
            (2, value) => found.unit = index(value)?,
            _ => {}
        }
    }
    Some(found)
}

fn label(bytes: &[u8]) -> Option<Label> {
    let mut found = Label::default();
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, value) => found.key = index(value)?,
            (2, value) => found.text = index(value)?,
            (3, value) => found.number = value.number()?.cast_signed(),
            (4, value) => found.unit = index(value)?,
            _ => {}
        }
    }
    Some(found)
}

fn mapping(bytes: &[u8]) -> Option<Mapping> {
    let mut found = Mapping::default();
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, value) => found.id = value.number()?,
            (5, value) => found.file = index(value)?,
            _ => {}
        }
    }
    Some(found)
}

fn function(bytes: &[u8]) -> Option<Function> {
    let mut found = Function::default();
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, value) => found.id = value.number()?,
            (2, value) => found.name = index(value)?,
            (3, value) => found.system_name = index(value)?,
            (4, value) => found.file = index(value)?,
            _ => {}
        }
    }
    Some(found)
}

fn line(bytes: &[u8]) -> Option<Line> {
    let mut found = Line::default();
    for field in Fields::new(bytes) {
        match field.ok()? {
            (1, value) => found.function = value.number()?,
            (2, value) => found.line = value.number()?.cast_signed(),
            _ => {}
        }
    }
    Some(found)
}
