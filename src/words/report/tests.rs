use std::path::{Path, PathBuf};

use super::*;
use crate::base::time::Timestamp;
use crate::session::analysis::{Asked, Document};
use crate::session::intake::{self, Options};

fn report(fixture: &str) -> Report {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(fixture)
        .join("input");
    let intake = intake::read(&[path], &Options::default(), &mut std::io::empty());
    Document::new(intake, Asked::default()).report(None)
}

fn has_hangul(text: &str) -> bool {
    text.chars().any(|c| ('가'..='힣').contains(&c))
}

/// Nothing is left of a message that was not filled.
fn is_whole(text: &str) -> bool {
    !text.is_empty() && !text.contains("{ $") && !text.contains("{$") && !text.contains("findings-")
}

#[track_caller]
fn is_korean(text: &str, original: &str) {
    assert!(has_hangul(text), "{text:?} of {original:?}");
    assert!(is_whole(text), "{text:?} of {original:?}");
}

#[test]
fn the_sample_incidents_are_told_in_korean() {
    let words = Words::new(Lang::Ko);
    for fixture in ["ingress-metrics-lock", "snat-connect-ladder"] {
        let report = report(fixture);
        let told = Told::of(&words, &report);
        assert_eq!(told.findings.len(), report.findings.len());
        for (finding, title) in report.findings.iter().zip(&told.findings) {
            is_korean(title, &finding.title);
            is_korean(&finding_detail(&words, finding), &finding.detail);
            is_korean(&kind(&words, finding.kind), finding.kind.word());
            for name in finding.values.keys() {
                is_whole(&value_name(&words, name));
                assert!(is_whole(&value(&words, finding, name)), "{name}");
            }
        }
        for (hypothesis, said) in report.hypotheses.iter().zip(&told.hypotheses) {
            is_korean(&said.title, &hypothesis.title);
            for (support, text) in hypothesis.support.iter().zip(&said.support) {
                // A counter without a text of its own still has its numbers said.
                is_korean(text, &support.text);
            }
            for (why, text) in hypothesis.changes.iter().zip(&said.changes) {
                is_korean(text, &why.why);
            }
            for (check, text) in hypothesis.next_checks.iter().zip(&said.next_checks) {
                is_korean(text, &check.text);
            }
            for (against, text) in hypothesis.against.iter().zip(&said.against) {
                is_korean(text, &against.text);
            }
            for (missing, text) in hypothesis.missing.iter().zip(&said.missing) {
                is_korean(text, missing);
            }
        }
        for (undecided, text) in report.not_enough.iter().zip(&told.not_enough) {
            is_korean(text, &undecided.reason);
        }
    }
}

#[test]
fn english_stays_as_the_report_has_it() {
    let words = Words::new(Lang::En);
    let report = report("ingress-metrics-lock");
    let told = Told::of(&words, &report);
    for (finding, title) in report.findings.iter().zip(&told.findings) {
        assert_eq!(*title, finding.title);
        assert_eq!(finding_detail(&words, finding), finding.detail);
    }
    assert_eq!(told.hypotheses[0].title, report.hypotheses[0].title);
}

/// The words between quotes after `name = ` in the signatures.
fn said_by_signatures() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/signatures");
    let line = regex::Regex::new(r#"(?m)^(title|text|missing) = "(.*)"$"#).unwrap();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = crate::base::fs::read(&path).unwrap();
        for said in line.captures_iter(&String::from_utf8_lossy(&bytes)) {
            found.push((path.display().to_string(), said[2].to_owned()));
        }
    }
    found
}

/// A signature whose words nobody put into Korean fails here.
#[test]
fn every_sentence_of_a_signature_has_its_korean() {
    let words = Words::new(Lang::Ko);
    let titles = BTreeMap::from([("7 titles".to_owned(), "제목 7".to_owned())]);
    let name = regex::Regex::new(r"\{[a-z0-9_.]+\}").unwrap();
    let all = said_by_signatures();
    assert!(all.len() > 60, "{}", all.len());
    for (file, template) in all {
        let filled = template.replace("{effects}", "2 signals that moved");
        let filled = name.replace_all(&filled, |found: &regex::Captures<'_>| {
            if found[0].ends_with("title}") {
                "7 titles"
            } else {
                "7 x"
            }
        });
        let said = phrases::translate(&words, &titles, &filled);
        let said = said.unwrap_or_else(|| panic!("{file}: no phrase for {template:?}"));
        is_korean(&said, &filled);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/signatures");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let id = path.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(words.has(&format!("findings-signature-{id}")), "{id}");
    }
}

