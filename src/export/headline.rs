//! The one thing that a report says first. Forms and the window say it in their own words; what is said is decided here.

use crate::base::time::Timestamp;
use crate::correlate::ENOUGH;
use crate::model::finding::{FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::model::report::Report;

/// What is said first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Headline<'a> {
    /// Nothing that was read lies in the window.
    Beside {
        /// First time in any input.
        start: Timestamp,
        /// Last one.
        end: Timestamp,
    },
    /// The best hypothesis explains most of what was found.
    Cause {
        /// Its title.
        title: &'a str,
    },
    /// The best hypothesis is likely, and explains a part.
    CauseOfPart {
        /// Its title.
        title: &'a str,
        /// The share of what was found, 0…1.
        share: f64,
    },
    /// There are hypotheses, and none is more than a possibility.
    NotEnough,
    /// There are findings, and no hypothesis.
    NoCause {
        /// How many findings.
        findings: usize,
    },
    /// Nothing unusual was found.
    Nothing,
}

/// What a report says first.
pub fn headline(report: &Report) -> Headline<'_> {
    headline_with(report, report.hypotheses.first())
}

/// As [`headline`], with another hypothesis as the best: a person ruled the first one out.
pub fn headline_with<'a>(report: &'a Report, best: Option<&'a Hypothesis>) -> Headline<'a> {
    if let Some((start, end)) = beside_the_window(report) {
        return Headline::Beside { start, end };
    }
    let findings = report
        .findings
        .iter()
        .filter(|f| f.kind != FindingKind::Change && f.severity > Severity::Info)
        .count();
    match best {
        // A cause of a small part must not read as the cause of all.
        Some(best) if best.score >= ENOUGH && best.coverage < 0.5 => Headline::CauseOfPart {
            title: &best.title,
            share: best.coverage,
        },
        Some(best) if best.score >= ENOUGH => Headline::Cause { title: &best.title },
        Some(_) => Headline::NotEnough,
        None if findings == 0 => Headline::Nothing,
        None => Headline::NoCause { findings },
    }
}

/// What the inputs cover, when none of it lies in the window.
fn beside_the_window(report: &Report) -> Option<(Timestamp, Timestamp)> {
    let (from, to) = (report.window.start?, report.window.end?);
    let timed = || {
        let inputs = report.inputs.iter();
        inputs.filter_map(|i| Some((i.start?, i.end?)))
    };
    if timed().any(|(start, end)| start <= to && end >= from) {
        return None;
    }
    let start = timed().map(|(start, _)| start).min()?;
    let end = timed().map(|(_, end)| end).max()?;
    Some((start, end))
}
