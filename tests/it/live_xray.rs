//! X-Ray over real loopback HTTP: against moto, which checks our signatures as AWS does, and against a server of our own
//! that says no in every way. Skips with a word where moto is missing; `scripts/test` installs it.

#![expect(
    clippy::disallowed_methods,
    reason = "files, threads and processes of a test, which end with it"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tailscope::session::analysis::{Asked, Document};
use tailscope::session::intake;

const SECRET: &str = "hunter2-planted-secret-key-of-forty-char";
const TOKEN: &str = "hunter2-planted-session-token";

/// The program with these credentials, and none of the machine's own.
fn tailscope(folder: &Path, keys: [&str; 2], arguments: &[&str]) -> Output {
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
        .env("AWS_ACCESS_KEY_ID", keys[0])
        .env("AWS_SECRET_ACCESS_KEY", keys[1])
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

fn sources(folder: &Path, port: u16, more: &str) {
    let text = format!(
        "[sources.traces]\nkind = \"xray\"\nregion = \"eu-central-1\"\nurl = \"http://127.0.0.1:{port}\"\n{more}\n"
    );
    fs::write(folder.join("tailscope.toml"), text).unwrap();
}

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// One POST, by hand; the body of the answer. moto wants a signature that names the service, and does not look at it yet.
fn post(port: u16, service: &str, path: &str, kind: &str, body: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let text = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nAuthorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260801/eu-central-1/{service}/aws4_request, SignedHeaders=host, Signature=00\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer
        .starts_with("HTTP/1.1 200")
        .then(|| answer.split_once("\r\n\r\n").map(|(_, b)| b.to_owned()))
        .flatten()
}

/// moto's own identity service: only the first calls go unchecked, so these set up who may what.
fn iam(port: u16, fields: &str) -> String {
    let body = format!("{fields}&Version=2010-05-08");
    post(port, "iam", "/", "application/x-www-form-urlencoded", &body).unwrap()
}

fn element(xml: &str, name: &str) -> String {
    let (_, rest) = xml.split_once(&format!("<{name}>")).unwrap();
    rest.split_once("</").unwrap().0.to_owned()
}

/// Key id and secret of a new user.
fn user(port: u16, name: &str) -> [String; 2] {
    iam(port, &format!("Action=CreateUser&UserName={name}"));
    let keys = iam(port, &format!("Action=CreateAccessKey&UserName={name}"));
    ["AccessKeyId", "SecretAccessKey"].map(|key| element(&keys, key))
}

/// Starts moto, which lets so many calls pass unchecked; `None` where there is none.
fn moto(unchecked: u32) -> Option<(Process, u16)> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let child = Command::new("moto_server")
        .args(["-H", "127.0.0.1", "-p", &port.to_string()])
        .env("INITIAL_NO_AUTH_ACTION_COUNT", unchecked.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(child) = child else {
        eprintln!("skipped: no `moto_server` here; scripts/test installs it");
        return None;
    };
    let mut process = Process(child);
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Some((process, port));
        }
        if process.0.try_wait().unwrap().is_some() {
            eprintln!("skipped: `moto_server` does not start; scripts/test installs moto[server]");
            return None;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("moto did not answer within a minute");
}

fn trace_id(start: u64, n: usize) -> String {
    format!("1-{start:08x}-{n:024x}")
}

/// An edge that calls checkout, which waits for the connection.
fn documents(start: u64, n: usize) -> [String; 2] {
    let trace = trace_id(start, n);
    let at = start as f64 + n as f64 * 0.5;
    [
        serde_json::json!({"id": format!("{:016x}", 0xa0 + n), "name": "edge", "trace_id": trace, "start_time": at,
            "end_time": at + 1.35, "subsegments": [{"id": format!("{:016x}", 0xb0 + n), "name": "checkout",
            "namespace": "remote", "start_time": at + 0.25, "end_time": at + 1.25,
            "http": {"request": {"method": "GET", "url": "http://checkout/pay", "traced": true}}}]}),
        serde_json::json!({"id": format!("{:016x}", 0xc0 + n), "name": "checkout", "trace_id": trace,
            "parent_id": format!("{:016x}", 0xb0 + n), "start_time": at + 1.2, "end_time": at + 1.24}),
    ]
    .map(|document| document.to_string())
}

/// Everything of a bundle, packed and unpacked.
fn bytes_of(folder: &Path, bundle: &str) -> Vec<u8> {
    let mut all = fs::read(folder.join(bundle)).unwrap();
    let unpacked = Command::new("unzip")
        .args(["-p", bundle])
        .current_dir(folder)
        .output();
    if let Ok(unpacked) = unpacked {
        all.extend(unpacked.stdout);
    }
    all
}

fn holds(all: &[u8], words: &str) -> bool {
    all.windows(words.len()).any(|w| w == words.as_bytes())
}

/// Trace, span, parent and service of every span of a bundle.
fn spans_of(folder: &Path, bundle: &str) -> BTreeSet<String> {
    let options = intake::Options::default();
    let read = intake::read(&[folder.join(bundle)], &options, &mut std::io::empty());
    let document = Document::new(read, Asked::default());
    document
        .snapshot
        .spans
        .iter()
        .map(|s| {
            let parent = s.parent_id.map_or_else(String::new, |p| p.to_string());
            format!("{} {} {parent} {}", s.trace_id, s.span_id, s.service)
        })
        .collect()
}

fn now_secs() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

/// A report without the hashes of the lists of traces, which hold tokens or times of their own pull.
fn without_bytes_of_lists(output: &Output) -> String {
    let mut text = String::from_utf8(output.stdout.clone()).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    for input in report["inputs"].as_array().unwrap() {
        if input["path"].as_str().unwrap().contains("/TraceSummaries") {
            for key in ["id", "sha256"] {
                text = text.replace(input[key].as_str().unwrap(), "of-its-pull");
            }
        }
    }
    text
}

#[test]
fn moto_takes_our_signature_and_its_traces_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Two users with two calls each, one policy, one call of documents.
    let Some((server, port)) = moto(6) else {
        return;
    };
    let reader = user(port, "reader");
    let policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22xray%3A%2A%22%2C%22Resource%22%3A%22%2A%22%7D%5D%7D";
    iam(
        port,
        &format!("Action=PutUserPolicy&UserName=reader&PolicyName=p&PolicyDocument={policy}"),
    );
    let nobody = user(port, "nobody");
    let start = now_secs() - 60;
    let all: Vec<String> = (0..7).flat_map(|n| documents(start, n)).collect();
    let put = serde_json::json!({"TraceSegmentDocuments": all}).to_string();
    let answer = post(port, "xray", "/TraceSegments", "application/json", &put).unwrap();
    assert!(
        answer.contains(r#""UnprocessedTraceSegments": []"#),
        "{answer}"
    );
    sources(folder, port, "");
    let reader = [reader[0].as_str(), reader[1].as_str()];
    let nobody = [nobody[0].as_str(), nobody[1].as_str()];

    let doctor = tailscope(folder, reader, &["doctor"]);
    assert_eq!(doctor.status.code(), Some(0), "{}", words(&doctor));
    for line in [
        "reached        ok",
        "authenticated  ok     it takes our signature for eu-central-1",
        "clock          ok",
        "may read       ok     GetTraceSummaries, BatchGetTraces, GetServiceGraph; not there: GetTraceSegmentDestination",
    ] {
        assert!(words(&doctor).contains(line), "{}", words(&doctor));
    }
    let forged = tailscope(folder, [reader[0], SECRET], &["doctor"]);
    assert_eq!(forged.status.code(), Some(3), "{}", words(&forged));
    assert!(
        words(&forged).contains("SignatureDoesNotMatch"),
        "{}",
        words(&forged)
    );
    assert!(!words(&forged).contains(SECRET));
    let denied = tailscope(folder, nobody, &["doctor"]);
    assert_eq!(denied.status.code(), Some(3), "{}", words(&denied));
    assert!(
        words(&denied).contains("allow xray:GetTraceSummaries, xray:BatchGetTraces"),
        "{}",
        words(&denied)
    );

    let (from, to) = ((start - 30).to_string(), (start + 30).to_string());
    let window = ["--from", &from, "--to", &to];
    let record = [&["record", "-o", "n.tailscope"], window.as_slice()].concat();
    let recorded = tailscope(folder, reader, &record);
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let live = [
        &["analyze", "--sources", "tailscope.toml", "--format", "json"],
        window.as_slice(),
    ]
    .concat();
    let live = tailscope(folder, reader, &live);
    assert_eq!(live.status.code(), Some(0), "{}", words(&live));

    let refused = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
    let refused = tailscope(folder, nobody, &refused);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    assert!(
        words(&refused).contains("`xray:GetTraceSummaries`"),
        "{}",
        words(&refused)
    );
    assert!(!folder.join("x.tailscope").exists());

    // Without the server.
    drop(server);
    let of_bundle = ["analyze", "n.tailscope", "--format", "json", "--offline"];
    let of_bundle = tailscope(folder, ["", ""], &of_bundle);
    assert_eq!(of_bundle.status.code(), Some(0), "{}", words(&of_bundle));
    // moto puts the present into each list of traces.
    assert_eq!(
        without_bytes_of_lists(&of_bundle),
        without_bytes_of_lists(&live)
    );
    let mut expected = BTreeSet::new();
    for n in 0..7 {
        let trace = trace_id(start, n);
        let id = |kind: usize| format!("{:016x}", kind + n);
        expected.insert(format!("{trace} {}  edge", id(0xa0)));
        expected.insert(format!("{trace} {} {} edge", id(0xb0), id(0xa0)));
        expected.insert(format!("{trace} {} {} checkout", id(0xc0), id(0xb0)));
    }
    assert_eq!(spans_of(folder, "n.tailscope"), expected);
    let all = bytes_of(folder, "n.tailscope");
    for secret in reader {
        assert!(!holds(&all, secret), "a key stands in the bundle");
    }
}

/// What a server of ours does with one request: path, body, how often it was asked before → the bytes of the answer.
type Act = Arc<dyn Fn(&str, &str, usize) -> Vec<u8> + Send + Sync>;

/// A server of our own; it ends with the process. Every request's head and body is remembered.
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
    let body = String::from_utf8_lossy(&body).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let number = {
        let mut log = log.lock().unwrap();
        log.push(format!("{head}\n{body}"));
        log.iter()
            .filter(|l| l.contains(&format!(" {path} HTTP")))
            .count()
    };
    drop(to.write_all(&act(&path, &body, number)));
    drop(to.shutdown(std::net::Shutdown::Both));
}

