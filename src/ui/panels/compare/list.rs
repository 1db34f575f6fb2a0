//! What changed, by rank; then what too few values say nothing about, and what only one side has.

use egui::{Align2, FontId, Pos2, Rect, Role, Sense, Stroke, Ui, WidgetInfo};

use crate::base::text::grouped;
use crate::base::units;
use crate::session::compare::{Aspect, Change, Comparison, Odd, Subject, Told, Verdict};
use crate::ui::frame::Frame;
use crate::ui::icons::{self, Icon};
use crate::ui::panels::compare::PARTS;
use crate::ui::theme;
use crate::ui::widgets::brief::{Names, Shortened};
use crate::words::Words;

/// Height of a row.
const HEIGHT: f32 = 21.0;
/// Widths of the columns at the right: A, B, ratio, p.
const NUMBERS: [f32; 4] = [72.0, 72.0, 54.0, 52.0];
/// Width of the verdict.
const VERDICT: f32 = 58.0;

/// A part of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Changes that are taken for real.
    Changed,
    /// Too few values to tell.
    TooFew,
    /// Only A has it.
    OnlyA,
    /// Only B has it.
    OnlyB,
    /// No clear change.
    Same,
}

impl Part {
    const fn word(self) -> &'static str {
        match self {
            Self::Changed => "compare-part-changed",
            Self::TooFew => "compare-part-few",
            Self::OnlyA => "compare-part-only-a",
            Self::OnlyB => "compare-part-only-b",
            Self::Same => "compare-part-same",
        }
    }
}

/// One row.
#[derive(Debug, Clone, Copy)]
enum Line<'a> {
    Head(Part, usize),
    Change(&'a Change),
    Odd(&'a Odd),
    None,
}

/// What it remembers between frames.
#[derive(Debug)]
pub(super) struct List {
    /// What is picked.
    pub(super) picked: Option<Subject>,
    closed: Vec<Part>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            picked: None,
            closed: vec![Part::OnlyA, Part::OnlyB, Part::Same],
        }
    }
}

