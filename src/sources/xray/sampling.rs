//! Which share of the requests was traced at all: X-Ray's own rules, and what they did lately.

use std::collections::BTreeMap;

use serde_json::Value;

/// What the answers of `GetSamplingRules` and `GetSamplingStatisticSummaries` say.
#[derive(Debug, Default)]
pub(super) struct Sampling {
    /// Name → (requests a second that are always traced, share of the others).
    rules: BTreeMap<String, (u64, f64)>,
    /// Name → (requests, of them traced), over all summaries that there are.
    counts: BTreeMap<String, (u64, u64)>,
}

impl Sampling {
    /// Takes a page of the rules.
    pub(super) fn take_rules(&mut self, body: &Value) {
        let records = body.get("SamplingRuleRecords").and_then(Value::as_array);
        for record in records.into_iter().flatten() {
            let rule = |key: &str| record.get("SamplingRule").and_then(|r| r.get(key));
            let (Some(name), Some(rate)) = (
                rule("RuleName").and_then(Value::as_str),
                rule("FixedRate").and_then(Value::as_f64),
            ) else {
                continue;
            };
            let reservoir = rule("ReservoirSize").and_then(Value::as_u64).unwrap_or(0);
            self.rules.insert(name.to_owned(), (reservoir, rate));
        }
    }

    /// Takes a page of what the rules did.
    pub(super) fn take_counts(&mut self, body: &Value) {
        let all = body
            .get("SamplingStatisticSummaries")
            .and_then(Value::as_array);
        for one in all.into_iter().flatten() {
            let count = |key: &str| one.get(key).and_then(Value::as_u64).unwrap_or(0);
            let Some(name) = one.get("RuleName").and_then(Value::as_str) else {
                continue;
            };
            let known = self.counts.entry(name.to_owned()).or_default();
            known.0 = known.0.saturating_add(count("RequestCount"));
            known.1 = known.1.saturating_add(count("SampledCount"));
        }
    }

    /// What must stand beside every number of this source.
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        let names: std::collections::BTreeSet<&String> =
            self.rules.keys().chain(self.counts.keys()).collect();
        for name in names {
            let mut part = format!("rule `{name}`");
            if let Some((reservoir, rate)) = self.rules.get(name) {
                part = format!(
                    "{part} takes {reservoir} requests a second and {} of the others",
                    percent(*rate)
                );
            }
            if let Some((requests, sampled)) = self.counts.get(name).filter(|(all, _)| *all > 0) {
                #[expect(clippy::cast_precision_loss, reason = "a share to look at")]
                let share = *sampled as f64 / *requests as f64;
                part = format!(
                    "{part} (lately {sampled} of {requests} requests, {})",
                    percent(share)
                );
            }
            parts.push(part);
        }
        let how = if parts.is_empty() {
            "its rules could not be read; by default it takes the first request of each second and 5 % of the others"
                .to_owned()
        } else {
            parts.join("; ")
        };
        format!(
            "counts and times of X-Ray are of the traced requests only: {how}. Its quantiles are not those of all requests"
        )
    }
}

/// `5 %`, `0.25 %`.
fn percent(share: f64) -> String {
    let rounded = (share * 10_000.0).round() / 100.0;
    format!("{rounded} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_said_by_rule() {
        let mut sampling = Sampling::default();
        assert!(sampling.words().contains("5 % of the others"));
        sampling.take_rules(&serde_json::json!({"SamplingRuleRecords": [
            {"SamplingRule": {"RuleName": "Default", "FixedRate": 0.05, "ReservoirSize": 1}},
            {"SamplingRule": {"RuleName": 7}}, null,
        ]}));
        for sampled in [40, 10] {
            sampling.take_counts(&serde_json::json!({"SamplingStatisticSummaries": [
                {"RuleName": "Default", "RequestCount": 500, "SampledCount": sampled}, 3,
            ]}));
        }
        let words = sampling.words();
        assert!(
            words.contains("rule `Default` takes 1 requests a second and 5 % of the others (lately 50 of 1000 requests, 5 %)"),
            "{words}"
        );
    }
}
