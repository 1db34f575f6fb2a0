//! Profiles of real programs whose truth is known, public ones, and broken ones.

#![expect(
    clippy::float_cmp,
    reason = "counts are whole numbers, and sums of them exact"
)]

use proptest::prelude::*;

use super::reader::Raw;
use super::*;
use crate::base::time::Zone;
use crate::formats::go_dump::tests::{profile, read_named, recording, sum, through};
use crate::formats::go_dump::wait;

#[test]
fn totals_are_those_of_the_readmes() {
    for (path, kind, unit, total) in [
        (
            "go-mutex-contention/t1-blocked.goroutine.pb.gz",
            "goroutine",
            "count",
            4004.0,
        ),
        (
            "go-mutex-contention/t2-after.threadcreate.pb.gz",
            "threadcreate",
            "count",
            7.0,
        ),
        ("go-wait-zoo/goroutine.pb.gz", "goroutine", "count", 234.0),
        (
            "go-chan-leak/t2.goroutine.pb.gz",
            "goroutine",
            "count",
            2523.0,
        ),
        (
            "go-chan-leak/delta-1s-nochange.goroutine.pb.gz",
            "goroutine-delta",
            "count",
            0.0,
        ),
        (
            "go-chan-leak/delta-3s-plus300.goroutine.pb.gz",
            "goroutine-delta",
            "count",
            300.0,
        ),
        ("go-idle/goroutine.pb.gz", "goroutine", "count", 7.0),
        ("go-idle/block.pb.gz", "block", "nanoseconds", 0.0),
        ("go-idle/mutex.pb.gz", "mutex", "nanoseconds", 0.0),
        ("go-idle/cpu-2s.pb.gz", "cpu", "nanoseconds", 0.0),
        ("go-cpu-labels/cpu-10s.pb.gz", "cpu", "nanoseconds", 1.61e9),
    ] {
        let Some((name, bytes)) = recording(&format!("profiles/{path}")) else {
            return;
        };
        let (read, warnings) = read_named(&name, &bytes);
        assert_eq!(
            (read.kind.as_ref(), read.unit.as_ref(), read.total),
            (kind, unit, total),
            "{path}"
        );
        assert!(warnings.iter().all(|w| !w.lossy), "{path}: {warnings:?}");
        assert_eq!(read.t_source, "recorded", "{path}");
        if total == 0.0 && !kind.starts_with("goroutine") {
            assert_eq!(warnings[0].code, "empty_profile", "{path}");
        }
    }
}

#[test]
fn deltas_are_nothing_without_the_profiler() {
    for (file, rest) in [("delta-1s-nochange", 0.0), ("delta-3s-plus300", 300.0)] {
        let Some(delta) = profile(&format!("profiles/go-chan-leak/{file}.goroutine.pb.gz")) else {
            return;
        };
        assert_eq!(sum(&delta, |g| !wait::is_profiler(&g.frames)), rest);
        assert!(delta.groups.iter().any(|g| g.value == -1.0));
    }
    let block = profile("profiles/go-lock-delay/rate1.delta-1s-nochange.block.pb.gz").unwrap();
    assert!((block.total / 1e9 - 1.0).abs() < 0.01);
    assert_eq!(sum(&block, |g| !wait::is_profiler(&g.frames)), 0.0);
}

#[test]
fn contention_of_the_founding_programs() {
    for (file, kind, secs, contentions) in [
        ("t2-after.block", "block", 281_629.3, 4018),
        ("t2-after.mutex", "mutex", 70.418, 4002),
    ] {
        let Some((name, bytes)) = recording(&format!("profiles/go-mutex-contention/{file}.pb.gz"))
        else {
            return;
        };
        let (read, _) = read_named(&name, &bytes);
        assert_eq!(read.kind.as_ref(), kind);
        assert!(
            (read.total / 1e9 - secs).abs() < secs * 1e-5,
            "{}",
            read.total
        );
        let raw = Raw::parse(&bytes).unwrap();
        assert_eq!((raw.total(0), raw.default_type()), (contentions, 1));
        // Without a name the leaf tells the two kinds.
        assert_eq!(read_named("profile", &bytes).0.kind.as_ref(), kind);
    }
    let text = profile("profiles/go-lock-delay/rate1.block.debug1.txt").unwrap();
    let proto = profile("profiles/go-lock-delay/rate1.block.pb.gz").unwrap();
    let (text, proto) = (
        through(&text, "main.waitOne"),
        through(&proto, "main.waitOne"),
    );
    assert!((text - proto).abs() < 1_000.0, "{text} {proto}");
}

#[test]
fn heap_is_scaled_and_allocs_show_allocations() {
    let Some((name, bytes)) = recording("profiles/go-heap/rate1.after.heap.pb.gz") else {
        return;
    };
    let (heap, _) = read_named(&name, &bytes);
    assert_eq!((heap.kind.as_ref(), heap.unit.as_ref()), ("heap", "bytes"));
    assert!(through(&heap, "main.cacheFill") >= 67_108_864.0);
    let largest = &heap.groups[0];
    assert_eq!(
        (largest.value, largest.frames[0].function.as_ref()),
        (67_108_864.0, "main.cacheFill")
    );
    let allocs = profile("profiles/go-heap/rate1.after.allocs.pb.gz").unwrap();
    assert_eq!(
        (allocs.kind.as_ref(), through(&allocs, "main.scratch")),
        ("allocs", 65_536_000.0)
    );
    let sampled = profile("profiles/go-heap/rate524288.after.heap.pb.gz").unwrap();
    assert_eq!(through(&sampled, "main.cacheFill"), 66_698_315.0);
}

