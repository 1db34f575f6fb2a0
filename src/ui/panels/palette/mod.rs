//! The palette: every command, lane, finding and entity by name (Ctrl+K), and the sheet of shortcuts (`?`).

pub mod able;
pub mod fuzzy;
pub mod index;
mod row;
mod sheet;

use std::sync::Arc;

use egui::{Align2, Area, Key, Modifiers, Ui, Vec2};

use crate::engine::memo::{Answer, Memo};
use crate::session::settings::Lang;
use crate::ui::commands;
use crate::ui::frame::Frame;
use crate::ui::panels::palette::index::{Act, Hits, Item};
use crate::ui::theme;
use crate::ui::widgets::rows::Rows;

/// Width of the palette, in points.
const WIDTH: f32 = 640.0;
/// Rows that are seen at once.
const ROWS: usize = 14;
/// How many chosen things are remembered.
const REMEMBERED: usize = 12;

/// Names the data that are searched: the document's place and its generation.
type Which = (usize, u64);
/// Names a search: the query, the data, the language, how often something was chosen.
type Asked = (String, Which, Lang, usize);

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Palette {
    is_open: bool,
    is_sheet: bool,
    query: String,
    sheet_query: String,
    rows: Rows,
    /// Enter was pressed before the answer to what was typed was there.
    must_run: bool,
    recent: Vec<Act>,
    chosen: usize,
    choices: Option<Arc<Vec<Item>>>,
    data: Memo<(Which, Lang), Arc<Vec<Item>>>,
    hits: Memo<Asked, Hits>,
}

impl Palette {
    /// Whether it lies over the window.
    pub const fn is_open(&self) -> bool {
        self.is_open || self.is_sheet
    }

    /// Opens the palette, or closes it.
    pub fn toggle(&mut self) {
        self.is_sheet = false;
        self.is_open = !self.is_open;
        self.query.clear();
        self.rows = Rows::default();
        self.must_run = false;
        self.choices = None;
    }

    /// Opens the sheet of shortcuts, or closes it.
    pub fn toggle_sheet(&mut self) {
        self.is_open = false;
        self.is_sheet = !self.is_sheet;
        self.sheet_query.clear();
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &Ui, frame: &mut Frame<'_>) {
        if self.is_sheet {
            self.is_sheet = sheet::ui(ui, &mut self.sheet_query, frame);
        }
        if self.is_open {
            self.palette(ui, frame);
        }
    }

    fn palette(&mut self, ui: &Ui, frame: &mut Frame<'_>) {
        let size = ui.content_rect().size();
        let width = WIDTH.min(size.x - 2.0 * theme::PAD);
        let area = Area::new(egui::Id::unique("palette"))
            .kind(egui::UiKind::Modal)
            .order(egui::Order::Foreground)
            .anchor(Align2::CENTER_TOP, Vec2::new(0.0, (size.y * 0.1).min(96.0)));
        let modal = egui::Modal::new(egui::Id::unique("palette"))
            .area(area)
            .frame(egui::Frame::popup(ui.style()).inner_margin(theme::GAP))
            .show(ui, |ui| {
                ui.set_width(width);
                self.contents(ui, frame)
            });
        if modal.inner || modal.backdrop_response.clicked() {
            self.is_open = false;
        }
    }

