use std::io::Read as _;
use std::path::Path;

use super::*;
use crate::base::fs;
use crate::base::time::TimeRange;
use crate::session::analysis::{Asked, Document};
use crate::session::bundle::append::{Directory, prepare};
use crate::session::intake::{self, Limits, Options};

fn time(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

fn recording() -> Recording {
    Recording::new(
        time("2026-08-01T00:00:00Z"),
        time("2026-08-01T01:00:00Z"),
        vec![RecordedSource {
            name: "prod".to_owned(),
            kind: "prometheus".to_owned(),
            url: Some("http://10.0.0.5:9090".to_owned()),
            insecure_skip_verify: false,
        }],
    )
}

fn exchange(metric: &str, status: u16) -> Exchange {
    let body = format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"__name__":"{metric}","job":"api"}},"values":[[1785542400,"1"],[1785542415,"2"],[1785542430,"3"]]}}]}}}}"#
    );
    Exchange {
        source: "prod".to_owned(),
        kind: "prometheus".to_owned(),
        question: Question {
            method: "GET".to_owned(),
            path: format!("/api/v1/query?query={metric}%5B1h%5D&time=1785546000"),
            content_type: None,
            body: None,
            again: 0,
        },
        answer: Answer {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: if status == 200 {
                body.into_bytes().into()
            } else {
                b"<html>no</html>".to_vec().into()
            },
            cut: None,
        },
        at: time("2026-08-01T02:00:00Z"),
        took_ms: 12,
    }
}

fn endings() -> Vec<Ending> {
    vec![Ending {
        source: "prod".to_owned(),
        warnings: Vec::new(),
    }]
}

fn open(path: &Path) -> Bundle {
    read("b.tailscope", fs::read(path).unwrap(), &Limits::default()).unwrap()
}

#[test]
fn what_was_kept_comes_back_and_any_zip_tool_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("b.tailscope");
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    recorder.keep(&exchange("up", 200)).unwrap();
    recorder.keep(&exchange("down", 404)).unwrap();
    recorder.add("logs/access.log", b"hello").unwrap();
    recorder.finish(endings()).unwrap();
    assert!(!part_of(&target).exists());

    let bundle = open(&target);
    assert!(bundle.is_finished);
    assert_eq!(bundle.damage, []);
    assert_eq!(bundle.recording, recording());
    assert_eq!(
        bundle.exchanges,
        [exchange("down", 404), exchange("up", 200)]
    );
    assert_eq!(
        bundle.inputs,
        [("logs/access.log".to_owned(), b"hello".to_vec())]
    );

    let mut zip = zip::ZipArchive::new(std::fs::File::open(&target).unwrap()).unwrap();
    assert_eq!(zip.len(), 7);
    let mut text = String::new();
    zip.by_name("recording.json")
        .unwrap()
        .read_to_string(&mut text)
        .unwrap();
    assert!(text.contains(SCHEMA), "{text}");
}

#[test]
fn a_recording_that_ends_at_any_byte_keeps_every_whole_exchange_and_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("b.tailscope");
    let part = part_of(&target);
    let mut kept_at = Vec::new();
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    for metric in ["a", "b", "c"] {
        recorder.keep(&exchange(metric, 200)).unwrap();
        kept_at.push(std::fs::metadata(&part).unwrap().len());
    }
    drop(recorder);
    let whole = fs::read(&part).unwrap();

    for end in 1..=whole.len() {
        let kept = kept_at.iter().filter(|at| **at <= end as u64).count();
        let read = read("b", whole[..end].to_vec(), &Limits::default());
        match read {
            Ok(bundle) => {
                assert_eq!(bundle.exchanges.len(), kept, "at {end}");
                assert!(!bundle.is_finished);
                assert_eq!(bundle.damage[0].code, "recording_broke_off");
            }
            Err(error) => assert!(kept == 0, "at {end}: {error}"),
        }
    }
    // Going on: the middle of the last exchange is cut off and asked again.
    let cut = usize::try_from(kept_at[1]).unwrap() + 40;
    fs::write_atomic(&part, &whole[..cut]).unwrap();
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    assert_eq!(recorder.earlier_count(), 2);
    assert_eq!(
        recorder.earlier(&exchange("a", 200).key()),
        Some(&exchange("a", 200))
    );
    recorder.keep(&exchange("c", 200)).unwrap();
    recorder.finish(endings()).unwrap();
    let bundle = open(&target);
    assert_eq!(bundle.exchanges.len(), 3);
    assert_eq!(bundle.damage, []);
}

#[test]
fn a_bad_answer_is_asked_again_and_the_later_one_counts() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("b.tailscope");
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    recorder.keep(&exchange("up", 503)).unwrap();
    drop(recorder);
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    assert_eq!(recorder.earlier_count(), 0);
    let mut later = exchange("up", 200);
    later.at = later.at.plus_nanos(5);
    recorder.keep(&later).unwrap();
    recorder.finish(endings()).unwrap();
    assert_eq!(open(&target).exchanges, [later]);
}

