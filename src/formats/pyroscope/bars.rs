//! Levels of bars → stacks.
//!
//! A bar is four numbers: how far its left edge is from the end of the bar before it, its total, its own value, its name
//! (`profiles.md` §8). Level 0 is one bar for everything, which is no function.

use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::formats::go_dump::wait;
use crate::model::profile::{Frame, FrameTable, Frames, StackGroup};

/// Deepest stack that is kept.
const MAX_STACK: usize = 8192;
/// Most frames of all stacks together, four bytes each: a small hostile file could unfold without end.
const MAX_FRAMES: usize = 50_000_000;
/// Numbers of a bar.
const BAR: usize = 4;

/// The numbers of one level. 64 bits are strings in proto-JSON.
#[derive(Debug, Default)]
pub(super) struct Level(Vec<i64>);

/// One number, or a string of it.
struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or a string of one")
            }

            fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<Number, E> {
                Ok(Number(n))
            }

            fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<Number, E> {
                i64::try_from(n)
                    .map(Number)
                    .map_err(|e| E::custom(format!("{n}: {e}")))
            }

            fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<Number, E> {
                if n.fract() == 0.0 && n.abs() < 9e18 {
                    Ok(Number(n as i64))
                } else {
                    Err(E::custom(format!("{n} is no whole number")))
                }
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Number, E> {
                text.parse()
                    .map(Number)
                    .map_err(|e| E::custom(format!("`{text}`: {e}")))
            }
        }
        from.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Level {
    /// `[0, 953, 0, 0]` or `{"values": ["0", "953", "0", "0"]}`.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Level;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers, or an object with `values`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Level, A::Error> {
                let mut numbers = Vec::new();
                while let Some(Number(n)) = list.next_element()? {
                    numbers.push(n);
                }
                Ok(Level(numbers))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Level, A::Error> {
                let mut level = Level::default();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "values" {
                        let numbers: Vec<Number> = map.next_value()?;
                        level = Level(numbers.into_iter().map(|n| n.0).collect());
                    } else {
                        map.next_value::<serde::de::IgnoredAny>()?;
                    }
                }
                Ok(level)
            }
        }
        from.deserialize_any(Any)
    }
}

/// A bar where it lies.
#[derive(Debug, Clone, Copy)]
struct Bar {
    start: i64,
    end: i64,
    /// Index of the bar above it among all bars; none in the first level below the whole.
    parent: Option<u32>,
    name: u32,
}

/// What is wrong with a level.
#[derive(Debug, Default)]
struct Faults {
    count: u64,
    first: Option<String>,
}

impl Faults {
    fn add(&mut self, level: usize, what: &str) {
        self.count += 1;
        self.first
            .get_or_insert_with(|| format!("levels[{level}]: {what}"));
    }
}

/// The stacks of all bars that have a value of their own, the largest first.
pub(super) fn groups(names: &[String], levels: &[Level], log: &mut Reporter) -> Vec<StackGroup> {
    let mut faults = Faults::default();
    let mut bars: Vec<Bar> = Vec::new();
    let mut own: Vec<(f64, Option<u32>)> = Vec::new();
    let mut above: std::ops::Range<usize> = 0..0;
    for (n, Level(numbers)) in levels.iter().enumerate() {
        let from = bars.len();
        let mut end = 0_i64;
        let mut parents = above.clone();
        if numbers.len() % BAR != 0 {
            faults.add(n, "its numbers do not come in fours");
        }
        for bar in numbers.chunks_exact(BAR) {
            let [offset, total, value, name] = *bar else {
                continue;
            };
            let placed = end
                .checked_add(offset)
                .and_then(|start| Some((start, start.checked_add(total)?)));
            let Some((start, stop)) = placed.filter(|_| offset >= 0 && total >= 0) else {
                faults.add(n, "a bar that cannot be placed");
                continue;
            };
            end = stop;
            if n == 0 {
                if value != 0 {
                    own.push((value as f64, None));
                }
                continue;
            }
            let Some(name) = u32::try_from(name)
                .ok()
                .filter(|at| (*at as usize) < names.len())
            else {
                faults.add(n, "a name that is not in `names`");
                continue;
            };
            // Nothing is in it, nor in what lies under it.
            if total == 0 && value == 0 {
                continue;
            }
            // Bars of both levels come in order: a parent that ends before this one has no more children.
            while bars
                .get(parents.start)
                .is_some_and(|p| !parents.is_empty() && p.end <= start)
            {
                parents.start += 1;
            }
            let parent = bars
                .get(parents.start)
                .filter(|p| !parents.is_empty() && p.start <= start && stop <= p.end);
            if n > 1 && parent.is_none() {
                faults.add(n, "a bar that lies under no other");
                continue;
            }
            let at = bars.len() as u32;
            bars.push(Bar {
                start,
                end: stop,
                parent: parent.map(|_| parents.start as u32),
                name,
            });
            if value != 0 {
                own.push((value as f64, Some(at)));
            }
        }
        above = from..bars.len();
    }
    if faults.count > 0 {
        let text = format!(
            "{} left out: a bar is an offset, a total, its own value and a name, inside the bar above it",
            count(faults.count, "bar was", "bars were")
        );
        log.lost("bad_sample", text, faults.first);
    }
    stacks(names, &bars, own, log)
}

fn stacks(
    names: &[String],
    bars: &[Bar],
    mut own: Vec<(f64, Option<u32>)>,
    log: &mut Reporter,
) -> Vec<StackGroup> {
    own.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let none: Arc<str> = Arc::from("");
    let table: Vec<Frame> = names
        .iter()
        .map(|name| Frame {
            function: Arc::from(name.as_str()),
            file: Arc::clone(&none),
            line: 0,
        })
        .collect();
    let mut ids: Vec<u32> = Vec::new();
    let mut spans = Vec::with_capacity(own.len());
    let mut is_cut = false;
    for (_, at) in &own {
        let from = ids.len();
        let mut next = *at;
        // A parent stands before its children, so this comes to an end.
        while let Some(bar) = next.and_then(|at| bars.get(at as usize)) {
            if ids.len() - from >= MAX_STACK || ids.len() >= MAX_FRAMES {
                is_cut = true;
                break;
            }
            ids.push(bar.name);
            next = bar.parent;
        }
        spans.push((from as u32, (ids.len() - from) as u32));
    }
    if is_cut {
        log.lost(
            "stack_too_deep",
            format!("frames beyond {MAX_STACK} of one stack or {MAX_FRAMES} in all were left out"),
            None,
        );
    }
    let table = Arc::new(FrameTable::new(table, ids));
    own.iter()
        .zip(spans)
        .zip(1..)
        .map(|(((value, _), (from, len)), line)| {
            let frames = Frames::of(&table, from, len);
            StackGroup {
                line,
                value: *value,
                class: wait::class_of(&frames, ""),
                state: Arc::clone(&none),
                wait_s: None,
                frames,
                lock: None,
                lock_owner: None,
                pointers: Vec::new(),
                created_by: Arc::clone(&none),
                labels: Arc::clone(&none),
                first_id: None,
            }
        })
        .collect()
}
