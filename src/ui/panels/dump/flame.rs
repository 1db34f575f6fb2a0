//! The flame graph, the root on top: of one profile by package, of two by what changed.

use std::sync::Arc;

use egui::{Align, Color32, CornerRadius, EventFilter, Key, Mesh, Rect, Response, Role, Sense};
use egui::{Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::engine::memo::Memo;
use crate::formats::go_dump::wait;
use crate::store::stacks::functions::{matched, matching};
use crate::store::stacks::tree::Scale;
use crate::ui::frame::Frame;
use crate::ui::panels::dump::paint::{line, small};
use crate::ui::panels::dump::picture::Picture;
use crate::ui::panels::dump::shape::{Bar, Step, bars, step};
use crate::ui::panels::dump::{Open, format};
use crate::ui::theme::{SMALL, Tokens};

/// Height of a frame.
const HEIGHT: f32 = 18.0;
/// A frame this wide has its name in it, and is named for screen readers.
const NAMED: f32 = 26.0;
/// A frame this wide can be pointed at.
const TOUCHED: f32 = 3.0;
/// Most frames of the way from the root to the picked one that are listed.
const CRUMBS: usize = 3;

/// Which functions are looked for.
#[derive(Debug)]
struct Found {
    names: Vec<bool>,
    total: [f64; 2],
}

/// What it remembers between frames.
#[derive(Debug, Default)]
pub(super) struct FlameView {
    found: Memo<(Open, String), Found>,
    of: Option<Open>,
    zoom: usize,
    cursor: usize,
    /// Whether the cursor has moved and must be brought on screen.
    is_moved: bool,
}

/// What is drawn, and where.
struct Stage<'a> {
    picture: &'a Picture,
    scale: Scale,
    rect: Rect,
}

impl FlameView {
    /// Says how much of all the functions take that are looked for.
    pub(super) fn matches(&self, ui: &mut Ui, frame: &Frame<'_>, scale: Scale, search: &str) {
        let text = search.trim();
        let Some(((open, of), found)) = self.found.last_with_key() else {
            return;
        };
        if text.is_empty() || of != text || Some(*open) != self.of {
            return;
        }
        let count = found.names.iter().filter(|is| **is).count();
        let n = crate::base::text::grouped(count as u64);
        let share = match (scale, open.b) {
            (_, None) => frame.words.units().share(found.total[0]),
            (_, Some(_)) => format!(
                "{} > {}",
                frame.words.units().share(found.total[0]),
                frame.words.units().share(found.total[1])
            ),
        };
        let text = frame.words.with(
            "dump-matches",
            &[
                ("n", (&n).into()),
                ("count", count.into()),
                ("share", (&share).into()),
            ],
        );
        ui.add(
            egui::Label::new(egui::RichText::new(text).color(frame.tokens.highlight)).truncate(),
        );
    }

