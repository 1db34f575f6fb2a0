//! Entities: what telemetry is about, how label names map to them, and how they hang together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::labels::Labels;

/// The kind of an entity.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words of `contract.md` §1")]
pub enum EntityType {
    Service,
    Instance,
    Pod,
    Node,
    Endpoint,
    Upstream,
    Agent,
    Process,
    Job,
}

impl EntityType {
    /// As ids and reports write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Instance => "instance",
            Self::Pod => "pod",
            Self::Node => "node",
            Self::Endpoint => "endpoint",
            Self::Upstream => "upstream",
            Self::Agent => "agent",
            Self::Process => "process",
            Self::Job => "job",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Service,
            Self::Instance,
            Self::Pod,
            Self::Node,
            Self::Endpoint,
            Self::Upstream,
            Self::Agent,
            Self::Process,
            Self::Job,
        ]
        .into_iter()
        .find(|kind| kind.word() == word)
    }
}

/// The id of an entity: `service:smartgateway`.
pub fn entity_id(kind: EntityType, name: &str) -> String {
    format!("{}:{name}", kind.word())
}

/// One entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entity {
    /// `type:name`.
    pub id: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: EntityType,
    /// Its name.
    pub name: String,
    /// Ids of other entities that are the same thing under another name (a pod and its instance).
    pub aliases: Vec<String>,
}

/// The table of label names, `assets/entity_keys.toml`.
#[derive(Debug, Clone, Deserialize)]
pub struct EntityKeys {
    key: Vec<EntityKey>,
}

#[derive(Debug, Clone, Deserialize)]
struct EntityKey {
    #[serde(rename = "type")]
    kind: EntityType,
    labels: Vec<String>,
}

impl EntityKeys {
    /// The table that comes with the program.
    pub fn builtin() -> Self {
        Self::parse(include_str!("../../assets/entity_keys.toml"))
            .unwrap_or(Self { key: Vec::new() })
    }

    /// From the text of a table.
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The entities that labels name, the most specific first. `peers` are label names that name somebody else (the
    /// upstream of a proxy's metric) and are passed over.
    pub fn entities_of(&self, labels: &Labels, peers: &[&str]) -> Vec<(EntityType, String)> {
        let mut found = Vec::new();
        for key in &self.key {
            let value = key
                .labels
                .iter()
                .filter(|name| !peers.contains(&name.as_str()))
                .find_map(|name| labels.get(name).filter(|v| !v.is_empty()));
            if let Some(value) = value {
                found.push((key.kind, value.to_owned()));
            }
        }
        found
    }
}

/// How two entities hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelationKind {
    /// `from` calls `to`.
    Calls,
    /// `from` belongs to or runs on `to` (a pod of a service, a process on a node).
    PartOf,
    /// Two names of one thing.
    SameAs,
}

/// A relation as one of its ends sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Neighbour {
    /// The other end, as an index into the graph's nodes.
    node: usize,
    kind: RelationKind,
    /// Whether the relation leads from here to there.
    is_outgoing: bool,
}

#[derive(Debug, Clone)]
struct Node {
    id: String,
    kind: EntityType,
    name: String,
    neighbours: BTreeSet<Neighbour>,
}

/// All entities of an incident and their relations.
///
/// Every walk follows the relations of the nodes that it reaches and no others, so that its cost is that of the
/// neighbourhood and not of the graph.
#[derive(Debug, Clone, Default)]
pub struct EntityGraph {
    nodes: Vec<Node>,
    by_id: BTreeMap<String, usize>,
}

impl EntityGraph {
    /// Adds an entity (or finds it) and gives its id.
    pub fn add(&mut self, kind: EntityType, name: &str) -> String {
        let id = entity_id(kind, name);
        if !self.by_id.contains_key(&id) {
            self.by_id.insert(id.clone(), self.nodes.len());
            self.nodes.push(Node {
                id: id.clone(),
                kind,
                name: name.to_owned(),
                neighbours: BTreeSet::new(),
            });
        }
        id
    }

