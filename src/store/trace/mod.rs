//! One trace as a tree: which span is below which, what each did by itself, which way the time took, and what the clocks hide.
//!
//! Rows lie flat, depth-first, children in order of their start, so that a part of the tree is a range of rows. Nothing is lost: a
//! parent that was not recorded gets a row of its own above its children, and a circle of parents is cut at its earliest span.

mod critical;
mod list;
mod search;
mod skew;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::base::time::Timestamp;
use crate::model::span::{Span, SpanId};
use crate::store::Snapshot;
use crate::store::calls::Call;
use crate::store::family::Families;

pub use critical::Piece;
pub use list::{TraceItem, list, summary_of};
pub use search::search;
pub use skew::Skew;

pub use crate::store::family::NONE;

/// One row of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The span, counted from [`Tree::first`]; [`NONE`] when it was not recorded.
    pub span: u32,
    /// The row of its parent; [`NONE`] for a root.
    pub parent: u32,
    /// The row after its last descendant.
    pub end: u32,
    /// How deep it lies.
    pub depth: u16,
    /// Whether it had not ended when it was recorded: its bar reaches to the end of the trace.
    pub is_open: bool,
    /// Nanoseconds from [`Tree::origin`] to its start, by the clock of its own service.
    pub start: i64,
    /// Its length in nanoseconds.
    pub length: i64,
    /// What is added to its start so that it stands by the clock of the first service.
    pub shift: i64,
    /// Time in which none of its children ran (by corrected clocks); no more than `length`.
    pub own: i64,
}

impl Row {
    /// From start to end, in nanoseconds from the origin.
    pub const fn times(&self, clocks: Clocks) -> Range<i64> {
        let shift = match clocks {
            Clocks::Raw => 0,
            Clocks::Corrected => self.shift,
        };
        let start = self.start.saturating_add(shift);
        start..start.saturating_add(self.length)
    }

    /// Whether it stands for a span that was not recorded.
    pub const fn is_missing(&self) -> bool {
        self.span == NONE
    }
}

/// By which clocks times are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Clocks {
    /// As each service wrote them.
    Raw,
    /// Moved so that callees lie within their calls.
    Corrected,
}

/// One trace.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Index of its first span in the snapshot.
    pub first: usize,
    /// Depth-first.
    pub rows: Vec<Row>,
    /// Ids of the spans that were not recorded, by row.
    pub missing: Vec<(u32, SpanId)>,
    /// The earliest start by any clock.
    pub origin: Timestamp,
    /// From the first start to the last end, by both clocks.
    pub extent: [Range<i64>; 2],
    /// The way that the time took, in order of row and time, by both clocks.
    pub critical: [Vec<Piece>; 2],
    /// Services whose clocks differ from their callers'.
    pub skews: Vec<Skew>,
    /// The row of each span.
    row_of: Vec<u32>,
}

impl Clocks {
    const fn at(self) -> usize {
        match self {
            Self::Raw => 0,
            Self::Corrected => 1,
        }
    }
}

impl Tree {
    /// The tree of the spans `range` of a snapshot, which are those of one trace ([`spans_of`]).
    pub fn new(snapshot: &Snapshot, range: Range<usize>) -> Self {
        let spans = snapshot.spans.get(range.clone()).unwrap_or_default();
        Self::of(spans, calls_of(&snapshot.calls, &range), range.start)
    }

    fn of(spans: &[Span], calls: &[Call], first: usize) -> Self {
        let mut tree = Self {
            first,
            ..Self::default()
        };
        let Some(origin) = spans.iter().map(|s| s.start).min() else {
            return tree;
        };
        tree.origin = origin;
        Links::new(spans).walk(spans, &mut tree);
        tree.measure(spans);
        tree.skews = skew::correct(&mut tree.rows, spans, calls, first);
        tree.extent = [Clocks::Raw, Clocks::Corrected].map(|clocks| extent(&tree.rows, clocks));
        tree.close_open();
        own_times(&mut tree.rows);
        let raw = critical::path(&tree.rows, Clocks::Raw);
        let corrected = if tree.rows.iter().any(|row| row.shift != 0) {
            critical::path(&tree.rows, Clocks::Corrected)
        } else {
            raw.clone()
        };
        tree.critical = [raw, corrected];
        tree
    }

    /// The row of a span of the snapshot, when it is of this trace.
    pub fn row_of(&self, span: usize) -> Option<usize> {
        let row = *self.row_of.get(span.checked_sub(self.first)?)?;
        (row != NONE).then_some(row as usize)
    }

    /// The span of a row, as an index into the snapshot.
    pub fn span_at(&self, row: usize) -> Option<usize> {
        let span = self.rows.get(row)?.span;
        (span != NONE).then(|| self.first + span as usize)
    }

