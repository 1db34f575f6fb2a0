//! What forms for people share: paths of inputs, headlines, safe words, wrapping.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::text::count;
use crate::base::time::Timestamp;
use crate::base::units;
use crate::export::Material;
use crate::export::headline::{Headline, headline_with};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::model::input::{Evidence, Input};
use crate::model::report::Report;
use crate::session::intake::{DUPLICATE, SIDECAR, UNRECOGNISED};
use crate::session::notes::{Notes, Verdict};
use crate::session::timeline::{self, Entry};

/// A report, with its ids looked up.
pub(super) struct View<'a> {
    pub(super) report: &'a Report,
    pub(super) notes: Option<&'a Notes>,
    /// What is told, by time, with a person's edits.
    pub(super) timeline: Vec<Entry>,
    paths: BTreeMap<&'a str, &'a str>,
    findings: BTreeMap<&'a str, &'a Finding>,
}

impl<'a> View<'a> {
    pub(super) fn of(material: &Material<'a>) -> Self {
        let report = material.report;
        Self {
            report,
            notes: material.notes,
            timeline: timeline::shown(report, material.snapshot, material.notes),
            paths: report
                .inputs
                .iter()
                .map(|i| (i.id.as_str(), i.path.as_str()))
                .collect(),
            findings: report.findings.iter().map(|f| (f.id.as_str(), f)).collect(),
        }
    }

    /// The path of an input; its id when it is not known.
    pub(super) fn path<'b>(&'b self, id: &'b str) -> &'b str {
        self.paths.get(id).copied().unwrap_or(id)
    }

    /// What a person said of a hypothesis.
    pub(super) fn verdict(&self, id: &str) -> Option<Verdict> {
        self.notes?.verdicts.get(id).copied()
    }

    /// What a person wrote on a finding or hypothesis.
    pub(super) fn comment(&self, id: &str) -> Option<&'a str> {
        Some(self.notes?.comments.get(id)?.as_str())
    }

    /// Why a person dismissed a finding or hypothesis.
    pub(super) fn dismissed(&self, id: &str) -> Option<&'a str> {
        Some(self.notes?.dismissed.get(id)?.as_str())
    }

    /// What a person wrote on top.
    pub(super) fn summary(&self) -> Option<&'a str> {
        Some(self.notes?.summary.trim()).filter(|s| !s.is_empty())
    }

    /// The title of a finding, as a person changed it.
    pub(super) fn title_of(&self, finding: &'a Finding) -> &'a str {
        self.notes
            .and_then(|n| n.edits.get(&finding.id)?.title.as_deref())
            .filter(|t| !t.trim().is_empty())
            .unwrap_or(&finding.title)
    }

    /// The hypotheses, best first; what a person said wins over the rank.
    pub(super) fn hypotheses(&self) -> Vec<&'a Hypothesis> {
        let mut all: Vec<&Hypothesis> = self.report.hypotheses.iter().collect();
        all.sort_by_key(|h| match self.verdict(&h.id) {
            Some(Verdict::Confirmed) => 0,
            Some(Verdict::Refuted) => 3,
            None if self.dismissed(&h.id).is_some() => 2,
            None => 1,
        });
        all
    }

    /// The findings that a hypothesis explains, by time.
    pub(super) fn explained(&self, hypothesis: &Hypothesis) -> Vec<&'a Finding> {
        let mut all: Vec<&Finding> = hypothesis
            .explains
            .iter()
            .filter_map(|id| self.findings.get(id.as_str()).copied())
            .collect();
        all.sort_by(|a, b| (a.start, a.kind, &a.id).cmp(&(b.start, b.kind, &b.id)));
        all
    }

    /// Findings of weight that no hypothesis explains.
    pub(super) fn unexplained(&self) -> Vec<&'a Finding> {
        let explained: BTreeSet<&str> = self
            .report
            .hypotheses
            .iter()
            .flat_map(|h| h.explains.iter().map(String::as_str))
            .collect();
        self.report
            .findings
            .iter()
            .filter(|f| f.severity >= Severity::Major && f.kind != FindingKind::Change)
            .filter(|f| !explained.contains(f.id.as_str()))
            .collect()
    }

    /// Where a piece of evidence stands: path and place.
    pub(super) fn place(&self, evidence: &Evidence) -> String {
        let path = self.path(&evidence.input);
        if evidence.locator.is_empty() {
            plain(path)
        } else {
            plain(&format!("{path}, {}", evidence.locator))
        }
    }

    /// The one sentence that comes first.
    pub(super) fn headline(&self) -> String {
        let all = self.hypotheses();
        let best = all.first().copied();
        if let Some(best) = best {
            let is_out = self.dismissed(&best.id).is_some();
            match self.verdict(&best.id) {
                Some(Verdict::Confirmed) => return format!("Cause, confirmed: {}", best.title),
                verdict if verdict.is_some() || is_out => {
                    return "Every cause below was ruled out: the cause is not known".to_owned();
                }
                _ => {}
            }
        }
        match headline_with(self.report, best) {
            Headline::Beside { start, end } => format!(
                "Nothing that was read lies in the window: the inputs run from {} to {} UTC",
                day_and_clock(start),
                day_and_clock(end)
            ),
            Headline::CauseOfPart { title, share } => format!(
                "Most likely cause of a part ({:.0} %) of what was found: {title}",
                share * 100.0
            ),
            Headline::Cause { title } => format!("Most likely cause: {title}"),
            Headline::NotEnough => {
                "Nothing explains enough: no cause below is better than a possibility".to_owned()
            }
            Headline::Nothing => "Nothing unusual was found in what was read".to_owned(),
            Headline::NoCause { findings } => format!(
                "Nothing explains enough: {} and no known cause that fits",
                count(findings as u64, "finding", "findings")
            ),
        }
    }

    /// `2026-11-30 14:26:20 to 14:33:30 UTC (7 min 10 s)`.
    pub(super) fn window(&self) -> String {
        let window = self.report.window;
        let (Some(start), Some(end)) = (window.start, window.end) else {
            return "no times in the inputs".to_owned();
        };
        format!(
            "{} to {} UTC ({})",
            day_and_clock(start),
            if day(start) == day(end) {
                whole_clock(end)
            } else {
                day_and_clock(end)
            },
            units::secs(end.secs_since(start))
        )
    }

    /// Whether all times are on one day, so that clocks alone say when.
    pub(super) fn is_one_day(&self) -> bool {
        let window = self.report.window;
        let all = self.timeline.iter().map(|e| e.start);
        let all = all.chain(self.timeline.iter().filter_map(|e| e.end));
        let mut days: Vec<String> = all.chain(window.start).map(day).collect();
        days.sort();
        days.dedup();
        days.len() <= 1
    }

    /// `44 inputs: 36 prometheus-api, 4 go-goroutine-text, …`, and what was not read.
    pub(super) fn inputs_line(&self) -> String {
        let mut by_format: BTreeMap<&str, u64> = BTreeMap::new();
        for input in &self.report.inputs {
            *by_format.entry(input.format.as_str()).or_default() += 1;
        }
        let mut formats: Vec<(&str, u64)> = by_format.into_iter().collect();
        formats.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
        let listed: Vec<String> = formats
            .iter()
            .map(|(format, n)| format!("{n} {format}"))
            .collect();
        format!(
            "{}: {}",
            count(self.report.inputs.len() as u64, "input", "inputs"),
            listed.join(", ")
        )
    }

    /// Inputs that lost data.
    pub(super) fn damaged(&self) -> Vec<&'a Input> {
        self.report
            .inputs
            .iter()
            .filter(|i| i.warnings.iter().any(|w| w.lossy))
            .collect()
    }

    /// Inputs with something to know that is neither damage nor expected.
    pub(super) fn remarkable(&self) -> Vec<&'a Input> {
        self.report
            .inputs
            .iter()
            .filter(|i| !matches!(i.format.as_str(), SIDECAR | UNRECOGNISED | DUPLICATE))
            .filter(|i| !i.warnings.is_empty() && i.warnings.iter().all(|w| !w.lossy))
            .collect()
    }
}