    /// Adds a relation between two known ids; one with itself is nothing.
    pub fn relate(&mut self, from: &str, kind: RelationKind, to: &str) {
        let (Some(from), Some(to)) = (self.node(from), self.node(to)) else {
            return;
        };
        if from == to {
            return;
        }
        for (here, there, is_outgoing) in [(from, to, true), (to, from, false)] {
            if let Some(node) = self.nodes.get_mut(here) {
                node.neighbours.insert(Neighbour {
                    node: there,
                    kind,
                    is_outgoing,
                });
            }
        }
    }

    fn node(&self, id: &str) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    fn neighbours_of(&self, node: usize) -> impl Iterator<Item = &Neighbour> {
        self.nodes.get(node).into_iter().flat_map(|n| &n.neighbours)
    }

    /// Whether the id is known.
    pub fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Type and name of an id.
    pub fn get(&self, id: &str) -> Option<(EntityType, &str)> {
        self.nodes
            .get(self.node(id)?)
            .map(|node| (node.kind, node.name.as_str()))
    }

    /// Id, type and name of every entity, in order of id.
    pub fn names(&self) -> impl Iterator<Item = (&str, EntityType, &str)> {
        self.by_id
            .values()
            .filter_map(|ix| self.nodes.get(*ix))
            .map(|node| (node.id.as_str(), node.kind, node.name.as_str()))
    }

    /// What an entity is directly related to: the other's id, how, and whether the relation leads from here to there.
    pub fn neighbours(&self, id: &str) -> impl Iterator<Item = (&str, RelationKind, bool)> {
        self.node(id)
            .into_iter()
            .flat_map(|ix| self.neighbours_of(ix))
            .filter_map(|n| Some((self.nodes.get(n.node)?.id.as_str(), n.kind, n.is_outgoing)))
    }

    /// Ids that are the same thing as `id`, itself not among them.
    pub fn same_as(&self, id: &str) -> BTreeSet<String> {
        let Some(start) = self.node(id) else {
            return BTreeSet::new();
        };
        let mut seen = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(at) = open.pop() {
            for neighbour in self.neighbours_of(at) {
                if neighbour.kind == RelationKind::SameAs && seen.insert(neighbour.node) {
                    open.push(neighbour.node);
                }
            }
        }
        seen.remove(&start);
        seen.into_iter()
            .filter_map(|ix| self.nodes.get(ix).map(|node| node.id.clone()))
            .collect()
    }

    /// Steps from the nearest of `starts` to everything within `limit` steps of one, along relations in any direction.
    ///
    /// Names of one thing cost nothing. Entities that `may_enter` refuses are neither reached nor passed through, except
    /// as a start. A start that the graph does not know reaches itself.
    pub fn steps_from<'a>(
        &'a self,
        starts: impl IntoIterator<Item = &'a str>,
        limit: usize,
        may_enter: impl Fn(EntityType) -> bool,
    ) -> BTreeMap<&'a str, usize> {
        let mut steps: BTreeMap<&'a str, usize> = BTreeMap::new();
        let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
        let mut open = VecDeque::new();
        for start in starts {
            steps.insert(start, 0);
            if let Some(node) = self.node(start)
                && reached.insert(node, 0).is_none()
            {
                open.push_back((node, 0));
            }
        }
        while let Some((at, so_far)) = open.pop_front() {
            if reached.get(&at).is_some_and(|known| *known < so_far) {
                continue;
            }
            for neighbour in self.neighbours_of(at) {
                let is_free = neighbour.kind == RelationKind::SameAs;
                let cost = so_far + usize::from(!is_free);
                let is_allowed = || {
                    self.nodes
                        .get(neighbour.node)
                        .is_some_and(|n| may_enter(n.kind))
                };
                if cost <= limit
                    && reached
                        .get(&neighbour.node)
                        .is_none_or(|known| cost < *known)
                    && is_allowed()
                {
                    reached.insert(neighbour.node, cost);
                    if is_free {
                        open.push_front((neighbour.node, cost));
                    } else {
                        open.push_back((neighbour.node, cost));
                    }
                }
            }
        }
        for (ix, cost) in reached {
            if let Some(node) = self.nodes.get(ix) {
                steps.insert(&node.id, cost);
            }
        }
        steps
    }

    /// Steps between two entities; `None` when they are not joined within `limit` steps.
    pub fn distance(&self, from: &str, to: &str, limit: usize) -> Option<usize> {
        self.steps_from([from], limit, |_| true).get(to).copied()
    }
}

