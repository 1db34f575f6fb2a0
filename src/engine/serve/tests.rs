use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::http::is_good_host;
use super::reply::{duration_ms, float, plain, seconds, time_ms};
use super::*;
use crate::base::time::Timestamp;
use crate::model::batch::Batch;
use crate::model::exchange::{Answer, Exchange, Question};
use crate::model::input::{Counts, Input};
use crate::model::labels::Labels;
use crate::model::prometheus::{MetricMeta, ServerFact};
use crate::model::series::{Exemplar, MetricKind, Sampling, Series};
use crate::session::analysis::Asked as Window;
use crate::session::bundle::Recording;
use crate::session::intake::Intake;

const T: i64 = 1_785_542_400;

fn at(secs: i64) -> Timestamp {
    Timestamp::from_nanos(secs * 1_000_000_000)
}

fn exchange(source: &str, kind: &str, question: Question, body: &[u8]) -> Exchange {
    Exchange {
        source: source.to_owned(),
        kind: kind.to_owned(),
        question,
        answer: Answer {
            status: 200,
            headers: vec![(
                "content-type".to_owned(),
                "application/x-amz-json-1.1".to_owned(),
            )],
            body: Arc::from(body),
            cut: None,
        },
        at: at(T),
        took_ms: 1,
    }
}

fn question(method: &str, path: &str, body: Option<&str>) -> Question {
    Question {
        method: method.to_owned(),
        path: path.to_owned(),
        content_type: body.map(|_| "application/json".to_owned()),
        body: body.map(str::to_owned),
        again: 0,
    }
}

fn served(exchanges: Vec<Exchange>, is_partial: bool) -> Served {
    let mut series = Series::new(Arc::from("up"), Labels::of(&[("job", "a")]), Sampling::Raw);
    series.t = vec![T * 1_000_000_000, (T + 15) * 1_000_000_000 + 250_000_000];
    series.v = vec![1.0, f64::INFINITY];
    series.exemplars = vec![Exemplar {
        t: at(T + 1),
        value: 0.25,
        labels: Labels::of(&[("trace_id", "abc")]),
    }];
    let mut other = Series::new(
        Arc::from("down"),
        Labels::of(&[("a.b", "<x>")]),
        Sampling::Raw,
    );
    other.t = vec![T * 1_000_000_000];
    other.v = vec![1e-7];
    let batch = Batch {
        series: vec![series, other],
        metadata: vec![MetricMeta {
            family: Arc::from("up"),
            kind: MetricKind::Gauge,
            help: Arc::from("Whether"),
            unit: Arc::from(""),
        }],
        facts: vec![ServerFact {
            input: Default::default(),
            name: Arc::from("flags.query.timeout"),
            value: Arc::from("2m"),
        }],
        ..Batch::default()
    };
    let extent = batch.extent();
    let input = Input {
        id: "in".to_owned(),
        path: "a.json".to_owned(),
        format: "prometheus-api".to_owned(),
        sha256: String::new(),
        counts: Counts::default(),
        start: extent.map(|e| e.start),
        end: extent.map(|e| e.end),
        warnings: Vec::new(),
    };
    let intake = Intake {
        parts: vec![(input, batch)],
        is_partial,
        ..Intake::default()
    };
    let bundle = Bundle {
        recording: Recording::new(at(T), at(T + 60), Vec::new()),
        endings: Vec::new(),
        exchanges,
        inputs: Vec::new(),
        notes: None,
        is_finished: true,
        damage: Vec::new(),
    };
    Served::new(Document::new(intake, Window::default()), vec![bundle])
}

fn get(served: &Served, target: &str) -> (u16, Json) {
    let reply = served.answer(&Asked {
        method: "GET".to_owned(),
        target: target.to_owned(),
        ..Asked::default()
    });
    let body = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    (reply.status, body)
}

fn post(served: &Served, target: &str, kind: &str, body: &str) -> Reply {
    served.answer(&Asked {
        method: "POST".to_owned(),
        target: target.to_owned(),
        body: body.as_bytes().to_vec(),
        content_type: Some(kind.to_owned()),
        takes_gzip: false,
    })
}

