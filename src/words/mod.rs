//! What is said to people, in two languages, from `assets/locales`: by the window, in exports, on the command line.
//!
//! A message without arguments is made once per language. [`report`] puts the engine's English into words, [`warnings`] what is
//! said of inputs. To add a file: a line in `FILES` and its text in both folders. Outside crates that only this floor may name:
//! `fluent_bundle`, `unic_langid`.

pub mod report;
pub mod warnings;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use serde::{Deserialize, Serialize};

use crate::base::units;

/// Name, English and Korean text of a file.
macro_rules! file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../assets/locales/en/", $name, ".ftl")),
            include_str!(concat!("../../assets/locales/ko/", $name, ".ftl")),
        )
    };
}

/// Name, English and Korean text of each file.
const FILES: &[(&str, &str, &str)] = &[
    file!("shell"),
    file!("commands"),
    file!("load"),
    file!("start"),
    file!("timeline"),
    file!("lanes"),
    file!("findings"),
    file!("trace"),
    file!("dump"),
    file!("table"),
    file!("compare"),
    file!("notes"),
    file!("replay"),
    file!("units"),
    file!("export"),
    file!("warnings"),
];

/// A language that people are spoken to in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// English.
    #[default]
    En,
    /// Korean.
    Ko,
}

impl Lang {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::En, Self::Ko];

    /// As `--lang` takes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ko => "ko",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|l| l.word() == word)
    }
}

/// An argument of a message.
#[derive(Debug, Clone)]
pub enum Arg<'a> {
    /// Text that is put in as it is.
    Text(&'a str),
    /// A number that chooses the plural form.
    Number(f64),
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Arg<'_> {
    fn from(number: usize) -> Self {
        Self::Number(number as f64)
    }
}

impl From<f64> for Arg<'_> {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// The words of one language.
pub struct Words {
    lang: Lang,
    plain: BTreeMap<String, String>,
    units: units::Names,
    bundle: FluentBundle<FluentResource>,
}

impl std::fmt::Debug for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Words")
            .field("lang", &self.lang)
            .finish_non_exhaustive()
    }
}

impl Words {
    /// Reads the files of a language. A message that is broken is missing, which a test finds.
    pub fn new(lang: Lang) -> Self {
        let id: unic_langid::LanguageIdentifier = match lang {
            Lang::En => Default::default(),
            Lang::Ko => "ko".parse().unwrap_or_default(),
        };
        let mut bundle = FluentBundle::new_concurrent(vec![id]);
        // Isolation marks are invisible in a browser and boxes in a font that lacks them.
        bundle.set_use_isolating(false);
        let mut ids = Vec::new();
        for (_, en, ko) in FILES {
            let text = match lang {
                Lang::En => en,
                Lang::Ko => ko,
            };
            ids.extend(ids_of(text).map(str::to_owned));
            let resource = match FluentResource::try_new((*text).to_owned()) {
                Ok(resource) | Err((resource, _)) => resource,
            };
            bundle.add_resource_overriding(resource);
        }
        let plain: BTreeMap<String, String> = ids
            .into_iter()
            .filter_map(|id| {
                let pattern = bundle.get_message(&id)?.value()?;
                let mut errors = Vec::new();
                let text = bundle
                    .format_pattern(pattern, None, &mut errors)
                    .into_owned();
                errors.is_empty().then_some((id, text))
            })
            .collect();
        Self {
            lang,
            units: unit_names(&plain),
            plain,
            bundle,
        }
    }

    /// The words of a language, read once.
    pub fn of(lang: Lang) -> &'static Self {
        static ENGLISH: OnceLock<Words> = OnceLock::new();
        static KOREAN: OnceLock<Words> = OnceLock::new();
        let once = match lang {
            Lang::En => &ENGLISH,
            Lang::Ko => &KOREAN,
        };
        once.get_or_init(|| Self::new(lang))
    }

    /// How numbers with units are written.
    pub const fn units(&self) -> &units::Names {
        &self.units
    }

    /// A text of names and numbers with the units of the language: `p99 1.03 s` is `p99 1.03초`. For what was written before
    /// anybody knew the language.
    pub fn amounts(&self, text: &str) -> String {
        match self.lang {
            Lang::En => text.to_owned(),
            Lang::Ko => report::amounts(&self.units, text),
        }
    }

    /// Words in a row, the last two joined by `and`.
    pub fn list(&self, items: &[String]) -> String {
        match items {
            [first @ .., last] if !first.is_empty() => self.with(
                "list-and",
                &[
                    ("first", first.join(", ").as_str().into()),
                    ("last", last.into()),
                ],
            ),
            _ => items.concat(),
        }
    }

    /// Which language they are.
    pub const fn lang(&self) -> Lang {
        self.lang
    }

    /// A message without arguments; its key where there is none, so that nothing is ever blank.
    pub fn text<'a>(&'a self, key: &'a str) -> &'a str {
        self.plain.get(key).map_or(key, String::as_str)
    }

    /// Whether there is such a message.
    pub fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }

    /// A message with arguments; its key where there is none.
    pub fn with(&self, key: &str, args: &[(&str, Arg<'_>)]) -> String {
        let Some(pattern) = self.bundle.get_message(key).and_then(|m| m.value()) else {
            return key.to_owned();
        };
        let mut given = FluentArgs::with_capacity(args.len());
        for (name, arg) in args {
            let value = match arg {
                Arg::Text(text) => FluentValue::from(*text),
                Arg::Number(number) => FluentValue::from(*number),
            };
            given.set((*name).to_owned(), value);
        }
        let mut errors = Vec::new();
        self.bundle
            .format_pattern(pattern, Some(&given), &mut errors)
            .into_owned()
    }
}

/// The names of units, from messages that hold the space before them.
fn unit_names(plain: &BTreeMap<String, String>) -> units::Names {
    let name = |key: &str, usual: &Cow<'static, str>| {
        let found = plain.get(key).cloned();
        found.map_or_else(|| usual.clone(), Cow::Owned)
    };
    let usual = units::ENGLISH;
    units::Names {
        ns: name("unit-ns", &usual.ns),
        us: name("unit-us", &usual.us),
        ms: name("unit-ms", &usual.ms),
        s: name("unit-s", &usual.s),
        min: name("unit-min", &usual.min),
        h: name("unit-h", &usual.h),
        d: name("unit-d", &usual.d),
        gap: name("unit-gap", &usual.gap),
        percent: name("unit-percent", &usual.percent),
        unknown: name("unit-unknown", &usual.unknown),
    }
}

