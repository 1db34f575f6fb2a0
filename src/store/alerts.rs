//! Alerts of Prometheus as events: each time that a series of `ALERTS` fired, from its first evaluation to its last.
//!
//! `ALERTS{alertstate="firing"}` is 1 at every evaluation of a rule that fires (`prometheus.md` §1.4, `logs.md` §6) and ends
//! with a staleness marker, which remote read gives and a range selector leaves out: then the ringing ends where evaluations
//! stop, unless Prometheus itself was away. It tells more than `/api/v1/alerts`, which knows only this moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::time::{NANOS_PER_SEC, Timestamp};
use crate::model::entity::{EntityKeys, EntityType, entity_id};
use crate::model::event::{ENTITIES, Event};
use crate::model::labels::Labels;
use crate::model::series::{Sampling, Series, is_stale_marker};

const METRIC: &str = "ALERTS";
/// What shows that Prometheus was there.
const UP: &str = "up";
const STATE: &str = "alertstate";
/// Without a sample for so long a series is gone for Prometheus itself (its lookback).
const GONE_NANOS: i64 = 300 * NANOS_PER_SEC;
/// Evaluations that may be late or missing within one ringing.
const LATE: f64 = 2.5;
/// Assumed between evaluations when a series is too short to tell.
const USUAL_INTERVAL_NANOS: i64 = 60 * NANOS_PER_SEC;

/// One time that an alert was in a state.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: i64,
    /// The last evaluation that had it.
    last: i64,
    /// The first that had it no more, where that is known.
    over: Option<i64>,
}

/// Adds an event for each ringing; what `/api/v1/alerts` and `/api/v1/rules` say of the same alert is taken into it.
pub(super) fn ring(series: &[Series], events: &mut Vec<Event>) {
    let of_alerts = || series.iter().filter(|s| s.metric.as_ref() == METRIC);
    // Stored samples say it best; an evaluation at one time says nothing of a beginning.
    let has_raw = of_alerts().any(|s| s.sampling.is_raw());
    let mut by_labels: BTreeMap<Labels, States<'_>> = BTreeMap::new();
    for one in
        of_alerts().filter(|s| s.sampling.is_raw() == has_raw && s.sampling != Sampling::Instant)
    {
        let states = by_labels.entry(one.labels.without(&[STATE])).or_default();
        match one.labels.get(STATE) {
            Some("firing") => states.firing = Some(one),
            Some("pending") => states.pending = Some(one),
            _ => {}
        }
    }
    if by_labels.is_empty() {
        return;
    }
    let alive: Vec<&Series> = series
        .iter()
        .filter(|s| s.metric.as_ref() == UP && s.sampling.is_raw())
        .collect();
    let last_of =
        |all: &mut dyn Iterator<Item = &Series>| all.filter_map(|s| s.t.last().copied()).max();
    let data_end = last_of(&mut alive.iter().copied()).max(last_of(&mut of_alerts()));
    let keys = EntityKeys::builtin();
    for (labels, states) in by_labels {
        let pending = states.pending.map_or_else(Vec::new, |s| runs(s, &alive));
        for run in states.firing.map_or_else(Vec::new, |s| runs(s, &alive)) {
            let late = late_nanos(states.firing);
            let since = pending
                .iter()
                .rfind(|p| p.start < run.start && run.start.saturating_sub(p.last) <= late)
                .map_or(run.start, |p| p.start);
            let said = take_said(events, &labels, since.saturating_sub(late), run.last);
            let is_over = run.over.is_some()
                || data_end.is_none_or(|end| end.saturating_sub(run.last) > late);
            let end = is_over.then_some(run.over.unwrap_or(run.last));
            events.extend(event(
                &keys,
                states.firing,
                &labels,
                run,
                &Told { since, end, said },
            ));
        }
    }
}

#[derive(Debug, Default)]
struct States<'s> {
    firing: Option<&'s Series>,
    pending: Option<&'s Series>,
}

fn late_nanos(series: Option<&Series>) -> i64 {
    let interval = series
        .and_then(Series::interval_nanos)
        .unwrap_or(USUAL_INTERVAL_NANOS);
    #[expect(clippy::cast_possible_truncation, reason = "a few intervals")]
    let late = (interval as f64 * LATE) as i64;
    late
}