#[test]
fn numbers_and_times_are_written_as_the_server_does() {
    for (value, in_vector, in_scalar) in [
        (1.0, "1", "1"),
        (-0.0, "-0", "-0"),
        (1e-7, "1e-07", "0.0000001"),
        (1e-6, "0.000001", "0.000001"),
        (1e20, "100000000000000000000", "100000000000000000000"),
        (1e21, "1e+21", "1000000000000000000000"),
        (-2.5e-300, "-2.5e-300", plain(-2.5e-300).as_str()),
        (f64::INFINITY, "+Inf", "+Inf"),
        (f64::NEG_INFINITY, "-Inf", "-Inf"),
        (f64::NAN, "NaN", "NaN"),
        (0.1 + 0.2, "0.30000000000000004", "0.30000000000000004"),
    ] {
        assert_eq!(
            (float(value).as_str(), plain(value).as_str()),
            (in_vector, in_scalar)
        );
    }
    for (ms, want) in [
        (0, "0"),
        (1_500, "1.500"),
        (-1, "-0.001"),
        (2_000, "2"),
        (10, "0.010"),
    ] {
        let mut text = String::new();
        seconds(&mut text, ms);
        assert_eq!(text, want);
    }
    assert_eq!(time_ms("1785542400.2505"), Some(1_785_542_400_251));
    assert_eq!(time_ms("2026-08-01T00:00:00.25Z"), Some(1_785_542_400_250));
    for bad in ["", "yesterday", "NaN", "9999999999999", "inf"] {
        assert_eq!(time_ms(bad), None, "{bad}");
    }
    assert_eq!(duration_ms("2.5"), Some(2_500));
    assert_eq!(duration_ms("1m30s"), Some(90_000));
    assert_eq!(duration_ms("x"), None);
}

#[test]
fn queries_are_answered_in_the_form_of_the_server() {
    let served = served(Vec::new(), false);
    let (status, body) = get(&served, &format!("/api/v1/query?query=up&time={}", T + 1));
    assert_eq!(status, 200);
    assert_eq!(
        body,
        json!({"status": "success", "data": {"resultType": "vector", "result": [
            {"metric": {"__name__": "up", "job": "a"}, "value": [T + 1, "1"]}
        ]}})
    );
    let range = format!(
        "/api/v1/query_range?query=up&start={}&end={}&step=15.5",
        T - 16,
        T + 31
    );
    let (_, body) = get(&served, &range);
    assert_eq!(
        body["data"]["result"][0]["values"],
        json!([[T + 15, "1"], [T as f64 + 30.5, "+Inf"]])
    );
    let (_, body) = get(
        &served,
        &format!("/api/v1/query?query=up[1m]&time={}", T + 30),
    );
    assert_eq!(body["data"]["resultType"], "matrix");
    assert_eq!(
        body["data"]["result"][0]["values"],
        json!([[T, "1"], [T as f64 + 15.25, "+Inf"]])
    );
    // A form, and a field of the address beside it.
    let form = "application/x-www-form-urlencoded";
    let reply = post(
        &served,
        &format!("/api/v1/query?time={T}"),
        form,
        "query=down",
    );
    let body: Json = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(body["data"]["result"][0]["value"], json!([T, "1e-07"]));
    // JSON is no form.
    let reply = post(
        &served,
        "/api/v1/query",
        "application/json",
        "{\"query\":\"up\"}",
    );
    assert_eq!(reply.status, 400);
    // Without a time: the end of the recording, and said.
    let (_, body) = get(&served, "/api/v1/query?query=up");
    assert_eq!(body["data"]["result"][0]["value"][1], "+Inf");
    assert!(
        body["infos"][0]
            .as_str()
            .unwrap()
            .contains("end of the recording")
    );
    let (_, body) = get(&served, "/api/v1/query?query=up&time=5");
    assert!(
        body["infos"][0]
            .as_str()
            .unwrap()
            .contains("nothing was recorded at the time")
    );
}

