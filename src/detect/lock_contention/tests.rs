//! One contended place, a clear dump, no dump; then the recordings whose truth is known.

#![expect(
    clippy::float_cmp,
    reason = "counts are whole numbers, and sums of them exact"
)]

use super::*;
use crate::base::reporter::Reporter;
use crate::base::testing::shared_data;
use crate::base::time::Zone;
use crate::formats::go_dump::tests::recording;
use crate::formats::{Head, Hints, Recognised, recognise};
use crate::model::batch::Batch;
use crate::model::input::{Counts, Input};
use crate::store::{Snapshot, build};

/// Inputs by path as they would come from disk, through recognition, the readers and the store.
pub(in crate::detect) fn snapshot(inputs: &[(String, Vec<u8>)]) -> Snapshot {
    let zone = Zone::utc();
    let parts = inputs
        .iter()
        .filter_map(|(path, bytes)| {
            let name = path
                .rsplit_once('/')
                .map_or(path.as_str(), |(_, name)| name);
            let hints = Hints {
                name,
                request: None,
                zone: &zone,
                log_formats: &[],
            };
            let Recognised::As(format) = recognise(&Head::new(bytes), &hints) else {
                return None;
            };
            let mut batch = Batch::default();
            format
                .read(bytes, &hints, &mut batch, &mut Reporter::new())
                .unwrap();
            let input = Input {
                id: format!("i-{path}"),
                path: path.clone(),
                format: format.id().to_owned(),
                sha256: String::new(),
                counts: Counts::default(),
                start: None,
                end: None,
                warnings: Vec::new(),
            };
            Some((input, batch))
        })
        .collect();
    build::build(parts)
}

/// What a detector says of such inputs.
pub(in crate::detect) fn check<B: AsRef<[u8]>>(
    detector: &dyn Detector,
    inputs: &[(String, B)],
) -> Verdict {
    let inputs: Vec<(String, Vec<u8>)> = inputs
        .iter()
        .map(|(path, bytes)| (path.clone(), bytes.as_ref().to_vec()))
        .collect();
    let snapshot = snapshot(&inputs);
    let window = build::window(&snapshot, None, None);
    detector.check(&Context {
        snapshot: &snapshot,
        window,
    })
}

/// The recordings of a folder whose names hold one of `parts`; `None` where there are none.
pub(in crate::detect) fn shared(folder: &str, parts: &[&str]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut names: Vec<String> = shared_data(folder)?
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| parts.iter().any(|part| name.contains(part)))
        .collect();
    names.sort();
    names
        .iter()
        .map(|name| {
            recording(&format!("{folder}/{name}"))
                .map(|(plain, bytes)| (format!("profiles/{plain}"), bytes))
        })
        .collect()
}

pub(in crate::detect) fn text_dump(path: &str, text: &str) -> (String, String) {
    (path.to_owned(), text.to_owned())
}

fn found(inputs: &[(String, Vec<u8>)]) -> Vec<Finding> {
    match check(&LockContention, inputs) {
        Verdict::Findings(found) => found,
        Verdict::Clear => Vec::new(),
        Verdict::NotEnough(why) => panic!("{why}"),
    }
}

fn waiters(count: u32, others: u32, minutes: &str) -> String {
    let waiting = (0..count).map(|n| {
        format!(
            "goroutine {} [semacquire{minutes}]:\n\
             sync.runtime_SemacquireMutex(0x1?, 0x0?, 0x1?)\n\t/sema.go:77\n\
             sync.(*Mutex).lockSlow(0xc000187710)\n\t/mutex.go:171\n\
             example.com/lib/store.(*DB).Put(0xc000187700)\n\t/db.go:3\n\
             main.handle(0x0?)\n\t/main.go:8\n\n",
            n + 100
        )
    });
    let idle = (0..others).map(|n| {
        format!(
            "goroutine {} [chan receive]:\nmain.idle()\n\t/main.go:20\n\n",
            n + 9000
        )
    });
    waiting.chain(idle).collect()
}

