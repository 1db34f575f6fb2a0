//! Clear, findings, not enough.

use super::*;
use crate::base::testing::shared_data;
use crate::base::time::{TimeRange, Timestamp};
use crate::formats::xray::testing::read;
use crate::model::batch::Batch;
use crate::model::finding::Finding;
use crate::model::input::{Counts, Input};
use crate::model::span::CallEdge;
use crate::store::build;

fn verdict(parts: Vec<Batch>) -> Verdict {
    let parts = parts
        .into_iter()
        .enumerate()
        .map(|(ix, batch)| {
            let input = Input {
                id: format!("i{ix}"),
                path: format!("{ix}.json"),
                format: "xray".to_owned(),
                sha256: ix.to_string(),
                counts: Counts::default(),
                start: None,
                end: None,
                warnings: Vec::new(),
            };
            (input, batch)
        })
        .collect();
    let snapshot = build::build(parts);
    let context = Context {
        snapshot: &snapshot,
        window: TimeRange::ALL,
    };
    SlowCall.check(&context)
}

fn of_text(text: &str) -> Verdict {
    verdict(vec![read(text.as_bytes()).0])
}

fn findings(verdict: Verdict) -> Vec<Finding> {
    match verdict {
        Verdict::Findings(found) => found,
        other => panic!("{other:?}"),
    }
}

