//! Rows of any table, sorted and filtered, and SQL.
//!
//! [`sheet`] is a table in memory, [`filter`] what a person types, [`order`] which rows that leaves and in which order (all on
//! workers); [`grid`] draws the rows on screen; [`links`] ties rows to the timeline; [`sql`] asks its own questions.

mod acts;
mod bar;
mod cell;
mod filter;
mod grid;
mod links;
mod order;
mod sheet;
#[cfg(feature = "sql")]
mod sql;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use egui::Ui;

use crate::base::text::grouped;
use crate::base::time::TimeRange;
use crate::engine::memo::{Answer, Memo};
use crate::model::schema::TABLES;
use crate::session::target::Target;
use crate::ui::frame::Frame;
use crate::ui::panels::table::cell::Clock;
use crate::ui::panels::table::filter::{Fault, Filter, Grammar};
use crate::ui::panels::table::grid::{Grid, PAGE, Rows};
use crate::ui::panels::table::links::Links;
use crate::ui::panels::table::order::Sort;
use crate::ui::panels::table::sheet::Sheet;
use crate::ui::request::{FocusEdit, Request};

/// Which rows are meant: those of a table at one state of the incident, or the answer to one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Table(u64, &'static str),
    #[cfg(feature = "sql")]
    Query(u64),
}

/// What an order depends on.
#[derive(Debug, Clone, PartialEq)]
struct OrderKey {
    source: Source,
    filter: String,
    shown: Option<TimeRange>,
    picked: Option<BTreeSet<usize>>,
    sort: Option<Sort>,
    zone: String,
    is_relative: bool,
}

/// A filter, understood or not, and what it was read against.
#[derive(Debug)]
struct Parsed {
    source: Source,
    text: String,
    zone: String,
    filter: Result<Arc<Filter>, Fault>,
}

