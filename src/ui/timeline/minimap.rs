//! The whole recording in one strip: how many findings stand where, how bad they are, and which part is shown.

use egui::{CursorIcon, Mesh, PointerButton, Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::memo::Memo;
use crate::model::finding::Finding;
use crate::ui::frame::Frame;
use crate::ui::timeline::Timeline;
use crate::ui::timeline::stage::Stage;

/// Columns of the density.
const BINS: usize = 240;
/// How near an edge is taken, in points.
const REACH: f32 = 6.0;

/// Findings in each column, by severity.
type Density = Vec<[u32; 4]>;

/// What the minimap remembers.
#[derive(Debug, Default)]
pub(super) struct Minimap {
    density: Memo<u64, Density>,
    drag: Option<Drag>,
}

/// What the pointer has hold of.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Drag {
    Start,
    End,
    Window,
    /// A new window, from here.
    New(Timestamp),
}

impl Timeline {
    pub(super) fn minimap(&mut self, ui: &Ui, frame: &mut Frame<'_>, stage: &Stage, row: Rect) {
        let track = Rect::from_x_y_ranges(stage.x, (row.top() + 4.0)..=(row.bottom() - 3.0));
        let tokens = frame.tokens;
        let painter = ui.painter();
        painter.rect_filled(track, 3, tokens.ground);
        let map = Map {
            recording: stage.bounds.recording,
            track,
        };
        self.density(ui, frame, &map);
        for range in &frame.highlight.ranges {
            let x =
                map.x(Timestamp::from_nanos(range.start))..=map.x(Timestamp::from_nanos(range.end));
            painter.rect_filled(Rect::from_x_y_ranges(x, track.y_range()), 0, tokens.wash);
        }
        if let Some(t) = frame.view.cursor {
            painter.vline(map.x(t), track.y_range(), Stroke::new(1.0, tokens.cursor));
        }
        let brush = brush(&map, stage.drawn);
        let dim = tokens.panel.gamma_multiply(0.62);
        for (from, to) in [(track.left(), brush.left()), (brush.right(), track.right())] {
            let rest = Rect::from_x_y_ranges(from..=to, track.y_range());
            if rest.width() > 0.5 {
                painter.rect_filled(rest, 3, dim);
            }
        }
        let id = ui.scope_id().with("minimap");
        let response = ui.interact(track.expand2(vec2(REACH, 3.0)), id, Sense::click_and_drag());
        let label = frame.words.text("timeline-minimap");
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ScrollBar, true, label));
        let is_lit = response.hovered() || response.dragged() || response.has_focus();
        let edge = if is_lit {
            tokens.accent
        } else {
            tokens.text_faint
        };
        painter.rect_stroke(brush, 3, Stroke::new(1.0, edge), egui::StrokeKind::Inside);
        for x in [brush.left(), brush.right()] {
            let handle = Rect::from_center_size(pos2(x, track.center().y), vec2(3.0, 11.0));
            painter.rect_filled(handle, 1, edge);
        }
        self.pull(ui, frame, stage, &map, brush, &response);
    }

    fn density(&mut self, ui: &Ui, frame: &Frame<'_>, map: &Map) {
        let Some(incident) = frame.incident else {
            return;
        };
        let (owned, recording) = (incident.clone(), map.recording);
        let answer = self
            .minimap
            .density
            .want(frame.pool, &incident.generation, move |_| {
                Ok(count(owned.findings(), recording))
            });
        let Some(density) = answer.value() else {
            return;
        };
        let most = density.iter().map(|bin| bin.iter().sum::<u32>()).max();
        let most = most.unwrap_or(0).max(1) as f32;
        let width = map.track.width() / BINS as f32;
        let room = map.track.height() - 3.0;
        let mut mesh = Mesh::default();
        for (at, bin) in density.iter().enumerate() {
            let left = map.track.left() + at as f32 * width;
            let mut bottom = map.track.bottom() - 1.0;
            // The worst stands at the bottom, where it is seen first.
            for (severity, n) in bin.iter().enumerate().rev().filter(|(_, n)| **n > 0) {
                let height = (*n as f32 / most * room).max(1.5);
                let rect =
                    Rect::from_min_max(pos2(left, bottom - height), pos2(left + width, bottom));
                if let Some(colour) = frame.tokens.severity.get(severity) {
                    mesh.add_colored_rect(rect, colour.gamma_multiply(0.85));
                }
                bottom -= height;
            }
        }
        ui.painter().with_clip_rect(map.track).add(mesh);
    }

    fn pull(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        map: &Map,
        brush: Rect,
        response: &egui::Response,
    ) {
        let near = |x: f32| {
            if (x - brush.left()).abs() <= REACH && x < brush.center().x {
                Drag::Start
            } else if (x - brush.right()).abs() <= REACH {
                Drag::End
            } else if brush.x_range().contains(x) && brush.width() < map.track.width() - 2.0 {
                Drag::Window
            } else {
                Drag::New(map.t(x))
            }
        };
        if let Some(pos) = response.hover_pos() {
            ui.set_cursor_icon(match self.minimap.drag.unwrap_or_else(|| near(pos.x)) {
                Drag::Start | Drag::End => CursorIcon::ResizeHorizontal,
                Drag::Window => CursorIcon::Grab,
                Drag::New(_) => CursorIcon::Crosshair,
            });
        }
        if response.double_clicked() {
            return self.glide(ui, frame, stage.bounds.recording);
        }
        let shown = stage.bounds.fit(frame.view.range);
        if response.clicked()
            && let Some(pos) = response.interact_pointer_pos()
        {
            let middle = map.t(pos.x);
            let start = middle.plus_nanos(-(shown.nanos() / 2));
            let moved = stage.bounds.pan(shown, start.nanos_since(shown.start));
            return self.glide(ui, frame, moved);
        }
        if response.drag_started_by(PointerButton::Primary) {
            self.minimap.drag = ui
                .input(|i| i.pointer.press_origin())
                .map(|pos| near(pos.x));
        }
        if !response.dragged_by(PointerButton::Primary) {
            self.minimap.drag = None;
            return;
        }
        let (Some(drag), Some(pos)) = (self.minimap.drag, response.interact_pointer_pos()) else {
            return;
        };
        let t = map.t(pos.x);
        let range = match drag {
            Drag::Start => TimeRange::new(t.min(shown.end), shown.end),
            Drag::End => TimeRange::new(shown.start, t.max(shown.start)),
            Drag::New(from) => TimeRange::new(from.min(t), from.max(t)),
            Drag::Window => {
                let by = f64::from(response.drag_delta().x) * map.nanos_per_point();
                return self.glide(ui, frame, stage.bounds.pan(shown, by as i64));
            }
        };
        self.glide(ui, frame, stage.bounds.fit(range));
    }
}

