//! What stands above the list: what is said first, what is missing, the filter, and the states without a report.

use egui::{Margin, Rect, Role, Sense, Stroke, TextEdit, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::export::headline::{Headline, headline};
use crate::model::report::Report;
use crate::session::notes::Verdict;
use crate::session::view::Drawer;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::findings::listing::{Asked, Listing, Row};
use crate::ui::panels::findings::parts::{briefed, exact, fitted, padded, whole};
use crate::ui::report_words::Told;
use crate::ui::request::Request;
use crate::ui::theme::{self, GAP, PAD};

/// Height of what is said first: two lines.
const HEADLINE: f32 = 46.0;

/// What is said first, in the window's words. A person's verdict is said before the machine's rank.
pub(super) fn sentence(frame: &Frame<'_>, report: &Report, told: &Told) -> String {
    let words = frame.words;
    let title = |ix: usize| told.hypotheses.get(ix).map_or("", |t| t.title.as_str());
    let verdict = |ix: usize| {
        let id = report.hypotheses.get(ix).map(|h| &h.id);
        id.and_then(|id| frame.notes.verdicts.get(id)).copied()
    };
    let places = || 0..report.hypotheses.len();
    if let Some(ix) = places().find(|ix| verdict(*ix) == Some(Verdict::Confirmed)) {
        return words.with("findings-head-confirmed", &[("title", title(ix).into())]);
    }
    let said = headline(report);
    let is_a_cause = matches!(said, Headline::Cause { .. } | Headline::CauseOfPart { .. });
    // Of what was refuted the next likely one takes the place.
    let best = places()
        .filter(|ix| {
            report
                .hypotheses
                .get(*ix)
                .is_some_and(|h| h.score >= crate::correlate::ENOUGH)
        })
        .find(|ix| verdict(*ix) != Some(Verdict::Refuted));
    let Some(best) = best.or(if is_a_cause { None } else { Some(0) }) else {
        return words.text("findings-head-refuted").to_owned();
    };
    let coverage = report.hypotheses.get(best).map_or(1.0, |h| h.coverage);
    match said {
        Headline::Cause { .. } | Headline::CauseOfPart { .. } if coverage >= 0.5 => {
            words.with("findings-head-cause", &[("title", title(best).into())])
        }
        Headline::Cause { .. } | Headline::CauseOfPart { .. } => {
            let share = words.units().share(coverage);
            let args = [
                ("share", share.as_str().into()),
                ("title", title(best).into()),
            ];
            words.with("findings-head-part", &args)
        }
        Headline::Beside { start, end } => {
            let (start, end) = (exact(frame, start), exact(frame, end));
            let args = [
                ("start", start.as_str().into()),
                ("end", end.as_str().into()),
            ];
            words.with("findings-head-beside", &args)
        }
        Headline::NotEnough => words.text("findings-head-not-enough").to_owned(),
        Headline::NoCause { findings: 1 } => words.text("findings-head-no-cause-one").to_owned(),
        Headline::NoCause { findings } => {
            words.with("findings-head-no-cause", &[("n", findings.into())])
        }
        Headline::Nothing => words.text("findings-head-nothing").to_owned(),
    }
}

/// Draws what is said first, always of one height.
pub(super) fn headline_ui(ui: &mut Ui, frame: &Frame<'_>, text: &str, original: Option<&str>) {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEADLINE), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, text));
    let room = rect.width() - 2.0 * PAD;
    let font = egui::FontId::new(14.0, egui::FontFamily::Proportional);
    let lay = |text: &str| fitted(ui, text, font.clone(), frame.tokens.text, (room, 2));
    let (galley, is_cut) = briefed(text, lay);
    let at = pos2(rect.left() + PAD, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, frame.tokens.text);
    ui.painter().hline(
        rect.x_range(),
        rect.bottom(),
        Stroke::new(1.0, frame.tokens.line),
    );
    whole(response, frame, text, original, is_cut);
}

/// Says that inputs were lost, with the way to them.
pub(super) fn partial(ui: &mut Ui, frame: &mut Frame<'_>, report: &Report) {
    if !report.partial {
        return;
    }
    let lost = report
        .inputs
        .iter()
        .filter(|i| i.warnings.iter().any(|w| w.lossy))
        .count();
    let words = frame.words;
    let text = if lost == 1 {
        words.text("findings-partial-one").to_owned()
    } else {
        words.with("findings-partial", &[("n", lost.into())])
    };
    let tokens = frame.tokens;
    let look = egui::Frame::new()
        .fill(tokens.warning.gamma_multiply(0.12))
        .inner_margin(Margin::symmetric(PAD as i8, 3));
    look.show(ui, |ui| {
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(14.0), Sense::hover());
            icons::paint(
                ui.painter(),
                Icon::Warning,
                rect,
                Stroke::new(1.3, tokens.warning),
            );
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if ui.link(words.text("findings-partial-show")).clicked() {
                    frame.ask(Request::Drawer(Some(Drawer::Inputs)));
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add(egui::Label::new(text).truncate());
                });
            });
        });
    });
}

