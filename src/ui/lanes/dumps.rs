//! `dumps`: profiles and dumps as marks in one row for each kind, with their totals.

use std::collections::BTreeMap;

use egui::{FontId, Mesh, Pos2, pos2};

use crate::base::time::{TimeRange, Timestamp};
use crate::base::units;
use crate::engine::cancel::Cancel;
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
const PITCH: f32 = 16.0;
/// Space above the first row.
const TOP: f32 = 4.0;
/// Rows that are drawn; what is beyond shares the last one.
const MOST_ROWS: usize = 6;
/// Marks nearer than this are one clump.
const NEAR: f32 = 6.0;
/// How near the pointer must be.
const REACH: f32 = 9.0;

/// Profiles and dumps as marks.
#[derive(Debug)]
pub struct Dumps;

impl LaneKind for Dumps {
    fn id(&self) -> &'static str {
        "dumps"
    }

    fn height(&self) -> u16 {
        (PITCH * 3.0 + TOP * 2.0) as u16
    }

    fn offers(&self, incident: &Incident) -> Vec<Offer> {
        plan::ranked(incident, list(incident.snapshot()))
    }

    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        _query: &Query,
        _cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        let lane = DumpLane::of(incident.snapshot(), &spec.key);
        if lane.marks.is_empty() {
            return Ok(empty::lane(&spec.key));
        }
        Ok(Box::new(lane))
    }
}

/// One lane for each process that has a dump with a time.
pub(super) fn list(snapshot: &Snapshot) -> Vec<Offer> {
    let mut processes: Vec<&str> = snapshot
        .profiles
        .iter()
        .filter(|p| p.t.is_some())
        .map(|p| p.process.as_ref())
        .collect();
    processes.sort_unstable();
    processes.dedup();
    processes
        .into_iter()
        .map(|process| Offer {
            spec: LaneSpec {
                kind: "dumps".to_owned(),
                key: process.to_owned(),
                series: Vec::new(),
            },
            title: process.to_owned(),
            entities: if process.is_empty() {
                Vec::new()
            } else {
                vec![format!("instance:{process}")]
            },
            opening_rank: None,
        })
        .collect()
}

#[derive(Debug, Clone, PartialEq)]
struct Mark {
    t: i64,
    row: usize,
    profile: usize,
    /// Its total with unit.
    total: String,
    kind: String,
}

/// Marks, ready to be drawn.
#[derive(Debug)]
struct DumpLane {
    /// By time.
    marks: Vec<Mark>,
    kinds: Vec<String>,
    /// Profiles of the process without a time.
    without: usize,
    mesh: MeshCache,
}

impl DumpLane {
    fn of(snapshot: &Snapshot, process: &str) -> Self {
        let ours = || {
            let all = snapshot.profiles.iter().enumerate();
            all.filter(|(_, p)| p.process.as_ref() == process)
        };
        let mut rows: BTreeMap<(u8, &str), usize> = BTreeMap::new();
        for (_, p) in ours().filter(|(_, p)| p.t.is_some()) {
            rows.insert((order(&p.kind), &p.kind), 0);
        }
        for (at, row) in rows.values_mut().enumerate() {
            *row = at.min(MOST_ROWS - 1);
        }
        let mut marks: Vec<Mark> = ours()
            .filter_map(|(at, p)| {
                Some(Mark {
                    t: p.t?.nanos(),
                    row: rows
                        .get(&(order(&p.kind), p.kind.as_ref()))
                        .copied()
                        .unwrap_or(0),
                    profile: at,
                    total: total(p.total, &p.unit),
                    kind: p.kind.to_string(),
                })
            })
            .collect();
        marks.sort_by_key(|m| (m.t, m.row, m.profile));
        Self {
            marks,
            kinds: rows.into_keys().map(|(_, kind)| kind.to_owned()).collect(),
            without: ours().filter(|(_, p)| p.t.is_none()).count(),
            mesh: MeshCache::default(),
        }
    }

    fn rows(&self) -> usize {
        self.kinds.len().clamp(1, MOST_ROWS)
    }

    fn y(canvas: &Canvas<'_>, row: usize) -> f32 {
        canvas.rect.top() + TOP + PITCH * (row as f32 + 0.5)
    }

