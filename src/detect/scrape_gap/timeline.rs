//! Targets and their scrapes: `up` joined with the series that Prometheus writes about each scrape.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::time::Timestamp;
use crate::detect::scrape_gap::interval::{GAP_FACTOR, Regime, regimes};
use crate::detect::scrape_gap::origin::{Origin, exposed, is_subset, of_metric, share_samples};
use crate::model::input::{Evidence, InputIx};
use crate::model::labels::Labels;
use crate::model::prometheus::TargetStatus;
use crate::model::series::Series;
use crate::store::Snapshot;

/// One scrape that was recorded, with what was stored about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scrape {
    /// When it began.
    pub(crate) t: i64,
    /// Whether it succeeded.
    pub(crate) is_up: bool,
    /// `scrape_duration_seconds`.
    pub(crate) duration_s: Option<f64>,
    /// `scrape_samples_scraped`.
    pub(crate) samples: Option<f64>,
    /// `scrape_samples_post_metric_relabeling`.
    pub(crate) kept: Option<f64>,
    /// `scrape_series_added`.
    pub(crate) added: Option<f64>,
    /// `scrape_body_size_bytes`.
    pub(crate) body: Option<f64>,
}

/// A stretch of time in which a target left no sample at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hole {
    /// The index of the last scrape before it.
    pub(crate) before: usize,
    /// The last sample before it.
    pub(crate) from: i64,
    /// The first sample after it; `None` when none came before the recording ended.
    pub(crate) to: Option<i64>,
    /// How many scrapes were due in it.
    pub(crate) missing: u64,
    /// The scrape interval.
    pub(crate) interval: i64,
}

impl Hole {
    /// When the last scrape in it was due.
    pub(crate) fn last_missed(&self) -> i64 {
        let missing = i64::try_from(self.missing).unwrap_or(i64::MAX);
        self.from
            .saturating_add(self.interval.saturating_mul(missing))
    }
}

/// One target.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The labels of its `up`.
    pub(crate) labels: &'a Labels,
    /// Its `up` series: one, or several that differ only by added external labels.
    pub(crate) ups: Vec<&'a Series>,
    /// Its entities, the most specific first.
    pub(crate) entities: &'a [String],
    /// Its scrapes in order of time.
    pub(crate) scrapes: Vec<Scrape>,
    /// Times of staleness markers on its `up`: the target left discovery.
    pub(crate) markers: Vec<i64>,
    /// Its intervals.
    pub(crate) regimes: Vec<Regime>,
    /// Its scrape timeout in seconds, when it can be known.
    pub(crate) timeout_s: Option<f64>,
    /// Its sample limit, when recorded and set.
    pub(crate) sample_limit: Option<f64>,
    /// Its `scrape_duration_seconds`.
    pub(crate) durations: Option<&'a Series>,
    /// Its `scrape_samples_scraped`.
    pub(crate) scraped: Option<&'a Series>,
    /// Raw series that came over its scrapes, without those about the scrapes.
    pub(crate) series: Vec<&'a Series>,
    /// What `/targets` said of it, by time.
    pub(crate) statuses: Vec<&'a TargetStatus>,
    /// When the last scrape of any target in the same answers was.
    pub(crate) recorded_until: i64,
    /// When the first scrape of any target in the same answers was.
    pub(crate) recorded_from: i64,
}

