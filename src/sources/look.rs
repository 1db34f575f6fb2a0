//! The look that `doctor` takes at a server of which two things are asked: its version, and one small piece of what is pulled.

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use crate::base::reporter::Warning;
use crate::sources::queue::Queue;
use crate::sources::said::{self, Refusal};
use crate::sources::{Check, Checkup, Outcome, Progress, Pull, Request, Step, Ticket, Verdict};

/// What is special to a kind.
#[derive(Debug)]
pub(super) struct Questions {
    /// The program: `Grafana`.
    pub(super) program: &'static str,
    /// Asks for the version, and where it stands in the answer.
    pub(super) version: (Request, &'static str),
    /// What may be read, each with the question that shows it.
    pub(super) reads: Vec<(String, Request)>,
    /// The member of an answer that is a list; empty when the answer is one itself.
    pub(super) list: &'static str,
    /// What to do after 403.
    pub(super) forbidden: &'static str,
    /// What to do after 404.
    pub(super) absent: &'static str,
    /// What is known of its limits.
    pub(super) limits: &'static str,
}

#[derive(Debug, Clone)]
enum Purpose {
    Version,
    Read(String),
}

/// One look.
#[derive(Debug)]
pub(super) struct Look {
    questions: Questions,
    queue: Queue<Purpose>,
    version: Option<Verdict>,
    may: Vec<String>,
    may_not: Vec<(String, Refusal)>,
}

impl Look {
    /// Plans the questions; none of them is kept.
    pub(super) fn new(questions: Questions) -> Self {
        let mut queue = Queue::default();
        queue.ask(Purpose::Version, questions.version.0.clone().unkept());
        for (what, request) in &questions.reads {
            queue.ask(Purpose::Read(what.clone()), request.clone().unkept());
        }
        Self {
            questions,
            queue,
            version: None,
            may: Vec::new(),
            may_not: Vec::new(),
        }
    }

    fn version_of(&self, answer: Result<Value, Refusal>) -> Verdict {
        let program = self.questions.program;
        let said = answer.ok().and_then(|body| {
            let version = body.pointer(self.questions.version.1)?.as_str()?;
            (!version.is_empty()).then(|| format!("{program} {version}"))
        });
        said.map_or_else(
            || Verdict::unknown(format!("{program}, which does not say its version")),
            Verdict::well,
        )
    }

    fn list_of(&self, outcome: &Outcome<'_>) -> Result<(), Refusal> {
        let expected = "a list";
        if self.questions.list.is_empty() {
            return said::json::<Vec<IgnoredAny>>(outcome, expected).map(drop);
        }
        let body: Map<String, Value> = said::json(outcome, expected)?;
        // An empty list may be `null` (Go).
        body.get(self.questions.list)
            .filter(|list| list.is_array() || list.is_null())
            .map(drop)
            .ok_or_else(|| Refusal {
                status: 200,
                text: format!("HTTP 200: no `{}` in the answer", self.questions.list),
                body: Value::Null,
            })
    }

    fn advice(&self, status: u16) -> &'static str {
        match status {
            401 => {
                "check `http.authorization` or `http.basic_auth`: the token may be wrong or too old"
            }
            403 => self.questions.forbidden,
            404 | 405 => self.questions.absent,
            200..300 => "check `url`: something else answers there",
            _ => "look at the server's own log",
        }
    }
}

impl Pull for Look {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        match purpose {
            Purpose::Version => {
                self.version = Some(self.version_of(said::json(outcome, "a version")));
            }
            Purpose::Read(what) => match self.list_of(outcome) {
                Ok(()) => self.may.push(what),
                Err(refusal) => self.may_not.push((what, refusal)),
            },
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

impl Checkup for Look {
    fn checks(&self) -> Vec<(Check, Verdict)> {
        let mut checks = Vec::new();
        let refused = self.may_not.first().map(|(_, refusal)| refusal);
        let authenticated = match refused {
            Some(refusal) if refusal.status == 401 => {
                Verdict::ill(refusal.text.clone(), self.advice(401))
            }
            // Who is refused with 403 is known.
            Some(refusal) if self.may.is_empty() && refusal.status != 403 => {
                Verdict::unknown("it was not asked for anything that it answered")
            }
            _ => Verdict::well("it answers our questions"),
        };
        checks.push((Check::Authenticated, authenticated));
        checks.extend(self.version.clone().map(|v| (Check::Version, v)));
        let reads = match refused {
            None => Verdict::well(self.may.join(", ")),
            Some(refusal) => {
                let not: Vec<String> = self
                    .may_not
                    .iter()
                    .map(|(what, refusal)| format!("not {what}: {}", refusal.text))
                    .collect();
                let said = [self.may.clone(), not].concat().join("; ");
                Verdict::ill(said, self.advice(refusal.status))
            }
        };
        checks.push((Check::MayRead, reads));
        checks.push((Check::Limits, Verdict::unknown(self.questions.limits)));
        checks
    }
}
