//! The questions of `doctor`: does it know us, and which of its calls may we use.

use serde_json::{Map, Value};

use crate::base::reporter::Warning;
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::queue::Queue;
use crate::sources::xray::Checked;
use crate::sources::xray::actions::{Action, secs};
use crate::sources::xray::answer::{self, Answer};
use crate::sources::xray::plan;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Step, Ticket, Verdict};

/// Tried once it is known what time it is there.
const TRIED: &[Action] = &[
    Action::Summaries,
    Action::BatchTraces,
    Action::ServiceGraph,
    Action::TimeSeries,
    Action::SamplingRules,
    Action::SamplingStatistics,
];
/// The window that is asked for, up to the present.
const LOOK_BACK_MS: i64 = 60_000;
/// An id that nobody has: whoever may ask is told that it was not processed.
const NOBODY: &str = "1-00000000-000000000000000000000000";

/// One look.
#[derive(Debug)]
pub(super) struct XRayCheckup {
    checked: Checked,
    queue: Queue<Action>,
    is_asked: bool,
    now: Option<Timestamp>,
    destination: Option<String>,
    unknown: Option<String>,
    may: Vec<&'static str>,
    absent: Vec<&'static str>,
    denied: Vec<Action>,
    /// Calls that came out otherwise, with what was said.
    others: Vec<String>,
}

impl XRayCheckup {
    pub(super) fn new(checked: Checked) -> Self {
        let mut queue = Queue::default();
        let request = Action::Destination.request(Map::new()).unkept();
        queue.ask(Action::Destination, checked.dress(request));
        Self {
            checked,
            queue,
            is_asked: false,
            now: None,
            destination: None,
            unknown: None,
            may: Vec::new(),
            absent: Vec::new(),
            denied: Vec::new(),
            others: Vec::new(),
        }
    }

    fn ask_rest(&mut self) {
        self.is_asked = true;
        if self.unknown.is_some() {
            return;
        }
        for action in TRIED {
            if let Some(body) = self.body(*action) {
                let request = self.checked.dress(action.request(body).unkept());
                self.queue.ask(*action, request);
            }
        }
    }

    /// The least question of each; `None` without the time of the service, which its first answer tells.
    fn body(&self, action: Action) -> Option<Map<String, Value>> {
        let mut body = Map::new();
        match action {
            Action::Summaries | Action::ServiceGraph | Action::TimeSeries => {
                let now = self.now?;
                let range = TimeRange::new(now, now);
                let to = plan::whole(range).to_ms;
                body.insert("StartTime".to_owned(), secs(to - LOOK_BACK_MS));
                body.insert("EndTime".to_owned(), secs(to));
                if action == Action::TimeSeries {
                    body.insert("Period".to_owned(), Value::from(60));
                }
            }
            Action::BatchTraces => {
                body.insert("TraceIds".to_owned(), Value::from(vec![NOBODY]));
            }
            _ => {}
        }
        Some(body)
    }

    fn authenticated(&self) -> Verdict {
        if let Some(text) = &self.unknown {
            let advice = if text.contains("Expired") {
                "renew the credentials (`aws sso login`, or a new session)"
            } else if text.contains("Signature") {
                "check the secret key, `region`, and this machine's clock: a signature is good for five minutes"
            } else {
                "`aws sts get-caller-identity` shows whom the AWS chain takes us for; `profile` chooses another"
            };
            return Verdict::ill(text.clone(), advice);
        }
        if self.may.is_empty() && self.denied.is_empty() {
            return Verdict::unknown("no call was answered in a way that tells");
        }
        Verdict::well(format!(
            "it takes our signature for {}",
            self.checked.signing.region
        ))
    }

    fn may_read(&self) -> Verdict {
        let mut text = if self.may.is_empty() {
            "nothing".to_owned()
        } else {
            self.may.join(", ")
        };
        if !self.denied.is_empty() {
            let names: Vec<&str> = self.denied.iter().map(|a| a.name()).collect();
            text = format!("{text}; not {}", names.join(", "));
        }
        if !self.absent.is_empty() {
            text = format!("{text}; not there: {}", self.absent.join(", "));
        }
        for other in &self.others {
            text.push_str("; ");
            text.push_str(other);
        }
        if !self.denied.is_empty() {
            let rights: Vec<String> = self.denied.iter().map(|a| a.right()).collect();
            return Verdict::ill(text, format!("allow {} in IAM", rights.join(", ")));
        }
        let need = [Action::Summaries, Action::BatchTraces];
        if need.iter().all(|action| self.may.contains(&action.name())) {
            Verdict::well(text)
        } else {
            let advice = "traces need GetTraceSummaries and BatchGetTraces; see the lines above";
            Verdict::ill(text, advice)
        }
    }
}

impl Pull for XRayCheckup {
    fn next(&mut self) -> Step {
        if self.queue.is_idle() && !self.is_asked && self.queue.progress().answered > 0 {
            self.ask_rest();
        }
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(action) = self.queue.answered(ticket) else {
            return;
        };
        if let (Outcome::Answered(reply), None) = (outcome, self.now) {
            self.now = reply.header("date").and_then(Timestamp::parse_http_date);
        }
        match answer::read(outcome) {
            Answer::Good(body) => {
                self.may.push(action.name());
                if action == Action::Destination {
                    self.destination = body
                        .get("Destination")
                        .and_then(Value::as_str)
                        .map(str::to_owned);
                }
            }
            Answer::Unknown(text) => {
                self.unknown.get_or_insert(text);
                self.queue.forget(|_| true);
            }
            Answer::Denied(_) => self.denied.push(action),
            Answer::Absent => self.absent.push(action.name()),
            Answer::Throttled(text)
            | Answer::TooMuch(text)
            | Answer::Invalid(text)
            | Answer::Unreached(text)
            | Answer::Refused(text) => self.others.push(format!("{}: {text}", action.name())),
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for XRayCheckup {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let mut checks = vec![
            (Check::Authenticated, self.authenticated()),
            (
                Check::Version,
                Verdict::unknown("X-Ray names no version; its API is that of 2016-04-12"),
            ),
        ];
        if self.unknown.is_none() {
            checks.push((Check::MayRead, self.may_read()));
        }
        let limits = match self.destination.as_deref() {
            Some("CloudWatchLogs") => {
                "5 traces a request, 6 h a window; its spans lie in CloudWatch Logs (Transaction Search): traces are retrieved from there, which needs xray:StartTraceRetrieval and xray:ListRetrievedTraces (not tried)"
            }
            _ => {
                "5 traces a request, 6 h a window, 30 days back; it does not say how often it may be asked"
            }
        };
        checks.push((Check::Limits, Verdict::unknown(limits)));
        checks
    }
}
