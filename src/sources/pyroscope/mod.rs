//! Pyroscope: profiles that were kept, merged over the window, for each service and profile type.
//!
//! Protocol: `profiles.md` §9 of the protocol notes. What there is, is found by asking (`ProfileTypes`, `LabelValues`); the
//! profiles come as flame graphs, by the Connect API (`querier.v1.QuerierService`, JSON over POST) or by the older
//! `/pyroscope/render`. The label `__profile_type__` is that of the index (grafana/pyroscope `pkg/model/labels.go`).

mod answer;
mod checkup;
mod pull;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::time::TimeRange;
use crate::sources::request::query;
use crate::sources::{Checkup, Kind, Pull, Request, SettingsError, SourceSettings};

/// Flame graphs of one pull without asking back.
const MOST_PROFILES: usize = 300;
/// Nodes of one flame graph: the smallest ones beyond are summed up as `other` by the server.
const MAX_NODES: u32 = 8192;

/// The kind.
#[derive(Debug, Clone, Copy)]
pub struct Pyroscope;

/// Which of the two APIs gives the flame graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Api {
    /// `POST /querier.v1.QuerierService/…` with JSON.
    Connect,
    /// `GET /pyroscope/render`.
    Render,
}

/// What only this kind knows.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Own {
    /// Tenant, sent as `X-Scope-OrgID`.
    tenant: Option<String>,
    /// Labels, as they stand between braces: `namespace="shop"`.
    selector: Option<String>,
    /// Services (`service_name`) [default: all that the selector leaves, found by asking].
    services: Vec<String>,
    /// Profile types as `name:type:unit:period_type:period_unit`, or beginnings that end in `*` [default: all that a
    /// service has, found by asking].
    types: Vec<String>,
    /// Which API gives the flame graphs: `connect` or `render` [default: `connect`, else the other].
    api: Option<Api>,
    /// Nodes of one flame graph [default: 8192]. The server sums up the rest as `other`.
    max_nodes: Option<u32>,
    /// Flame graphs at most [default: 300]. What is beyond is left out and named.
    max_profiles: Option<usize>,
}

/// Settings, checked.
#[derive(Debug, Clone)]
struct Checked {
    own: Own,
}

/// One flame graph to ask for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    /// Service, or none where nobody could say which there are.
    service: Option<String>,
    /// Profile type.
    kind: String,
}

impl Checked {
    fn of(source: &SourceSettings) -> Result<Self, SettingsError> {
        let own: Own = source.own()?;
        if source.url.is_none() {
            return Err(source.error("url", "nothing", "the base address of the server"));
        }
        if let Some(selector) = &own.selector
            && (selector.contains(['{', '}']) || !selector.contains('='))
        {
            return Err(source.error(
                "selector",
                format!("`{selector}`"),
                "labels without braces, like `namespace=\"shop\"`",
            ));
        }
        for kind in &own.types {
            let is_whole = kind.matches(':').count() == 4;
            if !is_whole && !kind.ends_with('*') {
                return Err(source.error(
                    "types",
                    format!("`{kind}`"),
                    "`name:type:unit:period_type:period_unit`, or a beginning that ends in `*`",
                ));
            }
        }
        if own.max_nodes == Some(0) {
            return Err(source.error("max_nodes", "0", "a number of nodes"));
        }
        Ok(Self { own })
    }

    /// With what every request to this source carries.
    fn dress(&self, request: Request) -> Request {
        match &self.own.tenant {
            Some(tenant) => request.with_header("x-scope-orgid", tenant.clone()),
            None => request,
        }
    }

    /// `{service_name="x",namespace="shop"}`.
    fn selector(&self, service: Option<&str>) -> String {
        let service = service.map(|name| format!("service_name={}", quoted(name)));
        let parts: Vec<&str> = service
            .as_deref()
            .into_iter()
            .chain(self.own.selector.as_deref())
            .collect();
        format!("{{{}}}", parts.join(","))
    }

