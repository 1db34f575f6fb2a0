//! Small parts of the panel: text in a width, times, links, section headings.

use std::sync::Arc;

use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Color32, CursorIcon, FontFamily, FontId, Galley, Rect, Response, Role, Sense, Stroke,
    StrokeKind, Ui, WidgetInfo, vec2,
};

use crate::base::time::Timestamp;
use crate::session::target::Target;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::theme::{self, GAP, PAD};
use crate::ui::widgets::brief;

/// Ordinary text.
pub(super) const fn body() -> FontId {
    FontId::new(theme::BODY, FontFamily::Proportional)
}

/// Small text.
pub(super) const fn small() -> FontId {
    FontId::new(theme::SMALL, FontFamily::Proportional)
}

/// Digits of one width.
pub(super) const fn digits() -> FontId {
    FontId::new(11.0, FontFamily::Monospace)
}

/// Text in at most `rows` lines of a width, with an ellipsis where it is cut. Whether it was is in `Galley::elided`.
pub(super) fn fitted(
    ui: &Ui,
    text: &str,
    font: FontId,
    colour: Color32,
    room: (f32, usize),
) -> Arc<Galley> {
    ui.painter().layout_job(job(text, font, colour, room))
}

/// The same, struck through: what a person put aside.
pub(super) fn struck(ui: &Ui, text: &str, colour: Color32, room: (f32, usize)) -> Arc<Galley> {
    let mut job = job(text, body(), colour, room);
    for section in &mut job.sections {
        section.format.strikethrough = Stroke::new(1.0, colour);
    }
    ui.painter().layout_job(job)
}

/// Text in at most `rows` lines, with its long names shortened as far as it takes; whether anything of it is missing.
pub(super) fn briefed(text: &str, lay: impl Fn(&str) -> Arc<Galley>) -> (Arc<Galley>, bool) {
    let mut galley = lay(text);
    for step in 1..brief::STEPS {
        if !galley.elided {
            return (galley, step > 1);
        }
        galley = lay(&brief::sentence(text, step));
    }
    if galley.elided {
        galley = lay(&brief::sentence(text, brief::CUT));
    }
    (galley, true)
}

fn job(text: &str, font: FontId, colour: Color32, (width, rows): (f32, usize)) -> LayoutJob {
    let mut job = LayoutJob::simple(text.to_owned(), font, colour, width.max(8.0));
    job.wrap = TextWrapping {
        max_width: width.max(8.0),
        max_rows: rows,
        break_anywhere: rows == 1,
        overflow_character: Some('…'),
    };
    job
}

/// A time on the clock of the window, with its day where that is not the day on which the window begins; or since that begin.
pub(super) fn clock(frame: &Frame<'_>, t: Timestamp) -> String {
    let start = frame.incident.map(|i| i.document.window.start);
    if frame.settings.is_relative
        && let Some(start) = start
    {
        let secs = t.secs_since(start);
        let sign = if secs < 0.0 { "-" } else { "+" };
        return format!("{sign}{}", frame.words.units().secs(secs.abs().round()));
    }
    let civil = frame.zone.civil(t);
    let is_that_day = start.is_none_or(|s| frame.zone.civil(s).date() == civil.date());
    if is_that_day {
        civil.clock(0)
    } else {
        let day: String = civil.date().chars().skip(5).collect();
        format!("{day} {}", civil.clock(0))
    }
}

/// A time with everything that is known of it.
pub(super) fn exact(frame: &Frame<'_>, t: Timestamp) -> String {
    let civil = frame.zone.civil(t);
    format!(
        "{} {} {}",
        civil.date(),
        civil.clock_exact(),
        frame.zone.short_name(t)
    )
}

/// A heading of the explanation.
pub(super) fn heading(ui: &mut Ui, frame: &Frame<'_>, text: &str, count: Option<usize>) {
    ui.add_space(8.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let title = egui::RichText::new(text)
            .size(theme::SMALL)
            .strong()
            .color(frame.tokens.text_dim);
        ui.label(title);
        if let Some(count) = count {
            let count = egui::RichText::new(count.to_string())
                .font(digits())
                .color(frame.tokens.text_faint);
            ui.label(count);
        }
    });
}

/// What a line that can be followed looks like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    /// What it says.
    pub(super) text: &'a str,
    /// What it says in the report's own words, where these differ.
    pub(super) original: Option<&'a str>,
    /// The word of the kind of place that it leads to, or a time.
    pub(super) tag: &'a str,
    /// Points from the left.
    pub(super) indent: f32,
    /// Small, of second rank, in one line.
    pub(super) is_quote: bool,
    /// Lit: what was followed last.
    pub(super) is_lit: bool,
}

impl<'a> Line<'a> {
    /// A line of text.
    pub(super) const fn new(text: &'a str) -> Self {
        Self {
            text,
            original: None,
            tag: "",
            indent: 0.0,
            is_quote: false,
            is_lit: false,
        }
    }

