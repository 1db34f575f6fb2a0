//! Causes, findings and their explanation in the real window: by mouse alone, by keyboard alone, in Korean.

use std::collections::BTreeSet;
use std::path::Path;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, Node};
use tailscope::app::shot::{self, Shot};
use tailscope::app::{App, Start};
use tailscope::engine::load::Opening;
use tailscope::session::evidence::Links;
use tailscope::session::notes::Verdict;
use tailscope::session::settings::{Lang, Settings};
use tailscope::session::target::Target;
use tailscope::session::view::{Drawer, Selection};

use crate::ui::window;

const INCIDENTS: [(&str, &str); 2] = [
    (
        "fixtures/ingress-metrics-lock/input",
        "metrics-lock-starves-scrape",
    ),
    (
        "fixtures/snat-connect-ladder/input",
        "syn-drop-connect-ladder",
    ),
];

type Window = Harness<'static, App>;

fn rest(window: &mut Window) {
    shot::settle(window);
}

fn with_role(window: &Window, role: Role) -> Vec<Node<'_>> {
    window.query_all_by_role(role).collect()
}

fn label(node: &Node<'_>) -> String {
    node.accesskit_node().label().unwrap_or_default()
}

/// Brings a node into sight and clicks on it with the pointer.
fn click(window: &mut Window, find: impl Fn(&Window) -> Node<'_>) {
    find(window).scroll_to_me();
    for _ in 0..4 {
        window.step();
    }
    find(window).click();
    rest(window);
}

fn row_of<'a>(window: &'a Window, title: &str) -> Node<'a> {
    with_role(window, Role::ListBoxOption)
        .into_iter()
        .find(|n| label(n).contains(title))
        .unwrap_or_else(|| panic!("no row {title:?}"))
}

/// The last of that role and name.
fn named<'a>(window: &'a Window, role: Role, name: &str) -> Node<'a> {
    with_role(window, role)
        .into_iter()
        .rfind(|n| label(n) == name)
        .unwrap_or_else(|| panic!("no {role:?} {name:?}"))
}

fn button<'a>(window: &'a Window, name: &str) -> Node<'a> {
    named(window, Role::Button, name)
}

/// The lines of the explanation that can be followed; the drawer has links of its own.
fn followed(window: &Window) -> Vec<Node<'_>> {
    let side = window.state().settings().side_width;
    let all = with_role(window, Role::Link);
    all.into_iter().filter(|n| n.rect().left() < side).collect()
}

fn link(window: &Window, at: usize) -> Node<'_> {
    followed(window).swap_remove(at)
}

fn links(window: &Window) -> Vec<String> {
    followed(window).iter().map(label).collect()
}

/// What is followed leads to a place that the window then shows.
fn is_shown(window: &Window, targets: &[Target]) {
    let view = window.state().view();
    let snapshot = window.state().incident().unwrap().snapshot();
    assert_eq!(view.picked, targets);
    let first = &targets[0];
    match first {
        Target::Span { span } => {
            assert_eq!(view.drawer, Some(Drawer::Trace));
            assert_eq!(view.focus.span, Some(*span));
        }
        Target::Stack { profile, group } => {
            assert_eq!(view.drawer, Some(Drawer::Dump));
            assert_eq!(
                (view.focus.profile, view.focus.stack),
                (Some(*profile), *group)
            );
        }
        Target::Sample { series, .. } => {
            let series = &snapshot.series[*series];
            let lane = &view.lanes[view.active_lane].spec;
            let shows =
                lane.kind == "health" || lane.series.iter().any(|s| s.starts_with(&*series.metric));
            assert!(shows, "{lane:?} for {}", series.selector());
        }
        Target::Request { .. } | Target::Event { .. } | Target::Summary { .. } => {}
        Target::Finding(_) | Target::Input { .. } | Target::Own { .. } => {
            panic!("{first:?} is no evidence")
        }
    }
    if let Some(t) = first.time(snapshot) {
        assert_eq!(view.cursor, Some(t));
        assert!(view.range.contains(t), "{t} is not shown");
    }
}