impl Target<'_> {
    /// Its name for people: the instance, else all its labels.
    pub(crate) fn name(&self) -> String {
        self.labels
            .get("instance")
            .map_or_else(|| self.labels.to_string(), str::to_owned)
    }

    /// Its job, or nothing.
    pub(crate) fn job(&self) -> &str {
        self.labels.get("job").unwrap_or("")
    }

    /// The interval that was in force after the scrape of index `scrape`.
    pub(crate) fn interval_after(&self, scrape: usize) -> i64 {
        let at = self.regimes.partition_point(|r| r.from <= scrape);
        self.regimes
            .get(at.saturating_sub(1))
            .map_or(0, |r| r.interval_nanos)
    }

    /// The longest of the intervals on both sides of a delta: over a change of the interval nothing shorter is a gap.
    fn longest_around(&self, scrape: usize) -> i64 {
        let here = self.interval_after(scrape);
        here.max(self.interval_after(scrape.saturating_sub(1)))
            .max(self.interval_after(scrape + 1))
    }

    /// Every hole, the one at the end included.
    pub(crate) fn holes(&self) -> Vec<Hole> {
        let mut found = Vec::new();
        for (before, pair) in self.scrapes.windows(2).enumerate() {
            let delta = pair[1].t - pair[0].t;
            if delta as f64 <= GAP_FACTOR * self.longest_around(before) as f64 {
                continue;
            }
            let interval = self.interval_after(before).max(1);
            found.push(Hole {
                before,
                from: pair[0].t,
                to: Some(pair[1].t),
                missing: slots(delta, interval),
                interval,
            });
        }
        if let Some(last) = self.scrapes.last() {
            let before = self.scrapes.len() - 1;
            let interval = self.interval_after(before).max(1);
            let silence = self.recorded_until - last.t;
            // Two whole intervals and the phase of another target: anything less may be the edge of the recording.
            if silence as f64 > (1.0 + GAP_FACTOR) * interval as f64 {
                found.push(Hole {
                    before,
                    from: last.t,
                    to: None,
                    missing: (silence / interval).max(1) as u64,
                    interval,
                });
            }
        }
        found
    }

    /// The median duration of good scrapes.
    pub(crate) fn usual_duration_s(&self) -> Option<f64> {
        let good: Vec<f64> = self
            .scrapes
            .iter()
            .filter(|s| s.is_up)
            .filter_map(|s| s.duration_s)
            .collect();
        crate::base::stats::median(&good)
    }

    /// The median number of samples of up to 20 good scrapes before `t`, else of all good ones.
    pub(crate) fn usual_samples(&self, t: i64, of: fn(&Scrape) -> Option<f64>) -> Option<f64> {
        let until = self.scrapes.partition_point(|s| s.t < t);
        let good = |scrapes: &[Scrape]| -> Vec<f64> {
            let all = scrapes.iter().rev().filter(|s| s.is_up);
            all.filter_map(of).take(20).collect()
        };
        let before = good(self.scrapes.get(..until).unwrap_or_default());
        crate::base::stats::median(&before)
            .or_else(|| crate::base::stats::median(&good(&self.scrapes)))
    }

    /// Evidence: the sample of `up` at `t`.
    pub(crate) fn up_evidence(&self, snapshot: &Snapshot, t: i64, quote: &str) -> Option<Evidence> {
        let series = self.ups.iter().find(|s| s.t.binary_search(&t).is_ok())?;
        Some(snapshot.sample_evidence(series, t, quote))
    }
}

/// How many scrapes were due strictly inside `nanos` at this interval.
pub(crate) fn slots(nanos: i64, interval: i64) -> u64 {
    ((nanos as f64 / interval as f64).round() as u64)
        .saturating_sub(1)
        .max(1)
}

/// As [`value_at`], looking first at the place `ix`: series about scrapes mostly have a sample for each of `up`.
fn value_near(series: Option<&Series>, ix: usize, t: i64) -> Option<f64> {
    let known = series?;
    if known.t.get(ix) == Some(&t) {
        return known.v.get(ix).copied().filter(|v| v.is_finite());
    }
    value_at(series, t)
}

/// The value of a series at exactly `t`.
pub(crate) fn value_at(series: Option<&Series>, t: i64) -> Option<f64> {
    let series = series?;
    let at = series.t.binary_search(&t).ok()?;
    series.v.get(at).copied().filter(|v| v.is_finite())
}

/// Series of one metric by their labels.
type ByLabels<'a> = BTreeMap<&'a Labels, &'a Series>;

fn by_labels<'a>(snapshot: &'a Snapshot, metric: &str, from: Origin) -> ByLabels<'a> {
    of_metric(snapshot, metric, from)
        .map(|(_, s)| (&s.labels, s))
        .collect()
}

