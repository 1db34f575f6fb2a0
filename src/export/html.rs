//! The incident as one page that needs nothing else, with the timeline as a drawing in it.
//!
//! Readable, printable, light or dark as the reader's system is. Every word from an input is escaped ([`escaped`]); the page has no script and loads nothing.

mod drawing;

use crate::export::view::{View, plain};
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;
use crate::session::timeline::{Entry, weight_word};
use crate::words::report;

/// HTML: summary, drawing, causes, timeline, evidence, inputs.
pub struct Html;

impl Exporter for Html {
    fn id(&self) -> &'static str {
        "html"
    }

    fn title(&self) -> &'static str {
        "one page to read, to print and to send"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm"]
    }

    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError> {
        let view = View::of(material, options);
        let title = escaped(view.say("export-title"));
        let mut page = Page::default();
        let lang = options.lang.word();
        page.raw(&format!(
            "<!doctype html>\n<html lang=\"{lang}\">\n<head>\n<meta charset=\"utf-8\">\n"
        ));
        page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        page.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
        page.raw(&format!("<title>{title}</title>\n<style>\n"));
        page.raw(STYLE);
        page.raw("</style>\n</head>\n<body>\n<main>\n");
        page.raw(&format!("<h1>{title}</h1>\n"));
        head(&mut page, &view);
        drawing::svg(&mut page.out, &view);
        for hypothesis in view.hypotheses() {
            cause(&mut page, &view, hypothesis);
        }
        timeline(&mut page, &view);
        undecided(&mut page, &view);
        evidence(&mut page, &view);
        inputs(&mut page, &view);
        page.raw("</main>\n</body>\n</html>\n");
        Ok(page.out.into_bytes())
    }
}

/// Words as text of HTML, in an element or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// An id that can stand in an attribute and behind `#`.
fn anchor(id: &str) -> String {
    id.chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect()
}

#[derive(Debug, Default)]
struct Page {
    out: String,
}

impl Page {
    /// Markup of this file, never words of an input.
    fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// An element with words in it.
    fn element(&mut self, name: &str, text: &str) {
        self.raw(&format!("<{name}>{}</{name}>\n", escaped(text)));
    }

    fn list(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.element("h3", title);
        self.raw("<ul>\n");
        for item in items {
            self.raw(&format!("<li>{item}</li>\n"));
        }
        self.raw("</ul>\n");
    }
}

fn head(page: &mut Page, view: &View<'_>) {
    if let Some(text) = view.summary() {
        for paragraph in text.split("\n\n") {
            let lines: Vec<String> = paragraph.lines().map(escaped).collect();
            page.raw(&format!("<p class=\"own\">{}</p>\n", lines.join("<br>")));
        }
    }
    let headline = escaped(&view.headline());
    page.raw(&format!("<p class=\"headline\">{headline}</p>\n"));
    let facts = view.opening();
    let facts: Vec<String> = facts.iter().map(|f| escaped(f)).collect();
    page.raw(&format!("<p class=\"facts\">{}</p>\n", facts.join("<br>")));
}

