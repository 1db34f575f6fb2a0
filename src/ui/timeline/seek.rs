//! Stepping along a lane: to the next sample or outlier. What was prepared reaches a window beyond what is shown; for what lies
//! further the lane is prepared once over the whole recording.

use crate::base::time::Timestamp;
use crate::engine::memo::{Answer, Memo};
use crate::session::view::LaneSpec;
use crate::ui::frame::Frame;
use crate::ui::lanes::{self, Lane, Query};
use crate::ui::request::Request;
use crate::ui::timeline::navigate::Bounds;
use crate::ui::timeline::slots::Slots;

/// Columns that the whole recording is prepared at.
const COLUMNS: i64 = 16_384;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seek {
    /// The next sample, mark or dot.
    Step,
    /// The next outlier.
    Outlier,
}

impl Seek {
    fn find(self, lane: &dyn Lane, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let found = match self {
            Self::Step => lane.step(from, is_forward),
            Self::Outlier => lane.outlier(from, is_forward),
        };
        // A lane that answers with where one stands would stop every further step.
        found.filter(|t| if is_forward { *t > from } else { *t < from })
    }
}

#[derive(Debug, Clone)]
struct Wish {
    spec: LaneSpec,
    what: Seek,
    from: Timestamp,
    is_forward: bool,
}

/// Steps that wait for their lane.
#[derive(Debug, Default)]
pub(super) struct Seeker {
    wish: Option<Wish>,
    overview: Memo<(u64, LaneSpec), Box<dyn Lane>>,
}

impl Seeker {
    pub(super) fn wish(&mut self, spec: LaneSpec, what: Seek, from: Timestamp, is_forward: bool) {
        self.wish = Some(Wish {
            spec,
            what,
            from,
            is_forward,
        });
    }

    /// Answers what is wished as soon as it can be.
    pub(super) fn work(&mut self, frame: &mut Frame<'_>, slots: &Slots, bounds: &Bounds) {
        let Some(wish) = self.wish.clone() else {
            return;
        };
        let generation = frame.incident.map_or(0, |i| i.generation);
        let near = slots
            .covering(&wish.spec, wish.from, generation)
            .and_then(|lane| wish.what.find(lane, wish.from, wish.is_forward));
        if near.is_some() {
            self.wish = None;
            return go(frame, bounds, near);
        }
        let (Some(incident), Some(kind)) = (frame.incident, lanes::by_id(&wish.spec.kind)) else {
            self.wish = None;
            return;
        };
        let key = (incident.generation, wish.spec.clone());
        let query = Query {
            range: bounds.area(),
            step_nanos: (bounds.area().nanos() / COLUMNS).max(1),
        };
        let query = Query {
            step_nanos: 1 << (63 - query.step_nanos.leading_zeros()),
            ..query
        };
        let (incident, notes, spec) = (incident.clone(), frame.notes.clone(), wish.spec.clone());
        let answer = self.overview.want(frame.pool, &key, move |cancel| {
            kind.prepare_noted(&spec, &incident, &notes, &query, cancel)
        });
        let found = match answer {
            Answer::Ready(lane) => wish.what.find(&**lane, wish.from, wish.is_forward),
            Answer::Failed(_) => None,
            Answer::Stale(_) | Answer::Pending => return,
        };
        self.wish = None;
        go(frame, bounds, found);
    }
}

fn go(frame: &mut Frame<'_>, bounds: &Bounds, found: Option<Timestamp>) {
    let Some(t) = found else {
        let text = frame.words.text("timeline-no-step").to_owned();
        return frame.ask(Request::Tell(text));
    };
    frame.ask(Request::Cursor(Some(t)));
    let range = bounds.reveal(bounds.fit(frame.view.range), t);
    if range != frame.view.range {
        frame.ask(Request::Range(range));
    }
}
