//! Kubernetes events through the API server.
//!
//! Lists of core/v1 events by pages (`limit`, `continue`; "Retrieving large results sets in chunks" of the API concepts): the
//! server keeps events once and gives them in both families, so the older one is enough. A page that comes too late is
//! answered with 410 and a new token, which goes on with what is there now. What `kubectl get events -o json` saved is read by
//! the kind `file`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::percent::encode;
use crate::base::reporter::{Reporter, Warning};
use crate::base::text::grouped;
use crate::base::time::{TimeRange, Timestamp};
use crate::sources::look::{Look, Questions};
use crate::sources::queue::Queue;
use crate::sources::request::query;
use crate::sources::said::{self, Refusal};
use crate::sources::{
    Checkup, Kind, Outcome, Progress, Pull, Request, SettingsError, SourceSettings, Step, Ticket,
};

/// Events in one page, as kubectl asks.
const USUAL_PAGE: u32 = 500;
/// Events at most: about 200 MB of JSON.
const MOST_EVENTS: u64 = 100_000;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct KubernetesEvents;

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Namespaces, for who may not read all; events of nodes are in `default` [default: all].
    namespaces: Vec<String>,
    /// Which events, as kubectl's `--field-selector` takes it: `type=Warning` [default: all].
    field_selector: Option<String>,
    /// Events in one page [default: 500].
    page: Option<u32>,
    /// Events at most [default: 100,000]. What is beyond is left out and said.
    max_events: Option<u64>,
}

impl Own {
    fn checked(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Self = source.own()?;
        if source.url.is_none() {
            let expected = "the address of the API server (`kubectl cluster-info` shows it)";
            return Err(source.error("url", "nothing", expected));
        }
        if own.page == Some(0) {
            return Err(source.error("page", "0", "1 or more"));
        }
        let is_name = |name: &&String| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        };
        if let Some(bad) = own.namespaces.iter().find(|name| !is_name(name)) {
            let expected = "names of namespaces: lower-case letters, digits and `-`";
            return Err(source.error("namespaces", format!("`{bad}`"), expected));
        }
        Ok(own)
    }

    /// Where the lists are: of each namespace, or of all.
    fn scopes(&self) -> Vec<Option<String>> {
        if self.namespaces.is_empty() {
            vec![None]
        } else {
            self.namespaces.iter().cloned().map(Some).collect()
        }
    }

    fn list(&self, scope: Option<&str>, page: u32, token: Option<&str>) -> Request {
        let path = scope.map_or_else(
            || "/api/v1/events".to_owned(),
            |name| format!("/api/v1/namespaces/{}/events", encode(name)),
        );
        let page = page.to_string();
        let mut fields = vec![("limit", page.as_str())];
        fields.extend(self.field_selector.as_deref().map(|s| ("fieldSelector", s)));
        fields.extend(token.map(|token| ("continue", token)));
        // Without this an API server may answer in protobuf or as a table to whoever does not say.
        Request::get(format!("{path}?{}", query(&fields))).with_header("accept", "application/json")
    }
}

impl Kind for KubernetesEvents {
    fn id(&self) -> &'static str {
        "kubernetes_events"
    }

    fn title(&self) -> &'static str {
        "Kubernetes events"
    }

    fn example(&self) -> &'static str {
        r#"[sources.cluster]
kind = "kubernetes_events"
url = "https://api.cluster.example:6443"
http.authorization.credentials_file = "cluster.token"   # of a service account that may list events
http.tls_config.ca_file = "cluster-ca.crt"
# namespaces = ["shop", "default"]   # for who may not read all; events of nodes are in `default`
# field_selector = "type=Warning"
# page = 500                         # events in one answer
# max_events = 100000                # what is beyond is left out and said
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
        let mut pull = EventsPull {
            own,
            queue: Queue::default(),
            window,
            count: 0,
            oldest: None,
            is_refused: false,
            failures: BTreeSet::new(),
            log: Reporter::new(),
        };
        for scope in pull.own.scopes() {
            pull.ask(Place {
                scope,
                token: None,
                is_late: false,
            });
        }
        Ok(Box::new(pull))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        let own = Own::checked(source)?;
        let reads = own
            .scopes()
            .into_iter()
            .map(|scope| {
                let what = scope.as_ref().map_or_else(
                    || "events of all namespaces".to_owned(),
                    |name| format!("events of {name}"),
                );
                (what, own.list(scope.as_deref(), 1, None))
            })
            .collect();
        Ok(Box::new(Look::new(Questions {
            program: "Kubernetes",
            version: (Request::get("/version"), "/gitVersion"),
            reads,
            list: "items",
            forbidden: "it knows us and says no: the account needs `list` of `events` (the cluster role `view` has it), or name `namespaces` that it may read",
            absent: "check `url`: it is the address of the API server, without `/api`",
            limits: "events are kept for one hour unless the API server's `--event-ttl` says otherwise",
        })))
    }
}

/// A page as far as it is needed here; the rows are read by `formats` from the same bytes.
#[derive(Debug, Deserialize)]
struct Page {
    metadata: Option<PageMeta>,
    /// `null` when empty (Go).
    items: Option<Vec<Brief>>,
    /// A server of another kind has no such member.
    #[serde(rename = "kind")]
    _kind: ListKind,
}

