//! What a person does with rows: sort, pick, follow, copy.

use std::sync::Arc;

use crate::base::text::grouped;
use crate::engine::memo::Answer;
use crate::session::view::Selection;
use crate::ui::frame::Frame;
use crate::ui::panels::table::grid::{Act, Rows};
use crate::ui::panels::table::links::Links;
use crate::ui::panels::table::order::Sort;
use crate::ui::panels::table::sheet::Sheet;
use crate::ui::panels::table::{Source, Table, cell, name_of};
use crate::ui::request::{FocusEdit, Request};

/// Rows that are copied at once as CSV.
const COPIED_ROWS: usize = 20_000;

impl Table {
    /// Carries one act out.
    pub(super) fn act(
        &mut self,
        frame: &mut Frame<'_>,
        source: Source,
        name: &str,
        sheet: &Sheet,
        rows: Rows<'_>,
        act: Act,
    ) {
        match act {
            Act::Sort(column) => {
                match self.sorts.get(name) {
                    Some(s) if s.column == column && s.is_descending => {
                        self.sorts.remove(name);
                    }
                    before => {
                        let is_descending = before.is_some_and(|s| s.column == column);
                        let sort = Sort {
                            column,
                            is_descending,
                        };
                        self.sorts.insert(name.to_owned(), sort);
                    }
                }
                self.found = None;
            }
            Act::Pick(at, column) => {
                self.column = column;
                if let Some(row) = rows.get(at) {
                    self.pick(frame, source, sheet, row);
                }
            }
            Act::Open(at) => {
                if let Some(row) = rows.get(at) {
                    open(frame, sheet, row);
                }
            }
            Act::CopyCell(at, column) => {
                if let Some(row) = rows.get(at) {
                    frame.ask(Request::Copy(cell::raw(sheet, column, row)));
                    frame.ask(Request::Tell(
                        frame.words.text("table-copied-cell").to_owned(),
                    ));
                }
            }
            Act::CopyRow(at) => {
                if let Some(row) = rows.get(at) {
                    frame.ask(Request::Copy(cell::csv(sheet, &[row as u32], 1)));
                    frame.ask(Request::Tell(
                        frame.words.text("table-copied-row").to_owned(),
                    ));
                }
            }
            Act::Keep(at, column) => {
                if let (Some(row), Some(field)) = (rows.get(at), sheet.fields.get(column)) {
                    let value = cell::raw(sheet, column, row).replace('"', "");
                    let text = format!("{} {}=\"{value}\"", self.typed.trim(), field.name);
                    self.type_filter(frame, text.trim().to_owned());
                }
            }
        }
    }

    fn pick(&mut self, frame: &mut Frame<'_>, source: Source, sheet: &Sheet, row: usize) {
        self.loose_row = Some((source, row));
        if matches!(source, Source::Table(..)) {
            frame.ask(Request::Focus(FocusEdit::Row(Some(row))));
        }
        let t = sheet.range(row).map(|r| r.start);
        if let Links::Hypotheses(ids) = &sheet.links
            && let Some(id) = ids.get(row)
        {
            frame.ask(Request::Select(Selection::Hypothesis(id.clone())));
        }
        if let Some(target) = sheet.links.target(row, t) {
            frame.ask(Request::Pick(vec![target]));
        }
        if let Some(t) = t {
            frame.ask(Request::Cursor(Some(t)));
        }
    }

    /// Begins to copy what is shown.
    pub(super) fn copy_shown(&mut self) {
        self.copied += 1;
        self.copying = Some(self.copied);
    }

    /// Hands a copy over when it is made.
    pub(super) fn finish_copy(&mut self, frame: &mut Frame<'_>) {
        let Some(id) = self.copying else {
            return;
        };
        let order = self
            .orders
            .last_with_key()
            .map(|(k, o)| (k.clone(), Arc::clone(o)));
        let sheet = self.shown_sheet();
        let Some((source, sheet)) = sheet else {
            self.copying = None;
            return;
        };
        let is_plain = self.is_plain_now(source);
        let answer = self.copies.want(frame.pool, &id, move |_| {
            let rows: Vec<u32> = match order {
                Some((key, order)) if key.source == source && !is_plain => {
                    order.iter().copied().take(COPIED_ROWS).collect()
                }
                _ => (0..sheet.rows.min(COPIED_ROWS) as u32).collect(),
            };
            let text = cell::csv(&sheet, &rows, COPIED_ROWS);
            Ok((text, rows.len(), sheet.rows))
        });
        if let Answer::Ready((text, n, _)) = answer {
            let key = if *n == COPIED_ROWS {
                "table-copied-some"
            } else {
                "table-copied-all"
            };
            let told = frame
                .words
                .with(key, &[("n", (&grouped(*n as u64)).into())]);
            frame.ask(Request::Copy(text.clone()));
            frame.ask(Request::Tell(told));
            self.copying = None;
        }
    }

    pub(super) fn shown_sheet(&self) -> Option<(Source, Arc<Sheet>)> {
        #[cfg(feature = "sql")]
        if let Some((id, sheet)) = self.sql.shown() {
            return Some((Source::Query(id), sheet));
        }
        let ((generation, name), sheet) = self.sheets.last_with_key()?;
        Some((Source::Table(*generation, name), Arc::clone(sheet)))
    }

    pub(super) fn is_plain_now(&self, source: Source) -> bool {
        let name = name_of(source);
        self.typed.trim().is_empty()
            && !self.is_shown_only
            && !self.is_picked_only
            && !self.sorts.contains_key(&name)
    }

    /// Rows that are shown, and all that there are, when both are known.
    pub(super) fn shown_of_all(&self) -> Option<(usize, usize)> {
        let (source, sheet) = self.shown_sheet()?;
        if self.is_plain_now(source) {
            return Some((sheet.rows, sheet.rows));
        }
        let (key, order) = self.orders.last_with_key()?;
        (key.source == source).then(|| (order.len(), sheet.rows))
    }
}

/// Goes where a row leads.
fn open(frame: &mut Frame<'_>, sheet: &Sheet, row: usize) {
    let t = sheet.range(row).map(|r| r.start);
    if let Some(target) = sheet.links.target(row, t) {
        frame.ask(Request::Follow(target));
    } else if let Links::Hypotheses(ids) = &sheet.links
        && let Some(id) = ids.get(row)
    {
        frame.ask(Request::Select(Selection::Hypothesis(id.clone())));
    }
}
