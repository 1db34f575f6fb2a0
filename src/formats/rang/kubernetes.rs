//! Kubernetes events: what `kubectl get events -A -o json` and the API server answer.
//!
//! Read are lists of core/v1 (`EventList`, or `List` by kubectl) and of events.k8s.io/v1, single events, watches
//! (`{"type":"ADDED","object":{…}}`) and lists that were reduced to `reason`, `message` and `lastTimestamp`. Shapes:
//! `logs.md` §6 and the API reference ("Event v1 core", "Event v1 events.k8s.io"). The two families differ in where the times
//! are: core events count repeats (`firstTimestamp`, `lastTimestamp`, `count`), newer ones carry `eventTime` and a `series`.
//! Reasons are those of `pkg/kubelet/events`, the controllers and ingress-nginx (`RELOAD`).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::base::reporter::Reporter;
use crate::base::text::count;
use crate::base::time::Timestamp;
use crate::formats::rang::{Parts, event, list, nothing_read, text};
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::entity::{EntityType, entity_id, workload_of_pod};
use crate::model::event::Event;

/// Events of a Kubernetes cluster.
pub struct KubernetesEvents;

impl Format for KubernetesEvents {
    fn id(&self) -> &'static str {
        "kubernetes-events"
    }

    fn title(&self) -> &'static str {
        "events of Kubernetes"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        let Some(json) = &head.json else {
            return Sniff::NOT_AT_ALL;
        };
        let has = |path: &str| json.paths.contains(path);
        for root in ["items[].", "", "object.", "[]."] {
            let has = |name: &str| has(&format!("{root}{name}"));
            if has("reason") && (has("involvedObject") || has("regarding")) {
                return Sniff::Yes(95);
            }
        }
        if has("items[].reason") && has("items[].lastTimestamp") {
            return Sniff::Yes(85);
        }
        // A list without items has no keys that could tell.
        let says = |kind: &str| {
            let text = head.text.as_ref();
            has("kind") && has("items") && text.contains(&format!("\"{kind}\""))
        };
        if says("EventList") {
            return Sniff::Yes(95);
        }
        let is_empty = !json.paths.iter().any(|path| path.starts_with("items[]"));
        if says("List") && has("apiVersion") && is_empty {
            return Sniff::Yes(60);
        }
        if has("items[].metadata") && has("apiVersion") {
            return Sniff::refused(
                30,
                "its items are no events (no `involvedObject`); `kubectl get events -A -o json` lists them",
            );
        }
        Sniff::NOT_AT_ALL
    }

    fn read(
        &self,
        bytes: &[u8],
        _: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let mut seen = Seen::default();
        let walked = list::walk(bytes, "items", log, |at, value| seen.take(at, value));
        if seen.others > 0 {
            log.note(
                "other_lines",
                format!(
                    "{} of other kinds in the list: not read",
                    count(seen.others, "object", "objects")
                ),
                None,
            );
        }
        if walked.lists == 0 && seen.events.is_empty() {
            return Err(nothing_read(
                walked.first_error,
                "events of Kubernetes: `kind: EventList` with its `items`, or one `kind: Event`",
                "save them with `kubectl get events -A -o json`",
            ));
        }
        out.events.extend(seen.events);
        Ok(())
    }
}

/// Events so far; one that comes again (a watch, pages that overlap) takes the place of the earlier one.
#[derive(Debug, Default)]
struct Seen {
    events: Vec<Event>,
    by_uid: BTreeMap<String, usize>,
    others: u64,
}

impl Seen {
    fn take(&mut self, at: String, value: Value) -> Result<(), String> {
        let value = unwrapped(value);
        let kind = text(&value, "kind");
        if !matches!(kind, "" | "Event") {
            self.others += 1;
            return Ok(());
        }
        let uid = value.pointer("/metadata/uid").and_then(Value::as_str);
        let uid = uid.unwrap_or_default().to_owned();
        let event = event_of(&value, at)?;
        match self
            .by_uid
            .get(&uid)
            .and_then(|at| self.events.get_mut(*at))
        {
            Some(known) if !uid.is_empty() => *known = event,
            _ => {
                self.by_uid.insert(uid, self.events.len());
                self.events.push(event);
            }
        }
        Ok(())
    }
}

