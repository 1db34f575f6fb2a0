//! A public answer whose sums are known (`profiles.md` §11), both shapes of one graph, and broken ones.

#![expect(
    clippy::float_cmp,
    reason = "counts are whole numbers, and sums of them exact"
)]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::base::reporter::Warning;
use crate::base::time::Zone;
use crate::formats::RequestHint;

fn read(
    bytes: &[u8],
    request: Option<&RequestHint>,
) -> Result<(Profile, Vec<Warning>), FormatError> {
    let zone = Zone::utc();
    let hints = Hints {
        name: "profile",
        request,
        zone: &zone,
        log_formats: &[],
    };
    let (mut out, mut log) = (Batch::default(), Reporter::new());
    Pyroscope.read(bytes, &hints, &mut out, &mut log)?;
    Ok((out.profiles.remove(0), log.into_warnings()))
}

/// `main` 10 (own 1) → `work` 6 (own 6) and `wait` 3 (own 1) → `sleep` 2; nothing between `work` and `wait`, a gap of 1
/// behind `main`.
fn levels() -> [Vec<i64>; 4] {
    [
        vec![0, 11, 1, 0],
        vec![0, 10, 1, 1],
        vec![0, 6, 6, 2, 0, 3, 1, 3],
        vec![6, 2, 2, 4],
    ]
}

const NAMES: [&str; 5] = ["total", "main.main", "main.work", "main.wait", "time.Sleep"];

fn check(profile: &Profile) {
    let stacks: Vec<(f64, String)> = profile
        .groups
        .iter()
        .map(|g| (g.value, g.folded()))
        .collect();
    let expected = [
        (6.0, "main.work;main.main"),
        (2.0, "time.Sleep;main.wait;main.main"),
        (1.0, ""),
        (1.0, "main.main"),
        (1.0, "main.wait;main.main"),
    ];
    let expected: Vec<(f64, String)> = expected
        .iter()
        .map(|(v, s)| (*v, (*s).to_owned()))
        .collect();
    assert_eq!(stacks, expected);
    assert_eq!(profile.total, 11.0);
}

#[test]
fn both_shapes_are_the_same_profile() {
    let render = json!({
        "version": 1,
        "flamebearer": {"names": NAMES, "levels": levels(), "numTicks": 11, "maxSelf": 6},
        "metadata": {"format": "single", "units": "samples", "name": "cpu", "sampleRate": 1_000_000_000},
        "timeline": {"startTime": 1_785_542_400, "samples": [0], "durationDelta": 15},
    });
    let (profile, warnings) = read(render.to_string().as_bytes(), None).unwrap();
    assert_eq!(warnings, []);
    check(&profile);
    assert_eq!(
        (profile.kind.as_ref(), profile.unit.as_ref()),
        ("cpu", "nanoseconds")
    );
    assert_eq!(profile.t.unwrap().to_rfc3339(), "2026-08-01T00:00:00Z");
    let levels: Vec<_> = levels()
        .iter()
        .map(|l| json!({"values": l.iter().map(i64::to_string).collect::<Vec<_>>()}))
        .collect();
    let connect =
        json!({"flamegraph": {"names": NAMES, "levels": levels, "total": "11", "maxSelf": "6"}});
    let request = RequestHint {
        method: "POST".to_owned(),
        path: "/querier.v1.QuerierService/SelectMergeStacktraces".to_owned(),
        body: Some(json!({
            "profileTypeID": "mutex:delay:nanoseconds:mutex:count",
            "labelSelector": "{service_name=\"check\\\"out\",namespace=\"shop\"}",
            "start": 1_785_542_400_000_i64, "end": "1785549600000",
        })),
        ..RequestHint::default()
    };
    let (profile, warnings) = read(connect.to_string().as_bytes(), Some(&request)).unwrap();
    assert_eq!(warnings, []);
    check(&profile);
    assert_eq!(
        (profile.kind.as_ref(), profile.unit.as_ref()),
        ("mutex", "nanoseconds")
    );
    assert_eq!(profile.process.as_ref(), "check\"out");
    assert_eq!(profile.t.unwrap().to_rfc3339(), "2026-08-01T00:00:00Z");
}

#[test]
fn the_question_says_what_it_is_of() {
    let of = |path: &str| {
        let request = RequestHint {
            path: path.to_owned(),
            ..RequestHint::default()
        };
        let bytes = br#"{"flamebearer":{"names":["total","a"],"levels":[[0,4,0,0],[0,4,4,1]]}}"#;
        let (profile, _) = read(bytes, Some(&request)).unwrap();
        format!(
            "{} {} {} {}",
            profile.kind,
            profile.unit,
            profile.process,
            profile.t.map_or_else(String::new, |t| t.to_rfc3339())
        )
    };
    assert_eq!(
        of(
            "/pyroscope/render?query=memory%3Ainuse_space%3Abytes%3Aspace%3Abytes%7Bservice_name%3D%22search%22%7D&from=1785542400&until=1785549600"
        ),
        "heap bytes search 2026-08-01T00:00:00Z"
    );
    // Counted once for each scrape of the time that was asked for: no dump.
    assert_eq!(
        of("/pyroscope/render?query=goroutines:goroutine:count:goroutine:count{}&from=now-1h"),
        "goroutine-merged count  "
    );
    assert_eq!(of("/pyroscope/render"), "profile   ");
}

