//! What is picked, and where links lead: the highlight of the picked cause, and how timeline and drawer go to a place.

use std::collections::BTreeSet;

use crate::app::App;
use crate::base::time::{NANOS_PER_SEC, TimeRange, Timestamp};
use crate::engine::memo::Memo;
use crate::model::finding::Finding;
use crate::model::series::Series;
use crate::session::evidence::Links;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::session::view::{Drawer, LaneSpec, Selection};
use crate::store::Snapshot;
use crate::ui::frame::Highlight;
use crate::ui::lanes;
use crate::ui::request::LaneEdit;

/// Pixels that the lanes have at the least: what is thinner than two of them cannot be seen.
const LANE_PIXELS: i64 = 700;

/// Time around a thing too thin to be seen: this much at the least, and [`CONTEXT`] times its own length.
const LEAST_CONTEXT_NANOS: i64 = 120 * NANOS_PER_SEC;

/// How many times the length of a thing is shown around it.
const CONTEXT: i64 = 20;

/// The kind of lane that shows `up` of every target.
const HEALTH_LANE: &str = "health";

/// Where the lines of the report lead, made on a worker, and what the highlight was made of.
#[derive(Debug, Default)]
pub(crate) struct Linked {
    links: Memo<u64, Links>,
    lit: Option<Lit>,
}

#[derive(Debug, PartialEq, Eq)]
struct Lit {
    selection: Selection,
    generation: Option<u64>,
    has_links: bool,
    /// How many places are picked, and the first of them.
    picked: (usize, Option<Target>),
}

impl Linked {
    /// The links of what is open, once they are there.
    pub(crate) fn links(&self, incident: Option<&Incident>) -> Option<&Links> {
        let generation = incident?.generation;
        let (of, links) = self.links.last_with_key()?;
        (*of == generation).then_some(links)
    }
}

impl App {
    /// Before each frame: has the links made where they are not there, and the highlight where what it shows has changed.
    pub(super) fn follow_links(&mut self) {
        if let Some(incident) = self.incident.as_ref().filter(|i| i.report.is_some()) {
            let open = incident.clone();
            self.linked
                .links
                .want(&self.pool, &incident.generation, move |_| {
                    Ok(Links::of(&open))
                });
        }
        if self.linked.lit.as_ref() != Some(&self.lit_now()) {
            self.follow_selection();
        }
    }

    fn lit_now(&self) -> Lit {
        Lit {
            selection: self.view.selection.clone(),
            generation: self.incident.as_ref().map(|i| i.generation),
            has_links: self.linked.links(self.incident.as_ref()).is_some(),
            picked: (self.view.picked.len(), self.view.picked.first().cloned()),
        }
    }

    /// Makes the highlight of what is picked.
    pub(super) fn follow_selection(&mut self) {
        let links = self.linked.links(self.incident.as_ref());
        self.highlight = match &self.incident {
            Some(incident) => highlight(incident, links, &self.view.selection),
            None => Highlight::default(),
        };
        let picked = self.view.picked.iter().cloned();
        self.highlight.targets.extend(picked);
        self.linked.lit = Some(self.lit_now());
    }

    /// Picks what lies in a box: its dots are lit, and the table lists just them.
    pub(super) fn pick_box(&mut self, ctx: &egui::Context, targets: Vec<Target>) {
        let table = targets.iter().find_map(|target| match target {
            Target::Request { .. } => Some("requests"),
            Target::Span { .. } => Some("spans"),
            _ => None,
        });
        let n = targets.len();
        self.view.picked = targets;
        self.follow_selection();
        let text = self.words.with("told-picked", &[("n", n.into())]);
        self.tell(ctx, text);
        if let Some(table) = table {
            let focus = &mut self.view.focus;
            focus.table = Some(table.to_owned());
            focus.table_filter.clear();
            focus.table_row = None;
            self.view.drawer = Some(Drawer::Table);
            self.panels.table.list_picked();
        }
    }

    /// Picks a cause or a finding and shows when it was.
    pub(super) fn select(&mut self, selection: Selection) {
        self.view.selection = selection;
        self.follow_selection();
        let when = self
            .incident
            .as_ref()
            .and_then(|incident| when(incident, &self.view.selection));
        if let Some(when) = when {
            self.show_time(when);
        }
    }

