//! Rows of `GetTraceSummaries`: traces without their spans.

use std::sync::Arc;

use super::document::Names;
use super::json::{Fault, Json, Kind};
use super::timing::{annotation_connect_ms, epoch_nanos};
use crate::base::time::Timestamp;
use crate::model::input::InputIx;
use crate::model::span::{SpanStatus, TraceSummary};

/// An epoch number, or RFC 3339 as the AWS command line writes it; `None` for anything else.
pub(super) fn time(json: &mut Json<'_>) -> Result<Option<Timestamp>, Fault> {
    Ok(json.digits()?.and_then(|text| {
        epoch_nanos(&text)
            .map(|(nanos, _)| Timestamp::from_nanos(nanos))
            .or_else(|| Timestamp::parse_rfc3339(&text))
    }))
}

/// The time coded in a trace id (`1-` and eight hex digits of epoch seconds).
fn time_of_id(id: &str) -> Option<Timestamp> {
    let hex = id.strip_prefix("1-")?.get(..8)?;
    let secs = i64::from_str_radix(hex, 16).ok()?;
    Timestamp::from_millis(secs * 1_000)
}

/// One row; `None` when it has no id or no time.
pub(super) fn row(json: &mut Json<'_>, names: &mut Names) -> Result<Option<TraceSummary>, Fault> {
    let mut row = TraceSummary {
        input: InputIx::default(),
        trace_id: names.get(""),
        start: Timestamp::MIN,
        response_ms: None,
        duration_ms: None,
        status: SpanStatus::Unset,
        entry: names.get(""),
        services: Vec::new(),
        http_method: names.get(""),
        http_url: names.get(""),
        http_status: None,
        connect_ms: None,
        connect_service: None,
        is_partial: false,
    };
    let (mut start, mut has_fault, mut has_error, mut has_throttle) = (None, None, None, None);
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key.as_ref() {
            "Id" => row.trace_id = names.get(&json.text()?.unwrap_or_default()),
            "StartTime" => start = time(json)?,
            "Duration" => row.duration_ms = millis(json)?,
            "ResponseTime" => row.response_ms = millis(json)?,
            "HasFault" => has_fault = json.truth()?,
            "HasError" => has_error = json.truth()?,
            "HasThrottle" => has_throttle = json.truth()?,
            // moto misspells it
            "IsPartial" | "IsParital" => row.is_partial = json.truth()? == Some(true),
            "Http" => http(json, &mut row, names)?,
            "Annotations" => annotations(json, &mut row, names)?,
            "ServiceIds" => services(json, &mut row, names)?,
            "EntryPoint" => {
                if let Some((name, _)) = service_id(json, names)? {
                    row.entry = name;
                }
            }
            _ => {
                json.pass()?;
            }
        }
    }
    row.status = match (has_fault, has_error, has_throttle) {
        (Some(true), ..) => SpanStatus::Fault,
        // `HasThrottle` speaks of any segment; only with an error at the root is it the root's.
        (_, Some(true), Some(true)) => SpanStatus::Throttle,
        (_, Some(true), _) => SpanStatus::Error,
        (None, None, _) => SpanStatus::Unset,
        _ => SpanStatus::Ok,
    };
    if row.entry.is_empty()
        && let Some(name) = row.services.first()
    {
        row.entry = Arc::clone(name);
    }
    Ok(start
        .or_else(|| time_of_id(&row.trace_id))
        .filter(|_| !row.trace_id.is_empty())
        .map(|start| TraceSummary { start, ..row }))
}

fn millis(json: &mut Json<'_>) -> Result<Option<f64>, Fault> {
    // Rounded to the nanosecond, so that 0.29 s is 290 ms and not 290.00000000000006.
    Ok(json
        .number()?
        .filter(|s| *s >= 0.0)
        .map(|s| (s * 1e9).round() / 1e6))
}

fn http(json: &mut Json<'_>, row: &mut TraceSummary, names: &mut Names) -> Result<(), Fault> {
    if json.kind()? != Kind::Object {
        return json.pass();
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key.as_ref() {
            "HttpURL" => row.http_url = names.get(&json.text()?.unwrap_or_default()),
            "HttpMethod" => row.http_method = names.get(&json.text()?.unwrap_or_default()),
            "HttpStatus" => {
                row.http_status = json
                    .number()?
                    .filter(|s| (100.0..1000.0).contains(s))
                    .map(|s| s as u16);
            }
            _ => {
                json.pass()?;
            }
        }
    }
    Ok(())
}

/// `{key: [{AnnotationValue: {NumberValue | StringValue}, ServiceIds: [{Name}]}]}`: the largest connect time counts.
fn annotations(
    json: &mut Json<'_>,
    row: &mut TraceSummary,
    names: &mut Names,
) -> Result<(), Fault> {
    if json.kind()? != Kind::Object {
        return json.pass();
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        if json.kind()? != Kind::Array {
            json.pass()?;
            continue;
        }
        json.open_array()?;
        let mut first = true;
        while json.element(&mut first)? {
            let (value, service) = annotation(json, names)?;
            let connect_ms = value.and_then(|text| annotation_connect_ms(&key, &text));
            if let Some(ms) = connect_ms.filter(|ms| row.connect_ms.is_none_or(|known| *ms > known))
            {
                row.connect_ms = Some((ms * 1e6).round() / 1e6);
                row.connect_service = service;
            }
        }
    }
    Ok(())
}

/// The value of one annotation as text, and the service that set it.
fn annotation(
    json: &mut Json<'_>,
    names: &mut Names,
) -> Result<(Option<String>, Option<Arc<str>>), Fault> {
    let (mut value, mut service) = (None, None);
    if json.kind()? != Kind::Object {
        json.pass()?;
        return Ok((value, service));
    }
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        if key == "AnnotationValue" && json.kind()? == Kind::Object {
            json.open_object()?;
            let mut first = true;
            while let Some(key) = json.key(&mut first)? {
                if matches!(key.as_ref(), "NumberValue" | "StringValue") {
                    value = json.digits()?.map(|d| d.into_owned()).or(value);
                } else {
                    json.pass()?;
                }
            }
        } else if key == "ServiceIds" && json.kind()? == Kind::Array {
            json.open_array()?;
            let mut first = true;
            while json.element(&mut first)? {
                service = service.or(service_id(json, names)?.map(|(name, _)| name));
            }
        } else {
            json.pass()?;
        }
    }
    Ok((value, service))
}

fn services(json: &mut Json<'_>, row: &mut TraceSummary, names: &mut Names) -> Result<(), Fault> {
    if json.kind()? != Kind::Array {
        return json.pass();
    }
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        // A node of type `client` stands for whoever called the first service, under that service's name.
        if let Some((name, is_client)) = service_id(json, names)?
            && !is_client
            && !row.services.contains(&name)
        {
            row.services.push(name);
        }
    }
    Ok(())
}

/// Name of a `ServiceId` object, and whether it stands for the client.
fn service_id(json: &mut Json<'_>, names: &mut Names) -> Result<Option<(Arc<str>, bool)>, Fault> {
    if json.kind()? != Kind::Object {
        json.pass()?;
        return Ok(None);
    }
    let (mut name, mut is_client) = (None, false);
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key.as_ref() {
            "Name" => {
                name = json
                    .text()?
                    .filter(|n| !n.is_empty())
                    .map(|n| names.get(&n));
            }
            "Type" => is_client = json.text()?.is_some_and(|t| t == "client"),
            _ => {
                json.pass()?;
            }
        }
    }
    Ok(name.map(|name| (name, is_client)))
}
