//! `health`: scrape health, one thin row for each target: answered, failed (by cause), not there.
//!
//! From `up` where it was read; of a target without it from the presence of its samples, which cannot tell failed from absent.

use std::collections::BTreeMap;

use egui::{Align2, FontId, Mesh, Pos2, Rect, pos2, vec2};

use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::engine::cancel::Cancel;
use crate::model::finding::{Finding, FindingKind};
use crate::model::series::Series;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::metric::curve::Curve;
use crate::ui::lanes::{
    Lane, LaneKind, Offer, Query, Reading, Twin, axis, cache, empty, plan, select,
};
use crate::ui::theme;
use crate::ui::words::Words;

/// Height of a row with its space.
const PITCH: f32 = 15.0;
/// Height of a bar.
const BAR: f32 = 12.0;
/// Space above the first row.
const TOP: f32 = 3.0;
/// Rows that are drawn; the rest is counted.
const MOST_ROWS: usize = 8;
/// Targets without `up` that are looked at.
const MOST_SILENT: usize = 200;
/// Longest name, in characters.
const NAME: usize = 44;

/// Scrape health.
#[derive(Debug)]
pub struct Health;

impl LaneKind for Health {
    fn id(&self) -> &'static str {
        "health"
    }

    fn height(&self) -> u16 {
        (PITCH * 3.0 + TOP * 2.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident))
    }

    fn prepare(
        &self,
        _spec: &LaneSpec,
        incident: &Incident,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let rows = rows(incident);
        if rows.is_empty() {
            return Ok(empty::lane(""));
        }
        Ok(Box::new(HealthLane {
            rows,
            mesh: MeshCache::default(),
        }))
    }
}

/// One lane, when anything was scraped.
pub(super) fn list(incident: &Incident) -> Vec<Offer> {
    let snapshot = incident.snapshot();
    let cache = cache::of(incident);
    let targets = targets(snapshot, cache.index(snapshot));
    if targets.is_empty() {
        return Vec::new();
    }
    let mut entities: Vec<String> = Vec::new();
    for (ix, _) in targets.iter().take(64) {
        for id in snapshot.series_entities.get(*ix).into_iter().flatten() {
            if !entities.contains(id) {
                entities.push(id.clone());
            }
        }
    }
    vec![Offer {
        spec: LaneSpec {
            kind: "health".to_owned(),
            key: "all".to_owned(),
            series: Vec::new(),
        },
        title: String::new(),
        entities,
        opening_rank: None,
    }]
}

/// Whether any target failed or fell silent.
pub(super) fn has_gaps(incident: &Incident) -> bool {
    rows(incident)
        .iter()
        .any(|r| r.stretches.iter().any(|s| s.state != State::Up))
}

/// What a target did for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// It answered.
    Up,
    /// It was asked and did not answer well; the cause, when a finding names one.
    Failed(Option<String>),
    /// There is no sample of it.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    start: i64,
    end: i64,
    state: State,
}

/// One target.
#[derive(Debug)]
struct Row {
    name: String,
    series: usize,
    stretches: Vec<Stretch>,
}

impl Row {
    /// For how long it did not answer.
    fn lost_nanos(&self) -> i64 {
        let lost = self.stretches.iter().filter(|s| s.state != State::Up);
        lost.map(|s| s.end.saturating_sub(s.start)).sum()
    }

    fn at(&self, t: i64) -> Option<&Stretch> {
        let at = self.stretches.partition_point(|s| s.end <= t);
        self.stretches.get(at).filter(|s| s.start <= t)
    }
}

/// Series that tell of a target, and whether it is `up`.
fn targets(snapshot: &Snapshot, index: &select::Index) -> Vec<(usize, bool)> {
    let up = select::series(snapshot, index, "up");
    let mut found: Vec<(usize, bool)> = up.iter().map(|ix| (*ix, true)).collect();
    if !found.is_empty() {
        return found;
    }
    // Of a target without `up` the series with the most samples tells when it was there.
    let mut best: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (ix, series) in snapshot
        .series
        .iter()
        .enumerate()
        .filter(|(_, s)| s.sampling.is_raw())
    {
        let Some(instance) = series.labels.get("instance") else {
            continue;
        };
        let key = (series.labels.get("job").unwrap_or_default(), instance);
        let known = best.get(&key).and_then(|ix| snapshot.series.get(*ix));
        if known.is_none_or(|k| k.t.len() < series.t.len()) && best.len() < MOST_SILENT {
            best.insert(key, ix);
        }
    }
    found.extend(best.into_values().map(|ix| (ix, false)));
    found
}

