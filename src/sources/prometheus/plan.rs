//! What to ask of which metrics over which times: arithmetic only.

use crate::base::time::{TimeRange, Timestamp};

/// Samples of one answer, about: 25 MB of JSON, a second or two of work for the server.
pub(super) const SAMPLES_PER_REQUEST: f64 = 1_000_000.0;
/// Metrics of one request.
const METRICS_PER_REQUEST: usize = 40;
/// Letters of the names in one request; addresses of more than 8 kB are refused by proxies, and a GET shows in their logs.
const LETTERS_PER_REQUEST: usize = 2_000;
/// Steps of one `query_range` (`prometheus.md` §1.2: 11,000 intervals are allowed and give 11,001 points).
const STEPS_PER_REQUEST: i64 = 10_999;
/// A question is halved in time so often at most: what a 64th of it does not mend (a limit on series) is not asked for a
/// thousand times over.
const MOST_CUTS: u8 = 6;

/// A metric and how much there is of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// Its name.
    pub(super) metric: String,
    /// Series of it.
    pub(super) series: u64,
}

/// One question for raw samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Raw {
    /// Names of the metrics.
    pub(super) metrics: Vec<String>,
    /// From, in milliseconds since the epoch.
    pub(super) from_ms: i64,
    /// To, not included.
    pub(super) to_ms: i64,
    /// How often it was halved in time.
    pub(super) cuts: u8,
}

impl Raw {
    /// The two halves of it, to ask again for less. `None` when it is too short for that.
    pub(super) fn halves(&self) -> Option<[Self; 2]> {
        if self.metrics.len() > 1 {
            let (left, right) = self.metrics.split_at(self.metrics.len() / 2);
            return Some([left, right].map(|metrics| Self {
                metrics: metrics.to_vec(),
                ..self.clone()
            }));
        }
        self.halves_of_time()
    }

    /// The same in time alone: the server does not answer for so long a time, of however few metrics.
    pub(super) fn halves_of_time(&self) -> Option<[Self; 2]> {
        let middle = self.from_ms + (self.to_ms - self.from_ms) / 2;
        let is_enough = self.cuts >= MOST_CUTS || self.to_ms - self.from_ms < 2_000;
        (!is_enough).then(|| {
            [(self.from_ms, middle), (middle, self.to_ms)].map(|(from_ms, to_ms)| Self {
                metrics: self.metrics.clone(),
                from_ms,
                to_ms,
                cuts: self.cuts + 1,
            })
        })
    }
}

/// A piece of a person's query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Own {
    /// The expression.
    pub(super) expr: String,
    /// First point, in milliseconds since the epoch.
    pub(super) from_ms: i64,
    /// No point after that.
    pub(super) to_ms: i64,
    /// Between two points.
    pub(super) step_ms: i64,
}

impl Own {
    /// Its two halves, on the same grid. `None` when it is one point.
    pub(super) fn halves(&self) -> Option<[Self; 2]> {
        let steps = (self.to_ms - self.from_ms) / self.step_ms.max(1);
        let middle = self.from_ms + steps / 2 * self.step_ms;
        (steps > 0).then(|| {
            [(self.from_ms, middle), (middle + self.step_ms, self.to_ms)].map(|(from_ms, to_ms)| {
                Self {
                    from_ms,
                    to_ms,
                    ..self.clone()
                }
            })
        })
    }
}

/// Samples of `series` over `window`, when there is one each `interval_s`.
pub(super) fn samples(series: u64, window: TimeRange, interval_s: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a number of series")]
    let series = series as f64;
    series * (window.secs() / interval_s + 1.0)
}

/// Splits `wanted`, in its order, so that each answer has about [`SAMPLES_PER_REQUEST`].
pub(super) fn raw(wanted: &[Wanted], window: TimeRange, interval_s: f64) -> Vec<Raw> {
    let (from_ms, to_ms) = (floor_ms(window.start), ceil_ms(window.end));
    let mut requests = Vec::new();
    let mut group: Vec<String> = Vec::new();
    let (mut held, mut letters) = (0.0, 0);
    for one in wanted {
        let own = samples(one.series.max(1), window, interval_s);
        if own > SAMPLES_PER_REQUEST {
            requests.extend(in_pieces(&one.metric, from_ms, to_ms, own));
            continue;
        }
        let is_full = held + own > SAMPLES_PER_REQUEST
            || group.len() >= METRICS_PER_REQUEST
            || letters + one.metric.len() > LETTERS_PER_REQUEST;
        if is_full && !group.is_empty() {
            requests.push(Raw {
                metrics: std::mem::take(&mut group),
                from_ms,
                to_ms,
                cuts: 0,
            });
            (held, letters) = (0.0, 0);
        }
        held += own;
        letters += one.metric.len() + 1;
        group.push(one.metric.clone());
    }
    if !group.is_empty() {
        requests.push(Raw {
            metrics: group,
            from_ms,
            to_ms,
            cuts: 0,
        });
    }
    requests
}

