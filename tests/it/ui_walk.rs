//! Whole walks as a person takes them: from the start page over the ranked cause and its evidence to a verdict, a note, an own event
//! and the exported file. Once by mouse alone, once by keyboard alone, on both sample incidents; by labels and visible text only.

use std::path::Path;

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, Node};
use tailscope::app::shot::{self, Shot};
use tailscope::app::{App, Start};

type Window = Harness<'static, App>;

/// What a person finds on the way.
struct Walk {
    /// The sample as the start page names it.
    sample: &'static str,
    /// A part of the cause that is ranked first.
    cause: &'static str,
    /// Lines of evidence, and what is to be seen once each is followed.
    evidence: [(&'static str, Seen); 2],
    /// Compares two windows; else measures.
    compares: bool,
}

/// Where a line of evidence leads.
#[derive(Clone, Copy)]
enum Seen {
    /// The time axis reads the lane of that metric at the cursor.
    Lane(&'static str),
    /// That text stands in the view below the timeline.
    Below(&'static str),
}

const INGRESS: Walk = Walk {
    sample: "Open the sample ingress-metrics-lock",
    cause: "Observe starves the scrapes of",
    evidence: [
        ("7 before it grew", Seen::Lane("go_goroutines")),
        (
            "2,027 goroutines in the dump of 14:31:36.066",
            Seen::Below("Observe"),
        ),
    ],
    compares: true,
};

const SNAT: Walk = Walk {
    sample: "Open the sample snat-connect-ladder",
    cause: "SYNs of new connections from smartgateway are dropped",
    evidence: [
        ("grew by 30 in the window", Seen::Lane("insert_failed")),
        (
            "call 3043 − callee 10.386 = gap 3032.614 ms, connect 3.03 s",
            Seen::Below("presentationservice"),
        ),
    ],
    compares: false,
};

const NOTE: &str = "seen by two of us";
const EVENT: &str = "paged the platform team";
const PATH: &str = "Path; Tab completes it";

fn start() -> Window {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut window = shot::harness(&Shot {
        start: Start {
            sample_places: vec![root.join("fixtures")],
            ..Start::default()
        },
        size: [1280.0, 800.0],
        pixels_per_point: 1.0,
        drawer: None,
        select: None,
    });
    shot::settle(&mut window);
    window
}

fn label(node: &Node<'_>) -> String {
    node.accesskit_node().label().unwrap_or_default()
}

fn texts(window: &Window) -> Vec<(Role, String, Pos2)> {
    let nodes = window.root().children_recursive();
    nodes
        .filter(|n| n.accesskit_node().raw_bounds().is_some())
        .map(|n| {
            let text = n
                .accesskit_node()
                .label()
                .or_else(|| n.accesskit_node().value());
            (
                n.accesskit_node().role(),
                text.unwrap_or_default(),
                n.rect().min,
            )
        })
        .collect()
}

/// The first thing of that role whose name holds `part`.
fn find<'a>(window: &'a Window, role: Role, part: &str) -> Node<'a> {
    let mut all = window.query_all_by_role(role);
    all.find(|n| label(n).contains(part))
        .unwrap_or_else(|| panic!("no {role:?} {part:?} in {:#?}", texts(window)))
}

fn click(window: &mut Window, role: Role, part: &str) {
    find(window, role, part).scroll_to_me();
    window.run_steps(4);
    find(window, role, part).click();
    window.run_steps(4);
    shot::settle(window);
}

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    shot::settle(window);
}

fn key(window: &mut Window, key: Key) {
    press(window, Modifiers::NONE, key);
}

fn write(window: &mut Window, text: &str) {
    window.event(Event::Text(text.to_owned()));
    shot::settle(window);
}

/// Tab until the focus is on what that name says.
fn tab_to(window: &mut Window, role: Role, part: &str) {
    for _ in 0..160 {
        window.key_press(Key::Tab);
        window.run_steps(2);
        let is_there = window
            .query_all_by_role(role)
            .any(|n| n.is_focused() && label(&n).contains(part));
        if is_there {
            shot::settle(window);
            return;
        }
    }
    panic!("Tab never reaches {role:?} {part:?}");
}

const fn button(pos: Pos2, pressed: bool) -> Event {
    Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    }
}

fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    for event in [
        Event::PointerMoved(from),
        button(from, true),
        Event::PointerMoved(from + (to - from) / 2.0),
        Event::PointerMoved(to),
        button(to, false),
    ] {
        window.event(event);
        window.run_steps(2);
    }
    shot::settle(window);
}

/// What the window says first: the ranked cause, whose whole title it gives.
fn headline(window: &Window, begin: &str) -> String {
    let said = label(&find(window, Role::Heading, begin));
    let (_, title) = said.split_once(": ").unwrap();
    title.to_owned()
}

fn is_seen(window: &Window, seen: Seen) {
    match seen {
        Seen::Lane(metric) => {
            let axis = find(window, Role::Slider, "Time axis");
            let read = axis.accesskit_node().value().unwrap_or_default();
            assert!(read.contains(metric), "{read}");
        }
        Seen::Below(text) => {
            let below = find(window, Role::Button, "Timeline & notes")
                .rect()
                .bottom();
            let all = texts(window);
            let is_there = all
                .iter()
                .any(|(_, said, at)| at.y > below && at.x > 372.0 && said.contains(text));
            assert!(is_there, "{text:?} is not in {all:#?}");
        }
    }
}

/// What the file must hold: cause, evidence, verdict, note, own event.
fn is_written(path: &Path, cause: &str, walk: &Walk) {
    let text = std::fs::read_to_string(path).unwrap();
    // What Markdown would take for its own is escaped in it.
    let plain = text.replace('\\', "");
    for part in [cause, "Verdict: confirmed", NOTE, EVENT] {
        assert!(plain.contains(part), "{part}: {text}");
    }
    for (line, seen) in walk.evidence {
        let part = match seen {
            Seen::Lane(metric) => metric,
            Seen::Below(_) => line,
        };
        assert!(plain.contains(part), "{part}: {text}");
    }
}

fn by_mouse(walk: &Walk) {
    let folder = tempfile::tempdir().unwrap();
    let mut window = start();
    click(&mut window, Role::Button, walk.sample);
    let cause = headline(&window, "Most likely cause: ");
    assert!(cause.contains(walk.cause), "{cause}");
    click(&mut window, Role::ListBoxOption, &cause);
    for (line, seen) in walk.evidence {
        click(&mut window, Role::Link, line);
        is_seen(&window, seen);
    }
    click(&mut window, Role::Button, "Confirm");
    assert_eq!(headline(&window, "Confirmed cause: "), cause);
    click(&mut window, Role::Button, "Note");
    write(&mut window, NOTE);
    click(&mut window, Role::Button, "Save");
    window.get_by_label(NOTE);

    click(&mut window, Role::Button, "Timeline & notes");
    click(&mut window, Role::Button, "Add event");
    write(&mut window, EVENT);
    let add: Vec<_> = window.query_all_by_role(Role::Button).collect();
    let add = add.into_iter().rfind(|n| label(n) == "Add").unwrap();
    add.click();
    window.run_steps(4);
    shot::settle(&mut window);

    if walk.compares {
        click(&mut window, Role::Button, "Compare");
        click(&mut window, Role::Button, "Before the trouble / during it");
        click(&mut window, Role::Button, "worse: ");
    } else {
        let lane = find(&window, Role::Canvas, "Events, Events").rect();
        drag(
            &mut window,
            lane.left_center() + egui::vec2(60.0, 0.0),
            lane.left_center() + egui::vec2(300.0, 0.0),
        );
        click(&mut window, Role::Button, "Measure");
        window.get_by_label("measured");
    }

    click(&mut window, Role::Button, "Export the timeline");
    click(&mut window, Role::TextInput, PATH);
    press(&mut window, Modifiers::COMMAND, Key::A);
    let path = folder.path().join("by-mouse.md");
    write(&mut window, &path.display().to_string());
    let export: Vec<_> = window.query_all_by_role(Role::Button).collect();
    export
        .into_iter()
        .rfind(|n| label(n) == "Export")
        .unwrap()
        .click();
    window.run_steps(4);
    shot::settle(&mut window);
    is_written(&path, &cause, walk);
}