impl List {
    /// Draws it; what was picked.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        comparison: &Comparison,
        brief: Brief<'_>,
    ) -> Option<Subject> {
        header(ui, frame, comparison);
        let lines = self.lines(comparison);
        let mut picked = None;
        let mut turned = None;
        ui.spacing_mut().item_spacing.y = 0.0;
        egui::ScrollArea::vertical()
            .id_salt("compare-list")
            .auto_shrink(false)
            .show_rows(ui, HEIGHT, lines.len(), |ui, range| {
                for line in lines.get(range).unwrap_or_default() {
                    match line {
                        Line::Head(part, n) => {
                            if self.head(ui, frame, *part, *n) {
                                turned = Some(*part);
                            }
                        }
                        Line::Change(change) => {
                            if self.change(ui, frame, change, brief) {
                                picked = Some(change.subject.clone());
                            }
                        }
                        Line::Odd(odd) => {
                            if self.odd(ui, frame, odd, brief) {
                                picked = Some(odd.subject.clone());
                            }
                        }
                        Line::None => none(ui, frame),
                    }
                }
            });
        if let Some(part) = turned {
            if self.closed.contains(&part) {
                self.closed.retain(|p| *p != part);
            } else {
                self.closed.push(part);
            }
        }
        picked
    }

    fn lines<'a>(&self, comparison: &'a Comparison) -> Vec<Line<'a>> {
        let real = comparison.real().count();
        let mut lines = Vec::new();
        for part in PARTS {
            let n = match part {
                Part::Changed => real,
                Part::TooFew => comparison.too_few.len(),
                Part::OnlyA => comparison.only_a.len(),
                Part::OnlyB => comparison.only_b.len(),
                Part::Same => comparison.changes.len() - real,
            };
            if n == 0 && part != Part::Changed {
                continue;
            }
            lines.push(Line::Head(part, n));
            if self.closed.contains(&part) {
                continue;
            }
            match part {
                Part::Changed if n == 0 => lines.push(Line::None),
                Part::Changed => lines.extend(comparison.real().map(Line::Change)),
                Part::TooFew => lines.extend(comparison.too_few.iter().map(Line::Odd)),
                Part::OnlyA => lines.extend(comparison.only_a.iter().map(Line::Odd)),
                Part::OnlyB => lines.extend(comparison.only_b.iter().map(Line::Odd)),
                Part::Same => {
                    let same = |c: &&Change| c.verdict == Verdict::Same;
                    lines.extend(comparison.changes.iter().filter(same).map(Line::Change));
                }
            }
        }
        lines
    }

    fn head(&self, ui: &mut Ui, frame: &Frame<'_>, part: Part, n: usize) -> bool {
        let is_closed = self.closed.contains(&part);
        let n = grouped(n as u64);
        let text = frame.words.with(part.word(), &[("n", (&n).into())]);
        let (rect, response) = row(ui);
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::Button, true, &text);
            info.selected = Some(!is_closed);
            info
        });
        ground(ui, frame, rect, &response, false);
        let icon = if is_closed { Icon::Right } else { Icon::Down };
        let at = Rect::from_center_size(
            Pos2::new(rect.left() + 9.0, rect.center().y),
            egui::Vec2::splat(11.0),
        );
        icons::paint(
            ui.painter(),
            icon,
            at,
            Stroke::new(1.2, frame.tokens.text_dim),
        );
        ui.painter().text(
            Pos2::new(rect.left() + 20.0, rect.center().y),
            Align2::LEFT_CENTER,
            text,
            FontId::proportional(theme::SMALL),
            frame.tokens.text_dim,
        );
        response.clicked()
    }

    fn change(&self, ui: &mut Ui, frame: &Frame<'_>, change: &Change, brief: Brief<'_>) -> bool {
        let (a, b, unit) = shown(change);
        let (verdict, colour) = match change.verdict {
            Verdict::Worse => ("compare-worse", frame.tokens.error),
            Verdict::Better => ("compare-better", frame.tokens.good),
            Verdict::Changed => ("compare-changed", frame.tokens.text_dim),
            Verdict::Same => ("compare-same", frame.tokens.text_faint),
        };
        let verdict = frame.words.text(verdict);
        let numbers = [
            value(frame.words, a, unit),
            value(frame.words, b, unit),
            ratio(a, b),
            chance(change.q),
        ];
        let name = title_of(frame.words, change);
        let label = format!("{verdict}: {name}: A {}, B {}", numbers[0], numbers[1]);
        let (rect, response) = row(ui);
        let is_picked = self.picked.as_ref() == Some(&change.subject);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_picked, &label));
        ground(ui, frame, rect, &response, is_picked);
        let font = FontId::proportional(theme::SMALL);
        let at = Pos2::new(rect.left() + 6.0, rect.center().y);
        ui.painter()
            .text(at, Align2::LEFT_CENTER, verdict, font, colour);
        paint_name(ui, frame, rect, &name, brief);
        paint_numbers(ui, frame, rect, &numbers);
        response
            .on_hover_ui(|ui| {
                ui.set_max_width(460.0);
                ui.label(told(frame, change));
            })
            .clicked()
    }

    fn odd(&self, ui: &mut Ui, frame: &Frame<'_>, odd: &Odd, brief: Brief<'_>) -> bool {
        let of = |summary: crate::session::compare::Summary| {
            if summary.n > 0.0 {
                value(frame.words, summary.median, &odd.unit)
            } else {
                "–".to_owned()
            }
        };
        let n = |summary: crate::session::compare::Summary| grouped(summary.n as u64);
        let numbers = [
            of(odd.a),
            of(odd.b),
            String::new(),
            format!("n {}/{}", n(odd.a), n(odd.b)),
        ];
        let name = title(frame.words, &odd.subject, false);
        let label = format!(
            "{name}: A {} (n {}), B {} (n {})",
            numbers[0],
            n(odd.a),
            numbers[1],
            n(odd.b)
        );
        let (rect, response) = row(ui);
        let is_picked = self.picked.as_ref() == Some(&odd.subject);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_picked, &label));
        ground(ui, frame, rect, &response, is_picked);
        paint_name(ui, frame, rect, &name, brief);
        paint_numbers(ui, frame, rect, &numbers);
        response.on_hover_text(label).clicked()
    }
}

fn row(ui: &mut Ui) -> (Rect, egui::Response) {
    let size = egui::vec2(ui.available_width(), HEIGHT);
    ui.allocate_exact_size(size, Sense::click())
}

fn ground(ui: &Ui, frame: &Frame<'_>, rect: Rect, response: &egui::Response, is_picked: bool) {
    let fill = if is_picked {
        Some(frame.tokens.selected)
    } else if response.hovered() {
        Some(frame.tokens.hover)
    } else {
        None
    };
    if let Some(fill) = fill {
        ui.painter().rect_filled(rect, 2, fill);
    }
    if response.has_focus() {
        ui.painter().rect_stroke(
            rect.shrink(0.5),
            2,
            Stroke::new(1.5, frame.tokens.accent),
            egui::StrokeKind::Inside,
        );
    }
}

fn numbers_width() -> f32 {
    NUMBERS.iter().sum::<f32>() + 10.0
}

