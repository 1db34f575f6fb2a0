//! The machine, driven from scripted answers.

use std::collections::BTreeMap;

use super::*;
use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::sources::{Body, Check, Failure, FailureKind, Outcome, Reply, Step};

fn window(secs: i64) -> TimeRange {
    let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
    TimeRange::new(start, start.plus_nanos(secs * 1_000_000_000))
}

fn source(own: serde_json::Value) -> SourceSettings {
    let serde_json::Value::Object(mut own) = own else {
        panic!("{own}");
    };
    own.entry("region").or_insert("eu-central-1".into());
    SourceSettings {
        name: "traces".to_owned(),
        kind: "xray".to_owned(),
        own,
        ..SourceSettings::default()
    }
}

fn id(n: usize) -> String {
    format!("1-6b0d7cb0-{n:024}")
}

fn summaries(numbers: std::ops::Range<usize>, token: Option<&str>) -> String {
    let rows: Vec<_> = numbers
        .map(|n| serde_json::json!({"Id": id(n), "Duration": 0.5, "HasFault": n == 1}))
        .collect();
    let mut body = serde_json::json!({"TraceSummaries": rows});
    if let Some(token) = token {
        body["NextToken"] = token.into();
    }
    body.to_string()
}

/// One answer: status, headers, body.
type Said = (u16, Vec<(String, String)>, String);

fn good(body: impl Into<String>) -> Said {
    (200, Vec::new(), body.into())
}

/// As AWS says no: the code in a header, the words in the body.
fn no(status: u16, code: &str, words: &str) -> Said {
    let headers = vec![(
        "x-amzn-errortype".to_owned(),
        format!("{code}:http://internal.amazon.com/"),
    )];
    let body = serde_json::json!({"message": words}).to_string();
    (status, headers, body)
}

