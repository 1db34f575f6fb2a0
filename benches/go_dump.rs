//! P6 of `design.md` §6: goroutine dump text. Beside the reader stands a bare `memchr` scan for line ends, which no
//! reader of lines can beat.

use std::fmt::Write as _;
use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use tailscope::base::reporter::Reporter;
use tailscope::base::time::Zone;
use tailscope::formats::go_dump::debug2::GoStackDump;
use tailscope::formats::{Format as _, Hints};
use tailscope::model::batch::Batch;

const GOROUTINES: usize = 10_000;
const STACKS: usize = 30;

/// A dump of 10,000 goroutines on 30 stacks in no order, as a server under load has them: half wait for one of seven
/// mutexes, the rest in channels, selects and reads. Addresses differ from goroutine to goroutine.
fn dump() -> String {
    let mut out = String::new();
    let mut roll = 0x2545_f491_4f6c_dd1du64;
    for id in 0..GOROUTINES {
        roll ^= roll << 13;
        roll ^= roll >> 7;
        roll ^= roll << 17;
        let stack = roll as usize % STACKS;
        let heap = 0xc0_0000_0000 + (roll >> 20 & 0xff_ffff) * 64;
        write(&mut out, id, stack, heap);
    }
    out
}

fn write(out: &mut String, id: usize, stack: usize, heap: u64) {
    let lock = 0xc0_0010_7900 + (stack as u64 % 7) * 0x600;
    let head = match stack {
        0..15 => format!(
            "goroutine {id} [semacquire, {} minutes]:\nsync.runtime_SemacquireMutex(0x8f4540?, 0x70?, 0x970e5c?)\n\truntime/sema.go:77 +0x25\nsync.(*Mutex).lockSlow({:#x})\n\tsync/mutex.go:171 +0x165\nsync.(*Mutex).Lock(...)\n\tsync/mutex.go:90\n",
            2 + stack % 2,
            lock + 0x10
        ),
        15..20 => format!(
            "goroutine {id} [IO wait]:\ninternal/poll.runtime_pollWait({heap:#x}, 0x72)\n\truntime/netpoll.go:305 +0x89\ninternal/poll.(*pollDesc).wait({heap:#x}?, 0xc0279aefa1?, 0x0)\n\tinternal/poll/fd_poll_runtime.go:84 +0x32\n"
        ),
        20..25 => format!("goroutine {id} [chan receive]:\n"),
        _ => format!("goroutine {id} [select, 3 minutes]:\n"),
    };
    out.push_str(&head);
    for depth in 0..4 + stack % 7 {
        let written = writeln!(
            out,
            "example.com/shop/internal/service{stack}/handlers.(*Collector{depth}).handleMessage({lock:#x}, {{{heap:#x}, 0xdf53, 0xe000}}, 0x{:x}?)\n\t/home/build/go/src/example.com/shop/internal/service{stack}/handlers/collector.go:{} +0x343",
            heap >> 3,
            100 + depth
        );
        assert!(written.is_ok());
    }
    out.push_str("created by example.com/shop/internal/server.(*Server).Start in goroutine 1\n\t/home/build/go/src/example.com/shop/internal/server/server.go:94 +0x25\n\n");
}

fn benches(criterion: &mut Criterion) {
    let text = dump();
    let zone = Zone::utc();
    let hints = Hints {
        name: "goroutine.txt",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let mut group = criterion.benchmark_group("go_dump");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("debug2", |bencher| {
        bencher.iter(|| {
            let (mut batch, mut log) = (Batch::default(), Reporter::new());
            let read = GoStackDump.read(black_box(text.as_bytes()), &hints, &mut batch, &mut log);
            assert!(read.is_ok() && (batch.profiles[0].total - GOROUTINES as f64).abs() < 0.5);
            batch
        });
    });
    group.bench_function("memchr_lines", |bencher| {
        bencher.iter(|| memchr::memchr_iter(b'\n', black_box(text.as_bytes())).count());
    });
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
