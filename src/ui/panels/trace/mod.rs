//! One trace: waterfall, flame, critical path, attributes; beside it the list of all traces.
//!
//! `laid` and `flame` lay a trace out once, on a worker; a frame only draws the rows that are on screen.

mod axis;
mod bars;
mod cells;
mod details;
pub mod flame;
mod head;
mod keys;
pub mod laid;
mod lines;
mod list;
mod row;
mod say;
mod state;
mod states;
mod waterfall;

use std::sync::Arc;

use egui::{Panel, Ui};

use crate::engine::memo::{Answer, Memo};
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::trace::{self, Clocks};
use crate::ui::frame::Frame;
use crate::ui::theme::GAP;
use details::Details;
use flame::Lanes;
use laid::Laid;
use list::List;
use state::{Show, State};

/// From this width on the list of traces stands beside an open trace by itself.
const ROOM_FOR_LIST: f32 = 1150.0;
/// From this width on the attributes of a picked span do.
const ROOM_FOR_DETAILS: f32 = 980.0;

/// A trace of a generation of the rows.
type Key = (u64, String);

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Trace {
    list: List,
    details: Details,
    laid: Memo<Key, Arc<Laid>>,
    shown: Memo<(Key, u64), Arc<Vec<u32>>>,
    lanes: Memo<(Key, Clocks), Arc<Lanes>>,
    found: Memo<(Key, String), Arc<Vec<u32>>>,
    open: Option<String>,
    state: State,
    is_list_open: Option<bool>,
    /// The pick whose trace was closed again; an empty one is no pick.
    closed_for: Option<String>,
}

