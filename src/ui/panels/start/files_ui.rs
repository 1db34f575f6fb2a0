//! How the dialog that opens and saves is drawn.

use std::path::{Path, PathBuf};

use egui::{Align, Button, EventFilter, Key, Layout, Modifiers, Pos2, RichText, Sense, Ui, Vec2};

use crate::export;
use crate::session::folder::Item;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::start::files::{Asked, Purpose, Sheet, Shown, list_height};
use crate::ui::request::Request;
use crate::ui::theme;
use crate::ui::widgets::text::{paint_cut, primary};
use crate::words::warnings;

/// Width of the dialog, in points.
const WIDTH: f32 = 680.0;

/// How a row is drawn.
#[derive(Debug, Clone, Copy)]
struct Look {
    is_picked: bool,
    is_active: bool,
}

/// Draws it; gives whether it shall close.
pub(super) fn ui(ui: &Ui, sheet: &mut Sheet, shown: &Shown, frame: &mut Frame<'_>) -> bool {
    let width = WIDTH.min(ui.content_rect().width() - 48.0);
    let modal = egui::Modal::new(egui::Id::unique("files"))
        .frame(egui::Frame::popup(ui.style()).inner_margin(theme::PAD + 2.0))
        .show(ui, |ui| {
            ui.set_width(width);
            let is_escaped = ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Escape));
            let title = match sheet.purpose {
                Purpose::Open => "files-open-title",
                Purpose::Save => "files-save-title",
            };
            ui.heading(frame.words.text(title));
            ui.add_space(theme::GAP);
            crumbs(ui, sheet, frame);
            path_field(ui, sheet, frame);
            ui.add_space(theme::GAP);
            list(ui, sheet, shown, frame);
            ui.add_space(theme::GAP);
            if sheet.purpose == Purpose::Save {
                forms(ui, sheet, frame);
                ui.add_space(theme::GAP);
            }
            let is_done = foot(ui, sheet, shown, frame);
            is_escaped || is_done
        });
    modal.inner
}

/// The folders above, each a button.
fn crumbs(ui: &mut Ui, sheet: &mut Sheet, frame: &Frame<'_>) {
    let folder = sheet.folder();
    let mut above: Vec<PathBuf> = folder.ancestors().map(Path::to_owned).collect();
    above.reverse();
    // The end of a deep path is what matters; what is cut is reached by going up.
    let cut = above.len().saturating_sub(6);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        if icons::button(ui, Icon::Up, frame.words.text("files-up")).clicked() {
            sheet.up();
            sheet.must_focus = true;
        }
        if cut > 0 {
            ui.label(RichText::new("…").color(frame.tokens.text_faint));
        }
        for path in above.iter().skip(cut) {
            let name = path
                .file_name()
                .map_or_else(|| "/".to_owned(), |n| n.to_string_lossy().into_owned());
            let text = crate::base::text::shorten(&name, 24);
            let button = Button::new(RichText::new(text).color(frame.tokens.text_dim)).frame(false);
            if ui
                .add(button)
                .on_hover_text(path.display().to_string())
                .clicked()
            {
                sheet.enter(path);
                sheet.must_focus = true;
            }
            if *path != folder && path.parent().is_some() {
                ui.label(RichText::new("/").color(frame.tokens.text_faint));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let label = frame.words.text("files-hidden");
            ui.checkbox(&mut sheet.is_hidden_shown, RichText::new(label).small());
        });
    });
}

