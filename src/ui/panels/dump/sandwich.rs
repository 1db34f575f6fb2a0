//! Functions by what they take, and of the picked one who calls it and whom it calls.

use std::sync::Arc;

use egui::{Align, Rect, Sense, Ui, vec2};

use crate::base::text::grouped;
use crate::engine::memo::Memo;
use crate::store::stacks::functions::{Function, Neighbours, matching, neighbours};
use crate::store::stacks::tree::Scale;
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::dump::paint::{body, line, mono, row, small};
use crate::ui::panels::dump::picture::Picture;
use crate::ui::panels::dump::{Open, empty, format, part};
use crate::ui::theme::GAP;

/// Height of a row.
const HEIGHT: f32 = 22.0;
/// Width of a number.
const NUMBER: f32 = 70.0;
/// Width of a share.
const SHARE: f32 = 54.0;
/// In less room than this the share of what functions take themselves is left out.
const WIDE: f32 = 560.0;

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sort {
    /// What functions take themselves; of two profiles, how much that changed.
    Own,
    /// What they take with all that they call.
    #[default]
    Total,
    /// Their names.
    Name,
}

/// Functions in order.
#[derive(Debug)]
struct Sorted {
    picture: Arc<Picture>,
    rows: Vec<Function>,
}

/// Who calls a function, and whom it calls.
#[derive(Debug)]
struct Around {
    callers: Neighbours,
    callees: Neighbours,
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub(super) struct SandwichView {
    sorted: Memo<(Open, Scale, Sort, String), Sorted>,
    around: Memo<(Open, u32), Around>,
    sort: Sort,
    /// The picked function, by name: it is the same in another profile.
    picked: Option<Arc<str>>,
    /// Whether the picked row must be brought on screen.
    is_moved: bool,
}

fn sorted(picture: &Picture, scale: Scale, sort: Sort, text: &str) -> Vec<Function> {
    let tree = &picture.tree;
    let names = (!text.is_empty()).then(|| matching(tree, text));
    let mut rows: Vec<Function> = picture
        .functions
        .iter()
        .filter(|f| {
            names
                .as_ref()
                .is_none_or(|n| n.get(f.name as usize) == Some(&true))
        })
        .copied()
        .collect();
    let size = |value: [f64; 2]| {
        if tree.is_diff {
            tree.gain(value, scale).abs()
        } else {
            value[0]
        }
    };
    let name = |f: &Function| tree.names.get(f.name as usize);
    rows.sort_by(|a, b| {
        let by = match sort {
            Sort::Own => size(b.own).total_cmp(&size(a.own)),
            Sort::Total => size(b.total).total_cmp(&size(a.total)),
            Sort::Name => std::cmp::Ordering::Equal,
        };
        by.then_with(|| name(a).cmp(&name(b)))
    });
    rows
}

impl SandwichView {
    /// Draws it. Gives the function that the flame graph is to show.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        picture: &Arc<Picture>,
        scale: Scale,
        search: &str,
    ) -> Option<String> {
        let sort = self.sort;
        let text = search.trim().to_owned();
        let wanted = Arc::clone(picture);
        let key = (picture.open, scale, sort, text.clone());
        let answer = self.sorted.want(frame.pool, &key, move |_| {
            Ok(Sorted {
                rows: sorted(&wanted, scale, sort, &text),
                picture: Arc::clone(&wanted),
            })
        });
        let Some(sorted) = answer.value() else {
            empty::waiting(ui, frame, None);
            return None;
        };
        let picture = Arc::clone(&sorted.picture);
        let picked = self
            .picked
            .as_ref()
            .and_then(|name| picture.tree.names.iter().position(|n| n == name))
            .filter(|name| *name > 0)
            .map(|name| name as u32)
            .or_else(|| sorted.rows.first().map(|f| f.name));
        let all = ui.available_rect_before_wrap();
        ui.advance_cursor_after_rect(all);
        let (left, right) = all.split_left_right_at_fraction(0.62);
        let stroke = egui::Stroke::new(1.0, frame.tokens.line);
        ui.painter()
            .vline(left.right() + GAP, all.y_range(), stroke);
        let right = right.with_min_x(right.left() + 2.0 * GAP);
        let (mut to, mut flame) = (None, None);
        part(ui, "functions", left, |ui| {
            to = self.table(ui, frame, scale, picked);
        });
        if let Some(name) = picked {
            part(ui, "around", right, |ui| {
                let (next, show) = self.neighbours(ui, frame, &picture, name);
                to = to.or(next);
                flame = show;
            });
        }
        if let Some(name) = to.and_then(|n| picture.tree.names.get(n as usize)) {
            self.picked = Some(Arc::clone(name));
            self.is_moved = true;
        }
        flame
    }

