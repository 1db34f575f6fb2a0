//! Answers of `GetServiceGraph` and `GetTraceGraph`: who called whom, with histograms of both sides.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::document::Names;
use super::json::{Fault, Json, Kind};
use super::summaries::time;
use crate::base::time::Timestamp;
use crate::model::input::InputIx;
use crate::model::span::CallEdge;

/// The name of whoever called from outside: X-Ray gives that node the name of the service that it called.
const CLIENT: &str = "client";

/// (milliseconds, count), ascending.
type Histogram = Vec<(f64, u64)>;

/// One service of the graph.
#[derive(Debug, Default)]
struct Node {
    reference: Option<i64>,
    name: Option<Arc<str>>,
    histogram: Histogram,
    edges: Vec<Edge>,
}

/// One call of a service, by the number of the callee.
#[derive(Debug, Default)]
struct Edge {
    reference: Option<i64>,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    total: u64,
    faults: u64,
    errors: u64,
    histogram: Histogram,
}

/// Reads the array `Services`. The second number counts edges whose callee is not in the graph.
pub(super) fn services(
    json: &mut Json<'_>,
    names: &mut Names,
) -> Result<(Vec<CallEdge>, u64), Fault> {
    let mut nodes = Vec::new();
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        if json.kind()? == Kind::Object {
            nodes.push(node(json, names)?);
        } else {
            json.pass()?;
        }
    }
    let by_reference: BTreeMap<i64, (&Arc<str>, &Histogram)> = nodes
        .iter()
        .filter_map(|n| Some((n.reference?, (n.name.as_ref()?, &n.histogram))))
        .collect();
    let mut edges = Vec::new();
    let mut dangling = 0;
    for (node, edge) in nodes
        .iter()
        .flat_map(|n| n.edges.iter().map(move |e| (n, e)))
    {
        let callee = edge.reference.and_then(|r| by_reference.get(&r));
        let (Some(caller), Some((callee, histogram))) = (&node.name, callee) else {
            dangling += 1;
            continue;
        };
        edges.push(CallEdge {
            input: InputIx::default(),
            caller: Arc::clone(caller),
            callee: Arc::clone(callee),
            start: edge.start,
            end: edge.end,
            total: edge.total,
            faults: edge.faults,
            errors: edge.errors,
            caller_histogram: edge.histogram.clone(),
            callee_histogram: (*histogram).clone(),
        });
    }
    Ok((edges, dangling))
}

fn node(json: &mut Json<'_>, names: &mut Names) -> Result<Node, Fault> {
    let mut node = Node::default();
    let mut is_client = false;
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key.as_ref() {
            "ReferenceId" => node.reference = json.number()?.map(|n| n as i64),
            "Name" => {
                node.name = json
                    .text()?
                    .filter(|n| !n.is_empty())
                    .map(|n| names.get(&n));
            }
            "Type" => is_client = json.text()?.is_some_and(|t| t == CLIENT),
            "ResponseTimeHistogram" => node.histogram = histogram(json)?,
            "Edges" if json.kind()? == Kind::Array => {
                json.open_array()?;
                let mut first = true;
                while json.element(&mut first)? {
                    if json.kind()? == Kind::Object {
                        node.edges.push(edge(json)?);
                    } else {
                        json.pass()?;
                    }
                }
            }
            _ => {
                json.pass()?;
            }
        }
    }
    if is_client {
        node.name = Some(names.get(CLIENT));
    }
    Ok(node)
}

fn edge(json: &mut Json<'_>) -> Result<Edge, Fault> {
    let mut edge = Edge::default();
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        match key.as_ref() {
            "ReferenceId" => edge.reference = json.number()?.map(|n| n as i64),
            "StartTime" => edge.start = time(json)?,
            "EndTime" => edge.end = time(json)?,
            "ResponseTimeHistogram" => edge.histogram = histogram(json)?,
            "SummaryStatistics" if json.kind()? == Kind::Object => {
                json.open_object()?;
                let mut first = true;
                while let Some(key) = json.key(&mut first)? {
                    match key.as_ref() {
                        "TotalCount" => edge.total = count(json)?,
                        "FaultStatistics" => edge.faults = total(json)?,
                        "ErrorStatistics" => edge.errors = total(json)?,
                        _ => {
                            json.pass()?;
                        }
                    }
                }
            }
            _ => {
                json.pass()?;
            }
        }
    }
    Ok(edge)
}

fn count(json: &mut Json<'_>) -> Result<u64, Fault> {
    Ok(json.number()?.filter(|n| *n >= 0.0).unwrap_or(0.0) as u64)
}

/// `TotalCount` of a statistics object.
fn total(json: &mut Json<'_>) -> Result<u64, Fault> {
    if json.kind()? != Kind::Object {
        return json.pass().map(|()| 0);
    }
    let mut total = 0;
    json.open_object()?;
    let mut first = true;
    while let Some(key) = json.key(&mut first)? {
        if key == "TotalCount" {
            total = count(json)?;
        } else {
            json.pass()?;
        }
    }
    Ok(total)
}

/// `[{Value seconds, Count}]`, unordered and uneven, as (milliseconds, count), ascending; equal values joined.
fn histogram(json: &mut Json<'_>) -> Result<Histogram, Fault> {
    let mut entries: Histogram = Vec::new();
    if json.kind()? != Kind::Array {
        json.pass()?;
        return Ok(entries);
    }
    json.open_array()?;
    let mut first = true;
    while json.element(&mut first)? {
        if json.kind()? != Kind::Object {
            json.pass()?;
            continue;
        }
        let (mut value, mut number) = (None, 0);
        json.open_object()?;
        let mut first = true;
        while let Some(key) = json.key(&mut first)? {
            match key.as_ref() {
                "Value" => value = json.number()?.filter(|v| *v >= 0.0),
                "Count" => number = count(json)?,
                _ => {
                    json.pass()?;
                }
            }
        }
        if let Some(seconds) = value.filter(|_| number > 0) {
            entries.push(((seconds * 1e9).round() / 1e6, number));
        }
    }
    entries.sort_by(|a, b| a.0.total_cmp(&b.0));
    entries.dedup_by(|next, kept| {
        let is_same = next.0.total_cmp(&kept.0).is_eq();
        if is_same {
            kept.1 = kept.1.saturating_add(next.1);
        }
        is_same
    });
    Ok(entries)
}
