//! Reading beside the caller: order, looks at what is there, stops.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::*;
use crate::base::fs::write_atomic;
use crate::model::input::Input;
use crate::session::intake::{NOT_READ, read};
use crate::session::workers;

const PATIENCE: Duration = Duration::from_millis(20);

fn matrix(samples: usize) -> String {
    let values: Vec<String> = (0..samples)
        .map(|at| format!("[{},\"1\"]", 1_796_045_930 + at * 5))
        .collect();
    format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"up","samples":"{samples}"}},"values":[{}]}}]}}}}"#,
        values.join(",")
    )
}

/// `0.json` is the largest, `4.json` the smallest.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..5 {
        let path = folder.path().join(format!("{at}.json"));
        write_atomic(&path, matrix((5 - at) * 10).as_bytes()).unwrap();
    }
    folder
}

/// Lets one input after the other be read, and says which.
struct Gate {
    go: Mutex<Receiver<()>>,
    order: Mutex<Vec<String>>,
    found: AtomicUsize,
    bytes: AtomicU64,
    is_cancelled: AtomicBool,
}

impl Gate {
    fn new() -> (Arc<Self>, SyncSender<()>) {
        let (open, go) = sync_channel(100);
        let gate = Self {
            go: Mutex::new(go),
            order: Mutex::default(),
            found: AtomicUsize::new(0),
            bytes: AtomicU64::new(0),
            is_cancelled: AtomicBool::new(false),
        };
        (Arc::new(gate), open)
    }
}

