//! Grafana's annotations: what people and pipelines marked, and how its alerts turned.
//!
//! "Annotations HTTP API" of Grafana's documentation (`from` and `to` in milliseconds, `limit` 100 unless said, no pages) and
//! `logs.md` §6. Answers come newest first, so a window that holds more than `limit` is halved until each piece holds less.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::base::reporter::{Reporter, Warning};
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::look::{Look, Questions};
use crate::sources::queue::Queue;
use crate::sources::request::query;
use crate::sources::said::{self, Refusal};
use crate::sources::{
    Checkup, Kind, Outcome, Progress, Pull, Request, SettingsError, SourceSettings, Step, Ticket,
};

/// Annotations in one answer, unless the settings say otherwise.
const USUAL_LIMIT: u32 = 5_000;
/// Questions in one pull, at most: halves of halves.
const MOST_QUESTIONS: u32 = 256;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct GrafanaAnnotations;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Organisation, sent as `X-Grafana-Org-Id` [default: the one of the token or user].
    org_id: Option<u64>,
    /// Tags that an annotation must carry [default: any].
    tags: Vec<String>,
    /// Whether one of the tags is enough [default: false, all of them].
    match_any: bool,
    /// `annotation` for what people and pipelines wrote, `alert` for turns of alerts [default: both].
    only: Option<Only>,
    /// The dashboard that they belong to, by its UID [default: all, and those of none].
    dashboard_uid: Option<String>,
    /// Annotations in one answer [default: 5000]. A window that holds more is asked for in halves.
    limit: Option<u32>,
}

/// Which annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Only {
    Annotation,
    Alert,
}

impl Own {
    fn checked(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Self = source.own()?;
        if source.url.is_none() {
            let expected = "the base address of Grafana, without `/api`";
            return Err(source.error("url", "nothing", expected));
        }
        if own.limit == Some(0) {
            return Err(source.error("limit", "0", "1 or more"));
        }
        Ok(own)
    }

    fn limit(&self) -> u32 {
        self.limit.unwrap_or(USUAL_LIMIT)
    }

    fn dress(&self, request: Request) -> Request {
        match self.org_id {
            Some(org) => request.with_header("x-grafana-org-id", org.to_string()),
            None => request,
        }
    }

    fn annotations(&self, piece: Piece, limit: u32) -> Request {
        let number = |name: &'static str, value: i64| (name, value.to_string());
        let mut fields = vec![
            number("from", piece.from_ms),
            number("to", piece.to_ms),
            number("limit", i64::from(limit)),
        ];
        fields.extend(self.tags.iter().map(|tag| ("tags", tag.clone())));
        if self.match_any {
            fields.push(("matchAny", "true".to_owned()));
        }
        fields.extend(self.only.map(|only| {
            let word = match only {
                Only::Annotation => "annotation",
                Only::Alert => "alert",
            };
            ("type", word.to_owned())
        }));
        fields.extend(self.dashboard_uid.clone().map(|uid| ("dashboardUID", uid)));
        let fields: Vec<(&str, &str)> = fields.iter().map(|(n, v)| (*n, v.as_str())).collect();
        self.dress(Request::get(format!("/api/annotations?{}", query(&fields))))
    }
}

impl Kind for GrafanaAnnotations {
    fn id(&self) -> &'static str {
        "grafana_annotations"
    }

    fn title(&self) -> &'static str {
        "Grafana annotations"
    }

    fn example(&self) -> &'static str {
        r#"[sources.marks]
