//! Recorded exchanges, given again byte for byte to whoever asks the same.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value as Json, json};

use crate::base::percent::decode;
use crate::base::text::shorten;
use crate::engine::net::unpack::unpack;
use crate::engine::serve::reply::{Asked, Reply, pairs};
use crate::model::exchange::{Answer, Exchange, Question};
use crate::session::bundle::Bundle;

/// Bytes that a packed answer may come to for a client that takes no gzip.
const MOST_UNPACKED: u64 = 256 << 20;
/// Recorded requests that a refusal names.
const NAMED: usize = 40;

/// What makes two requests the same: method, path, query and body, whatever their order.
type Key = (String, String, Vec<(String, String)>, String);

/// The answers of one source to one request, in the order in which they came.
#[derive(Debug)]
struct Answers {
    source: String,
    all: Vec<Exchange>,
    /// How often it was asked: X-Ray is asked the same again for what it had not ready, and answers otherwise.
    asked: AtomicUsize,
}

/// All recorded exchanges that are not answered from the series.
#[derive(Debug, Default)]
pub struct Recorded {
    by_key: BTreeMap<Key, Vec<Answers>>,
    facts: BTreeMap<String, Vec<Json>>,
    count: usize,
}

/// Paths that are answered from the series, so that their recorded answers need not be held twice.
fn is_of_series(kind: &str, path: &str) -> bool {
    kind == "prometheus"
        && path.strip_prefix("/api/v1/").is_some_and(|p| {
            matches!(
                p,
                "query" | "query_range" | "query_exemplars" | "series" | "labels" | "metadata"
            ) || p.starts_with("label/")
        })
}

impl Recorded {
    /// Of these bundles.
    pub fn new(bundles: Vec<Bundle>) -> Self {
        let mut recorded = Self::default();
        for exchange in bundles.into_iter().flat_map(|b| b.exchanges) {
            recorded.take(exchange);
        }
        for answers in recorded.by_key.values_mut() {
            answers.sort_by(|a, b| a.source.cmp(&b.source));
            for one in answers {
                one.all.sort_by_key(|e| e.question.again);
            }
        }
        recorded
    }

    fn take(&mut self, exchange: Exchange) {
        let path = exchange.question.path.split('?').next().unwrap_or_default();
        if is_of_series(&exchange.kind, path) {
            return;
        }
        if exchange.kind == "prometheus"
            && let Some(endpoint) = path.strip_prefix("/api/v1/")
            && let Some(data) = data_of(&exchange.answer)
        {
            self.facts
                .entry(endpoint.to_owned())
                .or_default()
                .push(data);
        }
        self.count += 1;
        let answers = self.by_key.entry(key_of(&exchange.question)).or_default();
        match answers.iter_mut().find(|a| a.source == exchange.source) {
            Some(known) => known.all.push(exchange),
            None => answers.push(Answers {
                source: exchange.source.clone(),
                all: vec![exchange],
                asked: AtomicUsize::new(0),
            }),
        }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// What the recorded Prometheus servers answered at `/api/v1/{endpoint}`, whatever its query: `data`, one for each.
    pub(super) fn facts(&self, endpoint: &str) -> Vec<Json> {
        self.facts.get(endpoint).cloned().unwrap_or_default()
    }

    /// The recorded answer to the same request, or words on what was recorded.
    pub(super) fn answer(&self, asked: &Asked, source: Option<&str>, path: &str) -> Reply {
        let source = source.map(decode);
        let key = key(
            if asked.method == "HEAD" {
                "GET"
            } else {
                &asked.method
            },
            path,
            asked.query(),
            asked.content_type.as_deref(),
            &String::from_utf8_lossy(&asked.body),
        );
        let found = self.by_key.get(&key).and_then(|answers| match &source {
            Some(name) => answers.iter().find(|a| a.source == *name),
            None => answers.first(),
        });
        let Some(answers) = found else {
            return self.not_recorded(asked, path);
        };
        // In the order in which they were recorded, and then again from the first.
        let nth = answers.asked.fetch_add(1, Ordering::Relaxed) % answers.all.len().max(1);
        answers.all.get(nth).map_or_else(
            || self.not_recorded(asked, path),
            |exchange| again(exchange, asked),
        )
    }

    fn not_recorded(&self, asked: &Asked, path: &str) -> Reply {
        let is_path = |q: &Question| q.path.split('?').next() == Some(path);
        let all = self.by_key.values().flatten().flat_map(|a| &a.all);
        // Those at the same path first: it is their query or body that differs.
        let (near, far): (Vec<&Exchange>, Vec<&Exchange>) = all.partition(|e| is_path(&e.question));
        let named: Vec<String> = near
            .iter()
            .chain(&far)
            .take(NAMED)
            .map(|e| shorten(&e.name(), 300))
            .collect();
        let text = format!(
            "this request was not recorded: {} {}; a recording answers /api/v1/query, query_range, series, labels, label/NAME/values, metadata, targets, rules, alerts, query_exemplars and status of Prometheus, and {}",
            asked.method,
            shorten(path, 200),
            match (self.count, near.is_empty()) {
                (0, _) => "no other request was recorded".to_owned(),
                (n, true) => format!("the {n} other requests that were recorded"),
                (n, false) => format!(
                    "the {n} other requests that were recorded; at this path {} with another query or body",
                    near.len()
                ),
            }
        );
        let body = json!({
            "status": "error",
            "errorType": "not_found",
            "error": text,
            "recorded": named,
            "recorded_total": self.count,
        });
        Reply::json(404, body.to_string().into_bytes())
    }
}

/// A recorded answer, as it came.
fn again(exchange: &Exchange, asked: &Asked) -> Reply {
    let answer = &exchange.answer;
    let mut reply = Reply {
        status: answer.status,
        headers: vec![("x-tailscope-source".to_owned(), visible(&exchange.source))],
        body: answer.body.to_vec(),
    };
    if let Some(kind) = answer.header("content-type") {
        reply
            .headers
            .push(("content-type".to_owned(), kind.to_owned()));
    }
    if let Some(why) = &answer.cut {
        reply
            .headers
            .push(("x-tailscope-cut".to_owned(), visible(why)));
    }
    if let Some(encoding) = answer.header("content-encoding") {
        let unpacked = (!(asked.takes_gzip && encoding.contains("gzip")))
            .then(|| unpack(Some(encoding), &answer.body, MOST_UNPACKED).ok())
            .flatten();
        match unpacked {
            Some(body) => reply.body = body,
            None => reply
                .headers
                .push(("content-encoding".to_owned(), encoding.to_owned())),
        }
    }
    reply
}

/// Fit for a header.
fn visible(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_ascii_graphic() || c == ' ' {
                c
            } else {
                '?'
            }
        })
        .collect()
}

