//! What is measured of a line over a range.

use super::lane::Line;
use crate::base::time::TimeRange;
use crate::store::Snapshot;
use crate::ui::lanes::axis;
use crate::ui::words::Words;

/// Lines that are measured one by one.
pub(super) const MOST: usize = 4;
/// Samples that are looked at for mean and slope; of more only every so many.
const MOST_SAMPLES: usize = 400_000;

/// Of one line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    name: String,
    unit: String,
    count: usize,
    min: f64,
    max: f64,
    mean: f64,
    /// Change for each hour by least squares.
    slope_per_h: f64,
    /// Whether mean and slope come from a part of the samples.
    is_rough: bool,
}

/// The words of what is measured.
pub(super) struct Names<'a> {
    count: &'a str,
    min: &'a str,
    max: &'a str,
    mean: &'a str,
    slope: &'a str,
}

impl<'a> Names<'a> {
    pub(super) const fn plain() -> Self {
        Self {
            count: "count",
            min: "min",
            max: "max",
            mean: "mean",
            slope: "slope",
        }
    }

    pub(super) fn of(words: &'a Words) -> Self {
        Self {
            count: words.text("lane-measure-count"),
            min: words.text("lane-measure-min"),
            max: words.text("lane-measure-max"),
            mean: words.text("lane-measure-mean"),
            slope: words.text("lane-measure-slope"),
        }
    }
}

/// Measures one line; nothing where it has no sample.
pub(super) fn of(snapshot: &Snapshot, line: &Line, range: TimeRange) -> Option<Measured> {
    let series = snapshot.series.get(line.series)?;
    let inside = series.within(range);
    let all = line.curve.range(series, inside.clone());
    if all.is_empty() {
        return None;
    }
    let t = series.t.get(inside.clone())?;
    let v = line.curve.values(series).get(inside)?;
    let stride = t.len() / MOST_SAMPLES + 1;
    let origin = t.first().copied().unwrap_or(0);
    let (mut n, mut sum_t, mut sum_v, mut sum_tt, mut sum_tv) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (t, v) in t
        .iter()
        .zip(v)
        .step_by(stride)
        .filter(|(_, v)| v.is_finite())
    {
        let hours = t.saturating_sub(origin) as f64 / 3.6e12;
        n += 1.0;
        sum_t += hours;
        sum_v += v;
        sum_tt += hours * hours;
        sum_tv += hours * v;
    }
    let spread = n * sum_tt - sum_t * sum_t;
    Some(Measured {
        name: line.name.clone(),
        unit: line.unit.clone(),
        count: v.iter().step_by(stride).filter(|v| !v.is_nan()).count() * stride.min(v.len()),
        min: all.min,
        max: all.max,
        mean: if n > 0.0 { sum_v / n } else { f64::NAN },
        slope_per_h: if spread > 0.0 {
            (n * sum_tv - sum_t * sum_v) / spread
        } else {
            f64::NAN
        },
        is_rough: stride > 1,
    })
}

/// As name and value: of one line one row for each figure, of several one row for each line.
pub(super) fn rows(measured: &[Measured], names: &Names<'_>) -> Vec<(String, String)> {
    if let [one] = measured {
        let about = if one.is_rough { "≈ " } else { "" };
        let value = |v: f64| axis::value(v, &one.unit);
        let count = crate::base::units::number(one.count as f64);
        let mut rows = vec![
            (names.count.to_owned(), format!("{about}{count}")),
            (names.min.to_owned(), value(one.min)),
            (names.max.to_owned(), value(one.max)),
            (names.mean.to_owned(), format!("{about}{}", value(one.mean))),
        ];
        if one.slope_per_h.is_finite() {
            rows.push((
                names.slope.to_owned(),
                format!("{about}{}/h", value(one.slope_per_h)),
            ));
        }
        return rows;
    }
    let row = |m: &Measured| {
        let value = |v: f64| axis::value(v, &m.unit);
        let text = format!(
            "{} … {}, {} {}",
            value(m.min),
            value(m.max),
            names.mean,
            value(m.mean)
        );
        (m.name.clone(), text)
    };
    measured.iter().map(row).collect()
}
