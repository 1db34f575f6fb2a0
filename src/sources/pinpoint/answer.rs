//! What the machine needs to know of an answer. By content type and content, never by the status alone: Pinpoint answers
//! errors with 200, wrong paths with its start page, and a login with a redirect (`pinpoint.md` §0).

use serde_json::Value;

use crate::base::text::shorten;
use crate::formats::pinpoint::refusal;
use crate::sources::{FailureKind, Outcome, Reply};

/// How an answer came out.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// JSON without an error in it.
    Good(Value),
    /// It wants to know who we are: 401, a redirect to a login, a login page.
    Login(String),
    /// It knows us and says no.
    Forbidden(String),
    /// Nothing there: 404, or a web page where data should be.
    Absent(String),
    /// The server's own error, whatever its status.
    Refused(String),
    /// No answer.
    Failed(String),
}

impl Answer {
    /// What was said, for people; nothing for a good one.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Good(_) => "",
            Self::Login(text)
            | Self::Forbidden(text)
            | Self::Absent(text)
            | Self::Refused(text)
            | Self::Failed(text) => text,
        }
    }

    /// What to do about it, in one line.
    pub(super) const fn advice(&self) -> &'static str {
        match self {
            Self::Good(_) => "",
            Self::Login(_) => {
                "give `http.basic_auth` (it works for Pinpoint's own login, too), `http.authorization` or a cookie in `http.headers`"
            }
            Self::Forbidden(_) => "it knows us and says no: ask for the right to read",
            Self::Absent(_) => {
                "check the path of `url`: it is where the web console is, without `/main` or `/api`"
            }
            Self::Refused(_) => "read the server's words; its own log has more",
            Self::Failed(_) => "look at the lines above",
        }
    }
}

/// Reads an outcome.
pub(super) fn read(outcome: &Outcome<'_>) -> Answer {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) if failure.kind == FailureKind::Redirect => {
            return if is_of_login(&failure.text) {
                Answer::Login(failure.text.clone())
            } else {
                Answer::Failed(failure.text.clone())
            };
        }
        Outcome::Failed(failure) => return Answer::Failed(failure.text.clone()),
    };
    let status = reply.status;
    if (300..400).contains(&status) {
        let to = reply.header("location").unwrap_or_default();
        let text = format!("HTTP {status}: it sends us to {}", shorten(to, 120));
        return if is_of_login(to) {
            Answer::Login(format!("{text}, a login page"))
        } else {
            Answer::Refused(text)
        };
    }
    if is_page(reply) {
        return page(reply);
    }
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    let said = body.as_ref().and_then(refusal);
    let text = said.clone().map_or_else(
        || format!("HTTP {status}"),
        |said| {
            if said.starts_with("HTTP ") {
                said
            } else {
                format!("HTTP {status}: {said}")
            }
        },
    );
    match (status, body) {
        (401, _) => Answer::Login(text),
        (403, _) => Answer::Forbidden(text),
        (404 | 405, _) => Answer::Absent(text),
        (200..=299, Some(_)) if said.is_some() => Answer::Refused(text),
        (200..=299, Some(body)) if !reply.is_cut => Answer::Good(body),
        (200..=299, _) if reply.is_cut => Answer::Failed("the answer broke off".to_owned()),
        (200..=299, None) => Answer::Refused("an answer that is no JSON".to_owned()),
        _ => Answer::Refused(text),
    }
}

fn is_page(reply: &Reply) -> bool {
    let is_html = reply
        .header("content-type")
        .is_some_and(|t| t.to_ascii_lowercase().contains("html"));
    is_html || reply.body.trim_ascii_start().starts_with(b"<")
}

/// A web page where data should be: a login, a refusal, or the console's start page.
fn page(reply: &Reply) -> Answer {
    let status = reply.status;
    let text = String::from_utf8_lossy(reply.body.get(..16 << 10).unwrap_or(&reply.body));
    let lower = text.to_ascii_lowercase();
    let asks_password = lower.contains("type=\"password\"") || lower.contains("type='password'");
    match status {
        401 => Answer::Login(format!("HTTP {status}, as a web page")),
        403 => Answer::Forbidden(format!("HTTP {status}, as a web page")),
        404 | 405 => Answer::Absent(format!("HTTP {status}, as a web page")),
        200..=299 if asks_password || is_of_login(&lower) => {
            Answer::Login("a login page instead of data".to_owned())
        }
        200..=299 => Answer::Absent("a web page instead of data".to_owned()),
        _ => Answer::Refused(format!("HTTP {status}, as a web page")),
    }
}

fn is_of_login(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["login", "signin", "sign-in", "/oauth", "/sso", "saml"]
        .iter()
        .any(|word| text.contains(word))
}
