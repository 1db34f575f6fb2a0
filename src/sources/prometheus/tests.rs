use std::collections::BTreeMap;

use super::*;
use crate::base::percent::decode;
use crate::base::time::Timestamp;
use crate::sources::{Body, Check, Failure, FailureKind, Outcome, Reply, Step};

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(7_200_000_000_000))
}

fn source(own: serde_json::Value) -> SourceSettings {
    let serde_json::Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        name: "prod".to_owned(),
        kind: "prometheus".to_owned(),
        url: Some("http://h:9090".to_owned()),
        own,
        ..SourceSettings::default()
    }
}

/// A server that knows a few answers, and what it was asked.
struct Server {
    answers: BTreeMap<&'static str, (u16, String)>,
    asked: Vec<String>,
    /// Whether it answers remote read.
    reads: bool,
    /// Whether it answers that without any series.
    is_empty: bool,
}

impl Server {
    fn new() -> Self {
        let names = r#"{"status":"success","data":["up","scrape_duration_seconds","node_netstat_TcpExt_TCPSynRetrans","irrelevant","shop_orders"]}"#;
        let counts = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1,"3"]},{"metric":{"__name__":"shop_orders"},"value":[1,"40000"]}]}}"#;
        let good = |text: &str| (200, text.to_owned());
        Self {
            answers: [
                ("/api/v1/status/buildinfo", good(r#"{"status":"success","data":{"version":"2.42.0","revision":"x","goVersion":"go1.19"}}"#)),
                ("/api/v1/targets", good(r#"{"status":"success","data":{"activeTargets":[{"scrapeInterval":"30s"},{"scrapeInterval":"1m"}]}}"#)),
                ("/api/v1/label/__name__/values", good(names)),
                ("count", good(counts)),
                ("/api/v1/query_exemplars", (404, "404 page not found".to_owned())),
            ]
            .into(),
            asked: Vec::new(),
            reads: false,
            is_empty: false,
        }
    }

    fn with(mut self, key: &'static str, status: u16, body: &str) -> Self {
        self.answers.insert(key, (status, body.to_owned()));
        self
    }

    fn answer(&self, line: &str) -> (u16, String) {
        let found = self
            .answers
            .iter()
            .filter(|(key, _)| line.contains(**key))
            .max_by_key(|(key, _)| key.len());
        found.map_or_else(
            || (200, r#"{"status":"success","data":[]}"#.to_owned()),
            |(_, answer)| answer.clone(),
        )
    }

    /// Runs a machine to its end; `backwards` answers what is in flight in the other order.
    fn run(&mut self, pull: &mut dyn Pull, backwards: bool) {
        let mut flying = Vec::new();
        loop {
            match pull.next() {
                Step::Fetch(ticket, request) => {
                    let body = match &request.body {
                        Body::Form(form) => format!(" {form}"),
                        _ => String::new(),
                    };
                    let line = decode(&format!("{}{body}", request.path));
                    self.asked.push(line.clone());
                    flying.push((ticket, line));
                }
                Step::Wait => {
                    let at = if backwards { flying.len() - 1 } else { 0 };
                    let (ticket, line) = flying.remove(at);
                    let (status, body) = self.answer(&line);
                    let is_read = self.reads && line.starts_with("/api/v1/read");
                    let kind = (
                        "content-type".to_owned(),
                        "application/x-protobuf".to_owned(),
                    );
                    let reply = Reply {
                        status,
                        headers: if is_read { vec![kind] } else { Vec::new() },
                        body: match (is_read, self.is_empty) {
                            (true, true) => vec![0],
                            (true, false) => read_answer(),
                            (false, _) => body.into_bytes(),
                        },
                        is_cut: false,
                    };
                    pull.feed(ticket, &Outcome::Answered(&reply));
                }
                Step::Done => return,
            }
        }
    }

    fn asked_for(&self, words: &str) -> Vec<&String> {
        self.asked.iter().filter(|a| a.contains(words)).collect()
    }
}

/// A remote-read answer with one sample of `up`.
fn read_answer() -> Vec<u8> {
    let message =
        b"\x0a\x1a\x0a\x18\x0a\x0e\x0a\x08__name__\x12\x02up\x12\x06\x10\x80\x80\x80\x80\x01";
    snap::raw::Encoder::new().compress_vec(message).unwrap()
}

/// What falls short.
fn lost(pull: &mut dyn Pull) -> Vec<String> {
    let warnings = pull.warnings();
    let lossy = warnings.into_iter().filter(|w| w.lossy);
    lossy.map(|w| w.text).collect()
}

/// What is worth knowing, under that code.
fn note(warnings: &[crate::base::reporter::Warning], code: &str) -> String {
    let of_code = warnings.iter().filter(|w| w.code == code && !w.lossy);
    of_code.map(|w| w.text.as_str()).collect()
}

#[test]
fn it_finds_what_there_is_and_pulls_that_raw() {
    let settings = source(serde_json::json!({
        "metrics": ["shop_*"], "matchers": "namespace=\"shop\"", "queries": ["sum(rate(x[1m]))"],
    }));
    let mut asked = Vec::new();
    for backwards in [false, true] {
        let mut server = Server::new();
        let mut pull = Prometheus.plan(&settings, window()).unwrap();
        server.run(&mut *pull, backwards);
        assert_eq!(lost(&mut *pull), Vec::<String>::new());
        let progress = pull.progress();
        assert_eq!(progress.answered, progress.expected);
        assert_eq!(server.asked_for("irrelevant"), Vec::<&String>::new());
        // 40,000 series x 2 h at 30 s are split in time; the rest is one question.
        let raw = server.asked_for("ms]");
        assert_eq!(raw.len(), 11, "{raw:#?}");
        assert!(raw.iter().any(|a| a.contains(
            r#"{__name__=~"scrape_duration_seconds|up|node_netstat_TcpExt_TCPSynRetrans",namespace="shop"}[7200000ms]"#
        )), "{raw:#?}");
        assert!(server.asked_for("query_range")[0].contains("step=30"));
        server.asked.sort();
        asked.push(server.asked);
    }
    assert_eq!(
        asked[0], asked[1],
        "the order of answers changes no question"
    );
}

#[test]
fn a_question_that_is_too_much_is_halved_until_it_is_not() {
    let mut server = Server::new();
    server.answers.insert(
        r#"=~"scrape_duration_seconds|up|node"#,
        (422, r#"{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory in query execution"}"#.to_owned()),
    );
    let mut pull = Prometheus
        .plan(&source(serde_json::json!({})), window())
        .unwrap();
    server.run(&mut *pull, false);
    assert_eq!(lost(&mut *pull), Vec::<String>::new());
    let halves = server.asked_for("[7200000ms]");
    assert_eq!(halves.len(), 3, "{halves:#?}");
}

#[test]
fn what_goes_over_the_cap_is_left_out_and_named() {
    let settings = source(serde_json::json!({"metrics": ["shop_*"], "max_samples": 100_000}));
    let mut server = Server::new();
    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    server.run(&mut *pull, false);
    let announced = pull.announced().unwrap();
    assert!(
        announced.starts_with("about ") && announced.contains("raise `max_samples`"),
        "{announced}"
    );
    let lost = lost(&mut *pull);
    assert!(
        lost.len() == 1 && lost[0].contains("shop_orders (40,000 series)"),
        "{lost:?}"
    );
    assert_eq!(server.asked_for("shop_orders\"}[").len(), 0);
}

#[test]
fn victoria_is_asked_by_export_and_for_unshifted_times() {
    let mut server = Server::new();
    server.answers.insert(
        "/api/v1/status/buildinfo",
        (200, r#"{"status":"success","data":{}}"#.to_owned()),
    );
    let settings = source(serde_json::json!({"queries": ["sum(up)"]}));
    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("/api/v1/export?match[]=").len(), 1);
    assert!(server.asked_for("query_range")[0].contains("nocache=1&latency_offset=1ms"));
}

#[test]
fn whoever_is_not_let_in_is_told_once() {
    for (status, words) in [(401, "HTTP 401"), (403, "HTTP 403")] {
        let mut server = Server::new().with("/api/v1", status, "<html>login</html>");
        server.answers.remove("/api/v1/status/buildinfo");
        server.answers.remove("/api/v1/label/__name__/values");
        server.answers.remove("/api/v1/targets");
        let mut pull = Prometheus
            .plan(&source(serde_json::json!({})), window())
            .unwrap();
        server.run(&mut *pull, false);
        let lost = lost(&mut *pull);
        assert!(lost.len() == 1 && lost[0].contains(words), "{lost:?}");
        // Who is known and refused may be refused its status alone.
        assert_eq!(server.asked.len() == 1, status == 401);
    }
}

#[test]
fn a_proxy_that_guards_the_status_alone_is_pulled_from() {
    let mut server = Server::new().with("/api/v1/status/", 403, "Forbidden\n");
    server.answers.remove("/api/v1/status/buildinfo");
    let own = serde_json::json!({"remote_read": false});
    let mut pull = Prometheus.plan(&source(own), window()).unwrap();
    server.run(&mut *pull, false);
    assert_eq!(lost(&mut *pull), Vec::<String>::new());
    assert_eq!(server.asked_for("ms]").len(), 1);
    assert!(server.asked_for("/api/v1/stores").is_empty());
}

#[test]
fn a_partial_answer_of_thanos_is_lossy() {
    let partial = r#"{"status":"success","data":{"resultType":"matrix","result":[]},"warnings":["fetch series for {} from store 10.0.0.1: timeout"]}"#;
    let server = || Server::new().with("[7200000ms]", 200, partial);
    for own in [
        serde_json::json!({"flavor": "thanos"}),
        serde_json::json!({}),
    ] {
        let mut server = server().with(
            "/api/v1/stores",
            200,
            r#"{"status":"success","data":{"sidecar":[]}}"#,
        );
        let is_named = own != serde_json::json!({});
        let mut pull = Prometheus.plan(&source(own), window()).unwrap();
        server.run(&mut *pull, false);
        assert_eq!(server.asked_for("/api/v1/stores").is_empty(), is_named);
        assert!(server.asked_for("[7200000ms]")[0].contains("dedup=false"));
        assert!(server.asked_for("/api/v1/read").is_empty());
        let lost = lost(&mut *pull);
        assert!(lost[0].contains("10.0.0.1"), "{lost:?}");
    }
}

#[test]
fn a_store_that_refuses_by_its_own_limit_is_asked_for_less() {
    let limit = r#"{"status":"success","data":{"resultType":"matrix","result":[]},"warnings":["receive series from Addr: 10.0.0.1: rpc error: code = ResourceExhausted desc = exceeded series limit: limit 10 violated (got 11)"]}"#;
    let mut server = Server::new().with(r#"=~"scrape_duration_seconds|up|node"#, 200, limit);
    let settings = source(serde_json::json!({"flavor": "thanos"}));
    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("[7200000ms]").len(), 3);
    assert_eq!(lost(&mut *pull).len(), 1, "the store's words are told");
}

#[test]
fn a_window_that_is_too_long_is_halved_in_time_and_so_is_a_query() {
    let long = r#"{"status":"error","errorType":"bad_data","error":"the total query time range exceeds the limit (query length: 2h0m0s, limit: 1h0m0s) (err-mimir-max-total-query-length)"}"#;
    let mut server = Server::new().with("[7200000ms]", 422, long).with(
        "query=sum(up)&start=1785542400&end=1785549600",
        422,
        long,
    );
    let own = serde_json::json!({"flavor": "mimir", "remote_read": false, "queries": ["sum(up)"], "step": "15s"});
    let mut pull = Prometheus.plan(&source(own), window()).unwrap();
    server.run(&mut *pull, false);
    assert_eq!(lost(&mut *pull), Vec::<String>::new());
    assert_eq!(server.asked_for("[7200000ms]").len(), 1);
    let halves = server.asked_for("[3600000ms]");
    assert_eq!(halves.len(), 2, "{halves:?}");
    assert!(halves.iter().all(|half| half.contains("up|")), "{halves:?}");
    let own = server.asked_for("query_range");
    assert_eq!(own.len(), 3, "{own:#?}");
    assert!(
        own[2].contains("start=1785546015&end=1785549600"),
        "{own:#?}"
    );
}

#[test]
fn raw_samples_come_by_remote_read_where_it_is_offered() {
    // Whoever answers with JSON does not offer it: asked once, and everything by range selectors.
    let settings = source(serde_json::json!({"metrics": ["shop_*"]}));
    let mut server = Server::new();
    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("/api/v1/read").len(), 1);
    assert_eq!(server.asked_for("ms]").len(), 11);
    let said = note(&pull.warnings(), "raw_samples");
    assert!(
        said.contains("range selectors") && said.contains("no protobuf"),
        "{said}"
    );

    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    let mut server = Server::new();
    server.reads = true;
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("/api/v1/read").len(), 11);
    assert_eq!(server.asked_for("ms]"), Vec::<&String>::new());
    let said = note(&pull.warnings(), "raw_samples");
    assert!(said.contains("by remote read, with staleness"), "{said}");

    // An answer without any series, of metrics that were counted, is not believed.
    let mut pull = Prometheus.plan(&settings, window()).unwrap();
    server.asked.clear();
    server.is_empty = true;
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("/api/v1/read").len(), 1);
    assert_eq!(server.asked_for("ms]").len(), 11);

    let own = serde_json::json!({"metrics": ["shop_*"], "remote_read": false});
    let mut pull = Prometheus.plan(&source(own), window()).unwrap();
    server.asked.clear();
    server.run(&mut *pull, false);
    assert_eq!(server.asked_for("/api/v1/read").len(), 0);
}

#[test]
fn whoever_wants_a_tenant_says_so_and_the_advice_is_to_name_one() {
    let mut server = Server::new().with("/api/v1", 401, "no org id\n");
    server.answers.remove("/api/v1/status/buildinfo");
    let mut pull = Prometheus
        .plan(&source(serde_json::json!({})), window())
        .unwrap();
    server.run(&mut *pull, false);
    let lost = lost(&mut *pull);
    assert!(
        lost.len() == 1 && lost[0].starts_with("HTTP 401: no org id; set `tenant`"),
        "{lost:?}"
    );
    assert_eq!(server.asked.len(), 1);
}

#[test]
fn settings_are_checked() {
    let wrong = |own| {
        Prometheus
            .plan(&source(own), window())
            .err()
            .unwrap()
            .to_string()
    };
    assert!(wrong(serde_json::json!({"tennant": "x"})).contains("tennant"));
    assert!(wrong(serde_json::json!({"matchers": "{a=\"b\"}"})).contains("without braces"));
    assert!(wrong(serde_json::json!({"step": "soon"})).contains("sources.prod.step"));
}

#[test]
fn doctor_tells_apart_who_does_not_know_us_and_who_has_no_such_api() {
    let look = |status: u16, body: &str| {
        let mut server = Server::new();
        server
            .answers
            .insert("/api/v1/query", (status, body.to_owned()));
        let mut checkup = Prometheus.examine(&source(serde_json::json!({}))).unwrap();
        server.run(&mut *checkup, false);
        checkup.checks()
    };
    let good = look(
        200,
        r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"7"]}]}}"#,
    );
    assert_eq!(good[0].0, Check::Authenticated);
    assert!(
        good.iter()
            .any(|(c, v)| *c == Check::MayRead && v.text.contains("7 targets"))
    );
    assert!(
        good.iter()
            .any(|(c, v)| *c == Check::Version
                && v.text == "Prometheus 2.42.0, told by its buildinfo")
    );
    let unknown = look(401, "");
    assert!(
        unknown[0]
            .1
            .advice
            .as_deref()
            .unwrap()
            .contains("basic_auth")
    );
    let elsewhere = look(404, "<html>");
    assert!(
        elsewhere[0]
            .1
            .advice
            .as_deref()
            .unwrap()
            .contains("path of `url`")
    );
}

#[test]
fn a_server_that_cannot_be_reached_is_told_once() {
    let mut pull = Prometheus
        .plan(&source(serde_json::json!({})), window())
        .unwrap();
    let failure = Failure {
        kind: FailureKind::Unreachable,
        text: "nobody listens at h:9090".to_owned(),
        advice: "start it".to_owned(),
    };
    let Step::Fetch(ticket, _) = pull.next() else {
        panic!();
    };
    pull.feed(ticket, &Outcome::Failed(&failure));
    assert_eq!(pull.next(), Step::Done);
    assert_eq!(pull.warnings()[0].text, "nobody listens at h:9090");
}