    /// Draws it.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        frame: &Frame<'_>,
        picture: &Arc<Picture>,
        scale: Scale,
        search: &str,
    ) {
        if self.of != Some(picture.open) {
            self.of = Some(picture.open);
            (self.zoom, self.cursor) = (0, 0);
        }
        let text = search.trim().to_owned();
        let wanted = Arc::clone(picture);
        let key = (picture.open, text.clone());
        self.found.want(frame.pool, &key, move |_| {
            let names = matching(&wanted.tree, &text);
            let sum = matched(&wanted.tree, &names);
            Ok(Found {
                total: wanted.tree.scaled(sum, Scale::Share),
                names,
            })
        });
        self.above(ui, frame, picture);
        left_out(ui, frame, picture);
        let depth = picture.tree.nodes.get(self.zoom).map_or(0, |z| z.depth);
        let rows = picture.tree.depth.saturating_sub(depth) + 1;
        egui::ScrollArea::vertical()
            .id_salt("flame")
            .auto_shrink(false)
            .show(ui, |ui| {
                let size = vec2(ui.available_width(), rows as f32 * HEIGHT);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click());
                let stage = Stage {
                    picture,
                    scale,
                    rect,
                };
                self.keys(ui, &stage, &response);
                self.draw(ui, frame, &stage, &response);
            });
    }

    /// The line above the picture: the way to what takes the whole width, and what colours mean.
    fn above(&mut self, ui: &mut Ui, frame: &Frame<'_>, picture: &Picture) {
        ui.horizontal(|ui| {
            ui.set_height(18.0);
            if !picture.tree.is_diff {
                return self.crumbs(ui, frame, picture);
            }
            ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
                legend(ui, frame, picture);
                ui.with_layout(egui::Layout::left_to_right(Align::Center), |ui| {
                    self.crumbs(ui, frame, picture);
                });
            });
        });
    }

    /// The way from the root to the frame that takes the whole width.
    fn crumbs(&mut self, ui: &mut Ui, frame: &Frame<'_>, picture: &Picture) {
        let w = frame.words;
        let tree = &picture.tree;
        let mut way: Vec<usize> = Vec::new();
        let mut at = self.zoom;
        while at != 0 {
            way.push(at);
            at = tree.nodes.get(at).map_or(0, |n| n.parent as usize);
        }
        let hidden = way.len().saturating_sub(CRUMBS);
        way.truncate(CRUMBS);
        let mut to = None;
        ui.spacing_mut().item_spacing.x = 4.0;
        let t = frame.tokens;
        let small = |text: &str| egui::RichText::new(text.to_owned()).size(SMALL);
        if self.zoom == 0 {
            ui.label(small(w.text("dump-all")).color(t.text_dim));
            let hint = small(w.text("dump-flame-hint")).color(t.text_faint);
            ui.add(egui::Label::new(hint).truncate())
                .on_hover_text(w.text("dump-flame-hint"));
            return;
        }
        let all = ui.link(small(w.text("dump-all")));
        if all.on_hover_text(w.text("dump-zoom-all")).clicked() {
            to = Some(0);
        }
        if hidden > 0 {
            ui.label(small("› …").color(t.text_faint));
        }
        for node in way.iter().rev() {
            ui.label(small("›").color(t.text_faint));
            let name = small(format::short(tree.name(*node)));
            if *node == self.zoom {
                ui.add(egui::Label::new(name).truncate())
                    .on_hover_text(tree.name(*node));
            } else if ui.link(name).on_hover_text(tree.name(*node)).clicked() {
                to = Some(*node);
            }
        }
        if let Some(to) = to {
            (self.zoom, self.cursor) = (to, self.zoom);
        }
    }

    fn keys(&mut self, ui: &Ui, stage: &Stage<'_>, response: &Response) {
        if !response.has_focus() {
            return;
        }
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            escape: self.zoom != 0,
            ..EventFilter::default()
        };
        ui.memory_mut(|m| m.set_focus_lock_filter(response.id, filter));
        let tree = &stage.picture.tree;
        let before = self.cursor;
        for (key, way) in [
            (Key::ArrowUp, Step::Up),
            (Key::ArrowDown, Step::Down),
            (Key::ArrowLeft, Step::Left),
            (Key::ArrowRight, Step::Right),
        ] {
            if ui.input_mut(|i| i.consume_key(egui::Modifiers::NONE, key)) {
                self.cursor = step(tree, self.zoom, self.cursor, way);
            }
        }
        if ui.input_mut(|i| i.consume_key(egui::Modifiers::NONE, Key::Enter)) {
            self.zoom = self.cursor;
        }
        if self.zoom != 0 && ui.input_mut(|i| i.consume_key(egui::Modifiers::NONE, Key::Escape)) {
            self.cursor = self.zoom;
            self.zoom = tree.nodes.get(self.zoom).map_or(0, |n| n.parent as usize);
        }
        self.is_moved |= before != self.cursor;
    }

    fn draw(&mut self, ui: &Ui, frame: &Frame<'_>, stage: &Stage<'_>, canvas: &Response) {
        let (rect, clip) = (stage.rect, ui.clip_rect());
        let row_at = |y: f32| ((y - rect.top()) / HEIGHT).floor().max(0.0) as u32;
        let rows = (row_at(clip.top()), row_at(clip.bottom()) + 1);
        let tree = &stage.picture.tree;
        let layout = stage.picture.layout(stage.scale);
        let seen = bars(tree, layout, self.zoom, rect.width(), rows);
        let found = self
            .found
            .last_with_key()
            .filter(|((open, text), _)| *open == stage.picture.open && !text.is_empty())
            .map(|(_, found)| found.names.as_slice());
        let place = |bar: &Bar| {
            Rect::from_min_max(
                pos2(rect.left() + bar.left, rect.top() + bar.row as f32 * HEIGHT),
                pos2(
                    rect.left() + bar.right,
                    rect.top() + (bar.row + 1) as f32 * HEIGHT,
                ),
            )
        };
        let mut mesh = Mesh::default();
        mesh.reserve_triangles(2 * seen.len());
        mesh.reserve_vertices(4 * seen.len());
        for bar in &seen {
            let mut at = place(bar);
            at.max.y -= 1.0;
            at.max.x -= (at.width() - 0.5).clamp(0.0, 1.0);
            mesh.add_colored_rect(at, colour(frame.tokens, stage, bar, found));
        }
        ui.painter().add(Shape::mesh(mesh));
        let mut to = None;
        for bar in &seen {
            let Some(node) = bar.node.filter(|_| bar.right - bar.left >= TOUCHED) else {
                continue;
            };
            let response = one(ui, frame, stage, node, place(bar));
            if response.clicked() {
                to = Some(node);
            }
        }
        self.mark(ui, frame, stage, canvas, &seen, place);
        let name = frame.words.with(
            "dump-flame-name",
            &[("frame", (&story(frame, stage, self.cursor)).into())],
        );
        canvas.widget_info(|| WidgetInfo::labeled(Role::Tree, true, &name));
        if let Some(node) = to {
            (self.zoom, self.cursor) = (node, node);
            canvas.request_focus();
        }
    }

    /// Shows the focus, and the frame that keys act on.
    fn mark(
        &mut self,
        ui: &Ui,
        frame: &Frame<'_>,
        stage: &Stage<'_>,
        canvas: &Response,
        seen: &[Bar],
        place: impl Fn(&Bar) -> Rect,
    ) {
        if !canvas.has_focus() {
            return;
        }
        let stroke = Stroke::new(2.0, frame.tokens.accent);
        if let Some(bar) = seen.iter().find(|b| b.node == Some(self.cursor)) {
            let at = place(bar);
            let at = at.with_max_x(at.right().max(at.left() + 3.0));
            ui.painter()
                .rect_stroke(at, CornerRadius::ZERO, stroke, StrokeKind::Inside);
        }
        if std::mem::take(&mut self.is_moved) {
            let tree = &stage.picture.tree;
            let depth = |n: usize| tree.nodes.get(n).map_or(0, |n| n.depth);
            let row = depth(self.cursor).saturating_sub(depth(self.zoom));
            let top = stage.rect.top() + row as f32 * HEIGHT;
            let at = stage.rect.with_min_y(top).with_max_y(top + HEIGHT);
            ui.scroll_to_rect(at, None);
        }
    }
}

