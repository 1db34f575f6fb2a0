//! The profiles of the recording: by process, and below it by what they count and how they were written down, in order of time.
//! Those that stand together can be compared.

use egui::{Align, Rect, Ui, pos2, vec2};

use crate::engine::memo::Memo;
use crate::session::incident::Incident;
use crate::session::target::Target;
use crate::store::Snapshot;
use crate::store::stacks::{Likeness, encoding, is_of_threads, likeness, process_key};
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::dump::paint::{body, line, mono, row, small};
use crate::ui::panels::dump::{Open, format};
use crate::ui::request::{FocusEdit, Request};
use crate::ui::theme::GAP;

/// Height of a row.
const HEIGHT: f32 = 24.0;

/// One row.
#[derive(Debug, Clone, Copy)]
enum Item {
    /// The process of the rows below; any profile of it.
    Process(usize),
    /// What the rows below count; the first of them.
    Series(usize),
    /// A profile, and the largest total of its series.
    Profile(usize, f64),
}

/// The list, and the place that it is scrolled to.
#[derive(Debug, Default)]
pub(super) struct List {
    items: Memo<u64, Vec<Item>>,
    seen: Option<usize>,
}

fn items(snapshot: &Snapshot) -> Vec<Item> {
    let mut order: Vec<usize> = (0..snapshot.profiles.len()).collect();
    let series = |ix: usize| {
        snapshot.profiles.get(ix).map(|p| {
            (
                process_key(snapshot, p),
                !is_of_threads(p),
                p.kind.as_ref(),
                !p.has_states,
                encoding(snapshot, p),
                p.unit.as_ref(),
            )
        })
    };
    let time = |ix: usize| {
        snapshot
            .profiles
            .get(ix)
            .map(|p| (p.t.is_none(), p.t, p.input))
    };
    order.sort_by(|a, b| (series(*a), time(*a), *a).cmp(&(series(*b), time(*b), *b)));
    let mut items = Vec::new();
    let mut last = None;
    for run in order.chunk_by(|a, b| series(*a) == series(*b)) {
        let Some(first) = run.first().copied() else {
            continue;
        };
        let process = series(first).map(|s| s.0);
        if last != Some(process) {
            items.push(Item::Process(first));
            last = Some(process);
        }
        items.push(Item::Series(first));
        let total = |ix: &usize| snapshot.profiles.get(*ix).map_or(0.0, |p| p.total);
        let most = run.iter().map(total).fold(0.0, f64::max);
        items.extend(run.iter().map(|ix| Item::Profile(*ix, most)));
    }
    items
}

impl List {
    /// Draws it.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &mut Frame<'_>,
        incident: &Incident,
        open: Open,
    ) {
        let document = std::sync::Arc::clone(&incident.document);
        let answer = self.items.want(frame.pool, &open.generation, move |_| {
            Ok(items(&document.snapshot))
        });
        let Some(items) = answer.value() else {
            return;
        };
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = egui::ScrollArea::vertical().auto_shrink(false);
        if self.seen != Some(open.a) {
            self.seen = Some(open.a);
            let at = items
                .iter()
                .position(|i| matches!(i, Item::Profile(ix, _) if *ix == open.a));
            let top = at.unwrap_or(0) as f32 * HEIGHT - ui.available_height() / 2.0;
            area = area.vertical_scroll_offset(top.max(0.0));
        }
        area.show_rows(ui, HEIGHT, items.len(), |ui, range| {
            for item in items.get(range).unwrap_or_default() {
                match item {
                    Item::Process(ix) => process(ui, frame, incident, *ix),
                    Item::Series(ix) => series(ui, frame, incident, *ix),
                    Item::Profile(ix, most) => profile(ui, frame, incident, open, (*ix, *most)),
                }
            }
        });
    }
}

