//! Small answers written by hand, damaged ones, and ones that are made up.

#![expect(clippy::float_cmp, reason = "values must come back bit by bit")]
#![expect(clippy::string_slice, reason = "the texts are ASCII")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::{FORMATS, totals};
use crate::base::time::{NANOS_PER_MS, NANOS_PER_SEC};
use crate::formats::Sniff;
use crate::formats::prometheus::api::PrometheusApi;
use crate::formats::prometheus::testing::{get, read, sniffed};
use crate::model::series::{STALE_NAN_BITS, Sampling};

const MATRIX: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","a\"b":"\u00e9"},"values":[[1796045870.869,"1"],[1796045871.870,"NaN"]]},{"metric":{},"values":[[1796045870.869,"0"]],"histograms":[[1796045871,{"count":"3","sum":"1.5","buckets":[[0,"0.5","1","3"]]}]]}]},"warnings":["w1","results truncated due to limit"],"infos":["i"]}"#;

#[test]
fn reads_a_small_matrix() {
    assert!(matches!(sniffed(&PrometheusApi, MATRIX), Sniff::Yes(97)));
    let request = get("/api/v1/query?query=up[10s]&time=1796045875");
    let (batch, warnings) = read(&PrometheusApi, MATRIX, Some(&request)).unwrap();
    assert_eq!(totals(&batch), (2, 4));
    assert_eq!(batch.series[0].labels.get("a\"b"), Some("é"));
    assert_eq!(batch.series[0].sampling, Sampling::Raw);
    assert_eq!(batch.series[0].expr, None);
    assert_eq!(&*batch.series[1].sources[0].locator, "$.data.result[1]");
    assert_eq!(batch.series[1].histograms[0].buckets[0].upper, 1.0);
    assert_eq!(batch.asked.unwrap().nanos(), 10 * NANOS_PER_SEC);
    let said: Vec<_> = warnings
        .iter()
        .map(|w| (w.code.as_str(), w.lossy))
        .collect();
    assert_eq!(
        said,
        [
            ("server_warning", false),
            ("server_warning", true),
            ("server_info", false)
        ]
    );
}

#[test]
fn keys_may_come_in_any_order_and_layout() {
    let compact = r#"{"data":{"result":[{"values":[[1,"1"],[2,"2"]],"metric":{"job":"b"}}],"resultType":"matrix"},"status":"success"}"#;
    let tree: Value = serde_json::from_str(compact).unwrap();
    let pretty = serde_json::to_string_pretty(&tree).unwrap();
    let bom = format!("\u{feff}{compact}");
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(compact.encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let bare = tree["data"]["result"].to_string();
    let data = tree["data"].to_string();
    for text in [
        compact.as_bytes(),
        pretty.as_bytes(),
        bom.as_bytes(),
        &utf16,
        bare.as_bytes(),
        data.as_bytes(),
    ] {
        assert!(matches!(sniffed(&PrometheusApi, text), Sniff::Yes(90..)));
        let (batch, _) = read(&PrometheusApi, text, None).unwrap();
        assert_eq!(batch.series[0].t, [NANOS_PER_SEC, 2 * NANOS_PER_SEC]);
        assert_eq!(batch.series[0].labels.get("job"), Some("b"));
        // Without a name and without a query the file lends its own.
        assert_eq!(batch.series[0].metric.as_ref(), "answer");
    }
}

#[test]
fn a_cut_answer_keeps_every_whole_sample() {
    let first_value = MATRIX.find("[[").unwrap() + 1;
    for keep in 0..MATRIX.len() {
        let cut = &MATRIX[..keep];
        let whole_samples = cut.get(first_value..).map_or(0, |values| {
            values.matches("\"],[179").count() + values.matches("\"]]}").count()
        });
        match read(&PrometheusApi, cut, None) {
            Ok((batch, warnings)) => {
                assert!(totals(&batch).1 >= whole_samples.min(3), "{cut}");
                let warning = warnings.iter().find(|w| w.code == "truncated").unwrap();
                assert!(warning.lossy);
                assert_eq!(warning.at, Some(format!("byte {keep}")));
            }
            Err(error) => assert!(keep < 20, "{keep}: {error}"),
        }
    }
}

#[test]
fn odd_samples_cost_only_themselves() {
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"m"},"values":[[1796045870869,"1"],[1796045871.869,"x"],"hello",[1796045872.869, 5],[1796045873.869,"+Inf"],[1],[1796045874.869,NaN]]}]}}"#;
    let (batch, warnings) = read(&PrometheusApi, text, None).unwrap();
    let series = &batch.series[0];
    let want: Vec<i64> = [
        1_796_045_870_869i64,
        1_796_045_872_869,
        1_796_045_873_869,
        1_796_045_874_869,
    ]
    .iter()
    .map(|ms| ms * NANOS_PER_MS)
    .collect();
    assert_eq!(series.t, want);
    assert_eq!(series.v[..3], [1.0, 5.0, f64::INFINITY]);
    assert!(series.v[3].is_nan());
    let said: Vec<_> = warnings.iter().map(|w| w.code.as_str()).collect();
    assert_eq!(said, ["time_unit", "bad_sample", "sampling_inferred"]);
    assert!(
        warnings[1].text.starts_with("3 samples"),
        "{}",
        warnings[1].text
    );
    assert_eq!(warnings[1].at.as_deref(), Some("$.data.result[0]"));
}

