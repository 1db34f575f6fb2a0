//! The pull: what is this server, which metrics has it, how much of each, and then the samples.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::{TimeRange, Timestamp};
use crate::model::pack::Packs;
use crate::sources::prometheus::answer::{self, Answer};
use crate::sources::prometheus::flavor::Flavor;
use crate::sources::prometheus::plan::{self, Raw, Wanted};
use crate::sources::prometheus::{Checked, MOST_SAMPLES};
use crate::sources::queue::Queue;
use crate::sources::request::query;
use crate::sources::{Outcome, Progress, Pull, Request, Step, Ticket};

/// What says whether scraping itself works (`prometheus.md` §2.2), the firing alerts, and Prometheus' own counters that
/// tell the causes of gaps apart (§2.5): pulled from every server.
const ALWAYS: &[&str] = &[
    "up",
    "scrape_*",
    "ALERTS",
    "process_start_time_seconds",
    "prometheus_target_interval_length_seconds",
    "prometheus_target_scrapes_*",
    "prometheus_target_scrape_pool_*",
    "prometheus_tsdb_out_of_order_samples_total",
    "prometheus_tsdb_too_old_samples_total",
    "prometheus_config_last_reload_*",
];
/// Assumed when no target says its own: Prometheus' default is 1 m, most set 15 s.
const USUAL_INTERVAL_S: f64 = 15.0;
/// Names in one question for counts.
const NAMES_PER_COUNT: usize = 100;
/// Points of a person's query when no step is given.
const POINTS: f64 = 11_000.0;

/// What an answer is for.
#[derive(Debug, Clone)]
enum Purpose {
    /// Which program it is.
    Build,
    /// Facts that are kept and not needed here.
    Fact,
    /// Targets with their intervals.
    Targets,
    /// Names of all metrics.
    Names,
    /// Series of each wanted metric at one instant.
    Counts,
    /// Raw samples.
    Raw(Raw),
    /// A piece of a person's query.
    Own(String),
    /// Exemplars.
    Exemplars,
}

/// Where it stands; each stage waits for the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Begin,
    Build,
    Facts,
    Counts,
    Samples,
}

/// One pull.
#[derive(Debug)]
pub(super) struct PrometheusPull {
    checked: Checked,
    window: TimeRange,
    flavor: Flavor,
    stage: Stage,
    queue: Queue<Purpose>,
    interval_s: f64,
    names: Vec<String>,
    wanted: BTreeMap<String, u64>,
    said: Said,
}

/// What must be said at the end.
#[derive(Debug, Default)]
struct Said {
    log: Reporter,
    /// Warnings of the server, each once.
    warnings: BTreeSet<String>,
}

impl PrometheusPull {
    pub(super) fn new(checked: Checked, window: TimeRange) -> Self {
        Self {
            checked,
            window,
            flavor: Flavor::default(),
            stage: Stage::Begin,
            queue: Queue::default(),
            interval_s: USUAL_INTERVAL_S,
            names: Vec::new(),
            wanted: BTreeMap::new(),
            said: Said::default(),
        }
    }

    fn ask(&mut self, purpose: Purpose, request: Request) {
        let request = self.checked.dress(request);
        self.queue.ask(purpose, request);
    }

    /// Begins the next stage once nothing of the last one is open.
    fn advance(&mut self) {
        while self.queue.is_idle() {
            self.stage = match self.stage {
                Stage::Begin => {
                    self.ask(Purpose::Build, Request::get("/api/v1/status/buildinfo"));
                    Stage::Build
                }
                Stage::Build => {
                    self.ask_facts();
                    Stage::Facts
                }
                Stage::Facts => {
                    self.ask_counts();
                    Stage::Counts
                }
                Stage::Counts => {
                    self.ask_samples();
                    Stage::Samples
                }
                Stage::Samples => return,
            };
        }
    }

