//! One stack: what it waits for, who may hold that, and all its frames, the leaf first.

use egui::{Align, RichText, Ui, pos2, vec2};

use crate::base::text::grouped;
use crate::detect::lock_contention::holder::{By, LikelyHolder};
use crate::formats::go_dump::wait;
use crate::model::profile::{Profile, StackGroup};
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::stacks::groups::Row;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::dump::format;
use crate::ui::panels::dump::groups::{Sheet, address};
use crate::ui::panels::dump::paint::{line, mono_small, small, tag};
use crate::ui::request::Request;
use crate::ui::theme::{BODY, GAP};

/// Height of a frame: two lines.
const HEIGHT: f32 = 34.0;
/// Locks that are listed before one asks for all: with little height only the first, so that the stack is seen.
const fn first_locks(height: f32) -> usize {
    if height < 300.0 { 1 } else { 3 }
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub(super) struct Detail {
    seen: Option<(usize, usize)>,
    /// Whether all locks of the row are listed.
    has_all_locks: bool,
}

impl Detail {
    /// Draws the stack.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        sheet: &Sheet,
        picked: Option<(usize, usize)>,
    ) {
        let Some((dump, ix)) = picked else {
            return;
        };
        let Some(profile) = incident.snapshot().profiles.get(dump) else {
            return;
        };
        let Some(group) = profile.groups.get(ix) else {
            return;
        };
        let row = (dump == sheet.open)
            .then(|| sheet.groups.row_of(ix))
            .flatten()
            .and_then(|r| sheet.groups.rows.get(r));
        let is_new = self.seen != picked;
        self.seen = picked;
        self.has_all_locks &= !is_new;
        let most = if self.has_all_locks {
            usize::MAX
        } else {
            first_locks(ui.available_height())
        };
        title(ui, frame, profile, group, row);
        let mut area = egui::ScrollArea::vertical().auto_shrink(false);
        if is_new {
            area = area.vertical_scroll_offset(0.0);
        }
        area.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            if dump != sheet.open {
                let time = format::taken(frame.words, frame.zone, profile);
                let text = frame.words.with("dump-gone", &[("time", (&time).into())]);
                ui.label(RichText::new(text).color(frame.tokens.warning));
            }
            facts(ui, frame, group);
            self.has_all_locks |= locks(ui, frame, profile, sheet, (group, row), most);
            ui.add_space(GAP);
            frames(ui, frame, sheet, group);
        });
    }
}

fn title(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    profile: &Profile,
    group: &StackGroup,
    row: Option<&Row>,
) {
    let w = frame.words;
    ui.horizontal(|ui| {
        if icons::button(ui, Icon::Copy, w.text("dump-copy-stack")).clicked() {
            frame.ask(Request::Copy(format::stack(group)));
            frame.ask(Request::Tell(w.text("dump-copied").to_owned()));
        }
        let state = format::state(w, &group.state, group.class);
        let count = format::value(frame.words, group.value, &profile.unit);
        let id = group
            .first_id
            .map(|id| w.with("dump-first", &[("id", (&id.to_string()).into())]));
        let mut text = w.with(
            "dump-stack-title",
            &[("n", (&count).into()), ("state", (&state).into())],
        );
        if let Some(row) = row.filter(|r| r.members.len() > 1) {
            let n = grouped(row.members.len() as u64);
            text.push_str(&w.with("dump-stack-of", &[("n", (&n).into())]));
        }
        text.extend(id);
        ui.add(egui::Label::new(RichText::new(&text).size(BODY)).truncate())
            .on_hover_text(&text);
    });
}

fn fact(ui: &mut Ui, frame: &Frame<'_>, name: &str, value: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(name).small().color(frame.tokens.text_faint));
        let text = RichText::new(value).color(frame.tokens.text);
        ui.add(egui::Label::new(text).truncate());
    });
}

fn facts(ui: &mut Ui, frame: &Frame<'_>, group: &StackGroup) {
    let w = frame.words;
    if let Some(wait) = group.wait_s {
        let text = format!("≥ {}", frame.words.units().secs(wait));
        fact(ui, frame, w.text("dump-fact-wait"), &text);
    }
    if !group.labels.is_empty() {
        fact(ui, frame, w.text("dump-fact-labels"), &group.labels);
    }
}

/// The locks that the row waits for, the most wanted first, each with its likely holder. Whether all of them are asked for.
fn locks(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    profile: &Profile,
    sheet: &Sheet,
    (group, row): (&StackGroup, Option<&Row>),
    most: usize,
) -> bool {
    let own = group.lock.map(|lock| (lock, group.value));
    let mut all: Vec<(u64, f64)> = row.map(|r| r.locks.clone()).unwrap_or_default();
    if all.is_empty() {
        all.extend(own);
    }
    for (lock, waiting) in all.iter().take(most) {
        let n = format::value(frame.words, *waiting, &profile.unit);
        let text = frame.words.with(
            "dump-lock-waiting",
            &[("lock", (&address(*lock)).into()), ("n", (&n).into())],
        );
        ui.add(egui::Label::new(RichText::new(text).monospace()).truncate());
        if let Some(holder) = sheet.holders.iter().find(|h| h.lock == *lock) {
            held(ui, frame, profile, sheet, holder);
        } else {
            let text = frame.words.text("dump-holder-unknown");
            ui.label(RichText::new(text).small().color(frame.tokens.text_faint));
        }
    }
    let more = all.len().saturating_sub(most);
    if more == 0 {
        return false;
    }
    let n = grouped(more as u64);
    let text = frame.words.with(
        "dump-more-locks",
        &[("n", (&n).into()), ("count", more.into())],
    );
    ui.link(RichText::new(text).small()).clicked()
}

