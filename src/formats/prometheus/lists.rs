//! Answers whose `data` is a list: label sets, exemplars, metadata of targets, names and values of labels.

use std::sync::Arc;

use serde_json::Value;

use super::json::{Cursor, Stop};
use super::query::Asked;
use super::results::{Words, source};
use super::status::{fact, meta};
use super::targets::labels_of;
use super::values::{Moment, moment_of, number};
use crate::base::time::Timestamp;
use crate::model::batch::Batch;
use crate::model::labels::Labels;
use crate::model::series::{Exemplar, Sampling, Series};

/// Reads the list.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    asked: &Asked,
    words: &mut Words,
    out: &mut Batch,
) -> Result<(), Stop> {
    let mut names: Vec<String> = Vec::new();
    let first_new = out.series.len();
    let outcome = cursor.array(|cursor, index| {
        let locator: Arc<str> = Arc::from(format!("$.data[{index}]"));
        if cursor.peek() == Some(b'"') {
            names.push(cursor.string()?.into_owned());
            return Ok(());
        }
        let entry = cursor.value()?;
        if entry.get("seriesLabels").is_some() {
            let mut series = series_of(entry.get("seriesLabels"), words);
            series.exemplars = exemplars(entry.get("exemplars"));
            series.sources = vec![source(&series, locator)];
            out.series.push(series);
        } else if let (Some(metric), Some(_)) = (
            entry.get("metric").and_then(Value::as_str),
            entry.get("type"),
        ) {
            let row = meta(metric, &entry);
            if !out.metadata.contains(&row) {
                out.metadata.push(row);
            }
        } else if is_label_set(&entry) {
            let mut series = series_of(Some(&entry), words);
            series.sources = vec![source(&series, locator)];
            out.series.push(series);
        }
        Ok(())
    });
    if !names.is_empty() {
        let what = if asked.endpoint.is_empty() {
            "names"
        } else {
            &asked.endpoint
        };
        fact(out, what, &names.join(", "));
    }
    if first_new < out.series.len() && asked.endpoint != "series" {
        out.asked = out.asked.or_else(|| asked.window());
    }
    outcome
}

/// Whether a value is a list of label sets, as `/api/v1/series` answers.
pub(super) fn are_label_sets(data: &Value) -> bool {
    data.as_array()
        .is_some_and(|list| !list.is_empty() && list.iter().all(is_label_set))
}

fn is_label_set(entry: &Value) -> bool {
    entry
        .as_object()
        .is_some_and(|map| map.values().all(Value::is_string))
}

/// An exemplar's series is stored samples without the samples: nothing of it was evaluated.
fn series_of(labels: Option<&Value>, words: &mut Words) -> Series {
    let all = labels_of(labels);
    let name = words.of(all.get("__name__").unwrap_or(""));
    let labels = Labels::new(
        all.iter()
            .filter(|(key, _)| *key != "__name__")
            .map(|(key, value)| (words.of(key), words.of(value)))
            .collect(),
    );
    Series::new(name, labels, Sampling::Raw)
}

fn exemplars(list: Option<&Value>) -> Vec<Exemplar> {
    let mut found: Vec<Exemplar> = list
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let value = match entry.get("value")? {
                Value::String(text) => number(text.as_bytes())?,
                other => other.as_f64()?,
            };
            let secs = match entry.get("timestamp")? {
                Value::String(text) => number(text.as_bytes())?,
                other => other.as_f64()?,
            };
            let t = match moment_of(secs) {
                Moment::Plain(t) | Moment::OtherUnit(t, _) => t,
                Moment::Unreadable => return None,
            };
            Some(Exemplar {
                t: Timestamp::from_nanos(t),
                value,
                labels: labels_of(entry.get("labels")),
            })
        })
        .collect();
    found.sort_by_key(|e| e.t);
    found
}
