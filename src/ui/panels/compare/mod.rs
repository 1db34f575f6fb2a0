//! Two windows or two inputs side by side, with what changed, ranked.
//!
//! [`choose`] is the line that says which windows; [`presets`] which ones come to mind; [`list`] what changed, by rank; [`charts`]
//! the first of them over the time since the start of each window; [`other`] reads a second input. All numbers come from
//! [`crate::session::compare`], on a worker.

mod charts;
mod choose;
mod list;
mod other;
mod presets;

use std::sync::Arc;

use egui::{RichText, Ui};

use crate::base::time::TimeRange;
use crate::engine::memo::{Answer, Memo};
use crate::session::compare::{self, Comparison, Kind, Side, Subject};
use crate::session::incident::Incident;
use crate::session::settings::Lang;
use crate::session::view::LaneSpec;
use crate::ui::frame::Frame;
use crate::ui::lanes::{self, Offer};
use crate::ui::panels::compare::charts::Chart;
use crate::ui::panels::compare::list::{Brief, List, Part};
use crate::ui::panels::compare::other::Other;
use crate::ui::request::{LaneEdit, Request};
use crate::ui::theme;
use crate::ui::widgets::brief::{Names, Shortened};
use crate::ui::words::Words;

/// Charts that are drawn of the first changes.
const CHARTS: usize = 12;

/// What a comparison depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key {
    generation: u64,
    other: u64,
    a: TimeRange,
    b: TimeRange,
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Compare {
    done: Memo<Key, Arc<Comparison>>,
    charts: Memo<(Key, Lang, Vec<Subject>), Arc<Vec<Chart>>>,
    names: Memo<(Key, Lang), Arc<Names>>,
    shortened: Shortened,
    /// What was shortened stands beside these.
    shortened_of: Option<(Key, Lang)>,
    offers: Memo<u64, Vec<Offer>>,
    other: Other,
    /// One window that was chosen before the other was.
    half: (Option<TimeRange>, Option<TimeRange>),
    list: List,
}

/// Why there is nothing to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Working,
    NoData(&'static str),
}

