//! P4 of design.md §6: an 80,000-span X-Ray trace, open → rows ready, floor 0.13 s of CPU, aim 0.08 s; and 1 M spans open,
//! ≤ 200 B a span.
//!
//! The bytes are an answer of `BatchGetTraces`: documents in strings, segments with nested subsegments, calls with callees, retries,
//! proxies that name their connect time, errors. Timed is what opening does: bytes → batch → snapshot → the laid-out trace with its
//! visible rows. One thread; its CPU time is read from `/proc/thread-self/schedstat` (elsewhere the wall clock stands in).

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench reads clocks and tells what it found"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tailscope::base::reporter::Reporter;
use tailscope::base::time::Zone;
#[cfg(feature = "gui")]
use tailscope::engine::cancel::Cancel;
use tailscope::formats::xray::XRay;
use tailscope::formats::{Format as _, Hints};
use tailscope::model::batch::Batch;
use tailscope::model::input::{Counts, Input};
use tailscope::model::span::Span;
use tailscope::store::Snapshot;
use tailscope::store::build::build;
use tailscope::store::calls::Call;
#[cfg(feature = "gui")]
use tailscope::ui::panels::trace::laid::Laid;

const FLOOR_S: f64 = 0.13;
const AIM_S: f64 = 0.08;
const FLOOR_BYTES: f64 = 200.0;

const SERVICES: [&str; 8] = [
    "edge", "shop", "cart", "price", "stock", "payment", "mail", "search",
];

/// A small generator with a fixed seed (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// A call that waits for its callee: id of the record, from when to when (microseconds), service.
type Open = (u64, u64, u64, usize);

/// Writes traces of about `spans` spans each, one document a segment, eight spans a document.
struct Writer {
    random: Random,
    next: u64,
    out: String,
    document: String,
}

impl Writer {
    fn id(&mut self) -> u64 {
        self.next += 1;
        self.next.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
    }

    fn times(&mut self, from: u64, to: u64) {
        let secs = |us: u64| format!("{}.{:06}", 1_796_046_000 + us / 1_000_000, us % 1_000_000);
        write!(
            self.document,
            r#""start_time":{},"end_time":{}"#,
            secs(from),
            secs(to)
        )
        .ok();
    }

