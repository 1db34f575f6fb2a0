//! Tests of the module above.

use super::*;
use crate::export::testing::Example;
use crate::model::finding::FindingKind;

fn text(example: &Example, options: &Options) -> String {
    String::from_utf8(Text.write(&example.material(), options).unwrap()).unwrap()
}

#[test]
fn the_cause_comes_first_then_evidence_doubt_and_next_steps() {
    let out = text(&Example::new(), &Options::default());
    let order = [
        "Most likely cause: the metrics lock",
        "Window 2026-11-30 14:28:00 to 14:35:00 UTC (7 min)",
        "it explains",
        "prometheus/raw.up.json, $.data.result[0]",
        "changes near it",
        "against it",
        "missing",
        "check next",
        "sum(rate(x[5m]))",
        "Could not be decided",
        "Timeline (UTC)",
        "Inputs",
    ];
    let mut rest = out.as_str();
    for part in order {
        rest = rest
            .split_once(part)
            .unwrap_or_else(|| panic!("{part} in\n{out}"))
            .1;
    }
}

#[test]
fn many_findings_of_one_kind_do_not_hide_another() {
    let example = Example::new();
    let gap = &example.report.findings[0];
    let dumps: Vec<Finding> = (0..10)
        .map(|n| {
            let mut dump = gap.clone();
            dump.kind = FindingKind::LockContention;
            dump.id = format!("f-{n}");
            dump.start = gap.start.plus_nanos(-n);
            dump
        })
        .collect();
    let mut mild = gap.clone();
    mild.severity = Severity::Minor;
    let all: Vec<&Finding> = dumps.iter().chain([&mild]).collect();
    let shown = varied(&all, 3);
    assert_eq!(shown.len(), 3);
    assert!(shown.iter().any(|f| f.kind == FindingKind::ScrapeGap));
}

#[test]
fn no_line_is_wider_than_asked_and_colours_change_no_word() {
    let example = Example::new();
    let narrow = Options {
        width: 72,
        ..Options::default()
    };
    let plain = text(&example, &narrow);
    for line in plain.lines() {
        assert!(line.chars().count() <= 72, "{line}");
    }
    let coloured = text(
        &example,
        &Options {
            colour: true,
            ..narrow
        },
    );
    let stripped = regex::Regex::new("\x1b\\[[0-9;]*m")
        .unwrap()
        .replace_all(&coloured, "")
        .into_owned();
    assert_eq!(stripped, plain);
    assert_ne!(coloured, plain);
}

#[test]
fn a_window_beside_all_inputs_is_told_first() {
    let mut example = Example::new();
    for hour in ["01", "02"] {
        let t = Timestamp::parse_rfc3339(&format!("2027-01-01T{hour}:00:00Z"));
        if hour == "01" {
            example.report.window.start = t;
        } else {
            example.report.window.end = t;
        }
    }
    for input in &mut example.report.inputs {
        input.start = Timestamp::parse_rfc3339("2026-11-30T14:28:00Z");
        input.end = Timestamp::parse_rfc3339("2026-11-30T14:35:00Z");
    }
    let out = text(&example, &Options::default());
    let first =
        "Nothing that was read lies in the window: the inputs run from 2026-11-30 14:28:00 to";
    assert!(out.starts_with(first), "{out}");
}

#[test]
fn of_many_losses_some_are_told_and_the_rest_counted() {
    let mut example = Example::new();
    let warning = crate::base::reporter::Warning {
        code: "bad_row".to_owned(),
        text: "not a number".to_owned(),
        at: None,
        lossy: true,
    };
    for input in &mut example.report.inputs {
        input.warnings.clear();
    }
    example.report.inputs[0].warnings = vec![warning; LOSSES_SHOWN + 3];
    let out = text(&example, &Options::default());
    assert_eq!(out.matches("not a number").count(), LOSSES_SHOWN);
    assert!(out.contains("and 3 more losses"), "{out}");
}

#[test]
fn when_nothing_explains_enough_it_says_so_first() {
    let mut example = Example::new();
    for hypothesis in &mut example.report.hypotheses {
        hypothesis.score = 0.3;
    }
    assert!(text(&example, &Options::default()).starts_with("Nothing explains enough"));
    example.report.hypotheses.clear();
    assert!(text(&example, &Options::default()).starts_with("Nothing explains enough"));
    example.report.findings.clear();
    example.report.timeline.clear();
    assert!(text(&example, &Options::default()).starts_with("Nothing unusual"));
}

#[test]
fn carries_what_a_person_said() {
    let example = Example::new();
    let notes = example.notes();
    let bytes = Text
        .write(&example.noted(&notes), &Options::default())
        .unwrap();
    let out = String::from_utf8(bytes).unwrap();
    for part in [
        "The *metrics* lock.\nFixed by <b>patch</b>.\n\nCause, confirmed: ",
        "verdict: confirmed",
        "note     called the team, on the phone",
        "they knew | nothing",
        "critical metrics were gone",
        "note: seen by all",
    ] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    let timeline = out.split("Timeline (UTC)").nth(1).unwrap();
    assert!(!timeline.contains("doubled"), "{out}");
}
