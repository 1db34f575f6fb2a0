//! The list itself: rows of causes and findings, only those that can be seen.

use egui::{
    CursorIcon, EventFilter, Id, Key, Modifiers, Rect, Role, ScrollArea, Sense, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::model::report::Report;
use crate::session::notes::Verdict;
use crate::session::view::Selection;
use crate::ui::commands::CommandId;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::findings::listing::{Group, Listing, Row};
use crate::ui::panels::findings::parts::{
    backing, body, briefed, clock, digits, exact, fitted, small, struck, whole,
};
use crate::ui::report_words::{self, Told};
use crate::ui::request::Request;
use crate::ui::theme::{GAP, PAD};

/// Width of the column of times and kinds.
const SIDE: f32 = 84.0;

/// How many rows the page keys go.
const PAGE: isize = 10;

/// What the list remembers.
#[derive(Debug, Default)]
pub(super) struct List {
    /// What it last scrolled to.
    scrolled_to: Selection,
}

/// What the list is drawn from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Content<'a> {
    pub(super) report: &'a Report,
    pub(super) told: &'a Told,
    pub(super) listing: &'a Listing,
    pub(super) shows_undecided: bool,
}

impl List {
    /// Draws it. Whether what could not be decided is to be opened or closed.
    pub(super) fn ui(&mut self, ui: &mut Ui, frame: &mut Frame<'_>, content: Content<'_>) -> bool {
        let id = ui.scope_id().with("causes-and-findings");
        let mut toggles = false;
        let listing = content.listing;
        let area = ScrollArea::vertical()
            .id_salt("findings-list")
            .auto_shrink(false);
        let shown = area.show_viewport(ui, |ui, viewport| {
            ui.set_height(listing.height() + GAP);
            let origin = ui.max_rect().min;
            let width = ui.available_width();
            let rect_of = |ix: usize| {
                let top = listing.tops.get(ix).copied().unwrap_or(0.0);
                let height = listing.rows.get(ix).map_or(0.0, |r| r.height());
                Rect::from_min_size(origin + vec2(0.0, top), vec2(width, height))
            };
            if self.scrolled_to != frame.view.selection {
                if let Some(place) = listing.place(&frame.view.selection) {
                    ui.scroll_to_rect(rect_of(place), None);
                    self.scrolled_to.clone_from(&frame.view.selection);
                } else if frame.view.selection == Selection::Nothing {
                    self.scrolled_to = Selection::Nothing;
                }
            }
            for ix in listing.between(viewport.min.y, viewport.max.y) {
                let (Some(row), Some(pick)) = (listing.rows.get(ix), listing.picks.get(ix)) else {
                    continue;
                };
                let at = Place {
                    rect: rect_of(ix),
                    id: id.with(ix),
                    pick,
                };
                if show_row(ui, frame, content, *row, at) {
                    ui.memory_mut(|m| m.request_focus(id));
                    if *pick == Selection::Nothing {
                        toggles = true;
                    } else {
                        // A click says itself where the row is.
                        self.scrolled_to.clone_from(pick);
                        frame.ask(Request::Select(pick.clone()));
                    }
                }
            }
        });
        keys(ui, frame, listing, (id, shown.inner_rect));
        toggles
    }
}

/// The list takes the focus as a whole: thousands of rows are no stops for Tab.
fn keys(ui: &Ui, frame: &mut Frame<'_>, listing: &Listing, (id, rect): (Id, Rect)) {
    let response = ui.interact(rect, id, Sense::focusable_noninteractive());
    let name = frame.words.text("findings-list");
    response.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, name));
    if !response.has_focus() {
        return;
    }
    let ring = Stroke::new(1.5, frame.tokens.accent);
    ui.painter()
        .rect_stroke(rect.shrink(1.0), 2.0, ring, egui::StrokeKind::Inside);
    ui.memory_mut(|m| {
        let filter = EventFilter {
            vertical_arrows: true,
            ..Default::default()
        };
        m.set_focus_lock_filter(id, filter);
    });
    let pressed = |key: Key| ui.input_mut(|i| i.consume_key(Modifiers::NONE, key));
    // The other keys of the list are commands and work wherever the focus is.
    for (key, by) in [
        (Key::ArrowDown, 1),
        (Key::ArrowUp, -1),
        (Key::PageDown, PAGE),
        (Key::PageUp, -PAGE),
    ] {
        if pressed(key)
            && let Some(next) = listing.step(&frame.view.selection, by)
        {
            frame.ask(Request::Select(next));
        }
    }
    if pressed(Key::Enter) {
        frame.ask(Request::Command(CommandId::FollowFirst));
    }
}