    /// Moves and zooms the timeline only as far as needed.
    fn show_time(&mut self, thing: TimeRange) {
        if let Some(range) = range_that_shows(self.view.range, thing) {
            self.zooms.keep(&self.view.range);
            self.view.range = range;
        }
    }

    /// Goes to a place. What is there already goes one step further: a request opens its table.
    pub(super) fn follow(&mut self, target: &Target) {
        let Some(incident) = self.incident.clone() else {
            return;
        };
        let snapshot = incident.snapshot();
        if let Target::Finding(id) = target {
            self.select(Selection::Finding(id.clone()));
            return;
        }
        if let Target::Own { event } = target {
            if let Some(own) = self.notes.events.get(*event) {
                self.view.cursor = Some(own.start);
                self.view.drawer = Some(Drawer::Notes);
                self.panels.notes.edit(own);
            }
            return;
        }
        let is_again = self.view.picked.first() == Some(target);
        self.view.picked = vec![target.clone()];
        if let Some(extent) = extent(snapshot, target) {
            self.view.cursor = target.time(snapshot);
            self.show_time(extent);
        }
        let focus = &mut self.view.focus;
        match target {
            Target::Span { span } => {
                let trace = snapshot.spans.get(*span).map(|s| s.trace_id.to_string());
                focus.trace = trace;
                focus.span = Some(*span);
                self.view.drawer = Some(Drawer::Trace);
            }
            Target::Summary { summary } => {
                let trace = snapshot.summaries.get(*summary);
                focus.trace = trace.map(|s| s.trace_id.to_string());
                focus.span = None;
                self.view.drawer = Some(Drawer::Trace);
            }
            Target::Stack { profile, group } => {
                focus.profile = Some(*profile);
                focus.compare_profile = None;
                focus.stack = *group;
                self.view.drawer = Some(Drawer::Dump);
            }
            Target::Request { request } if is_again => {
                let path = snapshot.requests.get(*request).map(|r| r.path.to_string());
                self.show_row("requests", path.unwrap_or_default(), *request);
            }
            Target::Event { event } if is_again => {
                self.show_row("events", String::new(), *event);
            }
            Target::Sample { series, .. } => self.show_lane(snapshot, *series),
            Target::Input { .. } => self.view.drawer = Some(Drawer::Inputs),
            Target::Request { .. }
            | Target::Event { .. }
            | Target::Finding(_)
            | Target::Own { .. } => {}
        }
    }

    fn show_row(&mut self, table: &str, filter: String, row: usize) {
        let focus = &mut self.view.focus;
        focus.table = Some(table.to_owned());
        focus.table_filter = filter;
        focus.table_row = Some(row);
        self.view.drawer = Some(Drawer::Table);
    }

    /// Lets the keys act on the lane that shows a series; adds one below the active lane where none does.
    fn show_lane(&mut self, snapshot: &Snapshot, series: usize) {
        let Some(series) = snapshot.series.get(series) else {
            return;
        };
        let shows = |spec: &LaneSpec| {
            let is_health = spec.kind == HEALTH_LANE && series.metric.as_ref() == "up";
            is_health || spec.series.iter().any(|s| is_selected_by(series, s))
        };
        if let Some(at) = self.view.lanes.iter().position(|lane| shows(&lane.spec)) {
            if let Some(lane) = self.view.lanes.get_mut(at) {
                lane.is_collapsed = false;
            }
            self.view.active_lane = at;
            return;
        }
        let spec = lanes::metric::spec(&series.selector());
        let at = self.view.active_lane.saturating_add(1);
        self.edit_lanes(LaneEdit::Add(spec, Some(at)));
    }
}

/// Whether a selector names a series: its metric, with none, some or all of its labels.
fn is_selected_by(series: &Series, selector: &str) -> bool {
    let Some(labels) = selector.strip_prefix(series.metric.as_ref()) else {
        return false;
    };
    if labels.is_empty() {
        return true;
    }
    let inner = labels.strip_prefix('{').and_then(|l| l.strip_suffix('}'));
    let Some(mut rest) = inner else {
        return false;
    };
    let pairs: Vec<String> = series
        .labels
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    while !rest.is_empty() {
        let Some(after) = pairs.iter().find_map(|p| rest.strip_prefix(p.as_str())) else {
            return false;
        };
        rest = after.trim_start_matches([',', ' ']);
    }
    true
}