/// The fill of a frame: by package, or by what changed; what is not looked for steps back.
fn colour(t: &Tokens, stage: &Stage<'_>, bar: &Bar, found: Option<&[bool]>) -> Color32 {
    let tree = &stage.picture.tree;
    let Some(node) = bar.node.and_then(|n| tree.nodes.get(n)) else {
        return t.raised;
    };
    let is_found = found.map(|names| names.get(node.name as usize).copied().unwrap_or(false));
    let fill = if tree.is_diff {
        t.diff(tree.lean(node.total, stage.scale) as f32)
    } else {
        let name = tree
            .names
            .get(node.name as usize)
            .map_or("", |n| n.as_ref());
        by_package(t, name)
    };
    match is_found {
        Some(true) if tree.is_diff => fill,
        Some(true) => t.panel.lerp_to_gamma(t.highlight, 0.34),
        Some(false) => t.panel.lerp_to_gamma(fill, 0.35),
        None => fill,
    }
}

/// A quiet colour of a package; the standard library and the runtime have none of their own.
fn by_package(t: &Tokens, function: &str) -> Color32 {
    if function.is_empty() {
        return t.raised;
    }
    let package = wait::package_of(function);
    if wait::is_std(package) {
        return t.panel.lerp_to_gamma(t.others, 0.32);
    }
    // FNV-1a, mixed once more: the same colour on every machine and at every start.
    let hash = package.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    t.fill(((hash ^ hash >> 15).wrapping_mul(0x85eb_ca6b) >> 16) as usize)
}

/// One frame: its name where there is room, its card under the pointer.
fn one(ui: &Ui, frame: &Frame<'_>, stage: &Stage<'_>, node: usize, at: Rect) -> Response {
    let response = ui.interact(at, ui.scope_id().with(("frame", node)), Sense::CLICK);
    let t = frame.tokens;
    let tree = &stage.picture.tree;
    if at.width() >= NAMED {
        let name = match tree.name(node) {
            "" if node == 0 => frame.words.text("dump-all"),
            "" => frame.words.text("dump-unnamed"),
            name => format::short(name),
        };
        let inside = at.shrink2(vec2(4.0, 0.0)).with_max_y(at.bottom() - 1.0);
        line(ui.painter(), inside, Align::Min, &[(name, small(), t.text)]);
        response
            .widget_info(|| WidgetInfo::labeled(Role::TreeItem, true, story(frame, stage, node)));
    }
    if response.hovered() {
        let stroke = Stroke::new(1.0, t.text_dim);
        let edge = at.with_max_y(at.bottom() - 1.0);
        ui.painter()
            .rect_stroke(edge, CornerRadius::ZERO, stroke, StrokeKind::Inside);
    }
    response.on_hover_ui_at_pointer(|ui| card(ui, frame, stage, node))
}