fn path_field(ui: &mut Ui, sheet: &mut Sheet, frame: &Frame<'_>) {
    let id = egui::Id::unique("files-path");
    if ui.memory(|m| m.has_focus(id)) {
        // With the key held back here, Tab completes instead of leaving the field.
        if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Tab)) {
            sheet.complete_later();
        }
        if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter)) {
            sheet.accept_later();
        }
        if ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::ArrowDown)) {
            ui.memory_mut(|m| m.request_focus(list_id()));
        }
    }
    // In the frame that the dialog appears in, what lies below still has the focus: asked again until it is there.
    if sheet.must_focus {
        sheet.must_focus = !ui.memory(|m| m.has_focus(id));
        ui.memory_mut(|m| m.request_focus(id));
        ui.request_repaint();
    }
    let marked = if std::mem::take(&mut sheet.must_end) {
        let end = sheet.typed.chars().count();
        Some(end..end)
    } else if sheet.must_mark {
        sheet.must_mark = sheet.must_focus;
        Some(sheet.marked())
    } else {
        None
    };
    if let Some(marked) = marked {
        let mut state = egui::text_edit::TextEditState::load(ui, id).unwrap_or_default();
        let [from, to] = [marked.start, marked.end].map(egui::text::CCursor::new);
        state
            .cursor
            .set_char_range(Some(egui::text::CCursorRange::two(from, to)));
        state.store(ui, id);
    }
    let label = frame.words.text("files-path");
    let field = ui
        .add(
            egui::TextEdit::singleline(&mut sheet.typed)
                .id(id)
                .lock_focus(true)
                .font(egui::TextStyle::Monospace)
                .hint_text(label)
                .margin(egui::Margin::symmetric(8, 5))
                .desired_width(f32::INFINITY),
        )
        .on_hover_text(label);
    if field.changed() {
        sheet.typed_anew();
    }
}

fn list_id() -> egui::Id {
    egui::Id::unique("files-list")
}

fn list(ui: &mut Ui, sheet: &mut Sheet, shown: &Shown, frame: &mut Frame<'_>) {
    let height = list_height(ui);
    let tokens = frame.tokens;
    let (outer, _) =
        ui.allocate_exact_size(Vec2::new(ui.available_width(), height), Sense::hover());
    let focus = ui.interact(outer, list_id(), Sense::focusable_noninteractive());
    focus.widget_info(|| {
        let label = frame.words.text("files-list");
        egui::WidgetInfo::labeled(egui::Role::ListBox, true, label)
    });
    let border = if focus.has_focus() {
        tokens.accent
    } else {
        tokens.line
    };
    ui.painter().rect(
        outer,
        4.0,
        tokens.ground,
        egui::Stroke::new(1.0, border),
        egui::StrokeKind::Outside,
    );
    let failed;
    let items = match shown {
        Shown::Items(items, _) if !items.is_empty() => items,
        other => {
            let (text, colour) = match other {
                Shown::Items(..) => (frame.words.text("files-empty"), tokens.text_dim),
                Shown::Wait => (frame.words.text("files-wait"), tokens.text_dim),
                Shown::Failed(why) => {
                    failed = warnings::why(frame.words, why);
                    (failed.as_str(), tokens.error)
                }
            };
            let area = outer.shrink(theme::PAD);
            // A child of its own: `put` would move what follows up into the frame.
            let place =
                egui::Rect::from_min_size(area.min, Vec2::new(area.width(), theme::ROW * 2.0));
            ui.new_child(egui::UiBuilder::new().max_rect(place))
                .add(egui::Label::new(RichText::new(text).color(colour)).wrap());
            return;
        }
    };
    if focus.has_focus() {
        list_keys(ui, sheet, items, frame);
    }
    let mut area = ui.new_child(egui::UiBuilder::new().id_salt("files-rows").max_rect(outer));
    area.set_clip_rect(outer.intersect(ui.clip_rect()));
    let at = sheet.rows.at;
    let has_focus = focus.has_focus();
    let mut clicked: Option<(usize, bool, bool)> = None;
    let picked = &sheet.picked;
    sheet.rows.show(
        &mut area,
        "files-scroll",
        height,
        items.len(),
        |ui, n, rect, response| {
            let Some(item) = items.get(n) else { return };
            let look = Look {
                is_picked: picked.contains(&item.path),
                is_active: has_focus && n == at,
            };
            row(ui, rect, &response, item, look, frame);
            if response.double_clicked() {
                clicked = Some((n, true, false));
            } else if response.clicked() {
                let is_more = ui.input(|i| i.modifiers.command || i.modifiers.shift);
                clicked = Some((n, false, is_more));
            }
        },
    );
    if let Some((n, is_double, is_more)) = clicked
        && let Some(item) = items.get(n)
    {
        sheet.rows.at = n;
        ui.memory_mut(|m| m.request_focus(list_id()));
        if is_double {
            go(sheet, item, frame);
        } else {
            pick(sheet, item, is_more);
        }
    }
}

