//! Opening, closing and finding again, through the real window.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use tailscope::app::shot::{self, Shot};
use tailscope::app::{App, Start};
use tailscope::engine::load::Opening;
use tailscope::session::notes::Verdict;
use tailscope::session::settings::Theme;
use tailscope::ui::commands::CommandId;
use tailscope::ui::request::{LaneEdit, NoteEdit, Request, Setting};

fn put(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    tailscope::base::fs::write_atomic(path, bytes).unwrap();
}

/// A Prometheus answer of one series.
fn matrix(name: &str, samples: usize) -> String {
    let mut values = String::new();
    for at in 0..samples {
        let comma = if at > 0 { "," } else { "" };
        write!(
            values,
            "{comma}[{},\"{}\"]",
            1_796_045_930 + at * 5,
            at % 17
        )
        .unwrap();
    }
    format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"{name}"}},"values":[{values}]}}]}}}}"#
    )
}

/// Small inputs, and as many that are larger.
const FILES: usize = 15;

/// Inputs enough to be read for a while.
fn large_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let large = matrix("large", 8_000);
    for at in 0..FILES {
        let name = format!("small_{at}");
        put(
            &folder.path().join(format!("{name}.json")),
            matrix(&name, 50).as_bytes(),
        );
        let large = large.replace("large", &format!("large_{at}"));
        put(
            &folder.path().join(format!("large/{at}.json")),
            large.as_bytes(),
        );
    }
    folder
}

fn start(paths: &[PathBuf], state: Option<&Path>) -> Harness<'static, App> {
    shot::harness(&Shot {
        start: Start {
            opening: Opening {
                paths: paths.to_vec(),
                ..Opening::default()
            },
            state_folder: state.map(Path::to_owned),
            ..Start::default()
        },
        size: [1280.0, 800.0],
        pixels_per_point: 1.0,
        drawer: None,
        select: None,
    })
}

fn ask(harness: &mut Harness<'static, App>, request: Request) {
    let ctx = harness.ctx.clone();
    harness.state_mut().ask(&ctx, request);
}

