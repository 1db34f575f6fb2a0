//! Every hand-made payload is read, and says what it must say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::Pinpoint;
use crate::base::reporter::{Reporter, Warning};
use crate::base::time::Zone;
use crate::formats::{Format as _, FormatError, Head, Hints, Recognised, RequestHint, recognise};
use crate::model::batch::Batch;
use crate::model::span::{Span, SpanKind, SpanStatus};

/// What came of one input.
struct Read {
    batch: Batch,
    warnings: Vec<Warning>,
    result: Result<(), FormatError>,
    format: &'static str,
}

fn read(bytes: &[u8], request: Option<&RequestHint>) -> Read {
    let zone = Zone::utc();
    let hints = Hints {
        name: "x.json",
        request,
        zone: &zone,
        log_formats: &[],
    };
    let format = match recognise(&Head::new(bytes), &hints) {
        Recognised::As(format) => format.id(),
        Recognised::Nothing { .. } => "nothing",
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    let result = Pinpoint.read(bytes, &hints, &mut batch, &mut log);
    Read {
        batch,
        warnings: log.into_warnings(),
        result,
        format,
    }
}

fn folder(name: &str) -> Option<PathBuf> {
    let shared = std::env::var_os("TAILSCOPE_SHARED")?;
    let path = Path::new(&shared).join(name);
    path.is_dir().then_some(path)
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, crate::base::fs::read(&path).unwrap())
        })
        .collect()
}

fn skip(what: &str) {
    eprintln!("skipped: {what} is not under TAILSCOPE_SHARED");
}

fn span<'a>(spans: &'a [Span], operation: &str) -> &'a Span {
    spans
        .iter()
        .find(|s| s.operation.as_ref() == operation)
        .unwrap_or_else(|| panic!("no span {operation}"))
}

#[test]
fn every_handmade_payload_is_recognised_by_content_and_read() {
    let Some(folder) = folder("pinpoint/handmade") else {
        return skip("pinpoint/handmade");
    };
    let files = files(&folder);
    assert!(files.len() >= 50, "{}", files.len());
    // Series, spans, requests, events, edges of those that hold rows.
    let counts: BTreeMap<&str, [usize; 5]> = [
        ("active_thread_ws.json", [4, 0, 0, 0, 0]),
        ("agent_events.json", [0, 0, 0, 1, 0]),
        ("agent_status.json", [0, 0, 0, 1, 0]),
        ("agent_timeline.json", [0, 0, 0, 2, 0]),
        ("agentlist_22.json", [0, 0, 0, 1, 0]),
        ("agents_25_30.json", [0, 0, 0, 1, 0]),
        ("agents_31.json", [0, 0, 0, 1, 0]),
        ("agents_31_overview.json", [0, 0, 0, 1, 0]),
        ("agentstat_2x_cpu.json", [3, 0, 0, 0, 0]),
        ("agentstat_2x_datasource_list.json", [2, 0, 0, 0, 0]),
        ("appstat_2x_cpu.json", [3, 0, 0, 0, 0]),
        ("errors_chart.json", [1, 0, 0, 0, 0]),
        ("errors_groupby.json", [1, 0, 0, 1, 0]),
        ("errors_list.json", [0, 0, 0, 1, 0]),
        ("heatmap_drag.json", [0, 0, 1, 0, 0]),
        ("inspector_3x_chart.json", [2, 0, 0, 0, 0]),
        ("inspector_3x_chartlist.json", [3, 0, 0, 0, 0]),
        ("load_format_v2.json", [9, 0, 0, 0, 0]),
        ("scatter_31.json", [0, 0, 2, 0, 0]),
        ("scatter_page1.json", [0, 0, 3, 0, 0]),
        ("scatter_page2_empty.json", [0, 0, 0, 0, 0]),
        ("timeline_22.json", [0, 2, 0, 0, 0]),
        ("traceViewerData.json", [0, 2, 0, 0, 0]),
        ("trace_31.json", [0, 8, 0, 0, 0]),
        ("transactionInfo_22.json", [0, 8, 0, 0, 0]),
        ("transactionInfo_24.json", [0, 8, 0, 0, 0]),
        ("transactionInfo_25.json", [0, 8, 0, 0, 0]),
        ("transactionInfo_30.json", [0, 8, 0, 0, 0]),
        ("transaction_metadata_31.json", [0, 0, 1, 0, 0]),
        ("transactionmetadata.json", [0, 0, 1, 0, 0]),
        ("uristat_chart.json", [2, 0, 0, 0, 0]),
        ("servermap_25.json", [9, 0, 0, 0, 1]),
        ("servermap_30_v2.json", [9, 0, 0, 0, 0]),
        ("servermap_31.json", [1, 0, 0, 0, 1]),
        ("filteredmap_25.json", [9, 0, 3, 0, 1]),
    ]
    .into();
    for (name, bytes) in &files {
        let came = read(bytes, None);
        assert_eq!(came.format, "pinpoint", "{name}");
        if name.starts_with("error_") {
            let error = came.result.unwrap_err();
            assert_eq!(error.code, "refused", "{name}");
            continue;
        }
        assert_eq!(came.result, Ok(()), "{name}");
        assert!(
            came.warnings.iter().all(|w| !w.lossy),
            "{name}: {:?}",
            came.warnings
        );
        let b = &came.batch;
        let found = [
            b.series.len(),
            b.spans.len(),
            b.requests.len(),
            b.events.len(),
            b.edges.len(),
        ];
        if let Some(expected) = counts.get(name.as_str()) {
            assert_eq!(&found, expected, "{name}");
        } else {
            assert!(!b.is_empty(), "{name}");
        }
    }
}

