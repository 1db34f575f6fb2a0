//! A box that was dragged on a lane: what can be done with it stands beside it.

use egui::{Area, Key, Modifiers, Order, Rect, Stroke, Ui, pos2, vec2};

use crate::base::time::TimeRange;
use crate::session::target::Target;
use crate::session::view::LaneSpec;
use crate::ui::frame::Frame;
use crate::ui::request::Request;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{Timeline, axis};

/// A box flatter than this is a range of time, not of values, in points.
const FLAT: f32 = 8.0;

/// A box on a lane. Kept in time and shares of the lane's height, so that it stays where it is when the view moves.
#[derive(Debug, Clone)]
pub(super) struct Boxed {
    pub(super) spec: LaneSpec,
    pub(super) range: TimeRange,
    /// Top and bottom as shares of the lane's height.
    pub(super) shares: (f32, f32),
    /// What lies in it; known once it is let go.
    pub(super) inside: Option<Vec<Target>>,
    /// Whether the first button was given the focus.
    is_met: bool,
}

impl Boxed {
    pub(super) fn new(spec: LaneSpec, range: TimeRange, lane: Rect, y: (f32, f32)) -> Self {
        let share = |y: f32| ((y - lane.top()) / lane.height().max(1.0)).clamp(0.0, 1.0);
        let (top, bottom) = (y.0.min(y.1), y.0.max(y.1));
        let shares = if bottom - top < FLAT {
            (0.0, 1.0)
        } else {
            (share(top), share(bottom))
        };
        Self {
            spec,
            range,
            shares,
            inside: None,
            is_met: false,
        }
    }

    /// Where it stands on its lane.
    pub(super) fn rect(&self, stage: &Stage, lane: Rect) -> Rect {
        let y = |share: f32| lane.top() + share * lane.height();
        Rect::from_min_max(
            pos2(stage.x(self.range.start), y(self.shares.0)),
            pos2(stage.x(self.range.end), y(self.shares.1)),
        )
    }
}

impl Timeline {
    /// Draws the box of a lane, and what can be done with it.
    pub(super) fn box_ui(
        &mut self,
        ui: &Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        spec: &LaneSpec,
        lane: Rect,
    ) {
        let Some(boxed) = self.boxed.as_mut().filter(|b| b.spec == *spec) else {
            return;
        };
        let rect = boxed.rect(stage, lane);
        let painter = ui.painter().with_clip_rect(lane.intersect(ui.clip_rect()));
        painter.rect_filled(rect, 2, frame.tokens.measure);
        painter.rect_stroke(
            rect,
            2,
            Stroke::new(1.0, frame.tokens.accent),
            egui::StrokeKind::Inside,
        );
        let Some(inside) = boxed.inside.clone() else {
            return;
        };
        let is_first = !std::mem::replace(&mut boxed.is_met, true);
        let range = boxed.range;
        let length = axis::length_near(range.nanos(), stage.nanos_per_point(), frame.words.units());
        let corner = rect.intersect(lane).intersect(ui.clip_rect());
        let popup = Area::new(ui.scope_id().with("box"))
            .order(Order::Foreground)
            .constrain_to(ui.content_rect())
            .fixed_pos(corner.left_bottom() + vec2(0.0, 4.0))
            .show(ui.ctx(), |ui| {
                egui::Frame::popup(ui.style())
                    .show(ui, |ui| choices(ui, frame, &length, &inside, is_first))
                    .inner
            });
        let is_left = ui.input(|i| {
            i.pointer.any_pressed()
                && i.pointer
                    .interact_pos()
                    .is_some_and(|p| !popup.response.rect.contains(p))
        });
        match popup.inner {
            Some(Choice::Zoom) => frame.ask(Request::Range(stage.bounds.fit(range))),
            Some(Choice::Measure) => frame.ask(Request::Measure(Some(range))),
            Some(Choice::Pick) => frame.ask(Request::PickBox(inside)),
            Some(Choice::Close) => {}
            None if is_left && !is_first => {}
            None => return,
        }
        self.boxed = None;
    }

    /// The range of the box, which is closed.
    pub fn take_box(&mut self) -> Option<TimeRange> {
        self.boxed
            .take_if(|b| b.inside.is_some())
            .map(|boxed| boxed.range)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Zoom,
    Measure,
    Pick,
    Close,
}

fn choices(
    ui: &mut Ui,
    frame: &Frame<'_>,
    length: &str,
    inside: &[Target],
    is_first: bool,
) -> Option<Choice> {
    let words = frame.words;
    let mut choice = None;
    ui.horizontal(|ui| {
        let n = inside.len();
        let pick = words.with("timeline-box-pick", &[("n", n.into())]);
        let all = [
            (Choice::Pick, pick.as_str(), "Enter", n > 0),
            (Choice::Zoom, words.text("timeline-box-zoom"), "Z", true),
            (
                Choice::Measure,
                words.text("timeline-box-measure"),
                "M",
                true,
            ),
        ];
        let mut is_focus_free = is_first;
        for (what, label, key, can) in all {
            if !can {
                continue;
            }
            let button = ui.add(egui::Button::new(label).shortcut_text(key));
            if std::mem::take(&mut is_focus_free) {
                button.request_focus();
            }
            if button.clicked() {
                choice = Some(what);
            }
        }
        ui.label(
            egui::RichText::new(length)
                .small()
                .color(frame.tokens.text_dim),
        );
    });
    if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape)) {
        choice = Some(Choice::Close);
    }
    choice
}