/// The recording on the strip.
struct Map {
    recording: TimeRange,
    track: Rect,
}

impl Map {
    fn x(&self, t: Timestamp) -> f32 {
        let offset = t.nanos_since(self.recording.start) as f64;
        let share = (offset / self.recording.nanos().max(1) as f64).clamp(0.0, 1.0);
        self.track.left() + share as f32 * self.track.width()
    }

    fn t(&self, x: f32) -> Timestamp {
        let share = f64::from((x - self.track.left()) / self.track.width().max(1.0));
        let nanos = share.clamp(0.0, 1.0) * self.recording.nanos() as f64;
        self.recording.start.plus_nanos(nanos as i64)
    }

    fn nanos_per_point(&self) -> f64 {
        self.recording.nanos() as f64 / f64::from(self.track.width().max(1.0))
    }
}

/// Where the shown part stands; wide enough to be taken.
fn brush(map: &Map, shown: TimeRange) -> Rect {
    let (mut left, mut right) = (map.x(shown.start), map.x(shown.end));
    if right - left < 6.0 {
        let middle =
            f32::midpoint(left, right).clamp(map.track.left() + 3.0, map.track.right() - 3.0);
        (left, right) = (middle - 3.0, middle + 3.0);
    }
    Rect::from_x_y_ranges(left..=right, map.track.y_range())
}

/// How many findings of each severity stand in each column.
fn count(findings: &[Finding], recording: TimeRange) -> Density {
    let mut bins = vec![[0; 4]; BINS];
    let column = |t: Timestamp| {
        let share = t.nanos_since(recording.start) as f64 / recording.nanos().max(1) as f64;
        (share.clamp(0.0, 1.0) * BINS as f64) as usize
    };
    for finding in findings {
        let end = finding.end.unwrap_or(recording.end);
        let from = column(finding.start).min(BINS - 1);
        let to = column(end).clamp(from + 1, BINS);
        for bin in bins.iter_mut().take(to).skip(from) {
            if let Some(n) = bin.get_mut(finding.severity as usize) {
                *n += 1;
            }
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::finding::{FindingKind, Severity};

    #[test]
    fn a_finding_stands_in_every_column_that_it_touches() {
        let at = Timestamp::from_nanos;
        let recording = TimeRange::new(at(0), at(2_400));
        let mut long = Finding::new(FindingKind::Leak, "a", at(1_200), None);
        long.severity = Severity::Major;
        let short = Finding::new(FindingKind::Change, "b", at(15), Some(at(16)));
        let outside = Finding::new(FindingKind::Change, "c", at(9_000), Some(at(9_001)));
        let bins = count(&[long, short, outside], recording);
        assert_eq!(bins.iter().filter(|b| b[2] == 1).count(), BINS / 2);
        assert_eq!(bins[1][0], 1);
        assert_eq!(bins[0][0], 0);
        assert_eq!(bins[BINS - 1], [1, 0, 1, 0]);
    }
}