/// A service: the first rule whose words stand in path and body answers; each rule's answers come in turn, the last again
/// and again.
struct Service {
    rules: Vec<(&'static str, Vec<Said>)>,
    asked: Vec<Request>,
}

impl Service {
    fn new(rules: Vec<(&'static str, Vec<Said>)>) -> Self {
        Self {
            rules,
            asked: Vec::new(),
        }
    }

    fn line(request: &Request) -> String {
        let Body::Json(body) = &request.body else {
            panic!("{request:?}");
        };
        format!("{} {body}", request.path)
    }

    fn answer(&mut self, line: &str) -> Said {
        let rule = self.rules.iter_mut().find(|(key, _)| line.contains(key));
        match rule {
            Some((_, answers)) if answers.len() > 1 => answers.remove(0),
            Some((_, answers)) => answers[0].clone(),
            None if line.starts_with("/GetTraceSegmentDestination") => {
                good(r#"{"Destination":"XRay","Status":"ACTIVE"}"#)
            }
            // Everything that is asked for comes.
            None if line.starts_with("/Traces") => {
                let body: serde_json::Value =
                    serde_json::from_str(line.split_once(' ').unwrap().1).unwrap();
                let traces: Vec<_> = body["TraceIds"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| serde_json::json!({"Id": id, "Segments": []}))
                    .collect();
                good(serde_json::json!({"Traces": traces, "UnprocessedTraceIds": []}).to_string())
            }
            None => good("{}"),
        }
    }

    /// Runs a machine to its end; `backwards` answers what is in flight in the other order.
    fn run(&mut self, pull: &mut dyn Pull, backwards: bool) {
        let mut flying = Vec::new();
        loop {
            assert!(self.asked.len() < 2_000, "it asks and asks");
            match pull.next() {
                Step::Fetch(ticket, request) => {
                    let signing = request.signing.as_ref().unwrap();
                    assert_eq!(
                        (signing.service, signing.region.as_str()),
                        ("xray", "eu-central-1")
                    );
                    flying.push((ticket, Self::line(&request)));
                    self.asked.push(request);
                }
                Step::Wait => {
                    let at = if backwards { flying.len() - 1 } else { 0 };
                    let (ticket, line) = flying.remove(at);
                    let (status, headers, body) = self.answer(&line);
                    let reply = Reply {
                        status,
                        headers,
                        body: body.into_bytes(),
                        is_cut: false,
                    };
                    pull.feed(ticket, &Outcome::Answered(&reply));
                }
                Step::Done => return,
            }
        }
    }

    /// What was asked of one path.
    fn of(&self, path: &str) -> Vec<&Request> {
        self.asked.iter().filter(|r| r.path == path).collect()
    }

    fn lines(&self, path: &str) -> Vec<String> {
        self.of(path).into_iter().map(Self::line).collect()
    }
}

/// Pulls; what was asked and what is to be said.
fn pull_of(
    own: serde_json::Value,
    secs: i64,
    rules: Vec<(&'static str, Vec<Said>)>,
) -> (Service, Vec<Warning>) {
    let mut service = Service::new(rules);
    let mut pull = XRay.plan(&source(own), window(secs)).unwrap();
    service.run(&mut *pull, false);
    let progress = pull.progress();
    assert_eq!(progress.answered, progress.expected);
    let warnings = pull.warnings();
    (service, warnings)
}

fn codes(warnings: &[Warning]) -> Vec<(&str, bool)> {
    warnings
        .iter()
        .map(|w| (w.code.as_str(), w.lossy))
        .collect()
}

fn text_of<'a>(warnings: &'a [Warning], code: &str) -> &'a str {
    let found = warnings.iter().find(|w| w.code == code);
    &found
        .unwrap_or_else(|| panic!("{code}: {warnings:#?}"))
        .text
}

#[test]
fn it_pages_the_list_and_takes_the_traces_in_fives() {
    let graph = r#"{"Services":[{"ReferenceId":1,"Name":"edge","Edges":[{"ReferenceId":2,"SummaryStatistics":{"TotalCount":5}}]},{"ReferenceId":2,"Name":"checkout"}]}"#;
    let mut names = Vec::new();
    for backwards in [false, true] {
        let mut service = Service::new(vec![
            (
                "/TraceSummaries",
                vec![
                    good(summaries(0..4, Some("secret-a"))),
                    good(summaries(0..0, Some("secret-b"))),
                    good(summaries(3..12, None)),
                ],
            ),
            ("/ServiceGraph", vec![good(graph)]),
        ]);
        let mut pull = XRay
            .plan(&source(serde_json::json!({})), window(600))
            .unwrap();
        service.run(&mut *pull, backwards);
        let warnings = pull.warnings();
        assert_eq!(
            codes(&warnings),
            [("cost_preview", false), ("sampled", false)]
        );
        assert!(text_of(&warnings, "sampled").contains("5 % of the others"));
        let times = format!(
            r#""StartTime":{},"EndTime":{}"#,
            start_of("2026-08-01T00:00:00Z"),
            start_of("2026-08-01T00:10:00Z")
        );
        let lists = service.lines("/TraceSummaries");
        let tokens = [
            "",
            r#","NextToken":"secret-a""#,
            r#","NextToken":"secret-b""#,
        ];
        assert_eq!(
            lists,
            tokens.map(|token| format!(
                r#"/TraceSummaries {{{times},"TimeRangeType":"Event"{token}}}"#
            ))
        );
        // The token stands in no name.
        let shown: Vec<String> = service
            .asked
            .iter()
            .filter(|r| r.is_kept)
            .map(|r| r.question().name("traces"))
            .collect();
        assert!(
            shown.iter().any(|n| n.contains(r#""NextToken":"page 3""#)),
            "{shown:#?}"
        );
        assert!(!shown.iter().any(|n| n.contains("secret")), "{shown:#?}");
        let batches: Vec<usize> = service
            .lines("/Traces")
            .iter()
            .map(|line| line.matches("1-6b0d7cb0-").count())
            .collect();
        assert_eq!(batches, [5, 5, 2], "twelve traces, each once");
        let selectors = service.lines("/TimeSeriesServiceStatistics");
        assert_eq!(selectors.len(), 2);
        assert!(
            selectors[1].contains(r#""EntitySelectorExpression":"edge(\"edge\",\"checkout\")""#),
            "{selectors:#?}"
        );
        let mut all = shown;
        all.sort();
        names.push(all);
    }
    assert_eq!(
        names[0], names[1],
        "the order of answers changes no question"
    );
}

fn start_of(text: &str) -> String {
    let millis = Timestamp::parse_rfc3339(text).unwrap().millis();
    (millis / 1000).to_string()
}

#[test]
fn an_empty_window_is_no_failure() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        7_200,
        vec![
            (
                "/TraceSummaries",
                vec![good(r#"{"TraceSummaries":[],"TracesProcessedCount":0}"#)],
            ),
            (
                "/TimeSeries",
                vec![good(r#"{"TimeSeriesServiceStatistics":[]}"#)],
            ),
        ],
    );
    assert_eq!(codes(&warnings), [("cost_preview", false)]);
    assert_eq!(service.of("/Traces").len(), 0);
    assert_eq!(service.of("/TraceSummaries").len(), 1, "nothing to split");
}

#[test]
fn filters_are_asked_one_after_another_and_joined() {
    let (service, _) = pull_of(
        serde_json::json!({"filters": ["fault", "responsetime > 1"], "time_range": "trace_id", "group": "g"}),
        60,
        vec![("/TraceSummaries", vec![good(summaries(0..3, None))])],
    );
    let lists = service.lines("/TraceSummaries");
    assert_eq!(lists.len(), 2);
    assert!(
        lists[0].contains(r#""FilterExpression":"fault""#),
        "{lists:?}"
    );
    assert!(lists[1].contains(r#""FilterExpression":"responsetime > 1""#));
    assert!(lists[1].contains(r#""TimeRangeType":"TraceId""#));
    assert!(service.lines("/ServiceGraph")[0].contains(r#""GroupName":"g""#));
    assert_eq!(service.of("/Traces").len(), 1);
}

#[test]
fn a_slice_that_is_refused_for_its_length_is_halved() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        600,
        vec![(
            "/TraceSummaries",
            vec![
                no(
                    400,
                    "InvalidRequestException",
                    "Time range cannot be longer than 6 hours",
                ),
                good(summaries(0..1, None)),
                good(summaries(1..2, None)),
            ],
        )],
    );
    assert_eq!(service.of("/TraceSummaries").len(), 3);
    assert_eq!(
        codes(&warnings),
        [("cost_preview", false), ("sampled", false)]
    );
    assert_eq!(service.lines("/Traces")[0].matches("1-6b0d").count(), 2);
}

#[test]
fn whoever_asks_too_often_waits_then_halves_then_says_what_is_missing() {
    for (status, code) in [(429, "ThrottledException"), (400, "ThrottlingException")] {
        let (service, warnings) = pull_of(
            serde_json::json!({}),
            600,
            vec![(
                "/TraceSummaries",
                vec![
                    no(status, code, "Rate exceeded"),
                    no(status, code, "Rate exceeded"),
                    no(status, code, "Rate exceeded"),
                    good(summaries(0..1, None)),
                ],
            )],
        );
        let lists = service.of("/TraceSummaries");
        let told: Vec<(u32, u64)> = lists.iter().map(|r| (r.again, r.delay.as_secs())).collect();
        assert_eq!(told, [(0, 0), (1, 1), (2, 2), (0, 4), (0, 4)]);
        assert!(warnings.iter().all(|w| !w.lossy), "{warnings:#?}");
    }
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        2,
        vec![(
            "/TraceSummaries",
            vec![no(429, "ThrottledException", "Rate exceeded")],
        )],
    );
    assert_eq!(
        service.of("/TraceSummaries").len(),
        9,
        "whole and two halves, thrice each"
    );
    let lost: Vec<&Warning> = warnings.iter().filter(|w| w.lossy).collect();
    assert_eq!(lost.len(), 2, "{warnings:#?}");
    assert!(lost[0].text.contains("Rate exceeded"));
    assert_eq!(
        lost[0].at.as_deref(),
        Some("2026-08-01T00:00:00Z to 2026-08-01T00:00:01Z")
    );
}

#[test]
fn traces_that_were_not_processed_are_asked_for_again_and_then_counted() {
    let left = |n: usize| {
        let ids: Vec<String> = (0..n).map(id).collect();
        good(serde_json::json!({"Traces": [], "UnprocessedTraceIds": ids}).to_string())
    };
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            ("/TraceSummaries", vec![good(summaries(0..5, None))]),
            ("/Traces", vec![left(4), left(2), left(0)]),
        ],
    );
    assert_eq!(service.of("/Traces").len(), 3);
    assert!(warnings.iter().all(|w| !w.lossy), "{warnings:#?}");

    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            ("/TraceSummaries", vec![good(summaries(0..5, None))]),
            ("/Traces", vec![left(4)]),
        ],
    );
    let asked: Vec<(u32, u64)> = service
        .of("/Traces")
        .iter()
        .map(|r| (r.again, r.delay.as_secs()))
        .collect();
    assert_eq!(asked, [(0, 0), (1, 1), (2, 2), (3, 4)]);
    let text = text_of(&warnings, "unprocessed_traces");
    assert!(
        text.starts_with("4 traces (1-6b0d7cb0-") && text.contains("3 more tries"),
        "{text}"
    );
}

#[test]
fn a_batch_that_is_refused_fails_alone() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            ("/TraceSummaries", vec![good(summaries(0..3, None))]),
            (
                "/Traces",
                vec![
                    no(400, "InvalidRequestException", "Invalid trace id"),
                    no(400, "InvalidRequestException", "Invalid trace id"),
                    good(r#"{"Traces":[],"UnprocessedTraceIds":[]}"#),
                ],
            ),
        ],
    );
    assert_eq!(service.of("/Traces").len(), 4);
    let text = text_of(&warnings, "traces_missing");
    assert!(text.starts_with(&format!("1 trace ({})", id(0))), "{text}");
    assert!(text.contains("Invalid trace id"));
}

#[test]
fn a_malformed_answer_costs_itself() {
    let rules = |body: &'static str| {
        vec![
            ("/TraceSummaries", vec![good(summaries(0..1, None))]),
            ("/ServiceGraph", vec![good(body)]),
            ("/GetSampling", vec![good(body)]),
            ("/TimeSeries", vec![good(body)]),
            ("/Traces", vec![good(body)]),
        ]
    };
    for body in ["<html>login</html>", "", "7", "{\"Traces\":"] {
        let (_, warnings) = pull_of(serde_json::json!({}), 60, rules(body));
        for code in ["graph_missing", "traces_missing", "fact_missing"] {
            text_of(&warnings, code);
        }
    }
    // Members of another type than they should have are passed over.
    for body in [
        r#"{"Services":7,"Traces":null,"SamplingRuleRecords":{},"TimeSeriesServiceStatistics":"x","NextToken":9}"#,
        r#"{"Services":[{"Edges":[{}]}],"TimeSeriesServiceStatistics":[null,{"EdgeSummaryStatistics":3}]}"#,
    ] {
        pull_of(serde_json::json!({}), 60, rules(body));
    }
    let (_, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![(
            "/TraceSummaries",
            vec![good(r#"{"TraceSummaries":[{"Id":3},null,{"#)],
        )],
    );
    assert!(text_of(&warnings, "summaries_missing").contains("no JSON"));
}

#[test]
fn pages_that_turn_in_a_circle_end() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![("/TraceSummaries", vec![good(summaries(0..1, Some("same")))])],
    );
    assert_eq!(service.of("/TraceSummaries").len(), 2);
    assert!(text_of(&warnings, "summaries_missing").contains("do not end"));
}

#[test]
fn a_token_that_has_expired_begins_the_list_anew_once() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![(
            "/TraceSummaries",
            vec![
                good(summaries(0..1, Some("old"))),
                no(400, "InvalidRequestException", "Invalid token"),
                good(summaries(0..2, None)),
            ],
        )],
    );
    let again: Vec<u32> = service
        .of("/TraceSummaries")
        .iter()
        .map(|r| r.again)
        .collect();
    assert_eq!(again, [0, 0, 1]);
    assert!(warnings.iter().all(|w| !w.lossy), "{warnings:#?}");
}

#[test]
fn credentials_that_are_not_taken_end_the_pull_with_one_error() {
    for (status, code) in [
        (403, "ExpiredTokenException"),
        (403, "UnrecognizedClientException"),
        (403, "InvalidSignatureException"),
        (401, ""),
    ] {
        let (service, warnings) = pull_of(
            serde_json::json!({}),
            60,
            vec![("/", vec![no(status, code, "The security token is wrong")])],
        );
        assert_eq!(service.asked.len(), 1);
        assert_eq!(codes(&warnings), [("refused", true)]);
        assert!(warnings[0].text.contains(code));
    }
    let xml = "<?xml version=\"1.0\"?><ErrorResponse><Errors><Error><Code>InvalidClientTokenId</Code><Message>The security token included in the request is invalid.</Message></Error></Errors></ErrorResponse>";
    let (_, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![("/", vec![(403, Vec::new(), xml.to_owned())])],
    );
    assert_eq!(
        warnings[0].text,
        "HTTP 403 InvalidClientTokenId: The security token included in the request is invalid."
    );
    // They may also expire in the middle.
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            ("/TraceSummaries", vec![good(summaries(0..900, None))]),
            ("/Traces", vec![no(403, "ExpiredTokenException", "expired")]),
        ],
    );
    assert!(
        service.of("/Traces").len() > 1,
        "all were in flight at once here"
    );
    assert!(text_of(&warnings, "refused").contains("ExpiredTokenException"));
}

