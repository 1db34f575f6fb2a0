//! The timeline through the real window: walked by keys, pulled by the mouse, shaped, and at rest.

use egui::{Event, Key, Modifiers, PointerButton, Pos2, Rect, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tailscope::app::{App, shot};
use tailscope::base::time::{TimeRange, Timestamp};
use tailscope::model::finding::{Finding, FindingKind};
use tailscope::session::view::View;
use tailscope::ui::commands::{self, CommandId};
use tailscope::ui::lanes;
use tailscope::ui::timeline::navigate::Bounds;

const INGRESS: &[&str] = &["fixtures/ingress-metrics-lock/input"];
const SNAT: &[&str] = &["fixtures/snat-connect-ladder/input"];

fn window(paths: &[&str]) -> Harness<'static, App> {
    let mut harness = crate::ui::window(paths);
    harness.run();
    harness
}

fn view(harness: &Harness<'static, App>) -> View {
    harness.state().view().clone()
}

/// Presses the shortcut of a command, as a person would.
fn press(harness: &mut Harness<'static, App>, id: CommandId) {
    let shortcut = commands::command(id).unwrap().shortcut.unwrap();
    key(harness, shortcut.modifiers, shortcut.logical_key);
}

fn key(harness: &mut Harness<'static, App>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    rest(harness);
}

/// Waits for workers, and for glides to end.
fn rest(harness: &mut Harness<'static, App>) {
    harness.step();
    shot::settle(harness);
    harness.run();
}

fn bounds(harness: &Harness<'static, App>) -> Bounds {
    Bounds::of(harness.state().incident().unwrap())
}

fn findings(harness: &Harness<'static, App>, of: impl Fn(&Finding) -> bool) -> Vec<Finding> {
    let incident = harness.state().incident().unwrap();
    let mut found: Vec<Finding> = incident
        .findings()
        .iter()
        .filter(|f| of(f))
        .cloned()
        .collect();
    found.sort_by(|a, b| (a.start, &a.id).cmp(&(b.start, &b.id)));
    found
}

/// Where a lane stands on the time axis.
fn lane(harness: &Harness<'static, App>, title: &str) -> Rect {
    harness
        .get_all_by(|n| {
            n.role() == egui::Role::Canvas && n.label().is_some_and(|l| l.starts_with(title))
        })
        .next()
        .unwrap_or_else(|| panic!("no lane {title}"))
        .rect()
}

