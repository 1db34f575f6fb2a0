//! The entries: when, how bad, what; hidden ones dimmed where they are shown.

use egui::{Align, EventFilter, Key, Layout, Modifiers, Pos2, Rect, RichText, Ui, Vec2};

use crate::base::time::{TimeRange, Timestamp};
use crate::model::finding::Severity;
use crate::session::notes::Edit;
use crate::session::target::Target;
use crate::session::timeline::{Entry, Origin};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::notes::{Notes, Picked};
use crate::ui::request::{NoteEdit, Request};
use crate::ui::theme;
use crate::ui::widgets::text::paint_cut;

/// What a filter keeps at least.
const LEAST: [(Severity, &str); 4] = [
    (Severity::Info, "notes-all"),
    (Severity::Minor, "notes-minor"),
    (Severity::Major, "notes-major"),
    (Severity::Critical, "notes-critical"),
];

/// How a row is drawn.
#[derive(Debug, Clone, Copy)]
struct Look {
    is_picked: bool,
    is_one_day: bool,
}

/// What a person does with a row.
enum Done {
    Pick,
    Follow,
    Hide,
}

fn list_id() -> egui::Id {
    egui::Id::unique("notes-list")
}

impl Notes {
    pub(super) fn tools(&mut self, ui: &mut Ui, entries: &[Entry], frame: &mut Frame<'_>) {
        let words = frame.words;
        ui.horizontal(|ui| {
            if ui
                .button(words.text("notes-add"))
                .on_hover_text(words.text("cmd-add-event"))
                .clicked()
            {
                frame.ask(Request::Command(CommandId::AddEvent));
            }
            let now = LEAST.iter().find(|(s, _)| *s == self.least);
            let shown = words.text(now.map_or("notes-all", |(_, key)| key));
            let combo = egui::ComboBox::from_id_salt("notes-least")
                .selected_text(shown)
                .show_ui(ui, |ui| {
                    for (severity, key) in LEAST {
                        ui.selectable_value(&mut self.least, severity, words.text(key));
                    }
                });
            combo.response.on_hover_text(words.text("notes-least"));
            let hidden = entries.iter().filter(|e| e.is_hidden).count();
            if hidden > 0 {
                let label = words.with("notes-hidden", &[("n", hidden.into())]);
                ui.checkbox(&mut self.is_hidden_shown, label);
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let n = entries.iter().filter(|e| !e.is_hidden).count();
                let text = words.with("notes-count", &[("n", n.into())]);
                ui.label(RichText::new(text).small().color(frame.tokens.text_faint));
            });
        });
    }

    /// The entries that the filter keeps, as places in `entries`. What a person wrote and what was changed always stays.
    fn kept(&self, entries: &[Entry]) -> Vec<usize> {
        entries
            .iter()
            .enumerate()
            .filter(|(_, e)| {
                let is_own = matches!(e.origin, Origin::Own(_));
                (self.is_hidden_shown || !e.is_hidden)
                    && (is_own || e.is_change || e.severity >= self.least)
            })
            .map(|(at, _)| at)
            .collect()
    }

    pub(super) fn list(&mut self, ui: &mut Ui, entries: &[Entry], frame: &mut Frame<'_>) {
        let kept = self.kept(entries);
        let size = ui.available_size();
        let (outer, _) = ui.allocate_exact_size(size, egui::Sense::hover());
        let focus = ui.interact(outer, list_id(), egui::Sense::focusable_noninteractive());
        focus.widget_info(|| {
            let label = frame.words.text("notes-list");
            egui::WidgetInfo::labeled(egui::Role::ListBox, true, label)
        });
        let tokens = frame.tokens;
        let border = if focus.has_focus() {
            tokens.accent
        } else {
            tokens.line
        };
        let inside = egui::StrokeKind::Inside;
        let stroke = egui::Stroke::new(1.0, border);
        ui.painter().rect(outer, 4.0, tokens.ground, stroke, inside);
        if kept.is_empty() {
            let text = RichText::new(frame.words.text("notes-empty")).color(tokens.text_dim);
            let area = outer.shrink(theme::PAD);
            let area = Rect::from_min_size(area.min, Vec2::new(area.width(), theme::ROW * 2.0));
            ui.put(area, egui::Label::new(text).wrap());
            return;
        }
        self.bring_into_view(entries, &kept, frame);
        let mut done: Option<(usize, Done)> = None;
        if focus.has_focus() {
            self.keys(ui, entries, &kept, &mut done, frame);
        }
        let inner = outer.shrink(1.0);
        let mut area = ui.new_child(egui::UiBuilder::new().id_salt("notes-rows").max_rect(inner));
        area.set_clip_rect(inner.intersect(ui.clip_rect()));
        let is_one_day = is_one_day(entries, frame);
        let mut rows = std::mem::take(&mut self.rows);
        rows.show(
            &mut area,
            "notes-scroll",
            inner.height(),
            kept.len(),
            |ui, n, rect, response| {
                let Some((at, entry)) = kept.get(n).and_then(|at| Some((*at, entries.get(*at)?)))
                else {
                    return;
                };
                let look = Look {
                    is_picked: self.is_picked(entry, frame),
                    is_one_day,
                };
                if let Some(what) = row(ui, rect, &response, entry, look, frame) {
                    done = Some((at, what));
                }
                if response.double_clicked() {
                    done = Some((at, Done::Follow));
                } else if response.clicked() {
                    done = Some((at, Done::Pick));
                    ui.memory_mut(|m| m.request_focus(list_id()));
                }
            },
        );
        self.rows = rows;
        if let Some((at, what)) = done
            && let Some(entry) = entries.get(at)
        {
            if let Some(n) = kept.iter().position(|k| *k == at) {
                self.rows.at = n;
            }
            self.act(entry, &what, frame);
        }
    }

    fn bring_into_view(&mut self, entries: &[Entry], kept: &[usize], frame: &Frame<'_>) {
        if !self.must_show {
            return;
        }
        let place = kept
            .iter()
            .position(|at| entries.get(*at).is_some_and(|e| self.is_picked(e, frame)));
        if let Some(place) = place {
            self.rows.go(place);
            self.must_show = false;
        }
    }

    fn keys(
        &mut self,
        ui: &Ui,
        entries: &[Entry],
        kept: &[usize],
        done: &mut Option<(usize, Done)>,
        frame: &Frame<'_>,
    ) {
        ui.memory_mut(|m| {
            m.set_focus_lock_filter(
                list_id(),
                EventFilter {
                    vertical_arrows: true,
                    ..EventFilter::default()
                },
            );
        });
        let has_moved = self.rows.keys(ui, kept.len(), true);
        let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
        let Some((at, entry)) = kept
            .get(self.rows.at)
            .and_then(|at| Some((*at, entries.get(*at)?)))
        else {
            return;
        };
        if has_moved {
            self.pick(entry, frame);
        }
        if pressed(Key::Enter) {
            self.pick(entry, frame);
            if let Some(draft) = &mut self.draft {
                draft.must_focus = true;
            }
        } else if pressed(Key::Space) {
            *done = Some((at, Done::Follow));
        } else if pressed(Key::Delete) {
            *done = Some((at, Done::Hide));
        }
    }

    fn act(&mut self, entry: &Entry, what: &Done, frame: &mut Frame<'_>) {
        match what {
            Done::Pick => self.pick(entry, frame),
            Done::Follow => {
                self.pick(entry, frame);
                follow(entry, frame);
            }
            Done::Hide => {
                if let Origin::Own(at) = entry.origin {
                    self.draft = None;
                    self.picked = None;
                    frame.ask(Request::Note(NoteEdit::RemoveEvent(at)));
                } else {
                    hide(entry, frame);
                    self.picked = Some(Picked::Entry(entry.id.clone()));
                }
            }
        }
    }
}

