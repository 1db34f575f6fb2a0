//! What the window shows, as plain data: saved, undone, shared. Nothing in here knows how it is drawn.

use serde::{Deserialize, Serialize};

use crate::base::time::{TimeRange, Timestamp};
use crate::session::target::Target;

/// Which lane it is: its kind, and what of the data it shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LaneSpec {
    /// The id of its kind in `ui::lanes::ALL`.
    pub kind: String,
    /// What it is about (a service, an instance, a metric with its labels); with the kind it names the lane.
    pub key: String,
    /// Selectors of the series that it draws; the overlaid ones come last. Empty for lanes that draw no series.
    pub series: Vec<String>,
}

/// One strip of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneRow {
    /// What it shows.
    pub spec: LaneSpec,
    /// Height in points; `None` is the height of its kind.
    pub height: Option<u16>,
    /// Whether only its title is shown.
    pub is_collapsed: bool,
    /// Whether its value axis is logarithmic; `None` is what its kind prefers.
    pub is_log: Option<bool>,
}

impl LaneRow {
    /// As it comes.
    pub const fn new(spec: LaneSpec) -> Self {
        Self {
            spec,
            height: None,
            is_collapsed: false,
            is_log: None,
        }
    }
}

/// What the list of findings has picked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Selection {
    /// Nothing.
    #[default]
    Nothing,
    /// A hypothesis, by id.
    Hypothesis(String),
    /// A finding, by id.
    Finding(String),
}

impl Selection {
    /// The id of what is picked.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Hypothesis(id) | Self::Finding(id) => Some(id),
        }
    }
}

/// What can lie open below the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drawer {
    /// One trace: waterfall and flame.
    Trace,
    /// Dumps and profiles.
    Dump,
    /// Rows of any table, and SQL.
    Table,
    /// Two windows or two inputs.
    Compare,
    /// The incident timeline as it will be exported, with notes.
    Notes,
    /// What was read, and what became of it.
    Inputs,
}

impl Drawer {
    /// Every one, in order of the tabs.
    pub const ALL: [Self; 6] = [
        Self::Trace,
        Self::Dump,
        Self::Table,
        Self::Compare,
        Self::Notes,
        Self::Inputs,
    ];

    /// Lower-case word, as `--view` takes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Trace => "trace",
            Self::Dump => "dump",
            Self::Table => "table",
            Self::Compare => "compare",
            Self::Notes => "notes",
            Self::Inputs => "inputs",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|d| d.word() == word)
    }
}

/// What the drawer has in hand. Indices are those of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Focus {
    /// The trace that is open, by id.
    pub trace: Option<String>,
    /// The span that is picked in it, as an index into the snapshot's spans.
    pub span: Option<usize>,
    /// The profile that is open.
    pub profile: Option<usize>,
    /// The profile that it is compared with.
    #[serde(default)]
    pub compare_profile: Option<usize>,
    /// The stack that is picked in it.
    pub stack: Option<usize>,
    /// The table that is open, by name.
    pub table: Option<String>,
    /// Text that the rows of the table must hold.
    pub table_filter: String,
    /// The row of the table that is picked (of the table itself, not of what is shown).
    pub table_row: Option<usize>,
}

/// Everything that the window shows of one incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct View {
    /// The time that the lanes show.
    pub range: TimeRange,
    /// The instant that all lanes are read at.
    pub cursor: Option<Timestamp>,
    /// The range that is measured.
    pub measure: Option<TimeRange>,
    /// What is picked in the list.
    pub selection: Selection,
    /// What is picked in the data: the last link that was followed, or the dots of a box.
    pub picked: Vec<Target>,
    /// The strips, from the top.
    pub lanes: Vec<LaneRow>,
    /// The strip that keys act on.
    pub active_lane: usize,
    /// What lies open below.
    pub drawer: Option<Drawer>,
    /// Whether it takes the whole height.
    pub is_drawer_full: bool,
    /// What it has in hand.
    pub focus: Focus,
    /// The two windows that are compared.
    #[serde(default)]
    pub compare: Option<(TimeRange, TimeRange)>,
}

impl Default for View {
    fn default() -> Self {
        Self {
            range: TimeRange::new(Timestamp::from_nanos(0), Timestamp::from_nanos(1)),
            cursor: None,
            measure: None,
            selection: Selection::Nothing,
            picked: Vec::new(),
            lanes: Vec::new(),
            active_lane: 0,
            drawer: None,
            is_drawer_full: false,
            focus: Focus::default(),
            compare: None,
        }
    }
}