/// Frames until it is so.
fn until(harness: &mut Harness<'static, App>, what: &str, is_so: impl Fn(&App) -> bool) {
    for _ in 0..20_000 {
        harness.step();
        if is_so(harness.state()) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("never came: {what}");
}

/// The names of all metrics that are there.
fn metrics(app: &App) -> Vec<String> {
    let incident = app.incident().unwrap();
    let names = incident.snapshot().metrics();
    names.map(|name| name.to_string()).collect()
}

#[test]
fn a_folder_of_broken_files_shows_why() {
    let f = tempfile::tempdir().unwrap();
    let whole = matrix("up", 100);
    put(&f.path().join("cut.json"), &whole.as_bytes()[..60]);
    put(
        &f.path().join("not-a-zip.zip"),
        b"PK\x03\x04 and nothing more",
    );
    put(
        &f.path().join("not-a-gzip.gz"),
        b"\x1f\x8b\x08 and nothing more",
    );
    put(&f.path().join("empty.log"), b"");
    let mut harness = start(&[f.path().to_owned()], None);
    shot::settle(&mut harness);
    assert!(harness.state().incident().is_none());
    assert!(harness.state().progress().is_none());
    let why = harness.state().start_failure().unwrap();
    assert_eq!(why.len(), 4, "{why:?}");
    for name in ["cut.json", "not-a-zip.zip", "not-a-gzip.gz", "empty.log"] {
        assert!(
            why.iter().any(|line| line.starts_with(name)),
            "{name}: {why:?}"
        );
    }
}

#[test]
fn a_folder_with_some_broken_files_opens_with_what_is_good() {
    let f = tempfile::tempdir().unwrap();
    put(&f.path().join("good.json"), matrix("up", 100).as_bytes());
    put(
        &f.path().join("broken.json"),
        &matrix("up", 100).as_bytes()[..500],
    );
    let mut harness = start(&[f.path().to_owned()], None);
    shot::settle(&mut harness);
    let incident = harness.state().incident().unwrap();
    assert!(incident.is_complete && incident.document.is_partial);
    assert_eq!(incident.snapshot().series.len(), 1);
}

#[test]
fn a_stop_keeps_what_was_read() {
    let f = large_folder();
    let mut harness = start(&[f.path().to_owned()], None);
    until(&mut harness, "some inputs", |app| {
        app.progress().is_none_or(|p| p.read >= FILES)
    });
    ask(&mut harness, Request::CancelOpen);
    shot::settle(&mut harness);
    let incident = harness.state().incident().unwrap();
    let inputs = &incident.snapshot().inputs;
    assert_eq!(inputs.len(), 2 * FILES);
    let unread = inputs.iter().filter(|i| i.format == "not_read").count();
    let read = incident.snapshot().series.len();
    assert_eq!(read + unread, 2 * FILES);
    assert!(read >= 1, "{read}");
    // On a machine that had read all of it by then, nothing is left to stop.
    assert_eq!(incident.is_complete, unread == 0);
    assert_eq!(incident.document.is_partial, unread > 0);
    assert!(incident.report.is_some());
    if unread > 0 {
        harness.get_by_label("Partial");
    }
    assert!(harness.query_by_label("Reading…").is_none());
}

#[test]
fn the_first_lanes_are_there_before_all_is_read_and_grow() {
    let f = large_folder();
    let mut harness = start(&[f.path().to_owned()], None);
    until(&mut harness, "rows", |app| app.incident().is_some());
    let first = harness.state().incident().unwrap().clone();
    let range = harness.state().view().range;
    shot::settle(&mut harness);
    let last = harness.state().incident().unwrap();
    assert!(last.is_complete && last.report.is_some());
    assert!(first.generation < last.generation);
    assert_eq!(last.snapshot().series.len(), 2 * FILES);
    // Who did not move sees all of it at the end.
    assert!(
        first.is_complete
            || harness.state().view().range.hull(&range) == harness.state().view().range
    );
    assert_eq!(harness.state().view().range, last.document.window);
}

#[test]
fn closing_during_a_load_waits_for_nothing() {
    let f = large_folder();
    let pipe = f.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let paths = [f.path().join("large"), pipe];
    let mut harness = start(&paths, None);
    until(&mut harness, "the begin", |app| {
        app.progress().is_some_and(|p| p.found > 0)
    });
    assert!(!harness.state().is_settled());
    // The reading is held up by a pipe that nobody writes to: who waited for it would wait for ever.
    drop(harness);
}

#[test]
fn what_is_opened_last_is_all_that_comes() {
    let first = large_folder();
    let second = tempfile::tempdir().unwrap();
    put(
        &second.path().join("b.json"),
        matrix("second", 10).as_bytes(),
    );
    let mut harness = start(&[first.path().to_owned()], None);
    harness.step();
    ask(&mut harness, Request::Open(vec![second.path().to_owned()]));
    shot::settle(&mut harness);
    assert_eq!(metrics(harness.state()), ["second"]);
    // Dropping something on the window replaces what is open, too.
    let third = tempfile::tempdir().unwrap();
    put(&third.path().join("c.json"), matrix("third", 10).as_bytes());
    let dropped = Dropped(third.path().join("c.json"));
    harness.input_mut().dropped_files.push(Arc::new(dropped));
    harness.step();
    shot::settle(&mut harness);
    assert_eq!(metrics(harness.state()), ["third"]);
    ask(&mut harness, Request::Command(CommandId::Close));
    shot::settle(&mut harness);
    assert!(harness.state().incident().is_none());
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        Err("nobody should read this in a frame".to_owned())
    }
}