fn answer(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn good(body: &str) -> Vec<u8> {
    answer("200 OK", "", body)
}

const START: u64 = 1_796_046_000;
const WINDOW: [&str; 4] = ["--from", "1796045990", "--to", "1796046050"];

/// The traces that were asked for, as `BatchGetTraces` gives them.
fn batch(body: &str) -> String {
    let asked: serde_json::Value = serde_json::from_str(body).unwrap();
    let traces: Vec<_> = (0..9)
        .filter(|n| body.contains(&trace_id(START, *n)))
        .map(|n| {
            let segments =
                documents(START, n).map(|d| serde_json::json!({"Id": "x", "Document": d}));
            serde_json::json!({"Id": trace_id(START, n), "Segments": segments})
        })
        .collect();
    assert_eq!(traces.len(), asked["TraceIds"].as_array().unwrap().len());
    serde_json::json!({"Traces": traces, "UnprocessedTraceIds": []}).to_string()
}

fn rows(numbers: std::ops::Range<usize>, token: Option<&str>) -> String {
    let rows: Vec<_> = numbers
        .map(
            |n| serde_json::json!({"Id": trace_id(START, n), "StartTime": START, "Duration": 1.35}),
        )
        .collect();
    serde_json::json!({"TraceSummaries": rows, "NextToken": token}).to_string()
}

/// A service that has nine traces on two pages, and never gives the same token twice.
fn service() -> Act {
    let tokens = Mutex::new(0);
    Arc::new(move |path, body, _| match path {
        "/GetTraceSegmentDestination" => good(r#"{"Destination":"XRay","Status":"ACTIVE"}"#),
        "/TraceSummaries" if body.contains("NextToken") => good(&rows(4..9, None)),
        "/TraceSummaries" => {
            let mut tokens = tokens.lock().unwrap();
            *tokens += 1;
            good(&rows(0..4, Some(&format!("token-number-{tokens}"))))
        }
        "/Traces" => good(&batch(body)),
        "/TimeSeriesServiceStatistics" => good(
            r#"{"TimeSeriesServiceStatistics":[{"Timestamp":1796046000,"EdgeSummaryStatistics":{"TotalCount":9,"TotalResponseTime":9.0},"ResponseTimeHistogram":[{"Value":1.0,"Count":9}]}]}"#,
        ),
        "/ServiceGraph" => good(
            r#"{"Services":[{"ReferenceId":1,"Name":"edge","Edges":[{"ReferenceId":2,"SummaryStatistics":{"TotalCount":9}}]},{"ReferenceId":2,"Name":"checkout"}]}"#,
        ),
        _ => good("{}"),
    })
}

fn record(folder: &Path) -> Output {
    let arguments = [&["record", "-v", "-o", "n.tailscope"], WINDOW.as_slice()].concat();
    tailscope(folder, ["AKIDEXAMPLE", SECRET], &arguments)
}

#[test]
fn tokens_differ_from_pull_to_pull_and_the_reports_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(service());
    sources(folder, port, "");
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_tailscope"))
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("AWS_SESSION_TOKEN", TOKEN)
            .output()
            .unwrap()
    };
    let recorded = run(&[&["record", "-o", "n.tailscope"], WINDOW.as_slice()].concat());
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let live = run(&[
        &["analyze", "--sources", "tailscope.toml", "--format", "json"],
        WINDOW.as_slice(),
    ]
    .concat());
    assert_eq!(live.status.code(), Some(0), "{}", words(&live));
    let of_bundle = run(&["analyze", "n.tailscope", "--format", "json", "--offline"]);
    // The body of the page itself holds the token; names and everything that follows from the pages do not.
    assert_eq!(
        without_bytes_of_lists(&of_bundle),
        without_bytes_of_lists(&live)
    );
    let report: serde_json::Value = serde_json::from_slice(&live.stdout).unwrap();
    let paths = report["inputs"].to_string();
    assert!(
        paths.contains("page 2") && !paths.contains("token-number"),
        "{paths}"
    );
    assert_eq!(spans_of(folder, "n.tailscope").len(), 27);

    let seen = seen.lock().unwrap().concat();
    assert!(seen.contains(r#""NextToken":"token-number-1""#));
    assert!(
        seen.to_lowercase()
            .contains(&format!("x-amz-security-token: {TOKEN}"))
    );
    assert!(seen.contains("/eu-central-1/xray/aws4_request"));
    let all = bytes_of(folder, "n.tailscope");
    for secret in [SECRET, TOKEN, "AKIDEXAMPLE"] {
        assert!(!holds(&all, secret), "{secret} stands in the bundle");
    }
}

#[test]
fn credentials_that_have_expired_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(|_, _, _| {
        let headers = "x-amzn-ErrorType: ExpiredTokenException:\r\n";
        let body = r#"{"message":"The security token included in the request is expired"}"#;
        answer("403 Forbidden", headers, body)
    }));
    sources(folder, port, "");
    let refused = record(folder);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    assert!(words(&refused).contains("ExpiredTokenException: The security token"));
    assert_eq!(seen.lock().unwrap().len(), 1, "nothing else is asked");
    let doctor = tailscope(folder, ["AKIDEXAMPLE", SECRET], &["doctor"]);
    assert!(
        words(&doctor).contains("aws sso login"),
        "{}",
        words(&doctor)
    );

    let none = tailscope(folder, ["", ""], &["doctor"]);
    assert_eq!(none.status.code(), Some(3), "{}", words(&none));
    assert!(
        words(&none).contains("the AWS chain gives no credentials"),
        "{}",
        words(&none)
    );
}

