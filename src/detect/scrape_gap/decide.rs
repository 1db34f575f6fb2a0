//! The decision table of `prometheus.md` §2.6 for the gaps of one target, top down.

use crate::base::text;
use crate::base::units;
use crate::detect::scrape_gap::evidence::{
    Restart, cause_of_error, progress, restart, self_rise, status_within,
};
use crate::detect::scrape_gap::runs::{Class, Phase};
use crate::detect::scrape_gap::timeline::{Scrape, Target};
use crate::model::input::Evidence;
use crate::store::Snapshot;

/// Counters over a gap at this share of their former rate mean that the process worked on (`lab/prom/classify.py`).
const WORKED_SHARE: f64 = 0.3;
/// Under this share they stood still.
const STOOD_SHARE: f64 = 0.05;

/// What a gap comes from.
#[derive(Debug, Clone)]
pub(crate) struct Decision {
    /// The cause, one of `contract.md` §3.
    pub(crate) cause: &'static str,
    /// How sharply the table separates it from the next one.
    pub(crate) confidence: f64,
    /// Why, as sentences.
    pub(crate) reasons: Vec<String>,
    /// Where.
    pub(crate) evidence: Vec<Evidence>,
}

impl Decision {
    fn new(cause: &'static str, confidence: f64, reason: impl Into<String>) -> Self {
        Self {
            cause,
            confidence,
            reasons: vec![reason.into()],
            evidence: Vec::new(),
        }
    }

    fn because(mut self, reason: impl Into<String>) -> Self {
        self.reasons.push(reason.into());
        self
    }
}

/// Decides one gap. `jobs` says how many targets of the same job failed at the same time, and how many there are.
pub(crate) fn decide(
    snapshot: &Snapshot,
    target: &Target<'_>,
    phase: &Phase,
    jobs: (usize, usize),
) -> Decision {
    let good = |ix: Option<usize>| ix.and_then(|ix| target.scrapes.get(ix)).map(|s| s.t);
    let (before, after) = (good(phase.before), good(phase.after));
    let renewed = before
        .zip(after)
        .filter(|_| phase.is_last)
        .and_then(|(from, to)| restart(snapshot, &target.series, from, to));
    let status = status_within(target, phase.start, phase.last_bad, phase.interval);
    let stated = status.and_then(|s| cause_of_error(&s.last_error));
    let facts = Facts {
        snapshot,
        target,
        phase,
        progress: before
            .zip(after)
            .and_then(|(a, b)| progress(&target.series, a, b)),
        renewed: renewed.as_ref(),
        stated,
        jobs,
    };
    let mut decision = match phase.class {
        Class::Slow => facts.slow(),
        Class::OverSize => Decision::new(
            "limit_exceeded",
            0.98,
            "Each failed at once with a body size of -1, which Prometheus stores when the body is larger than \
             body_size_limit.",
        ),
        Class::Partial => facts.partial(),
        Class::NotMetrics => facts.not_metrics(),
        Class::Fast => facts.fast(),
        Class::Untimed => facts.untimed(),
        Class::Missing => facts.missing(),
    };
    if let Some(status) = status {
        decision.reasons.push(format!(
            "/targets said during the gap: {}",
            sentence(&text::shorten(&status.last_error, 200))
        ));
        decision.evidence.push(snapshot.evidence(
            status.input,
            status.locator.as_ref(),
            format!("lastError {}", status.last_error),
        ));
    }
    if let Some(Restart { words, evidence }) = renewed {
        decision.reasons.push(words);
        decision.evidence.push(evidence);
    }
    if let Some(&last) = phase.failed.last()
        && let (Some(series), Some(scrape)) = (target.durations, target.scrapes.get(last))
        && let Some(duration) = scrape.duration_s
    {
        let quote = format!("scrape took {}", units::secs(duration));
        decision
            .evidence
            .push(snapshot.sample_evidence(series, scrape.t, quote));
    }
    decision
}

/// `text` with a full stop.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with('.') {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

struct Facts<'a> {
    snapshot: &'a Snapshot,
    target: &'a Target<'a>,
    phase: &'a Phase,
    progress: Option<f64>,
    renewed: Option<&'a Restart>,
    stated: Option<&'static str>,
    jobs: (usize, usize),
}

