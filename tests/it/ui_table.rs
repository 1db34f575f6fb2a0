//! The table below the timeline, SQL and the comparison of windows, through the real window.

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tailscope::app::{App, shot};
use tailscope::session::target::Target;
use tailscope::session::view::Drawer;
use tailscope::ui::request::{FocusEdit, LaneEdit, Request};

use crate::ui::window;

const SNAT: &str = "fixtures/snat-connect-ladder/input";
const INGRESS: &str = "fixtures/ingress-metrics-lock/input";

fn ask(harness: &mut Harness<'static, App>, request: Request) {
    let ctx = harness.ctx.clone();
    harness.state_mut().ask(&ctx, request);
    shot::settle(harness);
}

fn table(harness: &mut Harness<'static, App>, name: &str) {
    ask(harness, Request::Drawer(Some(Drawer::Table)));
    let edit = FocusEdit::Table(name.to_owned(), String::new());
    ask(harness, Request::Focus(edit));
}

fn row(harness: &Harness<'static, App>) -> usize {
    harness.state().view().focus.table_row.unwrap()
}

fn duration(harness: &Harness<'static, App>, row: usize) -> f64 {
    let snapshot = harness.state().incident().unwrap().snapshot();
    snapshot.requests[row].duration_ms.unwrap()
}

fn type_filter(harness: &mut Harness<'static, App>, text: &str) {
    harness.get_by_label("Filter the rows").focus();
    harness.step();
    harness.get_by_label("Filter the rows").type_text(text);
    shot::settle(harness);
}

#[test]
fn a_table_is_sorted_and_picked_by_mouse_and_by_keys() {
    let mut harness = window(&[SNAT]);
    table(&mut harness, "requests");
    for _ in 0..2 {
        harness.get_by_label_contains("by duration_ms").click();
        shot::settle(&mut harness);
    }
    let slowest = {
        let snapshot = harness.state().incident().unwrap().snapshot();
        let all = snapshot.requests.iter().filter_map(|r| r.duration_ms);
        all.fold(0.0, f64::max)
    };
    // By mouse.
    let cell = format!("duration_ms {}", tailscope::base::units::number(slowest));
    harness
        .get_all_by_label_contains(&cell)
        .next()
        .unwrap()
        .click();
    shot::settle(&mut harness);
    let first = row(&harness);
    assert!((duration(&harness, first) - slowest).abs() < 1e-9);
    let view = harness.state().view();
    assert_eq!(view.picked, [Target::Request { request: first }]);
    let t = harness.state().incident().unwrap().snapshot().requests[first].t;
    assert_eq!(view.cursor, Some(t));
    // By keys: the grid has the focus now.
    harness.key_press(Key::ArrowDown);
    shot::settle(&mut harness);
    let second = row(&harness);
    assert_ne!(second, first);
    assert!(duration(&harness, second) <= slowest);
    harness.key_press(Key::End);
    shot::settle(&mut harness);
    let last = row(&harness);
    assert!(duration(&harness, last) < 20.0);
    harness.key_press(Key::PageUp);
    harness.key_press(Key::Home);
    shot::settle(&mut harness);
    assert_eq!(row(&harness), first);
    // What is picked on the timeline is picked here too.
    ask(
        &mut harness,
        Request::Pick(vec![
            Target::Request { request: 3 },
            Target::Request { request: 4 },
        ]),
    );
    harness.get_by_label("2 picked").click();
    shot::settle(&mut harness);
    harness.get_by_label("2 of 10,494");
}

#[test]
fn a_filter_says_what_it_lets_through_and_what_is_wrong_with_it() {
    let mut harness = window(&[SNAT]);
    table(&mut harness, "requests");
    type_filter(&mut harness, "duration_ms>900");
    let n = {
        let snapshot = harness.state().incident().unwrap().snapshot();
        let slow = snapshot.requests.iter();
        slow.filter(|r| r.duration_ms.is_some_and(|ms| ms > 900.0))
            .count()
    };
    assert!(n > 0);
    harness.get_by_label(&format!("{n} of 10,494"));
    assert_eq!(harness.state().view().focus.table_filter, "duration_ms>900");
    type_filter(&mut harness, " status>many");
    harness.get_by_label_contains("status needs a number");
    // What was shown stays meanwhile.
    harness.get_by_label(&format!("{n} of 10,494"));
    harness.get_by_label("Clear the filter").click();
    shot::settle(&mut harness);
    harness.get_by_label("10,494 rows");
    type_filter(&mut harness, "nowhere-to-be-found");
    harness.get_by_label("None of 10,494 rows passes the filter");
}

