//! The recordings: every answer is read or refused with a reason, and nothing in it is lost or invented.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::api::PrometheusApi;
use super::export::VictoriaExport;
use super::remote_read::RemoteRead;
use super::testing::{get, read, read_named, sniffed};
use super::text::Exposition;
use crate::base::testing::shared_data;
use crate::base::time::{NANOS_PER_MS, NANOS_PER_SEC, Timestamp};
use crate::formats::{Format, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::series::{STALE_NAN_BITS, Sampling};

const FORMATS: [&dyn Format; 4] = [&PrometheusApi, &VictoriaExport, &RemoteRead, &Exposition];

fn bytes_of(path: &Path) -> Vec<u8> {
    let bytes = crate::base::fs::read(path).unwrap();
    if bytes.starts_with(b"\x1f\x8b") {
        let mut out = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut out)
            .unwrap();
        return out;
    }
    bytes
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap()
}

/// The request of a file, from the requests.json beside it.
fn request_of(path: &Path) -> Option<RequestHint> {
    let list = ["requests.json", "requests_x.json"]
        .iter()
        .find_map(|list| {
            let all: Value =
                serde_json::from_slice(&crate::base::fs::read(&path.with_file_name(list)).ok()?)
                    .ok()?;
            all.get(name(path)).cloned()
        })?;
    let at = list
        .get("at")
        .and_then(Value::as_f64)
        .and_then(Timestamp::from_secs_f64);
    Some(RequestHint {
        method: "GET".to_owned(),
        path: list["path"].as_str().unwrap().to_owned(),
        body: list
            .get("params")
            .or_else(|| list.get("body"))
            .filter(|b| !b.is_null())
            .cloned(),
        at,
        http: list.get("http").and_then(Value::as_u64).map(|h| h as u16),
        ctype: list
            .get("ctype")
            .or_else(|| list.get("resp_headers").and_then(|h| h.get("Content-Type")))
            .and_then(Value::as_str)
            .map(str::to_owned),
        target: None,
    })
}

fn best(bytes: &[u8]) -> Option<&'static dyn Format> {
    FORMATS
        .into_iter()
        .filter_map(|f| match sniffed(f, bytes) {
            Sniff::Yes(sure) => Some((sure, f)),
            Sniff::No { .. } => None,
        })
        .max_by_key(|(sure, _)| *sure)
        .map(|(_, f)| f)
}

/// Series and samples of an API answer, counted another way.
fn counted(answer: &Value) -> Option<(usize, usize)> {
    let result = answer
        .pointer("/data/result")
        .or_else(|| answer.is_array().then_some(answer))?
        .as_array()?;
    if result.first().is_some_and(|first| !first.is_object()) {
        let is_number = result[1].as_str().is_some_and(|t| t.parse::<f64>().is_ok());
        return Some((usize::from(is_number), usize::from(is_number)));
    }
    let samples = result
        .iter()
        .map(|series| {
            let list = |key: &str| {
                series
                    .get(key)
                    .and_then(Value::as_array)
                    .map_or(0, Vec::len)
            };
            list("values")
                + list("histograms")
                + usize::from(series.get("value").is_some())
                + usize::from(series.get("histogram").is_some())
        })
        .sum();
    Some((result.len(), samples))
}

fn totals(batch: &Batch) -> (usize, usize) {
    (
        batch.series.len(),
        batch.series.iter().map(|s| s.points()).sum(),
    )
}

