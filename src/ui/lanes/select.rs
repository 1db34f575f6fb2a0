//! From the text of a selector to series, and from the evidence of a finding to series.
//!
//! `metric` takes every series of that name, `metric{a="b"}` those that carry at least these labels. Where one series was read both
//! as stored samples and evaluated on a grid, the stored samples are taken: they alone tell the truth about gaps.

use std::collections::BTreeMap;

use crate::model::finding::Finding;
use crate::model::input::Evidence;
use crate::model::labels::Labels;
use crate::store::Snapshot;

/// Full selector → its series, stored samples first.
pub(super) type Index = BTreeMap<String, Vec<usize>>;

/// The index of all series.
pub(super) fn index(snapshot: &Snapshot) -> Index {
    let mut index = Index::new();
    for (ix, series) in snapshot.series.iter().enumerate() {
        index.entry(series.selector()).or_default().push(ix);
    }
    for series in index.values_mut() {
        series.sort_by_key(|ix| {
            snapshot
                .series
                .get(*ix)
                .is_none_or(|s| !s.sampling.is_raw())
        });
    }
    index
}

/// The series that a selector takes, in order of labels.
pub(super) fn series(snapshot: &Snapshot, index: &Index, selector: &str) -> Vec<usize> {
    if let Some(known) = index.get(selector) {
        // A name without labels takes them all, also when one series has none.
        let is_whole_metric = !snapshot.metric(selector).is_empty();
        if !is_whole_metric {
            return known.first().copied().into_iter().collect();
        }
    }
    let Some((metric, wanted)) = split(snapshot, selector) else {
        return Vec::new();
    };
    let mut found: BTreeMap<&Labels, usize> = BTreeMap::new();
    for ix in snapshot.metric(metric) {
        let Some(one) = snapshot.series.get(ix) else {
            continue;
        };
        if !wanted
            .iter()
            .all(|(name, value)| one.labels.get(name) == Some(value))
        {
            continue;
        }
        let kept = found.entry(&one.labels).or_insert(ix);
        let is_better = one.sampling.is_raw()
            && snapshot
                .series
                .get(*kept)
                .is_some_and(|k| !k.sampling.is_raw());
        if is_better {
            *kept = ix;
        }
    }
    found.into_values().collect()
}

/// Metric and labels. A metric may be an expression with braces of its own, so the known names decide.
fn split<'a>(snapshot: &Snapshot, selector: &'a str) -> Option<(&'a str, Vec<(String, String)>)> {
    if !snapshot.metric(selector).is_empty() {
        return Some((selector, Vec::new()));
    }
    let body = selector.strip_suffix('}')?;
    body.match_indices('{').find_map(|(at, _)| {
        let (metric, rest) = body.split_at_checked(at)?;
        let labels = labels(rest.strip_prefix('{')?)?;
        (!snapshot.metric(metric).is_empty()).then_some((metric, labels))
    })
}

/// `a="b",c="d"` as [`Labels`] prints it.
fn labels(text: &str) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start())?;
        pairs.push((name.trim().to_owned(), value));
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(pairs)
}

