//! What the engine says, in the language of people.
//!
//! The report is written in English and stays so, whatever the language of window and export. Here the titles and details of findings are
//! made anew from kind, values, cause and entities, and the fixed phrases of hypotheses, checks and reasons are recognised by
//! the English messages `findings-say-…` and put into words by their twins. What nothing knows stays English; whoever shows it
//! keeps the original within reach. To add a phrase: one message `findings-say-NAME` in both languages; its English text is the
//! pattern.

mod amounts;
mod details;
mod josa;
pub(in crate::words) mod phrases;
mod titles;

use std::collections::BTreeMap;

use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::{Hypothesis, Role};
use crate::model::report::Report;
use crate::words::Lang;
use crate::words::{Arg, Words};

pub(in crate::words) use self::amounts::amounts;
pub use self::details::{finding_detail, value, value_name};

/// The words of one report in one language. Making them takes a while: for a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// Titles of the findings, in the report's order.
    pub findings: Vec<String>,
    /// The hypotheses, in the report's order.
    pub hypotheses: Vec<ToldHypothesis>,
    /// What could not be decided, in the report's order.
    pub not_enough: Vec<String>,
    /// English title → title.
    titles: BTreeMap<String, String>,
    /// Id of a finding → its place in the report.
    places: BTreeMap<String, usize>,
}

/// The words of one hypothesis.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldHypothesis {
    /// Its title.
    pub title: String,
    /// What speaks for it.
    pub support: Vec<String>,
    /// What speaks against it.
    pub against: Vec<String>,
    /// What is missing.
    pub missing: Vec<String>,
    /// Why each change has its role.
    pub changes: Vec<String>,
    /// What to do next.
    pub next_checks: Vec<String>,
}

impl Told {
    /// All words of a report.
    pub fn of(words: &Words, report: &Report) -> Self {
        let findings: Vec<String> = report
            .findings
            .iter()
            .map(|f| finding_title(words, f))
            .collect();
        let titles = report
            .findings
            .iter()
            .map(|f| f.title.clone())
            .zip(findings.iter().cloned())
            .collect();
        let mut told = Self {
            findings,
            titles,
            places: (0..)
                .zip(&report.findings)
                .map(|(ix, f)| (f.id.clone(), ix))
                .collect(),
            ..Self::default()
        };
        told.hypotheses = report
            .hypotheses
            .iter()
            .map(|h| told.hypothesis(words, h))
            .collect();
        told.not_enough = report
            .not_enough
            .iter()
            .map(|n| told.sentence(words, &n.reason))
            .collect();
        told
    }

    /// Where a finding stands in the report.
    pub fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    fn hypothesis(&self, words: &Words, hypothesis: &Hypothesis) -> ToldHypothesis {
        let say = |text: &String| self.sentence(words, text);
        ToldHypothesis {
            title: self.hypothesis_title(words, hypothesis),
            support: hypothesis.support.iter().map(|s| say(&s.text)).collect(),
            against: hypothesis.against.iter().map(|a| say(&a.text)).collect(),
            missing: hypothesis.missing.iter().map(say).collect(),
            changes: hypothesis.changes.iter().map(|c| say(&c.why)).collect(),
            next_checks: hypothesis
                .next_checks
                .iter()
                .map(|c| say(&c.text))
                .collect(),
        }
    }

    fn hypothesis_title(&self, words: &Words, hypothesis: &Hypothesis) -> String {
        if words.lang() == Lang::En {
            return hypothesis.title.clone();
        }
        if let Some(title) = phrases::translate(words, &self.titles, &hypothesis.title) {
            return title;
        }
        let key = format!("findings-signature-{}", hypothesis.signature);
        let key = if words.has(&key) {
            key
        } else {
            "findings-signature-other".to_owned()
        };
        let entity = hypothesis.entities.first().map_or("", |id| name_of(id));
        words.with(&key, &[("entity", entity.into())])
    }

    /// A sentence of the report; itself where no phrase fits.
    pub fn sentence(&self, words: &Words, text: &str) -> String {
        if words.lang() == Lang::En {
            return text.to_owned();
        }
        phrases::translate(words, &self.titles, text).unwrap_or_else(|| text.to_owned())
    }
}

/// The title of a finding.
pub fn finding_title(words: &Words, finding: &Finding) -> String {
    if words.lang() == Lang::En {
        return finding.title.clone();
    }
    titles::of(words, finding)
}

/// A line of evidence as it is quoted.
pub fn quote(words: &Words, text: &str) -> String {
    if words.lang() == Lang::En {
        return text.to_owned();
    }
    phrases::translate(words, &BTreeMap::new(), text).unwrap_or_else(|| text.to_owned())
}

/// The word of a kind.
pub fn kind(words: &Words, kind: FindingKind) -> String {
    word(words, "kind", kind.word())
}

/// The word of a severity.
pub fn severity(words: &Words, severity: Severity) -> String {
    word(words, "severity", severity.word())
}

/// The word of a role.
pub fn role(words: &Words, role: Role) -> String {
    word(words, "role", role.word())
}

/// The words of a cause.
pub fn cause(words: &Words, cause: &str) -> String {
    word(words, "cause", cause)
}

/// The title of a hypothesis, without the words of its report.
pub fn hypothesis_title(words: &Words, hypothesis: &Hypothesis) -> String {
    Told::default().hypothesis_title(words, hypothesis)
}

/// The words of a detector's name.
pub fn detector(words: &Words, detector: &str) -> String {
    word(words, "kind", detector)
}

/// The type of an entity, by its id.
pub fn entity_type(words: &Words, id: &str) -> String {
    let kind = id.split_once(':').map_or("", |(kind, _)| kind);
    word(words, "entity", kind)
}

/// The name of an entity, by its id.
pub fn name_of(id: &str) -> &str {
    id.split_once(':').map_or(id, |(_, name)| name)
}

/// `findings-AREA-NAME`; the name itself where no message is.
fn word(words: &Words, area: &str, name: &str) -> String {
    let key = format!("findings-{area}-{name}");
    if words.has(&key) {
        words.text(&key).to_owned()
    } else {
        name.replace('_', " ")
    }
}

/// A message with arguments that were made for it.
fn filled(words: &Words, key: &str, args: &BTreeMap<String, String>) -> String {
    let args: Vec<(&str, Arg<'_>)> = args
        .iter()
        .map(|(name, text)| (name.as_str(), Arg::Text(text)))
        .collect();
    let text = words.with(key, &args);
    match words.lang() {
        Lang::Ko => josa::chosen(&text),
        Lang::En => text,
    }
}

#[cfg(test)]
mod tests;
