//! What a person set and finds again at the next start, whatever is open.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::words::Lang;

/// Colours of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// For the night.
    #[default]
    Dark,
    /// For the day.
    Light,
    /// As much contrast as there is.
    Contrast,
}

impl Theme {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Dark, Self::Light, Self::Contrast];

    /// Lower-case word, as `--theme` takes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dark => "dark",
            Self::Light => "light",
            Self::Contrast => "contrast",
        }
    }

    /// From its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.word() == word)
    }
}

/// What a person set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Colours.
    pub theme: Theme,
    /// Language.
    pub lang: Lang,
    /// Zone of the time axis: `UTC`, `local` or an IANA name.
    pub zone: String,
    /// Zone of a second axis above the first.
    pub second_zone: Option<String>,
    /// Whether times are shown as seconds from the start of the incident.
    pub is_relative: bool,
    /// Whether nothing moves that need not.
    pub is_motion_reduced: bool,
    /// Zoom of the whole window; 1 is as the system says.
    pub scale: f32,
    /// Width of the panel of causes and findings, in points.
    pub side_width: f32,
    /// Height of the drawer below the timeline, in points.
    pub drawer_height: f32,
    /// Height of the explanation below the list of findings, in points; 0 is a part of the window's height.
    pub explain_height: f32,
    /// What was opened lately, newest first.
    pub recent: Vec<Vec<PathBuf>>,
    /// SQL that was run lately, newest first.
    pub sql_history: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            lang: Lang::default(),
            zone: "UTC".to_owned(),
            second_zone: None,
            is_relative: false,
            is_motion_reduced: false,
            scale: 1.0,
            side_width: 372.0,
            drawer_height: 300.0,
            explain_height: 0.0,
            recent: Vec::new(),
            sql_history: Vec::new(),
        }
    }
}

impl Settings {
    /// What a file says, brought to what the window can do.
    #[must_use]
    pub fn in_bounds(mut self) -> Self {
        let or = |value: f32, least: f32, most: f32, usual: f32| {
            if value.is_finite() {
                value.clamp(least, most)
            } else {
                usual
            }
        };
        let usual = Self::default();
        self.scale = or(self.scale, 0.6, 3.0, usual.scale);
        self.side_width = or(self.side_width, 200.0, 2000.0, usual.side_width);
        self.drawer_height = or(self.drawer_height, 80.0, 3000.0, usual.drawer_height);
        self
    }
}
