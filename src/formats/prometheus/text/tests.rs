#![expect(clippy::float_cmp, reason = "values must come back bit by bit")]
#![expect(clippy::string_slice, reason = "the texts are ASCII")]

use proptest::prelude::*;

use super::*;
use crate::base::time::NANOS_PER_MS;
use crate::formats::RequestHint;
use crate::formats::prometheus::testing::{get, read_named, sniffed};

const PAGE: &str = r#"# HELP http_requests_total Requests, "all" of them.\nSecond line
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400",} 3 1395066363000
# a comment
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9
metric_without_timestamp_and_labels 12.47
something_weird{problem="division by zero"} +Inf -3982045
# TYPE rpc_duration_seconds summary
rpc_duration_seconds{quantile="0.99"} NaN
rpc_duration_seconds_sum 1.7560473e+07
"#;

fn page(text: &str, name: &str, request: Option<&RequestHint>) -> (Batch, Vec<String>) {
    let (batch, warnings) = read_named(&Exposition, text, name, request).unwrap();
    (batch, warnings.into_iter().map(|w| w.code).collect())
}

fn find<'a>(batch: &'a Batch, metric: &str) -> &'a Series {
    batch
        .series
        .iter()
        .find(|s| s.metric.as_ref() == metric)
        .unwrap()
}

#[test]
fn reads_the_page_of_the_format_documentation() {
    assert!(matches!(sniffed(&Exposition, PAGE), Sniff::Yes(95)));
    let (batch, codes) = page(PAGE, "metrics.txt", None);
    assert_eq!(batch.series.len(), 7);
    let requests = find(&batch, "http_requests_total");
    assert_eq!(requests.t, [1_395_066_363_000 * NANOS_PER_MS]);
    assert_eq!(requests.v, [1027.0]);
    assert_eq!(requests.kind, MetricKind::Counter);
    assert!(requests.sampling.is_raw());
    let msdos = find(&batch, "msdos_file_access_time_seconds");
    assert_eq!(msdos.labels.get("path"), Some("C:\\DIR\\FILE.TXT"));
    assert_eq!(
        msdos.labels.get("error"),
        Some("Cannot find file:\n\"FILE.TXT\"")
    );
    assert!(msdos.t.is_empty(), "a value without a time is no sample");
    assert_eq!(
        find(&batch, "rpc_duration_seconds_sum").kind,
        MetricKind::Summary
    );
    assert_eq!(
        batch.metadata[0].help.as_ref(),
        "Requests, \"all\" of them.\nSecond line"
    );
    // The documentation's own example has a time of 1969, in milliseconds too few to be any.
    assert_eq!(codes, ["time_unit", "no_time"]);
}

#[test]
fn a_time_comes_from_the_request_or_the_name() {
    let text = "# TYPE up gauge\nup{a=\"b\"} 1\n";
    let (batch, codes) = page(text, "m-20261130T142910Z.txt", None);
    assert!(codes.is_empty());
    let want = Timestamp::parse_rfc3339("2026-11-30T14:29:10Z").unwrap();
    assert_eq!(batch.series[0].t, [want.nanos()]);
    assert_eq!(batch.series[0].sampling, Sampling::Instant);
    let request = RequestHint {
        at: Some(Timestamp::from_nanos(7)),
        target: Some("10.0.0.1:9100".to_owned()),
        ..get("/metrics")
    };
    let (batch, _) = page(text, "m-20261130T142910Z.txt", Some(&request));
    assert_eq!(batch.series[0].t, [7]);
    assert_eq!(
        batch.series[0].labels.get("instance"),
        Some("10.0.0.1:9100")
    );
}

