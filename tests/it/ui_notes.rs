//! Palette, shortcuts, dialog, start page, notes: by keyboard alone and by mouse alone.

use std::path::{Path, PathBuf};

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use tailscope::app::shot::{self, Shot};
use tailscope::app::{App, Start};
use tailscope::engine::load::Opening;
use tailscope::session::settings::{Lang, Settings, Theme};
use tailscope::session::view::Drawer;
use tailscope::ui::commands::{self, CommandId};
use tailscope::ui::request::Request;

const FIXTURE: &str = "fixtures/ingress-metrics-lock/input";

type Window = Harness<'static, App>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn started(paths: &[PathBuf], settings: Settings) -> Window {
    let mut window = shot::harness(&Shot {
        start: Start {
            opening: Opening {
                paths: paths.to_vec(),
                ..Opening::default()
            },
            settings,
            sample_places: vec![root().join("fixtures")],
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

/// The window with nothing open.
fn empty() -> Window {
    started(&[], Settings::default())
}

/// The window on the fixture.
fn opened() -> Window {
    crate::ui::window(&[FIXTURE])
}

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    shot::settle(window);
}

/// Types into whatever has the focus.
fn write(window: &mut Window, text: &str) {
    window.event(egui::Event::Text(text.to_owned()));
    shot::settle(window);
}

fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    // The pointer comes, presses and lets go, a frame each; what it asked for is done after that.
    window.run_steps(4);
    shot::settle(window);
}

fn titles(window: &Window) -> Vec<String> {
    let events = &window.state().notes().events;
    events.iter().map(|e| e.title.clone()).collect()
}

/// The fields of texts in the modal or panel, by what they show.
fn field_with(window: &Window, value: &str) -> usize {
    window
        .query_all_by_role(Role::TextInput)
        .filter(|n| {
            n.accesskit_node()
                .value()
                .is_some_and(|v| v.contains(value))
        })
        .count()
}

#[test]
fn by_keyboard_alone_from_the_palette_to_an_exported_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = empty();
    // The palette finds the command that opens.
    press(&mut window, Modifiers::COMMAND, Key::K);
    write(&mut window, "open files");
    press(&mut window, Modifiers::NONE, Key::Enter);
    // The dialog takes a typed path; Tab completes its end.
    press(&mut window, Modifiers::COMMAND, Key::A);
    let begun = root().join("fixtures/ingress-metrics-lock/inp");
    write(&mut window, &begun.display().to_string());
    press(&mut window, Modifiers::NONE, Key::Tab);
    assert_eq!(field_with(&window, "ingress-metrics-lock/input/"), 1);
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(window.state().incident().is_some());

    press(&mut window, Modifiers::NONE, Key::E);
    write(&mut window, "called the platform team");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(titles(&window), ["called the platform team"]);

    // Another title for what was just written.
    press(&mut window, Modifiers::NONE, Key::Tab);
    while !has_focus(&window, "What happened") {
        press(&mut window, Modifiers::SHIFT, Key::Tab);
    }
    press(&mut window, Modifiers::COMMAND, Key::A);
    write(&mut window, "paged the platform team");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(titles(&window), ["paged the platform team"]);

    export_by_keys(&mut window, &folder.path().join("out.md"));
    let written = std::fs::read_to_string(folder.path().join("out.md")).unwrap();
    assert!(
        written.contains("| note | paged the platform team |"),
        "{written}"
    );
    assert!(!written.contains("called the platform team"));
    window.get_by_label_contains("Exported to ");

    // Undo of each, with a word of what.
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert_eq!(titles(&window), ["called the platform team"]);
    window.get_by_label("Undone: event");
    press(&mut window, Modifiers::COMMAND, Key::Z);
    assert!(titles(&window).is_empty());
    press(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    press(&mut window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
    assert_eq!(titles(&window), ["paged the platform team"]);
}

fn has_focus(window: &Window, label: &str) -> bool {
    window
        .query_all_by_label(label)
        .any(|n| n.accesskit_node().is_focused())
}

fn export_by_keys(window: &mut Window, path: &Path) {
    press(window, Modifiers::COMMAND, Key::E);
    press(window, Modifiers::COMMAND, Key::A);
    write(window, &path.display().to_string());
    press(window, Modifiers::NONE, Key::Enter);
}

#[test]
fn by_mouse_alone_from_the_start_page_to_an_exported_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        recent: vec![vec![root().join(FIXTURE)]],
        ..Settings::default()
    };
    let mut window = started(&[], settings);
    window
        .get_by_label_contains("Open files or a folder")
        .click();
    window.run_steps(4);
    shot::settle(&mut window);
    click(&mut window, "input");
    click(&mut window, "Open 1 item");
    assert!(window.state().incident().is_some());

    click(&mut window, "Timeline & notes");
    click(&mut window, "Add event");
    write(&mut window, "rolled back");
    click(&mut window, "Add");
    assert_eq!(titles(&window), ["rolled back"]);

    // An entry of the report gets another title.
    window
        .get_by_label_contains("push campaign sent to 4 million users")
        .click();
    window.run_steps(4);
    shot::settle(&mut window);
    click(&mut window, "Title of the entry");
    press(&mut window, Modifiers::COMMAND, Key::A);
    write(&mut window, "marketing sent a push");
    click(&mut window, "Save");
    assert_eq!(window.state().notes().edits.len(), 1);

    click(&mut window, "Export…");
    click(&mut window, "Path; Tab completes it");
    press(&mut window, Modifiers::COMMAND, Key::A);
    let path = folder.path().join("timeline.md");
    write(&mut window, &path.display().to_string());
    click(&mut window, "Export");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.contains("| note | rolled back |"), "{written}");
    assert!(written.contains("**marketing sent a push**"), "{written}");

    click(&mut window, "Undo");
    assert!(window.state().notes().edits.is_empty());
    click(&mut window, "Undo");
    assert!(titles(&window).is_empty());
}