#[test]
fn whoever_is_throttled_waits_and_what_is_cut_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let usual = service();
    let (port, seen) = server(Arc::new(move |path, body, number| match path {
        "/TraceSummaries" if number < 3 => answer(
            "429 Too Many Requests",
            "Retry-After: 0\r\nx-amzn-ErrorType: ThrottledException\r\n",
            r#"{"message":"Rate exceeded"}"#,
        ),
        "/Traces" if body.contains(&trace_id(START, 0)) => {
            let whole = good(&batch(body));
            whole[..whole.len() - 200].to_vec()
        }
        _ => usual(path, body, number),
    }));
    sources(folder, port, "limits.retries = 2");
    let recorded = record(folder);
    assert_eq!(recorded.status.code(), Some(5), "{}", words(&recorded));
    let said = words(&recorded);
    assert!(said.contains("5 traces (1-6b0d7cb0-"), "{said}");
    assert!(said.contains("the answer broke off"), "{said}");
    assert!(!said.contains("Rate exceeded"), "{said}");
    // The other batch is whole, and of the cut one what came before the cut is there, too.
    let spans = spans_of(folder, "n.tailscope");
    assert!(spans.len() > 12 && spans.len() < 27, "{}", spans.len());
    let seen = seen.lock().unwrap();
    let count = |path: &str| {
        seen.iter()
            .filter(|s| s.contains(&format!("POST {path} ")))
            .count()
    };
    assert_eq!(count("/TraceSummaries"), 4, "twice refused, two pages");
    assert_eq!(
        count("/Traces"),
        4,
        "thrice the one that breaks, once the other"
    );
}

