//! Signatures: what known causes look like, as data (`assets/signatures/*.toml`).

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::model::finding::FindingKind;
use crate::model::pack::Role;

/// A regular expression, read when its file is, so that a broken one is a broken file.
#[derive(Debug, Clone)]
pub struct Pattern(regex::Regex);

impl Pattern {
    /// Whether it is found anywhere in `text`.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        regex::Regex::new(&text).map(Self).map_err(D::Error::custom)
    }
}

/// One known cause.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signature {
    /// Its name, as hypotheses carry it.
    pub id: String,
    /// The cause in one line; `{…}` is filled from the findings (see [`crate::correlate::render`]).
    pub title: String,
    /// Where the knowledge comes from.
    pub source: String,
    /// 0…1: how much the needs alone are worth, before anything supports or contradicts them.
    pub prior: f64,
    /// A bound of the score, for what names the place of the trouble and not its cause.
    #[serde(default = "one")]
    pub at_most: f64,
    /// How much it speaks against it, in log-odds, when every anchor follows a recorded change: then it was done on
    /// purpose.
    #[serde(default)]
    pub planned: f64,
    /// What the words of changes that can bear on this cause match; without it any can.
    #[serde(default)]
    pub bears: Option<Pattern>,
    /// What must be there. The first one is the anchor: the hypothesis is about its entity and its time.
    pub needs: Vec<Clause>,
    /// What speaks for it when it is there, and is named as missing when nobody recorded it.
    #[serde(default)]
    pub supports: Vec<Clause>,
    /// What speaks against it when it is there.
    #[serde(default)]
    pub against: Vec<Clause>,
    /// What else it explains when it is near in time and in the entity graph.
    #[serde(default)]
    pub covers: Vec<Clause>,
    /// What to do next.
    #[serde(default)]
    pub next: Vec<Next>,
}

/// One condition of a signature.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// A name by which titles can refer to it.
    #[serde(default)]
    pub name: String,
    /// A finding of one of these kinds…
    #[serde(default)]
    pub finding: Vec<FindingKind>,
    /// …and one of these causes, if any are given and its kind has causes at all…
    #[serde(default)]
    pub cause: Vec<String>,
    /// …whose named values match these regular expressions.
    #[serde(default)]
    pub value: BTreeMap<String, Pattern>,
    /// Or: the counters with this role rise with the symptom.
    #[serde(default)]
    pub rises: Option<Role>,
    /// How near in the entity graph it must be to the anchor.
    #[serde(default)]
    pub near: Near,
    /// When it must be, seen from the anchor.
    #[serde(default)]
    pub when: When,
    /// How much it counts, in log-odds.
    #[serde(default = "one")]
    pub weight: f64,
    /// What it says when it is there.
    #[serde(default)]
    pub text: String,
    /// What to say when nobody recorded it.
    #[serde(default)]
    pub missing: String,
    /// The title to use instead when it is there.
    #[serde(default)]
    pub title: String,
}

fn one() -> f64 {
    1.0
}

/// Distance in the entity graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Near {
    /// The same thing under any name, a part of it, or what it is a part of: at most one step, and never to a job or a
    /// node, which others share.
    Same,
    /// At most three steps: a process of its workload, its caller or callee.
    #[default]
    Related,
    /// Anywhere.
    Any,
}

/// Position in time, seen from the anchor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// They share time, give or take the slack of their edges.
    #[default]
    Together,
    /// It begins after the anchor's onset.
    After,
    /// It begins before the anchor's onset.
    Before,
    /// At any time.
    Any,
}

/// A next check.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Next {
    /// What to do and what it tells.
    pub text: String,
    /// A query or a command to paste.
    #[serde(default)]
    pub query: String,
}

/// File name and text of each signature that comes with the program.
pub const BUILTIN: &[(&str, &str)] = &[
    (
        "metrics-lock-starves-scrape.toml",
        include_str!("../../assets/signatures/metrics-lock-starves-scrape.toml"),
    ),
    (
        "syn-drop-connect-ladder.toml",
        include_str!("../../assets/signatures/syn-drop-connect-ladder.toml"),
    ),
    (
        "nat-drops-new-connections.toml",
        include_str!("../../assets/signatures/nat-drops-new-connections.toml"),
    ),
    (
        "dns-timeout-5s.toml",
        include_str!("../../assets/signatures/dns-timeout-5s.toml"),
    ),
    (
        "slow-accepting-peer.toml",
        include_str!("../../assets/signatures/slow-accepting-peer.toml"),
    ),
    (
        "target-died.toml",
        include_str!("../../assets/signatures/target-died.toml"),
    ),
    (
        "metrics-endpoint-hangs.toml",
        include_str!("../../assets/signatures/metrics-endpoint-hangs.toml"),
    ),
    (
        "prometheus-itself.toml",
        include_str!("../../assets/signatures/prometheus-itself.toml"),
    ),
    (
        "lock-convoy.toml",
        include_str!("../../assets/signatures/lock-convoy.toml"),
    ),
    (
        "memory-growth-then-restart.toml",
        include_str!("../../assets/signatures/memory-growth-then-restart.toml"),
    ),
    (
        "change-then-shift.toml",
        include_str!("../../assets/signatures/change-then-shift.toml"),
    ),
];

impl Signature {
    /// Those that come with the program, in documentation order. A test reads each one, so a broken file cannot be
    /// shipped.
    pub fn builtin() -> Vec<Self> {
        BUILTIN
            .iter()
            .filter_map(|(_, text)| Self::parse(text).ok())
            .collect()
    }

    /// From the text of a file.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_that_is_shipped_reads_and_is_complete() {
        for (name, text) in BUILTIN {
            let signature = Signature::parse(text).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(format!("{}.toml", signature.id), *name);
            assert!(!signature.needs.is_empty(), "{name} needs nothing");
            assert!(!signature.source.is_empty(), "{name} names no source");
            assert!(!signature.next.is_empty(), "{name} says nothing to do next");
            assert!(
                signature.needs[0].rises.is_none(),
                "{name}: the anchor must be a finding"
            );
            for clause in signature
                .needs
                .iter()
                .chain(&signature.supports)
                .chain(&signature.against)
                .chain(&signature.covers)
            {
                assert!(
                    clause.finding.is_empty() == clause.rises.is_some(),
                    "{name}: a clause is a finding or a rise"
                );
            }
        }
        assert_eq!(Signature::builtin().len(), BUILTIN.len());
    }
}
