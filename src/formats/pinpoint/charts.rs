//! Inspector charts: `getAgentStat`, `getApplicationStat` (2.x, 3.0) and `inspector/…` (3.x), into series (`pinpoint.md`
//! §7). A missing sample is −1, or what a scale made of it: it is left out, never zero.
//!
//! Of a slot's values the mean is the series; the smallest and the largest are series of their own (`stat`) where they
//! differ from it. The sum repeats the mean and is not kept.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Reading;
use super::value::{elements, list, measured, members, of, plain, text, whole};

/// What charts of all versions call a thing: (2.x name or 3.x `chart.field`), our name, unit.
const NAMES: &[(&str, &str, &str)] = &[
    ("JVM_MEMORY_HEAP_USED", "pinpoint_heap_used_bytes", "bytes"),
    ("heap.heapUsed", "pinpoint_heap_used_bytes", "bytes"),
    ("JVM_MEMORY_HEAP_MAX", "pinpoint_heap_max_bytes", "bytes"),
    ("heap.heapMax", "pinpoint_heap_max_bytes", "bytes"),
    (
        "JVM_MEMORY_NON_HEAP_USED",
        "pinpoint_nonheap_used_bytes",
        "bytes",
    ),
    (
        "nonHeap.nonHeapUsed",
        "pinpoint_nonheap_used_bytes",
        "bytes",
    ),
    (
        "JVM_MEMORY_NON_HEAP_MAX",
        "pinpoint_nonheap_max_bytes",
        "bytes",
    ),
    ("nonHeap.nonHeapMax", "pinpoint_nonheap_max_bytes", "bytes"),
    ("JVM_GC_OLD_COUNT", "pinpoint_gc_old_count", "collections"),
    ("heap.gcOldCount", "pinpoint_gc_old_count", "collections"),
    (
        "JVM_GC_OLD_TIME",
        "pinpoint_gc_old_milliseconds",
        "milliseconds",
    ),
    (
        "heap.gcOldTime",
        "pinpoint_gc_old_milliseconds",
        "milliseconds",
    ),
    ("CPU_LOAD_JVM", "pinpoint_cpu_process_percent", "percent"),
    ("cpu.jvm", "pinpoint_cpu_process_percent", "percent"),
    ("CPU_LOAD_SYSTEM", "pinpoint_cpu_system_percent", "percent"),
    ("cpu.system", "pinpoint_cpu_system_percent", "percent"),
    ("AVG", "pinpoint_response_avg_milliseconds", "milliseconds"),
    (
        "responseTime.avg",
        "pinpoint_response_avg_milliseconds",
        "milliseconds",
    ),
    ("MAX", "pinpoint_response_max_milliseconds", "milliseconds"),
    (
        "responseTime.max",
        "pinpoint_response_max_milliseconds",
        "milliseconds",
    ),
    (
        "TPS_TOTAL",
        "pinpoint_transactions_per_second",
        "per second",
    ),
    (
        "ACTIVE_TRACE_FAST",
        "pinpoint_active_requests_fast",
        "requests",
    ),
    (
        "activeTrace.fastCount",
        "pinpoint_active_requests_fast",
        "requests",
    ),
    (
        "ACTIVE_TRACE_NORMAL",
        "pinpoint_active_requests_normal",
        "requests",
    ),
    (
        "activeTrace.normalCount",
        "pinpoint_active_requests_normal",
        "requests",
    ),
    (
        "ACTIVE_TRACE_SLOW",
        "pinpoint_active_requests_slow",
        "requests",
    ),
    (
        "activeTrace.slowCount",
        "pinpoint_active_requests_slow",
        "requests",
    ),
    (
        "ACTIVE_TRACE_VERY_SLOW",
        "pinpoint_active_requests_very_slow",
        "requests",
    ),
    (
        "activeTrace.verySlowCount",
        "pinpoint_active_requests_very_slow",
        "requests",
    ),
    ("TOTAL_THREAD_COUNT", "pinpoint_threads", "threads"),
    (
        "totalThreadCount.totalThreadCount",
        "pinpoint_threads",
        "threads",
    ),
    ("OPEN_FILE_DESCRIPTOR_COUNT", "pinpoint_open_files", "files"),
    (
        "fileDescriptor.openFileDescriptorCount",
        "pinpoint_open_files",
        "files",
    ),
    (
        "ACTIVE_CONNECTION_SIZE",
        "pinpoint_pool_active",
        "connections",
    ),
    (
        "dataSource.activeAvg",
        "pinpoint_pool_active",
        "connections",
    ),
    (
        "dataSource.activeMax",
        "pinpoint_pool_active_max",
        "connections",
    ),
    ("MAX_CONNECTION_SIZE", "pinpoint_pool_limit", "connections"),
    ("dataSource.totalMax", "pinpoint_pool_limit", "connections"),
];

