//! Pinpoint over real loopback HTTP: our hand-made payloads served as a 2.5 and as a 3.1, and servers that refuse.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

const PLANTED: &str = "hunter2-planted-secret";
const FROM: &str = "1767225600";
const TO: &str = "1767225900";

fn payload(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/pinpoint")
        .join(format!("{name}.json"));
    fs::read_to_string(path).unwrap()
}

fn tailscope(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(arguments)
        .current_dir(folder)
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .output()
        .unwrap()
}

fn words(output: &Output) -> String {
    format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Status, headers beside the usual ones, content type, body.
type Reply = (&'static str, &'static str, &'static str, String);
type Answers = fn(&str) -> Reply;

fn json(body: String) -> Reply {
    ("200 OK", "", "application/json", body)
}

fn page(status: &'static str, body: &str) -> Reply {
    (status, "", "text/html;charset=UTF-8", body.to_owned())
}

/// Serves until the process ends; every first line that was asked is kept.
fn serve(answers: Answers) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            std::thread::spawn(move || one(&stream, answers, &log));
        }
    });
    (port, seen)
}

fn one(stream: &TcpStream, answers: Answers, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length, mut is_known) = (String::new(), 0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        let lower = line.to_ascii_lowercase();
        if first.is_empty() {
            first.clone_from(&line);
        } else if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        is_known |= lower.starts_with("authorization: basic");
        if line.trim().is_empty() {
            break;
        }
    }
    drop(reader.read_exact(&mut vec![0; length]));
    log.lock().unwrap().push(first.trim().to_owned());
    let path = first.split(' ').nth(1).unwrap_or("/");
    let (status, headers, kind, body) = if is_known {
        answers(path)
    } else {
        page("401 Unauthorized", "who are you")
    };
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut to = stream;
    drop(to.write_all(text.as_bytes()));
}

const START: &str = "<!doctype html><html><head><title>Pinpoint</title></head></html>";

fn as_25(path: &str) -> Reply {
    let name = path.split('?').next().unwrap_or_default();
    let Some(name) = name
        .strip_prefix("/pp/")
        .and_then(|p| p.strip_suffix(".pinpoint"))
    else {
        return page("200 OK", START);
    };
    json(match name {
        "configuration" => payload("configuration_2x"),
        "serverTime" => payload("server_time"),
        "applications" => payload("applications"),
        "getScatterData" if path.contains("shop-order") && path.contains("to=1767225900000") => {
            payload("scatter_page1")
        }
        "getScatterData" => payload("scatter_page2_empty"),
        "transactionmetadata" => payload("transactionmetadata"),
        "transactionInfo" => payload("transactionInfo_25"),
        "getServerMapDataV2" => payload("servermap_25"),
        "getResponseTimeHistogramDataV2" => payload("histogram_v2"),
        "getApdexScore" => payload("apdex"),
        "agents/search-application" => payload("agents_25_30"),
        "getAgentStatusTimeline" => payload("agent_timeline"),
        "getAgentEvents" | "getAgentStat/dataSource/chartList" => "[]".to_owned(),
        name if name.starts_with("getAgentStat/") => payload("agentstat_2x_cpu"),
        _ => return page("404 Not Found", START),
    })
}

fn as_31(path: &str) -> Reply {
    let name = path.split('?').next().unwrap_or_default();
    let Some(name) = name.strip_prefix("/pp/api/") else {
        return page("200 OK", START);
    };
    json(match name {
        "configuration" => payload("configuration_31"),
        "serverTime" => payload("server_time"),
        "applications" => payload("applications"),
        "getScatterData" if path.contains("shop-order") => payload("scatter_31"),
        "getScatterData" => payload("scatter_page2_empty"),
        "transactionmetadata" => payload("transaction_metadata_31"),
        "transaction/trace" => payload("trace_31"),
        "servermap/serverMap" => payload("servermap_31"),
        "getResponseTimeHistogramDataV2" => payload("histogram_v2"),
        "getApdexScore" => payload("apdex"),
        "agents/overview" => payload("agents_31_overview"),
        "getAgentStatusTimeline" => payload("agent_timeline"),
        "getAgentEvents" | "errors/errorList" => "[]".to_owned(),
        "inspector/agentStat/chart" => payload("inspector_3x_chart"),
        _ => return page("404 Not Found", START),
    })
}