#[test]
fn an_empty_table_says_what_would_fill_it() {
    let mut harness = window(&[INGRESS]);
    table(&mut harness, "requests");
    harness.get_by_label("No rows in requests");
    harness.get_by_label_contains("Access logs fill it");
}

#[test]
fn every_lane_has_its_rows_as_a_table() {
    for input in [SNAT, INGRESS] {
        let mut harness = window(&[input]);
        let lanes = harness.state().view().lanes.len();
        assert!(lanes > 0);
        for lane in 0..lanes {
            ask(&mut harness, Request::Drawer(None));
            ask(&mut harness, Request::Lanes(LaneEdit::Activate(lane)));
            harness.key_press(Key::T);
            shot::settle(&mut harness);
            let view = harness.state().view();
            if view.drawer.is_none() {
                continue; // It has no rows of its own.
            }
            assert_eq!(view.drawer, Some(Drawer::Table));
            let focus = view.focus.clone();
            let spec = view.lanes[lane].spec.clone();
            let rows = harness.query_by_label_contains("Table ");
            assert!(rows.is_some(), "{input}: {spec:?} → {focus:?}");
        }
    }
}

#[test]
fn two_windows_are_compared_and_a_change_leads_to_its_lane() {
    let mut harness = window(&[INGRESS]);
    ask(&mut harness, Request::Drawer(Some(Drawer::Compare)));
    harness
        .get_by_label("Before the trouble / during it")
        .click();
    shot::settle(&mut harness);
    let (a, b) = harness.state().view().compare.unwrap();
    assert_eq!(a.end, b.start);
    let change = || "worse: namedprocess_namegroup_open_filedesc";
    harness
        .get_all_by_label_contains(change())
        .next()
        .unwrap()
        .click();
    shot::settle(&mut harness);
    let view = harness.state().view();
    let lane = &view.lanes[view.active_lane];
    let is_it = |name: &String| name.contains("open_filedesc");
    assert!(lane.spec.series.iter().any(is_it), "{lane:?}");
    // Undone like any change of the view.
    harness.get_by_label("Compare nothing").click();
    shot::settle(&mut harness);
    assert_eq!(harness.state().view().compare, None);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    shot::settle(&mut harness);
    assert_eq!(harness.state().view().compare, Some((a, b)));
}

#[test]
fn windows_without_data_are_said_to_have_none() {
    let mut harness = window(&[INGRESS]);
    ask(&mut harness, Request::Drawer(Some(Drawer::Compare)));
    let whole = harness.state().incident().unwrap().document.window;
    let hour = 3_600_000_000_000;
    let before = tailscope::base::time::TimeRange::new(
        whole.start.plus_nanos(-2 * hour),
        whole.start.plus_nanos(-hour),
    );
    ask(&mut harness, Request::Compare(Some((before, whole))));
    harness.get_by_label("Window A has no data");
}

#[cfg(feature = "sql")]
#[test]
fn a_query_is_run_its_answer_shown_and_kept_in_the_history() {
    let mut harness = window(&[SNAT]);
    table(&mut harness, "requests");
    harness.get_by_label("SQL").click();
    shot::settle(&mut harness);
    let query = "SELECT method, COUNT(*) AS n FROM requests GROUP BY method";
    harness.get_by_label("SQL query").focus();
    harness.step();
    harness.get_by_label("SQL query").type_text(query);
    shot::settle(&mut harness);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    shot::settle(&mut harness);
    harness.get_by_label_contains("n 10,494");
    assert_eq!(harness.state().settings().sql_history, [query]);
    let bad = " nonsense";
    harness.get_by_label("SQL query").type_text(bad);
    shot::settle(&mut harness);
    harness.get_by_label("Run").click();
    shot::settle(&mut harness);
    harness.get_by_label("The query has no answer");
    // Up in the field: the query before the one that was just run.
    harness.get_by_label("SQL query").focus();
    harness.step();
    harness.key_press(Key::ArrowUp);
    shot::settle(&mut harness);
    let field = harness.get_by_label("SQL query");
    let node = egui_kittest::kittest::NodeT::accesskit_node(&field);
    assert_eq!(node.value().as_deref(), Some(query));
}
