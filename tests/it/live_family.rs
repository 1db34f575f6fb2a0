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
use tailscope::session::analysis::{Asked, Document};
use tailscope::session::intake;
use tailscope::sources::request::decode;

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

/// Thanos' querier: buildinfo and flags in Prometheus' form, a list of stores, no configuration, no remote read.
fn thanos(asking: &Asking) -> Vec<u8> {
    match asking.path.as_str() {
        "/api/v1/status/buildinfo" => good(&build("0.38.0")),
        "/api/v1/stores" => {
            good(&json!({"sidecar": [{"name": "10.0.0.1:10901", "lastError": null}]}))
        }
        "/api/v1/status/flags" => good(
            &json!({"http-address": "0.0.0.0:10902", "query.lookback-delta": "5m", "query.replica-label": "replica", "query.timeout": "2m"}),
        ),
        "/api/v1/status/runtimeinfo" => good(
            &json!({"startTime": "2026-07-01T00:00:00Z", "CWD": "/", "goroutineCount": 12, "GOMAXPROCS": 2, "GOGC": "", "GODEBUG": ""}),
        ),
        "/api/v1/targets" => good(&json!({"activeTargets": [], "droppedTargets": []})),
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn thanos_is_found_by_its_stores_and_asked_without_deduplication() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(thanos));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let seen_by_doctor = doctor(folder, 0);
    assert!(
        seen_by_doctor.contains("Thanos 0.38.0, told by its list of stores, /api/v1/stores"),
        "{seen_by_doctor}"
    );
    assert!(
        seen_by_doctor.contains("query.replica-label replica"),
        "{seen_by_doctor}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("about 246 samples of 3 metrics: 6 series × 41 points"),
        "{said}"
    );
    assert!(said.contains("Thanos has no remote read"), "{said}");
    let seen = seen.lock().unwrap();
    let raw: Vec<&String> = seen.iter().filter(|s| s.contains("ms]")).collect();
    assert!(!raw.is_empty());
    for question in raw {
        for field in [
            "dedup=false",
            "partial_response=true",
            "max_source_resolution=0s",
        ] {
            assert!(question.contains(field), "{question}");
        }
    }
    assert!(!seen.iter().any(|s| s.contains("/api/v1/read")));
}

#[test]
fn a_store_of_thanos_that_did_not_answer_is_told_and_one_that_said_too_much_is_asked_for_less() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let partial = |asking: &Asking, warning: &str| {
        let body = json!({"status": "success", "data": matrix(asking), "warnings": [warning]});
        answer("200 OK", JSON, body.to_string())
    };
    let (port, _) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") {
            partial(
                asking,
                "receive series from Addr: 10.0.0.2:10901 LabelSets: {replica=\"1\"} MinTime: 0 MaxTime: 9223372036854775807: rpc error: code = Unavailable desc = connection refused",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, report) = same(folder, 5);
    assert!(said.contains("10.0.0.2:10901"), "{said}");
    let told = report["inputs"].to_string();
    assert!(told.contains("partial_response"), "{told}");

    // A store's own limit, which the querier passes on as a warning when it may answer in part.
    let (port, seen) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") && asking.metrics().len() > 1 {
            partial(
                asking,
                "receive series from Addr: 10.0.0.2:10901: rpc error: code = ResourceExhausted desc = exceeded series limit: limit 4 violated (got 5)",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, _) = same(folder, 5);
    assert!(said.contains("limit 4 violated"), "{said}");
    is_whole(folder);
    let seen = seen.lock().unwrap();
    let single = seen
        .iter()
        .filter(|s| s.contains("ms]") && !s.contains('|'));
    assert!(single.count() >= 3);

    // A limit that nothing mends is not asked about for ever.
    let (port, seen) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") {
            partial(asking, "exceeded series limit: limit 1 violated (got 2)")
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, _) = same(folder, 5);
    assert!(
        said.contains("more warnings of this kind")
            || said.contains("samples_missing")
            || said.contains("could not be had"),
        "{said}"
    );
    let asked = seen
        .lock()
        .unwrap()
        .iter()
        .filter(|s| s.contains("ms]"))
        .count();
    assert!(asked < 2 * 400, "{asked}");

    // And as an error, when it may not answer in part.
    let (port, _) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") && asking.metrics().len() > 1 {
            error(
                "422 Unprocessable Entity",
                "execution",
                "expanding series: proxy Series(): rpc error: code = Aborted desc = exceeded samples limit: limit 100 violated (got 120)",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    same(folder, 0);
    is_whole(folder);
}

