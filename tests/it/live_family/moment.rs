//! What a server says of this moment, asked twice about a window that is over.

use super::*;

/// A report without the ids and hashes of the inputs, which are those of their bytes.
fn without_hashes(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(without_hashes).collect(),
        Value::Object(all) => all
            .iter()
            .filter(|(key, _)| !matches!(key.as_str(), "input" | "sha256"))
            .filter(|(_, value)| !value.as_str().is_some_and(|v| v.starts_with("in-")))
            .map(|(key, value)| (key.clone(), without_hashes(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Prometheus some minutes after the window: whatever it says of this moment differs from question to question.
fn moment(asking: &Asking, minute: i64) -> Vec<u8> {
    let at = |secs: i64| {
        let t = tailscope::base::time::Timestamp::from_millis((END + minute * 60 + secs) * 1000);
        t.unwrap().to_rfc3339()
    };
    let error = if minute > 1 { "connection refused" } else { "" };
    let alert = |name: &str, active: String, state: &str| json!({"labels": {"alertname": name, "severity": "page"}, "annotations": {"summary": "too slow"}, "state": state, "activeAt": active, "value": format!("{minute}e+00")});
    let within = tailscope::base::time::Timestamp::from_millis((START + 300) * 1000)
        .unwrap()
        .to_rfc3339();
    let alerts = json!([
        alert(
            "Within",
            within,
            if minute > 1 { "firing" } else { "pending" }
        ),
        alert("After", at(0), "firing"),
    ]);
    match asking.path.as_str() {
        "/api/v1/status/buildinfo" => good(&build("3.6.0")),
        "/api/v1/status/runtimeinfo" => good(
            &json!({"startTime": "2026-07-01T00:00:00Z", "CWD": "/", "reloadConfigSuccess": true, "lastConfigTime": "2026-07-01T00:00:00Z", "corruptionCount": 0, "goroutineCount": 30 + minute, "GOMAXPROCS": 2, "storageRetention": "15d", "serverTime": at(1)}),
        ),
        "/api/v1/status/flags" => good(
            &json!({"query.lookback-delta": "5m", "query.timeout": "2m", "web.listen-address": "0.0.0.0:9090"}),
        ),
        "/api/v1/status/config" => good(&json!({"yaml": "global:\n  scrape_interval: 15s\n"})),
        "/api/v1/targets" => good(
            &json!({"activeTargets": [{"discoveredLabels": {}, "labels": {"instance": "10.0.0.1:80", "job": "shop"}, "scrapePool": "shop", "scrapeUrl": "http://10.0.0.1:80/metrics", "globalUrl": "http://10.0.0.1:80/metrics", "lastError": error, "lastScrape": at(2), "lastScrapeDuration": 0.001 * minute as f64, "health": if minute > 1 { "down" } else { "up" }, "scrapeInterval": "15s", "scrapeTimeout": "10s"}], "droppedTargets": []}),
        ),
        "/api/v1/alerts" => good(&json!({"alerts": alerts})),
        "/api/v1/rules" => good(
            &json!({"groups": [{"name": "g", "file": "r.yml", "interval": 15, "lastEvaluation": at(3), "evaluationTime": 0.001 * minute as f64, "rules": [{"name": "Within", "query": "up == 0", "type": "alerting", "duration": 0, "labels": {}, "annotations": {}, "alerts": alerts, "health": "err", "lastError": "many-to-many matching not allowed", "state": "firing", "lastEvaluation": at(3), "evaluationTime": 0.002 * minute as f64}]}]}),
        ),
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn the_moment_of_asking_changes_nothing_in_the_report_of_a_window_that_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let minute = Arc::new(Mutex::new(1));
    let now = Arc::clone(&minute);
    let (port, _) = server(Arc::new(move |asking| moment(asking, *now.lock().unwrap())));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (_, first) = same(folder, 0);
    *minute.lock().unwrap() = 2;
    let (_, second) = same(folder, 0);
    let events: Vec<u64> = second["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|i| i["counts"]["events"].as_u64().filter(|n| *n > 0))
        .collect();
    assert_eq!(events, [1, 1], "what began after the window is not of it");
    let [first, second] = [first, second].map(|report| {
        let text = serde_json::to_string_pretty(&without_hashes(&report)).unwrap();
        assert!(
            text.contains("rule Within failed when this was pulled, after the window"),
            "{text}"
        );
        text
    });
    for (a, b) in first.lines().zip(second.lines()) {
        assert_eq!(a, b, "two pulls of one window differ:\n{first}\n{second}");
    }
    assert_eq!(first, second);
}