    fn is_bright(mark: &Mark, canvas: &Canvas<'_>) -> bool {
        canvas.highlight.targets.iter().any(|t| match t {
            Target::Stack { profile, .. } => *profile == mark.profile,
            _ => false,
        })
    }

    fn build(&self, canvas: &Canvas<'_>, mesh: &mut Mesh) {
        let feather = 1.0 / canvas.painter.ctx().pixels_per_point();
        for row in 0..self.rows() {
            let y = Self::y(canvas, row);
            let ends = [pos2(canvas.rect.left(), y), pos2(canvas.rect.right(), y)];
            mesh::line(mesh, &ends, 1.0, canvas.tokens.grid, feather);
        }
        for mark in &self.marks {
            let x = canvas.x(mark.t);
            if canvas.rect.x_range().expand(8.0).contains(x) {
                let at = pos2(x, Self::y(canvas, mark.row));
                let ink = canvas.tokens.series(mark.row % 8);
                if Self::is_bright(mark, canvas) {
                    mesh::diamond(mesh, at, 6.8, canvas.tokens.highlight, feather);
                }
                mesh::diamond(mesh, at, 4.8, ink, feather);
            }
        }
    }

    fn nearest(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<&Mark> {
        let far = |m: &Mark| pos2(canvas.x(m.t), Self::y(canvas, m.row)).distance(pos);
        self.marks
            .iter()
            .filter(|m| far(m) <= REACH)
            .min_by(|a, b| far(a).total_cmp(&far(b)))
    }
}

/// Dumps of what waits come before profiles of what works.
fn order(kind: &str) -> u8 {
    match kind {
        "goroutine" | "thread" => 0,
        "mutex" | "block" => 1,
        "heap" | "allocs" => 2,
        "cpu" => 3,
        _ => 4,
    }
}

fn total(total: f64, unit: &str) -> String {
    match unit {
        "bytes" => units::bytes(total),
        "nanoseconds" => units::ms(total / 1e6),
        "" | "count" => units::number(total),
        other => format!("{} {other}", units::number(total)),
    }
}

impl Lane for DumpLane {
    fn note(&self) -> String {
        self.marks.len().to_string()
    }

    fn note_in(&self, words: &Words) -> String {
        let mut parts = vec![words.with("lane-note-dumps", &[("n", self.marks.len().into())])];
        if self.without > 0 {
            parts.push(words.with("lane-note-timeless", &[("n", self.without.into())]));
        }
        parts.join(" · ")
    }

    fn wanted_height(&self) -> Option<u16> {
        Some((PITCH * self.rows() as f32 + TOP * 2.0) as u16)
    }

