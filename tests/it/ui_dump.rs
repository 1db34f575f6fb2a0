//! Dumps and profiles in the real window.

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tailscope::app::{App, shot};
use tailscope::model::finding::FindingKind;
use tailscope::model::profile::WaitClass;
use tailscope::session::target::Target;
use tailscope::session::view::Drawer;
use tailscope::store::stacks::groups::{Grouping, groups};
use tailscope::ui::request::{FocusEdit, Request};

use crate::ui::window;

const LOCK: &str = "fixtures/ingress-metrics-lock/input";
const EARLY: &str = "during-1.20261130T143136Z.goroutine.debug1";
const LATE: &str = "during-2.20261130T143332Z.goroutine.debug1";

fn ask(harness: &mut Harness<'static, App>, request: Request) {
    let ctx = harness.ctx.clone();
    harness.state_mut().ask(&ctx, request);
    shot::settle(harness);
}

/// The profile of the file whose name holds this.
fn profile(harness: &Harness<'static, App>, name: &str) -> usize {
    let snapshot = harness.state().incident().unwrap().snapshot();
    let is_it = |ix: usize| snapshot.inputs[ix].path.contains(name);
    (0..snapshot.profiles.len())
        .find(|p| is_it(snapshot.profiles[*p].input.0 as usize))
        .unwrap()
}

/// The window with the drawer open on a profile.
fn on(name: &str) -> Harness<'static, App> {
    let mut harness = window(&[LOCK]);
    ask(&mut harness, Request::Drawer(Some(Drawer::Dump)));
    let open = profile(&harness, name);
    ask(&mut harness, Request::Focus(FocusEdit::Profile(Some(open))));
    harness
}

/// Presses what has that name with the mouse.
fn click(harness: &mut Harness<'static, App>, name: &str) {
    harness.get_by_label(name).click();
    shot::settle(harness);
}

fn press(harness: &mut Harness<'static, App>, key: Key) {
    harness.key_press(key);
    shot::settle(harness);
}

/// The rows of groups whose names hold this, as they are read out.
fn rows(harness: &Harness<'static, App>, text: &str) -> Vec<String> {
    harness
        .get_all_by_role(Role::ListBoxOption)
        .filter_map(|n| n.accesskit_node().label())
        .filter(|label| label.contains(text))
        .collect()
}

/// What the flame graph says of the frame that keys act on.
fn frame(harness: &Harness<'static, App>) -> String {
    let node = harness.get_by_role(Role::Tree);
    node.accesskit_node().label().unwrap()
}

#[test]
fn evidence_of_a_lock_leads_to_the_very_group() {
    let mut harness = window(&[LOCK]);
    let incident = harness.state().incident().unwrap().clone();
    let snapshot = incident.snapshot();
    let finding = incident
        .findings()
        .iter()
        .find(|f| f.kind == FindingKind::LockContention && f.number("total") == Some(1970.0))
        .unwrap();
    let evidence = &finding.evidence[0];
    let line: u64 = evidence
        .locator
        .strip_prefix("line ")
        .unwrap()
        .parse()
        .unwrap();
    let input = snapshot.inputs.iter().position(|i| i.id == evidence.input);
    let (profile, group) = (0..snapshot.profiles.len())
        .filter(|p| Some(snapshot.profiles[*p].input.0 as usize) == input)
        .find_map(|p| {
            let at = snapshot.profiles[p]
                .groups
                .iter()
                .position(|g| g.line == line)?;
            Some((p, at))
        })
        .unwrap();
    let link = Target::Stack {
        profile,
        group: Some(group),
    };
    ask(&mut harness, Request::Follow(link));
    let picked: Vec<String> = harness
        .get_all_by_role(Role::ListBoxOption)
        .filter(|n| n.accesskit_node().is_selected() == Some(true))
        .filter_map(|n| n.accesskit_node().label())
        .collect();
    let row = picked.iter().find(|l| l.contains("handleMessage"));
    let row = row.unwrap_or_else(|| panic!("{picked:?}"));
    assert!(row.starts_with("1,257 (64 %)"), "{row}");
    assert!(row.contains("prometheus.(*summary).Observe"), "{row}");
    // The stack beside it, with what it waits at and the program's own code marked.
    let site = harness.get_by_label_contains("waits at");
    let site = site.accesskit_node().label().unwrap();
    assert!(
        site.contains("client_golang/prometheus.(*summary).Observe"),
        "{site}"
    );
    let user = harness.get_by_label_contains("user code");
    let user = user.accesskit_node().label().unwrap();
    assert!(user.contains("(*SocketCollector).handleMessage"), "{user}");
}

