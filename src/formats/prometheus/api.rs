//! Prometheus HTTP API answers: the envelope, and which part of the API answered.

use std::borrow::Cow;

use super::json::{Cursor, Stop};
use super::query::Asked;
use super::results::Results;
use super::{lists, rules, sniff, status, targets};
use crate::base::reporter::Reporter;
use crate::base::text::shorten;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;

/// Prometheus HTTP API answer.
pub struct PrometheusApi;

impl Format for PrometheusApi {
    fn id(&self) -> &'static str {
        "prometheus-api"
    }

    fn title(&self) -> &'static str {
        "Prometheus HTTP API answer"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        sniff::sniff(head)
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let bytes = plain(bytes);
        let asked = Asked::of(hints);
        let mut answer = Answer::default();
        let mut cursor = Cursor::new(&bytes);
        let outcome = match cursor.peek() {
            Some(b'{') => answer.envelope(&mut cursor, &asked, out),
            Some(b'[') => answer.results.read(&mut cursor, "$"),
            _ => return Err(not_json(&bytes, hints)),
        };
        if answer.results.has_streams || answer.result_type.as_deref() == Some("streams") {
            return Err(FormatError::new(
                "not_prometheus",
                Some("$.data.result".to_owned()),
                "log streams, as Loki answers them",
                "series of Prometheus",
                "ask Loki for a metric query instead (count_over_time, rate)",
            ));
        }
        let total = bytes.len();
        match outcome {
            Ok(()) if !cursor.is_at_end() => log.lost(
                "trailing",
                format!(
                    "{} bytes behind the end of the answer were not read; expected one answer a file",
                    total - cursor.at()
                ),
                Some(format!("byte {}", cursor.at())),
            ),
            Ok(()) => {}
            Err(stop) => report_stop(stop, total, log),
        }
        answer.finish(&asked, hints, out, log)
    }
}

/// Text without its byte order mark; UTF-16 decoded. Nothing is copied or checked in the usual case.
pub(super) fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Cow::Borrowed(rest);
    }
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Cow::Owned(crate::base::text::decode(bytes).0.into_owned().into_bytes());
    }
    Cow::Borrowed(bytes)
}

/// Says where and why reading stopped.
pub(super) fn report_stop(stop: Stop, total: usize, log: &mut Reporter) {
    match stop {
        Stop::Cut => log.lost(
            "truncated",
            "the answer ends in the middle of a value; every whole sample before it was kept; fetch it again for the rest",
            Some(format!("byte {total}")),
        ),
        Stop::Bad { at, expected } => log.lost(
            "malformed",
            format!("expected {expected}; what stands before it was kept, what follows was not read"),
            Some(format!("byte {at}")),
        ),
    }
}

#[derive(Default)]
struct Answer {
    status: Option<String>,
    error_type: Option<String>,
    error: Option<String>,
    warnings: Vec<String>,
    infos: Vec<String>,
    is_partial: bool,
    result_type: Option<String>,
    results: Results,
    /// Whether anything that the API answers was recognised.
    is_known: bool,
    notes: Vec<(&'static str, String)>,
}

impl Answer {
    fn envelope(
        &mut self,
        cursor: &mut Cursor<'_>,
        asked: &Asked,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        cursor.object(|cursor, key| {
            match key {
                "status" => self.status = text(cursor)?,
                "errorType" => self.error_type = text(cursor)?,
                "error" => self.error = text(cursor)?,
                "warnings" => texts(cursor, &mut self.warnings)?,
                "infos" => texts(cursor, &mut self.infos)?,
                "isPartial" => self.is_partial |= cursor.skip()? == b"true",
                "data" => self.data(cursor, asked, out)?,
                // The data part alone, as promtool and scripts save it.
                "resultType" => self.result_type = text(cursor)?,
                "result" => {
                    self.is_known = true;
                    self.results.read(cursor, "$.result")?;
                }
                _ => {
                    cursor.skip()?;
                }
            }
            Ok(())
        })
    }

    fn data(
        &mut self,
        cursor: &mut Cursor<'_>,
        asked: &Asked,
        out: &mut Batch,
    ) -> Result<(), Stop> {
        match cursor.peek() {
            Some(b'{') => {
                let mut rest = status::Pieces::default();
                let outcome = cursor.object(|cursor, key| {
                    match key {
                        "resultType" => self.result_type = text(cursor)?,
                        "result" => {
                            self.is_known = true;
                            self.results.read(cursor, "$.data.result")?;
                        }
                        "activeTargets" | "droppedTargets" if cursor.peek() == Some(b'[') => {
                            self.is_known = true;
                            targets::read(cursor, key, asked, out)?;
                        }
                        "groups" if cursor.peek() == Some(b'[') => {
                            self.is_known = true;
                            rules::read_groups(cursor, asked, out, &mut self.notes)?;
                        }
                        "alerts" if cursor.peek() == Some(b'[') => {
                            self.is_known = true;
                            rules::read_alerts(cursor, "$.data.alerts", asked, out)?;
                        }
                        "droppedTargetCounts" | "stats" | "analysis" => {
                            cursor.skip()?;
                        }
                        _ => rest.take(key, cursor)?,
                    }
                    Ok(())
                });
                self.is_known |= rest.finish(asked, out);
                outcome
            }
            Some(b'[') => {
                self.is_known = true;
                lists::read(cursor, asked, &mut self.results.words, out)
            }
            Some(b'"') => {
                self.is_known = true;
                let value = cursor.string()?;
                status::fact(out, "answer", &value);
                Ok(())
            }
            _ => {
                cursor.skip()?;
                Ok(())
            }
        }
    }

