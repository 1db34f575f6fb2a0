//! The machine against scripted answers of each family, made from the hand-made payloads.

use super::version::DESTRUCTIVE;
use super::*;
use crate::base::percent::decode;
use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::sources::{Body, Check, Outcome, Reply, Step};

macro_rules! payload {
    ($name:literal) => {
        include_str!(concat!("../../../fixtures/pinpoint/", $name, ".json"))
    };
}

fn source(own: serde_json::Value) -> SourceSettings {
    let serde_json::Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        name: "pp".to_owned(),
        kind: "pinpoint".to_owned(),
        url: Some("http://h:8080".to_owned()),
        own,
        ..SourceSettings::default()
    }
}

fn window() -> TimeRange {
    let ms = |ms| Timestamp::from_millis(ms).unwrap();
    TimeRange::new(ms(1_767_225_600_000), ms(1_767_225_900_000))
}

const PAGE: &str = "<!doctype html><html><body>Pinpoint</body></html>";
const LOGIN: &str = "<!doctype html><form><input type=\"password\"></form>";

/// Which server it plays.
#[derive(Clone, Copy, PartialEq)]
enum Plays {
    V22,
    V25,
    V30,
    V31,
}

fn good(text: &str) -> (u16, String) {
    (200, text.to_owned())
}

