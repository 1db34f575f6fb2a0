//! P5 of `design.md` §6: a pprof of 200,000 samples × 25 frames, from the file to rows, beside `go tool pprof -top` on the
//! same file in the same run.
//!
//! The profile is made here, from a seed. Both sides run as child processes: the peer is Go's own program (skipped with a
//! word where there is no `go`), ours is this bench binary itself, which opens the file as `tailscope inspect` would and
//! names the functions with the largest own values, as `-top` does. Time is the wall clock of each child; its processor
//! time and its peak of memory are the kernel's (`/proc`). Floor: a tenth of the time and a quarter of the memory.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench starts processes, reads clocks and prints"
)]

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use tailscope::session::intake::{self, Options};
use tailscope::store::stacks::functions::functions;
use tailscope::store::stacks::tree::tree;

const SAMPLES: usize = 200_000;
const FRAMES: usize = 25;
const FUNCTIONS: u64 = 6_000;
const LOCATIONS: u64 = 20_000;
/// Each side this often; the best counts.
const TURNS: usize = 3;

/// A small deterministic generator (`SplitMix64`).
struct Roll(u64);

impl Roll {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Writes `profile.proto`.
#[derive(Default)]
struct Encoder {
    out: Vec<u8>,
    strings: Vec<String>,
    known: BTreeMap<String, u64>,
}

impl Encoder {
    fn varint(out: &mut Vec<u8>, mut n: u64) {
        while n >= 0x80 {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
    }

    fn number(out: &mut Vec<u8>, field: u64, n: u64) {
        if n != 0 {
            Self::varint(out, field << 3);
            Self::varint(out, n);
        }
    }

    fn bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
        Self::varint(out, field << 3 | 2);
        Self::varint(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }

    fn packed(out: &mut Vec<u8>, field: u64, numbers: &[u64]) {
        let mut inner = Vec::new();
        for n in numbers {
            Self::varint(&mut inner, *n);
        }
        Self::bytes(out, field, &inner);
    }

    fn text(&mut self, text: &str) -> u64 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let at = self.strings.len() as u64;
        self.strings.push(text.to_owned());
        self.known.insert(text.to_owned(), at);
        at
    }