/// The first and the last sample time in the raw series of each input.
fn extents<'a>(all: impl Iterator<Item = &'a Series>) -> BTreeMap<InputIx, (i64, i64)> {
    let mut found: BTreeMap<InputIx, (i64, i64)> = BTreeMap::new();
    for series in all {
        if let (Some(first), Some(last)) = (series.t.first(), series.t.last()) {
            for source in &series.sources {
                let entry = found.entry(source.input).or_insert((*first, *last));
                *entry = (entry.0.min(*first), entry.1.max(*last));
            }
        }
    }
    found
}

/// Every target that has an `up` series, in order of labels.
pub(crate) fn targets(snapshot: &Snapshot, from: Origin) -> Vec<Target<'_>> {
    let about = About::of(snapshot, from);
    let exposed = exposed(snapshot, from);
    let extents = extents(of_metric(snapshot, "up", from).map(|(_, s)| s));
    let mut groups: BTreeMap<(&str, &str), Vec<(usize, &Series)>> = BTreeMap::new();
    for (ix, series) in of_metric(snapshot, "up", from) {
        let label = |name| series.labels.get(name).unwrap_or("");
        groups
            .entry((label("job"), label("instance")))
            .or_default()
            .push((ix, series));
    }
    let mut found = Vec::new();
    for (key, ups) in groups {
        let variants = variants(ups);
        let is_only = variants.len() == 1;
        for ups in variants {
            let candidates = exposed.get(&key).map(Vec::as_slice).unwrap_or_default();
            found.extend(target(
                snapshot, &about, &extents, &ups, candidates, is_only,
            ));
        }
    }
    found.sort_by(|a, b| a.labels.cmp(b.labels));
    found
}

/// `up` series that are one target: the labels of the one are all among the labels of the other, and they share
/// samples. Remote read adds the external labels, the query API does not (`prometheus.md` §1.4).
fn variants(mut ups: Vec<(usize, &Series)>) -> Vec<Vec<(usize, &Series)>> {
    ups.sort_by(|a, b| (a.1.labels.len(), &a.1.labels).cmp(&(b.1.labels.len(), &b.1.labels)));
    let mut found: Vec<Vec<(usize, &Series)>> = Vec::new();
    for (ix, series) in ups {
        let same = found.iter_mut().find(|known| {
            known.first().is_some_and(|(_, first)| {
                is_subset(&first.labels, &series.labels) && share_samples(first, series)
            })
        });
        match same {
            Some(known) => known.push((ix, series)),
            None => found.push(vec![(ix, series)]),
        }
    }
    found
}

/// The series about scrapes.
struct About<'a> {
    duration: ByLabels<'a>,
    timeout: ByLabels<'a>,
    samples: ByLabels<'a>,
    kept: ByLabels<'a>,
    added: ByLabels<'a>,
    body: ByLabels<'a>,
    limit: ByLabels<'a>,
}

impl<'a> About<'a> {
    fn of(snapshot: &'a Snapshot, from: Origin) -> Self {
        Self {
            duration: by_labels(snapshot, "scrape_duration_seconds", from),
            timeout: by_labels(snapshot, "scrape_timeout_seconds", from),
            samples: by_labels(snapshot, "scrape_samples_scraped", from),
            kept: by_labels(snapshot, "scrape_samples_post_metric_relabeling", from),
            added: by_labels(snapshot, "scrape_series_added", from),
            body: by_labels(snapshot, "scrape_body_size_bytes", from),
            limit: by_labels(snapshot, "scrape_sample_limit", from),
        }
    }
}

