//! Everything that is answered from the recorded series.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::serve::Served;
use crate::engine::serve::reply::{
    Fields, Refusal, add, duration_ms, float, labels, plain, point, quoted, seconds, success,
    time_ms,
};
use crate::store::promql::{
    EvalError, Evaluation, Expr, Kind, Known, LabelSet, Line, Point, RawLine, Selector, Shelf,
    Value, evaluate, parse, parse_selector,
};

/// Points of one series that a `query_range` may give (`prometheus.md` §1.2).
const MOST_STEPS: i64 = 11_000;
/// What Prometheus says of an answer that `limit` cut.
const TRUNCATED: &str = "results truncated due to limit";

type Done = Result<Vec<u8>, Refusal>;

fn expression(fields: &Fields) -> Result<Expr, Refusal> {
    parse(fields.get("query")).map_err(|e| Refusal::parameter("query", e))
}

fn time(fields: &Fields, name: &str) -> Result<i64, Refusal> {
    let text = fields.get(name);
    time_ms(text).ok_or_else(|| {
        Refusal::parameter(name, format!("cannot parse {text:?} to a valid timestamp"))
    })
}

fn time_or(fields: &Fields, name: &str, usual: i64) -> Result<i64, Refusal> {
    if fields.get(name).is_empty() {
        return Ok(usual);
    }
    time(fields, name)
}

fn duration(fields: &Fields, name: &str) -> Result<i64, Refusal> {
    let text = fields.get(name);
    duration_ms(text).ok_or_else(|| {
        Refusal::parameter(name, format!("cannot parse {text:?} to a valid duration"))
    })
}

fn limit(fields: &Fields) -> Result<Option<usize>, Refusal> {
    let text = fields.get("limit");
    if text.is_empty() {
        return Ok(None);
    }
    let n: usize = text.parse().ok().ok_or_else(|| {
        Refusal::parameter(
            "limit",
            format!("cannot parse {text:?} to a non-negative number"),
        )
    })?;
    Ok((n > 0).then_some(n))
}

/// Cuts a list, and says so.
fn cut<T>(list: &mut Vec<T>, limit: Option<usize>, warnings: &mut Vec<String>) {
    if let Some(n) = limit
        && list.len() > n
    {
        list.truncate(n);
        warnings.push(TRUNCATED.to_owned());
    }
}

/// What applies to every query.
fn common(fields: &Fields, when: &mut Evaluation) -> Result<(), Refusal> {
    if !fields.get("timeout").is_empty() {
        duration(fields, "timeout")?;
    }
    if !fields.get("lookback_delta").is_empty() {
        let ms = duration(fields, "lookback_delta")?;
        when.lookback_nanos = Some(ms.saturating_mul(1_000_000)).filter(|nanos| *nanos > 0);
    }
    Ok(())
}

/// `/api/v1/query`.
pub(super) fn instant(served: &Served, fields: &Fields) -> Done {
    let now = served.now_ms();
    let t_ms = time_or(fields, "time", now)?;
    let mut when = Evaluation::at(t_ms);
    common(fields, &mut when)?;
    let limit = limit(fields)?;
    let expr = expression(fields)?;
    let mut infos = Vec::new();
    if fields.get("time").is_empty() && expr.kind() != Kind::Scalar {
        infos.push(format!(
            "no time was given: this is how it was at the end of the recording, {}",
            instant_of(t_ms)
        ));
    }
    run(served, fields, &expr, when, limit, infos)
}

/// `/api/v1/query_range`.
pub(super) fn range(served: &Served, fields: &Fields) -> Done {
    let start_ms = time(fields, "start")?;
    let end_ms = time(fields, "end")?;
    if end_ms < start_ms {
        return Err(Refusal::parameter(
            "end",
            "end timestamp must not be before start time",
        ));
    }
    let step_ms = duration(fields, "step")?;
    if step_ms <= 0 {
        return Err(Refusal::parameter(
            "step",
            "zero or negative query resolution step widths are not accepted. Try a positive integer",
        ));
    }
    if (end_ms - start_ms) / step_ms > MOST_STEPS {
        return Err(Refusal::bad(
            "exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)",
        ));
    }
    let mut when = Evaluation {
        start_ms,
        end_ms,
        step_ms,
        lookback_nanos: None,
    };
    common(fields, &mut when)?;
    let limit = limit(fields)?;
    let expr = expression(fields)?;
    if matches!(expr.kind(), Kind::Range | Kind::Text) {
        return Err(Refusal::bad(format!(
            "invalid expression type {:?} for range query, must be Scalar or instant Vector",
            expr.kind().word()
        )));
    }
    run(served, fields, &expr, when, limit, Vec::new())
}

fn instant_of(ms: i64) -> String {
    Timestamp::from_millis(ms).map_or_else(|| ms.to_string(), Timestamp::to_rfc3339)
}