#[test]
fn refusals_say_why() {
    for (text, reason) in [
        ("404 page not found\n", "HTTP error"),
        ("<!DOCTYPE html><html>login</html>", "HTML"),
        (
            r#"{"status":"success","data":{"resultType":"streams","result":[{"stream":{},"values":[["1","x"]]}]}}"#,
            "Loki",
        ),
        (r#"{"data":{"user":1}}"#, "status"),
        (r#"{"status":"success","data":{"user":{"id":1}}}"#, "data"),
    ] {
        let Sniff::No { near, why } = sniffed(&PrometheusApi, text) else {
            panic!("{text} is taken");
        };
        assert!(near > 0 && why.contains(reason), "{text}: {why}");
    }
    let error = read(&PrometheusApi, "404 page not found\n", None).unwrap_err();
    assert!(error.to_string().contains("404 page not found"));
    assert_eq!(
        sniffed(&PrometheusApi, r#"{"Traces":[]}"#),
        Sniff::refused(0, "it has no `status` beside `data`, and no `resultType`")
    );
}

#[test]
fn partial_answers_and_errors_with_data_are_partial() {
    let text = r#"{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]}}"#;
    let (_, warnings) = read(&PrometheusApi, text, None).unwrap();
    assert_eq!(
        (warnings[0].code.as_str(), warnings[0].lossy),
        ("partial_answer", true)
    );
    let text = r#"{"status":"error","errorType":"timeout","error":"too slow","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]}}"#;
    let (batch, warnings) = read(&PrometheusApi, text, None).unwrap();
    assert_eq!(batch.series.len(), 1);
    assert!(
        warnings
            .iter()
            .any(|w| w.code == "server_error" && w.text.contains("too slow") && w.lossy)
    );
}

#[test]
fn victoria_metrics_marks_the_end_of_a_series_with_nan() {
    let text = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1,"1"],[2,"NaN"]]}]}}"#;
    let mut request = get("/api/v1/query?query=up[5s]&time=3");
    let (plain, _) = read(&PrometheusApi, text, Some(&request)).unwrap();
    assert_ne!(plain.series[0].v[1].to_bits(), STALE_NAN_BITS);
    request.ctype = Some("application/stream+json; charset=utf-8".to_owned());
    let (vm, _) = read(&PrometheusApi, text, Some(&request)).unwrap();
    assert_eq!(vm.series[0].v[1].to_bits(), STALE_NAN_BITS);
}