/// A frame in one line.
fn story(frame: &Frame<'_>, stage: &Stage<'_>, node: usize) -> String {
    let tree = &stage.picture.tree;
    let Some(this) = tree.nodes.get(node) else {
        return String::new();
    };
    let name = match tree.name(node) {
        "" if node == 0 => frame.words.text("dump-all"),
        "" => frame.words.text("dump-unnamed"),
        name => name,
    };
    let unit = stage.picture.unit.as_ref();
    let [a, b] = tree.scaled(this.total, Scale::Share);
    let first = format!(
        "{name}, {} ({})",
        format::value(frame.words, this.total[0], unit),
        frame.words.units().share(a)
    );
    if !tree.is_diff {
        return first;
    }
    let second = format!(
        "{} ({})",
        format::value(frame.words, this.total[1], unit),
        frame.words.units().share(b)
    );
    format!("{first} > {second}")
}

/// What is known of a frame.
fn card(ui: &mut Ui, frame: &Frame<'_>, stage: &Stage<'_>, node: usize) {
    let tree = &stage.picture.tree;
    let Some(this) = tree.nodes.get(node) else {
        return;
    };
    let (w, t) = (frame.words, frame.tokens);
    let unit = stage.picture.unit.as_ref();
    ui.set_max_width(520.0);
    let name = match tree.name(node) {
        "" if node == 0 => w.text("dump-all"),
        "" => w.text("dump-unnamed"),
        name => name,
    };
    ui.label(egui::RichText::new(name).strong());
    let cell = |ui: &mut Ui, text: &str| {
        ui.with_layout(egui::Layout::right_to_left(Align::Center), |ui| {
            ui.label(egui::RichText::new(text).monospace());
        });
    };
    egui::Grid::new("card").num_columns(4).show(ui, |ui| {
        let dim = |ui: &mut Ui, text: &str| {
            ui.label(egui::RichText::new(text).small().color(t.text_faint));
        };
        if tree.is_diff {
            for head in ["", "A", "B", "B - A"] {
                dim(ui, head);
            }
            ui.end_row();
        }
        for (word, value) in [
            (w.text("dump-col-total"), this.total),
            (w.text("dump-col-self"), this.own),
        ] {
            let shares = tree.scaled(value, Scale::Share);
            dim(ui, word);
            cell(ui, &format::value(frame.words, value[0], unit));
            if tree.is_diff {
                cell(ui, &format::value(frame.words, value[1], unit));
                cell(ui, &format::change(frame.words, value[1] - value[0], unit));
                ui.end_row();
                dim(ui, "");
                cell(ui, &frame.words.units().share(shares[0]));
                cell(ui, &frame.words.units().share(shares[1]));
                cell(ui, &format::points(w, shares[1] - shares[0]));
            } else {
                cell(ui, &frame.words.units().share(shares[0]));
            }
            ui.end_row();
        }
    });
}

/// What the colours of a difference mean; drawn from the right.
fn legend(ui: &mut Ui, frame: &Frame<'_>, picture: &Picture) {
    let (w, t) = (frame.words, frame.tokens);
    let dim = |text: &str| egui::RichText::new(text).size(SMALL).color(t.text_dim);
    ui.label(dim(w.text("dump-more")));
    let (rect, _) = ui.allocate_exact_size(vec2(104.0, 10.0), Sense::hover());
    let mut mesh = Mesh::default();
    let parts = 13;
    let wide = rect.width() / parts as f32;
    for at in 0..parts {
        let corner = pos2(rect.left() + wide * at as f32, rect.top());
        let part = Rect::from_min_size(corner, vec2(wide, rect.height()));
        mesh.add_colored_rect(part, t.diff(at as f32 / (parts - 1) as f32 * 2.0 - 1.0));
    }
    ui.painter().add(Shape::mesh(mesh));
    ui.label(dim(w.text("dump-less")));
    let [a, b] = picture.tree.totals;
    if a.total_cmp(&b).is_ne() {
        let unit = picture.unit.as_ref();
        let text = w.with(
            "dump-totals-differ",
            &[
                ("a", (&format::value(frame.words, a, unit)).into()),
                ("b", (&format::value(frame.words, b, unit)).into()),
            ],
        );
        ui.label(dim(&text));
        ui.separator();
    }
}

/// Says which values have no place in the picture.
fn left_out(ui: &mut Ui, frame: &Frame<'_>, picture: &Picture) {
    let [a, b] = picture.tree.left_out;
    if a + b < 0.0 {
        let n = format::value(frame.words, a + b, &picture.unit);
        let text = frame.words.with("dump-left-out", &[("n", (&n).into())]);
        ui.label(
            egui::RichText::new(text)
                .size(SMALL)
                .color(frame.tokens.warning),
        );
    }
}