fn rows(incident: &Incident) -> Vec<Row> {
    let snapshot = incident.snapshot();
    let cache = cache::of(incident);
    let targets = targets(snapshot, cache.index(snapshot));
    let end = snapshot.extent.map_or(i64::MIN, |e| e.end.nanos());
    let gaps: Vec<&Finding> = incident
        .findings()
        .iter()
        .filter(|f| f.kind == FindingKind::ScrapeGap)
        .collect();
    let ids: Vec<usize> = targets.iter().map(|(ix, _)| *ix).collect();
    let short = select::names(snapshot, &ids);
    let mut rows: Vec<Row> = targets
        .iter()
        .zip(short)
        .filter_map(|((ix, is_up), short)| {
            let series = snapshot.series.get(*ix)?;
            let curve = cache.curve(snapshot, *ix)?;
            let own = snapshot
                .series_entities
                .get(*ix)
                .map_or(&[][..], Vec::as_slice);
            let gaps: Vec<&Finding> = gaps.iter().copied().filter(|f| is_about(f, own)).collect();
            Some(Row {
                name: name(series, short),
                series: *ix,
                stretches: stretches(series, &curve, *is_up, &gaps, end),
            })
        })
        .collect();
    rows.sort_by_key(|r| std::cmp::Reverse(r.lost_nanos()));
    rows
}

fn name(series: &Series, short: String) -> String {
    let job = series.labels.get("job");
    match (series.labels.get("instance"), job) {
        (Some(instance), Some(job)) => format!("{job} · {instance}"),
        (Some(instance), None) => instance.to_owned(),
        _ => short,
    }
}

/// A long name without its middle: what tells targets apart mostly stands at the end.
fn middle(name: &str) -> String {
    let all = name.chars().count();
    if all <= NAME {
        return name.to_owned();
    }
    let head: String = name.chars().take(NAME / 2).collect();
    let tail: String = name.chars().skip(all - NAME / 2).collect();
    format!("{head}…{tail}")
}

/// Whether a gap is one of the target: it names the most specific entity, and of several jobs the right one.
fn is_about(gap: &Finding, own: &[String]) -> bool {
    let job = own.iter().find(|id| id.starts_with("job:"));
    own.first()
        .is_some_and(|first| gap.entities.contains(first))
        && job.is_none_or(|job| {
            gap.entities.contains(job) || !gap.entities.iter().any(|id| id.starts_with("job:"))
        })
}

/// What a target did, from its first sample on.
fn stretches(
    series: &Series,
    curve: &Curve,
    is_up: bool,
    gaps: &[&Finding],
    end: i64,
) -> Vec<Stretch> {
    let step = series.interval_nanos().unwrap_or(0).max(1);
    let mut found: Vec<Stretch> = Vec::new();
    let mut push = |start: i64, end: i64, state: State| match found.last_mut() {
        _ if start >= end => {}
        Some(last) if last.state == state && last.end >= start => last.end = end,
        _ => found.push(Stretch { start, end, state }),
    };
    let cause = |t: i64| {
        let t = Timestamp::from_nanos(t);
        let gap = gaps
            .iter()
            .find(|f| f.start <= t && f.end.is_none_or(|end| t < end));
        gap.and_then(|f| f.cause.clone())
    };
    for (at, (t, v)) in series.t.iter().zip(&series.v).enumerate() {
        let next = series.t.get(at + 1).copied();
        let is_marker = v.is_nan();
        let state = if is_marker {
            State::Missing
        } else if is_up && *v < 0.5 {
            State::Failed(cause(*t))
        } else {
            State::Up
        };
        let until = next.unwrap_or(end);
        if until.saturating_sub(*t) > curve.longest_nanos && !is_marker {
            let held = t.saturating_add(step);
            push(*t, held.min(until), state);
            push(held.min(until), until, State::Missing);
        } else {
            push(*t, until, state);
        }
    }
    found
}

