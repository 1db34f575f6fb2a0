//! The welcome page: open, drop, recent and sample incidents; how the reading goes; why nothing could be read.

pub mod drop;
mod failed;
pub mod files;
mod files_ui;
mod progress;

use std::collections::BTreeSet;
use std::path::PathBuf;

use egui::{Align, Layout, RichText, Sense, Ui, Vec2};

use crate::engine::memo::Memo;
use crate::session::samples::{self, Sample};
use crate::session::settings::{Lang, Theme};
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::request::{Request, Setting};
use crate::ui::theme;
use crate::ui::widgets::text::paint_cut;

/// Width of the page, in points.
const WIDTH: f32 = 920.0;
/// Height of an entry of two lines.
const ENTRY: f32 = 46.0;
/// How many recent incidents are shown.
const RECENT: usize = 8;

/// What it remembers between frames.
#[derive(Debug, Default)]
pub struct Start {
    failed: Option<(Vec<PathBuf>, Vec<String>)>,
    samples: Memo<(), Vec<Sample>>,
    /// Which of the recent paths are not there any more.
    missing: Memo<Vec<Vec<PathBuf>>, BTreeSet<PathBuf>>,
}

impl Start {
    /// Says that nothing useful was in what was opened.
    pub fn failed(&mut self, paths: &[PathBuf], why: Vec<String>) {
        self.failed = Some((paths.to_vec(), why));
    }

    /// Why nothing useful was in what was opened last, one line for each input.
    pub fn failure(&self) -> Option<&[String]> {
        self.failed.as_ref().map(|(_, why)| why.as_slice())
    }

    /// Draws it.
    pub fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        if let Some(progress) = frame.progress {
            // What failed before is history once something new is read.
            self.failed = None;
            return progress::ui(ui, progress, frame);
        }
        if let Some((paths, why)) = &self.failed {
            if failed::ui(ui, paths, why, frame) {
                self.failed = None;
            }
            return;
        }
        egui::ScrollArea::vertical()
            .auto_shrink(false)
            .show(ui, |ui| {
                let width = WIDTH.min(ui.available_width() - 2.0 * theme::PAD);
                let side = ((ui.available_width() - width) / 2.0).max(theme::PAD);
                let top = (ui.available_height() * 0.12).max(theme::PAD);
                ui.add_space(top);
                ui.horizontal_top(|ui| {
                    ui.add_space(side);
                    ui.vertical(|ui| {
                        ui.set_width(width);
                        self.page(ui, frame);
                    });
                });
            });
    }

    fn page(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let corner = head(ui, frame);
        ui.add_space(3.0 * theme::PAD);
        let gap = 4.0 * theme::PAD;
        let left = (ui.available_width() - gap) * 0.44;
        let right = ui.available_width() - gap - left;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = gap;
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = theme::GAP;
                ui.set_width(left);
                open(ui, frame);
                ui.add_space(2.0 * theme::PAD);
                self.samples(ui, frame);
            });
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.x = theme::GAP;
                ui.set_width(right);
                self.recent(ui, frame);
            });
        });
        // Last, so that Tab comes to what the page is for first.
        let builder = egui::UiBuilder::new()
            .max_rect(corner)
            .layout(Layout::left_to_right(Align::Min));
        look(&mut ui.new_child(builder), frame);
    }

    fn samples(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        let places = frame.sample_places.to_vec();
        let found = self
            .samples
            .want(frame.pool, &(), move |_| Ok(samples::find(&places)));
        let Some(found) = found.value().filter(|f| !f.is_empty()) else {
            return;
        };
        section(ui, frame, "start-samples");
        for sample in found {
            let label = frame
                .words
                .with("start-sample-open", &[("name", (&sample.title).into())]);
            let (response, _) = entry(ui, frame, &sample.title, &sample.about, &label, false, 0.0);
            if response.on_hover_text(&sample.about).clicked() {
                frame.ask(Request::Open(vec![sample.path.clone()]));
            }
        }
    }

    fn recent(&mut self, ui: &mut Ui, frame: &mut Frame<'_>) {
        section(ui, frame, "start-recent");
        let recent = &frame.settings.recent;
        if recent.is_empty() {
            let text = frame.words.text("start-recent-none");
            ui.label(RichText::new(text).color(frame.tokens.text_faint));
            return;
        }
        let paths = recent.clone();
        let missing = self.missing.want(frame.pool, recent, move |_| {
            let all = paths.iter().flatten();
            Ok(all.filter(|p| !p.exists()).cloned().collect())
        });
        let none = BTreeSet::new();
        let missing = missing.value().unwrap_or(&none);
        for paths in recent.iter().take(RECENT) {
            recent_entry(
                ui,
                frame.words,
                paths,
                missing,
                frame.tokens,
                frame.requests,
            );
        }
    }
}

