//! What to ask over which times, and which traces to take: arithmetic only.

use std::collections::BTreeMap;

use crate::base::time::TimeRange;
use crate::sources::xray::answer::Row;

/// Longest window of one question: `GetServiceGraph` refuses more, and nobody knows what others do (`xray.md` §1).
pub(super) const LONGEST_MS: i64 = 6 * 3_600_000;
/// Rows of one slice that are read page by page, about.
const ROWS_PER_SLICE: u64 = 1_000;
/// Slices when nothing is known of how much there is; Grafana's plugin uses as many.
const USUAL_SLICES: i64 = 4;
/// Slices at most.
const MOST_SLICES: i64 = 96;
/// Below this a window is not cut in several without need.
const SHORT_MS: i64 = 600_000;
/// Shortest piece that is worth a question of its own.
const SHORTEST_MS: i64 = 1_000;
/// Times that a slice is halved.
const MOST_HALVINGS: u32 = 6;
/// Ids in one `BatchGetTraces`; a sixth is refused (`xray.md` §1).
pub(super) const BATCH: usize = 5;
/// Ids in one `StartTraceRetrieval` (service model).
pub(super) const RETRIEVAL: usize = 100;

/// A piece of the window, start included, end not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slice {
    /// From, in milliseconds since the epoch.
    pub(super) from_ms: i64,
    /// To.
    pub(super) to_ms: i64,
    /// How often it was halved.
    halvings: u32,
}

impl Slice {
    /// Its two halves; `None` when it is as short as is worth a question.
    pub(super) fn halves(self) -> Option<[Self; 2]> {
        let length = self.to_ms - self.from_ms;
        if self.halvings >= MOST_HALVINGS || length < 2 * SHORTEST_MS {
            return None;
        }
        let middle = self.from_ms + length / 2;
        Some(
            [(self.from_ms, middle), (middle, self.to_ms)].map(|(from_ms, to_ms)| Self {
                from_ms,
                to_ms,
                halvings: self.halvings + 1,
            }),
        )
    }
}

/// The window in `pieces` of equal length.
fn cut(window: TimeRange, pieces: i64) -> Vec<Slice> {
    let from = window.start.millis();
    let to = from.max(ceil_ms(window.end));
    let longest = ((to - from) / SHORTEST_MS).max(1);
    let pieces = pieces.clamp(1, longest);
    let edge = |n: i64| {
        let part = i128::from(to - from) * i128::from(n) / i128::from(pieces);
        from + i64::try_from(part).unwrap_or(0)
    };
    (0..pieces)
        .map(|n| Slice {
            from_ms: edge(n),
            to_ms: edge(n + 1),
            halvings: 0,
        })
        .filter(|slice| slice.from_ms < slice.to_ms)
        .collect()
}

fn ceil_ms(t: crate::base::time::Timestamp) -> i64 {
    let millis = t.millis();
    millis + i64::from(t.nanos() > millis * 1_000_000)
}

/// As few pieces as the service takes.
pub(super) fn chunks(window: TimeRange) -> Vec<Slice> {
    cut(window, fewest(window))
}

/// The window in one piece.
pub(super) fn whole(window: TimeRange) -> Slice {
    Slice {
        from_ms: window.start.millis(),
        to_ms: ceil_ms(window.end),
        halvings: 0,
    }
}

fn fewest(window: TimeRange) -> i64 {
    let length = ceil_ms(window.end) - window.start.millis();
    (length + LONGEST_MS - 1) / LONGEST_MS
}

/// Pieces that are read beside one another; `traces` is how many there are about, when known.
pub(super) fn slices(window: TimeRange, traces: Option<u64>) -> Vec<Slice> {
    let length = ceil_ms(window.end) - window.start.millis();
    let by_count = match traces {
        Some(traces) => i64::try_from(traces.div_ceil(ROWS_PER_SLICE)).unwrap_or(i64::MAX),
        None if length <= SHORT_MS => 1,
        None => USUAL_SLICES,
    };
    cut(window, by_count.min(MOST_SLICES).max(fewest(window)))
}

/// Which traces to fetch whole, and how many of them for what.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Ids, sorted.
    pub(super) ids: Vec<String>,
    /// Rows that there were.
    pub(super) of: usize,
    /// Taken since they failed or took longest.
    pub(super) worst: usize,
    /// Taken evenly of the rest.
    pub(super) even: usize,
    /// Left out.
    pub(super) left: usize,
}