#[test]
fn the_words_of_each_refusal_are_told() {
    let Some(folder) = folder("pinpoint/handmade") else {
        return skip("pinpoint/handmade");
    };
    let files = files(&folder);
    for (name, words) in [
        ("error_22_http200.json", "invalid transactionId:abc"),
        ("error_23_24_http500.json", "limitDay:2 from:1 to:2"),
        ("error_25_300.json", "agentIndex not found:abc"),
        ("error_301.json", "xGroupUnit: must be greater than 0"),
        ("error_31.json", "serviceType not found"),
    ] {
        let text = read(&files[name], None).result.unwrap_err().to_string();
        assert!(text.contains(words), "{name}: {text}");
        assert!(!text.contains("java.lang"), "{name}: {text}");
    }
}

#[test]
fn a_call_tree_is_the_same_spans_in_each_version() {
    let Some(folder) = folder("pinpoint/handmade") else {
        return skip("pinpoint/handmade");
    };
    let files = files(&folder);
    for name in [
        "transactionInfo_22.json",
        "transactionInfo_24.json",
        "transactionInfo_25.json",
        "transactionInfo_30.json",
        "trace_31.json",
    ] {
        let spans = read(&files[name], None).batch.spans;
        let entry = span(&spans, "/orders/submit");
        assert_eq!(entry.trace_id.as_ref(), "gw-01^1767139100000^88", "{name}");
        assert_eq!(entry.service.as_ref(), "shop-order", "{name}");
        assert!(entry.is_segment && entry.kind == SpanKind::Server, "{name}");
        assert_eq!(entry.duration_ms, Some(4210.0), "{name}");
        assert_eq!(entry.http_status, Some(500), "{name}");
        assert_eq!(entry.status, SpanStatus::Fault, "{name}");
        assert_eq!(entry.queue_ms, Some(2890.0), "{name}");
        assert_eq!(entry.parent_id, None, "{name}");
        let pool = span(&spans, "HikariDataSource.getConnection");
        assert_eq!(
            (pool.queue_ms, pool.connect_ms),
            (Some(2890.0), None),
            "{name}"
        );
        let sql = span(&spans, "ClientPreparedStatement.executeQuery");
        assert_eq!(sql.kind, SpanKind::Client, "{name}");
        assert_eq!(sql.peer.as_deref(), Some("shopdb"), "{name}");
        for part in [
            "\"db.statement\":\"SELECT",
            "\"redact\":[\"db.statement\",\"db.bind_values\"]",
        ] {
            assert!(sql.attributes.contains(part), "{name}: {}", sql.attributes);
        }
        let call = span(&spans, "CloseableHttpClient.execute");
        assert_eq!(
            call.error.as_ref(),
            "ConnectTimeoutException: Connect to pay.local:443 failed: connect timed out",
            "{name}"
        );
        assert_eq!(call.status, SpanStatus::Fault, "{name}");
        assert_eq!(call.peer.as_deref(), Some("pay.local"), "{name}");
        // The callee answered, so the connect was made, whatever the exception says.
        assert_eq!(call.connect_ms, None, "{name}");
        let remote = span(&spans, "/charge");
        assert!(remote.is_segment, "{name}");
        assert_eq!(remote.service.as_ref(), "shop-pay", "{name}");
        assert_eq!(remote.parent_id, Some(call.span_id), "{name}");
        // It begins 13 ms before its caller's row, which is 20 ms longer: its clock is 23 ms behind.
        assert!(
            remote.attributes.contains("\"clock_offset_ms\":-23.0"),
            "{name}: {}",
            remote.attributes
        );
        let later = span(&spans, "Asynchronous Invocation");
        assert!(later.attributes.contains("\"async\":true"), "{name}");
    }
}