#[test]
fn groups_are_picked_by_mouse_and_by_keyboard() {
    let mut harness = on(EARLY);
    let all = rows(&harness, "");
    let second = all
        .iter()
        .filter(|l| l.contains("since previous") || l.contains("change"))
        .nth(1);
    let second = second.unwrap().clone();
    click(&mut harness, &second);
    let by_mouse = harness.state().view().focus.stack;
    assert!(by_mouse.is_some());
    let first = rows(&harness, "1,257")
        .into_iter()
        .find(|l| l.contains("%)"))
        .unwrap();
    harness.get_by_label(&first).focus();
    harness.step();
    press(&mut harness, Key::Enter);
    let by_key = harness.state().view().focus.stack;
    assert!(by_key.is_some() && by_key != by_mouse);
    assert!(harness.get_by_label(&first).is_focused());
}

#[test]
fn the_observe_group_grows_as_the_truth_says() {
    let harness = window(&[LOCK]);
    let snapshot = harness.state().incident().unwrap().snapshot();
    let (a, b) = (profile(&harness, EARLY), profile(&harness, LATE));
    let found = groups(snapshot, a, Some(b), Grouping::User, &|| false);
    let row = &found.rows[0];
    assert!(row.user.ends_with("(*SocketCollector).handleMessage"));
    assert_eq!(row.class, WaitClass::Lock);
    assert_eq!(
        (found.count(row), found.change(row)),
        (1257.0, Some(2574.0))
    );
    assert!((found.share(row) - 0.6381).abs() < 5e-5);
    assert_eq!(row.counts, [0.0, 1257.0, 3831.0]);
    let full = profile(&harness, "during-1.20261130T143136Z.goroutine.debug2");
    let locks = groups(snapshot, full, None, Grouping::Lock, &|| false);
    let named: Vec<f64> = locks
        .rows
        .iter()
        .filter(|r| r.lock.is_some() && locks.count(r) > 0.0)
        .map(|r| locks.count(r))
        .collect();
    // The truth counts by printed state; one more has just been woken and still stands in the lock.
    let groups = &snapshot.profiles[full].groups;
    let waiting = |lock: Option<u64>| -> f64 {
        let in_it = groups
            .iter()
            .filter(|g| g.lock == lock && g.state.as_ref() == "semacquire");
        in_it.map(|g| g.value).sum()
    };
    assert_eq!((named.len(), named[0]), (7, 516.0));
    assert!((waiting(locks.rows[0].lock) - 515.0).abs() < 0.5);
    assert!(locks.rows[0].is_mixed);
}

#[test]
fn rows_say_share_and_growth() {
    let mut harness = on(EARLY);
    let b = profile(&harness, LATE);
    ask(
        &mut harness,
        Request::Focus(FocusEdit::CompareProfile(Some(b))),
    );
    let row = rows(&harness, "1,257 (64 %)");
    assert_eq!(row.len(), 1, "{row:?}");
    assert!(row[0].contains("change +2,571"), "{}", row[0]);
    harness.get_by_label("Filter groups").focus();
    harness.step();
    harness.get_by_label("Filter groups").type_text("registry");
    shot::settle(&mut harness);
    assert!(rows(&harness, "1,257 (64 %)").is_empty());
    assert!(!rows(&harness, "change").is_empty());
}

#[test]
fn a_search_in_the_flame_graph_says_its_share() {
    let mut harness = on(EARLY);
    click(&mut harness, "Flame graph");
    harness.get_by_label("Search functions").focus();
    harness.step();
    harness
        .get_by_label("Search functions")
        .type_text("summary).observe");
    shot::settle(&mut harness);
    harness.get_by_label("1 function, 64 %");
}

