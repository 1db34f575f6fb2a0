//! The kinds that tell what changed and what rang, driven from scripted answers.

use serde_json::{Value, json};

use super::*;
use crate::base::percent::decode;
use crate::base::time::Timestamp;

const DAY: i64 = 86_400_000_000_000;

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-11-30T14:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(3_600_000_000_000))
}

fn source(kind: &str, own: Value) -> SourceSettings {
    let Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        name: "x".to_owned(),
        kind: kind.to_owned(),
        url: Some("http://h".to_owned()),
        own,
        ..SourceSettings::default()
    }
}

fn plan(kind: &str, own: Value) -> Box<dyn Pull> {
    by_id(kind)
        .unwrap()
        .plan(&source(kind, own), window())
        .unwrap()
}

fn refused(kind: &str, own: Value) -> String {
    let error = by_id(kind).unwrap().plan(&source(kind, own), window());
    error.err().unwrap().to_string()
}

fn reply(status: u16, body: &str) -> Reply {
    Reply {
        status,
        headers: Vec::new(),
        body: body.as_bytes().to_vec(),
        is_cut: false,
    }
}

/// Runs a machine to its end; gives the paths that were asked, decoded.
fn run(pull: &mut dyn Pull, answer: &mut dyn FnMut(&str) -> (u16, String)) -> Vec<String> {
    let mut asked = Vec::new();
    for _ in 0..2_000 {
        match pull.next() {
            Step::Fetch(ticket, request) => {
                assert_eq!(request.method, Method::Get);
                let path = decode(&request.path);
                let (status, body) = answer(&path);
                asked.push(path);
                pull.feed(ticket, &Outcome::Answered(&reply(status, &body)));
            }
            Step::Wait => panic!("it waits for nothing"),
            Step::Done => {
                let progress = pull.progress();
                assert_eq!(progress.answered, progress.expected);
                return asked;
            }
        }
    }
    panic!("it never ends: {asked:?}");
}

fn told(pull: &mut dyn Pull) -> Vec<(String, bool, String)> {
    pull.warnings()
        .into_iter()
        .map(|w| (w.code, w.lossy, w.text))
        .collect()
}

#[test]
fn alertmanager_is_asked_for_alerts_and_silences_and_says_what_it_cannot_know() {
    let own = json!({"filter": ["severity=\"page\""], "receiver": "pager", "tenant": "a"});
    let mut pull = plan("alertmanager", own);
    let Step::Fetch(ticket, request) = pull.next() else {
        panic!("nothing asked");
    };
    assert_eq!(
        decode(&request.path),
        "/api/v2/alerts?active=true&silenced=true&inhibited=true&unprocessed=true&filter=severity=\"page\"&receiver=pager"
    );
    assert_eq!(request.headers, [("x-scope-orgid", "a".to_owned())]);
    assert_eq!(pull.next(), Step::Wait);
    pull.feed(ticket, &Outcome::Answered(&reply(200, "[]")));
    let asked = run(pull.as_mut(), &mut |_| (200, "[]".to_owned()));
    assert_eq!(asked, ["/api/v2/silences"]);
    let told = told(pull.as_mut());
    assert_eq!(told.len(), 1);
    assert!(told[0].0 == "only_now" && !told[0].1);
    assert!(
        told[0]
            .2
            .contains("2026-11-30T14:00:00Z to 2026-11-30T15:00:00Z")
    );

    let mut pull = plan("alertmanager", json!({"silences": false}));
    assert_eq!(run(pull.as_mut(), &mut |_| (200, "[]".to_owned())).len(), 1);
}

