//! Intake as a whole, on folders made for each test.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::model::input::Input;

const UP: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"a","instance":"a:1"},"values":[[1796045930,"1"],[1796045935,"1"],[1796045940,"0"]]}]}}"#;
const DOWN: &str = r#"{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"up","job":"b","instance":"b:1"},"values":[[1796045930,"0"]]}]}}"#;

fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path)
            .unwrap()
            .write_all(bytes)
            .unwrap();
    }
    folder
}

fn read_all(arguments: &[PathBuf]) -> Intake {
    read(arguments, &Options::default(), &mut std::io::empty())
}

fn read_folder(folder: &tempfile::TempDir) -> Intake {
    read_all(&[folder.path().to_owned()])
}

fn listed(intake: &Intake) -> Vec<(&str, &str)> {
    intake
        .parts
        .iter()
        .map(|(i, _)| (i.path.as_str(), i.format.as_str()))
        .collect()
}

fn input<'a>(intake: &'a Intake, path: &str) -> &'a Input {
    let found = intake.parts.iter().map(|(i, _)| i).find(|i| i.path == path);
    found.unwrap_or_else(|| panic!("{path} not in {:?}", listed(intake)))
}

fn codes(input: &Input) -> Vec<&str> {
    input.warnings.iter().map(|w| w.code.as_str()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A tar archive, by hand where the crate refuses to write such names.
fn tar_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        builder.append(&header, *bytes).unwrap();
    }
    builder.into_inner().unwrap()
}

#[test]
fn a_folder_is_listed_by_path_and_hidden_files_are_not() {
    let f = folder(&[
        ("b/up.json", UP.as_bytes()),
        ("a.json", DOWN.as_bytes()),
        ("README.md", b"# notes\n"),
        (".git/HEAD", b"ref: x"),
        (".hidden.json", UP.as_bytes()),
    ]);
    let intake = read_folder(&f);
    assert_eq!(
        listed(&intake),
        [
            ("README.md", UNRECOGNISED),
            ("a.json", "prometheus-api"),
            ("b/up.json", "prometheus-api"),
        ]
    );
    assert!(intake.is_useful && !intake.is_partial);
    assert_eq!(input(&intake, "b/up.json").counts.samples, 3);
    assert!(!input(&intake, "README.md").warnings[0].lossy);
}

#[test]
fn order_of_arguments_and_number_of_threads_do_not_matter() {
    let f = folder(&[
        ("x/up.json", UP.as_bytes()),
        ("x/down.json", DOWN.as_bytes()),
        ("y/up.json", DOWN.as_bytes()),
        ("y/other.json.gz", &gzip(UP.as_bytes())),
        (
            "z.zip",
            &zip_of(&[("b.json", UP.as_bytes()), ("a.txt", b"no")]),
        ),
    ]);
    let at = |p: &str| f.path().join(p);
    let orders = [
        vec![at("x"), at("y"), at("z.zip"), at("x/up.json")],
        vec![at("z.zip"), at("x/up.json"), at("y"), at("x")],
    ];
    let mut seen: Vec<String> = Vec::new();
    for order in &orders {
        for jobs in [1, 2] {
            let intake = crate::session::with_jobs(jobs, || read_all(order)).unwrap();
            let inputs: Vec<&Input> = intake.parts.iter().map(|(i, _)| i).collect();
            seen.push(serde_json::to_string(&inputs).unwrap());
        }
    }
    assert!(seen.iter().all(|s| *s == seen[0]), "{seen:#?}");
}

#[test]
fn a_second_copy_is_read_once_and_said() {
    let f = folder(&[
        ("a.json", UP.as_bytes()),
        ("copy/a.json.gz", &gzip(UP.as_bytes())),
    ]);
    let intake = read_folder(&f);
    let copy = input(&intake, "copy/a.json.gz");
    assert_eq!(copy.format, DUPLICATE);
    assert!(copy.warnings[0].text.contains("a.json"));
    assert!(!intake.is_partial);
    let rows: usize = intake.parts.iter().map(|(_, b)| b.series.len()).sum();
    assert_eq!(rows, 1);
}

