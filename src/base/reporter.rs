//! Partial failure: what was lost or doubtful while something was read, without stopping it.

use serde::{Deserialize, Serialize};

/// One thing to know about an input.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Warning {
    /// A short stable name, in snake case (`truncated`, `bad_timestamp`).
    pub code: String,
    /// A sentence for people: what, what was expected, what to do.
    pub text: String,
    /// The place: `line 12`, `byte 4096`, `$.data.result[3]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Whether data were lost, so that the result is partial (exit 5).
    #[serde(skip)]
    pub lossy: bool,
}

/// Collects warnings. Of each code the first [`Reporter::KEPT_PER_CODE`] are kept whole, the rest counted, so that a
/// file of a million bad lines says so in a few.
#[derive(Debug, Clone, Default)]
pub struct Reporter {
    warnings: Vec<Warning>,
    suppressed: std::collections::BTreeMap<String, (u64, bool)>,
}

impl Reporter {
    /// How many warnings of one code are kept whole.
    pub const KEPT_PER_CODE: usize = 3;

    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Something was lost: the result will be called partial.
    pub fn lost(&mut self, code: &str, text: impl Into<String>, at: impl Into<Option<String>>) {
        self.push(code, text.into(), at.into(), true);
    }

    /// Something worth knowing; nothing was lost.
    pub fn note(&mut self, code: &str, text: impl Into<String>, at: impl Into<Option<String>>) {
        self.push(code, text.into(), at.into(), false);
    }

    fn push(&mut self, code: &str, text: String, at: Option<String>, lossy: bool) {
        if self.warnings.iter().filter(|w| w.code == code).count() < Self::KEPT_PER_CODE {
            self.warnings.push(Warning {
                code: code.to_owned(),
                text,
                at,
                lossy,
            });
        } else {
            let entry = self.suppressed.entry(code.to_owned()).or_default();
            entry.0 += 1;
            entry.1 |= lossy;
        }
    }

    /// Whether anything was lost so far.
    pub fn is_lossy(&self) -> bool {
        self.warnings.iter().any(|w| w.lossy) || self.suppressed.values().any(|(_, lossy)| *lossy)
    }

    /// Whether anything was said under that code.
    pub fn has(&self, code: &str) -> bool {
        self.warnings.iter().any(|w| w.code == code)
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.warnings.is_empty()
    }

    /// Everything, in the order in which it was said, with a count for what was not kept whole.
    pub fn into_warnings(self) -> Vec<Warning> {
        let mut all = self.warnings;
        for (code, (count, lossy)) in self.suppressed {
            let text = format!("{count} more of the same kind");
            all.push(Warning {
                code,
                text,
                at: None,
                lossy,
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_counted_not_kept() {
        let mut reporter = Reporter::new();
        for line in 0..1000 {
            reporter.lost("bad_line", "not JSON", Some(format!("line {line}")));
        }
        assert!(reporter.is_lossy());
        let warnings = reporter.into_warnings();
        assert_eq!(warnings.len(), Reporter::KEPT_PER_CODE + 1);
        assert_eq!(warnings.last().unwrap().text, "997 more of the same kind");
    }
}
