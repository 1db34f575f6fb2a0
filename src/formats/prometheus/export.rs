//! VictoriaMetrics export lines (`/api/v1/export`): one JSON object a line, `{"metric":{…},"values":[…],"timestamps":[…]}`.
//!
//! Numbers are not always JSON: version 1.79 writes bare `NaN` and `+Inf`, newer ones `null` and `"Infinity"`. Since
//! VictoriaMetrics stores no other NaN, every NaN or `null` is a staleness marker (`prometheus.md` §1.5).

use std::sync::Arc;

use super::api::{plain, report_stop};
use super::json::{Cursor, Stop};
use super::query::Asked;
use super::results::{Odd, Words, source, stem};
use super::values::{Moment, moment_of_millis, number};
use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::labels::Labels;
use crate::model::series::{STALE_NAN_BITS, Sampling, Series};

/// VictoriaMetrics export lines.
pub struct VictoriaExport;

impl Format for VictoriaExport {
    fn id(&self) -> &'static str {
        "victoriametrics-export"
    }

    fn title(&self) -> &'static str {
        "VictoriaMetrics export lines"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let is_object = head
            .json
            .as_ref()
            .is_some_and(|json| json.opens_with == '{');
        if !is_object || !head.has("metric") || !head.has("values") || head.has("data") {
            return Sniff::NOT_AT_ALL;
        }
        if head.has("timestamps") {
            Sniff::Yes(96)
        } else if head.is_whole {
            Sniff::refused(60, "it has `metric` and `values` and no `timestamps`")
        } else {
            // The first line alone is longer than what is looked at.
            Sniff::Yes(75)
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
        let mut words = Words::default();
        let mut odd = Odd::default();
        let mut offset = 0;
        for (index, line) in bytes.split(|b| *b == b'\n').enumerate() {
            let line_no = index + 1;
            let mut cursor = Cursor::new(line);
            while !cursor.is_at_end() {
                let is_last = offset + line.len() == bytes.len();
                match one(&mut cursor, line_no, hints, &mut words, &mut odd, out, log) {
                    Ok(()) => {}
                    Err(Stop::Cut) if is_last => {
                        report_stop(Stop::Cut, bytes.len(), log);
                        break;
                    }
                    Err(_) => {
                        log.lost(
                            "bad_line",
                            format!(
                                "not an export line; expected {{\"metric\":…,\"values\":…,\"timestamps\":…}}, got {}",
                                shorten(&String::from_utf8_lossy(line), 80)
                            ),
                            Some(format!("line {line_no}")),
                        );
                        break;
                    }
                }
            }
            offset += line.len() + 1;
        }
        odd.report("milliseconds", "a number and its time in milliseconds", log);
        out.asked = out.asked.or_else(|| Asked::of(hints).window());
        if out.series.is_empty() && log.is_lossy() {
            return Err(FormatError::new(
                "no_series",
                Some("line 1".to_owned()),
                "no line that holds a series",
                "{\"metric\":…,\"values\":…,\"timestamps\":…}",
                "export again with /api/v1/export",
            ));
        }
        Ok(())
    }
}

