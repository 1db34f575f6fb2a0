//! What changed and what rang, from the servers to the report: Alertmanager, Grafana and Kubernetes answer on loopback from
//! hand-made payloads, and a file from kubectl lies beside them.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::support;

const PLANTED: &str = "hunter2-planted-secret";

fn payload(name: &str) -> String {
    let path = support::root().join("tests/payloads/rang").join(name);
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

fn done(output: Output) -> Vec<u8> {
    assert_eq!(output.status.code(), Some(0), "{}", words(&output));
    output.stdout
}

/// All three on one port, each below its own path; every first question for events is told to come again.
fn servers() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let asked = Arc::clone(&asked);
            std::thread::spawn(move || serve(stream, &asked));
        }
    });
    port
}

fn serve(mut stream: TcpStream, asked: &AtomicUsize) {
    let mut head = [0; 8192];
    let n = stream.read(&mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..n]).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    let (status, body) = if !head.contains(PLANTED) {
        (
            "401 Unauthorized",
            r#"{"message":"who are you?"}"#.to_owned(),
        )
    } else if path.starts_with("/am/api/v2/alerts?") {
        ("200 OK", payload("alertmanager-alerts.json"))
    } else if path == "/am/api/v2/silences" {
        ("200 OK", payload("alertmanager-silences.json"))
    } else if path == "/am/api/v2/status" {
        (
            "200 OK",
            r#"{"versionInfo":{"version":"0.27.0"}}"#.to_owned(),
        )
    } else if path.starts_with("/graf/api/annotations?") {
        ("200 OK", payload("grafana-annotations.json"))
    } else if path == "/graf/api/health" {
        (
            "200 OK",
            r#"{"database":"ok","version":"11.2.0"}"#.to_owned(),
        )
    } else if path == "/version" {
        ("200 OK", r#"{"gitVersion":"v1.31.2"}"#.to_owned())
    } else if path.starts_with("/api/v1/events?") && path.contains("continue=") {
        ("200 OK", payload("kubernetes-events-2.json"))
    } else if path.starts_with("/api/v1/events?limit=500")
        && asked.fetch_add(1, Ordering::SeqCst) == 0
    {
        ("429 Too Many Requests\r\nRetry-After: 0", "{}".to_owned())
    } else if path.starts_with("/api/v1/events?") {
        ("200 OK", payload("kubernetes-events-1.json"))
    } else {
        ("404 Not Found", "<html>nothing here</html>".to_owned())
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    drop(stream.write_all(answer.as_bytes()));
}

fn sources(port: u16) -> String {
    let token = "http.authorization.credentials_file = \"token\"";
    format!(
        "[sources.alerts]\nkind = \"alertmanager\"\nurl = \"http://127.0.0.1:{port}/am\"\n{token}\n\
         [sources.marks]\nkind = \"grafana_annotations\"\nurl = \"http://127.0.0.1:{port}/graf\"\n{token}\n\
         [sources.cluster]\nkind = \"kubernetes_events\"\nurl = \"http://127.0.0.1:{port}\"\n{token}\n\
         [sources.saved]\nkind = \"file\"\npaths = [\"kubectl.json\"]\n"
    )
}

const WINDOW: [&str; 4] = [
    "--from",
    "2026-11-30T14:00:00Z",
    "--to",
    "2026-11-30T14:40:00Z",
];
/// What `kubectl get events -o json` would have saved of another namespace.
const SAVED: &str = r#"{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Event","metadata":{"name":"redis","namespace":"cache","uid":"k1"},"involvedObject":{"kind":"StatefulSet","namespace":"cache","name":"redis"},"reason":"SuccessfulCreate","message":"create Pod redis-2 in StatefulSet redis successful","source":{"component":"statefulset-controller"},"firstTimestamp":"2026-11-30T14:20:00Z","lastTimestamp":"2026-11-30T14:20:00Z","count":1,"type":"Normal"}],"kind":"List","metadata":{"resourceVersion":""}}"#;

#[test]
fn a_recording_of_what_changed_and_rang_gives_the_report_of_the_live_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("token"), PLANTED).unwrap();
    fs::write(folder.join("kubectl.json"), SAVED).unwrap();
    fs::write(folder.join("tailscope.toml"), sources(servers())).unwrap();

    let doctor = words(&tailscope(folder, &["doctor"]));
    for line in [
        "Alertmanager 0.27.0",
        "Grafana 11.2.0",
        "Kubernetes v1.31.2",
        "events of all namespaces",
    ] {
        assert!(doctor.contains(line), "{doctor}");
    }

    let record = [&["record", "-o", "n.tailscope"][..], &WINDOW].concat();
    done(tailscope(folder, &record));
    let live = [
        &["analyze", "--sources", "tailscope.toml", "--format", "json"][..],
        &WINDOW,
    ]
    .concat();
    let live = done(tailscope(folder, &live));
    let replay = ["analyze", "n.tailscope", "--format", "json", "--offline"];
    let replay = done(tailscope(folder, &replay));
    assert_eq!(
        String::from_utf8_lossy(&live),
        String::from_utf8_lossy(&replay)
    );
    let elsewhere = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(["analyze", "n.tailscope", "--format", "json"])
        .current_dir(folder)
        .envs([("TZ", "Asia/Seoul"), ("LC_ALL", "ko_KR.UTF-8")])
        .output()
        .unwrap();
    assert_eq!(done(elsewhere), replay);
    assert!(!String::from_utf8_lossy(&replay).contains(PLANTED));

    told(&serde_json::from_slice(&replay).unwrap());

    let export = [
        "export",
        "n.tailscope",
        "-o",
        "-",
        "--format",
        "csv",
        "--table",
        "events",
    ];
    let events = String::from_utf8(done(tailscope(folder, &export))).unwrap();
    for (kind, title) in [
        ("alert", "CheckoutSlow firing"),
        ("alert", "TargetDown silenced"),
        ("silence", "Silence of"),
        ("fault", "Unhealthy pod shop/checkout-6d5c9f7b8-hx2wq"),
        ("fault", "NodeNotReady node worker-2"),
        ("routine", "Scheduled pod"),
    ] {
        assert!(
            events
                .lines()
                .any(|l| l.contains(kind) && l.contains(title)),
            "{kind} {title}: {events}"
        );
    }

    let bundle = fs::read(folder.join("n.tailscope")).unwrap();
    assert!(
        !bundle
            .windows(PLANTED.len())
            .any(|w| w == PLANTED.as_bytes())
    );
}

