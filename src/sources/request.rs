//! What a machine asks the driver to send, and what it gets back.

use std::time::Duration;

use crate::base::percent::encode_into;
use crate::model::exchange::Question;

/// One HTTP request, relative to the source's base address and without credentials: the driver adds those.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET` or `POST`. Only these read.
    pub method: Method,
    /// Path after the base address, with its query, already encoded: `/api/v1/query?query=up`.
    pub path: String,
    /// What to send.
    pub body: Body,
    /// Headers beside those that the driver sets (`X-Scope-OrgID`, `Accept`); never a secret.
    pub headers: Vec<(&'static str, String)>,
    /// How AWS wants it signed.
    pub signing: Option<Signing>,
    /// Wait this long before sending (a poll). At most [`super::LONGEST_DELAY`].
    pub delay: Duration,
    /// How long the whole answer may take; `None` is what the settings say. A CPU profile takes as long as it measures.
    pub total_timeout: Option<Duration>,
    /// Whether question and answer belong to the recording. Polls and probes of `doctor` do not.
    pub is_kept: bool,
    /// Whether the driver may send it again when the connection breaks. A dump that stops the world is not asked for twice.
    pub is_repeatable: bool,
    /// Whether the machine needs of a good answer only its ends, [`SKIMMED`] bytes each: an envelope around a million samples.
    /// The exchange is kept whole all the same.
    pub is_skimmed: bool,
    /// How often the same was asked before in this pull; tells the exchanges apart.
    pub again: u32,
    /// What the recording says was sent, where that differs from pull to pull (tokens of pages): the name of an exchange
    /// must be the same in each.
    pub recorded_as: Option<Box<Body>>,
}

/// How much of each end of an answer a machine gets that asked for no more.
pub const SKIMMED: usize = 16 << 10;

/// The methods that sources use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
}

impl Method {
    /// As HTTP writes it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// What is sent with a POST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Nothing.
    Empty,
    /// `application/x-www-form-urlencoded`, already encoded.
    Form(String),
    /// `application/json`.
    Json(String),
    /// Anything else.
    Bytes {
        /// Its content type.
        content_type: &'static str,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// `SigV4`, for AWS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signing {
    /// Service name: `xray`, `aps`.
    pub service: &'static str,
    /// Region.
    pub region: String,
    /// Profile of the AWS configuration, when not the one that the chain takes by itself.
    pub profile: Option<Box<str>>,
}

impl Request {
    /// A GET that is kept.
    pub fn get(path: impl Into<String>) -> Self {
        Self::new(Method::Get, path.into(), Body::Empty)
    }

    /// A POST of a form that is kept.
    pub fn form(path: impl Into<String>, fields: &[(&str, &str)]) -> Self {
        Self::new(Method::Post, path.into(), Body::Form(query(fields)))
    }

    /// A POST of JSON that is kept.
    pub fn json(path: impl Into<String>, value: &serde_json::Value) -> Self {
        Self::new(Method::Post, path.into(), Body::Json(value.to_string()))
    }

    /// A request that is kept and may be repeated.
    pub const fn new(method: Method, path: String, body: Body) -> Self {
        Self {
            method,
            path,
            body,
            headers: Vec::new(),
            signing: None,
            delay: Duration::ZERO,
            total_timeout: None,
            is_kept: true,
            is_repeatable: true,
            is_skimmed: false,
            again: 0,
            recorded_as: None,
        }
    }

    /// The same, not kept.
    #[must_use]
    pub const fn unkept(mut self) -> Self {
        self.is_kept = false;
        self
    }

    /// The same, of whose answer only the ends are needed.
    #[must_use]
    pub const fn skimmed(mut self) -> Self {
        self.is_skimmed = true;
        self
    }

    /// With one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// As a bundle keeps it.
    pub fn question(&self) -> Question {
        let (content_type, body) = match self.recorded_as.as_deref().unwrap_or(&self.body) {
            Body::Empty => (None, None),
            Body::Form(form) => (
                Some("application/x-www-form-urlencoded".to_owned()),
                Some(form.clone()),
            ),
            Body::Json(json) => (Some("application/json".to_owned()), Some(json.clone())),
            Body::Bytes {
                content_type,
                bytes,
            } => (
                Some((*content_type).to_owned()),
                Some(format!("hex:{}", crate::base::id::hex(bytes))),
            ),
        };
        Question {
            method: self.method.as_str().to_owned(),
            path: self.path.clone(),
            content_type,
            body,
            again: self.again,
        }
    }
}

/// `a=1&b=x%20y`: fields as a query or form, in the order given (WHATWG URL §5.2, with `%20` for a space).
pub fn query(fields: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in fields {
        if !text.is_empty() {
            text.push('&');
        }
        encode_into(&mut text, name);
        text.push('=');
        encode_into(&mut text, value);
    }
    text
}

/// What came of a request.
#[derive(Debug, Clone, Copy)]
pub enum Outcome<'a> {
    /// An answer, whatever its status.
    Answered(&'a Reply),
    /// None; what arrived before is lost or is in the failure's words.
    Failed(&'a Failure),
}

/// An answer with its body unpacked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, unpacked; of a long answer to a skimmed request only its beginning and its end.
    pub body: Vec<u8>,
    /// Whether the body ended too early.
    pub is_cut: bool,
}

impl Reply {
    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether the status is 2xx and the body whole.
    pub fn is_good(&self) -> bool {
        (200..300).contains(&self.status) && !self.is_cut
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What happened, with the address, in a sentence.
    pub text: String,
    /// What to do.
    pub advice: String,
}

/// The kinds of failure that call for different advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The name has no address.
    Unresolved,
    /// Nobody listens, or no route leads there.
    Unreachable,
    /// The certificate is not trusted, expired, or for another name.
    Untrusted,
    /// The proxy refused or failed.
    Proxy,
    /// No connection within the time for that.
    ConnectTimeout,
    /// No first byte within the time for that.
    FirstByteTimeout,
    /// Not whole within the time for that.
    TotalTimeout,
    /// The connection broke.
    Broken,
    /// More bytes than allowed, packed or unpacked.
    TooLarge,
    /// It redirects in a circle, or to where we do not follow.
    Redirect,
    /// The credentials could not be had (file, command, keyring, AWS chain).
    Credentials,
    /// Not HTTP, or badly packed.
    Protocol,
    /// The network is not to be used (`--offline`).
    Offline,
    /// Somebody stopped the pull.
    Cancelled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_encoded_so_that_any_text_comes_back() {
        assert_eq!(
            query(&[("query", "up{job=\"a b\"}[5m]"), ("time", "1.5")]),
            "query=up%7Bjob%3D%22a%20b%22%7D%5B5m%5D&time=1.5"
        );
    }

    #[test]
    fn the_question_of_bytes_is_text() {
        let request = Request::new(
            Method::Post,
            "/api/v1/read".to_owned(),
            Body::Bytes {
                content_type: "application/x-protobuf",
                bytes: vec![0, 255],
            },
        );
        let question = request.question();
        assert_eq!(question.body.as_deref(), Some("hex:00ff"));
        assert_eq!(question.name("prod"), "prod: POST /api/v1/read hex:00ff");
    }
}