/// Leaves an entry out, or takes it in again.
fn hide(entry: &Entry, frame: &mut Frame<'_>) {
    let mut edit: Edit = frame
        .notes
        .edits
        .get(&entry.id)
        .cloned()
        .unwrap_or_default();
    edit.is_hidden = !entry.is_hidden;
    let edit = Some(edit).filter(|e| *e != Edit::default());
    frame.ask(Request::Note(NoteEdit::Entry(entry.id.clone(), edit)));
}

/// Leads to the place on the timeline.
pub(super) fn follow(entry: &Entry, frame: &mut Frame<'_>) {
    match &entry.origin {
        Origin::Report(Some(id)) => frame.ask(Request::Follow(Target::Finding(id.clone()))),
        Origin::Event(at) => frame.ask(Request::Follow(Target::Event { event: *at })),
        Origin::Report(None) | Origin::Own(_) => {}
    }
    frame.ask(Request::Cursor(Some(entry.start)));
    let range = frame.view.range;
    if !range.contains(entry.start) {
        let half = range.nanos() / 2;
        frame.ask(Request::Range(TimeRange::new(
            entry.start.plus_nanos(-half),
            entry.start.plus_nanos(half),
        )));
    }
}

/// Whether all begins lie on one day, so that a clock alone says when.
fn is_one_day(entries: &[Entry], frame: &Frame<'_>) -> bool {
    let day = |t: Timestamp| frame.zone.civil(t).date();
    match (entries.first(), entries.last()) {
        (Some(first), Some(last)) => day(first.start) == day(last.start),
        _ => true,
    }
}

