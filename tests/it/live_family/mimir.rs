//! Mimir, Cortex and Grafana Cloud: tenants, limits, remote read.

use super::*;

fn mimir_build(application: &str) -> Vec<u8> {
    good(
        &json!({"application": application, "version": "2.17.0", "revision": "0123abc", "branch": "HEAD", "goVersion": "go1.24.1",
        "features": {"ruler_config_api": "true", "alertmanager_config_api": "true"}}),
    )
}

/// Mimir behind its usual prefix: whoever names no tenant is told so in plain text, but for its version.
fn mimir(asking: &Asking) -> Vec<u8> {
    if asking.path == "/prometheus/api/v1/status/buildinfo" {
        return mimir_build("Grafana Mimir");
    }
    if asking.header("x-scope-orgid") != Some("team-a|team-b") {
        return answer("401 Unauthorized", TEXT, "no org id\n");
    }
    common(asking).unwrap_or_else(absent)
}

#[test]
fn mimir_wants_a_tenant_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(mimir));
    let url = format!("http://127.0.0.1:{port}/prometheus");
    sources(folder, &url, "");
    let without = doctor(folder, 3);
    assert!(without.contains("FAILS  HTTP 401: no org id"), "{without}");
    assert!(without.contains("-> set `tenant`"), "{without}");
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
    let refused = tailscope(folder, &record);
    assert_eq!(refused.status.code(), Some(5), "{}", words(&refused));
    assert!(
        words(&refused).contains("set `tenant`"),
        "{}",
        words(&refused)
    );

    sources(folder, &url, "tenant = \"team-a|team-b\"");
    let with = doctor(folder, 0);
    assert!(
        with.contains("Mimir 2.17.0, told by `application` of its buildinfo, \"Grafana Mimir\""),
        "{with}"
    );
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("remote read was refused: it has no such endpoint"),
        "{said}"
    );
    let seen = seen.lock().unwrap();
    for absent in ["/targets", "/status/flags", "/status/config", "/stores"] {
        assert!(!seen.iter().any(|s| s.contains(absent)), "{absent}");
    }
    assert!(seen.iter().any(|s| s.contains("/prometheus/api/v1/rules")));
}

#[test]
fn the_limits_of_mimir_are_kept_by_asking_for_less() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(|asking| {
        let is_raw = asking.fields.contains("ms]");
        let long = |most: i64| {
            is_raw
                && !asking.fields.contains(&format!("[{most}ms]"))
                && asking.fields.contains("[600000ms]")
        };
        if is_raw && asking.metrics().len() > 1 {
            return error(
                "422 Unprocessable Entity",
                "execution",
                "the query exceeded the maximum number of chunks (limit: 2000000 chunks) (err-mimir-max-chunks-per-query). Consider reducing the time range and/or number of series selected by the query.",
            );
        }
        if long(300_000) {
            return error(
                "422 Unprocessable Entity",
                "execution",
                "the total query time range exceeds the limit (query length: 10m0s, limit: 5m0s) (err-mimir-max-total-query-length). To adjust the related per-tenant limit, configure -query-frontend.max-total-query-length, or contact your service administrator.",
            );
        }
        if asking.path.ends_with("/metadata") && asking.before % 2 == 0 {
            let body = json!({"status": "error", "errorType": "too_many_requests", "error": "the request has been rejected because the tenant exceeded the request rate limit, set to 10 requests/s across all distributors with a maximum allowed burst of 10 (err-mimir-tenant-max-request-rate)"});
            return answer(
                "429 Too Many Requests",
                &format!("{JSON}Retry-After: 0\r\n"),
                body.to_string(),
            );
        }
        if asking.path.ends_with("/query_range") {
            return error(
                "400 Bad Request",
                "bad_data",
                "the request has been blocked by the cluster administrator (err-mimir-query-blocked)",
            );
        }
        mimir(asking)
    }));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}/prometheus"),
        "tenant = \"team-a|team-b\"\nqueries = [\"sum(up)\"]",
    );
    let (said, report) = same(folder, 5);
    is_whole(folder);
    assert!(
        said.contains("`sum(up)` could not be had: HTTP 400: the request has been blocked by the cluster administrator (err-mimir-query-blocked)"),
        "{said}"
    );
    for kept in [
        "err-mimir-max-chunks",
        "err-mimir-max-total",
        "err-mimir-tenant",
    ] {
        assert!(!said.contains(kept), "{said}");
    }
    assert!(report["inputs"].to_string().contains("query_failed"));
    let seen = seen.lock().unwrap();
    assert_eq!(
        seen.iter()
            .filter(|s| s.contains("GET /prometheus/api/v1/metadata"))
            .count(),
        4,
        "each of the two pulls asked again"
    );
    assert!(seen.iter().any(|s| s.contains("[300000ms]")));
}

fn varint(mut n: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
    out
}

fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [
        vec![number << 3 | 2],
        varint(content.len() as u64),
        content.to_vec(),
    ]
    .concat()
}

