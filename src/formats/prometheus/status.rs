//! What a server says of itself: build, runtime, flags, configuration, storage, metadata of metrics.

use std::sync::Arc;

use serde_json::Value;

use super::json::{Cursor, Stop};
use super::query::Asked;
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::prometheus::{MetricMeta, ServerFact};
use crate::model::series::MetricKind;

/// How long a fact may be; only a configuration comes near.
const MAX_FACT_CHARS: usize = 1 << 20;

/// Adds a fact.
pub(super) fn fact(out: &mut Batch, name: &str, value: &str) {
    let value = if value.len() > MAX_FACT_CHARS {
        value.chars().take(MAX_FACT_CHARS).collect()
    } else {
        value.to_owned()
    };
    out.facts.push(ServerFact {
        input: InputIx::default(),
        name: Arc::from(name),
        value: Arc::from(value),
    });
}

/// The keys of a `data` object that is none of the larger answers.
#[derive(Default)]
pub(super) struct Pieces(Vec<(String, Value)>);

impl Pieces {
    /// Takes one value.
    pub(super) fn take(&mut self, key: &str, cursor: &mut Cursor<'_>) -> Result<(), Stop> {
        let value = cursor.value()?;
        self.0.push((key.to_owned(), value));
        Ok(())
    }

    /// Makes rows of them, by what they look like; whether they were anything that is known.
    pub(super) fn finish(self, asked: &Asked, out: &mut Batch) -> bool {
        let has = |key: &str| self.0.iter().any(|(k, _)| k == key);
        if self.0.is_empty() {
            return false;
        }
        let is_metadata = self.0.iter().all(|(_, v)| {
            v.as_array()
                .is_some_and(|list| list.iter().all(|m| m.get("type").is_some()))
        });
        if is_metadata {
            for (family, list) in &self.0 {
                for entry in list.as_array().into_iter().flatten() {
                    out.metadata.push(meta(family, entry));
                }
            }
            return true;
        }
        let prefix = if has("yaml") {
            "config"
        } else if has("goVersion") || (has("version") && has("revision")) {
            "buildinfo"
        } else if has("startTime") || has("lastConfigTime") {
            "runtimeinfo"
        } else if has("headStats") || has("seriesCountByMetricName") || has("totalSeries") {
            "tsdb"
        } else if has("min") && has("max") && has("current") {
            "walreplay"
        } else if has("scrapePools") {
            "scrape_pools"
        } else if has("activeAlertmanagers") {
            "alertmanagers"
        } else if asked.endpoint == "status/flags"
            || self.0.iter().all(|(_, v)| v.is_string())
                && self.0.iter().any(|(k, _)| k.contains('.'))
        {
            "flags"
        } else if let Some(name) = asked.endpoint.strip_prefix("status/") {
            name
        } else {
            return false;
        };
        if let Some((_, Value::String(yaml))) = self.0.iter().find(|(key, _)| key == "yaml") {
            config_facts(yaml, out);
        }
        for (key, value) in &self.0 {
            flatten(&format!("{prefix}.{key}"), value, 0, out);
        }
        true
    }
}

/// Settings of a configuration that explain gaps.
const SETTINGS: [&str; 6] = [
    "scrape_interval",
    "scrape_timeout",
    "sample_limit",
    "body_size_limit",
    "label_limit",
    "target_limit",
];

/// `config.global.scrape_interval`, `config.job.NAME.scrape_timeout` and the like, from a configuration as Prometheus
/// prints it: two spaces a level, a job's keys at the level of its `job_name`.
fn config_facts(yaml: &str, out: &mut Batch) {
    let mut section = "";
    let mut job: Option<&str> = None;
    for line in yaml.lines() {
        let text = line.trim_start_matches([' ', '-']);
        let indent = line.len() - text.len();
        let Some((key, value)) = text.split_once(':') else {
            continue;
        };
        let value = value.trim().trim_matches(['"', '\'']);
        if indent == 0 {
            (section, job) = (key, None);
        } else if key == "job_name" && section == "scrape_configs" {
            job = Some(value);
        } else if indent == 2 && !line.starts_with('-') && SETTINGS.contains(&key) {
            match (section, job) {
                ("global", _) => fact(out, &format!("config.global.{key}"), value),
                ("scrape_configs", Some(job)) => {
                    fact(out, &format!("config.job.{job}.{key}"), value);
                }
                _ => {}
            }
        }
    }
}

/// Scalars as facts with dotted names; lists of names and of `{name, value}` pairs too.
fn flatten(name: &str, value: &Value, depth: usize, out: &mut Batch) {
    match value {
        Value::String(text) => fact(out, name, text),
        Value::Number(number) => fact(out, name, &number.to_string()),
        Value::Bool(flag) => fact(out, name, if *flag { "true" } else { "false" }),
        Value::Null => {}
        Value::Object(map) if depth < 4 => {
            for (key, inner) in map {
                flatten(&format!("{name}.{key}"), inner, depth + 1, out);
            }
        }
        Value::Array(list) if depth < 4 => {
            for (index, inner) in list.iter().enumerate() {
                match (
                    inner.get("name").and_then(Value::as_str),
                    inner.get("value"),
                ) {
                    (Some(key), Some(number)) => {
                        flatten(&format!("{name}.{key}"), number, depth + 1, out);
                    }
                    _ => flatten(&format!("{name}[{index}]"), inner, depth + 1, out),
                }
            }
        }
        Value::Object(_) | Value::Array(_) => fact(out, name, &value.to_string()),
    }
}

/// One entry of metadata.
pub(super) fn meta(family: &str, entry: &Value) -> MetricMeta {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or("");
    MetricMeta {
        family: Arc::from(family),
        kind: kind(text("type")),
        help: Arc::from(text("help")),
        unit: Arc::from(text("unit")),
    }
}

/// The kind of a Prometheus or OpenMetrics type word. A `gaugehistogram` goes up and down, and `info` and `stateset` are
/// gauges of 0 and 1.
pub(super) fn kind(word: &str) -> MetricKind {
    match word.to_ascii_lowercase().as_str() {
        "counter" => MetricKind::Counter,
        "gauge" | "info" | "stateset" | "gaugehistogram" => MetricKind::Gauge,
        "histogram" => MetricKind::Histogram,
        "summary" => MetricKind::Summary,
        _ => MetricKind::Unknown,
    }
}
