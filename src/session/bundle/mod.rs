//! The bundle: one `.tailscope` file with everything that was asked, what came back byte for byte, and the files that were
//! added (`contract.md` §6).
//!
//! It is a zip that any tool opens. While a recording runs, [`Recorder`] only ever appends whole entries to `NAME.part`;
//! the directory and the manifest come last, and then the file gets its name. A recording that was killed is therefore a
//! zip without a directory: [`read()`] finds its entries one after the other, and [`Recorder::begin`] goes on with it.

mod append;
mod read;
mod recorder;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::base::fs::FsError;
use crate::base::reporter::Warning;
use crate::base::time::Timestamp;
use crate::model::exchange::{Answer, Exchange, Question};

pub use read::{Bundle, Damage, is_bundle, read};
pub use recorder::Recorder;

/// The form of the bundle that this version writes.
pub const SCHEMA: &str = "tailscope.bundle/1";
/// The newest form that this version reads.
const NEWEST: u32 = 1;
/// The first entry: what is being recorded.
const OPENING: &str = "recording.json";
/// The last entry: what was recorded, with the SHA-256 of every other entry.
const MANIFEST: &str = "manifest.json";

/// What is recorded: known before the first request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recording {
    /// [`SCHEMA`].
    pub schema: String,
    /// Begin of the window that was asked for.
    pub start: Timestamp,
    /// End of it.
    pub end: Timestamp,
    /// Every source that was asked, by name.
    pub sources: Vec<RecordedSource>,
}

impl Recording {
    /// Of that window and those sources.
    pub fn new(start: Timestamp, end: Timestamp, mut sources: Vec<RecordedSource>) -> Self {
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        Self {
            schema: SCHEMA.to_owned(),
            start,
            end,
            sources,
        }
    }
}

/// A source, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedSource {
    /// What the person calls it.
    pub name: String,
    /// Its kind.
    pub kind: String,
    /// Base address, without user and password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether its certificate was not checked. Stamped into every report that is made of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub insecure_skip_verify: bool,
}

/// What the end of a pull says of one source.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Name of the source.
    pub source: String,
    /// What falls short.
    pub warnings: Vec<Told>,
}

/// A warning as a bundle keeps it: with whether something was lost, which reports do not carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// As [`Warning::code`].
    pub code: String,
    /// As [`Warning::text`].
    pub text: String,
    /// As [`Warning::at`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// As [`Warning::lossy`].
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_lossy: bool,
}

impl From<Warning> for Told {
    fn from(warning: Warning) -> Self {
        Self {
            code: warning.code,
            text: warning.text,
            at: warning.at,
            is_lossy: warning.lossy,
        }
    }
}

impl From<Told> for Warning {
    fn from(told: Told) -> Self {
        Self {
            code: told.code,
            text: told.text,
            at: told.at,
            lossy: told.is_lossy,
        }
    }
}

/// The last entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Manifest {
    schema: String,
    generator: Generator,
    window: Window,
    sources: Vec<RecordedSource>,
    #[serde(default)]
    endings: Vec<Ending>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Generator {
    name: String,
    version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Window {
    start: Timestamp,
    end: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    name: String,
    bytes: u64,
    sha256: String,
}

/// Everything of an exchange but its body: the entry `exchanges/SOURCE/KEY.json`. The body stands before it as
/// `exchanges/SOURCE/KEY.body`, so that an exchange whose head is there is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    source: String,
    kind: String,
    request: Question,
    at: Timestamp,
    took_ms: u64,
    status: u16,
    headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cut: Option<String>,
}

impl Head {
    fn of(exchange: &Exchange) -> Self {
        Self {
            source: exchange.source.clone(),
            kind: exchange.kind.clone(),
            request: exchange.question.clone(),
            at: exchange.at,
            took_ms: exchange.took_ms,
            status: exchange.answer.status,
            headers: exchange.answer.headers.clone(),
            cut: exchange.answer.cut.clone(),
        }
    }

    fn with_body(self, body: Vec<u8>) -> Exchange {
        Exchange {
            source: self.source,
            kind: self.kind,
            question: self.request,
            answer: Answer {
                status: self.status,
                headers: self.headers,
                body: body.into(),
                cut: self.cut,
            },
            at: self.at,
            took_ms: self.took_ms,
        }
    }
}

/// Where a recording is written until it is whole.
pub fn part_of(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// Why a bundle could not be written or read at all.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FsError),
    /// It was written by a later version.
    #[error(
        "{name} has the form {schema}, and this version reads up to {SCHEMA}; open it with a newer tailscope"
    )]
    Newer {
        /// The file.
        name: String,
        /// What it says of itself.
        schema: String,
    },
    /// It is no bundle.
    #[error("{name} is no bundle: {why}")]
    Not {
        /// The file.
        name: String,
        /// What is missing.
        why: String,
    },
    /// A recording of something else stands there.
    #[error(
        "{name} holds an unfinished recording of {what}; finish that one with the same sources and window, or remove the file"
    )]
    Other {
        /// The file.
        name: String,
        /// Its window or its sources, as they differ.
        what: String,
    },
    /// It is written by another process now.
    #[error("{name} is being written by another recording; wait for it, or write to another file")]
    Busy {
        /// The file.
        name: String,
    },
}

/// Whether this version reads bundles of that form.
fn check_schema(name: &str, schema: &str) -> Result<(), BundleError> {
    match schema
        .strip_prefix("tailscope.bundle/")
        .map(str::parse::<u32>)
    {
        Some(Ok(number)) if number <= NEWEST => Ok(()),
        Some(Ok(_)) => Err(BundleError::Newer {
            name: name.to_owned(),
            schema: schema.to_owned(),
        }),
        _ => Err(BundleError::Not {
            name: name.to_owned(),
            why: format!("its schema is `{schema}`, not `{SCHEMA}`"),
        }),
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}
