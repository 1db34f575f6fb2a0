//! What changed and what rang, over real HTTP on loopback: the errors that are special to these kinds.

use std::io::Write as _;
use std::sync::Arc;

use serde_json::json;

use super::testing::{Memory, Server, answer, settings};
use super::*;
use crate::base::secret::Secret;
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::settings::{Credentials, SecretRef};
use crate::sources::{Check, by_id};

const TOKEN: &str = "hunter2-planted-secret";
const KINDS: [(&str, &str); 3] = [
    ("alertmanager", "[]"),
    ("grafana_annotations", "[]"),
    (
        "kubernetes_events",
        r#"{"kind":"EventList","apiVersion":"v1","metadata":{},"items":[]}"#,
    ),
];

fn window() -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-11-30T14:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(3_600_000_000_000))
}

fn of_kind(kind: &str, url: String) -> SourceSettings {
    let mut settings = settings(url);
    kind.clone_into(&mut settings.kind);
    settings.http.credentials = Some(Credentials::Authorization {
        scheme: "Bearer".to_owned(),
        credentials: SecretRef::Clear(Secret::new(TOKEN)),
    });
    settings
}

fn pulled(settings: SourceSettings) -> (Pulled, Memory) {
    let kind = by_id(&settings.kind).unwrap();
    let job = Job {
        pull: kind.plan(&settings, window()).unwrap(),
        settings,
    };
    let mut memory = Memory::default();
    let cancel = Cancel::new();
    let pulled = pull(
        vec![job],
        NetOptions::default(),
        &mut memory,
        &mut Unwatched,
        &cancel,
    );
    (pulled.unwrap(), memory)
}

fn losses(pulled: &Pulled) -> Vec<&str> {
    let warnings = pulled.ends[0].warnings.iter();
    warnings
        .filter(|w| w.lossy)
        .map(|w| w.text.as_str())
        .collect()
}

#[test]
fn refusals_are_told_once_in_the_words_of_the_server() {
    for (kind, _) in KINDS {
        for (status, headers, body, words) in [
            (
                "401 Unauthorized",
                "Content-Type: application/json\r\n",
                r#"{"message":"Unauthorized"}"#,
                "HTTP 401: Unauthorized",
            ),
            (
                "403 Forbidden",
                "Content-Type: application/json\r\n",
                r#"{"message":"events is forbidden"}"#,
                "HTTP 403: events is forbidden",
            ),
            (
                "404 Not Found",
                "Content-Type: text/html\r\n",
                "<!doctype html><html>nginx</html>",
                "HTTP 404: a page in place of the answer",
            ),
            (
                "200 OK",
                "Content-Type: text/html\r\n",
                "<!doctype html><html>Sign in</html>",
                "HTTP 200: an answer that is no JSON: a login page or a proxy?",
            ),
        ] {
            let server = Server::always(answer(status, headers, body).as_bytes());
            let (pulled, memory) = pulled(of_kind(kind, server.url()));
            let losses = losses(&pulled);
            assert_eq!(losses.len(), 1, "{kind} {status}: {losses:?}");
            assert!(losses[0].ends_with(words), "{kind}: {losses:?}");
            // A renewed token may be read again after 401; nothing else is asked twice.
            assert!(server.requests().iter().all(|r| r.contains(TOKEN)));
            assert_eq!(memory.0.len(), 1);
            assert!(!format!("{memory:?}{pulled:?}").contains(TOKEN));
        }
    }
}

#[test]
fn whoever_asks_too_often_waits_as_told() {
    for (kind, good) in KINDS {
        let server = Server::in_turn(&[
            &answer(
                "429 Too Many Requests",
                "Retry-After: 0\r\n",
                r#"{"message":"slow down"}"#,
            ),
            &answer("200 OK", "Content-Type: application/json\r\n", good),
        ]);
        let mut patient = of_kind(kind, server.url());
        patient.limits.retries = 2;
        let (pulled, memory) = pulled(patient);
        assert_eq!(losses(&pulled), [""; 0], "{kind}");
        assert!(memory.0.iter().all(|e| e.answer.status == 200));
        assert!(server.requests().len() > memory.0.len());
    }
}

#[test]
fn pages_of_a_cluster_follow_their_tokens_and_a_late_one_goes_on() {
    let page = |token: &str, name: &str| {
        json!({"kind": "EventList", "apiVersion": "v1", "metadata": {"continue": token}, "items": [{"involvedObject": {"kind": "Pod", "name": name}, "reason": "Killing", "firstTimestamp": "2026-11-30T13:59:59Z"}]}).to_string()
    };
    let server = Server::start(Arc::new(move |text, to| {
        let line = text.lines().next().unwrap_or_default();
        let (status, body) = if line.contains("continue=new%3D") {
            ("200 OK", page("", "c"))
        } else if line.contains("continue=two") {
            ("410 Gone", json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "metadata": {"continue": "new="}}).to_string())
        } else {
            ("200 OK", page("two", "a"))
        };
        drop(to.write_all(answer(status, "Content-Type: application/json\r\n", &body).as_bytes()));
    }));
    let (pulled, memory) = pulled(of_kind("kubernetes_events", server.url()));
    assert_eq!(losses(&pulled), [""; 0]);
    assert_eq!(pulled.ends[0].warnings[0].code, "list_moved");
    let statuses: Vec<u16> = memory.0.iter().map(|e| e.answer.status).collect();
    assert_eq!(statuses, [200, 410, 200]);
    assert!(
        server.requests()[0]
            .to_lowercase()
            .contains("accept: application/json")
    );
}

#[test]
fn doctor_tells_rights_and_clock() {
    for (kind, good) in KINDS {
        let old = "Content-Type: application/json\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
        let server = Server::always(answer("200 OK", old, good).as_bytes());
        let settings = of_kind(kind, server.url());
        let checkup = by_id(kind).unwrap().examine(&settings).unwrap();
        let seen = examine(
            vec![(settings, checkup)],
            NetOptions::default(),
            &Cancel::new(),
        )
        .unwrap();
        let of = |check: Check| {
            let found = seen[0].checks.iter().find(|(c, _)| *c == check);
            found.map(|(_, verdict)| verdict.is_well)
        };
        assert_eq!(of(Check::Authenticated), Some(Some(true)), "{kind}");
        assert_eq!(of(Check::MayRead), Some(Some(true)), "{kind}");
        assert_eq!(of(Check::Clock), Some(Some(false)), "{kind}");
    }
}
