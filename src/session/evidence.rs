//! Evidence → place: which sample, span, request, stack or event a line of evidence points at.
//!
//! [`Places`] is an index over one snapshot, [`Links`] what it gives for a whole report. Both are made on a worker, once for
//! each generation. What cannot be resolved further leads to its input, never to nowhere. A detector that writes a new form of
//! locator adds it to [`Places::resolve`] and to the table in its tests.

use std::collections::BTreeMap;

use crate::base::time::Timestamp;
use crate::model::finding::{Finding, FindingKind};
use crate::model::hypothesis::{ChangeRole, Hypothesis};
use crate::model::input::{Evidence, InputIx};
use crate::model::series::{Sampling, Series};
use crate::model::span::SpanId;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::Snapshot;

/// How many blanks of a locator are tried as the border between the place in the file and the selector of a series.
const BORDERS: usize = 24;

/// Where things stand in a snapshot, by what locators say.
#[derive(Debug)]
pub struct Places<'a> {
    snapshot: &'a Snapshot,
    inputs: BTreeMap<&'a str, usize>,
    /// Hash of the selector and index, sorted: a map of texts would be as large as the series' labels again.
    series: Vec<(u64, u32)>,
    /// Indices of requests by input and line.
    requests: Vec<u32>,
    /// Indices of summaries by trace.
    summaries: Vec<u32>,
    events: BTreeMap<(InputIx, &'a str), usize>,
    profiles: BTreeMap<InputIx, Vec<usize>>,
}

/// FNV-1a, 64 bit: fast, and the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