#[test]
fn a_file_that_stands_there_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.csv");
    std::fs::write(&path, "mine").unwrap();
    let mut window = opened();
    export_by_keys(&mut window, &path);
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    window.get_by_label("kept.csv is there already");
    click(&mut window, "Change the name");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    press(&mut window, Modifiers::NONE, Key::Enter);
    click(&mut window, "Replace it");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("start,end,kind,severity,title"));

    let nowhere = folder.path().join("no/such/x.md");
    export_by_keys(&mut window, &nowhere);
    assert!(
        window
            .query_all_by_label_contains("cannot read")
            .next()
            .is_some()
    );
    assert!(
        window
            .query_by_label("Export the incident timeline")
            .is_some()
    );
}

#[test]
fn keys_do_nothing_else_while_somebody_writes() {
    let mut window = opened();
    press(&mut window, Modifiers::NONE, Key::E);
    let before = window.state().view().clone();
    for key in [Key::Num1, Key::E, Key::R, Key::Questionmark, Key::Home] {
        press(&mut window, Modifiers::NONE, key);
    }
    assert_eq!(*window.state().view(), before);
    assert!(!window.state().settings().is_relative);
    assert!(window.query_by_label("Keyboard shortcuts").is_none());
    // Escape leaves the field and closes nothing.
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(window.state().view().drawer, Some(Drawer::Notes));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert_eq!(window.state().view().drawer, None);
    press(&mut window, Modifiers::NONE, Key::R);
    assert!(window.state().settings().is_relative);
}

#[test]
fn a_letter_that_opens_a_field_is_not_written_into_it() {
    let mut window = opened();
    window.event(egui::Event::Key {
        key: Key::E,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::NONE,
    });
    window.event(egui::Event::Text("e".to_owned()));
    shot::settle(&mut window);
    write(&mut window, "x");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert_eq!(titles(&window), ["x"]);
}

#[test]
fn the_palette_finds_and_runs_every_command_that_can_be_used() {
    let settings = Settings {
        lang: Lang::Ko,
        ..Settings::default()
    };
    let mut window = started(&[root().join(FIXTURE)], settings);
    for command in commands::ALL {
        // Those two end what the test needs; the first has opened what is walked here.
        if matches!(
            command.id,
            CommandId::Palette | CommandId::Quit | CommandId::Close
        ) {
            continue;
        }
        press(&mut window, Modifiers::COMMAND, Key::K);
        let title = title(&window, command);
        write(&mut window, &title);
        assert!(
            window
                .query_all_by_role(Role::ListBoxOption)
                .filter_map(|n| n.accesskit_node().label())
                .any(|label| label.starts_with(&title)),
            "{title}"
        );
        press(&mut window, Modifiers::NONE, Key::Enter);
        close_all(&mut window);
    }
    assert!(window.state().incident().is_some());
}

fn title(window: &Window, command: &commands::Command) -> String {
    let key = format!("cmd-{}", command.name);
    window.state().words().text(&key).to_owned()
}

fn close_all(window: &mut Window) {
    for _ in 0..2 {
        window.key_press(Key::Escape);
        window.step();
    }
    shot::settle(window);
}

#[test]
fn what_cannot_be_used_now_is_shown_with_the_reason_and_not_run() {
    let mut window = empty();
    press(&mut window, Modifiers::COMMAND, Key::K);
    write(&mut window, "export incident");
    window.get_by_label_contains("Export incident timeline, Command, Ctrl+E, Nothing is open");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(
        window
            .query_by_label("Export the incident timeline")
            .is_none()
    );
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(
        window
            .query_all_by_role(Role::ListBoxOption)
            .next()
            .is_none()
    );
}

#[test]
fn what_was_typed_is_what_runs_however_fast_enter_comes() {
    let mut window = opened();
    window.key_press_modifiers(Modifiers::COMMAND, Key::K);
    window.step();
    window.event(egui::Event::Text("switch theme".to_owned()));
    window.key_press(Key::Enter);
    shot::settle(&mut window);
    assert_eq!(window.state().settings().theme, Theme::Light);
}