    fn finish(
        mut self,
        asked: &Asked,
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let is_error = self.status.as_deref() == Some("error") || self.error_type.is_some();
        for (code, text) in self.notes.drain(..) {
            log.note(code, text, None);
        }
        for warning in &self.warnings {
            let text = format!("the server warned: {}", shorten(warning, 400));
            let lower = warning.to_ascii_lowercase();
            // `limit` ("results truncated due to limit") and Thanos' partial responses both leave data out.
            if lower.contains("truncated") || lower.contains("partial") {
                log.lost("server_warning", text, Some("$.warnings".to_owned()));
            } else {
                log.note("server_warning", text, Some("$.warnings".to_owned()));
            }
        }
        for info in &self.infos {
            log.note(
                "server_info",
                format!("the server noted: {}", shorten(info, 400)),
                Some("$.infos".to_owned()),
            );
        }
        if self.is_partial {
            log.lost(
                "partial_answer",
                "the server calls its answer partial (isPartial): a storage node did not answer; series or samples may be missing",
                Some("$.isPartial".to_owned()),
            );
        }
        let has_data = !self.results.found.is_empty() || self.results.single.is_some();
        self.results
            .finish(self.result_type.as_deref(), asked, hints, out, log);
        if is_error {
            let error = server_error(
                self.error_type.as_deref(),
                self.error.as_deref().unwrap_or("no text"),
                hints,
            );
            if !has_data {
                return Err(error);
            }
            log.lost(
                "server_error",
                error.to_string(),
                Some("$.error".to_owned()),
            );
        } else if !self.is_known && !has_data && self.status.is_none() {
            return Err(FormatError::new(
                "not_prometheus",
                Some("$".to_owned()),
                "JSON without `status` and `data`",
                "an answer of the Prometheus HTTP API",
                "save the whole answer, from its first `{` to its last `}`",
            ));
        } else if !self.is_known && !has_data {
            log.note(
                "nothing_known",
                "the answer has no series, targets, rules, metadata or status that Tailscope knows",
                Some("$.data".to_owned()),
            );
        }
        if let Some(http) = hints
            .request
            .and_then(|r| r.http)
            .filter(|http| *http != 200)
            && !is_error
        {
            log.note(
                "http_status",
                format!("the server sent this with HTTP status {http}, not 200"),
                None,
            );
        }
        Ok(())
    }
}

/// A string; `None` for anything else.
fn text(cursor: &mut Cursor<'_>) -> Result<Option<String>, Stop> {
    if cursor.peek() == Some(b'"') {
        return Ok(Some(cursor.string()?.into_owned()));
    }
    cursor.skip()?;
    Ok(None)
}

/// The strings of an array, or one string.
fn texts(cursor: &mut Cursor<'_>, out: &mut Vec<String>) -> Result<(), Stop> {
    if cursor.peek() == Some(b'[') {
        return cursor.array(|cursor, _| {
            out.extend(text(cursor)?);
            Ok(())
        });
    }
    out.extend(text(cursor)?);
    Ok(())
}

/// What the server refused, in its words, and what helps (`prometheus.md` §1.1).
fn server_error(error_type: Option<&str>, error: &str, hints: &Hints<'_>) -> FormatError {
    let kind = error_type.unwrap_or("error");
    let advice = match kind {
        "bad_data" if error.contains("exceeded maximum resolution") => {
            "ask for a larger step or a shorter window: 11,000 steps are the most"
        }
        "bad_data" => "correct the query or its parameters and fetch it again",
        "execution" | "422" if error.contains("too many samples") => {
            "ask for a shorter window, fewer series or a larger step, or raise --query.max-samples"
        }
        "execution" | "422" => "correct the expression and fetch it again",
        "timeout" => "ask for less, or raise --query.timeout",
        "canceled" => "the client went away before the answer was ready: fetch it again",
        "unavailable" | "internal" | "503" | "500" => {
            "look at the server's own log, then fetch it again"
        }
        "not_found" | "404" => "check the path and the server's version",
        "429" | "too_many_requests" => {
            "the tenant's limits are reached: wait, then ask for less at a time"
        }
        _ => "read the server's text, correct the request and fetch it again",
    };
    let http = hints
        .request
        .and_then(|r| r.http)
        .map_or_else(String::new, |code| format!(" (HTTP {code})"));
    FormatError::new(
        "server_error",
        None,
        format!(
            "the server answered with an error{http}, {kind}: {}",
            shorten(error, 400)
        ),
        "an answer with data",
        advice,
    )
}

fn not_json(bytes: &[u8], hints: &Hints<'_>) -> FormatError {
    let head = Head::new(bytes);
    let why = sniff::text_body(&head).unwrap_or("no JSON");
    let http = hints
        .request
        .and_then(|r| r.http)
        .map_or_else(String::new, |code| format!(" (HTTP {code})"));
    FormatError::new(
        "not_json",
        Some("byte 0".to_owned()),
        format!("{why}{http}: {}", shorten(head.text.trim(), 80)),
        "`{` or `[`",
        "check the address and fetch it again; a proxy or a wrong path may have answered",
    )
}
