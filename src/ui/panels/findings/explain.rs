//! The explanation of the picked cause: for, against, missing, changes, next checks, each line a link.

use egui::{Role, Sense, Stroke, Ui, WidgetInfo, vec2};

use crate::correlate::ENOUGH;
use crate::model::hypothesis::{Hypothesis, Role as ChangeRole};
use crate::model::input::Evidence;
use crate::model::report::Report;
use crate::session::notes::Verdict;
use crate::session::target::Target;
use crate::session::view::Selection;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::findings::judge::{Judge, since};
use crate::ui::panels::findings::parts::{Line, clock, digits, exact, fitted, heading, place_word};
use crate::ui::report_words::{self, Told, ToldHypothesis};
use crate::ui::request::Request;
use crate::ui::theme::{self, GAP};

/// Quotes under one line; the finding itself has all.
const QUOTES: usize = 3;

/// Findings and entities that are listed before the rest is only counted; the list above has all findings.
const EXPLAINED: usize = 40;

/// Draws the explanation of a hypothesis.
pub(super) fn hypothesis(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    (report, told): (&Report, &Told),
    judge: &mut Judge,
    ix: usize,
) {
    let (Some(hypothesis), Some(said)) = (report.hypotheses.get(ix), told.hypotheses.get(ix))
    else {
        return;
    };
    head(ui, frame, hypothesis, said);
    ui.add_space(GAP);
    judge.ui(ui, frame, &hypothesis.id, true);
    support(ui, frame, (report, told), hypothesis, said);
    against(ui, frame, hypothesis, said);
    missing(ui, frame, hypothesis, said);
    changes(ui, frame, hypothesis, said);
    next_checks(ui, frame, hypothesis, said);
    explains(ui, frame, (report, told), hypothesis);
    entities(ui, frame, &hypothesis.entities);
    ui.add_space(GAP);
}

fn head(ui: &mut Ui, frame: &Frame<'_>, hypothesis: &Hypothesis, said: &ToldHypothesis) {
    let tokens = frame.tokens;
    let words = frame.words;
    let is_refuted = frame.notes.verdicts.get(&hypothesis.id) == Some(&Verdict::Refuted);
    let mut title = egui::RichText::new(&said.title).size(theme::TITLE);
    if is_refuted {
        title = title.strikethrough().color(tokens.text_dim);
    }
    let response = ui.label(title);
    if said.title != hypothesis.title {
        response.on_hover_ui(|ui| {
            ui.set_max_width(420.0);
            ui.label(
                egui::RichText::new(words.text("findings-original"))
                    .small()
                    .color(tokens.text_faint),
            );
            ui.label(&hypothesis.title);
        });
    }
    ui.add_space(2.0);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = GAP;
        let (rect, _) = ui.allocate_exact_size(vec2(70.0, 14.0), Sense::hover());
        let track = egui::Rect::from_center_size(rect.center(), vec2(70.0, 5.0));
        ui.painter().rect_filled(track, 2.5, tokens.line);
        let part = hypothesis.score.clamp(0.0, 1.0) as f32;
        let filled = egui::Rect::from_min_size(track.min, vec2(70.0 * part, 5.0));
        ui.painter().rect_filled(filled, 2.5, tokens.accent);
        // Where the likely ones begin.
        let x = track.left() + 70.0 * ENOUGH as f32;
        ui.painter().vline(
            x,
            track.expand(2.0).y_range(),
            Stroke::new(1.0, tokens.text_faint),
        );
        let score = format!("{:.2}", hypothesis.score);
        let enough = format!("{ENOUGH}");
        let means = words.with(
            "findings-score-means",
            &[("enough", enough.as_str().into())],
        );
        let text = words.with("findings-score", &[("score", score.as_str().into())]);
        let state = if hypothesis.score >= ENOUGH {
            words.text("findings-score-likely")
        } else {
            words.text("findings-score-possible")
        };
        dim(ui, frame, &format!("{text} ({state})")).on_hover_text(means);
        let share = frame.words.units().share(hypothesis.coverage);
        let text = words.with("findings-coverage", &[("share", share.as_str().into())]);
        dim(ui, frame, &text).on_hover_text(words.text("findings-coverage-means"));
        dim(ui, frame, &since(frame, hypothesis.onset))
            .on_hover_text(exact(frame, hypothesis.onset));
        let rank = words.with(
            "findings-machine-rank",
            &[("n", (hypothesis.rank as usize).into())],
        );
        dim(ui, frame, &rank);
    });
}

