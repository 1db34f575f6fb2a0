//! What the service graph says of who calls whom, and how many calls there are: which statistics to ask for.

use std::collections::BTreeMap;

use serde_json::Value;

/// Whose statistics.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// Of the calls from the first to the second, as the caller saw them.
    Edge(String, String),
    /// Of a service that is called from outside, as it saw them itself.
    Service(String),
}

impl Whose {
    /// The selector; the service takes only these two (`xray.md` §1).
    pub(super) fn selector(&self) -> String {
        match self {
            Self::Edge(caller, callee) => format!("edge(\"{caller}\",\"{callee}\")"),
            Self::Service(name) => format!("service(\"{name}\")"),
        }
    }
}

/// The graph's calls with their counts; of several pages or windows the counts add up.
#[derive(Debug, Default)]
pub(super) struct Graph(BTreeMap<Whose, u64>);

impl Graph {
    /// Takes an answer of `GetServiceGraph`.
    pub(super) fn take(&mut self, body: &Value) {
        let services = || {
            body.get("Services")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        // A quote cannot stand in a selector.
        let name = |service: &Value| {
            let name = service.get("Name")?.as_str()?;
            (!name.is_empty() && !name.contains(['"', '\\'])).then(|| name.to_owned())
        };
        let names: BTreeMap<i64, String> = services()
            .filter_map(|s| Some((s.get("ReferenceId")?.as_i64()?, name(s)?)))
            .collect();
        for service in services() {
            let is_client = service.get("Type").and_then(Value::as_str) == Some("client");
            let Some(caller) = name(service) else {
                continue;
            };
            let edges = service.get("Edges").and_then(Value::as_array);
            for edge in edges.into_iter().flatten() {
                let callee = edge
                    .get("ReferenceId")
                    .and_then(Value::as_i64)
                    .and_then(|reference| names.get(&reference));
                let Some(callee) = callee else { continue };
                let total = edge
                    .pointer("/SummaryStatistics/TotalCount")
                    .and_then(Value::as_u64)
                    .unwrap_or(0);
                let whose = if is_client {
                    Whose::Service(callee.clone())
                } else {
                    Whose::Edge(caller.clone(), callee.clone())
                };
                let known = self.0.entry(whose).or_default();
                *known = known.saturating_add(total);
            }
        }
    }

    /// The busiest, in the order of their names, and how many were left out.
    pub(super) fn busiest(&self, most: usize) -> (Vec<Whose>, usize) {
        let mut all: Vec<(&Whose, u64)> = self.0.iter().map(|(w, n)| (w, *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let left = all.len().saturating_sub(most);
        let mut taken: Vec<Whose> = all.into_iter().take(most).map(|(w, _)| w.clone()).collect();
        taken.sort();
        (taken, left)
    }
}

/// Calls in an answer of `GetTimeSeriesServiceStatistics`.
pub(super) fn total(body: &Value) -> u64 {
    let all = body
        .get("TimeSeriesServiceStatistics")
        .and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .filter_map(|one| {
            ["EdgeSummaryStatistics", "ServiceSummaryStatistics"]
                .iter()
                .find_map(|key| one.get(key)?.get("TotalCount")?.as_u64())
        })
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_calls_are_taken_and_clients_are_services() {
        let body = serde_json::json!({"Services": [
            {"ReferenceId": 0, "Name": "edge", "Type": "client", "Edges": [{"ReferenceId": 1, "SummaryStatistics": {"TotalCount": 9}}]},
            {"ReferenceId": 1, "Name": "edge", "Edges": [
                {"ReferenceId": 2, "SummaryStatistics": {"TotalCount": 5}}, {"ReferenceId": 77}, {"ReferenceId": 3}]},
            {"ReferenceId": 2, "Name": "checkout", "Edges": []},
            {"ReferenceId": 3, "Name": "od\"d"}, 5,
        ]});
        let mut graph = Graph::default();
        graph.take(&body);
        graph.take(&body);
        graph.take(&serde_json::json!([]));
        let (all, left) = graph.busiest(9);
        let selectors: Vec<String> = all.iter().map(Whose::selector).collect();
        assert_eq!(
            selectors,
            [r#"edge("edge","checkout")"#, r#"service("edge")"#]
        );
        assert_eq!(left, 0);
        assert_eq!(
            graph.busiest(1),
            (vec![Whose::Service("edge".to_owned())], 1)
        );
    }
}