fn process(ui: &mut Ui, frame: &Frame<'_>, incident: &Incident, ix: usize) {
    let snapshot = incident.snapshot();
    let Some(profile) = snapshot.profiles.get(ix) else {
        return;
    };
    let name = format::process(frame.words, snapshot, profile);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, name));
    line(
        ui.painter(),
        rect,
        Align::Min,
        &[(name, body(), frame.tokens.text)],
    );
    response.on_hover_text(name);
}

fn series(ui: &mut Ui, frame: &Frame<'_>, incident: &Incident, ix: usize) {
    let snapshot = incident.snapshot();
    let Some(profile) = snapshot.profiles.get(ix) else {
        return;
    };
    let form = format::form(snapshot, profile);
    let text = format!("{} · {form} · {}", profile.kind, profile.unit);
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), egui::Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &text));
    let t = frame.tokens;
    let form = format!("  {form} · {}", profile.unit);
    line(
        ui.painter(),
        rect.with_max_y(rect.bottom() - 2.0),
        Align::Min,
        &[
            (profile.kind.as_ref(), small(), t.text_dim),
            (&form, small(), t.text_faint),
        ],
    );
    response.on_hover_text(frame.words.text("dump-series-hint"));
}

/// What a row says whole.
fn story(frame: &Frame<'_>, incident: &Incident, ix: usize) -> Option<String> {
    let snapshot = incident.snapshot();
    let profile = snapshot.profiles.get(ix)?;
    Some(frame.words.with(
        "dump-profile-name",
        &[
            ("kind", profile.kind.as_ref().into()),
            ("form", format::form(snapshot, profile).into()),
            (
                "time",
                (&format::taken(frame.words, frame.zone, profile)).into(),
            ),
            (
                "total",
                (&format::value(frame.words, profile.total, &profile.unit)).into(),
            ),
            ("input", format::input(snapshot, profile).into()),
        ],
    ))
}

fn profile(
    ui: &mut Ui,
    frame: &mut Frame<'_>,
    incident: &Incident,
    open: Open,
    (ix, most): (usize, f64),
) {
    let snapshot = incident.snapshot();
    let (Some(this), Some(name)) = (snapshot.profiles.get(ix), story(frame, incident, ix)) else {
        return;
    };
    let like = snapshot
        .profiles
        .get(open.a)
        .map_or(Likeness::No, |a| likeness(snapshot, a, this));
    let (is_a, is_b) = (ix == open.a, Some(ix) == open.b);
    let (rect, response) = row(ui, frame.tokens, HEIGHT, &name, is_a || is_b);
    let can_compare = !is_a && like != Likeness::No;
    let with_shift = ui.input(|i| i.modifiers.shift);
    if response.clicked() {
        let edit = if can_compare && with_shift {
            FocusEdit::CompareProfile((!is_b).then_some(ix))
        } else {
            FocusEdit::Profile(Some(ix))
        };
        frame.ask(Request::Focus(edit));
    }
    if can_compare || is_b {
        let side = Rect::from_min_size(
            pos2(rect.right() - HEIGHT, rect.top()),
            vec2(HEIGHT, HEIGHT),
        );
        compare(ui, frame, side, (ix, is_b), &name);
    }
    if !ui.is_rect_visible(rect) {
        return;
    }
    let t = frame.tokens;
    let badge = match (is_a, is_b) {
        (true, _) => "A",
        (_, true) => "B",
        _ => "",
    };
    let text = if like == Likeness::No {
        t.text_faint
    } else {
        t.text
    };
    let at = |from: f32, to: f32| {
        Rect::from_min_max(
            pos2(rect.left() + from, rect.top()),
            pos2(rect.left() + to, rect.bottom()),
        )
    };
    let right = rect.width() - HEIGHT - 2.0;
    let p = ui.painter();
    line(p, at(4.0, 18.0), Align::Min, &[(badge, mono(), t.accent)]);
    let time = format::taken(frame.words, frame.zone, this);
    line(p, at(18.0, 82.0), Align::Min, &[(&time, mono(), text)]);
    let total = format::value(frame.words, this.total, &this.unit);
    let wide = line(p, at(86.0, right), Align::Max, &[(&total, mono(), text)]);
    let input = format::file_name(format::input(snapshot, this));
    let room = at(86.0, right - wide - GAP);
    line(p, room, Align::Min, &[(input, small(), t.text_faint)]);
    if most > 0.0 {
        let part = (this.total / most).clamp(0.0, 1.0) as f32;
        let bar = Rect::from_min_size(
            pos2(rect.left() + 18.0, rect.bottom() - 2.5),
            vec2((rect.width() - HEIGHT - 20.0) * part, 1.5),
        );
        p.rect_filled(bar, 0.0, t.others.gamma_multiply(0.6));
    }
    let is_pointed = frame
        .highlight
        .targets
        .iter()
        .any(|target| matches!(target, Target::Stack { profile, .. } if *profile == ix));
    if is_pointed {
        p.circle_filled(pos2(rect.left() + 13.0, rect.top() + 5.0), 2.5, t.highlight);
    }
    let hint = match (is_a, like) {
        (true, _) => frame.words.text("dump-is-open"),
        (_, Likeness::Same) => frame.words.text("dump-like-same"),
        (_, Likeness::OtherForm) => frame.words.text("dump-like-other"),
        (_, Likeness::No) => frame.words.text("dump-like-no"),
    };
    response.on_hover_ui(|ui| {
        ui.set_max_width(420.0);
        ui.label(&name);
        ui.label(egui::RichText::new(hint).color(t.text_dim));
    });
}

