//! What stands left of a lane: its title, its kind, a note, what it reads at the cursor; and how it is moved and shaped.

use egui::{Align2, CursorIcon, Id, Popup, Rect, Response, Sense, Stroke, Ui, pos2, vec2};

use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::lanes;
use crate::ui::request::{LaneEdit, Request};
use crate::ui::timeline::lanes_ui::LaneUi;
use crate::ui::timeline::slots::{Part, Said};
use crate::ui::timeline::{Timeline, text};

/// Where text begins: right of the grip and the chevron.
const INDENT: f32 = 34.0;
/// Height of a line of a reading.
const LINE: f32 = 14.0;
/// Readings that are listed at most; more are counted.
const MOST: usize = 6;

impl Timeline {
    /// Draws what stands left of a lane.
    pub(super) fn gutter(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        lane: &LaneUi<'_>,
        rect: Rect,
    ) {
        let tokens = frame.tokens;
        let id = ui.scope_id().with(("gutter", lane.at));
        let click = ui.interact(rect, id, Sense::CLICK);
        if click.clicked() {
            frame.ask(Request::Lanes(LaneEdit::Activate(lane.at)));
        }
        if lane.is_active || click.hovered() {
            let fill = if lane.is_active {
                tokens.raised
            } else {
                tokens.hover.gamma_multiply(0.4)
            };
            ui.painter()
                .rect_filled(rect.with_max_x(rect.right() - 1.0), 0, fill);
        }
        if lane.is_active {
            ui.painter()
                .rect_filled(rect.with_max_x(rect.left() + 2.5), 0, tokens.accent);
        }
        self.grip(ui, frame, lane, rect, id);
        chevron(ui, frame, lane, rect, id);
        self.menu(ui, frame, lane, rect, id);
        self.words(ui, frame, lane, rect, id);
        ui.painter().vline(
            rect.right() - 0.5,
            rect.y_range(),
            Stroke::new(1.0, tokens.line),
        );
    }

    fn grip(&mut self, ui: &Ui, frame: &Frame<'_>, lane: &LaneUi<'_>, rect: Rect, id: Id) {
        let place = Rect::from_min_size(rect.min + vec2(3.0, 5.0), vec2(14.0, 16.0));
        let label = frame
            .words
            .with("timeline-lane-grip", &[("lane", lane.title.into())]);
        let response = ui
            .interact(place, id.with("grip"), Sense::DRAG)
            .on_hover_cursor(CursorIcon::Grab);
        let is_lit = response.hovered() || response.dragged();
        let colour = if is_lit {
            frame.tokens.text
        } else {
            frame.tokens.text_faint.gamma_multiply(0.6)
        };
        icons::paint(
            ui.painter(),
            Icon::Grip,
            place.shrink(1.0),
            Stroke::new(1.4, colour),
        );
        if response.dragged() {
            ui.set_cursor_icon(CursorIcon::Grabbing);
            self.carried = Some(lane.at);
        }
        response.on_hover_text(label);
    }