    fn ask_facts(&mut self) {
        if self.flavor.has_status() {
            self.ask(Purpose::Targets, Request::get("/api/v1/targets?state=any"));
            for path in ["runtimeinfo", "flags", "config"] {
                self.ask(
                    Purpose::Fact,
                    Request::get(format!("/api/v1/status/{path}")),
                );
            }
            self.ask(Purpose::Fact, Request::get("/api/v1/rules"));
            self.ask(Purpose::Fact, Request::get("/api/v1/alerts"));
        }
        self.ask(Purpose::Fact, Request::get("/api/v1/metadata"));
        let mut fields = vec![
            ("start", secs(self.window.start.millis())),
            ("end", secs(self.window.end.millis())),
        ];
        if let Some(matchers) = &self.checked.own.matchers {
            fields.push(("match[]", format!("{{{matchers}}}")));
        }
        let path = path("/api/v1/label/__name__/values", &fields);
        self.ask(Purpose::Names, Request::get(path));
    }

    /// How many series each wanted metric has, at both ends of the window and in its middle.
    fn ask_counts(&mut self) {
        let packs = Packs::builtin();
        let wants = Wants {
            packs: self.checked.own.packs.unwrap_or(true).then_some(&packs),
            own: &self.checked.own.metrics,
        };
        let names: Vec<String> = self
            .names
            .iter()
            .filter(|name| wants.wants(name))
            .cloned()
            .collect();
        for name in &names {
            self.wanted.insert(name.clone(), 0);
        }
        let (start, end) = (self.window.start.millis(), self.window.end.millis());
        for names in names.chunks(NAMES_PER_COUNT) {
            for at in [start, start + (end - start) / 2, end] {
                let query = format!("count by (__name__) ({})", self.selector(names));
                let request = self.query(&[("query", query), ("time", secs(at))]).unkept();
                self.ask(Purpose::Counts, request);
            }
        }
    }

    fn ask_samples(&mut self) {
        let mut wanted: Vec<Wanted> = self
            .wanted
            .iter()
            .map(|(metric, series)| Wanted {
                metric: metric.clone(),
                series: *series,
            })
            .collect();
        // What tells of the scraping itself comes first, whatever is left out.
        wanted.sort_by_key(|w| {
            (
                !matches_any(&w.metric, ALWAYS.iter().copied()),
                w.metric.clone(),
            )
        });
        self.leave_out(&mut wanted);
        for raw in plan::raw(&wanted, self.window, self.interval_s) {
            self.ask_raw(raw);
        }
        for expr in self.checked.own.queries.clone() {
            self.ask_own(&expr);
        }
        if self.flavor.has_exemplars() {
            let buckets: Vec<&Wanted> = wanted
                .iter()
                .filter(|w| w.metric.ends_with("_bucket"))
                .collect();
            for bucket in buckets {
                let fields = [
                    ("query", self.selector(std::slice::from_ref(&bucket.metric))),
                    ("start", secs(self.window.start.millis())),
                    ("end", secs(self.window.end.millis())),
                ];
                let path = path("/api/v1/query_exemplars", &fields);
                self.ask(Purpose::Exemplars, Request::get(path));
            }
        }
    }

    /// Takes out of `wanted` what would go over the cap, and says so.
    fn leave_out(&mut self, wanted: &mut Vec<Wanted>) {
        let cap = self.checked.own.max_samples.unwrap_or(MOST_SAMPLES);
        #[expect(clippy::cast_precision_loss, reason = "a cap")]
        let cap_samples = cap as f64;
        let mut total = 0.0;
        let mut left = Vec::new();
        wanted.retain(|one| {
            let own = plan::samples(one.series.max(1), self.window, self.interval_s);
            let fits = total + own <= cap_samples;
            if fits {
                total += own;
            } else {
                left.push(one.metric.clone());
            }
            fits
        });
        if left.is_empty() {
            return;
        }
        let shown: Vec<&str> = left.iter().take(5).map(String::as_str).collect();
        let text = format!(
            "{} metrics were left out, since the pull would have gone over {cap} samples (`max_samples`): {}{}; ask for a shorter window, for `matchers`, or raise the cap",
            left.len(),
            shown.join(", "),
            if left.len() > shown.len() {
                ", …"
            } else {
                ""
            },
        );
        self.said.log.lost("limit_samples", text, None);
    }