#[test]
fn by_mouse_alone_a_cause_is_picked_read_followed_and_confirmed() {
    for (path, signature) in INCIDENTS {
        let mut window = window(&[path]);
        let incident = window.state().incident().unwrap().clone();
        let cause = incident.hypotheses()[0].clone();
        assert_eq!(cause.signature, signature);
        let of_report = Links::of(&incident);
        window.get_by_label(&format!("Most likely cause: {}", cause.title));

        click(&mut window, |w| row_of(w, &cause.title));
        assert_eq!(
            window.state().view().selection,
            Selection::Hypothesis(cause.id.clone())
        );
        for heading in [
            "For",
            "Against",
            "Changes",
            "Next checks",
            "Explains",
            "Concerns",
        ] {
            window.get_by_label(heading);
        }
        for text in cause
            .support
            .iter()
            .map(|s| &s.text)
            .chain(cause.changes.iter().map(|c| &c.why))
        {
            window.get_all_by_label(text).next().unwrap();
        }
        for check in cause.next_checks.iter().filter_map(|c| c.query.as_ref()) {
            window.get_by_label(check);
        }
        // Every change leads to its event.
        for (at, change) in cause.changes.iter().enumerate() {
            let target = of_report.change(&cause.id, at).unwrap().target.clone();
            click(&mut window, |w| named(w, Role::Link, &change.title));
            is_shown(&window, &[target]);
        }
        // Each line of evidence of a finding of each kind that it explains leads to its very place.
        let mut kinds = BTreeSet::new();
        for id in &cause.explains {
            if !kinds.insert(incident.finding(id).unwrap().kind) {
                continue;
            }
            let finding = incident.finding(id).unwrap();
            click(&mut window, |w| named(w, Role::Link, &finding.title));
            assert_eq!(
                window.state().view().selection,
                Selection::Finding(id.clone())
            );
            let all = links(&window);
            let first = all.len() - finding.evidence.len();
            for (at, (evidence, targets)) in finding
                .evidence
                .iter()
                .zip(of_report.finding(id))
                .enumerate()
            {
                assert_eq!(all[first + at], evidence.quote);
                click(&mut window, |w| link(w, first + at));
                is_shown(&window, targets);
            }
            // And back to the cause.
            click(&mut window, |w| link(w, 0));
            assert_eq!(
                window.state().view().selection,
                Selection::Hypothesis(cause.id.clone())
            );
        }
        assert!(window.state().view().range.nanos() > 0);

        click(&mut window, |w| button(w, "Confirm"));
        assert_eq!(
            window.state().notes().verdicts.get(&cause.id),
            Some(&Verdict::Confirmed)
        );
        button(&window, "Confirmed");
        window.get_by_label(&format!("Confirmed cause: {}", cause.title));
        assert!(label(&row_of(&window, &cause.title)).ends_with("Confirmed"));
        window.get_by_label("ranked 1 by the machine");
        click(&mut window, |w| button(w, "Confirmed"));
        assert!(window.state().notes().verdicts.is_empty());
    }
}

fn press(window: &mut Window, key: Key) {
    window.key_press(key);
    rest(window);
}

/// Tab until the focus is on something of that name.
fn tab_to(window: &mut Window, role: Role, name: &str) {
    for _ in 0..120 {
        window.key_press(Key::Tab);
        window.step();
        window.step();
        let is_there = window
            .query_all_by_role(role)
            .any(|n| n.is_focused() && label(&n) == name);
        if is_there {
            return;
        }
    }
    panic!("Tab never reaches {role:?} {name:?}");
}

