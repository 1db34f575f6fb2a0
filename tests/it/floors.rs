//! The fence between the floors: which module may use which, and who may name which outside crate.
//!
//! The table stands here, in `ARCHITECTURE.md` and nowhere else.

use std::path::{Path, PathBuf};

/// Each floor, from the ground up, with the outside crates that only it may name. A floor uses those before it.
const FLOORS: &[(&str, &[&str])] = &[
    ("base", &["jiff", "encoding_rs", "sha2", "foldhash"]),
    ("model", &["toml"]),
    ("words", &["fluent_bundle", "unic_langid"]),
    ("formats", &["snap", "memchr", "fast_float2"]),
    ("sources", &["serde_saphyr"]),
    ("store", &["polars"]),
    ("detect", &[]),
    ("correlate", &[]),
    ("session", &["zip", "zstd", "tar", "flate2", "glob"]),
    ("export", &[]),
    (
        "engine",
        &[
            "tokio",
            "http_body_util",
            "hyper",
            "hyper_util",
            "reqwest",
            "rustls",
            "aws_config",
            "aws_credential_types",
            "aws_sigv4",
            "aws_smithy_runtime_api",
            "aws_smithy_types",
        ],
    ),
    ("ui", &["egui", "egui_table"]),
    (
        "app",
        &[
            "eframe",
            "egui",
            "egui_kittest",
            "egui_system_font_provider",
            "image",
        ],
    ),
    ("cli", &["clap", "clap_complete", "clap_mangen"]),
];

/// Outside crates that any floor may name.
const COMMON: &[&str] = &[
    "std",
    "core",
    "alloc",
    "serde",
    "serde_json",
    "schemars",
    "thiserror",
    "rayon",
    "regex",
];

/// Single files that may name a crate of another floor, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    (
        "export/parquet.rs",
        "polars",
        "writes a table of the store as Parquet (design.md §2)",
    ),
    (
        "correlate/signature.rs",
        "toml",
        "signatures are data in TOML",
    ),
    (
        "sources/config/toml_file.rs",
        "toml",
        "sources.toml is TOML; the kinds see their settings as JSON values",
    ),
    (
        "engine/net/unpack.rs",
        "flate2",
        "unpacks the bodies of answers, which must be read to know what to ask next",
    ),
    (
        "engine/net/unpack.rs",
        "zstd",
        "unpacks the bodies of answers, which must be read to know what to ask next",
    ),
    (
        "engine/net/masks.rs",
        "memchr",
        "looks for our own secrets in every answer before it is kept",
    ),
    (
        "store/calls.rs",
        "memchr",
        "looks for one key in the attributes of a million spans",
    ),
];

fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            source_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

fn is_test_file(relative: &str) -> bool {
    let name = relative.rsplit('/').next().unwrap_or("");
    relative.contains("/tests/") || matches!(name, "tests.rs" | "testing.rs")
}

/// The code of a line without its comment; strings are left in, which is harmless for `crate::` paths.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or("")
}

fn words_after<'a>(line: &'a str, marker: &str) -> Vec<&'a str> {
    line.match_indices(marker)
        .map(|(at, _)| {
            let rest = &line[at + marker.len()..];
            rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
                .unwrap_or("")
        })
        .filter(|word| !word.is_empty())
        .collect()
}

/// Names of crates that a line uses: `use name::`, `name::` at the start of a path.
fn names_crate(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + name.len()..];
        let starts_path = before
            .is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':' || c == '"' || c == '.'));
        starts_path && after.starts_with("::")
    })
}

fn owns(floor: &str, name: &str) -> bool {
    FLOORS
        .iter()
        .any(|(f, crates)| *f == floor && crates.contains(&name))
}

#[test]
fn a_module_uses_only_the_floors_before_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    let mut faults = Vec::new();
    for file in &files {
        let relative = file
            .strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .replace('\\', "/");
        let floor = relative
            .split('/')
            .next()
            .unwrap()
            .trim_end_matches(".rs")
            .to_owned();
        let Some(level) = FLOORS.iter().position(|(name, _)| *name == floor) else {
            assert!(
                matches!(floor.as_str(), "lib" | "main"),
                "src/{relative} belongs to no floor"
            );
            continue;
        };
        // Tests may read a recording through any floor; what ships may not.
        if is_test_file(&relative) {
            continue;
        }
        let allowed: Vec<&str> = FLOORS[..=level].iter().map(|(name, _)| *name).collect();
        let mut is_test = false;
        for (number, line) in std::fs::read_to_string(file).unwrap().lines().enumerate() {
            is_test |= line.trim() == "#[cfg(test)]";
            let line = code(line);
            for used in words_after(line, "crate::") {
                let is_floor = FLOORS.iter().any(|(name, _)| *name == used);
                if is_floor && !is_test && !allowed.contains(&used) {
                    faults.push(format!(
                        "src/{relative}:{} {floor} may not use {used} (allowed: {})",
                        number + 1,
                        allowed.join(", ")
                    ));
                }
            }
            for (owner, crates) in FLOORS {
                for name in *crates {
                    let excepted = EXCEPTIONS
                        .iter()
                        .any(|(f, c, _)| *f == relative && c == name);
                    if !owns(&floor, name)
                        && *owner != floor
                        && !excepted
                        && !is_test
                        && names_crate(line, name)
                    {
                        faults.push(format!(
                            "src/{relative}:{} {floor} may not name {name} (only {owner} may)",
                            number + 1
                        ));
                    }
                }
            }
        }
    }
    assert!(
        faults.is_empty(),
        "{} faults:\n{}",
        faults.len(),
        faults.join("\n")
    );
}

#[test]
fn every_dependency_has_an_owner() {
    let manifest =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut unknown = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line == "[dependencies]";
            if let Some(name) = line.strip_prefix("[dependencies.") {
                unknown.push(name.trim_end_matches(']').replace('-', "_"));
            }
            continue;
        }
        if inside && let Some((name, _)) = line.split_once('=') {
            unknown.push(name.trim().replace('-', "_"));
        }
    }
    unknown.retain(|name| {
        !COMMON.contains(&name.as_str())
            && !FLOORS
                .iter()
                .any(|(_, crates)| crates.contains(&name.as_str()))
    });
    assert!(
        unknown.is_empty(),
        "say in tests/it/floors.rs who may name: {}",
        unknown.join(", ")
    );
}

#[test]
fn the_table_in_the_architecture_page_is_this_one() {
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("ARCHITECTURE.md"))
            .unwrap();
    let rows: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|rest| rest.split_once('`'))
        .map(|(name, _)| name)
        .filter(|name| FLOORS.iter().any(|(floor, _)| floor == name))
        .collect();
    let want: Vec<&str> = FLOORS.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        rows, want,
        "ARCHITECTURE.md lists the floors in another order"
    );
}

#[test]
fn files_stay_one_idea_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&root, &mut files);
    let long: Vec<String> = files
        .iter()
        .filter(|file| !is_test_file(&file.to_string_lossy()))
        .filter_map(|file| {
            // Tests beside the code do not count: they are read apart.
            let text = std::fs::read_to_string(file).unwrap();
            let lines = text
                .split("#[cfg(test)]\nmod tests")
                .next()
                .unwrap()
                .lines()
                .count();
            (lines > 560).then(|| {
                format!(
                    "{} has {lines} lines",
                    file.strip_prefix(&root).unwrap().display()
                )
            })
        })
        .collect();
    assert!(
        long.is_empty(),
        "two ideas in one file?\n{}",
        long.join("\n")
    );
}
