//! Thanos: found by its stores, asked without deduplication, partial where a store did not answer; and the cap.

use super::*;

/// Thanos' querier: buildinfo and flags in Prometheus' form, a list of stores, no configuration, no remote read.
pub(super) fn thanos(asking: &Asking) -> Vec<u8> {
    match asking.path.as_str() {
        "/api/v1/status/buildinfo" => good(&build("0.38.0")),
        "/api/v1/stores" => {
            good(&json!({"sidecar": [{"name": "10.0.0.1:10901", "lastError": null}]}))
        }
        "/api/v1/status/flags" => good(
            &json!({"http-address": "0.0.0.0:10902", "query.lookback-delta": "5m", "query.replica-label": "replica", "query.timeout": "2m"}),
        ),
        "/api/v1/status/runtimeinfo" => good(
            &json!({"startTime": "2026-07-01T00:00:00Z", "CWD": "/", "goroutineCount": 12, "GOMAXPROCS": 2, "GOGC": "", "GODEBUG": ""}),
        ),
        "/api/v1/targets" => good(&json!({"activeTargets": [], "droppedTargets": []})),
        _ => common(asking).unwrap_or_else(absent),
    }
}

#[test]
fn thanos_is_found_by_its_stores_and_asked_without_deduplication() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(thanos));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let seen_by_doctor = doctor(folder, 0);
    assert!(
        seen_by_doctor.contains("Thanos 0.38.0, told by its list of stores, /api/v1/stores"),
        "{seen_by_doctor}"
    );
    assert!(
        seen_by_doctor.contains("query.replica-label replica"),
        "{seen_by_doctor}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("about 246 samples of 3 metrics: 6 series × 41 points"),
        "{said}"
    );
    assert!(said.contains("Thanos has no remote read"), "{said}");
    let seen = seen.lock().unwrap();
    let raw: Vec<&String> = seen.iter().filter(|s| s.contains("ms]")).collect();
    assert!(!raw.is_empty());
    for question in raw {
        for field in [
            "dedup=false",
            "partial_response=true",
            "max_source_resolution=0s",
        ] {
            assert!(question.contains(field), "{question}");
        }
    }
    assert!(!seen.iter().any(|s| s.contains("/api/v1/read")));
}

#[test]
fn a_store_of_thanos_that_did_not_answer_is_told_and_one_that_said_too_much_is_asked_for_less() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let partial = |asking: &Asking, warning: &str| {
        let body = json!({"status": "success", "data": matrix(asking), "warnings": [warning]});
        answer("200 OK", JSON, body.to_string())
    };
    let (port, _) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") {
            partial(
                asking,
                "receive series from Addr: 10.0.0.2:10901 LabelSets: {replica=\"1\"} MinTime: 0 MaxTime: 9223372036854775807: rpc error: code = Unavailable desc = connection refused",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, report) = same(folder, 5);
    assert!(said.contains("10.0.0.2:10901"), "{said}");
    let told = report["inputs"].to_string();
    assert!(told.contains("partial_response"), "{told}");

    // A store's own limit, which the querier passes on as a warning when it may answer in part.
    let (port, seen) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") && asking.metrics().len() > 1 {
            partial(
                asking,
                "receive series from Addr: 10.0.0.2:10901: rpc error: code = ResourceExhausted desc = exceeded series limit: limit 4 violated (got 5)",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, _) = same(folder, 5);
    assert!(said.contains("limit 4 violated"), "{said}");
    is_whole(folder);
    let seen = seen.lock().unwrap();
    let single = seen
        .iter()
        .filter(|s| s.contains("ms]") && !s.contains('|'));
    assert!(single.count() >= 3);

    // A limit that nothing mends is not asked about for ever.
    let (port, seen) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") {
            partial(asking, "exceeded series limit: limit 1 violated (got 2)")
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    let (said, _) = same(folder, 5);
    assert!(
        said.contains("more warnings of this kind")
            || said.contains("samples_missing")
            || said.contains("could not be had"),
        "{said}"
    );
    let asked = seen
        .lock()
        .unwrap()
        .iter()
        .filter(|s| s.contains("ms]"))
        .count();
    assert!(asked < 2 * 400, "{asked}");

    // And as an error, when it may not answer in part.
    let (port, _) = server(Arc::new(move |asking| {
        if asking.fields.contains("ms]") && asking.metrics().len() > 1 {
            error(
                "422 Unprocessable Entity",
                "execution",
                "expanding series: proxy Series(): rpc error: code = Aborted desc = exceeded samples limit: limit 100 violated (got 120)",
            )
        } else {
            thanos(asking)
        }
    }));
    sources(folder, &format!("http://127.0.0.1:{port}"), "");
    same(folder, 0);
    is_whole(folder);
}

#[test]
fn what_goes_over_the_cap_is_refused_before_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(thanos));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}"),
        "max_samples = 100",
    );
    let (said, report) = same(folder, 5);
    // `up` tells of the scraping itself and comes first.
    for words in [
        "prod: about 82 samples of 1 metrics: 2 series × 41 points, in 1 questions",
        "2 metrics were refused: with them the pull would be about 246 samples, over the cap of 100: shop_orders_total (2 series), shop_queue (2 series)",
        "ask for a shorter window, set `matchers`",
        "raise `max_samples`",
    ] {
        assert!(said.contains(words), "{said}");
    }
    // Also to whom asked for no more words, and not to whom asked for none.
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    for (option, is_said) in [("--no-input", true), ("--quiet", false)] {
        let record = [&["record", option, "-o", "q.tailscope"], window.as_slice()].concat();
        let done = tailscope(folder, &record);
        assert_eq!(done.status.code(), Some(5), "{}", words(&done));
        let is_found = words(&done).contains("prod: about 82 samples of 1 metrics");
        assert_eq!(is_found, is_said, "{}", words(&done));
    }
    let told = report["inputs"].to_string();
    assert!(
        told.contains("limit_samples") && told.contains("cost_preview"),
        "{told}"
    );
    let seen = seen.lock().unwrap();
    let raw: Vec<&String> = seen.iter().filter(|s| s.contains("ms]")).collect();
    assert!(
        !raw.is_empty() && raw.iter().all(|s| !s.contains("shop_")),
        "{raw:?}"
    );
}
