//! The pull: where the traces are and how they were sampled, how many there are, which, and then they themselves.

mod settle;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::TimeRange;
use crate::sources::queue::Queue;
use crate::sources::xray::Checked;
use crate::sources::xray::actions::{Action, secs};
use crate::sources::xray::answer::{self, Row};
use crate::sources::xray::plan::{self, Slice};
use crate::sources::xray::retrieval::Retrieval;
use crate::sources::xray::sampling::Sampling;
use crate::sources::xray::statistics::Graph;
use crate::sources::{Outcome, Progress, Pull, Request, Step, Ticket};

/// Seconds of one point of the statistics; Grafana asks only for this and for 300 (`xray.md` §1).
const PERIOD_S: u64 = 60;

/// What an answer is for.
#[derive(Debug, Clone)]
enum Purpose {
    /// Where the traces are.
    Destination,
    /// Rules of sampling.
    Rules,
    /// What they did.
    Ratios,
    /// Calls in all.
    Count,
    /// Who calls whom.
    Graph,
    /// Of one call, over time.
    Statistics(String),
    /// A piece of the list of traces.
    Summaries(Slice, Option<String>),
    /// Whole traces.
    Traces(Vec<String>),
    /// Begins a retrieval.
    Start(Retrieval),
    /// Is it ready?
    Poll(Retrieval),
    /// A page of it.
    Retrieved(Retrieval),
}

impl Purpose {
    /// Whether traces are missing without its answer.
    const fn is_of_traces(&self) -> bool {
        matches!(
            self,
            Self::Summaries(..)
                | Self::Traces(_)
                | Self::Start(_)
                | Self::Poll(_)
                | Self::Retrieved(_)
        )
    }
}

/// A question, to ask it again.
#[derive(Debug, Clone)]
struct Ask {
    purpose: Purpose,
    action: Action,
    /// As it is sent.
    request: Request,
    /// Its first page.
    first: Request,
    page: u32,
    /// The token that it was sent with.
    token: Option<String>,
    throttles: u32,
}

/// Where it stands; each stage waits for the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Destination,
    Facts,
    Summaries,
    Traces,
}

/// One pull.
#[derive(Debug)]
pub(super) struct XRayPull {
    checked: Checked,
    window: TimeRange,
    stage: Stage,
    queue: Queue<Ask>,
    is_in_logs: bool,
    /// Calls that the service counts in the window, when it says so.
    count: Option<u64>,
    sampling: Sampling,
    graph: Graph,
    rows: BTreeMap<String, Row>,
    /// Ids that a retrieval has not given yet.
    missing: BTreeSet<String>,
    unprocessed: BTreeSet<String>,
    /// Calls that were refused, each once.
    denied: BTreeSet<&'static str>,
    /// Calls that are not there, and can be done without.
    absent: BTreeSet<&'static str>,
    log: Reporter,
}

impl XRayPull {
    pub(super) fn new(checked: Checked, window: TimeRange) -> Self {
        Self {
            checked,
            window,
            stage: Stage::Begin,
            queue: Queue::default(),
            is_in_logs: false,
            count: None,
            sampling: Sampling::default(),
            graph: Graph::default(),
            rows: BTreeMap::new(),
            missing: BTreeSet::new(),
            unprocessed: BTreeSet::new(),
            denied: BTreeSet::new(),
            absent: BTreeSet::new(),
            log: Reporter::new(),
        }
    }

    fn ask(&mut self, action: Action, purpose: Purpose, request: Request) {
        let request = self.checked.dress(request);
        let ask = Ask {
            purpose,
            action,
            first: request.clone(),
            request: request.clone(),
            page: 1,
            token: None,
            throttles: 0,
        };
        self.queue.ask(ask, request);
    }

    fn ask_again(&mut self, ask: Ask) {
        let request = ask.request.clone();
        self.queue.ask(ask, request);
    }

