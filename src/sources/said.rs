//! What a JSON API said: its answer, or why there is none. Shared by the kinds that ask for lists and nothing else.

use serde::de::{DeserializeOwned, IgnoredAny};
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

/// A good answer, read as far as it is needed; `expected` says what was asked for, when it is something else.
pub(super) fn json<T: DeserializeOwned>(
    outcome: &Outcome<'_>,
    expected: &str,
) -> Result<T, Refusal> {
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
    let refusal = |text: &str, body: Value| Refusal {
        status: reply.status,
        text: if text.is_empty() {
            format!("HTTP {}", reply.status)
        } else {
            format!("HTTP {}: {text}", reply.status)
        },
        body,
    };
    if reply.is_cut {
        return Err(refusal("the answer broke off", Value::Null));
    }
    if !reply.is_good() {
        let body: Option<Value> = serde_json::from_slice(&reply.body).ok();
        let text = words(reply, body.as_ref());
        return Err(refusal(&text, body.unwrap_or_default()));
    }
    serde_json::from_slice(&reply.body).map_err(|_other_shape| {
        if serde_json::from_slice::<IgnoredAny>(&reply.body).is_ok() {
            let text = format!("not what was asked for; expected {expected}, check `url`");
            refusal(&text, Value::Null)
        } else {
            let text = "an answer that is no JSON: a login page or a proxy?";
            refusal(text, Value::Null)
        }
    })
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
        json::<Vec<IgnoredAny>>(&Outcome::Answered(&reply(status, body)), "a list")
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
        assert_eq!(
            text(200, "{}"),
            "HTTP 200: not what was asked for; expected a list, check `url`"
        );
        let good = reply(200, "[1]");
        let read: Vec<u8> = json(&Outcome::Answered(&good), "").unwrap();
        assert_eq!(read, [1]);
        let cut = Reply {
            is_cut: true,
            ..good
        };
        assert!(json::<Vec<u8>>(&Outcome::Answered(&cut), "").is_err());
    }
}
