//! Opening beside the window, from the first message to the last.

use std::path::Path;
use std::sync::atomic::AtomicUsize;

use super::*;
use crate::base::fs::write_atomic;

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_atomic(path, text.as_bytes()).unwrap();
}

fn matrix(name: &str) -> String {
    format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"{name}"}},"values":[[1796045930,"1"],[1796045935,"1"],[1796045940,"0"]]}}]}}}}"#
    )
}

fn start(folder: &Path) -> Load {
    let opening = Opening {
        paths: vec![folder.to_owned()],
        ..Opening::default()
    };
    Load::start(opening, Arc::new(|| ())).unwrap()
}

/// What they are, for when a test fails.
fn kinds(messages: &[Message]) -> Vec<&'static str> {
    let kind = |m: &Message| match m {
        Message::Progress(_) => "progress",
        Message::Known(_) => "known",
        Message::Rows(_) => "rows",
        Message::Done(_) => "done",
        Message::Nothing(_) => "nothing",
        Message::Failed(_) => "failed",
        Message::Cancelled => "cancelled",
    };
    messages.iter().map(kind).collect()
}

/// Everything up to the last word.
fn all(load: &Load) -> Vec<Message> {
    load.messages.iter().collect()
}

#[test]
fn rows_come_before_the_report_and_keep_their_document() {
    let f = tempfile::tempdir().unwrap();
    put(&f.path().join("a.json"), &matrix("up"));
    put(
        &f.path().join("broken.json"),
        matrix("up").get(..60).unwrap(),
    );
    let messages = all(&start(f.path()));
    let [
        ..,
        Message::Progress(progress),
        Message::Rows(rows),
        Message::Done(done),
    ] = &*messages
    else {
        panic!("{:?}", kinds(&messages));
    };
    assert!(progress.is_analysing);
    assert_eq!((progress.found, progress.read), (2, 2));
    assert!(progress.current.is_empty() && progress.latest.len() == 2);
    assert_eq!(progress.bytes, progress.found_bytes);
    assert!(rows.is_complete && rows.report.is_none() && done.report.is_some());
    assert!(Arc::ptr_eq(&rows.document, &done.document));
    assert!(rows.generation < done.generation);
    // Part of the folder was broken: what is good is there, and says so.
    assert!(rows.document.is_partial);
    assert_eq!(rows.snapshot().series.len(), 1);
}

#[test]
fn no_two_incidents_share_a_generation() {
    let f = tempfile::tempdir().unwrap();
    put(&f.path().join("a.json"), &matrix("up"));
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..3 {
        for message in all(&start(f.path())) {
            if let Message::Rows(incident) | Message::Done(incident) = message {
                assert!(seen.insert(incident.generation));
            }
        }
    }
}

#[test]
fn a_folder_without_anything_useful_says_why_line_by_line() {
    let f = tempfile::tempdir().unwrap();
    put(
        &f.path().join("broken.json"),
        matrix("up").get(..60).unwrap(),
    );
    put(&f.path().join("README.md"), "# notes\n");
    let messages = all(&start(f.path()));
    let Some(Message::Nothing(why)) = messages.last() else {
        panic!("{:?}", kinds(&messages));
    };
    assert_eq!(why.len(), 2);
    assert!(why[0].starts_with("broken.json"), "{why:?}");
    assert!(why[1].starts_with("README.md"), "{why:?}");
    let empty = f.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    for nowhere in [empty, f.path().join("missing")] {
        let messages = all(&start(&nowhere));
        let Some(Message::Nothing(why)) = messages.last() else {
            panic!("{:?}", kinds(&messages));
        };
        assert_eq!(why.len(), 1, "{why:?}");
    }
}

#[test]
fn who_stops_at_once_gets_a_last_word_and_no_report_of_nothing() {
    let f = tempfile::tempdir().unwrap();
    for at in 0..200 {
        put(
            &f.path().join(format!("{at}.json")),
            &matrix(&format!("m{at}")),
        );
    }
    let load = start(f.path());
    load.cancel();
    let messages = all(&load);
    match messages.last() {
        Some(Message::Cancelled) => {}
        // Whatever was read by then is shown as what it is: a part.
        Some(Message::Done(incident)) => {
            let read = incident.snapshot().series.len();
            assert_eq!(incident.is_complete, read == 200);
            assert_eq!(incident.document.is_partial, read < 200);
            assert_eq!(incident.snapshot().inputs.len(), 200);
        }
        _ => panic!("{:?}", kinds(&messages)),
    }
}

#[test]
fn a_full_channel_loses_nothing_and_a_dropped_one_ends_the_thread() {
    let f = tempfile::tempdir().unwrap();
    put(&f.path().join("a.json"), &matrix("up"));
    let (send, messages) = sync_channel(1);
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let loader = || Loader {
        opening: Opening {
            paths: vec![f.path().to_owned()],
            ..Opening::default()
        },
        wishes: Wishes::default(),
        send: send.clone(),
        wake: Arc::new({
            let count = Arc::clone(&count);
            move || {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }),
    };
    let run = loader();
    let thread = std::thread::Builder::new()
        .spawn(move || run.run())
        .unwrap();
    let mut kinds = Vec::new();
    while !matches!(kinds.last(), Some(&"done")) {
        match messages.recv().unwrap() {
            Message::Rows(_) => kinds.push("rows"),
            Message::Done(_) => kinds.push("done"),
            _ => {}
        }
    }
    thread.join().unwrap();
    assert_eq!(kinds, ["rows", "done"]);
    assert!(woken.load(Ordering::Relaxed) >= 2);
    drop(messages);
    // Nobody listens: it comes back all the same.
    loader().run();
}
