//! A small report that every form is tested with.

use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::export::Material;
use crate::model::entity::{Entity, EntityType};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::{Against, ChangeRole, Hypothesis, NextCheck, Role, Support};
use crate::model::input::{Counts, Evidence, Input};
use crate::model::report::{Generator, NotEnough, Report, SCHEMA, TimelineEntry, Window};
use crate::session::notes::{Edit, Notes, OwnEvent, Verdict};
use crate::store::Snapshot;

pub(crate) struct Example {
    pub(crate) report: Report,
    snapshot: Snapshot,
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(&format!("2026-11-30T{text}Z")).unwrap()
}

fn input(id: &str, path: &str, format: &str) -> Input {
    Input {
        id: id.to_owned(),
        path: path.to_owned(),
        format: format.to_owned(),
        sha256: "00".repeat(32),
        counts: Counts::default(),
        start: None,
        end: None,
        warnings: Vec::new(),
    }
}

fn finding(kind: FindingKind, from: &str, severity: Severity, title: &str) -> Finding {
    let mut finding = Finding::new(kind, title, at(from), Some(at("14:34:00")));
    finding.severity = severity;
    finding.title = title.to_owned();
    finding.detail = format!("{title}. 5 of 60 scrapes are missing.");
    finding.evidence.push(Evidence {
        input: "in-1".to_owned(),
        locator: "$.data.result[0]".to_owned(),
        quote: "up 0".to_owned(),
    });
    finding
}

impl Example {
    pub(crate) fn new() -> Self {
        let findings = vec![
            finding(
                FindingKind::ScrapeGap,
                "14:30:00",
                Severity::Critical,
                "ingress-nginx:10254 lost 5 scrapes in a row to the scrape timeout while the target went on serving",
            ),
            finding(
                FindingKind::Change,
                "14:29:00",
                Severity::Info,
                "load | doubled",
            ),
        ];
        let hypothesis = Hypothesis {
            id: "h-1".to_owned(),
            rank: 1,
            signature: "metrics-lock-starves-scrape".to_owned(),
            title: "the metrics lock starves the scrape".to_owned(),
            score: 0.82,
            onset: at("14:30:00"),
            entities: vec!["instance:ingress-nginx:10254".to_owned()],
            explains: vec![findings[0].id.clone()],
            support: vec![Support {
                finding: None,
                text: "the lock is in the metrics library".to_owned(),
                evidence: Vec::new(),
            }],
            changes: vec![ChangeRole {
                title: "load doubled".to_owned(),
                at: at("14:29:00"),
                role: Role::Trigger,
                why: "the gap begins one minute after it.".to_owned(),
            }],
            against: vec![Against {
                finding: None,
                text: "the heap stays flat".to_owned(),
            }],
            missing: vec!["a second dump".to_owned()],
            next_checks: vec![NextCheck {
                text: "see whether the rate falls".to_owned(),
                query: Some("sum(rate(x[5m]))".to_owned()),
            }],
            coverage: 0.93,
        };
        let timeline = findings
            .iter()
            .map(|f| TimelineEntry {
                start: f.start,
                end: f.end,
                kind: f.kind,
                title: f.title.clone(),
                severity: f.severity,
                finding: Some(f.id.clone()),
                input: Some("in-1".to_owned()),
            })
            .collect();
        let mut damaged = input("in-2", "cut.json", "prometheus-api");
        damaged.warnings.push(Warning {
            code: "truncated".to_owned(),
            text: "the answer breaks off; copy it again".to_owned(),
            at: Some("byte 120".to_owned()),
            lossy: true,
        });
        let report = Report {
            schema: SCHEMA.to_owned(),
            generator: Generator {
                name: "tailscope".to_owned(),
                version: "0.0.0".to_owned(),
            },
            generated_at: None,
            window: Window {
                start: Some(at("14:28:00")),
                end: Some(at("14:35:00")),
            },
            partial: true,
            inputs: vec![
                input("in-1", "prometheus/raw.up.json", "prometheus-api"),
                damaged,
            ],
            entities: vec![Entity {
                id: "instance:ingress-nginx:10254".to_owned(),
                kind: EntityType::Instance,
                name: "ingress-nginx:10254".to_owned(),
                aliases: Vec::new(),
            }],
            findings,
            hypotheses: vec![hypothesis],
            timeline,
            not_enough: vec![NotEnough {
                detector: "leak".to_owned(),
                reason: "no memory series was given".to_owned(),
            }],
        };
        Self {
            report,
            snapshot: Snapshot::default(),
        }
    }

    pub(crate) fn material(&self) -> Material<'_> {
        Material {
            report: &self.report,
            snapshot: &self.snapshot,
            notes: None,
        }
    }

    /// What a person said of it.
    pub(crate) fn notes(&self) -> Notes {
        let mut notes = Notes {
            summary: "The *metrics* lock.\nFixed by <b>patch</b>.".to_owned(),
            ..Notes::default()
        };
        notes.events.push(OwnEvent {
            start: at("14:31:00"),
            end: Some(at("14:32:00")),
            title: "called the team, on the phone".to_owned(),
            text: "they knew | nothing".to_owned(),
        });
        let (gap, load) = (&self.report.findings[0], &self.report.findings[1]);
        notes.edits.insert(
            gap.id.clone(),
            Edit {
                title: Some("metrics were gone".to_owned()),
                is_hidden: false,
            },
        );
        notes.edits.insert(
            load.id.clone(),
            Edit {
                title: None,
                is_hidden: true,
            },
        );
        notes
            .comments
            .insert(gap.id.clone(), "seen by all".to_owned());
        notes.verdicts.insert("h-1".to_owned(), Verdict::Confirmed);
        notes
    }

    pub(crate) fn noted<'a>(&'a self, notes: &'a Notes) -> Material<'a> {
        Material {
            notes: Some(notes),
            ..self.material()
        }
    }
}
