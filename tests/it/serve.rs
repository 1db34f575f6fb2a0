//! `tailscope serve` through the command line: asked by hand, by `promtool`, by `tailscope record`, and beside the Prometheus
//! that it was recorded from. What is not installed is skipped with a word.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::{root, run_json, shared};

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

struct Server {
    process: Process,
    port: u16,
}

impl Server {
    /// Serves `path`, and waits until it says where.
    fn start(path: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tailscope"))
            .arg("serve")
            .arg(path)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let stdout = child.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let port = line
            .trim()
            .strip_prefix("http://127.0.0.1:")
            .and_then(|port| port.parse().ok());
        let Some(port) = port else {
            let output = child.wait_with_output().unwrap();
            panic!("{line:?} {}", String::from_utf8_lossy(&output.stderr));
        };
        Self {
            process: Process(child),
            port,
        }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Ends it by a signal, as Ctrl-C does.
    fn interrupt(mut self) -> Option<i32> {
        let id = self.process.0.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        self.process.0.wait().unwrap().code()
    }
}

/// One request by hand; `head` is its first line and headers. Status and body.
fn talk(port: u16, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .unwrap();
    let text = format!(
        "{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    let body = if head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        unchunked(body)
    } else {
        body.to_owned()
    };
    (status, body)
}

fn unchunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        if length == 0 {
            break;
        }
        whole.push_str(rest.get(..length).unwrap_or_default());
        text = rest.get(length + 2..).unwrap_or_default();
    }
    whole
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-' => {
                char::from(b).to_string()
            }
            _ => format!("%{b:02X}"),
        })
        .collect()
}