/// Small text of second rank.
pub(super) fn dim(ui: &mut Ui, frame: &Frame<'_>, text: &str) -> egui::Response {
    let text = egui::RichText::new(text)
        .size(theme::SMALL)
        .color(frame.tokens.text_dim);
    ui.label(text)
}

fn support(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    (report, told): (&Report, &Told),
    hypothesis: &Hypothesis,
    said: &ToldHypothesis,
) {
    if hypothesis.support.is_empty() {
        return;
    }
    let title = frame.words.text("findings-for");
    heading(ui, frame, title, Some(hypothesis.support.len()));
    for (at, (support, text)) in hypothesis.support.iter().zip(&said.support).enumerate() {
        let finding = support
            .finding
            .as_ref()
            .and_then(|id| report.findings.get(told.place(id)?));
        let own: Vec<Vec<Target>> = frame
            .links
            .map_or_else(Vec::new, |l| l.support(&hypothesis.id, at).to_vec());
        let (evidence, links) = match finding {
            Some(finding) if support.evidence.is_empty() => {
                let links = frame
                    .links
                    .map_or_else(Vec::new, |l| l.finding(&finding.id).to_vec());
                (finding.evidence.as_slice(), links)
            }
            _ => (support.evidence.as_slice(), own),
        };
        let mut line = Line::new(text);
        line.original = Some(&support.text);
        let target = match finding {
            Some(finding) => Some(Target::Finding(finding.id.clone())),
            None => links.iter().flatten().next().cloned(),
        };
        line.tag = target.as_ref().map_or("", |t| place_word(frame, t));
        if line.link(ui, frame, target.is_some()).clicked()
            && let Some(target) = target
        {
            frame.ask(Request::Follow(target));
        }
        quotes(ui, frame, evidence, &links, QUOTES);
    }
}

/// Lines of evidence, each a link to its place.
pub(super) fn quotes(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    evidence: &[Evidence],
    links: &[Vec<Target>],
    most: usize,
) {
    for (at, evidence) in evidence.iter().take(most).enumerate() {
        let targets = links.get(at).map_or(&[][..], Vec::as_slice);
        let quote = report_words::quote(frame.words, &evidence.quote);
        let mut line = Line::new(if quote.is_empty() {
            &evidence.locator
        } else {
            &quote
        });
        line.original = Some(&evidence.quote);
        line.indent = 10.0;
        line.is_quote = true;
        let tag = match targets.first() {
            Some(target) => tag(frame, target),
            None if frame.links.is_none() => frame.words.text("findings-link-pending").to_owned(),
            None => String::new(),
        };
        line.tag = &tag;
        line.is_lit = targets
            .first()
            .is_some_and(|t| frame.view.picked.contains(t));
        let response = line.link(ui, frame, !targets.is_empty()).on_hover_ui(|ui| {
            let path = frame.incident.and_then(|incident| {
                let inputs = &incident.snapshot().inputs;
                let input = inputs.iter().find(|i| i.id == evidence.input)?;
                Some(input.path.as_str())
            });
            ui.set_max_width(460.0);
            ui.label(format!(
                "{}, {}",
                path.unwrap_or(&evidence.input),
                evidence.locator
            ));
        });
        if response.clicked() {
            follow_all(frame, targets);
        }
    }
}

/// What a place is, and when.
fn tag(frame: &Frame<'_>, target: &Target) -> String {
    let what = place_word(frame, target);
    let time = frame
        .incident
        .and_then(|incident| target.time(incident.snapshot()));
    match time {
        Some(t) => {
            let t = clock(frame, t);
            let args = [("what", what.into()), ("t", t.as_str().into())];
            frame.words.with("findings-tag", &args)
        }
        None => what.to_owned(),
    }
}