    fn menu(&mut self, ui: &Ui, frame: &mut Frame<'_>, lane: &LaneUi<'_>, rect: Rect, id: Id) {
        let place = Rect::from_min_size(
            pos2(rect.right() - 24.0, rect.top() + 4.0),
            vec2(18.0, 18.0),
        );
        let label = frame
            .words
            .with("timeline-lane-menu", &[("lane", lane.title.into())]);
        let button = small_button(ui, frame, id.with("menu"), place, Icon::Dots, &label);
        let words = frame.words;
        let is_series = !lane.row.spec.series.is_empty();
        let has_values = self
            .slots
            .last(&lane.row.spec)
            .is_some_and(|l| l.values(frame.view.range).is_some());
        let is_log = lane.row.is_log.unwrap_or_else(|| {
            lanes::by_id(&lane.row.spec.kind).is_some_and(|k| k.is_log(&lane.row.spec))
        });
        let log = if is_log {
            "timeline-menu-linear"
        } else {
            "timeline-menu-log"
        };
        let fold = if lane.row.is_collapsed {
            "timeline-menu-unfold"
        } else {
            "timeline-menu-fold"
        };
        let entries = [
            (log, CommandId::LaneLog, has_values),
            (fold, CommandId::LaneCollapse, true),
            (
                "timeline-menu-taller",
                CommandId::LaneTaller,
                !lane.row.is_collapsed,
            ),
            (
                "timeline-menu-shorter",
                CommandId::LaneShorter,
                !lane.row.is_collapsed,
            ),
            ("timeline-menu-up", CommandId::LaneMoveUp, lane.at > 0),
            (
                "timeline-menu-down",
                CommandId::LaneMoveDown,
                lane.at + 1 < frame.view.lanes.len(),
            ),
            ("timeline-menu-table", CommandId::LaneTable, true),
            ("timeline-menu-entity", CommandId::LanesByEntity, true),
            ("timeline-menu-remove", CommandId::LaneRemove, true),
        ];
        let mut wanted = Vec::new();
        let mut is_overlay = false;
        Popup::menu(&button).show(|ui| {
            if is_series && ui.button(words.text("timeline-menu-overlay")).clicked() {
                is_overlay = true;
            }
            for (word, command, can) in entries {
                let mut entry = egui::Button::new(words.text(word));
                if let Some(key) = crate::ui::commands::command(command).and_then(|c| c.shortcut) {
                    entry = entry.shortcut_text(ui.format_shortcut(&key));
                }
                if ui.add_enabled(can, entry).clicked() {
                    wanted.push(Request::Command(command));
                }
            }
        });
        if is_overlay {
            self.add_lane(true);
        }
        if is_overlay || !wanted.is_empty() {
            frame.ask(Request::Lanes(LaneEdit::Activate(lane.at)));
            frame.requests.append(&mut wanted);
        }
    }

    /// Title, kind and note, readings or measures.
    fn words(&mut self, ui: &Ui, frame: &Frame<'_>, lane: &LaneUi<'_>, rect: Rect, id: Id) {
        let tokens = frame.tokens;
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        let left = rect.left() + INDENT;
        let room = rect.right() - 28.0 - left;
        let (title, is_cut) = text::middle(&painter, lane.title, &text::body(), tokens.text, room);
        let at = pos2(left, rect.top() + 13.0 - title.size().y / 2.0);
        let place = Rect::from_min_size(at, vec2(room, title.size().y));
        painter.galley(at, title, tokens.text);
        let kind = frame
            .words
            .text(&format!("lane-{}", lane.row.spec.kind))
            .to_owned();
        let note = self
            .slots
            .last(&lane.row.spec)
            .map(|l| l.note_in(frame.words));
        let second = match note.filter(|n| !n.is_empty()) {
            Some(note) => format!("{kind} · {note}"),
            None => kind,
        };
        if is_cut || lane.row.is_collapsed {
            let whole = format!("{}\n{second}", lane.title);
            ui.interact(place, id.with("title"), Sense::HOVER)
                .on_hover_text(whole);
        }
        if lane.row.is_collapsed {
            return;
        }
        let part = part(frame);
        let said = part.map_or(&[][..], |part| {
            self.slots.say(&lane.row.spec, part, frame.words)
        });
        let rows = ((rect.height() - 39.0) / LINE).max(0.0) as usize;
        if rows == 0 && !said.is_empty() {
            let line = Rect::from_x_y_ranges(
                left..=(rect.right() - 8.0),
                (rect.top() + 20.0)..=(rect.top() + 20.0 + LINE),
            );
            return readings(&painter, frame, said, line, 1);
        }
        let wide = rect.right() - 8.0 - left;
        let galley = text::line(&painter, &second, text::small(), tokens.text_faint, wide);
        let is_cut = galley.elided;
        let at = pos2(left, rect.top() + 22.0);
        let place = Rect::from_min_size(at, galley.size());
        painter.galley(at, galley, tokens.text_faint);
        let list = Rect::from_min_max(
            pos2(left, rect.top() + 38.0),
            pos2(rect.right() - 8.0, rect.bottom()),
        );
        readings(&painter, frame, said, list, rows.min(MOST));
        if is_cut {
            ui.interact(place, id.with("note"), Sense::HOVER)
                .on_hover_text(second);
        }
    }
}