/// The report says who changed what, knows every answer, and takes no symptom for a change.
fn told(report: &Value) {
    let findings = report["findings"].as_array().unwrap();
    let changes: Vec<&str> = findings
        .iter()
        .filter(|f| f["kind"] == "change")
        .map(|f| f["title"].as_str().unwrap())
        .collect();
    assert_eq!(
        changes,
        [
            "ScalingReplicaSet deployment shop/checkout",
            "RELOAD pod ingress-nginx/ingress-nginx-controller-599c5c76cc-bk8w9",
            "Killing pod shop/checkout-6d5c9f7b8-hx2wq",
            "checkout 1.42.0 rolled out",
            "SuccessfulCreate statefulset cache/redis",
        ]
    );
    assert_eq!(findings.len(), changes.len(), "{findings:#?}");
    for (finding, entity) in [
        (0, "service:checkout"),
        (2, "pod:checkout-6d5c9f7b8-hx2wq"),
        (3, "service:checkout"),
        (4, "service:redis"),
    ] {
        let entities = findings[finding]["entities"].to_string();
        assert!(entities.contains(entity), "{entities}");
    }
    // The alerts are of a job called `node`, and the events of nodes: that is not the same word.
    assert!(
        !findings
            .iter()
            .any(|f| f["entities"].to_string().contains("job:node"))
    );
    let inputs = report["inputs"].as_array().unwrap();
    let format_of = |part: &str| {
        let found = inputs
            .iter()
            .find(|i| i["path"].as_str().unwrap().contains(part));
        found.unwrap_or_else(|| panic!("no {part} in {inputs:#?}"))["format"].clone()
    };
    for (part, format) in [
        ("/api/v2/alerts", "alertmanager"),
        ("/api/v2/silences", "alertmanager"),
        ("/api/annotations", "grafana-annotations"),
        ("continue=", "kubernetes-events"),
        ("kubectl.json", "kubernetes-events"),
    ] {
        assert_eq!(format_of(part), format, "{part}");
    }
    let codes: Vec<&str> = inputs
        .iter()
        .flat_map(|i| i["warnings"].as_array().unwrap())
        .map(|w| w["code"].as_str().unwrap())
        .collect();
    for code in ["only_now", "short_memory", "not_begun"] {
        assert!(codes.contains(&code), "{codes:?}");
    }
}

