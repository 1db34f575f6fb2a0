//! The Prometheus family: Prometheus, Thanos, Mimir, Cortex, Grafana Cloud, `VictoriaMetrics`, Amazon Managed Prometheus.
//!
//! Protocol and limits: `prometheus.md` of the protocol notes. Raw samples (range selectors; of `VictoriaMetrics` its
//! export) tell the truth about gaps, which `query_range` hides (§2.1), so packs are pulled raw and only a person's own
//! `PromQL` by `query_range`.

mod answer;
mod checkup;
mod flavor;
mod plan;
mod pull;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::time::{TimeRange, parse_duration_nanos};
use crate::sources::prometheus::answer::Answer;
use crate::sources::prometheus::flavor::Flavor;
use crate::sources::{Checkup, Kind, Pull, Request, SettingsError, Signing, SourceSettings};

/// Samples that are pulled without asking back: 16 B each in memory.
const MOST_SAMPLES: u64 = 50_000_000;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Prometheus;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Tenant, sent as `X-Scope-OrgID`; several with `|` between.
    tenant: Option<String>,
    /// Which program it is: `prometheus`, `thanos`, `mimir`, `victoriametrics` or `amp` [default: found by asking].
    flavor: Option<Flavor>,
    /// AWS region: requests are signed for Amazon Managed Prometheus.
    region: Option<String>,
    /// Metrics beside those of the query packs: names, or beginnings that end in `*`.
    metrics: Vec<String>,
    /// Whether the built-in query packs say what to pull [default: true].
    packs: Option<bool>,
    /// Matchers for every metric, as they stand between braces: `namespace="shop"`.
    matchers: Option<String>,
    /// `PromQL` of your own, pulled as it is at `step`.
    queries: Vec<String>,
    /// Step of your own queries [default: the scrape interval, or what gives 11,000 points].
    step: Option<String>,
    /// Samples at most, by the estimate before the pull [default: 50,000,000]. What is beyond is left out and named.
    max_samples: Option<u64>,
}

/// Settings, checked.
#[derive(Debug, Clone)]
struct Checked {
    own: Own,
    step_ms: Option<i64>,
    signing: Option<Signing>,
}

impl Checked {
    fn of(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Own = source.own()?;
        if source.url.is_none() {
            return Err(source.error("url", "nothing", "the base address of the server"));
        }
        if let Some(matchers) = &own.matchers
            && (matchers.contains(['{', '}']) || !matchers.contains(['=', '~']))
        {
            return Err(source.error(
                "matchers",
                format!("`{matchers}`"),
                "matchers without braces, like `namespace=\"shop\"`",
            ));
        }
        let step_ms = match &own.step {
            None => None,
            Some(text) => Some(
                parse_duration_nanos(text)
                    .map(|nanos| nanos / 1_000_000)
                    .filter(|ms| *ms > 0)
                    .ok_or_else(|| {
                        source.error("step", format!("`{text}`"), "a duration like `15s`")
                    })?,
            ),
        };
        let signing = own.region.clone().map(|region| Signing {
            service: "aps",
            region,
            profile: None,
        });
        Ok(Self {
            own,
            step_ms,
            signing,
        })
    }

    /// What the settings say, else what the answer to `buildinfo` does.
    fn flavor(&self, answer: &Answer) -> Flavor {
        let body = match answer {
            Answer::Good { body, .. } => Some(body),
            _ => None,
        };
        let found = || Flavor::of(self.signing.is_some(), body);
        self.own.flavor.unwrap_or_else(found)
    }

    /// With what every request to this source carries.
    fn dress(&self, mut request: Request) -> Request {
        if let Some(tenant) = &self.own.tenant {
            request = request.with_header("x-scope-orgid", tenant.clone());
        }
        request.signing.clone_from(&self.signing);
        request
    }
}

impl Kind for Prometheus {
    fn id(&self) -> &'static str {
        "prometheus"
    }

    fn title(&self) -> &'static str {
        "Prometheus, Thanos, Mimir, Cortex, VictoriaMetrics, Amazon Managed Prometheus"
    }

    fn example(&self) -> &'static str {
        r#"[sources.prod]
kind = "prometheus"
url = "https://prometheus.example:9090"
# tenant = "team-a"               # X-Scope-OrgID (Mimir, Cortex, Grafana Cloud)
# region = "eu-central-1"         # Amazon Managed Prometheus: requests are signed
# metrics = ["shop_*"]            # beside what the query packs know
# matchers = 'namespace="shop"'   # for every metric
# queries = ["sum by (job) (rate(http_requests_total[1m]))"]
# step = "15s"                    # of your queries
# max_samples = 50000000          # what is beyond is left out and named
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError> {
        Ok(Box::new(pull::PrometheusPull::new(
            Checked::of(source)?,
            window,
        )))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        Ok(Box::new(checkup::PrometheusCheckup::new(Checked::of(
            source,
        )?)))
    }
}