/// Goes to the first place and picks all of them: caller and callee are one.
pub(super) fn follow_all(frame: &mut Frame<'_>, targets: &[Target]) {
    let Some(first) = targets.first() else {
        return;
    };
    frame.ask(Request::Follow(first.clone()));
    if targets.len() > 1 {
        frame.ask(Request::Pick(targets.to_vec()));
    }
}

fn against(ui: &mut Ui, frame: &mut Frame<'_>, hypothesis: &Hypothesis, said: &ToldHypothesis) {
    let words = frame.words;
    let n = hypothesis.against.len();
    heading(
        ui,
        frame,
        words.text("findings-against"),
        (n > 0).then_some(n),
    );
    if n == 0 {
        dim_line(ui, frame, words.text("findings-against-none"));
    }
    for (against, text) in hypothesis.against.iter().zip(&said.against) {
        let mut line = Line::new(text);
        line.original = Some(&against.text);
        let target = against.finding.clone().map(Target::Finding);
        line.tag = target.as_ref().map_or("", |t| place_word(frame, t));
        if line.link(ui, frame, target.is_some()).clicked()
            && let Some(target) = target
        {
            frame.ask(Request::Follow(target));
        }
    }
}

fn dim_line(ui: &mut Ui, frame: &Frame<'_>, text: &str) {
    ui.horizontal_wrapped(|ui| {
        ui.add_space(8.0);
        let text = egui::RichText::new(text).color(frame.tokens.text_dim);
        ui.label(text);
    });
}

fn missing(ui: &mut Ui, frame: &Frame<'_>, hypothesis: &Hypothesis, said: &ToldHypothesis) {
    if hypothesis.missing.is_empty() {
        return;
    }
    let title = frame.words.text("findings-missing");
    heading(ui, frame, title, Some(hypothesis.missing.len()));
    for (missing, text) in hypothesis.missing.iter().zip(&said.missing) {
        let mut line = Line::new(text);
        line.original = Some(missing);
        line.link(ui, frame, false);
    }
}

fn changes(ui: &mut Ui, frame: &mut Frame<'_>, hypothesis: &Hypothesis, said: &ToldHypothesis) {
    if hypothesis.changes.is_empty() {
        return;
    }
    let title = frame.words.text("findings-changes");
    heading(ui, frame, title, Some(hypothesis.changes.len()));
    for (at, (change, why)) in hypothesis.changes.iter().zip(&said.changes).enumerate() {
        let target = frame
            .links
            .and_then(|links| links.change(&hypothesis.id, at))
            .map(|change| change.target.clone());
        let role = report_words::role(frame.words, change.role);
        let time = clock(frame, change.at);
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            ui.add_space(8.0);
            badge(ui, frame, change.role, &role);
            let text = egui::RichText::new(&time)
                .font(digits())
                .color(frame.tokens.text_dim);
            ui.label(text).on_hover_text(exact(frame, change.at));
        });
        let mut line = Line::new(&change.title);
        line.tag = target.as_ref().map_or("", |t| place_word(frame, t));
        line.is_lit = target
            .as_ref()
            .is_some_and(|t| frame.view.picked.contains(t));
        if line.link(ui, frame, target.is_some()).clicked()
            && let Some(target) = target
        {
            frame.ask(Request::Follow(target));
        }
        let mut line = Line::new(why);
        line.original = Some(&change.why);
        line.indent = 10.0;
        line.is_quote = true;
        line.link(ui, frame, false);
    }
}

