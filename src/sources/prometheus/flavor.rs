//! Which program answers, by what that was told, and what it wants to be asked differently (`prometheus.md` §1.5).
//!
//! Nobody has to name it. The address tells Amazon Managed Prometheus; the answer to `/api/v1/status/buildinfo` and its
//! headers tell Mimir, Cortex and `VictoriaMetrics`; Thanos answers that question in Prometheus' own form, and is told by
//! `/api/v1/stores`, which only its querier has (Thanos, `pkg/api/query/v1.go`).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::sources::Outcome;
use crate::sources::prometheus::answer::Answer;

/// What a server in front of several tenants says to whom names none (`weaveworks/common`, `user.ErrNoOrgID`).
pub(super) const NO_TENANT: &str = "no org id";

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

/// A program, and what told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The program.
    pub(super) flavor: Flavor,
    /// Its name for people: Cortex and Grafana Cloud are asked as Mimir is, and are not called so.
    pub(super) title: &'static str,
    /// What told it, after "told by".
    pub(super) by: String,
}

impl Found {
    fn of(flavor: Flavor, by: impl Into<String>) -> Self {
        Self {
            flavor,
            title: flavor.title(),
            by: by.into(),
        }
    }

    /// What is known before anything is asked: the settings, the signature, the host.
    pub(super) fn before(named: Option<Flavor>, host: &str, is_signed: bool) -> Option<Self> {
        if let Some(flavor) = named {
            return Some(Self::of(flavor, "`flavor` in the settings"));
        }
        if amp_region(host).is_some() {
            return Some(Self::of(Flavor::Amp, format!("its address, {host}")));
        }
        is_signed.then(|| Self::of(Flavor::Amp, "`region` in the settings"))
    }

    /// What the answer to `buildinfo` tells for certain. `None`: it speaks as Prometheus and Thanos both do.
    pub(super) fn of_build(answer: &Answer, outcome: &Outcome<'_>, host: &str) -> Option<Self> {
        let header = |name: &str| match outcome {
            Outcome::Answered(reply) => reply.header(name),
            Outcome::Failed(_) => None,
        };
        if host.ends_with(".grafana.net") {
            let found = Self::of(Flavor::Mimir, format!("its address, {host}"));
            return Some(Self {
                title: "Grafana Cloud",
                ..found
            });
        }
        if let Answer::Refused { text, .. } = answer
            && text.contains(NO_TENANT)
        {
            let by = format!("its words \"{NO_TENANT}\"");
            return Some(Self {
                title: "Mimir or Cortex",
                ..Self::of(Flavor::Mimir, by)
            });
        }
        let body = match answer {
            Answer::Good { body, .. } => Some(body),
            _ => None,
        };
        let data = body.and_then(|b| b.get("data"));
        let text = |key: &str| {
            data.and_then(|d| d.get(key))
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        // `application` and `features` are Mimir's (`pkg/util/version/info_handler.go`) and Cortex'.
        let application = text("application");
        let title = match application {
            "" => None,
            a if a.contains("Mimir") => Some("Mimir"),
            a if a.contains("Cortex") => Some("Cortex"),
            a if a.contains("Grafana Enterprise Metrics") => Some("Grafana Enterprise Metrics"),
            _ => None,
        };
        if let Some(title) = title {
            let by = format!("`application` of its buildinfo, {application:?}");
            return Some(Self {
                title,
                ..Self::of(Flavor::Mimir, by)
            });
        }
        // Of itself VictoriaMetrics says nothing but, since 1.76, the version of Prometheus that it imitates.
        if header("x-server-hostname").is_some() {
            let by = "the header X-Server-Hostname of its answers";
            return Some(Self::of(Flavor::VictoriaMetrics, by));
        }
        if data.is_some() && text("goVersion").is_empty() && text("revision").is_empty() {
            let by = "its buildinfo, which names no build";
            return Some(Self::of(Flavor::VictoriaMetrics, by));
        }
        None
    }

    /// What the answer to `/api/v1/stores` tells, when `buildinfo` did not; `has_build` says whether that was answered at all.
    pub(super) fn of_stores(answer: &Answer, has_build: bool) -> Self {
        match answer {
            Answer::Good { body, .. } if body.get("data").is_some_and(Value::is_object) => {
                Self::of(Flavor::Thanos, "its list of stores, /api/v1/stores")
            }
            _ if has_build => Self::of(Flavor::Prometheus, "its buildinfo"),
            _ => Self::of(Flavor::Prometheus, "nothing that it says of itself"),
        }
    }
}

/// The region in the host of an Amazon Managed Prometheus workspace: `aps-workspaces.REGION.amazonaws.com`, also behind the
/// name of a VPC endpoint.
pub(super) fn amp_region(host: &str) -> Option<&str> {
    let name = host.split(':').next().unwrap_or(host);
    if !name.contains(".amazonaws.com") {
        return None;
    }
    let mut parts = name.split('.');
    parts.find(|part| part.starts_with("aps-workspaces"))?;
    parts.next().filter(|region| region.contains('-'))
}

impl Flavor {
    /// Parameters for every query.
    pub(super) const fn query_fields(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // dedup=false: penalty deduplication makes gaps of its own. Resolution 0 s: downsampled blocks have no samples.
            Self::Thanos => &[
                ("dedup", "false"),
                ("partial_response", "true"),
                ("max_source_resolution", "0s"),
            ],
            // nocache: else start and end are shifted to multiples of the step; the newest 30 s are hidden by default.
            Self::VictoriaMetrics => &[("nocache", "1"), ("latency_offset", "1ms")],
            Self::Prometheus | Self::Mimir | Self::Amp => &[],
        }
    }

