//! `states`: what lasts, as bars: load runs, events with an end; and starts of processes as marks.

use std::collections::BTreeMap;

use egui::{FontId, Mesh, Pos2, Rect, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::engine::cancel::Cancel;
use crate::model::finding::FindingKind;
use crate::model::pack::Role;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::store::Snapshot;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::mesh::{self, MeshCache};
use crate::ui::lanes::{
    Blank, Lane, LaneKind, Offer, Query, Reading, Twin, axis, empty, label, marks, plan,
};
use crate::ui::theme;
use crate::ui::words::Words;

/// Height of a row with its space.
const PITCH: f32 = 17.0;
/// Height of a bar.
const BAR: f32 = 14.0;
/// Space above the first row.
const TOP: f32 = 4.0;
/// Rows that are drawn.
const MOST_ROWS: usize = 6;
/// Columns of the query that a bar keeps free for its title.
const TITLE_COLUMNS: i64 = 90;

/// What lasts.
#[derive(Debug)]
pub struct States;

impl LaneKind for States {
    fn id(&self) -> &'static str {
        "states"
    }

    fn height(&self) -> u16 {
        (PITCH * 2.0 + TOP * 2.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident))
    }

    fn prepare(
        &self,
        _spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let mut bars = bars(incident);
        if bars.is_empty() {
            return Ok(empty::lane(""));
        }
        bars.sort_by_key(|b| (b.order, b.start));
        let title = query.step_nanos.saturating_mul(TITLE_COLUMNS);
        let spans: Vec<(i64, i64)> = bars
            .iter()
            .map(|b| {
                (
                    b.start,
                    b.end.unwrap_or(b.start).max(b.start.saturating_add(title)),
                )
            })
            .collect();
        Ok(Box::new(StateLane {
            rows: marks::rows(&spans),
            bars,
            mesh: MeshCache::default(),
        }))
    }
}

/// One lane, when anything lasts.
pub(super) fn list(incident: &Incident) -> Vec<Offer> {
    if bars(incident).is_empty() {
        return Vec::new();
    }
    vec![Offer::only("states", Vec::new())]
}

#[derive(Debug, Clone, PartialEq)]
struct Bar {
    start: i64,
    /// `None` for a moment: the start of a process.
    end: Option<i64>,
    title: String,
    /// Runs first, then events, then starts.
    order: u8,
    /// The numbers of a run.
    detail: String,
    target: Option<Target>,
}

fn bars(incident: &Incident) -> Vec<Bar> {
    let mut bars = Vec::new();
    for f in incident
        .findings()
        .iter()
        .filter(|f| f.kind == FindingKind::LoadRun)
    {
        let mut detail = Vec::new();
        if let Some(tps) = f.number("tps_mean") {
            detail.push(format!("{} TPS", units::number(tps)));
        }
        if let Some(ms) = f.number("mean_ms") {
            detail.push(units::ms(ms));
        }
        bars.push(Bar {
            start: f.start.nanos(),
            end: Some(f.end.unwrap_or(incident.document.window.end).nanos()),
            title: f.title.clone(),
            order: 0,
            detail: detail.join(", "),
            target: Some(Target::Finding(f.id.clone())),
        });
    }
    for (at, event) in incident.snapshot().events.iter().enumerate() {
        if let Some(end) = event.end.filter(|end| *end > event.t) {
            bars.push(Bar {
                start: event.t.nanos(),
                end: Some(end.nanos()),
                title: event.title.to_string(),
                order: 1,
                detail: String::new(),
                target: Some(Target::Event { event: at }),
            });
        }
    }
    bars.extend(starts(incident.snapshot()));
    bars
}