#[test]
fn many_waiters_at_one_place() {
    let holder = "goroutine 7 [runnable]:\nexample.com/lib/store.(*DB).compact(0xc000187700)\n\t/db.go:40\n\n";
    let inputs = [text_dump(
        "gw.20261130T100000Z.txt",
        &(waiters(30, 50, "") + holder),
    )];
    let Verdict::Findings(found) = check(&LockContention, &inputs) else {
        panic!()
    };
    assert_eq!(found.len(), 1);
    let finding = &found[0];
    assert_eq!(
        finding.title,
        "30 of 81 goroutines wait for one lock in store.(*DB).Put, called from main.handle"
    );
    for (name, value) in [
        ("waiting", 30.0),
        ("total", 81.0),
        ("share", 0.3704),
        ("locks", 1.0),
        ("handoff", 0.0),
        ("likely_holder", 7.0),
    ] {
        assert_eq!(finding.number(name), Some(value), "{name}");
    }
    assert_eq!(
        finding.text("site"),
        Some("example.com/lib/store.(*DB).Put")
    );
    assert_eq!(
        (finding.severity, finding.entities.as_slice()),
        (Severity::Major, &["instance:gw".to_owned()][..])
    );
    assert!(
        finding
            .detail
            .contains("Likely holder: goroutine 7 (runnable) in store.(*DB).compact"),
        "{}",
        finding.detail
    );
    assert_eq!(finding.evidence[0].locator, "line 1");
    assert_eq!(finding.start.to_rfc3339(), "2026-11-30T10:00:00Z");
}

#[test]
fn few_short_waits_are_clear_and_one_long_wait_is_told() {
    assert_eq!(
        check(&LockContention, &[text_dump("a.txt", &waiters(19, 0, ""))]),
        Verdict::Clear
    );
    assert_eq!(
        check(
            &LockContention,
            &[text_dump("a.txt", &waiters(20, 181, ""))]
        ),
        Verdict::Clear
    );
    let Verdict::Findings(found) = check(
        &LockContention,
        &[text_dump("a.txt", &waiters(1, 99, ", 34 minutes"))],
    ) else {
        panic!()
    };
    assert_eq!(
        (found[0].number("longest_wait_s"), found[0].severity),
        (Some(2040.0), Severity::Minor)
    );
    assert!(
        found[0].detail.contains("Nothing says when"),
        "{}",
        found[0].detail
    );
}

#[test]
fn without_a_dump_it_is_not_enough_and_an_empty_profile_is_no_all_clear() {
    let none: [(String, String); 0] = [];
    assert_eq!(
        check(&LockContention, &none),
        Verdict::NotEnough("no goroutine dump was given".to_owned())
    );
    let empty = [text_dump(
        "mutex.txt",
        "--- mutex:\ncycles/second=2299999986\nsampling period=0\n",
    )];
    let Verdict::NotEnough(why) = check(&LockContention, &empty) else {
        panic!()
    };
    assert!(why.contains("probably not enabled"), "{why}");
}

#[test]
fn a_chain_of_holders_is_followed_and_a_ring_is_a_deadlock() {
    let waiter = |id: u32, lock: &str, owner: &str| {
        format!(
            "goroutine {id} [semacquire, 2 minutes]:\nsync.runtime_SemacquireMutex(0x0?)\n\t/s.go:1\nsync.(*Mutex).lockSlow({lock})\n\t/m.go:1\nmain.(*A).wait({lock})\n\t/a.go:1\nmain.(*B).outer({owner})\n\t/a.go:2\n\n"
        )
    };
    let ring =
        waiter(1, "0xc000001000", "0xc000009000") + &waiter(2, "0xc000009000", "0xc000001000");
    let Verdict::Findings(found) = check(&LockContention, &[text_dump("a.txt", &ring)]) else {
        panic!()
    };
    assert!(
        found[0].detail.contains("a deadlock is possible"),
        "{}",
        found[0].detail
    );
    let chain = waiter(1, "0xc000001000", "0xc000005000")
        + &waiter(2, "0xc000009000", "0xc000001000")
        + "goroutine 3 [IO wait]:\nmain.(*C).read(0xc000009000)\n\t/c.go:1\n";
    let Verdict::Findings(found) = check(&LockContention, &[text_dump("a.txt", &chain)]) else {
        panic!()
    };
    assert!(
        found[0]
            .detail
            .contains("goroutine 3 (IO wait) in main.(*C).read"),
        "{}",
        found[0].detail
    );
    assert!(
        found[0].detail.contains("a chain of 2 locks"),
        "{}",
        found[0].detail
    );
}