/// Titles of 3.x charts, when the request is not known.
const TITLES: &[(&str, &str)] = &[
    ("heap usage", "heap"),
    ("non heap usage", "nonHeap"),
    ("jvm/system cpu usage", "cpu"),
    ("cpu usage", "cpu"),
    ("response time", "responseTime"),
    ("active thread", "activeTrace"),
    ("transactions per second", "transaction"),
    ("total thread", "totalThreadCount"),
    ("data source", "dataSource"),
];

/// A chart of 2.x: `charts{schema, x, y}`; also with the identity of a data source around it.
pub(super) fn of_2x(reading: &mut Reading<'_, '_>, value: &Value, at: &str) {
    let charts = of(value, "charts");
    let schema = of(charts, "schema");
    let times: Vec<Option<i64>> = list(charts, "x").iter().map(whole).collect();
    let mut own = Vec::new();
    for key in ["id", "serviceType", "databaseName", "jdbcUrl"] {
        if let Some(said) = value.get(key) {
            own.push((key, plain(said)));
        }
    }
    let mut labels: Vec<(&str, &str)> = own.iter().map(|(k, v)| (*k, v.as_str())).collect();
    for (name, points) in members(of(charts, "y")) {
        let columns: Vec<&str> = elements(of(schema, name))
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let points = elements(points);
        let (metric, unit) = named(name);
        let place = format!("{at}.charts.y.{name}");
        let column = |word: &str| {
            let ix = columns.iter().position(|c| *c == word)?;
            let points: Vec<(i64, f64)> = times
                .iter()
                .zip(points)
                .filter_map(|(t, point)| Some(((*t)?, measured(elements(point).get(ix)?)?)))
                .collect();
            Some(points)
        };
        let Some(mean) = column("avg") else {
            if !points.is_empty() {
                let why = "a series whose schema has no `avg`; it is left out";
                reading.log.lost("bad_field", why, place);
            }
            continue;
        };
        if points.len() != times.len() && !points.is_empty() {
            let why = format!(
                "{} points for {} times; the rest is left out",
                points.len(),
                times.len()
            );
            reading.log.lost("uneven_lists", why, place.clone());
        }
        if points.len() > mean.len() {
            say_missing(reading, points.len() - mean.len(), &metric, &place);
        }
        for stat in ["min", "max"] {
            if let Some(other) = column(stat).filter(|other| *other != mean) {
                labels.push(("stat", stat));
                reading.series(&metric, unit, &labels, &other, &place);
                labels.pop();
            }
        }
        reading.series(&metric, unit, &labels, &mean, &place);
    }
    reading.asked_window();
}

/// A chart of 3.x: `timestamp` and `metricValues`, or groups of them; also the charts of errors and of URIs.
pub(super) fn of_3x(reading: &mut Reading<'_, '_>, value: &Value, at: &str) {
    let times: Vec<Option<i64>> = list(value, "timestamp").iter().map(whole).collect();
    let title = text(of(value, "title")).unwrap_or_default();
    let chart = reading.asked.chart().map(str::to_owned).or_else(|| {
        let known = TITLES.iter().find(|(t, _)| title.eq_ignore_ascii_case(t));
        Some(known.map_or_else(|| snake(title), |(_, name)| (*name).to_owned()))
    });
    let chart = chart.unwrap_or_default();
    let place = format!("{at}.metricValues");
    metrics(
        reading,
        &chart,
        &times,
        list(value, "metricValues"),
        &[],
        &place,
    );
    for (ix, group) in list(value, "metricValueGroups").iter().enumerate() {
        let mut own: Vec<(String, String)> = Vec::new();
        for tag in list(group, "tags") {
            own.push((plain(of(tag, "name")), plain(of(tag, "value"))));
        }
        if let Some(name) = text(of(group, "groupName")) {
            let key = if title == "uriStat" { "uri" } else { "group" };
            own.push((key.to_owned(), name.to_owned()));
        }
        let labels: Vec<(&str, &str)> = own.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        let place = format!("{at}.metricValueGroups[{ix}]");
        metrics(
            reading,
            &chart,
            &times,
            list(group, "metricValues"),
            &labels,
            &place,
        );
    }
    reading.asked_window();
}