/// Processes that were started while they were watched: their start time changed. A clock that is set moves it by little.
fn starts(snapshot: &Snapshot) -> Vec<Bar> {
    const MOVED_S: f64 = 2.0;
    let mut found: BTreeMap<(i64, String), Bar> = BTreeMap::new();
    for (ix, series) in snapshot.with_role(Role::ProcessStart) {
        if !series.sampling.is_raw() {
            continue;
        }
        let mut known: Option<f64> = None;
        for (t, v) in series.finite() {
            let is_new = known.is_some_and(|k| v - k > MOVED_S);
            known = Some(v);
            let began = Timestamp::from_secs_f64(v).map(Timestamp::nanos);
            let Some(began) = began.filter(|b| is_new && *b <= t) else {
                continue;
            };
            let ids = snapshot
                .series_entities
                .get(ix)
                .map_or(&[][..], Vec::as_slice);
            let name = ids.first().map_or_else(
                || series.selector(),
                |id| {
                    id.split_once(':')
                        .map_or_else(|| id.clone(), |(_, name)| name.to_owned())
                },
            );
            let bar = Bar {
                start: began,
                end: None,
                title: name.clone(),
                order: 2,
                detail: String::new(),
                target: Some(Target::Sample {
                    series: ix,
                    t: Some(Timestamp::from_nanos(t)),
                }),
            };
            found.insert((began, name), bar);
        }
    }
    found.into_values().collect()
}

/// Bars, ready to be drawn.
#[derive(Debug)]
struct StateLane {
    bars: Vec<Bar>,
    rows: Vec<usize>,
    mesh: MeshCache,
}

impl StateLane {
    fn place(&self, at: usize, canvas: &Canvas<'_>) -> Option<(&Bar, Rect)> {
        let bar = self.bars.get(at)?;
        let row = self.rows.get(at).copied().filter(|r| *r < MOST_ROWS)?;
        let left = canvas.x(bar.start);
        let right = bar
            .end
            .map_or(left + 3.0, |end| canvas.x(end))
            .max(left + 3.0);
        let top = canvas.rect.top() + TOP + PITCH * row as f32;
        let area = canvas.rect;
        (right >= area.left() && left <= area.right()).then(|| {
            let corner = pos2(left.max(area.left() - 4.0), top);
            let other = pos2(right.min(area.right() + 4.0), top + BAR);
            (bar, Rect::from_min_max(corner, other))
        })
    }

    fn ink(bar: &Bar, canvas: &Canvas<'_>) -> egui::Color32 {
        match bar.order {
            0 => canvas.tokens.series(0),
            1 => canvas.tokens.accent,
            _ => canvas.tokens.series(1),
        }
    }

    fn is_bright(bar: &Bar, canvas: &Canvas<'_>) -> bool {
        match &bar.target {
            Some(Target::Finding(id)) => canvas.highlight.findings.contains(id),
            Some(target) => canvas.highlight.targets.contains(target),
            None => false,
        }
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        for at in 0..self.bars.len() {
            let Some((bar, rect)) = self.place(at, canvas) else {
                continue;
            };
            let ink = Self::ink(bar, canvas);
            if bar.end.is_none() {
                mesh::triangle(mesh, rect.left_center(), 5.0, ink, feather);
                continue;
            }
            let is_bright = Self::is_bright(bar, canvas);
            mesh::bar(
                mesh,
                rect,
                ink.gamma_multiply(if is_bright { 0.6 } else { 0.34 }),
            );
            mesh::bar(mesh, rect.with_max_x(rect.left() + 2.0), ink);
            mesh::bar(
                mesh,
                rect.with_min_x(rect.right() - 1.0),
                ink.gamma_multiply(0.8),
            );
        }
    }

    fn under(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Bar> {
        (0..self.bars.len())
            .filter_map(|at| self.place(at, canvas))
            .find(|(_, rect)| rect.expand(3.0).contains(pos))
            .map(|(bar, _)| bar)
    }
}

impl Lane for StateLane {
    fn note(&self) -> String {
        self.bars.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let runs = self.bars.iter().filter(|b| b.order == 0).count();
        let starts = self.bars.iter().filter(|b| b.order == 2).count();
        let mut parts = Vec::new();
        for (key, n) in [("lane-note-runs", runs), ("lane-note-starts", starts)] {
            if n > 0 {
                parts.push(words.with(key, &[("n", n.into())]));
            }
        }
        let hidden = self.rows.iter().filter(|r| **r >= MOST_ROWS).count();
        if hidden > 0 {
            parts.push(format!("+{hidden}"));
        }
        parts.join(" · ")
    }

