//! What a panel may ask for. Everything that changes anything goes through here, so that it can be undone, put into the palette
//! and walked by a test.

use std::path::PathBuf;

use crate::base::time::{TimeRange, Timestamp};
use crate::session::notes::{Edit, OwnEvent, Verdict};
use crate::session::settings::{Lang, Theme};
use crate::session::target::Target;
use crate::session::view::{Drawer, LaneRow, LaneSpec, Selection};
use crate::ui::commands::CommandId;

/// One wish.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A command without arguments.
    Command(CommandId),
    /// Open these inputs in place of what is open.
    Open(Vec<PathBuf>),
    /// Stop reading.
    CancelOpen,
    /// Pick a hypothesis or a finding.
    Select(Selection),
    /// Follow a link: the timeline and the drawer go there.
    Follow(Target),
    /// Pick dots without leaving the place.
    Pick(Vec<Target>),
    /// Pick what lies in a box, and list just that.
    PickBox(Vec<Target>),
    /// Show this time; a step of the zoom history.
    Range(TimeRange),
    /// Show this time while a drag or a wheel turns; no step of its own.
    Glide(TimeRange),
    /// Read all lanes at this instant.
    Cursor(Option<Timestamp>),
    /// Measure this range.
    Measure(Option<TimeRange>),
    /// Change the lanes.
    Lanes(LaneEdit),
    /// Open or close what lies below.
    Drawer(Option<Drawer>),
    /// Give the drawer the whole height, or not.
    DrawerFull(bool),
    /// Change what the drawer has in hand.
    Focus(FocusEdit),
    /// Compare these two windows, or none.
    Compare(Option<(TimeRange, TimeRange)>),
    /// Say something of the incident.
    Note(NoteEdit),
    /// Set something for good.
    Set(Setting),
    /// Write the incident timeline.
    Export(Export),
    /// Move the present of the replay.
    Replay(ReplayEdit),
    /// Put this text on the clipboard.
    Copy(String),
    /// Tell the person something, for a few seconds.
    Tell(String),
    /// The same, in place of what was told of that topic before.
    TellOf(&'static str, String),
}

/// A change of the lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneEdit {
    /// Add one, at this place or at the end.
    Add(LaneSpec, Option<usize>),
    /// Take one away.
    Remove(usize),
    /// Move one.
    Move {
        /// From.
        from: usize,
        /// To.
        to: usize,
    },
    /// Set its height in points.
    Height(usize, u16),
    /// Show only its title, or all.
    Collapse(usize, bool),
    /// Logarithmic or linear.
    Log(usize, bool),
    /// Draw one more series on it.
    Overlay(usize, String),
    /// Let the keys act on it.
    Activate(usize),
    /// All of them.
    All(Vec<LaneRow>),
    /// Those that the incident opens with; the window's own choice, and no step back.
    Open(Vec<LaneRow>),
}

/// A change of what the drawer has in hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FocusEdit {
    /// Open a trace.
    Trace(Option<String>),
    /// Pick a span.
    Span(Option<usize>),
    /// Open a profile.
    Profile(Option<usize>),
    /// Compare the open profile with this one.
    CompareProfile(Option<usize>),
    /// Pick a stack.
    Stack(Option<usize>),
    /// Open a table, with text that its rows must hold.
    Table(String, String),
    /// Pick a row.
    Row(Option<usize>),
}

/// Something that a person says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoteEdit {
    /// Keep a finding or hypothesis on top, or not.
    Pin(String, bool),
    /// Dismiss one with a reason; `None` takes it back.
    Dismiss(String, Option<String>),
    /// Write a note on one; an empty one is taken away.
    Comment(String, String),
    /// Judge a hypothesis; `None` takes it back.
    Judge(String, Option<Verdict>),
    /// Put an event on the timeline.
    AddEvent(OwnEvent),
    /// Change an own event.
    ChangeEvent(usize, OwnEvent),
    /// Take an own event away.
    RemoveEvent(usize),
    /// Edit an entry of the timeline, by the id of its finding; `None` restores it.
    Entry(String, Option<Edit>),
    /// Write the summary.
    Summary(String),
}

/// Something that is set for good.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Colours.
    Theme(Theme),
    /// Language.
    Lang(Lang),
    /// Zone of the axis.
    Zone(String),
    /// Zone of a second axis.
    SecondZone(Option<String>),
    /// Times from the start of the incident.
    Relative(bool),
    /// Less motion.
    ReducedMotion(bool),
    /// Zoom of the window.
    Scale(f32),
    /// Width of the panel of causes, in points.
    SideWidth(f32),
    /// Height of the drawer, in points.
    DrawerHeight(f32),
    /// Take what was opened once out of the list of recent ones.
    Forget(Vec<PathBuf>),
    /// Height of the explanation below the list of findings, in points.
    ExplainHeight(f32),
    /// Query that was run.
    Sql(String),
}

/// A change of the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayEdit {
    /// Go to this instant.
    Go(Timestamp),
    /// Run at this many seconds of the incident in a second.
    Speed(u32),
    /// Close the comparison that is shown at the end.
    CloseReview,
}

/// What to write, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// The file.
    pub path: PathBuf,
    /// The id of the form in `export::ALL`.
    pub form: String,
    /// Whether a file that stands there is replaced; without, the person is asked.
    pub is_replacing: bool,
}