#[test]
fn lanes_notes_and_settings_are_there_after_a_restart() {
    let state = tempfile::tempdir().unwrap();
    let incident = tempfile::tempdir().unwrap();
    for at in 0..4 {
        let file = incident.path().join(format!("{at}.json"));
        put(&file, matrix(&format!("metric_{at}"), 100).as_bytes());
    }
    let paths = [incident.path().to_owned()];
    let mut harness = start(&paths, Some(state.path()));
    shot::settle(&mut harness);
    let cause = "h-0123456789ab".to_owned();
    let mut lanes = harness.state().view().lanes.clone();
    lanes.truncate(2);
    lanes.reverse();
    assert_eq!(lanes.len(), 2);
    ask(&mut harness, Request::Lanes(LaneEdit::All(lanes.clone())));
    ask(
        &mut harness,
        Request::Note(NoteEdit::Judge(cause.clone(), Some(Verdict::Confirmed))),
    );
    ask(&mut harness, Request::Set(Setting::Theme(Theme::Light)));
    // Long enough by the window's own clock for what has changed to be written; then it ends as in a crash.
    for _ in 0..20 {
        harness.step();
    }
    shot::settle(&mut harness);
    drop(harness);

    let mut harness = start(&paths, Some(state.path()));
    assert_eq!(harness.state().settings().theme, Theme::Light);
    until(&mut harness, "the word on it", |app| {
        app.told().any(|text| text.contains("Restored"))
    });
    shot::settle(&mut harness);
    let app = harness.state();
    assert_eq!(app.view().lanes, lanes);
    assert_eq!(app.notes().verdicts.get(&cause), Some(&Verdict::Confirmed));
    assert_eq!(app.settings().recent, [paths.to_vec()]);

    // Another incident has notes of its own; the first one's come back with it.
    let other = tempfile::tempdir().unwrap();
    put(&other.path().join("b.json"), matrix("other", 10).as_bytes());
    ask(&mut harness, Request::Open(vec![other.path().to_owned()]));
    shot::settle(&mut harness);
    assert!(harness.state().notes().is_empty());
    ask(&mut harness, Request::Open(paths.to_vec()));
    shot::settle(&mut harness);
    assert_eq!(harness.state().notes().verdicts.len(), 1);
    assert_eq!(harness.state().view().lanes, lanes);
}

#[test]
fn broken_state_is_told_and_keeps_nothing_from_starting() {
    let state = tempfile::tempdir().unwrap();
    put(&state.path().join("settings.json"), b"{ not JSON");
    let mut harness = start(&[], Some(state.path()));
    harness.step();
    assert!(
        harness
            .state()
            .told()
            .any(|text| text.contains("settings.json.broken-1"))
    );
    assert_eq!(harness.state().settings().theme, Theme::Dark);
}

#[test]
fn reading_again_keeps_view_and_notes() {
    let f = tempfile::tempdir().unwrap();
    put(&f.path().join("a.json"), matrix("one", 100).as_bytes());
    let mut harness = start(&[f.path().to_owned()], None);
    shot::settle(&mut harness);
    ask(
        &mut harness,
        Request::Note(NoteEdit::Summary("it was DNS".to_owned())),
    );
    let lanes = harness.state().view().lanes.clone();
    let before = harness.state().incident().unwrap().generation;
    put(&f.path().join("b.json"), matrix("two", 100).as_bytes());
    ask(&mut harness, Request::Command(CommandId::Reload));
    assert!(
        harness.state().incident().is_some(),
        "what is open stays while it is read again"
    );
    shot::settle(&mut harness);
    let app = harness.state();
    assert_eq!(metrics(app), ["one", "two"]);
    assert!(app.incident().unwrap().generation > before);
    assert_eq!(app.notes().summary, "it was DNS");
    for lane in &lanes {
        assert!(
            app.view().lanes.iter().any(|l| l.spec == lane.spec),
            "{lane:?}"
        );
    }
    // Gone: what was read stays, and the person is told.
    std::fs::remove_file(f.path().join("a.json")).unwrap();
    std::fs::remove_file(f.path().join("b.json")).unwrap();
    ask(&mut harness, Request::Command(CommandId::Reload));
    shot::settle(&mut harness);
    assert_eq!(metrics(harness.state()), ["one", "two"]);
    assert!(harness.state().told().count() > 0);
}

#[test]
fn a_large_folder_opens_and_the_longest_frame_is_known() {
    let f = large_folder();
    let mut harness = start(&[f.path().to_owned()], None);
    shot::settle(&mut harness);
    let longest = harness.state().longest_frame_ms().unwrap();
    eprintln!("the longest frame took {longest:.0} ms");
    assert_eq!(metrics(harness.state()).len(), 2 * FILES);
}