#[test]
fn the_palette_finds_findings_tables_series_and_zones() {
    let mut window = opened();
    let run = |window: &mut Window, query: &str| {
        press(window, Modifiers::COMMAND, Key::K);
        write(window, query);
        press(window, Modifiers::NONE, Key::Enter);
    };
    run(&mut window, "Asia/Seoul");
    assert_eq!(window.state().settings().zone, "Asia/Seoul");
    run(&mut window, "log_lines");
    assert_eq!(window.state().view().drawer, Some(Drawer::Table));
    assert_eq!(
        window.state().view().focus.table.as_deref(),
        Some("log_lines")
    );
    run(&mut window, "45 scrapes timed out");
    let picked = window.state().view().selection.id().map(str::to_owned);
    let incident = window.state().incident().unwrap();
    let finding = incident.finding(&picked.unwrap()).unwrap();
    assert!(finding.title.starts_with("45 scrapes"));
    run(&mut window, "한국어");
    assert_eq!(window.state().settings().lang, Lang::Ko);
}

#[test]
fn the_sheet_lists_every_command_and_is_searched() {
    let mut window = opened();
    press(&mut window, Modifiers::NONE, Key::Questionmark);
    for command in commands::ALL {
        let title = title(&window, command);
        assert!(
            window.query_all_by_label_contains(&title).next().is_some(),
            "{title}"
        );
    }
    write(&mut window, "outlier");
    window.get_by_label("Go to next outlier: O");
    assert!(window.query_by_label_contains("Zoom in").is_none());
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(window.query_by_label("Keyboard shortcuts").is_none());
}

#[test]
fn the_start_page_lists_recent_and_sample_incidents() {
    let gone = PathBuf::from("/no/such/place/checkout-p99");
    let settings = Settings {
        recent: vec![vec![root().join(FIXTURE)], vec![gone.clone()]],
        ..Settings::default()
    };
    let mut window = started(&[], settings);
    window.get_by_label_contains("Open the sample ingress-metrics-lock");
    window.get_by_label("Open ingress-metrics-lock again");
    click(&mut window, "Take checkout-p99 off the list");
    assert!(!window.state().settings().recent.contains(&vec![gone]));
    click(&mut window, "한국어");
    window.get_by_label("최근 항목");
    click(&mut window, "밝게");
    assert_eq!(window.state().settings().theme, Theme::Light);
    click(&mut window, "ingress-metrics-lock 다시 열기");
    assert!(window.state().incident().is_some());
}

#[test]
fn what_cannot_be_read_is_said_with_what_to_do() {
    let mut window = started(&[root().join("Cargo.toml")], Settings::default());
    window.get_by_label("Nothing could be read from this");
    window.get_by_label("Cargo.toml");
    click(&mut window, "Try again");
    window.get_by_label("Nothing could be read from this");
    click(&mut window, "Open something else…");
    window.get_by_label("Open an incident");
    press(&mut window, Modifiers::NONE, Key::Escape);
    click(&mut window, "Back");
    window.get_by_label("Recent");
}

#[test]
fn a_name_that_is_not_there_keeps_the_dialog_open() {
    let mut window = empty();
    press(&mut window, Modifiers::COMMAND, Key::O);
    press(&mut window, Modifiers::COMMAND, Key::A);
    write(
        &mut window,
        &root().join("no-such-thing").display().to_string(),
    );
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("There is no no-such-thing in this folder");
    assert!(window.state().incident().is_none());
}

#[test]
fn an_entry_is_left_out_and_taken_in_again_by_keyboard() {
    let mut window = opened();
    press(&mut window, Modifiers::NONE, Key::Num5);
    window.get_by_label("Entries of the timeline").focus();
    shot::settle(&mut window);
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::Delete);
    let hidden = |w: &Window| {
        w.state()
            .notes()
            .edits
            .values()
            .filter(|e| e.is_hidden)
            .count()
    };
    assert_eq!(hidden(&window), 1);
    window.get_by_label("Hidden (1)");
    press(&mut window, Modifiers::NONE, Key::Delete);
    assert_eq!(hidden(&window), 0);
    // The link leads to the place on the timeline.
    press(&mut window, Modifiers::NONE, Key::Space);
    assert!(window.state().view().cursor.is_some());
}

#[test]
fn wrong_times_are_said_and_nothing_is_kept() {
    let mut window = opened();
    press(&mut window, Modifiers::NONE, Key::E);
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.get_by_label("Write what happened");
    write(&mut window, "x");
    click(&mut window, "End, or empty");
    write(&mut window, "never");
    click(&mut window, "Add");
    window.get_by_label_contains("The end is no time");
    assert!(titles(&window).is_empty());
}

#[test]
fn every_command_can_be_asked_for_with_nothing_open() {
    let mut window = empty();
    let ctx = window.ctx.clone();
    for command in commands::ALL.iter().filter(|c| c.id != CommandId::Quit) {
        window.state_mut().ask(&ctx, Request::Command(command.id));
        close_all(&mut window);
    }
    assert!(window.state().incident().is_none());
}
