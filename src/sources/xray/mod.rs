//! AWS X-Ray: summaries in slices of time, whole traces in batches of five, the service graph and its statistics.
//!
//! Protocol and limits: `xray.md` §1 of the protocol notes; paths and members of the calls: the service model of botocore
//! (`xray/2016-04-12`). Where an account keeps its spans in `CloudWatch` Logs (Transaction Search), traces are retrieved
//! from there instead. Everything that X-Ray has is of the requests that were sampled, which is said beside it.

mod actions;
mod answer;
mod checkup;
mod plan;
mod pull;
mod retrieval;
mod sampling;
mod statistics;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::time::TimeRange;
use crate::sources::{Checkup, Kind, Pull, Request, SettingsError, Signing, SourceSettings};

/// Traces that are fetched whole without asking back: 1,000 requests, and at 20 kB each about 100 MB.
const MOST_TRACES: u64 = 5_000;
/// Rows of the list of traces that are read: 1 to 2 kB each.
const MOST_SUMMARIES: u64 = 20_000;
/// Edges whose statistics are asked for.
const MOST_EDGES: u64 = 40;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct XRay;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// AWS region [default: the one in `url`].
    region: Option<String>,
    /// Profile of the AWS configuration [default: what the AWS chain finds].
    profile: Option<String>,
    /// Filter expressions; a trace that one of them lets through is pulled [default: every trace].
    filters: Vec<String>,
    /// Group whose service graph and statistics are asked for [default: all].
    group: Option<String>,
    /// Which traces belong to the window: `event` (touched it), `trace_id` (began in it), `service` (a segment ended in
    /// it) [default: event].
    time_range: Option<TimeRangeType>,
    /// Traces of your own choice, in either spelling of the id; they are pulled beside the others.
    trace_ids: Vec<String>,
    /// Traces that are pulled whole, at most [default: 5,000]. What is beyond is left out and named.
    max_traces: Option<u64>,
    /// Rows of the list of traces, at most [default: 20,000]. Beyond that, a share of them is asked for.
    max_summaries: Option<u64>,
    /// Calls between services whose statistics are asked for, at most [default: 40, the busiest].
    max_edges: Option<u64>,
}

/// What the times of a window mean (`xray.md` §1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TimeRangeType {
    /// Traces that touched it.
    #[default]
    Event,
    /// Traces whose id was made in it.
    TraceId,
    /// Traces of which a segment ended in it.
    Service,
}

impl TimeRangeType {
    const fn word(self) -> &'static str {
        match self {
            Self::Event => "Event",
            Self::TraceId => "TraceId",
            Self::Service => "Service",
        }
    }
}

/// Settings, checked.
#[derive(Debug, Clone)]
struct Checked {
    own: Own,
    signing: Signing,
    /// The ids of the settings, as X-Ray writes them.
    trace_ids: Vec<String>,
}

impl Checked {
    fn of(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Own = source.own()?;
        let region = match (&own.region, &source.url) {
            (Some(region), _) => region.clone(),
            (None, Some(url)) => region_of(url).ok_or_else(|| no_region(source))?,
            (None, None) => return Err(no_region(source)),
        };
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if region.is_empty() || !region.chars().all(is_plain) {
            return Err(source.error(
                "region",
                format!("`{region}`"),
                "an AWS region like `eu-central-1`",
            ));
        }
        if source.http.credentials.is_some() {
            return Err(source.error(
                "http",
                "credentials beside those of AWS",
                "none: requests are signed with what the AWS chain gives (`profile` chooses)",
            ));
        }
        for (ix, filter) in own.filters.iter().enumerate() {
            if filter.trim().is_empty() || filter.matches('"').count() % 2 == 1 {
                return Err(source.error(
                    &format!("filters[{ix}]"),
                    format!("`{filter}`"),
                    "a filter expression like `service(\"edge\") { fault }`",
                ));
            }
        }
        let mut trace_ids = Vec::new();
        for (ix, id) in own.trace_ids.iter().enumerate() {
            trace_ids.push(trace_id(id).ok_or_else(|| {
                source.error(
                    &format!("trace_ids[{ix}]"),
                    format!("`{id}`"),
                    "`1-` with 8 and 24 hex digits, or 32 hex digits",
                )
            })?);
        }
        Ok(Self {
            signing: Signing {
                service: "xray",
                region,
                profile: own.profile.as_deref().map(Box::from),
            },
            own,
            trace_ids,
        })
    }