fn list_keys(ui: &Ui, sheet: &mut Sheet, items: &[Item], frame: &mut Frame<'_>) {
    ui.memory_mut(|m| {
        m.set_focus_lock_filter(
            list_id(),
            EventFilter {
                vertical_arrows: true,
                horizontal_arrows: true,
                ..EventFilter::default()
            },
        );
    });
    let pressed = |key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    if sheet.rows.at == 0 && pressed(Key::ArrowUp) {
        sheet.must_focus = true;
        return;
    }
    sheet.rows.keys(ui, items.len(), true);
    if pressed(Key::Backspace) || pressed(Key::ArrowLeft) {
        sheet.up();
        return;
    }
    let Some(item) = items.get(sheet.rows.at) else {
        return;
    };
    if pressed(Key::Space) {
        pick(sheet, item, true);
    } else if pressed(Key::Enter) {
        if sheet.picked.len() > 1 {
            sheet.accept_later();
        } else {
            go(sheet, item, frame);
        }
    } else if item.is_folder && pressed(Key::ArrowRight) {
        sheet.enter(&item.path);
    }
}

/// Picks one, or one more, or not any more.
fn pick(sheet: &mut Sheet, item: &Item, is_more: bool) {
    sheet.problem = None;
    if sheet.purpose == Purpose::Save {
        if !item.is_folder {
            sheet.typed = item.path.display().to_string();
            sheet.typed_anew();
        }
        return;
    }
    let was_picked = sheet.picked.contains(&item.path);
    if !is_more {
        sheet.picked.clear();
    }
    if was_picked && is_more {
        sheet.picked.remove(&item.path);
    } else {
        sheet.picked.insert(item.path.clone());
    }
}

/// Goes into a folder; opens a file.
fn go(sheet: &mut Sheet, item: &Item, frame: &mut Frame<'_>) {
    if item.is_folder {
        sheet.enter(&item.path);
    } else if sheet.purpose == Purpose::Open {
        frame.ask(Request::Open(vec![item.path.clone()]));
    } else {
        pick(sheet, item, false);
        sheet.accept_later();
    }
}

fn row(
    ui: &Ui,
    rect: egui::Rect,
    response: &egui::Response,
    item: &Item,
    look: Look,
    frame: &Frame<'_>,
) {
    let Look {
        is_picked,
        is_active,
    } = look;
    let tokens = frame.tokens;
    response.widget_info(|| {
        egui::WidgetInfo::selected(egui::Role::ListBoxOption, true, is_picked, &item.name)
    });
    if is_picked {
        ui.painter().rect_filled(rect, 0.0, tokens.selected);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 0.0, tokens.hover);
    }
    if is_active {
        ui.painter().rect_stroke(
            rect,
            2.0,
            egui::Stroke::new(1.5, tokens.accent),
            egui::StrokeKind::Inside,
        );
    }
    let left = rect.left() + theme::GAP + 2.0;
    if item.is_folder {
        icons::paint(
            ui.painter(),
            Icon::Folder,
            egui::Rect::from_center_size(Pos2::new(left + 7.0, rect.center().y), Vec2::splat(14.0)),
            egui::Stroke::new(1.3, tokens.text_dim),
        );
    }
    let size = item
        .bytes
        .map(|b| frame.words.units().bytes(b as f64))
        .unwrap_or_default();
    let right = rect.right() - theme::PAD;
    let size = ui.painter().layout_no_wrap(
        size,
        egui::FontId::monospace(theme::SMALL),
        tokens.text_faint,
    );
    let x = right - size.size().x;
    let y = rect.center().y - size.size().y / 2.0;
    ui.painter()
        .galley(Pos2::new(x, y), size, tokens.text_faint);
    let area = egui::Rect::from_x_y_ranges(left + 22.0..=x - theme::PAD, rect.y_range());
    let font = egui::FontId::proportional(theme::BODY);
    if paint_cut(ui, area, &item.name, font, tokens.text) {
        response.clone().on_hover_text(&item.name);
    }
}