fn data_of(answer: &Answer) -> Option<Json> {
    if !(200..300).contains(&answer.status) || answer.cut.is_some() {
        return None;
    }
    let body = unpack(
        answer.header("content-encoding"),
        &answer.body,
        MOST_UNPACKED,
    )
    .ok()?;
    let mut whole: Json = serde_json::from_slice(&body).ok()?;
    (whole.get("status")?.as_str()? == "success").then(|| whole.get_mut("data").map(Json::take))?
}

fn key_of(question: &Question) -> Key {
    let (path, query) = question
        .path
        .split_once('?')
        .unwrap_or((question.path.as_str(), ""));
    key(
        &question.method,
        path,
        query,
        question.content_type.as_deref(),
        question.body.as_deref().unwrap_or_default(),
    )
}

fn key(method: &str, path: &str, query: &str, content_type: Option<&str>, body: &str) -> Key {
    let mut query = pairs(query);
    query.sort();
    let body = if content_type.is_some_and(|t| t.starts_with("application/x-www-form-urlencoded")) {
        let mut form = pairs(body);
        form.sort();
        Json::from(
            form.into_iter()
                .flat_map(|(name, value)| [name, value])
                .collect::<Vec<String>>(),
        )
        .to_string()
    } else {
        serde_json::from_str::<Json>(body)
            .map_or_else(|_| body.to_owned(), |value| ordered(&value, 0).to_string())
    };
    (
        method.to_owned(),
        decode(&path.replace('+', "%2B")),
        query,
        body,
    )
}

/// The same value with the keys of its objects in order.
fn ordered(value: &Json, depth: usize) -> Json {
    match value {
        // serde_json stops at 128 itself.
        _ if depth > 128 => value.clone(),
        Json::Object(map) => {
            let sorted: BTreeMap<&String, &Json> = map.iter().collect();
            Json::Object(
                sorted
                    .into_iter()
                    .map(|(k, v)| (k.clone(), ordered(v, depth + 1)))
                    .collect(),
            )
        }
        Json::Array(all) => all.iter().map(|v| ordered(v, depth + 1)).collect(),
        other => other.clone(),
    }
}
