//! Korean throughout: an export in Korean holds no English sentence beside what it quotes.

use std::path::{Path, PathBuf};

use regex::Regex;
use tailscope::export::{self, Material, Options};
use tailscope::session::analysis::{Asked, Document};
use tailscope::session::intake;
use tailscope::words::Lang;

const SAMPLES: [&str; 2] = ["ingress-metrics-lock", "snat-connect-ladder"];

fn document(path: PathBuf) -> Document {
    let options = intake::Options::default();
    Document::new(
        intake::read(&[path], &options, &mut std::io::empty()),
        Asked::default(),
    )
}

pub(crate) fn sample(name: &str) -> Document {
    document(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(name)
            .join("input"),
    )
}

fn export(document: &Document, form: &str, lang: Lang) -> String {
    let report = document.report(None);
    let material = Material {
        report: &report,
        snapshot: &document.snapshot,
        notes: None,
    };
    let options = Options {
        lang,
        ..Options::default()
    };
    let bytes = export::by_id(form)
        .unwrap()
        .write(&material, &options)
        .unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Runs of four English words and more, outside code, quotes, style and the words of the inputs themselves.
pub(crate) fn english(text: &str, quoted: &[&str]) -> Vec<String> {
    // As Markdown and HTML escape it.
    let mut text = text
        .replace('\\', "")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&");
    for words in quoted {
        text = text.replace(words, "…");
    }
    for aside in [
        r"(?s)<style>.*?</style>",
        r"(?s)<code>.*?</code>",
        r"<[^>]*>",
        r"`[^`\n]*`",
        r"“[^”]*”",
        r"&lt;[^&]*&gt;",
        r"--[a-z-]+",
        // Labels of a series, as titles write them.
        r"\((?:[a-z_]+ [^ ,()]+(?:, )?)+\)",
    ] {
        text = Regex::new(aside)
            .unwrap()
            .replace_all(&text, "…")
            .into_owned();
    }
    let run = Regex::new(r"\b[A-Za-z]+(?:[ ,;:]+[A-Za-z]+){3,}\b").unwrap();
    run.find_iter(&text)
        .map(|m| m.as_str().to_owned())
        .filter(|m| m.contains(' '))
        .collect()
}

/// What inputs say in words of their own: titles and texts of events.
pub(crate) fn of_inputs(document: &Document) -> Vec<String> {
    let events = &document.snapshot.events;
    let mut all: Vec<String> = events
        .iter()
        .flat_map(|e| [e.title.to_string(), e.text.to_string()])
        .filter(|t| !t.is_empty())
        .collect();
    all.sort_by_key(|t| std::cmp::Reverse(t.len()));
    all
}

#[test]
fn an_export_in_korean_has_no_english_sentence() {
    for name in SAMPLES {
        let document = sample(name);
        let said = of_inputs(&document);
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        for form in ["md", "html", "csv"] {
            let out = export(&document, form, Lang::Ko);
            let found = english(&out, &said);
            assert!(found.is_empty(), "{name} as {form}: {found:#?}");
        }
        // Text is wrapped: what is quoted is broken over lines, so the line itself is looked at without the titles of events.
        let out = export(&document, "text", Lang::Ko);
        for (ko, en) in [
            ("가장 유력한 원인", "Most likely cause"),
            ("다음 확인", "check next"),
            ("반증", "against it"),
            ("타임라인(UTC)", "Timeline (UTC)"),
            ("입력 ", "inputs:"),
        ] {
            assert!(out.contains(ko), "{ko} in\n{out}");
            assert!(!out.contains(en), "{en} in\n{out}");
        }
    }
}

#[test]
fn what_programs_read_is_the_same_in_every_language() {
    let document = sample(SAMPLES[1]);
    assert_eq!(
        export(&document, "json", Lang::En),
        export(&document, "json", Lang::Ko)
    );
}

/// Files of which each is broken in its own way.
pub(crate) fn break_into(folder: &Path) {
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    put("cut.json", br#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up"},"values":[[1796045759,"1"],[179"#);
    put("empty.txt", b"");
    put("page.html", b"<!doctype html><html><body>502</body></html>");
    put("bad.zip", b"PK\x03\x04 nothing of an archive");
    put("bad.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2]);
    put(
        "error.json",
        br#"{"status":"error","errorType":"timeout","error":"query timed out in expression evaluation"}"#,
    );
    put(
        "notes.csv",
        b"time,title\nsoon,deploy of the gateway\n2026-11-30T14:27:48Z,rollback\n",
    );
}

#[test]
fn a_broken_folder_is_told_in_korean() {
    let folder = tempfile::tempdir().unwrap();
    break_into(folder.path());
    let document = document(folder.path().to_owned());
    let inputs = &document.report(None).inputs;
    assert!(
        inputs.iter().filter(|i| !i.warnings.is_empty()).count() >= 6,
        "{inputs:#?}"
    );
    for form in ["md", "html"] {
        let out = export(&document, form, Lang::Ko);
        let found = english(&out, &[]);
        assert!(found.is_empty(), "{form}: {found:#?}\n{out}");
    }
}