    /// With what every request to this source carries.
    fn dress(&self, mut request: Request) -> Request {
        request.signing = Some(self.signing.clone());
        request
    }

    fn max_traces(&self) -> usize {
        usize::try_from(self.own.max_traces.unwrap_or(MOST_TRACES)).unwrap_or(usize::MAX)
    }

    fn max_summaries(&self) -> u64 {
        self.own.max_summaries.unwrap_or(MOST_SUMMARIES)
    }

    fn max_edges(&self) -> usize {
        usize::try_from(self.own.max_edges.unwrap_or(MOST_EDGES)).unwrap_or(usize::MAX)
    }
}

fn no_region(source: &SourceSettings) -> SettingsError {
    source.error("region", "nothing", "an AWS region like `eu-central-1`")
}

/// The region in `https://xray.REGION.amazonaws.com`, also of China.
fn region_of(url: &str) -> Option<String> {
    let host = url.split_once("://")?.1.split(['/', ':']).next()?;
    let rest = host.strip_prefix("xray.")?;
    let region = rest
        .strip_suffix(".amazonaws.com")
        .or_else(|| rest.strip_suffix(".amazonaws.com.cn"))?;
    (!region.contains('.')).then(|| region.to_owned())
}

/// A trace id in the spelling of X-Ray; W3C's 32 digits are taken, too (`xray.md` §2).
fn trace_id(text: &str) -> Option<String> {
    let is_hex = |t: &str| t.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some((time, rest)) = text.strip_prefix("1-").and_then(|t| t.split_once('-')) {
        let is_good = time.len() == 8 && rest.len() == 24 && is_hex(time) && is_hex(rest);
        return is_good.then(|| text.to_ascii_lowercase());
    }
    let (time, rest) = text.split_at_checked(8)?;
    let is_good = rest.len() == 24 && is_hex(time) && is_hex(rest);
    is_good.then(|| format!("1-{time}-{rest}").to_ascii_lowercase())
}

impl Kind for XRay {
    fn id(&self) -> &'static str {
        "xray"
    }

    fn title(&self) -> &'static str {
        "AWS X-Ray"
    }

    fn example(&self) -> &'static str {
        r#"[sources.traces]
kind = "xray"
region = "eu-central-1"           # credentials come from the AWS chain: environment, profile, SSO, process, web identity, IMDS
# profile = "incident-reader"
# url = "http://127.0.0.1:5000"   # another endpoint than that of the region
# filters = ["fault", "responsetime > 1"]   # what one of them lets through; every trace without
# group = "checkout"              # for the service graph and its statistics
# time_range = "event"            # or "trace_id", "service"
# trace_ids = ["1-6b0d7cb0-0123456789abcdef01234567"]
# max_traces = 5000               # pulled whole; the rest is left out and named
# max_summaries = 20000
# max_edges = 40
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn address(&self, source: &SourceSettings) -> Option<String> {
        if source.url.is_some() {
            return source.url.clone();
        }
        let region = &Checked::of(source).ok()?.signing.region;
        let end = if region.starts_with("cn-") { ".cn" } else { "" };
        Some(format!("https://xray.{region}.amazonaws.com{end}"))
    }

    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError> {
        Ok(Box::new(pull::XRayPull::new(Checked::of(source)?, window)))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        Ok(Box::new(checkup::XRayCheckup::new(Checked::of(source)?)))
    }
}