#[test]
fn sampling_without_a_request() {
    let matrix = |series: &[(&str, &[f64])]| {
        let result: Vec<String> = series
            .iter()
            .map(|(labels, times)| {
                let values: Vec<String> = times.iter().map(|t| format!("[{t},\"1\"]")).collect();
                format!(
                    r#"{{"metric":{{{labels}}},"values":[{}]}}"#,
                    values.join(",")
                )
            })
            .collect();
        let text = format!(
            r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#,
            result.join(",")
        );
        let (batch, warnings) = read(&PrometheusApi, &text, None).unwrap();
        assert!(warnings.iter().any(|w| w.code == "sampling_inferred"));
        batch.series[0].sampling
    };
    let grid = |secs: i64| Sampling::Grid {
        step_nanos: secs * NANOS_PER_SEC,
    };
    let up_a = r#""__name__":"up","instance":"a""#;
    let up_b = r#""__name__":"up","instance":"b""#;
    // Multiples of the step, as Grafana asks.
    assert_eq!(matrix(&[(up_a, &[15.0, 30.0, 60.0])]), grid(15));
    // A function took the name away.
    assert_eq!(matrix(&[(r#""instance":"a""#, &[1.2, 6.2, 11.2])]), grid(5));
    // Two targets on one phase; on two phases; jitter.
    assert_eq!(
        matrix(&[(up_a, &[1.2, 6.2]), (up_b, &[1.2, 6.2, 11.2])]),
        grid(5)
    );
    assert_eq!(
        matrix(&[(up_a, &[1.2, 6.2]), (up_b, &[3.1, 8.1, 13.1])]),
        Sampling::Raw
    );
    assert_eq!(matrix(&[(up_a, &[1.2, 6.201, 11.2])]), Sampling::Raw);
    // One target, regular: holes decide.
    assert_eq!(matrix(&[(up_a, &[1.2, 6.2, 11.2])]), grid(5));
    assert_eq!(matrix(&[(up_a, &[1.2, 6.2, 16.2])]), Sampling::Raw);
    // One sample each.
    assert_eq!(matrix(&[(up_a, &[1.2]), (up_b, &[1.2])]), Sampling::Instant);
    assert_eq!(matrix(&[(up_a, &[1.2]), (up_b, &[1.3])]), Sampling::Raw);
}

/// A matrix printed as Prometheus prints it.
fn print(series: &[(String, Vec<(i64, f64)>)]) -> String {
    let result: Vec<String> = series
        .iter()
        .map(|(label, points)| {
            let values: Vec<String> = points
                .iter()
                .map(|(ms, v)| {
                    let value = if v.is_nan() {
                        "NaN".to_owned()
                    } else if v.is_infinite() {
                        (if *v > 0.0 { "+Inf" } else { "-Inf" }).to_owned()
                    } else if v.abs() >= 1e21 || (*v != 0.0 && v.abs() < 1e-6) {
                        format!("{v:e}")
                    } else {
                        format!("{v}")
                    };
                    let time = if ms % 1000 == 0 {
                        (ms / 1000).to_string()
                    } else {
                        format!("{}.{:03}", ms / 1000, ms % 1000)
                    };
                    format!("[{time},\"{value}\"]")
                })
                .collect();
            let label = serde_json::to_string(label).unwrap();
            format!(
                r#"{{"metric":{{"__name__":"m","l":{label}}},"values":[{}]}}"#,
                values.join(",")
            )
        })
        .collect();
    format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{}]}}}}"#,
        result.join(",")
    )
}

proptest! {
    #[test]
    fn what_is_printed_is_read_back(
        series in prop::collection::vec(
            (".{0,8}", prop::collection::btree_map(0i64..4_000_000_000_000, any::<f64>(), 0..20)),
            0..5,
        )
    ) {
        let series: Vec<(String, Vec<(i64, f64)>)> =
            series.into_iter().map(|(l, points)| (l, points.into_iter().collect())).collect();
        let text = print(&series);
        let tree: Value = serde_json::from_str(&text).unwrap();
        let spaced = serde_json::to_string_pretty(&tree).unwrap();
        for text in [text, spaced] {
            let (batch, warnings) = read(&PrometheusApi, &text, None).unwrap();
            prop_assert!(!warnings.iter().any(|w| w.lossy), "{:?}", warnings);
            prop_assert_eq!(batch.series.len(), series.len());
            for (got, (label, points)) in batch.series.iter().zip(&series) {
                prop_assert_eq!(got.labels.get("l"), Some(label.as_str()));
                prop_assert_eq!(got.t.len(), points.len());
                for ((t, v), (ms, want)) in got.t.iter().zip(&got.v).zip(points) {
                    prop_assert_eq!(*t, ms * NANOS_PER_MS);
                    prop_assert!(v.to_bits() == want.to_bits() || (v.is_nan() && want.is_nan()), "{} {}", v, want);
                }
            }
        }
    }

    #[test]
    fn damage_never_makes_it_panic(
        edits in prop::collection::vec((0usize..MATRIX.len(), any::<u8>()), 0..8),
        cut in 0usize..MATRIX.len() + 1,
        which in 0usize..4,
    ) {
        let mut bytes = MATRIX.as_bytes().to_vec();
        for (at, byte) in edits {
            bytes[at] = byte;
        }
        bytes.truncate(cut);
        let format = FORMATS[which];
        let _sniff = sniffed(format, &bytes);
        let _result = read(format, &bytes, None);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..300), which in 0usize..4) {
        let format = FORMATS[which];
        let _sniff = sniffed(format, &bytes);
        let _result = read(format, &bytes, None);
    }
}

#[test]
fn deep_nesting_is_refused_in_linear_time() {
    let deep = format!(
        r#"{{"status":"success","data":{{"result":{}"#,
        "[".repeat(2_000_000)
    );
    let (_, warnings) = read(&PrometheusApi, &deep, None).unwrap();
    assert!(
        warnings.iter().any(|w| w.code == "malformed"),
        "{warnings:?}"
    );
    let (_, warnings) = read(
        &PrometheusApi,
        format!(r#"{{"data":{{"x":{}"#, "{\"a\":".repeat(1_000_000)),
        None,
    )
    .map_or_else(
        |e| (Arc::from(e.to_string()), Vec::new()),
        |(_, w)| (Arc::<str>::from(""), w),
    );
    assert!(warnings.is_empty() || warnings.iter().any(|w| w.code == "malformed"));
}