fn run(
    served: &Served,
    fields: &Fields,
    expr: &Expr,
    when: Evaluation,
    limit: Option<usize>,
    mut infos: Vec<String>,
) -> Done {
    let snapshot = &served.document.snapshot;
    let (mut value, notes) = evaluate(&served.shelf, snapshot, fields.get("query"), expr, when)
        .map_err(|error| match error {
            EvalError::Unsupported(_) | EvalError::TooMuch => Refusal::execution(error.to_string()),
        })?;
    infos.extend(notes);
    if expr.kind() != Kind::Scalar {
        infos.extend(outside(served, when));
    }
    let mut warnings = served.warnings.clone();
    match &mut value {
        Value::Vector(lines) => cut(lines, limit, &mut warnings),
        Value::Range(lines) => cut(lines, limit, &mut warnings),
        Value::Scalar(_) | Value::Text(_) => {}
    }
    let data = if when.step_ms > 0 {
        matrix(&value, when)
    } else {
        at_once(&value, when.start_ms)
    };
    Ok(success(data.as_bytes(), &warnings, &infos))
}

/// That a query looks where nothing was recorded.
fn outside(served: &Served, when: Evaluation) -> Option<String> {
    let window = served.window()?;
    let (start, end) = (window.start.millis(), served.now_ms());
    (when.end_ms < start || when.start_ms > end).then(|| {
        format!(
            "nothing was recorded at the time asked for: the recording is of {} to {}",
            window.start, window.end
        )
    })
}

fn at_once(value: &Value<'_>, t_ms: i64) -> String {
    let mut out = String::new();
    match value {
        Value::Scalar(values) => {
            out.push_str("{\"resultType\":\"scalar\",\"result\":[");
            seconds(&mut out, t_ms);
            add(
                &mut out,
                format_args!(
                    ",\"{}\"]}}",
                    plain(values.first().copied().unwrap_or(f64::NAN))
                ),
            );
        }
        Value::Text(text) => {
            out.push_str("{\"resultType\":\"string\",\"result\":[");
            seconds(&mut out, t_ms);
            out.push(',');
            quoted(&mut out, text);
            out.push_str("]}");
        }
        Value::Vector(lines) => {
            out.push_str("{\"resultType\":\"vector\",\"result\":[");
            for (i, line) in lines.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                out.push_str("{\"metric\":");
                labels(&mut out, &line.labels);
                if let Some((_, value)) = line.points.first() {
                    out.push_str(match value {
                        Point::Float(_) => ",\"value\":",
                        Point::Histogram(_) => ",\"histogram\":",
                    });
                    point(&mut out, t_ms, value);
                }
                out.push('}');
            }
            out.push_str("]}");
        }
        Value::Range(lines) => {
            out.push_str("{\"resultType\":\"matrix\",\"result\":[");
            for (i, RawLine { labels, samples }) in lines.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                series_of(&mut out, labels, samples);
            }
            out.push_str("]}");
        }
    }
    out
}

fn matrix(value: &Value<'_>, when: Evaluation) -> String {
    let mut out = String::from("{\"resultType\":\"matrix\",\"result\":[");
    let none = Vec::new();
    let whole;
    let lines: &[Line<'_>] = match value {
        Value::Vector(lines) => lines,
        Value::Scalar(values) => {
            whole = [Line {
                labels: none,
                points: values
                    .iter()
                    .map(|v| Point::Float(*v))
                    .enumerate()
                    .collect(),
            }];
            &whole
        }
        Value::Text(_) | Value::Range(_) => &[],
    };
    for (i, line) in lines.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        let points: Vec<(i64, Point<'_>)> = line
            .points
            .iter()
            .map(|(step, point)| (when.time_ms(*step), *point))
            .collect();
        series_of(&mut out, &line.labels, &points);
    }
    out.push_str("]}");
    out
}