#[test]
fn reads_open_metrics() {
    let text = r#"# TYPE foo_seconds histogram
# UNIT foo_seconds seconds
foo_seconds_bucket{le="0.1"} 8 1520879607.789 # {trace_id="KOO5S4vxi0o"} 0.067 1520879606.5
foo_seconds_bucket{le="+Inf"} 17 1520879607.789
foo_seconds_count 17 1520879607.789
foo_seconds_created 1520430000.123 1520879607.789
{"http.status",a="b"} 1 1520879607
# EOF
"#;
    let (batch, codes) = page(text, "m.txt", None);
    assert!(codes.is_empty(), "{codes:?}");
    let bucket = find(&batch, "foo_seconds_bucket");
    assert_eq!(bucket.t, [1_520_879_607_789 * NANOS_PER_MS]);
    assert_eq!(bucket.kind, MetricKind::Histogram);
    assert_eq!(bucket.exemplars[0].value, 0.067);
    assert_eq!(
        bucket.exemplars[0].t.nanos(),
        1_520_879_606_500 * NANOS_PER_MS
    );
    assert_eq!(
        bucket.exemplars[0].labels.get("trace_id"),
        Some("KOO5S4vxi0o")
    );
    assert_eq!(find(&batch, "foo_seconds_created").kind, MetricKind::Gauge);
    assert_eq!(find(&batch, "http.status").labels.get("a"), Some("b"));
    assert_eq!(batch.metadata[0].unit.as_ref(), "seconds");

    let request = RequestHint {
        ctype: Some("application/openmetrics-text; version=1.0.0".to_owned()),
        ..get("/metrics")
    };
    let cut = &text[..text.find("foo_seconds_count").unwrap()];
    let (_, codes) = page(cut, "m.txt", Some(&request));
    assert_eq!(codes, ["truncated"]);
}

#[test]
fn doubles_and_broken_lines_are_reported_and_the_rest_kept() {
    let text = "# TYPE a gauge\na{x=\"1\"} 1\na{x=\"1\"} 2\na{x=\"2} 3\nb{x} 1\nc 1 2 3\nd x\ne{y=\"1\"} 5\n";
    let (batch, warnings) = read_named(&Exposition, text, "20261130T142910Z", None).unwrap();
    assert_eq!(batch.series.len(), 2);
    assert_eq!(
        batch.series[0].v,
        [1.0],
        "the first of two equal lines counts"
    );
    let places: Vec<_> = warnings
        .iter()
        .map(|w| (w.code.as_str(), w.at.as_deref().unwrap_or("")))
        .collect();
    assert_eq!(
        places,
        [
            ("duplicate_line", "line 3"),
            ("bad_line", "line 4"),
            ("bad_line", "line 5"),
            ("bad_line", "line 6"),
            ("bad_line", ""),
        ]
    );
}

#[test]
fn other_texts_are_not_taken() {
    for text in [
        "404 page not found\n",
        "Method Not Allowed\n",
        "time,cpu\n1,2\n",
        "10.0.0.1 - - [30/Nov/2026:14:29:10 +0000] \"GET / HTTP/1.1\" 200 1\n",
        "{\"a\":1}\n",
        "Prometheus Server is Healthy.\n",
    ] {
        assert!(
            matches!(sniffed(&Exposition, text), Sniff::No { .. }),
            "{text}"
        );
    }
    assert!(matches!(
        sniffed(&Exposition, "nr_free_pages 1234\nnr_zone 2\n"),
        Sniff::No { near: 50, .. }
    ));
    assert!(matches!(
        sniffed(&Exposition, "up{job=\"a\"} 1 1796046234505\n"),
        Sniff::Yes(80)
    ));
}

proptest! {
    #[test]
    fn any_label_survives_printing(value in "\\PC{0,20}|[\\\\\"\n a-z]{0,20}", number in any::<f64>()) {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let text = format!("# TYPE m gauge\nm{{l=\"{escaped}\"}} {number} 1796046234505\n");
        let (batch, codes) = page(&text, "m.txt", None);
        prop_assert!(codes.is_empty(), "{:?}", codes);
        prop_assert_eq!(batch.series[0].labels.get("l"), Some(value.as_str()));
        prop_assert!(batch.series[0].v[0] == number || number.is_nan());
    }

    #[test]
    fn no_text_makes_it_panic(text in "(# (HELP|TYPE|UNIT|EOF)|[a-z]{1,3}|[{}\"=,# \n\\\\0-9.+-]){0,40}", cut in 0usize..200) {
        let whole = format!("{PAGE}{text}");
        for bytes in [text.as_bytes(), whole.as_bytes().get(..cut * 3).unwrap_or(b"")] {
            let _result = read_named(&Exposition, bytes, "m.txt", None);
            let _sniff = sniffed(&Exposition, bytes);
        }
    }
}
