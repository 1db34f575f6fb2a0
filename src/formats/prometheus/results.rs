//! The series of an answer: matrix, vector, scalar, string.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::columns::{Pace, read_pairs};
use super::json::{Cursor, Stop};
use super::query::Asked;
use super::sampling::sampling;
use super::values::{Moment, moment, number};
use crate::base::reporter::Reporter;
use crate::base::text::{count, shorten};
use crate::base::time::{TimeRange, Timestamp};
use crate::formats::Hints;
use crate::model::batch::Batch;
use crate::model::input::InputIx;
use crate::model::labels::Labels;
use crate::model::prometheus::ServerFact;
use crate::model::series::{HistogramBucket, HistogramPoint, STALE_NAN_BITS, Series, SeriesSource};

/// Bytes of `[1,"1"],`.
const SHORTEST_PAIR: usize = 8;

/// One text for all labels that are spelled alike: a thousand series share most of theirs.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeSet<Arc<str>>);

impl Words {
    /// The one of this spelling.
    pub(super) fn of(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let word: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&word));
        word
    }

    /// A label object as metric name and labels.
    pub(super) fn labels(
        &mut self,
        cursor: &mut Cursor<'_>,
    ) -> Result<(Option<Arc<str>>, Labels), Stop> {
        let mut name = None;
        let mut pairs = Vec::new();
        cursor.object(|cursor, key| {
            let value = if cursor.peek() == Some(b'"') {
                self.of(&cursor.string()?)
            } else {
                self.of(&String::from_utf8_lossy(cursor.skip()?))
            };
            if key == "__name__" {
                name = Some(value);
            } else {
                pairs.push((self.of(key), value));
            }
            Ok(())
        })?;
        Ok((name, Labels::new(pairs)))
    }
}

/// A series as the answer has it.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// `__name__`.
    pub name: Option<Arc<str>>,
    /// The other labels.
    pub labels: Labels,
    /// Times in nanoseconds.
    pub t: Vec<i64>,
    /// Values.
    pub v: Vec<f64>,
    /// Native histograms.
    pub histograms: Vec<HistogramPoint>,
    /// Where it stands.
    pub locator: Arc<str>,
}

/// Collects the `result` of an answer.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// Series so far.
    pub found: Vec<Found>,
    /// Whether any had `values` or `histograms`.
    pub is_matrix: bool,
    /// A scalar or a string: time, text, and whether the text reads as a number.
    pub single: Option<(i64, String)>,
    /// What kind of result Loki calls streams.
    pub has_streams: bool,
    pub words: Words,
    odd: Odd,
    points: usize,
}

/// What was repaired or lost, counted so that it is said once.
#[derive(Debug, Default)]
pub(super) struct Odd {
    units: u64,
    unit: &'static str,
    bad: u64,
    first_bad: Option<(String, String)>,
}

impl Odd {
    /// The time of a sample, in seconds.
    pub(super) fn time(&mut self, text: &[u8]) -> Option<i64> {
        self.take(moment(text))
    }

    /// The time of a sample in nanoseconds, once it is understood.
    pub(super) fn take(&mut self, moment: Moment) -> Option<i64> {
        match moment {
            Moment::Plain(t) => Some(t),
            Moment::OtherUnit(t, unit) => {
                self.units += 1;
                self.unit = unit;
                Some(t)
            }
            Moment::Unreadable => None,
        }
    }

    /// A sample that is none.
    pub(super) fn bad(&mut self, text: &[u8], locator: &str) {
        self.bad += 1;
        if self.first_bad.is_none() {
            self.first_bad = Some((
                shorten(&String::from_utf8_lossy(text), 60),
                locator.to_owned(),
            ));
        }
    }

    /// Says it; `due` is the unit that the format has, `form` what a sample should look like.
    pub(super) fn report(&self, due: &str, form: &str, log: &mut Reporter) {
        if self.units > 0 {
            log.lost(
                "time_unit",
                format!(
                    "the times of {} were written in {} where {due} were due; they were read as {}, so check that they lie where they should",
                    count(self.units, "sample", "samples"),
                    self.unit,
                    self.unit
                ),
                None,
            );
        }
        if let Some((text, locator)) = &self.first_bad {
            log.lost(
                "bad_sample",
                format!(
                    "{} left out: expected {form}, got {text}",
                    count(self.bad, "sample was", "samples were")
                ),
                Some(locator.clone()),
            );
        }
    }
}