fn finding(kind: FindingKind, cause: Option<&str>) -> Finding {
    let mut finding = Finding::new(kind, "x", Timestamp::from_nanos(0), None);
    finding.title = "words that no phrase knows".to_owned();
    finding.entities = vec!["service:gw".to_owned()];
    finding.cause = cause.map(str::to_owned);
    let numbers = [
        "missed",
        "expected",
        "interval_s",
        "quantile",
        "baseline_ms",
        "peak_ms",
        "mean_baseline_ms",
        "mean_peak_ms",
        "ratio",
        "count",
        "total",
        "share",
        "before",
        "after",
        "series",
        "baseline",
        "peak",
        "slope_per_h",
        "start_value",
        "end_value",
        "waiting",
        "locks",
        "likely_holder",
        "from",
        "to",
        "threads",
        "gap_ms_p50",
        "gap_ms_p99",
        "gap_ms_max",
        "calls",
        "explained_by_connect",
        "rate",
        "baseline_rate",
        "used",
        "limit",
        "tps_mean",
        "mean_ms",
        "errors",
        "vusers",
        "tps_ratio",
        "mean_ratio",
        "p99_ratio",
        "p_value",
        "suppressed",
        "at_value",
        "max_ms",
        "slow_count",
        "observations",
        "bound_ms",
        "slow_share",
        "targets",
    ];
    for name in numbers {
        finding = finding.with(name, 7);
    }
    for name in [
        "metric",
        "site",
        "user_site",
        "caller",
        "callee",
        "what",
        "unit",
    ] {
        finding = finding.with(name, "x");
    }
    finding = finding.with("resource", "open file descriptors");
    finding.with("rungs", serde_json::json!({"1s": 3}))
}

#[test]
fn every_kind_and_cause_has_its_title_and_detail() {
    let words = Words::new(Lang::Ko);
    let kinds = [
        FindingKind::LatencySpike,
        FindingKind::LevelShift,
        FindingKind::Spike,
        FindingKind::Leak,
        FindingKind::LockContention,
        FindingKind::BlockedGrowth,
        FindingKind::Deadlock,
        FindingKind::Hotspot,
        FindingKind::SlowCall,
        FindingKind::ErrorBurst,
        FindingKind::Saturation,
        FindingKind::ThroughputDrop,
        FindingKind::LoadRun,
        FindingKind::RunRegression,
        FindingKind::LogBackpressure,
        FindingKind::CounterReset,
        FindingKind::Change,
    ];
    let mut all: Vec<Finding> = kinds.into_iter().map(|k| finding(k, None)).collect();
    all.extend(
        titles::GAPS
            .iter()
            .map(|c| finding(FindingKind::ScrapeGap, Some(c))),
    );
    all.extend(
        titles::CONNECTS
            .iter()
            .map(|c| finding(FindingKind::ConnectOutliers, Some(c))),
    );
    for finding in all {
        is_korean(&finding_title(&words, &finding), finding.kind.word());
        is_korean(&finding_detail(&words, &finding), finding.kind.word());
        if let Some(why) = &finding.cause {
            is_korean(&cause(&words, why), why);
        }
        // A finding without any value is told all the same.
        let bare = Finding {
            values: crate::model::finding::Values::new(),
            ..finding
        };
        assert!(has_hangul(&finding_title(&words, &bare)));
    }
    for severity_of in [
        Severity::Info,
        Severity::Minor,
        Severity::Major,
        Severity::Critical,
    ] {
        is_korean(&severity(&words, severity_of), severity_of.word());
    }
    for role_of in [Role::Trigger, Role::Relief, Role::Cure, Role::Coincident] {
        is_korean(&role(&words, role_of), role_of.word());
    }
}
