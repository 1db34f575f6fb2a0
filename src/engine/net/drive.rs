//! The loop: which machine may ask next, what came back, who is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use crate::base::clock::Stopwatch;
use crate::base::reporter::Warning;
use crate::engine::cancel::Cancel;
use crate::engine::net::clients::Client;
use crate::engine::net::gate::Gate;
use crate::engine::net::send::{Sent, is_good, send};
use crate::engine::net::unpack;
use crate::engine::net::{
    Job, Keeper, NetError, NetOptions, Pulled, SourceEnd, SourceProgress, Watch,
};
use crate::model::exchange::Exchange;
use crate::sources::request::SKIMMED;
use crate::sources::{
    Failure, FailureKind, Outcome, Pull, Reply, Request, SourceSettings, Step, Ticket,
};

/// How often somebody is told, and how soon a stop is seen.
const BEAT: Duration = Duration::from_millis(50);
/// Of the notes on the way (redirects, waits) so many of each source are told.
const MOST_NOTES: usize = 5;

/// One source under way.
struct Runner {
    name: String,
    pull: Box<dyn Pull>,
    /// How to reach it, or why it cannot be tried.
    client: Result<Arc<Client>, Failure>,
    gate: Arc<Gate>,
    in_flight: u32,
    bytes: u64,
    answered: u64,
    good: u64,
    is_done: bool,
    failure: Option<Failure>,
    notes: Vec<String>,
}

type Landed = (usize, Ticket, bool, Sent);

pub(super) async fn drive(
    jobs: Vec<Job>,
    options: NetOptions,
    keeper: &mut dyn Keeper,
    watch: &mut dyn Watch,
    cancel: &Cancel,
) -> Result<Pulled, NetError> {
    let mut gates: BTreeMap<String, Arc<Gate>> = BTreeMap::new();
    let mut runners = Vec::new();
    for job in jobs {
        runners.push(Runner::new(job, options, &mut gates).await);
    }
    let since = Stopwatch::start();
    let mut tasks: JoinSet<Landed> = JoinSet::new();
    let mut beat = tokio::time::interval(BEAT);
    let mut is_told = since.elapsed();
    let mut is_cancelled = false;
    loop {
        for (at, runner) in runners.iter_mut().enumerate() {
            runner.fill(at, keeper, &mut tasks);
            if let Some(text) = runner.pull.announced() {
                watch.announced(&runner.name, &text);
            }
        }
        if runners.iter().all(|r| r.is_done) {
            break;
        }
        tokio::select! {
            Some(landed) = tasks.join_next() => {
                // A task that panicked is a defect of ours; it must not end as silence.
                let (at, ticket, is_kept, sent) = match landed {
                    Ok(landed) => landed,
                    Err(error) => std::panic::resume_unwind(error.into_panic()),
                };
                if let Some(runner) = runners.get_mut(at) {
                    runner.land(ticket, is_kept, sent, keeper)?;
                }
            }
            _ = beat.tick() => {}
        }
        if cancel.is_cancelled() {
            is_cancelled = true;
            break;
        }
        if since.elapsed().saturating_sub(is_told) >= BEAT * 2 {
            is_told = since.elapsed();
            tell(&runners, since.elapsed(), watch);
        }
    }
    tasks.abort_all();
    tell(&runners, since.elapsed(), watch);
    let ends = runners.into_iter().map(|r| r.end(is_cancelled)).collect();
    Ok(Pulled { ends, is_cancelled })
}

fn tell(runners: &[Runner], elapsed: Duration, watch: &mut dyn Watch) {
    let progress: Vec<SourceProgress> = runners.iter().map(|r| r.progress(elapsed)).collect();
    watch.told(&progress);
}

impl Runner {
    async fn new(job: Job, options: NetOptions, gates: &mut BTreeMap<String, Arc<Gate>>) -> Self {
        let SourceSettings { name, limits, .. } = job.settings.clone();
        let client = if options.is_offline {
            Err(offline(&job.settings))
        } else {
            Client::new(job.settings).await
        };
        let host = client
            .as_ref()
            .map_or_else(|_| name.clone(), |c| c.host.clone());
        let gate = gates
            .entry(host)
            .or_insert_with(|| Arc::new(Gate::new(limits.requests_at_once, limits.requests_per_s)));
        Self {
            name,
            pull: job.pull,
            client,
            gate: Arc::clone(gate),
            in_flight: 0,
            bytes: 0,
            answered: 0,
            good: 0,
            is_done: false,
            failure: None,
            notes: Vec::new(),
        }
    }

    /// Starts requests while the host has room. What an earlier pull left is fed at once.
    fn fill(&mut self, at: usize, keeper: &mut dyn Keeper, tasks: &mut JoinSet<Landed>) {
        while !self.is_done && self.gate.enter() {
            let is_sent = match self.pull.next() {
                Step::Fetch(ticket, request) => self.start(at, ticket, request, keeper, tasks),
                Step::Wait => {
                    self.gate.leave();
                    return;
                }
                Step::Done => {
                    self.is_done = true;
                    false
                }
            };
            if !is_sent {
                self.gate.leave();
            }
        }
    }

