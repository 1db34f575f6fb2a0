//! What a panel gets for one frame: everything it may read, and where it puts what it wants.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use crate::base::time::Zone;
use crate::engine::load::Progress;
use crate::engine::pool::Pool;
use crate::session::evidence::Links;
use crate::session::incident::Incident;
use crate::session::notes::Notes;
use crate::session::replay::Now;
use crate::session::settings::Settings;
use crate::session::target::Target;
use crate::session::view::View;
use crate::ui::request::Request;
use crate::ui::theme::Tokens;
use crate::ui::words::Words;

/// One frame, for panels.
#[derive(Debug)]
pub struct Frame<'a> {
    /// The name of what is open: the last part of its path.
    pub name: &'a str,
    /// What is open.
    pub incident: Option<&'a Incident>,
    /// What is shown of it.
    pub view: &'a View,
    /// What a person said of it.
    pub notes: &'a Notes,
    /// What a person set.
    pub settings: &'a Settings,
    /// What the picked finding or hypothesis points at.
    pub highlight: &'a Highlight,
    /// Where the lines of the report lead; `None` until a worker has made it.
    pub links: Option<&'a Links>,
    /// How far the reading has come, while it goes on.
    pub progress: Option<&'a Progress>,
    /// Colours and measures.
    pub tokens: &'a Tokens,
    /// Words of the language.
    pub words: &'static Words,
    /// Zone of the time axis.
    pub zone: &'a Zone,
    /// Zone of the second axis.
    pub second_zone: Option<&'a Zone>,
    /// Where sample incidents may lie.
    pub sample_places: &'a [PathBuf],
    /// Threads for what takes longer than a frame.
    pub pool: &'a Pool,
    /// Whether there is a step to undo.
    pub can_undo: bool,
    /// Whether there is one to do again.
    pub can_redo: bool,
    /// Where the replay stands, while the incident runs again.
    pub replay: Option<Now>,
    /// What is wanted.
    pub requests: &'a mut Vec<Request>,
}

impl Frame<'_> {
    /// Asks for something.
    pub fn ask(&mut self, request: Request) {
        self.requests.push(request);
    }
}

/// What the picked finding or hypothesis points at; lanes draw it bright.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Highlight {
    /// Its findings, by id.
    pub findings: BTreeSet<String>,
    /// Indices of its series.
    pub series: BTreeSet<usize>,
    /// Places in the data, sorted.
    pub targets: BTreeSet<Target>,
    /// When it was, in nanoseconds.
    pub ranges: Vec<Range<i64>>,
    /// Ids of its entities.
    pub entities: BTreeSet<String>,
}
