//! Pinpoint 2.2 to 2.5, 3.0 and 3.1, found by probing (`pinpoint.md`).

mod answer;
mod checkup;
mod details;
mod dots;
mod pull;
#[cfg(test)]
mod tests;
mod version;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::time::TimeRange;
use crate::sources::{Checkup, Kind, Pull, SettingsError, SourceSettings};

/// Largest page of dots: the server cuts what is asked above it, silently.
const LARGEST_PAGE: u32 = 10_000;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Pinpoint;

/// What only this kind knows.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Applications by name [default: all, up to `max_applications`].
    applications: Vec<String>,
    /// Applications at most [default: 20].
    max_applications: usize,
    /// Agents whose charts are pulled, at most [default: 50].
    max_agents: usize,
    /// Dots of the scatter chart for each application, at most [default: 200,000].
    max_dots: usize,
    /// Dots in one answer, 1 to 10,000 [default: 5,000].
    page: u32,
    /// Transactions whose row is pulled for each application, errors and the slowest first [default: 200].
    max_transactions: usize,
    /// Call trees for each application, errors and the slowest first [default: 20].
    max_call_trees: usize,
    /// Whether the charts of agents are pulled.
    inspector: bool,
}

impl Default for Own {
    fn default() -> Self {
        Self {
            applications: Vec::new(),
            max_applications: 20,
            max_agents: 50,
            max_dots: 200_000,
            page: 5_000,
            max_transactions: 200,
            max_call_trees: 20,
            inspector: true,
        }
    }
}

fn checked(source: &SourceSettings) -> Result<Own, SettingsError> {
    let own: Own = source.own()?;
    let Some(url) = &source.url else {
        return Err(source.error("url", "nothing", "the address of Pinpoint's web console"));
    };
    if url.trim_end_matches('/').ends_with("/main") || url.contains("/#") {
        return Err(source.error(
            "url",
            format!("`{url}`"),
            "the address of the console itself, without the page that is open in it",
        ));
    }
    if !(1..=LARGEST_PAGE).contains(&own.page) {
        return Err(source.error("page", own.page.to_string(), "1 to 10000"));
    }
    Ok(own)
}

impl Kind for Pinpoint {
    fn id(&self) -> &'static str {
        "pinpoint"
    }

    fn title(&self) -> &'static str {
        "Pinpoint"
    }

    fn example(&self) -> &'static str {
        r#"[sources.pinpoint]
kind = "pinpoint"
url = "https://pinpoint.example"      # where the web console is; a path before it belongs to it
# applications = ["shop-order"]       # otherwise all, up to max_applications
# max_applications = 20
# max_agents = 50                     # whose charts are pulled
# max_dots = 200000                   # transactions of each application
# page = 5000                         # dots in one answer, at most 10000
# max_transactions = 200              # rows of each application: errors and the slowest first
# max_call_trees = 20                 # likewise
# inspector = true                    # charts of agents
# http.basic_auth = { username = "ann", password_file = "pw" }   # Pinpoint's own login takes it, too
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
        Ok(Box::new(pull::PinpointPull::new(checked(source)?, window)))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        checked(source)?;
        Ok(Box::new(checkup::PinpointCheckup::new()))
    }
}