    /// Begins the next stage once nothing of the last one is open.
    fn advance(&mut self) {
        while self.queue.is_idle() {
            self.stage = match self.stage {
                Stage::Begin => {
                    let request = Action::Destination.request(Map::new());
                    self.ask(Action::Destination, Purpose::Destination, request);
                    Stage::Destination
                }
                Stage::Destination => {
                    self.ask_facts();
                    Stage::Facts
                }
                Stage::Facts => {
                    self.ask_summaries();
                    self.ask_statistics();
                    Stage::Summaries
                }
                Stage::Summaries => {
                    self.ask_traces();
                    Stage::Traces
                }
                Stage::Traces => return,
            };
        }
    }

    fn ask_facts(&mut self) {
        let (rules, ratios) = (Action::SamplingRules, Action::SamplingStatistics);
        self.ask(rules, Purpose::Rules, rules.request(Map::new()));
        self.ask(ratios, Purpose::Ratios, ratios.request(Map::new()));
        for slice in plan::chunks(self.window) {
            self.ask_series(slice, None);
            let request = Action::ServiceGraph.request(self.over(slice));
            self.ask(Action::ServiceGraph, Purpose::Graph, request);
        }
    }

    /// The times of a piece, and the group.
    fn over(&self, slice: Slice) -> Map<String, Value> {
        let mut body = times(slice);
        if let Some(group) = &self.checked.own.group {
            body.insert("GroupName".to_owned(), Value::from(group.clone()));
        }
        body
    }

    /// Statistics over time: of one call, or of all together for their number.
    fn ask_series(&mut self, slice: Slice, selector: Option<String>) {
        let mut body = self.over(slice);
        body.insert("Period".to_owned(), Value::from(PERIOD_S));
        let purpose = match selector {
            Some(selector) => {
                let value = Value::from(selector.clone());
                body.insert("EntitySelectorExpression".to_owned(), value);
                Purpose::Statistics(selector)
            }
            None => Purpose::Count,
        };
        let request = Action::TimeSeries.request(body);
        self.ask(Action::TimeSeries, purpose, request);
    }

    fn ask_statistics(&mut self) {
        if self.denied.contains(Action::TimeSeries.name()) {
            return;
        }
        let (taken, left) = self.graph.busiest(self.checked.max_edges());
        if left > 0 {
            let text = format!(
                "the statistics of {left} calls between services were left out, the busiest {} were taken (`max_edges`)",
                taken.len()
            );
            self.log.lost("statistics_left_out", text, None);
        }
        for whose in taken {
            for slice in plan::chunks(self.window) {
                self.ask_series(slice, Some(whose.selector()));
            }
        }
    }

    fn ask_summaries(&mut self) {
        let most = self.checked.max_summaries();
        let share = self.share();
        let slices = plan::slices(self.window, self.count.map(|count| count.min(most)));
        let filters: Vec<Option<String>> = if self.checked.own.filters.is_empty() {
            vec![None]
        } else {
            self.checked.own.filters.iter().cloned().map(Some).collect()
        };
        self.preview(slices.len() * filters.len());
        if let Some(share) = share {
            let text = format!(
                "X-Ray counts about {} calls in the window, more than `max_summaries` ({most}): a share of {:.4} of the list of traces was asked for; ask for a shorter window, for `filters`, or raise the cap",
                self.count.unwrap_or(0),
                share
            );
            self.log.lost("summaries_sampled", text, None);
        }
        for filter in filters {
            for slice in &slices {
                self.ask_slice(*slice, filter.clone(), Duration::ZERO);
            }
        }
    }

    /// The share of the list to ask for, when it is longer than the cap. Filters make it shorter by nobody knows how much.
    fn share(&self) -> Option<f64> {
        let (count, most) = (self.count?, self.checked.max_summaries());
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        (count > most && self.checked.own.filters.is_empty())
            .then(|| (most as f64 / count as f64 * 1e4).ceil() / 1e4)
    }

