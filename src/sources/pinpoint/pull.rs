//! The pull: which version, which applications, every dot, then the worst transactions, maps and charts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Own;
use super::answer::{self, Answer};
use super::checkup::worse;
use super::details::shown;
use super::dots::Dots;
use super::version::{Abilities, Endpoint, Version};
use crate::base::reporter::{Reporter, Warning};
use crate::base::time::TimeRange;
use crate::sources::queue::Queue;
use crate::sources::{Outcome, Progress, Pull, Request, Step, Ticket};

/// Days that a server map may span (§0.5).
const MAP_DAYS: i64 = 2;
/// Days that a list of errors may span (§0.5).
const ERROR_DAYS: i64 = 7;
/// Errors in one list: the most that the server gives.
const ERRORS: &str = "200";
const DAY_MS: i64 = 86_400_000;

/// One application: its name and the code of its service type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Application {
    pub(super) name: String,
    code: String,
}

/// What an answer is for.
#[derive(Debug, Clone)]
pub(super) enum Purpose {
    /// Which version, by the address of 3.x.
    New,
    /// Which version, by the address of 2.x.
    Old,
    /// Kept and not needed here; what it is, for the word that it is missing.
    Fact(String),
    Applications,
    /// A page of dots that ends at that time.
    Scatter(Application, i64),
    Agents(String),
    /// Rows of these dots.
    Rows,
    Tree(String),
}

/// Where it stands; each stage waits for the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Probe,
    Facts,
    Applications,
    Details,
    Trees,
}

/// One pull.
#[derive(Debug)]
pub(super) struct PinpointPull {
    pub(super) own: Own,
    from_ms: i64,
    to_ms: i64,
    stage: Stage,
    pub(super) version: Version,
    pub(super) abilities: Abilities,
    pub(super) queue: Queue<Purpose>,
    first_probe: Option<Answer>,
    applications: BTreeSet<Application>,
    pub(super) dots: BTreeMap<Application, Dots>,
    /// (application, agent).
    pub(super) agents: BTreeSet<(String, String)>,
    /// Span ids by (trace, accepted, elapsed), from the rows.
    pub(super) spans: BTreeMap<(String, i64, i64), String>,
    /// Addresses that were asked.
    asked: BTreeSet<String>,
    pub(super) log: Reporter,
}

impl PinpointPull {
    pub(super) fn new(own: Own, window: TimeRange) -> Self {
        Self {
            own,
            from_ms: window.start.millis(),
            to_ms: window.end.millis(),
            stage: Stage::Begin,
            version: Version::Three1,
            abilities: Abilities::default(),
            queue: Queue::default(),
            first_probe: None,
            applications: BTreeSet::new(),
            dots: BTreeMap::new(),
            agents: BTreeSet::new(),
            spans: BTreeMap::new(),
            asked: BTreeSet::new(),
            log: Reporter::new(),
        }
    }

    /// Asks, unless the same was asked before: an agent of two applications has one answer.
    pub(super) fn get(&mut self, purpose: Purpose, endpoint: Endpoint, fields: &[(&str, &str)]) {
        let path = self.version.path(endpoint, fields);
        if self.asked.insert(path.clone()) {
            self.queue.ask(purpose, Request::get(path));
        }
    }

    /// Begins the next stage once nothing of the last one is open.
    fn advance(&mut self) {
        while self.queue.is_idle() {
            self.stage = match self.stage {
                Stage::Begin => {
                    let path = Version::Three1.path(Endpoint::Configuration, &[]);
                    self.queue.ask(Purpose::New, Request::get(path).unkept());
                    Stage::Probe
                }
                Stage::Probe => {
                    for (endpoint, what) in [
                        (Endpoint::Configuration, "its configuration"),
                        (Endpoint::ServerTime, "its clock"),
                    ] {
                        self.get(Purpose::Fact(what.to_owned()), endpoint, &[]);
                    }
                    self.get(Purpose::Applications, Endpoint::Applications, &[]);
                    Stage::Facts
                }
                Stage::Facts => {
                    self.ask_applications();
                    Stage::Applications
                }
                Stage::Applications => {
                    self.ask_agents();
                    self.ask_rows();
                    Stage::Details
                }
                Stage::Details => {
                    self.ask_trees();
                    Stage::Trees
                }
                Stage::Trees => return,
            };
        }
    }

    /// The window in pieces of at most so many days, both ends of each inside (Pinpoint's ranges are closed).
    pub(super) fn pieces(&self, days: Option<i64>) -> Vec<(String, String)> {
        let step = days.map_or(i64::MAX, |days| days * DAY_MS);
        let mut pieces = Vec::new();
        let mut from = self.from_ms;
        while from < self.to_ms {
            let to = from.saturating_add(step).min(self.to_ms);
            pieces.push((from.to_string(), to.to_string()));
            from = to;
        }
        pieces
    }