fn row(
    ui: &mut Ui,
    rect: Rect,
    response: &egui::Response,
    entry: &Entry,
    look: Look,
    frame: &Frame<'_>,
) -> Option<Done> {
    let Look {
        is_picked,
        is_one_day,
    } = look;
    let tokens = frame.tokens;
    let words = frame.words;
    let civil = frame.zone.civil(entry.start);
    let clock = civil.clock(0);
    let time = if is_one_day {
        clock
    } else {
        format!("{} {clock}", civil.date())
    };
    response.widget_info(|| {
        let hidden = if entry.is_hidden {
            format!(", {}", words.text("notes-is-hidden"))
        } else {
            String::new()
        };
        let label = format!("{time} {}{hidden}", entry.title);
        egui::WidgetInfo::selected(egui::Role::ListBoxOption, true, is_picked, label)
    });
    let is_hot = response.hovered() || ui.rect_contains_pointer(rect);
    if is_picked {
        ui.painter().rect_filled(rect, 0.0, tokens.selected);
    } else if is_hot {
        ui.painter().rect_filled(rect, 0.0, tokens.hover);
    }
    let dim = |colour| {
        if entry.is_hidden || entry.dismissed.is_some() {
            tokens.text_faint
        } else {
            colour
        }
    };
    let mut x = rect.left() + theme::GAP;
    let font = egui::FontId::monospace(theme::SMALL);
    let galley = ui
        .painter()
        .layout_no_wrap(time, font, dim(tokens.text_dim));
    let y = rect.center().y - galley.size().y / 2.0;
    let width = galley.size().x;
    ui.painter()
        .galley(Pos2::new(x, y), galley, tokens.text_dim);
    x += width + theme::PAD;
    mark(ui, Pos2::new(x, rect.center().y), entry, frame);
    x += 14.0;
    let mut right = rect.right() - theme::GAP;
    let mut done = None;
    if is_hot || is_picked {
        right -= 2.0 * theme::ROW;
        let area = Rect::from_x_y_ranges(right..=rect.right() - 2.0, rect.y_range());
        done = tools(ui, area, entry, frame);
    }
    let lasting = entry
        .end
        .filter(|end| *end > entry.start)
        .map(|end| words.units().secs(end.secs_since(entry.start)))
        .unwrap_or_default();
    let small = egui::FontId::monospace(theme::SMALL);
    let galley = ui
        .painter()
        .layout_no_wrap(lasting, small, dim(tokens.text_faint));
    right -= galley.size().x;
    let y = rect.center().y - galley.size().y / 2.0;
    ui.painter()
        .galley(Pos2::new(right, y), galley, tokens.text_faint);
    let area = Rect::from_x_y_ranges(x..=right - theme::PAD, rect.y_range());
    let font = egui::FontId::proportional(theme::BODY);
    let is_cut = paint_cut(ui, area, &entry.title, font, dim(tokens.text));
    if entry.is_hidden {
        let line = area.x_range();
        let stroke = egui::Stroke::new(1.0, tokens.text_faint);
        ui.painter().hline(line, rect.center().y, stroke);
    }
    let more = tooltip(entry, is_cut, frame);
    if !more.is_empty() {
        response.clone().on_hover_text(more);
    }
    done
}

/// The colour says how bad; a person's own entry is a pen, an edited one a ring.
fn mark(ui: &Ui, at: Pos2, entry: &Entry, frame: &Frame<'_>) {
    let tokens = frame.tokens;
    let colour = tokens.severity(entry.severity);
    if matches!(entry.origin, Origin::Own(_)) {
        let rect = Rect::from_center_size(at, Vec2::splat(12.0));
        let stroke = egui::Stroke::new(1.3, tokens.accent);
        icons::paint(ui.painter(), Icon::Pen, rect, stroke);
    } else if entry.first_title.is_some() {
        ui.painter()
            .circle_stroke(at, 3.5, egui::Stroke::new(1.6, colour));
    } else {
        ui.painter().circle_filled(at, 3.5, colour);
    }
}

fn tools(ui: &mut Ui, area: Rect, entry: &Entry, frame: &Frame<'_>) -> Option<Done> {
    let words = frame.words;
    let mut over = ui.new_child(
        egui::UiBuilder::new()
            .id_salt("tools")
            .max_rect(area)
            .layout(Layout::right_to_left(Align::Center)),
    );
    over.spacing_mut().item_spacing.x = 0.0;
    let (icon, key) = match (&entry.origin, entry.is_hidden) {
        (Origin::Own(_), _) => (Icon::Close, "notes-delete"),
        (_, true) => (Icon::Undo, "notes-restore"),
        (_, false) => (Icon::Hide, "notes-hide"),
    };
    if icons::button(&mut over, icon, words.text(key)).clicked() {
        return Some(Done::Hide);
    }
    let link = icons::button(&mut over, Icon::Link, words.text("notes-follow"));
    link.clicked().then_some(Done::Follow)
}

fn tooltip(entry: &Entry, is_cut: bool, frame: &Frame<'_>) -> String {
    let words = frame.words;
    let mut lines = Vec::new();
    if is_cut {
        lines.push(entry.title.clone());
    }
    if let Some(first) = &entry.first_title {
        lines.push(words.with("notes-first", &[("title", first.into())]));
    }
    if !entry.text.is_empty() {
        lines.push(entry.text.clone());
    }
    if let Some(reason) = &entry.dismissed {
        lines.push(words.with("notes-dismissed", &[("reason", reason.into())]));
    }
    if let Some(comment) = &entry.comment {
        lines.push(words.with("notes-comment", &[("text", comment.into())]));
    }
    lines.join("\n")
}
