//! A list of rows of one height, of which only the visible ones are laid out; one row is the cursor of the keys.

use egui::{Key, Modifiers, Rect, Response, ScrollArea, Sense, Ui, Vec2};

use crate::ui::theme;

/// Where the list stands.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The row that keys act on.
    pub at: usize,
    offset: f32,
    height: f32,
    must_show: bool,
}

impl Rows {
    /// Puts the cursor on a row and brings it into view.
    pub const fn go(&mut self, to: usize) {
        self.at = to;
        self.must_show = true;
    }

    /// Takes the keys that move: arrows, pages and, unless a text field needs them, both ends. Whether the cursor has moved.
    pub fn keys(&mut self, ui: &Ui, len: usize, has_ends: bool) -> bool {
        let last = len.saturating_sub(1);
        let page = ((self.height / theme::ROW) as usize).max(1);
        let before = self.at;
        let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
        let mut to = self.at;
        if pressed(Key::ArrowDown) {
            to += 1;
        }
        if pressed(Key::ArrowUp) {
            to = to.saturating_sub(1);
        }
        if pressed(Key::PageDown) {
            to += page;
        }
        if pressed(Key::PageUp) {
            to = to.saturating_sub(page);
        }
        if has_ends && pressed(Key::Home) {
            to = 0;
        }
        if has_ends && pressed(Key::End) {
            to = last;
        }
        let to = to.min(last);
        if to != before {
            self.go(to);
        }
        to != before
    }

    /// Lays the visible rows out in `height` points; `row` draws one.
    pub fn show(
        &mut self,
        ui: &mut Ui,
        salt: &str,
        height: f32,
        len: usize,
        mut row: impl FnMut(&mut Ui, usize, Rect, Response),
    ) {
        self.height = height;
        self.at = self.at.min(len.saturating_sub(1));
        let mut area = ScrollArea::vertical()
            .id_salt(salt)
            .max_height(height)
            .min_scrolled_height(height)
            .auto_shrink(false);
        if std::mem::take(&mut self.must_show) {
            let top = self.at as f32 * theme::ROW;
            let offset = self.offset.min(top).max(top + theme::ROW - height).max(0.0);
            area = area.vertical_scroll_offset(offset);
        }
        let output = ui
            .scope(|ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                area.show_rows(ui, theme::ROW, len, |ui, range| {
                    for at in range {
                        let size = Vec2::new(ui.available_width(), theme::ROW);
                        let (_, rect) = ui.allocate_space(size);
                        let id = ui.scope_id().with(("row", at));
                        // Not focusable: the list is one stop of Tab, not a thousand.
                        let response = ui.interact(rect, id, Sense::CLICK);
                        row(ui, at, rect, response);
                    }
                })
            })
            .inner;
        self.offset = output.state.clamped_offset().y;
    }
}
