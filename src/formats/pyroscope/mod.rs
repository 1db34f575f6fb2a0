//! Flame graphs of Pyroscope (`profiles.md` §8 and §9): the answer of `/pyroscope/render` (`flamebearer`) and that of
//! `querier.v1.QuerierService/SelectMergeStacktraces` (`flamegraph`).
//!
//! Both are levels of bars; a stack is a bar with a value of its own and the bars above it. What the profile is of stands in
//! the question: type, labels and time.

mod asked;
mod bars;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::Deserialize;

use crate::base::reporter::Reporter;
use crate::base::time::Timestamp;
use crate::formats::go_dump::origin;
use crate::formats::{Format, FormatError, Head, Hints, Sniff};
use crate::model::batch::Batch;
use crate::model::profile::Profile;
use asked::Asked;
use bars::Level;

/// Pyroscope flame graph.
pub struct Pyroscope;

/// Values of a CPU profile are nanoseconds where this is the sample rate (`profiles.md` §9).
const NANOS: f64 = 1e9;

/// Either answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    flamebearer: Option<Graph>,
    flamegraph: Option<Graph>,
    metadata: Metadata,
    timeline: Option<Timeline>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Graph {
    names: Vec<String>,
    levels: Vec<Level>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    /// `single` or `double`.
    format: String,
    units: String,
    name: String,
    /// `shop.cpu`: application and type, as agents of the older kind call them.
    app_name: String,
    sample_rate: f64,
}

impl Metadata {
    /// Application and type, as far as they are told.
    fn of(&self) -> (Option<&str>, &str) {
        const TYPES: &[&str] = &[
            "cpu",
            "wall",
            "inuse_space",
            "inuse_objects",
            "alloc_space",
            "alloc_objects",
            "goroutines",
            "mutex_duration",
            "mutex_count",
            "block_duration",
            "block_count",
        ];
        let app = self.app_name.split('{').next().unwrap_or_default();
        if let Some((app, kind)) = app.rsplit_once('.')
            && TYPES.contains(&kind)
        {
            return (Some(app).filter(|a| !a.is_empty()), kind);
        }
        let is_word = self
            .name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let app = Some(app).filter(|a| !a.is_empty());
        (app, if is_word { &self.name } else { "" })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Timeline {
    /// Unix seconds.
    start_time: i64,
}

impl Format for Pyroscope {
    fn id(&self) -> &'static str {
        "pyroscope"
    }

    fn title(&self) -> &'static str {
        "Pyroscope flame graph"
    }

    fn sniff(&self, head: &Head<'_>) -> Sniff {
        if head.has("flamebearer") {
            Sniff::Yes(95)
        } else if head.has("flamegraph.names") || head.has("flamegraph.levels") {
            Sniff::Yes(92)
        } else if head.has("flamegraph") {
            Sniff::Yes(60)
        } else {
            Sniff::NOT_AT_ALL
        }
    }

    fn read(
        &self,
        bytes: &[u8],
        hints: &Hints<'_>,
        out: &mut Batch,
        log: &mut Reporter,
    ) -> Result<(), FormatError> {
        let answer: Answer = serde_json::from_slice(bytes).map_err(|error| {
            FormatError::new(
                "bad_json",
                Some(format!("line {}", error.line())),
                error.to_string(),
                "a flame graph as Pyroscope answers it: `names` and `levels` of numbers",
                "ask again: an answer that was cut looks like this",
            )
        })?;
        let Some(graph) = answer.flamebearer.or(answer.flamegraph) else {
            return Err(FormatError::new(
                "no_samples",
                None,
                "neither `flamebearer` nor `flamegraph`",
                "the answer of /pyroscope/render or of SelectMergeStacktraces",
                "save the whole answer",
            ));
        };
        if answer.metadata.format == "double" {
            return Err(FormatError::new(
                "no_samples",
                Some("metadata.format".to_owned()),
                "a comparison of two profiles (`double`)",
                "one profile (`single`)",
                "ask for each of the two by /pyroscope/render",
            ));
        }
        let asked = Asked::of(hints.request);
        let groups = bars::groups(&graph.names, &graph.levels, log);
        let total: f64 = groups.iter().map(|g| g.value).sum();
        if groups.is_empty() {
            let text = "0 samples: nothing was recorded of this type in this time";
            log.note("empty_profile", text, None);
        }
        let started = answer
            .timeline
            .and_then(|t| Timestamp::from_millis(t.start_time.checked_mul(1000)?))
            .filter(|t| *t > Timestamp::from_nanos(0));
        let origin = origin::of(hints);
        let (t, t_source) = match asked.start.or(started) {
            Some(t) => (Some(t), "recorded"),
            None => (origin.t, origin.t_source),
        };
        out.profiles.push(Profile {
            input: Default::default(),
            t,
            t_source,
            kind: Arc::from(kind(&asked, &answer.metadata, hints)),
            unit: Arc::from(unit(&asked, &answer.metadata)),
            total,
            process: asked
                .service
                .as_deref()
                .or_else(|| answer.metadata.of().0)
                .map_or(origin.process, Arc::from),
            has_states: false,
            groups,
        });
        Ok(())
    }
}

/// As the profiles of Go are called. Goroutines are merged over the time that was asked for and so counted once for each
/// scrape: that is no dump.
fn kind<'k>(asked: &'k Asked, metadata: &'k Metadata, hints: &Hints<'_>) -> &'k str {
    let name = asked.kind.first().map_or("", String::as_str);
    let value = asked.kind.get(1).map_or("", String::as_str);
    let value = if value.is_empty() {
        metadata.of().1
    } else {
        value
    };
    match value {
        "cpu" | "samples" if name.is_empty() || name.contains("cpu") => "cpu",
        _ if name == "wall" => "wall",
        "inuse_space" | "inuse_objects" => "heap",
        "alloc_space" | "alloc_objects" => "allocs",
        "goroutine" | "goroutines" => "goroutine-merged",
        "contentions" | "delay" if name == "mutex" || name == "block" => name,
        "mutex_duration" | "mutex_count" => "mutex",
        "block_duration" | "block_count" => "block",
        "contentions" | "delay" => ["mutex", "block"]
            .into_iter()
            .find(|kind| origin::is_called(hints, kind))
            .unwrap_or("contention"),
        "" => "profile",
        other => other,
    }
}

fn unit<'u>(asked: &'u Asked, metadata: &'u Metadata) -> &'u str {
    if let Some(unit) = asked.kind.get(2) {
        return unit;
    }
    match metadata.units.as_str() {
        "samples" if (metadata.sample_rate - NANOS).abs() < 0.5 => "nanoseconds",
        "lock_nanoseconds" => "nanoseconds",
        units => units,
    }
}
