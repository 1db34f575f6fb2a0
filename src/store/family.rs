//! Who is below whom among the spans of one trace.

use crate::base::unordered::UnorderedMap;
use crate::model::span::{Span, SpanId};

/// No span.
pub const NONE: u32 = u32::MAX;

/// Parents and children of the spans of one trace, by their places in it. Time and memory grow with their number.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// For each span the span above, or [`NONE`].
    parent: Vec<u32>,
    /// Where the children of each span begin in `children`; one more at the end.
    from: Vec<u32>,
    children: Vec<u32>,
}

impl Families {
    /// Finds the parents. Of two spans with one id the first is the parent; no span is its own. `orphan` is told the id of each
    /// parent that is not there, and its child.
    pub(super) fn read(&mut self, spans: &[Span], mut orphan: impl FnMut(SpanId, u32)) {
        let mut ids = UnorderedMap::with_capacity(spans.len());
        for (at, span) in (0u32..).zip(spans) {
            ids.insert_first(span.span_id.0, at);
        }
        self.parent.clear();
        self.parent.extend((0u32..).zip(spans).map(|(at, span)| {
            let Some(id) = span.parent_id else {
                return NONE;
            };
            match ids.get(&id.0) {
                Some(parent) if *parent != at => *parent,
                Some(_) => NONE,
                None => {
                    orphan(id, at);
                    NONE
                }
            }
        }));
    }

    /// How many spans there are.
    pub(super) const fn len(&self) -> usize {
        self.parent.len()
    }

    /// The span above, or [`NONE`].
    pub(super) fn parent(&self, at: usize) -> u32 {
        self.parent.get(at).copied().unwrap_or(NONE)
    }

    /// Takes a span from its parent.
    pub(super) fn cut(&mut self, at: usize) {
        if let Some(parent) = self.parent.get_mut(at) {
            *parent = NONE;
        }
    }

    /// Gathers the children of each span, in their order.
    pub(super) fn gather(&mut self) {
        self.from.clear();
        self.from.resize(self.parent.len() + 1, 0);
        for parent in self.parent.iter().filter(|p| **p != NONE) {
            if let Some(count) = self.from.get_mut(*parent as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for slot in &mut self.from {
            sum += *slot;
            *slot = sum;
        }
        // Filled from the last child down, each pushing the end of its parent's to where they begin.
        self.children.clear();
        self.children.resize(sum as usize, 0);
        let mut ends: Vec<u32> = self.from.get(1..).unwrap_or_default().to_vec();
        for (at, parent) in self.parent.iter().enumerate().rev() {
            let Some(end) = ends.get_mut(*parent as usize).filter(|_| *parent != NONE) else {
                continue;
            };
            *end -= 1;
            if let Some(slot) = self.children.get_mut(*end as usize) {
                *slot = at as u32;
            }
        }
    }

    /// The children of a span, after [`Families::gather`].
    pub(super) fn children(&self, span: usize) -> &[u32] {
        let at = |ix: usize| self.from.get(ix).map_or(0, |f| *f as usize);
        self.children
            .get(at(span)..at(span + 1))
            .unwrap_or_default()
    }
}
