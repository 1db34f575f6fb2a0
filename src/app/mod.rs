//! The window's glue: [`logic`] takes in what workers did, [`commands`] changes state, [`ui`] lays the panels out. Nothing here
//! computes; nothing here waits.
//!
//! Outside crates that only this floor may name: `eframe`, `egui_kittest` (which draws the real window without a display).

pub mod commands;
mod follow;
mod general;
mod judging;
mod keep;
mod logic;
mod moves;
mod replay;
pub mod run;
mod shortcuts;
pub mod shot;
mod ui;
mod writing;

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::keep::Keeper;
use crate::base::clock::Stopwatch;
use crate::base::time::{TimeRange, Zone};
use crate::engine::load::{Load, Opening, Progress};
use crate::engine::pool::Pool;
use crate::engine::{EngineError, Wake};
use crate::session::incident::{Incident, name_of};
use crate::session::notes::Notes;
use crate::session::settings::Settings;
use crate::session::undo::History;
use crate::session::view::{Selection, View};
use crate::ui::frame::Highlight;
use crate::ui::panels;
use crate::ui::panels::replay::review::Review;
use crate::ui::request::Request;
use crate::ui::theme::Tokens;
use crate::ui::timeline::Timeline;
use crate::ui::words::Words;

/// How the window starts.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// What to open; the welcome page without.
    pub opening: Opening,
    /// What a person set at an earlier start.
    pub settings: Settings,
    /// Where state is kept between starts; `None` keeps nothing (tests, pictures). What is kept there wins over `settings`.
    pub state_folder: Option<PathBuf>,
    /// Where sample incidents may lie.
    pub sample_places: Vec<PathBuf>,
    /// A file that gets a line for each frame that is drawn, so that a test of the real window can see that idle is idle.
    pub frame_log: Option<PathBuf>,
}

/// The window.
pub struct App {
    pub(crate) opening: Opening,
    /// What is open, in a word: the last part of its path.
    pub(crate) name: String,
    pub(crate) load: Option<Load>,
    pub(crate) progress: Option<Progress>,
    pub(crate) incident: Option<Incident>,
    pub(crate) view: View,
    pub(crate) notes: Notes,
    pub(crate) settings: Settings,
    pub(crate) edits: History<(View, Notes)>,
    pub(crate) zooms: History<TimeRange>,
    pub(crate) highlight: Highlight,
    pub(crate) linked: follow::Linked,
    pub(crate) messages: Vec<Told>,
    pub(crate) panels: Panels,
    /// While the incident runs again.
    replay: Option<Box<replay::Replay>>,
    /// What is compared after that.
    review: Option<Review>,
    tokens: Tokens,
    words: &'static Words,
    zone: Zone,
    second_zone: Option<Zone>,
    pool: Pool,
    wake: Wake,
    keeper: Option<Keeper>,
    sample_places: Vec<PathBuf>,
    /// The range that an incident opens with, while nobody has moved.
    first_range: Option<TimeRange>,
    look: Option<Look>,
    frames: u64,
    /// Whether somebody was writing when the last frame ended.
    was_typing: bool,
    written: writing::Slot,
    frame_log: Option<std::fs::File>,
    frame_clock: Stopwatch,
    longest_frame_ms: Option<f64>,
}

/// What the person was told, until when (seconds of the window's clock).
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// What it is about: the newest of a topic takes the place of the one before. Empty for none.
    pub(crate) topic: &'static str,
    pub(crate) text: String,
    pub(crate) until: f64,
}

/// What egui was last given of the settings.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    theme: crate::session::settings::Theme,
    scale: f32,
    is_motion_reduced: bool,
}

/// Every panel, with what it remembers.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    pub(crate) timeline: Timeline,
    pub(crate) findings: panels::findings::Findings,
    pub(crate) trace: panels::trace::Trace,
    pub(crate) dump: panels::dump::Dump,
    pub(crate) table: panels::table::Table,
    pub(crate) compare: panels::compare::Compare,
    pub(crate) notes: panels::notes::Notes,
    pub(crate) inputs: panels::inputs::Inputs,
    pub(crate) palette: panels::palette::Palette,
    pub(crate) start: panels::start::Start,
    pub(crate) files: panels::start::files::Files,
}

impl Panels {
    /// Whether something lies over the window that has the keys for itself.
    pub(crate) const fn is_modal(&self) -> bool {
        self.palette.is_open() || self.files.is_open()
    }
}