impl Facts<'_> {
    fn of(&self, value: fn(&Scrape) -> Option<f64>) -> Vec<f64> {
        let failed = self
            .phase
            .failed
            .iter()
            .filter_map(|ix| self.target.scrapes.get(*ix));
        failed.filter_map(value).collect()
    }

    fn most(&self, value: fn(&Scrape) -> Option<f64>) -> f64 {
        self.of(value).into_iter().fold(0.0, f64::max)
    }

    /// Whether a self counter of Prometheus rose during the gap, one interval of slack on both sides.
    fn rose(&self, metric: &str) -> Option<bool> {
        let slack = self.phase.interval;
        let until = self.phase.last_bad + 2 * slack;
        self_rise(self.snapshot, metric, self.phase.start - slack, until).map(|n| n > 0.0)
    }

    /// Row 6 and its parts.
    fn slow(&self) -> Decision {
        let longest = self.most(|s| s.duration_s);
        let usual = self
            .target
            .usual_duration_s()
            .map(|s| format!(" (a good scrape of it takes {})", units::secs(s)))
            .unwrap_or_default();
        let limit = self.target.timeout_s;
        let mut decision = Decision::new(
            "scrape_timeout",
            if limit.is_some() { 0.97 } else { 0.75 },
            match limit {
                Some(limit) => format!(
                    "The scrape itself timed out: it was cut off after {}, the timeout being {}{usual}.",
                    units::secs(longest),
                    units::secs(limit)
                ),
                None => format!(
                    "The scrape itself timed out: it took {}, as long as the interval{usual}; \
                     scrape_timeout_seconds would tell the timeout.",
                    units::secs(longest)
                ),
            },
        );
        match self.progress {
            Some(share) if share > WORKED_SHARE && self.renewed.is_none() => {
                decision = decision.because(format!(
                    "The process was alive and working: over the gap its counters advanced by {} what their former \
                     rate gives, so only /metrics or the way to it hung.",
                    if share >= 1.0 {
                        "at least".to_owned()
                    } else {
                        format!("{} of", units::share(share))
                    }
                ));
            }
            Some(share) if share < STOOD_SHARE && self.renewed.is_none() => {
                decision = decision.because(
                    "Its counters did not advance over the gap and were not reset: the process itself stood still \
                     (frozen or starved).",
                );
            }
            _ => {
                decision = decision.because(
                    "A connect that timed out and an answer that did not come look the same in stored samples.",
                );
            }
        }
        if self.jobs.1 > 1 && self.jobs.0 == self.jobs.1 {
            decision = decision.because(format!(
                "All {} targets of the job timed out at the same time, which points to what they share: the network \
                 or Prometheus.",
                self.jobs.1
            ));
        }
        decision
    }

    /// Rows 8 to 10.
    fn partial(&self) -> Decision {
        const SAMPLE_LIMIT: &str = "prometheus_target_scrapes_exceeded_sample_limit_total";
        const LABEL_LIMIT: &str = "prometheus_target_scrape_pool_exceeded_label_limits_total";
        let read = self.most(|s| s.samples);
        let usual = self.target.usual_samples(self.phase.start, |s| s.samples);
        let failed = format!(
            "Each failed at once after {} samples had been read",
            units::number(read)
        );
        if let Some(limit) = self.target.sample_limit
            && read > limit
        {
            return Decision::new(
                "limit_exceeded",
                0.98,
                format!(
                    "{failed}, more than the sample limit of {}.",
                    units::number(limit)
                ),
            );
        }
        for (metric, name) in [
            (SAMPLE_LIMIT, "sample_limit"),
            (LABEL_LIMIT, "a label limit"),
        ] {
            if self.rose(metric) == Some(true) {
                let reason = format!("{failed}, and {metric} rose meanwhile: {name} was exceeded.");
                return Decision::new("limit_exceeded", 0.95, reason);
            }
        }
        if let Some(cause @ ("limit_exceeded" | "bad_exposition")) = self.stated {
            return Decision::new(cause, 0.97, format!("{failed}."));
        }
        if usual.is_some_and(|usual| read < usual) {
            let is_sure = self.rose(SAMPLE_LIMIT).is_some() && self.rose(LABEL_LIMIT).is_some();
            return Decision::new(
                "bad_exposition",
                if is_sure { 0.95 } else { 0.8 },
                format!(
                    "{failed} of the usual {}: the exposition is broken after about that many samples. Series before \
                     that place keep their last value in range queries, for up to five minutes.",
                    units::number(usual.unwrap_or(read))
                ),
            );
        }
        Decision::new("scrape_failed", 0.5, format!("{failed}.")).because(
            "A limit and a broken exposition look the same here; scrape_sample_limit, Prometheus' own counters, or \
             lastError of /targets during the gap would decide.",
        )
    }

    /// Row 11.
    fn not_metrics(&self) -> Decision {
        let body = units::bytes(self.most(|s| s.body));
        let cause = self
            .stated
            .filter(|c| matches!(*c, "limit_exceeded" | "http_error" | "connection_failed"))
            .unwrap_or("bad_exposition");
        Decision::new(
            cause,
            0.9,
            format!(
                "Each failed at once with a body of {body} in which no sample could be read: something that is no \
                 metrics page (a login or error page, a proxy) answered."
            ),
        )
    }

    /// Rows 12 and 13.
    fn fast(&self) -> Decision {
        const TARGET_LIMIT: &str = "prometheus_target_scrape_pool_exceeded_target_limit_total";
        let longest = units::secs(self.most(|s| s.duration_s));
        let failed = format!("Each failed at once (in {longest} at most), with nothing read");
        let whole_job = self.jobs.0 == self.jobs.1;
        if whole_job && self.rose(TARGET_LIMIT) == Some(true) {
            let reason =
                format!("{failed}, for the whole pool, and {TARGET_LIMIT} rose meanwhile.");
            return Decision::new("limit_exceeded", 0.9, reason);
        }
        let is_down = matches!(
            self.stated,
            None | Some("connection_refused" | "connection_failed")
        );
        if self.renewed.is_some() && is_down {
            return Decision::new(
                "target_restarted",
                0.95,
                format!("{failed}: the process was gone and came back."),
            );
        }
        if let Some(cause) = self.stated {
            return Decision::new(cause, 0.95, format!("{failed}."));
        }
        Decision::new("scrape_failed", 0.85, format!("{failed}."))
            .because(if self.progress.is_some() {
                "The process that answers again is the same one as before."
            } else {
                "Nothing shows whether a new process answered."
            })
            .because(
                "A refused connection, an HTTP error, a reset, a cut-off body and a failed name lookup look the same in \
                 stored samples; lastError of /targets during the gap, the scrape failure log or the debug log of \
                 Prometheus would decide.",
            )
    }

    fn untimed(&self) -> Decision {
        if let Some(cause) = self.stated {
            return Decision::new(cause, 0.85, "The scrapes were recorded as failed.");
        }
        if self.renewed.is_some() {
            return Decision::new(
                "target_restarted",
                0.7,
                "The scrapes were recorded as failed.",
            );
        }
        Decision::new("unknown", 0.5, "The scrapes were recorded as failed.").because(
            "How long they took is not in the recording; scrape_duration_seconds would tell a time-out from a failure \
             at once.",
        )
    }

    /// Row 5, and what is left when the other targets went on.
    fn missing(&self) -> Decision {
        let Some(hole) = self.phase.hole else {
            return Decision::new("unknown", 0.3, "No sample was recorded.");
        };
        let until = hole.to.unwrap_or(i64::MAX);
        let is_marked = self
            .target
            .markers
            .iter()
            .any(|m| *m > hole.from && *m < until);
        let back = self
            .target
            .scrapes
            .get(hole.before + 1)
            .filter(|_| hole.to.is_some());
        let added = back.and_then(|s| s.added);
        let is_full = added
            .zip(back.and_then(|s| s.samples))
            .is_some_and(|(added, samples)| added > 0.0 && added >= 0.9 * samples);
        let gone = "Not even `up` was recorded for it, while other targets went on";
        if is_marked {
            return Decision::new(
                "target_removed",
                0.98,
                format!(
                    "{gone}, and `up` ended with a staleness marker: the target left service discovery or relabelling."
                ),
            );
        }
        if is_full && self.jobs.1 > 0 {
            return Decision::new(
                "target_removed",
                0.9,
                format!(
                    "{gone}, and on its return all {} series were new to Prometheus (scrape_series_added): it was taken \
                     out of service discovery and put back.",
                    units::number(added.unwrap_or(0.0))
                ),
            );
        }
        if self.phase.missing == 1 && hole.to.is_some() {
            return Decision::new(
                "isolated_miss",
                0.9,
                "A single scrape left no sample at all; the one before and the one after it are there.",
            );
        }
        if self.jobs.1 == 0 {
            return self.only_target(added, is_full);
        }
        if added == Some(0.0) {
            return Decision::new("unknown", 0.5, format!("{gone}.")).because(
                "On its return no series was new to Prometheus, so it was not removed; the log of Prometheus would say \
                 what kept it from being stored.",
            );
        }
        Decision::new("target_removed", 0.6, format!("{gone}.")).because(
            "A staleness marker (remote read shows it) or scrape_series_added on its return would make this certain.",
        )
    }

    /// There is no other target to compare with.
    fn only_target(&self, added: Option<f64>, is_full: bool) -> Decision {
        let alone = "No sample of it was recorded, not even `up`, and no other target is in the recording to compare with";
        if let Some(renewed) = self.renewed
            && self
                .target
                .series
                .iter()
                .any(|s| s.metric.starts_with("prometheus_"))
        {
            return Decision::new(
                "prometheus_restarted",
                0.9,
                format!("{alone}. {}", renewed.words),
            );
        }
        let hint = match (added, is_full) {
            (Some(0.0), false) => {
                "On its return no series was new to Prometheus: it was neither removed nor was Prometheus restarted, \
                 so scraping or storing stood still."
            }
            (_, true) => {
                "On its return all series were new to Prometheus: either the target had been removed or Prometheus \
                 restarted."
            }
            _ => "scrape_series_added is not in the recording.",
        };
        Decision::new("unknown", 0.6, format!("{alone}."))
            .because(hint)
            .because("`up` of other targets and process_start_time_seconds of Prometheus itself would decide.")
    }
}
