//! The command line as scripts see it: what goes where, and how it ends.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const UP: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a","instance":"a:1"},"values":[[1796045930,"1"],[1796045935,"1"],[1796045940,"0"]]}]}}"#;

fn tailscope(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(arguments)
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("up.json"), UP).unwrap();
    std::fs::write(folder.path().join("README.md"), "# notes\n").unwrap();
    folder
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    folder.path().join(name).to_str().unwrap().to_owned()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

#[test]
fn help_names_every_command_and_every_exit_code() {
    let help = tailscope(&["--help"]);
    assert_eq!(code(&help), 0);
    for word in [
        "analyze",
        "inspect",
        "export",
        "check",
        "schema",
        "completions",
        "man",
        "Exit codes",
    ] {
        assert!(out(&help).contains(word), "{word}");
    }
    for later in ["redact", "rank"] {
        assert!(!out(&help).contains(&format!("  {later} ")), "{later}");
    }
    for live in ["record", "doctor", "serve"] {
        let is_there = out(&help).contains(&format!("  {live} "));
        assert_eq!(is_there, cfg!(feature = "live"), "{live}");
    }
    for command in [
        "analyze",
        "inspect",
        "export",
        "check",
        "schema",
        "completions",
        "man",
    ] {
        let help = tailscope(&[command, "--help"]);
        assert_eq!(code(&help), 0, "{command}");
        assert!(
            out(&help).starts_with(|c: char| c.is_uppercase()),
            "{command}"
        );
        assert!(err(&help).is_empty());
    }
    let version = tailscope(&["--version"]);
    assert_eq!(
        out(&version),
        format!("tailscope {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_wrong_command_line_ends_with_2() {
    let folder = folder();
    let dir = path(&folder, "");
    let wrong: &[&[&str]] = &[
        &["analyze"],
        &["analyze", &dir, "--format", "xml"],
        &["analyze", &dir, "--from", "yesterday"],
        &["analyze", &dir, "--from", "2026-11-30 14:00"],
        &["analyze", &dir, "--tz", "Mars/Olympus"],
        &[
            "analyze",
            &dir,
            "--from",
            "1796045940",
            "--to",
            "1796045930",
        ],
        &["analyze", &dir, "--jobs", "0"],
        &["analyze", &dir, "--log-format", "nonsense"],
        &["check", &dir],
        &["export", &dir, "-o", "x.unknown"],
        &["completions", "tcsh"],
        &["man", "nothing"],
        &["analyse", "x"],
        #[cfg(feature = "gui")]
        &["screenshot", "-o", "x.png"],
        #[cfg(feature = "gui")]
        &["screenshot", &dir, "-o", "x.png", "--size", "9x9"],
    ];
    for arguments in wrong {
        let output = tailscope(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", err(&output));
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(
            err(&output).starts_with("error: "),
            "{arguments:?}: {}",
            err(&output)
        );
        assert!(!Path::new("x.unknown").exists());
    }
    assert!(err(&tailscope(&["analyse", "x"])).contains("did you mean `tailscope analyze`"));
    assert!(err(&tailscope(&[&dir])).contains("tailscope analyze"));
    assert!(err(&tailscope(&["analyze", &dir, "--from", "2026-11-30 14:00"])).contains("--tz"));
}

#[test]
fn analyze_prints_the_report_to_standard_output_alone() {
    let folder = folder();
    let dir = path(&folder, "");
    let text = tailscope(&["analyze", &dir]);
    assert_eq!(code(&text), 0, "{}", err(&text));
    assert!(err(&text).is_empty());
    assert!(out(&text).contains("Window 2026-11-30 13:38:50"));
    assert!(!out(&text).contains('\x1b'), "colours into a pipe");
    let json: Value =
        serde_json::from_slice(&tailscope(&["analyze", &dir, "--format", "json"]).stdout).unwrap();
    assert_eq!(json["schema"], "tailscope.report/1");
    assert_eq!(json["inputs"][1]["path"], "up.json");
    assert_eq!(json["inputs"][1]["counts"]["samples"], 3);
    assert!(json.get("generated_at").is_none());
    let stamped: Value = serde_json::from_slice(
        &tailscope(&["analyze", &dir, "--format", "json", "--stamp"]).stdout,
    )
    .unwrap();
    assert!(stamped["generated_at"].is_string());
    let md = tailscope(&["analyze", &dir, "--format", "md"]);
    assert!(out(&md).starts_with("# Incident timeline\n"));
}

#[test]
fn the_window_that_is_asked_for_is_the_window() {
    let folder = folder();
    let file = path(&folder, "up.json");
    let window = |arguments: &[&str]| -> Value {
        let mut all = vec!["analyze", &file, "--format", "json"];
        all.extend(arguments);
        serde_json::from_slice::<Value>(&tailscope(&all).stdout).unwrap()["window"].clone()
    };
    assert_eq!(
        window(&["--from", "1796045932", "--to", "2026-11-30T13:38:58Z"]),
        serde_json::json!({"start": "2026-11-30T13:38:52Z", "end": "2026-11-30T13:38:58Z"})
    );
    assert_eq!(
        window(&["--from", "2026-11-30 22:38:52", "--tz", "Asia/Seoul"])["start"],
        "2026-11-30T13:38:52Z"
    );
    std::fs::write(
        folder.path().join("window.json"),
        r#"{"start": 1796045933, "end": 1796045939}"#,
    )
    .unwrap();
    let dir = path(&folder, "");
    let hinted: Value =
        serde_json::from_slice(&tailscope(&["analyze", &dir, "--format", "json"]).stdout).unwrap();
    assert_eq!(hinted["window"]["start"], "2026-11-30T13:38:53Z");
}

#[test]
fn the_same_bytes_whatever_the_order_and_the_threads() {
    let folder = folder();
    std::fs::write(folder.path().join("down.json"), UP.replace("\"a", "\"b")).unwrap();
    let (a, b) = (path(&folder, "up.json"), path(&folder, "down.json"));
    let first = tailscope(&["analyze", &a, &b, "--format", "json", "--jobs", "1"]);
    let second = tailscope(&["analyze", &b, &a, "--format", "json", "--jobs", "2"]);
    assert!(!first.stdout.is_empty());
    assert_eq!(out(&first), out(&second));
}

#[test]
fn inspect_says_what_each_input_is() {
    let folder = folder();
    let dir = path(&folder, "");
    let text = tailscope(&["inspect", &dir]);
    assert_eq!(code(&text), 0);
    assert!(out(&text).contains("up.json"), "{}", out(&text));
    assert!(out(&text).contains("1 series, 3 samples"), "{}", out(&text));
    assert!(out(&text).contains("unrecognised"));
    let json: Value =
        serde_json::from_slice(&tailscope(&["inspect", &dir, "--format", "json"]).stdout).unwrap();
    assert_eq!(json["totals"]["samples"], 3);
    assert_eq!(json["partial"], false);
}

#[test]
fn named_files_that_cannot_be_used_end_with_5_or_4() {
    let folder = folder();
    let (up, readme, gone) = (
        path(&folder, "up.json"),
        path(&folder, "README.md"),
        path(&folder, "gone.json"),
    );
    let part = tailscope(&["analyze", &up, &readme, "--format", "json"]);
    assert_eq!(code(&part), 5, "{}", err(&part));
    let report: Value = serde_json::from_slice(&part.stdout).unwrap();
    assert_eq!(report["partial"], true);
    let part = tailscope(&["analyze", &up, &gone]);
    assert_eq!(code(&part), 5);
    assert!(err(&part).contains("gone.json"), "{}", err(&part));
    for arguments in [
        ["analyze", readme.as_str()],
        ["analyze", &gone],
        ["inspect", &gone],
    ] {
        let nothing = tailscope(&arguments);
        assert_eq!(code(&nothing), 4, "{arguments:?}");
        assert!(err(&nothing).contains("error: ") || arguments[0] == "inspect");
    }
    let empty = tempfile::tempdir().unwrap();
    let nothing = tailscope(&["analyze", empty.path().to_str().unwrap()]);
    assert_eq!(code(&nothing), 4);
    assert!(err(&nothing).contains("no file was found"));
}

#[test]
fn standard_input_is_read_as_one_input() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(["inspect", "-", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(UP.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0);
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["inputs"][0]["path"], "-");
    assert_eq!(json["inputs"][0]["counts"]["samples"], 3);
}

#[test]
fn outputs_are_whole_files_or_none() {
    let folder = folder();
    let dir = path(&folder, "up.json");
    for name in ["out.json", "out.md", "out.csv", "out.txt"] {
        let target = path(&folder, name);
        let output = tailscope(&["export", &dir, "-o", &target]);
        assert_eq!(code(&output), 0, "{name}: {}", err(&output));
        assert!(output.stdout.is_empty());
        assert!(std::fs::metadata(&target).unwrap().len() > 20, "{name}");
    }
    let by_name = path(&folder, "report.json");
    assert_eq!(code(&tailscope(&["analyze", &dir, "-o", &by_name])), 0);
    serde_json::from_slice::<Value>(&std::fs::read(&by_name).unwrap()).unwrap();
    let nowhere = path(&folder, "no/such/folder/out.json");
    let failed = tailscope(&["export", &dir, "-o", &nowhere]);
    assert_eq!(code(&failed), 4);
    assert!(err(&failed).contains("no/such/folder"));
    let left: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n.contains("partial"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let dash = tailscope(&["export", &dir, "-o", "-", "--format", "csv"]);
    assert!(out(&dash).starts_with("start,end,kind,"));
}

#[test]
fn check_ends_by_severity() {
    let folder = folder();
    let dir = path(&folder, "up.json");
    let report: Value =
        serde_json::from_slice(&tailscope(&["analyze", &dir, "--format", "json"]).stdout).unwrap();
    let severities: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|f| f["severity"].as_str())
        .collect();
    let any = tailscope(&["check", &dir, "--fail-on", "info"]);
    assert_eq!(
        code(&any),
        i32::from(!severities.is_empty()),
        "{}",
        out(&any)
    );
    assert!(out(&any).contains("findings at or above info"));
    let critical = tailscope(&["check", &dir, "--fail-on", "critical"]);
    assert_eq!(code(&critical), i32::from(severities.contains(&"critical")));
    let json = tailscope(&["check", &dir, "--fail-on", "critical", "--format", "json"]);
    serde_json::from_slice::<Value>(&json.stdout).unwrap();
}

#[test]
fn the_schema_accepts_what_analyze_writes() {
    let folder = folder();
    let schema: Value = serde_json::from_slice(&tailscope(&["schema"]).stdout).unwrap();
    let report: Value = serde_json::from_slice(
        &tailscope(&["analyze", &path(&folder, ""), "--format", "json"]).stdout,
    )
    .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&report)
        .map(|e| e.to_string())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = tailscope(&["completions", shell]);
        assert_eq!(code(&script), 0);
        assert!(out(&script).contains("analyze"), "{shell}");
    }
    let man = tailscope(&["man"]);
    assert!(out(&man).contains(".TH") && out(&man).contains("analyze"));
    assert!(out(&tailscope(&["man", "analyze"])).contains("log\\-format"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .args(["analyze", &path(&folder, ""), "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert!(err(&output).is_empty());
}

#[test]
fn quiet_says_nothing_beside_the_result_and_verbose_says_more() {
    let folder = folder();
    let (up, readme) = (path(&folder, "up.json"), path(&folder, "README.md"));
    std::fs::write(folder.path().join("cut.json"), &UP[..140]).unwrap();
    let cut = path(&folder, "cut.json");
    let quiet = tailscope(&["analyze", &up, &cut, "-q"]);
    assert!(err(&quiet).is_empty(), "{}", err(&quiet));
    assert!(err(&tailscope(&["analyze", &up, &cut])).contains("cut.json"));
    assert!(err(&tailscope(&["analyze", &up, &readme, "-v"])).contains("up.json: prometheus-api"));
}

#[cfg(feature = "sql")]
mod sql {
    use super::*;

    #[test]
    fn answers_in_every_form() {
        let folder = folder();
        let file = path(&folder, "up.json");
        let query = "SELECT t, value FROM samples WHERE value > 0 ORDER BY t";
        let table = tailscope(&["sql", &file, query]);
        assert_eq!(code(&table), 0, "{}", err(&table));
        assert!(
            out(&table).contains("2026-11-30T13:38:50Z") && out(&table).ends_with("(2 rows)\n")
        );
        let csv = tailscope(&["sql", &file, query, "--format", "csv"]);
        assert_eq!(out(&csv).lines().count(), 3);
        let json: Value =
            serde_json::from_slice(&tailscope(&["sql", &file, query, "--format", "json"]).stdout)
                .unwrap();
        assert_eq!(json[1]["value"], 1.0);
        let target = path(&folder, "answer.parquet");
        assert_eq!(
            code(&tailscope(&[
                "sql", &file, query, "--format", "parquet", "-o", &target
            ])),
            0
        );
        assert!(std::fs::read(&target).unwrap().starts_with(b"PAR1"));
        let findings = tailscope(&["sql", &file, "SELECT count(*) AS n FROM findings"]);
        assert_eq!(code(&findings), 0, "{}", err(&findings));
        let exported = path(&folder, "findings.parquet");
        assert_eq!(code(&tailscope(&["export", &file, "-o", &exported])), 0);
        assert!(std::fs::read(&exported).unwrap().ends_with(b"PAR1"));
    }

    #[test]
    fn wrong_queries_say_what_there_is() {
        let folder = folder();
        let file = path(&folder, "up.json");
        for (query, hint) in [
            ("SELECT * FROM sampels", "the tables are series, samples"),
            (
                "SELECT valeu FROM samples",
                "samples has series_id, t, value",
            ),
            ("SELEC", "the tables are"),
        ] {
            let output = tailscope(&["sql", &file, query]);
            assert_eq!(code(&output), 2, "{query}");
            assert!(err(&output).contains(hint), "{query}: {}", err(&output));
        }
        let forgotten = tailscope(&["sql", &file, &file]);
        assert_eq!(code(&forgotten), 2);
        assert!(err(&forgotten).contains("not a query"));
    }
}

#[cfg(feature = "gui")]
#[test]
fn without_a_display_the_window_says_what_is_lacking() {
    let output = Command::new(env!("CARGO_BIN_EXE_tailscope"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    assert_eq!(code(&output), 6, "{}", err(&output));
    assert!(err(&output).contains("DISPLAY"), "{}", err(&output));
    assert!(!err(&output).contains(".rs:"), "{}", err(&output));
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_is_drawn_and_what_cannot_be_drawn_is_said() {
    let folder = folder();
    let png = path(&folder, "out.png");
    let drawn = tailscope(&[
        "screenshot",
        "fixtures/snat-connect-ladder/input",
        "-o",
        &png,
        "--size",
        "640x400",
    ]);
    assert_eq!(code(&drawn), 0, "{}", err(&drawn));
    let bytes = std::fs::read(&png).unwrap();
    assert!(bytes.starts_with(b"\x89PNG"));
    let unknown = tailscope(&[
        "screenshot",
        "fixtures/snat-connect-ladder/input",
        "-o",
        &png,
        "--select",
        "f-no",
    ]);
    assert_eq!(code(&unknown), 2, "{}", err(&unknown));
    let nothing = tailscope(&["screenshot", "README.md", "-o", &png]);
    assert_eq!(code(&nothing), 4, "{}", err(&nothing));
}