fn path(endpoint: &str, fields: &[(&str, &str)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    format!("/api/v1/{endpoint}?{}", fields.join("&"))
}

fn ask(port: u16, path: &str) -> (u16, Value) {
    let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n");
    let (status, body) = talk(port, &head, "");
    let value = serde_json::from_str(&body).unwrap_or_else(|e| panic!("{path}: {e}: {body}"));
    (status, value)
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

/// Results in order of their labels: the order of a vector is not promised.
fn results(body: &Value) -> Vec<String> {
    let mut all: Vec<String> = body["data"]["result"]
        .as_array()
        .map(|all| all.iter().map(Value::to_string).collect())
        .unwrap_or_default();
    all.sort();
    all
}

#[test]
fn a_recorded_incident_is_answered_sample_for_sample_and_ctrl_c_ends_it_well() {
    let input = root().join("fixtures/ingress-metrics-lock/input");
    let server = Server::start(&input);
    let port = server.port;
    let folder = input.join("prometheus");
    let requests: Value =
        serde_json::from_slice(&fs::read(folder.join("requests.json")).unwrap()).unwrap();
    let mut compared = 0;
    for (file, request) in requests.as_object().unwrap() {
        let asked = request["path"].as_str().unwrap();
        let Some(asked) = asked.strip_prefix("/api/v1/query?query=") else {
            continue;
        };
        let Some((query, time)) = asked.split_once("&time=") else {
            continue;
        };
        let Ok(bytes) = fs::read(folder.join(file)) else {
            continue;
        };
        let recorded: Value = serde_json::from_slice(&bytes).unwrap();
        let (status, ours) = ask(port, &path("query", &[("query", query), ("time", time)]));
        assert_eq!(status, 200, "{query}: {ours}");
        assert_eq!(results(&ours), results(&recorded), "{query}");
        compared += 1;
    }
    assert!(compared >= 5, "{compared} recorded queries were compared");

    // Whoever asks under another name than this machine's is refused, and nobody can change anything.
    let refused = talk(
        port,
        "GET /api/v1/labels HTTP/1.1\r\nHost: rebound.example.org\r\n",
        "",
    );
    assert_eq!(refused.0, 403, "{}", refused.1);
    assert!(refused.1.contains("127.0.0.1"));
    for method in ["PUT", "DELETE", "PATCH"] {
        let head = format!("{method} /api/v1/labels HTTP/1.1\r\nHost: localhost\r\n");
        assert_eq!(talk(port, &head, "").0, 405, "{method}");
    }
    let head = "POST /api/v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    assert_eq!(talk(port, head, "query=1%2B1").0, 200);
    assert_eq!(talk(port, head, &"x".repeat(5 << 20)).0, 413);
    assert_eq!(talk(port, "nonsense\r\n", "").0, 400);
    // A connection that says nothing keeps nobody out.
    let idle: Vec<TcpStream> = (0..8)
        .map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap())
        .collect();
    assert_eq!(ask(port, "/api/v1/labels").0, 200);
    drop(idle);
    let partial = run_json(&["analyze", input.to_str().unwrap(), "--format", "json"])["partial"]
        .as_bool()
        .unwrap_or(false);
    assert!(!partial);
    assert_eq!(server.interrupt(), Some(0));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn promtool_reads_a_recording() {
    if Command::new("promtool").arg("--version").output().is_err() {
        eprintln!("skipped: no `promtool` here; scripts/test installs it");
        return;
    }
    let server = Server::start(&root().join("fixtures/ingress-metrics-lock/input"));
    let url = server.url();
    let promtool = |arguments: &[&str]| {
        let output = Command::new("promtool")
            .args(["query", arguments[0]])
            .args(&arguments[1..])
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", words(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let time = "1796049200";
    let instant = promtool(&["instant", "--time", time, &url, "count(up)"]);
    assert!(
        instant.contains("=> ") && instant.contains("1796049200"),
        "{instant}"
    );
    let range = promtool(&[
        "range",
        "--start",
        "1796049100",
        "--end",
        time,
        "--step",
        "10s",
        &url,
        "up",
    ]);
    assert!(range.contains("up{") && range.contains("@["), "{range}");
    let series = promtool(&["series", "--match", "up", &url]);
    assert!(series.contains("__name__=\"up\""), "{series}");
    let labels = promtool(&["labels", &url, "job"]);
    assert!(!labels.trim().is_empty());
    let refused = Command::new("promtool")
        .args(["query", "instant", "--time", time, &url, "topk(3, up)"])
        .output()
        .unwrap();
    assert!(
        words(&refused).contains("`topk` is not answered from a recording"),
        "{}",
        words(&refused)
    );
}

/// What a report says, without where it stands in the inputs.
fn said(report: &Value) -> Value {
    let pick = |of: &str, keys: &[&str]| -> Value {
        report[of]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| -> Value { keys.iter().map(|key| one[*key].clone()).collect() })
            .collect()
    };
    serde_json::json!([
        pick(
            "findings",
            &[
                "kind", "start", "end", "onset", "severity", "title", "entities", "values"
            ]
        ),
        pick(
            "hypotheses",
            &["rank", "signature", "title", "onset", "entities"]
        ),
    ])
}

/// Records from a served recording, and gives the report of that.
fn recorded_again(folder: &Path, server: &Server, extra: &str, window: [&str; 2]) -> Value {
    fs::write(
        folder.join("again.toml"),
        format!(
            "[sources.prod]\nkind = \"prometheus\"\nurl = \"{}\"\n{extra}\n",
            server.url()
        ),
    )
    .unwrap();
    let record = tailscope(
        folder,
        &[
            "record",
            "--sources",
            "again.toml",
            "--from",
            window[0],
            "--to",
            window[1],
            "-o",
            "again.tailscope",
        ],
    );
    assert_eq!(record.status.code(), Some(0), "{}", words(&record));
    let done = tailscope(
        folder,
        &[
            "analyze",
            "again.tailscope",
            "--format",
            "json",
            "--offline",
        ],
    );
    assert_eq!(done.status.code(), Some(0), "{}", words(&done));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("waited a minute for {what}");
}

/// A Prometheus that scrapes itself and a target that is not there; `None` where there is none.
fn prometheus(folder: &Path) -> Option<Server> {
    let port = free_port();
    fs::write(
        folder.join("prometheus.yml"),
        format!("global: {{scrape_interval: 1s, scrape_timeout: 500ms}}\nscrape_configs:\n  - job_name: prometheus\n    static_configs: [{{targets: ['127.0.0.1:{port}']}}]\n  - job_name: dead\n    static_configs: [{{targets: ['127.0.0.1:1']}}]\n"),
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
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `prometheus` here; scripts/test installs it");
        return None;
    };
    let process = Process(child);
    wait_for("ten scrapes", || {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
            && talk(port, "GET /-/ready HTTP/1.1\r\nHost: localhost\r\n", "").0 == 200
            && ask(
                port,
                &path(
                    "query",
                    &[("query", "count_over_time(up{job=\"dead\"}[1m])")],
                ),
            )
            .1["data"]["result"][0]["value"][1]
                .as_str()
                .and_then(|n| n.parse::<f64>().ok())
                .is_some_and(|n| n >= 10.0)
    });
    Some(Server { process, port })
}

/// Queries whose answers must be those of the server that was recorded.
const COMPARED: &[&str] = &[
    "up",
    "up{job=\"dead\"}",
    "up{job!=\"dead\"}",
    "up{job=~\"de.d|x\"}",
    "{job!~\"pro.*\",__name__=~\"up|scrape_.*\"}",
    "up offset 3s",
    "scrape_duration_seconds{job=\"prometheus\"}",
    "count by (__name__) ({__name__=~\"up|scrape_.+\"})",
    "sum(up)",
    "max by (job) (scrape_samples_scraped)",
    "min without (instance) (up)",
    "avg(scrape_samples_scraped)",
    "group(up)",
    "count_over_time(up[5s])",
    "rate(prometheus_tsdb_head_samples_appended_total[6s])",
    "increase(prometheus_http_requests_total{handler=\"/metrics\"}[7s])",
    "prometheus_build_info",
    "1 + 2 * 3",
    "vector(1e21)",
    "time()",
];

fn near(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| near(v, w)))
        }
        (Value::String(a), Value::String(b)) => {
            a == b
                || match (a.parse::<f64>(), b.parse::<f64>()) {
                    // The order of additions may differ in the last digits.
                    (Ok(a), Ok(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
                    _ => false,
                }
        }
        _ => a == b,
    }
}

