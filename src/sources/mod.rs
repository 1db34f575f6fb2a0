//! Live systems as state machines without I/O: what to ask next, given what came back.
//!
//! A [`Kind`] plans a [`Pull`] for one named source and one window. A driver (`engine::net`) asks it for the next
//! [`Step`], sends the request, and feeds the outcome back. The answers themselves are exchanges, which become rows by way
//! of `formats` like any file; a machine reads of them only what it needs to know what to ask next. So tests need neither a
//! network nor async, and a replay feeds the same answers again.

pub mod alertmanager;
pub mod config;
pub mod file;
pub mod grafana;
pub mod kubernetes;
mod look;
pub mod pinpoint;
pub mod pprof;
pub mod prometheus;
pub mod pyroscope;
mod queue;
#[cfg(test)]
mod rang_tests;
pub mod request;
mod said;
pub mod settings;
pub mod xray;

use std::path::PathBuf;
use std::time::Duration;

use crate::base::reporter::Warning;
use crate::base::time::TimeRange;
pub use request::{Body, Failure, FailureKind, Method, Outcome, Reply, Request, Signing};
pub use settings::{SettingsError, SourceSettings};

/// One kind of source.
pub trait Kind: Sync {
    /// Its name in `sources.toml`.
    fn id(&self) -> &'static str;
    /// Its name for people.
    fn title(&self) -> &'static str;
    /// Every setting of its own, as commented TOML: help, docs and the published schema's examples.
    fn example(&self) -> &'static str;
    /// The JSON Schema of those settings, for `tailscope schema sources`.
    fn own_schema(&self) -> schemars::Schema;
    /// The base address: the one of the settings, or the kind's own where it has one (AWS).
    fn address(&self, source: &SourceSettings) -> Option<String> {
        source.url.clone()
    }
    /// Checks the settings and plans what to pull of `window`. Asks nothing yet.
    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError>;
    /// Plans the questions of `doctor`.
    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError>;
    /// Files and folders that belong to the pull and need no request (kind `file`).
    fn files(&self, _source: &SourceSettings) -> Result<Vec<PathBuf>, SettingsError> {
        Ok(Vec::new())
    }
}

/// Every kind, in documentation order.
pub const ALL: &[&dyn Kind] = &[
    &prometheus::Prometheus,
    &xray::XRay,
    &pinpoint::Pinpoint,
    &alertmanager::Alertmanager,
    &grafana::GrafanaAnnotations,
    &kubernetes::KubernetesEvents,
    &pprof::Pprof,
    &pyroscope::Pyroscope,
    &file::Files,
];

/// The kind of that name.
pub fn by_id(id: &str) -> Option<&'static dyn Kind> {
    ALL.iter().copied().find(|kind| kind.id() == id)
}

/// A pull in progress. Deterministic: the same outcomes give the same requests, in whatever order they are fed.
pub trait Pull: Send {
    /// What to do next. After [`Step::Fetch`] it may be asked again at once: the driver keeps as many requests in flight
    /// as the limits allow.
    fn next(&mut self) -> Step;
    /// What came of the request with that ticket. The driver has tried again already where that may help (429, 503,
    /// connection lost), so a failure is final.
    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>);
    /// How far it has come.
    fn progress(&self) -> Progress;
    /// What a person should read before the rest is asked for: how much it will be. Taken once.
    fn announced(&mut self) -> Option<String> {
        None
    }
    /// What the person must know of the result: caps that were met, pages that were partial, the sampling ratio. Taken once,
    /// at the end.
    fn warnings(&mut self) -> Vec<Warning>;
}

/// A pull that looks and keeps nothing.
pub trait Checkup: Pull {
    /// What it saw, in the order of [`Check`]. Resolving, reaching, trust and the clock are seen by the driver.
    fn checks(&self) -> Vec<(Check, Verdict)>;
}

/// Names a request of one pull; counted up from 0 by the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u32);

/// What a machine wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send this.
    Fetch(Ticket, Request),
    /// Nothing, until one of the requests in flight is answered.
    Wait,
    /// Nothing any more.
    Done,
}

/// How far a pull has come, in its own units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests that were answered.
    pub answered: u64,
    /// Requests that are known to be needed, those included; grows as more becomes known.
    pub expected: u64,
}

/// What `doctor` looks at, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The name has an address.
    Resolved,
    /// Somebody answers there.
    Reached,
    /// The certificate is good (or there is none to check).
    Trusted,
    /// It knows us.
    Authenticated,
    /// Which program and version it is.
    Version,
    /// How far its clock is from ours.
    Clock,
    /// What it lets us read.
    MayRead,
    /// What it limits.
    Limits,
}

/// How a check came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is well; `None` when it could not be found out.
    pub is_well: Option<bool>,
    /// What was seen.
    pub text: String,
    /// One line on what to do, where it is not well.
    pub advice: Option<String>,
}

impl Verdict {
    /// It is well.
    pub fn well(text: impl Into<String>) -> Self {
        Self {
            is_well: Some(true),
            text: text.into(),
            advice: None,
        }
    }

    /// It is not well, and this is what to do.
    pub fn ill(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            is_well: Some(false),
            text: text.into(),
            advice: Some(advice.into()),
        }
    }

    /// It could not be found out.
    pub fn unknown(text: impl Into<String>) -> Self {
        Self {
            is_well: None,
            text: text.into(),
            advice: None,
        }
    }
}

/// How long a step may wait before it is sent, at most: what a source may ask for between two polls.
pub const LONGEST_DELAY: Duration = Duration::from_mins(1);
