//! What the detector says of hand-made connects and of recordings whose truth is known.

use std::sync::Arc;

use crate::base::testing::shared_data;
use crate::base::time::{NANOS_PER_MS, Timestamp};
use crate::detect::Verdict;
use crate::detect::connect_outliers::ConnectOutliers;
use crate::detect::testing::{check, findings, raw, snapshot_from, snapshot_of};
use crate::model::batch::Batch;
use crate::model::finding::{Finding, Severity};
use crate::model::input::InputIx;
use crate::model::request::{Attempt, Request};
use crate::model::span::{SpanStatus, TraceSummary};

/// A request that began at `start_ms` with these attempts: (connect, response, status).
fn request(start_ms: i64, attempts: &[(Option<f64>, f64, u16)]) -> Request {
    let total: f64 = attempts.iter().map(|(_, response, _)| response).sum();
    Request {
        input: InputIx(0),
        line: 1,
        t: Timestamp::from_nanos((start_ms + total as i64) * NANOS_PER_MS),
        t_resolution_nanos: NANOS_PER_MS,
        is_failed: None,
        service: Arc::from("edge"),
        instance: Arc::from("edge-6d5c9f7b8-hx2wq"),
        method: Arc::from("GET"),
        path: Arc::from("/"),
        status: Some(200),
        duration_ms: Some(total),
        attempts: attempts
            .iter()
            .map(|(connect_ms, response, status)| Attempt {
                addr: Arc::from("10.0.0.2:80"),
                status: Some(*status),
                connect_ms: *connect_ms,
                header_ms: connect_ms.map(|_| *response),
                response_ms: Some(*response),
                is_new_group: false,
                is_connect_logged: true,
            })
            .collect(),
        upstream: Arc::from("shop"),
        bytes: None,
        client: Arc::from(""),
        request_id: Arc::from(""),
        trace_id: Arc::from(""),
    }
}

/// When the request of an index begins, in milliseconds.
fn start_of(ix: usize) -> i64 {
    i64::try_from(ix).unwrap() * 50
}

/// `n` requests, one each 50 ms, of which those at `slow` (index, connect) connect slowly.
fn batch(n: usize, slow: &[(usize, f64)]) -> Batch {
    let requests = (0..n)
        .map(|ix| {
            let connect = slow
                .iter()
                .find(|(at, _)| *at == ix)
                .map_or(1.0, |(_, ms)| *ms);
            request(start_of(ix), &[(Some(connect), connect + 5.0, 200)])
        })
        .collect();
    Batch {
        requests,
        ..Batch::default()
    }
}

fn found(batch: Batch) -> Vec<Finding> {
    findings(&ConnectOutliers, &snapshot_from(batch))
}

fn rung(finding: &Finding, rung: &str) -> u64 {
    finding.values["rungs"][rung].as_u64().unwrap_or(0)
}

#[test]
fn fast_connects_are_clear_however_slow_the_answers() {
    let mut slow_answers = batch(500, &[]);
    for request in slow_answers.requests.iter_mut().step_by(10) {
        request.duration_ms = Some(1_020.0);
        request.attempts[0].response_ms = Some(1_020.0);
    }
    assert_eq!(
        check(&ConnectOutliers, &snapshot_from(slow_answers)),
        Verdict::Clear
    );
}

#[test]
fn nothing_recorded_is_not_enough() {
    let none = check(&ConnectOutliers, &snapshot_from(Batch::default()));
    assert!(matches!(none, Verdict::NotEnough(reason) if reason.contains("no access log")));
    let mut without = batch(10, &[]);
    for attempt in without.requests.iter_mut().flat_map(|r| &mut r.attempts) {
        attempt.connect_ms = None;
        attempt.is_connect_logged = false;
        attempt.status = Some(504);
        attempt.header_ms = None;
    }
    let none = check(&ConnectOutliers, &snapshot_from(without));
    assert!(
        matches!(none, Verdict::NotEnough(reason) if reason.contains("$upstream_connect_time"))
    );
}

#[test]
fn a_few_on_one_rung_are_told_with_little_confidence() {
    let few = found(batch(2_000, &[(300, 1_010.0), (500, 1_020.0)]));
    assert_eq!(few[0].cause.as_deref(), Some("unknown"));
    assert!(few[0].confidence < 0.3, "{}", few[0].confidence);
    assert_eq!(few[0].severity, Severity::Info);
    assert_eq!(rung(&few[0], "1s"), 2);
    let more = found(batch(
        2_000,
        &[
            (300, 1_010.0),
            (400, 1_020.0),
            (500, 1_001.0),
            (600, 1_030.0),
            (700, 3_030.0),
        ],
    ));
    assert_eq!(more[0].cause.as_deref(), Some("syn_retransmit"));
    assert!(more[0].confidence > few[0].confidence && more[0].confidence < 0.8);
    assert_eq!(more[0].text("ladder"), Some("classic"));
    assert_eq!(
        found(batch(2_000, &[(300, 720.0)])),
        [],
        "one slow connect is noise"
    );
}

