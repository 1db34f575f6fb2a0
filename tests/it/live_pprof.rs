//! Against a real Go program on loopback, built and started here and stopped by its own id. Skips with a word where there
//! is no `go`; `scripts/test` installs it.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::live::{Process, free_port, get, now_secs, tailscope, wait_for, words};

/// Builds the program, once for all tests: Go keeps what it compiled beside our own objects.
fn build(folder: &Path) -> Option<()> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs/pprof.go");
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-build");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(folder.join("program"))
        .arg(source)
        .env("GOCACHE", cache)
        .env("GO111MODULE", "off")
        .env("GOFLAGS", "")
        .env("CGO_ENABLED", "0")
        .output();
    let Ok(built) = built else {
        eprintln!("skipped: no `go` here; scripts/test installs it");
        return None;
    };
    assert!(built.status.success(), "{}", words(&built));
    Some(())
}

/// Starts it with 400 goroutines that wait for one mutex.
fn program(folder: &Path) -> Option<(Process, u16)> {
    build(folder)?;
    let port = free_port();
    let child = Command::new(folder.join("program"))
        .arg(format!("-addr=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let process = Process(child);
    // The goroutines run until they wait; then there is no other place for them.
    wait_for("400 goroutines to wait", || {
        get(port, "/debug/pprof/goroutine?debug=1")
            .is_some_and(|text| text.contains("400 @ ") && text.contains("main.handleOrder"))
    });
    Some((process, port))
}

fn sources(folder: &Path, port: u16, more: &str) {
    let text = format!(
        "[sources.shop]\nkind = \"pprof\"\nurl = \"http://127.0.0.1:{port}\"\ndumps = 3\ninterval = \"1s\"\ncpu = \"1s\"\n{more}\n"
    );
    fs::write(folder.join("tailscope.toml"), text).unwrap();
}

fn report(folder: &Path, path: &str) -> (Value, Vec<u8>) {
    let done = tailscope(folder, &["analyze", path, "--format", "json", "--offline"]);
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    (serde_json::from_slice(&done.stdout).unwrap(), done.stdout)
}

fn of_kind<'r>(report: &'r Value, kind: &str) -> Vec<&'r Value> {
    let findings = report["findings"].as_array().unwrap();
    findings.iter().filter(|f| f["kind"] == kind).collect()
}

/// What must be found in every pull of the program: each dump of either form shows the lock, and one stack grows.
fn check(report: &Value, port: u16) {
    let locks = of_kind(report, "lock_contention");
    assert_eq!(locks.len(), 6, "three dumps in two forms: {locks:#?}");
    for lock in &locks {
        assert_eq!(lock["values"]["waiting"], 400.0, "{lock:#}");
        assert_eq!(
            lock["values"]["user_site"], "main.(*Ledger).Add",
            "{lock:#}"
        );
        assert!(
            lock["entities"]
                .to_string()
                .contains(&format!("127.0.0.1:{port}")),
            "{lock:#}"
        );
    }
    assert!(
        locks.iter().any(|l| l["values"]["locks"] == 1.0),
        "a dump of every goroutine shows the address: {locks:#?}"
    );
    let grown = of_kind(report, "blocked_growth");
    assert_eq!(grown.len(), 1, "{grown:#?}");
    assert_eq!(
        grown[0]["values"]["site"], "main.waitForReply",
        "{:#}",
        grown[0]
    );
    let inputs = report["inputs"].as_array().unwrap();
    for path in [
        "shop: GET /debug/pprof/heap",
        "shop: GET /debug/pprof/mutex",
        "shop: GET /debug/pprof/block",
        "shop: GET /debug/pprof/allocs?seconds=1",
        "shop: GET /debug/pprof/profile?seconds=1",
        "shop: GET /debug/pprof/goroutine?debug=2 (asked 2 times before)",
    ] {
        let input = inputs
            .iter()
            .find(|i| i["path"] == path)
            .unwrap_or_else(|| panic!("no {path} in {inputs:#?}"));
        assert_eq!(input["counts"]["profiles"], 1, "{input:#}");
    }
    let text = report["inputs"].to_string();
    assert!(text.contains("world_stopped"), "{text}");
}

#[test]
fn a_recording_of_a_real_go_program_gives_the_report_of_the_live_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some((server, port)) = program(folder) else {
        return;
    };
    sources(folder, port, "stop_the_world = true\ndelta = \"1s\"");

    let doctor = tailscope(folder, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", words(&doctor));
    for line in [
        "reached        ok",
        "threadcreate",
        "goroutines: a dump of each (debug=2) stops the program",
    ] {
        assert!(words(&doctor).contains(line), "{line}: {}", words(&doctor));
    }

    // Profiles are of now, and the window ends before the first of them is taken.
    let to = now_secs();
    let window = [format!("{}", to - 60), format!("{to}")];
    let span = ["--from", &window[0], "--to", &window[1]];
    let record = |name: &str| {
        let mut arguments = vec!["record"];
        arguments.extend(span);
        arguments.extend(["-o", name]);
        tailscope(folder, &arguments)
    };
    let recorded = record("n.tailscope");
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let (first, bytes) = report(folder, "n.tailscope");
    check(&first, port);

    let mut live = vec!["analyze", "--sources", "tailscope.toml", "--format", "json"];
    live.extend(span);
    let live = tailscope(folder, &live);
    assert_eq!(live.status.code(), Some(0), "{}", words(&live));
    check(&serde_json::from_slice(&live.stdout).unwrap(), port);

    // Without the program, and in another zone and language: the same to the byte.
    drop(server);
    assert_eq!(report(folder, "n.tailscope").1, bytes);
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(["analyze", "n.tailscope", "--format", "json", "--jobs", "1"])
        .current_dir(folder)
        .envs([("TZ", "Asia/Seoul"), ("LC_ALL", "ko_KR.UTF-8")])
        .output()
        .unwrap();
    assert_eq!(elsewhere.stdout, bytes);

    let gone = record("gone.tailscope");
    assert_eq!(gone.status.code(), Some(3), "{}", words(&gone));
    assert!(words(&gone).contains("connection refused"));
    assert!(!folder.join("gone.tailscope").exists());
}

#[test]
fn without_the_yes_a_real_program_is_not_stopped_and_pages_are_no_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some((_server, port)) = program(folder) else {
        return;
    };
    sources(folder, port, "");
    let to = now_secs();
    let window = [format!("{}", to - 60), format!("{to}")];
    let record = |name: &str| {
        tailscope(
            folder,
            &[
                "record", "--from", &window[0], "--to", &window[1], "-o", name,
            ],
        )
    };
    let recorded = record("n.tailscope");
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let (report, _) = report(folder, "n.tailscope");
    let text = report["inputs"].to_string();
    assert!(
        text.contains("no_consent") && !text.contains("debug=2 "),
        "{text}"
    );
    assert!(!text.contains("/goroutine?debug=2"), "{text}");
    assert_eq!(of_kind(&report, "lock_contention").len(), 3);
    assert_eq!(of_kind(&report, "blocked_growth").len(), 1);

    sources(folder, port, "path = \"/nowhere\"");
    let doctor = tailscope(folder, &["doctor"]);
    assert_ne!(doctor.status.code(), Some(0), "{}", words(&doctor));
    assert!(
        words(&doctor).contains("in place of a profile"),
        "{}",
        words(&doctor)
    );
    let wrong = record("wrong.tailscope");
    assert!(
        words(&wrong).contains("check `url` and `path`"),
        "{}",
        words(&wrong)
    );
}
