//! Tests of the module above.

use super::*;
use crate::base::time::Timestamp;
use crate::model::finding::Severity;
use crate::model::hypothesis::Hypothesis;
use crate::model::report::{Generator, NotEnough, Window};

fn finding(name: &str, kind: FindingKind, at: i64, severity: Severity) -> Finding {
    let mut finding = Finding::new(kind, name, Timestamp::from_nanos(at), None);
    finding.id = name.to_owned();
    finding.title = format!("title of {name}");
    finding.severity = severity;
    finding
}

fn hypothesis(name: &str, explains: &[&str]) -> Hypothesis {
    Hypothesis {
        id: name.to_owned(),
        rank: 1,
        signature: "x".to_owned(),
        title: format!("cause {name}"),
        score: 0.5,
        onset: Timestamp::from_nanos(0),
        entities: Vec::new(),
        explains: explains.iter().map(|id| (*id).to_owned()).collect(),
        support: Vec::new(),
        changes: Vec::new(),
        against: Vec::new(),
        missing: Vec::new(),
        next_checks: Vec::new(),
        coverage: 1.0,
    }
}

fn report() -> Report {
    Report {
        schema: String::new(),
        generator: Generator {
            name: String::new(),
            version: String::new(),
        },
        generated_at: None,
        window: Window {
            start: None,
            end: None,
        },
        partial: false,
        inputs: Vec::new(),
        entities: Vec::new(),
        findings: vec![
            finding("change", FindingKind::Change, 1, Severity::Info),
            finding("leak", FindingKind::Leak, 2, Severity::Minor),
            finding("gap", FindingKind::ScrapeGap, 3, Severity::Critical),
            finding("spike", FindingKind::Spike, 4, Severity::Major),
        ],
        hypotheses: vec![hypothesis("a", &["leak", "gap"]), hypothesis("b", &["gap"])],
        timeline: Vec::new(),
        not_enough: vec![NotEnough {
            detector: "leak".to_owned(),
            reason: "why".to_owned(),
        }],
    }
}

fn listing(asked: &Asked) -> Vec<String> {
    let words = Words::new(Lang::En);
    let report = report();
    let told = Told::of(&words, &report);
    let listing = Listing::of(&words, &report, &told, asked);
    assert_eq!(listing.rows.len() + 1, listing.tops.len());
    assert_eq!(listing.rows.len(), listing.picks.len());
    listing
        .rows
        .iter()
        .zip(&listing.picks)
        .map(|(row, pick)| match row {
            Row::Group(group, n) => format!("{group:?} {n}"),
            Row::UndecidedHead(n) => format!("undecided {n}"),
            Row::Undecided(ix) => format!("reason {ix}"),
            _ => pick.id().unwrap().to_owned(),
        })
        .collect()
}

fn ids(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|id| (*id).to_owned()).collect()
}

#[test]
fn findings_stand_under_the_best_cause_that_explains_them() {
    assert_eq!(
        listing(&Asked::default()),
        [
            "Causes 2",
            "a",
            "b",
            "Explained(0) 2",
            "leak",
            "gap",
            "Unexplained 1",
            "spike",
            "Changes 1",
            "change",
            "undecided 1"
        ]
    );
}

#[test]
fn a_verdict_wins_over_the_rank_and_takes_the_findings_along() {
    let asked = Asked {
        verdicts: BTreeMap::from([
            ("b".to_owned(), Verdict::Confirmed),
            ("a".to_owned(), Verdict::Refuted),
        ]),
        ..Asked::default()
    };
    assert_eq!(
        listing(&asked)[..7],
        [
            "Causes 2",
            "b",
            "a",
            "Explained(1) 1",
            "gap",
            "Explained(0) 1",
            "leak"
        ]
    );
}

#[test]
fn pinned_come_first_and_dismissed_are_hidden_until_asked_for() {
    let mut asked = Asked {
        pinned: ids(&["spike", "b"]),
        dismissed: ids(&["leak", "a"]),
        ..Asked::default()
    };
    assert_eq!(
        listing(&asked)[..6],
        [
            "Causes 1",
            "b",
            "Pinned 1",
            "spike",
            "Explained(1) 1",
            "gap"
        ]
    );
    assert!(!listing(&asked).contains(&"leak".to_owned()));
    asked.shows_dismissed = true;
    let all = listing(&asked);
    assert_eq!(all[8..11], ["Dismissed 2", "a", "leak"]);
}

#[test]
fn order_and_filter() {
    let mut asked = Asked {
        is_by_severity: true,
        shows_undecided: true,
        ..Asked::default()
    };
    assert_eq!(listing(&asked)[3..6], ["Explained(0) 2", "gap", "leak"]);
    assert_eq!(listing(&asked).last().unwrap(), "reason 0");
    asked.filter = "SCRAPE gap".to_owned();
    assert_eq!(listing(&asked), ["Explained(0) 1", "gap"]);
    asked.filter = "nothing has this".to_owned();
    assert!(listing(&asked).is_empty());
}

#[test]
fn steps_stop_at_the_ends_and_skip_headings() {
    let words = Words::new(Lang::En);
    let report = report();
    let told = Told::of(&words, &report);
    let listing = Listing::of(&words, &report, &told, &Asked::default());
    let step = |from: &Selection, by: isize| listing.step(from, by).unwrap();
    let hypothesis = |id: &str| Selection::Hypothesis(id.to_owned());
    let finding = |id: &str| Selection::Finding(id.to_owned());
    assert_eq!(step(&Selection::Nothing, 1), hypothesis("a"));
    assert_eq!(step(&hypothesis("b"), 1), finding("leak"));
    assert_eq!(step(&hypothesis("a"), -1), hypothesis("a"));
    assert_eq!(step(&finding("change"), 1), finding("change"));
    assert_eq!(step(&Selection::Nothing, -1), finding("change"));
    assert_eq!(Listing::default().step(&Selection::Nothing, 1), None);
    assert_eq!(listing.between(0.0, 1.0), 0..1);
    assert_eq!(listing.between(24.0, 25.0), 1..2);
    assert_eq!(listing.between(0.0, 1e9), 0..listing.rows.len());
}
