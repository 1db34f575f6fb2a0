//! What is compared when a replay has ended: what was found when, what stood first on the way, and what the person said.

use std::collections::BTreeMap;

use egui::{Key, Modifiers, RichText, Ui};

use crate::base::time::Timestamp;
use crate::model::hypothesis::Hypothesis;
use crate::session::notes::Verdict;
use crate::session::replay::{Now, Story};
use crate::ui::frame::Frame;
use crate::ui::request::{ReplayEdit, Request};
use crate::ui::theme;

/// Width, in points.
const WIDTH: f32 = 560.0;
/// Causes and leaders that are listed.
const LISTED: usize = 5;

/// A replay that has ended.
#[derive(Debug, Clone)]
pub struct Review {
    /// Where it was ended.
    pub now: Now,
    /// What came when.
    pub story: Story,
    /// What the person said of causes in it, by id.
    pub verdicts: BTreeMap<String, Verdict>,
}

/// Draws it above the window.
pub fn ui(ui: &Ui, frame: &mut Frame<'_>, review: &Review) {
    let size = ui.content_rect().size();
    let modal = egui::Modal::new(egui::Id::unique("replay-review"))
        .frame(egui::Frame::popup(ui.style()).inner_margin(theme::PAD + 2.0))
        .show(ui, |ui| {
            ui.set_width(WIDTH.min(size.x - 48.0));
            contents(ui, frame, review)
        });
    if modal.inner || modal.backdrop_response.clicked() {
        frame.ask(Request::Replay(ReplayEdit::CloseReview));
    }
}

/// Gives whether it shall close.
fn contents(ui: &mut Ui, frame: &Frame<'_>, review: &Review) -> bool {
    let words = frame.words;
    let is_closed = ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape));
    ui.heading(words.text("replay-review"));
    let now = review.now;
    let units = words.units();
    let time = super::clock(frame, now.at);
    let passed = units.secs(now.at.secs_since(now.range.start).round());
    let all = units.secs(now.range.secs().round());
    let values = [
        ("time", time.as_str().into()),
        ("passed", passed.as_str().into()),
        ("all", all.as_str().into()),
    ];
    dim(ui, frame, &words.with("replay-review-over", &values));
    let incident = frame.incident;
    let findings = incident.map_or(&[][..], |i| i.findings());
    let shown = findings
        .iter()
        .filter(|f| review.story.first(&f.id).is_some())
        .count();
    let values = [("shown", shown.into()), ("all", findings.len().into())];
    dim(ui, frame, &words.with("replay-review-findings", &values));
    heading(ui, frame, "replay-review-causes");
    let causes = incident.map_or(&[][..], |i| i.hypotheses());
    if causes.is_empty() {
        dim(ui, frame, words.text("replay-review-no-cause"));
    }
    for cause in causes.iter().take(LISTED) {
        let when = review.story.first(&cause.id);
        let when = when.map_or_else(
            || words.text("replay-review-never").to_owned(),
            |t| first(frame, now, t),
        );
        line(ui, frame, review, cause, &when);
    }
    let leaders = review.story.leaders();
    if leaders.len() > 1 {
        heading(ui, frame, "replay-review-leaders");
        for (since, cause) in leaders.iter().rev().take(LISTED).rev() {
            let time = super::clock(frame, *since);
            let since = words.with("replay-review-since", &[("time", time.as_str().into())]);
            line(ui, frame, review, cause, &since);
        }
    }
    ui.add_space(theme::GAP);
    let said = if review.verdicts.is_empty() {
        "replay-review-you-nothing"
    } else {
        "replay-review-kept"
    };
    dim(ui, frame, words.text(said));
    ui.add_space(theme::GAP);
    ui.button(words.text("replay-review-close")).clicked() || is_closed
}

fn first(frame: &Frame<'_>, now: Now, t: Timestamp) -> String {
    let time = super::clock(frame, t);
    let after = frame
        .words
        .units()
        .secs(t.secs_since(now.range.start).round());
    frame.words.with(
        "replay-review-first",
        &[
            ("time", time.as_str().into()),
            ("after", after.as_str().into()),
        ],
    )
}

/// A cause, when it was shown, and what the person said of it.
fn line(ui: &mut Ui, frame: &Frame<'_>, review: &Review, cause: &Hypothesis, when: &str) {
    let title = crate::words::report::hypothesis_title(frame.words, cause);
    ui.add(egui::Label::new(RichText::new(title).color(frame.tokens.text)).wrap());
    let mut text = when.to_owned();
    let said = review.verdicts.get(&cause.id).map(|verdict| match verdict {
        Verdict::Confirmed => "replay-review-you-confirmed",
        Verdict::Refuted => "replay-review-you-refuted",
    });
    if let Some(said) = said {
        text = format!("{text} · {}", frame.words.text(said));
    }
    ui.indent("when", |ui| dim(ui, frame, &text));
}

fn heading(ui: &mut Ui, frame: &Frame<'_>, word: &str) {
    ui.add_space(theme::GAP);
    ui.label(RichText::new(frame.words.text(word)).strong());
}

fn dim(ui: &mut Ui, frame: &Frame<'_>, text: &str) {
    ui.label(RichText::new(text).small().color(frame.tokens.text_dim));
}
