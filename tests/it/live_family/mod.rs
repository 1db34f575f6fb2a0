//! The Prometheus family over real loopback HTTP: Thanos, Mimir, Grafana Cloud and Amazon Managed Prometheus, as servers of
//! our own that say what those say, with the refusals that are special to each. Nobody names them: they are found.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tailscope::base::percent::decode;
use tailscope::session::analysis::{Asked, Document};
use tailscope::session::intake;

mod amazon;
mod mimir;
mod moment;
mod thanos;

const KEY: &str = "AKIDEXAMPLE";
const SECRET: &str = "hunter2-planted-secret-key-of-forty-char";
/// A closed window of ten minutes, 41 samples at 15 s.
const START: i64 = 1_785_542_400;
const END: i64 = START + 600;
const METRICS: [&str; 3] = ["shop_orders_total", "shop_queue", "up"];

fn tailscope(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tailscope"));
    for name in [
        "AWS_PROFILE",
        "AWS_SESSION_TOKEN",
        "AWS_REGION",
        "XDG_CONFIG_HOME",
        "http_proxy",
        "HTTP_PROXY",
    ] {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .env("AWS_ACCESS_KEY_ID", KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
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

/// One request as a server sees it.
struct Asking {
    /// Everything before the body.
    head: String,
    /// Path without its query.
    path: String,
    /// Query and form, decoded: `query=up&time=1`.
    fields: String,
    /// The body as it came.
    body: Vec<u8>,
    /// How often this very request came before.
    before: usize,
}

impl Asking {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    fn field(&self, name: &str) -> Option<&str> {
        let start = format!("{name}=");
        self.fields.split('&').find_map(|f| f.strip_prefix(&start))
    }

    fn selector(&self) -> &str {
        self.field("query").unwrap_or_default()
    }

    /// The metrics of a selector in the query.
    fn metrics(&self) -> Vec<&'static str> {
        METRICS
            .into_iter()
            .filter(|metric| self.selector().contains(metric))
            .collect()
    }
}

type Act = Arc<dyn Fn(&Asking) -> Vec<u8> + Send + Sync>;

/// A server; it ends with the process. Each request's head, path and fields are remembered.
fn server(act: Act) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (act, log) = (Arc::clone(&act), Arc::clone(&log));
            std::thread::spawn(move || serve(stream, &act, &log));
        }
    });
    (port, seen)
}

fn serve(mut to: TcpStream, act: &Act, log: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(to.try_clone().unwrap());
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    drop(reader.read_exact(&mut body));
    let line = head.split(' ').nth(1).unwrap_or_default();
    let (path, query) = line.split_once('?').unwrap_or((line, ""));
    let form = String::from_utf8_lossy(&body);
    let fields = decode(&[query, &form].join("&"));
    let mut asking = Asking {
        path: path.to_owned(),
        fields,
        head: head.clone(),
        body,
        before: 0,
    };
    let said = format!("{head}\n{} {}", asking.path, asking.fields);
    {
        let mut log = log.lock().unwrap();
        asking.before = log.iter().filter(|l| **l == said).count();
        log.push(said);
    }
    drop(to.write_all(&act(&asking)));
    drop(to.shutdown(std::net::Shutdown::Both));
}

fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

const JSON: &str = "Content-Type: application/json\r\n";
const TEXT: &str = "Content-Type: text/plain; charset=utf-8\r\n";

fn good(data: &Value) -> Vec<u8> {
    answer(
        "200 OK",
        JSON,
        json!({"status": "success", "data": data}).to_string(),
    )
}

fn error(status: &str, kind: &str, text: &str) -> Vec<u8> {
    let body = json!({"status": "error", "errorType": kind, "error": text});
    answer(status, JSON, body.to_string())
}

fn absent() -> Vec<u8> {
    answer("404 Not Found", TEXT, "404 page not found\n")
}

fn samples(from: i64, to: i64) -> Vec<(i64, f64)> {
    (0..=40)
        .map(|i| START + i * 15)
        .filter(|t| from <= *t && *t <= to)
        .map(|t| (t, ((t - START) / 15 + 1) as f64 / 4.0))
        .collect()
}

/// The answer to a range selector: two series of each metric that was asked for.
fn matrix(asking: &Asking) -> Value {
    let query = asking.field("query").unwrap();
    let end: f64 = asking.field("time").unwrap().parse().unwrap();
    let millis = query.rsplit('[').next().unwrap().trim_end_matches("ms]");
    let from = end - millis.parse::<f64>().unwrap() / 1e3;
    let values = |metric: &str| -> Vec<Value> {
        samples(from.ceil() as i64, end as i64)
            .into_iter()
            .map(|(t, v)| {
                json!([
                    t,
                    if metric == "up" {
                        "1".to_owned()
                    } else {
                        v.to_string()
                    }
                ])
            })
            .collect()
    };
    let result: Vec<Value> = asking
        .metrics()
        .into_iter()
        .flat_map(|metric| ["0", "1"].map(|replica| (metric, replica)))
        .map(|(metric, replica)| json!({"metric": {"__name__": metric, "job": "shop", "instance": "10.0.0.1:80", "replica": replica}, "values": values(metric)}))
        .collect();
    json!({"resultType": "matrix", "result": result})
}

