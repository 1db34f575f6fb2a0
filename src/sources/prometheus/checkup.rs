//! The questions of `doctor`.

use serde_json::Value;

use crate::base::reporter::Warning;
use crate::sources::prometheus::Checked;
use crate::sources::prometheus::answer::{self, Answer};
use crate::sources::prometheus::flavor::Flavor;
use crate::sources::queue::Queue;
use crate::sources::request::query;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Request, Step, Ticket, Verdict};

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Build,
    Query,
    Targets,
    Flags,
}

/// One look.
#[derive(Debug)]
pub(super) struct PrometheusCheckup {
    checked: Checked,
    queue: Queue<Purpose>,
    flavor: Flavor,
    version: Option<Verdict>,
    authenticated: Option<Verdict>,
    reads: Vec<String>,
    cannot: Vec<String>,
    limits: Option<String>,
}

impl PrometheusCheckup {
    pub(super) fn new(checked: Checked) -> Self {
        let mut queue = Queue::default();
        let up = query(&[("query", "count(up)")]);
        for (purpose, path) in [
            (Purpose::Build, "/api/v1/status/buildinfo".to_owned()),
            (Purpose::Query, format!("/api/v1/query?{up}")),
            (Purpose::Targets, "/api/v1/targets?state=active".to_owned()),
            (Purpose::Flags, "/api/v1/status/flags".to_owned()),
        ] {
            queue.ask(purpose, checked.dress(Request::get(path).unkept()));
        }
        Self {
            checked,
            queue,
            flavor: Flavor::default(),
            version: None,
            authenticated: None,
            reads: Vec::new(),
            cannot: Vec::new(),
            limits: None,
        }
    }

    fn take_build(&mut self, answer: &Answer) {
        self.flavor = self.checked.flavor(answer);
        let body = match answer {
            Answer::Good { body, .. } => Some(body),
            _ => None,
        };
        let version = body
            .and_then(|b| b.pointer("/data/version"))
            .and_then(Value::as_str);
        self.version = Some(match version {
            Some(version) if !version.is_empty() => {
                Verdict::well(format!("{} {version}", self.flavor.title()))
            }
            _ => Verdict::unknown(format!(
                "{}, which does not say its version",
                self.flavor.title()
            )),
        });
    }

    fn take_query(&mut self, answer: &Answer) {
        self.authenticated = Some(match answer {
            Answer::Good { body, .. } => {
                let count = body
                    .pointer("/data/result/0/value/1")
                    .and_then(Value::as_str)
                    .unwrap_or("0");
                self.reads
                    .push(format!("samples (`up` of {count} targets)"));
                Verdict::well("it answers our queries")
            }
            Answer::Refused { status: 401, text } => Verdict::ill(
                text.clone(),
                "check `http.basic_auth` or `http.authorization`; a tenant may be needed, too",
            ),
            Answer::Refused { status: 403, text } => Verdict::ill(
                text.clone(),
                "it knows us and says no: ask for the right to query (AWS: aps:QueryMetrics)",
            ),
            Answer::Refused { text, .. } | Answer::TooMuch(text) => {
                Verdict::ill(text.clone(), "look at the server's own log")
            }
            Answer::Absent => Verdict::ill(
                "there is no query API under this address",
                "check the path of `url`: Mimir and Grafana Cloud want `/prometheus` or `/api/prom`, a VictoriaMetrics cluster `/select/0/prometheus`",
            ),
        });
    }

    fn may(&mut self, what: &str, answer: &Answer) {
        match answer {
            Answer::Good { .. } => self.reads.push(what.to_owned()),
            _ => self.cannot.push(what.to_owned()),
        }
    }

    fn take_flags(&mut self, answer: &Answer) {
        let Answer::Good { body, .. } = answer else {
            return;
        };
        let flag = |name: &str| {
            body.pointer("/data")
                .and_then(|d| d.get(name))
                .and_then(Value::as_str)
                .map(|value| format!("{name} {value}"))
        };
        let found: Vec<String> = [
            "query.max-samples",
            "query.timeout",
            "query.max-concurrency",
            "query.lookback-delta",
            "storage.tsdb.retention.time",
        ]
        .iter()
        .filter_map(|name| flag(name))
        .collect();
        self.limits = (!found.is_empty()).then(|| found.join(", "));
    }
}

impl Pull for PrometheusCheckup {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        let answer = answer::read(outcome);
        match purpose {
            Purpose::Build => self.take_build(&answer),
            Purpose::Query => self.take_query(&answer),
            Purpose::Targets => self.may("targets with their last errors", &answer),
            Purpose::Flags => {
                self.may("its flags", &answer);
                self.take_flags(&answer);
            }
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for PrometheusCheckup {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let mut checks = Vec::new();
        checks.extend(
            self.authenticated
                .clone()
                .map(|v| (Check::Authenticated, v)),
        );
        checks.extend(self.version.clone().map(|v| (Check::Version, v)));
        let mut text = if self.reads.is_empty() {
            "nothing".to_owned()
        } else {
            self.reads.join(", ")
        };
        if !self.cannot.is_empty() {
            text = format!("{text}; not {}", self.cannot.join(", "));
        }
        let reads = if self.reads.is_empty() {
            Verdict::ill(text, "see the lines above")
        } else {
            Verdict::well(text)
        };
        checks.push((Check::MayRead, reads));
        checks.push((
            Check::Limits,
            self.limits.clone().map_or_else(
                || {
                    Verdict::unknown(
                        "it does not say its limits; questions that are too much are halved",
                    )
                },
                Verdict::well,
            ),
        ));
        checks
    }
}