    fn ask_slice(&mut self, slice: Slice, filter: Option<String>, delay: Duration) {
        let mut body = times(slice);
        let kind = self.checked.own.time_range.unwrap_or_default().word();
        body.insert("TimeRangeType".to_owned(), Value::from(kind));
        if let Some(filter) = &filter {
            let value = Value::from(filter.clone());
            body.insert("FilterExpression".to_owned(), value);
        }
        if let Some(share) = self.share() {
            body.insert("Sampling".to_owned(), Value::from(true));
            let strategy = serde_json::json!({"Name": "FixedRate", "Value": share});
            body.insert("SamplingStrategy".to_owned(), strategy);
        }
        let mut request = Action::Summaries.request(body);
        request.delay = delay;
        self.ask(
            Action::Summaries,
            Purpose::Summaries(slice, filter),
            request,
        );
    }

    /// What this is going to cost, as far as the service says how much there is.
    fn preview(&mut self, slices: usize) {
        let most = self.checked.max_traces();
        let slices = crate::base::text::count(slices as u64, "piece", "pieces");
        let text = self.count.map_or_else(
            || {
                format!(
                    "how many traces there are is not known before; the list is read in {slices}, and at most {most} traces are fetched whole"
                )
            },
            |count| {
                let whole = usize::try_from(count).unwrap_or(usize::MAX).min(most);
                format!(
                    "X-Ray counts {count} calls in the window; the list is read in {slices}, and at most {whole} traces are fetched whole, in {} requests",
                    whole.div_ceil(self.per_request())
                )
            },
        );
        self.log.note("cost_preview", text, None);
    }

    const fn per_request(&self) -> usize {
        if self.is_in_logs {
            plan::RETRIEVAL
        } else {
            plan::BATCH
        }
    }

    fn ask_traces(&mut self) {
        let most = self.checked.max_traces();
        let choice = plan::choose(&self.rows, &self.checked.trace_ids, most);
        if choice.left > 0 {
            let text = format!(
                "{} of {} traces were left out (`max_traces` {most}): the {} that failed or took longest were taken, and {} evenly of the others; ask for a shorter window, for `filters`, or raise the cap",
                choice.left, choice.of, choice.worst, choice.even
            );
            self.log.lost("traces_left_out", text, None);
        }
        if self.is_in_logs {
            self.missing.extend(choice.ids.iter().cloned());
            let whole = plan::whole(self.window);
            for ids in choice.ids.chunks(plan::RETRIEVAL) {
                let retrieval = Retrieval::new(ids.to_vec(), whole);
                let request = retrieval.start();
                self.ask(Action::StartRetrieval, Purpose::Start(retrieval), request);
            }
        } else {
            for ids in choice.ids.chunks(plan::BATCH) {
                self.ask_batch(ids.to_vec(), 0);
            }
        }
    }

    fn ask_batch(&mut self, ids: Vec<String>, again: u32) {
        let mut body = Map::new();
        body.insert("TraceIds".to_owned(), Value::from(ids.clone()));
        let mut request = Action::BatchTraces.request(body);
        request.again = again;
        if again > 0 {
            request.delay = Duration::from_secs(1 << (again - 1).min(5));
        }
        self.ask(Action::BatchTraces, Purpose::Traces(ids), request);
    }
}

fn times(slice: Slice) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("StartTime".to_owned(), secs(slice.from_ms));
    body.insert("EndTime".to_owned(), secs(slice.to_ms));
    body
}

impl Pull for XRayPull {
    fn next(&mut self) -> Step {
        self.advance();
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(ask) = self.queue.answered(ticket) else {
            return;
        };
        // Traces are long: of them only the ids are read here.
        if let Outcome::Answered(reply) = outcome
            && reply.is_good()
        {
            match &ask.purpose {
                Purpose::Traces(ids) => {
                    return self.take_traces(ids, ask.first.again, &reply.body);
                }
                Purpose::Poll(retrieval) => {
                    return self.take_poll(retrieval.clone(), &reply.body);
                }
                Purpose::Retrieved(_) => return self.take_retrieved(ask, &reply.body),
                _ => {}
            }
        }
        self.settle(ask, answer::read(outcome));
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        self.conclude();
        std::mem::take(&mut self.log).into_warnings()
    }
}
