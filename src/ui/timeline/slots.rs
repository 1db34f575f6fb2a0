//! What the lanes draw: one wish for each lane on screen, and its last answer while the next is made.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::memo::{Answer, Memo};
use crate::session::notes::Notes;
use crate::session::settings::Lang;
use crate::session::view::{LaneRow, LaneSpec};
use crate::ui::frame::Frame;
use crate::ui::lanes::canvas::MeshSlot;
use crate::ui::lanes::{self, Lane, Query};
use crate::ui::words::Words;

/// Stands for the reason where a view holds a kind that this version lacks; the strip says it in words.
pub(super) const UNKNOWN_KIND: &str = "unknown kind";

/// What an answer hangs on, beside the lane itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaneKey {
    generation: u64,
    /// Of the notes; 0 for kinds that read none.
    revision: u64,
    query: Query,
}

/// Which part of a lane is put into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What it reads at an instant.
    At(Timestamp),
    /// What is measured over a range.
    Over(TimeRange),
}

/// What a lane says, as name and value, with the place of its colour in the theme.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) colour: Option<usize>,
}

#[derive(Debug, Default)]
struct Slot {
    memo: Memo<LaneKey, Box<dyn Lane>>,
    mesh: MeshSlot,
    said: Option<(Part, LaneKey, Lang, Vec<Said>)>,
}

/// The prepared lanes.
#[derive(Debug, Default)]
pub(super) struct Slots {
    by_spec: BTreeMap<LaneSpec, Slot>,
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
        if self.by_spec.len() > lanes.len() {
            self.by_spec
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
        let Some(incident) = frame.incident else {
            return Answer::Pending;
        };
        let Some(kind) = lanes::by_id(&spec.kind) else {
            return Answer::Failed(UNKNOWN_KIND);
        };
        let key = LaneKey {
            generation: incident.generation,
            revision: if kind.reads_notes() { self.revision } else { 0 },
            query,
        };
        if !self.by_spec.contains_key(spec) {
            self.by_spec.insert(spec.clone(), Slot::default());
        }
        let Some(slot) = self.by_spec.get_mut(spec) else {
            return Answer::Pending;
        };
        let notes = Arc::clone(&self.notes);
        let incident = incident.clone();
        let spec = spec.clone();
        slot.memo.want(frame.pool, &key, move |cancel| {
            kind.prepare_noted(&spec, &incident, &notes, &query, cancel)
        })
    }

    /// The last answer of a lane.
    pub(super) fn last(&self, spec: &LaneSpec) -> Option<&dyn Lane> {
        self.by_spec.get(spec)?.memo.last().map(|lane| &**lane)
    }

    /// The last answer of a lane, and the mesh that was drawn in its place.
    pub(super) fn drawn(&self, spec: &LaneSpec) -> Option<(&dyn Lane, &MeshSlot)> {
        let slot = self.by_spec.get(spec)?;
        Some((&**slot.memo.last()?, &slot.mesh))
    }

    /// The last answer of a lane if it reaches `t` in what is open now.
    pub(super) fn covering(
        &self,
        spec: &LaneSpec,
        t: Timestamp,
        generation: u64,
    ) -> Option<&dyn Lane> {
        let (key, lane) = self.by_spec.get(spec)?.memo.last_with_key()?;
        (key.generation == generation && key.query.range.contains(t)).then_some(&**lane)
    }

    /// What a lane says of a part; put into words once.
    pub(super) fn say(&mut self, spec: &LaneSpec, part: Part, words: &Words) -> &[Said] {
        let Some(slot) = self.by_spec.get_mut(spec) else {
            return &[];
        };
        let Some((key, lane)) = slot.memo.last_with_key() else {
            return &[];
        };
        let is_said = matches!(&slot.said, Some((p, k, l, _)) if *p == part && k == key && *l == words.lang());
        if !is_said {
            let said = match part {
                Part::At(t) => lane
                    .read_in(t, words)
                    .into_iter()
                    .map(|r| Said {
                        name: r.name,
                        value: words.amounts(&r.value),
                        colour: r.colour,
                    })
                    .collect(),
                Part::Over(range) => lane
                    .measure_in(range, words)
                    .into_iter()
                    .map(|(name, value)| Said {
                        name,
                        value: words.amounts(&value),
                        colour: None,
                    })
                    .collect(),
            };
            slot.said = Some((part, key.clone(), words.lang(), said));
        }
        slot.said.as_ref().map_or(&[], |(_, _, _, said)| said)
    }
}