fn mimir_build(application: &str) -> Vec<u8> {
    good(
        &json!({"application": application, "version": "2.17.0", "revision": "0123abc", "branch": "HEAD", "goVersion": "go1.24.1",
        "features": {"ruler_config_api": "true", "alertmanager_config_api": "true"}}),
    )
}

/// Mimir behind its usual prefix: whoever names no tenant is told so in plain text, but for its version.
fn mimir(asking: &Asking) -> Vec<u8> {
    if asking.path == "/prometheus/api/v1/status/buildinfo" {
        return mimir_build("Grafana Mimir");
    }
    if asking.header("x-scope-orgid") != Some("team-a|team-b") {
        return answer("401 Unauthorized", TEXT, "no org id\n");
    }
    common(asking).unwrap_or_else(absent)
}

#[test]
fn mimir_wants_a_tenant_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(mimir));
    let url = format!("http://127.0.0.1:{port}/prometheus");
    sources(folder, &url, "");
    let without = doctor(folder, 3);
    assert!(without.contains("FAILS  HTTP 401: no org id"), "{without}");
    assert!(without.contains("-> set `tenant`"), "{without}");
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
    let refused = tailscope(folder, &record);
    assert_eq!(refused.status.code(), Some(5), "{}", words(&refused));
    assert!(
        words(&refused).contains("set `tenant`"),
        "{}",
        words(&refused)
    );

    sources(folder, &url, "tenant = \"team-a|team-b\"");
    let with = doctor(folder, 0);
    assert!(
        with.contains("Mimir 2.17.0, told by `application` of its buildinfo, \"Grafana Mimir\""),
        "{with}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("remote read was refused: it has no such endpoint"),
        "{said}"
    );
    let seen = seen.lock().unwrap();
    for absent in ["/targets", "/status/flags", "/status/config", "/stores"] {
        assert!(!seen.iter().any(|s| s.contains(absent)), "{absent}");
    }
    assert!(seen.iter().any(|s| s.contains("/prometheus/api/v1/rules")));
}

#[test]
fn the_limits_of_mimir_are_kept_by_asking_for_less() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(|asking| {
        let is_raw = asking.fields.contains("ms]");
        let long = |most: i64| {
            is_raw
                && !asking.fields.contains(&format!("[{most}ms]"))
                && asking.fields.contains("[600000ms]")
        };
        if is_raw && asking.metrics().len() > 1 {
            return error(
                "422 Unprocessable Entity",
                "execution",
                "the query exceeded the maximum number of chunks (limit: 2000000 chunks) (err-mimir-max-chunks-per-query). Consider reducing the time range and/or number of series selected by the query.",
            );
        }
        if long(300_000) {
            return error(
                "422 Unprocessable Entity",
                "execution",
                "the total query time range exceeds the limit (query length: 10m0s, limit: 5m0s) (err-mimir-max-total-query-length). To adjust the related per-tenant limit, configure -query-frontend.max-total-query-length, or contact your service administrator.",
            );
        }
        if asking.path.ends_with("/metadata") && asking.before % 2 == 0 {
            let body = json!({"status": "error", "errorType": "too_many_requests", "error": "the request has been rejected because the tenant exceeded the request rate limit, set to 10 requests/s across all distributors with a maximum allowed burst of 10 (err-mimir-tenant-max-request-rate)"});
            return answer(
                "429 Too Many Requests",
                &format!("{JSON}Retry-After: 0\r\n"),
                body.to_string(),
            );
        }
        if asking.path.ends_with("/query_range") {
            return error(
                "400 Bad Request",
                "bad_data",
                "the request has been blocked by the cluster administrator (err-mimir-query-blocked)",
            );
        }
        mimir(asking)
    }));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}/prometheus"),
        "tenant = \"team-a|team-b\"\nqueries = [\"sum(up)\"]",
    );
    let (said, report) = same(folder, 5);
    is_whole(folder);
    assert!(
        said.contains("`sum(up)` could not be had: HTTP 400: the request has been blocked by the cluster administrator (err-mimir-query-blocked)"),
        "{said}"
    );
    for kept in [
        "err-mimir-max-chunks",
        "err-mimir-max-total",
        "err-mimir-tenant",
    ] {
        assert!(!said.contains(kept), "{said}");
    }
    assert!(report["inputs"].to_string().contains("query_failed"));
    let seen = seen.lock().unwrap();
    assert_eq!(
        seen.iter()
            .filter(|s| s.contains("GET /prometheus/api/v1/metadata"))
            .count(),
        4,
        "each of the two pulls asked again"
    );
    assert!(seen.iter().any(|s| s.contains("[300000ms]")));
}

fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [
        vec![number << 3 | 2],
        varint(content.len() as u64),
        content.to_vec(),
    ]
    .concat()
}

/// `ReadResponse` with samples, the last of each series a staleness marker.
fn read_answer(metrics: &[&str], from: i64, to: i64) -> Vec<u8> {
    let mut result = Vec::new();
    for (metric, replica) in metrics.iter().flat_map(|m| ["0", "1"].map(|r| (*m, r))) {
        let mut one = Vec::new();
        for (name, value) in [
            ("__name__", metric),
            ("instance", "10.0.0.1:80"),
            ("job", "shop"),
            ("replica", replica),
        ] {
            one.extend(field(
                1,
                &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat(),
            ));
        }
        for (t, v) in samples(from, to) {
            let bits = if t == END - 15 {
                0x7ff0_0000_0000_0002
            } else {
                v.to_bits()
            };
            let sample = [
                vec![9],
                bits.to_le_bytes().to_vec(),
                vec![16],
                varint(t as u64 * 1000),
            ];
            one.extend(field(2, &sample.concat()));
        }
        result.extend(field(1, &one));
    }
    snap::raw::Encoder::new()
        .compress_vec(&field(1, &result))
        .unwrap()
}

#[test]
fn cortex_offers_remote_read_as_samples_and_markers_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(|asking| {
        if asking.path == "/prometheus/api/v1/status/buildinfo" {
            return mimir_build("Cortex");
        }
        if asking.path != "/prometheus/api/v1/read" {
            return mimir(asking);
        }
        assert_eq!(
            asking.header("x-prometheus-remote-read-version"),
            Some("0.1.0")
        );
        assert_eq!(asking.header("content-encoding"), Some("snappy"));
        let question = snap::raw::Decoder::new()
            .decompress_vec(&asking.body)
            .unwrap();
        let question = String::from_utf8_lossy(&question).into_owned();
        let metrics: Vec<&str> = METRICS
            .into_iter()
            .filter(|m| question.contains(m))
            .collect();
        if metrics.len() > 1 {
            return answer("400 Bad Request", TEXT, "exceeded sample limit (100)\n");
        }
        let headers = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n";
        answer("200 OK", headers, read_answer(&metrics, START, END - 1))
    }));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}/prometheus"),
        "tenant = \"team-a|team-b\"",
    );
    let seen_by_doctor = doctor(folder, 0);
    assert!(seen_by_doctor.contains("Cortex 2.17.0"), "{seen_by_doctor}");
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("raw samples came by remote read, with staleness markers"),
        "{said}"
    );
    assert!(!seen.lock().unwrap().iter().any(|s| s.contains("ms]")));
    let options = intake::Options::default();
    let read = intake::read(
        &[folder.join("n.tailscope")],
        &options,
        &mut std::io::empty(),
    );
    let document = Document::new(read, Asked::default());
    for series in document
        .snapshot
        .series
        .iter()
        .filter(|s| s.labels.get("replica").is_some())
    {
        let last = series.v.last().unwrap().to_bits();
        assert_eq!(last, 0x7ff0_0000_0000_0002, "{}", series.selector());
    }
}

