//! Which rows the list has, in which order: made on a worker, drawn as it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::finding::{Finding, FindingKind};
use crate::model::report::Report;
use crate::session::notes::{Notes, Verdict};
use crate::session::settings::Lang;
use crate::session::view::Selection;
use crate::ui::report_words::{self, Told};
use crate::ui::theme;
use crate::ui::words::Words;

/// What the rows depend on.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Asked {
    pub(super) generation: u64,
    pub(super) lang: Lang,
    /// Words that a row must hold.
    pub(super) filter: String,
    pub(super) is_by_severity: bool,
    pub(super) shows_dismissed: bool,
    pub(super) shows_undecided: bool,
    pub(super) pinned: BTreeSet<String>,
    pub(super) dismissed: BTreeSet<String>,
    pub(super) verdicts: BTreeMap<String, Verdict>,
}

impl Asked {
    /// Takes what a person said.
    pub(super) fn with_notes(mut self, notes: &Notes) -> Self {
        self.pinned.clone_from(&notes.pinned);
        self.dismissed = notes.dismissed.keys().cloned().collect();
        self.verdicts.clone_from(&notes.verdicts);
        self
    }
}

/// A heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Causes,
    Pinned,
    /// By the hypothesis at that place in the report.
    Explained(usize),
    Unexplained,
    Changes,
    Dismissed,
}

/// A row. Numbers are places in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    /// A heading with how many rows stand under it.
    Group(Group, usize),
    Hypothesis(usize),
    Finding(usize),
    /// What could not be decided: how many; opens and closes.
    UndecidedHead(usize),
    Undecided(usize),
}

impl Row {
    /// How tall it is, in points.
    pub(super) const fn height(self) -> f32 {
        match self {
            Self::Group(..) | Self::UndecidedHead(_) => theme::ROW,
            Self::Hypothesis(_) => 62.0,
            Self::Finding(_) => 40.0,
            Self::Undecided(_) => 52.0,
        }
    }
}

/// The rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Listing {
    pub(super) rows: Vec<Row>,
    /// Where each row begins, and where the last ends.
    pub(super) tops: Vec<f32>,
    /// Findings and hypotheses that fit the filter.
    pub(super) shown: usize,
    /// All of them that are not dismissed.
    pub(super) total: usize,
    /// How many were dismissed.
    pub(super) dismissed: usize,
    /// What each row picks, as long as `rows`.
    pub(super) picks: Vec<Selection>,
}

impl Listing {
    /// Makes it.
    pub(super) fn of(words: &Words, report: &Report, told: &Told, asked: &Asked) -> Self {
        let maker = Maker {
            words,
            report,
            told,
            asked,
            needles: asked
                .filter
                .to_lowercase()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
        };
        maker.listing()
    }

    /// The rows that lie between two heights.
    pub(super) fn between(&self, top: f32, bottom: f32) -> std::ops::Range<usize> {
        let from = self.tops.partition_point(|t| *t <= top).saturating_sub(1);
        let to = self.tops.partition_point(|t| *t < bottom);
        from..to.min(self.rows.len()).max(from)
    }

    /// How tall all rows are together.
    pub(super) fn height(&self) -> f32 {
        self.tops.last().copied().unwrap_or(0.0)
    }

    /// The place of what is picked.
    pub(super) fn place(&self, picked: &Selection) -> Option<usize> {
        if *picked == Selection::Nothing {
            return None;
        }
        self.picks.iter().position(|p| p == picked)
    }

    /// What stands `by` rows that can be picked after (before, if negative) the picked one; from nothing the first or last.
    pub(super) fn step(&self, picked: &Selection, by: isize) -> Option<Selection> {
        let can: Vec<&Selection> = self
            .picks
            .iter()
            .filter(|p| **p != Selection::Nothing)
            .collect();
        let last = can.len().checked_sub(1)?;
        let to = match can.iter().position(|p| *p == picked) {
            Some(at) => at.saturating_add_signed(by).min(last),
            None if by > 0 => 0,
            None => last,
        };
        can.get(to).map(|p| (*p).clone())
    }
}

struct Maker<'a> {
    words: &'a Words,
    report: &'a Report,
    told: &'a Told,
    asked: &'a Asked,
    needles: Vec<String>,
}

