//! Which series may be selected, and by which rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::base::time::{NANOS_PER_MS, TimeRange, parse_duration_nanos};
use crate::model::series::{Sampling, Series};
use crate::store::Snapshot;
use crate::store::promql::{Expr, LabelSet, Matcher, NAME, parse};

/// What differs between servers (`prometheus.md` §1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// How long a sample counts, in nanoseconds: 5 minutes unless the server was started otherwise.
    pub lookback_nanos: i64,
    /// Whether ranges and lookback hold their earlier end too, as in Prometheus 2.
    pub is_closed: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            lookback_nanos: 300 * 1_000 * NANOS_PER_MS,
            is_closed: false,
        }
    }
}

impl Rules {
    /// As the server had them that was recorded; of Prometheus 3 when nothing says which it was.
    pub fn of(snapshot: &Snapshot) -> Self {
        let values = |name: &str| {
            snapshot
                .facts
                .iter()
                .filter(move |f| f.name.as_ref() == name)
                .map(|f| f.value.as_ref())
                .collect::<BTreeSet<&str>>()
        };
        let versions = values("buildinfo.version");
        let lookback = values("flags.query.lookback-delta")
            .into_iter()
            .filter_map(parse_duration_nanos)
            .find(|nanos| *nanos > 0);
        let usual = Self::default();
        Self {
            lookback_nanos: lookback.unwrap_or(usual.lookback_nanos),
            is_closed: !versions.is_empty() && versions.iter().all(|v| v.starts_with("2.")),
        }
    }

    /// The first time, in nanoseconds, that a range of `nanos` up to `end` holds.
    pub(super) const fn first_in(self, end: i64, nanos: i64) -> i64 {
        let edge = end.saturating_sub(nanos);
        if self.is_closed {
            edge
        } else {
            edge.saturating_add(1)
        }
    }
}

/// How long a value counts after its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// A stored sample: the lookback of the server.
    Lookback,
    /// An evaluation on a grid: until the next step, in nanoseconds.
    Step(i64),
    /// One evaluation: at its time alone.
    Never,
}

impl Hold {
    pub(super) const fn of(sampling: Sampling) -> Self {
        match sampling {
            Sampling::Raw => Self::Lookback,
            Sampling::Grid { step_nanos } => Self::Step(step_nanos),
            Sampling::Instant => Self::Never,
        }
    }
}

/// A series that may be selected.
#[derive(Debug, Clone)]
pub struct Known {
    /// Its index in the snapshot.
    pub series: usize,
    /// All its labels, with its name, in order.
    pub labels: LabelSet,
    pub(super) hold: Hold,
    /// Other recordings of the same series, the better ones first.
    pub(super) more: Vec<(usize, Hold)>,
}

impl Known {
    /// Every recording of it.
    pub(super) fn recordings(&self) -> impl Iterator<Item = (usize, Hold)> {
        std::iter::once((self.series, self.hold)).chain(self.more.iter().copied())
    }

    /// Whether all conditions hold.
    pub fn matches(&self, matchers: &[Matcher]) -> bool {
        matchers.iter().all(|m| m.holds(self.label(&m.name)))
    }

    /// The value of a label, empty when it is not there.
    pub fn label(&self, name: &str) -> &str {
        self.labels
            .binary_search_by(|(k, _)| k.as_ref().cmp(name))
            .ok()
            .and_then(|at| self.labels.get(at))
            .map_or("", |(_, value)| value.as_ref())
    }
}

/// The series of a snapshot as a server would offer them: each name and labels once, stored samples before evaluated ones; and
/// beside them the queries that were recorded with their answers.
#[derive(Debug, Default)]
pub struct Shelf {
    known: Vec<Known>,
    by_name: BTreeMap<Arc<str>, Vec<usize>>,
    verbatim: BTreeMap<String, Vec<usize>>,
    /// By which rules to answer.
    pub rules: Rules,
}

impl Shelf {
    /// Of everything in a snapshot.
    pub fn new(snapshot: &Snapshot) -> Self {
        let mut best: BTreeMap<LabelSet, Vec<(Sampling, usize)>> = BTreeMap::new();
        let mut verbatim: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut is_selector: BTreeMap<Arc<str>, bool> = BTreeMap::new();
        for (ix, series) in snapshot.series.iter().enumerate() {
            if !series.sampling.is_raw()
                && let Some(expr) = &series.expr
            {
                verbatim.entry(expr.trim().to_owned()).or_default().push(ix);
                let plain = is_selector
                    .entry(Arc::clone(expr))
                    .or_insert_with(|| is_plain(expr));
                if !*plain {
                    continue;
                }
            }
            best.entry(label_set(&series.metric, series))
                .or_default()
                .push((series.sampling, ix));
        }
        let mut shelf = Self {
            verbatim,
            rules: Rules::of(snapshot),
            ..Self::default()
        };
        for (labels, mut recordings) in best {
            recordings.sort_unstable();
            let mut recordings = recordings
                .into_iter()
                .map(|(sampling, ix)| (ix, Hold::of(sampling)));
            let Some((series, hold)) = recordings.next() else {
                continue;
            };
            let known = Known {
                series,
                labels,
                hold,
                more: recordings.collect(),
            };
            let name = Arc::from(known.label(NAME));
            shelf
                .by_name
                .entry(name)
                .or_default()
                .push(shelf.known.len());
            shelf.known.push(known);
        }
        shelf
    }

    /// Every series, in order of labels.
    pub fn all(&self) -> &[Known] {
        &self.known
    }

    /// The series that a selector means, in order of labels.
    pub fn select<'a, 'm>(
        &'a self,
        matchers: &'m [Matcher],
    ) -> impl Iterator<Item = &'a Known> + use<'a, 'm> {
        let named = matchers.iter().find_map(|m| match &m.value {
            super::Match::Equal(name) if m.name == NAME && !name.is_empty() => Some(name),
            _ => None,
        });
        let few: Option<&[usize]> = named.map(|name| {
            self.by_name
                .get(name.as_str())
                .map_or(&[][..], Vec::as_slice)
        });
        let (few, all) = match few {
            Some(few) => (few, &[][..]),
            None => (&[][..], self.known.as_slice()),
        };
        few.iter()
            .filter_map(|ix| self.known.get(*ix))
            .chain(all)
            .filter(|known| known.matches(matchers))
    }

    /// The queries that were recorded with their answers.
    pub fn recorded_queries(&self) -> impl Iterator<Item = &str> {
        self.verbatim.keys().map(String::as_str)
    }

    pub(super) fn recorded(&self, query: &str) -> Option<&[usize]> {
        self.verbatim.get(query.trim()).map(Vec::as_slice)
    }

    /// Whether a series has anything in a range.
    pub fn is_within(snapshot: &Snapshot, known: &Known, range: TimeRange) -> bool {
        known
            .recordings()
            .filter_map(|(ix, _)| snapshot.series.get(ix)?.span())
            .any(|span| span.overlaps(&range))
    }
}

fn is_plain(expr: &str) -> bool {
    matches!(parse(expr), Ok(Expr::Selector(s)) if s.offset_ms == 0 && s.fixed.is_none())
}

/// All labels of a series with `name` among them.
pub(super) fn label_set(name: &str, series: &Series) -> LabelSet {
    let mut labels: LabelSet = series
        .labels
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(k, v)| (Arc::from(k), Arc::from(v)))
        .collect();
    if !name.is_empty() {
        labels.push((Arc::from(NAME), Arc::from(name)));
    }
    labels.sort();
    labels
}
