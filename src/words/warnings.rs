//! What was said of inputs while they were read, in the language of people.
//!
//! Readers speak English; the messages `warn-say-…` recognise their sentences as [`crate::words::report`] recognises those of the
//! report. What no message knows is called by its code and quoted.

use crate::base::reporter::Warning;
use crate::words::report::phrases::{Set, quoted_within};
use crate::words::{Lang, Words};

/// What a code is called: 중간에서 끊김 for `truncated`. In English it is itself, as the report and the documents have it; so is
/// one without a word.
pub fn code<'a>(words: &'a Words, code: &'a str) -> std::borrow::Cow<'a, str> {
    let key = format!("warn-code-{code}");
    if words.lang() != Lang::En && words.has(&key) {
        words.text(&key).to_owned().into()
    } else {
        code.into()
    }
}

/// The sentence of a warning.
pub fn text(words: &Words, warning: &Warning) -> String {
    sentence(words, &warning.code, &warning.text)
}

/// A sentence of a reader; one that nothing knows is quoted behind the word of its code.
pub fn sentence(words: &Words, of: &str, text: &str) -> String {
    if words.lang() == Lang::En {
        return text.to_owned();
    }
    quoted_within(words, Set::Warnings, text).unwrap_or_else(|| {
        let said = code(words, of);
        let text = format!("“{text}”");
        words.with(
            "warn-original",
            &[("said", said.as_ref().into()), ("text", (&text).into())],
        )
    })
}

/// Why something failed, as a part of a sentence: an error of the system or of this program. What nothing knows is quoted.
pub fn why(words: &Words, text: &str) -> String {
    if words.lang() == Lang::En {
        return text.to_owned();
    }
    quoted_within(words, Set::Warnings, text).unwrap_or_else(|| {
        if text.contains(' ') {
            format!("“{text}”")
        } else {
            text.to_owned()
        }
    })
}

/// A place in an input: `line 12`, 12행. Paths such as `$.data` stay as they are.
pub fn place(words: &Words, place: &str) -> String {
    if words.lang() == Lang::En {
        return place.to_owned();
    }
    quoted_within(words, Set::Places, place).unwrap_or_else(|| place.to_owned())
}