#[test]
fn a_missing_right_is_named_and_the_rest_goes_on() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            (
                "/ServiceGraph",
                vec![no(403, "AccessDeniedException", "User is not authorized")],
            ),
            (
                "/Traces",
                vec![no(403, "AccessDeniedException", "User is not authorized")],
            ),
            (
                "/GetTraceSegmentDestination",
                vec![no(403, "AccessDeniedException", "User is not authorized")],
            ),
            ("/TraceSummaries", vec![good(summaries(0..40, None))]),
        ],
    );
    assert_eq!(service.of("/Traces").len(), 8);
    assert_eq!(
        codes(&warnings),
        [
            ("fact_missing", false),
            ("access_denied", true),
            ("cost_preview", false),
            ("access_denied", true),
            ("sampled", false)
        ]
    );
    assert!(warnings[1].text.contains("`xray:GetServiceGraph`"));
    assert!(warnings[3].text.contains("`xray:BatchGetTraces`"));
}

#[test]
fn what_goes_over_the_caps_is_named() {
    let series = r#"{"TimeSeriesServiceStatistics":[{"Timestamp":1,"EdgeSummaryStatistics":{"TotalCount":100}}]}"#;
    let (service, warnings) = pull_of(
        serde_json::json!({"max_traces": 6, "max_summaries": 50}),
        60,
        vec![
            ("/TimeSeries", vec![good(series)]),
            ("/TraceSummaries", vec![good(summaries(0..40, None))]),
        ],
    );
    let asked: Vec<usize> = service
        .lines("/Traces")
        .iter()
        .map(|l| l.matches("1-6b0d").count())
        .collect();
    assert_eq!(asked, [5, 1]);
    assert!(
        service.lines("/Traces").concat().contains(&id(1)),
        "the fault is among them"
    );
    let text = text_of(&warnings, "traces_left_out");
    assert!(
        text.starts_with("34 of 40 traces") && text.contains("`max_traces` 6"),
        "{text}"
    );
    assert!(
        text_of(&warnings, "cost_preview")
            .contains("at most 6 traces are fetched whole, in 2 requests"),
        "{warnings:#?}"
    );
    let text = text_of(&warnings, "summaries_sampled");
    assert!(text.contains("a share of 0.5000"), "{text}");
    assert!(
        service.lines("/TraceSummaries")[0]
            .contains(r#""Sampling":true,"SamplingStrategy":{"Name":"FixedRate","Value":0.5}"#),
        "{:?}",
        service.lines("/TraceSummaries")
    );
}

#[test]
fn the_sampling_ratio_is_read_from_rules_and_their_statistics() {
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            (
                "/GetSamplingRules",
                vec![
                    good(
                        r#"{"SamplingRuleRecords":[{"SamplingRule":{"RuleName":"Default","FixedRate":0.05,"ReservoirSize":1}}],"NextToken":"n"}"#,
                    ),
                    good(
                        r#"{"SamplingRuleRecords":[{"SamplingRule":{"RuleName":"pay","FixedRate":1.0,"ReservoirSize":0}}]}"#,
                    ),
                ],
            ),
            (
                "/SamplingStatisticSummaries",
                vec![good(
                    r#"{"SamplingStatisticSummaries":[{"RuleName":"Default","RequestCount":1000,"SampledCount":80}]}"#,
                )],
            ),
            ("/TraceSummaries", vec![good(summaries(0..1, None))]),
        ],
    );
    assert_eq!(service.of("/GetSamplingRules").len(), 2);
    let text = text_of(&warnings, "sampled");
    assert!(text.contains("lately 80 of 1000 requests, 8 %"), "{text}");
    assert!(
        text.contains("rule `pay` takes 0 requests a second and 100 % of the others"),
        "{text}"
    );
}

