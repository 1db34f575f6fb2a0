//! A lane that has nothing to draw: why, and where the nearest data are.

use egui::{Align2, CursorIcon, Id, Painter, Rect, Sense, Stroke, Ui, pos2, vec2};

use crate::base::time::Timestamp;
use crate::ui::commands::{self, CommandId};
use crate::ui::frame::Frame;
use crate::ui::lanes::Blank;
use crate::ui::theme;
use crate::ui::timeline::axis;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::text;

/// Says why there is nothing; the instant to go to when somebody wants that.
pub(super) fn ui(
    ui: &Ui,
    painter: &Painter,
    frame: &Frame<'_>,
    stage: &Stage,
    rect: Rect,
    (why, id, is_active): (Blank, Id, bool),
) -> Option<Timestamp> {
    let words = frame.words;
    let key = match why {
        Blank::Elsewhere { .. } => "timeline-blank-elsewhere",
        Blank::OneSample => "timeline-blank-one",
        Blank::NoRate => "timeline-blank-no-rate",
        Blank::NoValues => "timeline-blank-no-values",
    };
    let room = rect.width() - 2.0 * theme::PAD;
    let dim = frame.tokens.text_dim;
    let galley = text::line(painter, words.text(key), text::small(), dim, room);
    let mut at = pos2(rect.left() + theme::PAD, rect.center().y);
    let size = galley.size();
    let is_cut = galley.elided;
    let place = text::plate(
        painter,
        at,
        Align2::LEFT_CENTER,
        galley,
        frame.tokens.ground,
    );
    if is_cut {
        ui.interact(place, id, Sense::HOVER)
            .on_hover_text(words.text(key));
    }
    at.x += size.x + theme::PAD;
    let Blank::Elsewhere { before, after } = why else {
        return None;
    };
    // The keys go on from the cursor, along the active lane.
    let has_keys = is_active && frame.view.cursor.is_none_or(|t| stage.drawn.contains(t));
    let mut going = None;
    for (t, word, command) in [
        (before, "timeline-blank-before", CommandId::SampleBack),
        (after, "timeline-blank-after", CommandId::SampleForward),
    ] {
        let Some(t) = t else { continue };
        let when = axis::instant_text(t, stage.clock(frame), stage.nanos_per_point());
        let key = commands::command(command).and_then(|c| c.shortcut);
        let key = key.filter(|_| has_keys);
        let key = key.map(|k| format!(" ({})", ui.format_shortcut(&k)));
        let key = key.unwrap_or_default();
        let told = words.with(
            word,
            &[("when", when.as_str().into()), ("key", key.as_str().into())],
        );
        let room = rect.right() - theme::PAD - at.x;
        if room < 40.0 {
            break;
        }
        let galley = text::line(painter, &told, text::small(), frame.tokens.accent, room);
        let place = Align2::LEFT_CENTER.anchor_size(at, galley.size());
        let response = ui
            .interact(place.expand2(vec2(3.0, 3.0)), id.with(word), Sense::click())
            .on_hover_cursor(CursorIcon::PointingHand);
        let enabled = ui.is_enabled();
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, enabled, &told));
        painter.rect_filled(place.expand2(vec2(3.0, 0.0)), 2, frame.tokens.ground);
        if response.hovered() || response.has_focus() {
            let line = Stroke::new(1.0, frame.tokens.accent);
            painter.hline(place.x_range(), place.bottom(), line);
        }
        painter.galley(place.min, galley, frame.tokens.accent);
        at.x = place.right() + theme::PAD * 1.5;
        if response.clicked() {
            going = Some(t);
        }
    }
    going
}
