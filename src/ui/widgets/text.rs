//! Text that knows when it is cut off, and the one button that stands out.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Button, Color32, FontId, Pos2, Rect, Response, RichText, Ui};

use crate::ui::theme::Tokens;

/// Draws one line at the left of `area`, cut off with an ellipsis; gives whether it was cut.
pub fn paint_cut(ui: &Ui, area: Rect, text: &str, font: FontId, colour: Color32) -> bool {
    let mut job = LayoutJob::simple_singleline(text.to_owned(), font, colour);
    job.wrap = TextWrapping::truncate_at_width(area.width().max(0.0));
    let galley = ui.painter().layout_job(job);
    let is_cut = galley.elided;
    let pos = Pos2::new(area.left(), area.center().y - galley.size().y / 2.0);
    ui.painter().galley(pos, galley, colour);
    is_cut
}

/// The button that does what the dialog is for.
pub fn primary(ui: &mut Ui, tokens: &Tokens, label: &str) -> Response {
    ui.add(Button::new(RichText::new(label).color(tokens.on_accent)).fill(tokens.accent))
}