    fn ask_applications(&mut self) {
        if !self.own.applications.is_empty() {
            let wanted = &self.own.applications;
            self.applications.retain(|a| wanted.contains(&a.name));
            let missing: Vec<String> = wanted
                .iter()
                .filter(|name| !self.applications.iter().any(|a| a.name == **name))
                .cloned()
                .collect();
            if !missing.is_empty() {
                let text = format!(
                    "it knows no application {}; see its list",
                    missing.join(", ")
                );
                self.log.lost("not_found", text, None);
            }
        }
        let left: Vec<&str> = self
            .applications
            .iter()
            .skip(self.own.max_applications)
            .map(|a| a.name.as_str())
            .collect();
        if !left.is_empty() {
            let text = format!(
                "{} applications were left out (`max_applications` {}): {}; name those that matter in `applications`, or raise the cap",
                left.len(),
                self.own.max_applications,
                shown(&left),
            );
            self.log.lost("limit_applications", text, None);
        }
        let chosen: Vec<Application> = self
            .applications
            .iter()
            .take(self.own.max_applications)
            .cloned()
            .collect();
        for application in chosen {
            self.ask_application(application);
        }
    }

    fn ask_application(&mut self, application: Application) {
        let Application { name, code } = application.clone();
        let fact = |what: &str| Purpose::Fact(format!("{what} of {name}"));
        for (from, to) in self.pieces(Some(self.abilities.map_days.unwrap_or(MAP_DAYS))) {
            let mut fields = vec![
                ("applicationName", name.as_str()),
                ("serviceTypeCode", code.as_str()),
                ("from", from.as_str()),
                ("to", to.as_str()),
            ];
            self.get(fact("the histogram"), Endpoint::Histogram, &fields);
            if self.version >= Version::Two(4) {
                self.get(fact("the Apdex"), Endpoint::Apdex, &fields);
            }
            fields.extend([("callerRange", "1"), ("calleeRange", "1")]);
            self.get(fact("the server map"), Endpoint::Map, &fields);
        }
        let (from, to) = (self.from_ms.to_string(), self.to_ms.to_string());
        let key = match self.version {
            Version::Three1 => "applicationName",
            _ => "application",
        };
        let mut fields = vec![
            (key, name.as_str()),
            ("from", from.as_str()),
            ("to", to.as_str()),
        ];
        if self.version == Version::Three1 {
            fields.extend([("serviceTypeCode", code.as_str()), ("query", "ALL")]);
        }
        self.get(Purpose::Agents(name.clone()), Endpoint::Agents, &fields);
        if self.abilities.has_errors && self.version >= Version::Three0 {
            for (from, to) in self.pieces(Some(ERROR_DAYS)) {
                let fields = [
                    ("applicationName", name.as_str()),
                    ("from", from.as_str()),
                    ("to", to.as_str()),
                    ("orderBy", "timestamp"),
                    ("isDesc", "true"),
                    ("count", ERRORS),
                ];
                self.get(fact("the errors"), Endpoint::Errors, &fields);
            }
        }
        self.ask_dots(application, self.to_ms);
    }

    fn ask_dots(&mut self, application: Application, to_ms: i64) {
        let (from, to, page) = (
            self.from_ms.to_string(),
            to_ms.to_string(),
            self.own.page.to_string(),
        );
        let mut fields = vec![
            ("application", application.name.as_str()),
            ("from", from.as_str()),
            ("to", to.as_str()),
            ("xGroupUnit", "1"),
            ("yGroupUnit", "1"),
            ("limit", page.as_str()),
            ("backwardDirection", "true"),
        ];
        if self.version == Version::Three1 {
            fields.push(("serviceTypeCode", application.code.as_str()));
        }
        let path = self.version.path(Endpoint::Scatter, &fields);
        self.queue
            .ask(Purpose::Scatter(application, to_ms), Request::get(path));
    }

    /// A page of dots. The next one overlaps it in its oldest millisecond, where the page may have cut; what comes twice
    /// is known.
    fn take_dots(&mut self, application: Application, to_ms: i64, body: &Value) {
        let dots = self.dots.entry(application.clone()).or_default();
        let page = dots.take(body);
        if page.is_last {
            return;
        }
        if dots.len() >= self.own.max_dots {
            let text = format!(
                "{}: the pull stopped at {} transactions (`max_dots`); what is older is missing; ask for a shorter time, or raise the cap",
                application.name,
                dots.len()
            );
            self.log.lost("limit_dots", text, None);
            return;
        }
        let mut next = page.oldest_ms;
        if page.added == 0 || next >= to_ms {
            // A whole page in one millisecond: the overlap leads nowhere.
            let text = format!(
                "{}: more than {} transactions in one millisecond; some of them may be missing; raise `page`",
                application.name, self.own.page
            );
            self.log.lost("limit_page", text, None);
            next = next.min(to_ms) - 1;
        }
        if next > self.from_ms {
            self.ask_dots(application, next);
        }
    }

