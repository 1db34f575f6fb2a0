//! Lanes: what can stand on the timeline. One file per kind, one line each in [`ALL`].
//!
//! A lane has two phases. [`LaneKind::prepare`] runs on a worker, reads the snapshot, and gives something small for one window at one
//! resolution; [`Lane::paint`] draws that as one mesh and can query nothing. To add a kind: a file here with both, one line in
//! [`ALL`], a word `lane-ID` in `lanes.ftl`.

mod axis;
mod cache;
pub mod canvas;
mod cloud;
mod dots;
pub mod dumps;
mod empty;
pub mod events;
pub mod findings;
pub mod health;
mod label;
mod marks;
mod mesh;
pub mod metric;
mod plan;
pub mod quantiles;
pub mod scatter;
mod select;
pub mod states;

use std::fmt::Debug;

use crate::base::time::{TimeRange, Timestamp};
use crate::engine::cancel::Cancel;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::words::Words;

/// Every kind, in order of the menu that adds one.
pub const ALL: &[&dyn LaneKind] = &[
    &findings::Findings,
    &events::Events,
    &health::Health,
    &states::States,
    &quantiles::Quantiles,
    &scatter::CONNECTS,
    &scatter::SCATTER,
    &metric::Metric,
    &dumps::Dumps,
];

/// The kind of that id.
pub fn by_id(id: &str) -> Option<&'static dyn LaneKind> {
    ALL.iter().copied().find(|k| k.id() == id)
}

/// What `prepare` is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Query {
    /// The time to prepare: wider than what is shown, so that a drag needs no new answer.
    pub range: TimeRange,
    /// Nanoseconds for each column: a power of two, at most what a pixel shows.
    pub step_nanos: i64,
}

/// A lane that could be added, and how much it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What to add.
    pub spec: LaneSpec,
    /// Its title, as the gutter shows it: data, not words (a metric, a service).
    pub title: String,
    /// The ids of its entities, for grouping and search.
    pub entities: Vec<String>,
    /// Place among the lanes that an incident opens with, small first; `None` is not among them.
    pub opening_rank: Option<u32>,
}

/// One kind of lane.
pub trait LaneKind: Sync {
    /// Its id in saved views; `lane-ID` are its words.
    fn id(&self) -> &'static str;
    /// Height in points, when nobody set one.
    fn height(&self) -> u16;
    /// Whether values are logarithmic, when nobody said.
    fn is_log(&self, _spec: &LaneSpec) -> bool {
        false
    }
    /// Whether its lanes have values of which some can lie far from the rest.
    fn has_outliers(&self) -> bool {
        false
    }
    /// Every lane of this kind that the data allow. Runs on a worker. The metric kind offers one for each metric name or group, not
    /// one for each of 10,000 series; the search finds single series.
    fn offers(&self, incident: &Incident) -> Vec<Offer>;
    /// Makes what is drawn. Runs on a worker; asks `cancel` in long loops.
    fn prepare(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String>;
    /// Whether it draws what a person wrote. Then [`LaneKind::prepare_noted`] is asked anew whenever the notes change.
    fn reads_notes(&self) -> bool {
        false
    }
    /// As [`LaneKind::prepare`], with what a person wrote. What a window calls.
    fn prepare_noted(
        &self,
        spec: &LaneSpec,
        incident: &Incident,
        _notes: &Notes,
        query: &Query,
        cancel: &Cancel,
    ) -> Result<Box<dyn Lane>, String> {
        self.prepare(spec, incident, query, cancel)
    }
}

impl Offer {
    /// The lane of a kind that there is only one of.
    fn only(kind: &str, entities: Vec<String>) -> Self {
        Self {
            spec: LaneSpec {
                kind: kind.to_owned(),
                key: "all".to_owned(),
                series: Vec::new(),
            },
            title: String::new(),
            entities,
            opening_rank: None,
        }
    }
}

/// What the value axis of a lane shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueAxis {
    /// Smallest value on it.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// The unit as the store names it (`seconds`, `bytes`, `ratio`, `ms`), or empty.
    pub unit: String,
    /// Whether only whole numbers are counted, so that a half would be none.
    pub is_whole: bool,
}

