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

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() && !name.ends_with("tests") {
                sources(&path, found);
            } else if path.extension().is_some_and(|e| e == "rs") && !name.contains("test") {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_code_of_a_reader_has_its_word() {
        let call = regex::Regex::new(
            r#"(?:\.(?:lost|note)|Problem::(?:lost|note)|FormatError::new)\(\s*"([a-z_0-9]+)""#,
        )
        .unwrap();
        let words = Words::of(Lang::Ko);
        let mut files = Vec::new();
        sources(Path::new("src"), &mut files);
        let mut seen = 0;
        for file in files {
            let bytes = crate::base::fs::read(&file).unwrap();
            let whole = String::from_utf8_lossy(&bytes);
            let shipped = whole.split("#[cfg(test)]").next().unwrap_or_default();
            for found in call.captures_iter(shipped) {
                seen += 1;
                let key = format!("warn-code-{}", &found[1]);
                assert!(words.has(&key), "{}: no message {key}", file.display());
            }
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn sentences_are_told_and_what_nothing_knows_is_quoted() {
        let words = Words::of(Lang::Ko);
        assert_eq!(
            sentence(
                words,
                "limit_size",
                "larger than 1 GiB: not read; cut it into parts"
            ),
            "1GiB보다 커서 읽지 않았습니다. 나누어 여십시오"
        );
        assert_eq!(
            sentence(
                words,
                "bad_archive",
                "not a tar archive: numeric field was odd"
            ),
            "tar 아카이브가 아닙니다: “numeric field was odd”"
        );
        assert_eq!(
            sentence(words, "truncated", "it ended before its time"),
            "중간에서 끊김: “it ended before its time”"
        );
        assert_eq!(
            sentence(words, "not_begun", "2 silences had not begun: left out"),
            "사일런스 2개는 아직 시작하지 않아 뺐습니다"
        );
        assert_eq!(
            sentence(
                words,
                "samples_missing",
                "the samples of up could not be had: HTTP 500; pull again for them"
            ),
            "up의 샘플을 받지 못했습니다: “HTTP 500”. 다시 수집하십시오"
        );
        let refused = sentence(
            words,
            "refused",
            "alerts could not be had: HTTP 401: no tenant",
        );
        assert!(refused.contains("받지 못했습니다"), "{refused}");
        assert_eq!(place(words, "line 12"), "12행");
        assert_eq!(place(words, "$.data"), "$.data");
        assert_eq!(
            why(words, "Permission denied (os error 13)"),
            "권한이 없습니다(os error 13)"
        );
        let english = Words::of(Lang::En);
        assert_eq!(sentence(english, "truncated", "cut"), "cut");
    }
}