    /// Gives whether it shall close.
    fn contents(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) -> bool {
        let is_closed = ui.input_mut(|i| {
            i.consume_key(Modifiers::NONE, Key::Escape) | i.consume_key(Modifiers::COMMAND, Key::K)
        });
        if is_closed {
            return true;
        }
        let len = self.hits.last().map_or(0, |h| h.hits.len());
        self.rows.keys(ui, len, false);
        self.must_run |= ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter));
        let field = ui.add(
            egui::TextEdit::singleline(&mut self.query)
                .id_salt("palette-query")
                .hint_text(frame.words.text("palette-hint"))
                .margin(egui::Margin::symmetric(8, 6))
                .font(egui::FontId::proportional(theme::TITLE))
                .desired_width(f32::INFINITY),
        );
        // The field has the focus as long as the palette is there: every letter goes on searching.
        field.request_focus();
        // A tooltip would lie on the hits; a screen reader still needs a name once something is typed.
        ui.accesskit_node_builder(field.id, |node| {
            node.set_label(frame.words.text("palette-hint"));
        });
        if field.changed() {
            self.rows.go(0);
            self.must_run = false;
        }
        self.ask(frame);
        ui.add_space(theme::GAP);
        let run = self.list(ui, frame, field.id);
        self.foot(ui, frame);
        match run {
            Some(act) => {
                self.remember(&act);
                frame.requests.extend(act.requests());
                true
            }
            None => false,
        }
    }

    /// Asks for what is found; whether the answer is for what is typed now.
    fn ask(&mut self, frame: &Frame<'_>) -> bool {
        let which = frame.incident.map_or((0, 0), |i| {
            (Arc::as_ptr(&i.document) as usize, i.generation)
        });
        let choices = Arc::clone(
            self.choices
                .get_or_insert_with(|| Arc::new(index::choices(frame))),
        );
        let incident = frame.incident.cloned();
        let words = frame.words;
        let data = self
            .data
            .want(frame.pool, &(which, words.lang()), move |cancel| {
                Ok(Arc::new(index::of_data(incident.as_ref(), words, cancel)))
            });
        // Until the names of the data are there the commands are searched alone.
        let (which, data) = match data {
            Answer::Ready(data) => (which, Arc::clone(data)),
            _ => ((0, u64::MAX), Arc::default()),
        };
        let key = (self.query.clone(), which, frame.words.lang(), self.chosen);
        let query = self.query.clone();
        let recent = self.recent.clone();
        let hits = self.hits.want(frame.pool, &key, move |cancel| {
            Ok(index::search(&query, &choices, &data, &recent, cancel))
        });
        matches!(hits, Answer::Ready(_))
    }

    /// Draws the hits; gives what was chosen.
    fn list(&mut self, ui: &mut Ui, frame: &Frame<'_>, field: egui::Id) -> Option<Act> {
        let is_ready = self.ask(frame);
        let height = ROWS as f32 * theme::ROW;
        let height = height.min(ui.content_rect().height() * 0.6);
        let empty = Hits::default();
        let hits = self.hits.last().unwrap_or(&empty);
        if hits.hits.is_empty() {
            let text = match (is_ready, self.query.trim()) {
                (true, query) => frame.words.with("palette-none", &[("query", query.into())]),
                (false, _) => frame.words.text("palette-wait").to_owned(),
            };
            ui.allocate_ui(Vec2::new(ui.available_width(), height), |ui| {
                ui.set_min_height(height);
                ui.add_space(theme::PAD);
                ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
            });
            self.must_run &= !is_ready;
            return None;
        }
        let mut chosen = None;
        let mut hovered = None;
        let at = self.rows.at.min(hits.hits.len() - 1);
        let mut active = None;
        let has_moved = ui.input(|i| i.pointer.is_moving());
        self.rows.show(
            ui,
            "palette-rows",
            height,
            hits.hits.len(),
            |ui, n, rect, response| {
                let Some(hit) = hits.hits.get(n) else { return };
                row::ui(ui, rect, &response, hit, frame, n == at);
                if n == at {
                    active = Some(response.id);
                }
                if response.hovered() && has_moved {
                    hovered = Some(n);
                }
                if response.clicked() && row::why_not(&hit.item, frame).is_none() {
                    chosen = Some(hit.item.act.clone());
                }
            },
        );
        if let Some(n) = hovered {
            self.rows.at = n;
        }
        if let Some(active) = active {
            ui.accesskit_node_builder(field, |node| {
                node.set_active_descendant(active.accesskit_id());
            });
        }
        // An answer to what was typed before must not be run.
        if self.must_run && is_ready {
            self.must_run = false;
            let hit = hits.hits.get(at)?;
            if row::why_not(&hit.item, frame).is_none() {
                chosen = Some(hit.item.act.clone());
            }
        }
        chosen
    }

    fn foot(&self, ui: &mut Ui, frame: &Frame<'_>) {
        let total = self.hits.last().map_or(0, |h| h.total);
        let shown = self.hits.last().map_or(0, |h| h.hits.len());
        let count = frame.words.with(
            "palette-count",
            &[("shown", shown.into()), ("total", total.into())],
        );
        ui.horizontal(|ui| {
            let text = |text: String| {
                egui::RichText::new(text)
                    .small()
                    .color(frame.tokens.text_faint)
            };
            ui.label(text(frame.words.text("palette-keys").to_owned()));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(text(count));
            });
        });
    }

    fn remember(&mut self, act: &Act) {
        self.recent.retain(|a| a != act);
        self.recent.insert(0, act.clone());
        self.recent.truncate(REMEMBERED);
        self.chosen += 1;
    }
}

/// The command of an act.
fn command_of(act: &Act) -> Option<&'static commands::Command> {
    match act {
        Act::Command(id) => commands::command(*id),
        _ => None,
    }
}