    /// All dumps that stand at one place.
    fn tip(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<String> {
        let near = |m: &&Mark| {
            let at = pos2(canvas.x(m.t), Self::y(canvas, m.row));
            (at.x - pos.x).abs() <= REACH && (at.y - pos.y).abs() <= PITCH / 2.0
        };
        let here: Vec<&Mark> = self.marks.iter().filter(near).collect();
        let told = |m: &Mark| format!("{}  {}", m.kind, canvas.words.amounts(&m.total));
        (here.len() > 1).then(|| label::list(here.iter().map(|m| told(m)), canvas.words))
    }

    fn blank(&self, shown: TimeRange) -> Option<Blank> {
        let is_here = |m: &Mark| shown.contains(Timestamp::from_nanos(m.t));
        if self.marks.iter().any(is_here) {
            return None;
        }
        Blank::around(self, shown)
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let bright = self
            .marks
            .iter()
            .map(|m| u64::from(Self::is_bright(m, canvas)));
        self.mesh.paint(canvas, mesh::digest(bright), |mesh| {
            self.build(canvas, mesh);
        });
        if self.blank(canvas.shown).is_some() {
            // What is said instead has the place of the names.
            return;
        }
        let font = FontId::proportional(theme::SMALL - 1.0);
        let numbers = FontId::monospace(theme::SMALL - 1.5);
        for row in 0..self.rows() {
            let y = Self::y(canvas, row);
            let is_shared = row + 1 == MOST_ROWS && self.kinds.len() > MOST_ROWS;
            let name = match self.kinds.get(row) {
                Some(kind) if is_shared => format!("{kind} +{}", self.kinds.len() - MOST_ROWS),
                Some(kind) => kind.clone(),
                None => continue,
            };
            let galley = canvas
                .painter
                .layout_no_wrap(name, font.clone(), canvas.tokens.text_dim);
            let left = canvas.rect.left() + 4.0;
            let back = egui::Rect::from_min_size(
                pos2(left - 2.0, y - 7.0),
                egui::vec2(galley.size().x + 5.0, 14.0),
            );
            let free_from = back.right() + 4.0;
            canvas.painter.rect_filled(back, 2.0, canvas.tokens.ground);
            canvas.painter.galley(
                pos2(left, y - galley.size().y / 2.0),
                galley,
                canvas.tokens.text_dim,
            );
            let ours: Vec<&Mark> = self
                .marks
                .iter()
                .filter(|m| m.row == row && canvas.rect.x_range().contains(canvas.x(m.t)))
                .collect();
            let xs: Vec<f32> = ours.iter().map(|m| canvas.x(m.t)).collect();
            let clumps = marks::clumps(&xs, NEAR);
            // Of marks at one place the last one's total is told.
            let written = |(first, count): &(usize, usize)| -> Option<(f32, String)> {
                let members = ours.get(*first..first + count)?;
                let last = members.last()?;
                let text = if *count > 1 {
                    format!("{}  {count}×", canvas.words.amounts(&last.total))
                } else {
                    canvas.words.amounts(&last.total)
                };
                Some((canvas.x(last.t) + 8.0, text))
            };
            let texts: Vec<(f32, String)> = clumps.iter().filter_map(written).collect();
            for (at, (x, text)) in texts.iter().enumerate() {
                // Up to the next mark of the row, which would lie on it.
                let next = clumps.get(at + 1).and_then(|(first, _)| xs.get(*first));
                let room = next.map_or(f32::INFINITY, |next| next - x - REACH);
                let galley = canvas.painter.layout_no_wrap(
                    text.clone(),
                    numbers.clone(),
                    canvas.tokens.text,
                );
                if *x > free_from && galley.size().x <= room {
                    let at = pos2(*x, y - galley.size().y / 2.0);
                    canvas.painter.galley(at, galley, canvas.tokens.text);
                }
            }
        }
    }

    fn read(&self, t: Timestamp) -> Vec<Reading> {
        // The last of each kind up to the instant.
        self.kinds
            .iter()
            .filter_map(|kind| {
                let before = self
                    .marks
                    .iter()
                    .rev()
                    .find(|m| m.t <= t.nanos() && m.kind == *kind)?;
                Some(Reading {
                    name: kind.clone(),
                    value: before.total.clone(),
                    colour: Some(before.row),
                    target: Some(Target::Stack {
                        profile: before.profile,
                        group: None,
                    }),
                })
            })
            .collect()
    }

    fn pick(&self, canvas: &Canvas<'_>, pos: Pos2) -> Option<Target> {
        let profile = self.nearest(canvas, pos)?.profile;
        Some(Target::Stack {
            profile,
            group: None,
        })
    }

    fn pick_box(&self, canvas: &Canvas<'_>, area: egui::Rect) -> Vec<Target> {
        self.marks
            .iter()
            .filter(|m| area.contains(pos2(canvas.x(m.t), Self::y(canvas, m.row))))
            .map(|m| Target::Stack {
                profile: m.profile,
                group: None,
            })
            .collect()
    }

    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp> {
        let places = self.marks.iter().map(|m| m.t);
        axis::next_in(places, from.nanos(), is_forward).map(Timestamp::from_nanos)
    }

    fn twin(&self) -> Option<Twin> {
        Some(Twin {
            table: "profiles",
            filter: String::new(),
        })
    }

    fn measure(&self, range: TimeRange) -> Vec<(String, String)> {
        let mut rows = Vec::new();
        for kind in &self.kinds {
            let inside: Vec<&Mark> = self
                .marks
                .iter()
                .filter(|m| m.kind == *kind && range.contains(Timestamp::from_nanos(m.t)))
                .collect();
            if let (Some(first), Some(last)) = (inside.first(), inside.last()) {
                let text = if inside.len() > 1 {
                    format!("{} → {}", first.total, last.total)
                } else {
                    first.total.clone()
                };
                rows.push((kind.clone(), text));
            }
        }
        rows
    }
}
