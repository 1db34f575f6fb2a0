//! What forms for people share: paths of inputs, headlines, safe words, wrapping.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::reporter::Warning;
use crate::base::text::{columns, grouped};
use crate::base::time::Timestamp;
use crate::export::headline::{Headline, headline_with};
use crate::export::{Material, Options};
use crate::model::finding::{Finding, FindingKind, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::model::input::{Evidence, Input};
use crate::model::report::Report;
use crate::session::intake::{DUPLICATE, SIDECAR, UNRECOGNISED};
use crate::session::notes::{Notes, Verdict};
use crate::session::timeline::{self, Entry};
use crate::words::report::{Told, ToldHypothesis};
use crate::words::{Lang, Words, report, warnings};

/// A report, with its ids looked up and its sentences in the language of the export.
pub(super) struct View<'a> {
    pub(super) report: &'a Report,
    pub(super) notes: Option<&'a Notes>,
    /// What is told, by time, with a person's edits.
    pub(super) timeline: Vec<Entry>,
    pub(super) words: &'static Words,
    told: Told,
    paths: BTreeMap<&'a str, &'a str>,
    findings: BTreeMap<&'a str, &'a Finding>,
}

impl<'a> View<'a> {
    pub(super) fn of(material: &Material<'a>, options: &Options) -> Self {
        let report = material.report;
        let words = Words::of(options.lang);
        let told = Told::of(words, report);
        let mut timeline = timeline::shown(report, material.snapshot, material.notes);
        timeline::tell(&mut timeline, words, &told);
        Self {
            report,
            notes: material.notes,
            timeline,
            words,
            told,
            paths: report
                .inputs
                .iter()
                .map(|i| (i.id.as_str(), i.path.as_str()))
                .collect(),
            findings: report.findings.iter().map(|f| (f.id.as_str(), f)).collect(),
        }
    }

