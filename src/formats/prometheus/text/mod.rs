//! Prometheus text exposition and OpenMetrics: a saved `/metrics` or `/federate`, or `promtool tsdb dump`.
//!
//! **Times.** A line with a timestamp is a stored sample ([`Sampling::Raw`]). A line without one was taken when the
//! text was fetched: at the request's time, else at the time in the file's name, and is [`Sampling::Instant`]. When
//! neither is known, the series are kept without samples: they say what the target exposes, and a value without a time
//! cannot stand on a timeline. That is noted as `no_time`.
//!
//! **Labels.** What a scrape adds is not in the text; when it is known whom the request was sent to, that becomes the
//! `instance` of series that have none, as Prometheus does.

mod line;

use std::collections::BTreeMap;
use std::sync::Arc;

use self::line::{Line, RawExemplar, Sample};
use super::api::plain;
use super::results::{Odd, Words, source};
use super::stamp;
use super::status::kind;
use super::values::{Moment, moment_of, moment_of_millis};
use crate::base::reporter::Reporter;
use crate::base::text::{count, shorten};
use crate::base::time::Timestamp;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::labels::Labels;
use crate::model::prometheus::MetricMeta;
use crate::model::series::{Exemplar, MetricKind, Sampling, Series};

/// Prometheus text exposition or OpenMetrics.
pub struct Exposition;

impl Format for Exposition {
    fn id(&self) -> &'static str {
        "prometheus-text"
    }

    fn title(&self) -> &'static str {
        "Prometheus text exposition or OpenMetrics"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if !head.is_text
            || head
                .json
                .as_ref()
                .is_some_and(|json| json.opens_with == '[')
        {
            return Sniff::NOT_AT_ALL;
        }
        let (mut samples, mut labelled, mut described, mut wrong) = (0, 0, 0, 0);
        for text in head.lines().take(50) {
            match line::parse(text) {
                Ok(Line::Type { .. } | Line::Help { .. } | Line::Unit { .. }) => described += 1,
                Ok(Line::Sample(sample)) => {
                    samples += 1;
                    labelled += usize::from(!sample.labels.is_empty());
                }
                Ok(Line::End | Line::Comment) => {}
                Err(_) => wrong += 1,
            }
        }
        if described > 0 && wrong <= samples + described {
            Sniff::Yes(95)
        } else if labelled > 0 && wrong == 0 {
            Sniff::Yes(80)
        } else if samples > 0 && wrong == 0 {
            Sniff::refused(
                50,
                "no line in it has labels, and none is `# TYPE` or `# HELP`",
            )
        } else {
            Sniff::NOT_AT_ALL
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let bytes = plain(bytes);
        let request = hints.request;
        let taken = request
            .and_then(|r| r.at)
            .or_else(|| stamp::of_name(hints.name, hints.zone));
        let is_declared_open = request
            .and_then(|r| r.ctype.as_deref())
            .is_some_and(|c| c.contains("openmetrics"));
        let ends = bytes.trim_ascii_end().ends_with(b"# EOF");
        let mut page = Page {
            taken,
            instance: request.and_then(|r| r.target.as_deref()),
            is_open_metrics: ends || is_declared_open,
            ..Page::default()
        };
        for (index, raw) in bytes.split(|b| *b == b'\n').enumerate() {
            let text = String::from_utf8_lossy(raw.strip_suffix(b"\r").unwrap_or(raw));
            if page.is_ended && !text.trim().is_empty() {
                log.lost(
                    "after_end",
                    "lines behind `# EOF` were not read",
                    Some(format!("line {}", index + 1)),
                );
                break;
            }
            page.take(&text, index + 1, log);
        }
        if is_declared_open && !page.is_ended {
            log.lost(
                "truncated",
                "the page does not end in `# EOF`, as OpenMetrics must: it was cut short",
                Some(format!("byte {}", bytes.len())),
            );
        } else if !page.is_ended && !bytes.is_empty() && !bytes.ends_with(b"\n") {
            log.note(
                "no_final_newline",
                "the last line does not end in a line break; it may have been cut, and its value with it",
                Some(format!("byte {}", bytes.len())),
            );
        }
        page.finish(out, log)
    }
}

/// A metric family as its comments describe it.
#[derive(Default, Clone)]
struct Family {
    kind: MetricKind,
    help: Arc<str>,
    unit: Arc<str>,
}

struct Row {
    series: Series,
    line: usize,
    last_t: Option<i64>,
}

/// A page while it is read.
#[derive(Default)]
struct Page<'a> {
    taken: Option<Timestamp>,
    instance: Option<&'a str>,
    is_open_metrics: bool,
    is_ended: bool,
    words: Words,
    families: BTreeMap<String, Family>,
    rows: Vec<Row>,
    index: BTreeMap<(Arc<str>, Labels), usize>,
    odd: Odd,
    without_time: u64,
}