#[test]
fn a_refusal_is_one_loss_with_the_words_of_the_server() {
    for (kind, body, words) in [
        (
            "alertmanager",
            r#""no tenant""#,
            "alerts could not be had: HTTP 401: no tenant",
        ),
        (
            "grafana_annotations",
            r#"{"message":"Invalid API key"}"#,
            "annotations could not be had: HTTP 401: Invalid API key",
        ),
        (
            "kubernetes_events",
            r#"{"kind":"Status","message":"Unauthorized","reason":"Unauthorized","code":401}"#,
            "events of all namespaces could not be had: HTTP 401: Unauthorized",
        ),
    ] {
        let mut pull = plan(kind, json!({}));
        run(pull.as_mut(), &mut |_| (401, body.to_owned()));
        let all = told(pull.as_mut());
        assert_eq!(
            all,
            [("refused".to_owned(), true, words.to_owned())],
            "{kind}"
        );
        // Another thing that answers well is no answer, either.
        for body in ["<html>Sign in</html>", r#"{"status":"ok"}"#, "7"] {
            let mut pull = plan(kind, json!({}));
            run(pull.as_mut(), &mut |_| (200, body.to_owned()));
            assert!(told(pull.as_mut())[0].1, "{kind} {body}");
        }
        // Nobody there: the driver's own sentence, once.
        let mut pull = plan(kind, json!({}));
        let Step::Fetch(ticket, _) = pull.next() else {
            panic!("nothing asked");
        };
        let failure = Failure {
            kind: FailureKind::Unreachable,
            text: "connection refused".to_owned(),
            advice: String::new(),
        };
        pull.feed(ticket, &Outcome::Failed(&failure));
        assert_eq!(pull.next(), Step::Done);
        assert_eq!(told(pull.as_mut())[0].2, "connection refused");
    }
}

#[test]
fn annotations_beyond_the_limit_are_asked_for_in_halves() {
    // One at each full minute; what is asked for is inside, newest first.
    let answer = |path: &str| {
        let number = |name: &str| {
            let (_, rest) = path.split_once(&format!("{name}=")).unwrap();
            rest.split('&').next().unwrap().parse::<i64>().unwrap()
        };
        let (from, to) = (number("from"), number("to"));
        let all: Vec<Value> = (0..=60)
            .map(|m| window().start.millis() + m * 60_000)
            .filter(|t| (from..=to).contains(t))
            .rev()
            .take(usize::try_from(number("limit")).unwrap())
            .map(|t| json!({"time": t, "text": "x"}))
            .collect();
        (200, Value::Array(all).to_string())
    };
    let mut pull = plan(
        "grafana_annotations",
        json!({"limit": 20, "tags": ["a:b", "c"], "match_any": true, "only": "annotation", "dashboard_uid": "u"}),
    );
    let mut seen = std::collections::BTreeSet::new();
    let asked = run(pull.as_mut(), &mut |path| {
        let (status, body) = answer(path);
        let all: Vec<Value> = serde_json::from_str(&body).unwrap();
        seen.extend(all.iter().map(|one| one["time"].as_i64().unwrap()));
        (status, body)
    });
    assert_eq!(
        asked[0],
        "/api/annotations?from=1796047200000&to=1796050800000&limit=20&tags=a:b&tags=c&matchAny=true&type=annotation&dashboardUID=u"
    );
    assert_eq!(asked.len(), 1 + 2 + 4);
    assert_eq!(seen.len(), 61, "every one came in some piece");
    assert_eq!(told(pull.as_mut()), []);
}

#[test]
fn what_cannot_be_halved_is_said() {
    let full = json!([{"time": 1, "text": "x"}]).to_string();
    let mut pull = plan("grafana_annotations", json!({"limit": 1}));
    let asked = run(pull.as_mut(), &mut |_| (200, full.clone()));
    assert!(asked.len() <= 256, "{}", asked.len());
    let told = told(pull.as_mut());
    assert!(
        told.iter()
            .all(|(code, lossy, _)| code == "limit_reached" && *lossy)
    );
    assert!(told[0].2.contains("raise `limit`"));
}

fn page(times: &[&str], token: &str, remaining: u64) -> String {
    let items: Vec<Value> = times
        .iter()
        .map(|t| json!({"reason": "x", "involvedObject": {}, "firstTimestamp": t}))
        .collect();
    json!({"kind": "EventList", "metadata": {"continue": token, "remainingItemCount": remaining}, "items": items}).to_string()
}

