//! Tests of the module above.

use super::super::bars::bars;
use super::*;
use crate::model::finding::{FindingKind, Severity};
use crate::session::notes::Notes;

fn finding(
    kind: FindingKind,
    about: &str,
    start: i64,
    end: Option<i64>,
    severity: Severity,
) -> Finding {
    let at = Timestamp::from_nanos;
    let mut f = Finding::new(kind, about, at(start), end.map(at));
    f.entities = vec![about.to_owned()];
    f.severity = severity;
    f
}

#[test]
fn findings_of_one_thing_share_a_bar_and_the_worst_comes_first() {
    let findings = [
        finding(FindingKind::Leak, "a", 10, None, Severity::Major),
        finding(
            FindingKind::LockContention,
            "a",
            30,
            None,
            Severity::Critical,
        ),
        finding(FindingKind::LockContention, "a", 20, None, Severity::Major),
        finding(FindingKind::ScrapeGap, "a", 0, Some(5), Severity::Minor),
        finding(FindingKind::ScrapeGap, "a", 8, Some(9), Severity::Minor),
        finding(FindingKind::Change, "a", 1, None, Severity::Info),
    ];
    let bars = bars(&findings, &Notes::default());
    let told: Vec<(&[usize], i64, Option<i64>)> = bars
        .iter()
        .map(|b| (b.members.as_slice(), b.start, b.end))
        .collect();
    assert_eq!(
        told,
        [
            (&[2, 1][..], 20, None),
            (&[0][..], 10, None),
            (&[3][..], 0, Some(5)),
            (&[4][..], 8, Some(9)),
        ]
    );
    assert_eq!(bars[0].severity, Severity::Critical);
}

#[test]
fn a_thousand_findings_keep_a_bounded_height() {
    let findings: Vec<Finding> = (0..1_000)
        .map(|n| {
            finding(
                FindingKind::Spike,
                &format!("s{n}"),
                n,
                None,
                Severity::Minor,
            )
        })
        .collect();
    let bars = bars(&findings, &Notes::default());
    let lane = FindingLane::new(None, bars, i64::MAX, 1);
    assert_eq!(lane.hidden(), 1_000 - MOST_ROWS);
    assert!(lane.wanted_height().unwrap() < 140);
}

#[test]
fn what_was_dismissed_comes_last() {
    let findings = [
        finding(FindingKind::Leak, "a", 10, None, Severity::Critical),
        finding(FindingKind::Leak, "b", 10, None, Severity::Minor),
    ];
    let mut notes = Notes::default();
    notes
        .dismissed
        .insert(findings[0].id.clone(), "noise".to_owned());
    let bars = bars(&findings, &notes);
    assert!(bars[1].is_dismissed && bars[1].members == [0]);
}
