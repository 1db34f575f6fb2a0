//! The stacks of a dump, put together: how many, what they wait for, where, and what became of them between dumps.

use std::sync::Arc;

use egui::{Align, Color32, Rect, Shape, Stroke, Ui, pos2, vec2};

use crate::base::text::grouped;
use crate::detect::lock_contention::holder::{LikelyHolder, of_locks};
use crate::engine::memo::{Answer, Memo};
use crate::session::incident::Incident;
use crate::store::Snapshot;
use crate::store::stacks::groups::{Grouping, Groups, Row, groups};
use crate::ui::frame::Frame;
use crate::ui::panels::dump::paint::{body, line, mono, mono_small, row, small};
use crate::ui::panels::dump::{Open, empty, format};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::GAP;

/// Height of a row: two lines.
const HEIGHT: f32 = 42.0;
/// Width of the counts, with the shares below them.
const COUNT: f32 = 66.0;
/// Width of the bar of a whole, at most.
const BAR: f32 = 300.0;
/// Width of the changes.
const CHANGE: f32 = 66.0;

/// The rows of a dump, with who holds what.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    of: Option<Open>,
    pub(super) open: usize,
    pub(super) grouping: Grouping,
    pub(super) groups: Groups,
    pub(super) holders: Vec<LikelyHolder>,
}

type Key = (Option<Open>, Grouping);

/// Which rows hold a text.
#[derive(Debug)]
struct Shown {
    sheet: Arc<Sheet>,
    rows: Vec<usize>,
}

/// Caches, and what is picked without being in the open dump.
#[derive(Debug, Default)]
pub(super) struct GroupsView {
    sheets: Memo<Key, Arc<Sheet>>,
    shown: Memo<(Key, String), Shown>,
    /// A stack of another dump: it is gone in the open one.
    gone: Option<(usize, usize)>,
    seen: Option<(usize, Option<usize>, Grouping)>,
}

fn sheet(
    snapshot: &Snapshot,
    open: Open,
    grouping: Grouping,
    is_cancelled: &dyn Fn() -> bool,
) -> Sheet {
    Sheet {
        of: Some(open),
        open: open.a,
        grouping,
        groups: groups(snapshot, open.a, open.b, grouping, is_cancelled),
        holders: snapshot
            .profiles
            .get(open.a)
            .map(of_locks)
            .unwrap_or_default(),
    }
}

/// Whether a row holds a text, already in lower case: in a frame of its largest stack, its state, its lock or its creator.
fn holds(snapshot: &Snapshot, row: &Row, text: &str) -> bool {
    let has = |s: &str| s.to_lowercase().contains(text);
    let (dump, group) = row.shown;
    let stack = snapshot
        .profiles
        .get(dump)
        .and_then(|p| p.groups.get(group));
    has(&row.state)
        || has(row.class.word())
        || has(&row.created_by)
        || row.locks.iter().any(|(lock, _)| has(&address(*lock)))
        || stack.is_some_and(|s| {
            s.frames.iter().any(|f| has(&f.function) || has(&f.file)) || has(&s.labels)
        })
}

/// A lock as dumps print it.
pub(super) fn address(lock: u64) -> String {
    format!("0x{lock:x}")
}

impl GroupsView {
    /// The rows, when they are there; else says so.
    pub(super) fn want(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        incident: &Incident,
        open: Open,
        grouping: Grouping,
        filter: &str,
    ) -> Option<Arc<Sheet>> {
        let document = Arc::clone(&incident.document);
        let key = (Some(open), grouping);
        let answer = self.sheets.want(frame.pool, &key, move |cancel| {
            let made = sheet(&document.snapshot, open, grouping, &|| {
                cancel.is_cancelled()
            });
            Ok(Arc::new(made))
        });
        let sheet = match answer {
            Answer::Ready(sheet) | Answer::Stale(sheet) => Arc::clone(sheet),
            Answer::Pending => {
                empty::waiting(ui, frame, None);
                return None;
            }
            Answer::Failed(why) => {
                empty::waiting(ui, frame, Some(why));
                return None;
            }
        };
        let document = Arc::clone(&incident.document);
        let text = filter.trim().to_lowercase();
        let wanted = Arc::clone(&sheet);
        // Of the sheet that is there, which may still be an earlier one.
        let key = ((sheet.of, sheet.grouping), text.clone());
        let shown = self.shown.want(frame.pool, &key, move |_| {
            let rows = (0..)
                .zip(&wanted.groups.rows)
                .filter(|(_, row)| text.is_empty() || holds(&document.snapshot, row, &text))
                .map(|(ix, _)| ix);
            Ok(Shown {
                rows: rows.collect(),
                sheet: Arc::clone(&wanted),
            })
        });
        // Rows and their filter come from one sheet, whatever is on its way.
        shown.value().map(|s| Arc::clone(&s.sheet))
    }