/// A proxy's segment and its callee's: `gap` ms between them, of which the proxy itself saw `connect` ms.
fn proxied(ix: u32, gap: f64, connect: Option<f64>) -> String {
    let start = 1_796_046_000.0 + f64::from(ix);
    let annotations = connect.map_or(String::new(), |ms| {
        format!(r#","annotations":{{"upstream_connect_time":{}}}"#, ms / 1e3)
    });
    format!(
        r#"{{"id":"a{ix:x}","name":"edge","trace_id":"t{ix}","start_time":{start:.6},"end_time":{:.6}{annotations}}}
{{"id":"b{ix:x}","name":"checkout","parent_id":"a{ix:x}","trace_id":"t{ix}","start_time":{:.6},"end_time":{:.6}}}"#,
        start + (gap + 10.0) / 1e3,
        start + gap / 1e3,
        start + (gap + 10.0) / 1e3,
    )
}

fn normal(count: u32) -> Vec<String> {
    (0..count)
        .map(|ix| proxied(ix, 0.5 + f64::from(ix % 7) / 10.0, Some(0.0)))
        .collect()
}

#[test]
fn a_lost_syn_shows_between_caller_and_callee() {
    let mut lines = normal(40);
    lines.extend((40..44).map(|ix| proxied(ix, 1009.0 + f64::from(ix), Some(1009.0))));
    lines.push(proxied(44, 3032.0, None));
    let found = findings(of_text(&lines.join("\n")));
    assert_eq!(found.len(), 1);
    let finding = &found[0];
    assert_eq!(
        (finding.text("caller"), finding.text("callee")),
        (Some("edge"), Some("checkout"))
    );
    assert_eq!(
        (finding.number("count"), finding.number("calls")),
        (Some(5.0), Some(45.0))
    );
    assert_eq!(finding.number("explained_by_connect"), Some(4.0));
    assert_eq!(
        finding.values["rungs"],
        serde_json::json!({"1s": 4, "3s": 1})
    );
    assert_eq!(finding.number("gap_ms_max"), Some(3032.0));
    assert_eq!(finding.onset.nanos(), 1_796_046_040_000_000_000);
    assert_eq!(finding.entities, ["service:edge", "service:checkout"]);
    assert_eq!(
        finding.evidence[0].locator,
        "trace t44 caller 0000000000000a2c callee 0000000000000b2c"
    );
    assert_eq!(
        finding.evidence[0].quote,
        "call 3042 − callee 10 = gap 3032 ms"
    );
    assert!(
        finding.detail.contains("also holds reading"),
        "{}",
        finding.detail
    );
}

#[test]
fn usual_gaps_are_clear() {
    assert_eq!(of_text(&normal(40).join("\n")), Verdict::Clear);
    // slow answers of the callee are not on the way
    let slow_callee = r#"{"id":"a1","name":"edge","trace_id":"t","start_time":10.0,"end_time":13.001}
{"id":"b1","name":"checkout","parent_id":"a1","trace_id":"t","start_time":10.0005,"end_time":13.0}"#;
    assert_eq!(of_text(slow_callee), Verdict::Clear);
    // a gap over ten times the median, and under the floor
    let mut lines = normal(40);
    lines.push(proxied(41, 60.0, None));
    assert_eq!(of_text(&lines.join("\n")), Verdict::Clear);
}

#[test]
fn a_program_that_works_itself_is_no_slow_call() {
    let lines: Vec<String> = (0..20)
        .map(|ix| proxied(ix, 400.0 + f64::from(ix), None))
        .collect();
    assert_eq!(of_text(&lines.join("\n")), Verdict::Clear);
    // the same gaps, when the caller says that it was connecting
    let lines: Vec<String> = (0..20)
        .map(|ix| proxied(ix, 400.0 + f64::from(ix), Some(400.0)))
        .collect();
    let found = findings(of_text(&lines.join("\n")));
    assert_eq!(found[0].number("count"), Some(20.0));
    assert!(!found[0].values.contains_key("rungs"));
}

#[test]
fn one_call_is_a_weak_finding() {
    let text = r#"{"id":"aa","name":"edge","trace_id":"t","start_time":1796046000.0,"end_time":1796046001.35,"subsegments":[{"id":"bb","name":"checkout","namespace":"remote","start_time":1796046000.3,"end_time":1796046001.345}]}
{"id":"cc","name":"checkout","parent_id":"bb","trace_id":"t","start_time":1796046001.33,"end_time":1796046001.34}"#;
    let found = findings(of_text(text));
    assert_eq!(found[0].number("gap_ms_max"), Some(1035.0));
    assert!(found[0].confidence <= 0.5, "{}", found[0].confidence);
    assert!(found[0].detail.contains("too few"));
}

#[test]
fn without_matched_calls_it_cannot_say() {
    assert!(matches!(verdict(vec![]), Verdict::NotEnough(_)));
    let alone = r#"{"id":"aa","name":"edge","trace_id":"t","start_time":1,"end_time":2}"#;
    assert!(matches!(of_text(alone), Verdict::NotEnough(why) if why.contains("among 1 spans")));
    let inferred = r#"{"id":"aa","name":"edge","trace_id":"t","start_time":1,"end_time":9}
{"id":"bb","name":"db","parent_id":"aa","trace_id":"t","inferred":true,"start_time":1,"end_time":2}"#;
    assert!(
        matches!(of_text(inferred), Verdict::NotEnough(why) if why.contains("1 matched calls"))
    );
}

fn map(caller: &[(f64, u64)], callee: &[(f64, u64)]) -> Batch {
    Batch {
        edges: vec![CallEdge {
            input: Default::default(),
            caller: "edge".into(),
            callee: "checkout".into(),
            start: Some(Timestamp::from_nanos(1_000_000_000)),
            end: Some(Timestamp::from_nanos(2_000_000_000)),
            total: caller.iter().map(|(_, n)| n).sum(),
            faults: 0,
            errors: 0,
            caller_histogram: caller.to_vec(),
            callee_histogram: callee.to_vec(),
        }],
        ..Batch::default()
    }
}

#[test]
fn a_service_map_is_a_weaker_signal() {
    let found = findings(verdict(vec![map(
        &[(5.0, 95), (1010.0, 4), (3030.0, 1)],
        &[(4.0, 99), (12.0, 1)],
    )]));
    let finding = &found[0];
    assert_eq!(
        (finding.number("count"), finding.number("calls")),
        (Some(5.0), Some(100.0))
    );
    assert_eq!(
        (finding.number("gap_ms_p50"), finding.number("gap_ms_p99")),
        (Some(1.0), Some(1006.0))
    );
    assert!(finding.confidence < 0.5);
    assert_eq!(
        verdict(vec![map(&[(5.0, 99), (15.0, 1)], &[(4.0, 100)])]),
        Verdict::Clear
    );
    // too few calls for a quantile; a node that serves others most of the time
    assert_eq!(
        verdict(vec![map(&[(1010.0, 3)], &[(4.0, 3)])]),
        Verdict::Clear
    );
    assert_eq!(
        verdict(vec![map(&[(1010.0, 100)], &[(4.0, 1000)])]),
        Verdict::Clear
    );
    assert!(matches!(
        verdict(vec![map(&[(1010.0, 100)], &[])]),
        Verdict::NotEnough(_)
    ));
}

#[test]
fn the_gateway_is_found_and_the_page_is_not() {
    let Some(folder) = shared_data("incidents/snat-connect-ladder/input/xray") else {
        return;
    };
    let parts: Vec<Batch> = (1..=8)
        .map(|page| {
            let path = folder.join(format!("batch-get-traces-{page:02}.json"));
            read(&crate::base::fs::read(&path).unwrap()).0
        })
        .collect();
    let found = findings(verdict(parts.clone()));
    let pairs: Vec<_> = found
        .iter()
        .map(|f| (f.text("caller"), f.text("callee")))
        .collect();
    assert_eq!(pairs, [(Some("smartgateway"), Some("presentationservice"))]);
    let finding = &found[0];
    assert_eq!(
        (finding.number("count"), finding.number("calls")),
        (Some(6.0), Some(104.0))
    );
    assert_eq!(finding.number("explained_by_connect"), Some(6.0));
    assert_eq!(
        finding.values["rungs"],
        serde_json::json!({"1s": 5, "3s": 1})
    );
    assert_eq!(finding.number("gap_ms_max"), Some(3032.614));
    assert!(
        finding.evidence[0]
            .locator
            .starts_with("trace 1-6b0d8832-44ec0712a449ffefd10ffc9f ")
    );
    // the decoys of `truth.json`: exports that work about a second
    assert!(
        finding
            .evidence
            .iter()
            .all(|e| !e.locator.contains("1-6b0d88d1-1e9f8f922d7ae8fda41bf110"))
    );
    let mut turned = parts;
    turned.reverse();
    assert_eq!(findings(verdict(turned))[0].values, finding.values);
}