/// A quoted text with the escapes of `{:?}`, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, body.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                '0' => value.push('\0'),
                'u' => {
                    let code: String = chars
                        .by_ref()
                        .map(|(_, c)| c)
                        .skip_while(|c| *c == '{')
                        .take_while(|c| *c != '}')
                        .collect();
                    value.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

/// The series that a line of evidence points to: its locator ends in `SELECTOR @ TIME`.
pub(super) fn of_evidence(index: &Index, evidence: &Evidence) -> Option<usize> {
    let (text, _) = evidence.locator.rsplit_once(" @ ")?;
    let known = |text: &str| index.get(text).and_then(|found| found.first()).copied();
    known(text).or_else(|| {
        text.match_indices(' ')
            .find_map(|(at, _)| known(text.get(at + 1..)?))
    })
}

/// The series that a finding points to, each once, in order of its evidence.
pub(super) fn of_finding(index: &Index, finding: &Finding) -> Vec<usize> {
    let mut found = Vec::new();
    for evidence in &finding.evidence {
        if let Some(ix) = of_evidence(index, evidence)
            && !found.contains(&ix)
        {
            found.push(ix);
        }
    }
    found
}

/// What tells series of one lane apart: the values of the labels that differ, the metric too when it does.
pub(super) fn names(snapshot: &Snapshot, series: &[usize]) -> Vec<String> {
    let all: Vec<_> = series
        .iter()
        .filter_map(|ix| snapshot.series.get(*ix))
        .collect();
    let mut values: BTreeMap<&str, Vec<Option<&str>>> = BTreeMap::new();
    for one in &all {
        for (name, _) in one.labels.iter() {
            values.entry(name).or_default();
        }
    }
    for (name, seen) in &mut values {
        *seen = all.iter().map(|s| s.labels.get(name)).collect();
    }
    values.retain(|_, seen| seen.windows(2).any(|w| w.first() != w.last()));
    // Of labels that tell the same apart (a pod and its instance) the shortest is enough.
    let mut kept: Vec<(&str, Vec<Option<&str>>)> = Vec::new();
    let length = |seen: &[Option<&str>]| -> usize { seen.iter().flatten().map(|v| v.len()).sum() };
    for (name, seen) in values {
        match kept.iter_mut().find(|(_, known)| same_split(known, &seen)) {
            Some(known) if length(&seen) < length(&known.1) => *known = (name, seen),
            Some(_) => {}
            None => kept.push((name, seen)),
        }
    }
    let is_one_metric = all.windows(2).all(|w| w[0].metric == w[1].metric);
    let shared = shared_affixes(&kept);
    all.iter()
        .enumerate()
        .map(|(at, one)| {
            let mut parts: Vec<String> = Vec::new();
            if !is_one_metric {
                parts.push(one.metric.to_string());
            }
            for ((name, seen), cut) in kept.iter().zip(&shared) {
                if let Some(value) = seen.get(at).copied().flatten() {
                    let short = value.get(*cut..).filter(|v| !v.is_empty()).unwrap_or(value);
                    let is_bare = kept.len() == 1 || !value.bytes().all(|b| b.is_ascii_digit());
                    parts.push(if is_bare {
                        short.to_owned()
                    } else {
                        format!("{name} {value}")
                    });
                }
            }
            if parts.is_empty() {
                parts.push(own_name(one.labels.iter(), &one.metric));
            }
            parts.join(" · ")
        })
        .collect()
}

/// The name of the only series of a lane: whom it is about, else its metric.
fn own_name<'a>(labels: impl Iterator<Item = (&'a str, &'a str)>, metric: &str) -> String {
    let labels: BTreeMap<&str, &str> = labels.collect();
    ["pod", "instance", "service", "job"]
        .iter()
        .find_map(|name| labels.get(name))
        .map_or_else(|| metric.to_owned(), |name| (*name).to_owned())
}

fn same_split(one: &[Option<&str>], other: &[Option<&str>]) -> bool {
    let pairs: std::collections::BTreeSet<_> = one.iter().zip(other).collect();
    let left: std::collections::BTreeSet<_> = one.iter().collect();
    let right: std::collections::BTreeSet<_> = other.iter().collect();
    pairs.len() == left.len() && pairs.len() == right.len()
}