/// Takes a profile as the second one, or no longer.
fn compare(ui: &mut Ui, frame: &mut Frame<'_>, at: Rect, (ix, is_b): (usize, bool), name: &str) {
    let label = if is_b {
        frame.words.text("dump-compare-end").to_owned()
    } else {
        frame
            .words
            .with("dump-compare-with", &[("what", name.into())])
    };
    let icon = if is_b { Icon::Close } else { Icon::Plus };
    let inside = ui.scope_builder(
        egui::UiBuilder::new().id_salt(("compare", ix)).max_rect(at),
        |ui| {
            ui.spacing_mut().interact_size.y = at.height() - 2.0;
            icons::toggle(ui, icon, &label, false)
        },
    );
    if inside.inner.clicked() {
        let to = (!is_b).then_some(ix);
        frame.ask(Request::Focus(FocusEdit::CompareProfile(to)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::time::Timestamp;
    use crate::model::profile::Profile;

    fn profile(process: &str, kind: &str, t: i64) -> Profile {
        Profile {
            input: crate::model::input::InputIx(0),
            t: Some(Timestamp::from_nanos(t)),
            t_source: "recorded",
            kind: Arc::from(kind),
            unit: Arc::from("count"),
            total: t as f64,
            process: Arc::from(process),
            has_states: false,
            groups: Vec::new(),
        }
    }

    #[test]
    fn profiles_that_can_be_compared_stand_together() {
        let mut snapshot = Snapshot::default();
        snapshot.profiles.extend([
            profile("a", "heap", 5),
            profile("b", "goroutine", 1),
            profile("a", "goroutine", 7),
            profile("a", "goroutine", 3),
        ]);
        let told: Vec<String> = items(&snapshot)
            .iter()
            .map(|item| match item {
                Item::Process(ix) => format!("process of {ix}"),
                Item::Series(ix) => format!("series of {ix}"),
                Item::Profile(ix, most) => format!("{ix} of {most}"),
            })
            .collect();
        assert_eq!(
            told,
            [
                "process of 3",
                "series of 3",
                "3 of 7",
                "2 of 7",
                "series of 0",
                "0 of 5",
                "process of 1",
                "series of 1",
                "1 of 1",
            ]
        );
    }
}