    /// Raw samples of `[from_ms, to_ms)`. A range selector holds both its ends in Prometheus 2 and only the later one in
    /// Prometheus 3 (`prometheus.md` §1.2), so the range is asked one millisecond wider to the left: the sample that may come
    /// twice is one sample to the store.
    fn ask_raw(&mut self, raw: Raw) {
        let selector = self.selector(&raw.metrics);
        let request = if self.flavor == Flavor::VictoriaMetrics {
            let fields = [
                ("match[]", selector),
                ("start", secs(raw.from_ms)),
                ("end", secs(raw.to_ms - 1)),
            ];
            Request::get(path("/api/v1/export", &fields))
        } else {
            let range = format!("{selector}[{}ms]", raw.to_ms - raw.from_ms);
            self.query(&[("query", range), ("time", secs(raw.to_ms - 1))])
        };
        self.ask(Purpose::Raw(raw), request);
    }

    fn ask_own(&mut self, expr: &str) {
        let step_ms = self.checked.step_ms.unwrap_or_else(|| {
            let least = (self.window.secs() / POINTS * 1e3).ceil();
            #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a window")]
            let step = least.max(self.interval_s * 1e3) as i64;
            step.max(1)
        });
        for (start, end) in plan::stepped(self.window, step_ms) {
            let mut fields = vec![
                ("query", expr.to_owned()),
                ("start", secs(start)),
                ("end", secs(end)),
                ("step", secs(step_ms)),
            ];
            fields.extend(self.extra());
            let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
            let request = Request::form("/api/v1/query_range", &fields);
            self.ask(Purpose::Own(expr.to_owned()), request);
        }
    }

