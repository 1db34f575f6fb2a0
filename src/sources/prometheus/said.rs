//! What a pull says in the end: what falls short, and by which way the raw samples came.

use std::collections::BTreeSet;

use crate::base::reporter::{Reporter, Warning};
use crate::base::text::count;
use crate::base::time::Timestamp;
use crate::sources::prometheus::answer::Answer;
use crate::sources::prometheus::plan::Raw;

/// How raw samples are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Remote read.
    Read,
    /// A range selector.
    Range,
    /// The export of `VictoriaMetrics`.
    Export,
}

/// What must be said at the end. Nothing of it hangs on the order in which answers came.
#[derive(Debug, Default)]
pub(super) struct Said {
    told: BTreeSet<Warning>,
    lost: BTreeSet<Warning>,
    /// Warnings of the server, each once.
    pub(super) warnings: BTreeSet<String>,
    /// Questions for raw samples that were answered well, by [`Way`].
    answered: [u64; 3],
    /// Why range selectors were used where remote read was wanted.
    not_read: BTreeSet<String>,
    /// Answers by range selectors for native histograms, which are not read of remote read.
    pub(super) native: u64,
}

impl Said {
    /// Something was lost.
    pub(super) fn lost(&mut self, code: &str, text: impl Into<String>, at: Option<String>) {
        self.lost.insert(warning(code, text.into(), at, true));
    }

    /// Something worth knowing.
    pub(super) fn note(&mut self, code: &str, text: impl Into<String>) {
        self.told.insert(warning(code, text.into(), None, false));
    }

    /// Why range selectors are used where remote read was wanted.
    pub(super) fn not_read(&mut self, why: impl Into<String>) {
        self.not_read.insert(why.into());
    }

    /// A question for raw samples was answered well.
    pub(super) fn came(&mut self, way: Way) {
        let [read, range, export] = &mut self.answered;
        *match way {
            Way::Read => read,
            Way::Range => range,
            Way::Export => export,
        } += 1;
    }

    /// Samples that cannot be had.
    pub(super) fn lose(&mut self, raw: &Raw, why: &str) {
        let names = match raw.metrics.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        };
        let span = [raw.from_ms, raw.to_ms]
            .map(|ms| Timestamp::from_millis(ms).map_or_else(String::new, |t| t.to_rfc3339()));
        let [from, to] = span;
        self.lost(
            "samples_missing",
            format!("the samples of {names} could not be had: {why}; pull again for them"),
            Some(format!("{from} to {to}")),
        );
    }

    /// Something that was asked and refused.
    pub(super) fn refuse(&mut self, code: &str, what: &str, answer: &Answer) {
        let why = match answer {
            Answer::Refused { text, .. } | Answer::TooMuch(text) | Answer::TooLong(text) => {
                text.as_str()
            }
            Answer::Absent => "it has no such endpoint",
            Answer::Good { .. } => return,
        };
        let text = format!("{what} could not be had: {why}");
        self.lost(code, text, None);
    }

    /// Everything: the cost, the way, what was lost, and the rest.
    pub(super) fn into_warnings(mut self) -> Vec<Warning> {
        if let Some(text) = self.way() {
            self.note("raw_samples", text);
        }
        for warning in std::mem::take(&mut self.warnings) {
            let text = format!("the server says of its answer: {warning}");
            if is_partial(&warning) {
                self.lost("partial_response", text, None);
            } else {
                self.note("server_warning", text);
            }
        }
        let mut log = Reporter::new();
        for one in self.told.into_iter().chain(self.lost) {
            if one.lossy {
                log.lost(&one.code, one.text, one.at);
            } else {
                log.note(&one.code, one.text, one.at);
            }
        }
        log.into_warnings()
    }

    /// Which way the raw samples came; `None` when there are none.
    fn way(&self) -> Option<String> {
        let [read, range, export] = self.answered;
        let why = self.not_read.first();
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        let by_range = format!(
            "by range selectors, which leave staleness markers out, so that a series that ended looks like one that was not scraped{why}"
        );
        if read + range + export == 0 {
            return None;
        }
        if export > 0 {
            return Some(
                "raw samples came by /api/v1/export, with staleness markers in them".to_owned(),
            );
        }
        if read == 0 {
            return Some(format!("raw samples came {by_range}"));
        }
        let mut text = "raw samples came by remote read, with staleness markers in them".to_owned();
        let others = range.saturating_sub(self.native);
        if others > 0 {
            let answers = count(others, "answer", "answers");
            text = format!("{text}; {answers} came {by_range}");
        }
        if self.native > 0 {
            text.push_str("; native histograms came by range selectors");
        }
        Some(text)
    }
}

fn warning(code: &str, text: String, at: Option<String>, lossy: bool) -> Warning {
    Warning {
        code: code.to_owned(),
        text,
        at,
        lossy,
    }
}

/// Thanos tells of stores that did not answer in warnings, with HTTP 200 (`prometheus.md` §1.5).
fn is_partial(warning: &str) -> bool {
    const WORDS: &[&str] = &[
        "fetch series",
        "receive series",
        "rpc error",
        "partial",
        "isPartial",
        "No StoreAPIs",
        "no matching stores",
        "No store matched",
        "truncated",
        "violated",
    ];
    WORDS.iter().any(|word| warning.contains(word))
}
