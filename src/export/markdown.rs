//! A first timeline for the post-mortem, as Markdown (`CommonMark` with the tables of GitHub).

use crate::export::view::{View, plain};
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::finding::Finding;
use crate::model::hypothesis::Hypothesis;
use crate::session::timeline::weight_word;
use crate::words::report;

/// Markdown: summary, causes, timeline, evidence, inputs. Everything is in it.
pub struct Markdown;

impl Exporter for Markdown {
    fn id(&self) -> &'static str {
        "md"
    }

    fn title(&self) -> &'static str {
        "a first timeline for the post-mortem"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown"]
    }

    fn write(&self, material: &Material<'_>, options: &Options) -> Result<Vec<u8>, ExportError> {
        let view = View::of(material, options);
        let mut out = String::new();
        push(&mut out, &format!("# {}\n", view.say("export-title")));
        summary(&mut out, &view);
        for hypothesis in view.hypotheses() {
            hypothesis_section(&mut out, &view, hypothesis);
        }
        timeline(&mut out, &view);
        undecided(&mut out, &view);
        evidence(&mut out, &view);
        inputs(&mut out, &view);
        Ok(out.into_bytes())
    }
}

/// Words from inputs, so that they stay words: Markdown's own signs and HTML are escaped (`CommonMark` §2.4).
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            // Parentheses make no link while the brackets before them are escaped.
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '#' | '+' | '|' | '~' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            _ => out.push(c),
        }
    }
    out
}