    /// A message without arguments.
    pub(super) fn say(&self, key: &'static str) -> &'static str {
        self.words.text(key)
    }

    /// A message with one argument.
    pub(super) fn say1(&self, key: &str, name: &str, value: &str) -> String {
        self.words.with(key, &[(name, value.into())])
    }

    /// A message with a number, which has a twin `…-one` where English needs it.
    pub(super) fn count(&self, key: &str, n: usize) -> String {
        let one = format!("{key}-one");
        let key = if n == 1 && self.words.has(&one) {
            one.as_str()
        } else {
            key
        };
        self.say1(key, "n", &grouped(n as u64))
    }

    /// The words of a hypothesis.
    pub(super) fn told(&self, hypothesis: &Hypothesis) -> ToldHypothesis {
        let all = &self.report.hypotheses;
        let place = all.iter().position(|h| h.id == hypothesis.id);
        place
            .and_then(|place| self.told.hypotheses.get(place).cloned())
            .unwrap_or_default()
    }

    /// The title of a change near a hypothesis.
    pub(super) fn change_title(&self, title: &str) -> String {
        // A change is called one by the heading already.
        let said = self.told.sentence(self.words, title);
        if said.ends_with(title) {
            title.to_owned()
        } else {
            said
        }
    }

    /// What could not be decided, each with its name.
    pub(super) fn undecided(&self) -> Vec<(String, &str)> {
        let lacks = self.report.not_enough.iter();
        lacks
            .zip(&self.told.not_enough)
            .map(|(lack, reason)| (self.detector(&lack.detector), reason.as_str()))
            .collect()
    }

    fn detector(&self, name: &str) -> String {
        match self.words.lang() {
            Lang::En => name.to_owned(),
            Lang::Ko => report::detector(self.words, name),
        }
    }

    /// What a finding says beyond its title.
    pub(super) fn detail(&self, finding: &Finding) -> String {
        report::finding_detail(self.words, finding)
    }

    /// A line of evidence as it is quoted.
    pub(super) fn quote(&self, evidence: &Evidence) -> String {
        report::quote(self.words, &evidence.quote)
    }

    /// Kind, severity, confidence and times of a finding.
    pub(super) fn facts_of(&self, finding: &Finding) -> String {
        let end = finding.end.map(|t| t.to_rfc3339());
        let end = end.unwrap_or_else(|| self.say("export-open-end").to_owned());
        let severity = report::severity(self.words, finding.severity);
        self.words.with(
            "export-facts",
            &[
                ("kind", (&self.detector(finding.kind.word())).into()),
                ("severity", (&severity).into()),
                ("confidence", (&format!("{:.2}", finding.confidence)).into()),
                ("start", (&finding.start.to_rfc3339()).into()),
                ("end", (&end).into()),
            ],
        )
    }

    /// Score, coverage, begin and names of a hypothesis; `since` is its begin in the words of the form.
    pub(super) fn facts_of_cause(&self, hypothesis: &Hypothesis, since: &str) -> String {
        let names = names(&hypothesis.entities);
        let key = if names.is_empty() {
            "export-cause-facts-bare"
        } else {
            "export-cause-facts"
        };
        let share = self.words.units().share(hypothesis.coverage);
        self.words.with(
            key,
            &[
                ("score", (&format!("{:.2}", hypothesis.score)).into()),
                ("share", (&share).into()),
                ("since", since.into()),
                ("names", (&names).into()),
            ],
        )
    }

    /// The heading of a hypothesis.
    pub(super) fn cause_title(&self, hypothesis: &Hypothesis) -> String {
        self.words.with(
            "export-cause",
            &[
                ("rank", (&hypothesis.rank.to_string()).into()),
                ("title", (&self.told(hypothesis).title).into()),
            ],
        )
    }

    /// What every form says below the headline, as plain text: window, whom it concerns, how much was found, whether something is
    /// missing, who wrote it.
    pub(super) fn opening(&self) -> Vec<String> {
        let mut facts = vec![self.say1("export-window-item", "window", &self.window())];
        let best = self.hypotheses().first().map(|h| names(&h.entities));
        if let Some(names) = best.filter(|n| !n.is_empty()) {
            facts.push(self.say1("export-concerned", "names", &names));
        }
        let by_severity = self.severities();
        if !by_severity.is_empty() {
            let counts = self.words.list(&by_severity);
            facts.push(self.say1("export-findings", "counts", &counts));
        }
        facts.push(self.inputs_line());
        if self.report.partial {
            facts.push(format!(
                "{}: {}",
                self.say("export-partial-word"),
                self.say("export-partial")
            ));
        }
        let generator = &self.report.generator;
        let at = self.report.generated_at.map(|t| t.to_rfc3339());
        let key = match at {
            Some(_) => "export-written-at",
            None => "export-written",
        };
        facts.push(self.words.with(
            key,
            &[
                ("name", (&generator.name).into()),
                ("version", (&generator.version).into()),
                ("at", at.as_deref().unwrap_or_default().into()),
            ],
        ));
        facts
    }

    /// How many findings of each severity, the worst first.
    fn severities(&self) -> Vec<String> {
        [
            Severity::Critical,
            Severity::Major,
            Severity::Minor,
            Severity::Info,
        ]
        .into_iter()
        .filter_map(|severity| {
            let all = self.report.findings.iter();
            let n = all.filter(|f| f.severity == severity).count();
            let word = report::severity(self.words, severity);
            (n > 0).then(|| {
                self.words.with(
                    "export-findings-of",
                    &[("n", (&n.to_string()).into()), ("severity", (&word).into())],
                )
            })
        })
        .collect()
    }

    /// What a warning says, with its place.
    pub(super) fn warning(&self, warning: &Warning) -> String {
        let text = warnings::text(self.words, warning);
        match &warning.at {
            None => text,
            Some(at) => {
                let place = warnings::place(self.words, at);
                self.words.with(
                    "export-at",
                    &[("text", (&text).into()), ("place", (&place).into())],
                )
            }
        }
    }

    /// A verdict in a word.
    pub(super) fn verdict_word(&self, verdict: Verdict) -> &'static str {
        match verdict {
            Verdict::Confirmed => self.say("export-verdict-confirmed"),
            Verdict::Refuted => self.say("export-verdict-refuted"),
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
    pub(super) fn title_of<'b>(&'b self, finding: &'b Finding) -> &'b str {
        let told = || {
            let place = self.told.place(&finding.id)?;
            self.told.findings.get(place).map(String::as_str)
        };
        self.notes
            .and_then(|n| n.edits.get(&finding.id)?.title.as_deref())
            .filter(|t| !t.trim().is_empty())
            .or_else(told)
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
            let locator = warnings::place(self.words, &evidence.locator);
            plain(&format!("{path}, {locator}"))
        }
    }

    /// The one sentence that comes first.
    pub(super) fn headline(&self) -> String {
        let all = self.hypotheses();
        let best = all.first().copied();
        if let Some(best) = best {
            let is_out = self.dismissed(&best.id).is_some();
            match self.verdict(&best.id) {
                Some(Verdict::Confirmed) => {
                    let title = self.told(best).title;
                    return self.say1("export-confirmed", "title", &title);
                }
                verdict if verdict.is_some() || is_out => {
                    return self.say("export-ruled-out").to_owned();
                }
                _ => {}
            }
        }
        let title = best.map(|h| self.told(h).title).unwrap_or_default();
        match headline_with(self.report, best) {
            Headline::Beside { start, end } => self.words.with(
                "findings-head-beside",
                &[
                    ("start", (&day_and_clock(start)).into()),
                    ("end", (&format!("{} UTC", day_and_clock(end))).into()),
                ],
            ),
            Headline::CauseOfPart { share, .. } => self.words.with(
                "findings-head-part",
                &[
                    ("share", (&self.words.units().share(share)).into()),
                    ("title", (&title).into()),
                ],
            ),
            Headline::Cause { .. } => self.say1("findings-head-cause", "title", &title),
            Headline::NotEnough => self.say("findings-head-not-enough").to_owned(),
            Headline::Nothing => self.say("findings-head-nothing").to_owned(),
            Headline::NoCause { findings } => self.count("findings-head-no-cause", findings),
        }
    }

    /// `2026-11-30 14:26:20 to 14:33:30 UTC (7 min 10 s)`.
    pub(super) fn window(&self) -> String {
        let window = self.report.window;
        let (Some(start), Some(end)) = (window.start, window.end) else {
            return self.say("export-no-times").to_owned();
        };
        let until = if day(start) == day(end) {
            whole_clock(end)
        } else {
            day_and_clock(end)
        };
        let length = self.words.units().secs(end.secs_since(start));
        self.words.with(
            "export-window",
            &[
                ("start", (&day_and_clock(start)).into()),
                ("end", (&until).into()),
                ("length", (&length).into()),
            ],
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
        let n = self.report.inputs.len();
        let key = match n {
            1 => "export-inputs-line-one",
            _ => "export-inputs-line",
        };
        self.words.with(
            key,
            &[
                ("n", (&grouped(n as u64)).into()),
                ("formats", (&listed.join(", ")).into()),
            ],
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

/// Breaks text into lines of at most `width` columns, the first after `first`, the others after `rest`. A word that
/// is longer than a line stays whole: paths and queries must be pasted.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> String {
    let mut out = String::from(first);
    let mut used = columns(first);
    let mut is_line_empty = true;
    for word in plain(text).split_whitespace() {
        let length = columns(word);
        if !is_line_empty && used + 1 + length > width {
            out.push('\n');
            out.push_str(rest);
            used = columns(rest);
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