/// Why a lane shows nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// There are data, but not in what is shown.
    Elsewhere {
        /// The last before it.
        before: Option<Timestamp>,
        /// The first after it.
        after: Option<Timestamp>,
    },
    /// A counter with one sample: a rate needs two.
    OneSample,
    /// A counter whose samples are too far apart for a rate.
    NoRate,
    /// No sample is a number.
    NoValues,
}

impl Blank {
    /// Of a lane that has nothing in `shown`.
    fn around(lane: &(impl Lane + ?Sized), shown: TimeRange) -> Option<Self> {
        let before = lane.step(shown.start, false);
        let after = lane.step(shown.end.plus_nanos(-1), true);
        (before.is_some() || after.is_some()).then_some(Self::Elsewhere { before, after })
    }
}

/// What a lane says at one instant, for the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// What (a series' labels, a service).
    pub name: String,
    /// The value with its unit, or what stands there.
    pub value: String,
    /// Place of its colour in the theme's series; `None` for no colour.
    pub colour: Option<usize>,
    /// The sample, span or mark that was read.
    pub target: Option<Target>,
}

/// Rows behind a lane: its twin as a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// Name of a table of `model::schema::TABLES`.
    pub table: &'static str,
    /// Text that its rows hold.
    pub filter: String,
}

/// A lane, ready to be drawn for one window.
pub trait Lane: Send + Sync + Debug {
    /// One line of what it shows, for the gutter: how many series, at which resolution, what is missing or sampled.
    fn note(&self) -> String {
        String::new()
    }
    /// The same in words. What a window calls.
    fn note_in(&self, _words: &Words) -> String {
        self.note()
    }
    /// The value axis for what is shown; `None` for lanes without one.
    fn values(&self, _shown: TimeRange) -> Option<ValueAxis> {
        None
    }
    /// How tall it wants to be with that much in it (rows of findings); `None` is the height of its kind.
    fn wanted_height(&self) -> Option<u16> {
        None
    }
    /// How much of that height at the top is its legend's, so that names never lie on data.
    fn head(&self, _height: f32) -> f32 {
        0.0
    }
    /// Why there is nothing to see in what is shown; `None` when there is something.
    fn blank(&self, _shown: TimeRange) -> Option<Blank> {
        None
    }
    /// What is told of a place where several things share it, or one has no other tooltip.
    fn tip(&self, _canvas: &Canvas<'_>, _pos: egui::Pos2) -> Option<String> {
        None
    }
    /// Draws it: one mesh, and text where there is room.
    fn paint(&self, canvas: &Canvas<'_>);
    /// What it says at an instant.
    fn read(&self, t: Timestamp) -> Vec<Reading>;
    /// The same in words. What a window calls.
    fn read_in(&self, t: Timestamp, _words: &Words) -> Vec<Reading> {
        self.read(t)
    }
    /// What lies under the pointer, the nearest within a few points.
    fn pick(&self, canvas: &Canvas<'_>, pos: egui::Pos2) -> Option<Target>;
    /// What lies in a box of the canvas.
    fn pick_box(&self, _canvas: &Canvas<'_>, _area: egui::Rect) -> Vec<Target> {
        Vec::new()
    }
    /// The next place to step to: a sample, a mark, a dot.
    fn step(&self, from: Timestamp, is_forward: bool) -> Option<Timestamp>;
    /// The next outlier: far from the rest of the lane.
    fn outlier(&self, _from: Timestamp, _is_forward: bool) -> Option<Timestamp> {
        None
    }
    /// The next place where data are missing.
    fn gap(&self, _from: Timestamp, _is_forward: bool) -> Option<Timestamp> {
        None
    }
    /// Its rows as a table.
    fn twin(&self) -> Option<Twin>;
    /// What is measured over a range, as name and value: count, min, max, mean, slope.
    fn measure(&self, _range: TimeRange) -> Vec<(String, String)> {
        Vec::new()
    }
    /// The same in words. What a window calls.
    fn measure_in(&self, range: TimeRange, _words: &Words) -> Vec<(String, String)> {
        self.measure(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::settings::Lang;

    #[test]
    fn every_kind_has_its_word_and_an_id_of_its_own() {
        for lang in Lang::ALL {
            let words = Words::new(lang);
            for kind in ALL {
                assert!(words.has(&format!("lane-{}", kind.id())), "{}", kind.id());
                assert!(kind.height() >= 24);
                assert_eq!(by_id(kind.id()).map(|k| k.id()), Some(kind.id()));
            }
        }
    }
}
