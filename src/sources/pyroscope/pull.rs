//! The pull: which services there are, which profile types each has, and then their flame graphs.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::reporter::{Reporter, Warning};
use crate::base::text::{count, join_and};
use crate::base::time::TimeRange;
use crate::sources::pyroscope::answer::{self, Answer};
use crate::sources::pyroscope::{Api, Checked, MOST_PROFILES, Wanted};
use crate::sources::queue::Queue;
use crate::sources::{Outcome, Progress, Pull, Step, Ticket};

/// What an answer is for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Purpose {
    /// All profile types.
    Types,
    /// All services.
    Services,
    /// Profile types of one service.
    TypesOf(String),
    /// A flame graph.
    Graph(Wanted, Api),
}

/// Where it stands; each stage waits for the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Listed,
    Known,
    Graphs,
}

/// One pull.
#[derive(Debug)]
pub(super) struct PyroscopePull {
    checked: Checked,
    window: TimeRange,
    queue: Queue<Purpose>,
    stage: Stage,
    api: Api,
    /// Whether the Connect API is there.
    is_connect_absent: bool,
    types: Vec<String>,
    services: BTreeMap<String, Option<Vec<String>>>,
    said: Said,
}

/// What must be said at the end.
#[derive(Debug, Default)]
struct Said {
    log: Reporter,
    /// Flame graphs that could not be had, by why.
    missing: BTreeMap<String, BTreeSet<String>>,
}

impl PyroscopePull {
    pub(super) fn new(checked: Checked, window: TimeRange) -> Self {
        Self {
            api: checked.own.api.unwrap_or(Api::Connect),
            checked,
            window,
            queue: Queue::default(),
            stage: Stage::Begin,
            is_connect_absent: false,
            types: Vec::new(),
            services: BTreeMap::new(),
            said: Said::default(),
        }
    }

    /// Begins the next stage once nothing of the last one is open.
    fn advance(&mut self) {
        while self.queue.is_idle() {
            self.stage = match self.stage {
                Stage::Begin => {
                    self.ask_lists();
                    Stage::Listed
                }
                Stage::Listed => {
                    self.ask_types();
                    Stage::Known
                }
                Stage::Known => {
                    self.ask_graphs();
                    Stage::Graphs
                }
                Stage::Graphs => return,
            };
        }
    }

    fn ask_lists(&mut self) {
        let types = self.checked.profile_types(Some(self.window));
        self.queue.ask(Purpose::Types, types);
        if self.checked.own.services.is_empty() {
            let services = self
                .checked
                .label_values("service_name", None, Some(self.window));
            self.queue.ask(Purpose::Services, services);
        } else {
            for name in &self.checked.own.services {
                self.services.insert(name.clone(), None);
            }
        }
    }

    fn ask_types(&mut self) {
        if self.is_connect_absent {
            return;
        }
        let names: Vec<String> = self.services.keys().cloned().collect();
        for name in names {
            let types =
                self.checked
                    .label_values("__profile_type__", Some(&name), Some(self.window));
            self.queue.ask(Purpose::TypesOf(name), types);
        }
    }

    fn ask_graphs(&mut self) {
        let mut wanted: Vec<Wanted> = Vec::new();
        let known: Vec<String> = if self.types.is_empty() {
            self.checked.whole_types().cloned().collect()
        } else {
            self.types.clone()
        };
        let mut services: Vec<(Option<String>, Option<Vec<String>>)> = self
            .services
            .iter()
            .map(|(name, types)| (Some(name.clone()), types.clone()))
            .collect();
        if services.is_empty() && self.is_connect_absent {
            services.push((None, None));
        }
        for (service, own) in services {
            for kind in own.as_ref().unwrap_or(&known) {
                if self.checked.wants_type(kind) {
                    wanted.push(Wanted {
                        service: service.clone(),
                        kind: kind.clone(),
                    });
                }
            }
        }
        if wanted.is_empty() {
            self.tell_of_nothing();
        }
        let most = self.checked.own.max_profiles.unwrap_or(MOST_PROFILES);
        if wanted.len() > most {
            let first = wanted.get(most).map(name).unwrap_or_default();
            let text = format!(
                "{} were left out, since {most} are pulled (`max_profiles`): {first}, …; name what matters in `services` or `types`, or raise the cap",
                count((wanted.len() - most) as u64, "flame graph", "flame graphs"),
            );
            self.said.log.lost("limit_profiles", text, None);
            wanted.truncate(most);
        }
        for one in wanted {
            self.ask_graph(one, self.api);
        }
    }

    fn ask_graph(&mut self, wanted: Wanted, api: Api) {
        let request = self.checked.flame_graph(&wanted, self.window, api);
        self.queue.ask(Purpose::Graph(wanted, api), request);
    }

    fn tell_of_nothing(&mut self) {
        if self.stage == Stage::Graphs || !self.said.log.is_empty() {
            return;
        }
        if self.is_connect_absent {
            let text = "its Connect API is not there, which lists the profile types; name them in `types`, whole, to ask the render API for them";
            self.said.log.lost("profile_missing", text, None);
        } else {
            let text = "it has no profiles in this window that the settings (`selector`, `services`, `types`) leave; `tailscope doctor` shows what there is";
            self.said.log.note("no_profiles", text, None);
        }
    }

    fn take(&mut self, purpose: Purpose, answer: Answer) {
        match (purpose, answer) {
            (Purpose::Types, Answer::Good(body)) => self.types = answer::types(&body),
            (Purpose::Services, Answer::Good(body)) => {
                for name in answer::names(&body) {
                    self.services.insert(name, None);
                }
            }
            (Purpose::TypesOf(service), Answer::Good(body)) => {
                let types = answer::names(&body);
                // Who does not know the label answers with none: then every type is tried.
                if !types.is_empty() {
                    self.services.insert(service, Some(types));
                }
            }
            (Purpose::Types | Purpose::Services, Answer::Absent(_)) => {
                self.is_connect_absent = true;
                self.api = Api::Render;
            }
            (Purpose::Types | Purpose::Services, Answer::Refused { text, .. }) => {
                if self.said.log.is_empty() {
                    self.said.log.lost("refused", text, None);
                }
            }
            (Purpose::Graph(wanted, Api::Connect), Answer::Absent(_))
                if self.checked.own.api.is_none() =>
            {
                self.ask_graph(wanted, Api::Render);
            }
            (Purpose::Graph(wanted, _), Answer::Absent(text) | Answer::Refused { text, .. }) => {
                self.said
                    .missing
                    .entry(text)
                    .or_default()
                    .insert(name(&wanted));
            }
            // Without its own list every type is tried for a service.
            (Purpose::Graph(..), Answer::Good(_)) | (Purpose::TypesOf(_), _) => {}
        }
    }
}

/// `checkout process_cpu:cpu`.
fn name(wanted: &Wanted) -> String {
    let short: Vec<&str> = wanted.kind.split(':').take(2).collect();
    match &wanted.service {
        Some(service) => format!("{service} {}", short.join(":")),
        None => short.join(":"),
    }
}

impl Pull for PyroscopePull {
    fn next(&mut self) -> Step {
        self.advance();
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        self.take(purpose, answer::read(outcome));
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let said = std::mem::take(&mut self.said);
        let mut log = said.log;
        for (why, names) in said.missing {
            let shown: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
            let more = names.len() - shown.len();
            let names = if more == 0 {
                join_and(&shown)
            } else {
                format!("{} and {more} more", shown.join(", "))
            };
            let text = format!("{names} could not be had: {why}");
            log.lost("profile_missing", text, None);
        }
        log.into_warnings()
    }
}