fn cause(page: &mut Page, view: &View<'_>, hypothesis: &Hypothesis) {
    let told = view.told(hypothesis);
    page.element("h2", &view.cause_title(hypothesis));
    let facts = view.facts_of_cause(hypothesis, &hypothesis.onset.to_rfc3339());
    page.raw(&format!("<p class=\"facts\">{}</p>\n", escaped(&facts)));
    said(page, view, &hypothesis.id);
    let mut for_it: Vec<String> = view
        .explained(hypothesis)
        .iter()
        .map(|f| link(view, f))
        .collect();
    for_it.extend(told.support.iter().map(|s| escaped(s)));
    page.list(view.say("export-for"), &for_it);
    let changes: Vec<String> = hypothesis
        .changes
        .iter()
        .zip(&told.changes)
        .map(|(c, why)| {
            format!(
                "<time>{}</time> <b>{}</b> {} <span class=\"dim\">({})</span>",
                escaped(&c.at.to_rfc3339()),
                escaped(&report::role(view.words, c.role)),
                escaped(&view.change_title(&c.title)),
                escaped(why.trim_end_matches('.'))
            )
        })
        .collect();
    page.list(view.say("export-changes"), &changes);
    let mut against: Vec<String> = told.against.iter().map(|a| escaped(a)).collect();
    if against.is_empty() {
        against.push(view.say("export-no-against").to_owned());
    }
    page.list(view.say("export-against"), &against);
    let missing: Vec<String> = told.missing.iter().map(|m| escaped(m)).collect();
    page.list(view.say("export-missing"), &missing);
    let checks: Vec<String> = hypothesis
        .next_checks
        .iter()
        .zip(&told.next_checks)
        .map(|(c, text)| match &c.query {
            Some(query) => format!("{}<br><code>{}</code>", escaped(text), escaped(query)),
            None => escaped(text),
        })
        .collect();
    page.list(view.say("export-next"), &checks);
}

/// What a person said of a finding or hypothesis.
fn said(page: &mut Page, view: &View<'_>, id: &str) {
    if let Some(verdict) = view.verdict(id) {
        let word = view.say1("export-verdict", "word", view.verdict_word(verdict));
        page.raw(&format!("<p class=\"own\"><b>{}</b></p>\n", escaped(&word)));
    }
    if let Some(reason) = view.dismissed(id) {
        let reason = escaped(reason);
        page.raw(&format!(
            "<p class=\"own\"><b>{}</b>: {reason}</p>\n",
            view.say("export-dismissed-word")
        ));
    }
    if let Some(text) = view.comment(id) {
        let lines: Vec<String> = text.lines().map(escaped).collect();
        page.raw(&format!("<p class=\"own\">{}</p>\n", lines.join("<br>")));
    }
}

fn link<'a>(view: &View<'a>, finding: &'a Finding) -> String {
    format!(
        "<time>{}</time> <a href=\"#{}\">{}</a>",
        escaped(&finding.start.to_rfc3339()),
        anchor(&finding.id),
        escaped(view.title_of(finding))
    )
}

fn timeline(page: &mut Page, view: &View<'_>) {
    page.element("h2", view.say("export-timeline"));
    if view.timeline.is_empty() {
        page.element("p", view.say("export-timeline-none"));
        return;
    }
    table_head(
        page,
        view,
        &["export-from", "export-to", "export-severity", "export-what"],
    );
    for entry in &view.timeline {
        row(page, view, entry);
    }
    page.raw("</tbody>\n</table>\n");
}

/// The head of a table, each column by its key.
fn table_head(page: &mut Page, view: &View<'_>, keys: &[&'static str]) {
    page.raw("<table>\n<thead><tr>");
    for key in keys {
        page.raw(&format!("<th>{}</th>", escaped(view.say(key))));
    }
    page.raw("</tr></thead>\n<tbody>\n");
}

fn row(page: &mut Page, view: &View<'_>, entry: &Entry) {
    let end = entry.end.map(|t| t.to_rfc3339()).unwrap_or_default();
    let mut what = escaped(&entry.title);
    if let Some(id) = entry.finding() {
        what = format!("<a href=\"#{}\">{what}</a>", anchor(id));
    }
    if entry.is_change {
        what = format!("<b>{what}</b>");
    }
    if let Some(reason) = &entry.dismissed {
        let why = view.say1("export-dismissed", "reason", reason);
        what = format!("<s>{what}</s> ({})", escaped(&why));
    }
    if !entry.text.is_empty() {
        let lines: Vec<String> = entry.text.lines().map(escaped).collect();
        what = format!("{what}<div class=\"dim\">{}</div>", lines.join("<br>"));
    }
    if let Some(comment) = &entry.comment {
        what = format!("{what}<div class=\"own\">{}</div>", escaped(comment));
    }
    let weight = entry.weight();
    let word = escaped(&weight_word(view.words, entry));
    page.raw(&format!(
        "<tr><td><time>{}</time></td><td><time>{}</time></td><td class=\"{weight}\">{word}</td><td>{what}</td></tr>\n",
        escaped(&entry.start.to_rfc3339()),
        escaped(&end)
    ));
}

