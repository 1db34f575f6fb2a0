//! The pull: what is this server, which metrics has it, how much of each, and then the samples.

use std::collections::BTreeMap;

use crate::base::reporter::Warning;
use crate::base::time::TimeRange;
use crate::model::pack::Packs;
use crate::sources::prometheus::answer::{self, Answer};
use crate::sources::prometheus::flavor::{Flavor, Found, NO_TENANT};
use crate::sources::prometheus::matchers::{self, Matcher};
use crate::sources::prometheus::plan::{self, Own, Raw, Wanted};
use crate::sources::prometheus::questions::{self, path, secs};
use crate::sources::prometheus::said::{Said, Way};
use crate::sources::prometheus::wanted::{self, Wants};
use crate::sources::prometheus::{Checked, MOST_SAMPLES, read};
use crate::sources::queue::Queue;
use crate::sources::{Outcome, Progress, Pull, Request, Step, Ticket};

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
    /// Whether it is Thanos.
    Stores,
    /// Facts that are kept and not needed here.
    Fact,
    /// Its configuration, for the external labels.
    Config,
    /// Targets with their intervals.
    Targets,
    /// Names of all metrics.
    Names,
    /// Series of each wanted metric at one instant.
    Counts,
    /// Raw samples.
    Raw(Raw, Way),
    /// A piece of a person's query.
    Own(Own),
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
    /// The first question for raw samples goes alone, where it shows whether remote read is offered.
    Try,
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
    /// Metrics that are pulled, once the cap has been looked at.
    kept: Vec<Wanted>,
    /// Questions for raw samples that were not asked yet.
    raws: Vec<Raw>,
    way: Way,
    matchers: Vec<Matcher>,
    external: Vec<(String, String)>,
    announced: Option<String>,
    said: Said,
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
            kept: Vec::new(),
            raws: Vec::new(),
            way: Way::Range,
            matchers: Vec::new(),
            external: Vec::new(),
            announced: None,
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
                    self.flavor = self.checked.found().map(|f| f.flavor).unwrap_or_default();
                    if self.flavor.has_buildinfo() {
                        self.ask(Purpose::Build, Request::get("/api/v1/status/buildinfo"));
                    }
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
                    self.plan_samples();
                    if self.way == Way::Read && !self.raws.is_empty() {
                        let first = self.raws.remove(0);
                        self.ask_raw(first, Way::Read);
                    }
                    Stage::Try
                }
                Stage::Try => {
                    for raw in std::mem::take(&mut self.raws) {
                        self.ask_raw(raw, self.way);
                    }
                    self.ask_rest();
                    Stage::Samples
                }
                Stage::Samples => return,
            };
        }
    }

    fn ask_facts(&mut self) {
        if self.flavor.has_targets() {
            self.ask(Purpose::Targets, Request::get("/api/v1/targets?state=any"));
        }
        for name in self.flavor.status() {
            let purpose = if *name == "config" {
                Purpose::Config
            } else {
                Purpose::Fact
            };
            self.ask(purpose, Request::get(format!("/api/v1/status/{name}")));
        }
        for name in ["rules", "alerts", "metadata"] {
            self.ask(Purpose::Fact, Request::get(format!("/api/v1/{name}")));
        }
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
                let fields = [("query", query), ("time", secs(at))];
                let request = questions::form(self.flavor, "/api/v1/query", &fields).unkept();
                self.ask(Purpose::Counts, request);
            }
        }
    }

    /// What is pulled, what it costs, and by which way.
    fn plan_samples(&mut self) {
        let mut wanted: Vec<Wanted> = self
            .wanted
            .iter()
            .map(|(metric, series)| Wanted {
                metric: metric.clone(),
                series: *series,
            })
            .collect();
        wanted.sort_by_key(|w| (!wanted::is_of_scraping(&w.metric), w.metric.clone()));
        let cap = self.checked.own.max_samples.unwrap_or(MOST_SAMPLES);
        let (cost, refused) = wanted::cap(&mut wanted, cap, self.window, self.interval_s);
        if let Some(text) = &refused {
            self.said.lost("limit_samples", text.clone(), None);
        }
        self.raws = plan::raw(&wanted, self.window, self.interval_s);
        if cost.metrics > 0 {
            let text = format!("{}, in {} questions", cost.words(), self.raws.len());
            self.said.note("cost_preview", text.clone());
            let refused = refused.map_or_else(String::new, |text| format!("; {text}"));
            self.announced = Some(format!("{text}{refused}"));
        } else {
            self.announced = refused;
        }
        self.kept = wanted;
        self.choose_way();
    }

    fn choose_way(&mut self) {
        let wish = self.checked.own.remote_read;
        let matchers = matchers::parse(self.checked.own.matchers.as_deref().unwrap_or_default());
        match matchers {
            _ if self.flavor == Flavor::VictoriaMetrics && wish != Some(true) => {
                self.way = Way::Export;
            }
            _ if wish == Some(false) => self.said.not_read("`remote_read = false`"),
            _ if wish.is_none() && !self.flavor.may_have_remote_read() => {
                let why = format!("{} has no remote read", self.flavor.title());
                self.said.not_read(why);
            }
            None => self
                .said
                .not_read("`matchers` cannot be sent by remote read"),
            Some(matchers) => {
                self.matchers = matchers;
                self.way = Way::Read;
            }
        }
    }

    fn ask_raw(&mut self, raw: Raw, way: Way) {
        let selector = self.selector(&raw.metrics);
        let request = match way {
            Way::Read => read::request(&raw, &self.matchers, &selector, &self.external),
            // A million samples are not read here: the envelope at both ends is enough.
            Way::Range => questions::range(self.flavor, &raw, &selector).skimmed(),
            Way::Export => questions::export(&raw, selector).skimmed(),
        };
        self.ask(Purpose::Raw(raw, way), request);
    }

    /// The person's queries, and exemplars.
    fn ask_rest(&mut self) {
        for expr in self.checked.own.queries.clone() {
            let step_ms = self.checked.step_ms.unwrap_or_else(|| {
                let least = (self.window.secs() / POINTS * 1e3).ceil();
                #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a window")]
                let step = least.max(self.interval_s * 1e3) as i64;
                step.max(1)
            });
            for (from_ms, to_ms) in plan::stepped(self.window, step_ms) {
                self.ask_own(Own {
                    expr: expr.clone(),
                    from_ms,
                    to_ms,
                    step_ms,
                });
            }
        }
        if self.flavor.has_exemplars() {
            let buckets: Vec<String> = self
                .kept
                .iter()
                .filter(|w| w.metric.ends_with("_bucket"))
                .map(|w| w.metric.clone())
                .collect();
            for bucket in buckets {
                let fields = [
                    ("query", self.selector(&[bucket])),
                    ("start", secs(self.window.start.millis())),
                    ("end", secs(self.window.end.millis())),
                ];
                let path = path("/api/v1/query_exemplars", &fields);
                self.ask(Purpose::Exemplars, Request::get(path));
            }
        }
    }

    fn ask_own(&mut self, own: Own) {
        let fields = [
            ("query", own.expr.clone()),
            ("start", secs(own.from_ms)),
            ("end", secs(own.to_ms)),
            ("step", secs(own.step_ms)),
        ];
        let request = questions::form(self.flavor, "/api/v1/query_range", &fields).skimmed();
        self.ask(Purpose::Own(own), request);
    }

    fn selector(&self, names: &[String]) -> String {
        questions::selector(names, self.checked.own.matchers.as_deref())
    }

    fn take(&mut self, purpose: Purpose, answer: Answer, outcome: &Outcome<'_>) {
        if let Answer::Good { warnings, .. } = &answer {
            self.said.warnings.extend(warnings.iter().cloned());
        }
        match (purpose, answer) {
            (Purpose::Build, answer) => self.take_build(&answer, outcome),
            (Purpose::Stores, answer) => self.flavor = Found::of_stores(&answer, true).flavor,
            (Purpose::Targets, Answer::Good { body, .. }) => {
                if let Some(interval) = answer::shortest_interval_s(&body) {
                    self.interval_s = interval;
                }
            }
            (Purpose::Config, Answer::Good { body, .. }) => {
                self.external = read::external_labels(&body);
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
            (Purpose::Names, answer) => {
                let answer = self.advised(answer);
                self.said
                    .refuse("names", "the names of its metrics", &answer);
            }
            (Purpose::Raw(raw, way), answer) => self.take_raw(raw, way, answer),
            (Purpose::Own(own), answer) => self.take_own(&own, &answer),
            (
                Purpose::Fact | Purpose::Config | Purpose::Targets | Purpose::Exemplars,
                Answer::Refused { status: 0, text },
            ) => {
                self.said.note("fact_missing", text);
            }
            // Without a count a metric is taken for small (a pull that is too much is halved); facts may be missing.
            _ => {}
        }
    }

    fn take_build(&mut self, answer: &Answer, outcome: &Outcome<'_>) {
        let found = self
            .checked
            .found()
            .or_else(|| Found::of_build(answer, outcome, &self.checked.host));
        if let Some(found) = &found {
            self.flavor = found.flavor;
        }
        match answer {
            // Nothing else will be told either: one error says it better than forty. Whoever knows us and says no (403) may
            // guard its status alone, as proxies for tenants do; that of the names of its metrics tells.
            Answer::Refused {
                status: 0 | 401, ..
            } => {
                self.stage = Stage::Samples;
                if let Answer::Refused { text, .. } = self.advised(answer.clone()) {
                    self.said.lost("refused", text, None);
                }
            }
            // Prometheus and Thanos answer alike; the list of stores tells them apart.
            Answer::Good { .. } | Answer::Absent if found.is_none() => {
                self.ask(Purpose::Stores, Request::get("/api/v1/stores").unkept());
            }
            _ => {}
        }
    }

    /// A refusal with what to do about it, where that is known.
    fn advised(&self, answer: Answer) -> Answer {
        match answer {
            Answer::Refused { status, text } => {
                let advice = advice(status, &text, self.flavor);
                let text =
                    advice.map_or_else(|| text.clone(), |advice| format!("{text}; {advice}"));
                Answer::Refused { status, text }
            }
            other => other,
        }
    }

    fn take_raw(&mut self, raw: Raw, way: Way, answer: Answer) {
        let (why, halves) = match answer {
            Answer::Good { warnings, .. } => match answer::limit_warning(&warnings) {
                None => return self.said.came(way),
                // A store refused by itself: less may do, and what came stays.
                Some(why) => (why.clone(), raw.halves()),
            },
            Answer::TooMuch(why) => (why, raw.halves()),
            Answer::TooLong(why) => (why, raw.halves_of_time()),
            Answer::Refused { text, .. } => return self.fall_back(raw, way, &text),
            Answer::Absent => {
                return self.fall_back(raw, way, "it has no such endpoint");
            }
        };
        match halves {
            Some(halves) => {
                for half in halves {
                    self.ask_raw(half, way);
                }
            }
            None => self.said.lose(&raw, &why),
        }
    }

    /// What remote read does not give is asked by a range selector, and so is the rest when the first question showed that it
    /// is not offered.
    fn fall_back(&mut self, raw: Raw, way: Way, why: &str) {
        if way != Way::Read {
            return self.said.lose(&raw, why);
        }
        if self.stage == Stage::Try {
            self.way = Way::Range;
        }
        self.said
            .not_read(format!("remote read was refused: {why}"));
        self.ask_raw(raw, Way::Range);
    }

    fn take_own(&mut self, own: &Own, answer: &Answer) {
        let halves = match answer {
            Answer::Good { .. } | Answer::Absent => return,
            Answer::TooMuch(_) | Answer::TooLong(_) => own.halves(),
            Answer::Refused { .. } => None,
        };
        if let Some(halves) = halves {
            for half in halves {
                self.ask_own(half);
            }
        } else {
            let what = format!("`{}`", own.expr);
            self.said.refuse("query_failed", &what, answer);
        }
    }

    /// The outcome of a question for remote read. Native histograms that it leaves out are asked for by range selectors.
    fn read_answer(&mut self, raw: &Raw, outcome: &Outcome<'_>) -> Answer {
        let refused = |status, text: &str| Answer::Refused {
            status,
            text: text.to_owned(),
        };
        let Some(glance) = read::good(outcome) else {
            return match (outcome, answer::read(outcome)) {
                // Whatever kept the answer away (a proxy that knows no such path): the other way may be open.
                (Outcome::Failed(failure), _) => refused(0, &failure.text),
                (_, Answer::Good { .. }) => refused(200, "an answer that is no protobuf"),
                (_, other) => other,
            };
        };
        let counted = raw.metrics.iter().filter_map(|m| self.wanted.get(m));
        if self.stage == Stage::Try && !glance.has_series && counted.sum::<u64>() > 0 {
            return refused(
                200,
                "an answer without any series, of which it counted some",
            );
        }
        if !glance.histograms.is_empty() {
            self.said.native += 1;
            let raw = Raw {
                metrics: glance.histograms,
                ..raw.clone()
            };
            self.ask_raw(raw, Way::Range);
        }
        Answer::Good {
            body: serde_json::Value::Null,
            warnings: Vec::new(),
        }
    }
}