    /// An instant query by POST: names of metrics can be more than an address holds.
    fn query(&self, fields: &[(&'static str, String)]) -> Request {
        let mut fields = fields.to_vec();
        fields.extend(self.extra());
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        Request::form("/api/v1/query", &fields)
    }

    fn extra(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.flavor
            .query_fields()
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
    }

    /// `{__name__=~"a|b",namespace="shop"}`.
    fn selector(&self, names: &[String]) -> String {
        let mut selector = if let [one] = names {
            format!("{{__name__={}", quoted(one))
        } else {
            let names: Vec<String> = names.iter().map(|n| regex_escaped(n)).collect();
            format!("{{__name__=~{}", quoted(&names.join("|")))
        };
        if let Some(matchers) = &self.checked.own.matchers {
            selector.push(',');
            selector.push_str(matchers);
        }
        selector.push('}');
        selector
    }

    fn take(&mut self, purpose: Purpose, answer: Answer) {
        if let Answer::Good { warnings, .. } = &answer {
            self.said.warnings.extend(warnings.iter().cloned());
        }
        match (purpose, answer) {
            (Purpose::Build, answer) => self.take_build(&answer),
            (Purpose::Targets, Answer::Good { body, .. }) => {
                if let Some(interval) = answer::shortest_interval_s(&body) {
                    self.interval_s = interval;
                }
            }
            (Purpose::Names, Answer::Good { body, .. }) => {
                self.names = answer::strings(&body);
                self.names.sort();
            }
            (Purpose::Counts, Answer::Good { body, .. }) => {
                for (name, count) in answer::counts(&body) {
                    if let Some(known) = self.wanted.get_mut(&name) {
                        *known = count.max(*known);
                    }
                }
            }
            (Purpose::Names, answer) => self.refuse("names", "the names of its metrics", &answer),
            (Purpose::Raw(raw), Answer::TooMuch(why)) => match raw.halves() {
                Some(halves) => {
                    for half in halves {
                        self.ask_raw(half);
                    }
                }
                None => self.lose(&raw, &why),
            },
            (Purpose::Raw(raw), Answer::Refused { text, .. }) => self.lose(&raw, &text),
            (Purpose::Raw(raw), Answer::Absent) => self.lose(&raw, "it has no such endpoint"),
            (Purpose::Own(expr), answer @ (Answer::Refused { .. } | Answer::TooMuch(_))) => {
                self.refuse("query_failed", &format!("`{expr}`"), &answer);
            }
            (
                Purpose::Fact | Purpose::Targets | Purpose::Exemplars,
                Answer::Refused { status: 0, text },
            ) => {
                self.said.log.note("fact_missing", text, None);
            }
            // Without a count a metric is taken for small (a pull that is too much is halved); facts may be missing.
            _ => {}
        }
    }

    fn take_build(&mut self, answer: &Answer) {
        self.flavor = self.checked.flavor(answer);
        if let Answer::Refused { status, text } = answer
            && matches!(status, 0 | 401 | 403)
        {
            // Nobody else will be told anything either: one error says it better than forty.
            self.stage = Stage::Samples;
            self.said.log.lost("refused", text.clone(), None);
        }
    }

    fn lose(&mut self, raw: &Raw, why: &str) {
        let names = match raw.metrics.as_slice() {
            [one] => one.clone(),
            [first, rest @ ..] => format!("{first} and {} more", rest.len()),
            [] => String::new(),
        };
        let span = [raw.from_ms, raw.to_ms]
            .map(|ms| Timestamp::from_millis(ms).map_or_else(String::new, |t| t.to_rfc3339()));
        let [from, to] = span;
        self.said.log.lost(
            "samples_missing",
            format!("the samples of {names} could not be had: {why}; pull again for them"),
            Some(format!("{from} to {to}")),
        );
    }

    fn refuse(&mut self, code: &str, what: &str, answer: &Answer) {
        let why = match answer {
            Answer::Refused { text, .. } | Answer::TooMuch(text) => text.as_str(),
            Answer::Absent => "it has no such endpoint",
            Answer::Good { .. } => return,
        };
        let text = format!("{what} could not be had: {why}");
        self.said.log.lost(code, text, None);
    }
}

impl Pull for PrometheusPull {
    fn next(&mut self) -> Step {
        self.advance();
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        let Some(purpose) = self.queue.answered(ticket) else {
            return;
        };
        // A million samples are not read here: their envelope is enough.
        let answer = match (&purpose, outcome) {
            (Purpose::Raw(_) | Purpose::Own(_) | Purpose::Exemplars, Outcome::Answered(reply))
                if reply.is_good() =>
            {
                Answer::Good {
                    body: serde_json::Value::Null,
                    warnings: answer::warnings_at_the_ends(&reply.body),
                }
            }
            _ => answer::read(outcome),
        };
        self.take(purpose, answer);
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let said = std::mem::take(&mut self.said);
        let mut log = said.log;
        for warning in said.warnings {
            let text = format!("the server says of its answer: {warning}");
            if is_partial(&warning) {
                log.lost("partial_response", text, None);
            } else {
                log.note("server_warning", text, None);
            }
        }
        log.into_warnings()
    }
}

/// Thanos tells of stores that did not answer in warnings, with HTTP 200 (`prometheus.md` §1.5).
fn is_partial(warning: &str) -> bool {
    [
        "fetch series",
        "partial",
        "isPartial",
        "No StoreAPIs",
        "truncated",
    ]
    .iter()
    .any(|word| warning.contains(word))
}

/// Which metrics are wanted.
struct Wants<'a> {
    packs: Option<&'a Packs>,
    own: &'a [String],
}

impl Wants<'_> {
    fn wants(&self, name: &str) -> bool {
        let of_packs = || {
            self.packs.is_some_and(|packs| {
                packs
                    .iter()
                    .flat_map(|pack| &pack.metric)
                    .any(|metric| matches(name, &metric.name))
            })
        };
        matches_any(name, ALWAYS.iter().copied())
            || matches_any(name, self.own.iter().map(String::as_str))
            || of_packs()
    }
}

fn matches(name: &str, pattern: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(name == pattern, |prefix| name.starts_with(prefix))
}

fn matches_any<'a>(name: &str, mut patterns: impl Iterator<Item = &'a str>) -> bool {
    patterns.any(|pattern| matches(name, pattern))
}

/// Seconds with milliseconds, as the API takes them.
pub(super) fn secs(ms: i64) -> String {
    let text = format!("{}.{:03}", ms.div_euclid(1000), ms.rem_euclid(1000));
    text.strip_suffix(".000").unwrap_or(&text).to_owned()
}

/// A path with its query.
pub(super) fn path(path: &str, fields: &[(&str, String)]) -> String {
    let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
    format!("{path}?{}", query(&fields))
}

/// A string of `PromQL` (Go's rules).
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// RE2 without meaning.
fn regex_escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}
