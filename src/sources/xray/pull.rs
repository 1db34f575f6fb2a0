//! The pull: where the traces are and how they were sampled, how many there are, which, and then they themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::queue::Queue;
use crate::sources::xray::Checked;
use crate::sources::xray::actions::{Action, page, secs};
use crate::sources::xray::answer::{self, Answer, Batch, Row};
use crate::sources::xray::plan::{self, Slice};
use crate::sources::xray::retrieval::{Retrieval, State};
use crate::sources::xray::sampling::Sampling;
use crate::sources::xray::statistics::{self, Graph};
use crate::sources::{Outcome, Progress, Pull, Request, Step, Ticket};

/// Times that a question is asked again after the service said "too often"; the driver has waited before, too.
const MOST_THROTTLES: u32 = 4;
/// A list of traces is halved sooner: a shorter window is less work for the service.
const THROTTLES_OF_A_SLICE: u32 = 2;
/// Times that traces are asked for again that were not processed.
const MOST_AGAIN: u32 = 3;
/// Pages of one question. A service that gives more turns in a circle.
const MOST_PAGES: u32 = 1_000;
/// Seconds of one point of the statistics; Grafana asks only for this and for 300 (`xray.md` §1).
const PERIOD_S: u64 = 60;
/// Ids that a warning names.
const SHOWN: usize = 3;

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
        if choice.worst + choice.even < choice.of && choice.worst + choice.even > 0 || most == 0 {
            let text = format!(
                "{} of {} traces were left out (`max_traces` {most}): the {} that failed or took longest were taken, and {} evenly of the others; ask for a shorter window, for `filters`, or raise the cap",
                choice.of.saturating_sub(choice.worst + choice.even),
                choice.of,
                choice.worst,
                choice.even
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

    fn take(&mut self, ask: Ask, body: &Value) {
        match ask.purpose {
            Purpose::Destination => {
                let word = body.get("Destination").and_then(Value::as_str);
                self.is_in_logs = word == Some("CloudWatchLogs");
            }
            Purpose::Rules => self.sampling.take_rules(body),
            Purpose::Ratios => self.sampling.take_counts(body),
            Purpose::Count => {
                let more = statistics::total(body);
                self.count = Some(self.count.unwrap_or(0).saturating_add(more));
            }
            Purpose::Graph => self.graph.take(body),
            Purpose::Summaries(..) => {
                for row in answer::rows(body) {
                    self.rows.insert(row.id.clone(), row);
                }
            }
            Purpose::Start(mut retrieval) => {
                match body.get("RetrievalToken").and_then(Value::as_str) {
                    Some(token) => {
                        retrieval.began(token);
                        self.poll(retrieval);
                    }
                    None => self.lose_traces(&retrieval.ids, "the answer has no RetrievalToken"),
                }
                return;
            }
            Purpose::Statistics(_)
            | Purpose::Traces(_)
            | Purpose::Poll(_)
            | Purpose::Retrieved(_) => return,
        }
        if let Some(token) = answer::next_token(body) {
            self.turn(ask, token);
        }
    }

    /// Asks for the next page.
    fn turn(&mut self, mut ask: Ask, token: &str) {
        let is_circle = ask.token.as_deref() == Some(token) || ask.page >= MOST_PAGES;
        let is_full = matches!(ask.purpose, Purpose::Summaries(..))
            && self.rows.len() as u64 >= self.checked.max_summaries().saturating_mul(2);
        if is_circle || is_full {
            let why = if is_full {
                "the list is much longer than `max_summaries`"
            } else {
                "its pages do not end"
            };
            let text = format!(
                "{} was read no further than page {}: {why}; ask for a shorter window or for `filters`",
                ask.action.name(),
                ask.page
            );
            self.log
                .lost("summaries_missing", text, place(&ask.purpose));
            return;
        }
        ask.page += 1;
        ask.request = page(&ask.first, token, ask.page);
        ask.token = Some(token.to_owned());
        ask.throttles = 0;
        self.ask_again(ask);
    }

    /// Whole traces came: which did not?
    fn take_traces(&mut self, ids: &[String], again: u32, body: &[u8]) {
        let Some(batch) = Batch::of(body) else {
            return self.lose_traces(ids, "the answer is not of the form that it should be");
        };
        let mut rest: Vec<String> = batch
            .unprocessed()
            .into_iter()
            .filter(|id| ids.contains(id))
            .collect();
        rest.sort();
        rest.dedup();
        if rest.is_empty() {
            return;
        }
        if again < MOST_AGAIN {
            self.ask_batch(rest, again + 1);
        } else {
            self.unprocessed.extend(rest);
        }
    }

    fn poll(&mut self, mut retrieval: Retrieval) {
        match retrieval.poll() {
            Some(request) => {
                self.ask(Action::ListRetrieved, Purpose::Poll(retrieval), request);
            }
            None => self.lose_traces(&retrieval.ids, "the retrieval did not end"),
        }
    }

    fn take_poll(&mut self, retrieval: Retrieval, body: &[u8]) {
        let batch = Batch::of(body).unwrap_or_default();
        let word = batch.retrieval_status.as_deref();
        match Retrieval::state(word) {
            State::Runs => self.poll(retrieval),
            State::Complete => {
                let request = retrieval.list();
                let purpose = Purpose::Retrieved(retrieval);
                self.ask(Action::ListRetrieved, purpose, request);
            }
            State::Failed => {
                let why = format!("the retrieval ended as {}", word.unwrap_or("nothing known"));
                self.lose_traces(&retrieval.ids, &why);
            }
        }
    }

    fn take_retrieved(&mut self, ask: Ask, body: &[u8]) {
        let Some(batch) = Batch::of(body) else {
            let text = format!("page {} of a retrieval cannot be read", ask.page);
            return self.log.lost("traces_missing", text, None);
        };
        for id in batch.came() {
            // In this mode ids may come back in the spelling of W3C.
            self.missing.remove(id);
            if let Some(id) = super::trace_id(id) {
                self.missing.remove(&id);
            }
        }
        if let Some(token) = batch.next() {
            self.turn(ask, token);
        }
    }

    /// Waits and asks again, or halves, or gives up.
    fn throttled(&mut self, mut ask: Ask, why: &str) {
        let most = match ask.purpose {
            Purpose::Summaries(..) => THROTTLES_OF_A_SLICE,
            _ => MOST_THROTTLES,
        };
        if ask.throttles >= most {
            return self.too_much(ask, why, Duration::from_secs(1 << most));
        }
        ask.request.delay = Duration::from_secs(1 << ask.throttles);
        ask.throttles += 1;
        // The answer that said so is kept under the name of the question.
        ask.request.again += 1;
        self.ask_again(ask);
    }

    /// A slice is halved; of anything else there is no smaller question.
    fn too_much(&mut self, ask: Ask, why: &str, delay: Duration) {
        if let Purpose::Summaries(slice, filter) = &ask.purpose
            && let Some(halves) = slice.halves()
        {
            for half in halves {
                self.ask_slice(half, filter.clone(), delay);
            }
            return;
        }
        self.lose(&ask, why);
    }

    fn invalid(&mut self, ask: Ask, why: &str) {
        match &ask.purpose {
            // One bad id costs only itself.
            Purpose::Traces(ids) if ids.len() > 1 => {
                for id in ids.clone() {
                    self.ask_batch(vec![id], 0);
                }
            }
            // A token of an earlier pull may have expired.
            Purpose::Summaries(..) | Purpose::Graph | Purpose::Retrieved(_)
                if ask.page > 1 && ask.first.again < 1 =>
            {
                let mut ask = ask;
                ask.first.again += 1;
                ask.request = ask.first.clone();
                ask.page = 1;
                ask.token = None;
                self.ask_again(ask);
            }
            _ => self.lose(&ask, why),
        }
    }

    fn lose(&mut self, ask: &Ask, why: &str) {
        match &ask.purpose {
            Purpose::Traces(ids) => self.lose_traces(ids, why),
            Purpose::Start(retrieval)
            | Purpose::Poll(retrieval)
            | Purpose::Retrieved(retrieval) => {
                self.lose_traces(&retrieval.ids, why);
            }
            Purpose::Summaries(_, filter) => {
                let filter = filter
                    .as_ref()
                    .map_or_else(String::new, |f| format!(" of `{f}`"));
                let text = format!(
                    "the list of traces{filter} could not be had: {why}; pull again for it"
                );
                self.log
                    .lost("summaries_missing", text, place(&ask.purpose));
            }
            Purpose::Graph => {
                let text = format!("the service graph could not be had: {why}");
                self.log.lost("graph_missing", text, None);
            }
            Purpose::Statistics(selector) => {
                let text = format!("the statistics of `{selector}` could not be had: {why}");
                self.log.lost("statistics_missing", text, None);
            }
            Purpose::Destination | Purpose::Rules | Purpose::Ratios | Purpose::Count => {
                let text = format!("{} could not be had: {why}", ask.action.name());
                self.log.note("fact_missing", text, None);
            }
        }
    }

    fn lose_traces(&mut self, ids: &[String], why: &str) {
        for id in ids {
            self.missing.remove(id);
        }
        let text = format!(
            "{} could not be had: {why}; pull again for them",
            named(ids.iter(), ids.len())
        );
        self.log.lost("traces_missing", text, None);
    }

    /// Says no once for each call, with the right that it needs.
    fn denied(&mut self, ask: &Ask, why: &str) {
        if !self.denied.insert(ask.action.name()) {
            return;
        }
        let text = format!(
            "{} is not allowed: {why}; the role or user needs `{}`",
            ask.action.name(),
            ask.action.right()
        );
        if matches!(
            ask.purpose,
            Purpose::Destination | Purpose::Rules | Purpose::Ratios
        ) {
            self.log.note("fact_missing", text, None);
        } else {
            self.log.lost("access_denied", text, None);
        }
    }

    /// Nobody else will be told anything either: one error says it better than a thousand.
    fn stop(&mut self, why: String) {
        self.queue.forget();
        self.stage = Stage::Traces;
        self.log.lost("refused", why, None);
    }

    fn settle(&mut self, ask: Ask, answer: Answer) {
        let is_first = matches!(ask.purpose, Purpose::Destination);
        match answer {
            Answer::Good(body) => self.take(ask, &body),
            Answer::Throttled(why) => self.throttled(ask, &why),
            Answer::TooMuch(why) => self.too_much(ask, &why, Duration::ZERO),
            Answer::Unknown(why) => self.stop(why),
            Answer::Unreached(why) if is_first => self.stop(why),
            Answer::Denied(why) => self.denied(&ask, &why),
            Answer::Invalid(why) => self.invalid(ask, &why),
            Answer::Absent if !ask.purpose.is_of_traces() => {
                self.absent.insert(ask.action.name());
            }
            Answer::Absent => self.lose(&ask, "there is no such call at this address"),
            Answer::Unreached(why) | Answer::Refused(why) => self.lose(&ask, &why),
        }
    }

    /// What remained open.
    fn conclude(&mut self) {
        if !self.absent.is_empty() {
            let names: Vec<&str> = std::mem::take(&mut self.absent).into_iter().collect();
            let text = format!(
                "there is no {} at this address: an emulator, perhaps",
                names.join(", ")
            );
            self.log.note("fact_missing", text, None);
        }
        if !self.unprocessed.is_empty() {
            let text = format!(
                "{} were not processed after {MOST_AGAIN} more tries (expired, not indexed yet, or of another region); pull again for them",
                named(self.unprocessed.iter(), self.unprocessed.len())
            );
            self.log.lost("unprocessed_traces", text, None);
        }
        if !self.missing.is_empty() && self.queue.is_idle() {
            let text = format!(
                "{} were not in what was retrieved of `aws/spans`; pull again for them",
                named(self.missing.iter(), self.missing.len())
            );
            self.log.lost("traces_missing", text, None);
        }
        if self.is_in_logs {
            self.log.note(
                "index_sample",
                "the spans of this account lie in CloudWatch Logs (Transaction Search): the list of traces holds only the share that X-Ray indexes, 1 % unless set otherwise",
                None,
            );
        }
        if !self.rows.is_empty() || self.count.is_some_and(|count| count > 0) {
            self.log.note("sampled", self.sampling.words(), None);
        }
    }
}

/// `7 traces (1-…, 1-…, …)`.
fn named<'a>(ids: impl Iterator<Item = &'a String>, count: usize) -> String {
    let shown: Vec<&str> = ids.take(SHOWN).map(String::as_str).collect();
    let more = if count > SHOWN { ", …" } else { "" };
    format!(
        "{} ({}{more})",
        crate::base::text::count(count as u64, "trace", "traces"),
        shown.join(", ")
    )
}

fn times(slice: Slice) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("StartTime".to_owned(), secs(slice.from_ms));
    body.insert("EndTime".to_owned(), secs(slice.to_ms));
    body
}

/// The window of a piece, for a warning.
fn place(purpose: &Purpose) -> Option<String> {
    let Purpose::Summaries(slice, _) = purpose else {
        return None;
    };
    let [from, to] = [slice.from_ms, slice.to_ms]
        .map(|ms| Timestamp::from_millis(ms).map_or_else(String::new, Timestamp::to_rfc3339));
    Some(format!("{from} to {to}"))
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
