//! Filling the templates of signatures from the findings that matched.
//!
//! `{entity}` is the name of the anchor's first entity, `{instance}` its address if one of its names is one, `{share}` a value of the anchor, `{effects}` counts what else moved, `{lock.site}` a value of the
//! finding that matched the clause named `lock`. A value is written in the unit that its name carries. A name that
//! nothing fills becomes `…`, and a test over all signatures keeps that from happening to the usual ones.

use std::collections::BTreeMap;

use crate::base::units;
use crate::model::finding::Finding;

/// The findings by the names that templates know them by; the anchor is `""`.
pub(super) type Named<'a> = BTreeMap<&'a str, &'a Finding>;

/// `template` with every `{…}` filled. Braces around anything but a plain name (those of a PromQL selector) stay.
pub(super) fn fill(template: &str, named: &Named<'_>, subject: &Subject) -> String {
    let is_name = |key: &str| {
        !key.is_empty()
            && key
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'.')
    };
    let mut out = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        if let Some((key, tail)) = after.split_once('}').filter(|(key, _)| is_name(key)) {
            out.push_str(&value(key, named, subject));
            rest = tail;
        } else {
            out.push('{');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Whom a hypothesis is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// Its name.
    pub(super) entity: String,
    /// The `host:port` that is scraped; where none is known, words to put one in place of.
    pub(super) instance: String,
    /// How many findings it explains beside its anchors.
    pub(super) effects: usize,
}

fn value(key: &str, named: &Named<'_>, subject: &Subject) -> String {
    if key == "entity" {
        return subject.entity.clone();
    }
    if key == "instance" {
        return subject.instance.clone();
    }
    if key == "effects" {
        let moved = subject.effects as u64;
        return crate::base::text::count(moved, "signal that moved", "signals that moved");
    }
    let (name, key) = key.split_once('.').unwrap_or(("", key));
    let Some(finding) = named.get(name) else {
        return "…".to_owned();
    };
    match key {
        "title" => finding.title.clone(),
        "cause" => finding.cause.clone().unwrap_or_default(),
        "onset" => finding.onset.to_clock(),
        _ => finding
            .values
            .get(key)
            .map_or_else(|| "…".to_owned(), |v| plain(key, v)),
    }
}

/// A value in words.
pub(super) fn plain(key: &str, value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Number(number) => {
            let number = number.as_f64().unwrap_or(0.0);
            if key.ends_with("_ms") {
                units::ms(number)
            } else if key.ends_with("_s") {
                units::secs(number)
            } else if key.ends_with("_bytes") {
                units::bytes(number)
            } else if key == "share" || key.ends_with("_share") {
                units::share(number)
            } else {
                units::number(number)
            }
        }
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Object(map) => {
            let parts: Vec<String> = map
                .iter()
                .filter(|(_, count)| count.as_f64().is_some_and(|c| c > 0.0))
                .map(|(name, count)| format!("{count} at {}", spaced(name)))
                .collect();
            parts.join(", ")
        }
        serde_json::Value::Array(items) => items
            .iter()
            .map(|item| plain(key, item))
            .collect::<Vec<_>>()
            .join(", "),
        serde_json::Value::Bool(yes) => yes.to_string(),
        serde_json::Value::Null => "unknown".to_owned(),
    }
}

/// `3s` as `3 s`.
fn spaced(rung: &str) -> String {
    match rung.strip_suffix('s') {
        Some(number) if number.parse::<f64>().is_ok() => format!("{number} s"),
        _ => rung.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::Timestamp;
    use crate::model::finding::FindingKind;

    #[test]
    fn values_carry_their_units() {
        let anchor = Finding::new(
            FindingKind::ConnectOutliers,
            "x",
            Timestamp::from_nanos(0),
            None,
        )
        .with("share", 0.0041)
        .with("max_ms", 3041.0)
        .with("rungs", serde_json::json!({"1s": 23, "3s": 4, "7s": 0}));
        let named = Named::from([("", &anchor)]);
        let gw = Subject {
            entity: "gw".to_owned(),
            instance: "gw:1".to_owned(),
            effects: 2,
        };
        assert_eq!(
            fill("up{instance=\"{instance}\"}", &named, &gw),
            "up{instance=\"gw:1\"}"
        );
        assert_eq!(
            fill(
                "{share} of {entity}: {rungs}, at most {max_ms} {nothing}",
                &named,
                &gw
            ),
            "0.41 % of gw: 23 at 1 s, 4 at 3 s, at most 3.04 s …"
        );
    }
}