/// Type and result, series in order; how long the server took is its own affair.
fn sorted(body: &Value) -> Value {
    let mut result = body["data"]["result"].clone();
    if let (Some("vector" | "matrix"), Some(all)) =
        (body["data"]["resultType"].as_str(), result.as_array_mut())
    {
        all.sort_by_key(|one| one["metric"].to_string());
    }
    serde_json::json!([body["data"]["resultType"], result])
}

#[test]
fn a_recording_answers_as_the_server_that_it_was_recorded_from() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let Some(real) = prometheus(folder) else {
        return;
    };
    let now = ask(real.port, &path("query", &[("query", "time()")])).1["data"]["result"][0]
        .as_f64()
        .unwrap()
        .floor() as u64;
    let (from, to) = ((now - 9).to_string(), (now - 1).to_string());
    fs::write(
        folder.join("real.toml"),
        format!("[sources.prod]\nkind = \"prometheus\"\nurl = \"{}\"\nmetrics = [\"*\"]\nqueries = [\"topk(1, up)\"]\nstep = \"1s\"\n", real.url()),
    )
    .unwrap();
    let record = tailscope(
        folder,
        &[
            "record",
            "--sources",
            "real.toml",
            "--from",
            &from,
            "--to",
            &to,
            "-o",
            "a.tailscope",
        ],
    );
    assert_eq!(record.status.code(), Some(0), "{}", words(&record));
    let ours = Server::start(&folder.join("a.tailscope"));
    let (late, early) = (to.clone(), (now - 2).to_string());
    let mut asked = 0;
    let mut compare = |endpoint: &str, fields: &[(&str, &str)]| {
        let path = path(endpoint, fields);
        let (status, theirs) = ask(real.port, &path);
        let (our_status, answer) = ask(ours.port, &path);
        assert_eq!(our_status, status, "{path}: {answer}\n{theirs}");
        assert!(
            near(&sorted(&answer), &sorted(&theirs)),
            "{path}:\n{answer}\n{theirs}"
        );
        asked += 1;
    };
    for query in COMPARED {
        for time in [&late, &early] {
            compare("query", &[("query", query), ("time", time)]);
        }
        // From where every range lies inside the recording.
        let start = (now - 3).to_string();
        compare(
            "query_range",
            &[
                ("query", query),
                ("start", &start),
                ("end", &late),
                ("step", "0.5"),
            ],
        );
    }
    for query in ["up[4s]", "up[4s] offset 2s", "{job=\"dead\"}[3s]"] {
        compare("query", &[("query", query), ("time", &late)]);
    }
    let fixed = format!("up @ {early}");
    compare("query", &[("query", &fixed), ("time", &late)]);
    compare("query", &[("query", "up @ end()"), ("time", &late)]);
    compare(
        "query_range",
        &[
            ("query", "topk(1, up)"),
            ("start", &early),
            ("end", &late),
            ("step", "1"),
        ],
    );
    for mistake in [
        "sum(up",
        "nofunc(up)",
        "rate(up)",
        "up[5m] + 1",
        "{job=~\".*\"}",
        "",
    ] {
        let path = path("query", &[("query", mistake), ("time", &late)]);
        assert_eq!(ask(ours.port, &path), ask(real.port, &path));
    }
    for endpoint in [
        "labels",
        "label/job/values",
        "label/__name__/values",
        "metadata",
    ] {
        let all = |port: u16| ask(port, &format!("/api/v1/{endpoint}")).1["data"].clone();
        assert_eq!(all(ours.port), all(real.port), "{endpoint}");
    }
    assert!(asked > 60);

    // Recorded once more, from us: the same report.
    let first = run_json(&[
        "analyze",
        folder.join("a.tailscope").to_str().unwrap(),
        "--format",
        "json",
    ]);
    assert!(first["findings"].to_string().contains("scrape_gap"));
    let extra = "metrics = [\"*\"]\nqueries = [\"topk(1, up)\"]\nstep = \"1s\"";
    let second = recorded_again(folder, &ours, extra, [&from, &to]);
    assert_eq!(said(&second), said(&first));
    assert_eq!(ours.interrupt(), Some(0));
}

