//! Our own secrets in what a server answers: it may say them back (a debug page, the error of a signature), and they must
//! reach neither a bundle nor a message.

use memchr::memmem;

use crate::base::percent;
use crate::base::secret::Secret;

/// A shorter secret would be found in what is none: `admin` in the name of a metric.
const LEAST_BYTES: usize = 8;

/// What must not be kept, in each form in which it may come back.
#[derive(Debug, Default)]
pub(super) struct Masks(Vec<Secret>);

impl Masks {
    /// Adds a secret: as it is, in JSON, in an address, in HTML, and in base 64.
    pub(super) fn add(&mut self, word: &str) {
        let in_json = serde_json::Value::from(word).to_string();
        let in_html = word
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&#34;");
        let forms = [
            word.to_owned(),
            in_json.trim_matches('"').to_owned(),
            percent::encode(word),
            in_html,
            super::clients::base64(word.as_bytes())
                .trim_end_matches('=')
                .to_owned(),
        ];
        for form in forms {
            let is_known = self.0.iter().any(|known| known.expose() == form);
            if form.len() >= LEAST_BYTES && !is_known {
                self.0.push(Secret::new(form));
            }
        }
        // A long form first: none is left in part because a shorter one lay in it.
        self.0
            .sort_by_key(|known| std::cmp::Reverse(known.expose().len()));
    }

    /// Puts stars over every secret, as many as it is long, so that lengths in the bytes stay right. `None` when there is none.
    pub(super) fn over(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut masked: Option<Vec<u8>> = None;
        for secret in &self.0 {
            let word = secret.expose().as_bytes();
            let at: Vec<usize> =
                memmem::find_iter(masked.as_deref().unwrap_or(bytes), word).collect();
            if at.is_empty() {
                continue;
            }
            let out = masked.get_or_insert_with(|| bytes.to_vec());
            for from in at {
                if let Some(place) = out.get_mut(from..from + word.len()) {
                    place.fill(b'*');
                }
            }
        }
        masked
    }

    /// [`Self::over`] for a text; whether there was one.
    pub(super) fn over_text(&self, text: &mut String) -> bool {
        let Some(masked) = self.over(text.as_bytes()) else {
            return false;
        };
        *text = String::from_utf8_lossy(&masked).into_owned();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_covered_and_lengths_stay() {
        let mut masks = Masks::default();
        masks.add("p\"a&ss/word+1");
        let said = r#"{"raw":"p\"a&ss/word+1","url":"p%22a%26ss%2Fword%2B1","html":"p&#34;a&amp;ss/word+1","basic":"cCJhJnNzL3dvcmQrMQ==","other":"password"}"#;
        let masked = masks.over(said.as_bytes()).unwrap();
        assert_eq!(masked.len(), said.len());
        let masked = String::from_utf8(masked).unwrap();
        for form in [r#"p\"a&"#, "p%22a", "p&#34;a", "cCJhJn"] {
            assert!(!masked.contains(form), "{masked}");
        }
        assert!(masked.contains(r#""other":"password""#), "{masked}");
        assert_eq!(masks.over(b"nothing of it"), None);
    }

    #[test]
    fn a_short_word_is_no_secret_to_look_for() {
        let mut masks = Masks::default();
        masks.add("admin");
        assert_eq!(masks.over(br#"{"user":"admin"}"#), None);
    }
}
