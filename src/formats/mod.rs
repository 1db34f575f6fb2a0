//! Bytes → rows. Pure: no files, no network, no clock. One file or folder per format.
//!
//! A format says from the first bytes whether they are its own ([`Format::sniff`]) and reads them whole
//! ([`Format::read`]). What cannot be read is reported with its place; the rest is kept. To add one, see
//! `CONTRIBUTING.md`.

pub mod events;
pub mod go_dump;
pub mod head;
pub mod known;
pub mod nginx;
pub mod pinpoint;
pub mod pprof;
pub mod prometheus;
pub mod pyroscope;
pub mod rang;
mod upstream_lists;
pub mod xray;

pub use head::Head;

use std::fmt;

use crate::base::reporter::Reporter;
use crate::base::time::{TimeRange, Timestamp, Zone};
use crate::model::batch::Batch;

/// One format.
pub trait Format: Sync {
    /// Its stable id, as `inputs[].format` says it.
    fn id(&self) -> &'static str;
    /// Its name for people.
    fn title(&self) -> &'static str;
    /// Whether bytes that begin like this are of this format.
    fn sniff(&self, head: &Head<'_>) -> Sniff;
    /// Whether answers to this request are of this format. Asked only when the content does not say: an empty list.
    fn answers(&self, _request: &RequestHint) -> bool {
        false
    }
    /// Reads all of `bytes` into `out`. Damage that leaves other rows whole goes to `log`; an error means that nothing
    /// useful was in it.
    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError>;
}

/// Every format, in documentation order. The surest [`Sniff::Yes`] wins; of equals the first.
pub const ALL: &[&dyn Format] = &[
    &prometheus::api::PrometheusApi,
    &prometheus::export::VictoriaExport,
    &prometheus::remote_read::RemoteRead,
    &prometheus::text::Exposition,
    &xray::XRay,
    &pinpoint::Pinpoint,
    &nginx::json::NginxJson,
    &nginx::line::NginxLine,
    &go_dump::debug1::GoProfileText,
    &go_dump::debug2::GoStackDump,
    &pprof::Pprof,
    &rang::alertmanager::Alertmanager,
    &rang::grafana::GrafanaAnnotations,
    &rang::kubernetes::KubernetesEvents,
    &pyroscope::Pyroscope,
    &events::csv::EventsCsv,
    &events::jsonl::EventsJson,
];

/// Whether bytes are of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sniff {
    /// Yes, with a sureness from 1 (possible) to 100 (certain).
    Yes(u8),
    /// No. `near` (0 to 99) says how close it came, for the closest guess of what nobody recognised.
    No {
        /// How close it came.
        near: u8,
        /// What is missing or wrong, as the end of a sentence: "no `resultType` in it".
        why: String,
    },
}

impl Sniff {
    /// Not at all like it.
    pub const NOT_AT_ALL: Self = Self::No {
        near: 0,
        why: String::new(),
    };

    /// Close, but refused, because.
    pub fn refused(near: u8, why: impl Into<String>) -> Self {
        Self::No {
            near,
            why: why.into(),
        }
    }
}

/// What is known of an input from beside it.
#[derive(Debug, Clone)]
pub struct Hints<'a> {
    /// File name without its folder and without `.gz` and the like.
    pub name: &'a str,
    /// The request that the input answers (`requests.json`), when known.
    pub request: Option<&'a RequestHint>,
    /// The zone of civil times that carry none.
    pub zone: &'a Zone,
    /// Log formats that were given by `--log-format NAME=FORMAT` or found in an nginx configuration beside the input,
    /// in that order.
    pub log_formats: &'a [NamedLogFormat],
}

/// The request that a file answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestHint {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with its query.
    pub path: String,
    /// The body, when one was sent.
    pub body: Option<serde_json::Value>,
    /// When it was sent.
    pub at: Option<Timestamp>,
    /// HTTP status of the answer.
    pub http: Option<u16>,
    /// Content type of the answer.
    pub ctype: Option<String>,
    /// Whom it was sent to (the instance of a dump).
    pub target: Option<String>,
    /// Whether it was asked by a pull of ours, which says by itself what is missing of it in the end.
    pub is_pulled: bool,
    /// The window of that pull: what a server says of the moment of asking is not of it.
    pub window: Option<TimeRange>,
}

/// A named nginx `log_format`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedLogFormat {
    /// Its name.
    pub name: String,
    /// The format string.
    pub format: String,
    /// `default`, `json` or `none`.
    pub escape: String,
}

/// Why an input could not be read at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// A short stable name.
    pub code: &'static str,
    /// The place: `line 3`, `byte 120`, `$.data.result`.
    pub at: Option<String>,
    /// What was there.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What to do.
    pub advice: String,
}

impl FormatError {
    /// An error with everything that a person needs.
    pub fn new(
        code: &'static str,
        at: impl Into<Option<String>>,
        what: impl Into<String>,
        expected: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            code,
            at: at.into(),
            what: what.into(),
            expected: expected.into(),
            advice: advice.into(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        if let Some(at) = &self.at {
            write!(f, " at {at}")?;
        }
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        if !self.advice.is_empty() {
            write!(f, "; {}", self.advice)?;
        }
        Ok(())
    }
}

impl std::error::Error for FormatError {}

/// What [`recognise`] found.
pub enum Recognised {
    /// This format.
    As(&'static dyn Format),
    /// None; the closest guess and why it was refused.
    Nothing {
        /// The closest guess, when there is one.
        guess: String,
    },
}

/// Finds the format of an input by its content.
pub fn recognise(head: &Head<'_>, hints: &Hints<'_>) -> Recognised {
    let mut best: Option<(u8, &'static dyn Format)> = None;
    let mut nearest: Option<(u8, String)> = None;
    for format in ALL {
        match format.sniff(head) {
            Sniff::Yes(sure) if best.is_none_or(|(known, _)| sure > known) => {
                best = Some((sure, *format));
            }
            Sniff::No { near, why }
                if near > 0 && nearest.as_ref().is_none_or(|(known, _)| near > *known) =>
            {
                nearest = Some((near, format!("closest to {}, but {why}", format.title())));
            }
            Sniff::Yes(_) | Sniff::No { .. } => {}
        }
    }
    // A line format that the person gave by hand beats a weak guess.
    if best.is_none_or(|(sure, _)| sure < 80) && nginx::line::matches_given_format(head, hints) {
        return Recognised::As(&nginx::line::NginxLine);
    }
    let by_request = || {
        let is_empty_list = matches!(
            head.text.split_whitespace().collect::<String>().as_str(),
            "[]" | "{}"
        );
        let request = hints.request.filter(|_| head.is_whole && is_empty_list)?;
        ALL.iter().copied().find(|format| format.answers(request))
    };
    match best.map(|(_, format)| format).or_else(by_request) {
        Some(format) => Recognised::As(format),
        None if pinpoint::is_empty_answer(head, hints) => Recognised::As(&pinpoint::Pinpoint),
        None => Recognised::Nothing {
            guess: known::name_of(head)
                .or_else(|| nearest.map(|(_, text)| text))
                .unwrap_or_else(|| "nothing that Tailscope reads begins like this".to_owned()),
        },
    }
}
