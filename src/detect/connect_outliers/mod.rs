//! Connects that took far too long: one finding for each connecting service and cause.
//!
//! [`collect`] gathers every connect once, [`cause`] groups the slow ones with the ladders of [`crate::detect::ladders`], [`interval`]
//! says from when until when, [`finding`] and
//! [`words`] tell it. [`histogram`] is for services of which only buckets are known.

mod cause;
mod collect;
mod finding;
mod histogram;
mod interval;
#[cfg(test)]
mod tests;
mod words;

use crate::detect::{Context, Detector, Verdict};
use crate::model::finding::FindingKind;

/// Connects that took far too long.
pub struct ConnectOutliers;

impl Detector for ConnectOutliers {
    fn kind(&self) -> FindingKind {
        FindingKind::ConnectOutliers
    }

    fn doc(&self) -> &'static str {
        "Finds connects of 0.5 s and more (three times the usual, where that is slow by itself), and connects that a \
         proxy gave up at its own limit, in access logs (every attempt upstream), spans, trace summaries and connect \
         histograms; each connect counts once, by its richest record. The cause is told by the rung test of `logs.md` \
         §3.3: the binomial tail P(K ≥ k) of as many values in the windows [q, 1.045 q + RTT] (at most 1.125 q) above \
         the rungs of a ladder, with p the share of [0.5 s, max] that they cover, believed at 10^-3 after correction \
         for the ladders tried: SYN sent again (1, 3, 7 s, or 1, 2, 3, 4, 5, 7, 11 s since Linux 6.5), DNS asked again \
         (5, 10 s). Broad values on no ladder are a slow peer, 504 without a header is the caller's own limit, and too \
         few values are of unknown cause. Confidence is the lower end of Wilson's 90 % interval of the explained \
         share. The finding ends where the quiet after the last outlier has a probability of 1 % at its last rate. \
         Silent when connects are fast, however slow the answers are; a log without connect times says nothing."
    }

    fn check(&self, context: &Context<'_>) -> Verdict {
        let callers = collect::callers(context.snapshot, context.window);
        let buckets = histogram::callers(context, &callers);
        if callers.is_empty() && buckets.is_empty() {
            return Verdict::NotEnough(if context.snapshot.requests.is_empty() {
                "no access log, span or histogram with connect times was given".to_owned()
            } else {
                "the access logs have no connect times: add $upstream_connect_time to their log_format"
                    .to_owned()
            });
        }
        let mut findings = Vec::new();
        for caller in &callers {
            for group in cause::groups(caller) {
                let same = buckets.iter().filter(|b| b.service == *caller.service);
                findings.extend(finding::of_group(context, caller, &group, same));
            }
        }
        let is_known = |service: &str| callers.iter().any(|c| *c.service == *service);
        for caller in buckets.iter().filter(|b| !is_known(&b.service)) {
            findings.extend(histogram::finding(context, caller));
        }
        Verdict::of(findings)
    }
}
