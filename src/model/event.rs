//! Things that happened or were done: deploys, scale-outs, configuration, alerts, notes.

use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::model::entity::EntityType;
use crate::model::input::InputIx;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where it came from.
    pub input: InputIx,
    /// The place in it (`line 3`).
    pub locator: Arc<str>,
    /// When it began.
    pub t: Timestamp,
    /// When it ended, for what lasts.
    pub end: Option<Timestamp>,
    /// `change`, `deploy`, `scale`, `config`, `restart`, `node`, `alert`, `fault` (a system says that something is
    /// wrong), `routine` (what a system does every day), `silence`, `traffic`, `note`, or what the file says.
    pub kind: Arc<str>,
    /// One line.
    pub title: Arc<str>,
    /// More, or empty.
    pub text: Arc<str>,
    /// The system or person that said so, or empty.
    pub source: Arc<str>,
    /// Every other field as one JSON object. What stands in it under [`ENTITIES`] names whom the event is about.
    pub attributes: Arc<str>,
}

/// The attribute with the ids (`pod:web-0`) of those that an event is about, the most specific first.
pub const ENTITIES: &str = "entities";

impl Event {
    /// Whether it is something that people or machines changed, rather than a symptom.
    pub fn is_change(&self) -> bool {
        !matches!(
            self.kind.as_ref(),
            "alert" | "fault" | "routine" | "silence" | "note" | "incident-note"
        )
    }

    /// Whom it is about, as far as whoever told it said so by id; ids of no known type are passed over.
    pub fn entities(&self) -> Vec<(EntityType, String)> {
        // Most events have none: their attributes are not parsed.
        if !self.attributes.contains("\"entities\":[") {
            return Vec::new();
        }
        let attributes: serde_json::Value =
            serde_json::from_str(&self.attributes).unwrap_or_default();
        let ids = attributes.get(ENTITIES).and_then(|ids| ids.as_array());
        ids.into_iter()
            .flatten()
            .filter_map(|id| {
                let (kind, name) = id.as_str()?.split_once(':')?;
                let kind = EntityType::from_word(kind)?;
                (!name.is_empty()).then(|| (kind, name.to_owned()))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, attributes: &str) -> Event {
        Event {
            input: InputIx::default(),
            locator: Arc::from("line 1"),
            t: Timestamp::default(),
            end: None,
            kind: Arc::from(kind),
            title: Arc::from("x"),
            text: Arc::from(""),
            source: Arc::from(""),
            attributes: Arc::from(attributes),
        }
    }

    #[test]
    fn symptoms_and_routine_are_no_changes() {
        for kind in ["alert", "fault", "routine", "silence", "note"] {
            assert!(!event(kind, "").is_change(), "{kind}");
        }
        assert!(event("scale", "").is_change());
    }

    #[test]
    fn entities_are_those_with_a_known_type() {
        let named = event(
            "scale",
            r#"{"entities":["pod:web-0","instance:10.0.0.1:9100","fish:x","pod:",1]}"#,
        );
        assert_eq!(
            named.entities(),
            [
                (EntityType::Pod, "web-0".to_owned()),
                (EntityType::Instance, "10.0.0.1:9100".to_owned())
            ]
        );
        for other in ["", "no JSON \"entities\":[", r#"{"entities":"web"}"#] {
            assert_eq!(event("scale", other).entities(), []);
        }
    }
}