#[test]
fn two_dumps_of_an_idle_process_are_two() {
    let dump = b"goroutine profile: total 1\n1 @ 0x1 0x2\n#\t0x1\tmain.main+0x1\t/a/main.go:3\n";
    let f = folder(&[
        ("t0-before.txt", dump),
        ("t2-after.txt", dump),
        ("copy/t2-after.txt", dump),
    ]);
    let intake = read_folder(&f);
    let formats: Vec<&str> = listed(&intake).into_iter().map(|(_, f)| f).collect();
    assert_eq!(formats, ["go-profile-text", "go-profile-text", DUPLICATE]);
}

#[test]
fn compressed_files_of_several_members_are_read_whole() {
    let (first, second) = UP.split_at(60);
    let mut gz = gzip(first.as_bytes());
    gz.extend(gzip(second.as_bytes()));
    let zst = zstd::encode_all(UP.replace("up", "upp").as_bytes(), 1).unwrap();
    let f = folder(&[("a.json.gz", &gz), ("b", &zst)]);
    let intake = read_folder(&f);
    for path in ["a.json.gz", "b"] {
        assert_eq!(input(&intake, path).counts.samples, 3, "{path}");
    }
}

#[test]
fn members_of_archives_stand_behind_an_exclamation_mark() {
    let members: &[(&str, &[u8])] = &[
        ("q/up.json", UP.as_bytes()),
        (
            "q/requests.json",
            br#"{"up.json":{"method":"GET","path":"/api/v1/query?query=up[15s]","at":1796045940}}"#,
        ),
        ("__MACOSX/q/._up.json", b"x"),
    ];
    let nested = zip_of(&[("inner.tar", &tar_of(&[("down.json", DOWN.as_bytes())]))]);
    let f = folder(&[
        ("a.zip", &zip_of(members)),
        ("b.tar.gz", &gzip(&tar_of(members))),
        ("c.zip", &nested),
    ]);
    let intake = read_folder(&f);
    assert_eq!(
        listed(&intake),
        [
            ("a.zip!q/requests.json", SIDECAR),
            ("a.zip!q/up.json", "prometheus-api"),
            ("b.tar.gz!q/requests.json", SIDECAR),
            ("b.tar.gz!q/up.json", DUPLICATE),
            ("c.zip!inner.tar!down.json", "prometheus-api"),
        ]
    );
    assert!(!intake.is_partial);
}

#[test]
fn unsafe_names_in_archives_are_refused_and_the_rest_is_read() {
    let members: &[(&str, &[u8])] = &[
        ("../../etc/evil.json", UP.as_bytes()),
        ("ok.json", UP.as_bytes()),
    ];
    for (name, bytes) in [("a.zip", zip_of(members)), ("a.tar", tar_of(members))] {
        let f = folder(&[(name, &bytes)]);
        let intake = read_folder(&f);
        assert!(intake.is_partial && intake.is_useful, "{name}");
        let archive = input(&intake, name);
        assert_eq!(archive.format, ARCHIVE);
        assert_eq!(codes(archive), ["unsafe_name"]);
        assert_eq!(input(&intake, &format!("{name}!ok.json")).counts.series, 1);
    }
}