/// What the gutters say now: what is measured, else what stands at the cursor.
pub(super) fn part(frame: &Frame<'_>) -> Option<Part> {
    match frame.view.measure {
        Some(range) if range.nanos() > 0 => Some(Part::Over(range)),
        _ => frame.view.cursor.map(Part::At),
    }
}

/// Name at the left, value at the right; the last line counts what has no room.
fn readings(painter: &egui::Painter, frame: &Frame<'_>, said: &[Said], rect: Rect, rows: usize) {
    let tokens = frame.tokens;
    let shown = if said.len() > rows && rows > 1 {
        rows - 1
    } else {
        rows
    };
    for (row, one) in said.iter().take(shown).enumerate() {
        let y = rect.top() + (row as f32 + 0.5) * LINE;
        let value = text::line(
            painter,
            &one.value,
            text::digits(),
            tokens.text,
            rect.width() * 0.7,
        );
        let left = rect.right() - value.size().x;
        painter.galley(pos2(left, y - value.size().y / 2.0), value, tokens.text);
        let mut x = rect.left();
        if let Some(colour) = one.colour {
            let dot = Rect::from_center_size(pos2(x + 3.0, y), vec2(6.0, 6.0));
            painter.rect_filled(dot, 2, tokens.series(colour));
            x += 11.0;
        }
        let (name, _) = text::middle(
            painter,
            &one.name,
            &text::small(),
            tokens.text_dim,
            left - x - 6.0,
        );
        if left - x > 14.0 {
            painter.galley(pos2(x, y - name.size().y / 2.0), name, tokens.text_dim);
        }
    }
    let rest = said.len().saturating_sub(shown);
    if rest > 0 && rows > 1 {
        let y = rect.top() + (shown as f32 + 0.5) * LINE;
        let more = frame.words.with("timeline-more", &[("n", rest.into())]);
        painter.text(
            pos2(rect.right(), y),
            Align2::RIGHT_CENTER,
            more,
            text::small(),
            tokens.text_faint,
        );
    }
}

fn chevron(ui: &Ui, frame: &mut Frame<'_>, lane: &LaneUi<'_>, rect: Rect, id: Id) {
    let place = Rect::from_min_size(rect.min + vec2(16.0, 5.0), vec2(16.0, 16.0));
    let (icon, word) = if lane.row.is_collapsed {
        (Icon::Right, "timeline-lane-unfold")
    } else {
        (Icon::Down, "timeline-lane-fold")
    };
    let label = frame.words.with(word, &[("lane", lane.title.into())]);
    if small_button(ui, frame, id.with("fold"), place, icon, &label).clicked() {
        frame.ask(Request::Lanes(LaneEdit::Collapse(
            lane.at,
            !lane.row.is_collapsed,
        )));
    }
}

/// A button of an icon that is smaller than a row.
pub(super) fn small_button(
    ui: &Ui,
    frame: &Frame<'_>,
    id: Id,
    rect: Rect,
    icon: Icon,
    label: &str,
) -> Response {
    let tokens = frame.tokens;
    let response = ui.interact(rect, id, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, ui.is_enabled(), label));
    if response.hovered() || response.has_focus() {
        ui.painter().rect_filled(rect, 4, tokens.hover);
    }
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect,
            4,
            Stroke::new(1.5, tokens.accent),
            egui::StrokeKind::Inside,
        );
    }
    let colour = if response.hovered() || response.has_focus() {
        tokens.text
    } else {
        tokens.text_faint
    };
    icons::paint(
        ui.painter(),
        icon,
        rect.shrink(2.5),
        Stroke::new(1.3, colour),
    );
    response.on_hover_text(label)
}
