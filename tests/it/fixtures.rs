//! Walks `fixtures/` and holds each report against its truth.
//!
//! A fixture is a folder with `input/` (what the tool is given), `truth.json` (what is true, as recorded) and
//! `claims.json` (which field of the report must equal which value of the truth, and how closely). Adding a folder adds a
//! test. `tests/claims/*.json` are claims of the same shape about recordings that are not copied into the repository;
//! they are skipped with a word where the folder is missing.
//!
//! `expected.json` beside `claims.json` is the whole report, byte for byte; `TAILSCOPE_BLESS=1` writes it anew.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{root, run_json, shared};

/// Every folder under `fixtures/` that is a fixture.
fn fixtures() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root().join("fixtures"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.join("input").is_dir())
        .collect();
    found.sort();
    found
}

#[test]
fn every_fixture_is_complete() {
    assert!(fixtures().len() >= 2);
    for folder in fixtures() {
        for name in ["README.md", "truth.json", "claims.json", "expected.json"] {
            assert!(
                folder.join(name).is_file(),
                "{} has no {name}",
                folder.display()
            );
        }
    }
}

#[test]
fn reports_of_fixtures_are_true() {
    let mut faults = Vec::new();
    for folder in fixtures() {
        let claims = read_json(&folder.join("claims.json"));
        let truth = read_json(&folder.join("truth.json"));
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        check_all(&name, &folder.join("input"), &claims, &truth, &mut faults);
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn reports_of_shared_recordings_are_true() {
    let mut faults = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root().join("tests/claims"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let claims = read_json(&file);
        let Some(input) = shared(claims["input"].as_str().unwrap()) else {
            continue;
        };
        let truth = claims["truth"].clone();
        check_all(
            &file.file_stem().unwrap().to_string_lossy(),
            &input,
            &claims,
            &truth,
            &mut faults,
        );
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn reports_are_the_expected_ones_byte_for_byte() {
    let mut faults = Vec::new();
    for folder in fixtures() {
        let input = folder.join("input");
        let run = |extra: &[&str]| {
            let output = Command::new(env!("CARGO_BIN_EXE_tailscope"))
                .arg("analyze")
                .arg(&input)
                .args(["--format", "json"])
                .args(extra)
                .output()
                .unwrap();
            assert!(
                matches!(output.status.code(), Some(0 | 5)),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            output.stdout
        };
        let one = run(&["--jobs", "1"]);
        assert!(
            one == run(&["--jobs", "2"]),
            "{}: the report depends on --jobs",
            folder.display()
        );
        let expected = folder.join("expected.json");
        if std::env::var_os("TAILSCOPE_BLESS").is_some() {
            std::fs::write(&expected, &one).unwrap();
        }
        let want = std::fs::read(&expected).unwrap_or_default();
        if one != want {
            let (got, want) = (
                String::from_utf8_lossy(&one).into_owned(),
                String::from_utf8_lossy(&want).into_owned(),
            );
            let line = got
                .lines()
                .zip(want.lines())
                .position(|(a, b)| a != b)
                .unwrap_or(0);
            faults.push(format!(
                "{}: differs from line {} on:\n  got  {}\n  want {}\n  (TAILSCOPE_BLESS=1 writes it anew; read the difference first)",
                folder.display(),
                line + 1,
                got.lines().nth(line).unwrap_or(""),
                want.lines().nth(line).unwrap_or("")
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn read_json(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Holds the report of `input`, and those of its variants without some files, against the claims.
fn check_all(name: &str, input: &Path, claims: &Value, truth: &Value, faults: &mut Vec<String>) {
    check(name, &report(input), claims, truth, faults);
    for variant in list(&claims["variants"]) {
        let copy = tempfile::tempdir().unwrap();
        let without: Vec<&str> = list(&variant["without"])
            .iter()
            .map(|v| v.as_str().unwrap())
            .collect();
        copy_without(input, copy.path(), &without);
        check(
            &format!("{name} without {}", without.join(", ")),
            &report(copy.path()),
            variant,
            truth,
            faults,
        );
    }
    if let Some(inspect) = claims["inspect"].as_object() {
        let seen = run_json(&["inspect", &input.to_string_lossy(), "--format", "json"]);
        for (path, counts) in inspect {
            let Some(found) = list(&seen["inputs"])
                .iter()
                .find(|i| i["path"] == path.as_str())
            else {
                faults.push(format!("{name}: inspect does not list {path}"));
                continue;
            };
            for (key, want) in counts.as_object().unwrap() {
                let got = if key == "format" {
                    &found["format"]
                } else {
                    &found["counts"][key]
                };
                if got != resolve(want, truth) {
                    faults.push(format!(
                        "{name}: inspect {path} {key} is {got}, not {}",
                        resolve(want, truth)
                    ));
                }
            }
        }
    }
}

fn report(input: &Path) -> Value {
    run_json(&["analyze", &input.to_string_lossy(), "--format", "json"])
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A claim's value: `{"truth": "/json/pointer"}`, or itself.
fn resolve<'a>(want: &'a Value, truth: &'a Value) -> &'a Value {
    match want["truth"].as_str() {
        Some(pointer) => truth
            .pointer(pointer)
            .unwrap_or_else(|| panic!("the truth has no {pointer}")),
        None => want.get("is").unwrap_or(want),
    }
}

fn copy_without(from: &Path, to: &Path, without: &[&str]) {
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if without.iter().any(|part| name.contains(part)) {
            continue;
        }
        let target = to.join(&name);
        if path.is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_without(&path, &target, without);
        } else {
            std::fs::copy(&path, &target).unwrap();
        }
    }
}

fn check(name: &str, report: &Value, claims: &Value, truth: &Value, faults: &mut Vec<String>) {
    let mut fault = |text: String| faults.push(format!("{name}: {text}"));
    let first = &report["hypotheses"][0];
    if let Some(want) = claims["first"]["signature"].as_str()
        && first["signature"] != want
    {
        fault(format!(
            "the first hypothesis is {}, not {want}",
            first["signature"]
        ));
    }
    if claims["first"].is_null() && claims.get("first").is_some() {
        let likely = list(&report["hypotheses"])
            .iter()
            .filter(|h| h["score"].as_f64() >= Some(0.5))
            .count();
        if likely > 0 {
            fault(format!(
                "calls {} the likely cause; nothing is",
                first["signature"]
            ));
        }
    }
    if let Some(at_least) = claims["first"]["score"].as_f64()
        && first["score"].as_f64().unwrap_or(0.0) < at_least
    {
        fault(format!(
            "the first hypothesis scores {}, under {at_least}",
            first["score"]
        ));
    }
    check_words(first, &claims["first"], &mut fault);
    for want in list(&claims["among"]) {
        match list(&report["hypotheses"])
            .iter()
            .find(|h| h["signature"] == want["signature"])
        {
            Some(found) => check_words(found, want, &mut fault),
            None => fault(format!("no hypothesis {}", want["signature"])),
        }
    }
    if let Some(roles) = claims["first"]["roles"].as_object() {
        for (title, role) in roles {
            let got = list(&first["changes"])
                .iter()
                .find(|c| c["title"] == title.as_str())
                .map(|c| c["role"].clone());
            if got.as_ref() != Some(role) && !(role == "coincident" && got.is_none()) {
                fault(format!("{title:?} is {got:?}, not {role}"));
            }
        }
    }
    for want in list(&claims["findings"]) {
        check_findings(report, want, truth, &mut fault);
    }
    for want in list(&claims["absent"]) {
        for found in list(&report["findings"])
            .iter()
            .filter(|f| is_meant(f, want))
        {
            fault(format!(
                "finds what is not there: {} {} at {}",
                found["kind"], found["title"], found["start"]
            ));
        }
    }
}

/// Whether a hypothesis says what is claimed of its support, what it lacks, what is against it and what to do.
fn check_words(hypothesis: &Value, want: &Value, fault: &mut impl FnMut(String)) {
    for key in ["support", "missing", "against", "next_checks"] {
        for pattern in list(&want[key]) {
            let pattern = regex::Regex::new(pattern.as_str().unwrap()).unwrap();
            let said = list(&hypothesis[key]);
            if !said
                .iter()
                .any(|v| pattern.is_match(v["text"].as_str().or(v.as_str()).unwrap_or("")))
            {
                fault(format!(
                    "{key} of {} does not say {pattern}: {}",
                    hypothesis["signature"], hypothesis[key]
                ));
            }
        }
    }
}

/// Whether a finding is of the claimed kind, cause and entity.
fn is_meant(finding: &Value, want: &Value) -> bool {
    let texts = |value: &Value| -> String {
        list(value)
            .iter()
            .map(|v| v.as_str().unwrap_or(""))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let matches = |key: &str, text: &str| {
        want[key]
            .as_str()
            .is_none_or(|p| regex::Regex::new(p).unwrap().is_match(text))
    };
    want["kind"] == finding["kind"]
        && matches("cause", finding["cause"].as_str().unwrap_or(""))
        && matches("entity", &texts(&finding["entities"]))
        && matches("title", finding["title"].as_str().unwrap_or(""))
        && matches(
            "input",
            &list(&finding["evidence"])
                .iter()
                .map(|e| e["input"].as_str().unwrap_or(""))
                .collect::<String>(),
        )
        && want["where"].as_object().is_none_or(|w| {
            w.iter().all(|(key, pattern)| {
                let value = finding["values"][key]
                    .as_str()
                    .map_or_else(|| finding["values"][key].to_string(), str::to_owned);
                regex::Regex::new(pattern.as_str().unwrap())
                    .unwrap()
                    .is_match(&value)
            })
        })
}

fn check_findings(report: &Value, want: &Value, truth: &Value, fault: &mut impl FnMut(String)) {
    let found: Vec<&Value> = list(&report["findings"])
        .iter()
        .filter(|f| is_meant(f, want))
        .collect();
    let label = format!("{} {} {}", want["kind"], want["cause"], want["entity"]);
    if let Some(count) = want["count"].as_u64()
        && found.len() as u64 != count
    {
        let titles: Vec<String> = found
            .iter()
            .map(|f| format!("{} at {}", f["title"], f["start"]))
            .collect();
        fault(format!(
            "{} findings of {label}, not {count}: {titles:?}",
            found.len()
        ));
        return;
    }
    if found.is_empty() && want["count"].is_null() {
        fault(format!("no finding of {label}"));
        return;
    }
    for (ix, each) in list(&want["each"]).iter().enumerate() {
        let Some(finding) = found.get(ix) else {
            fault(format!("no finding number {ix} of {label}"));
            return;
        };
        for key in ["start", "end", "onset"] {
            if let Some(claim) = each.get(key) {
                check_time(&label, key, &finding[key], claim, truth, fault);
            }
        }
        for (key, claim) in each["values"].as_object().into_iter().flatten() {
            check_value(&label, key, &finding["values"][key], claim, truth, fault);
        }
        for pattern in list(&each["detail"]) {
            let text = format!(
                "{} {}",
                finding["title"].as_str().unwrap(),
                finding["detail"].as_str().unwrap()
            );
            if !regex::Regex::new(pattern.as_str().unwrap())
                .unwrap()
                .is_match(&text)
            {
                fault(format!("{label} does not say {pattern}: {text}"));
            }
        }
    }
}

fn seconds(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| {
        let t = tailscope::base::time::Timestamp::parse_rfc3339(value.as_str()?)?;
        Some(t.secs_f64())
    })
}

fn check_time(
    label: &str,
    key: &str,
    got: &Value,
    claim: &Value,
    truth: &Value,
    fault: &mut impl FnMut(String),
) {
    let want = resolve(claim, truth);
    let within_s = claim["within_s"].as_f64().unwrap_or(0.001);
    let is_right = match (seconds(got), seconds(want)) {
        (Some(got), Some(want)) => (got - want).abs() <= within_s,
        (None, None) => got.is_null() && want.is_null(),
        _ => false,
    };
    if !is_right {
        fault(format!(
            "{label}: {key} is {got}, not {want} (within {within_s} s)"
        ));
    }
}

fn check_value(
    label: &str,
    key: &str,
    got: &Value,
    claim: &Value,
    truth: &Value,
    fault: &mut impl FnMut(String),
) {
    let want = resolve(claim, truth);
    let is_right = match (got.as_f64(), want.as_f64()) {
        (Some(got), Some(want)) => {
            (got - want).abs() <= claim["within"].as_f64().unwrap_or(1e-9) * want.abs().max(1e-12)
        }
        _ => match (got.as_object(), want.as_object()) {
            // Counts by name: what is zero may be left out.
            (Some(got), Some(want)) => {
                let nonzero = |m: &serde_json::Map<String, Value>| -> Vec<(String, Value)> {
                    let mut all: Vec<_> = m
                        .iter()
                        .filter(|(_, v)| v.as_f64() != Some(0.0))
                        .map(|(k, v)| (k.clone(), v.clone()))
                        .collect();
                    all.sort_by(|a, b| a.0.cmp(&b.0));
                    all
                };
                nonzero(got) == nonzero(want)
            }
            _ => got == want,
        },
    };
    if !is_right {
        fault(format!("{label}: {key} is {got}, not {want}"));
    }
}