#[test]
fn labels_and_inlined_frames_of_a_cpu_profile() {
    let Some((name, bytes)) = recording("profiles/go-cpu-labels/cpu-10s.pb.gz") else {
        return;
    };
    let (cpu, warnings) = read_named(&name, &bytes);
    let with = |path: &str| {
        sum(&cpu, |g| {
            g.labels.contains(&format!("\"endpoint\":\"{path}\""))
        }) / cpu.total
    };
    assert!((with("/checkout") - 0.752).abs() < 0.001 && (with("/search") - 0.248).abs() < 0.001);
    assert_eq!(Raw::parse(&bytes).unwrap().total(0), 161);
    let inlined = cpu
        .groups
        .iter()
        .find(|g| g.frames[0].function.as_ref() == "main.mix")
        .unwrap();
    assert_eq!(inlined.frames[1].function.as_ref(), "main.burnSort");
    assert!(
        warnings
            .iter()
            .any(|w| w.code == "low_coverage" && w.text.contains("15.9 %")),
        "{warnings:?}"
    );
}

#[test]
fn public_profiles_are_read_or_refused_by_name() {
    let folder = "public/profiles";
    for file in [
        "fgprof.pb.gz",
        "parca.alloc_space_delta.pb.gz",
        "parca.profile-with-labels.pb.gz",
        "speedscope.simple.prof",
        "pyroscope.kafka.mutex_delay.pb.gz",
        "pyroscope.kafka.block_contentions.pb.gz",
    ] {
        let Some((name, bytes)) = recording(&format!("{folder}/{file}")) else {
            return;
        };
        let (read, warnings) = read_named(&name, &bytes);
        assert!(
            !read.groups.is_empty() && warnings.iter().all(|w| !w.lossy),
            "{file}: {warnings:?}"
        );
        let is_pyroscope = file.starts_with("pyroscope");
        assert_eq!(
            warnings.iter().any(|w| w.code == "absurd_duration"),
            is_pyroscope,
            "{file}"
        );
    }
    let bare = profile(&format!("{folder}/parca.unsymbolized-cpu.pprof")).unwrap();
    assert!(
        bare.groups
            .iter()
            .flat_map(|g| &g.frames)
            .all(|f| f.function.contains("+0x"))
    );
    let (_, legacy) = recording(&format!("{folder}/go.crc32.cpu")).unwrap();
    assert!(matches!(
        Pprof.sniff(&Head::new(&legacy)),
        Sniff::No { near: 80, .. }
    ));
    let (_, trace) = recording("profiles/go-idle/trace-1s.out").unwrap();
    assert!(matches!(
        Pprof.sniff(&Head::new(&trace)),
        Sniff::No { near: 80, .. }
    ));
}

/// A small profile: two inlined lines in one location with an id out of order, a label, a text number.
fn small() -> Vec<u8> {
    fn field(number: u8, body: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2, u8::try_from(body.len()).unwrap()];
        out.extend_from_slice(body);
        out
    }
    let mut out = field(1, &[0x08, 1, 0x10, 2]);
    out.extend(field(2, &[0x08, 77, 0x10, 5, 0x1a, 4, 0x08, 3, 0x10, 4]));
    out.extend(field(
        4,
        &[
            0x08, 77, 0x22, 4, 0x08, 9, 0x10, 12, 0x22, 4, 0x08, 8, 0x10, 13,
        ],
    ));
    out.extend(field(5, &[0x08, 9, 0x10, 5]));
    out.extend(field(5, &[0x08, 8, 0x10, 6]));
    for name in [
        "",
        "goroutine",
        "count",
        "route",
        "/order",
        "main.leaf",
        "main.caller",
    ] {
        out.extend(field(6, name.as_bytes()));
    }
    out
}

#[test]
fn the_parts_of_a_profile() {
    let bytes = small();
    let (read, warnings) = read_named("x", &bytes);
    assert!(warnings.is_empty(), "{warnings:?}");
    let group = &read.groups[0];
    assert_eq!(
        (group.value, group.folded().as_str()),
        (5.0, "main.leaf;main.caller")
    );
    assert_eq!(
        (group.frames[0].line, group.labels.as_ref()),
        (12, r#"{"route":"/order"}"#)
    );
    assert_eq!((read.t, read.kind.as_ref()), (None, "goroutine"));
}

#[test]
fn an_index_that_points_nowhere_is_no_profile_and_loses_its_sample() {
    let mut bytes = small();
    let at = bytes.windows(2).position(|w| w == [0x08, 77]).unwrap() + 1;
    bytes[at] = 78;
    assert!(matches!(
        Pprof.sniff(&Head::new(&bytes)),
        Sniff::No { near: 50, .. }
    ));
    let zone = Zone::utc();
    let hints = Hints {
        name: "x",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    Pprof.read(&bytes, &hints, &mut batch, &mut log).unwrap();
    assert_eq!(batch.profiles[0].groups.len(), 0);
    assert!(log.is_lossy());
    let cut = &small()[..30];
    assert_eq!(
        Pprof
            .read(cut, &hints, &mut batch, &mut log)
            .unwrap_err()
            .code,
        "bad_pprof"
    );
}

proptest! {
    #[test]
    fn mutated_profiles_never_panic(changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..8), cut in any::<usize>()) {
        let mut bytes = small();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut % (bytes.len() + 1));
        let zone = Zone::utc();
        let hints = Hints { name: "x", request: None, zone: &zone, log_formats: &[] };
        let _sniffed = Pprof.sniff(&Head::new(&bytes));
        let _read = Pprof.read(&bytes, &hints, &mut Batch::default(), &mut Reporter::new());
    }
}
