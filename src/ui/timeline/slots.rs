//! What the lanes draw: one wish for each lane on screen, and its last answer while the next is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::memo::{Answer, Memo};
use crate::session::notes::Notes;
use crate::session::view::{LaneRow, LaneSpec};
use crate::ui::frame::Frame;
use crate::ui::lanes::{self, Lane, Query};

/// What an answer hangs on, beside the lane itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaneKey {
    generation: u64,
    /// Of the notes; 0 for kinds that read none.
    revision: u64,
    query: Query,
}

type LaneMemo = Memo<LaneKey, Box<dyn Lane>>;

/// The prepared lanes.
#[derive(Debug, Default)]
pub(super) struct Slots {
    memos: BTreeMap<LaneSpec, LaneMemo>,
    notes: Arc<Notes>,
    revision: u64,
}

impl Slots {
    /// Follows the notes, and forgets lanes that are no longer there.
    pub(super) fn begin(&mut self, frame: &Frame<'_>) {
        if self.revision == 0 || *self.notes != *frame.notes {
            self.notes = Arc::new(frame.notes.clone());
            self.revision += 1;
        }
        let lanes: &[LaneRow] = &frame.view.lanes;
        if self.memos.len() > lanes.len() {
            self.memos
                .retain(|spec, _| lanes.iter().any(|l| l.spec == *spec));
        }
    }

    /// What there is to draw of a lane; asks for what is missing.
    pub(super) fn want(
        &mut self,
        frame: &Frame<'_>,
        spec: &LaneSpec,
        query: Query,
    ) -> Answer<'_, Box<dyn Lane>> {
        let (Some(incident), Some(kind)) = (frame.incident, lanes::by_id(&spec.kind)) else {
            return Answer::Failed("");
        };
        let key = LaneKey {
            generation: incident.generation,
            revision: if kind.reads_notes() { self.revision } else { 0 },
            query,
        };
        let notes = Arc::clone(&self.notes);
        let memo = match self.memos.contains_key(spec) {
            true => self.memos.get_mut(spec),
            false => Some(self.memos.entry(spec.clone()).or_default()),
        };
        let Some(memo) = memo else {
            return Answer::Pending;
        };
        let incident = incident.clone();
        let spec = spec.clone();
        memo.want(frame.pool, &key, move |cancel| {
            kind.prepare_noted(&spec, &incident, &notes, &query, cancel)
        })
    }

    /// The last answer of a lane.
    pub(super) fn last(&self, spec: &LaneSpec) -> Option<&dyn Lane> {
        self.memos.get(spec)?.last().map(|lane| &**lane)
    }
}
