//! What the reader must make of whole inputs.

use proptest::prelude::*;

use super::testing::{read, spans_of};
use super::*;
use crate::base::testing::shared_data;
use crate::model::span::{Span, SpanId, SpanKind, SpanStatus};
use crate::store::calls::{Call, match_calls};

const SEGMENT: &str = r#"{"id":"aaaaaaaaaaaaaaaa","name":"edge","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","start_time":1796046000.0,"end_time":1796046001.35,"fault":true,"http":{"request":{"method":"GET","url":"http://edge/pay?card=1"},"response":{"status":502,"content_length":-1}},"annotations":{"upstream_connect_time":1.009},"metadata":{"default":{"upstream_addr":"10.0.0.1:80"}},"subsegments":[{"id":"bbbbbbbbbbbbbbbb","name":"checkout","namespace":"remote","start_time":1796046000.3,"end_time":1796046001.345,"http":{"request":{"url":"http://checkout/pay","traced":true}}},{"id":"cccccccccccccccc","name":"work","start_time":1796046000.1,"end_time":1796046000.2}]}"#;

fn codes(warnings: &[crate::base::reporter::Warning]) -> Vec<&str> {
    warnings.iter().map(|w| w.code.as_str()).collect()
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn a_segment_and_its_subsegments_become_spans() {
    let (batch, warnings, result) = read(SEGMENT.as_bytes());
    assert_eq!((result, warnings), (Ok(()), vec![]));
    let [edge, call, work] = batch.spans.as_slice() else {
        panic!("{:?}", batch.spans)
    };
    assert_eq!(
        (edge.kind, edge.is_segment, edge.status),
        (SpanKind::Server, true, SpanStatus::Fault)
    );
    assert_eq!(edge.operation.as_ref(), "GET /pay");
    assert_eq!(
        (edge.duration_ms, edge.connect_ms),
        (Some(1350.0), Some(1009.0))
    );
    assert_eq!(edge.peer.as_deref(), Some("10.0.0.1:80"));
    assert_eq!(edge.http_status, Some(502));
    assert_eq!(
        edge.attributes.as_ref(),
        r#"{"annotations.upstream_connect_time":1.009,"http.method":"GET","http.url":"http://edge/pay?card=1","metadata.default.upstream_addr":"10.0.0.1:80"}"#
    );
    assert_eq!(
        (call.kind, call.service.as_ref()),
        (SpanKind::Client, "edge")
    );
    assert_eq!(call.parent_id, Some(SpanId(0xaaaa_aaaa_aaaa_aaaa)));
    assert_eq!(
        (call.operation.as_ref(), call.peer.as_deref()),
        ("/pay", Some("checkout"))
    );
    assert_eq!(
        (work.kind, work.operation.as_ref()),
        (SpanKind::Internal, "work")
    );
}

#[test]
fn every_wrapping_gives_the_same_spans() {
    let text = quoted(SEGMENT);
    let header = "{\"format\": \"json\", \"version\": 1}\n";
    let plain = format!("{:?}", spans_of(SEGMENT));
    for wrapped in [
        format!(
            r#"{{"Traces":[{{"Id":"x","Segments":[{{"Id":"aaaaaaaaaaaaaaaa","Document":{text}}}]}}],"UnprocessedTraceIds":[]}}"#
        ),
        format!(r#"{{"Traces":[{{"Segments":[{{"Document":{SEGMENT}}}]}}]}}"#),
        format!(r#"{{"Duration":1.35,"Id":"x","Segments":[{{"Document":{SEGMENT}}}]}}"#),
        format!(
            r#"{{"RetrievalStatus":"COMPLETE","Traces":[{{"Spans":[{{"Id":"a","Document":{text}}}]}}]}}"#
        ),
        format!(r#"{{"TraceSegmentDocuments":[{text}]}}"#),
        format!("[{SEGMENT}]"),
        format!("[{text}]"),
        format!("{header}{SEGMENT}"),
        format!("{header}{SEGMENT}\n{header}"),
        format!("\u{feff}{SEGMENT}\n\n"),
        format!("{SEGMENT}\n{SEGMENT}"),
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(SEGMENT).unwrap())
            .unwrap(),
    ] {
        assert_eq!(format!("{:?}", spans_of(&wrapped)), plain, "{wrapped}");
        // (an array of strings shows no keys)
        let is_seen = wrapped.starts_with("[\"")
            || matches!(XRay.sniff(&Head::new(wrapped.as_bytes())), Sniff::Yes(_));
        assert!(is_seen, "{wrapped}");
    }
}

#[test]
fn one_bad_field_costs_that_field() {
    let text = r#"{"id":"a1","name":"s","trace_id":"1-2-3","start_time":100.5,"end_time":"101.5","http":{"request":null,"response":{"status":"200","content_length":"861"}},"cause":"abcdefghijklmnop","aws":{"retries":null,"x":[]},"annotations":[],"subsegments":[null,7,{"id":{},"name":5,"start_time":{},"namespace":"aws"}],"Dummy":false,"error":"maybe"}"#;
    let (batch, warnings, result) = read(text.as_bytes());
    assert_eq!(result, Ok(()));
    assert_eq!(batch.spans.len(), 2);
    let span = &batch.spans[0];
    assert_eq!(
        (span.duration_ms, span.http_status, span.status),
        (Some(1000.0), Some(200), SpanStatus::Ok)
    );
    assert!(
        span.attributes.contains(r#""http.response_bytes":861"#),
        "{}",
        span.attributes
    );
    // a subsegment without a time stands where its segment begins
    assert_eq!(
        (batch.spans[1].start, batch.spans[1].duration_ms),
        (span.start, None)
    );
    assert_eq!(codes(&warnings), ["bad_field", "bad_field", "bad_field"]);
    assert!(
        warnings
            .iter()
            .all(|w| w.lossy && w.at.as_deref() == Some("$"))
    );
}

#[test]
fn a_bad_document_is_named_and_the_rest_is_kept() {
    let text = format!(
        r#"{{"Traces":[{{"Id":"t","Segments":[{{"Document":"{{\"id\":"}},{{"Id":"x"}},{{"Document":{}}}]}}]}}"#,
        quoted(SEGMENT)
    );
    let (batch, warnings, result) = read(text.as_bytes());
    assert_eq!((result, batch.spans.len()), (Ok(()), 3));
    assert_eq!(codes(&warnings), ["bad_document", "no_document"]);
    assert_eq!(
        warnings[0].at.as_deref(),
        Some("$.Traces[0].Segments[0].Document")
    );
    assert!(
        warnings[0].text.contains("cut off at its byte 6"),
        "{}",
        warnings[0].text
    );
}

#[test]
fn a_cut_off_answer_keeps_what_came_before() {
    let whole = format!(
        r#"{{"Traces":[{{"Segments":[{{"Document":{0}}}]}},{{"Segments":[{{"Document":{0}}}]}}]}}"#,
        quoted(SEGMENT)
    );
    let (batch, warnings, result) = read(&whole.as_bytes()[..whole.len() - 40]);
    assert_eq!((result, batch.spans.len()), (Ok(()), 3));
    assert!(
        warnings
            .iter()
            .any(|w| w.code == "bad_json" && w.text.contains("ends too early")),
        "{warnings:?}"
    );
}

#[test]
fn a_bad_line_costs_itself() {
    let text = format!(
        "{SEGMENT}\n{{\"id\":\n{}\n",
        SEGMENT
            .replace("aaaaaaaaaaaaaaaa", "dddddddddddddddd")
            .replace("bbbb", "eeee")
            .replace("cccc", "ffff")
    );
    let (batch, warnings, result) = read(text.as_bytes());
    assert_eq!((result, batch.spans.len()), (Ok(()), 6));
    assert_eq!(
        (codes(&warnings), warnings[0].at.as_deref()),
        (vec!["bad_json"], Some("line 2"))
    );
}

#[test]
fn what_the_service_left_out_is_said() {
    let text = r#"{"Traces":[{"Id":"t","LimitExceeded":true,"Segments":[]}],"UnprocessedTraceIds":["1-5","1-6"],"NextToken":"n"}"#;
    let (_, warnings, _) = read(text.as_bytes());
    assert_eq!(
        codes(&warnings),
        ["limit_exceeded", "unprocessed_traces", "next_page"]
    );
    assert!(warnings[1].text.contains("2 traces"));
    let (batch, warnings, result) = read(br#"{"Traces":[],"UnprocessedTraceIds":[]}"#);
    assert_eq!((result, warnings, batch.is_empty()), (Ok(()), vec![], true));
}

#[test]
fn times_in_milliseconds_are_read_and_said() {
    let text = r#"{"id":"a1","name":"s","trace_id":"1-2-3","start_time":1796046000300,"end_time":1796046001350}"#;
    let (batch, warnings, _) = read(text.as_bytes());
    assert_eq!(batch.spans[0].start.nanos(), 1_796_046_000_300_000_000);
    assert_eq!(batch.spans[0].duration_ms, Some(1050.0));
    assert_eq!(codes(&warnings), ["time_unit"]);
}

#[test]
fn the_completed_twin_wins() {
    let open = r#"{"id":"aaaaaaaaaaaaaaaa","name":"edge","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","start_time":1796046000.0,"in_progress":true}"#;
    for text in [format!("{open}\n{SEGMENT}"), format!("{SEGMENT}\n{open}")] {
        let (batch, warnings, _) = read(text.as_bytes());
        assert_eq!(batch.spans.len(), 3);
        assert!(batch.spans.iter().all(|s| s.duration_ms.is_some()));
        assert_eq!(codes(&warnings), ["twins"]);
    }
    let (batch, _, _) = read(open.as_bytes());
    assert_eq!(
        (batch.spans[0].duration_ms, batch.spans[0].status),
        (None, SpanStatus::Unset)
    );
}

#[test]
fn independent_subsegments_find_their_service() {
    let alone = r#"{"id":"d1","name":"ledger","type":"subsegment","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","parent_id":"e1","namespace":"remote","start_time":1796046000.5,"end_time":1796046000.6,"traced":true}"#;
    let between = r#"{"id":"e1","name":"step","type":"subsegment","trace_id":"1-6b0d7cb0-0123456789abcdef01234567","parent_id":"aaaaaaaaaaaaaaaa","start_time":1796046000.5,"end_time":1796046000.6}"#;
    let (batch, warnings, _) = read(format!("{alone}\n{between}\n{SEGMENT}").as_bytes());
    assert_eq!(warnings, vec![]);
    assert!(batch.spans.iter().all(|s| s.service.as_ref() == "edge"));
    assert_eq!(
        (batch.spans[0].kind, batch.spans[0].is_segment),
        (SpanKind::Client, false)
    );
    let (batch, warnings, _) = read(alone.as_bytes());
    assert_eq!(
        (batch.spans[0].service.as_ref(), codes(&warnings)),
        ("unknown", vec!["no_parent_segment"])
    );
}

#[test]
fn a_cause_elsewhere_in_the_trace_is_found() {
    let callee = r#"{"id":"d1","name":"db","trace_id":"t","start_time":1,"end_time":2,"cause":{"working_directory":"/","exceptions":[{"id":"abcdefghijklmnop","type":"a.Timeout","message":"slow"}]}}"#;
    let caller = r#"{"id":"d2","name":"app","trace_id":"t","start_time":1,"end_time":2,"cause":"abcdefghijklmnop"}"#;
    let spans = spans_of(&format!("{caller}\n{callee}"));
    assert!(
        spans.iter().all(|s| s.error.as_ref() == "a.Timeout: slow"),
        "{spans:?}"
    );
}

#[test]
fn depth_has_a_limit_that_is_said() {
    let open = r#"{"id":"a","name":"n","trace_id":"t","start_time":1,"end_time":2,"subsegments":["#;
    let deep = format!("{}{}", open.repeat(2000), "]}".repeat(2000));
    let (batch, warnings, result) = read(deep.as_bytes());
    assert_eq!(result, Ok(()));
    assert!(batch.spans.len() <= document::MAX_DEPTH);
    assert!(codes(&warnings).contains(&"too_deep"), "{warnings:?}");
}

#[test]
fn others_are_recognised_and_refused() {
    for (text, word) in [
        (r#"{"resourceSpans":[]}"#, "OpenTelemetry"),
        (r#"{"batches":[]}"#, "OpenTelemetry"),
        (
            r#"{"data":[{"traceID":"1","spans":[],"processes":{}}]}"#,
            "Jaeger",
        ),
        (r#"[{"traceId":"1","id":"2"}]"#, "Zipkin"),
        (
            r#"{"traces":[{"traceID":"1","rootServiceName":"a"}]}"#,
            "Tempo",
        ),
    ] {
        let Sniff::No { near, why } = XRay.sniff(&Head::new(text.as_bytes())) else {
            panic!("{text}")
        };
        assert!(near > 0 && why.contains(word), "{why}");
    }
    assert_eq!(
        XRay.sniff(&Head::new(
            br#"{"status":"success","data":{"resultType":"vector"}}"#
        )),
        Sniff::NOT_AT_ALL
    );
    let (_, _, result) = read(br#"{"a":1}"#);
    assert_eq!(result.unwrap_err().code, "no_traces");
}

#[test]
fn summaries_carry_the_largest_connect_time() {
    let text = r#"{"TraceSummaries":[{"Id":"1-6b0d7cb0-0123456789abcdef01234567","StartTime":1796046000.0,"Duration":0.29,"ResponseTime":0.29,"HasFault":false,"HasError":true,"IsPartial":true,"Http":{"HttpURL":"http://edge/pay","HttpMethod":"GET","HttpStatus":404},"Annotations":{"upstream.connect_time":[{"AnnotationValue":{"NumberValue":0.001},"ServiceIds":[{"Name":"inner"}]},{"AnnotationValue":{"StringValue":"1.023"},"ServiceIds":[{"Name":"edge","Type":"x"}]}],"ok":[{"AnnotationValue":{"BooleanValue":true}}]},"Users":{},"ServiceIds":[{"Name":"edge","Type":"client"},{"Name":"edge"},{"Name":"inner"}],"EntryPoint":{"Name":"edge"}},{"Id":"1-6b0d7cb1-0123456789abcdef01234567","Http":null,"Annotations":{},"HasFault":true},{"Duration":1}],"NextToken":"x"}"#;
    let (batch, warnings, _) = read(text.as_bytes());
    let [first, second] = batch.summaries.as_slice() else {
        panic!("{:?}", batch.summaries)
    };
    assert_eq!(
        (first.connect_ms, first.connect_service.as_deref()),
        (Some(1023.0), Some("edge"))
    );
    assert_eq!(
        (first.duration_ms, first.response_ms),
        (Some(290.0), Some(290.0))
    );
    assert_eq!(
        (first.status, first.http_status, first.is_partial),
        (SpanStatus::Error, Some(404), true)
    );
    assert_eq!(
        first
            .services
            .iter()
            .map(|s| s.as_ref())
            .collect::<Vec<_>>(),
        ["edge", "inner"]
    );
    // the time is in the id
    assert_eq!(
        (second.start.nanos(), second.status),
        (0x6b0d_7cb1 * 1_000_000_000, SpanStatus::Fault)
    );
    assert_eq!(
        codes(&warnings),
        ["bad_summary", "partial_traces", "next_page"]
    );
}

#[test]
fn a_service_graph_becomes_edges() {
    let text = r#"{"Services":[{"ReferenceId":0,"Name":"edge","Type":"client","Edges":[{"ReferenceId":1,"StartTime":1796046000,"EndTime":1796046600,"SummaryStatistics":{"OkCount":3,"ErrorStatistics":{"TotalCount":1},"FaultStatistics":{"TotalCount":2},"TotalCount":6},"ResponseTimeHistogram":[{"Value":0.157,"Count":1},{"Value":0.005,"Count":3},{"Value":0.157,"Count":2}]},{"ReferenceId":9}]},{"ReferenceId":1,"Name":"edge","Root":true,"Type":"AWS::EC2::Instance","Edges":[],"ResponseTimeHistogram":[{"Value":0.004,"Count":6}]}]}"#;
    let (batch, warnings, _) = read(text.as_bytes());
    let [edge] = batch.edges.as_slice() else {
        panic!("{:?}", batch.edges)
    };
    assert_eq!(
        (edge.caller.as_ref(), edge.callee.as_ref()),
        ("client", "edge")
    );
    assert_eq!((edge.total, edge.errors, edge.faults), (6, 1, 2));
    assert_eq!(edge.caller_histogram, [(5.0, 3), (157.0, 3)]);
    assert_eq!(edge.callee_histogram, [(4.0, 6)]);
    assert_eq!(codes(&warnings), ["unknown_service"]);
}

fn shared_spans(path: &str) -> Option<Vec<Span>> {
    let bytes = crate::base::fs::read(&shared_data(path)?).unwrap();
    Some(spans_of(std::str::from_utf8(&bytes).unwrap()))
}

fn gap(spans: &[Span], caller: &str, callee: &str) -> Call {
    *match_calls(spans)
        .iter()
        .find(|c| {
            spans[c.caller].span_id == SpanId::parse(caller)
                && spans[c.callee].span_id == SpanId::parse(callee)
        })
        .unwrap()
}

/// "Oracle values" of `xray.md` §2.
#[test]
fn the_oracle_values_hold() {
    let close = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 0.001, "{a:?} {b}");
    if let Some(spans) = shared_spans("public/xray/grafana-test-trace-petsite-sql.json") {
        let call = gap(&spans, "fakeid22222222bbbbbbbb", "fakeid44444444dddddddd");
        close(spans[call.caller].duration_ms, 48.115);
        close(spans[call.callee].duration_ms, 38.188);
        close(call.gap_ms, 9.927);
        close(call.before_ms, 8.516);
        close(call.after_ms, 1.411);
    }
    if let Some(spans) = shared_spans("public/xray/aws-docs-batch-get-traces.json") {
        close(
            gap(&spans, "0c544c1b1bbff948", "1fb07842d944e714").gap_ms,
            48.0,
        );
        let start_up = gap(&spans, "1fb07842d944e714", "00f91aa01f4984fd");
        close(start_up.gap_ms, 1155.0);
        assert!(start_up.is_startup);
        for (caller, callee) in [
            ("4cd3f10b76c624b4", "17ba309b32c7fbaf"),
            ("b29b548af4d54a0f", "1ee3c4a523f89ca5"),
        ] {
            let inferred = gap(&spans, caller, callee);
            close(inferred.gap_ms, 0.0);
            assert!(inferred.is_inferred && !inferred.has_network_gap());
        }
    }
    // call 51.9 ms, connect 39.6 (dns 1.5, dial 0.6, tls 37.3), second call none
    if let Some(spans) = shared_spans("public/xray/contrib-go-sdk-ddb-trimmed.json") {
        let calls: Vec<&Span> = spans
            .iter()
            .filter(|s| s.operation.as_ref() == "dynamodb")
            .collect();
        let rounded = |ms: Option<f64>| ms.map(|ms| (ms * 10.0).round() / 10.0);
        assert_eq!(rounded(calls[0].duration_ms), Some(51.9));
        assert_eq!(
            (rounded(calls[0].connect_ms), calls[1].connect_ms),
            (Some(39.6), None)
        );
        assert!(
            calls[1].error.starts_with("ResourceNotFoundException: "),
            "{}",
            calls[1].error
        );
    }
}

#[test]
fn every_public_sample_is_read() {
    for (name, spans, summaries, edges) in [
        ("aws-cli-batch-get-traces", 3, 0, 0),
        ("aws-docs-batch-get-traces", 11, 0, 0),
        ("aws-docs-segment-samples", 6, 0, 0),
        ("aws-docs-service-graph", 0, 0, 3),
        ("aws-docs-trace-summaries", 0, 2, 0),
        ("contrib-cause-is-exception-id", 1, 0, 0),
        ("contrib-go-sdk-ddb-trimmed", 18, 0, 0),
        ("contrib-indep-subsegment", 1, 0, 0),
        ("contrib-segment-aws-fields", 1, 0, 0),
        ("grafana-test-trace-ec2-dynamodb", 3, 0, 0),
        ("grafana-test-trace-petsite-sql", 7, 0, 0),
    ] {
        let Some(path) = shared_data(&format!("public/xray/{name}.json")) else {
            return;
        };
        let bytes = crate::base::fs::read(&path).unwrap();
        assert!(
            matches!(XRay.sniff(&Head::new(&bytes)), Sniff::Yes(_)),
            "{name}"
        );
        let (batch, warnings, result) = read(&bytes);
        assert_eq!(result, Ok(()), "{name}: {warnings:?}");
        assert_eq!(
            (batch.spans.len(), batch.summaries.len(), batch.edges.len()),
            (spans, summaries, edges),
            "{name}"
        );
        for span in &batch.spans {
            serde_json::from_str::<serde_json::Value>(&span.attributes).unwrap();
        }
    }
}

/// Every gap of the traces that `truth.json` names, to the microsecond.
#[test]
fn the_named_traces_have_their_gaps() {
    let Some(folder) = shared_data("incidents/snat-connect-ladder") else {
        return;
    };
    let truth: serde_json::Value =
        serde_json::from_slice(&crate::base::fs::read(&folder.join("truth.json")).unwrap())
            .unwrap();
    let mut spans = Vec::new();
    for page in 1..=8 {
        let path = folder.join(format!("input/xray/batch-get-traces-{page:02}.json"));
        let (batch, warnings, result) = read(&crate::base::fs::read(&path).unwrap());
        assert_eq!((result, warnings), (Ok(()), vec![]));
        spans.extend(batch.spans);
    }
    spans.sort_by(|a, b| (&a.trace_id, a.start, a.span_id).cmp(&(&b.trace_id, b.start, b.span_id)));
    let calls = match_calls(&spans);
    let mut seen = 0;
    for trace in truth["named_traces"].as_array().unwrap() {
        let gaps = trace["all_gaps"].as_array().unwrap();
        let id = trace["trace_id"].as_str().unwrap();
        assert_eq!(
            calls
                .iter()
                .filter(|c| spans[c.caller].trace_id.as_ref() == id)
                .count(),
            gaps.len()
        );
        for want in gaps {
            let text = |key: &str| want[key].as_str().unwrap();
            let call = gap(&spans, text("caller_id"), text("callee_id"));
            for (got, key) in [
                (call.gap_ms, "gap_ms"),
                (spans[call.caller].duration_ms, "call_ms"),
                (spans[call.callee].duration_ms, "callee_ms"),
            ] {
                assert!(
                    (got.unwrap() - want[key].as_f64().unwrap()).abs() < 0.001,
                    "{key} {got:?} {want}"
                );
            }
            assert_eq!(call.via_segment, text("call_is") == "segment");
            assert_eq!(spans[call.caller].service.as_ref(), text("caller"));
            assert_eq!(spans[call.callee].service.as_ref(), text("callee"));
            seen += 1;
        }
    }
    assert_eq!(seen, 17);
}

/// 731 sampled traces, six of which needed more than 0.9 s for a connect, counted from the files by hand.
#[test]
fn the_summaries_of_the_incident_are_all_there() {
    let Some(folder) = shared_data("incidents/snat-connect-ladder/input/xray") else {
        return;
    };
    let mut rows = Vec::new();
    for page in 1..=7 {
        let path = folder.join(format!("get-trace-summaries-{page:02}.json"));
        let (batch, warnings, result) = read(&crate::base::fs::read(&path).unwrap());
        assert_eq!(result, Ok(()));
        assert!(warnings.iter().all(|w| w.code == "next_page" && !w.lossy));
        rows.extend(batch.summaries);
    }
    assert_eq!(rows.len(), 731);
    let slow: Vec<_> = rows
        .iter()
        .filter(|r| r.connect_ms.is_some_and(|ms| ms > 900.0))
        .collect();
    assert_eq!(slow.len(), 6);
    assert!(
        slow.iter()
            .all(|r| r.connect_service.as_deref() == Some("smartgateway"))
    );
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let key = prop::sample::select(vec![
        "Traces",
        "Segments",
        "Document",
        "Services",
        "TraceSummaries",
        "Edges",
        "ReferenceId",
        "Annotations",
        "id",
        "name",
        "trace_id",
        "parent_id",
        "start_time",
        "end_time",
        "subsegments",
        "http",
        "request",
        "response",
        "status",
        "cause",
        "exceptions",
        "metadata",
        "annotations",
        "aws",
        "namespace",
        "upstream_connect_time",
        "Id",
        "StartTime",
        "ResponseTimeHistogram",
        "Value",
        "Count",
        "format",
        "type",
        "connect",
        "attempt",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u32..3).prop_map(|n| Value::from(1_796_046_000.5 + f64::from(n))),
        "[ -~]{0,12}".prop_map(Value::from),
        Just(Value::from(SEGMENT)),
        Just(Value::from("-, 0.000 : 1.5")),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|pairs| pairs
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Value>()),
        ]
    })
}

proptest! {
    #[test]
    fn random_json_never_panics_the_reader(value in any_json(), cut in 0usize..4000) {
        let text = value.to_string();
        let (batch, _, _) = read(text.as_bytes());
        for span in &batch.spans {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&span.attributes).is_ok(), "{}", span.attributes);
        }
        let sorted = {
            let mut spans = batch.spans;
            spans.sort_by(|a, b| (&a.trace_id, a.start, a.span_id).cmp(&(&b.trace_id, b.start, b.span_id)));
            spans
        };
        match_calls(&sorted);
        let bytes = text.as_bytes();
        drop(read(&bytes[..cut.min(bytes.len())]));
        XRay.sniff(&Head::new(bytes));
    }

    #[test]
    fn random_bytes_never_panic_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        drop(read(&bytes));
    }

    #[test]
    fn a_damaged_document_never_panics_the_reader(at in 0usize..900, byte in any::<u8>()) {
        let mut bytes = format!("{SEGMENT}\n{SEGMENT}").into_bytes();
        if let Some(slot) = bytes.get_mut(at) {
            *slot = byte;
        }
        drop(read(&bytes));
    }
}