impl<'a> Places<'a> {
    /// Looks through a snapshot.
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let mut series: Vec<(u64, u32)> = (0u32..)
            .zip(&snapshot.series)
            .map(|(ix, s)| (hash(&s.selector()), ix))
            .collect();
        series.sort_unstable();
        let mut requests: Vec<u32> = (0u32..).zip(&snapshot.requests).map(|(ix, _)| ix).collect();
        let place = |ix: u32| {
            let request = snapshot.requests.get(ix as usize);
            request.map(|r| (r.input, r.line))
        };
        requests.sort_unstable_by_key(|ix| (place(*ix), *ix));
        let mut summaries: Vec<u32> = (0u32..)
            .zip(&snapshot.summaries)
            .map(|(ix, _)| ix)
            .collect();
        let trace = |ix: u32| {
            let summary = snapshot.summaries.get(ix as usize);
            summary.map(|s| s.trace_id.as_ref())
        };
        summaries.sort_by_key(|ix| (trace(*ix), *ix));
        let mut profiles: BTreeMap<InputIx, Vec<usize>> = BTreeMap::new();
        for (ix, profile) in snapshot.profiles.iter().enumerate() {
            profiles.entry(profile.input).or_default().push(ix);
        }
        Self {
            snapshot,
            inputs: (0..)
                .zip(&snapshot.inputs)
                .map(|(ix, input)| (input.id.as_str(), ix))
                .collect(),
            series,
            requests,
            summaries,
            events: (0..)
                .zip(&snapshot.events)
                .map(|(ix, event)| ((event.input, event.locator.as_ref()), ix))
                .collect(),
            profiles,
        }
    }

    /// The places that a line of evidence points at, the main one first. Empty only for an input that is not there.
    pub fn resolve(&self, evidence: &Evidence) -> Vec<Target> {
        let Some(&at) = self.inputs.get(evidence.input.as_str()) else {
            return Vec::new();
        };
        let input = InputIx(u32::try_from(at).unwrap_or(u32::MAX));
        let found = self.within(input, evidence.locator.trim());
        if found.is_empty() {
            vec![Target::Input { input: at }]
        } else {
            found
        }
    }

    fn within(&self, input: InputIx, locator: &str) -> Vec<Target> {
        if let Some(found) = self.sample(input, locator) {
            return vec![found];
        }
        let mut words = locator.split_whitespace();
        match (words.next(), words.next()) {
            (Some("trace"), Some(trace)) => self.trace(input, trace, words),
            (Some("line"), Some(line)) => {
                let line = line.parse().ok();
                line.and_then(|line| self.line(input, line, locator))
                    .into_iter()
                    .collect()
            }
            (Some("sample"), Some(sample)) => {
                let sample = sample.parse().ok();
                let found = sample.and_then(|sample| self.stack(input, sample));
                found.into_iter().collect()
            }
            _ => self.whole(input, locator).into_iter().collect(),
        }
    }

    /// `[PLACE ]SELECTOR @ TIME`, as `Snapshot::sample_evidence` writes it. Blanks may stand in all three.
    fn sample(&self, input: InputIx, locator: &str) -> Option<Target> {
        let (what, t) = locator.rsplit_once(" @ ")?;
        let t = Timestamp::parse_rfc3339(t)?;
        let borders = what.match_indices(' ').map(|(at, _)| at + 1);
        std::iter::once(0)
            .chain(borders)
            .take(BORDERS)
            .find_map(|at| {
                let (place, selector) = what.split_at_checked(at)?;
                let series = self.series_named(selector, input, place.trim_end(), t)?;
                let t = self.snapshot.series.get(series).map_or(t, |s| snap(s, t));
                Some(Target::Sample { series, t: Some(t) })
            })
    }

    /// Of several series with one selector (stored, on a grid, at an instant) the one that comes from that place and has that
    /// sample.
    fn series_named(
        &self,
        selector: &str,
        input: InputIx,
        place: &str,
        t: Timestamp,
    ) -> Option<usize> {
        let wanted = hash(selector);
        let from = self.series.partition_point(|(h, _)| *h < wanted);
        self.series
            .get(from..)?
            .iter()
            .take_while(|(h, _)| *h == wanted)
            .filter_map(|(_, ix)| {
                let series = self.snapshot.series.get(*ix as usize)?;
                (series.selector() == selector).then_some((*ix as usize, series))
            })
            .max_by_key(|(ix, series)| (fit(series, input, place, t), std::cmp::Reverse(*ix)))
            .map(|(ix, _)| ix)
    }

    fn trace<'b>(
        &self,
        input: InputIx,
        trace: &str,
        mut words: impl Iterator<Item = &'b str>,
    ) -> Vec<Target> {
        let mut found = Vec::new();
        while let (Some(_role), Some(id)) = (words.next(), words.next()) {
            found.extend(self.span(input, trace, SpanId::parse(id)));
        }
        if !found.is_empty() {
            return found;
        }
        let summaries = self.summaries_of(trace);
        let own = summaries.iter().copied().find(|ix| {
            let summary = self.snapshot.summaries.get(*ix);
            summary.is_some_and(|s| s.input == input)
        });
        if let Some(summary) = own.or_else(|| summaries.first().copied()) {
            return vec![Target::Summary { summary }];
        }
        self.spans_of(trace)
            .next()
            .map(|(span, _)| Target::Span { span })
            .into_iter()
            .collect()
    }

    fn summaries_of(&self, trace: &str) -> Vec<usize> {
        let id = |ix: u32| {
            let summary = self.snapshot.summaries.get(ix as usize);
            summary.map_or("", |s| s.trace_id.as_ref())
        };
        let from = self.summaries.partition_point(|ix| id(*ix) < trace);
        self.summaries
            .iter()
            .skip(from)
            .take_while(|ix| id(**ix) == trace)
            .map(|ix| *ix as usize)
            .collect()
    }

    /// Spans lie by trace.
    fn spans_of<'b>(
        &'b self,
        trace: &'b str,
    ) -> impl Iterator<Item = (usize, &'a crate::model::span::Span)> + 'b {
        let spans = &self.snapshot.spans;
        let from = spans.partition_point(|s| s.trace_id.as_ref() < trace);
        (from..)
            .zip(spans.iter().skip(from))
            .take_while(move |(_, s)| s.trace_id.as_ref() == trace)
    }

    fn span(&self, input: InputIx, trace: &str, id: SpanId) -> Option<Target> {
        let named = || self.spans_of(trace).filter(|(_, s)| s.span_id == id);
        let own = named().find(|(_, s)| s.input == input);
        own.or_else(|| named().next())
            .map(|(span, _)| Target::Span { span })
    }

    fn line(&self, input: InputIx, line: u64, locator: &str) -> Option<Target> {
        let key = |ix: u32| {
            let request = self.snapshot.requests.get(ix as usize);
            request.map(|r| (r.input, r.line))
        };
        let at = self
            .requests
            .partition_point(|ix| key(*ix) < Some((input, line)));
        if let Some(ix) = self.requests.get(at)
            && key(*ix) == Some((input, line))
        {
            return Some(Target::Request {
                request: *ix as usize,
            });
        }
        self.event(input, locator)
            .or_else(|| self.stack(input, line))
    }

    fn event(&self, input: InputIx, locator: &str) -> Option<Target> {
        let event = self.events.get(&(input, locator))?;
        Some(Target::Event { event: *event })
    }

    /// The group of that line (or number of the sample) in the profiles of an input; the whole first profile where none is.
    fn stack(&self, input: InputIx, line: u64) -> Option<Target> {
        let profiles = self.profiles.get(&input)?;
        let exact = profiles.iter().find_map(|&profile| {
            let groups = &self.snapshot.profiles.get(profile)?.groups;
            let group = groups.iter().position(|g| g.line == line)?;
            Some(Target::Stack {
                profile,
                group: Some(group),
            })
        });
        exact.or_else(|| self.profile(input))
    }

    fn profile(&self, input: InputIx) -> Option<Target> {
        let profile = *self.profiles.get(&input)?.first()?;
        Some(Target::Stack {
            profile,
            group: None,
        })
    }

    /// What is named by a path in the file, by words, or not at all.
    fn whole(&self, input: InputIx, locator: &str) -> Option<Target> {
        self.event(input, locator)
            .or_else(|| self.scrape_target(input, locator))
            .or_else(|| self.profile(input))
    }

    /// The state of a target: the sample of its `up` at that time, or before.
    fn scrape_target(&self, input: InputIx, locator: &str) -> Option<Target> {
        let status = self
            .snapshot
            .targets
            .iter()
            .find(|s| s.input == input && s.locator.as_ref() == locator)?;
        let at = status.last_scrape.or(status.at);
        let is_of = |series: &Series| {
            ["instance", "job"]
                .iter()
                .all(|name| series.labels.get(name) == status.labels.get(name))
        };
        let (series, up) = self.snapshot.raw("up").find(|(_, s)| is_of(s))?;
        let t = at.and_then(|at| {
            let after = up.t.partition_point(|t| *t <= at.nanos());
            up.t.get(after.saturating_sub(1)).copied()
        });
        Some(Target::Sample {
            series,
            t: t.map(Timestamp::from_nanos),
        })
    }
}