#[test]
fn dots_and_rows_name_the_same_requests() {
    let Some(folder) = folder("pinpoint/handmade") else {
        return skip("pinpoint/handmade");
    };
    let files = files(&folder);
    let dots = read(&files["scatter_page1.json"], None).batch.requests;
    let row = &read(&files["transactionmetadata.json"], None)
        .batch
        .requests[0];
    let dot = dots.iter().find(|d| d.trace_id == row.trace_id).unwrap();
    assert_eq!((dot.t, dot.duration_ms), (row.t, row.duration_ms));
    assert_eq!((dot.failed(), row.failed()), (Some(true), Some(true)));
    assert_eq!(
        dot.status, None,
        "Pinpoint says failed or not, and no HTTP status"
    );
    assert_eq!(row.path.as_ref(), "/orders/submit");
    assert_eq!(row.client.as_ref(), "10.0.0.5");
    assert_eq!(dots[0].trace_id.as_ref(), "order-01^1767139200000^1201");
    assert_eq!(dots[0].t.millis(), 1_767_225_600_000 + 240_900);
    let of_31 = read(&files["scatter_31.json"], None).batch.requests;
    assert_eq!(of_31[0].trace_id, dots[0].trace_id);
    assert_eq!(
        of_31[1].trace_id.as_ref(),
        "4bf92f3577b34da6a3ce929d0e0e4736"
    );
}

#[test]
fn a_missing_sample_is_a_gap_and_never_zero() {
    let Some(folder) = folder("pinpoint/handmade") else {
        return skip("pinpoint/handmade");
    };
    let files = files(&folder);
    let came = read(&files["agentstat_2x_cpu.json"], None);
    let mean = came
        .batch
        .series
        .iter()
        .find(|s| s.labels.get("stat").is_none())
        .unwrap();
    assert_eq!(mean.metric.as_ref(), "pinpoint_cpu_process_percent");
    assert_eq!(mean.v, [3.1, 94.2]);
    assert!(came.warnings.iter().any(|w| w.code == "missing_samples"));
    let heap = read(&files["inspector_3x_chart.json"], None).batch.series;
    assert_eq!(heap[0].metric.as_ref(), "pinpoint_heap_used_bytes");
    assert_eq!(heap[0].v, [734_003_200.0]);
    assert_eq!(heap[1].v, [0.0, 412.0], "a real zero stays");
    let map = read(&files["servermap_31.json"], None).batch;
    assert_eq!(map.series[0].v, [0.93]);
    let edge = &map.edges[0];
    assert_eq!(
        (edge.caller.as_ref(), edge.callee.as_ref()),
        ("shop-order", "shopdb")
    );
    assert_eq!(edge.total, 40);
}

#[test]
fn odd_forms_are_read_as_what_they_say() {
    let dot = br#"{"scatter":{"metadata":{},"dotList":[[5,7,-1,"a^1^2",0,0],[5]]},"resultFrom":1,"resultTo":2,"complete":true,"from":1767225600000,"to":1767225900000}"#;
    let came = read(dot, None);
    assert_eq!(came.batch.requests[0].trace_id.as_ref(), "a^1^2");
    assert!(
        came.warnings
            .iter()
            .any(|w| w.lossy && w.text.starts_with("1 dots"))
    );
    let tree = br#"{"transactionId":"t","completeState":"Progress","callStackIndex":{"begin":0,"end":1,"id":2,"parentId":3,"isMethod":4,"title":5,"methodType":6,"apiType":7,"applicationName":8,"agent":9,"elapsedTime":10,"arguments":11},"callStack":[
        [1767225600000,1767225603000,1,null,true,"Servlet",100,"TOMCAT","a","a1","3,000","/x"],
        [1767225600001,1767225602001,2,1,true,"execute(x)",0,"HTTP_CLIENT_4","a","a1","2,000","b.local:80/y"],
        [1767225600001,1767225601002,3,2,true,"connect(x)",0,"HTTP_CLIENT_4_INTERNAL","a","a1","1,001","b.local:80"],
        [0,0,4,1,true,"...",900,"","","","","Corrupted(waiting for packet)"],
        [1767225600001,1767225600001,9,77,true,"lost()",0,"SPRING_BEAN","a","a1","",""]]}"#;
    let came = read(tree, None);
    assert_eq!(came.result, Ok(()));
    let spans = &came.batch.spans;
    assert_eq!(spans.len(), 4);
    assert_eq!(spans[0].duration_ms, Some(3000.0));
    assert_eq!(span(spans, "execute").connect_ms, Some(1001.0));
    assert_eq!(
        span(spans, "connect").connect_ms,
        None,
        "a connect counts once, with its call"
    );
    assert_eq!(span(spans, "lost").parent_id, None);
    let codes: Vec<&str> = came.warnings.iter().map(|w| w.code.as_str()).collect();
    assert_eq!(
        codes,
        ["partial_traces", "partial_traces", "no_parent_segment"]
    );
    let cut = &tree[..tree.len() - 120];
    let came = read(cut, None);
    assert!(
        came.warnings
            .iter()
            .any(|w| w.code == "truncated" && w.lossy)
    );
    assert!(came.batch.spans.len() >= 3);
}