/// How many bytes all values of a label begin with alike, up to a border between words, when that is much
/// (`ingress-nginx-controller-6b9d5c4f7-`): what is left is what a person reads.
fn shared_affixes(kept: &[(&str, Vec<Option<&str>>)]) -> Vec<usize> {
    kept.iter()
        .map(|(_, seen)| {
            let mut values = seen.iter().flatten();
            let Some(first) = values.next() else {
                return 0;
            };
            let mut shared = first.len();
            for value in values {
                let same = first
                    .bytes()
                    .zip(value.bytes())
                    .take_while(|(a, b)| a == b)
                    .count();
                shared = shared.min(same);
            }
            let head = first.as_bytes().get(..shared).unwrap_or_default();
            let border = head
                .iter()
                .rposition(|b| matches!(b, b'-' | b'/' | b'_'))
                .map_or(0, |at| at + 1);
            if border >= 8 { border } else { 0 }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::series::{Sampling, Series};
    use std::sync::Arc;

    type Told<'a> = (&'a str, &'a [(&'a str, &'a str)], Sampling);

    fn snapshot(series: &[Told<'_>]) -> Snapshot {
        let batch = crate::model::batch::Batch {
            series: series
                .iter()
                .map(|(metric, labels, sampling)| {
                    let mut one = Series::new(Arc::from(*metric), Labels::of(labels), *sampling);
                    one.t = vec![1, 2, 3];
                    one.v = vec![1.0, 2.0, 3.0];
                    one
                })
                .collect(),
            ..Default::default()
        };
        crate::store::build::build(vec![(input(), batch)])
    }

    fn input() -> crate::model::input::Input {
        crate::model::input::Input {
            id: "in-1".to_owned(),
            path: "a".to_owned(),
            format: String::new(),
            sha256: String::new(),
            counts: Default::default(),
            start: None,
            end: None,
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_selector_takes_what_carries_its_labels_and_prefers_stored_samples() {
        let grid = Sampling::Grid { step_nanos: 1 };
        let snapshot = snapshot(&[
            ("m", &[("a", "1"), ("b", "x")], Sampling::Raw),
            ("m", &[("a", "1"), ("b", "x")], grid),
            ("m", &[("a", "2"), ("b", "x")], grid),
            (
                "sum(rate(m{a=\"1\"}[1m])) by (b)",
                &[("b", "q\"uote")],
                grid,
            ),
        ]);
        let index = index(&snapshot);
        let take = |selector: &str| series(&snapshot, &index, selector);
        assert_eq!(take("m").len(), 2);
        assert!(
            take("m")
                .iter()
                .any(|ix| snapshot.series[*ix].sampling.is_raw())
        );
        assert_eq!(take("m{a=\"2\"}").len(), 1);
        assert_eq!(take("m{a=\"3\"}").len(), 0);
        for one in &snapshot.series {
            assert_eq!(take(&one.selector()).len(), 1, "{}", one.selector());
        }
        assert_eq!(
            take("sum(rate(m{a=\"1\"}[1m])) by (b){b=\"q\\\"uote\"}").len(),
            1
        );
        assert!(take("nothing{a=}").is_empty());
    }

    #[test]
    fn evidence_leads_to_its_series() {
        let snapshot = snapshot(&[("m", &[("a", "x y")], Sampling::Raw)]);
        let index = index(&snapshot);
        let evidence = |locator: &str| Evidence {
            input: String::new(),
            locator: locator.to_owned(),
            quote: String::new(),
        };
        let at = "@ 2026-11-30T14:30:16Z";
        let found = of_evidence(&index, &evidence(&format!("$.data[0] m{{a=\"x y\"}} {at}")));
        assert_eq!(found, Some(0));
        assert_eq!(of_evidence(&index, &evidence("line 3")), None);
    }

    #[test]
    fn names_hold_only_what_differs() {
        let snapshot = snapshot(&[
            (
                "m",
                &[
                    ("pod", "controller-6b9d-aaa"),
                    ("i", "controller-6b9d-aaa:80"),
                    ("j", "x"),
                ],
                Sampling::Raw,
            ),
            (
                "m",
                &[
                    ("pod", "controller-6b9d-bbb"),
                    ("i", "controller-6b9d-bbb:80"),
                    ("j", "x"),
                ],
                Sampling::Raw,
            ),
        ]);
        assert_eq!(names(&snapshot, &[0, 1]), ["aaa", "bbb"]);
        assert_eq!(names(&snapshot, &[0]), ["controller-6b9d-aaa"]);
    }
}