/// The object of a watch's `{type, object}`.
fn unwrapped(mut value: Value) -> Value {
    let is_watch = matches!(
        text(&value, "type"),
        "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR"
    );
    match value.get_mut("object").filter(|_| is_watch) {
        Some(object) => object.take(),
        None => value,
    }
}

/// The first of the members that is a time.
fn time_of(value: &Value, pointers: &[&str]) -> Option<Timestamp> {
    pointers
        .iter()
        .filter_map(|pointer| value.pointer(pointer)?.as_str())
        .find_map(Timestamp::parse_rfc3339)
}

fn event_of(value: &Value, locator: String) -> Result<Event, String> {
    if !value.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    let reason = text(value, "reason");
    if reason.is_empty() {
        return Err("it has no `reason`: it is no event of Kubernetes".to_owned());
    }
    let last = time_of(
        value,
        &[
            "/lastTimestamp",
            "/series/lastObservedTime",
            "/deprecatedLastTimestamp",
        ],
    );
    let first = time_of(
        value,
        &["/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"],
    );
    let created = || time_of(value, &["/metadata/creationTimestamp"]);
    let t = first.or(last).or_else(created).ok_or_else(|| {
        "it has no time; expected `firstTimestamp`, `eventTime`, `lastTimestamp` or `metadata.creationTimestamp` in RFC 3339".to_owned()
    })?;
    let about = About::of(value);
    let times = ["/count", "/series/count", "/deprecatedCount"]
        .iter()
        .find_map(|pointer| value.pointer(pointer)?.as_u64())
        .unwrap_or(1);
    let message = [text(value, "message"), text(value, "note")]
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
        .trim();
    let text_of = if times > 1 {
        format!("{message} ({times} times)")
    } else {
        message.to_owned()
    };
    let source = [
        value.pointer("/source/component"),
        value.get("reportingComponent"),
        value.get("reportingController"),
        value.pointer("/deprecatedSource/component"),
    ]
    .into_iter()
    .flatten()
    .filter_map(Value::as_str)
    .find(|text| !text.is_empty())
    .unwrap_or("kubernetes");
    let node = node_of(value, source);
    let parts = Parts {
        locator,
        end: last,
        kind: kind_of(reason, text(value, "type"), &about.kind),
        title: about.title(reason),
        text: text_of,
        source,
        entities: about.entities(node),
        attributes: attributes(value, &about, times, node),
    };
    Ok(event(t, parts))
}

/// What an event is about.
#[derive(Debug, Default)]
struct About {
    kind: String,
    namespace: String,
    name: String,
}

impl About {
    fn of(value: &Value) -> Self {
        let object = value
            .get("involvedObject")
            .or_else(|| value.get("regarding"))
            .unwrap_or(&Value::Null);
        let mut about = Self {
            kind: text(object, "kind").to_owned(),
            namespace: text(object, "namespace").to_owned(),
            name: text(object, "name").to_owned(),
        };
        if about.namespace.is_empty() && about.kind != "Node" {
            // A reduced list has it beside the reason.
            text(value, "namespace").clone_into(&mut about.namespace);
        }
        about
    }

    /// `Killing pod shop/web-0`: what happened to whom.
    fn title(&self, reason: &str) -> String {
        let kind = self.kind.to_lowercase();
        match (self.namespace.as_str(), self.name.as_str()) {
            ("", "") => reason.to_owned(),
            (namespace, "") => format!("{reason} in {namespace}"),
            ("", name) => format!("{reason} {kind} {name}"),
            (namespace, name) => format!("{reason} {kind} {namespace}/{name}"),
        }
    }