#[test]
fn keys_walk_and_zoom_the_flame_graph() {
    let mut harness = on(EARLY);
    click(&mut harness, "Flame graph");
    assert!(
        frame(&harness).contains("All, 1,970 (100 %)"),
        "{}",
        frame(&harness)
    );
    harness.get_by_role(Role::Tree).focus();
    harness.step();
    for _ in 0..2 {
        press(&mut harness, Key::ArrowDown);
    }
    assert!(
        frame(&harness).contains("handleMessage"),
        "{}",
        frame(&harness)
    );
    press(&mut harness, Key::Enter);
    assert!(
        harness.query_by_label_contains("Show all again").is_some()
            || harness.query_by_role_and_label(Role::Link, "All").is_some()
    );
    // A frame above the one that takes the whole width is not drawn any more.
    assert!(harness.query_by_label_contains("All, 1,970").is_none());
    press(&mut harness, Key::Escape);
    press(&mut harness, Key::Escape);
    assert!(
        harness
            .query_by_role_and_label(Role::TreeItem, "All, 1,970 (100 %)")
            .is_some()
    );
    assert_eq!(harness.state().view().drawer, Some(Drawer::Dump));
}

#[test]
fn two_dumps_are_compared_by_mouse_and_seen_from_both_sides() {
    let mut harness = on(EARLY);
    click(&mut harness, "Flame graph");
    let (a, b) = (profile(&harness, EARLY), profile(&harness, LATE));
    let plus = harness
        .get_all_by_role(Role::Button)
        .find(|n| {
            let label = n.accesskit_node().label().unwrap_or_default();
            label.starts_with("Compare with") && label.contains(LATE)
        })
        .unwrap();
    plus.click();
    shot::settle(&mut harness);
    assert_eq!(harness.state().view().focus.compare_profile, Some(b));
    harness.get_by_label_contains("Totals differ: A 1,970, B 4,352");
    harness.get_by_label_contains("runtime_SemacquireMutex, 1,257 (64 %) > ");
    click(&mut harness, "Swap A and B");
    let focus = &harness.state().view().focus;
    assert_eq!((focus.profile, focus.compare_profile), (Some(b), Some(a)));
    harness.get_by_label_contains("Totals differ: A 4,352, B 1,970");
    click(&mut harness, "Functions");
    let there = rows(&harness, "(*summary).Observe: ");
    assert!(there[0].contains("-26.9 pp"), "{there:?}");
    click(&mut harness, "Swap A and B");
    let back = rows(&harness, "(*summary).Observe: ");
    assert!(back[0].contains("+26.9 pp"), "{back:?}");
    // By keyboard: the row of another profile of the same kind, and Shift+Enter.
    let row = rows(&harness, "before.20261130T142910Z.goroutine.debug1").remove(0);
    harness
        .get_by_role_and_label(Role::ListBoxOption, &row)
        .focus();
    harness.step();
    harness.key_press_modifiers(Modifiers::SHIFT, Key::Enter);
    shot::settle(&mut harness);
    let first = profile(&harness, "before.20261130T142910Z.goroutine.debug1");
    assert_eq!(harness.state().view().focus.compare_profile, Some(first));
    let row = harness.get_by_role_and_label(Role::ListBoxOption, &row);
    row.click_modifiers(Modifiers::SHIFT);
    shot::settle(&mut harness);
    assert_eq!(harness.state().view().focus.compare_profile, None);
}

#[test]
fn what_cannot_be_compared_is_not_offered() {
    let harness = on(EARLY);
    let offers = harness
        .get_all_by_role(Role::Button)
        .filter_map(|n| n.accesskit_node().label())
        .filter(|l| l.starts_with("Compare with"))
        .collect::<Vec<_>>();
    assert!(!offers.is_empty());
    assert!(offers.iter().all(|l| l.contains("goroutine")), "{offers:?}");
}

#[test]
fn an_empty_mutex_profile_is_no_sign_of_health() {
    let harness = on("before.20261130T142910Z.mutex");
    harness.get_by_label_contains("That does not say that nothing waited");
}

#[test]
fn without_profiles_it_says_how_to_record_one() {
    let mut harness = window(&["fixtures/snat-connect-ladder/input"]);
    ask(&mut harness, Request::Drawer(Some(Drawer::Dump)));
    harness.get_by_label_contains("/debug/pprof/goroutine?debug=2");
    harness.get_by_label_contains("stops the whole process");
}