fn in_logs(rules: Vec<(&'static str, Vec<Said>)>) -> (Service, Vec<Warning>) {
    let mut all = vec![
        (
            "/GetTraceSegmentDestination",
            vec![good(
                r#"{"Destination":"CloudWatchLogs","Status":"ACTIVE"}"#,
            )],
        ),
        ("/TraceSummaries", vec![good(summaries(0..3, None))]),
        (
            "/StartTraceRetrieval",
            vec![good(r#"{"RetrievalToken":"tok-123"}"#)],
        ),
    ];
    all.extend(rules);
    pull_of(serde_json::json!({}), 60, all)
}

#[test]
fn traces_in_cloudwatch_logs_are_retrieved() {
    // The spelling of W3C counts, too.
    let came = format!(
        r#"{{"RetrievalStatus":"COMPLETE","TraceFormat":"XRAY","Traces":[{{"Id":"{}","Spans":[]}},{{"Id":"{}","Spans":[]}}]"#,
        id(0),
        id(1).replace("1-6b0d7cb0-", "6b0d7cb0")
    );
    let (service, warnings) = in_logs(vec![(
        "/ListRetrievedTraces",
        vec![
            good(r#"{"RetrievalStatus":"SCHEDULED"}"#),
            good(r#"{"RetrievalStatus":"RUNNING","Traces":[]}"#),
            good(format!("{came}}}")),
            good(format!(r#"{came},"NextToken":"more"}}"#)),
            good(format!(
                r#"{{"RetrievalStatus":"COMPLETE","Traces":[{{"Id":"{}"}}]}}"#,
                id(2)
            )),
        ],
    )]);
    assert_eq!(service.of("/Traces").len(), 0);
    let lists = service.of("/ListRetrievedTraces");
    let kept: Vec<(bool, u64)> = lists
        .iter()
        .map(|r| (r.is_kept, r.delay.as_secs()))
        .collect();
    assert_eq!(
        kept,
        [(false, 1), (false, 2), (false, 4), (true, 0), (true, 0)]
    );
    assert!(Service::line(lists[4]).contains("tok-123"));
    let name = lists[4].question().name("t");
    assert!(
        !name.contains("tok-123") && name.contains("of 3 traces from 1-6b0d"),
        "{name}"
    );
    assert!(name.contains("page 2"));
    assert_eq!(
        codes(&warnings),
        [
            ("cost_preview", false),
            ("index_sample", false),
            ("sampled", false)
        ]
    );
}

#[test]
fn a_retrieval_that_fails_or_gives_less_is_said() {
    for (status, words) in [
        ("FAILED", "ended as FAILED"),
        ("TIMEOUT", "ended as TIMEOUT"),
        ("RUNNING", "did not end"),
        ("COMPLETE", "were not in what was retrieved"),
    ] {
        let answer = format!(r#"{{"RetrievalStatus":"{status}","Traces":[]}}"#);
        let (_, warnings) = in_logs(vec![("/ListRetrievedTraces", vec![good(answer)])]);
        let text = text_of(&warnings, "traces_missing");
        assert!(
            text.contains(words) && text.starts_with("3 traces ("),
            "{text}"
        );
    }
    let (_, warnings) = in_logs(vec![(
        "/ListRetrievedTraces",
        vec![no(404, "ResourceNotFoundException", "no such token")],
    )]);
    assert!(text_of(&warnings, "traces_missing").contains("no such token"));
}

#[test]
fn an_emulator_that_knows_little_is_enough() {
    let html = || {
        vec![(
            404,
            Vec::new(),
            "<!doctype html><title>404 Not Found</title>".to_owned(),
        )]
    };
    let (service, warnings) = pull_of(
        serde_json::json!({}),
        60,
        vec![
            ("/GetTraceSegmentDestination", html()),
            ("/GetSampling", html()),
            ("/SamplingStat", html()),
            ("/TimeSeries", html()),
            ("/TraceSummaries", vec![good(summaries(0..2, None))]),
        ],
    );
    assert_eq!(service.of("/Traces").len(), 1);
    assert!(warnings.iter().all(|w| !w.lossy), "{warnings:#?}");
}

#[test]
fn a_service_that_cannot_be_reached_is_told_once() {
    let mut pull = XRay
        .plan(&source(serde_json::json!({})), window(60))
        .unwrap();
    let failure = Failure {
        kind: FailureKind::Unreachable,
        text: "nobody listens there".to_owned(),
        advice: "start it".to_owned(),
    };
    let Step::Fetch(ticket, _) = pull.next() else {
        panic!();
    };
    pull.feed(ticket, &Outcome::Failed(&failure));
    assert_eq!(pull.next(), Step::Done);
    assert_eq!(codes(&pull.warnings()), [("refused", true)]);
}

#[test]
fn settings_are_checked() {
    let wrong = |own| {
        XRay.plan(&source(own), window(60))
            .err()
            .unwrap()
            .to_string()
    };
    assert!(wrong(serde_json::json!({"regin": "x"})).contains("regin"));
    assert!(wrong(serde_json::json!({"region": "EU West"})).contains("sources.traces.region"));
    assert!(wrong(serde_json::json!({"filters": ["service(\"a) {}"]})).contains("filters[0]"));
    assert!(wrong(serde_json::json!({"trace_ids": ["1-2-3"]})).contains("trace_ids[0]"));
    let mut bare = source(serde_json::json!({}));
    bare.own.clear();
    assert!(XRay.plan(&bare, window(60)).is_err());
    bare.url = Some("https://xray.us-east-1.amazonaws.com".to_owned());
    assert!(XRay.plan(&bare, window(60)).is_ok());
    assert_eq!(
        XRay.address(&source(serde_json::json!({}))).as_deref(),
        Some("https://xray.eu-central-1.amazonaws.com")
    );
    assert_eq!(
        XRay.address(&source(serde_json::json!({"region": "cn-north-1"})))
            .as_deref(),
        Some("https://xray.cn-north-1.amazonaws.com.cn")
    );
    assert_eq!(
        trace_id("6B0D7CB00123456789abcdef01234567").as_deref(),
        Some("1-6b0d7cb0-0123456789abcdef01234567")
    );
    assert_eq!(trace_id("ééééé"), None);
}

fn look(
    rules: Vec<(&'static str, Vec<Said>)>,
) -> (Service, BTreeMap<Check, crate::sources::Verdict>) {
    let mut service = Service::new(rules);
    let mut checkup = XRay.examine(&source(serde_json::json!({}))).unwrap();
    service.run(&mut *checkup, false);
    let checks = checkup.checks().into_iter().collect();
    (service, checks)
}

#[test]
fn doctor_says_which_calls_are_allowed() {
    let dated = |body: &str| {
        let date = (
            "date".to_owned(),
            "Sat, 01 Aug 2026 00:00:00 GMT".to_owned(),
        );
        (200, vec![date], body.to_owned())
    };
    let destination = || {
        (
            "/GetTraceSegmentDestination",
            vec![dated(r#"{"Destination":"XRay","Status":"ACTIVE"}"#)],
        )
    };
    let (service, checks) = look(vec![destination()]);
    assert!(service.asked.iter().all(|r| !r.is_kept));
    assert!(service.lines("/TraceSummaries")[0].contains(&format!(
        r#""EndTime":{}"#,
        start_of("2026-08-01T00:00:00Z")
    )));
    assert_eq!(checks[&Check::Authenticated].is_well, Some(true));
    assert_eq!(checks[&Check::MayRead].is_well, Some(true), "{checks:#?}");
    assert!(checks[&Check::MayRead].text.contains("BatchGetTraces"));
    assert_eq!(checks[&Check::Version].is_well, None);

    let (_, checks) = look(vec![
        destination(),
        ("/Traces", vec![no(403, "AccessDeniedException", "no")]),
    ]);
    let verdict = &checks[&Check::MayRead];
    assert!(verdict.text.contains("not BatchGetTraces"));
    assert!(
        verdict
            .advice
            .as_deref()
            .unwrap()
            .contains("xray:BatchGetTraces")
    );

    for (code, advice) in [
        ("ExpiredTokenException", "aws sso login"),
        ("InvalidSignatureException", "clock"),
        ("UnrecognizedClientException", "get-caller-identity"),
    ] {
        let (service, checks) = look(vec![("/", vec![no(403, code, "no")])]);
        assert_eq!(service.asked.len(), 1);
        let verdict = &checks[&Check::Authenticated];
        assert!(verdict.text.contains(code) && verdict.advice.as_deref().unwrap().contains(advice));
        assert!(!checks.contains_key(&Check::MayRead));
    }
}
