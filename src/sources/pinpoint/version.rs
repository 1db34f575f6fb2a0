//! Versions of Pinpoint, and what each is asked (`pinpoint.md` §0.1). Every path that can be asked stands here.

use serde_json::Value;

use crate::sources::request::query;

/// A family of one web API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    /// 2.2 to 2.5, by its minor number.
    Two(u32),
    /// 3.0.
    Three0,
    /// 3.1 and later.
    Three1,
}

impl Version {
    /// From `configuration`'s `version`; `None` when it is of neither family.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut parts = text.split(['.', '-']);
        let major: u32 = parts.next()?.trim().parse().ok()?;
        let minor: u32 = parts.next().and_then(|m| m.parse().ok()).unwrap_or(0);
        match (major, minor) {
            (2, minor) => Some(Self::Two(minor)),
            (3, 0) => Some(Self::Three0),
            (3.., _) => Some(Self::Three1),
            _ => None,
        }
    }

    /// The address of an endpoint.
    pub(super) fn path(self, endpoint: Endpoint, fields: &[(&str, &str)]) -> String {
        let name = endpoint.name(self);
        let mut path = match self {
            Self::Two(_) => format!("/{name}.pinpoint"),
            Self::Three0 | Self::Three1 => format!("/api/{name}"),
        };
        if !fields.is_empty() {
            path.push('?');
            path.push_str(&query(fields));
        }
        path
    }

    /// Days that an inspector chart may span (§0.5).
    pub(super) const fn inspector_days(self) -> Option<i64> {
        match self {
            Self::Two(_) => None,
            Self::Three0 => Some(14),
            Self::Three1 => Some(42),
        }
    }

    /// What an agent's charts are called: those of the inspector, or of `getAgentStat`.
    pub(super) const fn charts(self, has_inspector: bool) -> &'static [&'static str] {
        if self.uses_inspector(has_inspector) {
            &[
                "heap",
                "cpu",
                "transaction",
                "activeTrace",
                "responseTime",
                "totalThreadCount",
                "fileDescriptor",
            ]
        } else {
            &[
                "jvmGc",
                "cpuLoad",
                "transaction",
                "activeTrace",
                "responseTime",
                "totalThreadCount",
                "fileDescriptor",
            ]
        }
    }

    /// Whether charts come from the inspector. 3.0 has both; its inspector needs Pinot, which its configuration tells.
    pub(super) const fn uses_inspector(self, has_inspector: bool) -> bool {
        match self {
            Self::Two(_) => false,
            Self::Three0 => has_inspector,
            Self::Three1 => true,
        }
    }
}

/// Everything that is ever asked. There is no way to name another path, so nothing destructive can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Configuration,
    ServerTime,
    Applications,
    Scatter,
    Rows,
    Tree,
    Map,
    Histogram,
    Apdex,
    Agents,
    AgentTimeline,
    AgentEvents,
    /// One of [`Version::charts`].
    AgentChart(&'static str),
    AgentPools,
    InspectorChart,
    InspectorPools,
    Errors,
}

impl Endpoint {
    fn name(self, version: Version) -> String {
        let is_31 = version == Version::Three1;
        let name = match self {
            Self::Configuration => "configuration",
            Self::ServerTime => "serverTime",
            Self::Applications => "applications",
            Self::Scatter => "getScatterData",
            Self::Rows => "transactionmetadata",
            Self::Tree if is_31 => "transaction/trace",
            Self::Tree => "transactionInfo",
            Self::Map if is_31 => "servermap/serverMap",
            Self::Map => "getServerMapDataV2",
            Self::Histogram => "getResponseTimeHistogramDataV2",
            Self::Apdex => "getApdexScore",
            Self::Agents if is_31 => "agents/overview",
            Self::Agents if version < Version::Two(5) => "getAgentList",
            Self::Agents => "agents/search-application",
            Self::AgentTimeline => "getAgentStatusTimeline",
            Self::AgentEvents => "getAgentEvents",
            Self::AgentChart(kind) => return format!("getAgentStat/{kind}/chart"),
            Self::AgentPools => "getAgentStat/dataSource/chartList",
            Self::InspectorChart => "inspector/agentStat/chart",
            Self::InspectorPools => "inspector/agentStat/chartList",
            Self::Errors => "errors/errorList",
        };
        name.to_owned()
    }
}

/// Words in the addresses of GETs that delete or write (§0.1). Never asked: a test holds every address of every pull
/// against them.
#[cfg(test)]
pub(super) const DESTRUCTIVE: &[&str] = &["admin", "remove", "insert", "delete", "update"];

/// What `configuration` says that a pull must know.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Abilities {
    pub(super) has_inspector: bool,
    pub(super) has_errors: bool,
    pub(super) map_days: Option<i64>,
    pub(super) inspector_days: Option<i64>,
}

impl Abilities {
    pub(super) fn of(configuration: &Value) -> Self {
        let flag = |name: &str| configuration.get(name).and_then(Value::as_bool) == Some(true);
        let days = |name: &str| {
            let days = configuration.get(name).and_then(Value::as_i64);
            days.filter(|d| (1..=3660).contains(d))
        };
        Self {
            has_inspector: flag("showInspector"),
            has_errors: flag("showExceptionTrace"),
            map_days: days("periodMax.serverMap"),
            inspector_days: days("periodMax.inspector"),
        }
    }
}