/// What to do about a refusal.
pub(super) fn advice(status: u16, text: &str, flavor: Flavor) -> Option<&'static str> {
    match (status, flavor) {
        _ if text.contains(NO_TENANT) => {
            Some("set `tenant` (it is sent as X-Scope-OrgID; several with `|` between)")
        }
        (_, Flavor::Amp) if text.contains("RequestExpired") || text.contains("not yet current") => {
            Some("set this machine's clock: AWS takes a signature for 15 minutes")
        }
        (_, Flavor::Amp) if text.contains("xpiredToken") || text.contains("expired") => {
            Some("the AWS session has ended: log in again (`aws sso login`)")
        }
        (403, Flavor::Amp) => Some(
            "check `profile` and `region`; allow aps:QueryMetrics, aps:GetLabels, aps:GetSeries and aps:GetMetricMetadata",
        ),
        (401, _) => Some(
            "check `http.basic_auth` (Grafana Cloud: instance id and token) or `http.authorization`",
        ),
        (403, _) => Some("it knows us and says no: ask for the right to query"),
        _ => None,
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
        let answer = match (&purpose, outcome) {
            (Purpose::Raw(raw, Way::Read), outcome) => self.read_answer(&raw.clone(), outcome),
            (Purpose::Raw(..) | Purpose::Own(_) | Purpose::Exemplars, Outcome::Answered(reply))
                if reply.is_good() =>
            {
                Answer::Good {
                    body: serde_json::Value::Null,
                    warnings: answer::warnings_at_the_ends(&reply.body),
                }
            }
            _ => answer::read(outcome),
        };
        self.take(purpose, answer, outcome);
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn announced(&mut self) -> Option<String> {
        self.announced.take()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.said).into_warnings()
    }
}