#[test]
fn grafana_cloud_wants_an_instance_and_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // `123456:glc_planted`, as RFC 7617 writes it.
    let (port, _) = server(Arc::new(|asking| {
        if asking.header("authorization") != Some("Basic MTIzNDU2OmdsY19wbGFudGVk") {
            return error(
                "401 Unauthorized",
                "",
                "authentication error: invalid authentication credentials",
            );
        }
        match asking.path.as_str() {
            "/api/prom/api/v1/status/buildinfo" => mimir_build("Grafana Enterprise Metrics"),
            _ => common(asking).unwrap_or_else(absent),
        }
    }));
    fs::write(folder.join("token"), "glc_wrong").unwrap();
    let basic = "http.basic_auth = { username = \"123456\", password_file = \"token\" }";
    sources(folder, &format!("http://127.0.0.1:{port}/api/prom"), basic);
    let wrong = doctor(folder, 3);
    assert!(
        wrong.contains("HTTP 401: authentication error: invalid authentication credentials")
            && wrong.contains("instance id and token"),
        "{wrong}"
    );
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
    let refused = tailscope(folder, &record);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    assert!(
        words(&refused).contains("instance id and token"),
        "{}",
        words(&refused)
    );
    assert!(!words(&refused).contains("glc_wrong"));

    fs::write(folder.join("token"), "glc_planted").unwrap();
    assert!(doctor(folder, 0).contains("Grafana Enterprise Metrics 2.17.0"));
    same(folder, 0);
    is_whole(folder);
    let bundle = fs::read(folder.join("n.tailscope")).unwrap();
    assert!(!bundle.windows(11).any(|w| w == b"glc_planted"));
}

/// Amazon Managed Prometheus: looks at the signature's shape and date, and says no as AWS does.
fn amp(asking: &Asking) -> Vec<u8> {
    let deny = |status: &str, kind: &str, text: &str| {
        let headers = format!("{JSON}x-amzn-ErrorType: {kind}\r\n");
        answer(status, &headers, json!({"message": text}).to_string())
    };
    let Some(authorization) = asking.header("authorization") else {
        return deny(
            "403 Forbidden",
            "MissingAuthenticationTokenException",
            "Missing Authentication Token",
        );
    };
    let date = asking.header("x-amz-date").unwrap_or_default();
    let day = date.split('T').next().unwrap_or_default();
    let scope = format!(
        "AWS4-HMAC-SHA256 Credential={KEY}/{day}/eu-central-1/aps/aws4_request, SignedHeaders="
    );
    let is_date = date.len() == 16 && day.len() == 8 && date.ends_with('Z');
    let rest = authorization.strip_prefix(&scope);
    let signature = rest.and_then(|r| r.split_once(", Signature="));
    let is_signed = signature.is_some_and(|(headers, signature)| {
        let signed: Vec<&str> = headers.split(';').collect();
        signed.contains(&"host")
            && signed.contains(&"x-amz-date")
            && signature.len() == 64
            && signature.bytes().all(|b| b.is_ascii_hexdigit())
    });
    if !is_date || !is_signed {
        return deny(
            "403 Forbidden",
            "InvalidSignatureException",
            &format!("not signed as it must be: {authorization} at {date}"),
        );
    }
    match asking.path.strip_prefix("/workspaces/ws-1") {
        Some("/api/v1/status/buildinfo") => {
            deny("404 Not Found", "UnknownOperationException", "Not Found")
        }
        Some("/api/v1/query") if asking.fields.contains("ms]") && asking.metrics().len() > 1 => {
            error(
                "422 Unprocessable Entity",
                "execution",
                "expanding series: the query hit the max number of chunks limit while fetching chunks (limit: 20000000)",
            )
        }
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn amazon_is_asked_with_a_signature_and_only_for_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(amp));
    let url = format!("http://127.0.0.1:{port}/workspaces/ws-1");
    sources(folder, &url, "region = \"eu-central-1\"");
    let seen_by_doctor = doctor(folder, 0);
    assert!(
        seen_by_doctor.contains("Amazon Managed Prometheus, told by `region` in the settings"),
        "{seen_by_doctor}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("Amazon Managed Prometheus has no remote read"),
        "{said}"
    );
    let seen = seen.lock().unwrap();
    for absent in ["/targets", "/flags", "exemplars", "/read", "/stores"] {
        assert!(!seen.iter().any(|s| s.contains(absent)), "{absent}");
    }
    let bundle = fs::read(folder.join("n.tailscope")).unwrap();
    for secret in [SECRET, KEY] {
        assert!(!bundle.windows(secret.len()).any(|w| w == secret.as_bytes()));
    }
}

