//! How the file will read, in the form that is chosen.

use std::sync::Arc;

use egui::{Align, Layout, RichText, Ui};

use crate::base::text;
use crate::engine::memo::Answer;
use crate::export::{self, Material, Options};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::panels::notes::{Notes, Which};
use crate::ui::request::Request;
use crate::ui::theme;

/// Lines that are shown; a report of 10,000 findings as JSON is not read here.
const LINES: usize = 5000;
/// Letters of one line of the file that are shown; a JSON quote may be long.
const LETTERS: usize = 2000;

/// The file, as lines.
#[derive(Debug, Default)]
pub(super) struct Preview {
    lines: Vec<String>,
    left_out: usize,
    bytes: usize,
    is_text: bool,
}

impl Preview {
    fn of(bytes: &[u8], columns: usize) -> Self {
        let Ok(whole) = std::str::from_utf8(bytes) else {
            return Self {
                bytes: bytes.len(),
                ..Self::default()
            };
        };
        let mut lines = Vec::new();
        for line in whole.lines().take(LINES) {
            fold(&text::shorten(line, LETTERS), columns, &mut lines);
        }
        Self {
            left_out: whole.lines().count().saturating_sub(LINES),
            lines,
            bytes: bytes.len(),
            is_text: true,
        }
    }
}

/// Breaks a line where it leaves the panel, at a space if there is one in its second half. Hangul is two columns wide.
fn fold(line: &str, columns: usize, out: &mut Vec<String>) {
    let mut rest = line;
    while text::columns(rest) > columns {
        let mut used = 0;
        let fits = rest
            .char_indices()
            .find(|(_, c)| {
                used += text::columns(c.encode_utf8(&mut [0; 4]));
                used > columns
            })
            .map_or(rest.len(), |(at, _)| at);
        // A letter that is wider than the panel still goes on.
        let least = rest.chars().next().map_or(1, char::len_utf8);
        let fits = fits.max(least);
        let space = rest.get(..fits).and_then(|head| head.rfind(' '));
        let at = space.filter(|at| *at > fits / 2).map_or(fits, |at| at + 1);
        let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push(head.to_owned());
        rest = tail;
    }
    out.push(rest.to_owned());
}

impl Notes {
    pub(super) fn preview(&mut self, ui: &mut Ui, which: Which, frame: &mut Frame<'_>) {
        let Some((document, report)) = frame
            .incident
            .and_then(|i| Some((Arc::clone(&i.document), Arc::clone(i.report.as_ref()?))))
        else {
            return;
        };
        self.preview_tools(ui, frame);
        let form = self.form;
        let letter =
            ui.fonts_mut(|f| f.glyph_width(&egui::TextStyle::Monospace.resolve(ui.style()), 'm'));
        let room = ui.available_width() - 2.0 * theme::GAP - 10.0;
        let columns = ((room / letter.max(1.0)) as usize).clamp(20, 160);
        let notes = self.seen.clone();
        let lang = frame.words.lang();
        let answer = self
            .preview
            .want(frame.pool, &(which, form, columns, lang), move |_| {
                let exporter = export::by_id(form).ok_or("no such form")?;
                let material = Material {
                    report: &report,
                    snapshot: &document.snapshot,
                    notes: Some(&notes),
                };
                let options = Options {
                    width: columns,
                    lang,
                    ..Options::default()
                };
                let bytes = exporter.write(&material, &options);
                bytes
                    .map(|b| Preview::of(&b, columns))
                    .map_err(|e| e.to_string())
            });
        let none = Preview::default();
        let preview = match &answer {
            Answer::Failed(why) => {
                ui.label(RichText::new(*why).color(frame.tokens.error));
                return;
            }
            answer => answer.value().unwrap_or(&none),
        };
        let is_ready = matches!(answer, Answer::Ready(_));
        lines(ui, preview, is_ready, frame);
    }

    fn preview_tools(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let words = frame.words;
        ui.horizontal(|ui| {
            let name = |id: &str| words.text(&format!("form-{id}")).to_owned();
            let combo = egui::ComboBox::from_id_salt("notes-form")
                .selected_text(name(self.form))
                .show_ui(ui, |ui| {
                    for form in export::ALL {
                        ui.selectable_value(&mut self.form, form.id(), name(form.id()));
                    }
                });
            combo.response.on_hover_text(words.text("notes-form"));
            ui.label(
                RichText::new(words.text("notes-preview"))
                    .small()
                    .color(frame.tokens.text_faint),
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if ui.button(words.text("notes-export")).clicked() {
                    frame.ask(Request::Command(CommandId::Export));
                }
            });
        });
    }
}

fn lines(ui: &mut Ui, preview: &Preview, is_ready: bool, frame: &Frame<'_>) {
    let tokens = frame.tokens;
    let height = ui.available_height();
    egui::Frame::new()
        .fill(tokens.ground)
        .stroke(egui::Stroke::new(1.0, tokens.line))
        .corner_radius(4)
        .inner_margin(theme::GAP)
        .show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            let inner = height - 2.0 * theme::GAP - 2.0;
            if !preview.is_text {
                let text = if is_ready {
                    let size = frame.words.units().bytes(preview.bytes as f64);
                    frame
                        .words
                        .with("notes-binary", &[("size", (&size).into())])
                } else {
                    frame.words.text("notes-wait").to_owned()
                };
                ui.label(RichText::new(text).color(tokens.text_dim));
                ui.set_min_height(inner);
                return;
            }
            let line = ui.text_style_height(&egui::TextStyle::Monospace);
            let more = usize::from(preview.left_out > 0);
            ui.spacing_mut().item_spacing.y = 0.0;
            egui::ScrollArea::vertical()
                .id_salt("notes-preview")
                .max_height(inner)
                .min_scrolled_height(inner)
                .auto_shrink(false)
                .show_rows(ui, line, preview.lines.len() + more, |ui, range| {
                    for at in range {
                        let text = match preview.lines.get(at) {
                            Some(text) => text.clone(),
                            None => frame
                                .words
                                .with("notes-more-lines", &[("n", preview.left_out.into())]),
                        };
                        let text = RichText::new(text).monospace().color(tokens.text_dim);
                        ui.add(egui::Label::new(text).extend());
                    }
                });
        });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_at_spaces_and_nothing_is_lost() {
        let mut out = Vec::new();
        fold("aaa bbb ccc", 8, &mut out);
        fold("", 8, &mut out);
        fold("0123456789", 8, &mut out);
        assert_eq!(out, ["aaa bbb ", "ccc", "", "01234567", "89"]);
        out.clear();
        fold("가나다라마 바", 8, &mut out);
        assert_eq!(out, ["가나다라", "마 바"]);
    }

    #[test]
    fn what_is_no_text_says_its_size() {
        let preview = Preview::of(b"PAR1\xff\xfe", 80);
        assert!(!preview.is_text);
        assert_eq!(preview.bytes, 6);
    }
}