/// The answer of a server of that version.
fn answer(plays: Plays, line: &str) -> (u16, String) {
    let is_3 = matches!(plays, Plays::V30 | Plays::V31);
    let path = line.split(['?', ' ']).next().unwrap();
    let endpoint = if is_3 {
        match path.strip_prefix("/api/") {
            Some(endpoint) => endpoint,
            None => return good(PAGE),
        }
    } else {
        match path
            .strip_prefix('/')
            .and_then(|p| p.strip_suffix(".pinpoint"))
        {
            Some(endpoint) => endpoint,
            None => return good(PAGE),
        }
    };
    let is_31 = plays == Plays::V31;
    let version = |v: &str| format!(r#"{{"sendUsage":true,"version":"{v}"}}"#);
    match endpoint {
        "configuration" => match plays {
            Plays::V22 => good(&version("2.2.2")),
            Plays::V25 => good(payload!("configuration_2x")),
            Plays::V30 => good(&version("3.0.5")),
            Plays::V31 => good(payload!("configuration_31")),
        },
        "serverTime" => good(payload!("server_time")),
        "applications" => good(payload!("applications")),
        "getScatterData" if !line.contains("application=shop-order") => {
            good(payload!("scatter_page2_empty"))
        }
        "getScatterData" if is_31 && !line.contains("serviceTypeCode=1210") => {
            (500, payload!("error_31").to_owned())
        }
        "getScatterData" if is_31 => good(payload!("scatter_31")),
        "getScatterData" if line.contains("to=1767225900000") => good(payload!("scatter_page1")),
        "getScatterData" => good(payload!("scatter_page2_empty")),
        "transactionmetadata" => good(payload!("transactionmetadata")),
        "transactionInfo" if plays == Plays::V22 && !line.contains("gw-01") => {
            good(payload!("error_22_http200"))
        }
        "transactionInfo" if plays == Plays::V22 => good(payload!("transactionInfo_22")),
        "transactionInfo" if plays == Plays::V25 => good(payload!("transactionInfo_25")),
        "transactionInfo" if plays == Plays::V30 => good(payload!("transactionInfo_30")),
        "transaction/trace" if is_31 => good(payload!("trace_31")),
        "getServerMapDataV2" if plays == Plays::V30 => good(payload!("servermap_30_v2")),
        "getServerMapDataV2" if !is_31 => good(payload!("servermap_25")),
        "servermap/serverMap" if is_31 => good(payload!("servermap_31")),
        "getResponseTimeHistogramDataV2" => good(payload!("histogram_v2")),
        "getApdexScore" if plays != Plays::V22 => good(payload!("apdex")),
        "getAgentList" if plays == Plays::V22 => good(payload!("agentlist_22")),
        "agents/search-application" if matches!(plays, Plays::V25 | Plays::V30) => {
            good(payload!("agents_25_30"))
        }
        "agents/overview" if is_31 => good(payload!("agents_31_overview")),
        "getAgentStatusTimeline" => good(payload!("agent_timeline")),
        "getAgentEvents" => good("[]"),
        "getAgentStat/dataSource/chartList" if !is_31 => good("[]"),
        e if e.starts_with("getAgentStat/") && !is_31 => good(payload!("agentstat_2x_cpu")),
        e if e.starts_with("inspector/agentStat/") && is_31 => good(payload!("inspector_3x_chart")),
        "errors/errorList" if is_31 => good("[]"),
        _ => (404, PAGE.to_owned()),
    }
}

/// Runs a machine to its end and gives what it asked. `backwards` answers what is in flight in the other order.
fn run(
    pull: &mut (impl Pull + ?Sized),
    backwards: bool,
    mut answer: impl FnMut(&str) -> (u16, String),
) -> Vec<String> {
    let mut flying = Vec::new();
    let mut asked = Vec::new();
    loop {
        match pull.next() {
            Step::Fetch(ticket, request) => {
                let body = match &request.body {
                    Body::Form(form) => format!(" {form}"),
                    _ => String::new(),
                };
                let raw = format!("{}{body}", request.path);
                assert!(!raw.contains('^'), "{raw}");
                let line = decode(&raw);
                asked.push(line.clone());
                flying.push((ticket, line));
            }
            Step::Wait => {
                let at = if backwards { flying.len() - 1 } else { 0 };
                let (ticket, line) = flying.remove(at);
                let (status, body) = answer(&line);
                let html = body.starts_with('<');
                let kind = if html {
                    "text/html"
                } else {
                    "application/json"
                };
                let reply = Reply {
                    status,
                    headers: vec![("content-type".to_owned(), kind.to_owned())],
                    body: body.into_bytes(),
                    is_cut: false,
                };
                pull.feed(ticket, &Outcome::Answered(&reply));
            }
            Step::Done => return asked,
        }
    }
}

fn pulled(own: &serde_json::Value, plays: Plays) -> (Vec<String>, Vec<Warning>) {
    let mut both = Vec::new();
    for backwards in [false, true] {
        let mut pull = Pinpoint.plan(&source(own.clone()), window()).unwrap();
        let mut asked = run(&mut *pull, backwards, |line| answer(plays, line));
        let progress = pull.progress();
        assert_eq!(progress.answered, progress.expected);
        asked.sort();
        both.push((asked, pull.warnings()));
    }
    assert_eq!(
        both[0].0, both[1].0,
        "the order of answers changes no question"
    );
    both.remove(0)
}

fn has(asked: &[String], words: &[&str]) -> bool {
    asked
        .iter()
        .any(|line| words.iter().all(|w| line.contains(w)))
}

#[test]
fn each_family_is_found_and_asked_in_its_own_words() {
    for (plays, expected) in [
        (
            Plays::V22,
            &[
                "/getAgentList.pinpoint?application=shop-order",
                "/transactionInfo.pinpoint?traceId=gw-01^1767139100000^88&focusTimestamp=1767225780512&agentId=order-02&spanId=-6102030405060708090",
                "/getServerMapDataV2.pinpoint?applicationName=shop-order&serviceTypeCode=1210",
            ][..],
        ),
        (
            Plays::V25,
            &[
                "/agents/search-application.pinpoint?application=shop-order",
                "/getAgentStat/jvmGc/chart.pinpoint?agentId=order-02",
                "/getApdexScore.pinpoint?applicationName=shop-order",
                "/getAgentStatusTimeline.pinpoint?agentId=order-02",
            ][..],
        ),
        (
            Plays::V30,
            &[
                "/api/agents/search-application?application=shop-order",
                "/api/transactionInfo?traceId=gw-01^",
                "/api/getAgentStat/cpuLoad/chart?agentId=order-02",
            ][..],
        ),
        (
            Plays::V31,
            &[
                "/api/agents/overview?applicationName=shop-order",
                "/api/transaction/trace?traceId=4bf92f3577b34da6a3ce929d0e0e4736",
                "/api/servermap/serverMap?applicationName=shop-order",
                "/api/inspector/agentStat/chart?applicationName=shop-order&agentId=order-02&metricDefinitionId=heap",
                "/api/errors/errorList?applicationName=shop-order",
            ][..],
        ),
    ] {
        let (asked, warnings) = pulled(&serde_json::json!({}), plays);
        for part in expected {
            assert!(has(&asked, &[part]), "{part}: {asked:#?}");
        }
        let lossy: Vec<&Warning> = warnings.iter().filter(|w| w.lossy).collect();
        if plays == Plays::V22 {
            // 2.2 answers its errors with 200: two of three trees, and each said with the server's words.
            assert_eq!(lossy.len(), 2, "{lossy:#?}");
            assert!(
                lossy[0].text.contains("invalid transactionId:abc"),
                "{lossy:#?}"
            );
        } else {
            assert_eq!(lossy, Vec::<&Warning>::new());
        }
    }
}

#[test]
fn pages_of_dots_overlap_in_their_oldest_millisecond() {
    let (asked, _) = pulled(
        &serde_json::json!({"applications": ["shop-order"]}),
        Plays::V25,
    );
    let pages: Vec<&String> = asked
        .iter()
        .filter(|a| a.contains("getScatterData"))
        .collect();
    assert_eq!(pages.len(), 2, "{pages:#?}");
    assert!(
        has(&asked, &["getScatterData", "to=1767225720040"]),
        "{pages:#?}"
    );
    let rows: Vec<&String> = asked
        .iter()
        .filter(|a| a.contains("transactionmetadata"))
        .collect();
    assert_eq!(rows.len(), 1);
    assert!(
        rows[0].contains("I0=gw-01^1767139100000^88&T0=1767225780512&R0=4210"),
        "{rows:?}"
    );
}

#[test]
fn a_millisecond_fuller_than_a_page_ends_and_is_told() {
    let page = |line: &str| {
        if line.contains("getScatterData") && line.contains("to=1767225900000") {
            good(
                r#"{"scatter":{"metadata":{"1":["a","a",5]},"dotList":[[300000,1,1,1,1,1]]},"resultFrom":1767225900000,"resultTo":1767225900000,"complete":false,"from":1767225600000,"to":1767225900000}"#,
            )
        } else {
            answer(Plays::V25, line)
        }
    };
    let mut pull = Pinpoint
        .plan(
            &source(serde_json::json!({"applications": ["shop-order"]})),
            window(),
        )
        .unwrap();
    let asked = run(&mut *pull, false, page);
    assert!(
        has(&asked, &["getScatterData", "to=1767225899999"]),
        "{asked:#?}"
    );
    assert!(
        pull.warnings()
            .iter()
            .any(|w| w.code == "limit_page" && w.lossy)
    );
}

#[test]
fn caps_are_named() {
    let own =
        serde_json::json!({"max_applications": 1, "max_transactions": 1, "max_call_trees": 1});
    let (asked, warnings) = pulled(&own, Plays::V31);
    assert!(!has(&asked, &["application=shop-order"]), "{asked:#?}");
    let cap = warnings
        .iter()
        .find(|w| w.code == "limit_applications")
        .unwrap();
    assert!(cap.lossy && cap.text.contains("shop-order"), "{cap:?}");
    let own = serde_json::json!({"applications": ["shop-order"], "max_transactions": 1, "max_call_trees": 1, "inspector": false});
    let (asked, warnings) = pulled(&own, Plays::V25);
    let trees: Vec<&String> = asked
        .iter()
        .filter(|a| a.contains("transactionInfo"))
        .collect();
    assert_eq!(trees.len(), 1);
    assert!(
        trees[0].contains("gw-01"),
        "the failed one comes first: {trees:?}"
    );
    assert!(!has(&asked, &["getAgentStat"]));
    for code in ["limit_transactions", "limit_call_trees"] {
        let told = warnings.iter().find(|w| w.code == code).unwrap();
        assert!(told.text.contains("1 of 3"), "{told:?}");
    }
}

#[test]
fn nothing_destructive_can_be_asked() {
    let evil = r#"[{"applicationName":"../admin/removeAgentId","serviceType":"X","code":"1210/../insertAgentCount"}]"#;
    for plays in [Plays::V22, Plays::V25, Plays::V30, Plays::V31] {
        let mut paths = Vec::new();
        for applications in [payload!("applications"), evil] {
            let mut pull = Pinpoint
                .plan(&source(serde_json::json!({})), window())
                .unwrap();
            let asked = run(&mut *pull, false, |line| {
                if line.contains("/applications") {
                    good(applications)
                } else {
                    answer(plays, line)
                }
            });
            paths.extend(asked);
        }
        for line in paths {
            let path = line.split(['?', ' ']).next().unwrap().to_ascii_lowercase();
            assert!(!path.contains(".."), "{line}");
            assert!(
                !DESTRUCTIVE.iter().any(|word| path.contains(word)),
                "{line}"
            );
        }
    }
}

#[test]
fn doors_that_stay_shut_are_told_apart() {
    let cases: [(u16, &str, &str, &str); 7] = [
        (401, "{}", "HTTP 401", "basic_auth"),
        (403, "{}", "HTTP 403", "ask for the right"),
        (200, LOGIN, "a login page", "basic_auth"),
        (200, PAGE, "a web page instead of data", "path of `url`"),
        (404, PAGE, "HTTP 404, as a web page", "path of `url`"),
        (
            200,
            payload!("error_22_http200"),
            "invalid transactionId:abc",
            "server's words",
        ),
        (
            500,
            payload!("error_31"),
            "serviceType not found",
            "server's words",
        ),
    ];
    for (status, body, words, advice) in cases {
        let mut pull = Pinpoint
            .plan(&source(serde_json::json!({})), window())
            .unwrap();
        let asked = run(&mut *pull, false, |_| (status, body.to_owned()));
        assert_eq!(asked.len(), 2, "two probes and no more: {asked:?}");
        let warnings = pull.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].lossy && warnings[0].code == "refused");
        for part in [words, advice] {
            assert!(
                warnings[0].text.contains(part),
                "{part}: {}",
                warnings[0].text
            );
        }
        let mut look = Pinpoint.examine(&source(serde_json::json!({}))).unwrap();
        run(&mut *look, false, |_| (status, body.to_owned()));
        let checks = look.checks();
        let (_, verdict) = checks.iter().find(|(c, _)| *c == Check::Version).unwrap();
        assert_eq!(verdict.is_well, Some(false), "{verdict:?}");
    }
}

#[test]
fn doctor_sees_version_rights_and_limits() {
    for (plays, version, limit) in [
        (Plays::V25, "Pinpoint 2.5.4", "maps 2 days"),
        (Plays::V31, "Pinpoint 3.1.0", "charts 42 days"),
    ] {
        let mut look = Pinpoint.examine(&source(serde_json::json!({}))).unwrap();
        run(&mut *look, false, |line| answer(plays, line));
        let checks = look.checks();
        let text = |check: Check| {
            checks
                .iter()
                .find(|(c, _)| *c == check)
                .unwrap()
                .1
                .text
                .clone()
        };
        assert_eq!(text(Check::Version), version);
        assert_eq!(text(Check::MayRead), "2 applications");
        assert!(text(Check::Limits).contains(limit));
    }
}

#[test]
fn settings_are_checked() {
    let mut settings = source(serde_json::json!({"page": 20_000}));
    assert!(Pinpoint.plan(&settings, window()).is_err());
    settings.own.clear();
    settings.url = Some("http://h/main".to_owned());
    assert!(Pinpoint.plan(&settings, window()).is_err());
    assert!(
        Pinpoint
            .plan(&source(serde_json::json!({"nonsense": 1})), window())
            .is_err()
    );
}
