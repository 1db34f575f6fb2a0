//! Every recorded fault of scraping gets its class, and none invents a gap.

use serde_json::Value;

use crate::support::{run_json, shared};

fn seconds(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| {
        Some(tailscope::base::time::Timestamp::parse_rfc3339(value.as_str()?)?.secs_f64())
    })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn every_recorded_fault_gets_its_class() {
    let Some(root) = shared("prom-cases") else {
        return;
    };
    let mut faults = Vec::new();
    let mut folders: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    folders.sort();
    for folder in folders {
        let Ok(text) = std::fs::read_to_string(folder.join("truth.json")) else {
            continue;
        };
        let truth: Value = serde_json::from_str(&text).unwrap();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let report = run_json(&[
            "analyze",
            &folder.join("input").to_string_lossy(),
            "--format",
            "json",
        ]);
        check_case(&name, &report, &truth, &mut faults);
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

fn check_case(name: &str, report: &Value, truth: &Value, faults: &mut Vec<String>) {
    let tolerance = truth["edge_tolerance_s"].as_f64().unwrap();
    let window_end = truth["window"][1].as_f64().unwrap();
    // A gap that only says what a query cannot show is no claim that something was missing.
    let gaps: Vec<&Value> = list(&report["findings"])
        .iter()
        .filter(|f| f["kind"] == "scrape_gap" && f["cause"] != "query_artifact")
        .collect();
    let end_of = |f: &Value| seconds(&f["end"]).unwrap_or(window_end);
    let mut explained = vec![false; gaps.len()];
    for want in list(&truth["gaps"]) {
        let (start, end) = (
            seconds(&want["start"]).unwrap(),
            seconds(&want["end"]).unwrap_or(window_end),
        );
        let is_right = |f: &Value| list(&want["causes"]).contains(&f["cause"]);
        let mut covered = false;
        for (gap, explained) in gaps.iter().zip(&mut explained) {
            let inside = seconds(&gap["start"]).unwrap() >= start - tolerance
                && end_of(gap) <= end + tolerance + 1.5;
            if inside && is_right(gap) {
                *explained = true;
                covered = true;
            }
        }
        // One fault may be told as several findings, and several faults of one cause as one.
        let joined = gaps.iter().zip(&mut explained).any(|(gap, explained)| {
            let spans = seconds(&gap["start"]).unwrap() <= start + tolerance
                && end_of(gap) >= end - tolerance;
            if spans && is_right(gap) {
                *explained = true;
            }
            spans && is_right(gap)
        });
        if !covered && !joined {
            let seen: Vec<String> = gaps
                .iter()
                .map(|g| format!("{} {}..{}", g["cause"], g["start"], g["end"]))
                .collect();
            faults.push(format!(
                "{name}: no gap of {} at {start}..{end}; seen {seen:?}",
                want["causes"]
            ));
        }
    }
    for (gap, explained) in gaps.iter().zip(&explained) {
        if !explained {
            faults.push(format!(
                "{name}: invents a gap: {} {}..{} {}",
                gap["cause"], gap["start"], gap["end"], gap["title"]
            ));
        }
    }
    for want in list(&truth["other"]) {
        let start = seconds(&want["start"]).unwrap();
        let found = list(&report["findings"]).iter().any(|f| {
            f["kind"] == want["kind"]
                && (seconds(&f["start"]).unwrap() - start).abs() <= tolerance + 6.0
        });
        if !found {
            faults.push(format!("{name}: no {} near {start}", want["kind"]));
        }
    }
}