fn by_keys(walk: &Walk) {
    let folder = tempfile::tempdir().unwrap();
    let mut window = start();
    tab_to(&mut window, Role::Button, walk.sample);
    key(&mut window, Key::Enter);
    let cause = headline(&window, "Most likely cause: ");
    assert!(cause.contains(walk.cause), "{cause}");
    key(&mut window, Key::J);
    for (line, seen) in walk.evidence {
        tab_to(&mut window, Role::Link, line);
        key(&mut window, Key::Enter);
        is_seen(&window, seen);
    }
    tab_to(&mut window, Role::Button, "Confirm");
    key(&mut window, Key::Enter);
    assert_eq!(headline(&window, "Confirmed cause: "), cause);
    key(&mut window, Key::N);
    write(&mut window, NOTE);
    press(&mut window, Modifiers::COMMAND, Key::Enter);
    window.get_by_label(NOTE);

    key(&mut window, Key::E);
    write(&mut window, EVENT);
    key(&mut window, Key::Enter);
    key(&mut window, Key::Escape);

    if walk.compares {
        key(&mut window, Key::Num4);
        tab_to(&mut window, Role::Button, "Before the trouble / during it");
        key(&mut window, Key::Enter);
        tab_to(&mut window, Role::Button, "worse: ");
        key(&mut window, Key::Enter);
    } else {
        key(&mut window, Key::Home);
        key(&mut window, Key::M);
        window.get_by_label("measuring from");
        key(&mut window, Key::End);
        key(&mut window, Key::M);
        window.get_by_label("measured");
    }

    press(&mut window, Modifiers::COMMAND, Key::E);
    press(&mut window, Modifiers::COMMAND, Key::A);
    let path = folder.path().join("by-keys.md");
    write(&mut window, &path.display().to_string());
    key(&mut window, Key::Enter);
    is_written(&path, &cause, walk);
}

#[test]
fn the_lock_incident_by_mouse_alone() {
    by_mouse(&INGRESS);
}

#[test]
fn the_lock_incident_by_keyboard_alone() {
    by_keys(&INGRESS);
}

#[test]
fn the_connect_incident_by_mouse_alone() {
    by_mouse(&SNAT);
}

#[test]
fn the_connect_incident_by_keyboard_alone() {
    by_keys(&SNAT);
}

#[test]
fn the_second_input_of_compare_by_mouse_and_by_keyboard() {
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/snat-connect-ladder/input");
    for is_by_mouse in [true, false] {
        let mut window = start();
        if is_by_mouse {
            click(&mut window, Role::Button, INGRESS.sample);
            click(&mut window, Role::Button, "Compare");
            click(&mut window, Role::Button, "Other input");
            click(&mut window, Role::TextInput, "File or folder");
            write(&mut window, &other.display().to_string());
            click(&mut window, Role::Button, "Open");
        } else {
            tab_to(&mut window, Role::Button, INGRESS.sample);
            key(&mut window, Key::Enter);
            key(&mut window, Key::Num4);
            tab_to(&mut window, Role::Button, "Other input");
            key(&mut window, Key::Enter);
            tab_to(&mut window, Role::TextInput, "File or folder");
            write(&mut window, &other.display().to_string());
            key(&mut window, Key::Enter);
        }
        for _ in 0..400 {
            if window.query_by_label("Close the other input").is_some() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(25));
            window.step();
        }
        shot::settle(&mut window);
        find(&window, Role::Button, "Window B: 14:26:5");
        find(&window, Role::Button, "Only in B (");
        find(&window, Role::Button, "Only in A (");
    }
}

#[test]
fn an_own_event_is_opened_by_a_click_on_the_timeline() {
    let mut window = start();
    click(&mut window, Role::Button, INGRESS.sample);
    key(&mut window, Key::E);
    write(&mut window, EVENT);
    key(&mut window, Key::Enter);
    key(&mut window, Key::Escape);
    key(&mut window, Key::Escape);
    assert!(window.query_all_by_label("Delete").next().is_none());
    // It stands in the middle of what is shown.
    let lane = find(&window, Role::Canvas, "Events, Events").rect();
    let middle = window.get_by_label("Time axis").rect().center().x;
    let at = egui::pos2(middle, lane.center().y);
    for event in [Event::PointerMoved(at), button(at, true), button(at, false)] {
        window.event(event);
        window.step();
    }
    shot::settle(&mut window);
    assert!(window.query_all_by_label("Delete").next().is_some());
    let fields = window.query_all_by_role(Role::TextInput);
    let values: Vec<String> = fields.filter_map(|n| n.accesskit_node().value()).collect();
    assert!(values.iter().any(|v| v == EVENT), "{values:?}");
}

