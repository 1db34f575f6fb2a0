//! Alertmanager (also that of Mimir, and Grafana's own): which alerts fire, and who silenced what.
//!
//! API v2 as in `api/v2/openapi.yaml` of prometheus/alertmanager and `logs.md` §6. It knows this moment only: alerts that are
//! over are not in its answer. The status is asked by `doctor` and never kept, since it holds the configuration.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::look::{Look, Questions};
use crate::sources::queue::Queue;
use crate::sources::request::query;
use crate::sources::said::{self, Refusal};
use crate::sources::{
    Checkup, Kind, Outcome, Progress, Pull, Request, SettingsError, SourceSettings, Step, Ticket,
};

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Alertmanager;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Tenant, sent as `X-Scope-OrgID` (Mimir, Cortex).
    tenant: Option<String>,
    /// Matchers that an alert must meet, each like `severity="page"` [default: every alert].
    filter: Vec<String>,
    /// A regular expression that the receiver of an alert must match.
    receiver: Option<String>,
    /// Whether silences are asked for, too [default: true].
    silences: Option<bool>,
}

impl Own {
    fn checked(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Self = source.own()?;
        if source.url.is_none() {
            let expected = "the base address of Alertmanager, without `/api/v2`";
            return Err(source.error("url", "nothing", expected));
        }
        if let Some(bad) = own.filter.iter().find(|m| !m.contains(['=', '~'])) {
            let expected = "matchers like `severity=\"page\"`";
            return Err(source.error("filter", format!("`{bad}`"), expected));
        }
        Ok(own)
    }

    fn dress(&self, request: Request) -> Request {
        match &self.tenant {
            Some(tenant) => request.with_header("x-scope-orgid", tenant.clone()),
            None => request,
        }
    }

    fn alerts(&self) -> Request {
        let mut fields: Vec<(&str, &str)> = ["active", "silenced", "inhibited", "unprocessed"]
            .map(|state| (state, "true"))
            .to_vec();
        fields.extend(self.filter.iter().map(|m| ("filter", m.as_str())));
        fields.extend(self.receiver.as_deref().map(|r| ("receiver", r)));
        self.dress(Request::get(format!("/api/v2/alerts?{}", query(&fields))))
    }

    fn silences(&self) -> Option<Request> {
        let silences = || self.dress(Request::get("/api/v2/silences"));
        self.silences.unwrap_or(true).then(silences)
    }
}

impl Kind for Alertmanager {
    fn id(&self) -> &'static str {
        "alertmanager"
    }

    fn title(&self) -> &'static str {
        "Alertmanager"
    }

    fn example(&self) -> &'static str {
        r#"[sources.alerts]
kind = "alertmanager"
url = "https://alertmanager.example:9093"   # Mimir: …/alertmanager; Grafana's own: …/api/alertmanager/grafana
# tenant = "team-a"                # X-Scope-OrgID (Mimir, Cortex)
# filter = ['severity="page"']     # matchers; every alert without them
# receiver = "pager.*"             # a regular expression
# silences = true                  # whether silences are asked for, too
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError> {
        let own = Own::checked(source)?;
        let mut queue = Queue::default();
        queue.ask("alerts", own.alerts());
        Ok(Box::new(AlertsPull {
            silences: own.silences(),
            queue,
            window,
            log: Reporter::new(),
        }))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        let own = Own::checked(source)?;
        let mut reads = vec![("alerts".to_owned(), own.alerts())];
        reads.extend(own.silences().map(|ask| ("silences".to_owned(), ask)));
        Ok(Box::new(Look::new(Questions {
            program: "Alertmanager",
            version: (
                own.dress(Request::get("/api/v2/status")),
                "/versionInfo/version",
            ),
            reads,
            list: "",
            forbidden: "it knows us and says no: ask for the right to read alerts; a tenant may be needed, too",
            absent: "check the path of `url`: Mimir and Cortex want `/alertmanager`, Grafana's own `/api/alertmanager/grafana`; before 0.16 there is no API v2",
            limits: "it knows this moment only: what is over is not in its answer",
        })))
    }
}

/// One pull.
#[derive(Debug)]
struct AlertsPull {
    queue: Queue<&'static str>,
    /// Asked once alerts were answered: whoever refuses one refuses both.
    silences: Option<Request>,
    window: TimeRange,
    log: Reporter,
}

impl AlertsPull {
    fn take(&mut self, what: &'static str, answer: Result<Vec<IgnoredAny>, Refusal>) {
        match answer {
            Ok(_) if what == "alerts" => {
                let [from, to] = [self.window.start, self.window.end].map(Timestamp::to_rfc3339);
                self.log.note(
                    "only_now",
                    format!("Alertmanager knows only what fires when it is asked: of {from} to {to} it does not tell what was over by then; the series ALERTS of Prometheus do"),
                    None,
                );
                if let Some(ask) = self.silences.take() {
                    self.queue.ask("silences", ask);
                }
            }
            Ok(_) => {}
            Err(refusal) if refusal.status == 0 => self.log.lost("refused", refusal.text, None),
            Err(refusal) => self.log.lost(
                "refused",
                format!("{what} could not be had: {}", refusal.text),
                None,
            ),
        }
    }
}

impl Pull for AlertsPull {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        if let Some(what) = self.queue.answered(ticket) {
            self.take(what, said::json(outcome, "a list of Alertmanager's API v2"));
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.log).into_warnings()
    }
}