    /// Sends a request; `false` when its place at the gate is not needed any more.
    fn start(
        &mut self,
        at: usize,
        ticket: Ticket,
        request: Request,
        keeper: &mut dyn Keeper,
        tasks: &mut JoinSet<Landed>,
    ) -> bool {
        let client = match &self.client {
            Ok(client) => Arc::clone(client),
            Err(failure) => {
                let failure = failure.clone();
                self.fail(ticket, failure);
                return false;
            }
        };
        let key = request.question().key(&self.name);
        if let Some(earlier) = request.is_kept.then(|| keeper.earlier(&key)).flatten() {
            let limit = client.settings.limits.unpacked_bytes;
            self.replay(ticket, &earlier, limit, request.is_skimmed);
            return false;
        }
        self.in_flight += 1;
        let gate = Arc::clone(&self.gate);
        tasks.spawn(async move {
            let is_kept = request.is_kept;
            let sent = send(client, gate, request).await;
            (at, ticket, is_kept, sent)
        });
        true
    }

    fn replay(&mut self, ticket: Ticket, earlier: &Exchange, limit: u64, is_skimmed: bool) {
        let encoding = earlier.answer.header("content-encoding");
        let body = &earlier.answer.body;
        let unpacked = if is_skimmed {
            unpack::skim(encoding, body, limit, SKIMMED)
        } else {
            unpack::unpack(encoding, body, limit)
        };
        match unpacked {
            Ok(body) => {
                let reply = Reply {
                    status: earlier.answer.status,
                    headers: earlier.answer.headers.clone(),
                    body,
                    is_cut: earlier.answer.cut.is_some(),
                };
                self.answered += 1;
                self.good += 1;
                self.pull.feed(ticket, &Outcome::Answered(&reply));
            }
            Err(fault) => {
                let failure = Failure {
                    kind: FailureKind::Protocol,
                    text: format!(
                        "an answer of the earlier recording cannot be unpacked: {fault:?}"
                    ),
                    advice: "record to another file".to_owned(),
                };
                self.fail(ticket, failure);
            }
        }
    }

    fn fail(&mut self, ticket: Ticket, failure: Failure) {
        self.pull.feed(ticket, &Outcome::Failed(&failure));
        self.failure.get_or_insert(failure);
    }

    /// Keeps what came, then tells the machine.
    fn land(
        &mut self,
        ticket: Ticket,
        is_kept: bool,
        sent: Sent,
        keeper: &mut dyn Keeper,
    ) -> Result<(), NetError> {
        self.gate.leave();
        self.in_flight -= 1;
        self.bytes += sent.bytes;
        for note in sent.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        match sent.outcome {
            Ok((exchange, reply)) => {
                if is_kept {
                    keeper.keep(&exchange).map_err(NetError::Keep)?;
                }
                self.answered += 1;
                self.good += u64::from(is_good(reply.status));
                self.pull.feed(ticket, &Outcome::Answered(&reply));
            }
            Err(failure) => self.fail(ticket, failure),
        }
        Ok(())
    }

    fn progress(&self, elapsed: Duration) -> SourceProgress {
        let progress = self.pull.progress();
        let secs = elapsed.as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "a rate to look at")]
        let (bytes, answered, open) = (
            self.bytes as f64,
            progress.answered as f64,
            progress.expected.saturating_sub(progress.answered) as f64,
        );
        let left = (answered > 0.0 && !self.is_done)
            .then(|| Duration::from_secs_f64((secs / answered * open).min(1e6)));
        SourceProgress {
            name: self.name.clone(),
            answered: progress.answered,
            expected: progress.expected,
            bytes: self.bytes,
            in_flight: self.in_flight,
            rate_bytes_per_s: bytes / secs,
            left,
            is_done: self.is_done,
        }
    }

    fn end(mut self, is_cancelled: bool) -> SourceEnd {
        let mut warnings = self.pull.warnings();
        for note in self.notes.iter().take(MOST_NOTES) {
            warnings.push(warning("on_the_way", note.clone(), false));
        }
        if is_cancelled && !self.is_done {
            let progress = self.pull.progress();
            let text = format!(
                "the pull was stopped after {} of at least {} requests; run it again to go on",
                progress.answered, progress.expected
            );
            warnings.push(warning("stopped", text, true));
        }
        let failure = self.failure.filter(|_| self.good == 0);
        if let Some(failure) = &failure
            && !warnings.iter().any(|w| w.lossy && w.text == failure.text)
        {
            warnings.push(warning("unreachable", failure.text.clone(), true));
        }
        SourceEnd {
            name: self.name,
            warnings,
            failure,
            answered: self.answered,
            good: self.good,
            bytes: self.bytes,
        }
    }
}

fn warning(code: &str, text: String, lossy: bool) -> Warning {
    Warning {
        code: code.to_owned(),
        text,
        at: None,
        lossy,
    }
}

/// Nothing is sent, and no name is looked up.
pub(super) fn offline(settings: &SourceSettings) -> Failure {
    Failure {
        kind: FailureKind::Offline,
        text: format!(
            "{} was not asked, since the network is not to be used (--offline)",
            settings.name
        ),
        advice: "leave `--offline` out to use the network".to_owned(),
    }
}