#[test]
fn an_empty_list_is_an_answer_where_the_request_is_known() {
    let request = RequestHint {
        path: "/getAgentStat/dataSource/chartList.pinpoint?agentId=a".to_owned(),
        ..RequestHint::default()
    };
    assert_eq!(read(b"[]", Some(&request)).format, "pinpoint");
    assert_eq!(read(b"[]", None).format, "nothing");
    let labelled = br#"{"charts":{"schema":{"x":"time","AVG":["min","max","avg","sum"]},"x":[1767225600000],"y":{"AVG":[[1,1,1.0,1]]}}}"#;
    let series = read(labelled, Some(&request)).batch.series;
    assert_eq!(series[0].labels.get("agentId"), Some("a"));
}

#[test]
fn the_recorded_incident_is_read_whole() {
    let mut seen = 0;
    for (run, dots, failed, chosen) in [("run-1-2.5", 4751, 50, 7), ("run-2-3.0", 4113, 87, 8)] {
        let name = format!("incidents/redis-lock-scaleout/input/pinpoint/{run}");
        let Some(folder) = folder(&name) else {
            return skip(&name);
        };
        let files = files(&folder);
        let requests: serde_json::Value = serde_json::from_slice(&files["requests.json"]).unwrap();
        let mut all = BTreeMap::new();
        let mut spans = 0;
        for (name, bytes) in files.iter().filter(|(name, _)| *name != "requests.json") {
            let hint = &requests[name];
            let request = RequestHint {
                path: hint["path"].as_str().unwrap().to_owned(),
                body: hint.get("body").cloned(),
                ..RequestHint::default()
            };
            let came = read(bytes, Some(&request));
            assert_eq!(came.format, "pinpoint", "{name}");
            assert_eq!(came.result, Ok(()), "{name}");
            assert!(
                came.warnings.iter().all(|w| !w.lossy),
                "{name}: {:?}",
                came.warnings
            );
            for request in &came.batch.requests {
                assert_eq!(request.service.as_ref(), "order-api", "{name}");
                all.insert(request.trace_id.clone(), request.failed());
            }
            if name.starts_with("transactionInfo") {
                spans += 1;
                let entry = &came.batch.spans[0];
                assert!(entry.is_segment && entry.queue_ms.is_some(), "{name}");
                let waits = came
                    .batch
                    .spans
                    .iter()
                    .filter(|s| s.queue_ms.is_some())
                    .count();
                assert!(waits >= 2, "{name}: {waits}");
                assert!(
                    came.batch.spans.iter().all(|s| s.connect_ms.is_none()),
                    "{name}"
                );
            }
            seen += 1;
        }
        // README: answered and failed requests of the run; each dot once, whatever page or list it came on.
        assert_eq!(all.len(), dots, "{run}");
        let bad = all.values().filter(|f| **f == Some(true)).count();
        assert_eq!(bad, failed, "{run}");
        assert_eq!(spans, chosen, "{run}");
    }
    assert!(seen > 70, "{seen}");
}

#[test]
fn public_samples_are_read() {
    let Some(folder) = folder("public/pinpoint") else {
        return skip("public/pinpoint");
    };
    for (name, bytes) in files(&folder) {
        let came = read(&bytes, None);
        if name.contains("_map_")
            || name.starts_with("servermap")
            || name.starts_with("extracted_servermap")
        {
            assert_eq!(came.format, "pinpoint", "{name}");
            assert!(!came.batch.edges.is_empty(), "{name}");
        } else if name == "realtime_active_thread_ws.json" {
            let points: usize = came.batch.series.iter().map(|s| s.t.len()).sum();
            assert!(points >= 27 * 4, "{points}");
        } else if name == "extracted_filteredmap_scatter.json" {
            assert_eq!(came.batch.requests.len(), 150);
        } else if name.starts_with("scatter_ui") {
            assert_ne!(came.format, "pinpoint", "{name}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        read(&bytes, None);
    }

    #[test]
    fn no_cut_and_no_flip_is_too_odd(end in 0usize..3000, at in 0usize..3000, byte in any::<u8>()) {
        const TREE: &[u8] = include_bytes!("../../../fixtures/pinpoint/transactionInfo_25.json");
        let mut bytes = TREE[..end.min(TREE.len())].to_vec();
        if let Some(one) = bytes.get_mut(at) {
            *one = byte;
        }
        read(&bytes, None);
    }
}
