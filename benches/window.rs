//! P9 and P10 of `design.md` §6, on the real program under Xvfb with Mesa's software OpenGL: from the start to the first frame, the time
//! of `--version`, frames of an idle window; and the memory of the largest sample incident once it is read.
//!
//! Run with `cargo bench --features gui --bench window`; `TAILSCOPE_BENCH_FOLDER` names one more folder to open. Says that it skips where Xvfb is missing.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench measures and prints"
)]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs whose median is printed; one where nobody measures.
const RUNS: usize = if cfg!(debug_assertions) { 1 } else { 9 };
const IDLE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 1 } else { 10 });
const PROGRAM: &str = env!("CARGO_BIN_EXE_tailscope");

struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn screen() -> Option<(Ends, String)> {
    let mut server = Command::new("Xvfb")
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut number = String::new();
    let mut byte = [0];
    let output = server.stdout.as_mut()?;
    while output.read(&mut byte).ok()? == 1 && byte != *b"\n" {
        number.push(char::from(byte[0]));
    }
    Some((Ends(server), format!(":{number}")))
}

fn window(display: &str, folder: &Path, input: Option<&str>) -> (Ends, PathBuf) {
    let log = folder.join("frames.log");
    std::fs::remove_file(&log).ok();
    let child = Command::new(PROGRAM)
        .args(input)
        .env("DISPLAY", display)
        .env_remove("WAYLAND_DISPLAY")
        .env("XDG_STATE_HOME", folder)
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env("TAILSCOPE_FRAME_LOG", &log)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (Ends(child), log)
}

fn lines(log: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn until(what: &str, mut is_done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_done() {
        assert!(start.elapsed() < Duration::from_mins(2), "no {what}");
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn median(mut ms: Vec<f64>) -> f64 {
    ms.sort_by(f64::total_cmp);
    ms[ms.len() / 2]
}

/// The longest frame in a log, without the first two, which make fonts and textures before anything is seen.
fn longest_ms(lines: &[String]) -> f64 {
    lines
        .iter()
        .skip(2)
        .filter_map(|l| l.split(' ').nth(3)?.parse().ok())
        .fold(0.0, f64::max)
}

fn resident_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|l| l.strip_prefix("VmRSS:"))
        .and_then(|l| l.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) / 1024.0
}

fn main() {
    let version = median(
        (0..RUNS * 3)
            .map(|_| {
                let start = Instant::now();
                Command::new(PROGRAM).arg("--version").output().unwrap();
                start.elapsed().as_secs_f64() * 1e3
            })
            .collect(),
    );
    println!("P9 --version: {version:.1} ms (floor 20, aim 10)");
    let Some((_screen, display)) = screen() else {
        println!("skipped: Xvfb is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let first = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let (_window, log) = window(&display, folder.path(), None);
            until("first frame", || {
                std::fs::metadata(&log).is_ok_and(|m| m.len() > 0)
            });
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    println!(
        "P9 start to first frame: {:.0} ms (floor 500, aim 300)",
        median(first)
    );
    // A folder of one's own, a large one say, is measured as well.
    let own = std::env::var("TAILSCOPE_BENCH_FOLDER").ok();
    for input in [
        "fixtures/ingress-metrics-lock/input",
        "fixtures/snat-connect-ladder/input",
    ]
    .into_iter()
    .chain(own.as_deref())
    {
        let start = Instant::now();
        let (child, log) = window(&display, folder.path(), Some(input));
        let is_open = |at: usize| {
            lines(&log)
                .iter()
                .any(|l| l.split(' ').nth(at) == Some("true"))
        };
        until("first lanes", || is_open(1));
        let lanes = start.elapsed().as_secs_f64() * 1e3;
        until("report", || is_open(2));
        let report = start.elapsed().as_secs_f64() * 1e3;
        let mut seen = 0;
        until("rest", || {
            std::thread::sleep(Duration::from_millis(1500));
            let now = lines(&log).len();
            let rests = now == seen;
            seen = now;
            rests
        });
        std::thread::sleep(IDLE);
        let idle = lines(&log).len() - seen;
        let longest = longest_ms(&lines(&log));
        println!("{input}: longest frame {longest:.0} ms (never over 50)");
        println!(
            "{input}: rows {lanes:.0} ms, report {report:.0} ms; P10 {idle} frames in {} s idle; {:.0} MiB resident",
            IDLE.as_secs(),
            resident_mib(child.0.id())
        );
    }
}
