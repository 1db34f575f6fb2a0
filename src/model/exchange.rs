//! One question to a live system and its answer, byte for byte: what a bundle keeps and what `formats` reads.
//!
//! A live pull, a recorded bundle and a loose file join here: the body of an exchange is an input like any file, and its
//! name is made of source and request alone, so that live and recorded give the same report.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::id::stable_id;
use crate::base::time::Timestamp;

/// What was asked, without anything secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Question {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with its query, relative to the base address of the source: `/api/v1/query?query=up`.
    pub path: String,
    /// Content type of what was sent, when something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// What was sent. Text, for every protocol but remote read, whose bytes stand here as base 16 after `hex:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// How often the same was asked before in this pull (X-Ray is asked again for traces that it did not process).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub again: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
const fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// Headers in the order in which they came, names in lower case, without those that hold secrets (`set-cookie`).
    pub headers: Vec<(String, String)>,
    /// The body as received: still packed when `content-encoding` says so.
    pub body: Arc<[u8]>,
    /// Why the body ends too early, when it does.
    pub cut: Option<String>,
}

impl Answer {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Question, answer, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Name of the source, as the person called it.
    pub source: String,
    /// Its kind: `prometheus`, `xray`, ….
    pub kind: String,
    /// What was asked.
    pub question: Question,
    /// What came back.
    pub answer: Answer,
    /// When it was sent.
    pub at: Timestamp,
    /// How long it took until the last byte.
    pub took_ms: u64,
}

impl Exchange {
    /// What the report calls it: source and request, nothing that differs from pull to pull.
    pub fn name(&self) -> String {
        self.question.name(&self.source)
    }

    /// A short stable key of source and request: the name of its entry in a bundle, and how a pull finds what it has.
    pub fn key(&self) -> String {
        self.question.key(&self.source)
    }
}

impl Question {
    /// As [`Exchange::name`].
    pub fn name(&self, source: &str) -> String {
        let mut name = format!("{source}: {} {}", self.method, self.path);
        if let Some(body) = &self.body {
            name.push(' ');
            name.push_str(body);
        }
        if self.again > 0 {
            name.push_str(" (asked ");
            name.push_str(&self.again.to_string());
            name.push_str(" times before)");
        }
        name
    }

    /// As [`Exchange::key`].
    pub fn key(&self, source: &str) -> String {
        stable_id("x", [self.name(source).as_str()])
    }
}