#[test]
fn what_amazon_refuses_is_told_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (status, kind, text, advice) in [
        (
            "403 Forbidden",
            "AccessDeniedException",
            "User: arn:aws:iam::1:user/x is not authorized to perform: aps:QueryMetrics",
            "allow aps:QueryMetrics",
        ),
        (
            "403 Forbidden",
            "ExpiredTokenException",
            "The security token included in the request is expired",
            "aws sso login",
        ),
        (
            "400 Bad Request",
            "RequestExpired",
            "Signature expired: 20260801T000000Z is now earlier than 20260801T001000Z",
            "set this machine's clock",
        ),
    ] {
        let (port, _) = server(Arc::new(move |_| {
            let headers = format!("{JSON}x-amzn-ErrorType: {kind}\r\n");
            answer(status, &headers, json!({"message": text}).to_string())
        }));
        sources(
            folder,
            &format!("http://127.0.0.1:{port}/workspaces/ws-1"),
            "region = \"eu-central-1\"",
        );
        let window = window();
        let window: Vec<&str> = window.iter().map(String::as_str).collect();
        let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
        let refused = tailscope(folder, &record);
        assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
        let said = words(&refused);
        assert!(
            said.contains(kind) && said.contains(text) && said.contains(advice),
            "{said}"
        );
        let seen_by_doctor = doctor(folder, 3);
        assert!(seen_by_doctor.contains(advice), "{seen_by_doctor}");
    }
}

#[test]
fn what_goes_over_the_cap_is_refused_before_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(thanos));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}"),
        "max_samples = 100",
    );
    let (said, report) = same(folder, 5);
    // `up` tells of the scraping itself and comes first.
    for words in [
        "prod: about 82 samples of 1 metrics: 2 series × 41 points, in 1 questions",
        "2 metrics were refused: with them the pull would be about 246 samples, over the cap of 100: shop_orders_total (2 series), shop_queue (2 series)",
        "ask for a shorter window, set `matchers`",
        "raise `max_samples`",
    ] {
        assert!(said.contains(words), "{said}");
    }
    let told = report["inputs"].to_string();
    assert!(
        told.contains("limit_samples") && told.contains("cost_preview"),
        "{told}"
    );
    let seen = seen.lock().unwrap();
    let raw: Vec<&String> = seen.iter().filter(|s| s.contains("ms]")).collect();
    assert!(
        !raw.is_empty() && raw.iter().all(|s| !s.contains("shop_")),
        "{raw:?}"
    );
}