    /// Draws it over the whole width; a click follows it. One that leads nowhere is only text.
    pub(super) fn link(self, ui: &mut Ui, frame: &Frame<'_>, leads: bool) -> Response {
        let tokens = frame.tokens;
        let width = ui.available_width();
        let tag_colour = if leads {
            tokens.accent
        } else {
            tokens.text_faint
        };
        let tag = fitted(ui, self.tag, small(), tag_colour, (124.0, 1));
        let tag_width = if self.tag.is_empty() {
            0.0
        } else {
            tag.size().x + GAP
        };
        let left = self.indent + 8.0;
        let room = width - left - tag_width - 4.0;
        let (font, colour, rows) = if self.is_quote {
            (digits(), tokens.text_dim, 2)
        } else {
            (body(), tokens.text, 12)
        };
        let galley = fitted(ui, self.text, font, colour, (room, rows));
        let height = galley.size().y + 5.0;
        let sense = if leads {
            Sense::click()
        } else {
            Sense::hover()
        };
        let (rect, response) = ui.allocate_exact_size(vec2(width, height), sense);
        if leads {
            response.widget_info(|| {
                let mut info = WidgetInfo::labeled(Role::Link, true, self.text);
                info.selected = self.is_lit.then_some(true);
                info
            });
        } else {
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, self.text));
        }
        if response.gained_focus() {
            response.scroll_to_me(None);
        }
        if ui.is_rect_visible(rect) {
            backing(ui, frame, rect, &response, self.is_lit);
            let at = rect.min + vec2(left, 2.5);
            ui.painter().galley(at, Arc::clone(&galley), colour);
            let at = egui::pos2(rect.right() - tag_width, rect.top() + 3.0);
            ui.painter().galley(at, tag, tag_colour);
        }
        let response = if leads {
            response.on_hover_cursor(CursorIcon::PointingHand)
        } else {
            response
        };
        whole(response, frame, self.text, self.original, galley.elided)
    }
}

/// A tooltip with the whole text where it was cut, and the original where it was put into other words.
pub(super) fn whole(
    response: Response,
    frame: &Frame<'_>,
    text: &str,
    original: Option<&str>,
    is_cut: bool,
) -> Response {
    let original = original.filter(|original| *original != text);
    if !is_cut && original.is_none() {
        return response;
    }
    response.on_hover_ui(|ui| {
        ui.set_max_width(420.0);
        if is_cut {
            ui.label(text);
        }
        if let Some(original) = original {
            let title = frame.words.text("findings-original");
            ui.label(
                egui::RichText::new(title)
                    .small()
                    .color(frame.tokens.text_faint),
            );
            ui.label(original);
        }
    })
}

/// What lies behind a row: lit, under the pointer, or with the ring of the focus.
pub(super) fn backing(ui: &Ui, frame: &Frame<'_>, rect: Rect, response: &Response, is_lit: bool) {
    let tokens = frame.tokens;
    let painter = ui.painter();
    if is_lit {
        painter.rect_filled(rect, 4.0, tokens.selected);
        let bar = Rect::from_min_size(rect.min, vec2(2.0, rect.height()));
        painter.rect_filled(bar, 1.0, tokens.accent);
    } else if response.hovered() {
        painter.rect_filled(rect, 4.0, tokens.hover);
    }
    if response.has_focus() {
        let ring = Stroke::new(1.5, tokens.accent);
        painter.rect_stroke(rect.shrink(0.75), 4.0, ring, StrokeKind::Inside);
    }
}

/// The word for what a place is.
pub(super) fn place_word<'a>(frame: &Frame<'a>, target: &Target) -> &'a str {
    let words = frame.words;
    match target {
        Target::Sample { .. } => words.text("findings-link-sample"),
        Target::Span { .. } | Target::Summary { .. } => words.text("findings-link-span"),
        Target::Request { .. } => words.text("findings-link-request"),
        Target::Stack { .. } => words.text("findings-link-stack"),
        Target::Event { .. } | Target::Own { .. } => words.text("findings-link-event"),
        Target::Finding(_) => words.text("findings-link-finding"),
        Target::Input { .. } => words.text("findings-link-input"),
    }
}

/// A button of words with an icon before them.
pub(super) fn icon_button(
    ui: &mut Ui,
    frame: &Frame<'_>,
    icon: Icon,
    text: &str,
    hint: &str,
    is_on: Option<Color32>,
) -> Response {
    let tokens = frame.tokens;
    let colour = is_on.unwrap_or(tokens.text);
    let galley = fitted(ui, text, small(), colour, (160.0, 1));
    let size = vec2(galley.size().x + 14.0 + 3.0 * GAP, theme::ROW - 2.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::Button, true, text);
        info.selected = is_on.map(|_| true);
        info
    });
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if ui.is_rect_visible(rect) {
        let fill = if response.hovered() {
            tokens.hover
        } else {
            tokens.raised
        };
        let line = match (response.has_focus(), is_on) {
            (true, _) => Stroke::new(1.5, tokens.accent),
            (false, Some(colour)) => Stroke::new(1.0, colour),
            (false, None) => Stroke::new(1.0, tokens.line),
        };
        ui.painter().rect(rect, 4.0, fill, line, StrokeKind::Inside);
        let place = Rect::from_center_size(
            egui::pos2(rect.left() + GAP + 7.0, rect.center().y),
            egui::Vec2::splat(13.0),
        );
        icons::paint(ui.painter(), icon, place, Stroke::new(1.3, colour));
        let at = egui::pos2(place.right() + GAP, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, colour);
    }
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text(hint)
}

/// Space left and right of everything.
pub(super) fn padded<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    egui::Frame::new()
        .inner_margin(egui::Margin::symmetric(PAD as i8, 0))
        .show(ui, add)
        .inner
}
