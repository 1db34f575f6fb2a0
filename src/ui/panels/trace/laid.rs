//! One trace, laid out once on a worker: its tree, the colours of its services, and what is worth saying of the whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::cancel::Cancel;
use crate::model::span::Span;
use crate::store::Snapshot;
use crate::store::calls::Call;
use crate::store::trace::{Tree, spans_of};

/// How many services have a colour of their own.
const COLOURS: usize = 8;

/// A service of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: Arc<str>,
    /// Its place among the colours of series; 8 is the colour of all others.
    pub colour: usize,
    /// Time that its spans spent themselves, in nanoseconds.
    pub own: i64,
}

/// One trace.
#[derive(Debug, Default)]
pub struct Laid {
    /// Its rows.
    pub tree: Tree,
    /// Every row, for when nothing is folded.
    pub all: Arc<Vec<u32>>,
    /// Its services, by name.
    pub services: Vec<Service>,
    /// The place of each row's service among [`Laid::services`]; one beyond for rows without a span.
    pub service_of: Vec<u32>,
    /// Spans that ended with an error.
    pub errors: usize,
    /// The largest gap between a caller and its callee: milliseconds, and the row of the callee.
    pub gap: Option<(f64, usize)>,
    /// Whether any span has a connect part, and a queue part.
    pub parts: [bool; 2],
    /// Whether any row lies two levels below a root, so that something can be folded away.
    pub is_deep: bool,
    /// Whether any span had not ended.
    pub has_open: bool,
    /// Whether any span was made up from its caller's record.
    pub has_inferred: bool,
}

impl Laid {
    /// Lays a trace out.
    pub fn new(snapshot: &Snapshot, trace_id: &str, cancel: &Cancel) -> Result<Self, String> {
        let range = spans_of(snapshot, trace_id);
        let spans = snapshot.spans.get(range.clone()).unwrap_or_default();
        let tree = Tree::new(snapshot, range);
        if cancel.is_cancelled() {
            return Err("cancelled".to_owned());
        }
        let mut laid = Self {
            errors: spans.iter().filter(|s| s.status.is_error()).count(),
            parts: [
                spans
                    .iter()
                    .any(|s| s.connect_ms.is_some_and(|ms| ms > 0.0)),
                spans.iter().any(|s| s.queue_ms.is_some_and(|ms| ms > 0.0)),
            ],
            is_deep: tree.rows.iter().any(|r| r.depth >= 2),
            has_open: spans.iter().any(|s| s.duration_ms.is_none()),
            has_inferred: spans.iter().any(|s| s.is_inferred),
            all: Arc::new((0..tree.rows.len() as u32).collect()),
            tree,
            ..Self::default()
        };
        laid.find_services(spans);
        laid.gap = largest_gap(snapshot, &laid.tree);
        Ok(laid)
    }

    /// The service of a row and its colour.
    pub fn service(&self, row: usize) -> Option<&Service> {
        self.services.get(*self.service_of.get(row)? as usize)
    }

    /// A span in a tree has no more than a few services: they are found by address first.
    fn find_services(&mut self, spans: &[Span]) {
        let mut by_address: Vec<(usize, u32)> = Vec::new();
        let mut by_name: BTreeMap<Arc<str>, u32> = BTreeMap::new();
        let mut own: Vec<i64> = Vec::new();
        self.service_of.reserve(self.tree.rows.len());
        for row in &self.tree.rows {
            let Some(span) = spans.get(row.span as usize) else {
                self.service_of.push(u32::MAX);
                continue;
            };
            let address = Arc::as_ptr(&span.service).cast::<u8>().addr();
            let known = by_address.iter().find(|(known, _)| *known == address);
            let place = if let Some((_, place)) = known {
                *place
            } else {
                let next = by_name.len() as u32;
                let place = *by_name.entry(Arc::clone(&span.service)).or_insert(next);
                if by_address.len() < 64 {
                    by_address.push((address, place));
                }
                if own.len() <= place as usize {
                    own.push(0);
                }
                place
            };
            if let Some(sum) = own.get_mut(place as usize) {
                *sum += row.own;
            }
            self.service_of.push(place);
        }
        // From order of finding to order of name.
        let mut place_of = vec![0u32; by_name.len()];
        for (to, (name, from)) in (0u32..).zip(by_name) {
            if let Some(place) = place_of.get_mut(from as usize) {
                *place = to;
            }
            self.services.push(Service {
                name,
                colour: COLOURS,
                own: own.get(from as usize).copied().unwrap_or(0),
            });
        }
        for place in &mut self.service_of {
            *place = place_of.get(*place as usize).copied().unwrap_or(u32::MAX);
        }
        give_colours(&mut self.services);
    }
}

/// The eight services that took the most time get a colour, each by its name, so that it mostly has the same one in every trace.
fn give_colours(services: &mut [Service]) {
    let mut chosen: Vec<usize> = (0..services.len()).collect();
    chosen.sort_by_key(|at| std::cmp::Reverse(services.get(*at).map(|s| s.own)));
    chosen.truncate(COLOURS);
    chosen.sort_unstable();
    let mut is_taken = [false; COLOURS];
    for at in chosen {
        let Some(service) = services.get_mut(at) else {
            continue;
        };
        let wish = service.name.bytes().fold(0xcbf2_9ce4_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        }) as usize;
        let free = (0..COLOURS)
            .map(|step| (wish + step) % COLOURS)
            .find(|c| is_taken.get(*c) == Some(&false));
        if let Some(colour) = free {
            service.colour = colour;
            if let Some(taken) = is_taken.get_mut(colour) {
                *taken = true;
            }
        }
    }
}

/// The call whose callee is this span of the snapshot.
pub(super) fn call_of(snapshot: &Snapshot, span: usize) -> Option<&Call> {
    let calls = &snapshot.calls;
    calls
        .get(calls.partition_point(|c| c.callee < span))
        .filter(|c| c.callee == span)
}

fn largest_gap(snapshot: &Snapshot, tree: &Tree) -> Option<(f64, usize)> {
    let range = tree.first..tree.first + tree.rows.len();
    crate::store::trace::calls_of(&snapshot.calls, &range)
        .iter()
        .filter(|c| c.has_network_gap())
        .filter_map(|c| Some((c.gap_ms?, tree.row_of(c.callee)?)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
}
