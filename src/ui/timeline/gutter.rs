//! What stands left of a lane: its title, its kind, a note, what it reads at the cursor; and how it is moved and shaped.

use egui::{Rect, Stroke, Ui, pos2};

use crate::session::view::LaneRow;
use crate::ui::frame::Frame;
use crate::ui::timeline::stage::Stage;
use crate::ui::timeline::{Timeline, text};

impl Timeline {
    #[expect(clippy::too_many_arguments, reason = "one lane of one frame")]
    pub(super) fn gutter(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        stage: &Stage,
        at: usize,
        row: &LaneRow,
        rect: Rect,
        is_active: bool,
    ) {
        let _ = (stage, at);
        let tokens = frame.tokens;
        let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
        if is_active {
            let edge = Rect::from_min_max(rect.min, pos2(rect.left() + 3.0, rect.bottom()));
            painter.rect_filled(edge, 0, tokens.accent);
        }
        let title = self
            .offers()
            .map_or(row.spec.key.as_str(), |c| c.title(&row.spec));
        let (galley, _) = text::middle(
            &painter,
            title,
            &text::body(),
            tokens.text,
            rect.width() - 26.0,
        );
        painter.galley(rect.min + egui::vec2(12.0, 5.0), galley, tokens.text);
        let kind = frame
            .words
            .text(&format!("lane-{}", row.spec.kind))
            .to_owned();
        let note = self
            .slots
            .last(&row.spec)
            .map(|lane| lane.note_in(frame.words));
        let second = match note.filter(|n| !n.is_empty()) {
            Some(note) => format!("{kind} · {note}"),
            None => kind,
        };
        let galley = text::line(
            &painter,
            &second,
            text::small(),
            tokens.text_faint,
            rect.width() - 26.0,
        );
        painter.galley(rect.min + egui::vec2(12.0, 23.0), galley, tokens.text_faint);
        painter.vline(
            rect.right() - 0.5,
            rect.y_range(),
            Stroke::new(1.0, tokens.line),
        );
    }
}