/// The names of entities, without their types.
pub(super) fn names(entities: &[String]) -> String {
    let mut names: Vec<String> = Vec::new();
    for id in entities {
        let name = plain(id.split_once(':').map_or(id.as_str(), |(_, name)| name));
        // A service and a job of one name are one name to a reader.
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// A time, as short as it can be.
pub(super) fn when(t: Timestamp, is_one_day: bool) -> String {
    if is_one_day {
        t.to_clock()
    } else {
        format!("{} {}", day(t), t.to_clock())
    }
}

fn day(t: Timestamp) -> String {
    t.to_rfc3339().chars().take(10).collect()
}

fn whole_clock(t: Timestamp) -> String {
    t.to_clock().chars().take(8).collect()
}

fn day_and_clock(t: Timestamp) -> String {
    format!("{} {}", day(t), whole_clock(t))
}

/// Words from an input, safe to show: control characters and those that change the direction of text are spaces.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|c| {
            let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || turns { ' ' } else { c }
        })
        .collect()
}

/// Breaks text into lines of at most `width` characters, the first after `first`, the others after `rest`. A word that
/// is longer than a line stays whole: paths and queries must be pasted.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let mut used = first.chars().count();
    let mut is_line_empty = true;
    for word in plain(text).split_whitespace() {
        let length = word.chars().count();
        if !is_line_empty && used + 1 + length > width {
            out.push('\n');
            out.push_str(rest);
            used = rest.chars().count();
            is_line_empty = true;
        }
        if !is_line_empty {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
        is_line_empty = false;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps_at_the_width_and_keeps_long_words_whole() {
        assert_eq!(wrap("aa bb cc", 7, "- ", "  "), "- aa bb\n  cc\n");
        assert_eq!(wrap("aaaaaaaaaa b", 5, "", ""), "aaaaaaaaaa\nb\n");
        assert_eq!(wrap("", 5, "- ", ""), "- \n");
    }

    #[test]
    fn one_name_of_two_things_is_said_once() {
        let ids = [
            "service:gw".to_owned(),
            "job:gw".to_owned(),
            "pod:gw-1".to_owned(),
        ];
        assert_eq!(names(&ids), "gw, gw-1");
    }

    #[test]
    fn words_from_inputs_cannot_steer_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mb\u{202e}c"), "a [31mb c");
    }
}