    /// The stack whose frames are shown: the picked one, or else that of the first row.
    pub(super) fn picked(&self, frame: &Frame<'_>, sheet: &Sheet) -> Option<(usize, usize)> {
        let first = || {
            let shown = self.shown.last()?;
            let row = sheet.groups.rows.get(*shown.rows.first()?)?;
            Some(row.shown)
        };
        let picked = frame.view.focus.stack.map(|s| (sheet.open, s));
        self.gone.or(picked).or_else(first)
    }

    /// Draws them.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        sheet: &Sheet,
    ) {
        let Some(shown) = self.shown.last() else {
            return;
        };
        header(ui, frame, sheet, shown.rows.len());
        if sheet.grouping == Grouping::Lock && !sheet.groups.has_locks {
            ui.label(
                egui::RichText::new(frame.words.text("dump-no-locks")).color(frame.tokens.text_dim),
            );
        }
        if shown.rows.is_empty() {
            ui.label(
                egui::RichText::new(frame.words.text("dump-no-match")).color(frame.tokens.text_dim),
            );
            return;
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let picked = frame.view.focus.stack.and_then(|s| sheet.groups.row_of(s));
        let mut area = egui::ScrollArea::vertical().auto_shrink(false);
        let now = Some((sheet.open, frame.view.focus.stack, sheet.grouping));
        if self.seen != now {
            if self.seen.map(|s| (s.0, s.1)) != now.map(|s| (s.0, s.1)) {
                self.gone = None;
            }
            self.seen = now;
            let at = picked.and_then(|p| shown.rows.iter().position(|r| *r == p));
            if let Some(at) = at {
                let top = at as f32 * HEIGHT - (ui.available_height() - HEIGHT) / 2.0;
                area = area.vertical_scroll_offset(top.max(0.0));
            }
        }
        let mut gone = None;
        area.show_rows(ui, HEIGHT, shown.rows.len(), |ui, range| {
            for ix in shown.rows.get(range).unwrap_or_default() {
                let Some(this) = sheet.groups.rows.get(*ix) else {
                    continue;
                };
                let is_picked = match self.gone {
                    Some(gone) => gone == this.shown,
                    None => picked == Some(*ix),
                };
                if one(ui, frame, incident, sheet, this, is_picked) {
                    match this.members.first() {
                        Some(group) => {
                            gone = Some(None);
                            frame.ask(Request::Focus(FocusEdit::Stack(Some(*group))));
                        }
                        None => gone = Some(Some(this.shown)),
                    }
                }
            }
        });
        if let Some(gone) = gone {
            self.gone = gone;
        }
    }
}

fn header(ui: &mut Ui, frame: &Frame<'_>, sheet: &Sheet, shown: usize) {
    let w = frame.words;
    let t = frame.tokens;
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), 18.0), egui::Sense::hover());
    let left = rect.left();
    let cell = |from: f32, to: f32| rect.with_min_x(left + from).with_max_x(left + to);
    let dim = |text: &str, at: Rect, align: Align| {
        line(ui.painter(), at, align, &[(text, small(), t.text_faint)]);
    };
    dim(w.text("dump-col-count"), cell(0.0, COUNT), Align::Max);
    let end = rect.width() - GAP;
    let all = sheet.groups.rows.len();
    let rows = if shown == all {
        w.with(
            "dump-groups",
            &[("n", (&grouped(all as u64)).into()), ("count", all.into())],
        )
    } else {
        let (n, all) = (grouped(shown as u64), grouped(all as u64));
        w.with(
            "dump-groups-of",
            &[("n", (&n).into()), ("all", (&all).into())],
        )
    };
    dim(
        &rows,
        cell(COUNT + 2.0 * GAP, end - CHANGE - 40.0),
        Align::Min,
    );
    let change = match (sheet.groups.other, sheet.groups.is_picked) {
        (None, _) => "",
        (Some(_), true) => w.text("dump-col-b-a"),
        (Some(_), false) => w.text("dump-col-previous"),
    };
    dim(change, cell(end - CHANGE - 40.0, end), Align::Max);
}