impl Trace {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        ui.take_available_space();
        let Some(incident) = frame.incident else {
            return;
        };
        let snapshot = incident.snapshot();
        if snapshot.spans.is_empty()
            && snapshot.summaries.is_empty()
            && frame.view.focus.trace.is_none()
        {
            states::no_traces(ui, frame, incident);
            return;
        }
        let (open, span) = self.opened(frame, incident);
        if self.open != open {
            self.open.clone_from(&open);
            self.state.start_over();
        }
        let width = ui.available_width();
        let mut is_list_open = self.is_list_open.unwrap_or(width >= ROOM_FOR_LIST);
        if open.is_none() {
            self.list.ui(ui, frame, incident, None);
            return;
        }
        if is_list_open {
            let most = (width * 0.55).max(180.0);
            Panel::left("trace-list")
                .resizable(true)
                .default_size((width * 0.3).clamp(240.0, 420.0))
                .size_range(180.0..=most)
                .frame(egui::Frame::NONE)
                .show(ui, |ui| {
                    ui.set_min_width(ui.available_width());
                    self.list.ui(ui, frame, incident, open.as_deref());
                });
            ui.add_space(GAP);
        }
        let was_open = is_list_open;
        egui::CentralPanel::default()
            .frame(egui::Frame::NONE)
            .show(ui, |ui| {
                if let Some(id) = open {
                    self.trace(ui, frame, incident, (&id, span), &mut is_list_open);
                }
            });
        if was_open != is_list_open {
            self.is_list_open = Some(is_list_open);
        }
        if std::mem::take(&mut self.state.is_closed) {
            self.closed_for = Some(frame.view.selection.id().unwrap_or_default().to_owned());
        }
    }

    /// One trace, as far as it is there.
    fn trace(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        (id, span): (&str, Option<usize>),
        is_list_open: &mut bool,
    ) {
        let snapshot = incident.snapshot();
        if trace::spans_of(snapshot, id).is_empty() {
            let summary = trace::summary_of(snapshot, id).and_then(|at| snapshot.summaries.get(at));
            states::absent(ui, frame, incident, id, summary);
            return;
        }
        let key: Key = (incident.generation, id.to_owned());
        let (for_worker, trace_id) = (incident.clone(), id.to_owned());
        let answer = self.laid.want(frame.pool, &key, move |cancel| {
            Laid::new(for_worker.snapshot(), &trace_id, cancel).map(Arc::new)
        });
        let laid = match answer {
            Answer::Ready(laid) => Arc::clone(laid),
            Answer::Failed(why) => {
                ui.colored_label(frame.tokens.error, why);
                return;
            }
            // The rows of another trace would be wrong.
            Answer::Stale(_) | Answer::Pending => {
                states::waiting(ui, frame, "trace-pending");
                return;
            }
        };
        self.follow(&laid, span);
        let rows = self.rows(frame, &key, &laid);
        let found = self.found(frame, &key, incident, &laid);
        let clocks = self.state.clocks.unwrap_or(Clocks::Corrected);
        let show = Show {
            incident,
            laid: &laid,
            rows: &rows,
            found: &found,
            clocks,
        };
        self.panes(ui, frame, &key, &show, is_list_open);
    }

    /// Head, rows or flame, attributes, foot.
    fn panes(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        key: &Key,
        show: &Show<'_>,
        is_list_open: &mut bool,
    ) {
        let has_room = ui.available_width() >= ROOM_FOR_DETAILS;
        let is_wanted = has_room && self.state.row.is_some();
        self.state.is_details_shown = self.state.is_details_open.unwrap_or(is_wanted);
        head::title(ui, frame, &mut self.state, show, is_list_open);
        Panel::bottom("trace-foot")
            .exact_size(24.0)
            .frame(egui::Frame::NONE)
            .show(ui, |ui| head::foot(ui, frame, &mut self.state, show));
        if self.state.is_details_shown {
            let width = ui.available_width();
            let inner = egui::Frame::NONE.inner_margin(egui::Margin {
                left: 8,
                ..egui::Margin::ZERO
            });
            Panel::right("trace-details")
                .resizable(true)
                .default_size((width * 0.32).clamp(230.0, 400.0))
                .size_range(180.0..=(width * 0.6).max(200.0))
                .frame(inner)
                .show(ui, |ui| {
                    ui.set_min_width(ui.available_width());
                    self.details.ui(ui, frame, show, self.state.row);
                });
        }
        egui::CentralPanel::default()
            .frame(egui::Frame::NONE)
            .show(ui, |ui| {
                if !self.state.is_flame {
                    waterfall::ui(ui, frame, &mut self.state, show);
                    return;
                }
                let laid = self.laid.last().cloned();
                let clocks = show.clocks;
                let answer = self
                    .lanes
                    .want(frame.pool, &(key.clone(), clocks), move |cancel| {
                        let laid = laid.ok_or_else(|| "no trace".to_owned())?;
                        Lanes::new(&laid.tree, clocks, cancel).map(Arc::new)
                    });
                match answer {
                    Answer::Ready(lanes) => {
                        let lanes = Arc::clone(lanes);
                        flame::ui(ui, frame, &mut self.state, show, &lanes);
                    }
                    Answer::Failed(why) => {
                        ui.colored_label(frame.tokens.error, why);
                    }
                    Answer::Stale(_) | Answer::Pending => {
                        states::waiting(ui, frame, "trace-pending");
                    }
                }
            });
    }

    /// Goes to the span that was picked elsewhere.
    fn follow(&mut self, laid: &Laid, span: Option<usize>) {
        if self.state.seen == span {
            return;
        }
        self.state.seen = span;
        if let Some(row) = span.and_then(|span| laid.tree.row_of(span)) {
            self.state.show_row(laid, row);
        }
    }

    /// The rows that folding leaves.
    fn rows(&mut self, frame: &Frame<'_>, key: &Key, laid: &Arc<Laid>) -> Arc<Vec<u32>> {
        if self.state.folds == 0 {
            return Arc::clone(&laid.all);
        }
        let (for_worker, folded) = (Arc::clone(laid), Arc::clone(&self.state.folded));
        let answer = self
            .shown
            .want(frame.pool, &(key.clone(), self.state.folding), move |_| {
                let is_folded = |row: usize| folded.get(row).copied().unwrap_or(false);
                Ok(Arc::new(for_worker.tree.visible(is_folded)))
            });
        match answer {
            Answer::Ready(rows) => return Arc::clone(rows),
            Answer::Stale(_) | Answer::Pending | Answer::Failed(_) => {}
        }
        // While rows are folded anew, those of this trace before that are shown.
        self.shown
            .last_with_key()
            .filter(|((known, _), _)| known == key)
            .map_or_else(|| Arc::clone(&laid.all), |(_, rows)| Arc::clone(rows))
    }

    /// The rows that hold the searched text.
    fn found(
        &mut self,
        frame: &Frame<'_>,
        key: &Key,
        incident: &Incident,
        laid: &Arc<Laid>,
    ) -> Arc<Vec<u32>> {
        let query = self.state.query.trim().to_owned();
        if query.is_empty() {
            return Arc::default();
        }
        let (for_worker, incident, text) = (Arc::clone(laid), incident.clone(), query.clone());
        let answer = self
            .found
            .want(frame.pool, &(key.clone(), query), move |cancel| {
                let spans = &incident.snapshot().spans;
                Ok(Arc::new(trace::search(
                    &for_worker.tree,
                    spans,
                    &text,
                    &|| cancel.is_cancelled(),
                )))
            });
        match answer {
            Answer::Ready(found) => Arc::clone(found),
            Answer::Stale(_) | Answer::Pending | Answer::Failed(_) => Arc::default(),
        }
    }

    /// The trace that is open and the span that is picked in it. When none is open, the longest span that the picked finding points at
    /// is shown: what hurts is there without a search.
    fn opened(
        &mut self,
        frame: &Frame<'_>,
        incident: &Incident,
    ) -> (Option<String>, Option<usize>) {
        let focus = &frame.view.focus;
        if focus.trace.is_some() {
            self.closed_for = None;
            return (focus.trace.clone(), focus.span);
        }
        let picked = frame.view.selection.id().unwrap_or_default();
        if self.closed_for.as_deref() == Some(picked) {
            return (None, None);
        }
        let spans = &incident.snapshot().spans;
        let longest = frame
            .highlight
            .targets
            .iter()
            .filter_map(|target| match target {
                Target::Span { span } => Some((*span, spans.get(*span)?)),
                _ => None,
            })
            .max_by(|a, b| {
                a.1.duration_ms
                    .unwrap_or(0.0)
                    .total_cmp(&b.1.duration_ms.unwrap_or(0.0))
            });
        match longest {
            Some((at, span)) => (Some(span.trace_id.to_string()), Some(at)),
            None => (None, None),
        }
    }
}