/// `ReadResponse` with samples, the last of each series a staleness marker.
fn read_answer(metrics: &[&str], from: i64, to: i64) -> Vec<u8> {
    let mut result = Vec::new();
    for (metric, replica) in metrics.iter().flat_map(|m| ["0", "1"].map(|r| (*m, r))) {
        let mut one = Vec::new();
        for (name, value) in [
            ("__name__", metric),
            ("instance", "10.0.0.1:80"),
            ("job", "shop"),
            ("replica", replica),
        ] {
            one.extend(field(
                1,
                &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat(),
            ));
        }
        for (t, v) in samples(from, to) {
            let bits = if t == END - 15 {
                0x7ff0_0000_0000_0002
            } else {
                v.to_bits()
            };
            let sample = [
                vec![9],
                bits.to_le_bytes().to_vec(),
                vec![16],
                varint(t as u64 * 1000),
            ];
            one.extend(field(2, &sample.concat()));
        }
        result.extend(field(1, &one));
    }
    snap::raw::Encoder::new()
        .compress_vec(&field(1, &result))
        .unwrap()
}

#[test]
fn cortex_offers_remote_read_as_samples_and_markers_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (port, seen) = server(Arc::new(|asking| {
        if asking.path == "/prometheus/api/v1/status/buildinfo" {
            return mimir_build("Cortex");
        }
        if asking.path != "/prometheus/api/v1/read" {
            return mimir(asking);
        }
        assert_eq!(
            asking.header("x-prometheus-remote-read-version"),
            Some("0.1.0")
        );
        assert_eq!(asking.header("content-encoding"), Some("snappy"));
        let question = snap::raw::Decoder::new()
            .decompress_vec(&asking.body)
            .unwrap();
        let question = String::from_utf8_lossy(&question).into_owned();
        let metrics: Vec<&str> = METRICS
            .into_iter()
            .filter(|m| question.contains(m))
            .collect();
        if metrics.len() > 1 {
            return answer("400 Bad Request", TEXT, "exceeded sample limit (100)\n");
        }
        let headers = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n";
        answer("200 OK", headers, read_answer(&metrics, START, END - 1))
    }));
    sources(
        folder,
        &format!("http://127.0.0.1:{port}/prometheus"),
        "tenant = \"team-a|team-b\"",
    );
    let seen_by_doctor = doctor(folder, 0);
    assert!(seen_by_doctor.contains("Cortex 2.17.0"), "{seen_by_doctor}");
    seen.lock().unwrap().clear();
    let (said, _) = same(folder, 0);
    is_whole(folder);
    assert!(
        said.contains("raw samples came by remote read, with staleness markers"),
        "{said}"
    );
    assert!(!seen.lock().unwrap().iter().any(|s| s.contains("ms]")));
    let options = intake::Options::default();
    let read = intake::read(
        &[folder.join("n.tailscope")],
        &options,
        &mut std::io::empty(),
    );
    let document = Document::new(read, Asked::default());
    for series in document
        .snapshot
        .series
        .iter()
        .filter(|s| s.labels.get("replica").is_some())
    {
        let last = series.v.last().unwrap().to_bits();
        assert_eq!(last, 0x7ff0_0000_0000_0002, "{}", series.selector());
    }
}

#[test]
fn grafana_cloud_wants_an_instance_and_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // `123456:glc_planted`, as RFC 7617 writes it.
    let (port, _) = server(Arc::new(|asking| {
        if asking.header("authorization") != Some("Basic MTIzNDU2OmdsY19wbGFudGVk") {
            return error(
                "401 Unauthorized",
                "",
                "authentication error: invalid authentication credentials",
            );
        }
        match asking.path.as_str() {
            "/api/prom/api/v1/status/buildinfo" => mimir_build("Grafana Enterprise Metrics"),
            _ => common(asking).unwrap_or_else(absent),
        }
    }));
    fs::write(folder.join("token"), "glc_wrong").unwrap();
    let basic = "http.basic_auth = { username = \"123456\", password_file = \"token\" }";
    sources(folder, &format!("http://127.0.0.1:{port}/api/prom"), basic);
    let wrong = doctor(folder, 3);
    assert!(
        wrong.contains("HTTP 401: authentication error: invalid authentication credentials")
            && wrong.contains("instance id and token"),
        "{wrong}"
    );
    let window = window();
    let window: Vec<&str> = window.iter().map(String::as_str).collect();
    let record = [&["record", "-o", "x.tailscope"], window.as_slice()].concat();
    let refused = tailscope(folder, &record);
    assert_eq!(refused.status.code(), Some(3), "{}", words(&refused));
    assert!(
        words(&refused).contains("instance id and token"),
        "{}",
        words(&refused)
    );
    assert!(!words(&refused).contains("glc_wrong"));

    fs::write(folder.join("token"), "glc_planted").unwrap();
    assert!(doctor(folder, 0).contains("Grafana Enterprise Metrics 2.17.0"));
    same(folder, 0);
    is_whole(folder);
    let bundle = fs::read(folder.join("n.tailscope")).unwrap();
    assert!(!bundle.windows(11).any(|w| w == b"glc_planted"));
}