#[test]
fn bombs_are_told_and_not_read() {
    let zeros = vec![b' '; 3 << 20];
    let limits = Limits {
        ratio: 50,
        ratio_from_bytes: 1 << 20,
        ..Limits::default()
    };
    let options = Options {
        limits,
        ..Options::default()
    };
    for (name, bytes) in [
        ("a.gz", gzip(&zeros)),
        ("a.zst", zstd::encode_all(&*zeros, 1).unwrap()),
        ("a.zip", zip_of(&[("big.json", &zeros)])),
        ("a.tar.gz", gzip(&tar_of(&[("big.json", &zeros)]))),
    ] {
        let f = folder(&[(name, &bytes)]);
        let intake = read(&[f.path().join(name)], &options, &mut std::io::empty());
        assert!(intake.is_partial && !intake.is_useful, "{name}");
        assert!(
            intake
                .parts
                .iter()
                .any(|(i, _)| codes(i) == ["limit_ratio"]),
            "{name}: {:?}",
            intake
                .parts
                .iter()
                .map(|(i, _)| codes(i))
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn limits_of_number_and_size_are_told() {
    let f = folder(&[("a.json", UP.as_bytes()), ("b.json", DOWN.as_bytes())]);
    let with = |limits: Limits| {
        let options = Options {
            limits,
            ..Options::default()
        };
        read(&[f.path().to_owned()], &options, &mut std::io::empty())
    };
    let few = with(Limits {
        files: 1,
        ..Limits::default()
    });
    assert_eq!(codes(input(&few, "b.json")), ["too_many_files"]);
    assert!(few.is_partial);
    let small = with(Limits {
        input_bytes: 150,
        ..Limits::default()
    });
    assert_eq!(codes(input(&small, "a.json")), ["limit_size"]);
    let members = zip_of(&[("a.json", UP.as_bytes()), ("b.json", DOWN.as_bytes())]);
    let z = folder(&[("z.zip", &members)]);
    let options = Options {
        limits: Limits {
            members: 1,
            ..Limits::default()
        },
        ..Options::default()
    };
    let intake = read(&[z.path().to_owned()], &options, &mut std::io::empty());
    assert_eq!(codes(input(&intake, "z.zip")), ["limit_members"]);
    assert_eq!(input(&intake, "z.zip!a.json").counts.series, 1);
}

#[test]
fn packing_without_end_stops() {
    let mut bytes = gzip(UP.as_bytes());
    for _ in 0..12 {
        bytes = gzip(&bytes);
    }
    let f = folder(&[("a", &bytes)]);
    let intake = read_folder(&f);
    assert_eq!(codes(input(&intake, "a")), ["nested_too_deep"]);
    let mut archive = zip_of(&[("a.json", UP.as_bytes())]);
    for _ in 0..12 {
        archive = zip_of(&[("a.zip", &archive)]);
    }
    let f = folder(&[("a.zip", &archive)]);
    let intake = read_folder(&f);
    assert!(intake.is_partial && !intake.is_useful);
    assert_eq!(codes(&intake.parts[0].0), ["nested_too_deep"]);
}

#[test]
fn a_cut_off_gzip_keeps_what_came_before() {
    let lines: String = (0..20_000).fold(String::from("time,title\n"), |all, n| {
        all + &format!("{},event number {n}\n", 1_796_045_930 + n)
    });
    let whole = gzip(lines.as_bytes());
    let f = folder(&[("events.csv.gz", &whole[..whole.len() / 2])]);
    let intake = read_folder(&f);
    let events = input(&intake, "events.csv.gz");
    assert_eq!(events.warnings[0].code, "bad_compression");
    assert!(events.warnings[0].lossy && events.warnings[0].at.is_some());
    let nothing = folder(&[("a.gz", &whole[..10])]);
    let intake = read_folder(&nothing);
    assert_eq!(codes(input(&intake, "a.gz")), ["bad_compression"]);
}

#[test]
fn named_files_fail_aloud_and_files_of_folders_do_not() {
    let f = folder(&[
        ("README.md", b"# notes\n"),
        ("up.json", UP.as_bytes()),
        ("none", b""),
    ]);
    let named = read_all(&[f.path().join("README.md"), f.path().join("up.json")]);
    assert!(named.is_partial && named.is_useful);
    let folder_of_them = read_folder(&f);
    assert!(!folder_of_them.is_partial);
    assert_eq!(codes(input(&folder_of_them, "none")), ["empty"]);
    let missing = read_all(&[f.path().join("gone.json")]);
    assert!(missing.is_partial && !missing.is_useful);
    assert_eq!(missing.parts[0].0.format, UNREADABLE);
}

#[test]
fn an_empty_answer_to_a_known_request_was_lost() {
    let f = folder(&[
        ("up.json", b""),
        (
            "requests.json",
            br#"{"up.json":{"method":"GET","path":"/api/v1/query","http":200}}"#,
        ),
    ]);
    assert!(read_folder(&f).is_partial);
}

#[test]
fn patterns_are_matched_and_name_their_files_from_the_fixed_part() {
    let f = folder(&[
        ("a/up.json", UP.as_bytes()),
        ("b/up.json", DOWN.as_bytes()),
        ("b/x.txt", b"x"),
    ]);
    let intake = read_all(&[f.path().join("*/*.json")]);
    assert_eq!(
        listed(&intake),
        [
            ("a/up.json", "prometheus-api"),
            ("b/up.json", "prometheus-api")
        ]
    );
    let none = read_all(&[f.path().join("*.log")]);
    assert_eq!(codes(&none.parts[0].0), ["no_match"]);
}

#[test]
fn standard_input_is_one_input() {
    let mut stdin = std::io::Cursor::new(gzip(UP.as_bytes()));
    let intake = read(&[PathBuf::from("-")], &Options::default(), &mut stdin);
    assert_eq!(listed(&intake), [("-", "prometheus-api")]);
}

#[test]
fn links_that_turn_in_a_circle_are_not_followed() {
    let f = folder(&[("a/up.json", UP.as_bytes())]);
    std::os::unix::fs::symlink(f.path(), f.path().join("a/back")).unwrap();
    std::os::unix::fs::symlink("nowhere", f.path().join("broken")).unwrap();
    let intake = read_folder(&f);
    assert_eq!(codes(input(&intake, "a/back")), ["symlink_loop"]);
    assert_eq!(codes(input(&intake, "broken")), ["unreadable"]);
    assert_eq!(input(&intake, "a/up.json").counts.series, 1);
}

#[test]
fn a_pipe_in_a_folder_does_not_block() {
    let f = folder(&[("up.json", UP.as_bytes())]);
    let made = std::process::Command::new("mkfifo")
        .arg(f.path().join("pipe"))
        .status();
    if !made.is_ok_and(|s| s.success()) {
        return;
    }
    let intake = read_folder(&f);
    assert_eq!(codes(input(&intake, "pipe")), ["not_a_file"]);
}

#[test]
fn a_broken_sidecar_is_told_and_costs_nothing_else() {
    let f = folder(&[
        ("up.json", UP.as_bytes()),
        ("requests.json", b"{\"up.json\": {"),
    ]);
    let intake = read_folder(&f);
    assert!(intake.is_partial);
    let sidecar = input(&intake, "requests.json");
    assert_eq!(codes(sidecar), ["bad_sidecar"]);
    assert!(
        sidecar.warnings[0]
            .at
            .as_deref()
            .unwrap()
            .starts_with("line 1")
    );
    assert_eq!(input(&intake, "up.json").counts.series, 1);
}

#[test]
fn a_clock_that_is_years_off_is_told() {
    let old = UP.replace("17960459", "9460459").replace("up", "old");
    let f = folder(&[
        ("a.json", UP.as_bytes()),
        ("b.json", DOWN.as_bytes()),
        ("old.json", old.as_bytes()),
    ]);
    let intake = read_folder(&f);
    assert!(codes(input(&intake, "old.json")).contains(&FAR_CODE));
    assert!(!codes(input(&intake, "a.json")).contains(&FAR_CODE));
}

#[test]
fn a_clock_that_is_one_year_off_is_told() {
    let year_before = UP.replace("17960459", "17645099").replace("up", "old");
    let f = folder(&[
        ("a.json", UP.as_bytes()),
        ("b.json", DOWN.as_bytes()),
        ("old.json", year_before.as_bytes()),
    ]);
    let intake = read_folder(&f);
    assert!(codes(input(&intake, "old.json")).contains(&FAR_CODE));
    assert!(!codes(input(&intake, "a.json")).contains(&FAR_CODE));
}

#[test]
fn the_window_nearest_to_the_root_counts() {
    let f = folder(&[
        ("a/window.json", br#"{"start": 1, "end": 2}"#),
        (
            "window.json",
            br#"{"start": 1796045930, "end": "2026-11-30T14:00:00Z", "target": "up"}"#,
        ),
    ]);
    let window = read_folder(&f).window.unwrap();
    assert_eq!(window.path, "window.json");
    assert_eq!(window.target.as_deref(), Some("up"));
}

#[test]
fn the_sidecars_of_real_recordings_find_their_files() {
    let Some(input_folder) =
        crate::base::testing::shared_data("incidents/snat-connect-ladder/input")
    else {
        return;
    };
    let intake = read_all(&[input_folder.join("prometheus"), input_folder.join("access")]);
    let sidecar = input(&intake, "requests.json");
    assert!(sidecar.warnings[0].text.contains("48 files"), "{sidecar:?}");
    assert_eq!(codes(sidecar), ["sidecar"]);
    assert!(!intake.is_partial);
    assert!(Path::new(&sidecar.path).is_relative());
}
