//! Nothing can be added and forgotten: walks every registry and asks each entry for what it owes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use tailscope::base::reporter::Reporter;
use tailscope::base::time::Zone;
use tailscope::correlate::signature::{BUILTIN as SIGNATURES, Signature};
use tailscope::detect::{self, Context, Verdict};
use tailscope::formats::{self, Head, Hints};
use tailscope::model::batch::Batch;
use tailscope::model::pack::{BUILTIN as PACKS, Pack};
use tailscope::store::build::{build, window};

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn hints(zone: &Zone) -> Hints<'_> {
    Hints {
        name: "x",
        request: None,
        zone,
        log_formats: &[],
    }
}

#[test]
fn formats_have_names_of_their_own_and_stand_in_the_docs() {
    let readme = page("README.md");
    let mut seen = BTreeSet::new();
    for format in formats::ALL {
        assert!(
            seen.insert(format.id()),
            "two formats are called {}",
            format.id()
        );
        assert!(!format.title().is_empty());
        assert!(
            readme.contains(&format!("`{}`", format.id())),
            "README.md does not list the format {}",
            format.id()
        );
    }
}

#[test]
fn formats_survive_what_is_not_theirs() {
    let zone = Zone::utc();
    let bad: &[&[u8]] = &[
        b"",
        b"\0\0\0\0",
        b"{",
        b"[",
        b"[[[[[[[[[[[[[[[[",
        b"{\"a\":",
        b"\xff\xfe",
        b"\x1f\x8b\x08",
        b"goroutine ",
        b"\n\n\n",
        b"\"",
        b"a,b\n1",
        b"time,title\n",
        b"NaN",
    ];
    for format in formats::ALL {
        for bytes in bad {
            drop(format.sniff(&Head::new(bytes)));
            // Whatever it says, it says it with words and without a panic.
            if let Err(error) = format.read(
                bytes,
                &hints(&zone),
                &mut Batch::default(),
                &mut Reporter::new(),
            ) {
                assert!(
                    !error.what.is_empty() && !error.code.is_empty(),
                    "{}: an error without words",
                    format.id()
                );
                assert!(
                    !error.expected.is_empty(),
                    "{}: does not say what it expected: {error}",
                    format.id()
                );
            }
        }
    }
}

#[test]
fn formats_have_a_fuzz_target_whose_corpus_is_read_without_a_panic() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let zone = Zone::utc();
    for format in formats::ALL {
        let target = format!("fuzz_targets/{}.rs", format.id().replace('-', "_"));
        assert!(fuzz.join(&target).is_file(), "fuzz/{target} is missing");
        let folder = fuzz.join("corpus").join(format.id());
        let mut is_recognised = false;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let bytes = std::fs::read(&path).unwrap();
            // The seed itself, and cut short at every place: what a fuzzer tries first.
            for end in 0..=bytes.len() {
                let cut = &bytes[..end];
                drop(format.sniff(&Head::new(cut)));
                drop(format.read(
                    cut,
                    &hints(&zone),
                    &mut Batch::default(),
                    &mut Reporter::new(),
                ));
            }
            is_recognised |= matches!(format.sniff(&Head::new(&bytes)), formats::Sniff::Yes(_));
        }
        assert!(
            is_recognised,
            "no seed of {} is recognised as it",
            format.id()
        );
    }
}

#[test]
fn detectors_say_what_they_do_and_answer_an_empty_incident_with_not_enough() {
    let mut kinds = BTreeSet::new();
    let snapshot = build(Vec::new());
    let context = Context {
        snapshot: &snapshot,
        window: window(&snapshot, None, None),
    };
    for detector in detect::ALL {
        let word = detector.kind().word();
        assert!(kinds.insert(word), "two detectors make {word}");
        assert!(
            detector.doc().len() > 80,
            "{word}: the doc says too little: {:?}",
            detector.doc()
        );
        let verdict = detector.check(&context);
        assert!(
            matches!(verdict, Verdict::NotEnough(_)),
            "{word} answers {verdict:?} without any data"
        );
    }
}

#[test]
fn the_page_on_detectors_is_made_from_their_own_words() {
    let mut want = String::from(
        "# Detectors\n\nWhat each one finds, from what, by which formula, and when it stays silent. Made from the code: \\\n\
         `TAILSCOPE_BLESS=1 cargo nextest run --test it compliance` writes it anew.\n",
    )
    .replace("\\\n", "\n");
    for detector in detect::ALL {
        write!(
            want,
            "\n## `{}`\n\n{}\n",
            detector.kind().word(),
            detector.doc()
        )
        .unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/detectors.md");
    if std::env::var_os("TAILSCOPE_BLESS").is_some() {
        std::fs::write(&path, &want).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == want,
        "docs/detectors.md is not what the detectors say"
    );
}

#[test]
fn packs_and_signatures_are_read_whole() {
    let folder = |name: &str| -> BTreeSet<String> {
        std::fs::read_dir(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("assets")
                .join(name),
        )
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
    };
    for (name, text) in PACKS {
        toml::from_str::<Pack>(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    assert_eq!(
        folder("packs"),
        PACKS.iter().map(|(name, _)| (*name).to_owned()).collect()
    );
    for (name, text) in SIGNATURES {
        Signature::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    assert_eq!(
        folder("signatures"),
        SIGNATURES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect()
    );
}
