//! Fixed phrases: the English message is the pattern that recognises a sentence, its twin says it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use crate::words::Lang;
use crate::words::Words;
use crate::words::report::amounts::quantity;
use crate::words::report::details::short;
use crate::words::report::filled;

/// Which messages are patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::words) enum Set {
    /// What the engine says: `findings-say-…`.
    Report,
    /// What readers say of inputs: `warn-say-…`.
    Warnings,
    /// Where in an input: `warn-say-place-…`.
    Places,
}

/// How deep phrases within phrases are looked for.
const DEPTH: usize = 5;

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// An argument; one named `n…` or `t…` begins with a digit.
    Argument(String),
}

#[derive(Debug)]
struct Phrase {
    key: String,
    pieces: Vec<Piece>,
    /// Letters that are not arguments: the most telling phrase is tried first.
    letters: usize,
}

fn phrases(set: Set) -> &'static [Phrase] {
    static REPORT: OnceLock<Vec<Phrase>> = OnceLock::new();
    static WARNINGS: OnceLock<Vec<Phrase>> = OnceLock::new();
    static PLACES: OnceLock<Vec<Phrase>> = OnceLock::new();
    let findings = include_str!("../../../assets/locales/en/findings.ftl");
    let warnings = include_str!("../../../assets/locales/en/warnings.ftl");
    let (once, text, prefix) = match set {
        Set::Report => (&REPORT, findings, "findings-say-"),
        Set::Warnings => (&WARNINGS, warnings, "warn-say-"),
        Set::Places => (&PLACES, warnings, "warn-say-place-"),
    };
    once.get_or_init(|| {
        let mut all: Vec<Phrase> = text.lines().filter_map(|l| phrase(l, prefix)).collect();
        all.sort_by(|a, b| (b.letters, &a.key).cmp(&(a.letters, &b.key)));
        all
    })
}

fn phrase(line: &str, prefix: &str) -> Option<Phrase> {
    let (key, text) = line.split_once(" = ")?;
    if !key.starts_with(prefix) {
        return None;
    }
    let pieces = pieces(text);
    let letters = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Argument(_) => 0,
        })
        .sum();
    Some(Phrase {
        key: key.to_owned(),
        pieces,
        letters,
    })
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{ $") {
        let Some((name, tail)) = after.split_once(" }") else {
            break;
        };
        if !before.is_empty() {
            out.push(Piece::Text(before.to_owned()));
        }
        out.push(Piece::Argument(name.to_owned()));
        rest = tail;
    }
    if !rest.is_empty() {
        out.push(Piece::Text(rest.to_owned()));
    }
    out
}

/// Whether the pieces make up the whole text; the arguments are put into `found`. The shortest argument that fits wins.
fn fits<'a>(pieces: &'a [Piece], text: &'a str, found: &mut Vec<(&'a str, &'a str)>) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return text.is_empty();
    };
    let name = match first {
        Piece::Text(wanted) => {
            return text
                .strip_prefix(wanted.as_str())
                .is_some_and(|tail| fits(rest, tail, found));
        }
        Piece::Argument(name) => name.as_str(),
    };
    let Some(Piece::Text(next)) = rest.first() else {
        // The last argument takes all; two in a row are never written.
        if is_of(name, text) && rest.is_empty() {
            found.push((name, text));
            return true;
        }
        return false;
    };
    for (at, _) in text.match_indices(next.as_str()) {
        let Some((argument, tail)) = text.split_at_checked(at) else {
            continue;
        };
        if !is_of(name, argument) {
            continue;
        }
        let before = found.len();
        found.push((name, argument));
        if fits(rest, tail, found) {
            return true;
        }
        found.truncate(before);
    }
    false
}

fn is_of(name: &str, argument: &str) -> bool {
    let is_number = matches!(name, "n" | "n2" | "n3" | "t" | "t2");
    match argument.chars().next() {
        None => false,
        Some(first) => !is_number || first.is_ascii_digit() || first == '-',
    }
}

/// A sentence in the language of `words`; `None` where no phrase fits. `titles` are those of findings, which stand in sentences.
pub(super) fn translate(
    words: &Words,
    titles: &BTreeMap<String, String>,
    text: &str,
) -> Option<String> {
    let sayer = Sayer {
        words,
        titles,
        set: Set::Report,
        is_quoting: false,
    };
    sayer.say(text, DEPTH)
}

