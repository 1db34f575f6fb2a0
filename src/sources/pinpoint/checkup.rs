//! The questions of `doctor`.

use serde_json::Value;

use super::answer::{self, Answer};
use super::version::{Abilities, Endpoint, Version};
use crate::base::reporter::Warning;
use crate::sources::queue::Queue;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Request, Step, Ticket, Verdict};

#[derive(Debug, Clone, Copy)]
enum Purpose {
    New,
    Old,
    Applications,
}

/// One look.
#[derive(Debug, Default)]
pub(super) struct PinpointCheckup {
    queue: Queue<Purpose>,
    first: Option<Answer>,
    version: Option<(Version, String, Abilities)>,
    probe: Option<Answer>,
    applications: Option<Answer>,
}

impl PinpointCheckup {
    pub(super) fn new() -> Self {
        let mut look = Self::default();
        let path = Version::Three1.path(Endpoint::Configuration, &[]);
        look.queue.ask(Purpose::New, Request::get(path).unkept());
        look
    }

    fn take_probe(&mut self, purpose: Purpose, answer: Answer) {
        let found = match &answer {
            Answer::Good(body) => body
                .get("version")
                .and_then(Value::as_str)
                .and_then(|text| Some((Version::of(text)?, text.to_owned(), Abilities::of(body)))),
            _ => None,
        };
        if let Some(found) = found {
            let path = found.0.path(Endpoint::Applications, &[]);
            self.queue
                .ask(Purpose::Applications, Request::get(path).unkept());
            self.version = Some(found);
        } else if matches!(purpose, Purpose::New) {
            self.first = Some(answer);
            let path = Version::Two(5).path(Endpoint::Configuration, &[]);
            self.queue.ask(Purpose::Old, Request::get(path).unkept());
        } else {
            self.probe = Some(worse(self.first.take(), answer));
        }
    }
}

/// Of two failed probes, the one that says more: who wants a login says so at one of them.
pub(super) fn worse(first: Option<Answer>, second: Answer) -> Answer {
    let first = first.unwrap_or(Answer::Absent(String::new()));
    match (&first, &second) {
        (Answer::Login(_) | Answer::Forbidden(_), _) | (Answer::Failed(_), Answer::Failed(_)) => {
            first
        }
        _ => second,
    }
}

impl Pull for PinpointCheckup {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        let answer = answer::read(outcome);
        match purpose {
            Purpose::New | Purpose::Old => self.take_probe(purpose, answer),
            Purpose::Applications => self.applications = Some(answer),
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for PinpointCheckup {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let ill = |answer: &Answer| Verdict::ill(answer.text(), answer.advice());
        let mut checks = Vec::new();
        let asked = self.applications.as_ref().or(self.probe.as_ref());
        match asked {
            Some(Answer::Good(_)) => {
                checks.push((
                    Check::Authenticated,
                    Verdict::well("it answers our questions"),
                ));
            }
            Some(answer) => checks.push((Check::Authenticated, ill(answer))),
            None => {}
        }
        checks.push((
            Check::Version,
            match (&self.version, &self.probe) {
                (Some((_, text, _)), _) => Verdict::well(format!("Pinpoint {text}")),
                (None, Some(Answer::Good(_))) => Verdict::ill(
                    "its configuration names no version that is known (2.2 to 3.1)",
                    "check that `url` is Pinpoint's web console",
                ),
                (None, Some(answer)) => ill(answer),
                (None, None) => Verdict::unknown("it was not asked"),
            },
        ));
        checks.push((
            Check::MayRead,
            match &self.applications {
                Some(Answer::Good(body)) => {
                    let n = body.as_array().map_or(0, Vec::len);
                    Verdict::well(format!("{n} applications"))
                }
                Some(answer) => ill(answer),
                None => Verdict::ill("nothing", "see the lines above"),
            },
        ));
        if let Some((version, _, abilities)) = &self.version {
            let days = abilities
                .inspector_days
                .or_else(|| version.inspector_days());
            let map = abilities.map_days.unwrap_or(2);
            let charts = days.map_or_else(String::new, |d| format!(", charts {d} days"));
            checks.push((
                Check::Limits,
                Verdict::well(format!(
                    "maps {map} days{charts}, 10,000 dots in an answer; longer times are asked in pieces"
                )),
            ));
        }
        checks
    }
}