fn button(harness: &mut Harness<'static, App>, pos: Pos2, pressed: bool) {
    harness.event(Event::PointerMoved(pos));
    harness.event(Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    harness.step();
}

fn drag(harness: &mut Harness<'static, App>, from: Pos2, to: Pos2) {
    button(harness, from, true);
    harness.event(Event::PointerMoved(from + (to - from) * 0.5));
    harness.step();
    harness.event(Event::PointerMoved(to));
    harness.step();
    button(harness, to, false);
    rest(harness);
}

/// The instant at a place of the time axis when `shown` is shown.
fn at(harness: &Harness<'static, App>, shown: TimeRange, x: f32) -> Timestamp {
    let axis = harness.get_by_label("Time axis").rect();
    let share = f64::from((x - axis.left()) / axis.width());
    shown
        .start
        .plus_nanos((share * shown.nanos() as f64) as i64)
}

#[test]
fn lanes_open_by_themselves_and_that_is_no_step_back() {
    let mut harness = window(INGRESS);
    let kinds: Vec<String> = view(&harness)
        .lanes
        .iter()
        .map(|l| l.spec.kind.clone())
        .collect();
    assert!(kinds.len() > 3, "{kinds:?}");
    assert!(kinds.iter().all(|k| lanes::by_id(k).is_some()), "{kinds:?}");
    let before = view(&harness);
    press(&mut harness, CommandId::Undo);
    assert_eq!(view(&harness).lanes, before.lanes);
}

/// The keys that walk forth and back, and what they walk.
type Walk = (CommandId, CommandId, fn(&Finding) -> bool);

#[test]
fn gaps_findings_and_changes_are_walked_by_key() {
    let mut harness = window(INGRESS);
    let walks: [Walk; 3] = [
        (CommandId::NextGap, CommandId::PreviousGap, |f| {
            f.kind == FindingKind::ScrapeGap
        }),
        (CommandId::NextFinding, CommandId::PreviousFinding, |f| {
            f.kind != FindingKind::Change
        }),
        (CommandId::NextChange, CommandId::PreviousChange, |f| {
            f.kind == FindingKind::Change
        }),
    ];
    for (next, previous, is_walked) in walks {
        press(&mut harness, CommandId::GoStart);
        press(&mut harness, CommandId::ZoomAll);
        let start = bounds(&harness).recording.start;
        assert_eq!(view(&harness).cursor, Some(start));
        let found = findings(&harness, |f| is_walked(f) && f.start > start);
        assert!(found.len() > 1);
        for finding in &found {
            press(&mut harness, next);
            assert_eq!(
                view(&harness).cursor,
                Some(finding.start),
                "{}",
                finding.title
            );
            assert_eq!(view(&harness).selection.id(), Some(finding.id.as_str()));
            assert!(view(&harness).range.contains(finding.start));
        }
        let last = view(&harness).cursor;
        press(&mut harness, next);
        assert_eq!(view(&harness).cursor, last);
        for finding in found.iter().rev().skip(1) {
            press(&mut harness, previous);
            assert_eq!(view(&harness).selection.id(), Some(finding.id.as_str()));
        }
    }
}

#[test]
fn the_window_is_cut_at_the_cursor_and_goes_back() {
    let mut harness = window(INGRESS);
    let whole = view(&harness).range;
    let gap = findings(&harness, |f| f.kind == FindingKind::ScrapeGap)
        .into_iter()
        .find(|f| f.end.is_some())
        .unwrap();
    press(&mut harness, CommandId::GoStart);
    while view(&harness).selection.id() != Some(gap.id.as_str()) {
        press(&mut harness, CommandId::NextGap);
    }
    press(&mut harness, CommandId::EdgeStart);
    assert_eq!(view(&harness).range, TimeRange::new(gap.start, whole.end));
    // An end before the begin is refused.
    press(&mut harness, CommandId::EdgeEnd);
    assert_eq!(view(&harness).range, TimeRange::new(gap.start, whole.end));
    press(&mut harness, CommandId::GoEnd);
    press(&mut harness, CommandId::ZoomMeasure);
    let framed = view(&harness).range;
    assert!(framed.start < gap.start && gap.end.unwrap() < framed.end);
    assert!(framed.nanos() < 2 * gap.end.unwrap().nanos_since(gap.start));
    press(&mut harness, CommandId::ZoomAll);
    assert_eq!(view(&harness).range, bounds(&harness).recording);
    press(&mut harness, CommandId::ZoomBack);
    assert_eq!(view(&harness).range, framed);
    press(&mut harness, CommandId::ZoomBack);
    assert_eq!(view(&harness).range, TimeRange::new(gap.start, whole.end));
    press(&mut harness, CommandId::ZoomBack);
    assert_eq!(view(&harness).range, whole);
    press(&mut harness, CommandId::ZoomForward);
    assert_eq!(view(&harness).range, TimeRange::new(gap.start, whole.end));
}

#[test]
fn held_keys_zoom_and_pan_as_one_step() {
    let mut harness = window(INGRESS);
    let whole = view(&harness).range;
    for _ in 0..4 {
        harness.key_press(Key::W);
        harness.step();
    }
    let near = view(&harness).range;
    assert!(near.nanos() < whole.nanos() / 3, "{near:?}");
    harness.key_press(Key::D);
    harness.step();
    assert_eq!(view(&harness).range.nanos(), near.nanos());
    assert!(view(&harness).range.start > near.start);
    for _ in 0..60 {
        harness.key_press(Key::S);
        harness.step();
    }
    let widest = view(&harness).range;
    assert!(widest.nanos() <= 2 * bounds(&harness).recording.nanos());
    for _ in 0..60 {
        harness.key_press(Key::W);
        harness.step();
    }
    assert_eq!(view(&harness).range.nanos(), 1_000);
}

#[test]
fn samples_and_outliers_are_stepped_on_the_active_lane() {
    let mut harness = window(INGRESS);
    let at = view(&harness)
        .lanes
        .iter()
        .position(|l| l.spec.kind == "metric")
        .unwrap();
    for _ in 0..at {
        press(&mut harness, CommandId::LaneDown);
    }
    assert_eq!(view(&harness).active_lane, at);
    press(&mut harness, CommandId::GoStart);
    let mut before = view(&harness).cursor;
    for _ in 0..5 {
        press(&mut harness, CommandId::SampleForward);
        let now = view(&harness).cursor;
        assert!(now > before, "{before:?} to {now:?}");
        before = now;
    }
    press(&mut harness, CommandId::SampleBack);
    assert!(view(&harness).cursor < before);
    press(&mut harness, CommandId::GoStart);
    let start = view(&harness).cursor;
    press(&mut harness, CommandId::NextOutlier);
    let outlier = view(&harness).cursor;
    if outlier != start {
        press(&mut harness, CommandId::GoEnd);
        press(&mut harness, CommandId::PreviousOutlier);
        assert!(view(&harness).cursor >= outlier);
    }
}

#[test]
fn a_box_is_dragged_and_zoomed_to() {
    let mut harness = window(SNAT);
    let whole = view(&harness).range;
    let place = harness
        .get_all_by(|n| {
            n.role() == egui::Role::Canvas
                && n.label()
                    .is_some_and(|l| l.ends_with("Requests and traces"))
        })
        .next()
        .unwrap()
        .rect();
    let from = pos2(place.left() + 200.0, place.top() + 10.0);
    let to = pos2(place.left() + 320.0, place.bottom() - 12.0);
    let wanted = TimeRange::new(at(&harness, whole, from.x), at(&harness, whole, to.x));
    drag(&mut harness, from, to);
    assert_eq!(view(&harness).range, whole, "a box alone changes nothing");
    harness.get_by_label("Zoom Z").click();
    rest(&mut harness);
    let shown = view(&harness).range;
    let pixel = whole.nanos() / place.width() as i64;
    assert!(
        shown.start.nanos_since(wanted.start).abs() <= pixel,
        "{shown:?}, not {wanted:?}"
    );
    assert!(
        shown.end.nanos_since(wanted.end).abs() <= pixel,
        "{shown:?}, not {wanted:?}"
    );
    press(&mut harness, CommandId::ZoomBack);
    assert_eq!(view(&harness).range, whole);

    // By keys: the first choice has the focus.
    drag(&mut harness, from, to);
    key(&mut harness, Modifiers::NONE, Key::Enter);
    assert!(!view(&harness).picked.is_empty());
    drag(&mut harness, from, to);
    press(&mut harness, CommandId::MeasureHere);
    let measured = view(&harness).measure.unwrap();
    assert!(measured.start.nanos_since(wanted.start).abs() <= pixel);
    drag(&mut harness, from, to);
    press(&mut harness, CommandId::Escape);
    assert!(harness.query_by_label("Zoom Z").is_none());
    assert_eq!(view(&harness).range, whole);
}

#[test]
fn a_click_sets_the_cursor_and_a_reader_is_told() {
    let mut harness = window(SNAT);
    let shown = view(&harness).range;
    let place = lane(&harness, "Events");
    // Left of the first event: nothing lies there that a click would follow.
    let x = place.left() + 14.0;
    let spot = pos2(x, place.bottom() - 12.0);
    button(&mut harness, spot, true);
    button(&mut harness, spot, false);
    rest(&mut harness);
    let t = view(&harness).cursor.unwrap();
    let pixel = shown.nanos() / place.width() as i64;
    assert!(t.nanos_since(at(&harness, shown, x)).abs() <= 2 * pixel);
    let clock = t.to_clock();
    let value = harness
        .get_by_label("Time axis")
        .value()
        .unwrap_or_default();
    assert!(value.starts_with(&clock[..8]), "{value}");
    assert!(value.contains("Events"), "{value}");
}

#[test]
fn lanes_are_added_moved_shaped_and_taken_back() {
    let mut harness = window(INGRESS);
    let before = view(&harness);
    press(&mut harness, CommandId::LaneAdd);
    harness.event(Event::Text("resident process".to_owned()));
    rest(&mut harness);
    key(&mut harness, Modifiers::NONE, Key::Enter);
    let added = view(&harness);
    assert_eq!(added.lanes.len(), before.lanes.len() + 1);
    let at = added.active_lane;
    let spec = added.lanes[at].spec.clone();
    let words = format!("{} {}", spec.key, spec.series.join(" "));
    assert!(words.contains("resident"), "{words}");
    press(&mut harness, CommandId::LaneMoveDown);
    assert_eq!(view(&harness).lanes[at + 1].spec, spec);
    assert_eq!(view(&harness).active_lane, at + 1);
    press(&mut harness, CommandId::LaneMoveUp);
    press(&mut harness, CommandId::LaneTaller);
    assert!(view(&harness).lanes[at].height.is_some());
    press(&mut harness, CommandId::LaneCollapse);
    assert!(view(&harness).lanes[at].is_collapsed);
    press(&mut harness, CommandId::LaneRemove);
    assert_eq!(view(&harness).lanes, before.lanes);
    for _ in 0..6 {
        press(&mut harness, CommandId::Undo);
    }
    assert_eq!(view(&harness).lanes, before.lanes);
    press(&mut harness, CommandId::Redo);
    assert_eq!(view(&harness).lanes.len(), before.lanes.len() + 1);
}

#[test]
fn a_typed_time_is_gone_to_or_refused_in_words() {
    let mut harness = window(INGRESS);
    press(&mut harness, CommandId::GoTime);
    harness.event(Event::Text("soon".to_owned()));
    key(&mut harness, Modifiers::NONE, Key::Enter);
    harness.get_by_label_contains("Not a time");
    assert_eq!(view(&harness).cursor, None);
    press(&mut harness, CommandId::Escape);
    press(&mut harness, CommandId::GoTime);
    harness.event(Event::Text("14:29:10.5".to_owned()));
    key(&mut harness, Modifiers::NONE, Key::Enter);
    assert_eq!(
        view(&harness).cursor,
        Timestamp::parse_rfc3339("2026-11-30T14:29:10.5Z")
    );
}

#[test]
fn the_wheel_zooms_around_the_pointer() {
    let mut harness = window(INGRESS);
    let whole = view(&harness).range;
    let axis = harness.get_by_label("Time axis").rect();
    let x = axis.left() + axis.width() * 0.7;
    let anchor = at(&harness, whole, x);
    harness.event(Event::PointerMoved(pos2(x, axis.center().y)));
    harness.step();
    harness.event(Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: egui::vec2(0.0, 120.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Wheel,
        modifiers: Modifiers::NONE,
    });
    rest(&mut harness);
    let near = view(&harness).range;
    assert!(near.nanos() < whole.nanos(), "{near:?}");
    let moved = at(&harness, near, x).nanos_since(anchor).abs();
    assert!(moved <= near.nanos() / axis.width() as i64, "{moved}");
    press(&mut harness, CommandId::ZoomBack);
    assert_eq!(
        view(&harness).range,
        whole,
        "all turns of the wheel are one step"
    );
}

#[test]
fn nothing_is_drawn_when_nothing_changes() {
    for paths in [INGRESS, SNAT] {
        let mut harness = window(paths);
        press(&mut harness, CommandId::GoStart);
        press(&mut harness, CommandId::NextFinding);
        press(&mut harness, CommandId::MeasureHere);
        press(&mut harness, CommandId::ZoomIn);
        for _ in 0..3 {
            harness.step();
            let root = &harness.output().viewport_output[&egui::ViewportId::ROOT];
            // Told words go away by themselves, after seconds.
            assert!(
                root.repaint_delay > std::time::Duration::from_secs(1),
                "{:?}",
                root.repaint_delay
            );
        }
    }
}
