//! Clocks of several machines: a callee that seems to begin before its call, or to end after it, is moved into the call.
//!
//! The method is that of Jaeger's clock-skew adjuster (`adjuster/clockskew.go`): going down the tree, a span of another host that
//! does not fit into its parent is moved so that it lies in the middle of it (as if the network took as long there as back); one that
//! is longer than its parent is moved only if it begins too early; everything below it on the same host moves along. Lengths never
//! change. Where it differs: the host is the service (a new segment of the same service is looked at anew), and what the resolution
//! of the clocks explains is no skew (`store::calls`).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Clocks, NONE, Row};
use crate::model::span::Span;
use crate::store::calls::{Call, clock_tolerance_ms};

/// How far the clock of a service is from that of its callers, within one trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skew {
    /// The service.
    pub service: Arc<str>,
    /// How many of its spans did not fit into their calls.
    pub count: usize,
    /// How many of its spans were compared with a call.
    pub of: usize,
    /// The smallest and the largest move, in nanoseconds; above 0: later.
    pub moves: (i64, i64),
}

/// Sets the shifts of rows, and says what was moved, by service.
pub(super) fn correct(rows: &mut [Row], spans: &[Span], calls: &[Call], first: usize) -> Vec<Skew> {
    let mut skews: BTreeMap<Arc<str>, Skew> = BTreeMap::new();
    let mut compared: BTreeMap<Arc<str>, usize> = BTreeMap::new();
    for at in 0..rows.len() {
        let Some(row) = rows.get(at).copied().filter(|r| r.parent != NONE) else {
            continue;
        };
        let Some(above) = rows.get(row.parent as usize).copied() else {
            continue;
        };
        let pair = spans
            .get(row.span as usize)
            .zip(spans.get(above.span as usize));
        // A parent that was not recorded has no times of its own.
        let Some((span, parent)) = pair else {
            continue;
        };
        let is_other_host = span.service != parent.service || span.is_segment;
        let mut shift = above.shift;
        if is_other_host && !span.is_inferred {
            let is_waited_for = !calls
                .get(calls.partition_point(|c| c.callee < first + row.span as usize))
                .is_some_and(|c| c.callee == first + row.span as usize && c.is_async);
            // Of one service the clock is known already: that of its segment above.
            let known = if span.service == parent.service {
                above.shift
            } else {
                0
            };
            *compared.entry(Arc::clone(&span.service)).or_default() += 1;
            shift = fit(&row, known, &above, (span, parent), is_waited_for);
            if shift != known {
                let skew = skews
                    .entry(Arc::clone(&span.service))
                    .or_insert_with(|| Skew {
                        service: Arc::clone(&span.service),
                        count: 0,
                        of: 0,
                        moves: (shift, shift),
                    });
                skew.count += 1;
                skew.moves = (skew.moves.0.min(shift), skew.moves.1.max(shift));
            }
        }
        if let Some(row) = rows.get_mut(at) {
            row.shift = shift;
        }
    }
    for skew in skews.values_mut() {
        skew.of = compared.get(&skew.service).copied().unwrap_or(skew.count);
    }
    skews.into_values().collect()
}

/// The shift that puts `row` into `above`, which is corrected already; `known` when it fits with that.
fn fit(row: &Row, known: i64, above: &Row, pair: (&Span, &Span), is_waited_for: bool) -> i64 {
    let tolerance = (clock_tolerance_ms(pair.0, pair.1) * 1e6) as i64;
    let outer = above.times(Clocks::Corrected);
    let start = row.start.saturating_add(known);
    let end = start.saturating_add(row.length);
    let begins_early = start < outer.start - tolerance;
    let ends_late = end > outer.end.saturating_add(tolerance);
    let is_longer = row.length > above.length || row.is_open || above.is_open || !is_waited_for;
    if is_longer {
        return if begins_early {
            outer.start - row.start
        } else {
            known
        };
    }
    if begins_early || ends_late {
        outer.start + (above.length - row.length) / 2 - row.start
    } else {
        known
    }
}
