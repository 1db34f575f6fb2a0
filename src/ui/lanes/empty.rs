//! A lane without anything to draw: says so, in words, and stays in its place until there is something.

use egui::Pos2;

use crate::base::time::Timestamp;
use crate::session::target::Target;
use crate::ui::lanes::canvas::Canvas;
use crate::ui::lanes::{Lane, Reading, Twin, label};
use crate::ui::words::Words;

/// Nothing to draw.
#[derive(Debug)]
pub(super) struct Empty {
    /// What it would show.
    about: String,
}

/// A lane that has nothing of that.
pub(super) fn lane(about: impl Into<String>) -> Box<dyn Lane> {
    Box::new(Empty {
        about: about.into(),
    })
}

impl Lane for Empty {
    fn note_in(&self, words: &Words) -> String {
        words.text("lane-empty").to_owned()
    }

    fn paint(&self, canvas: &Canvas<'_>) {
        let text = if self.about.is_empty() {
            canvas.words.text("lane-empty").to_owned()
        } else {
            let about = crate::base::text::shorten(&self.about, 80);
            canvas
                .words
                .with("lane-empty-of", &[("what", (&about).into())])
        };
        label::nothing(canvas, &text);
    }

    fn read(&self, _t: Timestamp) -> Vec<Reading> {
        Vec::new()
    }

    fn pick(&self, _canvas: &Canvas<'_>, _pos: Pos2) -> Option<Target> {
        None
    }

    fn step(&self, _from: Timestamp, _is_forward: bool) -> Option<Timestamp> {
        None
    }

    fn twin(&self) -> Option<Twin> {
        None
    }
}