/// Rows that the timeline has picked.
#[derive(Debug)]
struct Lit {
    source: Source,
    picked: Vec<Target>,
    rows: BTreeSet<usize>,
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Table {
    sheets: Memo<(u64, &'static str), Arc<Sheet>>,
    counts: Memo<u64, Vec<usize>>,
    orders: Memo<OrderKey, Arc<Vec<u32>>>,
    copies: Memo<u64, (String, usize, usize)>,
    copying: Option<u64>,
    copied: u64,
    sorts: BTreeMap<String, Sort>,
    /// The filter as it is typed, and as it was last asked for.
    typed: String,
    asked: String,
    /// The table that was last asked for from outside.
    asked_name: Option<String>,
    is_shown_only: bool,
    is_picked_only: bool,
    column: usize,
    /// The row that was picked last, and of what.
    loose_row: Option<(Source, usize)>,
    page: usize,
    /// A row to scroll to, once.
    scroll_to: Option<usize>,
    parsed: Option<Parsed>,
    lit: Option<Lit>,
    /// Where the picked row was last found: order, row, place.
    found: Option<(usize, usize, Option<usize>)>,
    #[cfg(feature = "sql")]
    sql: sql::SqlBox,
}

impl Table {
    /// Lists just the rows that the timeline has picked, from the next frame on.
    pub const fn list_picked(&mut self) {
        self.is_picked_only = true;
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        if frame.incident.is_none() {
            return;
        }
        self.follow_view(frame);
        let table = self.chosen(frame);
        self.bar(ui, frame, table);
        #[cfg(feature = "sql")]
        self.sql.ui(ui, frame);
        match self.sheet(frame, table) {
            Ok((source, sheet)) => self.rows(ui, frame, source, &sheet),
            Err(state) => state::show(ui, frame, &state),
        }
        self.finish_copy(frame);
    }

    /// Takes over what was asked for from outside: a lane's twin, undo.
    fn follow_view(&mut self, frame: &Frame<'_>) {
        let (table, filter) = (&frame.view.focus.table, &frame.view.focus.table_filter);
        if *filter != self.asked || *table != self.asked_name {
            self.asked_name.clone_from(table);
            self.typed.clone_from(filter);
            self.asked.clone_from(filter);
            #[cfg(feature = "sql")]
            self.sql.leave();
        }
    }

    /// The table that is open; without a choice the first with the most to say.
    fn chosen(&mut self, frame: &Frame<'_>) -> &'static str {
        let named = frame.view.focus.table.as_deref();
        if let Some(table) = named.and_then(crate::store::tables::table) {
            return table.name;
        }
        let counts = self.counts(frame);
        let first = ["requests", "spans", "samples", "stacks", "events"]
            .into_iter()
            .find(|name| bar::count_of(counts, name).is_some_and(|n| n > 0));
        first.unwrap_or("series")
    }

    /// How many rows each table has; empty while that is counted.
    fn counts(&mut self, frame: &Frame<'_>) -> &[usize] {
        let Some(incident) = frame.incident else {
            return &[];
        };
        let for_worker = incident.clone();
        self.counts
            .want(frame.pool, &incident.generation, move |_| {
                Ok(sheet::counts(&for_worker))
            })
            .value()
            .map_or(&[], Vec::as_slice)
    }

    /// The rows to show, or why there are none.
    fn sheet(
        &mut self,
        frame: &Frame<'_>,
        table: &'static str,
    ) -> Result<(Source, Arc<Sheet>), state::State> {
        #[cfg(feature = "sql")]
        if let Some(answer) = self.sql.answer(frame) {
            return answer.map(|(id, sheet)| (Source::Query(id), sheet));
        }
        let Some(incident) = frame.incident else {
            return Err(state::State::Loading);
        };
        let for_worker = incident.clone();
        let key = (incident.generation, table);
        let answer = self.sheets.want(frame.pool, &key, move |_| {
            Ok(Arc::new(Sheet::of(&for_worker, table)))
        });
        let (generation, sheet) = match answer {
            Answer::Ready(sheet) => (key.0, Arc::clone(sheet)),
            Answer::Failed(why) => return Err(state::State::Failed(why.to_owned())),
            Answer::Stale(_) | Answer::Pending => match self.sheets.last_with_key() {
                Some(((generation, name), sheet)) if *name == table => {
                    (*generation, Arc::clone(sheet))
                }
                _ => return Err(state::State::Loading),
            },
        };
        if sheet.rows == 0 {
            let is_waiting =
                crate::store::tables::needs_analysis(table) && incident.report.is_none();
            return Err(if is_waiting {
                state::State::Analysing
            } else {
                state::State::Empty(table)
            });
        }
        Ok((Source::Table(generation, table), sheet))
    }

    fn rows(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, source: Source, sheet: &Arc<Sheet>) {
        let name = name_of(source);
        self.light(frame, source, sheet);
        let key = self.key(frame, source, &name, sheet);
        let order = self.order(frame, &key, sheet);
        let rows = match &order {
            Some(order) => Rows::Some(order),
            None if key.is_plain() => Rows::All(sheet.rows),
            None => return state::show(ui, frame, &state::State::Loading),
        };
        if rows.len() == 0 {
            return self.nothing_passes(ui, frame, sheet.rows);
        }
        let has_row = matches!(source, Source::Table(..));
        let row = frame.view.focus.table_row.filter(|_| has_row);
        self.turn_page(order.as_ref(), rows, row);
        if rows.len() > PAGE {
            self.pager(ui, frame, rows.len());
        }
        let empty = BTreeSet::new();
        let lit = self.lit.as_ref().filter(|l| l.source == source);
        let scroll_to = self.scroll_to.take();
        let mut grid = Grid {
            sheet,
            rows,
            first: self.page * PAGE,
            clock: clock(frame, sheet.has_days),
            tokens: frame.tokens,
            words: frame.words,
            sort: key.sort,
            row: row.or_else(|| {
                // Answers to queries have no place in the view.
                let loose = self.loose_row.filter(|(of, _)| *of == source && !has_row);
                loose.map(|(_, row)| row)
            }),
            column: self.column,
            lit: lit.map_or(&empty, |l| &l.rows),
            has_links: !matches!(sheet.links, Links::None),
            has_focus: false,
            pointer_y: None,
            acts: Vec::new(),
        };
        let label = frame.words.with(
            "table-grid",
            &[
                ("table", (&name).into()),
                ("n", rows.len().into()),
                ("row", (&spoken(&grid)).into()),
            ],
        );
        grid.show(ui, &name, scroll_to, &label);
        let acts = std::mem::take(&mut grid.acts);
        for act in acts {
            self.act(frame, source, &name, sheet, rows, act);
        }
    }

    fn key(&mut self, frame: &Frame<'_>, source: Source, name: &str, sheet: &Sheet) -> OrderKey {
        let lit = self.lit.as_ref().filter(|l| l.source == source);
        let picked = lit
            .filter(|l| self.is_picked_only && !l.rows.is_empty())
            .map(|l| l.rows.clone());
        OrderKey {
            source,
            filter: self.filter(frame, source, sheet),
            shown: (self.is_shown_only && sheet.span.is_some()).then_some(frame.view.range),
            picked,
            sort: self
                .sorts
                .get(name)
                .copied()
                .filter(|s| s.column < sheet.fields.len()),
            zone: frame.settings.zone.clone(),
            is_relative: frame.settings.is_relative,
        }
    }

    /// The text of the newest filter that could be understood.
    fn filter(&mut self, frame: &Frame<'_>, source: Source, sheet: &Sheet) -> String {
        let zone = &frame.settings.zone;
        let is_known = self
            .parsed
            .as_ref()
            .is_some_and(|p| p.source == source && p.text == self.typed && p.zone == *zone);
        if !is_known {
            let known = sheet.known();
            let grammar = Grammar {
                columns: &known,
                zone: frame.zone,
                day: sheet.day(),
            };
            self.parsed = Some(Parsed {
                source,
                text: self.typed.clone(),
                zone: zone.clone(),
                filter: grammar.parse(&self.typed).map(Arc::new),
            });
        }
        let is_understood = self.parsed.as_ref().is_some_and(|p| p.filter.is_ok());
        if is_understood {
            return self.typed.trim().to_owned();
        }
        // What was shown last stays until the words are right again.
        match self.orders.last_with_key() {
            Some((key, _)) if key.source == source => key.filter.clone(),
            _ => String::new(),
        }
    }

    /// The rows in order; `None` when all are shown as they come, or while they are looked for.
    fn order(
        &mut self,
        frame: &Frame<'_>,
        key: &OrderKey,
        sheet: &Arc<Sheet>,
    ) -> Option<Arc<Vec<u32>>> {
        if key.is_plain() {
            return None;
        }
        let is_understood = self.parsed.as_ref().and_then(|p| p.filter.as_ref().ok());
        let filter = match is_understood {
            Some(filter) => Arc::clone(filter),
            None if key.filter.is_empty() => Arc::default(),
            // The words are not understood; only what is there already can be shown.
            None => {
                let last = self.orders.last_with_key();
                return last
                    .filter(|(k, _)| k.source == key.source)
                    .map(|(_, order)| Arc::clone(order));
            }
        };
        let (sheet, wish) = (Arc::clone(sheet), key.clone());
        let zone = frame.zone.clone();
        let origin = origin(frame);
        let answer = self.orders.want(frame.pool, key, move |cancel| {
            let clock = Clock::new(&zone, origin, sheet.has_days);
            order::order(
                &sheet,
                &filter,
                wish.shown,
                wish.picked.as_ref(),
                wish.sort,
                &clock,
                cancel,
            )
            .map(Arc::new)
            .ok_or_else(String::new)
        });
        match answer {
            Answer::Ready(order) => Some(Arc::clone(order)),
            _ => self
                .orders
                .last_with_key()
                .filter(|(k, _)| k.source == key.source)
                .map(|(_, order)| Arc::clone(order)),
        }
    }

    /// Finds the rows that the timeline has picked, and scrolls to the first when that is new.
    fn light(&mut self, frame: &Frame<'_>, source: Source, sheet: &Sheet) {
        let picked = &frame.view.picked;
        let is_known = self
            .lit
            .as_ref()
            .is_some_and(|l| l.source == source && l.picked == *picked);
        if is_known {
            return;
        }
        let times = sheet
            .span
            .and_then(|(start, _)| sheet.fields.get(start))
            .map(|f| &f.values);
        let rows: BTreeSet<usize> = picked
            .iter()
            .filter_map(|target| sheet.links.row(target, times))
            .filter(|row| *row < sheet.rows)
            .collect();
        let own = frame.view.focus.table_row;
        if let Some(first) = rows.first()
            && own.is_none_or(|row| !rows.contains(&row))
        {
            self.scroll_to = Some(*first);
        }
        self.is_picked_only &= rows.len() > 1;
        self.lit = Some(Lit {
            source,
            picked: picked.clone(),
            rows,
        });
    }

    /// Turns to the page of what is scrolled to, and makes a place of the row.
    fn turn_page(&mut self, order: Option<&Arc<Vec<u32>>>, rows: Rows<'_>, row: Option<usize>) {
        let place = match (self.scroll_to, row) {
            (Some(to), _) => rows.position(to),
            (None, Some(row)) => {
                // Looking for a row reads the whole order: only when either is new.
                let order = order.map_or(0, |o| Arc::as_ptr(o) as usize);
                match self.found {
                    Some((o, r, _)) if o == order && r == row => None,
                    _ => {
                        let place = rows.position(row);
                        self.found = Some((order, row, place));
                        place
                    }
                }
            }
            (None, None) => None,
        };
        self.scroll_to = place;
        if let Some(place) = place {
            self.page = place / PAGE;
        }
        self.page = self.page.min(rows.len().saturating_sub(1) / PAGE);
    }

    fn pager(&mut self, ui: &mut Ui, frame: &Frame<'_>, rows: usize) {
        ui.horizontal(|ui| {
            let first = self.page * PAGE;
            let last = (first + PAGE).min(rows);
            let back = crate::ui::icons::Icon::Left;
            let next = crate::ui::icons::Icon::Right;
            if crate::ui::icons::button(ui, back, frame.words.text("table-page-back")).clicked() {
                self.page = self.page.saturating_sub(1);
            }
            let text = frame.words.with(
                "table-page",
                &[
                    ("from", (&grouped(first as u64 + 1)).into()),
                    ("to", (&grouped(last as u64)).into()),
                    ("all", (&grouped(rows as u64)).into()),
                ],
            );
            ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
            if crate::ui::icons::button(ui, next, frame.words.text("table-page-next")).clicked()
                && last < rows
            {
                self.page += 1;
            }
        });
    }

    fn nothing_passes(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, all: usize) {
        if state::nothing_passes(ui, frame, all, self.is_shown_only) {
            self.is_shown_only = false;
            self.is_picked_only = false;
            self.type_filter(frame, String::new());
        }
    }

    /// Sets the text of the filter.
    fn type_filter(&mut self, frame: &mut Frame<'_>, text: String) {
        self.typed.clone_from(&text);
        self.asked.clone_from(&text);
        let table = self.chosen(frame).to_owned();
        self.asked_name = Some(table.clone());
        frame.ask(Request::Focus(FocusEdit::Table(table, text)));
    }
}

impl OrderKey {
    /// Whether it leaves everything as it comes.
    fn is_plain(&self) -> bool {
        self.filter.is_empty()
            && self.shown.is_none()
            && self.picked.is_none()
            && self.sort.is_none()
    }
}

/// What a person calls the rows.
fn name_of(source: Source) -> String {
    match source {
        Source::Table(_, name) => name.to_owned(),
        #[cfg(feature = "sql")]
        Source::Query(id) => format!("SQL {id}"),
    }
}

fn origin(frame: &Frame<'_>) -> Option<crate::base::time::Timestamp> {
    let incident = frame.incident.filter(|_| frame.settings.is_relative)?;
    Some(incident.document.window.start)
}

fn clock<'a>(frame: &Frame<'a>, has_days: bool) -> Clock<'a> {
    Clock::new(frame.zone, origin(frame), has_days).in_words(frame.words)
}

/// The picked row in words, for screen readers.
fn spoken(grid: &Grid<'_>) -> String {
    let Some(row) = grid.row else {
        return String::new();
    };
    let cells = grid.sheet.fields.iter().enumerate().take(6);
    cells
        .map(|(at, field)| {
            let cell = cell::cell(grid.sheet, at, row, &grid.clock);
            format!("{} {} {}", field.name, cell.text, cell.unit)
                .trim_end()
                .to_owned()
        })
        .collect::<Vec<_>>()
        .join(", ")
}

/// The place of a table in `TABLES`.
fn index_of(name: &str) -> Option<usize> {
    TABLES.iter().position(|t| t.name == name)
}