/// As [`translate`], of another set; parts that no phrase fits are put into quotes.
pub(in crate::words) fn quoted_within(words: &Words, set: Set, text: &str) -> Option<String> {
    let sayer = Sayer {
        words,
        titles: &BTreeMap::new(),
        set,
        is_quoting: true,
    };
    sayer.say(text, DEPTH)
}

struct Sayer<'a> {
    words: &'a Words,
    titles: &'a BTreeMap<String, String>,
    set: Set,
    is_quoting: bool,
}

impl Sayer<'_> {
    fn say(&self, text: &str, depth: usize) -> Option<String> {
        if self.words.lang() == Lang::En {
            return None;
        }
        if let Some(title) = self.titles.get(text) {
            return Some(title.clone());
        }
        if let Some(quantity) = quantity(self.words.units(), text) {
            return Some(quantity);
        }
        let deeper = depth.checked_sub(1)?;
        // A finding that speaks for or against something: its title, a colon, what it says.
        if let Some((title, said)) = self
            .titles
            .iter()
            .find_map(|(title, said)| Some((text.strip_prefix(title.as_str())?, said)))
            && let Some(rest) = title.strip_prefix(": ")
        {
            return Some(format!("{said}: {}", self.part(rest, deeper)));
        }
        phrases(self.set).iter().find_map(|phrase| {
            let mut found = Vec::new();
            if !fits(&phrase.pieces, text, &mut found) {
                return None;
            }
            let args: BTreeMap<String, String> = found
                .into_iter()
                .map(|(name, argument)| {
                    // The folders of its package say less than they take room; the original has them.
                    let argument = if name == "site" {
                        short(argument)
                    } else {
                        argument
                    };
                    (name.to_owned(), self.part(argument, deeper))
                })
                .collect();
            Some(filled(self.words, &phrase.key, &args))
        })
    }

    /// A part of a sentence; itself where no phrase fits.
    fn part(&self, text: &str, depth: usize) -> String {
        self.say(text, depth).unwrap_or_else(|| {
            let is_words = text.contains(' ') && !text.starts_with(['`', '“']);
            if self.is_quoting && is_words {
                format!("“{text}”")
            } else {
                text.to_owned()
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched<'a>(pattern: &'a [Piece], text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
        let mut found = Vec::new();
        fits(pattern, text, &mut found).then_some(found)
    }

    #[test]
    fn a_pattern_takes_a_sentence_apart() {
        let pattern = pieces("{ $n } of { $n2 } goroutines of { $who } wait");
        let found = matched(&pattern, "1,817 of 2,027 goroutines of a of b wait").unwrap();
        assert_eq!(found, [("n", "1,817"), ("n2", "2,027"), ("who", "a of b")]);
        assert_eq!(matched(&pattern, "some of 3 goroutines of a wait"), None);
        assert_eq!(
            matched(&pattern, "1 of 3 goroutines of  wait and see"),
            None
        );
    }

    #[test]
    fn nothing_is_taken_for_an_empty_argument() {
        let pattern = pieces("rate of { $what }");
        assert_eq!(matched(&pattern, "rate of "), None);
    }

    #[test]
    fn no_pattern_has_two_arguments_side_by_side() {
        assert!(phrases(Set::Report).len() > 100 && phrases(Set::Places).len() > 3);
        for phrase in phrases(Set::Report).iter().chain(phrases(Set::Warnings)) {
            for pair in phrase.pieces.windows(2) {
                let is_bad = matches!(pair, [Piece::Argument(_), Piece::Argument(_)]);
                assert!(!is_bad, "{}", phrase.key);
            }
            assert!(phrase.letters > 0, "{}", phrase.key);
        }
    }

    #[test]
    fn phrases_within_phrases_are_said_too() {
        let words = Words::new(Lang::Ko);
        let none = BTreeMap::new();
        let say = |text: &str| translate(&words, &none, text).unwrap_or_else(|| text.to_owned());
        assert_eq!(
            say(
                "it eased and did not end; bad before: 18 of 2,544 connects (0.71 %); after: absent"
            ),
            "완화되었으나 끝나지 않음. 문제 비율: 이전 연결 2,544건 중 18건(0.71%), 이후 없음"
        );
        assert_eq!(say("23 at 1 s, 4 at 3 s"), "1초 23건, 3초 4건");
        assert_eq!(say("something else"), "something else");
    }
}