#[test]
fn by_keyboard_alone_a_cause_is_picked_read_followed_and_confirmed() {
    for (path, _) in INCIDENTS {
        let mut window = window(&[path]);
        let incident = window.state().incident().unwrap().clone();
        let cause = incident.hypotheses()[0].clone();
        let of_report = Links::of(&incident);
        press(&mut window, Key::J);
        assert_eq!(
            window.state().view().selection,
            Selection::Hypothesis(cause.id.clone())
        );
        press(&mut window, Key::Enter);
        let first = of_report.first(&incident, &cause.id).unwrap();
        is_shown(&window, std::slice::from_ref(&first));
        // Down to the first finding, through its evidence by Tab, and back up.
        press(&mut window, Key::J);
        let Selection::Finding(id) = window.state().view().selection.clone() else {
            panic!("no finding below the causes");
        };
        let finding = incident.finding(&id).unwrap();
        for (evidence, targets) in finding.evidence.iter().zip(of_report.finding(&id)) {
            tab_to(&mut window, Role::Link, &evidence.quote);
            press(&mut window, Key::Enter);
            is_shown(&window, targets);
        }
        press(&mut window, Key::K);
        assert_eq!(
            window.state().view().selection,
            Selection::Hypothesis(cause.id.clone())
        );
        tab_to(&mut window, Role::Button, "Confirm");
        press(&mut window, Key::Enter);
        assert_eq!(
            window.state().notes().verdicts.get(&cause.id),
            Some(&Verdict::Confirmed)
        );
        window.get_by_label(&format!("Confirmed cause: {}", cause.title));
    }
}

#[test]
fn the_list_itself_takes_the_focus_and_its_keys() {
    let mut window = window(&[INCIDENTS[1].0]);
    let incident = window.state().incident().unwrap().clone();
    tab_to(&mut window, Role::ListBox, "Causes and findings");
    press(&mut window, Key::ArrowDown);
    let first = Selection::Hypothesis(incident.hypotheses()[0].id.clone());
    assert_eq!(window.state().view().selection, first);
    press(&mut window, Key::PageDown);
    let last = window.state().view().selection.clone();
    assert!(matches!(&last, Selection::Finding(_)));
    press(&mut window, Key::ArrowUp);
    assert_ne!(window.state().view().selection, last);
    press(&mut window, Key::PageUp);
    assert_eq!(window.state().view().selection, first);
    press(&mut window, Key::Enter);
    assert!(!window.state().view().picked.is_empty());
}

#[test]
fn a_finding_is_dismissed_with_a_reason_and_comes_back_by_undo() {
    let mut window = window(&[INCIDENTS[1].0]);
    let incident = window.state().incident().unwrap().clone();
    let finding = incident
        .findings()
        .iter()
        .find(|f| f.kind.word() == "spike")
        .unwrap()
        .clone();
    // Few rows, so that none is out of sight.
    filter(&mut window, "spike ActiveOpens");
    click(&mut window, |w| row_of(w, &finding.title));
    press(&mut window, Key::X);
    window.get_by_label("Reason").focus();
    rest(&mut window);
    let field = with_role(&window, Role::TextInput)
        .into_iter()
        .find(|n| label(n) == "Reason")
        .unwrap();
    field.type_text("the new pod opens its first connections");
    rest(&mut window);
    press(&mut window, Key::Enter);
    let reason = window.state().notes().dismissed.get(&finding.id).cloned();
    assert_eq!(
        reason.as_deref(),
        Some("the new pod opens its first connections")
    );
    let is_listed = |w: &Window| {
        with_role(w, Role::ListBoxOption)
            .iter()
            .any(|n| label(n).contains(&finding.title))
    };
    assert!(!is_listed(&window));
    window.get_by_label("Dismissed: the new pod opens its first connections");
    // Hidden, counted, and shown on demand.
    click(&mut window, |w| button(w, "1 dismissed"));
    assert!(is_listed(&window));
    click(&mut window, |w| button(w, "1 dismissed"));
    assert!(!is_listed(&window));
    window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    rest(&mut window);
    assert!(window.state().notes().dismissed.is_empty());
    assert!(is_listed(&window));
}

#[test]
fn a_note_is_written_and_a_finding_pinned() {
    let mut window = window(&[INCIDENTS[1].0]);
    let incident = window.state().incident().unwrap().clone();
    let finding = incident
        .findings()
        .iter()
        .find(|f| f.kind.word() == "slow_call")
        .unwrap()
        .clone();
    click(&mut window, |w| row_of(w, &finding.title));
    press(&mut window, Key::P);
    assert!(window.state().notes().pinned.contains(&finding.id));
    window.get_by_label("Pinned 1");
    click(&mut window, |w| button(w, "Note"));
    let field = with_role(&window, Role::MultilineTextInput)
        .into_iter()
        .find(|n| label(n) == "Note")
        .unwrap();
    field.type_text("seen by the client too");
    rest(&mut window);
    click(&mut window, |w| button(w, "Save"));
    let note = window.state().notes().comments.get(&finding.id).cloned();
    assert_eq!(note.as_deref(), Some("seen by the client too"));
    window.get_by_label("seen by the client too");
}

