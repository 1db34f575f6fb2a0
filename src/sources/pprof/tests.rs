use super::*;
use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::sources::{Check, Failure, FailureKind, Outcome, Reply, Step};

const PAGE: &str = "<table><tr><td>14</td><td><a href='allocs?debug=1'>allocs</a></td></tr><tr><td>0</td><td><a href='block?debug=1'>block</a></td></tr><tr><td>4309</td><td><a href='goroutine?debug=1'>goroutine</a></td></tr><tr><td>1</td><td><a href='heap?debug=1'>heap</a></td></tr><tr><td>0</td><td><a href='profile?debug=1'>profile</a></td></tr></table>";
const DUMP: &str = "goroutine 1 [running]:\nmain.main()\n\t/x/main.go:1 +0x1\n";

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(7_200_000_000_000))
}

fn source(own: serde_json::Value) -> SourceSettings {
    let serde_json::Value::Object(own) = own else {
        panic!("{own}");
    };
    SourceSettings {
        name: "shop".to_owned(),
        kind: "pprof".to_owned(),
        url: Some("http://h:6060".to_owned()),
        own,
        ..SourceSettings::default()
    }
}

fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    Reply {
        status,
        headers: headers
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect(),
        body: body.to_vec(),
        is_cut: false,
    }
}

/// A healthy program.
fn program(path: &str) -> Reply {
    let date = ("date", "Sat, 01 Aug 2026 02:00:03 GMT");
    let name = path.trim_start_matches("/debug/pprof");
    if name == "/" {
        return reply(200, &[date, ("content-type", "text/html")], PAGE.as_bytes());
    }
    if name.contains("debug=2") {
        return reply(
            200,
            &[date, ("content-type", "text/plain")],
            DUMP.as_bytes(),
        );
    }
    if name.contains("debug=1") {
        return reply(200, &[date], b"goroutine profile: total 4309\n4309 @ 0x1\n");
    }
    reply(
        200,
        &[date, ("content-type", "application/octet-stream")],
        &[0x1f, 0x8b, 8],
    )
}

fn unknown() -> Reply {
    reply(404, &[("x-go-pprof", "1")], b"Unknown profile\n")
}

/// What was asked, with the delay before it, and what was said at the end.
fn run(
    own: serde_json::Value,
    backwards: bool,
    answer: &dyn Fn(&str) -> Reply,
) -> (Vec<Request>, Vec<Warning>) {
    let mut pull = Pprof.plan(&source(own), window()).unwrap();
    let (mut flying, mut asked) = (Vec::new(), Vec::new());
    loop {
        match pull.next() {
            Step::Fetch(ticket, request) => {
                flying.push((ticket, request.path.clone()));
                asked.push(request);
            }
            Step::Wait => {
                let at = if backwards { flying.len() - 1 } else { 0 };
                let (ticket, path) = flying.remove(at);
                pull.feed(ticket, &Outcome::Answered(&answer(&path)));
            }
            Step::Done => break,
        }
    }
    let progress = pull.progress();
    assert_eq!(progress.answered, progress.expected);
    (asked, pull.warnings())
}

fn lines(asked: &[Request]) -> Vec<String> {
    asked
        .iter()
        .map(|r| format!("{} +{}s #{}", r.path, r.delay.as_secs(), r.again))
        .collect()
}

#[test]
fn without_the_yes_nothing_that_stops_the_program_is_asked() {
    let mut sorted = Vec::new();
    for backwards in [false, true] {
        let (asked, warnings) = run(serde_json::json!({}), backwards, &program);
        let mut lines = lines(&asked);
        assert_eq!(lines[0], "/debug/pprof/ +0s #0");
        assert!(!asked[0].is_kept && asked[1].is_kept);
        lines.sort();
        assert_eq!(
            lines,
            [
                "/debug/pprof/ +0s #0",
                "/debug/pprof/allocs +0s #0",
                "/debug/pprof/block +0s #0",
                "/debug/pprof/goroutine +0s #0",
                "/debug/pprof/goroutine +10s #1",
                "/debug/pprof/goroutine +10s #2",
                "/debug/pprof/heap +0s #0",
                "/debug/pprof/profile?seconds=10 +0s #0",
            ]
        );
        let codes: Vec<&str> = warnings.iter().map(|w| w.code.as_str()).collect();
        assert_eq!(codes, ["no_consent"], "{warnings:?}");
        assert!(!warnings[0].lossy && warnings[0].text.contains("stop_the_world = true"));
        sorted.push(lines);
    }
    assert_eq!(
        sorted[0], sorted[1],
        "the order of answers changes no question"
    );
}