impl App {
    /// Makes the window's state and starts reading what is to be opened.
    pub fn new(ctx: &egui::Context, mut start: Start) -> Result<Self, EngineError> {
        let (keeper, aside) = Keeper::start(start.state_folder, &mut start.settings);
        let waker = ctx.clone();
        let wake: Wake = Arc::new(move || waker.request_repaint());
        // One for lanes while another is busy; the analysis has its own threads.
        let pool = Pool::new(2, Arc::clone(&wake))?;
        let mut app = Self {
            opening: Opening::default(),
            name: String::new(),
            load: None,
            progress: None,
            incident: None,
            view: View::default(),
            notes: Notes::default(),
            tokens: Tokens::of(start.settings.theme),
            words: Words::of(start.settings.lang),
            zone: Zone::utc(),
            second_zone: None,
            settings: start.settings,
            edits: History::default(),
            zooms: History::default(),
            highlight: Highlight::default(),
            linked: follow::Linked::default(),
            messages: Vec::new(),
            panels: Panels::default(),
            replay: None,
            review: None,
            pool,
            wake,
            keeper,
            sample_places: start.sample_places,
            first_range: None,
            look: None,
            frames: 0,
            was_typing: false,
            written: writing::Slot::default(),
            frame_log: start
                .frame_log
                .and_then(|path| std::fs::File::create(path).ok()),
            frame_clock: Stopwatch::start(),
            longest_frame_ms: None,
        };
        crate::ui::theme::fonts(ctx);
        app.follow_settings(ctx);
        if let Some(aside) = aside {
            app.tell_aside(ctx, &aside);
        }
        if !start.opening.paths.is_empty() {
            app.open(start.opening)?;
        }
        Ok(app)
    }

    /// Opens something in place of what is open.
    pub(crate) fn open(&mut self, mut opening: Opening) -> Result<(), EngineError> {
        opening.store = self.keeper.as_ref().map(Keeper::store);
        self.load = Some(Load::start(opening.clone(), Arc::clone(&self.wake))?);
        self.progress = Some(Progress::default());
        self.name = name_of(&opening.paths);
        self.opening = opening;
        Ok(())
    }

    /// Whether nothing is being read, analysed or prepared: what is on screen will not change by itself.
    pub fn is_settled(&self) -> bool {
        self.load.is_none() && self.pool.open() == 0
    }

    /// How many frames were drawn.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The longest that a frame took so far, in milliseconds, from what came in to what was asked for.
    pub const fn longest_frame_ms(&self) -> Option<f64> {
        self.longest_frame_ms
    }

    /// Takes the time of the frame so far. The first frames, which make fonts and textures before anything is seen, do not
    /// count.
    fn measure_frame(&mut self) {
        if self.frames > 2 {
            let ms = self.frame_clock.elapsed_ms();
            self.longest_frame_ms = Some(self.longest_frame_ms.map_or(ms, |l| l.max(ms)));
        }
    }

    /// How far the reading has come, while it goes on.
    pub const fn progress(&self) -> Option<&Progress> {
        self.progress.as_ref()
    }

    /// What the person is told now.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().map(|told| told.text.as_str())
    }

    /// Why nothing useful was in what was opened last, one line for each input.
    pub fn start_failure(&self) -> Option<&[String]> {
        self.panels.start.failure()
    }

    /// What is open.
    pub const fn incident(&self) -> Option<&Incident> {
        self.incident.as_ref()
    }

    /// What is shown.
    pub const fn view(&self) -> &View {
        &self.view
    }

    /// What a person said.
    pub const fn notes(&self) -> &Notes {
        &self.notes
    }

    /// What a person set.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Words of the language.
    pub const fn words(&self) -> &'static Words {
        self.words
    }

    /// A line for each frame, where somebody asked for it: its number, whether an incident is open, whether its report is
    /// there, and the milliseconds that the frame took of this thread. A disk that is full must not end the window.
    fn log_frame(&mut self) {
        use std::io::Write as _;
        let is_open = self.incident.is_some();
        let is_done = is_open && self.load.is_none();
        let ms = self.frame_clock.elapsed_ms();
        if let Some(file) = &mut self.frame_log {
            let line = format!("{} {is_open} {is_done} {ms:.2}\n", self.frames);
            if file.write_all(line.as_bytes()).is_err() {
                self.frame_log = None;
            }
        }
    }

    /// Picks a hypothesis or a finding by id; `first` is the best hypothesis. Whether there is one.
    pub fn pick(&mut self, ctx: &egui::Context, id: &str) -> bool {
        let Some(incident) = &self.incident else {
            return false;
        };
        let first = incident.hypotheses().first().filter(|_| id == "first");
        let selection = match first.or_else(|| incident.hypothesis(id)) {
            Some(hypothesis) => Selection::Hypothesis(hypothesis.id.clone()),
            None if incident.finding(id).is_some() => Selection::Finding(id.to_owned()),
            None => return false,
        };
        self.ask(ctx, Request::Select(selection));
        true
    }

    /// Asks for something, as a panel would.
    pub fn ask(&mut self, ctx: &egui::Context, request: Request) {
        self.carry_out(ctx, request);
    }
}