/// From the first value to a marker, or to a hole in which Prometheus was there and the alert was not; where it was away
/// itself, to one in which it would have forgotten the alert.
fn runs(series: &Series, alive: &[&Series]) -> Vec<Run> {
    let late = late_nanos(Some(series));
    let goes_on = |last: i64, t: i64| {
        let was_away = || {
            !alive.is_empty()
                && alive.iter().all(|up| {
                    let from =
                        up.t.partition_point(|seen| *seen <= last.saturating_add(late / 2));
                    up.t.get(from)
                        .is_none_or(|seen| *seen >= t.saturating_sub(late / 2))
                })
        };
        t.saturating_sub(last) <= late || (t.saturating_sub(last) <= GONE_NANOS && was_away())
    };
    let mut all: Vec<Run> = Vec::new();
    let mut open = false;
    for (t, v) in series.t.iter().copied().zip(series.v.iter().copied()) {
        if is_stale_marker(v) {
            if let Some(run) = all.last_mut().filter(|_| open) {
                run.over = Some(t);
            }
            open = false;
        } else if v > 0.0 {
            match all.last_mut().filter(|run| open && goes_on(run.last, t)) {
                Some(run) => run.last = t,
                None => all.push(Run {
                    start: t,
                    last: t,
                    over: None,
                }),
            }
            open = true;
        }
    }
    // A hole ends what was before it: at the last that is known of it.
    let count = all.len();
    for run in all.iter_mut().take(count.saturating_sub(1)) {
        run.over.get_or_insert(run.last);
    }
    all
}

/// What is known of a ringing beside its samples.
struct Told {
    /// When it became pending.
    since: i64,
    end: Option<i64>,
    /// Annotations, from what the API said of it at one moment.
    said: Option<Value>,
}

fn event(
    keys: &EntityKeys,
    series: Option<&Series>,
    labels: &Labels,
    run: Run,
    told: &Told,
) -> Option<Event> {
    let source = series?
        .sources
        .iter()
        .find(|s| s.range.contains(Timestamp::from_nanos(run.start)))
        .or_else(|| series?.sources.first())?;
    let annotation = |key: &str| {
        let text = told.said.as_ref()?.get(key)?.as_str()?;
        (!text.is_empty()).then_some(text)
    };
    let summary = annotation("summary")
        .or_else(|| annotation("description"))
        .or_else(|| annotation("message"))
        .unwrap_or_default();
    let name = labels.get("alertname").unwrap_or("alert");
    let state = if told.end.is_some() {
        "resolved"
    } else {
        "firing"
    };
    let mut attributes = Map::new();
    attributes.insert("state".to_owned(), Value::from(state));
    if told.since < run.start {
        let since = Timestamp::from_nanos(told.since).to_rfc3339();
        attributes.insert("pendingSince".to_owned(), Value::from(since));
    }
    let all: Map<String, Value> = labels
        .iter()
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect();
    attributes.insert("labels".to_owned(), Value::Object(all));
    if let Some(said) = &told.said {
        attributes.insert("annotations".to_owned(), said.clone());
    }
    let entities: Vec<Value> = keys
        .entities_of(labels, &[])
        .into_iter()
        .filter(|(kind, _)| !matches!(kind, EntityType::Endpoint | EntityType::Upstream))
        .map(|(kind, name)| Value::from(entity_id(kind, &name)))
        .collect();
    if !entities.is_empty() {
        attributes.insert(ENTITIES.to_owned(), Value::Array(entities));
    }
    let text = format!("{summary} {}", labels.without(&["alertname"]));
    Some(Event {
        input: source.input,
        locator: Arc::clone(&source.locator),
        t: Timestamp::from_nanos(run.start),
        end: told
            .end
            .filter(|end| *end > run.start)
            .map(Timestamp::from_nanos),
        kind: Arc::from("alert"),
        title: Arc::from(format!("{name} {state}")),
        text: Arc::from(text.trim()),
        source: Arc::from("prometheus"),
        attributes: Arc::from(Value::Object(attributes).to_string()),
    })
}

