use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::session::analysis::{Asked, Document};
use crate::session::intake::{self, Options};
use crate::session::notes::Verdict;

const SAMPLES: [&str; 2] = ["ingress-metrics-lock", "snat-connect-ladder"];

fn open(name: &str) -> Incident {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("fixtures").join(name).join("input");
    let intake = intake::read(&[path], &Options::default(), &mut std::io::empty());
    analysed(Document::new(intake, Asked::default()), 1)
}

fn analysed(document: Document, generation: u64) -> Incident {
    let report = document.report(None);
    Incident {
        document: Arc::new(document),
        report: Some(Arc::new(report)),
        generation,
        is_complete: true,
    }
}

fn json(incident: &Incident) -> String {
    serde_json::to_string(incident.report.as_deref().unwrap()).unwrap()
}

#[test]
fn until_the_end_is_the_whole_byte_for_byte_and_until_the_begin_says_nothing() {
    for name in SAMPLES {
        let whole = open(name);
        let window = whole.document.window;
        for end in [window.end, window.end.plus_nanos(-1)] {
            let part = analysed(whole.document.until(end), 2);
            assert_eq!(json(&part), json(&whole), "{name}");
        }
        let begin = analysed(whole.document.until(window.start), 3);
        assert!(begin.findings().is_empty(), "{name}");
        assert!(begin.hypotheses().is_empty(), "{name}");
    }
}

#[test]
fn nothing_that_is_known_is_later() {
    for name in SAMPLES {
        let whole = open(name);
        let window = whole.document.window;
        for part in [3, 2] {
            let t = window.start.plus_nanos(window.nanos() / part);
            let known = analysed(whole.document.until(t), 2);
            assert_eq!(known.document.window.end, t.plus_nanos(1));
            assert_eq!(known.document.recording, window);
            let snapshot = known.snapshot();
            assert!(snapshot.extent.unwrap().end <= t.plus_nanos(1));
            let last = snapshot.series.iter().filter_map(|s| s.t.last());
            assert!(last.max().is_none_or(|last| *last <= t.nanos()));
            for finding in known.findings() {
                assert!(finding.start <= t, "{name}: {}", finding.title);
                assert!(finding.end.is_none_or(|end| end <= t.plus_nanos(1)));
            }
            assert!(snapshot.inputs.iter().all(|i| i.end.is_none_or(|e| e <= t)));
        }
    }
}

#[test]
fn the_present_moves_by_time_and_speed_and_stops_at_the_end() {
    let mut clock = Clock::new(&open("ingress-metrics-lock"));
    let start = clock.at();
    assert_eq!(clock.next_frame_s(false), None);
    clock.tick(5.0, false);
    assert_eq!(clock.at(), start);
    clock.set_speed(60);
    clock.play(true);
    clock.tick(10.0, false);
    clock.tick(10.5, false);
    assert_eq!(clock.at(), start.plus_nanos(30 * NANOS_PER_SEC));
    // What is due comes a few times a second, not with every frame.
    clock.tick(10.6, false);
    assert_eq!(clock.due(), start.plus_nanos(30 * NANOS_PER_SEC));
    clock.set_speed(600);
    for at in 11..60 {
        clock.tick(f64::from(at), false);
    }
    assert!(clock.is_over() && !clock.is_playing());
    assert_eq!(clock.due(), clock.now(None).range.end);
    clock.play(true);
    assert_eq!(clock.at(), start);
}

#[test]
fn with_less_motion_it_moves_in_steps() {
    let mut clock = Clock::new(&open("ingress-metrics-lock"));
    let start = clock.at();
    clock.play(true);
    clock.tick(1.0, true);
    clock.tick(1.1, true);
    assert_eq!(clock.at(), start);
    clock.tick(1.3, true);
    assert_eq!(clock.at(), start.plus_nanos(18 * NANOS_PER_SEC));
    assert_eq!(clock.next_frame_s(true), Some(ANEW_S));
}

#[test]
fn steps_and_speeds_have_ends() {
    let mut clock = Clock::new(&open("ingress-metrics-lock"));
    let start = clock.at();
    clock.step(false);
    assert_eq!(clock.at(), start);
    clock.step(true);
    assert!(clock.at() > start);
    clock.step(false);
    assert_eq!(clock.at(), start);
    clock.jump(true);
    let first = clock.at();
    clock.jump(true);
    assert!(clock.at() > first);
    clock.jump(false);
    assert_eq!(clock.at(), first);
    for _ in 0..9 {
        clock.shift(true);
    }
    assert_eq!(clock.now(None).speed, 600);
    for _ in 0..9 {
        clock.shift(false);
    }
    assert_eq!(clock.now(None).speed, 1);
    clock.go(Timestamp::MAX);
    assert!(clock.is_over());
}

#[test]
fn what_was_said_of_a_cause_is_said_of_the_same_cause_of_the_whole() {
    let whole = open("ingress-metrics-lock");
    let window = whole.document.window;
    let cause = &whole.hypotheses()[0];
    let parts = (1..20).map(|n| window.start.plus_nanos(window.nanos() / 20 * n));
    let part = parts
        .map(|t| analysed(whole.document.until(t), 2))
        .find(|part| {
            let first = part.hypotheses().first();
            first.is_some_and(|h| h.signature == cause.signature)
        })
        .unwrap();
    let id = part.hypotheses()[0].id.clone();
    let heirs = heirs(&part, &whole);
    let mut notes = Notes::default();
    notes.verdicts.insert(id.clone(), Verdict::Confirmed);
    rename(&mut notes, &heirs);
    assert_eq!(notes.verdicts.get(&cause.id), Some(&Verdict::Confirmed));
    let mut story = Story::default();
    story.tell(window.start, &part, &BTreeMap::new());
    story.tell(window.end, &whole, &heirs);
    assert_eq!(story.first(&cause.id), Some(window.start));
    assert_eq!(story.leaders().len(), 1);
}