    /// Every function; gives the one that was picked.
    fn table(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        scale: Scale,
        picked: Option<u32>,
    ) -> Option<u32> {
        let sorted = self.sorted.last()?;
        let tree = &sorted.picture.tree;
        let next = heads(
            ui,
            frame,
            self.sort,
            (tree.is_diff, scale),
            sorted.rows.len(),
        );
        let is_wide = ui.available_width() > WIDE;
        if sorted.rows.is_empty() {
            let text = frame.words.text("dump-no-match");
            ui.label(egui::RichText::new(text).color(frame.tokens.text_dim));
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let mut area = egui::ScrollArea::vertical().auto_shrink(false);
        if std::mem::take(&mut self.is_moved) {
            let at = sorted.rows.iter().position(|f| Some(f.name) == picked);
            let top = at.unwrap_or(0) as f32 * HEIGHT - ui.available_height() / 2.0;
            area = area.vertical_scroll_offset(top.max(0.0));
        }
        let mut to = None;
        area.show_rows(ui, HEIGHT, sorted.rows.len(), |ui, range| {
            for function in sorted.rows.get(range).unwrap_or_default() {
                let values = numbers(frame, &sorted.picture, (scale, is_wide), function);
                let is_picked = Some(function.name) == picked;
                if one(
                    ui,
                    frame,
                    &sorted.picture,
                    function.name,
                    &values,
                    is_picked,
                ) {
                    to = Some(function.name);
                }
            }
        });
        if let Some(sort) = next {
            self.sort = sort;
        }
        to
    }

    /// Callers and callees of a function. Gives the one that was picked of them, and the name to show in the flame graph.
    fn neighbours(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        picture: &Arc<Picture>,
        name: u32,
    ) -> (Option<u32>, Option<String>) {
        let w = frame.words;
        let wanted = Arc::clone(picture);
        let key = (picture.open, name);
        let answer = self.around.want(frame.pool, &key, move |_| {
            let (callers, callees) = neighbours(&wanted.tree, name);
            Ok(Around { callers, callees })
        });
        let (mut to, mut flame) = (None, None);
        let function = picture.tree.names.get(name as usize);
        let function = function.map_or("", |n| n.as_ref());
        ui.horizontal(|ui| {
            if icons::button(ui, Icon::Search, w.text("dump-show-in-flame")).clicked() {
                flame = Some(function.to_owned());
            }
            let text = egui::RichText::new(format::short(function)).strong();
            ui.add(egui::Label::new(text).truncate())
                .on_hover_text(function);
        });
        let crate::engine::memo::Answer::Ready(around) = answer else {
            return (None, flame);
        };
        egui::ScrollArea::vertical()
            .auto_shrink(false)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 0.0;
                for (title, list) in [
                    (w.text("dump-callers"), &around.callers),
                    (w.text("dump-callees"), &around.callees),
                ] {
                    let title = egui::RichText::new(title)
                        .small()
                        .color(frame.tokens.text_faint);
                    ui.label(title);
                    if list.is_empty() {
                        let none = egui::RichText::new(w.text("dump-none-of-them"));
                        ui.label(none.color(frame.tokens.text_dim));
                    }
                    for (other, value) in list {
                        let values = around_numbers(frame, picture, *value);
                        if one(ui, frame, picture, *other, &values, false) && *other != 0 {
                            to = Some(*other);
                        }
                    }
                    ui.add_space(GAP);
                }
            });
        (to, flame)
    }
}

/// The numbers of a row, each with its width.
fn numbers(
    frame: &Frame<'_>,
    picture: &Picture,
    (scale, is_wide): (Scale, bool),
    function: &Function,
) -> Vec<(String, f32)> {
    let (own, total) = (function.own, function.total);
    let tree = &picture.tree;
    let unit = picture.unit.as_ref();
    if !tree.is_diff {
        let share = |v: [f64; 2]| frame.words.units().share(tree.scaled(v, Scale::Share)[0]);
        let mut values = vec![(format::value(frame.words, own[0], unit), NUMBER)];
        values.extend(is_wide.then(|| (share(own), SHARE)));
        values.push((format::value(frame.words, total[0], unit), NUMBER));
        values.push((share(total), SHARE));
        return values;
    }
    let shown = tree.scaled(total, scale);
    let text = |v: f64| match scale {
        Scale::Share => frame.words.units().share(v),
        Scale::Absolute => format::value(frame.words, v, unit),
    };
    let gain = |v: [f64; 2]| match scale {
        Scale::Share => format::points(frame.words, tree.gain(v, scale)),
        Scale::Absolute => format::change(frame.words, tree.gain(v, scale), unit),
    };
    vec![
        (gain(own), NUMBER),
        (gain(total), NUMBER),
        (text(shown[0]), SHARE),
        (text(shown[1]), SHARE),
    ]
}