/// One object. Of a cut one the samples that have both value and time are kept.
fn one(
    cursor: &mut Cursor<'_>,
    line_no: usize,
    hints: &Hints<'_>,
    words: &mut Words,
    odd: &mut Odd,
    out: &mut Batch,
    log: &mut Reporter,
) -> Result<(), Stop> {
    let locator: Arc<str> = Arc::from(format!("line {line_no}"));
    let mut labels: Option<(Option<Arc<str>>, Labels)> = None;
    let mut values: Vec<f64> = Vec::new();
    let mut times: Vec<i64> = Vec::new();
    let outcome = cursor.object(|cursor, key| {
        match key {
            "metric" => labels = Some(words.labels(cursor)?),
            "values" => cursor.array(|cursor, _| {
                let text = cursor.scalar()?;
                let value = number(text).filter(|v| !v.is_nan());
                if value.is_none() && text != b"null" && !text.eq_ignore_ascii_case(b"nan") {
                    odd.bad(text, &locator);
                }
                values.push(value.unwrap_or(f64::from_bits(STALE_NAN_BITS)));
                Ok(())
            })?,
            "timestamps" => cursor.array(|cursor, _| {
                let text = cursor.scalar()?;
                let moment = number(text).map_or(Moment::Unreadable, moment_of_millis);
                if let Some(t) = odd.take(moment) {
                    times.push(t);
                } else {
                    odd.bad(text, &locator);
                    times.push(i64::MIN);
                }
                Ok(())
            })?,
            _ => {
                cursor.skip()?;
            }
        }
        Ok(())
    });
    let Some((name, labels)) = labels else {
        return outcome.and(Err(Stop::Bad {
            at: 0,
            expected: "`metric`",
        }));
    };
    if values.len() != times.len() && outcome.is_ok() {
        log.lost(
            "uneven_columns",
            format!(
                "{} values and {} timestamps; only as many samples as have both were kept",
                values.len(),
                times.len()
            ),
            Some(locator.to_string()),
        );
    }
    let name = name.unwrap_or_else(|| Arc::from(stem(hints.name)));
    let mut series = Series::new(name, labels, Sampling::Raw);
    (series.t, series.v) = times
        .into_iter()
        .zip(values)
        .filter(|(t, _)| *t != i64::MIN)
        .unzip();
    series.sources = vec![source(&series, locator)];
    out.series.push(series);
    outcome
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "values must come back bit by bit")]
#[expect(clippy::string_slice, reason = "the texts are ASCII")]
mod tests {
    use super::*;
    use crate::formats::prometheus::testing::{read, sniffed};
    use crate::model::series::is_stale_marker;

    const LINES: &str = concat!(
        r#"{"metric":{"__name__":"up","job":"app"},"values":[1,null,+Inf,"Infinity",NaN,-0.5],"timestamps":[1796046080877,1796046081877,1796046082877,1796046083877,1796046084877,1796046085877]}"#,
        "\n",
        r#"{"metric":{"__name__":"up","job":"b"},"values":[1],"timestamps":[1796046080]}"#,
        "\n",
    );

    #[test]
    fn reads_numbers_that_are_not_json() {
        assert!(matches!(sniffed(&VictoriaExport, LINES), Sniff::Yes(96)));
        let (batch, warnings) = read(&VictoriaExport, LINES, None).unwrap();
        let first = &batch.series[0];
        assert_eq!(first.t[0], 1_796_046_080_877_000_000);
        assert!(is_stale_marker(first.v[1]) && is_stale_marker(first.v[4]));
        assert_eq!(first.v[2], f64::INFINITY);
        assert_eq!(first.v[3], f64::INFINITY);
        assert_eq!(first.v[5], -0.5);
        assert!(first.sampling.is_raw());
        assert_eq!(&*first.sources[0].locator, "line 1");
        assert_eq!(batch.series[1].t, [1_796_046_080_000_000_000]);
        assert_eq!(warnings[0].code, "time_unit");
    }

    #[test]
    fn keeps_the_whole_samples_of_a_cut_line() {
        let cut = &LINES[..LINES.find("1796046083877,").unwrap() + 14];
        let (batch, warnings) = read(&VictoriaExport, cut, None).unwrap();
        assert_eq!(batch.series[0].t.len(), 4);
        assert_eq!(warnings[0].code, "truncated");
        assert!(warnings[0].lossy);
    }

    #[test]
    fn a_broken_line_costs_only_itself() {
        let text = format!("{{\"metric\":{{\"a\":1]}}\n{LINES}");
        let (batch, warnings) = read(&VictoriaExport, &text, None).unwrap();
        assert_eq!(batch.series.len(), 2);
        assert_eq!(warnings[0].code, "bad_line");
        assert_eq!(warnings[0].at.as_deref(), Some("line 1"));
    }
}