    /// Whether its version is worth asking for.
    pub(super) const fn has_buildinfo(self) -> bool {
        !matches!(self, Self::Amp)
    }

    /// Whether targets are worth asking for.
    pub(super) const fn has_targets(self) -> bool {
        !matches!(self, Self::Amp | Self::Mimir)
    }

    /// What of `/api/v1/status/` is worth asking.
    pub(super) const fn status(self) -> &'static [&'static str] {
        match self {
            Self::Prometheus => &["runtimeinfo", "flags", "config"],
            Self::Thanos => &["runtimeinfo", "flags"],
            Self::VictoriaMetrics => &["config"],
            Self::Mimir | Self::Amp => &[],
        }
    }

    /// Whether exemplars are worth asking.
    pub(super) const fn has_exemplars(self) -> bool {
        !matches!(self, Self::Amp | Self::VictoriaMetrics)
    }

    /// Whether remote read is worth trying: it gives staleness markers, which range selectors leave out.
    pub(super) const fn may_have_remote_read(self) -> bool {
        matches!(self, Self::Prometheus | Self::Mimir)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Reply;
    use crate::sources::prometheus::answer;

    fn found(status: u16, headers: &[(&str, &str)], body: &str) -> Option<(Flavor, &'static str)> {
        let reply = Reply {
            status,
            headers: headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                .collect(),
            body: body.as_bytes().to_vec(),
            is_cut: false,
        };
        let outcome = Outcome::Answered(&reply);
        let answer = answer::read(&outcome);
        Found::of_build(&answer, &outcome, "metrics.example:443").map(|f| (f.flavor, f.title))
    }

    #[test]
    fn each_program_is_told_by_what_it_says() {
        let prometheus = r#"{"status":"success","data":{"version":"2.42.0","revision":"x","goVersion":"go1.19"}}"#;
        assert_eq!(found(200, &[], prometheus), None);
        let mimir = r#"{"status":"success","data":{"application":"Grafana Mimir","version":"2.15.0","revision":"x","branch":"main","goVersion":"go1.23","features":{"ruler_config_api":"true"}}}"#;
        assert_eq!(found(200, &[], mimir), Some((Flavor::Mimir, "Mimir")));
        assert_eq!(
            found(200, &[], &mimir.replace("Grafana Mimir", "Cortex")),
            Some((Flavor::Mimir, "Cortex"))
        );
        assert_eq!(
            found(401, &[], "no org id\n"),
            Some((Flavor::Mimir, "Mimir or Cortex"))
        );
        let old_victoria = r#"{"status":"success","data":{}}"#;
        let new_victoria = r#"{"status":"success","data":{"version":"2.24.0"}}"#;
        let victoria = Some((Flavor::VictoriaMetrics, "VictoriaMetrics"));
        assert_eq!(found(200, &[], old_victoria), victoria);
        assert_eq!(found(200, &[], new_victoria), victoria);
        let host = [("x-server-hostname", "vm-0")];
        assert_eq!(found(200, &host, prometheus), victoria);
        assert_eq!(found(404, &[], "404 page not found"), None);
    }

    #[test]
    fn an_address_of_aws_has_its_region_in_it() {
        let of = amp_region;
        assert_eq!(
            of("aps-workspaces.eu-central-1.amazonaws.com"),
            Some("eu-central-1")
        );
        assert_eq!(
            of("vpce-1-2.aps-workspaces.us-east-1.vpce.amazonaws.com:443"),
            Some("us-east-1")
        );
        assert_eq!(of("aps-workspaces.example.com"), None);
        assert_eq!(of("prometheus.example"), None);
    }
}