#[test]
fn every_recorded_answer_is_read_whole_or_refused_with_a_reason() {
    let dirs = ["prom-api", "public/prom", "prom-cases"];
    let mut answers = 0;
    for dir in dirs.into_iter().filter_map(shared_data) {
        for path in files(&dir) {
            let file = name(&path);
            let is_answer = path.components().any(|c| c.as_os_str() == "prom-api")
                || path
                    .components()
                    .any(|c| matches!(c.as_os_str().to_str(), Some("prom" | "input")));
            if !is_answer
                || file.starts_with("requests")
                || file.ends_with(".py")
                || file.ends_with(".md")
            {
                continue;
            }
            let bytes = bytes_of(&path);
            let request = request_of(&path);
            let Some(format) = best(&bytes) else {
                let refusals: Vec<String> = FORMATS
                    .into_iter()
                    .filter_map(|f| match sniffed(f, &bytes) {
                        Sniff::No { near, why } if near > 0 && !why.is_empty() => Some(why),
                        Sniff::No { .. } | Sniff::Yes(_) => None,
                    })
                    .collect();
                assert!(
                    !refusals.is_empty() || bytes.is_empty() || file == "export_csv.json",
                    "{path:?} is refused without a reason"
                );
                continue;
            };
            answers += 1;
            let outcome = read_named(format, &bytes, file, request.as_ref());
            let Ok(tree) = serde_json::from_slice::<Value>(&bytes) else {
                assert!(outcome.is_ok(), "{path:?}: {outcome:?}");
                continue;
            };
            if tree["status"] == "error" {
                let error = outcome.unwrap_err().to_string();
                let text = tree["error"].as_str().unwrap();
                assert!(error.contains(&text[..text.len().min(60)]), "{error}");
                assert!(
                    error.contains(tree["errorType"].as_str().unwrap()),
                    "{error}"
                );
                continue;
            }
            let (batch, warnings) = outcome.unwrap();
            assert!(!warnings.iter().any(|w| w.lossy), "{path:?}: {warnings:?}");
            if let Some(want) = counted(&tree) {
                assert_eq!(totals(&batch), want, "{path:?}");
            }
        }
    }
    assert!(
        answers == 0 || answers > 900,
        "only {answers} answers found"
    );
}

#[test]
fn sampling_is_right_with_requests_and_mostly_without() {
    let Some(dir) = shared_data("prom-cases") else {
        return;
    };
    let (mut known, mut inferred, mut wrong) = (0, 0, Vec::new());
    for path in files(&dir) {
        let file = name(&path);
        let is_raw = file.starts_with("raw_") || file.starts_with("observer_raw");
        let is_range = file.starts_with("range_") || file.starts_with("late_range");
        if !(is_raw || is_range) {
            continue;
        }
        let bytes = bytes_of(&path);
        let request = request_of(&path);
        let (batch, _) = read_named(&PrometheusApi, &bytes, file, request.as_ref()).unwrap();
        let (blind, _) = read_named(&PrometheusApi, &bytes, file, None).unwrap();
        let (Some(series), Some(guess)) = (batch.series.first(), blind.series.first()) else {
            continue;
        };
        assert_eq!(series.sampling.is_raw(), is_raw, "{path:?}");
        let asked = batch.asked.unwrap();
        for series in &batch.series {
            let span = series.span().unwrap();
            assert!(asked.start <= span.start, "{path:?} {asked:?} {span:?}");
            assert!(
                span.end <= asked.end.plus_nanos(1),
                "{path:?} {asked:?} {span:?}"
            );
        }
        known += 1;
        let is_right = match (series.sampling, guess.sampling) {
            (Sampling::Grid { step_nanos: a }, Sampling::Grid { step_nanos: b }) => {
                a == b || blind.series.iter().all(|s| s.t.len() < 3)
            }
            (Sampling::Raw, Sampling::Raw) => true,
            _ => false,
        };
        inferred += usize::from(is_right);
        if !is_right {
            wrong.push(format!(
                "{}/{file}: {:?} taken for {:?}",
                path.parent()
                    .unwrap()
                    .parent()
                    .unwrap()
                    .file_name()
                    .unwrap()
                    .to_str()
                    .unwrap(),
                series.sampling,
                guess.sampling
            ));
        }
    }
    assert!(
        inferred * 100 >= known * 90,
        "{inferred} of {known}: {wrong:#?}"
    );
}

