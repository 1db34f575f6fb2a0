//! What a JSON API said: its answer, or why there is none. Shared by the kinds that ask for lists and nothing else.

use serde_json::Value;

use crate::base::text::shorten;
use crate::sources::{Outcome, Reply};

/// Words of a server that are repeated, at most.
const MOST_CHARS: usize = 300;

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// HTTP status; 0 when there was no answer.
    pub(super) status: u16,
    /// What was said, with the status.
    pub(super) text: String,
    /// The whole body, where it is JSON.
    pub(super) body: Value,
}

/// The JSON of a good answer.
pub(super) fn json(outcome: &Outcome<'_>) -> Result<Value, Refusal> {
    let reply = match outcome {
        Outcome::Answered(reply) => reply,
        Outcome::Failed(failure) => {
            return Err(Refusal {
                status: 0,
                text: failure.text.clone(),
                body: Value::Null,
            });
        }
    };
    let refusal = |text: String, body: Value| Refusal {
        status: reply.status,
        text: if text.is_empty() {
            format!("HTTP {}", reply.status)
        } else {
            format!("HTTP {}: {text}", reply.status)
        },
        body,
    };
    let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
    match body {
        _ if reply.is_cut => Err(refusal("the answer broke off".to_owned(), Value::Null)),
        Some(body) if reply.is_good() => Ok(body),
        None if reply.is_good() => Err(refusal(
            "an answer that is no JSON: a login page or a proxy?".to_owned(),
            Value::Null,
        )),
        body => {
            let text = words(reply, body.as_ref());
            Err(refusal(text, body.unwrap_or_default()))
        }
    }
}

/// The server's own words: `message` or `error` of an object, a bare string, or plain text; nothing of a page.
fn words(reply: &Reply, body: Option<&Value>) -> String {
    let text = match body {
        Some(Value::String(text)) => text.clone(),
        Some(body) => ["message", "error"]
            .iter()
            .find_map(|key| body.get(*key)?.as_str())
            .unwrap_or_default()
            .to_owned(),
        None => String::from_utf8_lossy(&reply.body).trim().to_owned(),
    };
    if text.starts_with('<') {
        return "a page in place of the answer".to_owned();
    }
    shorten(
        &text.split_whitespace().collect::<Vec<_>>().join(" "),
        MOST_CHARS,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: body.as_bytes().to_vec(),
            is_cut: false,
        }
    }

    fn text(status: u16, body: &str) -> String {
        json(&Outcome::Answered(&reply(status, body)))
            .unwrap_err()
            .text
    }

    #[test]
    fn servers_are_quoted_and_pages_are_not() {
        assert_eq!(
            text(401, r#"{"message":"Invalid API key"}"#),
            "HTTP 401: Invalid API key"
        );
        assert_eq!(
            text(400, r#""bad matcher format""#),
            "HTTP 400: bad matcher format"
        );
        assert_eq!(text(500, "oops\n again"), "HTTP 500: oops again");
        assert_eq!(
            text(404, "<html>…"),
            "HTTP 404: a page in place of the answer"
        );
        assert_eq!(text(503, ""), "HTTP 503");
        assert!(text(200, "<html>login</html>").contains("login page"));
        let good = reply(200, "[1]");
        assert_eq!(
            json(&Outcome::Answered(&good)).unwrap(),
            serde_json::json!([1])
        );
        let cut = Reply {
            is_cut: true,
            ..good
        };
        assert!(json(&Outcome::Answered(&cut)).is_err());
    }
}
