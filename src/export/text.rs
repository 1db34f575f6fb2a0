//! The report for a terminal, to be read in one minute.

use crate::base::text::{columns, shorten};
use crate::base::time::Timestamp;
use crate::correlate::ENOUGH;
use crate::export::view::{View, plain, when, wrap};
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::finding::{Finding, Severity};
use crate::model::hypothesis::Hypothesis;
use crate::session::timeline::{Entry, Origin, weight_word};
use crate::words::report;

/// Plain text, wrapped, with colours on a terminal.
pub struct Text;

/// Hypotheses that are told in full; the others get one line each.
const IN_FULL: usize = 3;
/// Findings that are told for each hypothesis.
const FINDINGS_SHOWN: usize = 8;
/// Lines of the timeline. What is left out is counted, the mildest first.
const TIMELINE_SHOWN: usize = 40;

/// Columns of the word that says how bad something is.
const SEVERITY_COLUMNS: usize = 9;
/// Columns of how long something lasted.
const LASTING_COLUMNS: usize = 11;

/// Losses of inputs that are told; a folder of a hundred broken files is not read in a minute.
const LOSSES_SHOWN: usize = 8;

impl Exporter for Text {
    fn id(&self) -> &'static str {
        "text"
    }

    fn title(&self) -> &'static str {
        "for a terminal, read in one minute"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["txt"]
    }

    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError> {
        let view = View::of(material, options);
        let mut page = Page {
            is_one_day: view.is_one_day(),
            view,
            width: options.width.clamp(60, 160),
            colour: options.colour,
            out: String::new(),
        };
        page.head();
        page.hypotheses();
        page.unexplained();
        page.missing();
        page.timeline();
        page.inputs();
        Ok(page.out.into_bytes())
    }
}

struct Page<'a> {
    view: View<'a>,
    is_one_day: bool,
    width: usize,
    colour: bool,
    out: String,
}

/// Escape sequences (ECMA-48, SGR).
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const OFF: &str = "\x1b[0m";

fn sgr_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "\x1b[1;31m",
        Severity::Major => "\x1b[31m",
        Severity::Minor => "\x1b[33m",
        Severity::Info => DIM,
    }
}