#[test]
fn remote_read_equals_its_independent_decoding() {
    let Some(dir) = shared_data("prom-cases") else {
        return;
    };
    let mut compared = 0;
    for path in files(&dir) {
        let file = name(&path);
        let Some(stem) = file.strip_suffix(".response.snappy") else {
            continue;
        };
        let check = path
            .parent()
            .unwrap()
            .with_file_name("check")
            .join(format!("{stem}.decoded.json"));
        let Ok(decoded) = crate::base::fs::read(&check) else {
            continue;
        };
        let decoded: Vec<Value> = serde_json::from_slice(&decoded).unwrap();
        let bytes = bytes_of(&path);
        assert!(
            matches!(sniffed(&RemoteRead, &bytes), Sniff::Yes(97)),
            "{path:?}"
        );
        let (batch, warnings) = read_named(&RemoteRead, &bytes, file, None).unwrap();
        assert!(warnings.is_empty(), "{path:?} {warnings:?}");
        assert_eq!(batch.series.len(), decoded.len(), "{path:?}");
        for (series, want) in batch.series.iter().zip(&decoded) {
            assert_eq!(want["metric"]["__name__"], series.metric.as_ref());
            for (key, value) in series.labels.iter() {
                assert_eq!(want["metric"][key], value);
            }
            assert_eq!(
                want["metric"].as_object().unwrap().len(),
                series.labels.len() + 1
            );
            let samples = want["samples"].as_array().unwrap();
            assert_eq!(series.t.len(), samples.len());
            for ((t, v), sample) in series.t.iter().zip(&series.v).zip(samples) {
                assert_eq!(*t, sample[0].as_i64().unwrap() * NANOS_PER_MS);
                match sample[1].as_str().unwrap() {
                    "STALE" => assert_eq!(v.to_bits(), STALE_NAN_BITS),
                    "nan" | "NaN" => assert!(v.is_nan() && v.to_bits() != STALE_NAN_BITS),
                    text => assert_eq!(*v, text.parse::<f64>().unwrap()),
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
}

fn recorded(file: &str) -> Option<(Batch, Vec<crate::base::reporter::Warning>)> {
    let path = shared_data(&format!("prom-api/{file}"))?;
    let request = request_of(&path);
    Some(
        read_named(
            &PrometheusApi,
            bytes_of(&path),
            name(&path),
            request.as_ref(),
        )
        .unwrap(),
    )
}

fn only_value(file: &str) -> Option<f64> {
    let (batch, _) = recorded(file)?;
    assert_eq!(batch.series.len(), 1);
    batch.series[0].v.first().copied()
}

#[test]
fn recorded_values_are_exact() {
    for (file, want) in [
        ("x_vector_1e100", 1e100),
        ("x_vector_1e21", 1e21),
        ("x_vector_1e20", 1e20),
        ("x_vector_1e-7", 1e-7),
        ("x_scalar_1e-7", 1e-7),
        ("query_exponent", 1e100),
        ("query_small", 0.1 + 0.2),
        ("x_inf", f64::INFINITY),
        ("x_neginf", f64::NEG_INFINITY),
    ] {
        let Some(value) = only_value(&format!("prometheus-2.42/{file}.json")) else {
            return;
        };
        assert_eq!(value, want, "{file}");
    }
    let zero = only_value("prometheus-2.42/x_vector_neg0.json").unwrap();
    assert!(zero == 0.0 && zero.is_sign_negative());
    assert!(
        only_value("prometheus-2.42/query_scalar_nan.json")
            .unwrap()
            .is_nan()
    );

    let (scalar, _) = recorded("prometheus-2.42/query_scalar.json").unwrap();
    assert_eq!(scalar.series[0].metric.as_ref(), "1.5");
    assert_eq!(scalar.series[0].t, [1_796_045_991_236 * NANOS_PER_MS]);
    assert_eq!(scalar.series[0].sampling, Sampling::Instant);
    let (text, _) = recorded("prometheus-2.42/query_string.json").unwrap();
    assert_eq!(text.facts[0].value.as_ref(), "hello");

    let (long, _) = recorded("prometheus-2.42/range_11000.json").unwrap();
    assert_eq!(long.series[0].t.len(), 11_001);
    assert_eq!(long.series[0].t[11_000], 11_000 * NANOS_PER_SEC);
    assert_eq!(
        long.series[0].sampling,
        Sampling::Grid {
            step_nanos: NANOS_PER_SEC
        }
    );

    let (sub, _) = recorded("prometheus-2.42/query_subquery.json").unwrap();
    assert_eq!(
        sub.series[0].sampling,
        Sampling::Grid {
            step_nanos: 5 * NANOS_PER_SEC
        }
    );
    assert!(sub.series[0].expr.as_deref().unwrap().ends_with("[20s:5s]"));
    let (negative, _) = recorded("prometheus-2.42/x_negative_time.json").unwrap();
    assert_eq!(negative.series[0].t, [-NANOS_PER_SEC]);
}

#[test]
fn recorded_native_histograms_are_exact() {
    let Some((batch, _)) = recorded("prometheus-2.42/nh_vector.json") else {
        return;
    };
    let point = &batch.series[0].histograms[0];
    assert_eq!(point.count, 7410.0);
    assert_eq!(point.sum, 334.929_260_144_815_94);
    assert_eq!(point.t.millis(), 1_796_045_988_224);
    assert_eq!(
        (
            point.buckets[0].rule,
            point.buckets[0].lower,
            point.buckets[0].count
        ),
        (3, -2.938_735_877_055_719e-39, 87.0)
    );
    let in_buckets: f64 = point.buckets.iter().map(|b| b.count).sum();
    assert_eq!(in_buckets, point.count);
    let (mixed, _) = recorded("prometheus-2.42/nh_range_mixed.json").unwrap();
    assert!(mixed.series.iter().any(|s| !s.histograms.is_empty()));
}

#[test]
fn recorded_targets_alerts_rules_and_facts() {
    let Some((targets, _)) = recorded("prometheus-2.42/targets.json") else {
        return;
    };
    let app = targets
        .targets
        .iter()
        .find(|t| t.labels.get("job") == Some("app"))
        .unwrap();
    assert_eq!(app.interval_nanos, Some(2 * NANOS_PER_SEC));
    assert_eq!(app.timeout_nanos, Some(NANOS_PER_SEC));
    assert_eq!(app.health.as_ref(), "up");
    assert!((app.last_duration_ms.unwrap() - 0.881_121).abs() < 1e-9);
    assert_eq!(app.at.unwrap().millis(), 1_796_045_991_325);
    let down = targets
        .targets
        .iter()
        .find(|t| t.health.as_ref() == "down")
        .unwrap();
    assert!(down.last_error.contains("connection refused"));
    let (vm, _) = recorded("victoriametrics-1.79/targets.json").unwrap();
    assert_eq!(vm.targets[0].timeout_nanos, Some(500_000_000));

    let (alerts, _) = recorded("prometheus-2.42/alerts.json").unwrap();
    assert_eq!(alerts.events.len(), 2);
    let event = &alerts.events[0];
    assert_eq!(
        (event.kind.as_ref(), event.title.as_ref()),
        ("alert", "Down firing")
    );
    assert_eq!(event.t.to_rfc3339(), "2026-11-30T13:38:39.85304756Z");
    let (rules, warnings) = recorded("prometheus-2.42/rules.json").unwrap();
    assert_eq!(
        rules.events,
        alerts
            .events
            .iter()
            .cloned()
            .map(|mut e| {
                e.locator = rules
                    .events
                    .iter()
                    .find(|r| r.title == e.title)
                    .unwrap()
                    .locator
                    .clone();
                e
            })
            .collect::<Vec<_>>()
    );
    assert!(
        warnings
            .iter()
            .any(|w| w.code == "rule_failing" && w.text.contains("bad:many"))
    );

    let fact = |file: &str, name: &str| {
        let (batch, _) = recorded(&format!("prometheus-2.42/{file}.json")).unwrap();
        batch
            .facts
            .iter()
            .find(|f| f.name.as_ref() == name)
            .map(|f| f.value.to_string())
            .unwrap_or_else(|| panic!("no {name} in {:?}", batch.facts))
    };
    assert_eq!(fact("status_buildinfo", "buildinfo.version"), "2.42.0+ds");
    assert_eq!(
        fact("status_runtimeinfo", "runtimeinfo.startTime"),
        "2026-11-30T13:38:32.642435762Z"
    );
    assert_eq!(fact("status_flags", "flags.query.lookback-delta"), "5m");
    assert_eq!(fact("status_tsdb", "tsdb.headStats.numSeries"), "1086");
    assert!(fact("status_config", "config.yaml").contains("scrape_interval: 2s"));

    let (exemplars, _) = recorded("prometheus-2.42/exemplars.json").unwrap();
    let first = &exemplars.series[0];
    assert_eq!(first.exemplars[0].value, 0.009_182);
    assert_eq!(first.exemplars[0].t.millis(), 1_796_045_929_886);
    let (series, _) = recorded("prometheus-2.42/series.json").unwrap();
    assert_eq!(totals(&series), (6, 0));
    let (metadata, _) = recorded("prometheus-2.42/metadata.json").unwrap();
    assert_eq!(metadata.metadata[0].family.as_ref(), "node_load1");
}

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