/// The sample that a time means: of what was pooled over several series the time is that of one of them, and the sample just
/// before it is meant. In a hole no sample is meant.
fn snap(series: &Series, t: Timestamp) -> Timestamp {
    let after = series.t.partition_point(|at| *at <= t.nanos());
    let before = after.checked_sub(1).and_then(|ix| series.t.get(ix));
    let interval = series.interval_nanos().unwrap_or(0);
    match before {
        Some(before) if t.nanos().saturating_sub(*before) < interval => {
            Timestamp::from_nanos(*before)
        }
        _ => t,
    }
}

/// How well a series fits what a locator says of it: place, input, sample, and how it was sampled.
fn fit(series: &Series, input: InputIx, place: &str, t: Timestamp) -> (bool, bool, bool, bool) {
    let sources = || series.sources.iter().filter(|s| s.input == input);
    (
        sources().any(|s| s.locator.as_ref() == place),
        sources().next().is_some(),
        series.t.binary_search(&t.nanos()).is_ok() || series.histograms.iter().any(|h| h.t == t),
        series.sampling == Sampling::Raw,
    )
}

/// Where each line of evidence of a report leads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    findings: BTreeMap<String, Vec<Vec<Target>>>,
    hypotheses: BTreeMap<String, OfHypothesis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct OfHypothesis {
    support: Vec<Vec<Vec<Target>>>,
    changes: Vec<Option<Change>>,
}