/// Takes at most `most` of the rows: those that are `wanted` by name, then up to half for the failed and slow ones, the
/// worst first, and the rest evenly by id, which begins with the time.
pub(super) fn choose(rows: &BTreeMap<String, Row>, wanted: &[String], most: usize) -> Choice {
    let mut ids: Vec<&str> = wanted.iter().map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    let rest: Vec<&Row> = rows
        .values()
        .filter(|row| ids.binary_search(&row.id.as_str()).is_err())
        .collect();
    let room = most.saturating_sub(ids.len());
    let mut choice = Choice {
        of: rows.len(),
        ..Choice::default()
    };
    if rest.len() <= room {
        ids.extend(rest.iter().map(|row| row.id.as_str()));
    } else {
        let mut by_harm = rest.clone();
        by_harm.sort_by(|a, b| {
            (b.is_bad, b.took_s)
                .partial_cmp(&(a.is_bad, a.took_s))
                .unwrap_or(std::cmp::Ordering::Equal)
                .then_with(|| a.id.cmp(&b.id))
        });
        choice.worst = room / 2;
        let mut worst: Vec<&str> = by_harm
            .iter()
            .take(choice.worst)
            .map(|row| row.id.as_str())
            .collect();
        worst.sort_unstable();
        let others: Vec<&str> = rest
            .iter()
            .map(|row| row.id.as_str())
            .filter(|id| worst.binary_search(id).is_err())
            .collect();
        choice.even = room - choice.worst;
        choice.left = rest.len() - room;
        let even = (0..choice.even)
            .filter_map(|n| others.get(n * others.len() / choice.even.max(1)).copied());
        ids.extend(even);
        ids.extend(worst);
    }
    choice.ids = ids.into_iter().map(str::to_owned).collect();
    choice.ids.sort_unstable();
    choice.ids.dedup();
    choice
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;

    fn window(secs: i64) -> TimeRange {
        let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
        TimeRange::new(start, start.plus_nanos(secs * 1_000_000_000))
    }

    #[test]
    fn slices_touch_and_none_is_too_long() {
        for (secs, traces, count) in [
            (60, None, 1),
            (7_200, None, 4),
            (7_200, Some(300), 1),
            (7_200, Some(30_500), 31),
            (50_400, Some(0), 3),
            (7_200, Some(u64::MAX), 96),
            (0, Some(7_000), 0),
            (3, Some(7_000), 3),
        ] {
            let slices = slices(window(secs), traces);
            assert_eq!(slices.len(), count, "{secs} s, {traces:?}");
            for pair in slices.windows(2) {
                assert_eq!(pair[0].to_ms, pair[1].from_ms);
            }
            assert!(slices.iter().all(|s| s.to_ms - s.from_ms <= LONGEST_MS));
            let whole: i64 = slices.iter().map(|s| s.to_ms - s.from_ms).sum();
            assert_eq!(whole, secs * 1_000);
        }
    }

    #[test]
    fn halving_ends() {
        let mut slice = chunks(window(21_600))[0];
        let mut halvings = 0;
        while let Some([left, right]) = slice.halves() {
            assert_eq!(left.to_ms, right.from_ms);
            slice = right;
            halvings += 1;
        }
        assert_eq!(halvings, MOST_HALVINGS);
        assert_eq!(chunks(window(1))[0].halves(), None);
    }

    #[test]
    fn of_too_many_traces_the_worst_and_an_even_share_are_taken() {
        let row = |n: usize| Row {
            id: format!("t{n:03}"),
            is_bad: n == 500,
            took_s: if n == 7 { 9.0 } else { 0.1 },
        };
        let rows: BTreeMap<String, Row> = (0..1000).map(row).map(|r| (r.id.clone(), r)).collect();
        let wanted = ["own".to_owned()];
        let choice = choose(&rows, &wanted, 11);
        assert_eq!((choice.of, choice.worst, choice.even), (1000, 5, 5));
        assert_eq!(choice.left, 990);
        assert_eq!(choice.ids.len(), 11, "{choice:?}");
        for id in ["own", "t007", "t500"] {
            assert!(choice.ids.iter().any(|i| i == id), "{id}");
        }
        assert_eq!(choose(&rows, &wanted, 1001).ids.len(), 1001);
        assert_eq!(choose(&rows, &wanted, 0).ids, ["own"]);
    }
}