fn paint_name(ui: &Ui, frame: &Frame<'_>, rect: Rect, name: &str, brief: Brief<'_>) {
    let left = rect.left() + VERDICT;
    let width = rect.right() - numbers_width() - left - 6.0;
    let galley = brief.galley(
        ui.painter(),
        name,
        theme::BODY,
        width.max(20.0),
        frame.tokens.text,
    );
    let at = Pos2::new(left, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, frame.tokens.text);
}

fn paint_numbers(ui: &Ui, frame: &Frame<'_>, rect: Rect, numbers: &[String; 4]) {
    let mut right = rect.right() - 10.0;
    let last = NUMBERS.iter().zip(numbers).enumerate().rev();
    for (at, (width, text)) in last {
        let colour = match at {
            1 => frame.tokens.text,
            _ => frame.tokens.text_dim,
        };
        ui.painter().text(
            Pos2::new(right, rect.center().y),
            Align2::RIGHT_CENTER,
            text,
            FontId::monospace(11.0),
            colour,
        );
        right -= width;
    }
}

fn header(ui: &mut Ui, frame: &Frame<'_>, comparison: &Comparison) {
    let size = egui::vec2(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let font = FontId::proportional(theme::SMALL);
    let colour = frame.tokens.text_faint;
    let at = Pos2::new(rect.left() + VERDICT, rect.center().y);
    let what = frame.words.text("compare-column-what");
    ui.painter()
        .text(at, Align2::LEFT_CENTER, what, font.clone(), colour);
    let names = ["A", "B", frame.words.text("compare-column-ratio"), "p"];
    let mut right = rect.right() - 10.0;
    for (name, width) in names.iter().zip(NUMBERS).rev() {
        let at = Pos2::new(right, rect.center().y);
        ui.painter()
            .text(at, Align2::RIGHT_CENTER, *name, font.clone(), colour);
        right -= width;
    }
    let line = Stroke::new(1.0, frame.tokens.line);
    ui.painter().hline(rect.x_range(), rect.bottom(), line);
    let n = grouped(comparison.tests as u64);
    response.on_hover_text(frame.words.with("compare-how", &[("n", (&n).into())]));
}

fn none(ui: &mut Ui, frame: &Frame<'_>) {
    let (rect, _) =
        ui.allocate_exact_size(egui::vec2(ui.available_width(), HEIGHT), Sense::hover());
    ui.painter().text(
        Pos2::new(rect.left() + 20.0, rect.center().y),
        Align2::LEFT_CENTER,
        frame.words.text("compare-none"),
        FontId::proportional(theme::BODY),
        frame.tokens.text_dim,
    );
}

/// The values that a row shows, and their unit.
pub(super) fn shown(change: &Change) -> (f64, f64, &str) {
    let (a, b, told) = change.told();
    match told {
        Told::Values => (a, b, &change.unit),
        Told::Shares => (a, b, "ratio"),
    }
}

/// A value in its unit, rates as short as they can be.
pub(super) fn value(words: &Words, value: f64, unit: &str) -> String {
    let units = words.units();
    let per = units.s.trim_start();
    match unit.strip_suffix("/s") {
        Some("seconds") => format!("{}{}/{per}", units::number(value), units.s),
        Some("") => format!("{}/{per}", units::number(value)),
        Some(unit) => format!("{}/{per}", units.with_unit(value, unit)),
        None => units.with_unit(value, unit),
    }
}

/// `× 4.1`, and how it is from nothing.
pub(super) fn ratio(a: f64, b: f64) -> String {
    if b == 0.0 && a != 0.0 {
        return "× 0".to_owned();
    }
    if a == 0.0 {
        return if b == 0.0 {
            String::new()
        } else {
            "∞".to_owned()
        };
    }
    let ratio = b / a;
    if !ratio.is_finite() {
        String::new()
    } else if ratio.abs() >= 100.0 {
        format!("× {}", grouped(ratio.abs().round() as u64))
    } else if ratio.abs() >= 10.0 {
        format!("× {ratio:.0}")
    } else {
        format!("× {ratio:.2}")
    }
}

/// A chance, to two digits.
fn chance(q: f64) -> String {
    if q < 0.001 {
        "<0.001".to_owned()
    } else {
        format!("{q:.3}")
    }
}

/// What a subject is called: its kind, when the name alone does not say it.
pub(super) fn title(words: &Words, subject: &Subject, is_tail: bool) -> String {
    let name = short(&subject.name);
    let key = format!("compare-kind-{}", subject.kind.word());
    let text = words.with(&key, &[("name", (&name).into())]);
    if is_tail {
        words.with("compare-tail", &[("what", (&text).into())])
    } else {
        text
    }
}

/// What a change is called: of a tail whose share is told, from which value on.
pub(super) fn title_of(words: &Words, change: &Change) -> String {
    match (change.told().2, change.aspect) {
        (Told::Shares, Aspect::Tail { bound, .. }) => {
            let what = title(words, &change.subject, false);
            let bound = value(words, bound, &change.unit);
            let args = [("what", (&what).into()), ("bound", (&bound).into())];
            words.with("compare-tail-share", &args)
        }
        (_, aspect) => title(
            words,
            &change.subject,
            matches!(aspect, Aspect::Tail { .. }),
        ),
    }
}

/// What the parts of all names tell. Runs on a worker.
pub(super) fn names(words: &Words, comparison: &Comparison) -> Names {
    let odd = [&comparison.only_a, &comparison.only_b, &comparison.too_few];
    let odd = odd
        .into_iter()
        .flatten()
        .map(|o| title(words, &o.subject, false));
    let changes = comparison.changes.iter().map(|c| title_of(words, c));
    let all: Vec<String> = changes.chain(odd).collect();
    Names::of(all.iter().map(String::as_str))
}

/// How names are shortened.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brief<'a> {
    pub(super) names: &'a Names,
    pub(super) shortened: &'a Shortened,
}

