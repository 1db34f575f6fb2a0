//! Adding a lane: a search over whole lanes and single series, worked by keyboard alone.

use egui::{Key, Modal, Modifiers, ScrollArea, Sense, TextEdit, Ui, vec2};

use crate::engine::memo::Memo;
use crate::session::view::LaneRow;
use crate::ui::frame::Frame;
use crate::ui::request::{LaneEdit, Request};
use crate::ui::timeline::catalog::{Hit, Hits};
use crate::ui::timeline::{Timeline, text};

const WIDTH: f32 = 620.0;
const LIST: f32 = 400.0;
const ROW: f32 = 40.0;

/// What the panel remembers while it is open.
#[derive(Debug, Default)]
pub(super) struct Add {
    is_open: bool,
    /// Whether Enter overlays on the active lane instead of adding one.
    is_overlay: bool,
    is_new: bool,
    text: String,
    at: usize,
    hits: Memo<(u64, String), Hits>,
}

/// What a key or a click chose.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    at: usize,
    is_overlay: bool,
}

impl Add {
    pub(super) fn open(&mut self, is_overlay: bool) {
        self.is_open = true;
        self.is_new = true;
        self.is_overlay = is_overlay;
        self.text.clear();
        self.at = 0;
    }

    pub(super) const fn close(&mut self) -> bool {
        std::mem::replace(&mut self.is_open, false)
    }
}

impl Timeline {
    /// Draws the panel when it is open.
    pub(super) fn add_ui(&mut self, ui: &Ui, frame: &mut Frame<'_>) {
        if !self.add.is_open {
            return;
        }
        let Some(catalog) = self.catalog.last().cloned() else {
            return;
        };
        let generation = frame.incident.map_or(0, |i| i.generation);
        let add = &mut self.add;
        let key = (generation, add.text.clone());
        let wanted = add.text.clone();
        let hits = add
            .hits
            .want(frame.pool, &key, move |cancel| {
                Ok(catalog.search(&wanted, cancel))
            })
            .value()
            .cloned()
            .unwrap_or_default();
        let mut chosen = None;
        let modal = Modal::new(egui::Id::unique("timeline-add")).show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min(ui.content_rect().width() - 60.0));
            chosen = add_keys(ui, add, hits.listed.len());
            head(ui, frame, add, &hits);
            if let Some(at) = list(ui, frame, add, &hits.listed) {
                chosen = Some(at);
            }
        });
        if modal.should_close() {
            add.is_open = false;
        }
        if let Some(chosen) = chosen
            && let Some(hit) = hits.listed.get(chosen.at)
        {
            add.is_open = false;
            self.choose(frame, hit, chosen.is_overlay);
        }
    }

    fn choose(&mut self, frame: &mut Frame<'_>, hit: &Hit, is_overlay: bool) {
        if !is_overlay {
            let below = (frame.view.active_lane + 1).min(frame.view.lanes.len());
            frame.ask(Request::Lanes(LaneEdit::Add(hit.spec.clone(), Some(below))));
            self.show_active();
            return;
        }
        let at = frame.view.active_lane;
        let row: Option<&LaneRow> = frame.view.lanes.get(at);
        let drawn = row
            .map(|row| row.spec.series.as_slice())
            .unwrap_or_default();
        if drawn.is_empty() || hit.spec.series.is_empty() {
            let why = frame.words.text("timeline-add-no-overlay").to_owned();
            return frame.ask(Request::Tell(why));
        }
        let new = hit.spec.series.iter().filter(|s| !drawn.contains(s));
        let edits: Vec<Request> = new
            .map(|s| Request::Lanes(LaneEdit::Overlay(at, s.clone())))
            .collect();
        frame.requests.extend(edits);
    }
}

/// Up, down, Enter, Shift+Enter, before the field gets them.
fn add_keys(ui: &Ui, add: &mut Add, count: usize) -> Option<Chosen> {
    let last = count.saturating_sub(1);
    ui.input_mut(|input| {
        for (key, by) in [
            (Key::ArrowDown, 1isize),
            (Key::ArrowUp, -1),
            (Key::PageDown, 10),
            (Key::PageUp, -10),
        ] {
            let n = input.count_and_consume_key(Modifiers::NONE, key);
            for _ in 0..n {
                add.at = add.at.saturating_add_signed(by).min(last);
            }
        }
        add.at = add.at.min(last);
        if input.consume_key(Modifiers::SHIFT, Key::Enter) {
            return Some(Chosen {
                at: add.at,
                is_overlay: true,
            });
        }
        input
            .consume_key(Modifiers::NONE, Key::Enter)
            .then_some(Chosen {
                at: add.at,
                is_overlay: add.is_overlay,
            })
    })
}