/// The name of a row, by what its groups have in common.
fn head<'a>(frame: &Frame<'_>, grouping: Grouping, row: &'a Row) -> (String, &'a str) {
    let w = frame.words;
    match grouping {
        Grouping::Stack | Grouping::User => (String::new(), row.user.as_ref()),
        Grouping::State => (format::state(w, &row.state, row.class), ""),
        Grouping::Lock => match row.lock {
            Some(lock) => (address(lock), ""),
            None => (w.text("dump-no-lock").to_owned(), ""),
        },
        Grouping::Creator if row.created_by.is_empty() => {
            (w.text("dump-no-creator").to_owned(), "")
        }
        Grouping::Creator => (String::new(), row.created_by.as_ref()),
    }
}

/// The second line of a row.
fn about(frame: &Frame<'_>, sheet: &Sheet, row: &Row) -> String {
    let w = frame.words;
    let mut parts: Vec<String> = Vec::new();
    if sheet.grouping != Grouping::State {
        let state = format::state(w, &row.state, row.class);
        parts.push(if row.is_mixed {
            w.with("dump-mostly", &[("state", (&state).into())])
        } else {
            state
        });
    }
    if row.members.len() > 1 && sheet.grouping != Grouping::Stack {
        let n = grouped(row.members.len() as u64);
        parts.push(w.with("dump-stacks", &[("n", (&n).into())]));
    }
    if let Some(wait) = row.wait_s {
        parts.push(w.with(
            "dump-waited",
            &[("time", (&frame.words.units().secs(wait)).into())],
        ));
    }
    match (sheet.grouping, row.locks.as_slice()) {
        (Grouping::Lock, _) | (_, []) => {}
        (_, [(lock, _)]) => parts.push(w.with("dump-lock", &[("lock", (&address(*lock)).into())])),
        (_, many) => {
            let n = grouped(many.len() as u64);
            parts.push(w.with("dump-locks", &[("n", (&n).into())]));
        }
    }
    let is_held = row
        .locks
        .iter()
        .any(|(lock, _)| sheet.holders.iter().any(|h| h.lock == *lock));
    if is_held {
        parts.push(w.text("dump-has-holder").to_owned());
    }
    let is_own = matches!(sheet.grouping, Grouping::Stack | Grouping::User);
    if !row.site.is_empty() && (row.site != row.user || !is_own) {
        parts.push(w.with("dump-in", &[("site", format::short(&row.site).into())]));
    }
    parts.join(" · ")
}

/// The counts of all dumps as one text.
fn course(frame: &Frame<'_>, incident: &Incident, sheet: &Sheet, row: &Row) -> String {
    let profiles = &incident.snapshot().profiles;
    let told: Vec<String> = sheet
        .groups
        .dumps
        .iter()
        .zip(&row.counts)
        .filter_map(|(dump, count)| {
            let profile = profiles.get(*dump)?;
            let time = format::taken(frame.words, frame.zone, profile);
            Some(format!(
                "{time}  {}",
                format::value(frame.words, *count, &profile.unit)
            ))
        })
        .collect();
    told.join("\n")
}

