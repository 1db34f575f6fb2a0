//! A view of one snapshot, made to fit another: indices into rows that are not there, or not the same, must not stay.

use crate::base::time::TimeRange;
use crate::session::target::Target;
use crate::session::view::View;
use crate::store::Snapshot;

impl View {
    /// Takes away what points into rows that `snapshot` does not have, and brings the shown time to where there is any.
    pub fn fit(&mut self, snapshot: &Snapshot) {
        self.picked.retain(|target| target.is_in(snapshot));
        let focus = &mut self.focus;
        let has_trace = |id: &str| !trace_of(snapshot, id).is_empty() || has_summary(snapshot, id);
        if focus.trace.as_deref().is_some_and(|id| !has_trace(id)) {
            focus.trace = None;
        }
        focus.span = focus.span.filter(|at| {
            snapshot
                .spans
                .get(*at)
                .is_some_and(|s| focus.trace.as_deref() == Some(&*s.trace_id))
        });
        focus.profile = focus.profile.filter(|at| *at < snapshot.profiles.len());
        let groups = focus
            .profile
            .and_then(|at| snapshot.profiles.get(at))
            .map_or(0, |p| p.groups.len());
        focus.stack = focus.stack.filter(|at| *at < groups);
        self.active_lane = self.active_lane.min(self.lanes.len().saturating_sub(1));
        let Some(extent) = snapshot.extent else {
            return;
        };
        if self.range.nanos() <= 0 || !self.range.overlaps(&extent) {
            self.range = extent;
        }
        self.cursor = self.cursor.filter(|t| extent.contains(*t));
        self.measure = self
            .measure
            .filter(|range: &TimeRange| range.overlaps(&extent));
    }

    /// Takes away everything that is an index into rows.
    pub fn forget_indices(&mut self) {
        self.picked
            .retain(|target| matches!(target, Target::Finding(_)));
        self.focus.span = None;
        self.focus.profile = None;
        self.focus.stack = None;
        self.focus.table_row = None;
    }

    /// Brings indices into `from` over to the same rows of `to`, which holds other rows besides: the same inputs read further,
    /// or read again. Linear in what is picked, logarithmic in the rows.
    pub fn carry(&mut self, from: &Snapshot, to: &Snapshot) {
        self.picked = self
            .picked
            .iter()
            .filter_map(|target| target.carried(from, to))
            .collect();
        let focus = &mut self.focus;
        let span = focus
            .span
            .and_then(|span| Target::Span { span }.carried(from, to));
        focus.span = match span {
            Some(Target::Span { span }) => Some(span),
            _ => None,
        };
        let stack = focus.profile.and_then(|profile| {
            let group = focus.stack;
            Target::Stack { profile, group }.carried(from, to)
        });
        (focus.profile, focus.stack) = match stack {
            Some(Target::Stack { profile, group }) => (Some(profile), group),
            _ => (None, None),
        };
        focus.table_row = None;
        self.fit(to);
    }
}

/// The spans of a trace.
fn trace_of(snapshot: &Snapshot, id: &str) -> std::ops::Range<usize> {
    let from = snapshot.spans.partition_point(|s| &*s.trace_id < id);
    let to = snapshot.spans.partition_point(|s| &*s.trace_id <= id);
    from..to.max(from)
}

fn has_summary(snapshot: &Snapshot, id: &str) -> bool {
    snapshot.summaries.iter().any(|s| &*s.trace_id == id)
}

/// The first row from `from` on, as long as `is_near`, that `is_same`.
fn search<T>(
    rows: &[T],
    from: usize,
    is_near: impl Fn(&T) -> bool,
    is_same: impl Fn(&T) -> bool,
) -> Option<usize> {
    rows.iter()
        .enumerate()
        .skip(from)
        .take_while(|(_, row)| is_near(row))
        .find(|(_, row)| is_same(row))
        .map(|(at, _)| at)
}

impl Target {
    /// Whether `snapshot` has such a row. Findings are of the report and always stay.
    pub fn is_in(&self, snapshot: &Snapshot) -> bool {
        match self {
            Self::Sample { series, .. } => *series < snapshot.series.len(),
            Self::Span { span } => *span < snapshot.spans.len(),
            Self::Summary { summary } => *summary < snapshot.summaries.len(),
            Self::Request { request } => *request < snapshot.requests.len(),
            Self::Stack { profile, group } => snapshot
                .profiles
                .get(*profile)
                .is_some_and(|p| group.is_none_or(|at| at < p.groups.len())),
            Self::Event { event } => *event < snapshot.events.len(),
            Self::Finding(_) | Self::Own { .. } => true,
            Self::Input { input } => *input < snapshot.inputs.len(),
        }
    }

    /// The same row of another snapshot.
    fn carried(&self, from: &Snapshot, to: &Snapshot) -> Option<Self> {
        Some(match self {
            Self::Sample { series, t } => {
                let old = from.series.get(*series)?;
                let series = to.metric(&old.metric).find(|at| {
                    to.series.get(*at).is_some_and(|new| {
                        new.labels == old.labels
                            && new.sampling == old.sampling
                            && new.expr == old.expr
                    })
                })?;
                Self::Sample { series, t: *t }
            }
            Self::Span { span } => {
                let old = from.spans.get(*span)?;
                let range = trace_of(to, &old.trace_id);
                let span = search(
                    to.spans.get(..range.end)?,
                    range.start,
                    |_| true,
                    |new| {
                        (new.span_id, new.start, new.kind) == (old.span_id, old.start, old.kind)
                            && new.service == old.service
                    },
                )?;
                Self::Span { span }
            }
            Self::Summary { summary } => {
                let old = from.summaries.get(*summary)?;
                let first = to.summaries.partition_point(|s| s.start < old.start);
                let summary = search(
                    &to.summaries,
                    first,
                    |new| new.start == old.start,
                    |new| new.trace_id == old.trace_id,
                )?;
                Self::Summary { summary }
            }
            Self::Request { request } => {
                let old = from.requests.get(*request)?;
                let first = to.requests.partition_point(|r| r.t < old.t);
                let request = search(
                    &to.requests,
                    first,
                    |new| new.t == old.t,
                    |new| new.line == old.line && path(to, new.input.0) == path(from, old.input.0),
                )?;
                Self::Request { request }
            }
            Self::Stack { profile, group } => {
                let old = from.profiles.get(*profile)?;
                let profile = search(
                    &to.profiles,
                    0,
                    |_| true,
                    |new| {
                        new.kind == old.kind
                            && new.t == old.t
                            && path(to, new.input.0) == path(from, old.input.0)
                    },
                )?;
                Self::Stack {
                    profile,
                    group: *group,
                }
            }
            Self::Event { event } => {
                let old = from.events.get(*event)?;
                let first = to.events.partition_point(|e| e.t < old.t);
                let event = search(
                    &to.events,
                    first,
                    |new| new.t == old.t,
                    |new| new.title == old.title && new.kind == old.kind,
                )?;
                Self::Event { event }
            }
            Self::Finding(id) => Self::Finding(id.clone()),
            Self::Own { event } => Self::Own { event: *event },
            Self::Input { input } => {
                let old = from.inputs.get(*input)?;
                let input = to.inputs.iter().position(|new| new.path == old.path)?;
                Self::Input { input }
            }
        })
    }
}

fn path(snapshot: &Snapshot, input: u32) -> Option<&str> {
    snapshot.inputs.get(input as usize).map(|i| i.path.as_str())
}

#[cfg(test)]
#[path = "fit_tests.rs"]
mod tests;