fn in_pieces(metric: &str, from_ms: i64, to_ms: i64, samples: f64) -> Vec<Raw> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most the samples of a window, and at least 1"
    )]
    let pieces = ((samples / SAMPLES_PER_REQUEST).ceil() as i64).clamp(1, (to_ms - from_ms).max(1));
    (0..pieces)
        .map(|n| {
            let edge = |n: i64| {
                from_ms
                    + i64::try_from(
                        i128::from(to_ms - from_ms) * i128::from(n) / i128::from(pieces),
                    )
                    .unwrap_or(0)
            };
            Raw {
                metrics: vec![metric.to_owned()],
                from_ms: edge(n),
                to_ms: edge(n + 1),
                cuts: 0,
            }
        })
        .collect()
}

/// The pieces of a `query_range` over `window` at `step_ms`: each starts one step after the end of the one before it.
pub(super) fn stepped(window: TimeRange, step_ms: i64) -> Vec<(i64, i64)> {
    let (from, to) = (floor_ms(window.start), ceil_ms(window.end));
    let mut pieces = Vec::new();
    let mut start = from;
    while start <= to {
        let end = (start + STEPS_PER_REQUEST * step_ms).min(to);
        pieces.push((start, end));
        // The last point of this piece lies on the grid, at or before its end.
        let points = (end - start) / step_ms;
        start += (points + 1) * step_ms;
    }
    pieces
}

fn floor_ms(t: Timestamp) -> i64 {
    t.millis()
}

fn ceil_ms(t: Timestamp) -> i64 {
    let millis = t.millis();
    millis + i64::from(t.nanos() > millis * 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(secs: i64) -> TimeRange {
        let start = Timestamp::parse_rfc3339("2026-08-01T00:00:00Z").unwrap();
        TimeRange::new(start, start.plus_nanos(secs * 1_000_000_000))
    }

    fn wanted(metric: &str, series: u64) -> Wanted {
        Wanted {
            metric: metric.to_owned(),
            series,
        }
    }

    #[test]
    fn small_metrics_share_a_request_and_large_ones_are_split_in_time() {
        let plan = raw(
            &[wanted("a", 10), wanted("big", 10_000), wanted("b", 10)],
            window(7200),
            15.0,
        );
        let sizes: Vec<_> = plan
            .iter()
            .map(|r| (r.metrics.join("|"), r.to_ms - r.from_ms))
            .collect();
        assert_eq!(
            sizes,
            [
                ("big".to_owned(), 1_440_000),
                ("big".to_owned(), 1_440_000),
                ("big".to_owned(), 1_440_000),
                ("big".to_owned(), 1_440_000),
                ("big".to_owned(), 1_440_000),
                ("a|b".to_owned(), 7_200_000),
            ]
        );
        // Nothing between the pieces, nothing twice.
        for pair in plan[..5].windows(2) {
            assert_eq!(pair[0].to_ms, pair[1].from_ms);
        }
    }

    #[test]
    fn a_request_that_was_too_much_is_halved_by_metrics_first_then_by_time() {
        let request = Raw {
            metrics: vec!["a".to_owned(), "b".to_owned()],
            from_ms: 0,
            to_ms: 10_000,
            cuts: 0,
        };
        let [left, right] = request.halves().unwrap();
        assert_eq!((left.metrics.len(), right.metrics.len()), (1, 1));
        let [early, late] = left.halves().unwrap();
        assert_eq!((early.to_ms, late.from_ms), (5_000, 5_000));
        let short = Raw {
            to_ms: 1_000,
            ..left.clone()
        };
        assert_eq!(short.halves(), None);
        let often = Raw {
            cuts: MOST_CUTS,
            ..left
        };
        assert_eq!(often.halves(), None);
    }

    #[test]
    fn the_halves_of_a_query_have_its_points_and_no_other() {
        let own = |from_ms, to_ms| Own {
            expr: String::new(),
            from_ms,
            to_ms,
            step_ms: 10,
        };
        let mut open = vec![own(3, 58)];
        let mut points = Vec::new();
        while let Some(one) = open.pop() {
            match one.halves() {
                Some(halves) => open.extend(halves),
                None => points.push(one.from_ms),
            }
        }
        points.sort_unstable();
        assert_eq!(points, [3, 13, 23, 33, 43, 53]);
    }

    #[test]
    fn a_long_range_query_stays_on_its_grid_and_under_the_limit() {
        let pieces = stepped(window(25_000), 1_000);
        assert_eq!(pieces.len(), 3);
        let mut points = 0;
        let mut last: Option<i64> = None;
        for (start, end) in pieces {
            assert!((end - start) / 1_000 <= 11_000);
            if let Some(last) = last {
                assert_eq!(start - last, 1_000);
            }
            let n = (end - start) / 1_000;
            points += n + 1;
            last = Some(start + n * 1_000);
        }
        assert_eq!(points, 25_001);
    }
}