#[test]
fn two_recordings_do_not_write_one_file_and_another_window_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("b.tailscope");
    let first = Recorder::begin(&target, recording()).unwrap();
    let busy = Recorder::begin(&target, recording()).unwrap_err();
    assert!(matches!(busy, BundleError::Busy { .. }), "{busy}");
    drop(first);
    let mut other = recording();
    other.end = other.end.plus_nanos(1_000_000_000);
    let refused = Recorder::begin(&target, other).unwrap_err().to_string();
    assert!(
        refused.contains("2026-08-01T00:00:00Z to 2026-08-01T01:00:00Z"),
        "{refused}"
    );
}

#[test]
fn a_newer_form_is_refused_with_words_and_a_changed_entry_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("b.tailscope");
    let mut newer = recording();
    newer.schema = "tailscope.bundle/2".to_owned();
    Recorder::begin(&target, newer)
        .unwrap()
        .finish(endings())
        .unwrap();
    let bytes = fs::read(&target).unwrap();
    let error = read("b.tailscope", bytes, &Limits::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "b.tailscope has the form tailscope.bundle/2, and this version reads up to tailscope.bundle/1; open it with a newer tailscope"
    );

    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    recorder.add("note.txt", b"short text").unwrap();
    recorder.finish(endings()).unwrap();
    let mut bytes = fs::read(&target).unwrap();
    let at = bytes.windows(10).position(|w| w == b"short text").unwrap();
    bytes[at] = b'S';
    let bundle = read("b", bytes, &Limits::default()).unwrap();
    assert_eq!(bundle.damage[0].code, "bad_member");
}

#[test]
fn names_that_lead_out_are_refused() {
    let mut directory = Directory::default();
    let mut bytes = Vec::new();
    let opening = serde_json::to_vec(&recording()).unwrap();
    for (name, body) in [
        ("recording.json", opening.as_slice()),
        ("inputs/../../etc/passwd", b"x"),
        ("inputs/good.txt", b"y"),
    ] {
        let entry = prepare(name, body, false).unwrap();
        directory.append(entry, &mut bytes).unwrap();
    }
    directory.close(&mut bytes).unwrap();
    let bundle = read("b", bytes, &Limits::default()).unwrap();
    assert_eq!(bundle.damage[0].code, "unsafe_name");
    assert_eq!(bundle.inputs.len(), 1);
}

#[test]
fn more_entries_than_the_old_form_can_count() {
    let mut directory = Directory::default();
    let mut bytes = Vec::new();
    for at in 0..70_000 {
        let entry = prepare(&format!("e{at}"), b"", false).unwrap();
        directory.append(entry, &mut bytes).unwrap();
    }
    directory.close(&mut bytes).unwrap();
    let archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    assert_eq!(archive.len(), 70_000);
}

#[test]
fn a_bundle_gives_the_same_report_as_the_pull_it_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("night.tailscope");
    let mut recorder = Recorder::begin(&target, recording()).unwrap();
    let mut packed = exchange("packed", 200);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &packed.answer.body).unwrap();
    packed.answer.body = gzip.finish().unwrap().into();
    packed
        .answer
        .headers
        .push(("content-encoding".to_owned(), "gzip".to_owned()));
    let exchanges = vec![exchange("down", 404), packed, exchange("up", 200)];
    for exchange in &exchanges {
        recorder.keep(exchange).unwrap();
    }
    recorder.finish(endings()).unwrap();
    let live = Bundle {
        recording: recording(),
        endings: endings(),
        exchanges,
        inputs: Vec::new(),
        notes: None,
        is_finished: true,
        damage: Vec::new(),
    };
    let options = Options::default();
    let live = Document::new(intake::read_recording(live, &options), Asked::default());
    let recorded = intake::read(&[target], &options, &mut std::io::empty());
    assert!(recorded.is_useful && !recorded.is_partial);
    let recorded = Document::new(recorded, Asked::default());
    assert_eq!(recorded.window, {
        TimeRange::new(recording().start, recording().end)
    });
    let json = |document: &Document| serde_json::to_string_pretty(&document.report(None)).unwrap();
    assert_eq!(json(&live), json(&recorded));
    let paths: Vec<_> = recorded
        .snapshot
        .inputs
        .iter()
        .map(|i| (i.path.as_str(), i.format.as_str()))
        .collect();
    assert_eq!(
        paths,
        [
            (
                "prod: GET /api/v1/query?query=down%5B1h%5D&time=1785546000",
                "refused"
            ),
            (
                "prod: GET /api/v1/query?query=packed%5B1h%5D&time=1785546000",
                "prometheus-api"
            ),
            (
                "prod: GET /api/v1/query?query=up%5B1h%5D&time=1785546000",
                "prometheus-api"
            ),
            ("prod: prometheus http://10.0.0.5:9090", "source"),
        ]
    );
}