#[test]
fn traces_in_cloudwatch_logs_are_retrieved() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let usual = service();
    let (port, _) = server(Arc::new(move |path, body, number| match path {
        "/GetTraceSegmentDestination" => {
            good(r#"{"Destination":"CloudWatchLogs","Status":"ACTIVE"}"#)
        }
        "/TraceSummaries" => good(&rows(0..9, None)),
        "/StartTraceRetrieval" => good(&format!(r#"{{"RetrievalToken":"retrieval-{number}"}}"#)),
        "/ListRetrievedTraces" if number < 2 => good(r#"{"RetrievalStatus":"RUNNING"}"#),
        "/ListRetrievedTraces" => {
            let ids: Vec<String> = (0..9).map(|n| trace_id(START, n)).collect();
            let came = batch(&serde_json::json!({"TraceIds": ids}).to_string());
            good(&came.replace("\"Segments\"", "\"Spans\"").replacen(
                '{',
                r#"{"RetrievalStatus":"COMPLETE","TraceFormat":"XRAY","#,
                1,
            ))
        }
        _ => usual(path, body, number),
    }));
    sources(folder, port, "");
    let recorded = record(folder);
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    assert!(
        words(&recorded).contains("Transaction Search"),
        "{}",
        words(&recorded)
    );
    assert_eq!(spans_of(folder, "n.tailscope").len(), 27);

    // Another token, another number of polls: the same bytes.
    let keys = ["AKIDEXAMPLE", SECRET];
    let live = [
        &["analyze", "--sources", "tailscope.toml", "--format", "json"],
        WINDOW.as_slice(),
    ]
    .concat();
    let live = tailscope(folder, keys, &live);
    let of_bundle = ["analyze", "n.tailscope", "--format", "json", "--offline"];
    let of_bundle = tailscope(folder, keys, &of_bundle);
    assert_eq!(live.status.code(), Some(0), "{}", words(&live));
    assert!(of_bundle.stdout == live.stdout, "live and recorded differ");
}

/// The command that gives the keys runs once, not for each request; `profile` chooses it.
#[test]
#[cfg(unix)]
fn a_profile_whose_keys_come_from_a_command_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join(".aws")).unwrap();
    let script = format!(
        "echo called >> {}/calls\necho '{{\"Version\":1,\"AccessKeyId\":\"AKIDPROCESS\",\"SecretAccessKey\":\"{SECRET}\",\"SessionToken\":\"{TOKEN}\"}}'\n",
        folder.display()
    );
    fs::write(folder.join("keys.sh"), script).unwrap();
    let config = format!(
        "[profile incident]\ncredential_process = sh {}/keys.sh\n",
        folder.display()
    );
    fs::write(folder.join(".aws/config"), config).unwrap();
    let (port, seen) = server(service());
    sources(folder, port, "profile = \"incident\"");
    let recorded = record(folder);
    assert_eq!(recorded.status.code(), Some(0), "{}", words(&recorded));
    let seen = seen.lock().unwrap();
    assert!(seen.len() > 5);
    assert!(
        seen.iter()
            .all(|request| request.contains("Credential=AKIDPROCESS/"))
    );
    let calls = fs::read_to_string(folder.join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "{calls}");
    let all = bytes_of(folder, "n.tailscope");
    assert!(!holds(&all, SECRET) && !holds(&all, TOKEN));
}
