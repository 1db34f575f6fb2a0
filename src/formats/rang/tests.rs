use proptest::prelude::*;

use super::alertmanager::Alertmanager;
use super::grafana::GrafanaAnnotations;
use super::kubernetes::KubernetesEvents;
use super::testing::{format_of, read_with};
use crate::base::reporter::Reporter;
use crate::formats::{FormatError, Sniff};
use crate::model::event::Event;

const ALERTS: &str = include_str!("../../../tests/payloads/rang/alertmanager-alerts.json");
const SILENCES: &str = include_str!("../../../tests/payloads/rang/alertmanager-silences.json");
const ANNOTATIONS: &str = include_str!("../../../tests/payloads/rang/grafana-annotations.json");
const EVENTS: &str = include_str!("../../../tests/payloads/rang/kubernetes-events-1.json");
const MORE_EVENTS: &str = include_str!("../../../tests/payloads/rang/kubernetes-events-2.json");

fn alerts(text: &str) -> (Result<Vec<Event>, FormatError>, Reporter) {
    read_with(&Alertmanager, text.as_bytes(), None)
}

fn annotations(text: &str) -> (Result<Vec<Event>, FormatError>, Reporter) {
    read_with(&GrafanaAnnotations, text.as_bytes(), None)
}

fn kubernetes(text: &str) -> (Result<Vec<Event>, FormatError>, Reporter) {
    read_with(&KubernetesEvents, text.as_bytes(), None)
}

/// Time, end, kind and title of each, in the order of the answer.
fn lines(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .map(|e| {
            let end = e.end.map_or_else(|| "-".to_owned(), |t| t.to_clock());
            format!("{} {end} {}: {}", e.t.to_clock(), e.kind, e.title)
        })
        .collect()
}

fn entities(event: &Event) -> Vec<String> {
    let ids = event.entities().into_iter();
    ids.map(|(kind, name)| format!("{}:{name}", kind.word()))
        .collect()
}

fn codes(log: Reporter) -> Vec<String> {
    log.into_warnings().into_iter().map(|w| w.code).collect()
}

#[test]
fn each_is_recognised_by_its_content() {
    let group = format!(r#"[{{"labels":{{}},"receiver":{{"name":"a"}},"alerts":{ALERTS}}}]"#);
    let webhook =
        format!(r#"{{"version":"4","status":"firing","alerts":{ALERTS},"groupKey":"x"}}"#);
    for (text, format) in [
        (ALERTS, "alertmanager"),
        (SILENCES, "alertmanager"),
        (&group, "alertmanager"),
        (&webhook, "alertmanager"),
        (ANNOTATIONS, "grafana-annotations"),
        (EVENTS, "kubernetes-events"),
        (
            r#"{"apiVersion":"v1","items":[],"kind":"List","metadata":{"resourceVersion":""}}"#,
            "kubernetes-events",
        ),
        (
            r#"{"kind":"EventList","apiVersion":"events.k8s.io/v1","metadata":{},"items":[]}"#,
            "kubernetes-events",
        ),
        (
            r#"{"kind":"Event","regarding":{"kind":"Pod","name":"x"},"reason":"Killing","note":"n","eventTime":"2026-11-30T14:02:11.694297Z"}"#,
            "kubernetes-events",
        ),
        (
            r#"{"type":"ADDED","object":{"kind":"Event","involvedObject":{},"reason":"Killing"}}"#,
            "kubernetes-events",
        ),
        (
            r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{},"spec":{}}]}"#,
            "",
        ),
        (
            r#"[{"id":1,"time":1796048898892,"text":"node drained"}]"#,
            "events-json",
        ),
        ("[]", ""),
    ] {
        assert_eq!(format_of(text.as_bytes(), None), format, "{text}");
    }
    // An empty list has nothing to be recognised by but its question.
    for (path, format) in [
        ("/api/v2/alerts?active=true", "alertmanager"),
        ("/alertmanager/api/v2/silences", "alertmanager"),
        ("/api/annotations?from=1&to=2", "grafana-annotations"),
        ("/api/other", ""),
    ] {
        let asked = Some((path, "2026-11-30T14:31:20Z"));
        assert_eq!(format_of(b" [ ]\n", asked), format, "{path}");
        assert_eq!(format_of(EVENTS.as_bytes(), asked), "kubernetes-events");
    }
}

