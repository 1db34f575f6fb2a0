//! The report as JSON: `contract.md` §3. What a person said comes after it, under `notes`; the report itself stays as the machine
//! made it.

use serde::Serialize;

use crate::base::time::Timestamp;
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::report::Report;
use crate::session::notes::Notes;
use crate::session::timeline;

/// JSON, indented, keys in a fixed order, closed by a line feed.
pub struct Json;

impl Exporter for Json {
    fn id(&self) -> &'static str {
        "json"
    }

    fn title(&self) -> &'static str {
        "the whole report, for programs"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn write(&self, material: &Material<'_>, _: &Options) -> Result<Vec<u8>, ExportError> {
        let written = match material.notes {
            None => serde_json::to_vec_pretty(material.report),
            Some(notes) => serde_json::to_vec_pretty(&Told {
                report: material.report,
                notes: Said {
                    notes,
                    timeline: told(material),
                },
            }),
        };
        let mut bytes = written.map_err(|error| ExportError::Write {
            what: "JSON",
            why: error.to_string(),
        })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    report: &'a Report,
    notes: Said<'a>,
}

/// What a person said, and the timeline as it reads then.
#[derive(Serialize)]
struct Said<'a> {
    #[serde(flatten)]
    notes: &'a Notes,
    timeline: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    start: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<Timestamp>,
    kind: String,
    severity: &'static str,
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<String>,
}

fn told(material: &Material<'_>) -> Vec<Line> {
    timeline::shown(material.report, material.snapshot, material.notes)
        .into_iter()
        .map(|entry| Line {
            start: entry.start,
            end: entry.end,
            finding: entry.finding().map(str::to_owned),
            severity: entry.weight(),
            kind: entry.kind,
            title: entry.title,
            text: entry.text,
            comment: entry.comment,
            dismissed: entry.dismissed,
            input: entry.input,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::Example;

    #[test]
    fn what_is_written_reads_back_the_same() {
        let example = Example::new();
        let bytes = Json
            .write(&example.material(), &Options::default())
            .unwrap();
        assert!(bytes.ends_with(b"}\n"));
        let back: Report = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(back.findings, example.report.findings);
        assert_eq!(back.hypotheses, example.report.hypotheses);
        assert_eq!(back.timeline, example.report.timeline);
    }

    #[test]
    fn what_a_person_said_stands_beside_the_report_and_changes_none_of_it() {
        let example = Example::new();
        let notes = example.notes();
        let write = |material: &Material<'_>| Json.write(material, &Options::default()).unwrap();
        let bytes = write(&example.noted(&notes));
        let mut told: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let said = told.as_object_mut().unwrap().remove("notes").unwrap();
        let plain: serde_json::Value = serde_json::from_slice(&write(&example.material())).unwrap();
        assert_eq!(told, plain);
        assert_eq!(said["verdicts"]["h-1"], "confirmed");
        assert_eq!(said["timeline"][0]["title"], "metrics were gone");
        assert_eq!(said["timeline"][1]["severity"], "note");
        let back: Notes = serde_json::from_value(said).unwrap();
        assert_eq!(back, notes);
    }
}
