//! What is open: the rows that were read so far and, once it is there, the report on them. Cheap to clone.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;
use crate::model::report::Report;
use crate::session::analysis::Document;
use crate::store::Snapshot;

/// One open incident.
#[derive(Debug, Clone)]
pub struct Incident {
    /// The rows, with the window to look at.
    pub document: Arc<Document>,
    /// What the analysis says; `None` while it runs.
    pub report: Option<Arc<Report>>,
    /// Counts up whenever rows or report change; keys every cache of the window.
    pub generation: u64,
    /// Whether everything was read.
    pub is_complete: bool,
}

impl Incident {
    /// What was known at `t`, without a report yet; `generation` is that of no other incident.
    #[must_use]
    pub fn until(&self, t: Timestamp, generation: u64) -> Self {
        self.part(self.document.until(t), generation)
    }

    /// The same incident, of which nothing is known yet at `t`.
    #[must_use]
    pub fn nothing_until(&self, t: Timestamp, generation: u64) -> Self {
        self.part(self.document.nothing_until(t), generation)
    }

    fn part(&self, document: Document, generation: u64) -> Self {
        Self {
            document: Arc::new(document),
            report: None,
            generation,
            is_complete: self.is_complete,
        }
    }

    /// The rows.
    pub fn snapshot(&self) -> &Snapshot {
        &self.document.snapshot
    }

    /// All findings; none while the analysis runs.
    pub fn findings(&self) -> &[Finding] {
        self.report.as_ref().map_or(&[], |r| &r.findings)
    }

    /// All hypotheses, best first; none while the analysis runs.
    pub fn hypotheses(&self) -> &[Hypothesis] {
        self.report.as_ref().map_or(&[], |r| &r.hypotheses)
    }

    /// The finding of that id.
    pub fn finding(&self, id: &str) -> Option<&Finding> {
        self.findings().iter().find(|f| f.id == id)
    }

    /// The hypothesis of that id.
    pub fn hypothesis(&self, id: &str) -> Option<&Hypothesis> {
        self.hypotheses().iter().find(|h| h.id == id)
    }
}

/// What is open, in a word. `…/checkout-p99/input` is called after its folder.
pub fn name_of(paths: &[PathBuf]) -> String {
    let Some(first) = paths.first() else {
        return String::new();
    };
    let mut parts = first.components().rev();
    let mut next = || {
        parts
            .next()
            .map(|p| p.as_os_str().to_string_lossy().into_owned())
    };
    let mut name = next().unwrap_or_default();
    if name == "input" {
        name = next().unwrap_or(name);
    }
    match paths.len() {
        1 => name,
        n => format!("{name} + {}", n - 1),
    }
}