impl<'a> Page<'a> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn wrapped(&mut self, text: &str, first: &str, rest: &str) {
        let lines = wrap(text, self.width, first, rest);
        self.out.push_str(&lines);
    }

    fn painted(&self, text: &str, sgr: &str) -> String {
        if self.colour {
            format!("{sgr}{text}{OFF}")
        } else {
            text.to_owned()
        }
    }

    fn title(&mut self, text: &str) {
        self.out.push('\n');
        self.bold(text, "", "   ");
    }

    /// Each line on its own, so that a pager which shows one line at a time keeps the weight.
    fn bold(&mut self, text: &str, first: &str, rest: &str) {
        for line in wrap(text, self.width, first, rest).lines() {
            let line = self.painted(line, BOLD);
            self.line(&line);
        }
    }

    fn head(&mut self) {
        if let Some(text) = self.view.summary() {
            for line in text.lines() {
                self.wrapped(line, "", "");
            }
            self.line("");
        }
        let headline = self.view.headline();
        self.bold(&headline, "", "");
        let window = self.view.window();
        let facts = self.view.say1("export-window-fact", "window", &window);
        self.wrapped(&facts, "", "");
        if self.view.report.partial {
            let word = self.view.say("export-partial-word");
            let text = format!("{word}: {}", self.view.say("export-partial-long"));
            self.wrapped(&text, "", "");
        }
    }

    fn hypotheses(&mut self) {
        let all = self.view.hypotheses();
        let sure = all.iter().filter(|h| h.score >= ENOUGH).count();
        let in_full = sure.clamp(1, IN_FULL);
        for hypothesis in all.iter().copied().take(in_full) {
            self.hypothesis(hypothesis);
        }
        if all.len() > in_full {
            self.title(self.view.say("export-weaker"));
            for hypothesis in all.iter().skip(in_full) {
                let text = self.view.words.with(
                    "export-weaker-one",
                    &[
                        ("title", (&self.view.told(hypothesis).title).into()),
                        ("score", (&format!("{:.2}", hypothesis.score)).into()),
                    ],
                );
                self.wrapped(&text, &format!("{:>3}. ", hypothesis.rank), "     ");
            }
        }
    }

    fn hypothesis(&mut self, hypothesis: &'a Hypothesis) {
        let told = self.view.told(hypothesis);
        self.title(&format!("{}. {}", hypothesis.rank, plain(&told.title)));
        let since = self.when(hypothesis.onset);
        let facts = self.view.facts_of_cause(hypothesis, &since);
        self.wrapped(&facts, "   ", "   ");
        self.said(&hypothesis.id);
        let explained = self.view.explained(hypothesis);
        self.label(self.view.say("export-label-explains"));
        let shown = varied(&explained, FINDINGS_SHOWN);
        for finding in &shown {
            self.finding(finding);
        }
        if explained.len() > shown.len() {
            let more = explained.len() - shown.len();
            let text = self.view.count("export-more", more);
            self.wrapped(&text, "     ", "     ");
        }
        self.list("export-label-support", &told.support, "");
        if !hypothesis.changes.is_empty() {
            self.label(self.view.say("export-label-changes"));
            for (change, why) in hypothesis.changes.iter().zip(&told.changes) {
                let text = format!(
                    "{} {}: {} ({})",
                    self.when(change.at),
                    report::role(self.view.words, change.role),
                    self.view.change_title(&change.title),
                    why.trim_end_matches('.')
                );
                self.wrapped(&text, "     ", "       ");
            }
        }
        self.list("export-label-against", &told.against, "export-no-against");
        self.list("export-label-missing", &told.missing, "");
        if !hypothesis.next_checks.is_empty() {
            self.label(self.view.say("export-label-next"));
            for (check, text) in hypothesis.next_checks.iter().zip(&told.next_checks) {
                self.wrapped(text, "     - ", "       ");
                if let Some(query) = &check.query {
                    let query = plain(query);
                    self.line(&format!("         {query}"));
                }
            }
        }
    }

    /// What a person said of a finding or hypothesis.
    fn said(&mut self, id: &str) {
        let view = &self.view;
        let verdict = view
            .verdict(id)
            .map(|v| view.say1("export-label-verdict", "word", view.verdict_word(v)));
        let dismissed = view
            .dismissed(id)
            .map(|r| view.say1("export-dismissed", "reason", r));
        let comment = view
            .comment(id)
            .map(|c| view.say1("export-note", "text", c));
        for text in [verdict, dismissed, comment].into_iter().flatten() {
            self.wrapped(&text, "   ", "   ");
        }
    }

    fn label(&mut self, text: &str) {
        let text = self.painted(text, DIM);
        self.line(&format!("   {text}"));
    }

    /// Items under a label; both words are keys.
    fn list(&mut self, label: &'static str, items: &[String], none: &'static str) {
        if items.is_empty() && none.is_empty() {
            return;
        }
        self.label(self.view.say(label));
        if items.is_empty() {
            self.wrapped(self.view.say(none), "     - ", "       ");
        }
        for item in items {
            self.wrapped(item, "     - ", "       ");
        }
    }

    /// One finding: when, how bad, what, and where it can be seen.
    fn finding(&mut self, finding: &'a Finding) {
        let severity = self.severity(finding.severity);
        let when = self.when(finding.start);
        let rest = " ".repeat(5 + columns(&when) + 1 + SEVERITY_COLUMNS);
        let first = format!("     {when} {severity}");
        // Escape sequences take no room, so the text is wrapped for the plain width.
        let plain_first = " ".repeat(rest.chars().count());
        let title = self.view.title_of(finding).to_owned();
        let lines = wrap(&title, self.width, &plain_first, &rest);
        let lines = lines.get(plain_first.len()..).unwrap_or("").to_owned();
        self.out.push_str(&first);
        self.out.push_str(&lines);
        if let Some(evidence) = finding.evidence.first() {
            let mut place = self.view.place(evidence);
            if finding.evidence.len() > 1 {
                let more = (finding.evidence.len() - 1).to_string();
                place = self.view.words.with(
                    "export-more-places",
                    &[("place", (&place).into()), ("n", (&more).into())],
                );
            }
            let room = self.width.saturating_sub(rest.chars().count()).max(24);
            let place = self.painted(&shorten(&place, room), DIM);
            self.line(&format!("{rest}{place}"));
        }
    }

    /// The word, filled to nine columns.
    fn severity(&self, severity: Severity) -> String {
        let word = report::severity(self.view.words, severity);
        let fill = filled(&word, SEVERITY_COLUMNS);
        format!("{}{fill}", self.painted(&word, sgr_of(severity)))
    }

    fn when(&self, t: Timestamp) -> String {
        when(t, self.is_one_day)
    }

    fn unexplained(&mut self) {
        let all = self.view.unexplained();
        if all.is_empty() {
            return;
        }
        self.title(self.view.say("export-unexplained"));
        for finding in all.iter().take(FINDINGS_SHOWN) {
            self.finding(finding);
        }
        if all.len() > FINDINGS_SHOWN {
            let text = self.view.count("export-more", all.len() - FINDINGS_SHOWN);
            self.wrapped(&text, "     ", "     ");
        }
    }

    fn missing(&mut self) {
        let all: Vec<String> = self
            .view
            .undecided()
            .iter()
            .map(|(detector, reason)| format!("{detector}: {reason}"))
            .collect();
        if all.is_empty() {
            return;
        }
        self.title(self.view.say("export-undecided"));
        for text in all {
            self.wrapped(&text, "   - ", "     ");
        }
    }

    fn timeline(&mut self) {
        let all = std::mem::take(&mut self.view.timeline);
        if all.is_empty() {
            return;
        }
        self.title(self.view.say("export-timeline-utc"));
        let mut shown: Vec<(usize, &Entry)> = all.iter().enumerate().collect();
        // The mildest go first; changes always stay, since they are what people look for, and so does what people wrote.
        shown.sort_by_key(|(_, e)| {
            let stays = e.is_change || matches!(e.origin, Origin::Own(_));
            std::cmp::Reverse((stays, e.severity))
        });
        let left_out = shown.len().saturating_sub(TIMELINE_SHOWN);
        shown.truncate(TIMELINE_SHOWN);
        shown.sort_by_key(|(at, _)| *at);
        for (_, entry) in shown {
            self.entry(entry);
        }
        if left_out > 0 {
            let text = self.view.count("export-less", left_out);
            self.wrapped(&text, "   ", "   ");
        }
    }

    fn entry(&mut self, entry: &Entry) {
        let when = self.when(entry.start);
        let severity = match entry.origin {
            Origin::Own(_) => {
                let word = weight_word(self.view.words, entry);
                format!("{word}{}", filled(&word, SEVERITY_COLUMNS))
            }
            Origin::Report(_) | Origin::Event(_) => self.severity(entry.severity),
        };
        let lasting = entry
            .end
            .filter(|end| *end > entry.start)
            .map(|end| {
                let secs = end.secs_since(entry.start);
                self.view.words.units().secs(secs)
            })
            .unwrap_or_default();
        let clock = if self.is_one_day { 12 } else { 23 };
        let fill = filled(&lasting, LASTING_COLUMNS);
        let before = format!("   {when:<clock$} {fill}{lasting}  ");
        let rest = " ".repeat(columns(&before) + SEVERITY_COLUMNS);
        let lines = wrap(&entry.title, self.width, &rest, &rest);
        let lines = lines.get(rest.len()..).unwrap_or("").to_owned();
        self.out.push_str(&before);
        self.out.push_str(&severity);
        self.out.push_str(&lines);
        let view = &self.view;
        let dismissed = entry.dismissed.as_deref();
        let dismissed = dismissed.map(|r| view.say1("export-dismissed", "reason", r));
        let comment = entry.comment.as_deref();
        let comment = comment.map(|c| view.say1("export-note", "text", c));
        let text = Some(entry.text.clone()).filter(|t| !t.is_empty());
        for more in [text, dismissed, comment].into_iter().flatten() {
            self.wrapped(&more, &rest, &rest);
        }
    }

    fn inputs(&mut self) {
        self.title(self.view.say("export-inputs"));
        let line = self.view.inputs_line();
        self.wrapped(&line, "   ", "   ");
        let damaged = self.view.damaged();
        let losses: Vec<String> = damaged
            .iter()
            .flat_map(|i| i.warnings.iter().filter(|w| w.lossy).map(move |w| (i, w)))
            .map(|(input, warning)| format!("{}: {}", input.path, self.view.warning(warning)))
            .collect();
        for text in losses.iter().take(LOSSES_SHOWN) {
            self.wrapped(text, "   ! ", "     ");
        }
        if losses.len() > LOSSES_SHOWN {
            let more = losses.len() - LOSSES_SHOWN;
            let text = self.view.count("export-more-losses", more);
            self.wrapped(&text, "   ! ", "     ");
        }
        let remarkable = self.view.remarkable().len();
        if remarkable > 0 {
            let text = self.view.count("export-remarked", remarkable);
            self.wrapped(&text, "   ", "   ");
        }
    }
}