/// The name of the workload that a Kubernetes pod belongs to: `web-6d5c9f7b8-hx2wq` → `web`.
///
/// A Deployment's pod carries the hash of its `ReplicaSet` (8 to 10 characters) and five random ones, from the alphabet
/// that Kubernetes uses for both; `db-0` stays. `None` when the name is not of that shape.
pub fn workload_of_pod(pod: &str) -> Option<&str> {
    let (rest, random) = pod.rsplit_once('-')?;
    let (workload, hash) = rest.rsplit_once('-')?;
    let is_safe = |s: &str| {
        s.bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    let is_hash =
        (8..=10).contains(&hash.len()) && is_safe(hash) && hash.bytes().any(|b| b.is_ascii_digit());
    (random.len() == 5 && is_safe(random) && is_hash && !workload.is_empty()).then_some(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_workload_of_a_pod() {
        assert_eq!(
            workload_of_pod("smartgateway-6d5c9f7b8-hx2wq"),
            Some("smartgateway")
        );
        assert_eq!(
            workload_of_pod("ingress-nginx-controller-6b9d5c4f7-x2k4v"),
            Some("ingress-nginx-controller")
        );
        assert_eq!(workload_of_pod("redis-0"), None);
    }

    #[test]
    fn the_most_specific_label_comes_first_and_peers_are_passed_over() {
        let keys = EntityKeys::builtin();
        let labels = Labels::of(&[
            ("controller_pod", "gw-1"),
            ("instance", "a:1"),
            ("service", "checkout"),
            ("job", "gw"),
        ]);
        let found = keys.entities_of(&labels, &["service"]);
        assert_eq!(found[0], (EntityType::Pod, "gw-1".to_owned()));
        assert!(!found.iter().any(|(kind, _)| *kind == EntityType::Service));
    }

    #[test]
    fn names_of_one_thing_cost_no_step() {
        let mut graph = EntityGraph::default();
        let pod = graph.add(EntityType::Pod, "p");
        let instance = graph.add(EntityType::Instance, "i");
        let service = graph.add(EntityType::Service, "s");
        graph.relate(&pod, RelationKind::SameAs, &instance);
        graph.relate(&pod, RelationKind::PartOf, &service);
        assert_eq!(graph.distance(&instance, &service, 3), Some(1));
        assert_eq!(graph.distance(&instance, "service:none", 3), None);
        assert_eq!(graph.distance("service:none", "service:none", 0), Some(0));
        assert_eq!(graph.same_as(&instance), BTreeSet::from([pod]));
    }

    #[test]
    fn what_may_not_be_entered_is_no_bridge() {
        let mut graph = EntityGraph::default();
        let a = graph.add(EntityType::Instance, "a");
        let b = graph.add(EntityType::Instance, "b");
        let job = graph.add(EntityType::Job, "j");
        graph.relate(&a, RelationKind::PartOf, &job);
        graph.relate(&b, RelationKind::PartOf, &job);
        assert_eq!(graph.distance(&a, &b, 2), Some(2));
        let no_job = |kind| kind != EntityType::Job;
        assert!(
            !graph
                .steps_from([a.as_str()], 3, no_job)
                .contains_key(b.as_str())
        );
        let from_job = graph.steps_from([job.as_str()], 1, no_job);
        assert_eq!(from_job.get(b.as_str()), Some(&1));
        let parts: Vec<&str> = graph.neighbours(&job).map(|(id, ..)| id).collect();
        assert_eq!(parts, [a.as_str(), b.as_str()]);
    }
}