    fn wanted_height(&self) -> Option<u16> {
        let rows = self
            .rows
            .iter()
            .map(|r| r + 1)
            .max()
            .unwrap_or(1)
            .min(MOST_ROWS);
        Some((PITCH * rows as f32 + TOP * 2.0) as u16)
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        let (from, to) = (shown.start.nanos(), shown.end.nanos());
        let is_here = |b: &Bar| b.start < to && b.end.unwrap_or(b.start + 1) > from;
        if self.bars.iter().any(is_here) {
            return None;
        }
        Blank::around(self, shown)
    }

    /// What has no row, where the rows end.
    fn tip(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<String> {
        let end = canvas.rect.top() + TOP + PITCH * MOST_ROWS as f32;
        let hidden = self.bars.iter().zip(&self.rows);
        let hidden = hidden.filter(|(_, row)| **row >= MOST_ROWS);
        let titles: Vec<String> = hidden.map(|(b, _)| b.title.clone()).collect();
        (pos.y >= end - TOP && !titles.is_empty())
            .then(|| label::list(titles.into_iter(), canvas.words))
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let bright = self
            .bars
            .iter()
            .map(|b| u64::from(Self::is_bright(b, canvas)));
        self.mesh.paint(canvas, mesh::digest(bright), |mesh| {
            self.build(canvas, mesh);
        });
        let font = FontId::proportional(theme::SMALL - 0.5);
        for at in 0..self.bars.len() {
            let Some((bar, rect)) = self.place(at, canvas) else {
                continue;
            };
            let row = self.rows.get(at);
            let next = self
                .bars
                .iter()
                .zip(&self.rows)
                .filter(|(b, r)| Some(*r) == row && b.start > bar.start)
                .map(|(b, _)| canvas.x(b.start))
                .fold(canvas.rect.right(), f32::min);
            let left = rect.left().max(canvas.rect.left()) + 6.0;
            let text = if bar.detail.is_empty() {
                bar.title.clone()
            } else {
                format!("{}  {}", bar.title, canvas.words.amounts(&bar.detail))
            };
            let room = next - left - 6.0;
            if room > 20.0 {
                label::elided(
                    canvas,
                    pos2(left, rect.center().y),
                    &text,
                    room,
                    font.clone(),
                    canvas.tokens.text,
                );
            }
        }
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        self.bars
            .iter()
            .filter(|b| b.start <= t.nanos() && b.end.is_some_and(|end| t.nanos() < end))
            .map(|b| Reading {
                name: b.title.clone(),
                value: b.detail.clone(),
                colour: None,
                target: b.target.clone(),
            })
            .collect()
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        self.under(canvas, pos)?.target.clone()
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: Rect) -> Vec<Target> {
        (0..self.bars.len())
            .filter_map(|at| self.place(at, canvas))
            .filter(|(_, rect)| rect.intersects(area))
            .filter_map(|(bar, _)| bar.target.clone())
            .collect()
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let edges = self
            .bars
            .iter()
            .flat_map(|b| [Some(b.start), b.end])
            .flatten();
        axis::next_in(edges, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        let table = if self.bars.iter().any(|b| b.order == 0) {
            "runs"
        } else {
            "events"
        };
        Some(Twin {
            table,
            filter: String::new(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        let touched = self.bars.iter().filter(|b| {
            b.start < range.end.nanos() && b.end.unwrap_or(b.start + 1) > range.start.nanos()
        });
        let rows = touched.take(8);
        rows.map(|b| (b.title.clone(), b.detail.clone())).collect()
    }
}