#[test]
fn alerts_that_fire_have_no_end_and_keep_what_was_sent() {
    let (events, log) = alerts(ALERTS);
    let events = events.unwrap();
    assert!(log.is_empty());
    assert_eq!(
        lines(&events),
        [
            "14:05:10.123 - alert: CheckoutSlow firing",
            "14:10:00 - alert: TargetDown silenced",
            "14:10:00 - alert: TargetDown firing",
        ]
    );
    assert_eq!(
        events[0].text.as_ref(),
        r#"Checkout is slow {namespace="shop",service="checkout",severity="page"}"#
    );
    assert_eq!(entities(&events[0]), ["service:checkout"]);
    assert_eq!(
        entities(&events[1]),
        ["instance:10.0.3.17:9100", "job:node"]
    );
    for kept in [
        r#""startsAt":"2026-11-30T23:10:00.000+09:00""#,
        r#""silencedBy":["5d3f5c3e"#,
        r#""receivers":["chat"]"#,
    ] {
        assert!(
            events[1].attributes.contains(kept),
            "{}",
            events[1].attributes
        );
    }
    assert_eq!(events[1].locator.as_ref(), "$[1]");
}

#[test]
fn alerts_that_are_over_end() {
    let over = ALERTS.replace("2026-11-30T14:31:10.125Z", "2026-11-30T14:35:10.200Z");
    assert_eq!(
        lines(&alerts(&over).0.unwrap())[0],
        "14:05:10.123 14:35:10.123 alert: CheckoutSlow resolved"
    );
    let webhook = r#"{"receiver":"x","status":"resolved","alerts":[
        {"status":"resolved","labels":{"alertname":"A"},"annotations":{},"startsAt":"2026-11-30T14:05:10Z","endsAt":"2026-11-30T14:06:10Z"},
        {"status":"firing","labels":{"alertname":"B"},"annotations":{},"startsAt":"2026-11-30T14:05:10Z","endsAt":"0001-01-01T00:00:00Z"}]}"#;
    assert_eq!(
        lines(&alerts(webhook).0.unwrap()),
        [
            "14:05:10 14:06:10 alert: A resolved",
            "14:05:10 - alert: B firing",
        ]
    );
}