fn target<'a>(
    snapshot: &'a Snapshot,
    about: &About<'a>,
    extents: &BTreeMap<InputIx, (i64, i64)>,
    ups: &[(usize, &'a Series)],
    candidates: &[&'a Series],
    is_only: bool,
) -> Option<Target<'a>> {
    let (ix, first) = *ups.first()?;
    let of = |map: &ByLabels<'a>| ups.iter().find_map(|(_, up)| map.get(&up.labels).copied());
    let (durations, scraped) = (of(&about.duration), of(&about.samples));
    let (kept, added, body) = (of(&about.kept), of(&about.added), of(&about.body));
    let mut samples: Vec<(i64, f64)> = Vec::new();
    for (_, up) in ups {
        samples.extend(up.t.iter().copied().zip(up.v.iter().copied()));
    }
    if ups.len() > 1 {
        // Of two values at one time the later variant's counts.
        samples.reverse();
        samples.sort_by_key(|(t, _)| *t);
        samples.dedup_by_key(|(t, _)| *t);
    }
    let markers = samples
        .iter()
        .filter(|(_, v)| v.is_nan())
        .map(|(t, _)| *t)
        .collect();
    let scrapes: Vec<Scrape> = samples
        .into_iter()
        .enumerate()
        .filter(|(_, (_, v))| v.is_finite())
        .map(|(ix, (t, v))| Scrape {
            t,
            is_up: v > 0.5,
            duration_s: value_near(durations, ix, t),
            samples: value_near(scraped, ix, t),
            kept: value_near(kept, ix, t),
            added: value_near(added, ix, t),
            body: value_near(body, ix, t),
        })
        .collect();
    let statuses: Vec<&TargetStatus> = snapshot
        .targets
        .iter()
        .filter(|s| {
            let label = |name| s.labels.get(name) == first.labels.get(name);
            label("job") && label("instance") && (is_only || is_subset(&s.labels, &first.labels))
        })
        .collect();
    let t: Vec<i64> = scrapes.iter().map(|s| s.t).collect();
    let regimes = regimes(&t, statuses.iter().find_map(|s| s.interval_nanos))?;
    let last_finite = |series: Option<&Series>| {
        series
            .and_then(|s| s.finite().last())
            .map(|(_, v)| v)
            .filter(|v| *v > 0.0)
    };
    let declared = statuses
        .iter()
        .find_map(|s| s.timeout_nanos)
        .map(|n| n as f64 / 1e9);
    let timeout_s = last_finite(of(&about.timeout))
        .or(declared)
        .or_else(|| plateau(&scrapes));
    let series: Vec<&Series> = candidates
        .iter()
        .copied()
        .filter(|s| is_only || is_subset(&first.labels, &s.labels))
        .collect();
    let inputs: BTreeSet<InputIx> = ups
        .iter()
        .flat_map(|(_, s)| s.sources.iter().map(|source| source.input))
        .collect();
    let ranges = || inputs.iter().filter_map(|input| extents.get(input));
    Some(Target {
        labels: &first.labels,
        recorded_from: ranges().map(|(from, _)| *from).min().unwrap_or(i64::MIN),
        recorded_until: ranges().map(|(_, until)| *until).max().unwrap_or(i64::MIN),
        ups: ups.iter().map(|(_, s)| *s).collect(),
        entities: snapshot
            .series_entities
            .get(ix)
            .map(Vec::as_slice)
            .unwrap_or_default(),
        scrapes,
        markers,
        regimes,
        timeout_s,
        sample_limit: last_finite(of(&about.limit)),
        durations,
        scraped,
        series,
        statuses,
    })
}

/// A timeout that nobody declared, from the durations of failed scrapes: two or more that lie within 2 % of each other
/// and five times above the good ones can only have been cut off by one clock.
fn plateau(scrapes: &[Scrape]) -> Option<f64> {
    let of = |is_up: bool| -> Vec<f64> {
        let all = scrapes.iter().filter(|s| s.is_up == is_up);
        all.filter_map(|s| s.duration_s).collect()
    };
    let failed = of(false);
    let longest = failed.iter().copied().reduce(f64::max)?;
    let usual = crate::base::stats::median(&of(true)).unwrap_or(0.0);
    let near = failed.iter().filter(|d| **d >= longest * 0.98).count();
    (near >= 2 && longest > 5.0 * usual && longest >= 0.1).then_some(longest)
}

/// A time in words for `detail`.
pub(crate) fn clock(t: i64) -> String {
    Timestamp::from_nanos(t).to_clock()
}
