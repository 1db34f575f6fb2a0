//! The Prometheus family: Prometheus, Thanos, Mimir, Cortex, Grafana Cloud, `VictoriaMetrics`, Amazon Managed Prometheus.
//!
//! Protocol and limits: `prometheus.md` of the protocol notes. Raw samples tell the truth about gaps, which `query_range`
//! hides (§2.1), so packs are pulled raw and only a person's own `PromQL` by `query_range`. Raw samples come by remote read
//! where that is offered and of `VictoriaMetrics` by its export: both hold the staleness markers that tell a series that
//! ended from scraping that stopped. Everywhere else they come by range selectors, which leave the markers out (§2.2).

mod answer;
mod checkup;
mod flavor;
mod matchers;
mod plan;
mod pull;
mod questions;
mod read;
mod said;
#[cfg(test)]
mod tests;
mod wanted;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::time::{TimeRange, parse_duration_nanos};
use crate::sources::prometheus::flavor::{Flavor, Found};
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
    /// AWS region: requests are signed for Amazon Managed Prometheus [default: the one in its address].
    region: Option<String>,
    /// Profile of the AWS configuration [default: what the AWS chain takes by itself].
    profile: Option<String>,
    /// Whether raw samples are asked for by remote read, which has staleness markers in it [default: where it is offered].
    remote_read: Option<bool>,
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
    /// Samples at most, by the estimate before the pull [default: 50,000,000]. Metrics beyond it are refused and named.
    max_samples: Option<u64>,
}

/// Settings, checked.
#[derive(Debug, Clone)]
struct Checked {
    own: Own,
    step_ms: Option<i64>,
    signing: Option<Signing>,
    /// `host` or `host:port` of the base address.
    host: String,
}

impl Checked {
    fn of(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Own = source.own()?;
        let Some(url) = &source.url else {
            return Err(source.error("url", "nothing", "the base address of the server"));
        };
        let host = host_of(url);
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
        let region = own
            .region
            .clone()
            .or_else(|| flavor::amp_region(&host).map(str::to_owned));
        let signing = region.map(|region| Signing {
            service: "aps",
            region,
            profile: own.profile.as_deref().map(Box::from),
        });
        Ok(Self {
            own,
            step_ms,
            signing,
            host,
        })
    }

    /// Which program it is, where that is known without asking.
    fn found(&self) -> Option<Found> {
        Found::before(self.own.flavor, &self.host, self.signing.is_some())
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

/// `host:port` of an address, without the user and password that it may hold.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    host.to_ascii_lowercase()
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
# region = "eu-central-1"         # Amazon Managed Prometheus: requests are signed [default: of its address]
# profile = "incident-reader"     # of the AWS configuration
# flavor = "thanos"               # prometheus, thanos, mimir, victoriametrics or amp [default: found by asking]
# remote_read = false             # raw samples by range selectors, without staleness markers [default: where offered]
# metrics = ["shop_*"]            # beside what the query packs know
# matchers = 'namespace="shop"'   # for every metric
# queries = ["sum by (job) (rate(http_requests_total[1m]))"]
# step = "15s"                    # of your queries
# max_samples = 50000000          # metrics beyond it are refused and named
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
