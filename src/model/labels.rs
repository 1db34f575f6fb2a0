//! Label sets.

use std::fmt;
use std::sync::Arc;

/// Labels of a series without its metric name, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

impl Labels {
    /// Sorted by name; of two equal names the last wins.
    pub fn new(mut pairs: Vec<(Arc<str>, Arc<str>)>) -> Self {
        pairs.sort_by(|a, b| a.0.cmp(&b.0));
        pairs.reverse();
        pairs.dedup_by(|a, b| a.0 == b.0);
        pairs.reverse();
        Self(pairs.into())
    }

    /// From string slices; for tests and small sets.
    pub fn of(pairs: &[(&str, &str)]) -> Self {
        Self::new(
            pairs
                .iter()
                .map(|(k, v)| (Arc::from(*k), Arc::from(*v)))
                .collect(),
        )
    }

    /// The value of a label.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .binary_search_by(|(k, _)| k.as_ref().cmp(name))
            .ok()
            .map(|at| self.0[at].1.as_ref())
    }

    /// All pairs in order of name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(k, v)| (k.as_ref(), v.as_ref()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same labels without those named.
    #[must_use]
    pub fn without(&self, names: &[&str]) -> Self {
        Self(
            self.0
                .iter()
                .filter(|(k, _)| !names.contains(&k.as_ref()))
                .cloned()
                .collect(),
        )
    }

    /// As one JSON object, keys in order.
    pub fn to_json(&self) -> String {
        let map: serde_json::Map<String, serde_json::Value> = self
            .iter()
            .map(|(k, v)| (k.to_owned(), serde_json::Value::from(v)))
            .collect();
        serde_json::Value::Object(map).to_string()
    }
}

impl fmt::Display for Labels {
    /// As PromQL writes them: `{instance="a:1",job="x"}`; nothing for none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return Ok(());
        }
        f.write_str("{")?;
        for (i, (name, value)) in self.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value:?}")?;
        }
        f.write_str("}")
    }
}
