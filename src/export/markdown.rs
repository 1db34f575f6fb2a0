//! A first timeline for the post-mortem, as Markdown (`CommonMark` with the tables of GitHub).

use crate::base::text::{count, join_and};
use crate::export::view::{View, names, plain};
use crate::export::{ExportError, Exporter, Material, Options};
use crate::model::finding::{Finding, Severity};
use crate::model::hypothesis::Hypothesis;

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

    fn write(&self, material: &Material<'_>, _: &Options) -> Result<Vec<u8>, ExportError> {
        let view = View::of(material);
        let mut out = String::new();
        out.push_str("# Incident timeline\n\n");
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
    push(out, &format!("- Window: {}", view.window()));
    let affected: Vec<String> = view
        .hypotheses()
        .first()
        .map(|h| h.entities.iter().map(|e| code(e)).collect())
        .unwrap_or_default();
    if !affected.is_empty() {
        push(out, &format!("- Concerned: {}", affected.join(", ")));
    }
    let by_severity: Vec<String> = [
        Severity::Critical,
        Severity::Major,
        Severity::Minor,
        Severity::Info,
    ]
    .into_iter()
    .filter_map(|severity| {
        let n = view
            .report
            .findings
            .iter()
            .filter(|f| f.severity == severity)
            .count();
        (n > 0).then(|| format!("{n} {}", severity.word()))
    })
    .collect();
    if !by_severity.is_empty() {
        push(out, &format!("- Findings: {}", join_and(&by_severity)));
    }
    if view.report.partial {
        push(
            out,
            "- **Partial**: an input could not be read whole; see Inputs",
        );
    }
    let generator = &view.report.generator;
    let stamp = view
        .report
        .generated_at
        .map(|t| format!(" at {t}"))
        .unwrap_or_default();
    push(
        out,
        &format!(
            "- Written by {} {}{stamp}",
            generator.name, generator.version
        ),
    );
}

fn hypothesis_section(out: &mut String, view: &View<'_>, hypothesis: &Hypothesis) {
    push(
        out,
        &format!(
            "\n## Cause {}: {}\n",
            hypothesis.rank,
            escaped(&hypothesis.title)
        ),
    );
    push(
        out,
        &format!(
            "Score {:.2}; explains {:.0} % of what was found; since {}; {} ({}).",
            hypothesis.score,
            hypothesis.coverage * 100.0,
            hypothesis.onset,
            escaped(&names(&hypothesis.entities)),
            code(&hypothesis.signature)
        ),
    );
    said(out, view, &hypothesis.id);
    push(out, "\n**For it**\n");
    for finding in view.explained(hypothesis) {
        push(
            out,
            &format!(
                "- {} {} ({})",
                finding.start,
                escaped(view.title_of(finding)),
                link(finding)
            ),
        );
    }
    for support in &hypothesis.support {
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
        push(out, &format!("- {}{places}", escaped(&support.text)));
    }
    if !hypothesis.changes.is_empty() {
        push(out, "\n**Changes near it**\n");
        for change in &hypothesis.changes {
            push(
                out,
                &format!(
                    "- {} **{}**: {} ({})",
                    change.at,
                    change.role.word(),
                    escaped(&change.title),
                    escaped(change.why.trim_end_matches('.'))
                ),
            );
        }
    }
    push(out, "\n**Against it**\n");
    if hypothesis.against.is_empty() {
        push(out, "- nothing that was read");
    }
    for against in &hypothesis.against {
        push(out, &format!("- {}", escaped(&against.text)));
    }
    if !hypothesis.missing.is_empty() {
        push(out, "\n**Missing**\n");
        for missing in &hypothesis.missing {
            push(out, &format!("- {}", escaped(missing)));
        }
    }
    if !hypothesis.next_checks.is_empty() {
        push(out, "\n**Check next**\n");
        for check in &hypothesis.next_checks {
            push(out, &format!("- {}", escaped(&check.text)));
            if let Some(query) = &check.query {
                push(out, &format!("  {}", code(query)));
            }
        }
    }
}

/// What a person said of a finding or hypothesis.
fn said(out: &mut String, view: &View<'_>, id: &str) {
    if let Some(verdict) = view.verdict(id) {
        push(out, &format!("\n**Verdict: {}**", verdict.word()));
    }
    if let Some(reason) = view.dismissed(id) {
        push(out, &format!("\n**Dismissed**: {}", escaped(reason)));
    }
    if let Some(text) = view.comment(id) {
        push(
            out,
            &format!("\n> {}", own_words(text).replace('\n', "\n> ")),
        );
    }
}

fn link(finding: &Finding) -> String {
    format!("[evidence](#{})", finding.id)
}

fn timeline(out: &mut String, view: &View<'_>) {
    push(out, "\n## Timeline\n");
    if view.timeline.is_empty() {
        push(out, "Nothing to show.");
        return;
    }
    push(out, "| from (UTC) | to | severity | what |");
    push(out, "|---|---|---|---|");
    for entry in &view.timeline {
        let end = entry.end.map_or_else(String::new, |t| t.to_rfc3339());
        let mut title = if entry.is_change {
            format!("**{}**", escaped(&entry.title))
        } else {
            escaped(&entry.title)
        };
        if let Some(reason) = &entry.dismissed {
            title = format!("~~{title}~~ (dismissed: {})", escaped(reason));
        }
        if !entry.text.is_empty() {
            title = format!("{title}: {}", escaped(&entry.text));
        }
        if let Some(comment) = &entry.comment {
            title = format!("{title} (note: {})", escaped(comment));
        }
        push(
            out,
            &format!("| {} | {end} | {} | {title} |", entry.start, entry.weight()),
        );
    }
}

fn undecided(out: &mut String, view: &View<'_>) {
    if view.report.not_enough.is_empty() {
        return;
    }
    push(out, "\n## Could not be decided from what was read\n");
    for lack in &view.report.not_enough {
        push(
            out,
            &format!("- {}: {}", code(&lack.detector), escaped(&lack.reason)),
        );
    }
}

fn evidence(out: &mut String, view: &View<'_>) {
    if view.report.findings.is_empty() {
        return;
    }
    push(out, "\n## Evidence");
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
        push(
            out,
            &format!(
                "{} · {} · confidence {:.2} · {} to {}\n",
                code(finding.kind.word()),
                finding.severity.word(),
                finding.confidence,
                finding.start,
                finding
                    .end
                    .map_or_else(|| "after the recording".to_owned(), |t| t.to_rfc3339())
            ),
        );
        push(out, &format!("{}\n", escaped(&finding.detail)));
        said(out, view, &finding.id);
        for evidence in &finding.evidence {
            push(
                out,
                &format!(
                    "- {}: {}",
                    code(&view.place(evidence)),
                    code(&evidence.quote)
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
    push(out, "\n## Inputs\n");
    push(out, &format!("{}.\n", view.inputs_line()));
    push(out, "| path | format | from (UTC) | to | remarks |");
    push(out, "|---|---|---|---|---|");
    for input in &view.report.inputs {
        let mut remarks: Vec<String> = input
            .warnings
            .iter()
            .take(3)
            .map(|w| {
                let at = w.at.as_ref().map(|at| format!(" at {at}"));
                let lost = if w.lossy { "**lost**: " } else { "" };
                format!(
                    "{lost}{}{}",
                    escaped(&w.text),
                    escaped(&at.unwrap_or_default())
                )
            })
            .collect();
        if input.warnings.len() > 3 {
            let more = input.warnings.len() as u64 - 3;
            remarks.push(count(more, "more remark", "more remarks"));
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
