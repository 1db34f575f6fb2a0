//! Against a real Prometheus on loopback, started here and stopped by its own id. Skips with a word where the program is
//! missing; `scripts/test` installs it.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

const PLANTED: &str = "hunter2-planted-secret";

pub(crate) fn tailscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .output()
        .unwrap()
}

pub(crate) fn words(output: &Output) -> String {
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A process that ends with the test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// One GET, by hand.
pub(crate) fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let line = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(line.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("waited a minute for {what}");
}

/// Starts Prometheus, which scrapes itself and a target that is not there; `None` where there is none.
fn prometheus(folder: &Path) -> Option<(Process, u16)> {
    let port = free_port();
    let config = format!(
        "global: {{scrape_interval: 1s, scrape_timeout: 500ms}}\nscrape_configs:\n  - job_name: prometheus\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n  - job_name: dead\n    static_configs: [{{targets: ['127.0.0.1:1']}}]\n"
    );
    fs::write(folder.join("prometheus.yml"), config).unwrap();
    let child = Command::new("prometheus")
        .arg(format!(
            "--config.file={}",
            folder.join("prometheus.yml").display()
        ))
        .arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ))
        .arg(format!("--web.listen-address=127.0.0.1:{port}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `prometheus` here; scripts/test installs it");
        return None;
    };
    let process = Process(child);
    wait_for("five scrapes", || {
        get(
            port,
            "/api/v1/query?query=count_over_time(up%7Bjob=%22dead%22%7D%5B1m%5D)",
        )
        .and_then(|text| {
            let (_, value) = text.rsplit_once(",\"")?;
            value.split('"').next()?.parse::<f64>().ok()
        })
        .is_some_and(|n| n >= 5.0)
    });
    Some((process, port))
}

pub(crate) fn now_secs() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

#[test]
fn a_recording_of_a_real_prometheus_gives_the_report_of_the_live_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some((server, port)) = prometheus(folder) else {
        return;
    };
    fs::write(folder.join("token"), PLANTED).unwrap();
    fs::write(
        folder.join("tailscope.toml"),
        format!(
            "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\nqueries = [\"rate(prometheus_http_requests_total[5s])\"]\nstep = \"1s\"\nhttp.authorization = {{ credentials_file = \"token\" }}\n"
        ),
    )
    .unwrap();

    let doctor = tailscope(folder, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", words(&doctor));
    for line in [
        "reached        ok",
        "version        ok     Prometheus ",
        "2 targets",
    ] {
        assert!(words(&doctor).contains(line), "{}", words(&doctor));
    }

    let to = now_secs() - 1;
    let window = [format!("{}", to - 10), format!("{to}")];
    let record = [
        "record",
        "--from",
        &window[0],
        "--to",
        &window[1],
        "-o",
        "n.tailscope",
    ];
    let recorded = tailscope(folder, &record);
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let of = |path: &str| {
        let done = tailscope(folder, &["analyze", path, "--format", "json", "--offline"]);
        assert_eq!(done.status.code(), Some(0), "{}", words(&done));
        serde_json::from_slice::<serde_json::Value>(&done.stdout).unwrap()
    };
    let report = of("n.tailscope");
    assert!(
        report["findings"].as_array().unwrap().iter().any(|f| f["kind"] == "scrape_gap"
            && f["entities"].to_string().contains("127.0.0.1:1")),
        "the dead target is a gap: {:#}",
        report["findings"]
    );
    let live = tailscope(
        folder,
        &[
            "analyze",
            "--sources",
            "tailscope.toml",
            "--from",
            &window[0],
            "--to",
            &window[1],
            "--format",
            "json",
        ],
    );
    assert_eq!(live.status.code(), Some(0), "{}", words(&live));
    let live: serde_json::Value = serde_json::from_slice(&live.stdout).unwrap();
    // Two pulls of one window: what the server says of this moment (last scrape, uptime) differs, the rest may not.
    for part in ["window", "findings", "hypotheses", "entities", "timeline"] {
        assert_eq!(
            without_input_ids(&live[part]),
            without_input_ids(&report[part]),
            "{part}"
        );
    }

    // Without the server, and in another zone and language.
    drop(server);
    assert_eq!(of("n.tailscope"), report);
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(["analyze", "n.tailscope", "--format", "json"])
        .current_dir(folder)
        .envs([("TZ", "Asia/Seoul"), ("LC_ALL", "ko_KR.UTF-8")])
        .output()
        .unwrap();
    let elsewhere: serde_json::Value = serde_json::from_slice(&elsewhere.stdout).unwrap();
    assert_eq!(elsewhere, report);

    let mut all = Vec::new();
    let mut zip = fs::read(folder.join("n.tailscope")).unwrap();
    all.append(&mut zip);
    let unpacked = Command::new("unzip")
        .args(["-p", "n.tailscope"])
        .current_dir(folder)
        .output();
    if let Ok(unpacked) = unpacked {
        all.extend(unpacked.stdout);
    }
    let found = all.windows(PLANTED.len()).any(|w| w == PLANTED.as_bytes());
    assert!(!found, "the token stands in the bundle");

    let gone = tailscope(
        folder,
        &[
            "record",
            "--from",
            &window[0],
            "--to",
            &window[1],
            "-o",
            "gone.tailscope",
        ],
    );
    assert_eq!(gone.status.code(), Some(3), "{}", words(&gone));
    assert!(words(&gone).contains("connection refused"));
    assert!(
        !folder.join("gone.tailscope").exists() && !folder.join("gone.tailscope.part").exists()
    );
}

