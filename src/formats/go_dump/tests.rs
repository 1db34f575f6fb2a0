//! Dumps of real programs whose truth is known, damaged ones from public threads, and generated ones.

#![expect(
    clippy::float_cmp,
    reason = "counts are whole numbers, and sums of them exact"
)]

use std::fmt::Write as _;
use std::io::Read as _;

use proptest::prelude::*;

use super::debug1::GoProfileText;
use super::debug2::GoStackDump;
use super::wait;
use crate::base::reporter::{Reporter, Warning};
use crate::base::testing::shared_data;
use crate::base::time::Zone;
use crate::formats::pprof::Pprof;
use crate::formats::{Format, Head, Hints, Recognised, Sniff, recognise};
use crate::model::batch::Batch;
use crate::model::profile::{Profile, StackGroup, WaitClass};

/// A shared recording, gzip removed, and its name without `.gz`; `None` where there are none.
pub(crate) fn recording(path: &str) -> Option<(String, Vec<u8>)> {
    let file = shared_data(path)?;
    let bytes = crate::base::fs::read(&file).unwrap();
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    if !bytes.starts_with(b"\x1f\x8b") {
        return Some((name, bytes));
    }
    let mut plain = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice())
        .read_to_end(&mut plain)
        .unwrap();
    Some((name.trim_end_matches(".gz").to_owned(), plain))
}

