//! What the smaller answers become.

use proptest::prelude::*;

use super::XRay;
use crate::base::reporter::{Reporter, Warning};
use crate::base::time::Zone;
use crate::formats::{Format as _, Head, Hints, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::series::Sampling;

const STATISTICS: &str = r#"{"TimeSeriesServiceStatistics":[{"Timestamp":1796046060,"EdgeSummaryStatistics":{"OkCount":59,"TotalCount":60,"ErrorStatistics":{"ThrottleCount":1,"OtherCount":1,"TotalCount":2},"FaultStatistics":{"TotalCount":3},"TotalResponseTime":4.2},"ResponseTimeHistogram":[{"Value":1.1,"Count":1},{"Value":0.07,"Count":99}]},{"Timestamp":1796046000,"ServiceSummaryStatistics":{"TotalCount":0,"TotalResponseTime":0}}],"ContainsOldGroupVersions":false}"#;

fn asked(body: serde_json::Value) -> RequestHint {
    RequestHint {
        method: "POST".to_owned(),
        path: "/TimeSeriesServiceStatistics".to_owned(),
        body: Some(body),
        is_pulled: true,
        ..RequestHint::default()
    }
}

fn read(text: &str, request: Option<&RequestHint>) -> (Batch, Vec<Warning>) {
    assert!(
        matches!(XRay.sniff(&Head::new(text.as_bytes())), Sniff::Yes(_)),
        "{text}"
    );
    let zone = Zone::utc();
    let hints = Hints {
        name: "x.json",
        request,
        zone: &zone,
        log_formats: &[],
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    XRay.read(text.as_bytes(), &hints, &mut batch, &mut log)
        .unwrap();
    (batch, log.into_warnings())
}

#[test]
fn statistics_become_series_of_sampled_requests() {
    let request = asked(
        serde_json::json!({"StartTime": 1_796_046_000, "EndTime": 1_796_049_600, "Period": 60,
        "EntitySelectorExpression": "edge(\"edge\",\"checkout\")"}),
    );
    let (batch, warnings) = read(STATISTICS, Some(&request));
    assert_eq!(warnings, []);
    let found: Vec<(&str, Vec<f64>)> = batch
        .series
        .iter()
        .map(|s| (s.metric.as_ref(), s.v.clone()))
        .collect();
    assert_eq!(
        found,
        [
            ("xray_sampled_requests", vec![0.0, 60.0]),
            ("xray_sampled_errors", vec![2.0]),
            ("xray_sampled_throttles", vec![1.0]),
            ("xray_sampled_faults", vec![3.0]),
            ("xray_sampled_mean_seconds", vec![0.07]),
            ("xray_sampled_p99_seconds", vec![0.07]),
            ("xray_sampled_max_seconds", vec![1.1]),
        ]
    );
    let first = &batch.series[0];
    assert_eq!(
        first.labels.to_json(),
        r#"{"peer.service":"checkout","service":"edge"}"#
    );
    assert_eq!(
        first.sampling,
        Sampling::Grid {
            step_nanos: 60_000_000_000
        }
    );
    assert_eq!(first.t[0], 1_796_046_000_000_000_000);
    assert_eq!(batch.asked.unwrap().nanos(), 3_600_000_000_000);
}

#[test]
fn statistics_without_their_request_are_read_and_said_to_be_of_nobody_known() {
    let (batch, warnings) = read(STATISTICS, None);
    assert_eq!(batch.series.len(), 7);
    assert_eq!(warnings[0].code, "unknown_selector");
    for (selector, labels) in [
        ("service(\"edge\")", r#"{"service":"edge"}"#),
        (
            "service(id(name: \"a\"))",
            r#"{"selector":"service(id(name: \"a\"))"}"#,
        ),
        ("", "{}"),
    ] {
        let request = asked(serde_json::json!({"EntitySelectorExpression": selector}));
        let (batch, _) = read(STATISTICS, Some(&request));
        assert_eq!(batch.series[0].labels.to_json(), labels);
    }
    let (batch, warnings) = read(
        r#"{"TimeSeriesServiceStatistics":[{"Timestamp":"2026-08-01T00:00:00Z"},{"Timestamp":{}}]}"#,
        None,
    );
    assert_eq!(batch.series.len(), 0);
    assert_eq!(warnings[0].code, "bad_point");
}

#[test]
fn what_the_service_says_of_itself_becomes_facts() {
    for (text, facts) in [
        (
            r#"{"Destination":"XRay","Status":"ACTIVE"}"#,
            "xray.destination=XRay xray.destination.status=ACTIVE",
        ),
        (
            r#"{"SamplingRuleRecords":[{"SamplingRule":{"RuleName":"Default","FixedRate":0.05,"ReservoirSize":1}},3]}"#,
            "xray.sampling_rule.Default=1 requests a second, of the others the share 0.05",
        ),
        (
            r#"{"SamplingStatisticSummaries":[{"RuleName":"Default","RequestCount":10,"SampledCount":2},{"RuleName":"Default","RequestCount":10,"SampledCount":1}]}"#,
            "xray.sampled.Default=3 of 20 requests",
        ),
    ] {
        let (batch, warnings) = read(text, None);
        let found: Vec<String> = batch
            .facts
            .iter()
            .map(|f| format!("{}={}", f.name, f.value))
            .collect();
        assert_eq!((found.join(" "), warnings), (facts.to_owned(), vec![]));
    }
}

#[test]
fn what_has_no_table_is_named() {
    for (text, call) in [
        (
            r#"{"InsightSummaries":[{"InsightId":"x","State":"ACTIVE"}]}"#,
            "GetInsightSummaries",
        ),
        (
            r#"{"Groups":[{"GroupName":"g","GroupARN":"arn:aws:xray:eu-central-1:1:group/g/x"}]}"#,
            "GetGroups",
        ),
        (r#"{"IndexingRules":[]}"#, "GetIndexingRules"),
        (r#"{"RetrievalToken":"t"}"#, "StartTraceRetrieval"),
    ] {
        let (batch, warnings) = read(text, None);
        assert!(batch.is_empty());
        assert_eq!(warnings[0].code, "no_table");
        assert!(warnings[0].text.contains(call) && !warnings[0].lossy);
    }
}

#[test]
fn an_answer_of_a_pull_does_not_say_again_what_the_pull_says() {
    let text = r#"{"Traces":[{"Id":"t","Segments":[{"Document":{"id":"aaaaaaaaaaaaaaaa","name":"edge","start_time":1.0,"end_time":2.0}}]}],"UnprocessedTraceIds":["1-5"],"NextToken":"n"}"#;
    let (_, loose) = read(text, None);
    assert_eq!(loose.len(), 2);
    assert!(loose[0].lossy);
    let (_, pulled) = read(text, Some(&asked(serde_json::json!({}))));
    assert_eq!(pulled.len(), 1, "{pulled:?}");
    assert!(!pulled[0].lossy && pulled[0].code == "unprocessed_traces");
}

proptest! {
    #[test]
    fn any_json_under_these_keys_is_read_without_panic(
        key in prop::sample::select(vec!["TimeSeriesServiceStatistics", "SamplingRuleRecords", "SamplingStatisticSummaries", "Destination"]),
        text in r#"[\[\]{}",:a-zA-Z0-9.eE+-]{0,60}"#,
    ) {
        let text = format!("{{\"{key}\":{text},\"Status\":\"XRay\"}}");
        let zone = Zone::utc();
        let hints = Hints { name: "x", request: None, zone: &zone, log_formats: &[] };
        let _ = XRay.sniff(&Head::new(text.as_bytes()));
        drop(XRay.read(text.as_bytes(), &hints, &mut Batch::default(), &mut Reporter::new()));
    }
}