#[test]
fn the_founding_incident_is_exact() {
    let Some(inputs) = shared(
        "incidents/ingress-metrics-lock/input/profiles",
        &["goroutine"],
    ) else {
        return;
    };
    let found = found(&inputs);
    let of = |name: &str| -> Vec<&Finding> {
        found
            .iter()
            .filter(|f| f.evidence[0].input.contains(name))
            .collect()
    };
    assert!(of("before.").is_empty());
    for (name, waiting, total, handoff, locks) in [
        (
            "during-1.20261130T143136Z.goroutine.debug1",
            1257.0,
            1970.0,
            0.0,
            None,
        ),
        (
            "during-2.20261130T143332Z.goroutine.debug1",
            3831.0,
            4352.0,
            123.0,
            None,
        ),
        (
            "during-1.20261130T143136Z.goroutine.debug2",
            1817.0,
            2027.0,
            0.0,
            Some(7.0),
        ),
        (
            "during-2.20261130T143330Z.goroutine.debug2",
            3238.0,
            4201.0,
            945.0,
            Some(7.0),
        ),
    ] {
        let [finding] = of(name)[..] else {
            panic!("{name}: {:?}", of(name))
        };
        assert_eq!(
            (finding.number("waiting"), finding.number("total")),
            (Some(waiting), Some(total)),
            "{name}"
        );
        assert_eq!(finding.number("locks"), locks, "{name}");
        assert_eq!(finding.number("handoff"), Some(handoff), "{name}");
        assert_eq!(
            finding.text("site"),
            Some("github.com/prometheus/client_golang/prometheus.(*summary).Observe")
        );
        assert_eq!(
            finding.text("user_site"),
            Some("ingresslab/internal/ingress/metric/collectors.(*SocketCollector).handleMessage")
        );
        assert_eq!(finding.severity, Severity::Critical);
    }
    // The one that flushes holds the first lock of its object and waits for the second.
    let [finding] = of("143330Z.goroutine.debug2")[..] else {
        panic!()
    };
    assert_eq!(finding.number("likely_holder"), Some(110_462.0));
    assert!(
        finding.detail.contains("asyncFlush") && !finding.detail.contains("deadlock"),
        "{}",
        finding.detail
    );
    assert_eq!(
        finding.onset.to_rfc3339().get(..19),
        Some("2026-11-30T14:30:23")
    );
    // One finding for each of the six dumps under load, and no second place.
    assert_eq!(found.len(), 6);
}

#[test]
fn holders_of_the_recordings() {
    let Some(inputs) = shared("profiles/summary-observe", &["t1-load.goroutine.debug2"]) else {
        return;
    };
    let finding = &found(&inputs)[0];
    assert_eq!(
        (finding.number("waiting"), finding.number("likely_holder")),
        (Some(1189.0), Some(3138.0))
    );
    assert!(
        finding.detail.contains("summary).flushColdBuf"),
        "{}",
        finding.detail
    );
    let inputs = shared(
        "profiles/go-mutex-contention",
        &["t1-blocked.goroutine.debug2"],
    )
    .unwrap();
    let found = found(&inputs);
    assert_eq!(
        found
            .iter()
            .map(|f| f.number("waiting").unwrap())
            .collect::<Vec<_>>(),
        [3000.0, 1000.0]
    );
    for finding in &found {
        assert!(
            finding.detail.contains("main.(*Ledger).holdWhileSlow"),
            "{}",
            finding.detail
        );
        assert_eq!(finding.number("locks"), Some(1.0));
    }
}

#[test]
fn healthy_and_idle_programs_are_clear() {
    for (folder, parts) in [
        ("profiles/go-idle", &["goroutine"][..]),
        (
            "profiles/go-chan-leak",
            &["t0.goroutine", "t1.goroutine", "t2.goroutine"],
        ),
        (
            "profiles/go-mutex-contention",
            &["t0-before.goroutine", "t2-after.goroutine"],
        ),
        ("profiles/summary-observe", &["t0-before.goroutine"]),
    ] {
        let Some(inputs) = shared(folder, parts) else {
            return;
        };
        assert_eq!(found(&inputs), [], "{folder}");
    }
}

#[test]
fn the_zoo_holds_forty_lock_waits() {
    let Some(inputs) = shared("profiles/go-wait-zoo", &["goroutine.debug2.txt"]) else {
        return;
    };
    let of_zoo: Vec<(String, Vec<u8>)> = inputs
        .into_iter()
        .filter(|(p, _)| !p.contains("at-3s"))
        .collect();
    let waiting: f64 = found(&of_zoo)
        .iter()
        .filter_map(|f| f.number("waiting"))
        .sum();
    assert_eq!(waiting, 40.0);
}