/// One row; whether it was picked.
fn one(
    ui: &mut Ui,
    frame: &Frame<'_>,
    incident: &Incident,
    sheet: &Sheet,
    this: &Row,
    is_picked: bool,
) -> bool {
    let t = frame.tokens;
    let groups = &sheet.groups;
    let unit = incident
        .snapshot()
        .profiles
        .get(sheet.open)
        .map_or("count", |p| p.unit.as_ref());
    let count = format::value(frame.words, groups.count(this), unit);
    let share = frame.words.units().share(groups.share(this));
    let (word, function) = head(frame, sheet.grouping, this);
    let second = about(frame, sheet, this);
    let change = groups
        .change(this)
        .map(|by| format::change(frame.words, by, unit));
    let mut name = format!(
        "{count} ({share}) {word}{}, {second}",
        format::short(function)
    );
    if let Some(change) = &change {
        name.push_str(", ");
        name.push_str(&frame.words.with("dump-change", &[("by", change.into())]));
    }
    let (rect, response) = row(ui, t, HEIGHT, &name, is_picked);
    let was_picked = response.clicked();
    if ui.is_rect_visible(rect) {
        let top = rect.with_max_y(rect.top() + 23.0).translate(vec2(0.0, 1.0));
        let low = rect
            .with_min_y(rect.top() + 20.0)
            .translate(vec2(0.0, -1.0));
        let x = rect.left();
        let cell = |line: Rect, from: f32, to: f32| line.with_min_x(x + from).with_max_x(x + to);
        let p = ui.painter();
        let numbers = if groups.count(this) == 0.0 {
            t.text_faint
        } else {
            t.text
        };
        line(
            p,
            cell(top, 0.0, COUNT),
            Align::Max,
            &[(&count, mono(), numbers)],
        );
        line(
            p,
            cell(low, 0.0, COUNT),
            Align::Max,
            &[(&share, mono_small(), t.text_dim)],
        );
        let end = rect.width() - GAP;
        let from = COUNT + 2.0 * GAP;
        bar(
            ui,
            t.others.gamma_multiply(0.75),
            cell(rect, GAP, end.min(BAR)),
            groups.share(this),
        );
        let mut to = end;
        if let Some(change) = &change {
            to = end - CHANGE - GAP;
            let colour = if change.starts_with('±') {
                t.text_faint
            } else {
                t.text
            };
            line(
                p,
                cell(top, to, end),
                Align::Max,
                &[(change, mono(), colour)],
            );
            spark(ui, frame, sheet, this, cell(low, to, end));
        }
        let (package, own) = format::parts(function);
        let package = package.rsplit_once('/').map_or(package, |(_, last)| last);
        let pieces = [
            (word.as_str(), body(), t.text),
            (package, body(), t.text_faint),
            (own, body(), t.text),
        ];
        line(p, cell(top, from, to), Align::Min, &pieces);
        line(
            p,
            cell(low, from, to),
            Align::Min,
            &[(&second, small(), t.text_dim)],
        );
    }
    response.on_hover_ui(|ui| {
        ui.set_max_width(520.0);
        ui.label(format!("{word}{function}"));
        ui.label(egui::RichText::new(&second).color(t.text_dim));
        if groups.dumps.len() > 1 {
            let text = course(frame, incident, sheet, this);
            ui.label(egui::RichText::new(text).monospace());
        }
    });
    was_picked
}

/// A share as a bar along the lower edge of a row.
fn bar(ui: &Ui, colour: Color32, row: Rect, share: f64) {
    let low = row.with_min_y(row.bottom() - 2.0);
    let full = low.with_max_x(low.left() + low.width() * share.clamp(0.0, 1.0) as f32);
    ui.painter().rect_filled(full, 1.0, colour);
}

/// The counts of all dumps as a small line; the open one and the one that it is compared with are marked.
fn spark(ui: &Ui, frame: &Frame<'_>, sheet: &Sheet, row: &Row, at: Rect) {
    let t = frame.tokens;
    let n = row.counts.len();
    let most = row.counts.iter().copied().fold(0.0, f64::max);
    if n < 2 || most <= 0.0 {
        return;
    }
    let at = at.shrink2(vec2(4.0, 4.0));
    let point = |ix: usize, count: f64| {
        let x = at.left() + at.width() * ix as f32 / (n - 1) as f32;
        pos2(x, at.bottom() - at.height() * (count / most) as f32)
    };
    let points: Vec<_> = row
        .counts
        .iter()
        .enumerate()
        .map(|(ix, c)| point(ix, *c))
        .collect();
    let p = ui.painter();
    p.add(Shape::line(points.clone(), Stroke::new(1.2, t.text_faint)));
    if let Some(open) = points.get(sheet.groups.at) {
        p.circle_filled(*open, 2.5, t.accent);
    }
    if let Some(other) = sheet.groups.other.and_then(|o| points.get(o)) {
        p.circle_stroke(*other, 2.0, Stroke::new(1.2, t.text_dim));
    }
}
