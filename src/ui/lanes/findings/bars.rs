//! Findings of one kind about one thing as one bar.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::session::notes::Notes;

/// Whether a finding is drawn here.
fn is_ours(kind: FindingKind) -> bool {
    !matches!(kind, FindingKind::Change | FindingKind::LoadRun)
}

/// Findings of one kind about one thing that overlap or follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bar {
    /// Indices into the findings, by start.
    pub(super) members: Vec<usize>,
    pub(super) start: i64,
    /// `None` when it had not ended.
    pub(super) end: Option<i64>,
    pub(super) severity: Severity,
    pub(super) is_dismissed: bool,
}

/// The bars, most severe first.
pub(super) fn bars(findings: &[Finding], notes: &Notes) -> Vec<Bar> {
    let mut groups: BTreeMap<(FindingKind, &str, &str, bool), Vec<usize>> = BTreeMap::new();
    for (at, f) in findings.iter().enumerate().filter(|(_, f)| is_ours(f.kind)) {
        let about = f.entities.first().map_or(f.id.as_str(), String::as_str);
        let cause = f.cause.as_deref().unwrap_or_default();
        let is_dismissed = notes.dismissed.contains_key(&f.id);
        groups
            .entry((f.kind, about, cause, is_dismissed))
            .or_default()
            .push(at);
    }
    let mut bars = Vec::new();
    for ((.., is_dismissed), mut members) in groups {
        let start = |at: &usize| findings.get(*at).map(|f| f.start);
        members.sort_by_key(start);
        let mut current: Option<Bar> = None;
        for at in members {
            let Some(f) = findings.get(at) else { continue };
            match &mut current {
                Some(bar) if bar.end.is_none_or(|end| end >= f.start.nanos()) => {
                    bar.members.push(at);
                    bar.end = match (bar.end, f.end) {
                        (Some(a), Some(b)) => Some(a.max(b.nanos())),
                        _ => None,
                    };
                    bar.severity = bar.severity.max(f.severity);
                }
                _ => {
                    bars.extend(current.take());
                    current = Some(Bar {
                        members: vec![at],
                        start: f.start.nanos(),
                        end: f.end.map(Timestamp::nanos),
                        severity: f.severity,
                        is_dismissed,
                    });
                }
            }
        }
        bars.extend(current);
    }
    bars.sort_by_key(|b| (b.is_dismissed, std::cmp::Reverse(b.severity), b.start));
    bars
}