impl Page<'_> {
    fn take(&mut self, text: &str, line_no: usize, log: &mut Reporter) {
        match line::parse(text) {
            Ok(Line::Comment) => {}
            Ok(Line::End) => self.is_ended = true,
            Ok(Line::Help { name, text }) => {
                self.families.entry(name.into_owned()).or_default().help = Arc::from(text);
            }
            Ok(Line::Type { name, word }) => {
                self.families.entry(name.into_owned()).or_default().kind = kind(word);
            }
            Ok(Line::Unit { name, unit }) => {
                self.families.entry(name.into_owned()).or_default().unit = Arc::from(unit);
            }
            Ok(Line::Sample(sample)) => self.sample(sample, line_no, log),
            Err(expected) => log.lost(
                "bad_line",
                format!("expected {expected}, got {}", shorten(text, 80)),
                Some(format!("line {line_no}")),
            ),
        }
    }

    fn sample(&mut self, sample: Sample<'_>, line_no: usize, log: &mut Reporter) {
        let mut pairs: Vec<(Arc<str>, Arc<str>)> = sample
            .labels
            .iter()
            .map(|(key, value)| (self.words.of(key), self.words.of(value)))
            .collect();
        if let Some(instance) = self.instance
            && !pairs.iter().any(|(key, _)| key.as_ref() == "instance")
        {
            pairs.push((self.words.of("instance"), self.words.of(instance)));
        }
        let labels = Labels::new(pairs);
        let name = self.words.of(&sample.name);
        let stated = match sample.time {
            None => None,
            Some(number) => {
                let Some(t) = self.odd.take(self.moment(number)) else {
                    self.odd
                        .bad(number.to_string().as_bytes(), &format!("line {line_no}"));
                    return;
                };
                Some(t)
            }
        };
        let at = *self
            .index
            .entry((Arc::clone(&name), labels.clone()))
            .or_insert_with(|| {
                self.rows.push(Row {
                    series: Series::new(name, labels, Sampling::Instant),
                    line: line_no,
                    last_t: None,
                });
                self.rows.len() - 1
            });
        let Some(row) = self.rows.get_mut(at) else {
            return;
        };
        if row.line != line_no && (stated.is_none() || stated == row.last_t) {
            // Prometheus keeps the first of equal lines and drops the others (`prometheus.md` §2.4, case 17).
            log.note(
                "duplicate_line",
                format!(
                    "{} stands a second time; the first, in line {}, counts",
                    shorten(&row.series.selector(), 120),
                    row.line
                ),
                Some(format!("line {line_no}")),
            );
            return;
        }
        if stated.is_some() {
            row.series.sampling = Sampling::Raw;
        }
        row.last_t = stated;
        let t = stated.or_else(|| self.taken.map(Timestamp::nanos));
        match t {
            Some(t) => {
                row.series.t.push(t);
                row.series.v.push(sample.value);
            }
            None => self.without_time += 1,
        }
        if let Some(exemplar) = sample.exemplar {
            row.series
                .exemplars
                .extend(exemplar_of(&exemplar, t, &mut self.words));
        }
    }

    /// OpenMetrics counts seconds, the older text format milliseconds.
    fn moment(&self, number: f64) -> Moment {
        if !number.is_finite() {
            Moment::Unreadable
        } else if self.is_open_metrics {
            moment_of(number)
        } else if number.fract() != 0.0 && number.abs() < 1e11 {
            // Only OpenMetrics has fractions; a cut page has lost its `# EOF`.
            moment_of(number)
        } else {
            moment_of_millis(number)
        }
    }

    fn finish(mut self, out: &mut Batch, log: &mut Reporter) -> Result<(), FormatError> {
        let due = if self.is_open_metrics {
            "seconds"
        } else {
            "milliseconds"
        };
        self.odd.report(due, "a line with a readable time", log);
        if self.rows.is_empty() && self.families.is_empty() && log.is_lossy() {
            return Err(FormatError::new(
                "no_samples",
                Some("line 1".to_owned()),
                "no line that is a sample",
                "`name{label=\"value\"} number`",
                "save the whole page of /metrics",
            ));
        }
        if self.without_time > 0 {
            log.note(
                "no_time",
                format!(
                    "{} without a time: the page has none, no request says when it was fetched, and its name holds no date; the series are listed and their values left out. Put the time in the file's name (metrics-20261130T142910Z.txt) or a requests.json beside it",
                    count(self.without_time, "sample is", "samples are")
                ),
                None,
            );
        }
        for mut row in self.rows.drain(..) {
            let family = family_of(&self.families, &row.series.metric);
            row.series.kind = if row.series.metric.ends_with("_created") && family.is_some() {
                MetricKind::Gauge
            } else {
                family.map_or(MetricKind::Unknown, |f| f.kind)
            };
            let locator = Arc::from(format!("line {}", row.line));
            row.series.sources = vec![source(&row.series, locator)];
            out.series.push(row.series);
        }
        for (name, family) in self.families {
            out.metadata.push(MetricMeta {
                family: Arc::from(name),
                kind: family.kind,
                help: family.help,
                unit: family.unit,
            });
        }
        Ok(())
    }
}

fn exemplar_of(
    raw: &RawExemplar<'_>,
    sample_t: Option<i64>,
    words: &mut Words,
) -> Option<Exemplar> {
    let stated = raw.time.and_then(|secs| match moment_of(secs) {
        Moment::Plain(t) | Moment::OtherUnit(t, _) => Some(t),
        Moment::Unreadable => None,
    });
    Some(Exemplar {
        t: Timestamp::from_nanos(stated.or(sample_t)?),
        value: raw.value,
        labels: Labels::new(
            raw.labels
                .iter()
                .map(|(key, value)| (words.of(key), words.of(value)))
                .collect(),
        ),
    })
}

/// The family of a sample: its own name, or its name without the suffix of a part.
fn family_of<'a>(families: &'a BTreeMap<String, Family>, metric: &str) -> Option<&'a Family> {
    families.get(metric).or_else(|| {
        ["_bucket", "_sum", "_count", "_total", "_created", "_info"]
            .iter()
            .filter_map(|suffix| metric.strip_suffix(suffix))
            .find_map(|family| families.get(family))
    })
}

#[cfg(test)]
mod tests;
