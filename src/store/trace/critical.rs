//! The critical path: the pieces of time that, made shorter, would have made the trace shorter.
//!
//! As in CRISP (Zhang et al., "CRISP: Critical Path Analysis of Large-Scale Microservice Architectures", USENIX ATC 2022, §4) and
//! in Jaeger's view of it: walk back from the end of the root; what ran last is the last-finishing child; before that child began, the
//! last-finishing child among those that had ended by then; time between them is the parent's own. Children are cut to their parent,
//! so an asynchronous child counts only as far as somebody waited for it.

use super::{Clocks, NONE, Row};

/// A piece of the critical path: time that a row spent itself, in nanoseconds from the trace's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The row.
    pub row: u32,
    /// From when.
    pub from: i64,
    /// Until when.
    pub to: i64,
}

/// The pieces of the path through the root that lasts longest (of two the earlier), in order of row and time.
pub(super) fn path(rows: &[Row], clocks: Clocks) -> Vec<Piece> {
    let root = (0u32..)
        .zip(rows)
        .filter(|(_, row)| row.parent == NONE)
        .max_by_key(|(at, row)| (row.length, std::cmp::Reverse(*at)));
    let Some((root, row)) = root else {
        return Vec::new();
    };
    let times = row.times(clocks);
    let mut pieces = Vec::new();
    let mut children: Vec<(i64, i64, u32)> = Vec::new();
    // The part of each row that lies on the path. Parents stand above their children, so one walk down meets each when it is known.
    let mut on_path: Vec<Option<(i64, i64)>> = vec![None; rows.len()];
    if let Some(slot) = on_path.get_mut(root as usize) {
        *slot = Some((times.start, times.end));
    }
    for (at, row) in rows.iter().enumerate().skip(root as usize) {
        let Some((from, to)) = on_path.get(at).copied().flatten() else {
            continue;
        };
        children.clear();
        let mut child = at + 1;
        while let Some(below) = rows.get(child).filter(|_| child < row.end as usize) {
            let times = below.times(clocks);
            let (start, end) = (times.start.max(from), times.end.min(to));
            if start < end {
                children.push((end, start, child as u32));
            }
            child = (below.end as usize).max(child + 1);
        }
        children.sort_unstable_by(|a, b| b.cmp(a));
        let first = pieces.len();
        let mut until = to;
        for (end, start, child) in &children {
            if *end > until {
                continue;
            }
            push(&mut pieces, row, at as u32, *end, until);
            if let Some(slot) = on_path.get_mut(*child as usize) {
                *slot = Some((*start, *end));
            }
            until = *start;
        }
        push(&mut pieces, row, at as u32, from, until);
        // They were found from the end.
        if let Some(own) = pieces.get_mut(first..) {
            own.reverse();
        }
    }
    pieces
}

fn push(pieces: &mut Vec<Piece>, row: &Row, at: u32, from: i64, to: i64) {
    if from < to && !row.is_missing() {
        pieces.push(Piece { row: at, from, to });
    }
}
