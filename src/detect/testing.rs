//! Help for the detectors' tests: a folder of recordings as a snapshot.
//!
//! A small stand-in for the real intake: it walks a folder, unpacks `.gz`, reads `requests.json` for hints, and gives
//! every file to the format that recognises it. Whatever cannot be read is left out without a word.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::id::{sha256_hex, stable_id};
use crate::base::reporter::Reporter;
use crate::base::time::{TimeRange, Timestamp, Zone};
use crate::detect::{Context, Detector, Verdict};
use crate::formats::{Head, Hints, Recognised, RequestHint, recognise};
use crate::model::batch::Batch;
use crate::model::finding::Finding;
use crate::model::input::{Input, InputIx};
use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series, SeriesSource};
use crate::store::{Snapshot, build};

/// Everything that can be read in a folder (or the one file) at `path`.
pub(crate) fn snapshot_of(path: &Path) -> Snapshot {
    let mut files = Vec::new();
    walk(path, &mut files);
    files.sort();
    let mut requests: BTreeMap<PathBuf, RequestHint> = BTreeMap::new();
    for file in &files {
        if file.file_name().is_some_and(|n| n == "requests.json") {
            read_requests(file, &mut requests);
        }
    }
    build::build(
        files
            .iter()
            .filter_map(|file| part(path, file, requests.get(file)))
            .collect(),
    )
}

fn walk(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        walk(&entry.path(), files);
    }
}

fn read_requests(file: &Path, into: &mut BTreeMap<PathBuf, RequestHint>) {
    let bytes = crate::base::fs::read(file).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let text = |v: &serde_json::Value| v.as_str().map(str::to_owned);
    for (name, request) in json.as_object().into_iter().flatten() {
        let hint = RequestHint {
            method: text(&request["method"]).unwrap_or_default(),
            path: text(&request["path"]).unwrap_or_default(),
            body: request.get("body").filter(|b| !b.is_null()).cloned(),
            at: request["at"].as_f64().and_then(Timestamp::from_secs_f64),
            http: request["http"].as_u64().and_then(|n| u16::try_from(n).ok()),
            ctype: text(&request["ctype"]),
            target: text(&request["target"]),
            is_pulled: false,
            window: None,
        };
        into.insert(file.with_file_name(name), hint);
    }
}

fn part(root: &Path, file: &Path, request: Option<&RequestHint>) -> Option<(Input, Batch)> {
    let packed = crate::base::fs::read(file).ok()?;
    let name = file.file_name()?.to_string_lossy().into_owned();
    let (bytes, name) = match name.strip_suffix(".gz") {
        Some(stem) if packed.starts_with(&[0x1f, 0x8b]) => {
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(packed.as_slice())
                .read_to_end(&mut plain)
                .ok()?;
            (plain, stem.to_owned())
        }
        _ => (packed.clone(), name),
    };
    let hints = Hints {
        name: &name,
        request,
        zone: &Zone::utc(),
        log_formats: &[],
    };
    let Recognised::As(format) = recognise(&Head::new(&bytes), &hints) else {
        return None;
    };
    let (mut batch, mut log) = (Batch::default(), Reporter::new());
    format.read(&bytes, &hints, &mut batch, &mut log).ok()?;
    let path = file
        .strip_prefix(root)
        .unwrap_or(file)
        .to_string_lossy()
        .into_owned();
    let sha256 = sha256_hex(&packed);
    let input = Input {
        id: stable_id("i", [path.as_str(), sha256.as_str()]),
        path,
        format: format.id().to_owned(),
        sha256,
        counts: batch.counts(),
        start: batch.extent().map(|r| r.start),
        end: batch.extent().map(|r| r.end),
        warnings: log.into_warnings(),
    };
    Some((input, batch))
}

/// A snapshot of hand-made rows, all of one input.
pub(crate) fn snapshot_from(batch: Batch) -> Snapshot {
    let input = Input {
        id: "i-test".to_owned(),
        path: "test".to_owned(),
        format: "test".to_owned(),
        sha256: String::new(),
        counts: batch.counts(),
        start: None,
        end: None,
        warnings: Vec::new(),
    };
    build::build(vec![(input, batch)])
}

/// A hand-made raw series; times in seconds.
pub(crate) fn raw(metric: &str, labels: &[(&str, &str)], samples: &[(f64, f64)]) -> Series {
    let mut series = Series::new(Arc::from(metric), Labels::of(labels), Sampling::Raw);
    series.t = samples
        .iter()
        .map(|(t, _)| (t * 1e3).round() as i64 * 1_000_000)
        .collect();
    series.v = samples.iter().map(|(_, v)| *v).collect();
    series.sources.push(SeriesSource {
        input: InputIx(0),
        locator: Arc::from("$"),
        range: TimeRange::ALL,
    });
    series
}

/// What a detector says of everything in a snapshot.
pub(crate) fn check(detector: &dyn Detector, snapshot: &Snapshot) -> Verdict {
    detector.check(&Context {
        snapshot,
        window: build::window(snapshot, None, None),
    })
}

/// What a detector finds in a snapshot.
pub(crate) fn findings(detector: &dyn Detector, snapshot: &Snapshot) -> Vec<Finding> {
    match check(detector, snapshot) {
        Verdict::Findings(found) => found,
        Verdict::Clear | Verdict::NotEnough(_) => Vec::new(),
    }
}