fn held(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    profile: &Profile,
    sheet: &Sheet,
    holder: &LikelyHolder,
) {
    let w = frame.words;
    let Some(group) = profile.groups.get(holder.group) else {
        return;
    };
    let site = wait::library_frame(&group.frames).map_or("", |f| f.function.as_ref());
    let id = group
        .first_id
        .map_or_else(String::new, |id| format!("{id} "));
    let text = w.with(
        "dump-holder",
        &[
            ("id", (&id).into()),
            ("site", format::short(site).into()),
            (
                "state",
                (&format::state(w, &group.state, group.class)).into(),
            ),
        ],
    );
    let why = match holder.by {
        By::Object => w.text("dump-holder-object"),
        By::Type => w.text("dump-holder-type"),
        By::Nearness => w.text("dump-holder-near"),
    };
    if link(ui, frame, &text, why) {
        frame.ask(Request::Follow(Target::Stack {
            profile: sheet.open,
            group: Some(holder.group),
        }));
    }
    if holder.is_cycle {
        ui.label(RichText::new(w.text("dump-holder-cycle")).color(frame.tokens.error));
    } else if holder.chain.len() > 1 {
        let n = grouped(holder.chain.len() as u64);
        let text = w.with("dump-holder-chain", &[("n", (&n).into())]);
        ui.label(RichText::new(text).small().color(frame.tokens.text_dim));
    }
}

/// A link on one line; whether it was followed.
fn link(ui: &mut Ui, frame: &Frame<'_>, text: &str, why: &str) -> bool {
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), 18.0), egui::Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, text));
    let t = frame.tokens;
    line(
        ui.painter(),
        rect,
        Align::Min,
        &[(text, super::paint::body(), t.accent)],
    );
    if response.hovered() || response.has_focus() {
        let stroke = egui::Stroke::new(1.0, t.accent);
        ui.painter()
            .hline(rect.x_range(), rect.bottom() - 1.0, stroke);
    }
    let is_followed = response.clicked();
    let whole = format!("{text}\n{why}");
    response
        .on_hover_cursor(egui::CursorIcon::PointingHand)
        .on_hover_text(whole);
    is_followed
}

/// All frames, the leaf first, with the one that waits and the first of the program's own code marked.
fn frames(ui: &mut Ui, frame: &Frame<'_>, sheet: &Sheet, group: &StackGroup) {
    let w = frame.words;
    let t = frame.tokens;
    if group.frames.is_empty() {
        ui.label(RichText::new(w.text("dump-no-frames")).color(t.text_dim));
        return;
    }
    let site = wait::library_frame(&group.frames);
    let user = wait::user_frame(&group.frames, sheet.groups.own.as_deref());
    let is = |marked: Option<&crate::model::profile::Frame>, this| {
        marked.is_some_and(|m| std::ptr::eq(m, this))
    };
    let clip = ui.clip_rect();
    for this in &group.frames {
        let size = vec2(ui.available_width(), HEIGHT - 2.0);
        let (rect, response) =
            ui.allocate_exact_size(size, egui::Sense::focusable_noninteractive());
        let place = format::place(&this.file, this.line);
        let marks: Vec<(&str, egui::Color32)> = [
            (is(site, this), w.text("dump-mark-site"), t.highlight),
            (is(user, this), w.text("dump-mark-user"), t.accent),
        ]
        .into_iter()
        .filter_map(|(is_it, word, colour)| is_it.then_some((word, colour)))
        .collect();
        response.widget_info(|| {
            let marks: Vec<&str> = marks.iter().map(|m| m.0).collect();
            let text = format!("{} {place} {}", this.function, marks.join(", "));
            egui::WidgetInfo::labeled(egui::Role::ListItem, true, text.trim())
        });
        if !clip.intersects(rect) {
            continue;
        }
        let p = ui.painter();
        if response.has_focus() {
            super::paint::focus(p, rect, t);
        }
        let top = rect.with_max_y(rect.top() + 18.0);
        let low = rect.with_min_y(rect.top() + 16.0);
        let mut right = rect.right();
        for (word, colour) in &marks {
            let wide = word.chars().count() as f32 * 9.0 + 12.0;
            right -= wide;
            tag(p, pos2(right, low.center().y), word, *colour);
        }
        let (package, own) = format::parts(&this.function);
        let package = package.rsplit_once('/').map_or(package, |(_, last)| last);
        let mono = super::paint::mono();
        line(
            p,
            top,
            Align::Min,
            &[(package, mono.clone(), t.text_faint), (own, mono, t.text)],
        );
        let room = low.with_max_x(right - 4.0);
        line(p, room, Align::Min, &[(&place, mono_small(), t.text_faint)]);
        let whole = format!("{}\n{}:{}", this.function, this.file, this.line);
        response.on_hover_text(whole);
    }
    if !group.created_by.is_empty() {
        let (rect, _) =
            ui.allocate_exact_size(vec2(ui.available_width(), 20.0), egui::Sense::hover());
        let text = w.with(
            "dump-created-by",
            &[("by", group.created_by.as_ref().into())],
        );
        line(
            ui.painter(),
            rect,
            Align::Min,
            &[(&text, small(), t.text_dim)],
        );
    }
}