#[test]
fn the_yes_takes_states_too_and_the_report_says_what_was_stopped() {
    let own = serde_json::json!({
        "stop_the_world": true, "dumps": 2, "interval": "30s", "cpu": "20s", "delta": "5s", "gc": true,
    });
    let (asked, warnings) = run(own, false, &program);
    let lines = lines(&asked);
    let dumps: Vec<&String> = lines.iter().filter(|l| l.contains("/goroutine")).collect();
    assert_eq!(
        dumps,
        [
            "/debug/pprof/goroutine +0s #0",
            "/debug/pprof/goroutine?debug=2 +0s #0",
            "/debug/pprof/goroutine +30s #1",
            "/debug/pprof/goroutine?debug=2 +0s #1",
        ]
    );
    for line in [
        "/debug/pprof/heap?gc=1 +0s #0",
        "/debug/pprof/allocs?seconds=5 +0s #0",
        "/debug/pprof/block?seconds=5 +0s #0",
    ] {
        assert!(lines.iter().any(|l| l == line), "{lines:#?}");
    }
    let cpu = asked.iter().find(|r| r.path.contains("profile?")).unwrap();
    assert!(
        !cpu.is_repeatable,
        "a second one is refused while the first runs"
    );
    assert_eq!(
        cpu.total_timeout,
        Some(source(serde_json::json!({})).limits.total_timeout + Duration::from_secs(20))
    );
    assert!(
        asked
            .iter()
            .filter(|r| r.path.contains("debug=2"))
            .all(|r| !r.is_repeatable)
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0].code, "world_stopped");
    assert!(warnings[0].text.contains("2 dumps"));
}

#[test]
fn a_dump_that_was_asked_for_without_the_yes_is_missing() {
    let (asked, warnings) = run(
        serde_json::json!({"goroutine_debug": [1, 2]}),
        false,
        &program,
    );
    assert!(!lines(&asked).iter().any(|l| l.contains("debug=2")));
    assert!(
        warnings[0].lossy && warnings[0].code == "no_consent",
        "{warnings:?}"
    );
    let (asked, warnings) = run(serde_json::json!({"goroutine_debug": [2]}), false, &program);
    assert!(!lines(&asked).iter().any(|l| l.contains("goroutine")));
    assert!(lines(&asked).iter().any(|l| l.contains("profile?seconds")));
    assert!(warnings[0].lossy);
}

#[test]
fn errors_of_go_are_told_with_what_to_do() {
    let answer = |path: &str| match path {
        p if p.contains("profile?") => reply(
            500,
            &[("x-go-pprof", "1")],
            b"Could not enable CPU profiling: cpu profiling already in use\n",
        ),
        p if p.contains("allocs?seconds") => reply(
            400,
            &[("x-go-pprof", "1")],
            b"profile duration exceeds server's WriteTimeout\n",
        ),
        p if p.ends_with("/block") || p.contains("block?") => unknown(),
        p => program(p),
    };
    let (_, warnings) = run(serde_json::json!({"delta": "10s"}), false, &answer);
    let of = |words: &str| {
        let found = warnings.iter().find(|w| w.text.contains(words));
        found.unwrap_or_else(|| panic!("{words}: {warnings:#?}"))
    };
    assert!(!of("already in use").lossy, "nobody asked for it by name");
    assert!(
        of("already in use")
            .text
            .contains("another profiler is running")
    );
    // Of one code three are told, and what was asked for comes first.
    assert!(of("WriteTimeout").lossy && of("WriteTimeout").text.contains("ask for fewer seconds"));
    assert!(
        warnings
            .iter()
            .any(|w| w.lossy && w.text.starts_with("the difference of block")),
        "{warnings:#?}"
    );
}

#[test]
fn pages_in_place_of_profiles_are_told_once() {
    let page = |status: u16| {
        move |_: &str| {
            reply(
                status,
                &[("content-type", "text/html; charset=utf-8")],
                b"<!DOCTYPE html><html>Not here</html>",
            )
        }
    };
    for (status, words) in [
        (404, "HTTP 404: there is no pprof under `/debug/pprof`"),
        (200, "in place of a profile"),
    ] {
        let (asked, warnings) = run(
            serde_json::json!({"stop_the_world": true}),
            false,
            &page(status),
        );
        // Without an index the usual six are tried, and what failed once is not polled.
        assert_eq!(
            lines(&asked)
                .iter()
                .filter(|l| l.contains("goroutine"))
                .count(),
            2
        );
        assert_eq!(warnings.len(), 1, "{warnings:#?}");
        assert!(
            warnings[0].lossy && warnings[0].text.contains(words),
            "{warnings:?}"
        );
        assert!(
            warnings[0].text.contains("heap")
                && warnings[0].text.contains("check `url` and `path`")
        );
    }
    for status in [401, 403] {
        let (asked, warnings) = run(serde_json::json!({}), false, &page(status));
        assert_eq!((asked.len(), warnings.len()), (1, 1), "{warnings:?}");
        assert!(warnings[0].lossy && warnings[0].text == format!("HTTP {status}"));
    }
}