#[test]
fn events_come_by_pages() {
    let mut pull = plan(
        "kubernetes_events",
        json!({"field_selector": "type=Warning"}),
    );
    let asked = run(pull.as_mut(), &mut |path| {
        let body = if path.contains("continue=ey+/=") {
            page(&["2026-11-30T13:59:00Z"], "", 0)
        } else {
            page(&["2026-11-30T14:10:00Z"], "ey+/=", 1)
        };
        (200, body)
    });
    assert_eq!(
        asked,
        [
            "/api/v1/events?limit=500&fieldSelector=type=Warning",
            "/api/v1/events?limit=500&fieldSelector=type=Warning&continue=ey+/=",
        ]
    );
    assert_eq!(told(pull.as_mut()), [], "the oldest is before the window");

    let mut pull = plan(
        "kubernetes_events",
        json!({"namespaces": ["shop", "default"], "page": 2}),
    );
    let asked = run(pull.as_mut(), &mut |path| {
        if path.contains("shop") {
            (
                403,
                r#"{"kind":"Status","message":"events is forbidden","code":403}"#.to_owned(),
            )
        } else {
            (200, page(&["2026-11-30T14:10:00Z"], "", 0))
        }
    });
    assert_eq!(asked.len(), 2);
    assert!(asked[0].starts_with("/api/v1/namespaces/shop/events?limit=2"));
    let told = told(pull.as_mut());
    assert_eq!(
        told[0].2,
        "events of the namespace shop could not be had: HTTP 403: events is forbidden"
    );
    assert!(told[1].0 == "short_memory" && !told[1].1);
    assert!(
        told[1]
            .2
            .contains("the oldest event is of 2026-11-30T14:10:00Z")
    );
}

#[test]
fn a_page_that_comes_too_late_goes_on_with_the_token_of_the_answer() {
    let gone = |token: &str| {
        json!({"kind": "Status", "reason": "Expired", "code": 410, "message": "too old", "metadata": {"continue": token}}).to_string()
    };
    let answers = |gone_body: String, late: (u16, String)| {
        move |path: &str| {
            if path.contains("continue=new") {
                late.clone()
            } else if path.contains("continue=old") {
                (410, gone_body.clone())
            } else {
                (200, page(&["2026-11-30T13:00:00Z"], "old", 9))
            }
        }
    };
    let last = page(&["2026-11-30T14:10:00Z"], "", 0);
    let mut pull = plan("kubernetes_events", json!({}));
    let asked = run(pull.as_mut(), &mut answers(gone("new"), (200, last)));
    assert_eq!(asked.len(), 3);
    let all = told(pull.as_mut());
    assert!(all.len() == 1 && all[0].0 == "list_moved" && !all[0].1);

    for (body, late) in [
        (gone(""), (200, String::new())),
        (gone("new"), (410, gone("new"))),
    ] {
        let mut pull = plan("kubernetes_events", json!({}));
        run(pull.as_mut(), &mut answers(body, late));
        let all = told(pull.as_mut());
        let lost = all.iter().find(|(code, ..)| code == "refused").unwrap();
        assert_eq!(
            lost.2,
            "the rest of the events of all namespaces could not be had: HTTP 410: too old"
        );
    }
}

#[test]
fn events_beyond_the_cap_are_left_out_aloud() {
    let mut pull = plan("kubernetes_events", json!({"max_events": 3}));
    let two = ["2026-11-30T13:00:00Z", "2026-11-30T14:10:00Z"];
    let mut token = 0;
    let asked = run(pull.as_mut(), &mut |_| {
        token += 1;
        (200, page(&two, &format!("t{token}"), 12_345))
    });
    assert_eq!(asked.len(), 2);
    let all = told(pull.as_mut());
    assert!(all[0].0 == "limit_reached" && all[0].1);
    assert!(
        all[0]
            .2
            .starts_with("4 events were pulled and there are 12,345 more")
    );
}

#[test]
fn a_cluster_without_events_says_what_that_is_worth() {
    let mut pull = plan("kubernetes_events", json!({}));
    run(pull.as_mut(), &mut |_| {
        (
            200,
            r#"{"kind":"EventList","metadata":{},"items":null}"#.to_owned(),
        )
    });
    let all = told(pull.as_mut());
    assert!(all[0].2.starts_with("there is no event at all"));
    assert!(!all[0].1);
}

