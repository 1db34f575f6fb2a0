//! What the view of one trace remembers: zoom, what is folded, what is picked, what is looked for.

use std::sync::Arc;

use super::axis::Axis;
use super::laid::Laid;
use crate::session::incident::Incident;
use crate::store::Snapshot;
use crate::store::trace::{Clocks, Row};
use crate::ui::frame::Frame;
use crate::ui::request::{FocusEdit, Request};

/// Of the trace that is open.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Rows whose children are hidden; shorter than the rows when nothing beyond is.
    pub(super) folded: Arc<Vec<bool>>,
    /// Counts up with every change of `folded`, over all traces.
    pub(super) folding: u64,
    /// How many rows of it are folded.
    pub(super) folds: usize,
    pub(super) axis: Axis,
    /// `None`: corrected when that makes a difference.
    pub(super) clocks: Option<Clocks>,
    pub(super) is_flame: bool,
    pub(super) query: String,
    /// The picked row.
    pub(super) row: Option<usize>,
    /// The span that was last picked from outside.
    pub(super) seen: Option<usize>,
    /// The row to bring into view.
    pub(super) reveal: Option<usize>,
    /// Scroll place and height of the rows at the last frame.
    pub(super) scroll: f32,
    pub(super) height: f32,
    /// The keyboard goes to the search field, or back to the rows.
    pub(super) wants_search: bool,
    pub(super) wants_rows: bool,
    /// Whether a person opened or closed the attributes; without, they open where there is room.
    pub(super) is_details_open: Option<bool>,
    pub(super) is_details_shown: bool,
    /// The trace was closed in this frame.
    pub(super) is_closed: bool,
    /// Width of the names, as a share.
    pub(super) names: Option<f32>,
}

/// What a frame shows of one trace.
pub(super) struct Show<'a> {
    pub(super) incident: &'a Incident,
    pub(super) laid: &'a Laid,
    /// Rows that are not hidden by folding.
    pub(super) rows: &'a [u32],
    /// Rows that hold the searched text.
    pub(super) found: &'a [u32],
    pub(super) clocks: Clocks,
}

impl<'a> Show<'a> {
    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.incident.snapshot()
    }

    pub(super) fn row(&self, row: usize) -> Option<&'a Row> {
        self.laid.tree.rows.get(row)
    }

    pub(super) fn span(&self, row: usize) -> Option<&'a crate::model::span::Span> {
        self.snapshot().spans.get(self.laid.tree.span_at(row)?)
    }

    /// Place of a row among those shown.
    pub(super) fn place(&self, row: usize) -> Option<usize> {
        self.rows.binary_search(&(row as u32)).ok()
    }
}

impl State {
    /// Another trace is open: nothing is folded, all of it is shown.
    pub(super) fn start_over(&mut self) {
        self.folded = Arc::default();
        self.folding += 1;
        self.folds = 0;
        self.axis.reset();
        self.clocks = None;
        self.row = None;
        self.seen = None;
        self.reveal = None;
        self.scroll = 0.0;
    }

    pub(super) fn is_folded(&self, row: usize) -> bool {
        self.folded.get(row).copied().unwrap_or(false)
    }

    /// Hides or shows the children of a row.
    pub(super) fn fold(&mut self, row: usize, is_folded: bool) {
        if self.is_folded(row) == is_folded {
            return;
        }
        let folded = Arc::make_mut(&mut self.folded);
        if folded.len() <= row {
            folded.resize(row + 1, false);
        }
        if let Some(slot) = folded.get_mut(row) {
            *slot = is_folded;
        }
        self.folds = if is_folded {
            self.folds + 1
        } else {
            self.folds.saturating_sub(1)
        };
        self.folding += 1;
    }

    /// Shows only the roots and what is right below them, or everything.
    pub(super) fn fold_all(&mut self, laid: &Laid, is_folded: bool) {
        let rows = &laid.tree.rows;
        self.folded = Arc::new(if is_folded {
            (0..)
                .zip(rows)
                .map(|(at, r): (u32, _)| r.depth >= 1 && r.end > at + 1)
                .collect()
        } else {
            Vec::new()
        });
        self.folds = self.folded.iter().filter(|f| **f).count();
        self.folding += 1;
    }

    /// Picks a row, and tells the rest of the window when it has a span.
    pub(super) fn pick(&mut self, frame: &mut Frame<'_>, laid: &Laid, row: usize) {
        self.show_row(laid, row);
        let span = laid.tree.span_at(row);
        if self.seen != span {
            self.seen = span;
            frame.ask(Request::Focus(FocusEdit::Span(span)));
        }
    }

    /// Picks a row and brings it into view.
    pub(super) fn show_row(&mut self, laid: &Laid, row: usize) {
        self.row = Some(row);
        self.reveal = Some(row);
        let above: Vec<usize> = laid
            .tree
            .above(row)
            .filter(|r| self.is_folded(*r))
            .collect();
        for row in above {
            self.fold(row, false);
        }
    }

    /// The searched row after or before the picked one; goes round.
    pub(super) fn next_found(&self, found: &[u32], is_forward: bool) -> Option<usize> {
        let at = self.row.map_or(0, |r| r as u32);
        let next = if is_forward {
            let start = found.partition_point(|r| *r <= at);
            let start = if self.row.is_none() { 0 } else { start };
            found.get(start).or_else(|| found.first())
        } else {
            let end = found.partition_point(|r| *r < at);
            end.checked_sub(1)
                .and_then(|e| found.get(e))
                .or_else(|| found.last())
        };
        next.map(|r| *r as usize)
    }
}