#[test]
fn text_in_place_of_protobuf_is_none_and_bare_protobuf_is_one() {
    let text = |path: &str| match path {
        p if p.ends_with("/heap") => reply(200, &[], b"heap profile: 1: 2 [3: 4] @ heap/1048576\n"),
        p if p.ends_with("/block") => reply(200, &[], b""),
        // sample_type {1, 2}, string_table "", "a", "count".
        p if p.ends_with("/allocs") => reply(
            200,
            &[],
            b"\x0a\x04\x08\x01\x10\x02\x32\x00\x32\x01a\x32\x05count",
        ),
        p => program(p),
    };
    let (_, warnings) = run(serde_json::json!({"dumps": 0}), false, &text);
    let lossy: Vec<&str> = warnings
        .iter()
        .filter(|w| w.lossy)
        .map(|w| w.text.as_str())
        .collect();
    assert_eq!(lossy.len(), 2, "{lossy:#?}");
    assert!(
        lossy
            .iter()
            .any(|t| t.starts_with("heap could not be had: HTTP 200 with no content type"))
    );
    assert!(
        lossy
            .iter()
            .any(|t| t.starts_with("block could not be had: HTTP 200 with nothing in it"))
    );
}

#[test]
fn a_window_that_is_over_is_told() {
    let late = |path: &str| {
        let mut answer = program(path);
        answer.headers[0].1 = "Sat, 01 Aug 2026 09:00:00 GMT".to_owned();
        answer
    };
    let (_, warnings) = run(
        serde_json::json!({"profiles": ["heap"], "cpu": "0s"}),
        false,
        &late,
    );
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(
        (warnings[0].code.as_str(), warnings[0].lossy),
        ("outside_window", false)
    );
    assert!(warnings[0].text.contains("2026-08-01T09:00:00Z"));
}

#[test]
fn who_cannot_be_reached_is_told_once() {
    let mut pull = Pprof
        .plan(&source(serde_json::json!({})), window())
        .unwrap();
    let failure = Failure {
        kind: FailureKind::Unreachable,
        text: "nobody listens at h:6060".to_owned(),
        advice: "start it".to_owned(),
    };
    let Step::Fetch(ticket, _) = pull.next() else {
        panic!();
    };
    pull.feed(ticket, &Outcome::Failed(&failure));
    assert_eq!(pull.next(), Step::Done);
    let warnings = pull.warnings();
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].text, "nobody listens at h:6060");
}

#[test]
fn settings_are_checked() {
    let wrong = |own| {
        Pprof
            .plan(&source(own), window())
            .err()
            .unwrap()
            .to_string()
    };
    for (own, words) in [
        (serde_json::json!({"pat": "x"}), "pat"),
        (serde_json::json!({"path": "debug"}), "sources.shop.path"),
        (serde_json::json!({"goroutine_debug": [3]}), "0, 1 or 2"),
        (serde_json::json!({"gc": true}), "stop_the_world"),
        (serde_json::json!({"interval": "2m"}), "at most 60s"),
        (serde_json::json!({"cpu": "1.5s"}), "whole seconds"),
        (serde_json::json!({"delta": "soon"}), "a duration"),
        (serde_json::json!({"profiles": ["profile"]}), "`cpu = "),
        (
            serde_json::json!({"profiles": ["cmdline"]}),
            "command lines",
        ),
        (serde_json::json!({"dumps": 1000}), "at most 100"),
    ] {
        assert!(wrong(own).contains(words), "{words}");
    }
    let mut mounted = source(serde_json::json!({}));
    mounted.url = Some("http://h:6060/admin/debug/pprof".to_owned());
    let checked = Checked::of(&mounted).unwrap();
    assert_eq!(checked.request("heap", "").path, "/heap");
    assert_eq!(checked.index().path, "/");
    assert_eq!(
        checked.request("example.com/a b.c", "").path,
        "/example.com/a%20b.c"
    );
}

#[test]
fn doctor_counts_goroutines_and_names_what_a_dump_would_do() {
    let look = |own: serde_json::Value, answer: &dyn Fn(&str) -> Reply| {
        let mut checkup = Pprof.examine(&source(own)).unwrap();
        while let Step::Fetch(ticket, request) = checkup.next() {
            assert!(!request.is_kept && !request.path.contains("debug=2"));
            checkup.feed(ticket, &Outcome::Answered(&answer(&request.path)));
        }
        checkup.checks()
    };
    let text = |checks: &[(Check, crate::sources::Verdict)], check: Check| {
        let found = checks.iter().find(|(c, _)| *c == check).unwrap();
        format!(
            "{} {}",
            found.1.text,
            found.1.advice.clone().unwrap_or_default()
        )
    };
    let good = look(serde_json::json!({}), &program);
    assert!(text(&good, Check::MayRead).starts_with("allocs, block, goroutine, heap"));
    assert!(text(&good, Check::Limits).contains("4,309 goroutines; dumps with states"));
    let many = |path: &str| {
        let mut answer = program(path);
        let page = String::from_utf8_lossy(&answer.body).replace("4309", "60019");
        answer.body = page.into_bytes();
        answer
    };
    let many = look(serde_json::json!({"stop_the_world": true}), &many);
    assert!(
        text(&many, Check::Limits).contains("about 51 MB"),
        "{many:?}"
    );
    assert!(text(&many, Check::Limits).contains("goroutine_debug = [0]"));
    let login = look(serde_json::json!({}), &|_| reply(401, &[], b""));
    assert!(text(&login, Check::Authenticated).contains("basic_auth"));
    let elsewhere = look(serde_json::json!({}), &|_| reply(404, &[], b"<html>"));
    assert!(text(&elsewhere, Check::MayRead).contains("mounted elsewhere"));
}