/// A role in a frame; only what is tied to the cause has a colour.
fn badge(ui: &mut Ui, frame: &Frame<'_>, role: ChangeRole, text: &str) {
    let tokens = frame.tokens;
    let (colour, means) = match role {
        ChangeRole::Trigger => (tokens.error, "findings-role-trigger-means"),
        ChangeRole::Relief => (tokens.warning, "findings-role-relief-means"),
        ChangeRole::Cure => (tokens.good, "findings-role-cure-means"),
        ChangeRole::Coincident => (tokens.text_faint, "findings-role-coincident-means"),
    };
    let galley = fitted(ui, text, super::parts::small(), colour, (120.0, 1));
    let size = galley.size() + vec2(10.0, 3.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
    let line = Stroke::new(1.0, colour.gamma_multiply(0.7));
    ui.painter()
        .rect_stroke(rect, 3.0, line, egui::StrokeKind::Inside);
    ui.painter()
        .galley(rect.min + vec2(5.0, 1.5), galley, colour);
    response.on_hover_text(frame.words.text(means));
}

fn next_checks(ui: &mut Ui, frame: &mut Frame<'_>, hypothesis: &Hypothesis, said: &ToldHypothesis) {
    if hypothesis.next_checks.is_empty() {
        return;
    }
    let title = frame.words.text("findings-checks");
    heading(ui, frame, title, None);
    for (at, (check, text)) in hypothesis
        .next_checks
        .iter()
        .zip(&said.next_checks)
        .enumerate()
    {
        let numbered = format!("{}. {text}", at + 1);
        let mut line = Line::new(&numbered);
        let original = format!("{}. {}", at + 1, check.text);
        line.original = Some(&original);
        line.link(ui, frame, false);
        if let Some(query) = &check.query {
            query_ui(ui, frame, query);
        }
    }
}

/// A query or command, to be pasted.
fn query_ui(ui: &mut Ui, frame: &mut Frame<'_>, query: &str) {
    let tokens = frame.tokens;
    let look = egui::Frame::new()
        .fill(tokens.ground)
        .stroke(Stroke::new(1.0, tokens.line))
        .corner_radius(4.0)
        .inner_margin(egui::Margin::symmetric(8, 4))
        .outer_margin(egui::Margin {
            left: 18,
            right: 2,
            top: 1,
            bottom: 4,
        });
    look.show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let room = ui.available_width() - theme::ROW - GAP;
            let galley = fitted(ui, query, digits(), tokens.text, (room, 12));
            let (rect, response) =
                ui.allocate_exact_size(vec2(room, galley.size().y.max(18.0)), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, query));
            let at = egui::pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
            ui.painter().galley(at, galley, tokens.text);
            let name = frame.words.text("findings-copy");
            let response = icons::button(ui, Icon::Copy, name);
            if response.gained_focus() {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                frame.ask(Request::Copy(query.to_owned()));
                frame.ask(Request::Tell(
                    frame.words.text("findings-copied").to_owned(),
                ));
            }
        });
    });
}

fn explains(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    (report, told): (&Report, &Told),
    hypothesis: &Hypothesis,
) {
    let n = hypothesis.explains.len();
    let title = frame.words.text("findings-explains");
    heading(ui, frame, title, Some(n));
    let mut all: Vec<usize> = hypothesis
        .explains
        .iter()
        .filter_map(|id| told.place(id))
        .collect();
    all.sort_unstable();
    for ix in all.iter().take(EXPLAINED) {
        let (Some(finding), Some(title)) = (report.findings.get(*ix), told.findings.get(*ix))
        else {
            continue;
        };
        let time = clock(frame, finding.start);
        let mut line = Line::new(title);
        line.original = Some(&finding.title);
        line.tag = &time;
        if line.link(ui, frame, true).clicked() {
            frame.ask(Request::Select(Selection::Finding(finding.id.clone())));
        }
    }
    if n > EXPLAINED {
        let text = frame
            .words
            .with("findings-explains-more", &[("n", (n - EXPLAINED).into())]);
        dim_line(ui, frame, &text);
    }
}

/// Whom it concerns.
pub(super) fn entities(ui: &mut Ui, frame: &Frame<'_>, ids: &[String]) {
    if ids.is_empty() {
        return;
    }
    heading(ui, frame, frame.words.text("findings-entities"), None);
    for id in ids.iter().take(EXPLAINED) {
        let kind = report_words::entity_type(frame.words, id);
        let mut line = Line::new(report_words::name_of(id));
        line.tag = &kind;
        line.link(ui, frame, false);
    }
    if ids.len() > EXPLAINED {
        let text = frame.words.with(
            "findings-explains-more",
            &[("n", (ids.len() - EXPLAINED).into())],
        );
        dim_line(ui, frame, &text);
    }
}