#[test]
fn mistakes_are_told_as_the_server_tells_them() {
    let served = served(Vec::new(), false);
    let window = format!("start={T}&end={}", T + 60);
    for (target, status, kind, words) in [
        ("query".to_owned(), 400, "bad_data", "no expression found"),
        (
            "query?query=sum(up".to_owned(),
            400,
            "bad_data",
            "invalid parameter \"query\": 1:7: parse error: unclosed left parenthesis",
        ),
        (
            "query?query=up&time=yesterday".to_owned(),
            400,
            "bad_data",
            "cannot parse \"yesterday\" to a valid timestamp",
        ),
        (
            "query?query=up&timeout=abc".to_owned(),
            400,
            "bad_data",
            "invalid parameter \"timeout\": cannot parse \"abc\" to a valid duration",
        ),
        (
            "query?query=abs(up)".to_owned(),
            422,
            "execution",
            "`abs` is not answered",
        ),
        (
            format!("query_range?query=up&{window}"),
            400,
            "bad_data",
            "invalid parameter \"step\": cannot parse \"\" to a valid duration",
        ),
        (
            format!("query_range?query=up&{window}&step=0"),
            400,
            "bad_data",
            "zero or negative query resolution",
        ),
        (
            format!("query_range?query=up&{window}&step=0.0001"),
            400,
            "bad_data",
            "zero or negative query resolution",
        ),
        (
            format!("query_range?query=up&start={}&end={T}&step=1", T + 1),
            400,
            "bad_data",
            "end timestamp must not be before start time",
        ),
        (
            format!("query_range?query=up&start={T}&end={}&step=1", T + 11_001),
            400,
            "bad_data",
            "exceeded maximum resolution of 11,000 points",
        ),
        (
            format!("query_range?query=up[1m]&{window}&step=5"),
            400,
            "bad_data",
            "invalid expression type \"range vector\" for range query, must be Scalar or instant Vector",
        ),
        (
            format!("query_range?query=\"x\"&{window}&step=5"),
            400,
            "bad_data",
            "invalid expression type \"string\"",
        ),
        (
            "series".to_owned(),
            400,
            "bad_data",
            "no match[] parameter provided",
        ),
        (
            "series?match[]=up{".to_owned(),
            400,
            "bad_data",
            "invalid parameter \"match[]\": 1:4: parse error",
        ),
        (
            "label/bad-label/values".to_owned(),
            400,
            "bad_data",
            "invalid label name: \"bad-label\"",
        ),
        (
            "rules?type=zzz".to_owned(),
            400,
            "bad_data",
            "not supported value",
        ),
        (
            "status/config".to_owned(),
            404,
            "not_found",
            "was not recorded",
        ),
        (
            "nope".to_owned(),
            404,
            "not_found",
            "this request was not recorded: GET /api/v1/nope",
        ),
    ] {
        let (got, body) = get(&served, &format!("/api/v1/{target}"));
        assert_eq!(got, status, "{target}: {body}");
        assert_eq!(body["errorType"], kind, "{target}");
        let error = body["error"].as_str().unwrap();
        assert!(error.contains(words), "{target}: {error}");
    }
}

#[test]
fn the_points_of_a_range_and_the_methods_of_a_path_are_limited() {
    let served = served(Vec::new(), false);
    // Exactly 11,000 steps are allowed, and give 11,001 points.
    let whole = format!(
        "query_range?query=vector(1)&start={T}&end={}&step=1",
        T + 11_000
    );
    let (_, body) = get(&served, &format!("/api/v1/{whole}"));
    assert_eq!(
        body["data"]["result"][0]["values"]
            .as_array()
            .unwrap()
            .len(),
        11_001
    );
    for path in ["/api/v1/targets", "/api/v1/label/job/values", "/-/ready"] {
        let reply = post(&served, path, "application/x-www-form-urlencoded", "");
        assert_eq!(reply.status, 405, "{path}");
    }
}

