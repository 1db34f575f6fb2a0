//! A box for SQL with its history. Queries run on a worker through the store; their answers are shown like any table.

use std::sync::Arc;

use egui::text::{CCursor, CCursorRange};
use egui::{Key, Modifiers, RichText, TextEdit, Ui};

use crate::engine::memo::{Answer, Memo};
use crate::model::schema::TABLES;
use crate::store::sql;
use crate::store::tables::Source;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::table::sheet::Sheet;
use crate::ui::panels::table::state::State;
use crate::ui::request::{Request, Setting};

/// Queries of the history that the menu shows.
const REMEMBERED: usize = 20;

/// Words that are completed besides tables and columns.
const KEYWORDS: &[&str] = &[
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "LIMIT", "DESC", "COUNT", "HAVING", "JOIN",
    "DISTINCT", "BETWEEN",
];

/// An answer: rows, or what is wrong and what there is instead.
type Outcome = Result<Arc<Sheet>, (String, Vec<String>)>;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub(super) struct SqlBox {
    is_open: bool,
    text: String,
    /// Place in the history that is shown.
    at: Option<usize>,
    /// The query whose answer is wanted or shown.
    asked: Option<(u64, String)>,
    runs: u64,
    is_stopped: bool,
    answers: Memo<u64, Outcome>,
}

impl SqlBox {
    /// The button that opens and closes it.
    pub(super) fn button(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        let response = ui
            .selectable_label(self.is_open, "SQL")
            .on_hover_text(frame.words.text("table-sql-open"));
        if response.clicked() {
            self.is_open = !self.is_open;
            if !self.is_open {
                self.leave();
            }
        }
    }

    /// Goes back to the rows of the table.
    pub(super) fn leave(&mut self) {
        self.asked = None;
        self.is_stopped = false;
    }

    /// The answer in place of a table; `None` when none was asked for.
    pub(super) fn answer(&mut self, frame: &Frame<'_>) -> Option<Result<(u64, Arc<Sheet>), State>> {
        if self.is_stopped {
            return Some(Err(State::Stopped));
        }
        let (id, query) = self.asked.clone()?;
        let incident = frame.incident?.clone();
        let answer = self.answers.want(frame.pool, &id, move |_| {
            let source = Source {
                snapshot: incident.snapshot(),
                findings: incident.findings(),
                hypotheses: incident.hypotheses(),
            };
            Ok(sql::run(&source, &query)
                .map(|answer| Arc::new(Sheet::new(answer.values())))
                .map_err(|error| (error.what, error.hints)))
        });
        Some(match answer {
            Answer::Ready(Ok(sheet)) if sheet.rows == 0 => Err(State::NoRows),
            Answer::Ready(Ok(sheet)) => Ok((id, Arc::clone(sheet))),
            Answer::Ready(Err((what, hints))) => Err(State::Query(what.clone(), hints.clone())),
            Answer::Failed(why) => Err(State::Failed(why.to_owned())),
            Answer::Stale(_) | Answer::Pending => Err(State::Running),
        })
    }

    /// The answer that is on screen.
    pub(super) fn shown(&self) -> Option<(u64, Arc<Sheet>)> {
        let (id, _) = self.asked.as_ref()?;
        match self.answers.last_with_key() {
            Some((have, Ok(sheet))) if have == id => Some((*id, Arc::clone(sheet))),
            _ => None,
        }
    }

    fn is_running(&self) -> bool {
        let Some((id, _)) = &self.asked else {
            return false;
        };
        !self.is_stopped
            && self
                .answers
                .last_with_key()
                .is_none_or(|(have, _)| have != id)
    }

