//! Dots of scatter pages: each once, whatever page it came on, and the choice of those to look into.

use std::collections::BTreeMap;

use serde_json::Value;

/// One transaction at one agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dot {
    pub(super) accepted_ms: i64,
    pub(super) elapsed_ms: i64,
    pub(super) agent: String,
    pub(super) trace: String,
}

/// Dots of one application; the value says whether it failed.
#[derive(Debug, Clone, Default)]
pub(super) struct Dots(BTreeMap<Dot, bool>);

/// What a page says of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    /// Dots that were new.
    pub(super) added: usize,
    /// Whether there is no more.
    pub(super) is_last: bool,
    /// The oldest time in it.
    pub(super) oldest_ms: i64,
}

impl Dots {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Takes a page. An offset is from the page's own `from` (`pinpoint.md` §2).
    pub(super) fn take(&mut self, body: &Value) -> Page {
        let number = |key: &str| body.get(key).and_then(Value::as_i64);
        let from = number("from").unwrap_or(0);
        let oldest_ms = number("resultFrom").unwrap_or(-1);
        let before = self.0.len();
        let metadata = body.pointer("/scatter/metadata");
        let dots = body.pointer("/scatter/dotList").and_then(Value::as_array);
        for dot in dots.into_iter().flatten() {
            if let Some((dot, has_failed)) = dot_of(dot, from, metadata) {
                self.0.insert(dot, has_failed);
            }
        }
        Page {
            added: self.0.len() - before,
            is_last: body.get("complete").and_then(Value::as_bool) != Some(false)
                || oldest_ms < 0
                || oldest_ms <= from,
            oldest_ms,
        }
    }

    /// At most `most`: failed ones, slowest first, up to half; then the slowest of all.
    pub(super) fn worst(&self, most: usize) -> Vec<Dot> {
        let mut all: Vec<(&Dot, bool)> = self.0.iter().map(|(dot, bad)| (dot, *bad)).collect();
        all.sort_by(|(a, _), (b, _)| b.elapsed_ms.cmp(&a.elapsed_ms).then_with(|| a.cmp(b)));
        let mut chosen: Vec<&Dot> = all
            .iter()
            .filter(|(_, bad)| *bad)
            .map(|(dot, _)| *dot)
            .take(most.div_ceil(2))
            .collect();
        for (dot, _) in &all {
            if chosen.len() >= most {
                break;
            }
            if !chosen.contains(dot) {
                chosen.push(dot);
            }
        }
        chosen.into_iter().cloned().collect()
    }
}

fn dot_of(dot: &Value, from: i64, metadata: Option<&Value>) -> Option<(Dot, bool)> {
    let at = |ix: usize| dot.get(ix);
    let (x, y) = (at(0)?.as_i64()?, at(1)?.as_i64()?);
    let meta = at(2)?.as_i64()?;
    let seq = match at(3)? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (agent, trace) = if meta == -1 {
        (String::new(), seq)
    } else {
        let entry = metadata?.get(meta.to_string())?;
        let owner = entry.get(1)?.as_str()?;
        let start = entry.get(2)?.as_i64()?;
        let trace = if start == 0 || owner.contains('^') {
            owner.to_owned()
        } else {
            format!("{owner}^{start}^{seq}")
        };
        (entry.get(0)?.as_str()?.to_owned(), trace)
    };
    let one = Dot {
        accepted_ms: from.checked_add(x)?,
        elapsed_ms: y,
        agent,
        trace,
    };
    Some((one, at(4)?.as_i64() == Some(0)))
}