#[test]
fn a_saved_folder_recorded_again_gives_the_same_findings_and_hypotheses() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let input = root().join("fixtures/ingress-metrics-lock/input/prometheus");
    let first = run_json(&["analyze", input.to_str().unwrap(), "--format", "json"]);
    let server = Server::start(&input);
    let window = [&first["window"]["start"], &first["window"]["end"]].map(|t| t.as_str().unwrap());
    let second = recorded_again(folder, &server, "metrics = [\"*\"]", window);
    let kinds = |report: &Value| -> Vec<String> {
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| format!("{} {} {}", f["kind"], f["start"], f["entities"]))
            .collect()
    };
    assert_eq!(kinds(&second), kinds(&first));
    let signatures = |report: &Value| -> Vec<Value> {
        let all = report["hypotheses"].as_array().unwrap();
        all.iter().map(|h| h["signature"].clone()).collect()
    };
    assert_eq!(signatures(&second), signatures(&first));
}

/// The recordings of a real server, served: the same query at the same time has the same answer.
#[test]
fn the_recorded_queries_of_a_real_server_are_answered_with_its_own_answers() {
    let Some(folder) = shared("prom-api/prometheus-2.42") else {
        return;
    };
    let server = Server::start(&folder);
    let mut compared = 0;
    // Only answers whose requests are told beside them (`requests.json`): of the others serve cannot know the words.
    let requests: Value =
        serde_json::from_slice(&fs::read(folder.join("requests.json")).unwrap()).unwrap();
    for (file, request) in requests.as_object().unwrap() {
        let (endpoint, params) = (request["path"].as_str().unwrap(), &request["params"]);
        let is_query = matches!(endpoint, "/api/v1/query" | "/api/v1/query_range");
        let query = params["query"].as_str().unwrap_or_default();
        // With a time of its own, of a kind that has a recorded answer.
        let has_time = params["time"].is_string() || params["step"].is_string();
        if !is_query || !has_time || request["http"] != 200 || !request["body"].is_null() {
            continue;
        }
        let fields: Vec<(&str, &str)> = params
            .as_object()
            .unwrap()
            .iter()
            .filter_map(|(k, v)| Some((k.as_str(), v.as_str()?)))
            .collect();
        let recorded: Value =
            serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap();
        let (status, ours) = ask(
            server.port,
            &path(endpoint.trim_start_matches("/api/v1/"), &fields),
        );
        if status == 422 {
            continue;
        }
        assert_eq!(status, 200, "{file}: {query}: {ours}");
        assert!(
            near(&sorted(&ours), &sorted(&recorded)),
            "{file}: {query}:\n{ours}\n{recorded}"
        );
        compared += 1;
    }
    assert!(compared >= 20, "{compared} were compared");
    // Mistakes are told in its words.
    for (query, want) in [
        ("sum(up", "query_err_parse.json"),
        ("rate(up)", "query_err_type.json"),
    ] {
        let recorded: Value =
            serde_json::from_slice(&fs::read(folder.join(want)).unwrap()).unwrap();
        assert_eq!(
            ask(server.port, &path("query", &[("query", query)])),
            (400, recorded)
        );
    }
}

#[test]
fn what_cannot_be_served_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let input = root().join("fixtures/ingress-metrics-lock/input/events.csv");
    let input = input.to_str().unwrap();
    let offline = tailscope(folder.path(), &["serve", input, "--offline"]);
    assert_eq!(offline.status.code(), Some(2), "{}", words(&offline));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let busy = tailscope(folder.path(), &["serve", input, "--listen", &address]);
    assert_eq!(busy.status.code(), Some(2), "{}", words(&busy));
    assert!(words(&busy).contains(&address) && words(&busy).contains("127.0.0.1:0"));
    let nowhere = tailscope(
        folder.path(),
        &["serve", input, "--listen", "example.org:1"],
    );
    assert_eq!(nowhere.status.code(), Some(2));
    let nothing = tailscope(folder.path(), &["serve", "none.tailscope"]);
    assert_eq!(nothing.status.code(), Some(4), "{}", words(&nothing));
}
