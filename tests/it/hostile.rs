//! Inputs that are broken on purpose: never a panic, always a word that names the input, and the rest is kept.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::root;

const UP: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a","instance":"a:1"},"values":[[1796045930,"1"],[1796045935,"1"],[1796045940,"0"]]}]}}"#;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs, and holds what is true of every run: an exit code of the contract, no panic, no internal error.
fn survives(arguments: &[&str]) -> (i32, String, String) {
    let output = run(arguments);
    let code = output.status.code();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    assert!(
        matches!(code, Some(0 | 4 | 5)),
        "{arguments:?} ended with {code:?}: {err}"
    );
    for word in ["panicked", "internal error", "RUST_BACKTRACE"] {
        assert!(
            !err.contains(word) && !out.contains(word),
            "{arguments:?}: {err}"
        );
    }
    (code.unwrap(), out, err)
}

fn hostile_files() -> Vec<String> {
    let mut files: Vec<String> = std::fs::read_dir(root().join("fixtures/hostile"))
        .unwrap()
        .map(|e| e.unwrap().path().to_str().unwrap().to_owned())
        .collect();
    files.sort();
    assert!(files.len() > 20);
    files
}

#[test]
fn every_hostile_file_alone_is_survived_and_named() {
    for file in hostile_files() {
        let name = Path::new(&file).file_name().unwrap().to_str().unwrap();
        let (code, out, err) = survives(&["inspect", &file]);
        assert!(out.contains(name), "{name} is not listed: {out}");
        if code != 0 {
            assert!(err.contains(name), "{name} is not named: {err}");
        }
        survives(&["analyze", &file, "--format", "json"]);
    }
}

#[test]
fn the_whole_folder_is_survived_in_every_form() {
    let folder = root().join("fixtures/hostile");
    let folder = folder.to_str().unwrap();
    for form in ["text", "json", "md"] {
        let (_, out, _) = survives(&["analyze", folder, "--format", form]);
        assert!(
            !out.contains('\u{202e}') || form == "json",
            "{form}: bidi reached the reader"
        );
        assert!(
            !out.contains('\x1b'),
            "{form}: an escape sequence reached the reader"
        );
    }
    let one = survives(&["analyze", folder, "--format", "json", "--jobs", "1"]).1;
    let two = survives(&["analyze", folder, "--format", "json", "--jobs", "2"]).1;
    assert_eq!(one, two);
}

#[test]
fn what_is_broken_does_not_cost_what_is_whole() {
    let temp = tempfile::tempdir().unwrap();
    for file in hostile_files() {
        let from = Path::new(&file);
        std::fs::copy(from, temp.path().join(from.file_name().unwrap())).unwrap();
    }
    std::fs::write(temp.path().join("good.json"), UP).unwrap();
    let (code, out, err) =
        survives(&["inspect", temp.path().to_str().unwrap(), "--format", "json"]);
    assert_eq!(code, 5, "{err}");
    let json: Value = serde_json::from_str(&out).unwrap();
    let good = json["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|i| i["path"] == "good.json")
        .unwrap();
    assert_eq!(good["counts"]["samples"], 3);
}

#[test]
fn losses_name_their_place() {
    let folder = root().join("fixtures/hostile");
    let at = |name: &str| -> String {
        let (_, out, _) = survives(&[
            "inspect",
            folder.join(name).to_str().unwrap(),
            "--format",
            "json",
        ]);
        let json: Value = serde_json::from_str(&out).unwrap();
        let warnings = json["inputs"][0]["warnings"].as_array().unwrap().clone();
        assert!(!warnings.is_empty(), "{name}: nothing said");
        warnings
            .iter()
            .filter_map(|w| w["at"].as_str())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(!at("truncated-matrix.json").is_empty());
    assert!(at("requests.json").contains("line 1"));
    assert!(at("cut.json.gz").contains("byte"));
}

#[test]
fn huge_lines_and_deep_nesting_made_here() {
    let temp = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = temp.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let line = "x".repeat(8 << 20);
    let mut files = vec![
        write("one-line.log", line.as_bytes()),
        write("one-line.json", format!("{{\"a\":\"{line}\"}}").as_bytes()),
        write("quotes.csv", "time,title\n\"".repeat(200_000).as_bytes()),
        write("brackets.json", "[".repeat(4 << 20).as_bytes()),
        write("braces.json", "{\"a\":".repeat(1 << 20).as_bytes()),
        write(
            "backslashes.json",
            format!("{{\"status\":\"{}", "\\".repeat(4 << 20)).as_bytes(),
        ),
        write("zeros", &vec![0; 1 << 20]),
    ];
    let labels: String =
        (0..20_000).fold(String::new(), |all, n| all + &format!("\"l{n}\":\"v\","));
    let wide = UP.replace("\"job\":\"a\",", &labels);
    files.push(write("wide.json", wide.as_bytes()));
    for file in &files {
        survives(&["inspect", file]);
    }
}

#[test]
fn archives_that_are_traps() {
    let temp = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = temp.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let zip = |members: &[(&str, &[u8])]| {
        let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, bytes) in members {
            writer
                .start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            writer.write_all(bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let dots = write(
        "dots.zip",
        &zip(&[
            ("../../evil.json", UP.as_bytes()),
            ("ok.json", UP.as_bytes()),
        ]),
    );
    let (code, out, err) = survives(&["inspect", &dots]);
    assert_eq!(code, 5);
    assert!(
        out.contains("dots.zip!ok.json") && err.contains("../../evil.json"),
        "{out}{err}"
    );
    assert!(!temp.path().parent().unwrap().join("evil.json").exists());

    // 80 MB of blanks in about 80 kB: a thousand to one.
    let blanks = vec![b' '; 80 << 20];
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&blanks).unwrap();
    let bomb = write("bomb.json.gz", &encoder.finish().unwrap());
    let (code, _, err) = survives(&["inspect", &bomb]);
    assert_eq!(code, 4);
    assert!(err.contains("decompression bomb"), "{err}");
}