    fn message(&mut self, field: u64, fields: &[(u64, u64)]) {
        let mut inner = Vec::new();
        for (number, value) in fields {
            Self::number(&mut inner, *number, *value);
        }
        Self::bytes(&mut self.out, field, &inner);
    }
}

/// A CPU profile as Go writes it: samples before locations, labels on half of them, one location in twelve with an
/// inlined call. Stacks grow as in a server: few ways at the root, many at the leaf.
fn profile(samples: usize) -> Vec<u8> {
    let mut e = Encoder::default();
    e.text("");
    let (cpu, nanos) = (e.text("cpu"), e.text("nanoseconds"));
    let (count, unit) = (e.text("samples"), e.text("count"));
    e.message(1, &[(1, count), (2, unit)]);
    e.message(1, &[(1, cpu), (2, nanos)]);
    let key = e.text("endpoint");
    let mut roll = Roll(1);
    for _ in 0..samples {
        let mut stack = Vec::with_capacity(FRAMES);
        let mut place = 0;
        for depth in 0..FRAMES as u64 {
            let ways = if depth < 6 { 1 } else { 2 + depth / 8 };
            place = mix(place ^ depth << 8 ^ roll.below(ways) << 32);
            stack.push(1 + place % LOCATIONS);
        }
        stack.reverse();
        let n = 1 + roll.below(4);
        let mut sample = Vec::new();
        Encoder::packed(&mut sample, 1, &stack);
        Encoder::packed(&mut sample, 2, &[n, n * 10_000_000]);
        if roll.below(2) == 0 {
            let value = e.text(&format!("/api/v1/endpoint-{}", roll.below(40)));
            let mut label = Vec::new();
            Encoder::number(&mut label, 1, key);
            Encoder::number(&mut label, 2, value);
            Encoder::bytes(&mut sample, 3, &label);
        }
        Encoder::bytes(&mut e.out, 2, &sample);
    }
    let file = e.text("/usr/local/bin/shop");
    // id, start, limit, file, has_functions, has_filenames, has_line_numbers, has_inline_frames.
    e.message(
        3,
        &[
            (1, 1),
            (2, 0x40_0000),
            (3, 0x90_0000),
            (5, file),
            (7, 1),
            (8, 1),
            (9, 1),
            (10, 1),
        ],
    );
    for id in 1..=LOCATIONS {
        let mut location = Vec::new();
        Encoder::number(&mut location, 1, id);
        Encoder::number(&mut location, 2, 1);
        Encoder::number(&mut location, 3, 0x40_0000 + id * 64);
        let calls = if id % 12 == 0 { 2 } else { 1 };
        for call in 0..calls {
            let mut line = Vec::new();
            Encoder::number(&mut line, 1, 1 + mix(id + call * 7) % FUNCTIONS);
            Encoder::number(&mut line, 2, 10 + id % 900);
            Encoder::bytes(&mut location, 4, &line);
        }
        Encoder::bytes(&mut e.out, 4, &location);
    }
    for id in 1..=FUNCTIONS {
        let package = id % 97;
        let name = e.text(&format!(
            "example.com/shop/internal/service{package}.(*Handler{}).serve{id}",
            id % 13
        ));
        let file = e.text(&format!(
            "/home/build/go/src/example.com/shop/internal/service{package}/handler{}.go",
            id % 13
        ));
        e.message(5, &[(1, id), (2, name), (3, name), (4, file), (5, 1)]);
    }
    for text in std::mem::take(&mut e.strings) {
        Encoder::bytes(&mut e.out, 6, text.as_bytes());
    }
    Encoder::number(&mut e.out, 9, 1_796_040_000_000_000_000);
    Encoder::number(&mut e.out, 10, 600_000_000_000);
    e.message(11, &[(1, cpu), (2, nanos)]);
    Encoder::number(&mut e.out, 12, 10_000_000);
    e.out
}

/// What a child took.
#[derive(Debug, Clone, Copy)]
struct Cost {
    wall: Duration,
    cpu: Duration,
    peak_bytes: u64,
}

/// `VmHWM` of a process: the most memory that it ever had.
fn peak_of(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Processor time of all children so far (`cutime` and `cstime` of proc(5), in hundredths of a second).
fn cpu_of_children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit_once(") ")
        .map_or("", |(_, rest)| rest)
        .split(' ')
        .collect();
    // The state comes first and is field 3: `cutime` is field 16, `cstime` 17.
    let ticks: u64 = fields
        .get(13..15)
        .unwrap_or_default()
        .iter()
        .filter_map(|f| f.parse::<u64>().ok())
        .sum();
    Duration::from_millis(ticks * 10)
}

/// Runs a child to its end and looks at its memory all the while: the mark only rises, and the last look is at most
/// two milliseconds before the end.
fn run(mut command: Command) -> (Cost, String) {
    let cpu_before = cpu_of_children();
    let since = Instant::now();
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the child starts");
    let id = child.id().to_string();
    let mut out = child.stdout.take().unwrap();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut out, &mut text).map(|_| text)
    });
    let mut peak_bytes = 0;
    loop {
        peak_bytes = peak_of(&id).unwrap_or(0).max(peak_bytes);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            break;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let wall = since.elapsed();
    let text = reader.join().unwrap().unwrap();
    let cost = Cost {
        wall,
        cpu: cpu_of_children().saturating_sub(cpu_before),
        peak_bytes,
    };
    (cost, text)
}

/// The best of several turns.
fn best(command: impl Fn() -> Command, turns: usize) -> (Cost, String) {
    let mut all: Vec<(Cost, String)> = (0..turns).map(|_| run(command())).collect();
    all.sort_by_key(|(cost, _)| cost.wall);
    all.into_iter().next().unwrap()
}