#[test]
fn a_public_answer_has_the_known_sums() {
    let Some(path) =
        crate::base::testing::shared_data("public/profiles/pyroscope.flamebearer.json")
    else {
        return;
    };
    let bytes = crate::base::fs::read(&path).unwrap();
    assert_eq!(Pyroscope.sniff(&Head::new(&bytes)), Sniff::Yes(95));
    let (profile, warnings) = read(&bytes, None).unwrap();
    assert!(warnings.iter().all(|w| !w.lossy), "{warnings:?}");
    assert_eq!(profile.total, 953.0);
    assert_eq!(profile.groups[0].value, 732.0);
    assert_eq!(
        (
            profile.kind.as_ref(),
            profile.unit.as_ref(),
            profile.process.as_ref()
        ),
        ("cpu", "samples", "rideshare-app-golang")
    );
    let deepest = profile.groups.iter().map(|g| g.frames.len()).max();
    assert!(
        deepest.is_some_and(|d| (10..=16).contains(&d)),
        "{deepest:?}"
    );
}

#[test]
fn damage_is_told_and_the_rest_is_kept() {
    let graph = json!({"flamegraph": {"names": ["total", "a", "b"], "levels": [
        [0, 10, 0, 0],
        [0, 6, 1, 1, 0, 4, 2, 9],
        [0, 5, 5, 2, 3, 2, 2, 2],
        [1],
    ]}});
    let (profile, warnings) = read(graph.to_string().as_bytes(), None).unwrap();
    assert_eq!(profile.total, 6.0, "{profile:?}");
    assert!(
        warnings[0].lossy && warnings[0].text.starts_with("3 bars were left out"),
        "{warnings:?}"
    );
    assert_eq!(
        warnings[0].at.as_deref(),
        Some("levels[1]: a name that is not in `names`")
    );
    for (bytes, words) in [
        (
            &br#"{"flamebearer":{"names":["total"],"levels":[[0,1"#[..],
            "cut",
        ),
        (br#"{"flamebearer":{"levels":[[0,"x"]]}}"#, "`x`"),
        (br#"{"metadata":{}}"#, "neither"),
        (
            br#"{"flamebearer":{"names":[],"levels":[]},"metadata":{"format":"double"}}"#,
            "two profiles",
        ),
    ] {
        let error = read(bytes, None).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let (empty, warnings) = read(br#"{"flamegraph":{}}"#, None).unwrap();
    assert_eq!(
        (empty.groups.len(), warnings[0].code.as_str()),
        (0, "empty_profile")
    );
}

/// A tree of random shape as levels, with the sum of its own values.
fn tree() -> impl Strategy<Value = (Vec<Vec<i64>>, i64)> {
    proptest::collection::vec((0_i64..4, 0_usize..3), 1..40).prop_map(|nodes| {
        // Children of the node before, or of the one above it.
        let mut depth = 1;
        let mut flat: Vec<(usize, i64)> = Vec::new();
        for (own, step) in nodes {
            depth = match step {
                0 => depth,
                1 => depth + 1,
                _ => (depth - 1).max(1),
            };
            let deepest = flat.last().map_or(1, |(d, _)| d + 1);
            depth = depth.min(deepest);
            flat.push((depth, own));
        }
        let total_of = |at: usize| {
            let depth = flat[at].0;
            let below = flat[at + 1..].iter().take_while(|(d, _)| *d > depth);
            flat[at].1 + below.map(|(_, own)| own).sum::<i64>()
        };
        let deepest = flat.iter().map(|(d, _)| *d).max().unwrap_or(0);
        let mut levels = vec![Vec::new(); deepest + 1];
        let mut ends = vec![0_i64; deepest + 1];
        // Where each open node begins to place its next child.
        let mut starts = vec![0_i64; deepest + 2];
        for (at, (depth, own)) in flat.iter().enumerate() {
            let total = total_of(at);
            let start = starts[*depth];
            levels[*depth].extend([start - ends[*depth], total, *own, 1]);
            ends[*depth] = start + total;
            starts[*depth] = start + total;
            starts[*depth + 1] = start;
        }
        let sum = flat.iter().map(|(_, own)| own).sum();
        levels[0] = vec![0, sum, 0, 0];
        (levels, sum)
    })
}

proptest! {
    #[test]
    fn no_value_of_a_tree_is_lost((levels, sum) in tree()) {
        let graph = json!({"flamegraph": {"names": ["total", "f"], "levels": levels}});
        let (profile, warnings) = read(graph.to_string().as_bytes(), None).unwrap();
        prop_assert!(warnings.iter().all(|w| !w.lossy), "{warnings:?} {graph}");
        prop_assert_eq!(profile.total, sum as f64);
        prop_assert!(profile.groups.iter().all(|g| !g.frames.is_empty()));
    }

    #[test]
    fn any_numbers_never_panic(levels in proptest::collection::vec(proptest::collection::vec(any::<i64>(), 0..12), 0..6)) {
        let graph = json!({"flamegraph": {"names": ["total", "f"], "levels": levels}});
        let _read = read(graph.to_string().as_bytes(), None);
    }

    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _sniffed = Pyroscope.sniff(&Head::new(&bytes));
        let _read = read(&bytes, None);
    }
}
