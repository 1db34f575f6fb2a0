//! Traces of an account whose spans lie in `CloudWatch` Logs (Transaction Search): asked for, waited for, listed
//! (`xray.md` §1).

use std::time::Duration;

use serde_json::{Map, Value};

use crate::sources::xray::actions::{Action, secs};
use crate::sources::xray::plan::Slice;
use crate::sources::{Body, Request};

/// Polls of one retrieval: with their waits about nine minutes of the hour that one may last.
const MOST_POLLS: u32 = 60;
/// Longest wait between two.
const LONGEST_WAIT_S: u64 = 10;

/// One retrieval.
#[derive(Debug, Clone)]
pub(super) struct Retrieval {
    /// What is asked for.
    pub(super) ids: Vec<String>,
    /// Over which time.
    pub(super) slice: Slice,
    /// What AWS calls it, once it has begun.
    token: String,
    polls: u32,
}

/// How a retrieval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Not ready yet.
    Runs,
    /// Ready to be listed.
    Complete,
    /// It will not be.
    Failed,
}

impl Retrieval {
    pub(super) const fn new(ids: Vec<String>, slice: Slice) -> Self {
        Self {
            ids,
            slice,
            token: String::new(),
            polls: 0,
        }
    }

    /// Begins it. Its answer is a token of this pull alone, and not kept.
    pub(super) fn start(&self) -> Request {
        let mut body = Map::new();
        body.insert("TraceIds".to_owned(), Value::from(self.ids.clone()));
        body.insert("StartTime".to_owned(), secs(self.slice.from_ms));
        body.insert("EndTime".to_owned(), secs(self.slice.to_ms));
        Action::StartRetrieval.request(body).unkept()
    }

    /// It has begun.
    pub(super) fn began(&mut self, token: &str) {
        token.clone_into(&mut self.token);
    }

    /// Asks whether it is ready, after a wait that grows; `None` when it has been asked often enough.
    pub(super) fn poll(&mut self) -> Option<Request> {
        if self.polls >= MOST_POLLS {
            return None;
        }
        let wait = (1_u64 << self.polls.min(6)).min(LONGEST_WAIT_S);
        self.polls += 1;
        let mut request = self.list().unkept();
        request.delay = Duration::from_secs(wait);
        Some(request)
    }

    /// Asks for the first page, to be kept under a name that is the same in every pull.
    pub(super) fn list(&self) -> Request {
        let body = |token: &str| {
            let mut body = Map::new();
            body.insert("RetrievalToken".to_owned(), Value::from(token));
            // The other form, `OTEL`, is a document in a layout that nobody has written down.
            body.insert("TraceFormat".to_owned(), Value::from("XRAY"));
            body
        };
        let first = self.ids.first().map_or("", String::as_str);
        let mut request = Action::ListRetrieved.request(body(&self.token));
        let shown = format!("of {} traces from {first}", self.ids.len());
        let shown = Value::Object(body(&shown)).to_string();
        request.recorded_as = Some(Box::new(Body::Json(shown)));
        request
    }

    /// By the word of the service.
    pub(super) fn state(word: Option<&str>) -> State {
        match word {
            Some("COMPLETE") => State::Complete,
            Some("SCHEDULED" | "RUNNING") => State::Runs,
            _ => State::Failed,
        }
    }
}
