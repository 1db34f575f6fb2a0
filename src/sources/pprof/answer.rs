//! What the machine needs to know of an answer: whether it is the profile that was asked for.

use crate::base::text::shorten;
use crate::formats::pprof::Pprof;
use crate::formats::{Format as _, Head, Sniff};
use crate::sources::{Outcome, Reply};

/// Go stops writing a `debug=2` dump at so many bytes, in the middle of a line and without a mark (`profiles.md` §3).
const DUMP_ENDS_AT: usize = 64 << 20;

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Protobuf, packed or bare.
    Protobuf,
    /// Text of groups.
    Groups,
    /// Text of every goroutine.
    Goroutines,
}

/// How an answer came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is that.
    Good {
        /// Whether Go's own limit cut it.
        is_cut_by_go: bool,
    },
    /// Go's pprof answers, and has no such profile.
    Unknown,
    /// There is no pprof at this path.
    Absent(String),
    /// Something else was answered, with a good status.
    Else(String),
    /// Refused, or nothing came.
    Refused {
        /// HTTP status; 0 when there was no answer.
        status: u16,
        /// What was said.
        text: String,
    },
}

/// Judges an answer (`profiles.md` §3: errors carry `X-Go-Pprof: 1` and one line of text).
pub(super) fn read(outcome: &Outcome<'_>, expected: Expected) -> Answer {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) => {
            return Answer::Refused {
                status: 0,
                text: failure.text.clone(),
            };
        }
    };
    if reply.is_cut {
        return Answer::Refused {
            status: reply.status,
            text: "the answer broke off".to_owned(),
        };
    }
    if reply.is_good() {
        return good(reply, expected);
    }
    let is_go = reply.header("x-go-pprof").is_some();
    let text = refusal(reply);
    match reply.status {
        404 if is_go => Answer::Unknown,
        404 | 405 => Answer::Absent(text),
        status => Answer::Refused { status, text },
    }
}

fn good(reply: &Reply, expected: Expected) -> Answer {
    let body = reply.body.as_slice();
    let head = Head::new(body);
    let has_line = |is: &dyn Fn(&str) -> bool| head.text.lines().take(40).any(is);
    let is_that = match expected {
        Expected::Protobuf => {
            body.starts_with(&[0x1f, 0x8b]) || matches!(Pprof.sniff(&head), Sniff::Yes(_))
        }
        Expected::Groups => {
            head.is_text && has_line(&|l| l.contains(" profile: ") || l.starts_with("--- "))
        }
        Expected::Goroutines => {
            head.is_text && has_line(&|l| l.starts_with("goroutine ") && l.ends_with("]:"))
        }
    };
    if is_that {
        return Answer::Good {
            is_cut_by_go: expected == Expected::Goroutines && body.len() >= DUMP_ENDS_AT,
        };
    }
    let kind = reply.header("content-type").map_or_else(
        || "no content type".to_owned(),
        |t| format!("`{}`", shorten(t, 60)),
    );
    Answer::Else(if body.is_empty() {
        format!("HTTP {} with nothing in it", reply.status)
    } else {
        format!(
            "HTTP {} with {kind} in place of a profile: a login page, a proxy, or a route of the program that answers everything",
            reply.status
        )
    })
}

/// Status, and the one line of Go; of a page only the status.
fn refusal(reply: &Reply) -> String {
    let body = reply.body.get(..4096).unwrap_or(&reply.body);
    let words = String::from_utf8_lossy(body);
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() || words.starts_with('<') {
        format!("HTTP {}", reply.status)
    } else {
        format!("HTTP {}: {}", reply.status, shorten(&words, 200))
    }
}

/// What to do about a refusal of Go.
pub(super) fn advice(text: &str) -> &'static str {
    if text.contains("already in use") {
        "another profiler is running (a second person, or an agent that profiles all the time): wait, or ask that one"
    } else if text.contains("WriteTimeout") {
        "ask for fewer seconds: the program's server cuts answers that take longer"
    } else if text.contains("incompatible") {
        "the program's Go wants either seconds or a text form"
    } else {
        "look at the program's own log"
    }
}