#[test]
fn a_few_broad_ones_are_told_beside_the_rungs() {
    let mut slow: Vec<(usize, f64)> = (0..30)
        .map(|k| (300 + k * 20, 1_001.0 + k as f64))
        .collect();
    slow.extend([(310, 700.0), (350, 1_500.0)]);
    let found = found(batch(3_000, &slow));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].number("count"), Some(32.0));
    assert_eq!(rung(&found[0], "1s"), 30);
    assert!(
        found[0].detail.contains("2 others lie beside the rungs"),
        "{}",
        found[0].detail
    );
}

#[test]
fn a_lost_dns_answer_and_a_lost_syn_are_two_findings() {
    let mut slow: Vec<(usize, f64)> = (0..20)
        .map(|k| (300 + k * 20, 5_001.0 + k as f64 / 4.0))
        .collect();
    slow.extend((0..20).map(|k| (310 + k * 20, 1_001.0 + k as f64)));
    let causes: Vec<Option<String>> = found(batch(3_000, &slow))
        .into_iter()
        .map(|f| f.cause)
        .collect();
    assert!(
        causes.contains(&Some("syn_retransmit".to_owned())),
        "{causes:?}"
    );
    assert!(
        causes.contains(&Some("dns_timeout".to_owned())),
        "{causes:?}"
    );
}

#[test]
fn a_proxys_own_limit_is_a_cut_off() {
    let mut batch = batch(1_000, &[]);
    for (k, ix) in (100..400).step_by(30).enumerate() {
        let waited = 300.0 + k as f64 % 2.0;
        batch.requests[ix] = request(start_of(ix), &[(None, waited, 504), (Some(0.0), 5.0, 200)]);
    }
    let found = found(batch);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].cause.as_deref(), Some("connect_timeout"));
    assert_eq!(found[0].number("count"), Some(10.0));
    assert_eq!(found[0].number("limit_ms"), Some(300.0));
    assert_eq!(found[0].values["rungs"], serde_json::json!({}));
}

#[test]
fn a_refused_connect_and_a_group_without_servers_are_none() {
    let mut batch = batch(100, &[]);
    batch.requests[5] = request(250, &[(None, 0.0, 502), (Some(0.0), 5.0, 200)]);
    batch.requests[6] = request(300, &[(None, 0.0, 502)]);
    batch.requests[6].attempts[0].addr = Arc::from("shop");
    assert_eq!(found(batch), []);
}

#[test]
fn traces_count_where_logs_are_silent_and_only_there() {
    let summary = |n: i64, connect_ms: f64| TraceSummary {
        input: InputIx(0),
        trace_id: Arc::from(format!("1-{n}")),
        start: Timestamp::from_nanos(n * 50 * NANOS_PER_MS),
        response_ms: None,
        duration_ms: None,
        status: SpanStatus::Ok,
        entry: Arc::from("edge"),
        services: Vec::new(),
        http_method: Arc::from(""),
        http_url: Arc::from(""),
        http_status: None,
        connect_ms: Some(connect_ms),
        connect_service: Some(Arc::from("edge")),
        is_partial: false,
    };
    let slow = |n: i64| {
        if n % 40 == 7 {
            1_010.0 + n as f64 / 40.0
        } else {
            1.0
        }
    };
    let summaries: Vec<TraceSummary> = (0..1_000).map(|n| summary(n, slow(n))).collect();
    let only_traces = found(Batch {
        summaries: summaries.clone(),
        ..Batch::default()
    });
    assert_eq!(only_traces[0].number("count"), Some(25.0));
    assert_eq!(only_traces[0].cause.as_deref(), Some("syn_retransmit"));
    assert!(only_traces[0].detail.contains("sampled"));
    let slow: Vec<(usize, f64)> = (0..1_000)
        .map(|n| (n as usize, slow(n)))
        .filter(|(_, ms)| *ms > 1.0)
        .collect();
    let both = found(Batch {
        summaries,
        ..batch(1_000, &slow)
    });
    assert_eq!(both.len(), 1);
    assert_eq!(both[0].number("count"), Some(25.0));
    assert!(
        both[0]
            .evidence
            .iter()
            .any(|e| e.locator.starts_with("trace "))
    );
}

