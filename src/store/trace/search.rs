//! Looks for text in the spans of a trace.

use super::Tree;
use crate::model::span::Span;

/// Rows whose service, operation, peer, error, attributes, status or id hold `text`, in order; case does not matter. Ends early, with
/// what was found so far, when `is_cancelled` says so.
pub fn search(
    tree: &Tree,
    spans: &[Span],
    text: &str,
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<u32> {
    let needle = Needle::new(text.trim());
    let mut found = Vec::new();
    if needle.0.is_empty() {
        return found;
    }
    for (at, row) in (0u32..).zip(&tree.rows) {
        if at % 1024 == 0 && is_cancelled() {
            break;
        }
        let is_hit = match spans.get(tree.first + row.span as usize) {
            Some(span) if !row.is_missing() => needle.is_in_span(span),
            _ => tree
                .missing_id(at as usize)
                .is_some_and(|id| needle.is_in(&id.to_string())),
        };
        if is_hit {
            found.push(at);
        }
    }
    found
}

/// Lower-case text to look for.
struct Needle(String);

impl Needle {
    fn new(text: &str) -> Self {
        Self(text.to_lowercase())
    }

    fn is_in_span(&self, span: &Span) -> bool {
        let texts = [
            &span.service,
            &span.operation,
            &span.error,
            &span.attributes,
            &span.origin,
        ];
        texts.into_iter().any(|text| self.is_in(text))
            || span.peer.as_ref().is_some_and(|peer| self.is_in(peer))
            || span.status.is_error() && span.status.word().contains(&self.0)
            || span
                .http_status
                .is_some_and(|status| status.to_string() == self.0)
            || self.is_in_id(span)
    }

    /// Ids are hex: what cannot stand in one is not written out for each span.
    fn is_in_id(&self, span: &Span) -> bool {
        let is_hex = self.0.len() <= 16 && self.0.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex && self.0.len() >= 4 && span.span_id.to_string().contains(&self.0)
    }

    fn is_in(&self, text: &str) -> bool {
        if !self.0.is_ascii() {
            return text.to_lowercase().contains(&self.0);
        }
        let needle = self.0.as_bytes();
        let Some((first, rest)) = needle.split_first() else {
            return true;
        };
        let hay = text.as_bytes();
        hay.len() >= needle.len()
            && hay.windows(needle.len()).any(|window| {
                window.split_first().is_some_and(|(head, tail)| {
                    head.eq_ignore_ascii_case(first) && tail.eq_ignore_ascii_case(rest)
                })
            })
    }
}