/// Code in a line: fenced by more backticks than stand in it.
fn code(text: &str) -> String {
    let text = plain(text);
    let longest = text
        .split(|c| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// As [`code`], for a cell of a table, where a bar would end it even in code.
fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

fn push(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// What a person wrote is Markdown already; only HTML is taken out of it.
fn own_words(text: &str) -> String {
    text.lines()
        .map(|line| plain(line).replace('<', "&lt;"))
        .collect::<Vec<_>>()
        .join("\n")
}

fn summary(out: &mut String, view: &View<'_>) {
    if let Some(text) = view.summary() {
        push(out, &format!("{}\n", own_words(text)));
    }
    push(out, &format!("**{}**\n", escaped(&view.headline())));
    for fact in view.opening() {
        push(out, &format!("- {}", escaped(&fact)));
    }
}

fn hypothesis_section(out: &mut String, view: &View<'_>, hypothesis: &Hypothesis) {
    let told = view.told(hypothesis);
    let title = view.cause_title(hypothesis);
    push(out, &format!("\n## {}\n", escaped(&title)));
    let facts = view.facts_of_cause(hypothesis, &hypothesis.onset.to_rfc3339());
    let signature = code(&hypothesis.signature);
    push(out, &format!("{} ({signature}).", escaped(&facts)));
    said(out, view, &hypothesis.id);
    head(out, view, "export-for");
    for finding in view.explained(hypothesis) {
        let title = escaped(view.title_of(finding));
        let link = link(view, finding);
        push(out, &format!("- {} {title} ({link})", finding.start));
    }
    for (support, text) in hypothesis.support.iter().zip(&told.support) {
        let places: Vec<String> = support
            .evidence
            .iter()
            .map(|e| code(&view.place(e)))
            .collect();
        let places = if places.is_empty() {
            String::new()
        } else {
            format!(" ({})", places.join(", "))
        };
        push(out, &format!("- {}{places}", escaped(text)));
    }
    if !hypothesis.changes.is_empty() {
        head(out, view, "export-changes");
        for (change, why) in hypothesis.changes.iter().zip(&told.changes) {
            let role = report::role(view.words, change.role);
            let title = escaped(&view.change_title(&change.title));
            let why = escaped(why.trim_end_matches('.'));
            push(out, &format!("- {} **{role}**: {title} ({why})", change.at));
        }
    }
    head(out, view, "export-against");
    if told.against.is_empty() {
        push(out, &format!("- {}", view.say("export-no-against")));
    }
    items(out, &told.against);
    if !told.missing.is_empty() {
        head(out, view, "export-missing");
        items(out, &told.missing);
    }
    if !hypothesis.next_checks.is_empty() {
        head(out, view, "export-next");
        for (check, text) in hypothesis.next_checks.iter().zip(&told.next_checks) {
            push(out, &format!("- {}", escaped(text)));
            if let Some(query) = &check.query {
                push(out, &format!("  {}", code(query)));
            }
        }
    }
}

/// A heading within a cause.
fn head(out: &mut String, view: &View<'_>, key: &'static str) {
    push(out, &format!("\n**{}**\n", view.say(key)));
}

fn items(out: &mut String, items: &[String]) {
    for item in items {
        push(out, &format!("- {}", escaped(item)));
    }
}

/// What a person said of a finding or hypothesis.
fn said(out: &mut String, view: &View<'_>, id: &str) {
    if let Some(verdict) = view.verdict(id) {
        let verdict = view.say1("export-verdict", "word", view.verdict_word(verdict));
        push(out, &format!("\n**{verdict}**"));
    }
    if let Some(reason) = view.dismissed(id) {
        let word = view.say("export-dismissed-word");
        push(out, &format!("\n**{word}**: {}", escaped(reason)));
    }
    if let Some(text) = view.comment(id) {
        push(
            out,
            &format!("\n> {}", own_words(text).replace('\n', "\n> ")),
        );
    }
}

fn link(view: &View<'_>, finding: &Finding) -> String {
    format!("[{}](#{})", view.say("export-evidence-link"), finding.id)
}

fn timeline(out: &mut String, view: &View<'_>) {
    push(out, &format!("\n## {}\n", view.say("export-timeline")));
    if view.timeline.is_empty() {
        push(out, view.say("export-timeline-none"));
        return;
    }
    let columns = ["export-from", "export-to", "export-severity", "export-what"];
    table_head(out, view, &columns);
    for entry in &view.timeline {
        let end = entry.end.map_or_else(String::new, |t| t.to_rfc3339());
        let mut title = if entry.is_change {
            format!("**{}**", escaped(&entry.title))
        } else {
            escaped(&entry.title)
        };
        if let Some(reason) = &entry.dismissed {
            let why = view.say1("export-dismissed", "reason", &escaped(reason));
            title = format!("~~{title}~~ ({why})");
        }
        if !entry.text.is_empty() {
            title = format!("{title}: {}", escaped(&entry.text));
        }
        if let Some(comment) = &entry.comment {
            let note = view.say1("export-note", "text", &escaped(comment));
            title = format!("{title} ({note})");
        }
        let weight = weight_word(view.words, entry);
        push(
            out,
            &format!("| {} | {end} | {weight} | {title} |", entry.start),
        );
    }
}

/// The head of a table, each column by its key.
fn table_head(out: &mut String, view: &View<'_>, keys: &[&'static str]) {
    let names: Vec<&str> = keys.iter().map(|key| view.say(key)).collect();
    push(out, &format!("| {} |", names.join(" | ")));
    push(out, &format!("|{}", "---|".repeat(names.len())));
}

fn undecided(out: &mut String, view: &View<'_>) {
    if view.report.not_enough.is_empty() {
        return;
    }
    push(out, &format!("\n## {}\n", view.say("export-undecided")));
    for (detector, reason) in view.undecided() {
        push(out, &format!("- {}: {}", code(&detector), escaped(reason)));
    }
}

fn evidence(out: &mut String, view: &View<'_>) {
    if view.report.findings.is_empty() {
        return;
    }
    push(out, &format!("\n## {}", view.say("export-evidence")));
    for finding in &view.report.findings {
        // The anchor is the finding's id, so that links survive a changed title.
        push(
            out,
            &format!(
                "\n<a id=\"{}\"></a>\n\n### {}\n",
                escaped_attribute(&finding.id),
                escaped(view.title_of(finding))
            ),
        );
        push(out, &format!("{}\n", escaped(&view.facts_of(finding))));
        push(out, &format!("{}\n", escaped(&view.detail(finding))));
        said(out, view, &finding.id);
        for evidence in &finding.evidence {
            push(
                out,
                &format!(
                    "- {}: {}",
                    code(&view.place(evidence)),
                    code(&view.quote(evidence))
                ),
            );
        }
    }
}

fn escaped_attribute(id: &str) -> String {
    id.chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '-')
        .collect()
}

fn inputs(out: &mut String, view: &View<'_>) {
    push(out, &format!("\n## {}\n", view.say("export-inputs")));
    push(out, &format!("{}.\n", view.inputs_line()));
    let columns = [
        "export-path",
        "export-format",
        "export-from",
        "export-to",
        "export-remarks",
    ];
    table_head(out, view, &columns);
    for input in &view.report.inputs {
        let mut remarks: Vec<String> = input
            .warnings
            .iter()
            .take(3)
            .map(|w| {
                let lost = view.say("export-lost");
                let lost = w.lossy.then(|| format!("**{lost}**: "));
                format!("{}{}", lost.unwrap_or_default(), escaped(&view.warning(w)))
            })
            .collect();
        if input.warnings.len() > 3 {
            remarks.push(view.count("export-more-remarks", input.warnings.len() - 3));
        }
        push(
            out,
            &format!(
                "| {} | {} | {} | {} | {} |",
                code_cell(&input.path),
                input.format,
                input.start.map_or_else(String::new, |t| t.to_rfc3339()),
                input.end.map_or_else(String::new, |t| t.to_rfc3339()),
                remarks.join("; ")
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::testing::Example;

    #[test]
    fn holds_summary_causes_timeline_and_evidence() {
        let example = Example::new();
        let bytes = Markdown
            .write(&example.material(), &Options::default())
            .unwrap();
        let out = String::from_utf8(bytes).unwrap();
        for part in [
            "# Incident timeline",
            "**Most likely cause: the metrics lock",
            "## Cause 1",
            "**Against it**",
            "`sum(rate(x[5m]))`",
            "## Timeline",
            "| from (UTC) |",
            "## Evidence",
            "## Inputs",
        ] {
            assert!(out.contains(part), "{part} in\n{out}");
        }
        let gap = &example.report.findings[0];
        assert!(out.contains(&format!("(#{})", gap.id)));
        assert!(out.contains(&format!("<a id=\"{}\">", gap.id)));
    }

    #[test]
    fn words_from_inputs_stay_words() {
        assert_eq!(
            escaped("a|b <img src=x> *x* [y](z)"),
            "a\\|b &lt;img src=x&gt; \\*x\\* \\[y\\](z)"
        );
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code_cell("a|b"), "`a\\|b`");
        assert_eq!(escaped("line\n# head"), "line \\# head");
    }

    #[test]
    fn carries_what_a_person_said() {
        let example = Example::new();
        let notes = example.notes();
        let write = |material: &Material<'_>| {
            let bytes = Markdown.write(material, &Options::default()).unwrap();
            String::from_utf8(bytes).unwrap()
        };
        let out = write(&example.noted(&notes));
        for part in [
            "# Incident timeline\n\nThe *metrics* lock.\nFixed by &lt;b>patch&lt;/b>.\n\n**Cause, confirmed: ",
            "**Verdict: confirmed**",
            "| 2026-11-30T14:31:00Z | 2026-11-30T14:32:00Z | note | called the team, on the phone: they knew \\| nothing |",
            "| critical | metrics were gone (note: seen by all) |",
            "> seen by all",
        ] {
            assert!(out.contains(part), "{part} in\n{out}");
        }
        assert!(!out.contains("| info | **load"), "{out}");
    }
}
