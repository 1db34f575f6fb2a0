use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::base::time::Timestamp;
use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series};
use crate::session::analysis::{Asked, Document};
use crate::session::intake::{self, Options};

fn open(name: &str) -> Document {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("fixtures").join(name).join("input");
    let intake = intake::read(&[path], &Options::default(), &mut std::io::empty());
    Document::new(intake, Asked::default())
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

fn split(document: &Document, border: &str, end: Option<&str>) -> Comparison {
    let whole = document.snapshot.extent.unwrap();
    let a = Side {
        snapshot: &document.snapshot,
        window: TimeRange::new(whole.start, at(border)),
    };
    let b = Side {
        snapshot: &document.snapshot,
        window: TimeRange::new(at(border), end.map_or(whole.end, at)),
    };
    compare(&a, &b, &|| false).unwrap()
}

fn told(comparison: &Comparison) -> String {
    let lines = comparison.changes.iter().take(25).map(|c| {
        let (a, b, _) = c.told();
        format!(
            "{:.2} {:?} {} {} | {a:.4} -> {b:.4} max {:.1} {:.1} | effect {:.2} q {:.1e} n {} {} {:?}",
            c.score,
            c.verdict,
            c.subject.kind.word(),
            c.subject.name,
            c.a.max,
            c.b.max,
            c.effect,
            c.q,
            c.a.n,
            c.b.n,
            c.aspect,
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_lock_incident_is_led_by_what_piles_up() {
    let document = open("ingress-metrics-lock");
    let comparison = split(&document, "2026-11-30T14:30:20Z", None);
    let lead: Vec<(Verdict, Option<Role>)> = comparison
        .changes
        .iter()
        .take(6)
        .map(|c| (c.verdict, c.role))
        .collect();
    for role in [Role::Goroutines, Role::Memory, Role::OpenFds] {
        assert!(
            lead.contains(&(Verdict::Worse, Some(role))),
            "{role:?}\n{}",
            told(&comparison)
        );
    }
    // What only a dump here and there knows is no proof, and is said all the same.
    assert!(
        comparison
            .too_few
            .iter()
            .any(|odd| odd.subject.kind == Kind::LockShare),
    );
}

#[test]
fn the_connect_incident_is_led_by_connect_times_and_not_by_means() {
    let document = open("snat-connect-ladder");
    let comparison = split(
        &document,
        "2026-11-30T14:28:18.892Z",
        Some("2026-11-30T14:30:58.432Z"),
    );
    let told = told(&comparison);
    let lead: Vec<Kind> = comparison
        .changes
        .iter()
        .filter(|c| c.subject.kind.is_of_rows())
        .take(2)
        .map(|c| c.subject.kind)
        .collect();
    assert!(
        lead.contains(&Kind::RequestConnect) || lead.contains(&Kind::SpanConnect),
        "{told}"
    );
    let first = comparison
        .changes
        .iter()
        .find(|c| c.subject.kind == Kind::RequestConnect)
        .unwrap();
    assert_eq!(first.verdict, Verdict::Worse, "{told}");
    assert!(matches!(first.aspect, Aspect::Tail { .. }), "{told}");
    let place = comparison.changes.iter().position(|c| c == first).unwrap();
    assert!(place < 5, "{told}");
    // The callee itself did not change.
    assert!(
        comparison
            .real()
            .all(|c| !(c.subject.kind == Kind::SpanLatency
                && c.subject.name == "presentationservice")),
        "{told}"
    );
}

fn one(name: &str, values: &[f64]) -> Snapshot {
    let mut series = Series::new(Arc::from(name), Labels::default(), Sampling::Raw);
    series.t = (0i64..).take(values.len()).collect();
    series.v = values.to_vec();
    let mut snapshot = Snapshot::default();
    snapshot.series = vec![series];
    snapshot.series_roles = vec![None];
    snapshot
}

fn whole(snapshot: &Snapshot) -> Side<'_> {
    Side {
        snapshot,
        window: TimeRange::ALL,
    }
}

#[test]
fn too_few_values_are_said_and_not_guessed() {
    let (a, b) = (one("x", &[1.0, 1.0]), one("x", &[900.0, 901.0]));
    let comparison = compare(&whole(&a), &whole(&b), &|| false).unwrap();
    assert!(comparison.changes.is_empty());
    assert_eq!(comparison.too_few.len(), 1);
    let nothing = compare(&whole(&a), &whole(&Snapshot::default()), &|| false).unwrap();
    assert_eq!(nothing.only_a.len(), 1);
}

#[test]
fn a_change_without_a_known_bad_way_is_only_a_change() {
    let calm: Vec<f64> = (0..30).map(|v| f64::from(v * 7 % 5)).collect();
    let high: Vec<f64> = calm.iter().map(|v| v + 100.0).collect();
    let (a, b) = (one("x", &calm), one("x", &high));
    let comparison = compare(&whole(&a), &whole(&b), &|| false).unwrap();
    let change = comparison.changes.first().unwrap();
    assert_eq!(change.verdict, Verdict::Changed);
    assert!(change.q < 1e-6 && change.effect > 0.99);
    let same = compare(&whole(&a), &whole(&a), &|| false).unwrap();
    assert_eq!(same.real().count(), 0);
    let back = compare(&whole(&b), &whole(&a), &|| false).unwrap();
    assert!(back.changes.first().unwrap().effect < -0.99);
}

#[test]
fn what_is_sure_and_too_small_to_matter_is_the_same_and_comes_last() {
    let level: Vec<f64> = (0..60).map(|v| 212.0 + f64::from(v % 5) * 0.01).collect();
    let higher: Vec<f64> = level.iter().map(|v| v + 0.8).collect();
    let doubled: Vec<f64> = level.iter().map(|v| v * 2.0).collect();
    let both = |first: &[f64], second: &[f64]| {
        let (mut one, two) = (
            one("process_resident_memory_bytes", first),
            one("z", second),
        );
        one.series.extend(two.series);
        one.series_roles = vec![Some(Role::Memory), Some(Role::Memory)];
        one
    };
    let (a, b) = (both(&level, &level), both(&higher, &doubled));
    let comparison = compare(&whole(&a), &whole(&b), &|| false).unwrap();
    let verdicts: Vec<(&str, Verdict)> = comparison
        .changes
        .iter()
        .map(|c| (c.subject.name.as_str(), c.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("z", Verdict::Worse),
            ("process_resident_memory_bytes", Verdict::Same)
        ]
    );
    assert!(comparison.changes.iter().all(|c| c.q < SURE));
}

#[test]
fn what_is_ranked_differs_in_what_is_told() {
    for (name, border, end) in [
        ("ingress-metrics-lock", "2026-11-30T14:30:26Z", None),
        (
            "snat-connect-ladder",
            "2026-11-30T14:28:18.892Z",
            Some("2026-11-30T14:30:58.432Z"),
        ),
    ] {
        let document = open(name);
        let comparison = split(&document, border, end);
        for change in comparison.real() {
            let (a, b, _) = change.told();
            assert!(!are_alike(a, b), "{change:?}");
            assert!(
                change.effect * (b - a) > 0.0 || !matches!(change.aspect, Aspect::Mean),
                "{change:?}"
            );
        }
    }
}

#[test]
fn a_median_that_stays_leaves_it_to_the_mean() {
    let up: Vec<f64> = vec![1.0; 60];
    let flaps: Vec<f64> = (0..60).map(|v| f64::from(u8::from(v % 3 > 0))).collect();
    let (a, b) = (one("up", &up), one("up", &flaps));
    let comparison = compare(&whole(&a), &whole(&b), &|| false).unwrap();
    let change = comparison.changes.first().unwrap();
    assert_eq!(
        (change.aspect, change.verdict),
        (Aspect::Mean, Verdict::Worse)
    );
    assert!(change.told().1 < 0.7);
}

#[test]
fn nobody_waits_for_what_was_cancelled() {
    let a = one("x", &[1.0]);
    assert_eq!(compare(&whole(&a), &whole(&a), &|| true), None);
}