#[test]
fn lists_of_series_labels_and_values() {
    let served = served(Vec::new(), false);
    let data = |target: &str| get(&served, &format!("/api/v1/{target}")).1["data"].clone();
    assert_eq!(
        data("series?match[]={job=~\".%2B\"}"),
        json!([{"__name__": "up", "job": "a"}])
    );
    assert_eq!(
        data(&format!("series?match[]=up&start={}&end={}", T - 9, T - 8)),
        json!([])
    );
    assert_eq!(data("labels"), json!(["__name__", "a.b", "job"]));
    assert_eq!(data("labels?match[]=up"), json!(["__name__", "job"]));
    assert_eq!(data("label/__name__/values"), json!(["down", "up"]));
    assert_eq!(data("label/job/values"), json!(["a"]));
    assert_eq!(data("label/nolabel/values"), json!([]));
    assert_eq!(data("label/U__a_2e_b/values"), json!(["<x>"]));
    let (_, cut) = get(&served, "/api/v1/label/__name__/values?limit=1");
    assert_eq!(cut["data"], json!(["down"]));
    assert_eq!(cut["warnings"], json!(["results truncated due to limit"]));
    assert_eq!(
        data("metadata?metric=up"),
        json!({"up": [{"type": "gauge", "help": "Whether", "unit": ""}]})
    );
    assert_eq!(data("status/flags"), json!({"query.timeout": "2m"}));
    assert_eq!(
        data(&format!(
            "query_exemplars?query=rate(up[1m])&start={T}&end={}",
            T + 9
        )),
        json!([{"seriesLabels": {"__name__": "up", "job": "a"},
            "exemplars": [{"labels": {"trace_id": "abc"}, "value": "0.25", "timestamp": T + 1}]}])
    );
}

#[test]
fn a_partial_recording_says_so_in_every_answer_made_of_samples() {
    let served = served(Vec::new(), true);
    for target in ["query?query=up", "labels", "series?match[]=up"] {
        let (_, body) = get(&served, &format!("/api/v1/{target}"));
        let words = body["warnings"][0].as_str().unwrap();
        assert!(words.contains("partial"), "{words}");
    }
}

#[test]
fn recorded_requests_get_the_recorded_bytes_in_whatever_order_they_are_asked() {
    let body = b"{\"TraceSummaries\": [ ] , \"x\":1}";
    let asked = "{\"StartTime\":1,\"EndTime\":2}";
    let mut later = exchange(
        "aws",
        "xray",
        question("POST", "/TraceSummaries", Some(asked)),
        b"later",
    );
    later.question.again = 1;
    let served = served(
        vec![
            later,
            exchange(
                "aws",
                "xray",
                question("POST", "/TraceSummaries", Some(asked)),
                body,
            ),
            exchange(
                "pin",
                "pinpoint",
                question(
                    "GET",
                    "/getScatterData.pinpoint?application=shop%20a&from=1&to=2",
                    None,
                ),
                b"scatter",
            ),
            exchange(
                "pin2",
                "pinpoint",
                question(
                    "GET",
                    "/getScatterData.pinpoint?application=shop%20a&from=1&to=2",
                    None,
                ),
                b"other",
            ),
        ],
        false,
    );
    assert_eq!(served.exchanges(), 4);
    let again = post(
        &served,
        "/TraceSummaries",
        "application/x-amz-json-1.1",
        "{ \"EndTime\": 2, \"StartTime\": 1 }",
    );
    assert_eq!(
        (again.status, again.body.as_slice()),
        (200, body.as_slice())
    );
    assert!(again.headers.contains(&(
        "content-type".to_owned(),
        "application/x-amz-json-1.1".to_owned()
    )));
    // Asked again, it says what it said then; and after the last the first.
    assert_eq!(
        post(&served, "/TraceSummaries", "application/json", asked).body,
        b"later"
    );
    assert_eq!(
        post(&served, "/TraceSummaries", "application/json", asked).body,
        body
    );
    let take = |target: &str| {
        served
            .answer(&Asked {
                method: "GET".to_owned(),
                target: target.to_owned(),
                ..Asked::default()
            })
            .body
    };
    assert_eq!(
        take("/getScatterData.pinpoint?to=2&from=1&application=shop+a"),
        b"scatter"
    );
    assert_eq!(
        take("/source/pin2/getScatterData.pinpoint?to=2&from=1&application=shop+a"),
        b"other"
    );
    let (status, body) = get(
        &served,
        "/getScatterData.pinpoint?application=shop&from=1&to=2",
    );
    assert_eq!(status, 404);
    let words = body["error"].as_str().unwrap();
    assert!(
        words.contains("at this path 2 with another query or body"),
        "{words}"
    );
    assert!(
        body["recorded"][0]
            .as_str()
            .unwrap()
            .starts_with("pin: GET /getScatterData.pinpoint")
    );
    assert_eq!(
        post(&served, "/Traces", "application/json", "{}").status,
        404
    );
}