/// Rows, ready to be drawn.
#[derive(Debug)]
struct HealthLane {
    rows: Vec<Row>,
    mesh: MeshCache,
}

impl HealthLane {
    /// Rows that are drawn.
    fn drawn(&self) -> &[Row] {
        self.rows
            .get(..self.rows.len().min(MOST_ROWS))
            .unwrap_or_default()
    }

    fn rect(canvas: &Canvas<'_>, row: usize, s: &Stretch) -> Option<Rect> {
        let left = canvas.x(s.start).max(canvas.rect.left());
        let right = canvas.x(s.end).min(canvas.rect.right());
        let top = canvas.rect.top() + TOP + PITCH * row as f32;
        // A single failed scrape stays visible at any zoom.
        let right = if s.state == State::Up {
            right
        } else {
            right.max(left + 1.5)
        };
        (right > left && left < canvas.rect.right() && right > canvas.rect.left())
            .then(|| Rect::from_min_max(pos2(left, top), pos2(right, top + BAR)))
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        let tokens = canvas.tokens;
        for (at, row) in self.drawn().iter().enumerate() {
            // Failures last, so that they lie over what is well.
            for is_lost in [false, true] {
                for s in row
                    .stretches
                    .iter()
                    .filter(|s| (s.state != State::Up) == is_lost)
                {
                    let Some(rect) = Self::rect(canvas, at, s) else {
                        continue;
                    };
                    match &s.state {
                        State::Up => mesh::bar(mesh, rect, tokens.good.gamma_multiply(0.38)),
                        State::Failed(cause) => {
                            let (ink, step) = look(cause.as_deref(), canvas);
                            mesh::bar(mesh, rect, ink.gamma_multiply(0.55));
                            mesh::hatch(mesh, rect, step, ink, feather);
                        }
                        State::Missing => {
                            mesh::bar(mesh, rect, tokens.gap.gamma_multiply(0.25));
                            mesh::hatch(mesh, rect, 5.0, tokens.gap, feather);
                        }
                    }
                }
            }
        }
    }

    fn cause_words(state: &State, words: &Words) -> String {
        match state {
            State::Up => words.text("lane-health-up").to_owned(),
            State::Missing => words.text("lane-health-missing").to_owned(),
            State::Failed(None) => words.text("lane-health-failed").to_owned(),
            State::Failed(Some(cause)) => {
                let key = format!("lane-cause-{cause}");
                words.text(&key).to_owned()
            }
        }
    }

    fn texts(&self, canvas: &Canvas<'_>) {
        let font = FontId::proportional(theme::SMALL - 1.5);
        for (at, row) in self.drawn().iter().enumerate() {
            let y = canvas.rect.top() + TOP + PITCH * at as f32 + BAR / 2.0;
            let plate = |left: f32, text: String, is_dim: bool| -> f32 {
                let ink = if is_dim {
                    canvas.tokens.text_dim
                } else {
                    canvas.tokens.text
                };
                let galley = canvas.painter.layout_no_wrap(text, font.clone(), ink);
                let size = galley.size();
                let back = Rect::from_min_size(pos2(left, y - 6.0), vec2(size.x + 6.0, 12.0));
                canvas
                    .painter
                    .rect_filled(back, 2.0, canvas.tokens.ground.gamma_multiply(0.72));
                canvas
                    .painter
                    .galley(pos2(left + 3.0, y - size.y / 2.0), galley, ink);
                left + size.x + 8.0
            };
            let is_well = row.lost_nanos() == 0;
            let mut free = plate(canvas.rect.left() + 3.0, middle(&row.name), is_well);
            for s in row.stretches.iter().filter(|s| s.state != State::Up) {
                let Some(rect) = Self::rect(canvas, at, s) else {
                    continue;
                };
                let left = rect.left().max(free) + 4.0;
                if rect.right() - left > 70.0 {
                    free = plate(left, Self::cause_words(&s.state, canvas.words), false);
                }
            }
        }
        let rest = self.rows.len().saturating_sub(MOST_ROWS);
        if rest > 0 {
            let y = canvas.rect.top() + TOP + PITCH * MOST_ROWS as f32 + 5.0;
            let at = pos2(canvas.rect.left() + 6.0, y);
            let text = canvas.words.with("lane-health-more", &[("n", rest.into())]);
            canvas
                .painter
                .text(at, Align2::LEFT_CENTER, text, font, canvas.tokens.text_dim);
        }
    }

