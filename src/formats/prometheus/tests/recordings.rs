//! The recordings: every answer is read or refused with a reason, and nothing in it is lost or invented.

#![expect(clippy::float_cmp, reason = "values must come back bit by bit")]
#![expect(clippy::string_slice, reason = "the texts are ASCII")]

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{FORMATS, totals};
use crate::base::testing::shared_data;
use crate::base::time::{NANOS_PER_MS, NANOS_PER_SEC, Timestamp};
use crate::formats::prometheus::api::PrometheusApi;
use crate::formats::prometheus::remote_read::RemoteRead;
use crate::formats::prometheus::testing::{read_named, sniffed};
use crate::formats::{Format, RequestHint, Sniff};
use crate::model::batch::Batch;
use crate::model::series::{STALE_NAN_BITS, Sampling};

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
        is_pulled: false,
        window: None,
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
                || matches!(path.extension().and_then(|e| e.to_str()), Some("py" | "md"))
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
        answers == 0 || answers > 1200,
        "only {answers} answers found"
    );
}

#[test]
fn sampling_is_right_with_requests_and_without() {
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
        let Some(request) = request_of(&path) else {
            continue;
        };
        let (batch, _) = read_named(&PrometheusApi, &bytes, file, Some(&request)).unwrap();
        let (blind, _) = read_named(&PrometheusApi, &bytes, file, None).unwrap();
        let (Some(series), Some(guess)) = (batch.series.first(), blind.series.first()) else {
            continue;
        };
        assert_eq!(series.sampling.is_raw(), is_raw, "{path:?}");
        let asked = batch
            .asked
            .unwrap_or_else(|| panic!("{path:?} {request:?}"));
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
    assert!(inferred > 700, "{inferred} of {known}");
    // Rules are evaluated on the server's own grid: a grid is what those are. Everything else must be right.
    wrong.retain(|w| !w.contains("raw_recording_rule") && !w.contains("raw_alerts"));
    assert!(wrong.is_empty(), "{inferred} of {known}: {wrong:#?}");
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
            .map_or_else(
                || panic!("no {name} in {:?}", batch.facts),
                |f| f.value.to_string(),
            )
    };
    assert_eq!(fact("status_buildinfo", "buildinfo.version"), "2.42.0+ds");
    assert_eq!(
        fact("status_runtimeinfo", "runtimeinfo.startTime"),
        "2026-11-30T13:38:32.642435762Z"
    );
    assert_eq!(fact("status_flags", "flags.query.lookback-delta"), "5m");
    assert_eq!(fact("status_tsdb", "tsdb.headStats.numSeries"), "1086");
    assert_eq!(fact("status_config", "config.global.scrape_timeout"), "1s");
    assert_eq!(
        fact("status_config", "config.job.app.scrape_interval"),
        "2s"
    );
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
