//! Samples that should be there and are not, and why: the decision table of `prometheus.md` §2.6.
//!
//! [`origin`] chooses the series, [`timeline`] joins `up` with the series about scrapes, [`interval`] infers how often a target is scraped, [`runs`]
//! cuts failures into phases, [`shared`] finds what all targets miss, [`decide`] applies the table, [`holes`] looks at
//! series whose target is well, [`held`] names values that range queries only repeat, [`grid`] says what is left when
//! no raw sample was recorded, and [`words`] and [`series_words`] write findings.

pub(crate) mod analysis;
pub(crate) mod decide;
pub(crate) mod evidence;
mod grid;
mod held;
pub(crate) mod holes;
pub(crate) mod interval;
pub(crate) mod origin;
mod rejected;
pub(crate) mod runs;
mod series_words;
pub(crate) mod shared;
#[cfg(test)]
mod tests;
pub(crate) mod timeline;
mod words;

use crate::base::time::TimeRange;
use crate::detect::scrape_gap::analysis::Analysis;
use crate::detect::scrape_gap::held::Held;
use crate::detect::scrape_gap::origin::Origin;
use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::{Finding, FindingKind};

/// Finds gaps in scraping.
pub struct ScrapeGap;

impl Detector for ScrapeGap {
    fn kind(&self) -> FindingKind {
        FindingKind::ScrapeGap
    }

    fn doc(&self) -> &'static str {
        "Scrapes that failed (`up` is 0) or left no sample (a delta of more than 1.75 intervals of `up`, the interval being \
         the median of the target's own deltas), and series that are missing while their target answers. The cause is \
         decided top down by the table of the Prometheus reference from what is stored about each scrape (duration against \
         timeout, samples, body size, series added), the start time and counters of the process, Prometheus' own counters, \
         and the last error of /targets answers of that moment. A cause that the data cannot separate is not guessed: the \
         wider one is named, and what would decide. Silent on changes of interval or identity, late samples and duplicate \
         lines; not enough without raw `up` samples."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let snapshot = context.snapshot;
        let analysis = Analysis::of(snapshot, Origin::Raw);
        if analysis.targets.is_empty() {
            return grid::check(context);
        }
        let held = Held::of(snapshot);
        let mut findings = gap_findings(context, &analysis, &held);
        let ends = holes::input_ends(snapshot);
        for target in &analysis.targets {
            for hole in holes::series_faults(target, &ends).holes {
                findings.extend(series_words::series_gap(snapshot, target, &hole, &held));
            }
        }
        Verdict::of(within(findings, context.window))
    }
}

/// The gaps of whole targets, and of all at once.
fn gap_findings(context: &Context<'_>, analysis: &Analysis<'_>, held: &Held<'_>) -> Vec<Finding> {
    let snapshot = context.snapshot;
    let is_only = analysis.targets.len() == 1;
    let shared = analysis
        .shared
        .iter()
        .map(|s| words::shared_gap(snapshot, &analysis.targets, s, held));
    let own = analysis.gaps.iter().filter_map(|gap| {
        let target = analysis.targets.get(gap.target)?;
        words::target_gap(snapshot, target, gap, held, is_only)
    });
    shared.chain(own).collect()
}

/// Those that touch the window.
fn within(mut findings: Vec<Finding>, window: TimeRange) -> Vec<Finding> {
    findings.retain(|f| f.start < window.end && f.end.is_none_or(|end| end > window.start));
    findings
}