/// Where a row stands, and what it picks.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    rect: Rect,
    id: Id,
    pick: &'a Selection,
}

/// Draws a row; whether it was clicked.
fn show_row(ui: &Ui, frame: &Frame<'_>, content: Content<'_>, row: Row, at: Place<'_>) -> bool {
    match row {
        Row::Group(group, n) => {
            heading(ui, frame, content, group, (n, at.rect));
            false
        }
        Row::Hypothesis(ix) => hypothesis(ui, frame, content, ix, at),
        Row::Finding(ix) => finding(ui, frame, content, ix, at),
        Row::UndecidedHead(n) => undecided_head(ui, frame, content, n, at),
        Row::Undecided(ix) => {
            undecided(ui, frame, content, ix, at);
            false
        }
    }
}

fn heading(
    ui: &Ui,
    frame: &Frame<'_>,
    content: Content<'_>,
    group: Group,
    (n, rect): (usize, Rect),
) {
    let words = frame.words;
    let text = match group {
        Group::Causes => words.text("findings-group-causes").to_owned(),
        Group::Pinned => words.text("findings-group-pinned").to_owned(),
        Group::Unexplained => words.text("findings-group-unexplained").to_owned(),
        Group::Changes => words.text("findings-group-changes").to_owned(),
        Group::Dismissed => words.text("findings-group-dismissed").to_owned(),
        Group::Explained(ix) => {
            let title = content
                .told
                .hypotheses
                .get(ix)
                .map_or("", |t| t.title.as_str());
            words.with("findings-group-explained", &[("title", title.into())])
        }
    };
    let tokens = frame.tokens;
    let width = rect.width() - 2.0 * PAD - 30.0;
    let lay = |text: &str| fitted(ui, text, small(), tokens.text_faint, (width, 1));
    let (galley, is_cut) = briefed(&text, lay);
    let count = fitted(ui, &n.to_string(), digits(), tokens.text_faint, (40.0, 1));
    let y = rect.bottom() - 4.0;
    let painter = ui.painter();
    let response = ui.interact(
        rect,
        ui.scope_id().with(("group", text.as_str())),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{text} {n}")));
    whole(response, frame, &text, None, is_cut);
    let at = pos2(rect.right() - PAD - count.size().x, y - count.size().y);
    painter.galley(at, count, tokens.text_faint);
    let at = pos2(rect.left() + PAD, y - galley.size().y);
    painter.galley(at, galley, tokens.text_faint);
}

fn hypothesis(ui: &Ui, frame: &Frame<'_>, content: Content<'_>, ix: usize, at: Place<'_>) -> bool {
    let (Some(hypothesis), Some(told)) = (
        content.report.hypotheses.get(ix),
        content.told.hypotheses.get(ix),
    ) else {
        return false;
    };
    let (tokens, words) = (frame.tokens, frame.words);
    let verdict = frame.notes.verdicts.get(&hypothesis.id);
    let is_away =
        verdict == Some(&Verdict::Refuted) || frame.notes.dismissed.contains_key(&hypothesis.id);
    let state = match verdict {
        Some(Verdict::Confirmed) => words.text("findings-confirmed"),
        Some(Verdict::Refuted) => words.text("findings-refuted"),
        None if hypothesis.score >= crate::correlate::ENOUGH => words.text("findings-score-likely"),
        None => words.text("findings-score-possible"),
    };
    let score = format!("{:.2}", hypothesis.score);
    let response = ui.interact(at.rect, at.id, Sense::CLICK);
    let is_picked = *at.pick == frame.view.selection;
    response.widget_info(|| {
        let label = words.with(
            "findings-row-cause",
            &[
                ("title", told.title.as_str().into()),
                ("score", score.as_str().into()),
                ("state", state.into()),
            ],
        );
        WidgetInfo::selected(Role::ListBoxOption, true, is_picked, label)
    });
    let rect = at.rect.shrink2(vec2(4.0, 1.0));
    backing(ui, frame, rect, &response, is_picked);
    let colour = if is_away {
        tokens.text_faint
    } else {
        tokens.text
    };
    let left = at.rect.left() + PAD + 20.0;
    let right = at.rect.right() - PAD;
    let (title, is_cut) = briefed(&told.title, |text| {
        lay(ui, text, is_away, colour, right - left)
    });
    let painter = ui.painter();
    painter.galley(pos2(left, rect.top() + 4.0), title, colour);
    mark(
        ui,
        frame,
        hypothesis.rank,
        (&hypothesis.id, verdict),
        pos2(left - 12.0, rect.top() + 12.0),
    );
    // The score: a quiet bar with its number.
    let y = rect.bottom() - 10.0;
    let track = Rect::from_min_size(pos2(left, y - 2.0), vec2(56.0, 4.0));
    painter.rect_filled(track, 2.0, tokens.line);
    let filled = Rect::from_min_size(
        track.min,
        vec2(56.0 * hypothesis.score.clamp(0.0, 1.0) as f32, 4.0),
    );
    painter.rect_filled(
        filled,
        2.0,
        if is_away {
            tokens.text_faint
        } else {
            tokens.accent
        },
    );
    let share = frame.words.units().share(hypothesis.coverage);
    let covers = words.with("findings-coverage", &[("share", share.as_str().into())]);
    let time = fitted(
        ui,
        &clock(frame, hypothesis.onset),
        digits(),
        tokens.text_dim,
        (SIDE, 1),
    );
    let number = fitted(ui, &score, digits(), tokens.text_dim, (40.0, 1));
    let text = format!("{state} · {covers}");
    let room = right - track.right() - time.size().x - number.size().x - 3.0 * GAP;
    let said = fitted(ui, &text, small(), tokens.text_dim, (room, 1));
    let mut x = track.right() + GAP;
    for galley in [number, said] {
        painter.galley(
            pos2(x, y - galley.size().y / 2.0),
            galley.clone(),
            tokens.text_dim,
        );
        x += galley.size().x + GAP;
    }
    painter.galley(
        pos2(right - time.size().x, y - time.size().y / 2.0),
        time,
        tokens.text_dim,
    );
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    whole(
        response,
        frame,
        &told.title,
        Some(&hypothesis.title),
        is_cut,
    )
    .clicked()
}

/// A title in two lines, struck through when a person put it aside.
fn lay(
    ui: &Ui,
    text: &str,
    is_away: bool,
    colour: egui::Color32,
    room: f32,
) -> std::sync::Arc<egui::Galley> {
    if is_away {
        struck(ui, text, colour, (room, 2))
    } else {
        fitted(ui, text, body(), colour, (room, 2))
    }
}

/// What a person said of it; else its rank.
fn mark(
    ui: &Ui,
    frame: &Frame<'_>,
    rank: u32,
    (id, verdict): (&str, Option<&Verdict>),
    centre: egui::Pos2,
) {
    let tokens = frame.tokens;
    let icon = match verdict {
        Some(Verdict::Confirmed) => Some((Icon::Check, tokens.good)),
        Some(Verdict::Refuted) => Some((Icon::Close, tokens.text_faint)),
        None if frame.notes.pinned.contains(id) => Some((Icon::Pin, tokens.accent)),
        None => None,
    };
    let place = Rect::from_center_size(centre, egui::Vec2::splat(14.0));
    if let Some((icon, colour)) = icon {
        icons::paint(ui.painter(), icon, place, Stroke::new(1.6, colour));
    } else {
        let text = fitted(
            ui,
            &rank.to_string(),
            digits(),
            tokens.text_faint,
            (18.0, 1),
        );
        let at = centre - text.size() / 2.0;
        ui.painter().galley(at, text, tokens.text_faint);
    }
}

fn finding(ui: &Ui, frame: &Frame<'_>, content: Content<'_>, ix: usize, at: Place<'_>) -> bool {
    let (Some(finding), Some(title)) = (
        content.report.findings.get(ix),
        content.told.findings.get(ix),
    ) else {
        return false;
    };
    let tokens = frame.tokens;
    let kind = report_words::kind(frame.words, finding.kind);
    let severity = report_words::severity(frame.words, finding.severity);
    let time = clock(frame, finding.start);
    let response = ui.interact(at.rect, at.id, Sense::CLICK);
    let is_picked = *at.pick == frame.view.selection;
    response.widget_info(|| {
        let label = frame.words.with(
            "findings-row-finding",
            &[
                ("severity", severity.as_str().into()),
                ("kind", kind.as_str().into()),
                ("title", title.as_str().into()),
                ("t", time.as_str().into()),
            ],
        );
        WidgetInfo::selected(Role::ListBoxOption, true, is_picked, label)
    });
    let rect = at.rect.shrink2(vec2(4.0, 1.0));
    backing(ui, frame, rect, &response, is_picked);
    let painter = ui.painter();
    // Length as well as colour says how bad it is.
    let track = Rect::from_min_size(
        pos2(at.rect.left() + PAD, rect.top() + 5.0),
        vec2(3.0, rect.height() - 10.0),
    );
    painter.rect_filled(track, 1.5, tokens.line);
    let part = (f32::from(finding.severity as u8) + 1.0) / 4.0;
    let filled = Rect::from_min_max(
        pos2(track.left(), track.bottom() - track.height() * part),
        track.max,
    );
    painter.rect_filled(filled, 1.5, tokens.severity(finding.severity));
    let is_away = frame.notes.dismissed.contains_key(&finding.id);
    let is_lit = frame.highlight.findings.contains(&finding.id);
    let colour = match (is_away, is_lit || frame.highlight.findings.is_empty()) {
        (true, _) => tokens.text_faint,
        (false, true) => tokens.text,
        (false, false) => tokens.text_dim,
    };
    let left = track.right() + 9.0;
    let right = at.rect.right() - PAD;
    let room = right - SIDE - GAP - left;
    let (galley, _) = briefed(title, |text| lay(ui, text, is_away, colour, room));
    painter.galley(
        pos2(left, rect.center().y - galley.size().y / 2.0),
        galley,
        colour,
    );
    let time = fitted(ui, &time, digits(), tokens.text_dim, (SIDE, 1));
    let kind_text = fitted(ui, &kind, small(), tokens.text_faint, (SIDE, 1));
    if frame.notes.pinned.contains(&finding.id) {
        let place = Rect::from_center_size(
            pos2(right - time.size().x - 10.0, rect.top() + 11.0),
            egui::Vec2::splat(11.0),
        );
        icons::paint(painter, Icon::Pin, place, Stroke::new(1.2, tokens.accent));
    }
    painter.galley(
        pos2(right - time.size().x, rect.top() + 4.0),
        time,
        tokens.text_dim,
    );
    painter.galley(
        pos2(
            right - kind_text.size().x,
            rect.bottom() - 4.0 - kind_text.size().y,
        ),
        kind_text,
        tokens.text_faint,
    );
    let response = response.on_hover_cursor(CursorIcon::PointingHand);
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        ui.set_max_width(420.0);
        ui.label(title);
        if *title != finding.title {
            ui.label(
                egui::RichText::new(&finding.title)
                    .small()
                    .color(tokens.text_dim),
            );
        }
        let line = format!("{severity} · {kind} · {}", exact(frame, finding.start));
        ui.label(egui::RichText::new(line).small().color(tokens.text_faint));
    });
    clicked
}