/// The names of the messages of a file.
fn ids_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (id, _) = line.split_once('=')?;
        let id = id.trim_end();
        let is_id = id.starts_with(|c: char| c.is_ascii_alphabetic())
            && id
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        is_id.then_some(id)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The `{ $name }`s of each message.
    fn arguments(text: &str) -> BTreeMap<String, BTreeSet<String>> {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut current = String::new();
        for line in text.lines() {
            if let Some(id) = ids_of(line).next().filter(|_| !line.starts_with(' ')) {
                id.clone_into(&mut current);
                found.entry(current.clone()).or_default();
            }
            for piece in line.split('$').skip(1) {
                let name: String = piece
                    .chars()
                    .take_while(|c| c.is_ascii_alphanumeric() || *c == '_' || *c == '-')
                    .collect();
                found.entry(current.clone()).or_default().insert(name);
            }
        }
        found
    }

    #[test]
    fn both_languages_have_the_same_messages_with_the_same_arguments() {
        for (file, en, ko) in FILES {
            let (en, ko) = (arguments(en), arguments(ko));
            assert_eq!(
                en.keys().collect::<Vec<_>>(),
                ko.keys().collect::<Vec<_>>(),
                "{file}.ftl"
            );
            for (id, names) in &en {
                assert_eq!(Some(names), ko.get(id), "{file}.ftl: {id}");
            }
        }
    }

    #[test]
    fn every_file_is_sound_and_no_message_stands_twice() {
        let mut seen = BTreeSet::new();
        for (file, en, ko) in FILES {
            for text in [en, ko] {
                if let Err((_, errors)) = FluentResource::try_new((*text).to_owned()) {
                    panic!("{file}.ftl: {errors:?}");
                }
            }
            for id in ids_of(en) {
                assert!(seen.insert(id), "{id} stands twice");
            }
        }
    }

    /// Every key that the code names must exist.
    #[test]
    fn every_word_that_is_used_exists() {
        let words = Words::new(Lang::En);
        let mut files = Vec::new();
        collect(std::path::Path::new("src"), &mut files);
        let call =
            regex::Regex::new(r#"(?:words|w)\s*\.\s*(?:text|with)\(\s*"([a-z0-9-]+)""#).unwrap();
        let mut used = 0;
        for file in files {
            let code = crate::base::fs::read(&file).unwrap();
            for found in call.captures_iter(&String::from_utf8_lossy(&code)) {
                used += 1;
                assert!(
                    words.has(&found[1]),
                    "{}: no message {}",
                    file.display(),
                    &found[1]
                );
            }
        }
        assert!(used > 0);
    }

    /// Every message must be named by the code, whole or by what its key begins with (`findings-kind-`, where the code puts the
    /// rest behind).
    #[test]
    fn every_message_is_used() {
        let mut files = Vec::new();
        collect(std::path::Path::new("src"), &mut files);
        let text = regex::Regex::new(r#""([a-z][a-z0-9_-]*)(\{[^"]*)?""#).unwrap();
        let (mut whole, mut begins) = (BTreeSet::new(), BTreeSet::new());
        for file in files {
            let code = crate::base::fs::read(&file).unwrap();
            let code = String::from_utf8_lossy(&code);
            for found in text.captures_iter(&code) {
                match found.get(2) {
                    None => whole.insert(found[1].to_owned()),
                    Some(_) => begins.insert(found[1].to_owned()),
                };
            }
        }
        // Made from two parts that the code holds apart: `findings-` and an area, a key and `-one`.
        begins.extend(
            [
                "findings-say-",
                "warn-say-",
                "findings-title-",
                "findings-detail-",
            ]
            .map(str::to_owned),
        );
        let areas: Vec<String> = whole.iter().map(|w| format!("findings-{w}-")).collect();
        let is_used = |id: &str| {
            let base = id.strip_suffix("-one").unwrap_or(id);
            whole.contains(id)
                || whole.contains(base)
                || begins
                    .iter()
                    .any(|b| b.ends_with('-') && b != "findings-" && id.starts_with(b))
                || areas.iter().any(|a| id.starts_with(a.as_str()))
        };
        let unused: Vec<&str> = FILES
            .iter()
            .flat_map(|(_, en, _)| ids_of(en))
            .filter(|id| !is_used(id))
            .collect();
        assert!(unused.is_empty(), "{unused:#?}");
    }

    fn collect(folder: &std::path::Path, files: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, files);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }

    #[test]
    fn arguments_are_put_in() {
        for lang in Lang::ALL {
            let words = Words::new(lang);
            let text = words.with("status-inputs", &[("n", 3usize.into())]);
            assert!(text.contains('3'), "{text}");
            assert!(!text.contains('\u{2068}'));
        }
    }
}