kind = "grafana_annotations"
url = "https://grafana.example"
http.authorization.credentials_file = "grafana.token"   # a service account that may read annotations
# org_id = 2                     # X-Grafana-Org-Id
# tags = ["deploy", "service:checkout"]
# match_any = true               # one of the tags is enough
# only = "annotation"            # or "alert"; both without it
# dashboard_uid = "aB3"
# limit = 5000                   # in one answer; a window that holds more is asked for in halves
"#
    }

    fn own_schema(&self) -> schemars::Schema {
        schemars::schema_for!(Own)
    }

    fn plan(
        &self,
        source: &SourceSettings,
        window: TimeRange,
    ) -> Result<Box<dyn Pull>, SettingsError> {
        let own = Own::checked(source)?;
        let mut pull = AnnotationsPull {
            own,
            queue: Queue::default(),
            asked: 0,
            log: Reporter::new(),
        };
        pull.ask(Piece::of(window));
        Ok(Box::new(pull))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        let own = Own::checked(source)?;
        // Any time will do: whether we may, not what there is.
        let ever = Piece {
            from_ms: 1,
            to_ms: 4_102_444_800_000,
        };
        Ok(Box::new(Look::new(Questions {
            program: "Grafana",
            version: (own.dress(Request::get("/api/health")), "/version"),
            reads: vec![("annotations".to_owned(), own.annotations(ever, 1))],
            list: "",
            forbidden: "it knows us and says no: the service account needs `annotations:read` (the role Viewer has it)",
            absent: "check the path of `url`: where Grafana is served below a path, that belongs to it",
            limits: "100 annotations an answer unless asked for more; what a window holds beyond `limit` is asked for in halves",
        })))
    }
}

/// A part of the window, both ends inside, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    from_ms: i64,
    to_ms: i64,
}

impl Piece {
    fn of(window: TimeRange) -> Self {
        // Grafana takes 0 for no bound at all.
        let from_ms = window.start.millis().max(1);
        Self {
            from_ms,
            to_ms: window.end.millis().max(from_ms),
        }
    }

    /// Halves that meet at one millisecond; `None` for one that cannot be halved.
    fn halves(self) -> Option<[Self; 2]> {
        let middle = self.from_ms + (self.to_ms - self.from_ms) / 2;
        (self.to_ms - self.from_ms >= 2).then_some([
            Self {
                from_ms: self.from_ms,
                to_ms: middle,
            },
            Self {
                from_ms: middle,
                to_ms: self.to_ms,
            },
        ])
    }

    fn place(self) -> String {
        let [from, to] = [self.from_ms, self.to_ms]
            .map(|ms| Timestamp::from_millis(ms).map_or_else(String::new, |t| t.to_rfc3339()));
        format!("{from} to {to}")
    }
}

/// One pull.
#[derive(Debug)]
struct AnnotationsPull {
    own: Own,
    queue: Queue<Piece>,
    asked: u32,
    log: Reporter,
}

impl AnnotationsPull {
    fn ask(&mut self, piece: Piece) {
        self.asked += 1;
        let request = self.own.annotations(piece, self.own.limit());
        self.queue.ask(piece, request);
    }

    fn take(&mut self, piece: Piece, answer: Result<Vec<IgnoredAny>, Refusal>) {
        let limit = self.own.limit();
        match answer {
            Ok(all) if all.len() as u64 >= u64::from(limit) => {
                let halves = piece.halves().filter(|_| self.asked + 2 <= MOST_QUESTIONS);
                match halves {
                    Some(halves) => halves.into_iter().for_each(|half| self.ask(half)),
                    None => self.log.lost(
                        "limit_reached",
                        format!("{limit} annotations, which is as many as were asked for: there may be older ones; raise `limit`, or name `tags`"),
                        Some(piece.place()),
                    ),
                }
            }
            Ok(_) => {}
            Err(refusal) if refusal.status == 0 => self.log.lost("refused", refusal.text, None),
            Err(refusal) => self.log.lost(
                "refused",
                format!("annotations could not be had: {}", refusal.text),
                Some(piece.place()),
            ),
        }
    }
}

impl Pull for AnnotationsPull {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        if let Some(piece) = self.queue.answered(ticket) {
            self.take(piece, said::json(outcome, "a list of annotations"));
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        std::mem::take(&mut self.log).into_warnings()
    }
}