/// What every member of the family answers in the same way; `None` for what differs.
fn common(asking: &Asking) -> Option<Vec<u8>> {
    let path = asking.path.rsplit_once("/api/v1/").map_or("", |(_, p)| p);
    Some(match path {
        "label/__name__/values" => good(&json!(METRICS)),
        "metadata" => {
            good(&json!({"shop_queue": [{"type": "gauge", "help": "waiting", "unit": ""}]}))
        }
        "rules" => good(&json!({"groups": []})),
        "alerts" => good(&json!({"alerts": []})),
        "query_exemplars" => good(&json!([])),
        "query" if asking.fields.contains("count by") => {
            let counts: Vec<Value> = METRICS
                .iter()
                .map(|m| json!({"metric": {"__name__": m}, "value": [START, "2"]}))
                .collect();
            good(&json!({"resultType": "vector", "result": counts}))
        }
        "query" if asking.fields.contains("count(up)") => good(
            &json!({"resultType": "vector", "result": [{"metric": {}, "value": [START, "2"]}]}),
        ),
        "query" => good(&matrix(asking)),
        "query_range" => good(
            &json!({"resultType": "matrix", "result": [{"metric": {}, "values": [[START, "4"], [START + 15, "4"]]}]}),
        ),
        _ => return None,
    })
}

fn sources(folder: &Path, url: &str, more: &str) {
    let text = format!(
        "[sources.prod]\nkind = \"prometheus\"\nurl = \"{url}\"\nmetrics = [\"shop_*\"]\nlimits.retries = 1\n{more}\n"
    );
    fs::write(folder.join("tailscope.toml"), text).unwrap();
}

fn window() -> [String; 4] {
    ["--from", &START.to_string(), "--to", &END.to_string()].map(str::to_owned)
}

/// Records, and compares the report of the recording with that of a pull of its own, byte for byte; `exit` is what both end
/// with. Gives the words of the recording, and the report.
fn same(folder: &Path, exit: i32) -> (String, Value) {
    drop(fs::remove_file(folder.join("n.tailscope")));
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    let record = [&["record", "-v", "-o", "n.tailscope"], window.as_slice()].concat();
    let recorded = tailscope(folder, &record);
    assert_eq!(recorded.status.code(), Some(exit), "{}", words(&recorded));
    let live = [
        &["analyze", "--sources", "tailscope.toml", "--format", "json"],
        window.as_slice(),
    ]
    .concat();
    let live = tailscope(folder, &live);
    assert_eq!(live.status.code(), Some(exit), "{}", words(&live));
    let of_bundle = ["analyze", "n.tailscope", "--format", "json", "--offline"];
    let of_bundle = tailscope(folder, &of_bundle);
    assert_eq!(of_bundle.status.code(), Some(exit), "{}", words(&of_bundle));
    let (of_live, of_bundle) = [&live, &of_bundle]
        .map(|done| String::from_utf8_lossy(&done.stdout).into_owned())
        .into();
    for (a, b) in of_live.lines().zip(of_bundle.lines()) {
        assert_eq!(a, b, "live and recorded differ");
    }
    assert_eq!(of_live, of_bundle);
    (
        words(&recorded),
        serde_json::from_slice(&live.stdout).unwrap(),
    )
}

/// Selector and number of samples of every series of the recording.
fn series(folder: &Path) -> Vec<(String, usize)> {
    let options = intake::Options::default();
    let read = intake::read(
        &[folder.join("n.tailscope")],
        &options,
        &mut std::io::empty(),
    );
    let document = Document::new(read, Asked::default());
    let all = document.snapshot.series.iter();
    all.map(|s| (s.selector(), s.t.len())).collect()
}

/// Every series of every metric is there, whole.
fn is_whole(folder: &Path) {
    let all = series(folder);
    let raw: Vec<_> = all.iter().filter(|(s, _)| s.contains("replica")).collect();
    assert_eq!(raw.len(), 6, "{all:?}");
    assert!(raw.iter().all(|(_, n)| *n == 40), "{all:?}");
}

fn doctor(folder: &Path, exit: i32) -> String {
    let doctor = tailscope(folder, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(exit), "{}", words(&doctor));
    words(&doctor)
}

fn build(version: &str) -> Value {
    json!({"version": version, "revision": "0123abc", "branch": "HEAD", "buildUser": "root", "buildDate": "20260101-00:00:00", "goVersion": "go1.24.1"})
}