/// The ids of inputs hold the hash of volatile answers.
fn without_input_ids(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Array(all) => all.iter().map(without_input_ids).collect(),
        serde_json::Value::Object(all) => all
            .iter()
            .filter(|(key, _)| *key != "input")
            .map(|(key, value)| (key.clone(), without_input_ids(value)))
            .collect(),
        other => other.clone(),
    }
}

/// A server that answers every request a little late, so that a recording can be killed in the middle.
fn slow_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_slowly(stream));
        }
    });
    port
}

fn answer_slowly(mut stream: TcpStream) {
    let mut head = [0; 8192];
    let n = stream.read(&mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..n]).into_owned();
    let body = if head.contains("__name__/values") {
        let names: Vec<String> = (0..40).map(|n| format!("\"shop_{n}\"")).collect();
        format!("{{\"status\":\"success\",\"data\":[{}]}}", names.join(","))
    } else if head.contains("count+by") || head.contains("count%20by") {
        let all: Vec<String> = (0..40)
            .map(|n| {
                format!("{{\"metric\":{{\"__name__\":\"shop_{n}\"}},\"value\":[1,\"50000\"]}}")
            })
            .collect();
        format!(
            "{{\"status\":\"success\",\"data\":{{\"resultType\":\"vector\",\"result\":[{}]}}}}",
            all.join(",")
        )
    } else {
        std::thread::sleep(Duration::from_millis(5));
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":\"shop\"},\"values\":[[1785542400,\"1\"]]}]}}".to_owned()
    };
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    drop(stream.write_all(answer.as_bytes()));
}

#[test]
fn a_recording_that_is_killed_twenty_times_loses_nothing_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let port = slow_server();
    fs::write(
        folder.join("tailscope.toml"),
        format!(
            "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\nmetrics = [\"shop_*\"]\nmax_samples = 10000000000\nlimits.requests_at_once = 2\n"
        ),
    )
    .unwrap();
    let record = [
        "record",
        "--from",
        "1785542400",
        "--to",
        "1785546000",
        "-o",
        "n.tailscope",
    ];
    let part = folder.join("n.tailscope.part");
    let mut kept = 0;
    for turn in 0..20_u64 {
        let child = Command::new(env!("CARGO_BIN_EXE_tailscope"))
            .args(record)
            .current_dir(folder)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut process = Process(child);
        // Killed once more was kept than at the last turn, at another moment of the next answer each time.
        wait_for("more to be kept", || {
            fs::metadata(&part).map_or(0, |m| m.len()) > kept
                || process.0.try_wait().unwrap().is_some()
        });
        std::thread::sleep(Duration::from_millis(turn * 3 % 17));
        process.0.kill().unwrap(); // SIGKILL
        process.0.wait().unwrap();
        if folder.join("n.tailscope").exists() {
            break;
        }
        let length = fs::metadata(&part).unwrap().len();
        assert!(
            length >= kept,
            "what was kept shrank from {kept} to {length}"
        );
        kept = length;
        let inspected = tailscope(folder, &["inspect", "n.tailscope.part"]);
        assert!(
            words(&inspected).contains("the recording broke off"),
            "{}",
            words(&inspected)
        );
    }
    assert!(kept > 0, "it was never killed in the middle");
    let last = tailscope(folder, &record);
    assert_eq!(last.status.code(), Some(0), "{}", words(&last));
    assert!(words(&last).contains("goes on with"), "{}", words(&last));
    let whole = tailscope(folder, &["inspect", "n.tailscope"]);
    assert_eq!(whole.status.code(), Some(0), "{}", words(&whole));
    assert!(!words(&whole).contains("broke off"));
}

#[test]
fn offline_opens_no_socket_and_wrong_sources_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let sources =
        format!("[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\n");
    fs::write(folder.join("tailscope.toml"), sources).unwrap();
    let record = [
        "record",
        "--from",
        "now-1h",
        "--to",
        "now",
        "-o",
        "n.tailscope",
        "--offline",
    ];
    let offline = tailscope(folder, &record);
    assert_eq!(offline.status.code(), Some(3), "{}", words(&offline));
    assert!(words(&offline).contains("--offline"), "{}", words(&offline));
    assert!(listener.accept().is_err(), "somebody connected");

    let missing = tailscope(
        folder,
        &[
            "record",
            "--sources",
            "none.toml",
            "--from",
            "now-1h",
            "--to",
            "now",
            "-o",
            "x",
        ],
    );
    assert_eq!(missing.status.code(), Some(2));
    assert!(words(&missing).contains("none.toml"));
    let no_window = tailscope(folder, &["record", "-o", "x"]);
    assert_eq!(no_window.status.code(), Some(2));
    assert!(
        words(&no_window).contains("--from"),
        "{}",
        words(&no_window)
    );
    fs::write(folder.join("bad.toml"), "[sources.prod]\nkind = \"prometheus\"\nurl = \"http://h\"\nhttp.basic_auth = { username = \"u\", password = \"hunter2-planted-secret\" }\n").unwrap();
    let clear = tailscope(folder, &["doctor", "--sources", "bad.toml"]);
    assert_eq!(clear.status.code(), Some(2));
    assert!(words(&clear).contains("sources.prod.http.basic_auth.password"));
    assert!(!words(&clear).contains(PLANTED));
}
