use super::*;
use crate::base::percent::decode;
use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::sources::{Body, Check, Outcome, Reply, Step};

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(7_200_000_000_000))
}

fn source(own: Value) -> SourceSettings {
    let Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        name: "profiles".to_owned(),
        kind: "pyroscope".to_owned(),
        url: Some("http://h:4040".to_owned()),
        own,
        ..SourceSettings::default()
    }
}

const CPU: &str = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
const HEAP: &str = "memory:inuse_space:bytes:space:bytes";

fn reply(status: u16, body: &str) -> Reply {
    Reply {
        status,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
        is_cut: false,
    }
}

/// A server with two services; `line` is path and body.
fn server(line: &str) -> Reply {
    let good = if line.contains("/ProfileTypes") {
        format!(r#"{{"profileTypes":[{{"ID":"{CPU}","name":"process_cpu"}},{{"ID":"{HEAP}"}}]}}"#)
    } else if line.contains("service_name\"")
        && !line.contains("__profile_type__")
        && line.contains("/LabelValues")
    {
        r#"{"names":["checkout","search"]}"#.to_owned()
    } else if line.contains("__profile_type__") && line.contains("checkout") {
        format!(r#"{{"names":["{CPU}"]}}"#)
    } else {
        // Nothing: an empty message of proto-JSON.
        "{}".to_owned()
    };
    reply(200, &good)
}

fn run(own: Value, backwards: bool, answer: &dyn Fn(&str) -> Reply) -> (Vec<String>, Vec<Warning>) {
    let mut pull = Pyroscope.plan(&source(own), window()).unwrap();
    let (mut flying, mut asked) = (Vec::new(), Vec::new());
    loop {
        match pull.next() {
            Step::Fetch(ticket, request) => {
                let body = match &request.body {
                    Body::Json(json) => format!(" {json}"),
                    _ => String::new(),
                };
                let line = decode(&format!("{}{body}", request.path));
                let tenant = request.headers.iter().map(|(n, v)| format!(" {n}={v}"));
                asked.push(format!("{line}{}", tenant.collect::<String>()));
                flying.push((ticket, line));
            }
            Step::Wait => {
                let at = if backwards { flying.len() - 1 } else { 0 };
                let (ticket, line) = flying.remove(at);
                pull.feed(ticket, &Outcome::Answered(&answer(&line)));
            }
            Step::Done => break,
        }
    }
    (asked, pull.warnings())
}

fn graphs(asked: &[String]) -> Vec<&String> {
    asked
        .iter()
        .filter(|a| a.contains("SelectMerge") || a.contains("/render"))
        .collect()
}

#[test]
fn it_finds_services_and_types_and_pulls_each_pair() {
    let mut all = Vec::new();
    for backwards in [false, true] {
        let own = json!({"selector": "namespace=\"shop\"", "tenant": "team-a"});
        let (mut asked, warnings) = run(own, backwards, &server);
        assert_eq!(warnings, []);
        assert!(asked.iter().all(|a| a.ends_with(" x-scope-orgid=team-a")));
        // `search` does not say its types: both are tried.
        let graphs = graphs(&asked);
        assert_eq!(graphs.len(), 3, "{graphs:#?}");
        assert!(graphs.iter().any(|a| a.contains(&format!(
            r#"/querier.v1.QuerierService/SelectMergeStacktraces {{"profileTypeID":"{CPU}","labelSelector":"{{service_name=\"checkout\",namespace=\"shop\"}}","start":1785542400000,"end":1785549600000,"maxNodes":8192}}"#
        ))), "{graphs:#?}");
        asked.sort();
        all.push(asked);
    }
    assert_eq!(all[0], all[1], "the order of answers changes no question");
}

#[test]
fn the_older_api_is_asked_where_the_newer_one_is_not() {
    let old = |line: &str| {
        if line.contains("/querier.v1") {
            reply(404, "404 page not found")
        } else {
            reply(200, "{\"version\":1}")
        }
    };
    let (asked, warnings) = run(json!({}), false, &old);
    assert_eq!(graphs(&asked).len(), 0);
    assert!(
        warnings[0].lossy && warnings[0].text.contains("`types`"),
        "{warnings:?}"
    );
    let own = json!({"types": [CPU, "mutex:*"], "selector": "pod=\"a b\""});
    let (asked, warnings) = run(own, false, &old);
    assert_eq!(warnings, []);
    assert_eq!(
        graphs(&asked),
        [&format!(
            "/pyroscope/render?query={CPU}{{pod=\"a b\"}}&from=1785542400000&until=1785549600000&maxNodes=8192&format=json"
        )]
    );
    // By the settings, and where only the method is missing.
    let (asked, _) = run(
        json!({"api": "render", "services": ["checkout"], "types": ["memory:*", "process_cpu:*"]}),
        false,
        &server,
    );
    assert_eq!(graphs(&asked).len(), 1, "{asked:#?}");
    assert!(graphs(&asked)[0].contains("/pyroscope/render?query=process_cpu"));
    let without = |line: &str| {
        if line.contains("SelectMerge") {
            reply(501, r#"{"code":"unimplemented","message":"no"}"#)
        } else {
            server(line)
        }
    };
    let (asked, warnings) = run(json!({"services": ["checkout"]}), false, &without);
    assert_eq!((graphs(&asked).len(), warnings.len()), (2, 0), "{asked:#?}");
}

#[test]
fn refusals_are_told_once_and_with_the_words_of_the_server() {
    for (status, body, words) in [
        (
            401,
            r#"{"code":"unauthenticated","message":"no org id"}"#,
            "HTTP 401: unauthenticated: no org id",
        ),
        (403, "<html>forbidden</html>", "HTTP 403"),
    ] {
        let (asked, warnings) = run(json!({}), false, &|_| reply(status, body));
        assert_eq!((asked.len(), warnings.len()), (2, 1), "{warnings:?}");
        assert!(
            warnings[0].lossy && warnings[0].text == words,
            "{warnings:?}"
        );
    }
    let slow = |line: &str| {
        if line.contains("SelectMerge") {
            reply(
                400,
                r#"{"code":"invalid_argument","message":"the query time range exceeds the limit"}"#,
            )
        } else {
            server(line)
        }
    };
    let (_, warnings) = run(json!({}), false, &slow);
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].lossy);
    assert!(
        warnings[0].text.contains("checkout process_cpu:cpu")
            && warnings[0].text.contains("exceeds the limit")
    );
}

#[test]
fn what_goes_over_the_cap_is_left_out_and_named() {
    let (asked, warnings) = run(json!({"max_profiles": 1}), false, &server);
    assert_eq!(graphs(&asked).len(), 1);
    assert!(
        warnings[0].lossy && warnings[0].text.starts_with("2 flame graphs were left out"),
        "{warnings:?}"
    );
    assert!(warnings[0].text.contains("search memory:inuse_space"));
    let (_, warnings) = run(json!({"types": ["nothing*"]}), false, &server);
    assert!(!warnings[0].lossy && warnings[0].code == "no_profiles");
}

#[test]
fn settings_are_checked() {
    let wrong = |own| {
        Pyroscope
            .plan(&source(own), window())
            .err()
            .unwrap()
            .to_string()
    };
    assert!(wrong(json!({"tennant": "x"})).contains("tennant"));
    assert!(wrong(json!({"selector": "{a=\"b\"}"})).contains("without braces"));
    assert!(wrong(json!({"types": ["cpu"]})).contains("sources.profiles.types"));
    assert!(wrong(json!({"max_nodes": 0})).contains("max_nodes"));
}

#[test]
fn doctor_shows_what_there_is() {
    let look = |answer: &dyn Fn(&str) -> Reply| {
        let mut checkup = Pyroscope.examine(&source(json!({}))).unwrap();
        while let Step::Fetch(ticket, request) = checkup.next() {
            let Body::Json(body) = &request.body else {
                panic!();
            };
            let line = format!("{} {body}", request.path);
            checkup.feed(ticket, &Outcome::Answered(&answer(&line)));
        }
        checkup.checks()
    };
    let good = look(&server);
    assert!(
        good.iter().any(|(c, v)| *c == Check::MayRead
            && v.text == "2 profile types of 2 services: checkout, search"),
        "{good:?}"
    );
    let unknown = look(&|_| reply(401, ""));
    assert!(
        unknown[0]
            .1
            .advice
            .as_deref()
            .unwrap()
            .contains("Grafana Cloud")
    );
    let elsewhere = look(&|_| reply(200, "<html>the window of another program</html>"));
    assert!(
        elsewhere
            .iter()
            .any(|(c, v)| *c == Check::MayRead && v.is_well == Some(false)),
        "{elsewhere:?}"
    );
}
