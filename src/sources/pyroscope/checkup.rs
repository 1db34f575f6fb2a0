//! The questions of `doctor`.

use crate::base::reporter::Warning;
use crate::base::text::count;
use crate::sources::pyroscope::Checked;
use crate::sources::pyroscope::answer::{self, Answer};
use crate::sources::queue::Queue;
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Step, Ticket, Verdict};

#[derive(Debug, Clone, Copy)]
enum Purpose {
    Types,
    Services,
}

/// One look.
#[derive(Debug)]
pub(super) struct PyroscopeCheckup {
    queue: Queue<Purpose>,
    authenticated: Option<Verdict>,
    types: Option<usize>,
    services: Option<Vec<String>>,
    why_not: Option<Verdict>,
}

impl PyroscopeCheckup {
    pub(super) fn new(checked: &Checked) -> Self {
        let mut queue = Queue::default();
        // Without times: this look has no clock, and the server then takes what it has at hand.
        queue.ask(Purpose::Types, checked.profile_types(None));
        queue.ask(
            Purpose::Services,
            checked.label_values("service_name", None, None),
        );
        Self {
            queue,
            authenticated: None,
            types: None,
            services: None,
            why_not: None,
        }
    }

    fn take_types(&mut self, answer: &Answer) {
        match answer {
            Answer::Good(body) => {
                self.types = Some(answer::types(body).len());
                self.authenticated = Some(Verdict::well("it answers our questions"));
            }
            Answer::Absent(text) => {
                self.why_not = Some(Verdict::ill(
                    text.clone(),
                    "check the path of `url`; a Pyroscope before 1.0 has no Connect API: name profile types in `types`, which are then asked of its render API",
                ));
            }
            Answer::Refused {
                status: 401 | 403,
                text,
            } => {
                self.authenticated = Some(Verdict::ill(
                    text.clone(),
                    "check `http.basic_auth` (Grafana Cloud: the number of the stack's profiles user, and an access-policy token) and `tenant`",
                ));
            }
            Answer::Refused { text, .. } => {
                let advice = if text.contains("org id") {
                    "set `tenant`: this server keeps several apart"
                } else {
                    "look at the server's own log"
                };
                self.why_not = Some(Verdict::ill(text.clone(), advice));
            }
        }
    }
}

impl Pull for PyroscopeCheckup {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        let answer = answer::read(outcome);
        match (purpose, &answer) {
            (Purpose::Types, answer) => self.take_types(answer),
            (Purpose::Services, Answer::Good(body)) => self.services = Some(answer::names(body)),
            _ => {}
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for PyroscopeCheckup {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let mut checks = Vec::new();
        checks.extend(
            self.authenticated
                .clone()
                .map(|v| (Check::Authenticated, v)),
        );
        checks.push((
            Check::Version,
            Verdict::unknown("its API does not say its version"),
        ));
        let reads = match (&self.why_not, self.types) {
            (Some(why), _) => why.clone(),
            (None, Some(types)) => {
                let services = self.services.clone().unwrap_or_default();
                let mut text = format!(
                    "{} of {}",
                    count(types as u64, "profile type", "profile types"),
                    count(services.len() as u64, "service", "services")
                );
                if !services.is_empty() {
                    let shown: Vec<&str> = services.iter().take(5).map(String::as_str).collect();
                    let dots = if shown.len() < services.len() {
                        ", …"
                    } else {
                        ""
                    };
                    text = format!("{text}: {}{dots}", shown.join(", "));
                }
                Verdict::well(text)
            }
            (None, None) => Verdict::ill("nothing", "see the lines above"),
        };
        checks.push((Check::MayRead, reads));
        checks
    }
}
