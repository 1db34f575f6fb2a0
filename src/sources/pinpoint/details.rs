//! What is asked once dots and agents are known: charts of agents, rows and call trees of the worst transactions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::dots::Dot;
use super::pull::{PinpointPull, Purpose};
use super::version::{Endpoint, Version};
use crate::sources::request::query;
use crate::sources::{Body, Method, Request};

/// Transactions in one question for rows (`pinpoint.md` §3a).
const ROWS_AT_ONCE: usize = 100;

impl PinpointPull {
    pub(super) fn ask_agents(&mut self) {
        if !self.own.inspector {
            return;
        }
        let left: Vec<&str> = self
            .agents
            .iter()
            .skip(self.own.max_agents)
            .map(|(_, agent)| agent.as_str())
            .collect();
        if !left.is_empty() {
            let text = format!(
                "the charts of {} agents were left out (`max_agents` {}): {}; choose `applications`, or raise the cap",
                left.len(),
                self.own.max_agents,
                shown(&left)
            );
            self.log.lost("limit_agents", text, None);
        }
        let chosen: Vec<(String, String)> = self
            .agents
            .iter()
            .take(self.own.max_agents)
            .cloned()
            .collect();
        for (application, agent) in chosen {
            self.ask_agent(&application, &agent);
        }
    }

    fn ask_agent(&mut self, application: &str, agent: &str) {
        let fact = |what: &str| Purpose::Fact(format!("{what} of {agent}"));
        let uses_inspector = self.version.uses_inspector(self.abilities.has_inspector);
        let days = self
            .abilities
            .inspector_days
            .or_else(|| self.version.inspector_days());
        for (from, to) in self.pieces(days) {
            let window = [("from", from.as_str()), ("to", to.as_str())];
            let mut who = vec![("agentId", agent)];
            if self.version == Version::Three1 {
                who.insert(0, ("applicationName", application));
            }
            let with = |more: &[(&'static str, &'static str)]| {
                let mut fields = vec![("applicationName", application), ("agentId", agent)];
                fields.extend_from_slice(more);
                fields.extend(window);
                fields
                    .into_iter()
                    .map(|(n, v)| (n.to_owned(), v.to_owned()))
                    .collect::<Vec<_>>()
            };
            who.extend(window);
            for chart in self.version.charts(self.abilities.has_inspector) {
                if uses_inspector {
                    let fields = with(&[("metricDefinitionId", chart)]);
                    let fields: Vec<_> = fields
                        .iter()
                        .map(|(n, v)| (n.as_str(), v.as_str()))
                        .collect();
                    self.get(fact(chart), Endpoint::InspectorChart, &fields);
                } else {
                    self.get(fact(chart), Endpoint::AgentChart(chart), &who);
                }
            }
            if uses_inspector {
                let fields = with(&[("metricDefinitionId", "dataSource")]);
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(n, v)| (n.as_str(), v.as_str()))
                    .collect();
                self.get(fact("the pools"), Endpoint::InspectorPools, &fields);
            } else {
                self.get(fact("the pools"), Endpoint::AgentPools, &who);
            }
            self.get(fact("the status timeline"), Endpoint::AgentTimeline, &who);
            self.get(fact("the events"), Endpoint::AgentEvents, &who);
        }
    }

    /// Rows of the worst transactions of each application: path, client, start by the agent's clock.
    pub(super) fn ask_rows(&mut self) {
        for (application, dots) in std::mem::take(&mut self.dots) {
            let worst = dots.worst(self.own.max_transactions);
            if worst.len() < dots.len() {
                let text = format!(
                    "{}: rows of {} of {} transactions, errors and the slowest first (`max_transactions`); the dots of all are here",
                    application.name,
                    worst.len(),
                    dots.len()
                );
                self.log.note("limit_transactions", text, None);
            }
            for some in worst.chunks(ROWS_AT_ONCE) {
                let mut form = query(&[("ApplicationName", application.name.as_str())]);
                for (ix, dot) in some.iter().enumerate() {
                    let (t, r) = (dot.accepted_ms.to_string(), dot.elapsed_ms.to_string());
                    let names = [format!("I{ix}"), format!("T{ix}"), format!("R{ix}")];
                    let values = [dot.trace.as_str(), t.as_str(), r.as_str()];
                    for (name, value) in names.iter().zip(values) {
                        form.push('&');
                        form.push_str(&query(&[(name.as_str(), value)]));
                    }
                }
                let path = self.version.path(Endpoint::Rows, &[]);
                let request = Request::new(Method::Post, path, Body::Form(form));
                self.queue.ask(Purpose::Rows, request);
            }
            self.dots.insert(application, dots);
        }
    }

    pub(super) fn take_rows(&mut self, body: &Value) {
        for row in body
            .get("metadata")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let number = |key: &str| row.get(key).and_then(Value::as_i64);
            let word = |key: &str| row.get(key).and_then(Value::as_str);
            if let (Some(trace), Some(t), Some(elapsed), Some(span)) = (
                word("traceId"),
                number("collectorAcceptTime"),
                number("elapsed"),
                word("spanId"),
            ) {
                let key = (trace.to_owned(), t, elapsed);
                self.spans.insert(key, span.to_owned());
            }
        }
    }

    pub(super) fn ask_trees(&mut self) {
        let mut asked = BTreeSet::new();
        for (application, dots) in std::mem::take(&mut self.dots) {
            let worst = dots.worst(self.own.max_call_trees);
            if worst.len() < dots.len() {
                let text = format!(
                    "{}: call trees of {} of {} transactions, errors and the slowest first (`max_call_trees`)",
                    application.name,
                    worst.len(),
                    dots.len()
                );
                self.log.note("limit_call_trees", text, None);
            }
            for dot in worst {
                // The whole distributed tree comes back, so one question for each trace is enough.
                if asked.insert(dot.trace.clone()) {
                    self.ask_tree(&dot);
                }
            }
        }
    }

    fn ask_tree(&mut self, dot: &Dot) {
        let accepted = dot.accepted_ms.to_string();
        let key = (dot.trace.clone(), dot.accepted_ms, dot.elapsed_ms);
        let span = self
            .spans
            .get(&key)
            .cloned()
            .unwrap_or_else(|| "-1".to_owned());
        let fields = [
            ("traceId", dot.trace.as_str()),
            ("focusTimestamp", accepted.as_str()),
            ("agentId", dot.agent.as_str()),
            ("spanId", span.as_str()),
        ];
        self.get(Purpose::Tree(dot.trace.clone()), Endpoint::Tree, &fields);
    }
}

/// The first five, and that there are more.
pub(super) fn shown(names: &[&str]) -> String {
    let first: Vec<&str> = names.iter().take(5).copied().collect();
    let more = if names.len() > first.len() {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", first.join(", "))
}