impl Compare {
    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let Some(incident) = frame.incident.cloned() else {
            return;
        };
        if let Some(window) = self.other.poll() {
            let a = frame
                .view
                .compare
                .map_or(incident.document.window, |(a, _)| a);
            frame.ask(Request::Compare(Some((a, window))));
        }
        // Lanes are looked for while the person reads, so that the first pick finds one.
        self.offers(frame, &incident);
        self.choose(ui, frame, &incident);
        self.other.ui(ui, frame);
        let Some((a, b)) = frame.view.compare else {
            return Self::nothing(ui, frame, &incident);
        };
        let key = Key {
            generation: incident.generation,
            other: self.other.run(),
            a,
            b,
        };
        let comparison = match self.compare(frame, &incident, key) {
            Ok(comparison) => comparison,
            Err(Some(why)) => {
                return say(ui, frame, frame.words.text("compare-failed"), &why);
            }
            Err(None) => return state(ui, frame, State::Working),
        };
        if let Some(side) = without_data(&comparison) {
            return state(ui, frame, State::NoData(side));
        }
        self.both(ui, frame, &incident, key, &comparison);
    }

    /// The comparison, or why there is none (`None` while it is made).
    fn compare(
        &mut self,
        frame: &Frame<'_>,
        incident: &Incident,
        key: Key,
    ) -> Result<Arc<Comparison>, Option<String>> {
        let (one, two) = (incident.clone(), self.other.incident().cloned());
        let answer = self.done.want(frame.pool, &key, move |cancel| {
            let (a, b) = sides(&one, two.as_ref(), key);
            compare::compare(&a, &b, &|| cancel.is_cancelled())
                .map(Arc::new)
                .ok_or_else(String::new)
        });
        match answer {
            Answer::Ready(comparison) => Ok(Arc::clone(comparison)),
            Answer::Failed(why) => Err(Some(why.to_owned())),
            Answer::Stale(_) | Answer::Pending => Err(None),
        }
    }

    /// The list and, where there is room, the charts beside it.
    fn both(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        key: Key,
        comparison: &Arc<Comparison>,
    ) {
        let area = ui.available_rect_before_wrap();
        let for_charts = (area.width() * 0.36).clamp(0.0, 900.0);
        let has_charts = area.width() > 620.0 && comparison.real().next().is_some();
        let (left, right) = if has_charts {
            let (left, right) = area.split_left_right_at_x(area.right() - for_charts);
            (left, right.with_min_x(right.left() + theme::GAP))
        } else {
            (area, area.with_min_x(area.right()))
        };
        let mut picked = None;
        let names = self.names(frame, key, comparison);
        ui.scope_builder(egui::UiBuilder::new().max_rect(left), |ui| {
            let brief = Brief {
                names: &names,
                shortened: &self.shortened,
            };
            picked = self.list.ui(ui, frame, comparison, brief);
        });
        if has_charts {
            let subjects = self.charted(comparison);
            let charts = self.chart_data(frame, incident, key, comparison, subjects);
            ui.scope_builder(egui::UiBuilder::new().max_rect(right), |ui| {
                let brief = Brief {
                    names: &names,
                    shortened: &self.shortened,
                };
                let of = self.list.picked.as_ref();
                let more = charts::show(ui, frame, &charts, key, brief, of);
                picked = picked.take().or(more);
            });
        }
        ui.advance_cursor_after_rect(area);
        if let Some(subject) = picked {
            self.show_lane(frame, incident, &subject);
            self.list.picked = Some(subject);
        }
    }

    /// What the parts of the names tell; nothing while they are counted.
    fn names(&mut self, frame: &Frame<'_>, key: Key, comparison: &Arc<Comparison>) -> Arc<Names> {
        let of = (key, frame.words.lang());
        let all = Arc::clone(comparison);
        let names = self.names.want(frame.pool, &of, move |_| {
            Ok(Arc::new(list::names(&Words::new(of.1), &all)))
        });
        let (names, of) = match names {
            Answer::Ready(names) => (Arc::clone(names), Some(of)),
            Answer::Stale(_) | Answer::Pending | Answer::Failed(_) => (Arc::default(), None),
        };
        if self.shortened_of != of {
            self.shortened.clear();
            self.shortened_of = of;
        }
        names
    }

    /// What is drawn: the first changes, and the picked one when it is not among them.
    fn charted(&self, comparison: &Comparison) -> Vec<Subject> {
        let mut subjects: Vec<Subject> = comparison
            .real()
            .take(CHARTS)
            .map(|c| c.subject.clone())
            .collect();
        if let Some(picked) = &self.list.picked
            && !subjects.contains(picked)
            && comparison.changes.iter().any(|c| c.subject == *picked)
        {
            subjects.insert(0, picked.clone());
        }
        subjects
    }

    fn chart_data(
        &mut self,
        frame: &Frame<'_>,
        incident: &Incident,
        key: Key,
        comparison: &Arc<Comparison>,
        subjects: Vec<Subject>,
    ) -> Arc<Vec<Chart>> {
        let lang = frame.words.lang();
        let wanted = (key, lang, subjects);
        let (one, two) = (incident.clone(), self.other.incident().cloned());
        let (comparison, subjects) = (Arc::clone(comparison), wanted.2.clone());
        let answer = self.charts.want(frame.pool, &wanted, move |cancel| {
            let (a, b) = sides(&one, two.as_ref(), key);
            let words = Words::new(lang);
            let mut charts = Vec::with_capacity(subjects.len());
            for subject in &subjects {
                if cancel.is_cancelled() {
                    return Err(String::new());
                }
                let change = comparison.changes.iter().find(|c| c.subject == *subject);
                charts.extend(change.map(|change| Chart::new(&words, &a, &b, change)));
            }
            Ok(Arc::new(charts))
        });
        match answer {
            Answer::Ready(charts) => Arc::clone(charts),
            // Those of the same windows stay until the new ones are there.
            _ => match self.charts.last_with_key() {
                Some(((last, known, _), charts)) if (*last, *known) == (key, lang) => {
                    Arc::clone(charts)
                }
                _ => Arc::default(),
            },
        }
    }

    /// Lets the keys act on the lane of what was picked; adds one when there is none.
    fn show_lane(&mut self, frame: &mut Frame<'_>, incident: &Incident, subject: &Subject) {
        let Some(spec) = self.lane_of(frame, incident, subject) else {
            let told = frame.words.text("compare-no-lane").to_owned();
            return frame.ask(Request::Tell(told));
        };
        let known = frame.view.lanes.iter().position(|row| {
            row.spec == spec || (!spec.series.is_empty() && row.spec.series.contains(&spec.key))
        });
        frame.ask(Request::Lanes(match known {
            Some(at) => LaneEdit::Activate(at),
            None => LaneEdit::Add(spec, None),
        }));
    }

    fn lane_of(
        &mut self,
        frame: &Frame<'_>,
        incident: &Incident,
        subject: &Subject,
    ) -> Option<LaneSpec> {
        let kind = match subject.kind {
            Kind::Gauge | Kind::Rate => return Some(lanes::metric::spec(&subject.name)),
            Kind::Histogram => "quantiles",
            Kind::RequestConnect | Kind::SpanConnect => "connects",
            Kind::DumpTotal | Kind::LockShare => "dumps",
            _ => "scatter",
        };
        let name = subject.name.trim_end_matches(" (traces)");
        let name = name.split(" → ").next().unwrap_or(name);
        let offers = self.offers(frame, incident);
        let of_kind = || offers.iter().filter(|offer| offer.spec.kind == kind);
        of_kind()
            .find(|o| o.title == name || o.spec.key == name)
            .or_else(|| of_kind().find(|o| o.title.contains(name) || name.contains(&o.title)))
            .map(|offer| offer.spec.clone())
    }

    /// Every lane that the data allow; none while they are looked for.
    fn offers(&mut self, frame: &Frame<'_>, incident: &Incident) -> &[Offer] {
        let for_worker = incident.clone();
        self.offers
            .want(frame.pool, &incident.generation, move |_| {
                let kinds = lanes::ALL.iter();
                Ok(kinds.flat_map(|kind| kind.offers(&for_worker)).collect())
            })
            .value()
            .map_or(&[], Vec::as_slice)
    }

    fn nothing(ui: &mut Ui, frame: &mut Frame<'_>, incident: &Incident) {
        let offers = presets::all(frame, incident);
        let mut chosen = None;
        middle(ui, |ui| {
            let title = frame.words.text("compare-nothing");
            ui.label(RichText::new(title).size(theme::TITLE));
            let why = frame.words.text("compare-nothing-why");
            ui.label(RichText::new(why).color(frame.tokens.text_dim));
            ui.add_space(theme::GAP);
            for preset in &offers {
                let response = ui
                    .button(frame.words.text(preset.word))
                    .on_hover_text(presets::told(frame, preset.windows));
                if response.clicked() {
                    chosen = Some(preset.windows);
                }
            }
        });
        if let Some(windows) = chosen {
            frame.ask(Request::Compare(Some(windows)));
        }
    }
}

