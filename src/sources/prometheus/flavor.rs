//! Which program answers, and what it wants to be asked differently (`prometheus.md` §1.5).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The programs that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Flavor {
    /// Prometheus itself, and whatever behaves like it.
    #[default]
    Prometheus,
    /// Thanos: its deduplication rewrites samples, and its answers may be partial.
    Thanos,
    /// Mimir, Cortex, Grafana Cloud.
    Mimir,
    /// `VictoriaMetrics`: raw samples by export, times shifted unless told not to.
    VictoriaMetrics,
    /// Amazon Managed Prometheus: no targets, no exemplars, no status.
    Amp,
}

impl Flavor {
    /// What the signing and the answer to `/api/v1/status/buildinfo` say. Thanos cannot be told from Prometheus by it; it is
    /// named in the settings.
    pub(super) fn of(is_signed: bool, buildinfo: Option<&Value>) -> Self {
        if is_signed {
            return Self::Amp;
        }
        let Some(data) = buildinfo.and_then(|v| v.get("data")) else {
            return Self::Prometheus;
        };
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("application").contains("Mimir") {
            return Self::Mimir;
        }
        // VictoriaMetrics says nothing of itself but, since 1.76, the version of Prometheus that it imitates.
        if text("goVersion").is_empty() && text("revision").is_empty() {
            return Self::VictoriaMetrics;
        }
        Self::Prometheus
    }

    /// Parameters for every query.
    pub(super) const fn query_fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // dedup=false: penalty deduplication makes gaps of its own.
            Self::Thanos => &[("dedup", "false"), ("partial_response", "true")],
            // nocache: else start and end are shifted to multiples of the step; the newest 30 s are hidden by default.
            Self::VictoriaMetrics => &[("nocache", "1"), ("latency_offset", "1ms")],
            Self::Prometheus | Self::Mimir | Self::Amp => &[],
        }
    }

    /// Whether `/targets` and `/status` are worth asking.
    pub(super) const fn has_status(self) -> bool {
        !matches!(self, Self::Amp | Self::Mimir)
    }

    /// Whether exemplars are worth asking.
    pub(super) const fn has_exemplars(self) -> bool {
        !matches!(self, Self::Amp | Self::VictoriaMetrics)
    }

    /// Its name for people.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Prometheus => "Prometheus",
            Self::Thanos => "Thanos",
            Self::Mimir => "Mimir or Cortex",
            Self::VictoriaMetrics => "VictoriaMetrics",
            Self::Amp => "Amazon Managed Prometheus",
        }
    }
}