fn head(ui: &mut Ui, frame: &Frame<'_>, add: &mut Add, hits: &Hits) {
    let words = frame.words;
    let title = if add.is_overlay {
        "timeline-add-overlay-title"
    } else {
        "timeline-add-title"
    };
    ui.label(egui::RichText::new(words.text(title)).strong());
    let field = ui.add(
        TextEdit::singleline(&mut add.text)
            .hint_text(words.text("timeline-add-hint"))
            .margin(egui::Margin::symmetric(8, 6))
            .desired_width(f32::INFINITY),
    );
    if std::mem::take(&mut add.is_new) || !field.has_focus() {
        field.request_focus();
    }
    if field.changed() {
        add.at = 0;
    }
    let count = if hits.total > hits.listed.len() {
        words.with(
            "timeline-add-more",
            &[
                ("n", hits.listed.len().into()),
                ("total", hits.total.into()),
            ],
        )
    } else {
        words.with("timeline-add-count", &[("n", hits.total.into())])
    };
    let keys = words.text("timeline-add-keys");
    ui.horizontal(|ui| {
        let small = |text: &str| {
            egui::RichText::new(text)
                .small()
                .color(frame.tokens.text_faint)
        };
        ui.label(small(&count));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            ui.label(small(keys));
        });
    });
}

fn list(ui: &mut Ui, frame: &Frame<'_>, add: &Add, hits: &[Hit]) -> Option<Chosen> {
    let mut chosen = None;
    let is_moved = ui.input(|i| {
        i.key_pressed(Key::ArrowDown) || i.key_pressed(Key::ArrowUp) || i.key_pressed(Key::PageDown)
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    let id = ui.scope_id().with("hits");
    let offset: f32 = ui.data(|d| d.get_temp(id)).unwrap_or(0.0);
    let top = add.at as f32 * ROW;
    // The picked row is kept in sight.
    let wanted = offset.clamp((top + ROW - LIST).max(0.0), top.max(0.0));
    let mut area = ScrollArea::vertical()
        .min_scrolled_height(LIST)
        .max_height(LIST)
        .auto_shrink([false, false]);
    let was_at: usize = ui.data(|d| d.get_temp(id.with("at"))).unwrap_or(0);
    if was_at != add.at || is_moved {
        area = area.vertical_scroll_offset(wanted);
    }
    let out = area.show_rows(ui, ROW, hits.len(), |ui, rows| {
        for at in rows {
            if let Some(hit) = hits.get(at)
                && row(ui, frame, hit, at == add.at)
            {
                chosen = Some(Chosen {
                    at,
                    is_overlay: add.is_overlay || ui.input(|i| i.modifiers.shift),
                });
            }
        }
    });
    ui.data_mut(|d| {
        d.insert_temp(id, out.state.clamped_offset().y);
        d.insert_temp(id.with("at"), add.at);
    });
    chosen
}

/// Title on the first line; kind, what tells it from its like, and entities on the second.
fn row(ui: &mut Ui, frame: &Frame<'_>, hit: &Hit, is_picked: bool) -> bool {
    let tokens = frame.tokens;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::click());
    let kind = format!("lane-{}", hit.spec.kind);
    let kind = frame.words.text(&kind).to_owned();
    let title = if hit.title.is_empty() {
        &kind
    } else {
        &hit.title
    };
    response.widget_info(|| {
        let label = format!("{kind}: {title}");
        egui::WidgetInfo::selected(egui::Role::ListBoxOption, true, is_picked, label)
    });
    if is_picked || response.hovered() {
        let fill = if is_picked {
            tokens.selected
        } else {
            tokens.hover
        };
        ui.painter().rect_filled(rect, 4, fill);
    }
    // What tells a lane from its like; the parts of a key are apart, and `all` says nothing.
    let key = hit.spec.key.replace('|', " · ");
    let mut second = vec![kind.as_str()];
    second.extend(
        [key.as_str(), hit.entities.as_str()]
            .into_iter()
            .filter(|t| !t.is_empty() && *t != "all" && *t != title),
    );
    let second = second.join(" · ");
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let (left, room) = (rect.left() + 8.0, rect.width() - 16.0);
    let (galley, is_cut) = text::middle(&painter, title, &text::body(), tokens.text, room);
    painter.galley(egui::pos2(left, rect.top() + 4.0), galley, tokens.text);
    let galley = text::line(&painter, &second, text::small(), tokens.text_dim, room);
    let is_cut = is_cut || galley.elided;
    painter.galley(egui::pos2(left, rect.top() + 21.0), galley, tokens.text_dim);
    if is_cut {
        let whole = format!("{title}\n{second}");
        return response.on_hover_text(whole).clicked();
    }
    response.clicked()
}