/// The filter, the order, and what is hidden.
pub(super) fn tools(ui: &mut Ui, frame: &Frame<'_>, asked: &mut Asked, listing: Option<&Listing>) {
    let words = frame.words;
    ui.add_space(4.0);
    padded(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 4.0;
            let (rect, _) = ui.allocate_exact_size(Vec2::splat(16.0), Sense::hover());
            icons::paint(
                ui.painter(),
                Icon::Search,
                rect.shrink(1.0),
                Stroke::new(1.3, frame.tokens.text_faint),
            );
            let sort = if asked.is_by_severity {
                words.text("findings-by-severity")
            } else {
                words.text("findings-by-time")
            };
            let dismissed = listing.map_or(0, |l| l.dismissed);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let hint = if asked.is_by_severity {
                    words.text("findings-sort-severity")
                } else {
                    words.text("findings-sort-time")
                };
                let text = egui::RichText::new(sort).size(theme::SMALL);
                if ui
                    .add(egui::Button::new(text))
                    .on_hover_text(hint)
                    .clicked()
                {
                    asked.is_by_severity = !asked.is_by_severity;
                }
                if dismissed > 0 {
                    let text = words.with("findings-dismissed-count", &[("n", dismissed.into())]);
                    let hint = if asked.shows_dismissed {
                        words.text("findings-dismissed-hide")
                    } else {
                        words.text("findings-dismissed-show")
                    };
                    let text = egui::RichText::new(text).size(theme::SMALL);
                    let button = egui::Button::new(text).selected(asked.shows_dismissed);
                    if ui.add(button).on_hover_text(hint).clicked() {
                        asked.shows_dismissed = !asked.shows_dismissed;
                    }
                }
                if !asked.filter.is_empty()
                    && icons::button(ui, Icon::Close, words.text("findings-clear-filter")).clicked()
                {
                    asked.filter.clear();
                }
                let width = ui.available_width();
                let field = TextEdit::singleline(&mut asked.filter)
                    .hint_text(words.text("findings-filter-hint"))
                    .desired_width(width - GAP);
                let response = ui.add(field);
                if response.has_focus() && ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                    asked.filter.clear();
                }
            });
        });
    });
    ui.add_space(2.0);
}

/// What stands where the list will stand: rows without words, so that nothing jumps when they come.
pub(super) fn skeleton(ui: &mut Ui, frame: &Frame<'_>, text: &str, hint: &str) {
    let tokens = frame.tokens;
    padded(ui, |ui| {
        ui.add_space(GAP);
        ui.label(text);
        let hint = egui::RichText::new(hint)
            .size(theme::SMALL)
            .color(tokens.text_dim);
        ui.label(hint);
    });
    let rect = ui.available_rect_before_wrap();
    let heights = [
        Row::Hypothesis(0),
        Row::Finding(0),
        Row::Finding(0),
        Row::Finding(0),
        Row::Finding(0),
    ];
    let mut top = rect.top() + GAP;
    for (at, row) in heights.into_iter().enumerate() {
        let height = row.height();
        if top + height > rect.bottom() {
            break;
        }
        let left = rect.left() + PAD;
        let width = rect.width() - 2.0 * PAD;
        let painter = ui.painter();
        // Each a little fainter than the one above, and of another length: a list, not a table.
        let colour = tokens.raised.gamma_multiply(1.0 - 0.16 * at as f32);
        let lengths = [0.94, 0.62, 0.78, 0.55, 0.7];
        let length = width * lengths.get(at).copied().unwrap_or(0.6);
        for line in 0..2 {
            let part = if line == 0 { 1.0 } else { 0.55 };
            let from = pos2(left, top + 6.0 + 15.0 * line as f32);
            painter.rect_filled(
                Rect::from_min_size(from, vec2(length * part, 9.0)),
                3.0,
                colour,
            );
        }
        top += height;
    }
}

/// Words in the middle of an empty list.
pub(super) fn empty(ui: &mut Ui, frame: &Frame<'_>, text: &str, hint: &str) {
    padded(ui, |ui| {
        ui.add_space(2.0 * PAD);
        ui.label(text);
        if !hint.is_empty() {
            let hint = egui::RichText::new(hint)
                .size(theme::SMALL)
                .color(frame.tokens.text_dim);
            ui.label(hint);
        }
    });
}