/// One series of a matrix: its numbers as `values`, its native histograms as `histograms`.
fn series_of<'a>(out: &mut String, set: &LabelSet, points: &[(i64, Point<'a>)]) {
    out.push_str("{\"metric\":");
    labels(out, set);
    let is_float = |(_, p): &(i64, Point<'a>)| matches!(p, Point::Float(_));
    for (key, wants_float) in [("values", true), ("histograms", false)] {
        let mut is_first = true;
        for (t_ms, value) in points.iter().filter(|p| is_float(p) == wants_float) {
            if is_first {
                add(out, format_args!(",\"{key}\":["));
            } else {
                out.push(',');
            }
            is_first = false;
            point(out, *t_ms, value);
        }
        if !is_first {
            out.push(']');
        }
    }
    out.push('}');
}

/// The selectors of `match[]`.
fn selectors(fields: &Fields) -> Result<Vec<Selector>, Refusal> {
    fields
        .all("match[]")
        .map(|text| parse_selector(text).map_err(|e| Refusal::parameter("match[]", e)))
        .collect()
}

/// The series that `match[]`, `start` and `end` leave, each once, in order.
fn chosen<'a>(served: &'a Served, fields: &Fields) -> Result<Vec<&'a Known>, Refusal> {
    let selectors = selectors(fields)?;
    let start = time_or(fields, "start", i64::MIN / 1_000_000)?;
    let end = time_or(fields, "end", i64::MAX / 1_000_000)?;
    if end < start {
        return Err(Refusal::parameter(
            "end",
            "end timestamp must not be before start time",
        ));
    }
    let nanos = |ms: i64| Timestamp::from_nanos(ms.saturating_mul(1_000_000));
    let range = TimeRange::new(nanos(start), nanos(end.saturating_add(1)));
    let all = served.shelf.all();
    Ok(all
        .iter()
        .filter(|known| {
            selectors.is_empty() || selectors.iter().any(|s| known.matches(&s.matchers))
        })
        .filter(|known| Shelf::is_within(&served.document.snapshot, known, range))
        .collect())
}

/// `/api/v1/series`.
pub(super) fn series(served: &Served, fields: &Fields) -> Done {
    if fields.all("match[]").next().is_none() {
        return Err(Refusal::bad("no match[] parameter provided"));
    }
    let limit = limit(fields)?;
    let mut found = chosen(served, fields)?;
    let mut warnings = served.warnings.clone();
    cut(&mut found, limit, &mut warnings);
    let mut data = String::from("[");
    for (i, known) in found.iter().enumerate() {
        data.push_str(if i > 0 { "," } else { "" });
        labels(&mut data, &known.labels);
    }
    data.push(']');
    Ok(success(data.as_bytes(), &warnings, &[]))
}

fn names(served: &Served, fields: &Fields, found: BTreeSet<&str>) -> Done {
    let limit = limit(fields)?;
    let mut found: Vec<&str> = found.into_iter().collect();
    let mut warnings = served.warnings.clone();
    cut(&mut found, limit, &mut warnings);
    let data = Json::from(found).to_string();
    Ok(success(data.as_bytes(), &warnings, &[]))
}

/// `/api/v1/labels`.
pub(super) fn label_names(served: &Served, fields: &Fields) -> Done {
    let found = chosen(served, fields)?
        .into_iter()
        .flat_map(|known| known.labels.iter().map(|(name, _)| name.as_ref()))
        .collect();
    names(served, fields, found)
}

/// `/api/v1/label/NAME/values`.
pub(super) fn label_values(served: &Served, name: &str, fields: &Fields) -> Done {
    let is_recorded = served
        .shelf
        .all()
        .iter()
        .any(|known| !known.label(name).is_empty());
    let is_name = name
        .bytes()
        .enumerate()
        .all(|(i, b)| b == b'_' || b.is_ascii_alphabetic() || (i > 0 && b.is_ascii_digit()));
    if name.is_empty() || !(is_name || is_recorded) {
        return Err(Refusal::bad(format!("invalid label name: {name:?}")));
    }
    let found = chosen(served, fields)?
        .into_iter()
        .map(|known| known.label(name))
        .filter(|value| !value.is_empty())
        .collect();
    names(served, fields, found)
}

/// `/api/v1/query_exemplars`: those of every selector in the query.
pub(super) fn exemplars(served: &Served, fields: &Fields) -> Done {
    let start = time(fields, "start")?;
    let end = time(fields, "end")?;
    if end < start {
        return Err(Refusal::parameter(
            "end",
            "end timestamp must not be before start time",
        ));
    }
    let expr = expression(fields)?;
    let selectors = expr.selectors();
    let mut data = String::from("[");
    for known in served.shelf.all() {
        if !selectors.iter().any(|s| known.matches(&s.matchers)) {
            continue;
        }
        let found = served.document.snapshot.series.get(known.series);
        let found: Vec<_> = found
            .into_iter()
            .flat_map(|s| &s.exemplars)
            .filter(|e| (start..=end).contains(&e.t.millis()))
            .collect();
        if found.is_empty() {
            continue;
        }
        data.push_str(if data.len() > 1 { "," } else { "" });
        data.push_str("{\"seriesLabels\":");
        labels(&mut data, &known.labels);
        data.push_str(",\"exemplars\":[");
        for (i, exemplar) in found.iter().enumerate() {
            data.push_str(if i > 0 { "," } else { "" });
            add(
                &mut data,
                format_args!(
                    "{{\"labels\":{},\"value\":\"{}\",\"timestamp\":",
                    exemplar.labels.to_json(),
                    float(exemplar.value)
                ),
            );
            seconds(&mut data, exemplar.t.millis());
            data.push('}');
        }
        data.push_str("]}");
    }
    data.push(']');
    Ok(success(data.as_bytes(), &served.warnings, &[]))
}