impl Results {
    /// Reads the value of `result`. What was whole before an error is kept.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>, path: &str) -> Result<(), Stop> {
        if cursor.peek() != Some(b'[') {
            cursor.skip()?;
            return Ok(());
        }
        let mut ahead = cursor.clone();
        ahead.eat(b'[');
        if matches!(ahead.peek(), Some(b'{' | b']') | None) {
            return cursor.array(|cursor, index| {
                if cursor.peek() != Some(b'{') {
                    let text = cursor.skip()?;
                    self.odd.bad(text, &format!("{path}[{index}]"));
                    return Ok(());
                }
                self.element(cursor, Arc::from(format!("{path}[{index}]")))
            });
        }
        cursor.expect(b'[', "`[`")?;
        let time = cursor.scalar()?;
        cursor.expect(b',', "`,` and the value")?;
        let text = if cursor.peek() == Some(b'"') {
            cursor.string()?.into_owned()
        } else {
            String::from_utf8_lossy(cursor.token()?).into_owned()
        };
        cursor.expect(b']', "`]`")?;
        match self.odd.time(time) {
            Some(t) => self.single = Some((t, text)),
            None => self.odd.bad(time, path),
        }
        Ok(())
    }

    fn element(&mut self, cursor: &mut Cursor<'_>, locator: Arc<str>) -> Result<(), Stop> {
        // As many points as the series before and some (gaps differ), but never more than the bytes that are left can
        // hold.
        let left = cursor.bytes().len() - cursor.at();
        let points = (self.points + self.points / 8).min(left / SHORTEST_PAIR);
        let mut found = Found {
            name: None,
            labels: Labels::default(),
            t: Vec::with_capacity(points),
            v: Vec::with_capacity(points),
            histograms: Vec::new(),
            locator,
        };
        let mut has_metric = false;
        let outcome = cursor.object(|cursor, key| {
            match key {
                "metric" if cursor.peek() == Some(b'{') => {
                    (found.name, found.labels) = self.words.labels(cursor)?;
                    has_metric = true;
                }
                "values" if cursor.peek() == Some(b'[') => {
                    self.is_matrix = true;
                    self.values(cursor, &mut found)?;
                }
                "histograms" if cursor.peek() == Some(b'[') => {
                    self.is_matrix = true;
                    cursor.array(|cursor, _| self.histogram(cursor, &mut found))?;
                }
                "value" => self.pair(cursor, &mut found)?,
                "histogram" => self.histogram(cursor, &mut found)?,
                "stream" => {
                    self.has_streams = true;
                    cursor.skip()?;
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Ok(())
        });
        // Labels that were cut off would put the samples under a wrong name.
        if has_metric {
            self.points = found.t.len();
            if found.t.capacity() > found.t.len() + found.t.len() / 4 {
                found.t.shrink_to_fit();
                found.v.shrink_to_fit();
            }
            self.found.push(found);
        }
        outcome
    }

    /// The pairs of one series: the fast path as far as it goes, one odd pair, and on.
    fn values(&mut self, cursor: &mut Cursor<'_>, found: &mut Found) -> Result<(), Stop> {
        cursor.expect(b'[', "`[`")?;
        loop {
            let (at, pace) = read_pairs(cursor.bytes(), cursor.at(), &mut found.t, &mut found.v);
            cursor.jump(at);
            if pace == Pace::Done {
                return Ok(());
            }
            match cursor.peek().ok_or(Stop::Cut)? {
                b']' => {
                    cursor.eat(b']');
                    return Ok(());
                }
                b',' => {
                    cursor.eat(b',');
                }
                _ => self.pair(cursor, found)?,
            }
            // The fast path wants an element next.
            if cursor.eat(b',') {
                cursor.peek();
            }
        }
    }

    /// One pair in any spelling.
    fn pair(&mut self, cursor: &mut Cursor<'_>, found: &mut Found) -> Result<(), Stop> {
        let mut ahead = cursor.clone();
        if let Some((t, v)) = self.try_pair(&mut ahead)? {
            found.t.push(t);
            found.v.push(v);
            cursor.jump(ahead.at());
        } else {
            let text = cursor.skip()?;
            self.odd.bad(text, &found.locator);
        }
        Ok(())
    }

    fn try_pair(&mut self, cursor: &mut Cursor<'_>) -> Result<Option<(i64, f64)>, Stop> {
        let (time, value) = match pair_texts(cursor) {
            Ok(texts) => texts,
            Err(Stop::Cut) => return Err(Stop::Cut),
            Err(Stop::Bad { .. }) => return Ok(None),
        };
        // Some JSON writers cannot write NaN and write null.
        let value = if value == b"null" {
            Some(f64::NAN)
        } else {
            number(value)
        };
        Ok(value.and_then(|v| self.odd.time(time).map(|t| (t, v))))
    }

    /// `[time, {count, sum, buckets}]`.
    fn histogram(&mut self, cursor: &mut Cursor<'_>, found: &mut Found) -> Result<(), Stop> {
        let mut ahead = cursor.clone();
        let whole = ahead.skip()?;
        let mut inner = Cursor::new(whole);
        match read_histogram(&mut inner, &mut self.odd) {
            Ok(Some(point)) => found.histograms.push(point),
            Ok(None) | Err(_) => self.odd.bad(whole, &found.locator),
        }
        cursor.jump(ahead.at());
        Ok(())
    }

    /// Turns what was found into series of the batch.
    pub(super) fn finish(
        self,
        result_type: Option<&str>,
        asked: &Asked,
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) {
        let Self {
            mut found,
            is_matrix,
            single,
            odd,
            ..
        } = self;
        odd.report("seconds", "[seconds, \"value\"]", log);
        let fallback: Arc<str> =
            Arc::from(asked.query.as_deref().unwrap_or_else(|| stem(hints.name)));
        if let Some((t, text)) = single {
            match number(text.as_bytes()).filter(|_| result_type != Some("string")) {
                Some(value) => found.push(Found {
                    name: None,
                    labels: Labels::default(),
                    t: vec![t],
                    v: vec![value],
                    histograms: Vec::new(),
                    locator: Arc::from("$.data.result"),
                }),
                None => out.facts.push(ServerFact {
                    input: InputIx::default(),
                    name: Arc::clone(&fallback),
                    value: Arc::from(text),
                }),
            }
        }
        if found.is_empty() {
            out.asked = out.asked.or_else(|| asked.window());
            return;
        }
        let is_matrix = is_matrix || result_type == Some("matrix");
        let sampling = sampling(&found, is_matrix, asked, log);
        if sampling.is_raw() && asked.is_victoria_raw {
            found
                .iter_mut()
                .flat_map(|f| &mut f.v)
                .filter(|v| v.is_nan())
                .for_each(|v| *v = f64::from_bits(STALE_NAN_BITS));
        }
        out.asked = out.asked.or_else(|| asked.window());
        let expr = asked
            .query
            .as_deref()
            .filter(|_| !sampling.is_raw())
            .map(Arc::from);
        for one in found {
            let metric = one.name.unwrap_or_else(|| Arc::clone(&fallback));
            let mut series = Series::new(metric, one.labels, sampling);
            if !one.t.is_sorted_by(|a, b| a < b) {
                log.note(
                    "unordered_times",
                    format!(
                        "the times of {} do not increase; its samples are put in order, and of two at one time the first is kept",
                        shorten(&series.selector(), 120)
                    ),
                    Some(one.locator.to_string()),
                );
            }
            series.expr.clone_from(&expr);
            series.t = one.t;
            series.v = one.v;
            series.histograms = one.histograms;
            series.sources = vec![source(&series, one.locator)];
            out.series.push(series);
        }
    }
}

/// The two texts of a pair.
fn pair_texts<'a>(cursor: &mut Cursor<'a>) -> Result<(&'a [u8], &'a [u8]), Stop> {
    cursor.expect(b'[', "`[`")?;
    let time = cursor.scalar()?;
    cursor.expect(b',', "`,`")?;
    let value = cursor.scalar()?;
    cursor.expect(b']', "`]`")?;
    Ok((time, value))
}