impl Brief<'_> {
    /// One line that fits, without what most names share.
    pub(super) fn galley(
        self,
        painter: &egui::Painter,
        text: &str,
        size: f32,
        width: f32,
        colour: egui::Color32,
    ) -> std::sync::Arc<egui::Galley> {
        let lay = |text: &str| {
            painter.layout_no_wrap(text.to_owned(), FontId::proportional(size), colour)
        };
        let fits = self
            .shortened
            .fit(self.names, text, width, |t| lay(t).size().x);
        lay(&fits)
    }
}

/// A selector without what every series of a job has alike: the metric, and the values of its labels.
fn short(selector: &str) -> String {
    let Some((metric, labels)) = selector.rsplit_once('{').filter(|(_, l)| l.ends_with('}')) else {
        return selector.to_owned();
    };
    let pairs = || {
        labels
            .trim_end_matches('}')
            .split("\",")
            .filter_map(|pair| pair.split_once("=\""))
            .map(|(name, value)| (name, value.trim_end_matches('"')))
    };
    let is_common = |name: &str| matches!(name, "job" | "namespace" | "exported_namespace");
    let own = pairs().filter(|(name, _)| !is_common(name) && *name != "instance");
    let mut values: Vec<&str> = own.map(|(_, value)| value).collect();
    if values.is_empty() {
        let instance = pairs().find(|(name, _)| *name == "instance");
        values.extend(instance.map(|(_, value)| value));
    }
    if values.is_empty() {
        metric.to_owned()
    } else {
        format!("{metric} · {}", values.join(" · "))
    }
}

/// Everything that is known of a change.
fn told(frame: &Frame<'_>, change: &Change) -> String {
    let value = |v: f64| value(frame.words, v, &change.unit);
    let mut lines = vec![change.subject.name.clone()];
    for (name, s) in [("A", change.a), ("B", change.b)] {
        let n = grouped(s.n as u64);
        lines.push(frame.words.with(
            "compare-told-side",
            &[
                ("side", name.into()),
                ("n", (&n).into()),
                ("mean", (&value(s.mean)).into()),
                ("median", (&value(s.median)).into()),
                ("p99", (&value(s.p99)).into()),
                ("max", (&value(s.max)).into()),
            ],
        ));
    }
    if let Aspect::Tail { bound, a, b } = change.aspect {
        let (na, nb) = (grouped(change.a.n as u64), grouped(change.b.n as u64));
        lines.push(frame.words.with(
            "compare-told-tail",
            &[
                ("bound", (&value(bound)).into()),
                ("a", (&grouped(a as u64)).into()),
                ("na", (&na).into()),
                ("b", (&grouped(b as u64)).into()),
                ("nb", (&nb).into()),
            ],
        ));
    }
    lines.push(frame.words.with(
        "compare-told-test",
        &[
            ("effect", (&format!("{:+.2}", change.effect)).into()),
            ("p", (&chance(change.p)).into()),
            ("q", (&chance(change.q)).into()),
        ],
    ));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_numbers_plain() {
        assert_eq!(
            short("go_goroutines{instance=\"a:1\",job=\"x\",pod=\"gw-1\"}"),
            "go_goroutines · gw-1"
        );
        assert_eq!(short("up{instance=\"a:1\",job=\"x\"}"), "up · a:1");
        assert_eq!(
            short("sum(rate(x{a=\"b\"}[30s]))"),
            "sum(rate(x{a=\"b\"}[30s]))"
        );
        assert_eq!(ratio(7.0, 3379.0), "× 483");
        assert_eq!(ratio(0.0, 2.0), "∞");
        assert_eq!(ratio(4.0, 3.0), "× 0.75");
        assert_eq!(chance(0.000_2), "<0.001");
    }
}