    fn wants_type(&self, kind: &str) -> bool {
        self.own.types.is_empty()
            || self.own.types.iter().any(|wanted| {
                wanted
                    .strip_suffix('*')
                    .map_or(kind == wanted, |prefix| kind.starts_with(prefix))
            })
    }

    /// Profile types that are named whole.
    fn whole_types(&self) -> impl Iterator<Item = &String> {
        self.own.types.iter().filter(|kind| !kind.ends_with('*'))
    }

    /// A call of the Connect API.
    fn call(&self, method: &str, body: &Value) -> Request {
        self.dress(Request::json(
            format!("/querier.v1.QuerierService/{method}"),
            body,
        ))
    }

    fn profile_types(&self, window: Option<TimeRange>) -> Request {
        self.call("ProfileTypes", &within(json!({}), window))
            .unkept()
    }

    fn label_values(
        &self,
        name: &str,
        service: Option<&str>,
        window: Option<TimeRange>,
    ) -> Request {
        let body = json!({"name": name, "matchers": [self.selector(service)]});
        self.call("LabelValues", &within(body, window)).unkept()
    }

    /// One flame graph, merged over the window.
    fn flame_graph(&self, wanted: &Wanted, window: TimeRange, api: Api) -> Request {
        let selector = self.selector(wanted.service.as_deref());
        let nodes = self.own.max_nodes.unwrap_or(MAX_NODES);
        let (start, end) = (window.start.millis(), window.end.millis());
        match api {
            Api::Connect => self.call(
                "SelectMergeStacktraces",
                &json!({
                    "profileTypeID": wanted.kind,
                    "labelSelector": selector,
                    "start": start,
                    "end": end,
                    // 64 bits are strings in proto-JSON; the small ones may be numbers, too.
                    "maxNodes": nodes,
                }),
            ),
            Api::Render => {
                let (nodes, start, end) = (nodes.to_string(), start.to_string(), end.to_string());
                let question = format!("{}{selector}", wanted.kind);
                let fields = [
                    ("query", question.as_str()),
                    ("from", start.as_str()),
                    ("until", end.as_str()),
                    ("maxNodes", nodes.as_str()),
                    ("format", "json"),
                ];
                let path = format!("/pyroscope/render?{}", query(&fields));
                self.dress(Request::get(path))
            }
        }
    }
}

/// With the times of a window, in milliseconds.
fn within(mut body: Value, window: Option<TimeRange>) -> Value {
    if let (Some(window), Value::Object(fields)) = (window, &mut body) {
        fields.insert("start".to_owned(), json!(window.start.millis()));
        fields.insert("end".to_owned(), json!(window.end.millis()));
    }
    body
}

/// A string of a label selector (Go's rules).
fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}

impl Kind for Pyroscope {
    fn id(&self) -> &'static str {
        "pyroscope"
    }

    fn title(&self) -> &'static str {
        "Pyroscope, Grafana Cloud Profiles"
    }

    fn example(&self) -> &'static str {
        r#"[sources.profiles]
kind = "pyroscope"
url = "http://pyroscope.example:4040"
# tenant = "team-a"               # X-Scope-OrgID
# selector = 'namespace="shop"'   # for every profile
# services = ["checkout"]         # instead of all that there are
# types = ["process_cpu:cpu:nanoseconds:cpu:nanoseconds", "mutex:*"]   # instead of all that a service has
# api = "render"                  # the older API
# max_nodes = 8192                # of one flame graph; the server sums up the rest
# max_profiles = 300              # what is beyond is left out and named
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
        Ok(Box::new(pull::PyroscopePull::new(
            Checked::of(source)?,
            window,
        )))
    }

    fn examine(&self, source: &SourceSettings) -> Result<Box<dyn Checkup>, SettingsError> {
        Ok(Box::new(checkup::PyroscopeCheckup::new(&Checked::of(
            source,
        )?)))
    }
}