#[test]
fn who_is_refused_everywhere_gets_no_bundle_and_is_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("token"), "wrong").unwrap();
    fs::write(folder.join("kubectl.json"), SAVED).unwrap();
    fs::write(folder.join("tailscope.toml"), sources(servers())).unwrap();
    let record = [&["record", "-o", "n.tailscope"][..], &WINDOW].concat();
    let output = tailscope(folder, &record);
    assert_ne!(output.status.code(), Some(0), "{}", words(&output));
    for name in ["alerts", "marks", "cluster"] {
        assert!(words(&output).contains(name), "{}", words(&output));
    }
    assert!(
        words(&output).contains("HTTP 401: who are you?"),
        "{}",
        words(&output)
    );
}

#[test]
fn schema_and_help_know_the_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let schema = done(tailscope(folder.path(), &["schema", "sources"]));
    let schema = String::from_utf8(schema).unwrap();
    for word in [
        "alertmanager",
        "grafana_annotations",
        "kubernetes_events",
        "field_selector",
        "dashboard_uid",
        "receiver",
    ] {
        assert!(schema.contains(word), "{word}");
    }
}

#[test]
fn alerts_of_a_recorded_prometheus_are_events_with_both_ends() {
    let Some(input) = support::shared("prom-cases/02-hang-timeout/input") else {
        return;
    };
    let input = input.to_str().unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let output = tailscope(
        folder.path(),
        &[
            "export", &input, "-o", "-", "--format", "csv", "--table", "events",
        ],
    );
    assert!(
        matches!(output.status.code(), Some(0 | 5)),
        "{}",
        words(&output)
    );
    let text = words(&output);
    let alert = text.lines().find(|l| l.contains("TargetDown resolved"));
    let alert = alert.unwrap_or_else(|| panic!("{text}"));
    // truth.json and the samples: firing from 895.418 to 910.418, pending from 892.418.
    for part in [
        "2026-11-30T13:38:15.418",
        "2026-11-30T13:38:30.418",
        "2026-11-30T13:38:12.418",
        "127.0.0.1:21021",
    ] {
        assert!(alert.contains(part), "{alert}");
    }
    assert_eq!(text.matches("TargetDown resolved").count(), 1, "{text}");
}

/// A process that ends with the test.
struct Process(std::process::Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn get(port: u16, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let line = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    stream.write_all(line.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    Some(text)
}

#[test]
fn an_alert_of_a_real_prometheus_is_one_event_with_the_words_of_its_rule() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    fs::write(
        folder.join("prometheus.yml"),
        "global: {scrape_interval: 1s, scrape_timeout: 500ms, evaluation_interval: 1s}\nrule_files: [rules.yml]\nscrape_configs:\n  - job_name: dead\n    static_configs: [{targets: ['127.0.0.1:1']}]\n",
    )
    .unwrap();
    fs::write(
        folder.join("rules.yml"),
        "groups:\n  - name: g\n    rules:\n      - alert: TargetDead\n        expr: up == 0\n        for: 2s\n        labels: {severity: page}\n        annotations: {summary: '{{ $labels.instance }} is down'}\n",
    )
    .unwrap();
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
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `prometheus` here; scripts/test installs it");
        return;
    };
    let _server = Process(child);
    let rings = || {
        let path =
            "/api/v1/query?query=count_over_time(ALERTS%7Balertstate=%22firing%22%7D%5B1m%5D)%3E=4";
        get(port, path).is_some_and(|text| text.contains("TargetDead"))
    };
    for turn in 0..=600 {
        if rings() {
            break;
        }
        assert!(turn < 600, "waited a minute for an alert");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    fs::write(
        folder.join("tailscope.toml"),
        format!("[sources.prod]\nkind = \"prometheus\"\nurl = \"http://127.0.0.1:{port}\"\n"),
    )
    .unwrap();
    done(tailscope(
        folder,
        &[
            "record",
            "--from",
            "now-5m",
            "--to",
            "now",
            "-o",
            "n.tailscope",
        ],
    ));
    let export = [
        "export",
        "n.tailscope",
        "-o",
        "-",
        "--format",
        "csv",
        "--table",
        "events",
    ];
    let events = String::from_utf8(done(tailscope(folder, &export))).unwrap();
    let rows: Vec<&str> = events
        .lines()
        .filter(|l| l.contains("TargetDead"))
        .collect();
    assert_eq!(rows.len(), 1, "samples and API tell of one alert: {events}");
    for part in [
        "TargetDead firing",
        "127.0.0.1:1 is down",
        "pendingSince",
        "instance:127.0.0.1:1",
    ] {
        assert!(rows[0].contains(part), "{part}: {}", rows[0]);
    }
}
