//! What the machine makes of an answer: what to ask next for it, or what is to be said of its failing.

use std::time::Duration;

use serde_json::Value;

use super::{Ask, Purpose, Stage, XRayPull};
use crate::base::time::Timestamp;
use crate::sources::xray::actions::{Action, page};
use crate::sources::xray::answer::{self, Answer, Batch};
use crate::sources::xray::retrieval::{Retrieval, State};
use crate::sources::xray::{statistics, trace_id};

/// Times that a question is asked again after the service said "too often"; the driver has waited before, too.
const MOST_THROTTLES: u32 = 4;
/// A list of traces is halved sooner: a shorter window is less work for the service.
const THROTTLES_OF_A_SLICE: u32 = 2;
/// Times that traces are asked for again that were not processed.
const MOST_AGAIN: u32 = 3;
/// Pages of one question. A service that gives more turns in a circle.
const MOST_PAGES: u32 = 1_000;
/// Ids that a warning names.
const SHOWN: usize = 3;

impl XRayPull {
    pub(super) fn take(&mut self, ask: Ask, body: &Value) {
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
    pub(super) fn take_traces(&mut self, ids: &[String], again: u32, body: &[u8]) {
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

    pub(super) fn take_poll(&mut self, retrieval: Retrieval, body: &[u8]) {
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

    pub(super) fn take_retrieved(&mut self, ask: Ask, body: &[u8]) {
        let Some(batch) = Batch::of(body) else {
            let text = format!("page {} of a retrieval cannot be read", ask.page);
            return self.log.lost("traces_missing", text, None);
        };
        for id in batch.came() {
            // In this mode ids may come back in the spelling of W3C.
            self.missing.remove(id);
            if let Some(id) = trace_id(id) {
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
            return self.too_much(&ask, why, Duration::from_secs(1 << most));
        }
        ask.request.delay = Duration::from_secs(1 << ask.throttles);
        ask.throttles += 1;
        // The answer that said so is kept under the name of the question.
        ask.request.again += 1;
        self.ask_again(ask);
    }

    /// A slice is halved; of anything else there is no smaller question.
    fn too_much(&mut self, ask: &Ask, why: &str, delay: Duration) {
        if let Purpose::Summaries(slice, filter) = &ask.purpose
            && let Some(halves) = slice.halves()
        {
            for half in halves {
                self.ask_slice(half, filter.clone(), delay);
            }
            return;
        }
        self.lose(ask, why);
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
        // It says the same to each.
        let action = ask.action;
        self.queue.forget(|waiting| waiting.action == action);
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
        self.queue.forget(|_| true);
        self.stage = Stage::Traces;
        self.log.lost("refused", why, None);
    }

    pub(super) fn settle(&mut self, ask: Ask, answer: Answer) {
        let is_first = matches!(ask.purpose, Purpose::Destination);
        match answer {
            Answer::Good(body) => self.take(ask, &body),
            Answer::Throttled(why) => self.throttled(ask, &why),
            Answer::TooMuch(why) => self.too_much(&ask, &why, Duration::ZERO),
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
    pub(super) fn conclude(&mut self) {
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

/// The window of a piece, for a warning.
fn place(purpose: &Purpose) -> Option<String> {
    let Purpose::Summaries(slice, _) = purpose else {
        return None;
    };
    let [from, to] = [slice.from_ms, slice.to_ms]
        .map(|ms| Timestamp::from_millis(ms).map_or_else(String::new, Timestamp::to_rfc3339));
    Some(format!("{from} to {to}"))
}