/// Both sides: B is of the other input, when there is one.
fn sides<'a>(one: &'a Incident, two: Option<&'a Incident>, key: Key) -> (Side<'a>, Side<'a>) {
    let a = Side {
        snapshot: one.snapshot(),
        window: key.a,
    };
    let b = Side {
        snapshot: two.unwrap_or(one).snapshot(),
        window: key.b,
    };
    (a, b)
}

/// The side that has nothing at all.
fn without_data(comparison: &Comparison) -> Option<&'static str> {
    let both = !comparison.changes.is_empty() || !comparison.too_few.is_empty();
    match (both, comparison.only_a.len(), comparison.only_b.len()) {
        (false, 0, 0) => Some("compare-no-data"),
        (false, 0, _) => Some("compare-no-data-a"),
        (false, _, 0) => Some("compare-no-data-b"),
        _ => None,
    }
}

fn state(ui: &mut Ui, frame: &Frame<'_>, state: State) {
    let (title, why) = match state {
        State::Working => ("compare-working", ""),
        State::NoData(side) => (side, "compare-no-data-why"),
    };
    let why = if why.is_empty() {
        ""
    } else {
        frame.words.text(why)
    };
    say(ui, frame, frame.words.text(title), why);
}

fn say(ui: &mut Ui, frame: &Frame<'_>, title: &str, why: &str) {
    middle(ui, |ui| {
        ui.label(RichText::new(title).size(theme::TITLE));
        if !why.is_empty() {
            ui.label(RichText::new(why).color(frame.tokens.text_dim));
        }
    });
}

fn middle(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    egui::ScrollArea::vertical()
        .id_salt("compare-state")
        .auto_shrink(false)
        .show(ui, |ui| {
            ui.add_space((ui.available_height() * 0.15).min(90.0));
            ui.vertical_centered(|ui| {
                ui.set_max_width(640.0);
                add(ui);
            });
        });
}

/// The parts of the list, in order.
const PARTS: [Part; 5] = [
    Part::Changed,
    Part::TooFew,
    Part::OnlyA,
    Part::OnlyB,
    Part::Same,
];
