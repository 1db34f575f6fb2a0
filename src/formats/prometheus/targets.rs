//! `/api/v1/targets`: the last scrape of each target.

use std::sync::Arc;

use serde_json::Value;

use super::json::{Cursor, Stop};
use super::query::Asked;
use super::status::fact;
use crate::base::time::{Timestamp, parse_duration_nanos};
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::prometheus::TargetStatus;

/// Reads a list of targets.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    key: &str,
    asked: &Asked,
    out: &mut Batch,
) -> Result<(), Stop> {
    if key == "droppedTargets" {
        // Never scraped: only how many there are is of use.
        let mut dropped = 0u64;
        let outcome = cursor.array(|cursor, _| {
            dropped += 1;
            cursor.skip().map(|_| ())
        });
        if dropped > 0 {
            fact(out, "targets.dropped", &dropped.to_string());
        }
        return outcome;
    }
    cursor.array(|cursor, index| {
        let target = cursor.value()?;
        out.targets.push(status(
            &target,
            Arc::from(format!("$.data.{key}[{index}]")),
            asked.at,
        ));
        Ok(())
    })
}

fn status(target: &Value, locator: Arc<str>, at: Option<Timestamp>) -> TargetStatus {
    let text = |key: &str| target.get(key).and_then(Value::as_str);
    // VictoriaMetrics leaves interval and timeout out, but discovered labels have them (`prometheus.md` §1.5).
    let discovered = |key: &str| {
        target
            .get("discoveredLabels")
            .and_then(|labels| labels.get(key))
            .and_then(Value::as_str)
    };
    let span = |key: &str, label: &str| {
        text(key)
            .or_else(|| discovered(label))
            .and_then(parse_duration_nanos)
            .filter(|nanos| *nanos > 0)
    };
    let arc = |key: &str| Arc::from(text(key).unwrap_or(""));
    TargetStatus {
        input: InputIx::default(),
        locator,
        at,
        labels: labels_of(target.get("labels")),
        pool: arc("scrapePool"),
        url: arc("scrapeUrl"),
        health: Arc::from(text("health").unwrap_or("unknown")),
        last_error: arc("lastError"),
        last_scrape: text("lastScrape").and_then(past_time),
        last_duration_ms: target
            .get("lastScrapeDuration")
            .and_then(Value::as_f64)
            .map(|secs| secs * 1e3),
        interval_nanos: span("scrapeInterval", "__scrape_interval__"),
        timeout_nanos: span("scrapeTimeout", "__scrape_timeout__"),
    }
}

/// A time that Go wrote; its zero (year 1) and the epoch stand for "never".
pub(super) fn past_time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_rfc3339(text).filter(|t| t.nanos() > 0)
}

/// A JSON object of strings as labels.
pub(super) fn labels_of(value: Option<&Value>) -> Labels {
    Labels::new(
        value
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .filter_map(|(key, value)| {
                value
                    .as_str()
                    .map(|value| (Arc::from(key.as_str()), Arc::from(value)))
            })
            .collect(),
    )
}