    fn under(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Row> {
        let row = ((pos.y - canvas.rect.top() - TOP) / PITCH).floor();
        if row < 0.0 {
            return None;
        }
        self.drawn().get(row as usize)
    }

    fn readings(&self, t: Timestamp, say: impl Fn(&State) -> String) -> Vec<Reading> {
        self.rows
            .iter()
            .take(MOST_ROWS)
            .filter_map(|row| {
                let s = row.at(t.nanos())?;
                Some(Reading {
                    name: row.name.clone(),
                    value: say(&s.state),
                    colour: None,
                    target: Some(Target::Sample {
                        series: row.series,
                        t: Some(t),
                    }),
                })
            })
            .collect()
    }

    fn edges(&self) -> impl Iterator<Item = i64> {
        self.rows
            .iter()
            .flat_map(|r| &r.stretches)
            .flat_map(|s| [s.start, s.end])
    }

    fn rows_of(&self, range: TimeRange, name_lost: &str) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for row in &self.rows {
            let lost: i64 = row
                .stretches
                .iter()
                .filter(|s| s.state != State::Up)
                .map(|s| {
                    s.end
                        .min(range.end.nanos())
                        .saturating_sub(s.start.max(range.start.nanos()))
                        .max(0)
                })
                .sum();
            if lost > 0 && rows.len() < MOST_ROWS {
                let time = units::secs(lost as f64 / 1e9);
                rows.push((row.name.clone(), format!("{name_lost} {time}")));
            }
        }
        rows
    }
}

/// Colour and closeness of the hatching of a cause: time-outs, refusals and everything else look different in either.
fn look(cause: Option<&str>, canvas: &Canvas<'_>) -> (egui::Color32, f32) {
    match cause {
        Some("scrape_timeout") => (canvas.tokens.error, 6.0),
        Some(
            "connection_refused" | "connection_failed" | "target_restarted" | "target_removed",
        ) => (canvas.tokens.warning, 4.0),
        _ => (canvas.tokens.error, 4.0),
    }
}

impl Lane for HealthLane {
    fn note(&self) -> String {
        self.rows.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let all = self.rows.len();
        let n = self.rows.iter().filter(|r| r.lost_nanos() > 0).count();
        words.with("lane-note-health", &[("n", n.into()), ("all", all.into())])
    }

    fn wanted_height(&self) -> Option<u16> {
        let rest = if self.rows.len() > MOST_ROWS {
            PITCH
        } else {
            0.0
        };
        Some((PITCH * self.drawn().len() as f32 + TOP * 2.0 + rest) as u16)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        self.mesh.paint(canvas, 0, |mesh| self.build(canvas, mesh));
        self.texts(canvas);
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.readings(t, |state| match state {
            State::Up => "up".to_owned(),
            State::Failed(cause) => cause.clone().unwrap_or_else(|| "failed".to_owned()),
            State::Missing => "-".to_owned(),
        })
    }

    fn read_in(&self, t: Timestamp, words: &Words) -> Vec<Reading> {
        self.readings(t, |state| Self::cause_words(state, words))
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let row = self.under(canvas, pos)?;
        let t = canvas.t(pos.x);
        row.at(t.nanos())?;
        Some(Target::Sample {
            series: row.series,
            t: Some(t),
        })
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        axis::next_in(self.edges(), from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn gap(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let lost = self.rows.iter().flat_map(|r| &r.stretches);
        let lost = lost.filter(|s| s.state != State::Up).map(|s| s.start);
        axis::next_in(lost, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(Twin {
            table: "series",
            filter: "up".to_owned(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        self.rows_of(range, "lost")
    }

    fn measure_in(&self, range: TimeRange, words: &Words) -> Vec<(String, String)> {
        self.rows_of(range, words.text("lane-measure-lost"))
    }
}

#[cfg(test)]
mod tests;
