//! Words that must reach nobody: they cannot be printed, compared by eye, or serialised.

use std::fmt;

/// A password, token or key.
///
/// `Debug` shows three stars; there is no `Display` and no `Serialize`, so that a secret cannot
/// slip into a log, a report or a bundle. Its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Takes the word in. A line break at the end, as files have it, is dropped.
    pub fn new(word: impl Into<String>) -> Self {
        let mut word = word.into();
        while word.ends_with(['\n', '\r']) {
            word.pop();
        }
        Self(word)
    }

    /// The word itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        // Without unsafe code: zeros over the bytes that are there, kept from being optimised away.
        let mut bytes = std::mem::take(&mut self.0).into_bytes();
        bytes.fill(0);
        std::hint::black_box(&bytes);
    }
}

impl<'de> serde::Deserialize<'de> for Secret {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_cannot_be_printed() {
        let secret = Secret::new("hunter2\n");
        assert_eq!(secret.expose(), "hunter2");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(format!("{:?}", Some(secret)), "Some(***)");
    }
}