    fn take_probe(&mut self, purpose: &Purpose, answer: Answer) {
        let found = match &answer {
            Answer::Good(body) => body
                .get("version")
                .and_then(Value::as_str)
                .and_then(Version::of)
                .map(|version| (version, Abilities::of(body))),
            _ => None,
        };
        if let Some((version, abilities)) = found {
            (self.version, self.abilities) = (version, abilities);
        } else if matches!(purpose, Purpose::New) {
            self.first_probe = Some(answer);
            let path = Version::Two(5).path(Endpoint::Configuration, &[]);
            self.queue.ask(Purpose::Old, Request::get(path).unkept());
        } else {
            let answer = worse(self.first_probe.take(), answer);
            self.give_up(&answer, "its version could not be found out");
        }
    }

    /// Nobody else will be told anything either: one error says it better than forty.
    fn give_up(&mut self, answer: &Answer, what: &str) {
        self.stage = Stage::Trees;
        let said = match answer {
            Answer::Good(_) => "its configuration names no version from 2.2 to 3.1",
            other => other.text(),
        };
        let text = format!("{what}: {said}; {}", answer.advice());
        self.log
            .lost("refused", text.trim_end_matches("; ").to_owned(), None);
    }

    fn take_applications(&mut self, answer: &Answer) {
        let Answer::Good(body) = answer else {
            return self.give_up(answer, "the list of applications could not be had");
        };
        for one in body.as_array().into_iter().flatten() {
            let name = one.get("applicationName").and_then(Value::as_str);
            let code = one.get("code").map(ToString::to_string);
            if let (Some(name), Some(code)) = (name, code) {
                self.applications.insert(Application {
                    name: name.to_owned(),
                    code: code.trim_matches('"').to_owned(),
                });
            }
        }
        if self.applications.is_empty() {
            self.log.note(
                "no_applications",
                "it knows no applications: has any agent reported?",
                None,
            );
        }
    }

    fn take(&mut self, purpose: Purpose, answer: Answer) {
        match (purpose, answer) {
            (purpose @ (Purpose::New | Purpose::Old), answer) => self.take_probe(&purpose, answer),
            (Purpose::Applications, answer) => self.take_applications(&answer),
            (Purpose::Scatter(application, to_ms), Answer::Good(body)) => {
                self.take_dots(application, to_ms, &body);
            }
            (Purpose::Agents(application), Answer::Good(body)) => {
                for agent in agents_in(&body) {
                    self.agents.insert((application.clone(), agent));
                }
            }
            (Purpose::Rows, Answer::Good(body)) => self.take_rows(&body),
            (_, Answer::Good(_)) => {}
            (Purpose::Fact(what), answer) => {
                let text = format!("{what} could not be had: {}", answer.text());
                self.log.note("fact_missing", text, None);
            }
            (Purpose::Scatter(application, _), answer) => {
                let name = application.name;
                self.lose(&format!("transactions of {name}"), &answer);
            }
            (Purpose::Agents(name), answer) => self.lose(&format!("the agents of {name}"), &answer),
            (Purpose::Rows, answer) => self.lose("rows of transactions", &answer),
            (Purpose::Tree(trace), answer) => {
                self.lose(&format!("the call tree of {trace}"), &answer);
            }
        }
    }

    fn lose(&mut self, what: &str, answer: &Answer) {
        let text = format!(
            "{what} could not be had: {}; {}",
            answer.text(),
            answer.advice()
        );
        self.log.lost("query_failed", text, None);
    }
}

impl Pull for PinpointPull {
    fn next(&mut self) -> Step {
        self.advance();
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        if let Some(purpose) = self.queue.answered(ticket) {
            self.take(purpose, answer::read(outcome));
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.log).into_warnings()
    }
}

/// Ids of agents in a list of any version: flat, in groups, or as an object of groups.
fn agents_in(body: &Value) -> Vec<String> {
    let id = |agent: &Value| {
        agent
            .get("agentId")
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let mut ids = Vec::new();
    for one in body.as_array().into_iter().flatten() {
        ids.extend(id(one));
        let inside = one.get("instancesList").and_then(Value::as_array);
        ids.extend(inside.into_iter().flatten().filter_map(id));
    }
    for (_, group) in body.as_object().into_iter().flatten() {
        ids.extend(group.as_array().into_iter().flatten().filter_map(id));
    }
    ids
}