/// From its begin to its end.
fn extent(snapshot: &Snapshot, target: &Target) -> Option<TimeRange> {
    let instant = |t: Timestamp| TimeRange::new(t, t.plus_nanos(1));
    match target {
        Target::Span { span } => {
            let span = snapshot.spans.get(*span)?;
            Some(TimeRange::new(span.start, span.end().plus_nanos(1)))
        }
        Target::Summary { summary } => {
            let trace = snapshot.summaries.get(*summary)?;
            let ms = trace.duration_ms.or(trace.response_ms).unwrap_or(0.0);
            let end = trace.start.plus_nanos((ms * 1e6).round() as i64 + 1);
            Some(TimeRange::new(trace.start, end))
        }
        Target::Request { request } => {
            let request = snapshot.requests.get(*request)?;
            Some(TimeRange::new(request.start(), request.t.plus_nanos(1)))
        }
        Target::Event { event } => {
            let event = snapshot.events.get(*event)?;
            let end = event.end.unwrap_or(event.t).max(event.t);
            Some(TimeRange::new(event.t, end.plus_nanos(1)))
        }
        Target::Sample { .. } | Target::Stack { .. } => target.time(snapshot).map(instant),
        Target::Finding(_) | Target::Input { .. } | Target::Own { .. } => None,
    }
}

/// The range that shows `thing`, moved and zoomed from `now` only as far as needed; `None` when it is well seen already.
fn range_that_shows(now: TimeRange, thing: TimeRange) -> Option<TimeRange> {
    let length = thing.nanos().max(1);
    let is_instant = length == 1;
    let covers = thing.start <= now.start && thing.end >= now.end;
    let is_inside = now.contains(thing.start) || covers;
    let is_thin = !is_instant && length < 2 * (now.nanos() / LANE_PIXELS);
    if is_inside && !is_thin {
        return None;
    }
    if is_thin {
        let wanted = length.saturating_mul(CONTEXT).max(LEAST_CONTEXT_NANOS);
        let width = wanted.min(now.nanos());
        let middle = thing.start.plus_nanos(length / 2);
        let start = middle.plus_nanos(-(width / 2));
        return Some(TimeRange::new(start, start.plus_nanos(width)));
    }
    let room = if is_instant {
        0
    } else {
        length.saturating_add(length / 4)
    };
    let width = now.nanos().max(room);
    let margin = width / 10;
    let start = if thing.start < now.start || room == width {
        thing.start.plus_nanos(-margin)
    } else {
        thing.end.plus_nanos(margin - width)
    };
    Some(TimeRange::new(start, start.plus_nanos(width)))
}

fn of_finding(finding: &Finding, window: TimeRange) -> TimeRange {
    let end = match finding.end {
        Some(end) => end,
        // What has not ended lasts to the end of the window; a change is an instant.
        None if finding.kind == crate::model::finding::FindingKind::Change => {
            finding.start.plus_nanos(1)
        }
        None => window.end,
    };
    TimeRange::new(finding.start, end.max(finding.start.plus_nanos(1)))
}

/// When what is picked was.
fn when(incident: &Incident, selection: &Selection) -> Option<TimeRange> {
    let window = incident.document.window;
    match selection {
        Selection::Nothing => None,
        Selection::Finding(id) => incident.finding(id).map(|f| of_finding(f, window)),
        Selection::Hypothesis(id) => incident
            .hypothesis(id)?
            .explains
            .iter()
            .filter_map(|id| incident.finding(id))
            .map(|f| of_finding(f, window))
            .reduce(|a, b| a.hull(&b)),
    }
}