    fn trace(&mut self, number: usize, spans: usize) {
        if number > 0 {
            self.out.push(',');
        }
        let trace_id = format!("1-6b0d7cb0-{number:024x}");
        write!(self.out, r#"{{"Id":"{trace_id}","Duration":9,"Segments":["#).ok();
        let start = number as u64 * 1_000;
        let mut open: std::collections::VecDeque<Open> =
            [(0, start, start + 40_000_000_000, 0)].into();
        let mut written = 0;
        while let Some(call) = open.pop_front() {
            let is_retried = call.0 != 0 && self.random.below(20) == 0;
            let tries = if is_retried { 2 } else { 1 };
            for attempt in 0..tries {
                if written > 0 {
                    self.out.push(',');
                }
                let (parent, from, to, service) = call;
                let step = (to - from) / tries;
                let part = (
                    parent,
                    from + step * attempt,
                    from + step * (attempt + 1),
                    service,
                );
                let id = self.id();
                self.segment(&trace_id, id, part, is_retried && attempt == 0, &mut open);
                write!(self.out, r#"{{"Id":"{id:016x}","Document":""#).ok();
                for c in self.document.chars() {
                    if matches!(c, '"' | '\\') {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                }
                self.out.push_str("\"}");
                written += 8;
            }
            if written >= spans {
                break;
            }
        }
        self.out.push_str("]}");
    }

    /// One segment with seven subsegments, three of which are calls.
    fn segment(
        &mut self,
        trace_id: &str,
        id: u64,
        (parent, from, to, service): Open,
        is_failed: bool,
        open: &mut std::collections::VecDeque<Open>,
    ) {
        let name = SERVICES[service % SERVICES.len()];
        let lost = (to - from) / 20;
        let (from, to) = (from + lost, to.saturating_sub(lost).max(from + lost));
        self.document.clear();
        write!(
            self.document,
            r#"{{"id":"{id:016x}","name":"{name}","trace_id":"{trace_id}",{}"origin":"AWS::ECS::Container","#,
            if parent == 0 { String::new() } else { format!(r#""parent_id":"{parent:016x}","#) },
        )
        .ok();
        self.times(from, to);
        if is_failed {
            self.document.push_str(r#","fault":true,"cause":{"exceptions":[{"id":"00000000000000ee","type":"Timeout","message":"connect timed out"}]}"#);
        }
        let status = if is_failed { 504 } else { 200 };
        write!(
            self.document,
            r#","http":{{"request":{{"method":"GET","url":"http://{name}/api/v1/items/{}"}},"response":{{"status":{status},"content_length":512}}}},"aws":{{"xray":{{"sdk":"X-Ray for Go","sdk_version":"1.8.4"}}}},"annotations":{{"upstream_connect_time":{}.{:03}}},"metadata":{{"default":{{"request":"{id:x}"}}}},"subsegments":["#,
            self.random.below(40),
            u64::from(self.random.below(60) == 0),
            self.random.below(30),
        )
        .ok();
        let step = (to - from) / 4;
        for call in 0..3u64 {
            let callee = service + 1 + self.random.below(3) as usize;
            let record = self.id();
            let begin = from + step / 8 + call * step;
            let end = begin + step;
            if call > 0 {
                self.document.push(',');
            }
            let peer = SERVICES[callee % SERVICES.len()];
            write!(
                self.document,
                r#"{{"id":"{record:016x}","name":"{peer}","namespace":"remote","#
            )
            .ok();
            self.times(begin, end);
            let connect = self.id();
            write!(
                self.document,
                r#","http":{{"request":{{"method":"GET","url":"http://{peer}/api/v1/items","traced":true}},"response":{{"status":200}}}},"subsegments":[{{"id":"{connect:016x}","name":"connect","#
            )
            .ok();
            self.times(begin, begin + step / 50);
            self.document.push_str("}]}");
            open.push_back((record, begin, end, callee));
        }
        let own = self.id();
        write!(self.document, r#",{{"id":"{own:016x}","name":"render","#).ok();
        self.times(to - step / 2, to);
        self.document.push_str("}]}");
    }
}

/// An answer of `BatchGetTraces` with `traces` of about `spans` spans each.
fn answer(traces: usize, spans: usize) -> String {
    let mut writer = Writer {
        random: Random(0x2545_f491_4f6c_dd1d),
        next: 0,
        out: r#"{"Traces":["#.to_owned(),
        document: String::new(),
    };
    for number in 0..traces {
        writer.trace(number, spans);
    }
    writer.out.push_str(r#"],"UnprocessedTraceIds":[]}"#);
    writer.out
}

/// CPU time of this thread.
fn cpu() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// Seconds of CPU (or of the wall) that `work` takes, and what it gives.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let (wall, before) = (Instant::now(), cpu());
    let result = work();
    let spent = match (before, cpu()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => wall.elapsed(),
    };
    (spent.as_secs_f64(), result)
}

fn parse(bytes: &[u8]) -> Batch {
    let zone = Zone::utc();
    let hints = Hints {
        name: "batch-get-traces.json",
        request: None,
        zone: &zone,
        log_formats: &[],
    };
    let (mut out, mut log) = (Batch::default(), Reporter::new());
    let outcome = XRay.read(bytes, &hints, &mut out, &mut log);
    assert!(outcome.is_ok(), "the bench's own traces are whole");
    out
}

fn joined(batch: Batch) -> Snapshot {
    let input = Input {
        id: "in-bench".to_owned(),
        path: "bench".to_owned(),
        format: "xray".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    build(vec![(input, batch)])
}

/// The rows of the first trace as the trace panel lays them out.
#[cfg(feature = "gui")]
fn rows(snapshot: &Snapshot) -> usize {
    let trace_id = snapshot.spans.first().map(|s| Arc::clone(&s.trace_id));
    let laid = Laid::new(snapshot, &trace_id.unwrap_or_default(), &Cancel::new());
    let laid = laid.unwrap_or_default();
    laid.tree.visible(|_| false).len()
}

/// Without the window there is no panel to lay rows out for.
#[cfg(not(feature = "gui"))]
const fn rows(snapshot: &Snapshot) -> usize {
    snapshot.spans.len()
}

/// Opens one large trace `runs` times and tells the best.
fn open_one(spans: usize, runs: usize) {
    let text = answer(1, spans);
    let mut best = [f64::INFINITY; 4];
    let mut count = 0;
    for _ in 0..runs {
        let (read, batch) = timed(|| parse(text.as_bytes()));
        let (join, snapshot) = timed(|| joined(batch));
        let (lay, shown) = timed(|| rows(&snapshot));
        count = shown;
        let sum = read + join + lay;
        if sum < best[3] {
            best = [read, join, lay, sum];
        }
    }
    assert!(count >= spans, "every span has a row");
    println!(
        "P4 open {count} spans ({:.1} MB): {:.1} ms CPU = read {:.1} + join {:.1} + lay out {:.1}; floor {:.0} ms, aim {:.0} ms",
        text.len() as f64 / 1e6,
        best[3] * 1e3,
        best[0] * 1e3,
        best[1] * 1e3,
        best[2] * 1e3,
        FLOOR_S * 1e3,
        AIM_S * 1e3,
    );
}

/// Bytes of every text that spans hold, each once, with its two counters.
fn texts(spans: &[Span]) -> usize {
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for span in spans {
        let all = [
            &span.trace_id,
            &span.service,
            &span.operation,
            &span.origin,
            &span.error,
            &span.attributes,
        ];
        for text in all.into_iter().chain(span.peer.as_ref()) {
            if seen.insert(Arc::as_ptr(text).cast::<u8>().addr()) {
                bytes += (16 + text.len()).next_multiple_of(16);
            }
        }
    }
    bytes
}

fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Opens many traces and tells what a span holds.
fn hold_many(traces: usize, spans: usize) {
    let text = answer(traces, spans);
    let snapshot = joined(parse(text.as_bytes()));
    let n = snapshot.spans.len() as f64;
    let held = snapshot.spans.capacity() * size_of::<Span>();
    let calls = snapshot.calls.capacity() * size_of::<Call>();
    let texts = texts(&snapshot.spans);
    println!(
        "P4 {n} spans open: {:.0} B a span (floor {FLOOR_BYTES} B), with matched calls {:.0} B, with texts of attributes {:.0} B; resident with the answer's {:.0} MB: {:.0} MB",
        held as f64 / n,
        (held + calls) as f64 / n,
        (held + calls + texts) as f64 / n,
        text.len() as f64 / 1e6,
        resident().unwrap_or(0) as f64 / 1e6,
    );
}

fn main() {
    // A test runner that asks what there is gets an empty list.
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    // Without `--bench` (as `cargo test --benches` runs it) everything runs once, tiny.
    if std::env::args().any(|a| a == "--bench") {
        open_one(80_000, 12);
        hold_many(12_500, 80);
    } else {
        open_one(80, 1);
        hold_many(3, 80);
    }
}