/// A report without the ids and hashes of the inputs, which are those of their bytes.
fn without_hashes(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_hashes).collect(),
        Value::Object(all) => all
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "input" | "sha256"))
            .filter(|(_, value)| !value.as_str().is_some_and(|v| v.starts_with("in-")))
            .map(|(key, value)| (key.clone(), without_hashes(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Prometheus some minutes after the window: whatever it says of this moment differs from question to question.
fn moment(asking: &Asking, minute: i64) -> Vec<u8> {
    let at = |secs: i64| {
        let t = tailscope::base::time::Timestamp::from_millis((END + minute * 60 + secs) * 1000);
        t.unwrap().to_rfc3339()
    };
    let error = if minute > 1 { "connection refused" } else { "" };
    let alert = |name: &str, active: String, state: &str| json!({"labels": {"alertname": name, "severity": "page"}, "annotations": {"summary": "too slow"}, "state": state, "activeAt": active, "value": format!("{minute}e+00")});
    let within = tailscope::base::time::Timestamp::from_millis((START + 300) * 1000)
        .unwrap()
        .to_rfc3339();
    let alerts = json!([
        alert(
            "Within",
            within,
            if minute > 1 { "firing" } else { "pending" }
        ),
        alert("After", at(0), "firing"),
    ]);
    match asking.path.as_str() {
        "/api/v1/status/buildinfo" => good(&build("3.6.0")),
        "/api/v1/status/runtimeinfo" => good(
            &json!({"startTime": "2026-07-01T00:00:00Z", "CWD": "/", "reloadConfigSuccess": true, "lastConfigTime": "2026-07-01T00:00:00Z", "corruptionCount": 0, "goroutineCount": 30 + minute, "GOMAXPROCS": 2, "storageRetention": "15d", "serverTime": at(1)}),
        ),
        "/api/v1/status/flags" => good(
            &json!({"query.lookback-delta": "5m", "query.timeout": "2m", "web.listen-address": "0.0.0.0:9090"}),
        ),
        "/api/v1/status/config" => good(&json!({"yaml": "global:\n  scrape_interval: 15s\n"})),
        "/api/v1/targets" => good(
            &json!({"activeTargets": [{"discoveredLabels": {}, "labels": {"instance": "10.0.0.1:80", "job": "shop"}, "scrapePool": "shop", "scrapeUrl": "http://10.0.0.1:80/metrics", "globalUrl": "http://10.0.0.1:80/metrics", "lastError": error, "lastScrape": at(2), "lastScrapeDuration": 0.001 * minute as f64, "health": if minute > 1 { "down" } else { "up" }, "scrapeInterval": "15s", "scrapeTimeout": "10s"}], "droppedTargets": []}),
        ),
        "/api/v1/alerts" => good(&json!({"alerts": alerts})),
        "/api/v1/rules" => good(
            &json!({"groups": [{"name": "g", "file": "r.yml", "interval": 15, "lastEvaluation": at(3), "evaluationTime": 0.001 * minute as f64, "rules": [{"name": "Within", "query": "up == 0", "type": "alerting", "duration": 0, "labels": {}, "annotations": {}, "alerts": alerts, "health": "err", "lastError": "many-to-many matching not allowed", "state": "firing", "lastEvaluation": at(3), "evaluationTime": 0.002 * minute as f64}]}]}),
        ),
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn the_moment_of_asking_changes_nothing_in_the_report_of_a_window_that_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let minute = Arc::new(Mutex::new(1));
    let now = Arc::clone(&minute);
    let (port, _) = server(Arc::new(move |asking| moment(asking, *now.lock().unwrap())));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (_, first) = same(folder, 0);
    *minute.lock().unwrap() = 2;
    let (_, second) = same(folder, 0);
    let events: Vec<u64> = second["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|i| i["counts"]["events"].as_u64().filter(|n| *n > 0))
        .collect();
    assert_eq!(events, [1, 1], "what began after the window is not of it");
    let [first, second] = [first, second].map(|report| {
        let text = serde_json::to_string_pretty(&without_hashes(&report)).unwrap();
        assert!(
            text.contains("rule Within failed when this was pulled, after the window"),
            "{text}"
        );
        text
    });
    for (a, b) in first.lines().zip(second.lines()) {
        assert_eq!(a, b, "two pulls of one window differ:\n{first}\n{second}");
    }
    assert_eq!(first, second);
}