fn recent_entry(
    ui: &mut Ui,
    words: &crate::ui::words::Words,
    paths: &[PathBuf],
    missing: &BTreeSet<PathBuf>,
    tokens: &theme::Tokens,
    requests: &mut Vec<Request>,
) {
    let name = crate::session::incident::name_of(paths);
    let is_missing = paths.iter().any(|p| missing.contains(p));
    let place: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let place = place.join(", ");
    let text = if is_missing {
        words.with("start-missing", &[("path", (&place).into())])
    } else {
        place.clone()
    };
    let label = words.with("start-recent-open", &[("name", (&name).into())]);
    let look = Look {
        tokens,
        is_dim: is_missing,
    };
    let (response, rect) = entry_with(ui, look, &name, &text, &label, theme::ROW + theme::GAP);
    if response.on_hover_text(&place).clicked() {
        requests.push(Request::Open(paths.to_vec()));
    }
    let side = theme::ROW;
    let corner = egui::Rect::from_center_size(
        egui::pos2(rect.right() - side / 2.0 - 4.0, rect.center().y),
        Vec2::splat(side),
    );
    let label = words.with("start-forget", &[("name", (&name).into())]);
    let mut over = ui.new_child(
        egui::UiBuilder::new()
            .id_salt(("forget", &place))
            .max_rect(corner)
            .layout(Layout::left_to_right(Align::Center)),
    );
    if icons::button(&mut over, Icon::Close, &label).clicked() {
        requests.push(Request::Set(Setting::Forget(paths.to_vec())));
    }
}

/// The name of the program and one line of what it is for; gives the room for the look at the right.
fn head(ui: &mut Ui, frame: &Frame<'_>) -> egui::Rect {
    let width = look_width(ui, frame);
    let page = ui.max_rect();
    let shown = ui.vertical(|ui| {
        ui.set_max_width((ui.available_width() - width - theme::PAD).max(120.0));
        ui.label(
            RichText::new("Tailscope")
                .size(theme::TITLE * 1.7)
                .color(frame.tokens.text),
        );
        let text = frame.words.text("start-what");
        ui.label(RichText::new(text).color(frame.tokens.text_dim));
    });
    let left = (page.right() - width).max(page.left());
    egui::Rect::from_x_y_ranges(left..=page.right(), shown.response.rect.y_range())
}

const fn name_of(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "English",
        Lang::Ko => "한국어",
    }
}

/// How wide [`look`] is.
fn look_width(ui: &Ui, frame: &Frame<'_>) -> f32 {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let themes = Theme::ALL.map(|t| frame.words.text(&format!("look-{}", t.word())).to_owned());
    let langs = Lang::ALL.map(|l| name_of(l).to_owned());
    let names = themes.into_iter().chain(langs);
    let spacing = ui.spacing();
    let wide = |name: String| {
        let galley = ui
            .painter()
            .layout_no_wrap(name, font.clone(), frame.tokens.text);
        galley.size().x.ceil() + 2.0 * spacing.button_padding.x + spacing.item_spacing.x
    };
    names.map(wide).sum::<f32>() + theme::PAD + spacing.item_spacing.x
}