fn forms(ui: &mut Ui, sheet: &mut Sheet, frame: &Frame<'_>) {
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(frame.words.text("files-form")).color(frame.tokens.text_dim));
        for form in export::ALL {
            let label = frame.words.text(&format!("form-{}", form.id())).to_owned();
            if ui
                .selectable_label(sheet.form == form.id(), label)
                .clicked()
            {
                sheet.set_form(*form);
            }
        }
    });
}

/// What is wrong or asked, and the buttons. Its height stays, whatever it says. Gives whether it shall close.
fn foot(ui: &mut Ui, sheet: &mut Sheet, shown: &Shown, frame: &mut Frame<'_>) -> bool {
    let size = Vec2::new(ui.available_width(), 32.0);
    let mut is_done = false;
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        if let Some(Asked::Replace(wish)) = sheet.asked.clone() {
            let replace = primary(ui, frame.tokens, frame.words.text("files-replace"));
            if replace.clicked() {
                sheet.asked = None;
                sheet.is_writing = true;
                frame.ask(Request::Export(crate::ui::request::Export {
                    is_replacing: true,
                    ..wish.clone()
                }));
            }
            let keep = ui.button(frame.words.text("files-keep"));
            if keep.clicked() {
                sheet.asked = None;
                sheet.must_focus = true;
            }
            let name = wish
                .path
                .file_name()
                .map(|n| n.to_string_lossy().into_owned());
            let name = name.unwrap_or_default();
            let text = frame
                .words
                .with("files-exists", &[("name", (&name).into())]);
            said(ui, &text, frame.tokens.warning);
            return;
        }
        if primary(ui, frame.tokens, &label(sheet, frame)).clicked() {
            sheet.accept_later();
        }
        is_done = ui.button(frame.words.text("files-cancel")).clicked();
        match (&sheet.problem, shown) {
            (Some(problem), _) => said(ui, problem, frame.tokens.error),
            (None, Shown::Items(_, left_out)) if *left_out > 0 => {
                let text = frame
                    .words
                    .with("files-left-out", &[("n", (*left_out).into())]);
                said(ui, &text, frame.tokens.text_dim);
            }
            _ => {
                let key = match sheet.purpose {
                    Purpose::Open => "files-keys",
                    Purpose::Save => "files-keys-save",
                };
                said(ui, frame.words.text(key), frame.tokens.text_faint);
            }
        }
    });
    is_done
}

fn said(ui: &mut Ui, text: &str, colour: egui::Color32) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add(egui::Label::new(RichText::new(text).small().color(colour)).truncate());
    });
}

/// What the button that does it says.
fn label(sheet: &Sheet, frame: &Frame<'_>) -> String {
    let words = frame.words;
    match sheet.purpose {
        Purpose::Save if sheet.is_writing => words.text("files-writing").to_owned(),
        Purpose::Save => words.text("files-save").to_owned(),
        Purpose::Open => match sheet.picked.len() {
            0 if sheet.split().1.is_empty() => words.text("files-open-folder").to_owned(),
            0 => words.text("files-open").to_owned(),
            n => words.with("files-open-picked", &[("n", n.into())]),
        },
    }
}