#[test]
fn the_start_page_begins_with_opening_and_the_dialog_with_a_path_to_replace() {
    let mut window = start();
    window.key_press(Key::Tab);
    window.run_steps(2);
    let first = window.root().children_recursive().find(Node::is_focused);
    assert!(label(&first.unwrap()).starts_with("Open files or a folder"));
    key(&mut window, Key::Enter);
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/snat-connect-ladder/input");
    write(&mut window, &other.display().to_string());
    key(&mut window, Key::Enter);
    assert!(headline(&window, "Most likely cause: ").contains(SNAT.cause));
    // What is offered to be written keeps its folder and its ending.
    press(&mut window, Modifiers::COMMAND, Key::E);
    write(&mut window, "mine");
    let path = find(&window, Role::TextInput, PATH);
    let typed = path.accesskit_node().value().unwrap();
    assert!(typed.ends_with("/mine.md"), "{typed}");
}

#[test]
fn o_says_where_it_went_and_m_measures_what_is_shown() {
    let mut window = start();
    click(&mut window, Role::Button, INGRESS.sample);
    key(&mut window, Key::M);
    window.get_by_label("measured");
    window.get_by_label_contains("Measuring what is shown");
    key(&mut window, Key::Escape);
    // The active lane has findings, which are no values: the next lane below that has some is taken.
    key(&mut window, Key::O);
    window.get_by_label_contains("Outlier in ");
    for _ in 0..200 {
        window.key_press(Key::O);
        window.run_steps(3);
        if window
            .query_by_label_contains(" has no outlier after ")
            .is_some()
        {
            break;
        }
    }
    shot::settle(&mut window);
    window.get_by_label_contains(" has no outlier after ");
    assert!(window.query_by_label_contains("Outlier in ").is_none());
}

#[test]
fn a_line_of_a_cause_is_said_of_the_finding_that_it_leads_to() {
    for path in [
        "fixtures/ingress-metrics-lock/input",
        "fixtures/snat-connect-ladder/input",
    ] {
        let window = crate::ui::window(&[path]);
        let incident = window.state().incident().unwrap();
        let lines = incident.hypotheses().iter().flat_map(|h| &h.support);
        for line in lines {
            let said: Vec<&str> = incident
                .findings()
                .iter()
                .filter(|f| line.text.contains(&f.title))
                .map(|f| f.id.as_str())
                .collect();
            let Some(finding) = &line.finding else {
                continue;
            };
            assert!(
                said.is_empty() || said.contains(&finding.as_str()),
                "{}",
                line.text
            );
        }
    }
}

#[test]
fn no_two_rows_of_a_comparison_look_alike_however_narrow_it_is() {
    use std::collections::BTreeSet;
    use tailscope::ui::widgets::brief::Names;

    for path in [
        "fixtures/ingress-metrics-lock/input",
        "fixtures/snat-connect-ladder/input",
    ] {
        let mut window = crate::ui::window(&[path]);
        click(&mut window, Role::Button, "Compare");
        click(&mut window, Role::Button, "Before the trouble / during it");
        click(&mut window, Role::Button, "Whole height");
        let rows: BTreeSet<String> = texts(&window)
            .into_iter()
            .filter_map(|(_, text, _)| {
                let (verdict, rest) = text.split_once(": ")?;
                let is_row = ["worse", "better", "changed"].contains(&verdict);
                let (name, _) = rest.rsplit_once(": A ").filter(|_| is_row)?;
                Some(name.to_owned())
            })
            .collect();
        assert!(rows.len() > 8, "{rows:#?}");
        let names = Names::of(rows.iter().map(String::as_str));
        for letters in [22, 28, 36] {
            let shown: BTreeSet<String> = rows.iter().map(|r| names.fit(r, letters)).collect();
            assert_eq!(shown.len(), rows.len(), "{letters}: {shown:#?}");
        }
        // What did not change by as much as anybody would see is not among them.
        let all = texts(&window);
        assert!(
            !all.iter()
                .any(|(_, t, _)| t.contains("worse") && t.contains("A 212 MiB, B 213 MiB"))
        );
    }
}
