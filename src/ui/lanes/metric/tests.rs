//! The lane as a whole, from series to what it says.

use std::sync::Arc;

use super::*;
use crate::base::time::{TimeRange, Timestamp};
use crate::model::batch::Batch;
use crate::model::input::Input;
use crate::model::labels::Labels;
use crate::model::series::Series;
use crate::session::analysis::{Asked, Document};
use crate::session::intake::Intake;
use crate::session::settings::Lang;
use crate::ui::words::Words;

const SEC: i64 = 1_000_000_000;

fn series(metric: &str, label: &str, value: impl Fn(i64) -> f64) -> Series {
    let mut one = Series::new(
        Arc::from(metric),
        Labels::of(&[("a", label)]),
        Sampling::Raw,
    );
    one.kind = MetricKind::Gauge;
    one.t = (0..100).map(|i| i * 15 * SEC).collect();
    one.v = (0..100).map(value).collect();
    one
}

fn incident(series: Vec<Series>) -> Incident {
    let input = Input {
        id: "in-1".to_owned(),
        path: "a".to_owned(),
        format: String::new(),
        sha256: String::new(),
        counts: Default::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    let batch = Batch {
        series,
        ..Batch::default()
    };
    let intake = Intake {
        parts: vec![(input, batch)],
        ..Intake::default()
    };
    Incident {
        document: Arc::new(Document::new(intake, Asked::default())),
        report: None,
        generation: 1,
        is_complete: true,
    }
}

fn whole() -> TimeRange {
    TimeRange::new(Timestamp::from_nanos(0), Timestamp::from_nanos(1_500 * SEC))
}

fn lane(incident: &Incident, series: &[&str]) -> Box<dyn Lane> {
    let spec = LaneSpec {
        kind: "metric".to_owned(),
        key: series[0].to_owned(),
        series: series.iter().map(|s| (*s).to_owned()).collect(),
    };
    let query = Query {
        range: whole(),
        step_nanos: SEC,
    };
    Metric
        .prepare(&spec, incident, &query, &Cancel::new())
        .unwrap()
}

#[test]
fn of_many_series_those_that_move_most_are_lines_and_the_rest_a_band() {
    let all = (0..40)
        .map(|n| series("m", &format!("{n:02}"), move |i| (i * n) as f64))
        .collect();
    let incident = incident(all);
    let words = Words::new(Lang::En);
    let lane = lane(&incident, &["m"]);
    let note = lane.note_in(&words);
    assert!(note.contains("15 of 40"), "{note}");
    let names: Vec<String> = lane
        .read(Timestamp::from_nanos(SEC))
        .into_iter()
        .map(|r| r.name)
        .collect();
    assert_eq!(names.first().map(String::as_str), Some("25"));
    assert_eq!(names.last().map(String::as_str), Some("39"));
    let axis = lane.values(whole()).unwrap();
    assert!(axis.min <= 0.0 && axis.max >= 39.0 * 99.0, "{axis:?}");
}

#[test]
fn an_overlay_with_another_unit_has_its_own_scale_and_says_so() {
    let mut bytes = series("b", "x", |i| 1e9 + i as f64 * 1e7);
    bytes.unit = Arc::from("bytes");
    let incident = incident(vec![series("m", "x", |i| i as f64), bytes]);
    let words = Words::new(Lang::En);
    let lane = lane(&incident, &["m", "b"]);
    assert!(lane.note_in(&words).contains("own scale"));
    let axis = lane.values(whole()).unwrap();
    assert!(axis.max < 200.0, "bytes do not stretch the axis: {axis:?}");
    let readings = lane.read_in(Timestamp::from_nanos(30 * SEC), &words);
    assert_eq!(readings[0].value, "2");
    assert!(readings[1].value.contains("MiB") && readings[1].value.contains("own scale"));
}

#[test]
fn readings_steps_gaps_and_outliers() {
    let mut one = series("m", "x", |i| if i == 70 { 1_000.0 } else { (i % 3) as f64 });
    one.t.drain(40..50);
    one.v.drain(40..50);
    let incident = incident(vec![one]);
    let lane = lane(&incident, &["m"]);
    let at = |s: i64| Timestamp::from_nanos(s * SEC);
    assert_eq!(lane.read(at(31))[0].value, "2");
    assert_eq!(lane.read(at(45 * 15))[0].value, "-", "inside the hole");
    assert_eq!(lane.step(at(30), true), Some(at(45)));
    assert_eq!(lane.step(at(30), false), Some(at(15)));
    assert_eq!(lane.gap(at(0), true), Some(at(40 * 15)));
    assert_eq!(lane.outlier(at(0), true), Some(at(70 * 15)));
    assert_eq!(lane.outlier(at(70 * 15), true), None);
    let measured = lane.measure(TimeRange::new(at(0), at(45)));
    assert_eq!(measured[0], ("count".to_owned(), "3".to_owned()));
    assert_eq!(measured[3], ("mean".to_owned(), "1".to_owned()));
}

#[test]
fn nothing_to_draw_is_a_lane_that_says_so() {
    let incident = incident(vec![series("m", "x", |i| i as f64)]);
    let words = Words::new(Lang::En);
    let lane = lane(&incident, &["other"]);
    assert_eq!(lane.note_in(&words), words.text("lane-empty"));
}

#[test]
fn titles_are_for_people() {
    assert_eq!(title("m"), "m");
    assert_eq!(
        title("memory_bytes{memtype=\"resident\"}"),
        "memory_bytes resident"
    );
    assert_eq!(title("m{a=\"1\",b=\"x,y\"}"), "m 1 x,y");
}

/// A counter with samples at those seconds.
fn counter(points: &[(i64, f64)]) -> Series {
    let mut one = series("c_total", "x", |_| 0.0);
    one.kind = MetricKind::Counter;
    one.t = points.iter().map(|(t, _)| t * SEC).collect();
    one.v = points.iter().map(|(_, v)| *v).collect();
    one
}

fn why(series: Series, shown: TimeRange) -> Option<crate::ui::lanes::Blank> {
    let incident = incident(vec![series]);
    lane(&incident, &["c_total"]).blank(shown)
}

#[test]
fn a_lane_without_a_line_says_why() {
    use crate::ui::lanes::Blank;
    let at = |s: i64| Timestamp::from_nanos(s * SEC);
    assert_eq!(why(counter(&[(10, 5.0)]), whole()), Some(Blank::OneSample));
    let nan = [(0, f64::NAN), (15, f64::NAN), (30, f64::NAN)];
    assert_eq!(why(counter(&nan), whole()), Some(Blank::NoValues));
    let lost = [(0, 1.0), (15, f64::NAN), (30, 2.0), (45, f64::NAN)];
    assert_eq!(why(counter(&lost), whole()), Some(Blank::NoRate));
    let good = [(0, 1.0), (15, 2.0), (30, 3.0), (900, 9.0), (915, 9.0)];
    assert_eq!(why(counter(&good), whole()), None);
    let hole = TimeRange::new(at(100), at(800));
    let around = Blank::Elsewhere {
        before: Some(at(30)),
        after: Some(at(915)),
    };
    assert_eq!(
        why(counter(&good), hole),
        Some(around),
        "a rate begins at the second sample"
    );
    let between = TimeRange::new(at(18), at(25));
    assert_eq!(why(counter(&good), between), None, "the line goes through");
    let resets = [(0, 9.0), (15, 1.0), (30, 0.5), (45, 0.2)];
    assert_eq!(
        why(counter(&resets), whole()),
        None,
        "falls are restarts and have rates"
    );
}

#[test]
fn whole_numbers_are_told_apart_from_shares() {
    let whole_of = |value: fn(i64) -> f64| {
        let incident = incident(vec![series("m", "x", value)]);
        lane(&incident, &["m"]).values(whole()).unwrap().is_whole
    };
    assert!(whole_of(|i| (i % 3) as f64));
    assert!(!whole_of(|i| i as f64 / 7.0));
}

#[test]
fn the_names_of_lines_have_a_row_of_their_own() {
    let incident = incident(vec![
        series("m", "x", |i| i as f64),
        series("m", "y", |i| i as f64),
        series("n", "x", |i| i as f64),
    ]);
    assert!(lane(&incident, &["m"]).head(84.0) > 12.0);
    assert!(
        lane(&incident, &["n"]).head(84.0) < 1.0,
        "one line has its name in the gutter"
    );
    assert!(lane(&incident, &["m"]).head(34.0) < 1.0, "no room for both");
}