impl Watch for Gate {
    fn found(&self, _: &str, _: u64) {
        self.found.fetch_add(1, Ordering::Relaxed);
    }
    fn started(&self, _: &str, _: u64) {
        // An error is the end of the test: everybody may go.
        self.go.lock().unwrap().recv().ok();
    }
    fn advanced(&self, _: &str, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    fn finished(&self, path: &str, _: Option<&Input>) {
        self.order.lock().unwrap().push(path.to_owned());
    }
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

fn start(folder: &tempfile::TempDir, gate: &Arc<Gate>, pool: &rayon::ThreadPool) -> Reading {
    let paths = vec![folder.path().to_owned()];
    Reading::start(paths, Options::default(), pool, Arc::<Gate>::clone(gate))
}

#[test]
fn it_gives_what_reading_at_once_gives_and_small_ones_come_first() {
    let f = folder();
    let (gate, open) = Gate::new();
    let pool = workers(1).unwrap();
    let mut reading = start(&f, &gate, &pool);
    (0..5).for_each(|_| open.send(()).unwrap());
    while reading.wait(PATIENCE) {}
    let there = reading.finish();
    let paths = [f.path().to_owned()];
    let at_once = read(&paths, &Options::default(), &mut std::io::empty());
    let listed = |i: &Intake| -> Vec<Input> { i.parts.iter().map(|p| p.0.clone()).collect() };
    assert_eq!(listed(&there), listed(&at_once));
    assert!(there.is_useful && !there.is_partial && !there.is_cut);
    let order = gate.order.lock().unwrap().clone();
    assert_eq!(order, ["4.json", "3.json", "2.json", "1.json", "0.json"]);
    assert_eq!(gate.found.load(Ordering::Relaxed), 5);
    let on_disk: u64 = (0..5)
        .map(|at| {
            std::fs::metadata(f.path().join(format!("{at}.json")))
                .unwrap()
                .len()
        })
        .sum();
    assert_eq!(gate.bytes.load(Ordering::Relaxed), on_disk);
}

#[test]
fn a_look_holds_what_came_first_and_never_more_than_its_limit() {
    let f = folder();
    let (gate, open) = Gate::new();
    let pool = workers(1).unwrap();
    let mut reading = start(&f, &gate, &pool);
    assert!(reading.so_far(usize::MAX).is_none());
    (0..2).for_each(|_| open.send(()).unwrap());
    while reading.parts.len() < 2 {
        reading.wait(PATIENCE);
    }
    let look = reading.so_far(usize::MAX).unwrap();
    let seen: Vec<&str> = look.parts.iter().map(|(i, _)| i.path.as_str()).collect();
    assert_eq!(seen, ["3.json", "4.json"]);
    assert!(look.is_useful);
    // Nothing new: no second copy of the same.
    assert!(reading.so_far(usize::MAX).is_none());
    (0..3).for_each(|_| open.send(()).unwrap());
    while reading.wait(PATIENCE) {}
    assert!(reading.so_far(1).is_none());
    let limit: usize = reading
        .parts
        .iter()
        .take(3)
        .map(|p| bytes_of(&p.batch))
        .sum();
    assert_eq!(reading.so_far(limit).unwrap().parts.len(), 3);
    assert_eq!(reading.finish().parts.len(), 5);
}

#[test]
fn a_stop_waits_for_nobody_keeps_what_was_read_and_lists_the_rest() {
    let f = folder();
    let (gate, open) = Gate::new();
    let pool = workers(1).unwrap();
    let mut reading = start(&f, &gate, &pool);
    open.send(()).unwrap();
    while reading.parts.is_empty() {
        reading.wait(PATIENCE);
    }
    // The second one is being read now, and does not come back while the gate is shut.
    gate.is_cancelled.store(true, Ordering::Relaxed);
    assert!(reading.is_cancelled());
    let intake = reading.finish();
    assert!(intake.is_useful && intake.is_partial && intake.is_cut);
    let formats: Vec<(&str, &str)> = intake
        .parts
        .iter()
        .map(|(i, _)| (i.path.as_str(), i.format.as_str()))
        .collect();
    assert_eq!(
        formats,
        [
            ("0.json", NOT_READ),
            ("1.json", NOT_READ),
            ("2.json", NOT_READ),
            ("3.json", NOT_READ),
            ("4.json", "prometheus-api"),
        ]
    );
    drop(open);
}

#[test]
fn a_stop_is_seen_inside_a_file() {
    struct AfterOneBlock(AtomicBool);
    impl Watch for AfterOneBlock {
        fn advanced(&self, _: &str, bytes: u64) {
            assert!(bytes <= 1 << 20);
            assert!(!self.0.swap(true, Ordering::Relaxed), "a second block");
        }
        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }
    let f = tempfile::tempdir().unwrap();
    let large = [matrix(10).as_bytes(), &vec![b' '; 3 << 20]].concat();
    write_atomic(&f.path().join("large.json"), &large).unwrap();
    let pool = workers(1).unwrap();
    let watch = Arc::new(AfterOneBlock(AtomicBool::new(false)));
    let paths = vec![f.path().to_owned()];
    let mut reading = Reading::start(paths, Options::default(), &pool, watch);
    while reading.wait(PATIENCE) {}
    let intake = reading.finish();
    assert!(intake.is_cut && !intake.is_useful);
    assert_eq!(intake.parts[0].0.format, NOT_READ);
}

#[test]
fn a_stop_is_seen_between_members_and_none_is_left_out_silently() {
    struct AfterFirst(AtomicUsize);
    impl Watch for AfterFirst {
        fn found(&self, _: &str, _: u64) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
        fn is_cancelled(&self) -> bool {
            self.0.load(Ordering::Relaxed) > 0
        }
    }
    let f = tempfile::tempdir().unwrap();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for name in ["a.json", "b.json", "c.json"] {
        zip.start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        std::io::Write::write_all(&mut zip, matrix(3).as_bytes()).unwrap();
    }
    write_atomic(&f.path().join("x.zip"), &zip.finish().unwrap().into_inner()).unwrap();
    let pool = workers(1).unwrap();
    let watch = Arc::new(AfterFirst(AtomicUsize::new(0)));
    let paths = vec![f.path().to_owned()];
    let mut reading = Reading::start(paths, Options::default(), &pool, watch);
    // Who has stopped does not wait for the rest to be taken up.
    while reading.wait(PATIENCE) && !reading.shared.lock().is_gathered {}
    let intake = reading.finish();
    assert!(intake.is_cut);
    let not_read: Vec<&str> = intake
        .parts
        .iter()
        .filter(|(i, _)| i.format == NOT_READ)
        .map(|(i, _)| i.path.as_str())
        .collect();
    assert_eq!(not_read, ["x.zip!a.json", "x.zip!b.json"]);
}