impl Maker<'_> {
    fn listing(&self) -> Listing {
        let report = self.report;
        let mut out = Listing::default();
        let is_dismissed = |id: &str| self.asked.dismissed.contains(id);
        let all = || {
            let hypotheses = report.hypotheses.iter().map(|h| h.id.as_str());
            hypotheses.chain(report.findings.iter().map(|f| f.id.as_str()))
        };
        out.dismissed = all().filter(|id| is_dismissed(id)).count();
        out.total = all().count() - out.dismissed;
        let mut hypotheses: Vec<usize> = (0..report.hypotheses.len()).collect();
        hypotheses.sort_by_key(|ix| self.rank(*ix));
        let fitting: Vec<usize> = hypotheses
            .iter()
            .copied()
            .filter(|ix| self.fits_hypothesis(*ix))
            .collect();
        let (away, here): (Vec<usize>, Vec<usize>) = fitting.into_iter().partition(|ix| {
            report
                .hypotheses
                .get(*ix)
                .is_some_and(|h| is_dismissed(&h.id))
        });
        self.group(
            &mut out,
            Group::Causes,
            here.into_iter().map(Row::Hypothesis).collect(),
        );
        let groups = self.findings(&hypotheses);
        let mut gone: Vec<Row> = away.into_iter().map(Row::Hypothesis).collect();
        for (group, rows) in groups {
            if group == Group::Dismissed {
                gone.extend(rows);
            } else {
                self.group(&mut out, group, rows);
            }
        }
        if self.asked.shows_dismissed {
            self.group(&mut out, Group::Dismissed, gone);
        }
        if self.needles.is_empty() && !report.not_enough.is_empty() {
            let n = report.not_enough.len();
            self.push(&mut out, Row::UndecidedHead(n));
            if self.asked.shows_undecided {
                for ix in 0..n {
                    self.push(&mut out, Row::Undecided(ix));
                }
            }
        }
        let mut top = 0.0;
        out.tops = std::iter::once(0.0)
            .chain(out.rows.iter().map(|row| {
                top += row.height();
                top
            }))
            .collect();
        out
    }

    /// A person's verdict first, then pins, then what the machine says.
    fn rank(&self, ix: usize) -> (u8, usize) {
        let Some(hypothesis) = self.report.hypotheses.get(ix) else {
            return (u8::MAX, ix);
        };
        let by_person = match self.asked.verdicts.get(&hypothesis.id) {
            Some(Verdict::Confirmed) => 0,
            Some(Verdict::Refuted) => 3,
            None if self.asked.pinned.contains(&hypothesis.id) => 1,
            None => 2,
        };
        (by_person, ix)
    }

    fn findings(&self, hypotheses: &[usize]) -> Vec<(Group, Vec<Row>)> {
        let mut explained: BTreeMap<&str, usize> = BTreeMap::new();
        for ix in hypotheses {
            let Some(hypothesis) = self.report.hypotheses.get(*ix) else {
                continue;
            };
            for id in &hypothesis.explains {
                explained.entry(id.as_str()).or_insert(*ix);
            }
        }
        let mut pinned = Vec::new();
        let mut by_hypothesis: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
        let (mut unexplained, mut changes, mut dismissed) = (Vec::new(), Vec::new(), Vec::new());
        for ix in self.order() {
            let Some(finding) = self.report.findings.get(ix) else {
                continue;
            };
            let row = Row::Finding(ix);
            if self.asked.dismissed.contains(&finding.id) {
                dismissed.push(row);
            } else if self.asked.pinned.contains(&finding.id) {
                pinned.push(row);
            } else if finding.kind == FindingKind::Change {
                changes.push(row);
            } else if let Some(by) = explained.get(finding.id.as_str()) {
                by_hypothesis.entry(*by).or_default().push(row);
            } else {
                unexplained.push(row);
            }
        }
        let mut groups = vec![(Group::Pinned, pinned)];
        groups.extend(
            hypotheses
                .iter()
                .filter_map(|ix| Some((Group::Explained(*ix), by_hypothesis.remove(ix)?))),
        );
        groups.push((Group::Unexplained, unexplained));
        groups.push((Group::Changes, changes));
        groups.push((Group::Dismissed, dismissed));
        groups
    }

    /// The findings that fit, in order.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.report.findings.len())
            .filter(|ix| self.fits_finding(*ix))
            .collect();
        let finding = |ix: &usize| self.report.findings.get(*ix);
        if self.asked.is_by_severity {
            order.sort_by_key(|ix| (std::cmp::Reverse(finding(ix).map(|f| f.severity)), *ix));
        } else {
            order.sort_by_key(|ix| (finding(ix).map(|f| f.start), *ix));
        }
        order
    }

    fn group(&self, out: &mut Listing, group: Group, rows: Vec<Row>) {
        if rows.is_empty() {
            return;
        }
        out.shown += rows.len();
        self.push(out, Row::Group(group, rows.len()));
        for row in rows {
            self.push(out, row);
        }
    }

    fn push(&self, out: &mut Listing, row: Row) {
        let report = self.report;
        out.rows.push(row);
        out.picks.push(match row {
            Row::Hypothesis(ix) => report
                .hypotheses
                .get(ix)
                .map_or(Selection::Nothing, |h| Selection::Hypothesis(h.id.clone())),
            Row::Finding(ix) => report
                .findings
                .get(ix)
                .map_or(Selection::Nothing, |f| Selection::Finding(f.id.clone())),
            Row::Group(..) | Row::UndecidedHead(_) | Row::Undecided(_) => Selection::Nothing,
        });
    }

    fn fits_hypothesis(&self, ix: usize) -> bool {
        if self.needles.is_empty() {
            return true;
        }
        let Some(hypothesis) = self.report.hypotheses.get(ix) else {
            return false;
        };
        let title = self
            .told
            .hypotheses
            .get(ix)
            .map_or("", |t| t.title.as_str());
        let hay = format!(
            "{title} {} {} {}",
            hypothesis.title,
            hypothesis.signature,
            hypothesis.entities.join(" ")
        );
        self.has_all(&hay)
    }

    fn fits_finding(&self, ix: usize) -> bool {
        if self.needles.is_empty() {
            return true;
        }
        let Some(finding) = self.report.findings.get(ix) else {
            return false;
        };
        let title = self.told.findings.get(ix).map_or("", String::as_str);
        self.has_all(&self.hay(finding, title))
    }

    fn hay(&self, finding: &Finding, title: &str) -> String {
        format!(
            "{title} {} {} {} {} {} {}",
            finding.title,
            finding.kind.word(),
            report_words::kind(self.words, finding.kind),
            report_words::severity(self.words, finding.severity),
            finding.cause.as_deref().unwrap_or(""),
            finding.entities.join(" ")
        )
    }

    fn has_all(&self, hay: &str) -> bool {
        let hay = hay.to_lowercase();
        self.needles.iter().all(|needle| hay.contains(needle))
    }
}

#[cfg(test)]
mod tests;
