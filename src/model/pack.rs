//! Query packs: what the metrics of a known stack mean (`assets/packs/*.toml`).
//!
//! A pack gives each metric a role, a unit and, where its labels mislead, the labels that name somebody else. Detectors
//! ask for roles, never for metric names, so a new exporter is a new file here.

use serde::Deserialize;

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    Memory,
    MemoryLimit,
    OpenFds,
    MaxFds,
    Goroutines,
    Threads,
    Connections,
    ConnectionLimit,
    PoolUsed,
    PoolLimit,
    Cpu,
    ProcessStart,
    RequestCount,
    ErrorCount,
    RequestDuration,
    ConnectDuration,
    SynRetransmits,
    ConntrackInsertFailed,
    ConntrackDrop,
    ConntrackEntries,
    ConntrackLimit,
    ListenDrops,
    TcpRetransmits,
    TcpActiveOpens,
    Queue,
    BuildInfo,
    Lock,
    LogSuppressed,
}

/// One metric of a pack.
#[derive(Debug, Clone, Deserialize)]
pub struct PackMetric {
    /// The exact name, or a prefix that ends in `*`.
    pub name: String,
    /// What it measures.
    pub role: Role,
    /// Its unit, when its name does not say.
    #[serde(default)]
    pub unit: String,
    /// It is exported as a gauge, though it only grows (`logs.md` §3.4).
    #[serde(default)]
    pub is_counter: bool,
    /// Labels that name somebody else than the one who exports it.
    #[serde(default)]
    pub peers: Vec<String>,
    /// Only series with these label values (`memtype = "resident"`).
    #[serde(default)]
    pub only: std::collections::BTreeMap<String, String>,
}

/// One pack.
#[derive(Debug, Clone, Deserialize)]
pub struct Pack {
    /// What stack it is for.
    pub title: String,
    /// Its metrics.
    #[serde(default)]
    pub metric: Vec<PackMetric>,
}

/// All packs, in order of their files.
#[derive(Debug, Clone, Default)]
pub struct Packs(Vec<Pack>);

impl Packs {
    /// Those that come with the program. A compliance test reads each, so a broken one cannot be shipped.
    pub fn builtin() -> Self {
        Self(
            BUILTIN
                .iter()
                .filter_map(|(_, text)| toml::from_str(text).ok())
                .collect(),
        )
    }

    /// What is known of a metric of that name and those labels.
    pub fn find(&self, metric: &str, labels: &crate::model::labels::Labels) -> Option<&PackMetric> {
        self.0.iter().flat_map(|p| &p.metric).find(|m| {
            let is_name = m
                .name
                .strip_suffix('*')
                .map_or(m.name == metric, |prefix| metric.starts_with(prefix));
            is_name && m.only.iter().all(|(k, v)| labels.get(k) == Some(v))
        })
    }

    /// All packs.
    pub fn iter(&self) -> impl Iterator<Item = &Pack> {
        self.0.iter()
    }
}

/// File name and text of each pack that comes with the program.
pub const BUILTIN: &[(&str, &str)] = &[
    (
        "go-runtime.toml",
        include_str!("../../assets/packs/go-runtime.toml"),
    ),
    (
        "ingress-nginx.toml",
        include_str!("../../assets/packs/ingress-nginx.toml"),
    ),
    ("jvm.toml", include_str!("../../assets/packs/jvm.toml")),
    ("node.toml", include_str!("../../assets/packs/node.toml")),
    (
        "process-exporter.toml",
        include_str!("../../assets/packs/process-exporter.toml"),
    ),
    ("web.toml", include_str!("../../assets/packs/web.toml")),
];
