//! Clear, findings, not enough; events and telemetry as one.

use super::*;
use crate::detect::testing::{check, findings, raw, snapshot_from};
use crate::model::batch::Batch;
use crate::model::event::Event;
use crate::model::input::InputIx;
use crate::model::series::Series;

const APP: &[(&str, &str)] = &[
    ("instance", "a:1"),
    ("job", "shop"),
    ("service", "checkout"),
];

fn event(t: f64, kind: &str, title: &str) -> Event {
    Event {
        input: InputIx(0),
        locator: "line 2".into(),
        t: Timestamp::from_secs_f64(t).unwrap(),
        end: None,
        kind: kind.into(),
        title: title.into(),
        text: "".into(),
        source: "".into(),
        attributes: "{}".into(),
    }
}

fn build_info(version: &str, from: u32, to: u32) -> Series {
    let mut labels = APP.to_vec();
    labels.push(("version", version));
    raw(
        "app_build_info",
        &labels,
        &(from..to).map(|i| (f64::from(i), 1.0)).collect::<Vec<_>>(),
    )
}

fn up() -> Series {
    raw(
        "up",
        APP,
        &(0..40).map(|i| (f64::from(i), 1.0)).collect::<Vec<_>>(),
    )
}

fn snapshot(series: Vec<Series>, events: Vec<Event>) -> Snapshot {
    snapshot_from(Batch {
        series,
        events,
        ..Batch::default()
    })
}

#[test]
fn quiet_telemetry_is_clear() {
    let snapshot = snapshot(vec![up(), build_info("1.4.0", 0, 40)], Vec::new());
    assert_eq!(check(&Change, &snapshot), Verdict::Clear);
}

#[test]
fn nothing_that_could_show_a_change_is_not_enough() {
    assert!(matches!(
        check(&Change, &Snapshot::default()),
        Verdict::NotEnough(_)
    ));
}

#[test]
fn every_change_is_a_finding_and_an_alert_is_none() {
    let events = vec![
        event(5.0, "deploy", "mail-frontend 3.8.1 rolled out"),
        event(6.0, "alert", "p99 is up"),
    ];
    let found = findings(&Change, &snapshot(vec![up()], events));
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].text("what"),
        Some("mail-frontend 3.8.1 rolled out")
    );
    assert_eq!(found[0].evidence[0].locator, "line 2");
    assert_eq!(found[0].severity, Severity::Info);
    assert!(found[0].detail.contains("kind deploy"));
}

#[test]
fn a_new_version_and_its_event_are_one() {
    let series = || {
        vec![
            up(),
            build_info("1.4.0", 0, 20),
            build_info("1.4.1", 20, 40),
        ]
    };
    let alone = findings(&Change, &snapshot(series(), Vec::new()));
    assert_eq!(alone.len(), 1);
    assert_eq!(
        alone[0].text("what"),
        Some("checkout: version 1.4.0 → 1.4.1")
    );
    let events = vec![
        event(19.0, "deploy", "checkout 1.4.1 rolled out"),
        event(19.0, "config", "mail: log level INFO"),
    ];
    let found = findings(&Change, &snapshot(series(), events));
    assert_eq!(found.len(), 2, "{found:#?}");
    let own = found
        .iter()
        .find(|f| f.title.starts_with("checkout"))
        .unwrap();
    assert_eq!(own.evidence.len(), 2);
    assert!(own.entities.contains(&"service:checkout".to_owned()));
}

#[test]
fn an_event_far_off_stays_apart() {
    let series = vec![
        up(),
        build_info("1.4.0", 0, 20),
        build_info("1.4.1", 20, 40),
    ];
    let found = findings(
        &Change,
        &snapshot(
            series,
            vec![event(5.0, "deploy", "checkout 1.4.1 rolled out")],
        ),
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn a_restart_that_no_scrape_missed_is_a_change() {
    let starts: Vec<(f64, f64)> = (0..40)
        .map(|i| (f64::from(i), if i < 20 { 1.0 } else { 19.5 }))
        .collect();
    let found = findings(
        &Change,
        &snapshot(
            vec![up(), raw("process_start_time_seconds", APP, &starts)],
            Vec::new(),
        ),
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title, "a:1 was restarted");
    assert_eq!(found[0].start, Timestamp::from_secs_f64(19.5).unwrap());
}

#[test]
fn relabelled_series_are_a_change() {
    let with = |pod: &str, from: u32, to: u32| -> Vec<Series> {
        let one = |path: &str| {
            let labels = [
                ("instance", "a:1"),
                ("job", "shop"),
                ("service", "checkout"),
                ("path", path),
                ("pod_hash", pod),
            ];
            raw(
                "hits",
                &labels,
                &(from..to).map(|i| (f64::from(i), 1.0)).collect::<Vec<_>>(),
            )
        };
        vec![one("/a"), one("/b")]
    };
    let mut series = vec![up()];
    series.extend(with("x", 0, 20));
    series.extend(with("y", 20, 40));
    let found = findings(&Change, &snapshot(series, Vec::new()));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].title.contains("pod_hash x → y"),
        "{}",
        found[0].title
    );
}

#[test]
fn names_are_found_as_words() {
    assert!(stands_in("scaled gateway to 4.", "gateway"));
    assert!(!stands_in("scaled smartgateway to 4", "gateway"));
    assert!(!stands_in("gateway-canary to 4", "gateway"));
}