#[test]
fn an_alert_of_several_groups_is_one() {
    let group = |name: &str| {
        format!(r#"{{"labels":{{}},"receiver":{{"name":"{name}"}},"alerts":{ALERTS}}}"#)
    };
    let (events, _) = alerts(&format!("[{},{}]", group("a"), group("b")));
    let events = events.unwrap();
    assert_eq!(events.len(), 3);
    assert_eq!(events[2].locator.as_ref(), "$[0].alerts[2]");
}

#[test]
fn silences_last_until_they_are_over() {
    let (events, log) = alerts(SILENCES);
    assert_eq!(
        lines(&events.unwrap()),
        [
            r#"14:12:00 - silence: Silence of {alertname="TargetDown",instance=~"10\\.0\\.3\\.17.*"}"#,
            r#"13:20:00 13:50:00 silence: Silence of {env!="prod"}"#,
        ]
    );
    assert_eq!(
        codes(log),
        ["not_begun"],
        "the one of tomorrow is left out aloud"
    );
}

#[test]
fn what_is_no_alert_is_passed_over_and_the_rest_kept() {
    let (events, log) = alerts(
        r#"[{"labels":{"alertname":"A"},"startsAt":"soon"},{"startsAt":"2026-11-30T14:05:10Z"},7,{"labels":{"alertname":"B"},"startsAt":"2026-11-30T14:05:10Z"},{"lab"#,
    );
    assert_eq!(lines(&events.unwrap()), ["14:05:10 - alert: B firing"]);
    assert!(log.is_lossy());
    let error = alerts(r#"{"message":"no"}"#).0.unwrap_err();
    assert_eq!(error.code, "no_events");
    let (events, log) = read_with(&Alertmanager, b"[]", Some(("/api/v2/alerts", "")));
    assert_eq!(
        (events.unwrap().len(), codes(log)),
        (0, vec!["no_events".to_owned()])
    );
}

#[test]
fn annotations_are_ranges_with_entities_and_alerts_last_from_turn_to_turn() {
    let (events, log) = annotations(ANNOTATIONS);
    let events = events.unwrap();
    assert!(log.is_empty());
    assert_eq!(
        lines(&events),
        [
            "14:10:00 14:11:00 deploy: checkout 1.42.0 rolled out",
            "14:16:40 - alert: p99 high Alerting",
            "14:15:10 14:30:10 alert: p99 high Alerting",
            "14:08:20 - alert: disk full Normal",
        ]
    );
    assert_eq!(events[0].text.as_ref(), "by pipeline 4711 & checked");
    assert_eq!(events[0].source.as_ref(), "ci");
    assert_eq!(entities(&events[0]), ["service:checkout"]);
    assert_eq!(entities(&events[1]), ["service:cart"]);
    assert_eq!(
        events[1].text.as_ref(),
        "{alertname=p99 high, service=cart}"
    );
    assert!(events[0].attributes.contains("env:prod"));
    for private in ["example.org", "avatar"] {
        assert!(!events[0].attributes.contains(private));
    }
    assert!(events[0].is_change() && !events[1].is_change());
}

#[test]
fn odd_annotations_are_said() {
    let (events, log) = annotations(
        r#"[{"time":-1,"text":"a","panelId":1},{"time":1796047800000,"timeEnd":1796047800000,"text":"","tags":["x"],"panelId":1},{"time":1796047800000,"text":"1 < 2 <b>bold","panelId":1}]"#,
    );
    assert_eq!(
        lines(&events.unwrap()),
        ["14:10:00 - change: x", "14:10:00 - change: 1 < 2 bold"]
    );
    assert_eq!(codes(log), ["bad_row"]);
    assert!(annotations(r#"{"message":"Unauthorized"}"#).0.is_err());
    assert_eq!(annotations("[]").0.unwrap(), []);
}

#[test]
fn kubernetes_events_have_kinds_ends_and_entities() {
    let (events, log) = kubernetes(EVENTS);
    let mut events = events.unwrap();
    events.extend(kubernetes(MORE_EVENTS).0.unwrap());
    assert!(log.is_empty());
    assert_eq!(
        lines(&events),
        [
            "14:02:10 - scale: ScalingReplicaSet deployment shop/checkout",
            "14:04:00 14:09:30 fault: Unhealthy pod shop/checkout-6d5c9f7b8-hx2wq",
            "14:06:00 - fault: NodeNotReady node worker-2",
            "14:02:11.694 - routine: Scheduled pod shop/checkout-6d5c9f7b8-zzzzz",
            "14:02:20 - config: RELOAD pod ingress-nginx/ingress-nginx-controller-599c5c76cc-bk8w9",
            "14:09:40 - restart: Killing pod shop/checkout-6d5c9f7b8-hx2wq",
        ]
    );
    assert_eq!(
        events[1].text.as_ref(),
        "Readiness probe failed: HTTP probe failed with statuscode: 503 (27 times)"
    );
    assert_eq!(events[1].source.as_ref(), "kubelet");
    assert!(events[1].attributes.contains(r#""count":27"#));
    assert_eq!(
        entities(&events[1]),
        [
            "pod:checkout-6d5c9f7b8-hx2wq",
            "service:checkout",
            "node:worker-2"
        ]
    );
    assert_eq!(entities(&events[0]), ["service:checkout"]);
    assert_eq!(entities(&events[2]), ["node:worker-2"]);
    // Only a kubelet's instance is a node.
    assert_eq!(entities(&events[3]).len(), 2);
}

#[test]
fn the_newer_family_watches_and_reduced_lists_are_read() {
    let newer = r#"{"apiVersion":"events.k8s.io/v1","kind":"EventList","items":[{"metadata":{"name":"x","namespace":"shop","uid":"n1"},"eventTime":"2026-11-30T14:02:11.694297Z","series":{"count":5,"lastObservedTime":"2026-11-30T14:03:00.5Z"},"reportingController":"kubelet","reportingInstance":"worker-1","action":"Binding","reason":"FailedScheduling","regarding":{"kind":"Pod","namespace":"shop","name":"web-0"},"note":"0/3 nodes are available","type":"Warning","deprecatedCount":null}]}"#;
    let events = kubernetes(newer).0.unwrap();
    assert_eq!(
        lines(&events),
        ["14:02:11.694 14:03:00.500 fault: FailedScheduling pod shop/web-0"]
    );
    assert_eq!(events[0].text.as_ref(), "0/3 nodes are available (5 times)");
    assert_eq!(entities(&events[0]), ["pod:web-0", "node:worker-1"]);

    let one = |kind: &str, count: u32| {
        format!(
            r#"{{"type":"{kind}","object":{{"kind":"Event","metadata":{{"uid":"w"}},"involvedObject":{{"kind":"Pod","namespace":"shop","name":"web-0"}},"reason":"BackOff","message":"Back-off","type":"Warning","firstTimestamp":"2026-11-30T14:02:11Z","lastTimestamp":"2026-11-30T14:02:1{count}Z","count":{count}}}}}"#
        )
    };
    let watch = format!(
        "{}\n{}\n{}",
        one("ADDED", 1),
        one("MODIFIED", 4),
        r#"{"type":"BOOKMARK","object":{"kind":"Pod"}}"#
    );
    let (events, log) = kubernetes(&watch);
    let events = events.unwrap();
    assert_eq!(
        lines(&events),
        ["14:02:11 14:02:14 fault: BackOff pod shop/web-0"]
    );
    assert_eq!(codes(log), ["other_lines"]);

    let reduced = r#"{"items":[{"namespace":"openshift-machine-api","lastTimestamp":"2026-11-30T23:02:11+09:00","reason":"FailedUpdate","message":"requeue in: 20s","type":"Warning"}]}"#;
    assert_eq!(
        lines(&kubernetes(reduced).0.unwrap()),
        ["14:02:11 - fault: FailedUpdate in openshift-machine-api"]
    );
}

#[test]
fn broken_events_are_said_and_the_rest_kept() {
    let (events, log) = kubernetes(
        r#"{"kind":"List","items":[{"kind":"Event","reason":"A","involvedObject":{}},{"kind":"Event","involvedObject":{}},3,{"kind":"Event","reason":"B","involvedObject":{},"eventTime":"2026-11-30T14:02:11Z"},{"rea"#,
    );
    assert_eq!(lines(&events.unwrap()), ["14:02:11 - routine: B"]);
    let places: Vec<Option<String>> = log.into_warnings().into_iter().map(|w| w.at).collect();
    assert_eq!(places[0].as_deref(), Some("$.items[0]"));
    assert_eq!(places.len(), 4, "three whole, and the rest counted");
    assert!(kubernetes("no JSON").0.is_err());
    assert_eq!(
        kubernetes(r#"{"kind":"EventList","items":[]}"#).0.unwrap(),
        []
    );
}

#[test]
fn recorded_events_are_read_whole() {
    for (file, events) in [
        ("k8s_events_failed_mount.json", None),
        ("k8s_events_image_pull.json", None),
        ("k8s_events_init_crashloop.json", None),
        ("k8s_events_insights_compact.json", Some(2)),
    ] {
        let Some(path) = crate::base::testing::shared_data(&format!("public/logs/{file}")) else {
            continue;
        };
        let bytes = crate::base::fs::read(&path).unwrap();
        assert_eq!(format_of(&bytes, None), "kubernetes-events", "{file}");
        let (read, log) = read_with(&KubernetesEvents, &bytes, None);
        let read = read.unwrap();
        assert!(log.is_empty(), "{file}: {:?}", log.into_warnings());
        let items: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(
            read.len(),
            items["items"].as_array().unwrap().len(),
            "{file}"
        );
        assert!(events.is_none_or(|n| n == read.len()));
        assert!(read.iter().any(|e| e.kind.as_ref() == "fault"), "{file}");
    }
}

fn sniffs_and_reads(bytes: &[u8]) {
    let head = crate::formats::Head::new(bytes);
    for format in [
        &Alertmanager as &dyn crate::formats::Format,
        &GrafanaAnnotations,
        &KubernetesEvents,
    ] {
        let _verdict: Sniff = format.sniff(&head);
        let _outcome = read_with(format, bytes, Some(("/api/v2/alerts", "x")));
    }
}

proptest! {
    #[test]
    fn never_panics(text in "[\\[\\]{}\":,a-z0-9.\n -]{0,200}", bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        sniffs_and_reads(text.as_bytes());
        sniffs_and_reads(&bytes);
    }

    #[test]
    fn payloads_cut_or_bent_anywhere_do_not_panic(at in 0usize..3_000, with in any::<u8>()) {
        for payload in [ALERTS, SILENCES, ANNOTATIONS, EVENTS] {
            sniffs_and_reads(payload.as_bytes().get(..at).unwrap_or_default());
            let mut bent = payload.as_bytes().to_vec();
            if let Some(byte) = bent.get_mut(at) {
                *byte = with;
            }
            sniffs_and_reads(&bent);
        }
    }

    #[test]
    fn any_time_and_state_do_not_panic(ms in any::<i64>(), end in any::<i64>(), state in ".{0,8}", text in ".{0,40}") {
        let one = serde_json::json!({"time": ms, "timeEnd": end, "text": text, "newState": state, "alertId": ms, "panelId": 1, "tags": [text]});
        sniffs_and_reads(serde_json::json!([one, one]).to_string().as_bytes());
    }
}