    /// The id of the span that a row stands for when it was not recorded.
    pub fn missing_id(&self, row: usize) -> Option<SpanId> {
        let at = self.missing.partition_point(|(r, _)| (*r as usize) < row);
        self.missing
            .get(at)
            .filter(|(r, _)| *r as usize == row)
            .map(|(_, id)| *id)
    }

    /// From the first start to the last end.
    pub fn extent(&self, clocks: Clocks) -> Range<i64> {
        self.extent[clocks.at()].clone()
    }

    /// The pieces of the critical path within a row.
    pub fn critical(&self, row: usize, clocks: Clocks) -> &[Piece] {
        let all = &self.critical[clocks.at()];
        let from = all.partition_point(|p| (p.row as usize) < row);
        let to = all.partition_point(|p| p.row as usize <= row);
        all.get(from..to).unwrap_or_default()
    }

    /// The rows above a row, the nearest first.
    pub fn above(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        let parent = |row: usize| {
            let parent = self.rows.get(row)?.parent;
            (parent != NONE).then_some(parent as usize)
        };
        std::iter::successors(parent(row), move |row| parent(*row))
    }

    /// The rows that show when those that `is_collapsed` names show no children.
    pub fn visible(&self, is_collapsed: impl Fn(usize) -> bool) -> Vec<u32> {
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut at = 0;
        while let Some(row) = self.rows.get(at) {
            rows.push(at as u32);
            at = if is_collapsed(at) {
                (row.end as usize).max(at + 1)
            } else {
                at + 1
            };
        }
        rows
    }

    /// Times of recorded spans, then those of missing ones: from the first start to the last end of their children.
    fn measure(&mut self, spans: &[Span]) {
        for row in &mut self.rows {
            let Some(span) = spans.get(row.span as usize) else {
                continue;
            };
            row.start = span.start.nanos_since(self.origin);
            row.length = span
                .duration_ms
                .map_or(0, |ms| (ms.max(0.0) * 1e6).round() as i64);
            row.is_open = span.duration_ms.is_none();
        }
        for (at, _) in &self.missing {
            let at = *at as usize;
            let Some(end) = self.rows.get(at).map(|r| r.end as usize) else {
                continue;
            };
            let mut hull: Option<Range<i64>> = None;
            let mut child = at + 1;
            while let Some(row) = self.rows.get(child).filter(|_| child < end) {
                let times = row.times(Clocks::Raw);
                hull = Some(hull.map_or_else(
                    || times.clone(),
                    |h| h.start.min(times.start)..h.end.max(times.end),
                ));
                child = (row.end as usize).max(child + 1);
            }
            if let (Some(hull), Some(row)) = (hull, self.rows.get_mut(at)) {
                row.start = hull.start;
                row.length = hull.end.saturating_sub(hull.start);
            }
        }
    }

    /// What had not ended reaches to the end of the trace.
    fn close_open(&mut self) {
        let end = self.extent(Clocks::Corrected).end;
        for row in self.rows.iter_mut().filter(|r| r.is_open) {
            let start = row.times(Clocks::Corrected).start;
            row.length = end.saturating_sub(start).max(0);
        }
        self.extent[0] = extent(&self.rows, Clocks::Raw);
    }
}

/// The spans of a trace; empty when the snapshot holds none.
pub fn spans_of(snapshot: &Snapshot, trace_id: &str) -> Range<usize> {
    let spans = &snapshot.spans;
    let from = spans.partition_point(|s| s.trace_id.as_ref() < trace_id);
    let rest = spans.get(from..).unwrap_or_default();
    let length = rest.partition_point(|s| s.trace_id.as_ref() == trace_id);
    from..from + length
}

/// The calls whose callee is one of those spans.
pub fn calls_of<'a>(calls: &'a [Call], range: &Range<usize>) -> &'a [Call] {
    let from = calls.partition_point(|c| c.callee < range.start);
    let to = calls.partition_point(|c| c.callee < range.end);
    calls.get(from..to).unwrap_or_default()
}

fn extent(rows: &[Row], clocks: Clocks) -> Range<i64> {
    rows.iter()
        .map(|row| row.times(clocks))
        .reduce(|a, b| a.start.min(b.start)..a.end.max(b.end))
        .unwrap_or(0..0)
}

/// Who is below whom, without circles.
struct Links {
    families: Families,
    /// (id of a parent that was not recorded, child), in order of child.
    orphans: Vec<(SpanId, u32)>,
}

impl Links {
    fn new(spans: &[Span]) -> Self {
        let mut links = Self {
            families: Families::default(),
            orphans: Vec::new(),
        };
        // Of two spans with one id the earlier is the parent, as in `store::calls`.
        let orphans = &mut links.orphans;
        links
            .families
            .read(spans, |id, child| orphans.push((id, child)));
        links.cut_circles();
        links.families.gather();
        links
    }