fn configure(folder: &Path, port: u16) {
    fs::write(folder.join("pw"), PLANTED).unwrap();
    fs::write(
        folder.join("tailscope.toml"),
        format!(
            "[sources.pp]\nkind = \"pinpoint\"\nurl = \"http://127.0.0.1:{port}/pp/\"\nhttp.basic_auth = {{ username = \"ann\", password_file = \"pw\" }}\n"
        ),
    )
    .unwrap();
}

#[test]
fn a_recording_of_each_family_gives_the_report_of_the_live_one() {
    for (answers, version) in [
        (as_25 as Answers, "Pinpoint 2.5.4"),
        (as_31, "Pinpoint 3.1.0"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let (port, seen) = serve(answers);
        configure(folder, port);
        let doctor = tailscope(folder, &["doctor"]);
        assert_eq!(doctor.status.code(), Some(0), "{}", words(&doctor));
        assert!(words(&doctor).contains(version), "{}", words(&doctor));
        let window = ["--from", FROM, "--to", TO];
        let mut record = vec!["record", "-o", "n.tailscope"];
        record.extend(window);
        let recorded = tailscope(folder, &record);
        assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
        let mut live = vec!["analyze", "--sources", "tailscope.toml", "--format", "json"];
        live.extend(window);
        let live = tailscope(folder, &live);
        let again = tailscope(
            folder,
            &["analyze", "n.tailscope", "--format", "json", "--offline"],
        );
        assert_eq!(again.status.code(), live.status.code(), "{}", words(&again));
        let report: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
        let live: serde_json::Value = serde_json::from_slice(&live.stdout).unwrap();
        assert_eq!(report, live, "{version}");
        let counts = |what: &str| -> u64 {
            let inputs = report["inputs"].as_array().unwrap();
            inputs
                .iter()
                .filter_map(|i| i["counts"][what].as_u64())
                .sum()
        };
        assert!(
            counts("spans") >= 8 && counts("requests") >= 2,
            "{report:#}"
        );
        assert!(counts("series") > 0 && counts("events") > 0, "{report:#}");
        for input in report["inputs"].as_array().unwrap() {
            assert_ne!(input["format"], "unrecognised", "{input:#}");
        }
        assert!(
            !String::from_utf8_lossy(&fs::read(folder.join("n.tailscope")).unwrap())
                .contains(PLANTED)
        );
        for line in seen.lock().unwrap().iter() {
            assert!(
                line.starts_with("GET ") || line.contains("/transactionmetadata"),
                "{line}"
            );
            assert!(
                !["admin", "remove", "insert"]
                    .iter()
                    .any(|w| line.contains(w)),
                "{line}"
            );
        }
    }
}

#[test]
fn doors_that_stay_shut_are_told_apart_over_http() {
    let cases: [(Answers, &str); 5] = [
        (|_| page("403 Forbidden", "no"), "HTTP 403"),
        (|_| page("404 Not Found", START), "HTTP 404, as a web page"),
        (
            |_| {
                page(
                    "200 OK",
                    "<form action=/login><input type=\"password\"></form>",
                )
            },
            "a login page",
        ),
        (|_| page("200 OK", START), "a web page instead of data"),
        (
            |_| json(payload("error_22_http200")),
            "invalid transactionId:abc",
        ),
    ];
    for (answers, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let (port, _) = serve(answers);
        configure(folder.path(), port);
        let doctor = tailscope(folder.path(), &["doctor"]);
        assert!(
            words(&doctor).contains(expected),
            "{expected}: {}",
            words(&doctor)
        );
        assert_ne!(doctor.status.code(), Some(0), "{}", words(&doctor));
    }
    // A redirect to a login, and a password that is not there at all.
    let folder = tempfile::tempdir().unwrap();
    let (port, _) = serve(|path| {
        if path.contains("login") {
            page("200 OK", "<form><input type=\"password\"></form>")
        } else {
            (
                "302 Found",
                "Location: /pp/login\r\n",
                "text/html",
                String::new(),
            )
        }
    });
    configure(folder.path(), port);
    let doctor = tailscope(folder.path(), &["doctor"]);
    assert!(words(&doctor).contains("login"), "{}", words(&doctor));
    fs::write(
        folder.path().join("tailscope.toml"),
        format!("[sources.pp]\nkind = \"pinpoint\"\nurl = \"http://127.0.0.1:{port}/pp/\"\n"),
    )
    .unwrap();
    let doctor = tailscope(folder.path(), &["doctor"]);
    assert!(words(&doctor).contains("HTTP 401"), "{}", words(&doctor));
}