fn undecided_head(
    ui: &Ui,
    frame: &Frame<'_>,
    content: Content<'_>,
    n: usize,
    at: Place<'_>,
) -> bool {
    let tokens = frame.tokens;
    let text = frame
        .words
        .with("findings-undecided-count", &[("n", n.into())]);
    let response = ui.interact(at.rect, at.id, Sense::click());
    response
        .widget_info(|| WidgetInfo::selected(Role::Button, true, content.shows_undecided, &text));
    backing(ui, frame, at.rect.shrink2(vec2(4.0, 1.0)), &response, false);
    let icon = if content.shows_undecided {
        Icon::Down
    } else {
        Icon::Right
    };
    let place = Rect::from_center_size(
        pos2(at.rect.left() + PAD + 5.0, at.rect.center().y),
        egui::Vec2::splat(11.0),
    );
    icons::paint(
        ui.painter(),
        icon,
        place,
        Stroke::new(1.2, tokens.text_faint),
    );
    let galley = fitted(
        ui,
        &text,
        small(),
        tokens.text_dim,
        (at.rect.width() - 40.0, 1),
    );
    let from = pos2(
        place.right() + GAP,
        at.rect.center().y - galley.size().y / 2.0,
    );
    ui.painter().galley(from, galley, tokens.text_dim);
    response
        .on_hover_cursor(CursorIcon::PointingHand)
        .on_hover_text(frame.words.text("findings-undecided"))
        .clicked()
}

fn undecided(ui: &Ui, frame: &Frame<'_>, content: Content<'_>, ix: usize, at: Place<'_>) {
    let (Some(entry), Some(reason)) = (
        content.report.not_enough.get(ix),
        content.told.not_enough.get(ix),
    ) else {
        return;
    };
    let tokens = frame.tokens;
    let what = report_words::detector(frame.words, &entry.detector);
    let response = ui.interact(at.rect, at.id, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{what}: {reason}")));
    let left = at.rect.left() + PAD + 16.0;
    let room = at.rect.right() - PAD - left;
    let head = fitted(ui, &what, small(), tokens.text, (room, 1));
    let why = fitted(ui, reason, small(), tokens.text_dim, (room, 2));
    let painter = ui.painter();
    let top = at.rect.top() + 2.0;
    let below = top + head.size().y + 1.0;
    painter.galley(pos2(left, top), head, tokens.text);
    painter.galley(pos2(left, below), why.clone(), tokens.text_dim);
    whole(response, frame, reason, Some(&entry.reason), why.elided);
}