/// Types into the field above the list.
fn filter(window: &mut Window, text: &str) {
    click(window, |w| with_role(w, Role::TextInput).swap_remove(0));
    with_role(window, Role::TextInput)[0].type_text(text);
    rest(window);
}

#[test]
fn the_filter_and_the_order_change_the_list() {
    let mut window = window(&[INCIDENTS[0].0]);
    let options = |w: &Window| {
        w.query_all_by_role(Role::ListBoxOption)
            .map(|n| label(&n))
            .collect::<Vec<_>>()
    };
    filter(&mut window, "timed out");
    let found = options(&window);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|l| l.contains("timed out")), "{found:?}");
    click(&mut window, |w| button(w, "Clear the filter"));
    assert!(options(&window).len() > 2);
    let first_finding = |w: &Window| options(w).into_iter().nth(1).unwrap();
    assert!(
        first_finding(&window).starts_with("major"),
        "by time the leak comes first"
    );
    click(&mut window, |w| button(w, "By time"));
    assert!(
        first_finding(&window).starts_with("critical"),
        "{}",
        first_finding(&window)
    );
}

#[test]
fn what_could_not_be_decided_is_said_on_demand() {
    let mut window = window(&[INCIDENTS[1].0]);
    let reason = "no goroutine dump was given";
    assert!(window.query_by_label_contains(reason).is_none());
    click(&mut window, |w| {
        named(w, Role::Button, "2 could not be decided")
    });
    window.get_by_label_contains(reason);
}

#[test]
fn the_inputs_are_listed_with_their_warnings() {
    let mut window = window(&[INCIDENTS[0].0]);
    click(&mut window, |w| button(w, "Inputs"));
    let row = |w: &Window| {
        with_role(w, Role::Button)
            .into_iter()
            .map(|n| label(&n))
            .find(|l| l.contains(", with notes"))
            .unwrap()
    };
    let name = row(&window);
    click(&mut window, |w| button(w, &name));
    let warnings = window.state().incident().unwrap().snapshot().inputs.iter();
    let warning = warnings.flat_map(|i| i.warnings.clone()).next().unwrap();
    window.get_by_label(&format!("{}: {}", warning.code, warning.text));
}

fn korean(path: &str) -> Window {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shot = Shot {
        start: Start {
            opening: Opening {
                paths: vec![root.join(path)],
                ..Opening::default()
            },
            settings: Settings {
                lang: Lang::Ko,
                ..Settings::default()
            },
            ..Start::default()
        },
        size: [1280.0, 800.0],
        pixels_per_point: 1.0,
        drawer: None,
        select: None,
    };
    let mut window = shot::harness(&shot);
    rest(&mut window);
    window
}

#[test]
fn in_korean_the_list_and_the_explanation_are_korean() {
    let has_hangul = |text: &str| text.chars().any(|c| ('가'..='힣').contains(&c));
    for (path, _) in INCIDENTS {
        let mut window = korean(path);
        let options = with_role(&window, Role::ListBoxOption);
        assert!(options.len() > 3);
        for option in &options {
            assert!(has_hangul(&label(option)), "{}", label(option));
        }
        press(&mut window, Key::J);
        for heading in [
            "뒷받침하는 근거",
            "반하는 근거",
            "변경 사항",
            "다음 확인 사항",
            "설명하는 발견 사항",
        ] {
            window.get_all_by_label(heading).next().unwrap();
        }
        for said in window.get_all_by_role(Role::Heading) {
            assert!(has_hangul(&label(&said)), "{}", label(&said));
        }
        click(&mut window, |w| button(w, "확정"));
        assert_eq!(window.state().notes().verdicts.len(), 1);
        button(&window, "확정됨");
    }
}
