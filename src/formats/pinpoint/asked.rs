//! What the request says of its answer: many answers of Pinpoint do not name the application or agent that they are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::base::percent::decode;
use crate::base::time::{TimeRange, Timestamp};
use crate::formats::Hints;

/// Last parts of the paths whose answers may be a bare `[]` or say nothing of what they are.
const ENDPOINTS: &[&str] = &[
    "applications",
    "chart",
    "chartList",
    "errorList",
    "getAgentEvents",
    "getAgentList",
    "overview",
    "search-application",
    "search-all",
    "statistics",
    "summary",
    "top50",
    "groupBy",
    "transactionmetadata",
];

/// The request, taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    fields: BTreeMap<String, String>,
    path: String,
}

impl Asked {
    pub(super) fn of(hints: &Hints<'_>) -> Self {
        let Some(request) = hints.request else {
            return Self::default();
        };
        let (path, query) = request
            .path
            .split_once('?')
            .unwrap_or((request.path.as_str(), ""));
        let body = match &request.body {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        let mut fields = BTreeMap::new();
        for pair in query.split('&').chain(body.split('&')) {
            if let Some((name, value)) = pair.split_once('=') {
                fields.entry(decode(name)).or_insert_with(|| decode(value));
            }
        }
        if let Some(Value::Object(body)) = &request.body {
            for (name, value) in body {
                fields
                    .entry(name.clone())
                    .or_insert_with(|| super::value::plain(value));
            }
        }
        Self {
            fields,
            path: path.trim_end_matches(".pinpoint").to_owned(),
        }
    }

    fn field(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.fields.get(*name))
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The application.
    pub(super) fn application(&self) -> Option<&str> {
        self.field(&[
            "application",
            "applicationName",
            "ApplicationName",
            "applicationId",
        ])
    }

    /// The agent.
    pub(super) fn agent(&self) -> Option<&str> {
        self.field(&["agentId"])
    }

    /// The trace.
    pub(super) fn trace(&self) -> Option<&str> {
        self.field(&["traceId"])
    }

    /// Which chart: `metricDefinitionId` of 3.x, the type in the path of 2.x.
    pub(super) fn chart(&self) -> Option<&str> {
        self.field(&["metricDefinitionId"]).or_else(|| {
            let (before, _) = self.path.rsplit_once('/')?;
            let (_, kind) = before.rsplit_once('/')?;
            (before.contains("AgentStat/") || before.contains("ApplicationStat/")).then_some(kind)
        })
    }

    /// The window that was asked for.
    pub(super) fn window(&self) -> Option<TimeRange> {
        let end = |names: &[&str]| {
            let ms: i64 = self.field(names)?.parse().ok()?;
            Timestamp::from_millis(ms)
        };
        Some(TimeRange::new(end(&["from", "x1"])?, end(&["to", "x2"])?))
    }

    /// Labels of what the answer is about.
    pub(super) fn labels(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let mut labels = Vec::new();
        for (name, value) in [
            ("application", self.application()),
            ("agentId", self.agent()),
        ] {
            if let Some(value) = value {
                labels.push((Arc::from(name), Arc::from(value)));
            }
        }
        labels
    }

    /// Whether the request was one of Pinpoint, by its path alone.
    pub(super) fn is_of_pinpoint(hints: &Hints<'_>) -> bool {
        hints.request.is_some_and(|request| {
            let path = request.path.split('?').next().unwrap_or_default();
            let last = path.rsplit('/').next().unwrap_or_default();
            path.ends_with(".pinpoint")
                || (path.starts_with("/api/")
                    && !path.starts_with("/api/v")
                    && ENDPOINTS.contains(&last))
        })
    }
}
