//! Things that happened or were done: deploys, scale-outs, configuration, alerts, notes.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::input::InputIx;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where it came from.
    pub input: InputIx,
    /// The place in it (`line 3`).
    pub locator: Arc<str>,
    /// When it began.
    pub t: Timestamp,
    /// When it ended, for what lasts.
    pub end: Option<Timestamp>,
    /// `change`, `deploy`, `scale`, `config`, `restart`, `alert`, `traffic`, `note`, or what the file says.
    pub kind: Arc<str>,
    /// One line.
    pub title: Arc<str>,
    /// More, or empty.
    pub text: Arc<str>,
    /// The system or person that said so, or empty.
    pub source: Arc<str>,
    /// Every other field as one JSON object.
    pub attributes: Arc<str>,
}

impl Event {
    /// Whether it is something that people or machines changed, rather than a symptom.
    pub fn is_change(&self) -> bool {
        !matches!(self.kind.as_ref(), "alert" | "note" | "incident-note")
    }
}