fn metrics(
    reading: &mut Reading<'_, '_>,
    chart: &str,
    times: &[Option<i64>],
    values: &[Value],
    labels: &[(&str, &str)],
    at: &str,
) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for one in values {
        *seen
            .entry(text(of(one, "fieldName")).unwrap_or_default())
            .or_default() += 1;
    }
    let mut turn: BTreeMap<&str, usize> = BTreeMap::new();
    for one in values {
        let field = text(of(one, "fieldName")).unwrap_or_default();
        let list = if one.get("valueList").is_some() {
            list(one, "valueList")
        } else {
            list(one, "values")
        };
        let points: Vec<(i64, f64)> = times
            .iter()
            .zip(list)
            .filter_map(|(t, v)| Some(((*t)?, measured(v)?)))
            .collect();
        let mut labels = labels.to_vec();
        // Charts of applications give the same field three times: least, mean, most.
        let nth = turn.entry(field).or_default();
        if seen.get(field) == Some(&3) {
            labels.extend(["min", "avg", "max"].get(*nth).map(|stat| ("stat", *stat)));
        }
        *nth += 1;
        let mut tags = Vec::new();
        for tag in self::list(one, "tagList") {
            tags.push((plain(of(tag, "name")), plain(of(tag, "value"))));
        }
        labels.extend(tags.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        let (metric, unit) = match chart {
            "uriStat" | "uri_stat" => {
                labels.push(("bucket", field));
                ("pinpoint_uri_requests".to_owned(), "requests")
            }
            "exceptionTrace" | "exception_trace" => {
                labels.push(("error", field));
                ("pinpoint_errors".to_owned(), "errors")
            }
            _ => {
                let key = format!("{chart}.{field}");
                let known = NAMES.iter().find(|(name, ..)| *name == key);
                known.map_or_else(
                    || {
                        (
                            format!("pinpoint_{}_{}", snake(chart), snake(field)),
                            unit_of(one),
                        )
                    },
                    |(_, ours, unit)| ((*ours).to_owned(), *unit),
                )
            }
        };
        let place = format!("{at}.{field}");
        if list.len() > points.len() {
            say_missing(reading, list.len() - points.len(), &metric, &place);
        }
        reading.series(&metric, unit, &labels, &points, &place);
    }
}

fn unit_of(one: &Value) -> &'static str {
    match of(one, "unit").as_str().unwrap_or_default() {
        "byte" => "bytes",
        "percent" => "percent",
        "time" => "milliseconds",
        _ => "",
    }
}

fn say_missing(reading: &mut Reading<'_, '_>, n: usize, metric: &str, at: &str) {
    reading.log.note(
        "missing_samples",
        format!("{n} slots of {metric} have no value (−1): the agent sent nothing then"),
        at.to_owned(),
    );
}

fn named(name: &str) -> (String, &'static str) {
    NAMES.iter().find(|(known, ..)| *known == name).map_or_else(
        || (format!("pinpoint_{}", name.to_ascii_lowercase()), ""),
        |(_, ours, unit)| ((*ours).to_owned(), *unit),
    )
}

/// `gcOldTime` or `Heap Usage` as `gc_old_time`, `heap_usage`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut was_small = false;
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && was_small {
                out.push('_');
            }
            was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
            was_small = false;
        }
    }
    out.trim_end_matches('_').to_owned()
}