fn around_numbers(frame: &Frame<'_>, picture: &Picture, value: [f64; 2]) -> Vec<(String, f32)> {
    let tree = &picture.tree;
    let shares = tree.scaled(value, Scale::Share);
    if tree.is_diff {
        vec![
            (frame.words.units().share(shares[0]), SHARE),
            (frame.words.units().share(shares[1]), SHARE),
        ]
    } else {
        vec![
            (format::value(frame.words, value[0], &picture.unit), NUMBER),
            (frame.words.units().share(shares[0]), SHARE),
        ]
    }
}

/// The heads of the columns; gives what to sort by.
fn heads(
    ui: &mut Ui,
    frame: &Frame<'_>,
    sort: Sort,
    (is_diff, scale): (bool, Scale),
    n: usize,
) -> Option<Sort> {
    let w = frame.words;
    let text = grouped(n as u64);
    let name = w.with(
        "dump-functions",
        &[("n", (&text).into()), ("count", n.into())],
    );
    let (own, total) = (w.text("dump-col-self"), w.text("dump-col-total"));
    let columns: Vec<(String, f32, Option<Sort>)> = if is_diff {
        let side = if scale == Scale::Share { "%" } else { "" };
        vec![
            (format!("Δ {own}"), NUMBER, Some(Sort::Own)),
            (format!("Δ {total}"), NUMBER, Some(Sort::Total)),
            (format!("A {side}"), SHARE, None),
            (format!("B {side}"), SHARE, None),
        ]
    } else {
        let mut columns = vec![(own.to_owned(), NUMBER, Some(Sort::Own))];
        if ui.available_width() > WIDE {
            columns.push(("%".to_owned(), SHARE, None));
        }
        columns.push((total.to_owned(), NUMBER, Some(Sort::Total)));
        columns.push(("%".to_owned(), SHARE, None));
        columns
    };
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let mut next = None;
    let mut x = rect.left();
    for (text, wide, by) in &columns {
        let at = Rect::from_min_size(egui::pos2(x, rect.top()), vec2(*wide, HEIGHT));
        x += wide;
        let asked = head(ui, frame, at, text, *by, (sort, Align::Max));
        next = next.or(asked);
    }
    let at = rect.with_min_x(x + 2.0 * GAP);
    let asked = head(ui, frame, at, &name, Some(Sort::Name), (sort, Align::Min));
    next.or(asked)
}

fn head(
    ui: &Ui,
    frame: &Frame<'_>,
    at: Rect,
    text: &str,
    by: Option<Sort>,
    (sort, align): (Sort, Align),
) -> Option<Sort> {
    let t = frame.tokens;
    let is_on = by == Some(sort);
    let colour = if is_on { t.text } else { t.text_faint };
    let mark = match (is_on, sort) {
        (false, _) => "",
        (true, Sort::Name) => " ▲",
        (true, _) => " ▼",
    };
    line(
        ui.painter(),
        at,
        align,
        &[(text, small(), colour), (mark, small(), colour)],
    );
    let by = by?;
    let response = ui.interact(at, ui.scope_id().with(("head", text)), Sense::click());
    let name = frame.words.with("dump-sort-by", &[("what", text.into())]);
    response.widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_on, &name));
    if response.has_focus() {
        super::paint::focus(ui.painter(), at, t);
    }
    let is_clicked = response.clicked();
    response.on_hover_text(name);
    is_clicked.then_some(by)
}

/// A function with its numbers; whether it was picked.
fn one(
    ui: &mut Ui,
    frame: &Frame<'_>,
    picture: &Picture,
    name: u32,
    values: &[(String, f32)],
    is_picked: bool,
) -> bool {
    let t = frame.tokens;
    let function = picture
        .tree
        .names
        .get(name as usize)
        .map_or("", |n| n.as_ref());
    let shown = match (name, function) {
        (0, _) => frame.words.text("dump-root"),
        (_, "") => frame.words.text("dump-unnamed"),
        (_, function) => function,
    };
    let numbers: Vec<&str> = values.iter().map(|v| v.0.as_str()).collect();
    let label = format!("{shown}: {}", numbers.join(", "));
    let (rect, response) = row(ui, t, HEIGHT, &label, is_picked);
    let is_clicked = response.clicked();
    if ui.is_rect_visible(rect) {
        let mut x = rect.left();
        for (text, wide) in values {
            let at = Rect::from_min_size(egui::pos2(x, rect.top()), vec2(*wide, HEIGHT));
            let colour = if text.ends_with('%') && !text.starts_with(['+', '-']) {
                t.text_dim
            } else {
                t.text
            };
            line(ui.painter(), at, Align::Max, &[(text, mono(), colour)]);
            x += wide;
        }
        let (package, own) = format::parts(shown);
        let package = package.rsplit_once('/').map_or(package, |(_, last)| last);
        let at = rect.with_min_x(x + 2.0 * GAP);
        let pieces = [(package, body(), t.text_faint), (own, body(), t.text)];
        line(ui.painter(), at, Align::Min, &pieces);
    }
    response.on_hover_text(label);
    is_clicked
}