#[test]
fn buckets_say_that_connects_were_slow_and_not_why() {
    let bucket = |le: &str, slow: f64| {
        let samples: Vec<(f64, f64)> = (0..20)
            .map(|n| {
                let seen = f64::from(n) * 100.0;
                let held_back = if n > 5 { slow } else { 0.0 };
                (1_000.0 + f64::from(n) * 15.0, seen - held_back)
            })
            .collect();
        raw(
            "http_client_connect_duration_seconds_bucket",
            &[("service", "cart"), ("le", le)],
            &samples,
        )
    };
    let found = found(Batch {
        series: vec![
            bucket("0.5", 12.0),
            bucket("1", 12.0),
            bucket("2.5", 0.0),
            bucket("+Inf", 0.0),
        ],
        ..Batch::default()
    });
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].cause.as_deref(), Some("unknown"));
    assert_eq!(found[0].number("count"), Some(12.0));
    assert_eq!(found[0].number("total"), Some(1_900.0));
    assert!(found[0].confidence <= 0.5);
    assert!(found[0].end.is_some());
    assert_eq!(found[0].entities, ["service:cart"]);
}

#[test]
fn the_snat_incident() {
    let Some(folder) = shared_data("incidents/snat-connect-ladder/input") else {
        return;
    };
    let snapshot = snapshot_of(&folder);
    assert_eq!(snapshot.requests.len(), 10_494, "each request once");
    assert_eq!(snapshot.duplicate_requests, 10_494);
    assert!(
        snapshot
            .requests
            .iter()
            .all(|r| r.service.as_ref() == "smartgateway")
    );
    let found = findings(&ConnectOutliers, &snapshot);
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!(finding.cause.as_deref(), Some("syn_retransmit"));
    assert_eq!(finding.entities[0], "service:smartgateway");
    let others = ["histogram", "also shown by traces"];
    assert!(
        others.iter().all(|o| finding.detail.contains(o)),
        "{}",
        finding.detail
    );
    assert_eq!(finding.number("count"), Some(27.0));
    assert_eq!((rung(finding, "1s"), rung(finding, "3s")), (23, 4));
    assert_eq!(finding.text("ladder"), Some("classic"));
    let share = finding.number("share").unwrap();
    assert!(
        (share / 0.004_139 - 1.0).abs() < 0.1,
        "{share} of {:?}",
        finding.number("total")
    );
    // The move at 14:28:18.892 began it, the change at 14:32:58.424 ended it.
    let time = |text: &str| Timestamp::parse_rfc3339(text).unwrap();
    assert!(finding.start > time("2026-11-30T14:28:18.892Z"));
    assert!(finding.onset < time("2026-11-30T14:28:40Z"));
    assert!(finding.end.unwrap() < time("2026-11-30T14:33:30Z"));
    assert!(finding.end.unwrap() > time("2026-11-30T14:31:58Z"));
    assert!(finding.confidence > 0.85, "{}", finding.confidence);
}

#[test]
fn lost_syns_at_nginx_and_none_of_the_slow_answers() {
    let Some(folder) = shared_data("logs/snat-1s3s/input") else {
        return;
    };
    let snapshot = snapshot_of(&folder);
    let nginx: Vec<&Request> = snapshot.requests.iter().collect();
    assert_eq!(nginx.len(), 3_600);
    assert_eq!(snapshot.duplicate_requests, 7_200);
    assert!(nginx.iter().all(|r| r.upstream.as_ref() == "shop-web-8080"));
    let found = findings(&ConnectOutliers, &snapshot);
    assert_eq!(found.len(), 1, "{found:#?}");
    let finding = &found[0];
    assert_eq!(finding.cause.as_deref(), Some("syn_retransmit"));
    let rungs = ["1s", "3s", "7s"].map(|r| rung(finding, r));
    assert_eq!(rungs, [105, 4, 1]);
    assert_eq!(
        finding.number("count"),
        Some(110.0),
        "and none of the 56 slow answers"
    );
}

#[test]
fn a_slow_peer_has_no_rungs() {
    let Some(folder) = shared_data("logs/slow-connect-control/input") else {
        return;
    };
    let found = findings(&ConnectOutliers, &snapshot_of(&folder));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].cause.as_deref(), Some("slow_peer"));
    assert_eq!(found[0].values["rungs"], serde_json::json!({}));
    assert_eq!(found[0].number("count"), Some(86.0));
}

#[test]
fn the_limits_of_nginx_multivalue() {
    let Some(folder) = shared_data("logs/nginx-multivalue") else {
        return;
    };
    let found = findings(&ConnectOutliers, &snapshot_of(&folder));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].cause.as_deref(), Some("connect_timeout"));
    assert_eq!(
        found[0].number("count"),
        Some(6.0),
        "three at 1 s, three at 5 s"
    );
    assert!(found[0].title.contains("1 s and 5 s"), "{}", found[0].title);
}

#[test]
fn recordings_without_slow_connects_have_none() {
    for case in [
        "prom-cases/01-healthy/input",
        "prom-cases/02-hang-timeout/input",
        "prom-cases/22-p99-spike/input",
        "incidents/ingress-metrics-lock/input",
    ] {
        let Some(folder) = shared_data(case) else {
            return;
        };
        let found = findings(&ConnectOutliers, &snapshot_of(&folder));
        assert_eq!(found, [], "{case}");
    }
}