fn undecided(page: &mut Page, view: &View<'_>) {
    let lacks: Vec<String> = view
        .undecided()
        .iter()
        .map(|(detector, reason)| {
            format!("<code>{}</code>: {}", escaped(detector), escaped(reason))
        })
        .collect();
    if !lacks.is_empty() {
        page.element("h2", view.say("export-undecided"));
        page.raw("<ul>\n");
        for lack in lacks {
            page.raw(&format!("<li>{lack}</li>\n"));
        }
        page.raw("</ul>\n");
    }
}

fn evidence(page: &mut Page, view: &View<'_>) {
    if view.report.findings.is_empty() {
        return;
    }
    page.element("h2", view.say("export-evidence"));
    for finding in &view.report.findings {
        page.raw(&format!("<section id=\"{}\">\n", anchor(&finding.id)));
        page.element("h3", view.title_of(finding));
        let facts = view.facts_of(finding);
        page.raw(&format!("<p class=\"facts\">{}</p>\n", escaped(&facts)));
        page.element("p", &view.detail(finding));
        said(page, view, &finding.id);
        page.raw("<ul>\n");
        for evidence in &finding.evidence {
            page.raw(&format!(
                "<li><code>{}</code>: <code>{}</code></li>\n",
                escaped(&view.place(evidence)),
                escaped(&view.quote(evidence))
            ));
        }
        page.raw("</ul>\n</section>\n");
    }
}

fn inputs(page: &mut Page, view: &View<'_>) {
    page.element("h2", view.say("export-inputs"));
    table_head(
        page,
        view,
        &[
            "export-path",
            "export-format",
            "export-from",
            "export-to",
            "export-remarks",
        ],
    );
    for input in &view.report.inputs {
        let time =
            |t: Option<crate::base::time::Timestamp>| t.map(|t| t.to_rfc3339()).unwrap_or_default();
        let mut remarks: Vec<String> = input
            .warnings
            .iter()
            .take(3)
            .map(|w| {
                let lost = view.say("export-lost");
                let lost = w.lossy.then(|| format!("<b>{lost}</b>: "));
                format!("{}{}", lost.unwrap_or_default(), escaped(&view.warning(w)))
            })
            .collect();
        if input.warnings.len() > 3 {
            remarks.push(view.count("export-more-remarks", input.warnings.len() - 3));
        }
        page.raw(&format!(
            "<tr><td><code>{}</code></td><td>{}</td><td><time>{}</time></td><td><time>{}</time></td><td>{}</td></tr>\n",
            escaped(&input.path),
            escaped(&input.format),
            time(input.start),
            time(input.end),
            remarks.join("<br>")
        ));
    }
    page.raw("</tbody>\n</table>\n");
}

