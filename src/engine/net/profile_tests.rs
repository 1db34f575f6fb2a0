//! The sources of profiles over real loopback HTTP: what is special to them.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use super::testing::{Memory, Server, answer, settings};
use super::*;
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::{SourceSettings, by_id};

const DUMP: &str = "goroutine 1 [running]:\nmain.main()\n\t/x/main.go:1 +0x1\n";

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(7_200_000_000_000))
}

fn source(kind: &str, url: String, own: serde_json::Value) -> SourceSettings {
    let serde_json::Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        kind: kind.to_owned(),
        own,
        ..settings(url)
    }
}

fn pulled(settings: SourceSettings) -> (Pulled, Memory) {
    let pull = by_id(&settings.kind)
        .unwrap()
        .plan(&settings, window())
        .unwrap();
    let mut memory = Memory::default();
    let pulled = super::pull(
        vec![Job { settings, pull }],
        NetOptions::default(),
        &mut memory,
        &mut Unwatched,
        &Cancel::new(),
    )
    .unwrap();
    (pulled, memory)
}

fn told(pulled: &Pulled) -> String {
    let texts: Vec<&str> = pulled.ends[0]
        .warnings
        .iter()
        .map(|w| w.text.as_str())
        .collect();
    texts.join("\n")
}

/// Bare protobuf of no samples: `sample_type {1, 2}`, names `""`, `a`, `count`.
const EMPTY: &str = "\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x01a\x32\x05count";

#[test]
fn what_measures_may_begin_its_answer_later_than_others() {
    let server = Server::start(Arc::new(|request, to| {
        let is_cpu = request.contains("/profile?seconds=6 ");
        if is_cpu {
            std::thread::sleep(Duration::from_millis(2_500));
        }
        drop(to.write_all(answer("200 OK", "", EMPTY).as_bytes()));
    }));
    let own = serde_json::json!({"profiles": ["heap"], "cpu": "6s"});
    let mut settings = source("pprof", server.url(), own);
    settings.limits.first_byte_timeout = Duration::from_secs(2);
    let (pulled, memory) = pulled(settings);
    assert_eq!(told(&pulled), "");
    assert_eq!(
        memory.0.len(),
        2,
        "the index page is looked at and not kept"
    );
}

#[test]
fn a_profiler_that_is_busy_is_asked_once_and_a_broken_dump_not_again() {
    let server = Server::start(Arc::new(|request, to| {
        let text = if request.contains("/profile?") {
            let words = "Could not enable CPU profiling: cpu profiling already in use\n";
            answer("500 Internal Server Error", "X-Go-Pprof: 1\r\n", words)
        } else if request.contains("debug=2") {
            // Cut: fewer bytes than promised.
            format!("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nConnection: close\r\n\r\n{DUMP}")
        } else {
            answer("200 OK", "", EMPTY)
        };
        drop(to.write_all(text.as_bytes()));
    }));
    let own = serde_json::json!({
        "stop_the_world": true, "dumps": 2, "interval": "0s", "cpu": "1s", "profiles": ["goroutine"],
    });
    let mut settings = source("pprof", server.url(), own);
    settings.limits.retries = 3;
    let (pulled, memory) = pulled(settings);
    let asked = |words: &str| {
        let all = server.requests();
        all.iter().filter(|r| r.contains(words)).count()
    };
    assert_eq!((asked("/profile?"), asked("debug=2")), (1, 1));
    assert_eq!(asked("/goroutine "), 2, "the other form goes on");
    let said = told(&pulled);
    assert!(said.contains("another profiler is running"), "{said}");
    assert!(
        said.contains("goroutine (debug=2) could not be had: the answer broke off"),
        "{said}"
    );
    assert!(
        memory.0.iter().any(|e| e.answer.cut.is_some()),
        "what came is kept"
    );
}

#[test]
fn answers_that_are_packed_wrong_or_pages_are_no_profiles() {
    let server = Server::start(Arc::new(|request, to| {
        let text = if request.contains("/heap") {
            answer("200 OK", "Content-Encoding: gzip\r\n", "no gzip")
        } else if request.contains("/mutex") {
            answer(
                "404 Not Found",
                "Content-Type: text/html\r\n",
                "<html>no such page</html>",
            )
        } else {
            answer(
                "200 OK",
                "Content-Type: text/html\r\n",
                "<html>log in</html>",
            )
        };
        drop(to.write_all(text.as_bytes()));
    }));
    let own = serde_json::json!({"profiles": ["heap", "mutex", "block"], "cpu": "0s"});
    let (pulled, _) = pulled(source("pprof", server.url(), own));
    let said = told(&pulled);
    for words in [
        "heap could not be had",
        "mutex could not be had: HTTP 404: there is no pprof under `/debug/pprof`",
        "block could not be had: HTTP 200 with `text/html` in place of a profile",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn pyroscope_is_asked_with_its_tenant_and_falls_back_to_the_older_api() {
    const CPU: &str = "process_cpu:cpu:nanoseconds:cpu:nanoseconds";
    let server = Server::start(Arc::new(|request, to| {
        let json = "Content-Type: application/json\r\n";
        let text = if request.contains("/ProfileTypes") {
            let body = format!(r#"{{"profileTypes":[{{"ID":"{CPU}"}}]}}"#);
            answer("200 OK", json, &body)
        } else if request.contains("__profile_type__") {
            answer("200 OK", json, "{}")
        } else if request.contains("/LabelValues") {
            answer("200 OK", json, r#"{"names":["checkout"]}"#)
        } else if request.contains("SelectMergeStacktraces") {
            let body = r#"{"code":"unimplemented","message":"unknown method"}"#;
            answer("501 Not Implemented", json, body)
        } else {
            let body = r#"{"version":1,"flamebearer":{"names":["total","a"],"levels":[[0,4,0,0],[0,4,4,1]]}}"#;
            answer("200 OK", json, body)
        };
        drop(to.write_all(text.as_bytes()));
    }));
    let own = serde_json::json!({"tenant": "team-a"});
    let (pulled, memory) = pulled(source("pyroscope", server.url(), own));
    assert_eq!(told(&pulled), "");
    let requests = server.requests();
    assert!(
        requests
            .iter()
            .all(|r| r.to_ascii_lowercase().contains("x-scope-orgid: team-a")),
        "{requests:#?}"
    );
    let last = requests.last().unwrap();
    assert!(
        last.starts_with("GET /pyroscope/render?query=process_cpu"),
        "{last}"
    );
    // Lists are not kept; what was refused and what came are.
    let statuses: Vec<u16> = memory.0.iter().map(|e| e.answer.status).collect();
    assert_eq!(statuses, [501, 200]);
}

#[test]
fn pyroscope_that_lets_nobody_in_is_told_once() {
    for (status, body, words) in [
        (
            "401 Unauthorized",
            r#"{"code":"unauthenticated","message":"no org id"}"#,
            "HTTP 401: unauthenticated: no org id",
        ),
        ("403 Forbidden", "<html>no</html>", "HTTP 403"),
    ] {
        let server = Server::start(Arc::new(move |_, to| {
            drop(to.write_all(answer(status, "", body).as_bytes()));
        }));
        let (pulled, _) = pulled(source("pyroscope", server.url(), serde_json::json!({})));
        assert_eq!(told(&pulled), words);
        assert!(pulled.ends[0].is_refused());
    }
}
