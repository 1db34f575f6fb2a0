//! Stepping along a lane: to the next sample or outlier. What was prepared reaches a window beyond what is shown; for what lies
//! further the lane is prepared once over the whole recording.

use crate::base::time::Timestamp;
use crate::engine::memo::{Answer, Memo};
use crate::session::view::LaneSpec;
use crate::ui::frame::Frame;
use crate::ui::lanes::{self, Lane, Query};
use crate::ui::request::Request;
use crate::ui::timeline::catalog::Catalog;
use crate::ui::timeline::slots::Slots;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{axis, lanes_ui};

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
    pub(super) fn work(
        &mut self,
        frame: &mut Frame<'_>,
        slots: &Slots,
        stage: &Stage,
        catalog: Option<&Catalog>,
    ) {
        let Some(wish) = self.wish.clone() else {
            return;
        };
        let generation = frame.incident.map_or(0, |i| i.generation);
        let near = slots
            .covering(&wish.spec, wish.from, generation)
            .and_then(|lane| wish.what.find(lane, wish.from, wish.is_forward));
        let title = lanes_ui::title(frame, catalog, &wish.spec);
        if near.is_some() {
            self.wish = None;
            return go(frame, stage, &wish, &title, (near, false));
        }
        let (Some(incident), Some(kind)) = (frame.incident, lanes::by_id(&wish.spec.kind)) else {
            self.wish = None;
            return;
        };
        let key = (incident.generation, wish.spec.clone());
        let area = stage.bounds.area();
        let step_nanos = (area.nanos() / COLUMNS).max(1);
        let query = Query {
            range: area,
            step_nanos: 1 << (63 - step_nanos.leading_zeros()),
        };
        let (incident, notes, spec) = (incident.clone(), frame.notes.clone(), wish.spec.clone());
        let answer = self.overview.want(frame.pool, &key, move |cancel| {
            kind.prepare_noted(&spec, &incident, &notes, &query, cancel)
        });
        let found = match answer {
            Answer::Ready(lane) => {
                let next = wish.what.find(&**lane, wish.from, wish.is_forward);
                let back = wish.what.find(&**lane, wish.from, !wish.is_forward);
                (next, back.is_some())
            }
            Answer::Failed(_) => (None, false),
            Answer::Stale(_) | Answer::Pending => return,
        };
        self.wish = None;
        go(frame, stage, &wish, &title, found);
    }
}

/// Goes to what was found and says where that is; or why one stays, where `has_others` are in the other direction.
fn go(
    frame: &mut Frame<'_>,
    stage: &Stage,
    wish: &Wish,
    title: &str,
    (found, has_others): (Option<Timestamp>, bool),
) {
    let clock = stage.clock(frame);
    let write = |t: Timestamp| axis::instant_text(t, clock, stage.nanos_per_point());
    let (key, t) = match (wish.what, found, has_others, wish.is_forward) {
        (Seek::Step, Some(_), ..) => ("", wish.from),
        (Seek::Step, None, ..) => ("timeline-no-step", wish.from),
        (Seek::Outlier, Some(t), ..) => ("timeline-outlier-at", t),
        (Seek::Outlier, None, false, _) => ("timeline-outlier-none", wish.from),
        (Seek::Outlier, None, true, true) => ("timeline-outlier-none-after", wish.from),
        (Seek::Outlier, None, true, false) => ("timeline-outlier-none-before", wish.from),
    };
    if !key.is_empty() {
        let t = write(t);
        let args = [("lane", title.into()), ("t", t.as_str().into())];
        let text = frame.words.with(key, &args);
        frame.ask(Request::TellOf("moves", text));
    }
    let Some(t) = found else {
        return;
    };
    frame.ask(Request::Cursor(Some(t)));
    let range = stage.bounds.reveal(stage.bounds.fit(frame.view.range), t);
    if range != frame.view.range {
        frame.ask(Request::Range(range));
    }
}
