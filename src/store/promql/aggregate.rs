//! `sum`, `count`, `min`, `max`, `avg` and `group` of instant vectors.

use std::collections::BTreeMap;

use crate::store::promql::evaluate::{Line, Point};
use crate::store::promql::{Grouping, LabelSet, NAME};

/// The aggregations that are answered.
pub(super) const ANSWERED: &[&str] = &["avg", "count", "group", "max", "min", "sum"];

#[derive(Debug, Clone, Copy)]
struct Held {
    count: f64,
    value: f64,
}

impl Held {
    fn take(&mut self, op: &str, value: f64) {
        self.count += 1.0;
        match op {
            "sum" | "avg" => self.value += value,
            // NaN gives way to any number.
            "max" if self.value < value || self.value.is_nan() => self.value = value,
            "min" if self.value > value || self.value.is_nan() => self.value = value,
            _ => {}
        }
    }

    fn result(self, op: &str) -> f64 {
        match op {
            "count" => self.count,
            "group" => 1.0,
            "avg" => self.value / self.count,
            _ => self.value,
        }
    }
}

fn key(labels: &LabelSet, grouping: &Grouping) -> LabelSet {
    labels
        .iter()
        .filter(|(name, _)| match grouping {
            Grouping::By(names) => names.iter().any(|n| n == name.as_ref()),
            Grouping::Without(names) => {
                name.as_ref() != NAME && !names.iter().any(|n| n == name.as_ref())
            }
        })
        .cloned()
        .collect()
}

/// Aggregates lines. Native histograms can be counted and not added: `None` when they would have to be.
pub(super) fn aggregate<'a>(
    op: &'static str,
    grouping: &Grouping,
    lines: Vec<Line<'a>>,
) -> Option<Vec<Line<'a>>> {
    let mut groups: BTreeMap<LabelSet, BTreeMap<usize, Held>> = BTreeMap::new();
    for line in lines {
        let group = groups.entry(key(&line.labels, grouping)).or_default();
        for (step, point) in line.points {
            let value = match point {
                Point::Float(value) => value,
                Point::Histogram(_) if matches!(op, "count" | "group") => 0.0,
                Point::Histogram(_) => return None,
            };
            group
                .entry(step)
                .and_modify(|held| held.take(op, value))
                .or_insert(Held { count: 1.0, value });
        }
    }
    let groups = groups
        .into_iter()
        .filter(|(_, points)| !points.is_empty())
        .map(|(labels, points)| Line {
            labels,
            points: points
                .into_iter()
                .map(|(step, held)| (step, Point::Float(held.result(op))))
                .collect(),
        })
        .collect();
    Some(groups)
}