/// Our side: opens the file, and prints the functions with the largest own values.
fn child(path: &str, with_top: bool) {
    let since = Instant::now();
    let read = intake::read(&[path.into()], &Options::default(), &mut std::io::empty());
    let profiles: Vec<_> = read.parts.iter().flat_map(|(_, b)| &b.profiles).collect();
    let [profile] = profiles.as_slice() else {
        panic!("no profile in {path}");
    };
    let rows = since.elapsed();
    println!("groups {} total {}", profile.groups.len(), profile.total);
    if with_top {
        let tree = tree(profile, None, &|| false).unwrap();
        let mut all = functions(&tree);
        all.sort_by(|a, b| b.own[0].total_cmp(&a.own[0]).then(a.name.cmp(&b.name)));
        for function in all.iter().take(10) {
            let name = &tree.names[function.name as usize];
            println!("top {} {} {name}", function.own[0], function.total[0]);
        }
    }
    println!(
        "rows_us {} all_us {}",
        rows.as_micros(),
        since.elapsed().as_micros()
    );
}

/// The program behind `go tool pprof`, which `go` itself names.
fn peer() -> Option<String> {
    let said = Command::new("go")
        .args(["tool", "-n", "pprof"])
        .output()
        .ok()?;
    let path = String::from_utf8(said.stdout).ok()?.trim().to_owned();
    (said.status.success() && Path::new(&path).is_file()).then_some(path)
}

fn line(what: &str, cost: Cost) {
    println!(
        "{what:<34} {:>8.1} ms wall {:>8.0} ms CPU {:>8.1} MiB peak",
        cost.wall.as_secs_f64() * 1e3,
        cost.cpu.as_secs_f64() * 1e3,
        cost.peak_bytes as f64 / 1_048_576.0
    );
}

fn measure(path: &Path, turns: usize) {
    let me = std::env::current_exe().unwrap();
    let ours = |mode: &'static str| {
        let me = me.clone();
        move || {
            let mut command = Command::new(&me);
            command.arg(mode).arg(path);
            command
        }
    };
    let (rows, said) = best(ours("--child-rows"), turns);
    line("tailscope, file to rows", rows);
    println!("{}", said.lines().last().unwrap_or_default());
    let (top, said) = best(ours("--child-top"), turns);
    line("tailscope, file to top functions", top);
    println!("{}", said.lines().last().unwrap_or_default());
    let Some(peer) = peer() else {
        println!("skipped: no `go` here, so nothing to compare with");
        return;
    };
    let (theirs, text) = best(
        || {
            let mut command = Command::new(&peer);
            command
                .args([
                    "-top",
                    "-nodecount=10",
                    "-nodefraction=0",
                    "-edgefraction=0",
                ])
                .arg(path);
            command
        },
        turns,
    );
    line("go tool pprof -top", theirs);
    // The same function is on top for both, or one of the two read something else.
    let first = text
        .lines()
        .skip_while(|l| !l.contains("flat%"))
        .nth(1)
        .and_then(|l| l.split_whitespace().last())
        .unwrap_or_default();
    let ours = said
        .lines()
        .find_map(|l| l.strip_prefix("top "))
        .unwrap_or_default();
    assert!(
        !first.is_empty() && ours.ends_with(first),
        "{ours} is not {first}\n{text}"
    );
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(1e-3);
    println!(
        "rows: {:.1} times faster (CPU {:.1}); top: {:.1} times faster (CPU {:.1}); memory: 1/{:.1} (floor 10 times and 1/4, aim 25 times)",
        ratio(theirs.wall, rows.wall),
        ratio(theirs.cpu, rows.cpu),
        ratio(theirs.wall, top.wall),
        ratio(theirs.cpu, top.cpu),
        theirs.peak_bytes as f64 / rows.peak_bytes.max(1) as f64,
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode @ ("--child-rows" | "--child-top"), path] = arguments
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        child(path, *mode == "--child-top");
        return;
    }
    // Without `--bench` (that is `cargo test --benches`) the code runs once on little.
    let is_bench = arguments.iter().any(|a| a == "--bench");
    let (samples, turns) = if is_bench {
        (SAMPLES, TURNS)
    } else {
        (2_000, 1)
    };
    let bytes = profile(samples);
    let folder = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&bytes).unwrap();
    for (name, bytes) in [
        ("packed.pb.gz", packed.finish().unwrap()),
        ("bare.pb", bytes),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).unwrap();
        println!(
            "{name}: {samples} samples of {FRAMES} frames, {} bytes",
            bytes.len()
        );
        measure(&path, turns);
    }
}