    /// Draws the box, when it is open.
    pub(super) fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        if !self.is_open {
            return;
        }
        let id = ui.scope_id().with("sql-text");
        let has_focus = ui.memory(|m| m.has_focus(id));
        if has_focus {
            self.keys(ui, frame, id);
        }
        let names = frame.words.text("table-sql");
        ui.horizontal_top(|ui| {
            let buttons = 132.0;
            let width = (ui.available_width() - buttons).max(120.0);
            let output = TextEdit::multiline(&mut self.text)
                .id(id)
                .desired_rows(2)
                .desired_width(width)
                .font(egui::TextStyle::Monospace)
                .lock_focus(true)
                .hint_text(frame.words.text("table-sql-hint"))
                .show(ui);
            let response = output.response.response;
            response.widget_info(|| {
                let mut info = egui::WidgetInfo::text_edit(true, "", self.text.as_str(), "");
                info.label = Some(names.to_owned());
                info
            });
            if response.changed() {
                self.at = None;
            }
            ui.vertical(|ui| self.buttons(ui, frame));
        });
    }

    fn buttons(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        ui.horizontal(|ui| {
            if self.is_running() {
                if ui.button(frame.words.text("table-sql-stop")).clicked() {
                    self.stop();
                }
            } else {
                let run = RichText::new(frame.words.text("table-sql-run"));
                let button =
                    egui::Button::new(run.color(frame.tokens.on_accent)).fill(frame.tokens.accent);
                let response = ui
                    .add_enabled(!self.text.trim().is_empty(), button)
                    .on_hover_text("Ctrl+Enter");
                if response.clicked() {
                    self.run(frame);
                }
            }
            let history = icons::button(ui, Icon::Clock, frame.words.text("table-sql-history"));
            egui::Popup::menu(&history).show(|ui| self.history(ui, frame));
            let help = icons::button(ui, Icon::Info, frame.words.text("table-sql-tables"));
            egui::Popup::menu(&help)
                .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside)
                .show(|ui| self.tables(ui, frame));
        });
        if self.asked.is_some() || self.is_stopped {
            let back = ui.link(frame.words.text("table-sql-back"));
            if back.clicked() {
                self.leave();
            }
        }
    }

    fn history(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        ui.set_min_width(320.0);
        if frame.settings.sql_history.is_empty() {
            ui.label(frame.words.text("table-sql-no-history"));
        }
        for (at, query) in frame
            .settings
            .sql_history
            .iter()
            .enumerate()
            .take(REMEMBERED)
        {
            let line = crate::base::text::shorten(query, 90);
            let entry = ui.button(RichText::new(line).monospace());
            if entry.on_hover_text(query.as_str()).clicked() {
                self.text.clone_from(query);
                self.at = Some(at);
            }
        }
    }

    fn tables(&mut self, ui: &mut Ui, frame: &Frame<'_>) {
        egui::ScrollArea::vertical()
            .max_height(320.0)
            .show(ui, |ui| {
                ui.set_min_width(440.0);
                for table in TABLES {
                    ui.horizontal_wrapped(|ui| {
                        ui.spacing_mut().item_spacing.x = 4.0;
                        if ui
                            .link(RichText::new(table.name).monospace().strong())
                            .clicked()
                        {
                            self.text.push_str(table.name);
                        }
                        for (column, _) in table.columns {
                            let name = RichText::new(*column).monospace();
                            let name = name.color(frame.tokens.text_dim);
                            ui.label(name);
                        }
                    });
                }
            });
    }

    fn keys(&mut self, ui: &Ui, frame: &mut Frame<'_>, id: egui::Id) {
        let pressed =
            |modifiers: Modifiers, key: Key| ui.input_mut(|i| i.consume_key(modifiers, key));
        if pressed(Modifiers::COMMAND, Key::Enter) {
            self.run(frame);
        }
        let history = &frame.settings.sql_history;
        let is_browsing = self.at.is_some() || !self.text.contains('\n');
        if is_browsing && pressed(Modifiers::NONE, Key::ArrowUp) {
            let mut next = self.at.map_or(0, |at| at + 1);
            // The query that was just run stands in the field already.
            if history.get(next) == Some(&self.text) {
                next += 1;
            }
            if let Some(query) = history.get(next) {
                self.text.clone_from(query);
                self.at = Some(next);
            }
        }
        if is_browsing && pressed(Modifiers::NONE, Key::ArrowDown) {
            self.at = self.at.and_then(|at| at.checked_sub(1));
            match self.at.and_then(|at| history.get(at)) {
                Some(query) => self.text.clone_from(query),
                None => self.text.clear(),
            }
        }
        if pressed(Modifiers::NONE, Key::Tab) && !self.complete(ui, id) {
            ui.memory_mut(|m| m.move_focus(egui::FocusDirection::Next));
        }
        if pressed(Modifiers::SHIFT, Key::Tab) {
            ui.memory_mut(|m| m.move_focus(egui::FocusDirection::Previous));
        }
    }

    /// Completes the word before the cursor as far as all that begin like it agree; whether there was anything to add.
    fn complete(&mut self, ui: &Ui, id: egui::Id) -> bool {
        let Some(mut state) = egui::text_edit::TextEditState::load(ui, id) else {
            return false;
        };
        let Some(range) = state.cursor.char_range() else {
            return false;
        };
        let at = range.primary.index;
        let at: usize = at.into();
        let (before, after): (String, String) = (
            self.text.chars().take(at).collect(),
            self.text.chars().skip(at).collect(),
        );
        let Some(more) = completion(&before) else {
            return false;
        };
        let end = at + more.chars().count();
        self.text = format!("{before}{more}{after}");
        let cursor = CCursorRange::one(CCursor::new(end));
        state.cursor.set_char_range(Some(cursor));
        state.store(ui, id);
        true
    }

    fn run(&mut self, frame: &mut Frame<'_>) {
        let query = self.text.trim().to_owned();
        if query.is_empty() {
            return;
        }
        self.runs += 1;
        self.is_stopped = false;
        self.at = None;
        self.asked = Some((self.runs, query.clone()));
        frame.ask(Request::Set(Setting::Sql(query)));
    }

    /// Waits no more: Polars cannot be stopped in the middle of a plan, so its late answer is dropped.
    fn stop(&mut self) {
        self.answers = Memo::default();
        self.is_stopped = true;
    }
}

/// What to add to the last word of `before`.
fn completion(before: &str) -> Option<String> {
    let start = before
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|s| s.chars().next())
                .map_or(1, char::len_utf8)
        });
    let word = before.get(start..)?;
    if word.is_empty() {
        return None;
    }
    let columns = TABLES
        .iter()
        .flat_map(|t| t.columns.iter().map(|(name, _)| *name));
    let names = TABLES.iter().map(|t| t.name).chain(columns);
    let mut found: Option<String> = None;
    for name in names.chain(KEYWORDS.iter().copied()) {
        let begins = name
            .get(..word.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(word));
        let Some(rest) = name.get(word.len()..).filter(|_| begins) else {
            continue;
        };
        found = Some(match found {
            None => rest.to_owned(),
            Some(known) => known
                .chars()
                .zip(rest.chars())
                .take_while(|(a, b)| a == b)
                .map(|(a, _)| a)
                .collect(),
        });
    }
    found.filter(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_as_far_as_they_agree() {
        assert_eq!(completion("SELECT * FROM requ").as_deref(), Some("ests"));
        assert_eq!(completion("dura").as_deref(), Some("tion_ms"));
        assert_eq!(completion("SEL").as_deref(), Some("ECT"));
        // start, stack_id, stacks, state, status
        assert_eq!(completion("st").as_deref(), Some("a"));
        assert_eq!(completion("sta"), None);
        assert_eq!(completion(""), None);
        assert_eq!(completion("표 reque").as_deref(), Some("sts"));
    }
}