/// What lanes draw bright for what is picked.
fn highlight(incident: &Incident, links: Option<&Links>, selection: &Selection) -> Highlight {
    let mut found = Highlight::default();
    let mut findings: Vec<&Finding> = Vec::new();
    match selection {
        Selection::Nothing => return found,
        Selection::Finding(id) => findings.extend(incident.finding(id)),
        Selection::Hypothesis(id) => {
            let Some(hypothesis) = incident.hypothesis(id) else {
                return found;
            };
            let supports = hypothesis.support.iter();
            let ids: BTreeSet<&String> = supports
                .filter_map(|s| s.finding.as_ref())
                .chain(&hypothesis.explains)
                .collect();
            findings.extend(ids.into_iter().filter_map(|id| incident.finding(id)));
            found.entities.extend(hypothesis.entities.iter().cloned());
            for at in 0..hypothesis.support.len() {
                let all = links.map_or(&[][..], |links| links.support(id, at));
                found.targets.extend(all.iter().flatten().cloned());
            }
        }
    }
    let window = incident.document.window;
    let mut ranges = Vec::new();
    for finding in findings {
        found.findings.insert(finding.id.clone());
        found.entities.extend(finding.entities.iter().cloned());
        let range = of_finding(finding, window);
        ranges.push(range.start.nanos()..range.end.nanos());
        let all = links.map_or(&[][..], |links| links.finding(&finding.id));
        found.targets.extend(all.iter().flatten().cloned());
    }
    found.ranges = joined(ranges);
    found
        .series
        .extend(found.targets.iter().filter_map(|target| match target {
            Target::Sample { series, .. } => Some(*series),
            _ => None,
        }));
    found
}

/// Ranges in order, those that touch as one.
fn joined(mut ranges: Vec<std::ops::Range<i64>>) -> Vec<std::ops::Range<i64>> {
    ranges.sort_by_key(|r| (r.start, r.end));
    let mut out: Vec<std::ops::Range<i64>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::labels::Labels;
    use crate::model::series::Sampling;

    fn range(from_s: i64, to_s: i64) -> TimeRange {
        let at = |s: i64| Timestamp::from_nanos(s * NANOS_PER_SEC);
        TimeRange::new(at(from_s), at(to_s))
    }

    fn secs(shown: Option<TimeRange>) -> Option<(f64, f64)> {
        shown.map(|r| (r.start.secs_f64(), r.end.secs_f64()))
    }

    #[test]
    fn the_range_stays_when_the_thing_is_well_seen() {
        let now = range(100, 800);
        for thing in [
            range(200, 300),
            range(100, 900),
            range(50, 900),
            range(300, 302),
        ] {
            assert_eq!(range_that_shows(now, thing), None, "{thing:?}");
        }
        let instant = TimeRange::new(now.start, now.start.plus_nanos(1));
        assert_eq!(range_that_shows(now, instant), None);
    }

    #[test]
    fn what_is_too_thin_is_zoomed_to_with_its_surroundings() {
        let now = range(0, 7000);
        assert_eq!(
            secs(range_that_shows(now, range(1000, 1001))),
            Some((940.5, 1060.5))
        );
        assert_eq!(
            secs(range_that_shows(now, range(1000, 1010))),
            Some((905.0, 1105.0))
        );
    }

    #[test]
    fn what_is_outside_is_moved_to_without_a_change_of_zoom() {
        let now = range(1000, 1100);
        assert_eq!(
            secs(range_that_shows(now, range(900, 920))),
            Some((890.0, 990.0))
        );
        assert_eq!(
            secs(range_that_shows(now, range(1200, 1220))),
            Some((1130.0, 1230.0))
        );
        // What is longer than what is shown is shown from its begin.
        let shown = range_that_shows(now, range(2000, 2400)).unwrap();
        assert_eq!(secs(Some(shown)), Some((1950.0, 2450.0)));
    }

    #[test]
    fn a_selector_names_a_series_by_some_of_its_labels() {
        let labels = Labels::of(&[("instance", "a:1"), ("job", "x"), ("path", "a,b=\"c\"")]);
        let series = Series::new(Arc::from("up"), labels, Sampling::Raw);
        let own = series.selector();
        for selector in [
            "up",
            own.as_str(),
            "up{job=\"x\"}",
            "up{job=\"x\",instance=\"a:1\"}",
        ] {
            assert!(is_selected_by(&series, selector), "{selector}");
        }
        for selector in ["upper", "up{job=\"y\"}", "down", "up{", "up{job=\"x\""] {
            assert!(!is_selected_by(&series, selector), "{selector}");
        }
    }

    #[test]
    fn ranges_that_touch_are_one() {
        assert_eq!(joined(vec![5..7, 1..3, 2..4, 4..5, 9..10]), [1..7, 9..10]);
        assert_eq!(joined(vec![5..7, 1..3]), [1..3, 5..7]);
        assert!(joined(Vec::new()).is_empty());
    }
}