    /// Walks up from each span that was not walked yet; what comes back to itself is cut at its earliest span.
    fn cut_circles(&mut self) {
        let mut walk = vec![NONE; self.families.len()];
        for start in 0..walk.len() {
            let mut at = start;
            while walk.get(at) == Some(&NONE) {
                if let Some(mark) = walk.get_mut(at) {
                    *mark = start as u32;
                }
                if self.up(at) == NONE as usize {
                    break;
                }
                at = self.up(at);
            }
            let is_circle = walk.get(at) == Some(&(start as u32)) && self.up(at) != NONE as usize;
            if !is_circle {
                continue;
            }
            let mut earliest = at;
            let mut next = self.up(at);
            while next != at && next != NONE as usize {
                earliest = earliest.min(next);
                next = self.up(next);
            }
            if next == at {
                self.families.cut(earliest);
            }
        }
    }

    fn up(&self, at: usize) -> usize {
        self.families.parent(at) as usize
    }

    /// Roots in order of their first start; the children of one missing parent stay together.
    fn roots(&self) -> Vec<(Option<SpanId>, Vec<u32>)> {
        let mut orphans = self.orphans.clone();
        orphans.sort_unstable();
        let mut roots: Vec<(Option<SpanId>, Vec<u32>)> = orphans
            .chunk_by(|a, b| a.0 == b.0)
            .filter_map(|family| {
                let id = family.first()?.0;
                Some((Some(id), family.iter().map(|f| f.1).collect()))
            })
            .collect();
        // They were found in order.
        let is_orphan: Vec<u32> = self.orphans.iter().map(|o| o.1).collect();
        for at in 0..self.families.len() as u32 {
            if self.families.parent(at as usize) == NONE && is_orphan.binary_search(&at).is_err() {
                roots.push((None, vec![at]));
            }
        }
        roots.sort_by_key(|(_, spans)| spans.first().copied());
        roots
    }

    /// Fills the rows of `tree`.
    fn walk(&self, spans: &[Span], tree: &mut Tree) {
        tree.rows.reserve(spans.len() + self.orphans.len());
        tree.row_of = vec![NONE; spans.len()];
        // (span, row of the parent, depth)
        let mut stack: Vec<(u32, u32, u16)> = Vec::new();
        for (missing, members) in self.roots() {
            let mut above = (NONE, 0);
            if let Some(id) = missing {
                let row = tree.rows.len() as u32;
                tree.missing.push((row, id));
                tree.rows.push(blank(NONE, NONE, 0));
                above = (row, 1);
            }
            stack.extend(members.iter().rev().map(|m| (*m, above.0, above.1)));
            while let Some((span, parent, depth)) = stack.pop() {
                let row = tree.rows.len() as u32;
                tree.rows.push(blank(span, parent, depth));
                if let Some(slot) = tree.row_of.get_mut(span as usize) {
                    *slot = row;
                }
                let below = depth.saturating_add(1);
                let children = self.families.children(span as usize);
                stack.extend(children.iter().rev().map(|c| (*c, row, below)));
            }
        }
        ends(&mut tree.rows);
    }
}

const fn blank(span: u32, parent: u32, depth: u16) -> Row {
    Row {
        span,
        parent,
        end: 0,
        depth,
        is_open: false,
        start: 0,
        length: 0,
        shift: 0,
        own: 0,
    }
}

/// The end of each part of the tree: from the last row up, each row pushes its parent's.
fn ends(rows: &mut [Row]) {
    for at in (0..rows.len()).rev() {
        let Some(row) = rows.get_mut(at) else {
            continue;
        };
        row.end = row.end.max(at as u32 + 1);
        let (end, parent) = (row.end, row.parent as usize);
        if let Some(above) = rows.get_mut(parent) {
            above.end = above.end.max(end);
        }
    }
}

/// The time of each row less the time that its children cover together, by corrected clocks.
fn own_times(rows: &mut [Row]) {
    // For each row: how far its children cover it so far, and how much that is. Children mostly come in order of their start; those
    // that do not (their clock was corrected) are put in order.
    let mut covered: Vec<(i64, i64)> = Vec::new();
    for at in 0..rows.len() {
        let Some(row) = rows.get(at).copied() else {
            continue;
        };
        let times = row.times(Clocks::Corrected);
        covered.clear();
        let mut child = at + 1;
        while let Some(below) = rows.get(child).filter(|_| child < row.end as usize) {
            let inner = below.times(Clocks::Corrected);
            let (from, to) = (inner.start.max(times.start), inner.end.min(times.end));
            if from < to {
                covered.push((from, to));
            }
            child = (below.end as usize).max(child + 1);
        }
        if !covered.is_sorted() {
            covered.sort_unstable();
        }
        let (mut until, mut sum) = (times.start, 0i64);
        for (from, to) in &covered {
            sum += (to - from.max(&until).min(to)).max(0);
            until = until.max(*to);
        }
        if let Some(row) = rows.get_mut(at) {
            row.own = (row.length - sum).clamp(0, row.length);
            if row.is_missing() {
                row.own = 0;
            }
        }
    }
}