/// A change that a hypothesis names, as a finding and in the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The finding.
    pub finding: String,
    /// Its place.
    pub target: Target,
}

impl Links {
    /// Resolves everything that a report points at. Takes a while: for a worker.
    pub fn of(incident: &Incident) -> Self {
        let Some(report) = &incident.report else {
            return Self::default();
        };
        let places = Places::of(incident.snapshot());
        let all = |evidence: &[Evidence]| -> Vec<Vec<Target>> {
            evidence.iter().map(|e| places.resolve(e)).collect()
        };
        let findings: BTreeMap<String, Vec<Vec<Target>>> = report
            .findings
            .iter()
            .map(|f| (f.id.clone(), all(&f.evidence)))
            .collect();
        let hypotheses = report
            .hypotheses
            .iter()
            .map(|h| {
                let of = OfHypothesis {
                    support: h.support.iter().map(|s| all(&s.evidence)).collect(),
                    changes: changes(h, &report.findings, &findings),
                };
                (h.id.clone(), of)
            })
            .collect();
        Self {
            findings,
            hypotheses,
        }
    }

    /// The places of each line of evidence of a finding.
    pub fn finding(&self, id: &str) -> &[Vec<Target>] {
        self.findings.get(id).map_or(&[], Vec::as_slice)
    }

    /// The places of each line of evidence of one support of a hypothesis.
    pub fn support(&self, hypothesis: &str, at: usize) -> &[Vec<Target>] {
        self.hypotheses
            .get(hypothesis)
            .and_then(|h| h.support.get(at))
            .map_or(&[], Vec::as_slice)
    }

    /// The change that a hypothesis names at that place.
    pub fn change(&self, hypothesis: &str, at: usize) -> Option<&Change> {
        self.hypotheses
            .get(hypothesis)?
            .changes
            .get(at)
            .and_then(Option::as_ref)
    }

    /// The first place that a finding or a hypothesis points at.
    pub fn first(&self, incident: &Incident, id: &str) -> Option<Target> {
        let of_finding = |id: &str| self.finding(id).iter().flatten().next().cloned();
        if let Some(target) = of_finding(id) {
            return Some(target);
        }
        let hypothesis = incident.hypothesis(id)?;
        let by_support = || {
            let support = hypothesis.support.iter().enumerate();
            support.filter_map(|(at, support)| {
                let own = self.support(id, at).iter().flatten().next().cloned();
                own.or_else(|| of_finding(support.finding.as_deref()?))
            })
        };
        let by_finding = || hypothesis.explains.iter().filter_map(|id| of_finding(id));
        by_support().next().or_else(|| by_finding().next())
    }
}

fn changes(
    hypothesis: &Hypothesis,
    findings: &[Finding],
    links: &BTreeMap<String, Vec<Vec<Target>>>,
) -> Vec<Option<Change>> {
    let find = |change: &ChangeRole| {
        let at_that_time = || {
            findings
                .iter()
                .filter(|f| f.kind == FindingKind::Change && f.start == change.at)
        };
        let finding = at_that_time()
            .find(|f| f.title == change.title)
            .or_else(|| at_that_time().next())?;
        let target = links
            .get(&finding.id)
            .and_then(|all| all.iter().flatten().next().cloned());
        Some(Change {
            finding: finding.id.clone(),
            target: target.unwrap_or_else(|| Target::Finding(finding.id.clone())),
        })
    };
    hypothesis.changes.iter().map(find).collect()
}

#[cfg(test)]
mod tests;
