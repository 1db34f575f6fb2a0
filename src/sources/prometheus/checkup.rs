//! The questions of `doctor`.

use serde_json::Value;

use crate::base::reporter::Warning;
use crate::sources::prometheus::Checked;
use crate::sources::prometheus::answer::{self, Answer};
use crate::sources::prometheus::flavor::{Flavor, Found};
use crate::sources::prometheus::plan::Raw;
use crate::sources::prometheus::pull::advice;
use crate::sources::prometheus::{questions, read};
use crate::sources::queue::Queue;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Request, Step, Ticket, Verdict};

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Build,
    Stores,
    Query,
    Targets,
    Flags,
    Read,
}

/// One look.
#[derive(Debug)]
pub(super) struct PrometheusCheckup {
    checked: Checked,
    queue: Queue<Purpose>,
    found: Option<Found>,
    version: Option<String>,
    authenticated: Option<Verdict>,
    reads: Vec<String>,
    cannot: Vec<String>,
    limits: Option<String>,
}

impl PrometheusCheckup {
    pub(super) fn new(checked: Checked) -> Self {
        let mut look = Self {
            checked,
            queue: Queue::default(),
            found: None,
            version: None,
            authenticated: None,
            reads: Vec::new(),
            cannot: Vec::new(),
            limits: None,
        };
        look.found = look.checked.found();
        if look.flavor().has_buildinfo() {
            look.ask(Purpose::Build, Request::get("/api/v1/status/buildinfo"));
        } else {
            look.ask_rest();
        }
        look
    }

    fn ask(&mut self, purpose: Purpose, request: Request) {
        let request = self.checked.dress(request.unkept());
        self.queue.ask(purpose, request);
    }

    fn flavor(&self) -> Flavor {
        self.found
            .as_ref()
            .map_or_else(Flavor::default, |f| f.flavor)
    }

    /// The rest, once it is known who answers.
    fn ask_rest(&mut self) {
        let flavor = self.flavor();
        let up = [("query", "count(up)".to_owned())];
        let path = questions::path("/api/v1/query", &up);
        self.ask(Purpose::Query, Request::get(path));
        if flavor.has_targets() {
            let path = "/api/v1/targets?state=active";
            self.ask(Purpose::Targets, Request::get(path));
        }
        if flavor.status().contains(&"flags") {
            self.ask(Purpose::Flags, Request::get("/api/v1/status/flags"));
        }
        let wish = self.checked.own.remote_read;
        if wish.unwrap_or_else(|| flavor.may_have_remote_read()) {
            // A moment that has no samples: whether it is offered is all that is asked.
            let raw = Raw {
                metrics: vec!["up".to_owned()],
                from_ms: 0,
                to_ms: 1,
                cuts: 0,
            };
            self.ask(Purpose::Read, read::request(&raw, &[], "", &[]));
        }
    }

    fn take_build(&mut self, answer: &Answer, outcome: &Outcome<'_>) {
        let body = match answer {
            Answer::Good { body, .. } => Some(body),
            _ => None,
        };
        self.version = body
            .and_then(|b| b.pointer("/data/version"))
            .and_then(Value::as_str)
            .filter(|version| !version.is_empty())
            .map(str::to_owned);
        self.found = self
            .checked
            .found()
            .or_else(|| Found::of_build(answer, outcome, &self.checked.host));
        if self.found.is_some() {
            self.ask_rest();
        } else {
            self.ask(Purpose::Stores, Request::get("/api/v1/stores"));
        }
    }

    fn version_verdict(&self) -> Option<Verdict> {
        let found = self.found.as_ref()?;
        Some(match &self.version {
            Some(version) => {
                Verdict::well(format!("{} {version}, told by {}", found.title, found.by))
            }
            None => Verdict::unknown(format!(
                "{}, told by {}; it does not say its version",
                found.title, found.by
            )),
        })
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
            Answer::Refused { status, text } => Verdict::ill(
                text.clone(),
                advice(*status, text, self.flavor()).unwrap_or("look at the server's own log"),
            ),
            Answer::TooMuch(text) | Answer::TooLong(text) => {
                Verdict::ill(text.clone(), "look at the server's own log")
            }
            Answer::Absent => Verdict::ill(
                "there is no query API under this address",
                "check the path of `url`: Mimir and Grafana Cloud want `/prometheus` or `/api/prom`, a VictoriaMetrics cluster `/select/0/prometheus`",
            ),
        });
    }

    fn may(&mut self, what: &str, is_so: bool) {
        if is_so {
            self.reads.push(what.to_owned());
        } else {
            self.cannot.push(what.to_owned());
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
            "query.max-concurrent",
            "query.lookback-delta",
            "query.replica-label",
            "storage.remote.read-sample-limit",
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
        let is_good = matches!(answer, Answer::Good { .. });
        match purpose {
            Purpose::Build => self.take_build(&answer, outcome),
            Purpose::Stores => {
                self.found = Some(Found::of_stores(&answer, self.version.is_some()));
                self.ask_rest();
            }
            Purpose::Query => self.take_query(&answer),
            Purpose::Targets => self.may("targets with their last errors", is_good),
            Purpose::Flags => {
                self.may("its flags", is_good);
                self.take_flags(&answer);
            }
            Purpose::Read => self.may(
                "staleness markers (remote read)",
                read::good(outcome).is_some(),
            ),
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
        checks.extend(self.version_verdict().map(|v| (Check::Version, v)));
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