    /// Ids of the object, of the workload that its name tells, and of the node that said so.
    fn entities(&self, node: Option<&str>) -> Vec<String> {
        let mut ids = Vec::new();
        let name = self.name.as_str();
        match self.kind.as_str() {
            _ if name.is_empty() => {}
            "Pod" => {
                ids.push(entity_id(EntityType::Pod, name));
                ids.extend(workload_of_pod(name).map(|w| entity_id(EntityType::Service, w)));
            }
            "Node" => ids.push(entity_id(EntityType::Node, name)),
            "Deployment" | "StatefulSet" | "DaemonSet" | "Service" => {
                ids.push(entity_id(EntityType::Service, name));
            }
            "ReplicaSet" => {
                // A pod of it would be called so: its own name ends with the hash alone.
                let workload = workload_of_pod(&format!("{name}-aaaaa")).map(str::to_owned);
                ids.extend(workload.map(|w| entity_id(EntityType::Service, &w)));
            }
            _ => {}
        }
        let node = node.map(|node| entity_id(EntityType::Node, node));
        ids.extend(node.filter(|id| !ids.contains(id)));
        ids
    }
}

/// The node of the kubelet that said so.
fn node_of<'v>(value: &'v Value, source: &str) -> Option<&'v str> {
    ["/source/host", "/deprecatedSource/host"]
        .iter()
        .find_map(|pointer| value.pointer(pointer)?.as_str())
        .or_else(|| {
            (source == "kubelet")
                .then(|| value.get("reportingInstance")?.as_str())
                .flatten()
        })
        .filter(|node| !node.is_empty())
}

fn attributes(value: &Value, about: &About, times: u64, node: Option<&str>) -> Map<String, Value> {
    let field = value
        .pointer("/involvedObject/fieldPath")
        .or_else(|| value.pointer("/regarding/fieldPath"));
    let mut all = Map::new();
    for (name, value) in [
        ("type", text(value, "type")),
        ("reason", text(value, "reason")),
        ("namespace", &about.namespace),
        ("object", &about.kind),
        ("name", &about.name),
        ("field", field.and_then(Value::as_str).unwrap_or_default()),
        ("node", node.unwrap_or_default()),
        ("action", text(value, "action")),
    ] {
        all.insert(name.to_owned(), Value::from(value));
    }
    if times > 1 {
        all.insert("count".to_owned(), Value::from(times));
    }
    all
}

/// What kind of event a reason is. `Warning` is a fault unless it is named here; `Normal` is routine.
fn kind_of(reason: &str, kind: &str, object: &str) -> &'static str {
    match reason {
        "ScalingReplicaSet" | "SuccessfulRescale" => "scale",
        // A StatefulSet has no ReplicaSet that would say it.
        "SuccessfulCreate" | "SuccessfulDelete" if object == "StatefulSet" => "scale",
        "DeploymentRollback" | "OperationStarted" | "OperationCompleted" => "deploy",
        "Killing" | "Preempted" | "Preempting" | "TaintManagerEviction" => "restart",
        "RELOAD" => "config",
        "NodeReady" | "NodeSchedulable" | "NodeNotSchedulable" | "RegisteredNode"
        | "RemovingNode" | "DeletingNode" | "Rebooted" | "Shutdown" => "node",
        "Starting" if object == "Node" => "node",
        // Whatever type they carry: the node controller calls `NodeNotReady` Normal.
        "NodeNotReady"
        | "NodeHasDiskPressure"
        | "NodeHasInsufficientMemory"
        | "NodeHasInsufficientPID"
        | "BackOff"
        | "Unhealthy"
        | "OOMKilling"
        | "SystemOOM"
        | "Evicted"
        | "FailedScheduling" => "fault",
        _ if kind == "Warning" => "fault",
        _ => "routine",
    }
}