#[test]
fn wrong_settings_name_their_key() {
    for (kind, own, key) in [
        (
            "alertmanager",
            json!({"filter": ["page"]}),
            "sources.x.filter: `page`",
        ),
        (
            "grafana_annotations",
            json!({"limit": 0}),
            "sources.x.limit: 0",
        ),
        ("grafana_annotations", json!({"only": "both"}), "both"),
        (
            "kubernetes_events",
            json!({"namespaces": ["a/../b"]}),
            "sources.x.namespaces: `a/../b`",
        ),
        ("kubernetes_events", json!({"page": 0}), "sources.x.page: 0"),
        ("kubernetes_events", json!({"pages": 1}), "pages"),
    ] {
        let words = refused(kind, own);
        assert!(words.contains(key), "{words}");
    }
    for kind in ["alertmanager", "grafana_annotations", "kubernetes_events"] {
        let mut without = source(kind, json!({}));
        without.url = None;
        let kind = by_id(kind).unwrap();
        assert!(kind.plan(&without, window()).is_err());
        assert!(kind.examine(&without).is_err());
        assert!(
            kind.example()
                .contains(&format!("kind = \"{}\"", kind.id()))
        );
    }
}

fn look(kind: &str, answer: &mut dyn FnMut(&str) -> (u16, String)) -> Vec<(Check, Verdict)> {
    let mut checkup = by_id(kind)
        .unwrap()
        .examine(&source(kind, json!({})))
        .unwrap();
    for _ in 0..10 {
        match checkup.next() {
            Step::Fetch(ticket, request) => {
                assert!(!request.is_kept);
                let (status, body) = answer(&decode(&request.path));
                checkup.feed(ticket, &Outcome::Answered(&reply(status, &body)));
            }
            Step::Wait | Step::Done => break,
        }
    }
    checkup.checks()
}

#[test]
fn doctor_sees_version_and_rights() {
    for (kind, version, said, title) in [
        (
            "alertmanager",
            "/api/v2/status",
            r#"{"versionInfo":{"version":"0.27.0"},"config":{"original":"secret"}}"#,
            "Alertmanager 0.27.0",
        ),
        (
            "grafana_annotations",
            "/api/health",
            r#"{"database":"ok","version":"11.2.0"}"#,
            "Grafana 11.2.0",
        ),
        (
            "kubernetes_events",
            "/version",
            r#"{"gitVersion":"v1.31.2"}"#,
            "Kubernetes v1.31.2",
        ),
    ] {
        let good = match kind {
            "kubernetes_events" => r#"{"kind":"EventList","metadata":{},"items":null}"#,
            _ => "[]",
        };
        let well = |path: &str| match path {
            p if p.starts_with(version) => (200, said.to_owned()),
            _ => (200, good.to_owned()),
        };
        let checks = look(kind, &mut { well });
        assert!(
            checks.contains(&(Check::Version, Verdict::well(title))),
            "{checks:?}"
        );
        let reads = |checks: &[(Check, Verdict)]| {
            let found = checks.iter().find(|(check, _)| *check == Check::MayRead);
            found.unwrap().1.clone()
        };
        assert_eq!(reads(&checks).is_well, Some(true));
        assert!(!format!("{checks:?}").contains("secret"));

        for (status, advice) in [
            (401, "http.authorization"),
            (403, "says no"),
            (404, "check"),
            (500, "log"),
        ] {
            let checks = look(kind, &mut |_| (status, "<html>".to_owned()));
            let verdict = reads(&checks);
            assert_eq!(verdict.is_well, Some(false));
            assert!(
                verdict.advice.clone().unwrap().contains(advice),
                "{kind} {verdict:?}"
            );
            let known = checks
                .iter()
                .find(|(check, _)| *check == Check::Authenticated);
            let known = known.unwrap().1.is_well;
            assert_eq!(
                known,
                match status {
                    401 => Some(false),
                    403 => Some(true),
                    _ => None,
                }
            );
        }
    }
}

#[test]
fn the_same_answers_give_the_same_questions() {
    let far = TimeRange::new(window().start.plus_nanos(-400 * DAY), window().end);
    for (kind, body) in [
        ("alertmanager", "[]".to_owned()),
        (
            "grafana_annotations",
            json!([{"time": 1, "text": "x"}]).to_string(),
        ),
        ("kubernetes_events", page(&["2026-11-30T14:10:00Z"], "t", 1)),
    ] {
        let own = match kind {
            "grafana_annotations" => json!({"limit": 1}),
            "kubernetes_events" => json!({"max_events": 5}),
            _ => json!({}),
        };
        let asked = || {
            let source = source(kind, own.clone());
            let mut pull = by_id(kind).unwrap().plan(&source, far).unwrap();
            run(pull.as_mut(), &mut |_| (200, body.clone()))
        };
        assert_eq!(asked(), asked(), "{kind}");
    }
}