/// Language and theme: here, since whoever cannot read the page needs them first.
fn look(ui: &mut Ui, frame: &mut Frame<'_>) {
    for theme in Theme::ALL {
        let label = frame
            .words
            .text(&format!("look-{}", theme.word()))
            .to_owned();
        let is_on = frame.settings.theme == theme;
        if ui.selectable_label(is_on, label).clicked() && !is_on {
            frame.ask(Request::Set(Setting::Theme(theme)));
        }
    }
    ui.add_space(theme::PAD);
    for lang in Lang::ALL {
        let is_on = frame.settings.lang == lang;
        if ui.selectable_label(is_on, name_of(lang)).clicked() && !is_on {
            frame.ask(Request::Set(Setting::Lang(lang)));
        }
    }
}

fn open(ui: &mut Ui, frame: &mut Frame<'_>) {
    section(ui, frame, "start-open");
    let tokens = frame.tokens;
    let size = Vec2::new(ui.available_width(), 40.0);
    let label = RichText::new(frame.words.text("start-open-button"))
        .size(theme::BODY + 1.0)
        .color(tokens.on_accent);
    let keys = RichText::new("Ctrl+O").small().color(tokens.on_accent);
    let button = egui::Button::new(label)
        .fill(tokens.accent)
        .min_size(size)
        .right_text(keys);
    if ui.add(button).clicked() {
        frame.ask(Request::Command(CommandId::Open));
    }
    ui.add_space(theme::GAP);
    let dim = |key| RichText::new(frame.words.text(key)).color(tokens.text_dim);
    ui.add(egui::Label::new(dim("start-drop")).wrap());
    ui.add(egui::Label::new(dim("start-formats").small()).wrap());
    ui.add_space(theme::GAP);
    ui.horizontal(|ui| {
        let palette = frame.words.text("start-palette");
        if ui.link(palette).clicked() {
            frame.ask(Request::Command(CommandId::Palette));
        }
        ui.label(RichText::new("·").color(tokens.text_faint));
        let keys = frame.words.text("start-keys");
        if ui.link(keys).clicked() {
            frame.ask(Request::Command(CommandId::Shortcuts));
        }
    });
}

fn section(ui: &mut Ui, frame: &Frame<'_>, key: &str) {
    ui.label(
        RichText::new(frame.words.text(key))
            .small()
            .color(frame.tokens.text_faint),
    );
    ui.add_space(2.0);
}

#[derive(Debug, Clone, Copy)]
struct Look<'a> {
    tokens: &'a theme::Tokens,
    is_dim: bool,
}

fn entry(
    ui: &mut Ui,
    frame: &Frame<'_>,
    title: &str,
    text: &str,
    label: &str,
    is_dim: bool,
    room_right: f32,
) -> (egui::Response, egui::Rect) {
    let look = Look {
        tokens: frame.tokens,
        is_dim,
    };
    entry_with(ui, look, title, text, label, room_right)
}

/// A button of two lines.
fn entry_with(
    ui: &mut Ui,
    look: Look<'_>,
    title: &str,
    text: &str,
    label: &str,
    room_right: f32,
) -> (egui::Response, egui::Rect) {
    let tokens = look.tokens;
    let size = Vec2::new(ui.available_width(), ENTRY);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, label));
    let fill = if response.hovered() || response.has_focus() {
        tokens.hover
    } else {
        tokens.raised
    };
    let border = if response.has_focus() {
        tokens.accent
    } else {
        tokens.line
    };
    ui.painter().rect(
        rect,
        5.0,
        fill,
        egui::Stroke::new(1.0, border),
        egui::StrokeKind::Inside,
    );
    let x = rect.left() + theme::PAD..=rect.right() - theme::PAD - room_right;
    let line = |top: f32, height: f32| {
        egui::Rect::from_x_y_ranges(x.clone(), rect.top() + top..=rect.top() + top + height)
    };
    let colour = if look.is_dim {
        tokens.text_faint
    } else {
        tokens.text
    };
    let font = egui::FontId::proportional;
    paint_cut(ui, line(5.0, 18.0), title, font(theme::BODY), colour);
    let small = if look.is_dim {
        tokens.warning
    } else {
        tokens.text_dim
    };
    paint_cut(ui, line(23.0, 17.0), text, font(theme::SMALL), small);
    (response, rect)
}
