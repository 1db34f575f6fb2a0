//! Rows and text on one line, as the parts of this panel draw them.

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{
    Align, Color32, CornerRadius, FontFamily, FontId, Painter, Rect, Response, Role, Sense,
};
use egui::{Stroke, StrokeKind, Ui, WidgetInfo, vec2};

use crate::ui::theme::{BODY, SMALL, Tokens};

/// Ordinary text.
pub(super) fn body() -> FontId {
    FontId::new(BODY, FontFamily::Proportional)
}

/// Small text.
pub(super) fn small() -> FontId {
    FontId::new(SMALL, FontFamily::Proportional)
}

/// Numbers and code.
pub(super) fn mono() -> FontId {
    FontId::new(12.0, FontFamily::Monospace)
}

/// Small numbers and code.
pub(super) fn mono_small() -> FontId {
    FontId::new(11.0, FontFamily::Monospace)
}

/// A piece of a line.
pub(super) type Piece<'a> = (&'a str, FontId, Color32);

/// Writes pieces on one line of `rect`, in the middle of its height; what does not fit ends in an ellipsis. How wide they are.
pub(super) fn line(painter: &Painter, rect: Rect, align: Align, pieces: &[Piece<'_>]) -> f32 {
    if rect.width() < 4.0 {
        return 0.0;
    }
    let mut job = LayoutJob {
        wrap: TextWrapping {
            max_width: rect.width(),
            max_rows: 1,
            break_anywhere: true,
            overflow_character: Some('…'),
        },
        ..LayoutJob::default()
    };
    for (text, font, colour) in pieces {
        job.append(text, 0.0, TextFormat::simple(font.clone(), *colour));
    }
    let galley = painter.layout_job(job);
    let size = galley.size();
    let x = match align {
        Align::Min => rect.left(),
        Align::Center => rect.center().x - size.x / 2.0,
        Align::Max => rect.right() - size.x,
    };
    let y = rect.center().y - size.y / 2.0;
    painter.galley(egui::pos2(x, y), galley, Color32::PLACEHOLDER);
    size.x
}

/// A row of a list over the whole width, with its background and focus; `name` is what a screen reader says.
pub(super) fn row(
    ui: &mut Ui,
    tokens: &Tokens,
    height: f32,
    name: &str,
    is_picked: bool,
) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_picked, name));
    // egui says "pressed" of what is selected; an option of a list is selected.
    ui.accesskit_node_builder(response.id, |node| node.set_selected(is_picked));
    if ui.is_rect_visible(rect) {
        let fill = match (is_picked, response.hovered()) {
            (true, _) => tokens.selected,
            (false, true) => tokens.hover,
            (false, false) => Color32::TRANSPARENT,
        };
        ui.painter().rect_filled(rect, CornerRadius::same(3), fill);
        if response.has_focus() {
            focus(ui.painter(), rect, tokens);
        }
    }
    (rect, response)
}

/// The mark of what has the focus.
pub(super) fn focus(painter: &Painter, rect: Rect, tokens: &Tokens) {
    let stroke = Stroke::new(1.5, tokens.accent);
    painter.rect_stroke(rect, CornerRadius::same(3), stroke, StrokeKind::Inside);
}

/// A few choices of which one is taken.
pub(super) fn choices<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    taken: T,
    all: &[(T, &str)],
) -> Option<T> {
    let mut picked = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        ui.spacing_mut().button_padding = vec2(7.0, 2.0);
        for (choice, text) in all {
            let response = ui
                .selectable_label(*choice == taken, *text)
                .on_hover_text(format!("{name}: {text}"));
            if response.clicked() {
                picked = Some(*choice);
            }
        }
    });
    picked
}

/// A small word in a coloured frame.
pub(super) fn tag(painter: &Painter, at: egui::Pos2, text: &str, colour: Color32) -> f32 {
    let galley = painter.layout_no_wrap(
        text.to_owned(),
        FontId::new(10.5, FontFamily::Proportional),
        colour,
    );
    let rect = Rect::from_min_size(
        egui::pos2(at.x, at.y - galley.size().y / 2.0 - 1.0),
        galley.size() + vec2(8.0, 2.0),
    );
    painter.rect_stroke(
        rect,
        CornerRadius::same(3),
        Stroke::new(1.0, colour.gamma_multiply(0.7)),
        StrokeKind::Inside,
    );
    painter.galley(rect.min + vec2(4.0, 1.0), galley, colour);
    rect.width()
}
