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
const INDENT: f32 = 30.0;
/// Height of a line of a reading.
const LINE: f32 = 14.0;
/// Height of a line of a title.
const TITLE: f32 = 16.0;
/// Readings that are listed at most; more are counted.
const MOST: usize = 6;

impl Timeline {
    /// Draws what stands left of a lane.
    pub(super) fn gutter(&mut self, ui: &Ui, frame: &mut Frame<'_>, lane: &LaneUi<'_>, rect: Rect) {
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
        let place = Rect::from_min_size(rect.min + vec2(3.0, 5.0), vec2(11.0, 16.0));
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
            pos2(rect.right() - 22.0, rect.top() + 4.0),
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
        let (left, right) = (rect.left() + INDENT, rect.right() - 8.0);
        let key = format!("lane-{}", lane.row.spec.kind);
        let kind = frame.words.text(&key).to_owned();
        let note = self
            .slots
            .last(&lane.row.spec)
            .map(|l| l.note_in(frame.words));
        let note = note.unwrap_or_default();
        let part = part(frame).filter(|_| !lane.row.is_collapsed);
        let said = part.map_or(&[][..], |part| {
            self.slots.say(&lane.row.spec, part, frame.words)
        });

        // The title may take two lines where there is room for them beside what is read.
        let is_tall = rect.height() >= 84.0
            && !lane.row.is_collapsed
            && keeps_second_line(rect.height(), said.len());
        let room = right - 20.0 - left;
        let (title, is_cut) = text::title(
            &painter,
            lane.title,
            tokens.text,
            room,
            1 + usize::from(is_tall),
        );
        let mut y = rect.top() + 5.0;
        let place = Rect::from_min_size(pos2(left, y), vec2(room, title.size().y));
        y = place.bottom() + 1.0;
        painter.galley(place.min, title, tokens.text);
        if is_cut || lane.row.is_collapsed {
            let whole = format!("{}\n{kind}\n{note}", lane.title);
            ui.interact(place, id.with("title"), Sense::HOVER)
                .on_hover_text(whole.trim_end());
        }
        if lane.row.is_collapsed {
            return;
        }
        let rows = |y: f32| ((rect.bottom() - 3.0 - y) / LINE).max(0.0) as usize;
        // What is read at the cursor matters more than what the lane is.
        let spare = rows(y).saturating_sub(said.len().min(MOST));
        if said.is_empty() || (spare > 0 && rows(y) > 1) {
            let lines = note_lines(
                &painter,
                &kind,
                &note,
                lane.title,
                tokens.text_faint,
                right - left,
                spare,
            );
            for (at, galley) in lines.into_iter().enumerate() {
                let place = Rect::from_min_size(pos2(left, y), galley.size());
                y = place.bottom() + 1.0;
                if galley.elided {
                    ui.interact(place, id.with(("note", at)), Sense::HOVER)
                        .on_hover_text(galley.job.text.clone());
                }
                painter.galley(place.min, galley, tokens.text_faint);
            }
        }
        if !said.is_empty() {
            let list = Rect::from_min_max(pos2(left, y + 1.0), pos2(right, rect.bottom()));
            let tip = egui::RichText::new(all_of(said)).text_style(egui::TextStyle::Monospace);
            ui.interact(list, id.with("said"), Sense::HOVER)
                .on_hover_text(tip);
            readings(&painter, frame, said, list, rows(y + 1.0).clamp(1, MOST));
        }
    }
}

/// Whether a reading is a number with its unit, and not a sentence that begins with one.
fn is_number(value: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '≥' | '≈');
    value.starts_with(is_sign) && value.split_whitespace().count() <= 4
}

/// Whether a title may take its second line: not when that line is what the last reading lacks.
fn keeps_second_line(height: f32, said: usize) -> bool {
    // Title, its space above and below, and the edge below the readings.
    let rows = |titles: f32| ((height - 10.0 - titles * TITLE) / LINE).max(0.0) as usize;
    said <= rows(2.0) || said > rows(1.0)
}

/// Kind and note on one line; on two where they do not fit on one and there is room.
fn note_lines(
    painter: &egui::Painter,
    kind: &str,
    note: &str,
    title: &str,
    faint: egui::Color32,
    width: f32,
    spare: usize,
) -> Vec<std::sync::Arc<egui::Galley>> {
    let line = |text: &str| text::line(painter, text, text::small(), faint, width);
    let parts = [kind, note];
    let parts: Vec<&str> = parts
        .into_iter()
        .filter(|p| !p.is_empty() && *p != title)
        .collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let one = line(&parts.join(" · "));
    if !one.elided || spare < 2 {
        return vec![one];
    }
    // A long note goes on below where there is room.
    let mut lines = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let left = spare
            .saturating_sub(lines.len() + parts.len() - at - 1)
            .max(1);
        lines.extend(text::lines(
            painter,
            part,
            &text::small(),
            faint,
            width,
            left,
        ));
    }
    lines
}

/// Every name with its value, for a tooltip.
fn all_of(said: &[Said]) -> String {
    const LINES: usize = 40;
    let mut lines: Vec<String> = said
        .iter()
        .take(LINES)
        .map(|s| format!("{}  {}", s.name, s.value))
        .collect();
    if said.len() > LINES {
        lines.push(format!("… +{}", said.len() - LINES));
    }
    lines.join("\n")
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
        let mut x = rect.left();
        if let Some(colour) = one.colour {
            let dot = Rect::from_center_size(pos2(x + 3.0, y), vec2(6.0, 6.0));
            painter.rect_filled(dot, 2, tokens.series(colour));
            x += 11.0;
        }
        // A name keeps two fifths when the value is long, and gives the rest away when it is short.
        let room = rect.right() - x;
        let name = painter.layout_no_wrap(one.name.clone(), text::small(), tokens.text_dim);
        let kept = name.size().x.min(room * 0.42) + 6.0;
        // Digits stand below each other; a sentence needs none of that and more room.
        let is_number = is_number(&one.value);
        let font = if is_number {
            text::digits()
        } else {
            text::small()
        };
        let value = text::line(painter, &one.value, font, tokens.text, room - kept);
        let left = rect.right() - value.size().x;
        let (name, _) = text::middle(
            painter,
            &one.name,
            &text::small(),
            tokens.text_dim,
            left - x - 6.0,
        );
        painter.galley(pos2(left, y - value.size().y / 2.0), value, tokens.text);
        painter.galley(pos2(x, y - name.size().y / 2.0), name, tokens.text_dim);
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
    let place = Rect::from_min_size(rect.min + vec2(13.0, 5.0), vec2(16.0, 16.0));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_no_numbers() {
        assert!(is_number("33 min 11 s") && is_number("-0.2/s") && is_number("≥ 2.5 s"));
        assert!(!is_number("6 of 104 traced calls lost up to 3 s") && !is_number("timed out"));
    }

    #[test]
    fn a_title_gives_its_second_line_to_the_last_reading() {
        assert!(keeps_second_line(92.0, 0) && keeps_second_line(92.0, 3));
        assert!(!keeps_second_line(92.0, 4), "four fit under one line");
        assert!(keeps_second_line(92.0, 40), "they are counted anyway");
    }
}