/// What the list says that it is.
#[derive(Debug, Deserialize)]
enum ListKind {
    EventList,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PageMeta {
    #[serde(rename = "continue")]
    token: Option<String>,
    remaining_item_count: Option<u64>,
}

/// When an event began.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Brief {
    first_timestamp: Option<String>,
    event_time: Option<String>,
    metadata: Option<BriefMeta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BriefMeta {
    creation_timestamp: Option<String>,
}

impl Brief {
    /// The first time of an event, of either family.
    fn begin(self) -> Option<Timestamp> {
        let created = self.metadata.and_then(|m| m.creation_timestamp);
        [self.first_timestamp, self.event_time, created]
            .into_iter()
            .flatten()
            .find_map(|text| Timestamp::parse_rfc3339(&text))
    }
}

/// What a page belongs to.
#[derive(Debug, Clone)]
struct Place {
    scope: Option<String>,
    token: Option<String>,
    /// Whether its token came with a 410.
    is_late: bool,
}

impl Place {
    fn words(&self) -> String {
        self.scope.as_ref().map_or_else(
            || "events of all namespaces".to_owned(),
            |name| format!("events of the namespace {name}"),
        )
    }
}

/// One pull.
#[derive(Debug)]
struct EventsPull {
    own: Own,
    queue: Queue<Place>,
    window: TimeRange,
    count: u64,
    oldest: Option<Timestamp>,
    is_refused: bool,
    /// Why no answer came; of several namespaces it is mostly the same.
    failures: BTreeSet<String>,
    log: Reporter,
}

impl EventsPull {
    fn ask(&mut self, place: Place) {
        let page = self.own.page.unwrap_or(USUAL_PAGE);
        let scope = place.scope.as_deref();
        let request = self.own.list(scope, page, place.token.as_deref());
        self.queue.ask(place, request);
    }

    fn take(&mut self, place: Place, answer: Result<Page, Refusal>) {
        match answer {
            Ok(page) => self.take_page(place, page),
            Err(refusal) if refusal.status == 410 && !place.is_late => {
                let token = refusal.body.pointer("/metadata/continue");
                let token = token.and_then(|t| t.as_str()).filter(|t| !t.is_empty());
                let Some(token) = token.map(str::to_owned) else {
                    return self.lose(&place, &refusal.text);
                };
                self.log.note(
                    "list_moved",
                    format!("the list of {} was too old for its next page: it goes on with what was there later, so that events between may be missing or come twice", place.words()),
                    None,
                );
                self.ask(Place {
                    token: Some(token),
                    is_late: true,
                    ..place
                });
            }
            Err(refusal) if refusal.status == 0 => {
                self.is_refused = true;
                if self.failures.insert(refusal.text.clone()) {
                    self.log.lost("refused", refusal.text, None);
                }
            }
            Err(refusal) => self.lose(&place, &refusal.text),
        }
    }

    fn take_page(&mut self, place: Place, page: Page) {
        let items = page.items.unwrap_or_default();
        self.count += items.len() as u64;
        let oldest = items.into_iter().filter_map(Brief::begin).min();
        self.oldest = [self.oldest, oldest].into_iter().flatten().min();
        let meta = page.metadata.unwrap_or_default();
        let Some(token) = meta.token.filter(|token| !token.is_empty()) else {
            return;
        };
        let most = self.own.max_events.unwrap_or(MOST_EVENTS);
        if self.count >= most {
            let left = meta
                .remaining_item_count
                .map_or_else(|| "more".to_owned(), |n| format!("{} more", grouped(n)));
            return self.log.lost(
                "limit_reached",
                format!("{} events were pulled and there are {left}: left out by `max_events`; raise it, or name `namespaces` or a `field_selector`", grouped(self.count)),
                Some(place.words()),
            );
        }
        self.ask(Place {
            token: Some(token),
            is_late: false,
            ..place
        });
    }

    fn lose(&mut self, place: &Place, why: &str) {
        self.is_refused = true;
        let what = if place.token.is_some() {
            format!("the rest of the {}", place.words())
        } else {
            place.words()
        };
        self.log
            .lost("refused", format!("{what} could not be had: {why}"), None);
    }
}

impl Pull for EventsPull {
    fn next(&mut self) -> Step {
        self.queue.next()
    }

    fn feed(&mut self, ticket: Ticket, outcome: &Outcome<'_>) {
        if let Some(place) = self.queue.answered(ticket) {
            self.take(
                place,
                said::json(outcome, "a list of events by a Kubernetes API server"),
            );
        }
    }

    fn progress(&self) -> Progress {
        self.queue.progress()
    }

    fn warnings(&mut self) -> Vec<Warning> {
        let mut log = std::mem::take(&mut self.log);
        let start = self.window.start;
        let forgotten = match self.oldest {
            Some(oldest) if oldest > start => Some(format!("the oldest event is of {oldest}")),
            None if !self.is_refused => Some("there is no event at all".to_owned()),
            _ => None,
        };
        if let Some(what) = forgotten {
            log.note(
                "short_memory",
                format!("{what}, and the window begins at {start}: a cluster forgets events after an hour unless `--event-ttl` says otherwise, so that nothing earlier proves nothing"),
                None,
            );
        }
        log.into_warnings()
    }
}