/// The source of a series that stands whole at `locator`.
pub(super) fn source(series: &Series, locator: Arc<str>) -> SeriesSource {
    SeriesSource {
        input: InputIx::default(),
        locator,
        range: series.span().unwrap_or_else(|| {
            let epoch = Timestamp::default();
            TimeRange::new(epoch, epoch)
        }),
    }
}

/// A file's name without what stands behind its last dot.
pub(super) fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

fn read_histogram(cursor: &mut Cursor<'_>, odd: &mut Odd) -> Result<Option<HistogramPoint>, Stop> {
    cursor.expect(b'[', "`[`")?;
    let Some(t) = odd.time(cursor.scalar()?) else {
        return Ok(None);
    };
    cursor.expect(b',', "`,`")?;
    let mut count = None;
    let mut sum = None;
    let mut buckets = Vec::new();
    let mut is_whole = true;
    cursor.object(|cursor, key| {
        match key {
            "count" => count = number(cursor.scalar()?),
            "sum" => sum = number(cursor.scalar()?),
            "buckets" if cursor.peek() == Some(b'[') => cursor.array(|cursor, _| {
                let mut parts = [None; 4];
                cursor.array(|cursor, index| {
                    let text = cursor.scalar()?;
                    if let Some(part) = parts.get_mut(index) {
                        *part = number(text);
                    }
                    Ok(())
                })?;
                if let [Some(rule), Some(lower), Some(upper), Some(count)] = parts
                    && (0.0..=3.0).contains(&rule)
                {
                    buckets.push(HistogramBucket {
                        rule: rule as u8,
                        lower,
                        upper,
                        count,
                    });
                } else {
                    is_whole = false;
                }
                Ok(())
            })?,
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    })?;
    cursor.expect(b']', "`]`")?;
    Ok(count.filter(|_| is_whole).map(|count| HistogramPoint {
        t: Timestamp::from_nanos(t),
        count,
        sum: sum.unwrap_or(f64::NAN),
        buckets,
    }))
}