/// What fills a text up to so many columns.
fn filled(text: &str, to: usize) -> String {
    " ".repeat(to.saturating_sub(columns(text)))
}

/// At most `most` findings, in order of time: the most severe of each kind, then the next of each, so that ten dumps of
/// one lock do not hide the gap that they explain.
fn varied<'a>(findings: &[&'a Finding], most: usize) -> Vec<&'a Finding> {
    let mut by_weight = findings.to_vec();
    by_weight.sort_by_key(|f| (f.kind, std::cmp::Reverse(f.severity)));
    let mut turns: Vec<(usize, std::cmp::Reverse<Severity>, &Finding)> = by_weight
        .chunk_by(|a, b| a.kind == b.kind)
        .flat_map(|of_kind| of_kind.iter().enumerate())
        .map(|(turn, finding)| (turn, std::cmp::Reverse(finding.severity), *finding))
        .collect();
    turns.sort_by_key(|(turn, severity, finding)| (*turn, *severity, finding.start));
    let mut shown: Vec<&Finding> = turns.into_iter().take(most).map(|(_, _, f)| f).collect();
    shown.sort_by(|a, b| (a.start, a.kind, &a.id).cmp(&(b.start, b.kind, &b.id)));
    shown
}

#[cfg(test)]
mod tests;