/// Reads bytes as the format that recognises them.
pub(crate) fn read_named(name: &str, bytes: &[u8]) -> (Profile, Vec<Warning>) {
    let zone = Zone::utc();
    let hints = Hints {
        name,
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let format = match recognise(&Head::new(bytes), &hints) {
        Recognised::As(format) => format,
        Recognised::Nothing { guess } => panic!("{name}: {guess}"),
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    format.read(bytes, &hints, &mut batch, &mut log).unwrap();
    assert_eq!(batch.profiles.len(), 1, "{name}");
    (batch.profiles.remove(0), log.into_warnings())
}

/// A profile of the shared recordings.
pub(crate) fn profile(path: &str) -> Option<Profile> {
    recording(path).map(|(name, bytes)| read_named(&name, &bytes).0)
}

pub(crate) fn sum(profile: &Profile, take: impl Fn(&StackGroup) -> bool) -> f64 {
    profile
        .groups
        .iter()
        .filter(|g| take(g))
        .map(|g| g.value)
        .sum()
}

pub(crate) fn of_class(profile: &Profile, class: WaitClass) -> f64 {
    sum(profile, |g| g.class == class)
}

pub(crate) fn through(profile: &Profile, function: &str) -> f64 {
    sum(profile, |g| {
        g.frames.iter().any(|f| f.function.as_ref() == function)
    })
}

fn text(bytes: &str) -> (Profile, Vec<Warning>) {
    read_named("dump.txt", bytes.as_bytes())
}

#[test]
fn mutex_contention_is_exact_in_every_encoding() {
    let path = "profiles/go-mutex-contention/t1-blocked.goroutine";
    for ending in ["debug1.txt", "debug2.txt.gz", "pb.gz"] {
        let Some(dump) = profile(&format!("{path}.{ending}")) else {
            return;
        };
        assert_eq!(dump.total, 4004.0, "{ending}");
        assert_eq!(of_class(&dump, WaitClass::Lock), 4000.0, "{ending}");
        let locks: Vec<&StackGroup> = dump
            .groups
            .iter()
            .filter(|g| g.class == WaitClass::Lock)
            .collect();
        assert_eq!(locks.len(), 2, "{ending}");
        for (group, count, user) in [
            (locks[0], 3000.0, "main.(*Ledger).Add"),
            (locks[1], 1000.0, "main.(*Ledger).Total"),
        ] {
            assert_eq!(group.value, count);
            assert_eq!(
                wait::user_frame(&group.frames, None)
                    .unwrap()
                    .function
                    .as_ref(),
                user
            );
            assert_eq!(group.lock, dump.has_states.then_some(0xc0_0009_8960));
        }
        if dump.has_states {
            assert_eq!(locks[0].wait_s, Some(60.0));
        } else {
            assert_eq!(locks[0].labels.as_ref(), r#"{"route":"/order"}"#);
            assert_eq!(dump.groups.len(), 6, "{ending}");
        }
    }
}

#[test]
fn every_wait_of_the_zoo_is_told() {
    let folder = "profiles/go-wait-zoo";
    let expect = |dump: &Profile, name: &str| {
        for (class, count) in [
            (WaitClass::Lock, 40.0),
            (WaitClass::WaitGroup, 15.0),
            (WaitClass::Condition, 14.0),
            (WaitClass::Sleep, 22.0),
            (WaitClass::Select, 41.0),
            (WaitClass::Channel, 18.0 + 19.0 + 17.0 + 34.0),
            (WaitClass::Io, 7.0),
            (WaitClass::Syscall, 4.0),
        ] {
            assert_eq!(of_class(dump, class), count, "{name} {}", class.word());
        }
        for (function, count) in [
            ("main.lockIt", 11.0),
            ("main.rlockIt", 12.0),
            ("main.wlockIt", 13.0),
        ] {
            assert_eq!(through(dump, function), count, "{name} {function}");
        }
    };
    for file in [
        "goroutine.debug1.txt",
        "goroutine.pb.gz",
        "goroutine.debug2.txt",
        "at-3s.goroutine.debug2.txt",
    ] {
        let Some(dump) = profile(&format!("{folder}/{file}")) else {
            return;
        };
        assert_eq!(dump.total, 234.0, "{file}");
        expect(&dump, file);
        let states = |state: &str| sum(&dump, |g| g.state.as_ref() == state);
        if dump.has_states {
            assert_eq!(states("select (no cases)"), 21.0);
            assert_eq!(states("chan send (nil chan)"), 19.0);
            assert_eq!(states("chan receive (nil chan)"), 17.0);
            assert_eq!(states("chan receive"), 34.0);
        } else {
            assert_eq!(dump.groups.len(), 32, "{file}");
            let labelled = r#"{"route":"/v1/\"q\"","tenant":"acme corp"}"#;
            assert_eq!(sum(&dump, |g| g.labels.as_ref() == labelled), 4.0);
        }
        let has_minutes = dump.groups.iter().any(|g| g.wait_s.is_some());
        assert_eq!(has_minutes, file == "goroutine.debug2.txt", "{file}");
    }
}

#[test]
fn sigquit_output_holds_the_same_locks() {
    let Some((name, bytes)) = recording("profiles/go-wait-zoo/sigquit.stderr.txt") else {
        return;
    };
    let (dump, warnings) = read_named(&name, &bytes);
    assert_eq!(dump.total, 239.0);
    assert_eq!(of_class(&dump, WaitClass::Lock), 40.0);
    assert!(warnings.iter().any(|w| w.code == "frames_elided"));
    assert!(warnings.iter().all(|w| !w.lossy), "{warnings:?}");
}

#[test]
fn the_founding_dump_splits_into_lock_and_hand_off() {
    let folder = "profiles/summary-observe";
    let Some(text) = profile(&format!("{folder}/t2-load.goroutine.debug1.txt")) else {
        return;
    };
    assert_eq!(text.total, 4306.0);
    assert_eq!(
        (
            of_class(&text, WaitClass::Lock),
            of_class(&text, WaitClass::LockHandoff)
        ),
        (3936.0, 363.0)
    );
    assert_eq!(text.groups[0].value, 3935.0);
    let dump = profile(&format!("{folder}/t2-load.goroutine.debug2.txt.gz")).unwrap();
    assert_eq!(dump.total, 4305.0);
    assert_eq!(
        (
            of_class(&dump, WaitClass::Lock),
            of_class(&dump, WaitClass::LockHandoff)
        ),
        (3942.0, 357.0)
    );
    assert_eq!(sum(&dump, |g| g.lock == Some(0xc0_0018_7710)), 3941.0);
    assert_eq!(sum(&dump, |g| g.lock == Some(0xc0_0018_7718)), 1.0);
    let first = &dump.groups[0];
    assert!(
        wait::library_frame(&first.frames)
            .unwrap()
            .function
            .ends_with("prometheus.(*summary).Observe")
    );
    assert_eq!(
        wait::user_frame(&first.frames, None)
            .unwrap()
            .function
            .as_ref(),
        "main.(*SocketCollector).handleMessage"
    );
    let growing = profile(&format!("{folder}/t1-load.goroutine.debug2.txt.gz")).unwrap();
    assert_eq!(
        (growing.total, of_class(&growing, WaitClass::Lock)),
        (1194.0, 1189.0)
    );
    let holder = growing
        .groups
        .iter()
        .find(|g| g.first_id == Some(3138))
        .unwrap();
    assert_eq!(holder.pointers, [0xc0_0018_7700]);
}

#[test]
fn totals_are_those_of_the_readmes() {
    for (path, total) in [
        ("go-chan-leak/t0.goroutine.debug1.txt", 3.0),
        ("go-chan-leak/t1.goroutine.debug2.txt", 1023.0),
        ("go-chan-leak/t2.goroutine.debug1.txt", 2523.0),
        ("go-chan-leak/t2.goroutine.debug2.txt", 2523.0),
        ("go-mutex-contention/t0-before.goroutine.debug2.txt", 3.0),
        ("go-mutex-contention/t2-after.goroutine.debug1.txt", 3.0),
        ("go-mutex-contention/t2-after.threadcreate.debug1.txt", 7.0),
        ("go-idle/goroutine.debug1.txt", 7.0),
        ("go-idle/goroutine.debug2.txt", 7.0),
        ("summary-observe/t0-before.goroutine.debug2.txt", 3.0),
        ("summary-observe/t1-load.goroutine.debug1.txt", 1215.0),
        ("go-heap/rate524288.after.heap.debug1.txt", 57_770_496.0),
    ] {
        let Some((name, bytes)) = recording(&format!("profiles/{path}")) else {
            return;
        };
        let (dump, warnings) = read_named(&name, &bytes);
        assert_eq!(dump.total, total, "{path}");
        assert!(warnings.iter().all(|w| !w.lossy), "{path}: {warnings:?}");
    }
    let threads = profile("profiles/go-mutex-contention/t2-after.threadcreate.debug1.txt").unwrap();
    assert_eq!(
        (threads.groups[0].value, threads.groups[0].frames.len()),
        (6.0, 0)
    );
    let leak = profile("profiles/go-chan-leak/t2.goroutine.debug2.txt").unwrap();
    assert_eq!(
        (leak.groups[0].value, leak.groups[0].created_by.as_ref()),
        (2500.0, "main.fetch")
    );
    let nested = profile("profiles/go-chan-leak/tracebackancestors2.goroutine.debug2.txt").unwrap();
    assert_eq!((nested.total, nested.groups[0].frames.len()), (6.0, 1));
}

#[test]
fn contention_text_counts_cycles_and_says_when_it_is_off() {
    let Some(block) = profile("profiles/go-lock-delay/rate1.block.debug1.txt") else {
        return;
    };
    assert_eq!(
        (block.kind.as_ref(), block.unit.as_ref()),
        ("block", "nanoseconds")
    );
    let waited = through(&block, "main.waitOne") / 1e9;
    assert!((waited - 1.0584).abs() < 1e-4, "{waited}");
    let mutex = profile("profiles/go-lock-delay/rate1.mutex.debug1.txt").unwrap();
    assert!((through(&mutex, "main.holdFor") / 1e9 - 1.058).abs() < 1e-3);
    let (name, bytes) = recording("profiles/go-idle/mutex.debug1.txt").unwrap();
    let (empty, warnings) = read_named(&name, &bytes);
    assert_eq!((empty.total, empty.kind.as_ref()), (0.0, "mutex"));
    assert!(
        warnings[0].text.contains("probably not enabled"),
        "{warnings:?}"
    );
}

#[test]
fn damage_of_real_life_is_read_around() {
    let folder = "public/profiles/issues";
    let Some((name, bytes)) = recording(&format!("{folder}/go-debug2-ci-prefixed.chanx-12.txt"))
    else {
        return;
    };
    let (dump, warnings) = read_named(&name, &bytes);
    assert_eq!(
        (dump.total, of_class(&dump, WaitClass::Channel)),
        (2.0, 2.0)
    );
    assert_eq!(
        dump.groups[0].created_by.as_ref(),
        "github.com/smallnest/chanx.NewUnboundedChanSize[...]"
    );
    assert!(warnings.is_empty(), "{warnings:?}");

    let (name, bytes) = recording(&format!(
        "{folder}/go-debug2-journald-prefixed.rdio-scanner-181.txt"
    ))
    .unwrap();
    let (dump, warnings) = read_named(&name, &bytes);
    assert_eq!((dump.total, of_class(&dump, WaitClass::Lock)), (1.0, 1.0));
    assert_eq!(
        (dump.groups[0].lock, dump.groups[0].wait_s),
        (Some(0x90d_6264), Some(2100.0))
    );
    assert_eq!(warnings[0].code, "partial_stack");
    assert!(
        warnings[0].text.contains("3 lines") && warnings[0].lossy,
        "{warnings:?}"
    );

    let dump = profile(&format!(
        "{folder}/go-debug2-rwmutex-markdown-mangled.syncthing-774.txt"
    ))
    .unwrap();
    assert_eq!(
        (dump.groups[0].class, dump.groups[0].lock),
        (WaitClass::Lock, Some(0x16e4_b300))
    );
    assert_eq!(
        dump.groups[0].frames[1].function.as_ref(),
        "sync.(*RWMutex).RLock"
    );

    let dump = profile(&format!("{folder}/go1.24-debug2-mutex-deadlock.gops.txt")).unwrap();
    let mut locks: Vec<u64> = dump.groups.iter().filter_map(|g| g.lock).collect();
    locks.sort_unstable();
    assert_eq!(locks, [0xc0_0010_40e0, 0xc0_0010_40e8]);
    assert_eq!(
        (
            of_class(&dump, WaitClass::Lock),
            of_class(&dump, WaitClass::WaitGroup)
        ),
        (2.0, 1.0)
    );
    assert_eq!(
        dump.groups
            .iter()
            .find(|g| g.lock.is_some())
            .unwrap()
            .created_by
            .as_ref(),
        "main.main"
    );

    let dump = profile(&format!(
        "{folder}/go-debug2-semacquire-96min.golang-go-10077.txt"
    ))
    .unwrap();
    assert_eq!(of_class(&dump, WaitClass::Lock), 2.0);
    assert!(dump.groups.iter().all(|g| g.lock == Some(0xb5_5e08)));
    assert_eq!(
        dump.groups
            .iter()
            .filter_map(|g| g.wait_s)
            .fold(0.0, f64::max),
        448.0 * 60.0
    );

    let (name, bytes) = recording(&format!("{folder}/go-debug1-ingress-nginx-3180.txt")).unwrap();
    let (dump, warnings) = read_named(&name, &bytes);
    assert_eq!((dump.total, dump.groups.len()), (80.0, 4));
    assert!(warnings.iter().any(|w| w.code == "truncated" && w.lossy));

    let dump = profile(&format!("{folder}/go-debug1-sqlx-pool-exhausted.blog.txt")).unwrap();
    assert_eq!(
        (dump.total, of_class(&dump, WaitClass::Pool)),
        (40_269.0, 30_633.0)
    );
}

#[test]
fn public_fixtures_of_other_parsers_are_read() {
    let folder = "public/profiles";
    for name in [
        "cgo",
        "go121_createdby",
        "lockedm",
        "waitsince",
        "frameselided",
        "ancestors",
    ] {
        let file = format!("gostackparse.{name}.txt");
        let Some((name, bytes)) = recording(&format!("{folder}/{file}")) else {
            return;
        };
        let (dump, warnings) = read_named(&name, &bytes);
        let text = String::from_utf8_lossy(&bytes);
        let headers = text.lines().filter(|l| l.starts_with("goroutine ")).count();
        assert_eq!(dump.total, headers as f64, "{file}");
        assert!(warnings.iter().all(|w| !w.lossy), "{file}: {warnings:?}");
        let has_elided = text.contains("frames elided...");
        assert_eq!(
            warnings.iter().any(|w| w.code == "frames_elided"),
            has_elided,
            "{file}"
        );
    }
    let heap = profile(&format!("{folder}/gobench.heap.txt")).unwrap();
    assert_eq!(
        (heap.kind.as_ref(), heap.groups[0].value),
        ("heap", 524_288.0)
    );
    assert_eq!(heap.groups[0].frames[0].function.as_ref(), "0x420cef");
    for file in ["cppbench.contention.txt", "cppbench.thread.txt"] {
        let (_, bytes) = recording(&format!("{folder}/{file}")).unwrap();
        assert!(
            matches!(GoProfileText.sniff(&Head::new(&bytes)), Sniff::No { near, .. } if near > 0)
        );
        assert_eq!(Pprof.sniff(&Head::new(&bytes)), Sniff::NOT_AT_ALL);
    }
}

const TWO: &str = "goroutine 7 [semacquire, 3 minutes]:
sync.runtime_SemacquireMutex(0x1?, 0x0?, 0x1?)
\t/go/sema.go:77 +0x25
sync.(*Mutex).lockSlow(0xc000187710)
\t/go/mutex.go:171 +0x165
main.(*Store).Put(0xc000187700, {0xc000100000, 0x8})
\t/app/my store.go:12 +0x1
created by main.main in goroutine 1
\t/app/main.go:5 +0x2

goroutine 9 gp=0xc0001 m=nil [select, locked to thread labels:{\"k\": \"a]: b, c\"}]:
main.(*Store).loop(...)
\t/app/store.go:40
";

#[test]
fn the_parts_of_a_dump() {
    let (dump, warnings) = text(TWO);
    assert!(warnings.is_empty(), "{warnings:?}");
    let [first, second] = dump.groups.as_slice() else {
        panic!("{:?}", dump.groups)
    };
    assert_eq!(
        (first.first_id, first.line, first.class),
        (Some(7), 1, WaitClass::Lock)
    );
    assert_eq!(
        (first.lock, first.lock_owner),
        (Some(0xc0_0018_7710), Some(0xc0_0018_7700))
    );
    // What a waiter may hold is in the frames outside the one that waits.
    assert!(first.pointers.is_empty());
    assert_eq!(
        (first.wait_s, first.created_by.as_ref()),
        (Some(180.0), "main.main")
    );
    let frame = &first.frames[2];
    assert_eq!(
        (frame.function.as_ref(), frame.file.as_ref(), frame.line),
        ("main.(*Store).Put", "/app/my store.go", 12)
    );
    assert_eq!(
        (second.state.as_ref(), second.class, second.line),
        ("select", WaitClass::Select, 11)
    );
    assert_eq!(second.labels.as_ref(), r#"{"k":"a]: b, c"}"#);
}

#[test]
fn tabs_as_blanks_lost_blank_lines_and_windows_line_ends_change_nothing() {
    let (want, _) = text(TWO);
    let prefix = |p: &str| {
        TWO.lines()
            .map(|l| format!("{p}{l}\n").replace(" \n", "\n"))
            .collect::<String>()
    };
    for damaged in [
        TWO.replace('\t', "    "),
        TWO.replace("\n\n", "\n"),
        TWO.replace('\n', "\r\n"),
        prefix("2022-12-25T16:09:45.9555131Z "),
        prefix("INFO   | jvm 1    | 2014/10/16 17:41:57 | "),
    ] {
        let (dump, warnings) = text(&damaged);
        let known = |p: &Profile| -> Vec<(f64, String, Option<u64>, String)> {
            p.groups
                .iter()
                .map(|g| (g.value, g.folded(), g.lock, g.created_by.to_string()))
                .collect()
        };
        assert_eq!(known(&dump), known(&want), "{damaged}");
        assert!(warnings.iter().all(|w| !w.lossy), "{damaged}: {warnings:?}");
    }
}

#[test]
fn a_cut_dump_keeps_what_is_there_and_says_so() {
    let cut = TWO.find("(0xc000187700").unwrap() + 4;
    let (dump, warnings) = text(TWO.get(..cut).unwrap());
    assert_eq!(
        (dump.total, dump.groups[0].lock),
        (1.0, Some(0xc0_0018_7710))
    );
    assert!(
        warnings.iter().any(|w| w.code == "truncated" && w.lossy),
        "{warnings:?}"
    );
    let without_place = TWO.find("\t/app/my").unwrap();
    assert!(
        text(TWO.get(..without_place).unwrap())
            .1
            .iter()
            .any(|w| w.code == "truncated")
    );
}

#[test]
fn aggregated_and_goleak_headers_count() {
    let (dump, _) = text(
        "panic: x\n\n12 goroutines [chan receive]:\nmain.f()\n\t/a.go:1\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:2\n",
    );
    assert_eq!((dump.total, dump.groups[0].value), (13.0, 12.0));
    let goleak = "Goroutine 34 in state chan send, with main.f on top of the stack:\nmain.f(0x1)\n\t/a.go:1 +0x1\n goroutine 1 [running]:\nmain.main()\n\t/a.go:2\n";
    let (dump, _) = text(goleak);
    assert_eq!(
        (dump.total, dump.groups[0].class),
        (2.0, WaitClass::Channel)
    );
}

#[test]
fn what_is_no_dump_is_refused() {
    for bytes in [
        &b"a goroutine is a thread\n"[..],
        b"",
        b"{\"goroutine 1 [running]:\": 1}",
        b"total 3\n",
    ] {
        let head = Head::new(bytes);
        assert!(matches!(GoStackDump.sniff(&head), Sniff::No { .. }));
        assert!(matches!(GoProfileText.sniff(&head), Sniff::No { .. }));
    }
    let zone = Zone::utc();
    let hints = Hints {
        name: "x",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let read = |format: &dyn Format| {
        format
            .read(
                b"nothing",
                &hints,
                &mut Batch::default(),
                &mut Reporter::new(),
            )
            .unwrap_err()
            .code
    };
    assert_eq!(read(&GoStackDump), "no_goroutines");
    assert_eq!(read(&GoProfileText), "no_profile_header");
}

/// Reads bytes with all three readers; only panics matter.
fn read_all(bytes: &[u8]) {
    let zone = Zone::utc();
    let hints = Hints {
        name: "x",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let head = Head::new(bytes);
    for format in [&GoStackDump as &dyn Format, &GoProfileText, &Pprof] {
        let _sniffed = format.sniff(&head);
        let (mut batch, mut log) = (Batch::default(), Reporter::new());
        let _read = format.read(bytes, &hints, &mut batch, &mut log);
    }
}

const TEXT1: &str = "goroutine profile: total 3\n2 @ 0x1 0x2 0x3\n# labels: {\"a\":\"b\"}\n#\t0x2\tmain.f+0x1\t/a b/c.go:12\n\n1 @ 0x9\n";

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read_all(&bytes);
    }

    #[test]
    fn mutated_dumps_never_panic(
        is_text1 in any::<bool>(),
        changes in proptest::collection::vec((any::<usize>(), any::<u8>(), 0u8..3), 1..12),
    ) {
        let mut bytes = if is_text1 { TEXT1 } else { TWO }.as_bytes().to_vec();
        for (at, byte, how) in changes {
            let at = at % bytes.len().max(1);
            match how {
                0 if !bytes.is_empty() => bytes[at] = byte,
                1 if !bytes.is_empty() => { bytes.remove(at); }
                _ => bytes.insert(at.min(bytes.len()), byte),
            }
        }
        read_all(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn generated_dumps_give_their_counts_back(
        counts in proptest::collection::vec(1u32..40, 1..12),
        seed in any::<u64>(),
    ) {
        // Goroutines of stack `s` in turn, mixed; stack s has s + 1 frames and waits for the lock of object s.
        let mut left: Vec<u32> = counts.clone();
        let (mut dump, mut id, mut roll) = (String::new(), 0u64, seed);
        while left.iter().any(|n| *n > 0) {
            roll = roll.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let s = (roll >> 33) as usize % left.len();
            if left[s] == 0 { continue; }
            left[s] -= 1;
            id += 1;
            write!(dump, "goroutine {id} [semacquire]:\nsync.runtime_SemacquireMutex(0x{roll:x}?)\n\t/sema.go:77 +0x25\nsync.(*Mutex).lockSlow(0xc0000{s:02x}010)\n\t/mutex.go:171 +0x1\n").unwrap();
            for depth in 0..=s {
                write!(dump, "app/pkg.(*T{depth}).Run(0xc0000{s:02x}000, 0x{:x}?)\n\t/app/t.go:{depth} +0x9\n", roll >> 7).unwrap();
            }
            dump.push('\n');
        }
        let (read, warnings) = text(&dump);
        prop_assert!(warnings.is_empty());
        prop_assert_eq!(read.total, counts.iter().map(|n| f64::from(*n)).sum::<f64>());
        prop_assert_eq!(read.groups.len(), counts.len());
        for (s, count) in counts.iter().enumerate() {
            let lock = u64::from_str_radix(&format!("c0000{s:02x}010"), 16).unwrap();
            let group = read.groups.iter().find(|g| g.lock == Some(lock)).unwrap();
            prop_assert_eq!((group.value, group.frames.len()), (f64::from(*count), s + 3));
        }
    }
}
