//! Pairs of windows that come to mind.

use crate::base::time::{TimeRange, Timestamp};
use crate::model::finding::{FindingKind, Severity};
use crate::model::hypothesis::{Hypothesis, Role};
use crate::session::incident::Incident;
use crate::session::view::Selection;
use crate::ui::frame::Frame;

/// A pair of windows with the key of its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Preset {
    pub(super) word: &'static str,
    pub(super) windows: (TimeRange, TimeRange),
}

/// Those that can be offered now.
pub(super) fn all(frame: &Frame<'_>, incident: &Incident) -> Vec<Preset> {
    let whole = incident.document.window;
    let shown = frame.view.measure.unwrap_or(frame.view.range);
    let mut found = Vec::new();
    if let Some((onset, end)) = trouble(frame, incident) {
        let windows = (
            TimeRange::new(whole.start, onset),
            TimeRange::new(onset, end.unwrap_or(whole.end)),
        );
        found.push(Preset {
            word: "compare-preset-onset",
            windows,
        });
    }
    let before = TimeRange::new(shown.start.plus_nanos(-shown.nanos()), shown.start);
    found.push(Preset {
        word: "compare-preset-previous",
        windows: (before, shown),
    });
    let middle = shown.start.plus_nanos(shown.nanos() / 2);
    found.push(Preset {
        word: "compare-preset-halves",
        windows: (
            TimeRange::new(shown.start, middle),
            TimeRange::new(middle, shown.end),
        ),
    });
    found.retain(|p| p.windows.0.nanos() > 0 && p.windows.1.nanos() > 0);
    found
}

/// When the trouble began and ended: that of what is picked, else of the first cause, else of the first finding that matters.
fn trouble(frame: &Frame<'_>, incident: &Incident) -> Option<(Timestamp, Option<Timestamp>)> {
    // A change is no trouble, however often one looks at it.
    let of_finding = |id: &str| {
        let finding = incident.finding(id);
        let trouble = finding.filter(|f| f.kind != FindingKind::Change);
        trouble.map(|f| (f.onset, f.end))
    };
    let picked = match &frame.view.selection {
        Selection::Finding(id) => of_finding(id),
        Selection::Hypothesis(id) => incident.hypothesis(id).map(|h| of_cause(incident, h)),
        Selection::Nothing => None,
    };
    picked
        .or_else(|| incident.hypotheses().first().map(|h| of_cause(incident, h)))
        .or_else(|| {
            let findings = incident.findings().iter();
            findings
                .filter(|f| f.severity >= Severity::Minor)
                .min_by_key(|f| f.onset)
                .map(|f| (f.onset, f.end))
        })
}

/// A cause lasts until something eased it, else as long as what it explains.
fn of_cause(incident: &Incident, cause: &Hypothesis) -> (Timestamp, Option<Timestamp>) {
    let eased = cause
        .changes
        .iter()
        .filter(|c| matches!(c.role, Role::Relief | Role::Cure))
        .map(|c| c.at)
        .filter(|at| *at > cause.onset)
        .min();
    if eased.is_some() {
        return (cause.onset, eased);
    }
    let explained = cause.explains.iter().filter_map(|id| incident.finding(id));
    let ends: Option<Vec<Timestamp>> = explained.map(|f| f.end).collect();
    let end = ends.and_then(|ends| ends.into_iter().max());
    (cause.onset, end.filter(|end| *end > cause.onset))
}

/// Both windows in words.
pub(super) fn told(frame: &Frame<'_>, (a, b): (TimeRange, TimeRange)) -> String {
    format!("A  {}\nB  {}", text(frame, a), text(frame, b))
}

/// `14:25:56 – 14:30:20 · 4 min 24 s`
pub(super) fn text(frame: &Frame<'_>, range: TimeRange) -> String {
    let clock = |t: Timestamp| frame.zone.civil(t).clock(0);
    format!(
        "{} – {} · {}",
        clock(range.start),
        clock(range.end),
        frame.words.units().secs(range.secs().round())
    )
}
