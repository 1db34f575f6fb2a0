use super::*;
use crate::base::testing::shared_data;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;

fn fds(level: impl Fn(i32) -> f64) -> Series {
    let samples: Vec<(f64, f64)> = (0..100).map(|i| (5.0 * f64::from(i), level(i))).collect();
    raw("process_open_fds", &[("instance", "a:1")], &samples)
}

fn snapshot(series: Vec<Series>) -> Snapshot {
    snapshot_from(Batch {
        series,
        ..Batch::default()
    })
}

fn climbing(i: i32) -> f64 {
    10.0 + f64::from((i - 50).max(0) * 20)
}

#[test]
fn a_growth_is_told_with_its_onset_and_slope() {
    let found = findings(&Leak, &snapshot(vec![fds(climbing)]));
    assert_eq!(found.len(), 1);
    let leak = &found[0];
    assert_eq!(leak.onset.nanos(), 255_000_000_000);
    assert_eq!(leak.number("start_value"), Some(10.0));
    assert_eq!(leak.number("end_value"), Some(990.0));
    assert!((leak.number("slope_per_h").unwrap() - 14_400.0).abs() < 1.0);
    assert_eq!(leak.entities, ["instance:a:1"]);
    assert!(leak.confidence > 0.9);
}

#[test]
fn steady_is_clear_and_a_restart_ends_a_growth() {
    assert_eq!(
        check(&Leak, &snapshot(vec![fds(|i| 10.0 + f64::from(i % 3))])),
        Verdict::Clear
    );
    let start: Vec<(f64, f64)> = (0..100)
        .map(|i| (5.0 * f64::from(i), if i < 50 { 100.0 } else { 400.0 }))
        .collect();
    let restarted = snapshot(vec![
        fds(|i| {
            if i < 50 {
                10.0 + f64::from(i) * 20.0
            } else {
                10.0
            }
        }),
        raw("process_start_time_seconds", &[("instance", "a:1")], &start),
    ]);
    assert_eq!(check(&Leak, &restarted), Verdict::Clear);
}

#[test]
fn nothing_that_can_leak_is_not_enough() {
    let other = raw("x", &[], &[(0.0, 1.0)]);
    assert!(matches!(
        check(&Leak, &snapshot(vec![other])),
        Verdict::NotEnough(_)
    ));
}

#[test]
fn the_locked_controller_leaks_memory_and_descriptors() {
    let Some(path) = shared_data("incidents/ingress-metrics-lock/input") else {
        return;
    };
    let found = findings(&Leak, &snapshot_of(&path));
    let of = |metric: &str, entity: &str| {
        found
            .iter()
            .find(|f| f.text("metric") == Some(metric) && f.entities[0].contains(entity))
            .unwrap_or_else(|| panic!("{metric} {entity}: {found:#?}"))
    };
    let onset = Timestamp::parse_rfc3339("2026-11-30T14:30:20.865Z").unwrap();
    let memory = of("namedprocess_namegroup_memory_bytes", "ingress");
    assert_eq!(memory.number("end_value"), Some(982_925_312.0));
    let start = memory.number("start_value").unwrap();
    assert!((start / 221_671_424.0 - 1.0).abs() < 0.1, "{start}");
    let files = of("namedprocess_namegroup_open_filedesc", "ingress");
    assert_eq!(files.number("start_value"), Some(9.0));
    assert_eq!(files.number("end_value"), Some(4389.0));
    for leak in [memory, files] {
        let late = leak.onset.secs_since(onset);
        assert!((0.0..10.0).contains(&late), "{late} {}", leak.title);
    }
}

#[test]
fn dumps_stand_in_for_goroutines_that_no_scrape_saw() {
    use crate::model::profile::Profile;
    use std::sync::Arc;

    let seen: Vec<(f64, f64)> = (0..40)
        .map(|i| (5.0 * f64::from(i), 7.0 + f64::from(i % 2)))
        .chain([(205.0, 62.0), (210.0, 853.0)])
        .collect();
    let dump = |t: i64, total: f64| Profile {
        input: InputIx(0),
        t: Timestamp::from_millis(t * 1_000),
        t_source: "recorded",
        kind: Arc::from("goroutine"),
        unit: Arc::from("count"),
        total,
        process: Arc::from("a:1"),
        has_states: false,
        groups: Vec::new(),
    };
    let series = || vec![raw("go_goroutines", &[("instance", "a:1")], &seen)];
    // Two samples are too few to tell a growth from a burst …
    assert_eq!(check(&Leak, &snapshot(series())), Verdict::Clear);
    // … with two dumps it is one.
    let found = findings(
        &Leak,
        &snapshot_from(Batch {
            series: series(),
            profiles: vec![dump(250, 1_970.0), dump(370, 4_352.0)],
            ..Batch::default()
        }),
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].number("end_value"), Some(4_352.0));
    assert_eq!(found[0].onset.nanos(), 205_000_000_000);
    assert!(found[0].confidence < 0.75, "{}", found[0].confidence);
    assert_eq!(found[0].evidence.len(), 4);
}