/// Contrast of text is at least 4.5 to 1 on both grounds.
const STYLE: &str = ":root{color-scheme:light dark;--ground:#fff;--text:#171c23;--dim:#47515e;--line:#cdd4dd;--raised:#f5f7f9;--link:#0b5cb5;--info:#5e6f82;--minor:#867000;--major:#c05200;--critical:#b6123f;--note:#0b5cb5}
@media (prefers-color-scheme:dark){:root{--ground:#0f1216;--text:#e6e9ee;--dim:#aeb6c2;--line:#2e3641;--raised:#161a20;--link:#6cb2ff;--info:#8fa3ba;--minor:#e8cf6a;--major:#ff9f45;--critical:#ff5e7a;--note:#6cb2ff}}
@media print{:root{color-scheme:light;--ground:#fff;--text:#000;--dim:#333;--line:#bbb;--raised:#fff;--link:#000}section,tr,svg{break-inside:avoid}h2,h3{break-after:avoid}}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:32px 24px}
h1{font-size:24px;margin:0 0 16px}h2{font-size:18px;margin:32px 0 8px;border-top:1px solid var(--line);padding-top:16px}h3{font-size:15px;margin:16px 0 4px}
p,ul{margin:4px 0 8px}ul{padding-left:20px}a{color:var(--link)}
.headline{font-size:17px;font-weight:600}.facts,.dim{color:var(--dim);font-size:13px}
.own{border-left:3px solid var(--link);padding-left:8px}
table{border-collapse:collapse;width:100%;font-size:13px}th,td{text-align:left;vertical-align:top;padding:4px 8px;border-bottom:1px solid var(--line)}th{color:var(--dim);font-weight:500}
code,time{font:12px/1.5 ui-monospace,monospace}code{background:var(--raised);overflow-wrap:anywhere}time{white-space:nowrap}
td.info{color:var(--info)}td.minor{color:var(--minor)}td.major{color:var(--major)}td.critical{color:var(--critical)}td.note{color:var(--note)}
svg{width:100%;height:auto;background:var(--raised);border:1px solid var(--line);margin:8px 0}
svg text{fill:var(--dim);font:11px ui-monospace,monospace}svg .grid{stroke:var(--line)}
svg .info{fill:var(--info)}svg .minor{fill:var(--minor)}svg .major{fill:var(--major)}svg .critical{fill:var(--critical)}svg .note{fill:var(--note)}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::export::testing::Example;
    use crate::session::notes::{Notes, OwnEvent};

    fn page(example: &Example, notes: Option<&Notes>) -> String {
        let material = Material {
            notes,
            ..example.material()
        };
        String::from_utf8(Html.write(&material, &Options::default()).unwrap()).unwrap()
    }

    #[test]
    fn holds_summary_drawing_causes_timeline_and_evidence() {
        let example = Example::new();
        let out = page(&example, None);
        for part in [
            "<h1>Incident timeline</h1>",
            "Most likely cause: the metrics lock",
            "<svg",
            "<h3>Against it</h3>",
            "<code>sum(rate(x[5m]))</code>",
            "<h2>Timeline</h2>",
            "<h2>Evidence</h2>",
        ] {
            assert!(out.contains(part), "{part} in\n{out}");
        }
        let gap = &example.report.findings[0];
        assert!(out.contains(&format!("href=\"#{}\"", gap.id)));
        assert!(out.contains(&format!("id=\"{}\"", gap.id)));
    }

    #[test]
    fn no_word_of_an_input_or_a_person_becomes_markup() {
        let hostile = "\"><script>alert('x')</script>\u{202e}&lt;";
        let mut example = Example::new();
        example.report.findings[0].title = hostile.to_owned();
        example.report.findings[0].detail = hostile.to_owned();
        example.report.findings[0].evidence[0].quote = hostile.to_owned();
        example.report.timeline[0].title = hostile.to_owned();
        example.report.hypotheses[0].title = hostile.to_owned();
        example.report.inputs[0].path = hostile.to_owned();
        let mut notes = Notes {
            summary: hostile.to_owned(),
            ..Notes::default()
        };
        notes.events.push(OwnEvent {
            start: Timestamp::from_nanos(0),
            end: None,
            title: hostile.to_owned(),
            text: hostile.to_owned(),
        });
        let out = page(&example, Some(&notes));
        assert!(!out.contains("<script"), "{out}");
        assert!(!out.contains('\u{202e}'));
        assert!(out.contains("&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)"));
        assert!(out.contains("&amp;lt;"));
    }

    #[test]
    fn every_element_that_is_opened_is_closed() {
        let out = page(&Example::new(), Some(&Notes::default()));
        for name in [
            "main", "table", "tbody", "tr", "td", "ul", "li", "section", "svg", "g", "p",
        ] {
            let opened = out.matches(&format!("<{name}>")).count()
                + out.matches(&format!("<{name} ")).count();
            assert_eq!(opened, out.matches(&format!("</{name}>")).count(), "{name}");
        }
    }
}