#[test]
fn what_the_server_said_of_itself_is_given_as_recorded() {
    let build = |data: &str| {
        let body = format!("{{\"status\":\"success\",\"data\":{data}}}");
        exchange(
            "prod",
            "prometheus",
            question("GET", "/api/v1/status/buildinfo", None),
            body.as_bytes(),
        )
    };
    let real = json!({"version": "2.42.0", "revision": "r", "goVersion": "go1.19"});
    let served_real = served(vec![build(&real.to_string())], false);
    assert_eq!(
        get(&served_real, "/api/v1/status/buildinfo").1["data"],
        real
    );
    // VictoriaMetrics says a version of Prometheus and nothing else: a client would ask us for its export.
    let served_other = served(vec![build("{\"version\":\"2.24.0\"}")], false);
    let (_, body) = get(&served_other, "/api/v1/status/buildinfo");
    assert_eq!(body["data"]["version"], "3.0.0");
    assert!(
        body["warnings"][0]
            .as_str()
            .unwrap()
            .contains("rules of 3.0.0")
    );
    let targets = json!({"activeTargets": [{"scrapePool": "a", "health": "down"}, {"scrapePool": "b"}], "droppedTargets": [{}]});
    let body = json!({"status": "success", "data": targets}).to_string();
    let served = served(
        vec![exchange(
            "prod",
            "prometheus",
            question("GET", "/api/v1/targets?state=any", None),
            body.as_bytes(),
        )],
        false,
    );
    let (_, all) = get(&served, "/api/v1/targets");
    assert_eq!(all["data"]["activeTargets"], targets["activeTargets"]);
    let (_, some) = get(&served, "/api/v1/targets?state=active&scrapePool=a");
    assert_eq!(
        some["data"]["activeTargets"],
        json!([{"scrapePool": "a", "health": "down"}])
    );
    assert_eq!(some["data"]["droppedTargets"], json!([]));
}

#[test]
fn only_this_machine_is_a_good_host() {
    for good in [
        "127.0.0.1:9090",
        "localhost",
        "LOCALHOST:1",
        "[::1]:80",
        "127.9.9.9",
        "a.localhost",
        "localhost.",
    ] {
        assert!(is_good_host(good, true), "{good}");
    }
    for bad in [
        "example.org",
        "example.org:9090",
        "10.0.0.1:9090",
        "localhost.example.org",
        "",
        "[",
        "0.0.0.0",
    ] {
        assert!(!is_good_host(bad, true), "{bad}");
    }
    assert!(is_good_host("10.0.0.1:9090", false));
    assert!(!is_good_host("rebound.example.org", false));
}

#[test]
fn an_unpacked_answer_is_given_to_who_takes_no_gzip() {
    let mut packed = exchange(
        "pin",
        "pinpoint",
        question("GET", "/applications.pinpoint", None),
        b"",
    );
    packed
        .answer
        .headers
        .push(("content-encoding".to_owned(), "zstd".to_owned()));
    packed.answer.body = Arc::from(zstd::encode_all(&b"[1]"[..], 0).unwrap());
    let served = served(vec![packed], false);
    assert_eq!(get(&served, "/applications.pinpoint").1, json!([1]));
}