/// Takes out what Prometheus' API said of this ringing; gives its annotations.
fn take_said(events: &mut Vec<Event>, labels: &Labels, from: i64, to: i64) -> Option<Value> {
    let mut said = None;
    events.retain(|event| {
        let is_of_api = event.kind.as_ref() == "alert" && event.source.as_ref() == "prometheus";
        if !is_of_api || !(from..=to).contains(&event.t.nanos()) {
            return true;
        }
        let attributes: Value = serde_json::from_str(&event.attributes).unwrap_or_default();
        // An event that was made here of an earlier series has no annotations that are worth another event's.
        let is_same =
            is_labels(attributes.get("labels"), labels) && attributes.get("value").is_some();
        if is_same {
            said = said
                .take()
                .or_else(|| attributes.get("annotations").cloned());
        }
        !is_same
    });
    said
}

fn is_labels(value: Option<&Value>, labels: &Labels) -> bool {
    value.and_then(Value::as_object).is_some_and(|map| {
        map.len() == labels.len()
            && labels
                .iter()
                .all(|(name, value)| map.get(name).and_then(Value::as_str) == Some(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::TimeRange;
    use crate::model::input::InputIx;
    use crate::model::series::{STALE_NAN_BITS, SeriesSource};

    const STALE: f64 = f64::from_bits(STALE_NAN_BITS);

    fn series(state: &str, samples: &[(i64, f64)]) -> Series {
        let labels = Labels::of(&[
            ("alertname", "Slow"),
            (STATE, state),
            ("instance", "a:1"),
            ("severity", "page"),
        ]);
        let mut series = Series::new(Arc::from(METRIC), labels, Sampling::Raw);
        series.t = samples.iter().map(|(s, _)| s * NANOS_PER_SEC).collect();
        series.v = samples.iter().map(|(_, v)| *v).collect();
        series.sources = vec![SeriesSource {
            input: InputIx(3),
            locator: Arc::from("$.data.result[0]"),
            range: series
                .span()
                .unwrap_or_else(|| TimeRange::new(Timestamp::default(), Timestamp::default())),
        }];
        series
    }

    fn every(from: i64, to: i64, step: i64) -> Vec<(i64, f64)> {
        (from..=to)
            .step_by(usize::try_from(step).unwrap())
            .map(|t| (t, 1.0))
            .collect()
    }

    fn told(series: &[Series], mut events: Vec<Event>) -> Vec<String> {
        ring(series, &mut events);
        let secs = |t: Timestamp| t.nanos() / NANOS_PER_SEC;
        events
            .iter()
            .map(|e| format!("{} {:?} {}", secs(e.t), e.end.map(secs), e.title))
            .collect()
    }

    #[test]
    fn a_ringing_is_from_its_first_evaluation_to_its_marker() {
        let mut samples = every(1000, 1300, 15);
        samples.push((1315, STALE));
        samples.extend(every(2005, 2065, 15));
        samples.push((2080, STALE));
        let pending = series(
            "pending",
            &[
                (940, 1.0),
                (955, 1.0),
                (970, 1.0),
                (985, 1.0),
                (1000, STALE),
            ],
        );
        let all = [pending, series("firing", &samples)];
        assert_eq!(
            told(&all, Vec::new()),
            [
                "1000 Some(1315) Slow resolved",
                "2005 Some(2080) Slow resolved"
            ]
        );
        let mut events = Vec::new();
        ring(&all, &mut events);
        let first = &events[0];
        assert_eq!(first.text.as_ref(), r#"{instance="a:1",severity="page"}"#);
        assert!(
            first
                .attributes
                .contains(r#""pendingSince":"1970-01-01T00:15:40Z""#)
        );
        assert!(!events[1].attributes.contains("pendingSince"));
        assert_eq!(first.entities(), [(EntityType::Instance, "a:1".to_owned())]);
        assert_eq!(
            (first.input, first.locator.as_ref()),
            (InputIx(3), "$.data.result[0]")
        );
        assert!(!first.is_change());
    }

    #[test]
    fn one_that_still_rings_has_no_end_and_one_without_marker_ends_where_it_was_last_seen() {
        let firing = || series("firing", &every(1000, 1300, 15));
        assert_eq!(told(&[firing()], Vec::new()), ["1000 None Slow firing"]);
        let mut up = series("x", &every(1000, 2000, 15));
        up.metric = Arc::from("up");
        assert_eq!(
            told(&[firing(), up], Vec::new()),
            ["1000 Some(1300) Slow resolved"]
        );
    }

    #[test]
    fn a_hole_is_peace_unless_prometheus_was_away() {
        let mut samples = every(1000, 1090, 15);
        samples.extend(every(1150, 1210, 15));
        samples.extend(every(1810, 1900, 15));
        let firing = || series("firing", &samples);
        let up = |samples: &[(i64, f64)]| {
            let mut up = series("x", samples);
            up.metric = Arc::from("up");
            up
        };
        let three = [
            "1000 Some(1090) Slow resolved",
            "1150 Some(1210) Slow resolved",
            "1810 None Slow firing",
        ];
        assert_eq!(told(&[firing()], Vec::new()), three);
        assert_eq!(
            told(&[firing(), up(&every(1003, 1903, 15))], Vec::new()),
            three
        );
        // Away for a minute, and then for ten.
        assert_eq!(
            told(&[firing(), up(&samples)], Vec::new()),
            ["1000 Some(1210) Slow resolved", "1810 None Slow firing"]
        );
    }

    #[test]
    fn what_the_api_says_of_the_same_alert_is_taken_into_it() {
        let said = |t: i64, instance: &str| Event {
            input: InputIx(0),
            locator: Arc::from("$.data.alerts[0]"),
            t: Timestamp::from_nanos(t * NANOS_PER_SEC),
            end: None,
            kind: Arc::from("alert"),
            title: Arc::from("Slow firing"),
            text: Arc::from("too slow"),
            source: Arc::from("prometheus"),
            attributes: Arc::from(format!(
                r#"{{"state":"firing","value":"1e+00","labels":{{"alertname":"Slow","severity":"page","instance":"{instance}"}},"annotations":{{"summary":"too slow"}}}}"#
            )),
        };
        let pending = series("pending", &every(940, 985, 15));
        let all = [pending, series("firing", &every(1000, 1300, 15))];
        let mut events = vec![said(940, "a:1"), said(940, "b:1"), said(10, "a:1")];
        ring(&all, &mut events);
        let left: Vec<(i64, &str)> = events
            .iter()
            .map(|e| (e.t.nanos() / NANOS_PER_SEC, e.text.as_ref()))
            .collect();
        assert_eq!(
            left,
            [
                (940, "too slow"),
                (10, "too slow"),
                (1000, r#"too slow {instance="a:1",severity="page"}"#)
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_samples_give_runs_in_order(mut samples in proptest::collection::vec((proptest::prelude::any::<i64>(), proptest::prelude::any::<f64>()), 0..40)) {
            samples.sort_by_key(|(t, _)| *t);
            let mut firing = series("firing", &[]);
            (firing.t, firing.v) = samples.into_iter().unzip();
            let pending = Series { labels: series("pending", &[]).labels, ..firing.clone() };
            let mut events = Vec::new();
            ring(&[firing, pending], &mut events);
            proptest::prop_assert!(events.is_sorted_by_key(|e| e.t));
            proptest::prop_assert!(events.iter().all(|e| e.end.is_none_or(|end| end > e.t)));
        }
    }

    #[test]
    fn grids_count_where_nothing_better_is_there_and_instants_never() {
        let mut grid = series("firing", &every(1000, 1300, 60));
        grid.sampling = Sampling::Grid {
            step_nanos: 60 * NANOS_PER_SEC,
        };
        assert_eq!(told(&[grid.clone()], Vec::new()), ["1000 None Slow firing"]);
        let raw = series("firing", &every(1015, 1300, 15));
        assert_eq!(told(&[grid, raw], Vec::new()), ["1015 None Slow firing"]);
        let mut instant = series("firing", &[(1000, 1.0)]);
        instant.sampling = Sampling::Instant;
        assert_eq!(told(&[instant], Vec::new()), [""; 0]);
    }
}
