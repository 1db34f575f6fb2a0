//! Tests of the module above.

use super::*;
use crate::model::labels::Labels;
use crate::model::series::{STALE_NAN_BITS, Sampling};
use std::sync::Arc;

const SEC: i64 = 1_000_000_000;

fn told(points: &[(i64, f64)], gaps: &[&Finding], end: i64) -> Vec<(i64, i64, State)> {
    let mut up = Series::new(Arc::from("up"), Labels::default(), Sampling::Raw);
    up.t = points.iter().map(|(t, _)| t * SEC).collect();
    up.v = points.iter().map(|(_, v)| *v).collect();
    let curve = Curve::of(&up);
    stretches(&up, &curve, true, gaps, end * SEC)
        .into_iter()
        .map(|s| (s.start / SEC, s.end / SEC, s.state))
        .collect()
}

#[test]
fn up_failed_with_its_cause_and_silent_are_told_apart() {
    let at = |s: i64| Timestamp::from_nanos(s * SEC);
    let mut gap = Finding::new(FindingKind::ScrapeGap, "x", at(20), Some(at(40)));
    gap.cause = Some("scrape_timeout".to_owned());
    let points = [
        (0, 1.0),
        (10, 1.0),
        (20, 0.0),
        (30, 0.0),
        (40, 1.0),
        (50, 1.0),
        (90, 1.0),
        (100, 1.0),
    ];
    let timeout = State::Failed(Some("scrape_timeout".to_owned()));
    assert_eq!(
        told(&points, &[&gap], 105),
        [
            (0, 20, State::Up),
            (20, 40, timeout),
            (40, 60, State::Up),
            (60, 90, State::Missing),
            (90, 105, State::Up),
        ]
    );
}

#[test]
fn long_names_keep_what_tells_them_apart() {
    let name = format!("{}-aaa:80", "x".repeat(80));
    assert!(middle(&name).ends_with("-aaa:80") && middle(&name).chars().count() <= NAME + 1);
    assert_eq!(middle("short"), "short");
}

#[test]
fn silence_until_the_end_and_after_a_marker_is_missing() {
    let points = [(0, 1.0), (10, 1.0), (20, 1.0)];
    assert_eq!(
        told(&points, &[], 100),
        [(0, 30, State::Up), (30, 100, State::Missing)]
    );
    let stale = f64::from_bits(STALE_NAN_BITS);
    let points = [(0, 1.0), (10, 1.0), (20, stale)];
    assert_eq!(
        told(&points, &[], 100),
        [(0, 20, State::Up), (20, 100, State::Missing)]
    );
}
