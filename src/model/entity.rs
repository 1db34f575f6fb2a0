//! Entities: what telemetry is about, how label names map to them, and how they hang together.

use std::collections::{BTreeMap, BTreeSet};

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

/// One relation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relation {
    /// Id of the one.
    pub from: String,
    /// Id of the other.
    pub to: String,
    /// How.
    pub kind: RelationKind,
}

/// All entities of an incident and their relations.
#[derive(Debug, Clone, Default)]
pub struct EntityGraph {
    names: BTreeMap<String, (EntityType, String)>,
    relations: BTreeSet<Relation>,
}

impl EntityGraph {
    /// Adds an entity (or finds it) and gives its id.
    pub fn add(&mut self, kind: EntityType, name: &str) -> String {
        let id = entity_id(kind, name);
        self.names
            .entry(id.clone())
            .or_insert_with(|| (kind, name.to_owned()));
        id
    }

    /// Adds a relation between two known ids; one with itself is nothing.
    pub fn relate(&mut self, from: &str, kind: RelationKind, to: &str) {
        if from != to && self.names.contains_key(from) && self.names.contains_key(to) {
            self.relations.insert(Relation {
                from: from.to_owned(),
                to: to.to_owned(),
                kind,
            });
        }
    }

    /// Whether the id is known.
    pub fn contains(&self, id: &str) -> bool {
        self.names.contains_key(id)
    }

    /// Type and name of an id.
    pub fn get(&self, id: &str) -> Option<(EntityType, &str)> {
        self.names
            .get(id)
            .map(|(kind, name)| (*kind, name.as_str()))
    }

    /// Id, type and name of every entity, in order of id.
    pub fn names(&self) -> impl Iterator<Item = (&str, EntityType, &str)> {
        self.names
            .iter()
            .map(|(id, (kind, name))| (id.as_str(), *kind, name.as_str()))
    }

    /// All relations in order.
    pub fn relations(&self) -> impl Iterator<Item = &Relation> {
        self.relations.iter()
    }

    /// Ids that are the same thing as `id`, itself not among them.
    pub fn same_as(&self, id: &str) -> BTreeSet<String> {
        let mut seen = BTreeSet::from([id.to_owned()]);
        let mut open = vec![id.to_owned()];
        while let Some(at) = open.pop() {
            for relation in self
                .relations
                .iter()
                .filter(|r| r.kind == RelationKind::SameAs)
            {
                let other = if relation.from == at {
                    &relation.to
                } else if relation.to == at {
                    &relation.from
                } else {
                    continue;
                };
                if seen.insert(other.clone()) {
                    open.push(other.clone());
                }
            }
        }
        seen.remove(id);
        seen
    }

    /// Steps between two entities along relations in any direction; names of one thing cost nothing. `None` when they
    /// are not joined within `limit` steps.
    pub fn distance(&self, from: &str, to: &str, limit: usize) -> Option<usize> {
        let mut reached = BTreeMap::from([(from.to_owned(), 0usize)]);
        let mut open = std::collections::VecDeque::from([from.to_owned()]);
        while let Some(at) = open.pop_front() {
            let so_far = reached.get(&at).copied().unwrap_or(0);
            if at == to {
                return Some(so_far);
            }
            for relation in &self.relations {
                let other = if relation.from == at {
                    &relation.to
                } else if relation.to == at {
                    &relation.from
                } else {
                    continue;
                };
                let free = relation.kind == RelationKind::SameAs;
                let cost = so_far + usize::from(!free);
                if cost <= limit && reached.get(other).is_none_or(|known| cost < *known) {
                    reached.insert(other.clone(), cost);
                    if free {
                        open.push_front(other.clone());
                    } else {
                        open.push_back(other.clone());
                    }
                }
            }
        }
        None
    }

    /// All entities, in order of id, each with its aliases.
    pub fn entities(&self) -> Vec<Entity> {
        self.names
            .iter()
            .map(|(id, (kind, name))| Entity {
                id: id.clone(),
                kind: *kind,
                name: name.clone(),
                aliases: self.same_as(id).into_iter().collect(),
            })
            .collect()
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
    }
}
