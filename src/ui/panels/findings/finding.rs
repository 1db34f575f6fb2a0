//! The explanation of the picked finding: what it says, its values, its evidence.

use egui::{Role, Sense, Stroke, Ui, WidgetInfo, vec2};

use crate::model::finding::{Finding, FindingKind};
use crate::model::report::Report;
use crate::session::view::Selection;
use crate::ui::frame::Frame;
use crate::ui::panels::findings::explain::{dim, entities, quotes};
use crate::ui::panels::findings::judge::{Judge, since};
use crate::ui::panels::findings::parts::{
    Line, body, clock, digits, exact, fitted, heading, whole,
};
use crate::ui::report_words::{self, Told};
use crate::ui::request::Request;
use crate::ui::theme::{self, GAP};

/// Draws it. `shows_original` says whether the report's own words are open.
pub(super) fn finding(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    (report, told): (&Report, &Told),
    (judge, shows_original): (&mut Judge, &mut bool),
    ix: usize,
) {
    let (Some(finding), Some(title)) = (report.findings.get(ix), told.findings.get(ix)) else {
        return;
    };
    explained_by(ui, frame, (report, told), finding);
    ui.label(egui::RichText::new(title).size(theme::TITLE));
    facts(ui, frame, finding);
    ui.add_space(GAP);
    judge.ui(ui, frame, &finding.id, false);
    ui.add_space(GAP);
    let detail = report_words::finding_detail(frame.words, finding);
    ui.label(&detail);
    if detail != finding.detail {
        original(ui, frame, finding, shows_original);
    }
    let evidence = frame.words.text("findings-evidence");
    heading(ui, frame, evidence, Some(finding.evidence.len()));
    let links = frame
        .links
        .map_or_else(Vec::new, |l| l.finding(&finding.id).to_vec());
    quotes(ui, frame, &finding.evidence, &links, usize::MAX);
    values(ui, frame, finding);
    entities(ui, frame, &finding.entities);
    ui.add_space(GAP);
}

/// The way back to the causes that explain it.
fn explained_by(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    (report, told): (&Report, &Told),
    finding: &Finding,
) {
    let label = frame.words.text("findings-explained-by");
    for (ix, hypothesis) in report.hypotheses.iter().enumerate() {
        if !hypothesis.explains.contains(&finding.id) {
            continue;
        }
        let title = told.hypotheses.get(ix).map_or("", |t| t.title.as_str());
        let text = format!("{label}: {title}");
        let response = crumb(ui, frame, &text);
        if response.clicked() {
            frame.ask(Request::Select(Selection::Hypothesis(
                hypothesis.id.clone(),
            )));
        }
    }
}

fn crumb(ui: &mut Ui, frame: &Frame<'_>, text: &str) -> egui::Response {
    let tokens = frame.tokens;
    let width = ui.available_width();
    let galley = fitted(
        ui,
        text,
        super::parts::small(),
        tokens.accent,
        (width - 8.0, 1),
    );
    let (rect, response) =
        ui.allocate_exact_size(vec2(width, galley.size().y + 4.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, text));
    super::parts::backing(ui, frame, rect, &response, false);
    ui.painter()
        .galley(rect.min + vec2(2.0, 2.0), galley.clone(), tokens.accent);
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    whole(response, frame, text, None, galley.elided)
}

fn facts(ui: &mut Ui, frame: &Frame<'_>, finding: &Finding) {
    let words = frame.words;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let (rect, _) = ui.allocate_exact_size(vec2(9.0, 14.0), Sense::hover());
        let colour = frame.tokens.severity(finding.severity);
        ui.painter().circle_filled(rect.center(), 4.0, colour);
        let kind = report_words::kind(words, finding.kind);
        let severity = report_words::severity(words, finding.severity);
        dim(ui, frame, &format!("{severity} · {kind}"));
        dim(ui, frame, &since(frame, finding.start)).on_hover_text(exact(frame, finding.start));
        match finding.end {
            Some(end) => {
                let text = format!("{} {}", words.text("findings-until"), clock(frame, end));
                dim(ui, frame, &text).on_hover_text(exact(frame, end));
            }
            None if finding.kind != FindingKind::Change => {
                dim(ui, frame, words.text("findings-ongoing"));
            }
            None => {}
        }
        let sure = format!(
            "{} {:.2}",
            words.text("findings-confidence"),
            finding.confidence
        );
        dim(ui, frame, &sure);
    });
}

fn original(ui: &mut Ui, frame: &Frame<'_>, finding: &Finding, shows: &mut bool) {
    let words = frame.words;
    let text = if *shows {
        words.text("findings-original-hide")
    } else {
        words.text("findings-original-show")
    };
    let text = egui::RichText::new(text).size(theme::SMALL);
    if ui.link(text).on_hover_text(&finding.detail).clicked() {
        *shows = !*shows;
    }
    if *shows {
        let title = egui::RichText::new(&finding.title).color(frame.tokens.text_dim);
        ui.label(title);
        let detail = egui::RichText::new(&finding.detail).color(frame.tokens.text_dim);
        ui.label(detail);
    }
}

fn values(ui: &mut Ui, frame: &Frame<'_>, finding: &Finding) {
    if finding.values.is_empty() && finding.cause.is_none() {
        return;
    }
    heading(ui, frame, frame.words.text("findings-values"), None);
    if let Some(cause) = &finding.cause {
        let said = report_words::cause(frame.words, cause);
        value_row(
            ui,
            frame,
            frame.words.text("findings-cause"),
            &said,
            Some(cause),
        );
    }
    for name in finding.values.keys() {
        let value = report_words::value(frame.words, finding, name);
        let label = report_words::value_name(frame.words, name);
        value_row(ui, frame, &label, &value, Some(name));
    }
}

/// A name at the left and its value at the right; long values go under their name.
fn value_row(ui: &mut Ui, frame: &Frame<'_>, name: &str, value: &str, original: Option<&str>) {
    let tokens = frame.tokens;
    let width = ui.available_width();
    let label = fitted(ui, name, body(), tokens.text_dim, (width * 0.45, 1));
    let room = width - label.size().x - 28.0;
    let number = fitted(ui, value, digits(), tokens.text, (room, 1));
    if number.elided {
        let mut line = Line::new(name);
        line.original = original;
        line.link(ui, frame, false);
        let mut line = Line::new(value);
        line.is_quote = true;
        line.indent = 10.0;
        line.link(ui, frame, false);
        return;
    }
    let (rect, response) = ui.allocate_exact_size(vec2(width, 19.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}: {value}")));
    let painter = ui.painter();
    let middle = rect.center().y;
    painter.hline(
        rect.x_range().shrink(8.0),
        rect.bottom(),
        Stroke::new(1.0, tokens.grid),
    );
    let at = egui::pos2(rect.left() + 8.0, middle - label.size().y / 2.0);
    painter.galley(at, label, tokens.text_dim);
    let at = egui::pos2(
        rect.right() - 8.0 - number.size().x,
        middle - number.size().y / 2.0,
    );
    painter.galley(at, number, tokens.text);
    if let Some(original) = original {
        response.on_hover_text(original);
    }
}
